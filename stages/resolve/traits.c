/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/store/waiting_names.h"

enum tm_known_how {
    TM_KNOWN_WHOLE,  /* the whole name */
    TM_KNOWN_PREFIX, /* the name starts so */
    TM_KNOWN_SUFFIX, /* the name ends so */
};

/* The names of METRICS section 1 in the spelling of real writers: XLA and PJRT for CPU, GPU, and TPU, JAX's own
 * annotations, TensorFlow's executor, CUPTI, and ROCTracer.  Names with "::" need no row: that makes them runtime.
 * Longer rows may follow shorter ones: all matching rows are combined. */

#define WHOLE(text, traits)                                                                                            \
    {                                                                                                                  \
        text, sizeof(text) - 1, TM_KNOWN_WHOLE, traits                                                                 \
    }
#define PREFIX(text, traits)                                                                                           \
    {                                                                                                                  \
        text, sizeof(text) - 1, TM_KNOWN_PREFIX, traits                                                                \
    }
#define SUFFIX(text, traits)                                                                                           \
    {                                                                                                                  \
        text, sizeof(text) - 1, TM_KNOWN_SUFFIX, traits                                                                \
    }
#define DIRECTION(which) ((uint32_t)((which) + 1) << TM_TRAIT_DIRECTION_SHIFT)

