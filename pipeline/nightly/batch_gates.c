/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of a night.  The history is gone through once, job by job and oldest first, with the last runs of the job
 * remembered by name; a run of the page (tm_history_is_judged) is assessed as it comes by. */
#include "pipeline/nightly/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"
#include "reports/history/history.h"

/* The runs that a run of this job is compared with, oldest first.  Among the runs on the same number of hosts and
 * devices of the same model: the newest `most` whose gates passed; if these are fewer, also complete ones that were not
 * or could not be assessed; if there are none of both, partial ones.  Never those that failed.
 * out:    chosen  borrowed until the past changes
 *         none    if there are none: the reason, and whether it is that the job had no run at all */
enum { TM_NO_BASELINE_BYTES = 256 };

struct tm_no_baseline {
    char why[TM_NO_BASELINE_BYTES];
    bool is_new;
};

/* What the gates of a night (batch_gates.c) and those of one of its runs (batch_gates.c) share. */

enum night_verdict { RUN_PASSED, RUN_FAILED, RUN_UNKNOWN, RUN_NOT_JUDGED, RUN_WITHOUT_REPORT, VERDICTS };

enum { NIGHT_GATE_STATUSES = 4 };

/* While the history is gone through. */
struct gated_night {
    struct tm_run *run;
    const char *out; /* the folder */
    const struct tm_judged_night *judged;
    struct tm_gates *gates; /* NULL = only the reports are examined */
    struct tm_baseline_choice choice;
    struct tm_summaries fixed; /* of paths */
    struct tm_job_past *past;
    struct tm_history *history;
    char job[TM_KEY_BYTES]; /* that is gone through */
    struct tm_value *rows;  /* "runs" of the result */
    uint64_t verdicts[VERDICTS], gate_statuses[NIGHT_GATE_STATUSES], new_jobs;
};

/* One run of a night and its gates: its summary is in memory, and of those that it is compared with the members that
 * some gate examines. */

enum { PATH_BYTES = 4096, TEXT_BYTES = 512, SUMMARY_PCT = 40 /* of the limit, for one */ };

static const char *const night_verdict_word[VERDICTS] = { "passed", "failed", "unknown", "not assessed", "no report" };

static const char *const night_gate_status[NIGHT_GATE_STATUSES] = { "passed", "failed", "unknown", "skipped" };

/* One run of the night, while it is assessed. */
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

/* out: false  it cannot be read; why is in `why`, or the run has failed */
static bool read_summary(struct gated_night *n, struct tm_doc *doc, const char *summary, char why[TEXT_BYTES])
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof(path), "%s/%s", n->out, summary);

    if (length < 0 || (size_t)length >= sizeof(path)) {
        (void)snprintf(why, TEXT_BYTES, "its path is too long");
        return false;
    }
    if (!tm_summary_read(n->run, doc, path))
        return true;
    (void)snprintf(why, TEXT_BYTES, "%.*s", TEXT_BYTES - 1, n->run->error.what);
    if (n->run->error.status == TM_ERR_INPUT)
        forget_error(n->run);
    return false;
}

static void note(struct judged *j, const char *id, const char *text)
{
    char line[TEXT_BYTES];

    (void)snprintf(line, sizeof(line), "%.120s is left out: %.300s", id, text);
    tm_add_string(j->notes, NULL, line);
}

/* One run is not a baseline of itself, and none twice. */
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
        note(j, id, "it has the same files as another baseline");
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

    if (!whole)
        return;
    if (read_summary(n, whole, past->summary, why)) {
        const struct tm_compared_run run = {
            .summary = keep(n, j, past->id, tm_doc_root(whole)), .path = past->id, .is_summary = true, .measured_ps = -1
        };

        add_baseline(j, &run, past->id);
    } else if (!tm_failed(n->run)) {
        note(j, past->id, why);
    }
    tm_doc_free(whole);
}

static size_t job_past_choose(const struct tm_job_past *past, const struct tm_history_run *row,
                              const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST], struct tm_no_baseline *none);

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
    count = job_past_choose(n->past, j->of, chosen, &j->none);
    for (size_t i = 0; i < count && !tm_failed(n->run); i++)
        load_past_run(n, j, chosen[i]);
    if (count && j->count == 0)
        (void)snprintf(j->none.why, sizeof(j->none.why), "no previous good run of the job can be read");
}

/* --- the result of a run --- */

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

