/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes and results.  See xspace_known.h.
 * A shape is a list of holes: statistics of which all bytes but the number are compared, and the number is read.  What
 * lies between the holes and behind the last one is hashed, with the shape itself, to 64 bits: the key of the result.
 * A result is kept under the shape of its own event, where all numbers that are used are holes; equal bytes at equal
 * places are read alike, so nothing else has to be looked at. */
#include "stages/input/xspace/xspace_known.h"

#include "pipeline/hash.h"
#include "stages/input/xspace/xspace_event.h"
#include "stages/input/xspace/xspace_stat.h"

enum {
    HOLES_MOST = 6,
    HOLES_FREE = 4,     /* of those, for numbers that do not matter */
    STRENGTH_MOST = 3,
    CREDIT = 16, CREDIT_MOST = 32,
    RARELY = 64,        /* of so many misses of a shape that is of no use, one is learned */
    HEAD_MOST = 8,
    STAT_KEY = TM_XEVENT_STATS << 3 | TM_WIRE_LEN,
    LEAST_BITS = 6, MOST_BITS = 14,
    MARK_MASK = (1 << 30) - 1,
};

#define NOWHERE SIZE_MAX

#define LENGTH_MASK UINT64_C(0xff00) /* of a hole's head: the second byte */

/* Numbers of which a record is made. */
static const uint64_t used_numbers = TM_FACT_BIT(TM_STAT_CORRELATION_ID) | TM_FACT_BIT(TM_STAT_RUN_ID) |
                                     TM_FACT_BIT(TM_STAT_STEP_NUM) | TM_FACT_BIT(TM_STAT_GROUP_ID) |
                                     TM_FACT_BIT(TM_STAT_SIZE) | TM_FACT_BIT(TM_STAT_DEVICE_OFFSET) |
                                     TM_FACT_BIT(TM_STAT_DEVICE_DURATION);

struct hole {
    uint64_t head;      /* the bytes before the number: key, length (here 0), key and value of the id, key */
    uint16_t before;    /* bytes between the hole before and this one */
    uint8_t head_bytes;
    uint8_t stat;       /* enum tm_stat; TM_STAT_UNKNOWN: what it says does not matter */
};

struct shape {
    uint64_t plane;
    int64_t metadata_id;
    uint64_t seed;       /* of the keys: hash of all of it */
    uint32_t last;       /* the slot that was found last */
    uint8_t credit;      /* grows by an event that is found, shrinks by one that is not */
    uint8_t misses;      /* without credit */
    uint8_t hole_count;
    bool is_used : 1;    /* plane and metadata_id are some */
    bool is_known : 1;   /* the holes are */
    bool is_wary : 1;    /* all numbers are holes that can be */
    struct hole holes[HOLES_MOST]; /* of which most have one, in the first 64 bytes */
};

/* Whose shape it is, so that what is not there is seen at once. */
struct tag {
    uint32_t mark : 30;     /* of a hash; 0 = nobody's */
    uint32_t strength : 2;  /* 0 = another one may take its place */
};

struct slot {
    uint64_t key; /* 0 = empty */
    struct tm_xresult result;
};

/* All tables: what belongs to index i is at i or i ^ 1. */
struct tm_xknown {
    struct tm_xspace *x;
    struct tag *tags;       /* of the shapes, by the same index */
    struct shape *shapes;
    struct slot *slots;
    uint32_t shape_bits, slot_bits; /* 1 << bits of each */
    uint64_t seed;
};

static uint32_t bits_for(size_t bytes, size_t row_bytes)
{
    uint32_t bits = LEAST_BITS;

    while (bits < MOST_BITS && row_bytes << (bits + 1) <= bytes)
        bits++;
    return bits;
}

