/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an XSpace: scanned, surveyed, put in order, resolved, and through the stage that works out device time.
 * The fuzzer chooses which steps, and whether arguments are kept (see fuzz_choices.h).  Beside what the sanitizers see: parts
 * that do not add up, events out of order, arguments that cannot be read, and memory that is not given back.
 * Seeds: profiles of the builder, written into the folder $TM_FUZZ_SEEDS before the first input. */
#include <string.h>

#include "pipeline/engine/analysis.h"
#include "stages/figures/device_time.h"
#include "stages/figures/feed.h"
#include "stages/resolve/classes.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/fuzz/fuzz_mutate.h"
#include "tests/support/xspace_builder.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static uint64_t events_read; /* since the target began */

/* --- seeds --- */

static void put_gpu_work(struct xb_plane *gpu, struct xb_line *driver, int64_t stream, int kernels)
{
    char name[32];
    struct xb_line *line;

    (void)snprintf(name, sizeof(name), "Stream #%lld", (long long)stream);
    line = xb_line(gpu, stream, name, 100);
    for (int i = 0; i < kernels; i++) {
        const int64_t id = 100 * stream + i;

        xb_event(driver, "cuLaunchKernel", 5000 * i, 900);
        xb_int(driver, "correlation_id", id);
        if (i % 4 == 3) {
            xb_event(line, "MemcpyD2H", 5000 * i + 1000, 700);
            xb_str(line, "memcpy_details", "kind_src:device kind_dst:pinned size:64 dest:0 async:1");
        } else {
            xb_event(line, i % 3 ? "fusion" : "ncclDevKernel_AllReduce", 5000 * i + 1000, 3000);
            xb_ref(line, "kernel_details", "regs:32 grid:8,2,1 block:256,1,1 occ_pct:50");
            xb_ref(line, "hlo_op", i % 3 ? "fusion.1" : "all-reduce.2");
            xb_ref(line, "hlo_module", "jit_step");
        }
        xb_int(line, "correlation_id", id);
        if (i % 5 == 4)
            xb_int(line, "group_id", i / 5);
        xb_real(line, "theoretical_occupancy_pct", 50);
        xb_bytes_value(line, "bytes", "abc\x01", 4);
        xb_int_of_id(line, 9000 + i, -1);
        xb_ref_of_id(line, "lost", 9000);
    }
}

static void put_gpu_seed(struct xb_space *space)
{
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const python = xb_line(host, -5, "python", 100);
    struct xb_line *const driver = xb_line(host, 6, "Host Threads/6", 100);

    for (int i = 0; i < 3; i++) {
        xb_event(python, "train", 15000 * i, 14000);
        xb_int(python, "_r", 1);
        xb_int(python, "step_num", 7 + i);
        xb_event(python, "$model.py:3 step", 15000 * i + 10, 9000);
        xb_event(python, i ? "BlockHostUntilReady" : "backend_compile", 15000 * i + 9100, 4000);
    }
    put_gpu_work(xb_plane(space, "/device:GPU:0"), driver, 3, 9);
    put_gpu_work(xb_plane(space, "/device:GPU:1"), xb_line(host, 7, "Host Threads/7", 100), 4, 5);
}

static void put_tpu_seed(struct xb_space *space)
{
    static const char *const ops[] = { "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)",
                                       "%ar-start = f32[8]{0} all-reduce-start(f32[8]{0} %a)",
                                       "%ar-done = f32[8]{0} all-reduce-done(f32[8]{0} %ar-start)",
                                       "%w = (s32[]) while((s32[]) %t), condition=%c, body=%b" };
    struct xb_plane *const tpu = xb_plane(space, "/device:TPU:0");
    struct xb_line *const modules = xb_line(tpu, 2, "XLA Modules", 0);
    struct xb_line *const op_line = xb_line(tpu, 3, "XLA Ops", 0);
    struct xb_line *const steps = xb_line(tpu, 1, "Steps", 0);
    struct xb_line *const queue = xb_line(xb_plane(space, "/host:CPU"), 1, "tpu_driver", 0);

    for (int i = 0; i < 3; i++) {
        xb_event(queue, "DoEnqueueProgram", 9000 * i, 200);
        xb_int(queue, "run_id", 40 + i);
        xb_int(queue, "device_ordinal", 0);
        xb_event(steps, "step", 9000 * i + 500, 8000);
        xb_event(modules, "jit_step(9)", 9000 * i + 500, 8000);
        xb_int(modules, "run_id", 40 + i);
        for (int k = 0; k < 4; k++)
            xb_event(op_line, ops[k], 9000 * i + 600 + 1500 * k, 1300);
    }
}

