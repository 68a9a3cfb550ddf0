/* SPDX-License-Identifier: Apache-2.0 */
/* Which charts a summary gives, and how each is drawn.  Figures are taken from the summary as they are; the only
 * arithmetic here is that of places on the page.  What is drawn is capped, and the caption says of how many. */
#include "reports/chart/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/axis.h"
#include "reports/chart/parts.h"
#include "reports/format/format.h"

/* Up to so many steps are rows with names; more are columns. */
enum { ROWS_MOST = 12, NAME_CHARS = 32, POINTS_MOST = 2000, DOTS_MOST = 200, STEPS_LEAST = 3 };
static const double plot_height = 150, row_pitch = 22, row_bar = 14, axis_room = 22;

/* Cut a name of the trace so that it fits beside a bar. */
static void put_name(char *out, size_t out_bytes, const char *name)
{
    char seen[512];

    (void)tm_format_visible(seen, sizeof(seen), name, strlen(name));
    (void)tm_format_middle(out, out_bytes, seen, NAME_CHARS);
}

/* --- steps ---------------------------------------------------------------------------------------------- */

static bool is_drawn(const struct tm_value *step)
{
    return tm_is(tm_get(step, "chosen"));
}

/* Length of a step by the basis that the summary names.  out: below 0 where it has none */
static int64_t step_length(const struct tm_value *steps, const struct tm_value *step)
{
    const bool host = strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0;
    const struct tm_value *ps = tm_get(step, host ? "host_span_ps" : "period_ps");

    return tm_has(ps) ? tm_int(ps) : -1;
}

static bool has_parts(const struct tm_value *step)
{
    struct tm_parts parts;

    if (!is_drawn(step))
        return false;
    tm_parts_of_step(&parts, step);
    return parts.present && parts.total_ps > 0;
}

static size_t count_steps(const struct tm_value *summary, bool with_parts)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const struct tm_value *list = tm_get(steps, "list");
    size_t n = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);

        n += with_parts ? has_parts(step) : is_drawn(step) && step_length(steps, step) >= 0;
    }
    return n;
}

/* Fill one bar per run of `each` steps with the slowest of the run.  out: number of bars */
static int fill_step_bars(struct tm_bar *bars, const struct tm_value *list, size_t each)
{
    size_t seen = 0;
    int count = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);
        struct tm_parts parts;
        char number[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];

        if (!has_parts(step))
            continue;
        tm_parts_of_step(&parts, step);
        if (seen++ % each == 0)
            bars[count++].parts.total_ps = -1;
        if (parts.total_ps <= bars[count - 1].parts.total_ps)
            continue;
        bars[count - 1].parts = parts;
        (void)snprintf(bars[count - 1].name, sizeof(bars[0].name), "step %s",
                       tm_format_count(number, tm_int(tm_get(step, "number"))));
        (void)snprintf(bars[count - 1].label, sizeof(bars[0].label), "%.20s", number);
        (void)snprintf(bars[count - 1].note, sizeof(bars[0].note), "%s%s", tm_format_time(time, parts.total_ps),
                       tm_is(tm_get(step, "compile")) ? ", compiles" : "");
    }
    return count;
}

/* Which of the steps the list does not hold or the chart leaves out. */
static void add_left_out(char *caption, size_t room, const struct tm_value *steps)
{
    const int64_t count = tm_int(tm_get(steps, "count")), chosen = tm_int(tm_get(steps, "chosen"));
    const size_t used = strlen(caption);
    char number[TM_FORMAT_BYTES];

    if (count > chosen && used < room)
        (void)snprintf(caption + used, room - used, " %s of the profile (warm-up, incomplete or not chosen) %s not drawn.",
                       count - chosen == 1 ? "One step" : tm_format_count(number, count - chosen),
                       count - chosen == 1 ? "is" : "are");
}

