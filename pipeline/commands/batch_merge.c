/* SPDX-License-Identifier: Apache-2.0 */
/* `batch merge`: from the results in OUT to the history, the gates of its runs and the index page.  Each file that it
 * writes appears whole, the history first; ended at any moment, it is run again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/batch/out_folder.h"
#include "pipeline/batch/result.h"
#include "pipeline/commands/batch_parts.h"
#include "pipeline/commands/batch_rows.h"
#include "pipeline/commands/closing.h"
#include "pipeline/commands/guarded.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/night_baseline.h"
#include "pipeline/commands/night_index.h"
#include "pipeline/commands/side_files.h"
#include "pipeline/guard.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"
#include "reports/gates/night_junit.h"
#include "reports/markdown/night_markdown.h"

struct merge {
    struct tm_run *run;
    const struct tm_options *options;
    const char *out;
    struct tm_manifest manifest;
    struct tm_history *history;
    struct tm_judged_night judged;
    struct tm_batch_counts counts;
    struct tm_doc *gates; /* what tm_night_gates tells; NULL = nobody asks */
    tm_status verdict;    /* of the gates */
};

/* --- files that options name --- */

static tm_status write_junit(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_night_junit_write(m->run, tm_doc_root(m->gates), to);
}

static tm_status write_markdown(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_night_markdown_write(m->run, tm_doc_root(m->gates), m->options->title, to);
}

static tm_status write_metrics(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_openmetrics_write(m->run, m->history, &m->judged, to);
}

enum {
    FILES = 3,
    GATES_PCT = 40, /* of the limit: about a kilobyte for each gate of each run of a night */
    GATES_TOLD = 10,
};

static void list_files(struct tm_side_file files[FILES], const struct tm_options *options)
{
    files[0] = (struct tm_side_file){ options->junit, "the file of --junit", write_junit };
    files[1] = (struct tm_side_file){ options->markdown, "the file of --markdown", write_markdown };
    files[2] = (struct tm_side_file){ options->openmetrics, "the file of --openmetrics", write_metrics };
}

static tm_status write_files(const struct merge *m)
{
    struct tm_side_file files[FILES];

    list_files(files, m->options);
    return tm_side_files_write(m->run, files, FILES, m);
}

/* --- the parts --- */

static bool wants_gates(const struct tm_options *options)
{
    return options->gate || options->junit || options->markdown;
}

tm_status tm_batch_merge_check(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct tm_baseline_choice choice;
    struct tm_side_file files[FILES];
    struct tm_gates *gates = NULL;
    tm_status st = options->gate ? tm_gates_read(run, &gates, options->gate) : TM_OK;

    tm_gates_free(gates);
    if (st == TM_OK)
        st = tm_baseline_choice_read(run, &options->baseline, &choice);
    list_files(files, options);
    if (st == TM_OK)
        st = tm_guard_batch(run, out);
    return st == TM_OK ? tm_side_files_check(run, files, FILES) : st;
}

static tm_status count_troubled(void *to, const struct tm_history_run *row)
{
    struct merge *const m = to;
    const enum tm_result_status status = tm_result_status_of(row->status);

    m->counts.night_troubled += tm_history_is_judged(&m->judged, row) &&
                                (status == TM_RESULT_PARTIAL || status == TM_RESULT_REFUSED);
    return TM_OK;
}

/* What this merge is of: the runs of the last night, and what else was added or changed. */
static tm_status choose_judged(struct merge *m)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .judged = &m->judged };
    const tm_status st = tm_history_settle(m->history, &m->judged);

    return st == TM_OK && m->judged.last[0] ? tm_history_visit(m->history, &query, count_troubled, m) : st;
}

/* What the runs were made of is no place for files of this merge. */
static tm_status guard_traces(const struct merge *m)
{
    char path[TM_OUT_PATH_BYTES];
    tm_status st = TM_OK;

    for (size_t i = 0; i < m->manifest.count; i++) {
        const struct tm_batch_run *const r = &m->manifest.runs[i];

        for (size_t k = 0; k < r->files && st == TM_OK; k++) {
            if (!tm_guard_may_meet(m->run, r->file[k].bytes))
                continue;
            st = tm_input_path(m->run, r, &r->file[k], path);
            if (st == TM_OK)
                st = tm_guard_input(m->run, path, NULL);
        }
    }
    return st;
}

/* The results, as rows: from here on the manifest is not needed. */
static tm_status take_results(struct merge *m)
{
    char path[TM_OUT_PATH_BYTES];
    tm_status st = tm_out_path(m->run, m->out, TM_MANIFEST_FILE, path);

    if (st == TM_OK)
        st = tm_manifest_read(&m->manifest, m->run, path);
    if (st == TM_OK)
        st = guard_traces(m);
    if (st == TM_OK)
        st = tm_batch_join(m->run, m->options, &m->manifest, m->out, &m->counts);
    m->counts = (struct tm_batch_counts){ .worked = m->counts.worked };
    tm_progress_phase(&m->run->progress, "merging", 0);
    if (st == TM_OK)
        st = tm_out_path(m->run, m->out, TM_HISTORY_FILE, path);
    if (st == TM_OK)
        st = tm_history_renew(&m->history, m->run, path);
    if (st == TM_OK)
        st = tm_batch_rows(m->run, &m->manifest, m->out, m->judged.until, m->history, &m->counts);
    if (st == TM_OK)
        st = choose_judged(m);
    tm_manifest_free(&m->manifest);
    return st;
}

