/* SPDX-License-Identifier: Apache-2.0 */
/* Did a job regress?  The ledger decides (ledger.c); here the newest run of the page is compared with the baseline of
 * each figure, for the list of jobs, the charts and the findings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/history/history.h"

const char *const tm_nightly_state_words[] = {
    [NIGHT_FAILED] = "failed",    [NIGHT_WORSE] = "worse",   [NIGHT_ABSENT] = "absent",
    [NIGHT_PARTIAL] = "partial",  [NIGHT_BETTER] = "better", [NIGHT_NEW] = "new",
    [NIGHT_YOUNG] = "not_judged", [NIGHT_SAME] = "same",     [NIGHT_GONE] = "gone",
};

/* Its figures count: it is done, and its input is complete. */
static bool is_good(const struct night_point *point)
{
    return point->status == TM_RESULT_DONE;
}

/* Used by the parts of the document to write values. */

static const double whole_most = 1e15; /* a double represents each of them exactly */

void tm_nightly_add_number(struct tm_value *to, const char *key, double value, const char *why)
{
    if (fabs(value) <= whole_most && rint(value) == value)
        tm_add_int(to, key, (int64_t)value);
    else
        tm_add_figure(to, key, value, why);
}

static bool is_share(const struct tm_run_figure *figure)
{
    return figure->kind == TM_DOC_PERCENT;
}

/* As written after a value: a count has a word there. */
static const char *unit_of(const struct tm_run_figure *figure)
{
    return figure->kind == TM_DOC_COUNT ? "count" : tm_doc_unit(figure->kind);
}

char *tm_nightly_value(char *out, double value, const struct tm_run_figure *figure)
{
    return tm_format_unit(out, value, unit_of(figure));
}

char *tm_nightly_change(char *out, double change, const struct tm_run_figure *figure)
{
    return tm_format_change(out, change, is_share(figure));
}

/* In percent, or in points of a share; NaN = 0 before. */
double tm_nightly_change_of(const struct tm_run_figure *figure, double before, double after)
{
    return is_share(figure) ? after - before : before != 0 ? 100 * (after - before) / fabs(before) : NAN;
}

/* The record of a figure of the series that is open.  in: text  of its key */
static const struct tm_history_regression *open_record(const struct night_records *records, const char *text,
                                                       size_t figure)
{
    for (const struct night_record *at = records->first; at; at = at->next)
        if (tm_ledger_is_open(&at->of) && tm_nightly_is_of(&at->of, text, figure))
            return &at->of;
    return NULL;
}

static void judge_figure(struct night_figure *to, const struct tm_run_figure *figure, const struct night_level *level,
                         double step_before)
{
    const struct tm_history_regression *const open = to->open;
    const bool is_alarm = open && tm_ledger_is_alarm(open);
    double change;

    to->runs = level->values;
    if (isnan(to->value) || (isnan(level->level) && !open))
        return;
    to->before = open ? open->before : level->is_improved ? level->improved_from : level->level;
    to->band = level->band;
    change = (is_alarm ? open->after : to->value) - to->before;
    to->change = tm_nightly_change_of(figure, to->before, to->value);
    to->weight = tm_figure_is_of_parts(figure) && step_before > 0 ? fabs(change) / step_before
                 : to->before != 0                                ? fabs(change / to->before)
                                                                  : 1; /* relative to 0 */
    to->state = is_alarm ? NIGHT_WORSE : !open && level->is_improved ? NIGHT_BETTER : NIGHT_SAME;
}

/* The step time if it changed; else the largest regression; else an improvement. */
static void judge_job(struct night_judgement *to)
{
    size_t judged = 0;

    to->state = NIGHT_SAME;
    for (size_t i = 0; i < tm_figure_count; i++) {
        const struct night_figure *figure = &to->figure[i];
        const bool is_step = i == 0, is_first = to->worst == tm_figure_count;

        judged += tm_nightly_counts(&tm_figure_table[i]) && figure->state != NIGHT_YOUNG;
        if (!tm_nightly_counts(&tm_figure_table[i]) || (figure->state != NIGHT_WORSE && figure->state != NIGHT_BETTER))
            continue;
        if (!is_first && (to->worst == 0 || figure->state > to->state ||
                          (figure->state == to->state && figure->weight <= to->weight)))
            continue;
        to->state = figure->state;
        to->worst = i;
        to->weight = figure->weight + (is_step ? 1000 : 0); /* changes of the step time come first */
    }
    if (judged == 0)
        to->state = NIGHT_YOUNG;
}

size_t tm_nightly_newest(const struct night_history *history)
{
    size_t at = history->count;

    while (at > 0 && !tm_nightly_point_at(history, at - 1)->is_judged)
        at--;
    return at;
}

static bool ran_before(const struct night_history *history)
{
    return history->runs > history->count || !tm_nightly_point_at(history, 0)->is_judged;
}

