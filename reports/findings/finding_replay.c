/* SPDX-License-Identifier: Apache-2.0 */
/* What replays of the steps (summary.critical_path.replay) say about the potential savings of a finding: how much
 * shorter the steps get without what it is about.
 *
 *     idle time that it claims ─► of each cause its part of that cause's time ─► that part of the cause's replay ─┐
 *     exposed collectives      ─► likewise                                                                        ├► sum
 *     the rest, busy time      ─► `replay` in schemas/findings.json: the part of that kind's time                ─┘
 *
 * Without a part of a kind, a step gets shorter by at least that part of what the whole kind saves, because each of
 * its chains does.  For compute, replays of a quarter and of half of it are known as well. */
#include <math.h>
#include <string.h>

#include "reports/findings/finding.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Of the length of the steps, in percent: more shows that a replay does not follow them. */
#define ERROR_MOST_PCT 1.0
/* Of the potential savings, in percent: time that no replay leaves out. */
#define UNKNOWN_MOST_PCT 1.0

struct sum {
    const struct tm_value *path; /* summary.critical_path */
    struct tm_replayed *to;
};

static const struct tm_value *row_without(const struct tm_value *path, const char *kind)
{
    return tm_find(tm_path(path, "replay.rows"), "without", kind);
}

static double saved_without(const struct tm_value *path, const char *kind)
{
    return tm_share_pct(tm_int(tm_get(row_without(path, kind), "saved_ps")), tm_int(tm_get(path, "total_ps")));
}

/* Steps have it, but none of the replayed ones. */
static bool is_missing(const struct tm_value *path, const char *kind)
{
    const struct tm_value *row = row_without(path, kind);

    return tm_int(tm_get(row, "path_ps")) > 0 && tm_has(tm_get(row, "replayed_path_ps")) &&
           tm_int(tm_get(row, "replayed_path_ps")) == 0;
}

/* The savings without a part of the compute, interpolated between the known replays. */
static double saved_compute(const struct tm_value *path, double part)
{
    const double at[] = { 0, 0.25, 0.5, 1 };
    const double saved[] = { 0, saved_without(path, "compute_quarter"), saved_without(path, "compute_half"),
                             saved_without(path, "compute") };
    size_t i = 1;

    while (part > at[i] && i < 3)
        i++;
    return saved[i - 1] + (saved[i] - saved[i - 1]) * (part - at[i - 1]) / (at[i] - at[i - 1]);
}

static bool is_left_out(const struct tm_replayed *r, const char *kind)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->without[i], kind) == 0)
            return true;
    return false;
}

static void leave_out(const struct sum *sum, const char *kind, double saved_pct)
{
    struct tm_replayed *const r = sum->to;

    r->saved_pct += saved_pct;
    if (!is_left_out(r, kind) && r->count < TM_REPLAYED_MOST)
        r->without[r->count++] = kind;
}

/* A part of the time of a kind. */
static void leave_out_part(const struct sum *sum, const char *kind, int64_t part_ps, int64_t whole_ps)
{
    const double part = fmin(whole_ps > 0 ? (double)part_ps / (double)whole_ps : 1, 1);

    if (part_ps > 0)
        leave_out(sum, kind,
                  strcmp(kind, "compute") == 0 ? saved_compute(sum->path, part)
                                               : part * saved_without(sum->path, kind));
}

/* The largest part of the critical path that is not left out; NULL = none has more than what is. */
static const struct tm_value *largest_other(const struct tm_value *path, const struct tm_replayed *r, const char **kind)
{
    const struct tm_value *kinds = tm_get(path, "by_kind"), *largest = NULL;

    for (size_t i = 0; i < tm_length(kinds); i++) {
        const struct tm_value *row = tm_value_at(kinds, i);

        if (is_left_out(r, tm_key_at(kinds, i)) ||
            tm_int(tm_get(row, "total_ps")) <= tm_int(tm_get(largest, "total_ps")))
            continue;
        largest = row;
        *kind = tm_key_at(kinds, i);
    }
    return largest;
}

static const char *words_of(const char *kind)
{
    static const char *const words[][2] = {
        { "compute", "compute" },
        { "collective", "collectives" },
        { "copy", "copies" },
        { "device_wait", "device stalls" },
        { "launch", "launch overhead" },
        { "compile", "compilation" },
        { "input", "the input pipeline" },
        { "sync", "host sync" },
        { "gc", "garbage collection" },
        { "profiler", "profiler overhead" },
        { "host", "host code" },
        { "unrecorded", "unrecorded host work" },
    };

    return tm_format_word(TM_PAIRS(words), kind, kind);
}

/* Where the path is while the measured time passes, if little of that time is on the path. */
static void find_other(const struct sum *sum)
{
    const char *kind = NULL;
    const struct tm_value *other = largest_other(sum->path, sum->to, &kind);
    double own_pct = 0;

    for (size_t i = 0; i < sum->to->count; i++)
        own_pct += tm_double(tm_get(tm_get(tm_get(sum->path, "by_kind"), sum->to->without[i]), "share_pct"));
    if (!other || tm_double(tm_get(other, "share_pct")) <= own_pct)
        return;
    sum->to->other = words_of(kind);
    sum->to->other_pct = tm_double(tm_get(other, "share_pct"));
}

/* out: what no replay leaves out */
static int64_t add_waits(const struct tm_findings *all, const struct sum *sum, const int64_t claimed_ps[TM_WAITS],
                         int64_t at_stake_ps)
{
    int64_t rest_ps = at_stake_ps;

    for (int wait = 0; wait < TM_WAITS; wait++) {
        const int64_t part_ps = claimed_ps[wait] < rest_ps ? claimed_ps[wait] : rest_ps;

        leave_out_part(sum, tm_wait_kind((enum tm_wait)wait), part_ps, tm_wait_ps(all, (enum tm_wait)wait));
        rest_ps -= part_ps;
    }
    return rest_ps;
}

