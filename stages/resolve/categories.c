/* SPDX-License-Identifier: Apache-2.0 */
/* source: kineto's ActivityType.h names today's categories; those with a capital are of files before 2022 */
#include "stages/resolve/categories.h"

#include <string.h>

#define ROW(name, class, side)                                                                                         \
    {                                                                                                                  \
        name, sizeof(name) - 1,                                                                                        \
        {                                                                                                              \
            TM_CLASS_##class, TM_SIDE_##side, TM_ACCELERATOR_NONE                                                      \
        }                                                                                                              \
    }
#define UNKNOWN_DEVICE(name, accelerator)                                                                              \
    {                                                                                                                  \
        name, sizeof(name) - 1,                                                                                        \
        {                                                                                                              \
            TM_CLASS_DEVICE_OTHER, TM_SIDE_DEVICE, TM_ACCELERATOR_##accelerator                                        \
        }                                                                                                              \
    }

/* The most frequent ones come first. */
static const struct row {
    const char *name;
    size_t length;
    struct tm_category category;
} rows[] = {
    ROW("cpu_op", FRAMEWORK_OP, HOST),
    ROW("kernel", KERNEL, DEVICE),
    ROW("cuda_runtime", RUNTIME, HOST),
    ROW("python_function", PYTHON, HOST),
    ROW("cpu_instant_event", INSTANT, HOST),
    ROW("gpu_memcpy", COPY, DEVICE),
    ROW("gpu_memset", MEMSET, DEVICE),
    ROW("user_annotation", ANNOTATION, HOST),
    ROW("cuda_driver", RUNTIME, HOST),
    ROW("gpu_user_annotation", DERIVED, DEVICE), /* host annotations again, where their kernels ran */
    ROW("cuda_sync", RUNTIME, HOST),             /* drawn on the stream that is waited for; a wait by its name */
    ROW("overhead", PROFILER, HOST),
    ROW("Operator", FRAMEWORK_OP, HOST),
    ROW("Kernel", KERNEL, DEVICE),
    ROW("Runtime", RUNTIME, HOST),
    ROW("Memcpy", COPY, DEVICE),
    ROW("Memset", MEMSET, DEVICE),
    ROW("Trace", OTHER, OTHER), /* the recording as a whole */
    ROW("external_correlation", OTHER, OTHER),
    ROW("cuda_event", DEVICE_OTHER, DEVICE),
    ROW("cuda_profiler_range", DERIVED, DEVICE),
    ROW("xpu_scope_profiler", DERIVED, DEVICE),
    ROW("xpu_runtime", RUNTIME, HOST),
    ROW("xpu_driver", RUNTIME, HOST),
    ROW("xpu_sync", RUNTIME, HOST),
    ROW("hpu_runtime", RUNTIME, HOST),
    ROW("mtia_runtime", RUNTIME, HOST),
    ROW("glow_runtime", RUNTIME, HOST),
    ROW("privateuse1_runtime", RUNTIME, HOST),
    ROW("privateuse1_driver", RUNTIME, HOST),
    UNKNOWN_DEVICE("mtia_ccp_events", MTIA),
    UNKNOWN_DEVICE("mtia_insight", MTIA),
    UNKNOWN_DEVICE("mtia_counters", MTIA),
    UNKNOWN_DEVICE("hpu_op", GAUDI),
    UNKNOWN_DEVICE("collective_comm", OTHER),
};

bool tm_category_of(const char *cat, size_t length, struct tm_category *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].length == length && !memcmp(rows[i].name, cat, length)) {
            *out = rows[i].category;
            return true;
        }
    }
    return false;
}
