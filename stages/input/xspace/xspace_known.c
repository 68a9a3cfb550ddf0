/* SPDX-License-Identifier: Apache-2.0 */
/* Learns and keeps results of events that were seen before.  See xspace_known.h. */
#include "stages/input/xspace/xspace_known.h"

#include <string.h>

#include "stages/input/xspace/xspace_reader.h"

/* Numbers that a record is made of. */
static const uint64_t used_numbers = TM_FACT_BIT(TM_STAT_CORRELATION_ID) | TM_FACT_BIT(TM_STAT_RUN_ID) |
                                     TM_FACT_BIT(TM_STAT_STEP_NUM) | TM_FACT_BIT(TM_STAT_GROUP_ID) |
                                     TM_FACT_BIT(TM_STAT_SIZE) | TM_FACT_BIT(TM_STAT_DEVICE_OFFSET) |
                                     TM_FACT_BIT(TM_STAT_DEVICE_DURATION);

static uint32_t bits_for(size_t bytes, size_t row_bytes)
{
    uint32_t bits = LEAST_BITS;

    while (bits < MOST_BITS && row_bytes << (bits + 1) <= bytes)
        bits++;
    return bits;
}

static const size_t numbered_bytes = sizeof(struct tm_xnumbered) << NUMBERED_BITS;

struct tm_xknown *tm_xknown_new(struct tm_xspace *x)
{
    struct tm_run *const run = x->source.trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 16;
    struct tm_xknown *known = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*known), &run->error);

    if (!known)
        return NULL;
    known->x = x;
    known->seed = tm_hash_seed(known);
    known->shape_bits = bits_for(share, sizeof(struct tm_xshape));
    known->slot_bits = bits_for(share, sizeof(struct tm_xslot));
    known->shapes =
        tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct tm_xshape) << known->shape_bits, &run->error);
    known->tags = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct tm_xtag) << known->shape_bits, &run->error);
    known->slots = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(struct tm_xslot) << known->slot_bits, &run->error);
    if (x->source.trace->keeps_arguments && tm_budget_draw(&run->budget, numbered_bytes))
        known->numbered = tm_take(&run->budget, TM_ACCOUNT_METADATA, numbered_bytes, &run->error);
    if (known->tags && known->shapes && known->slots && !tm_failed(run))
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
    if (known->numbered) {
        tm_give(budget, TM_ACCOUNT_METADATA, known->numbered, numbered_bytes);
        tm_budget_put_back(budget, numbered_bytes);
    }
    tm_give(budget, TM_ACCOUNT_METADATA, known->tags, known->tags ? sizeof(struct tm_xtag) << known->shape_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known->shapes,
            known->shapes ? sizeof(struct tm_xshape) << known->shape_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known->slots, known->slots ? sizeof(struct tm_xslot) << known->slot_bits : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, known, sizeof(*known));
}

/* --- learning --- */

/* The shape of the metadata, created if necessary; NULL at its first occurrence (it may never repeat), and while more
 * frequent ones occupy its place. */
static struct tm_xshape *make_shape(struct tm_xknown *known, const struct tm_xkin *kin)
{
    const uint64_t hash = hash_of(known, kin);
    size_t i = find_tag(known, hash);

    if (i == NOWHERE) {
        i = hash >> (64 - known->shape_bits);
        i ^= known->tags[i ^ 1].strength < known->tags[i].strength;
        if (known->tags[i].strength)
            known->tags[i].strength--;
        else
            known->tags[i] = (struct tm_xtag){ .mark = mark_of(hash) & MARK_MASK, .strength = 1 };
        return NULL;
    }
    known->tags[i].strength = STRENGTH_MOST;
    if (!is_of(&known->shapes[i], kin))
        known->shapes[i] = (struct tm_xshape){
            .plane = kin->plane, .metadata_id = kin->metadata_id, .credit = CREDIT, .is_used = true
        };
    return &known->shapes[i];
}

/* Find what a statistic is, and where its number is.
 * out:    *hole  but `before`; head_bytes 0 if it is not as writers write it: id first, then the value, nothing
 * else,
 *         all lengths in one byte */
