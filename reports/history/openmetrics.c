/* SPDX-License-Identifier: Apache-2.0 */
/* The newest run of each job for a scraper.  Only gauges without timestamps, so the text is valid as OpenMetrics 1.0
 * and as Prometheus' older format.  Labels of a series do not change from night to night (job, platform, model); the
 * run of the figures is in tracemill_run_info.  Keeps a few hundred bytes for each job, since a family has to be
 * in one piece.
 * source: OpenMetrics 1.0.0, "Text format" */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pipeline/doc/doc.h"
#include "pipeline/numbers.h"
#include "pipeline/nightly/result.h"
#include "reports/format/format.h"
#include "reports/history/history.h"

enum { NAME_BYTES = 128, LABEL_BYTES = 512, VERDICTS = 3 };

static const char *const verdict_word[VERDICTS] = { "passed", "failed", "unknown" };

enum text { JOB, PLATFORM, MODEL, NIGHT, REVISION, LABEL, RUN, TEXTS };
static const char *const text_key[TEXTS] = { "job", "platform", "model", "night", "revision", "label", "run" };

/* Facts about a job. */
struct newest {
    struct newest *next;
    size_t bytes; /* of all of it */
    const char *text[TEXTS];
    int64_t when_ns, hosts, devices;
    int gates;        /* in verdict_word; -1 = not assessed */
    bool has_figures; /* of a run with a report: all members above belong to it */
    bool is_success;  /* its newest run is complete */
    double figure[];  /* tm_figure_count, then the texts */
};

struct writing {
    struct tm_run *run;
    FILE *to;
    const struct tm_judged_night *judged;
    struct newest *jobs;                                       /* while rows are read, with the last one at the head */
    uint64_t status[TM_RESULT_MISSING + 1], verdict[VERDICTS]; /* of those that are assessed */
    uint64_t ahead;
};

/* --- collecting --- */

static bool is_status(const struct tm_history_run *row, enum tm_result_status status)
{
    return strcmp(row->status, tm_result_status_words[status]) == 0;
}

static int verdict_of(const struct tm_history_run *row)
{
    for (int i = 0; i < VERDICTS; i++) {
        if (strcmp(row->gates, verdict_word[i]) == 0)
            return i;
    }
    return -1;
}

static void give(struct writing *w, struct newest *job)
{
    tm_give(&w->run->budget, TM_ACCOUNT_MODEL, job, job->bytes);
}

static struct newest *make(struct writing *w, const struct tm_history_run *row, bool has_figures)
{
    const char *const text[TEXTS] = { row->keys.job,      row->platform,   row->model, row->keys.night,
                                      row->keys.revision, row->keys.label, row->id };
    size_t bytes = sizeof(struct newest) + tm_figure_count * sizeof(double);
    struct newest *job;
    char *at;

    for (int i = 0; i < TEXTS; i++)
        bytes += strlen(text[i]) + 1;
    job = tm_take(&w->run->budget, TM_ACCOUNT_MODEL, bytes, &w->run->error);
    if (!job)
        return NULL;
    *job = (struct newest){ .bytes = bytes,
                            .when_ns = row->keys.when_ns,
                            .hosts = row->hosts,
                            .devices = row->devices,
                            .gates = verdict_of(row),
                            .has_figures = has_figures };
    for (size_t i = 0; i < tm_figure_count; i++)
        job->figure[i] = tm_history_is_current(row) ? row->figure[i] : NAN;
    at = (char *)(job->figure + tm_figure_count);
    for (int i = 0; i < TEXTS; i++) {
        const size_t length = strlen(text[i]) + 1;

        job->text[i] = memcpy(at, text[i], length);
        at += length;
    }
    return job;
}

static void count_night(struct writing *w, const struct tm_history_run *row)
{
    const int verdict = verdict_of(row);

    for (int i = 0; i <= TM_RESULT_MISSING; i++)
        w->status[i] += is_status(row, (enum tm_result_status)i);
    if (verdict >= 0)
        w->verdict[verdict]++;
}

/* By job, oldest first: the newest one of a job stays. */
static tm_status take_row(void *to, const struct tm_history_run *row)
{
    struct writing *const w = to;
    const bool is_done = is_status(row, TM_RESULT_DONE), has_figures = is_done || is_status(row, TM_RESULT_PARTIAL);
    const bool is_same_job = w->jobs && strcmp(w->jobs->text[JOB], row->keys.job) == 0;
    struct newest *job;

    if (tm_history_is_ahead(w->judged, row)) {
        w->ahead++;
        return TM_OK;
    }
    if (tm_history_is_judged(w->judged, row))
        count_night(w, row);
    if (is_same_job && !has_figures) {
        w->jobs->is_success = false;
        return TM_OK;
    }
    if (!(job = make(w, row, has_figures)))
        return w->run->error.status;
    job->is_success = is_done;
    job->next = is_same_job ? w->jobs->next : w->jobs;
    if (is_same_job)
        give(w, w->jobs);
    w->jobs = job;
    return TM_OK;
}

