/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_KNOWN_H
#define TM_XSPACE_KNOWN_H

#include <stddef.h>

#include "pipeline/store/hash.h"
#include "stages/input/xspace/xspace_private.h"

/* Shapes and results.  See xspace_private.h.  A shape is a list of holes: statistics whose bytes are all compared
 * except for the number, which is parsed.  The bytes between the holes and after the last one are hashed, together with
 * the shape, to 64 bits: the key of the result.  A result is stored under the shape of its event, with holes for all
 * used numbers; equal bytes at equal positions are parsed alike, so nothing else needs to be checked. */

enum {
    HOLES_MOST = 6,
    HOLES_FREE = 4, /* of those, for numbers that are ignored */
    STRENGTH_MOST = 3,
    CREDIT = 16,
    CREDIT_MOST = 32,
    RARELY = 64, /* of this many misses of a useless shape, one is learned */
    HEAD_MOST = 8,
    STAT_KEY = TM_XEVENT_STATS << 3 | TM_WIRE_LEN,
    LEAST_BITS = 6,
    MOST_BITS = 14,
    MARK_MASK = (1 << 30) - 1,
    RECENT = 512, /* a power of two */
};

static_assert(MOST_BITS <= 16, "the number of a shape fits");

#define NOWHERE SIZE_MAX
#define LENGTH_MASK UINT64_C(0xff00) /* of a hole's head: the second byte */

struct tm_xhole {
    uint64_t head;   /* the bytes before the number: key, length (here 0), key and value of the id, key */
    uint64_t mask;   /* of what is compared with them: not the length, nor the number */
    uint16_t before; /* bytes between the hole before and this one */
    uint16_t head_bytes;
    uint32_t stat; /* enum tm_stat; TM_STAT_UNKNOWN: what it says does not matter */
};

static_assert(sizeof(struct tm_xhole) == 24, "no byte is without a meaning, since all are hashed");

struct tm_xshape {
    uint64_t plane;
    int64_t metadata_id;
    uint64_t seed;  /* of the keys: hash of all of it */
    uint32_t last;  /* the slot that was found last */
    uint8_t credit; /* grows by an event that is found, shrinks by one that is not */
    uint8_t misses; /* without credit */
    uint8_t hole_count;
    bool is_used : 1;                  /* plane and metadata_id are some */
    bool is_known : 1;                 /* the holes are */
    bool is_wary : 1;                  /* all numbers are holes that can be */
    struct tm_xhole holes[HOLES_MOST]; /* most have one, in the first 64 bytes */
};

/* The owner of the shape, to detect a missing one quickly. */
struct tm_xtag {
    uint32_t mark : 30;    /* of a hash; 0 = unused */
    uint32_t strength : 2; /* 0 = another one may take its place */
};

struct tm_xslot {
    uint64_t key; /* 0 = empty */
    struct tm_xresult result;
};

/* A signature by the number that varies in the arguments of its result's events: of calls that launch on eight devices
 * in turn, half of a profile of eight GPUs, it is the device.  Decoding such a call takes 610 instructions less. */
struct tm_xnumbered {
    uint64_t key; /* of the result; 0 = free */
    int64_t number;
    uint32_t track;
    uint16_t signature;
};

enum { NUMBERED_BITS = 13 };

/* All tables: what belongs to index i is at i or i ^ 1. */
struct tm_xknown {
    struct tm_xspace *x;
    struct tm_xtag *tags; /* of the shapes, by the same index */
    struct tm_xshape *shapes;
    struct tm_xslot *slots;
    struct tm_xnumbered *numbered;  /* 1 << NUMBERED_BITS; NULL = the pool has no room */
    uint16_t recent[RECENT];        /* of the shapes that were found last, by the lowest bits of the metadata */
    uint32_t shape_bits, slot_bits; /* 1 << bits of each */
    uint64_t seed;
};

/* --- hashing --- */

/* in:     8 bytes are readable after `at`; secret: unknown to anyone who writes a trace */
static inline uint64_t hash_bytes(uint64_t secret, uint64_t hash, const uint8_t *at, size_t length)
{
    hash ^= length;
    if (length > 16) {
        size_t left = (length - 1) / 16;

        length -= left * 16;
        do {
            hash = tm_hash_fold(tm_wire_fixed64(at) ^ secret, tm_wire_fixed64(at + 8) ^ hash);
            at += 16;
        } while (--left);
    }
    if (length >= 8)
        return tm_hash_fold(tm_wire_fixed64(at) ^ secret, tm_wire_fixed64(at + length - 8) ^ hash);
    return tm_hash_fold((length ? tm_wire_fixed64(at) << (64 - 8 * length) : 0) ^ secret, hash);
}

