/* SPDX-License-Identifier: Apache-2.0 */
/* What became of operations, kernels, scopes ...: a section for each table of the comparison. */
#include <string.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

struct rows {
    const char *key;     /* of the table in the comparison, and id of the section */
    const char *name;    /* title of the first column */
    const char *group;   /* of the second one; NULL = none */
    enum tm_cell_kind kind; /* of the names */
};

static void add_columns(struct tm_side_columns *columns, const struct rows *rows, const struct tm_content *content)
{
    const struct tm_value *comparison = content->summary;
    const struct tm_value *first = tm_at(tm_get(tm_get(comparison, rows->key), "rows"), 0);
    const bool has_bytes = tm_has(tm_get(first, "bytes"));

    tm_side_columns_add(columns, rows->name, "name", (unsigned)rows->kind);
    if (rows->group)
        tm_side_columns_add(columns, rows->group, "group", TM_CELL_WORD | TM_WIDE);
    if (tm_get(first, "op"))
        tm_side_columns_add(columns, "Framework path", "op", TM_CELL_NAME | TM_WIDE);
    tm_side_columns_add_sides(columns, comparison, "", "values", TM_CELL_TIME | TM_SUMS);
    tm_side_columns_add_changes(columns, comparison, "Change", "change_ps", TM_CELL_TIME | TM_CHANGE | TM_SUMS);
    tm_side_columns_add_changes(columns, comparison, "In percent", "pct", TM_CELL_PCT | TM_CHANGE);
    tm_side_columns_add_changes(columns, comparison, "Became", "status", TM_CELL_TERM);
    tm_side_columns_add_sides(columns, comparison, "how often", "counts", TM_CELL_NUMBER | TM_WIDE);
    if (has_bytes)
        tm_side_columns_add_sides(columns, comparison, "bytes per step", "bytes", TM_CELL_BYTES | TM_WIDE);
    tm_side_columns_add_changes(columns, comparison, "By their number", "from_count_ps", TM_CELL_TIME | TM_CHANGE | TM_WIDE);
    tm_side_columns_add_changes(columns, comparison, "By their length", "from_length_ps", TM_CELL_TIME | TM_CHANGE | TM_WIDE);
    tm_side_columns_add_changes(columns, comparison, "p", "p", TM_CELL_NUMBER | TM_WIDE);
}

enum { PICKED_MOST = 64 };

/* In a short table, as that of the causes of idle time: rows of which any side has something.
 * out: pick  PICKED_MOST; returns their number */
static size_t pick_rows(size_t *pick, const struct tm_value *rows, size_t sides)
{
    size_t picks = 0;

    for (size_t r = 0; r < tm_length(rows); r++) {
        bool any = false;

        for (size_t side = 0; side < sides; side++)
            any |= tm_double(tm_at(tm_get(tm_at(rows, r), "values"), side)) > 0;
        if (any && picks < PICKED_MOST)
            pick[picks++] = r;
    }
    return picks;
}

static void say_rows(const struct tm_content *content, const struct rows *rows)
{
    const struct tm_value *table = tm_of(content, rows->key);
    const bool is_session = strcmp(tm_text(tm_get(table, "per")), "session") == 0;
    const bool is_picked = tm_length(tm_get(table, "rows")) <= PICKED_MOST;
    struct tm_side_columns columns = { .columns = 0 };
    size_t pick[PICKED_MOST];
    const size_t picks = is_picked ? pick_rows(pick, tm_get(table, "rows"), tm_side_count(content->summary)) : 0;

    add_columns(&columns, rows, content);
    tm_say_table(content, &(struct tm_table){ .id = rows->key,
                                              .caption = is_session ? "Time in the session, by the largest change" :
                                                                      "Time per step and device, by the largest change",
                                              .column = columns.column,
                                              .columns = columns.columns,
                                              .rows = tm_get(table, "rows"),
                                              .pick = is_picked ? pick : NULL,
                                              .picks = picks,
                                              .is_only_picked = is_picked,
                                              .rest = tm_get(table, "rest"),
                                              .total = tm_get(table, "total"),
                                              .total_title = "all" });
}

/* One section for each table. */
#define ROWS_SECTION(variable, id, title, name, group, kind)                        \
    static void say_##variable(const struct tm_content *content)                    \
    {                                                                               \
        say_rows(content, &(const struct rows){ id, name, group, kind });           \
    }                                                                               \
    static const char *none_of_##variable(const struct tm_value *comparison)        \
    {                                                                               \
        return tm_if_none(comparison, id ".rows", "no side has any");               \
    }                                                                               \
    const struct tm_section tm_compared_##variable##_section = { id, title, id, say_##variable, none_of_##variable };

ROWS_SECTION(ops, "ops", "Operations", "Operation", "Category", TM_CELL_NAME)
ROWS_SECTION(kernels, "kernels", "Kernels", "Kernel", "Category", TM_CELL_NAME)
ROWS_SECTION(scopes, "scopes", "Scopes", "Scope", "Pass", TM_CELL_NAME)
ROWS_SECTION(collectives, "collectives", "Collectives", "Collective", "Group", TM_CELL_NAME)
ROWS_SECTION(transfers, "transfers", "Transfers", "Direction", NULL, TM_CELL_DIRECTION)
ROWS_SECTION(gaps, "gaps", "Idle time", "Cause", NULL, TM_CELL_CAUSE)
ROWS_SECTION(compile, "compile", "Compilations", "Module", "Group", TM_CELL_NAME)