static tm_status judge(struct merge *m)
{
    if (!wants_gates(m->options))
        return TM_OK;
    m->gates = tm_doc_new(m->run);
    if (!m->gates)
        return m->run->error.status;
    tm_doc_set_most(m->gates, m->run->budget.limit_bytes / 100 * GATES_PCT);

    tm_status st = tm_night_gates(m->run, m->options, m->out, m->history, &m->judged, tm_doc_root(m->gates),
                                  &m->verdict);

    return st == TM_OK ? tm_doc_status(m->gates) : st;
}

/* --- the end --- */

static size_t print_gates_of(const struct tm_value *row, size_t room)
{
    const struct tm_value *const gates = tm_get(row, "gates");
    const char *const job = tm_text(tm_get(row, "job"));
    size_t count = 0;

    for (size_t i = 0; i < tm_length(gates); i++) {
        if (!tm_gate_is_noteworthy(tm_at(gates, i)))
            continue;
        if (count < room)
            tm_print_gate(tm_at(gates, i), job);
        count++;
    }
    if (!tm_length(gates) && strcmp(tm_text(tm_get(row, "verdict")), "unknown") == 0 && count++ < room) {
        (void)fputs("tracemill: the gates of ", stderr);
        tm_print_clean(stderr, job);
        (void)fputs(" cannot be judged: ", stderr);
        tm_print_clean(stderr, tm_text(tm_get(row, "text")));
        (void)fputc('\n', stderr);
    }
    return count;
}

/* The first ones that did not pass. */
static void print_gates(const struct tm_value *night)
{
    const struct tm_value *const rows = tm_get(night, "runs");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += print_gates_of(tm_at(rows, i), count < GATES_TOLD ? GATES_TOLD - count : 0);
    if (count > GATES_TOLD)
        (void)fprintf(stderr, "tracemill: %zu further gates did not pass\n", count - GATES_TOLD);
}

static void tell(char *to, size_t bytes, size_t *used, uint64_t number, const char *what)
{
    if (number && *used < bytes)
        *used += (size_t)snprintf(to + *used, bytes - *used, "%s%" PRIu64 " %s", *used ? ", " : "", number, what);
}

/* What is damaged for good is told by the status in the night that it came; what failed, until it is done. */
static tm_status final_status(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;

    if (m->verdict == TM_GATE)
        return TM_GATE;
    return m->verdict != TM_OK || c->night_troubled + c->ahead + c->failed + c->missing ? TM_PARTIAL : TM_OK;
}

static void warn_of_dates(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;

    if (c->ahead)
        (void)fprintf(stderr,
                      "tracemill: warning: %" PRIu64 " run%s dated more than a day ahead of this machine's clock, such as '%s' of "
                      "%s: not judged\n",
                      c->ahead, c->ahead == 1 ? " is" : "s are", c->ahead_id, c->ahead_night);
}

static void warn(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;
    const uint64_t without = c->refused + c->failed + c->missing;
    char text[256] = "";
    size_t used = 0;

    if (without + c->partial == 0 || (m->run->quiet && final_status(m) == TM_OK)) /* no status without its reason */
        return;
    tell(text, sizeof(text), &used, c->refused, "cannot be read");
    tell(text, sizeof(text), &used, c->failed, "failed");
    tell(text, sizeof(text), &used, c->missing, "not worked yet");
    tell(text, sizeof(text), &used, c->partial, "of damaged input");
    (void)fprintf(stderr, "tracemill: warning: of %" PRIu64 " run%s %s\n", c->runs, tm_format_plural(c->runs), text);
}

tm_status tm_batch_merge(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct merge *const m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);
    int lock = -1;
    tm_status st;

    if (!m)
        return run->error.status;
    *m = (struct merge){ .run = run, .options = options, .out = out };
    tm_history_until(m->judged.until);
    st = tm_batch_merge_check(run, options, out);
    if (st == TM_OK)
        st = tm_out_lock(run, out, false, &lock);
    if (st == TM_OK)
        st = take_results(m);
    if (st == TM_OK)
        st = judge(m);
    if (st == TM_OK)
        st = tm_history_commit(m->history);
    if (st == TM_OK)
        st = tm_night_index_write(run, options, out, m->history, &m->judged,
                                  m->gates ? tm_doc_root(m->gates) : NULL);
    if (st == TM_OK)
        st = write_files(m);
    tm_progress_end(&run->progress);
    if (st == TM_OK) {
        if (m->gates)
            print_gates(tm_doc_root(m->gates));
        warn_of_dates(m);
        warn(m);
        st = final_status(m);
    }
    tm_doc_free(m->gates);
    tm_history_close(m->history);
    if (lock >= 0)
        (void)close(lock);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    return st;
}

tm_status tm_command_batch_merge(struct tm_run *run, const struct tm_options *options)
{
    return tm_batch_merge(run, options, options->inputs[0]);
}
