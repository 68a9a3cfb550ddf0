/* SPDX-License-Identifier: Apache-2.0 */
/* A sorter: rows are collected in a window; when it is full, they are written as a sorted run.  While everything fits
 * no file is used.  Tags of rows are sorted, not the rows: 16 bytes per row in addition to the rows themselves. */
#include "pipeline/store/sorter.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/rows.h"

/* A block of rows.  Small blocks serve small traces; when one is full, the next is eight times as large or has the full
 * size at once, and the old one is then at most an eighth of the new one: that much is reserved, because both exist
 * while a small block moves.  Beyond that it doubles while it is small, and grows by an eighth when it is a large
 * block, which moves by itself.  Unused rows take no resident memory. */

enum { FIRST_BYTES = 32 << 10, LARGE_BYTES = 2 << 20, STEP = 8, ROWS_MOST = 1 << 30 };

void tm_window_init(struct tm_window *window, struct tm_run *run, enum tm_account account, size_t row_bytes,
                    size_t extra_bytes, size_t memory_bytes)
{
    size_t most = memory_bytes / (STEP + 1) * STEP / (row_bytes + extra_bytes);

    most = most < ROWS_MOST ? most : ROWS_MOST;
    *window = (struct tm_window){
        .run = run,
        .account = account,
        .row_bytes = row_bytes,
        .extra_bytes = extra_bytes,
        .most = most < 2 ? 2 : most,
    };
}

/* How many rows the limit may grow at once: doubled while it is small, then by an eighth, rounded to huge pages.  The
 * pool refuses steps of more than half of its remainder, so small steps leave less of it unused. */
static size_t next_step(const struct tm_window *window)
{
    const size_t bytes = window->most * window->row_bytes;

    if (bytes < LARGE_BYTES)
        return window->most;
    return (bytes + bytes / 8 + LARGE_BYTES) / LARGE_BYTES * LARGE_BYTES / window->row_bytes - window->most;
}

bool tm_window_can_grow(struct tm_window *window)
{
    if (window->capacity < window->most)
        return true;
    const size_t rows = next_step(window);
    const size_t bytes = rows * (window->row_bytes + window->extra_bytes);

    if (window->most > ROWS_MOST - rows || !tm_budget_draw(&window->run->budget, bytes))
        return false;
    window->most += rows;
    window->drawn_bytes += bytes;
    return true;
}

tm_status tm_window_grow(struct tm_window *window)
{
    struct tm_run *run = window->run;
    size_t capacity = window->capacity * STEP;

    assert(window->capacity < window->most);
    if (capacity == 0) {
        capacity = FIRST_BYTES / window->row_bytes;
        capacity = capacity < 2 ? 2 : capacity;
    }
    if (capacity > window->most / STEP)
        capacity = window->most;
    uint8_t *rows = tm_retake(&run->budget, window->account, window->rows, window->capacity * window->row_bytes,
                              capacity * window->row_bytes, &run->error);

    if (!rows)
        return run->error.status;
    window->rows = rows;
    window->capacity = capacity;
    return TM_OK;
}

void tm_window_release(struct tm_window *window)
{
    if (!window->run)
        return;
    tm_give(&window->run->budget, window->account, window->rows, window->capacity * window->row_bytes);
    window->rows = NULL;
    window->capacity = 0;
    window->count = 0;
}

void tm_window_close(struct tm_window *window)
{
    if (!window->run)
        return;
    tm_window_release(window);
    tm_budget_put_back(&window->run->budget, window->drawn_bytes);
    window->drawn_bytes = 0;
}

/* The sort of a window.  Tags of rows are distributed by the bytes of their prefixes, from the lowest on, without a
 * look at the rows.  A merge sort of natural runs does the rest, or everything if there is no prefix. */

enum { SHORT_RUN = 12, FEW_ROWS = 256, VALUES = 256, PREFIX_BYTES = sizeof(uint32_t) };

struct sort {
    const struct tm_window *window;
    struct tm_tag *tags, *scratch;
    tm_row_order *order;
};

