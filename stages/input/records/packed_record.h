/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PACKED_RECORD_H
#define TM_PACKED_RECORD_H

#include <stddef.h>
#include <string.h>

#include "pipeline/kept_record.h"

/* Rows of the record store, of 12 bytes.  Nearly all records take one: how long after the one before it in its track it
 * starts, by how much its id is more than the last one, and the number of its shape, which is all that events of the same
 * name mostly have in common.  Those that start earlier, or much later, those with an id far from the last one, and those
 * whose shape got no number take three; those with arguments, or with a length of more than 32 bits, five.  The track is
 * not in them: a block holds records of one. */
enum tm_packed_form { TM_PACKED_SMALL, TM_PACKED_WHOLE, TM_PACKED_LONG };
enum { TM_PACKED_FORM_BITS = 2 };

struct tm_packed_small {
    uint32_t step_ps, dur_ps;
    uint16_t shape_and_form; /* the number of the shape << 2 | enum tm_packed_form */
    uint16_t id_step;        /* tm_id_step */
};

struct tm_packed_whole {
    uint32_t start_low, start_high;
    uint8_t kind_and_form; /* kind << 2 | enum tm_packed_form: where the small ones have their form */
    uint8_t class;
    uint16_t flags;
    uint32_t dur_low;
    uint32_t correlation_low, correlation_high;
    tm_strid name;
    uint32_t config;
    uint32_t traits;
};

/* The second part of the long ones. */
struct tm_packed_more {
    uint32_t args_low, args_high;
    uint32_t dur_high;
    uint32_t common, args_length, own_length;
};

union tm_packed {
    struct tm_packed_small small;
    uint32_t words[3]; /* aligned as the others are */
};
enum { TM_PACKED_WHOLE_ROWS = 3, TM_PACKED_MORE_ROWS = 2 };
static_assert(sizeof(union tm_packed) == 12, "five to a cache line");
static_assert(sizeof(struct tm_packed_whole) == TM_PACKED_WHOLE_ROWS * sizeof(union tm_packed), "without a rest");
static_assert(sizeof(struct tm_packed_more) == TM_PACKED_MORE_ROWS * sizeof(union tm_packed), "without a rest");
static_assert(offsetof(struct tm_packed_small, shape_and_form) == offsetof(struct tm_packed_whole, kind_and_form),
              "told apart; little-endian machines only");

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

/* Ids of a track mostly go up in small steps.  A step is this much more than what it stands for. */
enum { TM_ID_STEP_ZERO = 0x7fff, TM_ID_STEP_NONE = 0xffff /* there is no id */ };

/* in:     before  the last id of the track that was not 0
 * out:    false   the step does not fit */
static inline bool tm_id_step(uint64_t id, uint64_t before, uint16_t *step)
{
    const uint64_t wide = id ? id - before + TM_ID_STEP_ZERO : TM_ID_STEP_NONE;

    *step = (uint16_t)wide;
    return wide < TM_ID_STEP_NONE || !id;
}

static inline uint64_t tm_id_after(uint64_t before, uint16_t step)
{
    return step == TM_ID_STEP_NONE ? 0 : before + step - TM_ID_STEP_ZERO;
}

static inline enum tm_packed_form tm_packed_form(const union tm_packed *from)
{
    return (enum tm_packed_form)(from->small.shape_and_form & ((1 << TM_PACKED_FORM_BITS) - 1));
}

static inline uint32_t tm_packed_rows(const union tm_packed *from)
{
    static_assert(TM_PACKED_WHOLE == 1 && TM_PACKED_LONG == 2 && TM_PACKED_WHOLE_ROWS == 3 && TM_PACKED_MORE_ROWS == 2,
                  "one, three or five");
    return 1 + 2 * (uint32_t)tm_packed_form(from);
}

/* Whether a record without arguments of its own takes less rows than the most. */
static inline bool tm_packs_short(const struct tm_record *r)
{
    return !(r->args_length | r->common) && (uint64_t)r->dur_ps <= UINT32_MAX;
}

/* in: step_ps, id_step, shape  after the start and the id before, and the number of its shape */
static inline void tm_pack_small(const struct tm_record *r, uint32_t step_ps, uint16_t id_step, uint16_t shape,
                                 union tm_packed *to)
{
    to->small = (struct tm_packed_small){
        .step_ps = step_ps,
        .dur_ps = (uint32_t)r->dur_ps,
        .id_step = id_step,
        .shape_and_form = (uint16_t)(shape << TM_PACKED_FORM_BITS | TM_PACKED_SMALL),
    };
}

