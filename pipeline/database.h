/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DATABASE_H
#define TM_DATABASE_H

#include <stdint.h>

#include "pipeline/run.h"

/* Databases of SQLite: one that spills while a query runs, and our own files that are read again.  SQLite keeps pages
 * in a cache that the ledger's pool pays for, and everything else in files of the spill folder.  Failures are
 * remembered in run->error: after one, nothing is prepared or executed. */
struct sqlite3;
struct sqlite3_stmt;

struct tm_database {
    struct sqlite3 *db; /* NULL = not open */
    size_t drawn_bytes; /* from the pool, for the cache */
};

/* PRAGMA application_id of files that `query --keep` and `convert` write: "TMqu". */
enum { TM_DATABASE_APPLICATION = 0x544d7175, TM_DATABASE_VERSION = 1 };

/* An empty database in a nameless file of the spill folder, inside a transaction.
 * owns:   the caller closes it with tm_database_close
 * errors: TM_ERR_OUTPUT, TM_ERR_LIMIT */
void tm_database_new(struct tm_database *database, struct tm_run *run);

/* Whether a file is a database that this program wrote: only its first 100 bytes are read. */
bool tm_database_is_ours(const char *path);

/* Open such a file for reading, with SQLite's defenses on.
 * errors: TM_ERR_INPUT */
void tm_database_open(struct tm_database *database, struct tm_run *run, const char *path);
void tm_database_close(struct tm_database *database, struct tm_run *run); /* tolerates a zeroed one */

/* Execute statements that return nothing. */
void tm_database_do(struct tm_run *run, struct sqlite3 *db, const char *sql);
/* owns: the caller finalizes it.  errors: NULL */
struct sqlite3_stmt *tm_database_prepare(struct tm_run *run, struct sqlite3 *db, const char *sql) TM_MUST_USE;
/* Execute a prepared statement that returns no rows, and reset it. */
void tm_database_put(struct tm_run *run, struct sqlite3_stmt *statement);
/* Report a failure of the connection as that of the run.  The tables of a file: TM_ERR_INPUT. */
tm_status tm_database_fail(struct tm_run *run, struct sqlite3 *db);

/* The error number of the system behind the last failure of a connection; 0 = not known. */
int tm_database_problem(struct sqlite3 *db);

/* End the transaction of a new database and write a compact copy of it: the same tables give the same bytes.
 * in: path  of an empty file */
void tm_database_save(struct tm_run *run, struct sqlite3 *db, const char *path);

/* An SQL identifier for a key or a path of a document: "idle_ps.host" becomes idle_ps_host. */
enum { TM_DATABASE_NAME_BYTES = 128 };
void tm_database_name(char out[TM_DATABASE_NAME_BYTES], const char *path);

#endif
