/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_LIMITS_H
#define TM_DEVICE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/trace.h"

/* The peak rates of a device: dense matmuls (no sparsity) by type, vector units, device memory. */
struct tm_peaks {
    double matrix[TM_PRECISION_COUNT]; /* FLOP/s of the Tensor Cores or the MXU; 0 = they do not support that type */
    double vector_f32, vector_f64;     /* FLOP/s of the other units; 0 = not known */
    double bandwidth;                  /* bytes/s; 0 = not known */
    char flops_source[200];            /* where the figures are from; why there are none */
    char bandwidth_source[200];
};

/* Properties of a device in a trace; "" and 0 = not recorded. */
struct tm_peak_question {
    const char *model, *vendor;
    uint8_t kind; /* enum tm_device_kind */
    uint64_t core_count, clock_khz, memory_bytes, memory_bandwidth_bytes;
    uint32_t capability_major, capability_minor;
    double peak_tflops; /* of the type that the device is made for: bf16 */
};

/* The peaks of a device: from the profile if that is sufficient, else from the data sheet of its model.
 * out:    *peaks  all members; the two sources are never ""
 * source: the tables in device_limits.c */
void tm_peaks_of(const struct tm_peak_question *device, struct tm_peaks *peaks);

/* The peak for work of a type: of the Tensor Cores or the MXU for matmuls (where they have the type), else of the
 * vector units.  0 = not known. */
double tm_peak_flops(const struct tm_peaks *peaks, enum tm_precision precision, bool is_matrix);

/* The resources of one SM of an NVIDIA GPU, and how many blocks of a kernel fit on it. */
struct tm_sm_limits {
    uint32_t threads, blocks, registers; /* at most, resident at once */
    uint32_t shared_bytes;
    uint32_t shared_reserved_bytes; /* of each block, by the driver */
    uint32_t shared_unit_bytes;     /* shared memory is allocated in such units */
};

/* What keeps more blocks from running at once on an SM. */
enum tm_occupancy_limiter {
    TM_LIMITER_REGISTERS,
    TM_LIMITER_SHARED_MEMORY,
    TM_LIMITER_BLOCK_SIZE, /* threads of a block do not divide those of the SM, or are too few */
    TM_LIMITER_GRID,       /* there are no more blocks */
    TM_LIMITER_NONE,       /* it is full */
    TM_LIMITER_UNKNOWN,
    TM_LIMITER_COUNT
};
extern const char *const tm_limiter_name[TM_LIMITER_COUNT];

/* The properties of a launch that determine its occupancy. */
struct tm_launch_shape {
    uint64_t blocks;          /* of the grid */
    uint32_t threads;         /* of a block */
    uint32_t registers;       /* of a thread */
    uint64_t shared_bytes;    /* of a block */
    uint64_t multiprocessors; /* of the device; 0 = not known */
    uint32_t major, minor;    /* compute capability; 0 = not known */
    uint32_t recorded_milli;  /* occupancy, thousandths of a percent */
};

/* How a launch fills the device. */
struct tm_occupancy {
    enum tm_occupancy_limiter limiter;
    uint32_t resident; /* blocks at once on an SM; 0 = not known */
};

/* Blocks and threads of a grid; nothing else. */
struct tm_launch_shape tm_launch_shape_of(const uint32_t grid[3], const uint32_t block[3]);

/* Compute the occupancy by the rules of CUDA's occupancy calculator, and compare it with the recorded one: if the two
 * differ, neither limiter nor resident blocks are reported. */
struct tm_occupancy tm_occupancy_of(const struct tm_launch_shape *shape);

/* The occupancy of a launch as the profile records it.  PyTorch's estimate is in whole percents and ignores shared
 * memory beyond 48 KiB, for which it writes 0: where the SMs of the device are known, a launch that
 * does not fill them gets the occupancy of its warps, and one for which the estimate says that no block fits is
 * computed by CUDA's rules.
 * out: *milli  thousandths of a percent; returns false if it is unknown */
bool tm_recorded_occupancy(const struct tm_config *config, const struct tm_device *device, uint32_t *milli);

#endif
