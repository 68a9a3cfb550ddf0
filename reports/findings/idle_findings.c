/* SPDX-License-Identifier: Apache-2.0 */
/* Why the devices had nothing to do: one finding per cause of idle time (summary.gaps.by_cause), and a note on devices
 * that start late or finish early, whose idle time has a cause like any other.  Of each only what no other finding
 * explains: what compiling inside steps costs, pauses between short kernels or programs, waits for a device with more
 * work. */
#include "reports/findings/idle.h"

#include <string.h>

#include "pipeline/bounded_sum.h"

enum { GAPS_SAID = 3 };

/* A call that took many times what most others of its name take: one of so many, in which the device was idle for so
 * many times the usual duration. */
enum { HELD_CALLS_LEAST = 20, HELD_ONE_IN = 10, HELD_TIMES = 20 };

struct advice {
    const char *cause; /* as in gaps.by_cause */
    const char *id;
    const char *title;
    const char *why[TM_CAUSES_OFFERED];
    const char *fix[TM_FIXES_OFFERED];
};

static const struct advice advices[] = {
    { "input",
      "idle_input",
      "The device waits for input",
      { "The thread that launches the steps also loads, decodes or copies the next batch. While it "
        "does, nothing is queued on the device." },
      { "jax|Load ahead in other threads or processes and keep at least two batches ready: tf.data "
        "`.prefetch(tf.data.AUTOTUNE)`, grain `DataLoader(..., worker_count=8)`, PyTorch "
        "`DataLoader(num_workers=8, prefetch_factor=4)`.",
        "jax|Bring the next batch to the device while the step runs: `nxt = "
        "jax.device_put(next(it), sharding)` right after `state = step(state, batch)`; both return "
        "at once. For pmap code there is `flax.jax_utils.prefetch_to_device(it, 2)`.",
        "torch|Load in other processes and ahead: `DataLoader(dataset, num_workers=8, "
        "prefetch_factor=4, persistent_workers=True, pin_memory=True)`; with `num_workers=0` the "
        "training thread itself loads.",
        "torch|Copy the batch without waiting for it: `batch = batch.to('cuda', "
        "non_blocking=True)`, from pinned memory (`pin_memory=True`).",
        "other|Load ahead in other threads or processes and keep at least two batches ready.",
        "Time the loader alone: `for batch in it: pass`. If it is slower than a step, add workers, simplify decoding, "
        "or cache the data locally." } },
    { "sync",
      "idle_sync",
      "The host waits for results before it launches more",
      { "jax|JAX runs ahead of the device until the program asks for a value. "
        "`block_until_ready()`, `float(x)`, `np.asarray(x)`, `print(x)` or an `if` on an array "
        "inside the loop wait for the device, and the device then waits for the next launch.",
        "torch|PyTorch runs ahead of the device until the program asks for a value. `.item()`, "
        "`.cpu()`, `.tolist()`, `print(x)`, an `if` on a tensor or `torch.cuda.synchronize()` "
        "inside the loop wait for the device, and the device then waits for the next launch.",
        "The program asks for a value, or for the end of the device's work, inside the loop; the "
        "device then waits for the next launch." },
      { "jax|Take the wait out of the loop: call `jax.block_until_ready(state)` once, after the "
        "last step.",
        "jax|Read metrics late and seldom: keep them on the device and call "
        "`jax.device_get(metrics)` every 50 or 100 steps, or start the copy with "
        "`x.copy_to_host_async()` and read it one step later.",
        "jax|Find hidden waits: run the loop under `with "
        "jax.transfer_guard_device_to_host('disallow'):`; each implicit read of an array then "
        "raises an error with its line.",
        "jax|Decide on the device: `jax.lax.cond` and `jax.numpy.where` instead of `if` on an "
        "array.",
        "torch|Take `torch.cuda.synchronize()`, `.item()` and `.cpu()` out of the loop.",
        "train,torch|Read metrics late and seldom: add up `loss.detach()` on the device, and call "
        "`.item()` every 50 or 100 steps.",
        "torch|Find hidden waits: call `torch.cuda.set_sync_debug_mode('warn')` before the loop; "
        "operations that wait for the device then warn with their line.",
        "torch|Decide on the device: `torch.where` instead of `if` on a tensor; `x[mask]` and "
        "`torch.nonzero` have to wait for the size of their result.",
        "other|Take the wait out of the loop: read results late, and every 50 or 100 steps." } },
    { "compile",
      "idle_compile",
      "The device is idle while programs compile",
      { "jax|A jitted function was called with shapes, types or static arguments that had not been "
        "compiled yet.",
        "A function was called with shapes or types that it had not been compiled for yet." },
      { "jax|Compile before the loop: `step = jax.jit(step).lower(state, batch).compile()`.",
        "jax|Keep compiled programs between runs: `jax.config.update('jax_compilation_cache_dir', "
        "'/path/to/cache')`.",
        "jax|See what compiles and why: `jax.config.update('jax_log_compiles', True)` and "
        "`jax.config.update('jax_explain_cache_misses', True)`.",
        "torch|See what is compiled anew and why: run with `TORCH_LOGS=recompiles`; "
        "`torch.compile(model, dynamic=True)` compiles once for many shapes.",
        "torch,other|Compile before the loop: run a step of each shape first." } },
    { "launch",
      "idle_launch",
      "The device waits for launches",
      { "jax|Each launch costs the host some microseconds. Programs that are short, or operations "
        "outside jit, finish before the next launch arrives.",
        "torch|Each launch costs the host some microseconds. Without `torch.compile` each operation "
        "is launched by itself; short ones finish before the next launch arrives.",
        "Each launch costs the host some microseconds. Short pieces of work finish before the next "
        "launch arrives." },
      { "train,jax|Put the whole step under one `jax.jit`: loss, gradient, optimizer update and metrics. "
        "Operations between jitted calls are launched one by one.",
        "infer,jax|Put the whole step under one `jax.jit`. Operations between jitted calls are launched one by one.",
        "jax|Run several steps per call: `jax.lax.scan(step, state, batches)` with batches stacked "
        "along the first axis.",
        "jax|Give each launch more work: a larger batch, or `jax.vmap` instead of a Python loop.",
        "gpu,jax|Let XLA record more into command buffers (CUDA graphs): "
        "`XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL`.",
        "torch|Launch fewer and longer kernels: `model = torch.compile(model)`.",
        "gpu,torch|Launch graphs instead of kernels: `torch.compile(model, "
        "mode=\"reduce-overhead\")`, or `torch.cuda.make_graphed_callables` for parts of fixed "
        "shape.",
        "train,torch|Update all parameters in few kernels: `torch.optim.AdamW(params, fused=True)`.",
        "torch,other|Give each launch more work: a larger batch, one operation on many rows "
        "instead of a loop." } },
    { "gc",
      "idle_gc",
      "Garbage collection stops the launches",
      { "Python's cyclic garbage collector ran on the launching thread between launches." },
      { "Call `gc.collect(); gc.freeze(); gc.disable()` after setting up, and `gc.collect()` at "
        "points where a pause does no harm.",
        "jax|Make fewer objects per step: no lists of arrays that grow, no pytrees rebuilt in "
        "Python.",
        "train,torch|Make fewer objects per step: no lists of tensors that grow, and `total += "
        "loss.detach()` instead of sums that keep each step's graph." } },
    { "host",
      "idle_host",
      "Python and host code run while the device is idle",
      { "jax|The launching thread did work of its own between launches: Python code, logging, "
        "files, or handing over arguments with very many leaves.",
        "torch|The launching thread did work of its own between launches: Python code, the "
        "dispatch of operations, logging or files.",
        "The launching thread did work of its own between launches." },
      { "jax|See the host events named in the evidence; move what they do into the jitted step or "
        "into another thread.",
        "train,jax|Write checkpoints and logs in the background, for example with "
        "`orbax.checkpoint.AsyncCheckpointer`.",
        "jax|Launch ahead: do the host work after `state = step(state, batch)` has been called and "
        "before its result is read; the device works meanwhile.",
        "jax|Mark parts of the loop so that the next profile names them: `with "
        "jax.profiler.TraceAnnotation('logging'):`.",
        "torch,other|See the host events named in the evidence; move what they do out of the loop "
        "or into another thread.",
        "torch|Where they are operations (`aten::...`), their dispatch is what takes time: `model "
        "= torch.compile(model)`, on GPUs with CUDA graphs: `mode=\"reduce-overhead\"`.",
        "torch|Let the host run ahead of the device: no `.item()`, `.cpu()` or `print` of tensors "
        "between launches, so that its work falls into times when the device is busy.",
        "train,torch|Write checkpoints in the background: `torch.distributed.checkpoint.async_save`.",
        "torch|Mark parts of the loop so that the next profile names them: `with "
        "torch.profiler.record_function('logging'):`." } },
    { "device_wait",
      "idle_device_wait",
      "Launched work waits on the device",
      { "gpu|The work was launched in time but could not begin: it depended on another stream, an event or another "
        "device, or the device itself paused between two pieces of work. The host is not at fault; how much of it can "
        "be won the profile does not tell.",
        "tpu|The program was running, but its core did nothing: it waited for another core, for data in flight, or "
        "paused between two operations. How much of it can be won the profile does not tell.",
        "The program was running, but none of its operations: the threads waited for each other, for the operating "
        "system, or paused between two operations. How much of it can be won the profile does not tell." },
      { "gpu|Look at what runs before and after the gaps named here, on other devices too: a copy or a collective on "
        "the other side is the one to speed up or to start earlier.",
        "tpu|Look at the operations before and after the gaps named here, and at what is in flight meanwhile (the line "
        "of asynchronous operations).",
        "gpu,jax|Let XLA reorder: `XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true`.",
        "gpu,torch|Let other streams begin early: copies from pinned memory with `non_blocking=True`, "
        "collectives with `async_op=True`.",
        "Profile it once more: waits at the same operations in each step are the program's; others come of what else "
        "runs on the machine." } },
    { "profiler",
      "idle_profiler",
      "The profiler itself holds the program up",
      { "Collecting or flushing events took time on the launching thread. Without the profiler "
        "this time is not lost." },
      { "Profile fewer steps: 5 to 20 are enough for every figure of this report.",
        "jax|Record less: `options = jax.profiler.ProfileOptions(); options.python_tracer_level = "
        "0; jax.profiler.start_trace(logdir, profiler_options=options)`.",
        "torch|Record less: `torch.profiler.profile(..., with_stack=False, record_shapes=False, "
        "profile_memory=False)`." } },
    { "unrecorded",
      "idle_unrecorded",
      "Idle time without a recorded reason",
      { "The launching thread recorded nothing in these gaps, so that their reason cannot be told "
        "from this profile." },
      { "jax|Record the host in the next profile: `options = jax.profiler.ProfileOptions(); "
        "options.host_tracer_level = 2; options.python_tracer_level = 1; "
        "jax.profiler.start_trace(logdir, profiler_options=options)`.",
        "jax|Mark the parts of your loop: `with jax.profiler.TraceAnnotation('load batch'):`.",
        "torch|Record the host's Python in the next profile: `torch.profiler.profile(activities="
        "[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`.",
        "torch|Mark the parts of your loop: `with torch.profiler.record_function('load batch'):`.",
        "other|Record the host's threads in the next profile, and mark the parts of the loop." } },
};

