/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of steps: what each step spends its time on, and how long it takes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/clock.h"
#include "reports/chart/chart.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

/* Up to this many steps are rows with names; more are columns. */
enum { ROWS_MOST = 12, SHORT_ROWS_MOST = 3, POINTS_MOST = 2000, DOTS_MOST = 200, STEPS_LEAST = 3 };

static bool is_drawn(const struct tm_value *step)
{
    return tm_is(tm_get(step, "chosen"));
}

/* Length of a step by the basis that the summary names.  out: below 0 if it has none */
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

static bool has_several_hosts(const struct tm_value *summary)
{
    return tm_length(tm_path(summary, "input.hosts")) > 1;
}

/* "12", of several hosts "12 on vm1".  summary: NULL of one host */
static const char *name_step(char *out, size_t out_bytes, const struct tm_value *step, const struct tm_value *summary)
{
    const char *host = summary ? tm_shown_host(summary, tm_text(tm_get(step, "host"))) : "";
    char number[TM_FORMAT_BYTES];

    tm_format_count(number, tm_int(tm_get(step, "number")));
    (void)snprintf(out, out_bytes, "%s%s%.40s", number, summary ? " on " : "", host);
    return out;
}

/* No steps are marked: the whole session counts as one. */
static bool is_session(const struct tm_value *summary)
{
    return strcmp(tm_text(tm_path(summary, "steps.source")), "session") == 0;
}

/* Fill one bar per run of `each` steps with the slowest of the run; its label is the first of them if there are several,
 * so that labels are at even distances.  out: number of bars */
static int fill_step_bars(struct tm_bar *bars, const struct tm_value *summary, size_t each)
{
    const struct tm_value *list = tm_path(summary, "steps.list");
    const struct tm_value *of_hosts = has_several_hosts(summary) ? summary : NULL;
    const bool names_device = tm_length(tm_get(summary, "devices")) > 1;
    enum { FEW = 6 }; /* labels have room for the host */
    size_t seen = 0;
    int count = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);
        struct tm_parts parts;
        char name[96], time[TM_FORMAT_BYTES];

        if (!has_parts(step))
            continue;
        tm_parts_of_step(&parts, step);
        if (seen++ % each == 0) {
            (void)snprintf(bars[count].label, sizeof(bars[0].label), "%.20s",
                           tm_format_count(name, tm_int(tm_get(step, "number"))));
            bars[count++].parts.total_ps = -1;
        }
        if (parts.total_ps <= bars[count - 1].parts.total_ps)
            continue;
        bars[count - 1].parts = parts;
        name_step(name, sizeof(name), step, of_hosts);
        if (is_session(summary)) /* "session", "session on vm1" */
            (void)snprintf(bars[count - 1].name, sizeof(bars[0].name), "session%s", name + strcspn(name, " "));
        else
            (void)snprintf(bars[count - 1].name, sizeof(bars[0].name), "step %.90s", name);
        if (!of_hosts || tm_length(list) > FEW)
            tm_format_count(name, tm_int(tm_get(step, "number")));
        if (each == 1)
            (void)snprintf(bars[count - 1].label, sizeof(bars[0].label), "%.20s", name);
        (void)snprintf(bars[count - 1].note, sizeof(bars[0].note), "%s%s%s%.40s", tm_format_time(time, parts.total_ps),
                       tm_is(tm_get(step, "compile")) ? ", compiles" : "", names_device ? ", " : "",
                       names_device ? tm_shown_device(summary, tm_text(tm_get(step, "device"))) : "");
    }
    return count;
}

static size_t count_chosen(const struct tm_value *list)
{
    size_t n = 0;

    for (size_t i = 0; i < tm_length(list); i++)
        n += is_drawn(tm_at(list, i));
    return n;
}

/* State how many steps are not drawn, and why.  in: drawn  steps of the list that have what the chart
 * shows */
static void add_left_out(struct tm_chart *chart, const struct tm_value *steps, size_t drawn)
{
    const int64_t others = tm_int(tm_get(steps, "count")) - tm_int(tm_get(steps, "chosen"));
    const size_t without = count_chosen(tm_get(steps, "list")) - drawn;
    char number[TM_FORMAT_BYTES];

    if (others == 1)
        tm_chart_add_caption(chart, " One step of the profile (warm-up, incomplete or not selected) is not shown.");
    else if (others > 1)
        tm_chart_add_caption(chart, " %s steps of the profile (warm-up, incomplete or not selected) are not shown.",
                             tm_format_count(number, others));
    if (without > 0)
        tm_chart_add_caption(chart, " Analyzed steps without a value to show: %s.",
                             tm_format_count(number, (int64_t)without));
}

