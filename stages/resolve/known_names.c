/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/known_names.h"

#include "stages/resolve/classes.h"

/* The names of METRICS section 1 as the writers of real traces spell them: XLA and PJRT for CPU, GPU and TPU,
 * JAX's own annotations, TensorFlow's executor, CUPTI and ROCTracer.  Names with "::" need no row: they are
 * runtime by that alone.  Longer rows may stand behind shorter ones: all rows that match are joined. */

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

    /* what blocks the host; driver calls are told by rule */
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

    /* the compiler's passes, where neither the thread nor an enclosing compile tells: only names that no user
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

const char *const tm_collective_opcodes[] = {
    "all-reduce",           "all-gather",        "reduce-scatter", "all-to-all", "collective-permute",
    "collective-broadcast", "ragged-all-to-all", "send",           "recv",
};
const size_t tm_collective_opcode_count = sizeof(tm_collective_opcodes) / sizeof(tm_collective_opcodes[0]);
