/* SPDX-License-Identifier: Apache-2.0 */
/* A log-structured merge tree.  New keys are collected in an open-addressing table.  When it is full, they are sorted
 * and written as a run of pages.  A run is merged with earlier ones unless they are several times as large, so there
 * are few.  A key that is not in the table is looked up in each run: a Bloom filter in memory usually excludes the run,
 * else one page is read.  A paged table would read and write one page for each random key: with that, converting a
 * million events of as many processes with random ids took 9.6 s of CPU and spilled 9.6 GiB, now 5.9 s and 2.3 GiB.
 *
 * Keys are stored scrambled.  The upper half determines the position in the table, in the pages of a run, and in the
 * words of a filter, and runs are sorted by it.  A family has one position, so a run's entries for it are mostly read
 * as one page, which is cached in the table. */
#include "pipeline/store/names.h"

#include <assert.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"

enum {
    MEMBERS = 1 << TM_KEY_MEMBER_BITS,
    FIRST_SLOTS = 256,
    ROWS_IN_PAGE = 170,
    ROWS_WANTED = ROWS_IN_PAGE / 4 * 3, /* the rest is for pages that get more than others */
    PAGES_LEAST = 8,                    /* in the memory of the table, which merges use, too */
    PAGES_AT_ONCE = 16,                 /* read and written by merges */
    RATIO = 3,                          /* each run has more than this many times the rows of the next */
    RUNS_MOST = 38,                     /* RATIO to the power of it is more than NUMBER_MOST */
    RESOLVED = 64,
    FILTER_BITS = 10, /* for each family, if there is room */
    PROBES_MOST = 5,
};

struct row {
    struct tm_key key;    /* of the family, scrambled */
    uint64_t number : 58; /* plus one; 0 = an empty slot */
    uint64_t member : TM_KEY_MEMBER_BITS;
    uint64_t is_written : 1; /* a run has it, too */
};
static_assert(sizeof(struct row) == 24, "a slot takes 24 bytes");

#define NUMBER_MOST (UINT64_MAX >> 6)

struct page {
    struct row rows[ROWS_IN_PAGE]; /* in order; after them zeros */
    uint64_t count;
    uint64_t unused;
};
static_assert(sizeof(struct page) == 4096, "pages are whole blocks of the spill file");

/* Rows in order, each in the page that its place determines, or in one of the next if that is full. */
struct key_run {
    uint64_t at;     /* in the spill file */
    uint64_t pages;  /* among which places are distributed */
    uint64_t length; /* pages written: some more where the last one overflowed */
    uint64_t rows, families;
    uint64_t *filter; /* a word for each family; NULL = none */
    size_t filter_words;
    uint32_t probes; /* bits set for a family in its word */
};

struct tm_key_map {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes, drawn_bytes;
    uint64_t count, seed;
    struct row *slots; /* at most half full */
    size_t slot_count, used;
    struct tm_spill spill;
    struct page *page;              /* for looking up, and for writing a run */
    struct key_run runs[RUNS_MOST]; /* the largest one first */
    size_t run_count;
    size_t filter_bytes;
    struct tm_key resolved[RESOLVED]; /* families complete in the table */
};

/* One run while it is merged. */
struct source {
    uint64_t at, left; /* what was not read yet: where, pages */
    struct page *pages;
    size_t page, filled; /* the current one, and how many there are */
    uint64_t row;
};

struct writer {
    struct tm_key_map *map;
    struct key_run *to;
    struct page *pages; /* the last one is being filled */
    size_t filled, capacity;
    struct tm_key last; /* family */
};

static struct row *take_slots(const struct tm_key_map *map, size_t count)
{
    return tm_take(&map->run->budget, map->account, count * sizeof(struct row), &map->run->error);
}

static void give_slots(const struct tm_key_map *map)
{
    tm_give(&map->run->budget, map->account, map->slots, map->slot_count * sizeof(struct row));
}