struct tm_xknown *tm_xknown_new(struct tm_xspace *x)
{
    struct tm_run *const run = x->source.trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 16;
    struct tm_xknown *known = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*known), &run->error);

    if (!known)
        return NULL;
    known->x = x;
    known->seed = tm_hash_seed(known);
    known->shape_bits = bits_for(share, sizeof(struct shape));
    known->slot_bits = bits_for(share, sizeof(struct slot));
    known->shapes =
        tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct shape) << known->shape_bits, &run->error);
    known->tags = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct tag) << known->shape_bits, &run->error);
    known->slots = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct slot) << known->slot_bits, &run->error);
    if (known->tags && known->shapes && known->slots)
        return known;
    tm_xknown_free(known);
    return NULL;
}

void tm_xknown_free(struct tm_xknown *known)
{
    struct tm_budget *budget;

    if (!known)
        return;
    budget = &known->x->source.trace->run->budget;
    tm_give(budget, TM_ACCOUNT_METADATA, known->tags, known->tags ? sizeof(struct tag) << known->shape_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known->shapes, known->shapes ? sizeof(struct shape) << known->shape_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known->slots, known->slots ? sizeof(struct slot) << known->slot_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known, sizeof(*known));
}

/* --- hashing --- */

/* in: 8 bytes can be read behind `at`; secret: nobody who writes a trace knows it */
static inline uint64_t hash_bytes(uint64_t secret, uint64_t hash, const uint8_t *at, size_t length)
{
    hash ^= length;
    for (; length > 16; at += 16, length -= 16)
        hash = tm_hash_fold(tm_wire_fixed64(at) ^ secret, tm_wire_fixed64(at + 8) ^ hash);
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

/* Where the metadata stands, or stood: index of its tag and its shape; NOWHERE. */
static inline size_t find_tag(const struct tm_xknown *known, uint64_t hash)
{
    const size_t i = hash >> (64 - known->shape_bits);

    if (known->tags[i].mark == mark_of(hash))
        return i;
    return known->tags[i ^ 1].mark == mark_of(hash) ? i ^ 1 : NOWHERE;
}

static inline bool is_of(const struct shape *shape, const struct tm_xkin *kin)
{
    return shape->metadata_id == kin->metadata_id && shape->plane == kin->plane && shape->is_used;
}

/* A number of all bytes from `at` to `end`.  in: TM_READER_SLACK bytes can be read behind them */
static inline bool read_whole(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
    struct tm_wire w = { at, end + TM_READER_SLACK };

    return tm_wire_varint(&w, number) && w.at == end;
}

/* Whether a value that does not matter takes all bytes from `at` to `end`; at least one. */
static inline bool is_whole(uint8_t value_key, const uint8_t *at, const uint8_t *end)
{
    uint64_t number;

    switch (value_key & 7) {
    case TM_WIRE_VARINT:
        return read_whole(at, end, &number);
    case TM_WIRE_64:
        return end - at == 8;
    case TM_WIRE_LEN:
        return *at < 0x80 && end - at - 1 == *at;
    default:
        return false;
    }
}

/* Read the number in a hole, at its first byte.
 * out:    what lies behind it; NULL where it is another statistic or damaged */
static inline const uint8_t *read_hole(const struct hole *hole, const uint8_t *at, const uint8_t *end,
                                       int64_t numbers[TM_STAT_COUNT])
{
    const uint64_t mask = (UINT64_MAX >> (64 - 8 * hole->head_bytes)) & ~LENGTH_MASK;
    const uint8_t *const number = at + hole->head_bytes, *const behind = at + 2 + at[1];
    uint64_t value;

    if ((tm_wire_fixed64(at) & mask) != hole->head || at[1] >= 0x80 || behind <= number || behind > end)
        return NULL;
    if (hole->stat == TM_STAT_UNKNOWN)
        return is_whole(number[-1], number, behind) ? behind : NULL;
    if (!read_whole(number, behind, &value))
        return NULL;
    numbers[hole->stat] = (int64_t)value;
    return behind;
}

/* The key of an event, and its numbers; 0 where it has another shape. */
static inline uint64_t read_by_shape(const struct shape *shape, const struct tm_xkin *kin, const struct tm_wire *stats,
                                     int64_t numbers[TM_STAT_COUNT])
{
    /* What is multiplied has secrets of its own on both sides: else bytes that swap their halves have one key. */
    uint64_t hash = shape->seed * UINT64_C(0x9e3779b97f4a7c15) + kin->line;
    const uint8_t *at = stats->at;

    for (size_t i = 0; i < shape->hole_count; i++) {
        const struct hole *const hole = &shape->holes[i];

        if (stats->end - at < hole->before)
            return 0;
        if (hole->before)
            hash = hash_bytes(shape->seed, hash, at, hole->before);
        at = read_hole(hole, at + hole->before, stats->end, numbers);
        if (!at)
            return 0;
    }
    hash = hash_bytes(shape->seed, hash, at, (size_t)(stats->end - at));
    return hash ? hash : 1;
}

static inline struct slot *slots_of(struct tm_xknown *known, uint64_t key)
{
    return &known->slots[key >> (64 - known->slot_bits)];
}

static inline struct slot *other_slot(struct tm_xknown *known, struct slot *slot)
{
    return &known->slots[(size_t)(slot - known->slots) ^ 1];
}

void tm_xknown_expect(const struct tm_xknown *known, const struct tm_xkin *kin)
{
    const size_t i = hash_of(known, kin) >> (64 - known->shape_bits);

    __builtin_prefetch(&known->tags[i]);
    __builtin_prefetch(&known->shapes[i]);
    __builtin_prefetch((const uint8_t *)&known->shapes[i] + 64);
}

const struct tm_xresult *tm_xknown_find(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                                        int64_t numbers[TM_STAT_COUNT])
{
    const size_t i = find_tag(known, hash_of(known, kin));
    struct shape *const shape = &known->shapes[i == NOWHERE ? 0 : i];
    struct slot *slot;
    uint64_t key;

    if (i == NOWHERE || !is_of(shape, kin) || !shape->is_known)
        return NULL;
    __builtin_prefetch(&known->slots[shape->last]);
    key = read_by_shape(shape, kin, stats, numbers);
    if (!key)
        return NULL;
    slot = slots_of(known, key);
    if (slot->key != key)
        slot = other_slot(known, slot);
    if (slot->key != key)
        return NULL;
    if (shape->last != slot - known->slots)
        shape->last = (uint32_t)(slot - known->slots);
    if (known->tags[i].strength < STRENGTH_MOST) /* written only where it changes: it would go back to memory */
        known->tags[i].strength = STRENGTH_MOST;
    if (shape->credit < CREDIT_MOST)
        shape->credit++;
    return &slot->result;
}

/* --- learning --- */

/* The shape of the metadata, new if need be; NULL where it is met for the first time (it may never come again), and
 * while there are others in its place that are wanted more. */
static struct shape *make_shape(struct tm_xknown *known, const struct tm_xkin *kin)
{
    const uint64_t hash = hash_of(known, kin);
    size_t i = find_tag(known, hash);

    if (i == NOWHERE) {
        i = hash >> (64 - known->shape_bits);
        i ^= known->tags[i ^ 1].strength < known->tags[i].strength;
        if (known->tags[i].strength)
            known->tags[i].strength--;
        else
            known->tags[i] = (struct tag){ .mark = mark_of(hash) & MARK_MASK, .strength = 1 };
        return NULL;
    }
    known->tags[i].strength = STRENGTH_MOST;
    if (!is_of(&known->shapes[i], kin))
        known->shapes[i] = (struct shape){ .plane = kin->plane, .metadata_id = kin->metadata_id, .credit = CREDIT, .is_used = true };
    return &known->shapes[i];
}

/* What a statistic is, and where its number lies.
 * out:    *hole  but `before`; head_bytes 0 where it is not as writers write it: id first, then the value, nothing else,
 *         all lengths in one byte */
static tm_status look_at_stat(struct tm_xspace *x, uint64_t plane, const struct tm_wire *field, struct hole *hole)
{
    const uint8_t *const at = field->at;
    struct tm_wire w = { at + 1, field->end };
    struct tm_xstat read = { .id = 0 };
    enum tm_stat stat;
    uint64_t length, id;
    tm_status st;

    if (!tm_wire_varint(&w, &length))
        return TM_OK;
    tm_xstat_read(&w, &read);
    st = tm_xspace_stat(x, plane, read.id, &stat);
    hole->stat = (uint8_t)stat;
    w = (struct tm_wire){ at + 3, field->end };
    if (at[1] >= 0x80 || !at[1] || at[2] != TM_XSTAT_ID << 3 || !tm_wire_varint(&w, &id) || w.end - w.at < 2 ||
        w.at + 1 - at > HEAD_MOST)
        return st;
    hole->head_bytes = (uint8_t)(w.at + 1 - at);
    memcpy(&hole->head, at, hole->head_bytes);
    hole->head &= ~LENGTH_MASK;
    return st;
}

/* Whether a statistic becomes a hole. */
static bool is_a_hole(const struct shape *shape, const struct hole *hole)
{
    const uint8_t value_key = hole->head_bytes ? (uint8_t)(hole->head >> (8 * (hole->head_bytes - 1))) : 0;

    if (TM_FACT_BIT(hole->stat) & used_numbers)
        return value_key == TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) ||
               value_key == TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT);
    return value_key && shape->is_wary && !(TM_FACT_BIT(hole->stat) & tm_config_facts) &&
           shape->hole_count < HOLES_FREE;
}

