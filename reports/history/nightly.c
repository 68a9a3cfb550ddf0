/* SPDX-License-Identifier: Apache-2.0 */
/* A document "tracemill.night" (schemas/NIGHT.md) of a history. */
#include "reports/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/nightly/result.h"
#include "pipeline/stage.h"
#include "pipeline/store/hash.h"
#include "pipeline/strings.h"
#include "reports/compare/compare.h"
#include "reports/format/format.h"

/* The night in figures and in a sentence. */

enum { TEXT_BYTES = 1024 };

static const double bad_pct = 10;

/* --- the runs it covers --- */

static void add_figures(struct night *night)
{
    static const char *const better[] = {
        [TM_BETTER_LOWER] = "lower", [TM_BETTER_HIGHER] = "higher", [TM_BETTER_NEITHER] = "neither"
    };
    struct tm_value *list = tm_add_array(night->root, "figures");

    for (size_t i = 0; i < tm_figure_count; i++) {
        const struct tm_run_figure *figure = &tm_figure_table[i];
        struct tm_value *to;

        if (!tm_nightly_counts(figure))
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "id", figure->id);
        tm_add_string(to, "title", figure->name);
        tm_add_string(to, "unit", tm_doc_unit(figure->kind));
        tm_add_string(to, "better", better[figure->better]);
        tm_add_double(to, "least_change", figure->least_change);
    }
}

static const char *no_night(const struct night *night)
{
    return night->ahead ? "all dates are in the future" : "the history is empty";
}

static tm_status keep_id(void *to, const struct tm_history_run *row)
{
    (void)snprintf(to, NIGHT_ID, "%s", row->id);
    return TM_OK;
}

static void add_first_run(struct night *night)
{
    const struct tm_history_query query = { .order = TM_HISTORY_OLDEST, .most = 1 };
    char id[NIGHT_ID] = "";

    if (!tm_history_visit(night->source, &query, keep_id, id))
        tm_add_known(night->root, "first_run", id, "the history is empty");
}

/* "night", "first_run", "figures" */
static void night_add_place(struct night *night)
{
    struct tm_value *input = tm_add_object(night->root, "input");

    tm_add_bool(input, "partial", false);
    tm_add_known(input, "run", night->date, no_night(night));
    tm_add_known(night->root, "night", night->date, no_night(night));
    add_first_run(night);
    add_figures(night);
}

static uint64_t failed_of(const struct night *night)
{
    return night->of_night - night->status[TM_RESULT_DONE] - night->status[TM_RESULT_PARTIAL];
}

static uint64_t judged_count(const struct night *night)
{
    return night->of_state[NIGHT_WORSE] + night->of_state[NIGHT_BETTER] + night->of_state[NIGHT_SAME];
}

static void add_counts(struct night *night)
{
    struct tm_value *to = tm_add_object(night->root, "counts");

    tm_add_uint(to, "runs", night->of_night);
    for (int i = 0; i <= TM_RESULT_MISSING; i++)
        tm_add_uint(to, tm_result_status_words[i], night->status[i]);
    tm_add_uint(to, "other_nights", night->of_others);
    tm_add_uint(to, "dated_ahead", night->ahead);
    tm_add_uint(to, "jobs", night->jobs_that_ran);
    tm_add_uint(to, "worse", night->of_state[NIGHT_WORSE]);
    tm_add_uint(to, "better", night->of_state[NIGHT_BETTER]);
    tm_add_uint(to, "same", night->of_state[NIGHT_SAME]);
    tm_add_uint(to, "new", night->of_state[NIGHT_NEW]);
    tm_add_uint(to, "not_judged",
                night->of_state[NIGHT_YOUNG] + night->of_state[NIGHT_PARTIAL] + night->of_state[NIGHT_FAILED]);
    tm_add_uint(to, "absent", night->of_state[NIGHT_ABSENT]);
    tm_add_uint(to, "regressions_open", tm_nightly_alarms(night->regressions));
    tm_add_uint(to, "regressions_opened", night->regressions[NIGHT_OPENED]);
    tm_add_uint(to, "regressions_unconfirmed", night->regressions[NIGHT_UNCONFIRMED]);
    tm_add_uint(to, "regressions_acknowledged", night->regressions[NIGHT_ACKNOWLEDGED]);
    tm_add_uint(to, "regressions_closed", night->regressions[NIGHT_CLOSED]);
    tm_add_uint(to, "history_runs", night->runs);
    tm_add_uint(to, "history_jobs", night->jobs);
    tm_add_uint(to, "history_older_runs", night->older);
}