void tm_nightly_judge(struct night_judgement *to, const struct night_history *history,
                      const struct night_records *records, const struct night_levels *levels)
{
    static const struct night_level unknown = { .level = NAN, .band = NAN, .improved_from = NAN };
    const size_t newest = tm_nightly_newest(history);
    const struct night_level *level = levels->of;
    char text[TM_FINGERPRINT_BYTES];
    bool is_known;

    *to = (struct night_judgement){ .state = NIGHT_GONE, .worst = tm_figure_count };
    if (history->count == 0)
        return;
    to->newest = tm_nightly_point_at(history, newest > 0 ? newest - 1 : history->count - 1);
    for (size_t i = 0; i < tm_figure_count; i++)
        to->figure[i] = (struct night_figure){
            .value = to->newest->figure[i], .before = NAN, .band = NAN, .change = NAN, .state = NIGHT_YOUNG
        };
    if (newest == 0)
        return;
    if (!is_good(to->newest)) {
        to->state = to->newest->status == TM_RESULT_PARTIAL ? NIGHT_PARTIAL : NIGHT_FAILED;
        return;
    }
    is_known = levels->hardware == to->newest->hardware;
    tm_nightly_series_text(text, to->newest->hardware);
    for (size_t i = 0; i < tm_figure_count; i++) {
        if (!tm_nightly_counts(&tm_figure_table[i]))
            continue;
        to->figure[i].open = open_record(records, text, i);
        judge_figure(&to->figure[i], &tm_figure_table[i], is_known ? level++ : &unknown, to->figure[0].before);
    }
    judge_job(to);
    if (to->state == NIGHT_YOUNG && !ran_before(history))
        to->state = NIGHT_NEW;
}

/* The results of this merge's gates for the night's runs, failed ones first. */

static const char *const gates_shown[] = { "failed", "unknown" };

static void copy_text(struct tm_value *to, const char *key, const struct tm_value *from, const char *why)
{
    tm_add_known(to, key, tm_text(tm_get(from, key)), why);
}

static void add_gate(struct tm_value *list, const struct tm_value *run, const struct tm_value *gate)
{
    struct tm_value *to = tm_add_object(list, NULL);

    copy_text(to, "job", run, "it is unknown");
    copy_text(to, "id", run, "it is unknown");
    copy_text(to, "status", gate, "it is unknown");
    copy_text(to, "figure", gate, "it is unknown");
    copy_text(to, "title", gate, "it has none");
    copy_text(to, "value_text", gate, "the run does not have it");
    copy_text(to, "limit_text", gate, "it is unknown");
    copy_text(to, "baseline_text", gate, "there is none");
    tm_add_known(to, "reason", tm_text(tm_get(gate, "why")), "see the value");
}

static void add_of_status(struct tm_value *list, struct night *night, const char *status)
{
    const struct tm_value *runs = tm_get(night->options->gates, "runs");

    for (size_t i = 0; i < tm_length(runs); i++) {
        const struct tm_value *gates = tm_get(tm_at(runs, i), "gates");

        for (size_t k = 0; k < tm_length(gates); k++)
            if (strcmp(tm_text(tm_get(tm_at(gates, k), "status")), status) == 0 &&
                tm_length(list) < night->options->rows)
                add_gate(list, tm_at(runs, i), tm_at(gates, k));
    }
}

static void add_counts(struct tm_value *to, const struct tm_value *counts)
{
    for (size_t i = 0; i < tm_length(counts); i++)
        if (tm_type_of(tm_value_at(counts, i)) == TM_INT)
            tm_add_int(to, tm_key_at(counts, i), tm_int(tm_value_at(counts, i)));
}

uint64_t tm_nightly_gates_failed(const struct night *night)
{
    return (uint64_t)tm_int(tm_path(night->options->gates, "counts.failed"));
}

void tm_nightly_add_gates(struct night *night)
{
    const struct tm_value *gates = night->options->gates;
    struct tm_value *to, *list;

    if (!gates) {
        tm_add_null(night->root, "gates", "none was requested");
        return;
    }
    to = tm_add_object(night->root, "gates");
    copy_text(to, "gate_file", gates, "they are expressions");
    copy_text(to, "baseline", gates, "there is none");
    add_counts(tm_add_object(to, "counts"), tm_get(gates, "counts"));
    list = tm_add_array(to, "list");
    for (size_t i = 0; i < sizeof(gates_shown) / sizeof(gates_shown[0]); i++)
        add_of_status(list, night, gates_shown[i]);
}

/* Figures of a job over its runs, and where they change: by time, and by the step of the training run of its
 * newest run. */

/* Runs of a job in some order. */
struct axis {
    const char *name;     /* "time", "step" */
    const char *training; /* of steps */
    uint16_t place[NIGHT_POINTS];
    size_t count;
    uint64_t left_out; /* older ones */
};

/* The places of runs whose figures can be compared, in time order.  out: their number */
static size_t nightly_all_places(const struct night_history *history, uint16_t place[NIGHT_POINTS])
{
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (tm_nightly_point_at(history, i)->is_current)
            place[count++] = (uint16_t)i;
    return count;
}

