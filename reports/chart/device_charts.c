/* SPDX-License-Identifier: Apache-2.0 */
/* What each device did: one bar per device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/sorter.h"
#include "reports/chart/chart.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

static bool device_has_parts(const struct tm_value *device)
{
    struct tm_parts parts;

    tm_parts_of_device(&parts, device);
    return parts.present && parts.total_ps > 0;
}

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* The n-th smallest utilization. */
static double utilization_limit(const struct tm_value *devices, bool (*has)(const struct tm_value *device))
{
    double lowest[TM_CHART_DEVICES_MOST];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const double value = tm_double(tm_get(tm_at(devices, i), "utilization_pct"));

        if (has(tm_at(devices, i)))
            count = tm_sorted_keep(lowest, count, TM_CHART_DEVICES_MOST, sizeof(value), &value, ascending);
    }
    return count ? lowest[count - 1] : 0;
}

int tm_chart_least_used(const struct tm_value *summary, bool (*has)(const struct tm_value *device),
                        const struct tm_value **found, size_t *total)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    const double limit = utilization_limit(devices, has);
    int count = 0;

    *total = 0;
    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);

        if (!has(device))
            continue;
        ++*total;
        if (count < TM_CHART_DEVICES_MOST && tm_double(tm_get(device, "utilization_pct")) <= limit)
            found[count++] = device;
    }
    return count;
}

static size_t count_devices(const struct tm_value *summary)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];
    size_t total;

    return tm_chart_least_used(summary, device_has_parts, found, &total) > 0;
}

static void fill_bar(struct tm_bar *bar, const struct tm_value *summary, const struct tm_value *device)
{
    const struct tm_value *use = tm_get(device, "utilization_pct");
    char pct[TM_FORMAT_BYTES];

    *bar = (struct tm_bar){ .parts = { .present = false } };
    tm_parts_of_device(&bar->parts, device);
    tm_chart_cut_name(bar->name, sizeof(bar->name), tm_shown_device(summary, tm_text(tm_get(device, "id"))));
    if (tm_has(use))
        (void)snprintf(bar->note, sizeof(bar->note), "%s used", tm_format_pct(pct, tm_double(use)));
}

