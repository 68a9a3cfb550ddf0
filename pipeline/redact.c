/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/redact.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/names.h"
#include "pipeline/strings.h"

enum { WORD_ROUNDS = 2, LAST_ROUNDS = 4, STRETCH_ROUNDS = 1 << 18 };

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void mix(struct sip *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->v0 += s->v1;
        s->v1 = turn(s->v1, 13) ^ s->v0;
        s->v0 = turn(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = turn(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = turn(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = turn(s->v1, 17) ^ s->v2;
        s->v2 = turn(s->v2, 32);
    }
}

static inline void take_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s, WORD_ROUNDS);
    s->v0 ^= word;
}

/* Up to 8 bytes, the first one lowest. */
static inline uint64_t read_word(const uint8_t *bytes, size_t length)
{
    uint64_t word = 0;

    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t tm_keyed_hash(struct tm_secret_key key, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    struct sip s = { key.low ^ UINT64_C(0x736f6d6570736575), key.high ^ UINT64_C(0x646f72616e646f6d),
                     key.low ^ UINT64_C(0x6c7967656e657261), key.high ^ UINT64_C(0x7465646279746573) };
    size_t left = length;

    for (; left >= 8; left -= 8, at += 8)
        take_word(&s, read_word(at, 8));
    take_word(&s, read_word(at, left) | (uint64_t)length << 56);
    s.v2 ^= 0xff;
    mix(&s, LAST_ROUNDS);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* A key out of something that is hard to guess, but not as hard as a key: each guess costs about ten milliseconds. */
static struct tm_secret_key stretch_key(struct tm_secret_key from)
{
    struct tm_secret_key key = from;

    for (uint32_t i = 0; i < STRETCH_ROUNDS; i++) {
        const uint64_t words[] = { from.low, from.high, i };

        key = (struct tm_secret_key){ key.high, tm_keyed_hash(key, words, sizeof(words)) };
    }
    return key;
}

enum { TM_PUBLIC_WORD_MOST = 24 /* bytes of the longest one */ };

/* One table, in byte order, searched by bisection.  It has HLO opcodes, words of JAX and PyTorch, kernel libraries,
 * runtime calls, device models, argument keys, modules of Python's library, and the words of this program's sentences.
 * Words that a person or a company could have chosen for something of their own do not belong here, unless they are
 * also one of these. */

/* clang-format off */
static const char *const public_words[] = {
    "141gb", "16gb", "192gb", "32gb", "40gb", "80gb", "94gb", "96gb", "a100", "a10g", "a30", "a40", "a800", "aac",
    "aarch64", "abc", "abs", "absl", "abstract", "abstractify", "abv", "acc", "access", "accessed", "accumulation",
    "accumulator", "aced", "achieved", "acos", "acosh", "acquire", "action", "activation", "active", "activities",
    "activity", "actual", "ad", "adam", "adapters", "adaptor", "add", "addmm", "addr", "address", "addressable",
    "advise", "affine", "after", "afz", "again", "agent", "aggregate", "ailk", "aiu", "algorithm", "algsimp",
    "alias", "aliased", "align", "alignment", "alik", "all", "allgather", "alloc", "allocate", "allocated",
    "allocation", "allocations", "allocator", "allreduce", "alltoall", "along", "also", "amas", "amd", "amp",
    "ampere", "an", "analysis", "analyzer", "and", "annotate", "annotated", "annotation", "annotations",
    "annotator", "anonymous", "another", "any", "api", "apm", "app", "append", "application", "apply", "ar",
    "arange", "archive", "are", "arg", "argmax", "argmin", "args", "arguments", "arith", "arithmetic", "arm", "arr",
    "array", "arrays", "as", "asae", "asarray", "asce", "ascend", "ase", "asem", "asgt", "asin", "asinh", "aslt",
    "asm", "assemble", "assigner", "assignment", "assignments", "associative", "astype", "async", "asyncifier",
    "at", "atan", "atan2", "aten", "attention", "attn", "attr", "attribute", "attributes", "attrs", "auto",
    "autocast", "autograd", "autotune", "autotuner", "av", "avail", "availability", "available", "aval", "avals",
    "await", "aware", "axes", "axis", "b100", "b200", "b300", "backend", "backends", "backward", "bad", "baddbmm",
    "bandwidth", "barrier", "base", "based", "batch", "batched", "batching", "batchnorm", "bbs", "bcast", "be",
    "because", "before", "begin", "begins", "bernoulli", "between", "bf", "bf16", "bf16bf16", "bf16f32", "bfc",
    "bfloat", "bh", "bias", "bin", "binary", "bit", "bitcast", "bits", "bitwise", "bjlk", "bl", "blackwell", "bljk",
    "block", "blocking", "blocks", "bmm", "body", "bool", "bootstrap", "both", "bound", "branch", "breakdown",
    "bridge", "broadcast", "bs", "buffer", "bufferizable", "bufferize", "buffers", "build", "built", "builtin",
    "builtins", "bundle", "busy", "but", "bw", "bwd", "by", "byte", "bytecode", "bytes", "c10", "c128", "c64",
    "cache", "cached", "caffe2", "calculator", "call", "callable", "callback", "callbacks", "calls", "can",
    "cannot", "canon", "canonicalization", "canonicalize", "canonicalizer", "cap", "capability", "capacity",
    "capsule", "capture", "capturing", "case", "cask", "cast", "caster", "casts", "cat", "category", "causal",
    "cause", "cb", "cbid", "cbids", "cbrt", "cc", "ccp", "cdna", "ceil", "cfg", "cgemm", "change", "channel",
    "char", "check", "checker", "checkers", "checkpoint", "children", "chip", "chips", "chlo", "cholesky", "chosen",
    "chrome", "chunk", "cijk", "ck", "clamp", "class", "classify", "clean", "cleanup", "clear", "client", "clip",
    "clique", "clock", "clone", "close", "closed", "clr", "cluster", "clz", "cmem", "co", "code", "codegen", "col",
    "coll", "collapsed", "collect", "collections", "collective", "collectives", "combiner", "comm", "common",
    "comms", "communication", "compaction", "compare", "comparison", "compilation", "compile", "compiled",
    "compiler", "compiles", "compiling", "complete", "completion", "complex", "compressed", "computation",
    "compute", "con", "concat", "concatenate", "concrete", "cond", "condition", "conditional", "config",
    "configuration", "confirmed", "connection", "const", "constant", "construct", "consume", "consumer", "container", "context",
    "contextlib", "contextmanager", "contiguous", "continuation", "contract", "control", "conv", "conv1d", "conv2d",
    "conv3d", "conversion", "convert", "converter", "convolution", "convolve", "cooperative", "copy", "core",
    "cores", "corr", "correlation", "cos", "cosh", "cosine", "cost", "cotangent", "could", "count", "counted",
    "counter", "counters", "covered", "cpp", "cpu", "cpy", "create", "creator", "critical", "cross", "crs", "cse",
    "ct", "ctor2", "ctx", "cu", "cub", "cubin", "cublas", "cublaslt", "cuda", "cudart", "cudnn", "cufft", "cuh",
    "cummax", "cumprod", "cumsum", "cunn", "cupti", "curand", "current", "cusolver", "cusparse", "custom", "cut",
    "cutlass", "cwise", "cycle", "d2d", "d2h", "d884gemm", "damaged", "data", "dataclasses", "dataloader",
    "dataset", "dce", "dcn", "dead", "deallocation", "deallocations", "debug", "decompose", "decomposer",
    "decomposition", "decorate", "decorator", "decrement", "deduped", "deduplicated", "deduplicator", "def",
    "default", "defaultdict", "defect", "deferred", "deferring", "definition", "deflinear", "defragment", "defvectorized",
    "degenerate", "deleted", "delinearize", "dense", "dep", "dependency", "deprecation", "depth", "dequeue",
    "derived", "desc", "descheduler", "description", "deserialize", "dest", "destination", "destroy", "detach",
    "detail", "details", "dev", "device", "devices", "dgemm", "dgrad", "dict", "dilated", "dim", "dimension",
    "dimensions", "dims", "direct", "direction", "disable", "dispatch", "dispatcher", "dist", "distributed",
    "distribution", "div", "divide", "dma", "dmma", "do", "domain", "donate", "donated", "donation", "done", "dot",
    "double", "downsweep", "dp", "driver", "drop", "dropout", "dropped", "drv", "dst", "dtla", "dtlb", "dto",
    "dtod", "dtoh", "dtva", "dtvb", "dtype", "dtypes", "dummy", "dur", "duration", "dvo", "dynamic", "dynamo",
    "e4m3", "e4m3fn", "e4m3fnuz", "e5m2", "each", "eager", "effect", "effects", "efficiency", "efficient", "eigen",
    "eigenmetakernel", "eigh", "einsum", "elapsed", "element", "elementwise", "elems", "elflr", "elide",
    "elimination", "emb", "embedded", "embedding", "emit", "emitter", "emitting", "emll", "empty", "enable",
    "enabled", "encode", "end", "ends", "endswith", "engine", "enhancer", "enqueue", "enter", "entropy", "entry",
    "enum", "enumerate", "env", "epi", "epilogue", "epoll", "eps", "epyc", "eq", "equation", "equinox", "erase",
    "erf", "erfc", "error", "errors", "essential", "est", "etsp", "ev", "eval", "evaluate", "even", "event",
    "events", "every", "evidence", "ex", "exchange", "exec", "executable", "execute", "execution", "executor",
    "exit", "exp", "exp2", "expand", "expander", "expansion", "expensive", "experimental", "explicit", "expm",
    "expm1", "exponential", "export", "exposed", "ext", "extend", "external", "extra", "f16", "f16f16", "f16f32",
    "f32", "f32f16", "f32f32", "f64", "f8e4m3b11fnuz", "f8e4m3fn", "f8e5m2", "failure", "fallback", "false", "far",
    "fast", "fastpath", "fd", "fdo", "feed", "fetch", "ffi", "fft", "field", "fields", "figure", "figures", "file",
    "filename", "files", "fill", "filter", "filtered", "final", "finalize", "find", "finding", "findings",
    "fingerprint", "finite", "first", "fix", "fixup", "fl", "flag", "flags", "flash", "flatten", "flattened",
    "flattener", "flax", "flight", "float", "floor", "flop", "flops", "flow", "flush", "fma", "fmha", "fn", "fold",
    "folder", "folding", "for", "fori", "fork", "format", "formatting", "forward", "fp", "fp4", "fp8", "fprop",
    "fragmentation", "frame", "frames", "framework", "free", "fresh", "from", "fromlist", "frontend", "frozen",
    "fspath", "fssc", "full", "fully", "fun", "func", "function", "functional", "functions", "functools", "functor",
    "fuse", "fused", "fusible", "fusion", "futex", "future", "fwd", "gaps", "garbage", "gather", "gaudi", "gb",
    "gb200", "gb300", "gc", "ge", "geforce", "gelu", "gemm", "gemmex", "gemmk", "gemv", "gemvx", "gen", "general",
    "generate", "generation", "generator", "generic", "genexpr", "get", "getattr", "getattribute", "getenv",
    "getitem", "gfx", "gh200", "ghz", "give", "gives", "global", "globals", "gls", "glvwa", "glvwb", "good",
    "google", "gpu", "grad", "gradient", "graph", "graphs", "grcga", "grcgb", "greater", "grew", "grid", "group",
    "grouped", "groups", "grpm", "grv", "gsu", "gsuasb", "gt", "gtx", "guaranteed", "gz", "gzip", "h100",
    "h16816gemm", "h1688gemm", "h20", "h200", "h2d", "h2h", "h800", "h884gemm", "had", "haiku", "half", "handle",
    "handler", "hardware", "has", "hasattr", "hash", "have", "hbm", "hccl", "hdim", "head", "held", "helper",
    "helpful", "here", "hgemm", "hiding", "hierarchical", "hierarchy", "high", "higher", "hip", "hipblas",
    "hipblaslt", "hiprtc", "histogram", "hit", "hlo", "hmma", "hoister", "hoisting", "hold", "holds", "hopper",
    "host", "hosts", "hpp", "hpu", "hsa", "hsakmt", "htod", "hub", "hz", "i16", "i32", "i64", "i8816gemm", "iadd",
    "ibm", "ici", "id", "ident", "idle", "ids", "idx", "if", "ifrt", "igemm", "ignore", "im", "imag", "imbalance",
    "imma", "imp", "impl", "implementation", "implicit", "impls", "import", "importer", "importlib", "in",
    "incomplete", "increment", "independent", "index", "indexed", "indices", "infeed", "infer", "inference",
    "inflate", "info", "init", "initialize", "initialized", "initializer", "inline", "inliner", "inner", "input",
    "inputs", "insertion", "insight", "instance", "instancecheck", "instant", "instantiate", "instinct",
    "instruction", "instructions", "instrumentation", "int", "integer", "integrations", "intel", "interleave",
    "intern", "internal", "interpreters", "into", "intrinsic", "inuse", "inv", "invariant", "invars", "invoke",
    "io", "iota", "ipc", "ir", "is", "isa", "isabs", "isfile", "isinstance", "issubdtype", "issue", "it", "item",
    "items", "iter", "iteration", "iterato", "iterator", "iteratorgetnext", "its", "iu", "jax", "jaxgen", "jaxlib",
    "jaxpr", "jaxtype", "jf", "jit", "jitted", "job", "join", "json", "jvp", "k1", "kb", "kd", "keeps", "kept",
    "ker", "kernel", "kernels", "key", "keys", "kind", "kineto", "kla", "known", "kv", "l40s", "label", "labels",
    "lambda", "large", "last", "latency", "launch", "launcher", "launches", "launching", "lax", "layer", "layernorm",
    "layout", "layouts", "lazy", "lbsppa", "lbsppb", "ldg", "ldgsts", "ldl", "ldw", "le", "leading", "leaf", "least",
    "leaves", "left", "legacy", "legal", "legalize", "legalizer", "len", "length", "less", "level", "lib", "libm",
    "library", "libtpu", "lies", "lift", "like", "limit", "limits", "linalg", "line", "linear", "linearize",
    "linen", "lines", "link", "linkage", "list", "listcomp", "listener", "lists", "lite", "litepod", "literal",
    "literals", "live", "ll", "ll128", "lld", "llo", "llvm", "llvmcpu", "load", "loaded", "loader", "loading",
    "loads", "local", "localhost", "location", "lock", "log", "log1p", "log2", "logical", "logistic", "long",
    "lookup", "loop", "loops", "loss", "losses", "lost", "low", "lower", "lowering", "lpa", "lpb", "lru", "lrvw",
    "lsr", "lt", "lu", "lwp", "made", "main", "major", "make", "makes", "malloc", "managed", "manager", "manual",
    "map", "marker", "marshal", "mask", "masked", "math", "matmul", "matrix", "max", "maximal", "maximum", "may",
    "maybe", "mb", "mda", "me", "mean", "median", "megachip", "megacore", "mem", "memalloc", "member", "members",
    "memcpy", "memfree", "memory", "memref", "memset", "merge", "merger", "mesh", "message", "messages", "meta",
    "metadata", "method", "mfma", "mha", "mhlo", "mhz", "mi", "mi210", "mi250x", "mi300a", "mi300x", "mi325x",
    "mi350x", "miav", "middle", "million", "min", "minimum", "minor", "minus", "miopen", "miss", "missing",
    "mkfgsu", "mlir", "mlp", "mm", "mma", "mmfsc", "mn", "mo", "mode", "model", "modeling", "models", "module",
    "modules", "more", "mosaic", "most", "motion", "move", "mover", "moving", "ms", "msccl", "msg", "mtia", "mul",
    "multi", "multicast", "multihost", "multimem", "multiply", "multiprocessing", "multiprocessor", "must", "mutex",
    "naive", "name", "named", "namedtuple", "names", "namespace", "nat", "native", "nccl", "ncdhw", "nchw", "ndhwc",
    "ndim", "ne", "nearest", "need", "needs", "neg", "negate", "negative", "nelems", "nepbs", "nested", "nesting",
    "new", "next", "nhwc", "nhwckrsc", "nlca", "nlcb", "nn", "nnx", "no", "noc", "nocast", "node", "nodes", "non",
    "none", "nonfused", "nontemporal", "nonzero", "nor", "norm", "normal", "normalization", "normalizer", "not",
    "note", "nothing", "notify", "now", "np", "npu", "ns", "nt", "nta", "ntb", "ntc", "ntd", "ntn", "null",
    "nullptr", "num", "number", "numbers", "numpy", "nvidia", "nvjet", "nvjitlink", "nvl", "nvlink", "nvml",
    "nvptx", "nvrtc", "nvshmem", "nvtx", "object", "objects", "occ", "occupancy", "occurrences", "of", "off",
    "offload", "offloader", "offloading", "offset", "old", "on", "once", "one", "onednn", "ones", "onesweep",
    "onll", "only", "op", "opaque", "open", "operand", "operat", "operation", "operations", "operator", "oplv",
    "opmath", "ops", "opt", "optax", "optimization", "optimizations", "optimize", "optimizer", "options", "or",
    "ordered", "ordinal", "os", "other", "others", "out", "outfeed", "output", "outputs", "outvars", "over",
    "overall", "overhead", "overlap", "own", "ownership", "p2p", "packages", "packer", "packing", "pad", "padder",
    "pageable", "pallas", "pap", "parallel", "parallelism", "param", "parameter", "params", "parent", "parse",
    "part", "partial", "participant", "partition", "partitioner", "partitioning", "parts", "pascal", "pass",
    "passes", "past", "path", "payload", "pb", "pcie", "pct", "peak", "peel", "peer", "pending", "per", "perf",
    "perfetto", "period", "permute", "persistent", "persisting", "pg", "pgr", "phase", "philox", "pid", "pieces",
    "pin", "pinned", "pipeline", "pipeliner", "pipelining", "pitched", "pj", "pjit", "pjrt", "pk", "pka", "place",
    "placement", "plan", "plane", "planes", "planner", "platform", "plr", "plugins", "plumb", "pmap", "pod",
    "point", "pointer", "pointers", "pointwise", "policy", "poll", "pool", "pop", "popcnt", "popen", "population",
    "pos", "posix", "post", "pow", "power", "pprof", "pre", "preassign", "precision", "precolor", "precomputed",
    "pred", "prefetch", "prefix", "prepare", "primal", "primary", "print", "priority", "private", "privateuse",
    "prng", "process", "processes", "processing", "processor", "prod", "produce", "producer", "product", "prof",
    "profile", "profiler", "profiling", "program", "programs", "promote", "promotion", "propagate", "propagation",
    "properties", "property", "proxy", "ps", "pspec", "psum", "pt", "ptds", "pthread", "ptop", "ptr", "ptsz", "ptx",
    "ptxas", "pure", "put", "pxla", "py", "pyc", "python", "pytorch", "pytree", "qr", "quadro", "quantize",
    "quantized", "quarter", "query", "queue", "queued", "queues", "radeon", "radix", "ragged", "ran", "random", "range",
    "ranges", "rank", "ranks", "rate", "raw", "rccl", "read", "reading", "ready", "real", "realloc", "reassociate",
    "rebuild", "recompute", "recomputed", "reconcile", "record", "recorded", "recording", "records", "recv",
    "reduce", "reducer", "reducescatter", "reduction", "ref", "reference", "reflatten", "region", "register", "registers",
    "regs", "relax", "release", "relu", "rem", "remainder", "remat", "rematerialization", "rematted", "remote",
    "removal", "removed", "remover", "rendezvous", "reorder", "repeat", "replacer", "replica", "replicate",
    "replicated", "report", "reports", "request", "requested", "reraise", "reserved", "reshape", "reshards", "residency",
    "resize", "resizer", "resolve", "rest", "restore", "result", "results", "retain", "return", "reuse", "reverse",
    "rewrite", "rewriter", "rfind", "right", "ring", "rms", "rmsnorm", "rng", "rocblas", "rocclr", "rocm",
    "rocprof", "rocprofiler", "roctracer", "roofline", "root", "rotary", "rotate", "round", "row", "rows",
    "rpartition", "rpc", "rsqrt", "rstrip", "rt", "rtx", "run", "runs", "runtime", "ryzen", "s16", "s161616gemm",
    "s16816gemm", "s1688gemm", "s1688tf32", "s32", "s32s8", "s64", "s884gemm", "s8s8", "safe", "said", "same",
    "say", "says", "scalar", "scalarizer", "scaled", "scan", "scatter", "scf", "schedule", "scheduled", "scheduler",
    "scheduling", "scipy", "sciui", "scope", "scripting", "sdpa", "second", "section", "sections", "seed",
    "segment", "segmented", "select", "selector", "selectors", "self", "sem", "semaphore", "semlock", "send",
    "sendrecv", "seq", "seqlen", "sequence", "sequenced", "sequencing", "sequential", "serialize", "service",
    "session", "set", "setattr", "setitem", "setter", "setup", "severity", "sflag", "sgd", "sgemm", "shape",
    "shaped", "shard", "sharding", "shardings", "shardy", "share", "shared", "shift", "shlo", "shm", "shmap",
    "short", "shot", "show", "shown", "shows", "shuffle", "shuffling", "sia", "sign", "signal", "signed",
    "signless", "silu", "sim", "simple", "simplification", "simplifier", "simplify", "simt", "sin", "since", "sine",
    "single", "sinh", "sinker", "sinking", "site", "size", "sized", "sizes", "sleep", "slice", "slinky", "slw",
    "sm", "small", "smem", "sn", "snll", "so", "softmax", "solve", "some", "sort", "sorts", "source", "space",
    "span", "spans", "sparse", "sparsecore", "spatial", "spawn", "spec", "special", "spin", "split", "splitk",
    "splitter", "spmd", "spo", "sqrt", "square", "squeeze", "src", "srvw", "ss", "sso", "stable", "stablehlo",
    "stack", "stacktrace", "stage", "stages", "stake", "stall", "standard", "start", "starts", "startswith", "stat",
    "state", "stateless", "static", "stats", "std", "stdin", "step", "steps", "still", "stochastic", "stop",
    "stopped", "stops", "store", "str", "stragglers", "stream", "streamk", "streams", "stress", "strict", "stride", "strided",
    "strides", "string", "strip", "struct", "su", "sub", "subbyte", "subclass", "subjaxpr", "subprocess",
    "subtract", "sum", "summary", "sums", "support", "sus", "svw", "switch", "switchto", "swizzle", "sxm", "symbol",
    "symbols", "sync", "synchronize", "system", "table", "tables", "take", "taken", "takes", "tan", "tangent",
    "tanh", "tar", "target", "task", "tasks", "tb", "tell", "tells", "template", "tensile", "tensor", "tensorboard",
    "tensorflow", "tensorop", "tensors", "tesla", "test", "text", "tf", "tf32x3", "tfrt", "tfstreamz", "tgz",
    "than", "that", "the", "them", "then", "theoretical", "there", "these", "they", "third", "this", "those",
    "thread", "threading", "threadpool", "threads", "threefry", "thresholds", "through", "thrust", "thunk",
    "thunks", "tid", "tile", "tiled", "tilesize", "tiling", "time", "timedwait", "times", "timestamp", "tlds",
    "tma", "tmp", "tn", "tnn", "to", "token", "told", "too", "tool", "top", "topk", "torch", "torchdynamo", "total",
    "tp", "tpu", "tqdm", "trace", "traceback", "tracemill", "traces", "tracing", "tracked", "train", "training",
    "traits", "transfer", "transferred", "transform", "transformers", "transit", "transpose", "tree", "treedef",
    "triang", "triangular", "tril", "trip", "triton", "triu", "trivial", "true", "try", "tsgra", "tsgrb", "tsl",
    "tstate", "tt", "tuple", "turing", "tw", "two", "ty", "type", "typed", "typename", "typeof", "typing", "u16",
    "u32", "u64", "uint", "um", "umldsa", "umldsb", "unary", "under", "uneven", "unexpected", "unflatten",
    "unhandled", "unification", "unified", "uniform", "unique", "unit", "units", "unknown", "unload", "unlock",
    "unlocked", "unpack", "unrealized", "unrecorded", "unregister", "unreliable", "unresolved", "unroll",
    "unrolled", "unsafe", "unset", "unsigned", "unspecified", "unsqueeze", "unswitch", "until", "unzip", "up",
    "upcaster", "update", "upper", "upsweep", "us", "usage", "use", "used", "user", "users", "uses", "usfgr",
    "using", "usr", "utf", "util", "utilization", "utils", "v100", "v2", "v5e", "v5litepod", "v5p", "v6e", "val",
    "valid", "validate", "value", "values", "var", "variadic", "varlen", "vars", "vaw", "vector", "vectorized",
    "vendor", "verbose", "verdict", "verifier", "verify", "version", "vflrp", "via", "view", "vjp", "vliw", "vmap",
    "vmem", "vocab", "void", "volta", "vw", "vwb", "wait", "waiting", "warm", "warning", "warnings", "warp",
    "warpgroup", "warps", "warpspecialized", "was", "were", "wg", "wgm", "wgmma", "wgrad", "what", "when", "where",
    "which", "while", "who", "whole", "window", "winograd", "with", "without", "wn", "work", "worked", "worker",
    "workgroup", "works", "workspace", "world", "wrap", "wrapped", "wrapper", "wraps", "write", "writes", "writing",
    "written", "wrote", "ws", "wsgra", "wsgrb", "wt", "x64", "x86", "xeon", "xformers", "xi", "xla", "xlarge",
    "xmap", "xmma", "xnn", "xor", "xplane", "xprof", "xpu", "xspace", "xtile", "yes", "yet", "ynn", "zero", "zeros",
    "zgemm", "zip", "zn20", "zst", "zstd",
};

/* clang-format on */

static int compare(const void *word, const void *listed)
{
    return strcmp(word, *(const char *const *)listed);
}

/* Whether a word is public: to XLA, JAX, PyTorch, their libraries and runtimes, or to this program.  It reveals
 * nothing about who ran what, and reports are of little use without it.
 * in:     word  ASCII; its case does not matter */
static bool is_public_word(const char *word, size_t length)
{
    char lower[TM_PUBLIC_WORD_MOST + 1];

    if (length > TM_PUBLIC_WORD_MOST)
        return false;
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
    lower[length] = '\0';
    return bsearch(lower, public_words, sizeof(public_words) / sizeof(public_words[0]), sizeof(public_words[0]),
                   compare) != NULL;
}

enum {
    OUT_BYTES = 5 * TM_REDACT_TEXT_MOST, /* a byte that is not UTF-8 and a dot give nine: nothing gives more */
    VALID_BYTES = 3 * TM_REDACT_TEXT_MOST,
    DIGITS_MOST = 4,         /* of a number that stays */
    SHAPE_DIGITS_MOST = 12,  /* of a dimension */
    ORDINAL_DIGITS_MOST = 6, /* of an instruction */
    LETTER_DIGITS_MOST = 2,  /* behind a single letter */
    PUBLIC_PIECE_LEAST = 3,  /* letters that make a mixed word public */
    ADDRESS_NUMBERS = 4,
    ADDRESS_DIGITS = 3,
    HOST_SLOTS = 2048,
    HOSTS_MOST = 1024, /* that are known again */
    NAME_LEAST = 4,    /* bytes of a host's name that is searched for in strings */
};

#define HOST_PREFIX "host-"

enum { HOST_PREFIX_BYTES = sizeof(HOST_PREFIX) - 1 };

/* The characters of a pseudonym: consonants, and digits that cannot be confused with letters. */
static const char pseudonym_signs[] = "bcdfghjkmnpqrstvwxyz23456789";

enum { FIRST_SIGNS = 20, ALL_SIGNS = 28 };

/* Names of hosts by hash: "gpu-node-17" consists of words that stay, but names a machine.  A string is compared at the
 * start of each word with the names of each length that there is, longest first. */
struct known_names {
    uint64_t hashes[HOST_SLOTS]; /* 0 = free */
    size_t count;
    uint64_t lengths[(TM_REDACT_WORD_MOST + 64) / 64]; /* a bit for each length that a name has */
    size_t longest;
    bool starts[256]; /* small letters with which a name starts */
};

struct tm_redactor {
    struct tm_run *run;
    struct tm_secret_key key, made_from;
    bool has_key;
    struct tm_names *words;
    char *out, *valid;          /* OUT_BYTES + 1, VALID_BYTES */
    size_t used;                /* of out */
    bool is_path;               /* the text that is redacted is one */
    bool in_path;               /* or it has one, which is not at its end yet */
    uint64_t hosts[HOST_SLOTS]; /* pseudonyms that hosts have, as they are written; 0 = free */
    size_t host_count;
    struct known_names known; /* of hosts, in any text */
};

/* --- made and released --- */

struct tm_redactor *tm_redactor_new(struct tm_run *run, size_t memory_bytes)
{
    struct tm_redactor *r = tm_take(&run->budget, TM_ACCOUNT_NAMES, sizeof(*r), &run->error);

    if (!r)
        return NULL;
    r->run = run;
    r->words = tm_names_new(run, memory_bytes, NULL);
    r->out = r->words ? tm_take(&run->budget, TM_ACCOUNT_NAMES, OUT_BYTES + 1, &run->error) : NULL;
    r->valid = r->out ? tm_take(&run->budget, TM_ACCOUNT_NAMES, VALID_BYTES, &run->error) : NULL;
    if (r->valid)
        return r;
    tm_redactor_free(r);
    return NULL;
}

void tm_redactor_free(struct tm_redactor *r)
{
    if (!r)
        return;
    tm_names_free(r->words);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r->out, r->out ? OUT_BYTES + 1 : 0);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r->valid, r->valid ? VALID_BYTES : 0);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r, sizeof(*r));
}

