/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/summary_query.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/format/format.h"

const char *tm_reason_of(const struct tm_value *summary, const char *path)
{
    char part[128];
    char *dot;

    (void)snprintf(part, sizeof(part), "%s", path);
    do {
        const struct tm_value *v = tm_path(summary, part);
        const char *why = v && tm_type_of(v) == TM_NULL ? tm_why(v) : "";

        if (*why)
            return why;
        dot = strrchr(part, '.');
        if (dot)
            *dot = '\0';
    } while (dot);
    return "not recorded in this profile";
}

int64_t tm_query_window_ps(const struct tm_value *summary)
{
    const int64_t window_ps = tm_int(tm_path(summary, "window.total_ps"));

    return window_ps > 0 ? window_ps : 0;
}

double tm_share_pct(int64_t part_ps, int64_t whole_ps)
{
    if (part_ps <= 0 || whole_ps <= 0)
        return 0;
    return part_ps >= whole_ps ? 100 : 100.0 * (double)part_ps / (double)whole_ps;
}

bool tm_query_is_session(const struct tm_value *summary)
{
    return strcmp(tm_text(tm_path(summary, "steps.source")), "session") == 0;
}

bool tm_query_checks_hold(const struct tm_value *summary)
{
    const struct tm_value *list = tm_get(summary, "checks");

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *holds = tm_get(tm_at(list, i), "holds");

        if (tm_has(holds) && !tm_is(holds))
            return false;
    }
    return true;
}

int64_t tm_query_activities(const struct tm_value *summary)
{
    static const char *const classes[] = { "kernel", "copy", "memset", "collective", "graph", "tpu_op", "cpu_op" };
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        sum = tm_sum_times(sum, tm_query_class_count(summary, classes[i]));
    return sum;
}

bool tm_query_is_too_little(const struct tm_value *summary)
{
    enum { LEAST_ACTIVITIES = 20, LEAST_BUSY_PS = 1000000000 };
    const struct tm_value *devices = tm_get(summary, "devices");
    const bool is_marked =
        !tm_query_is_session(summary) && strcmp(tm_text(tm_path(summary, "steps.source")), "module") != 0;
    int64_t most_ps = 0;

    if (tm_length(devices) == 0 || !tm_has(tm_path(summary, "coverage.classes")))
        return false; /* a complete absence is reported separately */
    for (size_t i = 0; i < tm_length(devices); i++)
        if (tm_int(tm_get(tm_at(devices, i), "busy_ps")) > most_ps)
            most_ps = tm_int(tm_get(tm_at(devices, i), "busy_ps"));
    return tm_query_activities(summary) < LEAST_ACTIVITIES || (most_ps < LEAST_BUSY_PS && !is_marked);
}

bool tm_query_has_trace(const struct tm_value *summary)
{
    return tm_length(tm_path(summary, "input.hosts")) > 0 || tm_length(tm_path(summary, "memory.device_profiles")) == 0;
}

const char *tm_query_platform(const struct tm_value *summary)
{
    const char *platform = tm_text(tm_path(summary, "environment.platform"));
    const char *kind = tm_text(tm_path(summary, "devices[0].kind"));

    if (*platform)
        return platform;
    return *kind ? kind : "none";
}

bool tm_query_is_platform(const struct tm_value *summary, const char *platform)
{
    return strcmp(tm_query_platform(summary), platform) == 0;
}

static bool is_of_kind(const struct tm_value *file, const char *kind)
{
    return strcmp(tm_text(tm_get(file, "kind")), kind) == 0;
}

bool tm_query_is_json(const struct tm_value *summary)
{
    const struct tm_value *input = tm_get(summary, "input");
    const struct tm_value *files = tm_get(tm_has(input) ? input : summary, "files");

    for (size_t i = 0; i < tm_length(files); i++) {
        if (!is_of_kind(tm_at(files, i), "chrome_json") && !is_of_kind(tm_at(files, i), "perfetto"))
            return false;
    }
    return tm_length(files) > 0;
}

const char *tm_query_framework(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "environment.hosts");
    const char *all = tm_text(tm_get(tm_at(hosts, 0), "framework"));

    for (size_t i = 1; i < tm_length(hosts); i++) {
        if (strcmp(tm_text(tm_get(tm_at(hosts, i), "framework")), all) != 0)
            all = "";
    }
    if (*all)
        return all;
    return tm_query_is_json(summary) ? "" : "jax";
}