static void look_at_stat(struct tm_xspace *x, uint64_t plane, const struct tm_wire *field, struct tm_xhole *hole)
{
    const uint8_t *const at = field->at;
    struct tm_wire w = { at + 1, field->end };
    struct tm_xstat read = { .id = 0 };
    uint64_t length, id;

    if (!tm_wire_varint(&w, &length))
        return;
    tm_xstat_read(&w, &read);
    hole->stat = (uint32_t)tm_xspace_stat(x, plane, read.id);
    w = (struct tm_wire){ at + 3, field->end };
    if (at[1] >= 0x80 || !at[1] || at[2] != TM_XSTAT_ID << 3 || !tm_wire_varint(&w, &id) || w.end - w.at < 2 ||
        w.at + 1 - at > HEAD_MOST)
        return;
    hole->head_bytes = (uint16_t)(w.at + 1 - at);
    hole->mask = (UINT64_MAX >> (64 - 8 * hole->head_bytes)) & ~LENGTH_MASK;
    memcpy(&hole->head, at, hole->head_bytes);
    hole->head &= hole->mask;
}

/* The key of a hole's number. */
static uint8_t value_key_of(const struct tm_xhole *hole)
{
    return (uint8_t)(hole->head >> (8 * (hole->head_bytes - 1)));
}

/* Whether a statistic becomes a hole.  Where arguments are kept it is an integer: templates have no other holes. */
static bool is_a_hole(const struct tm_xknown *known, const struct tm_xshape *shape, const struct tm_xhole *hole)
{
    const uint8_t value_key = hole->head_bytes ? value_key_of(hole) : 0;
    const bool is_whole = value_key == TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) ||
                          value_key == TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT);

    if (TM_FACT_BIT(hole->stat) & used_numbers)
        return is_whole;
    return value_key && (is_whole || !known->x->source.trace->keeps_arguments) && shape->is_wary &&
           !(TM_FACT_BIT(hole->stat) & tm_config_facts) && shape->hole_count < HOLES_FREE;
}

/* Find the holes of an event. out: shape->is_known  false if no shape can locate its numbers */
static void take_shape(struct tm_xknown *known, const struct tm_wire *stats, struct tm_xshape *shape)
{
    struct tm_wire w = *stats;
    const uint8_t *before = w.at, *at = w.at;
    struct tm_field field;

    shape->is_known = false;
    shape->hole_count = 0;
    memset(shape->holes, 0, sizeof(shape->holes));
    for (; tm_wire_next(&w, &field); at = w.at) {
        struct tm_xhole hole = { .before = (uint16_t)(at - before) };

        if (field.key != STAT_KEY)
            return;
        look_at_stat(known->x, shape->plane, &(struct tm_wire){ at, w.at }, &hole);
        if (!is_a_hole(known, shape, &hole)) {
            if (TM_FACT_BIT(hole.stat) & used_numbers)
                return;
            continue;
        }
        if (shape->hole_count == HOLES_MOST || at - before > UINT16_MAX)
            return;
        if (!(TM_FACT_BIT(hole.stat) & used_numbers))
            hole.stat = TM_STAT_UNKNOWN;
        shape->holes[shape->hole_count++] = hole;
        before = w.at;
    }
    shape->is_known = w.at == w.end;
    shape->seed = tm_hash_mix(tm_hash_mix(shape->plane, known->seed) ^ (uint64_t)shape->metadata_id, known->seed);
    /* Only the holes in use: each product with the same secret loses a part of the hash. */
    shape->seed = hash_bytes(known->seed, shape->seed, (const uint8_t *)shape->holes,
                             shape->hole_count * sizeof(shape->holes[0]));
}

static void put_result(struct tm_xknown *known, uint64_t key, const struct tm_xresult *result)
{
    struct tm_xslot *const slot = slots_of(known, key);

    if (slot->key && slot->key != key)
        *other_slot(known, slot) = *slot;
    *slot = (struct tm_xslot){ key, *result };
}

/* An event was not found.  A shape that finds too few gets more holes: other numbers vary, too.
 * out:    false  that was without success, and it is not worth learning one more */
