/* SPDX-License-Identifier: Apache-2.0 */
/* Why the devices are idle: one finding per cause of idle time (summary.gaps.by_cause), and a note on devices that
 * start late or finish early.  Each claims only what no other finding explains: compilation inside steps, pauses
 * between short kernels or programs, waits for a device with more work.  Also an empty launch queue, and work that runs
 * on the host instead of the device.  Waits, launches and functions of the host are evidence for the findings on idle
 * time. */
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/waiting_names.h"
#include "reports/findings/finding.h"

enum { NAMES_SAID = 3, THREADS_LEAST = 4, ALONE_PCT = 75, CPU_BUSY_PCT = 50 };

void tm_host_emit_launches(struct tm_finding *f)
{
    tm_finding_emit(f, "launches_per_step", NULL);
    tm_finding_emit(f, "launch_delay", NULL);
}

/* Sleeping is not work, but it may represent the time of an input pipeline. */
static bool is_named(const char *name, bool with_sleep)
{
    const enum tm_waiting waiting = tm_waiting_of(name, strlen(name));

    return waiting == TM_NOT_WAITING || (waiting == TM_WAITING_FOR_TIME && with_sleep);
}

void tm_host_emit_functions(struct tm_findings *all, struct tm_finding *f, bool with_sleep)
{
    const struct tm_value *rows = tm_path(all->summary, "host.python");
    char text[TM_EVIDENCE_BYTES] = "";

    for (size_t i = 0, said = 0; i < tm_length(rows) && said < NAMES_SAID; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const size_t used = strlen(text);
        char name[TM_SHORT_NAME_BYTES], time[TM_FORMAT_BYTES];

        if (!is_named(tm_text(tm_get(row, "name")), with_sleep))
            continue;
        (void)snprintf(text + used, sizeof(text) - used, "%s'%s' %s", said++ ? ", " : "",
                       tm_row_name(name, row, "name"), tm_row_time(time, row, "self_ps"));
    }
    if (*text)
        tm_finding_emit_with(f, "functions", NULL, tm_given_text("functions", text));
}

/* Reported if many small causes add up; otherwise the findings on idle time by cause are more specific. */
void tm_find_empty_queue(struct tm_findings *all)
{
    const struct tm_value *empty = tm_path(all->summary, "host.queue_empty");
    const int64_t empty_ps = tm_clamp_to_window(all, tm_int(tm_get(empty, "total_ps")));
    const int64_t idle_ps = tm_int(tm_path(all->summary, "total.idle_ps"));
    const double share = tm_share_pct(empty_ps, all->window_ps), limit = tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    struct tm_finding *f;

    if (idle_ps <= 0 || !tm_is_worth_mention(all, empty_ps) || share < limit || tm_is_reported(all, "queue_empty"))
        return;
    f = tm_finding_of_share(all, "queue_empty", empty_ps, NULL);
    tm_finding_limit(f, limit);
    tm_finding_emit_with(f, "empty", NULL, tm_given_int("empty_ps", empty_ps), tm_given_double("share_pct", share),
                         tm_given_double("of_idle_pct", tm_share_pct(empty_ps, idle_ps)));
    tm_host_emit_launches(f);
    tm_finding_emit_rows(f, "longest", tm_path(all->summary, "host.queue_empty.longest"), 1, SIZE_MAX);
}

/* --- work on the host --- */

/* A finding with the idle time that host work causes and no other finding claims; if the CPU is the device, with the
 * time of the work itself.  NULL = too little is left. */
static struct tm_finding *begin_host(struct tm_findings *all, const char *id, int64_t host_ps)
{
    static const enum tm_wait waits[] = { TM_WAIT_DEVICE, TM_WAIT_HOST, TM_WAIT_SYNC, TM_WAIT_LAUNCH,
                                          TM_WAIT_UNRECORDED };
    const size_t count = sizeof(waits) / sizeof(waits[0]);
    struct tm_claim claim = { .ps = { 0 } };
    struct tm_finding *f;
    int64_t left_ps = 0;

    if (tm_query_is_platform(all->summary, "cpu"))
        return tm_is_worth_mention(all, host_ps) ? tm_finding_of_time(all, id, host_ps) : NULL;
    for (size_t i = 0; i < count; i++)
        left_ps = tm_sum_times(left_ps, tm_wait_left(all, waits[i]));
    if (!tm_is_worth_mention(all, host_ps < left_ps ? host_ps : left_ps))
        return NULL;
    left_ps = tm_wait_explain(all, waits, count, host_ps, &claim);
    f = tm_finding_of_idle(all, id, left_ps, left_ps, NULL);
    tm_finding_claim(f, &claim);
    return f;
}

