/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PACKED_RECORD_H
#define TM_PACKED_RECORD_H

#include <stddef.h>
#include <string.h>

#include "pipeline/kept_record.h"

/* Rows of the record store, of 16 bytes.  Nearly all records take one: how long after the one before it in its track it
 * starts, and the number of its shape, which is all that events of the same name mostly have in common.  Those that
 * start earlier, or much later, and those whose shape got no number take two; those with arguments, or with a length or
 * an id of more than 32 bits, four.  The track is not in them: a block holds records of one. */
enum tm_packed_form { TM_PACKED_SMALL, TM_PACKED_WHOLE, TM_PACKED_LONG };

struct tm_packed_small {
    uint32_t step_ps, dur_ps, correlation;
    uint16_t shape;
    uint8_t unused;
    uint8_t form;
};

struct tm_packed_whole {
    int64_t start_ps;
    uint32_t dur_low;
    uint16_t flags;
    uint8_t class;
    uint8_t kind_and_form; /* kind << 2 | enum tm_packed_form: where the small ones have their form */
    uint32_t correlation_low;
    tm_strid name;
    uint32_t config;
    uint32_t traits;
};

/* The second half of the long ones. */
struct tm_packed_more {
    uint64_t args;
    uint32_t dur_high, correlation_high;
    uint32_t common, args_length, own_length;
    uint32_t unused;
};

union tm_packed {
    struct tm_packed_small small;
    uint64_t words[2]; /* aligned as the others are */
};
static_assert(sizeof(union tm_packed) == 16, "four to a cache line");
static_assert(sizeof(struct tm_packed_whole) == 2 * sizeof(union tm_packed), "two rows");
static_assert(sizeof(struct tm_packed_more) == 2 * sizeof(union tm_packed), "two rows");
static_assert(offsetof(struct tm_packed_small, form) == offsetof(struct tm_packed_whole, kind_and_form), "told apart");

/* What records share, in two numbers; a shape is never all zero. */
struct tm_shape {
    uint64_t name_config, rest;
};

static inline struct tm_shape tm_shape_of(const struct tm_record *r, uint32_t traits)
{
    const uint64_t is_shape = 0x80;

    return (struct tm_shape){
        .name_config = r->name | (uint64_t)r->config << 32,
        .rest = traits | (uint64_t)r->flags << 32 | (uint64_t)r->class << 48 | (r->kind | is_shape) << 56,
    };
}

static inline enum tm_packed_form tm_packed_form(const union tm_packed *from)
{
    return (enum tm_packed_form)(from->small.form & 3);
}

static inline uint32_t tm_packed_rows(const union tm_packed *from)
{
    return 1U << tm_packed_form(from);
}

/* Whether a record without arguments of its own takes less than four rows. */
static inline bool tm_packs_short(const struct tm_record *r)
{
    return !(r->args_length | r->common) && (uint64_t)r->dur_ps <= UINT32_MAX && r->correlation <= UINT32_MAX;
}

/* in: step_ps, shape  after the start of the record before, and the number of its shape */
static inline void tm_pack_small(const struct tm_record *r, uint32_t step_ps, uint16_t shape, union tm_packed *to)
{
    to->small = (struct tm_packed_small){
        .step_ps = step_ps, .dur_ps = (uint32_t)r->dur_ps, .correlation = (uint32_t)r->correlation,
        .shape = shape, .form = TM_PACKED_SMALL,
    };
}

static inline void tm_pack_whole(const struct tm_record *r, uint32_t traits, enum tm_packed_form form,
                                 union tm_packed to[2])
{
    const struct tm_packed_whole whole = {
        .start_ps = r->start_ps, .dur_low = (uint32_t)r->dur_ps, .correlation_low = (uint32_t)r->correlation,
        .name = r->name, .config = r->config, .traits = traits, .flags = r->flags, .class = r->class,
        .kind_and_form = (uint8_t)(r->kind << 2 | form),
    };

    memcpy(to, &whole, sizeof(whole));
}

static inline void tm_pack_long(const struct tm_kept_record *row, union tm_packed to[4])
{
    const struct tm_record *r = &row->record;
    const struct tm_packed_more more = {
        .args = row->args, .dur_high = (uint32_t)((uint64_t)r->dur_ps >> 32),
        .correlation_high = (uint32_t)(r->correlation >> 32), .common = r->common, .args_length = r->args_length,
        .own_length = row->own_length,
    };

    tm_pack_whole(r, row->traits, TM_PACKED_LONG, to);
    memcpy(&to[2], &more, sizeof(more));
}

/* in:  start_ps, shapes  of the record before, and all shapes by number
 * out: *to, *traits      of a small record */
static inline void tm_unpack_small(const union tm_packed *from, int64_t start_ps, const struct tm_shape *shapes,
                                   struct tm_record *to, uint32_t *traits)
{
    const struct tm_packed_small *p = &from->small;
    const struct tm_shape *shape = &shapes[p->shape];

    to->start_ps = (int64_t)((uint64_t)start_ps + p->step_ps);
    to->dur_ps = p->dur_ps;
    to->correlation = p->correlation;
    to->name = (tm_strid)shape->name_config;
    to->config = (uint32_t)(shape->name_config >> 32);
    to->common = 0;
    to->args_length = 0;
    to->class = (uint8_t)(shape->rest >> 48);
    to->kind = (uint8_t)(shape->rest >> 56 & 0x7f);
    to->flags = (uint16_t)(shape->rest >> 32);
    *traits = (uint32_t)shape->rest;
}

/* out: *to, *traits  of a long record but for what only its second half has */
static inline void tm_unpack_whole(const union tm_packed from[2], struct tm_record *to, uint32_t *traits)
{
    struct tm_packed_whole p;

    memcpy(&p, from, sizeof(p));
    to->start_ps = p.start_ps;
    to->dur_ps = p.dur_low;
    to->correlation = p.correlation_low;
    to->name = p.name;
    to->config = p.config;
    to->common = 0;
    to->args_length = 0;
    to->class = p.class;
    to->kind = p.kind_and_form >> 2;
    to->flags = p.flags;
    *traits = p.traits;
}

static inline void tm_unpack_more(const union tm_packed from[2], struct tm_kept_record *to)
{
    struct tm_packed_more p;

    memcpy(&p, from, sizeof(p));
    to->record.dur_ps = (int64_t)((uint64_t)p.dur_high << 32 | (uint64_t)to->record.dur_ps);
    to->record.correlation |= (uint64_t)p.correlation_high << 32;
    to->record.common = p.common;
    to->record.args_length = p.args_length;
    to->own_length = p.own_length;
    to->args = p.args;
}

#endif
