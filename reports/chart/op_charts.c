/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline: compute rate of operations against their arithmetic intensity, below the peaks of the device.  Both
 * scales are logarithmic. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/chart/chart.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

/* Device time by program scope: one box per scope, with a width proportional to its time, and its children below it. 
 * The part of a box without children is the time of its operations. */

enum { LEVELS_MOST = 8, BOXES_MOST = 400, TABLE_ROWS = 60, NAME_BYTES = 160, SCOPE_DEPTH_MOST = 64 };

enum { CHARS_LEAST = 6, NUMBERED_LEAST = 9 }; /* of a name that is cut; of one that ends with a number */

static const double box_height = 19, box_gap = 1, narrowest = 1.5, legend_room = 22;

/* Where the next box of each level starts. */
struct icicle {
    struct tm_chart *chart;
    double per_ps;
    double next_x[SCOPE_DEPTH_MOST + 1];
    bool has_passes; /* a training step: colors distinguish them */
    int64_t levels;
    int boxes, narrow; /* narrow: too narrow to be drawn, or past the limits */
};

static enum tm_role role_of_pass(const char *pass)
{
    if (strcmp(pass, "forward") == 0)
        return TM_ROLE_PASS_FORWARD;
    return strcmp(pass, "backward") == 0 ? TM_ROLE_PASS_BACKWARD : TM_ROLE_PASS_OTHER;
}

/* The total that the boxes are shares of, including time without a scope. */
static double whole_of(const struct tm_value *scopes)
{
    return tm_double(tm_get(scopes, "self_ps")) + tm_double(tm_path(scopes, "unscoped.self_ps"));
}

/* A box of the top level is wide enough to be drawn on any page. */
static size_t count_scopes(const struct tm_value *summary)
{
    enum { PART = 150 };
    const struct tm_value *scopes = tm_get(summary, "scopes"), *rows = tm_get(scopes, "rows");
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_int(tm_get(tm_at(rows, i), "depth")) == 0)
            most = fmax(most, tm_double(tm_get(tm_at(rows, i), "total_ps")));
    return tm_length(rows) > 1 && most > 0 && most >= whole_of(scopes) / PART;
}

/* The start of the number at the end of a layer's name; the length of other names. */
static size_t end_of_name(const char *name)
{
    size_t at = strlen(name);

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

/* The name, cut in the middle to fit into the box; if "layer_12" does not fit, "12"; "" = none. */
static void fit_name(char *out, size_t out_bytes, const char *name, double room)
{
    char seen[NAME_BYTES];
    size_t least;

    (void)tm_format_visible(seen, sizeof(seen), name, strlen(name));
    least = seen[end_of_name(seen)] ? NUMBERED_LEAST : CHARS_LEAST;
    for (size_t chars = TM_CHART_NAME_CHARS; chars >= least; chars -= chars > 8 ? 3 : 1) {
        (void)tm_format_middle(out, out_bytes, seen, chars);
        if (tm_chart_text_width(out, TM_TEXT_SMALL) <= room)
            return;
    }
    (void)snprintf(out, out_bytes, "%.16s", seen + end_of_name(seen));
    if (tm_chart_text_width(out, TM_TEXT_SMALL) > room)
        out[0] = 0;
}

static void draw_box(struct icicle *p, const struct tm_value *row, double x, double width, int64_t depth)
{
    const enum tm_role role = p->has_passes ? role_of_pass(tm_text(tm_get(row, "pass"))) : TM_ROLE_SERIES;
    const double y = (double)depth * (box_height + box_gap);
    char name[TM_CHART_NAME_BYTES], seen[NAME_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];
    const char *path = tm_text(tm_get(row, "path"));

    (void)tm_format_visible(seen, sizeof(seen), path, strlen(path));
    tm_chart_open(p->chart, "%s%s%s: %s, %s", seen, p->has_passes ? ", " : "",
                  p->has_passes ? tm_palette[role].label : "", tm_format_time(time, tm_int(tm_get(row, "total_ps"))),
                  tm_format_pct(pct, tm_double(tm_get(row, "share_pct"))));
    tm_chart_rect(p->chart, role, x, y, width - (width > 2 * box_gap ? box_gap : 0), box_height);
    fit_name(name, sizeof(name), tm_text(tm_get(row, "name")), width - 6);
    if (name[0])
        tm_chart_string(p->chart, TM_ROLE_PAPER, TM_TEXT_SMALL, TM_ANCHOR_START, x + 3, y + box_height - 6, name);
    tm_chart_close(p->chart);
    p->boxes++;
    p->levels = depth + 1 > p->levels ? depth + 1 : p->levels;
}

static void add_table_row(struct tm_chart *chart, const struct tm_value *row)
{
    char name[TM_CHART_NAME_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(row, "path")));
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, tm_text(tm_get(row, "pass")));
    tm_chart_cell(chart, tm_format_time(time, tm_int(tm_get(row, "total_ps"))));
    tm_chart_cell(chart, tm_format_pct(pct, tm_double(tm_get(row, "share_pct"))));
}