struct tm_key_map *tm_key_map_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_key_map *map = tm_take(&run->budget, account, sizeof(*map), &run->error);

    if (!map)
        return NULL;
    *map = (struct tm_key_map){ .run = run,
                                .account = account,
                                .memory_bytes = memory_bytes,
                                .slot_count = FIRST_SLOTS,
                                .seed = tm_hash_seed(map),
                                .spill = { .fd = -1 } };
    map->slots = take_slots(map, FIRST_SLOTS);
    if (map->slots)
        return map;
    tm_key_map_free(map);
    return NULL;
}

static void give_filter(struct tm_key_map *map, struct key_run *run)
{
    const size_t bytes = run->filter_words * sizeof(uint64_t);

    if (!run->filter)
        return;
    tm_give(&map->run->budget, map->account, run->filter, bytes);
    map->filter_bytes -= bytes;
    run->filter = NULL;
}

void tm_key_map_free(struct tm_key_map *map)
{
    if (!map)
        return;
    struct tm_budget *budget = &map->run->budget;

    for (size_t i = 0; i < map->run_count; i++)
        give_filter(map, &map->runs[i]);
    give_slots(map);
    tm_give(budget, map->account, map->page, sizeof(*map->page));
    tm_spill_close(&map->spill);
    tm_budget_put_back(budget, map->drawn_bytes);
    tm_give(budget, map->account, map, sizeof(*map));
}

/* ---- keys and places ---- */

/* A bijection that is unknown without the seed: keys cannot be chosen to have neighboring places. */
static struct tm_key scramble(struct tm_key key, uint64_t seed)
{
    const uint64_t low = key.high ^ tm_hash_pair(key.low, 1, seed);

    return (struct tm_key){ .high = key.low ^ tm_hash_pair(low, 2, seed), .low = low };
}

/* Which one of `count` a place is: in the order of the places. */
static uint64_t scale(uint64_t place, uint64_t count)
{
    return (uint64_t)((unsigned __int128)place * count >> 64);
}

static int by_key(const void *a, const void *b)
{
    const struct row *first = a, *second = b;
    const int order = tm_key_order(first->key, second->key);

    return order != 0 ? order : (int)first->member - (int)second->member;
}

static uint64_t prefix_of(const void *row)
{
    return ((const struct row *)row)->key.high;
}

/* ---- the table ---- */

/* The slot of the key: its own, or the empty one where it belongs. */
static struct row *find(const struct tm_key_map *map, struct tm_key key, uint32_t member)
{
    for (size_t at = scale(key.high, map->slot_count) + member;; at++) {
        at = at < map->slot_count ? at : at - map->slot_count;
        struct row *slot = &map->slots[at];

        if (!slot->number || (slot->member == member && tm_is_same_key(slot->key, key)))
            return slot;
    }
}

static void put(struct tm_key_map *map, const struct row *row)
{
    struct row *slot = find(map, row->key, (uint32_t)row->member);

    map->used += slot->number == 0;
    *slot = *row;
}

static bool is_resolved(const struct tm_key_map *map, struct tm_key key)
{
    return tm_is_same_key(map->resolved[key.low % RESOLVED], key);
}

static void empty_table(struct tm_key_map *map)
{
    memset(map->slots, 0, map->slot_count * sizeof(struct row));
    memset(map->resolved, 0, sizeof(map->resolved));
    map->resolved[0].low = 1; /* zeros are a key that could be there */
    map->used = 0;
}

/* Slots that half of the memory holds, and the pages of a merge. */
static size_t slots_most(const struct tm_key_map *map)
{
    const size_t bytes = (map->memory_bytes + map->drawn_bytes) / 2;
    const size_t least = PAGES_LEAST * sizeof(struct page);

    return (bytes > least ? bytes : least) / sizeof(struct row);
}

static void grow(struct tm_key_map *map)
{
    const struct tm_key_map old = *map;
    const size_t most = slots_most(map);

    map->slot_count = 2 * old.slot_count < most ? 2 * old.slot_count : most;
    map->slots = take_slots(map, map->slot_count);
    if (!map->slots) {
        map->slots = old.slots;
        map->slot_count = old.slot_count;
        return;
    }
    map->used = 0;
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].number)
            put(map, &old.slots[i]);
    }
    give_slots(&old);
}