/* out: what no replay leaves out */
static int64_t add_busy(const struct tm_findings *all, const struct sum *sum, const char *kind, int64_t busy_ps)
{
    static const char *const whole[][2] = { { "compute", "total.compute_ps" },
                                            { "collective", "total.exposed_collective_ps" },
                                            { "copy", "total.exposed_copy_ps" } };

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (!kind || strcmp(kind, whole[i][0]) != 0)
            continue;
        leave_out_part(sum, kind, busy_ps, tm_int(tm_path(all->summary, whole[i][1])));
        return 0;
    }
    return busy_ps;
}

static bool is_about_devices(const char *kind)
{
    return kind && (strcmp(kind, "stragglers") == 0 || strcmp(kind, "imbalance") == 0);
}

/* With several hosts, their collectives are replayed: a replay of the steps of one host follows no waits from host to
 * host. */
static bool is_across_hosts(const struct tm_findings *all, const char *kind)
{
    return is_about_devices(kind) && tm_has(tm_path(all->summary, "collectives.skew.critical_path"));
}

/* What devices save together, of their windows. */
static double saved_of_devices(const struct tm_findings *all, const struct sum *sum, const char *kind)
{
    const struct tm_value *const across = tm_path(all->summary, "collectives.skew.critical_path");
    const char *const key = strcmp(kind, "stragglers") == 0 ? "stragglers_saved_ps" : "imbalance_saved_ps";

    return is_across_hosts(all, kind) ? tm_share_pct(tm_int(tm_get(across, key)), tm_query_window_ps(all->summary))
                                      : saved_without(sum->path, kind);
}

/* Of the waits for late devices, what no finding on unequal work claims.  Unequal work is left out as a whole. */
static void add_devices(const struct tm_findings *all, const struct sum *sum, const char *kind, int64_t at_stake_ps)
{
    const int64_t wait_ps = tm_int(tm_path(all->summary, "total.exposed_wait_ps"));
    const double part = fmin(wait_ps > 0 ? (double)at_stake_ps / (double)wait_ps : 1, 1);

    leave_out(sum, kind,
              strcmp(kind, "stragglers") == 0 ? part * saved_of_devices(all, sum, kind)
                                              : saved_of_devices(all, sum, kind));
}

/* Why no replay of a finding's kind is known; NULL = one is. */
static const char *why_not_replayed(const struct tm_findings *all, const struct sum *sum, const char *kind)
{
    const struct tm_value *const replay = tm_get(sum->path, "replay");

    if (is_across_hosts(all, kind))
        return NULL;
    if (is_about_devices(kind) && tm_length(tm_path(all->summary, "input.hosts")) > 1)
        return "collectives of several hosts were not replayed";
    if (!tm_has(replay))
        return tm_reason_of(all->summary, tm_has(sum->path) ? "critical_path.replay" : "critical_path");
    if (100 * fabs(tm_double(tm_get(replay, "error_ps"))) > ERROR_MOST_PCT * tm_double(tm_get(replay, "total_ps")))
        return "the dependencies of the steps are not known well enough";
    return NULL;
}

/* Idle time whose cause the path does not see: where launches are known to be long before the pause that they end, or
 * another thread did the work, it goes through a device stall, or through time that was not recorded. */
static double idle_elsewhere(const struct tm_findings *all, const struct sum *sum, const int64_t claimed_ps[TM_WAITS])
{
    static const enum tm_wait blind[] = { TM_WAIT_DEVICE, TM_WAIT_UNRECORDED };
    double excess_pct = 0;
    bool is_idle = false;

    for (int wait = TM_WAIT_LAUNCH; wait < TM_WAITS; wait++)
        is_idle |= claimed_ps[wait] > 0 && wait != TM_WAIT_UNRECORDED;
    for (size_t i = 0; is_idle && i < sizeof(blind) / sizeof(blind[0]); i++) {
        const struct tm_value *kind = tm_get(tm_get(sum->path, "by_kind"), tm_wait_kind(blind[i]));

        excess_pct += fmax(tm_double(tm_get(kind, "share_pct")) -
                               tm_share_pct(tm_wait_ps(all, blind[i]), tm_query_window_ps(all->summary)),
                           0);
    }
    return excess_pct;
}

struct tm_replayed tm_finding_replay(const struct tm_findings *all, const char *kind,
                                     const int64_t claimed_ps[TM_WAITS], int64_t at_stake_ps)
{
    struct tm_replayed r = { .why = NULL };
    const struct sum sum = { tm_get(all->summary, "critical_path"), &r };
    int64_t rest_ps = 0;

    r.why = why_not_replayed(all, &sum, kind);
    if (r.why)
        return r;
    if (is_about_devices(kind)) {
        add_devices(all, &sum, kind, at_stake_ps);
    } else {
        rest_ps = add_waits(all, &sum, claimed_ps, at_stake_ps);
        rest_ps = add_busy(all, &sum, kind, rest_ps);
    }
    if (100 * (double)rest_ps > UNKNOWN_MOST_PCT * (double)at_stake_ps)
        r.why = "no replay leaves out what it is about";
    for (size_t i = 0; i < r.count; i++)
        if (is_missing(sum.path, r.without[i]))
            r.why = "no step with it was replayed";
    if (!is_across_hosts(all, kind)) /* on the path of one host, waits for others are time in collectives */
        find_other(&sum);
    r.elsewhere_pct = idle_elsewhere(all, &sum, claimed_ps);
    return r;
}
