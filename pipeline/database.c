/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to SQLite with the limits of the run. */
#include "pipeline/database.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sqlite3.h>

#include "pipeline/process.h"

enum { CACHE_KIB_LEAST = 1024, PAGE_BYTES = 8192, HEADER_BYTES = 100, TEXT_MOST = 1 << 24, HEAP_KIB = 2048 };

/* The cache takes a sixteenth of --memory out of the pool, as long as the pool has it; the rest of SQLite's heap, for
 * statements and sorting, is small.  out: KiB of the cache */
static size_t take_memory(struct tm_database *database, struct tm_run *run)
{
    const size_t kib = run->budget.limit_bytes / 1024 / 16, bytes = (kib + HEAP_KIB) * 1024;
    const bool is_drawn = tm_budget_draw(&run->budget, bytes);
    const size_t cache = is_drawn ? kib : CACHE_KIB_LEAST;

    database->drawn_bytes = is_drawn ? bytes : 0;
    (void)sqlite3_soft_heap_limit64((sqlite3_int64)(cache + HEAP_KIB) * 1024);
    (void)sqlite3_hard_heap_limit64((sqlite3_int64)(run->budget.limit_bytes / 4));
    if (run->spill_dir && !sqlite3_temp_directory)
        sqlite3_temp_directory = sqlite3_mprintf("%s", run->spill_dir);
    return cache;
}

/* SQLite keeps nothing of it where the end of a transaction fails. */
int tm_database_problem(struct sqlite3 *db)
{
    const int problem = sqlite3_system_errno(db);
    struct rlimit limit;

    if (problem == 0 && sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return EFBIG;
    return problem;
}

tm_status tm_database_fail(struct tm_run *run, struct sqlite3 *db)
{
    const int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
    const char *const text = db ? sqlite3_errmsg(db) : "out of memory";

    switch (code) {
    case SQLITE_NOMEM:
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "the database needs more memory than --memory leaves it");
        tm_hint(&run->error, "raise --memory");
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "the database is damaged: %s", text);
        tm_hint(&run->error, "write it again from the profile with 'tracemill query PROFILE --keep FILE'");
        break;
    default:
        if (tm_database_problem(db))
            return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, tm_database_problem(db), "cannot write the database");
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the database: %s", text);
        tm_hint(&run->error, "give a folder with more free space with --tmp");
    }
    return run->error.status;
}

void tm_database_new(struct tm_database *database, struct tm_run *run)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    char sql[320];

    *database = (struct tm_database){ .db = NULL };
    if (tm_failed(run))
        return;
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                   " PRAGMA temp_store = FILE; PRAGMA cache_size = -%zu; PRAGMA application_id = %d;"
                   " PRAGMA user_version = %d; BEGIN",
                   PAGE_BYTES, take_memory(database, run), TM_DATABASE_APPLICATION, TM_DATABASE_VERSION);
    if (sqlite3_open_v2("", &database->db, flags, "unix-none") != SQLITE_OK)
        (void)tm_database_fail(run, database->db);
    tm_database_do(run, database->db, sql);
}

bool tm_database_is_ours(const char *path)
{
    unsigned char header[HEADER_BYTES] = { 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, header, sizeof(header));

    if (fd >= 0)
        (void)close(fd);
    return n == HEADER_BYTES && memcmp(header, "SQLite format 3", 16) == 0 &&
           ((uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 | (uint32_t)header[70] << 8 | header[71]) ==
               TM_DATABASE_APPLICATION;
}

/* source: "Defense Against The Dark Arts" of SQLite's documentation, for files from anywhere */
static void defend(struct tm_run *run, struct sqlite3 *db, size_t cache_kib)
{
    static const struct {
        int option, value;
    } settings[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
        { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
    };
    char sql[160];

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (sqlite3_db_config(db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
            (void)tm_database_fail(run, db);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE;"
                   " PRAGMA cache_size = -%zu",
                   cache_kib);
    tm_database_do(run, db, sql);
}

void tm_database_open(struct tm_database *database, struct tm_run *run, const char *path)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    struct sqlite3_stmt *version;
    size_t cache_kib;

    *database = (struct tm_database){ .db = NULL };
    if (tm_failed(run))
        return;
    cache_kib = take_memory(database, run);
    if (sqlite3_open_v2(path, &database->db, flags, "unix-none") != SQLITE_OK)
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot open the database '%s': %s", path,
                      database->db ? sqlite3_errmsg(database->db) : "out of memory");
    else
        defend(run, database->db, cache_kib);
    version = tm_database_prepare(run, database->db, "PRAGMA user_version");
    if (version && (sqlite3_step(version) != SQLITE_ROW || sqlite3_column_int(version, 0) != TM_DATABASE_VERSION)) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "the database '%s' was written by another version", path);
        tm_hint(&run->error, "write it again from the profile with 'tracemill query PROFILE --keep FILE'");
    }
    (void)sqlite3_finalize(version);
}

void tm_database_close(struct tm_database *database, struct tm_run *run)
{
    if (database->db)
        (void)sqlite3_close(database->db);
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    tm_budget_put_back(&run->budget, database->drawn_bytes);
    *database = (struct tm_database){ .db = NULL };
}

void tm_database_do(struct tm_run *run, struct sqlite3 *db, const char *sql)
{
    if (!tm_failed(run) && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        (void)tm_database_fail(run, db);
}

struct sqlite3_stmt *tm_database_prepare(struct tm_run *run, struct sqlite3 *db, const char *sql)
{
    struct sqlite3_stmt *statement = NULL;

    if (tm_failed(run))
        return NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        (void)tm_database_fail(run, db);
    return statement;
}

void tm_database_put(struct tm_run *run, struct sqlite3_stmt *statement)
{
    if (tm_failed(run) || !statement)
        return;
    if (sqlite3_step(statement) != SQLITE_DONE)
        (void)tm_database_fail(run, sqlite3_db_handle(statement));
    (void)sqlite3_reset(statement);
}

void tm_database_save(struct tm_run *run, struct sqlite3 *db, const char *path)
{
    char journal[TM_SIGNAL_PATH_BYTES]; /* of the copy: SQLite offers no way to copy without one */
    struct sqlite3_stmt *copy;

    (void)snprintf(journal, sizeof(journal), "%s-journal", path);
    tm_signals_guard(journal);
    tm_database_do(run, db, "COMMIT");
    copy = tm_database_prepare(run, db, "VACUUM INTO ?1");
    if (copy && sqlite3_bind_text(copy, 1, path, -1, SQLITE_STATIC) != SQLITE_OK)
        (void)tm_database_fail(run, db);
    tm_database_put(run, copy);
    (void)sqlite3_finalize(copy);
    tm_signals_release(journal);
}

void tm_database_name(char out[TM_DATABASE_NAME_BYTES], const char *path)
{
    size_t n = 0;

    for (; path[n] && n < TM_DATABASE_NAME_BYTES - 1; n++)
        out[n] = isalnum((unsigned char)path[n]) ? path[n] : '_';
    out[n] = '\0';
}