/* In place of the advice for many launches. */
static const struct advice late_launches = {
    "launch",
    "idle_launch",
    "Launched work starts late",
    { "gpu|A launch costs microseconds; these took far longer, and few of them make up most of the time. The first "
      "launch of a kernel loads its code and the first copy or allocation sets up the driver; else the work waited "
      "on its stream, or another process held the device.",
      "A launch costs microseconds; these took far longer, and few of them make up most of the time: the first call "
      "of a program has more to set up, or something else held the device." },
    { "Look at the gaps named here: which call launched what ends the gap, and in which call the host stood until "
      "then.",
      "Run a few steps before the profile begins, with the same shapes: what is done once is then not in it.",
      "gpu|Load all kernels at the start: `CUDA_MODULE_LOADING=EAGER` (NVIDIA).",
      "gpu|See that no other process works on the device: `nvidia-smi` or `rocm-smi`." }
};

/* In place of the advice for host work: calls that are short elsewhere. */
static const struct advice held_up = {
    "host",
    "idle_host",
    "The launching thread is held up in calls that are short elsewhere",
    { "Most calls of the same name in this profile take a small part of that. Why these took longer is not recorded: "
      "the operating system took the thread's core away, it waited for Python's GIL or for a lock of the driver or of "
      "an allocator, the profiler stored its events, or the call did more than others of its name." },
    { "Give each process cores of its own and look how many threads share them: `numactl --physcpubind=...`, "
      "`OMP_NUM_THREADS`, the workers of the data loader.",
      "Look whether another thread of the process holds Python's lock at that time: `py-spy dump --pid PID`.",
      "Profile once more: stalls in the same calls are the program's; in others they are the machine's.",
      "torch|Record less, so that the profiler itself takes less time: `torch.profiler.profile(..., with_stack=False, "
      "record_shapes=False, profile_memory=False)`." }
};

