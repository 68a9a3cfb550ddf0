/* SPDX-License-Identifier: Apache-2.0 */
/* The night in figures and in a sentence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/history/night.h"

enum { TEXT_BYTES = 1024 };
static const double bad_pct = 10;

/* --- what it is of --- */

static void add_figures(struct night *night)
{
    static const char *const better[] = {
        [TM_BETTER_LOWER] = "lower", [TM_BETTER_HIGHER] = "higher", [TM_BETTER_NEITHER] = "neither"
    };
    struct tm_value *list = tm_add_array(night->root, "figures");

    for (size_t i = 0; i < tm_figure_count; i++) {
        const struct tm_history_figure *figure = &tm_figure_table[i];
        struct tm_value *to;

        if (!night_counts(figure))
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "id", figure->id);
        tm_add_string(to, "title", figure->title);
        tm_add_string(to, "unit", figure->unit);
        tm_add_string(to, "better", better[figure->better]);
        tm_add_double(to, "least_change", figure->least_change);
    }
}

static const char *no_night(const struct night *night)
{
    return night->ahead ? "all runs are dated ahead" : "the history is empty";
}

void night_add_place(struct night *night)
{
    struct tm_value *input = tm_add_object(night->root, "input");

    tm_add_bool(input, "partial", false);
    tm_add_known(input, "run", night->date, no_night(night));
    tm_add_known(night->root, "night", night->date, no_night(night));
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
    tm_add_uint(to, "not_judged", night->of_state[NIGHT_YOUNG] + night->of_state[NIGHT_PARTIAL] + night->of_state[NIGHT_FAILED]);
    tm_add_uint(to, "absent", night->of_state[NIGHT_ABSENT]);
    tm_add_uint(to, "history_runs", night->runs);
    tm_add_uint(to, "history_jobs", night->jobs);
    tm_add_uint(to, "history_older_runs", night->older);
}

/* --- key figures --- */

struct kpi {
    const char *id, *title, *unit, *definition;
};

static void add_kpi(struct tm_value *list, const struct kpi *kpi, double value, const char *band, const char *why)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "id", kpi->id);
    tm_add_string(to, "title", kpi->title);
    night_add_number(to, "value", value, why);
    tm_add_string(to, "unit", kpi->unit);
    tm_add_string(to, "band", band);
    tm_add_null(to, "good", "it has no limit of its own");
    tm_add_null(to, "bad", "it has no limit of its own");
    tm_add_string(to, "definition", kpi->definition);
}

/* The largest growth of a step time against what it was; NaN = none was judged. */
static double worst_step(const struct night *night)
{
    double worst = NAN;

    for (size_t i = 0; i < night->jobs; i++)
        if (!isnan(night->job[i].step_change_pct) && !(night->job[i].step_change_pct <= worst))
            worst = night->job[i].step_change_pct;
    return worst;
}

/* A step time is told to have got worse. */
static bool is_step_worse(const struct night *night, double least_pct)
{
    for (size_t i = 0; i < night->jobs; i++)
        if (night->job[i].is_step_worse && night->job[i].step_change_pct >= least_pct)
            return true;
    return false;
}

static void add_kpis(struct night *night)
{
    static const struct kpi runs = { "runs", "Runs", "count", "Runs of the last night, and those of other nights that came with it." },
                            failed = { "failed", "Failed runs", "count",
                                       "Of these runs those that were refused, failed, or never got a result." },
                            worse = { "worse", "Jobs that got worse", "count",
                                      "Jobs of which the newest of these runs is further from the median of the seven good "
                                      "runs before than runs differ otherwise, in the step time or, where that stayed, in "
                                      "another figure." },
                            better = { "better", "Jobs that got better", "count", "The same to the other side." },
                            step = { "step_change", "Largest growth of a step", "%",
                                     "The largest change of a step time against the median of the seven good runs before." },
                            absent = { "absent", "Missing jobs", "count",
                                       "Jobs that ran on four or more of the seven nights before, and have now paused for longer "
                                       "than between two of those." },
                            fresh = { "new", "New jobs", "count", "Jobs that never ran before these runs." };
    struct tm_value *list = tm_add_array(night->root, "kpis");
    const double change = worst_step(night), bad = (double)failed_of(night);
    const bool has_worse = night->of_state[NIGHT_WORSE] > 0, has_judged = judged_count(night) > 0;

    if (!*night->date)
        return;
    add_kpi(list, &runs, (double)night->of_night, "info", "");
    add_kpi(list, &failed, bad, bad > 0 ? "bad" : "good", "");
    add_kpi(list, &worse, has_judged ? (double)night->of_state[NIGHT_WORSE] : NAN,
            !has_judged ? "unknown" : !has_worse ? "good" : is_step_worse(night, bad_pct) ? "bad" : "warning",
            "no job has three good runs before");
    add_kpi(list, &better, has_judged ? (double)night->of_state[NIGHT_BETTER] : NAN, has_judged ? "good" : "unknown",
            "no job has three good runs before");
    add_kpi(list, &step, change,
            isnan(change)                 ? "unknown" :
            is_step_worse(night, bad_pct) ? "bad" :
            is_step_worse(night, 0)       ? "warning" :
                                            "good",
            "no step time has three good runs before");
    add_kpi(list, &absent, (double)night->of_state[NIGHT_ABSENT], night->of_state[NIGHT_ABSENT] > 0 ? "warning" : "good", "");
    add_kpi(list, &fresh, (double)night->of_state[NIGHT_NEW], "info", "");
}

