/* SPDX-License-Identifier: Apache-2.0 */
/* The key figures of the first page.  Each is read from the section that defines it, or is a quotient of two of its
 * figures; nothing is measured here.  Definitions: docs/metrics.md, "KPIs". */
#include "reports/findings/findings.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

#define PS_PER_MS 1e9
#define PS_PER_S 1e12

struct figure {
    bool is_known;
    double value;
    char why[256];  /* why there is no value, or no band */
    char note[320]; /* what is shown beside the value; "" = nothing */
};

enum { WHY_BYTES = 256 };

typedef void measure_fn(const struct tm_value *s, struct figure *f);

static void set(struct figure *f, double value)
{
    f->is_known = true;
    f->value = value;
}

static void unknown(struct figure *f, const char *why)
{
    (void)snprintf(f->why, sizeof(f->why), "%s", why);
}

/* The figure at `path`, divided by `unit`. */
static void take(const struct tm_value *s, const char *path, double unit, struct figure *f)
{
    const struct tm_value *v = tm_path(s, path);

    if (tm_has(v))
        set(f, tm_double(v) / unit);
    else
        unknown(f, tm_reason_of(s, path));
}

/* The figure at `path` as a share of the window. */
static void take_share(const struct tm_value *s, const char *path, struct figure *f)
{
    const int64_t window_ps = tm_query_window_ps(s);
    const struct tm_value *v = tm_path(s, path);

    if (!tm_has(v))
        unknown(f, tm_reason_of(s, path));
    else if (window_ps == 0)
        unknown(f, "the window is empty: no device activity in the analyzed steps");
    else
        set(f, tm_share_pct(tm_int(v), window_ps));
}

static void measure_utilization(const struct tm_value *s, struct figure *f)
{
    char pct[TM_FORMAT_BYTES];

    take(s, "total.utilization_pct", 1, f);
    if (f->is_known)
        (void)snprintf(f->note, sizeof(f->note), "idle %s; target: under 10%%", tm_format_pct(pct, 100 - f->value));
}

/* Without kernels the table has operations, which are not launched one by one. */
static void measure_kernel_duration(const struct tm_value *s, struct figure *f)
{
    const struct tm_value *plain = tm_path(s, "kernels.compute_mean_ps");
    char mean[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_query_is_platform(s, "tpu") || tm_query_is_platform(s, "cpu")) {
        unknown(f, "only GPUs launch kernels; the kernel table lists operations here");
        return;
    }
    if (tm_has(tm_get(s, "kernels")) && tm_int(tm_path(s, "kernels.count")) == 0) {
        unknown(f, "no kernels were recorded");
        return;
    }
    take(s, "kernels.weighted_mean_ps", PS_PER_MS, f);
    if (f->is_known && tm_has(plain))
        (void)snprintf(f->note, sizeof(f->note), "plain mean %s over %s compute kernels",
                       tm_format_time(mean, tm_int(plain)),
                       tm_format_count(count, tm_int(tm_path(s, "kernels.compute_count"))));
}

static void measure_host_overhead(const struct tm_value *s, struct figure *f)
{
    take(s, "host.overhead_pct", 1, f);
}

static void measure_compile_time(const struct tm_value *s, struct figure *f)
{
    take(s, "compile.total_ps", PS_PER_S, f);
    if (f->is_known)
        (void)snprintf(f->note, sizeof(f->note), "%lld compiles in the whole session",
                       (long long)tm_int(tm_path(s, "compile.count")));
}

static void measure_unexpected_compiles(const struct tm_value *s, struct figure *f)
{
    if (tm_query_is_session(s))
        unknown(f, "no steps are marked, so compiles during steps cannot be detected");
    else
        take(s, "compile.inside_steps.count", 1, f);
}

static void measure_peak_memory(const struct tm_value *s, struct figure *f)
{
    const struct tm_value *list = tm_path(s, "memory.allocators"), *fullest = NULL;
    char bytes[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *pct = tm_get(tm_at(list, i), "peak_pct");

        if (tm_has(pct) && (!fullest || tm_double(pct) > tm_double(tm_get(fullest, "peak_pct"))))
            fullest = tm_at(list, i);
    }
    if (!fullest) {
        unknown(f,
                tm_length(list) ? "the allocators do not report their capacity" : tm_reason_of(s, "memory.allocators"));
        return;
    }
    set(f, tm_double(tm_get(fullest, "peak_pct")));
    (void)snprintf(f->note, sizeof(f->note), "%s in '%s'",
                   tm_format_bytes(bytes, tm_double(tm_get(fullest, "peak_bytes"))),
                   tm_short_name(name, tm_text(tm_get(fullest, "name"))));
}

