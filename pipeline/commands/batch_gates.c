/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of a night.  The history is gone through once, job by job and oldest first, with the last runs of the job
 * remembered by name; a run of the last night is judged as it comes by.  Then its summary is in memory, and of those that
 * it is held against the members that some gate looks at. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/batch/result.h"
#include "pipeline/commands/batch_parts.h"
#include "pipeline/commands/night_baseline.h"
#include "pipeline/commands/summaries.h"
#include "pipeline/doc_copy.h"
#include "pipeline/glob.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"

enum { PATH_BYTES = 4096, TEXT_BYTES = 512, SUMMARY_PCT = 40 /* of the limit, for one */ };

enum verdict { RUN_PASSED, RUN_FAILED, RUN_UNKNOWN, RUN_NOT_JUDGED, RUN_WITHOUT_REPORT, VERDICTS };
static const char *const verdict_word[VERDICTS] = { "passed", "failed", "unknown", "not judged", "no report" };

struct night {
    struct tm_run *run;
    const char *out, *last; /* the folder; the night */
    struct tm_gates *gates; /* NULL = only the reports are looked at */
    struct tm_baseline_choice choice;
    struct tm_summaries fixed; /* of paths */
    struct tm_job_past *past;
    char job[TM_KEY_BYTES]; /* that is gone through */
    struct tm_value *rows;  /* "runs" of the result */
    uint64_t verdicts[VERDICTS], gate_statuses[4], new_jobs;
    tm_status failed; /* what ended it */
};

static const char *const gate_status[] = { "passed", "failed", "unknown", "skipped" };

/* One run of the night, while it is judged. */
struct judged {
    const struct tm_history_run *of;
    struct tm_value *row;
    struct tm_doc *input, *base, *check;
    struct tm_compared_run run, against[TM_SIDE_RUNS_MOST];
    size_t count;
    struct tm_no_baseline none;
    struct tm_value *notes;
};

static void forget_error(struct tm_run *run)
{
    run->error = (struct tm_error){ .status = TM_OK };
}

/* --- the summaries of a run --- */

static struct tm_doc *new_doc(struct night *n)
{
    struct tm_doc *const doc = tm_doc_new(n->run);

    if (doc)
        tm_doc_set_most(doc, n->run->budget.limit_bytes / 100 * SUMMARY_PCT);
    return doc;
}

/* out: false  it cannot be read; why is in `why`, or n->failed is set */
static bool read_summary(struct night *n, struct tm_doc *doc, const char *summary, char why[TEXT_BYTES])
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof(path), "%s/%s", n->out, summary);
    tm_status st;

    if (length < 0 || (size_t)length >= sizeof(path)) {
        (void)snprintf(why, TEXT_BYTES, "its path is too long");
        return false;
    }
    st = tm_summary_read(n->run, doc, path);
    if (st == TM_OK)
        return true;
    (void)snprintf(why, TEXT_BYTES, "%.*s", TEXT_BYTES - 1, n->run->error.what);
    if (st == TM_ERR_INPUT)
        forget_error(n->run);
    else
        n->failed = st;
    return false;
}

static void note(struct judged *j, const char *id, const char *text)
{
    char line[TEXT_BYTES];

    (void)snprintf(line, sizeof(line), "%.120s is left out: %.300s", id, text);
    tm_add_string(j->notes, NULL, line);
}

/* One run is no baseline of itself, and none twice. */
static bool is_another(const struct judged *j, const struct tm_compared_run *run)
{
    bool is_one = tm_are_same_run(&j->run, run);

    for (size_t i = 0; i < j->count && !is_one; i++)
        is_one = tm_are_same_run(&j->against[i], run);
    return !is_one;
}

static void add_baseline(struct judged *j, const struct tm_compared_run *run, const char *id)
{
    if (j->count == TM_SIDE_RUNS_MOST)
        return;
    if (is_another(j, run))
        j->against[j->count++] = *run;
    else
        note(j, id, "it has the same files as another one");
}

