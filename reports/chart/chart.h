/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHART_H
#define TM_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/attributes.h"
#include "pipeline/run.h"
#include "reports/chart/palette.h"

/* A drawing that does not know its page: marks in points (1/72 inch), origin at the top left, y
 * downwards. The makers (charts.h) put marks in, the back ends (svg.h, the PDF writer) walk them in
 * order, later marks above earlier ones.  Beside the drawing a chart has a title, a caption and the
 * table of the same figures. Texts may hold names of a trace: valid UTF-8 without control
 * characters, to be escaped by the back end. */
enum tm_mark_kind {
    TM_MARK_RECT, /* x, y = top left; width, height; filled with role */
    TM_MARK_LINE, /* from x, y to x + width, y + height; stroked, `thickness` wide; dashed or not */
    TM_MARK_POLYLINE, /* point_count points from point_first; stroked */
    TM_MARK_POLYGON,  /* likewise; filled and closed */
    TM_MARK_DOT,      /* centre x, y; radius = width; filled */
    TM_MARK_TEXT,     /* baseline at x, y; anchor says which end of the text x is */
    TM_MARK_OPEN,     /* a group begins; its text is what a pointer over it shows ("" = none) */
    TM_MARK_CLOSE,
};

enum tm_anchor { TM_ANCHOR_START, TM_ANCHOR_MIDDLE, TM_ANCHOR_END };

enum tm_text_size { TM_TEXT_SMALL, TM_TEXT_NORMAL, TM_TEXT_STRONG, TM_TEXT_SIZES };
extern const double tm_text_points[TM_TEXT_SIZES]; /* font size; STRONG is NORMAL in bold */

struct tm_mark {
    uint8_t kind;   /* enum tm_mark_kind */
    uint8_t role;   /* enum tm_role */
    uint8_t size;   /* enum tm_text_size */
    uint8_t anchor; /* enum tm_anchor */
    bool dashed;
    double x, y, width, height, thickness;
    uint32_t text; /* offset into texts: tm_chart_text */
    uint32_t point_first, point_count;
};

struct tm_point {
    double x, y;
};

enum { TM_CHART_TITLE = 160, TM_CHART_CAPTION = 768, TM_CHART_COLUMNS = 24 };

/* The figures of the chart as a table: cells of row r, column c at r * columns + c. */
struct tm_chart_table {
    int columns;
    char title[TM_CHART_COLUMNS][40];
    bool is_number[TM_CHART_COLUMNS]; /* right-aligned */
    uint32_t *cell;                   /* offsets into texts */
    size_t cells, cells_room;
};

struct tm_chart {
    struct tm_run *run;
    double width, height;           /* of the drawing; width is given, height is the maker's */
    char title[TM_CHART_TITLE];     /* "Device time": the heading, not part of the drawing */
    char caption[TM_CHART_CAPTION]; /* what is drawn, of how many, what was left out: below the
                                       drawing */
    bool is_end_first; /* where there is no room for all of it, its right end is to be seen first */
    struct tm_mark *mark;
    size_t marks, marks_room;
    struct tm_point *point;
    size_t points, points_room;
    char *texts;
    size_t text_bytes, text_room;
    struct tm_chart_table table;
    bool failed; /* run->error tells; further calls do nothing */
};

/* Start an empty chart.  in: width  points, at least 300; memory comes from the account `model` */
void tm_chart_init(struct tm_chart *chart, struct tm_run *run, double width);
void tm_chart_free(struct tm_chart *chart); /* tolerates a zeroed one */
/* Empty it for the next drawing; keeps width and memory. */
void tm_chart_clear(struct tm_chart *chart);
tm_status tm_chart_status(const struct tm_chart *chart) TM_MUST_USE;

/* Putting marks in.  Texts are copied, made visible (format.h) and cut at 1 KiB. */
void tm_chart_rect(struct tm_chart *chart, enum tm_role role, double x, double y, double width,
                   double height);
void tm_chart_line(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2,
                   double y2);
void tm_chart_dashed(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2,
                     double y2);
void tm_chart_dot(struct tm_chart *chart, enum tm_role role, double x, double y, double radius);
void tm_chart_string(struct tm_chart *chart, enum tm_role role, enum tm_text_size size,
                     enum tm_anchor anchor, double x, double y, const char *text);
void tm_chart_open(struct tm_chart *chart, const char *format, ...) TM_PRINTF(2, 3);
void tm_chart_close(struct tm_chart *chart);
/* A polyline or polygon: begin it, then give its points. */
void tm_chart_path(struct tm_chart *chart, enum tm_mark_kind kind, enum tm_role role,
                   double thickness);
void tm_chart_dashed_path(struct tm_chart *chart, enum tm_role role, double thickness);
void tm_chart_point(struct tm_chart *chart, double x, double y);

/* The table beside the drawing: columns first, then cells row by row. */
void tm_chart_column(struct tm_chart *chart, const char *title, bool is_number);
void tm_chart_cell(struct tm_chart *chart, const char *text);

/* Reading, for the back ends. */
const char *tm_chart_text(const struct tm_chart *chart, uint32_t offset);
size_t tm_chart_rows(const struct tm_chart *chart);

/* Room that a text needs, in points: its width in Helvetica and a fifth more, since browsers may
 * take a wider face.  What is not ASCII counts as an average character. */
double tm_chart_text_width(const char *text, enum tm_text_size size);

#endif
