/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps the last point from being as fast as its devices would allow: parts of the step by the
 * efficiency that they cost, then facts. */
#include <math.h>
#include <stdio.h>

#include "pipeline/bounded_sum.h"
#include "reports/compare/run_facts.h"
#include "reports/findings/ask.h"
#include "reports/format/format.h"
#include "reports/scaling/grown_rows.h"
#include "reports/scaling/study.h"

static const double least_pct = 5, warning_pct = 10, bad_pct = 20; /* of the efficiency */
static const double imbalance_pct = 5, imbalance_bad_pct = 15, superlinear_pct = 110;
enum { TEXT_BYTES = 512, POINTS_TOLD = 8 };

/* --- writing one --- */

static struct tm_value *begin(struct scaling_study *s, const char *id, const char *severity)
{
    struct tm_value *to = tm_add_object(tm_member(s->root, "findings"), NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "severity", severity);
    return to;
}

/* NaN = none */
static void add_value(struct tm_value *to, double value, const char *unit, double limit)
{
    tm_add_figure(to, "value", value, "no single figure shows it");
    tm_add_string(to, "unit", unit);
    tm_add_figure(to, "limit", limit, "it has no limit");
    (void)tm_add_array(to, "evidence");
}

/* fixes: ends with NULL */
static void end(struct tm_value *to, const char *cause, const char *const *fixes)
{
    struct tm_value *list;

    tm_add_int(to, "at_stake_ps", 0);
    tm_add_null(to, "share_pct", "the efficiency shows it");
    tm_add_string(to, "cause", cause);
    list = tm_add_array(to, "fix");
    for (; fixes && *fixes; fixes++)
        tm_add_string(list, NULL, *fixes);
    (void)tm_add_array(to, "where");
}

/* --- evidence --- */

/* "1 device 8.1 %, 2: 12.0 %, 4: 20.1 %": of many points some, the last one among them. */
static void say_by_points(const struct scaling_study *s, struct tm_value *evidence,
                          const char *what,
                          double (*figure)(const struct point_facts *facts, int part), int part)
{
    const size_t each = (s->points + POINTS_TOLD - 1) / POINTS_TOLD;
    char text[TEXT_BYTES] = "", number[TM_FORMAT_BYTES], devices[DEVICES_TEXT];
    size_t used = 0;

    for (size_t i = (s->points - 1) % each; i < s->points && used < sizeof(text); i += each) {
        const double value = figure(&s->facts[i], part);

        (void)snprintf(devices, sizeof(devices), "%.0f", s->facts[i].devices);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s", used ? ", " : "",
                             devices, isfinite(value) ? tm_format_pct(number, value) : "not known");
    }
    tm_add_printed(evidence, NULL, "%s, by devices: %s", what, text);
}

static double share_of_step(const struct point_facts *facts, int part)
{
    return facts->has_parts ? 100 * facts->part_ps[part] / facts->total_ps : NAN;
}

static double overlap_of(const struct point_facts *facts, int part)
{
    (void)part;
    return facts->overlap_pct;
}

static double efficiency_of(const struct point_facts *facts, int part)
{
    (void)part;
    return facts->efficiency_pct;
}

static double imbalance_of(const struct point_facts *facts, int part)
{
    (void)part;
    return facts->imbalance_pct;
}

static void say_times(const struct scaling_study *s, struct tm_value *evidence,
                      enum scaling_part part)
{
    const struct point_facts *first = &s->facts[0], *last = last_point(s);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], n[DEVICES_TEXT], m[DEVICES_TEXT];

    tm_add_printed(evidence, NULL, "Per step and device %s of %s with %s, %s with %s",
        tm_format_time(a, tm_whole(last->part_ps[part])), scaling_part_title(part),
        devices_text(n, last->devices), tm_format_time(b, tm_whole(first->part_ps[part])),
        devices_text(m, first->devices));
}

static void say_grown_rows(const struct scaling_study *s, struct tm_value *evidence,
                           enum scaling_part part)
{
    struct grown_row row[GROWN_ROWS_MOST];
    const size_t count = find_grown_rows(s, part, row);

