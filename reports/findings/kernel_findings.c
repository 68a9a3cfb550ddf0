/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels (summary.fusion, summary.programs, summary.occupancy): fusion opportunities, occupancy, and 32-bit matmuls on
 * a device with Tensor Cores or an MXU. */
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"

/* --- fusion ---
 * Many small kernels, many small programs, ops that are repeated in a step, unfused attention, and layout copies. */

enum {
    SHORT_KERNELS_LEAST = 100, /* fewer kernels do not count as many */
    RUNS_NAMED = 2,
    ROWS_NAMED = 3,
    KERNELS_NAMED = 4,
    PLACES = 3,
    EAGER_OPERATIONS_MOST = 2,
    COMPILED_PART = 10
};

static int64_t time_at(const struct tm_findings *all, const char *path)
{
    return tm_int(tm_path(all->summary, path));
}

/* Small kernels do not matter while the device stays busy: the queue hides the launches. */
static bool is_busy(const struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_DEVICE_UTILIZATION];

    return kpi->has_bands && tm_double(tm_path(all->summary, "total.utilization_pct")) > kpi->good;
}

/* --- small kernels --- */

/* Pauses between pieces of launched work beyond the usual share; fewer and longer pieces save them.  Longer waits have
 * other reasons, and pauses between programs have their own finding. */
static int64_t short_stake(const struct tm_findings *all)
{
    const int64_t pause_ps = time_at(all, "gaps.pauses.total_ps"), busy_ps = time_at(all, "total.busy_ps");
    const double ordinary_ps = (double)tm_sum_times(busy_ps, pause_ps) * tm_limit_of(all, TM_LIMIT_PAUSE_SHARE) / 100;
    const int64_t beyond_ps = pause_ps - tm_whole(ordinary_ps), left_ps = tm_wait_left(all, TM_WAIT_DEVICE);

    if (beyond_ps <= 0 || !tm_is_worth_mention(all, beyond_ps))
        return 0;
    return pause_ps < left_ps ? pause_ps : left_ps;
}

static int64_t mean_of(int64_t total_ps, int64_t count)
{
    return count > 0 ? total_ps / count : 0;
}

static void emit_ordinary(struct tm_findings *all, struct tm_finding *f)
{
    const int64_t pause_ps = time_at(all, "gaps.pauses.total_ps");
    const int64_t work_ps = tm_sum_times(pause_ps, time_at(all, "total.busy_ps"));

    tm_finding_emit_with(f, "ordinary_pauses", NULL,
                         tm_given_int("mean_ps", mean_of(pause_ps, time_at(all, "gaps.pauses.count"))),
                         tm_given_double("share_pct", tm_share_pct(pause_ps, work_ps)),
                         tm_given_double("limit_pct", tm_limit_of(all, TM_LIMIT_PAUSE_SHARE)));
}

/* The mean of fusion.small. */
static int64_t small_mean(const struct tm_findings *all)
{
    return mean_of(time_at(all, "fusion.small.total_ps"), time_at(all, "fusion.small.count"));
}

static void emit_short(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *runs = tm_path(all->summary, "fusion.runs");
    const struct tm_value *per_step = tm_path(all->summary, "fusion.per_step");

    tm_finding_emit_with(f, "small", NULL, tm_given_int("mean_ps", small_mean(all)));
    if (tm_has(per_step))
        tm_finding_emit_with(f, "per_step", NULL, tm_given_int("kernels", tm_whole(tm_double(per_step))));
    tm_finding_emit(f, "runs", runs);
    tm_finding_emit_rows(f, "run", tm_get(runs, "longest"), RUNS_NAMED, PLACES);
}

