/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a batch: opening, renewing, and committing it.  A renewed one is an unnamed SQLite file (in the folder
 * for spill files), to which old and new rows are added in any order.  Committing writes them sorted, in one
 * transaction and without a journal, into a file beside the old one: the same rows give the same bytes (with one
 * version of SQLite, which writes its number into a file), and there is a complete file of this name at any time. */
#include "reports/history/history.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <sqlite3.h>

#include "pipeline/atomic_file.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/history/op_times.h"

/* PRAGMA user_version.  Files of older versions are read, and written again as this one. */
enum { TM_HISTORY_VERSION = 5 };

/* How a column is stored in the struct of its row. */
enum column_kind { COLUMN_TEXT, COLUMN_ARRAY, COLUMN_NUMBER, COLUMN_COUNT, COLUMN_REAL };

struct history_column {
    const char *name, *type; /* of SQL */
    enum column_kind kind;   /* TEXT: const char *, "" = null; ARRAY: char[], likewise; NUMBER: int64_t;
                                COUNT: int64_t, -1 = null; REAL: double, NaN = null */
    size_t offset, bytes;    /* of an array */
    bool has_value;          /* NOT NULL */
    int64_t since;           /* version of the tables: older ones have no such column (history_read_row) */
};

/* For the night ?2: tm_history_is_judged in SQL. */
#define HISTORY_IS_JUDGED "(night = ?2 OR (page = ?2 AND (report IS NOT NULL OR status NOT IN ('done', 'partial'))))"

/* The tables of history.db (schemas/BATCH.md).  A file counts as a history only if the text of every statement that
 * made it is one of these, to the byte: nothing that others put into a file (a trigger, a view, a computed
 * column) is ever executed. */

#define TEXT(member) COLUMN_TEXT, offsetof(struct tm_history_run, member), 0
#define ARRAY(member)                                                                                                  \
    COLUMN_ARRAY, offsetof(struct tm_history_run, member), sizeof(((struct tm_history_run *)NULL)->member)
#define NUMBER(member) COLUMN_NUMBER, offsetof(struct tm_history_run, member), 0
#define COUNT(member) COLUMN_COUNT, offsetof(struct tm_history_run, member), 0

static const struct history_column history_column[] = {
    { "id", "TEXT PRIMARY KEY", TEXT(id), true, 1 },
    { "name", "TEXT", TEXT(name), false, 1 },
    { "path", "TEXT", TEXT(path), false, 1 },
    { "job", "TEXT NOT NULL", ARRAY(keys.job), true, 1 },
    { "night", "TEXT NOT NULL", ARRAY(keys.night), true, 1 },
    { "when_ns", "INTEGER NOT NULL", NUMBER(keys.when_ns), true, 1 },
    { "revision", "TEXT", ARRAY(keys.revision), false, 1 },
    { "label", "TEXT", ARRAY(keys.label), false, 1 },
    { "training", "TEXT", ARRAY(keys.training), false, 1 },
    { "step", "INTEGER", COUNT(keys.step), false, 1 },
    { "status", "TEXT NOT NULL", TEXT(status), true, 1 },
    { "message", "TEXT", TEXT(message), false, 1 },
    { "report", "TEXT", TEXT(report), false, 1 },
    { "summary", "TEXT", TEXT(summary), false, 1 },
    { "platform", "TEXT", TEXT(platform), false, 1 },
    { "model", "TEXT", TEXT(model), false, 1 },
    { "hosts", "INTEGER", COUNT(hosts), false, 1 },
    { "devices", "INTEGER", COUNT(devices), false, 1 },
    { "verdict", "TEXT", TEXT(verdict), false, 1 },
    { "severity", "TEXT", TEXT(severity), false, 1 },
    { "finding", "TEXT", TEXT(finding), false, 1 },
    { "gates", "TEXT", TEXT(gates), false, 1 },
    { "gates_text", "TEXT", TEXT(gates_text), false, 1 },
    { "fingerprint", "TEXT", TEXT(fingerprint), false, 1 },
    { "options", "TEXT", TEXT(options), false, 1 },
    { "version", "TEXT", TEXT(version), false, 1 },
    { "definitions", "INTEGER NOT NULL", NUMBER(definitions), true, 2 },
    { "page", "TEXT", TEXT(page), false, 3 },
    { "host", "TEXT", TEXT(environment[TM_ENV_HOST]), false, 4 },
    { "driver", "TEXT", TEXT(environment[TM_ENV_DRIVER]), false, 4 },
    { "framework", "TEXT", TEXT(environment[TM_ENV_FRAMEWORK]), false, 4 },
    { "jax", "TEXT", TEXT(environment[TM_ENV_JAX]), false, 4 },
    { "jaxlib", "TEXT", TEXT(environment[TM_ENV_JAXLIB]), false, 4 },
    { "cuda", "TEXT", TEXT(environment[TM_ENV_CUDA]), false, 4 },
    { "rocm", "TEXT", TEXT(environment[TM_ENV_ROCM]), false, 4 },
    { "libtpu", "TEXT", TEXT(environment[TM_ENV_LIBTPU]), false, 4 },
    { "labels", "TEXT", ARRAY(keys.labels), false, 4 },
};

static const size_t history_column_count = sizeof(history_column) / sizeof(history_column[0]);

#define OF_LEDGER(kind, member) kind, offsetof(struct tm_history_regression, member), 0

/* The ledger of regressions, since version 4. */
static const struct history_column ledger_column[] = {
    { "id", "TEXT PRIMARY KEY", OF_LEDGER(COLUMN_TEXT, id), true, 4 },
    { "job", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, job), true, 4 },
    { "series", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, series), true, 4 },
    { "model", "TEXT", OF_LEDGER(COLUMN_TEXT, model), false, 4 },
    { "hosts", "INTEGER", OF_LEDGER(COLUMN_COUNT, hosts), false, 4 },
    { "devices", "INTEGER", OF_LEDGER(COLUMN_COUNT, devices), false, 4 },
    { "figure", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, figure), true, 4 },
    { "kind", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, kind), true, 4 },
    { "state", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, state), true, 4 },
    { "before", "REAL", OF_LEDGER(COLUMN_REAL, before), false, 4 },
    { "after", "REAL", OF_LEDGER(COLUMN_REAL, after), false, 4 },
    { "score", "REAL", OF_LEDGER(COLUMN_REAL, score), false, 4 },
    { "runs", "INTEGER NOT NULL", OF_LEDGER(COLUMN_NUMBER, runs), true, 4 },
    { "since", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, since), true, 4 },
    { "since_ns", "INTEGER NOT NULL", OF_LEDGER(COLUMN_NUMBER, since_ns), true, 4 },
    { "first_run", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, first_run), true, 4 },
    { "revision", "TEXT", OF_LEDGER(COLUMN_TEXT, revision), false, 4 },
    { "good_run", "TEXT", OF_LEDGER(COLUMN_TEXT, good_run), false, 4 },
    { "revision_before", "TEXT", OF_LEDGER(COLUMN_TEXT, revision_before), false, 4 },
    { "opened", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, opened), true, 4 },
    { "opened_run", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, opened_run), true, 4 },
    { "closed", "TEXT", OF_LEDGER(COLUMN_TEXT, closed), false, 4 },
    { "closed_run", "TEXT", OF_LEDGER(COLUMN_TEXT, closed_run), false, 4 },
    { "last", "TEXT NOT NULL", OF_LEDGER(COLUMN_TEXT, last), true, 4 },
    { "last_ns", "INTEGER NOT NULL", OF_LEDGER(COLUMN_NUMBER, last_ns), true, 4 },
    { "cause", "TEXT", OF_LEDGER(COLUMN_TEXT, cause), false, 4 },
    { "reason", "TEXT", OF_LEDGER(COLUMN_TEXT, reason), false, 4 },
    { "decided", "TEXT", OF_LEDGER(COLUMN_TEXT, decided), false, 4 },
};