/* --- finding --- */

static inline uint64_t hash_of(const struct tm_xknown *known, const struct tm_xkin *kin)
{
    return tm_hash_mix((uint64_t)kin->metadata_id ^ kin->plane << 40, known->seed);
}

static inline uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)(hash >> 16 & MARK_MASK) | 1;
}

/* The current or past position of the metadata: index of its tag and its shape; NOWHERE. */
static inline size_t find_tag(const struct tm_xknown *known, uint64_t hash)
{
    const size_t i = hash >> (64 - known->shape_bits);

    if (known->tags[i].mark == mark_of(hash))
        return i;
    return known->tags[i ^ 1].mark == mark_of(hash) ? i ^ 1 : NOWHERE;
}

static inline bool is_of(const struct tm_xshape *shape, const struct tm_xkin *kin)
{
    return shape->metadata_id == kin->metadata_id && shape->plane == kin->plane && shape->is_used;
}

/* A number of all bytes from `at` to `end`.  in: TM_READER_SLACK bytes can be read after them */
TM_INLINE bool read_whole(const uint8_t *at, const uint8_t *end, uint64_t *number, tm_wire_packing *pack)
{
    struct tm_wire w = { at, end + TM_READER_SLACK };
    const uint8_t *const behind = tm_wire_number(at, number, pack);

    return behind ? behind == end : tm_wire_any_varint(&w, number) && w.at == end;
}

/* Whether a value that is not a number takes all bytes from `at` to `end`; at least one.  Few shapes need it. */
static __attribute__((noinline, unused)) bool is_whole(uint8_t value_key, const uint8_t *at, const uint8_t *end)
{
    switch (value_key & 7) {
    case TM_WIRE_64:
        return end - at == 8;
    case TM_WIRE_LEN:
        return *at < 0x80 && end - at - 1 == *at;
    default:
        return false;
    }
}

/* Read the number in a hole, at its first byte.
 * out:    what follows it; NULL if it is another statistic or damaged */
TM_INLINE const uint8_t *read_hole(const struct tm_xhole *hole, const uint8_t *at, const uint8_t *end,
                                   int64_t numbers[TM_STAT_COUNT], tm_wire_packing *pack)
{
    const uint8_t *const number = at + hole->head_bytes, *const behind = at + 2 + at[1];
    uint64_t value;

    if ((tm_wire_fixed64(at) & hole->mask) != hole->head || behind > end || behind <= number)
        return NULL;
    if (hole->stat == TM_STAT_UNKNOWN && (number[-1] & 7) != TM_WIRE_VARINT)
        return at[1] < 0x80 && is_whole(number[-1], number, behind) ? behind : NULL;
    if (!read_whole(number, behind, &value, pack)) /* also where the length takes more than a byte: no number is that
                                                      long */
        return NULL;
    numbers[hole->stat] = (int64_t)value; /* TM_STAT_UNKNOWN: not needed */
    return behind;
}

/* The key of an event, and its numbers; 0 if it has another shape. */
TM_INLINE uint64_t read_by_shape(const struct tm_xshape *shape, const struct tm_xkin *kin, const struct tm_wire *stats,
                                 int64_t numbers[TM_STAT_COUNT], tm_wire_packing *pack)
{
    /* Both factors have separate secrets: otherwise bytes with swapped halves would have the same key. */
    uint64_t hash = shape->seed * UINT64_C(0x9e3779b97f4a7c15) + kin->line;
    const uint8_t *at = stats->at;

    for (const struct tm_xhole *hole = shape->holes, *last = hole + shape->hole_count; hole < last; hole++) {
        if (stats->end - at < hole->before)
            return 0;
        if (hole->before)
            hash = hash_bytes(shape->seed, hash, at, hole->before);
        at = read_hole(hole, at + hole->before, stats->end, numbers, pack);
        if (!at)
            return 0;
    }
    hash = hash_bytes(shape->seed, hash, at, (size_t)(stats->end - at));
    return hash ? hash : 1;
}

static inline struct tm_xslot *slots_of(struct tm_xknown *known, uint64_t key)
{
    return &known->slots[key >> (64 - known->slot_bits)];
}

static inline struct tm_xslot *other_slot(struct tm_xknown *known, struct tm_xslot *slot)
{
    return &known->slots[(size_t)(slot - known->slots) ^ 1];
}