    for (size_t i = 0; i < count; i++) {
        char name[TM_SHORT_NAME_BYTES], last[TM_FORMAT_BYTES], ideal[TM_FORMAT_BYTES];

        tm_add_printed(evidence, NULL, "%s: %s of a step, %s if it scaled", tm_short_name(name, row[i].name),
            tm_format_time(last, tm_whole(row[i].last_ps)),
            tm_format_time(ideal, tm_whole(row[i].ideal_ps)));
    }
}

/* --- what the efficiency is lost to --- */

static const struct loss {
    const char *id, *title, *weak_title; /* of weak scaling */
    const char *cause;
    const char *fix[5];
} losses[SCALING_PARTS] = {
    [SCALING_COMMUNICATION] = { "scaling_communication",
                                "Exposed collectives",
                                "Exposed collectives",
                                "Devices exchange data without compute at the same time: with more devices each computes less, and "
                                "there is less to overlap the collectives with.",
                                { "Overlap collectives with compute: the latency-hiding "
                                  "scheduler (`--xla_gpu_enable_latency_hiding_scheduler=true`), "
                                  "gradients reduced while the backward pass goes on.",
                                  "Compute more per collective: a larger batch "
                                  "per device, or accumulated gradients.",
                                  "Move fewer bytes: gradients in bfloat16, parameters sharded so "
                                  "that what is gathered is small.",
                                  "Keep the axes with most traffic inside a host, where the links "
                                  "are fast." } },
    [SCALING_IDLE] = { "scaling_idle",
                       "Idle time",
                       "Idle time",
                       "The devices are idle: the host's work per step does not shrink "
                       "with more devices, and limits short steps.",
                       { "Look at the causes of idle time in the report of the largest run.",
                         "Dispatch ahead: fetch results such as the loss every few steps, not in "
                         "each.",
                         "Load and copy the input of the next step while this one runs." } },
    [SCALING_COMPUTE] = { "scaling_computing",
                          "Compute time that does not shrink with more devices",
                          "Compute time that grows on each device",
                          "Work that every device repeats, or kernels that are slower per element "
                          "when their part is small.",
                          { "Look for what is not sharded: optimizer states and updates, "
                            "embeddings, losses over the whole batch; "
                            "`jax.debug.visualize_array_sharding` shows how arrays lie.",
                            "Check the shardings that the compiler chose where none was given "
                            "(`jax.lax.with_sharding_constraint`).",
                            "Check the sizes per device: small or odd ones leave Tensor Cores, MXUs and "
                            "multiprocessors unused." } },
    [SCALING_COPIES] = { "scaling_copies",
                         "Exposed copies",
                         "Exposed copies",
                         "Copies that do not shrink with more devices, or that share one link.",
                         { "Give each device only its part of the input "
                           "(`jax.make_array_from_process_local_data`).",
                           "Copy the input of the next step while this one runs." } },
};

static const char *severity_of(double lost_pct)
{
    return lost_pct >= bad_pct ? "critical" : lost_pct >= warning_pct ? "warning" : "info";
}

static void add_loss(struct scaling_study *s, enum scaling_part part)
{
    const struct loss *loss = &losses[part];
    const double lost_pct = last_point(s)->lost_pct[part];
    struct tm_value *to = begin(s, loss->id, severity_of(lost_pct)), *evidence;
    char devices[DEVICES_TEXT], pct[TM_FORMAT_BYTES], share[64];

    tm_add_printed(to, "title", "%s: %s of the efficiency lost on %s",
        s->mode == SCALING_WEAK ? loss->weak_title : loss->title, tm_format_pct(pct, lost_pct),
        devices_text(devices, last_point(s)->devices));
    add_value(to, lost_pct, "%", least_pct);
    evidence = tm_member(to, "evidence");
    say_times(s, evidence, part);
    (void)snprintf(share, sizeof(share), "Share of %s in a step", scaling_part_title(part));
    say_by_points(s, evidence, share, share_of_step, part);
    if (part == SCALING_COMMUNICATION && isfinite(last_point(s)->overlap_pct))
        say_by_points(s, evidence, "Share of collective time overlapped with compute",
                      overlap_of, part);
    say_grown_rows(s, evidence, part);
    end(to, loss->cause, loss->fix);
}

