/* SPDX-License-Identifier: Apache-2.0 */
/* Words in a window, appended as they come (pipeline/store/lengths.h).  When it is full, they are sorted and equal ones
 * are combined; in traces most durations repeat, which usually frees enough space.  Otherwise the window grows, or the
 * words are written as a sorted run of rows.  Values that do not fit in a word are added to a group table.  Memory: a
 * sixteenth for that table, an eighth for the numbers of groups; the rest is for the window and its runs. */
#include "pipeline/store/lengths.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/record.h"
#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/sorter.h"

/* Small numbers for the groups of lengths, whose keys have 64 bits, in order of occurrence.  Memory: 32 bytes per
 * group; what exceeds its part may come from the pool. */
struct tm_length_groups {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes, drawn_bytes; /* its own, and from the pool */
    uint64_t *groups;                 /* by number */
    uint32_t *slots;                  /* two a group: number + 1; 0 = empty */
    uint32_t count, capacity;
    uint64_t seed;
};

/* A group and its number. */
struct tm_length_group {
    uint64_t group, number;
};

enum { TM_LENGTH_GROUPS_MOST = 1 << TM_LENGTH_GROUP_BITS, TM_LENGTH_GROUP_BYTES = 32 };

/* An open table of numbers, half full at the most.  The memory of a group: 8 bytes for itself, 8
 * for slots, 16 while they are put in order; the same covers the smaller tables that are held while
 * they move to larger ones. */

enum { FIRST_CAPACITY = 16 };

static void length_groups_init(struct tm_length_groups *groups, struct tm_run *run, enum tm_account account,
                               size_t memory_bytes)
{
    *groups = (struct tm_length_groups){
        .run = run, .account = account, .memory_bytes = memory_bytes, .seed = tm_hash_seed(groups)
    };
}

static void give_tables(struct tm_length_groups *groups)
{
    struct tm_budget *budget = &groups->run->budget;

    tm_give(budget, groups->account, groups->groups, groups->capacity * sizeof(*groups->groups));
    tm_give(budget, groups->account, groups->slots, 2 * groups->capacity * sizeof(*groups->slots));
    groups->groups = NULL;
    groups->slots = NULL;
}

/* tolerates a zeroed one */
static void length_groups_release(struct tm_length_groups *groups)
{
    if (!groups->run)
        return;
    give_tables(groups);
    tm_budget_put_back(&groups->run->budget, groups->drawn_bytes);
    *groups = (struct tm_length_groups){ .run = NULL };
}

/* None is known any more; the memory stays. */
static void length_groups_forget(struct tm_length_groups *groups)
{
    groups->count = 0;
    if (groups->slots)
        memset(groups->slots, 0, 2 * groups->capacity * sizeof(*groups->slots));
}

/* The slot of a group: its own, or the empty one where it belongs. */
static uint32_t *find_slot(const struct tm_length_groups *groups, uint64_t group)
{
    const uint32_t mask = 2 * groups->capacity - 1;

    for (uint32_t i = (uint32_t)tm_hash_mix(group, groups->seed) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &groups->slots[i];

        if (!*slot || groups->groups[*slot - 1] == group)
            return slot;
    }
}

/* Whether there is memory for this many, within its own part or from the pool. */
static bool has_memory_for(struct tm_length_groups *groups, uint32_t capacity)
{
    const size_t needed = (size_t)capacity * TM_LENGTH_GROUP_BYTES;
    const size_t have = groups->memory_bytes + groups->drawn_bytes;

    if (capacity > TM_LENGTH_GROUPS_MOST)
        return false;
    if (capacity == FIRST_CAPACITY || needed <= have)
        return true;
    if (!tm_budget_draw(&groups->run->budget, needed - have))
        return false;
    groups->drawn_bytes += needed - have;
    return true;
}

static tm_status grow(struct tm_length_groups *groups, uint32_t capacity)
{
    struct tm_run *run = groups->run;
    struct tm_length_groups larger = *groups;

    larger.capacity = capacity;
    larger.groups = tm_take(&run->budget, groups->account, capacity * sizeof(*larger.groups), &run->error);
    larger.slots = tm_take(&run->budget, groups->account, 2 * capacity * sizeof(*larger.slots), &run->error);
    if (!larger.groups || !larger.slots) {
        give_tables(&larger);
        return run->error.status;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        larger.groups[i] = groups->groups[i];
        *find_slot(&larger, larger.groups[i]) = i + 1;
    }
    give_tables(groups);
    *groups = larger;
    return TM_OK;
}

