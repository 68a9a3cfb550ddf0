/* SPDX-License-Identifier: Apache-2.0 */
/* When a part is full.  Steps are looked at one after the other, as parts go on: no memory beside the trace's. */
#include "pipeline/commands/split_borders.h"

enum {
    END_BYTES = 64,          /* at most, what ends a slice that is open */
    OPEN_BYTES = 512,        /* at least, what a slice that is not written yet is taken for */
    EVENT_LEAST_BYTES = 4 << 10, EVENT_MOST_BYTES = 1 << 20, /* kept free for the next event, and the end of the file */
    EVENT_SHARE = 16,        /* of the limit, between these */
    REPEATS_MOST = 8,        /* times as much as is new in a part */
};

void tm_split_borders_init(struct tm_split_borders *b, struct tm_run *run, const struct tm_options *options,
                           const struct tm_trace_writer_type *type)
{
    *b = (struct tm_split_borders){ .run = run, .options = options, .writes_ends = type->writes_ends,
                                    .border_ps = INT64_MAX, .is_fresh = true };
}

/* A time of the host on the output's clock; what does not fit, no event reaches. */
static int64_t output_time(const struct tm_split_borders *b, int64_t ps)
{
    int64_t time_ps;

    return __builtin_add_overflow(ps, b->offset_ps, &time_ps) ? INT64_MAX : time_ps;
}

/* --- steps --- */

/* When a step begins, on the output's clock.  out: INT64_MAX where there is no such step */
static int64_t step_begin(struct tm_split_borders *b, uint64_t ordinal)
{
    const struct tm_step_mark *mark;

    if (ordinal >= tm_rows_count(b->steps->marks))
        return INT64_MAX;
    mark = tm_rows_at(b->steps->marks, ordinal);
    if (!mark) {
        b->status = b->run->error.status;
        return INT64_MAX;
    }
    return output_time(b, mark->begin_ps);
}

/* The first border after a time. */
static int64_t next_border(struct tm_split_borders *b, int64_t time_ps)
{
    const struct tm_options *o = b->options;
    uint64_t ordinal;
    int64_t border_ps;

    if (o->by == TM_BY_TIME) {
        const int64_t passed = time_ps < b->first_ps ? 0 : (time_ps - b->first_ps) / o->by_time_ps + 1;

        if (__builtin_mul_overflow(passed, o->by_time_ps, &border_ps) ||
            __builtin_add_overflow(border_ps, b->first_ps, &border_ps))
            return INT64_MAX;
        return border_ps;
    }
    if (o->by != TM_BY_STEP)
        return INT64_MAX;
    /* Of steps that have begun, the next whole number of parts. */
    ordinal = b->begun ? (b->begun - 1) / o->by_steps : 0;
    if (__builtin_mul_overflow(ordinal + 1, o->by_steps, &ordinal))
        return INT64_MAX;
    return step_begin(b, ordinal);
}

tm_status tm_split_borders_begin_host(struct tm_split_borders *b, const struct tm_trace *trace, int64_t offset_ps)
{
    b->steps = &trace->steps;
    b->offset_ps = offset_ps;
    b->first_ps = output_time(b, trace->first_ps);
    b->begun = 0;
    b->is_fresh = true;
    b->status = TM_OK;
    while (b->begun < tm_rows_count(b->steps->marks) && step_begin(b, b->begun) <= b->first_ps)
        b->begun++;
    b->border_ps = next_border(b, b->first_ps);
    return b->status;
}

/* --- limits --- */

static uint64_t bytes_to_keep_free(const struct tm_split_borders *b, const struct tm_export_counts *counts,
                                   uint64_t raw_bytes, uint64_t open_spans)
{
    uint64_t event = b->options->part_bytes / EVENT_SHARE;
    uint64_t each = END_BYTES;

    event = event < EVENT_LEAST_BYTES ? EVENT_LEAST_BYTES : event > EVENT_MOST_BYTES ? EVENT_MOST_BYTES : event;
    if (!b->writes_ends) {
        each = counts->slices ? 2 * (raw_bytes / counts->slices) : 0;
        each = each < OPEN_BYTES ? OPEN_BYTES : each;
    }
    return event + open_spans * each;
}

/* Where much is open, or there are many counters, parts that a limit ends would repeat more and more. */
static bool has_enough_new(const struct tm_split_borders *b, const struct tm_export_counts *counts)
{
    const uint64_t repeated = counts->pieces + b->counters_before;

    return (counts->slices + counts->counters - repeated) >= repeated / REPEATS_MOST;
}

bool tm_split_borders_want(struct tm_split_borders *b, const struct tm_export_counts *counts, uint64_t raw_bytes,
                           size_t open_spans, int64_t time_ps)
{
    const struct tm_options *o = b->options;

    if (b->is_fresh) {
        b->is_fresh = false;
        b->counters_before = counts->counters;
    }
    /* What stands at its begin is no reason to end it: parts would be empty for ever. */
    if (b->status != TM_OK || (counts->slices <= counts->pieces && counts->counters <= b->counters_before))
        return false;
    if (time_ps >= b->border_ps)
        return true;
    return has_enough_new(b, counts) &&
           (counts->slices >= o->part_events ||
            raw_bytes + bytes_to_keep_free(b, counts, raw_bytes, open_spans) > o->part_bytes);
}

tm_status tm_split_borders_end_part(struct tm_split_borders *b, int64_t time_ps, uint64_t *first, uint64_t *count)
{
    const uint64_t before = b->begun ? b->begun - 1 : 0;
    const uint64_t steps = tm_rows_count(b->steps->marks);
    uint64_t begun = b->begun;

    while (begun < steps && step_begin(b, begun) < time_ps)
        begun++;
    *first = before;
    *count = begun - before;
    while (begun < steps && step_begin(b, begun) <= time_ps)
        begun++;
    b->begun = begun;
    b->border_ps = next_border(b, time_ps);
    b->is_fresh = true;
    return b->status;
}