/* The short operations with the most time, and where each runs first. */
static void emit_short_ops(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *rows = tm_path(all->summary, "ops.rows");
    const int64_t mean_ps = mean_of(time_at(all, "kernels.total_ps"), time_at(all, "kernels.count"));
    const int64_t below_ps = time_at(all, "gaps.pauses.below_ps");
    int said = 0;

    tm_finding_emit_with(f, "all", NULL, tm_given_int("mean_ps", mean_ps));
    for (size_t i = 0; i < tm_length(rows) && said < ROWS_NAMED; i++) {
        const struct tm_value *row = tm_at(rows, i), *first = tm_get(row, "first");

        if (tm_int(tm_get(row, "mean_ps")) >= below_ps)
            continue;
        said++;
        tm_finding_emit(f, "op", row);
        if (tm_has(first))
            tm_finding_where_row(f, first);
    }
}

static void find_short(struct tm_findings *all)
{
    static const enum tm_wait wait = TM_WAIT_DEVICE;
    const int64_t stake_ps = short_stake(all);
    const bool has_kernels = tm_has(tm_get(all->summary, "fusion"));
    const char *const id = has_kernels ? "kernel_short" : "op_short";
    struct tm_claim claim = { .ps = { 0 } };
    struct tm_finding *f;

    if (time_at(all, "kernels.count") < SHORT_KERNELS_LEAST || !tm_is_worth_mention(all, stake_ps) ||
        tm_is_reported(all, id))
        return;
    f = tm_finding_of_idle(all, id, stake_ps, tm_wait_explain(all, &wait, 1, stake_ps, &claim), NULL);
    tm_finding_claim(f, &claim);
    emit_ordinary(all, f);
    if (has_kernels)
        emit_short(all, f);
    else
        emit_short_ops(all, f);
}

/* --- small programs --- */

static void emit_programs(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *programs = tm_get(all->summary, "programs"), *pauses = tm_get(programs, "pauses");
    const int64_t operations = tm_int(tm_get(programs, "operations")), count = tm_int(tm_get(pauses, "count"));
    const int64_t executions = tm_int(tm_get(programs, "count"));

    if (operations > 0)
        tm_finding_emit_with(
            f, "programs", NULL,
            tm_given_double("operations", (double)operations / (double)(executions > 0 ? executions : 1)),
            tm_given_int("mean_ps", tm_int(tm_get(programs, "operation_ps")) / operations));
    if (count > 0)
        tm_finding_emit_with(f, "program_pauses", pauses,
                             tm_given_int("mean_ps", tm_int(tm_get(pauses, "total_ps")) / count));
    tm_finding_emit_rows(f, "program_pause", tm_get(pauses, "longest"), PLACES, PLACES);
}

/* Short gaps that are attributed to the host, which needed that long for the next operation or two. */
struct short_gaps {
    const struct tm_value *by_cause;
    size_t causes; /* number of short_waits */
    int64_t count, total_ps;
};

static const struct {
    const char *cause;
    enum tm_wait wait;
} short_waits[] = { { "host", TM_WAIT_HOST }, { "unrecorded", TM_WAIT_UNRECORDED }, { "launch", TM_WAIT_LAUNCH } };

static struct short_gaps short_gaps(const struct tm_findings *all, bool with_launches)
{
    struct short_gaps gaps = { .by_cause = tm_path(all->summary, "gaps.short.by_cause"),
                               .causes = sizeof(short_waits) / sizeof(short_waits[0]) - !with_launches };

    for (size_t i = 0; i < gaps.causes; i++) {
        const struct tm_value *row = tm_get(gaps.by_cause, short_waits[i].cause);

        gaps.count = tm_sum_times(gaps.count, tm_int(tm_get(row, "count")));
        gaps.total_ps = tm_sum_times(gaps.total_ps, tm_int(tm_get(row, "total_ps")));
    }
    return gaps;
}

static int64_t left_of_short(const struct tm_findings *all, const struct short_gaps *gaps, size_t i)
{
    const int64_t ps = tm_int(tm_path(tm_get(gaps->by_cause, short_waits[i].cause), "total_ps"));
    const int64_t left_ps = tm_wait_left(all, short_waits[i].wait);

    return ps < left_ps ? ps : left_ps;
}