static void measure_transfer_share(const struct tm_value *s, struct figure *f)
{
    if (tm_query_is_platform(s, "cpu"))
        unknown(f, "the program ran on the CPU: nothing is copied to or from a device");
    else
        take_share(s, "total.exposed_copy_ps", f);
}

static void measure_exposed_collective(const struct tm_value *s, struct figure *f)
{
    char total[TM_FORMAT_BYTES];

    take_share(s, "total.exposed_collective_ps", f);
    if (f->is_known && tm_int(tm_path(s, "total.collective_ps")) > 0)
        (void)snprintf(f->note, sizeof(f->note), "collectives run for %s in total",
                       tm_format_time(total, tm_int(tm_path(s, "total.collective_ps"))));
}

static void measure_imbalance(const struct tm_value *s, struct figure *f)
{
    const char *slowest = tm_text(tm_path(s, "balance.slowest"));
    char name[TM_SHORT_NAME_BYTES];

    take(s, "balance.imbalance_pct", 1, f);
    if (f->is_known && *slowest)
        (void)snprintf(f->note, sizeof(f->note), "busiest: %s", tm_short_name(name, tm_shown_device(s, slowest)));
}

static void measure_step_time(const struct tm_value *s, struct figure *f)
{
    const int64_t samples = tm_int(tm_path(s, "steps.samples"));
    char mean[TM_FORMAT_BYTES];

    if (tm_query_is_session(s)) {
        unknown(f, "no steps are marked in this profile");
        return;
    }
    take(s, "steps.median_ps", PS_PER_MS, f);
    if (f->is_known && samples > 1)
        (void)snprintf(f->note, sizeof(f->note), "mean %s over %lld steps",
                       tm_format_time(mean, tm_int(tm_path(s, "steps.mean_ps"))), (long long)samples);
    else if (f->is_known)
        (void)snprintf(f->note, sizeof(f->note), "single step");
}

static void measure_small_kernels(const struct tm_value *s, struct figure *f)
{
    char small[TM_FORMAT_BYTES], all[TM_FORMAT_BYTES];

    take(s, "fusion.small.share_pct", 1, f);
    if (f->is_known)
        (void)snprintf(f->note, sizeof(f->note), "%s of %s kernels",
                       tm_format_count(small, tm_int(tm_path(s, "fusion.small.count"))),
                       tm_format_count(all, tm_int(tm_path(s, "fusion.kernels.count"))));
}