/* --- the key --- */

void tm_redactor_set_key(struct tm_redactor *r, struct tm_secret_key key)
{
    r->key = key;
    r->has_key = true;
}

void tm_redactor_add_fingerprint(struct tm_redactor *r, const char *fingerprint)
{
    const struct tm_secret_key so_far = r->made_from, other = { ~so_far.low, ~so_far.high };

    r->made_from.low = tm_keyed_hash(so_far, fingerprint, strlen(fingerprint));
    r->made_from.high = tm_keyed_hash(other, fingerprint, strlen(fingerprint));
}

void tm_redactor_make_key(struct tm_redactor *r)
{
    if (!r->has_key)
        tm_redactor_set_key(r, stretch_key(r->made_from));
}

struct tm_secret_key tm_redactor_key(const struct tm_redactor *r)
{
    return r->key;
}

struct tm_names *tm_redactor_words(struct tm_redactor *r)
{
    return r->words;
}

/* --- signs --- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* Letters of other scripts are parts of words, and whatever else is beyond ASCII with them; except for U+0080 to
 * U+00BF, which have no letters: this program has some of their signs in its own strings. */
enum { SIGN_LEAD = 0xc2 };

static inline bool is_word_byte(char c)
{
    return is_letter(c) || is_digit(c) || ((unsigned char)c >= 0x80 && (unsigned char)c != SIGN_LEAD);
}

