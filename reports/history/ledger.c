/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of regressions: one record for each figure of a job that regressed on some hardware, from the run that
 * showed it until it ends.  Each merge computes it again from the rows of the history (tm_watch_series), so a late
 * night is assessed at its position, and a repeated merge gives the same records.  Three things are taken over: the ids
 * of records that are still there, records that opened before the last NIGHT_POINTS runs of their job, and those that
 * were open and that the rows no longer show, which are withdrawn. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/nightly/result.h"
#include "pipeline/store/groups.h"
#include "pipeline/strings.h"
#include "reports/history/history.h"

enum {
    SERIES_MOST = 16, /* of a job: the most recent ones */
    SETTLING = 60,    /* values at the start of a series of which earlier ones are not in memory */
    ACCEPTED_MOST = 64,
};

/* --- the last runs of a job, in a ring --- */

void tm_nightly_history_begin(struct night_history *history, const char *job, const struct tm_judged_night *judged)
{
    history->judged = judged;
    history->texts = (struct night_texts){ .hosts = -1, .devices = -1 };
    history->first = history->count = 0;
    history->runs = 0;
    history->is_of_judged = false;
    memset(history->nights, 0, sizeof(history->nights));
    (void)snprintf(history->job, sizeof(history->job), "%s", job);
}

void tm_nightly_keep_night(char nights[NIGHT_NIGHTS][NIGHT_DATE], const char *night)
{
    size_t at = 0;

    while (at < NIGHT_NIGHTS && strcmp(nights[at], night) > 0)
        at++;
    if (at == NIGHT_NIGHTS || !*night || strcmp(nights[at], night) == 0)
        return;
    memmove(nights[at + 1], nights[at], (NIGHT_NIGHTS - 1 - at) * sizeof(nights[0]));
    (void)snprintf(nights[at], sizeof(nights[0]), "%s", night);
}

static void keep_texts(struct night_texts *to, const struct tm_history_run *row)
{
    const struct {
        char *to;
        const char *from;
    } texts[] = {
        { to->name, row->name },       { to->label, row->keys.label }, { to->labels, row->keys.labels },
        { to->message, row->message }, { to->report, row->report },    { to->platform, row->platform },
        { to->model, row->model },     { to->verdict, row->verdict },  { to->severity, tm_history_severity(row) },
        { to->finding, row->finding }, { to->gates, row->gates },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        tm_format_text(texts[i].to, NIGHT_TEXT, texts[i].from);
    to->hosts = row->hosts;
    to->devices = row->devices;
}

/* Runs on other hardware, or with other labels, are a separate series. */
static uint64_t hardware_of(const struct tm_history_run *row, uint32_t series_by)
{
    char counts[48];
    const char *text[3 + TM_ENV_KEYS] = { counts, row->model, row->keys.labels };

    (void)snprintf(counts, sizeof(counts), "%" PRId64 " %" PRId64, row->hosts, row->devices);
    for (size_t i = 0; i < TM_ENV_KEYS; i++)
        text[3 + i] = series_by & tm_environment_facts[i].series_by ? row->environment[i] : "";
    return tm_hash_texts(text, sizeof(text) / sizeof(text[0])).high;
}

static void copy_head(char *to, size_t bytes, const char *text)
{
    const size_t length = text ? tm_utf8_head(text, strnlen(text, bytes - 1)) : 0;

    memcpy(to, text ? text : "", length);
    to[length] = '\0';
}

void tm_nightly_history_add(struct night_history *history, const struct tm_history_run *row)
{
    const size_t at = (history->first + history->count) % NIGHT_POINTS;
    struct night_point *point = &history->point[at];

    if (history->count < NIGHT_POINTS)
        history->count++;
    else
        history->first = (history->first + 1) % NIGHT_POINTS;
    history->runs++;
    tm_nightly_keep_night(history->nights, row->keys.night);
    point->is_judged = tm_history_is_judged(history->judged, row);
    if (point->is_judged || !history->is_of_judged) {
        history->is_of_judged = point->is_judged;
        keep_texts(&history->texts, row);
    }
    point->when_ns = row->keys.when_ns;
    point->step = row->keys.step;
    point->hardware = hardware_of(row, history->judged->series_by);
    copy_head(point->model, sizeof(point->model), row->model);
    copy_head(point->host, sizeof(point->host), row->environment[TM_ENV_HOST]);
    point->is_on_slow_host = false;
    point->hosts = row->hosts;
    point->devices = row->devices;
    point->status = (uint8_t)tm_result_status_of(row->status);
    (void)snprintf(point->night, sizeof(point->night), "%s", row->keys.night);
    (void)snprintf(point->revision, sizeof(point->revision), "%.*s", NIGHT_REVISION - 1, row->keys.revision);
    (void)snprintf(point->id, sizeof(point->id), "%s", row->id);
    (void)snprintf(point->training, sizeof(point->training), "%s", row->keys.training);
    point->is_current = tm_history_is_current(row);
    for (size_t i = 0; i < tm_figure_count; i++)
        point->figure[i] = point->is_current ? row->figure[i] : NAN;
}

const struct night_point *tm_nightly_point_at(const struct night_history *history, size_t index)
{
    return &history->point[(history->first + index) % NIGHT_POINTS];
}

/* --- the series of a job --- */

static bool is_good(const struct night_point *point)
{
    return point->is_current && point->status == TM_RESULT_DONE;
}

/* Runs of one night and revision are one value, except checkpoints of a training run. */
static bool is_one_group(const struct night_point *a, const struct night_point *b)
{
    return a->step < 0 && b->step < 0 && strcmp(a->night, b->night) == 0 && strcmp(a->revision, b->revision) == 0;
}

void tm_nightly_series_text(char text[TM_FINGERPRINT_BYTES], uint64_t key)
{
    (void)snprintf(text, TM_FINGERPRINT_BYTES, "%016" PRIx64, key);
}

void tm_nightly_choose_series(struct night_series *series, const struct night_history *history, uint64_t key)
{
    tm_nightly_series_text(series->text, key);
    series->count = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct night_point *const point = tm_nightly_point_at(history, i);
        size_t at = series->count;

        series->group_of[i] = UINT16_MAX;
        if (!is_good(point) || point->hardware != key || point->is_on_slow_host)
            continue;
        while (at > 0 && strcmp(tm_nightly_point_at(history, series->first[at - 1])->night, point->night) == 0 &&
               !is_one_group(tm_nightly_point_at(history, series->first[at - 1]), point))
            at--;
        if (at == 0 || !is_one_group(tm_nightly_point_at(history, series->first[at - 1]), point)) {
            at = ++series->count;
            series->first[at - 1] = (uint16_t)i;
        }
        series->last[at - 1] = (uint16_t)i;
        series->group_of[i] = (uint16_t)(at - 1);
    }
}

