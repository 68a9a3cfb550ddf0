/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a history that is there.  It may have been damaged, changed or laid there by anybody: it is opened for reading, as a
 * file that does not change (which needs no lock, and follows no journal that lies beside it), with SQLite's own defences,
 * and looked at as a whole before a row of it is believed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "reports/history/history_private.h"

enum { ROW_BYTES_MOST = 1 << 20 };

static const char hint[] = "move it away and merge again: a new one is made of the results that the manifest names";

/* Of all that SQLite holds, most is a cache: it takes less before it fails. */
void history_limit_memory(struct tm_run *run)
{
    const sqlite3_int64 whole = (sqlite3_int64)run->budget.limit_bytes;

    (void)sqlite3_soft_heap_limit64(whole / 4);
    (void)sqlite3_hard_heap_limit64(whole / 2);
}

tm_status history_is_damaged(struct tm_history *history, const char *what)
{
    (void)tm_fail(&history->run->error, TM_ERR_INPUT, -1, "the history '%s' is damaged: %s", history->path, what);
    tm_hint(&history->run->error, "%s", hint);
    return TM_ERR_INPUT;
}

/* What the system said, 0 = not known: SQLite keeps nothing of it where the end of a transaction fails. */
static int problem_of(sqlite3 *db)
{
    const int problem = sqlite3_system_errno(db);
    struct rlimit limit;

    if (problem == 0 && sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return EFBIG;
    return problem;
}

tm_status history_fail(struct tm_history *history, sqlite3 *db)
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
        return history_is_damaged(history, "its pages contradict each other");
    case SQLITE_NOTADB:
        (void)tm_fail(error, TM_ERR_INPUT, -1, "'%s' is no history: it is no SQLite database", history->path);
        tm_hint(error, "%s", hint);
        return TM_ERR_INPUT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (problem_of(db) != 0)
            return tm_fail_system(error, status, -1, problem_of(db), "cannot %s the history '%s'", act, history->path);
        break;
    default:
        break;
    }
    return tm_fail(error, status, -1, "cannot %s the history '%s': %s", act, history->path, sqlite3_errmsg(db));
}

tm_status history_do(struct tm_history *history, const char *sql)
{
    return sqlite3_exec(history->db, sql, NULL, NULL, NULL) == SQLITE_OK ? TM_OK
                                                                         : history_fail(history, history->db);
}

tm_status history_prepare(struct tm_history *history, const char *sql, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(history->db, sql, -1, statement, NULL) == SQLITE_OK
               ? TM_OK
               : history_fail(history, history->db);
}

tm_status history_find(struct tm_history *history, bool *is_there)
{
    struct tm_error *const error = &history->run->error;
    struct stat info;

    *is_there = lstat(history->path, &info) == 0;
    if (!*is_there)
        return errno == ENOENT ? TM_OK
                               : tm_fail_system(error, TM_ERR_INPUT, -1, errno, "cannot read the history '%s'",
                                                history->path);
    if (!S_ISREG(info.st_mode)) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the history '%s' is no file of its own, but %s", history->path,
                      S_ISLNK(info.st_mode)   ? "a symbolic link"
                      : S_ISDIR(info.st_mode) ? "a folder"
                                              : "something else");
        tm_hint(error, "put the file itself there, or remove what is there");
        return TM_ERR_INPUT;
    }
    if (info.st_size == 0)
        return history_is_damaged(history, "it is empty");
    return TM_OK;
}

/* The path as an URI, for a file that does not change. */
static void put_uri(char *uri, const struct tm_history *history)
{
    static const char digits[] = "0123456789abcdef";
    const char *const piece[] = { history->folder, "/", history->name };
    size_t used = (size_t)snprintf(uri, 8, "file://");

    for (size_t i = 0; i < sizeof(piece) / sizeof(piece[0]); i++) {
        for (const char *at = piece[i]; *at; at++) {
            const unsigned char c = (unsigned char)*at;

            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/._-", c)) {
                uri[used++] = *at;
                continue;
            }
            uri[used++] = '%';
            uri[used++] = digits[c >> 4];
            uri[used++] = digits[c & 15];
        }
    }
    (void)snprintf(uri + used, 16, "?immutable=1");
}