/* Claims the part of each cause that these gaps have, as far as it is left. */
static int64_t draw_short(struct tm_findings *all, const struct short_gaps *gaps, struct tm_claim *claim)
{
    int64_t sum_ps = 0, drawn_ps = 0;

    for (size_t i = 0; i < gaps->causes; i++)
        sum_ps = tm_sum_times(sum_ps, left_of_short(all, gaps, i));
    if (!tm_is_worth_mention(all, sum_ps))
        return 0;
    for (size_t i = 0; i < gaps->causes; i++)
        drawn_ps =
            tm_sum_times(drawn_ps, tm_wait_explain(all, &short_waits[i].wait, 1, left_of_short(all, gaps, i), claim));
    return drawn_ps;
}

/* Programs of one or two operations are eager dispatch; longer ones are just short programs. */
static bool is_one_operation_each(const struct tm_findings *all)
{
    const int64_t programs = time_at(all, "programs.count"), operations = time_at(all, "programs.operations");

    return programs > 0 && operations > 0 && (double)operations / (double)programs <= EAGER_OPERATIONS_MOST;
}

/* Claims up to `ps` of the waits; 0 if too little is left. */
static int64_t draw(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps,
                    struct tm_claim *claim)
{
    int64_t left_ps = 0;

    for (size_t i = 0; i < count; i++)
        left_ps = tm_sum_times(left_ps, tm_wait_left(all, waits[i]));
    if (!tm_is_worth_mention(all, ps < left_ps ? ps : left_ps))
        return 0;
    return tm_wait_explain(all, waits, count, ps, claim);
}

/* JAX: many programs in a step.  If they have one operation each, all gaps under 1 ms are a consequence: launches, host
 * work and pauses.  Otherwise only the pauses between programs are. */
static void find_programs(struct tm_findings *all)
{
    static const enum tm_wait waits[] = { TM_WAIT_HOST, TM_WAIT_LAUNCH, TM_WAIT_DEVICE, TM_WAIT_UNRECORDED };
    const double per_step = tm_double(tm_path(all->summary, "programs.per_step"));
    const int64_t pauses_ps = time_at(all, "programs.pauses.total_ps");
    const bool is_eager = is_one_operation_each(all);
    const struct short_gaps gaps = short_gaps(all, true);
    struct tm_claim claim = { .ps = { 0 } };
    int64_t stake_ps;
    struct tm_finding *f;

    if (per_step < tm_limit_of(all, TM_LIMIT_PROGRAMS_PER_STEP))
        return;
    stake_ps = is_eager && gaps.total_ps > pauses_ps
                   ? draw_short(all, &gaps, &claim)
                   : draw(all, waits, sizeof(waits) / sizeof(waits[0]), pauses_ps, &claim);
    if (stake_ps <= 0)
        return;
    f = tm_finding_of_idle(all, is_eager ? "eager_dispatch" : "op_short", stake_ps, stake_ps, NULL);
    tm_finding_claim(f, &claim);
    tm_finding_case(f, "programs");
    tm_finding_value(f, per_step, "count");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_PROGRAMS_PER_STEP));
    emit_programs(all, f);
}

static bool is_of_triton(const struct tm_value *kernel)
{
    return strncmp(tm_text(tm_get(kernel, "name")), "triton_", 7) == 0;
}

/* Are kernels of torch.compile launched one by one? */
static bool is_compiled(const struct tm_findings *all)
{
    return tm_sum_rows(tm_path(all->summary, "kernels.by_name"), "count", is_of_triton) >
           time_at(all, "fusion.kernels.count") / COMPILED_PART;
}