int64_t tm_query_class_count(const struct tm_value *summary, const char *class)
{
    return tm_int(tm_get(tm_path(summary, "coverage.classes"), class));
}

bool tm_query_unknown_devices(const struct tm_value *summary, char *out, size_t room, int64_t *events)
{
    const struct tm_value *list = tm_path(summary, "coverage.unknown_devices");
    size_t used = 0;

    *events = 0;
    *out = '\0';
    for (size_t i = 0; i < tm_length(list) && used < room; i++) {
        const struct tm_value *device = tm_at(list, i);
        const int length = snprintf(out + used, room - used, "%s%s", i ? " and " : "", tm_text(tm_get(device, "name")));

        used += length > 0 ? (size_t)length : 0;
        *events = tm_sum_times(*events, tm_int(tm_get(device, "events")));
    }
    return tm_length(list) > 0;
}

enum { LOST_LEAST = 20, LOST_SHARE = 20 }; /* launches; one in this many */

bool tm_query_lost_kernels(const struct tm_value *summary, struct tm_query_kernels *kernels)
{
    static const char *const work[] = { "kernel", "collective", "graph" }, *const others[] = { "copy", "memset" };
    int64_t lost, all;

    kernels->launches = tm_int(tm_path(summary, "coverage.kernel_launches"));
    kernels->recorded = 0;
    if (tm_length(tm_path(summary, "coverage.unknown_devices")) > 0) /* they may have run there */
        return false;
    for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
        kernels->recorded = tm_sum_times(kernels->recorded, tm_query_class_count(summary, work[i]));
    all = kernels->recorded;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        all = tm_sum_times(all, tm_query_class_count(summary, others[i]));
    if (kernels->launches <= 0 || (kernels->recorded > 0 && all >= kernels->launches))
        return false;
    lost = kernels->launches - all;
    return kernels->recorded == 0 || (lost >= LOST_LEAST && lost >= kernels->launches / LOST_SHARE);
}

const struct tm_value *tm_query_capped_host(const struct tm_value *summary)
{
    /* XLA's default with CUPTI and with ROCm, and that of its newer ROCm tracer */
    static const int64_t caps[] = { 2097152, 4194304 };
    const struct tm_value *hosts = tm_path(summary, "environment.hosts");

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *host = tm_at(hosts, i);

        if (strcmp(tm_text(tm_get(host, "framework")), "pytorch") == 0)
            continue;
        for (size_t k = 0; k < sizeof(caps) / sizeof(caps[0]); k++)
            if (tm_int(tm_get(host, "device_events")) == caps[k])
                return host;
    }
    return NULL;
}

const char *tm_query_copy_note(const struct tm_value *summary, bool *is_converted)
{
    const struct tm_value *input = tm_path(summary, "input.files");
    const struct tm_value *files = input ? input : tm_get(summary, "files"); /* the summary, or what `inspect` found */

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *const file = tm_at(files, i), *notes = tm_get(file, "notes");
        const bool is_perfetto = is_of_kind(file, "perfetto");

        if (is_converted)
            *is_converted = is_perfetto;
        if (tm_length(notes) == 0)
            continue;
        if (is_of_kind(file, "chrome_json") || (is_perfetto && strcmp(tm_query_framework(summary), "jax") == 0))
            return tm_text(tm_at(notes, 0));
    }
    return NULL;
}

const char *tm_file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *tm_window_of_finding(char *out, const struct tm_value *finding)
{
    const int64_t devices = tm_int(tm_get(finding, "devices"));
    char count[TM_FORMAT_BYTES];

    if (devices > 0) /* of some of them */
        (void)snprintf(out, TM_FORMAT_BYTES, "the window%s of %.12s device%s", tm_format_plural((uint64_t)devices),
                       tm_format_count(count, devices), tm_format_plural((uint64_t)devices));
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "the window");
    return out;
}

char *tm_short_name(char *out, const char *name)
{
    char visible[1024]; /* only the start of a longer name is examined */
    const size_t length = strnlen(name, sizeof(visible) - 1);

    (void)tm_format_visible(visible, sizeof(visible), name, length);
    (void)tm_format_middle(out, TM_SHORT_NAME_BYTES, visible, 60);
    return out;
}
