/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that the device waits for (summary.transfers, summary.total): per direction, repeated in
 * every step, from pageable memory, and back and forth between host and device.  What is at stake
 * is exposed copy time, in the finding on its direction: a copy beside a kernel costs nothing that the window shows.
 * The others say which of these copies need not be, without counting their time once more. */
#include <assert.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/finding.h"

#define BYTES_PER_MIB 1048576.0

struct advice {
    const char *direction; /* as in transfers.by_direction */
    const char *id;
    const char *title;
    const char *why[TM_CAUSES_OFFERED];
    const char *fix[TM_FIXES_OFFERED];
};

static const struct advice advices[] = {
    { "h2d",
      "transfer_h2d",
      "The device waits for copies from the host",
      { "Batches, constants or parameters are copied to the device when they are needed, and "
        "nothing runs beside the copy." },
      { "jax|Copy the next batch while the step runs: `nxt = jax.device_put(next(it), sharding)` "
        "right after the step has been called.",
        "jax|Put what does not change on the device once, before the loop: `consts = "
        "jax.device_put(consts)`, and pass it to the jitted function; NumPy arrays among the "
        "arguments are copied at every call.",
        "jax|Copy less: send uint8 images or token ids and convert on the device, make random "
        "numbers there with `jax.random`.",
        "jax|Find copies you did not mean: `with "
        "jax.transfer_guard_host_to_device('disallow'):` around the loop.",
        "torch|Copy from pinned memory, beside the step: `DataLoader(..., pin_memory=True)`, then "
        "`batch = batch.to('cuda', non_blocking=True)`.",
        "torch|Put what does not change on the device once: `self.register_buffer('mask', mask)`; "
        "make new tensors there: `torch.arange(n, device='cuda')`.",
        "torch|Copy less: send uint8 images or token ids and convert on the device.",
        "other|Copy ahead of the use, beside other work, and what does not change only once." } },
    { "d2h",
      "transfer_d2h",
      "The device waits for copies to the host",
      { "Results are copied to the host inside the loop, and nothing runs beside the copy." },
      { "jax|Keep intermediate results on the device: `jax.numpy` instead of `numpy` on them, no "
        "`np.asarray(x)` and no `.tolist()` in the loop.",
        "torch|Keep intermediate results on the device: no `.cpu()`, `.numpy()`, `.item()` and no "
        "`.tolist()` in the loop.",
        "Reduce before you copy: a mean, not the values of the whole batch; every 50 steps, "
        "not every step.",
        "jax|Start copies early and read them late: `x.copy_to_host_async()`, then "
        "`np.asarray(x)` one step later.",
        "train,jax|Save checkpoints in the background (`orbax.checkpoint.AsyncCheckpointer`).",
        "torch|Copy beside other work: `pinned.copy_(x, non_blocking=True)` into a tensor made "
        "with `pin_memory=True`, then record a `torch.cuda.Event` and read one step later.",
        "train,torch|Save checkpoints in the background: `torch.distributed.checkpoint.async_save`." } },
    { "p2p",
      "transfer_p2p",
      "Devices wait for copies between devices",
      { "Arrays are moved from one device to another outside of collectives, and nothing runs "
        "beside the copy." },
      { "jax|See which arrays change their sharding between jitted calls: `x.sharding` before and "
        "after; give `jax.jit(f, in_shardings=..., out_shardings=...)` the same sharding on both "
        "sides.",
        "jax|Keep one layout for the whole step with `jax.lax.with_sharding_constraint`.",
        "torch|Keep a layer and its inputs on one device: look for `.to('cuda:1')` and the like "
        "between layers, and for `torch.nn.DataParallel`.",
        "torch,other|Keep data on the device that works on it." } },
    { "d2d",
      "transfer_d2d",
      "Copies inside the device are not hidden",
      { "jax|Buffers are copied within the device: arguments that a jitted function returns "
        "changed but may not overwrite, slices that are written back, loop state that changes its "
        "place.",
        "torch|Tensors are copied within the device: `.clone()`, `.contiguous()` of a transposed "
        "view, `torch.cat`, or values that are put into other tensors.",
        "Buffers are copied within the device." },
      { "jax|Donate what the step replaces: `jax.jit(step, donate_argnums=0)`; XLA then updates it "
        "in place.",
        "jax|Keep updates inside jit: `x.at[i].set(y)` copies the whole array outside of it.",
        "jax|Look for copies in `jax.jit(step).lower(state, batch).compile().as_text()`: the "
        "operand tells which array it is.",
        "torch|Copy less: views instead of `.clone()`, one memory format throughout "
        "(`torch.channels_last`), results written into their place (`out=`) instead of "
        "`torch.cat`.",
        "torch|Find the lines: `torch.profiler.profile(..., with_stack=True)` names the calls "
        "around each copy.",
        "torch,other|Look at the copies named here in a trace viewer: what runs before and after "
        "tells what they belong to." } },
    { "other",
      "transfer_other",
      "Copies are not hidden",
      { "Copies of a direction that the profile does not tell run while nothing else does." },
      { "Look at the copies named here in a trace viewer: what runs before and after tells what "
        "they belong to." } },
};