/* In place of it: another thread launches, and recorded too little. */
static const struct advice told_by_main = {
    "host",
    "idle_host",
    "Host code runs, or the launching thread recorded nothing, while the device is idle",
    { "Another thread than the main one launches the work, and in most of this time it recorded too little to tell what "
      "it did. Events of the main thread are named instead; it may itself only wait for the other one." },
    { "torch|Record the thread that launches: the backward pass runs in a thread of its own; "
      "`torch.profiler.profile(..., with_stack=True)` records its Python code, hooks of the model and the optimizer too.",
      "torch|Mark what it runs, also inside hooks and `autograd.Function`s: `with torch.profiler.record_function(...)`.",
      "jax|Record more of the host: `options.host_tracer_level = 3` of `jax.profiler.ProfileOptions()`.",
      "Look at the trace in Perfetto: which thread launches what ends the gaps named here, and when it was last active." }
};

/* In place of the advice for host work. */
static const struct advice startup = {
    "host",
    "idle_host",
    "The driver and its libraries are initialized while the device is idle",
    { "Calls that allocate memory, create streams or load code are slow the first time, and a running program does not "
      "repeat them: this profile begins with the program." },
    { "Run a few steps before the profile begins, with the same shapes: what is done once is then not in it.",
      "jax|Start the trace after the warm-up: `jax.profiler.start_trace(logdir)` after two steps.",
      "torch|Skip the first steps: `torch.profiler.schedule(wait=1, warmup=2, active=5)`.",
      "torch|If such calls come back in every step, the caching allocator runs out: look for `cudaFree` and "
      "`torch.cuda.empty_cache()` in the loop." }
};

