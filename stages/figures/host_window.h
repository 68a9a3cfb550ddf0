/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_WINDOW_H
#define TM_HOST_WINDOW_H

#include "pipeline/stage.h"

/* What of a host's own time counts: its threads run on before, between and after the steps.
 * source: docs/metrics.md, "Host" */
enum tm_host_basis {
    TM_HOST_STEPS,   /* from the begin of the first chosen step marker to the end of the last one */
    TM_HOST_DEVICES, /* no markers on the host: from the first to the last chosen activity of its devices */
    TM_HOST_ALL,     /* neither, or all steps or the session were asked for */
    TM_HOST_BASIS_COUNT
};
extern const char *const tm_host_basis_name[TM_HOST_BASIS_COUNT]; /* "steps", "devices", "all" */

struct tm_host_window {
    int64_t start_ps, end_ps; /* of everything: INT64_MIN and INT64_MAX */
    enum tm_host_basis basis;
};

/* errors: of reading the steps' rows; the status is that of the run */
tm_status tm_find_host_window(const struct tm_trace *trace, const struct tm_settings *settings,
                              struct tm_host_window *window);

/* Cut a span to the window.  out: false where nothing of it lies in it */
static inline bool tm_cut_to_window(const struct tm_host_window *window, int64_t *start_ps, int64_t *end_ps)
{
    if (*start_ps < window->start_ps)
        *start_ps = window->start_ps;
    if (*end_ps > window->end_ps)
        *end_ps = window->end_ps;
    return *start_ps < *end_ps;
}

/* Of a GPU or TPU, and so on no thread. */
static inline bool tm_is_on_accelerator(const struct tm_trace *trace, const struct tm_event *event)
{
    return event->device < trace->device_count && trace->devices[event->device].kind != TM_DEVICE_CPU;
}

/* A span of a host's thread, with a length: no counter, arrow, allocation or span of no thread. */
static inline bool tm_is_host_span(const struct tm_event *event)
{
    const uint32_t others = TM_CLASS_BIT(TM_CLASS_ALLOC) | TM_CLASS_BIT(TM_CLASS_FREE) |
                            TM_CLASS_BIT(TM_CLASS_COUNTER) | TM_CLASS_BIT(TM_CLASS_INSTANT) |
                            TM_CLASS_BIT(TM_CLASS_FLOW) | TM_CLASS_BIT(TM_CLASS_ASYNC) |
                            TM_CLASS_BIT(TM_CLASS_DERIVED) | TM_CLASS_BIT(TM_CLASS_DEVICE_OTHER);

    return event->record.kind == TM_SPAN && event->record.dur_ps > 0 && !(TM_CLASS_BIT(event->record.class) & others);
}

#endif
