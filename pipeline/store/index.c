/* SPDX-License-Identifier: Apache-2.0 */
/* A map that is built once.  Rows are collected in a window; if they all fit, a table of row numbers is
 * put beside them: dense (by key) where the keys are in a range that is not much larger than the number
 * of rows, else open addressing.  If they do not fit, they are sorted by key on disk and are in pages: `rows` holds
 * the rows, `firsts` the first key of each page of rows, `tops` (in memory) the first key of each
 * page of `firsts`.  A lookup then reads at most one page of each, through their caches. */
#include "pipeline/store/sorter.h"

#include <assert.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"

enum {
    SLOT_BYTES_PER_ROW = 11, /* open: 1.3 to 2.7 slots of 4 bytes; dense where the rest of the memory is enough */
    DENSE_FACTOR = 16,       /* a table by key is read in the order of its keys, an open one at random */
    DENSE_SPARE = 1024,
    PAGE_BYTES = 16 << 10, /* a page is read for a lookup at random */
    FIRSTS_PER_PAGE = PAGE_BYTES / sizeof(uint64_t),
};

enum form { GATHERING, SORTING, DENSE, OPEN, ON_DISK };

struct tm_index {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes, memory_bytes;
    enum tm_index_duplicates duplicates;
    tm_index_replaces *replaces;
    enum form form;
    uint64_t count, duplicate_count;
    struct tm_window window;
    uint64_t least_key, most_key;    /* of those collected; DENSE: the first slot is that of the least one */
    uint32_t *slots;                 /* row number + 1; 0 = empty */
    size_t slots_bytes, slots_drawn; /* drawn: of the pool */
    size_t dense_count;              /* DENSE: how many slots */
    uint32_t bits;                   /* OPEN: 1 << bits slots */
    uint64_t seed;
    struct tm_sorter *sorter; /* SORTING */
    struct tm_rows *rows;     /* ON_DISK, all below */
    struct tm_rows *firsts;
    uint64_t *tops;
    size_t top_count, top_capacity;
    uint32_t page_shift;                                 /* 1 << page_shift rows have one entry in firsts */
    uint64_t near_first, near_last, near_at, near_count; /* keys and rows of the page used last */
};

struct tm_index *tm_index_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                              enum tm_index_duplicates duplicates, tm_index_replaces *replaces)
{
    assert(row_bytes >= sizeof(uint64_t) && (duplicates != TM_INDEX_ASK || replaces));
    struct tm_index *index = tm_take(&run->budget, account, sizeof(*index), &run->error);

    if (!index)
        return NULL;
    index->run = run;
    index->account = account;
    index->row_bytes = row_bytes;
    index->memory_bytes = memory_bytes - memory_bytes / 32;
    index->duplicates = duplicates;
    index->replaces = replaces;
    index->seed = tm_hash_seed(index);
    index->least_key = UINT64_MAX;
    tm_window_init(&index->window, run, account, row_bytes, SLOT_BYTES_PER_ROW, index->memory_bytes);
    return index;
}

static void give_slots(struct tm_index *index)
{
    tm_give(&index->run->budget, index->account, index->slots, index->slots_bytes);
    tm_budget_put_back(&index->run->budget, index->slots_drawn);
    index->slots_drawn = 0;
    index->slots = NULL;
}

void tm_index_free(struct tm_index *index)
{
    if (!index)
        return;
    give_slots(index);
    tm_window_close(&index->window);
    tm_sorter_free(index->sorter);
    tm_rows_free(index->rows);
    tm_rows_free(index->firsts);
    tm_give(&index->run->budget, index->account, index->tops, index->top_capacity * sizeof(uint64_t));
    tm_give(&index->run->budget, index->account, index, sizeof(*index));
}

static inline uint64_t key_of(const void *row)
{
    uint64_t key;

    memcpy(&key, row, sizeof(key));
    return key;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = key_of(a), y = key_of(b);

    return x < y ? -1 : x > y;
}

/* Read the collected rows back from a file and push them. */
static void push_back(struct tm_index *index, const struct tm_spill *gathered, uint8_t *buffer, size_t buffer_bytes)
{
    for (uint64_t at = 0; at < gathered->bytes; at += buffer_bytes) {
        const uint64_t left = gathered->bytes - at;
        const size_t bytes = left < buffer_bytes ? (size_t)left : buffer_bytes;

        if (tm_spill_read(gathered, buffer, bytes, at))
            return;
        for (size_t i = 0; i < bytes; i += index->row_bytes)
            tm_sorter_push(index->sorter, buffer + i);
    }
}

