/* SPDX-License-Identifier: Apache-2.0 */
/* How busy each device is over time: a strip per device, coloured by the share of each stretch of time.  Neighbours of
 * one colour are drawn as one.  Devices of several hosts share a scale where the clocks of the hosts agree; where they
 * do not, each host begins on the left. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/legend.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum { ROOMY = 12 /* devices with tall strips */, STEPS = 5, LOW_PCT = 50 };
static const double limit_pct[STEPS] = { 5, 25, 50, 80, INFINITY }; /* as the palette names them */
static const double tall_pitch = 20, tall_strip = 14, flat_pitch = 13, flat_strip = 10, window_height = 1.6;

/* A device's figures, and where its time lies on the scale. */
struct strip {
    const struct tm_value *device, *busy;
    int64_t begin_ps, end_ps, bin_ps;
    double shift_ps; /* from the time of its host to that of the scale */
};

/* A stretch of several bins. */
struct stretch {
    int64_t begin_ps, end_ps, busy_ps;
};

struct strips {
    const struct tm_value *summary;
    struct strip strip[TM_CHART_DEVICES_MOST];
    int count;
    size_t total;
    bool is_shared, has_window; /* one scale for all hosts; a window that is not all of the time */
    struct tm_axis axis;
};

static bool has_strip(const struct tm_value *device)
{
    const struct tm_value *use = tm_get(device, "utilization");
    const int64_t begin_ps = tm_int(tm_get(use, "begin_ps")), end_ps = tm_int(tm_get(use, "end_ps"));
    int64_t span_ps;

    return tm_length(tm_get(use, "busy_ps")) > 0 && tm_int(tm_get(use, "bin_ps")) > 0 &&
           !__builtin_sub_overflow(end_ps, begin_ps, &span_ps) && span_ps > 0;
}

size_t tm_count_utilization(const struct tm_value *summary)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];
    size_t total;

    return tm_chart_least_used(summary, has_strip, found, &total) > 0;
}

/* --- times --- */

/* Where bin `index` begins: bins end at the multiples of their width. */
static int64_t begin_of(const struct strip *strip, size_t index)
{
    const int64_t past_ps = strip->begin_ps % strip->bin_ps;
    const int64_t first_ps = past_ps < 0 ? -past_ps : strip->bin_ps - past_ps; /* length of the first */
    int64_t at_ps;

    if (index == 0)
        return strip->begin_ps;
    if (__builtin_mul_overflow((int64_t)index - 1, strip->bin_ps, &at_ps) ||
        __builtin_add_overflow(at_ps, first_ps, &at_ps) ||
        __builtin_add_overflow(at_ps, strip->begin_ps, &at_ps) || at_ps > strip->end_ps)
        return strip->end_ps;
    return at_ps;
}

static double share_of(const struct stretch *s)
{
    return s->end_ps > s->begin_ps ? 100.0 * (double)s->busy_ps / ((double)s->end_ps - (double)s->begin_ps) : 0;
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

/* The bins from *index on that `belongs` together with the first of them.  out: *index behind them */
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

/* What the clock of a host read at its time 0, in ns; 0 = not told. */
static int64_t clock_of(const struct tm_value *summary, const char *host)
{
    const struct tm_value *hosts = tm_path(summary, "environment.hosts"), *files = tm_path(summary, "input.files");

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);
        int64_t ns;

        if (strcmp(tm_text(tm_get(file, "host")), host) == 0 && tm_int(tm_get(file, "origin_us")) > 0 &&
            !__builtin_mul_overflow(tm_int(tm_get(file, "origin_us")), 1000, &ns))
            return ns;
    }
    for (size_t i = 0; i < tm_length(hosts); i++)
        if (strcmp(tm_text(tm_get(tm_at(hosts, i), "host")), host) == 0)
            return tm_int(tm_get(tm_at(hosts, i), "begin_ns"));
    return 0;
}