static int by_step(const void *a, const void *b, void *of)
{
    const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    const int64_t x_step = tm_nightly_point_at(of, x)->step, y_step = tm_nightly_point_at(of, y)->step;

    return x_step != y_step ? (x_step < y_step ? -1 : 1) : (x > y) - (x < y);
}

static void take_training(struct axis *to, struct night_history *history, const char *training)
{
    *to = (struct axis){ .name = "step", .training = training };
    for (size_t i = 0; i < history->count; i++) {
        const struct night_point *point = tm_nightly_point_at(history, i);

        if (point->is_current && point->step >= 0 && strcmp(point->training, training) == 0)
            to->place[to->count++] = (uint16_t)i;
    }
    qsort_r(to->place, to->count, sizeof(to->place[0]), by_step, history);
}

/* The good values of a figure in the runs of `index`, and where they change.
 * in:     index  places in the history, `count` of them
 * out:    value_index  of each value: its place in `index`
 * (returns) the number of changes; their `at` is a place in `index` */
static size_t nightly_find_changes(const struct night *night, size_t figure, const uint16_t *index, size_t count,
                                   struct tm_change_point points[TM_CHANGE_POINTS_MOST])
{
    const struct tm_run_figure *kind = &tm_figure_table[figure];
    uint16_t place[NIGHT_POINTS] = { 0 };
    size_t values = 0, found;

    for (size_t i = 0; i < count; i++) {
        const struct night_point *point = tm_nightly_point_at(night->history, index[i]);

        if (!is_good(point) || isnan(point->figure[figure]))
            continue;
        place[values] = (uint16_t)i;
        night->series[values++] = point->figure[figure];
    }
    found = tm_change_points((struct tm_sample){ night->series, values }, tm_nightly_least_change(kind), night->scratch,
                             points);
    for (size_t i = 0; i < found; i++)
        points[i].at = place[points[i].at];
    return found;
}

/* --- writing --- */

static const char *change_word(const struct tm_run_figure *figure, const struct tm_change_point *change)
{
    return figure->better == TM_BETTER_NEITHER                                       ? "other"
           : (change->after > change->before) == (figure->better == TM_BETTER_LOWER) ? "worse"
                                                                                     : "better";
}

static void add_change(struct tm_value *to, const struct night *night, size_t figure, const struct axis *axis,
                       const struct tm_change_point *change)
{
    const struct tm_run_figure *kind = &tm_figure_table[figure];
    const struct night_point *point = tm_nightly_point_at(night->history, axis->place[change->at]);

    tm_add_string(to, "state", change_word(kind, change));
    tm_nightly_add_number(to, "before", change->before, "");
    tm_nightly_add_number(to, "after", change->after, "");
    tm_nightly_add_number(to, "change", tm_nightly_change_of(kind, change->before, change->after), "it was 0");
    tm_add_double(to, "p", change->p);
    tm_add_string(to, "night", point->night);
    tm_add_int(to, "when_ns", point->when_ns);
    if (point->step >= 0)
        tm_add_int(to, "step", point->step);
    else
        tm_add_null(to, "step", "the run is not a training run");
    tm_add_string(to, "id", point->id);
    tm_add_known(to, "revision", point->revision, "it is unknown");
    tm_add_known(to, "revision_before",
                 change->at > 0 ? tm_nightly_point_at(night->history, axis->place[change->at - 1])->revision : "",
                 "it is unknown");
}

static void add_place(struct tm_value *to, const struct night *night, size_t figure, const struct axis *axis)
{
    const struct tm_run_figure *kind = &tm_figure_table[figure];

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "figure", kind->id);
    tm_add_string(to, "title", kind->name);
    tm_add_string(to, "unit", tm_doc_unit(kind->kind));
    tm_add_string(to, "axis", axis->name);
    tm_add_known(to, "training", axis->training ? axis->training : "", "the runs are ordered by time");
}

/* Changes as their own rows list. */
static void tell_changes(struct night *night, size_t figure, const struct axis *axis,
                         const struct tm_change_point *points, size_t count)
{
    struct tm_value *list = tm_member(night->root, "change_points");
    const struct tm_run_figure *kind = &tm_figure_table[figure];
    char text[TM_FORMAT_BYTES];

    for (size_t i = count; i > 0; i--) {
        struct tm_value *to;

        if (tm_length(list) >= night->options->rows) {
            night->points_left_out++;
            continue;
        }
        to = tm_add_object(list, NULL);
        add_place(to, night, figure, axis);
        add_change(to, night, figure, axis, &points[i - 1]);
        tm_add_string(to, "before_text", tm_nightly_value(text, points[i - 1].before, kind));
        tm_add_string(to, "after_text", tm_nightly_value(text, points[i - 1].after, kind));
        tm_add_known(
            to, "change_text",
            tm_nightly_change(text, tm_nightly_change_of(kind, points[i - 1].before, points[i - 1].after), kind),
            "it was 0");
    }
}

