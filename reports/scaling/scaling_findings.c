/* SPDX-License-Identifier: Apache-2.0 */
/* Why the last point is slower than its devices would allow: parts of the step by the
 * efficiency that they cost, then facts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/sorter.h"
#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"
#include "reports/scaling/speedup.h"

/* The operations, collectives, causes ... that make up a part of the step at the last point, beyond ideal scaling: per
 * step and device, of the first run of the first and of the last point. */
enum { GROWN_ROWS_MOST = 3 };

struct grown_row {
    const char *name; /* any bytes; lives as long as the summaries */
    double first_ps, last_ps, ideal_ps;
};

uint32_t tm_scaling_devices(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    uint32_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += tm_int(tm_get(tm_at(devices, i), "compute_ps")) > 0;
    return count;
}

static const char *part_title(enum scaling_part part)
{
    static const char *const titles[SCALING_PARTS] = {
        [SCALING_COMMUNICATION] = "exposed collectives",
        [SCALING_IDLE] = "idle time",
        [SCALING_COMPUTE] = "computing",
        [SCALING_COPIES] = "exposed copies",
    };

    return titles[part];
}

const struct point_facts *tm_last_point(const struct scaling_study *s)
{
    return &s->facts[s->points - 1];
}

/* The part that cost the last point the most efficiency; SCALING_PARTS = none. */
static enum scaling_part largest_loss(const struct scaling_study *s)
{
    enum scaling_part found = SCALING_PARTS;
    double most = 0;

    for (int p = 0; p < SCALING_PARTS; p++)
        if (tm_last_point(s)->lost_pct[p] > most) {
            most = tm_last_point(s)->lost_pct[p];
            found = (enum scaling_part)p;
        }
    return found;
}

/* The time of a step that the fit has for this many devices, and its speedup over that of the
 * first point. */
double tm_fitted_ps(const struct scaling_study *s, double devices)
{
    return tm_serial_time(&s->fit, devices, s->mode == SCALING_WEAK);
}

double tm_fitted_speedup(const struct scaling_study *s, double devices)
{
    const double work = s->mode == SCALING_WEAK ? devices / s->facts[0].devices : 1;

    return work * s->facts[0].step_ps / tm_fitted_ps(s, devices);
}

/* Caveats to check before relying on the figures of a scaling study. */

enum { NOTE_BYTES = 400, LABEL_BYTES = 128 };

static void add_note(struct tm_value *notes, const char *id, const char *text)
{
    struct tm_value *to = tm_add_object(notes, NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "text", text);
}

/* Members of the summaries that should be the same in all runs. */
static const struct {
    const char *id, *path, *text;
} agreements[] = {
    { "platform", "environment.platform", "the runs are from different platforms: speedup also reflects the hardware" },
    { "model", "environment.devices[0].model",
      "the runs are from different device models: speedup also reflects the hardware" },
    { "framework", "environment.hosts[0].framework", "the runs are from different frameworks" },
    { "versions", "environment.hosts[0].jax", "the runs have different versions of JAX" },
    { "versions", "environment.hosts[0].jaxlib", "the runs have different versions of jaxlib" },
    { "versions", "environment.hosts[0].driver", "the runs have different versions of the driver" },
    { "versions", "environment.hosts[0].libtpu", "the runs have different versions of libtpu" },
    { "basis", "steps.basis", "step times are measured on the devices in one run, on the host in another" },
    { "source", "steps.source", "the steps of the runs have different sources" },
    { "window", "settings.window", "the runs were analyzed with different windows" },
};

static bool is_same(const struct tm_value *a, const struct tm_value *b)
{
    if (!tm_has(a) || !tm_has(b))
        return true;
    return tm_type_of(a) == TM_STRING ? strcmp(tm_text(a), tm_text(b)) == 0 : tm_double(a) == tm_double(b);
}

static bool agrees(const struct scaling_study *s, const char *path)
{
    const struct tm_value *first = tm_path(s->point[0].side.run[0].summary, path);

    for (size_t i = 0; i < s->points; i++)
        for (size_t r = 0; r < s->point[i].side.runs; r++)
            if (!is_same(first, tm_path(s->point[i].side.run[r].summary, path)))
                return false;
    return true;
}

