/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of jobs that regressed, and that improved. */
#include <stdio.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"

/* The most important results of a night: failures, regressions, missing runs. */

static void emit_findings(const struct tm_content *content)
{
    tm_emit_findings(content, "Nothing failed, nothing is missing, and no job regressed.",
                     "Failures first, then regressed jobs by size: median step time before other figures.");
}

static const struct tm_section nightly_findings_section = {
    .id = "findings", .title = "Findings", .key = "findings", .say = emit_findings
};

/* Gates that the night's runs did not pass. */

static void emit_gates(const struct tm_content *content)
{
    tm_emit_facts(content, "gate-counts", "gates.counts",
                  "failed = Failed runs, unknown = Unknown, passed = Passed, not_judged rare = Not assessed, "
                  "no_report rare = Without a report");
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "gates",
                      .caption = "Gates that did not pass",
                      .shows = "job, status, title, figure wide, value_text, limit_text, baseline_text, reason given",
                      .list = "gates.list",
                      .paper_rows = 100 });
}

/* A merge that writes JUnit or Markdown has counts, also without gates. */
static bool has_gates(const struct tm_value *night)
{
    const struct tm_value *const counts = tm_path(night, "gates.counts");

    return tm_int(tm_get(counts, "failed")) + tm_int(tm_get(counts, "unknown")) + tm_int(tm_get(counts, "passed")) > 0;
}

static const char *no_gates(const struct tm_value *night)
{
    return has_gates(night)                 ? ""
           : tm_has(tm_get(night, "gates")) ? "no gate was evaluated"
                                            : tm_why(tm_get(night, "gates"));
}

static const struct tm_section nightly_gates_section = {
    .id = "gates", .title = "Gates", .key = "gates", .say = emit_gates, .nothing = no_gates
};

/* Figures over nights and over the steps of a training run, and where their level changes. */

static const struct tm_table changes = {
    .id = "change-points",
    .caption = "Changes of level",
    .shows = "job, title, night, step count given, before_text, after_text, change_text, state, "
             "revision given, revision_before given wide, axis wide, id wide",
    .list = "change_points",
    .paper_rows = 30,
};