static inline bool is_after(const struct sort *sort, struct tm_tag a, struct tm_tag b)
{
    if (a.prefix != b.prefix)
        return a.prefix > b.prefix;
    return sort->order(tm_window_at(sort->window, a.number), tm_window_at(sort->window, b.number)) > 0;
}

/* Length of the run that starts at `begin`; one that is short is made longer by insertion. */
static size_t find_run(const struct sort *sort, size_t begin, size_t count)
{
    struct tm_tag *tags = sort->tags;
    size_t end = begin + 1;

    while (end < count && !is_after(sort, tags[end - 1], tags[end]))
        end++;
    const size_t wanted = count - begin < SHORT_RUN ? count : begin + SHORT_RUN;

    for (; end < wanted; end++) {
        const struct tm_tag moved = tags[end];
        size_t at = end;

        for (; at > begin && is_after(sort, tags[at - 1], moved); at--)
            tags[at] = tags[at - 1];
        tags[at] = moved;
    }
    return end - begin;
}

/* Merge [begin, middle) and [middle, end); of equal rows those on the left come first. */
static void merge_runs(const struct sort *sort, size_t begin, size_t middle, size_t end)
{
    struct tm_tag *tags = sort->tags;

    if (!is_after(sort, tags[middle - 1], tags[middle]))
        return;
    const size_t left_count = middle - begin;
    size_t left = 0, right = middle, to = begin;

    memcpy(sort->scratch, tags + begin, left_count * sizeof(*tags));
    while (left < left_count && right < end) {
        if (is_after(sort, sort->scratch[left], tags[right]))
            tags[to++] = tags[right++];
        else
            tags[to++] = sort->scratch[left++];
    }
    memcpy(tags + to, sort->scratch + left, (left_count - left) * sizeof(*tags));
}

/* Merge sort of natural runs. Each run on the stack is at least twice as long as the one above
 * it, so 32 bits of rows need at most 33 entries. */
static void merge_sort(const struct sort *sort, size_t count)
{
    struct {
        size_t begin, length;
    } stack[40];
    size_t depth = 0;

    for (size_t begin = 0; begin < count;) {
        const size_t length = find_run(sort, begin, count);

        stack[depth].begin = begin;
        stack[depth++].length = length;
        begin += length;
        while (depth > 1 && (begin == count || stack[depth - 2].length < 2 * stack[depth - 1].length)) {
            merge_runs(sort, stack[depth - 2].begin, stack[depth - 1].begin, begin);
            stack[depth - 2].length += stack[depth - 1].length;
            depth--;
        }
    }
}

static void number_rows(struct tm_tag *tags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tags[i] = (struct tm_tag){ 0, (uint32_t)i };
}

/* Tags with the 32 bits of the prefixes from the highest one on in which any two of them differ.
 * in:     prefixes  room for one per row
 * out:    the bits in which the prefixes of the tags differ */
static uint32_t make_tags(const struct tm_window *window, struct tm_tag *tags, uint64_t *prefixes,
                          tm_row_prefix *prefix)
{
    uint64_t differ = 0;
    unsigned shift = 0;

    for (size_t i = 0; i < window->count; i++) {
        prefixes[i] = prefix(tm_window_at(window, i));
        differ |= prefixes[i] ^ prefixes[0];
    }
    while (differ >> shift > UINT32_MAX)
        shift++;
    for (size_t i = 0; i < window->count; i++)
        tags[i] = (struct tm_tag){ (uint32_t)(prefixes[i] >> shift), (uint32_t)i };
    return (uint32_t)(differ >> shift);
}

/* Distribute the tags by one byte of their prefixes, keeping the order of those that have the same. */
static void deal(const struct tm_tag *from, struct tm_tag *to, size_t count, unsigned shift)
{
    size_t begins[VALUES] = { 0 }, before = 0;

    for (size_t i = 0; i < count; i++)
        begins[from[i].prefix >> shift & 0xff]++;
    for (size_t i = 0; i < VALUES; i++) {
        const size_t own = begins[i];

        begins[i] = before;
        before += own;
    }
    for (size_t i = 0; i < count; i++)
        to[begins[from[i].prefix >> shift & 0xff]++] = from[i];
}