/* " 1.20 ms of 7.10 ms in an average step", where there are steps. */
static void per_step(struct tm_findings *all, const char *cause, char *out, size_t out_bytes)
{
    const int64_t idle_ps = tm_int(tm_get(tm_path(all->summary, "steps.parts.idle_ps"), cause));
    const int64_t total_ps = tm_int(tm_path(all->summary, "steps.parts.total_ps"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    const int64_t devices = tm_int(tm_path(all->summary, "total.devices"));
    char idle[TM_FORMAT_BYTES], period[TM_FORMAT_BYTES];

    *out = '\0';
    if (chosen < 2 || devices < 1 || idle_ps <= 0 || tm_ask_is_session(all->summary))
        return;
    (void)snprintf(out, out_bytes, ", %s of %s in an average step", tm_format_time(idle, idle_ps / chosen / devices),
                   tm_format_time(period, total_ps / chosen / devices));
}

/* An event that happens once: the longest gap of a cause, with those of other devices at the same time. */
struct lone {
    const struct tm_value *gap; /* the longest; NULL = there is no such event */
    int64_t ps;                 /* what all of them have of the cause */
    int gaps;
};

static bool overlap(const struct tm_value *a, const struct tm_value *b)
{
    const int64_t a_ps = tm_int(tm_get(a, "begin_ps")), b_ps = tm_int(tm_get(b, "begin_ps"));

    return a_ps < tm_sum_times(b_ps, tm_int(tm_get(b, "dur_ps"))) &&
           b_ps < tm_sum_times(a_ps, tm_int(tm_get(a, "dur_ps")));
}

/* It has half of the cause's time or more, and no other gap has half as much as its longest one. */
static struct lone find_lone(const struct tm_findings *all, const char *cause)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const int64_t total_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "total_ps"));
    struct lone lone = { .gap = NULL };
    int64_t most_ps = 0, next_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_get(tm_get(tm_at(longest, i), "parts"), cause));

        if (part_ps > most_ps) {
            lone.gap = tm_at(longest, i);
            most_ps = part_ps;
        }
    }
    for (size_t i = 0; i < tm_length(longest) && lone.gap; i++) {
        const int64_t part_ps = tm_int(tm_get(tm_get(tm_at(longest, i), "parts"), cause));

        if (!overlap(tm_at(longest, i), lone.gap)) {
            next_ps = part_ps > next_ps ? part_ps : next_ps;
        } else if (part_ps > 0) {
            lone.ps = tm_sum_times(lone.ps, part_ps);
            lone.gaps++;
        }
    }
    return lone.ps >= total_ps / 2 && most_ps / 2 >= next_ps ? lone : (struct lone){ .gap = NULL };
}

/* How much of a cause's time the main thread tells because the launching one recorded too little: 0 to 1. */
static double main_part(const struct tm_findings *all, const char *cause)
{
    const struct tm_value *of_cause = tm_get(tm_path(all->summary, "gaps.by_cause"), cause);
    const int64_t total_ps = tm_int(tm_get(of_cause, "total_ps"));

    return total_ps > 0 ? (double)tm_int(tm_get(of_cause, "main_ps")) / (double)total_ps : 0;
}

static void say_share(struct tm_findings *all, struct tm_finding *f, const char *name, const struct tm_value *cause)
{
    const int64_t total_ps = tm_clamp_to_window(all, tm_int(tm_get(cause, "total_ps"))),
                  count = tm_int(tm_get(cause, "count"));
    char time[TM_FORMAT_BYTES], window[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES],
        gaps[TM_FORMAT_BYTES], step[2 * TM_FORMAT_BYTES + 32];

    *step = '\0';
    if (!find_lone(all, name).gap)
        per_step(all, name, step, sizeof(step));
    tm_finding_say(f, "%s of %s of device time (%s) is idle for this reason%s.",
                   tm_format_time(time, total_ps), tm_format_time(window, all->window_ps),
                   tm_format_pct(pct, tm_share_pct(total_ps, all->window_ps)), step);
    if (count > 0)
        tm_finding_say(f, "It is the main reason of %s of %s idle gaps.",
                       tm_format_count(gaps, count),
                       tm_format_count(window, tm_int(tm_path(all->summary, "gaps.count"))));
}

