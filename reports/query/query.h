/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_QUERY_H
#define TM_QUERY_H

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/run.h"

/* SQL over a run: tables of its summary, and the events, in one database (pipeline/database.h).  A statement is
 * prepared before anything is read, so that errors in it are found immediately and only the tables that it reads are
 * filled. */

struct sqlite3;
struct sqlite3_stmt;

/* The error of a query that exceeds its time limit. */
#define TM_QUERY_LATE "the query took longer than --time-limit"
#define TM_QUERY_LATE_HINT "raise --time-limit, or ask for less: a WHERE, or a join on fewer rows"

enum tm_query_form { TM_QUERY_TEXT, TM_QUERY_JSON, TM_QUERY_CSV, TM_QUERY_MARKDOWN };

/* Where the rows of a table come from. */
enum tm_query_source {
    TM_QUERY_SUMMARY = 1, /* the summary */
    TM_QUERY_GAPS = 2,    /* the analysis of a profile: its idle gaps */
    TM_QUERY_EVENTS = 4,  /* the events of a profile */
    TM_QUERY_ARGS = 8,    /* and their arguments */
};

enum { TM_QUERY_QUESTIONS = 3 };

struct tm_query_question {
    const char *text, *sql;
};

/* To add a table of the summary: its row in query_tables.c.  Its columns are the fields of the list. */
struct tm_query_table {
    const char *name;
    const char *list; /* its name in `show`: "host.threads"; NULL = it is not from the summary */
    enum tm_query_source source;
    const char *help;
    const struct tm_doc_field *fields; /* NULL = those of the list */
    struct tm_query_question question[TM_QUERY_QUESTIONS];
};

extern const struct tm_query_table tm_query_tables[];
extern const size_t tm_query_table_count;

/* Create the tables of the summary, and the view TABLE_ms of each table that has times, in milliseconds; after the
 * tables of events (stages/output/sqlite). */
void tm_query_create(struct tm_run *run, struct sqlite3 *db);

/* Fill the tables of the summary.
 * in: wanted  a bit for each row of tm_query_tables */
void tm_query_fill(struct tm_run *run, struct sqlite3 *db, const struct tm_value *summary, uint32_t wanted);

/* A statement, checked: one SELECT.
 * out:    wanted   bits of the tables that it reads
 *         sources  enum tm_query_source of them
 * owns:   the caller finalizes it before the database is closed
 * errors: NULL, TM_ERR_USAGE with the position and a similar name */
struct sqlite3_stmt *tm_query_prepare(struct tm_run *run, struct sqlite3 *db, const char *sql, uint32_t *wanted,
                                      unsigned *sources) TM_MUST_USE;

struct tm_query_answer {
    struct sqlite3_stmt *statement;
    const char *sql;
    enum tm_query_form form;
    int columns;      /* of a line of text */
    uint64_t top;     /* rows at most; 0 = 1,000, of CSV and JSON all */
    int64_t limit_ps; /* clock time that it may take; 0 = any */
    bool is_partial;  /* the input is damaged or truncated */
};

/* Run the statement and print what it returns.
 * errors: TM_ERR_USAGE  an error found while it runs; TM_ERR_LIMIT  time or memory; TM_ERR_OUTPUT */
tm_status tm_query_print(struct tm_run *run, const struct tm_query_answer *answer, FILE *to) TM_MUST_USE;

/* Print the tables, or one of them with its columns and questions.
 * in:     name  NULL = the list
 * errors: TM_ERR_USAGE  there is no such table */
tm_status tm_query_print_schema(struct tm_run *run, const char *name, enum tm_query_form form, int columns,
                                FILE *to) TM_MUST_USE;

/* Columns of a table, in their order.
 * in: name  as in SQL; title and help of the field */
typedef void tm_query_each(void *to, const char *name, const char *path, const struct tm_doc_field *field);
/* Its SQL type: "INTEGER", "REAL", "TEXT"; "" = that of each value. */
const char *tm_query_type(const struct tm_doc_field *field);
void tm_query_columns(struct tm_run *run, const struct tm_query_table *table, tm_query_each *each, void *to);

#endif