/* --- slow machines --- */

enum { NEIGHBORS = 3 /* runs on other hosts, on each side */, MACHINE_RUNS = 2 };

static const double each_slower = 0.03, median_slower = 0.05;

/* A run that another one's step time is compared with. */
static bool is_neighbor(const struct night_point *of, const struct night_point *other)
{
    return is_good(other) && other->hardware == of->hardware && strcmp(other->host, of->host) != 0 &&
           !isnan(other->figure[0]);
}

/* By how much a run is slower than those on other hosts before and after it; NaN = one side has none. */
static double slowness(const struct night_history *history, size_t at)
{
    const struct night_point *const of = tm_nightly_point_at(history, at);
    double value[2 * NEIGHBORS];
    size_t count[2] = { 0 }, total;

    for (size_t i = at; i > 0 && count[0] < NEIGHBORS; i--) {
        const struct night_point *const other = tm_nightly_point_at(history, i - 1);

        if (is_neighbor(of, other))
            value[count[0]++] = other->figure[0];
    }
    total = count[0];
    for (size_t i = at + 1; i < history->count && count[1] < NEIGHBORS; i++) {
        const struct night_point *const other = tm_nightly_point_at(history, i);

        if (is_neighbor(of, other)) {
            value[total++] = other->figure[0];
            count[1]++;
        }
    }
    if (count[0] == 0 || (count[1] == 0 && count[0] < NEIGHBORS) || isnan(of->figure[0]))
        return NAN;
    return of->figure[0] / tm_sample_select_median(value, total) - 1;
}

/* Is a job slow on this host each time?  At least one of its runs is followed by one on another host. */
static bool is_slow_host(const struct night_history *history, const char *host, struct night_machine *machine)
{
    double slower[NIGHT_POINTS];
    size_t runs = 0, last = 0;
    bool is_followed = false;

    for (size_t i = 0; i < history->count; i++) {
        const struct night_point *const point = tm_nightly_point_at(history, i);
        double by;

        if (!is_good(point) || isnan(point->figure[0]))
            continue;
        if (strcmp(point->host, host) != 0) {
            is_followed |= runs > 0;
            continue;
        }
        by = slowness(history, i);
        if (!(by > each_slower))
            return false;
        slower[runs++] = by;
        last = i;
    }
    if (runs < MACHINE_RUNS || !is_followed)
        return false;
    *machine =
        (struct night_machine){ .runs = runs, .jobs = 1, .slower_pct = 100 * tm_sample_select_median(slower, runs) };
    (void)snprintf(machine->host, sizeof(machine->host), "%s", host);
    (void)snprintf(machine->night, sizeof(machine->night), "%s", tm_nightly_point_at(history, last)->night);
    return machine->slower_pct > 100 * median_slower;
}

