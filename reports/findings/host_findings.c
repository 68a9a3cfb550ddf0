/* SPDX-License-Identifier: Apache-2.0 */
/* What the hosts did to the devices beyond the causes of idle time (idle_findings.c): work that comes late, work that
 * runs on the host instead of the device.  Waits, launches and functions are evidence of the findings on idle time;
 * trips of data are told here only where no finding on transfers tells them. */
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "pipeline/waiting_names.h"
#include "reports/findings/idle.h"

enum { NAMES_SAID = 3, THREADS_LEAST = 4, ALONE_PCT = 75, CPU_BUSY_PCT = 50 };

/* --- evidence for the findings on idle time --- */

/* " in 'f' under 'a'": where a wait stands. */
static void place_of(char *out, size_t out_bytes, const struct tm_value *row)
{
    char caller[TM_SHORT_NAME_BYTES], annotation[TM_SHORT_NAME_BYTES];
    const bool has_caller = tm_has(tm_get(row, "caller")), has_annotation = tm_has(tm_get(row, "annotation"));

    (void)snprintf(out, out_bytes, "%s%s%s%s%s%s", has_caller ? ", called in '" : "",
                   has_caller ? tm_short_name(caller, tm_text(tm_get(row, "caller"))) : "", has_caller ? "'" : "",
                   has_annotation ? ", inside '" : "",
                   has_annotation ? tm_short_name(annotation, tm_text(tm_get(row, "annotation"))) : "",
                   has_annotation ? "'" : "");
}

void tm_host_say_waits(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *rows = tm_path(all->summary, "host.sync.rows");

    for (size_t i = 0; i < tm_length(rows) && i < NAMES_SAID; i++) {
        const struct tm_value *row = tm_at(rows, i);
        char place[2 * TM_SHORT_NAME_BYTES + 32], name[TM_SHORT_NAME_BYTES];
        char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], longest[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES];

        place_of(place, sizeof(place), row);
        tm_finding_say(f, "Waits in '%s'%s: %s in %s calls, the longest %s at %s.",
                       tm_short_name(name, tm_text(tm_get(row, "name"))), place,
                       tm_format_time(time, tm_int(tm_get(row, "total_ps"))),
                       tm_format_count(count, tm_int(tm_get(row, "count"))),
                       tm_format_time(longest, tm_int(tm_get(row, "longest_ps"))),
                       tm_format_moment(begin, tm_int(tm_get(row, "longest_begin_ps"))));
    }
}

void tm_host_say_launches(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *launches = tm_path(all->summary, "host.launches");
    const struct tm_value *delay = tm_path(all->summary, "host.launch_delay");
    char count[TM_FORMAT_BYTES], each[TM_FORMAT_BYTES], p50[TM_FORMAT_BYTES], p95[TM_FORMAT_BYTES];

    if (tm_has(tm_get(launches, "per_step")))
        tm_finding_say(f, "%s launches, %s per step.", tm_format_count(count, tm_int(tm_get(launches, "count"))),
                       tm_format_number(each, tm_double(tm_get(launches, "per_step"))));
    if (tm_has(tm_get(delay, "p50_ps")))
        tm_finding_say(f, "From launch to begin: %s in the median, %s at the 95th percentile.",
                       tm_format_time(p50, tm_int(tm_get(delay, "p50_ps"))),
                       tm_format_time(p95, tm_int(tm_get(delay, "p95_ps"))));
}

/* Sleeping is no work of the host, but it may be how long an input pipeline takes. */
static bool is_said(const char *name, bool with_sleep)
{
    const enum tm_waiting waiting = tm_waiting_of(name, strlen(name));

    return waiting == TM_NOT_WAITING || (waiting == TM_WAITING_FOR_TIME && with_sleep);
}

void tm_host_say_functions(struct tm_findings *all, struct tm_finding *f, bool with_sleep)
{
    const struct tm_value *rows = tm_path(all->summary, "host.python");
    char text[TM_EVIDENCE_BYTES] = "";

    for (size_t i = 0, said = 0; i < tm_length(rows) && said < NAMES_SAID; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const size_t used = strlen(text);
        char name[TM_SHORT_NAME_BYTES], time[TM_FORMAT_BYTES];

        if (!is_said(tm_text(tm_get(row, "name")), with_sleep))
            continue;
        (void)snprintf(text + used, sizeof(text) - used, "%s'%s' %s", said++ ? ", " : "",
                       tm_short_name(name, tm_text(tm_get(row, "name"))),
                       tm_format_time(time, tm_int(tm_get(row, "self_ps"))));
    }
    if (*text)
        tm_finding_say(f, "Python functions with the most time of their own: %s.", text);
}

/* --- work that comes late --- */

