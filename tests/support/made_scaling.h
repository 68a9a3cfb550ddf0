/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_MADE_SCALING_H
#define TM_TEST_MADE_SCALING_H

#include "reports/scaling/speedup.h"

/* Scaling studies of summaries made by hand. */
enum { MADE_POINTS = 8, MADE_RUNS = 4, MADE_STEPS = 10 };

/* One point: what a step of each device takes, in microseconds. */
struct made_point {
    int devices;
    int64_t compute_us, collective_us, copy_us, idle_us;
    int runs;          /* 0 = one */
    int percent_apart; /* of several runs: each takes that much more, or less, than the one before,
                          around the middle */
    int said_devices;  /* 0 = those of the profile */
};

#define MADE(n, compute, collective, copy, idle)                                                                       \
    .devices = (n), .compute_us = (compute), .collective_us = (collective), .copy_us = (copy), .idle_us = (idle)

struct made_study {
    struct tm_run run;
    struct tm_doc *summary[MADE_POINTS][MADE_RUNS], *doc;
    struct tm_compared_run runs[MADE_POINTS][MADE_RUNS];
    struct tm_scaling_point point[MADE_POINTS];
    char label[MADE_POINTS][32], path[MADE_POINTS][MADE_RUNS][32];
    size_t points;
};

/* The summaries and the points; a point ends the list where its devices are 0. */
void made_study_begin(struct made_study *study, const struct made_point *point);
/* The root of the summary of a run, to be changed. */
struct tm_value *made_summary(struct made_study *study, size_t point, size_t run);
/* Fill study->doc.  Returns the root */
const struct tm_value *made_study_fill(struct made_study *study);
/* Nothing is left of the memory of the run. */
void made_study_end(struct made_study *study);

#endif
