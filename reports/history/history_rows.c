/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the history: into a statement, and out of one.  What comes out of a file is looked at like any input: ids become
 * names of folders. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/batch/result.h"
#include "pipeline/utf8.h"
#include "pipeline/version.h"
#include "reports/history/history_private.h"

enum { TEXT_BYTES_MOST = 4096 };

/* --- in --- */

/* A text without what SQL and JSON cannot hold: cut where it is too long, or ends to be UTF-8. */
static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    const size_t length = text ? tm_utf8_head(text, strnlen(text, TEXT_BYTES_MOST)) : 0;

    return length ? sqlite3_bind_text(statement, at, text, (int)length, SQLITE_STATIC) : sqlite3_bind_null(statement, at);
}

static int bind_column(sqlite3_stmt *statement, int at, const struct history_column *column, const struct tm_history_run *row)
{
    const char *const from = (const char *)row + column->offset;
    const char *text;
    int64_t number;

    switch (column->kind) {
    case COLUMN_TEXT:
        memcpy(&text, from, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the pointer is meant */
        return bind_text(statement, at, text);
    case COLUMN_ARRAY:
        return bind_text(statement, at, from);
    default:
        memcpy(&number, from, sizeof(number));
        return column->kind == COLUMN_COUNT && number < 0 ? sqlite3_bind_null(statement, at)
                                                          : sqlite3_bind_int64(statement, at, number);
    }
}

static tm_status run_once(struct tm_history *history, sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    tm_status st = code == SQLITE_DONE ? TM_OK : history_fail(history, history->db);

    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return st;
}

tm_status tm_history_put(struct tm_history *history, const struct tm_history_run *row)
{
    char sql[HISTORY_SQL_BYTES];
    int at = 1, code = SQLITE_OK;

    assert(history->is_renewed && !history->is_committed && tm_is_run_id(row->id));
    if (!history->put) {
        tm_status st = history_prepare(history, history_put_sql(sql), &history->put);

        if (st != TM_OK)
            return st;
    }
    for (size_t i = 0; i < history_column_count && code == SQLITE_OK; i++)
        code = bind_column(history->put, at++, &history_column[i], row);
    for (size_t i = 0; i < tm_figure_count && code == SQLITE_OK; i++, at++) {
        if (isfinite(row->figure[i]))
            code = sqlite3_bind_double(history->put, at, row->figure[i]);
    }
    return code == SQLITE_OK ? run_once(history, history->put) : history_fail(history, history->db);
}

tm_status tm_history_set_gates(struct tm_history *history, const char *id, const char *gates, const char *text)
{
    assert(history->is_renewed && !history->is_committed);
    if (!history->gates) {
        tm_status st = history_prepare(history, "UPDATE runs SET gates = ?2, gates_text = ?3 WHERE id = ?1",
                                       &history->gates);

        if (st != TM_OK)
            return st;
    }
    if (bind_text(history->gates, 1, id) != SQLITE_OK || bind_text(history->gates, 2, gates) != SQLITE_OK ||
        bind_text(history->gates, 3, text) != SQLITE_OK)
        return history_fail(history, history->db);
    return run_once(history, history->gates);
}

/* --- out --- */

bool history_read_text(sqlite3_stmt *statement, int at, bool has_value, const char **text)
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

static bool read_column(sqlite3_stmt *statement, int at, const struct history_column *column, struct tm_history_run *row)
{
    char *const to = (char *)row + column->offset;
    const char *text;
    int64_t number;

    switch (column->kind) {
    case COLUMN_TEXT:
        if (!history_read_text(statement, at, column->has_value, &text))
            return false;
        memcpy(to, &text, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the pointer is meant */
        return true;
    case COLUMN_ARRAY:
        if (!history_read_text(statement, at, column->has_value, &text) || strlen(text) >= column->bytes)
            return false;
        memcpy(to, text, strlen(text) + 1);
        return true;
    default:
        if (!read_number(statement, at, column, &number))
            return false;
        memcpy(to, &number, sizeof(number));
        return true;
    }
}

static bool read_figure(sqlite3_stmt *statement, int at, double *figure)
{
    const int type = sqlite3_column_type(statement, at);

    *figure = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, at);
    return type == SQLITE_NULL || ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(*figure));
}

/* What there is of a run lies in its folder, and nowhere else. */
static bool is_at_its_place(const char *path, const char *id, const char *name)
{
    const size_t length = strlen(id);

    return !*path || (strncmp(path, "runs/", 5) == 0 && strncmp(path + 5, id, length) == 0 &&
                      strcmp(path + 5 + length, name) == 0);
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

tm_status history_read_row(struct tm_history *history, sqlite3_stmt *statement, struct tm_history_run *row)
{
    size_t figure[TM_FIGURES_MOST];
    const size_t figures = history_figures(history->tables, figure);
    double value;
    const char *wrong = NULL;
    char what[TM_KEY_BYTES];
    int at = 0;

    row->definitions = 1;
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
    (void)snprintf(what, sizeof(what), "a row has a '%s' that cannot be right", wrong);
    return history_is_damaged(history, what);
}

static tm_status visit_all(struct tm_history *history, sqlite3_stmt *statement, tm_take_history_run *take, void *to)
{
    struct tm_history_run row;
    tm_status st = TM_OK;
    int code;

    while (st == TM_OK && (code = sqlite3_step(statement)) != SQLITE_DONE) {
        st = code == SQLITE_ROW ? history_read_row(history, statement, &row) : history_fail(history, history->db);
        if (st == TM_OK)
            st = take(to, &row);
    }
    return st;
}

tm_status tm_history_visit(struct tm_history *history, const struct tm_history_query *query, tm_take_history_run *take,
                           void *to)
{
    static const char *const orders[] = { [TM_HISTORY_BY_JOB] = "job, when_ns, id",
                                          [TM_HISTORY_BY_TIME] = "when_ns DESC, id DESC",
                                          [TM_HISTORY_BY_ID] = "id" };
    const struct tm_judged_night *const judged = query->judged;
    const char *const text[] = { query->job, judged ? judged->last : NULL, judged ? judged->until : query->until,
                                 query->after };
    char sql[512];
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    tm_status st;

    /* Of a night the few rows are sorted: by an index all rows would be fetched in its order ('+' turns it off). */
    (void)snprintf(sql, sizeof(sql), "SELECT * FROM runs WHERE %s AND %s AND %s AND %s ORDER BY %s%s LIMIT ?5",
                   query->job ? "job = ?1" : "?1 IS NULL", judged ? HISTORY_IS_JUDGED : "?2 IS NULL",
                   text[2] ? "night <= ?3" : "?3 IS NULL", query->after ? "night > ?4" : "?4 IS NULL",
                   (judged || query->after) && !query->job ? "+" : "", orders[query->order]);
    st = history_prepare(history, sql, &statement);
    for (int i = 0; st == TM_OK && code == SQLITE_OK && i < 4; i++)
        code = text[i] ? sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_STATIC) : SQLITE_OK;
    if (st == TM_OK && code == SQLITE_OK)
        code = sqlite3_bind_int64(statement, 5, query->most ? (sqlite3_int64)query->most : -1);
    if (st == TM_OK && code != SQLITE_OK)
        st = history_fail(history, history->db);
    if (st == TM_OK)
        st = visit_all(history, statement, take, to);
    (void)sqlite3_finalize(statement);
    return st;
}
