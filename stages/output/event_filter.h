/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EVENT_FILTER_H
#define TM_EVENT_FILTER_H

#include "pipeline/filter.h"
#include "pipeline/stage.h"

/* What of an event is wanted: pipeline/filter.h says how a filter is written. */
struct tm_event_filter;

/* errors: NULL, with the error in run->error; TM_ERR_USAGE for a pattern that is none */
struct tm_event_filter *tm_event_filter_new(struct tm_run *run, const struct tm_filter *filter) TM_MUST_USE;
void tm_event_filter_free(struct tm_event_filter *f); /* tolerates NULL */
tm_status tm_event_filter_begin_host(struct tm_event_filter *f, const struct tm_trace *trace) TM_MUST_USE;
/* in:     first_ps  of the trace: what times of the filter count from
 * out:    *begin_ps, *end_ps  the part of the event inside the wanted time
 *         returns false: not wanted */
bool tm_event_filter_take(struct tm_event_filter *f, const struct tm_track *track, const struct tm_event *event,
                          int64_t *begin_ps, int64_t *end_ps);

#endif
