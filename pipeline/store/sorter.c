/* SPDX-License-Identifier: Apache-2.0 */
/* A sorter: rows gather in a window; what does not fit goes out as sorted runs.  While everything
 * fits there is no file.  Tags of rows are sorted, not rows: 16 bytes per row beside the rows
 * themselves. */
#include "pipeline/store/sorter.h"

#include <assert.h>
#include <string.h>

#include "pipeline/runs.h"
#include "pipeline/window.h"

struct tm_sorter {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    tm_row_order *order;
    tm_row_prefix *prefix;
    struct tm_window window;
    struct tm_tag *tags; /* the order of the window once it is sorted; NULL = as it lies */
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

/* True if the rows lie in order already, which is what well-made input does. */
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
    if (tm_window_can_grow(&sorter->window))
        return tm_window_grow(&sorter->window);
    const tm_status status = spill_window(sorter);

    if (status != TM_OK || sorter->window.capacity != 0)
        return status;
    return tm_window_grow(&sorter->window);
}

tm_status tm_sorter_push(struct tm_sorter *sorter, const void *row)
{
    assert(!sorter->is_finished);
    if (tm_window_is_full(&sorter->window)) {
        const tm_status status = make_room(sorter);

        if (status != TM_OK)
            return status;
    }
    memcpy(tm_window_at(&sorter->window, sorter->window.count++), row, sorter->window.row_bytes);
    sorter->count++;
    return TM_OK;
}

tm_status tm_sorter_finish(struct tm_sorter *sorter)
{
    if (sorter->is_finished)
        return tm_sorter_rewind(sorter);
    sorter->is_finished = true;
    if (!sorter->runs)
        return sort_window(sorter);
    tm_status status = spill_window(sorter);

    tm_window_release(&sorter->window);
    if (status == TM_OK)
        status = tm_runs_finish(sorter->runs);
    return status;
}

tm_status tm_sorter_next(struct tm_sorter *sorter, const void **row)
{
    assert(sorter->is_finished);
    if (sorter->runs)
        return tm_runs_next(sorter->runs, row);
    *row = sorter->next < sorter->window.count ? sorted_row(sorter, sorter->next++) : NULL;
    return TM_OK;
}

tm_status tm_sorter_rewind(struct tm_sorter *sorter)
{
    sorter->next = 0;
    return sorter->runs ? tm_runs_rewind(sorter->runs) : TM_OK;
}

uint64_t tm_sorter_count(const struct tm_sorter *sorter)
{
    return sorter->count;
}