enum { LEDGER_COLUMNS = sizeof(ledger_column) / sizeof(ledger_column[0]) };

/* --- statements --- */

/* A text under construction; if it does not fit, that is a programming error. */
struct words {
    char *to;
    size_t used;
};

static void TM_PRINTF(2, 3) add(struct words *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->to + w->used, HISTORY_SQL_BYTES - w->used, format, args);
    va_end(args);
    assert(n >= 0 && (size_t)n < HISTORY_SQL_BYTES - w->used);
    w->used += (size_t)n;
}

/* The figures of versions 1 and 2, which never change: those that no longer exist are not read. */
/* clang-format off */
static const char *const first_figures[] = {
    "step_time_ps", "step_p95_ps", "device_utilization_pct", "mfu_pct", "compute_ps", "exposed_collective_ps",
    "exposed_copy_ps", "idle_ps", "idle_launch_ps", "idle_input_ps", "idle_sync_ps", "idle_compile_ps",
    "idle_host_ps", "idle_device_wait_ps", "host_overhead_pct", "exposed_collective_pct", "transfer_share_pct",
    "imbalance_pct", "memory_bandwidth_pct", "occupancy_pct", "kernel_duration_ps", "small_kernel_share_pct",
    "top_op_share_pct", "compile_time_ps", "unexpected_compiles", "peak_memory_pct", "peak_memory_bytes",
    "collective_overlap_pct", "kernels_per_step", "launches_per_step", "steps", "events_read",
};
/* clang-format on */

/* The figures of tables of a version, in the order of their columns.
 * out: places in tm_figure_table; tm_figure_count = no current figure;  their number */
static size_t history_figures(int64_t tables, size_t figure[TM_FIGURES_MOST])
{
    const size_t first = sizeof(first_figures) / sizeof(first_figures[0]);

    for (size_t i = 0; tables < 3 && i < first; i++)
        for (figure[i] = 0; figure[i] < tm_figure_count; figure[i]++)
            if (strcmp(first_figures[i], tm_figure_table[figure[i]].id) == 0)
                break;
    for (size_t i = 0; tables >= 3 && i < tm_figure_count; i++)
        figure[i] = i;
    return tables < 3 ? first : tm_figure_count;
}

/* In the order of tm_history_object.  The indexes of runs are last: if a file is truncated, something is missing. */
enum object {
    OBJECT_RUNS,
    OBJECT_LEDGER,
    OBJECT_LEDGER_INDEX,
    OBJECT_OP_NAMES,
    OBJECT_OP_TIMES,
    OBJECT_INDEXES,
    OBJECTS = OBJECT_INDEXES + 2
};

/* Of tables of a version, which lack later ones. */
static size_t object_at(int64_t tables, size_t index)
{
    const size_t first = tables < 4 ? OBJECT_LEDGER : tables < 5 ? OBJECT_OP_NAMES : OBJECT_INDEXES;

    return index < first ? index : index + OBJECT_INDEXES - first;
}

const char *tm_history_object(char sql[HISTORY_SQL_BYTES], const char *schema, int64_t tables, size_t index)
{
    static const char *const by[][2] = { { "runs_by_job", "job, when_ns, id" }, { "runs_by_time", "when_ns, id" } };
    const char *const dot = *schema ? "." : "";
    const size_t object = object_at(tables, index);
    struct words w = { sql, 0 };
    size_t figure[TM_FIGURES_MOST];

    if (object >= OBJECTS)
        return NULL;
    if (object >= OBJECT_INDEXES) {
        const char *const *const of = by[object - OBJECT_INDEXES];

        add(&w, "CREATE INDEX %s%s%s ON runs (%s)", schema, dot, of[0], of[1]);
        return sql;
    }
    if (object == OBJECT_OP_NAMES) {
        add(&w,
            "CREATE TABLE %s%sop_names (job TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, "
            "PRIMARY KEY (job, id)) WITHOUT ROWID",
            schema, dot);
        return sql;
    }
    if (object == OBJECT_OP_TIMES) {
        add(&w,
            "CREATE TABLE %s%sop_times (job TEXT NOT NULL, run TEXT NOT NULL, times BLOB NOT NULL, "
            "PRIMARY KEY (job, run)) WITHOUT ROWID",
            schema, dot);
        return sql;
    }
    if (object == OBJECT_LEDGER_INDEX) {
        add(&w, "CREATE INDEX %s%sregressions_by_job ON regressions (job, figure, since_ns)", schema, dot);
        return sql;
    }
    if (object == OBJECT_LEDGER) {
        add(&w, "CREATE TABLE %s%sregressions (", schema, dot);
        for (size_t i = 0; i < LEDGER_COLUMNS; i++)
            add(&w, "%s%s %s", i ? ", " : "", ledger_column[i].name, ledger_column[i].type);
        add(&w, ") WITHOUT ROWID");
        return sql;
    }
    add(&w, "CREATE TABLE %s%sruns (", schema, dot);
    for (size_t i = 0; i < history_column_count; i++)
        if (tables >= history_column[i].since)
            add(&w, "%s%s %s", i ? ", " : "", history_column[i].name, history_column[i].type);
    for (size_t i = 0; i < history_figures(tables, figure); i++)
        add(&w, ", %s REAL", tables < 3 ? first_figures[i] : tm_figure_table[i].id);
    add(&w, ") WITHOUT ROWID");
    return sql;
}

static const char *column_name(size_t i)
{
    return i < history_column_count ? history_column[i].name : tm_figure_table[i - history_column_count].id;
}

/* Whether the same run exists, made from the same inputs by the same program: only these columns identify the work. 
 * Pruned files do not matter. */
static const char same_run[] = "job IS excluded.job AND night IS excluded.night AND status IS excluded.status"
                               " AND fingerprint IS excluded.fingerprint AND options IS excluded.options"
                               " AND version IS excluded.version AND definitions IS excluded.definitions";

/* INSERT of a row, all columns bound in order; replacing the row with its id.  Gate results stay while the run and its
 * options are the same, and so does the page that assessed it. */