static size_t count_digits(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_digit(text[n]))
        n++;
    return n;
}

static size_t count_letters(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_letter(text[n]))
        n++;
    return n;
}

/* How many letters at the start of these are one piece of a joined word: "Launch" of LaunchKernel, "HLO" of
 * HLOModule. */
static size_t count_piece(const char *letters, size_t length)
{
    size_t n = 1;

    while (n < length && is_upper(letters[n]) && is_upper(letters[n - 1]))
        n++;
    if (n > 1)
        return n < length ? n - 1 : n;
    while (n < length && !is_upper(letters[n]))
        n++;
    return n;
}

/* --- pseudonyms --- */

static void put(struct tm_redactor *r, const char *text, size_t length)
{
    assert(length <= OUT_BYTES - r->used);
    memcpy(r->out + r->used, text, length);
    r->used += length;
}

/* Small letters are as they are made; a word in capitals, or with a capital in front, has its pseudonym so too. */
static void set_case(const char *word, size_t length, char *pseudonym)
{
    const bool is_all = length > 1 && is_upper(word[1]);

    if (!is_upper(word[0]))
        return;
    for (size_t i = 0; i < (is_all ? TM_PSEUDONYM_BYTES : 1); i++)
        pseudonym[i] = (char)(pseudonym[i] >= 'a' ? pseudonym[i] - 'a' + 'A' : pseudonym[i]);
}