static void say_stretches(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *longest = tm_path(all->summary, "host.queue_empty.longest");
    char time[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES], device[TM_SHORT_NAME_BYTES];

    for (size_t i = 0; i < tm_length(longest); i++) {
        const struct tm_value *row = tm_at(longest, i);

        if (i == 0)
            tm_finding_say(f, "The longest stretch: %s at %s on %s.",
                           tm_format_time(time, tm_int(tm_get(row, "dur_ps"))),
                           tm_format_moment(begin, tm_int(tm_get(row, "begin_ps"))),
                           tm_finding_device(f, device, tm_get(row, "device")));
        tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "dur_ps")),
                         tm_text(tm_get(row, "device")));
    }
}

/* Is one of the causes for which nothing was launched told by itself? */
static bool has_host_cause(const struct tm_findings *all)
{
    static const char *const ids[] = { "idle_launch", "idle_input", "idle_sync", "idle_host", "idle_gc", "idle_compile",
                                       "compile_in_steps", "op_short", "eager_dispatch",
                                       "idle_unrecorded" };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (tm_is_found(all, ids[i]))
            return true;
    return false;
}

/* Told where many small causes add up: the findings on idle time by cause have what is at stake, and tell more. */
void tm_find_empty_queue(struct tm_findings *all)
{
    const struct tm_value *empty = tm_path(all->summary, "host.queue_empty");
    const int64_t empty_ps = tm_clamp_to_window(all, tm_int(tm_get(empty, "total_ps")));
    const int64_t idle_ps = tm_int(tm_path(all->summary, "total.idle_ps"));
    const double share = tm_share_pct(empty_ps, all->window_ps), limit = tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    char time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES], of_idle[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (idle_ps <= 0 || !tm_is_worth_mention(all, empty_ps) || share < limit || has_host_cause(all))
        return;
    f = tm_finding_of_share(all, "queue_empty", TM_INFO, empty_ps, NULL);
    tm_finding_limit(f, limit);
    tm_finding_say(f, "For %s (%s of device time) a device was idle and nothing that it could run had been launched: "
                      "%s of all idle time, in %s stretches.",
                   tm_format_time(time, empty_ps), tm_format_pct(pct, share),
                   tm_format_pct(of_idle, tm_share_pct(empty_ps, idle_ps)),
                   tm_format_count(count, tm_int(tm_get(empty, "count"))));
    tm_host_say_launches(all, f);
    say_stretches(all, f);
}

/* --- work on the host --- */

/* A finding with the idle time that work on the host makes, as far as no other has it; where the CPU is the device, the
 * work itself is at stake.  NULL = what is left is not worth one. */
static struct tm_finding *begin_host(struct tm_findings *all, const char *id, int64_t host_ps)
{
    static const enum tm_wait waits[] = { TM_WAIT_DEVICE, TM_WAIT_HOST, TM_WAIT_SYNC, TM_WAIT_LAUNCH,
                                          TM_WAIT_UNRECORDED };
    const size_t count = sizeof(waits) / sizeof(waits[0]);
    int64_t left_ps = 0;

    if (tm_ask_is_platform(all->summary, "cpu"))
        return tm_is_worth_mention(all, host_ps) ? tm_finding_of_time(all, id, host_ps) : NULL;
    for (size_t i = 0; i < count; i++)
        left_ps = tm_sum_times(left_ps, tm_wait_left(all, waits[i]));
    if (!tm_is_worth_mention(all, host_ps < left_ps ? host_ps : left_ps))
        return NULL;
    left_ps = tm_wait_explain(all, waits, count, host_ps);
    return tm_finding_of_idle(all, id, left_ps, left_ps, NULL);
}

static void say_rows(struct tm_finding *f, const struct tm_value *rows)
{
    for (size_t i = 0; i < tm_length(rows) && i < NAMES_SAID; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const char *kind = tm_text(tm_get(row, "kind")), *name = tm_text(tm_get(row, "name"));
        char cut[TM_SHORT_NAME_BYTES], time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], longest[TM_FORMAT_BYTES],
            begin[TM_FORMAT_BYTES];

        tm_finding_say(f, "'%s'%s%s: %s in %s calls, the longest %s at %s.", tm_short_name(cut, name),
                       *kind && strcmp(kind, name) != 0 ? ", by " : "", *kind && strcmp(kind, name) != 0 ? kind : "",
                       tm_format_time(time, tm_int(tm_get(row, "total_ps"))),
                       tm_format_count(count, tm_int(tm_get(row, "count"))),
                       tm_format_time(longest, tm_int(tm_get(row, "longest_ps"))),
                       tm_format_moment(begin, tm_int(tm_get(row, "begin_ps"))));
        tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "longest_ps")),
                         tm_text(tm_get(row, "host")));
    }
}

