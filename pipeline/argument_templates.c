/* SPDX-License-Identifier: Apache-2.0 */
/* Templates in a table of fixed size, with their lists one after the other in one block.  Each is found by a hash of
 * all its bytes, and compared.  A list seen once is remembered only by its hash, in sets of four, in which a new one
 * replaces the oldest. */
#include "pipeline/argument_templates.h"

#include <string.h>

#include "pipeline/store/hash.h"

enum {
    LEAST_BITS = 6,
    MOST_BITS = 13,
    LIST_BYTES = 160, /* of each, on average */
    PROBES = 8,
    SEEN_WAYS = 4,
    TRUSTED = 1 << 10,
    TRUST_MOST = 64,
    TRUST_GAIN = 2,
    TRY_ONE_IN = 16, /* if it is not trusted */
    FIXED_FROM = 4,  /* how often numbers must occur before they get a template of their own */
};

struct entry {
    uint64_t hash;
    uint32_t number; /* with its flags; 0 = free */
};

/* Numbers that came with a template: the device of a launch, which each thread calls for the same one. */
struct fixed {
    uint64_t numbers;          /* their bytes except for the id, and zeros */
    uint32_t template, number; /* number: of the template in which they are fixed; 0 = none */
    uint16_t id_hole, count;
};

struct tm_argument_templates {
    struct tm_run *run;
    uint32_t bits, count;              /* count: templates; the first one is unused */
    size_t used, room;                 /* of the lists */
    struct tm_argument_template *rows; /* 1 << bits */
    struct entry *entries;             /* 2 << bits, by hash */
    struct fixed *fixed;               /* 1 << bits, by hash; a later one replaces an earlier one */
    uint64_t *seen;                    /* 1 << bits hashes, in sets by hash */
    uint8_t *lists;
    uint64_t seed;
    /* By name: grows where nothing but the id varies; at -TRUST_MOST other numbers do, or seem to: a launch has a list
     * for each op and device that it is called for. */
    int8_t trust[TRUSTED];
    uint32_t not_tried;
};

static size_t bytes_for(uint32_t bits)
{
    return (sizeof(struct tm_argument_template) + 2 * sizeof(struct entry) + sizeof(struct fixed) + sizeof(uint64_t) +
            LIST_BYTES)
           << bits;
}

struct tm_argument_templates *tm_argument_templates_new(struct tm_run *run)
{
    struct tm_budget *const budget = &run->budget;
    const size_t share = tm_budget_share(budget, TM_ACCOUNT_INPUT) / 16;
    struct tm_argument_templates *const t = tm_take(budget, TM_ACCOUNT_INPUT, sizeof(*t), &run->error);
    uint8_t *block;

    if (!t)
        return NULL;
    *t = (struct tm_argument_templates){ .run = run, .bits = LEAST_BITS, .count = 1, .seed = tm_hash_seed(t) };
    while (t->bits < MOST_BITS && bytes_for(t->bits + 1) <= share)
        t->bits++;
    block = tm_take(budget, TM_ACCOUNT_INPUT, bytes_for(t->bits), &run->error);
    if (!block) {
        tm_give(budget, TM_ACCOUNT_INPUT, t, sizeof(*t));
        return NULL;
    }
    t->rows = (struct tm_argument_template *)(void *)block;
    t->entries = (struct entry *)(void *)(t->rows + ((size_t)1 << t->bits));
    t->fixed = (struct fixed *)(void *)(t->entries + ((size_t)2 << t->bits));
    t->seen = (uint64_t *)(void *)(t->fixed + ((size_t)1 << t->bits));
    t->lists = (uint8_t *)(t->seen + ((size_t)1 << t->bits));
    t->room = (size_t)LIST_BYTES << t->bits;
    return t;
}

void tm_argument_templates_free(struct tm_argument_templates *t)
{
    if (!t)
        return;
    tm_give(&t->run->budget, TM_ACCOUNT_INPUT, t->rows, bytes_for(t->bits));
    tm_give(&t->run->budget, TM_ACCOUNT_INPUT, t, sizeof(*t));
}