/* PyTorch: each operation is its own launch, and the host does not stay ahead of the device. */
static void find_eager(struct tm_findings *all)
{
    /* a few long launches are a different problem */
    const struct short_gaps gaps = short_gaps(all, !tm_idle_is_of_long_launches(all));
    const int64_t launches = time_at(all, "host.launches.count"), kernels = time_at(all, "fusion.kernels.count");
    struct tm_claim claim = { .ps = { 0 } };
    int64_t stake_ps;
    struct tm_finding *f;

    if (!(all->audience & TM_FOR_TORCH) || kernels < SHORT_KERNELS_LEAST || launches < kernels / 10 * 9)
        return; /* graphs launch many kernels at once */
    if (gaps.count < SHORT_KERNELS_LEAST || gaps.count < launches / 4)
        return;
    stake_ps = draw_short(all, &gaps, &claim);
    if (stake_ps <= 0)
        return;
    f = tm_finding_of_idle(all, "eager_dispatch", stake_ps, stake_ps, NULL);
    tm_finding_claim(f, &claim);
    tm_finding_case(f, is_compiled(all) ? "compiled" : "uncompiled");
    tm_finding_emit_with(f, "launches", NULL, tm_given_int("gap_count", gaps.count),
                         tm_given_int("mean_ps", gaps.total_ps / gaps.count), tm_given_int("gap_ps", gaps.total_ps));
    tm_finding_emit_with(f, "small", NULL, tm_given_int("mean_ps", small_mean(all)));
    tm_host_emit_launches(f);
    tm_host_emit_functions(all, f, false);
    tm_finding_emit_rows(f, NULL, tm_path(all->summary, "fusion.runs.longest"), 0, PLACES);
}

/* --- ops that come back --- */

/* Launches beyond the first one in a step, as far as they are listed: an upper bound of their cost, capped by their own
 * time. */
static int64_t repeated_stake(const struct tm_findings *all, const struct tm_value *row)
{
    const int64_t extra = tm_int(tm_get(row, "count")) - tm_int(tm_get(row, "steps"));
    const int64_t total_ps = tm_int(tm_get(row, "total_ps"));
    int64_t stake_ps;

    if (extra <= 0 || tm_int(tm_get(row, "mean_ps")) >= time_at(all, "fusion.tiny.below_ps"))
        return 0;
    if (__builtin_mul_overflow(extra, time_at(all, "fusion.runs.launch_ps"), &stake_ps))
        return total_ps;
    return stake_ps < total_ps ? stake_ps : total_ps;
}

/* What fixing a row could save; 0 = nothing, so it is not reported. */
typedef int64_t stake_fn(const struct tm_findings *all, const struct tm_value *row);

static int64_t stake_of(const struct tm_findings *all, const struct tm_value *rows, stake_fn *stake)
{
    int64_t sum_ps = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        sum_ps = tm_sum_times(sum_ps, stake(all, tm_at(rows, i)));
    return sum_ps;
}

static void emit_staked(struct tm_finding *f, const char *sentence, const struct tm_findings *all,
                        const struct tm_value *rows, stake_fn *stake, size_t most)
{
    for (size_t i = 0, said = 0; i < tm_length(rows) && said < most; i++) {
        if (stake(all, tm_at(rows, i)) == 0)
            continue;
        tm_finding_emit(f, sentence, tm_at(rows, i));
        said++;
    }
}

static void find_repeated(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "fusion.repeated");
    const int64_t stake_ps = stake_of(all, rows, repeated_stake);

    if (!is_busy(all) && tm_is_worth_mention(all, stake_ps)) /* the removable part is unknown */
        emit_staked(tm_finding_of_share(all, "op_repeated", stake_ps, NULL), "op", all, rows, repeated_stake,
                    ROWS_NAMED);
}

static void find_attention(struct tm_findings *all)
{
    const struct tm_value *attention = tm_path(all->summary, "fusion.attention_unfused");
    const int64_t total_ps = tm_int(tm_get(attention, "total_ps"));
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, total_ps))
        return;
    f = tm_finding_of_time(all, "attention_unfused", total_ps);
    tm_finding_emit(f, "all", attention);
    tm_finding_emit_rows(f, "row", tm_get(attention, "rows"), ROWS_NAMED, 0);
}