/* Did it stand in one call that took many times what calls of that name usually take? */
static bool is_held_up(const struct tm_value *gap)
{
    const struct tm_value *calls = tm_get(gap, "calls");
    const int64_t part_ps = tm_int(tm_path(gap, "parts.host")), usual_ps = tm_int(tm_get(calls, "usual_ps"));
    const int64_t count = tm_int(tm_get(calls, "count")), long_count = tm_int(tm_get(calls, "long_count"));

    return strcmp(tm_text(tm_get(gap, "cause")), "host") == 0 && tm_has(tm_get(calls, "usual_ps")) &&
           count >= HELD_CALLS_LEAST && long_count > 0 && long_count <= count / HELD_ONE_IN &&
           usual_ps <= part_ps / HELD_TIMES;
}

/* ", host in 'f'", and how long that usually takes where it took far longer. */
static void say_event(char *out, size_t out_bytes, const struct tm_value *gap, const char *event)
{
    const struct tm_value *calls = tm_get(gap, "calls");
    const int64_t count = tm_int(tm_get(calls, "count"));
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES], usual[160] = "";

    if (is_held_up(gap))
        (void)snprintf(usual, sizeof(usual), " (%s of %s such calls take %s on average)",
                       tm_format_count(a, count - tm_int(tm_get(calls, "long_count"))), tm_format_count(b, count),
                       tm_format_time(c, tm_int(tm_get(calls, "usual_ps"))));
    (void)snprintf(out, out_bytes, ", %s in '%s'%s",
                   strcmp(tm_text(tm_get(gap, "host_thread")), "main") == 0 ? "main thread" : "host",
                   tm_short_name(name, event), usual);
}

/* ", launched 463 ms before by a call of 5 us": how far the call explains the wait for what it launched. */
static void say_launch(char *out, size_t out_bytes, const struct tm_value *gap)
{
    const struct tm_value *launch = tm_get(gap, "launch");
    const int64_t end_ps = tm_sum_times(tm_int(tm_get(gap, "begin_ps")), tm_int(tm_get(gap, "dur_ps")));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    int64_t ago_ps;

    if (!__builtin_sub_overflow(end_ps, tm_int(tm_get(launch, "begin_ps")), &ago_ps) && ago_ps >= 0)
        (void)snprintf(out, out_bytes, ", launched %s before its start by a call of %s", tm_format_time(a, ago_ps),
                       tm_format_time(b, tm_int(tm_get(launch, "dur_ps"))));
}

/* part_ps: how much of the gap is meant, where that is not all of it. */
static void say_gap(struct tm_finding *f, const struct tm_value *gap, int64_t part_ps)
{
    const char *event = tm_text(tm_get(gap, "host_event")), *after = tm_text(tm_get(gap, "after"));
    const int64_t dur_ps = tm_int(tm_get(gap, "dur_ps"));
    char time[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES],
        device[TM_SHORT_NAME_BYTES];
    char part[TM_FORMAT_BYTES + 8] = "", step[40] = "", launched[2 * TM_FORMAT_BYTES + 64] = "";
    char in[TM_SHORT_NAME_BYTES + 192] = "", next[TM_SHORT_NAME_BYTES + 16] = "";

    if (part_ps < dur_ps)
        (void)snprintf(part, sizeof(part), "%s in a ", tm_format_time(time, part_ps));
    if (tm_has(tm_get(gap, "step")))
        (void)snprintf(step, sizeof(step), " in step %lld", (long long)tm_int(tm_get(gap, "step")));
    if (*event && !*part) /* the event is that of the largest part */
        say_event(in, sizeof(in), gap, event);
    if (*after)
        (void)snprintf(next, sizeof(next), ", before '%s'", tm_short_name(name, after));
    if (strcmp(tm_text(tm_get(gap, "cause")), "launch") == 0 && tm_has(tm_get(gap, "launch")))
        say_launch(launched, sizeof(launched), gap);
    tm_finding_say(f, "%s%s of %s at %s on %s%s%s%s%s.", part, *part ? "gap" : "Gap",
                   tm_format_time(time, dur_ps),
                   tm_format_moment(begin, tm_int(tm_get(gap, "begin_ps"))),
                   tm_finding_device(f, device, tm_get(gap, "device")), step, in, next, launched);
}

