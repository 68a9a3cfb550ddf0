/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/run.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/names.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"

size_t tm_whole_characters(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void tm_add_row_text(struct tm_value *to, const char *key, const char *text, size_t length, size_t *room)
{
    char cut[TM_ROW_TEXT_CUT + 3];
    size_t n;

    if (length <= TM_ROW_TEXT_CUT || length <= *room) {
        *room -= length <= TM_ROW_TEXT_CUT ? 0 : length;
        tm_add_text(to, key, text, length);
        return;
    }
    n = tm_whole_characters(text, length, TM_ROW_TEXT_CUT);
    memcpy(cut, text, n);
    memcpy(cut + n, "...", 3);
    tm_add_text(to, key, cut, n + 3);
}

enum { WHOLE_BYTES = 8192, ROOM_ROWS_MOST = 1 << 20 };

struct tm_listed_texts tm_listed_texts(struct tm_names *names, uint64_t rows)
{
    return (struct tm_listed_texts){ names, (rows < ROOM_ROWS_MOST ? rows : ROOM_ROWS_MOST) * TM_ROW_TEXT_ROOM };
}

tm_status tm_listed_text_add(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id)
{
    const char *text;
    size_t length, no_room = 0;

    text = tm_names_text(texts->names, id, WHOLE_BYTES + 1, &length);
    tm_add_row_text(to, key, text, length, length <= WHOLE_BYTES ? &texts->room_bytes : &no_room);
    return tm_names_status(texts->names);
}

tm_status tm_listed_text_or(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id,
                            const char *why)
{
    if (id)
        return tm_listed_text_add(texts, to, key, id);
    tm_add_null(to, key, why);
    return TM_OK;
}

/* Names of the trace in tables of the summary. */

tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id)
{
    const char *text;
    size_t length, room = 0;

    text = tm_names_text(names, id, TM_ROW_TEXT_CUT + 1, &length);
    tm_add_row_text(to, key, text, length, &room);
    return tm_names_status(names);
}

tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, const char *why)
{
    if (id)
        return tm_add_name(to, key, names, id);
    tm_add_null(to, key, why);
    return TM_OK;
}

tm_status tm_add_name_cut(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, size_t most,
                          const char *why)
{
    const char *text;
    size_t length;

    if (!id) {
        tm_add_null(to, key, why);
        return TM_OK;
    }
    text = tm_names_text(names, id, most, &length);
    tm_add_text(to, key, text, length);
    return tm_names_status(names);
}

/* --- one --- */

static bool is_longer(const struct tm_longest *a, const struct tm_longest *b)
{
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps;
    if (a->host != b->host)
        return a->host < b->host;
    return a->start_ps < b->start_ps;
}

void tm_longest_merge(struct tm_longest *into, const struct tm_longest *from)
{
    if (is_longer(from, into))
        *into = *from;
}

const struct tm_row_field tm_longest_fields[] = {
    TM_FIELD(struct tm_longest, dur_ps, TIME, KEEP),
    TM_FIELD(struct tm_longest, start_ps, INSTANT, KEEP),
    TM_FIELD(struct tm_longest, host, HOST, KEEP),
    TM_FIELDS_END,
};

/* --- the largest rows --- */

/* A heap with the last of the kept rows on top: a new row is either after it, which costs one
 * comparison, or replaces it. */

enum { FIRST_ROWS = 16 };

struct tm_top_rows {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes;
    uint64_t most;
    size_t memory_bytes;
    tm_row_order *order;
    uint8_t *rows;
    uint64_t count, capacity;
};

struct tm_top_rows *tm_top_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes, uint64_t most,
                                    size_t memory_bytes, tm_row_order *order)
{
    struct tm_top_rows *top = tm_take(&run->budget, account, sizeof(*top), &run->error);

    if (!top)
        return NULL;
    *top = (struct tm_top_rows){ .run = run,
                                 .account = account,
                                 .row_bytes = row_bytes,
                                 .most = most,
                                 .memory_bytes = memory_bytes,
                                 .order = order };
    return top;
}

struct tm_top_rows *tm_listed_rows_new(struct tm_run *run, size_t row_bytes, uint64_t most, tm_row_order *order)
{
    return tm_top_rows_new(run, TM_ACCOUNT_SORT, row_bytes, most, tm_budget_share(&run->budget, TM_ACCOUNT_SORT),
                           order);
}

void tm_top_rows_free(struct tm_top_rows *top)
{
    if (!top)
        return;
    tm_give(&top->run->budget, top->account, top->rows, top->capacity * top->row_bytes);
    tm_give(&top->run->budget, top->account, top, sizeof(*top));
}

static uint8_t *row_at(const struct tm_top_rows *top, uint64_t index)
{
    return top->rows + index * top->row_bytes;
}

/* Room for one more row.  While a block grows, the old and the new one exist together: the new one is at least twice as
 * large, so the old one adds up to half as much again. */
