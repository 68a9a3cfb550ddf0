/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives (summary.collectives, summary.total): those that nothing hides, many small ones, slow ones, and a device
 * that the others wait for. */
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/finding.h"

enum { SMALL_PER_STEP = 10, SLOW_FROM_BYTES = 1 << 20, PLACES = 3 };

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
                       tm_finding_device(f, name, tm_get(worst, "id")),
                       tm_format_time(a, tm_int(tm_get(worst, "exposed_collective_ps"))),
                       tm_format_count(b, tm_int(tm_path(worst, "collectives.count"))));
}

static const char *const overlap[TM_FIXES_OFFERED] = {
    "tpu,jax|Let products begin with the parts that are there: "
    "`LIBTPU_INIT_ARGS=\"--xla_tpu_enable_async_collective_fusion="
    "true --xla_tpu_overlap_compute_collective_tc=true\"`.",
    "tpu,jax|See in the compiled program whether the collectives are asynchronous (pairs of -start "
    "and -done) and what stands between the two: `compiled.as_text()`.",
    "gpu,jax|Let XLA put compute between begin and end of collectives: "
    "`XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true`.",
    "gpu,jax|Join small collectives: "
    "`XLA_FLAGS=\"--xla_gpu_all_reduce_combine_threshold_bytes=134217728 "
    "--xla_gpu_all_gather_combine_threshold_bytes=134217728 "
    "--xla_gpu_reduce_scatter_combine_threshold_bytes=134217728\"`.",
    "train,jax|Exchange less often: accumulate gradients over micro-batches (`optax.MultiSteps`), or "
    "reduce them in bfloat16.",
    "torch|Tensor parallelism (collectives inside each layer): split their work so that one part computes while the "
    "other "
    "is on its way: Megatron's `--sequence-parallel` and `--tp-comm-overlap`, vLLM's sequence parallelism and fused "
    "all-reduces.",
    "train,torch|DDP sends gradients in buckets while the backward pass runs: try other sizes, "
    "`DistributedDataParallel(model, bucket_cap_mb=100)` (25 if not given), and "
    "`gradient_as_bucket_view=True`.",
    "train,torch|FSDP: fetch parameters ahead, `FullyShardedDataParallel(model, forward_prefetch=True, "
    "backward_prefetch=BackwardPrefetch.BACKWARD_PRE)`; with `fully_shard`: "
    "`layer.set_modules_to_forward_prefetch([next_layer])`.",
    "torch|Begin your own collectives early and wait late: `work = dist.all_reduce(x, "
    "async_op=True)`, other work, then `work.wait()`.",
    "train,torch|Exchange less: accumulate gradients under `with model.no_sync():`, or send them in "
    "bfloat16: `model.register_comm_hook(None, default_hooks.bf16_compress_hook)`.",
    "Compare the devices: where one is late, the others wait in the collective.",
};

static const char *const near_mesh[TM_FIXES_OFFERED] = {
    "jax|Lay the mesh so that the axis with most traffic lies inside one node: the last axes of "
    "`jax.make_mesh((nodes, per_node), ('data', 'model'))`.",
    "torch|Lay the mesh so that the group with most traffic lies inside one node: the last "
    "dimension of `init_device_mesh('cuda', (nodes, per_node), mesh_dim_names=('data', "
    "'model'))`.",
};

/* The row with the most exposed time: what it is, how large, how fast. */
static void say_worst_row(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *rows = tm_path(all->summary, "collectives.rows"), *worst = NULL;
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES], d[TM_FORMAT_BYTES], size[TM_FORMAT_BYTES + 8] = "";
    char rate[TM_FORMAT_BYTES + 32] = "";

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (!worst || tm_int(tm_get(row, "exposed_ps")) > tm_int(tm_get(worst, "exposed_ps")))
            worst = row;
    }
    if (!worst || tm_int(tm_get(worst, "exposed_ps")) <= 0)
        return;
    if (tm_has(tm_get(worst, "message_bytes")))
        (void)snprintf(size, sizeof(size), " of %s", tm_format_bytes(a, tm_double(tm_get(worst, "message_bytes"))));
    if (tm_has(tm_get(worst, "bus_bandwidth")))
        (void)snprintf(rate, sizeof(rate), ", %s on the bus",
                       tm_format_rate(a, tm_double(tm_get(worst, "bus_bandwidth"))));
    tm_finding_say(f, "Most in %s%s: %s exposed in %s, %s each, %s overlap%s.", tm_text(tm_get(worst, "kind")), size,
                   tm_format_time(a, tm_int(tm_get(worst, "exposed_ps"))),
                   tm_format_count(b, tm_int(tm_get(worst, "count"))),
                   tm_format_time(c, tm_int(tm_get(worst, "mean_ps"))),
                   tm_format_pct(d, tm_double(tm_get(worst, "overlap_pct"))), rate);
}