static const char *history_put_sql(char sql[HISTORY_SQL_BYTES])
{
    struct words w = { sql, 0 };

    add(&w, "INSERT INTO runs VALUES (");
    for (size_t i = 0; i < history_column_count + tm_figure_count; i++)
        add(&w, "%s?", i ? "," : "");
    add(&w, ") ON CONFLICT (id) DO UPDATE SET ");
    for (size_t i = 1; i < history_column_count + tm_figure_count; i++) {
        const char *const name = column_name(i);

        if (strcmp(name, "gates") == 0 || strcmp(name, "gates_text") == 0)
            add(&w,
                "%s = CASE WHEN excluded.gates IS NULL AND fingerprint IS excluded.fingerprint"
                " AND options IS excluded.options AND definitions IS excluded.definitions THEN %s ELSE excluded.%s "
                "END, ",
                name, name, name);
        else if (strcmp(name, "page") == 0)
            add(&w, "page = CASE WHEN excluded.page IS NULL AND %s THEN page ELSE excluded.page END, ", same_run);
        else
            add(&w, "%s = excluded.%s, ", name, name);
    }
    w.used -= 2;
    sql[w.used] = '\0';
    return sql;
}

/* --- the file's --- */

/* The file has exactly these tables.
 * out: false: *extra is the first one that is different, or "" */
static bool history_has_tables(struct tm_history *history, char extra[TM_KEY_BYTES])
{
    char sql[HISTORY_SQL_BYTES];
    sqlite3_stmt *statement = NULL;
    bool is_same = true;

    extra[0] = '\0';
    if (sqlite3_prepare_v2(history->db, "SELECT name, sql FROM sqlite_schema ORDER BY rowid", -1, &statement, NULL) !=
        SQLITE_OK)
        return false;
    for (size_t i = 0; is_same; i++) {
        const char *const wanted = tm_history_object(sql, "", history->tables, i);
        const bool is_there = sqlite3_step(statement) == SQLITE_ROW;

        if (!is_there && !wanted)
            break;
        const char *const found = is_there ? (const char *)sqlite3_column_text(statement, 1) : NULL;

        is_same = wanted && found && strcmp(wanted, found) == 0;
        if (!is_same && is_there && sqlite3_column_text(statement, 0))
            (void)snprintf(extra, TM_KEY_BYTES, "%s", (const char *)sqlite3_column_text(statement, 0));
    }
    (void)sqlite3_finalize(statement);
    return is_same;
}

/* Opens an existing history.  It may be damaged, changed, or crafted: it is opened for reading, as an
 * immutable file (which needs no lock, and ignores a journal beside it), with SQLite's own defenses, and checked
 * completely before any row is used. */

enum { ROW_BYTES_MOST = 1 << 20 };

/* Memory that SQLite may take, set before it is first used. */
/* Most of SQLite's memory is a cache: it shrinks before anything fails. */
static void history_limit_memory(struct tm_run *run)
{
    const sqlite3_int64 whole = (sqlite3_int64)run->budget.limit_bytes;

    (void)sqlite3_soft_heap_limit64(whole / 4);
    (void)sqlite3_hard_heap_limit64(whole / 2);
}

/* A statement without results. */
static void history_do(struct tm_history *history, const char *sql)
{
    if (!tm_failed(history->run) && sqlite3_exec(history->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        (void)tm_history_fail(history);
}

/* Whether the file is there.  errors: TM_ERR_INPUT  it is not a file, or its folder cannot be read */
static bool history_find(struct tm_history *history)
{
    struct tm_error *const error = &history->run->error;
    struct stat info;

    if (lstat(history->path, &info) != 0) {
        if (errno != ENOENT)
            (void)tm_fail_system(error, TM_ERR_INPUT, -1, errno, "cannot read the history '%s'", history->path);
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the history '%s' is not a regular file, but %s", history->path,
                      S_ISLNK(info.st_mode)   ? "a symbolic link"
                      : S_ISDIR(info.st_mode) ? "a folder"
                                              : "something else");
        tm_hint(error, "put the file itself there, or remove what is there");
    } else if (info.st_size == 0) {
        (void)tm_history_damaged(history, "it is empty");
    }
    return true;
}

/* The path as a URI, for an immutable file. */
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
static int64_t ask_number(struct tm_history *history, const char *sql)
{
    sqlite3_stmt *const statement = tm_history_prepare(history, sql);
    int64_t number = 0;

    if (statement && sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    else
        (void)tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    return number;
}

static void check_pages(struct tm_history *history)
{
    sqlite3_stmt *const statement = tm_history_prepare(history, "PRAGMA integrity_check(1)");
    char text[TM_KEY_BYTES];

    if (!statement || sqlite3_step(statement) != SQLITE_ROW || !sqlite3_column_text(statement, 0)) {
        (void)tm_history_fail(history);
    } else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
        (void)snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(statement, 0));
        text[strcspn(text, "\n")] = '\0';
        (void)tm_history_damaged(history, text);
    }
    (void)sqlite3_finalize(statement);
}

static void refuse(struct tm_history *history, const char *advice, const char *format, ...) TM_PRINTF(3, 4);

static void refuse(struct tm_history *history, const char *advice, const char *format, ...)
{
    char why[TM_KEY_BYTES + 128];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    (void)tm_fail(&history->run->error, TM_ERR_INPUT, -1, "'%s' is not a history of this version: %s", history->path,
                  why);
    tm_hint(&history->run->error, "%s", advice);
}

static void check(struct tm_history *history)
{
    const int64_t application = ask_number(history, "PRAGMA application_id");
    const int64_t version = ask_number(history, "PRAGMA user_version");
    char extra[TM_KEY_BYTES];

    if (tm_failed(history->run))
        return;
    history->tables = version;
    if (application != HISTORY_APPLICATION)
        refuse(history, TM_HISTORY_HINT, "it is a database of another program");
    else if (version < 1 || version > TM_HISTORY_VERSION)
        refuse(history,
               version > TM_HISTORY_VERSION ? "use the newer tracemill that wrote it, or move it away"
                                            : TM_HISTORY_HINT,
               "its tables have version %lld; this program reads version %d", (long long)version, TM_HISTORY_VERSION);
    else if (history_has_tables(history, extra))
        check_pages(history);
    else if (sqlite3_errcode(history->db) != SQLITE_OK) /* they could not be examined */
        (void)tm_history_fail(history);
    else if (*extra)
        refuse(history, "remove what was added: changes by other programs are not kept",
               "'%s' in it was not created by tracemill", extra);
    else
        refuse(history, TM_HISTORY_HINT, "tables are missing");
}