static void radix_sort(struct tm_tag *tags, struct tm_tag *scratch, size_t count, uint32_t differ)
{
    struct tm_tag *at = tags, *other = scratch;

    for (unsigned i = 0; i < PREFIX_BYTES; i++) {
        if (!(differ >> 8 * i & 0xff))
            continue;
        deal(at, other, count, 8 * i);
        struct tm_tag *const dealt = other;

        other = at;
        at = dealt;
    }
    if (at != tags)
        memcpy(tags, at, count * sizeof(*tags));
}

void tm_window_sort(const struct tm_window *window, struct tm_tag *tags, tm_row_order *order, tm_row_prefix *prefix)
{
    const size_t count = window->count;
    struct tm_tag *const scratch = tags + count;
    const struct sort sort = { window, tags, scratch, order };

    if (prefix && count >= FEW_ROWS)
        radix_sort(tags, scratch, count, make_tags(window, tags, (uint64_t *)(void *)scratch, prefix));
    else
        number_rows(tags, count);
    merge_sort(&sort, count);
}

/* Runs on disk, merged by a tree of losers: one comparison per level for each row.  A run has a
 * level: F runs of one level in a row are merged into one of the next, F being the number of
 * buffers that fit.  So each row is rewritten once per level, and the list of runs stays short.
 * The space of merged runs is returned to the file system if it supports that. */

enum {
    BUFFER_BYTES = 64 << 10,     /* smaller reads cost seeks */
    BUFFER_MOST_BYTES = 1 << 20, /* larger reads gain nothing */
    FAN_IN_MOST = 1024,
};

struct stretch {
    uint64_t at, bytes;
    uint32_t level;
};

/* One run while it is merged. */
struct source {
    uint64_t at, end; /* what is still in the file */
    uint8_t *buffer;
    const uint8_t *row;    /* its first row; NULL = exhausted */
    const uint8_t *filled; /* end of what is in the buffer */
};

/* What the first row of a source is compared by: its prefixes, or the largest ones if the source is exhausted. */
struct head {
    uint64_t prefix, second;
};

struct merge {
    struct source *sources;
    struct head *heads; /* of the sources */
    uint32_t *tree;     /* numbers of sources: [0] the winner, [1, count) the losers */
    uint32_t count;
    size_t buffer_bytes;
    uint8_t *folded; /* a row; with setup.merge only */
    bool has_winner; /* the winner was returned and has to step on */
};

struct tm_runs {
    struct tm_run *run;
    struct tm_runs_setup setup;
    struct tm_spill spill;
    size_t buffer_bytes;
    uint32_t fan_in;
    struct stretch *stretches;
    size_t count, capacity;
    uint64_t begin; /* of the run that is being written */
    uint8_t *out;   /* write buffer, taken while a run is written */
    size_t out_used;
    struct merge merge;
};

size_t tm_runs_buffer_bytes(size_t row_bytes, size_t memory_bytes)
{
    const size_t wanted = memory_bytes / 4 < BUFFER_BYTES ? memory_bytes / 4 : BUFFER_BYTES;

    return wanted < row_bytes ? row_bytes : wanted - wanted % row_bytes;
}

struct tm_runs *tm_runs_new(struct tm_run *run, const struct tm_runs_setup *setup)
{
    struct tm_runs *runs = tm_take(&run->budget, setup->account, sizeof(*runs), &run->error);

    if (!runs)
        return NULL;
    runs->run = run;
    runs->setup = *setup;
    runs->buffer_bytes = tm_runs_buffer_bytes(setup->row_bytes, setup->memory_bytes);
    /* One buffer more is for writing; a hundredth of the memory is for tables. */
    const size_t fit = (setup->memory_bytes - setup->memory_bytes / 100) /
                       (runs->buffer_bytes + sizeof(struct source) + sizeof(struct head) + sizeof(uint32_t));

