/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/resolve/classes.h"

/* The class table: row by row with names from real profiles (tests/data/class_rows.tsv, another folder by
 * TM_TEST_DATA), and what those profiles do not hold by tables of its own. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t traits(const char *name)
{
    return tm_traits_of(name, strlen(name));
}

static void planes_are_told_by_name(void **state)
{
    static const struct {
        const char *name;
        enum tm_side side;
        int kind;
        int64_t ordinal;
        bool unknown;
    } rows[] = {
        { "/device:GPU:0", TM_SIDE_DEVICE, TM_DEVICE_GPU, 0, false },
        { "/device:GPU:127", TM_SIDE_DEVICE, TM_DEVICE_GPU, 127, false },
        { "/device:TPU:3", TM_SIDE_DEVICE, TM_DEVICE_TPU, 3, false },
        { "/device:TPU:0 SparseCore 1", TM_SIDE_OTHER, -1, -1, false },
        { "/device:CUSTOM:Megascale Trace", TM_SIDE_OTHER, -1, -1, false },
        { "/device:CUSTOM:MOSAIC:7", TM_SIDE_OTHER, -1, -1, false },
        { "/device:MTIA:0", TM_SIDE_OTHER, -1, -1, true },
        { "/device:GPU:", TM_SIDE_OTHER, -1, -1, true },
        { "/device:GPU:1x", TM_SIDE_OTHER, -1, -1, true },
        { "/device:GPU:-1", TM_SIDE_OTHER, -1, -1, true },
        { "/device:GPU:99999999999999999999", TM_SIDE_OTHER, -1, -1, true },
        { "/host:CPU", TM_SIDE_HOST, -1, -1, false },
        { "/host:CUPTI", TM_SIDE_HOST, -1, -1, false },
        { "/host:ROCTRACER", TM_SIDE_HOST, -1, -1, false },
        { "/host:python-tracer", TM_SIDE_HOST, -1, -1, false },
        { "/host:TPU-runtime", TM_SIDE_HOST, -1, -1, false },
        { "/host:metadata", TM_SIDE_OTHER, -1, -1, false },
        { "/host:__ScopeRangeCallStack__", TM_SIDE_OTHER, -1, -1, false },
        { "/host:tfstreamz", TM_SIDE_OTHER, -1, -1, false },
        { "Task Environment", TM_SIDE_OTHER, -1, -1, false },
        { "#Chip0", TM_SIDE_OTHER, -1, -1, false },
        { "", TM_SIDE_OTHER, -1, -1, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum tm_device_kind kind = (enum tm_device_kind) - 1;
        int64_t ordinal = -1;

        assert_int_equal(tm_side_of_plane(rows[i].name, strlen(rows[i].name), &kind, &ordinal), rows[i].side);
        assert_int_equal((int)kind, rows[i].kind);
        assert_int_equal(ordinal, rows[i].ordinal);
        assert_int_equal(tm_accelerator_of_plane(rows[i].name, strlen(rows[i].name)) != TM_ACCELERATOR_NONE,
                         rows[i].unknown);
    }
}

static void processes_of_others_are_told_by_name(void **state)
{
    static const struct {
        const char *name, *labels;
        bool beside;
        enum tm_accelerator accelerator;
    } rows[] = {
        { "Ascend Hardware", "NPU", false, TM_ACCELERATOR_ASCEND },
        { "Ascend Hardware (NPU)", "", false, TM_ACCELERATOR_ASCEND },
        { "Ascend HardwareX", "", false, TM_ACCELERATOR_NONE },
        { "Overlap Analysis", "NPU", true, TM_ACCELERATOR_ASCEND },
        { "Overlap Analysis", "NPU", false, TM_ACCELERATOR_NONE },
        { "Communication", "", true, TM_ACCELERATOR_ASCEND },
        { "HCCL", "", true, TM_ACCELERATOR_ASCEND },
        { "AI Core Freq", "NPU", true, TM_ACCELERATOR_ASCEND },
        { "Python", "CPU", true, TM_ACCELERATOR_NONE },
        { "CANN", "CPU", true, TM_ACCELERATOR_NONE },
        { "AIU Device0", "AIU", false, TM_ACCELERATOR_AIU },
        { "python", "AIU 0", false, TM_ACCELERATOR_NONE },
        { "", "", true, TM_ACCELERATOR_NONE },
    };
    static const struct {
        const char *name;
        int64_t ordinal; /* -1 = none */
    } queues[] = { { "GPU0", 0 },   { "GPU12", 12 }, { "GPU", -1 }, { "GPU 0", -1 },
                   { "GPU0x", -1 }, { "gpu0", -1 },  { "", -1 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (tm_accelerator_of_process(rows[i].name, strlen(rows[i].name), rows[i].labels, strlen(rows[i].labels),
                                      rows[i].beside) != rows[i].accelerator)
            fail_msg("'%s' (%s) is not told", rows[i].name, rows[i].labels);
    for (size_t i = 0; i < COUNT(queues); i++) {
        int64_t ordinal = -1;

        assert_int_equal(tm_is_gpu_process(queues[i].name, strlen(queues[i].name), &ordinal), queues[i].ordinal >= 0);
        assert_int_equal(ordinal, queues[i].ordinal);
    }
}

static void lines_are_told_by_name_and_id(void **state)
{
    static const struct {
        enum tm_side side;
        enum tm_device_kind kind;
        const char *name;
        int64_t id;
        enum tm_line line;
    } rows[] = {
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Stream #13(Compute)", 13, TM_LINE_STREAM },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Stream #2", 2, TM_LINE_STREAM },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Stream #13(Compute)", 0xdeadbeef + 0xffff, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Stream #13(Compute)", 0xdeadbeefLL + 0x10000, TM_LINE_STREAM },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "anything", 0xdeadbeef, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Steps", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "XLA Ops - from #13", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "XLA Modules", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Framework Name Scope", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "TensorFlow Ops", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Launch Stats", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "Source code", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "CUPTI overhead", 1, TM_LINE_OVERHEAD },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "_counters_", 1, TM_LINE_OTHER },
        { TM_SIDE_DEVICE, TM_DEVICE_GPU, "", 0, TM_LINE_OTHER },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "XLA Ops", 1, TM_LINE_TPU_OPS },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "Async XLA Ops", 1, TM_LINE_TPU_ASYNC },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "XLA Modules", 1, TM_LINE_TPU_MODULES },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "Steps", 0xdeadbeef, TM_LINE_TPU_STEPS },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "Framework Ops", 1, TM_LINE_DERIVED },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "XLA TraceMe", 1, TM_LINE_OTHER },
        { TM_SIDE_DEVICE, TM_DEVICE_TPU, "Sparse Core Ops", 1, TM_LINE_OTHER },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "python", 1, TM_LINE_HOST },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "tf_XLAEigen/12", 0xdeadbeef, TM_LINE_HOST },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "tf_PjRtCompilerThreadPool/12", 1, TM_LINE_COMPILER },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "tf_xla-cpu-llvm-codegen/-3", 1, TM_LINE_COMPILER },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "switchto-default-SDomainT/3", 1, TM_LINE_COMPILER },
        { TM_SIDE_HOST, TM_DEVICE_CPU, "Launch Stats", 1, TM_LINE_DERIVED },
        { TM_SIDE_OTHER, TM_DEVICE_CPU, "Stream #1", 1, TM_LINE_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(tm_line_of(rows[i].side, rows[i].kind, rows[i].name, strlen(rows[i].name), rows[i].id),
                         rows[i].line);
}

