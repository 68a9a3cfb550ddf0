/* SPDX-License-Identifier: Apache-2.0 */
/* A block of rows.  Small blocks serve small traces; when one is full, the next is
 * eight times as large or the whole bound at once, and the old one is then at most an eighth of the
 * new one: that much is kept aside, since both are held while a small block moves.  Past the bound it doubles while it is small,
 * and grows by an eighth when it is a large block, which moves by itself.  Rows that are never used take no resident memory. */
#include "pipeline/window.h"

#include <assert.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/row_order.h"

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

/* The sort of a window.  Tags of rows are dealt out by the bytes of their prefixes, from the lowest on, without a look at
 * the rows.  What then is left to do, everything where there is no prefix, does a merge sort of natural runs. */

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

/* Length of the run that begins at `begin`; one that is short is made longer by insertion. */
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

/* Merge [begin, middle) and [middle, end); of equal rows those on the left go first. */
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

/* A merge sort of natural runs.  Each run on the stack is at least twice as long as the one above
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

/* Deal the tags out by one byte of their prefixes, keeping the order of those that have the same. */
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