static void add_differences(const struct scaling_study *s, struct tm_value *notes)
{
    for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++)
        if (!agrees(s, agreements[i].path))
            add_note(notes, agreements[i].id, agreements[i].text);
}

/* --- single points --- */

static void note_partial(const struct tm_scaling_point *point, const char *label, struct tm_value *notes)
{
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++)
        if (tm_is(tm_path(point->side.run[r].summary, "input.partial"))) {
            (void)snprintf(text, sizeof(text),
                           "%s: the input is damaged or partial; its figures cover what could be read", label);
            add_note(notes, "partial", text);
            return;
        }
}

static void note_steps(const struct scaling_study *s, size_t at, const char *label, struct tm_value *notes)
{
    const struct tm_scaling_point *point = &s->point[at];
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++)
        if (!tm_has_steps(point->side.run[r].summary)) {
            (void)snprintf(text, sizeof(text), "%s: a run has no marked steps; the whole session counts as one", label);
            add_note(notes, "no_steps", text);
            return;
        }
    if (point->side.runs == 1 && s->facts[at].steps.count < SCALING_STEPS_LEAST) {
        (void)snprintf(text, sizeof(text), "%s: %zu step%s; an interval needs %d", label, s->facts[at].steps.count,
                       tm_format_plural(s->facts[at].steps.count), SCALING_STEPS_LEAST);
        add_note(notes, "few_steps", text);
    }
}

/* The number of devices in the profile differs from the user's, or from the ranks of the job. */
static void note_devices(const struct tm_scaling_point *point, const char *label, struct tm_value *notes)
{
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++) {
        const struct tm_value *summary = point->side.run[r].summary;
        const uint32_t recorded = tm_scaling_devices(summary);
        const int64_t ranks = tm_int(tm_path(summary, "environment.hosts[0].world_size"));

        if (recorded != point->devices)
            (void)snprintf(text, sizeof(text),
                           "%s: the profile contains %u of %u devices; figures per step and device refer to these",
                           label, recorded, point->devices);
        else if (ranks > (int64_t)recorded)
            (void)snprintf(text, sizeof(text),
                           "%s: the profile contains %u device%s of a job with %lld ranks; use N=PATH to give the "
                           "total number",
                           label, recorded, tm_format_plural(recorded), (long long)ranks);
        else
            continue;
        add_note(notes, "devices", text);
        return;
    }
}

/* Points with one run mixed with points with several. */
static void note_groups(const struct scaling_study *s, struct tm_value *notes)
{
    size_t groups = 0;

    for (size_t i = 0; i < s->points; i++)
        groups += s->point[i].side.runs > 1;
    if (groups > 0 && groups < s->points)
        add_note(notes, "groups",
                 "some points have several runs, others one: the speedup between such points has no interval");
}

void tm_add_scaling_notes(struct scaling_study *s)
{
    struct tm_value *notes = tm_add_array(s->root, "notes");
    char label[LABEL_BYTES];

    if (s->facts[0].devices > 1) {
        char text[NOTE_BYTES];

        (void)snprintf(text, sizeof(text), "speedup and efficiency are relative to %.0f devices, not to one",
                       s->facts[0].devices);
        add_note(notes, "first_point", text);
    }
    add_differences(s, notes);
    for (size_t i = 0; i < s->points; i++) {
        tm_format_text(label, sizeof(label), s->point[i].side.label);
        note_partial(&s->point[i], label, notes);
        note_steps(s, i, label, notes);
        note_devices(&s->point[i], label, notes);
    }
    note_groups(s, notes);
}

/* One or two sentences that can be quoted. */

enum { VERDICT_BYTES = 640 };

static const double told_below_pct = 98; /* efficiency: above this, losses are not reported */

char *tm_devices_text(char out[DEVICES_TEXT], double devices)
{
    (void)snprintf(out, DEVICES_TEXT, "%.0f device%s", devices, devices == 1 ? "" : "s");
    return out;
}

/* " (95 % interval 4.81 to 5.02)"; "" if it is not known */
static char *interval_text(char *out, size_t out_bytes, const struct scaling_interval *interval)
{
    char low[TM_FORMAT_BYTES], high[TM_FORMAT_BYTES];

    out[0] = 0;
    if (!interval->why)
        (void)snprintf(out, out_bytes, " (95%% interval %s to %s)", tm_format_number(low, interval->low),
                       tm_format_number(high, interval->high));
    return out;
}