static size_t count_step_parts(const struct tm_value *summary)
{
    return count_steps(summary, true) > 0;
}

static void draw_steps(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t total = count_steps(summary, true);
    const size_t each = (total + TM_CHART_BARS_MOST - 1) / TM_CHART_BARS_MOST;
    struct tm_bar bars[TM_CHART_BARS_MOST];
    char number[TM_FORMAT_BYTES];
    const int count = each > 0 ? fill_step_bars(bars, summary, each) : 0;

    (void)snprintf(chart->title, sizeof(chart->title), "Step breakdown");
    if (each > 1) /* The list has a row for each group of devices that run the step together. */
        tm_chart_add_caption(
            chart,
            (int64_t)total <= tm_int(tm_get(steps, "chosen"))
                ? "Each bar is the slowest of %zu consecutive steps, labeled by the first, out of %s listed steps."
                : "Each bar is the longest of %zu consecutive ones, labeled by the first, out of %s: one for each step "
                  "and device group.",
            each, tm_format_count(number, (int64_t)total));
    else
        tm_chart_add_caption(chart, is_session(summary)
                                        ? "No steps are marked: the bar is the whole session, and its parts add up "
                                          "to its duration."
                                        : "One bar per step; its parts add up to the step time.");
    if (tm_length(tm_get(summary, "devices")) > 1)
        tm_chart_add_caption(chart, " With several devices, the bar shows the busiest device in the step, which is "
                                    "named.");
    add_left_out(chart, steps, total);
    if (count <= (chart->is_short ? SHORT_ROWS_MOST : ROWS_MOST) ? tm_parts_rows(chart, bars, count)
                                                                 : tm_parts_columns(chart, "step", bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "step", bars, count);
}

/* The range of the scale, excluding the few steps that would hide the others. */
static void find_range(const struct tm_value *steps, double *low, double *high)
{
    const struct tm_value *list = tm_get(steps, "list");
    double lengths[POINTS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(list) && count < POINTS_MOST; i++) {
        const int64_t length = step_length(steps, tm_at(list, i));

        if (is_drawn(tm_at(list, i)) && length >= 0)
            lengths[count++] = (double)length;
    }
    *high = tm_without_outliers(lengths, count);
    *low = count ? lengths[0] : 0;
    if (*low < *high / 2)
        *low = 0;
}

/* Where the steps are drawn, and how much of the axis below already has labels. */
struct step_points {
    const struct tm_value *summary;
    const struct tm_value *of_hosts; /* the summary of several hosts, else NULL */
    size_t total, every;             /* a label for each `every` of them */
    double pitch, labelled, told;
};

static void draw_step_point(struct tm_chart *chart, const struct tm_plot *plot, struct step_points *p,
                            const struct tm_value *step, size_t n)
{
    enum { FEW = 12 }; /* labels include the host */
    const int64_t length = step_length(tm_get(p->summary, "steps"), step);
    const bool is_over = (double)length > plot->y.to;
    const struct tm_point at = { plot->left + p->pitch * ((double)n + 0.5),
                                 tm_axis_place(&plot->y, fmin((double)length, plot->y.to)) };
    char number[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], name[96];

    tm_format_count(number, tm_int(tm_get(step, "number")));
    tm_format_time(time, length);
    name_step(name, sizeof(name), step, p->of_hosts);
    if (p->total <= DOTS_MOST) {
        tm_chart_open(chart, "step %s: %s", name, time);
        tm_chart_dot(chart, is_over ? TM_ROLE_BAD : TM_ROLE_SERIES, at.x, at.y, 2.2);
        tm_chart_close(chart);
    }
    if (is_over)
        tm_chart_label(chart, at.x, at.y - 4, time, &p->told);
    if (p->total <= FEW || n % p->every == 0)
        tm_chart_label(chart, at.x, plot->bottom + TM_PLOT_LABELS_BELOW, p->total <= FEW ? name : number, &p->labelled);
    if (n < DOTS_MOST) {
        tm_chart_cell(chart, name);
        tm_chart_cell(chart, time);
    }
}

/* Draw the line, one per host, then the dots, and fill the table with what is drawn. */
static void draw_step_points(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_value *summary,
                             size_t total)
{
    const struct tm_value *steps = tm_get(summary, "steps"), *list = tm_get(steps, "list");
    struct step_points p = { .summary = summary,
                             .of_hosts = has_several_hosts(summary) ? summary : NULL,
                             .total = total,
                             .pitch = (plot->right - plot->left) / (double)total,
                             .labelled = plot->left - 8, /* the scale is left of it */
                             .told = plot->left - 8 };
    const int64_t last = tm_int(tm_get(tm_at(list, tm_length(list) - 1), "number"));
    char number[TM_FORMAT_BYTES];

    p.every = (size_t)tm_chart_label_every(tm_chart_text_width(tm_format_count(number, last), TM_TEXT_SMALL), p.pitch);
    for (int pass = 0; pass < 2; pass++) { /* the line below the dots */
        const char *host = NULL;
        size_t n = 0;

        for (size_t i = 0; i < tm_length(list) && n < total; i++) {
            const struct tm_value *step = tm_at(list, i);
            const double length = (double)step_length(steps, step);
            const char *its_host = tm_text(tm_get(step, "host"));

            if (!is_drawn(step) || length < 0)
                continue;
            if (pass == 0 && (!host || strcmp(host, its_host) != 0))
                tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, total <= DOTS_MOST ? 1 : 0.8);
            host = its_host;
            if (pass == 0)
                tm_chart_point(chart, plot->left + p.pitch * ((double)n + 0.5),
                               tm_axis_place(&plot->y, fmin(length, plot->y.to)));
            else
                draw_step_point(chart, plot, &p, step, n);
            n++;
        }
    }
}

