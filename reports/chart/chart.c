/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing in memory: four growing arrays (marks, points, texts, table cells) in the account
 * `model`.  A report draws one chart at a time into the same arrays; the makers cap what they draw,
 * so a chart stays below a few hundred kilobytes whatever the trace holds. */
#include "reports/chart/chart.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/run.h"
#include "reports/chart/makers.h"
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
        tm_give(budget, TM_ACCOUNT_MODEL, chart->table.cell, chart->table.cells_room * sizeof(*chart->table.cell));
    *chart = (struct tm_chart){ .run = NULL };
}

void tm_chart_clear(struct tm_chart *chart)
{
    chart->height = 0;
    chart->columns = 0;
    chart->title[0] = chart->caption[0] = 0;
    chart->marks = chart->points = chart->text_bytes = 0;
    chart->table.columns = 0;
    chart->table.cells = 0;
}

/* Make room for `more` items of `item_bytes`.  out: false and the chart has failed */
static bool make_room(struct tm_chart *chart, void **items, size_t *room, size_t used, size_t more, size_t item_bytes)
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
    grown = *items ? tm_retake(&chart->run->budget, TM_ACCOUNT_MODEL, *items, *room * item_bytes, next * item_bytes,
                               &chart->run->error)
                   : tm_take(&chart->run->budget, TM_ACCOUNT_MODEL, next * item_bytes, &chart->run->error);
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

    if ((bytes == 1 && !first) || !make_room(chart, &texts, &chart->text_room, chart->text_bytes, bytes + first, 1))
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

void tm_chart_rect(struct tm_chart *chart, enum tm_role role, double x, double y, double width, double height)
{
    put_mark(chart,
             (struct tm_mark){
                 .kind = TM_MARK_RECT, .role = (uint8_t)role, .x = x, .y = y, .width = width, .height = height });
}

const double tm_chart_thin = 0.6;

static void put_line(struct tm_chart *chart, enum tm_role role, bool dashed, struct tm_point from, struct tm_point to)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_LINE,
                                      .role = (uint8_t)role,
                                      .dashed = dashed,
                                      .x = from.x,
                                      .y = from.y,
                                      .width = to.x - from.x,
                                      .height = to.y - from.y,
                                      .thickness = dashed ? 1 : tm_chart_thin });
}

void tm_chart_line(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2, double y2)
{
    put_line(chart, role, false, (struct tm_point){ x1, y1 }, (struct tm_point){ x2, y2 });
}

void tm_chart_dashed(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2, double y2)
{
    put_line(chart, role, true, (struct tm_point){ x1, y1 }, (struct tm_point){ x2, y2 });
}

void tm_chart_dot(struct tm_chart *chart, enum tm_role role, double x, double y, double radius)
{
    put_mark(chart, (struct tm_mark){ .kind = TM_MARK_DOT, .role = (uint8_t)role, .x = x, .y = y, .width = radius });
}

void tm_chart_string(struct tm_chart *chart, enum tm_role role, enum tm_text_size size, enum tm_anchor anchor, double x,
                     double y, const char *text)
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

void tm_chart_path(struct tm_chart *chart, enum tm_mark_kind kind, enum tm_role role, double thickness)
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

void tm_chart_columns(struct tm_chart *chart, const char *titles)
{
    while (*titles) {
        const bool is_number = *titles == '#';
        const size_t length = strcspn(titles += is_number, ",");
        char title[sizeof(chart->table.title[0])];

        (void)snprintf(title, sizeof(title), "%.*s", (int)length, titles);
        tm_chart_column(chart, title, is_number);
        titles += length + strspn(titles + length, ", ");
    }
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
 * the standard 14 fonts).  Browsers use Arial or a similar font of the same widths. */
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

/* Scales with steps of 1, 2 or 5 times a power of ten (times, numbers, percent) or a power of two (bytes). */

enum { TICKS_MOST = 64 };