/* Keep of a baseline what the gates need. */
static struct tm_value *keep(struct night *n, struct judged *j, const char *id, const struct tm_value *summary)
{
    struct tm_value *const kept = tm_add_object(tm_doc_root(j->base), id);

    for (size_t i = 0; i < tm_length(summary); i++) {
        const char *key = tm_key_at(summary, i);

        if (tm_gates_need(n->gates, key))
            tm_add_copy(kept, key, tm_value_at(summary, i));
    }
    return kept;
}

static void load_past_run(struct night *n, struct judged *j, const struct tm_past_run *past)
{
    struct tm_doc *const whole = new_doc(n);
    char why[TEXT_BYTES];

    if (!whole) {
        n->failed = n->run->error.status;
        return;
    }
    if (read_summary(n, whole, past->summary, why)) {
        const struct tm_compared_run run = { .summary = keep(n, j, past->id, tm_doc_root(whole)),
                                             .path = past->id,
                                             .is_summary = true,
                                             .measured_ps = -1 };

        if ((n->failed = tm_doc_status(j->base)) == TM_OK)
            add_baseline(j, &run, past->id);
    } else if (n->failed == TM_OK) {
        note(j, past->id, why);
    }
    tm_doc_free(whole);
}

static void load_baselines(struct night *n, struct judged *j)
{
    const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST];
    size_t count;

    if (n->choice.kind == TM_BASELINE_PATHS) {
        for (size_t i = 0; i < n->fixed.count; i++) {
            const struct tm_compared_run run = { .summary = tm_doc_root(n->fixed.run[i].doc),
                                                 .path = n->fixed.run[i].path,
                                                 .is_summary = n->fixed.run[i].is_summary,
                                                 .measured_ps = -1 };

            add_baseline(j, &run, n->fixed.run[i].label);
        }
        if (j->count == 0)
            (void)snprintf(j->none.why, sizeof(j->none.why), "the baseline is this run itself");
        return;
    }
    count = tm_job_past_choose(n->past, j->of, chosen, &j->none);
    for (size_t i = 0; i < count && n->failed == TM_OK; i++)
        load_past_run(n, j, chosen[i]);
    if (count && j->count == 0)
        (void)snprintf(j->none.why, sizeof(j->none.why), "no good run of the job before it can be read");
}

/* --- what comes out of a run --- */

static void add_baselines(const struct judged *j)
{
    struct tm_value *const list = tm_add_array(j->row, "baseline");

    for (size_t i = 0; i < j->count; i++)
        tm_add_string(list, NULL, j->against[i].path);
}

static const struct tm_value *first_of(const struct tm_value *gates, const char *status)
{
    for (size_t i = 0; i < tm_length(gates); i++) {
        if (strcmp(tm_text(tm_get(tm_at(gates, i), "status")), status) == 0)
            return tm_at(gates, i);
    }
    return NULL;
}

/* "Step time: 110 ms, in the baseline 100 ms (+10 %); max_increase_pct 5%" */
static void describe(char to[TEXT_BYTES], const struct tm_value *gate)
{
    const bool is_known = tm_has(tm_get(gate, "value")), has_change = tm_has(tm_get(gate, "change_pct"));
    const double change = tm_double(tm_get(gate, "change_pct"));
    char pct[TM_FORMAT_BYTES];
    int used = snprintf(to, TEXT_BYTES, "%.120s: ",
                        tm_text(tm_get(gate, tm_has(tm_get(gate, "title")) ? "title" : "figure")));

    if (!is_known || strcmp(tm_text(tm_get(gate, "status")), "failed") != 0) {
        (void)snprintf(to + used, TEXT_BYTES - (size_t)used, "%.300s", tm_text(tm_get(gate, "why")));
        return;
    }
    used += snprintf(to + used, TEXT_BYTES - (size_t)used, "%.40s", tm_text(tm_get(gate, "value_text")));
    if (has_change)
        used += snprintf(to + used, TEXT_BYTES - (size_t)used, ", in the baseline %.40s (%s%s %%)",
                         tm_text(tm_get(gate, "baseline_text")), change > 0 ? "+" : "",
                         tm_format_number(pct, change));
    (void)snprintf(to + used, TEXT_BYTES - (size_t)used, "; %.30s %.60s", tm_text(tm_get(gate, "rule")),
                   tm_text(tm_get(gate, "limit_text")));
}

