/* SPDX-License-Identifier: Apache-2.0 */
/* What events of an allocator tell of it, as counters of its device.  No memory of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/output/export/exporter_series.h"

enum { NAME_MOST = 1024 };

static uint32_t find_device(const struct tm_trace *trace, enum tm_device_kind kind, int64_t ordinal)
{
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == kind && trace->devices[i].ordinal == ordinal)
            return i;
    return TM_NONE;
}

/* The device that an allocator is of, as its name tells (XLA: GPU_0_bfc; PyTorch: gpu:0, or cuda:0), or its number on
 * the host; TM_NONE = none. */
static tm_status device_of(struct tm_exporter *e, const struct tm_allocation *a, uint32_t *device)
{
    static const char *const begins[] = { "GPU_", "gpu:", "GPU:", "cuda:", "CUDA:" };
    const char *text;
    size_t length;
    tm_status st;

    *device = TM_NONE;
    if (!a->allocator) {
        if (a->has & TM_HAS_INDEX_ON_HOST)
            *device = find_device(e->trace, TM_DEVICE_TPU, a->index_on_host);
        return TM_OK;
    }
    st = tm_names_text(e->names, a->allocator, NAME_MOST, &text, &length);
    for (size_t i = 0; st == TM_OK && i < sizeof(begins) / sizeof(begins[0]); i++) {
        const size_t skip = strlen(begins[i]);

        if (length > skip && memcmp(text, begins[i], skip) == 0 && text[skip] >= '0' && text[skip] <= '9')
            *device = find_device(e->trace, TM_DEVICE_GPU, strtoll(text + skip, NULL, 10));
    }
    return st;
}

tm_status tm_exporter_take_allocation(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_event *const event = item->event;
    struct tm_counter_key c = { .process = item->track->process, .unit = e->bytes_unit, .order = TM_COUNTER_RECORDED,
                         .only_changes = true, .event = event };
    struct tm_allocation a;
    char name[48];
    uint32_t device;
    tm_status st;

    if (event->record.args_length != sizeof(a))
        return TM_OK;
    memcpy(&a, event->args, sizeof(a));
    st = device_of(e, &a, &device);
    if (device != TM_NONE)
        c.process = tm_out_rows_device_process(e->rows, device);
    c.name = a.allocator;
    if (st == TM_OK && !c.name) {
        const int length = a.has & TM_HAS_INDEX_ON_HOST
                               ? snprintf(name, sizeof(name), "device %lld", (long long)a.index_on_host)
                               : snprintf(name, sizeof(name), "allocator");

        st = tm_names_put(e->names, name, (size_t)length, &c.name);
    }
    const struct { uint32_t has; const char *what; int64_t bytes; } states[] = {
        { TM_HAS_ALLOCATED, " bytes allocated", a.bytes_allocated },
        { TM_HAS_RESERVED, " bytes reserved", a.bytes_reserved },
        { TM_HAS_AVAILABLE, " bytes available", a.bytes_available },
        { TM_HAS_PEAK, " peak bytes in use", a.peak_bytes_in_use },
    };
    for (size_t i = 0; st == TM_OK && i < sizeof(states) / sizeof(states[0]); i++) {
        const struct tm_counter_value value = tm_whole_value(states[i].bytes);

        c.suffix = states[i].what;
        if (a.has & states[i].has)
            st = tm_exporter_count(e, &c, &value, item->begin_ps);
    }
    return st;
}