static double round_step(enum tm_axis_kind kind, double rough)
{
    double power, times;

    if (kind == TM_AXIS_BYTES)
        return exp2(ceil(log2(rough < 1 ? 1 : rough)));
    power = pow(10, floor(log10(rough)));
    times = rough / power;
    return power * (times < 1.5 ? 1 : times < 3.2 ? 2 : times < 7 ? 5 : 10);
}

void tm_axis_choose(struct tm_axis *axis, enum tm_axis_kind kind, double low, double high, int ticks, bool exact)
{
    if (!(high > low))
        high = low + fmax(1, low / 1000); /* adding 1 would not change a large number */
    axis->kind = kind;
    axis->step = round_step(kind, (high - low) / ticks);
    axis->from = exact ? low : floor(low / axis->step) * axis->step;
    axis->to = exact ? high : ceil(high / axis->step) * axis->step;
    axis->at = 0;
    axis->length = 1;
}

double tm_axis_place(const struct tm_axis *axis, double value)
{
    return axis->at + axis->length * (value - axis->from) / (axis->to - axis->from);
}

double tm_axis_tick(const struct tm_axis *axis, int index)
{
    return (ceil(axis->from / axis->step - 1e-9) + index) * axis->step;
}

int tm_axis_ticks(const struct tm_axis *axis)
{
    int n = 0;

    while (n < TICKS_MOST && tm_axis_tick(axis, n) <= axis->to + axis->step * 1e-6)
        n++;
    return n;
}

struct unit {
    const char *name; /* preceded by a space; "" = none */
    double size;
};

static const struct unit time_units[] = { { "ps", 1 }, { "ns", 1e3 }, { "µs", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };

static const struct unit byte_units[] = {
    { "B", 1 }, { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 }, { "PiB", 0x1p50 },
};

static const struct unit number_units[] = { { "", 1 } };

static const struct unit pct_units[] = { { "%", 1 } };

#define UNITS(list)                                                                                                    \
    {                                                                                                                  \
        (list), sizeof(list) / sizeof((list)[0])                                                                       \
    }

static const struct {
    const struct unit *unit;
    size_t count;
} units_of[] = {
    [TM_AXIS_TIME] = UNITS(time_units),
    [TM_AXIS_BYTES] = UNITS(byte_units),
    [TM_AXIS_NUMBER] = UNITS(number_units),
    [TM_AXIS_PCT] = UNITS(pct_units),
};

/* All values of an axis share a unit, the largest one that its end reaches. */
char *tm_axis_text(const struct tm_axis *axis, double value, char *out)
{
    const struct unit *units = units_of[axis->kind].unit;
    const size_t count = units_of[axis->kind].count;
    size_t chosen = 0;
    int decimals = 0;

    while (chosen + 1 < count && units[chosen + 1].size <= fmax(fabs(axis->from), fabs(axis->to)))
        chosen++;
    if (fabs(value) < axis->step / 2) {
        (void)snprintf(out, TM_FORMAT_BYTES, "0");
        return out;
    }
    for (double step = axis->step / units[chosen].size; decimals < 9 && fabs(step - round(step)) > 1e-6; step *= 10)
        decimals++;
    (void)snprintf(out, TM_FORMAT_BYTES, "%.*f%s%s", decimals, value / units[chosen].size,
                   *units[chosen].name && *units[chosen].name != '%' ? " " : "", units[chosen].name);
    return out;
}

char *tm_axis_label(const struct tm_axis *axis, int index, char *out)
{
    return tm_axis_text(axis, tm_axis_tick(axis, index), out);
}

/* The frame of charts with a scale on the left: its lines, its labels, its levels. */

static const double plot_height_of_all = 150, short_plot_height = 100;

void tm_plot_begin(struct tm_chart *chart, struct tm_plot *plot, const struct tm_plot_frame *frame)
{
    char label[TM_FORMAT_BYTES];
    const double plot_height = chart->is_short ? short_plot_height : plot_height_of_all;
    double room = frame->below ? tm_chart_text_width(frame->below, TM_TEXT_SMALL) : 0;

    tm_axis_choose(&plot->y, frame->kind, frame->low, frame->high, 4, false);
    plot->top = 14; /* a label above values beyond the scale */
    plot->bottom = plot->top + plot_height;
    plot->y.at = plot->bottom;
    plot->y.length = -plot_height;
    for (int i = 0; i < tm_axis_ticks(&plot->y); i++)
        room = fmax(room, tm_chart_text_width(tm_axis_label(&plot->y, i, label), TM_TEXT_SMALL));
    plot->left = room + 6;
    plot->right = chart->width - frame->right_room;
    for (int i = 0; i < tm_axis_ticks(&plot->y); i++) {
        const double y = tm_axis_place(&plot->y, tm_axis_tick(&plot->y, i));

        tm_chart_line(chart, TM_ROLE_GRID, plot->left, y, plot->right, y);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, plot->left - 5, y + 3,
                        tm_axis_label(&plot->y, i, label));
    }
    if (frame->below)
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, plot->left - 5,
                        plot->bottom + TM_PLOT_LABELS_BELOW, frame->below);
    chart->height = plot->bottom + TM_PLOT_ROOM_BELOW;
}