static void find_callbacks(struct tm_findings *all)
{
    const struct tm_value *calls = tm_path(all->summary, "fallback.callbacks");
    const int64_t total_ps = tm_int(tm_get(calls, "total_ps"));
    char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];
    struct tm_finding *f = begin_host(all, "fallback_callbacks", total_ps);

    if (!f)
        return;
    tm_finding_say(f, "%s calls back to the host take %s.", tm_format_count(count, tm_int(tm_get(calls, "count"))),
                   tm_format_time(time, total_ps));
    say_rows(f, tm_get(calls, "rows"));
}

static void find_cpu_ops(struct tm_findings *all)
{
    const struct tm_value *ops = tm_path(all->summary, "fallback.cpu_ops");
    const int64_t total_ps = tm_int(tm_get(ops, "total_ps"));
    char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];
    struct tm_finding *f = begin_host(all, "fallback_cpu_ops", total_ps);

    if (!f)
        return;
    tm_finding_say(f, "%s operations of compiled programs ran on the host for %s.",
                   tm_format_count(count, tm_int(tm_get(ops, "count"))), tm_format_time(time, total_ps));
    say_rows(f, tm_get(ops, "rows"));
}

static void find_round_trips(struct tm_findings *all)
{
    const struct tm_value *trips = tm_path(all->summary, "fallback.round_trips");
    const struct tm_value *longest = tm_get(trips, "longest");
    const int64_t count = tm_int(tm_get(trips, "count")), host_ps = tm_int(tm_get(trips, "host_ps"));
    char time[TM_FORMAT_BYTES], number[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES],
        device[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    if (count < 2 || tm_is_found(all, "transfer_ping_pong"))
        return;
    f = begin_host(all, "round_trips", host_ps);
    if (!f)
        return;
    tm_finding_say(f,
                   "%s times in the analyzed steps a copy to the host is followed by nothing but a copy back, launched "
                   "after it; in between the device is idle for %s in all.",
                   tm_format_count(number, count), tm_format_time(time, host_ps));
    for (size_t i = 0; i < tm_length(longest) && i < TM_WHERE_MOST; i++) {
        const struct tm_value *row = tm_at(longest, i);
        const char *event = tm_text(tm_get(row, "host_event"));

        if (i < NAMES_SAID)
            tm_finding_say(f, "%s at %s on %s%s%s%s.", tm_format_time(time, tm_int(tm_get(row, "dur_ps"))),
                           tm_format_moment(begin, tm_int(tm_get(row, "begin_ps"))),
                           tm_finding_device(f, device, tm_get(row, "device")), *event ? ", host in '" : "",
                           *event ? tm_short_name(name, event) : "", *event ? "'" : "");
        tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "dur_ps")),
                         tm_text(tm_get(row, "device")));
    }
}

/* --- the CPU as the device --- */

struct workers {
    int64_t count, most_ps, total_ps;
    const struct tm_value *busiest;
};

static struct workers count_workers(const struct tm_value *threads)
{
    struct workers w = { .count = 0 };

    for (size_t i = 0; i < tm_length(threads); i++) {
        const struct tm_value *row = tm_at(threads, i);
        const int64_t op_ps = tm_int(tm_get(row, "op_ps"));

        if (tm_int(tm_get(row, "ops")) <= 0)
            continue;
        w.count++;
        w.total_ps = tm_sum_times(w.total_ps, op_ps);
        if (op_ps > w.most_ps) {
            w.most_ps = op_ps;
            w.busiest = row;
        }
    }
    return w;
}

/* One of many threads does nearly all of the work, in a run that computes most of the time.  A fact: how well an
 * operation can be divided is not in the profile. */
static void find_lone_thread(struct tm_findings *all)
{
    const struct workers w = count_workers(tm_path(all->summary, "host.threads"));
    const double share = tm_share_pct(w.most_ps, w.total_ps);
    char count[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], total[TM_FORMAT_BYTES],
        name[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    if (!tm_ask_is_platform(all->summary, "cpu") || w.count < THREADS_LEAST || share < ALONE_PCT ||
        tm_double(tm_path(all->summary, "total.utilization_pct")) < CPU_BUSY_PCT)
        return;
    f = tm_finding_of_fact(all, "cpu_one_thread", TM_INFO);
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, ALONE_PCT);
    tm_finding_say(f, "Of %s threads that run operations '%s' takes %s of %s (%s).",
                   tm_format_count(count, w.count), tm_short_name(name, tm_text(tm_get(w.busiest, "name"))),
                   tm_format_time(time, w.most_ps), tm_format_time(total, w.total_ps), tm_format_pct(pct, share));
}

void tm_find_host_work(struct tm_findings *all)
{
    find_callbacks(all);
    find_cpu_ops(all);
    find_round_trips(all);
    find_lone_thread(all);
}