/* The same event in the same step is one story, on however many devices it left a gap. */
static bool is_alike(const struct tm_value *gap, const struct tm_value *const *said, int count)
{
    for (int i = 0; i < count; i++) {
        if (tm_has(tm_get(gap, "step")) &&
            tm_int(tm_get(gap, "step")) == tm_int(tm_get(said[i], "step")) &&
            strcmp(tm_text(tm_get(gap, "host_event")), tm_text(tm_get(said[i], "host_event"))) == 0)
            return true;
    }
    return false;
}

/* Gaps of which the cause is the largest part, or of which it is another part. */
static int say_gaps(struct tm_findings *all, struct tm_finding *f, const char *cause,
                    bool is_largest)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const struct tm_value *said[GAPS_SAID];
    int count = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const struct tm_value *gap = tm_at(longest, i);
        const int64_t part_ps = tm_int(tm_get(tm_get(gap, "parts"), cause));

        if ((strcmp(tm_text(tm_get(gap, "cause")), cause) == 0) != is_largest ||
            (!is_largest && part_ps < TM_STAKE_LEAST_PS))
            continue;
        if (count < GAPS_SAID && !is_alike(gap, said, count)) {
            said[count++] = gap;
            say_gap(f, gap, is_largest ? INT64_MAX : part_ps);
        }
        tm_finding_where(f, tm_int(tm_get(gap, "begin_ps")), tm_int(tm_get(gap, "dur_ps")),
                         tm_text(tm_get(gap, "device")));
    }
    return count;
}

void tm_idle_say_gaps(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    if (say_gaps(all, f, cause, true) == 0)
        (void)say_gaps(all, f, cause, false);
}

static bool is_told_elsewhere(const struct tm_findings *all, enum tm_wait wait)
{
    return (wait == TM_WAIT_COMPILE && tm_compiles_inside_steps(all) > 0) ||
           (wait == TM_WAIT_UNRECORDED && tm_host_was_not_recorded(all));
}

/* What the host did where it is the cause: names that the gaps alone do not tell. */
static void say_host(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    if (strcmp(cause, "sync") == 0)
        tm_host_say_waits(all, f);
    else if (strcmp(cause, "launch") == 0)
        tm_host_say_launches(all, f);
    else if (strcmp(cause, "host") == 0 || strcmp(cause, "input") == 0)
        tm_host_say_functions(all, f, strcmp(cause, "input") == 0);
}

/* Short pauses and longer waits, which have different reasons. */
static void say_pauses(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *pauses = tm_path(all->summary, "gaps.pauses");
    const struct tm_value *waits = tm_path(all->summary, "gaps.by_cause.device_wait");
    const int64_t pause_ps = tm_int(tm_get(pauses, "total_ps")), all_ps = tm_int(tm_get(waits, "total_ps"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];

    if (tm_has(pauses))
        tm_finding_say(f, "%s pauses under %s take %s of it; the rest are longer waits.",
                       tm_format_count(a, tm_int(tm_get(pauses, "count"))),
                       tm_format_time(b, tm_int(tm_get(pauses, "below_ps"))),
                       tm_format_time(c, pause_ps < all_ps ? pause_ps : all_ps));
}

/* Facts: what the device waited for is not in the profile, and what the profiler costs no other run has. */
static struct tm_finding *begin(struct tm_findings *all, const char *id, enum tm_wait wait, int64_t left_ps,
                                const char *path)
{
    const bool is_large = tm_share_on(all, left_ps, path) >= tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);

    if (wait == TM_WAIT_DEVICE)
        return is_large ? tm_finding_of_share(all, id, TM_INFO, left_ps, path) : NULL;
    if (wait == TM_WAIT_PROFILER)
        return tm_finding_of_share(all, id, is_large ? TM_WARNING : TM_INFO, left_ps, path);
    return tm_finding_of_idle(all, id, left_ps, tm_wait_explain(all, &wait, 1, left_ps), path);
}

bool tm_idle_is_of_long_launches(const struct tm_findings *all)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    const double least_ps = tm_limit_of(all, TM_LIMIT_LONG_LAUNCH) * 1e9;
    int64_t long_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_path(tm_at(longest, i), "parts.launch"));

        if ((double)part_ps >= least_ps)
            long_ps = tm_sum_times(long_ps, part_ps);
    }
    return long_ps > 0 && long_ps >= tm_int(tm_path(all->summary, "gaps.by_cause.launch.total_ps")) / 2;
}

