/* SPDX-License-Identifier: Apache-2.0 */
/* The causes of a change: how one is started and written, and how much of a part's change is left for it; the rules
 * outside of single operations; and the document, in which they are sorted. */
#include "reports/compare/comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* --- causes --- */

static const double least_tested_pct = 0.5, least_untested_pct = 1; /* of the base's step */

static const double least_of_change_pct = 2; /* of its change */

struct cause *tm_cause_begin(struct causes *k, const char *id, double change_ps)
{
    struct cause *cause = &k->list[k->count < CAUSES_MOST ? k->count : CAUSES_MOST];

    *cause = (struct cause){ .id = id, .change_ps = change_ps, .value = NAN, .number = k->count };
    if (k->count < CAUSES_MOST)
        k->count++;
    return cause;
}

static struct cause *begin_fact(struct causes *k, const char *id)
{
    struct cause *cause = tm_cause_begin(k, id, 0);

    cause->is_fact = true;
    return cause;
}

static void TM_PRINTF(3, 0) print_visible(char *out, size_t out_bytes, const char *format, va_list values)
{
    char text[2 * CAUSE_EVIDENCE_BYTES];

    (void)vsnprintf(text, sizeof(text), format, values);
    tm_format_text(out, out_bytes, text);
}

const char *tm_cause_side(const struct comparison *c, size_t side, char out[TM_FORMAT_BYTES])
{
    enum { LABEL_CHARS = 24 };
    char label[4 * TM_FORMAT_BYTES], cut[TM_FORMAT_BYTES - 2];

    *out = 0;
    if (c->sides == 2)
        return out;
    tm_format_text(label, sizeof(label), c->side[side].label);
    (void)tm_format_middle(cut, sizeof(cut), label, LABEL_CHARS);
    (void)snprintf(out, TM_FORMAT_BYTES, "%s: ", cut);
    return out;
}

void tm_cause_set_title(struct cause *cause, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_visible(cause->title, sizeof(cause->title), format, values);
    va_end(values);
}

void tm_cause_say(struct cause *cause, const char *format, ...)
{
    va_list values;

    if (cause->evidence_count == CAUSE_EVIDENCE_MOST)
        return;
    va_start(values, format);
    print_visible(cause->evidence[cause->evidence_count++], CAUSE_EVIDENCE_BYTES, format, values);
    va_end(values);
}

bool tm_part_has_changed(const struct causes *k, enum tm_part part)
{
    const double change_ps = (double)(k->w->new_part_ps[part] - k->w->base_part_ps[part]);

    if (k->w->test[part].is_tested)
        return k->w->test[part].is_significant;
    return fabs(change_ps) * 100 >= least_untested_pct * k->step_ps;
}

bool tm_is_worth_a_cause(const struct causes *k, double change_ps)
{
    const double whole_ps = fabs((double)(k->w->new_ps - k->w->base_ps));

    if (fabs(change_ps) * 100 < least_of_change_pct * whole_ps)
        return false;
    return fabs(change_ps) * 100 >= (k->is_tested ? least_tested_pct : least_untested_pct) * k->step_ps;
}

double tm_take_from_part(struct causes *k, enum tm_part part, double change_ps)
{
    double taken = change_ps;

    if (change_ps * k->left_ps[part] <= 0)
        return 0;
    if (fabs(taken) > fabs(k->left_ps[part]))
        taken = k->left_ps[part];
    k->left_ps[part] -= taken;
    return taken;
}

char *tm_signed_time(char out[SIGNED_TIME_BYTES], double ps)
{
    char text[TM_FORMAT_BYTES];

    (void)snprintf(out, SIGNED_TIME_BYTES, "%s%s", ps < 0 ? "-" : "+", tm_format_time(text, tm_whole(round(fabs(ps)))));
    return out;
}

char *tm_longer_by(char out[SIGNED_TIME_BYTES], double base, double value)
{
    const double pct = tm_change_pct(base, value);
    char text[TM_FORMAT_BYTES];

    if (pct >= 200)
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s times as long", tm_format_number(text, value / base));
    else
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s %s", tm_format_pct(text, fabs(pct)), pct < 0 ? "less" : "longer");
    return out;
}

/* --- causes outside of single operations ---
 * One device, compiling, copies, collectives, overlap, idle time; finally the parts that nothing else explains. */

static double part_change(const struct causes *k, enum tm_part part)
{
    return (double)(k->w->new_part_ps[part] - k->w->base_part_ps[part]);
}