/* --- key figures --- */

struct kpi {
    const char *id, *title, *unit, *definition;
    const char *finding; /* explains it if it is outside its band; NULL = none */
};

static void add_kpi(struct tm_value *list, const struct kpi *kpi, double value, const char *band, const char *why)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "id", kpi->id);
    tm_add_string(to, "title", kpi->title);
    tm_nightly_add_number(to, "value", value, why);
    tm_add_string(to, "unit", kpi->unit);
    tm_add_string(to, "band", band);
    if (kpi->finding && (strcmp(band, "bad") == 0 || strcmp(band, "warning") == 0))
        tm_add_string(to, "finding", kpi->finding);
    tm_add_null(to, "good", "it has no limits");
    tm_add_null(to, "bad", "it has no limits");
    tm_add_string(to, "definition", kpi->definition);
}

/* The largest increase in a median step time over its baseline; NaN = none was assessed. */
static double worst_step(const struct night *night)
{
    double worst = NAN;

    for (size_t i = 0; i < night->jobs; i++)
        if (!isnan(night->job[i].step_change_pct) && !(night->job[i].step_change_pct <= worst))
            worst = night->job[i].step_change_pct;
    return worst;
}

/* A median step time is reported as regressed. */
static bool is_step_worse(const struct night *night, double least_pct)
{
    for (size_t i = 0; i < night->jobs; i++)
        if (night->job[i].is_step_worse && night->job[i].step_change_pct >= least_pct)
            return true;
    return false;
}

static void add_kpis(struct night *night)
{
    static const struct kpi
        runs = { "runs", "Runs", "count", "Runs of the last night, and runs of other nights that were merged with it.",
                 NULL },
        failed = { "failed", "Failed runs", "count", "Of these, runs that were refused, failed, or never got a result.",
                   "night_failed" },
        worse = { "worse", "Regressed jobs", "count", "Jobs with an open regression that is not acknowledged.",
                  "night_worse" },
        better = { "better", "Improved jobs", "count",
                   "Jobs in which a figure improved this night, and none regressed.", NULL },
        step = { "step_change", "Largest increase in median step time", "%",
                 "The largest change of a median step time relative to the baseline of its job.", "night_worse" },
        absent = { "absent", "Missing jobs", "count",
                   "Jobs that ran on at least four of the previous seven nights, and have now paused for longer than "
                   "usual between two of those.",
                   "night_absent" },
        fresh = { "new", "New jobs", "count", "Jobs that never ran before these runs.", NULL };
    struct tm_value *list = tm_add_array(night->root, "kpis");
    const double change = worst_step(night), bad = (double)failed_of(night);
    const bool has_worse = night->of_state[NIGHT_WORSE] > 0, has_judged = judged_count(night) > 0;

    if (!*night->date)
        return;
    add_kpi(list, &runs, (double)night->of_night, "info", "");
    add_kpi(list, &failed, bad, bad > 0 ? "bad" : "good", "");
    add_kpi(list, &worse, has_judged ? (double)night->of_state[NIGHT_WORSE] : NAN,
            !has_judged                     ? "unknown"
            : !has_worse                    ? "good"
            : is_step_worse(night, bad_pct) ? "bad"
                                            : "warning",
            "no job has enough previous good runs");
    add_kpi(list, &better, has_judged ? (double)night->of_state[NIGHT_BETTER] : NAN, has_judged ? "good" : "unknown",
            "no job has enough previous good runs");
    add_kpi(list, &step, change,
            isnan(change)                   ? "unknown"
            : is_step_worse(night, bad_pct) ? "bad"
            : is_step_worse(night, 0)       ? "warning"
                                            : "good",
            "no job has enough previous good runs to compare its median step time with");
    add_kpi(list, &absent, (double)night->of_state[NIGHT_ABSENT],
            night->of_state[NIGHT_ABSENT] > 0 ? "warning" : "good", "");
    add_kpi(list, &fresh, (double)night->of_state[NIGHT_NEW], "info", "");
}