/* Rows are a tree in order, so a box is to the right of the previous one on its level. */
static void draw_row(struct icicle *p, const struct tm_value *row)
{
    const int64_t depth = tm_int(tm_get(row, "depth"));
    double width = tm_double(tm_get(row, "total_ps")) * p->per_ps, x;

    if (depth < 0 || depth >= SCOPE_DEPTH_MOST)
        return;
    x = p->next_x[depth];
    width = fmin(fmax(width, 0), p->chart->width - x); /* of a damaged summary */
    p->next_x[depth] = x + width;
    p->next_x[depth + 1] = x;
    if (depth >= LEVELS_MOST || width < narrowest || p->boxes >= BOXES_MOST) {
        p->narrow++;
        return;
    }
    draw_box(p, row, x, width, depth);
    if (p->boxes <= TABLE_ROWS)
        add_table_row(p->chart, row);
}

/* The roots, in the order of the boxes. */
static void draw_legend(struct tm_chart *chart, const struct tm_value *scopes, double y)
{
    enum { PASSES = 3 };
    const struct tm_value *rows = tm_get(scopes, "rows");
    struct tm_legend_entry shown[PASSES];
    char texts[PASSES][96], time[TM_FORMAT_BYTES];
    bool is_shown[TM_ROLE_COUNT] = { false };
    int count = 0;

    for (size_t i = 0; i < tm_length(rows) && count < PASSES; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const char *pass = tm_text(tm_get(row, "pass"));
        const enum tm_role role = role_of_pass(pass);

        if (tm_int(tm_get(row, "depth")) != 0 || is_shown[role])
            continue;
        is_shown[role] = true;
        (void)snprintf(texts[count], sizeof(texts[0]), "%s %s", tm_palette[role].label,
                       tm_format_time(time, tm_int(tm_get(tm_get(scopes, "passes"), pass))));
        shown[count] = (struct tm_legend_entry){ role, texts[count] };
        count++;
    }
    (void)tm_legend_draw(chart, shown, count, y);
}

static void draw_scopes(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *scopes = tm_get(summary, "scopes"), *rows = tm_get(scopes, "rows");
    struct icicle p = { .chart = chart, .per_ps = chart->width / whole_of(scopes) };
    const double unscoped = tm_double(tm_path(scopes, "unscoped.self_ps"));
    char pct[TM_FORMAT_BYTES];

    tm_chart_add_caption(chart,
                         "Device time by framework scope, over all devices; nested scopes are below their parents.");
    p.has_passes = tm_double(tm_path(scopes, "passes.forward")) + tm_double(tm_path(scopes, "passes.backward")) > 0;
    for (size_t i = 0; i < tm_length(rows); i++)
        draw_row(&p, tm_at(rows, i));
    chart->height = (double)p.levels * (box_height + box_gap) + (p.has_passes ? legend_room : 2);
    if (p.has_passes) {
        draw_legend(chart, scopes, chart->height - legend_room + 4);
        tm_chart_add_caption(chart, " A scope has one box per pass.");
    }
    if (unscoped > 0)
        tm_chart_add_caption(chart, " Blank at the right: operations without a scope, %s.",
                             tm_format_pct(pct, 100 * unscoped / whole_of(scopes)));
    if (p.narrow)
        tm_chart_add_caption(chart, " %d scopes are too narrow or too deep to show.", p.narrow);
}