static void emit_older(const struct tm_content *content)
{
    const long long older = (long long)tm_int(tm_path(content->summary, "counts.history_older_runs"));

    if (older > 0)
        tm_emit(content, TM_TONE_PLAIN,
                "Figures are defined differently since version 2, so trends, baselines and change points start over. "
                "%lld run%s of version 1 %s in history.db and %s never compared with newer ones.",
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
            "The jobs that matter most tonight. The shaded band is the usual range for the newest run, a cross is a "
            "failed run, and a vertical line is a change of level, from the dashed line before it to the one after "
            "it.");
    tm_emit_charts(content, TM_CHART_TRENDS);
    if (jobs > 0 && content->medium->has_charts)
        tm_emit(content, TM_TONE_QUIET, "%lld other job%s %s no chart here.", jobs, tm_format_plural(jobs),
                jobs == 1 ? "has" : "have");
    tm_emit(content, TM_TONE_QUIET, "%s",
            tm_length(tm_of(content, "change_points")) > 0
                ? "Changes of level are detected from 20 good runs on."
                : "No level changed among figures with 20 good runs or more.");
    tm_emit_table(content, &changes);
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

static void emit_list(const struct tm_content *content, const char *list, const char *caption, const char *shows)
{
    if (tm_length(tm_of(content, list)) == 0)
        return;
    tm_emit_table(content,
                  &(struct tm_table){ .id = list, .caption = caption, .shows = shows, .list = list, .paper_rows = 40 });
}

static void emit_more(const struct tm_content *content, const char *list)
{
    const long long left_out = (long long)tm_int(tm_get(tm_of(content, "left_out"), list));

    if (left_out > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more are not listed.", left_out);
}

static void emit_improvements(const struct tm_content *content)
{
    tm_emit(content, TM_TONE_QUIET, "Figures that improved this night, compared with the baseline of their job.");
    emit_list(content, "better", "Improved",
              "job, report link, title, before_text, value_text, change_text, band_text, runs wide");
    emit_more(content, "better");
}

static const char *no_improvements(const struct tm_value *night)
{
    return tm_if_none(night, "better", "no figure improved by more than the usual variation between runs");
}

static const struct tm_section nightly_improvements_section = {
    .id = "improvements", .title = "Improvements", .key = "better", .say = emit_improvements, .nothing = no_improvements
};

/* Regressions stay here until the figure is back. */

static void emit_regressions(const struct tm_content *content)
{
    tm_emit(content, TM_TONE_QUIET,
            "Changes of level and drifts of all nights that have not recovered, those of this night first. Acknowledge "
            "one with `tracemill batch ack OUT ID --reason TEXT`, or make the new level the "
            "baseline with `tracemill batch accept OUT ID`.");
    emit_list(content, "regressions", "Open regressions",
              "regression, job, report link, title, state, kind wide, since, before_text, after_text, change_text, "
              "runs, cause given, revision given, revision_before given wide, opened wide, "
              "model wide, id wide, good_id wide, good_report link");
    emit_list(content, "revisions", "Jobs that regressed between the same revisions",
              "revision_before, revision, jobs, regressions, names");
    emit_more(content, "regressions");
    emit_list(content, "unconfirmed", "To be confirmed: jobs to run again, as listed in confirm.txt",
              "regression, job, report link, title, state, since, before_text, after_text, change_text, runs, "
              "revision given");
    emit_list(content, "acknowledged", "Acknowledged regressions",
              "regression, job, report link, title, since, before_text, after_text, change_text, runs, reason, "
              "decided wide, cause given wide, revision given wide, id wide, good_id wide, good_report link");
    emit_list(content, "closed", "Closed this night",
              "regression, job, title, state, since, closed, before_text, after_text, runs, reason given, "
              "revision given wide, id wide");
}

static const char *no_regressions(const struct tm_value *night)
{
    return tm_length(tm_get(night, "acknowledged")) + tm_length(tm_get(night, "closed")) +
                       tm_length(tm_get(night, "unconfirmed")) >
                   0
               ? ""
               : tm_if_none(night, "regressions", "no regression is open");
}

static const struct tm_section nightly_regressions_section = { .id = "regressions",
                                                               .title = "Open regressions",
                                                               .key = "regressions",
                                                               .say = emit_regressions,
                                                               .nothing = no_regressions };

/* Runs of the night without a whole report, and why. */

static const struct tm_table failures = {
    .id = "failures",
    .caption = "Failed runs, or runs with damaged input",
    .shows = "job, report link, run, status, night wide, when_ns wide, message",
    .list = "failures",
    .paper_rows = 100,
};

static void emit_failures(const struct tm_content *content)
{
    tm_emit_table(content, &failures);
}

static const char *no_failures(const struct tm_value *night)
{
    return tm_if_none(night, "failures", "all runs are done");
}

static const struct tm_section nightly_failures_section = {
    .id = "failures", .title = "Failures", .key = "failures", .say = emit_failures, .nothing = no_failures
};

/* All jobs, each with its newest run. */

enum { NIGHT_PAGE_ROWS = 2000 }; /* of jobs and of runs: each must be found there */

/* "3 more jobs are not listed." */
static void emit_left_out(const struct tm_content *content, const char *key, const char *what)
{
    const long long left_out = (long long)tm_int(tm_get(tm_of(content, "left_out"), key));

    if (left_out > 0)
        tm_emit(content, TM_TONE_QUIET, "%lld more %s%s %s not listed.", left_out, what, tm_format_plural(left_out),
                left_out == 1 ? "is" : "are");
}

static void emit_jobs(const struct tm_content *content)
{
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "jobs",
                      .caption = "Jobs, with the newest run of each",
                      .shows =
                          "job, report link, state choice, recent curve given, "
                          "figures.step_time_ps.value time = Median step, "
                          "figures.step_time_ps.change pct change, "
                          "figures.step_time_ps.before time wide = Median step before, "
                          "figures.step_time_ps.band time wide, "
                          "figures.device_utilization_pct.value pct = Utilization, "
                          "figures.mfu_pct.value pct wide = MFU, "
                          "figures.peak_memory_bytes.value bytes = Peak memory, severity, finding wide, "
                          "figures.exposed_collective_ps.value time wide = Exposed collectives, "
                          "figures.idle_ps.value time wide = Idle, "
                          "figures.compile_time_ps.value time wide = Compile time, gates given, devices, hosts wide, "
                          "model wide, night, revision given wide, labels given choice, label given wide, runs",
                      .list = "jobs",
                      .paper_rows = 60,
                      .page_rows = NIGHT_PAGE_ROWS });
    emit_left_out(content, "jobs", "job");
    emit_list(content, "unstable", "Unstable jobs", "job, spread_pct, runs, remedy");
    emit_list(content, "machines", "Slow hosts", "host, slower_pct, jobs, runs, night");
}

