/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PACKED_RECORD_H
#define TM_PACKED_RECORD_H

#include "pipeline/kept_record.h"

/* Rows of the record store: 32 bytes for nearly all records, 64 for those with arguments, or with a length or an id of
 * more than 32 bits.  The track is not in them: a block holds records of one. */
struct tm_packed_record {
    int64_t start_ps;
    uint32_t dur_low, correlation_low;
    tm_strid name;
    uint32_t config;
    uint32_t traits;
    uint16_t flags;
    uint8_t class;
    uint8_t kind; /* and TM_PACKED_MORE */
};

/* The second half of the long ones. */
struct tm_packed_more {
    uint64_t args;
    uint32_t dur_high, correlation_high;
    uint32_t common, args_length, own_length;
    uint32_t unused;
};

union tm_packed {
    struct tm_packed_record record;
    struct tm_packed_more more;
};
static_assert(sizeof(union tm_packed) == 32, "two to a cache line");
enum { TM_PACKED_MORE = 0x80 };

/* Whether a record without arguments of its own takes one row. */
static inline bool tm_packs_short(const struct tm_record *r)
{
    return !(r->args_length | r->common) && (uint64_t)r->dur_ps <= UINT32_MAX && r->correlation <= UINT32_MAX;
}

static inline void tm_pack_short(const struct tm_record *r, uint32_t traits, union tm_packed *to)
{
    to->record = (struct tm_packed_record){
        .start_ps = r->start_ps, .dur_low = (uint32_t)r->dur_ps, .correlation_low = (uint32_t)r->correlation,
        .name = r->name, .config = r->config, .traits = traits, .flags = r->flags, .class = r->class, .kind = r->kind,
    };
}

/* The same in two rows. */
static inline void tm_pack_long(const struct tm_kept_record *row, union tm_packed to[2])
{
    const struct tm_record *r = &row->record;

    tm_pack_short(r, row->traits, &to[0]);
    to[0].record.kind |= TM_PACKED_MORE;
    to[1].more = (struct tm_packed_more){
        .args = row->args, .dur_high = (uint32_t)((uint64_t)r->dur_ps >> 32),
        .correlation_high = (uint32_t)(r->correlation >> 32), .common = r->common, .args_length = r->args_length,
        .own_length = row->own_length,
    };
}

static inline bool tm_packed_is_long(const union tm_packed *from)
{
    return from->record.kind & TM_PACKED_MORE;
}

/* out: *to  of a long record but for what only the second row has */
static inline void tm_unpack_short(const union tm_packed *from, uint32_t track, struct tm_record *to)
{
    const struct tm_packed_record *p = &from->record;

    to->start_ps = p->start_ps;
    to->dur_ps = p->dur_low;
    to->correlation = p->correlation_low;
    to->name = p->name;
    to->track = track;
    to->config = p->config;
    to->common = 0;
    to->args_length = 0;
    to->class = p->class;
    to->kind = p->kind & ~TM_PACKED_MORE;
    to->flags = p->flags;
}

static inline void tm_unpack(const union tm_packed *from, uint32_t track, struct tm_kept_record *to)
{
    *to = (struct tm_kept_record){ .traits = from->record.traits };
    tm_unpack_short(from, track, &to->record);
    if (!tm_packed_is_long(from))
        return;
    to->record.dur_ps = (int64_t)((uint64_t)from[1].more.dur_high << 32 | from->record.dur_low);
    to->record.correlation |= (uint64_t)from[1].more.correlation_high << 32;
    to->record.common = from[1].more.common;
    to->record.args_length = from[1].more.args_length;
    to->own_length = from[1].more.own_length;
    to->args = from[1].more.args;
}

#endif