static void emit_rows(struct tm_finding *f, const struct tm_value *rows)
{
    for (size_t i = 0; i < tm_length(rows) && i < NAMES_SAID; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const char *kind = tm_text(tm_get(row, "kind")), *name = tm_text(tm_get(row, "name"));

        tm_finding_emit_with(f, "host_row", row, tm_given_text("by", strcmp(kind, name) != 0 ? kind : ""));
        tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "longest_ps")),
                         tm_text(tm_get(row, "host")));
    }
}

static void find_callbacks(struct tm_findings *all)
{
    const struct tm_value *calls = tm_path(all->summary, "fallback.callbacks");
    const int64_t total_ps = tm_int(tm_get(calls, "total_ps"));
    struct tm_finding *f = begin_host(all, "fallback_callbacks", total_ps);

    if (!f)
        return;
    tm_finding_emit(f, "all", calls);
    emit_rows(f, tm_get(calls, "rows"));
}

static void find_cpu_ops(struct tm_findings *all)
{
    const struct tm_value *ops = tm_path(all->summary, "fallback.cpu_ops");
    const int64_t total_ps = tm_int(tm_get(ops, "total_ps"));
    struct tm_finding *f = begin_host(all, "fallback_cpu_ops", total_ps);

    if (!f)
        return;
    tm_finding_emit(f, "all", ops);
    emit_rows(f, tm_get(ops, "rows"));
}

static void find_round_trips(struct tm_findings *all)
{
    const struct tm_value *trips = tm_path(all->summary, "fallback.round_trips");
    const int64_t count = tm_int(tm_get(trips, "count")), host_ps = tm_int(tm_get(trips, "host_ps"));
    struct tm_finding *f;

    if (count < 2 || tm_is_reported(all, "round_trips"))
        return;
    f = begin_host(all, "round_trips", host_ps);
    if (!f)
        return;
    tm_finding_emit(f, "all", trips);
    tm_finding_emit_rows(f, "trip", tm_get(trips, "longest"), NAMES_SAID, TM_WHERE_MOST);
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

/* One of many threads does most of the work, in a run that is busy most of the time.  A fact: the profile does not show
 * whether the operations could be split. */
static void find_lone_thread(struct tm_findings *all)
{
    const struct workers w = count_workers(tm_path(all->summary, "host.threads"));
    const double share = tm_share_pct(w.most_ps, w.total_ps);
    struct tm_finding *f;

    if (!tm_query_is_platform(all->summary, "cpu") || w.count < THREADS_LEAST || share < ALONE_PCT ||
        tm_double(tm_path(all->summary, "total.utilization_pct")) < CPU_BUSY_PCT)
        return;
    f = tm_finding_of_fact(all, "cpu_one_thread");
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, ALONE_PCT);
    tm_finding_emit_with(f, "all", w.busiest, tm_given_int("threads", w.count), tm_given_int("most_ps", w.most_ps),
                         tm_given_int("total_ps", w.total_ps), tm_given_double("share_pct", share));
}

void tm_find_host_work(struct tm_findings *all)
{
    find_callbacks(all);
    find_cpu_ops(all);
    find_round_trips(all);
    find_lone_thread(all);
}

/* --- idle time by cause --- */

enum { GAPS_SAID = 3 };

/* A call counts as stalled if there are enough calls of its name, few of them are long, and the device was idle for a
 * multiple of the usual duration. */
enum { HELD_CALLS_LEAST = 20, HELD_ONE_IN = 10, HELD_TIMES = 20 };

/* An event that happens once: the longest gap of a cause, with the gaps of other devices at the same time. */
struct lone {
    const struct tm_value *gap; /* the longest; NULL = there is no such event */
    int64_t ps;                 /* total time of the cause in all gaps */
    int gaps;
};

static bool overlap(const struct tm_value *a, const struct tm_value *b)
{
    const int64_t a_ps = tm_int(tm_get(a, "begin_ps")), b_ps = tm_int(tm_get(b, "begin_ps"));

    return a_ps < tm_sum_times(b_ps, tm_int(tm_get(b, "dur_ps"))) &&
           b_ps < tm_sum_times(a_ps, tm_int(tm_get(a, "dur_ps")));
}