/* "counts", "kpis" */
static void night_add_head(struct night *night)
{
    add_counts(night);
    add_kpis(night);
}

/* --- at the end --- */

/* How many jobs, and how many runs, are listed at most: all of them must be found on the page. */
static size_t listed(const struct night *night)
{
    return night->options->rows < TM_ROWS_USUAL || night->options->rows > NIGHT_LISTED ? night->options->rows
                                                                                       : NIGHT_LISTED;
}

static void night_add_left_out(struct night *night)
{
    const size_t told = night->jobs - night->of_state[NIGHT_GONE], rows = night->options->rows;
    struct tm_value *to = tm_add_object(night->root, "left_out");

    tm_add_uint(to, "jobs", told > listed(night) ? told - listed(night) : 0);
    tm_add_uint(to, "runs", night->of_night > listed(night) ? night->of_night - listed(night) : 0);
    tm_add_uint(to, "dated_ahead", night->ahead > rows ? night->ahead - rows : 0);
    tm_add_uint(to, "regressions", night->regressions_left_out);
    tm_add_uint(to, "better", night->changes_left_out);
    tm_add_uint(to, "change_points", night->points_left_out);
    tm_add_uint(to, "jobs_without_trend", told - night->jobs_drawn);
}

static const char *severity_of(const struct night *night)
{
    if (failed_of(night) > 0 || tm_nightly_gates_failed(night) > 0 || is_step_worse(night, bad_pct))
        return "critical";
    if (night->of_state[NIGHT_WORSE] > 0 || tm_nightly_alarms(night->regressions) > 0 ||
        night->of_state[NIGHT_ABSENT] > 0 || night->status[TM_RESULT_PARTIAL] > 0 || night->ahead > 0)
        return "warning";
    return judged_count(night) > 0 ? "good" : "info";
}

static void tell_runs(const struct night *night, char text[TEXT_BYTES])
{
    const unsigned long long failed = failed_of(night), runs = night->of_night,
                             partial = night->status[TM_RESULT_PARTIAL];

    if (failed > 0)
        tm_format_append(text, TEXT_BYTES, "%llu of %llu runs failed", failed, runs);
    else if (runs == 1)
        tm_format_append(text, TEXT_BYTES, "The run is done");
    else
        tm_format_append(text, TEXT_BYTES, "All %llu runs are done", runs);
    if (partial > 0)
        tm_format_append(text, TEXT_BYTES, ", %llu with damaged input", partial);
    if (night->of_others > 0)
        tm_format_append(text, TEXT_BYTES, ", %llu from other nights", (unsigned long long)night->of_others);
}