static bool grow(struct tm_top_rows *top)
{
    const uint64_t fit = top->memory_bytes / 3 * 2 / top->row_bytes;
    const uint64_t last = fit < top->most ? fit : top->most;
    uint64_t capacity = top->capacity ? 2 * top->capacity : FIRST_ROWS;
    uint8_t *rows;

    if (capacity > last / 2)
        capacity = last;
    if (capacity <= top->capacity) {
        (void)tm_fail(&top->run->error, TM_ERR_LIMIT, -1, "cannot list more than %llu rows of a table in this memory",
                      (unsigned long long)top->capacity);
        tm_hint(&top->run->error, "raise --memory, or lower --rows");
        return false;
    }
    rows = tm_retake(&top->run->budget, top->account, top->rows, top->capacity * top->row_bytes,
                     capacity * top->row_bytes, &top->run->error);
    if (!rows)
        return false;
    top->rows = rows;
    top->capacity = capacity;
    return true;
}

bool tm_top_rows_keep(const struct tm_top_rows *top, const void *row)
{
    return top->count < top->most || (top->most && top->order(top->rows, row) > 0);
}

tm_status tm_top_rows_add(struct tm_top_rows *top, const void *row)
{
    if (top->count == top->most) {
        if (tm_top_rows_keep(top, row))
            tm_heap_replace(top->rows, top->count, top->row_bytes, row, top->order);
    } else if (top->count < top->capacity || grow(top)) {
        tm_heap_add(top->rows, top->count++, top->row_bytes, row, top->order);
    }
    return top->run->error.status;
}

void tm_top_rows_sort(struct tm_top_rows *top)
{
    if (top->count > 1)
        qsort(top->rows, top->count, top->row_bytes, top->order);
}

uint64_t tm_top_rows_count(const struct tm_top_rows *top)
{
    return top->count;
}

size_t tm_top_rows_row_bytes(const struct tm_top_rows *top)
{
    return top->row_bytes;
}

void *tm_top_rows_at(struct tm_top_rows *top, uint64_t index)
{
    return row_at(top, index);
}

/* The sum of squared differences is squares - sum^2 / count.  It is small compared with either, so it is computed in
 * 128-bit integers, and only the result becomes a double. */

void tm_add_stddev(struct tm_value *to, const char *key, uint64_t count, int64_t sum_ps, struct tm_wide squares)
{
    const unsigned __int128 sum = (uint64_t)sum_ps, all = tm_wide_value(squares);
    double left, stddev_ps;

    if (count < 2) {
        tm_add_null(to, key, "a single value has no deviation");
        return;
    }
    if (sum_ps == INT64_MAX || all == ~(unsigned __int128)0) {
        tm_add_null(to, key, "the sum of the durations overflows");
        return;
    }
    const unsigned __int128 of_mean = sum * sum / count; /* rounded down, by this many parts of count: */
    const double part = (double)(uint64_t)(sum * sum % count) / (double)count;

    left = all > of_mean ? (double)(all - of_mean) - part : 0;
    stddev_ps = round(sqrt(left / (double)(count - 1)));
    tm_add_int(to, key, stddev_ps < (double)INT64_MAX ? (int64_t)stddev_ps : INT64_MAX);
}

/* --- the devices of a run --- */

static struct tm_run_member *new_member(struct tm_members *m, struct tm_run *run)
{
    if (m->count == m->most) {
        const uint32_t most = m->most ? m->most * 2 : 8;
        struct tm_run_member *rows = tm_retake(&run->budget, TM_ACCOUNT_MODEL, m->rows, m->most * sizeof(*rows),
                                               most * sizeof(*rows), &run->error);

        if (!rows)
            return NULL;
        m->rows = rows;
        m->most = most;
    }
    m->rows[m->count] = (struct tm_run_member){ .host = m->host_count };
    return &m->rows[m->count++];
}

void tm_members_begin_host(struct tm_members *m, struct tm_run *run, const struct tm_trace *trace)
{
    memset(m->by_device, 0xff, sizeof(m->by_device)); /* TM_NONE */
    for (uint32_t i = 0; i < trace->device_count; i++) {
        struct tm_run_member *member = trace->devices[i].activities ? new_member(m, run) : NULL;

        if (!member)
            continue;
        m->by_device[i] = m->count - 1;
        memcpy(member->device, trace->devices[i].id, sizeof(member->device));
        member->index = i;
    }
    m->host_count++;
}

void tm_members_free(struct tm_members *m, struct tm_run *run)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m->rows, m->most * sizeof(*m->rows));
    m->rows = NULL;
    m->count = m->most = 0;
}

void tm_members_save(const struct tm_members *m, struct tm_partial_writer *w)
{
    tm_partial_put_u32(w, m->count);
    for (uint32_t i = 0; i < m->count; i++)
        tm_partial_put_device(w, m->rows[i].host, m->rows[i].device);
}

uint32_t tm_members_load(struct tm_members *m, struct tm_run *run, struct tm_partial_reader *r)
{
    const uint32_t first = m->count, count = tm_partial_below_u32(r, TM_NONE - (uint64_t)first);

    for (uint32_t i = 0; i < count && !tm_failed(run); i++) {
        const uint32_t host = tm_partial_below_u32(r, tm_partial_host_count(r));
        struct tm_run_member *member = new_member(m, run);

        if (!member)
            break;
        member->host += host;
        tm_partial_id(r, host, member->device, sizeof(member->device));
    }
    m->host_count += tm_partial_host_count(r);
    return first;
}

int64_t tm_step_number(const struct tm_trace *trace, uint32_t step)
{
    if (step == TM_NONE || trace->steps.source == TM_STEPS_SESSION)
        return TM_NO_STEP;
    return ((const struct tm_step_mark *)tm_rows_at(trace->steps.marks, step))->number;
}