/* It has at least half of the cause's time, and no other gap is more than half as long. */
static struct lone find_lone(const struct tm_findings *all, const char *cause)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const int64_t total_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "total_ps"));
    struct lone lone = { .gap = NULL };
    int64_t most_ps = 0, next_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_get(tm_get(tm_at(longest, i), "parts"), cause));

        if (part_ps > most_ps) {
            lone.gap = tm_at(longest, i);
            most_ps = part_ps;
        }
    }
    for (size_t i = 0; i < tm_length(longest) && lone.gap; i++) {
        const int64_t part_ps = tm_int(tm_get(tm_get(tm_at(longest, i), "parts"), cause));

        if (!overlap(tm_at(longest, i), lone.gap)) {
            next_ps = part_ps > next_ps ? part_ps : next_ps;
        } else if (part_ps > 0) {
            lone.ps = tm_sum_times(lone.ps, part_ps);
            lone.gaps++;
        }
    }
    return lone.ps >= total_ps / 2 && most_ps / 2 >= next_ps ? lone : (struct lone){ .gap = NULL };
}

/* The part of a cause's time that is the main thread's, as the launching one recorded too little: 0 to 1. */
static double main_part(const struct tm_findings *all, const char *cause)
{
    const struct tm_value *of_cause = tm_get(tm_path(all->summary, "gaps.by_cause"), cause);
    const int64_t total_ps = tm_int(tm_get(of_cause, "total_ps"));

    return total_ps > 0 ? (double)tm_int(tm_get(of_cause, "main_ps")) / (double)total_ps : 0;
}

/* The idle time of an average step, if there are steps; an event that happens once is not of each of them. */
static void emit_share(struct tm_findings *all, struct tm_finding *f, const char *name, const struct tm_value *cause)
{
    const int64_t total_ps = tm_clamp_to_window(all, tm_int(tm_get(cause, "total_ps")));
    const int64_t idle_ps = tm_int(tm_get(tm_path(all->summary, "steps.parts.idle_ps"), name));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    const int64_t devices = tm_int(tm_path(all->summary, "total.devices"));
    struct tm_given given[5] = { tm_given_int("total_ps", total_ps),
                                 tm_given_double("share_pct", tm_share_pct(total_ps, all->window_ps)) };

    if (!find_lone(all, name).gap && chosen >= 2 && devices >= 1 && idle_ps > 0 && !tm_query_is_session(all->summary)) {
        given[2] = tm_given_int("step_idle_ps", idle_ps / chosen / devices);
        given[3] = tm_given_int("step_ps", tm_int(tm_path(all->summary, "steps.parts.total_ps")) / chosen / devices);
    }
    tm_finding_emit_given(f, "idle_share", cause, given);
    if (tm_int(tm_get(cause, "count")) > 0)
        tm_finding_emit(f, "idle_gaps", cause);
}

/* Was the host delayed in a call that usually takes far less time? */
static bool is_held_up(const struct tm_value *gap)
{
    const struct tm_value *calls = tm_get(gap, "calls");
    const int64_t part_ps = tm_int(tm_path(gap, "parts.host")), usual_ps = tm_int(tm_get(calls, "usual_ps"));
    const int64_t count = tm_int(tm_get(calls, "count")), long_count = tm_int(tm_get(calls, "long_count"));

    return strcmp(tm_text(tm_get(gap, "cause")), "host") == 0 && tm_has(tm_get(calls, "usual_ps")) &&
           count >= HELD_CALLS_LEAST && long_count > 0 && long_count <= count / HELD_ONE_IN &&
           usual_ps <= part_ps / HELD_TIMES;
}

/* How long before the end of the gap the work behind it was launched; below 0 = not known. */
static int64_t launched_ago(const struct tm_value *gap)
{
    const struct tm_value *launch = tm_get(gap, "launch");
    const int64_t end_ps = tm_sum_times(tm_int(tm_get(gap, "begin_ps")), tm_int(tm_get(gap, "dur_ps")));
    int64_t ago_ps;

    if (strcmp(tm_text(tm_get(gap, "cause")), "launch") != 0 || !tm_has(launch) ||
        __builtin_sub_overflow(end_ps, tm_int(tm_get(launch, "begin_ps")), &ago_ps))
        return -1;
    return ago_ps;
}

