/* SPDX-License-Identifier: Apache-2.0 */
/* A block of rows.  Small blocks serve small traces; when one is full, the next is
 * eight times as large or the whole bound at once, and the old one is then at most an eighth of the
 * new one: that much is kept aside, since both are held while a small block moves.  Past the bound it doubles while it is small,
 * and grows by an eighth when it is a large block, which moves by itself.  Rows that are never used take no resident memory. */
#include "pipeline/window.h"

#include <assert.h>
#include <string.h>

enum { FIRST_BYTES = 32 << 10, LARGE_BYTES = 2 << 20, STEP = 8, ROWS_MOST = 1 << 30 };

void tm_window_init(struct tm_window *window, struct tm_run *run, enum tm_account account,
                    size_t row_bytes, size_t extra_bytes, size_t memory_bytes)
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

/* By how many rows the bound may rise at once: to twice as much while that is little, then by an eighth, to whole huge
 * pages: the pool refuses steps of more than half of what it has left, so small ones leave less of it unused. */
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
    tm_give(&window->run->budget, window->account, window->rows,
            window->capacity * window->row_bytes);
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