static void emit_before(struct cause *cause, const char *what, double base_ps, double new_ps)
{
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    tm_cause_say(cause, "%s: %s per step and device, was %s.", what, tm_format_time(b, tm_whole(round(new_ps))),
                 tm_format_time(a, tm_whole(round(base_ps))));
}

static double figure_at(const struct tm_value *summary, const void *path)
{
    const struct tm_value *value = tm_path(summary, path);

    return tm_has(value) ? tm_double(value) : NAN;
}

static double figure_per_step(const struct tm_value *summary, const void *path)
{
    return figure_at(summary, path) / tm_device_steps(summary);
}

/* --- one device --- */

static const char *const device_fixes[] = {
    "Compare clock, temperature and power of this device with the others, and check for other programs on it.",
    "Run without the slow device, or swap two devices, to see whether the slowdown follows the device.",
    "If the work was redistributed, compare what each device gets.",
    NULL,
};
static const double device_least = 0.03; /* of its computing */

static double growth_of(const struct compared_device *device, size_t side)
{
    return device->compute_ps[0] > 0 && device->compute_ps[side] > 0
               ? log(device->compute_ps[side] / device->compute_ps[0])
               : 0;
}

/* The median of the others. */
static double growth_of_others(const struct comparison *c, size_t side, size_t but, double *scratch)
{
    size_t count = 0;

    for (size_t i = 0; i < c->device_count; i++) {
        if (i != but)
            scratch[count++] = growth_of(&c->devices[i], side);
    }
    tm_sample_sort(scratch, count);
    return tm_sample_quantile((struct tm_sample){ scratch, count }, 0.5);
}

static void find_slow_device(struct causes *k)
{
    static const enum tm_part waits[] = { TM_PART_COLLECTIVES, TM_PART_IDLE_DEVICE_WAIT, TM_PART_IDLE_SYNC,
                                          TM_PART_IDLE_HOST, TM_PART_IDLE_UNRECORDED };
    const struct comparison *c = k->c;
    double *scratch = tm_room_take(&k->c->room, c->device_count, sizeof(*scratch));
    double others, growth, own_ps, change_ps;
    char longer[SIGNED_TIME_BYTES], time[SIGNED_TIME_BYTES], pct[TM_FORMAT_BYTES];
    struct cause *cause;
    size_t odd = 0;

    if (!scratch)
        return;
    if (c->device_count < 2)
        return;
    for (size_t i = 1; i < c->device_count; i++)
        odd = fabs(growth_of(&c->devices[i], k->side)) > fabs(growth_of(&c->devices[odd], k->side)) ? i : odd;
    const struct compared_device *device = &c->devices[odd];

    growth = growth_of(device, k->side);
    others = growth_of_others(c, k->side, odd, scratch);
    if (fabs(growth) < device_least || fabs(others) > fabs(growth) / 3 ||
        (k->is_tested && !device->is_significant[k->side]))
        return;
    own_ps = device->compute_ps[k->side] - device->compute_ps[0] * exp(others);
    change_ps = tm_take_from_part(k, TM_PART_COMPUTE, own_ps);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        change_ps += tm_take_from_part(k, waits[i], own_ps - change_ps);
    if (!tm_is_worth_a_cause(k, change_ps))
        return;
    k->is_compute_told = true;
    cause = tm_cause_begin(k, own_ps > 0 ? "slow_device" : "slow_device_gone", change_ps);
    tm_cause_set_title(cause, "%s alone computes %s: %s per step", device->name, tm_longer_by(longer, 1, exp(growth)),
                       tm_signed_time(time, change_ps));
    cause->value = 100 * (exp(growth) - 1);
    cause->unit = "%";
    emit_before(cause, device->name, device->compute_ps[0], device->compute_ps[k->side]);
    tm_cause_say(cause, "The other %zu device%s: %s%s (median).", c->device_count - 1, c->device_count == 2 ? "" : "s",
                 others < 0 ? "-" : "+", tm_format_pct(pct, fabs(100 * (exp(others) - 1))));
    cause->why = "The devices wait for each other, so the slowest one determines the step time.";
    cause->fixes = device_fixes;
}

/* --- compiling --- */

static const char *const compile_fixes[] = {
    "Find out which program is compiled during steps, and which of its shapes or static arguments change: "
    "`jax.config.update('jax_explain_cache_misses', True)`.",
    "Pad or bucket varying shapes; create jitted functions outside loops.",
    NULL,
};