/* part_ps: the relevant part of the gap, if not all of it.  The event is that of the largest part. */
static void emit_gap(struct tm_finding *f, const struct tm_value *gap, int64_t part_ps)
{
    const char *event = tm_text(tm_get(gap, "host_event"));
    const struct tm_value *calls = tm_get(gap, "calls");
    const bool is_part = part_ps < tm_int(tm_get(gap, "dur_ps"));
    const int64_t ago_ps = launched_ago(gap);
    struct tm_given given[6] = { { .name = NULL } }, *next = given;

    if (is_part)
        *next++ = tm_given_int("part_ps", part_ps);
    if (!is_part && *event) {
        const bool is_main = strcmp(tm_text(tm_get(gap, "host_thread")), "main") == 0;

        *next++ = tm_given_text("event", event);
        *next++ = tm_given_text("thread", is_main ? "main thread" : "host");
        if (is_held_up(gap))
            *next++ = tm_given_int("usual_count", tm_int(tm_get(calls, "count")) - tm_int(tm_get(calls, "long_count")));
    }
    if (ago_ps >= 0)
        *next++ = tm_given_int("ago_ps", ago_ps);
    tm_finding_emit_given(f, "gap", gap, given);
}

/* The same event in the same step is reported once, however many devices were idle. */
static bool is_alike(const struct tm_value *gap, const struct tm_value *const *said, int count)
{
    for (int i = 0; i < count; i++) {
        if (tm_has(tm_get(gap, "step")) && tm_int(tm_get(gap, "step")) == tm_int(tm_get(said[i], "step")) &&
            strcmp(tm_text(tm_get(gap, "host_event")), tm_text(tm_get(said[i], "host_event"))) == 0)
            return true;
    }
    return false;
}

/* Gaps in which the cause is the largest part (is_largest), or a smaller one. */
static int emit_gaps(struct tm_findings *all, struct tm_finding *f, const char *cause, bool is_largest)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const struct tm_value *said[GAPS_SAID];
    int count = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const struct tm_value *gap = tm_at(longest, i);
        const int64_t part_ps = tm_int(tm_get(tm_get(gap, "parts"), cause));

        if ((strcmp(tm_text(tm_get(gap, "cause")), cause) == 0) != is_largest ||
            (!is_largest && part_ps < TM_STAKE_LEAST_PS))
            continue;
        if (count < GAPS_SAID && !is_alike(gap, said, count)) {
            said[count++] = gap;
            emit_gap(f, gap, is_largest ? INT64_MAX : part_ps);
        }
        tm_finding_where_row(f, gap);
    }
    return count;
}

static void emit_longest_gaps(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    if (emit_gaps(all, f, cause, true) == 0)
        (void)emit_gaps(all, f, cause, false);
}

static bool is_covered_elsewhere(const struct tm_findings *all, enum tm_wait wait)
{
    return (wait == TM_WAIT_COMPILE && tm_compiles_inside_steps(all) > 0) ||
           (wait == TM_WAIT_UNRECORDED && tm_host_was_not_recorded(all));
}

/* What the host did if it is the cause: names that the gaps do not have. */
static void emit_host(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    if (strcmp(cause, "sync") == 0)
        tm_finding_emit_rows(f, "wait", tm_path(all->summary, "host.sync.rows"), NAMES_SAID, 0);
    else if (strcmp(cause, "launch") == 0)
        tm_host_emit_launches(f);
    else if (strcmp(cause, "host") == 0 || strcmp(cause, "input") == 0)
        tm_host_emit_functions(all, f, strcmp(cause, "input") == 0);
}

/* Short pauses and longer waits have different reasons. */
static void emit_pauses(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *pauses = tm_path(all->summary, "gaps.pauses");
    const int64_t pause_ps = tm_int(tm_get(pauses, "total_ps"));
    const int64_t all_ps = tm_int(tm_path(all->summary, "gaps.by_cause.device_wait.total_ps"));

    if (tm_has(pauses))
        tm_finding_emit_with(f, "pauses", NULL, tm_given_int("pause_ps", pause_ps < all_ps ? pause_ps : all_ps));
}

/* Waits on the device and time of the profiler are facts: the first have no known reason, the second is not lost in
 * other runs. */