static void draw_devices(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    size_t total;
    const int count = tm_chart_least_used(summary, device_has_parts, found, &total);
    char number[TM_FORMAT_BYTES];

    for (int i = 0; i < count; i++)
        fill_bar(&bars[i], summary, found[i]);
    tm_chart_add_caption(
        chart, "The window of the analyzed steps on each device; the parts add up to the window. At the right: "
               "utilization.");
    if (total > (size_t)count)
        tm_chart_add_caption(chart, " The %d least utilized of %s devices are shown.", count,
                             tm_format_count(number, (int64_t)total));
    if (tm_parts_rows(chart, bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "device", bars, count);
}

/* Interaction of devices: exposed collectives and copies, late arrivals, and imbalance of compute time. */

enum { KINDS_MOST = 16 };

/* --- exposed and hidden time --- */

/* Add a row's time: the exposed part, and the part overlapped with other work. */
static void add_row(struct tm_bar *bar, enum tm_role role, const struct tm_value *row)
{
    struct tm_parts *parts = &bar->parts;
    const int64_t total_ps = tm_int(tm_get(row, "total_ps")), exposed_ps = tm_int(tm_get(row, "exposed_ps"));

    const int64_t longer_ps = exposed_ps > total_ps ? exposed_ps : total_ps; /* at the edge of the analyzed range */

    if (longer_ps <= 0 || total_ps < 0 || exposed_ps < 0 || longer_ps > INT64_MAX - parts->total_ps)
        return;
    parts->present = true;
    parts->ps[role] += exposed_ps;
    parts->ps[TM_ROLE_HIDDEN] += longer_ps - exposed_ps;
    parts->total_ps += longer_ps;
}

/* The bar of a kind; a new one at the end.  out: NULL if there are too many */
static struct tm_bar *bar_of(struct tm_bar *bars, int *count, const char *kind)
{
    char name[TM_CHART_NAME_BYTES];

    tm_chart_cut_name(name, sizeof(name), kind);
    for (int i = 0; i < *count; i++)
        if (strcmp(bars[i].name, name) == 0)
            return &bars[i];
    if (*count == KINDS_MOST)
        return NULL;
    bars[*count] = (struct tm_bar){ .parts = { .present = false } };
    (void)snprintf(bars[*count].name, sizeof(bars[0].name), "%.90s", name);
    return &bars[(*count)++];
}

static int fill_collectives(struct tm_bar *bars, const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "collectives.rows");
    int count = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);
        const bool has_time = tm_int(tm_get(row, "total_ps")) > 0;
        struct tm_bar *bar = has_time ? bar_of(bars, &count, tm_text(tm_get(row, "kind"))) : NULL;

        if (bar)
            add_row(bar, TM_ROLE_COLLECTIVE, row);
    }
    if (tm_int(tm_path(summary, "collectives.rest.total_ps")) > 0) {
        struct tm_bar *bar = bar_of(bars, &count, "others");

        if (bar)
            add_row(bar, TM_ROLE_COLLECTIVE, tm_path(summary, "collectives.rest"));
    }
    for (int i = 0; i < count; i++) {
        char time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES] = "nothing";
        const struct tm_parts *parts = &bars[i].parts;

        if (parts->ps[TM_ROLE_HIDDEN] > 0)
            tm_format_pct(pct, 100.0 * (double)parts->ps[TM_ROLE_HIDDEN] / (double)parts->total_ps);
        (void)snprintf(bars[i].note, sizeof(bars[i].note), "%s, %s hidden", tm_format_time(time, parts->total_ps), pct);
    }
    return count;
}

static size_t count_collectives(const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];

    return fill_collectives(bars, summary) > 0;
}

static void draw_collectives(struct tm_chart *chart, const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];
    const int count = fill_collectives(bars, summary);

    tm_chart_add_caption(
        chart, "Time in collectives by kind, over all devices. Exposed: the device does not compute at the same "
               "time. Only exposed time makes a step longer.");
    if (tm_parts_rows(chart, bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "kind", bars, count);
}

static int fill_transfers(struct tm_bar *bars, const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "transfers.by_direction");
    int count = 0;

    for (size_t i = 0; i < tm_length(rows) && count < KINDS_MOST; i++) {
        const struct tm_value *row = tm_at(rows, i), *bandwidth = tm_get(row, "mean_bandwidth");
        const enum tm_role known = tm_role_of_direction(tm_text(tm_get(row, "direction")));
        const enum tm_role role = known == TM_ROLE_UNKNOWN ? TM_ROLE_COPY_OTHER : known;
        char time[TM_FORMAT_BYTES], rate[TM_FORMAT_BYTES] = "";
        struct tm_bar *bar = &bars[count];

        *bar = (struct tm_bar){ .parts = { .present = false } };
        add_row(bar, role, row);
        if (!bar->parts.present)
            continue;
        if (tm_has(bandwidth))
            tm_format_rate(rate, tm_double(bandwidth));
        tm_chart_cut_name(bar->name, sizeof(bar->name), tm_direction_title(tm_text(tm_get(row, "direction"))));
        (void)snprintf(bar->note, sizeof(bar->note), "%s%s%s", tm_format_time(time, bar->parts.total_ps),
                       rate[0] ? ", " : "", rate);
        count++;
    }
    return count;
}

static size_t count_transfers(const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];

    return fill_transfers(bars, summary) > 0;
}

static void draw_transfers(struct tm_chart *chart, const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];
    const int count = fill_transfers(bars, summary);

    tm_chart_add_caption(chart,
                         "Time in copies by direction, over all devices. Exposed: the device neither computes nor "
                         "communicates at the same time. At the right: mean bandwidth.");
    if (tm_parts_rows(chart, bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "direction", bars, count);
}

