/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SIDES_H
#define TM_SIDES_H

#include "reports/compare/compare.h"

/* What comparing asks of one summary.  All of it tolerates sections that are null or not there. */

/* The parts of a step, in the order in which they are told. */
enum tm_part {
    TM_PART_COMPUTE,
    TM_PART_COLLECTIVES,
    TM_PART_COPY_H2D,
    TM_PART_COPY_D2H,
    TM_PART_COPY_P2P,
    TM_PART_COPY_D2D,
    TM_PART_COPY_OTHER,
    TM_PART_IDLE_DEVICE_WAIT,
    TM_PART_IDLE_LAUNCH,
    TM_PART_IDLE_COMPILE,
    TM_PART_IDLE_INPUT,
    TM_PART_IDLE_SYNC,
    TM_PART_IDLE_GC,
    TM_PART_IDLE_PROFILER,
    TM_PART_IDLE_HOST,
    TM_PART_IDLE_UNRECORDED,
    TM_PARTS
};

struct tm_part_kind {
    const char *id, *title;
    const char *path; /* in steps.parts, and in each of steps.list */
};

extern const struct tm_part_kind tm_part_kind[TM_PARTS];

/* Chosen steps times the devices that each of them ran on; 1 for a run without steps and devices.
 */
double tm_device_steps(const struct tm_value *summary);
/* Steps were found: the session does not stand for one. */
bool tm_has_steps(const struct tm_value *summary);

/* steps.parts.total_ps and the parts, per step and device.
 * out: false: no device activity, or parts that are more than their total, as a summary from elsewhere may have */
bool tm_step_parts(const struct tm_value *summary, double part[TM_PARTS], double *total);

/* The model of the devices; "" where there are several, or it is not known. */
const char *tm_device_model(const struct tm_value *summary);

/* Of the contents of the files, in any order.  out: 16 hex digits; "" and false: a file has none */
enum { TM_RUN_FINGERPRINT_BYTES = 17 };

bool tm_fingerprint(const struct tm_value *summary, char out[TM_RUN_FINGERPRINT_BYTES]);

/* An element of `runs`: COMPARISON.md. */
void tm_add_compared_run(struct tm_value *list, const struct tm_compared_run *run);

/* What a document of several runs begins with: what it is, who made it, what the user says of it, its settings.
 * in: schema  "tracemill.comparison"; is_redacted  a summary of it was */
void tm_add_study_head(struct tm_value *root, const char *schema, const struct tm_compare_options *options,
                       bool is_redacted);

/* A time as a member; NaN = null with a reason. */
void tm_add_ps(struct tm_value *to, const char *key, double ps, const char *why);
/* Any number as a member; NaN = null with a reason. */
void tm_add_figure(struct tm_value *to, const char *key, double value, const char *why);

#endif
