/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger on the page of a night: regressions that are open, first those that a run of the page opened; those that
 * are acknowledged; and those that a run of the page closed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/format/format.h"
#include "reports/history/history.h"

enum { NAMED_MOST = 8, NAMES_BYTES = 1200 };

struct looking {
    const struct night *night;
    bool is_judged;
    char report[NIGHT_TEXT];
};

static tm_status look(void *to, const struct tm_history_run *row)
{
    struct looking *const l = to;

    l->is_judged = tm_history_is_judged(l->night->judged, row);
    (void)snprintf(l->report, sizeof(l->report), "%s", row->report);
    return TM_OK;
}

void tm_nightly_add_link(struct tm_value *to, const char *key, const struct night *night, const char *report)
{
    char path[NIGHT_TEXT + 64];

    (void)snprintf(path, sizeof(path), "%.*s/%.60s", NIGHT_TEXT, report,
                   night->options->report ? night->options->report : "");
    if (*report && tm_link_is_safe(path))
        tm_add_string(to, key, path);
    else
        tm_add_null(to, key, "the run has no report");
}

/* Is it a run of the page? */
static bool is_of_page(const struct night *night, const char *id)
{
    struct looking l = { .night = night };

    if (*id)
        tm_history_find(night->source, id, look, &l);
    return l.is_judged;
}

/* The part of the page that has it; NIGHT_PARTS = none. */
static enum night_part part_of(const struct night *night, const struct tm_history_regression *row)
{
    switch (tm_ledger_state_of(row->state)) {
    case TM_LEDGER_UNCONFIRMED:
        return NIGHT_UNCONFIRMED;
    case TM_LEDGER_OPEN:
        return is_of_page(night, row->opened_run) ? NIGHT_OPENED : NIGHT_OPEN;
    case TM_LEDGER_ACKNOWLEDGED:
        return NIGHT_ACKNOWLEDGED;
    case TM_LEDGER_RECOVERED:
    case TM_LEDGER_FIXED:
    case TM_LEDGER_ACCEPTED:
        return is_of_page(night, row->closed_run) ? NIGHT_CLOSED : NIGHT_PARTS;
    case TM_LEDGER_DISMISSED: /* if an earlier page had it as open */
        return is_of_page(night, row->closed_run) && !is_of_page(night, row->opened_run) ? NIGHT_CLOSED : NIGHT_PARTS;
    case TM_LEDGER_WITHDRAWN:
    case TM_LEDGER_ENDED:
        return strcmp(row->closed, night->date) == 0 ? NIGHT_CLOSED : NIGHT_PARTS;
    default:
        return NIGHT_PARTS;
    }
}

void tm_nightly_count_regressions(struct night *night, struct night_job *job)
{
    size_t count[NIGHT_PARTS + 1] = { 0 };

    for (const struct night_record *at = night->records.first; at; at = at->next)
        count[part_of(night, &at->of)]++;
    memcpy(job->regressions, count, sizeof(job->regressions));
    for (int part = 0; part < NIGHT_PARTS; part++)
        night->regressions[part] += count[part];
    night->jobs_opened += count[NIGHT_OPENED] > 0;
}

static void add_report(struct tm_value *to, const char *key, const struct night *night, const char *id)
{
    struct looking l = { .night = night };

    if (*id)
        tm_history_find(night->source, id, look, &l);
    tm_nightly_add_link(to, key, night, l.report);
}

static void add_row(struct tm_value *list, const struct night *night, const struct tm_history_regression *row,
                    const struct tm_run_figure *figure, enum night_part part)
{
    const double change = tm_nightly_change_of(figure, row->before, row->after);
    struct tm_value *to = tm_add_object(list, NULL);
    char text[TM_FORMAT_BYTES];

    tm_add_string(to, "regression", row->id);
    tm_add_text(to, "job", row->job, strlen(row->job));
    tm_add_string(to, "figure", figure->id);
    tm_add_string(to, "title", figure->name);
    tm_add_string(to, "unit", tm_doc_unit(figure->kind));
    tm_add_string(to, "state", part == NIGHT_OPENED ? "opened" : row->state);
    tm_add_string(to, "kind", row->kind);
    tm_nightly_add_number(to, "before", row->before, "it is unknown");
    tm_nightly_add_number(to, "after", row->after, "it is unknown");
    tm_nightly_add_number(to, "change", change, "it was 0");
    tm_nightly_add_number(to, "score", row->score, "it is unknown");
    tm_add_string(to, "since", row->since);
    tm_add_string(to, "opened", row->opened);
    tm_add_known(to, "closed", row->closed, "it is open");
    tm_add_int(to, "runs", row->runs);
    tm_add_string(to, "id", row->first_run);
    tm_add_known(to, "good_id", row->good_run, "no earlier run is in the history");
    add_report(to, "report", night, row->first_run);
    add_report(to, "good_report", night, row->good_run);
    tm_add_known(to, "revision", row->revision, "it is unknown");
    tm_add_known(to, "revision_before", row->revision_before, "it is unknown");
    tm_add_known(to, "model", row->model, "it is unknown");
    tm_add_known(to, "cause", row->cause, "it is unknown");
    tm_add_known(to, "reason", row->reason, "none was given");
    tm_add_known(to, "decided", row->decided, "there is no decision");
    tm_add_string(to, "before_text", tm_nightly_value(text, row->before, figure));
    tm_add_string(to, "after_text", tm_nightly_value(text, row->after, figure));
    tm_add_known(to, "change_text", tm_nightly_change(text, change, figure), "it was 0");
}