/* The number of a group, which gets one if it has none.
 * out:    *number  TM_NONE if there is no room for another
 * errors: of the ledger */
static tm_status length_groups_number(struct tm_length_groups *groups, uint64_t group, uint32_t *number)
{
    uint32_t *slot = groups->slots ? find_slot(groups, group) : NULL;

    *number = TM_NONE;
    if (slot && *slot) {
        *number = *slot - 1;
        return TM_OK;
    }
    if (groups->count == groups->capacity) {
        const uint32_t capacity = groups->capacity ? 2 * groups->capacity : FIRST_CAPACITY;

        if (!has_memory_for(groups, capacity))
            return TM_OK;
        if (grow(groups, capacity) != TM_OK)
            return groups->run->error.status;
        slot = find_slot(groups, group);
    }
    *number = groups->count++;
    groups->groups[*number] = group;
    *slot = groups->count;
    return TM_OK;
}

static int by_group(const void *a, const void *b)
{
    const struct tm_length_group *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

/* All of them in the order of the groups.
 * owns:   the caller gives the block back with length_groups_give_order
 * errors: NULL, of the ledger */
static struct tm_length_group *length_groups_order(struct tm_length_groups *groups)
{
    struct tm_run *run = groups->run;
    struct tm_length_group *order = tm_take(&run->budget, groups->account, groups->count * sizeof(*order), &run->error);

    for (uint32_t i = 0; order && i < groups->count; i++)
        order[i] = (struct tm_length_group){ groups->groups[i], i };
    if (order)
        qsort(order, groups->count, sizeof(*order), by_group);
    return order;
}

static void length_groups_give_order(struct tm_length_groups *groups, struct tm_length_group *order)
{
    tm_give(&groups->run->budget, groups->account, order, groups->count * sizeof(*order));
}

/* A radix sort by the bits in which keys differ.  If the words do not fit into the scratch space, which is mostly in a
 * cache near the processor, they are first partitioned in place by the highest bits.  Then each part is sorted by all
 * differing bits, from the lowest on, to the scratch space and back: each of these passes is stable.  No step depends
 * on the value of a word: partitioning by the highest bits in turn, and sorting few words one by one, took as many
 * instructions and 1.6 times as long, because its branches cannot be predicted. */

enum {
    DIGIT_BITS = 8,
    WIDE_BITS = 11, /* of a digit if there are many words */
    MANY_WORDS = 1 << 12,
    VALUES = 1 << WIDE_BITS,
    FEW_WORDS = 48,
    GROUP_SHIFT = TM_LENGTH_VALUE_BITS + TM_LENGTH_COUNT_BITS,
};

/* The bits in which keys differ. */
static uint64_t find_difference(const uint64_t *words, size_t count)
{
    uint64_t all = 0;

#pragma GCC unroll 4
    for (size_t i = 1; i < count; i++)
        all |= words[i] ^ words[0];
    return all >> TM_LENGTH_COUNT_BITS << TM_LENGTH_COUNT_BITS;
}

/* What words are distributed by. */
struct digit {
    unsigned shift;
    uint64_t mask;
};

static inline size_t value_of(uint64_t word, struct digit digit)
{
    return (size_t)(word >> digit.shift & digit.mask);
}

static void sort_few(uint64_t *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = words[i];
        size_t at = i;

        for (; at > 0 && words[at - 1] > moved; at--)
            words[at] = words[at - 1];
        words[at] = moved;
    }
}

/* out: starts  of the part of each value of the digit */
static void find_parts(const uint64_t *words, size_t count, struct digit digit, uint32_t *begins)
{
    uint32_t before = 0;

    memset(begins, 0, (digit.mask + 1) * sizeof(*begins));
#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++)
        begins[value_of(words[i], digit)]++;
    for (size_t i = 0; i <= digit.mask; i++) {
        const uint32_t own = begins[i];

        begins[i] = before;
        before += own;
    }
}

/* Distribute the words by one digit of their keys. */
static void deal(const uint64_t *from, uint64_t *to, size_t count, struct digit digit)
{
    uint32_t places[VALUES];

    find_parts(from, count, digit, places);
#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++)
        to[places[value_of(from[i], digit)]++] = from[i];
}

/* The same in place.  Each step puts one word into its position and takes the previous word in exchange, which is left
 * for the next round, so steps do not wait for each other.  A round places at least half of the rest. out: ends  of the
 * parts */
