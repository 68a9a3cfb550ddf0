/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EVENT_FILTER_H
#define TM_EVENT_FILTER_H

#include "pipeline/filter.h"
#include "pipeline/stage.h"
#include "stages/output/derived/derived.h"

/* What of an event is wanted: pipeline/filter.h says how a filter is written.  Of what was worked out only the place in
 * time, the device and the step are asked.  Memory: `tables`, fixed. */
struct tm_event_filter;

/* The part of an event inside the wanted time: with several times, from the begin of the first one that it lies in to
 * the end of the last one.  Parts begin in the order in which their events do. */
struct tm_wanted {
    bool is_wanted;
    int64_t start_ps, end_ps;
};

/* in:     filter  nothing is wrong with its patterns
 * owns:   keeps filter and names
 * errors: NULL, with the error in run->error */
struct tm_event_filter *tm_event_filter_new(struct tm_run *run, struct tm_names *names,
                                            const struct tm_filter *filter) TM_MUST_USE;
void tm_event_filter_free(struct tm_event_filter *f); /* tolerates NULL */
/* in: trace  surveyed: times count from its first_ps, steps are its marks */
tm_status tm_event_filter_begin_host(struct tm_event_filter *f, const struct tm_trace *trace) TM_MUST_USE;
/* in: track  on which it lies: of the end of an arrow the one that it points to */
tm_status tm_event_filter_take(struct tm_event_filter *f, const struct tm_track *track, const struct tm_event *event,
                               struct tm_wanted *wanted) TM_MUST_USE;
void tm_event_filter_take_derived(const struct tm_event_filter *f, const struct tm_derived_row *row,
                                  struct tm_wanted *wanted);

/* The device that an event lies on. */
static inline uint32_t tm_event_device(const struct tm_track *track, const struct tm_event *event)
{
    return event->device != TM_NONE ? event->device : track->device;
}

/* What has no length by its nature; other events without one are spans of length 0. */
static inline bool tm_event_is_instant(const struct tm_record *record)
{
    return record->flags & TM_FLAG_INSTANT;
}

#endif