    runs->fan_in = fit < 3 ? 2 : fit > FAN_IN_MOST ? FAN_IN_MOST : (uint32_t)fit - 1;
    if (tm_spill_open(&runs->spill, run) != TM_OK) {
        tm_runs_free(runs);
        return NULL;
    }
    return runs;
}

static void *take(struct tm_runs *runs, size_t bytes)
{
    return tm_take(&runs->run->budget, runs->setup.account, bytes, &runs->run->error);
}

static void give(struct tm_runs *runs, void *block, size_t bytes)
{
    tm_give(&runs->run->budget, runs->setup.account, block, bytes);
}

static void close_merge(struct tm_runs *runs)
{
    struct merge *merge = &runs->merge;

    for (uint32_t i = 0; merge->sources && i < merge->count; i++)
        give(runs, merge->sources[i].buffer, merge->buffer_bytes);
    give(runs, merge->sources, merge->count * sizeof(struct source));
    give(runs, merge->heads, merge->count * sizeof(struct head));
    give(runs, merge->tree, merge->count * sizeof(uint32_t));
    give(runs, merge->folded, runs->setup.row_bytes);
    *merge = (struct merge){ 0 };
}

static void give_out(struct tm_runs *runs)
{
    give(runs, runs->out, runs->buffer_bytes);
    runs->out = NULL;
}

void tm_runs_free(struct tm_runs *runs)
{
    if (!runs)
        return;
    close_merge(runs);
    give_out(runs);
    give(runs, runs->stretches, runs->capacity * sizeof(struct stretch));
    tm_spill_close(&runs->spill);
    give(runs, runs, sizeof(*runs));
}

static tm_status flush(struct tm_runs *runs)
{
    const size_t used = runs->out_used;

    runs->out_used = 0;
    return used != 0 ? tm_spill_append(&runs->spill, runs->out, used, NULL) : TM_OK;
}

tm_status tm_runs_put(struct tm_runs *runs, const void *row)
{
    const size_t row_bytes = runs->setup.row_bytes;

    if (!runs->out) {
        runs->out = take(runs, runs->buffer_bytes);
        if (!runs->out)
            return runs->run->error.status;
    }
    memcpy(runs->out + runs->out_used, row, row_bytes);
    runs->out_used += row_bytes;
    return runs->out_used + row_bytes > runs->buffer_bytes ? flush(runs) : TM_OK;
}

static tm_status add_stretch(struct tm_runs *runs, struct stretch stretch)
{
    if (runs->count == runs->capacity) {
        const size_t capacity = runs->capacity != 0 ? 2 * runs->capacity : 16;
        struct stretch *more = tm_retake(&runs->run->budget, runs->setup.account, runs->stretches,
                                         runs->capacity * sizeof(*more), capacity * sizeof(*more), &runs->run->error);

        if (!more)
            return runs->run->error.status;
        runs->stretches = more;
        runs->capacity = capacity;
    }
    runs->stretches[runs->count++] = stretch;
    return TM_OK;
}

static tm_status end_run(struct tm_runs *runs, uint32_t level)
{
    const tm_status status = flush(runs);

    give_out(runs);
    if (status != TM_OK || runs->spill.bytes == runs->begin)
        return status;
    const struct stretch stretch = { runs->begin, runs->spill.bytes - runs->begin, level };

    runs->begin = runs->spill.bytes;
    return add_stretch(runs, stretch);
}

tm_status tm_runs_end(struct tm_runs *runs)
{
    return end_run(runs, 0);
}

/* Read the next piece of a run. */
static tm_status fill(struct tm_runs *runs, struct source *source)
{
    const uint64_t left = source->end - source->at;
    const size_t bytes = left < runs->merge.buffer_bytes ? (size_t)left : runs->merge.buffer_bytes;
    const tm_status status = tm_spill_read(&runs->spill, source->buffer, bytes, source->at);

    source->at += bytes;
    source->row = bytes != 0 && status == TM_OK ? source->buffer : NULL;
    source->filled = source->buffer + bytes;
    return status;
}