/* The chosen steps with the most exposed time, the longest first. */
static void point_at_steps(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *list = tm_path(all->summary, "steps.list"), *said[PLACES] = { NULL };

    for (int n = 0; n < PLACES; n++) {
        const struct tm_value *worst = NULL;
        int64_t worst_ps = 0;

        for (size_t i = 0; i < tm_length(list); i++) {
            const struct tm_value *step = tm_at(list, i);
            const int64_t ps = tm_int(tm_get(step, "exposed_collective_ps"));

            if (ps > worst_ps && tm_is(tm_get(step, "chosen")) && step != said[0] && step != said[1]) {
                worst = step;
                worst_ps = ps;
            }
        }
        said[n] = worst;
        if (!worst)
            return;
        tm_finding_where(f, tm_int(tm_get(worst, "begin_ps")), tm_int(tm_get(worst, "period_ps")),
                         tm_text(tm_get(worst, tm_has(tm_get(worst, "device")) ? "device" : "host")));
    }
}

static void find_exposed(struct tm_findings *all)
{
    const int64_t exposed_ps = tm_int(tm_path(all->summary, "total.exposed_collective_ps"));
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_EXPOSED_COLLECTIVE];
    const int64_t left_ps = tm_wait_left(all, TM_WAIT_COLLECTIVE), told_ps = all->told_ps[TM_WAIT_COLLECTIVE];
    const int64_t total_ps = tm_int(tm_path(all->summary, "total.collective_ps"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, left_ps) || (kpi->has_bands && tm_share_pct(left_ps, all->window_ps) < kpi->good))
        return; /* some are in every run of several devices */
    f = tm_finding_of_time(all, "collective_exposed", left_ps);
    tm_finding_title(f, "Collectives run with nothing beside them");
    tm_finding_cause(f, "The devices exchange data and have no other "
               "work meanwhile; or they wait in the collective for the last one to arrive.");
    tm_finding_say(f, "%s of %s of collective time has no compute beside it; %s overlap.",
                   tm_format_time(a, exposed_ps), tm_format_time(b, total_ps),
                   tm_format_pct(c, 100 - tm_share_pct(exposed_ps, total_ps)));
    if (told_ps > 0)
        tm_finding_say(f,
                       "%s of it are waits for a device that comes late; they are told by themselves and not counted "
                       "here.",
                       tm_format_time(a, told_ps));
    say_worst_row(all, f);
    say_worst_exposed(all, f);
    point_at_steps(all, f);
    tm_finding_fixes(f, overlap);
    if (tm_length(tm_path(all->summary, "input.hosts")) > 1)
        tm_finding_fixes(f, near_mesh);
}

/* --- small messages --- */

static const char *const join[TM_FIXES_OFFERED] = {
    "gpu,jax|Let XLA join them: `XLA_FLAGS=\"--xla_gpu_all_reduce_combine_threshold_bytes=134217728 "
    "--xla_gpu_all_gather_combine_threshold_bytes=134217728 "
    "--xla_gpu_reduce_scatter_combine_threshold_bytes=134217728\"`.",
    "train,jax|Reduce a whole tree at once: one `jax.lax.psum(grads, axis)` over the tree of gradients, not one for "
    "each "
    "leaf in a loop; metrics in one array.",
    "train,torch|Larger buckets: `DistributedDataParallel(model, bucket_cap_mb=100)`, and for FSDP wrap larger blocks "
    "(`size_based_auto_wrap_policy`, or a layer at a time instead of each module).",
    "torch|Send many tensors at once: `torch.distributed.all_reduce_coalesced`, or one flat buffer; reduce metrics in "
    "one tensor, every N steps.",
    "Exchange less often: accumulate, and reduce once.",
};

