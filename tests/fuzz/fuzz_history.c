/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as history.db.  What is refused has a reason; of what is read every order has the same rows, all texts are text,
 * the export, the night and the metrics can be written, and the next history holds the same rows and the new one.  SQLite
 * itself is not instrumented: what is looked at is what this program takes from it.
 * Seeds: histories of a few runs, written into the folder $TM_FUZZ_SEEDS before the first input. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/history/history.h"
#include "tests/fuzz/fuzz_job.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { PATH_BYTES = 4200, ROWS = 20 };

static char folder[64], history_path[PATH_BYTES];

static struct tm_history_run some_run(const char *id)
{
    /* clang-format off */
    struct tm_history_run row = { .id = id, .name = "run", .path = "a/b", .status = "done", .message = "", .report = "", .summary = "",
                                  .platform = "gpu", .model = "H100", .hosts = 1, .devices = 8, .verdict = "fine", .severity = "good",
                                  .finding = "", .gates = "passed", .gates_text = "", .fingerprint = "00000000000000f1",
                                  .version = "0.1.0", .options = "00000000000000a1", .definitions = TM_SUMMARY_VERSION };
    /* clang-format on */

    (void)snprintf(row.keys.job, sizeof(row.keys.job), "train");
    (void)snprintf(row.keys.night, sizeof(row.keys.night), "2026-11-21");
    row.keys.step = -1;
    for (size_t i = 0; i < TM_FIGURES_MOST; i++)
        row.figure[i] = i < tm_figure_count ? (double)i + 0.25 : NAN;
    return row;
}

static void make_night(struct tm_run *run, struct tm_history *history);

/* What a merge does: add a run, judge all jobs, and make the document of the night. */
static tm_status put_run(struct tm_run *run, const char *file, const char *id)
{
    const struct tm_history_run row = some_run(id);
    struct tm_judged_night judged = { .until = "9999-12-31" };
    struct tm_history *history = NULL;
    tm_status st = tm_history_renew(&history, run, file);

    if (st == TM_OK)
        st = tm_history_put(history, &row);
    if (st == TM_OK)
        st = tm_history_settle(history, &judged);
    if (st == TM_OK)
        st = tm_ledger_update(run, history, &judged, NULL);
    if (st == TM_OK)
        make_night(run, history);
    if (st == TM_OK && run->error.status == TM_OK)
        st = tm_history_commit(history);
    tm_history_close(history);
    return st;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const seeds = getenv("TM_FUZZ_SEEDS");
    char file[PATH_BYTES], id[32];
    struct tm_run run;

    (void)argc;
    (void)argv;
    (void)snprintf(folder, sizeof(folder), "%s/tracemill-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_REQUIRE(mkdtemp(folder) != NULL);
    (void)snprintf(history_path, sizeof(history_path), "%s/history.db", folder);
    for (int runs = 1; seeds && runs <= 4; runs += 3) {
        (void)snprintf(file, sizeof(file), "%s/history-%d", seeds, runs);
        (void)unlink(file);
        for (int i = 0; i < runs; i++) {
            fuzz_run_init(&run);
            (void)snprintf(id, sizeof(id), "run-%d", i);
            FUZZ_REQUIRE(put_run(&run, file, id) == TM_OK);
        }
    }
    return 0;
}

/* --- one input --- */

static void require_reason(struct tm_run *run, tm_status st)
{
    FUZZ_REQUIRE(st == TM_OK || (st == run->error.status && run->error.what[0]));
    run->error = (struct tm_error){ .status = TM_OK }; /* what comes next is read as if by a run of its own */
}

static void require_text(const char *text)
{
    FUZZ_REQUIRE(text && tm_utf8_is_valid(text, strlen(text)));
}

static tm_status take(void *to, const struct tm_history_run *row)
{
    uint64_t *const rows = to;
    const char *const texts[] = { row->id,         row->name,          row->path,       row->keys.job,
                                  row->keys.night, row->keys.revision, row->keys.label, row->keys.training,
                                  row->status,     row->message,       row->report,     row->summary,
                                  row->platform,   row->model,         row->verdict,    row->severity,
                                  row->finding,    row->gates,         row->gates_text, row->fingerprint,
                                  row->version,    row->options };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        require_text(texts[i]);
    ++*rows;
    return TM_OK;
}

static tm_status take_regression(void *to, const struct tm_history_regression *row)
{
    uint64_t *const rows = to;

    require_text(row->id);
    require_text(row->job);
    require_text(row->reason);
    ++*rows;
    return TM_OK;
}

/* out: rows; UINT64_MAX = they cannot be read */
static uint64_t visit(struct tm_run *run, struct tm_history *history, enum tm_history_order order)
{
    const struct tm_history_query query = { .order = order };
    uint64_t rows = 0, regressions = 0;
    const tm_status st = tm_history_visit(history, &query, take, &rows);

    require_reason(run, st);
    if (st == TM_OK)
        require_reason(run, tm_history_visit_regressions(history, NULL, take_regression, &regressions));
    return st == TM_OK && !tm_failed(run) ? rows : UINT64_MAX;
}

typedef tm_status write_all(struct tm_run *run, struct tm_history *history, FILE *to);

static tm_status write_export(struct tm_run *run, struct tm_history *history, FILE *to)
{
    (void)run;
    return tm_history_export(history, to);
}

static tm_status write_metrics(struct tm_run *run, struct tm_history *history, FILE *to)
{
    struct tm_judged_night judged = { .until = "2099-12-31" };
    const tm_status st = tm_history_last_night(history, &judged);

    return st == TM_OK ? tm_openmetrics_write(run, history, &judged, NULL, to) : st;
}

static void write_text(struct tm_run *run, struct tm_history *history, write_all *writes)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&text, &length);

    FUZZ_REQUIRE(to != NULL);
    const tm_status st = writes(run, history, to);

    FUZZ_REQUIRE(fclose(to) == 0);
    require_reason(run, st);
    FUZZ_REQUIRE(st != TM_OK || tm_utf8_is_valid(text, length));
    free(text);
}