/* Bring the rows that no run has to the front of the table, and give them out in order: *tags has their numbers, in
 * what is left of the table, which was at most half full.  Returns how many there are. */
static size_t sort_new_rows(struct tm_key_map *map, struct tm_tag **tags)
{
    struct tm_window window = { .row_bytes = sizeof(struct row), .rows = (uint8_t *)map->slots };

    for (size_t i = 0; i < map->slot_count; i++) {
        if (map->slots[i].number && !map->slots[i].is_written)
            map->slots[window.count++] = map->slots[i];
    }
    *tags = (struct tm_tag *)(void *)&map->slots[window.count];
    tm_window_sort(&window, *tags, by_key, prefix_of);
    return window.count;
}
static_assert(2 * sizeof(struct tm_tag) <= sizeof(struct row), "tags fit into the empty half of the table");

/* ---- filters ---- */

static uint64_t filter_mask(const struct key_run *run, struct tm_key key)
{
    uint64_t hash = tm_hash_mix(key.low, 0), mask = 0;

    for (uint32_t i = 0; i < run->probes; i++, hash >>= 6)
        mask |= UINT64_C(1) << (hash & 63);
    return mask;
}

static uint64_t *filter_word(const struct key_run *run, struct tm_key key)
{
    return &run->filter[scale(key.high, run->filter_words)];
}

static bool may_have(const struct key_run *run, struct tm_key key)
{
    if (!run->filter)
        return true;
    const uint64_t mask = filter_mask(run, key);

    return (*filter_word(run, key) & mask) == mask;
}

/* A filter for at most this many families, using the memory that the table leaves.  Part of it is reserved for the
 * filters of later, smaller runs. */
static void make_filter(struct tm_key_map *map, struct key_run *run, uint64_t families)
{
    const size_t kept = slots_most(map) * sizeof(struct row) + sizeof(*map) + sizeof(struct page) + map->filter_bytes;
    const size_t all = map->memory_bytes + map->drawn_bytes;
    const size_t left = all > kept ? (all - kept) / 4 * 3 : 0;
    const uint64_t wanted = families * FILTER_BITS / 64 + 1;
    const size_t words = left / sizeof(uint64_t) < wanted ? left / sizeof(uint64_t) : (size_t)wanted;

    assert(families > 0);
    const uint64_t bits = words * 64 / families;

    if (bits == 0)
        return;
    run->filter = tm_take(&map->run->budget, map->account, words * sizeof(uint64_t), &map->run->error);
    if (!run->filter)
        return;
    run->filter_words = words;
    map->filter_bytes += words * sizeof(uint64_t);
    run->probes = bits / 2 < PROBES_MOST ? (uint32_t)(bits + 1) / 2 : PROBES_MOST;
}

static void flush(struct writer *writer)
{
    const size_t filled = writer->filled;

    writer->filled = 0;
    writer->to->length += filled;
    tm_spill_append(&writer->map->spill, writer->pages, filled * sizeof(struct page), NULL);
}

/* Begin the next page of a run. */
static void add_page(struct writer *writer)
{
    if (writer->filled == writer->capacity)
        flush(writer);
    memset(&writer->pages[writer->filled++], 0, sizeof(struct page));
}

/* Write the next row of the run. */
static void put_row(struct writer *writer, const struct row *row)
{
    struct key_run *to = writer->to;
    const uint64_t home = scale(row->key.high, to->pages);

    while (to->length + writer->filled <= home || writer->pages[writer->filled - 1].count == ROWS_IN_PAGE)
        add_page(writer);
    struct page *page = &writer->pages[writer->filled - 1];
    struct row *written = &page->rows[page->count++];

    *written = *row;
    written->is_written = true;
    if (to->families == 0 || !tm_is_same_key(writer->last, row->key)) {
        to->families++;
        writer->last = row->key;
        if (to->filter)
            *filter_word(to, row->key) |= filter_mask(to, row->key);
    }
}

