/* SPDX-License-Identifier: Apache-2.0 */
/* The last night of a batch, and what came with it. */
#include <stdio.h>

#include "reports/content/document.h"
#include "reports/content/say.h"

static const struct tm_section *const sections[] = {
    &tm_night_findings_section, &tm_night_changes_section, &tm_night_failures_section,
    &tm_night_gates_section,    &tm_night_trends_section,  &tm_night_jobs_section,
    &tm_night_runs_section,     &tm_missing_night_section, &tm_definitions_section,
};

static long long count_of(const struct tm_value *night, const char *key)
{
    return (long long)tm_int(tm_get(tm_get(night, "counts"), key));
}

static void make_front(struct tm_front_page *front, const struct tm_value *night)
{
    const char *date = tm_text(tm_get(night, "night"));
    const struct tm_value *counts = tm_path(night, "gates.counts");
    char title[TM_FRONT_TITLE_BYTES];

    (void)snprintf(title, sizeof(title), "%s%.32s", *date ? "Night of " : "No nights yet", date);
    tm_front_begin(front, night, title);
    if (!*date)
        return;
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%s%.32s%s%lld run%s of %lld job%s",
                   *tm_text(tm_path(night, "report.title")) ? "Night of " : "",
                   *tm_text(tm_path(night, "report.title")) ? date : "", *tm_text(tm_path(night, "report.title")) ? ": " : "",
                   count_of(night, "runs"), tm_format_plural(count_of(night, "runs")), count_of(night, "jobs"),
                   tm_format_plural(count_of(night, "jobs")));
    tm_front_say_fact(front, "Runs", "%lld done, %lld partial, %lld refused, %lld failed, %lld missing", count_of(night, "done"),
             count_of(night, "partial"), count_of(night, "refused"), count_of(night, "failed"), count_of(night, "missing"));
    tm_front_say_fact(front, "Jobs", "%lld worse, %lld better, %lld as before, %lld not compared", count_of(night, "worse"),
             count_of(night, "better"), count_of(night, "same"), count_of(night, "new") + count_of(night, "not_judged"));
    tm_front_say_fact(front, "History", "%lld run%s of %lld job%s", count_of(night, "history_runs"),
                      tm_format_plural(count_of(night, "history_runs")), count_of(night, "history_jobs"),
                      tm_format_plural(count_of(night, "history_jobs")));
    if (tm_has(counts))
        tm_front_say_fact(front, "Runs by their gates", "%lld failed, %lld not known, %lld passed", (long long)tm_int(tm_get(counts, "failed")),
                 (long long)tm_int(tm_get(counts, "unknown")), (long long)tm_int(tm_get(counts, "passed")));
}

const struct tm_document tm_night_document = {
    .schema = "tracemill.night",
    .what = "night",
    .kicker = "THE LAST NIGHT",
    .made_by = "tracemill batch",
    .file = "index",
    .findings_title = "Look at this first",
    .stake_of = "a step",
    .data = "index.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
    .first_chart = { TM_CHART_NIGHT },
    .first_charts = 1,
};
