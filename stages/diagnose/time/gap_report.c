/* SPDX-License-Identifier: Apache-2.0 */
/* The section gaps. */
#include "stages/diagnose/name_cell.h"
#include "stages/diagnose/time/device_time_private.h"

enum { NAME_MOST = 512 };

static tm_status add_name(struct device_time *d, struct tm_value *to, const char *key, tm_strid name)
{
    return tm_add_name_cut(to, key, d->names, name, NAME_MOST, "not recorded");
}

/* Whose event it is. */
static void add_thread(struct tm_value *to, const struct listed_gap *gap)
{
    if (gap->thread == TOLD_BY_NOBODY)
        tm_add_null(to, "host_thread", "not recorded");
    else
        tm_add_string(to, "host_thread", gap->thread == TOLD_BY_LAUNCHING ? "launching" : "main");
}

static void add_launch(struct tm_value *to, const struct listed_gap *gap)
{
    struct tm_value *launch;

    if (gap->launch_ps == INT64_MIN) {
        tm_add_null(to, "launch", "the call that launched what ends the gap is not known");
        return;
    }
    launch = tm_add_object(to, "launch");
    tm_add_int(launch, "begin_ps", gap->launch_ps);
    tm_add_int(launch, "dur_ps", gap->launch_dur_ps);
}

/* How long events of the same name take elsewhere. */
static void add_calls(struct tm_value *to, const struct listed_gap *gap)
{
    const uint64_t shorter = gap->calls - gap->long_calls;
    struct tm_value *calls;

    if (!gap->calls) {
        tm_add_null(to, "calls", "not recorded, or the event is a launch, a wait or another cause by itself");
        return;
    }
    calls = tm_add_object(to, "calls");
    tm_add_uint(calls, "count", gap->calls);
    tm_add_uint(calls, "long_count", gap->long_calls);
    if (shorter)
        tm_add_int(calls, "usual_ps", gap->short_calls_ps / (int64_t)(shorter < INT64_MAX ? shorter : INT64_MAX));
    else
        tm_add_null(calls, "usual_ps", "all of them are long");
}

static tm_status add_listed(struct device_time *d, const struct listed_gap *gap, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL), *parts;
    tm_status st;

    tm_add_string(to, "device", d->lanes[gap->lane].device.id);
    tm_add_int(to, "begin_ps", gap->begin_ps);
    tm_add_int(to, "dur_ps", gap->dur_ps);
    st = add_name(d, to, "before", gap->before);
    if (st == TM_OK)
        st = add_name(d, to, "after", gap->after);
    if (gap->step != TM_NONE)
        tm_add_int(to, "step", gap->step_number);
    else
        tm_add_null(to, "step", "in no step");
    tm_add_string(to, "cause", tm_cause_name[gap->cause]);
    if (st == TM_OK)
        st = add_name(d, to, "host_event", gap->host_event);
    add_thread(to, gap);
    add_launch(to, gap);
    add_calls(to, gap);
    parts = tm_add_object(to, "parts");
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        if (gap->parts[i])
            tm_add_int(parts, tm_cause_name[i], gap->parts[i]);
    return st;
}

static void add_causes(const struct device_time *d, struct tm_value *gaps)
{
    struct tm_value *by_cause = tm_add_object(gaps, "by_cause");
    int64_t idle_ps = 0;

    for (uint32_t i = 0; i < d->lane_count; i++)
        idle_ps = tm_sum_times(idle_ps, idle_of(&d->lanes[i].parts));
    for (int c = 0; c < TM_CAUSE_COUNT; c++) {
        struct tm_value *cause = tm_add_object(by_cause, tm_cause_name[c]);
        uint64_t count = 0;
        int64_t total_ps = 0, main_ps = 0;

        for (uint32_t i = 0; i < d->lane_count; i++) {
            count += d->lanes[i].cause_counts[c];
            total_ps = tm_sum_times(total_ps, d->lanes[i].parts.idle_ps[c]);
            main_ps = tm_sum_times(main_ps, d->lanes[i].main_ps[c]);
        }
        tm_add_uint(cause, "count", count);
        tm_add_int(cause, "total_ps", total_ps);
        tm_add_double(cause, "share_pct", idle_ps ? 100.0 * (double)total_ps / (double)idle_ps : 0.0);
        tm_add_int(cause, "main_ps", main_ps);
    }
}

static void add_pauses(const struct device_time *d, struct tm_value *gaps)
{
    struct tm_value *pauses = tm_add_object(gaps, "pauses");

    tm_add_int(pauses, "below_ps", PAUSE_BELOW_PS);
    tm_add_uint(pauses, "count", d->pauses.count);
    tm_add_int(pauses, "total_ps", d->pauses.total_ps);
}

/* Gaps in which the host needed as long as for the next operation or two. */
static void add_short(const struct device_time *d, struct tm_value *gaps)
{
    struct tm_value *shorter = tm_add_object(gaps, "short"), *by_cause;

    tm_add_int(shorter, "from_ps", PAUSE_BELOW_PS);
    tm_add_int(shorter, "below_ps", SHORT_BELOW_PS);
    by_cause = tm_add_object(shorter, "by_cause");
    for (int c = 0; c < TM_CAUSE_COUNT; c++) {
        struct tm_value *cause = tm_add_object(by_cause, tm_cause_name[c]);

        tm_add_uint(cause, "count", d->short_gaps[c].count);
        tm_add_int(cause, "total_ps", d->short_gaps[c].total_ps);
    }
}

static void add_histogram(const struct device_time *d, struct tm_value *gaps)
{
    struct tm_value *list = tm_add_array(gaps, "histogram");

    for (int i = 0; i < HISTOGRAM_ROWS - 1; i++) {
        struct tm_value *row;

        if (!d->histogram[i].count)
            continue;
        row = tm_add_object(list, NULL);
        tm_add_int(row, "from_ps", i ? (int64_t)1 << i : 0);
        tm_add_int(row, "to_ps", i < 62 ? (int64_t)1 << (i + 1) : INT64_MAX);
        tm_add_uint(row, "count", d->histogram[i].count);
        tm_add_int(row, "total_ps", d->histogram[i].total_ps);
    }
}

tm_status report_gaps(struct device_time *d, struct tm_value *summary)
{
    struct tm_value *gaps, *longest;
    uint64_t count = 0, count_min = 0;
    int64_t total_ps = 0;
    tm_status st = TM_OK;

    if (!d->lane_count) {
        tm_add_null(summary, "gaps", "no device activity was recorded");
        return TM_OK;
    }
    gaps = tm_add_object(summary, "gaps");
    for (uint32_t i = 0; i < d->lane_count; i++) {
        count += d->lanes[i].gap_count;
        count_min += d->lanes[i].gap_count_min;
        total_ps = tm_sum_times(total_ps, d->lanes[i].gap_total_ps);
    }
    tm_add_uint(gaps, "count", count);
    tm_add_uint(gaps, "count_min", count_min);
    tm_add_int(gaps, "total_ps", total_ps);
    tm_add_int(gaps, "gap_min_ps", d->settings->gap_min_ps);
    add_causes(d, gaps);
    add_pauses(d, gaps);
    add_short(d, gaps);
    add_histogram(d, gaps);
    longest = tm_add_array(gaps, "longest");
    for (uint32_t i = 0; i < d->longest_count && st == TM_OK; i++)
        st = add_listed(d, &d->longest[i], longest);
    return st;
}
