/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HISTORY_PRIVATE_H
#define TM_HISTORY_PRIVATE_H

#include <sqlite3.h>

#include "pipeline/run.h"
#include "reports/history/history.h"

/* What the files history*.c share. */

enum {
    HISTORY_APPLICATION = 0x544d4842, /* "TMHB" */
    HISTORY_PAGE_BYTES = 8192,        /* a row takes up to a quarter of a page before it overflows */
    HISTORY_SQL_BYTES = 8192,
    HISTORY_PATH_BYTES = 4096
};

struct tm_history {
    struct tm_run *run;
    sqlite3 *db;                     /* the file, read only; of a renewed one: a nameless file */
    sqlite3_stmt *put, *gates;       /* of a renewed one, once they were used */
    bool is_renewed, is_committed;
    int64_t tables;                  /* their version: PRAGMA user_version */
    char path[HISTORY_PATH_BYTES];   /* as the caller has it: for messages */
    char folder[HISTORY_PATH_BYTES]; /* of it, without links */
    const char *name;                /* in that folder: the end of path */
};

/* --- history_tables.c: what is in the file --- */

/* How a column is kept in struct tm_history_run. */
enum column_kind { COLUMN_TEXT, COLUMN_ARRAY, COLUMN_NUMBER, COLUMN_COUNT };
struct history_column {
    const char *name, *type; /* of SQL */
    enum column_kind kind;   /* TEXT: const char *, "" = null; ARRAY: char[], likewise; NUMBER: int64_t;
                                COUNT: int64_t, -1 = null */
    size_t offset, bytes;    /* of an array */
    bool has_value;          /* NOT NULL */
    int64_t since;           /* version of the tables: older ones have no such column (history_read_row) */
};
extern const struct history_column history_column[];
extern const size_t history_column_count; /* then come the figures */

/* The figures of tables of a version, in the order of their columns.
 * out: places in tm_figure_table; tm_figure_count = no figure of now;  their number */
size_t history_figures(int64_t tables, size_t figure[TM_FIGURES_MOST]);

/* CREATE statements, in the order in which they are run.
 * in:  schema  "main", or another: as it stands before the name in the statement; "" = as sqlite_schema has it
 *      tables  their version
 * out: NULL = there are no more */
const char *history_object(char sql[HISTORY_SQL_BYTES], const char *schema, int64_t tables, size_t index);
/* INSERT of a row, all columns bound in order; in place of what has its id. */
const char *history_put_sql(char sql[HISTORY_SQL_BYTES]);
/* The tables that are there are these, and no others.
 * out: false: *extra is the first one that is different, or "" */
bool history_has_tables(struct tm_history *history, char extra[TM_KEY_BYTES]);

/* --- history_file.c --- */

/* Memory that SQLite may take, set before it is first used. */
void history_limit_memory(struct tm_run *run);
/* Open the file and see that it is a history.  errors: as tm_history_open */
tm_status history_open_file(struct tm_history *history) TM_MUST_USE;
/* The file is there.  errors: TM_ERR_INPUT  it is no file, or its folder cannot be read */
tm_status history_find(struct tm_history *history, bool *is_there) TM_MUST_USE;
tm_status history_is_damaged(struct tm_history *history, const char *what) TM_MUST_USE;

/* --- history_nights.c --- */

/* Of the night ?2: tm_history_is_judged in SQL. */
#define HISTORY_IS_JUDGED                                                                          \
    "(night = ?2 OR (page = ?2 AND (report IS NOT NULL OR status NOT IN ('done', 'partial'))))"

/* --- history_rows.c --- */

/* A text of a row: "" = null.  out: false where it is none, or null and may not be */
bool history_read_text(sqlite3_stmt *statement, int at, bool has_value, const char **text);

/* The row that a SELECT of all columns stands at.  errors: TM_ERR_INPUT  it cannot be ours */
tm_status history_read_row(struct tm_history *history, sqlite3_stmt *statement,
                           struct tm_history_run *row) TM_MUST_USE;

/* --- of all --- */

/* What SQLite said of the last call that failed. */
tm_status history_fail(struct tm_history *history, sqlite3 *db) TM_MUST_USE;
/* A statement without results. */
tm_status history_do(struct tm_history *history, const char *sql) TM_MUST_USE;
tm_status history_prepare(struct tm_history *history, const char *sql, sqlite3_stmt **statement) TM_MUST_USE;

#endif