/* A partial run of which a gate was skipped is not known to be good: as of `check`. */
static enum verdict verdict_of(const struct tm_value *check)
{
    const struct tm_value *const counts = tm_get(check, "counts");

    if (tm_int(tm_get(counts, "failed")))
        return RUN_FAILED;
    if (tm_int(tm_get(counts, "unknown")) ||
        (tm_is(tm_path(check, "input.partial")) && tm_int(tm_get(counts, "skipped"))))
        return RUN_UNKNOWN;
    return tm_length(tm_get(check, "gates")) ? RUN_PASSED : RUN_NOT_JUDGED;
}

static void end_row(struct night *n, struct judged *j, enum verdict verdict, const char *text)
{
    n->verdicts[verdict]++;
    tm_add_string(j->row, "verdict", verdict_word[verdict]);
    tm_add_known(j->row, "text", text, NULL);
}

static void add_check(struct night *n, struct judged *j)
{
    const struct tm_value *const check = tm_doc_root(j->check), *const gates = tm_get(check, "gates"),
                                 *const notes = tm_get(check, "notes");
    const enum verdict verdict = verdict_of(check);
    const struct tm_value *first =
        first_of(gates, verdict == RUN_FAILED ? "failed" : verdict == RUN_UNKNOWN ? "unknown" : "");
    char text[TEXT_BYTES] = "";

    for (size_t i = 0; i < 4; i++)
        n->gate_statuses[i] += (uint64_t)tm_int(tm_get(tm_get(check, "counts"), gate_status[i]));
    for (size_t i = 0; i < tm_length(notes); i++)
        tm_add_copy(j->notes, NULL, tm_at(notes, i));
    if (first)
        describe(text, first);
    else if (verdict == RUN_UNKNOWN)
        (void)snprintf(text, sizeof(text), "the run is partial");
    else if (verdict == RUN_NOT_JUDGED)
        (void)snprintf(text, sizeof(text), "no gate is of this job");
    add_baselines(j);
    tm_add_copy(j->row, "gates", gates);
    end_row(n, j, verdict, text);
}

static tm_status judge(struct night *n, struct judged *j)
{
    const struct tm_judged_job job = { n->job, j->none.why, j->none.is_new };
    const struct tm_side side = { j->count == 1 ? j->against[0].path : n->choice.told, j->against, j->count };
    size_t failed;
    tm_status st;

    j->check = new_doc(n);
    if (!j->check)
        return n->run->error.status;
    st = tm_gates_judge_job(n->run, j->check, n->gates, &j->run, j->count ? &side : NULL, &job, &failed);
    if (st != TM_OK)
        return tm_while(&n->run->error, "holding '%s' to the gates", j->of->id);
    n->new_jobs += j->count == 0 && j->none.is_new && tm_int(tm_path(tm_doc_root(j->check), "counts.skipped")) > 0;
    add_check(n, j);
    return TM_OK;
}

/* in: j  of a run with a report */
static tm_status judge_run(struct night *n, struct judged *j)
{
    char why[TEXT_BYTES];

    j->input = new_doc(n);
    j->base = j->input ? new_doc(n) : NULL;
    if (!j->base)
        return n->run->error.status;
    if (!*j->of->summary || !read_summary(n, j->input, j->of->summary, why)) {
        if (n->failed != TM_OK)
            return n->failed;
        tm_add_array(j->row, "baseline");
        tm_add_array(j->row, "gates");
        end_row(n, j, RUN_UNKNOWN, *j->of->summary ? why : "its summary was pruned, or never written");
        return TM_OK;
    }
    j->run = (struct tm_compared_run){ .summary = tm_doc_root(j->input),
                                       .path = j->of->id,
                                       .is_summary = true,
                                       .measured_ps = -1 };
    load_baselines(n, j);
    return n->failed == TM_OK ? judge(n, j) : n->failed;
}