static void draw_steps(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t total = count_steps(summary, true);
    const size_t each = (total + TM_CHART_BARS_MOST - 1) / TM_CHART_BARS_MOST;
    struct tm_bar bars[TM_CHART_BARS_MOST];
    char number[TM_FORMAT_BYTES];
    const int count = fill_step_bars(bars, tm_get(steps, "list"), each);

    (void)snprintf(chart->title, sizeof(chart->title), "Where the time of each step goes");
    if (each > 1)
        (void)snprintf(chart->caption, sizeof(chart->caption),
                       "Each bar is the slowest of %zu steps in a row, of %s listed steps.", each,
                       tm_format_count(number, (int64_t)total));
    else
        (void)snprintf(chart->caption, sizeof(chart->caption), "One bar per step; its parts add up to its length.");
    if (tm_length(tm_get(summary, "devices")) > 1)
        (void)snprintf(chart->caption + strlen(chart->caption), sizeof(chart->caption) - strlen(chart->caption),
                       " Of several devices the slowest one is shown.");
    add_left_out(chart->caption, sizeof(chart->caption), steps);
    if (count <= ROWS_MOST)
        tm_parts_rows(chart, bars, count);
    else
        tm_parts_columns(chart, "step", bars, count);
    tm_parts_table(chart, "step", bars, count);
}

/* --- a plot with a scale on the left --------------------------------------------------------------------- */

struct plot {
    struct tm_axis y;
    double left, right, top, bottom;
};

struct frame {
    enum tm_axis_kind kind;
    double low, high;  /* of the data */
    double right_room; /* for labels of levels */
    const char *below; /* what the labels below the plot are, or NULL */
};

/* Draw the scale and its lines; what is left is the place for the data. */
static void draw_plot(struct tm_chart *chart, struct plot *plot, const struct frame *frame)
{
    char label[TM_FORMAT_BYTES];
    double room = frame->below ? tm_chart_text_width(frame->below, TM_TEXT_SMALL) : 0;

    tm_axis_choose(&plot->y, frame->kind, frame->low, frame->high, 4, false);
    plot->top = 8;
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
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, plot->left - 5, plot->bottom + 15, frame->below);
    chart->height = plot->bottom + axis_room;
}

/* Labels of levels stand in a column at the right; each is moved down where it would cover the one above. */
static void draw_level(struct tm_chart *chart, const struct plot *plot, const char *name, double value,
                       double *lowest_label)
{
    const double y = tm_axis_place(&plot->y, value);
    double label_y = y + 3;

    if (label_y < *lowest_label + 10)
        label_y = *lowest_label + 10;
    *lowest_label = label_y;
    tm_chart_dashed(chart, TM_ROLE_QUIET, plot->left, y, plot->right, y);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, plot->right + 5, label_y, name);
}

/* --- step times ------------------------------------------------------------------------------------------ */

static void find_range(const struct tm_value *steps, double *low, double *high)
{
    const struct tm_value *list = tm_get(steps, "list");

    *low = INFINITY;
    *high = 0;
    for (size_t i = 0; i < tm_length(list); i++) {
        const double length = (double)step_length(steps, tm_at(list, i));

        if (!is_drawn(tm_at(list, i)) || length < 0)
            continue;
        *low = fmin(*low, length);
        *high = fmax(*high, length);
    }
    *high = fmax(*high, tm_double(tm_get(steps, "p95_ps")));
    if (*low < *high / 2)
        *low = 0;
}

/* Draw line and dots, and fill the table, which holds what is drawn. */
static void draw_step_points(struct tm_chart *chart, const struct plot *plot, const struct tm_value *steps, size_t total)
{
    const struct tm_value *list = tm_get(steps, "list");
    const double pitch = (plot->right - plot->left) / (double)total;
    const bool dots = total <= DOTS_MOST;
    double labelled = plot->left;

    for (int pass = 0; pass < 2; pass++) { /* the line below the dots */
        size_t n = 0;

        if (pass == 0)
            tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, dots ? 1 : 0.8);
        for (size_t i = 0; i < tm_length(list) && n < total; i++) {
            const struct tm_value *step = tm_at(list, i);
            const int64_t length = step_length(steps, step);
            const double x = plot->left + pitch * ((double)n + 0.5), y = tm_axis_place(&plot->y, (double)length);
            char number[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];
            double half;

            if (!is_drawn(step) || length < 0)
                continue;
            n++;
            if (pass == 0) {
                tm_chart_point(chart, x, y);
                continue;
            }
            tm_format_count(number, tm_int(tm_get(step, "number")));
            tm_format_time(time, length);
            if (dots) {
                tm_chart_open(chart, "step %s: %s", number, time);
                tm_chart_dot(chart, TM_ROLE_SERIES, x, y, 2.2);
                tm_chart_close(chart);
            }
            half = tm_chart_text_width(number, TM_TEXT_SMALL) / 2;
            if (x - half >= labelled && x + half <= plot->right) {
                tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, x, plot->bottom + 15, number);
                labelled = x + half + 24;
            }
            if (n <= DOTS_MOST) {
                tm_chart_cell(chart, number);
                tm_chart_cell(chart, time);
            }
        }
    }
}