/* The first column of the first row as a number, or a text. */
static int64_t ask_number(struct tm_history *history, const char *sql, tm_status *st)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = 0;

    if (*st == TM_OK)
        *st = history_prepare(history, sql, &statement);
    if (*st == TM_OK && sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    else if (*st == TM_OK)
        *st = history_fail(history, history->db);
    (void)sqlite3_finalize(statement);
    return number;
}

static tm_status check_pages(struct tm_history *history)
{
    sqlite3_stmt *statement = NULL;
    tm_status st = history_prepare(history, "PRAGMA integrity_check(1)", &statement);
    char text[TM_KEY_BYTES];

    if (st != TM_OK)
        return st;
    if (sqlite3_step(statement) != SQLITE_ROW || !sqlite3_column_text(statement, 0)) {
        st = history_fail(history, history->db);
    } else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
        (void)snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(statement, 0));
        text[strcspn(text, "\n")] = '\0';
        st = history_is_damaged(history, text);
    }
    (void)sqlite3_finalize(statement);
    return st;
}

static tm_status refuse(struct tm_history *history, const char *advice, const char *format, ...) TM_PRINTF(3, 4);
static tm_status refuse(struct tm_history *history, const char *advice, const char *format, ...)
{
    char why[TM_KEY_BYTES + 128];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    (void)tm_fail(&history->run->error, TM_ERR_INPUT, -1, "'%s' is no history of this version: %s", history->path, why);
    tm_hint(&history->run->error, "%s", advice);
    return TM_ERR_INPUT;
}

static tm_status check(struct tm_history *history)
{
    tm_status st = TM_OK;
    const int64_t application = ask_number(history, "PRAGMA application_id", &st);
    const int64_t version = ask_number(history, "PRAGMA user_version", &st);
    char extra[TM_KEY_BYTES];

    if (st != TM_OK)
        return st;
    if (application != HISTORY_APPLICATION)
        return refuse(history, hint, "it is a database of another program");
    history->tables = version;
    if (version < 1 || version > TM_HISTORY_VERSION)
        return refuse(history, version > TM_HISTORY_VERSION ? "use the newer tracemill that wrote it, or move it away" : hint,
                      "its tables have version %lld, and %d is read", (long long)version, TM_HISTORY_VERSION);
    if (!history_has_tables(history, extra)) {
        if (sqlite3_errcode(history->db) != SQLITE_OK) /* they could not be looked at */
            return history_fail(history, history->db);
        return *extra ? refuse(history, "remove what was added; what others put into the file does not last",
                               "'%s' in it was not made by tracemill", extra)
                      : refuse(history, hint, "tables are missing");
    }
    return check_pages(history);
}

static tm_status defend(struct tm_history *history)
{
    static const struct {
        int option, value;
    } settings[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },     { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
        { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (sqlite3_db_config(history->db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
            return history_fail(history, history->db);
    }
    (void)sqlite3_limit(history->db, SQLITE_LIMIT_LENGTH, ROW_BYTES_MOST);
    (void)sqlite3_limit(history->db, SQLITE_LIMIT_ATTACHED, 0);
    return history_do(history, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
                               " PRAGMA cache_size = -4096");
}

tm_status history_open_file(struct tm_history *history)
{
    char uri[3 * HISTORY_PATH_BYTES + 64];
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    tm_status st;

#ifdef SQLITE_OPEN_NOFOLLOW
    flags |= SQLITE_OPEN_NOFOLLOW;
#endif
    put_uri(uri, history);
    if (sqlite3_open_v2(uri, &history->db, flags, NULL) != SQLITE_OK)
        return history_fail(history, history->db);
    st = defend(history);
    return st == TM_OK ? check(history) : st;
}
