/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the sections window, devices, total, host and balance from the lanes. */
#include "stages/figures/device_time.h"

#include "stages/figures/figure_rows.h"

enum { STRETCHES_MOST = 65536 /* of utilization, listed over all devices */ };

static const char no_device[] = "no device activity was recorded";

static const char not_analyzed[] = "no activity in the analyzed steps";

/* A share of a whole, in percent; null if the whole is zero. */
static void add_share(struct tm_value *to, const char *key, int64_t part, int64_t whole)
{
    if (whole > 0)
        tm_add_double(to, key, 100.0 * (double)part / (double)whole);
    else
        tm_add_null(to, key, no_device);
}

static void add_sum(struct tm_value *to, const char *key, const struct sum *sum, bool has_bytes)
{
    struct tm_value *object = tm_add_object(to, key);

    tm_add_uint(object, "count", sum->count);
    if (has_bytes && (sum->bytes || !sum->count))
        tm_add_uint(object, "bytes", sum->bytes);
    else if (has_bytes)
        tm_add_null(object, "bytes", "no event records its size");
    tm_add_int(object, "total_ps", sum->total_ps);
}

static void add_kernels(struct tm_value *to, const struct sum *kernels)
{
    struct tm_value *object = tm_add_object(to, "kernels");

    tm_add_uint(object, "count", kernels->count);
    tm_add_int(object, "total_ps", kernels->total_ps);
    if (kernels->count) {
        tm_add_int(object, "min_ps", kernels->min_ps);
        tm_add_int(object, "max_ps", kernels->max_ps);
    } else {
        tm_add_null(object, "min_ps", "no kernels");
        tm_add_null(object, "max_ps", "no kernels");
    }
}

static void add_gaps(struct tm_value *to, const struct lane *lane)
{
    struct tm_value *gaps = tm_add_object(to, "gaps"), *by_cause, *longest;

    tm_add_uint(gaps, "count", lane->gap_count);
    tm_add_uint(gaps, "count_min", lane->gap_count_min);
    tm_add_int(gaps, "total_ps", lane->gap_total_ps);
    by_cause = tm_add_object(gaps, "by_cause");
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        struct tm_value *cause = tm_add_object(by_cause, tm_cause_name[i]);

        tm_add_uint(cause, "count", lane->cause_counts[i]);
        tm_add_int(cause, "total_ps", lane->parts.idle_ps[i]);
    }
    longest = tm_add_array(gaps, "longest");
    for (uint32_t i = 0; i < lane->longest_count; i++) {
        struct tm_value *gap = tm_add_object(longest, NULL);

        tm_add_int(gap, "begin_ps", lane->longest[i].start_ps);
        tm_add_int(gap, "dur_ps", lane->longest[i].dur_ps);
    }
}

static const char *why_no_flights(const struct lane *lane, bool is_json_copy)
{
    if (lane->has_flights)
        return NULL;
    return is_json_copy ? "JSON traces do not contain asynchronous operations; the run's .xplane.pb does"
                        : "the profile contains no asynchronous operations of this core";
}

/* Work that runs beside the cores; the JSON copy of a profile lacks its lines. */
static void add_flight(struct tm_value *to, const struct lane *lane, bool is_json_copy)
{
    const char *why = why_no_flights(lane, is_json_copy);

    if (why) {
        tm_add_null(to, "in_flight_ps", why);
        tm_add_null(to, "hidden_ps", why);
        return;
    }
    tm_add_int(to, "in_flight_ps", lane->flight.total_ps);
    tm_add_int(to, "hidden_ps", lane->flight.total_ps + lane->compute.total_ps - lane->flight_or_compute.total_ps);
}

