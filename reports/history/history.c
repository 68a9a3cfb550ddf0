/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a batch, open, renewed and committed.  A renewed one is a nameless file of SQLite's own (in the folder for
 * spill files), which old and new rows go into in any order.  Committing writes them sorted, in one transaction and without
 * a journal, into a file beside the old one: so the same rows give the same bytes (of one version of SQLite, which puts its
 * number into a file), and there is a whole file under the name at any moment. */
#include "reports/history/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "reports/history/history_private.h"

enum { CACHE_KIB_LEAST = 2048, CACHE_KIB_MOST = 32768 };

/* --- open --- */

/* The folder without links: SQLite is told to follow none. */
static tm_status set_path(struct tm_history *history, const char *path)
{
    struct tm_error *const error = &history->run->error;
    const char *const slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char folder[HISTORY_PATH_BYTES] = ".", *real;

    if (strlen(path) >= sizeof(history->path))
        return tm_fail(error, TM_ERR_INPUT, -1, "the path of the history is too long");
    memcpy(history->path, path, strlen(path) + 1);
    history->name = history->path + n;
    if (n) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    real = realpath(folder, history->folder);
    if (!real) {
        (void)tm_fail_system(error, TM_ERR_INPUT, -1, errno, "cannot find the folder of the history '%s'", path);
        return error->status;
    }
    return TM_OK;
}

static tm_status begin(struct tm_history **to, struct tm_run *run, const char *path)
{
    struct tm_history *const history = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*history), &run->error);

    *to = history;
    if (!history)
        return run->error.status;
    history->run = run;
    history->tables = TM_HISTORY_VERSION; /* of one that is renewed; opening a file tells its own */
    history_limit_memory(run);
    return set_path(history, path);
}

tm_status tm_history_open(struct tm_history **history, struct tm_run *run, const char *path)
{
    bool is_there;
    tm_status st = begin(history, run, path);

    if (st == TM_OK)
        st = history_find(*history, &is_there);
    if (st == TM_OK && !is_there) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "there is no history '%s'", path);
        tm_hint(&run->error, "'tracemill batch merge' makes it");
        st = TM_ERR_INPUT;
    }
    if (st == TM_OK)
        st = history_open_file(*history);
    if (st != TM_OK) {
        tm_history_close(*history);
        *history = NULL;
    }
    return st;
}

void tm_history_close(struct tm_history *history)
{
    if (!history)
        return;
    (void)sqlite3_finalize(history->put);
    (void)sqlite3_finalize(history->gates);
    (void)sqlite3_close(history->db);
    if (history->is_renewed) {
        sqlite3_free(sqlite3_temp_directory);
        sqlite3_temp_directory = NULL;
    }
    tm_give(&history->run->budget, TM_ACCOUNT_MODEL, history, sizeof(*history));
}

/* --- renew --- */

static tm_status make_tables(struct tm_history *history, const char *schema, size_t first, size_t last)
{
    char sql[HISTORY_SQL_BYTES];
    tm_status st = TM_OK;

    for (size_t i = first; st == TM_OK && i < last && history_object(sql, schema, TM_HISTORY_VERSION, i); i++)
        st = history_do(history, sql);
    return st;
}

/* A file without a name, whose folder is that of the spill files. */
static tm_status open_work(struct tm_history *history)
{
    const size_t kib = history->run->budget.limit_bytes / 1024 / 16;
    const size_t cache = kib < CACHE_KIB_LEAST ? CACHE_KIB_LEAST : kib > CACHE_KIB_MOST ? CACHE_KIB_MOST : kib;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    char sql[256];
    tm_status st;

#ifdef SQLITE_OPEN_NOFOLLOW
    flags |= SQLITE_OPEN_NOFOLLOW;
#endif
    history->is_renewed = true;
    if (history->run->spill_dir) {
        sqlite3_temp_directory = sqlite3_mprintf("%s", history->run->spill_dir);
        if (!sqlite3_temp_directory)
            return history_fail(history, NULL);
    }
    if (sqlite3_open_v2("", &history->db, flags, "unix-none") != SQLITE_OK)
        return history_fail(history, history->db);
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                   " PRAGMA temp_store = FILE; PRAGMA cache_size = -%zu; BEGIN",
                   HISTORY_PAGE_BYTES, cache);
    st = history_do(history, sql);
    return st == TM_OK ? make_tables(history, "main", 0, 1) : st;
}

static tm_status copy_row(void *to, const struct tm_history_run *row)
{
    return tm_history_put(to, row);
}

/* Every row passes through the program: what it would not write is not taken over. */
static tm_status copy_rows(struct tm_history *history, const char *path)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_ID };
    struct tm_history *old;
    tm_status st = tm_history_open(&old, history->run, path);

    if (st == TM_OK)
        st = tm_history_visit(old, &all, copy_row, history);
    tm_history_close(old);
    return st;
}

tm_status tm_history_renew(struct tm_history **history, struct tm_run *run, const char *path)
{
    bool is_there = false;
    tm_status st = begin(history, run, path);

    if (st == TM_OK)
        st = history_find(*history, &is_there);
    if (st == TM_OK)
        st = open_work(*history);
    if (st == TM_OK && is_there)
        st = copy_rows(*history, path);
    if (st == TM_OK)
        st = make_tables(*history, "main", 1, SIZE_MAX);
    if (st != TM_OK) {
        tm_history_close(*history);
        *history = NULL;
    }
    return st;
}

/* --- commit --- */

/* in: part  of the file that will have the name */
static tm_status attach(struct tm_history *history, const char *part)
{
    sqlite3_stmt *statement = NULL;
    char sql[256];
    tm_status st = history_prepare(history, "ATTACH ?1 AS next", &statement);

    if (st == TM_OK && (sqlite3_bind_text(statement, 1, part, -1, SQLITE_STATIC) != SQLITE_OK ||
                        sqlite3_step(statement) != SQLITE_DONE))
        st = history_fail(history, history->db);
    (void)sqlite3_finalize(statement);
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA next.page_size = %d; PRAGMA next.journal_mode = OFF; PRAGMA next.synchronous = OFF;"
                   " PRAGMA next.cache_size = -%d; BEGIN;"
                   " PRAGMA next.application_id = %d; PRAGMA next.user_version = %d",
                   HISTORY_PAGE_BYTES, CACHE_KIB_LEAST, HISTORY_APPLICATION, TM_HISTORY_VERSION);
    return st == TM_OK ? history_do(history, sql) : st;
}

static tm_status write_next(struct tm_history *history, const char *part)
{
    tm_status st = history_do(history, "COMMIT");

    if (st == TM_OK)
        st = attach(history, part);
    if (st == TM_OK)
        st = make_tables(history, "next", 0, 1);
    if (st == TM_OK)
        st = history_do(history, "INSERT INTO next.runs SELECT * FROM main.runs ORDER BY id");
    if (st == TM_OK)
        st = make_tables(history, "next", 1, SIZE_MAX);
    return st == TM_OK ? history_do(history, "COMMIT; DETACH next") : st;
}

tm_status tm_history_commit(struct tm_history *history)
{
    struct tm_atomic_file file;
    tm_status st = tm_atomic_open(&file, history->run, history->folder, history->name);

    history->is_committed = true;
    if (st == TM_OK)
        st = write_next(history, file.part);
    if (st == TM_OK)
        st = tm_atomic_commit(&file);
    tm_atomic_abort(&file);
    return st;
}
