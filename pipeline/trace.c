/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a trace, a table of fixed size, and its damage. */
#include "pipeline/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline/arguments.h"
#include "pipeline/discover.h"
#include "pipeline/record.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"

const char *const tm_device_kind_name[] = { [TM_DEVICE_GPU] = "gpu", [TM_DEVICE_TPU] = "tpu", [TM_DEVICE_CPU] = "cpu" };

const char *const tm_origin_name[TM_ORIGIN_COUNT] = {
    [TM_ORIGIN_XSPACE] = "xspace",
    [TM_ORIGIN_JSON_COPY] = "json copy",
    [TM_ORIGIN_PYTORCH] = "pytorch",
    [TM_ORIGIN_OTHER] = "other",
};

const char *const tm_accelerator_name[TM_ACCELERATOR_COUNT] = {
    [TM_ACCELERATOR_NONE] = "none",   [TM_ACCELERATOR_ASCEND] = "Ascend NPU",
    [TM_ACCELERATOR_MTIA] = "MTIA",   [TM_ACCELERATOR_GAUDI] = "Gaudi HPU",
    [TM_ACCELERATOR_AIU] = "IBM AIU", [TM_ACCELERATOR_OTHER] = "another type of device",
};

tm_status tm_trace_device(struct tm_trace *trace, enum tm_device_kind kind, int64_t ordinal, const char *name,
                          size_t length, uint32_t *index)
{
    struct tm_device *device;

    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == kind && trace->devices[i].ordinal == ordinal) {
            *index = i;
            return TM_OK;
        }
    if (trace->device_count == TM_DEVICES_MOST)
        return tm_fail(&trace->run->error, TM_ERR_LIMIT, -1, "the trace has more than %d devices", TM_DEVICES_MOST);
    device = &trace->devices[trace->device_count];
    *device = (struct tm_device){ .index = trace->device_count, .kind = (uint8_t)kind, .ordinal = ordinal };
    tm_clean_text(device->name, sizeof(device->name), name, length);
    (void)snprintf(device->id, sizeof(device->id), "%s/%s:%" PRId64, trace->host_name, tm_device_kind_name[kind],
                   ordinal);
    *index = trace->device_count++;
    return TM_OK;
}