void night_add_head(struct night *night)
{
    add_counts(night);
    add_kpis(night);
}

/* --- at the end --- */

void night_add_left_out(struct night *night)
{
    const size_t told = night->jobs - night->of_state[NIGHT_GONE], rows = night->options->rows;
    struct tm_value *to = tm_add_object(night->root, "left_out");

    tm_add_uint(to, "jobs", told > rows ? told - rows : 0);
    tm_add_uint(to, "runs", night->of_night > rows ? night->of_night - rows : 0);
    tm_add_uint(to, "dated_ahead", night->ahead > rows ? night->ahead - rows : 0);
    tm_add_uint(to, "worse", night->changes_left_out[0]);
    tm_add_uint(to, "better", night->changes_left_out[1]);
    tm_add_uint(to, "change_points", night->points_left_out);
    tm_add_uint(to, "jobs_without_trend", told - night->jobs_drawn);
}

static const char *severity_of(const struct night *night)
{
    if (failed_of(night) > 0 || night_gates_failed(night) > 0 || is_step_worse(night, bad_pct))
        return "critical";
    if (night->of_state[NIGHT_WORSE] > 0 || night->of_state[NIGHT_ABSENT] > 0 || night->status[TM_RESULT_PARTIAL] > 0 ||
        night->ahead > 0)
        return "warning";
    return judged_count(night) > 0 ? "good" : "info";
}

static void tell_runs(const struct night *night, char text[TEXT_BYTES])
{
    const unsigned long long failed = failed_of(night), runs = night->of_night, partial = night->status[TM_RESULT_PARTIAL];

    if (failed > 0)
        tm_format_append(text, TEXT_BYTES, "%llu of %llu runs failed", failed, runs);
    else if (runs == 1)
        tm_format_append(text, TEXT_BYTES, "The run is done");
    else
        tm_format_append(text, TEXT_BYTES, "All %llu runs are done", runs);
    if (partial > 0)
        tm_format_append(text, TEXT_BYTES, ", %llu of damaged input", partial);
    if (night->of_others > 0)
        tm_format_append(text, TEXT_BYTES, ", %llu of other nights", (unsigned long long)night->of_others);
}

static void tell_jobs(const struct night *night, char text[TEXT_BYTES])
{
    const size_t worse = night->of_state[NIGHT_WORSE], better = night->of_state[NIGHT_BETTER],
                 absent = night->of_state[NIGHT_ABSENT], fresh = night->of_state[NIGHT_NEW];

    if (worse > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu job%s got worse", worse, tm_format_plural(worse));
    if (better > 0)
        tm_format_append(text, TEXT_BYTES, "%s %zu %sgot better",
                         worse > 0 ? "," : ";", better, worse > 0 ? "" : better == 1 ? "job " : "jobs ");
    if (worse + better == 0)
        tm_format_append(text, TEXT_BYTES, judged_count(night) > 0 ? "; no job changed by more than runs differ otherwise" :
                                               "; no job has enough good runs before to compare with");
    if (night_gates_failed(night) > 0)
        tm_format_append(text, TEXT_BYTES, "; %llu failed %s gates", (unsigned long long)night_gates_failed(night),
               night_gates_failed(night) == 1 ? "its" : "their");
    if (absent > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu job%s used to run and did not", absent, tm_format_plural(absent));
    if (fresh > 0)
        tm_format_append(text, TEXT_BYTES, "; %zu new job%s", fresh, tm_format_plural(fresh));
    if (night->ahead > 0)
        tm_format_append(text, TEXT_BYTES, "; %llu run%s dated ahead %s not judged", (unsigned long long)night->ahead,
                         tm_format_plural(night->ahead), night->ahead == 1 ? "is" : "are");
    tm_format_append(text, TEXT_BYTES, ".");
}

/* "bert got worse the most: step time 152 ms -> 171 ms (+12.4 %)." */
static void tell_worst(const struct night *night, char text[TEXT_BYTES])
{
    const struct tm_value *findings = tm_get(night->root, "findings");

    for (size_t i = 0; i < tm_length(findings); i++)
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), "night_worse") == 0) {
            tm_format_append(text, TEXT_BYTES, " The most: %.400s.", tm_text(tm_get(tm_at(findings, i), "title")));
            return;
        }
}

void night_add_verdict(struct night *night)
{
    struct tm_value *to = tm_add_object(night->root, "verdict");
    char text[TEXT_BYTES] = "";

    if (!*night->date) {
        tm_add_string(to, "text", night->ahead ? "All runs are dated ahead: none is judged." : "The history is empty.");
        tm_add_string(to, "severity", night->ahead ? "warning" : "info");
        return;
    }
    tell_runs(night, text);
    tell_jobs(night, text);
    tell_worst(night, text);
    tm_add_text(to, "text", text, strlen(text));
    tm_add_string(to, "severity", severity_of(night));
}