static void defend(struct tm_history *history)
{
    static const struct {
        int option, value;
    } settings[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },       { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },  { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
        { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (sqlite3_db_config(history->db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
            (void)tm_history_fail(history);
    }
    (void)sqlite3_limit(history->db, SQLITE_LIMIT_LENGTH, ROW_BYTES_MOST);
    (void)sqlite3_limit(history->db, SQLITE_LIMIT_ATTACHED, 0);
    history_do(history, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
                        " PRAGMA cache_size = -4096");
}

/* Open the file and verify that it is a history.  errors: as tm_history_open */
static void history_open_file(struct tm_history *history)
{
    char uri[3 * HISTORY_PATH_BYTES + 64];
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;

#ifdef SQLITE_OPEN_NOFOLLOW
    flags |= SQLITE_OPEN_NOFOLLOW;
#endif
    put_uri(uri, history);
    if (sqlite3_open_v2(uri, &history->db, flags, NULL) != SQLITE_OK) {
        (void)tm_history_fail(history);
        return;
    }
    defend(history);
    check(history);
}

/* Rows of the history: into a statement, and out of one.  Contents of a file are validated like any input: ids
 * become folder names. */

enum { TEXT_BYTES_MOST = 4096 };

/* --- in --- */

/* A text without what SQL and JSON cannot hold: cut if it is too long, or where it stops being UTF-8. */
static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    const size_t length = text ? tm_utf8_head(text, strnlen(text, TEXT_BYTES_MOST)) : 0;

    return length ? sqlite3_bind_text(statement, at, text, (int)length, SQLITE_STATIC)
                  : sqlite3_bind_null(statement, at);
}

/* in: row  of the struct that the column belongs to */
static int bind_column(sqlite3_stmt *statement, int at, const struct history_column *column, const void *row)
{
    const char *const from = (const char *)row + column->offset;
    const char *text;
    int64_t number;
    double real;

    switch (column->kind) {
    case COLUMN_TEXT:
        memcpy(&text, from, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the size of the pointer */
        return bind_text(statement, at, text);
    case COLUMN_ARRAY:
        return bind_text(statement, at, from);
    case COLUMN_REAL:
        memcpy(&real, from, sizeof(real));
        return isfinite(real) ? sqlite3_bind_double(statement, at, real) : sqlite3_bind_null(statement, at);
    default:
        memcpy(&number, from, sizeof(number));
        return column->kind == COLUMN_COUNT && number < 0 ? sqlite3_bind_null(statement, at)
                                                          : sqlite3_bind_int64(statement, at, number);
    }
}

/* It is kept for the next time. */
static void release(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

static tm_status run_once(struct tm_history *history, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        (void)tm_history_fail(history);
    release(statement);
    return history->run->error.status;
}

tm_status tm_history_put(struct tm_history *history, const struct tm_history_run *row)
{
    char sql[HISTORY_SQL_BYTES];
    int at = 1, code = SQLITE_OK;

    assert(history->is_renewed && !history->is_committed && tm_is_run_id(row->id));
    if (!history->put)
        history->put = tm_history_prepare(history, history_put_sql(sql));
    if (tm_failed(history->run))
        return history->run->error.status;
    for (size_t i = 0; i < history_column_count && code == SQLITE_OK; i++)
        code = bind_column(history->put, at++, &history_column[i], row);
    for (size_t i = 0; i < tm_figure_count && code == SQLITE_OK; i++, at++) {
        if (isfinite(row->figure[i]))
            code = sqlite3_bind_double(history->put, at, row->figure[i]);
    }
    return code == SQLITE_OK ? run_once(history, history->put) : tm_history_fail(history);
}

tm_status tm_history_set_gates(struct tm_history *history, const char *id, const char *gates, const char *text)
{
    assert(history->is_renewed && !history->is_committed);
    if (!history->gates)
        history->gates = tm_history_prepare(history, "UPDATE runs SET gates = ?2, gates_text = ?3 WHERE id = ?1");
    if (tm_failed(history->run))
        return history->run->error.status;
    if (bind_text(history->gates, 1, id) != SQLITE_OK || bind_text(history->gates, 2, gates) != SQLITE_OK ||
        bind_text(history->gates, 3, text) != SQLITE_OK)
        return tm_history_fail(history);
    return run_once(history, history->gates);
}

/* --- out --- */

/* A text of a row: "" = null.  out: false if it is not a text, or null and may not be */
static bool history_read_text(sqlite3_stmt *statement, int at, bool has_value, const char **text)
{
    const int type = sqlite3_column_type(statement, at);

    *text = "";
    if (type == SQLITE_NULL)
        return !has_value;
    if (type != SQLITE_TEXT)
        return false;
    *text = (const char *)sqlite3_column_text(statement, at);

    const int bytes = sqlite3_column_bytes(statement, at);

    return *text && bytes > 0 && bytes <= TEXT_BYTES_MOST && tm_utf8_head(*text, (size_t)bytes) == (size_t)bytes;
}

static bool read_number(sqlite3_stmt *statement, int at, const struct history_column *column, int64_t *number)
{
    const int type = sqlite3_column_type(statement, at);

    *number = type == SQLITE_INTEGER ? sqlite3_column_int64(statement, at) : -1;
    if (type == SQLITE_NULL)
        return !column->has_value;
    return type == SQLITE_INTEGER && (column->kind == COLUMN_NUMBER || *number >= 0);
}

static bool read_figure(sqlite3_stmt *statement, int at, double *figure)
{
    const int type = sqlite3_column_type(statement, at);

    *figure = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, at);
    return type == SQLITE_NULL || ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(*figure));
}

/* out: row  of the struct that the column belongs to */
static bool read_column(sqlite3_stmt *statement, int at, const struct history_column *column, void *row)
{
    char *const to = (char *)row + column->offset;
    const char *text;
    int64_t number;
    double real;

    switch (column->kind) {
    case COLUMN_TEXT:
        if (!history_read_text(statement, at, column->has_value, &text))
            return false;
        memcpy(to, &text, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the size of the pointer */
        return true;
    case COLUMN_ARRAY:
        if (!history_read_text(statement, at, column->has_value, &text) || strlen(text) >= column->bytes)
            return false;
        memcpy(to, text, strlen(text) + 1);
        return true;
    case COLUMN_REAL:
        if (!read_figure(statement, at, &real))
            return false;
        memcpy(to, &real, sizeof(real));
        return true;
    default:
        if (!read_number(statement, at, column, &number))
            return false;
        memcpy(to, &number, sizeof(number));
        return true;
    }
}

/* All files of a run are in its folder. */
static bool is_at_its_place(const char *path, const char *id, const char *name)
{
    char place[TM_RUN_PLACE_BYTES];
    const size_t length = strlen(tm_run_place(id, place)), id_length = strlen(id);

    return !*path || (strncmp(path, place, length) == 0 && strcmp(path + length, name) == 0) ||
           (strncmp(path, "runs/", 5) == 0 && strncmp(path + 5, id, id_length) == 0 &&
            strcmp(path + 5 + id_length, name) == 0); /* of an older version */
}

static bool is_status(const char *word)
{
    return strcmp(tm_result_status_words[tm_result_status_of(word)], word) == 0;
}

const char *tm_history_severity(const struct tm_history_run *row)
{
    return row->severity && strcmp(row->severity, "bad") == 0 ? "critical" : row->severity;
}

bool tm_history_is_current(const struct tm_history_run *row)
{
    return row->definitions == TM_SUMMARY_VERSION;
}

/* The row that a SELECT of all columns is at.  errors: TM_ERR_INPUT  it cannot be ours */
static tm_status history_read_row(struct tm_history *history, sqlite3_stmt *statement, struct tm_history_run *row)
{
    size_t figure[TM_FIGURES_MOST];
    const size_t figures = history_figures(history->tables, figure);
    double value;
    const char *wrong = NULL;
    char what[TM_KEY_BYTES];
    int at = 0;

    row->definitions = 1;
    for (size_t i = 0; i < TM_ENV_KEYS; i++)
        row->environment[i] = "";
    row->keys.labels[0] = '\0';
    for (size_t i = 0; i < tm_figure_count; i++)
        row->figure[i] = NAN;
    for (size_t i = 0; i < history_column_count && !wrong; i++) {
        if (history->tables < history_column[i].since)
            continue;
        wrong = read_column(statement, at++, &history_column[i], row) ? NULL : history_column[i].name;
    }
    for (size_t i = 0; i < figures && !wrong; i++) {
        wrong = read_figure(statement, at++, &value) ? NULL : "figure";
        if (figure[i] < tm_figure_count)
            row->figure[figure[i]] = value;
        if (wrong && figure[i] < tm_figure_count)
            wrong = tm_figure_table[figure[i]].id;
    }
    if (!wrong && !tm_is_run_id(row->id))
        wrong = "id";
    if (!wrong && !tm_is_night(row->keys.night))
        wrong = "night";
    if (!wrong && history->tables < 3)
        row->page = row->keys.night;
    if (!wrong && *row->page && !tm_is_night(row->page))
        wrong = "page";
    if (!wrong && (row->definitions < 1 || row->definitions > TM_SUMMARY_VERSION))
        wrong = "definitions";
    if (!wrong && !is_status(row->status))
        wrong = "status";
    if (!wrong && !is_at_its_place(row->report, row->id, ""))
        wrong = "report";
    if (!wrong && !is_at_its_place(row->summary, row->id, "/summary.json"))
        wrong = "summary";
    if (!wrong)
        return TM_OK;
    (void)snprintf(what, sizeof(what), "a row has an invalid '%s'", wrong);
    return tm_history_damaged(history, what);
}

static tm_status visit_all(struct tm_history *history, sqlite3_stmt *statement, tm_take_history_run *take, void *to)
{
    struct tm_history_run row;
    tm_status st;
    int code;

    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (history_read_row(history, statement, &row))
            return history->run->error.status;
        st = take(to, &row);
        if (st)
            return st;
    }
    return code == SQLITE_DONE ? history->run->error.status : tm_history_fail(history);
}

tm_status tm_history_visit(struct tm_history *history, const struct tm_history_query *query, tm_take_history_run *take,
                           void *to)
{
    static const char *const orders[] = { [TM_HISTORY_BY_JOB] = "job, when_ns, id",
                                          [TM_HISTORY_BY_TIME] = "when_ns DESC, id DESC",
                                          [TM_HISTORY_OLDEST] = "when_ns, id",
                                          [TM_HISTORY_BY_ID] = "id" };
    const struct tm_judged_night *const judged = query->judged;
    const char *const text[] = { query->job, judged ? judged->last : NULL, judged ? judged->until : query->until,
                                 query->after };
    char sql[512];
    sqlite3_stmt *statement;
    int code = SQLITE_OK;
    tm_status st;

    /* The few rows of a night are sorted: with an index all rows would be fetched in its order ('+' turns it off). */
    (void)snprintf(sql, sizeof(sql), "SELECT * FROM runs WHERE %s AND %s AND %s AND %s ORDER BY %s%s LIMIT ?5",
                   query->job ? "job = ?1" : "?1 IS NULL", judged ? HISTORY_IS_JUDGED : "?2 IS NULL",
                   text[2] ? "night <= ?3" : "?3 IS NULL", query->after ? "night > ?4" : "?4 IS NULL",
                   (judged || query->after) && !query->job ? "+" : "", orders[query->order]);
    statement = tm_history_prepare(history, sql);
    if (!statement)
        return history->run->error.status;
    for (int i = 0; code == SQLITE_OK && i < 4; i++)
        code = text[i] ? sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_STATIC) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(statement, 5, query->most ? (sqlite3_int64)query->most : -1);
    st = code == SQLITE_OK ? visit_all(history, statement, take, to) : tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    return st;
}

/* A statement that is kept, with its text; `release` ends its use.  out: NULL: a failure */
static sqlite3_stmt *keep(struct tm_history *history, sqlite3_stmt **kept, const char *sql, const char *text)
{
    if (!*kept)
        *kept = tm_history_prepare(history, sql);
    if (tm_failed(history->run))
        return NULL;
    assert(!sqlite3_stmt_busy(*kept));
    if (sqlite3_bind_text(*kept, 1, text, -1, SQLITE_STATIC) == SQLITE_OK)
        return *kept;
    (void)tm_history_fail(history);
    return NULL;
}

tm_status tm_history_find(struct tm_history *history, const char *id, tm_take_history_run *take, void *to)
{
    sqlite3_stmt *const statement = keep(history, &history->find, "SELECT * FROM runs WHERE id = ?1", id);
    tm_status st;

    if (!statement)
        return history->run->error.status;
    st = visit_all(history, statement, take, to);
    release(statement);
    return st;
}

tm_status tm_history_visit_jobs(struct tm_history *history, tm_take_job *take, void *to)
{
    /* A search per job: DISTINCT reads the whole index. */
    static const char sql[] =
        "WITH RECURSIVE jobs (job) AS (SELECT min(job) FROM runs UNION ALL"
        " SELECT (SELECT min(job) FROM runs WHERE job > jobs.job) FROM jobs WHERE job IS NOT NULL)"
        " SELECT job FROM jobs WHERE job IS NOT NULL";
    sqlite3_stmt *const statement = tm_history_prepare(history, sql);
    tm_status st = history->run->error.status;
    const char *job = "";
    int code = SQLITE_DONE;

    while (!st && (code = sqlite3_step(statement)) == SQLITE_ROW)
        st = history_read_text(statement, 0, false, &job) ? take(to, job)
                                                          : tm_history_damaged(history, "a row has an invalid 'job'");
    if (!st && code != SQLITE_DONE)
        st = tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    return st;
}

/* --- the ledger --- */

const char *const tm_ledger_state_words[] = {
    [TM_LEDGER_OPEN] = "open",
    [TM_LEDGER_UNCONFIRMED] = "unconfirmed",
    [TM_LEDGER_ACKNOWLEDGED] = "acknowledged",
    [TM_LEDGER_RECOVERED] = "recovered",
    [TM_LEDGER_FIXED] = "fixed",
    [TM_LEDGER_ACCEPTED] = "accepted",
    [TM_LEDGER_DISMISSED] = "dismissed",
    [TM_LEDGER_WITHDRAWN] = "withdrawn",
    [TM_LEDGER_ENDED] = "ended",
};

enum tm_ledger_state tm_ledger_state_of(const char *word)
{
    int state = TM_LEDGER_OPEN;

    while (state < TM_LEDGER_STATES && strcmp(tm_ledger_state_words[state], word) != 0)
        state++;
    return (enum tm_ledger_state)state;
}

bool tm_ledger_is_open(const struct tm_history_regression *row)
{
    const enum tm_ledger_state state = tm_ledger_state_of(row->state);

    return state == TM_LEDGER_OPEN || state == TM_LEDGER_UNCONFIRMED || state == TM_LEDGER_ACKNOWLEDGED;
}

tm_status tm_history_put_levels(struct tm_history *history, const char *job, const struct night_levels *levels)
{
    sqlite3_stmt *const statement =
        keep(history, &history->put_levels, "INSERT OR REPLACE INTO levels VALUES (?1, ?2)", job);

    assert(history->is_renewed);
    if (!statement)
        return history->run->error.status;
    if (sqlite3_bind_blob(statement, 2, levels, sizeof(*levels), SQLITE_STATIC) != SQLITE_OK)
        return tm_history_fail(history);
    return run_once(history, statement);
}

tm_status tm_history_find_levels(struct tm_history *history, const char *job, struct night_levels *levels)
{
    sqlite3_stmt *statement;
    int code;

    *levels = (struct night_levels){ .hardware = 0 };
    if (!history->is_renewed)
        return TM_OK;
    statement = keep(history, &history->find_levels, "SELECT levels FROM levels WHERE job = ?1", job);
    if (!statement)
        return history->run->error.status;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_bytes(statement, 0) == sizeof(*levels))
        memcpy(levels, sqlite3_column_blob(statement, 0), sizeof(*levels));
    else if (code != SQLITE_DONE)
        (void)tm_history_fail(history);
    release(statement);
    return history->run->error.status;
}

