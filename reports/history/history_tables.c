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

/* The figures of versions 1 and 2, which never change: what is no figure any more is not read. */
static const char *const first_figures[] = {
    "step_time_ps", "step_p95_ps", "device_utilization_pct", "mfu_pct", "compute_ps", "exposed_collective_ps",
    "exposed_copy_ps", "idle_ps", "idle_launch_ps", "idle_input_ps", "idle_sync_ps", "idle_compile_ps",
    "idle_host_ps", "idle_device_wait_ps", "host_overhead_pct", "exposed_collective_pct", "transfer_share_pct",
    "imbalance_pct", "memory_bandwidth_pct", "occupancy_pct", "kernel_duration_ps", "small_kernel_share_pct",
    "top_op_share_pct", "compile_time_ps", "unexpected_compiles", "peak_memory_pct", "peak_memory_bytes",
    "collective_overlap_pct", "kernels_per_step", "launches_per_step", "steps", "events_read",
};

size_t history_figures(int64_t tables, size_t figure[TM_FIGURES_MOST])
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

const char *history_object(char sql[HISTORY_SQL_BYTES], const char *schema, int64_t tables, size_t index)
{
    static const char *const by[][2] = { { "runs_by_job", "job, when_ns, id" }, { "runs_by_time", "when_ns, id" } };
    const char *const dot = *schema ? "." : "";
    struct words w = { sql, 0 };
    size_t figure[TM_FIGURES_MOST];

    if (index > sizeof(by) / sizeof(by[0]))
        return NULL;
    if (index > 0) {
        add(&w, "CREATE INDEX %s%s%s ON runs (%s)", schema, dot, by[index - 1][0], by[index - 1][1]);
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

/* Whether the same run stands there, worked from the same by the same program: no other column tells that something was
 * worked.  What pruning takes away does not. */
static const char same_run[] = "job IS excluded.job AND night IS excluded.night AND status IS excluded.status"
                               " AND fingerprint IS excluded.fingerprint AND options IS excluded.options"
                               " AND version IS excluded.version AND definitions IS excluded.definitions";

/* What gates said stays with what they said it of, and a run on the page that judged it. */
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
                " AND options IS excluded.options AND definitions IS excluded.definitions THEN %s ELSE excluded.%s END, ",
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
        const char *const wanted = history_object(sql, "", history->tables, i);
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