static struct key_run run_for(const struct tm_key_map *map, uint64_t rows)
{
    return (struct key_run){ .at = map->spill.bytes, .rows = rows, .pages = (rows + ROWS_WANTED - 1) / ROWS_WANTED };
}

/* How many of the first `count` runs, from the last one on, are merged with a later one of this many rows. */
static size_t count_similar(const struct tm_key_map *map, size_t count, uint64_t rows)
{
    size_t n = 0;

    while (n < count && map->runs[count - 1 - n].rows <= RATIO * rows)
        rows += map->runs[count - 1 - n++].rows;
    return n;
}

/* Write the new keys out as the last run. */
static void write_table(struct tm_key_map *map)
{
    struct tm_tag *tags;
    const size_t count = sort_new_rows(map, &tags);
    struct key_run *run = &map->runs[map->run_count];
    struct writer writer = { .map = map, .to = run, .pages = map->page, .capacity = 1 };

    if (count == 0)
        return;
    *run = run_for(map, count);
    if (count_similar(map, map->run_count, count) == 0)
        make_filter(map, run, count);
    map->run_count++;
    for (size_t i = 0; i < count && !tm_failed(map->run); i++)
        put_row(&writer, &map->slots[tags[i].number]);
    flush(&writer);
}

/* ---- merging ---- */

/* Advance to the next page that has rows. */
static void fill(const struct tm_key_map *map, struct source *source, size_t capacity)
{
    source->row = 0;
    while (!tm_failed(map->run)) {
        for (; source->page < source->filled; source->page++) {
            if (source->pages[source->page].count)
                return;
        }
        if (source->left == 0)
            return;
        source->page = 0;
        source->filled = source->left < capacity ? (size_t)source->left : capacity;
        const size_t bytes = source->filled * sizeof(struct page);

        if (tm_spill_read(&map->spill, source->pages, bytes, source->at))
            return;
        source->at += bytes;
        source->left -= source->filled;
    }
}

/* The next row, NULL at the end. */
static const struct row *peek(const struct source *source)
{
    return source->page < source->filled ? &source->pages[source->page].rows[source->row] : NULL;
}

/* The source with the smallest row, NULL at the end of all. */
static struct source *first_of(struct source *sources, size_t count)
{
    const struct row *least = NULL;
    struct source *first = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct row *row = peek(&sources[i]);

        if (row && (!least || by_key(row, least) < 0)) {
            least = row;
            first = &sources[i];
        }
    }
    return first;
}

static void merge_sources(struct writer *writer, struct source *sources, size_t count)
{
    const struct tm_key_map *map = writer->map;
    struct source *source;

    for (size_t i = 0; i < count; i++)
        fill(map, &sources[i], writer->capacity);
    while (!tm_failed(map->run) && (source = first_of(sources, count))) {
        put_row(writer, peek(source));
        if (++source->row == source->pages[source->page].count) {
            source->page++;
            fill(map, source, writer->capacity);
        }
    }
    flush(writer);
}

/* Merge the last `count` runs into one, in the memory of the table. */
static void merge_last(struct tm_key_map *map, size_t count)
{
    struct key_run *from = &map->runs[map->run_count - count];
    struct source sources[RUNS_MOST] = { { 0 } };
    struct page *const pages = (struct page *)(void *)map->slots;
    const size_t fit = map->slot_count * sizeof(struct row) / sizeof(struct page) / (count + 1);
    const size_t capacity = fit < PAGES_AT_ONCE ? fit : PAGES_AT_ONCE;
    uint64_t rows = 0, families = 0;

    for (size_t i = 0; i < count; i++) {
        sources[i] = (struct source){ .at = from[i].at, .left = from[i].length, .pages = pages + i * capacity };
        rows += from[i].rows;
        families += from[i].families;
        give_filter(map, &from[i]);
    }
    struct key_run merged = run_for(map, rows);
    struct writer writer = { .map = map, .to = &merged, .pages = pages + count * capacity, .capacity = capacity };

    make_filter(map, &merged, families);
    merge_sources(&writer, sources, count);
    for (size_t i = 0; i < count; i++)
        tm_spill_forget(&map->spill, from[i].at, from[i].length * sizeof(struct page));
    *from = merged;
    map->run_count -= count - 1;
}

