/* SPDX-License-Identifier: Apache-2.0 */
/* A night without runs to report, for tests of what is told of it:
 *
 *   night ROWS OUT [ROWS_MOST [GATES]]
 *
 * ROWS has rows of a history as `batch export` prints them; they become OUT/history.db, and OUT gets index.html and the other
 * files.  GATES is what gates said of the night; later nights than UNTIL of the environment are dated ahead.  Prints the peak of the ledger in bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/outputs.h"
#include "reports/history/history.h"

enum { PATH_BYTES = 4096, MEMORY_MIB = 256 };

static const char *text_of(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static double number_of(const struct tm_value *row, const char *key)
{
    return tm_has(tm_get(row, key)) ? tm_double(tm_get(row, key)) : NAN;
}

static int64_t whole_of(const struct tm_value *row, const char *key)
{
    return tm_has(tm_get(row, key)) ? tm_int(tm_get(row, key)) : -1;
}

static void copy(char *to, size_t bytes, const char *text)
{
    (void)snprintf(to, bytes, "%s", text);
}

static tm_status put(struct tm_history *history, const struct tm_value *row)
{
    struct tm_history_run run = {
        .id = text_of(row, "id"),
        .name = text_of(row, "name"),
        .path = text_of(row, "path"),
        .status = text_of(row, "status"),
        .message = text_of(row, "message"),
        .report = text_of(row, "report"),
        .platform = text_of(row, "platform"),
        .model = text_of(row, "model"),
        .hosts = whole_of(row, "hosts"),
        .devices = whole_of(row, "devices"),
        .verdict = text_of(row, "verdict"),
        .severity = text_of(row, "severity"),
        .finding = text_of(row, "finding"),
        .gates = text_of(row, "gates"),
        .gates_text = text_of(row, "gates_text"),
        .fingerprint = text_of(row, "fingerprint"),
        .version = text_of(row, "version"),
        .options = text_of(row, "options"),
        .page = text_of(row, "page"),
        .definitions = tm_int(tm_get(row, "definitions")),
    };

    for (size_t i = 0; i < TM_ENV_KEYS; i++)
        run.environment[i] = text_of(row, tm_environment_facts[i].key);
    copy(run.keys.job, sizeof(run.keys.job), text_of(row, "job"));
    copy(run.keys.night, sizeof(run.keys.night), text_of(row, "night"));
    copy(run.keys.revision, sizeof(run.keys.revision), text_of(row, "revision"));
    copy(run.keys.label, sizeof(run.keys.label), text_of(row, "label"));
    copy(run.keys.labels, sizeof(run.keys.labels), text_of(row, "labels"));
    copy(run.keys.training, sizeof(run.keys.training), text_of(row, "training"));
    run.keys.when_ns = tm_int(tm_get(row, "when_ns"));
    run.keys.step = whole_of(row, "step");
    for (size_t i = 0; i < TM_FIGURES_MOST; i++)
        run.figure[i] = i < tm_figure_count ? number_of(row, tm_figure_table[i].id) : NAN;
    return tm_history_put(history, &run);
}

static tm_status put_line(struct tm_run *run, struct tm_history *history, const char *line, size_t length)
{
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st = doc ? tm_doc_read(doc, tm_doc_root(doc), line, length, "rows") : run->error.status;

    if (!st)
        st = put(history, tm_doc_root(doc));
    tm_doc_free(doc);
    return st;
}

/* out: history  it may be told of */
static tm_status make_history(struct tm_run *run, const char *rows, const char *path, struct tm_history **to)
{
    FILE *file = fopen(rows, "r");
    struct tm_history *history = NULL;
    struct tm_judged_night judged = { .until = "" };
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    tm_status st;

    if (!file)
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot open '%s'", rows);
    st = tm_history_renew(&history, run, path);
    *to = history;
    while (!st && (length = getline(&line, &room, file)) > 0)
        st = put_line(run, history, line, (size_t)length);
    (void)snprintf(judged.until, sizeof(judged.until), "%s", getenv("UNTIL") ? getenv("UNTIL") : "9999-12-31");
    if (!st)
        st = tm_history_last_night(history, &judged);
    if (!st)
        st = tm_ledger_update(run, history, &judged, NULL);
    if (!st)
        st = tm_history_commit(history);
    free(line);
    (void)fclose(file);
    return st;
}

static tm_status tell(struct tm_run *run, struct tm_history *history, const char *out, size_t rows,
                      const char *gates_path)
{
    static const struct tm_options options = { .formats = TM_FORMAT_JSON | TM_FORMAT_HTML | TM_FORMAT_PDF |
                                                          TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV };
    struct tm_doc *doc = tm_doc_new(run), *gates = tm_doc_new(run);
    struct tm_judged_night judged = { .until = "" };
    const struct tm_nightly_options night = {
        .rows = rows, .judged = &judged, .report = "report.html", .gates = gates_path ? tm_doc_root(gates) : NULL
    };
    const struct tm_document_result result = { .doc = doc, .paper = TM_PAPER_A4 };
    tm_status st = doc && gates ? TM_OK : run->error.status;

    if (!st && gates_path)
        st = tm_doc_read_file(gates, tm_doc_root(gates), gates_path);
    (void)snprintf(judged.until, sizeof(judged.until), "%s", getenv("UNTIL") ? getenv("UNTIL") : "9999-12-31");
    if (!st)
        st = tm_history_last_night(history, &judged);
    if (!st)
        st = tm_nightly_fill(run, doc, history, &night);
    if (!st)
        st = tm_document_write(run, &result, out, &options);
    tm_doc_free(gates);
    tm_doc_free(doc);
    return st;
}

int main(int count, char **argument)
{
    struct tm_run run = { .quiet = true, .spill_dir = "/var/tmp" };
    struct tm_history *history = NULL;
    char path[PATH_BYTES];
    tm_status st;

    if (count < 3)
        return TM_ERR_USAGE;
    tm_budget_init(&run.budget, (size_t)MEMORY_MIB * TM_MIB);
    (void)snprintf(path, sizeof(path), "%s/history.db", argument[2]);
    st = make_history(&run, argument[1], path, &history);
    if (!st)
        st = tell(&run, history, argument[2], count > 3 ? strtoul(argument[3], NULL, 10) : 500,
                  count > 4 ? argument[4] : NULL);
    tm_history_close(history);
    if (st)
        tm_error_print(&run.error, stderr);
    else
        (void)printf("%zu\n", run.budget.peak_bytes[TM_ACCOUNT_MODEL]);
    return (int)st;
}