static size_t count_step_times(const struct tm_value *summary)
{
    return count_steps(summary, false) >= STEPS_LEAST;
}

static void draw_step_times(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t all = count_steps(summary, false), total = all < POINTS_MOST ? all : POINTS_MOST;
    char p95[80], median[80], time[TM_FORMAT_BYTES];
    double low, high, lowest_label = 0;
    struct tm_plot plot;

    (void)snprintf(p95, sizeof(p95), "p95 %s", tm_format_time(time, tm_int(tm_get(steps, "p95_ps"))));
    (void)snprintf(median, sizeof(median), "median %s", tm_format_time(time, tm_int(tm_get(steps, "median_ps"))));
    find_range(steps, &low, &high);
    tm_plot_begin(chart, &plot,
                  &(struct tm_plot_frame){ .kind = TM_AXIS_TIME,
                                           .low = low,
                                           .high = high,
                                           .below = "step",
                                           .right_room = 8 + fmax(tm_chart_text_width(p95, TM_TEXT_SMALL),
                                                                  tm_chart_text_width(median, TM_TEXT_SMALL)) });
    if (tm_has(tm_get(steps, "p95_ps")))
        tm_plot_level(chart, &plot, p95, tm_double(tm_get(steps, "p95_ps")), &lowest_label);
    if (tm_has(tm_get(steps, "median_ps")))
        tm_plot_level(chart, &plot, median, tm_double(tm_get(steps, "median_ps")), &lowest_label);
    draw_step_points(chart, &plot, summary, total);
    tm_chart_add_caption(chart, "%s by step number, with median and 95th percentile.%s%s",
                         strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0
                             ? "Duration of the step on the host"
                             : "Step time, from the latest end of the previous step on any device to the latest end "
                               "of this one,",
                         plot.y.from > 0 ? " The scale does not start at 0." : "",
                         all > DOTS_MOST ? " The table lists the first 200." : "");
    if (tm_double(tm_get(steps, "max_ps")) > plot.y.to)
        tm_chart_add_caption(chart, " Steps beyond the scale are drawn at its top, with their duration.");
    add_left_out(chart, steps, all);
}

/* The charts of idle time: by cause, and by the length of gaps. */

enum { BUCKETS_MOST = 64 };

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
    char note[2 * TM_FORMAT_BYTES], shown[TM_CHART_NAME_BYTES];

    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(share))
        tm_format_pct(pct, tm_double(share));
    (void)snprintf(note, sizeof(note), "%s%s%s", time, pct[0] ? ", " : "", pct);
    tm_chart_open(chart, "%s: %s", label, note);
    tm_chart_rect(chart, role, left, y, fmax(length, 0.5), tm_row_bar);
    tm_chart_close(chart);
    tm_chart_cut_name(shown, sizeof(shown), label);
    tm_chart_fit(shown, sizeof(shown), TM_TEXT_NORMAL, left - 8);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, left - 8, y + tm_row_bar - 3.5, shown);
    tm_chart_fit(note, sizeof(note), TM_TEXT_SMALL, chart->width - left - length - 6);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, left + length + 6, y + tm_row_bar - 4, note);
    tm_chart_cell(chart, label);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
    tm_chart_cell(chart, pct);
}