static struct tm_finding *begin(struct tm_findings *all, const char *id, enum tm_wait wait, int64_t left_ps,
                                const char *path)
{
    const bool is_large = tm_share_on(all, left_ps, path) >= tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    struct tm_claim claim = { .ps = { 0 } };
    struct tm_finding *f;

    if (wait == TM_WAIT_DEVICE)
        return is_large ? tm_finding_of_share(all, id, left_ps, path) : NULL;
    if (wait == TM_WAIT_PROFILER) {
        f = tm_finding_of_share(all, id, left_ps, path);
        if (is_large)
            tm_finding_case(f, "large");
        return f;
    }
    f = tm_finding_of_idle(all, id, left_ps, tm_wait_explain(all, &wait, 1, left_ps, &claim), path);
    tm_finding_claim(f, &claim);
    return f;
}

bool tm_idle_is_of_long_launches(const struct tm_findings *all)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const double least_ps = tm_limit_of(all, TM_LIMIT_LONG_LAUNCH) * 1e9;
    int64_t long_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_path(tm_at(longest, i), "parts.launch"));

        if ((double)part_ps >= least_ps)
            long_ps = tm_sum_times(long_ps, part_ps);
    }
    return long_ps > 0 && long_ps >= tm_int(tm_path(all->summary, "gaps.by_cause.launch.total_ps")) / 2;
}

/* A gap in a driver call that a program makes once, when it first uses the device or a library. */
static bool is_of_startup(const struct tm_value *gap)
{
    static const char *const parts[] = { "Malloc",      "Free",      "StreamCreate",     "EventCreate",  "ModuleLoad",
                                         "LibraryLoad", "CtxCreate", "PrimaryCtxRetain", "HostRegister", "HostAlloc" };

    const char *call = tm_text(tm_get(gap, "host_event"));

    if (strncmp(call, "cuda", 4) != 0 && strncmp(call, "cu", 2) != 0 && strncmp(call, "hip", 3) != 0)
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(call, parts[i]))
            return true;
    return false;
}

/* Do gaps of a kind make up half of the idle time for host work? */
static bool are_half_of_host(const struct tm_findings *all, bool (*is_meant)(const struct tm_value *gap))
{
    const int64_t sum_ps = tm_sum_rows(tm_path(all->summary, "gaps.longest"), "parts.host", is_meant);

    return sum_ps > 0 && sum_ps >= tm_int(tm_path(all->summary, "gaps.by_cause.host.total_ps")) / 2;
}

/* The case that selects other texts than the usual ones; NULL = none. */
static const char *case_of(const struct tm_findings *all, const char *cause)
{
    if (strcmp(cause, "launch") == 0)
        return tm_idle_is_of_long_launches(all) ? "late" : NULL;
    if (strcmp(cause, "host") != 0)
        return NULL;
    if (are_half_of_host(all, is_of_startup))
        return "startup";
    if (are_half_of_host(all, is_held_up))
        return "held_up";
    return main_part(all, "host") > 0.5 ? "main_thread" : NULL;
}

/* An event that happens once, whatever its share of the window. */
static void emit_lone(struct tm_findings *all, struct tm_finding *f, const char *cause, const struct lone *lone,
                      bool is_apart)
{
    const int64_t total_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "total_ps"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    struct tm_given given[6] = { { .name = NULL } }, *next = given;

    if (!lone->gap)
        return;
    *next++ = tm_given_int("lone_ps", lone->ps);
    *next++ = tm_given_double("share_pct", tm_share_pct(lone->ps, total_ps));
    *next++ = tm_given_text("counted", is_apart ? "no" : "yes");
    if (lone->gaps > 1)
        *next++ = tm_given_int("gap_count", lone->gaps);
    if (chosen > 1)
        *next++ = tm_given_int("chosen", chosen);
    tm_finding_emit_given(f, "once", lone->gap, given);
}

/* The part in which the launching thread recorded nothing. */
static void emit_main(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    const int64_t main_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "main_ps"));

    if (main_part(all, cause) * 100 < tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE))
        return;
    if (strcmp(cause, "sync") == 0)
        tm_finding_emit_with(f, "neither", NULL, tm_given_int("main_ps", main_ps));
    else
        tm_finding_emit_with(f, "idle_of_main", NULL, tm_given_int("main_ps", main_ps));
}