/* On a TPU a copy beside the core is asynchronous, and what shows is the core waiting for its end.
 */
static const struct advice tpu_advices[] = {
    { "h2d",
      "transfer_h2d",
      "The cores wait for data from host memory",
      { "train|Operations need arrays that lie in host memory (offloaded parameters, activations or "
        "optimizer state), and the copies are not there in time.",
        "Operations need arrays that lie in host memory (offloaded parameters, a cache of keys and values, inputs), "
        "and "
        "the copies are not there in time." },
      { "jax|Keep in device memory what every step needs: `jax.device_put(x, "
        "x.sharding.with_memory_kind('device'))`.",
        "train,jax|Offload only what is needed late, so that other layers hide the copy: "
        "`jax.checkpoint_policies.save_and_offload_only_these_names(...)`, or optimizer state "
        "alone.",
        "jax|See in `compiled.as_text()` how much work stands between the -start and the -done of "
        "these copies.",
        "torch,other|Keep in device memory what every step needs, and offload only what is needed "
        "late." } },
    { "d2h",
      "transfer_d2h",
      "The cores wait for data to reach host memory",
      { "train|Results, or activations that are offloaded, are copied to host memory, and the program "
        "waits for the end of the copy.",
        "Results are copied to host memory, and the program waits for the end of the copy." },
      { "Offload less, or smaller types: bfloat16 instead of float32 halves the time.",
        "jax|Bring results to the host every N steps, and read them one step later with "
        "`x.copy_to_host_async()`.",
        "jax|See in `compiled.as_text()` how much work stands between the -start and the -done of "
        "these copies." } },
    { "p2p",
      "transfer_p2p",
      "The cores wait for copies between devices",
      { "Arrays are moved from one device to another outside of collectives, and nothing runs "
        "beside the copy." },
      { "jax|See which arrays change their sharding: `jax.debug.visualize_array_sharding(x)`, and "
        "keep one layout with `jax.lax.with_sharding_constraint`.",
        "torch,other|Keep one layout of the arrays for the whole step." } },
    { "d2d",
      "transfer_d2d",
      "The cores wait for copies between their memories",
      { "Data did not arrive in on-chip memory before it was needed: these operations are bound by "
        "memory bandwidth, or too little work stands between the begin of the copy and its use." },
      { "Read less: smaller types, larger batches per operation, recomputing instead of reading.",
        "jax|In Pallas kernels overlap copies and work with `pltpu.emit_pipeline`." } },
    { "other",
      "transfer_other",
      "The cores wait for copies",
      { "The program waits for copies whose direction its text does not tell." },
      { "jax|See in `compiled.as_text()` what the -done operations named here belong to.",
        "torch,other|Look at the operations named here in a trace viewer: what runs before and "
        "after tells what they belong to." } },
};

static_assert(sizeof(advices) == sizeof(tpu_advices), "a row per direction in both");

static const struct tm_value *row_of(const struct tm_findings *all, const char *direction)
{
    const struct tm_value *rows = tm_path(all->summary, "transfers.by_direction");

    for (size_t i = 0; i < tm_length(rows); i++) {
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "direction")), direction) == 0)
            return tm_at(rows, i);
    }
    return NULL;
}