/* "hlo_op=x" among the facts: takes what stands behind it. */
static const char *value_of(const char *fact, const char *key)
{
    const size_t n = strlen(key);

    return !strncmp(fact, key, n) ? fact + n : NULL;
}

/* "cat=kernel": what PyTorch's category says of class and side. */
static void take_category(const char *cat, struct tm_class_question *q)
{
    struct tm_category category;

    if (!tm_category_of(cat, strlen(cat), &category))
        fail_msg("unknown category '%s'", cat);
    q->given = (uint8_t)category.class;
    q->side = (uint8_t)category.side;
}

static void take_fact(const char *fact, struct tm_class_question *q, const char **category)
{
    static const struct {
        const char *name;
        enum tm_record_flag flag;
    } flags[] = {
        { "kernel_details", TM_FLAG_KERNEL_DETAILS },
        { "copy_details", TM_FLAG_COPY_DETAILS },
        { "memset_details", TM_FLAG_MEMSET_DETAILS },
        { "correlation", TM_FLAG_CORRELATION },
        { "step", TM_FLAG_STEP },
        { "graph_exec", TM_FLAG_GRAPH_EXEC },
        { "graph_node", TM_FLAG_GRAPH_NODE },
        { "run_id", TM_FLAG_RUN_ID },
    };
    const char *value;

    for (size_t i = 0; i < COUNT(flags); i++) {
        if (!strcmp(fact, flags[i].name)) {
            q->flags = (uint16_t)(q->flags | flags[i].flag);
            return;
        }
    }
    if ((value = value_of(fact, "hlo_op="))) {
        q->flags |= TM_FLAG_HLO_OP;
        q->hlo_traits = traits(value);
    } else if ((value = value_of(fact, "cat="))) {
        take_category(value, q);
    } else if ((value = value_of(fact, "category="))) {
        *category = value;
    } else if (!strcmp(fact, "launched")) {
        q->device_has_correlation = true;
    } else if (!strcmp(fact, "user")) {
        q->line_is_user = true;
    } else if (!strcmp(fact, "device")) {
        q->host_has_device = true;
    } else if (!strcmp(fact, "inside")) {
        q->inside_runtime = true;
    } else if (!strcmp(fact, "instant")) {
        q->kind = TM_INSTANT;
    } else if (strcmp(fact, "-")) {
        fail_msg("unknown fact '%s'", fact);
    }
}