/* --- devices side by side --- */

/* Rows of devices; if there are many, those with the largest figure. */
struct ranking {
    const struct tm_value *row[TM_CHART_DEVICES_MOST];
    int count;
    size_t total; /* rows in all */
    double mean_ps;
};

static void rank(struct ranking *r, const struct tm_value *rows, const char *key)
{
    size_t pick[TM_CHART_DEVICES_MOST];
    double sum = 0;

    *r = (struct ranking){ .total = tm_length(rows) };
    r->count = (int)tm_pick_largest(rows, key, NULL, TM_CHART_DEVICES_MOST, pick);
    for (int i = 0; i < r->count; i++)
        r->row[i] = tm_at(rows, pick[i]);
    for (size_t i = 0; i < r->total; i++)
        sum += (double)tm_int(tm_get(tm_at(rows, i), key));
    r->mean_ps = r->total ? sum / (double)r->total : 0;
}

static void begin_bar(struct tm_bar *bar, const struct tm_value *summary, const struct tm_value *row)
{
    *bar = (struct tm_bar){ .parts = { .present = true } };
    tm_chart_cut_name(bar->name, sizeof(bar->name), tm_shown_device(summary, tm_text(tm_get(row, "device"))));
}

static void set_figure(struct tm_bar *bar, enum tm_role role, int64_t ps)
{
    bar->parts.ps[role] = ps > 0 ? ps : 0;
    bar->parts.total_ps = ps > 0 ? ps : 0;
}

static void emit_left_out(struct tm_chart *chart, const struct ranking *r)
{
    char number[TM_FORMAT_BYTES];

    if (r->total > (size_t)r->count)
        tm_chart_add_caption(chart, " The first %d of %s devices are shown.", r->count,
                             tm_format_count(number, (int64_t)r->total));
}

static const struct tm_value *members_of(const struct tm_value *summary)
{
    return tm_path(summary, "collectives.skew.members");
}

static size_t count_skew(const struct tm_value *summary)
{
    struct ranking r;

    rank(&r, members_of(summary), "late_ps");
    return r.count > 1 && r.mean_ps > 0;
}

static void fill_skew_bar(struct tm_chart *chart, struct tm_bar *bar, const struct tm_value *summary,
                          const struct tm_value *row)
{
    const char *straggler = tm_text(tm_path(summary, "collectives.skew.straggler"));
    const bool is_straggler = straggler[0] && strcmp(straggler, tm_text(tm_get(row, "device"))) == 0;
    char late[TM_FORMAT_BYTES], last[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], caused[TM_FORMAT_BYTES];

    begin_bar(bar, summary, row);
    set_figure(bar, is_straggler ? TM_ROLE_BAD : TM_ROLE_SERIES, tm_int(tm_get(row, "late_ps")));
    (void)snprintf(bar->note, sizeof(bar->note), "%s, last in %s of %s%s",
                   tm_format_time(late, tm_int(tm_get(row, "late_ps"))),
                   tm_format_count(last, tm_int(tm_get(row, "last_count"))),
                   tm_format_count(count, tm_int(tm_get(row, "count"))), is_straggler ? ", most often late" : "");
    tm_chart_cell(chart, bar->name);
    tm_chart_cell(chart, late);
    tm_chart_cell(chart, last);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, tm_format_time(caused, tm_int(tm_get(row, "caused_ps"))));
}

static void draw_skew(struct tm_chart *chart, const struct tm_value *summary)
{
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    struct ranking r;

    rank(&r, members_of(summary), "late_ps");
    for (int i = 0; i < r.count; i++)
        fill_skew_bar(chart, &bars[i], summary, r.row[i]);
    tm_plain_rows(chart, bars, r.count, 0, NULL);
    tm_chart_add_caption(chart, "How much later than the first device each device arrives, summed over all collectives "
                                "across devices. The others wait for the last one.");
    emit_left_out(chart, &r);
}

