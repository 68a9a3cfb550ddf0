/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/history/op_times.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/strings.h"

const char *const tm_op_kind_words[TM_OP_KINDS] = { [TM_OP_KIND_OP] = "op", [TM_OP_KIND_SCOPE] = "scope" };

/* --- blobs --- */

enum {
    BLOB_VERSION = 1,
    VARINT_BYTES = 10,
    BLOB_BYTES = 1 + TM_OP_KINDS * VARINT_BYTES * (1 + 2 * TM_OP_TIMES_MOST),
    NAMES_MOST = 1 << 28, /* of a job */
};

static size_t put_varint(uint8_t *at, uint64_t value)
{
    size_t bytes = 0;

    for (; value >= 0x80; value >>= 7)
        at[bytes++] = (uint8_t)(value | 0x80);
    at[bytes++] = (uint8_t)value;
    return bytes;
}

/* out: false: there is none.  The shortest form only, so that the same numbers have the same bytes. */
static bool get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;

        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (byte || shift == 0) && (shift < 63 || byte <= 1);
    }
    return false;
}

static size_t encode(uint8_t blob[BLOB_BYTES], const struct tm_op_times *times)
{
    size_t used = 0;

    blob[used++] = BLOB_VERSION;
    for (int kind = 0; kind < TM_OP_KINDS; kind++) {
        uint32_t before = 0;

        used += put_varint(blob + used, times->count[kind]);
        for (size_t i = 0; i < times->count[kind]; i++) {
            used += put_varint(blob + used, times->time[kind][i].name - before);
            used += put_varint(blob + used, times->time[kind][i].ns);
            before = times->time[kind][i].name;
        }
    }
    return used;
}

static bool decode(struct tm_op_times *to, const uint8_t *at, size_t bytes)
{
    const uint8_t *const end = at + bytes;
    uint64_t count, step;

    if (bytes == 0 || *at++ != BLOB_VERSION)
        return false;
    for (int kind = 0; kind < TM_OP_KINDS; kind++) {
        uint64_t name = 0;

        if (!get_varint(&at, end, &count) || count > TM_OP_TIMES_MOST)
            return false;
        to->count[kind] = (size_t)count;
        for (size_t i = 0; i < to->count[kind]; i++) {
            struct tm_op_time *const time = &to->time[kind][i];

            if (!get_varint(&at, end, &step) || !get_varint(&at, end, &time->ns) || step == 0 || step > NAMES_MOST ||
                time->ns > INT64_MAX / 1000)
                return false;
            name += step;
            if (name > NAMES_MOST)
                return false;
            time->name = (uint32_t)name;
        }
    }
    return at == end;
}

/* --- statements --- */

/* A statement with texts, bound in order. */
static sqlite3_stmt *prepare(struct tm_history *history, const char *sql, const char *const text[], int count)
{
    sqlite3_stmt *const statement = tm_history_prepare(history, sql);

    for (int i = 0; statement && i < count; i++) {
        if (sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_STATIC) != SQLITE_OK) {
            (void)tm_history_fail(history);
            (void)sqlite3_finalize(statement);
            return NULL;
        }
    }
    return statement;
}

/* out: is there a row? */
static bool step(struct tm_history *history, sqlite3_stmt *statement)
{
    const int code = statement ? sqlite3_step(statement) : SQLITE_DONE;

    if (code != SQLITE_ROW && code != SQLITE_DONE)
        (void)tm_history_fail(history);
    return code == SQLITE_ROW && !tm_failed(history->run);
}

static tm_status run_once(struct tm_history *history, sqlite3_stmt *statement)
{
    (void)step(history, statement);
    (void)sqlite3_finalize(statement);
    return history->run->error.status;
}

/* Statements that are executed for each run or each name: prepared once. */
enum kept { KEPT_TIMES, KEPT_NAME, KEPT_NUMBER, KEPT_CURRENT, KEPT_DROP, KEPT_ADD, KEPT_PUT, KEPT_STATEMENTS };

static_assert((int)KEPT_STATEMENTS == (int)TM_HISTORY_OP_STATEMENTS, "there is room for each");