tm_status tm_history_put_regression(struct tm_history *history, const struct tm_history_regression *row)
{
    int code = SQLITE_OK;

    assert(history->is_renewed && !history->is_committed && tm_is_run_id(row->id));
    if (!history->put_regression) {
        char sql[HISTORY_SQL_BYTES];
        struct words w = { sql, 0 };

        add(&w, "INSERT OR REPLACE INTO regressions VALUES (");
        for (int i = 0; i < LEDGER_COLUMNS; i++)
            add(&w, "%s?", i ? "," : "");
        add(&w, ")");
        history->put_regression = tm_history_prepare(history, sql);
    }
    if (tm_failed(history->run))
        return history->run->error.status;
    for (int i = 0; i < LEDGER_COLUMNS && code == SQLITE_OK; i++)
        code = bind_column(history->put_regression, i + 1, &ledger_column[i], row);
    return code == SQLITE_OK ? run_once(history, history->put_regression) : tm_history_fail(history);
}

/* The row that a SELECT of all columns is at.  errors: TM_ERR_INPUT  it cannot be ours */
static tm_status read_regression(struct tm_history *history, sqlite3_stmt *statement, struct tm_history_regression *row)
{
    const char *wrong = NULL;
    char what[TM_KEY_BYTES];

    for (int i = 0; i < LEDGER_COLUMNS && !wrong; i++)
        wrong = read_column(statement, i, &ledger_column[i], row) ? NULL : ledger_column[i].name;
    if (!wrong && !tm_is_run_id(row->id))
        wrong = "id";
    if (!wrong &&
        (!tm_is_run_id(row->first_run) || !tm_is_run_id(row->opened_run) ||
         (*row->good_run && !tm_is_run_id(row->good_run)) || (*row->closed_run && !tm_is_run_id(row->closed_run))))
        wrong = "run";
    if (!wrong && (!tm_is_night(row->since) || !tm_is_night(row->opened) || !tm_is_night(row->last) ||
                   (*row->closed && !tm_is_night(row->closed))))
        wrong = "night";
    if (!wrong && tm_ledger_state_of(row->state) == TM_LEDGER_STATES)
        wrong = "state";
    if (!wrong)
        return TM_OK;
    (void)snprintf(what, sizeof(what), "a regression has an invalid '%s'", wrong);
    return tm_history_damaged(history, what);
}