static void deal_in_place(uint64_t *words, size_t count, struct digit digit, uint32_t *ends)
{
    uint32_t places[1 << DIGIT_BITS];
    size_t left = count;

    find_parts(words, count, digit, places);
    memcpy(ends, places + 1, digit.mask * sizeof(*ends));
    ends[digit.mask] = (uint32_t)count;
    while (left) {
        for (size_t part = 0; part <= digit.mask; part++) {
            const size_t begin = places[part], end = ends[part];

            for (size_t i = begin; i < end; i++) {
                uint64_t *const place = &words[places[value_of(words[i], digit)]++];
                const uint64_t word = words[i];

                words[i] = *place;
                *place = word;
            }
            left -= end - begin;
        }
    }
}

/* Sort words, as many as fit into the scratch words. */
static void sort_bucket(uint64_t *words, uint64_t *scratch, size_t count)
{
    const unsigned bits = count < MANY_WORDS ? DIGIT_BITS : WIDE_BITS;
    uint64_t *at = words, *other = scratch;

    if (count <= FEW_WORDS) {
        sort_few(words, count);
        return;
    }
    for (uint64_t left = find_difference(words, count); left;) {
        const struct digit digit = { (unsigned)__builtin_ctzll(left), (UINT64_C(1) << bits) - 1 };
        uint64_t *const dealt = other;

        left &= ~(digit.mask << digit.shift);
        deal(at, other, count, digit);
        other = at;
        at = dealt;
    }
    if (at != words)
        memcpy(words, at, count * sizeof(*words));
}

/* Sort any number of words.  Those that do not fit into the scratch words are distributed by the highest bits that
 * differ, and the parts are sorted in the same way. */
static void sort_parts(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count)
{
    if (count <= FEW_WORDS || count <= scratch_count) {
        sort_bucket(words, scratch, count);
        return;
    }
    const uint64_t difference = find_difference(words, count);
    uint32_t ends[1 << DIGIT_BITS];
    size_t begin = 0;

    if (!difference)
        return;
    const unsigned behind = 64 - (unsigned)__builtin_clzll(difference);
    const struct digit digit = { behind > TM_LENGTH_COUNT_BITS + DIGIT_BITS ? behind - DIGIT_BITS
                                                                            : TM_LENGTH_COUNT_BITS,
                                 (1 << DIGIT_BITS) - 1 };

    deal_in_place(words, count, digit, ends);
    for (size_t i = 0; i <= digit.mask; i++) {
        sort_parts(words + begin, ends[i] - begin, scratch, scratch_count);
        begin = ends[i];
    }
}

/* Combine words of the same key, which are adjacent.  A word that is full stays, and the next one has the rest. */
static size_t fold_equal(uint64_t *words, size_t count)
{
    const uint64_t full = tm_length_word_count(UINT64_MAX);
    size_t left = 0;

    for (size_t i = 1; i < count; i++) {
        const uint64_t last = words[left], word = words[i];

        if (tm_length_word_key(last) != tm_length_word_key(word)) {
            words[++left] = word;
            continue;
        }
        const uint64_t seen = tm_length_word_count(last) + tm_length_word_count(word);
        const uint64_t key = tm_length_word_key(word) << TM_LENGTH_COUNT_BITS;

        words[left] = key | ((seen < full ? seen : full) - 1);
        if (seen > full)
            words[++left] = key | (seen - full - 1);
    }
    return count ? left + 1 : 0;
}

/* Bring words of the same group together, by the number of their group: the same as a sort, by fewer bits. */
static void sort_groups(uint64_t *words, size_t count)
{
    const uint64_t difference = find_difference(words, count) >> GROUP_SHIFT << GROUP_SHIFT;
    uint32_t ends[1 << DIGIT_BITS];
    size_t begin = 0;

    if (!difference)
        return;
    if (count <= FEW_WORDS) {
        sort_few(words, count);
        return;
    }
    const unsigned behind = 64 - (unsigned)__builtin_clzll(difference);
    const struct digit digit = { behind > GROUP_SHIFT + DIGIT_BITS ? behind - DIGIT_BITS : GROUP_SHIFT,
                                 (1 << DIGIT_BITS) - 1 };

    deal_in_place(words, count, digit, ends);
    for (size_t i = 0; digit.shift > GROUP_SHIFT && i <= digit.mask; i++) {
        sort_groups(words + begin, ends[i] - begin);
        begin = ends[i];
    }
}

/* Of words by a digit, the part with a rank.
 * in:     *rank  of all words
 * out:    *rank  in that part */
