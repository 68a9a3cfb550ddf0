/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of jobs that got worse, and that got better. */
#include <stdio.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"

/* What the morning has to know: what failed, what got worse, what is missing. */

static void emit_findings(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_emit(content, TM_TONE_PLAIN, "Nothing failed, nothing is missing, and no job got worse.");
    else
        tm_emit(content, TM_TONE_QUIET,
                "What failed first, then jobs that got worse, by how much: the step time before other figures.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

static const struct tm_section nightly_findings_section = {
    .id = "findings", .title = "Findings", .key = "findings", .say = emit_findings
};

/* Gates that the night's runs did not pass. */

static void emit_gates(const struct tm_content *content)
{
    static const struct tm_column counts[] = {
        { "Runs that failed", "failed", TM_CELL_COUNT },
        { "Not known", "unknown", TM_CELL_COUNT },
        { "Passed", "passed", TM_CELL_COUNT },
        { "Not judged", "not_judged", TM_CELL_COUNT | TM_RARE },
        { "Without a report", "no_report", TM_CELL_COUNT | TM_RARE },
    };
    static const struct tm_column columns[] = {
        { .key = "job" },           { .key = "status" },
        { .key = "title" },         { .key = "figure", .shape = TM_WIDE },
        { .key = "value_text" },    { .key = "limit_text" },
        { .key = "baseline_text" }, { .key = "reason", .shape = TM_GIVEN },
    };

    tm_emit_facts(content, "gate-counts", TM_FACTS(counts), "gates.counts");
    tm_emit_table(content, &(struct tm_table){ .id = "gates",
                                               .caption = "Gates that did not pass",
                                               TM_COLUMNS(columns),
                                               .list = "gates.list",
                                               .paper_rows = 100 });
}

static const struct tm_section nightly_gates_section = {
    .id = "gates", .title = "Gates", .key = "gates", .say = emit_gates
};

/* Figures over nights and over the steps of a training run, and where their level changes. */

static void emit_changes(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "job" },
        { .key = "title" },
        { .key = "night" },
        { "Training step", "step", TM_CELL_COUNT | TM_GIVEN },
        { .key = "before_text" },
        { .key = "after_text" },
        { .key = "change_text" },
        { .key = "state" },
        { .key = "revision", .shape = TM_GIVEN },
        { .key = "revision_before", .shape = TM_GIVEN | TM_WIDE },
        { .key = "axis", .shape = TM_WIDE },
        { .key = "id", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "change-points",
                                               .caption = "Where the level of a figure changed",
                                               TM_COLUMNS(columns),
                                               .list = "change_points",
                                               .paper_rows = 30 });
}

static void emit_older(const struct tm_content *content)
{
    const long long older = (long long)tm_int(tm_path(content->summary, "counts.history_older_runs"));

    if (older > 0)
        tm_emit(content, TM_TONE_PLAIN,
                "Figures are defined anew since version 2: trends, baselines and change points begin anew. %lld run%s "
                "of version 1 %s in history.db and %s never compared with newer ones.",
                older, tm_format_plural(older), older == 1 ? "stays" : "stay", older == 1 ? "is" : "are");
}