static void find_recompiles(struct causes *k)
{
    static const char count_path[] = "compile.inside_steps.count", time_path[] = "compile.inside_steps.total_ps";
    const struct tm_comparison_side *base = &k->c->side[0], *other = &k->c->side[k->side];
    const double before = tm_mean_over_runs(base, figure_at, count_path),
                 after = tm_mean_over_runs(other, figure_at, count_path);
    char time[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct cause *cause;
    double change_ps;

    if (!(fabs(after - before) > 0))
        return;
    if (tm_part_has_changed(k, TM_PART_IDLE_COMPILE)) {
        change_ps = tm_take_from_part(k, TM_PART_IDLE_COMPILE, (after > before ? 1 : -1) * INFINITY);
        if (!tm_is_worth_a_cause(k, change_ps))
            return;
        cause = tm_cause_begin(k, after > before ? "recompiles" : "recompiles_gone", change_ps);
        tm_cause_set_title(cause, "%s compile%s during steps, was %s: %s per step", tm_format_number(b, after),
                           after == 1 ? "" : "s", tm_format_number(a, before), tm_signed_time(time, change_ps));
    } else if (tm_is_worth_a_cause(k, part_change(k, TM_PART_IDLE_COMPILE))) {
        cause = begin_fact(k, after > before ? "recompiles" : "recompiles_gone");
        cause->is_warning = after > before;
        tm_cause_set_title(cause, "%s compile%s during steps, was %s", tm_format_number(b, after),
                           after == 1 ? "" : "s", tm_format_number(a, before));
        tm_cause_say(cause, "In too few steps to test their effect.");
    } else {
        return;
    }
    cause->value = after - before;
    cause->unit = "count";
    emit_before(cause, "The device waits for the compiler", (double)k->w->base_part_ps[TM_PART_IDLE_COMPILE],
                (double)k->w->new_part_ps[TM_PART_IDLE_COMPILE]);
    tm_cause_say(cause, "Compiles during steps take %s in total, was %s.",
                 tm_format_time(b, tm_whole(tm_mean_over_runs(other, figure_at, time_path))),
                 tm_format_time(a, tm_whole(tm_mean_over_runs(base, figure_at, time_path))));
    cause->why = "A jitted function that is called with new shapes or new static arguments is recompiled, and the "
                 "devices wait.";
    cause->fixes = compile_fixes;
}

/* --- copies --- */

static const struct direction {
    const char *name, *words;
    enum tm_part part;
} directions[] = {
    { "h2d", "from host to device", TM_PART_COPY_H2D },      { "d2h", "from device to host", TM_PART_COPY_D2H },
    { "p2p", "between devices", TM_PART_COPY_P2P },          { "d2d", "within a device", TM_PART_COPY_D2D },
    { "other", "of unknown direction", TM_PART_COPY_OTHER },
};
static const char *const transfer_fixes[] = {
    "Find the new copies in the table of transfers and in the trace, and the call that launches them.",
    "Copy constants to the device once, before the loop (`jax.device_put`), and keep results there.",
    NULL,
};
static const char *const bandwidth_fixes[] = {
    "Compare pinned and pageable memory, and the NUMA placement of the host's memory, in both runs.",
    NULL,
};
enum { MORE_PCT = 1 };

static const struct tm_row *row_of(const struct tm_row_table *table, const char *name)
{
    for (size_t i = 0; table && i < table->rows; i++) {
        if (strcmp(table->row[i]->name, name) == 0)
            return table->row[i];
    }
    return NULL;
}

static bool has_grown(double base, double value, double sign)
{
    return sign * (value - base) * 100 > MORE_PCT * fmax(base, value);
}

static void tell_transfer(struct causes *k, const struct direction *d, const struct tm_row *row, double change_ps)
{
    const struct row_cell *base = &row->cell[0], *other = &row->cell[k->side];
    const bool is_work = has_grown(base->count, other->count, change_ps < 0 ? -1 : 1) ||
                         has_grown(base->bytes, other->bytes, change_ps < 0 ? -1 : 1);
    const char *id = is_work         ? change_ps > 0 ? "transfer_more" : "transfer_less"
                     : change_ps > 0 ? "transfer_slower"
                                     : "transfer_faster";
    struct cause *cause = tm_cause_begin(k, id, change_ps);
    char time[SIGNED_TIME_BYTES], longer[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    (void)tm_format_number(b, other->count);
    if (is_work && has_grown(base->count, other->count, change_ps < 0 ? -1 : 1))
        tm_cause_set_title(cause, "%s cop%s %s per step and device, was %s: %s per step", b,
                           strcmp(b, "1") == 0 ? "y" : "ies", d->words, tm_format_number(a, base->count),
                           tm_signed_time(time, change_ps));
    else if (is_work)
        tm_cause_set_title(cause, "Copies %s move %s per step and device, was %s: %s per step", d->words,
                           tm_format_bytes(b, other->bytes), tm_format_bytes(a, base->bytes),
                           tm_signed_time(time, change_ps));
    else
        tm_cause_set_title(cause, "Copies %s of the same data take %s: %s per step", d->words,
                           tm_longer_by(longer, base->ps, other->ps), tm_signed_time(time, change_ps));
    cause->value = tm_change_pct(base->ps, other->ps);
    cause->unit = "%";
    if (base->has_bytes || other->has_bytes)
        tm_cause_say(cause, "%s per step and device, was %s.", tm_format_bytes(b, other->bytes),
                     tm_format_bytes(a, base->bytes));
    emit_before(cause, "Copying", base->ps, other->ps);
    emit_before(cause, "Exposed", (double)k->w->base_part_ps[d->part], (double)k->w->new_part_ps[d->part]);
    cause->why = is_work ? "The program copies a different amount of data per step."
                         : "The link between the memories is slower or faster than before, or the host memory is "
                           "pageable.";
    cause->fixes = is_work ? transfer_fixes : bandwidth_fixes;
}

static void find_transfer_causes(struct causes *k)
{
    for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
        const struct direction *d = &directions[i];
        const struct tm_row *row = row_of(k->c->transfers, d->name);
        double change_ps;

        if (!row || !tm_part_has_changed(k, d->part) || !tm_is_worth_a_cause(k, row->change[k->side].change_ps))
            continue;
        change_ps = tm_take_from_part(k, d->part, row->change[k->side].change_ps);
        if (tm_is_worth_a_cause(k, change_ps))
            tell_transfer(k, d, row, change_ps);
    }
}

/* --- collectives --- */

static const char *const collective_fixes[] = {
    "Compare message sizes and the number of collectives, to see whether buckets or the sharding changed.",
    "Compare the network, the placement of the devices, and the settings of the communication library.",
    NULL,
};

static void find_collective_causes(struct causes *k)
{
    static const char path[] = "total.collective_ps";
    const struct tm_comparison_side *base = &k->c->side[0], *other = &k->c->side[k->side];
    const double before = tm_mean_over_runs(base, figure_per_step, path),
                 after = tm_mean_over_runs(other, figure_per_step, path);
    const struct tm_row_table *table = k->c->collectives;
    double change_ps, count_ps = 0, length_ps = 0, runs_before = 0, runs_after = 0;
    char time[SIGNED_TIME_BYTES], longer[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct cause *cause;

    if (!isfinite(after - before) || !tm_part_has_changed(k, TM_PART_COLLECTIVES) ||
        !tm_is_worth_a_cause(k, after - before))
        return;
    change_ps = tm_take_from_part(k, TM_PART_COLLECTIVES, after - before);
    if (!tm_is_worth_a_cause(k, change_ps))
        return;
    for (size_t i = 0; i < table->rows; i++) {
        count_ps += table->row[i]->change[k->side].from_count_ps;
        length_ps += table->row[i]->change[k->side].from_length_ps;
        runs_before += table->row[i]->cell[0].count;
        runs_after += table->row[i]->cell[k->side].count;
    }
    const bool is_count = fabs(count_ps) > fabs(length_ps);

    cause = tm_cause_begin(k,
                           is_count        ? change_ps > 0 ? "collective_more" : "collective_less"
                           : change_ps > 0 ? "collective_slower"
                                           : "collective_faster",
                           change_ps);
    (void)tm_signed_time(time, change_ps);
    (void)tm_format_number(b, runs_after);
    if (is_count)
        tm_cause_set_title(cause, "%s collective%s per step and device, was %s: %s per step", b,
                           strcmp(b, "1") == 0 ? "" : "s", tm_format_number(a, runs_before), time);
    else
        tm_cause_set_title(cause, "Collectives take %s: %s per step", tm_longer_by(longer, before, after), time);
    cause->value = tm_change_pct(before, after);
    cause->unit = "%";
    emit_before(cause, "Collectives", before, after);
    emit_before(cause, "Exposed", (double)k->w->base_part_ps[TM_PART_COLLECTIVES],
                (double)k->w->new_part_ps[TM_PART_COLLECTIVES]);
    cause->why = is_count ? "The program communicates more or less often."
                          : "The same collectives take longer or shorter: due to the network, message sizes, or a "
                            "late device.";
    cause->fixes = collective_fixes;
}

/* --- overlap --- */

static const char *const overlap_fixes[] = {
    "Compare the flags for the latency-hiding scheduler and for asynchronous collectives.",
    "Look in the trace for what serializes compute and communication: a dependency, or a single stream.",
    NULL,
};

static void find_lost_overlap(struct causes *k)
{
    static const char collective_path[] = "total.collective_ps", copy_path[] = "total.copy_ps";
    const struct tm_comparison_side *sides[2] = { &k->c->side[0], &k->c->side[k->side] };
    bool has_changed = false;
    double change_ps = 0, whole[2] = { 0, 0 }, exposed[2] = { 0, 0 };
    char time[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct cause *cause;

    for (int i = TM_PART_COLLECTIVES; i <= TM_PART_COPY_OTHER; i++) {
        exposed[0] += (double)k->w->base_part_ps[i];
        exposed[1] += (double)k->w->new_part_ps[i];
        change_ps += k->left_ps[i];
        has_changed = has_changed || tm_part_has_changed(k, i);
    }
    for (int i = 0; i < 2; i++) {
        const double collectives = tm_mean_over_runs(sides[i], figure_per_step, collective_path);
        const double copies = tm_mean_over_runs(sides[i], figure_per_step, copy_path);

        whole[i] = (isfinite(collectives) ? collectives : 0) + (isfinite(copies) ? copies : 0);
    }
    if (!(whole[0] > 0) || !(whole[1] > 0) || !has_changed || !tm_is_worth_a_cause(k, change_ps))
        return;
    const double before = 100 * fmax(0, 1 - exposed[0] / whole[0]), after = 100 * fmax(0, 1 - exposed[1] / whole[1]);

    if ((after < before) != (change_ps > 0))
        return;
    for (int i = TM_PART_COLLECTIVES; i <= TM_PART_COPY_OTHER; i++)
        k->left_ps[i] = 0;
    cause = tm_cause_begin(k, change_ps > 0 ? "overlap_lost" : "overlap_gained", change_ps);
    tm_cause_set_title(cause, "%s of communication and copies is overlapped with compute, was %s: %s per step",
                       tm_format_pct(b, after), tm_format_pct(a, before), tm_signed_time(time, change_ps));
    cause->value = after - before;
    cause->unit = "%";
    emit_before(cause, "Collectives and copies", whole[0], whole[1]);
    emit_before(cause, "Exposed", exposed[0], exposed[1]);
    cause->why = "Communication and copies are about the same, but the devices compute less or more meanwhile.";
    cause->fixes = overlap_fixes;
}

/* --- idle time --- */

static const char *const wait_fixes[] = {
    "Find what the device waits for in the trace: another stream, an event, a peer.", NULL
};
static const char *const launch_fixes[] = {
    "Launch fewer and larger programs: jit a larger function, or use CUDA graphs.", NULL
};
static const char *const input_fixes[] = {
    "Prefetch more, with more workers, and compare the storage that the data comes from.", NULL
};
static const char *const sync_fixes[] = {
    "Look for results that are now read in every step: `float(loss)`, `print`, `np.asarray`.", NULL
};
static const char *const gc_fixes[] = {
    "Collect garbage only between steps: `gc.disable()`, and `gc.collect()` periodically.", NULL
};
static const char *const profiler_fixes[] = { "Compare the profiler options of both runs.", NULL };
static const char *const host_fixes[] = { "Compare the Python functions between the launches of both runs.", NULL };
static const char *const unrecorded_fixes[] = { "Profile both runs again with the host tracer enabled.", NULL };

static const struct {
    enum tm_part part;
    const char *id, *words;
    const char *const *fixes;
} idle_kinds[] = {
    { TM_PART_IDLE_DEVICE_WAIT, "idle_device_wait", "due to device stalls", wait_fixes },
    { TM_PART_IDLE_LAUNCH, "idle_launch", "due to launch overhead", launch_fixes },
    { TM_PART_IDLE_COMPILE, "idle_compile", "due to compilation", compile_fixes },
    { TM_PART_IDLE_INPUT, "idle_input", "due to input stalls", input_fixes },
    { TM_PART_IDLE_SYNC, "idle_sync", "due to host sync", sync_fixes },
    { TM_PART_IDLE_GC, "idle_gc", "due to garbage collection", gc_fixes },
    { TM_PART_IDLE_PROFILER, "idle_profiler", "due to profiler overhead", profiler_fixes },
    { TM_PART_IDLE_HOST, "idle_host", "due to host code", host_fixes },
    { TM_PART_IDLE_UNRECORDED, "idle_unrecorded", "with no recorded cause", unrecorded_fixes },
};

/* Idle time moves between its causes without changing its sum, for example if launches are earlier.  Therefore changes
 * without a named cause that are not significant are offset against changes of the other causes. */
static bool is_open(const struct causes *k, enum tm_part part)
{
    return part == TM_PART_IDLE_DEVICE_WAIT || part == TM_PART_IDLE_UNRECORDED || !tm_part_has_changed(k, part);
}

static void settle_blame(struct causes *k)
{
    for (int open = TM_PART_IDLE_DEVICE_WAIT; open < TM_PARTS; open++) {
        double other_ps = 0, settled;

        for (int part = TM_PART_IDLE_DEVICE_WAIT; part < TM_PARTS; part++)
            other_ps += k->left_ps[part] * k->left_ps[open] < 0 ? fabs(k->left_ps[part]) : 0;
        if (!is_open(k, open) || other_ps == 0)
            continue;
        settled = fmin(other_ps, fabs(k->left_ps[open]));
        for (int part = TM_PART_IDLE_DEVICE_WAIT; part < TM_PARTS; part++) {
            if (k->left_ps[part] * k->left_ps[open] < 0)
                k->left_ps[part] *= 1 - settled / other_ps;
        }
        k->left_ps[open] *= 1 - settled / fabs(k->left_ps[open]);
    }
}

static void find_idle_changes(struct causes *k)
{
    static const char launches[] = "host.launches.per_step";
    const double before = tm_mean_over_runs(&k->c->side[0], figure_at, launches);
    const double after = tm_mean_over_runs(&k->c->side[k->side], figure_at, launches);

    settle_blame(k);
    for (size_t i = 0; i < sizeof(idle_kinds) / sizeof(idle_kinds[0]); i++) {
        const enum tm_part part = idle_kinds[i].part;
        const double change_ps = k->left_ps[part];
        char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], time[SIGNED_TIME_BYTES];
        struct cause *cause;

        if (!tm_part_has_changed(k, part) || !tm_is_worth_a_cause(k, change_ps))
            continue;
        k->left_ps[part] = 0;
        cause = tm_cause_begin(k, idle_kinds[i].id, change_ps);
        tm_cause_set_title(cause, "The device is idle %s %s: %s per step", change_ps > 0 ? "longer" : "less",
                           idle_kinds[i].words, tm_signed_time(time, change_ps));
        cause->value = tm_change_pct((double)k->w->base_part_ps[part], (double)k->w->new_part_ps[part]);
        cause->unit = "%";
        emit_before(cause, "Idle for this cause", (double)k->w->base_part_ps[part], (double)k->w->new_part_ps[part]);
        if (isfinite(before) && isfinite(after) && has_grown(before, after, change_ps < 0 ? -1 : 1))
            tm_cause_say(cause, "%s launches per step, was %s.", tm_format_number(b, after),
                         tm_format_number(a, before));
        cause->why = "The device has no work during this time.";
        cause->fixes = idle_kinds[i].fixes;
    }
}

/* --- the rest --- */

static void find_changed_parts(struct causes *k)
{
    for (int part = 0; part < TM_PART_IDLE_DEVICE_WAIT; part++) {
        char time[SIGNED_TIME_BYTES];
        const double change_ps = k->left_ps[part];
        struct cause *cause;

        if (!tm_part_has_changed(k, part) || !tm_is_worth_a_cause(k, change_ps) ||
            change_ps * part_change(k, part) <= 0)
            continue;
        k->left_ps[part] = 0;
        cause = tm_cause_begin(k, tm_part_kind[part].id, change_ps);
        cause->is_rest = true;
        tm_cause_set_title(cause, "%s, not explained by the causes above: %s per step", tm_part_kind[part].title,
                           tm_signed_time(time, change_ps));
        cause->value = 100 * change_ps / k->step_ps;
        cause->unit = "%";
        emit_before(cause, tm_part_kind[part].title, (double)k->w->base_part_ps[part], (double)k->w->new_part_ps[part]);
    }
}

/* --- what is different besides time: memory, versions, devices --- */

static const double memory_least_pct = 5, memory_near_pct = 90;

enum { MEMORY_LEAST_BYTES = 16 << 20 };

/* The highest peak of an allocator. */
static double peak_of(const struct tm_value *summary, const void *key)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");
    double most = NAN;

    for (size_t i = 0; i < tm_length(allocators); i++) {
        const struct tm_value *value = tm_get(tm_at(allocators, i), key);

        if (tm_has(value) && !(tm_double(value) <= most))
            most = tm_double(value);
    }
    return most;
}

static void find_memory(struct causes *k)
{
    const double base = tm_mean_over_runs(&k->c->side[0], peak_of, "peak_bytes");
    const double other = tm_mean_over_runs(&k->c->side[k->side], peak_of, "peak_bytes");
    const double share = tm_mean_over_runs(&k->c->side[k->side], peak_of, "peak_pct");
    const double pct = tm_change_pct(base, other);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], p[TM_FORMAT_BYTES];
    struct cause *cause;

    if (!(fabs(pct) >= memory_least_pct) || fabs(other - base) < MEMORY_LEAST_BYTES)
        return;
    cause = begin_fact(k, other > base ? "memory_more" : "memory_less");
    cause->is_warning = other > base && share >= memory_near_pct;
    tm_cause_set_title(cause, "Peak memory %s, was %s: %s %s", tm_format_bytes(b, other), tm_format_bytes(a, base),
                       tm_format_pct(p, fabs(pct)), pct > 0 ? "more" : "less");
    cause->value = pct;
    cause->unit = "%";
    if (isfinite(share))
        tm_cause_say(cause, "%s of the allocator's capacity.", tm_format_pct(p, share));
}