/* Find the holes of an event.  out: shape->is_known  false where no shape can tell its numbers */
static tm_status take_shape(struct tm_xknown *known, const struct tm_wire *stats, struct shape *shape)
{
    struct tm_wire w = *stats;
    const uint8_t *before = w.at, *at = w.at;
    struct tm_field field;

    shape->is_known = false;
    shape->hole_count = 0;
    memset(shape->holes, 0, sizeof(shape->holes));
    for (; tm_wire_next(&w, &field); at = w.at) {
        struct hole hole = { .before = (uint16_t)(at - before) };
        tm_status st;

        if (field.key != STAT_KEY)
            return TM_OK;
        st = look_at_stat(known->x, shape->plane, &(struct tm_wire){ at, w.at }, &hole);
        if (st != TM_OK)
            return st;
        if (!is_a_hole(shape, &hole)) {
            if (TM_FACT_BIT(hole.stat) & used_numbers)
                return TM_OK;
            continue;
        }
        if (shape->hole_count == HOLES_MOST || at - before > UINT16_MAX)
            return TM_OK;
        if (!(TM_FACT_BIT(hole.stat) & used_numbers))
            hole.stat = TM_STAT_UNKNOWN;
        shape->holes[shape->hole_count++] = hole;
        before = w.at;
    }
    shape->is_known = w.at == w.end;
    shape->seed = tm_hash_mix(tm_hash_mix(shape->plane, known->seed) ^ (uint64_t)shape->metadata_id, known->seed);
    shape->seed = hash_bytes(known->seed, shape->seed, (const uint8_t *)shape->holes, sizeof(shape->holes));
    return TM_OK;
}

static void put_result(struct tm_xknown *known, uint64_t key, const struct tm_xresult *result)
{
    struct slot *const slot = slots_of(known, key);

    if (slot->key && slot->key != key)
        *other_slot(known, slot) = *slot;
    *slot = (struct slot){ key, *result };
}

/* An event was not found.  A shape that finds too few gets more holes: other numbers vary, too.
 * out:    false  that was in vain, and it is not worth learning one more */
static bool spend_credit(struct shape *shape)
{
    if (shape->credit) {
        shape->credit--;
        return true;
    }
    if (shape->is_wary)
        return shape->misses++ % RARELY == 0;
    shape->is_wary = true;
    shape->credit = CREDIT;
    return true;
}

tm_status tm_xknown_learn(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                          const struct tm_xresult *result)
{
    int64_t numbers[TM_STAT_COUNT];
    struct shape *const shape = make_shape(known, kin);
    uint64_t key;
    tm_status st;

    if (!shape)
        return TM_OK;
    if (!spend_credit(shape))
        return TM_OK;
    st = take_shape(known, stats, shape);
    if (st != TM_OK || !shape->is_known)
        return st;
    key = read_by_shape(shape, kin, stats, numbers);
    if (key)
        put_result(known, key, result);
    return TM_OK;
}