/* The shape of the metadata.  out: NULL: there is none */
TM_INLINE struct tm_xshape *find_shape(struct tm_xknown *known, const struct tm_xkin *kin)
{
    uint16_t *const recent = &known->recent[(size_t)kin->metadata_id & (RECENT - 1)];
    size_t i = *recent;

    if (!is_of(&known->shapes[i], kin)) {
        i = find_tag(known, hash_of(known, kin));
        if (i == NOWHERE || !is_of(&known->shapes[i], kin))
            return NULL;
        *recent = (uint16_t)i;
    }
    if (known->tags[i].strength < STRENGTH_MOST) /* written only where it changes: a write would dirty the cache line */
        known->tags[i].strength = STRENGTH_MOST;
    return &known->shapes[i];
}

/* A tm_find_known. */
TM_INLINE struct tm_xresult *find_known(struct tm_xknown *known, struct tm_xkin *kin, const struct tm_wire *bytes,
                                        struct tm_xhead *head, int64_t numbers[TM_STAT_COUNT], tm_wire_packing *pack)
{
    struct tm_xshape *shape;
    struct tm_xslot *slot;
    uint64_t key;

    head->is_usual = tm_xhead_read(bytes, head, pack);
    if (!head->is_usual)
        return NULL;
    kin->metadata_id = head->metadata_id;
    shape = find_shape(known, kin);
    if (!shape || !shape->is_known)
        return NULL;
    slot = &known->slots[shape->last];
    __builtin_prefetch(slot);
    key = read_by_shape(shape, kin, &head->stats, numbers, pack);
    if (slot->key != key || !key) {
        slot = slots_of(known, key);
        if (slot->key != key)
            slot = other_slot(known, slot);
        if (slot->key != key || !key)
            return NULL;
        shape->last = (uint32_t)(slot - known->slots);
    }
    if (shape->credit < CREDIT_MOST)
        shape->credit++;
    return &slot->result;
}

/* The place of a signature by the number of its event. */
static inline struct tm_xnumbered *numbered_at(const struct tm_xknown *known, uint64_t key, int64_t number)
{
    return &known->numbered[(key + (uint64_t)number) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NUMBERED_BITS)];
}

static inline uint64_t key_of(const struct tm_xresult *result)
{
    return ((const struct tm_xslot *)(const void *)((const uint8_t *)result - offsetof(struct tm_xslot, result)))->key;
}

/* The signature of an event's record; 0: not known. */
TM_INLINE uint16_t known_signature(const struct tm_xknown *known, const struct tm_xevents *e,
                                   const struct tm_xresult *result, bool has_length)
{
    const struct tm_xnumbered *at;

    if (!result->has_one_number)
        return result->track == e->track ? result->signature[!has_length] : 0;
    if (!known->numbered || !has_length)
        return 0;
    at = numbered_at(known, key_of(result), e->numbers[TM_STAT_UNKNOWN]);
    return at->key == key_of(result) && at->number == e->numbers[TM_STAT_UNKNOWN] && at->track == e->track
               ? at->signature
               : 0;
}

/* Put an event into the batch.  false: it is not one of those, or its times need a second look */
TM_INLINE bool put_known(const struct tm_xknown *known, struct tm_xevents *e, const struct tm_xresult *result,
                         const struct tm_xhead *head)
{
    const uint16_t signature = known_signature(known, e, result, head->duration_ps != 0);
    const int64_t id = e->numbers[TM_STAT_CORRELATION_ID];
    struct tm_batch *const batch = e->batch;
    const uint32_t i = batch->count;
    int64_t start_ps;

    if (!signature || __builtin_add_overflow(e->line_ps, head->offset_ps, &start_ps) ||
        !tm_time_fits_forward(start_ps, head->duration_ps) || (e->has_usual_ids && id < 0))
        return false;
    batch->start_ps[i] = start_ps;
    batch->dur_ps[i] = head->duration_ps;
    batch->correlation[i] = result->flags & TM_FLAG_CORRELATION ? (uint64_t)id : 0;
    batch->signature[i] = signature;
    batch->count++;
    return true;
}

/* A tm_take_known.  The loop is here and not around tm_find_known because a call of that saves and restores all
 * registers: 30 instructions for each event. */
TM_INLINE void take_known(struct tm_xknown *known, struct tm_xevents *e, tm_wire_packing *pack)
{
    e->count = 0;
    e->is_left = false;
    while (e->batch->count < TM_BATCH_RECORDS && !e->is_left &&
           tm_reader_take(e->window, TM_WIRE_KEY(TM_XLINE_EVENT, TM_WIRE_LEN), &e->bytes)) {
        e->count++;
        e->known = find_known(known, e->kin, &e->bytes, &e->head, e->numbers, pack);
        e->is_left = !e->known || !put_known(known, e, e->known, &e->head);
    }
}

#endif