size_t tm_nightly_mark_machines(struct night_history *history, struct night_machine found[NIGHT_MACHINES])
{
    size_t count = 0;

    for (size_t i = 0; i < history->count && count < NIGHT_MACHINES; i++) {
        const char *const host = tm_nightly_point_at(history, i)->host;
        size_t before = 0;

        while (before < i && strcmp(tm_nightly_point_at(history, before)->host, host) != 0)
            before++;
        if (before == i && *host && is_slow_host(history, host, &found[count]))
            count++;
    }
    for (size_t i = 0; i < history->count && count > 0; i++) {
        struct night_point *const point = &history->point[(history->first + i) % NIGHT_POINTS];

        for (size_t m = 0; m < count; m++)
            point->is_on_slow_host |= strcmp(point->host, found[m].host) == 0;
    }
    return count;
}

bool tm_ledger_is_alarm(const struct tm_history_regression *row)
{
    return tm_ledger_state_of(row->state) == TM_LEDGER_OPEN;
}

size_t tm_nightly_series(const struct night_history *history, uint64_t keys[], size_t most)
{
    size_t count = 0;

    for (size_t i = history->count; i > 0 && count < most; i--) {
        const struct night_point *const point = tm_nightly_point_at(history, i - 1);
        size_t at = 0;

        if (!is_good(point))
            continue;
        while (at < count && keys[at] != point->hardware)
            at++;
        if (at == count)
            keys[count++] = point->hardware;
    }
    return count;
}

/* The median of the runs of a group; NaN = none has it. */
static double value_of(const struct night_series *series, const struct night_history *history, size_t group,
                       size_t figure)
{
    double value[NIGHT_POINTS];
    size_t count = 0;

    for (size_t i = series->first[group]; i <= series->last[group]; i++) {
        const double of = tm_nightly_point_at(history, i)->figure[figure];

        if (series->group_of[i] == group && !isnan(of))
            value[count++] = of;
    }
    return count > 1 ? tm_sample_select_median(value, count) : count == 1 ? value[0] : NAN;
}

void tm_nightly_find_values(struct night_series *series, const struct night_history *history, size_t figure)
{
    series->values = 0;
    for (size_t g = 0; g < series->count; g++) {
        const double value = value_of(series, history, g, figure);

        if (isnan(value))
            continue;
        series->group[series->values] = (uint16_t)g;
        series->value[series->values++] = value;
    }
}

const struct night_point *tm_nightly_first_of(const struct night_series *series, const struct night_history *history,
                                              size_t value)
{
    return tm_nightly_point_at(history, series->first[series->group[value]]);
}

const struct night_point *tm_nightly_last_of(const struct night_series *series, const struct night_history *history,
                                             size_t value)
{
    return tm_nightly_point_at(history, series->last[series->group[value]]);
}

static bool is_judged(const struct night_series *series, const struct night_history *history, size_t value)
{
    const size_t group = series->group[value];

    for (size_t i = series->first[group]; i <= series->last[group]; i++)
        if (series->group_of[i] == group && tm_nightly_point_at(history, i)->is_judged)
            return true;
    return false;
}

/* --- records --- */

static const size_t texts[] = {
    offsetof(struct tm_history_regression, id),        offsetof(struct tm_history_regression, job),
    offsetof(struct tm_history_regression, series),    offsetof(struct tm_history_regression, model),
    offsetof(struct tm_history_regression, figure),    offsetof(struct tm_history_regression, kind),
    offsetof(struct tm_history_regression, state),     offsetof(struct tm_history_regression, since),
    offsetof(struct tm_history_regression, first_run), offsetof(struct tm_history_regression, revision),
    offsetof(struct tm_history_regression, good_run),  offsetof(struct tm_history_regression, revision_before),
    offsetof(struct tm_history_regression, opened),    offsetof(struct tm_history_regression, opened_run),
    offsetof(struct tm_history_regression, closed),    offsetof(struct tm_history_regression, closed_run),
    offsetof(struct tm_history_regression, last),      offsetof(struct tm_history_regression, cause),
    offsetof(struct tm_history_regression, reason),    offsetof(struct tm_history_regression, decided),
};