void tm_pseudonym(const struct tm_redactor *r, const char *word, size_t length, char *pseudonym)
{
    char lower[TM_REDACT_WORD_MOST];
    uint64_t hash;

    assert(length <= sizeof(lower) && r->has_key);
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(is_upper(word[i]) ? word[i] - 'A' + 'a' : word[i]);
    hash = tm_keyed_hash(r->key, lower, length);
    pseudonym[0] = pseudonym_signs[hash % FIRST_SIGNS];
    hash /= FIRST_SIGNS;
    for (size_t i = 1; i < TM_PSEUDONYM_BYTES; i++, hash /= ALL_SIGNS)
        pseudonym[i] = pseudonym_signs[hash % ALL_SIGNS];
    set_case(word, length, pseudonym);
}

static void put_pseudonym(struct tm_redactor *r, const char *word, size_t length)
{
    char pseudonym[TM_PSEUDONYM_BYTES];

    tm_pseudonym(r, word, length, pseudonym);
    put(r, pseudonym, sizeof(pseudonym));
    (void)tm_names_put(r->words, word, length);
}

/* --- words --- */

/* A word that consists entirely of public pieces, including single letters.
 * out:    *has_public  set if one of them is a word by itself */
static bool are_letters_public(const char *letters, size_t length, bool *has_public)
{
    for (size_t i = 0; i < length;) {
        const size_t n = count_piece(letters + i, length - i);

        if (n > 1 && !is_public_word(letters + i, n))
            return false;
        *has_public |= n >= PUBLIC_PIECE_LEAST;
        i += n;
    }
    return true;
}

