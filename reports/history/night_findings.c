/* SPDX-License-Identifier: Apache-2.0 */
/* What the morning has to know first: what failed, what got worse, what is missing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/history/night.h"

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
    night_add_number(to, "value", value, "it is not told by one figure");
    tm_add_string(to, "unit", unit);
    night_add_number(to, "limit", limit, "it has none");
    return tm_add_array(to, "evidence");
}

/* out: the list of what to do */
static struct tm_value *end(struct tm_value *to, int64_t at_stake_ps)
{
    struct tm_value *fix;

    tm_add_int(to, "at_stake_ps", at_stake_ps);
    tm_add_string(to, "stake_of", "a step");
    tm_add_null(to, "share_pct", "a step is no window");
    tm_add_string(to, "cause", "");
    fix = tm_add_array(to, "fix");
    (void)tm_add_array(to, "where");
    return fix;
}

static void add_report(struct tm_value *to, const char *title, const char *href)
{
    struct tm_value *link;

    if (!*href) {
        tm_add_null(to, "link", "there is no report of it");
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

void night_add_failed_finding(struct night *night)
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
    tm_add_printed(to, "title", "%llu of %llu runs failed: %s", (unsigned long long)failed, (unsigned long long)night->of_night, names);
    evidence = add_value(to, (double)failed, "count", NAN);
    for (size_t i = 0; i < tm_length(failures) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *row = tm_at(failures, i);

        if (tm_result_status_of(tm_text(tm_get(row, "status"))) != TM_RESULT_PARTIAL)
            tm_add_printed(evidence, NULL, "%s: %s: %.600s", short_name(name, tm_text(tm_get(row, "job"))), tm_text(tm_get(row, "status")),
                tm_has(tm_get(row, "message")) ? tm_text(tm_get(row, "message")) : "no reason is known");
    }
    tm_add_string(end(to, 0), NULL,
                  "Mend what the reason tells, and run the batch again: it does only what is not done (`--retry` for what was refused).");
    add_report(to, "", "");
}

static bool has_failed(const struct tm_value *row)
{
    return strcmp(tm_text(tm_get(row, "verdict")), "failed") == 0;
}

/* "step time 171 ms, limit 160 ms" of the gates that a run failed. */
static void say_gates(struct tm_value *evidence, const struct tm_value *row)
{
    const struct tm_value *gates = tm_get(row, "gates");
    char name[4 * NAME_CHARS + 1];

    for (size_t i = 0; i < tm_length(gates) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *gate = tm_at(gates, i), *title = tm_get(gate, "title");

        if (strcmp(tm_text(tm_get(gate, "status")), "failed") == 0)
            tm_add_printed(evidence, NULL, "%s: %.200s %.100s, limit %.100s", short_name(name, tm_text(tm_get(row, "job"))),
                tm_text(tm_has(title) ? title : tm_get(gate, "figure")), tm_text(tm_get(gate, "value_text")),
                tm_text(tm_get(gate, "limit_text")));
    }
}

void night_add_gates_finding(struct night *night)
{
    const struct tm_value *rows = tm_get(night->options->gates, "runs");
    const uint64_t failed = night_gates_failed(night);
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
            say_gates(evidence, tm_at(rows, i));
    (void)end(to, 0);
    add_report(to, "", "");
}

void night_add_absent_finding(struct night *night)
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
    tm_add_printed(to, "title", "%zu job%s used to run and did not: %s", absent, tm_format_plural(absent), names);
    evidence = add_value(to, (double)absent, "count", NAN);
    for (size_t i = 0; i < night->jobs && tm_length(evidence) < LISTED; i++)
        if (night->job[i].state == NIGHT_ABSENT)
            tm_add_printed(evidence, NULL, "%s: the last run is of %s", short_name(name, night->job[i].job), night->job[i].nights[0]);
    tm_add_string(end(to, 0), NULL,
                  "Look whether the job ran, whether it was profiled, and whether its profiles lie where the batch looks for them.");
    add_report(to, "", "");
}

void night_add_ahead_finding(struct night *night)
{
    const struct tm_value *rows = tm_get(night->root, "dated_ahead");
    char name[4 * NAME_CHARS + 1];
    struct tm_value *to, *evidence, *fix;

    if (night->ahead == 0)
        return;
    to = begin(night, "night_ahead", "warning");
    tm_add_printed(to, "title", "%llu run%s dated more than a day ahead %s not judged", (unsigned long long)night->ahead,
                   tm_format_plural(night->ahead), night->ahead == 1 ? "is" : "are");
    evidence = add_value(to, (double)night->ahead, "count", NAN);
    for (size_t i = 0; i < tm_length(rows) && tm_length(evidence) < LISTED; i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_add_printed(evidence, NULL, "%s: %s, %.200s", short_name(name, tm_text(tm_get(row, "job"))),
                       tm_text(tm_get(row, "night")), tm_text(tm_get(row, "id")));
    }
    fix = end(to, 0);
    tm_add_string(fix, NULL,
                  "Rename what is dated wrong, or tell its night (`--label night=2026-11-21`), and look at the clock of the "
                  "machine that dated it and of this one.");
    add_report(to, "", "");
}