static void find_environment(struct causes *k)
{
    static const struct {
        const char *path, *words;
    } facts[] = {
        { "environment.platform", "platform" },
        { "environment.devices[0].model", "device model" },
        { "environment.devices[0].vendor", "vendor" },
        { "environment.hosts[0].jax", "jax" },
        { "environment.hosts[0].jaxlib", "jaxlib" },
        { "environment.hosts[0].cuda", "CUDA" },
        { "environment.hosts[0].cuda_runtime", "CUDA runtime" },
        { "environment.hosts[0].driver", "driver" },
        { "environment.hosts[0].rocm", "ROCm" },
        { "environment.hosts[0].libtpu", "libtpu" },
    };
    const struct tm_value *base = k->c->side[0].run[0].summary, *other = k->c->side[k->side].run[0].summary;
    struct cause *cause = NULL;

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct tm_value *a = tm_path(base, facts[i].path), *b = tm_path(other, facts[i].path);
        const bool is_text = tm_type_of(a) == TM_STRING && tm_type_of(b) == TM_STRING;
        char x[TM_FORMAT_BYTES], y[TM_FORMAT_BYTES], from[TM_SHORT_NAME_BYTES], to[TM_SHORT_NAME_BYTES];

        if (!tm_has(a) || !tm_has(b) || (is_text ? strcmp(tm_text(a), tm_text(b)) == 0 : tm_double(a) == tm_double(b)))
            continue;
        (void)tm_short_name(from, is_text ? tm_text(a) : tm_format_number(x, tm_double(a)));
        (void)tm_short_name(to, is_text ? tm_text(b) : tm_format_number(y, tm_double(b)));
        if (!cause) {
            cause = begin_fact(k, "environment");
            tm_cause_set_title(cause, "Different %s: %s, was %s", facts[i].words, to, from);
        }
        tm_cause_say(cause, "%s: %s, was %s", facts[i].words, to, from);
    }
    if (cause && cause->evidence_count > 1)
        tm_cause_set_title(cause, "The runs differ in %d versions or devices", cause->evidence_count);
}