/* "Strong scaling from 1 to 8 devices: 4.92 times as fast (...), efficiency 61.5 %." */
static void tell_speedup(const struct scaling_study *s, char *out)
{
    const struct point_facts *last = tm_last_point(s);
    char devices[DEVICES_TEXT], speedup[TM_FORMAT_BYTES], interval[128], pct[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];

    if (s->mode == SCALING_WEAK)
        (void)snprintf(
            out, VERDICT_BYTES,
            "Weak scaling from %.0f to %s: %s times the throughput%s, the median step takes %s; efficiency %s.",
            s->facts[0].devices, tm_devices_text(devices, last->devices), tm_format_number(speedup, last->speedup),
            interval_text(interval, sizeof(interval), &last->speedup_interval),
            tm_format_time(time, tm_whole(last->step_ps)), tm_format_pct(pct, last->efficiency_pct));
    else
        (void)snprintf(out, VERDICT_BYTES,
                       "Strong scaling from %.0f to %s: %s times as fast%s, the median step takes %s; efficiency %s.",
                       s->facts[0].devices, tm_devices_text(devices, last->devices),
                       tm_format_number(speedup, last->speedup),
                       interval_text(interval, sizeof(interval), &last->speedup_interval),
                       tm_format_time(time, tm_whole(last->step_ps)), tm_format_pct(pct, last->efficiency_pct));
}

/* Both readings. */
static void tell_unclear(const struct scaling_study *s, char *out)
{
    const struct point_facts *first = &s->facts[0], *last = tm_last_point(s);
    const double work = last->work_ps / first->work_ps;
    char devices[DEVICES_TEXT], total[TM_FORMAT_BYTES], each[TM_FORMAT_BYTES], strong[TM_FORMAT_BYTES],
        weak[TM_FORMAT_BYTES];

    if (!isfinite(work)) {
        (void)snprintf(out, VERDICT_BYTES,
                       "From %.0f to %s, a step becomes %s times as fast; the compute time is unknown.", first->devices,
                       tm_devices_text(devices, last->devices), tm_format_number(strong, last->time_gain));
        return;
    }
    (void)snprintf(
        out, VERDICT_BYTES,
        "From %.0f to %s, the total compute time changes by a factor of %s, the compute time per device by %s: "
        "neither strong nor weak scaling. The efficiency is %s if the work is constant, %s if it grows with the "
        "devices.",
        first->devices, tm_devices_text(devices, last->devices), tm_format_number(total, work),
        tm_format_number(each, work / last->ideal), tm_format_pct(strong, 100 * last->time_gain / last->ideal),
        tm_format_pct(weak, 100 * last->time_gain));
}

static const char *severity_of(const struct scaling_study *s)
{
    const double pct = tm_last_point(s)->efficiency_pct;

    if (s->mode == SCALING_UNCLEAR || !isfinite(pct))
        return "info";
    return pct >= SCALING_GOOD_PCT ? "good" : pct >= SCALING_BAD_PCT ? "warning" : "critical";
}

