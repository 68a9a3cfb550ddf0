/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of time, sorted by (lane, begin) and found by binary search.  Look-ups come mostly in the order of
 * time, from several lanes in turn, so what was found last on a lane is tried first, and then the places near it. */
#include "pipeline/spans.h"

enum { RECALLS = 16 }; /* a power of two */

/* What was found last on one of some lanes: the same is found from from_ps on, up to until_ps. */
struct recall {
    uint64_t lane;
    int64_t from_ps, until_ps; /* equal = nothing was found yet */
    uint64_t last;             /* where the look-up ended */
    bool has_span;
    struct tm_span span;
};

struct tm_spans {
    struct tm_run *run;
    enum tm_account account;
    struct tm_sorter *sorter; /* until finish */
    struct tm_rows *rows;     /* struct tm_span */
    size_t memory_bytes;
    uint64_t longest_lane;
    struct recall recalls[RECALLS]; /* by the lowest bits of the lane */
};

static int by_lane_and_begin(const void *a, const void *b)
{
    const struct tm_span *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
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
    *is_before = span->lane != lane ? span->lane < lane : span->start_ps <= at_ps;
    return TM_OK;
}

/* Bounds of the number of spans that begin at or before (lane, at), from where the last look-up ended: the next one
 * is mostly near it, and pages far away need not be read. */
static tm_status narrow(struct tm_spans *spans, uint64_t last, uint64_t lane, int64_t at_ps, uint64_t *low,
                        uint64_t *high)
{
    bool goes_up = true, is_before = true;
    uint64_t at = last;

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

static tm_status count_before(struct tm_spans *spans, uint64_t last, uint64_t lane, int64_t at_ps, uint64_t *count)
{
    uint64_t low, high;
    tm_status st = narrow(spans, last, lane, at_ps, &low, &high);

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

/* Note what is found at a time, and from when on up to when it is. */
static tm_status note(struct tm_spans *spans, struct recall *r, uint64_t lane, int64_t at_ps)
{
    const struct tm_span *span;
    struct recall found = { .lane = lane, .from_ps = INT64_MIN, .until_ps = INT64_MAX };
    uint64_t before = 0;
    const tm_status st = count_before(spans, r->last, lane, at_ps, &before);

    if (st != TM_OK)
        return st;
    if (before) {
        span = tm_rows_at(spans->rows, before - 1);
        if (!span)
            return spans->run->error.status;
        found.last = before - 1;
        found.has_span = span->lane == lane;
        found.span = *span;
    }
    if (found.has_span)
        found.from_ps = found.span.start_ps;
    if (before < tm_rows_count(spans->rows)) {
        span = tm_rows_at(spans->rows, before);
        if (!span)
            return spans->run->error.status;
        if (span->lane == lane)
            found.until_ps = span->start_ps;
    }
    *r = found;
    return TM_OK;
}

static inline const struct tm_span *span_in(const struct recall *r, int64_t at_ps)
{
    return r->has_span && at_ps <= r->span.end_ps ? &r->span : NULL;
}

TM_NOT_INLINE tm_status look_up(struct tm_spans *spans, uint64_t lane, int64_t at_ps, const struct tm_span **span)
{
    struct recall *const r = &spans->recalls[lane & (RECALLS - 1)];
    const tm_status st = note(spans, r, lane, at_ps);

    *span = st == TM_OK ? span_in(r, at_ps) : NULL;
    return st;
}

tm_status tm_spans_find(struct tm_spans *spans, uint64_t lane, int64_t at_ps, const struct tm_span **span)
{
    const struct recall *const r = &spans->recalls[lane & (RECALLS - 1)];

    if (lane != r->lane || at_ps < r->from_ps || at_ps >= r->until_ps)
        return look_up(spans, lane, at_ps, span);
    *span = span_in(r, at_ps);
    return TM_OK;
}
