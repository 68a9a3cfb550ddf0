/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_HOST_RIG_H
#define TM_TEST_HOST_RIG_H

#include "tests/support/stage_driver.h"

/* A host with threads on the bench: track 0 "main", 1 "worker", 2 a stream of a device; steps of 80 us that begin
 * every 100 us, the first at 0.  Nothing here asserts. */
enum { RIG_MAIN, RIG_WORKER, RIG_STREAM, RIG_TRACKS };
enum { RIG_LAUNCHES = 2048 }; /* numbers of launches, by the microsecond in which they begin; the last one is free */

struct host_rig {
    struct tm_run run;
    struct bench bench;
};

/* Open the stage; devices and steps may be changed until the host begins. */
tm_status host_rig_open(struct host_rig *r, const struct tm_stage_type *type) TM_MUST_USE;
void host_rig_close(struct host_rig *r); /* after anything */

/* A span of a thread; times in microseconds. */
struct tm_event host_rig_span(struct host_rig *r, uint32_t track, const char *name, enum tm_class class,
                              int64_t start_us, int64_t dur_us);
/* An activity of a device in step 0, launched by the main thread; launch_us < 0: it is unknown by whom,
 * else below RIG_LAUNCHES - 1. */
struct tm_event host_rig_work(struct host_rig *r, uint32_t device, enum tm_class class, int64_t start_us,
                              int64_t dur_us, int64_t launch_us);

#endif
