/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices (summary.total, summary.devices): collectives that nothing
 * hides, uneven work, and one device that needs longer for the same work. */
#include <string.h>

#include "reports/findings/finding.h"

static void say_worst_exposed(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *devices = tm_get(all->summary, "devices"), *worst = NULL;
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);

        if (!worst || tm_int(tm_get(d, "exposed_collective_ps")) >
                          tm_int(tm_get(worst, "exposed_collective_ps")))
            worst = d;
    }
    if (worst && tm_length(devices) > 1)
        tm_finding_say(f, "Most on %s: %s in %s collectives.",
                       tm_short_name(name, tm_text(tm_get(worst, "id"))),
                       tm_format_time(a, tm_int(tm_get(worst, "exposed_collective_ps"))),
                       tm_format_count(b, tm_int(tm_path(worst, "collectives.count"))));
}

static const char *const overlap[TM_FIXES_OFFERED] = {
    "tpu,jax|See in the compiled program whether the collectives are asynchronous (pairs of -start "
    "and -done) and what stands between the two: `compiled.as_text()`.",
    "gpu,jax|Let XLA put compute between begin and end of collectives: "
    "`XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true`.",
    "gpu,jax|Join small collectives: "
    "`XLA_FLAGS=\"--xla_gpu_all_reduce_combine_threshold_bytes=134217728 "
    "--xla_gpu_all_gather_combine_threshold_bytes=134217728 "
    "--xla_gpu_reduce_scatter_combine_threshold_bytes=134217728\"`.",
    "jax|Exchange less often: accumulate gradients over micro-batches (`optax.MultiSteps`), or "
    "reduce them in bfloat16.",
    "jax|Lay the mesh so that the axis with most traffic lies inside one node: the last axes of "
    "`jax.make_mesh((nodes, per_node), ('data', 'model'))`.",
    "torch|DDP sends gradients in buckets while the backward pass runs: try other sizes, "
    "`DistributedDataParallel(model, bucket_cap_mb=100)` (25 if not given), and "
    "`gradient_as_bucket_view=True`.",
    "torch|FSDP: fetch parameters ahead, `FullyShardedDataParallel(model, forward_prefetch=True, "
    "backward_prefetch=BackwardPrefetch.BACKWARD_PRE)`; with `fully_shard`: "
    "`layer.set_modules_to_forward_prefetch([next_layer])`.",
    "torch|Begin your own collectives early and wait late: `work = dist.all_reduce(x, "
    "async_op=True)`, other work, then `work.wait()`.",
    "torch|Exchange less: accumulate gradients under `with model.no_sync():`, or send them in "
    "bfloat16: `model.register_comm_hook(None, default_hooks.bf16_compress_hook)`.",
    "torch|Lay the mesh so that the group with most traffic lies inside one node: the last "
    "dimension of `init_device_mesh('cuda', (nodes, per_node), mesh_dim_names=('data', "
    "'model'))`.",
    "Compare the devices: where one is late, the others wait in the collective.",
};

static void find_exposed(struct tm_findings *all)
{
    const int64_t exposed_ps = tm_int(tm_path(all->summary, "total.exposed_collective_ps"));
    const int64_t total_ps = tm_int(tm_path(all->summary, "total.collective_ps"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, exposed_ps))
        return;
    f = tm_finding_of_time(all, "collective_exposed", exposed_ps);
    tm_finding_title(f, "Collectives run with nothing beside them");
    f->cause = "The devices exchange data (gradients, activations, parameters) and have no other "
               "work meanwhile; or they wait in the collective for the last one to arrive.";
    tm_finding_say(f, "%s of %s of collective time has no compute beside it; %s overlap.",
                   tm_format_time(a, exposed_ps), tm_format_time(b, total_ps),
                   tm_format_pct(c, 100 - tm_share_pct(exposed_ps, total_ps)));
    say_worst_exposed(all, f);
    tm_finding_fixes(f, overlap);
}

/* Compute times of the devices that compute. */
struct loads {
    int64_t count;
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

static void load_up(const struct tm_value *devices, struct loads *l)
{
    memset(l, 0, sizeof(*l));
    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);
        const int64_t compute_ps = tm_int(tm_get(d, "compute_ps"));

        if (compute_ps <= 0)
            continue;
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
}

/* Does the slowest device do as many kernels as the mean of the others, within 1 %? */
static bool is_same_work(const struct loads *l)
{
    const double own = (double)work_of(l->most), others = (l->work - own) / (double)(l->count - 1);

    return own > 0 && own <= others * 1.01 && own >= others * 0.99;
}

static void fix_slow(struct tm_finding *f)
{
    tm_finding_fix(f, "Look at that device while the job runs: clocks, power limit, temperature "
                      "and other processes (`nvidia-smi -q -d CLOCK,PERFORMANCE,POWER`, or the "
                      "tools of your vendor).");
    tm_finding_fix(f, "Run the same job with the device left out (`CUDA_VISIBLE_DEVICES`), or "
                      "with devices exchanged: does the slow place move with the device, or stay "
                      "with the rank?");
    tm_finding_fix(
        f, "See whether its data differ: sparse or ragged inputs make the same kernels longer.");
}

static void fix_uneven(struct tm_finding *f)
{
    tm_finding_fix(f, "jax|See how the arrays lie: `jax.debug.visualize_array_sharding(x)`, and shard "
                      "along an axis that divides evenly; XLA pads the rest.");
    tm_finding_fix(f, "Balance the data: equal token counts per device (packing), not equal "
                      "numbers of examples.");
    tm_finding_fix(
        f,
        "Pipeline stages or experts: move layers to the devices with less work, and give experts "
        "a capacity limit.");
}

/* By compute time, not by busy time: who waits in a collective for a late device is busy too. */
static void find_uneven(struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_IMBALANCE];
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    double pct;
    int64_t stake_ps;
    struct tm_finding *f;
    struct loads l;

    load_up(tm_get(all->summary, "devices"), &l);
    if (!kpi->has_bands || l.count < 2)
        return;
    pct = 100 * ((double)l.most_ps * (double)l.count / l.sum_ps - 1);
    stake_ps = tm_whole((double)l.most_ps * (double)l.count - l.sum_ps);
    if (pct < kpi->good || !tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, is_same_work(&l) ? "slow_device" : "imbalance", stake_ps);
    tm_finding_title(f, is_same_work(&l) ? "One device needs longer for the same work"
                                         : "The devices have unequal work");
    tm_finding_value(f, pct, "%");
    tm_finding_limit(f, kpi->good);
    f->cause = "Devices that work together go at the pace of the slowest one; the others wait for "
               "it in collectives or idle.";
    tm_finding_say(f, "%s computes for %s, with %s %s.",
                   tm_short_name(name, tm_text(tm_get(l.most, "id"))), tm_format_time(a, l.most_ps),
                   tm_format_count(b, work_of(l.most)),
                   tm_int(tm_path(l.most, "kernels.count")) > 0 ? "kernels" : "operations");
    tm_finding_say(f, "%s computes for %s, with %s.",
                   tm_short_name(name, tm_text(tm_get(l.least, "id"))),
                   tm_format_time(a, l.least_ps), tm_format_count(b, work_of(l.least)));
    tm_finding_say(f, "The %lld devices compute for %s on average.", (long long)l.count,
                   tm_format_time(a, tm_whole(l.sum_ps / (double)l.count)));
    if (is_same_work(&l))
        fix_slow(f);
    else
        fix_uneven(f);
}

void tm_find_balance(struct tm_findings *all)
{
    find_exposed(all);
    find_uneven(all);
}