static void tell_jobs(const struct night *night, char text[TEXT_BYTES])
{
    const size_t better = night->of_state[NIGHT_BETTER], absent = night->of_state[NIGHT_ABSENT],
                 fresh = night->of_state[NIGHT_NEW];
    const size_t open = tm_nightly_alarms(night->regressions), opened = night->regressions[NIGHT_OPENED],
                 unconfirmed = night->regressions[NIGHT_UNCONFIRMED], known = night->regressions[NIGHT_ACKNOWLEDGED];

    if (opened > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu job%s regressed", night->jobs_opened,
                         tm_format_plural(night->jobs_opened));
    if (better > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu job%s improved", better, tm_format_plural(better));
    if (opened + better == 0)
        tm_format_append(text, TEXT_BYTES,
                         judged_count(night) > 0 ? "; no job changed by more than the usual variation"
                                                 : "; no job has enough previous good runs to compare with");
    if (tm_nightly_gates_failed(night) > 0)
        tm_format_append(text, TEXT_BYTES, "; %llu failed %s gates", (unsigned long long)tm_nightly_gates_failed(night),
                         tm_nightly_gates_failed(night) == 1 ? "its" : "their");
    if (absent > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu job%s missing", absent, tm_format_plural(absent));
    if (open > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu regression%s open, %zu of them new", open, tm_format_plural(open),
                         opened);
    if (unconfirmed > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu to be confirmed", unconfirmed);
    if (known > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu acknowledged", known);
    if (night->machines > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu host%s slow", night->machines,
                         night->machines == 1 ? " is" : "s are");
    if (fresh > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu new job%s", fresh, tm_format_plural(fresh));
    if (night->ahead > 0)
        tm_format_append(text, TEXT_BYTES, "; %llu run%s with future dates %s not assessed",
                         (unsigned long long)night->ahead, tm_format_plural(night->ahead),
                         night->ahead == 1 ? "is" : "are");
    tm_format_append(text, TEXT_BYTES, ".");
}

/* "bert regressed the most: median step time 152 ms -> 171 ms (+12.4 %)." */
static void tell_worst(const struct night *night, char text[TEXT_BYTES])
{
    const struct tm_value *findings = tm_get(night->root, "findings");

    for (size_t i = 0; i < tm_length(findings); i++)
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), "night_worse") == 0) {
            tm_format_append(text, TEXT_BYTES, " Largest: %.400s.", tm_text(tm_get(tm_at(findings, i), "title")));
            return;
        }
}

static void night_add_verdict(struct night *night)
{
    struct tm_value *to = tm_add_object(night->root, "verdict");
    char text[TEXT_BYTES] = "";

    if (!*night->date) {
        tm_add_string(to, "text",
                      night->ahead ? "All runs have future dates, so none is assessed." : "The history is empty.");
        tm_add_string(to, "severity", night->ahead ? "warning" : "info");
        return;
    }
    tell_runs(night, text);
    tell_jobs(night, text);
    tell_worst(night, text);
    tm_add_text(to, "text", text, strlen(text));
    tm_add_string(to, "severity", severity_of(night));
}

/* The assessed runs, the failed ones among them, and those with future dates. */

struct lists {
    struct night *night;
    struct tm_value *runs, *failures, *ahead;
};

/* Data about a run in both lists. */
static struct tm_value *add_run(struct tm_value *list, const struct night *night, const struct tm_history_run *row)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_text(to, "job", row->keys.job, strlen(row->keys.job));
    tm_add_known(to, "run", row->name, "it has no name");
    tm_add_string(to, "id", row->id);
    tm_add_string(to, "night", row->keys.night);
    tm_add_int(to, "when_ns", row->keys.when_ns);
    tm_add_string(to, "status", row->status);
    tm_nightly_add_link(to, "report", night, row->report);
    tm_add_known(to, "message", row->message, "it did not fail");
    return to;
}

static void add_details(struct tm_value *to, const struct tm_history_run *row)
{
    tm_add_known(to, "revision", row->keys.revision, "it is unknown");
    tm_add_known(to, "label", row->keys.label, "none was given");
    tm_add_known(to, "training", row->keys.training, "the run is not a training run");
    if (row->keys.step >= 0)
        tm_add_int(to, "step", row->keys.step);
    else
        tm_add_null(to, "step", "the run is not a training run");
    tm_add_known(to, "platform", row->platform, "it is unknown");
    tm_add_known(to, "model", row->model, "it is unknown");
    tm_nightly_add_number(to, "hosts", row->hosts >= 0 ? (double)row->hosts : NAN, "it is unknown");
    tm_nightly_add_number(to, "devices", row->devices >= 0 ? (double)row->devices : NAN, "it is unknown");
    if (tm_history_is_current(row))
        tm_nightly_add_number(to, "step_time_ps", row->figure[0], "it has none");
    else
        tm_add_null(to, "step_time_ps", "an older tracemill defined it differently");
    tm_add_known(to, "severity", row->severity, "it has no verdict");
    tm_add_known(to, "verdict", row->verdict, "it has no verdict");
    tm_add_known(to, "gates", row->gates, "it was not assessed");
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct lists *lists = to;
    struct night *night = lists->night;
    const enum tm_result_status status = tm_result_status_of(row->status);

    if (!tm_history_is_judged(night->judged, row))
        return TM_OK;
    night->of_night++;
    night->of_others += strcmp(row->keys.night, night->date) != 0;
    night->status[status]++;
    if (tm_length(lists->runs) < listed(night))
        add_details(add_run(lists->runs, night, row), row);
    if (status != TM_RESULT_DONE && tm_length(lists->failures) < night->options->rows)
        (void)add_run(lists->failures, night, row);
    return tm_doc_status(night->doc);
}

static tm_status take_ahead(void *to, const struct tm_history_run *row)
{
    struct lists *lists = to;

    if (tm_length(lists->ahead) < lists->night->options->rows)
        (void)add_run(lists->ahead, lists->night, row);
    return tm_doc_status(lists->night->doc);
}

/* "runs", "failures", "dated_ahead"; counts them */
static tm_status night_add_runs(struct night *night)
{
    struct lists lists = { .night = night };
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .judged = night->judged },
                                  ahead = { .order = TM_HISTORY_BY_JOB, .after = night->judged->until };

    lists.failures = tm_add_array(night->root, "failures");
    lists.runs = tm_add_array(night->root, "runs");
    lists.ahead = tm_add_array(night->root, "dated_ahead");
    if (*night->date)
        tm_history_visit(night->source, &query, take_run, &lists);
    return tm_history_visit(night->source, &ahead, take_ahead, &lists);
}