static void draw_step_times(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t all = count_steps(summary, false), total = all < POINTS_MOST ? all : POINTS_MOST;
    char p95[80], median[80], time[TM_FORMAT_BYTES];
    double low, high, lowest_label = 0;
    struct plot plot;

    (void)snprintf(p95, sizeof(p95), "p95 %s", tm_format_time(time, tm_int(tm_get(steps, "p95_ps"))));
    (void)snprintf(median, sizeof(median), "median %s", tm_format_time(time, tm_int(tm_get(steps, "median_ps"))));
    find_range(steps, &low, &high);
    draw_plot(chart, &plot,
              &(struct frame){ .kind = TM_AXIS_TIME, .low = low, .high = high, .below = "step",
                               .right_room = 8 + fmax(tm_chart_text_width(p95, TM_TEXT_SMALL),
                                                      tm_chart_text_width(median, TM_TEXT_SMALL)) });
    tm_chart_column(chart, "step", false);
    tm_chart_column(chart, "length", true);
    if (tm_has(tm_get(steps, "p95_ps")))
        draw_level(chart, &plot, p95, tm_double(tm_get(steps, "p95_ps")), &lowest_label);
    if (tm_has(tm_get(steps, "median_ps")))
        draw_level(chart, &plot, median, tm_double(tm_get(steps, "median_ps")), &lowest_label);
    draw_step_points(chart, &plot, steps, total);
    (void)snprintf(chart->title, sizeof(chart->title), "Length of each step");
    (void)snprintf(chart->caption, sizeof(chart->caption), "%s by step number, with median and 95th percentile.%s%s",
                   strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0 ? "Time between begin and end of the step on the host"
                                                                             : "Period of the step on the device",
                   plot.y.from > 0 ? " The scale does not begin at 0." : "",
                   all > DOTS_MOST ? " The table holds the first 200." : "");
    add_left_out(chart->caption, sizeof(chart->caption), steps);
}

/* --- devices --------------------------------------------------------------------------------------------- */

static bool device_has_parts(const struct tm_value *device)
{
    struct tm_parts parts;

    tm_parts_of_device(&parts, device);
    return parts.present && parts.total_ps > 0;
}

static size_t count_devices(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    size_t n = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        n += device_has_parts(tm_at(devices, i));
    return n;
}

/* The n-th value of utilization from below, so that of many devices the least used ones are drawn. */
static double utilization_limit(const struct tm_value *devices, int most)
{
    double lowest[TM_CHART_DEVICES_MOST];
    int count = 0;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const double value = tm_double(tm_get(tm_at(devices, i), "utilization_pct"));
        int at = count;

        if (!device_has_parts(tm_at(devices, i)))
            continue;
        while (at > 0 && lowest[at - 1] > value)
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(&lowest[at + 1], &lowest[at], (size_t)(count - 1 - at) * sizeof(lowest[0]));
        lowest[at] = value;
    }
    return count ? lowest[count - 1] : 0;
}

static void draw_devices(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    const size_t total = count_devices(summary);
    const double limit = utilization_limit(devices, TM_CHART_DEVICES_MOST);
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    char number[TM_FORMAT_BYTES];
    int count = 0;

    for (size_t i = 0; i < tm_length(devices) && count < TM_CHART_DEVICES_MOST; i++) {
        const struct tm_value *device = tm_at(devices, i), *use = tm_get(device, "utilization_pct");
        char pct[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];
        struct tm_bar *bar = &bars[count];

        if (!device_has_parts(device) || tm_double(use) > limit)
            continue;
        tm_parts_of_device(&bar->parts, device);
        put_name(bar->name, sizeof(bar->name), tm_text(tm_get(device, "id")));
        tm_format_time(time, bar->parts.total_ps);
        if (tm_has(use))
            (void)snprintf(bar->note, sizeof(bar->note), "%s of %s", tm_format_pct(pct, tm_double(use)), time);
        else
            (void)snprintf(bar->note, sizeof(bar->note), "%s", time);
        count++;
    }
    (void)snprintf(chart->title, sizeof(chart->title), "What each device did");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Time from the first to the last activity of the device in the chosen steps; the parts add up to it. Beside it: utilization.");
    if (total > (size_t)count)
        (void)snprintf(chart->caption + strlen(chart->caption), sizeof(chart->caption) - strlen(chart->caption),
                       " The %d least used of %s devices are drawn.", count, tm_format_count(number, (int64_t)total));
    tm_parts_rows(chart, bars, count);
    tm_parts_table(chart, "device", bars, count);
}

