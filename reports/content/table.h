/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TABLE_H
#define TM_TABLE_H

#include "reports/content/cell.h"

/* A table as a section gives it: rows of the summary, and which values of a row are shown, under which title.  Every
 * medium writes the same table; what differs is how many rows and columns it has room for. */
enum { TM_TABLE_COLUMNS_MOST = 24, TM_PAPER_ROWS = 15, TM_REASONS_MOST = 2 /* told of the empty cells of a column */ };

enum {
    TM_WIDE = 1 << 8,    /* shown where there is room: on screens and in CSV, not on paper */
    TM_SUMS = 1 << 9,    /* rows that are not listed are summed up in one */
    TM_CHANGE = 1 << 11, /* numbers are shown with their sign */
    TM_GIVEN = 1 << 12,  /* of what only some users give: left out without a word where no row has it */
    TM_RARE = 1 << 10,   /* of what many runs do not have: left out where it is 0, or "no", in all rows */
};

struct tm_column {
    const char *title;
    const char *key; /* path in a row; "" = the row's own name, where the rows are members of an object */
    unsigned shape;  /* enum tm_cell_kind, with TM_WIDE, TM_SUMS, TM_RARE, TM_GIVEN, TM_CHANGE */
};

static inline enum tm_cell_kind tm_column_kind(const struct tm_column *column)
{
    return (enum tm_cell_kind)(column->shape & (TM_WIDE - 1));
}

struct tm_table {
    const char *id;      /* [a-z0-9-], unique in a report: its anchor, the name of its CSV file */
    const char *caption; /* what the rows are, short; any bytes */
    const struct tm_column *column;
    size_t columns;

    /* The rows: elements of an array or members of an object of the summary, all of them in order, or those picked.
     * A table that is no list of the summary gives its cells instead, row by row. */
    const struct tm_value *rows;
    const size_t *pick; /* NULL = all; lives until the table is written */
    size_t picks;
    bool is_only_picked;         /* what is not picked is no row of the table: nobody counts it as left out */
    const struct tm_cell *cells; /* columns x cell_rows */
    size_t cell_rows;

    const struct tm_value *rest;  /* {"rows", and what adds up} of rows that the summary does not list; NULL */
    const struct tm_value *total; /* a last row with what lies there under the columns' keys; NULL */
    const char *total_title;      /* of that row, where there is one: "all kernels" */
    size_t paper_rows;            /* at most on paper; 0 = TM_PAPER_ROWS */
    size_t screen_rows;           /* at most where --rows asked for fewer than a medium has room for; 0 = as many */
    const char *depth;            /* path to the depth of a row in a tree whose rows stand in order; NULL = no tree */
    const char *anchor;           /* rows can be linked to, as "anchor-N"; NULL = not */
    const int *anchors;           /* N of each row; NULL = its place */
    bool repeats_chart;           /* a chart before it has the same figures */
};
#define TM_COLUMNS(list) .column = (list), .columns = sizeof(list) / sizeof((list)[0])

/* What a medium has room for. */
struct tm_room {
    bool is_paper;  /* columns with TM_WIDE are left out */
    bool has_links; /* to other files */
    bool is_data;   /* for programs: all facts in every report, whatever they hold */
    size_t rows;    /* at most, of a table; paper takes less: tm_table.paper_rows */
};

/* Which columns and rows of a table are shown. */
struct tm_layout {
    const struct tm_table *table;
    const struct tm_value *summary;
    size_t column[TM_TABLE_COLUMNS_MOST]; /* the places of those that are shown */
    size_t columns;
    struct {
        const char *title;
        const char *text; /* why its cells are empty, or the value that all of its cells have */
        bool is_same;     /* the value; else the reason */
        bool is_shown;    /* the column has other cells that are not empty */
    } note[TM_TABLE_COLUMNS_MOST * TM_REASONS_MOST]; /* columns left out with a word, and columns with empty cells */
    size_t notes;
    size_t rows;           /* listed */
    int64_t rows_left_out; /* of the table and of the summary's rest */
};

/* Columns of which no row has a value are left out, and those with TM_RARE of which all are 0; those whose value is the
 * same in all rows (programs, devices, terms, sentences) become a note, as do the reasons for what is null. */
void tm_table_lay_out(struct tm_layout *layout, const struct tm_table *table, const struct tm_value *summary,
                      const struct tm_room *room);

size_t tm_table_rows(const struct tm_table *table); /* all it has */

/* Rows of the table that are not among the first `listed` ones, with those that the summary itself does not list.
 * in: listed  at most tm_table_rows */
int64_t tm_table_left_out(const struct tm_table *table, size_t listed);

/* A cell; row below tm_table_rows, column below table->columns. */
struct tm_cell tm_table_cell(const struct tm_table *table, size_t row, size_t column);
/* Where the first cell of a row leads; NULL = nowhere. */
const char *tm_table_link(const struct tm_table *table, size_t row);
/* How far a row is indented: its depth in the tree, 0 without one. */
int tm_table_depth(const struct tm_table *table, size_t row);

/* Is there something to sum up of the rows that are not listed?  Else their number is all there is to say. */
bool tm_layout_has_sums(const struct tm_layout *layout);

/* The row that sums up what is not listed, and the row of the total; the first shown column holds their title.
 * in:     column  of the table; not the first one shown */
struct tm_cell tm_layout_rest(const struct tm_layout *layout, size_t column);
struct tm_cell tm_layout_total(const struct tm_layout *layout, size_t column);
/* "1,234 further rows".  out: TM_FORMAT_BYTES, returned */
const char *tm_layout_rest_title(const struct tm_layout *layout, char *out);

#endif