/* Calls of a driver that are made once, when a program first uses the device or a library. */
static bool is_of_startup(const char *call)
{
    static const char *const parts[] = { "Malloc",      "Free",      "StreamCreate",     "EventCreate",  "ModuleLoad",
                                         "LibraryLoad", "CtxCreate", "PrimaryCtxRetain", "HostRegister", "HostAlloc" };

    if (strncmp(call, "cuda", 4) != 0 && strncmp(call, "cu", 2) != 0 && strncmp(call, "hip", 3) != 0)
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(call, parts[i]))
            return true;
    return false;
}

/* Do such calls make up half of the idle time for host work? */
static bool is_startup(const struct tm_findings *all)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    int64_t sum_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++)
        if (is_of_startup(tm_text(tm_get(tm_at(longest, i), "host_event"))))
            sum_ps = tm_sum_times(sum_ps, tm_int(tm_path(tm_at(longest, i), "parts.host")));
    return sum_ps > 0 && sum_ps >= tm_int(tm_path(all->summary, "gaps.by_cause.host.total_ps")) / 2;
}

/* Do calls that are short elsewhere make up half of it? */
static bool is_of_held_calls(const struct tm_findings *all)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    int64_t sum_ps = 0;

    for (size_t i = 0; i < tm_length(longest); i++)
        if (is_held_up(tm_at(longest, i)))
            sum_ps = tm_sum_times(sum_ps, tm_int(tm_path(tm_at(longest, i), "parts.host")));
    return sum_ps > 0 && sum_ps >= tm_int(tm_path(all->summary, "gaps.by_cause.host.total_ps")) / 2;
}

static const struct advice *advice_for(const struct tm_findings *all, const struct advice *rule)
{
    if (strcmp(rule->cause, "launch") == 0 && tm_idle_is_of_long_launches(all))
        return &late_launches;
    if (strcmp(rule->cause, "host") != 0)
        return rule;
    if (is_startup(all))
        return &startup;
    if (is_of_held_calls(all))
        return &held_up;
    return main_part(all, "host") > 0.5 ? &told_by_main : rule;
}

/* It happens once, whatever the share of the window. */
static void say_lone(struct tm_findings *all, struct tm_finding *f, const char *cause, const struct lone *lone,
                     bool is_apart)
{
    const int64_t total_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "total_ps"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    char once[TM_FORMAT_BYTES + 80], gaps[TM_FORMAT_BYTES + 32];

    if (!lone->gap)
        return;
    (void)snprintf(gaps, sizeof(gaps), lone->gaps > 1 ? "%s gaps at the same time have" : "One gap has",
                   tm_format_count(a, lone->gaps));
    if (chosen > 1)
        (void)snprintf(once, sizeof(once), "an event in one of %s steps, not a loss of each", tm_format_count(a, chosen));
    else
        (void)snprintf(once, sizeof(once), "a single event; whether it comes back in other steps the profile does not tell");
    tm_finding_say(f, "%s %s of it (%s), from %s on: %s%s.", gaps, tm_format_time(a, lone->ps),
                   tm_format_pct(b, tm_share_pct(lone->ps, total_ps)),
                   tm_format_moment(c, tm_int(tm_get(lone->gap, "begin_ps"))), once,
                   is_apart ? "; not counted as potential savings" : "");
}

/* What the thread that launches did not tell. */
static void say_main(struct tm_findings *all, struct tm_finding *f, const char *cause)
{
    const int64_t main_ps = tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause), "main_ps"));
    char time[TM_FORMAT_BYTES];

    if (main_part(all, cause) * 100 < tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE))
        return;
    if (strcmp(cause, "sync") == 0)
        tm_finding_say(f, "In %s of it the threads that launch recorded nothing either.", tm_format_time(time, main_ps));
    else
        tm_finding_say(f, "In %s of it the thread that launches recorded too little: what is named is the main thread's.",
                       tm_format_time(time, main_ps));
}

/* A wait goes on although this device has nothing more to do. */
static void say_long_wait(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *longest = tm_path(all->summary, "gaps.longest");
    int64_t most_ps = 0;
    char time[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(longest); i++) {
        const int64_t part_ps = tm_int(tm_path(tm_at(longest, i), "parts.sync"));

        most_ps = part_ps > most_ps ? part_ps : most_ps;
    }
    if ((double)most_ps >= tm_limit_of(all, TM_LIMIT_LONG_LAUNCH) * 1e9)
        tm_finding_say(f, "The host waits for up to %s while the device has nothing to do: not for its work, but for another "
                          "device, a copy, or the word that the work has ended.", tm_format_time(time, most_ps));
}