static void find_layout(struct tm_findings *all)
{
    const struct tm_value *copies = tm_path(all->summary, "fusion.layout_copies");
    const int64_t total_ps = tm_int(tm_get(copies, "total_ps"));
    const double share = tm_double(tm_get(copies, "share_pct")), limit = tm_limit_of(all, TM_LIMIT_LAYOUT_COPIES);
    struct tm_finding *f;

    if (share < limit || !tm_is_worth_mention(all, total_ps))
        return;
    f = tm_finding_of_time(all, "layout_copies", total_ps);
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, limit);
    tm_finding_emit(f, "all", copies);
    tm_finding_emit_rows(f, "row", tm_get(copies, "rows"), ROWS_NAMED, 0);
}

/* --- eager chains --- */

/* Generic kernels, whose template arguments name the operation. */
static bool is_wrapper(const char *name)
{
    const size_t length = strcspn(name, "<(");

    return memmem(name, length, "elementwise", strlen("elementwise")) || memmem(name, length, "_kernel_impl", 12) ||
           memmem(name, length, "reduce_kernel", 13) || memmem(name, length, "Functor", 7) ||
           memmem(name, length, "ReduceOp", 8);
}

/* An ATen kernel has its operation at the end: "... at::native::(anonymous namespace)::silu_kernel(...". */
static void emit_eager(struct tm_finding *f, const struct tm_value *row, const char *name)
{
    static const char anonymous[] = "(anonymous namespace)::", aten[] = "at::native::";
    const char *at = name, *last = name;
    char cut[128];

    while ((at = strstr(at, aten))) {
        last = at += sizeof(aten) - 1;
        if (!is_wrapper(at)) /* the kernel itself; the types of its arguments follow */
            break;
    }
    if (strncmp(last, anonymous, sizeof(anonymous) - 1) == 0)
        last += sizeof(anonymous) - 1;
    (void)snprintf(cut, sizeof(cut), "%.*s", (int)strcspn(last, "<("), last);
    tm_finding_emit_with(f, "kernel", row, tm_given_text("operation", cut));
}

static void emit_chains(struct tm_findings *all, struct tm_finding *f, const struct tm_value *chains)
{
    const struct tm_value *rows = tm_path(all->summary, "ops.rows");
    int said = 0;

    tm_finding_emit(f, "chains", chains);
    tm_finding_emit(f, "saved", chains);
    for (size_t i = 0; i < tm_length(rows) && said < ROWS_NAMED; i++) {
        const struct tm_value *row = tm_at(rows, i), *first = tm_get(row, "first");

        if (!strstr(tm_text(tm_get(row, "name")), "at::native"))
            continue;
        said++;
        emit_eager(f, row, tm_text(tm_get(row, "name")));
        if (tm_has(first))
            tm_finding_where_row(f, first);
    }
}

/* A sum over kernels, which may overlap on several streams: capped by the total compute time. */
static void find_chains(struct tm_findings *all)
{
    const struct tm_value *chains = tm_path(all->summary, "fusion.eager_chains");
    const int64_t saved_ps = tm_int(tm_get(chains, "saved_ps")), compute_ps = time_at(all, "total.compute_ps");
    const int64_t stake_ps = saved_ps < compute_ps ? saved_ps : compute_ps;
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "elementwise_unfused", stake_ps);
    emit_chains(all, f, chains);
}

static void find_fusion(struct tm_findings *all)
{
    find_programs(all);
    find_eager(all);
    find_short(all);
    find_chains(all);
    find_repeated(all);
    find_attention(all);
    find_layout(all);
}

/* --- occupancy ---
 * Low SM occupancy, tail effect (wave quantization), and grids with fewer blocks than the device has multiprocessors.
 * Matmuls do not count as low occupancy: they keep their data in registers and shared memory and are fast with few
 * warps. */

static bool is_product(const struct tm_value *row)
{
    const char *category = tm_text(tm_get(row, "category"));

    return strcmp(category, "gemm/dot") == 0 || strcmp(category, "convolution") == 0 ||
           strcmp(category, "attention") == 0;
}