static bool has_report(const struct tm_history_run *row)
{
    return strcmp(row->status, tm_result_status_words[TM_RESULT_DONE]) == 0 ||
           strcmp(row->status, tm_result_status_words[TM_RESULT_PARTIAL]) == 0;
}

static struct tm_value *begin_row(struct night *n, const struct tm_history_run *of)
{
    struct tm_value *const row = tm_add_object(n->rows, NULL);

    tm_add_string(row, "id", of->id);
    tm_add_string(row, "job", of->keys.job);
    tm_add_string(row, "night", of->keys.night);
    tm_add_int(row, "when_ns", of->keys.when_ns);
    tm_add_known(row, "revision", of->keys.revision, NULL);
    tm_add_known(row, "label", of->keys.label, NULL);
    if (of->keys.step >= 0)
        tm_add_int(row, "step", of->keys.step);
    else
        tm_add_null(row, "step", NULL);
    tm_add_string(row, "status", of->status);
    tm_add_known(row, "message", has_report(of) ? NULL : of->message, NULL);
    tm_add_known(row, "report", of->report, NULL);
    return row;
}

static tm_status take_last(struct night *n, const struct tm_history_run *row)
{
    struct judged *const j = tm_take(&n->run->budget, TM_ACCOUNT_MODEL, sizeof(*j), &n->run->error);
    tm_status st = TM_OK;

    if (!j)
        return n->run->error.status;
    j->of = row;
    j->row = begin_row(n, row);
    j->notes = tm_add_array(j->row, "notes");
    if (has_report(row) && n->gates) {
        st = judge_run(n, j);
    } else {
        tm_add_array(j->row, "baseline");
        tm_add_array(j->row, "gates");
        end_row(n, j, has_report(row) ? RUN_NOT_JUDGED : RUN_WITHOUT_REPORT, "");
    }
    tm_doc_free(j->check);
    tm_doc_free(j->base);
    tm_doc_free(j->input);
    tm_give(&n->run->budget, TM_ACCOUNT_MODEL, j, sizeof(*j));
    return st;
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct night *const n = to;
    const bool is_last = strcmp(row->keys.night, n->last) == 0;
    tm_status st = TM_OK;

    if (strcmp(n->job, row->keys.job) != 0) {
        tm_job_past_forget(n->past);
        (void)snprintf(n->job, sizeof(n->job), "%s", row->keys.job);
    }
    if (is_last)
        st = take_last(n, row);
    if (st != TM_OK || !n->gates)
        return st;
    const struct tm_value *const made = is_last ? tm_at(n->rows, tm_length(n->rows) - 1) : NULL;

    return tm_job_past_add(n->past, row, made ? tm_text(tm_get(made, "verdict")) : row->gates);
}

/* --- the night --- */

static bool has_job(void *of, const char *pattern)
{
    const struct night *const n = of;

    for (size_t i = 0; i < tm_length(n->rows); i++) {
        const char *job = tm_text(tm_get(tm_at(n->rows, i), "job"));

        if (tm_glob_fits(pattern, job, strlen(job)))
            return true;
    }
    return false;
}

/* What leaves a gate open is told. */
static void add_notes(struct night *n, struct tm_value *notes)
{
    char text[TEXT_BYTES];

    if (n->new_jobs) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " %s no run before to be compared with.", n->new_jobs,
                       n->new_jobs == 1 ? "run has" : "runs have");
        tm_add_string(notes, NULL, text);
    }
    for (size_t number = 0; n->gates && (number = tm_gates_idle(n->gates, number, has_job, n)) != 0;) {
        (void)snprintf(text, sizeof(text), "Gate %zu fits no job of this night.", number);
        tm_add_string(notes, NULL, text);
    }
}

static void tell(char *to, size_t *used, uint64_t count, const char *what)
{
    if (count)
        *used += (size_t)snprintf(to + *used, TEXT_BYTES - *used, "%s%" PRIu64 " %s", *used ? ", " : "", count, what);
}

static void add_verdict(struct night *n, struct tm_value *verdict)
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
                  v[RUN_FAILED]                            ? "bad"
                  : v[RUN_UNKNOWN] + v[RUN_WITHOUT_REPORT] ? "warning"
                                                           : "info");
}