static size_t count_causes(const struct tm_value *summary)
{
    return most_of(tm_path(summary, "gaps.by_cause"), "total_ps") > 0;
}

static void draw_causes(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *causes = tm_path(summary, "gaps.by_cause");
    const double most = most_of(causes, "total_ps"), left = 140, right = 110;
    double y = 0;

    tm_chart_add_caption(chart, "Idle time of all devices by cause, with the share of all idle time; gaps of any "
                                "duration count.");
    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *row = tm_value_at(causes, i);
        const double ps = tm_double(tm_get(row, "total_ps"));

        if (ps <= 0)
            continue;
        draw_cause(chart, tm_key_at(causes, i), row, y + tm_row_inset(chart), left,
                   (chart->width - left - right) * ps / most);
        y += tm_row_pitch(chart);
    }
    chart->height = y + 2;
}

static double most_in(const struct tm_value *rows, const char *key)
{
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        most = fmax(most, tm_double(tm_get(tm_at(rows, i), key)));
    return most;
}

/* Buckets hold lengths from a power of two to the next; those without gaps are not in the summary,
 * but keep their place on the page. out:    place of each row, counted in buckets from the first;
 * number of places in all */
static int place_buckets(const struct tm_value *rows, int *place)
{
    const double first = tm_double(tm_get(tm_at(rows, 0), "from_ps"));
    const int count = (int)(tm_length(rows) < BUCKETS_MOST ? tm_length(rows) : BUCKETS_MOST);
    bool fits = first > 0;

    for (int i = 0; i < count; i++) {
        const double from = tm_double(tm_get(tm_at(rows, (size_t)i), "from_ps"));
        const double doublings = fits && from > 0 ? round(log2(from / first)) : -1;

        fits = doublings >= (i ? place[i - 1] + 1 : 0) && doublings < BUCKETS_MOST;
        place[i] = fits ? (int)doublings : 0;
    }
    for (int i = 0; i < count && !fits; i++)
        place[i] = i;
    return count > 0 ? place[count - 1] + 1 : 1;
}

/* "8.4 to 17 µs": the borders are powers of two, printed with two digits. */
static void tell_bucket(const struct tm_value *row, char *out, size_t out_bytes)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];
    const char *unit, *same;

    tm_format_time_roughly(from, tm_int(tm_get(row, "from_ps")));
    if (!tm_has(tm_get(row, "to_ps"))) {
        (void)snprintf(out, out_bytes, "%s and more", from);
        return;
    }
    tm_format_time_roughly(to, tm_int(tm_get(row, "to_ps")));
    unit = strchr(from, ' ');
    same = strchr(to, ' ');
    if (unit && same && strcmp(unit, same) == 0)
        from[unit - from] = 0;
    (void)snprintf(out, out_bytes, "%s to %s", from, to);
}

static void draw_bucket(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_value *row, double x,
                        double width)
{
    const double y = tm_axis_place(&plot->y, tm_double(tm_get(row, "total_ps")));
    char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], range[2 * TM_FORMAT_BYTES + 8];

    tell_bucket(row, range, sizeof(range));
    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    tm_chart_open(chart, "%s: %s gaps, %s", range, count, time);
    tm_chart_rect(chart, TM_ROLE_SERIES, x + width * 0.06, y, width * 0.88, plot->bottom - y);
    tm_chart_close(chart);
    if (tm_int(tm_get(row, "count")) > 0 && tm_chart_text_width(count, TM_TEXT_SMALL) < width)
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, x + width / 2, y - 3, count);
    tm_chart_cell(chart, range);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
}

/* A logarithmic scale of durations below the buckets: round numbers at any position.
 * in:     first_ps  where the first bucket starts;  doublings  how many there are;  pitch  of one */