/* Work that started late once is no loss of the steps: a fact, but for what is left beside it. */
static struct tm_finding *begin_late(struct tm_findings *all, const struct lone *lone, int64_t left_ps,
                                     const char *path)
{
    const int64_t rest_ps = left_ps > lone->ps ? left_ps - lone->ps : 0;
    const bool is_large = tm_share_on(all, left_ps, path) >= tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    char time[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (tm_is_worth_mention_on(all, rest_ps, path)) {
        f = begin(all, late_launches.id, TM_WAIT_LAUNCH, rest_ps, path);
        tm_finding_title(f, "%s", late_launches.title);
        return f;
    }
    f = tm_finding_of_share(all, late_launches.id, is_large ? TM_WARNING : TM_INFO, left_ps, path);
    tm_finding_title(f, "Launched work starts late once, by %s",
                     tm_format_time(time, tm_int(tm_path(lone->gap, "parts.launch"))));
    return f;
}

static void find_cause(struct tm_findings *all, const struct advice *rule)
{
    const struct advice *advice = advice_for(all, rule);
    const struct lone lone = find_lone(all, advice->cause);
    const bool is_once = advice == &late_launches && lone.gap;
    const enum tm_wait wait = tm_wait_of_cause(advice->cause);
    const struct tm_value *cause = tm_get(tm_path(all->summary, "gaps.by_cause"), advice->cause);
    const int64_t left_ps = tm_wait_left(all, wait), told_ps = all->told_ps[wait];
    char time[TM_FORMAT_BYTES], path[64];
    struct tm_finding *f;

    (void)snprintf(path, sizeof(path), "gaps.by_cause.%s.total_ps", advice->cause);
    if (!tm_is_worth_mention_on(all, left_ps, path) || is_told_elsewhere(all, wait))
        return;
    f = is_once ? begin_late(all, &lone, left_ps, path) : begin(all, advice->id, wait, left_ps, path);
    if (!f)
        return;
    if (!is_once)
        tm_finding_title(f, "%s", advice->title);
    tm_finding_causes(f, advice->why);
    say_share(all, f, advice->cause, cause);
    if (told_ps > 0)
        tm_finding_say(f, "%s of it is part of other findings and not counted here.", tm_format_time(time, told_ps));
    if (wait == TM_WAIT_DEVICE)
        say_pauses(all, f);
    say_lone(all, f, advice->cause, &lone, is_once);
    say_main(all, f, advice->cause);
    if (wait == TM_WAIT_SYNC)
        say_long_wait(all, f);
    tm_idle_say_gaps(all, f, advice->cause);
    say_host(all, f, advice->cause);
    tm_finding_say_scope(all, f, path);
    tm_finding_fixes(f, advice->fix);
}

/* A note: what the devices waited for until then is the finding of its cause. */
static void find_edges(struct tm_findings *all)
{
    const struct tm_value *devices = tm_get(all->summary, "devices"), *worst = NULL;
    const double limit = tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE);
    double most = 0, least = 100;
    char lead[TM_FORMAT_BYTES], trail[TM_FORMAT_BYTES], span[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);
        const int64_t edges_ps = tm_sum_times(tm_int(tm_get(device, "lead_ps")), tm_int(tm_get(device, "trail_ps")));
        const double share = tm_share_pct(edges_ps, tm_int(tm_get(device, "span_ps")));

        if (tm_int(tm_get(device, "busy_ps")) <= 0)
            continue;
        least = share < least ? share : least;
        if (share > most) {
            most = share;
            worst = device;
        }
    }
    if (!worst || most - least < limit)
        return; /* none, or all of them alike: that is the host's doing */
    f = tm_finding_of_fact(all, "idle_edges", TM_INFO);
    tm_finding_value(f, most, "%");
    tm_finding_limit(f, limit);
    tm_finding_title(f, "Some devices start late or finish early");
    tm_finding_cause(f, "A device that has work for only a part of the window is idle for the rest of it. That idle "
                        "time is attributed to its causes like any other.");
    tm_finding_say(f, "%s is idle for %s before its first and %s after its last activity, of %s.",
                   tm_finding_device(f, name, tm_get(worst, "id")),
                   tm_format_time(lead, tm_int(tm_get(worst, "lead_ps"))),
                   tm_format_time(trail, tm_int(tm_get(worst, "trail_ps"))),
                   tm_format_time(span, tm_int(tm_get(worst, "span_ps"))));
    tm_finding_fix(f, "jax|Check that all devices are meant to take part: `jax.devices()`, and the sharding of inputs "
                      "and parameters (`jax.debug.visualize_array_sharding(x)`).");
    tm_finding_fix(f, "torch|Check that all devices are meant to take part, and that all ranks record the same steps: "
                      "give `torch.profiler.schedule(...)` the same numbers on each.");
    tm_finding_fix(f, "Where some devices have other work (pipeline stages), compare each device by its own row of the "
                      "device table instead.");
}

void tm_find_idle(struct tm_findings *all)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
        find_cause(all, &advices[i]);
    find_edges(all);
}