/* In the order of the jobs. */
static void turn_round(struct writing *w)
{
    struct newest *turned = NULL;

    while (w->jobs) {
        struct newest *const next = w->jobs->next;

        w->jobs->next = turned;
        turned = w->jobs;
        w->jobs = next;
    }
    w->jobs = turned;
}

/* --- writing --- */

static void put_family(FILE *to, const char *name, const char *unit, const char *help)
{
    (void)fprintf(to, "# TYPE %s gauge\n", name);
    if (unit)
        (void)fprintf(to, "# UNIT %s %s\n", name, unit);
    (void)fprintf(to, "# HELP %s %s\n", name, help);
}

/* A text of any bytes between quotes: visible, in one line, its backslashes and quotes escaped. */
static void put_label(FILE *to, const char *key, const char *text)
{
    char visible[LABEL_BYTES];

    tm_format_text(visible, sizeof(visible), text);
    (void)fprintf(to, "%s=\"", key);
    for (const char *at = visible; *at; at++) {
        if (*at == '\\' || *at == '"')
            (void)fputc('\\', to);
        (void)fputc(*at, to);
    }
    (void)fputc('"', to);
}

/* in: texts  the number of leading ones to write */
static void put_labels(FILE *to, const struct newest *job, int texts)
{
    const char *between = "{";

    for (int i = 0; i < texts; i++) {
        (void)fputs(between, to);
        put_label(to, text_key[i], job->text[i]);
        between = ",";
    }
    (void)fputc('}', to);
}

static void put_value(FILE *to, double value)
{
    char text[TM_DOUBLE_TEXT];

    (void)fprintf(to, " %.*s\n", (int)tm_double_text(text, value), text);
}

/* How a unit of the history is reported: in base units, which are the suffix of the name. */
struct base_unit {
    const char *unit, *ending; /* of the history, and of its id */
    const char *base;
    double divisor;
};

static const struct base_unit base_units[] = {
    { "ps", "_ps", "seconds", 1e12 },
    { "bytes", "_bytes", "bytes", 1 },
    { "%", "_pct", "ratio", 100 },
};

static const struct base_unit *base_of(const struct tm_run_figure *figure)
{
    for (size_t i = 0; i < sizeof(base_units) / sizeof(base_units[0]); i++) {
        if (strcmp(tm_doc_unit(figure->kind), base_units[i].unit) == 0)
            return &base_units[i];
    }
    return NULL;
}

static void name_of(char name[NAME_BYTES], const struct tm_run_figure *figure, const struct base_unit *base)
{
    const size_t length = strlen(figure->id), ending = base ? strlen(base->ending) : 0;
    const bool ends = ending && length > ending && strcmp(figure->id + length - ending, base->ending) == 0;

    (void)snprintf(name, NAME_BYTES, "tracemill_%.*s%s%s", (int)(length - (ends ? ending : 0)), figure->id,
                   base ? "_" : "", base ? base->base : "");
}

static void put_figure(const struct writing *w, size_t index)
{
    static const char *const better[] = {
        [TM_BETTER_LOWER] = "; lower is better", [TM_BETTER_HIGHER] = "; higher is better", [TM_BETTER_NEITHER] = ""
    };
    const struct tm_run_figure *const figure = &tm_figure_table[index];
    const struct base_unit *const base = base_of(figure);
    char name[NAME_BYTES], help[NAME_BYTES + 64];

    name_of(name, figure, base);
    (void)snprintf(help, sizeof(help), "%s of the newest run of the job%s", figure->name, better[figure->better]);
    put_family(w->to, name, base ? base->base : NULL, help);
    for (const struct newest *job = w->jobs; job; job = job->next) {
        if (!job->has_figures || !isfinite(job->figure[index]))
            continue;
        (void)fputs(name, w->to);
        put_labels(w->to, job, MODEL + 1);
        put_value(w->to, job->figure[index] / (base ? base->divisor : 1));
    }
}

/* --- data about each job besides its figures --- */

static double success(const struct newest *job)
{
    return job->is_success;
}

static double when(const struct newest *job)
{
    return job->has_figures ? (double)job->when_ns / 1e9 : NAN;
}

static double hosts(const struct newest *job)
{
    return job->has_figures && job->hosts >= 0 ? (double)job->hosts : NAN;
}

static double devices(const struct newest *job)
{
    return job->has_figures && job->devices >= 0 ? (double)job->devices : NAN;
}

static double gates_failed(const struct newest *job)
{
    return job->has_figures && job->gates >= 0 ? strcmp(verdict_word[job->gates], "failed") == 0 : NAN;
}

static double one(const struct newest *job)
{
    return job->has_figures ? 1 : NAN;
}