void tm_plot_level(struct tm_chart *chart, const struct tm_plot *plot, const char *name, double value,
                   double *lowest_label)
{
    const double y = fmax(tm_axis_place(&plot->y, value), plot->top);
    const double room = *lowest_label > 0 ? 0 : 10; /* for a second one above the labels of the scale */
    double label_y = fmin(y + 3, plot->bottom + 3 - room);

    if (label_y < *lowest_label + 10)
        label_y = *lowest_label + 10;
    *lowest_label = label_y;
    if (value <= plot->y.to)
        tm_chart_dashed(chart, TM_ROLE_QUIET, plot->left, y, plot->right, y);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, plot->right + 5, label_y, name);
}

/* Legends.  See chart.h. */

static const double line_pitch = 15, swatch = 8, space = 14;

double tm_legend_draw(struct tm_chart *chart, const struct tm_legend_entry *entries, int count, double y)
{
    const double top = y;
    double x = 0;

    for (int i = 0; i < count; i++) {
        const double width = swatch + 4 + tm_chart_text_width(entries[i].label, TM_TEXT_SMALL);

        if (x > 0 && x + width > chart->width) {
            x = 0;
            y += line_pitch;
        }
        tm_chart_rect(chart, entries[i].role, x, y + 1, swatch, swatch);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, x + swatch + 4, y + swatch,
                        entries[i].label);
        x += width + space;
    }
    return y - top + line_pitch + 6;
}

/* A few values that would hide all others.  See chart.h. */

enum { FAR = 4, LEAST = 3, CUT_PART = 4 /* of the values may be cut */ };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double tm_without_outliers(double *values, size_t count)
{
    size_t kept = count;

    if (!count)
        return 0;
    qsort(values, count, sizeof(*values), by_value);
    while (kept > 0 && values[kept - 1] > FAR * values[count / 2])
        kept--;
    if (count < LEAST || kept == 0 || values[kept - 1] <= 0 || (count - kept) * CUT_PART > count + 1)
        kept = count; /* there is no usual length */
    return values[kept - 1];
}

/* Names beside dots.  See chart.h. */

static const double text_height = 10;

static bool covers(const struct tm_scatter_point *text, const struct tm_scatter *spots)
{
    for (int i = 0; i < spots->labels; i++) {
        const struct tm_scatter_point *label = &spots->label[i];

        if (fabs(label->y - text->y) < text_height && text->x < label->x + label->width &&
            label->x < text->x + text->width)
            return true;
    }
    for (int i = 0; i < spots->dots; i++) {
        const struct tm_scatter_point *dot = &spots->dot[i];

        if (dot->x + dot->width > text->x && dot->x - dot->width < text->x + text->width &&
            dot->y + dot->width > text->y - text_height && dot->y - dot->width < text->y)
            return true;
    }
    return false;
}