/* --- worse --- */

static void say_figure(struct tm_value *to, const char *key, const char *prefix, const struct night_figure *judged,
                       const struct tm_history_figure *figure)
{
    char before[TM_FORMAT_BYTES], value[TM_FORMAT_BYTES], change[TM_FORMAT_BYTES];

    night_change(change, judged->change, figure);
    tm_add_printed(to, key, "%s%s %s \xe2\x86\x92 %s%s%s%s", prefix, figure->title, night_value(before, judged->before, figure),
        night_value(value, judged->value, figure), *change ? " (" : "", change, *change ? ")" : "");
}

/* What else changed for the worse, the most first. */
static void say_others(struct tm_value *evidence, const struct night_judgement *judged)
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
        say_figure(evidence, NULL, "Also: ", &judged->figure[most], &tm_figure_table[most]);
    }
}

/* Since when it is so, where it is not only this night. */
static void say_since(struct tm_value *evidence, const struct night *night, const struct night_judgement *judged)
{
    struct tm_change_point points[TM_CHANGE_POINTS_MOST];
    uint16_t place[NIGHT_POINTS];
    const size_t count = night_all_places(night->history, place),
                 found = night_find_changes(night, judged->worst, place, count, points);
    const struct tm_change_point *last = found > 0 ? &points[found - 1] : NULL;
    const struct night_point *point = last ? night_point_at(night->history, last->at) : NULL;
    char before[TM_FORMAT_BYTES], after[TM_FORMAT_BYTES];

    if (last)
        tm_add_printed(evidence, NULL, "The last change of its level before: on %s%s%s, %s \xe2\x86\x92 %s", point->night,
            *point->revision ? ", revision " : "", point->revision,
            night_value(before, last->before, &tm_figure_table[judged->worst]),
            night_value(after, last->after, &tm_figure_table[judged->worst]));
}

static const struct night_point *last_good(const struct night_history *history, const struct night_point *newest)
{
    const struct night_point *good = NULL;

    for (size_t i = 0; i < history->count && night_point_at(history, i) != newest; i++)
        if (night_is_good(night_point_at(history, i)))
            good = night_point_at(history, i);
    return good;
}

static void say_revisions(struct tm_value *evidence, const struct night_point *before, const struct night_point *now)
{
    if (before && *before->revision && *now->revision && strcmp(before->revision, now->revision) != 0)
        tm_add_printed(evidence, NULL, "Revision %s; the good run before it, of %s, has %s", now->revision, before->night, before->revision);
    else if (before && *now->revision && *before->revision)
        tm_add_printed(evidence, NULL, "The same revision as the good run before it, %s", now->revision);
}

static void add_compare(struct tm_value *fix, const struct night_point *before, const struct night_point *now)
{
    if (!before)
        return;
    tm_add_printed(fix, NULL, "Compare it with the good run before it, of %s.", before->night);
    tm_add_printed(fix, NULL, "`tracemill compare runs/%s/summary.json runs/%s/summary.json` tells what changed, and what the causes are.",
        before->id, now->id);
}

void night_add_worse_finding(struct night *night, const struct night_judgement *judged)
{
    const struct night_figure *worst = &judged->figure[judged->worst];
    const struct tm_history_figure *figure = &tm_figure_table[judged->worst];
    const struct night_point *before;
    char name[4 * NAME_CHARS + 1], prefix[sizeof(name) + 2], text[TM_FORMAT_BYTES], band[TM_FORMAT_BYTES];
    struct tm_value *to, *evidence;

    if (judged->state != NIGHT_WORSE || night->worse_told == WORSE_MOST)
        return;
    night->worse_told++;
    before = last_good(night->history, judged->newest);
    to = begin(night, "night_worse",
               (judged->worst == 0 || figure->parts) && judged->figure[0].change >= bad_pct ? "critical" : "warning");
    (void)snprintf(prefix, sizeof(prefix), "%s: ", short_name(name, night->history->job));
    say_figure(to, "title", prefix, worst, figure);
    evidence = add_value(to, worst->value, *figure->unit ? figure->unit : "count", NAN);
    tm_add_printed(evidence, NULL, "Median of the %zu good runs before: %s; changes up to %s are not told", worst->runs,
        night_value(text, worst->before, figure), night_value(band, worst->band, figure));
    say_others(evidence, judged);
    say_since(evidence, night, judged);
    say_revisions(evidence, before, judged->newest);
    if (*night->history->texts.finding)
        tm_add_printed(evidence, NULL, "First finding of its report: %s", night->history->texts.finding);
    add_compare(end(to, judged->worst == 0 ? tm_whole(worst->value - worst->before) : 0), before, judged->newest);
    add_report(to, "Report of this run",
               tm_text(tm_get(tm_at(tm_get(night->root, "jobs"), tm_length(tm_get(night->root, "jobs")) - 1), "report")));
}