static void find_facts(struct causes *k)
{
    find_memory(k);
    find_environment(k);
}

/* --- the document --- */

static cause_rule *const rules[] = {
    find_slow_device,  tm_find_uniform_change, find_recompiles,   find_transfer_causes, find_collective_causes,
    find_lost_overlap, tm_find_op_changes,     find_idle_changes, find_changed_parts,   find_facts,
};

static int by_change(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;
    const double dx = fabs(x->change_ps), dy = fabs(y->change_ps);

    if (x->is_rest != y->is_rest)
        return x->is_rest ? 1 : -1;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return x->number - y->number;
}

static const char *severity_of(const struct causes *k, const struct cause *cause)
{
    const double pct = 100 * cause->change_ps / k->step_ps;

    if (cause->is_fact)
        return cause->is_warning ? "warning" : "info";
    if (pct < 0)
        return "good";
    return pct >= 10 ? "critical" : pct >= 3 ? "warning" : "info";
}

static void add_explained(const struct causes *k, struct tm_value *to, const struct cause *cause)
{
    const double change_ps = (double)(k->w->new_ps - k->w->base_ps);

    if (cause->is_fact)
        tm_add_null(to, "explains_pct", "it has no separate time");
    else if (fabs(change_ps) * 100 < STEP_LEAST_PCT * k->step_ps)
        tm_add_null(to, "explains_pct", "the step has hardly changed");
    else
        tm_add_double(to, "explains_pct", 100 * cause->change_ps / change_ps);
}

