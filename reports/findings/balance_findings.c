/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices (summary.devices, summary.balance): uneven work, and one device that needs longer for the same
 * work. */
#include <math.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"

/* Compute times of devices that run at the same time. */
struct loads {
    int64_t count;
    bool is_all; /* of the devices that compute */
    const struct tm_value *most, *least;
    int64_t most_ps, least_ps;
    double sum_ps;
    double work; /* sum of the counts of kernels, or of activities where there are no kernels */
};

static int64_t work_of(const struct tm_value *device)
{
    const int64_t kernels = tm_int(tm_path(device, "kernels.count"));

    return kernels > 0 ? kernels : tm_int(tm_get(device, "activities"));
}

/* Does a device run at the same time as a group?  Their windows have to overlap by at least half of the shorter one.
 * Devices on hosts whose clocks are not aligned count as overlapping.
 * in:     group  of window.hosts; NULL = there are none */
static bool is_beside(const struct tm_value *summary, const struct tm_value *device, const struct tm_value *group)
{
    const struct tm_value *aligned = tm_path(summary, "collectives.skew.clock.aligned"),
                          *begin = tm_get(device, "window_begin_ps");
    const int64_t start_ps = tm_int(begin), end_ps = tm_int(tm_get(device, "window_end_ps")),
                  group_begin_ps = tm_int(tm_get(group, "begin_ps")), group_end_ps = tm_int(tm_get(group, "end_ps"));
    const double first_ps = (double)(start_ps > group_begin_ps ? start_ps : group_begin_ps),
                 last_ps = (double)(end_ps < group_end_ps ? end_ps : group_end_ps);
    const bool is_other_host = strcmp(tm_text(tm_get(device, "host")), tm_text(tm_get(group, "host"))) != 0;

    if (!group || !tm_has(begin) || (is_other_host && tm_has(aligned) && !tm_is(aligned)))
        return true;
    return 2 * (last_ps - first_ps) >=
           fmin((double)end_ps - (double)start_ps, (double)group_end_ps - (double)group_begin_ps);
}

static struct loads loads_of(const struct tm_value *summary, const struct tm_value *group)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    struct loads loads = { .is_all = true }, *const l = &loads;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);
        const int64_t compute_ps = tm_int(tm_get(d, "compute_ps"));

        if (compute_ps <= 0)
            continue;
        if (!is_beside(summary, d, group)) {
            l->is_all = false;
            continue;
        }
        l->count++;
        l->sum_ps += (double)compute_ps;
        l->work += (double)work_of(d);
        if (!l->most || compute_ps > l->most_ps) {
            l->most = d;
            l->most_ps = compute_ps;
        }
        if (!l->least || compute_ps < l->least_ps) {
            l->least = d;
            l->least_ps = compute_ps;
        }
    }
    return loads;
}

/* The time that the other devices could wait for the slowest one. */
static double lost_ps(const struct loads *l)
{
    return l->count < 2 ? 0 : (double)l->most_ps * (double)l->count - l->sum_ps;
}

/* The group that loses the most time.  Devices that do not run at the same time do not wait for each other. */
static struct loads worst_loads(const struct tm_value *summary)
{
    const struct tm_value *groups = tm_path(summary, "window.hosts");
    struct loads worst = loads_of(summary, NULL);

    for (size_t i = 0; i < tm_length(groups); i++) {
        const struct tm_value *group = tm_at(groups, i);
        struct loads loads;

        if (!tm_has(tm_get(group, "begin_ps")))
            continue;
        loads = loads_of(summary, group);
        if (loads.is_all) /* the usual case: all run together */
            return loads;
        if (worst.is_all || lost_ps(&loads) > lost_ps(&worst))
            worst = loads;
    }
    return worst;
}

/* Does the slowest device run as many kernels as the others on average, within 1 %? */
static bool is_same_work(const struct loads *l)
{
    const double own = (double)work_of(l->most), others = (l->work - own) / (double)(l->count - 1);

    return own > 0 && own <= others * 1.01 && own >= others * 0.99;
}

/* Is the device with the most compute time as much slower in the ops that all devices run equally often? */
static bool is_slow_at_same_work(const struct tm_value *summary, const struct loads *l, double pct)
{
    const struct tm_value *same = tm_path(summary, "balance.same_work");

    return strcmp(tm_text(tm_get(same, "slowest")), tm_text(tm_get(l->most, "id"))) == 0 &&
           tm_double(tm_get(same, "spread_pct")) >= pct;
}