/* What follows a number of C++, and behind times. */
static bool is_suffix(const char *letters, size_t length)
{
    static const char *const suffixes[] = { "u", "ul", "ull", "f", "ns", "us", "ms", "s", "d" };

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (length == strlen(suffixes[i]) && memcmp(letters, suffixes[i], length) == 0)
            return true;
    return false;
}

/* "tilesize128x64", "MemcpyD2D", "128x128", "4ul": letters and short numbers without further meaning. */
static bool is_mixed_public(const char *word, size_t length)
{
    bool has_public = false, is_size = true;

    for (size_t i = 0; i < length;) {
        const size_t digits = count_digits(word + i, length - i);
        const size_t n = digits ? digits : count_letters(word + i, length - i);
        const bool is_unit = !digits && i && i + n == length && is_suffix(word + i, n);

        if (digits ? digits > DIGITS_MOST : !is_unit && !are_letters_public(word + i, n, &has_public))
            return false;
        is_size &= digits || is_unit || (n == 1 && word[i] == 'x');
        i += n;
    }
    return has_public || is_size;
}

/* in: before  the sign before it; 0 = none */
static bool is_number_public(size_t digits, char before)
{
    return digits <= DIGITS_MOST || (digits <= SHAPE_DIGITS_MOST && (before == '[' || before == ',')) ||
           (digits <= ORDINAL_DIGITS_MOST && before == '.');
}