/* "Median step time: 110 ms, in the baseline 100 ms (+10 %); max_increase_pct 5%" */
static void describe(char to[TEXT_BYTES], const struct tm_value *gate)
{
    const bool is_known = tm_has(tm_get(gate, "value")), has_change = tm_has(tm_get(gate, "change_pct"));
    const double change = tm_double(tm_get(gate, "change_pct"));
    char pct[TM_FORMAT_BYTES];
    int used =
        snprintf(to, TEXT_BYTES, "%.120s: ", tm_text(tm_get(gate, tm_has(tm_get(gate, "title")) ? "title" : "figure")));

    if (!is_known || strcmp(tm_text(tm_get(gate, "status")), "failed") != 0) {
        (void)snprintf(to + used, TEXT_BYTES - (size_t)used, "%.300s", tm_text(tm_get(gate, "why")));
        return;
    }
    used += snprintf(to + used, TEXT_BYTES - (size_t)used, "%.40s", tm_text(tm_get(gate, "value_text")));
    if (has_change)
        used += snprintf(to + used, TEXT_BYTES - (size_t)used, ", in the baseline %.40s (%s%s%%)",
                         tm_text(tm_get(gate, "baseline_text")), change > 0 ? "+" : "", tm_format_number(pct, change));
    (void)snprintf(to + used, TEXT_BYTES - (size_t)used, "; %.30s %.60s", tm_text(tm_get(gate, "rule")),
                   tm_text(tm_get(gate, "limit_text")));
}

/* A partial run with a skipped gate is not known to be good, as in `check`. */
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
    const struct tm_value *first = first_of(gates, verdict == RUN_FAILED    ? "failed"
                                                   : verdict == RUN_UNKNOWN ? "unknown"
                                                                            : "");
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
        (void)snprintf(text, sizeof(text), "no gate applies to this job");
    add_baselines(j);
    tm_add_copy(j->row, "gates", gates);
    end_row(n, j, verdict, text);
}

static void judge(struct gated_night *n, struct judged *j)
{
    const struct tm_judged_job job = { n->job, j->none.why, j->none.is_new };
    const struct tm_comparison_side side = { j->count == 1 ? j->against[0].path : n->choice.told, j->against,
                                             j->count };
    size_t failed;

    j->check = new_doc(n);
    if (!j->check)
        return;
    tm_gates_judge_job(n->run, j->check, n->gates, &j->run, j->count ? &side : NULL, &job, &failed);
    if (tm_while(&n->run->error, "checking '%s' against the gates", j->of->id))
        return;
    n->new_jobs += j->count == 0 && j->none.is_new && tm_int(tm_path(tm_doc_root(j->check), "counts.skipped")) > 0;
    add_check(n, j);
}

/* in: j  of a run with a report */
static void judge_run(struct gated_night *n, struct judged *j)
{
    char why[TEXT_BYTES];

    j->input = new_doc(n);
    j->base = j->input ? new_doc(n) : NULL;
    if (!j->base)
        return;
    if (!*j->of->summary || !read_summary(n, j->input, j->of->summary, why)) {
        tm_add_array(j->row, "baseline");
        tm_add_array(j->row, "gates");
        end_row(n, j, RUN_UNKNOWN, *j->of->summary ? why : "its summary was pruned, or never written");
        return;
    }
    j->run = (struct tm_compared_run){
        .summary = tm_doc_root(j->input), .path = j->of->id, .is_summary = true, .measured_ps = -1
    };
    load_baselines(n, j);
    if (!tm_failed(n->run))
        judge(n, j);
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

/* Put a run that is assessed into the result, assessed if it has a report and there are gates. */
static void night_gates_take(struct gated_night *n, const struct tm_history_run *row)
{
    struct judged *const j = tm_take(&n->run->budget, TM_ACCOUNT_MODEL, sizeof(*j), &n->run->error);

    if (!j)
        return;
    j->of = row;
    j->row = begin_row(n, row);
    j->notes = tm_add_array(j->row, "notes");
    if (has_report(row) && n->gates) {
        judge_run(n, j);
    } else {
        tm_add_array(j->row, "baseline");
        tm_add_array(j->row, "gates");
        end_row(n, j, has_report(row) ? RUN_NOT_JUDGED : RUN_WITHOUT_REPORT, "");
    }
    tm_doc_free(j->check);
    tm_doc_free(j->base);
    tm_doc_free(j->input);
    tm_give(&n->run->budget, TM_ACCOUNT_MODEL, j, sizeof(*j));
}

/* For each kind of machine that a job had, three rings of its last runs: one for each grade. */

enum grade { PASSED, WHOLE, PARTIAL, GRADES };

struct ring {
    size_t added; /* ever: the newest is at (added - 1) % most */
    struct tm_past_run *run;
};

/* The runs of the job on one kind of machine. */
struct machine {
    struct machine *next;
    int64_t hosts, devices;
    char model[TM_KEY_BYTES];
    uint64_t reports, failed, older, pruned, regressed; /* runs that had a report; of them */
    struct ring ring[GRADES];
    struct tm_past_run room[]; /* for all rings */
};

struct tm_job_past {
    struct tm_run *run;
    struct tm_baseline_choice choice;
    struct machine *machines;
    uint64_t reports;
    struct night_records records; /* of the ledger, of the job */
};

/* --- the value of --baseline --- */

static tm_status refuse(struct tm_run *run, const char *text, const char *reason)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use --baseline '%.100s': %s", text, reason);
    tm_hint(&run->error, "use last-good, median:N with N from 1 to %d, night:YYYY-MM-DD, label:LABEL, or paths",
            TM_BASELINE_RUNS_MOST);
    return TM_ERR_USAGE;
}