static void measure_bandwidth(const struct tm_value *s, struct figure *f)
{
    const double known = tm_double(tm_path(s, "roofline.known_pct"));
    char rate[TM_FORMAT_BYTES], peak[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    take(s, "roofline.memory_pct", 1, f);
    if (!f->is_known)
        return;
    (void)snprintf(f->note, sizeof(f->note), "%s of %s per device; bytes known for %s of the compute time%s",
                   tm_format_rate(rate, tm_double(tm_path(s, "roofline.bandwidth"))),
                   tm_format_rate(peak, tm_double(tm_path(s, "roofline.devices[0].peak_bandwidth"))),
                   tm_format_pct(pct, known),
                   f->value > 100 ? "; over 100%%: caches serve part of the bytes, or the cost model overestimates "
                                    "them"
                                  : "");
}

/* The roofline has the figure if the costs of most of the compute time are known. */
static void measure_mfu(const struct tm_value *s, struct figure *f)
{
    const struct tm_value *device = tm_path(s, "roofline.devices[0]");
    char rate[TM_FORMAT_BYTES], peak[TM_FORMAT_BYTES];

    take(s, "roofline.mfu_pct", 1, f);
    if (f->is_known && tm_has(tm_get(device, "peak_flops")))
        (void)snprintf(f->note, sizeof(f->note), "%s per device while busy; peak %s (%s)",
                       tm_format_flop_rate(rate, tm_double(tm_path(s, "roofline.flop_rate"))),
                       tm_format_flop_rate(peak, tm_double(tm_get(device, "peak_flops"))),
                       tm_text(tm_get(device, "peak_precision")));
}

static void measure_occupancy(const struct tm_value *s, struct figure *f)
{
    const int64_t known_ps = tm_int(tm_path(s, "occupancy.known_ps"));
    const int64_t all_ps = tm_sum_times(known_ps, tm_int(tm_path(s, "occupancy.unknown_ps")));
    char pct[TM_FORMAT_BYTES];

    take(s, "occupancy.mean_pct", 1, f);
    if (f->is_known && all_ps > known_ps)
        (void)snprintf(f->note, sizeof(f->note), "known for %s of the kernel time",
                       tm_format_pct(pct, tm_share_pct(known_ps, all_ps)));
}

/* The longest operation, or family that counts as one. */
static const struct tm_value *top_of(const struct tm_value *s)
{
    const struct tm_value *families = tm_path(s, "ops.families"), *op = tm_path(s, "ops.rows[0]");

    for (size_t i = 0; i < tm_length(families); i++) {
        const struct tm_value *family = tm_at(families, i);

        if (tm_is(tm_get(family, "counts_as_one")))
            return tm_int(tm_get(family, "self_ps")) >= tm_int(tm_get(op, "self_ps")) ? family : op;
    }
    return op;
}

/* Its name, and how many operations make up most of the time. */
static void note_top_op(const struct tm_value *s, struct figure *f)
{
    const struct tm_value *top = top_of(s);
    const int64_t members = tm_int(tm_get(top, "members"));
    char name[TM_SHORT_NAME_BYTES], count[TM_FORMAT_BYTES], of[TM_FORMAT_BYTES + 16] = "";

    if (members > 1)
        (void)snprintf(of, sizeof(of), " (%s operations)", tm_format_count(count, members));
    (void)snprintf(f->note, sizeof(f->note), "%s%s; %lld of %lld operations account for 80%%",
                   tm_short_name(name, tm_text(tm_get(top, members > 1 ? "family"
                                                           : members   ? "longest"
                                                                       : "name"))),
                   of, (long long)tm_int(tm_path(s, "ops.rows_for_80_pct")),
                   (long long)tm_int(tm_path(s, "ops.distinct")));
}

static void measure_top_op(const struct tm_value *s, struct figure *f)
{
    take(s, "ops.top_share_pct", 1, f);
    if (f->is_known)
        note_top_op(s, f);
}

/* --- why a figure outside its band costs nothing --- */

/* Writes why a figure outside its band costs nothing in this run. */
typedef void explain_fn(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES]);