static enum tm_class class_of(const char *plane, const char *line, const char *name, const char *facts)
{
    struct tm_class_question q = { .traits = traits(name), .kind = TM_SPAN };
    struct tm_config config = { .level = TM_LEVEL_NONE };
    enum tm_device_kind kind = TM_DEVICE_CPU;
    const char *category = "";
    char copy[512], *rest = copy, *fact;
    int64_t ordinal = 0;

    assert_true(strlen(facts) < sizeof(copy));
    strcpy(copy, facts);
    q.side = (uint8_t)tm_side_of_plane(plane, strlen(plane), &kind, &ordinal);
    q.line = (uint8_t)tm_line_of(q.side, kind, line, strlen(line), 1);
    while ((fact = strsep(&rest, ";")))
        take_fact(fact, &q, &category);
    if (q.line == TM_LINE_TPU_OPS) {
        tm_parse_tpu_op(name, strlen(name), category, strlen(category), &config);
        q.tpu_collective = config.level == TM_LEVEL_COLLECTIVE;
    }
    return tm_classify(&q);
}

static void names_of_real_profiles_have_their_classes(void **state)
{
    const char *folder = getenv("TM_TEST_DATA");
    char path[4096], *line = NULL;
    size_t size = 0, rows = 0, wrong = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/class_rows.tsv", folder ? folder : "tests/data");
    file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open '%s'", path);
    while (getline(&line, &size, file) > 0) {
        char *rest = line, *field[5];
        const char *got;

        line[strcspn(line, "\n")] = '\0';
        if (*line == '#')
            continue;
        for (size_t i = 0; i < COUNT(field); i++) {
            field[i] = strsep(&rest, "\t");
            assert_non_null(field[i]);
        }
        got = tm_class_name[class_of(field[0], field[1], field[2], field[3])];
        if (strcmp(got, field[4])) {
            print_error("%s | %s | %s | %s: %s, not %s\n", field[0], field[1], field[2], field[3], got, field[4]);
            wrong++;
        }
        rows++;
    }
    free(line);
    (void)fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(rows > 500);
}

struct class_row {
    const char *line, *name, *facts;
    enum tm_class class;
};

static void check_rows(const char *plane, const struct class_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const enum tm_class got = class_of(plane, rows[i].line, rows[i].name, rows[i].facts);

        if (got != rows[i].class)
            fail_msg("%s (%s): %s, not %s", rows[i].name, rows[i].facts, tm_class_name[got],
                     tm_class_name[rows[i].class]);
    }
}

static void gpu_lines_hold_more_than_kernels(void **state)
{
    static const char stream[] = "Stream #13(Compute)", overhead[] = "CUPTI overhead", counters[] = "_counters_";
    static const struct class_row rows[] = {
        { stream, "any_name_at_all", "-", TM_CLASS_KERNEL },
        { stream, "triton_poi_fused_memset_0", "kernel_details", TM_CLASS_KERNEL },
        { stream, "MEMCPYHtoD", "-", TM_CLASS_COPY },
        { stream, "CopyHostToDevice", "correlation", TM_CLASS_COPY },
        { stream, "Memset (Device)", "-", TM_CLASS_MEMSET },
        { stream, "Memset 3", "memset_details", TM_CLASS_MEMSET },
        { stream, "CudaGraphExec:11", "graph_exec;correlation", TM_CLASS_GRAPH },
        { stream, "CudaGraphExec:11", "-", TM_CLASS_GRAPH },
        { stream, "loop_fusion", "graph_exec;graph_node;kernel_details", TM_CLASS_KERNEL },
        { stream, "loop_fusion", "graph_exec;kernel_details", TM_CLASS_KERNEL },
        { stream, "MemcpyD2D", "graph_exec;copy_details", TM_CLASS_COPY },
        { stream, "ncclKernel_AllReduce_RING_LL_Sum_float", "-", TM_CLASS_COLLECTIVE },
        { stream, "void vllm::cross_device_reduce_1stage<float>(float*)", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "one_shot_all_reduce_kernel", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "MultimemAllGather", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "multimem_one_shot_kernel", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "void nvshmemi_barrier_on_stream(int)", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "rcclGenericKernel_4(ncclDevComm*)", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "MSCCL_AllToAll", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "ReduceScatter_ring", "kernel_details", TM_CLASS_COLLECTIVE },
        { stream, "reduce_then_scatter", "kernel_details", TM_CLASS_KERNEL },
        { stream, "fusion.3", "kernel_details;hlo_op=ragged-all-to-all-start.2", TM_CLASS_COLLECTIVE },
        { stream, "fusion.3", "kernel_details;hlo_op=collective-broadcast", TM_CLASS_COLLECTIVE },
        { stream, "fusion.3", "kernel_details;hlo_op=send-done.1", TM_CLASS_COLLECTIVE },
        { stream, "fusion.3", "kernel_details;hlo_op=sender.1", TM_CLASS_KERNEL },
        { stream, "MemcpyP2P", "copy_details;hlo_op=collective-permute-start.1", TM_CLASS_COLLECTIVE },
        { stream, "MemcpyD2D", "copy_details;hlo_op=while.2::all-gather.7", TM_CLASS_COLLECTIVE },
        { stream, "MemcpyH2D", "copy_details;hlo_op=recv-done.3", TM_CLASS_COPY },
        { stream, "loop_add_fusion", "kernel_details;hlo_op=all-reduce-fusion.1", TM_CLASS_KERNEL },
        { stream, "cuStreamSynchronize", "correlation", TM_CLASS_DEVICE_OTHER },
        { stream, "cuStreamWaitEvent", "-", TM_CLASS_DEVICE_OTHER },
        { stream, "UM_GPU_PAGE_FAULT", "-", TM_CLASS_DEVICE_OTHER },
        { stream, "Memory 2", "-", TM_CLASS_DEVICE_OTHER },
        { stream, "InternalMarker", "-", TM_CLASS_DEVICE_OTHER },
        { stream, "Barrier", "-", TM_CLASS_DEVICE_OTHER },
        { stream, "BarrierFreeGemm", "-", TM_CLASS_KERNEL },
        { stream, "FillBuffer", "-", TM_CLASS_MEMSET },
        { stream, "BUFFER_FLUSH", "-", TM_CLASS_PROFILER },
        { overhead, "COMPILER", "-", TM_CLASS_PROFILER },
        { overhead, "BUFFER_FLUSH", "-", TM_CLASS_PROFILER },
        { overhead, "loop_fusion", "kernel_details", TM_CLASS_KERNEL },
        { overhead, "MemcpyD2H", "copy_details", TM_CLASS_COPY },
        { counters, "power_mw", "-", TM_CLASS_DEVICE_OTHER },
        { "Steps", "train 3", "kernel_details", TM_CLASS_DERIVED },
    };

    (void)state;
    check_rows("/device:GPU:0", rows, COUNT(rows));
}

