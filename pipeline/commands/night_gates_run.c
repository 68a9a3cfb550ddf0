/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a night and its gates: its summary is in memory, and of those that it is held against the members that some
 * gate looks at. */
#include "pipeline/commands/night_gates.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/batch/result.h"
#include "pipeline/doc_copy.h"
#include "reports/format/format.h"

enum { PATH_BYTES = 4096, TEXT_BYTES = 512, SUMMARY_PCT = 40 /* of the limit, for one */ };

const char *const night_verdict_word[VERDICTS] = { "passed", "failed", "unknown", "not judged", "no report" };
const char *const night_gate_status[NIGHT_GATE_STATUSES] = { "passed", "failed", "unknown", "skipped" };

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

static struct tm_doc *new_doc(struct gated_night *n)
{
    struct tm_doc *const doc = tm_doc_new(n->run);

    if (doc)
        tm_doc_set_most(doc, n->run->budget.limit_bytes / 100 * SUMMARY_PCT);
    return doc;
}

/* out: false  it cannot be read; why is in `why`, or n->failed is set */
static bool read_summary(struct gated_night *n, struct tm_doc *doc, const char *summary, char why[TEXT_BYTES])
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
static struct tm_value *keep(struct gated_night *n, struct judged *j, const char *id, const struct tm_value *summary)
{
    struct tm_value *const kept = tm_add_object(tm_doc_root(j->base), id);

    for (size_t i = 0; i < tm_length(summary); i++) {
        const char *key = tm_key_at(summary, i);

        if (tm_gates_need(n->gates, key))
            tm_add_copy(kept, key, tm_value_at(summary, i));
    }
    return kept;
}

static void load_past_run(struct gated_night *n, struct judged *j, const struct tm_past_run *past)
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

static void load_baselines(struct gated_night *n, struct judged *j)
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
static enum night_verdict verdict_of(const struct tm_value *check)
{
    const struct tm_value *const counts = tm_get(check, "counts");

    if (tm_int(tm_get(counts, "failed")))
        return RUN_FAILED;
    if (tm_int(tm_get(counts, "unknown")) ||
        (tm_is(tm_path(check, "input.partial")) && tm_int(tm_get(counts, "skipped"))))
        return RUN_UNKNOWN;
    return tm_length(tm_get(check, "gates")) ? RUN_PASSED : RUN_NOT_JUDGED;
}

static void end_row(struct gated_night *n, struct judged *j, enum night_verdict verdict, const char *text)
{
    n->verdicts[verdict]++;
    tm_add_string(j->row, "verdict", night_verdict_word[verdict]);
    tm_add_known(j->row, "text", text, NULL);
}

static void add_check(struct gated_night *n, struct judged *j)
{
    const struct tm_value *const check = tm_doc_root(j->check), *const gates = tm_get(check, "gates"),
                                 *const notes = tm_get(check, "notes");
    const enum night_verdict verdict = verdict_of(check);
    const struct tm_value *first =
        first_of(gates, verdict == RUN_FAILED ? "failed" : verdict == RUN_UNKNOWN ? "unknown" : "");
    char text[TEXT_BYTES] = "";

    for (size_t i = 0; i < NIGHT_GATE_STATUSES; i++)
        n->gate_statuses[i] += (uint64_t)tm_int(tm_get(tm_get(check, "counts"), night_gate_status[i]));
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

static tm_status judge(struct gated_night *n, struct judged *j)
{
    const struct tm_judged_job job = { n->job, j->none.why, j->none.is_new };
    const struct tm_comparison_side side = { j->count == 1 ? j->against[0].path : n->choice.told, j->against, j->count };
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
static tm_status judge_run(struct gated_night *n, struct judged *j)
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

static struct tm_value *begin_row(struct gated_night *n, const struct tm_history_run *of)
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

tm_status night_gates_take(struct gated_night *n, const struct tm_history_run *row)
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