static sqlite3_stmt *keep(struct tm_history *history, enum kept which, const char *const text[], int count)
{
    static const char *const sql[] = {
        [KEPT_TIMES] = "SELECT times FROM op_times WHERE job = ?1 AND run = ?2",
        [KEPT_NAME] = "SELECT name FROM op_names WHERE job = ?1 AND id = ?2",
        [KEPT_NUMBER] = "SELECT id FROM op_names WHERE job = ?1 AND name = ?2",
        [KEPT_CURRENT] = "SELECT 1 FROM runs JOIN op_times ON op_times.job = runs.job AND op_times.run = runs.id"
                         " WHERE id = ?1 AND runs.job = ?2 AND fingerprint = ?3 AND options = ?4 AND version = ?5"
                         " AND definitions = ?6",
        [KEPT_DROP] = "DELETE FROM op_times WHERE run = ?1 AND job = (SELECT job FROM runs WHERE id = ?1)",
        [KEPT_ADD] = "INSERT INTO op_names"
                     " SELECT ?1, 1 + ifnull((SELECT max(id) FROM op_names WHERE job = ?1), 0), ?2",
        [KEPT_PUT] = "INSERT INTO op_times VALUES (?1, ?2, ?3)",
    };
    sqlite3_stmt **const statement = &history->op_statement[which];

    if (!*statement)
        *statement = tm_history_prepare(history, sql[which]);
    for (int i = 0; *statement && i < count; i++)
        if (sqlite3_bind_text(*statement, i + 1, text[i], -1, SQLITE_STATIC) != SQLITE_OK)
            (void)tm_history_fail(history);
    return tm_failed(history->run) ? NULL : *statement;
}

static tm_status end(struct tm_history *history, enum kept which)
{
    (void)sqlite3_reset(history->op_statement[which]);
    (void)sqlite3_clear_bindings(history->op_statement[which]);
    return history->run->error.status;
}

static tm_status run_kept(struct tm_history *history, enum kept which, const char *const text[], int count)
{
    (void)step(history, keep(history, which, text, count));
    return end(history, which);
}

static bool has_tables(const struct tm_history *history)
{
    return history->tables >= 5;
}

/* A text of a row that may have been damaged. */
static const char *text_of(sqlite3_stmt *statement, int column, size_t most)
{
    const char *const text = sqlite3_column_type(statement, column) == SQLITE_TEXT
                                 ? (const char *)sqlite3_column_text(statement, column)
                                 : NULL;
    const size_t bytes = text ? (size_t)sqlite3_column_bytes(statement, column) : 0;

    return bytes > 0 && bytes < most && strlen(text) == bytes && tm_utf8_head(text, bytes) == bytes ? text : NULL;
}

/* The blob in a column.  errors: TM_ERR_INPUT */
static tm_status read_blob(struct tm_history *history, sqlite3_stmt *statement, int column, struct tm_op_times *to)
{
    const uint8_t *const blob =
        sqlite3_column_type(statement, column) == SQLITE_BLOB ? sqlite3_column_blob(statement, column) : NULL;

    if (blob && decode(to, blob, (size_t)sqlite3_column_bytes(statement, column)))
        return TM_OK;
    return tm_history_damaged(history, "the times of a run are invalid");
}

/* in: blob  has to stay until the statement is reset */
static void bind_blob(struct tm_history *history, sqlite3_stmt *statement, int at, const uint8_t *blob, size_t bytes)
{
    if (sqlite3_bind_blob(statement, at, blob, (int)bytes, SQLITE_STATIC) != SQLITE_OK)
        (void)tm_history_fail(history);
}

/* --- reading --- */

tm_status tm_op_times_read(struct tm_history *history, const char *job, const char *id, struct tm_op_times *to)
{
    const char *const text[] = { job, id };
    sqlite3_stmt *statement;

    memset(to->count, 0, sizeof(to->count));
    if (!has_tables(history))
        return TM_OK;
    statement = keep(history, KEPT_TIMES, text, 2);
    if (step(history, statement))
        (void)read_blob(history, statement, 0, to);
    return end(history, KEPT_TIMES);
}

tm_status tm_op_times_name(struct tm_history *history, const char *job, uint32_t number, char name[TM_RESULT_OP_BYTES])
{
    sqlite3_stmt *statement;

    name[0] = '\0';
    if (!has_tables(history))
        return TM_OK;
    statement = keep(history, KEPT_NAME, &job, 1);
    if (statement && sqlite3_bind_int64(statement, 2, number) != SQLITE_OK)
        (void)tm_history_fail(history);
    if (step(history, statement) && text_of(statement, 0, TM_RESULT_OP_BYTES))
        (void)snprintf(name, TM_RESULT_OP_BYTES, "%s", text_of(statement, 0, TM_RESULT_OP_BYTES));
    return end(history, KEPT_NAME);
}

