/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EVENT_TABLES_H
#define TM_EVENT_TABLES_H

#include "pipeline/stage.h"
#include "stages/output/trace_writer.h"

struct sqlite3;

/* Events as tables of a database, for SQL.  What many events share is stored once, in `call_sites` and `tracks`, so
 * that an event takes about 30 bytes; the view `events` joins the three.  reports/query describes the views. */

/* Create the tables and the views over them: before anything is stored. */
void tm_event_tables_create(struct tm_run *run, struct sqlite3 *db);

/* A trace writer that stores events; it writes no file, so begin_file and end_file are not called.  Arrows are the
 * columns `launch` and `correlation`.
 * in:     args  TM_ARGS_ALL, or TM_ARGS_NONE where no query reads them
 * owns:   keeps db, which has the tables, until it is freed
 * errors: NULL, with the error in run->error */
struct tm_trace_writer *tm_event_tables_writer_new(struct tm_run *run, struct tm_names *names, struct sqlite3 *db,
                                                   enum tm_args_level args) TM_MUST_USE;

/* Idle gaps, stored while the run is analyzed. */
struct tm_gap_table {
    struct tm_run *run;
    struct tm_names *names;
    const struct tm_trace *trace; /* of the host that is being read */
    struct sqlite3_stmt *put;
};

void tm_gap_table_open(struct tm_gap_table *gaps, struct tm_run *run, struct tm_names *names, struct sqlite3 *db);
void tm_gap_table_add(struct tm_gap_table *gaps, const struct tm_idle_gap *gap);
void tm_gap_table_close(struct tm_gap_table *gaps); /* tolerates a zeroed one */

#endif