static void add_tpu(struct tm_value *to, const struct lane *lane, bool is_json_copy)
{
    static const char *const sorts[] = { "copy", "collective", "host" };
    struct tm_value *tpu, *waits, *starts, *flights;

    if (lane->device.kind != TM_DEVICE_TPU) {
        static const char *const keys[] = { "wait_ps",      "wait_copy_ps", "wait_collective_ps",
                                            "wait_host_ps", "in_flight_ps", "hidden_ps",
                                            "tpu" };

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(to, keys[i], "only TPUs record waits");
        return;
    }
    tm_add_int(to, "wait_ps", lane->wait.total_ps);
    tm_add_int(to, "wait_copy_ps", lane->wait_copy.total_ps);
    tm_add_int(to, "wait_collective_ps", lane->wait_collective.total_ps);
    tm_add_int(to, "wait_host_ps", lane->wait_host.total_ps);
    add_flight(to, lane, is_json_copy);
    tpu = tm_add_object(to, "tpu");
    waits = tm_add_object(tpu, "waits");
    for (int i = 0; i < 3; i++)
        add_sum(waits, sorts[i], &lane->waits[i], false);
    starts = tm_add_object(tpu, "starts");
    for (int i = 0; i < 2; i++)
        add_sum(starts, sorts[i], &lane->starts[i], false);
    if (why_no_flights(lane, is_json_copy)) {
        tm_add_null(tpu, "in_flight", why_no_flights(lane, is_json_copy));
        return;
    }
    flights = tm_add_object(tpu, "in_flight");
    for (int i = 0; i < 2; i++)
        add_sum(flights, sorts[i], &lane->flights[i], true);
}

static void add_aliases(struct tm_value *to, const struct lane *lane)
{
    struct tm_value *aliases = tm_add_object(to, "aliases");

    tm_add_int(aliases, "computation", lane->parts.compute_ps);
    tm_add_int(aliases, "exposed_comm", lane->parts.exposed_collective_ps);
    tm_add_int(aliases, "exposed_memcpy", exposed_copy_of(&lane->parts));
    tm_add_int(aliases, "busy", busy_of(&lane->parts));
    tm_add_int(aliases, "idle", idle_of(&lane->parts));
}

static double utilization(const struct lane *lane);

/* With many devices fewer stretches are listed: at most STRETCHES_MOST for all devices together, or three of each. */
static void add_utilization(const struct device_time *d, struct tm_value *to, const struct lane *lane)
{
    struct tm_value *utilization = tm_add_object(to, "utilization"), *busy;
    struct tm_busy_bins bins = lane->bins;

    tm_busy_bins_merge(&bins, STRETCHES_MOST / d->lane_count);
    tm_add_int(utilization, "begin_ps", bins.start_ps);
    tm_add_int(utilization, "end_ps", bins.end_ps);
    tm_add_int(utilization, "bin_ps", bins.bin_ps);
    busy = tm_add_array(utilization, "busy_ps");
    for (uint32_t i = 0; i < bins.count; i++)
        tm_add_int(busy, NULL, bins.busy_ps[i]);
}

static int64_t window_of(const struct lane *lane)
{
    return lane->end_ps - lane->start_ps;
}

/* The window of a device, and its first start and last end of an activity in it. */
static void add_extent(struct tm_value *to, const struct lane *lane)
{
    static const char *const keys[] = { "window_begin_ps", "window_end_ps", "first_ps", "last_ps" };
    const int64_t values[] = { lane->start_ps, lane->end_ps, lane->start_ps + lane->lead_ps,
                               lane->end_ps - lane->trail_ps };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (has_window(lane))
            tm_add_int(to, keys[i], values[i]);
        else
            tm_add_null(to, keys[i], not_analyzed);
    tm_add_int(to, "span_ps", window_of(lane));
}