/* The largest first. */
static void add_losses(struct scaling_study *s)
{
    bool is_told[SCALING_PARTS] = { false };

    for (int n = 0; n < SCALING_PARTS; n++) {
        int most = -1;

        for (int p = 0; p < SCALING_PARTS; p++)
            if (!is_told[p] && last_point(s)->lost_pct[p] >= least_pct &&
                (most < 0 || last_point(s)->lost_pct[p] > last_point(s)->lost_pct[most]))
                most = p;
        if (most < 0)
            return;
        is_told[most] = true;
        add_loss(s, (enum scaling_part)most);
    }
}

/* --- facts --- */

static void add_imbalance(struct scaling_study *s)
{
    static const char *const fixes[] = {
        "Give all devices the same work: sizes that the devices divide, sequences sorted or "
        "packed by length, experts balanced.",
        "Where all have the same work, look for one device with a lower clock or a "
        "neighbor on its host.",
        NULL
    };
    size_t worst = 0;
    struct tm_value *to;
    char devices[DEVICES_TEXT], pct[TM_FORMAT_BYTES];

    for (size_t i = 1; i < s->points; i++)
        if (isnan(s->facts[worst].imbalance_pct) ||
            s->facts[i].imbalance_pct > s->facts[worst].imbalance_pct)
            worst = i;
    if (!(s->facts[worst].imbalance_pct >= imbalance_pct))
        return;
    to = begin(s, "scaling_imbalance",
               s->facts[worst].imbalance_pct >= imbalance_bad_pct ? "critical" : "warning");
    tm_add_printed(to, "title", "Of %s the slowest computes %s longer than the mean",
        devices_text(devices, s->facts[worst].devices),
        tm_format_pct(pct, s->facts[worst].imbalance_pct));
    add_value(to, s->facts[worst].imbalance_pct, "%", imbalance_pct);
    say_by_points(s, tm_member(to, "evidence"), "Imbalance", imbalance_of, 0);
    end(to, "The others wait for it in collectives, so that it costs their time, too.", fixes);
}

/* A point with more devices takes longer. */
static void add_slower(struct scaling_study *s)
{
    const struct point_facts *last = last_point(s), *best = &s->facts[0];
    char n[DEVICES_TEXT], m[DEVICES_TEXT], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct tm_value *to;

    for (size_t i = 1; i < s->points; i++)
        if (s->facts[i].speedup > best->speedup)
            best = &s->facts[i];
    if (best == last || !(last->speedup < best->speedup * 0.98))
        return;
    to = begin(s, "scaling_slower", "critical");
    tm_add_printed(to, "title", "%s do less per time than %s", devices_text(n, last->devices),
        devices_text(m, best->devices));
    add_value(to, last->speedup / best->speedup * 100, "%", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL, "A step takes %s with %s, %s with %s",
        tm_format_time(a, tm_whole(last->step_ps)), n, tm_format_time(b, tm_whole(best->step_ps)),
        m);
    end(to, "", NULL);
}

static void add_efficiency(struct scaling_study *s)
{
    const struct point_facts *last = last_point(s);
    const struct scaling_interval *interval = &last->speedup_interval;
    char pct[TM_FORMAT_BYTES], devices[DEVICES_TEXT], low[TM_FORMAT_BYTES], high[TM_FORMAT_BYTES];
    struct tm_value *to;

    if (s->mode == SCALING_UNCLEAR || !(last->efficiency_pct < SCALING_GOOD_PCT))
        return;
    to = begin(s, "scaling_efficiency", last->efficiency_pct < SCALING_BAD_PCT ? "critical" : "warning");
    tm_add_printed(to, "title", "%s work at %s efficiency", devices_text(devices, last->devices),
        tm_format_pct(pct, last->efficiency_pct));
    add_value(to, last->efficiency_pct, "%", SCALING_GOOD_PCT);
    say_by_points(s, tm_member(to, "evidence"), "Efficiency", efficiency_of, 0);
    if (!interval->why)
        tm_add_printed(tm_member(to, "evidence"), NULL, "95 %% interval of the last one: %s to %s",
            tm_format_pct(low, 100 * interval->low / last->ideal),
            tm_format_pct(high, 100 * interval->high / last->ideal));
    end(to, "", NULL);
}