/* Rows with small messages: sums over them. */
struct small {
    int64_t count, exposed_ps, total_ps;
    const struct tm_value *most; /* the one with most calls */
};

static void add_small(struct small *s, const struct tm_value *row, double below_bytes)
{
    const struct tm_value *bytes = tm_get(row, "message_bytes");

    if (!tm_has(bytes) || tm_double(bytes) >= below_bytes)
        return;
    s->count = tm_sum_times(s->count, tm_int(tm_get(row, "count")));
    s->exposed_ps = tm_sum_times(s->exposed_ps, tm_int(tm_get(row, "exposed_ps")));
    s->total_ps = tm_sum_times(s->total_ps, tm_int(tm_get(row, "total_ps")));
    if (!s->most || tm_int(tm_get(row, "count")) > tm_int(tm_get(s->most, "count")))
        s->most = row;
}

static void find_small(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "collectives.rows");
    const double limit_bytes = tm_limit_of(all, TM_LIMIT_SMALL_MESSAGE) * 1024;
    const double steps = tm_double(tm_path(all->summary, "steps.chosen"));
    const double devices = (double)tm_length(tm_get(all->summary, "devices"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct small s = { .count = 0 };
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++)
        add_small(&s, tm_at(rows, i), limit_bytes);
    if ((double)s.count < SMALL_PER_STEP * (steps > 1 ? steps : 1) * (devices > 1 ? devices : 1) ||
        !tm_is_worth_mention(all, s.exposed_ps))
        return;
    f = tm_finding_of_share(all, "collective_small", TM_INFO, s.exposed_ps); /* at stake as exposed time */
    tm_finding_title(f, "Many collectives with small messages");
    tm_finding_cause(
        f, "A collective costs its latency on every device, however little it moves: tens of microseconds inside a "
           "node, more between nodes. Small messages never get near the bandwidth of the links.");
    tm_finding_say(f, "%s collectives with messages under %s take %s.", tm_format_count(a, s.count),
                   tm_format_bytes(b, limit_bytes), tm_format_time(c, s.total_ps));
    tm_finding_say(f, "Most are %s of %s: %s, %s each.", tm_text(tm_get(s.most, "kind")),
                   tm_format_bytes(a, tm_double(tm_get(s.most, "message_bytes"))),
                   tm_format_count(b, tm_int(tm_get(s.most, "count"))),
                   tm_format_time(c, tm_int(tm_get(s.most, "mean_ps"))));
    tm_finding_fixes(f, join);
}

/* --- slow links --- */

static const char *const links[TM_FIXES_OFFERED] = {
    "Look at the late arrivals first: a device that waits inside a collective makes it look slow. Profile all ranks at "
    "once, so that it can be told.",
    "gpu|See which way the data go: `NCCL_DEBUG=INFO` prints the transport of each pair (P2P, SHM, NET), `nvidia-smi "
    "topo -m` the links; PCIe or TCP in place of NVLink or InfiniBand is 5 to 50 times slower.",
    "gpu|Measure the links alone with nccl-tests (`all_reduce_perf -b 1M -e 1G -f 2`): is it the same without the "
    "program?",
    "gpu,jax|Lay the mesh so that the axis with most traffic lies inside one node.",
    "gpu,torch|Keep the group with most traffic inside one node: the last dimension of `init_device_mesh`.",
    "tpu|Lay the mesh after the torus: `jax.make_mesh` does, an own order of `jax.devices()` may not.",
};