static void make_night(struct tm_run *run, struct tm_history *history)
{
    struct tm_judged_night judged = { .until = "9999-12-31" };
    const struct tm_nightly_options options = { .rows = ROWS, .judged = &judged };
    struct tm_doc *const doc = tm_doc_new(run);
    tm_status st = tm_history_last_night(history, &judged);

    FUZZ_REQUIRE(doc != NULL);
    require_reason(run, st);
    if (st == TM_OK) {
        require_text(judged.last);
        st = tm_nightly_fill(run, doc, history, &options);
        require_reason(run, st);
    }
    tm_doc_free(doc);
}

/* out: rows; UINT64_MAX = it cannot be read */
static uint64_t read_all(struct tm_run *run)
{
    struct tm_history *history = NULL;
    const tm_status st = tm_history_open(&history, run, history_path);
    uint64_t rows = UINT64_MAX;

    require_reason(run, st);
    FUZZ_REQUIRE((st == TM_OK) == (history != NULL));
    if (history) {
        rows = visit(run, history, TM_HISTORY_BY_ID);
        FUZZ_REQUIRE(rows == visit(run, history, TM_HISTORY_BY_JOB) && rows == visit(run, history, TM_HISTORY_BY_TIME));
        write_text(run, history, write_export);
        write_text(run, history, write_metrics);
        make_night(run, history);
    }
    tm_history_close(history);
    return rows;
}

static void put_file(const uint8_t *data, size_t size)
{
    const int fd = open(history_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tm_run run;

    put_file(data, size);
    fuzz_run_init(&run);
    const uint64_t rows = read_all(&run);

    run.error = (struct tm_error){ .status = TM_OK };
    const tm_status st = put_run(&run, history_path, "added");

    require_reason(&run, st);
    if (rows != UINT64_MAX && st == TM_OK) {
        const uint64_t then = read_all(&run);

        FUZZ_REQUIRE(then == rows + 1 || then == rows); /* where it was there */
    }
    fuzz_run_end(&run);
    return 0;
}