enum { LOOKED_AT = 400, NAMED = 5, DECADES_MOST = 7, TICKS_MOST = 9, LABEL_BYTES = 32 };

#define ROOM_ABOVE 0.25 /* of a decade */

static const double left_room = 74, right_room = 14, top_room = 16, bottom_room = 32, plot_height = 250,
                    short_plot_height = 160;

static const double dot_least = 2, dot_most = 8;

/* The roof of one device, and the decades that are drawn. */
struct roof {
    double flops, bandwidth; /* FLOP/s, bytes/s */
    int x_from, x_to, y_from;
    double y_to;
    double left, right, top, bottom;
};

/* What is drawn inside the plot. */
struct marks {
    struct tm_scatter spots;
    const struct tm_value *op[TM_SPOTS_MOST];
};

static bool has_roof(const struct tm_value *device)
{
    return tm_double(tm_get(device, "peak_flops")) >= 1 && tm_double(tm_get(device, "peak_bandwidth")) >= 1;
}

/* The first device whose peaks are known; NULL = none. */
static const struct tm_value *device_of(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_path(summary, "roofline.devices");

    for (size_t i = 0; i < tm_length(devices); i++)
        if (has_roof(tm_at(devices, i)))
            return tm_at(devices, i);
    return NULL;
}

static double log_of(const struct tm_value *op, const char *key)
{
    const double value = tm_double(tm_get(op, key));

    return value > 0 && value < 1e30 ? log10(value) : -INFINITY;
}

/* Its position is known, and within the decades drawn below the ends of the roofline. */
static bool is_drawn(const struct tm_value *op, const struct tm_value *device)
{
    const double flops = log10(tm_double(tm_get(device, "peak_flops")));
    const double ridge = flops - log10(tm_double(tm_get(device, "peak_bandwidth")));

    return log_of(op, "flop_rate") > flops - DECADES_MOST && fabs(log_of(op, "intensity") - ridge) < DECADES_MOST - 2;
}

static size_t count_roofline(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "ops.rows"), *device = device_of(summary);

    for (size_t i = 0; device && i < tm_length(rows) && i < LOOKED_AT; i++)
        if (is_drawn(tm_at(rows, i), device))
            return 1;
    return 0;
}

static double x_of(const struct roof *r, double log_x)
{
    return r->left + (log_x - r->x_from) / (r->x_to - r->x_from) * (r->right - r->left);
}

static double y_of(const struct roof *r, double log_y)
{
    return r->bottom - (log_y - r->y_from) / (r->y_to - r->y_from) * (r->bottom - r->top);
}

/* The decades that hold the ridge and all operations. */
static void choose_decades(struct roof *r, const struct tm_value *device, const struct tm_value *rows)
{
    const double flops = log10(r->flops), ridge = flops - log10(r->bandwidth);
    double x_low = ridge - 1, x_high = ridge + 1, y_low = flops - 2, y_high = flops + ROOM_ABOVE;

    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT; i++) {
        const struct tm_value *op = tm_at(rows, i);

        if (!is_drawn(op, device))
            continue;
        x_low = fmin(x_low, log_of(op, "intensity"));
        x_high = fmax(x_high, log_of(op, "intensity"));
        y_low = fmin(y_low, log_of(op, "flop_rate"));
        y_high = fmax(y_high, fmin(log_of(op, "flop_rate"), flops + 2));
    }
    r->x_from = (int)floor(x_low);
    r->x_to = (int)ceil(x_high);
    r->y_from = (int)floor(y_low);
    r->y_to = y_high;
}