static void draw_lengths(struct tm_chart *chart, const struct tm_plot *plot, double first_ps, int doublings,
                         double pitch)
{
    enum { DECADES_FROM_ON = 10 /* doublings: fewer have ticks at 2 and 5, too */ };
    static const int digits[] = { 1, 2, 5 };
    const double last_ps = ldexp(first_ps, doublings);
    const int last_decade = (int)floor(log10(last_ps));
    double until = 0;

    for (int decade = (int)floor(log10(first_ps)); decade <= last_decade; decade++)
        for (int i = 0; i < (doublings >= DECADES_FROM_ON ? 1 : 3); i++) {
            const double at = pow(10, decade) * digits[i], x = plot->left + pitch * log2(at / first_ps);
            const struct tm_axis axis = { .kind = TM_AXIS_TIME, .to = at * (1 + 1e-9), .step = at };
            char label[TM_FORMAT_BYTES];

            if (at < first_ps || at > last_ps)
                continue;
            tm_chart_line(chart, TM_ROLE_QUIET, x, plot->bottom, x, plot->bottom + 4);
            tm_chart_label(chart, x, plot->bottom + TM_PLOT_LABELS_BELOW, tm_axis_text(&axis, at, label), &until);
        }
}

static size_t count_gaps(const struct tm_value *summary)
{
    return most_in(tm_path(summary, "gaps.histogram"), "total_ps") > 0;
}

static void draw_gaps(struct tm_chart *chart, const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "gaps.histogram");
    int place[BUCKETS_MOST] = { 0 };
    const int places = place_buckets(rows, place);
    const double first_ps = tm_double(tm_get(tm_at(rows, 0), "from_ps"));
    struct tm_plot plot;
    double pitch;

    tm_chart_add_caption(chart,
                         "Height: idle time in gaps of that duration; each bar covers gaps up to twice its shortest "
                         "duration. Above each bar: number of gaps.");
    tm_plot_begin(
        chart, &plot,
        &(struct tm_plot_frame){ .kind = TM_AXIS_TIME, .high = most_in(rows, "total_ps") * 1.06, .right_room = 12 });
    pitch = fmin((plot.right - plot.left) / places, 90);
    for (size_t i = 0; i < tm_length(rows) && i < BUCKETS_MOST; i++)
        draw_bucket(chart, &plot, tm_at(rows, i), plot.left + pitch * place[i], pitch);
    if (first_ps >= 1 && first_ps < 9e18)
        draw_lengths(chart, &plot, first_ps, places, pitch);
}

/* How busy each device is over time: a strip per device, colored by the share of each stretch of time.  Neighbors of
 * one color are drawn as one.  Devices of several hosts share a scale where the clocks of the hosts agree; where they
 * do not, each host starts on the left. */

enum { ROOMY = 12 /* devices with tall strips */, STEPS = 5, LOW_PCT = 50 };

static const double limit_pct[STEPS] = { 5, 25, 50, 80, INFINITY }; /* as the palette names them */

static const double tall_pitch = 20, tall_strip = 14, flat_pitch = 13, flat_strip = 10, window_height = 1.6;

/* A device's figures, and where its time is on the scale. */
struct strip {
    const struct tm_value *device, *busy;
    int64_t start_ps, end_ps, bin_ps;
    double shift_ps; /* from the host's time to that of the scale */
};

/* A stretch of several bins. */
struct stretch {
    int64_t start_ps, end_ps, busy_ps;
};

struct strips {
    const struct tm_value *summary;
    struct strip strip[TM_CHART_DEVICES_MOST];
    int count;
    size_t total;
    bool is_shared, has_window; /* one scale for all hosts; the window is only a part of the time */
    struct tm_axis axis;
};

static bool has_strip(const struct tm_value *device)
{
    const struct tm_value *use = tm_get(device, "utilization");
    const int64_t start_ps = tm_int(tm_get(use, "begin_ps")), end_ps = tm_int(tm_get(use, "end_ps"));
    int64_t span_ps;

    return tm_length(tm_get(use, "busy_ps")) > 0 && tm_int(tm_get(use, "bin_ps")) > 0 &&
           !__builtin_sub_overflow(end_ps, start_ps, &span_ps) && span_ps > 0;
}

static size_t count_utilization(const struct tm_value *summary)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];
    size_t total;

    return tm_chart_least_used(summary, has_strip, found, &total) > 0;
}

/* --- times --- */

/* Where bin `index` starts: bins end at the multiples of their width. */
static int64_t begin_of(const struct strip *strip, size_t index)
{
    const int64_t past_ps = strip->start_ps % strip->bin_ps;
    const int64_t first_ps = past_ps < 0 ? -past_ps : strip->bin_ps - past_ps; /* length of the first */
    int64_t at_ps;

    if (index == 0)
        return strip->start_ps;
    if (__builtin_mul_overflow((int64_t)index - 1, strip->bin_ps, &at_ps) ||
        __builtin_add_overflow(at_ps, first_ps, &at_ps) || __builtin_add_overflow(at_ps, strip->start_ps, &at_ps) ||
        at_ps > strip->end_ps)
        return strip->end_ps;
    return at_ps;
}