static void emit_trends(const struct tm_content *content)
{
    const struct tm_value *left_out = tm_of(content, "left_out");
    const long long jobs = (long long)tm_int(tm_get(left_out, "jobs_without_trend")),
                    points = (long long)tm_int(tm_get(left_out, "change_points"));

    emit_older(content);
    if (content->medium->has_charts)
        tm_emit(
            content, TM_TONE_QUIET,
            "Of the jobs that matter most tonight. The shaded part is what is usual for the newest run, a cross is a "
            "run "
            "that failed, a line from top to bottom a change of the level, from the dashed line before it to the one "
            "behind it.");
    tm_emit_charts(content, TM_CHART_TRENDS);
    if (jobs > 0 && content->medium->has_charts)
        tm_emit(content, TM_TONE_QUIET, "%lld other job%s %s no chart here.", jobs, tm_format_plural(jobs),
                jobs == 1 ? "has" : "have");
    tm_emit(content, TM_TONE_QUIET, "%s",
            tm_length(tm_of(content, "change_points")) > 0
                ? "Changes of the level are told from 20 good runs on."
                : "No level changed, of figures with 20 good runs and more.");
    emit_changes(content);
    if (points > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more changes are not listed.", points);
}

static const char *no_trends(const struct tm_value *night)
{
    return tm_int(tm_path(night, "counts.history_older_runs")) > 0
               ? ""
               : tm_if_none(night, "trends", "no job has two runs with figures");
}

static const struct tm_section nightly_trends_section = {
    .id = "trends", .title = "Trends", .key = "trends", .say = emit_trends, .nothing = no_trends
};

static const struct tm_column change_columns[] = {
    { "Job", "job", TM_CELL_NAME },         { "Report", "report", TM_CELL_LINK },
    { "Figure", "title", TM_CELL_WORD },    { "Before", "before_text", TM_CELL_WORD },
    { "Now", "value_text", TM_CELL_WORD },  { "Change", "change_text", TM_CELL_WORD },
    { "Usual", "band_text", TM_CELL_WORD }, { "Runs before", "runs", TM_CELL_COUNT | TM_WIDE },
};

static void emit_changed(const struct tm_content *content, const char *key, const char *caption)
{
    const struct tm_value *rows = tm_of(content, key);
    const long long left_out = (long long)tm_int(tm_get(tm_of(content, "left_out"), key));

    tm_emit_table(content,
                  &(struct tm_table){
                      .id = key, .caption = caption, TM_COLUMNS(change_columns), .rows = rows, .paper_rows = 40 });
    if (left_out > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more are not listed.", left_out);
}

static void emit_change_rows(const struct tm_content *content)
{
    tm_emit(content, TM_TONE_QUIET,
            "The newest run of each job against the median of its seven good runs before. What differs by less than is "
            "usual "
            "is not listed.");
    emit_changed(content, "worse", "Got worse");
    emit_changed(content, "better", "Got better");
}

static const char *no_changes(const struct tm_value *night)
{
    return tm_length(tm_get(night, "worse")) + tm_length(tm_get(night, "better")) == 0
               ? "no job changed by more than runs differ otherwise"
               : "";
}

static const struct tm_section nightly_changes_section = {
    .id = "changes", .title = "What changed", .key = "worse", .say = emit_change_rows, .nothing = no_changes
};

/* Runs of the night without a whole report, and why. */

static void emit_failures(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "job" },     { "Report", "report", TM_CELL_LINK }, { .key = "run" },
        { .key = "status" },  { .key = "night", .shape = TM_WIDE }, { .key = "when_ns", .shape = TM_WIDE },
        { .key = "message" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "failures",
                                               .caption = "Runs that failed, or are of damaged input",
                                               TM_COLUMNS(columns),
                                               .list = "failures",
                                               .paper_rows = 100 });
}

static const char *no_failures(const struct tm_value *night)
{
    return tm_if_none(night, "failures", "all runs are done");
}

static const struct tm_section nightly_failures_section = {
    .id = "failures", .title = "Failures", .key = "failures", .say = emit_failures, .nothing = no_failures
};

/* All jobs with their newest run. */

static void emit_jobs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "job" },
        { "Report", "report", TM_CELL_LINK },
        { .key = "state" },
        { "Step time", "figures.step_time_ps.value", TM_CELL_TIME },
        { "Change", "figures.step_time_ps.change", TM_CELL_PCT | TM_CHANGE },
        { "Step time before", "figures.step_time_ps.before", TM_CELL_TIME | TM_WIDE },
        { "Usual", "figures.step_time_ps.band", TM_CELL_TIME | TM_WIDE },
        { "Utilization", "figures.device_utilization_pct.value", TM_CELL_PCT },
        { "MFU", "figures.mfu_pct.value", TM_CELL_PCT | TM_WIDE },
        { "Peak memory", "figures.peak_memory_bytes.value", TM_CELL_BYTES },
        { .key = "severity" },
        { .key = "finding", .shape = TM_WIDE },
        { "Exposed collectives", "figures.exposed_collective_ps.value", TM_CELL_TIME | TM_WIDE },
        { "Idle", "figures.idle_ps.value", TM_CELL_TIME | TM_WIDE },
        { "Compile time", "figures.compile_time_ps.value", TM_CELL_TIME | TM_WIDE },
        { .key = "gates", .shape = TM_GIVEN },
        { .key = "devices" },
        { .key = "hosts", .shape = TM_WIDE },
        { .key = "model", .shape = TM_WIDE },
        { .key = "night" },
        { .key = "revision", .shape = TM_GIVEN | TM_WIDE },
        { .key = "label", .shape = TM_GIVEN | TM_WIDE },
        { .key = "runs" },
    };
    const long long left_out = (long long)tm_int(tm_path(content->summary, "left_out.jobs"));

    tm_emit_table(content, &(struct tm_table){ .id = "jobs",
                                               .caption = "Jobs, with the newest run of each",
                                               TM_COLUMNS(columns),
                                               .list = "jobs",
                                               .paper_rows = 60 });
    if (left_out > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more job%s %s not listed.", left_out, tm_format_plural(left_out),
                left_out == 1 ? "is" : "are");
}

static const char *no_jobs(const struct tm_value *night)
{
    return tm_if_none(night, "jobs", "the history is empty");
}

static const struct tm_section nightly_jobs_section = {
    .id = "jobs", .title = "Jobs", .key = "jobs", .say = emit_jobs, .nothing = no_jobs
};

