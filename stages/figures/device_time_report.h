/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_TIME_REPORT_H
#define TM_DEVICE_TIME_REPORT_H

#include "pipeline/stage.h"

/* How long calls of one name usually take, on the threads that may be asked why a device was idle: so that one which
 * took many times that can be told from work.  source: docs/metrics.md, "Idle gaps", held up */

/* Of all events of one name that say no more than that the host works (tm_is_work), in all recorded time of a host. */
struct tm_call_lengths_row {
    struct tm_key key; /* hash of the name */
    uint64_t count, long_count;
    int64_t short_ps; /* of those that are not long, together */
};

struct tm_call_lengths;

struct tm_call_lengths *tm_call_lengths_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_call_lengths_free(struct tm_call_lengths *lengths);
void tm_call_lengths_take(struct tm_call_lengths *lengths, const struct tm_event *event);
/* No more events. */
void tm_call_lengths_finish(struct tm_call_lengths *lengths);
/* The next name, in the order of the keys; valid until the next call, NULL at the end. */
const struct tm_call_lengths_row *tm_call_lengths_next(struct tm_call_lengths *lengths);

#endif