static void put_cpu_seed(struct xb_space *space)
{
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const pool = xb_line(host, 1, "tf_XLAEigen/1", 2);

    for (int i = 0; i < 8; i++) {
        xb_event(pool, i % 4 ? "dot.3" : "all-reduce.1", 900 * i, 600);
        xb_ref(pool, "hlo_op", i % 4 ? "dot.3" : "all-reduce.1");
        xb_int(pool, "run_id", i / 4);
        xb_int(pool, "device_ordinal", i % 2);
    }
    xb_plane_number(xb_plane(space, "Task Environment"), "profile_start_time", 1767225600000000000u);
    xb_warning(space, "a warning");
}

static void make_seed(struct xb_bytes *bytes, void (*put)(struct xb_space *space), struct xb_style style)
{
    struct xb_space *const space = xb_space_new();

    put(space);
    xb_encode(space, &style, bytes);
    xb_space_free(space);
}

static void write_seed(const char *folder, const char *name, void (*put)(struct xb_space *space), struct xb_style style)
{
    struct xb_bytes bytes = { .length = 0 };
    char path[4096];
    FILE *to;

    make_seed(&bytes, put, style);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    to = fopen(path, "wb");
    if (to) {
        (void)fwrite(bytes.at, 1, bytes.length, to);
        (void)fclose(to);
    }
    xb_free(&bytes);
}

/* A target that reads nothing finds nothing. */
static void abort_unless_a_seed_has_events(void)
{
    struct xb_bytes bytes = { .length = 0 };
    const uint64_t before = events_read;

    make_seed(&bytes, put_gpu_seed, (struct xb_style){ .shuffle = 0 });
    (void)LLVMFuzzerTestOneInput(bytes.at, bytes.length);
    if (events_read == before)
        abort();
    xb_free(&bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");

    (void)argc;
    (void)argv;
    abort_unless_a_seed_has_events();
    if (!folder)
        return 0;
    write_seed(folder, "built-gpu", put_gpu_seed, (struct xb_style){ .shuffle = 0 });
    write_seed(folder, "built-gpu-strange", put_gpu_seed,
               (struct xb_style){ .unknown_fields = true, .groups = true, .duplicates = true, .metadata_first = true });
    write_seed(folder, "built-tpu", put_tpu_seed, (struct xb_style){ .shuffle = 0 });
    write_seed(folder, "built-tpu-shuffled", put_tpu_seed, (struct xb_style){ .shuffle = 9 });
    write_seed(folder, "built-cpu", put_cpu_seed, (struct xb_style){ .keeps_zeros = true });
    return 0;
}

/* --- one input --- */

static struct fuzz_choices choices;

struct way {
    struct tm_stage stage;
    struct tm_feed feed;
    struct tm_host_run *host;
    struct tm_record before;
    uint64_t events;
    uint8_t list[TM_ARGUMENTS_MOST];
};

/* Every node can be read, and bears a name that is there. */
static void check_arguments(const struct tm_trace *trace, struct tm_arguments list)
{
    const uint64_t names = tm_names_count(trace->names);

    while (list.length) {
        struct tm_argument a;

        if (!tm_arguments_next(&list, true, &a) || a.key >= names || (a.type == TM_ARGUMENT_NAME && a.value >= names))
            abort();
    }
}

static void check_own_and_common(struct way *way, const struct tm_event *event)
{
    const struct tm_trace *const trace = &way->host->trace;
    uint8_t whole[TM_TEMPLATE_WHOLE_MOST];
    struct tm_arguments common;

    if (!trace->keeps_arguments && (event->own.length || event->record.common))
        abort();                                  /* nobody asked for them */
    if (event->record.flags & TM_FLAG_TEMPLATE) { /* which has those in common, too */
        check_arguments(trace, tm_arguments_whole(trace->templates, event->record.common, event->own,
                                                  event->record.correlation, whole));
        return;
    }
    check_arguments(trace, event->own);
    if (event->record.common && tm_trace_common(trace, event->record.common, way->list, &common) == TM_OK)
        check_arguments(trace, common);
}

static tm_status take_event(void *to, const struct tm_event *event)
{
    struct way *const way = to;
    const struct tm_record *const a = &way->before, *const b = &event->record;

    if (way->events++ && (b->start_ps < a->start_ps || (b->start_ps == a->start_ps && b->dur_ps > a->dur_ps)))
        abort(); /* out of order */
    way->before = *b;
    events_read++;
    check_own_and_common(way, event);
    tm_feed_take(&way->feed, event);
    tm_feed_flush(&way->feed);
    return way->stage.run->error.status;
}

/* Of every device busy and idle are its span, and the causes are the idle time. */
static void check_sums(const struct tm_value *root)
{
    const struct tm_value *const devices = tm_get(root, "devices");

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *const device = tm_at(devices, i);
        const struct tm_value *const causes = tm_path(device, "gaps.by_cause");
        int64_t idle_ps = 0;

        for (size_t k = 0; k < tm_length(causes); k++)
            idle_ps += tm_int(tm_get(tm_value_at(causes, k), "total_ps"));
        if (idle_ps != tm_int(tm_get(device, "idle_ps")) ||
            idle_ps + tm_int(tm_get(device, "busy_ps")) != tm_int(tm_get(device, "span_ps")))
            abort();
    }
}

