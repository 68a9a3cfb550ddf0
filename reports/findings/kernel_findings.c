/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels tell (summary.kernels): very many short ones. */
#include "reports/findings/idle.h"

enum { SHORT_KERNELS_LEAST = 100 }; /* fewer kernels than that cannot be called many */
#define PS_PER_MS 1e9
#define PS_PER_US 1e6

/* On a TPU or a CPU the table holds operations, which are not launched one by one. */
static bool has_kernels(const struct tm_findings *all)
{
    return !tm_ask_is_platform(all->summary, "tpu") && !tm_ask_is_platform(all->summary, "cpu");
}

bool tm_has_short_kernels(const struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_KERNEL_DURATION];
    const struct tm_value *mean = tm_path(all->summary, "kernels.weighted_mean_ps");

    return tm_has(mean) && kpi->has_bands && has_kernels(all) &&
           tm_double(mean) / PS_PER_MS < kpi->bad &&
           tm_int(tm_path(all->summary, "kernels.count")) >= SHORT_KERNELS_LEAST;
}

bool tm_waits_are_short(const struct tm_findings *all)
{
    const struct tm_value *waits = tm_path(all->summary, "gaps.by_cause.device_wait");
    const int64_t count = tm_int(tm_get(waits, "count"));

    return count > 0 && tm_double(tm_get(waits, "total_ps")) / (double)count <
                            tm_limit_of(all, TM_LIMIT_SHORT_GAP) * PS_PER_US;
}

/* How much of the listed kernel time is in short ones: a lower bound, as rows past the cap are not
 * looked at. */
static void say_short_rows(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *rows = tm_path(all->summary, "kernels.rows");
    const double below_ps = all->thresholds->kpi[TM_KPI_KERNEL_DURATION].bad * PS_PER_MS;
    double count = 0, total_ps = 0;
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (tm_double(tm_get(row, "mean_ps")) < below_ps) {
            count += tm_double(tm_get(row, "count"));
            total_ps += tm_double(tm_get(row, "total_ps"));
        }
    }
    if (count > 0 && total_ps > 0)
        tm_finding_say(
            f, "At least %s of them, with %s of the kernel time, are shorter than %s on average.",
            tm_format_count(a, tm_whole(count)),
            tm_format_pct(b, 100 * total_ps / tm_double(tm_path(all->summary, "kernels.total_ps"))),
            tm_format_time(c, tm_whole(below_ps)));
}

/* A device that is busy in spite of short kernels is no bad case. */
static bool is_busy(const struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_DEVICE_UTILIZATION];

    return kpi->has_bands && tm_double(tm_path(all->summary, "total.utilization_pct")) > kpi->good;
}

static const char *const fewer_kernels[TM_FIXES_OFFERED] = {
    "jax|Jit larger functions: one `jax.jit` around the whole step gives XLA more to fuse.",
    "jax|Replace Python loops over layers or time by `jax.lax.scan`, and loops over examples by "
    "`jax.vmap`.",
    "jax|Flatten small parameters for the optimizer: `optax.flatten(optimizer)` updates them as one "
    "array.",
    "gpu,jax|On NVIDIA GPUs let XLA record more into CUDA graphs: "
    "`XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL`.",
    "torch|Fuse operations: `model = torch.compile(model)`.",
    "gpu,torch|Replay them as CUDA graphs: `torch.compile(model, mode=\"reduce-overhead\")`, or "
    "`torch.cuda.make_graphed_callables` for parts of fixed shape.",
    "torch|Update all parameters in few kernels: `torch.optim.AdamW(params, fused=True)`.",
    "torch,other|Give each kernel more work: a larger batch, one operation on many rows instead of "
    "a loop.",
};

static void find_short(struct tm_findings *all)
{
    const int64_t waits_ps = tm_waits_are_short(all) ? tm_idle_of(all, "device_wait") : 0;
    const int64_t count = tm_int(tm_path(all->summary, "kernels.count"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_has_short_kernels(all))
        return;
    f = tm_finding_of_time(all, "kernel_short", waits_ps);
    if (is_busy(all))
        f->severity = TM_INFO;
    tm_finding_title(f, "Very many short kernels");
    tm_finding_value(f, tm_double(tm_path(all->summary, "kernels.weighted_mean_ps")) / PS_PER_MS,
                     "ms");
    tm_finding_limit(f, all->thresholds->kpi[TM_KPI_KERNEL_DURATION].bad);
    tm_finding_cause(f, "jax|XLA did not fuse these operations, or they were run outside of jit. "
                        "Each kernel costs a launch and a pause, and its intermediate results go "
                        "through device memory.");
    tm_finding_cause(f, "torch|Without `torch.compile` each operation is a kernel or several. Each "
                        "costs a launch and a pause, and its intermediate results go through "
                        "device memory.");
    tm_finding_cause(f, "Each kernel costs a launch and a pause, and its intermediate results go "
                        "through device memory.");
    tm_finding_say(f, "%s kernels of %s on average; weighted by their time %s.",
                   tm_format_count(a, count),
                   tm_format_time(b, tm_int(tm_path(all->summary, "kernels.mean_ps"))),
                   tm_format_time(c, tm_int(tm_path(all->summary, "kernels.weighted_mean_ps"))));
    say_short_rows(all, f);
    if (waits_ps > 0) {
        tm_finding_say(f, "Pauses between launched kernels take %s, %s of the window.",
                       tm_format_time(a, waits_ps),
                       tm_format_pct(b, tm_share_pct(waits_ps, all->window_ps)));
        tm_idle_say_gaps(all, f, "device_wait");
    }
    tm_finding_fixes(f, fewer_kernels);
}

void tm_find_kernels(struct tm_findings *all)
{
    find_short(all);
}
