/* SPDX-License-Identifier: Apache-2.0 */
/* Statements on the file of a history, and what is said when one fails: for all tables in it. */
#include <sqlite3.h>

#include "pipeline/database.h"
#include "pipeline/run.h"
#include "reports/history/history.h"

tm_status tm_history_damaged(struct tm_history *history, const char *what)
{
    (void)tm_fail(&history->run->error, TM_ERR_INPUT, -1, "the history '%s' is damaged: %s", history->path, what);
    tm_hint(&history->run->error, TM_HISTORY_HINT);
    return TM_ERR_INPUT;
}

tm_status tm_history_fail_of(struct tm_history *history, sqlite3 *db)
{
    struct tm_error *const error = &history->run->error;
    const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    const tm_status status = history->is_renewed ? TM_ERR_OUTPUT : TM_ERR_INPUT;
    const char *const act = history->is_renewed ? "write" : "read";

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return tm_fail(error, TM_ERR_LIMIT, -1, "out of memory for the history '%s'", history->path);
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
        return tm_history_damaged(history, "its pages are inconsistent");
    case SQLITE_NOTADB:
        (void)tm_fail(error, TM_ERR_INPUT, -1, "'%s' is not a history: it is not a SQLite database", history->path);
        tm_hint(error, TM_HISTORY_HINT);
        return TM_ERR_INPUT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (tm_database_problem(db) != 0)
            return tm_fail_system(error, status, -1, tm_database_problem(db), "cannot %s the history '%s'", act,
                                  history->path);
        break;
    default:
        break;
    }
    return tm_fail(error, status, -1, "cannot %s the history '%s': %s", act, history->path, sqlite3_errmsg(db));
}

tm_status tm_history_fail(struct tm_history *history)
{
    return tm_history_fail_of(history, history->db);
}

sqlite3_stmt *tm_history_prepare(struct tm_history *history, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (!tm_failed(history->run) && sqlite3_prepare_v2(history->db, sql, -1, &statement, NULL) != SQLITE_OK)
        (void)tm_history_fail(history);
    return statement;
}