static inline void set_head(struct tm_runs *runs, uint32_t which)
{
    const uint8_t *const row = runs->merge.sources[which].row;
    struct head *const head = &runs->merge.heads[which];

    *head = (struct head){ UINT64_MAX, UINT64_MAX };
    if (row) {
        head->prefix = runs->setup.prefix ? runs->setup.prefix(row) : 0;
        head->second = runs->setup.second ? runs->setup.second(row) : 0;
    }
}

/* True if source a goes before source b, of equal prefixes; of equal rows the earlier run's. */
TM_NOT_INLINE bool row_goes_first(const struct tm_runs *runs, uint32_t a, uint32_t b)
{
    const uint8_t *row_a = runs->merge.sources[a].row, *row_b = runs->merge.sources[b].row;

    if (!row_a || !row_b)
        return row_a || (!row_b && a < b);
    const int order = runs->setup.order(row_a, row_b);

    return order < 0 || (order == 0 && a < b);
}

/* Without a branch for what cannot be predicted: which of two sources is next. */
static inline bool goes_first(const struct tm_runs *runs, uint32_t a, uint32_t b)
{
    const struct head x = runs->merge.heads[a], y = runs->merge.heads[b];

    if (__builtin_expect(x.prefix == y.prefix && x.second == y.second, 0))
        return row_goes_first(runs, a, b);
    return ((unsigned __int128)x.prefix << 64 | x.second) < ((unsigned __int128)y.prefix << 64 | y.second);
}

/* Play the source up the tree from its leaf; the winner ends in tree[0]. */
static void replay(struct tm_runs *runs, uint32_t which)
{
    uint32_t *const tree = runs->merge.tree;

    set_head(runs, which);
    for (uint32_t node = (runs->merge.count + which) / 2; node > 0; node /= 2) {
        const uint32_t other = tree[node];
        const uint32_t change = (which ^ other) & -(uint32_t)goes_first(runs, other, which);

        tree[node] = other ^ change;
        which ^= change;
    }
    tree[0] = which;
}

/* The first winner below a node.  The depth is that of the tree: at most 11. */
static uint32_t play(struct tm_runs *runs, uint32_t node)
{
    struct merge *merge = &runs->merge;

    if (node >= merge->count) {
        set_head(runs, node - merge->count);
        return node - merge->count;
    }
    const uint32_t a = play(runs, 2 * node), b = play(runs, 2 * node + 1);
    const bool a_first = goes_first(runs, a, b);

    merge->tree[node] = a_first ? b : a;
    return a_first ? a : b;
}

static tm_status open_sources(struct tm_runs *runs, const struct stretch *stretches)
{
    for (uint32_t i = 0; i < runs->merge.count; i++) {
        struct source *source = &runs->merge.sources[i];

        if (!source->buffer)
            source->buffer = take(runs, runs->merge.buffer_bytes);
        if (!source->buffer)
            return runs->run->error.status;
        source->at = stretches[i].at;
        source->end = stretches[i].at + stretches[i].bytes;
        const tm_status status = fill(runs, source);

        if (status != TM_OK)
            return status;
    }
    runs->merge.has_winner = false;
    runs->merge.tree[0] = play(runs, 1);
    return TM_OK;
}

/* Begin to merge neighbors of the list.  count: at least 1, at most fan_in. */
static tm_status open_merge(struct tm_runs *runs, const struct stretch *stretches, size_t count, size_t buffer_bytes)
{
    close_merge(runs);
    runs->merge.count = (uint32_t)count;
    runs->merge.buffer_bytes = buffer_bytes;
    runs->merge.sources = take(runs, count * sizeof(struct source));
    runs->merge.heads = take(runs, count * sizeof(struct head));
    runs->merge.tree = take(runs, count * sizeof(uint32_t));
    if (runs->setup.merge)
        runs->merge.folded = take(runs, runs->setup.row_bytes);
    if (!runs->merge.sources || !runs->merge.heads || !runs->merge.tree || (runs->setup.merge && !runs->merge.folded))
        return runs->run->error.status;
    return open_sources(runs, stretches);
}