/* What the newest run is compared with; nothing for another axis or a failed run. */
static void add_usual(struct tm_value *to, const struct night_figure *judged, bool is_by_time)
{
    static const char why[] = "the newest run is not compared";

    tm_add_string(to, "state", tm_nightly_state_words[is_by_time ? judged->state : NIGHT_YOUNG]);
    tm_nightly_add_number(to, "before", is_by_time ? judged->before : NAN, why);
    tm_nightly_add_number(to, "band", is_by_time ? judged->band : NAN, why);
    tm_add_uint(to, "runs", is_by_time ? judged->runs : 0);
}

static void draw(struct night *night, const struct night_figure *judged, size_t figure, const struct axis *axis,
                 const struct tm_change_point *points, size_t count)
{
    struct tm_value *to = tm_add_object(tm_member(night->root, "trends"), NULL), *list;

    add_place(to, night, figure, axis);
    add_usual(to, judged, !axis->training);
    list = tm_add_array(to, "points");
    for (size_t i = 0; i < axis->count; i++) {
        const struct night_point *point = tm_nightly_point_at(night->history, axis->place[i]);
        struct tm_value *of = tm_add_object(list, NULL);

        tm_add_int(of, "at", axis->training ? point->step : point->when_ns);
        if (point->status <= TM_RESULT_PARTIAL)
            tm_nightly_add_number(of, "value", point->figure[figure], "the run does not have it");
        else
            tm_add_null(of, "value", "the run failed");
        tm_add_string(of, "status", tm_result_status_words[point->status]);
    }
    list = tm_add_array(to, "changes");
    for (size_t i = 0; i < count; i++) {
        struct tm_value *of = tm_add_object(list, NULL);

        tm_add_uint(of, "at", points[i].at);
        add_change(of, night, figure, axis, &points[i]);
    }
    tm_add_uint(to, "left_out", axis->left_out);
    night->trends++;
}

/* --- choosing --- */

static size_t known(const struct night *night, size_t figure, const struct axis *axis)
{
    size_t count = 0;

    for (size_t i = 0; i < axis->count; i++)
        count += !isnan(tm_nightly_point_at(night->history, axis->place[i])->figure[figure]);
    return count;
}

/* The importance of a figure: the one that determines the state of the job, the step time, current changes, earlier
 * changes. */
static int interest(const struct night_judgement *judged, size_t figure, size_t changes)
{
    if (figure == judged->worst)
        return 4;
    if (figure == 0)
        return 3;
    if (judged->figure[figure].state == NIGHT_WORSE || judged->figure[figure].state == NIGHT_BETTER)
        return 2;
    return changes > 0;
}

static void add_axis(struct night *night, const struct night_judgement *judged, const struct axis *axis, bool is_drawn)
{
    struct tm_change_point points[TM_CHANGE_POINTS_MOST];
    int of[TM_FIGURES_MOST] = { 0 };
    size_t drawn = 0;

    for (size_t i = 0; i < tm_figure_count; i++) {
        size_t count;

        if (!tm_figure_table[i].has_trend || known(night, i, axis) < 2)
            continue;
        count = nightly_find_changes(night, i, axis->place, axis->count, points);
        tell_changes(night, i, axis, points, count);
        of[i] = interest(judged, i, count);
    }
    for (int wanted = 4; wanted > 0 && is_drawn; wanted--)
        for (size_t i = 0; i < tm_figure_count; i++) {
            if (of[i] != wanted || drawn == NIGHT_TRENDS_OF_JOB || night->trends == NIGHT_TRENDS)
                continue;
            draw(night, &judged->figure[i], i, axis, points,
                 nightly_find_changes(night, i, axis->place, axis->count, points));
            drawn++;
        }
}

static bool has_nights(const struct night_history *history)
{
    return *history->nights[1] != 0;
}

void tm_nightly_add_trends(struct night *night, const struct night_judgement *judged, bool is_drawn)
{
    struct night_history *history = night->history;
    struct axis axis = { .name = "time" };
    const char *training = judged->newest ? judged->newest->training : "";

    const size_t drawn = night->trends;

    axis.count = nightly_all_places(history, axis.place);
    axis.left_out = history->runs - axis.count;
    if (has_nights(history) || !*training)
        add_axis(night, judged, &axis, is_drawn);
    if (*training) {
        take_training(&axis, history, training);
        add_axis(night, judged, &axis, is_drawn);
    }
    night->jobs_drawn += night->trends > drawn;
}

/* The most important results first: failures, regressions, missing runs. */

enum { WORSE_MOST = 48, LISTED = 8, NAMED = 4, NAME_CHARS = 48, TEXT_BYTES = 1024 };

static const double bad_pct = 10; /* of a step */

/* --- writing one --- */

static struct tm_value *begin(struct night *night, const char *id, const char *severity)
{
    struct tm_value *to = tm_add_object(tm_member(night->root, "findings"), NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "severity", severity);
    return to;
}