static void add_counts(struct night *n, struct tm_value *counts)
{
    static const char *const key[VERDICTS] = { "passed", "failed", "unknown", "not_judged", "no_report" };
    struct tm_value *gates;

    tm_add_uint(counts, "runs", tm_length(n->rows));
    for (size_t i = 0; i < VERDICTS; i++)
        tm_add_uint(counts, key[i], n->verdicts[i]);
    gates = tm_add_object(counts, "gates");
    for (size_t i = 0; i < 4; i++)
        tm_add_uint(gates, gate_status[i], n->gate_statuses[i]);
}

/* After the last row was visited: writing is not allowed before. */
static tm_status set_gates(struct night *n, struct tm_history *history)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < tm_length(n->rows) && st == TM_OK && n->gates; i++) {
        const struct tm_value *const row = tm_at(n->rows, i);
        const char *verdict = tm_text(tm_get(row, "verdict"));

        if (strcmp(verdict, verdict_word[RUN_WITHOUT_REPORT]) == 0)
            continue;
        const bool is_judged = strcmp(verdict, verdict_word[RUN_NOT_JUDGED]) != 0;

        st = tm_history_set_gates(history, tm_text(tm_get(row, "id")), is_judged ? verdict : "",
                                  is_judged ? tm_text(tm_get(row, "text")) : "");
    }
    return st;
}

static tm_status load_fixed(struct night *n, const struct tm_options *options)
{
    struct tm_run_operand operand[TM_TEXTS_MOST];

    if (!n->gates || n->choice.kind != TM_BASELINE_PATHS)
        return TM_OK;
    for (size_t i = 0; i < options->baseline.count; i++)
        tm_run_operand_read(&operand[i], options->baseline.text[i]);
    return tm_summaries_load(&n->fixed, n->run, options, operand, options->baseline.count, "check");
}

static tm_status prepare(struct night *n, const struct tm_options *options)
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

static void add_head(const struct night *n, const struct tm_options *options, struct tm_value *result)
{
    tm_add_known(result, "night", n->last, NULL);
    tm_add_known(result, "gate_file", options->gate, NULL);
    if (!n->gates)
        tm_add_null(result, "baseline", NULL);
    else if (n->choice.kind != TM_BASELINE_PATHS)
        tm_add_string(result, "baseline", n->choice.told);
    else
        tm_add_string(result, "baseline", n->fixed.run[0].label);
}

static tm_status hold(struct night *n, const struct tm_options *options, struct tm_history *history,
                      struct tm_value *result)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB },
                                  only_last = { .order = TM_HISTORY_BY_JOB, .night = n->last };
    tm_status st = prepare(n, options);

    if (st != TM_OK)
        return st;
    add_head(n, options, result);
    struct tm_value *const notes = tm_add_array(result, "notes");

    n->rows = tm_add_array(result, "runs");
    st = *n->last ? tm_history_visit(history, n->gates ? &all : &only_last, take_run, n) : TM_OK;
    if (st != TM_OK)
        return st;
    add_notes(n, notes);
    add_counts(n, tm_add_object(result, "counts"));
    add_verdict(n, tm_add_object(result, "verdict"));
    st = n->run->error.status; /* of a result that there was no room for */
    return st == TM_OK ? set_gates(n, history) : st;
}

tm_status tm_night_gates(struct tm_run *run, const struct tm_options *options, const char *out,
                         struct tm_history *history, struct tm_value *result, tm_status *verdict)
{
    char last[11];
    struct night n = { .run = run, .out = out, .last = last };
    tm_status st = tm_history_last_night(history, last);

    if (st == TM_OK)
        st = hold(&n, options, history, result);
    *verdict = n.verdicts[RUN_FAILED] ? TM_GATE : n.verdicts[RUN_UNKNOWN] ? TM_PARTIAL : TM_OK;
    tm_job_past_free(n.past);
    tm_summaries_free(&n.fixed);
    tm_gates_free(n.gates);
    return st;
}
