/* SPDX-License-Identifier: Apache-2.0 */
/* The nights of a history: which one is the last, and which runs are told and judged with it. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline/batch/result.h"
#include "reports/history/history_private.h"

enum { DAY_S = 86400 };

void tm_history_until(char until[11])
{
    const char *const text = getenv("SOURCE_DATE_EPOCH");
    struct tm day = { .tm_isdst = 0 };
    int64_t now = (int64_t)time(NULL), told = 0;
    char *end = NULL;
    time_t tomorrow;

    errno = 0;
    if (text && *text >= '0' && *text <= '9')
        told = strtoll(text, &end, 10);
    if (end && !*end && !errno && told > now && told < INT32_MAX * (int64_t)DAY_S)
        now = told;
    tomorrow = (time_t)(now + DAY_S);
    if (!gmtime_r(&tomorrow, &day) || strftime(until, 11, "%Y-%m-%d", &day) != 10)
        (void)snprintf(until, 11, "9999-12-31");
}

/* in: until  ?1;  number  ?2 */
static tm_status ask_night(struct tm_history *history, const char *sql, const char *until, uint64_t number, char night[11])
{
    sqlite3_stmt *statement = NULL;
    const char *text = "";
    tm_status st = history_prepare(history, sql, &statement);
    int code;

    night[0] = '\0';
    if (st == TM_OK &&
        (sqlite3_bind_text(statement, 1, until, -1, SQLITE_STATIC) != SQLITE_OK ||
         (sqlite3_bind_parameter_count(statement) > 1 &&
          sqlite3_bind_int64(statement, 2, number < INT64_MAX ? (sqlite3_int64)number : INT64_MAX) != SQLITE_OK)))
        st = history_fail(history, history->db);
    code = st == TM_OK ? sqlite3_step(statement) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        st = history_fail(history, history->db);
    if (code == SQLITE_ROW && (!history_read_text(statement, 0, false, &text) || strlen(text) >= 11))
        st = history_is_damaged(history, "a row has a 'night' that cannot be right");
    if (st == TM_OK)
        (void)snprintf(night, 11, "%s", text);
    (void)sqlite3_finalize(statement);
    return st;
}

tm_status tm_history_last_night(struct tm_history *history, struct tm_judged_night *judged)
{
    return ask_night(history, "SELECT max(night) FROM runs WHERE night <= ?1", judged->until, 0, judged->last);
}

tm_status tm_history_oldest_of(struct tm_history *history, const char *until, uint64_t nights, char night[11])
{
    static const char sql[] = "SELECT DISTINCT night FROM runs WHERE night <= ?1 ORDER BY night DESC LIMIT 1 OFFSET ?2";
    char older[11];
    tm_status st = ask_night(history, sql, until, nights, older);

    night[0] = '\0';
    if (st != TM_OK || !older[0])
        return st;
    return ask_night(history, sql, until, nights - 1, night);
}

tm_status tm_history_settle(struct tm_history *history, struct tm_judged_night *judged)
{
    sqlite3_stmt *statement = NULL;
    tm_status st = tm_history_last_night(history, judged);

    assert(history->is_renewed && !history->is_committed);
    if (st != TM_OK || !judged->last[0])
        return st;
    st = history_prepare(history, "UPDATE runs SET page = ?1 WHERE page IS NULL AND night <= ?2", &statement);
    if (st == TM_OK && (sqlite3_bind_text(statement, 1, judged->last, -1, SQLITE_STATIC) != SQLITE_OK ||
                        sqlite3_bind_text(statement, 2, judged->until, -1, SQLITE_STATIC) != SQLITE_OK ||
                        sqlite3_step(statement) != SQLITE_DONE))
        st = history_fail(history, history->db);
    (void)sqlite3_finalize(statement);
    return st;
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