void tm_spots_block(struct tm_scatter *spots, struct tm_scatter_point text)
{
    if (spots->labels < TM_SPOT_NAMES_MOST)
        spots->label[spots->labels++] = text;
}

void tm_spots_name(struct tm_chart *chart, struct tm_scatter *spots, int dot, const char *name)
{
    const struct tm_scatter_point *at = &spots->dot[dot];
    struct tm_scatter_point text = { .y = at->y + 3, .width = tm_chart_text_width(name, TM_TEXT_SMALL) };

    for (int side = 0; side < 2 && spots->labels < TM_SPOT_NAMES_MOST; side++) {
        text.x = side == 0 ? at->x + at->width + 3 : at->x - at->width - 3 - text.width;
        if (text.x < spots->left || text.x + text.width > spots->right || covers(&text, spots))
            continue;
        tm_spots_block(spots, text);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, text.x, text.y, name);
        return;
    }
}

/* Stacked bars of device time, for steps and for devices.  Parts are in the order of the roles, so every bar and legend
 * of a report stacks the same way.  The legend and the table only have parts that occur. */

/* Points. */
static const double column_height = 190, short_column_height = 92, narrow_column_height = 66, narrow_width = 400,
                    axis_room = 22, seam = 0.6;

static const double break_at = 0.82; /* of the length of a bar that is cut */

enum { BARS_MOST = 64, POWER_MOST = 100000 };

static_assert((int)TM_CHART_BARS_MOST <= (int)BARS_MOST && (int)TM_CHART_DEVICES_MOST <= (int)BARS_MOST, "any chart");

static void add_part(struct tm_parts *parts, enum tm_role role, const struct tm_value *ps)
{
    const int64_t value = tm_int(ps);

    if (!tm_has(ps) || value <= 0 || value > INT64_MAX - parts->total_ps)
        return;
    parts->ps[role] += value;
    parts->total_ps += value;
}

static void add_directions(struct tm_parts *parts, const struct tm_value *copies)
{
    if (tm_type_of(copies) != TM_OBJECT) {
        add_part(parts, TM_ROLE_COPY_OTHER, copies);
        return;
    }
    for (size_t i = 0; i < tm_length(copies); i++) {
        const enum tm_role role = tm_role_of_direction(tm_key_at(copies, i));

        add_part(parts, role == TM_ROLE_UNKNOWN ? TM_ROLE_COPY_OTHER : role, tm_value_at(copies, i));
    }
}

/* Idle time by cause: {cause: ps} or {cause: {"total_ps": ps}}.  The rest that no cause explains
 * remains plain idle. */
static void add_idle(struct tm_parts *parts, const struct tm_value *causes, const struct tm_value *idle)
{
    const int64_t before = parts->total_ps;

    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *ps = tm_value_at(causes, i);
        const enum tm_role role = tm_role_of_cause(tm_key_at(causes, i));

        if (tm_type_of(ps) == TM_OBJECT)
            ps = tm_get(ps, "total_ps");
        add_part(parts, role == TM_ROLE_UNKNOWN ? TM_ROLE_IDLE : role, ps);
    }
    if (tm_has(idle) && tm_int(idle) > parts->total_ps - before) {
        const int64_t rest = tm_int(idle) - (parts->total_ps - before);

        if (rest <= INT64_MAX - parts->total_ps) {
            parts->ps[TM_ROLE_IDLE] += rest;
            parts->total_ps += rest;
        }
    }
}