/* --- idle causes ----------------------------------------------------------------------------------------- */

static double most_of(const struct tm_value *rows, const char *key)
{
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        most = fmax(most, tm_double(tm_get(tm_value_at(rows, i), key)));
    return most;
}

static void draw_cause(struct tm_chart *chart, const char *cause, const struct tm_value *row, double y, double left,
                       double length)
{
    const enum tm_role role = tm_role_of_cause(cause);
    const char *label = role == TM_ROLE_UNKNOWN ? cause : tm_palette[role].label + strlen("idle: ");
    const struct tm_value *share = tm_get(row, "share_pct");
    char time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES] = "", count[TM_FORMAT_BYTES];
    char note[2 * TM_FORMAT_BYTES];

    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(share))
        tm_format_pct(pct, tm_double(share));
    (void)snprintf(note, sizeof(note), "%s%s%s", time, pct[0] ? ", " : "", pct);
    tm_chart_open(chart, "%s: %s", label, note);
    tm_chart_rect(chart, role, left, y, fmax(length, 0.5), row_bar);
    tm_chart_close(chart);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, left - 8, y + row_bar - 3.5, label);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, left + length + 6, y + row_bar - 4, note);
    tm_chart_cell(chart, label);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
    tm_chart_cell(chart, pct);
}

static void draw_causes(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *causes = tm_path(summary, "gaps.by_cause");
    const double most = most_of(causes, "total_ps"), left = 140, right = 110;
    double y = 0;

    (void)snprintf(chart->title, sizeof(chart->title), "Why devices were idle");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Idle time of all devices by cause, with the share of all idle time; every gap counts, however short.");
    tm_chart_column(chart, "cause", false);
    tm_chart_column(chart, "gaps", true);
    tm_chart_column(chart, "time", true);
    tm_chart_column(chart, "share of idle", true);
    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *row = tm_value_at(causes, i);
        const double ps = tm_double(tm_get(row, "total_ps"));

        if (ps <= 0)
            continue;
        draw_cause(chart, tm_key_at(causes, i), row, y + (row_pitch - row_bar) / 2, left,
                   (chart->width - left - right) * ps / most);
        y += row_pitch;
    }
    chart->height = y + 2;
}

/* --- histogram of gaps ----------------------------------------------------------------------------------- */

static double most_in(const struct tm_value *rows, const char *key)
{
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        most = fmax(most, tm_double(tm_get(tm_at(rows, i), key)));
    return most;
}

static void draw_bucket(struct tm_chart *chart, const struct plot *plot, const struct tm_value *row, double x, double width)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];
    char range[2 * TM_FORMAT_BYTES + 8];
    const double y = tm_axis_place(&plot->y, tm_double(tm_get(row, "total_ps")));

    tm_format_time(from, tm_int(tm_get(row, "from_ps")));
    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(tm_get(row, "to_ps")))
        (void)snprintf(range, sizeof(range), "%s to %s", from, tm_format_time(to, tm_int(tm_get(row, "to_ps"))));
    else
        (void)snprintf(range, sizeof(range), "%s and more", from);
    tm_chart_open(chart, "%s: %s gaps, %s", range, count, time);
    tm_chart_rect(chart, TM_ROLE_SERIES, x + width * 0.1, y, width * 0.8, plot->bottom - y);
    tm_chart_close(chart);
    if (tm_int(tm_get(row, "count")) > 0 && tm_chart_text_width(count, TM_TEXT_SMALL) < width)
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, x + width / 2, y - 3, count);
    tm_chart_cell(chart, range);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
}

static void draw_gaps(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "gaps.histogram");
    const double most = most_in(rows, "total_ps");
    double pitch, labelled;
    struct plot plot;
    char text[TM_FORMAT_BYTES];

    (void)snprintf(chart->title, sizeof(chart->title), "Gaps by length");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Height: idle time in gaps of that length (from the label to the next one). Above each bar: how many gaps.");
    tm_chart_column(chart, "length of gap", false);
    tm_chart_column(chart, "gaps", true);
    tm_chart_column(chart, "time", true);
    draw_plot(chart, &plot, &(struct frame){ .kind = TM_AXIS_TIME, .high = most * 1.06 });
    pitch = fmin((plot.right - plot.left) / (double)tm_length(rows), 90);
    labelled = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const double x = plot.left + pitch * (double)i;
        double width;

        draw_bucket(chart, &plot, tm_at(rows, i), x, pitch);
        tm_format_time(text, tm_int(tm_get(tm_at(rows, i), "from_ps")));
        width = tm_chart_text_width(text, TM_TEXT_SMALL);
        if (x < labelled || x + width > chart->width)
            continue;
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_START, x, plot.bottom + 15, text);
        labelled = x + width + 6;
    }
}

