/* SPDX-License-Identifier: Apache-2.0 */
/* A key figure outside its band names the finding that has its savings, or says why it costs nothing in this run: the
 * first screen and the findings say the same.  One table: a figure, the findings that tell of it, and what it means
 * where there is none of them.  Definitions: docs/metrics.md, "KPIs". */
#include <stdio.h>
#include <string.h>

#include "reports/findings/ask.h"
#include "reports/findings/kpis.h"
#include "reports/format/format.h"

enum { FINDINGS_OF_KPI = 16, WHY_BYTES = 256 };

/* Why a figure outside its band costs nothing here. */
typedef void explain_fn(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES]);

static void explain_share(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES, "no single cause of it reaches %s of the window",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

/* What short kernels cost are the pauses between them. */
static void explain_short(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    const double pause_ps = tm_double(tm_path(s, "gaps.pauses.total_ps"));
    const double work_ps = tm_double(tm_path(s, "total.busy_ps")), limit = t->limit[TM_LIMIT_PAUSE_SHARE].value;
    const double pct = 100 * pause_ps / (pause_ps + work_ps);
    char share[TM_FORMAT_BYTES], least[TM_FORMAT_BYTES];

    if (pause_ps >= 0 && work_ps > 0 && pct <= limit)
        (void)snprintf(why, WHY_BYTES, "pauses between kernels take %s of work and pauses; up to %s is ordinary",
                       tm_format_pct(share, pct), tm_format_pct(least, limit));
    else
        (void)snprintf(why, WHY_BYTES, "pauses between kernels cost less than %s of the window",
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
    (void)snprintf(why, WHY_BYTES, "none of it is inside the analyzed steps");
}

static void explain_top_op(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    (void)s;
    (void)t;
    (void)snprintf(why, WHY_BYTES, "nothing in this profile shows that this operation could be faster");
}

static void explain_occupancy(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES,
                   "no kernel but matrix products and attention, which need few warps, loses %s of the window by it",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

static void explain_balance(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    char pct[TM_FORMAT_BYTES];

    (void)s;
    (void)snprintf(why, WHY_BYTES, "the other devices wait for it for less than %s of the window",
                   tm_format_pct(pct, t->limit[TM_LIMIT_MENTION_SHARE].value));
}

static void explain_memory(const struct tm_value *s, const struct tm_thresholds *t, char why[WHY_BYTES])
{
    (void)s;
    (void)t;
    (void)snprintf(why, WHY_BYTES, "full memory costs no time as long as no allocation fails");
}

#define SHORT_WORK "eager_dispatch", "kernel_short", "op_short", "elementwise_unfused", "attention_unfused"
#define HOST_CAUSES                                                                                                    \
    "idle_input", "idle_sync", "idle_launch", "idle_host", "idle_gc", "idle_compile", "compile_in_steps",              \
        "fallback_callbacks", "fallback_cpu_ops", "round_trips"
#define COPIES "transfer_h2d", "transfer_d2h", "transfer_p2p", "transfer_d2d", "transfer_other"
#define UNEVEN "imbalance", "slow_device", "straggler"

/* Of several findings the first in their order counts: that with the most at stake.  A device that is idle has any
 * finding that saves idle time (`of_idle`). */
/* clang-format off */
static const struct {
    const char *kpi;
    bool of_idle;
    const char *findings[FINDINGS_OF_KPI];
    explain_fn *explain;
} links[] = {
    { "device_utilization", true,
      { "queue_empty", "idle_device_wait", "idle_profiler", "idle_launch", "no_host_events" }, explain_share },
    { "kernel_duration", false, { SHORT_WORK, "op_repeated" }, explain_short },
    { "small_kernel_share", false, { SHORT_WORK, "op_repeated" }, explain_short },
    { "host_overhead", true, { HOST_CAUSES, SHORT_WORK }, explain_share },
    { "memory_bandwidth", false, { "op_memory_far", "low_intensity" }, explain_bandwidth },
    { "model_flop_utilization", false, { "op_compute_far", "precision_f32", "op_dominant", "op_memory_far" }, NULL },
    { "compile_time", false, { "compile_in_steps", "compile_again", "compile_long", "idle_compile" }, explain_compile },
    { "unexpected_compiles", false, { "compile_in_steps" }, explain_share },
    { "peak_memory", false,
      { "memory_near_limit", "memory_growth", "memory_spikes", "memory_fragmentation", "memory_holders" },
      explain_memory },
    { "occupancy", false, { "occupancy_low", "occupancy_small_grid", "occupancy_tail" }, explain_occupancy },
    { "transfer_share", false,
      { COPIES, "transfer_repeated_h2d", "transfer_repeated_d2h", "transfer_pageable" }, explain_share },
    { "top_op_share", false,
      { "op_dominant", "kernel_dominant", "op_memory_far", "op_compute_far", "precision_f32", "occupancy_low",
        "occupancy_small_grid", "elementwise_unfused" },
      explain_top_op },
    { "exposed_collective", false,
      { "collective_exposed", UNEVEN, "collective_small", "collective_slow" }, explain_share },
    { "imbalance", false, { UNEVEN }, explain_balance },
};
/* clang-format on */

static bool is_listed(const char *const ids[FINDINGS_OF_KPI], const char *id)
{
    for (size_t i = 0; i < FINDINGS_OF_KPI && ids[i]; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* What else a figure may tell of: the longest operation may be a collective, and a TPU's core waits for copies and
 * collectives without being used. */
static bool is_told_too(const struct tm_value *s, const char *kpi, const char *finding)
{
    static const char *const of_collectives[FINDINGS_OF_KPI] = { "collective_exposed", UNEVEN };
    static const char *const of_waits[FINDINGS_OF_KPI] = { "collective_exposed", UNEVEN, COPIES };
    const struct tm_value *top = tm_path(s, "ops.rows[0]");

    if (strcmp(kpi, "top_op_share") == 0)
        return is_listed(of_collectives, finding) && (strcmp(tm_text(tm_get(top, "category")), "collective") == 0 ||
                                                      strcasestr(tm_text(tm_get(top, "name")), "nccl") ||
                                                      strcasestr(tm_text(tm_get(top, "name")), "all-reduce"));
    return (strcmp(kpi, "device_utilization") == 0 || strcmp(kpi, "memory_bandwidth") == 0) &&
           tm_ask_is_platform(s, "tpu") && is_listed(of_waits, finding);
}

static const char *finding_of(const struct tm_value *s, const char *kpi, size_t link)
{
    const struct tm_value *findings = tm_get(s, "findings");
    const bool is_known = link < sizeof(links) / sizeof(links[0]);

    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i);
        const char *id = tm_text(tm_get(f, "id"));

        if (is_known ? is_listed(links[link].findings, id) || (links[link].of_idle && tm_int(tm_get(f, "idle_ps")) > 0)
                     : tm_int(tm_get(f, "at_stake_ps")) > 0)
            return id;
        if (is_told_too(s, kpi, id))
            return id;
    }
    return NULL;
}

void tm_kpi_link(struct tm_value *kpi, const struct tm_value *s, const struct tm_thresholds *t)
{
    const char *id = tm_text(tm_get(kpi, "id")), *band = tm_text(tm_get(kpi, "band")), *finding;
    const size_t count = sizeof(links) / sizeof(links[0]);
    const bool is_outside = strcmp(band, "warning") == 0 || strcmp(band, "bad") == 0;
    char why[WHY_BYTES];
    size_t link = 0;

    while (link < count && strcmp(links[link].kpi, id) != 0)
        link++;
    finding = is_outside ? finding_of(s, id, link) : NULL;
    tm_add_known(kpi, "finding", finding, NULL);
    if (!is_outside || finding)
        return;
    (link < count && links[link].explain ? links[link].explain : explain_share)(s, t, why);
    tm_add_string(kpi, "why", why);
}