static bool is_limited_by(const struct tm_value *row, const char *limiter)
{
    return strcmp(tm_text(tm_get(row, "limiter")), limiter) == 0;
}

/* --- low occupancy --- */

/* What a kernel would save if its time scaled with its occupancy up to the limit: an upper bound. */
static int64_t low_stake(const struct tm_findings *all, const struct tm_value *row)
{
    const double aim = all->thresholds->kpi[TM_KPI_OCCUPANCY].good;
    const double occupancy = tm_double(tm_get(row, "occupancy_pct"));

    if (is_product(row) || is_limited_by(row, "grid") || occupancy >= aim)
        return 0;
    return tm_whole(tm_double(tm_get(row, "total_ps")) * (aim - occupancy) / aim);
}

static void find_low(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "occupancy.low");
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_OCCUPANCY];
    const int64_t stake_ps = kpi->has_bands && kpi->good > 0 ? stake_of(all, rows, low_stake) : 0;
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "occupancy_low", stake_ps);
    tm_finding_value(f, tm_double(tm_path(all->summary, "occupancy.mean_pct")), "%");
    tm_finding_limit(f, kpi->good);
    tm_finding_emit(f, "mean", NULL);
    emit_staked(f, "kernel", all, rows, low_stake, KERNELS_NAMED);
}

/* --- waves --- */

/* Only kernels that lose much of their own time: every kernel has a last wave. */
static int64_t tail_stake(const struct tm_findings *all, const struct tm_value *row)
{
    const bool fills_once = tm_double(tm_get(row, "waves")) >= 1;

    return fills_once && tm_double(tm_get(row, "tail_pct")) >= tm_limit_of(all, TM_LIMIT_TAIL)
               ? tm_int(tm_get(row, "lost_ps"))
               : 0;
}

static void find_tail(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "occupancy.tail.rows");
    const int64_t stake_ps = stake_of(all, rows, tail_stake);

    if (tm_is_worth_mention(all, stake_ps))
        emit_staked(tm_finding_of_time(all, "occupancy_tail", stake_ps), "waves", all, rows, tail_stake, KERNELS_NAMED);
}

/* For kernels that do not fill the device once. */
static int64_t small_stake(const struct tm_findings *all, const struct tm_value *row)
{
    (void)all;
    return tm_has(tm_get(row, "waves")) && tm_double(tm_get(row, "waves")) < 1;
}

static void find_small_grid(struct tm_findings *all)
{
    const int64_t idle_ps = tm_int(tm_path(all->summary, "occupancy.tail.idle_multiprocessors_ps"));
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, idle_ps))
        return;
    f = tm_finding_of_time(all, "occupancy_small_grid", idle_ps);
    tm_finding_emit(f, "idle", NULL);
    emit_staked(f, "waves", all, tm_path(all->summary, "occupancy.tail.rows"), small_stake, KERNELS_NAMED);
}

static void find_occupancy(struct tm_findings *all)
{
    find_low(all);
    find_tail(all);
    find_small_grid(all);
}

/* --- matmuls in 32 bits --- */

static void find_precision(struct tm_findings *all)
{
    const struct tm_value *f32 = tm_path(all->summary, "fusion.matrix.f32");
    const int64_t total_ps = tm_int(tm_get(f32, "total_ps"));
    const int64_t stake_ps = total_ps / 2; /* Tensor Cores are several times as fast, but memory is not */
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "precision_f32", stake_ps);
    tm_finding_emit_with(
        f, "all", f32,
        tm_given_double("share_pct", tm_share_pct(total_ps, tm_int(tm_path(all->summary, "fusion.kernels.total_ps")))));
    tm_finding_emit_rows(f, "product", tm_get(f32, "rows"), KERNELS_NAMED, 0);
}

void tm_find_kernels(struct tm_findings *all)
{
    find_fusion(all);
    find_occupancy(all);
    find_precision(all);
}