static bool spend_credit(struct tm_xshape *shape)
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

void tm_xknown_learn(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                     const struct tm_xresult *result)
{
    int64_t numbers[TM_STAT_COUNT];
    struct tm_xshape *const shape = make_shape(known, kin);
    uint64_t key;

    if (!shape || !spend_credit(shape))
        return;
    take_shape(known, stats, shape);
    key = shape->is_known ? read_by_shape(shape, kin, stats, numbers, tm_wire_pack) : 0;
    if (key)
        put_result(known, key, result);
}

/* --- numbers of arguments --- */

bool tm_xknown_holes(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats, uint64_t *holes,
                     bool *has_id)
{
    const struct tm_xshape *const shape = find_shape(known, kin);
    const struct tm_xhole *hole = shape->holes, *const last = hole + shape->hole_count;
    struct tm_wire w = *stats;
    const uint8_t *before = w.at, *at = w.at;
    struct tm_field field;

    *holes = 0;
    *has_id = shape->hole_count && shape->holes[0].stat == TM_STAT_CORRELATION_ID;
    for (unsigned n = 0; hole < last && tm_wire_next(&w, &field); at = w.at, n++) {
        if (at - before != hole->before)
            continue;
        if (n >= 64 || (value_key_of(hole) != TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) &&
                        value_key_of(hole) != TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT)))
            return false;
        *holes |= UINT64_C(1) << n;
        before = w.at;
        hole++;
    }
    return hole == last;
}

size_t tm_xknown_numbers(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                         bool without_id, uint8_t *to)
{
    const struct tm_xshape *const shape = find_shape(known, kin);
    const uint8_t *at = stats->at;
    uint8_t *const begin = to;

    for (const struct tm_xhole *hole = shape->holes, *last = hole + shape->hole_count; hole < last; hole++) {
        const uint8_t *const number = (at += hole->before) + hole->head_bytes, *const behind = at + 2 + at[1];
        const size_t bytes = (size_t)(behind - number);

        /* Not the shortest form, or unsigned and past the largest integer. */
        if ((bytes > 1 && !behind[-1]) || bytes > 10 ||
            (bytes == 10 && value_key_of(hole) == TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT)))
            return SIZE_MAX;
        at = behind;
        if (without_id && hole == shape->holes)
            continue;
        memcpy(to, number, bytes);
        to += bytes;
    }
    return (size_t)(to - begin);
}

bool tm_xknown_has_one_number(struct tm_xknown *known, const struct tm_xkin *kin, bool has_id)
{
    const struct tm_xshape *const shape = find_shape(known, kin);
    unsigned ids = 0, others = 0;

    for (size_t i = 0; i < shape->hole_count; i++) {
        ids += shape->holes[i].stat == TM_STAT_CORRELATION_ID;
        others += shape->holes[i].stat == TM_STAT_UNKNOWN;
    }
    return others == 1 && ids == has_id && ids + others == shape->hole_count;
}

void tm_xknown_keep_signature(struct tm_xknown *known, const struct tm_xresult *result, int64_t number, uint32_t track,
                              uint16_t signature)
{
    if (known->numbered)
        *numbered_at(known, key_of(result), number) = (struct tm_xnumbered){ key_of(result), number, track, signature };
}

/* --- finding --- */

static struct tm_xresult *find_plain(struct tm_xknown *known, struct tm_xkin *kin, const struct tm_wire *bytes,
                                     struct tm_xhead *head, int64_t numbers[TM_STAT_COUNT])
{
    return find_known(known, kin, bytes, head, numbers, tm_wire_pack);
}

static void take_plain(struct tm_xknown *known, struct tm_xevents *events)
{
    take_known(known, events, tm_wire_pack);
}

const struct tm_xfinder *tm_xknown_finder(bool may_be_best)
{
    static const struct tm_xfinder plain = { find_plain, take_plain };

#ifdef __x86_64__
    if (may_be_best && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return &tm_xknown_finder_bmi2;
#endif
    (void)may_be_best;
    return &plain;
}