static double share_of(const struct stretch *s)
{
    return s->end_ps > s->start_ps ? 100.0 * (double)s->busy_ps / ((double)s->end_ps - (double)s->start_ps) : 0;
}

static int step_of(double pct)
{
    int step = 0;

    while (pct >= limit_pct[step])
        step++;
    return step;
}

static struct stretch bin_of(const struct strip *strip, size_t index)
{
    return (struct stretch){ begin_of(strip, index), begin_of(strip, index + 1), tm_int(tm_at(strip->busy, index)) };
}

/* The bins from *index on that `belongs` together with the first of them.  out: *index is after them */
static struct stretch next_stretch(const struct strip *strip, size_t *index,
                                   bool (*belongs)(double first_pct, double pct))
{
    struct stretch whole = bin_of(strip, *index);
    const double first_pct = share_of(&whole);

    while (++*index < tm_length(strip->busy)) {
        const struct stretch next = bin_of(strip, *index);

        if (!belongs(first_pct, share_of(&next)) || next.busy_ps > INT64_MAX - whole.busy_ps)
            break;
        whole.end_ps = next.end_ps;
        whole.busy_ps += next.busy_ps;
    }
    return whole;
}

static bool has_colour_of(double first_pct, double pct)
{
    return step_of(first_pct) == step_of(pct);
}

static bool is_low_as(double first_pct, double pct)
{
    return (first_pct < LOW_PCT) == (pct < LOW_PCT);
}

/* --- clocks of hosts --- */

/* Bring the strips to one scale. */
static void shift_strips(struct strips *s)
{
    int64_t shift_ps[TM_CHART_DEVICES_MOST], first_ps = INT64_MAX;
    bool is_one_host = true;

    s->is_shared = true;
    for (int i = 0; i < s->count; i++) {
        const char *host = tm_text(tm_get(s->strip[i].device, "host"));
        struct tm_clock clock;
        int64_t at_ps = 0;

        is_one_host &= strcmp(host, tm_text(tm_get(s->strip[0].device, "host"))) == 0;
        s->is_shared &= tm_clock_of_name(s->summary, host, &clock) &&
                        tm_clock_at(&clock, s->strip[i].start_ps, &at_ps) &&
                        !__builtin_sub_overflow(at_ps, s->strip[i].start_ps, &shift_ps[i]);
        if (s->is_shared && shift_ps[i] < first_ps)
            first_ps = shift_ps[i];
    }
    for (int i = 0; i < s->count; i++) {
        struct strip *strip = &s->strip[i];

        if (is_one_host)
            strip->shift_ps = 0;
        else
            strip->shift_ps = s->is_shared ? (double)shift_ps[i] - (double)first_ps : -(double)strip->start_ps;
    }
    s->is_shared |= is_one_host;
}

static void choose_strips(struct strips *s, const struct tm_value *summary)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];

    *s = (struct strips){ .summary = summary };
    s->count = tm_chart_least_used(summary, has_strip, found, &s->total);
    for (int i = 0; i < s->count; i++) {
        const struct tm_value *use = tm_get(found[i], "utilization");

        s->strip[i] = (struct strip){ .device = found[i],
                                      .busy = tm_get(use, "busy_ps"),
                                      .start_ps = tm_int(tm_get(use, "begin_ps")),
                                      .end_ps = tm_int(tm_get(use, "end_ps")),
                                      .bin_ps = tm_int(tm_get(use, "bin_ps")) };
        s->has_window |= tm_int(tm_get(found[i], "window_begin_ps")) > s->strip[i].start_ps ||
                         tm_int(tm_get(found[i], "window_end_ps")) < s->strip[i].end_ps;
    }
    s->has_window &= strcmp(tm_text(tm_path(summary, "window.mode")), "steps") == 0;
    shift_strips(s);
}

/* --- drawing --- */

static void name_of(const struct strips *s, const struct strip *strip, char *name)
{
    tm_chart_cut_name(name, TM_CHART_NAME_BYTES, tm_shown_device(s->summary, tm_text(tm_get(strip->device, "id"))));
}