/* The rows do not fit: from now on they are passed to a sorter, through a file, since
 * window and sorter together would hold twice the memory. */
static void start_sorting(struct tm_index *index)
{
    struct tm_run *run = index->run;
    struct tm_spill gathered;
    const size_t buffer_bytes = (index->memory_bytes / 16 / index->row_bytes + 1) * index->row_bytes;
    uint8_t *buffer = NULL;

    if (!tm_spill_open(&gathered, run))
        tm_spill_append(&gathered, index->window.rows, index->window.count * index->row_bytes, NULL);
    tm_window_close(&index->window);
    if (tm_failed(run))
        goto out;
    index->form = SORTING;
    index->sorter = tm_sorter_new(run, index->account, index->row_bytes, index->memory_bytes / 4 * 3, by_key);
    if (index->sorter)
        tm_sorter_set_prefix(index->sorter, key_of);
    buffer = tm_take(&run->budget, index->account, buffer_bytes, &run->error);
    if (index->sorter && buffer)
        push_back(index, &gathered, buffer, buffer_bytes);
out:
    tm_give(&run->budget, index->account, buffer, buffer_bytes);
    tm_spill_close(&gathered);
}

static void make_room(struct tm_index *index)
{
    if (tm_window_can_grow(&index->window))
        (void)tm_window_grow(&index->window);
    else
        start_sorting(index);
}

void tm_index_put(struct tm_index *index, const void *row)
{
    assert(index->form == GATHERING || index->form == SORTING);
    if (tm_failed(index->run))
        return;
    if (index->form == GATHERING && tm_window_is_full(&index->window)) {
        make_room(index);
        if (tm_failed(index->run))
            return;
    }
    if (index->form == SORTING) {
        tm_sorter_push(index->sorter, row);
        return;
    }
    const uint64_t key = key_of(row);

    index->most_key = key > index->most_key ? key : index->most_key;
    index->least_key = key < index->least_key ? key : index->least_key;
    memcpy(tm_window_at(&index->window, index->window.count++), row, index->row_bytes);
}

/* True if `later` replaces `former`. */
static bool gives_way(const struct tm_index *index, const void *former, const void *later)
{
    if (index->duplicates == TM_INDEX_ASK)
        return index->replaces(former, later);
    return index->duplicates == TM_INDEX_LAST;
}

static inline size_t first_slot(const struct tm_index *index, uint64_t key)
{
    return tm_hash_mix(key, index->seed) >> (64 - index->bits);
}

struct wanted {
    const struct tm_index *index;
    uint64_t key;
};

static inline bool ends_key(const void *slot, const void *wanted)
{
    const uint32_t number = *(const uint32_t *)slot;
    const struct wanted *const w = wanted;

    return number == 0 || key_of(tm_window_at(&w->index->window, number - 1)) == w->key;
}

static inline size_t open_slot(const struct tm_index *index, uint64_t key)
{
    const struct wanted wanted = { index, key };
    const uint32_t *const slot = tm_probe(index->slots, (size_t)1 << index->bits, sizeof(*index->slots),
                                          first_slot(index, key), &wanted, ends_key);

    return (size_t)(slot - index->slots);
}

/* True if a slot for each key from the least to the largest one is worth its memory, and fits, also with some of the
 * pool. */
static bool fits_dense(struct tm_index *index)
{
    const size_t rows_bytes = index->window.capacity * index->row_bytes;
    const size_t memory_bytes = index->memory_bytes + index->window.drawn_bytes;
    const size_t left = rows_bytes < memory_bytes ? memory_bytes - rows_bytes : 0;
    const uint64_t range = index->most_key - index->least_key;
    const uint64_t most = DENSE_FACTOR * (uint64_t)index->window.count + DENSE_SPARE;
    size_t bytes;

    if (index->window.count == 0 || range >= most)
        return false;
    bytes = (size_t)(range + 1) * sizeof(uint32_t);
    if (bytes <= left)
        return true;
    if (!tm_budget_draw(&index->run->budget, bytes - left))
        return false;
    index->slots_drawn = bytes - left;
    return true;
}