const struct tm_known_name tm_known_names[] = {
    /* device: copies, memsets, graphs */
    PREFIX("Memcpy", TM_TRAIT_COPY_NAME),
    PREFIX("MEMCPY", TM_TRAIT_COPY_NAME),
    PREFIX("CopyHostTo", TM_TRAIT_COPY_NAME),
    PREFIX("CopyDeviceTo", TM_TRAIT_COPY_NAME),
    PREFIX("__amd_rocclr_copyBuffer", TM_TRAIT_COPY_NAME),
    PREFIX("Memset", TM_TRAIT_MEMSET_NAME),
    PREFIX("__amd_rocclr_fillBuffer", TM_TRAIT_MEMSET_NAME),
    WHOLE("FillBuffer", TM_TRAIT_MEMSET_NAME),
    PREFIX("CudaGraphExec", TM_TRAIT_GRAPH_NAME),
    PREFIX("HipGraphExec", TM_TRAIT_GRAPH_NAME),

    /* on a GPU stream, but no work of the GPU */
    PREFIX("UM_", TM_TRAIT_BOOKKEEPING),
    PREFIX("Memory ", TM_TRAIT_BOOKKEEPING),
    PREFIX("MemoryAlloc", TM_TRAIT_BOOKKEEPING),
    PREFIX("MemoryFree", TM_TRAIT_BOOKKEEPING),
    PREFIX("MemoryResidency", TM_TRAIT_BOOKKEEPING),
    WHOLE("Marker", TM_TRAIT_BOOKKEEPING), /* ROCm's queues */
    WHOLE("InternalMarker", TM_TRAIT_BOOKKEEPING),
    WHOLE("Barrier", TM_TRAIT_BOOKKEEPING),
    PREFIX("HostRegister", TM_TRAIT_BOOKKEEPING),
    PREFIX("HostUnregister", TM_TRAIT_BOOKKEEPING),

    /* markers and memory */
    PREFIX("ProfilerStep#", TM_TRAIT_STEP_NAME),
    WHOLE("MemoryAllocation", TM_TRAIT_ALLOC),
    WHOLE("MemoryDeallocation", TM_TRAIT_FREE),

    /* what blocks the host; driver calls are identified by rule */
    WHOLE("BlockHostUntilReady", TM_TRAIT_SYNC),
    SUFFIX("::BlockHostUntilReady", TM_TRAIT_SYNC),
    SUFFIX("::BlockHostUntilDone", TM_TRAIT_SYNC),
    SUFFIX("Buffer::Await", TM_TRAIT_SYNC),
    WHOLE("np.asarray(jax.Array)", TM_TRAIT_SYNC),
    WHOLE("block_until_ready", TM_TRAIT_SYNC),
    WHOLE("Context Sync", TM_TRAIT_SYNC), /* PyTorch, of category cuda_sync */
    WHOLE("Stream Sync", TM_TRAIT_SYNC),
    WHOLE("Event Sync", TM_TRAIT_SYNC),

    WHOLE("DoEnqueueProgram", TM_TRAIT_LAUNCH),
    WHOLE("tpu::System::TransferToDevice", TM_TRAIT_TPU_TRANSFER | DIRECTION(TM_H2D)),
    WHOLE("tpu::System::TransferFromDevice", TM_TRAIT_TPU_TRANSFER | DIRECTION(TM_D2H)),

    WHOLE("backend_compile", TM_TRAIT_COMPILE_WHOLE),
    WHOLE("backend_compile_and_load", TM_TRAIT_COMPILE_WHOLE),
    SUFFIX("Client::Compile", TM_TRAIT_COMPILE_CLIENT),
    SUFFIX("Client::CompileAndLoad", TM_TRAIT_COMPILE_CLIENT),
    PREFIX("XlaCompile", TM_TRAIT_COMPILE_XLA),

    WHOLE("CollectGarbage", TM_TRAIT_GC),
    SUFFIX("::CollectGarbage", TM_TRAIT_GC),
    WHOLE("$gc collect", TM_TRAIT_GC),

    WHOLE("BUFFER_FLUSH", TM_TRAIT_PROFILER),
    WHOLE("Buffer Flush", TM_TRAIT_PROFILER),
    WHOLE("INSTRUMENTATION", TM_TRAIT_PROFILER),
    WHOLE("Instrumentation", TM_TRAIT_PROFILER),
    WHOLE("Activity Buffer Request", TM_TRAIT_PROFILER),

    /* module executions */
    SUFFIX("::ExecuteThunks", TM_TRAIT_EXECUTE_THUNKS),
    SUFFIX("::ExecuteHelper", TM_TRAIT_EXECUTE),
    SUFFIX("::ExecuteHelperOnSingleDevice", TM_TRAIT_EXECUTE),
    PREFIX("GpuExecutable::ExecuteAsyncOnStream", TM_TRAIT_EXECUTE),

    /* JAX */
    PREFIX("PjitFunction(", TM_TRAIT_PJIT | TM_TRAIT_RUNTIME),
    PREFIX("PmapFunction(", TM_TRAIT_PJIT | TM_TRAIT_RUNTIME),
    PREFIX("ParseArguments", TM_TRAIT_RUNTIME),
    PREFIX("cpp_pjit_", TM_TRAIT_RUNTIME),
    PREFIX("shard_args", TM_TRAIT_RUNTIME),
    PREFIX("DevicePut", TM_TRAIT_RUNTIME),
    PREFIX("PyArray", TM_TRAIT_RUNTIME),
    PREFIX("ArrayImpl.", TM_TRAIT_RUNTIME),
    PREFIX("ExecuteReplicated.", TM_TRAIT_RUNTIME),
    PREFIX("batched_copy_", TM_TRAIT_RUNTIME),
    PREFIX("BatchedCopyTo", TM_TRAIT_RUNTIME),
    PREFIX("BatchedDevicePut", TM_TRAIT_RUNTIME),
    WHOLE("lower_sharding_computation", TM_TRAIT_RUNTIME),
    WHOLE("lower_mesh_computation", TM_TRAIT_RUNTIME),
    WHOLE("lower_parallel_callable", TM_TRAIT_RUNTIME),
    WHOLE("lower_xla_callable", TM_TRAIT_RUNTIME),
    WHOLE("stage_parallel_callable", TM_TRAIT_RUNTIME),
    PREFIX("trace_to_jaxpr", TM_TRAIT_RUNTIME),
    PREFIX("trace_to_subjaxpr", TM_TRAIT_RUNTIME),

    /* PJRT and IFRT */
    PREFIX("PJRT_", TM_TRAIT_RUNTIME),
    PREFIX("PjRt", TM_TRAIT_RUNTIME),
    PREFIX("IFRT", TM_TRAIT_RUNTIME),
    PREFIX("Wait for ", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    PREFIX("Wait: pending_threads=", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("RecordUsage", TM_TRAIT_RUNTIME),
    WHOLE("MakeOutputBuffers", TM_TRAIT_RUNTIME),
    WHOLE("ThenExecuteCallback", TM_TRAIT_RUNTIME),
    WHOLE("Build buffer allocations", TM_TRAIT_RUNTIME),
    WHOLE("Resolve constant globals", TM_TRAIT_RUNTIME),
    WHOLE("ComputeSemaphoreAcquire", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("Acquire semaphore", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    SUFFIX("::Await", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    SUFFIX(" (wait for completion)", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("Release semaphore", TM_TRAIT_RUNTIME),
    PREFIX("AllocateOutputBuffer", TM_TRAIT_RUNTIME),
    PREFIX("AllocateDestinationBuffer", TM_TRAIT_RUNTIME),
    PREFIX("Handle input", TM_TRAIT_RUNTIME),
    PREFIX("Handle outputs", TM_TRAIT_RUNTIME),
    WHOLE("H2D Dispatch", TM_TRAIT_RUNTIME),
    WHOLE("D2H Dispatch", TM_TRAIT_RUNTIME),
    WHOLE("PCIe/Memcpy Dispatch", TM_TRAIT_RUNTIME),
    WHOLE("InvokeRendezvous", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("Rendezvous", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    PREFIX("ThreadpoolListener", TM_TRAIT_RUNTIME),
    PREFIX("end: ", TM_TRAIT_RUNTIME | TM_TRAIT_END_MARKER),

    /* of any program: the thread is blocked */
    WHOLE("pthread_cond_wait", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("pthread_cond_timedwait", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("pthread_mutex_lock", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("sem_wait", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("epoll_wait", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    WHOLE("futex", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),
    PREFIX("hsa_signal_wait", TM_TRAIT_RUNTIME | TM_TRAIT_WAIT),

    /* TPU runtime */
    WHOLE("EnqueueContinuationProgram", TM_TRAIT_RUNTIME),
    WHOLE("CompleteCallbacks", TM_TRAIT_RUNTIME),
    PREFIX("LoadProgram", TM_TRAIT_RUNTIME),
    WHOLE("ActualLoad", TM_TRAIT_RUNTIME),
    WHOLE("CopyProgramsToSharedMemory", TM_TRAIT_RUNTIME),
    WHOLE("MapDmaBuffer", TM_TRAIT_RUNTIME),
    WHOLE("ReadSyncFlag", TM_TRAIT_RUNTIME),
    WHOLE("ScheduleWork", TM_TRAIT_RUNTIME),
    WHOLE("Linearize", TM_TRAIT_RUNTIME),
    PREFIX("Delinearize", TM_TRAIT_RUNTIME),
    WHOLE("XlaLinearize", TM_TRAIT_RUNTIME),
    WHOLE("XlaDelinearize", TM_TRAIT_RUNTIME),
    WHOLE("ParallelTranspose", TM_TRAIT_RUNTIME),

    /* TensorFlow */
    WHOLE("ExecutorPropagateOutputs", TM_TRAIT_RUNTIME),
    WHOLE("ExecutorDoneCallback", TM_TRAIT_RUNTIME),
    WHOLE("FunctionRun", TM_TRAIT_RUNTIME),
    WHOLE("MemCpyAsync", TM_TRAIT_RUNTIME),
    WHOLE("PrefetchConsume", TM_TRAIT_RUNTIME),
    WHOLE("PrefetchProduce", TM_TRAIT_RUNTIME),
    WHOLE("RemoteCallOp", TM_TRAIT_RUNTIME),
    WHOLE("RemoteCallOpDone", TM_TRAIT_RUNTIME),
    PREFIX("RemoteCall: ", TM_TRAIT_RUNTIME),

    SUFFIX(":XLA GPU module", TM_TRAIT_RUNTIME),

    /* the compiler's passes, if neither the thread nor an enclosing compile identifies them: only names that no user
     * would give to a part of a program */
    PREFIX("HLO passes ", TM_TRAIT_RUNTIME),
    PREFIX("HLO optimization passes", TM_TRAIT_RUNTIME),
    PREFIX("after layout assignment", TM_TRAIT_RUNTIME),
    PREFIX("simplification after layout assignment", TM_TRAIT_RUNTIME),
    PREFIX("SubbytePacker pipeline", TM_TRAIT_RUNTIME),
    PREFIX("Post async canonicalizer", TM_TRAIT_RUNTIME),
    PREFIX("float-normalization-", TM_TRAIT_RUNTIME),
    PREFIX("sparse-dense-matmul-", TM_TRAIT_RUNTIME),
    PREFIX("while-loop-", TM_TRAIT_RUNTIME),
    PREFIX("LSRAv", TM_TRAIT_RUNTIME),
    WHOLE("Codegen", TM_TRAIT_RUNTIME),
    WHOLE("RecordCpuCompilerStacktrace", TM_TRAIT_RUNTIME),
    WHOLE("RunInvariantCheckers", TM_TRAIT_RUNTIME),
    WHOLE("algsimp", TM_TRAIT_RUNTIME),
    WHOLE("dce", TM_TRAIT_RUNTIME),
    WHOLE("cse", TM_TRAIT_RUNTIME),
    WHOLE("call-inliner", TM_TRAIT_RUNTIME),
    WHOLE("constant_folding", TM_TRAIT_RUNTIME),
    WHOLE("flatten-call-graph", TM_TRAIT_RUNTIME),
    WHOLE("zero_sized_hlo_elimination", TM_TRAIT_RUNTIME),
    SUFFIX("-expander", TM_TRAIT_RUNTIME),
    SUFFIX("_expander", TM_TRAIT_RUNTIME),
    SUFFIX("-decomposer", TM_TRAIT_RUNTIME),
    SUFFIX("_decomposer", TM_TRAIT_RUNTIME),
    SUFFIX("-rewriter", TM_TRAIT_RUNTIME),
    SUFFIX("_rewriter", TM_TRAIT_RUNTIME),
    SUFFIX("-simplifier", TM_TRAIT_RUNTIME),
    SUFFIX("_simplifier", TM_TRAIT_RUNTIME),
    SUFFIX("-canonicalizer", TM_TRAIT_RUNTIME),
    SUFFIX("_canonicalizer", TM_TRAIT_RUNTIME),
    SUFFIX("-legalizer", TM_TRAIT_RUNTIME),
};

const size_t tm_known_name_count = sizeof(tm_known_names) / sizeof(tm_known_names[0]);

const char *const tm_input_words[] = {
    "data_loading", "data_load", "dataloader", "next_batch", "fetch_batch", "load_batch", "wait_for_training_batch",
    "prefetch",     "infeed",    "to_device",  "device_put",
};

const size_t tm_input_word_count = sizeof(tm_input_words) / sizeof(tm_input_words[0]);

const char *const tm_collective_parts[] = {
    "nccl",           "rccl",       "nvshmem",
    "msccl",          "all_reduce", "all_gather",
    "reduce_scatter", "all_to_all", "cross_device_reduce",
    "multimem",
};

const size_t tm_collective_part_count = sizeof(tm_collective_parts) / sizeof(tm_collective_parts[0]);

/* HLO opcodes of collectives, without -start and -done; '_' in a name counts as '-'. */
static const char *const collective_opcodes[] = {
    "all-reduce",           "all-gather",        "reduce-scatter", "all-to-all", "collective-permute",
    "collective-broadcast", "ragged-all-to-all", "send",           "recv",
};

static const size_t collective_opcode_count = sizeof(collective_opcodes) / sizeof(collective_opcodes[0]);

/* The traits of a name by itself.  Runs once per distinct name and keeps no state: a table of known names, words of
 * input pipelines, parts of kernel names that indicate a collective, and a few rules for families of names (driver
 * calls, Python functions, TensorFlow ops).  Time is linear in the length of the name. */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_' || c == '-';
}

static char lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/* Does `text` start with `want` (lower case), ignoring case? */
static bool begins_any_case(struct tm_text text, const char *want, size_t length)
{
    if (text.length < length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (lower(text.at[i]) != want[i])
            return false;
    }
    return true;
}

static bool holds(struct tm_text text, const char *want)
{
    return text.length && memmem(text.at, text.length, want, strlen(want)) != NULL;
}

static uint32_t known(struct tm_text text)
{
    uint32_t traits = 0;

    for (size_t i = 0; i < tm_known_name_count; i++) {
        const struct tm_known_name *row = &tm_known_names[i];
        const char *at = text.at;

        if (text.length < row->length || (row->how == TM_KNOWN_WHOLE && text.length != row->length))
            continue;
        if (row->how == TM_KNOWN_SUFFIX)
            at += text.length - row->length;
        if (*at == *row->text && !memcmp(at, row->text, row->length))
            traits |= row->traits;
    }
    return traits;
}

/* Parts such as "all_reduce" match all_reduce, allreduce and AllReduce. */
static bool begins_with_part(struct tm_text text, const char *part)
{
    for (; *part; part++) {
        if (*part == '_' && (!text.length || *text.at != '_'))
            continue;
        if (!text.length || lower(*text.at) != *part)
            return false;
        text = tm_text_from(text, 1);
    }
    return true;
}

/* No part starts with another letter: most letters are passed at once. */
static bool may_begin_part(char c)
{
    switch (c | 0x20) {
    case 'a':
    case 'c':
    case 'm':
    case 'n':
    case 'r':
        return true;
    default:
        return false;
    }
}

static bool has_collective_part(struct tm_text text)
{
    for (; text.length; text = tm_text_from(text, 1)) {
        if (!may_begin_part(*text.at))
            continue;
        for (size_t i = 0; i < tm_collective_part_count; i++) {
            if (lower(*text.at) == *tm_collective_parts[i] && begins_with_part(text, tm_collective_parts[i]))
                return true;
        }
    }
    return false;
}

/* The opcode of a collective at the text's start; what follows it is left in `rest`. */
static bool take_collective_opcode(struct tm_text text, struct tm_text *rest)
{
    for (size_t i = 0; i < collective_opcode_count; i++) {
        const char *opcode = collective_opcodes[i];
        size_t n = 0;

        while (n < text.length && opcode[n] && (text.at[n] == '_' ? '-' : text.at[n]) == opcode[n])
            n++;
        if (!opcode[n] && (n == text.length || !is_alnum(text.at[n]))) {
            *rest = tm_text_from(text, n);
            return true;
        }
    }
    return false;
}

bool tm_is_collective_op(const char *text, size_t length)
{
    struct tm_text rest = { text, length };

    for (size_t i = length; i-- > 1;) { /* "outer::inner": the innermost op is the one that runs */
        if (text[i] == ':' && text[i - 1] == ':') {
            rest = tm_text_from(rest, i + 1);
            break;
        }
    }
    if (!take_collective_opcode(rest, &rest))
        return false;
    if (tm_text_begins(rest, "-start") || tm_text_begins(rest, "_start"))
        rest = tm_text_from(rest, 6);
    else if (tm_text_begins(rest, "-done") || tm_text_begins(rest, "_done"))
        rest = tm_text_from(rest, 5);
    return !rest.length || *rest.at == '.';
}

/* "IteratorGetNext" anywhere, "Iterator::" at the start of a word, or a word of the list. */
static bool tells_input(struct tm_text text)
{
    static const char get_next[] = "iteratorgetnext", iterator[] = "iterator";

    for (size_t i = 0; i < text.length; i++) {
        if (lower(text.at[i]) == 'i' && begins_any_case(tm_text_from(text, i), get_next, sizeof(get_next) - 1))
            return true;
    }
    while (text.length) {
        size_t n = 0;

        while (n < text.length && is_word(text.at[n]))
            n++;
        for (size_t i = 0; n > 5 && i < tm_input_word_count; i++) { /* no word is shorter */
            if (lower(*text.at) == *tm_input_words[i] && strlen(tm_input_words[i]) == n &&
                begins_any_case(text, tm_input_words[i], n))
                return true;
        }
        if (n == sizeof(iterator) - 1 && begins_any_case(text, iterator, n) &&
            tm_text_begins(tm_text_from(text, n), "::"))
            return true;
        text = tm_text_from(text, n ? n : 1);
    }
    return false;
}

/* For a frame the function counts; for an iterator, whose function has the same name everywhere, its file. */
static bool frame_tells_input(struct tm_text file, struct tm_text function)
{
    return tells_input(function) || (tm_text_is(function, "__next__") && tells_input(file));
}

/* Sleep is host work; a wait for a device within it has its own sync event. */
static uint32_t wait_trait(struct tm_text name)
{
    return tm_waiting_of(name.at, name.length) == TM_WAITING_FOR_THREADS ? TM_TRAIT_WAIT : 0;
}

/* "$file.py:12 function", "$<frozen file>:12 function", "$module function": the traits of the function. */
static uint32_t python_traits(struct tm_text text)
{
    const char *space = memrchr(text.at, ' ', text.length);
    const struct tm_text function = tm_text_from(text, space ? (size_t)(space - text.at) + 1 : 1);
    struct tm_text file = { text.at + 1, space ? (size_t)(space - text.at) - 1 : 0 };
    const char *colon = file.length ? memrchr(file.at, ':', file.length) : NULL;
    uint32_t traits = TM_TRAIT_PYTHON | wait_trait(text);

    if (colon)
        file.length = (size_t)(colon - file.at);
    if (tm_text_ends(function, "block_until_ready") &&
        (function.length == 17 || function.at[function.length - 18] == '.'))
        traits |= TM_TRAIT_SYNC;
    if (tm_text_is(text, "$gc collect") || tm_text_ends(function, "_gc_callback"))
        traits |= TM_TRAIT_GC;
    if (frame_tells_input(file, function))
        traits |= TM_TRAIT_INPUT;
    return traits;
}

/* PyTorch's frames, "torch/utils/data/dataloader.py(633): __next__": the function after the line, and the file.
 * out: *file  without its folders */
static bool is_python_frame(struct tm_text text, struct tm_text *file, struct tm_text *function)
{
    const char *at = memmem(text.at, text.length, ".py(", 4);
    const char *slash;
    size_t n = 0;

    if (!at)
        return false;
    *function = tm_text_from(text, (size_t)(at - text.at) + 4);
    while (n < function->length && is_digit(function->at[n]))
        n++;
    *function = tm_text_from(*function, n);
    if (!n || !tm_text_begins(*function, "): "))
        return false;
    *function = tm_text_from(*function, 3);
    *file = (struct tm_text){ text.at, (size_t)(at - text.at) + 3 };
    slash = memrchr(file->at, '/', file->length);
    if (slash)
        *file = tm_text_from(*file, (size_t)(slash - file->at) + 1);
    return true;
}

/* "cuMemcpyHtoDAsync_v2", "cudaGraphLaunch_v10000", "cuLaunchKernel_ptsz": without the version. */
static struct tm_text without_version(struct tm_text call)
{
    for (;;) {
        size_t n = call.length;

        if (tm_text_ends(call, "_ptsz") || tm_text_ends(call, "_ptds")) {
            call.length -= 5;
            continue;
        }
        while (n && is_digit(call.at[n - 1]))
            n--;
        if (n == call.length || n < 2 || call.at[n - 1] != 'v' || call.at[n - 2] != '_')
            return call;
        call.length = n - 2;
    }
}

static bool holds_in_order(struct tm_text text, const char *first, const char *second)
{
    const char *at = memmem(text.at, text.length, first, strlen(first));

    return at && holds(tm_text_from(text, (size_t)(at - text.at) + strlen(first)), second);
}

/* cu, cuda or hip, then a capital, then nothing but the letters of a C name.
 * out: the length of the prefix, 0 = no driver call */
static size_t driver_prefix(struct tm_text text)
{
    const size_t n = tm_text_begins(text, "cuda")  ? 4
                     : tm_text_begins(text, "cu")  ? 2
                     : tm_text_begins(text, "hip") ? 3
                                                   : 0;

    if (!n || n >= text.length || !is_upper(text.at[n]))
        return 0;
    for (size_t i = n; i < text.length; i++) {
        if (!is_alnum(text.at[i]) && text.at[i] != '_')
            return 0;
    }
    return n;
}

static uint32_t driver_traits(struct tm_text text)
{
    const struct tm_text call = without_version(text);
    const size_t prefix = driver_prefix(text);
    const uint32_t traits = TM_TRAIT_DRIVER_CALL;

    if (!prefix)
        return 0;
    if (tm_text_ends(call, "Synchronize"))
        return traits | TM_TRAIT_SYNC;
    if (holds_in_order(call, "Launch", "Kernel") || tm_text_ends(call, "GraphLaunch"))
        return traits | TM_TRAIT_LAUNCH | TM_TRAIT_KERNEL_LAUNCH;
    if (holds_in_order(call, "Memcpy", "Async") || holds_in_order(call, "Memset", "Async"))
        return traits | TM_TRAIT_LAUNCH;
    if (tm_text_begins(tm_text_from(call, prefix), "Memcpy"))
        return traits | TM_TRAIT_SYNC;
    return traits;
}

/* TensorFlow names an op "scope/name:Type"; its internal ops have types that start with '_' (_Send, _Arg).
 * out:    `told`, the more specific part of such a name: its type; else the full name */
static uint32_t framework_traits(struct tm_text text, struct tm_text *told)
{
    const char *colon = memrchr(text.at, ':', text.length);
    struct tm_text type;

    *told = text;
    if (!colon || colon == text.at || colon[-1] == ':')
        return 0;
    type = tm_text_from(text, (size_t)(colon - text.at) + 1);
    if (type.length < 2 || !(is_upper(*type.at) || (*type.at == '_' && is_upper(type.at[1]))))
        return 0;
    for (const char *c = text.at; c < text.at + text.length; c++) {
        if (!is_word(*c) && *c != '/' && *c != '.' && *c != '>' && c != colon)
            return 0;
    }
    *told = type;
    return *type.at == '_' ? TM_TRAIT_RUNTIME : TM_TRAIT_FRAMEWORK_OP;
}

/* Which side a letter of "HtoD" represents: an array is on the device. */
static int place(char c)
{
    switch (lower(c)) {
    case 'h':
        return 0;
    case 'd':
    case 'a':
        return 1;
    case 'p':
        return 2;
    default:
        return -1;
    }
}

static enum tm_direction between(int from, int to)
{
    if (from == 2 && to == 2)
        return TM_P2P;
    if (from == 0 && to == 1)
        return TM_H2D;
    if (from == 1 && to == 0)
        return TM_D2H;
    return from == 1 && to == 1 ? TM_D2D : TM_OTHER_DIRECTION;
}

/* "H2D", "HtoD", "HToD" at the start of the text. */
static enum tm_direction short_direction(struct tm_text text)
{
    size_t n = 1;

    if (text.length > 1 && text.at[1] == '2')
        n = 2;
    else if (text.length > 2 && lower(text.at[1]) == 't' && lower(text.at[2]) == 'o')
        n = 3;
    return n > 1 && text.length > n ? between(place(*text.at), place(text.at[n])) : TM_OTHER_DIRECTION;
}

/* "HostToDevice" at the start of the text. */
static enum tm_direction long_direction(struct tm_text text)
{
    if (tm_text_begins(text, "HostToDevice"))
        return TM_H2D;
    if (tm_text_begins(text, "DeviceToHost"))
        return TM_D2H;
    return tm_text_begins(text, "DeviceToDevice") ? TM_D2D : TM_OTHER_DIRECTION;
}

/* The direction in the name of a copy or a copying call; TM_OTHER_DIRECTION = it has none. */
static enum tm_direction direction_in(const char *text, size_t length)
{
    const struct tm_text whole = { text, length };
    struct tm_text rest = whole;
    enum tm_direction direction;

    if (tm_text_begins(whole, "Copy"))
        return long_direction(tm_text_from(whole, 4));
    while (rest.length && !begins_any_case(rest, "memcpy", 6))
        rest = tm_text_from(rest, 1);
    rest = tm_text_from(rest, 6);
    if (tm_text_begins(rest, "Peer"))
        return TM_P2P;
    direction = short_direction(rest);
    if (direction == TM_OTHER_DIRECTION && rest.length && !is_alnum(*rest.at))
        direction = short_direction(tm_text_from(rest, 1));
    return direction;
}

/* Shows a backward pass: JAX's framework path, PyTorch's host events. */
static bool is_backward(struct tm_text name)
{
    return holds(name, "transpose(jvp(") || tm_text_begins(name, "autograd::engine::evaluate_function") ||
           tm_text_begins(name, "Optimizer.step#");
}

/* The traits of a PyTorch frame, else those of any other name from `told`. */
static uint32_t told_traits(struct tm_text name, struct tm_text told)
{
    struct tm_text file, function;

    if (!is_python_frame(name, &file, &function))
        return tells_input(told) ? TM_TRAIT_INPUT : 0;
    return frame_tells_input(file, function) ? TM_TRAIT_INPUT : 0;
}

uint32_t tm_traits_of(const char *text, size_t length)
{
    const struct tm_text name = { text, length };
    enum tm_direction direction;
    struct tm_text told;
    uint32_t traits;

    if (!length || *text == '%') /* "%name = shape opcode(...)": an HLO line says what it is elsewhere */
        return 0;
    if (*text == '$')
        return python_traits(name);
    traits = known(name) | driver_traits(name) | framework_traits(name, &told);
    if (holds(name, "::"))
        traits |= TM_TRAIT_RUNTIME;
    if (is_backward(name))
        traits |= TM_TRAIT_BACKWARD;
    if (has_collective_part(name))
        traits |= TM_TRAIT_COLLECTIVE_NAME;
    if (tm_is_collective_op(text, length))
        traits |= TM_TRAIT_COLLECTIVE_TOKEN;
    traits |= told_traits(name, told) | wait_trait(name);
    if (!(traits & (TM_TRAIT_COPY_NAME | TM_TRAIT_DRIVER_CALL)))
        return traits;
    direction = direction_in(text, length);
    if (direction != TM_OTHER_DIRECTION)
        traits |= (uint32_t)(direction + 1) << TM_TRAIT_DIRECTION_SHIFT;
    return traits;
}
