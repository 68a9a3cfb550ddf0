/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of time, sorted by (lane, begin) and found by binary search.  Look-ups come mostly in the order of
 * time, so what was found last is tried first, and then the places near it. */
#include "pipeline/spans.h"

struct tm_spans {
    struct tm_run *run;
    enum tm_account account;
    struct tm_sorter *sorter; /* until finish */
    struct tm_rows *rows;     /* struct tm_span */
    size_t memory_bytes;
    uint64_t longest_lane;
    uint64_t last; /* where the last look-up ended */
    struct tm_span found; /* there; of times on its lane from its begin on, up to until_ps, it is the last that begins */
    int64_t until_ps;     /* where the next one begins; found.begin_ps = nothing was found yet */
};

static int by_lane_and_begin(const void *a, const void *b)
{
    const struct tm_span *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->begin_ps != y->begin_ps)
        return x->begin_ps < y->begin_ps ? -1 : 1;
    return x->end_ps == y->end_ps ? 0 : x->end_ps > y->end_ps ? -1 : 1;
}

struct tm_spans *tm_spans_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_spans *spans = tm_take(&run->budget, account, sizeof(*spans), &run->error);

    if (!spans)
        return NULL;
    *spans = (struct tm_spans){ .run = run, .account = account, .memory_bytes = memory_bytes };
    spans->sorter = tm_sorter_new(run, account, sizeof(struct tm_span), memory_bytes / 2, by_lane_and_begin);
    spans->rows = tm_rows_new(run, account, sizeof(struct tm_span), memory_bytes / 2);
    if (spans->sorter && spans->rows)
        return spans;
    tm_spans_free(spans);
    return NULL;
}

void tm_spans_free(struct tm_spans *spans)
{
    if (!spans)
        return;
    tm_sorter_free(spans->sorter);
    tm_rows_free(spans->rows);
    tm_give(&spans->run->budget, spans->account, spans, sizeof(*spans));
}

tm_status tm_spans_add(struct tm_spans *spans, const struct tm_span *span)
{
    return tm_sorter_push(spans->sorter, span);
}

tm_status tm_spans_finish(struct tm_spans *spans)
{
    struct tm_span last = { .lane = 0 };
    bool has_last = false;
    tm_status st = tm_sorter_finish(spans->sorter);

    while (st == TM_OK) {
        const void *row;
        struct tm_span span;

        st = tm_sorter_next(spans->sorter, &row);
        if (st != TM_OK || !row)
            break;
        span = *(const struct tm_span *)row;
        has_last &= span.lane == last.lane;
        if (has_last && span.end_ps <= last.end_ps)
            continue; /* inside the one before */
        span.ordinal = has_last ? last.ordinal + 1 : 0;
        if (span.ordinal + 1 > spans->longest_lane)
            spans->longest_lane = span.ordinal + 1;
        last = span;
        has_last = true;
        st = tm_rows_append(spans->rows, &span);
    }
    tm_sorter_free(spans->sorter);
    spans->sorter = NULL;
    return st;
}

uint64_t tm_spans_count(const struct tm_spans *spans)
{
    return tm_rows_count(spans->rows);
}

const struct tm_span *tm_spans_at(struct tm_spans *spans, uint64_t index)
{
    return tm_rows_at(spans->rows, index);
}

uint64_t tm_spans_longest_lane(const struct tm_spans *spans)
{
    return spans->longest_lane;
}

/* Whether a span begins at or before (lane, at). */
static tm_status probe(struct tm_spans *spans, uint64_t index, uint64_t lane, int64_t at_ps, bool *is_before)
{
    const struct tm_span *span = tm_rows_at(spans->rows, index);

    if (!span)
        return spans->run->error.status;
    *is_before = span->lane != lane ? span->lane < lane : span->begin_ps <= at_ps;
    return TM_OK;
}

/* Bounds of the number of spans that begin at or before (lane, at), from where the last look-up ended: the next one
 * is mostly near it, and pages far away need not be read. */
static tm_status narrow(struct tm_spans *spans, uint64_t lane, int64_t at_ps, uint64_t *low, uint64_t *high)
{
    bool goes_up = true, is_before = true;
    uint64_t at = spans->last;

    *low = 0;
    *high = tm_rows_count(spans->rows);
    for (uint64_t stride = 1; at < *high && *low < *high; stride *= 2) {
        const tm_status st = probe(spans, at, lane, at_ps, &is_before);

        if (st != TM_OK)
            return st;
        if (is_before)
            *low = at + 1;
        else
            *high = at;
        if (stride == 1)
            goes_up = is_before;
        else if (is_before != goes_up)
            break;
        at = goes_up ? at + stride : at - (stride < at - *low ? stride : at - *low);
    }
    return TM_OK;
}

static tm_status count_before(struct tm_spans *spans, uint64_t lane, int64_t at_ps, uint64_t *count)
{
    uint64_t low, high;
    tm_status st = narrow(spans, lane, at_ps, &low, &high);

    while (st == TM_OK && low < high) {
        const uint64_t middle = low + (high - low) / 2;
        bool is_before = false;

        st = probe(spans, middle, lane, at_ps, &is_before);
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    *count = low;
    return st;
}

/* Remember the span of an index, and up to where it is found. */
static tm_status remember(struct tm_spans *spans, uint64_t index)
{
    const struct tm_span *span = tm_rows_at(spans->rows, index);

    if (!span)
        return spans->run->error.status;
    spans->last = index;
    spans->found = *span;
    spans->until_ps = INT64_MAX;
    if (index + 1 == tm_rows_count(spans->rows))
        return TM_OK;
    span = tm_rows_at(spans->rows, index + 1);
    if (!span) {
        spans->until_ps = spans->found.begin_ps;
        return spans->run->error.status;
    }
    if (span->lane == spans->found.lane)
        spans->until_ps = span->begin_ps;
    return TM_OK;
}

tm_status tm_spans_find(struct tm_spans *spans, uint64_t lane, int64_t at_ps, const struct tm_span **span)
{
    const struct tm_span *const found = &spans->found;

    *span = NULL;
    if (lane != found->lane || at_ps < found->begin_ps || at_ps >= spans->until_ps) {
        uint64_t before = 0;
        tm_status st = count_before(spans, lane, at_ps, &before);

        if (st == TM_OK && before)
            st = remember(spans, before - 1);
        if (st != TM_OK || !before || found->lane != lane)
            return st;
    }
    if (at_ps <= found->end_ps)
        *span = found;
    return TM_OK;
}
