/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PEAKS_H
#define TM_PEAKS_H

#include <stdbool.h>

#include "pipeline/trace.h"

/* What a device can do at most: dense products (no sparsity) by type, vector units, device memory. */
struct tm_peaks {
    double matrix[TM_PRECISION_COUNT]; /* FLOP/s of the matrix units; 0 = they do not compute in that type */
    double vector_f32, vector_f64;     /* FLOP/s of the other units; 0 = not known */
    double bandwidth;                  /* bytes/s; 0 = not known */
    char flops_source[200];            /* where the figures are from; why there are none */
    char bandwidth_source[200];
};

/* What a trace tells of a device; "" and 0 = not recorded. */
struct tm_peak_question {
    const char *model, *vendor;
    uint8_t kind; /* enum tm_device_kind */
    uint64_t core_count, clock_khz, memory_bytes, memory_bandwidth_bytes;
    uint32_t capability_major, capability_minor;
    double peak_tflops; /* of the type that the device is made for: bf16 */
};

/* The peaks of a device: from what the profile says of it, where that is enough, else from the data sheet of its model.
 * out:    *peaks  all of it; the two sources are never ""
 * source: the tables in peaks.c and peaks.c */
void tm_peaks_of(const struct tm_peak_question *device, struct tm_peaks *peaks);

/* The peak for work of a type: of the matrix units for matrix products (where they have the type), else of the vector
 * units.  0 = not known. */
double tm_peak_flops(const struct tm_peaks *peaks, enum tm_precision precision, bool is_matrix);

/* --- the two tables --- */

#endif