static tm_status visit_records(struct tm_history *history, sqlite3_stmt *statement, tm_take_regression *take, void *to)
{
    struct tm_history_regression row;
    int code = SQLITE_DONE;
    tm_status st = TM_OK;

    while (!st && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        st = read_regression(history, statement, &row);
        if (!st)
            st = take(to, &row);
    }
    return !st && code != SQLITE_DONE ? tm_history_fail(history) : st;
}

static tm_status visit_records_of_job(struct tm_history *history, const char *job, tm_take_regression *take, void *to)
{
    static const char sql[] = "SELECT * FROM regressions WHERE job = ?1 ORDER BY figure, since_ns, id";
    sqlite3_stmt *const statement = keep(history, &history->records_of_job, sql, job);
    tm_status st;

    if (!statement)
        return history->run->error.status;
    st = visit_records(history, statement, take, to);
    release(statement);
    return st;
}

tm_status tm_history_visit_regressions(struct tm_history *history, const char *job, tm_take_regression *take, void *to)
{
    sqlite3_stmt *statement;
    tm_status st;

    if (history->tables < 4)
        return TM_OK;
    if (job)
        return visit_records_of_job(history, job, take, to);
    statement = tm_history_prepare(history, "SELECT * FROM regressions ORDER BY job, figure, since_ns, id");
    if (!statement)
        return history->run->error.status;
    st = visit_records(history, statement, take, to);
    (void)sqlite3_finalize(statement);
    return st;
}

/* A statement of a renewed history with texts, bound in order. */
static tm_status change_ledger(struct tm_history *history, const char *sql, const char *const text[], int count)
{
    sqlite3_stmt *const statement = tm_history_prepare(history, sql);
    int code = SQLITE_OK;

    assert(history->is_renewed && !history->is_committed);
    if (!statement)
        return history->run->error.status;
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        code = bind_text(statement, i + 1, text[i]);
    if (code == SQLITE_OK)
        (void)run_once(history, statement);
    else
        (void)tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    return history->run->error.status;
}

tm_status tm_history_drop_regressions(struct tm_history *history, const char *job)
{
    return change_ledger(history, "DELETE FROM regressions WHERE job = ?1", &job, 1);
}

tm_status tm_history_set_cause(struct tm_history *history, const char *good_run, const char *first_run,
                               const char *cause)
{
    const char *const text[] = { good_run, first_run, cause };

    return change_ledger(history, "UPDATE regressions SET cause = ?3 WHERE good_run = ?1 AND first_run = ?2", text, 3);
}

/* Each night with the page that showed it first; of older versions, which had no pages, its own. */
static const char list_nights[] =
    "INSERT INTO nights SELECT night, min(coalesce(page, night)) FROM runs WHERE night <= ?1 GROUP BY night";

tm_status tm_history_end_regressions(struct tm_history *history, const char *until)
{
    char sql[600];

    history_do(history, "DELETE FROM nights");
    if (change_ledger(history, list_nights, &until, 1))
        return history->run->error.status;
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE regressions SET state = 'ended', reason = 'no run on this hardware in the last %d nights',"
                   " decided = NULL, closed = (SELECT page FROM nights WHERE night > last ORDER BY night"
                   " LIMIT 1 OFFSET %d) WHERE state IN ('open', 'unconfirmed', 'acknowledged')"
                   " AND last < (SELECT night FROM nights ORDER BY night DESC LIMIT 1 OFFSET %d)",
                   TM_LEDGER_NIGHTS, TM_LEDGER_NIGHTS - 1, TM_LEDGER_NIGHTS - 1);
    return change_ledger(history, sql, NULL, 0);
}

