/* SPDX-License-Identifier: Apache-2.0 */
/* Which stretch of a host's time counts. */
#include "stages/figures/host_window.h"

const char *const tm_host_basis_name[TM_HOST_BASIS_COUNT] = { "steps", "devices", "all" };

static void include(struct tm_host_window *window, int64_t start_ps, int64_t end_ps)
{
    if (start_ps < window->start_ps)
        window->start_ps = start_ps;
    if (end_ps > window->end_ps)
        window->end_ps = end_ps;
}

static void include_steps(const struct tm_trace *trace, struct tm_host_window *window)
{
    const struct tm_steps *steps = &trace->steps;

    for (uint64_t k = steps->chosen_begin; k < steps->chosen_end && k < steps->count && !tm_failed(trace->run); k++) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, k);

        include(window, mark->start_ps, mark->start_ps + mark->dur_ps);
    }
}

static void include_devices(const struct tm_trace *trace, struct tm_host_window *window)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->activities && device->chosen_end_ps > device->chosen_begin_ps)
            include(window, device->chosen_begin_ps, device->chosen_end_ps);
    }
}

tm_status tm_find_host_window(const struct tm_trace *trace, const struct tm_settings *settings,
                              struct tm_host_window *window)
{
    const bool is_marked = trace->steps.source == TM_STEPS_HOST;

    *window = (struct tm_host_window){ INT64_MAX, INT64_MIN, is_marked ? TM_HOST_STEPS : TM_HOST_DEVICES };
    if (!trace->steps.all && !settings->session_window) {
        if (is_marked)
            include_steps(trace, window);
        else
            include_devices(trace, window);
    }
    if (window->start_ps > window->end_ps)
        *window = (struct tm_host_window){ INT64_MIN, INT64_MAX, TM_HOST_ALL };
    return trace->run->error.status;
}