static void host_rules_hold_in_their_order(void **state)
{
    static const char python[] = "python", pool[] = "tf_XLAEigen/1", codegen[] = "tf_xla-cpu-codegen/1";
    static const struct class_row rows[] = {
        { python, "cuStreamSynchronize", "correlation;launched", TM_CLASS_SYNC },
        { python, "cuCtxSynchronize_v2", "-", TM_CLASS_SYNC },
        { python, "cudaDeviceSynchronize", "-", TM_CLASS_SYNC },
        { python, "hipMemcpy", "correlation;launched;copy_details", TM_CLASS_SYNC },
        { python, "cudaMemcpy2D", "-", TM_CLASS_SYNC },
        { python, "cudaGraphAddMemcpyNode", "-", TM_CLASS_RUNTIME },
        { python, "cudaStreamWaitEvent", "-", TM_CLASS_RUNTIME },
        { python, "cudaEventQuery", "-", TM_CLASS_RUNTIME },
        { python, "my_Synchronize", "user", TM_CLASS_ANNOTATION },
        { python, "PjRtBuffer::Await", "-", TM_CLASS_SYNC },
        { python, "SlinkyThreadPool::Await", "-", TM_CLASS_RUNTIME },
        { python, "Stream::BlockHostUntilDone", "-", TM_CLASS_SYNC },
        { python, "$api.py:3105 block_until_ready", "user", TM_CLASS_SYNC },
        { python, "$x.py:1 Array.block_until_ready", "user", TM_CLASS_SYNC },
        { python, "$x.py:1 not_block_until_ready", "user", TM_CLASS_PYTHON },
        { python, "cudaMemcpyAsync", "-", TM_CLASS_LAUNCH },
        { python, "cuMemcpyHtoDAsync_v2", "-", TM_CLASS_LAUNCH },
        { python, "cuMemcpyDtoDAsync_v2_ptsz", "-", TM_CLASS_LAUNCH },
        { python, "cudaGraphLaunch_v10000", "-", TM_CLASS_LAUNCH },
        { python, "cudaLaunchKernelExC_v11060", "-", TM_CLASS_LAUNCH },
        { python, "cuLaunchCooperativeKernel", "-", TM_CLASS_LAUNCH },
        { python, "cuLaunchHostFunc", "-", TM_CLASS_RUNTIME },
        { python, "cuLaunchHostFunc", "correlation;launched", TM_CLASS_LAUNCH },
        { python, "cudaMalloc", "correlation", TM_CLASS_RUNTIME },
        { python, "Launch the Kernel", "user", TM_CLASS_ANNOTATION },
        { pool, "all-reduce.1", "hlo_op=all-reduce.1", TM_CLASS_COLLECTIVE },
        { pool, "all-reduce.1", "hlo_op=all-reduce.1;device", TM_CLASS_CPU_OP },
        { pool, "dot.3", "hlo_op=dot.3", TM_CLASS_CPU_OP },
        { pool, "end: dot.3", "hlo_op=dot.3", TM_CLASS_RUNTIME },
        { python, "cuLaunchKernel", "hlo_op=dot.3;correlation;launched", TM_CLASS_LAUNCH },
        { python, "ProfilerStep#4", "-", TM_CLASS_STEP_MARKER },
        { python, "anything", "step", TM_CLASS_STEP_MARKER },
        { python, "backend_compile", "user", TM_CLASS_COMPILE },
        { python, "backend_compile_and_load", "user", TM_CLASS_COMPILE },
        { python, "my_backend_compile", "user", TM_CLASS_ANNOTATION },
        { python, "$compiler.py:292 backend_compile_and_load", "user", TM_CLASS_PYTHON },
        { python, "PjRtCApiClient::CompileAndLoad", "user", TM_CLASS_COMPILE },
        { python, "TfrtTpuCompiler::Compile", "user", TM_CLASS_RUNTIME },
        { python, "XlaCompile:#module=jit_f#", "user", TM_CLASS_COMPILE },
        { python, "CollectGarbage", "user", TM_CLASS_GC },
        { python, "$gc collect", "user", TM_CLASS_GC },
        { python, "BUFFER_FLUSH", "user", TM_CLASS_PROFILER },
        { python, "Data_Loading", "user", TM_CLASS_INPUT },
        { python, "data_load: shard 3", "user", TM_CLASS_INPUT },
        { python, "## wait_for_training_batch ##", "user", TM_CLASS_INPUT },
        { python, "FETCH_BATCH", "user", TM_CLASS_INPUT },
        { python, "io/load_batch", "user", TM_CLASS_INPUT },
        { python, "load_batch-2", "user", TM_CLASS_ANNOTATION },
        { python, "infeed.3", "user", TM_CLASS_INPUT },
        { python, "x.to_device()", "user", TM_CLASS_INPUT },
        { python, "$api.py:2600 device_put", "user", TM_CLASS_INPUT },
        { python, "$dataloader.py:629 __next__", "user", TM_CLASS_INPUT },
        { python, "$iterators.py:12 __next__", "user", TM_CLASS_PYTHON },
        { python, "$dataloader.py:629 __iter__", "user", TM_CLASS_PYTHON },
        { python, "train/next_batch (3)", "user", TM_CLASS_INPUT },
        { python, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user", TM_CLASS_INPUT },
        { python, "Iterator::Root::Prefetch", "-", TM_CLASS_INPUT },
        { python, "xIterator::Root", "-", TM_CLASS_RUNTIME },
        { python, "$loader.py:12 next_batch", "user", TM_CLASS_INPUT },
        { python, "$<frozen next_batch x>:12 other", "user", TM_CLASS_PYTHON },
        { python, "$prefetch.py:12 run", "user", TM_CLASS_PYTHON },
        { python, "batched_device_put", "user", TM_CLASS_ANNOTATION },
        { python, "next_batches", "user", TM_CLASS_ANNOTATION },
        { python, "infeed-decomposer", "-", TM_CLASS_RUNTIME },
        { codegen, "prefetch", "-", TM_CLASS_RUNTIME },
        { codegen, "XlaCompileBackend", "-", TM_CLASS_COMPILE },
        { python, "GpuExecutable::ExecuteThunks", "user", TM_CLASS_MODULE },
        { python, "my::scope", "user", TM_CLASS_RUNTIME },
        { python, "custom-call.2", "user;inside", TM_CLASS_RUNTIME },
        { python, "layer_norm", "user", TM_CLASS_ANNOTATION },
        { python, "layer_norm", "user;instant", TM_CLASS_INSTANT },
        { python, "layer_norm", "-", TM_CLASS_RUNTIME },
        { pool, "model/dense/MatMul:MatMul", "-", TM_CLASS_FRAMEWORK_OP },
        { pool, "model/prefetch/MatMul:MatMul", "-", TM_CLASS_FRAMEWORK_OP },
        { pool, "IteratorGetNext/_3:_Recv", "-", TM_CLASS_RUNTIME },
        { pool, "IteratorGetNext:IteratorGetNext", "-", TM_CLASS_INPUT },
        { "Launch Stats", "x", "-", TM_CLASS_DERIVED },
    };

    (void)state;
    check_rows("/host:CPU", rows, COUNT(rows));
}

/* What an input gives stays, whatever the name would say. */
static void what_a_category_gives_decides(void **state)
{
    static const struct {
        enum tm_side side;
        enum tm_class given;
        const char *name;
        uint16_t flags;
        enum tm_class class;
    } rows[] = {
        { TM_SIDE_DEVICE, TM_CLASS_KERNEL, "Memset (Device)", 0, TM_CLASS_KERNEL },
        { TM_SIDE_DEVICE, TM_CLASS_KERNEL, "triton_memset_0", 0, TM_CLASS_KERNEL },
        { TM_SIDE_DEVICE, TM_CLASS_KERNEL, "__amd_rocclr_copyBuffer", 0, TM_CLASS_KERNEL },
        { TM_SIDE_DEVICE, TM_CLASS_KERNEL, "any", TM_FLAG_GRAPH_EXEC, TM_CLASS_KERNEL },
        { TM_SIDE_DEVICE, TM_CLASS_COPY, "nccl_copy", 0, TM_CLASS_COPY },
        { TM_SIDE_DEVICE, TM_CLASS_DERIVED, "ncclKernel_AllReduce", 0, TM_CLASS_DERIVED },
        { TM_SIDE_DEVICE, TM_CLASS_COUNTER, "Memcpy", 0, TM_CLASS_COUNTER },
        { TM_SIDE_DEVICE, TM_CLASS_RUNTIME, "Event Sync", TM_FLAG_CORRELATION, TM_CLASS_SYNC },
        { TM_SIDE_DEVICE, TM_CLASS_RUNTIME, "Event Query", TM_FLAG_CORRELATION, TM_CLASS_RUNTIME },
        { TM_SIDE_HOST, TM_CLASS_FRAMEWORK_OP, "aten::add", 0, TM_CLASS_FRAMEWORK_OP },
        { TM_SIDE_HOST, TM_CLASS_FRAMEWORK_OP, "cudaMemcpy", 0, TM_CLASS_FRAMEWORK_OP },
        { TM_SIDE_HOST, TM_CLASS_FRAMEWORK_OP, "cudaLaunchKernel", 0, TM_CLASS_FRAMEWORK_OP },
        { TM_SIDE_HOST, TM_CLASS_FRAMEWORK_OP, "ProfilerStep#16", 0, TM_CLASS_STEP_MARKER },
        { TM_SIDE_HOST, TM_CLASS_ANNOTATION, "train", TM_FLAG_STEP, TM_CLASS_STEP_MARKER },
        { TM_SIDE_HOST, TM_CLASS_ANNOTATION, "ns::scope", 0, TM_CLASS_ANNOTATION },
        { TM_SIDE_HOST, TM_CLASS_ANNOTATION, "## data_load ##", 0, TM_CLASS_INPUT },
        { TM_SIDE_HOST, TM_CLASS_ALLOC, "[memory]", 0, TM_CLASS_ALLOC },
        { TM_SIDE_HOST, TM_CLASS_FREE, "[memory]", 0, TM_CLASS_FREE },
        { TM_SIDE_HOST, TM_CLASS_COUNTER, "prefetch", 0, TM_CLASS_COUNTER },
        { TM_SIDE_HOST, TM_CLASS_FLOW, "cudaLaunchKernel", TM_FLAG_CORRELATION, TM_CLASS_FLOW },
        { TM_SIDE_HOST, TM_CLASS_ASYNC, "ProfilerStep#3", 0, TM_CLASS_ASYNC },
        { TM_SIDE_HOST, TM_CLASS_INSTANT, "Record Window End", 0, TM_CLASS_INSTANT },
        { TM_SIDE_HOST, TM_CLASS_PROFILER, "prefetch", 0, TM_CLASS_PROFILER },
        { TM_SIDE_HOST, TM_CLASS_PYTHON, "$gc collect", 0, TM_CLASS_GC },
        { TM_SIDE_OTHER, TM_CLASS_COUNTER, "any", 0, TM_CLASS_COUNTER },
        { TM_SIDE_OTHER, TM_CLASS_UNRESOLVED, "any", 0, TM_CLASS_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tm_class_question q = { .traits = traits(rows[i].name),
                                             .flags = rows[i].flags,
                                             .side = (uint8_t)rows[i].side,
                                             .given = (uint8_t)rows[i].given,
                                             .line = TM_LINE_STREAM };

        if (tm_classify(&q) != rows[i].class)
            fail_msg("%s given as %s: %s", rows[i].name, tm_class_name[rows[i].given], tm_class_name[tm_classify(&q)]);
    }
}

static void flows_and_the_unknown_are_no_categories(void **state)
{
    static const char *const names[] = { "", "ac2g", "async", "async_gpu", "fwdbwd", "kernels", "gpu_memcp", "KERNEL" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct tm_category category = { .class = TM_CLASS_COUNT };

        assert_false(tm_category_of(names[i], strlen(names[i]), &category));
        assert_int_equal(category.class, TM_CLASS_COUNT);
    }
}

static void devices_that_nobody_knows_are_told_by_their_categories(void **state)
{
    static const struct {
        const char *name;
        enum tm_accelerator accelerator;
    } rows[] = {
        { "mtia_ccp_events", TM_ACCELERATOR_MTIA }, { "mtia_insight", TM_ACCELERATOR_MTIA },
        { "hpu_op", TM_ACCELERATOR_GAUDI },         { "collective_comm", TM_ACCELERATOR_OTHER },
        { "kernel", TM_ACCELERATOR_NONE },          { "mtia_runtime", TM_ACCELERATOR_NONE },
        { "cuda_event", TM_ACCELERATOR_NONE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_category category;

        assert_true(tm_category_of(rows[i].name, strlen(rows[i].name), &category));
        assert_int_equal(category.accelerator, rows[i].accelerator);
    }
}

/* A thread that is blocked does nothing, and its name does not tell what it waits for.  Of their class they stay. */
static void names_of_blocked_threads_are_waits(void **state)
{
    static const struct {
        const char *name;
        bool waits;
    } rows[] = {
        { "Wait for donation holds", true },
        { "Wait for usage holds", true },
        { "Wait: pending_threads=2/4", true },
        { "SlinkyThreadPool::Await", true },
        { "ThunkExecutor::Execute (wait for completion)", true },
        { "InvokeRendezvous", true },
        { "ComputeSemaphoreAcquire", true },
        { "Acquire semaphore", true },
        { "hsa_signal_wait_scacquire", true },
        { "pthread_cond_timedwait", true },
        { "epoll_wait", true },
        { "$threading.py:323 wait", true },
        { "$threading.py:1169 _wait_for_tstate_lock", true },
        { "$queue.py:154 get", true },
        { "$selectors.py:451 select", true },
        { "$<unknown> acquire", true },
        { "$select poll", true },
        { "threading.py(655): wait", true },
        { "lib/python3.11/queue.py(180): get", true },
        { "multiprocessing/connection.py(1136): wait", true },
        { "<built-in method acquire of _thread.lock object at 0x7f3a>", true },
        { "<built-in method acquire of _multiprocessing.SemLock object at 0x7f3a>", true },
        { "<built-in method poll of select.epoll object at 0x7f3a>", true },
        { "<built-in function select>", true },
        /* they block nobody, or do other things as well */
        { "torch/cuda/streams.py(193): wait", false },
        { "torch/cuda/streams.py(59): wait_stream", false },
        { "<built-in method wait of Event object at 0x7f3a>", false },
        { "cudaStreamWaitEvent", false },
        { "$request_queue.py:91 get", false },
        { "$<unknown> get", false },
        { "$<unknown> join", false },
        { "$queue.py:209 _qsize", false },
        { "$time sleep", false },
        { "<built-in method join of str object at 0x7f3a>", false },
        { "aten::select", false },
        { "select", false },
        { "Release semaphore", false },
        { "await_me", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (((traits(rows[i].name) & TM_TRAIT_WAIT) != 0) != rows[i].waits)
            fail_msg("'%s' is %sa wait", rows[i].name, rows[i].waits ? "" : "not ");
}

static void names_tell_the_direction_of_a_copy(void **state)
{
    static const struct {
        const char *name;
        enum tm_direction direction;
    } rows[] = {
        { "MemcpyH2D", TM_H2D },
        { "MemcpyD2H", TM_D2H },
        { "MemcpyD2D", TM_D2D },
        { "MemcpyP2P", TM_P2P },
        { "MemcpyOther", TM_OTHER_DIRECTION },
        { "MEMCPYHtoD", TM_H2D },
        { "MEMCPYDToH", TM_D2H },
        { "Memcpy HtoD (Pageable -> Device)", TM_H2D },
        { "Memcpy PtoP (Device -> Device)", TM_P2P },
        { "Memcpy", TM_OTHER_DIRECTION },
        { "Memcpy ", TM_OTHER_DIRECTION },
        { "MemcpyH2", TM_OTHER_DIRECTION },
        { "CopyHostToDevice", TM_H2D },
        { "CopyDeviceToHost", TM_D2H },
        { "CopyDeviceToDevice", TM_D2D },
        { "CopyHostToHost", TM_OTHER_DIRECTION },
        { "__amd_rocclr_copyBuffer.kd", TM_OTHER_DIRECTION },
        { "cuMemcpyHtoDAsync_v2", TM_H2D },
        { "hipMemcpyDtoHAsync", TM_D2H },
        { "cuMemcpyDtoD", TM_D2D },
        { "cuMemcpyPeerAsync", TM_P2P },
        { "cuMemcpyAtoH_v2", TM_D2H },
        { "cudaMemcpyAsync", TM_OTHER_DIRECTION },
        { "loop_fusion", TM_OTHER_DIRECTION },
        { "", TM_OTHER_DIRECTION },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(tm_direction_of(traits(rows[i].name)), rows[i].direction);
}

static void hlo_names_tell_collectives(void **state)
{
    /* clang-format off */
    static const char *const yes[] = {
        "all-reduce", "all-reduce.1", "all-gather-start", "all-gather-done.3", "reduce-scatter.2.remat",
        "ragged-all-to-all.4", "collective-broadcast", "send-done.1", "recv", "while.1::all-to-all.2",
        "all_gather.3", "collective-permute-start.clone",
    };
    static const char *const no[] = {
        "all-reduce-scatter-fusion", "all-reduces", "sender", "recv-starter", "loop_all-reduce", "fusion.1",
        "all-reduce-done-x", "%all-reduce = f32[] all-reduce(f32[] %x)", "::", "all-reduce.1::fusion.2",
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++)
        assert_true(traits(yes[i]) & TM_TRAIT_COLLECTIVE_TOKEN);
    for (size_t i = 0; i < COUNT(no); i++)
        assert_false(traits(no[i]) & TM_TRAIT_COLLECTIVE_TOKEN);
}

static void classes_have_their_levels(void **state)
{
    const struct tm_config wait = { .level = TM_LEVEL_D2D }, host = { .level = TM_LEVEL_NONE };

    (void)state;
    assert_int_equal(tm_level_of(TM_CLASS_KERNEL, TM_H2D, NULL), TM_LEVEL_COMPUTE);
    assert_int_equal(tm_level_of(TM_CLASS_MEMSET, TM_H2D, NULL), TM_LEVEL_COMPUTE);
    assert_int_equal(tm_level_of(TM_CLASS_GRAPH, TM_H2D, NULL), TM_LEVEL_COMPUTE);
    assert_int_equal(tm_level_of(TM_CLASS_CPU_OP, TM_H2D, NULL), TM_LEVEL_COMPUTE);
    assert_int_equal(tm_level_of(TM_CLASS_COLLECTIVE, TM_P2P, NULL), TM_LEVEL_COLLECTIVE);
    assert_int_equal(tm_level_of(TM_CLASS_COPY, TM_H2D, NULL), TM_LEVEL_H2D);
    assert_int_equal(tm_level_of(TM_CLASS_COPY, TM_D2H, NULL), TM_LEVEL_D2H);
    assert_int_equal(tm_level_of(TM_CLASS_COPY, TM_P2P, NULL), TM_LEVEL_P2P);
    assert_int_equal(tm_level_of(TM_CLASS_COPY, TM_D2D, NULL), TM_LEVEL_D2D);
    assert_int_equal(tm_level_of(TM_CLASS_COPY, TM_OTHER_DIRECTION, NULL), TM_LEVEL_OTHER_COPY);
    assert_int_equal(tm_level_of(TM_CLASS_TPU_OP, TM_H2D, &wait), TM_LEVEL_D2D);
    assert_int_equal(tm_level_of(TM_CLASS_TPU_OP, TM_H2D, &host), TM_LEVEL_NONE);
    assert_int_equal(tm_level_of(TM_CLASS_TPU_ASYNC, TM_H2D, &wait), TM_LEVEL_NONE);
    assert_int_equal(tm_level_of(TM_CLASS_LAUNCH, TM_H2D, NULL), TM_LEVEL_NONE);
    assert_int_equal(tm_level_of(TM_CLASS_DEVICE_OTHER, TM_H2D, NULL), TM_LEVEL_NONE);
}

/* A sanitizer build sees a read past the end: the text lies in a block of its own. */
static void any_bytes_are_a_name(void **state)
{
    static const char *const pieces[] = {
        "$",    "%",     "cu",     "cuda", "hip",    "Memcpy", "Async",      "_v2", "::", "Iterator",
        "all_", "all-",  "reduce", ":",    "/",      " ",      "\xff",       "H",   "2",  "to",
        "D",    "_ptsz", "-start", ".",    "Launch", "Kernel", "next_batch", "",
    };
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[128], *copy;
        size_t length = 0;

        for (int n = round % 6; n >= 0; n--) {
            const char *piece;

            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            piece = pieces[seed % COUNT(pieces)];
            memcpy(text + length, piece, strlen(piece));
            length += strlen(piece);
        }
        copy = malloc(length ? length : 1);
        assert_non_null(copy);
        memcpy(copy, text, length);
        assert_true(tm_traits_of(copy, length) == tm_traits_of(text, length));
        assert_true(tm_direction_of(tm_traits_of(copy, length)) < TM_DIRECTION_COUNT);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_told_by_name),
        cmocka_unit_test(processes_of_others_are_told_by_name),
        cmocka_unit_test(lines_are_told_by_name_and_id),
        cmocka_unit_test(names_of_real_profiles_have_their_classes),
        cmocka_unit_test(gpu_lines_hold_more_than_kernels),
        cmocka_unit_test(host_rules_hold_in_their_order),
        cmocka_unit_test(what_a_category_gives_decides),
        cmocka_unit_test(flows_and_the_unknown_are_no_categories),
        cmocka_unit_test(devices_that_nobody_knows_are_told_by_their_categories),
        cmocka_unit_test(names_of_blocked_threads_are_waits),
        cmocka_unit_test(names_tell_the_direction_of_a_copy),
        cmocka_unit_test(hlo_names_tell_collectives),
        cmocka_unit_test(classes_have_their_levels),
        cmocka_unit_test(any_bytes_are_a_name),
    };

    return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