/* With several sides, a cause names its side: "vjp: ...". */
static void add_title(const struct causes *k, struct tm_value *to, const struct cause *cause)
{
    char side[TM_FORMAT_BYTES], title[TM_FORMAT_BYTES + CAUSE_TITLE_BYTES + 2];

    tm_cause_side(k->c, k->side, side);
    (void)snprintf(title, sizeof(title), "%s%s", side, cause->title);
    tm_add_text(to, "title", title, strlen(title));
}

static void add_cause(const struct causes *k, struct tm_value *findings, const struct cause *cause)
{
    struct tm_value *to = tm_add_object(findings, NULL), *list;
    char id[SIDE_ID_BYTES], reason[128];

    tm_add_string(to, "id", cause->id);
    tm_add_string(to, "severity", severity_of(k, cause));
    add_title(k, to, cause);
    tm_add_figure(to, "value", cause->value, "no single figure shows it");
    tm_add_string(to, "unit", cause->unit ? cause->unit : "");
    tm_add_null(to, "limit", "a comparison has no limits");
    list = tm_add_array(to, "evidence");
    for (int i = 0; i < cause->evidence_count; i++)
        tm_add_string(list, NULL, cause->evidence[i]);
    if (!k->is_tested && !cause->is_fact)
        tm_add_string(list, NULL, tm_no_test_reason(k->c, k->side, reason, sizeof(reason)));
    tm_add_ps(to, "at_stake_ps", fmax(0, cause->change_ps), NULL);
    tm_add_figure(to, "share_pct", cause->is_fact || !(k->step_ps > 0) ? NAN : 100 * cause->change_ps / k->step_ps,
                  "it has no separate time");
    tm_add_string(to, "cause", cause->why ? cause->why : "");
    list = tm_add_array(to, "fix");
    for (size_t i = 0; cause->fixes && cause->fixes[i] && cause->change_ps >= 0; i++)
        tm_add_string(list, NULL, cause->fixes[i]);
    (void)tm_add_array(to, "where");
    tm_add_string(to, "side", tm_side_id(k->c, k->side, id));
    tm_add_ps(to, "change_ps", cause->is_fact ? NAN : cause->change_ps, "it has no separate time");
    tm_add_bool(to, "tested", k->is_tested);
    add_explained(k, to, cause);
}

void tm_add_causes(struct comparison *c)
{
    struct tm_value *findings = tm_add_array(c->root, "findings");
    struct cause *list = tm_room_take(&c->room, CAUSES_MOST + 1, sizeof(*list));

    for (size_t side = 1; side < c->sides && list; side++) {
        struct causes k = { .c = c, .side = side, .w = &c->waterfall[side], .list = list };

        k.is_tested = tm_basis_of(c, side) != TEST_NONE;
        k.step_ps = (double)k.w->base_ps;
        for (int i = 0; i < TM_PARTS; i++)
            k.left_ps[i] = (double)(k.w->new_part_ps[i] - k.w->base_part_ps[i]);
        for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
            if (k.w->is_known || rules[i] == find_facts)
                rules[i](&k);
        qsort(list, (size_t)k.count, sizeof(*list), by_change);
        for (int i = 0; i < k.count; i++)
            add_cause(&k, findings, &list[i]);
    }
}