/* The host keeps waiting although this device has finished its work. */
static void emit_long_wait(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    int64_t most_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_path(tm_at(longest, i), "parts.sync"));

        most_ps = part_ps > most_ps ? part_ps : most_ps;
    }
    if ((double)most_ps >= tm_limit_of(all, TM_LIMIT_LONG_LAUNCH) * 1e9)
        tm_finding_emit_with(f, "long", NULL, tm_given_int("most_ps", most_ps));
}

/* Work that starts late once is not a loss of every step: a fact, unless enough other time is left. */
static struct tm_finding *begin_late(struct tm_findings *all, const struct lone *lone, int64_t left_ps,
                                     const char *path)
{
    const int64_t rest_ps = left_ps > lone->ps ? left_ps - lone->ps : 0;
    const bool is_large = tm_share_on(all, left_ps, path) >= tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    char time[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (tm_is_worth_mention_on(all, rest_ps, path))
        return begin(all, "idle_launch", TM_WAIT_LAUNCH, rest_ps, path);
    f = tm_finding_of_share(all, "idle_launch", left_ps, path);
    if (is_large)
        tm_finding_case(f, "large");
    tm_finding_case(f, "once");
    tm_finding_argument(f, "time", "%s", tm_format_time(time, tm_int(tm_path(lone->gap, "parts.launch"))));
    return f;
}

static void find_cause(struct tm_findings *all, const char *cause, const char *id)
{
    const char *text_case = case_of(all, cause);
    const struct lone lone = find_lone(all, cause);
    const bool is_once = text_case && strcmp(text_case, "late") == 0 && lone.gap;
    const enum tm_wait wait = tm_wait_of_cause(cause);
    const struct tm_value *idle = tm_get(tm_path(all->summary, "gaps.by_cause"), cause);
    const int64_t left_ps = tm_wait_left(all, wait), claimed_ps = all->claimed_ps[wait];
    char path[64];
    struct tm_finding *f;

    (void)snprintf(path, sizeof(path), "gaps.by_cause.%s.total_ps", cause);
    if (!tm_is_worth_mention_on(all, left_ps, path) || is_covered_elsewhere(all, wait))
        return;
    f = is_once ? begin_late(all, &lone, left_ps, path) : begin(all, id, wait, left_ps, path);
    if (!f)
        return;
    if (text_case)
        tm_finding_case(f, text_case);
    emit_share(all, f, cause, idle);
    if (claimed_ps > 0)
        tm_finding_emit_with(f, "idle_elsewhere", NULL, tm_given_int("claimed_ps", claimed_ps));
    if (wait == TM_WAIT_DEVICE)
        emit_pauses(all, f);
    emit_lone(all, f, cause, &lone, is_once);
    emit_main(all, f, cause);
    if (wait == TM_WAIT_SYNC)
        emit_long_wait(all, f);
    emit_longest_gaps(all, f, cause);
    emit_host(all, f, cause);
    tm_finding_emit_scope(all, f, path);
}

/* A note: the idle time itself is reported by cause. */
static void find_edges(struct tm_findings *all)
{
    const struct tm_value *devices = tm_get(all->summary, "devices"), *worst = NULL;
    const double limit = tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    double most = 0, least = 100;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);
        const int64_t edges_ps = tm_sum_times(tm_int(tm_get(device, "lead_ps")), tm_int(tm_get(device, "trail_ps")));
        const double share = tm_share_pct(edges_ps, tm_int(tm_get(device, "span_ps")));

        if (tm_int(tm_get(device, "busy_ps")) <= 0)
            continue;
        least = share < least ? share : least;
        if (share > most) {
            most = share;
            worst = device;
        }
    }
    if (!worst || most - least < limit)
        return; /* none, or all of them alike: that is the host's doing */
    f = tm_finding_of_fact(all, "idle_edges");
    tm_finding_value(f, most, "%");
    tm_finding_limit(f, limit);
    tm_finding_emit(f, "edges", worst);
}

void tm_find_idle(struct tm_findings *all)
{
    static const struct {
        const char *cause, *id; /* causes as in gaps.by_cause */
    } rules[] = {
        { "input", "idle_input" },
        { "sync", "idle_sync" },
        { "compile", "idle_compile" },
        { "launch", "idle_launch" },
        { "gc", "idle_gc" },
        { "host", "idle_host" },
        { "device_wait", "idle_device_wait" },
        { "profiler", "idle_profiler" },
        { "unrecorded", "idle_unrecorded" },
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        find_cause(all, rules[i].cause, rules[i].id);
    find_edges(all);
}
