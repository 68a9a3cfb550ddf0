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

static size_t devices_with_parts(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    size_t n = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        n += device_has_parts(tm_at(devices, i));
    return n;
}

/* The n-th value of utilization from below, so that of many devices the least used ones are drawn.
 */
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

size_t tm_count_devices(const struct tm_value *summary)
{
    return devices_with_parts(summary) > 0;
}

void tm_draw_devices(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    const size_t total = devices_with_parts(summary);
    const double limit = utilization_limit(devices, TM_CHART_DEVICES_MOST);
    struct tm_bar bars[TM_CHART_DEVICES_MOST];
    char number[TM_FORMAT_BYTES];
    int count = 0;

    (void)index;
    for (size_t i = 0; i < tm_length(devices) && count < TM_CHART_DEVICES_MOST; i++) {
        const struct tm_value *device = tm_at(devices, i), *use = tm_get(device, "utilization_pct");
        char pct[TM_FORMAT_BYTES];
        struct tm_bar *bar = &bars[count];

        if (!device_has_parts(device) || tm_double(use) > limit)
            continue;
        tm_parts_of_device(&bar->parts, device);
        tm_chart_cut_name(bar->name, sizeof(bar->name), tm_shown_device(summary, tm_text(tm_get(device, "id"))));
        bar->note[0] = 0;
        if (tm_has(use))
            (void)snprintf(bar->note, sizeof(bar->note), "%s used",
                           tm_format_pct(pct, tm_double(use)));
        count++;
    }
    (void)snprintf(chart->title, sizeof(chart->title), "What each device did");
    (void)snprintf(
        chart->caption, sizeof(chart->caption),
        "The window of the chosen steps on each device; the parts add up to it. Beside it: "
        "utilization.");
    if (total > (size_t)count)
        tm_chart_add_caption(chart, " The %d least used of %s devices are drawn.", count,
                             tm_format_count(number, (int64_t)total));
    tm_parts_rows(chart, bars, count);
    tm_parts_table(chart, "device", bars, count);
}