/* "10 GFLOP/s" */
static const char *rate_label(char out[LABEL_BYTES], int decade)
{
    static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
    static const char *const digits[] = { "1", "10", "100" };

    if (decade < 0 || decade / 3 >= (int)(sizeof(units) / sizeof(units[0])))
        (void)snprintf(out, LABEL_BYTES, "1e%d FLOP/s", decade);
    else
        (void)snprintf(out, LABEL_BYTES, "%s %sFLOP/s", digits[decade % 3], units[decade / 3]);
    return out;
}

/* "0.01" "10,000" */
static void intensity_label(char out[TM_FORMAT_BYTES], int decade)
{
    if (decade < 0)
        (void)snprintf(out, TM_FORMAT_BYTES, "%.*f", -decade, pow(10, decade));
    else
        tm_format_count(out, tm_whole(pow(10, decade)));
}

static void draw_scales(struct tm_chart *chart, const struct roof *r)
{
    const int x_each = (r->x_to - r->x_from) / TICKS_MOST + 1, y_each = ((int)r->y_to - r->y_from) / TICKS_MOST + 1;
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int d = r->y_from; d <= r->y_to; d += y_each) {
        tm_chart_line(chart, TM_ROLE_GRID, r->left, y_of(r, d), r->right, y_of(r, d));
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, r->left - 6, y_of(r, d) + 3,
                        rate_label(label, d));
    }
    for (int d = r->x_from; d <= r->x_to; d += x_each) {
        tm_chart_line(chart, TM_ROLE_GRID, x_of(r, d), r->top, x_of(r, d), r->bottom);
        intensity_label(label, d);
        tm_chart_label(chart, x_of(r, d), r->bottom + 13, label, &until);
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, r->right, r->bottom + 26,
                    "Arithmetic "
                    "intensity (FLOP/B)");
}

/* A label of the roofline: names of dots avoid it. */
static void put_roof_label(struct tm_chart *chart, struct tm_scatter *spots, struct tm_point end, const char *text)
{
    const double width = tm_chart_text_width(text, TM_TEXT_SMALL);
    const double x = fmax(end.x - width, spots->left + 3);

    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, x, end.y, text);
    tm_spots_block(spots, (struct tm_scatter_point){ x, end.y, width });
}

/* The memory's slope from the left or the lower border up to the ridge, then the flat part.  The memory's label is
 * in the middle of the slope, left of it. */
static void draw_roof(struct tm_chart *chart, const struct roof *r, struct tm_scatter *spots, const char *type)
{
    const double flops = log10(r->flops), slope = log10(r->bandwidth), ridge = flops - slope;
    const double from = fmax(r->x_from, r->y_from - slope), middle = (from + ridge) / 2;
    char rate[TM_FORMAT_BYTES], text[2 * TM_FORMAT_BYTES];

    tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_TEXT, 1.4);
    tm_chart_point(chart, x_of(r, from), y_of(r, from + slope));
    tm_chart_point(chart, x_of(r, ridge), y_of(r, flops));
    tm_chart_point(chart, r->right, y_of(r, flops));
    (void)snprintf(text, sizeof(text), "%s%s%.40s", tm_format_flop_rate(rate, r->flops), *type ? ", " : "", type);
    put_roof_label(chart, spots, (struct tm_point){ r->right, y_of(r, flops) - 5 }, text);
    put_roof_label(chart, spots, (struct tm_point){ x_of(r, middle) - 8, y_of(r, middle + slope) - 3 },
                   tm_format_rate(rate, r->bandwidth));
}