static void choose_table(struct tm_index *index)
{
    struct tm_run *run = index->run;
    const uint64_t rows = index->window.count;

    if (fits_dense(index)) {
        index->form = DENSE;
        index->dense_count = (size_t)(index->most_key - index->least_key) + 1;
        index->slots_bytes = index->dense_count * sizeof(uint32_t);
    } else {
        index->form = OPEN;
        index->bits = 4;
        while ((UINT64_C(3) << index->bits) < 4 * rows)
            index->bits++;
        index->slots_bytes = sizeof(uint32_t) << index->bits;
    }
    index->slots = tm_take(&run->budget, index->account, index->slots_bytes, &run->error);
}

static void build_table(struct tm_index *index)
{
    choose_table(index);
    for (size_t i = 0; index->slots && i < index->window.count; i++) {
        const uint8_t *row = tm_window_at(&index->window, i);
        const uint64_t key = key_of(row);
        uint32_t *slot = &index->slots[index->form == DENSE ? key - index->least_key : open_slot(index, key)];

        if (*slot == 0) {
            index->count++;
            *slot = (uint32_t)i + 1;
        } else {
            index->duplicate_count++;
            if (gives_way(index, tm_window_at(&index->window, *slot - 1), row))
                *slot = (uint32_t)i + 1;
        }
    }
}

static void add_top(struct tm_index *index, uint64_t key)
{
    if (index->top_count == index->top_capacity) {
        const size_t capacity = index->top_capacity != 0 ? 2 * index->top_capacity : 16;
        uint64_t *tops =
            tm_retake(&index->run->budget, index->account, index->tops, index->top_capacity * sizeof(uint64_t),
                      capacity * sizeof(uint64_t), &index->run->error);

        if (!tops)
            return;
        index->tops = tops;
        index->top_capacity = capacity;
    }
    index->tops[index->top_count++] = key;
}

/* Put one row, which no other replaces any more, at the end of the table on disk. */
static void put_on_disk(void *to, const void *row)
{
    struct tm_index *const index = to;
    const uint64_t key = key_of(row);

    if ((index->count & ((UINT64_C(1) << index->page_shift) - 1)) == 0) {
        if (tm_rows_count(index->firsts) % FIRSTS_PER_PAGE == 0)
            add_top(index, key);
        tm_rows_append(index->firsts, &key);
    }
    tm_rows_append(index->rows, row);
    index->count++;
}

/* Go through the sorted rows, and give one of each key. */
static void give_sorted(struct tm_index *index, tm_index_take *take, void *to)
{
    struct tm_run *const run = index->run;
    uint8_t *const kept = tm_take(&run->budget, index->account, index->row_bytes, &run->error);
    bool has_kept = false;
    const void *row;

    if (!kept)
        return;
    tm_sorter_finish(index->sorter);
    while ((row = tm_sorter_next(index->sorter))) {
        if (has_kept && key_of(kept) == key_of(row)) {
            index->duplicate_count++;
            if (!gives_way(index, kept, row))
                continue;
        } else if (has_kept) {
            take(to, kept);
        }
        memcpy(kept, row, index->row_bytes);
        has_kept = true;
    }
    if (has_kept)
        take(to, kept);
    tm_give(&run->budget, index->account, kept, index->row_bytes);
    tm_sorter_free(index->sorter);
    index->sorter = NULL;
}

bool tm_index_give(struct tm_index *index, tm_index_take *take, void *to)
{
    if (index->form != SORTING)
        return false;
    give_sorted(index, take, to);
    return true;
}

static void build_disk(struct tm_index *index)
{
    struct tm_run *run = index->run;

    while (index->row_bytes << (index->page_shift + 1) <= PAGE_BYTES)
        index->page_shift++;
    index->rows = tm_rows_new_paged(run, index->account, index->row_bytes, index->memory_bytes / 8, PAGE_BYTES);
    index->firsts = tm_rows_new_paged(run, index->account, sizeof(uint64_t), index->memory_bytes / 16, PAGE_BYTES);
    if (index->rows && index->firsts)
        give_sorted(index, put_on_disk, index);
    index->form = ON_DISK;
    if (!tm_failed(run)) /* the cache takes over the memory of the sorter */
        tm_rows_allow(index->rows, index->memory_bytes / 8 * 7);
}