static const struct {
    const char *name, *unit, *help;
    double (*of)(const struct newest *job); /* NaN = omitted */
    int labels;
} job_families[] = {
    { "tracemill_run_success", NULL, "1: the newest run of the job has a report with complete input", success,
      JOB + 1 },
    { "tracemill_run_info", NULL, "the run that the figures of the job refer to: its newest one with a report", one,
      TEXTS },
    { "tracemill_run_when_seconds", "seconds", "time of that run, since 1970", when, JOB + 1 },
    { "tracemill_run_hosts", NULL, "hosts of that run", hosts, JOB + 1 },
    { "tracemill_run_devices", NULL, "devices of that run", devices, JOB + 1 },
    { "tracemill_run_gates_failed", NULL, "1: a gate of that run failed; absent without gates", gates_failed, JOB + 1 },
};

static void put_jobs(const struct writing *w)
{
    for (size_t i = 0; i < sizeof(job_families) / sizeof(job_families[0]); i++) {
        put_family(w->to, job_families[i].name, job_families[i].unit, job_families[i].help);
        for (const struct newest *job = w->jobs; job; job = job->next) {
            const double value = job_families[i].of(job);

            if (!isfinite(value))
                continue;
            (void)fputs(job_families[i].name, w->to);
            put_labels(w->to, job, job_families[i].labels);
            put_value(w->to, value);
        }
    }
}

static void put_regression_label(FILE *to, const char *before, const char *name, const struct tm_value *row,
                                 const char *key)
{
    (void)fputs(before, to);
    put_label(to, name, tm_text(tm_get(row, key)));
}

static void put_regression_labels(FILE *to, const struct tm_value *row)
{
    put_regression_label(to, "{", "job", row, "job");
    put_regression_label(to, ",", "figure", row, "figure");
    put_regression_label(to, ",", "since", row, "since");
    put_regression_label(to, ",", "id", row, "regression");
}

/* Each open regression, with its size, and each that was closed, with how. */
static void put_regressions(const struct writing *w, const struct tm_value *night)
{
    static const char open[] = "tracemill_regression_open", closed[] = "tracemill_regression_closed";
    const struct tm_value *const rows = tm_get(night, "regressions"), *const gone = tm_get(night, "closed");

    put_family(w->to, open, NULL,
               "an open regression: how much the figure is worse than before, as a ratio; of a share, the difference");
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        if (!tm_has(tm_get(row, "change")))
            continue;
        (void)fputs(open, w->to);
        put_regression_labels(w->to, row);
        (void)fputc('}', w->to);
        put_value(w->to, fabs(tm_double(tm_get(row, "change"))) / 100);
    }
    if (tm_length(gone) > 0)
        put_family(
            w->to, closed, NULL,
            "1 for a regression that the last night closed: recovered, fixed, accepted, dismissed, withdrawn or ended");
    for (size_t i = 0; i < tm_length(gone); i++) {
        (void)fputs(closed, w->to);
        put_regression_labels(w->to, tm_at(gone, i));
        put_regression_label(w->to, ",", "state", tm_at(gone, i), "state");
        put_regression_label(w->to, ",", "reason", tm_at(gone, i), "reason");
        (void)fputc('}', w->to);
        put_value(w->to, 1);
    }
}

static void put_night(const struct writing *w)
{
    struct tm day = { .tm_isdst = 0 };

    put_family(w->to, "tracemill_night_start_seconds", "seconds", "the last night with runs: its first second in UTC");
    if (strptime(w->judged->last, "%Y-%m-%d", &day)) {
        (void)fputs("tracemill_night_start_seconds", w->to);
        put_value(w->to, (double)timegm(&day));
    }
    put_family(w->to, "tracemill_night_runs", NULL,
               "runs of the last night, and of others that were merged with it, by status");
    for (int i = 0; i <= TM_RESULT_MISSING; i++)
        (void)fprintf(w->to, "tracemill_night_runs{status=\"%s\"} %" PRIu64 "\n", tm_result_status_words[i],
                      w->status[i]);
    put_family(w->to, "tracemill_night_judged_runs", NULL, "the same runs by gate result");
    for (int i = 0; i < VERDICTS; i++)
        (void)fprintf(w->to, "tracemill_night_judged_runs{gates=\"%s\"} %" PRIu64 "\n", verdict_word[i], w->verdict[i]);
    put_family(w->to, "tracemill_runs_dated_ahead", NULL,
               "runs that are dated more than a day ahead of the clock, and not assessed");
    (void)fprintf(w->to, "tracemill_runs_dated_ahead %" PRIu64 "\n", w->ahead);
}

tm_status tm_openmetrics_write(struct tm_run *run, struct tm_history *history, const struct tm_judged_night *judged,
                               const struct tm_value *night, FILE *to)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB };
    struct writing w = { .run = run, .to = to, .judged = judged };

    tm_history_visit(history, &query, take_row, &w);
    turn_round(&w);
    if (!tm_failed(run)) {
        put_night(&w);
        put_regressions(&w, night);
        put_jobs(&w);
        for (size_t i = 0; i < tm_figure_count; i++)
            put_figure(&w, i);
        (void)fputs("# EOF\n", to);
        if (fflush(to) != 0 || ferror(to))
            (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the metrics");
    }
    while (w.jobs) {
        struct newest *const next = w.jobs->next;

        give(&w, w.jobs);
        w.jobs = next;
    }
    return run->error.status;
}