/* A job as a row, and which of its figures regressed or improved. */

static void add_figure(struct tm_value *to, const struct night_figure *judged)
{
    static const char not_judged[] = "there are too few previous good runs";

    tm_nightly_add_number(to, "value", judged->value, "the run does not have it");
    tm_nightly_add_number(to, "before", judged->before, not_judged);
    tm_nightly_add_number(to, "band", judged->band, not_judged);
    tm_nightly_add_number(to, "change", judged->change, not_judged);
    tm_add_string(to, "state", tm_nightly_state_words[judged->state]);
}

/* The end of a JSON string that starts at its quotation mark. */
static const char *end_of_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* {"owner":"alice","pool":"a b"} as 'owner=alice pool="a b"': how the filter of the table finds a job.  A value that
 * could be mistaken for the end of a label stays a JSON string.  Labels that do not fit are omitted. */
static void add_labels(struct tm_value *to, const char *labels)
{
    char text[NIGHT_TEXT] = "";
    size_t used = 0;

    for (const char *at = strchr(labels, '"'); at; at = strchr(at, '"')) {
        const char *const key = at, *const key_end = end_of_string(key), *const value = strchr(key_end, '"'),
                          *const end = value ? end_of_string(value) : NULL;
        int length;

        if (!end)
            break;
        const int bare = (int)(end - value) - 2;
        const bool is_plain = bare > 0 && (int)strcspn(value + 1, " =\\\"") >= bare;

        length = snprintf(text + used, sizeof(text) - used, "%s%.*s=%.*s", used ? " " : "", (int)(key_end - key) - 2,
                          key + 1, is_plain ? bare : bare + 2, value + is_plain);
        if (length < 0 || (size_t)length >= sizeof(text) - used) {
            text[used] = '\0';
            break;
        }
        used += (size_t)length;
        at = end;
    }
    tm_add_known(to, "labels", text, "none were given");
}

static void add_newest(struct tm_value *to, const struct night *night, const struct night_judgement *judged)
{
    const struct night_texts *texts = &night->history->texts;

    tm_add_known(to, "run", texts->name, "it has no name");
    tm_add_string(to, "id", judged->newest->id);
    tm_add_string(to, "night", judged->newest->night);
    tm_add_int(to, "when_ns", judged->newest->when_ns);
    tm_add_string(to, "status", tm_result_status_words[judged->newest->status]);
    tm_nightly_add_link(to, "report", night, texts->report);
    tm_add_known(to, "message", texts->message, "it did not fail");
    tm_add_known(to, "revision", judged->newest->revision, "it is unknown");
    tm_add_known(to, "label", texts->label, "none was given");
    add_labels(to, texts->labels);
    tm_add_known(to, "platform", texts->platform, "it is unknown");
    tm_add_known(to, "model", texts->model, "it is unknown");
    tm_nightly_add_number(to, "hosts", texts->hosts >= 0 ? (double)texts->hosts : NAN, "it is unknown");
    tm_nightly_add_number(to, "devices", texts->devices >= 0 ? (double)texts->devices : NAN, "it is unknown");
    tm_add_known(to, "severity", texts->severity, "it has no verdict");
    tm_add_known(to, "verdict", texts->verdict, "it has no verdict");
    tm_add_known(to, "finding", texts->finding, "it has none");
    tm_add_known(to, "gates", texts->gates, "it was not assessed");
}