static const char *no_jobs(const struct tm_value *night)
{
    return tm_if_none(night, "jobs", "the history is empty");
}

static const struct tm_section nightly_jobs_section = {
    .id = "jobs", .title = "Jobs", .key = "jobs", .say = emit_jobs, .nothing = no_jobs
};

/* All runs that are assessed, and those with future dates. */

static void emit_ahead(const struct tm_content *content)
{
    const long long ahead = (long long)tm_int(tm_path(content->summary, "counts.dated_ahead"));

    if (ahead == 0)
        return;
    tm_emit(content, TM_TONE_PLAIN,
            "%lld run%s dated more than a day ahead of the clock %s not assessed, and %s in no trend and no baseline.",
            ahead, tm_format_plural(ahead), ahead == 1 ? "is" : "are", ahead == 1 ? "is" : "are");
    tm_emit_table(content, &(struct tm_table){ .id = "dated-ahead",
                                               .caption = "Runs with future dates",
                                               .shows = "run, report link, job, night, status, id wide",
                                               .list = "dated_ahead",
                                               .paper_rows = 20 });
}

static void emit_runs(const struct tm_content *content)
{
    if (tm_int(tm_path(content->summary, "counts.other_nights")) > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Runs of other nights that were added or changed since then are assessed together with those of the "
                "last night.");
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "runs",
                      .caption = "Runs of the night",
                      .shows =
                          "run, report link, job, night, when_ns, status choice, step_time_ps, training given wide, "
                          "step count given, devices, hosts wide, model wide, platform wide, revision given wide, "
                          "label given wide, gates given choice, verdict wide",
                      .list = "runs",
                      .paper_rows = 40,
                      .page_rows = NIGHT_PAGE_ROWS });
    emit_left_out(content, "runs", "run");
    if (tm_int(tm_get(tm_of(content, "left_out"), "runs")) > 0)
        tm_emit(content, TM_TONE_QUIET,
                "All runs of the page: tracemill batch export OUT | jq -c 'select(.page == \"%.10s\")'",
                tm_text(tm_of(content, "night")));
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

/* The last night of a batch, and the runs merged with it. */

static const struct tm_section *const sections[] = {
    &nightly_findings_section, &nightly_regressions_section, &nightly_improvements_section, &nightly_failures_section,
    &nightly_gates_section,    &nightly_trends_section,      &nightly_jobs_section,         &nightly_runs_section,
    &tm_missing_night_section, &tm_definitions_section,
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
    tm_front_say_fact(front, "Jobs", "%lld with a regression, %lld improved, %lld unchanged, %lld not compared",
                      count_of(night, "worse"), count_of(night, "better"), count_of(night, "same"),
                      count_of(night, "new") + count_of(night, "not_judged"));
    tm_front_say_fact(front, "History", "%lld run%s of %lld job%s", count_of(night, "history_runs"),
                      tm_format_plural(count_of(night, "history_runs")), count_of(night, "history_jobs"),
                      tm_format_plural(count_of(night, "history_jobs")));
    if (has_gates(night))
        tm_front_say_fact(front, "Gate results", "%lld failed, %lld unknown, %lld passed",
                          (long long)tm_int(tm_get(counts, "failed")), (long long)tm_int(tm_get(counts, "unknown")),
                          (long long)tm_int(tm_get(counts, "passed")));
}

const struct tm_document tm_nightly_document = {
    .schema = "tracemill.night",
    .fields = &tm_night_schema,
    .what = "night",
    .kicker = "NIGHTLY REPORT",
    .made_by = "tracemill batch",
    .file = "index",
    .findings_title = "Top findings",
    .stake_of = "a step",
    .data = "index.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
    .first_chart = { TM_CHART_NIGHT },
    .first_charts = 1,
};
