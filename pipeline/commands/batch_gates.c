/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of a night.  The history is gone through once, job by job and oldest first, with the last runs of the job
 * remembered by name; a run of the page (tm_history_is_judged) is judged as it comes by. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/night_gates.h"
#include "pipeline/glob.h"

enum { TEXT_BYTES = 512 };

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct gated_night *const n = to;
    const bool is_judged = tm_history_is_judged(n->judged, row);
    tm_status st = TM_OK;

    if (strcmp(n->job, row->keys.job) != 0) {
        tm_job_past_forget(n->past);
        (void)snprintf(n->job, sizeof(n->job), "%s", row->keys.job);
    }
    if (is_judged)
        st = night_gates_take(n, row);
    if (st != TM_OK || !n->gates)
        return st;
    const struct tm_value *const made = is_judged ? tm_at(n->rows, tm_length(n->rows) - 1) : NULL;

    return tm_job_past_add(n->past, row, made ? tm_text(tm_get(made, "verdict")) : row->gates);
}

/* --- the night --- */

static bool has_job(void *of, const char *pattern)
{
    const struct gated_night *const n = of;

    for (size_t i = 0; i < tm_length(n->rows); i++) {
        const char *job = tm_text(tm_get(tm_at(n->rows, i), "job"));

        if (tm_glob_fits(pattern, job, strlen(job)))
            return true;
    }
    return false;
}

static tm_status count_run(void *to, const struct tm_history_run *row)
{
    (void)row;
    ++*(uint64_t *)to;
    return TM_OK;
}

/* What leaves a gate open is told. */
static tm_status add_notes(struct gated_night *n, struct tm_history *history, struct tm_value *notes)
{
    const struct tm_history_query ahead = { .order = TM_HISTORY_BY_JOB, .after = n->judged->until };
    char text[TEXT_BYTES];
    uint64_t count = 0;
    tm_status st = tm_history_visit(history, &ahead, count_run, &count);

    if (count) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " %s dated more than a day ahead, and not judged.", count,
                       count == 1 ? "run is" : "runs are");
        tm_add_string(notes, NULL, text);
    }
    if (n->new_jobs) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " %s no run before to be compared with.", n->new_jobs,
                       n->new_jobs == 1 ? "run has" : "runs have");
        tm_add_string(notes, NULL, text);
    }
    for (size_t number = 0; n->gates && (number = tm_gates_idle(n->gates, number, has_job, n)) != 0;) {
        (void)snprintf(text, sizeof(text), "Gate %zu fits no job of this night.", number);
        tm_add_string(notes, NULL, text);
    }
    return st;
}

static void tell(char *to, size_t *used, uint64_t count, const char *what)
{
    if (count)
        *used += (size_t)snprintf(to + *used, TEXT_BYTES - *used, "%s%" PRIu64 " %s", *used ? ", " : "", count, what);
}

static void add_verdict(struct gated_night *n, struct tm_value *verdict)
{
    const uint64_t *const v = n->verdicts;
    char text[TEXT_BYTES] = "";
    size_t used = 0;

    tell(text, &used, v[RUN_FAILED], v[RUN_FAILED] == 1 ? "run failed its gates" : "runs failed their gates");
    tell(text, &used, v[RUN_UNKNOWN], "cannot be judged");
    tell(text, &used, v[RUN_WITHOUT_REPORT], "without a report");
    tell(text, &used, v[RUN_PASSED], "passed");
    tell(text, &used, v[RUN_NOT_JUDGED], "not judged");
    (void)snprintf(text + used, sizeof(text) - used, "%s", used ? "." : "There are no runs.");
    tm_add_string(verdict, "text", text);
    tm_add_string(verdict, "severity",
                  v[RUN_FAILED]                            ? "critical"
                  : v[RUN_UNKNOWN] + v[RUN_WITHOUT_REPORT] ? "warning"
                                                           : "info");
}

static void add_counts(struct gated_night *n, struct tm_value *counts)
{
    static const char *const key[VERDICTS] = { "passed", "failed", "unknown", "not_judged", "no_report" };
    struct tm_value *gates;

    tm_add_uint(counts, "runs", tm_length(n->rows));
    for (size_t i = 0; i < VERDICTS; i++)
        tm_add_uint(counts, key[i], n->verdicts[i]);
    gates = tm_add_object(counts, "gates");
    for (size_t i = 0; i < NIGHT_GATE_STATUSES; i++)
        tm_add_uint(gates, night_gate_status[i], n->gate_statuses[i]);
}