void tm_add_scaling_verdict(struct scaling_study *s)
{
    const struct point_facts *last = tm_last_point(s);
    const enum scaling_part part = largest_loss(s);
    struct tm_value *to = tm_add_object(s->root, "verdict");
    char text[VERDICT_BYTES], loss[128] = "", whole[VERDICT_BYTES + sizeof(loss)], pct[TM_FORMAT_BYTES];

    if (s->points < 2 || !isfinite(last->efficiency_pct)) {
        tm_add_string(to, "text",
                      s->points < 2 ? "All runs have the same number of devices, so scaling cannot be measured."
                                    : "The points cannot be compared: the steps of one have no duration.");
        tm_add_string(to, "severity", "info");
        return;
    }
    if (s->mode == SCALING_UNCLEAR)
        tell_unclear(s, text);
    else
        tell_speedup(s, text);
    if (s->mode != SCALING_UNCLEAR && last->efficiency_pct < told_below_pct && part != SCALING_PARTS)
        (void)snprintf(loss, sizeof(loss), " The largest loss is due to %s: %s.", part_title(part),
                       tm_format_pct(pct, last->lost_pct[part]));
    (void)snprintf(whole, sizeof(whole), "%s%s", text, loss);
    tm_add_string(to, "text", whole);
    tm_add_string(to, "severity", severity_of(s));
}

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
static void emit_by_points(const struct scaling_study *s, struct tm_value *evidence, const char *what,
                           double (*figure)(const struct point_facts *facts, int part), int part)
{
    const size_t each = (s->points + POINTS_TOLD - 1) / POINTS_TOLD;
    char text[TEXT_BYTES] = "", number[TM_FORMAT_BYTES], devices[DEVICES_TEXT];
    size_t used = 0;

    for (size_t i = (s->points - 1) % each; i < s->points && used < sizeof(text); i += each) {
        const double value = figure(&s->facts[i], part);

        (void)snprintf(devices, sizeof(devices), "%.0f", s->facts[i].devices);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s", used ? ", " : "", devices,
                                 isfinite(value) ? tm_format_pct(number, value) : "unknown");
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

static void emit_times(const struct scaling_study *s, struct tm_value *evidence, enum scaling_part part)
{
    const struct point_facts *first = &s->facts[0], *last = tm_last_point(s);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], n[DEVICES_TEXT], m[DEVICES_TEXT];

    tm_add_printed(evidence, NULL, "Per step and device %s of %s with %s, %s with %s",
                   tm_format_time(a, tm_whole(last->part_ps[part])), part_title(part),
                   tm_devices_text(n, last->devices), tm_format_time(b, tm_whole(first->part_ps[part])),
                   tm_devices_text(m, first->devices));
}

static size_t find_grown_rows(const struct scaling_study *s, enum scaling_part part,
                              struct grown_row row[GROWN_ROWS_MOST]);

static void emit_grown_rows(const struct scaling_study *s, struct tm_value *evidence, enum scaling_part part)
{
    struct grown_row row[GROWN_ROWS_MOST];
    const size_t count = find_grown_rows(s, part, row);

    for (size_t i = 0; i < count; i++) {
        char name[TM_SHORT_NAME_BYTES], last[TM_FORMAT_BYTES], ideal[TM_FORMAT_BYTES];

        tm_add_printed(evidence, NULL, "%s: %s of a step, %s with ideal scaling", tm_short_name(name, row[i].name),
                       tm_format_time(last, tm_whole(row[i].last_ps)),
                       tm_format_time(ideal, tm_whole(row[i].ideal_ps)));
    }
}

/* --- causes of lost efficiency --- */

static const struct loss {
    const char *id, *title, *weak_title; /* of weak scaling */
    const char *cause;
    const char *fix[5];
} losses[SCALING_PARTS] = {
    [SCALING_COMMUNICATION] = { "scaling_communication",
                                "Exposed collectives",
                                "Exposed collectives",
                                "Collectives are not overlapped with compute: with more devices, each computes less, "
                                "so there is less compute to overlap with.",
                                { "Overlap collectives with compute: enable the latency-hiding scheduler "
                                  "(`--xla_gpu_enable_latency_hiding_scheduler=true`), and reduce gradients during "
                                  "the backward pass.",
                                  "Compute more per collective: use a larger batch per device, or accumulate "
                                  "gradients.",
                                  "Move fewer bytes: reduce gradients in bfloat16, and shard parameters so that less "
                                  "is gathered.",
                                  "Keep the axes with the most traffic within one host, where the links are fast." } },
    [SCALING_IDLE] = { "scaling_idle",
                       "Idle time",
                       "Idle time",
                       "The devices are idle: the host's work per step does not shrink with more devices, and "
                       "dominates short steps.",
                       { "See the causes of idle time in the report of the largest run.",
                         "Dispatch ahead: fetch results such as the loss every few steps, not in every step.",
                         "Load and copy the input of the next step while this one runs." } },
    [SCALING_COMPUTE] = { "scaling_computing",
                          "Compute time does not shrink with more devices",
                          "Compute time per device grows",
                          "Every device repeats the same work, or kernels are less efficient on smaller shards.",
                          { "Look for unsharded work: optimizer states and updates, embeddings, losses over the "
                            "whole batch; `jax.debug.visualize_array_sharding` shows how arrays are sharded.",
                            "Check the shardings that the compiler chose where none was specified "
                            "(`jax.lax.with_sharding_constraint`).",
                            "Check the sizes per device: small or odd ones leave Tensor Cores, MXUs and SMs idle." } },
    [SCALING_COPIES] = { "scaling_copies",
                         "Exposed copies",
                         "Exposed copies",
                         "Copies do not shrink with more devices, or share one link.",
                         { "Copy only its part of the input to each device "
                           "(`jax.make_array_from_process_local_data`).",
                           "Copy the input of the next step while this one runs." } },
};