enum { CACHE_KIB_LEAST = 2048, CACHE_KIB_MOST = 32768 };

/* --- open --- */

/* The folder without links: SQLite is configured to follow none. */
static void set_path(struct tm_history *history, const char *path)
{
    struct tm_error *const error = &history->run->error;
    const char *const slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char folder[HISTORY_PATH_BYTES] = ".";

    if (strlen(path) >= sizeof(history->path)) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the path of the history is too long");
        return;
    }
    memcpy(history->path, path, strlen(path) + 1);
    history->name = history->path + n;
    if (n) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    if (!realpath(folder, history->folder)) {
        (void)tm_fail_system(error, TM_ERR_INPUT, -1, errno, "cannot find the folder of the history '%s'", path);
        tm_hint(error, "give the output folder of 'tracemill batch'");
    }
}

static struct tm_history *begin(struct tm_run *run, const char *path)
{
    struct tm_history *const history = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*history), &run->error);

    if (!history)
        return NULL;
    history->run = run;
    history->tables = TM_HISTORY_VERSION; /* while renewing; opening a file reports its own errors */
    history_limit_memory(run);
    set_path(history, path);
    return history;
}

static tm_status end_opening(struct tm_history *history, struct tm_run *run, struct tm_history **to)
{
    if (tm_failed(run)) {
        tm_history_close(history);
        history = NULL;
    }
    *to = history;
    return run->error.status;
}

tm_status tm_history_open(struct tm_history **to, struct tm_run *run, const char *path)
{
    struct tm_history *const history = begin(run, path);

    if (!tm_failed(run) && !history_find(history)) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "there is no history '%s'", path);
        tm_hint(&run->error, "create it with 'tracemill batch merge'");
    }
    if (!tm_failed(run))
        history_open_file(history);
    return end_opening(history, run, to);
}

void tm_history_close(struct tm_history *history)
{
    if (!history)
        return;
    (void)sqlite3_finalize(history->put);
    (void)sqlite3_finalize(history->put_regression);
    (void)sqlite3_finalize(history->gates);
    (void)sqlite3_finalize(history->find);
    (void)sqlite3_finalize(history->records_of_job);
    (void)sqlite3_finalize(history->put_levels);
    (void)sqlite3_finalize(history->find_levels);
    for (size_t i = 0; i < TM_HISTORY_OP_STATEMENTS; i++)
        (void)sqlite3_finalize(history->op_statement[i]);
    (void)sqlite3_close(history->db);
    if (history->is_renewed) {
        sqlite3_free(sqlite3_temp_directory);
        sqlite3_temp_directory = NULL;
    }
    tm_give(&history->run->budget, TM_ACCOUNT_MODEL, history, sizeof(*history));
}

/* --- renew --- */

static void make_tables(struct tm_history *history, const char *schema, size_t first, size_t last)
{
    char sql[HISTORY_SQL_BYTES];

    for (size_t i = first; i < last && tm_history_object(sql, schema, TM_HISTORY_VERSION, i); i++)
        history_do(history, sql);
}

/* An unnamed file in the folder for spill files. */
static void open_work(struct tm_history *history)
{
    const size_t kib = history->run->budget.limit_bytes / 1024 / 16;
    const size_t cache = kib < CACHE_KIB_LEAST ? CACHE_KIB_LEAST : kib > CACHE_KIB_MOST ? CACHE_KIB_MOST : kib;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    char sql[256];

#ifdef SQLITE_OPEN_NOFOLLOW
    flags |= SQLITE_OPEN_NOFOLLOW;
#endif
    history->is_renewed = true;
    if (history->run->spill_dir) {
        sqlite3_temp_directory = sqlite3_mprintf("%s", history->run->spill_dir);
        if (!sqlite3_temp_directory) {
            (void)tm_history_fail_of(history, NULL);
            return;
        }
    }
    if (sqlite3_open_v2("", &history->db, flags, "unix-none") != SQLITE_OK)
        (void)tm_history_fail(history);
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                   " PRAGMA temp_store = FILE; PRAGMA cache_size = -%zu; BEGIN",
                   HISTORY_PAGE_BYTES, cache);
    history_do(history, sql);
    make_tables(history, "main", 0, OBJECT_INDEXES);
    /* Of this file only. */
    history_do(history, "CREATE UNIQUE INDEX op_names_by_name ON op_names (job, name)");
    history_do(history, "CREATE TABLE levels (job TEXT PRIMARY KEY, levels BLOB) WITHOUT ROWID");
    history_do(history, "CREATE TABLE nights (night TEXT PRIMARY KEY, page TEXT) WITHOUT ROWID");
}

static tm_status copy_row(void *to, const struct tm_history_run *row)
{
    return tm_history_put(to, row);
}

static tm_status copy_regression(void *to, const struct tm_history_regression *row)
{
    return tm_history_put_regression(to, row);
}

/* Every row passes through the program, so rows that it would not write are not taken over. */
static void copy_rows(struct tm_history *history, const char *path)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_ID };
    struct tm_history *old;

    if (!tm_history_open(&old, history->run, path) && !tm_history_visit(old, &all, copy_row, history) &&
        !tm_history_visit_regressions(old, NULL, copy_regression, history))
        tm_op_times_copy(history, old);
    tm_history_close(old);
}

tm_status tm_history_renew(struct tm_history **to, struct tm_run *run, const char *path)
{
    struct tm_history *const history = begin(run, path);
    const bool is_there = !tm_failed(run) && history_find(history);

    if (!tm_failed(run))
        open_work(history);
    if (!tm_failed(run) && is_there)
        copy_rows(history, path);
    if (!tm_failed(run))
        make_tables(history, "main", OBJECT_INDEXES, SIZE_MAX);
    return end_opening(history, run, to);
}

/* --- commit --- */

/* in: part  temporary name of the file */
static void attach(struct tm_history *history, const char *part)
{
    sqlite3_stmt *const statement = tm_history_prepare(history, "ATTACH ?1 AS next");
    char sql[256];

    if (!statement || sqlite3_bind_text(statement, 1, part, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE)
        (void)tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA next.page_size = %d; PRAGMA next.journal_mode = OFF; PRAGMA next.synchronous = OFF;"
                   " PRAGMA next.cache_size = -%d; BEGIN;"
                   " PRAGMA next.application_id = %d; PRAGMA next.user_version = %d",
                   HISTORY_PAGE_BYTES, CACHE_KIB_LEAST, HISTORY_APPLICATION, TM_HISTORY_VERSION);
    history_do(history, sql);
}

static void write_next(struct tm_history *history, const char *part)
{
    tm_op_times_limit(history);
    history_do(history, "COMMIT");
    attach(history, part);
    make_tables(history, "next", 0, OBJECT_INDEXES);
    history_do(history, "INSERT INTO next.runs SELECT * FROM main.runs ORDER BY id");
    history_do(history, "INSERT INTO next.regressions SELECT * FROM main.regressions ORDER BY id");
    if (!tm_failed(history->run))
        tm_op_times_write(history);
    make_tables(history, "next", OBJECT_INDEXES, SIZE_MAX);
    history_do(history, "COMMIT; DETACH next");
}

