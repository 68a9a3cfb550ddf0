/* SPDX-License-Identifier: Apache-2.0 */
/* The identities that the figures satisfy, with their numbers. */
#include "reports/content/say.h"

enum { ROWS_MOST = 32 };

static const char *result_of(const struct tm_value *check)
{
    const struct tm_value *holds = tm_get(check, "holds");

    return !tm_has(holds) ? "not applicable" : tm_is(holds) ? "holds" : "failed";
}

/* Exact numbers: a difference of a picosecond is one. */
static void say_checks(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Check", "title", TM_CELL_PROSE },       { "Result", "holds", TM_CELL_WORD },
        { "Expected", "expected", TM_CELL_COUNT }, { "Found", "found", TM_CELL_COUNT },
        { "Unit", "unit", TM_CELL_WORD },          { "Where", "where", TM_CELL_NAME | TM_RARE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    const struct tm_value *list = tm_of(content, "checks");
    struct tm_cell cell[ROWS_MOST][COLUMNS];
    size_t rows = 0;

    for (; rows < tm_length(list) && rows < ROWS_MOST; rows++) {
        const struct tm_value *check = tm_at(list, rows);

        for (size_t i = 0; i < COLUMNS; i++)
            cell[rows][i] = tm_cell_of_value(tm_column_kind(&columns[i]), tm_get(check, columns[i].key));
        cell[rows][1] = tm_cell_of_text(TM_CELL_WORD, result_of(check));
        cell[rows][5] = tm_cell_of_text(TM_CELL_NAME, tm_text(tm_get(check, "where")));
    }
    tm_say_table(content, &(struct tm_table){ .id = "checks",
                                              .caption = "Identities verified on this input",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = rows,
                                              .paper_rows = ROWS_MOST });
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "checks", "no trace was read");
}

const struct tm_section tm_checks_section = { "checks", "Checks", "checks", say_checks, nothing };
