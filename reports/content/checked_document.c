/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a check. */
#include <stdio.h>

#include "reports/content/document.h"
#include "reports/content/say.h"

static const struct tm_section *const sections[] = {
    &tm_gates_section,
    &tm_missing_checked_section,
    &tm_definitions_section,
};

static void add_baseline(struct tm_front_page *front, const struct tm_value *baseline)
{
    const size_t runs = tm_length(tm_get(baseline, "runs"));
    const char *label = tm_text(tm_get(baseline, "label"));

    if (tm_has(baseline))
        tm_front_say_fact(front, "Baseline", "%.300s, %zu run%s", *label ? label : "given", runs,
                 tm_format_plural(runs));
}

static void make_front(struct tm_front_page *front, const struct tm_value *check)
{
    const struct tm_value *input = tm_get(check, "input"), *counts = tm_get(check, "counts"),
                          *file = tm_get(check, "gate_file");
    const char *run = tm_text(tm_get(input, "run"));
    char title[TM_FRONT_TITLE_BYTES];

    (void)snprintf(title, sizeof(title), "Check of %.200s", *run ? run : "a run");
    tm_front_begin(front, check, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%zu gate%s",
                   tm_length(tm_get(check, "gates")),
                   tm_format_plural(tm_length(tm_get(check, "gates"))));
    tm_front_say_fact(
        front, "Result", "%lld failed, %lld not known, %lld skipped, %lld passed",
        (long long)tm_int(tm_get(counts, "failed")), (long long)tm_int(tm_get(counts, "unknown")),
        (long long)tm_int(tm_get(counts, "skipped")), (long long)tm_int(tm_get(counts, "passed")));
    add_baseline(front, tm_get(check, "baseline"));
    if (tm_has(file))
        tm_front_say_fact(front, "Gate file", "%.400s", tm_text(file));
    if (tm_has(tm_get(input, "path")))
        tm_front_say_fact(front, "Input", "%.400s", tm_text(tm_get(input, "path")));
}

const struct tm_document tm_check_document = {
    .schema = "tracemill.check",
    .what = "check",
    .kicker = "RESULT OF A CHECK",
    .made_by = "tracemill check",
    .file = "check",
    .findings_title = "Findings",
    .stake_of = "device time",
    .data = "check.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
};
