/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures of a summary are sums over the analyzed steps, so that a run of three times the steps has three times
 * as much? Those of some sections whose last name is that of a sum.  What is of one event, of the session or a mean
 * is none. */
#include <string.h>

#include "reports/gates/judging.h"

static const char *const sections[] = {
    "total", "devices", "gaps", "kernels", "fusion", "occupancy", "programs", "transfers", "ops", "scopes",
    "window", "collectives", "host", "fallback", "roofline", "balance", "findings", "compile.inside_steps",
    "steps.parts",
};

/* Sums whose sections have them under one of these. */
static const char *const none_below[] = {
    ".outside.", ".steps.", ".longest[", ".largest[", ".worst[", ".first.", ".clock.",
};

static const char *const sums[] = {
    "count", "count_min", "activities", "executions", "kernels", "matched", "unmatched", "last_count", "events",
    "operations", "bytes", "flops", "total_ps", "self_ps", "busy_ps", "idle_ps", "compute_ps", "collective_ps",
    "copy_ps", "wait_ps", "wait_copy_ps", "wait_collective_ps", "wait_host_ps", "in_flight_ps", "hidden_ps",
    "span_ps", "window_ps", "kernel_ps", "gap_ps", "at_stake_ps", "saved_ps", "lost_ps", "operation_ps",
    "overhead_ps", "host_ps", "device_ps", "host_self_ps", "forward_ps", "backward_ps", "other_ps", "known_ps",
    "unknown_ps", "late_ps", "caused_ps", "op_ps", "matrix_ps", "tensor_core_ps", "move_ps", "moving_ps",
    "waiting_ps", "below_one_wave_ps",
};

/* Objects whose members are sums by cause, direction and the like. */
static const char *const groups[] = {
    "idle_ps", "exposed_copy_ps", "exposed_by_direction_ps", "aliases", "passes", "limiters", "bound_ps",
};

static bool is_one_of(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], text, length) == 0)
            return true;
    return false;
}

/* The path begins with these pieces. */
static bool begins_with(const char *path, const char *section)
{
    const size_t length = strlen(section);

    return strncmp(path, section, length) == 0 && (path[length] == '.' || path[length] == '[');
}

bool tm_figure_is_sum(const char *path)
{
    const char *last = path, *before = path;
    size_t length = 0, before_length = 0;
    bool is_in_section = false;

    if (strcmp(path, "kpis[unexpected_compiles].value") == 0)
        return true;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        is_in_section = is_in_section || begins_with(path, sections[i]);
    for (size_t i = 0; i < sizeof(none_below) / sizeof(none_below[0]); i++)
        is_in_section = is_in_section && !strstr(path, none_below[i]);
    if (!is_in_section)
        return false;
    for (const char *at = path; *at;) {
        const size_t piece = tm_figure_piece(at);

        if (piece == 0)
            return false;
        if (*at != '[') {
            before = last;
            before_length = length;
            last = at + (*at == '.');
            length = piece - (*at == '.');
        }
        at += piece;
    }
    return is_one_of(last, length, sums, sizeof(sums) / sizeof(sums[0])) ||
           is_one_of(before, before_length, groups, sizeof(groups) / sizeof(groups[0])) ||
           (length >= 10 && strncmp(last, "exposed_", 8) == 0 && memcmp(last + length - 3, "_ps", 3) == 0);
}