static void find_slow(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "collectives.rows"), *worst = NULL;
    const double limit = tm_limit_of(all, TM_LIMIT_BUS_BANDWIDTH) * 1e9;
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    int64_t stake_ps = 0, worst_ps = 0;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);
        const double rate = tm_double(tm_get(row, "bus_bandwidth"));
        int64_t lost_ps;

        if (!tm_has(tm_get(row, "bus_bandwidth")) || rate >= limit ||
            tm_double(tm_get(row, "message_bytes")) < SLOW_FROM_BYTES)
            continue;
        lost_ps = tm_whole((double)tm_int(tm_get(row, "exposed_ps")) * (1 - rate / limit));
        stake_ps = tm_sum_times(stake_ps, lost_ps);
        if (!worst || lost_ps > worst_ps) {
            worst = row;
            worst_ps = lost_ps;
        }
    }
    if (!worst || tm_has(tm_path(all->summary, "collectives.skew.straggler")) || !tm_is_worth_mention(all, stake_ps) ||
        tm_ask_is_platform(all->summary, "cpu")) /* threads of one process have no links */
        return;
    f = tm_finding_of_share(all, "collective_slow", TM_INFO, stake_ps); /* at stake as exposed time */
    tm_finding_title(f, "Large collectives move their data slowly");
    tm_finding_cause(f, "The links between the devices are slow, or a device comes late and the others wait inside the "
               "collective: its time counts as theirs.");
    tm_finding_say(f, "%s of %s: %s on the bus, in %s of them.", tm_text(tm_get(worst, "kind")),
                   tm_format_bytes(a, tm_double(tm_get(worst, "message_bytes"))),
                   tm_format_rate(b, tm_double(tm_get(worst, "bus_bandwidth"))),
                   tm_format_count(c, tm_int(tm_get(worst, "count"))));
    tm_finding_say(f, "At %s they would take %s less.", tm_format_rate(a, limit), tm_format_time(b, stake_ps));
    tm_finding_fixes(f, links);
}

/* --- stragglers --- */

static const char *const hurry[TM_FIXES_OFFERED] = {
    "Look at what the late device does before these collectives (the times below, in its own profile): input, host "
    "code, launches.",
    "torch|Take work that only one rank does out of the step (logging, `x.item()`, files, progress bars): all "
    "others wait for it.",
    "jax|Take work that only one process does out of the step (`if jax.process_index() == 0`: logging, files, "
    "`float(x)`): all others wait for it.",
    "If it computes longer for the same kernels (see Balance), look at its clocks, power and temperature.",
    "If it has more work (longer sequences, more examples, a larger pipeline stage), balance the data.",
};

/* What the other members have, of which `late` is not one. */
struct others {
    int64_t count, late_ps, late_max_ps, collective_least_ps, collective_most_ps;
};

static const struct tm_value *find_members(const struct tm_value *skew, const char *straggler, struct others *o)
{
    const struct tm_value *members = tm_get(skew, "members"), *late = NULL;

    *o = (struct others){ .collective_least_ps = INT64_MAX };
    for (size_t i = 0; i < tm_length(members); i++) {
        const struct tm_value *m = tm_at(members, i);
        const int64_t late_ps = tm_int(tm_get(m, "late_ps")), own_ps = tm_int(tm_get(m, "collective_ps"));

        if (strcmp(tm_text(tm_get(m, "device")), straggler) == 0) {
            late = m;
            continue;
        }
        if (!tm_int(tm_get(m, "count")))
            continue;
        o->count++;
        o->late_ps = tm_sum_times(o->late_ps, late_ps);
        o->late_max_ps = late_ps > o->late_max_ps ? late_ps : o->late_max_ps;
        o->collective_least_ps = own_ps < o->collective_least_ps ? own_ps : o->collective_least_ps;
        o->collective_most_ps = own_ps > o->collective_most_ps ? own_ps : o->collective_most_ps;
    }
    return o->count ? late : NULL;
}

/* What the others would wait less, as far as nothing else runs there meanwhile.  Where it comes late as it has more
 * work, that is told as imbalance, the first to explain exposed collectives. */
static int64_t stake_of(const struct tm_findings *all, const struct tm_value *late)
{
    const struct tm_value *summary = all->summary, *devices = tm_get(summary, "devices");
    const int64_t caused_ps = tm_int(tm_get(late, "caused_ps"));
    int64_t exposed_ps = 0;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);

        if (strcmp(tm_text(tm_get(d, "id")), tm_text(tm_get(late, "device"))) != 0)
            exposed_ps = tm_sum_times(exposed_ps, tm_int(tm_get(d, "exposed_collective_ps")));
    }
    exposed_ps = caused_ps < exposed_ps ? caused_ps : exposed_ps;
    if (strcmp(tm_text(tm_path(summary, "balance.slowest")), tm_text(tm_get(late, "device"))) == 0)
        exposed_ps -= all->told_ps[TM_WAIT_COLLECTIVE];
    return exposed_ps > 0 ? exposed_ps : 0;
}