static const char **text_at(struct tm_history_regression *row, size_t i)
{
    return (const char **)(void *)((char *)row + texts[i]);
}

static tm_status keep_record(void *to, const struct tm_history_regression *row)
{
    struct night_records *const records = to;
    struct tm_history_regression from = *row;
    size_t bytes = sizeof(struct night_record);
    struct night_record *record;
    char *at;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        bytes += strlen(*text_at(&from, i)) + 1;
    record = tm_take(&records->run->budget, TM_ACCOUNT_MODEL, bytes, &records->run->error);
    if (!record)
        return records->run->error.status;
    *record = (struct night_record){ .bytes = bytes, .of = from };
    at = (char *)(record + 1);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const size_t length = strlen(*text_at(&from, i)) + 1;

        *text_at(&record->of, i) = memcpy(at, *text_at(&from, i), length);
        at += length;
    }
    *(records->last ? &records->last->next : &records->first) = record;
    records->last = record;
    return TM_OK;
}

tm_status tm_nightly_read_records(struct night_records *records, struct tm_run *run, struct tm_history *history,
                                  const char *job)
{
    *records = (struct night_records){ .run = run };
    return tm_history_visit_regressions(history, job, keep_record, records);
}

void tm_nightly_free_records(struct night_records *records)
{
    while (records->first) {
        struct night_record *const next = records->first->next;

        tm_give(&records->run->budget, TM_ACCOUNT_MODEL, records->first, records->first->bytes);
        records->first = next;
    }
    records->last = NULL;
}

bool tm_nightly_is_of(const struct tm_history_regression *row, const char *text, size_t figure)
{
    return strcmp(row->figure, tm_figure_table[figure].id) == 0 && strcmp(row->series, text) == 0;
}

/* --- one figure of one series --- */

bool tm_nightly_counts(const struct tm_run_figure *figure)
{
    return figure->has_trend && figure->better != TM_BETTER_NEITHER;
}

struct tm_least_change tm_nightly_least_change(const struct tm_run_figure *figure)
{
    struct tm_least_change least = { .share = 0 };

    if (figure->kind == TM_DOC_PERCENT)
        least.amount = figure->least_change;
    else
        least.share = figure->least_change / 100;
    return least;
}

