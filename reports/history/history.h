/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HISTORY_H
#define TM_HISTORY_H

#include <sqlite3.h>

#include "pipeline/nightly/run_keys.h"
#include "pipeline/run.h"
#include "reports/history/figures.h"

/* The history of a batch: history.db, a SQLite database with a row for each run (schemas/BATCH.md has the tables, for
 * those who ask it by SQL).  Only merging writes it, and writes it anew each time: the old one is copied row by row into a
 * file beside it, which then takes its name.  So it needs no lock and no journal, is whole at any moment, and has the same
 * bytes for the same rows. */

/* One row.  Texts are valid UTF-8; "" = null in the table. */
struct tm_history_run {
    const char *id, *name, *path; /* path: of the run below its root, as the manifest has it */
    struct tm_run_keys keys;
    const char *status;  /* tm_result_status_words */
    const char *message; /* why it failed */
    const char *report;  /* folder of its report, from OUT: "runs/ID"; "" = none, or pruned */
    const char *summary; /* its summary, from OUT: "runs/ID/summary.json"; pruned runs that gates compare with
                                     keep it; "" = none */
    const char *platform, *model;
    int64_t hosts, devices; /* -1 = not known */
    const char *verdict, *severity, *finding;
    const char *gates;      /* "passed", "failed", "unknown"; "" = never judged */
    const char *gates_text; /* the first that failed */
    const char *fingerprint, *version, *options;
    const char *page;    /* the night whose page shows and judges it: the last one when it was added or changed;
                            "" = none yet (tm_history_settle) */
    int64_t definitions; /* version of the definitions of its figures: only those of TM_SUMMARY_VERSION are compared */
    double figure[TM_FIGURES_MOST]; /* NaN = null; tm_figure_count of them */
};

/* Whether its figures keep to the definitions of now.  Others stay in the history, for SQL, and are in no baseline, trend, change
 * point or gate. */
bool tm_history_is_current(const struct tm_history_run *row);

/* The severity of its verdict in the words of now: rows of version 1 have "bad" for "critical". */
const char *tm_history_severity(const struct tm_history_run *row);

struct tm_history;

/* Open for reading.
 * owns:   the caller; tm_history_close
 * errors: TM_ERR_INPUT  not there, damaged (after PRAGMA integrity_check), of another version or program: with what to do */
tm_status tm_history_open(struct tm_history **history, struct tm_run *run, const char *path) TM_MUST_USE;
/* Begin the next one: what the file at `path` holds, if it is there, is copied.  errors: also TM_ERR_OUTPUT */
tm_status tm_history_renew(struct tm_history **history, struct tm_run *run, const char *path) TM_MUST_USE;

/* Add a row, or put it in place of the one with its id.  What gates said of the same fingerprint and options stays.  So does
 * its page where the row has none and the run is the same: job, night, status, fingerprint, options, version. */
tm_status tm_history_put(struct tm_history *history, const struct tm_history_run *row) TM_MUST_USE;
tm_status tm_history_set_gates(struct tm_history *history, const char *id, const char *gates,
                               const char *text) TM_MUST_USE;
/* A renewed one takes the name of the old one.  It can be visited before and afterwards. */
tm_status tm_history_commit(struct tm_history *history) TM_MUST_USE;
void tm_history_close(struct tm_history *history); /* what was not committed goes away; tolerates NULL */

/* Go through rows.  The row is borrowed until `take` returns; `take` may not write. */
enum tm_history_order {
    TM_HISTORY_BY_JOB,  /* job, when, id: each job's runs one after the other, oldest first */
    TM_HISTORY_BY_TIME, /* when, id, newest first */
    TM_HISTORY_BY_ID,
};

struct tm_judged_night;

struct tm_history_query {
    enum tm_history_order order;
    const char *job;                      /* only this one; NULL = all */
    const struct tm_judged_night *judged; /* only its runs; NULL = all */
    const char *until, *after;            /* only nights up to this one; only later ones; NULL = all */
    uint64_t most;                        /* rows; 0 = all */
};

typedef tm_status tm_take_history_run(void *to, const struct tm_history_run *row);