void tm_index_finish(struct tm_index *index)
{
    if (tm_failed(index->run))
        return;
    if (index->form == SORTING)
        build_disk(index);
    else
        build_table(index);
}

/* Ascending keys, `step` bytes apart. */
struct keys {
    const uint8_t *first;
    size_t step, count;
};

static inline uint64_t key_at(const struct keys *keys, size_t at)
{
    return key_of(keys->first + at * keys->step);
}

/* Where a key between the first and the last one is, if keys are evenly spaced. */
static size_t guess_place(const struct keys *keys, uint64_t key)
{
    const uint64_t first = key_at(keys, 0), last = key_at(keys, keys->count - 1);
    const double part = (double)(key - first) / (double)(last - first);

    return (size_t)(part * (double)(keys->count - 1));
}

/* The last key that is not above `key`; the first one is not.  In traces most keys are evenly spaced: the search
 * starts at the expected place, in steps that double. */
static size_t find_not_above(const struct keys *keys, uint64_t key)
{
    size_t low = 0, high = keys->count - 1, stride = 1;

    if (key >= key_at(keys, high))
        return high;
    /* From here on the key at `low` is not above, and the one at `high` is. */
    for (size_t at = guess_place(keys, key); at > low && at < high; stride *= 2) {
        const bool is_above = key_at(keys, at) > key;

        if (is_above)
            high = at;
        else
            low = at;
        at = is_above ? (at > stride ? at - stride : 0) : at + stride;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (key_at(keys, middle) <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Find the page that may hold the key; near_count = 0 if the key is before all others. */
static void find_page(struct tm_index *index, uint64_t key)
{
    uint64_t count;

    index->near_count = 0;
    if (index->top_count == 0 || key < index->tops[0])
        return;
    const struct keys tops = { (const uint8_t *)index->tops, sizeof(uint64_t), index->top_count };
    const uint64_t begin = find_not_above(&tops, key) * FIRSTS_PER_PAGE;
    const uint8_t *firsts = tm_rows_span(index->firsts, begin, &count);
    const size_t page = find_not_above(&(struct keys){ firsts, sizeof(uint64_t), count }, key);

    index->near_at = (begin + page) << index->page_shift;
    const uint8_t *rows = tm_rows_span(index->rows, index->near_at, &count);

    index->near_first = key_of(rows);
    index->near_last = key_of(rows + (count - 1) * index->row_bytes);
    index->near_count = count;
}

static const void *get_from_disk(struct tm_index *index, uint64_t key, uint64_t *number)
{
    uint64_t count;

    *number = 0;
    if (index->near_count == 0 || key < index->near_first || key > index->near_last)
        find_page(index, key);
    if (index->near_count == 0 || key > index->near_last)
        return NULL;
    const uint8_t *rows = tm_rows_span(index->rows, index->near_at, &count);
    const bool has_all = index->near_last - index->near_first == index->near_count - 1; /* keys increase by one */
    const size_t at = has_all ? (size_t)(key - index->near_first)
                              : find_not_above(&(struct keys){ rows, index->row_bytes, count }, key);
    const uint8_t *found = rows + at * index->row_bytes;

    if (key_of(found) != key || tm_failed(index->run))
        return NULL;
    *number = index->near_at + at + 1;
    return found;
}

const void *tm_index_find(struct tm_index *index, uint64_t key, uint64_t *number)
{
    *number = 0;
    if (tm_failed(index->run))
        return NULL;
    if (index->form == DENSE)
        *number = key - index->least_key < index->dense_count ? index->slots[key - index->least_key] : 0;
    else if (index->form == OPEN)
        *number = index->slots[open_slot(index, key)];
    else
        return get_from_disk(index, key, number);
    return *number != 0 ? tm_window_at(&index->window, *number - 1) : NULL;
}

const void *tm_index_get(struct tm_index *index, uint64_t key)
{
    uint64_t number;

    return tm_index_find(index, key, &number);
}

uint64_t tm_index_most_number(const struct tm_index *index)
{
    return index->form == ON_DISK ? tm_rows_count(index->rows) : index->window.count;
}

uint64_t tm_index_count(const struct tm_index *index)
{
    return index->count;
}

uint64_t tm_index_duplicate_count(const struct tm_index *index)
{
    return index->duplicate_count;
}
