/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study. */
#include <stdio.h>
#include <string.h>

#include "reports/content/document.h"
#include "reports/content/say.h"

static const struct tm_section *const sections[] = {
    &tm_limits_section, &tm_speedup_section,     &tm_scaled_step_section, &tm_exchange_section,
    &tm_fit_section,    &tm_scaled_runs_section, &tm_missing_scaled_section,     &tm_definitions_section,
};

/* "" where the points are of several models. */
static const char *same_model(const struct tm_value *points)
{
    const char *model = tm_text(tm_get(tm_at(points, 0), "device_model"));

    for (size_t i = 1; i < tm_length(points); i++)
        if (strcmp(tm_text(tm_get(tm_at(points, i), "device_model")), model) != 0)
            return "";
    return model;
}

/* "1, 2, 4, 8 × NVIDIA H100" */
static void tell_devices(char *out, const struct tm_value *points)
{
    enum { LISTED = 12 };
    const char *model = same_model(points);
    size_t used = 0;

    for (size_t i = 0; i < tm_length(points) && i < LISTED; i++) {
        (void)snprintf(out + used, TM_FRONT_BYTES - used, "%s%lld", i ? ", " : "",
                       (long long)tm_int(tm_get(tm_at(points, i), "devices")));
        used = strlen(out);
    }
    (void)snprintf(out + used, TM_FRONT_BYTES - used, "%s%s%.80s",
                   tm_length(points) > LISTED ? " ..." : "", *model ? " × " : "", model);
}

/* "29.7 ms with 1 device, 3.67 ms with 8" */
static void tell_steps(char *out, const struct tm_value *points)
{
    const struct tm_value *first = tm_at(points, 0), *last = tm_at(points, tm_length(points) - 1);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    if (tm_has(tm_get(first, "step_ps")) && tm_has(tm_get(last, "step_ps")))
        (void)snprintf(out, TM_FRONT_BYTES, "%s with %lld device%s, %s with %lld",
                       tm_format_time(a, tm_int(tm_get(first, "step_ps"))),
                       (long long)tm_int(tm_get(first, "devices")),
                       tm_format_plural(tm_int(tm_get(first, "devices"))),
                       tm_format_time(b, tm_int(tm_get(last, "step_ps"))),
                       (long long)tm_int(tm_get(last, "devices")));
    else
        (void)snprintf(out, TM_FRONT_BYTES, "not recorded");
}

static void make_front(struct tm_front_page *front, const struct tm_value *scaling)
{
    const struct tm_value *points = tm_get(scaling, "points");
    const char *mode = tm_text(tm_get(scaling, "mode"));
    char title[TM_FRONT_TITLE_BYTES];
    size_t runs = 0;

    for (size_t i = 0; i < tm_length(points); i++)
        runs += tm_length(tm_get(tm_at(points, i), "runs"));
    (void)snprintf(title, sizeof(title), "Scaling from %.200s",
                   tm_text(tm_path(scaling, "input.run")));
    tm_front_begin(front, scaling, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%zu runs on %zu numbers of devices",
                   runs, tm_length(points));
    tell_devices(tm_front_add_fact(front, "Devices"), points);
    tell_steps(tm_front_add_fact(front, "Step"), points);
    (void)snprintf(tm_front_add_fact(front, "Kind"), TM_FRONT_BYTES, "%s",
                   strcmp(mode, "strong") == 0 ? "strong scaling: the same work on more devices"
                   : strcmp(mode, "weak") == 0 ? "weak scaling: the work grows with the devices"
                                               : "neither strong nor weak scaling");
}

const struct tm_document tm_scaling_document = {
    .schema = "tracemill.scaling",
    .what = "scaling study",
    .kicker = "SCALING STUDY",
    .made_by = "tracemill scaling",
    .file = "scaling",
    .findings_title = "What limits the scaling",
    .stake_of = "a step",
    .data = "scaling.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
    .first_chart = { TM_CHART_SPEEDUP },
    .first_charts = 1,
};