tm_status tm_history_visit(struct tm_history *history, const struct tm_history_query *query, tm_take_history_run *take,
                           void *to) TM_MUST_USE;

/* --- nights --- */

/* What a merge shows and judges: the runs of the last night, and those of other nights that were added or changed since it
 * is the last one.  A run that is dated more than a day ahead of the clock is of no night: a wrong clock, or a name that is
 * not true, would hide all others. */
struct tm_judged_night {
    char last[11];  /* the newest night up to that; "" = there is none */
    char until[11]; /* the day after today, UTC */
};

/* The day after today by the machine's clock, or by SOURCE_DATE_EPOCH where that is later. */
void tm_history_until(char until[11]);
/* in: until  filled by tm_history_until.  out: last */
tm_status tm_history_last_night(struct tm_history *history, struct tm_judged_night *judged) TM_MUST_USE;
/* The same of a renewed one with all its rows: those that have no page yet, and are not dated ahead, get this one. */
tm_status tm_history_settle(struct tm_history *history, struct tm_judged_night *judged) TM_MUST_USE;
/* Is a run shown and judged?  One of an older night not any more once its report was pruned. */
bool tm_history_is_judged(const struct tm_judged_night *judged, const struct tm_history_run *row);
bool tm_history_is_ahead(const struct tm_judged_night *judged, const struct tm_history_run *row);
/* The oldest of so many of the newest nights up to `until`; "" = there are no more than these. */
tm_status tm_history_oldest_of(struct tm_history *history, const char *until, uint64_t nights,
                               char night[11]) TM_MUST_USE;

/* A line of JSON for each row, by job: the same bytes for the same rows. */
tm_status tm_history_export(struct tm_history *history, FILE *to) TM_MUST_USE;

/* --- what is made of it --- */

/* Fill a document "tracemill.night" (schemas/NIGHT.md): the last night, what got worse and better, trends, change points,
 * failures.
 * in:     rows  of each table
 * errors: TM_ERR_LIMIT when memory ends */
struct tm_nightly_options {
    const char *title, *note; /* NULL = none */
    size_t rows;
    const char *report; /* name of the file of a run's folder that links lead to: "report.html"; NULL = to the folder */
    const struct tm_judged_night *judged;
    const struct tm_value *gates; /* of this merge: tm_nightly_gates; NULL = none were asked for */
};

tm_status tm_nightly_fill(struct tm_run *run, struct tm_doc *out, struct tm_history *history,
                          const struct tm_nightly_options *options) TM_MUST_USE;

/* The newest figures of each job, and how its newest run went, in the OpenMetrics text format. */
tm_status tm_openmetrics_write(struct tm_run *run, struct tm_history *history, const struct tm_judged_night *judged,
                               FILE *to) TM_MUST_USE;

/* What the files history*.c share. */

enum {
    HISTORY_APPLICATION = 0x544d4842, /* "TMHB" */
    HISTORY_PAGE_BYTES = 8192,        /* a row takes up to a quarter of a page before it overflows */
    HISTORY_SQL_BYTES = 8192,
    HISTORY_PATH_BYTES = 4096
};

struct tm_history {
    struct tm_run *run;
    sqlite3 *db;               /* the file, read only; of a renewed one: a nameless file */
    sqlite3_stmt *put, *gates; /* of a renewed one, once they were used */
    bool is_renewed, is_committed;
    int64_t tables;                  /* their version: PRAGMA user_version */
    char path[HISTORY_PATH_BYTES];   /* as the caller has it: for messages */
    char folder[HISTORY_PATH_BYTES]; /* of it, without links */
    const char *name;                /* in that folder: the end of path */
};

/* --- history.c: what is in the file --- */

/* CREATE statements, in the order in which they are run.
 * in:  schema  "main", or another: as it stands before the name in the statement; "" = as sqlite_schema has it
 *      tables  their version
 * out: NULL = there are no more */
const char *tm_history_object(char sql[HISTORY_SQL_BYTES], const char *schema, int64_t tables, size_t index);

/* --- history.c --- */

/* --- history.c --- */

/* --- history.c --- */

/* --- of all --- */

#endif
