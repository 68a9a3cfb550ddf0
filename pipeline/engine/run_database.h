/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_DATABASE_H
#define TM_RUN_DATABASE_H

#include "pipeline/database.h"
#include "pipeline/doc/doc.h"
#include "pipeline/options.h"

/* A run as a database: its events and the tables of its summary, filled as far as they are read, and written as
 * files for other programs. */
struct tm_run_database {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_database database;
    uint32_t wanted;  /* tables of the summary: bits of rows of tm_query_tables */
    unsigned sources; /* enum tm_query_source: what has to be read */
    bool is_ready;    /* it is a file that was kept: nothing is to be filled */
    bool is_partial;  /* the input is damaged or truncated */
};

/* Open the database that options->inputs[0] is, or one with empty tables.
 * owns:   the caller; tm_run_database_close releases it, also after a failure */
void tm_run_database_open(struct tm_run_database *d, struct tm_run *run, const struct tm_options *options);
void tm_run_database_close(struct tm_run_database *d);

/* How a database is written, by the name of the output. */
enum tm_database_form {
    TM_DATABASE_NONE,    /* the name does not say */
    TM_DATABASE_SQLITE,  /* .sqlite, .db */
    TM_DATABASE_PARQUET, /* .parquet: the events */
    TM_DATABASE_FOLDER,  /* it ends with '/': a folder with a Parquet file for each table */
};

enum tm_database_form tm_database_form_of(const char *path);

/* Request what a file written as `path` contains. */
void tm_run_database_want_file(struct tm_run_database *d, const char *path);

/* Read the run and fill the requested tables.
 * in:     inputs  how many of the operands are files of the run
 * errors: of the input; TM_ERR_USAGE  events of a summary */
void tm_run_database_fill(struct tm_run_database *d, size_t inputs);

/* Write the filled tables.  Files appear completely or not at all.
 * errors: TM_ERR_OUTPUT, TM_ERR_LIMIT */
void tm_run_database_save(struct tm_run_database *d, const char *path);

#endif