tm_status tm_op_times_number(struct tm_history *history, const char *job, const char *name, uint32_t *number)
{
    const char *const text[] = { job, name };
    sqlite3_stmt *statement;

    *number = 0;
    if (!has_tables(history))
        return TM_OK;
    statement = keep(history, KEPT_NUMBER, text, 2);
    if (step(history, statement))
        *number = (uint32_t)sqlite3_column_int64(statement, 0);
    return end(history, KEPT_NUMBER);
}

bool tm_op_times_are_known(struct tm_history *history, const char *job, const char *id)
{
    const char *const text[] = { job, id };
    const bool are = step(history, keep(history, KEPT_TIMES, text, 2));

    end(history, KEPT_TIMES);
    return are;
}

bool tm_op_times_are_current(struct tm_history *history, const struct tm_history_run *row)
{
    const char *const text[] = { row->id, row->keys.job, row->fingerprint, row->options, row->version };
    sqlite3_stmt *const statement = keep(history, KEPT_CURRENT, text, 5);
    bool are;

    if (statement && sqlite3_bind_int64(statement, 6, row->definitions) != SQLITE_OK)
        (void)tm_history_fail(history);
    are = step(history, statement);
    end(history, KEPT_CURRENT);
    return are;
}

/* --- writing --- */

tm_status tm_op_times_drop(struct tm_history *history, const char *id)
{
    assert(history->is_renewed && !history->is_committed);
    return run_kept(history, KEPT_DROP, &id, 1);
}

/* The number of a name, which may be new. */
static uint32_t number_of(struct tm_history *history, const char *job, const char *name)
{
    const char *const text[] = { job, name };
    uint32_t number = 0;

    if (tm_op_times_number(history, job, name, &number) || number)
        return number;
    run_kept(history, KEPT_ADD, text, 2);
    tm_op_times_number(history, job, name, &number);
    return number;
}

static int by_name(const void *a, const void *b)
{
    const uint32_t x = ((const struct tm_op_time *)a)->name, y = ((const struct tm_op_time *)b)->name;

    return x < y ? -1 : x > y;
}

/* Sort those of a kind; the same name becomes one. */
static void order(struct tm_op_times *times, int kind)
{
    struct tm_op_time *const time = times->time[kind];
    size_t joined = 0;

    if (times->count[kind] > 1)
        qsort(time, times->count[kind], sizeof(*time), by_name);
    for (size_t i = 0; i < times->count[kind]; i++) {
        if (joined > 0 && time[joined - 1].name == time[i].name)
            time[joined - 1].ns += time[i].ns;
        else
            time[joined++] = time[i];
    }
    times->count[kind] = joined;
}

static void take_list(struct tm_history *history, const char *job, const struct tm_value *list, int kind,
                      struct tm_op_times *to)
{
    for (size_t i = 0; i < tm_length(list) && to->count[kind] < TM_OP_TIMES_MOST; i++) {
        const char *const name = tm_text(tm_get(tm_at(list, i), "name"));
        const double ns = tm_double_or_nan(tm_get(tm_at(list, i), "time_ps")) / 1000;
        char head[TM_RESULT_OP_BYTES];
        struct tm_op_time *const time = &to->time[kind][to->count[kind]];

        (void)snprintf(head, sizeof(head), "%.*s", (int)tm_utf8_head(name, strnlen(name, TM_RESULT_OP_BYTES - 1)),
                       name);
        if (!*head || !(ns >= 0.5 && ns < (double)(INT64_MAX / 1000000)))
            continue;
        time->name = number_of(history, job, head);
        time->ns = (uint64_t)llround(ns);
        to->count[kind] += time->name > 0 && time->name <= NAMES_MOST;
    }
    order(to, kind);
}

static tm_status put(struct tm_history *history, const char *job, const char *id, const uint8_t *blob, size_t bytes)
{
    const char *const text[] = { job, id };
    sqlite3_stmt *const statement = keep(history, KEPT_PUT, text, 2);

    if (statement)
        bind_blob(history, statement, 3, blob, bytes);
    (void)step(history, statement);
    return end(history, KEPT_PUT);
}

