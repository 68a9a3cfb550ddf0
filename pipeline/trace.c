/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a trace: a table of fixed size, in the order in which an input comes upon them. */
#include "pipeline/trace.h"

#include <inttypes.h>
#include <stdio.h>

const char *const tm_device_kind_name[] = { [TM_DEVICE_GPU] = "gpu", [TM_DEVICE_TPU] = "tpu", [TM_DEVICE_CPU] = "cpu" };

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