/* The sweep's figure, which there is without a table of copies too. */
static int64_t exposed_of(const struct tm_findings *all, const char *direction)
{
    const struct tm_value *swept =
        tm_get(tm_path(all->summary, "total.exposed_by_direction_ps"), direction);

    if (!tm_has(swept))
        swept = tm_get(row_of(all, direction), "exposed_ps");
    return tm_clamp_to_window(all, tm_int(swept));
}

/* Where a device has that of it. */
enum { DIRECTION_PATH_BYTES = 48 };

static const char *path_of(char out[DIRECTION_PATH_BYTES], const char *direction)
{
    (void)snprintf(out, DIRECTION_PATH_BYTES, "exposed_by_direction_ps.%s", direction);
    return out;
}

/* Which way, in words. */
static const char *way_of(const char *direction)
{
    if (strcmp(direction, "h2d") == 0)
        return "to the device";
    if (strcmp(direction, "d2h") == 0)
        return "to the host";
    if (strcmp(direction, "p2p") == 0)
        return "between devices";
    return strcmp(direction, "d2d") == 0 ? "inside the device" : "of unknown direction";
}

static void say_copies(struct tm_finding *f, const struct tm_value *row)
{
    const int64_t count = tm_int(tm_get(row, "count"));
    const struct tm_value *bytes = tm_get(row, "bytes"), *rate = tm_get(row, "mean_bandwidth");
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];

    if (count <= 0)
        return;
    if (tm_has(tm_get(row, "total_ps")))
        tm_finding_say(f, "%s copies take %s in all.", tm_format_count(a, count),
                       tm_format_time(b, tm_int(tm_get(row, "total_ps"))));
    if (tm_has(bytes))
        tm_finding_say(f, "They move %s, %s each on average.", tm_format_bytes(b, tm_double(bytes)),
                       tm_format_bytes(c, tm_double(bytes) / (double)count));
    else
        tm_finding_say(f, "Their sizes are not recorded.");
    if (tm_has(rate) && tm_double(rate) > 0)
        tm_finding_say(f, "They reach %s on average.", tm_format_rate(a, tm_double(rate)));
}

static void say_exposed(struct tm_findings *all, struct tm_finding *f, int64_t exposed_ps)
{
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    tm_finding_say(f, "In %s of %s of device time (%s) nothing but these copies runs.",
                   tm_format_time(a, exposed_ps), tm_format_time(b, all->window_ps),
                   tm_format_pct(pct, tm_share_pct(exposed_ps, all->window_ps)));
}

static void say_largest(struct tm_findings *all, struct tm_finding *f, const char *direction)
{
    const struct tm_value *largest = tm_path(all->summary, "transfers.largest");
    char bytes[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES],
        name[TM_SHORT_NAME_BYTES];
    int said = 0;

    for (size_t i = 0; i < tm_length(largest); i++) {
        const struct tm_value *copy = tm_at(largest, i);
        const char *device = tm_text(tm_get(copy, "device"));

        if (strcmp(tm_text(tm_get(copy, "direction")), direction) != 0)
            continue;
        if (said++ < 2)
            tm_finding_say(f, "%s in %s at %s on %s.",
                           tm_format_bytes(bytes, tm_double(tm_get(copy, "bytes"))),
                           tm_format_time(time, tm_int(tm_get(copy, "dur_ps"))),
                           tm_format_moment(begin, tm_int(tm_get(copy, "begin_ps"))),
                           tm_finding_device(f, name, tm_get(copy, "device")));
        tm_finding_where(f, tm_int(tm_get(copy, "begin_ps")), tm_int(tm_get(copy, "dur_ps")),
                         device);
    }
}

static void find_direction(struct tm_findings *all, const struct advice *advice)
{
    const int64_t exposed_ps = exposed_of(all, advice->direction);
    char path[DIRECTION_PATH_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention_on(all, exposed_ps, path_of(path, advice->direction)))
        return;
    f = tm_finding_of_idle(all, advice->id, exposed_ps, 0, path);
    tm_finding_title(f, "%s", advice->title);
    tm_finding_causes(f, advice->why);
    say_exposed(all, f, exposed_ps);
    tm_finding_say_scope(all, f, path);
    say_copies(f, row_of(all, advice->direction));
    say_largest(all, f, advice->direction);
    tm_finding_fixes(f, advice->fix);
}