/* Each device's time in the ops that all devices run equally often. */
static void emit_same_work(struct tm_finding *f, const struct tm_value *same)
{
    const struct tm_value *devices = tm_get(same, "devices");
    int64_t most_ps = 0, least_ps = INT64_MAX;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const int64_t ps = tm_int(tm_get(tm_at(devices, i), "total_ps"));

        most_ps = ps > most_ps ? ps : most_ps;
        least_ps = ps < least_ps ? ps : least_ps;
    }
    if (tm_length(devices) > 1)
        tm_finding_emit_with(f, "same_work", same, tm_given_int("most_ps", most_ps),
                             tm_given_int("least_ps", least_ps));
}

/* The op with the largest excess; for a slow device, one that all devices run equally often. */
static void emit_worst_op(struct tm_finding *f, const struct tm_value *ops, bool is_slow)
{
    const struct tm_value *op = tm_at(ops, 0);

    for (size_t i = 1; is_slow && op && strcmp(tm_text(tm_get(op, "kind")), "all") != 0; i++)
        op = tm_at(ops, i);
    if (tm_int(tm_get(op, "excess_ps")) > 0)
        tm_finding_emit(f, "worst_op", op);
}

/* The step in which the devices differ most, and where it is. */
static void emit_worst_step(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *balance = tm_path(all->summary, "balance.steps");
    const struct tm_value *steps = tm_path(all->summary, "steps.list");
    const int64_t number = tm_int(tm_get(balance, "worst_step"));

    if (!tm_has(balance))
        return;
    tm_finding_emit(f, "worst_step", balance);
    for (size_t i = 0; i < tm_length(steps); i++) {
        const struct tm_value *step = tm_at(steps, i);

        if (tm_int(tm_get(step, "number")) == number && tm_is(tm_get(step, "chosen")))
            tm_finding_where(f, tm_int(tm_get(step, "begin_ps")), tm_int(tm_get(step, "period_ps")),
                             tm_text(tm_get(step, tm_has(tm_get(step, "device")) ? "device" : "host")));
    }
}

/* Compares compute time, not busy time: a device that waits in a collective is busy, too. */
static void find_uneven(struct tm_findings *all)
{
    /* where a device with less work waits */
    static const enum tm_wait busy[] = { TM_WAIT_COLLECTIVE };
    static const enum tm_wait idle[] = { TM_WAIT_DEVICE, TM_WAIT_SYNC, TM_WAIT_HOST, TM_WAIT_LAUNCH,
                                         TM_WAIT_UNRECORDED };
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_IMBALANCE];
    double pct;
    int64_t stake_ps, busy_ps, idle_ps;
    bool is_slow;
    struct tm_finding *f;
    const struct loads l = worst_loads(all->summary);

    if (!kpi->has_bands || l.count < 2)
        return;
    pct = 100 * ((double)l.most_ps * (double)l.count / l.sum_ps - 1);
    stake_ps = tm_whole(lost_ps(&l));
    if (pct < kpi->good || !tm_is_worth_mention(all, stake_ps))
        return;
    is_slow = is_same_work(&l) || (l.is_all && is_slow_at_same_work(all->summary, &l, pct));
    busy_ps = tm_wait_explain(all, busy, sizeof(busy) / sizeof(busy[0]), stake_ps);
    idle_ps = tm_wait_explain(all, idle, sizeof(idle) / sizeof(idle[0]), stake_ps - busy_ps);
    if (!tm_is_worth_mention(all, busy_ps + idle_ps))
        return; /* the others have nothing to wait for */
    f = tm_finding_of_idle(all, is_slow ? "slow_device" : "imbalance", busy_ps + idle_ps, idle_ps, NULL);
    tm_finding_value(f, pct, "%");
    tm_finding_limit(f, kpi->good);
    tm_finding_emit_with(
        f, "most_work", l.most, tm_given_int("load_ps", l.most_ps), tm_given_int("work", work_of(l.most)),
        tm_given_text("unit", tm_int(tm_path(l.most, "kernels.count")) > 0 ? "kernels" : "operations"));
    tm_finding_emit_with(f, "least_work", l.least, tm_given_int("load_ps", l.least_ps),
                         tm_given_int("work", work_of(l.least)));
    tm_finding_emit_with(f, "mean_work", NULL, tm_given_int("device_count", l.count),
                         tm_given_int("mean_ps", tm_whole(l.sum_ps / (double)l.count)));
    if (is_slow && l.is_all)
        emit_same_work(f, tm_path(all->summary, "balance.same_work"));
    if (l.is_all) { /* these compare all devices */
        emit_worst_op(f, tm_path(all->summary, "balance.ops"), is_slow);
        emit_worst_step(all, f);
    }
}

void tm_find_balance(struct tm_findings *all)
{
    find_uneven(all);
}
