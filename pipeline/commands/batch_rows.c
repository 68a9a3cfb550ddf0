/* SPDX-License-Identifier: Apache-2.0 */
/* From the result of a run to its row in the history.  Only one of them is in memory at a time. */
#include "pipeline/commands/batch_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/batch/fingerprint.h"
#include "pipeline/batch/out_folder.h"
#include "pipeline/batch/result.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/version.h"

/* A path of a row has the id twice at most. */
struct row {
    struct tm_history_run of;
    char report[TM_RUN_ID_BYTES + 16], summary[TM_RUN_ID_BYTES + 32];
};

static int64_t count_of(const struct tm_value *facts, const char *key)
{
    const struct tm_value *const count = tm_get(facts, key);

    return tm_type_of(count) == TM_INT ? tm_int(count) : -1;
}

static bool has_file(const struct tm_value *files, const char *name)
{
    for (size_t i = 0; i < tm_length(files); i++)
        if (strcmp(tm_text(tm_get(tm_at(files, i), "name")), name) == 0)
            return true;
    return false;
}

/* What there is of a run that has a report. */
static void set_places(struct row *row, const struct tm_value *result)
{
    if (!tm_is(tm_get(result, "pruned")))
        (void)snprintf(row->report, sizeof(row->report), "runs/%s", row->of.id);
    if (has_file(tm_get(result, "files"), "summary.json"))
        (void)snprintf(row->summary, sizeof(row->summary), "runs/%s/summary.json", row->of.id);
}

static void set_figures(struct tm_history_run *row, const struct tm_value *figures)
{
    for (size_t i = 0; i < tm_figure_count; i++) {
        const struct tm_value *const figure = tm_get(figures, tm_figure_table[i].id);
        const enum tm_type type = tm_type_of(figure);

        row->figure[i] = type == TM_INT || type == TM_DOUBLE ? tm_double(figure) : NAN;
    }
}

/* in: result  {} where there is none */
static void fill(struct row *row, const struct tm_value *result, enum tm_result_status status)
{
    const struct tm_value *const facts = tm_get(result, "facts"), *const verdict = tm_get(result, "verdict");

    row->of.status = tm_result_status_words[status];
    row->of.message = status == TM_RESULT_DONE ? "" : tm_text(tm_get(result, "message"));
    row->of.platform = tm_text(tm_get(facts, "platform"));
    row->of.model = tm_text(tm_get(facts, "model"));
    row->of.hosts = count_of(facts, "hosts");
    row->of.devices = count_of(facts, "devices");
    row->of.verdict = tm_text(tm_get(verdict, "text"));
    row->of.severity = tm_text(tm_get(verdict, "severity"));
    row->of.finding = tm_text(tm_get(verdict, "finding"));
    row->of.options = tm_text(tm_get(result, "options"));
    row->of.version = tm_text(tm_path(result, "tool.version"));
    row->of.definitions = result ? tm_result_definitions(result) : TM_SUMMARY_VERSION;
    set_figures(&row->of, tm_get(result, "figures"));
    if (status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL)
        set_places(row, result);
}

/* in: fingerprint  of the run as it is now */
static tm_status is_of_now(struct tm_run *run, const struct tm_batch_run *batch_run, const char *out,
                           const struct tm_value *result, const char *fingerprint, bool *is)
{
    const char *const made_of = tm_text(tm_get(result, "fingerprint"));
    struct tm_batch_parts parts = { .run = NULL };
    tm_status st = TM_OK;

    *is = strcmp(made_of, fingerprint) == 0;
    if (!*is && batch_run->files > 1) { /* or of those hosts that could be read */
        st = tm_batch_parts_find(&parts, run, out, batch_run);
        *is = st == TM_OK && strcmp(made_of, parts.fingerprint) == 0;
        tm_batch_parts_free(&parts);
    }
    *is = *is && strcmp(tm_text(tm_get(result, "id")), batch_run->id) == 0;
    return st;
}

static void count(struct tm_batch_counts *counts, enum tm_result_status status)
{
    uint64_t *const of[] = { [TM_RESULT_DONE] = &counts->done,       [TM_RESULT_PARTIAL] = &counts->partial,
                             [TM_RESULT_REFUSED] = &counts->refused, [TM_RESULT_FAILED] = &counts->failed,
                             [TM_RESULT_MISSING] = &counts->missing };

    counts->runs++;
    ++*of[status];
}

static tm_status take(struct tm_run *run, const struct tm_batch_run *batch_run, const char *out,
                      struct tm_history *history, struct tm_batch_counts *counts)
{
    struct tm_doc *const doc = tm_doc_new(run), *const texts = doc ? tm_doc_new(run) : NULL;
    char folder[TM_OUT_PATH_BYTES], fingerprint[TM_FINGERPRINT_BYTES];
    struct row row = { .of = { .id = batch_run->id, .gates = "", .gates_text = "", .page = "" } };
    const struct tm_value *result = NULL;
    enum tm_result_status status = TM_RESULT_MISSING;
    bool is_now = false;
    tm_status st = texts ? tm_out_item_folder(run, out, batch_run, NULL, folder) : run->error.status;

    if (st != TM_OK)
        goto out;
    tm_run_fingerprint(batch_run, fingerprint);
    if (tm_result_read(doc, tm_doc_root(doc), folder))
        st = is_of_now(run, batch_run, out, tm_doc_root(doc), fingerprint, &is_now);
    if (st != TM_OK)
        goto out;
    if (is_now) {
        result = tm_doc_root(doc);
        status = tm_result_status_of(tm_text(tm_get(result, "status")));
    }
    /* names of files may be any bytes */
    tm_add_text(tm_doc_root(texts), "name", batch_run->name, strlen(batch_run->name));
    tm_add_text(tm_doc_root(texts), "path", batch_run->path, strlen(batch_run->path));
    st = tm_doc_status(texts);
    row.of.name = tm_text(tm_get(tm_doc_root(texts), "name"));
    row.of.path = tm_text(tm_get(tm_doc_root(texts), "path"));
    row.of.fingerprint = result ? tm_text(tm_get(result, "fingerprint")) : fingerprint;
    row.of.report = row.report;
    row.of.summary = row.summary;
    tm_batch_keys_copy(&row.of.keys, &batch_run->keys);
    fill(&row, result, status);
    /* What an older program worked stays in the history as its own, until it is worked anew; a pruned run never is. */
    count(counts, row.of.definitions == TM_SUMMARY_VERSION || tm_is(tm_get(result, "pruned")) ? status : TM_RESULT_MISSING);
    if (st == TM_OK)
        st = tm_history_put(history, &row.of);
out:
    tm_doc_free(texts);
    tm_doc_free(doc);
    return st;
}

static void note_ahead(struct tm_batch_counts *counts, const struct tm_batch_run *batch_run)
{
    if (counts->ahead++)
        return;
    (void)snprintf(counts->ahead_id, sizeof(counts->ahead_id), "%s", batch_run->id);
    (void)snprintf(counts->ahead_night, sizeof(counts->ahead_night), "%s", batch_run->keys.night);
}

tm_status tm_batch_rows(struct tm_run *run, const struct tm_manifest *manifest, const char *out, const char *until,
                        struct tm_history *history, struct tm_batch_counts *counts)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < manifest->count && st == TM_OK; i++) {
        if (strcmp(manifest->runs[i].keys.night, until) > 0)
            note_ahead(counts, &manifest->runs[i]);
        st = take(run, &manifest->runs[i], out, history, counts);
    }
    return st;
}
