/* SPDX-License-Identifier: Apache-2.0 */
/* ROCm's tracer puts the driver's calls of a thread on a line of their own.  Whose they are, time tells: the thread in
 * whose executions of programs they lie.  Both lines then have one thread number, so that whoever asks what the
 * launching thread did is told what stands on either.  Memory: fixed. */
#include "stages/resolve/classes.h"
#include "stages/survey/survey_private.h"

enum { CALLS_ASKED = 256 }; /* of a line: so many launches tell */

/* How many launches of a line lie in the executions of each thread. */
struct overlap {
    uint32_t launches;
    uint32_t inside[TM_EXECUTORS_MOST];
};

static tm_status count_launch(struct tm_survey *s, int64_t at_ps, struct overlap *overlap)
{
    overlap->launches++;
    for (uint32_t i = 0; i < s->executor_count; i++) {
        const struct tm_span *span;
        const tm_status st = tm_spans_find(s->thunks, s->executors[i], at_ps, &span);

        if (st != TM_OK)
            return st;
        overlap->inside[i] += span != NULL;
    }
    return TM_OK;
}

static tm_status count_overlap(struct tm_survey *s, uint64_t number, struct overlap *overlap)
{
    const struct tm_source_type *type = s->source->type;
    struct tm_cursor *cursor = type->open(s->source, number, s->buffer_bytes);
    tm_status st = cursor ? TM_OK : s->run->error.status;

    if (cursor)
        cursor->counts = false;
    while (st == TM_OK && overlap->launches < CALLS_ASKED) {
        struct tm_raw_record raw;
        bool more;

        st = type->next(cursor, &raw, &more);
        if (st != TM_OK || !more)
            break;
        if (raw.traits & TM_TRAIT_LAUNCH)
            st = count_launch(s, raw.record.start_ps, overlap);
    }
    type->close(cursor);
    return st;
}

/* The thread that has most of them, and more than any other; executor_count = none. */
static uint32_t thread_of(const struct tm_survey *s, const struct overlap *overlap)
{
    uint32_t best = 0;
    bool is_alone = true;

    for (uint32_t i = 1; i < s->executor_count; i++) {
        if (overlap->inside[i] == overlap->inside[best])
            is_alone = false;
        if (overlap->inside[i] > overlap->inside[best]) {
            best = i;
            is_alone = true;
        }
    }
    return is_alone && overlap->inside[best] > overlap->launches / 2 ? best : s->executor_count;
}

tm_status tm_survey_join_drivers(struct tm_survey *s)
{
    const uint64_t count = tm_rows_count(s->trace->tracks);
    tm_status st = s->has_drivers && s->executor_count ? tm_spans_finish(s->thunks) : TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK && s->has_drivers && s->executor_count; i++) {
        const struct tm_track *row = tm_rows_at(s->trace->tracks, i);
        struct overlap overlap = { .launches = 0 };
        struct tm_track *executor;
        uint32_t thread, best;

        if (!row)
            return s->run->error.status;
        if (!row->is_driver)
            continue;
        thread = row->thread;
        st = count_overlap(s, i, &overlap);
        best = st == TM_OK ? thread_of(s, &overlap) : s->executor_count;
        if (best == s->executor_count)
            continue;
        executor = tm_rows_change(s->trace->tracks, s->executors[best]);
        if (!executor)
            return s->run->error.status;
        executor->thread = thread;
        s->executors[best] = s->executors[--s->executor_count]; /* a thread has one such line */
    }
    return st;
}