static tm_status step_on(struct tm_runs *runs)
{
    const uint32_t which = runs->merge.tree[0];
    struct source *source = &runs->merge.sources[which];
    tm_status status = TM_OK;

    source->row += runs->setup.row_bytes;
    if (source->row == source->filled)
        status = fill(runs, source);
    replay(runs, which);
    return status;
}

static const uint8_t *winner_row(const struct tm_runs *runs)
{
    return runs->merge.sources[runs->merge.tree[0]].row;
}

/* Fold all rows that are equal to the winner. */
static tm_status fold(struct tm_runs *runs, const void **row)
{
    uint8_t *folded = runs->merge.folded;
    const uint8_t *from = winner_row(runs);

    memcpy(folded, from, runs->setup.row_bytes);
    for (;;) {
        const tm_status status = step_on(runs);

        if (status != TM_OK)
            return status;
        from = winner_row(runs);
        if (!from || runs->setup.order(folded, from) != 0)
            break;
        runs->setup.merge(folded, from);
    }
    *row = folded;
    return TM_OK;
}

tm_status tm_runs_next(struct tm_runs *runs, const void **row)
{
    *row = NULL;
    if (runs->merge.count == 0)
        return TM_OK;
    if (runs->merge.has_winner) {
        runs->merge.has_winner = false;
        const tm_status status = step_on(runs);

        if (status != TM_OK)
            return status;
    }
    const uint8_t *winner = winner_row(runs);

    if (!winner)
        return TM_OK;
    if (runs->setup.merge)
        return fold(runs, row);
    runs->merge.has_winner = true;
    *row = winner;
    return TM_OK;
}

/* Merge the last `count` runs into one. */
static tm_status merge_last(struct tm_runs *runs, size_t count)
{
    const struct stretch *last = &runs->stretches[runs->count - count];
    const uint64_t at = last->at, end = runs->spill.bytes;
    const uint32_t level = last->level + 1;
    const void *row = NULL;
    tm_status status = open_merge(runs, last, count, runs->buffer_bytes);

    runs->begin = end;
    while (status == TM_OK) {
        status = tm_runs_next(runs, &row);
        if (status != TM_OK || !row)
            break;
        status = tm_runs_put(runs, row);
    }
    close_merge(runs);
    if (status != TM_OK)
        return status;
    runs->count -= count;
    status = end_run(runs, level);
    tm_spill_forget(&runs->spill, at, end - at);
    return status;
}

/* How many runs at the end of the list have the level of the last one. */
static size_t count_last_level(const struct tm_runs *runs)
{
    size_t n = 0;

    while (n < runs->count && runs->stretches[runs->count - 1 - n].level == runs->stretches[runs->count - 1].level)
        n++;
    return n;
}

bool tm_runs_need_merge(const struct tm_runs *runs)
{
    return count_last_level(runs) >= runs->fan_in;
}

tm_status tm_runs_merge(struct tm_runs *runs)
{
    tm_status status = TM_OK;

    while (status == TM_OK && tm_runs_need_merge(runs))
        status = merge_last(runs, runs->fan_in);
    return status;
}

tm_status tm_runs_finish(struct tm_runs *runs)
{
    tm_status status = TM_OK;

    while (status == TM_OK && runs->count > runs->fan_in) {
        const size_t over = runs->count - runs->fan_in + 1;

        status = merge_last(runs, over < runs->fan_in ? over : runs->fan_in);
    }
    if (status != TM_OK || runs->count == 0)
        return status;
    size_t buffer_bytes = runs->setup.memory_bytes / (runs->count + 1);

    buffer_bytes = buffer_bytes < BUFFER_MOST_BYTES ? buffer_bytes : BUFFER_MOST_BYTES;
    buffer_bytes -= buffer_bytes % runs->setup.row_bytes;
    if (buffer_bytes < runs->buffer_bytes)
        buffer_bytes = runs->buffer_bytes;
    return open_merge(runs, runs->stretches, runs->count, buffer_bytes);
}