static void add_device(struct device_time *d, struct lane *lane, struct tm_value *devices)
{
    struct tm_value *to = tm_add_object(devices, NULL);
    const int64_t busy_ps = busy_of(&lane->parts);

    tm_add_string(to, "id", lane->device.id);
    tm_add_string(to, "host", d->hosts[lane->host].name);
    tm_add_string(to, "name", lane->device.name);
    tm_add_string(to, "kind", tm_device_kind_name[lane->device.kind]);
    if (lane->device.model[0])
        tm_add_string(to, "model", lane->device.model);
    else
        tm_add_null(to, "model", "the profiler did not record it");
    add_extent(to, lane);
    tm_add_int(to, "busy_ps", busy_ps);
    tm_add_int(to, "idle_ps", idle_of(&lane->parts));
    tm_add_int(to, "lead_ps", lane->lead_ps);
    tm_add_int(to, "trail_ps", lane->trail_ps);
    tm_add_int(to, "compute_ps", lane->parts.compute_ps);
    tm_add_int(to, "collective_ps", lane->collective.total_ps);
    tm_add_int(to, "exposed_collective_ps", lane->parts.exposed_collective_ps);
    tm_add_int(to, "copy_ps", lane->copy.total_ps);
    tm_add_int(to, "exposed_copy_ps", exposed_copy_of(&lane->parts));
    tm_add_directions(to, "exposed_by_direction_ps", lane->parts.exposed_copy_ps);
    add_tpu(to, lane, d->hosts[lane->host].is_json_copy);
    add_share(to, "utilization_pct", busy_ps - lane->wait.total_ps, window_of(lane));
    add_utilization(d, to, lane);
    tm_add_uint(to, "activities", lane->activities.count);
    add_gaps(to, lane);
    add_kernels(to, &lane->kernels);
    add_sum(to, "collectives", &lane->collectives, false);
    add_sum(to, "copies", &lane->copies, true);
    add_sum(to, "memsets", &lane->memsets, true);
    add_sum(to, "graphs", &lane->graphs, false);
    tm_add_string(to, "reliability", lane->device.has_collapsed_graphs ? "graph" : "full");
    add_aliases(to, lane);
    tm_device_time_report_steps(d, lane, to);
}

static void add_window(struct device_time *d, struct tm_value *summary)
{
    struct tm_value *window = tm_add_object(summary, "window"), *hosts;
    int64_t total_ps = 0;

    tm_add_string(window, "mode", d->session ? "session" : d->all ? "all" : "steps");
    hosts = tm_add_array(window, "hosts");
    for (uint32_t i = 0; i < d->group_count; i++) {
        static const char *const keys[] = { "begin_ps", "end_ps", "span_ps", "steps_ps" };
        const struct group_facts *group = &d->groups[i];
        const int64_t values[] = { group->start_ps, group->end_ps, group->end_ps - group->start_ps, group->steps_ps };
        struct tm_value *host = tm_add_object(hosts, NULL);

        tm_add_string(host, "host", d->hosts[group->host].name);
        tm_add_uint(host, "devices", group->devices);
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            if (group->devices)
                tm_add_int(host, keys[k], values[k]);
            else
                tm_add_null(host, keys[k], d->lane_count ? not_analyzed : no_device);
    }
    for (uint32_t i = 0; i < d->lane_count; i++)
        total_ps = tm_sum_times(total_ps, window_of(&d->lanes[i]));
    if (d->lane_count)
        tm_add_int(window, "total_ps", total_ps);
    else
        tm_add_null(window, "total_ps", no_device);
}

/* Sums over all devices. */
struct totals {
    struct time_parts parts;
    int64_t window_ps, collective_ps, copy_ps, wait_ps;
    const struct lane *worst;
};

static double utilization(const struct lane *lane)
{
    return window_of(lane) > 0 ? (double)(busy_of(&lane->parts) - lane->wait.total_ps) / (double)window_of(lane) : 0;
}

static struct totals add_up(const struct device_time *d)
{
    struct totals t = { .worst = NULL };

    for (uint32_t i = 0; i < d->lane_count; i++) {
        const struct lane *lane = &d->lanes[i];

        add_all_parts(&t.parts, &lane->parts);
        t.window_ps = tm_sum_times(t.window_ps, window_of(lane));
        t.collective_ps = tm_sum_times(t.collective_ps, lane->collective.total_ps);
        t.copy_ps = tm_sum_times(t.copy_ps, lane->copy.total_ps);
        t.wait_ps = tm_sum_times(t.wait_ps, lane->wait.total_ps);
        if (!t.worst || utilization(lane) < utilization(t.worst))
            t.worst = lane;
    }
    return t;
}