static struct tm_value *add_value(struct tm_value *to, double value, const char *unit, double limit)
{
    tm_nightly_add_number(to, "value", value, "it is not about a single figure");
    tm_add_string(to, "unit", unit);
    tm_nightly_add_number(to, "limit", limit, "it has none");
    return tm_add_array(to, "evidence");
}

/* out: the list of what to do */
static struct tm_value *end(struct tm_value *to, int64_t at_stake_ps)
{
    struct tm_value *fix;

    tm_add_int(to, "at_stake_ps", at_stake_ps);
    tm_add_string(to, "stake_of", "a step");
    tm_add_null(to, "share_pct", "a step has no window");
    tm_add_string(to, "cause", "");
    fix = tm_add_array(to, "fix");
    (void)tm_add_array(to, "where");
    return fix;
}

static void add_report(struct tm_value *to, const char *title, const char *href)
{
    struct tm_value *link;

    if (!*href) {
        tm_add_null(to, "link", "the run has no report");
        return;
    }
    link = tm_add_object(to, "link");
    tm_add_string(link, "title", title);
    tm_add_string(link, "href", href);
}

static const char *short_name(char out[4 * NAME_CHARS + 1], const char *name)
{
    char shown[NIGHT_TEXT];

    tm_format_text(shown, sizeof(shown), name);
    (void)tm_format_middle(out, 4 * NAME_CHARS + 1, shown, NAME_CHARS);
    return out;
}

/* "a, b, c and 4 more" */
static void add_name(char *names, size_t number, size_t of, const char *name)
{
    char shown[4 * NAME_CHARS + 1];

    if (number < NAMED)
        tm_format_append(names, TEXT_BYTES, "%s%s", *names ? ", " : "", short_name(shown, name));
    else if (number == NAMED)
        tm_format_append(names, TEXT_BYTES, " and %zu more", of - number);
}

/* --- failed --- */

void tm_nightly_add_failed_finding(struct night *night)
{
    const struct tm_value *failures = tm_get(night->root, "failures");
    const uint64_t failed = night->of_night - night->status[TM_RESULT_DONE] - night->status[TM_RESULT_PARTIAL];
    char names[TEXT_BYTES] = "", name[4 * NAME_CHARS + 1];
    struct tm_value *to, *evidence;
    size_t number = 0;

    if (failed == 0)
        return;
    to = begin(night, "night_failed", "critical");
    for (size_t i = 0; i < tm_length(failures); i++)
        if (tm_result_status_of(tm_text(tm_get(tm_at(failures, i), "status"))) != TM_RESULT_PARTIAL)
            add_name(names, number++, (size_t)failed, tm_text(tm_get(tm_at(failures, i), "job")));
    tm_add_printed(to, "title", "%llu of %llu runs failed: %s", (unsigned long long)failed,
                   (unsigned long long)night->of_night, names);
    evidence = add_value(to, (double)failed, "count", NAN);
    for (size_t i = 0; i < tm_length(failures) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *row = tm_at(failures, i);

        if (tm_result_status_of(tm_text(tm_get(row, "status"))) != TM_RESULT_PARTIAL)
            tm_add_printed(evidence, NULL, "%s: %s: %.600s", short_name(name, tm_text(tm_get(row, "job"))),
                           tm_text(tm_get(row, "status")),
                           tm_has(tm_get(row, "message")) ? tm_text(tm_get(row, "message")) : "the reason is unknown");
    }
    tm_add_string(end(to, 0), NULL,
                  "Fix the reported cause and run the batch again: finished runs are not repeated (`--retry` for "
                  "refused runs).");
    add_report(to, "", "");
}

static bool has_failed(const struct tm_value *row)
{
    return strcmp(tm_text(tm_get(row, "verdict")), "failed") == 0;
}

/* "median step time 171 ms, limit 160 ms" for the gates that a run failed. */
static void emit_gates(struct tm_value *evidence, const struct tm_value *row)
{
    const struct tm_value *gates = tm_get(row, "gates");
    char name[4 * NAME_CHARS + 1];

    for (size_t i = 0; i < tm_length(gates) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *gate = tm_at(gates, i), *title = tm_get(gate, "title");

        if (strcmp(tm_text(tm_get(gate, "status")), "failed") == 0)
            tm_add_printed(evidence, NULL, "%s: %.200s %.100s, limit %.100s",
                           short_name(name, tm_text(tm_get(row, "job"))),
                           tm_text(tm_has(title) ? title : tm_get(gate, "figure")), tm_text(tm_get(gate, "value_text")),
                           tm_text(tm_get(gate, "limit_text")));
    }
}