tm_status tm_runs_rewind(struct tm_runs *runs)
{
    return runs->merge.count != 0 ? open_sources(runs, runs->stretches) : TM_OK;
}

struct tm_sorter {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    tm_row_order *order;
    tm_row_prefix *prefix;
    struct tm_window window;
    struct tm_tag *tags; /* the order of the window once it is sorted; NULL = insertion order */
    size_t tags_bytes;
    struct tm_runs *runs; /* NULL = everything is in the window */
    uint64_t count;
    size_t next;
    bool is_finished;
};

struct tm_sorter *tm_sorter_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                tm_row_order *order)
{
    struct tm_sorter *sorter = tm_take(&run->budget, account, sizeof(*sorter), &run->error);

    if (!sorter)
        return NULL;
    /* The sorter itself and the list of runs are small change of the last sixteenth. */
    const size_t memory = memory_bytes - memory_bytes / 16;
    const size_t buffer = tm_runs_buffer_bytes(row_bytes, memory);

    sorter->run = run;
    sorter->account = account;
    sorter->memory_bytes = memory;
    sorter->order = order;
    tm_window_init(&sorter->window, run, account, row_bytes, 2 * sizeof(struct tm_tag),
                   memory > buffer ? memory - buffer : 0);
    return sorter;
}

void tm_sorter_set_prefix(struct tm_sorter *sorter, tm_row_prefix *prefix)
{
    assert(!sorter->count);
    sorter->prefix = prefix;
}

static void give_tags(struct tm_sorter *sorter)
{
    tm_give(&sorter->run->budget, sorter->account, sorter->tags, sorter->tags_bytes);
    sorter->tags = NULL;
}

void tm_sorter_free(struct tm_sorter *sorter)
{
    if (!sorter)
        return;
    give_tags(sorter);
    tm_runs_free(sorter->runs);
    tm_window_close(&sorter->window);
    tm_give(&sorter->run->budget, sorter->account, sorter, sizeof(*sorter));
}

/* True if the rows are in order already, which is what well-made input does. */
static bool is_in_order(const struct tm_sorter *sorter)
{
    const struct tm_window *window = &sorter->window;

    for (size_t i = 1; i < window->count; i++) {
        if (sorter->order(tm_window_at(window, i - 1), tm_window_at(window, i)) > 0)
            return false;
    }
    return true;
}

static tm_status sort_window(struct tm_sorter *sorter)
{
    const size_t n = sorter->window.count;

    if (is_in_order(sorter))
        return TM_OK;
    sorter->tags_bytes = 2 * n * sizeof(struct tm_tag);
    sorter->tags = tm_take(&sorter->run->budget, sorter->account, sorter->tags_bytes, &sorter->run->error);
    if (!sorter->tags)
        return sorter->run->error.status;
    tm_window_sort(&sorter->window, sorter->tags, sorter->order, sorter->prefix);
    return TM_OK;
}

static inline const uint8_t *sorted_row(const struct tm_sorter *sorter, size_t index)
{
    return tm_window_at(&sorter->window, sorter->tags ? sorter->tags[index].number : index);
}

static tm_status open_runs(struct tm_sorter *sorter)
{
    const struct tm_runs_setup setup = {
        .account = sorter->account,
        .row_bytes = sorter->window.row_bytes,
        .memory_bytes = sorter->memory_bytes + sorter->window.drawn_bytes,
        .order = sorter->order,
        .prefix = sorter->prefix,
    };

    sorter->runs = tm_runs_new(sorter->run, &setup);
    return sorter->runs ? TM_OK : sorter->run->error.status;
}

/* Write the window out as a run. */
static tm_status spill_window(struct tm_sorter *sorter)
{
    tm_status status = sorter->runs ? TM_OK : open_runs(sorter);

    if (status == TM_OK)
        status = sort_window(sorter);
    for (size_t i = 0; status == TM_OK && i < sorter->window.count; i++)
        status = tm_runs_put(sorter->runs, sorted_row(sorter, i));
    give_tags(sorter);
    sorter->window.count = 0;
    if (status == TM_OK)
        status = tm_runs_end(sorter->runs);
    if (status == TM_OK && tm_runs_need_merge(sorter->runs)) {
        tm_window_release(&sorter->window);
        status = tm_runs_merge(sorter->runs);
    }
    return status;
}