const struct tm_argument_template *tm_argument_template(const struct tm_argument_templates *t, uint32_t number)
{
    return &t->rows[number & ~TM_TEMPLATE_CORRELATION];
}

/* --- finding --- */

/* A list with 0 in its holes. */
struct draft {
    struct tm_argument_template row;
    uint8_t list[TM_TEMPLATE_LIST_MOST];
};

static uint64_t hash_of(const struct tm_argument_templates *t, const struct draft *d, uint32_t flags)
{
    const uint64_t list = tm_hash_key(d->list, d->row.length).low;
    const uint64_t holes = tm_hash_key(d->row.hole_at, d->row.holes * sizeof(d->row.hole_at[0])).low;

    return tm_hash_mix(list ^ tm_hash_mix(holes ^ flags, t->seed), t->seed) | 1;
}

static bool is_same(const struct tm_argument_template *row, const struct draft *d)
{
    return row->length == d->row.length && row->holes == d->row.holes &&
           memcmp(row->hole_at, d->row.hole_at, row->holes * sizeof(row->hole_at[0])) == 0 &&
           memcmp(row->list, d->list, row->length) == 0;
}

/* The entry of a draft, or the free one where it belongs; NULL: neither is near. */
static struct entry *find_entry(const struct tm_argument_templates *t, const struct draft *d, uint64_t hash,
                                uint32_t flags)
{
    const size_t mask = ((size_t)2 << t->bits) - 1;

    for (size_t i = 0; i < PROBES; i++) {
        struct entry *const entry = &t->entries[(hash + i) & mask];

        if (!entry->number || (entry->hash == hash && (entry->number & TM_TEMPLATE_CORRELATION) == flags &&
                               is_same(tm_argument_template(t, entry->number), d)))
            return entry;
    }
    return NULL;
}

static uint32_t add(struct tm_argument_templates *t, const struct draft *d, uint64_t hash, uint32_t flags,
                    struct entry *entry)
{
    if (t->count == UINT32_C(1) << t->bits || d->row.length > t->room - t->used)
        return 0;
    memcpy(t->lists + t->used, d->list, d->row.length);
    t->rows[t->count] = d->row;
    t->rows[t->count].list = t->lists + t->used;
    t->used += d->row.length;
    *entry = (struct entry){ hash, t->count++ | flags };
    return entry->number;
}

/* The number of a hole as a list has it.  in: *number  its bytes; behind them on return */
static uint8_t *put_value(uint8_t *to, const uint8_t **number)
{
    uint64_t value;

    *number = tm_take_hole(*number, &value);
    return tm_put_hole(to, (int64_t)(value << 1 ^ -(value >> 63)));
}

/* --- making drafts --- */

/* Put a node into the draft.  false: the list cannot become a template
 * in: from, to  its bytes;  number_bytes  of the number at its end, which is a hole; 0 = it is none */
static bool put_node(struct draft *d, const uint8_t *from, const uint8_t *to, size_t number_bytes)
{
    const size_t bytes = (size_t)(to - from) - number_bytes;

    if (bytes + 1 > sizeof(d->list) - d->row.length)
        return false;
    memcpy(d->list + d->row.length, from, bytes);
    d->row.length = (uint16_t)(d->row.length + bytes);
    if (!number_bytes)
        return true;
    if (d->row.holes == TM_ARGUMENT_HOLES)
        return false;
    d->row.hole_at[d->row.holes++] = d->row.length;
    d->list[d->row.length++] = 0;
    return true;
}