/* All runs that are judged, and those that are dated ahead. */

static void emit_ahead(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "run" },    { "Report", "report", TM_CELL_LINK }, { .key = "job" }, { .key = "night" },
        { .key = "status" }, { .key = "id", .shape = TM_WIDE },
    };
    const long long ahead = (long long)tm_int(tm_path(content->summary, "counts.dated_ahead"));

    if (ahead == 0)
        return;
    tm_emit(content, TM_TONE_PLAIN,
            "%lld run%s dated more than a day ahead of the clock %s not judged, and %s in no trend and no baseline.",
            ahead, tm_format_plural(ahead), ahead == 1 ? "is" : "are", ahead == 1 ? "is" : "are");
    tm_emit_table(content, &(struct tm_table){ .id = "dated-ahead",
                                               .caption = "Runs that are dated ahead",
                                               TM_COLUMNS(columns),
                                               .list = "dated_ahead",
                                               .paper_rows = 20 });
}

static void emit_runs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "run" },
        { "Report", "report", TM_CELL_LINK },
        { .key = "job" },
        { .key = "night" },
        { .key = "when_ns" },
        { .key = "status" },
        { .key = "step_time_ps" },
        { .key = "training", .shape = TM_GIVEN | TM_WIDE },
        { "Training step", "step", TM_CELL_COUNT | TM_GIVEN },
        { .key = "devices" },
        { .key = "hosts", .shape = TM_WIDE },
        { .key = "model", .shape = TM_WIDE },
        { .key = "platform", .shape = TM_WIDE },
        { .key = "revision", .shape = TM_GIVEN | TM_WIDE },
        { .key = "label", .shape = TM_GIVEN | TM_WIDE },
        { .key = "gates", .shape = TM_GIVEN },
        { .key = "verdict", .shape = TM_WIDE },
    };
    const long long left_out = (long long)tm_int(tm_path(content->summary, "left_out.runs"));

    if (tm_int(tm_path(content->summary, "counts.other_nights")) > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Runs of other nights that were added or changed since are judged with those of the last one.");
    tm_emit_table(
        content,
        &(struct tm_table){
            .id = "runs", .caption = "Runs of the night", TM_COLUMNS(columns), .list = "runs", .paper_rows = 40 });
    if (left_out > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more run%s %s not listed.", left_out, tm_format_plural(left_out),
                left_out == 1 ? "is" : "are");
    emit_ahead(content);
}

static const char *no_runs(const struct tm_value *night)
{
    if (tm_int(tm_path(night, "counts.dated_ahead")) > 0)
        return "";
    return tm_if_none(night, "runs", "the history is empty");
}

static const struct tm_section nightly_runs_section = {
    .id = "runs", .title = "Runs of the night", .key = "runs", .say = emit_runs, .nothing = no_runs
};

/* The last night of a batch, and what came with it. */

static const struct tm_section *const sections[] = {
    &nightly_findings_section, &nightly_changes_section,  &nightly_failures_section,
    &nightly_gates_section,    &nightly_trends_section,   &nightly_jobs_section,
    &nightly_runs_section,     &tm_missing_night_section, &tm_definitions_section,
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
                   *tm_text(tm_path(night, "report.title")) ? date : "",
                   *tm_text(tm_path(night, "report.title")) ? ": " : "", count_of(night, "runs"),
                   tm_format_plural(count_of(night, "runs")), count_of(night, "jobs"),
                   tm_format_plural(count_of(night, "jobs")));
    tm_front_say_fact(front, "Runs", "%lld done, %lld partial, %lld refused, %lld failed, %lld missing",
                      count_of(night, "done"), count_of(night, "partial"), count_of(night, "refused"),
                      count_of(night, "failed"), count_of(night, "missing"));
    tm_front_say_fact(front, "Jobs", "%lld worse, %lld better, %lld as before, %lld not compared",
                      count_of(night, "worse"), count_of(night, "better"), count_of(night, "same"),
                      count_of(night, "new") + count_of(night, "not_judged"));
    tm_front_say_fact(front, "History", "%lld run%s of %lld job%s", count_of(night, "history_runs"),
                      tm_format_plural(count_of(night, "history_runs")), count_of(night, "history_jobs"),
                      tm_format_plural(count_of(night, "history_jobs")));
    if (tm_has(counts))
        tm_front_say_fact(front, "Runs by their gates", "%lld failed, %lld not known, %lld passed",
                          (long long)tm_int(tm_get(counts, "failed")), (long long)tm_int(tm_get(counts, "unknown")),
                          (long long)tm_int(tm_get(counts, "passed")));
}

const struct tm_document tm_nightly_document = {
    .schema = "tracemill.night",
    .fields = &tm_night_schema,
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