/* Does a row of transfers.repeated count: large enough, and between host and device? */
static bool is_repeated(const struct tm_findings *all, const struct tm_value *row,
                        const char *direction)
{
    return strcmp(tm_text(tm_get(row, "direction")), direction) == 0 &&
           tm_double(tm_get(row, "bytes")) >=
               tm_limit_of(all, TM_LIMIT_REPEATED_SIZE) * BYTES_PER_MIB;
}

static const char *const once_to_device[TM_FIXES_OFFERED] = {
    "jax|If it is constant data (tables, masks, frozen weights), put it on the device once: `table "
    "= jax.device_put(table)` before the loop, and pass `table` to the step.",
    "jax|If it is the batch, copy it while the step before runs: `nxt = jax.device_put(next(it), "
    "sharding)`.",
    "torch|If it is constant data (tables, masks, frozen weights), put it on the device once: "
    "`self.register_buffer('table', table)`, or `table = table.to('cuda')` before the loop.",
    "torch|If it is the batch, copy it beside the step before: `DataLoader(..., pin_memory=True)` "
    "and `batch.to('cuda', non_blocking=True)`.",
    "other|If it is constant data, put it on the device once; if not, copy it beside other work.",
};

static const char *const seldom_to_host[TM_FIXES_OFFERED] = {
    "jax|Copy it every N steps, or a summary of it: `if i % 50 == 0: log(jax.device_get(metrics))`.",
    "torch|Copy it every N steps, or a summary of it: `if i % 50 == 0: log(x.item())`.",
    "other|Copy it every N steps, or a summary of it.",
};

/* What the repeated copies of a direction take, but not more than is exposed there: the finding on the direction has
 * it at stake. */
static void find_repeated(struct tm_findings *all, const char *direction, const char *id)
{
    const struct tm_value *rows = tm_path(all->summary, "transfers.repeated");
    const int64_t exposed_ps = exposed_of(all, direction);
    char count[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES],
        per_step[TM_FORMAT_BYTES], path[DIRECTION_PATH_BYTES];
    struct tm_finding *f = NULL;
    int64_t total_ps = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        if (is_repeated(all, tm_at(rows, i), direction))
            total_ps = tm_sum_times(total_ps, tm_int(tm_get(tm_at(rows, i), "total_ps")));
    }
    if (total_ps > exposed_ps)
        total_ps = exposed_ps;
    if (!tm_is_worth_mention_on(all, total_ps, path_of(path, direction)))
        return;
    f = tm_finding_of_share(all, id, TM_INFO, total_ps, path);
    tm_finding_title(f, "The same sizes are copied %s in every step", way_of(direction));
    tm_finding_cause(f, "Copies of one size come back in each step. Where it is the same data, only the "
               "first one is needed.");
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (is_repeated(all, row, direction))
            tm_finding_say(f, "%s copies of %s, %s per step, %s in all.",
                           tm_format_count(count, tm_int(tm_get(row, "count"))),
                           tm_format_bytes(bytes, tm_double(tm_get(row, "bytes"))),
                           tm_format_number(per_step, tm_double(tm_get(row, "per_step"))),
                           tm_format_time(time, tm_int(tm_get(row, "total_ps"))));
    }
    tm_finding_fixes(f, strcmp(direction, "h2d") == 0 ? once_to_device : seldom_to_host);
}