static tm_status run_stage(struct way *way, struct tm_host_run *host)
{
    struct tm_doc *doc;
    tm_status st = way->stage.type->open(&way->stage);

    if (st == TM_OK)
        st = tm_feed_init(&way->feed, host->run, &way->stage, 1);
    if (st == TM_OK) {
        tm_feed_begin_host(&way->feed, &host->trace);
        (void)tm_host_events(host, take_event, way);
        tm_feed_end_host(&way->feed);
        st = host->run->error.status;
    }
    doc = st == TM_OK ? tm_doc_new(host->run) : NULL;
    if (doc && way->stage.type->report(&way->stage, tm_doc_root(doc)) == TM_OK && tm_doc_status(doc) == TM_OK)
        check_sums(tm_doc_root(doc));
    tm_doc_free(doc);
    tm_feed_release(&way->feed);
    way->stage.type->close(&way->stage);
    return st;
}

static void ignore_warning(void *to, const char *text, size_t length)
{
    (void)to;
    (void)text;
    (void)length;
}

static void read_profile(struct tm_run *run, const char *path, size_t size)
{
    const uint8_t *const chosen = choices.bytes;
    const struct tm_host_options options = {
        .steps = { .all = chosen[0] % 4 == 1,
                   .has_range = chosen[0] % 4 == 2,
                   .begin = chosen[1] % 4,
                   .end = chosen[1] % 4 + chosen[1] / 4 % 8,
                   .has_skip = chosen[0] % 4 == 3,
                   .skip = chosen[1] % 6 },
        .keeps_arguments = chosen[2] % 2,
        .warn = ignore_warning,
    };
    const struct tm_settings settings = { .gap_min_ps = 1000,
                                          .table_rows = 50,
                                          .session_window = chosen[2] / 2 % 4 == 1 };
    struct tm_names *const names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    struct tm_host_run host = { .run = NULL };
    struct way way = { .stage = { .type = &tm_device_time_stage, .run = run, .settings = &settings }, .host = &host };
    char file[64];
    const struct tm_found_file found = { .path = file, .host = (char[]){ "host" }, .bytes = size };

    (void)snprintf(file, sizeof(file), "%s", path);
    way.stage.state = tm_take(&run->budget, TM_ACCOUNT_MODEL, way.stage.type->state_bytes, &run->error);
    if (names && way.stage.state) {
        if (tm_host_open(&host, run, names, &found, 0, &options) == TM_OK)
            (void)!run_stage(&way, &host);
        tm_host_close(&host);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, way.stage.state, way.stage.type->state_bytes);
    tm_names_free(names);
}

static void use_file(const char *path, size_t size)
{
    struct tm_run run;

    fuzz_run_init(&run);
    read_profile(&run, path, size);
    fuzz_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = fuzz_choices_take(data, &size);
    fuzz_with_file(data, size, use_file);
    return 0;
}
