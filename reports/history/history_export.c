/* SPDX-License-Identifier: Apache-2.0 */
/* The history as JSON Lines (schemas/history.schema.json). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/history/history_private.h"

struct export {
    struct tm_run *run;
    FILE *to;
};

static void add_column(struct tm_value *to, const struct history_column *column, const struct tm_history_run *row)
{
    const char *const from = (const char *)row + column->offset, *text = from;
    int64_t number;

    switch (column->kind) {
    case COLUMN_TEXT:
        memcpy(&text, from, sizeof(text)); /* NOLINT(bugprone-sizeof-expression): the pointer is meant */
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
    tm_status st;

    if (!doc)
        return e->run->error.status;
    shown.severity = tm_history_severity(row);
    for (size_t i = 0; i < history_column_count; i++)
        add_column(tm_doc_root(doc), &history_column[i], &shown);
    for (size_t i = 0; i < tm_figure_count; i++) {
        if (isfinite(row->figure[i]))
            tm_add_double(tm_doc_root(doc), tm_figure_table[i].id, row->figure[i]);
    }
    st = tm_doc_status(doc);
    if (st == TM_OK)
        tm_value_print_line(tm_doc_root(doc), e->to);
    tm_doc_free(doc);
    return st == TM_OK && ferror(e->to)
               ? tm_fail_system(&e->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the rows")
               : st;
}

tm_status tm_history_export(struct tm_history *history, FILE *to)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };
    struct export e = { history->run, to };

    return tm_history_visit(history, &all, print_row, &e);
}