/* The most devices that are used well, where the last point does not use them so. */
static void add_best_point(struct scaling_study *s)
{
    const struct point_facts *best = NULL;
    char devices[DEVICES_TEXT], pct[TM_FORMAT_BYTES], speedup[TM_FORMAT_BYTES];
    struct tm_value *to;

    for (size_t i = 1; i < s->points; i++)
        if (s->facts[i].efficiency_pct >= SCALING_GOOD_PCT)
            best = &s->facts[i];
    if (s->mode == SCALING_UNCLEAR || !best)
        return;
    to = begin(s, "scaling_best", "info");
    if (best == last_point(s))
        tm_add_printed(to, "title", "%s work at %s efficiency: more of them may pay",
            devices_text(devices, best->devices), tm_format_pct(pct, best->efficiency_pct));
    else
        tm_add_printed(to, "title", "%s are the most that work at %d %% efficiency or more",
            devices_text(devices, best->devices), SCALING_GOOD_PCT);
    add_value(to, best->efficiency_pct, "%", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL, "Speed-up %s, efficiency %s",
        tm_format_number(speedup, best->speedup), tm_format_pct(pct, best->efficiency_pct));
    if (s->has_fit)
        tm_add_printed(tm_member(to, "evidence"), NULL,
            "Twice as many as the last point has are predicted to reach a speed-up of %s",
            tm_format_number(speedup, fitted_speedup(s, 2 * last_point(s)->devices)));
    end(to, "", NULL);
}

/* Did the work grow as the user wanted, or is it repeated?  A profile cannot tell. */
static void add_work(struct scaling_study *s)
{
    char total[TM_FORMAT_BYTES], devices[DEVICES_TEXT];
    struct tm_value *to;

    if (s->mode == SCALING_STRONG || !isfinite(s->total_change_pct))
        return;
    to = begin(s, s->mode == SCALING_WEAK ? "scaling_work_grows" : "scaling_work_unclear",
               s->mode == SCALING_WEAK ? "info" : "warning");
    if (s->mode == SCALING_WEAK)
        tm_add_printed(to, "title",
            "Each of %s computes as much as one did: the problem grew, or its work is repeated",
            devices_text(devices, last_point(s)->devices));
    else
        tm_add_printed(to, "title", "Neither the total compute time nor that of each device stays the same");
    add_value(to, NAN, "", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL,
        "Total compute time: %s times that of the first point",
        tm_format_number(total, last_point(s)->work_ps / s->facts[0].work_ps));
    tm_add_printed(tm_member(to, "evidence"), NULL,
        "Compute time of each device: %s times that of the first point",
        tm_format_number(total,
                         last_point(s)->work_ps / s->facts[0].work_ps / last_point(s)->ideal));
    end(to,
        "If the global batch is the same in all runs, devices repeat work that should be shared.",
        NULL);
}

static void add_superlinear(struct scaling_study *s)
{
    static const char *const fixes[] = {
        "Find out what slows down the first point: memory that is almost full, caches, another "
        "configuration.",
        NULL
    };
    char pct[TM_FORMAT_BYTES], devices[DEVICES_TEXT];
    struct tm_value *to;

    if (s->mode == SCALING_UNCLEAR || !(last_point(s)->efficiency_pct > superlinear_pct))
        return;
    to = begin(s, "scaling_superlinear", "info");
    tm_add_printed(to, "title", "%s are faster than ideal: %s efficiency",
        devices_text(devices, last_point(s)->devices),
        tm_format_pct(pct, last_point(s)->efficiency_pct));
    add_value(to, last_point(s)->efficiency_pct, "%", superlinear_pct);
    say_by_points(s, tm_member(to, "evidence"), "Efficiency", efficiency_of, 0);
    end(to, "The first point is slower than it could be.", fixes);
}

void add_scaling_findings(struct scaling_study *s)
{
    (void)tm_add_array(s->root, "findings");
    if (s->points < 2)
        return;
    add_losses(s);
    add_slower(s);
    add_imbalance(s);
    add_efficiency(s);
    add_work(s);
    add_superlinear(s);
    add_best_point(s);
}