static inline void tm_pack_whole(const struct tm_record *r, uint32_t traits, enum tm_packed_form form,
                                 union tm_packed to[TM_PACKED_WHOLE_ROWS])
{
    const struct tm_packed_whole whole = {
        .start_low = (uint32_t)r->start_ps,
        .start_high = (uint32_t)((uint64_t)r->start_ps >> 32),
        .dur_low = (uint32_t)r->dur_ps,
        .correlation_low = (uint32_t)r->correlation,
        .correlation_high = (uint32_t)(r->correlation >> 32),
        .name = r->name,
        .config = r->config,
        .traits = traits,
        .flags = r->flags,
        .class = r->class,
        .kind_and_form = (uint8_t)(r->kind << TM_PACKED_FORM_BITS | form),
    };

    memcpy(to, &whole, sizeof(whole));
}

static inline void tm_pack_long(const struct tm_kept_record *row,
                                union tm_packed to[TM_PACKED_WHOLE_ROWS + TM_PACKED_MORE_ROWS])
{
    const struct tm_record *r = &row->record;
    const struct tm_packed_more more = {
        .args_low = (uint32_t)row->args,
        .args_high = (uint32_t)(row->args >> 32),
        .dur_high = (uint32_t)((uint64_t)r->dur_ps >> 32),
        .common = r->common,
        .args_length = r->args_length,
        .own_length = row->own_length,
    };

    tm_pack_whole(r, row->traits, TM_PACKED_LONG, to);
    memcpy(&to[TM_PACKED_WHOLE_ROWS], &more, sizeof(more));
}

/* in:  start_ps, id, shapes  of the record before, the last id that was not 0, and all shapes by number
 * out: *to, *traits          of a small record */
static inline void tm_unpack_small(const union tm_packed *from, int64_t start_ps, uint64_t id,
                                   const struct tm_shape *shapes, struct tm_record *to, uint32_t *traits)
{
    const struct tm_packed_small *p = &from->small;
    const struct tm_shape *shape = &shapes[p->shape_and_form >> TM_PACKED_FORM_BITS];

    to->start_ps = (int64_t)((uint64_t)start_ps + p->step_ps);
    to->dur_ps = p->dur_ps;
    to->correlation = tm_id_after(id, p->id_step);
    to->name = (tm_strid)shape->name_config;
    to->config = (uint32_t)(shape->name_config >> 32);
    to->common = 0;
    to->args_length = 0;
    to->class = (uint8_t)(shape->rest >> 48);
    to->kind = (uint8_t)(shape->rest >> 56 & 0x7f);
    to->flags = (uint16_t)(shape->rest >> 32);
    *traits = (uint32_t)shape->rest;
}

/* out: *to, *traits  of a long record but for what only its second part has */
static inline void tm_unpack_whole(const union tm_packed from[TM_PACKED_WHOLE_ROWS], struct tm_record *to,
                                   uint32_t *traits)
{
    struct tm_packed_whole p;

    memcpy(&p, from, sizeof(p));
    to->start_ps = (int64_t)((uint64_t)p.start_high << 32 | p.start_low);
    to->dur_ps = p.dur_low;
    to->correlation = (uint64_t)p.correlation_high << 32 | p.correlation_low;
    to->name = p.name;
    to->config = p.config;
    to->common = 0;
    to->args_length = 0;
    to->class = p.class;
    to->kind = p.kind_and_form >> TM_PACKED_FORM_BITS;
    to->flags = p.flags;
    *traits = p.traits;
}

static inline void tm_unpack_more(const union tm_packed from[TM_PACKED_MORE_ROWS], struct tm_kept_record *to)
{
    struct tm_packed_more p;

    memcpy(&p, from, sizeof(p));
    to->record.dur_ps = (int64_t)((uint64_t)p.dur_high << 32 | (uint64_t)to->record.dur_ps);
    to->record.common = p.common;
    to->record.args_length = p.args_length;
    to->own_length = p.own_length;
    to->args = (uint64_t)p.args_high << 32 | p.args_low;
}

#endif