/* Median step times of the last good runs on the hardware of the newest one, oldest first. */
static void add_recent(struct tm_value *to, const struct night_history *history, const struct night_point *newest)
{
    double value[NIGHT_RECENT];
    size_t count = 0;
    struct tm_value *list;

    for (size_t i = history->count; i > 0 && count < NIGHT_RECENT; i--) {
        const struct night_point *const point = tm_nightly_point_at(history, i - 1);

        if (point->status == TM_RESULT_DONE && point->is_current && point->hardware == newest->hardware &&
            !isnan(point->figure[0]))
            value[count++] = point->figure[0];
    }
    if (count < 2) {
        tm_add_null(to, "recent", "fewer than two good runs have a step time");
        return;
    }
    list = tm_add_array(to, "recent");
    while (count > 0)
        tm_nightly_add_number(list, NULL, value[--count], "");
}

/* For the job that was read last. */
/* a row of "jobs" */
static void night_add_job(struct night *night, const struct night_judgement *judged)
{
    struct tm_value *to = tm_add_object(tm_member(night->root, "jobs"), NULL), *figures;

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "state", tm_nightly_state_words[judged->state]);
    add_newest(to, night, judged);
    tm_add_uint(to, "runs", night->history->runs);
    add_recent(to, night->history, judged->newest);
    figures = tm_add_object(to, "figures");
    for (size_t i = 0; i < tm_figure_count; i++)
        if (tm_nightly_counts(&tm_figure_table[i]))
            add_figure(tm_add_object(figures, tm_figure_table[i].id), &judged->figure[i]);
}

static void add_change(struct tm_value *list, const struct night *night, const struct night_judgement *judged,
                       size_t figure)
{
    const struct night_figure *change = &judged->figure[figure];
    struct tm_value *to = tm_add_object(list, NULL);
    char text[TM_FORMAT_BYTES];

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "id", judged->newest->id);
    tm_nightly_add_link(to, "report", night, night->history->texts.report);
    tm_add_string(to, "figure", tm_figure_table[figure].id);
    tm_add_string(to, "title", tm_figure_table[figure].name);
    tm_add_string(to, "unit", tm_doc_unit(tm_figure_table[figure].kind));
    tm_nightly_add_number(to, "value", change->value, "");
    tm_nightly_add_number(to, "before", change->before, "");
    tm_nightly_add_number(to, "change", change->change, "it was 0");
    tm_nightly_add_number(to, "band", change->band, "");
    tm_add_uint(to, "runs", change->runs);
    tm_add_string(to, "value_text", tm_nightly_value(text, change->value, &tm_figure_table[figure]));
    tm_add_string(to, "before_text", tm_nightly_value(text, change->before, &tm_figure_table[figure]));
    tm_add_known(to, "change_text", tm_nightly_change(text, change->change, &tm_figure_table[figure]), "it was 0");
    tm_add_string(to, "band_text", tm_nightly_value(text, change->band, &tm_figure_table[figure]));
}

static void night_add_changes(struct night *night, const struct night_judgement *judged)
{
    for (size_t i = 0; i < tm_figure_count; i++) {
        const enum night_state state = judged->figure[i].state;
        struct tm_value *list = tm_member(night->root, "better");

        if (state != NIGHT_BETTER || !tm_nightly_counts(&tm_figure_table[i]))
            continue;
        if (tm_length(list) < night->options->rows)
            add_change(list, night, judged, i);
        else
            night->changes_left_out++;
    }
}

/* --- one pass over all runs --- */

enum { FIRST_ROOM = 64, NUMBERS = 4 * NIGHT_POINTS + 1 };

static tm_status more_room(struct night *night)
{
    const size_t room = night->room ? 2 * night->room : FIRST_ROOM;
    struct night_job *job;

    if (night->jobs < night->room)
        return TM_OK;
    job = tm_retake(&night->run->budget, TM_ACCOUNT_MODEL, night->job, night->room * sizeof(*job), room * sizeof(*job),
                    &night->run->error);
    if (!job)
        return night->run->error.status;
    night->job = job;
    night->room = room;
    return TM_OK;
}

/* Put the slow hosts of a job together with those of other jobs. */
static void note_machines(struct night *night)
{
    struct night_machine found[NIGHT_MACHINES];
    const size_t count = tm_nightly_mark_machines(night->history, found);

    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        while (at < night->machines && strcmp(night->machine[at].host, found[i].host) != 0)
            at++;
        if (at == NIGHT_MACHINES)
            continue;
        if (at == night->machines) {
            night->machine[night->machines++] = found[i];
            continue;
        }
        night->machine[at].runs += found[i].runs;
        night->machine[at].jobs++;
        night->machine[at].slower_pct = fmax(night->machine[at].slower_pct, found[i].slower_pct);
        if (strcmp(found[i].night, night->machine[at].night) > 0)
            memcpy(night->machine[at].night, found[i].night, sizeof(found[i].night));
    }
}

