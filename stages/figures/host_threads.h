/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_THREADS_H
#define TM_HOST_THREADS_H

#include "pipeline/stage.h"
#include "stages/figures/idle_gaps.h"

/* What the launching threads and the main thread did, moment by moment: the innermost event that has a cause, else
 * `host` where any event is open, else `unrecorded`.  Kept as stretches, from a horizon on: what lies before it can
 * be forgotten.  What does not fit in the share is spilled. */
struct tm_host_threads;

struct tm_host_threads *tm_host_threads_new(struct tm_run *run, const struct tm_trace *trace) TM_MUST_USE;
void tm_host_threads_free(struct tm_host_threads *threads);

/* Take a host event; events come in the order of the stream, those of other tracks are ignored. */
tm_status tm_host_threads_take(struct tm_host_threads *threads, const struct tm_event *event);

/* Nobody will ask for anything before this time. */
void tm_host_threads_forget(struct tm_host_threads *threads, int64_t horizon_ps);

/* The time in [begin, end) by cause, added to parts.  end must not lie after the stream's place.
 * out: names   per cause the event that had the longest stretch of it there, of equal ones the earliest; 0 = none;
 *              may be NULL
 *      thread  TM_NONE: all of it is unrecorded */
tm_status tm_host_threads_ask(struct tm_host_threads *threads, uint32_t thread, int64_t start_ps, int64_t end_ps,
                              int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT]);

/* The same of the main thread, where another one launches and recorded too little to be asked alone: what main did, but
 * while main waits for results, what the other one recorded meanwhile.
 * out: main_ps  of what was added to parts, that which main tells; added to
 *      by_main  per cause, whether its name is one of main's */
tm_status tm_host_threads_ask_main(struct tm_host_threads *threads, uint32_t main, uint32_t launching, int64_t start_ps,
                                   int64_t end_ps, int64_t parts[TM_CAUSE_COUNT], int64_t main_ps[TM_CAUSE_COUNT],
                                   tm_strid names[TM_CAUSE_COUNT], bool by_main[TM_CAUSE_COUNT]);

#endif