static const char *severity_of_loss(double lost_pct)
{
    return lost_pct >= bad_pct ? "critical" : lost_pct >= warning_pct ? "warning" : "info";
}

static void add_loss(struct scaling_study *s, enum scaling_part part)
{
    const struct loss *loss = &losses[part];
    const double lost_pct = tm_last_point(s)->lost_pct[part];
    struct tm_value *to = begin(s, loss->id, severity_of_loss(lost_pct)), *evidence;
    char devices[DEVICES_TEXT], pct[TM_FORMAT_BYTES], share[64];

    tm_add_printed(to, "title", "%s: %s of the efficiency lost on %s",
                   s->mode == SCALING_WEAK ? loss->weak_title : loss->title, tm_format_pct(pct, lost_pct),
                   tm_devices_text(devices, tm_last_point(s)->devices));
    add_value(to, lost_pct, "%", least_pct);
    evidence = tm_member(to, "evidence");
    emit_times(s, evidence, part);
    (void)snprintf(share, sizeof(share), "Share of %s in a step", part_title(part));
    emit_by_points(s, evidence, share, share_of_step, part);
    if (part == SCALING_COMMUNICATION && isfinite(tm_last_point(s)->overlap_pct))
        emit_by_points(s, evidence, "Share of collective time overlapped with compute", overlap_of, part);
    emit_grown_rows(s, evidence, part);
    end(to, loss->cause, loss->fix);
}

/* The largest first. */
static void add_losses(struct scaling_study *s)
{
    bool is_told[SCALING_PARTS] = { false };

    for (int n = 0; n < SCALING_PARTS; n++) {
        int most = -1;

        for (int p = 0; p < SCALING_PARTS; p++)
            if (!is_told[p] && tm_last_point(s)->lost_pct[p] >= least_pct &&
                (most < 0 || tm_last_point(s)->lost_pct[p] > tm_last_point(s)->lost_pct[most]))
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
        "Give all devices the same work: sizes that divide evenly, sequences sorted or packed by length, balanced "
        "experts.",
        "If all have the same work, look for a device with a lower clock or another job on its host.", NULL
    };
    size_t worst = 0;
    struct tm_value *to;
    char devices[DEVICES_TEXT], pct[TM_FORMAT_BYTES];

    for (size_t i = 1; i < s->points; i++)
        if (isnan(s->facts[worst].imbalance_pct) || s->facts[i].imbalance_pct > s->facts[worst].imbalance_pct)
            worst = i;
    if (!(s->facts[worst].imbalance_pct >= imbalance_pct))
        return;
    to = begin(s, "scaling_imbalance", s->facts[worst].imbalance_pct >= imbalance_bad_pct ? "critical" : "warning");
    tm_add_printed(to, "title", "Among %s, the slowest computes %s longer than the mean",
                   tm_devices_text(devices, s->facts[worst].devices),
                   tm_format_pct(pct, s->facts[worst].imbalance_pct));
    add_value(to, s->facts[worst].imbalance_pct, "%", imbalance_pct);
    emit_by_points(s, tm_member(to, "evidence"), "Imbalance", imbalance_of, 0);
    end(to, "The others wait for it in collectives, so it costs their time, too.", fixes);
}

/* A point with more devices takes longer. */
static void add_slower(struct scaling_study *s)
{
    const struct point_facts *last = tm_last_point(s), *best = &s->facts[0];
    char n[DEVICES_TEXT], m[DEVICES_TEXT], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct tm_value *to;

    for (size_t i = 1; i < s->points; i++)
        if (s->facts[i].speedup > best->speedup)
            best = &s->facts[i];
    if (best == last || !(last->speedup < best->speedup * 0.98))
        return;
    to = begin(s, "scaling_slower", "critical");
    tm_add_printed(to, "title", "%s have less throughput than %s", tm_devices_text(n, last->devices),
                   tm_devices_text(m, best->devices));
    add_value(to, last->speedup / best->speedup * 100, "%", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL, "The median step takes %s with %s, %s with %s",
                   tm_format_time(a, tm_whole(last->step_ps)), n, tm_format_time(b, tm_whole(best->step_ps)), m);
    end(to, "", NULL);
}