/* Bring the strips to one scale. */
static void shift_strips(struct strips *s)
{
    const bool agrees = tm_is(tm_path(s->summary, "collectives.skew.clock.aligned"));
    int64_t clock[TM_CHART_DEVICES_MOST], first_ns = INT64_MAX;
    bool is_one_host = true;

    s->is_shared = agrees;
    for (int i = 0; i < s->count; i++) {
        const char *host = tm_text(tm_get(s->strip[i].device, "host"));

        is_one_host &= strcmp(host, tm_text(tm_get(s->strip[0].device, "host"))) == 0;
        clock[i] = agrees ? clock_of(s->summary, host) : 0;
        s->is_shared &= clock[i] > 0;
        first_ns = clock[i] < first_ns ? clock[i] : first_ns;
    }
    for (int i = 0; i < s->count; i++) {
        struct strip *strip = &s->strip[i];

        if (is_one_host)
            strip->shift_ps = 0;
        else
            strip->shift_ps = s->is_shared ? (double)(clock[i] - first_ns) * 1000 : -(double)strip->begin_ps;
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
                                      .begin_ps = tm_int(tm_get(use, "begin_ps")),
                                      .end_ps = tm_int(tm_get(use, "end_ps")),
                                      .bin_ps = tm_int(tm_get(use, "bin_ps")) };
        s->has_window |= tm_int(tm_get(found[i], "window_begin_ps")) > s->strip[i].begin_ps ||
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
    const struct tm_axis axis = { .kind = TM_AXIS_TIME, .from = (double)strip->begin_ps, .to = (double)strip->end_ps,
                                  .step = (double)strip->bin_ps };
    char begin[TM_FORMAT_BYTES], end[TM_FORMAT_BYTES];

    (void)snprintf(out, out_bytes, "%s to %s", tm_axis_text(&axis, (double)at->begin_ps, begin),
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
        const double x = place_of(s, strip, at.begin_ps);

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
    int64_t begin_ps = tm_int(tm_get(strip->device, "window_begin_ps")),
            end_ps = tm_int(tm_get(strip->device, "window_end_ps"));

    begin_ps = begin_ps > strip->begin_ps ? begin_ps : strip->begin_ps;
    end_ps = end_ps < strip->end_ps ? end_ps : strip->end_ps;
    if (!s->has_window || end_ps <= begin_ps)
        return;
    tm_chart_rect(chart, TM_ROLE_TEXT, place_of(s, strip, begin_ps), y,
                  fmax(place_of(s, strip, end_ps) - place_of(s, strip, begin_ps), 0.5), window_height);
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
        low = fmin(low, (double)s->strip[i].begin_ps + s->strip[i].shift_ps);
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

/* One row: what a reader looks for in the strip, in words. */
static void add_table_row(struct tm_chart *chart, const struct strips *s, const struct strip *strip)
{
    struct stretch whole = { strip->begin_ps, strip->end_ps, 0 }, low = { 0, 0, 0 };
    char name[TM_CHART_NAME_BYTES], text[3 * TM_FORMAT_BYTES];
    double least = INFINITY;

    for (size_t i = 0; i < tm_length(strip->busy); i++) {
        const struct stretch at = bin_of(strip, i);

        least = fmin(least, share_of(&at));
        whole.busy_ps += at.busy_ps <= INT64_MAX - whole.busy_ps ? at.busy_ps : 0;
    }
    for (size_t i = 0; i < tm_length(strip->busy);) {
        const struct stretch at = next_stretch(strip, &i, is_low_as);

        if (share_of(&at) < LOW_PCT && at.end_ps - at.begin_ps > low.end_ps - low.begin_ps)
            low = at;
    }
    name_of(s, strip, name);
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, tm_format_pct(text, share_of(&whole)));
    tm_chart_cell(chart, tm_format_pct(text, least));
    if (low.end_ps > low.begin_ps)
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

    (void)snprintf(chart->title, sizeof(chart->title), "How busy each device is over time");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "The share of each stretch of %s in which the device is busy, over everything that was recorded.",
                   tm_axis_text(&axis, bin_ps, width));
    if (!s->is_shared)
        tm_chart_add_caption(chart, " The clocks of the hosts do not agree, or were not checked: each host begins on "
                                    "the left.");
    if (s->total > (size_t)s->count)
        tm_chart_add_caption(chart, " The %d least used of %s devices are drawn.", s->count,
                             tm_format_count(number, (int64_t)s->total));
}

void tm_draw_utilization(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct strips s;

    (void)index;
    choose_strips(&s, summary);
    choose_scale(&s, chart);
    draw_strips(chart, &s);
    tm_chart_column(chart, "device", false);
    tm_chart_column(chart, "busy", true);
    tm_chart_column(chart, "least busy stretch", true);
    tm_chart_column(chart, "longest time under 50 %", true);
    for (int i = 0; i < s.count; i++)
        add_table_row(chart, &s, &s.strip[i]);
    write_caption(chart, &s);
}