/* "1.20 s to 1.25 s", in the time of its host. */
static void tell_range(const struct strip *strip, const struct stretch *at, char *out, size_t out_bytes)
{
    const struct tm_axis axis = { .kind = TM_AXIS_TIME,
                                  .from = (double)strip->start_ps,
                                  .to = (double)strip->end_ps,
                                  .step = (double)strip->bin_ps };
    char begin[TM_FORMAT_BYTES], end[TM_FORMAT_BYTES];

    (void)snprintf(out, out_bytes, "%s to %s", tm_axis_text(&axis, (double)at->start_ps, begin),
                   tm_axis_text(&axis, (double)at->end_ps, end));
}

static double place_of(const struct strips *s, const struct strip *strip, int64_t at_ps)
{
    return tm_axis_place(&s->axis, (double)at_ps + strip->shift_ps);
}

static void draw_strip(struct tm_chart *chart, const struct strips *s, const struct strip *strip, double y,
                       double height)
{
    char name[TM_CHART_NAME_BYTES], range[3 * TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    name_of(s, strip, name);
    for (size_t i = 0; i < tm_length(strip->busy);) {
        const struct stretch at = next_stretch(strip, &i, has_colour_of);
        const double x = place_of(s, strip, at.start_ps);

        tell_range(strip, &at, range, sizeof(range));
        tm_chart_open(chart, "%s, %s: %s busy", name, range, tm_format_pct(pct, share_of(&at)));
        tm_chart_rect(chart, (enum tm_role)(TM_ROLE_USE_0 + step_of(share_of(&at))), x, y,
                      fmax(place_of(s, strip, at.end_ps) - x, 0), height);
        tm_chart_close(chart);
    }
}

/* A line below the strip where the analyzed steps are; the window may start before the first activity. */
static void draw_window(struct tm_chart *chart, const struct strips *s, const struct strip *strip, double y)
{
    int64_t start_ps = tm_int(tm_get(strip->device, "window_begin_ps")),
            end_ps = tm_int(tm_get(strip->device, "window_end_ps"));

    start_ps = start_ps > strip->start_ps ? start_ps : strip->start_ps;
    end_ps = end_ps < strip->end_ps ? end_ps : strip->end_ps;
    if (!s->has_window || end_ps <= start_ps)
        return;
    tm_chart_rect(chart, TM_ROLE_TEXT, place_of(s, strip, start_ps), y,
                  fmax(place_of(s, strip, end_ps) - place_of(s, strip, start_ps), 0.5), window_height);
}

static double draw_legend(struct tm_chart *chart, const struct strips *s)
{
    struct tm_legend_entry entries[STEPS + 1];

    for (int i = 0; i < STEPS; i++)
        entries[i] = (struct tm_legend_entry){ (enum tm_role)(TM_ROLE_USE_0 + i), tm_palette[TM_ROLE_USE_0 + i].label };
    entries[STEPS] = (struct tm_legend_entry){ TM_ROLE_TEXT, "line below: the analyzed steps" };
    return tm_legend_draw(chart, entries, STEPS + s->has_window, 0);
}

static enum tm_text_size name_size(const struct strips *s)
{
    return s->count <= ROOMY ? TM_TEXT_NORMAL : TM_TEXT_SMALL;
}

/* From the first to the last time of all strips, right of their names. */
static void choose_scale(struct strips *s, const struct tm_chart *chart)
{
    double low = INFINITY, high = -INFINITY, names = 0;

    for (int i = 0; i < s->count; i++) {
        char name[TM_CHART_NAME_BYTES];

        name_of(s, &s->strip[i], name);
        names = fmax(names, tm_chart_text_width(name, name_size(s)));
        low = fmin(low, (double)s->strip[i].start_ps + s->strip[i].shift_ps);
        high = fmax(high, (double)s->strip[i].end_ps + s->strip[i].shift_ps);
    }
    tm_axis_choose(&s->axis, TM_AXIS_TIME, low, high, 6, true);
    s->axis.at = fmin(names, chart->width * 0.3) + 8;
    s->axis.length = chart->width - s->axis.at - 2;
}

static void draw_scale(struct tm_chart *chart, const struct strips *s, double y)
{
    double until = 0;

    for (int i = 0; i < tm_axis_ticks(&s->axis); i++) {
        const double x = tm_axis_place(&s->axis, tm_axis_tick(&s->axis, i));
        char label[TM_FORMAT_BYTES];

        tm_chart_line(chart, TM_ROLE_GRID, x, y, x, y + 3);
        tm_chart_label(chart, x, y + 13, tm_axis_label(&s->axis, i, label), &until);
    }
    chart->height = y + 18;
}

static void draw_strips(struct tm_chart *chart, const struct strips *s)
{
    const double pitch = s->count <= ROOMY ? tall_pitch : flat_pitch;
    const double height = s->count <= ROOMY ? tall_strip : flat_strip;
    double y = draw_legend(chart, s);

    for (int i = 0; i < s->count; i++, y += pitch) {
        char name[TM_CHART_NAME_BYTES];

        name_of(s, &s->strip[i], name);
        tm_chart_fit(name, sizeof(name), name_size(s), s->axis.at - 8);
        tm_chart_string(chart, TM_ROLE_TEXT, name_size(s), TM_ANCHOR_END, s->axis.at - 8, y + height - 2.5, name);
        draw_strip(chart, s, &s->strip[i], y, height);
        draw_window(chart, s, &s->strip[i], y + height + 0.6);
    }
    draw_scale(chart, s, y);
}

/* One row: the content of the strip in words. */
static void add_table_row(struct tm_chart *chart, const struct strips *s, const struct strip *strip)
{
    struct stretch whole = { strip->start_ps, strip->end_ps, 0 }, low = { 0, 0, 0 };
    char name[TM_CHART_NAME_BYTES], text[3 * TM_FORMAT_BYTES];
    double least = INFINITY;

    for (size_t i = 0; i < tm_length(strip->busy); i++) {
        const struct stretch at = bin_of(strip, i);

        least = fmin(least, share_of(&at));
        whole.busy_ps += at.busy_ps <= INT64_MAX - whole.busy_ps ? at.busy_ps : 0;
    }
    for (size_t i = 0; i < tm_length(strip->busy);) {
        const struct stretch at = next_stretch(strip, &i, is_low_as);

        if (share_of(&at) < LOW_PCT && at.end_ps - at.start_ps > low.end_ps - low.start_ps)
            low = at;
    }
    name_of(s, strip, name);
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, tm_format_pct(text, share_of(&whole)));
    tm_chart_cell(chart, tm_format_pct(text, least));
    if (low.end_ps > low.start_ps)
        tell_range(strip, &low, text, sizeof(text));
    else
        (void)snprintf(text, sizeof(text), "none");
    tm_chart_cell(chart, text);
}

