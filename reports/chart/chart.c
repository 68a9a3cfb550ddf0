/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing in memory: four growing arrays (marks, points, texts, table cells) in the account
 * `model`.  A report draws one chart at a time into the same arrays; the makers cap what they draw,
 * so a chart stays below a few hundred kilobytes whatever the trace holds. */
#include "reports/chart/chart.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/format/format.h"

enum { TEXT_MOST = 1024, FIRST_ROOM = 256, THOUSAND = 1000 };

const double tm_text_points[TM_TEXT_SIZES] = {
    [TM_TEXT_SMALL] = 8,
    [TM_TEXT_NORMAL] = 9.5,
    [TM_TEXT_STRONG] = 9.5,
};

void tm_chart_init(struct tm_chart *chart, struct tm_run *run, double width)
{
    *chart = (struct tm_chart){ .run = run, .width = width };
}

void tm_chart_free(struct tm_chart *chart)
{
    struct tm_budget *budget;

    if (!chart->run)
        return;
    budget = &chart->run->budget;
    if (chart->mark)
        tm_give(budget, TM_ACCOUNT_MODEL, chart->mark, chart->marks_room * sizeof(*chart->mark));
    if (chart->point)
        tm_give(budget, TM_ACCOUNT_MODEL, chart->point, chart->points_room * sizeof(*chart->point));
    if (chart->texts)
        tm_give(budget, TM_ACCOUNT_MODEL, chart->texts, chart->text_room);
    if (chart->table.cell)
        tm_give(budget, TM_ACCOUNT_MODEL, chart->table.cell,
                chart->table.cells_room * sizeof(*chart->table.cell));
    *chart = (struct tm_chart){ .run = NULL };
}

void tm_chart_clear(struct tm_chart *chart)
{
    chart->height = 0;
    chart->is_end_first = false;
    chart->title[0] = chart->caption[0] = 0;
    chart->marks = chart->points = chart->text_bytes = 0;
    chart->table.columns = 0;
    chart->table.cells = 0;
}

tm_status tm_chart_status(const struct tm_chart *chart)
{
    return chart->failed ? chart->run->error.status : TM_OK;
}

/* Make room for `more` items of `item_bytes`.  out: false and the chart has failed */
static bool make_room(struct tm_chart *chart, void **items, size_t *room, size_t used, size_t more,
                      size_t item_bytes)
{
    const size_t wanted = used + more;
    size_t next = *room ? *room : FIRST_ROOM;
    void *grown;

    if (chart->failed)
        return false;
    if (wanted <= *room)
        return true;
    while (next < wanted)
        next *= 2;
    grown = *items ? tm_retake(&chart->run->budget, TM_ACCOUNT_MODEL, *items, *room * item_bytes,
                               next * item_bytes, &chart->run->error)
                   : tm_take(&chart->run->budget, TM_ACCOUNT_MODEL, next * item_bytes,
                             &chart->run->error);
    if (!grown) {
        chart->failed = true;
        return false;
    }
    *items = grown;
    *room = next;
    return true;
}

/* Put a text in; offset 0 is the empty text. */
static uint32_t put_text(struct tm_chart *chart, const char *text)
{
    char seen[TEXT_MOST];
    const size_t bytes = tm_format_visible(seen, sizeof(seen), text, strlen(text)) + 1;
    const size_t first = chart->text_bytes == 0; /* the terminator at offset 0 */
    void *texts = chart->texts;
    uint32_t at;

    if ((bytes == 1 && !first) ||
        !make_room(chart, &texts, &chart->text_room, chart->text_bytes, bytes + first, 1))
        return 0;
    chart->texts = texts;
    if (first)
        chart->texts[chart->text_bytes++] = 0;
    at = (uint32_t)chart->text_bytes;
    memcpy(chart->texts + at, seen, bytes);
    chart->text_bytes += bytes;
    return at;
}

const char *tm_chart_text(const struct tm_chart *chart, uint32_t offset)
{
    return offset < chart->text_bytes ? chart->texts + offset : "";
}

static void put_mark(struct tm_chart *chart, struct tm_mark mark)
{
    void *marks = chart->mark;

    if (!make_room(chart, &marks, &chart->marks_room, chart->marks, 1, sizeof(mark)))
        return;
    chart->mark = marks;
    chart->mark[chart->marks++] = mark;
}

void tm_chart_rect(struct tm_chart *chart, enum tm_role role, double x, double y, double width,
                   double height)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_RECT,
                                      .role = (uint8_t)role,
                                      .x = x,
                                      .y = y,
                                      .width = width,
                                      .height = height });
}