static void add_efficiency(struct scaling_study *s)
{
    const struct point_facts *last = tm_last_point(s);
    const struct scaling_interval *interval = &last->speedup_interval;
    char pct[TM_FORMAT_BYTES], devices[DEVICES_TEXT], low[TM_FORMAT_BYTES], high[TM_FORMAT_BYTES];
    struct tm_value *to;

    if (s->mode == SCALING_UNCLEAR || !(last->efficiency_pct < SCALING_GOOD_PCT))
        return;
    to = begin(s, "scaling_efficiency", last->efficiency_pct < SCALING_BAD_PCT ? "critical" : "warning");
    tm_add_printed(to, "title", "%s work at %s efficiency", tm_devices_text(devices, last->devices),
                   tm_format_pct(pct, last->efficiency_pct));
    add_value(to, last->efficiency_pct, "%", SCALING_GOOD_PCT);
    emit_by_points(s, tm_member(to, "evidence"), "Efficiency", efficiency_of, 0);
    if (!interval->why)
        tm_add_printed(tm_member(to, "evidence"), NULL, "95%% interval of the last one: %s to %s",
                       tm_format_pct(low, 100 * interval->low / last->ideal),
                       tm_format_pct(high, 100 * interval->high / last->ideal));
    end(to, "", NULL);
}

/* The largest number of devices used well, if the last point does not use its devices well. */
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
    if (best == tm_last_point(s))
        tm_add_printed(to, "title", "%s work at %s efficiency: more devices may be worthwhile",
                       tm_devices_text(devices, best->devices), tm_format_pct(pct, best->efficiency_pct));
    else
        tm_add_printed(to, "title", "%s are the most that work at %d%% efficiency or more",
                       tm_devices_text(devices, best->devices), SCALING_GOOD_PCT);
    add_value(to, best->efficiency_pct, "%", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL, "Speedup %s, efficiency %s",
                   tm_format_number(speedup, best->speedup), tm_format_pct(pct, best->efficiency_pct));
    if (s->has_fit)
        tm_add_printed(tm_member(to, "evidence"), NULL,
                       "A speedup of %s is predicted for twice as many devices as the last point",
                       tm_format_number(speedup, tm_fitted_speedup(s, 2 * tm_last_point(s)->devices)));
    end(to, "", NULL);
}

/* Did the work grow as intended, or is it repeated?  A profile does not show that. */
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
                       "Each of %s computes as long as one did: the problem grew, or its work is "
                       "repeated",
                       tm_devices_text(devices, tm_last_point(s)->devices));
    else
        tm_add_printed(to, "title", "Neither the total compute time nor the compute time per device is constant");
    add_value(to, NAN, "", NAN);
    tm_add_printed(tm_member(to, "evidence"), NULL, "Total compute time: %s times that of the first point",
                   tm_format_number(total, tm_last_point(s)->work_ps / s->facts[0].work_ps));
    tm_add_printed(tm_member(to, "evidence"), NULL, "Compute time per device: %s times that of the first point",
                   tm_format_number(total, tm_last_point(s)->work_ps / s->facts[0].work_ps / tm_last_point(s)->ideal));
    end(to, "If the global batch is the same in all runs, devices repeat work that should be divided.", NULL);
}

static void add_superlinear(struct scaling_study *s)
{
    static const char *const fixes[] = {
        "Find out what slows down the first point: memory that is almost full, caches, another configuration.", NULL
    };
    char pct[TM_FORMAT_BYTES], devices[DEVICES_TEXT];
    struct tm_value *to;

    if (s->mode == SCALING_UNCLEAR || !(tm_last_point(s)->efficiency_pct > superlinear_pct))
        return;
    to = begin(s, "scaling_superlinear", "info");
    tm_add_printed(to, "title", "%s are faster than ideal: %s efficiency",
                   tm_devices_text(devices, tm_last_point(s)->devices),
                   tm_format_pct(pct, tm_last_point(s)->efficiency_pct));
    add_value(to, tm_last_point(s)->efficiency_pct, "%", superlinear_pct);
    emit_by_points(s, tm_member(to, "evidence"), "Efficiency", efficiency_of, 0);
    end(to, "The first point is slower than it could be.", fixes);
}