tm_status tm_op_times_put(struct tm_history *history, const struct tm_history_run *row,
                          const struct tm_value *const lists[TM_OP_KINDS])
{
    struct tm_op_times times = { .count = { 0 } };
    uint8_t blob[BLOB_BYTES];

    assert(history->is_renewed && !history->is_committed);
    for (int kind = 0; kind < TM_OP_KINDS; kind++)
        take_list(history, row->keys.job, lists[kind], kind, &times);
    if (tm_failed(history->run) || times.count[TM_OP_KIND_OP] + times.count[TM_OP_KIND_SCOPE] == 0)
        return history->run->error.status;
    return put(history, row->keys.job, row->id, blob, encode(blob, &times));
}

/* --- from one file to the next --- */

static void copy_names(struct tm_history *to, struct tm_history *from)
{
    sqlite3_stmt *const read = tm_history_prepare(from, "SELECT job, id, name FROM op_names ORDER BY job, id");
    sqlite3_stmt *const put = tm_history_prepare(to, "INSERT INTO op_names VALUES (?1, ?2, ?3)");

    while (put && step(from, read)) {
        const char *const job = text_of(read, 0, TM_KEY_BYTES), *const name = text_of(read, 2, TM_RESULT_OP_BYTES);
        const int64_t id = sqlite3_column_int64(read, 1);

        if (!job || !name || sqlite3_column_type(read, 1) != SQLITE_INTEGER || id < 1 || id > NAMES_MOST) {
            (void)tm_history_damaged(from, "a name of an operation is invalid");
            break;
        }
        if (sqlite3_bind_text(put, 1, job, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
            sqlite3_bind_int64(put, 2, id) != SQLITE_OK ||
            sqlite3_bind_text(put, 3, name, -1, SQLITE_TRANSIENT) != SQLITE_OK)
            (void)tm_history_fail(to);
        (void)step(to, put);
        (void)sqlite3_reset(put);
    }
    (void)sqlite3_finalize(put);
    (void)sqlite3_finalize(read);
}

tm_status tm_op_times_copy(struct tm_history *to, struct tm_history *from)
{
    sqlite3_stmt *read;
    struct tm_op_times times;

    if (!has_tables(from))
        return TM_OK;
    copy_names(to, from);
    read = tm_history_prepare(from, "SELECT job, run, times FROM op_times ORDER BY job, run");
    while (step(from, read)) {
        const char *const job = text_of(read, 0, TM_KEY_BYTES), *const id = text_of(read, 1, TM_RUN_ID_BYTES);

        if (!job || !id || !tm_is_run_id(id))
            (void)tm_history_damaged(from, "the times of a run are invalid");
        else if (!read_blob(from, read, 2, &times)) /* which has one form only: its bytes are those of encode */
            put(to, job, id, sqlite3_column_blob(read, 2), (size_t)sqlite3_column_bytes(read, 2));
    }
    (void)sqlite3_finalize(read);
    return from->run->error.status;
}

tm_status tm_op_times_limit(struct tm_history *history)
{
    char sql[512];
    sqlite3_stmt *jobs;

    (void)snprintf(sql, sizeof(sql), "SELECT job FROM op_times GROUP BY job HAVING count(*) > %d", TM_OP_TIMES_RUNS);
    jobs = tm_history_prepare(history, sql);
    (void)snprintf(sql, sizeof(sql),
                   "DELETE FROM op_times WHERE job = ?1 AND run NOT IN"
                   " (SELECT id FROM runs WHERE job = ?1 ORDER BY when_ns DESC, id DESC LIMIT %d)",
                   TM_OP_TIMES_RUNS);
    while (step(history, jobs)) {
        const char *const job = (const char *)sqlite3_column_text(jobs, 0);

        run_once(history, prepare(history, sql, &job, 1));
    }
    (void)sqlite3_finalize(jobs);
    return history->run->error.status;
}

/* Numbers of the names of a job: before, and in the next file (0 = it is not used). */
struct renaming {
    uint32_t *next;
    size_t count;
    bool changes; /* one of them */
};

static void renumber(struct tm_op_times *times, const struct renaming *names)
{
    for (int kind = 0; kind < TM_OP_KINDS; kind++) {
        for (size_t i = 0; i < times->count[kind]; i++)
            times->time[kind][i].name = names->next[times->time[kind][i].name];
        order(times, kind);
    }
}

/* Mark the names that are used; then number them, and write them. */
static void write_names(struct tm_history *history, const char *job, struct renaming *names)
{
    sqlite3_stmt *const blobs = prepare(history, "SELECT times FROM main.op_times WHERE job = ?1", &job, 1);
    sqlite3_stmt *const read =
        prepare(history, "SELECT id, name FROM main.op_names WHERE job = ?1 ORDER BY name", &job, 1);
    sqlite3_stmt *const put = prepare(history, "INSERT INTO next.op_names VALUES (?1, ?2, ?3)", &job, 1);
    struct tm_op_times times;
    uint32_t used = 0;

    while (step(history, blobs)) {
        if (read_blob(history, blobs, 0, &times))
            break;
        for (int kind = 0; kind < TM_OP_KINDS; kind++)
            for (size_t i = 0; i < times.count[kind]; i++)
                if (times.time[kind][i].name < names->count)
                    names->next[times.time[kind][i].name] = 1;
                else
                    (void)tm_history_damaged(history, "the times of a run have no names");
    }
    while (put && step(history, read)) {
        uint32_t *const next = &names->next[sqlite3_column_int64(read, 0)];

        if (*next == 0)
            continue;
        *next = ++used;
        names->changes |= used != sqlite3_column_int64(read, 0);
        if (sqlite3_bind_int64(put, 2, used) != SQLITE_OK ||
            sqlite3_bind_text(put, 3, (const char *)sqlite3_column_text(read, 1), -1, SQLITE_TRANSIENT) != SQLITE_OK)
            (void)tm_history_fail(history);
        (void)step(history, put);
        (void)sqlite3_reset(put);
    }
    (void)sqlite3_finalize(put);
    (void)sqlite3_finalize(read);
    (void)sqlite3_finalize(blobs);
}

/* The times of a job whose names have other numbers in the next file. */
static void write_renumbered(struct tm_history *history, const char *job, const struct renaming *names)
{
    sqlite3_stmt *read, *next;
    struct tm_op_times times;
    uint8_t blob[BLOB_BYTES];

    read = prepare(history, "SELECT run, times FROM main.op_times WHERE job = ?1 ORDER BY run", &job, 1);
    next = prepare(history, "INSERT INTO next.op_times VALUES (?1, ?2, ?3)", &job, 1);
    while (next && step(history, read) && !read_blob(history, read, 1, &times)) {
        renumber(&times, names);
        bind_blob(history, next, 3, blob, encode(blob, &times));
        if (sqlite3_bind_text(next, 2, (const char *)sqlite3_column_text(read, 0), -1, SQLITE_TRANSIENT) != SQLITE_OK)
            (void)tm_history_fail(history);
        (void)step(history, next);
        (void)sqlite3_reset(next);
    }
    (void)sqlite3_finalize(next);
    (void)sqlite3_finalize(read);
}

/* Most jobs have no new names, and none that are not used any more. */
static void write_job(struct tm_history *history, const char *job, struct renaming *names)
{
    static const char copy[] = "INSERT INTO next.op_times SELECT job, run, times FROM main.op_times WHERE job = ?1"
                               " ORDER BY run";

    write_names(history, job, names);
    if (names->changes)
        write_renumbered(history, job, names);
    else
        run_once(history, prepare(history, copy, &job, 1));
}

/* The highest number of a name of the job. */
static size_t last_number(struct tm_history *history, const char *job)
{
    sqlite3_stmt *const statement = prepare(history, "SELECT max(id) FROM main.op_names WHERE job = ?1", &job, 1);
    const size_t number = step(history, statement) ? (size_t)sqlite3_column_int64(statement, 0) : 0;

    (void)sqlite3_finalize(statement);
    return number;
}

tm_status tm_op_times_write(struct tm_history *history)
{
    sqlite3_stmt *const jobs = tm_history_prepare(history, "SELECT DISTINCT job FROM main.op_times ORDER BY job");
    struct tm_budget *const budget = &history->run->budget;

    while (step(history, jobs)) {
        const char *const job = (const char *)sqlite3_column_text(jobs, 0);
        struct renaming names = { .count = last_number(history, job) + 1 };
        const size_t bytes = names.count * sizeof(*names.next);

        names.next = tm_take(budget, TM_ACCOUNT_MODEL, bytes, &history->run->error);
        if (!names.next)
            break;
        memset(names.next, 0, bytes);
        write_job(history, job, &names);
        tm_give(budget, TM_ACCOUNT_MODEL, names.next, bytes);
    }
    (void)sqlite3_finalize(jobs);
    return history->run->error.status;
}