static bool is_ascii(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] >= 0x80)
            return false;
    return true;
}

/* Letters, joined as in LayerNorm, with a short number after them or none. */
static void put_joined(struct tm_redactor *r, const char *word, size_t letters, size_t length)
{
    for (size_t i = 0; i < letters;) {
        const size_t n = count_piece(word + i, letters - i);

        if (n == 1 || is_public_word(word + i, n))
            put(r, word + i, n);
        else
            put_pseudonym(r, word + i, n);
        i += n;
    }
    put(r, word + letters, length - letters);
}

static bool is_among(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (length == strlen(words[i]) && memcmp(word, words[i], length) == 0)
            return true;
    return false;
}

/* What follows the dots at the end of a path, and folders that every machine has. */
static bool is_path_word(const char *word, size_t length, char before)
{
    static const char *const endings[] = {
        "xplane", "pb",  "json", "gz", "zst", "prof", "pt", "trace", "tar", "tgz", "zip", "partial",
        "py",     "pyc", "pyx",  "c",  "cc",  "cpp",  "cu", "cuh",   "h",   "hpp", "so",
    };
    static const char *const folders[] = { "usr", "opt", "lib", "lib64", "local", "bin", "site", "dist" };

    return before == '.' ? is_among(endings, sizeof(endings) / sizeof(endings[0]), word, length)
                         : is_among(folders, sizeof(folders) / sizeof(folders[0]), word, length);
}

