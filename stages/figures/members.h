/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMBERS_H
#define TM_MEMBERS_H

#include "pipeline/stage.h"

/* The devices of a run, of all hosts, numbered in the order in which they come: what a stage refers to that compares
 * devices with each other.  Only those with an activity count.  Zeroed is empty. */
struct tm_run_member {
    char device[192]; /* id: "vm/gpu:0" */
    uint32_t host;    /* of the run, from 0 */
};

struct tm_members {
    struct tm_run_member *rows;
    uint32_t count, most;
    uint32_t host_count;
    uint32_t by_device[TM_DEVICES_MOST]; /* of the present host; TM_NONE = has no activity */
};

/* The devices of one more host.  errors: TM_ERR_LIMIT in run->error, as of loading */
void tm_members_begin_host(struct tm_members *m, struct tm_run *run, const struct tm_trace *trace);
void tm_members_free(struct tm_members *m, struct tm_run *run);

/* In a partial.  What is loaded stands behind what was there before.  out: the number of its first device */
void tm_members_save(const struct tm_members *m, struct tm_partial_writer *w);
uint32_t tm_members_load(struct tm_members *m, struct tm_run *run, struct tm_partial_reader *r);

/* What the marker of a step says its number is: the same step has the same number on all hosts.
 * in:     step    ordinal of the step on this host, or TM_NONE
 * out:    TM_NO_STEP where the event is in no step, or the session is one */
#define TM_NO_STEP INT64_MIN
int64_t tm_step_number(const struct tm_trace *trace, uint32_t step);

#endif