tm_status tm_history_commit(struct tm_history *history)
{
    struct tm_atomic_file file;

    history->is_committed = true;
    if (!tm_atomic_open(&file, history->run, history->folder, history->name)) {
        write_next(history, file.part);
        tm_atomic_commit(&file);
    }
    tm_atomic_abort(&file);
    return history->run->error.status;
}

/* The nights of a history: the last one, and the runs that are reported and assessed with it. */

enum { DAY_S = 86400 };

static void day_after(int64_t seconds, char text[11])
{
    const char *const epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm day = { .tm_isdst = 0 };
    int64_t now = (int64_t)time(NULL), told = 0;
    char *end = NULL;
    time_t then;

    errno = 0;
    if (epoch && *epoch >= '0' && *epoch <= '9')
        told = strtoll(epoch, &end, 10);
    if (end && !*end && !errno && told > now && told < INT32_MAX * (int64_t)DAY_S)
        now = told;
    then = (time_t)(now + seconds);
    if (!gmtime_r(&then, &day) || strftime(text, 11, "%Y-%m-%d", &day) != 10)
        (void)snprintf(text, 11, "9999-12-31");
}

void tm_history_until(char until[11])
{
    day_after(DAY_S, until);
}

void tm_history_today(char day[11])
{
    day_after(0, day);
}

/* in: until  ?1;  number  ?2 */
static void ask_night(struct tm_history *history, const char *sql, const char *until, uint64_t number, char night[11])
{
    sqlite3_stmt *const statement = tm_history_prepare(history, sql);
    const char *text = "";
    int code = SQLITE_ERROR;

    if (statement && sqlite3_bind_text(statement, 1, until, -1, SQLITE_STATIC) == SQLITE_OK &&
        (sqlite3_bind_parameter_count(statement) < 2 ||
         sqlite3_bind_int64(statement, 2, number < INT64_MAX ? (sqlite3_int64)number : INT64_MAX) == SQLITE_OK))
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        (void)tm_history_fail(history);
    if (code == SQLITE_ROW && (!history_read_text(statement, 0, false, &text) || strlen(text) >= 11))
        (void)tm_history_damaged(history, "a row has an invalid 'night'");
    (void)snprintf(night, 11, "%s", tm_failed(history->run) ? "" : text);
    (void)sqlite3_finalize(statement);
}

tm_status tm_history_last_night(struct tm_history *history, struct tm_judged_night *judged)
{
    ask_night(history, "SELECT max(night) FROM runs WHERE night <= ?1", judged->until, 0, judged->last);
    return history->run->error.status;
}

tm_status tm_history_oldest_of(struct tm_history *history, const char *until, uint64_t nights, char night[11])
{
    static const char sql[] = "SELECT DISTINCT night FROM runs WHERE night <= ?1 ORDER BY night DESC LIMIT 1 OFFSET ?2";

    ask_night(history, sql, until, nights, night);
    if (night[0])
        ask_night(history, sql, until, nights - 1, night);
    return history->run->error.status;
}

tm_status tm_history_settle(struct tm_history *history, struct tm_judged_night *judged)
{
    sqlite3_stmt *statement;

    assert(history->is_renewed && !history->is_committed);
    if (tm_history_last_night(history, judged) || !judged->last[0])
        return history->run->error.status;
    statement = tm_history_prepare(history, "UPDATE runs SET page = ?1 WHERE page IS NULL AND night <= ?2");
    if (!statement || sqlite3_bind_text(statement, 1, judged->last, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_text(statement, 2, judged->until, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE)
        (void)tm_history_fail(history);
    (void)sqlite3_finalize(statement);
    return history->run->error.status;
}

bool tm_history_is_ahead(const struct tm_judged_night *judged, const struct tm_history_run *row)
{
    return strcmp(row->keys.night, judged->until) > 0;
}

bool tm_history_is_judged(const struct tm_judged_night *judged, const struct tm_history_run *row)
{
    const enum tm_result_status status = tm_result_status_of(row->status);
    const bool is_pruned = (status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL) && !*row->report;

    if (tm_history_is_ahead(judged, row) || !*judged->last)
        return false;
    return strcmp(row->keys.night, judged->last) == 0 || (strcmp(row->page, judged->last) == 0 && !is_pruned);
}

/* The history as JSON Lines (schemas/history.schema.json). */

struct export
{
    struct tm_run *run;
    struct tm_history *history;
    FILE *to;
};

static void add_ops(const struct export *e, struct tm_value *to, const struct tm_history_run *row)
{
    static const char *const keys[] = { [TM_OP_KIND_OP] = "ops", [TM_OP_KIND_SCOPE] = "scopes" };
    char name[TM_RESULT_OP_BYTES];
    struct tm_op_times times;

    if (tm_op_times_read(e->history, row->keys.job, row->id, &times))
        return;
    for (int kind = 0; kind < TM_OP_KINDS; kind++) {
        struct tm_value *const list = times.count[kind] ? tm_add_array(to, keys[kind]) : NULL;

        for (size_t i = 0; i < times.count[kind]; i++) {
            const struct tm_op_time *const time = &times.time[kind][i];
            struct tm_value *const one = tm_add_object(list, NULL);

            if (tm_op_times_name(e->history, row->keys.job, time->name, name))
                return;
            tm_add_string(one, "name", name);
            tm_add_uint(one, "time_ps", time->ns * 1000);
        }
    }
}

static void add_column(struct tm_value *to, const struct history_column *column, const struct tm_history_run *row)
{
    const char *const from = (const char *)row + column->offset, *text = from;
    int64_t number;

    switch (column->kind) {
    case COLUMN_TEXT:
        memcpy(&text, from, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the size of the pointer */
        /* fall through */
    case COLUMN_ARRAY:
        if (*text)
            tm_add_string(to, column->name, text);
        return;
    default:
        memcpy(&number, from, sizeof(number));
        if (column->kind == COLUMN_NUMBER || number >= 0)
            tm_add_int(to, column->name, number);
    }
}

static tm_status print_row(void *to, const struct tm_history_run *row)
{
    const struct export *const e = to;
    struct tm_doc *const doc = tm_doc_new(e->run);
    struct tm_history_run shown = *row;

    if (!doc)
        return e->run->error.status;
    shown.severity = tm_history_severity(row);
    for (size_t i = 0; i < history_column_count; i++)
        add_column(tm_doc_root(doc), &history_column[i], &shown);
    for (size_t i = 0; i < tm_figure_count; i++) {
        if (isfinite(row->figure[i]))
            tm_add_double(tm_doc_root(doc), tm_figure_table[i].id, row->figure[i]);
    }
    add_ops(e, tm_doc_root(doc), row);
    if (!tm_failed(e->run))
        tm_value_print_line(tm_doc_root(doc), e->to);
    tm_doc_free(doc);
    if (ferror(e->to))
        (void)tm_fail_system(&e->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the rows");
    return e->run->error.status;
}

tm_status tm_history_export(struct tm_history *history, FILE *to)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };
    struct export e = { history->run, history, to };

    return tm_history_visit(history, &all, print_row, &e);
}