static void find_pageable(struct tm_findings *all)
{
    const struct tm_value *pageable = tm_path(all->summary, "transfers.pageable");
    const int64_t pageable_ps = tm_int(tm_get(pageable, "total_ps"));
    const double share = tm_double(tm_get(pageable, "share_pct"));
    const int64_t exposed_ps =
        tm_clamp_to_window(all, tm_sum_times(exposed_of(all, "h2d"), exposed_of(all, "d2h")));
    const int64_t stake_ps = pageable_ps < exposed_ps ? pageable_ps : exposed_ps;
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (share < tm_limit_of(all, TM_LIMIT_PAGEABLE_SHARE) || !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_pageable", TM_INFO, stake_ps, "exposed_copy_ps");
    tm_finding_title(f, "Copies go through pageable memory");
    tm_finding_cause(f, "The host side of these copies is ordinary memory. The driver copies it in pieces "
               "through a buffer of its own: slower, and not beside kernels.");
    tm_finding_say(f, "%s copies from or to pageable memory take %s, %s of the copy time.",
                   tm_format_count(count, tm_int(tm_get(pageable, "count"))),
                   tm_format_time(time, pageable_ps), tm_format_pct(pct, share));
    tm_finding_fix(f, "jax|Hand batches over with `jax.device_put(batch, sharding)` ahead of their "
                      "use; JAX then stages them through pinned memory where it can.");
    tm_finding_fix(f, "jax|Keep data that moves often in pinned memory: `jax.device_put(x, "
                      "x.sharding.with_memory_kind('pinned_host'))`.");
    tm_finding_fix(f, "torch|Load batches into pinned memory: `DataLoader(..., pin_memory=True)`, "
                      "and copy them with `batch.to('cuda', non_blocking=True)`.");
    tm_finding_fix(f, "torch|Keep other data that moves often in pinned memory: `x = "
                      "x.pin_memory()`, or `torch.empty(shape, pin_memory=True)`.");
    tm_finding_fix(f, "other|Keep data that moves often in pinned (page-locked) memory.");
}

static void find_ping_pong(struct tm_findings *all)
{
    const int64_t count = tm_int(tm_path(all->summary, "transfers.ping_pong.count"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    const double per_step = (double)count / (double)(chosen > 0 ? chosen : 1);
    const int64_t h2d_ps = exposed_of(all, "h2d"), d2h_ps = exposed_of(all, "d2h");
    const int64_t half_ps = h2d_ps < d2h_ps ? h2d_ps : d2h_ps; /* each trip has both halves */
    const int64_t stake_ps = tm_clamp_to_window(all, tm_sum_times(half_ps, half_ps));
    char text[TM_FORMAT_BYTES], each[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (count < 2 || per_step < tm_limit_of(all, TM_LIMIT_PING_PONG) ||
        !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_ping_pong", TM_INFO, stake_ps, "exposed_copy_ps");
    tm_finding_title(f, "Data goes to the host and back");
    tm_finding_cause(f, "A result is copied to the host, worked on there, and copied back: NumPy in "
                        "the middle of the step, a callback, or an operation that only runs on the "
                        "CPU.");
    tm_finding_say(f,
                   "%s times a copy to the host is answered by a copy of the same size to the "
                   "device, %s times per step.",
                   tm_format_count(text, count), tm_format_number(each, per_step));
    tm_finding_say(f, "%s of copies to the host and to the device have nothing beside them.",
                   tm_format_time(time, tm_sum_times(h2d_ps, d2h_ps)));
    tm_finding_fix(
        f, "jax|Do the work in between with `jax.numpy`, inside the same jitted function.");
    tm_finding_fix(f, "jax|Where the host is needed, use `jax.pure_callback` on as little data as "
                      "possible, or only every N steps under `jax.lax.cond`.");
    tm_finding_fix(f, "torch|Do the work in between with tensors on the device: no `.cpu()` and "
                      "`.numpy()` followed by `torch.from_numpy(x).to('cuda')`.");
    tm_finding_fix(f, "other|Do the work in between on the device.");
    tm_finding_fix(f, "torch,other|Where the host is needed, give it as little data as possible, "
                      "and only every N steps.");
}

void tm_find_transfers(struct tm_findings *all)
{
    const bool is_tpu = tm_ask_is_platform(all->summary, "tpu");

    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
        find_direction(all, is_tpu ? &tpu_advices[i] : &advices[i]);
    find_repeated(all, "h2d", "transfer_repeated_h2d");
    find_repeated(all, "d2h", "transfer_repeated_d2h");
    find_pageable(all);
    find_ping_pong(all);
}
