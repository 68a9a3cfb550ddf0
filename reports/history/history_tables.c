/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of history.db (schemas/BATCH.md).  A file counts as a history only if the text of every statement that made
 * it is one of these, to the byte: nothing that a stranger put into a file (a trigger, a view, a column that is computed)
 * is ever run. */
#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "reports/history/history_private.h"

#define TEXT(member) COLUMN_TEXT, offsetof(struct tm_history_run, member), 0
#define ARRAY(member)                                                                              \
    COLUMN_ARRAY, offsetof(struct tm_history_run, member),                                         \
        sizeof(((struct tm_history_run *)NULL)->member)
#define NUMBER(member) COLUMN_NUMBER, offsetof(struct tm_history_run, member), 0
#define COUNT(member) COLUMN_COUNT, offsetof(struct tm_history_run, member), 0

const struct history_column history_column[] = {
    { "id", "TEXT PRIMARY KEY", TEXT(id), true },
    { "name", "TEXT", TEXT(name), false },
    { "path", "TEXT", TEXT(path), false },
    { "job", "TEXT NOT NULL", ARRAY(keys.job), true },
    { "night", "TEXT NOT NULL", ARRAY(keys.night), true },
    { "when_ns", "INTEGER NOT NULL", NUMBER(keys.when_ns), true },
    { "revision", "TEXT", ARRAY(keys.revision), false },
    { "label", "TEXT", ARRAY(keys.label), false },
    { "training", "TEXT", ARRAY(keys.training), false },
    { "step", "INTEGER", COUNT(keys.step), false },
    { "status", "TEXT NOT NULL", TEXT(status), true },
    { "message", "TEXT", TEXT(message), false },
    { "report", "TEXT", TEXT(report), false },
    { "summary", "TEXT", TEXT(summary), false },
    { "platform", "TEXT", TEXT(platform), false },
    { "model", "TEXT", TEXT(model), false },
    { "hosts", "INTEGER", COUNT(hosts), false },
    { "devices", "INTEGER", COUNT(devices), false },
    { "verdict", "TEXT", TEXT(verdict), false },
    { "severity", "TEXT", TEXT(severity), false },
    { "finding", "TEXT", TEXT(finding), false },
    { "gates", "TEXT", TEXT(gates), false },
    { "gates_text", "TEXT", TEXT(gates_text), false },
    { "fingerprint", "TEXT", TEXT(fingerprint), false },
    { "options", "TEXT", TEXT(options), false },
    { "version", "TEXT", TEXT(version), false },
};
const size_t history_column_count = sizeof(history_column) / sizeof(history_column[0]);

/* --- statements --- */

/* A text that is put together; what does not fit is a mistake of the program. */
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

const char *history_object(char sql[HISTORY_SQL_BYTES], const char *schema, size_t index)
{
    static const char *const by[][2] = { { "runs_by_job", "job, when_ns, id" }, { "runs_by_time", "when_ns, id" } };
    const char *const dot = *schema ? "." : "";
    struct words w = { sql, 0 };

    if (index > sizeof(by) / sizeof(by[0]))
        return NULL;
    if (index > 0) {
        add(&w, "CREATE INDEX %s%s%s ON runs (%s)", schema, dot, by[index - 1][0], by[index - 1][1]);
        return sql;
    }
    add(&w, "CREATE TABLE %s%sruns (", schema, dot);
    for (size_t i = 0; i < history_column_count; i++)
        add(&w, "%s%s %s", i ? ", " : "", history_column[i].name, history_column[i].type);
    for (size_t i = 0; i < tm_figure_count; i++)
        add(&w, ", %s REAL", tm_figure_table[i].id);
    add(&w, ") WITHOUT ROWID");
    return sql;
}

static const char *column_name(size_t i)
{
    return i < history_column_count ? history_column[i].name : tm_figure_table[i - history_column_count].id;
}

/* What gates said stays with what they said it of. */
const char *history_put_sql(char sql[HISTORY_SQL_BYTES])
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
                " AND options IS excluded.options THEN %s ELSE excluded.%s END, ",
                name, name, name);
        else
            add(&w, "%s = excluded.%s, ", name, name);
    }
    w.used -= 2;
    sql[w.used] = '\0';
    return sql;
}

/* --- the file's --- */

bool history_has_tables(struct tm_history *history, char extra[TM_KEY_BYTES])
{
    char sql[HISTORY_SQL_BYTES];
    sqlite3_stmt *statement = NULL;
    bool is_same = true;

    extra[0] = '\0';
    if (sqlite3_prepare_v2(history->db, "SELECT name, sql FROM sqlite_schema ORDER BY rowid", -1, &statement, NULL) !=
        SQLITE_OK)
        return false;
    for (size_t i = 0; is_same; i++) {
        const char *const wanted = history_object(sql, "", i);
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