void tm_parts_of_step(struct tm_parts *parts, const struct tm_value *step)
{
    const struct tm_value *idle = tm_get(step, "idle_ps");
    const bool split = tm_type_of(idle) == TM_OBJECT;

    memset(parts, 0, sizeof(*parts));
    parts->present = tm_has(tm_get(step, "compute_ps")) || tm_has(idle);
    add_part(parts, TM_ROLE_COMPUTE, tm_get(step, "compute_ps"));
    add_part(parts, TM_ROLE_COLLECTIVE, tm_get(step, "exposed_collective_ps"));
    add_directions(parts, tm_get(step, "exposed_copy_ps"));
    add_idle(parts, split ? idle : NULL, split ? NULL : idle);
}

void tm_parts_of_device(struct tm_parts *parts, const struct tm_value *device)
{
    const struct tm_value *directions = tm_get(device, "exposed_by_direction_ps");

    memset(parts, 0, sizeof(*parts));
    parts->present = tm_has(tm_get(device, "compute_ps")) || tm_has(tm_get(device, "idle_ps"));
    add_part(parts, TM_ROLE_COMPUTE, tm_get(device, "compute_ps"));
    add_part(parts, TM_ROLE_COLLECTIVE, tm_get(device, "exposed_collective_ps"));
    add_directions(parts, tm_has(directions) ? directions : tm_get(device, "exposed_copy_ps"));
    add_idle(parts, tm_path(device, "gaps.by_cause"), tm_get(device, "idle_ps"));
}

static void find_used(const struct tm_bar *bars, int count, bool *used)
{
    memset(used, 0, TM_PARTS_MOST * sizeof(*used));
    for (int i = 0; i < count; i++)
        for (int role = 0; role < TM_PARTS_MOST; role++)
            used[role] |= bars[i].parts.ps[role] > 0;
}

/* Parts that are less than a point long in every bar are not seen, and need no swatch: they are in the table.
 * in:  to      the end of the scale; longer bars are cut, and their parts keep their shares
 *      length  of the scale, in points */
static void leave_unseen(const struct tm_bar *bars, int count, double to, double length, bool *used)
{
    for (int role = 0; role < TM_PARTS_MOST; role++) {
        bool is_seen = false;

        for (int i = 0; i < count && !is_seen; i++) {
            const double total = (double)bars[i].parts.total_ps;

            is_seen = (double)bars[i].parts.ps[role] * length >= fmax(total, to);
        }
        used[role] &= is_seen;
    }
}

/* The legend of the roles in use.  out: the height it took */
static double draw_legend(struct tm_chart *chart, const bool *used)
{
    struct tm_legend_entry entries[TM_PARTS_MOST];
    int count = 0;

    for (int role = 0; role < TM_PARTS_MOST; role++)
        if (used[role])
            entries[count++] = (struct tm_legend_entry){ (enum tm_role)role, tm_palette[role].label };
    return tm_legend_draw(chart, entries, count, 0);
}

/* The end of the scale, and whether bars are longer than that. */
static double scale_end(const struct tm_bar *bars, int count, bool *is_cut)
{
    double totals[BARS_MOST], most = 0, end;

    for (int i = 0; i < count; i++) {
        totals[i] = (double)bars[i].parts.total_ps;
        most = fmax(most, totals[i]);
    }
    end = tm_without_outliers(totals, (size_t)count);
    *is_cut = end < most;
    return *is_cut ? end * 1.3 : most;
}

/* Two background-colored strokes across a bar that exceeds the scale. */
static void draw_break(struct tm_chart *chart, bool upwards, struct tm_point at, double thick)
{
    static const double lean = 3, stroke = 2.4, apart = 4.5, over = 1;

    for (int i = 0; i < 2; i++) {
        const double along = i * apart;

        tm_chart_path(chart, TM_MARK_POLYGON, TM_ROLE_PAPER, 0);
        for (int corner = 0; corner < 4; corner++) {
            const bool is_far = corner == 1 || corner == 2;
            const double a = along + (corner >= 2 ? stroke : 0) + (is_far ? lean : 0);
            const double across = is_far ? thick + over : -over;

            tm_chart_point(chart, upwards ? at.x + across : at.x + a, upwards ? at.y - a : at.y + across);
        }
    }
}