static tm_status end_job(struct night *night)
{
    struct night_judgement judged;
    struct night_levels levels;
    struct night_job *job;

    if (night->history->count == 0)
        return TM_OK;
    if (more_room(night))
        return night->run->error.status;
    if (tm_nightly_read_records(&night->records, night->run, night->source, night->history->job) ||
        tm_history_find_levels(night->source, night->history->job, &levels))
        goto out;
    note_machines(night);
    tm_nightly_judge(&judged, night->history, &night->records, &levels);
    job = &night->job[night->jobs++];
    memcpy(job->job, night->history->job, sizeof(job->job));
    memcpy(job->nights, night->history->nights, sizeof(job->nights));
    job->state = judged.state;
    tm_nightly_count_regressions(night, job);
    tm_nightly_note_spread(night, job);
    night->jobs_that_ran += judged.state != NIGHT_GONE;
    job->weight = judged.weight;
    job->step_change_pct = judged.newest ? judged.figure[0].change : NAN;
    job->is_step_worse = judged.newest && judged.figure[0].state == NIGHT_WORSE;
    for (size_t i = 0; i < NIGHT_NIGHTS; i++)
        tm_nightly_keep_night(night->usual, job->nights[i]);
out:
    tm_nightly_free_records(&night->records);
    return night->run->error.status;
}

static tm_status take_history_run(void *to, const struct tm_history_run *row)
{
    struct night *night = to;

    night->runs++;
    night->older += !tm_history_is_current(row);
    night->ahead += tm_history_is_ahead(night->judged, row);
    if (tm_history_is_ahead(night->judged, row))
        return TM_OK;
    if (night->history->count == 0 || strcmp(night->history->job, row->keys.job) != 0) {
        if (end_job(night))
            return night->run->error.status;
        tm_nightly_history_begin(night->history, row->keys.job, night->judged);
    }
    tm_nightly_history_add(night->history, row);
    return TM_OK;
}

static bool ran_on(const struct night_job *job, const char *night)
{
    for (size_t i = 0; i < NIGHT_NIGHTS && *night; i++)
        if (strcmp(night, job->nights[i]) == 0)
            return true;
    return false;
}

/* A job is missed if it ran on NIGHT_USUAL of the usual nights before the last one, and has now paused for longer than
 * between any two of them: a job that runs every other night is not missed on the nights between. */
static bool is_missed(const struct night *night, const struct night_job *job)
{
    size_t count = 0, last = 0, before = 0,
           longest = 0; /* places in `usual`; 0 = none yet, since it did not run there */

    for (size_t i = 1; i < NIGHT_NIGHTS; i++) {
        if (!ran_on(job, night->usual[i]))
            continue;
        count++;
        last = last ? last : i;
        longest = before && i - before > longest ? i - before : longest;
        before = i;
    }
    return count >= NIGHT_USUAL && last + 1 > longest;
}

static int by_importance(const void *a, const void *b)
{
    const struct night_job *x = a, *y = b;

    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->job, y->job);
}

static tm_status look_at_jobs(struct night *night)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };

    tm_nightly_history_begin(night->history, "", night->judged);
    if (tm_history_visit(night->source, &all, take_history_run, night) || end_job(night))
        return night->run->error.status;
    for (size_t i = 0; i < night->jobs; i++) {
        /* A late run of an older night does not hide that there is none of this night. */
        if (night->job[i].state > NIGHT_ABSENT && !ran_on(&night->job[i], night->date) &&
            is_missed(night, &night->job[i]))
            night->job[i].state = NIGHT_ABSENT;
        night->of_state[night->job[i].state]++;
    }
    if (night->jobs > 1)
        qsort(night->job, night->jobs, sizeof(*night->job), by_importance);
    return TM_OK;
}

/* --- the jobs that matter most --- */

static tm_status take_run_of_job(void *to, const struct tm_history_run *row)
{
    tm_nightly_history_add(to, row);
    return TM_OK;
}