static void say_lateness(struct tm_finding *f, const struct tm_value *late, const struct others *o)
{
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES], d[TM_FORMAT_BYTES];

    tm_finding_say(f, "%s comes last in %s of %s collectives, in all %s after the first one; the others %s on average.",
                   tm_finding_device(f, name, tm_get(late, "device")),
                   tm_format_count(a, tm_int(tm_get(late, "last_count"))),
                   tm_format_count(b, tm_int(tm_get(late, "count"))),
                   tm_format_time(c, tm_int(tm_get(late, "late_ps"))), tm_format_time(d, o->late_ps / o->count));
    tm_finding_say(f, "The others would wait %s less had it come with the last but one.",
                   tm_format_time(a, tm_int(tm_get(late, "caused_ps"))));
    tm_finding_say(f, "It spends %s in collectives, the others %s to %s: who comes last waits least.",
                   tm_format_time(a, tm_int(tm_get(late, "collective_ps"))),
                   tm_format_time(b, o->collective_least_ps), tm_format_time(c, o->collective_most_ps));
}

/* Its latest arrivals: what it did until then. */
static void point_at_arrivals(struct tm_finding *f, const struct tm_value *worst, const char *straggler)
{
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES], first[TM_SHORT_NAME_BYTES], step[40] = "";
    int said = 0;

    for (size_t i = 0; i < tm_length(worst); i++) {
        const struct tm_value *row = tm_at(worst, i);
        const int64_t skew_ps = tm_int(tm_get(row, "skew_ps")), begin_ps = tm_int(tm_get(row, "begin_ps"));

        if (strcmp(tm_text(tm_get(row, "last")), straggler) != 0)
            continue;
        if (tm_has(tm_get(row, "step")))
            (void)snprintf(step, sizeof(step), " in step %lld", (long long)tm_int(tm_get(row, "step")));
        if (said++ < 2)
            tm_finding_say(f, "%s '%s' number %lld%s: %s after %s, at %s.", tm_text(tm_get(row, "kind")),
                           tm_short_name(name, tm_text(tm_get(row, "name"))),
                           (long long)tm_int(tm_get(row, "ordinal")), step, tm_format_time(a, skew_ps),
                           tm_finding_device(f, first, tm_get(row, "first")), tm_format_moment(b, begin_ps));
        tm_finding_where(f, begin_ps < INT64_MIN + skew_ps ? INT64_MIN : begin_ps - skew_ps, skew_ps, straggler);
    }
}

static void find_straggler(struct tm_findings *all)
{
    static const enum tm_wait wait = TM_WAIT_COLLECTIVE;
    const struct tm_value *skew = tm_path(all->summary, "collectives.skew");
    const char *straggler = tm_text(tm_get(skew, "straggler"));
    struct others others;
    const struct tm_value *late = find_members(skew, straggler, &others);
    char name[TM_SHORT_NAME_BYTES];
    double times;
    int64_t stake_ps;
    struct tm_finding *f;

    if (!*straggler || !late)
        return;
    stake_ps = stake_of(all, late);
    times = (double)tm_int(tm_get(late, "late_ps")) * (double)others.count / (double)(others.late_ps + 1);
    if (times < tm_limit_of(all, TM_LIMIT_STRAGGLER) || !tm_is_worth_mention(all, stake_ps))
        return;
    (void)tm_wait_explain(all, &wait, 1, stake_ps);
    f = tm_finding_of_time(all, "straggler", stake_ps);
    tm_finding_title(f, "The others wait for %s", tm_finding_device(f, name, tm_get(skew, "straggler")));
    tm_finding_cause(f, "Nobody can leave a collective before the last one has come. The others wait in it, and their "
               "collectives look long although their links are not slow.");
    say_lateness(f, late, &others);
    point_at_arrivals(f, tm_get(skew, "worst"), straggler);
    tm_finding_fixes(f, hurry);
}

void tm_find_collectives(struct tm_findings *all)
{
    find_straggler(all);
    find_exposed(all);
    find_small(all);
    find_slow(all);
}