static size_t count_balance(const struct tm_value *summary)
{
    struct ranking r;

    rank(&r, tm_path(summary, "balance.busy"), "compute_ps");
    return r.count > 1 && r.mean_ps > 0;
}

/* The slowest device has the color of the assessment. */
static enum tm_role role_of_slowest(const struct tm_value *summary)
{
    const char *band = tm_text(tm_path(summary, "kpis[imbalance].band"));

    if (strcmp(band, "bad") == 0)
        return TM_ROLE_BAD;
    return strcmp(band, "warning") == 0 ? TM_ROLE_WARNING : TM_ROLE_SERIES;
}

static void fill_balance_bar(struct tm_chart *chart, struct tm_bar *bar, const struct tm_value *summary,
                             const struct tm_value *row, double mean_ps)
{
    const char *slowest = tm_text(tm_path(summary, "balance.slowest"));
    const bool is_slowest = slowest[0] && strcmp(slowest, tm_text(tm_get(row, "device"))) == 0;
    const int64_t ps = tm_int(tm_get(row, "compute_ps"));
    const double over_pct = 100 * ((double)ps / mean_ps - 1);
    char time[TM_FORMAT_BYTES], off[TM_FORMAT_BYTES];

    begin_bar(bar, summary, row);
    set_figure(bar, is_slowest ? role_of_slowest(summary) : TM_ROLE_SERIES, ps);
    if (fabs(over_pct) < 0.05)
        (void)snprintf(off, sizeof(off), "0%%");
    else
        tm_format_change(off, over_pct, false);
    (void)snprintf(bar->note, sizeof(bar->note), "%s, %s%s", tm_format_time(time, ps), off,
                   is_slowest ? ", slowest" : "");
    tm_chart_cell(chart, bar->name);
    tm_chart_cell(chart, time);
    tm_chart_cell(chart, off);
}

static void draw_balance(struct tm_chart *chart, const struct tm_value *summary)
{
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    char name[TM_FORMAT_BYTES + 8], time[TM_FORMAT_BYTES];
    struct ranking r;

    rank(&r, tm_path(summary, "balance.busy"), "compute_ps");
    for (int i = 0; i < r.count; i++)
        fill_balance_bar(chart, &bars[i], summary, r.row[i], r.mean_ps);
    (void)snprintf(name, sizeof(name), "mean %s", tm_format_time(time, tm_whole(r.mean_ps)));
    tm_plain_rows(chart, bars, r.count, r.mean_ps, name);
    tm_chart_add_caption(
        chart, "Compute time of each device in the analyzed steps, the longest first, and the difference from the "
               "mean. The slowest device determines the step time.");
    emit_left_out(chart, &r);
}

/* Bytes in use over time, one chart per allocator. */

enum { POINTS_MOST = 2000 };

static const struct tm_value *drawn_allocator(const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");

    for (size_t i = 0; i < tm_length(allocators); i++)
        if (tm_length(tm_get(tm_at(allocators, i), "timeline")) >= 2 && index-- == 0)
            return tm_at(allocators, i);
    return NULL;
}

static size_t count_memory(const struct tm_value *summary)
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

/* In a damaged summary, times may be in any order. */
static double place_inside(const struct tm_plot *plot, const struct tm_axis *x, double ps)
{
    return fmin(fmax(tm_axis_place(x, ps), plot->left), plot->right);
}

/* The bytes in use are constant until the next event: a line of steps.  Changes too small to be seen are not drawn. */
static void put_stairs(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
                       const struct tm_value *timeline)
{
    const size_t count = tm_length(timeline) < POINTS_MOST ? tm_length(timeline) : POINTS_MOST;
    const double seen = 0.15;
    double level = 0;

    for (size_t i = 0; i < count; i++) {
        const double at = place_inside(plot, x, point_ps(timeline, i));
        const double y = tm_axis_place(&plot->y, point_bytes(timeline, i));

        if (i > 0 && i + 1 < count && fabs(y - level) < seen)
            continue;
        if (i > 0)
            tm_chart_point(chart, at, level);
        tm_chart_point(chart, at, y);
        level = y;
    }
}