/* Where a bar is on the page. */
struct place {
    double across, thick; /* perpendicular to the scale */
    bool is_plain;        /* of one figure */
    double note;          /* where the note starts; 0: after the bar */
};

static void tell_part(struct tm_chart *chart, const struct tm_bar *bar, int role, bool is_plain)
{
    char part[TM_FORMAT_BYTES], total[TM_FORMAT_BYTES];

    if (is_plain)
        tm_chart_open(chart, "%s: %s", bar->name, bar->note);
    else
        tm_chart_open(chart, "%s, %s: %s of %s", bar->name, tm_palette[role].label,
                      tm_format_time(part, bar->parts.ps[role]), tm_format_time(total, bar->parts.total_ps));
}

/* Draw the parts of one bar along its scale.  The parts of one that is cut keep their shares.  out: where it ends */
static double draw_bar(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bar,
                       const struct place *place)
{
    const bool upwards = axis->length < 0;
    const double total = (double)bar->parts.total_ps, shown = fmin(total, axis->to);
    const double end = tm_axis_place(axis, shown), start = tm_axis_place(axis, 0);
    double done = 0;

    for (int role = 0; role < TM_PARTS_MOST; role++) {
        const double ps = (double)bar->parts.ps[role];
        const double from = start + (end - start) * done / total, to = start + (end - start) * (done + ps) / total;
        double length = fabs(to - from);

        if (ps <= 0)
            continue;
        done += ps;
        if (length < 0.02)
            continue; /* not visible at any zoom of a page */
        if (length > 4 * seam)
            length -= seam; /* background between neighbors, so parts can be distinguished without color */
        tell_part(chart, bar, role, place->is_plain);
        if (upwards)
            tm_chart_rect(chart, (enum tm_role)role, place->across, from - length, place->thick, length);
        else
            tm_chart_rect(chart, (enum tm_role)role, from, place->across, length, place->thick);
        tm_chart_close(chart);
    }
    if (shown < total)
        draw_break(chart, upwards,
                   upwards ? (struct tm_point){ place->across, start + (end - start) * break_at }
                           : (struct tm_point){ start + (end - start) * break_at, place->across },
                   place->thick);
    return end;
}

/* Room for names on the left and notes on the right; a scale between them with its lines and labels. */
static void begin_rows(struct tm_chart *chart, struct tm_axis *axis, const struct tm_bar *bars, int count, double top)
{
    const double bottom = top + count * tm_row_pitch(chart);
    double names = 0, notes = 0;

    for (int i = 0; i < count; i++) {
        names = fmax(names, tm_chart_text_width(bars[i].name, TM_TEXT_NORMAL));
        notes = fmax(notes, tm_chart_text_width(bars[i].note, TM_TEXT_SMALL));
    }
    names = fmin(names, chart->width * 0.42) + 8;
    notes = fmax(fmin(notes, chart->width * 0.35) + 8, 30); /* half of a scale label */
    axis->at = names;
    axis->length = chart->width - names - notes;
    tm_chart_scale_below(chart, axis, top, bottom);
    chart->height = bottom + axis_room;
}

static void draw_row(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bar,
                     const struct place *place)
{
    const double end = draw_bar(chart, axis, bar, place), note = place->note > 0 ? place->note : end + 6;
    char text[sizeof(bar->name)];

    (void)snprintf(text, sizeof(text), "%s", bar->name);
    tm_chart_fit(text, sizeof(text), TM_TEXT_NORMAL, axis->at - 8);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, axis->at - 8, place->across + tm_row_bar - 3.5,
                    text);
    (void)snprintf(text, sizeof(text), "%s", bar->note);
    tm_chart_fit(text, sizeof(text), TM_TEXT_SMALL, chart->width - note);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, note, place->across + tm_row_bar - 4, text);
}