static void add_total(const struct device_time *d, const struct totals *t, struct tm_value *summary)
{
    struct tm_value *total;
    const int64_t busy_ps = busy_of(&t->parts);

    if (!d->lane_count) {
        tm_add_null(summary, "total", no_device);
        return;
    }
    total = tm_add_object(summary, "total");
    tm_add_uint(total, "devices", d->lane_count);
    tm_add_int(total, "window_ps", t->window_ps);
    tm_add_int(total, "busy_ps", busy_ps);
    tm_add_int(total, "idle_ps", idle_of(&t->parts));
    tm_add_int(total, "compute_ps", t->parts.compute_ps);
    tm_add_int(total, "collective_ps", t->collective_ps);
    tm_add_int(total, "exposed_collective_ps", t->parts.exposed_collective_ps);
    tm_add_int(total, "copy_ps", t->copy_ps);
    tm_add_int(total, "exposed_copy_ps", exposed_copy_of(&t->parts));
    tm_add_directions(total, "exposed_by_direction_ps", t->parts.exposed_copy_ps);
    add_share(total, "utilization_pct", busy_ps - t->wait_ps, t->window_ps);
    tm_add_string(total, "worst_device", t->worst->device.id);
    add_share(total, "worst_utilization_pct", busy_of(&t->worst->parts) - t->worst->wait.total_ps, window_of(t->worst));
}

/* How much of the devices' time the host cost; the stage host adds the rest of the section.
 * source: docs/metrics.md, "Host" */
static void add_host_section(const struct device_time *d, const struct totals *t, struct tm_value *summary)
{
    static const enum tm_cause causes[] = { TM_CAUSE_LAUNCH, TM_CAUSE_INPUT,   TM_CAUSE_SYNC,
                                            TM_CAUSE_HOST,   TM_CAUSE_COMPILE, TM_CAUSE_GC };
    struct tm_value *host = tm_add_object(summary, "host");
    const bool is_cpu = d->lane_count && d->lanes[0].device.kind == TM_DEVICE_CPU;
    int64_t overhead_ps = 0;

    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        overhead_ps = tm_sum_times(overhead_ps, t->parts.idle_ps[causes[i]]);
    if (is_cpu || !d->lane_count) {
        const char *why = is_cpu ? "the host is the device" : no_device;

        tm_add_null(host, "overhead_ps", why);
        tm_add_null(host, "overhead_pct", why);
        return;
    }
    tm_add_int(host, "overhead_ps", overhead_ps);
    add_share(host, "overhead_pct", overhead_ps, t->window_ps);
}

/* Balance refers to the compute time: a device that waits inside a collective for a slower one is busy, too. */
static void add_balance(const struct device_time *d, struct tm_value *summary)
{
    struct tm_value *balance = tm_add_object(summary, "balance"), *list;
    const struct lane *slowest = NULL;
    int64_t sum_ps = 0;
    uint64_t count = 0;

    list = tm_add_array(balance, "busy");
    for (uint32_t i = 0; i < d->lane_count; i++) {
        const struct lane *lane = &d->lanes[i];
        struct tm_value *row;

        if (!lane->parts.compute_ps)
            continue;
        row = tm_add_object(list, NULL);
        tm_add_string(row, "device", lane->device.id);
        tm_add_int(row, "busy_ps", busy_of(&lane->parts));
        tm_add_int(row, "compute_ps", lane->parts.compute_ps);
        tm_add_int(row, "exposed_collective_ps", lane->parts.exposed_collective_ps);
        tm_add_uint(row, "kernels", lane->kernels.count);
        sum_ps = tm_sum_times(sum_ps, lane->parts.compute_ps);
        count++;
        if (!slowest || lane->parts.compute_ps > slowest->parts.compute_ps)
            slowest = lane;
    }
    tm_add_uint(balance, "devices", count);
    if (count < 2 || sum_ps <= 0) {
        const char *why = count ? "one device" : "no device computed";

        tm_add_null(balance, "imbalance_pct", why);
        tm_add_null(balance, "slowest", why);
        return;
    }
    tm_add_double(balance, "imbalance_pct",
                  100.0 * ((double)slowest->parts.compute_ps * (double)count / (double)sum_ps - 1.0));
    tm_add_string(balance, "slowest", slowest->device.id);
}