/* These folders contain third-party libraries: their names are examined like others. */
static bool is_library(const char *word, size_t length)
{
    static const char *const names[] = { "packages", "python3", "python2" };

    return is_among(names, sizeof(names) / sizeof(names[0]), word, length);
}

static void put_path_word(struct tm_redactor *r, const char *word, size_t length, char before)
{
    const size_t digits = count_digits(word, length);
    const bool is_end = is_library(word, length) && (before == '/' || before == '-');

    if (is_end || is_path_word(word, length, before) || (digits == length && digits <= DIGITS_MOST))
        put(r, word, length);
    else
        put_pseudonym(r, word, length);
    r->in_path &= !is_end;
    r->is_path &= !is_end;
}

/* Whether a path starts with this slash: "/home/a", "=/tmp", but not the parts of "jit(f)/dot" and "vm/gpu:0", nor
 * "/device:GPU:0". */
static bool begins_path(const char *slash, size_t length, char before)
{
    size_t n = 1;

    if (is_word_byte(before) || (before && !strchr(" \t\n=([\"'`,$<:|;@", before)))
        return false;
    while (n < length && is_word_byte(slash[n]))
        n++;
    return n == length || slash[n] != ':' || !is_public_word(slash + 1, n - 1);
}

/* A character that is not part of a word is copied.  in: before  the sign before it */
static void pass_sign(struct tm_redactor *r, const char *sign, size_t length, char before)
{
    if (strchr(" \t\n\"'`,()|;:<>", *sign))
        r->in_path = false;
    else if (*sign == '/' && !r->in_path)
        r->in_path = begins_path(sign, length, before);
}

static void put_word(struct tm_redactor *r, const char *word, size_t length, char before)
{
    const size_t digits = count_digits(word, length), letters = count_letters(word, length);
    const size_t rest = letters + count_digits(word + letters, length - letters);

    if (digits == length ? is_number_public(digits, before)
                         : is_ascii(word, length) && (is_public_word(word, length) || is_mixed_public(word, length)))
        put(r, word, length);
    else if (letters == 1 && rest == length && length - letters <= LETTER_DIGITS_MOST)
        put(r, word, length);
    else if (letters > 1 && rest == length && length - letters <= DIGITS_MOST)
        put_joined(r, word, letters, length);
    else
        put_pseudonym(r, word, length);
}

/* --- strings --- */

static bool is_address_sign(char c)
{
    return c == '.' || c == '-' || c == '_';
}

/* Four numbers like those of an IP address, "10.0.3.17" or "ip-10-0-3-17", but not those of a date and a time.
 * in:     behind  a number and one of its separators precede it
 * out:    its length; 0 = none starts there */
static size_t count_address(const char *text, size_t length, bool behind)
{
    size_t at = 0;
    char sign = 0;

    for (int i = 0; i < ADDRESS_NUMBERS; i++) {
        const size_t digits = count_digits(text + at, length - at);

        if (behind || digits == 0 || digits > ADDRESS_DIGITS)
            return 0;
        at += digits;
        if (i == ADDRESS_NUMBERS - 1)
            break;
        if (at == length || !is_address_sign(text[at]) || (sign && text[at] != sign))
            return 0;
        sign = text[at++];
    }
    if (at + 1 < length && text[at] == sign && is_digit(text[at + 1]))
        return 0;
    return at < length && is_word_byte(text[at]) ? 0 : at;
}