void tm_nightly_add_gates_finding(struct night *night)
{
    const struct tm_value *rows = tm_get(night->options->gates, "runs");
    const uint64_t failed = tm_nightly_gates_failed(night);
    char names[TEXT_BYTES] = "";
    struct tm_value *to, *evidence;
    size_t number = 0;

    if (failed == 0)
        return;
    to = begin(night, "night_gates", "critical");
    for (size_t i = 0; i < tm_length(rows); i++)
        if (has_failed(tm_at(rows, i)))
            add_name(names, number++, (size_t)failed, tm_text(tm_get(tm_at(rows, i), "job")));
    tm_add_printed(to, "title", "%llu run%s failed %s gates: %s", (unsigned long long)failed, tm_format_plural(failed),
                   failed == 1 ? "its" : "their", names);
    evidence = add_value(to, (double)failed, "count", NAN);
    for (size_t i = 0; i < tm_length(rows); i++)
        if (has_failed(tm_at(rows, i)))
            emit_gates(evidence, tm_at(rows, i));
    (void)end(to, 0);
    add_report(to, "", "");
}

void tm_nightly_add_absent_finding(struct night *night)
{
    char names[TEXT_BYTES] = "", name[4 * NAME_CHARS + 1];
    const size_t absent = night->of_state[NIGHT_ABSENT];
    struct tm_value *to, *evidence;
    size_t number = 0;

    if (absent == 0)
        return;
    to = begin(night, "night_absent", "warning");
    for (size_t i = 0; i < night->jobs; i++)
        if (night->job[i].state == NIGHT_ABSENT)
            add_name(names, number++, absent, night->job[i].job);
    tm_add_printed(to, "title", "%zu job%s missing: %s", absent, tm_format_plural(absent), names);
    evidence = add_value(to, (double)absent, "count", NAN);
    for (size_t i = 0; i < night->jobs && tm_length(evidence) < LISTED; i++)
        if (night->job[i].state == NIGHT_ABSENT)
            tm_add_printed(evidence, NULL, "%s: the last run is from %s", short_name(name, night->job[i].job),
                           night->job[i].nights[0]);
    tm_add_string(end(to, 0), NULL,
                  "Check that the job ran, that it was profiled, and that its profiles are where the batch looks for "
                  "them.");
    add_report(to, "", "");
}

void tm_nightly_add_machine_findings(struct night *night)
{
    for (size_t i = 0; i < night->machines && i < NAMED; i++) {
        const struct night_machine *const machine = &night->machine[i];
        struct tm_value *const to = begin(night, "night_machine", "warning");
        struct tm_value *evidence;
        char name[4 * NAME_CHARS + 1], pct[TM_FORMAT_BYTES];

        tm_add_printed(to, "title", "Host %s is slow: %zu job%s %s longer than on other hosts",
                       short_name(name, machine->host), machine->jobs, tm_format_plural(machine->jobs),
                       machine->jobs == 1 ? "takes" : "take");
        evidence = add_value(to, machine->slower_pct, "%", NAN);
        tm_add_printed(
            evidence, NULL,
            "%zu runs are slower than those on other hosts before and after them, by %s; the last one is from %s",
            machine->runs, tm_format_pct(pct, machine->slower_pct), machine->night);
        tm_add_string(evidence, NULL, "These runs belong to no series of their jobs, so they open no regression.");
        tm_add_string(
            end(to, 0), NULL,
            "Check clocks, power limits, temperature and neighbors of this machine, or take it out of service.");
        add_report(to, "", "");
    }
}

/* Jobs that are too noisy to judge. */

static const double unstable_pct = 5, wanted_pct = 2;
enum { UNSTABLE_RUNS = 8, REPEATS_MOST = 25 };

static double spread_pct(const double *value, size_t count)
{
    double room[NIGHT_POINTS];
    double level;

    memcpy(room, value, count * sizeof(*value));
    level = tm_sample_select_median(room, count);
    for (size_t i = 0; i < count; i++)
        room[i] = fabs(value[i] - level);
    return level > 0 ? 100 * 1.4826 * tm_sample_select_median(room, count) / level : NAN;
}

/* Is the spread of the runs of each host much smaller? */
static bool differs_by_host(const struct night *night)
{
    const struct night_series *const series = night->watched;
    double off[NIGHT_POINTS], value[NIGHT_POINTS];
    size_t count = 0, hosts = 0;

    for (size_t i = 0; i < series->values; i++) {
        const char *const host = tm_nightly_first_of(series, night->history, i)->host;
        size_t of_host = 0;
        double level;
        bool is_first = true;

        for (size_t k = 0; k < series->values; k++) {
            if (strcmp(tm_nightly_first_of(series, night->history, k)->host, host) != 0)
                continue;
            is_first &= k >= i;
            value[of_host++] = series->value[k];
        }
        level = tm_sample_select_median(value, of_host);
        hosts += is_first && *host;
        off[count++] = series->value[i] - level;
    }
    for (size_t i = 0; i < count; i++)
        value[i] = fabs(off[i]);
    const double within = 1.4826 * tm_sample_select_median(value, count);

    memcpy(value, series->value, count * sizeof(*value));
    return hosts > 1 && hosts < count / 2 &&
           100 * within < spread_pct(series->value, count) / 2 * tm_sample_select_median(value, count);
}