void tm_device_time_report_devices(struct device_time *d, struct tm_value *summary)
{
    const struct totals t = add_up(d);
    struct tm_value *devices;

    add_window(d, summary);
    devices = tm_add_array(summary, "devices");
    for (uint32_t i = 0; i < d->lane_count && !tm_failed(d->run); i++)
        add_device(d, &d->lanes[i], devices);
    add_total(d, &t, summary);
    add_host_section(d, &t, summary);
    add_balance(d, summary);
}

/* The section gaps. */

enum { NAME_MOST = 512 };

static void add_name(struct device_time *d, struct tm_value *to, const char *key, tm_strid name)
{
    tm_add_name_cut(to, key, d->names, name, NAME_MOST, "not recorded");
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
        tm_add_null(to, "launch", "the call that launched the activity after the gap is unknown");
        return;
    }
    launch = tm_add_object(to, "launch");
    tm_add_int(launch, "begin_ps", gap->launch_ps);
    tm_add_int(launch, "dur_ps", gap->launch_dur_ps);
}

/* Adds how long events of the same name usually take. */
static void add_calls(struct tm_value *to, const struct listed_gap *gap)
{
    const uint64_t shorter = gap->calls - gap->long_calls;
    struct tm_value *calls;

    if (!gap->calls) {
        tm_add_null(to, "calls", "not recorded, or the event is itself a launch, a wait or another cause");
        return;
    }
    calls = tm_add_object(to, "calls");
    tm_add_uint(calls, "count", gap->calls);
    tm_add_uint(calls, "long_count", gap->long_calls);
    if (shorter)
        tm_add_int(calls, "usual_ps", gap->short_calls_ps / (int64_t)(shorter < INT64_MAX ? shorter : INT64_MAX));
    else
        tm_add_null(calls, "usual_ps", "all such calls are long");
}

static void add_listed(struct device_time *d, const struct listed_gap *gap, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL), *parts;

    tm_add_string(to, "device", d->lanes[gap->lane].device.id);
    tm_add_int(to, "begin_ps", gap->start_ps);
    tm_add_int(to, "dur_ps", gap->dur_ps);
    add_name(d, to, "before", gap->before);
    add_name(d, to, "after", gap->after);
    if (gap->step != TM_NONE)
        tm_add_int(to, "step", gap->step_number);
    else
        tm_add_null(to, "step", "outside the steps");
    tm_add_string(to, "cause", tm_cause_name[gap->cause]);
    add_name(d, to, "host_event", gap->host_event);
    add_thread(to, gap);
    add_launch(to, gap);
    add_calls(to, gap);
    parts = tm_add_object(to, "parts");
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        if (gap->parts[i])
            tm_add_int(parts, tm_cause_name[i], gap->parts[i]);
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

/* Gaps about as long as the host needs for the next operation or two. */
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

void tm_idle_gaps_report(struct device_time *d, struct tm_value *summary)
{
    struct tm_value *gaps, *longest;
    uint64_t count = 0, count_min = 0;
    int64_t total_ps = 0;

    if (!d->lane_count) {
        tm_add_null(summary, "gaps", "no device activity was recorded");
        return;
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
    for (uint32_t i = 0; i < d->longest_count; i++)
        add_listed(d, &d->longest[i], longest);
}
