/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in a window, written down as they come.  When it is full they are sorted and equal ones folded; in traces most
 * lengths come again and again, and then that alone makes room.  Where it does not, the window grows, or the rows go out
 * as a sorted run. */
#include "pipeline/lengths.h"

#include <assert.h>

#include "pipeline/length_sort.h"
#include "pipeline/runs.h"
#include "pipeline/window.h"

enum {
    SCRATCH_BYTES = 768 << 10, /* for the sort, at the most: what fits into a cache near the processor */
    SORTED_LEAST = 8192, /* fewer rows are not worth a sort to make room */
    STEP = 8,            /* where most of them differed, the next try is at so many times as many */
};

struct tm_lengths {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    struct tm_window window; /* struct tm_length */
    struct tm_length *scratch; /* for the sort; kept while the window has that capacity */
    size_t scratch_bytes, scratch_most_bytes;
    struct tm_runs *runs;    /* NULL = everything is in the window */
    size_t sorted_from; /* so many rows are sorted to make room before the window grows */
    size_t next;
    bool is_finished;
};

static void merge(void *into, const void *from)
{
    ((struct tm_length *)into)->count += ((const struct tm_length *)from)->count;
}

static int by_group_and_value(const void *a, const void *b)
{
    const struct tm_length *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static uint64_t group_of(const void *row)
{
    return ((const struct tm_length *)row)->group;
}

struct tm_lengths *tm_lengths_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_lengths *lengths = tm_take(&run->budget, account, sizeof(*lengths), &run->error);

    if (!lengths)
        return NULL;
    /* The structure itself and the list of runs are small change of the last sixteenth. */
    const size_t memory = memory_bytes - memory_bytes / 16;
    const size_t scratch = memory / 8 < SCRATCH_BYTES ? memory / 8 : SCRATCH_BYTES;
    const size_t buffer = tm_runs_buffer_bytes(sizeof(struct tm_length), memory) + scratch;

    lengths->run = run;
    lengths->account = account;
    lengths->memory_bytes = memory;
    lengths->scratch_most_bytes = scratch;
    lengths->sorted_from = SORTED_LEAST;
    tm_window_init(&lengths->window, run, account, sizeof(struct tm_length), 0,
                   memory > buffer ? memory - buffer : 0);
    return lengths;
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
    tm_runs_free(lengths->runs);
    tm_window_close(&lengths->window);
    tm_give(&lengths->run->budget, lengths->account, lengths, sizeof(*lengths));
}

static struct tm_length *rows_of(const struct tm_lengths *lengths)
{
    return (struct tm_length *)(void *)lengths->window.rows;
}

static tm_status take_scratch(struct tm_lengths *lengths)
{
    struct tm_run *run = lengths->run;
    const size_t rows_bytes = lengths->window.count * sizeof(struct tm_length);
    const size_t bytes = rows_bytes < lengths->scratch_most_bytes ? rows_bytes : lengths->scratch_most_bytes;

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
        lengths->window.count = tm_lengths_sort(rows_of(lengths), lengths->window.count, lengths->scratch,
                                                lengths->scratch_bytes / sizeof(struct tm_length));
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
        .row_bytes = sizeof(struct tm_length),
        .memory_bytes = lengths->memory_bytes + lengths->window.drawn_bytes,
        .order = by_group_and_value,
        .prefix = group_of,
        .merge = merge,
    };

    lengths->runs = tm_runs_new(lengths->run, &setup);
    return lengths->runs ? TM_OK : lengths->run->error.status;
}

/* Write the window, which is sorted, out as a run. */
static tm_status spill_window(struct tm_lengths *lengths)
{
    tm_status st = lengths->runs ? TM_OK : open_runs(lengths);

    if (st == TM_OK)
        st = tm_runs_put_many(lengths->runs, lengths->window.rows, lengths->window.count);
    if (st == TM_OK)
        st = tm_runs_end(lengths->runs);
    lengths->window.count = 0;
    if (st == TM_OK && tm_runs_need_merge(lengths->runs)) {
        release_window(lengths);
        st = tm_runs_merge(lengths->runs);
    }
    return st;
}

/* Sort to make room, if that is worth it.  *has_room: at least half of the window. */
static tm_status try_folding(struct tm_lengths *lengths, bool *has_room)
{
    struct tm_window *window = &lengths->window;
    const size_t count = window->count;

    *has_room = false;
    if (count < lengths->sorted_from)
        return TM_OK;
    const tm_status st = sort_window(lengths);

    *has_room = window->count <= window->capacity / 2;
    lengths->sorted_from = window->count > count / 4 * 3 ? STEP * count : SORTED_LEAST;
    return st;
}

static tm_status make_room(struct tm_lengths *lengths)
{
    struct tm_window *window = &lengths->window;
    bool has_room;
    tm_status st = try_folding(lengths, &has_room);

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

tm_status tm_lengths_add(struct tm_lengths *lengths, uint64_t group, uint64_t value, uint64_t count)
{
    struct tm_window *window = &lengths->window;

    assert(!lengths->is_finished);
    if (tm_window_is_full(window)) {
        const tm_status st = make_room(lengths);

        if (st != TM_OK)
            return st;
    }
    rows_of(lengths)[window->count++] = (struct tm_length){ group, value, count };
    return TM_OK;
}

tm_status tm_lengths_finish(struct tm_lengths *lengths)
{
    lengths->next = 0;
    if (lengths->is_finished)
        return lengths->runs ? tm_runs_rewind(lengths->runs) : TM_OK;
    lengths->is_finished = true;

    tm_status st = sort_window(lengths);

    if (!lengths->runs) {
        give_scratch(lengths);
        return st;
    }
    if (st == TM_OK)
        st = spill_window(lengths);
    release_window(lengths);
    return st == TM_OK ? tm_runs_finish(lengths->runs) : st;
}

tm_status tm_lengths_next(struct tm_lengths *lengths, const struct tm_length **length)
{
    assert(lengths->is_finished);
    if (lengths->runs) {
        const void *row = NULL;
        const tm_status st = tm_runs_next(lengths->runs, &row);

        *length = row;
        return st;
    }
    *length = lengths->next < lengths->window.count ? &rows_of(lengths)[lengths->next++] : NULL;
    return TM_OK;
}
