/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SAMPLE_SUMMARY_H
#define TM_SAMPLE_SUMMARY_H

#include "pipeline/doc/doc.h"

/* Summaries made by hand, for tests of the reports. */
enum tm_sample_profile {
    TM_SAMPLE_GPU,     /* two GPUs, 30 steps, all sections, 500 kernel rows and a rest */
    TM_SAMPLE_TPU,     /* one TPU with waits, steps as rows, no kernels */
    TM_SAMPLE_CPU,     /* host only: host_span steps, most device figures null with a reason */
    TM_SAMPLE_EMPTY,   /* no device, no step; sections null or absent */
    TM_SAMPLE_HOSTILE, /* the GPU run with names that attack the page, partial */
    TM_SAMPLES
};

extern const char *const tm_sample_name[TM_SAMPLES];

/* The summary, NULL when memory ends (run->error). */
struct tm_doc *tm_sample_summary(struct tm_run *run, enum tm_sample_profile which);

#endif