static size_t find_part(const uint64_t *words, size_t count, struct digit digit, uint64_t *rank)
{
    uint64_t counts[1 << DIGIT_BITS] = { 0 };
    size_t part = 0;

#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++)
        counts[value_of(words[i], digit)] += tm_length_word_count(words[i]);
    for (; part < digit.mask && counts[part] <= *rank; part++)
        *rank -= counts[part];
    return part;
}

/* Bring the words of a part to the front, without a branch.  out: how many there are */
static size_t keep_part(uint64_t *words, size_t count, struct digit digit, size_t part)
{
    size_t kept = 0;

#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = words[i];

        words[i] = words[kept];
        words[kept] = word;
        kept += value_of(word, digit) == part;
    }
    return kept;
}

uint64_t tm_length_word_at_rank(uint64_t *words, size_t count, uint64_t rank)
{
    size_t at = 0;

    while (count > FEW_WORDS) {
        const uint64_t difference = find_difference(words, count);

        if (!difference)
            return tm_length_word_value(words[0]);
        const unsigned behind = 64 - (unsigned)__builtin_clzll(difference);
        const struct digit digit = { behind > TM_LENGTH_COUNT_BITS + DIGIT_BITS ? behind - DIGIT_BITS
                                                                                : TM_LENGTH_COUNT_BITS,
                                     (1 << DIGIT_BITS) - 1 };

        count = keep_part(words, count, digit, find_part(words, count, digit, &rank));
    }
    sort_few(words, count);
    while (at + 1 < count && tm_length_word_count(words[at]) <= rank)
        rank -= tm_length_word_count(words[at++]);
    return tm_length_word_value(words[at]);
}

size_t tm_lengths_sort(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count)
{
    sort_parts(words, count, scratch, scratch_count);
    return fold_equal(words, count);
}

enum {
    SCRATCH_BYTES = 512 << 10, /* for the sort, at most what fits into a cache near the processor */
    SORTED_LEAST = 65536,      /* fewer words are not worth a sort to make room */
    SAMPLE = 1024,             /* words that say whether a sort is worth it */
    STEP = 8,                  /* where that did not make room, the next try is at this many times as many */
};

/* Where reading is: all words of the groups before `at` in the order have been read. */
struct place {
    size_t at;
    size_t next, end; /* words of the group that is read */
    uint64_t group;
};

/* A row of a run: word = length << SPILLED_COUNT_BITS | count - 1.  Equal ones are folded when they
 * are read. */
struct spilled {
    uint64_t group, word;
};

enum { SPILLED_COUNT_BITS = 64 - TM_LENGTH_VALUE_BITS };

/* The next value of one of the two kinds. */
struct head {
    struct tm_length length;
    bool is_there;
};

struct tm_lengths {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes; /* for the window and the runs */
    struct tm_length_groups groups;
    uint64_t generation;     /* of the numbers of groups, from 1 on: places of another one are lost */
    struct tm_window window; /* words */
    uint64_t *scratch;       /* for the sort; kept while the window has that capacity */
    size_t scratch_bytes, scratch_most_bytes;
    struct tm_runs *runs;     /* struct spilled; NULL = all words are in the window */
    struct tm_groups *others; /* struct tm_length; NULL = none */
    size_t others_bytes;
    size_t sorted_from;            /* this many words are sorted to make room before the window grows */
    struct tm_length_group *order; /* of the groups, while the window is read */
    struct place place;
    struct head word, other;
    struct spilled ahead; /* of the runs, the next row */
    bool has_ahead;
    struct tm_length given;
    bool is_finished;
    bool is_sorted; /* once finished: else the words of a group are in no order */
};

static void merge(void *into, const void *from)
{
    ((struct tm_length *)into)->count += ((const struct tm_length *)from)->count;
}

