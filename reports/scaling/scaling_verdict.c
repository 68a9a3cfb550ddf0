/* SPDX-License-Identifier: Apache-2.0 */
/* One or two sentences that can be quoted. */
#include <math.h>
#include <stdio.h>

#include "pipeline/bounded_sum.h"
#include "reports/format/format.h"
#include "reports/scaling/study.h"

enum { VERDICT_BYTES = 640 };
static const double told_below_pct = 98; /* efficiency: what is lost of a better one is not told */

char *devices_text(char out[DEVICES_TEXT], double devices)
{
    (void)snprintf(out, DEVICES_TEXT, "%.0f device%s", devices, devices == 1 ? "" : "s");
    return out;
}

/* " (95 % interval 4.81 to 5.02)"; "" where it is not known */
static char *interval_text(char *out, size_t out_bytes, const struct scaling_interval *interval)
{
    char low[TM_FORMAT_BYTES], high[TM_FORMAT_BYTES];

    out[0] = 0;
    if (!interval->why)
        (void)snprintf(out, out_bytes, " (95 %% interval %s to %s)",
                       tm_format_number(low, interval->low),
                       tm_format_number(high, interval->high));
    return out;
}

/* "Strong scaling from 1 to 8 devices: 4.92 times as fast (...), efficiency 61.5 %." */
static void tell_speedup(const struct scaling_study *s, char *out)
{
    const struct point_facts *last = last_point(s);
    char devices[DEVICES_TEXT], speedup[TM_FORMAT_BYTES], interval[128], pct[TM_FORMAT_BYTES],
        time[TM_FORMAT_BYTES];

    if (s->mode == SCALING_WEAK)
        (void)snprintf(out, VERDICT_BYTES,
                       "Weak scaling from %.0f to %s: %s times the work per time%s, a step takes "
                       "%s; efficiency %s.",
                       s->facts[0].devices, devices_text(devices, last->devices),
                       tm_format_number(speedup, last->speedup),
                       interval_text(interval, sizeof(interval), &last->speedup_interval),
                       tm_format_time(time, tm_whole(last->step_ps)),
                       tm_format_pct(pct, last->efficiency_pct));
    else
        (void)snprintf(
            out, VERDICT_BYTES,
            "Strong scaling from %.0f to %s: %s times as fast%s, a step takes %s; efficiency %s.",
            s->facts[0].devices, devices_text(devices, last->devices),
            tm_format_number(speedup, last->speedup),
            interval_text(interval, sizeof(interval), &last->speedup_interval),
            tm_format_time(time, tm_whole(last->step_ps)),
            tm_format_pct(pct, last->efficiency_pct));
}

/* Both readings. */
static void tell_unclear(const struct scaling_study *s, char *out)
{
    const struct point_facts *first = &s->facts[0], *last = last_point(s);
    const double work = last->work_ps / first->work_ps;
    char devices[DEVICES_TEXT], total[TM_FORMAT_BYTES], each[TM_FORMAT_BYTES],
        strong[TM_FORMAT_BYTES], weak[TM_FORMAT_BYTES];

    if (!isfinite(work)) {
        (void)snprintf(
            out, VERDICT_BYTES,
            "From %.0f to %s a step becomes %s times as fast; the compute time is not known.",
            first->devices, devices_text(devices, last->devices),
            tm_format_number(strong, last->time_gain));
        return;
    }
    (void)snprintf(out, VERDICT_BYTES,
                   "From %.0f to %s the total compute time changes by a factor of %s, that of each device by %s: neither "
                   "strong nor weak scaling. The efficiency is %s if the work is the same, %s if "
                   "it grows with the devices.",
                   first->devices, devices_text(devices, last->devices),
                   tm_format_number(total, work), tm_format_number(each, work / last->ideal),
                   tm_format_pct(strong, 100 * last->time_gain / last->ideal),
                   tm_format_pct(weak, 100 * last->time_gain));
}

static const char *severity_of(const struct scaling_study *s)
{
    const double pct = last_point(s)->efficiency_pct;

    if (s->mode == SCALING_UNCLEAR || !isfinite(pct))
        return "info";
    return pct >= SCALING_GOOD_PCT ? "good" : pct >= SCALING_BAD_PCT ? "warning" : "critical";
}

void add_scaling_verdict(struct scaling_study *s)
{
    const struct point_facts *last = last_point(s);
    const enum scaling_part part = largest_loss(s);
    struct tm_value *to = tm_add_object(s->root, "verdict");
    char text[VERDICT_BYTES], loss[128] = "", whole[VERDICT_BYTES + sizeof(loss)],
                              pct[TM_FORMAT_BYTES];

    if (s->points < 2 || !isfinite(last->efficiency_pct)) {
        tm_add_string(to, "text",
                      s->points < 2
                          ? "All runs have the same number of devices: there is nothing to scale."
                          : "The points cannot be compared: the steps of one have no duration.");
        tm_add_string(to, "severity", "info");
        return;
    }
    if (s->mode == SCALING_UNCLEAR)
        tell_unclear(s, text);
    else
        tell_speedup(s, text);
    if (s->mode != SCALING_UNCLEAR && last->efficiency_pct < told_below_pct &&
        part != SCALING_PARTS)
        (void)snprintf(loss, sizeof(loss), " Most is lost to %s: %s.", scaling_part_title(part),
                       tm_format_pct(pct, last->lost_pct[part]));
    (void)snprintf(whole, sizeof(whole), "%s%s", text, loss);
    tm_add_string(to, "text", whole);
    tm_add_string(to, "severity", severity_of(s));
}