/* The length of the word at the start, which is cut between characters if it is too long. */
static size_t count_word(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && n < TM_REDACT_WORD_MOST && is_word_byte(text[n]))
        n++;
    while (n > 1 && n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* --- hosts --- */

static bool ends_host(const void *slot, const void *packed)
{
    const uint64_t host = *(const uint64_t *)slot;

    return !host || host == *(const uint64_t *)packed;
}

/* Where the pseudonym of a host is in the table, or belongs. */
static uint64_t *host_slot(struct tm_redactor *r, const char *pseudonym, uint64_t *packed)
{
    memcpy(packed, pseudonym, sizeof(*packed));
    return tm_probe(r->hosts, HOST_SLOTS, sizeof(*r->hosts), *packed * UINT64_C(0x9e3779b97f4a7c15) >> 53, packed,
                    ends_host);
}

/* The length of a host's pseudonym at the start; 0 = there is none. */
static size_t count_host(struct tm_redactor *r, const char *text, size_t length)
{
    uint64_t packed;

    if (length < HOST_PREFIX_BYTES + TM_PSEUDONYM_BYTES || memcmp(text, HOST_PREFIX, HOST_PREFIX_BYTES) != 0)
        return 0;
    return *host_slot(r, text + HOST_PREFIX_BYTES, &packed) ? HOST_PREFIX_BYTES + TM_PSEUDONYM_BYTES : 0;
}

static inline char lower_of(char c)
{
    return (char)(is_upper(c) ? c - 'A' + 'a' : c);
}

static bool ends_name(const void *slot, const void *hash)
{
    const uint64_t known = *(const uint64_t *)slot;

    return !known || known == *(const uint64_t *)hash;
}

/* Where a name is in the table, or belongs.  in: name  at most TM_REDACT_WORD_MOST bytes */
static uint64_t *name_slot(struct known_names *known, const char *name, size_t length, uint64_t *hash)
{
    char lower[TM_REDACT_WORD_MOST];

    for (size_t i = 0; i < length; i++)
        lower[i] = lower_of(name[i]);
    *hash = tm_hash_text(lower, length, 0) | 1;
    return tm_probe(known->hashes, HOST_SLOTS, sizeof(*known->hashes), *hash >> 53, hash, ends_name);
}

/* A single public word, such as "localhost" or "f32", does not identify a host in a string. */
static bool names_machine(const char *name, size_t length)
{
    size_t letters = 0;

    for (size_t i = 0; i < length; i++)
        letters += is_letter(name[i]);
    return length >= NAME_LEAST && length <= TM_REDACT_WORD_MOST && letters < length && is_word_byte(name[0]) &&
           !is_public_word(name, length);
}

static void know_name(struct known_names *known, const char *name, size_t length)
{
    uint64_t hash, *slot;

    if (!names_machine(name, length) || known->count == HOSTS_MOST)
        return;
    slot = name_slot(known, name, length, &hash);
    known->count += *slot == 0;
    *slot = hash;
    known->lengths[length / 64] |= UINT64_C(1) << length % 64;
    known->longest = length > known->longest ? length : known->longest;
    known->starts[(unsigned char)lower_of(name[0])] = true;
}

void tm_redactor_know_host(struct tm_redactor *r, const char *host)
{
    const size_t length = strlen(host), label = strcspn(host, ".");

    if (count_host(r, host, length) == length)
        return;
    know_name(&r->known, host, length);
    if (count_digits(host, label) < label)
        know_name(&r->known, host, label);
}

/* The length of a known host's name at the start; 0 = there is none. */
static size_t count_known(struct tm_redactor *r, const char *text, size_t length)
{
    struct known_names *const known = &r->known;
    size_t n = length < known->longest ? length : known->longest;
    uint64_t hash;

    if (!known->starts[(unsigned char)lower_of(*text)])
        return 0;
    for (; n; n--)
        if (known->lengths[n / 64] >> n % 64 & 1 && (n == length || !is_word_byte(text[n])) &&
            *name_slot(known, text, n, &hash))
            return n;
    return 0;
}

static void put_host(struct tm_redactor *r, const char *host, size_t length)
{
    const size_t known = count_host(r, host, length);
    uint64_t packed, *slot;

    if (length == 0 || known == length) {
        put(r, host, length);
        return;
    }
    put(r, HOST_PREFIX, HOST_PREFIX_BYTES);
    put_pseudonym(r, host, length < TM_REDACT_WORD_MOST ? length : TM_REDACT_WORD_MOST);
    memcpy(&packed, r->out + r->used - TM_PSEUDONYM_BYTES, sizeof(packed));
    slot = host_slot(r, r->out + r->used - TM_PSEUDONYM_BYTES, &packed);
    r->host_count += *slot == 0;
    if (*slot == 0 && r->host_count <= HOSTS_MOST)
        *slot = packed;
}

/* "vm/gpu:0": the length of what is before the slash; 0 = a string is something else. */
static size_t count_device_host(const char *text, size_t length)
{
    static const char *const kinds[] = { "/gpu:", "/tpu:", "/cpu:" };
    enum { KIND_BYTES = 5 };
    size_t at = length;

    while (at && is_digit(text[at - 1]))
        at--;
    if (at == length || at <= KIND_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (memcmp(text + at - KIND_BYTES, kinds[i], KIND_BYTES) == 0)
            return at - KIND_BYTES;
    return 0;
}

/* in: text  valid UTF-8 */
static void redact(struct tm_redactor *r, const char *text, size_t length)
{
    char before = 0;

    for (size_t i = 0; i < length;) {
        const bool behind = i > 1 && is_address_sign(before) && is_digit(text[i - 2]);
        const size_t address = is_word_byte(before) ? 0 : count_address(text + i, length - i, behind);
        const size_t host = is_word_byte(before) ? 0 : count_host(r, text + i, length - i);
        const size_t sign = (unsigned char)text[i] == SIGN_LEAD ? 2 : 1;
        const size_t name = is_word_byte(before) || host ? 0 : count_known(r, text + i, length - i);
        const size_t n = name ? name : address ? address : host ? host : count_word(text + i, length - i);

        if (n == 0)
            pass_sign(r, text + i, length - i, before);
        if (name)
            put_host(r, text + i, name);
        else if (n == 0 || host)
            put(r, text + i, n ? n : sign);
        else if (address)
            put_pseudonym(r, text + i, n);
        else if (r->is_path || r->in_path)
            put_path_word(r, text + i, n, before);
        else
            put_word(r, text + i, n, before);
        i += n ? n : sign;
        before = n || sign == 1 ? text[i - 1] : ' ';
    }
}

/* Whole characters of a string, each byte that starts none as U+FFFD. */
static size_t make_valid(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t step = tm_utf8_next(text + i, length - i, &code), n = step ? step : 3;

        memcpy(to + used, step ? text + i : "\xef\xbf\xbd", n);
        used += n;
        i += step ? step : 1;
    }
    return used;
}

/* Start with a string: its length, cut, and valid. */
static const char *begin_text(struct tm_redactor *r, const char *text, size_t *length)
{
    *length = *length < TM_REDACT_TEXT_MOST ? *length : TM_REDACT_TEXT_MOST;
    r->used = 0;
    r->is_path = r->in_path = false;
    if (tm_utf8_is_valid(text, *length))
        return text;
    *length = make_valid(r->valid, text, *length);
    return r->valid;
}

static tm_status end_text(struct tm_redactor *r, const char **out, size_t *out_length)
{
    r->out[r->used] = '\0';
    *out = r->out;
    *out_length = r->used;
    return r->run->error.status;
}

tm_status tm_redact(struct tm_redactor *r, const char *text, size_t length, const char **out, size_t *out_length)
{
    const char *const valid = begin_text(r, text, &length);
    const size_t host = count_device_host(valid, length);

    put_host(r, valid, host);
    redact(r, valid + host, length - host);
    return end_text(r, out, out_length);
}

tm_status tm_redact_path(struct tm_redactor *r, const char *path, size_t length, const char **out, size_t *out_length)
{
    const char *const valid = begin_text(r, path, &length);

    r->is_path = true;
    redact(r, valid, length);
    return end_text(r, out, out_length);
}

static void copy_into(char *to, size_t bytes, const char *text, size_t length)
{
    length = length < bytes ? length : bytes - 1;
    memmove(to, text, length);
    to[length] = '\0';
}

tm_status tm_redact_host(struct tm_redactor *r, char *to, size_t bytes, const char *host)
{
    size_t length = strlen(host);

    if (r) {
        const char *const valid = begin_text(r, host, &length);

        tm_redactor_know_host(r, host);
        put_host(r, valid, length);
        (void)end_text(r, &host, &length);
    }
    copy_into(to, bytes, host, length);
    return r ? r->run->error.status : TM_OK;
}

tm_status tm_redact_into(struct tm_redactor *r, char *to, size_t bytes, const char *text)
{
    size_t length = strlen(text);

    if (r)
        tm_redact(r, text, length, &text, &length);
    copy_into(to, bytes, text, length);
    return r ? r->run->error.status : TM_OK;
}