static void write_caption(struct tm_chart *chart, const struct strips *s)
{
    const double bin_ps = (double)s->strip[0].bin_ps;
    const struct tm_axis axis = { .kind = TM_AXIS_TIME, .to = bin_ps, .step = bin_ps };
    char width[TM_FORMAT_BYTES], number[TM_FORMAT_BYTES];

    (void)snprintf(chart->title, sizeof(chart->title), "Device activity over time");
    tm_chart_add_caption(chart, "Share of each interval of %s in which the device is busy, over the whole recording.",
                         tm_axis_text(&axis, bin_ps, width));
    if (!s->is_shared)
        tm_chart_add_caption(chart, " The clocks of the hosts do not agree, or were not checked: each host starts at "
                                    "the left.");
    if (s->total > (size_t)s->count)
        tm_chart_add_caption(chart, " The %d least utilized of %s devices are shown.", s->count,
                             tm_format_count(number, (int64_t)s->total));
}

static void draw_utilization(struct tm_chart *chart, const struct tm_value *summary)
{
    struct strips s;

    choose_strips(&s, summary);
    choose_scale(&s, chart);
    draw_strips(chart, &s);
    for (int i = 0; i < s.count; i++)
        add_table_row(chart, &s, &s.strip[i]);
    write_caption(chart, &s);
}

const struct tm_chart_maker tm_time_charts[] = {
    { TM_CHART_STEPS, NULL, NULL, count_step_parts, .draw = draw_steps },
    { TM_CHART_STEP_TIMES, "Step times", "step, #duration", count_step_times, .draw = draw_step_times },
    { TM_CHART_CAUSES, "Idle time by cause", "cause, #gaps, #time, #share of idle", count_causes, .draw = draw_causes },
    { TM_CHART_GAPS, "Idle time by gap duration", "gap duration, #gaps, #time", count_gaps, .draw = draw_gaps },
    { TM_CHART_UTILIZATION, NULL, "device, #busy, #least busy interval, #longest time under 50%", count_utilization,
      .draw = draw_utilization },
    { .count = NULL },
};