void tm_nightly_note_spread(struct night *night, struct night_job *job)
{
    struct night_series *const series = night->watched;
    static const size_t step = 0;
    uint64_t key;

    job->spread_pct = NAN;
    if (job->state == NIGHT_GONE || tm_nightly_alarms(job->regressions) > 0 ||
        tm_nightly_series(night->history, &key, 1) == 0)
        return;
    tm_nightly_choose_series(series, night->history, key);
    tm_nightly_find_values(series, night->history, step);
    if (series->values < UNSTABLE_RUNS)
        return;

    const size_t most = series->values < 40 ? series->values : 40;
    const double pct = spread_pct(series->value + series->values - most, most);

    if (!(pct > unstable_pct))
        return;
    job->spread_pct = pct;
    job->spread_runs = most;
    job->differs_by_host = differs_by_host(night);
}

void tm_nightly_add_unstable(struct night *night)
{
    struct tm_value *list = tm_add_array(night->root, "unstable");

    for (size_t i = 0; i < night->jobs && tm_length(list) < night->options->rows; i++) {
        const struct night_job *const job = &night->job[i];
        struct tm_value *to;
        double runs;

        if (isnan(job->spread_pct))
            continue;
        runs = ceil(1.57 * (job->spread_pct / wanted_pct) * (job->spread_pct / wanted_pct)); /* of a median */
        to = tm_add_object(list, NULL);
        tm_add_text(to, "job", job->job, strlen(job->job));
        tm_add_double(to, "spread_pct", job->spread_pct);
        tm_add_uint(to, "runs", job->spread_runs);
        if (job->differs_by_host)
            tm_add_string(to, "remedy",
                          "Its runs differ by host: run it on one host, or separate them with --series-by host.");
        else if (runs <= REPEATS_MOST)
            tm_add_printed(to, "remedy", "The median of %.0f runs a night varies by 2%%.", runs);
        else
            tm_add_string(
                to, "remedy",
                "Profile more steps, fix clocks and placement, and exclude other load: repeated runs are not enough.");
    }
    list = tm_add_array(night->root, "machines");
    for (size_t i = 0; i < night->machines; i++) {
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "host", night->machine[i].host);
        tm_add_uint(to, "runs", night->machine[i].runs);
        tm_add_uint(to, "jobs", night->machine[i].jobs);
        tm_add_double(to, "slower_pct", night->machine[i].slower_pct);
        tm_add_string(to, "night", night->machine[i].night);
    }
}

void tm_nightly_add_ahead_finding(struct night *night)
{
    const struct tm_value *rows = tm_get(night->root, "dated_ahead");
    char name[4 * NAME_CHARS + 1];
    struct tm_value *to, *evidence, *fix;

    if (night->ahead == 0)
        return;
    to = begin(night, "night_ahead", "warning");
    tm_add_printed(to, "title", "%llu run%s dated more than a day ahead %s not assessed",
                   (unsigned long long)night->ahead, tm_format_plural(night->ahead), night->ahead == 1 ? "is" : "are");
    evidence = add_value(to, (double)night->ahead, "count", NAN);
    for (size_t i = 0; i < tm_length(rows) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_add_printed(evidence, NULL, "%s: %s, %.200s", short_name(name, tm_text(tm_get(row, "job"))),
                       tm_text(tm_get(row, "night")), tm_text(tm_get(row, "id")));
    }
    fix = end(to, 0);
    tm_add_string(
        fix, NULL,
        "Correct the dates, or set the night (`--label night=2026-11-21`), and check the clocks of this machine and "
        "of the one that dated the runs.");
    add_report(to, "", "");
}

/* --- regressed --- */

static void emit_figure(struct tm_value *to, const char *key, const char *prefix,
                        const struct tm_history_regression *open, const struct tm_run_figure *figure)
{
    char before[TM_FORMAT_BYTES], value[TM_FORMAT_BYTES], change[TM_FORMAT_BYTES];

    tm_nightly_change(change, tm_nightly_change_of(figure, open->before, open->after), figure);
    tm_add_printed(to, key, "%s%s %s \xe2\x86\x92 %s%s%s%s", prefix, figure->name,
                   tm_nightly_value(before, open->before, figure), tm_nightly_value(value, open->after, figure),
                   *change ? " (" : "", change, *change ? ")" : "");
}

/* Other figures that regressed, the largest change first. */
static void emit_others(struct tm_value *evidence, const struct night_judgement *judged)
{
    bool told[TM_FIGURES_MOST] = { false };

    told[judged->worst] = true;
    while (tm_length(evidence) < LISTED) {
        size_t most = tm_figure_count;

        for (size_t i = 0; i < tm_figure_count; i++)
            if (!told[i] && judged->figure[i].state == NIGHT_WORSE &&
                (most == tm_figure_count || judged->figure[i].weight > judged->figure[most].weight))
                most = i;
        if (most == tm_figure_count)
            return;
        told[most] = true;
        emit_figure(evidence, NULL, "Also: ", judged->figure[most].open, &tm_figure_table[most]);
    }
}