/* --- memory ---------------------------------------------------------------------------------------------- */

static const struct tm_value *drawn_allocator(const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");

    for (size_t i = 0; i < tm_length(allocators); i++)
        if (tm_length(tm_get(tm_at(allocators, i), "timeline")) >= 2 && index-- == 0)
            return tm_at(allocators, i);
    return NULL;
}

static size_t count_allocators(const struct tm_value *summary)
{
    size_t n = 0;

    while (n < TM_CHART_ALLOCATORS_MOST && drawn_allocator(summary, n))
        n++;
    return n;
}

static double point_ps(const struct tm_value *timeline, size_t i)
{
    return tm_double(tm_at(tm_at(timeline, i), 0));
}

static double point_bytes(const struct tm_value *timeline, size_t i)
{
    return tm_double(tm_at(tm_at(timeline, i), 1));
}

/* Bytes in use hold until the next event: a line of steps. */
static void put_stairs(struct tm_chart *chart, const struct plot *plot, const struct tm_axis *x, const struct tm_value *timeline)
{
    const size_t count = tm_length(timeline) < POINTS_MOST ? tm_length(timeline) : POINTS_MOST;

    for (size_t i = 0; i < count; i++) {
        const double at = tm_axis_place(x, point_ps(timeline, i));

        if (i > 0)
            tm_chart_point(chart, at, tm_axis_place(&plot->y, point_bytes(timeline, i - 1)));
        tm_chart_point(chart, at, tm_axis_place(&plot->y, point_bytes(timeline, i)));
    }
}

static void draw_time_axis(struct tm_chart *chart, const struct plot *plot, const struct tm_axis *x)
{
    char label[TM_FORMAT_BYTES];

    for (int i = 0; i < tm_axis_ticks(x); i++) {
        const double at = tm_axis_place(x, tm_axis_tick(x, i));
        const double half = tm_chart_text_width(tm_axis_label(x, i, label), TM_TEXT_SMALL) / 2;

        tm_chart_line(chart, TM_ROLE_GRID, at, plot->bottom, at, plot->bottom + 3);
        if (at + half <= chart->width)
            tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, at, plot->bottom + 15, label);
    }
}

static void fill_memory_table(struct tm_chart *chart, const struct tm_value *timeline)
{
    enum { ROWS = 200 };
    const size_t count = tm_length(timeline), each = (count + ROWS - 1) / ROWS;
    char text[TM_FORMAT_BYTES];

    tm_chart_column(chart, "time", true);
    tm_chart_column(chart, "in use", true);
    tm_chart_column(chart, "free", true);
    for (size_t i = 0; i < count; i += each) {
        size_t top = i;

        for (size_t j = i; j < i + each && j < count; j++)
            if (point_bytes(timeline, j) > point_bytes(timeline, top))
                top = j;
        tm_chart_cell(chart, tm_format_moment(text, tm_int(tm_at(tm_at(timeline, top), 0))));
        tm_chart_cell(chart, tm_format_bytes(text, point_bytes(timeline, top)));
        tm_chart_cell(chart, tm_has(tm_at(tm_at(timeline, top), 2))
                                 ? tm_format_bytes(text, tm_double(tm_at(tm_at(timeline, top), 2)))
                                 : "");
    }
}

static void draw_peak(struct tm_chart *chart, const struct plot *plot, const struct tm_axis *x,
                      const struct tm_value *allocator)
{
    const struct tm_value *peak = tm_get(allocator, "peak_bytes"), *at = tm_get(allocator, "peak_at_ps");
    const double ps = tm_double(at), where = tm_axis_place(x, ps);
    char bytes[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES + 16];

    if (!tm_has(peak) || !tm_has(at) || ps < x->from || ps > x->to)
        return;
    (void)snprintf(text, sizeof(text), "peak %s", tm_format_bytes(bytes, tm_double(peak)));
    tm_chart_dot(chart, TM_ROLE_BAD, where, tm_axis_place(&plot->y, tm_double(peak)), 2.6);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, where > chart->width / 2 ? TM_ANCHOR_END : TM_ANCHOR_START,
                    where + (where > chart->width / 2 ? -5 : 5), tm_axis_place(&plot->y, tm_double(peak)) - 4, text);
}

