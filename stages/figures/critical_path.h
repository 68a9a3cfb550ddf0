/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CRITICAL_PATH_H
#define TM_CRITICAL_PATH_H

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/host_threads.h"

/* The chain of work that determines how long each analyzed step takes, from its end back to its start: activities of
 * devices, launches, work of host threads, waits.  Part of the stage device-time.
 * source: docs/metrics.md, "Critical path" */
enum tm_path_kind {
    TM_PATH_COMPUTE,
    TM_PATH_COLLECTIVE,
    TM_PATH_COPY,
    TM_PATH_CAUSES, /* from here on by enum tm_cause */
    TM_PATH_KINDS = TM_PATH_CAUSES + TM_CAUSE_COUNT
};

/* "compute", "collective", "copy", "device_wait", ... */
const char *tm_path_kind_name(int kind);

struct device_time;
struct tm_critical_path;

/* owns:   tm_critical_path_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error */
struct tm_critical_path *tm_critical_path_new(struct device_time *d) TM_MUST_USE;
void tm_critical_path_free(struct tm_critical_path *path);

/* After the lanes of the host have been made. */
void tm_critical_path_begin_host(struct tm_critical_path *path);
/* An activity of a lane of the present host, in the order of their starts. */
void tm_critical_path_take(struct tm_critical_path *path, uint32_t lane, const struct tm_event *event);
/* All activities that start before this time have been taken, and host threads are known up to it. */
void tm_critical_path_reach(struct tm_critical_path *path, int64_t at_ps);
/* No query of a host thread for a time before this one will follow. */
int64_t tm_critical_path_horizon(const struct tm_critical_path *path);
void tm_critical_path_end_host(struct tm_critical_path *path);

/* Adds the section critical_path. */
void tm_critical_path_report(struct tm_critical_path *path, struct tm_value *summary);
void tm_critical_path_save(struct tm_critical_path *path, struct tm_partial_writer *w);
void tm_critical_path_load(struct tm_critical_path *path, struct tm_partial_reader *r);

#endif