/* Negative, 0, or positive, as a comes before b, is equal, or comes after it. */
static int by_group_and_value(const void *a, const void *b)
{
    const struct tm_length *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static_assert(sizeof(struct tm_length) == sizeof(struct tm_key) + 8, "a row of a group table, in the same order");

static int by_group_and_word(const void *a, const void *b)
{
    const struct spilled *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

static uint64_t group_of(const void *row)
{
    return ((const struct spilled *)row)->group;
}

static uint64_t word_of(const void *row)
{
    return ((const struct spilled *)row)->word;
}

struct tm_lengths *tm_lengths_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_lengths *lengths = tm_take(&run->budget, account, sizeof(*lengths), &run->error);

    if (!lengths)
        return NULL;
    /* The structure itself and the list of runs are small change of the last sixteenth. */
    const size_t sixteenth = memory_bytes / 16, memory = memory_bytes - 4 * sixteenth;
    const size_t scratch = memory / 8 < SCRATCH_BYTES ? memory / 8 : SCRATCH_BYTES;
    const size_t buffer = tm_runs_buffer_bytes(sizeof(struct spilled), memory) + scratch;

    lengths->run = run;
    lengths->account = account;
    lengths->memory_bytes = memory;
    lengths->others_bytes = sixteenth;
    lengths->scratch_most_bytes = scratch;
    lengths->sorted_from = SORTED_LEAST;
    lengths->generation = 1;
    length_groups_init(&lengths->groups, run, account, 2 * sixteenth);
    tm_window_init(&lengths->window, run, account, sizeof(uint64_t), 0, memory > buffer ? memory - buffer : 0);
    return lengths;
}

static void give_order(struct tm_lengths *lengths)
{
    length_groups_give_order(&lengths->groups, lengths->order);
    lengths->order = NULL;
}

static void give_scratch(struct tm_lengths *lengths)
{
    tm_give(&lengths->run->budget, lengths->account, lengths->scratch, lengths->scratch_bytes);
    lengths->scratch = NULL;
    lengths->scratch_bytes = 0;
}

void tm_lengths_free(struct tm_lengths *lengths)
{
    if (!lengths)
        return;
    give_scratch(lengths);
    give_order(lengths);
    length_groups_release(&lengths->groups);
    tm_groups_free(lengths->others);
    tm_runs_free(lengths->runs);
    tm_window_close(&lengths->window);
    tm_give(&lengths->run->budget, lengths->account, lengths, sizeof(*lengths));
}

static inline uint64_t *words_of(const struct tm_lengths *lengths)
{
    return (uint64_t *)(void *)lengths->window.rows;
}

static tm_status take_scratch(struct tm_lengths *lengths)
{
    struct tm_run *run = lengths->run;
    const size_t words_bytes = lengths->window.count * sizeof(uint64_t);
    const size_t bytes = words_bytes < lengths->scratch_most_bytes ? words_bytes : lengths->scratch_most_bytes;

    if (lengths->scratch_bytes >= bytes)
        return TM_OK;
    give_scratch(lengths);
    lengths->scratch = tm_take(&run->budget, lengths->account, bytes, &run->error);
    lengths->scratch_bytes = lengths->scratch ? bytes : 0;
    return lengths->scratch ? TM_OK : run->error.status;
}

static tm_status sort_window(struct tm_lengths *lengths)
{
    const tm_status st = take_scratch(lengths);

    if (st == TM_OK && lengths->window.count)
        lengths->window.count = tm_lengths_sort(words_of(lengths), lengths->window.count, lengths->scratch,
                                                lengths->scratch_bytes / sizeof(uint64_t));
    return st;
}

static tm_status grow_window(struct tm_lengths *lengths)
{
    give_scratch(lengths);
    return tm_window_grow(&lengths->window);
}

static void release_window(struct tm_lengths *lengths)
{
    give_scratch(lengths);
    tm_window_release(&lengths->window);
}

static tm_status open_runs(struct tm_lengths *lengths)
{
    const struct tm_runs_setup setup = {
        .account = lengths->account,
        .row_bytes = sizeof(struct spilled),
        .memory_bytes = lengths->memory_bytes + lengths->window.drawn_bytes,
        .order = by_group_and_word,
        .prefix = group_of,
        .second = word_of,
    };

    lengths->runs = tm_runs_new(lengths->run, &setup);
    return lengths->runs ? TM_OK : lengths->run->error.status;
}

/* --- reading the window, which is sorted --- */

static tm_status start_reading(struct tm_lengths *lengths)
{
    give_order(lengths);
    lengths->order = length_groups_order(&lengths->groups);
    lengths->place = (struct place){ .at = 0 };
    return lengths->order ? TM_OK : lengths->run->error.status;
}

/* The first word that is not below a key. */
static size_t find_word(const struct tm_lengths *lengths, uint64_t key)
{
    const uint64_t *words = words_of(lengths);
    size_t begin = 0, end = lengths->window.count;

    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;

        if (tm_length_word_key(words[middle]) < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Advance to the next group that has words; false = there is none. */
TM_NOT_INLINE bool find_next_group(struct tm_lengths *lengths)
{
    struct place *place = &lengths->place;

    while (place->next == place->end) {
        if (place->at == lengths->groups.count)
            return false;
        const uint64_t number = lengths->order[place->at].number;

        place->group = lengths->order[place->at++].group;
        place->next = find_word(lengths, number << TM_LENGTH_VALUE_BITS);
        place->end = find_word(lengths, (number + 1) << TM_LENGTH_VALUE_BITS);
    }
    return true;
}

static bool read_word(struct tm_lengths *lengths, struct tm_length *length)
{
    const uint64_t *const words = words_of(lengths);
    struct place *const place = &lengths->place;

    if (place->next == place->end && !find_next_group(lengths))
        return false;
    const uint64_t key = tm_length_word_key(words[place->next]);
    uint64_t count = tm_length_word_count(words[place->next++]);

    for (; place->next < place->end && tm_length_word_key(words[place->next]) == key; place->next++)
        count += tm_length_word_count(words[place->next]);
    *length = (struct tm_length){ .group = place->group,
                                  .value = tm_length_word_value(key << TM_LENGTH_COUNT_BITS),
                                  .count = count };
    return true;
}

/* --- making room --- */

/* The numbers of groups start again once no word has one. */
static void forget_groups(struct tm_lengths *lengths)
{
    assert(!lengths->window.count);
    length_groups_forget(&lengths->groups);
    lengths->generation++;
}

static tm_status put_length(struct tm_lengths *lengths, const struct tm_length *length)
{
    const uint64_t most = UINT64_C(1) << SPILLED_COUNT_BITS;
    tm_status st = TM_OK;

    for (uint64_t left = length->count; left && st == TM_OK;) {
        const uint64_t count = left < most ? left : most;
        const struct spilled row = { length->group, length->value << SPILLED_COUNT_BITS | (count - 1) };

        left -= count;
        st = tm_runs_put(lengths->runs, &row);
    }
    return st;
}

static tm_status put_words(struct tm_lengths *lengths)
{
    struct tm_length length;
    tm_status st = start_reading(lengths);

    while (st == TM_OK && read_word(lengths, &length))
        st = put_length(lengths, &length);
    give_order(lengths);
    return st;
}

/* Write the window, which is sorted, out as a run. */
static tm_status spill_window(struct tm_lengths *lengths)
{
    tm_status st = lengths->runs ? TM_OK : open_runs(lengths);

    if (st == TM_OK)
        st = put_words(lengths);
    if (st == TM_OK)
        st = tm_runs_end(lengths->runs);
    lengths->window.count = 0;
    if (st == TM_OK && tm_runs_need_merge(lengths->runs)) {
        release_window(lengths);
        st = tm_runs_merge(lengths->runs);
    }
    return st;
}

/* Whether half of the words may be equal to others: then a sample of a thousand has some, at any position.  Most
 * durations of kernels and delays of launches differ to the picosecond, and a sort that frees no space costs as much as
 * the last one. */
static bool may_fold(const uint64_t *words, size_t count)
{
    uint64_t sample[SAMPLE], scratch[SAMPLE];
    size_t equal;

    for (uint64_t i = 0; i < SAMPLE; i++)
        sample[i] = words[(uint64_t)((unsigned __int128)(i * UINT64_C(0x9e3779b97f4a7c15)) * count >> 64)];
    equal = SAMPLE - tm_lengths_sort(sample, SAMPLE, scratch, SAMPLE);
    return equal && equal * count >= SAMPLE * SAMPLE / 4;
}

/* Sort to make room, if that is worth it.  *has_room: at least half of the window. */
static tm_status try_folding(struct tm_lengths *lengths, bool *has_room)
{
    struct tm_window *window = &lengths->window;
    const size_t count = window->count;

    *has_room = false;
    if (count < lengths->sorted_from)
        return TM_OK;
    if (!may_fold(words_of(lengths), count)) {
        lengths->sorted_from = STEP * count;
        return TM_OK;
    }
    const tm_status st = sort_window(lengths);

    *has_room = window->count <= window->capacity / 2;
    lengths->sorted_from = *has_room ? SORTED_LEAST : STEP * count;
    return st;
}

static tm_status make_room(struct tm_lengths *lengths)
{
    struct tm_window *window = &lengths->window;
    bool has_room = false;
    tm_status st = tm_failed(lengths->run) ? lengths->run->error.status : try_folding(lengths, &has_room);

    if (st != TM_OK || has_room)
        return st;
    if (tm_window_can_grow(window))
        return grow_window(lengths);
    st = sort_window(lengths);
    if (st != TM_OK || window->count <= window->capacity / 2)
        return st;
    st = spill_window(lengths);
    return st == TM_OK && !window->capacity ? grow_window(lengths) : st;
}

/* --- adding --- */

/* The number of a group, for which words are spilled if all numbers that there is memory for are
 * taken. out: *number  TM_NONE if words have no room for its number */
static tm_status find_number(struct tm_lengths *lengths, uint64_t group, uint32_t *number)
{
    tm_status st =
        tm_failed(lengths->run) ? lengths->run->error.status : length_groups_number(&lengths->groups, group, number);

    if (st != TM_OK || *number != TM_NONE || lengths->groups.count == TM_LENGTH_GROUPS_MOST)
        return st;
    st = sort_window(lengths);
    if (st == TM_OK && lengths->window.count)
        st = spill_window(lengths);
    if (st != TM_OK)
        return st;
    forget_groups(lengths);
    return length_groups_number(&lengths->groups, group, number);
}

static tm_status add_word(struct tm_lengths *lengths, uint64_t word)
{
    struct tm_window *window = &lengths->window;

    if (tm_window_is_full(window)) {
        const tm_status st = make_room(lengths);

        if (st != TM_OK)
            return st;
    }
    words_of(lengths)[window->count++] = word;
    return TM_OK;
}

static tm_status add_other(struct tm_lengths *lengths, const struct tm_length *length)
{
    if (!lengths->others)
        lengths->others = tm_groups_new(lengths->run, lengths->account, sizeof(*length), lengths->others_bytes, merge);
    if (lengths->others)
        tm_groups_add(lengths->others, length);
    return lengths->run->error.status;
}

static inline bool fits_word(uint64_t value)
{
    return !(value >> TM_LENGTH_VALUE_BITS);
}

static tm_status add(struct tm_lengths *lengths, uint64_t group, uint64_t value, uint64_t count)
{
    const struct tm_length length = { group, value, count };
    uint32_t number = TM_NONE;

    assert(!lengths->is_finished);
    if (fits_word(value) && count - 1 < UINT64_C(1) << TM_LENGTH_COUNT_BITS) {
        const tm_status st = find_number(lengths, group, &number);

        if (st != TM_OK)
            return st;
    }
    return number == TM_NONE ? add_other(lengths, &length) : add_word(lengths, tm_length_word(number, value, count));
}

void tm_lengths_add(struct tm_lengths *lengths, uint64_t group, uint64_t value, uint64_t count)
{
    (void)add(lengths, group, value, count);
}

/* One whose place is unknown, or that does not fit. */
TM_NOT_INLINE void add_slowly(struct tm_lengths *lengths, tm_length_place *place, uint64_t group, uint64_t value)
{
    const struct tm_length length = { group, value, 1 };
    uint32_t number = (uint32_t)*place & (TM_LENGTH_GROUPS_MOST - 1);

    if (fits_word(value) && *place >> TM_LENGTH_GROUP_BITS != lengths->generation) {
        if (find_number(lengths, group, &number) != TM_OK)
            return;
        if (number != TM_NONE)
            *place = lengths->generation << TM_LENGTH_GROUP_BITS | number;
    }
    if (fits_word(value) && number != TM_NONE)
        (void)add_word(lengths, tm_length_word(number, value, 1));
    else
        (void)add_other(lengths, &length);
}

void tm_lengths_add_at(struct tm_lengths *lengths, tm_length_place *place, uint64_t group, uint64_t value)
{
    struct tm_window *const window = &lengths->window;

    assert(!lengths->is_finished);
    if (!fits_word(value) || *place >> TM_LENGTH_GROUP_BITS != lengths->generation || tm_window_is_full(window))
        add_slowly(lengths, place, group, value);
    else
        words_of(lengths)[window->count++] = tm_length_word((uint32_t)*place & (TM_LENGTH_GROUPS_MOST - 1), value, 1);
}

/* --- reading --- */

static tm_status look_ahead(struct tm_lengths *lengths)
{
    const void *row = NULL;
    const tm_status st = tm_runs_next(lengths->runs, &row);

    lengths->has_ahead = st == TM_OK && row;
    if (lengths->has_ahead)
        lengths->ahead = *(const struct spilled *)row;
    return st;
}

static tm_status read_runs(struct tm_lengths *lengths, struct head *head)
{
    struct tm_length *const length = &head->length;
    tm_status st = TM_OK;

    head->is_there = lengths->has_ahead;
    *length = (struct tm_length){ lengths->ahead.group, lengths->ahead.word >> SPILLED_COUNT_BITS, 0 };
    while (st == TM_OK && lengths->has_ahead && lengths->ahead.group == length->group &&
           lengths->ahead.word >> SPILLED_COUNT_BITS == length->value) {
        length->count += (lengths->ahead.word & ((UINT64_C(1) << SPILLED_COUNT_BITS) - 1)) + 1;
        st = look_ahead(lengths);
    }
    return st;
}

/* Advance to the next length from the sort words. */
static tm_status next_word(struct tm_lengths *lengths)
{
    if (lengths->runs)
        return read_runs(lengths, &lengths->word);
    lengths->word.is_there = read_word(lengths, &lengths->word.length);
    return TM_OK;
}

/* Whether there is nothing to merge: all is in the window. */
static bool reads_words_alone(const struct tm_lengths *lengths)
{
    return !lengths->runs && !lengths->others;
}

static void next_other(struct tm_lengths *lengths)
{
    const void *const row = lengths->others ? tm_groups_next(lengths->others) : NULL;

    lengths->other.is_there = row;
    if (row)
        lengths->other.length = *(const struct tm_length *)row;
}

/* Everything in memory is sorted, or written to the runs. */
static tm_status end_adding(struct tm_lengths *lengths)
{
    tm_status st = sort_window(lengths);

    lengths->is_finished = lengths->is_sorted = true;
    give_scratch(lengths);
    if (st != TM_OK || !lengths->runs)
        return st;
    st = spill_window(lengths);
    release_window(lengths);
    return st == TM_OK ? tm_runs_finish(lengths->runs) : st;
}

void tm_lengths_finish(struct tm_lengths *lengths)
{
    const bool is_again = lengths->is_finished;
    tm_status st = lengths->run->error.status;

    if (st == TM_OK && !lengths->is_sorted)
        st = end_adding(lengths);
    lengths->is_finished = true;
    if (st == TM_OK && lengths->others)
        tm_groups_finish(lengths->others);
    if (st == TM_OK && !lengths->runs)
        st = start_reading(lengths);
    else if (st == TM_OK && is_again)
        st = tm_runs_rewind(lengths->runs);
    if (st == TM_OK && lengths->runs)
        st = look_ahead(lengths);
    if (st != TM_OK || reads_words_alone(lengths))
        return;
    st = next_word(lengths);
    if (st == TM_OK)
        next_other(lengths);
}

void tm_lengths_finish_spans(struct tm_lengths *lengths)
{
    if (tm_failed(lengths->run) || !reads_words_alone(lengths)) {
        tm_lengths_finish(lengths);
        return;
    }
    if (!lengths->is_finished)
        sort_groups(words_of(lengths), lengths->window.count);
    lengths->is_finished = true;
    lengths->is_sorted = false; /* asking for a rank changes the order */
    (void)start_reading(lengths);
}

const struct tm_length *tm_lengths_next(struct tm_lengths *lengths)
{
    const struct head *word = &lengths->word, *other = &lengths->other;
    int order = word->is_there ? -1 : 1;

    assert(lengths->is_finished && (lengths->is_sorted || tm_failed(lengths->run)));
    if (tm_failed(lengths->run))
        return NULL;
    if (reads_words_alone(lengths))
        return read_word(lengths, &lengths->given) ? &lengths->given : NULL;
    if (!word->is_there && !other->is_there)
        return NULL;
    if (word->is_there && other->is_there)
        order = by_group_and_value(&word->length, &other->length);
    lengths->given = order <= 0 ? word->length : other->length;
    if (order == 0)
        lengths->given.count += other->length.count;
    if (order <= 0 && next_word(lengths) != TM_OK)
        return NULL;
    if (order >= 0)
        next_other(lengths);
    return tm_failed(lengths->run) ? NULL : &lengths->given;
}

bool tm_lengths_next_span(struct tm_lengths *lengths, struct tm_length_span *span)
{
    struct place *const place = &lengths->place;
    const struct tm_length *length;

    assert(lengths->is_finished);
    if (!tm_failed(lengths->run) && reads_words_alone(lengths)) {
        if (place->next == place->end && !find_next_group(lengths))
            return false;
        *span = (struct tm_length_span){ .group = place->group,
                                         .words = words_of(lengths) + place->next,
                                         .count = place->end - place->next };
        place->next = place->end;
        return true;
    }
    length = tm_lengths_next(lengths);
    if (length)
        *span = (struct tm_length_span){ .group = length->group, .count = 1, .one = *length };
    return length != NULL;
}