void tm_add_scaling_findings(struct scaling_study *s)
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

/* Computing by operation, collectives by kind; idle time by cause and copies by direction, as the
 * steps have them. */

static const double least_of_step = 0.01;

static const struct tm_value *first_summary(const struct scaling_study *s)
{
    return s->point[0].side.run[0].summary;
}

static const struct tm_value *last_summary(const struct scaling_study *s)
{
    return s->point[s->points - 1].side.run[0].summary;
}

static double beyond(const struct grown_row *row)
{
    return row->last_ps - row->ideal_ps;
}

static int most_beyond_first(const void *a, const void *b)
{
    const double one = beyond(a), other = beyond(b);

    return (one < other) - (one > other);
}

/* Keep the list in order; small entries, and those that do not fit, are dropped. */
static size_t keep(const struct scaling_study *s, struct grown_row *list, size_t count, struct grown_row row)
{
    row.ideal_ps = s->mode == SCALING_WEAK ? row.first_ps : row.first_ps / tm_last_point(s)->ideal;
    if (!(beyond(&row) >= least_of_step * tm_last_point(s)->total_ps))
        return count;
    return tm_sorted_keep(list, count, GROWN_ROWS_MOST, sizeof(*list), &row, most_beyond_first);
}

/* --- tables --- */

struct table {
    const char *rows, *name, *ps; /* path of the rows; members of a row */
};

/* All rows with that name.  out: false = there is none */
static bool sum_of(const struct tm_value *summary, const struct table *table, const char *name, double *ps)
{
    const struct tm_value *rows = tm_path(summary, table->rows);
    bool is_there = false;

    *ps = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(row, table->name)), name) != 0)
            continue;
        is_there = true;
        *ps += tm_double(tm_get(row, table->ps));
    }
    *ps /= tm_device_steps(summary);
    return is_there;
}

static bool is_first_of_its_name(const struct tm_value *rows, size_t at, const char *key)
{
    const char *name = tm_text(tm_get(tm_at(rows, at), key));

    for (size_t i = 0; i < at; i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), key)), name) == 0)
            return false;
    return true;
}

static size_t find_in_table(const struct scaling_study *s, const struct table *table, struct grown_row *list)
{
    const struct tm_value *rows = tm_path(last_summary(s), table->rows);
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        struct grown_row row = { .name = tm_text(tm_get(tm_at(rows, i), table->name)) };

        if (*row.name && is_first_of_its_name(rows, i, table->name) &&
            sum_of(last_summary(s), table, row.name, &row.last_ps) &&
            sum_of(first_summary(s), table, row.name, &row.first_ps))
            count = keep(s, list, count, row);
    }
    return count;
}

/* --- parts of the steps --- */

static size_t find_in_parts(const struct scaling_study *s, enum tm_part from, enum tm_part end, struct grown_row *list)
{
    double first[TM_PARTS], last[TM_PARTS], total;
    size_t count = 0;

    if (!tm_step_parts(first_summary(s), first, &total) || !tm_step_parts(last_summary(s), last, &total))
        return 0;
    for (int p = (int)from; p < (int)end; p++)
        count = keep(s, list, count, (struct grown_row){ tm_part_kind[p].title, first[p], last[p], 0 });
    return count;
}

/* The largest first; rows that the first point does not have are left out, and those with less than
 * a hundredth of the last point's step beyond their part.  out: how many */
static size_t find_grown_rows(const struct scaling_study *s, enum scaling_part part,
                              struct grown_row row[GROWN_ROWS_MOST])
{
    static const struct table ops = { "ops.rows", "name", "self_ps" },
                              collectives = { "collectives.rows", "kind", "exposed_ps" };

    switch (part) {
    case SCALING_COMPUTE:
        return find_in_table(s, &ops, row);
    case SCALING_COMMUNICATION:
        return find_in_table(s, &collectives, row);
    case SCALING_COPIES:
        return find_in_parts(s, TM_PART_COPY_H2D, TM_PART_IDLE_DEVICE_WAIT, row);
    default:
        return find_in_parts(s, TM_PART_IDLE_DEVICE_WAIT, TM_PARTS, row);
    }
}