static tm_status make_room(struct tm_sorter *sorter)
{
    if (tm_failed(sorter->run))
        return sorter->run->error.status;
    if (tm_window_can_grow(&sorter->window))
        return tm_window_grow(&sorter->window);
    const tm_status status = spill_window(sorter);

    if (status != TM_OK || sorter->window.capacity != 0)
        return status;
    return tm_window_grow(&sorter->window);
}

void tm_sorter_push(struct tm_sorter *sorter, const void *row)
{
    assert(!sorter->is_finished);
    if (tm_window_is_full(&sorter->window) && make_room(sorter) != TM_OK)
        return;
    memcpy(tm_window_at(&sorter->window, sorter->window.count++), row, sorter->window.row_bytes);
    sorter->count++;
}

static tm_status finish(struct tm_sorter *sorter)
{
    if (!sorter->runs)
        return sort_window(sorter);
    tm_status status = spill_window(sorter);

    tm_window_release(&sorter->window);
    if (status == TM_OK)
        status = tm_runs_finish(sorter->runs);
    return status;
}

void tm_sorter_finish(struct tm_sorter *sorter)
{
    const bool is_again = sorter->is_finished;

    sorter->is_finished = true;
    if (tm_failed(sorter->run))
        return;
    if (is_again)
        tm_sorter_rewind(sorter);
    else
        (void)finish(sorter);
}

const void *tm_sorter_next(struct tm_sorter *sorter)
{
    const void *row = NULL;

    assert(sorter->is_finished);
    if (tm_failed(sorter->run))
        return NULL;
    if (sorter->runs)
        return tm_runs_next(sorter->runs, &row) == TM_OK ? row : NULL;
    return sorter->next < sorter->window.count ? sorted_row(sorter, sorter->next++) : NULL;
}

void tm_sorter_rewind(struct tm_sorter *sorter)
{
    sorter->next = 0;
    if (sorter->runs && !tm_failed(sorter->run))
        tm_runs_rewind(sorter->runs);
}

uint64_t tm_sorter_count(const struct tm_sorter *sorter)
{
    return sorter->count;
}

size_t tm_sorter_row_bytes(const struct tm_sorter *sorter)
{
    return sorter->window.row_bytes;
}

/* --- arrays of rows that are in order, and heaps --- */

size_t tm_sorted_keep(void *rows, size_t count, size_t most, size_t row_bytes, const void *row, tm_row_order *order)
{
    char *at = (char *)rows + count * row_bytes;

    while (at > (char *)rows && order(row, at - row_bytes) < 0)
        at -= row_bytes;
    if (at == (char *)rows + most * row_bytes)
        return count;
    count += count < most;
    memmove(at + row_bytes, at, (size_t)((char *)rows + (count - 1) * row_bytes - at));
    memcpy(at, row, row_bytes);
    return count;
}

void tm_heap_add(void *rows, size_t count, size_t row_bytes, const void *row, tm_row_order *order)
{
    char *const first = rows;
    size_t at = count;

    for (size_t above; at && order(row, first + (above = (at - 1) / 2) * row_bytes) > 0; at = above)
        memcpy(first + at * row_bytes, first + above * row_bytes, row_bytes);
    memcpy(first + at * row_bytes, row, row_bytes);
}

void tm_heap_replace(void *rows, size_t count, size_t row_bytes, const void *row, tm_row_order *order)
{
    char *const first = rows;
    size_t at = 0;

    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        below += below + 1 < count && order(first + (below + 1) * row_bytes, first + below * row_bytes) > 0;
        if (order(first + below * row_bytes, row) <= 0)
            break;
        memcpy(first + at * row_bytes, first + below * row_bytes, row_bytes);
    }
    memcpy(first + at * row_bytes, row, row_bytes);
}