static const char *behind(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? text + length : NULL;
}

static tm_status read_count(struct tm_run *run, const char *text, const char *digits, size_t *count)
{
    char *end;
    const unsigned long number = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;

    if (number < 1 || *end || number > TM_BASELINE_RUNS_MOST)
        return refuse(run, text, "it is not a number of runs from 1 to 64");
    *count = number;
    return TM_OK;
}

bool tm_baseline_is_word(const char *text)
{
    return strcmp(text, "last-good") == 0 || behind(text, "median:") || behind(text, "night:") ||
           behind(text, "label:");
}

/* in: text  is a word */
static tm_status read_word(struct tm_run *run, const char *text, struct tm_baseline_choice *choice)
{
    const char *rest;

    if (strcmp(text, "last-good") == 0) {
        choice->most = 1;
        return TM_OK;
    }
    if ((rest = behind(text, "median:")))
        return read_count(run, text, rest, &choice->most);
    choice->most = TM_BASELINE_RUNS_MOST;
    if ((rest = behind(text, "night:"))) {
        choice->kind = TM_BASELINE_NIGHT;
        choice->text = rest;
        return tm_is_night(rest) ? TM_OK : refuse(run, text, "it is not a night, such as night:2026-11-21");
    }
    choice->kind = TM_BASELINE_LABEL;
    choice->text = text + strlen("label:");
    return *choice->text ? TM_OK : refuse(run, text, "the label is empty");
}

tm_status tm_baseline_choice_read(struct tm_run *run, const struct tm_texts *baseline,
                                  struct tm_baseline_choice *choice)
{
    *choice = (struct tm_baseline_choice){ .kind = TM_BASELINE_LAST, .most = TM_BASELINE_RUNS };
    (void)snprintf(choice->told, sizeof(choice->told), "median:%d", TM_BASELINE_RUNS);
    for (size_t i = 0; i < baseline->count && !tm_failed(run); i++) {
        const bool is_word = tm_baseline_is_word(baseline->text[i]);

        if (!is_word)
            choice->kind = TM_BASELINE_PATHS;
        else if (!read_word(run, baseline->text[i], choice) && baseline->count > 1)
            (void)refuse(run, baseline->text[i], "it cannot be combined with others");
        (void)snprintf(choice->told, sizeof(choice->told), "%s", is_word ? baseline->text[i] : "");
    }
    return run->error.status;
}

/* --- the past --- */

static size_t machine_bytes(const struct tm_job_past *past)
{
    return sizeof(struct machine) + GRADES * past->choice.most * sizeof(struct tm_past_run);
}

struct tm_job_past *tm_job_past_new(struct tm_run *run, const struct tm_baseline_choice *choice)
{
    struct tm_job_past *past = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*past), &run->error);

    if (past) {
        past->run = run;
        past->choice = *choice;
    }
    return past;
}

static void forget(struct tm_job_past *past)
{
    while (past->machines) {
        struct machine *const next = past->machines->next;

        tm_give(&past->run->budget, TM_ACCOUNT_MODEL, past->machines, machine_bytes(past));
        past->machines = next;
    }
    past->reports = 0;
    tm_nightly_free_records(&past->records);
}