static struct tm_scatter_point draw_dot(struct tm_chart *chart, const struct roof *r, const struct tm_value *op)
{
    const double share = fmin(fmax(tm_double(tm_get(op, "self_share_pct")), 0), 100) / 100;
    const struct tm_scatter_point dot = { x_of(r, log_of(op, "intensity")),
                                          fmax(y_of(r, log_of(op, "flop_rate")), r->top),
                                          fmax(dot_least, dot_most * sqrt(share)) };
    char rate[TM_FORMAT_BYTES], intensity[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], name[TM_CHART_NAME_BYTES];

    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(op, "name")));
    tm_chart_open(chart, "%s: %s, %s FLOP/B, %s", name, tm_format_flop_rate(rate, tm_double(tm_get(op, "flop_rate"))),
                  tm_format_number(intensity, tm_double(tm_get(op, "intensity"))),
                  tm_format_time(time, tm_int(tm_get(op, "self_ps"))));
    tm_chart_dot(chart, TM_ROLE_SERIES, dot.x, dot.y, dot.width);
    tm_chart_close(chart);
    return dot;
}

static void add_op_row(struct tm_chart *chart, const struct tm_value *op)
{
    const struct tm_value *roof = tm_get(op, "roof_pct");
    char text[TM_CHART_NAME_BYTES];

    tm_chart_cut_name(text, sizeof(text), tm_text(tm_get(op, "name")));
    tm_chart_cell(chart, text);
    tm_chart_cell(chart, tm_format_number(text, tm_double(tm_get(op, "intensity"))));
    tm_chart_cell(chart, tm_format_flop_rate(text, tm_double(tm_get(op, "flop_rate"))));
    tm_chart_cell(chart, tm_has(roof) ? tm_format_pct(text, tm_double(roof)) : "");
    tm_chart_cell(chart, tm_format_time(text, tm_int(tm_get(op, "self_ps"))));
}

static void draw_dots(struct tm_chart *chart, const struct roof *r, struct marks *m, const struct tm_value *device,
                      const struct tm_value *rows)
{
    struct tm_scatter *spots = &m->spots;

    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT && spots->dots < TM_SPOTS_MOST; i++) {
        const struct tm_value *op = tm_at(rows, i);

        if (!is_drawn(op, device))
            continue;
        m->op[spots->dots] = op;
        spots->dot[spots->dots] = draw_dot(chart, r, op);
        if (spots->dots++ < TABLE_ROWS)
            add_op_row(chart, op);
    }
    for (int i = 0; i < spots->dots && i < NAMED; i++) { /* those with the most time */
        char name[TM_CHART_NAME_BYTES];

        tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(m->op[i], "name")));
        tm_spots_name(chart, spots, i, name);
    }
}

static void draw_roofline(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *device = device_of(summary), *rows = tm_path(summary, "ops.rows");
    struct roof r = { .flops = tm_double(tm_get(device, "peak_flops")),
                      .bandwidth = tm_double(tm_get(device, "peak_bandwidth")),
                      .left = left_room,
                      .right = chart->width - right_room,
                      .top = top_room,
                      .bottom = top_room + (chart->is_short ? short_plot_height : plot_height) };
    struct marks marks = { .spots = { .left = left_room, .right = chart->width - right_room } };

    choose_decades(&r, device, rows);
    chart->height = r.bottom + bottom_room;
    draw_scales(chart, &r);
    draw_roof(chart, &r, &marks.spots, tm_text(tm_get(device, "peak_precision")));
    draw_dots(chart, &r, &marks, device, rows);
    tm_chart_add_caption(chart,
                         "%d operation%s with known cost; the larger the dot, the more time. The roofline is the "
                         "device's limit: memory-bound at the left of the ridge point, compute-bound at the right.",
                         marks.spots.dots, tm_format_plural(marks.spots.dots));
}

const struct tm_chart_maker tm_op_charts[] = {
    { TM_CHART_SCOPES, "Device time by scope", "scope, pass, #time, #share", count_scopes, .draw = draw_scopes },
    { TM_CHART_ROOFLINE, "Roofline",
      "operation, #arithmetic intensity, #rate, #% of roofline, "
      "#self time",
      count_roofline, .draw = draw_roofline },
    { .count = NULL },
};