static void draw_memory(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocator = drawn_allocator(summary, index), *timeline = tm_get(allocator, "timeline");
    const double capacity = tm_double(tm_get(allocator, "capacity_bytes"));
    double most = tm_double(tm_get(allocator, "peak_bytes")), lowest_label = 0;
    const size_t last = tm_length(timeline) - 1;
    char name[NAME_CHARS * 4 + 8], capacity_text[TM_FORMAT_BYTES], label[TM_FORMAT_BYTES + 16];
    struct tm_axis x;
    struct plot plot;
    bool capacity_fits;

    for (size_t i = 0; i <= last; i++)
        most = fmax(most, point_bytes(timeline, i));
    capacity_fits = capacity >= most && capacity <= most * 4; /* a curve at the very bottom shows nothing */
    (void)snprintf(label, sizeof(label), "capacity %s", tm_format_bytes(capacity_text, capacity));
    draw_plot(chart, &plot,
              &(struct frame){ .kind = TM_AXIS_BYTES, .high = capacity_fits ? capacity : most * 1.05,
                               .right_room = capacity_fits ? tm_chart_text_width(label, TM_TEXT_SMALL) + 8 : 12 });
    tm_axis_choose(&x, TM_AXIS_TIME, point_ps(timeline, 0), point_ps(timeline, last), 6, true);
    x.at = plot.left;
    x.length = plot.right - plot.left;
    tm_chart_path(chart, TM_MARK_POLYGON, TM_ROLE_AREA, 0);
    tm_chart_point(chart, plot.left, plot.bottom);
    put_stairs(chart, &plot, &x, timeline);
    tm_chart_point(chart, tm_axis_place(&x, point_ps(timeline, last)), plot.bottom);
    tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, 1.2);
    put_stairs(chart, &plot, &x, timeline);
    draw_time_axis(chart, &plot, &x);
    if (capacity_fits)
        draw_level(chart, &plot, label, capacity, &lowest_label);
    draw_peak(chart, &plot, &x, allocator);
    put_name(name, sizeof(name), tm_text(tm_get(allocator, "name")));
    (void)snprintf(chart->title, sizeof(chart->title), "Memory in use: %s", name);
    (void)snprintf(chart->caption, sizeof(chart->caption), "Bytes in use over the time of the profile, %zu points that keep the highest values.%s%s%s",
                   last + 1, capacity > 0 && !capacity_fits ? " The capacity of " : "",
                   capacity > 0 && !capacity_fits ? capacity_text : "",
                   capacity > 0 && !capacity_fits ? " lies above the drawing." : "");
    fill_memory_table(chart, timeline);
}

/* --- all of them ----------------------------------------------------------------------------------------- */

size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary)
{
    switch (kind) {
    case TM_CHART_STEPS:
        return count_steps(summary, true) > 0;
    case TM_CHART_STEP_TIMES:
        return count_steps(summary, false) >= STEPS_LEAST;
    case TM_CHART_DEVICES:
        return count_devices(summary) > 0;
    case TM_CHART_CAUSES:
        return most_of(tm_path(summary, "gaps.by_cause"), "total_ps") > 0;
    case TM_CHART_GAPS:
        return most_in(tm_path(summary, "gaps.histogram"), "total_ps") > 0;
    case TM_CHART_MEMORY:
        return count_allocators(summary);
    case TM_CHART_KINDS:
        break;
    }
    return 0;
}

void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary)
{
    tm_chart_clear(chart);
    if (index >= tm_charts_count(kind, summary))
        return;
    switch (kind) {
    case TM_CHART_STEPS:
        draw_steps(chart, summary);
        break;
    case TM_CHART_STEP_TIMES:
        draw_step_times(chart, summary);
        break;
    case TM_CHART_DEVICES:
        draw_devices(chart, summary);
        break;
    case TM_CHART_CAUSES:
        draw_causes(chart, summary);
        break;
    case TM_CHART_GAPS:
        draw_gaps(chart, summary);
        break;
    case TM_CHART_MEMORY:
        draw_memory(chart, summary, index);
        break;
    case TM_CHART_KINDS:
        break;
    }
}
