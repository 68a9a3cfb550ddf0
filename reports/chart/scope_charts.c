/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program device time comes from: a box per scope, as wide as its share of the time, and below it what is
 * in it.  What of a box has nothing below it are its own operations. */
#include "reports/chart/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/legend.h"
#include "reports/format/format.h"

enum { LEVELS_MOST = 8, BOXES_MOST = 400, TABLE_ROWS = 60, NAME_BYTES = 160, SCOPE_DEPTH_MOST = 64 };
enum { CHARS_LEAST = 6, NUMBERED_LEAST = 9 }; /* of a name that is cut; of one that ends with a number */
static const double box_height = 19, box_gap = 1, narrowest = 1.5, legend_room = 22;

/* Where the next box of each level begins. */
struct icicle {
    struct tm_chart *chart;
    double per_ps;
    double next_x[SCOPE_DEPTH_MOST + 1];
    bool has_passes;  /* a training step: colours tell them apart */
    int64_t levels;
    int boxes, narrow; /* narrow: too narrow to be drawn, or past the limits */
};

static enum tm_role role_of_pass(const char *pass)
{
    if (strcmp(pass, "forward") == 0)
        return TM_ROLE_PASS_FORWARD;
    return strcmp(pass, "backward") == 0 ? TM_ROLE_PASS_BACKWARD : TM_ROLE_PASS_OTHER;
}

/* The whole of which the boxes are parts: also what is in no scope. */
static double whole_of(const struct tm_value *scopes)
{
    return tm_double(tm_get(scopes, "self_ps")) + tm_double(tm_path(scopes, "unscoped.self_ps"));
}

/* A box of the top level is wide enough to be drawn on any page. */
size_t tm_count_scopes(const struct tm_value *summary)
{
    enum { PART = 150 };
    const struct tm_value *scopes = tm_get(summary, "scopes"), *rows = tm_get(scopes, "rows");
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_int(tm_get(tm_at(rows, i), "depth")) == 0)
            most = fmax(most, tm_double(tm_get(tm_at(rows, i), "total_ps")));
    return tm_length(rows) > 1 && most > 0 && most >= whole_of(scopes) / PART;
}

/* Where the number begins that a name of a layer ends with; the length of others. */
static size_t end_of_name(const char *name)
{
    size_t at = strlen(name);

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

/* The name with as much of its middle as fits into the box, of "layer_12" else "12"; "" = none. */
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
                  p->has_passes ? tm_palette[role].label : "",
                  tm_format_time(time, tm_int(tm_get(row, "total_ps"))),
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

/* Rows are a tree in order, so that a box stands right of the one before it on its level. */
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

static void draw_legend(struct tm_chart *chart, const struct tm_value *passes, double y)
{
    static const struct {
        const char *key;
        enum tm_role role;
    } entries[] = { { "forward", TM_ROLE_PASS_FORWARD },
                    { "backward", TM_ROLE_PASS_BACKWARD },
                    { "other", TM_ROLE_PASS_OTHER } };
    enum { ENTRIES = sizeof(entries) / sizeof(entries[0]) };
    struct tm_legend_entry shown[ENTRIES];
    char texts[ENTRIES][96], time[TM_FORMAT_BYTES];
    int count = 0;

    for (int i = 0; i < ENTRIES; i++) {
        const int64_t ps = tm_int(tm_get(passes, entries[i].key));

        if (ps <= 0)
            continue;
        (void)snprintf(texts[count], sizeof(texts[0]), "%s %s", tm_palette[entries[i].role].label,
                       tm_format_time(time, ps));
        shown[count] = (struct tm_legend_entry){ entries[i].role, texts[count] };
        count++;
    }
    (void)tm_legend_draw(chart, shown, count, y);
}

void tm_draw_scopes(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *scopes = tm_get(summary, "scopes"), *rows = tm_get(scopes, "rows");
    struct icicle p = { .chart = chart, .per_ps = chart->width / whole_of(scopes) };
    const double unscoped = tm_double(tm_path(scopes, "unscoped.self_ps"));
    char pct[TM_FORMAT_BYTES];

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "Where device time comes from");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Device time by framework scope, all devices together; below each scope what is in it.");
    p.has_passes = tm_double(tm_path(scopes, "passes.forward")) + tm_double(tm_path(scopes, "passes.backward")) > 0;
    tm_chart_column(chart, "scope", false);
    tm_chart_column(chart, "pass", false);
    tm_chart_column(chart, "time", true);
    tm_chart_column(chart, "share", true);
    for (size_t i = 0; i < tm_length(rows); i++)
        draw_row(&p, tm_at(rows, i));
    chart->height = (double)p.levels * (box_height + box_gap) + (p.has_passes ? legend_room : 2);
    if (p.has_passes) {
        draw_legend(chart, tm_get(scopes, "passes"), chart->height - legend_room + 4);
        tm_chart_add_caption(chart, " A scope has a box for each pass.");
    }
    if (unscoped > 0)
        tm_chart_add_caption(chart, " Blank at the right: operations in no scope, %s.",
                             tm_format_pct(pct, 100 * unscoped / whole_of(scopes)));
    if (p.narrow)
        tm_chart_add_caption(chart, " %d scopes are too narrow or too deep to be drawn.", p.narrow);
}