static void add_of_figure(struct night *night, struct tm_value *list, const struct tm_run_figure *figure,
                          enum night_part part)
{
    for (const struct night_record *at = night->records.first; at; at = at->next) {
        if (strcmp(at->of.figure, figure->id) != 0 || part_of(night, &at->of) != part)
            continue;
        if (tm_length(list) < night->options->rows)
            add_row(list, night, &at->of, figure, part);
        else if (part <= NIGHT_OPEN)
            night->regressions_left_out++;
    }
}

/* The median step time first: figures are in the order of their table. */
void tm_nightly_add_regressions(struct night *night, enum night_part part)
{
    static const char *const lists[NIGHT_PARTS] = { [NIGHT_OPENED] = "regressions",
                                                    [NIGHT_OPEN] = "regressions",
                                                    [NIGHT_UNCONFIRMED] = "unconfirmed",
                                                    [NIGHT_ACKNOWLEDGED] = "acknowledged",
                                                    [NIGHT_CLOSED] = "closed" };
    struct tm_value *list = tm_member(night->root, lists[part]);

    for (size_t i = 0; i < tm_figure_count; i++)
        add_of_figure(night, list, &tm_figure_table[i], part);
}

/* Regressions of several jobs that started between the same two revisions: most likely one change caused them. */

static bool is_between(const struct tm_value *row, const char *before, const char *after)
{
    return tm_has(tm_get(row, "revision")) && tm_has(tm_get(row, "revision_before")) &&
           strcmp(tm_text(tm_get(row, "revision")), after) == 0 &&
           strcmp(tm_text(tm_get(row, "revision_before")), before) == 0;
}

static void add_group(struct tm_value *list, const struct tm_value *rows, size_t first)
{
    const char *const before = tm_text(tm_get(tm_at(rows, first), "revision_before"));
    const char *const after = tm_text(tm_get(tm_at(rows, first), "revision"));
    char names[NAMES_BYTES] = "";
    size_t jobs = 0, regressions = 0;
    struct tm_value *to;

    for (size_t i = first; i < tm_length(rows); i++) {
        const char *const job = tm_text(tm_get(tm_at(rows, i), "job"));
        size_t before_it = first;

        if (!is_between(tm_at(rows, i), before, after))
            continue;
        regressions++;
        while (before_it < i && (!is_between(tm_at(rows, before_it), before, after) ||
                                 strcmp(tm_text(tm_get(tm_at(rows, before_it), "job")), job) != 0))
            before_it++;
        if (before_it == i && jobs++ < NAMED_MOST)
            tm_format_append(names, sizeof(names), "%s%.120s", *names ? ", " : "", job);
    }
    if (jobs < 2)
        return;
    if (jobs > NAMED_MOST)
        tm_format_append(names, sizeof(names), " and %zu more", jobs - NAMED_MOST);
    to = tm_add_object(list, NULL);
    tm_add_string(to, "revision_before", before);
    tm_add_string(to, "revision", after);
    tm_add_uint(to, "jobs", jobs);
    tm_add_uint(to, "regressions", regressions);
    tm_add_text(to, "names", names, strlen(names));
}

void tm_nightly_add_groups(struct night *night)
{
    const struct tm_value *const rows = tm_get(night->root, "regressions");
    struct tm_value *const list = tm_member(night->root, "revisions");

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);
        const char *const before = tm_text(tm_get(row, "revision_before"));
        const char *const after = tm_text(tm_get(row, "revision"));
        size_t first = 0;

        if (!*before || !*after || strcmp(before, after) == 0)
            continue;
        while (!is_between(tm_at(rows, first), before, after))
            first++;
        if (first == i)
            add_group(list, rows, i);
    }
}