static int by_ordinal(const void *a, const void *b)
{
    const struct tm_device *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

void tm_trace_sort_devices(struct tm_trace *trace, uint32_t first, uint32_t *place)
{
    qsort(trace->devices + first, trace->device_count - first, sizeof(*trace->devices), by_ordinal);
    for (uint32_t i = first; i < trace->device_count; i++) {
        if (place)
            place[trace->devices[i].index] = i;
        trace->devices[i].index = i;
    }
}

void tm_trace_order_devices(struct tm_trace *trace)
{
    uint32_t place[TM_DEVICES_MOST] = { 0 };

    tm_trace_sort_devices(trace, 0, place);
    for (uint64_t i = 0; i < tm_rows_count(trace->tracks); i++) {
        const uint32_t device = ((const struct tm_track *)tm_rows_at(trace->tracks, i))->device;

        if (device != TM_NONE && place[device] != device)
            ((struct tm_track *)tm_rows_change(trace->tracks, i))->device = place[device];
    }
}

uint64_t tm_trace_events(const struct tm_trace *trace)
{
    uint64_t events = 0;

    for (uint64_t i = 0; i < tm_rows_count(trace->tracks); i++)
        events += ((const struct tm_track *)tm_rows_at(trace->tracks, i))->events;
    return events;
}

tm_status tm_trace_add_common(struct tm_trace *trace, struct tm_arguments list, uint32_t *row)
{
    const uint64_t number = tm_rows_count(trace->common);
    const struct tm_common_arguments common = { tm_rows_count(trace->common_bytes), (uint32_t)list.length };

    *row = 0;
    if (!list.length)
        return TM_OK;
    if (number > UINT32_MAX)
        return tm_fail(&trace->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u different kinds of events",
                       UINT32_MAX);
    tm_rows_append_many(trace->common_bytes, list.bytes, list.length);
    tm_rows_append(trace->common, &common);
    *row = (uint32_t)number;
    return trace->run->error.status;
}

tm_status tm_trace_common(const struct tm_trace *trace, uint32_t row, uint8_t *buffer, struct tm_arguments *list)
{
    const struct tm_common_arguments *common;

    *list = (struct tm_arguments){ .length = 0 };
    if (!row)
        return TM_OK;
    common = tm_rows_at(trace->common, row);
    *list = (struct tm_arguments){ buffer, common->length };
    tm_rows_copy(trace->common_bytes, common->at, buffer, list->length);
    return trace->run->error.status;
}

tm_status tm_trace_hlo(const struct tm_trace *trace, const struct tm_config *config, const struct tm_hlo_op **op)
{
    *op = config->hlo ? tm_rows_at(trace->hlo_ops, config->hlo) : NULL;
    return *op ? trace->run->error.status : TM_OK;
}

tm_strid tm_trace_program(const struct tm_trace *trace, int64_t program_id)
{
    const struct tm_program_name *const found =
        trace->program_names ? tm_index_get(trace->program_names, (uint64_t)program_id) : NULL;

    return found ? found->name : 0;
}

void tm_trace_damage(struct tm_trace *trace, const char *format, ...)
{
    va_list args;

    if (trace->partial)
        return;
    va_start(args, format);
    (void)vsnprintf(trace->problem, sizeof(trace->problem), format, args);
    va_end(args);
    trace->partial = true;
}

/* The names of classes and directions as they are in summary.json and in the reports. */

/* clang-format off */
const char *const tm_class_name[TM_CLASS_COUNT] = {
    [TM_CLASS_UNRESOLVED] = "unresolved",
    [TM_CLASS_KERNEL] = "kernel",
    [TM_CLASS_COLLECTIVE] = "collective",
    [TM_CLASS_COPY] = "copy",
    [TM_CLASS_MEMSET] = "memset",
    [TM_CLASS_GRAPH] = "graph",
    [TM_CLASS_TPU_OP] = "tpu_op",
    [TM_CLASS_TPU_ASYNC] = "tpu_async",
    [TM_CLASS_CPU_OP] = "cpu_op",
    [TM_CLASS_DERIVED] = "derived",
    [TM_CLASS_DEVICE_OTHER] = "device_other",
    [TM_CLASS_STEP_MARKER] = "step_marker",
    [TM_CLASS_ALLOC] = "alloc",
    [TM_CLASS_FREE] = "free",
    [TM_CLASS_SYNC] = "sync",
    [TM_CLASS_LAUNCH] = "launch",
    [TM_CLASS_COMPILE] = "compile",
    [TM_CLASS_INPUT] = "input",
    [TM_CLASS_GC] = "gc",
    [TM_CLASS_PROFILER] = "profiler",
    [TM_CLASS_PYTHON] = "python",
    [TM_CLASS_RUNTIME] = "runtime",
    [TM_CLASS_ANNOTATION] = "annotation",
    [TM_CLASS_FRAMEWORK_OP] = "framework_op",
    [TM_CLASS_MODULE] = "module",
    [TM_CLASS_COUNTER] = "counter",
    [TM_CLASS_INSTANT] = "instant",
    [TM_CLASS_FLOW] = "flow",
    [TM_CLASS_ASYNC] = "async",
    [TM_CLASS_OTHER] = "other",
};

/* clang-format on */

/* clang-format off */
const char *const tm_precision_name[TM_PRECISION_COUNT] = {
    [TM_PRECISION_UNKNOWN] = "unknown", [TM_F64] = "f64",   [TM_F32] = "f32", [TM_TF32] = "tf32", [TM_BF16] = "bf16",
    [TM_F16] = "f16",                   [TM_F8] = "fp8",    [TM_INT8] = "s8", [TM_INT4] = "s4",
    [TM_OTHER_PRECISION] = "other",
};

const char *const tm_direction_name[TM_DIRECTION_COUNT] = {
    [TM_H2D] = "h2d",
    [TM_D2H] = "d2h",
    [TM_P2P] = "p2p",
    [TM_D2D] = "d2d",
    [TM_OTHER_DIRECTION] = "other",
};

/* clang-format on */