/* in:     place  its thickness and what else is the same of all bars */
static void draw_rows(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bars, int count,
                      struct place place)
{
    for (int i = 0; i < count; i++) {
        draw_row(chart, axis, &bars[i], &place);
        place.across += tm_row_pitch(chart);
    }
}

bool tm_parts_rows(struct tm_chart *chart, const struct tm_bar *bars, int count)
{
    bool used[TM_PARTS_MOST], is_cut;
    struct tm_axis axis;
    double top;

    find_used(bars, count, used);
    top = draw_legend(chart, used);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, scale_end(bars, count, &is_cut), 5, true);
    begin_rows(chart, &axis, bars, count, top);
    draw_rows(chart, &axis, bars, count, (struct place){ .across = top + tm_row_inset(chart), .thick = tm_row_bar });
    return is_cut;
}

void tm_plain_rows(struct tm_chart *chart, const struct tm_bar *bars, int count, double level, const char *level_name)
{
    const double top = level_name ? 14 : 2;
    struct place place = { .across = top + tm_row_inset(chart), .thick = tm_row_bar, .is_plain = true };
    double most = level_name ? level : 0, x, half;
    struct tm_axis axis;

    for (int i = 0; i < count; i++)
        most = fmax(most, (double)bars[i].parts.total_ps);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, most, 5, true);
    begin_rows(chart, &axis, bars, count, top);
    if (level_name)
        place.note = axis.at + axis.length + 6; /* if no line crosses it */
    draw_rows(chart, &axis, bars, count, place);
    if (!level_name)
        return;
    x = tm_axis_place(&axis, level);
    half = tm_chart_text_width(level_name, TM_TEXT_SMALL) / 2;
    tm_chart_dashed(chart, TM_ROLE_TEXT, x, top, x, top + count * tm_row_pitch(chart));
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, fmin(fmax(x, half), chart->width - half),
                    top - 4, level_name);
}

/* The scale of columns on the left, and what the columns are.  out: where they start */
static double begin_columns(struct tm_chart *chart, const struct tm_axis *axis, const char *axis_name)
{
    double left = tm_chart_text_width(axis_name, TM_TEXT_SMALL);
    char label[TM_FORMAT_BYTES];

    for (int i = 0; i < tm_axis_ticks(axis); i++)
        left = fmax(left, tm_chart_text_width(tm_axis_label(axis, i, label), TM_TEXT_SMALL));
    left += 6;
    for (int i = 0; i < tm_axis_ticks(axis); i++) {
        const double y = tm_axis_place(axis, tm_axis_tick(axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, left, y, chart->width, y);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, y + 3,
                        tm_axis_label(axis, i, label));
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, axis->at + 15, axis_name);
    return left;
}

bool tm_parts_columns(struct tm_chart *chart, const char *axis_name, const struct tm_bar *bars, int count)
{
    static const double bar_part = 0.76;
    bool used[TM_PARTS_MOST], is_cut;
    struct tm_axis axis;
    const double short_column = chart->width < narrow_width ? narrow_column_height : short_column_height;
    const double column = chart->is_short ? short_column : column_height;
    double left, pitch, labelled, told, widest = 0;
    int every;

    find_used(bars, count, used);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, scale_end(bars, count, &is_cut), chart->is_short ? 3 : 4, false);
    if (chart->is_short)
        leave_unseen(bars, count, axis.to, column, used);
    axis.at = draw_legend(chart, used) + 8 + column;
    axis.length = -column;
    left = begin_columns(chart, &axis, axis_name);
    labelled = told = left - 8; /* the scale is left of it */
    pitch = (chart->width - left) / count;
    chart->columns = count;
    chart->columns_left = left;
    for (int i = 0; i < count; i++)
        widest = fmax(widest, tm_chart_text_width(bars[i].label, TM_TEXT_SMALL));
    every = tm_chart_label_every(widest, pitch);
    for (int i = 0; i < count; i++) {
        const struct place place = { .across = left + pitch * (i + (1 - bar_part) / 2), .thick = pitch * bar_part };
        const double middle = left + pitch * (i + 0.5), end = draw_bar(chart, &axis, &bars[i], &place);

        if (i % every == 0)
            tm_chart_label(chart, middle, axis.at + 15, bars[i].label, &labelled);
        if ((double)bars[i].parts.total_ps > axis.to)
            tm_chart_label(chart, middle, end - 3, bars[i].note, &told);
    }
    chart->height = axis.at + axis_room;
    return is_cut;
}

