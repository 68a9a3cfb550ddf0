/* SPDX-License-Identifier: Apache-2.0 */
/* A block of rows and its sort.  Small blocks serve small traces; when one is full, the next is
 * eight times as large or the whole bound at once, and the old one is then at most an eighth of the
 * new one: that much is kept aside, since both are held while a small block moves.  Past the bound it doubles, and is
 * then a large block, which moves by itself.  Rows that are never used take no resident memory. */
#include "pipeline/window.h"

#include <assert.h>
#include <string.h>

enum { FIRST_BYTES = 32 << 10, STEP = 8, SHORT_RUN = 12, ROWS_MOST = 1 << 30 };

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

bool tm_window_can_grow(struct tm_window *window)
{
    const size_t bytes = window->most * (window->row_bytes + window->extra_bytes);

    if (window->capacity < window->most)
        return true;
    if (window->most > ROWS_MOST / 2 || !tm_budget_draw(&window->run->budget, bytes))
        return false;
    window->most *= 2;
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

struct sort {
    const struct tm_window *window;
    uint32_t *numbers, *scratch;
    int (*order)(const void *a, const void *b);
};

static inline bool is_after(const struct sort *sort, uint32_t a, uint32_t b)
{
    return sort->order(tm_window_at(sort->window, a), tm_window_at(sort->window, b)) > 0;
}

/* Length of the run that begins at `begin`; one that is short is made longer by insertion. */
static size_t find_run(const struct sort *sort, size_t begin, size_t count)
{
    uint32_t *numbers = sort->numbers;
    size_t end = begin + 1;

    while (end < count && !is_after(sort, numbers[end - 1], numbers[end]))
        end++;
    const size_t wanted = count - begin < SHORT_RUN ? count : begin + SHORT_RUN;

    for (; end < wanted; end++) {
        const uint32_t moved = numbers[end];
        size_t at = end;

        for (; at > begin && is_after(sort, numbers[at - 1], moved); at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = moved;
    }
    return end - begin;
}

/* Merge [begin, middle) and [middle, end); of equal rows those on the left go first. */
static void merge_runs(const struct sort *sort, size_t begin, size_t middle, size_t end)
{
    uint32_t *numbers = sort->numbers;

    if (!is_after(sort, numbers[middle - 1], numbers[middle]))
        return;
    const size_t left_count = middle - begin;
    size_t left = 0, right = middle, to = begin;

    memcpy(sort->scratch, numbers + begin, left_count * sizeof(uint32_t));
    while (left < left_count && right < end) {
        if (is_after(sort, sort->scratch[left], numbers[right]))
            numbers[to++] = numbers[right++];
        else
            numbers[to++] = sort->scratch[left++];
    }
    memcpy(numbers + to, sort->scratch + left, (left_count - left) * sizeof(uint32_t));
}

/* A merge sort of natural runs.  Each run on the stack is at least twice as long as the one above
 * it, so 32 bits of rows need at most 33 entries. */
void tm_window_sort(const struct tm_window *window, uint32_t *numbers, uint32_t *scratch,
                    size_t count, int (*order)(const void *a, const void *b))
{
    const struct sort sort = { window, numbers, scratch, order };
    struct {
        size_t begin, length;
    } stack[40];
    size_t depth = 0;

    for (size_t begin = 0; begin < count;) {
        const size_t length = find_run(&sort, begin, count);

        stack[depth].begin = begin;
        stack[depth++].length = length;
        begin += length;
        while (depth > 1 &&
               (begin == count || stack[depth - 2].length < 2 * stack[depth - 1].length)) {
            merge_runs(&sort, stack[depth - 2].begin, stack[depth - 1].begin, begin);
            stack[depth - 2].length += stack[depth - 1].length;
            depth--;
        }
    }
}