static void explain_share(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES, "no single cause reaches %s of the window",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

/* The cost of short kernels are the pauses between them. */
static void explain_short(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    const double pause_ps = tm_double(tm_path(s, "gaps.pauses.total_ps"));
    const double work_ps = tm_double(tm_path(s, "total.busy_ps")), limit = t->limit[TM_LIMIT_PAUSE_SHARE].value;
    const double pct = 100 * pause_ps / (pause_ps + work_ps);
    char share[TM_FORMAT_BYTES], least[TM_FORMAT_BYTES];

    if (pause_ps >= 0 && work_ps > 0 && pct <= limit)
        (void)snprintf(why, WHY_BYTES, "pauses between kernels take %s of kernel time and pauses; up to %s is normal",
                       tm_format_pct(share, pct), tm_format_pct(least, limit));
    else
        (void)snprintf(why, WHY_BYTES, "pauses between kernels take less than %s of the window",
                       tm_format_pct(least, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

static void explain_bandwidth(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    static const char *const bounds[] = { "compute", "memory", "latency" };
    const struct tm_value *bound = tm_path(s, "roofline.bound_ps");
    int64_t most_ps = 0;
    const char *most = "";

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (tm_int(tm_get(bound, bounds[i])) > most_ps) {
            most_ps = tm_int(tm_get(bound, bounds[i]));
            most = bounds[i];
        }
    }
    if (strcmp(most, "compute") == 0)
        (void)snprintf(why, WHY_BYTES, "compute-bound: memory bandwidth is not the limit");
    else if (strcmp(most, "latency") == 0)
        (void)snprintf(why, WHY_BYTES, "latency-bound: most operations reach neither limit of the device");
    else
        explain_share(s, t, why);
}

static void explain_compile(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    (void)s;
    (void)t;
    (void)snprintf(why, WHY_BYTES, "no compile starts during the analyzed steps");
}

static void explain_top_op(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    (void)s;
    (void)t;
    (void)snprintf(why, WHY_BYTES, "the profile gives no indication that this operation could be faster");
}

static void explain_occupancy(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES,
                   "no kernel, except matmuls and attention, which need few warps, loses %s of the window to it",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

static void explain_balance(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES, "other devices wait for the slowest one for less than %s of the window",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

static void explain_memory(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    (void)s;
    (void)t;
    (void)snprintf(why, WHY_BYTES, "full memory costs no time unless an allocation fails");
}

/* --- the table --- */

/* clang-format off */
/* How each figure is measured, on which platforms it is meaningful (format.h), and the explanation if it is outside
 * its band and no finding explains it. */
static const struct {
    measure_fn *measure;
    const char *platforms;
    explain_fn *explain;
    bool is_of_idle; /* any finding that saves idle time explains it */
    bool is_of_all;  /* any finding that saves time explains it */
} figures[TM_KPI_COUNT] = {
    [TM_KPI_MODEL_FLOP_UTILIZATION] = { measure_mfu, "gpu,tpu", explain_share },
    [TM_KPI_DEVICE_UTILIZATION] = { measure_utilization, NULL, explain_share, .is_of_idle = true },
    [TM_KPI_KERNEL_DURATION] = { measure_kernel_duration, "gpu", explain_short },
    [TM_KPI_SMALL_KERNEL_SHARE] = { measure_small_kernels, "gpu", explain_short },
    [TM_KPI_HOST_OVERHEAD] = { measure_host_overhead, "gpu,tpu", explain_share, .is_of_idle = true },
    [TM_KPI_MEMORY_BANDWIDTH] = { measure_bandwidth, NULL, explain_bandwidth },
    [TM_KPI_COMPILE_TIME] = { measure_compile_time, NULL, explain_compile },
    [TM_KPI_UNEXPECTED_COMPILES] = { measure_unexpected_compiles, NULL, explain_share },
    [TM_KPI_PEAK_MEMORY] = { measure_peak_memory, NULL, explain_memory },
    [TM_KPI_OCCUPANCY] = { measure_occupancy, "gpu", explain_occupancy },
    [TM_KPI_TRANSFER_SHARE] = { measure_transfer_share, "gpu,tpu", explain_share },
    [TM_KPI_TOP_OP_SHARE] = { measure_top_op, NULL, explain_top_op },
    [TM_KPI_EXPOSED_COLLECTIVE] = { measure_exposed_collective, NULL, explain_share },
    [TM_KPI_IMBALANCE] = { measure_imbalance, NULL, explain_balance },
    [TM_KPI_STEP_TIME] = { measure_step_time, NULL, explain_share, .is_of_all = true },
};
/* clang-format on */

const char *tm_kpi_band(const struct tm_threshold *kpi, double value)
{
    const double sign = kpi->higher_is_better ? -1 : 1; /* from here on, lower is better */
    const double at = sign * value, good = sign * kpi->good, bad = sign * kpi->bad;

    if (!kpi->has_bands)
        return "unknown";
    if (at > bad)
        return "bad";
    return at < good || good == bad ? "good" : "warning";
}

static void add_bands(struct tm_value *to, const struct tm_threshold *kpi)
{
    if (kpi->has_bands) {
        tm_add_double(to, "good", kpi->good);
        tm_add_double(to, "bad", kpi->bad);
    } else {
        tm_add_null(to, "good", NULL);
        tm_add_null(to, "bad", NULL);
    }
}

/* The marks that affect a figure, if it has a value. */
static void add_marks(struct tm_value *to, const char *id, bool is_known, const struct tm_value *all)
{
    struct tm_value *ids = tm_add_array(to, "marks");

    for (size_t i = 0; i < tm_length(all) && is_known; i++) {
        const struct tm_value *touched = tm_get(tm_at(all, i), "kpis");

        for (size_t k = 0; k < tm_length(touched); k++)
            if (strcmp(tm_text(tm_at(touched, k)), id) == 0)
                tm_add_string(ids, NULL, tm_text(tm_get(tm_at(all, i), "id")));
    }
}

static void add_kpi(struct tm_value *to, const char *id, const struct tm_threshold *kpi, struct figure *f,
                    const struct tm_value *marks)
{
    if (f->is_known && !kpi->has_bands && !*f->why)
        unknown(f, "no limit is set (see --thresholds)");
    tm_add_string(to, "id", id);
    tm_add_string(to, "title", kpi->title);
    if (!f->is_known)
        tm_add_null(to, "value", NULL); /* the reason is the text `why`, not the object of that name */
    else if (strcmp(kpi->unit, "count") == 0)
        tm_add_int(to, "value", tm_whole(f->value));
    else
        tm_add_double(to, "value", f->value);
    tm_add_string(to, "unit", kpi->unit);
    tm_add_string(to, "band", f->is_known && !*f->why ? tm_kpi_band(kpi, f->value) : "unknown");
    tm_add_known(to, "why", f->why, NULL);
    tm_add_known(to, "note", f->note, NULL);
    add_bands(to, kpi);
    add_marks(to, id, f->is_known, marks);
    tm_add_string(to, "definition", kpi->definition);
}

/* Does a figure apply to this run?  Not collectives and imbalance of one device, nor compilation if nothing was
 * compiled or the profiler never records it. */
static bool does_apply(const struct tm_value *s, int kpi)
{
    const bool is_alone = tm_length(tm_get(s, "devices")) == 1;
    const struct tm_value *compiles = tm_path(s, "compile.count");

    switch (kpi) {
    case TM_KPI_EXPOSED_COLLECTIVE:
        return !is_alone || tm_int(tm_path(s, "total.collective_ps")) > 0;
    case TM_KPI_IMBALANCE:
        return !is_alone;
    case TM_KPI_COMPILE_TIME:
    case TM_KPI_UNEXPECTED_COMPILES:
        return tm_has(compiles) ? tm_int(compiles) > 0 : !(tm_audience_of(s) & (TM_FOR_TORCH | TM_FOR_TENSORFLOW));
    default:
        return true;
    }
}

/* The category of the longest operation; "collective" also by its name. */
static const char *category_of_top(const struct tm_value *s)
{
    const struct tm_value *top = tm_path(s, "ops.rows[0]");
    const char *name = tm_text(tm_get(top, "name"));

    return strcasestr(name, "nccl") || strcasestr(name, "all-reduce") ? "collective" : tm_text(tm_get(top, "category"));
}

/* The first finding that explains the figure, which is the one with the largest potential savings; NULL = none. */
static const char *finding_of(const struct tm_value *s, enum tm_kpi kpi)
{
    const struct tm_value *findings = tm_get(s, "findings");
    const unsigned audience = tm_audience_of(s);
    const char *top = category_of_top(s);

    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i);
        const char *id = tm_text(tm_get(f, "id"));

        if (tm_finding_explains(id, tm_kpi_id[kpi], audience, top) ||
            (figures[kpi].is_of_idle && tm_int(tm_get(f, "idle_ps")) > 0) ||
            (figures[kpi].is_of_all && tm_int(tm_get(f, "at_stake_ps")) > 0))
            return id;
    }
    return NULL;
}

/* Links a figure outside its band to the finding that explains it, or says why it costs nothing, so that key figures
 * and findings agree.  Which figures a finding explains is in schemas/findings.json. */
static void link_finding(struct tm_value *to, enum tm_kpi kpi, const struct tm_value *s, const struct tm_thresholds *t)
{
    const char *band = tm_text(tm_get(to, "band"));
    const bool is_outside = strcmp(band, "warning") == 0 || strcmp(band, "bad") == 0;
    const char *finding = is_outside ? finding_of(s, kpi) : NULL;
    char why[WHY_BYTES];

    tm_add_known(to, "finding", finding, NULL);
    if (!is_outside || finding)
        return;
    figures[kpi].explain(s, t, why);
    tm_add_string(to, "why", why);
}

tm_status tm_kpis_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t)
{
    struct tm_value *kpis = tm_add_array(summary, "kpis");

    for (int i = 0; i < TM_KPI_COUNT; i++) {
        struct figure f = { .is_known = false };

        struct tm_value *to = tm_add_object(kpis, NULL);

        figures[i].measure(summary, &f);
        if (tm_query_is_too_little(summary) && f.is_known)
            unknown(&f, "too little was recorded for an assessment");
        add_kpi(to, tm_kpi_id[i], &t->kpi[i], &f, tm_path(summary, "coverage.marks"));
        tm_add_bool(to, "applies", tm_is_for(figures[i].platforms, summary) && does_apply(summary, i));
        link_finding(to, (enum tm_kpi)i, summary, t);
    }
    return run->error.status;
}
