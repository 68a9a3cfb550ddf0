/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that work together: what of collectives and copies is exposed, who comes late, who computes longer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/chart/makers.h"
#include "reports/chart/parts.h"
#include "reports/format/format.h"
#include "reports/format/pick.h"
#include "reports/format/shown_names.h"

enum { KINDS_MOST = 16 };

/* --- exposed and hidden time --- */

/* Add a row's time: what is exposed, and the rest, which runs beside other work. */
static void add_row(struct tm_bar *bar, enum tm_role role, const struct tm_value *row)
{
    struct tm_parts *parts = &bar->parts;
    const int64_t total_ps = tm_int(tm_get(row, "total_ps")), exposed_ps = tm_int(tm_get(row, "exposed_ps"));

    const int64_t longer_ps = exposed_ps > total_ps ? exposed_ps : total_ps; /* at the border of what counts */

    if (longer_ps <= 0 || total_ps < 0 || exposed_ps < 0 || longer_ps > INT64_MAX - parts->total_ps)
        return;
    parts->present = true;
    parts->ps[role] += exposed_ps;
    parts->ps[TM_ROLE_HIDDEN] += longer_ps - exposed_ps;
    parts->total_ps += longer_ps;
}

/* The bar of a kind; a new one at the end.  out: NULL where there are too many */
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
        (void)snprintf(bars[i].note, sizeof(bars[i].note), "%s, %s hidden", tm_format_time(time, parts->total_ps),
                       pct);
    }
    return count;
}

size_t tm_count_collectives(const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];

    return fill_collectives(bars, summary) > 0;
}

void tm_draw_collectives(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct tm_bar bars[KINDS_MOST];
    const int count = fill_collectives(bars, summary);

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "What of the collectives is exposed");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Time in collectives by kind, all devices together. Exposed: the device computes nothing beside "
                   "it. Only that part makes a step longer.");
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
        tm_chart_cut_name(bar->name, sizeof(bar->name),
                          tm_direction_title(tm_text(tm_get(row, "direction"))));
        (void)snprintf(bar->note, sizeof(bar->note), "%s%s%s", tm_format_time(time, bar->parts.total_ps),
                       rate[0] ? ", " : "", rate);
        count++;
    }
    return count;
}

size_t tm_count_transfers(const struct tm_value *summary)
{
    struct tm_bar bars[KINDS_MOST];

    return fill_transfers(bars, summary) > 0;
}

void tm_draw_transfers(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct tm_bar bars[KINDS_MOST];
    const int count = fill_transfers(bars, summary);

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "What of the copies is exposed");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Time in copies by direction, all devices together. Exposed: the device neither computes nor "
                   "communicates beside it. Beside it: mean bandwidth.");
    if (tm_parts_rows(chart, bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "direction", bars, count);
}

/* --- devices beside each other --- */

/* Rows of devices, of many those with the largest figure. */
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

static void say_left_out(struct tm_chart *chart, const struct ranking *r)
{
    char number[TM_FORMAT_BYTES];

    if (r->total > (size_t)r->count)
        tm_chart_add_caption(chart, " The first %d of %s devices are drawn.", r->count,
                             tm_format_count(number, (int64_t)r->total));
}

static const struct tm_value *members_of(const struct tm_value *summary)
{
    return tm_path(summary, "collectives.skew.members");
}

size_t tm_count_skew(const struct tm_value *summary)
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
                   tm_format_count(count, tm_int(tm_get(row, "count"))), is_straggler ? ", mostly late" : "");
    tm_chart_cell(chart, bar->name);
    tm_chart_cell(chart, late);
    tm_chart_cell(chart, last);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, tm_format_time(caused, tm_int(tm_get(row, "caused_ps"))));
}

void tm_draw_skew(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    struct ranking r;

    (void)index;
    rank(&r, members_of(summary), "late_ps");
    tm_chart_column(chart, "device", false);
    tm_chart_column(chart, "late in all", true);
    tm_chart_column(chart, "came last", true);
    tm_chart_column(chart, "collectives", true);
    tm_chart_column(chart, "others waited for it", true);
    for (int i = 0; i < r.count; i++)
        fill_skew_bar(chart, &bars[i], summary, r.row[i]);
    tm_plain_rows(chart, bars, r.count, 0, NULL);
    (void)snprintf(chart->title, sizeof(chart->title), "Who comes late to collectives");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "How much later than the first device each one comes, summed over all collectives of several "
                   "devices. The others wait for the last one.");
    say_left_out(chart, &r);
}

size_t tm_count_balance(const struct tm_value *summary)
{
    struct ranking r;

    rank(&r, tm_path(summary, "balance.busy"), "compute_ps");
    return r.count > 1 && r.mean_ps > 0;
}

/* The slowest device has the colour of the judgement. */
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
    char time[TM_FORMAT_BYTES], off[32];

    begin_bar(bar, summary, row);
    set_figure(bar, is_slowest ? role_of_slowest(summary) : TM_ROLE_SERIES, ps);
    if (fabs(over_pct) < 0.05)
        (void)snprintf(off, sizeof(off), "0 %%");
    else
        (void)snprintf(off, sizeof(off), "%+.1f %%", over_pct);
    (void)snprintf(bar->note, sizeof(bar->note), "%s, %s%s", tm_format_time(time, ps), off,
                   is_slowest ? ", slowest" : "");
    tm_chart_cell(chart, bar->name);
    tm_chart_cell(chart, time);
    tm_chart_cell(chart, off);
}

void tm_draw_balance(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    char name[TM_FORMAT_BYTES + 8], time[TM_FORMAT_BYTES];
    struct ranking r;

    (void)index;
    rank(&r, tm_path(summary, "balance.busy"), "compute_ps");
    tm_chart_column(chart, "device", false);
    tm_chart_column(chart, "compute", true);
    tm_chart_column(chart, "beside the mean", true);
    for (int i = 0; i < r.count; i++)
        fill_balance_bar(chart, &bars[i], summary, r.row[i], r.mean_ps);
    (void)snprintf(name, sizeof(name), "mean %s", tm_format_time(time, tm_whole(r.mean_ps)));
    tm_plain_rows(chart, bars, r.count, r.mean_ps, name);
    (void)snprintf(chart->title, sizeof(chart->title), "How long each device computes");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Compute time of each device in the analyzed steps, the longest first, and how far it is from the "
                   "mean of all. The slowest device sets the pace of the others.");
    say_left_out(chart, &r);
}