void tm_parts_table(struct tm_chart *chart, const char *first, const struct tm_bar *bars, int count)
{
    bool used[TM_PARTS_MOST];
    char text[TM_FORMAT_BYTES];

    find_used(bars, count, used);
    tm_chart_column(chart, first, false);
    tm_chart_column(chart, "all", true);
    for (int role = 0; role < TM_PARTS_MOST; role++)
        if (used[role])
            tm_chart_column(chart, tm_palette[role].label, true);
    for (int i = 0; i < count; i++) {
        tm_chart_cell(chart, bars[i].name);
        tm_chart_cell(chart, tm_format_time(text, bars[i].parts.total_ps));
        for (int role = 0; role < TM_PARTS_MOST; role++)
            if (used[role])
                tm_chart_cell(chart, tm_format_time(text, bars[i].parts.ps[role]));
    }
}

/* What the makers of charts share. */

void tm_chart_cut_name(char *out, size_t out_bytes, const char *name)
{
    char seen[512];

    (void)tm_format_visible(seen, sizeof(seen), name, strlen(name));
    (void)tm_format_middle(out, out_bytes, seen, TM_CHART_NAME_CHARS);
}

void tm_chart_fit(char *text, size_t text_bytes, enum tm_text_size size, double room)
{
    enum { CHARS_LEAST = 5 };
    static const double inexact = 0.01; /* for rounding of sums: a text fits its own width */
    char whole[512];

    (void)snprintf(whole, sizeof(whole), "%s", text);
    for (size_t chars = tm_format_length(whole); tm_chart_text_width(text, size) > room + inexact; chars--) {
        if (chars <= CHARS_LEAST) {
            text[0] = 0;
            return;
        }
        if (text_bytes > 4 * chars)
            (void)tm_format_middle(text, text_bytes, whole, chars - 1);
    }
}

static const double label_distance = 8;

int tm_chart_label_every(double widest, double pitch)
{
    static const int round[] = { 1, 2, 5 };

    for (int power = 1; power <= POWER_MOST; power *= 10)
        for (size_t i = 0; i < sizeof(round) / sizeof(*round); i++)
            if (power * round[i] * pitch >= widest + label_distance)
                return power * round[i];
    return POWER_MOST * 10;
}

void tm_chart_label(struct tm_chart *chart, double x, double y, const char *text, double *until)
{
    const double half = tm_chart_text_width(text, TM_TEXT_SMALL) / 2;
    const double middle = fmax(fmin(x, chart->width - half), half);

    if ((*until > 0 && middle - half < *until + label_distance) || fabs(middle - x) > half)
        return;
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, middle, y, text);
    *until = middle + half;
}

void tm_chart_scale_below(struct tm_chart *chart, const struct tm_axis *axis, double top, double bottom)
{
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int i = 0; i < tm_axis_ticks(axis); i++) {
        const double x = tm_axis_place(axis, tm_axis_tick(axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, x, top, x, bottom);
        tm_chart_label(chart, x, bottom + 11, tm_axis_label(axis, i, label), &until);
    }
}

void tm_chart_add_caption(struct tm_chart *chart, const char *format, ...)
{
    const size_t used = strlen(chart->caption);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(chart->caption + used, sizeof(chart->caption) - used, format, list);
    va_end(list);
}