/* Merge the last runs until each one has more than RATIO times the rows of the next. */
static void merge_runs(struct tm_key_map *map)
{
    const size_t most = map->slot_count * sizeof(struct row) / sizeof(struct page) - 1;

    while (map->run_count > 0 && !tm_failed(map->run)) {
        const size_t last = map->run_count - 1;
        const size_t count = 1 + count_similar(map, last, map->runs[last].rows);

        if (count == 1)
            return;
        merge_last(map, count < most ? count : most);
    }
}

static void spill(struct tm_key_map *map)
{
    if (!map->page) {
        if (tm_spill_open(&map->spill, map->run))
            return;
        tm_spill_expect_random(&map->spill);
        map->page = tm_take(&map->run->budget, map->account, sizeof(*map->page), &map->run->error);
        if (!map->page)
            return;
    }
    write_table(map);
    merge_runs(map);
    empty_table(map);
}

/* ---- lookup ---- */

/* Room for a family in the table. */
static void make_room(struct tm_key_map *map)
{
    const size_t all = map->memory_bytes + map->drawn_bytes;

    if (map->slot_count == slots_most(map) && map->run_count == 0 && tm_budget_draw_spare(&map->run->budget, all))
        map->drawn_bytes += all;
    if (map->slot_count < slots_most(map))
        grow(map);
    else
        spill(map);
}

static int key_to_row(const void *key, const void *row)
{
    return tm_key_order(*(const struct tm_key *)key, ((const struct row *)row)->key);
}

/* The first row of a page that is of the family or after it. */
static uint64_t lower_bound(const struct page *page, struct tm_key key)
{
    return tm_sorted_place(&key, page->rows, page->count, sizeof(*page->rows), key_to_row);
}

/* Put what a run has of a family into the table. */
static void fetch_from(struct tm_key_map *map, const struct key_run *run, struct tm_key key)
{
    struct page *page = map->page;

    for (uint64_t number = scale(key.high, run->pages); number < run->length; number++) {
        if (tm_spill_read(&map->spill, page, sizeof(*page), run->at + number * sizeof(*page)))
            return;
        uint64_t i = lower_bound(page, key);

        for (; i < page->count && tm_is_same_key(page->rows[i].key, key); i++)
            put(map, &page->rows[i]);
        if (i < page->count || page->count < ROWS_IN_PAGE)
            return;
    }
}

/* Put what the runs have of a family into the table, until the member is there. */
static void fetch(struct tm_key_map *map, struct tm_key key, uint32_t member)
{
    for (size_t i = 0; i < map->run_count; i++) {
        if (!may_have(&map->runs[i], key))
            continue;
        fetch_from(map, &map->runs[i], key);
        if (tm_failed(map->run) || find(map, key, member)->number)
            return;
    }
    map->resolved[key.low % RESOLVED] = key;
}

/* The slot of a key that the table does not have, read from a run, or new; NULL after a failure. */
static const struct row *look_further(struct tm_key_map *map, struct tm_key key, uint32_t member)
{
    struct row *slot;

    if (2 * (map->used + MEMBERS) > map->slot_count)
        make_room(map);
    if (!tm_failed(map->run) && map->run_count > 0 && !is_resolved(map, key))
        fetch(map, key, member);
    if (tm_failed(map->run))
        return NULL;
    slot = find(map, key, member);
    if (!slot->number) {
        *slot = (struct row){ .key = key, .number = ++map->count & NUMBER_MOST, .member = member & (MEMBERS - 1) };
        map->used++;
    }
    return slot;
}

uint64_t tm_key_map_number(struct tm_key_map *map, struct tm_key family, uint32_t member)
{
    const struct tm_key key = scramble(family, map->seed);
    const struct row *slot = find(map, key, member);

    assert(member < MEMBERS);
    if (!slot->number)
        slot = tm_failed(map->run) ? NULL : look_further(map, key, member);
    return slot ? slot->number - 1 : 0;
}
