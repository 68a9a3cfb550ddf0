/* SPDX-License-Identifier: Apache-2.0 */
/* What each device did: one bar per device. */
#include "reports/chart/makers.h"

#include <stdio.h>
#include <string.h>

#include "reports/chart/parts.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

static bool device_has_parts(const struct tm_value *device)
{
    struct tm_parts parts;

    tm_parts_of_device(&parts, device);
    return parts.present && parts.total_ps > 0;
}

/* The n-th value of utilization from below. */
static double utilization_limit(const struct tm_value *devices, bool (*has)(const struct tm_value *device))
{
    double lowest[TM_CHART_DEVICES_MOST];
    int count = 0;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const double value = tm_double(tm_get(tm_at(devices, i), "utilization_pct"));
        int at = count;

        if (!has(tm_at(devices, i)))
            continue;
        while (at > 0 && lowest[at - 1] > value)
            at--;
        if (at == TM_CHART_DEVICES_MOST)
            continue;
        count += count < TM_CHART_DEVICES_MOST;
        memmove(&lowest[at + 1], &lowest[at], (size_t)(count - 1 - at) * sizeof(lowest[0]));
        lowest[at] = value;
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

size_t tm_count_devices(const struct tm_value *summary)
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

void tm_draw_devices(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *found[TM_CHART_DEVICES_MOST];
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    size_t total;
    const int count = tm_chart_least_used(summary, device_has_parts, found, &total);
    char number[TM_FORMAT_BYTES];

    (void)index;
    for (int i = 0; i < count; i++)
        fill_bar(&bars[i], summary, found[i]);
    (void)snprintf(chart->title, sizeof(chart->title), "What each device did");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "The window of the analyzed steps on each device; the parts add up to it. Beside it: utilization.");
    if (total > (size_t)count)
        tm_chart_add_caption(chart, " The %d least used of %s devices are drawn.", count,
                             tm_format_count(number, (int64_t)total));
    if (tm_parts_rows(chart, bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "device", bars, count);
}