static void draw_time_axis(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x)
{
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int i = 0; i < tm_axis_ticks(x); i++) {
        const double at = tm_axis_place(x, tm_axis_tick(x, i));

        tm_chart_line(chart, TM_ROLE_GRID, at, plot->bottom, at, plot->bottom + 3);
        tm_chart_label(chart, at, plot->bottom + TM_PLOT_LABELS_BELOW, tm_axis_label(x, i, label), &until);
    }
}

static void fill_memory_table(struct tm_chart *chart, const struct tm_value *timeline)
{
    enum { ROWS = 100 };
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

static void draw_peak(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
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

/* The area of the bytes in use, and its upper edge. */
static void draw_curve(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
                       const struct tm_value *timeline)
{
    const double end = point_ps(timeline, tm_length(timeline) - 1);

    tm_chart_path(chart, TM_MARK_POLYGON, TM_ROLE_AREA, 0);
    tm_chart_point(chart, plot->left, plot->bottom);
    put_stairs(chart, plot, x, timeline);
    tm_chart_point(chart, place_inside(plot, x, end), plot->bottom);
    tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, 1.2);
    put_stairs(chart, plot, x, timeline);
}

static void draw_memory(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocator = drawn_allocator(summary, index), *timeline = tm_get(allocator, "timeline");
    const double capacity = tm_double(tm_get(allocator, "capacity_bytes"));
    double most = tm_double(tm_get(allocator, "peak_bytes")), lowest_label = 0;
    const size_t last = tm_length(timeline) - 1;
    char name[TM_CHART_NAME_BYTES], capacity_text[TM_FORMAT_BYTES], label[TM_FORMAT_BYTES + 16];
    struct tm_axis x;
    struct tm_plot plot;
    bool capacity_fits;

    for (size_t i = 0; i <= last; i++)
        most = fmax(most, point_bytes(timeline, i));
    capacity_fits = capacity >= most && capacity <= most * 4; /* a curve at the bottom edge would not be visible */
    (void)snprintf(label, sizeof(label), "capacity %s", tm_format_bytes(capacity_text, capacity));
    tm_plot_begin(
        chart, &plot,
        &(struct tm_plot_frame){ .kind = TM_AXIS_BYTES,
                                 .high = capacity_fits ? capacity : most * 1.05,
                                 .right_room = capacity_fits ? tm_chart_text_width(label, TM_TEXT_SMALL) + 8 : 12 });
    tm_axis_choose(&x, TM_AXIS_TIME, point_ps(timeline, 0), point_ps(timeline, last), 6, true);
    x.at = plot.left;
    x.length = plot.right - plot.left;
    draw_curve(chart, &plot, &x, timeline);
    draw_time_axis(chart, &plot, &x);
    if (capacity_fits)
        tm_plot_level(chart, &plot, label, capacity, &lowest_label);
    draw_peak(chart, &plot, &x, allocator);
    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(allocator, "name")));
    (void)snprintf(chart->title, sizeof(chart->title), "Memory in use: %s", name);
    tm_chart_add_caption(chart, "Bytes in use over the time of the profile, %zu points that preserve the maxima.%s%s%s",
                         last + 1, capacity > 0 && !capacity_fits ? " The capacity of " : "",
                         capacity > 0 && !capacity_fits ? capacity_text : "",
                         capacity > 0 && !capacity_fits ? " is above the chart." : "");
    fill_memory_table(chart, timeline);
}

/* Occupancy of kernels: a dot per kernel, right for long ones, large for those with much time. */