/* The last value at or before a time. */
static size_t value_at(const struct night_series *series, const struct night_history *history, int64_t when_ns)
{
    size_t at = series->values;

    while (at > 0 && tm_nightly_last_of(series, history, at - 1)->when_ns > when_ns)
        at--;
    return at;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Earlier values of its job are not in memory: the time from which on regressions are found again. */
static int64_t settled_from(const struct night_series *series, const struct night_history *history)
{
    if (history->runs <= history->count || series->values == 0)
        return INT64_MIN;
    return tm_nightly_first_of(series, history, series->values > SETTLING ? SETTLING : series->values - 1)->when_ns;
}

/* A record that opened before the values in memory: its regression continues. */
static bool go_on_with(struct tm_regression *known, const struct night_series *series,
                       const struct night_history *history, const struct tm_history_regression *row)
{
    const size_t before = value_at(series, history, row->since_ns - 1);

    if (!tm_ledger_is_open(row) || row->since_ns >= settled_from(series, history) || before == series->values ||
        isnan(row->before))
        return false;
    *known = (struct tm_regression){ .kind = strcmp(row->kind, "drift") == 0 ? TM_REGRESSION_DRIFT : TM_REGRESSION_STEP,
                                     .from = before,
                                     .opened = before,
                                     .before = row->before,
                                     .after = row->after,
                                     .score = row->score };
    return true;
}

struct tm_least_change tm_nightly_least_of(const struct night_series *series, const struct night_history *history,
                                           size_t figure)
{
    static const double part_least = 0.01;
    struct tm_least_change least = tm_nightly_least_change(&tm_figure_table[figure]);
    double step[NIGHT_POINTS];
    size_t count = 0;

    if (!tm_figure_is_of_parts(&tm_figure_table[figure]))
        return least;
    for (size_t g = 0; g < series->count; g++) {
        step[count] = value_of(series, history, g, 0);
        count += !isnan(step[count]);
    }
    if (count > 0)
        least.amount = fmax(least.amount, part_least * fabs(tm_sample_select_median(step, count)));
    return least;
}

const struct tm_history_regression *tm_nightly_watch(struct night_series *series, const struct night_history *history,
                                                     size_t figure, const struct night_records *records,
                                                     const struct night_noise *noise)
{
    const struct tm_decision *decision = records->is_decided_anew ? records->decisions : NULL;
    const struct tm_history_regression *known = NULL;
    struct tm_regression of;
    size_t accepted[ACCEPTED_MOST];
    struct tm_shared_noise shared;
    struct tm_watch_options options = { .least = tm_nightly_least_of(series, history, figure),
                                        .is_lower_better = tm_figure_table[figure].better == TM_BETTER_LOWER,
                                        .accepted = accepted,
                                        .noise = &shared };

    tm_nightly_find_values(series, history, figure);
    shared = tm_nightly_noise_of(
        noise, figure, series->values > 0 ? tm_nightly_first_of(series, history, series->values - 1)->model : "");
    for (const struct night_record *at = records->first; at; at = at->next) {
        const bool is_accepted = tm_ledger_state_of(at->of.state) == TM_LEDGER_ACCEPTED;

        if (!tm_nightly_is_of(&at->of, series->text, figure))
            continue;
        if (!known && go_on_with(&of, series, history, &at->of))
            known = &at->of;
        if (!records->is_decided_anew && is_accepted && options.accepted_count < ACCEPTED_MOST)
            accepted[options.accepted_count++] = value_at(series, history, at->of.last_ns);
    }
    for (; decision && options.accepted_count < ACCEPTED_MOST; decision = decision->next)
        if (decision->kind == TM_DECISION_ACCEPTED && strcmp(decision->job, history->job) == 0 &&
            strcmp(decision->series, series->text) == 0 && strcmp(decision->figure, tm_figure_table[figure].id) == 0)
            accepted[options.accepted_count++] = value_at(series, history, decision->last_ns);
    qsort(accepted, options.accepted_count, sizeof(accepted[0]), by_number);
    for (size_t i = 0; i < options.accepted_count; i++)
        accepted[i] = accepted[i] > 0 ? accepted[i] - 1 : SIZE_MAX; /* value_at counts */
    options.known = known ? &of : NULL;
    tm_watch_series((struct tm_sample){ series->value, series->values }, &options, &series->watched);
    series->is_improved = series->watched.improved != SIZE_MAX && is_judged(series, history, series->watched.improved);
    return known;
}

/* --- the update --- */

struct ledger {
    struct tm_run *run;
    struct tm_history *history;
    const struct tm_judged_night *judged;
    const struct tm_decision *decisions;
    struct night_history *job; /* the runs of the job that is read */
    struct night_series *series;
    struct night_records records;
    struct night_noise *noise;
};

static bool is_decided(const struct tm_decision *decision, const struct tm_history_regression *row)
{
    if (strcmp(decision->id, row->id) == 0)
        return true;
    return strcmp(decision->job, row->job) == 0 && strcmp(decision->series, row->series) == 0 &&
           strcmp(decision->figure, row->figure) == 0 && decision->since_ns <= row->last_ns &&
           decision->last_ns >= row->since_ns;
}

/* The last one counts. */
static const struct tm_decision *decision_of(const struct ledger *l, const struct tm_history_regression *row)
{
    const struct tm_decision *last = NULL;

    for (const struct tm_decision *at = l->decisions; at; at = at->next)
        if (is_decided(at, row))
            last = at;
    return last;
}

/* Does the decision still apply?  An acknowledged regression that grows is open again. */
static bool is_within(const struct tm_decision *decision, const struct tm_history_regression *row, size_t figure)
{
    const struct tm_least_change least = tm_nightly_least_change(&tm_figure_table[figure]);
    const double allowed = fabs(decision->after - row->before) + fmax(least.share * fabs(row->before), least.amount);

    return fabs(row->after - row->before) <= allowed;
}

static void set_decision(const struct ledger *l, struct tm_history_regression *row, size_t figure)
{
    const struct tm_decision *const decision = decision_of(l, row);
    const enum tm_ledger_state state = tm_ledger_state_of(row->state);

    if (!decision)
        return;
    row->reason = decision->reason;
    row->decided = decision->decided;
    if (state == TM_LEDGER_OPEN && decision->kind == TM_DECISION_ACKNOWLEDGED && is_within(decision, row, figure))
        row->state = tm_ledger_state_words[TM_LEDGER_ACKNOWLEDGED];
}

/* One that is open and not acknowledged is an alarm once enough runs show it. */
static void set_confirmed(const struct ledger *l, struct tm_history_regression *row)
{
    const enum tm_ledger_state state = tm_ledger_state_of(row->state);

    if (state == TM_LEDGER_OPEN || state == TM_LEDGER_UNCONFIRMED)
        row->state =
            tm_ledger_state_words[(uint64_t)row->runs < l->judged->confirm ? TM_LEDGER_UNCONFIRMED : TM_LEDGER_OPEN];
}

static void make_id(char id[TM_LEDGER_ID_BYTES], const struct tm_history_regression *row)
{
    const char *const of[] = { row->job, row->series, row->figure, row->first_run };

    (void)snprintf(id, TM_LEDGER_ID_BYTES, "r-%010" PRIx64, tm_hash_texts(of, sizeof(of) / sizeof(of[0])).high >> 24);
}

static bool is_withdrawn(const struct tm_history_regression *row)
{
    return tm_ledger_state_of(row->state) == TM_LEDGER_WITHDRAWN;
}

/* Its previous record: with the same first run, or the last one from about the same time. */
static struct night_record *earlier_record(const struct ledger *l, const struct tm_history_regression *row)
{
    struct night_record *best = NULL;

    for (struct night_record *at = l->records.first; at; at = at->next) {
        if (at->is_taken || strcmp(at->of.series, row->series) != 0 || strcmp(at->of.figure, row->figure) != 0)
            continue;
        if (strcmp(at->of.first_run, row->first_run) == 0)
            return at;
        if (at->of.since_ns <= row->last_ns && at->of.last_ns >= row->since_ns &&
            (!best || is_withdrawn(&best->of) || !is_withdrawn(&at->of)))
            best = at;
    }
    return best;
}

static void set_id(struct ledger *l, struct tm_history_regression *row, char id[TM_LEDGER_ID_BYTES])
{
    struct night_record *const earlier = earlier_record(l, row);
    const struct tm_decision *decision;

    make_id(id, row);
    row->id = id;
    if (earlier) {
        earlier->is_taken = true;
        row->id = earlier->of.id;
        if (strcmp(earlier->of.first_run, row->first_run) == 0 && strcmp(earlier->of.good_run, row->good_run) == 0)
            row->cause = earlier->of.cause;
    } else if ((decision = decision_of(l, row)) != NULL) {
        row->id = decision->id;
    }
}

/* Was it fixed by a source change, according to the revisions?  The median of its last runs is back, so most of them are
 * good, and the first one is slow or older than the last slow one. */
static bool is_fixed(const struct ledger *l, const struct tm_regression *of)
{
    const size_t first = of->closed - of->from < TM_BACK_MOST ? of->from : of->closed + 1 - TM_BACK_MOST;
    const char *const before = tm_nightly_last_of(l->series, l->job, first)->revision;
    const char *const after = tm_nightly_last_of(l->series, l->job, of->closed)->revision;

    return *before && *after && strcmp(before, after) != 0;
}

static enum tm_ledger_state state_of(const struct ledger *l, const struct tm_regression *of)
{
    switch (of->end) {
    case TM_REGRESSION_OPEN:
        return TM_LEDGER_OPEN;
    case TM_REGRESSION_RECOVERED:
        return is_fixed(l, of) ? TM_LEDGER_FIXED : TM_LEDGER_RECOVERED;
    case TM_REGRESSION_DISMISSED:
        return TM_LEDGER_DISMISSED;
    default:
        return TM_LEDGER_ACCEPTED;
    }
}

/* Runs of the series in the groups from one value to another, and after a time. */
static int64_t runs_since(const struct ledger *l, size_t from, size_t last, int64_t after_ns)
{
    const struct night_series *const series = l->series;
    int64_t count = 0;

    for (size_t i = series->first[series->group[from]]; i <= series->last[series->group[last]]; i++)
        count += series->group_of[i] != UINT16_MAX && series->group_of[i] >= series->group[from] &&
                 tm_nightly_point_at(l->job, i)->when_ns > after_ns;
    return count;
}

/* in: known  the record that it continues; NULL = none */
static void put_record(struct ledger *l, size_t figure, const struct tm_regression *of,
                       const struct tm_history_regression *known)
{
    const struct night_history *const job = l->job;
    const bool is_closed = of->end != TM_REGRESSION_OPEN;
    const size_t last = is_closed ? of->closed : l->series->values - 1;
    const struct night_point *const first = tm_nightly_first_of(l->series, job, of->from),
                                    *const opened = tm_nightly_last_of(l->series, job, of->opened),
                                    *const newest = tm_nightly_last_of(l->series, job, last),
                                    *const good =
                                        of->from > 0 ? tm_nightly_last_of(l->series, job, of->from - 1) : NULL;
    char id[TM_LEDGER_ID_BYTES];
    struct tm_history_regression row = { .job = job->job,
                                         .series = l->series->text,
                                         .model = newest->model,
                                         .hosts = newest->hosts,
                                         .devices = newest->devices,
                                         .figure = tm_figure_table[figure].id,
                                         .kind = of->kind == TM_REGRESSION_DRIFT ? "drift" : "step",
                                         .state = tm_ledger_state_words[state_of(l, of)],
                                         .before = of->before,
                                         .after = of->after,
                                         .score = of->score,
                                         .runs = runs_since(l, of->from, last, INT64_MIN),
                                         .since = first->night,
                                         .since_ns = first->when_ns,
                                         .first_run = first->id,
                                         .revision = first->revision,
                                         .good_run = good ? good->id : "",
                                         .revision_before = good ? good->revision : "",
                                         .opened = opened->night,
                                         .opened_run = opened->id,
                                         .closed = is_closed ? newest->night : "",
                                         .closed_run = is_closed ? newest->id : "",
                                         .last = newest->night,
                                         .last_ns = newest->when_ns,
                                         .cause = "",
                                         .reason = "",
                                         .decided = "" };

    if (known) { /* its start may no longer be in memory */
        row.runs = known->runs + runs_since(l, of->from, last, known->last_ns);
        row.since = known->since;
        row.since_ns = known->since_ns;
        row.first_run = known->first_run;
        row.revision = known->revision;
        row.good_run = known->good_run;
        row.revision_before = known->revision_before;
        row.opened = known->opened;
        row.opened_run = known->opened_run;
    }
    set_id(l, &row, id);
    set_decision(l, &row, figure);
    set_confirmed(l, &row);
    tm_history_put_regression(l->history, &row);
}

/* out: level  what is known of the figure */
static void update_figure(struct ledger *l, size_t figure, struct night_level *level)
{
    const struct tm_history_regression *const known =
        tm_nightly_watch(l->series, l->job, figure, &l->records, l->noise);
    const struct tm_watched *const watched = &l->series->watched;

    level->level = watched->level;
    level->band = watched->band;
    level->improved_from = watched->improved_from;
    level->values = watched->values;
    level->is_improved = l->series->is_improved;
    for (size_t i = 0; i < watched->count; i++)
        put_record(l, figure, &watched->found[i], i == 0 ? known : NULL);
}

/* All figures of one series. */
static void update_series(struct ledger *l, uint64_t key)
{
    const size_t newest = tm_nightly_newest(l->job);
    struct night_levels levels;
    size_t count = 0;

    memset(&levels, 0, sizeof(levels));
    levels.hardware = key;
    tm_nightly_choose_series(l->series, l->job, key);
    for (size_t i = 0; i < tm_figure_count && !tm_failed(l->run); i++)
        if (tm_nightly_counts(&tm_figure_table[i])) {
            assert(count < NIGHT_LEVELS);
            update_figure(l, i, &levels.of[count++]);
        }
    if (newest > 0 && tm_nightly_point_at(l->job, newest - 1)->hardware == key && !tm_failed(l->run))
        tm_history_put_levels(l->history, l->job->job, &levels);
}

static const struct night_point *find_point(const struct night_history *job, const char *id)
{
    for (size_t i = job->count; i > 0; i--)
        if (strcmp(tm_nightly_point_at(job, i - 1)->id, id) == 0)
            return tm_nightly_point_at(job, i - 1);
    return NULL;
}

/* Why the rows no longer show a regression that was open.  out: text  TM_KEY_BYTES, returned */
static const char *why_withdrawn(const struct night_history *job, const struct tm_history_regression *row, char *text)
{
    const struct night_point *const point = find_point(job, row->opened_run);
    const struct tm_run_figure *const figure = tm_run_figure_of_id(row->figure);
    char series[TM_FINGERPRINT_BYTES];

    if (!point)
        return "the run that showed it is no longer among the runs of this job";
    if (!point->is_current)
        return "the figures of the run that showed it are of older definitions";
    if (point->status != TM_RESULT_DONE) {
        (void)snprintf(text, TM_KEY_BYTES, "the run that showed it is %s now", tm_result_status_words[point->status]);
        return text;
    }
    tm_nightly_series_text(series, point->hardware);
    if (strcmp(series, row->series) != 0)
        return "the run that showed it is in another series now: its hardware or labels, or --series-by, changed";
    if (point->is_on_slow_host) {
        (void)snprintf(text, TM_KEY_BYTES, "the run that showed it was on a slow host, %.*s", NIGHT_HOST, point->host);
        return text;
    }
    if (!figure || isnan(point->figure[figure - tm_figure_table]))
        return "the run that showed it does not have this figure now";
    return "with the noise of this job and of others as it is known now, chance explains as much";
}

/* Is it of a series with good runs in memory that was not examined, since too many others ran later? */
static bool is_passed_over(const struct night_history *job, const struct tm_history_regression *row,
                           const uint64_t examined[], size_t count)
{
    char text[TM_FINGERPRINT_BYTES];

    for (size_t i = 0; i < count; i++) {
        tm_nightly_series_text(text, examined[i]);
        if (strcmp(text, row->series) == 0)
            return false;
    }
    for (size_t i = 0; i < job->count; i++) {
        tm_nightly_series_text(text, tm_nightly_point_at(job, i)->hardware);
        if (is_good(tm_nightly_point_at(job, i)) && strcmp(text, row->series) == 0)
            return true;
    }
    return false;
}

/* Records that the rows no longer show.  Those that are older than the rows in memory continue.  Of the others, one that was
 * open is withdrawn, with the reason, and stays in the ledger as such: it never leaves without a word.
 * in: examined  the series */
static void keep_others(struct ledger *l, const uint64_t examined[], size_t count)
{
    const struct night_history *const job = l->job;
    const int64_t from = job->runs > job->count
                             ? tm_nightly_point_at(job, job->count > SETTLING ? SETTLING : job->count - 1)->when_ns
                             : INT64_MIN;

    for (struct night_record *at = l->records.first; at; at = at->next) {
        struct tm_history_regression row = at->of;
        char text[TM_KEY_BYTES];

        if (at->is_taken)
            continue;
        if (row.since_ns < from || (tm_ledger_is_open(&row) && is_passed_over(job, &row, examined, count))) {
            set_confirmed(l, &row);
        } else if (tm_ledger_is_open(&row)) {
            row.state = tm_ledger_state_words[TM_LEDGER_WITHDRAWN];
            row.reason = why_withdrawn(job, &row, text);
            row.decided = "";
            row.closed = l->judged->last;
        } else if (!is_withdrawn(&row)) {
            continue;
        }
        tm_history_put_regression(l->history, &row);
    }
}

static void end_job(struct ledger *l)
{
    struct night_machine machines[NIGHT_MACHINES];
    uint64_t keys[SERIES_MOST];
    size_t count;

    if (l->job->count == 0 || tm_failed(l->run))
        return;
    tm_nightly_read_records(&l->records, l->run, l->history, l->job->job);
    l->records.is_decided_anew = true;
    l->records.decisions = l->decisions;
    if (l->records.first)
        tm_history_drop_regressions(l->history, l->job->job);
    (void)tm_nightly_mark_machines(l->job, machines);
    count = tm_nightly_series(l->job, keys, SERIES_MOST);
    for (size_t s = 0; s < count && !tm_failed(l->run); s++)
        update_series(l, keys[s]);
    keep_others(l, keys, count);
    tm_nightly_free_records(&l->records);
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct ledger *const l = to;

    if (tm_history_is_ahead(l->judged, row))
        return TM_OK;
    if (l->job->count == 0 || strcmp(l->job->job, row->keys.job) != 0) {
        end_job(l);
        tm_nightly_history_begin(l->job, row->keys.job, l->judged);
    }
    tm_nightly_history_add(l->job, row);
    return l->run->error.status;
}

tm_status tm_ledger_update(struct tm_run *run, struct tm_history *history, const struct tm_judged_night *judged,
                           const struct tm_decision *decisions)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };
    const size_t bytes = sizeof(struct night_history) + sizeof(struct night_series);
    struct ledger l = { .run = run, .history = history, .judged = judged, .decisions = decisions };

    l.job = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!l.job)
        return run->error.status;
    l.series = (struct night_series *)(void *)(l.job + 1);
    tm_nightly_learn_noise(&l.noise, run, history, judged, l.job, l.series);
    tm_nightly_history_begin(l.job, "", judged);
    if (!tm_failed(run) && !tm_history_visit(history, &all, take_run, &l))
        end_job(&l);
    tm_nightly_free_noise(l.noise, run);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, l.job, bytes);
    if (!tm_failed(run))
        tm_history_end_regressions(history, judged->until);
    return run->error.status;
}