/* After the last row was visited: writing is not allowed before. */
static tm_status set_gates(struct gated_night *n, struct tm_history *history)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < tm_length(n->rows) && st == TM_OK && n->gates; i++) {
        const struct tm_value *const row = tm_at(n->rows, i);
        const char *verdict = tm_text(tm_get(row, "verdict"));

        if (strcmp(verdict, night_verdict_word[RUN_WITHOUT_REPORT]) == 0)
            continue;
        const bool is_judged = strcmp(verdict, night_verdict_word[RUN_NOT_JUDGED]) != 0;

        st = tm_history_set_gates(history, tm_text(tm_get(row, "id")), is_judged ? verdict : "",
                                  is_judged ? tm_text(tm_get(row, "text")) : "");
    }
    return st;
}

static tm_status load_fixed(struct gated_night *n, const struct tm_options *options)
{
    struct tm_run_operand operand[TM_TEXTS_MOST];

    if (!n->gates || n->choice.kind != TM_BASELINE_PATHS)
        return TM_OK;
    for (size_t i = 0; i < options->baseline.count; i++)
        tm_run_operand_read(&operand[i], options->baseline.text[i]);
    return tm_summaries_load(&n->fixed, n->run, options, operand, options->baseline.count, "check");
}

static tm_status prepare(struct gated_night *n, const struct tm_options *options)
{
    tm_status st = TM_OK;

    if (options->gate)
        st = tm_gates_read(n->run, &n->gates, options->gate);
    if (st == TM_OK)
        st = tm_baseline_choice_read(n->run, &options->baseline, &n->choice);
    if (st == TM_OK)
        st = load_fixed(n, options);
    if (st != TM_OK)
        return st;
    n->past = tm_job_past_new(n->run, &n->choice);
    return n->past ? TM_OK : n->run->error.status;
}

static void add_head(const struct gated_night *n, const struct tm_options *options, struct tm_value *result)
{
    tm_add_known(result, "night", n->judged->last, NULL);
    tm_add_known(result, "gate_file", options->gate, NULL);
    if (!n->gates)
        tm_add_null(result, "baseline", NULL);
    else if (n->choice.kind != TM_BASELINE_PATHS)
        tm_add_string(result, "baseline", n->choice.told);
    else
        tm_add_string(result, "baseline", n->fixed.run[0].label);
}

static tm_status hold(struct gated_night *n, const struct tm_options *options, struct tm_history *history,
                      struct tm_value *result)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB, .until = n->judged->until },
                                  only_judged = { .order = TM_HISTORY_BY_JOB, .judged = n->judged };
    tm_status st = prepare(n, options);

    if (st != TM_OK)
        return st;
    add_head(n, options, result);
    struct tm_value *const notes = tm_add_array(result, "notes");

    n->rows = tm_add_array(result, "runs");
    st = *n->judged->last ? tm_history_visit(history, n->gates ? &all : &only_judged, take_run, n) : TM_OK;
    if (st == TM_OK)
        st = add_notes(n, history, notes);
    if (st != TM_OK)
        return st;
    add_counts(n, tm_add_object(result, "counts"));
    add_verdict(n, tm_add_object(result, "verdict"));
    st = n->run->error.status; /* of a result that there was no room for */
    return st == TM_OK ? set_gates(n, history) : st;
}

tm_status tm_night_gates(struct tm_run *run, const struct tm_options *options, const char *out,
                         struct tm_history *history, const struct tm_judged_night *judged, struct tm_value *result,
                         tm_status *verdict)
{
    struct gated_night n = { .run = run, .out = out, .judged = judged };
    tm_status st = hold(&n, options, history, result);

    *verdict = n.verdicts[RUN_FAILED] ? TM_GATE : n.verdicts[RUN_UNKNOWN] ? TM_PARTIAL : TM_OK;
    tm_job_past_free(n.past);
    tm_summaries_free(&n.fixed);
    tm_gates_free(n.gates);
    return st;
}