tm_status tm_job_past_start(struct tm_job_past *past, struct tm_history *history, const char *job)
{
    forget(past);
    return tm_nightly_read_records(&past->records, past->run, history, job);
}

/* Does it belong to a regression that was not accepted?  A lasting one does not become the baseline. */
static bool is_regressed(const struct tm_job_past *past, const struct tm_history_run *row)
{
    if (past->choice.kind != TM_BASELINE_LAST)
        return false;
    for (const struct night_record *at = past->records.first; at; at = at->next) {
        const enum tm_ledger_state state = tm_ledger_state_of(at->of.state);
        const bool is_open = tm_ledger_is_open(&at->of) || state == TM_LEDGER_ENDED;

        if ((is_open || state == TM_LEDGER_RECOVERED || state == TM_LEDGER_FIXED) &&
            strcmp(at->of.model, row->model) == 0 && at->of.hosts == row->hosts && at->of.devices == row->devices &&
            row->keys.when_ns >= at->of.since_ns && (is_open || row->keys.when_ns < at->of.last_ns))
            return true;
    }
    return false;
}

void tm_job_past_free(struct tm_job_past *past)
{
    if (!past)
        return;
    forget(past);
    tm_give(&past->run->budget, TM_ACCOUNT_MODEL, past, sizeof(*past));
}

static struct machine *find_machine(const struct tm_job_past *past, const struct tm_history_run *row)
{
    struct machine *m = past->machines;

    while (m && (m->hosts != row->hosts || m->devices != row->devices ||
                 strncmp(m->model, row->model, sizeof(m->model) - 1) != 0))
        m = m->next;
    return m;
}

static struct machine *add_machine(struct tm_job_past *past, const struct tm_history_run *row)
{
    struct machine *const m = tm_take(&past->run->budget, TM_ACCOUNT_MODEL, machine_bytes(past), &past->run->error);

    if (!m)
        return NULL;
    *m = (struct machine){ .next = past->machines, .hosts = row->hosts, .devices = row->devices };
    (void)snprintf(m->model, sizeof(m->model), "%s", row->model);
    for (size_t i = 0; i < GRADES; i++)
        m->ring[i].run = m->room + i * past->choice.most;
    past->machines = m;
    return m;
}

static bool is_meant(const struct tm_baseline_choice *choice, const struct tm_history_run *row)
{
    switch (choice->kind) {
    case TM_BASELINE_LAST:
        return true;
    case TM_BASELINE_NIGHT:
        return strcmp(row->keys.night, choice->text) == 0;
    case TM_BASELINE_LABEL:
        return strcmp(row->keys.label, choice->text) == 0;
    case TM_BASELINE_PATHS:
        break;
    }
    return false;
}

static void put(struct ring *ring, size_t most, const struct tm_history_run *row)
{
    struct tm_past_run *const at = &ring->run[ring->added++ % most];

    (void)snprintf(at->id, sizeof(at->id), "%s", row->id);
    (void)snprintf(at->summary, sizeof(at->summary), "%s", row->summary);
    (void)snprintf(at->night, sizeof(at->night), "%s", row->keys.night);
    (void)snprintf(at->revision, sizeof(at->revision), "%s", row->keys.revision);
    (void)snprintf(at->label, sizeof(at->label), "%s", row->keys.label);
    at->when_ns = row->keys.when_ns;
}

tm_status tm_job_past_add(struct tm_job_past *past, const struct tm_history_run *row, const char *gates)
{
    const bool is_done = strcmp(row->status, tm_result_status_words[TM_RESULT_DONE]) == 0,
               is_partial = strcmp(row->status, tm_result_status_words[TM_RESULT_PARTIAL]) == 0;
    struct machine *m;

    if (!is_meant(&past->choice, row) || (!is_done && !is_partial))
        return TM_OK;
    m = find_machine(past, row);
    if (!m && !(m = add_machine(past, row)))
        return TM_ERR_LIMIT;
    past->reports++;
    m->reports++;
    if (strcmp(gates, "failed") == 0)
        m->failed++;
    else if (!tm_history_is_current(row))
        m->older++;
    else if (!*row->summary)
        m->pruned++;
    else if (is_regressed(past, row))
        m->regressed++;
    else
        put(&m->ring[strcmp(gates, "passed") == 0 ? PASSED : is_done ? WHOLE : PARTIAL], past->choice.most, row);
    return TM_OK;
}

