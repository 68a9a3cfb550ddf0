/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of runs. */
#include <stdio.h>
#include <string.h>

#include "reports/content/document.h"
#include "reports/content/say.h"
#include "reports/content/side_columns.h"

enum { SIDES_TOLD = 4 };

static const struct tm_section *const sections[] = {
    &tm_causes_section,          &tm_change_section,           &tm_waterfall_section,
    &tm_compared_figures_section, &tm_compared_ops_section,    &tm_compared_kernels_section,
    &tm_compared_scopes_section, &tm_compared_collectives_section, &tm_compared_transfers_section,
    &tm_compared_gaps_section,   &tm_compared_compile_section, &tm_compared_devices_section,
    &tm_compared_runs_section,   &tm_missing_compared_section,          &tm_definitions_section,
};

/* "run_7: 12 steps on 2 devices, mean 12.4 ms, median 12.3 ms" */
static void tell_side(char *out, const struct tm_value *comparison, size_t at)
{
    const struct tm_value *side = tm_at(tm_get(comparison, "sides"), at), *runs = tm_get(side, "runs"),
                          *first = tm_at(runs, 0), *chosen = tm_path(first, "steps.chosen"),
                          *model = tm_get(side, "device_model"), *devices = tm_get(side, "devices"),
                          *mean = tm_get(side, "mean_ps"), *median = tm_get(side, "median_ps");
    char label[TM_SIDE_TITLE_BYTES], time[TM_FORMAT_BYTES];
    size_t used;

    (void)snprintf(out, TM_FRONT_BYTES, "%s", tm_side_label(comparison, at, label));
    used = strlen(out);
    if (tm_length(runs) > 1)
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %zu runs", tm_length(runs));
    else if (tm_has(chosen))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %lld step%s", (long long)tm_int(chosen),
                       tm_format_plural(tm_int(chosen)));
    used = strlen(out);
    if (tm_has(mean))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", mean %s", tm_format_time(time, tm_int(mean)));
    used = strlen(out);
    if (tm_has(median))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", median %s", tm_format_time(time, tm_int(median)));
    used = strlen(out);
    if (tm_int(devices) > 0)
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %lld × %.80s", (long long)tm_int(devices),
                       tm_has(model) ? tm_text(model) : "device");
}

static void make_front(struct tm_front_page *front, const struct tm_value *comparison)
{
    char base[TM_SIDE_TITLE_BYTES], new[TM_SIDE_TITLE_BYTES], title[TM_FRONT_TITLE_BYTES];
    const struct tm_value *notes = tm_get(comparison, "notes");
    const size_t sides = tm_side_count(comparison);

    tm_side_label(comparison, 0, base);
    if (sides == 2)
        (void)snprintf(title, sizeof(title), "%.110s against %.110s", tm_side_label(comparison, 1, new), base);
    else
        (void)snprintf(title, sizeof(title), "%zu runs against %.110s", sides > 0 ? sides - 1 : 0, base);
    tm_front_begin(front, comparison, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "Comparison of %zu %s", sides,
                   tm_length(tm_path(comparison, "sides[0].runs")) > 1 ? "groups of runs" : "runs");
    for (size_t i = 0; i < sides && i < SIDES_TOLD; i++)
        tell_side(tm_front_add_fact(front, i ? "New" : "Base"), comparison, i);
    for (size_t i = 0; i < tm_length(notes); i++)
        if (strcmp(tm_text(tm_get(tm_at(notes, i), "id")), "run_to_run") == 0)
            tm_front_say_fact(front, "Note", "%.480s", tm_text(tm_get(tm_at(notes, i), "text")));
}

#define COMPARISON(chart)                                       \
    {                                                           \
        .schema = "tracemill.comparison",                       \
        .what = "comparison",                                   \
        .kicker = "COMPARISON OF RUNS",                         \
        .made_by = "tracemill compare",                         \
        .file = "compare",                                      \
        .findings_title = "Largest causes",                     \
        .stake_of = "a step",                                   \
        .data = "compare.json",                                 \
        .sections = sections,                                   \
        .section_count = sizeof(sections) / sizeof(sections[0]), \
        .make_front = make_front,                               \
        .first_chart = { chart },                               \
        .first_charts = 1,                                      \
    }

const struct tm_document tm_comparison_document = COMPARISON(TM_CHART_WATERFALL);
/* Of three sides and more: the steps of all of them stand first, not a waterfall for each. */
const struct tm_document tm_comparison_of_many_document = COMPARISON(TM_CHART_SIDES);
