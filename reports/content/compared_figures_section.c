/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of the sides beside each other. */
#include <string.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

enum { FIGURES_MOST = 96 };

/* Figures differ in kind, row by row. */
static enum tm_cell_kind kind_of(const struct tm_value *figure)
{
    static const struct {
        const char *word;
        enum tm_cell_kind kind;
    } kinds[] = { { "time", TM_CELL_TIME }, { "pct", TM_CELL_PCT },   { "count", TM_CELL_COUNT },
                  { "bytes", TM_CELL_BYTES }, { "rate", TM_CELL_RATE } };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(tm_text(tm_get(figure, "kind")), kinds[i].word) == 0)
            return kinds[i].kind;
    return TM_CELL_NUMBER;
}

static bool is_value(const struct tm_column *column)
{
    return strncmp(column->key, "values[", 7) == 0 || strstr(column->key, "].change");
}

static void fill_row(struct tm_cell *cell, const struct tm_side_columns *columns, const struct tm_value *figure)
{
    for (size_t c = 0; c < columns->columns; c++) {
        const struct tm_column *column = &columns->column[c];
        const enum tm_cell_kind kind = is_value(column) ? kind_of(figure) : tm_column_kind(column);

        cell[c] = tm_cell_of_value(kind, tm_path(figure, column->key));
        cell[c].is_change = column->shape & TM_CHANGE;
    }
}

static void say_figures(const struct tm_content *content)
{
    const struct tm_value *figures = tm_of(content, "figures");
    struct tm_side_columns columns = { .columns = 0 };
    static struct tm_cell cell[FIGURES_MOST * TM_TABLE_COLUMNS_MOST]; /* too much for a small stack */
    size_t rows = 0;

    tm_side_columns_add(&columns, "Figure", "title", TM_CELL_WORD);
    tm_side_columns_add_sides(&columns, content->summary, "", "values", TM_CELL_NUMBER);
    tm_side_columns_add_changes(&columns, content->summary, "Change", "change", TM_CELL_NUMBER | TM_CHANGE | TM_WIDE);
    tm_side_columns_add_changes(&columns, content->summary, "In percent", "pct", TM_CELL_PCT | TM_CHANGE);
    tm_side_columns_add_changes(&columns, content->summary, "Judgement", "judgement", TM_CELL_TERM);
    tm_side_columns_add(&columns, "Path in the summary", "id", TM_CELL_NAME | TM_WIDE);
    for (; rows < tm_length(figures) && rows < FIGURES_MOST; rows++)
        fill_row(&cell[rows * columns.columns], &columns, tm_at(figures, rows));
    tm_say_table(content, &(struct tm_table){ .id = "figures",
                                              .caption = "Figures",
                                              .column = columns.column,
                                              .columns = columns.columns,
                                              .cells = cell,
                                              .cell_rows = rows,
                                              .paper_rows = FIGURES_MOST });
}

const struct tm_section tm_compared_figures_section = { "figures", "Figures", "figures", say_figures, NULL };