static void put_line(struct tm_chart *chart, enum tm_role role, bool dashed, struct tm_point from,
                     struct tm_point to)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_LINE,
                                      .role = (uint8_t)role,
                                      .dashed = dashed,
                                      .x = from.x,
                                      .y = from.y,
                                      .width = to.x - from.x,
                                      .height = to.y - from.y,
                                      .thickness = dashed ? 1 : 0.6 });
}

void tm_chart_line(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2,
                   double y2)
{
    put_line(chart, role, false, (struct tm_point){ x1, y1 }, (struct tm_point){ x2, y2 });
}

void tm_chart_dashed(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2,
                     double y2)
{
    put_line(chart, role, true, (struct tm_point){ x1, y1 }, (struct tm_point){ x2, y2 });
}

void tm_chart_dot(struct tm_chart *chart, enum tm_role role, double x, double y, double radius)
{
    put_mark(chart,
             (struct tm_mark){
                 .kind = TM_MARK_DOT, .role = (uint8_t)role, .x = x, .y = y, .width = radius });
}

void tm_chart_string(struct tm_chart *chart, enum tm_role role, enum tm_text_size size,
                     enum tm_anchor anchor, double x, double y, const char *text)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_TEXT,
                                      .role = (uint8_t)role,
                                      .size = (uint8_t)size,
                                      .anchor = (uint8_t)anchor,
                                      .x = x,
                                      .y = y,
                                      .text = put_text(chart, text) });
}

void tm_chart_open(struct tm_chart *chart, const char *format, ...)
{
    char text[TEXT_MOST];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_OPEN, .text = put_text(chart, text) });
}

void tm_chart_close(struct tm_chart *chart)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_CLOSE });
}

void tm_chart_path(struct tm_chart *chart, enum tm_mark_kind kind, enum tm_role role,
                   double thickness)
{
    assert(kind == TM_MARK_POLYLINE || kind == TM_MARK_POLYGON);
    put_mark(chart, (struct tm_mark){ .kind = (uint8_t)kind,
                                      .role = (uint8_t)role,
                                      .thickness = thickness,
                                      .point_first = (uint32_t)chart->points });
}

void tm_chart_dashed_path(struct tm_chart *chart, enum tm_role role, double thickness)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_POLYLINE,
                                      .role = (uint8_t)role,
                                      .dashed = true,
                                      .thickness = thickness,
                                      .point_first = (uint32_t)chart->points });
}

void tm_chart_point(struct tm_chart *chart, double x, double y)
{
    void *points = chart->point;

    if (!make_room(chart, &points, &chart->points_room, chart->points, 1, sizeof(*chart->point)))
        return;
    chart->point = points;
    chart->point[chart->points++] = (struct tm_point){ x, y };
    if (chart->marks > 0)
        chart->mark[chart->marks - 1].point_count++;
}

void tm_chart_column(struct tm_chart *chart, const char *title, bool is_number)
{
    struct tm_chart_table *table = &chart->table;

    assert(table->columns < TM_CHART_COLUMNS && table->cells == 0);
    (void)snprintf(table->title[table->columns], sizeof(table->title[0]), "%s", title);
    table->is_number[table->columns] = is_number;
    table->columns++;
}

void tm_chart_cell(struct tm_chart *chart, const char *text)
{
    struct tm_chart_table *table = &chart->table;
    const uint32_t at = put_text(chart, text);
    void *cells = table->cell;

    if (!make_room(chart, &cells, &table->cells_room, table->cells, 1, sizeof(*table->cell)))
        return;
    table->cell = cells;
    table->cell[table->cells++] = at;
}

size_t tm_chart_rows(const struct tm_chart *chart)
{
    return chart->table.columns > 0 ? chart->table.cells / (size_t)chart->table.columns : 0;
}

/* Widths of Helvetica in thousandths of the font size, from the space on (Adobe's font metrics of
 * the standard 14 fonts).  Browsers set Arial or a near relative of the same widths. */
static const uint16_t helvetica[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584,
};

double tm_chart_text_width(const char *text, enum tm_text_size size)
{
    enum { OTHER = 600, BOLD_PCT = 107, SLACK_PCT = 120 };
    uint64_t total = 0;

    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at >= ' ' && *at <= '~')
            total += helvetica[*at - ' '];
        else if ((*at & 0xc0) != 0x80)
            total += OTHER;
    }
    if (size == TM_TEXT_STRONG)
        total = total * BOLD_PCT / 100;
    return (double)(total * SLACK_PCT) / 100 * tm_text_points[size] / THOUSAND;
}