static void emit_revisions(struct tm_value *evidence, const struct tm_history_regression *open)
{
    if (!*open->revision || !*open->revision_before)
        return;
    if (strcmp(open->revision, open->revision_before) != 0)
        tm_add_printed(evidence, NULL, "Revision %.100s; the last good run has %.100s", open->revision,
                       open->revision_before);
    else
        tm_add_printed(evidence, NULL, "Same revision as the last good run, %.100s", open->revision);
}

/* Facts about the machine and the software of a run. */
enum { MACHINE_BYTES = 96 };

struct machine {
    char fact[TM_ENV_KEYS][MACHINE_BYTES];
};

static tm_status take_machine(void *to, const struct tm_history_run *row)
{
    struct machine *const machine = to;

    for (size_t i = 0; i < TM_ENV_KEYS; i++)
        tm_format_text(machine->fact[i], MACHINE_BYTES, row->environment[i]);
    return TM_OK;
}

/* What else changed with the figure: another driver, another host. */
static void emit_machine(struct tm_value *evidence, const struct night *night, const struct tm_history_regression *open)
{
    struct machine good = { .fact = { "" } }, first = { .fact = { "" } };

    if (!*open->good_run)
        return;
    tm_history_find(night->source, open->good_run, take_machine, &good);
    tm_history_find(night->source, open->first_run, take_machine, &first);
    for (size_t i = 0; i < TM_ENV_KEYS && tm_length(evidence) < LISTED + 4; i++)
        if (*good.fact[i] && *first.fact[i] && strcmp(good.fact[i], first.fact[i]) != 0)
            tm_add_printed(evidence, NULL, "Since then: %s %s \xe2\x86\x92 %s", tm_environment_facts[i].title,
                           good.fact[i], first.fact[i]);
}

enum { SUMMARY_BYTES = TM_RUN_PLACE_BYTES + 16 };

static tm_status take_summary(void *to, const struct tm_history_run *row)
{
    (void)snprintf(to, SUMMARY_BYTES, "%s", row->summary);
    return TM_OK;
}

static void add_compare(struct tm_value *fix, const struct night *night, const struct tm_history_regression *open)
{
    char good[SUMMARY_BYTES] = "", first[SUMMARY_BYTES] = "";

    if (*open->good_run)
        tm_history_find(night->source, open->good_run, take_summary, good);
    tm_history_find(night->source, open->first_run, take_summary, first);
    if (!*good || !*first)
        return;
    tm_add_string(fix, NULL, "Compare its first run with the last good one.");
    tm_add_printed(fix, NULL, "`tracemill compare %s %s` shows what changed and why.", good, first);
}

void tm_nightly_add_worse_finding(struct night *night, const struct night_judgement *judged)
{
    const struct night_figure *worst = &judged->figure[judged->worst];
    const struct tm_run_figure *figure = &tm_figure_table[judged->worst];
    const struct tm_history_regression *const open = judged->worst < tm_figure_count ? worst->open : NULL;
    char name[4 * NAME_CHARS + 1], prefix[sizeof(name) + 2], text[TM_FORMAT_BYTES];
    struct tm_value *to, *evidence;

    if (judged->state != NIGHT_WORSE || !open || night->worse_told == WORSE_MOST)
        return;
    night->worse_told++;
    to = begin(night, "night_worse",
               (judged->worst == 0 || tm_figure_is_of_parts(figure)) && judged->figure[0].open &&
                       tm_nightly_change_of(&tm_figure_table[0], judged->figure[0].open->before,
                                            judged->figure[0].open->after) >= bad_pct
                   ? "critical"
                   : "warning");
    (void)snprintf(prefix, sizeof(prefix), "%s: ", short_name(name, night->history->job));
    emit_figure(to, "title", prefix, open, figure);
    evidence = add_value(to, open->after, unit_of(figure), NAN);
    tm_add_printed(evidence, NULL, "Since %s, in %lld run%s (regression %s); the baseline was %s", open->since,
                   (long long)open->runs, tm_format_plural(open->runs), open->id,
                   tm_nightly_value(text, open->before, figure));
    if (*open->cause)
        tm_add_printed(evidence, NULL, "Cause: %s", open->cause);
    emit_others(evidence, judged);
    emit_revisions(evidence, open);
    emit_machine(evidence, night, open);
    if (*night->history->texts.finding && !*open->cause)
        tm_add_printed(evidence, NULL, "First finding of its report: %s", night->history->texts.finding);
    add_compare(end(to, judged->worst == 0 ? tm_whole(open->after - open->before) : 0), night, open);
    add_report(
        to, "Report of this run",
        tm_text(tm_get(tm_at(tm_get(night->root, "jobs"), tm_length(tm_get(night->root, "jobs")) - 1), "report")));
}
