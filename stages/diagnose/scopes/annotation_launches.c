/* SPDX-License-Identifier: Apache-2.0 */
/* To which annotations an activity belongs: those that were open on the launching thread at its launch.  Found from the
 * last one that had begun by then: it, and those around it, as far as they had not ended.  Launches of a thread mostly
 * come one after the other, and many while the same annotations are open: these gather, and the next one is looked for
 * from the one that was found before. */
#include <string.h>

#include "stages/diagnose/scopes/annotations_private.h"

enum { STEPS_MOST = 8 };

/* --- what had begun --- */

/* The last span of a list that begins at or before a time.
 * in:  number  of the last one of the list
 * out: *found  0 = none */
static tm_status last_begun(struct annotations *a, uint32_t number, int64_t at_ps, uint32_t *found)
{
    *found = 0;
    while (number) {
        const struct annotation_span *span = span_at(a, number);
        uint32_t before;

        if (!span)
            return a->run->error.status;
        if (span->start_ps <= at_ps)
            break;
        before = span->before;
        number = span->jump;
        span = number ? span_at(a, number) : NULL;
        if (number && !span)
            return a->run->error.status;
        if (span && span->start_ps <= at_ps) /* too far */
            number = before;
    }
    *found = number;
    return TM_OK;
}

/* The same for a time that may be at or little behind the begin of `number`: a few steps from there on.
 * out: *found  0 = it is not there */
static tm_status next_begun(struct annotations *a, uint32_t number, int64_t at_ps, uint32_t *found)
{
    const struct annotation_span *span = number ? span_at(a, number) : NULL;

    *found = 0;
    for (int i = 0; i < STEPS_MOST && span && span->start_ps <= at_ps; i++) {
        const uint32_t after = span->after;

        span = after ? span_at(a, after) : NULL;
        if (!after || (span && span->start_ps > at_ps)) {
            *found = number;
            return TM_OK;
        }
        number = after;
    }
    return span || !number ? TM_OK : a->run->error.status;
}

/* What had begun on a thread by a time.
 * out: *span  its number; 0 = nothing
 *      *is_told  launches on the thread count */
static tm_status find_span(struct annotations *a, uint32_t track, int64_t at_ps, uint32_t *span, bool *is_told)
{
    const bool has_any = track < tm_rows_count(a->threads);
    struct annotation_thread *thread = has_any ? tm_rows_change(a->threads, track) : NULL;
    tm_status st;

    *span = 0;
    *is_told = thread && thread->takes_launches;
    if (!*is_told)
        return has_any && !thread ? a->run->error.status : TM_OK;
    st = next_begun(a, thread->found, at_ps, span);
    if (st == TM_OK && !*span)
        st = last_begun(a, thread->last, at_ps, span);
    thread->found = *span;
    return st;
}

/* --- launches that gather --- */

/* Narrow a stretch of time to where the same annotations are open. */
static tm_status find_bounds(struct annotations *a, int64_t at_ps, struct launches *launches)
{
    const struct annotation_span *span = span_at(a, launches->span);
    uint32_t number = launches->span;

    if (!span)
        return a->run->error.status;
    launches->from_ps = span->start_ps;
    if (span->after) {
        span = span_at(a, span->after);
        if (!span)
            return a->run->error.status;
        launches->until_ps = span->start_ps;
    }
    for (; number; number = span->around) {
        int64_t end_ps;

        span = span_at(a, number);
        if (!span)
            return a->run->error.status;
        end_ps = annotation_end(span);
        if (end_ps <= at_ps)
            launches->from_ps = end_ps > launches->from_ps ? end_ps : launches->from_ps;
        else
            launches->until_ps = end_ps < launches->until_ps ? end_ps : launches->until_ps;
    }
    return TM_OK;
}

static tm_status begin_launches(struct annotations *a, const struct launch *launch, struct launches *launches)
{
    bool is_told;
    tm_status st;

    *launches = (struct launches){ .from_ps = INT64_MIN, .until_ps = INT64_MAX, .track = launch->track };
    st = find_span(a, launch->track, launch->at_ps, &launches->span, &is_told);
    if (st == TM_OK && launches->span)
        return find_bounds(a, launch->at_ps, launches);
    if (is_told) { /* before the first one, wherever that is */
        launches->from_ps = launch->at_ps;
        launches->until_ps = launch->at_ps + 1;
    }
    return st;
}

/* Tell those that were open of the activities that gathered. */
static tm_status tell_launches(struct annotations *a, struct launches *launches)
{
    bool is_inside = false;
    uint32_t number = launches->activities ? launches->span : 0;

    while (number) {
        struct annotation_span *span = tm_rows_change(a->spans, number - 1);

        if (!span)
            return a->run->error.status;
        number = span->around;
        if (annotation_end(span) <= launches->from_ps)
            continue;
        span->activities += launches->activities;
        span->device_ps = tm_sum_times(span->device_ps, launches->device_ps);
        is_inside = true;
    }
    if (is_inside) {
        a->inside += launches->activities;
        a->inside_ps = tm_sum_times(a->inside_ps, launches->device_ps);
    }
    launches->activities = 0;
    return TM_OK;
}

tm_status add_launch(struct annotations *a, const struct launch *launch)
{
    struct launches *launches = &a->launches[(launch->track * 8 + launch->device) & (ANNOTATION_LAUNCHES - 1)];

    if (launches->track != launch->track || launch->at_ps < launches->from_ps || launch->at_ps >= launches->until_ps) {
        tm_status st = tell_launches(a, launches);

        if (st == TM_OK)
            st = begin_launches(a, launch, launches);
        if (st != TM_OK)
            return st;
    }
    launches->activities++;
    launches->device_ps = tm_sum_times(launches->device_ps, launch->device_ps);
    return TM_OK;
}

void end_launches(struct annotations *a, uint32_t track, int64_t at_ps)
{
    for (int i = 0; i < ANNOTATION_LAUNCHES; i++)
        if (a->launches[i].track == track && a->launches[i].until_ps > at_ps)
            a->launches[i].until_ps = at_ps;
}

tm_status add_up_launches(struct annotations *a)
{
    tm_status st = TM_OK;

    for (int i = 0; i < ANNOTATION_LAUNCHES && st == TM_OK; i++)
        st = tell_launches(a, &a->launches[i]);
    memset(a->launches, 0, sizeof(a->launches));
    return st;
}