/* --- the choice --- */

/* The newest of a ring, the newest first. */
static size_t take(const struct ring *ring, size_t ring_room, size_t most, const struct tm_past_run **to)
{
    const size_t held = ring->added < ring_room ? ring->added : ring_room;
    const size_t count = held < most ? held : most;

    for (size_t i = 0; i < count; i++)
        to[i] = &ring->run[(ring->added - 1 - i) % ring_room];
    return count;
}

static void tell_count(struct tm_no_baseline *none, uint64_t count, const char *what)
{
    const size_t used = strlen(none->why);

    if (count)
        (void)snprintf(none->why + used, sizeof(none->why) - used, "%s%llu %s", strchr(none->why, ':') ? ", " : ": ",
                       (unsigned long long)count, what);
}

static void tell_none(const struct tm_job_past *past, const struct machine *m, struct tm_no_baseline *none)
{
    static const char *const first[] = { "this is the first run of the job", "that night has no run of the job",
                                         "no previous run of the job has that label", "" };
    static const char *const later[] = { "no previous good run of the job", "that night has no good run of the job",
                                         "no previous good run of the job has that label", "" };

    none->is_new = past->reports == 0;
    (void)snprintf(none->why, sizeof(none->why), "%s", (none->is_new ? first : later)[past->choice.kind]);
    tell_count(none, m ? m->failed : 0, "failed their gates");
    tell_count(none, past->reports - (m ? m->reports : 0), "ran on other hosts or devices");
    tell_count(none, m ? m->older : 0, "have figures that an older tracemill defined differently");
    tell_count(none, m ? m->pruned : 0, "were pruned");
    tell_count(none, m ? m->regressed : 0, "belong to a regression");
}

static int by_time(const void *a, const void *b)
{
    const struct tm_past_run *const *x = a, *const *y = b;

    if ((*x)->when_ns != (*y)->when_ns)
        return (*x)->when_ns < (*y)->when_ns ? -1 : 1;
    return strcmp((*x)->id, (*y)->id);
}

static size_t choose_of(const struct machine *m, size_t most, const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST])
{
    size_t count = take(&m->ring[PASSED], most, most, chosen);

    count += take(&m->ring[WHOLE], most, most - count, chosen + count);
    return count ? count : take(&m->ring[PARTIAL], most, most, chosen);
}

static size_t job_past_choose(const struct tm_job_past *past, const struct tm_history_run *row,
                              const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST], struct tm_no_baseline *none)
{
    const struct machine *const m = find_machine(past, row);
    const size_t count = m ? choose_of(m, past->choice.most, chosen) : 0;

    *none = (struct tm_no_baseline){ .is_new = false };
    if (count == 0)
        tell_none(past, m, none);
    qsort(chosen, count, sizeof(chosen[0]), by_time);
    return count;
}

void tm_job_past_visit(const struct tm_job_past *past, void (*take_run)(void *of, const struct tm_past_run *run),
                       void *of)
{
    for (const struct machine *m = past->machines; m; m = m->next) {
        const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST];
        const size_t count = choose_of(m, past->choice.most, chosen);

        for (size_t i = 0; i < count; i++)
            take_run(of, chosen[i]);
    }
    for (const struct night_record *at = past->records.first; at; at = at->next) {
        const char *const runs[] = { at->of.first_run, at->of.good_run };

        for (size_t i = 0; i < 2 && tm_ledger_is_open(&at->of); i++) {
            struct tm_past_run run = { .when_ns = 0 };

            (void)snprintf(run.id, sizeof(run.id), "%s", runs[i]);
            if (*run.id)
                take_run(of, &run);
        }
    }
}