/* Read the regressions of one job into night->records. */
static tm_status night_read_regressions(struct night *night, const char *job)
{
    tm_nightly_free_records(&night->records);
    return tm_nightly_read_records(&night->records, night->run, night->source, job);
}

/* Read the regressions of one job, and its runs into night->history. */
static tm_status night_read_job(struct night *night, const char *job)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .job = job, .until = night->judged->until };
    struct night_machine machines[NIGHT_MACHINES];

    tm_nightly_history_begin(night->history, job, night->judged);
    if (night_read_regressions(night, job) || tm_history_visit(night->source, &query, take_run_of_job, night->history))
        return night->run->error.status;
    (void)tm_nightly_mark_machines(night->history, machines);
    return TM_OK;
}

static tm_status write_jobs(struct night *night)
{
    const size_t told = night->jobs - night->of_state[NIGHT_GONE];

    for (size_t i = 0; i < told && i < listed(night); i++) {
        struct night_judgement judged;
        struct night_levels levels;

        if (night_read_job(night, night->job[i].job) ||
            tm_history_find_levels(night->source, night->job[i].job, &levels))
            return night->run->error.status;
        tm_nightly_judge(&judged, night->history, &night->records, &levels);
        judged.state = night->job[i].state;
        night_add_job(night, &judged);
        night_add_changes(night, &judged);
        tm_nightly_add_worse_finding(night, &judged);
        tm_nightly_add_trends(night, &judged, i < NIGHT_TREND_JOBS);
    }
    return tm_doc_status(night->doc);
}

/* Those that opened first. */
static tm_status write_regressions(struct night *night)
{
    for (int part = 0; part < NIGHT_PARTS; part++)
        for (size_t i = 0; i < night->jobs; i++) {
            const struct night_job *job = &night->job[i];

            if (job->regressions[part] == 0)
                continue;
            if (night_read_regressions(night, job->job))
                return night->run->error.status;
            tm_nightly_add_regressions(night, (enum night_part)part);
        }
    tm_nightly_add_groups(night);
    return tm_doc_status(night->doc);
}

/* The lists, in the order of the document; they are filled job by job. */
static void begin_lists(struct night *night)
{
    static const char *const lists[] = { "findings", "regressions", "revisions", "unconfirmed", "acknowledged",
                                         "closed",   "better",      "jobs",      "trends",      "change_points" };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        (void)tm_add_array(night->root, lists[i]);
}

static tm_status fill(struct night *night)
{
    const struct tm_compare_options head = { .title = night->options->title,
                                             .note = night->options->note,
                                             .rows = night->options->rows };
    tm_status st;

    tm_add_study_head(night->root, "tracemill.night", &head, false);
    if (look_at_jobs(night))
        return night->run->error.status;
    night_add_place(night);
    begin_lists(night);
    st = night_add_runs(night);
    if (st)
        return st;
    night_add_head(night);
    st = write_regressions(night);
    if (st)
        return st;
    tm_nightly_add_failed_finding(night);
    tm_nightly_add_gates_finding(night);
    st = write_jobs(night);
    if (st)
        return st;
    tm_nightly_add_absent_finding(night);
    tm_nightly_add_machine_findings(night);
    tm_nightly_add_ahead_finding(night);
    tm_nightly_add_unstable(night);
    tm_nightly_add_gates(night);
    night_add_left_out(night);
    night_add_verdict(night);
    return tm_doc_status(night->doc);
}

tm_status tm_nightly_fill(struct tm_run *run, struct tm_doc *out, struct tm_history *history,
                          const struct tm_nightly_options *options)
{
    const size_t bytes = sizeof(struct night_history) + sizeof(struct night_series) + NUMBERS * sizeof(double);
    struct night night = { .run = run,
                           .doc = out,
                           .root = tm_doc_root(out),
                           .source = history,
                           .options = options,
                           .judged = options->judged,
                           .date = options->judged->last };
    tm_status st;

    night.history = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!night.history)
        return run->error.status;
    night.watched = (struct night_series *)(void *)(night.history + 1);
    night.series = (double *)(void *)(night.watched + 1);
    night.scratch = night.series + NIGHT_POINTS;
    st = fill(&night);
    tm_nightly_free_records(&night.records);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, night.job, night.room * sizeof(*night.job));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, night.history, bytes);
    return st;
}
