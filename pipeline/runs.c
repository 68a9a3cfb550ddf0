/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on disk, merged by a tree of losers: one comparison per level for each row.  A run has a
 * level: F runs of one level in a row are merged into one of the next, F being the number of
 * buffers that fit.  So each row is rewritten once per level, and the list of runs stays short.
 * The space of merged runs is given back to the file system where it can take it. */
#include "pipeline/runs.h"

#include <assert.h>
#include <string.h>

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

/* A source in the tree, with the prefix of its first row; the largest one where it is exhausted. */
struct player {
    uint64_t prefix;
    uint32_t source;
};

struct merge {
    struct source *sources;
    struct player *tree; /* [0] the winner, [1, count) the losers */
    uint32_t count;
    size_t buffer_bytes;
    uint8_t *folded; /* a row; with setup.merge only */
    bool has_winner; /* the winner was given out and has to step on */
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
                       (runs->buffer_bytes + sizeof(struct source) + sizeof(struct player));

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
    give(runs, merge->tree, merge->count * sizeof(struct player));
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

static struct player player_of(const struct tm_runs *runs, uint32_t which)
{
    const uint8_t *row = runs->merge.sources[which].row;
    const uint64_t prefix = row && runs->setup.prefix ? runs->setup.prefix(row) : 0;

    return (struct player){ row ? prefix : UINT64_MAX, which };
}

/* True if source a goes before source b, of equal prefixes; of equal rows the earlier run's. */
static bool row_goes_first(const struct tm_runs *runs, uint32_t a, uint32_t b)
{
    const uint8_t *row_a = runs->merge.sources[a].row, *row_b = runs->merge.sources[b].row;

    if (!row_a || !row_b)
        return row_a || (!row_b && a < b);
    const int order = runs->setup.order(row_a, row_b);

    return order < 0 || (order == 0 && a < b);
}

static inline bool goes_first(const struct tm_runs *runs, struct player a, struct player b)
{
    return a.prefix != b.prefix ? a.prefix < b.prefix : row_goes_first(runs, a.source, b.source);
}

/* Play the source up the tree from its leaf; the winner ends in tree[0]. */
static void replay(struct tm_runs *runs, uint32_t which)
{
    struct merge *merge = &runs->merge;
    struct player player = player_of(runs, which);

    for (uint32_t node = (merge->count + which) / 2; node > 0; node /= 2) {
        if (goes_first(runs, merge->tree[node], player)) {
            const struct player winner = merge->tree[node];

            merge->tree[node] = player;
            player = winner;
        }
    }
    merge->tree[0] = player;
}

/* The first winner below a node.  The depth is that of the tree: at most 11. */
static struct player play(struct tm_runs *runs, uint32_t node)
{
    struct merge *merge = &runs->merge;

    if (node >= merge->count)
        return player_of(runs, node - merge->count);
    const struct player a = play(runs, 2 * node), b = play(runs, 2 * node + 1);
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

/* Begin to merge neighbours of the list.  count: at least 1, at most fan_in. */
static tm_status open_merge(struct tm_runs *runs, const struct stretch *stretches, size_t count, size_t buffer_bytes)
{
    close_merge(runs);
    runs->merge.count = (uint32_t)count;
    runs->merge.buffer_bytes = buffer_bytes;
    runs->merge.sources = take(runs, count * sizeof(struct source));
    runs->merge.tree = take(runs, count * sizeof(struct player));
    if (runs->setup.merge)
        runs->merge.folded = take(runs, runs->setup.row_bytes);
    if (!runs->merge.sources || !runs->merge.tree || (runs->setup.merge && !runs->merge.folded))
        return runs->run->error.status;
    return open_sources(runs, stretches);
}

static tm_status step_on(struct tm_runs *runs)
{
    const uint32_t which = runs->merge.tree[0].source;
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
    return runs->merge.sources[runs->merge.tree[0].source].row;
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