static tm_status take_past_run(void *to, const struct tm_history_run *row)
{
    struct gated_night *const n = to;
    const bool is_judged = tm_history_is_judged(n->judged, row);

    if (strcmp(n->job, row->keys.job) != 0) {
        if (tm_job_past_start(n->past, n->history, row->keys.job))
            return n->run->error.status;
        (void)snprintf(n->job, sizeof(n->job), "%s", row->keys.job);
    }
    if (is_judged)
        night_gates_take(n, row);
    if (tm_failed(n->run) || !n->gates)
        return n->run->error.status;
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

/* What leaves a gate open is reported. */
static void add_notes(struct gated_night *n, struct tm_history *history, struct tm_value *notes)
{
    const struct tm_history_query ahead = { .order = TM_HISTORY_BY_JOB, .after = n->judged->until };
    char text[TEXT_BYTES];
    uint64_t count = 0;

    tm_history_visit(history, &ahead, count_run, &count);

    if (count) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " %s dated more than a day ahead, and not assessed.", count,
                       count == 1 ? "run is" : "runs are");
        tm_add_string(notes, NULL, text);
    }
    if (n->new_jobs) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " %s no previous run to compare with.", n->new_jobs,
                       n->new_jobs == 1 ? "run has" : "runs have");
        tm_add_string(notes, NULL, text);
    }
    for (size_t number = 0; n->gates && (number = tm_gates_idle(n->gates, number, has_job, n)) != 0;) {
        (void)snprintf(text, sizeof(text), "Gate %zu applies to no job of this night.", number);
        tm_add_string(notes, NULL, text);
    }
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
    tell(text, &used, v[RUN_UNKNOWN], "could not be evaluated");
    tell(text, &used, v[RUN_WITHOUT_REPORT], "without a report");
    tell(text, &used, v[RUN_PASSED], "passed");
    tell(text, &used, v[RUN_NOT_JUDGED], "not assessed");
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
static void set_gates(struct gated_night *n, struct tm_history *history)
{
    for (size_t i = 0; i < tm_length(n->rows) && n->gates; i++) {
        const struct tm_value *const row = tm_at(n->rows, i);
        const char *verdict = tm_text(tm_get(row, "verdict"));

        if (strcmp(verdict, night_verdict_word[RUN_WITHOUT_REPORT]) == 0)
            continue;
        const bool is_judged = strcmp(verdict, night_verdict_word[RUN_NOT_JUDGED]) != 0;

        tm_history_set_gates(history, tm_text(tm_get(row, "id")), is_judged ? verdict : "",
                             is_judged ? tm_text(tm_get(row, "text")) : "");
    }
}

static void load_fixed(struct gated_night *n, const struct tm_options *options)
{
    struct tm_run_operand operand[TM_TEXTS_MOST];

    if (!n->gates || n->choice.kind != TM_BASELINE_PATHS)
        return;
    for (size_t i = 0; i < options->baseline.count; i++)
        tm_run_operand_read(&operand[i], options->baseline.text[i]);
    tm_summaries_load(&n->fixed, n->run, options, operand, options->baseline.count, "check");
}

static void prepare(struct gated_night *n, const struct tm_options *options)
{
    if (options->gate && tm_gates_read(n->run, &n->gates, options->gate))
        return;
    if (!tm_baseline_choice_read(n->run, &options->baseline, &n->choice))
        load_fixed(n, options);
    if (!tm_failed(n->run))
        n->past = tm_job_past_new(n->run, &n->choice);
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

static void hold(struct gated_night *n, const struct tm_options *options, struct tm_history *history,
                 struct tm_value *result)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB, .until = n->judged->until },
                                  only_judged = { .order = TM_HISTORY_BY_JOB, .judged = n->judged };
    struct tm_value *notes;

    prepare(n, options);
    if (tm_failed(n->run))
        return;
    add_head(n, options, result);
    notes = tm_add_array(result, "notes");
    n->rows = tm_add_array(result, "runs");
    if (*n->judged->last && tm_history_visit(history, n->gates ? &all : &only_judged, take_past_run, n))
        return;
    add_notes(n, history, notes);
    add_counts(n, tm_add_object(result, "counts"));
    add_verdict(n, tm_add_object(result, "verdict"));
    if (!tm_failed(n->run)) /* also of a result that there was no room for */
        set_gates(n, history);
}

tm_status tm_nightly_gates(struct tm_run *run, const struct tm_options *options, const char *out,
                           struct tm_history *history, const struct tm_judged_night *judged, struct tm_value *result,
                           tm_status *verdict)
{
    struct gated_night n = { .run = run, .out = out, .judged = judged, .history = history };

    hold(&n, options, history, result);
    *verdict = n.verdicts[RUN_FAILED] ? TM_GATE : n.verdicts[RUN_UNKNOWN] ? TM_PARTIAL : TM_OK;
    tm_job_past_free(n.past);
    tm_summaries_free(&n.fixed);
    tm_gates_free(n.gates);
    return run->error.status;
}