enum { LOOKED_AT = 400, NAMED = 5, TABLE_ROWS = 60, PCT_STEP = 25 };

static const double dot_least = 2, dot_most = 9, plot_height = 190, top_room = 10, left_room = 42, below = 34;

struct scatter {
    double low, high; /* log10 of picoseconds; whole decades */
    double left, right, top, bottom;
    struct tm_scatter spots;
    const struct tm_value *row[TM_SPOTS_MOST];
};

static bool is_drawn(const struct tm_value *row)
{
    return tm_has(tm_get(row, "occupancy_pct")) && tm_double(tm_get(row, "mean_ps")) >= 1;
}

static size_t count_occupancy(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "kernels.rows");

    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT; i++)
        if (is_drawn(tm_at(rows, i)))
            return 1;
    return 0;
}

/* The rows that are drawn, and the decades that hold them. */
static void choose_rows(struct scatter *s, const struct tm_value *rows)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT && s->spots.dots < TM_SPOTS_MOST; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const double at = log10(fmax(tm_double(tm_get(row, "mean_ps")), 1));

        if (!is_drawn(row))
            continue;
        s->row[s->spots.dots++] = row;
        s->low = fmin(s->low, floor(at));
        s->high = fmax(s->high, floor(at) + 1);
    }
}

static double x_of(const struct scatter *s, double log_ps)
{
    return s->left + (log_ps - s->low) / (s->high - s->low) * (s->right - s->left);
}

static double y_of(const struct scatter *s, double pct)
{
    return s->bottom - fmin(fmax(pct, 0), 100) / 100 * (s->bottom - s->top);
}

/* "10 µs" of a decade. */
static char *decade_label(char *out, double decade)
{
    const struct tm_axis axis = { .kind = TM_AXIS_TIME, .to = pow(10, decade) * 1.000001, .step = pow(10, decade) };

    return tm_axis_text(&axis, pow(10, decade), out);
}

static void draw_scales(struct tm_chart *chart, const struct scatter *s)
{
    static const char title[] = "mean time per launch";
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int pct = 0; pct <= 100; pct += PCT_STEP) {
        tm_chart_line(chart, TM_ROLE_GRID, s->left, y_of(s, pct), s->right, y_of(s, pct));
        (void)snprintf(label, sizeof(label), "%d%%", pct);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, s->left - 6, y_of(s, pct) + 3, label);
    }
    for (int d = (int)s->low; d <= (int)s->high; d++) {
        tm_chart_line(chart, TM_ROLE_GRID, x_of(s, d), s->top, x_of(s, d), s->bottom);
        tm_chart_label(chart, x_of(s, d), s->bottom + 14, decade_label(label, d), &until);
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, s->right, s->bottom + 28, title);
}

/* Where the figure of the run is assessed as good or bad. */
static void draw_limits(struct tm_chart *chart, struct scatter *s, const struct tm_value *summary)
{
    const struct tm_value *kpi = tm_path(summary, "kpis[occupancy]");
    static const struct {
        const char *key, *label;
    } limits[] = { { "good", "good from" }, { "bad", "critical below" } };
    double above = -INFINITY;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const struct tm_value *limit = tm_get(kpi, limits[i].key);
        const double pct = tm_double(limit);
        char text[TM_FORMAT_BYTES + 16], number[TM_FORMAT_BYTES];
        double y;

        if (!tm_has(limit) || !(pct > 0 && pct < 100))
            continue;
        y = fmax(y_of(s, pct) + 3, above + 10);
        above = y;
        tm_chart_dashed(chart, TM_ROLE_QUIET, s->left, y_of(s, pct), s->right, y_of(s, pct));
        (void)snprintf(text, sizeof(text), "%s %s", limits[i].label, tm_format_limit(number, pct, "%"));
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, s->right + 5, y, text);
    }
}