static size_t bytes_of(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

uint32_t tm_argument_templates_add(struct tm_argument_templates *t, struct tm_arguments list, uint64_t holes,
                                   uint32_t flags)
{
    struct draft d = { .row = { .length = 0 } };
    const uint8_t *from = list.bytes;
    struct tm_argument argument;
    struct entry *entry;
    uint64_t hash;

    for (; tm_arguments_next(&list, true, &argument); from = list.bytes, holes >>= 1)
        if (((holes & 1) && argument.type != TM_ARGUMENT_INT) ||
            !put_node(&d, from, list.bytes, holes & 1 ? bytes_of(argument.value) : 0))
            return 0;
    if (holes)
        return 0;
    hash = hash_of(t, &d, flags);
    entry = find_entry(t, &d, hash, flags);
    if (!entry)
        return 0;
    return entry->number ? entry->number : add(t, &d, hash, flags, entry);
}

/* The draft of a list: with a hole for its only number that is the id, or with one for each.
 * out: *numbers  of the holes except for the id; false: there can be no template of it */
static bool make_draft(struct draft *d, struct tm_arguments list, bool has_id, uint64_t id, uint8_t **numbers)
{
    uint8_t *const end = *numbers + TM_TEMPLATE_NUMBERS_MOST - 10;
    const uint8_t *from = list.bytes;
    struct tm_argument argument;

    d->row.length = d->row.holes = 0;
    for (; tm_arguments_next(&list, true, &argument); from = list.bytes) {
        const bool is_hole =
            argument.type == TM_ARGUMENT_INT && (has_id ? (uint64_t)argument.number == id : *numbers <= end);

        if ((has_id && is_hole && d->row.holes) ||
            !put_node(d, from, list.bytes, is_hole ? bytes_of(argument.value) : 0))
            return false;
        if (is_hole && !has_id)
            *numbers = tm_put_hole(*numbers, argument.number);
    }
    return !has_id || d->row.holes == 1;
}

/* Whether a list came before, of those seen recently; it is known from now on. */
static bool has_come(struct tm_argument_templates *t, uint64_t hash)
{
    uint64_t *const set = &t->seen[hash >> (64 - t->bits) & ~(uint64_t)(SEEN_WAYS - 1)];

    for (size_t way = 0; way < SEEN_WAYS; way++)
        if (set[way] == hash)
            return true;
    memmove(set + 1, set, (SEEN_WAYS - 1) * sizeof(*set));
    set[0] = hash;
    return false;
}

/* out:    0: there is no such template; *is_seen: such a list occurred once */
static uint32_t find_or_add(struct tm_argument_templates *t, const struct draft *d, uint32_t flags, bool *is_seen)
{
    const uint64_t hash = hash_of(t, d, flags);
    struct entry *const entry = find_entry(t, d, hash, flags);

    *is_seen = (entry && entry->number) || has_come(t, hash);
    if (!entry || entry->number)
        return entry ? entry->number : 0;
    return *is_seen ? add(t, d, hash, flags, entry) : 0;
}

/* --- numbers that keep coming --- */

enum { NO_HOLE = TM_ARGUMENT_HOLES };

/* A template with these numbers in all holes but that of the id.
 * in:     numbers  of all holes
 *         id_hole  NO_HOLE: there is none
 * out:    0: there is no room */
static uint32_t add_fixed(struct tm_argument_templates *t, uint32_t template, const uint8_t *number, size_t id_hole)
{
    const struct tm_argument_template *const row = tm_argument_template(t, template);
    const uint32_t flags = id_hole == NO_HOLE ? 0 : TM_TEMPLATE_CORRELATION;
    struct draft d = { .row = { .length = 0 } };
    struct entry *entry;
    size_t at = 0;
    uint64_t hash;

    if (row->length + 10 * row->holes > TM_TEMPLATE_LIST_MOST || t->count > UINT32_C(1) << t->bits >> 1)
        return 0;
    for (size_t i = 0; i < row->holes; i++) {
        uint8_t *to = d.list + d.row.length;

        memcpy(to, row->list + at, row->hole_at[i] - at);
        to += row->hole_at[i] - at;
        at = (size_t)row->hole_at[i] + 1;
        if (i == id_hole) {
            d.row.hole_at[d.row.holes++] = (uint16_t)(to - d.list);
            while (*number++ & 0x80)
                ;
            *to++ = 0;
        } else {
            to = put_value(to, &number);
        }
        d.row.length = (uint16_t)(to - d.list);
    }
    memcpy(d.list + d.row.length, row->list + at, row->length - at);
    d.row.length = (uint16_t)(d.row.length + row->length - at);
    hash = hash_of(t, &d, flags);
    entry = find_entry(t, &d, hash, flags);
    if (!entry)
        return 0;
    return entry->number ? entry->number : add(t, &d, hash, flags, entry);
}

uint32_t tm_argument_templates_fix(struct tm_argument_templates *t, uint32_t template, struct tm_arguments numbers,
                                   uint64_t correlation)
{
    uint8_t room[TM_TEMPLATE_NUMBERS_MOST + 10];
    const uint8_t *const first = tm_hole_numbers(template, numbers, correlation, room), *number = first;
    const size_t holes = tm_argument_template(t, template)->holes;
    size_t id_hole = NO_HOLE;
    uint64_t word = 0;
    struct fixed *f;

    for (size_t i = 0, used = 0; i < holes; i++) {
        const uint8_t *const from = number;
        uint64_t value;

        number = tm_take_hole(number, &value);
        if (id_hole == NO_HOLE && correlation && value == correlation) {
            id_hole = i;
            continue;
        }
        if (used + (size_t)(number - from) > sizeof(word))
            return 0;
        memcpy((uint8_t *)&word + used, from, (size_t)(number - from));
        used += (size_t)(number - from);
    }
    f = &t->fixed[tm_hash_mix(word ^ (uint64_t) template << 32 ^ id_hole, t->seed) >> (64 - t->bits)];
    if (f->numbers != word || f->template != template || f->id_hole != id_hole)
        *f = (struct fixed){ .numbers = word, .template = template, .id_hole = (uint16_t)id_hole };
    if (!f->number && f->count < FIXED_FROM && ++f->count == FIXED_FROM)
        f->number = add_fixed(t, template, first, id_hole);
    return f->number;
}

/* --- lists --- */

uint32_t tm_argument_templates_take(struct tm_argument_templates *t, tm_strid name, uint64_t correlation,
                                    struct tm_arguments *list, uint8_t *numbers)
{
    int8_t *const trust = &t->trust[name % TRUSTED];
    uint8_t *to = numbers;
    struct draft d;
    uint32_t number, fixed;
    bool is_seen;

    if (correlation && (*trust > -TRUST_MOST || ++t->not_tried % TRY_ONE_IN == 0) &&
        make_draft(&d, *list, true, correlation, &to)) {
        number = find_or_add(t, &d, TM_TEMPLATE_CORRELATION, &is_seen);
        if (number)
            list->length = 0;
        if (is_seen)
            *trust = (int8_t)(*trust + (*trust < TRUST_MOST ? TRUST_GAIN : 0));
        else if (*trust > -TRUST_MOST)
            --*trust;
        if (is_seen || *trust > -TRUST_MOST)
            return number;
    }
    if (!make_draft(&d, *list, false, 0, &to))
        return 0;
    number = find_or_add(t, &d, 0, &is_seen);
    if (!number)
        return 0;
    *list = (struct tm_arguments){ numbers, (size_t)(to - numbers) };
    fixed = tm_argument_templates_fix(t, number, *list, correlation);
    if (!fixed)
        return number;
    list->length = 0;
    return fixed;
}

/* --- the list itself --- */

struct tm_arguments tm_arguments_whole(const struct tm_argument_templates *t, uint32_t template,
                                       struct tm_arguments numbers, uint64_t correlation, uint8_t *whole)
{
    const struct tm_argument_template *const row = tm_argument_template(t, template);
    uint8_t room[TM_TEMPLATE_NUMBERS_MOST + 10];
    const uint8_t *number = tm_hole_numbers(template, numbers, correlation, room);
    uint8_t *to = whole;
    size_t at = 0;

    for (size_t i = 0; i < row->holes; i++) {
        memcpy(to, row->list + at, row->hole_at[i] - at);
        to = put_value(to + row->hole_at[i] - at, &number);
        at = (size_t)row->hole_at[i] + 1;
    }
    memcpy(to, row->list + at, row->length - at);
    to += row->length - at;
    return (struct tm_arguments){ whole, (size_t)(to - whole) };
}