static void draw_dot(struct tm_chart *chart, struct scatter *s, int i, double most_ps)
{
    const struct tm_value *row = s->row[i];
    const double total_ps = fmax(tm_double(tm_get(row, "total_ps")), 0);
    const struct tm_scatter_point dot = {
        x_of(s, log10(fmax(tm_double(tm_get(row, "mean_ps")), 1))), y_of(s, tm_double(tm_get(row, "occupancy_pct"))),
        fmax(dot_least, dot_most * sqrt(most_ps > 0 ? fmin(total_ps / most_ps, 1) : 0))
    };
    char name[TM_CHART_NAME_BYTES], pct[TM_FORMAT_BYTES], mean[TM_FORMAT_BYTES], total[TM_FORMAT_BYTES];

    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(row, "name")));
    tm_chart_open(chart, "%s: occupancy %s, %s each, %s in total", name,
                  tm_format_pct(pct, tm_double(tm_get(row, "occupancy_pct"))),
                  tm_format_time(mean, tm_int(tm_get(row, "mean_ps"))),
                  tm_format_time(total, tm_int(tm_get(row, "total_ps"))));
    tm_chart_dot(chart, TM_ROLE_SERIES, dot.x, dot.y, dot.width);
    tm_chart_close(chart);
    s->spots.dot[i] = dot;
    if (i >= TABLE_ROWS)
        return;
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, pct);
    tm_chart_cell(chart, mean);
    tm_chart_cell(chart, total);
}

static void draw_dots(struct tm_chart *chart, struct scatter *s)
{
    double most_ps = 0;

    for (int i = 0; i < s->spots.dots; i++)
        most_ps = fmax(most_ps, tm_double(tm_get(s->row[i], "total_ps")));
    for (int i = 0; i < s->spots.dots; i++)
        draw_dot(chart, s, i, most_ps);
    s->spots.left = s->left;
    s->spots.right = s->right;
    for (int i = 0; i < s->spots.dots && i < NAMED; i++) { /* those that take most time */
        char name[TM_CHART_NAME_BYTES];

        tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(s->row[i], "name")));
        tm_spots_name(chart, &s->spots, i, name);
    }
}

static void draw_occupancy(struct tm_chart *chart, const struct tm_value *summary)
{
    struct scatter s = { .left = left_room,
                         .right = chart->width - tm_chart_text_width("good from 100%", TM_TEXT_SMALL) - 8,
                         .top = top_room,
                         .bottom = top_room + plot_height };

    choose_rows(&s, tm_path(summary, "kernels.rows"));
    draw_scales(chart, &s);
    draw_limits(chart, &s, summary);
    draw_dots(chart, &s);
    chart->height = s.bottom + below;
    tm_chart_add_caption(
        chart,
        "%d kernel%s with recorded occupancy; the larger the dot, the more total time. Large dots at the bottom are "
        "worth optimizing. The dashed lines are the limits of the key figure.",
        s.spots.dots, tm_format_plural(s.spots.dots));
}

const struct tm_chart_maker tm_device_charts[] = {
    { TM_CHART_DEVICES, "Device breakdown", NULL, count_devices, .draw = draw_devices },
    { TM_CHART_MEMORY, NULL, NULL, count_memory, .draw_at = draw_memory },
    { TM_CHART_OCCUPANCY, "Kernel occupancy", "kernel, #occupancy, #mean time, #total time", count_occupancy,
      .draw = draw_occupancy },
    { TM_CHART_COLLECTIVES, "Exposed and overlapped collectives", NULL, count_collectives, .draw = draw_collectives },
    { TM_CHART_SKEW, "Stragglers", "device, #total lateness, #arrived last, #collectives, #waiting of others",
      count_skew, .draw = draw_skew },
    { TM_CHART_BALANCE, "Compute time by device", "device, #compute, #vs. mean", count_balance, .draw = draw_balance },
    { TM_CHART_TRANSFERS, "Exposed and overlapped copies", NULL, count_transfers, .draw = draw_transfers },
    { .count = NULL },
};
