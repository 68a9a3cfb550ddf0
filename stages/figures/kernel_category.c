/* SPDX-License-Identifier: Apache-2.0 */
/* Categories, precision, and Tensor Core use from names.  The names are those of cuBLAS, cuDNN, CUTLASS, rocBLAS and
 * hipBLASLt (Tensile), MIOpen, Composable Kernel, Eigen, and XLA's own fusions; compared without case and only up to a
 * length, because the template arguments after that describe types.  A name is a hint, not a proof: if nothing matches,
 * the answer is "other" or "unknown". */
#include "stages/figures/kernel_category.h"

#include <string.h>

#include "stages/resolve/classes.h"

enum { LOOKED_AT_BYTES = 1024, PAIR_BITS = 1024 };

const char *const tm_category_name[TM_CATEGORY_COUNT] = {
    [TM_CATEGORY_GEMM] = "gemm/dot",
    [TM_CATEGORY_CONVOLUTION] = "convolution",
    [TM_CATEGORY_ATTENTION] = "attention",
    [TM_CATEGORY_NORMALIZATION] = "normalization",
    [TM_CATEGORY_SOFTMAX] = "softmax",
    [TM_CATEGORY_REDUCTION] = "reduction",
    [TM_CATEGORY_ELEMENTWISE] = "elementwise fusion",
    [TM_CATEGORY_ELEMENTWISE_ALONE] = "elementwise",
    [TM_CATEGORY_GATHER] = "gather/scatter",
    [TM_CATEGORY_SORT] = "sort/top-k",
    [TM_CATEGORY_RANDOM] = "random numbers",
    [TM_CATEGORY_QUANTIZATION] = "quantization",
    [TM_CATEGORY_OPTIMIZER] = "optimizer",
    [TM_CATEGORY_ROUTING] = "moe routing",
    [TM_CATEGORY_COPY] = "copy/transpose",
    [TM_CATEGORY_MEMSET] = "memset",
    [TM_CATEGORY_COLLECTIVE] = "collective",
    [TM_CATEGORY_CUSTOM] = "custom",
    [TM_CATEGORY_OTHER] = "other",
};

/* The start of a string in lower case, and the pairs of adjacent letters in it, which rule out most of the hundred
 * parts that it is searched for. */
struct lowered {
    char bytes[LOOKED_AT_BYTES];
    struct tm_text text;
    uint64_t pairs[PAIR_BITS / 64]; /* a set by hash: may hold too many, never too few */
};

static inline size_t pair_of(char first, char second)
{
    return ((size_t)(unsigned char)first * 37 + (unsigned char)second) % PAIR_BITS;
}

static void lower(struct lowered *to, const char *text, size_t length)
{
    const size_t n = length < LOOKED_AT_BYTES ? length : LOOKED_AT_BYTES;
    char before = 0;

    memset(to->pairs, 0, sizeof(to->pairs));
    for (size_t i = 0; i < n; i++) {
        const char c = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
        const size_t pair = pair_of(before, c);

        to->bytes[i] = c;
        to->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
        before = c;
    }
    to->text = (struct tm_text){ to->bytes, n };
}

static inline bool may_have(const struct lowered *lowered, const char *part)
{
    for (; part[0] && part[1]; part++) {
        const size_t pair = pair_of(part[0], part[1]);

        if (!(lowered->pairs[pair / 64] >> pair % 64 & 1))
            return false;
    }
    return true;
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How a part has to match in the text. */
enum where {
    ANYWHERE,
    BEGINS, /* at the start of the text */
    WORD,   /* no letter before or after */
    TYPE,   /* no letter before, no digit after: s8, but not tiles8 or s884 */
};

static bool stands(struct tm_text text, size_t at, size_t length, enum where where)
{
    const char before = at ? text.at[at - 1] : '_';
    const char behind = at + length < text.length ? text.at[at + length] : '_';

    switch (where) {
    case BEGINS:
        return at == 0;
    case WORD:
        return !is_letter(before) && !is_letter(behind);
    case TYPE:
        return !is_letter(before) && !is_digit(behind);
    default:
        return true;
    }
}

static bool stands_in(struct tm_text text, const char *part, enum where where)
{
    const size_t n = strlen(part);

    for (size_t at = 0; at + n <= text.length; at++) {
        const char *found = memmem(text.at + at, text.length - at, part, n);

        if (!found)
            return false;
        at = (size_t)(found - text.at);
        if (stands(text, at, n, where))
            return true;
    }
    return false;
}

static inline bool has(const struct lowered *lowered, const char *part, enum where where)
{
    return may_have(lowered, part) && stands_in(lowered->text, part, where);
}

/* The same in a part of it. */
static inline bool has_in(const struct lowered *lowered, struct tm_text part_of, const char *part, enum where where)
{
    return may_have(lowered, part) && stands_in(part_of, part, where);
}

/* --- the parts of a name --- */

/* "std::enable_if<...>::type void vllm::(anonymous namespace)::rms_norm_kernel<c10::BFloat16, 8>(long*)": a function is
 * identified by its own name, and its template types do not describe its work; for a wrapper ("cutlass::Kernel2<...>")
 * only the template arguments do. */
struct parts {
    struct tm_text function;  /* rms_norm_kernel; all of it if it is not a C++ name */
    struct tm_text scopes;    /* vllm::(anonymous namespace):: */
    struct tm_text arguments; /* of the function's template: up to the end, including the text after them */
};

/* Itanium mangling: _ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi64EEEvPT0_ */
static struct parts parts_of_mangled(struct tm_text name)
{
    struct tm_text rest = tm_text_from(name, 2);
    struct parts parts = { .function = name, .scopes = { name.at, 0 }, .arguments = { name.at, 0 } };

    while (rest.length) {
        size_t n = 0, digits = 0;

        if (*rest.at == 'n' || *rest.at == 'k' || *rest.at == 'l') {
            rest = tm_text_from(rest, 1);
            continue;
        }
        for (; digits < rest.length && digits < 4 && is_digit(rest.at[digits]); digits++)
            n = 10 * n + (size_t)(rest.at[digits] - '0');
        if (!digits)
            break;
        rest = tm_text_from(rest, digits);
        parts.scopes.length = (size_t)(rest.at - name.at);
        parts.function = (struct tm_text){ rest.at, n < rest.length ? n : rest.length };
        rest = tm_text_from(rest, n);
    }
    parts.arguments = rest;
    return parts;
}

static struct parts parts_of(struct tm_text name)
{
    static const char anonymous[] = "(anonymous namespace)";
    struct parts parts = { .function = name, .scopes = { name.at, 0 }, .arguments = { name.at, 0 } };
    size_t begin = 0, function = 0, end = name.length, template = name.length;
    int angles = 0, parens = 0;

    if (tm_text_begins(name, "_z"))
        return parts_of_mangled(name);
    if (!memmem(name.at, name.length, "::", 2) && !memchr(name.at, '<', name.length) &&
        !memchr(name.at, '(', name.length))
        return parts; /* an op, a category, a plain C name: "loop fusion" has two words */
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];

        if (c == '(' && !angles && !parens && tm_text_begins(tm_text_from(name, i), anonymous)) {
            i += sizeof(anonymous) - 2;
        } else if (c == '(' && !angles && !parens) {
            end = i;
            break;
        } else if (c == '(' || c == ')') {
            parens += c == '(' ? 1 : parens > 0 ? -1 : 0;
        } else if (parens) {
            continue;
        } else if (c == '<' || c == '>') {
            if (c == '<' && !angles)
                template = i;
            angles += c == '<' ? 1 : angles > 0 ? -1 : 0;
        } else if (!angles && c == ' ') { /* a type precedes it */
            begin = function = i + 1;
            template = name.length;
        } else if (!angles && c == ':') {
            function = i + 1;
            template = name.length;
        }
    }
    parts.scopes = (struct tm_text){ name.at + begin, function - begin };
    parts.function = (struct tm_text){ name.at + function, (template <end ? template : end) - function };
    parts.arguments = tm_text_from(name, template);
    return parts;
}

/* --- category --- */

struct pattern {
    const char *part;
    enum where where;
    enum tm_kernel_category category;
};

/* For a function's own name, an HLO op, a primitive. In this order: a convolution as implicit GEMM is a convolution,
 * attention consists of both, and a normalization that also quantizes is a normalization. */
/* clang-format off */
static const struct pattern function_patterns[] = {
    { "combined_routing", ANYWHERE, TM_CATEGORY_ROUTING },
    { "finalize_matmul_scatter", ANYWHERE, TM_CATEGORY_ROUTING },
    { "sum_bitmatrix_rows", ANYWHERE, TM_CATEGORY_ROUTING },
    { "routing", ANYWHERE, TM_CATEGORY_ROUTING },
    { "moe_align", ANYWHERE, TM_CATEGORY_ROUTING },
    { "moe_sum", ANYWHERE, TM_CATEGORY_ROUTING },
    { "moe_permute", ANYWHERE, TM_CATEGORY_ROUTING },
    { "expandinputrows", ANYWHERE, TM_CATEGORY_ROUTING },
    { "finalizemoe", ANYWHERE, TM_CATEGORY_ROUTING },
    { "topkgating", ANYWHERE, TM_CATEGORY_ROUTING },
    { "topk_gating", ANYWHERE, TM_CATEGORY_ROUTING },
    { "topk_softmax", ANYWHERE, TM_CATEGORY_ROUTING },
    { "sort_expert", ANYWHERE, TM_CATEGORY_ROUTING },
    { "reshape_and_cache", ANYWHERE, TM_CATEGORY_GATHER },
    { "concat_and_cache", ANYWHERE, TM_CATEGORY_GATHER },
    { "store_kvcache", ANYWHERE, TM_CATEGORY_GATHER },
    { "kv_indices", ANYWHERE, TM_CATEGORY_GATHER },
    { "fmha", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "flash", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "attention", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "attn", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "sdpa", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "rpa-", BEGINS, TM_CATEGORY_ATTENTION }, /* ragged paged attention, as vLLM names its Pallas kernels */
    { "scudnn", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "884cudnn", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "1688cudnn", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "16816cudnn", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "implicit_gemm", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "implicitgemm", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "igemm", BEGINS, TM_CATEGORY_CONVOLUTION },
    { "convolution", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "convolve", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "conv", WORD, TM_CATEGORY_CONVOLUTION },
    { "depthwise", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "asmconv", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "wgrad", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "dgrad", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "fprop", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "bwd_weight", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "bwd_data", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "winograd", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "im2col", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "col2im", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "im2d2col", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "im3d2col", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "fft1d_", BEGINS, TM_CATEGORY_CONVOLUTION }, /* cuDNN's engines by transforms; cuFFT's own have other names */
    { "fft2d_", BEGINS, TM_CATEGORY_CONVOLUTION },
    { "flip_filter", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "computeoffsetskernel", ANYWHERE, TM_CATEGORY_CONVOLUTION }, /* cuDNN's, before an engine */
    { "computeboffsetskernel", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "layer_norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "layernorm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "rms_norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "rmsnorm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "batch_norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "batch-norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "batchnorm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "group_norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "groupnorm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "instance_norm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "instancenorm", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "bn_fw", BEGINS, TM_CATEGORY_NORMALIZATION },
    { "bn_bw", BEGINS, TM_CATEGORY_NORMALIZATION },
    { "ln_fwd", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "ln_bwd", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "rowwisemoments", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "gammabeta", ANYWHERE, TM_CATEGORY_NORMALIZATION },
    { "cucomputegradinput", ANYWHERE, TM_CATEGORY_NORMALIZATION }, /* Apex */
    { "softmax", ANYWHERE, TM_CATEGORY_SOFTMAX },
    { "cross_entropy", ANYWHERE, TM_CATEGORY_SOFTMAX },
    { "gemm", ANYWHERE, TM_CATEGORY_GEMM },
    { "gemv", ANYWHERE, TM_CATEGORY_GEMM },
    { "fused_moe", ANYWHERE, TM_CATEGORY_GEMM },
    { "cijk_", BEGINS, TM_CATEGORY_GEMM },
    { "bmm", WORD, TM_CATEGORY_GEMM },
    { "nvjet", ANYWHERE, TM_CATEGORY_GEMM },
    { "cutlass", ANYWHERE, TM_CATEGORY_GEMM },
    { "xmma", ANYWHERE, TM_CATEGORY_GEMM },
    { "cublas", ANYWHERE, TM_CATEGORY_GEMM },
    { "splitk", ANYWHERE, TM_CATEGORY_GEMM },
    { "matmul", ANYWHERE, TM_CATEGORY_GEMM },
    { "dot", WORD, TM_CATEGORY_GEMM },
    { "einsum", WORD, TM_CATEGORY_GEMM },
    { "quantize", ANYWHERE, TM_CATEGORY_QUANTIZATION },
    { "quantization", ANYWHERE, TM_CATEGORY_QUANTIZATION },
    { "quant", WORD, TM_CATEGORY_QUANTIZATION },
    { "dequant", ANYWHERE, TM_CATEGORY_QUANTIZATION },
    { "fp8rowwise", ANYWHERE, TM_CATEGORY_QUANTIZATION }, /* FBGEMM */
    { "fp8_qparam", ANYWHERE, TM_CATEGORY_QUANTIZATION },
    { "topk", ANYWHERE, TM_CATEGORY_SORT },
    { "top_k", ANYWHERE, TM_CATEGORY_SORT },
    { "top-k", ANYWHERE, TM_CATEGORY_SORT },
    { "sort", ANYWHERE, TM_CATEGORY_SORT },
    { "kthvalue", ANYWHERE, TM_CATEGORY_SORT },
    { "radixfindkth", ANYWHERE, TM_CATEGORY_SORT },
    { "philox", ANYWHERE, TM_CATEGORY_RANDOM },
    { "threefry", ANYWHERE, TM_CATEGORY_RANDOM },
    { "random", ANYWHERE, TM_CATEGORY_RANDOM },
    { "curand", ANYWHERE, TM_CATEGORY_RANDOM },
    { "rocrand", ANYWHERE, TM_CATEGORY_RANDOM },
    { "rng", BEGINS, TM_CATEGORY_RANDOM },
    { "distribution_elementwise", ANYWHERE, TM_CATEGORY_RANDOM },
    { "dropout", ANYWHERE, TM_CATEGORY_RANDOM },
    { "rotary", ANYWHERE, TM_CATEGORY_ELEMENTWISE },
    { "rope", WORD, TM_CATEGORY_ELEMENTWISE },
    { "act_and_mul", ANYWHERE, TM_CATEGORY_ELEMENTWISE },
    { "silu_and_mul", ANYWHERE, TM_CATEGORY_ELEMENTWISE },
    { "gelu_and_mul", ANYWHERE, TM_CATEGORY_ELEMENTWISE },
    { "swiglu", ANYWHERE, TM_CATEGORY_ELEMENTWISE },
    { "select-and-scatter", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "select_and_scatter", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "reduce-scatter", ANYWHERE, TM_CATEGORY_COLLECTIVE },
    { "embedding", ANYWHERE, TM_CATEGORY_GATHER },
    { "embs", WORD, TM_CATEGORY_GATHER },
    { "gather", ANYWHERE, TM_CATEGORY_GATHER },
    { "scatter", ANYWHERE, TM_CATEGORY_GATHER },
    { "index_", ANYWHERE, TM_CATEGORY_GATHER },
    { "indexing", ANYWHERE, TM_CATEGORY_GATHER },
    { "indexselect", ANYWHERE, TM_CATEGORY_GATHER },
    { "indexfunc", ANYWHERE, TM_CATEGORY_GATHER },
    { "lookup", ANYWHERE, TM_CATEGORY_GATHER },
    { "permute_1d", ANYWHERE, TM_CATEGORY_GATHER }, /* FBGEMM: of sparse features */
    { "permute_2d", ANYWHERE, TM_CATEGORY_GATHER },
    { "multi_tensor_apply", ANYWHERE, TM_CATEGORY_OPTIMIZER },
    { "adam", WORD, TM_CATEGORY_OPTIMIZER },
    { "adamw", WORD, TM_CATEGORY_OPTIMIZER },
    { "adagrad", WORD, TM_CATEGORY_OPTIMIZER },
    { "sgd", WORD, TM_CATEGORY_OPTIMIZER },
    { "lamb", WORD, TM_CATEGORY_OPTIMIZER },
    { "adafactor", WORD, TM_CATEGORY_OPTIMIZER },
    { "reduce-precision", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "reduce_precision", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "reduce", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "reduction", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "argmax", WORD, TM_CATEGORY_REDUCTION },
    { "argmin", WORD, TM_CATEGORY_REDUCTION },
    { "devicescan", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "cumsum", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "cumprod", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "scan_kernel", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "max_pool", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "avg_pool", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "average_pool", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "pooling", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "nll_loss", ANYWHERE, TM_CATEGORY_REDUCTION },
    { "classnllcriterion", ANYWHERE, TM_CATEGORY_REDUCTION },
};
/* clang-format on */

/* For what is not a fusion of XLA. */
/* clang-format off */
static const struct pattern plain_patterns[] = {
    { "custom-call", ANYWHERE, TM_CATEGORY_CUSTOM },
    { "custom_call", ANYWHERE, TM_CATEGORY_CUSTOM },
    { "custom fusion", ANYWHERE, TM_CATEGORY_CUSTOM },
    { "ynn_fusion", BEGINS, TM_CATEGORY_CUSTOM }, /* XLA:CPU hands them to YNNPACK and XNNPACK as a whole */
    { "xnn_fusion", BEGINS, TM_CATEGORY_CUSTOM },
    { "pallas", ANYWHERE, TM_CATEGORY_CUSTOM },
    { "ffi", WORD, TM_CATEGORY_CUSTOM },
    { "triton__", BEGINS, TM_CATEGORY_CUSTOM }, /* Inductor's older names, without an op */
    { "transpose", ANYWHERE, TM_CATEGORY_COPY },
    { "permute", ANYWHERE, TM_CATEGORY_COPY },
    { "copy", ANYWHERE, TM_CATEGORY_COPY },
    { "shuffling", ANYWHERE, TM_CATEGORY_COPY },
    { "data formatting", BEGINS, TM_CATEGORY_COPY },
    { "concat", ANYWHERE, TM_CATEGORY_COPY },
    { "catarray", ANYWHERE, TM_CATEGORY_COPY },
    { "nchwtonhwc", ANYWHERE, TM_CATEGORY_COPY },
    { "nhwctonchw", ANYWHERE, TM_CATEGORY_COPY },
    { "memset", ANYWHERE, TM_CATEGORY_MEMSET },
    { "non-fusion elementwise", BEGINS, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "elementwise", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "pointwise", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "cwise", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "eigenmetakernel", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "subtensorop", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE }, /* MIOpen */
    { "scalepackedtensor", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE }, /* cuDNN */
    { "triu_tril", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "upsample", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
    { "clamp", ANYWHERE, TM_CATEGORY_ELEMENTWISE_ALONE },
};
/* clang-format on */

/* For the namespaces around a function whose name is not specific. */
/* clang-format off */
static const struct pattern scope_patterns[] = {
    { "moe", WORD, TM_CATEGORY_ROUTING },
    { "fused_attn", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "flash", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "fmha", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "attention", ANYWHERE, TM_CATEGORY_ATTENTION },
    { "winograd", ANYWHERE, TM_CATEGORY_CONVOLUTION },
    { "conv", WORD, TM_CATEGORY_CONVOLUTION },
    { "epilogue::", BEGINS, TM_CATEGORY_GEMM }, /* cuBLASLt's */
    { "cutlass", BEGINS, TM_CATEGORY_GEMM },
};
/* clang-format on */

/* Functions that run what they are instantiated with. */
/* clang-format off */
static const char *const wrappers[] = {
    "kernel", "kernel2", "device_kernel", "kentry", "kernel_entry", "trampoline_kernel",
};
/* clang-format on */

/* What the arguments of an elementwise function may turn it into. */
/* clang-format off */
static const struct pattern element_patterns[] = {
    { "direct_copy_kernel", ANYWHERE, TM_CATEGORY_COPY },
    { "tofloat32_copy_kernel", ANYWHERE, TM_CATEGORY_COPY },
    { "_copy_kernel_cuda", ANYWHERE, TM_CATEGORY_COPY },
    { "copy_device_to_device", ANYWHERE, TM_CATEGORY_COPY },
    { "copyfunctor", ANYWHERE, TM_CATEGORY_COPY },
};
/* clang-format on */

/* Ops that only move data. */
/* clang-format off */
static const char *const moving_words[] = {
    "transpose", "copy", "concatenate", "slice", "pad", "reshape", "bitcast", "reverse",
};
/* clang-format on */

/* Elementwise ops, by their names in HLO and JAX. */
/* clang-format off */
static const char *const element_words[] = {
    "abs", "add", "add_any", "and", "broadcast", "ceil", "clamp", "compare", "convert", "cos",
    "cosine", "div", "divide", "eq", "erf", "exp", "exp2", "expm1", "exponential", "floor", "ge",
    "gelu", "gt", "integer_pow", "iota", "le", "log", "log1p", "logistic", "lt", "max", "maximum",
    "min", "minimum", "mul", "multiply", "ne", "neg", "negate", "not", "or", "pow", "power", "rem",
    "remainder", "relu", "round", "rsqrt", "select", "select_n", "sign", "sin", "sine", "sqrt",
    "square", "sub", "subtract", "tanh", "where", "xor",
};
/* clang-format on */

static enum tm_kernel_category first_match(const struct lowered *text, struct tm_text part_of,
                                           const struct pattern *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_in(text, part_of, patterns[i].part, patterns[i].where))
            return patterns[i].category;
    return TM_CATEGORY_SILENT;
}
#define FIRST_MATCH(text, part_of, patterns)                                                                           \
    first_match(text, part_of, patterns, sizeof(patterns) / sizeof((patterns)[0]))

static bool is_one_of(struct tm_text word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tm_text_is(word, words[i]))
            return true;
    return false;
}

/* The next word between '_', '-', '.' or similar; empty at the end. */
static struct tm_text take_word(struct tm_text *rest)
{
    struct tm_text word;
    size_t n = 0;

    while (rest->length && !is_letter(*rest->at))
        *rest = tm_text_from(*rest, 1);
    while (n < rest->length && is_letter(rest->at[n]))
        n++;
    word = (struct tm_text){ rest->at, n };
    *rest = tm_text_from(*rest, n);
    return word;
}

/* For XLA's fusions: "loop_add_multiply_fusion.3", "input_transpose_fusion", "wrapped_convert".  One of kind input with
 * a transpose in it is a transpose through shared memory, whatever else it does. "wrapped" is a single op.  A fusion
 * that the CPU leaves to a library ("ynn_fusion.7") may contain matmuls or not: its name does not show it. */
static enum tm_kernel_category category_of_fusion(struct tm_text name)
{
    static const char *const frame[] = { "loop", "input",   "wrapped", "fusion", "fused",
                                         "kd",   "dynamic", "update",  "triton", "poi" };
    static const char *const libraries[] = { "ynn", "xnn", "onednn" };
    const bool is_input = tm_text_begins(name, "input_"), is_alone = tm_text_begins(name, "wrapped_");
    bool moves = false, works = false;

    for (struct tm_text word = take_word(&name); word.length; word = take_word(&name)) {
        if (is_input && tm_text_is(word, "transpose"))
            return TM_CATEGORY_COPY;
        if (is_one_of(word, libraries, sizeof(libraries) / sizeof(libraries[0])))
            return TM_CATEGORY_SILENT;
        if (is_one_of(word, moving_words, sizeof(moving_words) / sizeof(moving_words[0])))
            moves = true;
        else if (!is_one_of(word, frame, sizeof(frame) / sizeof(frame[0])))
            works = true;
    }
    if (moves && !works)
        return TM_CATEGORY_COPY;
    return is_alone ? TM_CATEGORY_ELEMENTWISE_ALONE : TM_CATEGORY_ELEMENTWISE;
}

static bool is_fusion(const struct lowered *lowered)
{
    const struct tm_text name = lowered->text;

    return tm_text_begins(name, "loop_") || tm_text_begins(name, "input_") || tm_text_begins(name, "wrapped_") ||
           has(lowered, "fusion", WORD) || has(lowered, "fused", WORD);
}

/* Inductor's kernels: their shape, and the ops that they contain; those of a product are only its prologue and
 * epilogue. "triton_poi_fused_addmm_gelu_view_15", "triton_red_fused_add_mean_mul_pow_rsqrt_1",
 * "triton_tem_fused_mm_3" */
static enum tm_kernel_category category_of_triton(const struct lowered *lowered)
{
    const struct tm_text name = lowered->text;

    if (tm_text_begins(name, "triton_tem_")) {
        if (has(lowered, "attention", ANYWHERE))
            return TM_CATEGORY_ATTENTION;
        return has(lowered, "convolution", ANYWHERE) ? TM_CATEGORY_CONVOLUTION : TM_CATEGORY_GEMM;
    }
    if (tm_text_begins(name, "triton_poi_"))
        return has(lowered, "embedding", WORD) || has(lowered, "index", WORD) || has(lowered, "gather", WORD)
                   ? TM_CATEGORY_GATHER
                   : category_of_fusion(name);
    if (!tm_text_begins(name, "triton_red_") && !tm_text_begins(name, "triton_per_"))
        return TM_CATEGORY_SILENT;
    if (has(lowered, "softmax", ANYWHERE))
        return TM_CATEGORY_SOFTMAX;
    return has(lowered, "_norm", ANYWHERE) || (has(lowered, "rsqrt", WORD) && has(lowered, "mean", WORD))
               ? TM_CATEGORY_NORMALIZATION
               : TM_CATEGORY_REDUCTION;
}

/* An HLO op or a primitive alone: "add.17", "dynamic-slice.2", "select_n". */
static enum tm_kernel_category category_of_op(const struct lowered *lowered)
{
    static const char *const movers[] = { "dynamic", "bitcast" };
    const struct tm_text name = lowered->text;
    struct tm_text word, rest = name;
    size_t n = 0;

    while (n < name.length && (is_letter(name.at[n]) || name.at[n] == '_' || (n && is_digit(name.at[n]))))
        n++;
    if (is_one_of((struct tm_text){ name.at, n }, element_words, sizeof(element_words) / sizeof(element_words[0])))
        return TM_CATEGORY_ELEMENTWISE_ALONE;
    word = take_word(&rest);
    if (word.at != name.at || has(lowered, " ", ANYWHERE)) /* a function with its arguments is not an op */
        return TM_CATEGORY_SILENT;
    if (is_one_of(word, moving_words, sizeof(moving_words) / sizeof(moving_words[0])) ||
        is_one_of(word, movers, sizeof(movers) / sizeof(movers[0])))
        return TM_CATEGORY_COPY;
    return is_one_of(word, element_words, sizeof(element_words) / sizeof(element_words[0]))
               ? TM_CATEGORY_ELEMENTWISE_ALONE
               : TM_CATEGORY_SILENT;
}

static bool is_wrapper(struct tm_text function)
{
    return is_one_of(function, wrappers, sizeof(wrappers) / sizeof(wrappers[0]));
}

/* The name of a C++ function: its own, or what it runs, or where it is. */
static enum tm_kernel_category category_of_function(const struct lowered *lowered, const struct parts *parts)
{
    enum tm_kernel_category category = FIRST_MATCH(lowered, parts->function, function_patterns);

    if (is_wrapper(parts->function))
        category = FIRST_MATCH(lowered, parts->arguments, function_patterns);
    if (category == TM_CATEGORY_OPTIMIZER || has_in(lowered, parts->function, "elementwise", ANYWHERE)) {
        const enum tm_kernel_category moved = FIRST_MATCH(lowered, parts->arguments, element_patterns);

        category = moved == TM_CATEGORY_SILENT ? category : moved;
    }
    return category == TM_CATEGORY_SILENT ? FIRST_MATCH(lowered, parts->scopes, scope_patterns) : category;
}

/* Whether XLA:CPU passes it to a library as a whole: its name does not say what it contains. */
static bool is_library_fusion(const struct lowered *lowered)
{
    return has(lowered, "ynn", WORD) || has(lowered, "xnn", WORD);
}

enum tm_kernel_category tm_category_in(const char *text, size_t length)
{
    struct lowered lowered;
    enum tm_kernel_category category;
    struct parts parts;

    lower(&lowered, text, length);
    if (tm_text_begins(lowered.text, "%"))
        lowered.text = tm_text_from(lowered.text, 1);
    category = category_of_triton(&lowered);
    if (category != TM_CATEGORY_SILENT)
        return category;
    parts = parts_of(lowered.text);
    category = category_of_function(&lowered, &parts);
    if (category != TM_CATEGORY_SILENT)
        return category;
    lowered.text = parts.function;
    if (is_fusion(&lowered) && !has(&lowered, "custom", WORD) && !is_library_fusion(&lowered))
        return category_of_fusion(lowered.text);
    category = FIRST_MATCH(&lowered, lowered.text, plain_patterns);
    return category != TM_CATEGORY_SILENT || parts.arguments.length ? category : category_of_op(&lowered);
}

/* A string of the names, read by tm_category_in; only its last part, after '/', if it is a path. */
static enum tm_kernel_category read_text(struct tm_names *names, tm_strid id, bool is_path)
{
    const char *text, *slash;
    size_t length;

    text = tm_names_text(names, id, is_path ? 4 * LOOKED_AT_BYTES : LOOKED_AT_BYTES, &length);
    slash = is_path ? memrchr(text, '/', length) : NULL;
    if (slash) {
        length -= (size_t)(slash + 1 - text);
        text = slash + 1;
    }
    return tm_category_in(text, length);
}

/* The note of a name has the result of read_text plus one: as a kernel name, and in the upper bits as a path. */
enum { NOTE_BITS = 5, NOTE_MASK = (1 << NOTE_BITS) - 1 };
static_assert((int)TM_CATEGORY_SILENT < (int)NOTE_MASK, "fits");

/* The same, read once and cached. */
static enum tm_kernel_category ask(struct tm_names *names, tm_strid id, bool is_path)
{
    const unsigned shift = is_path ? NOTE_BITS : 0;
    enum tm_kernel_category category;
    uint16_t note;

    if (!id)
        return TM_CATEGORY_SILENT;
    note = tm_names_note(names, id);
    if (note >> shift & NOTE_MASK)
        return (enum tm_kernel_category)((note >> shift & NOTE_MASK) - 1);
    category = read_text(names, id, is_path);
    tm_names_set_note(names, id, (uint16_t)(note | ((unsigned)category + 1) << shift));
    return category;
}

enum tm_kernel_category tm_category_of_text(struct tm_names *names, tm_strid text)
{
    return ask(names, text, false);
}

/* The category if the class and the level determine it without any text. */
static enum tm_kernel_category category_of_class(const struct tm_category_question *q)
{
    switch (q->class) {
    case TM_CLASS_COLLECTIVE:
        return TM_CATEGORY_COLLECTIVE;
    case TM_CLASS_COPY:
        return TM_CATEGORY_COPY;
    case TM_CLASS_MEMSET:
        return TM_CATEGORY_MEMSET;
    case TM_CLASS_TPU_OP:
        if (q->level == TM_LEVEL_CONTAINER || q->level == TM_LEVEL_NONE) /* or it waits for the host */
            return TM_CATEGORY_OTHER;
        return q->level == TM_LEVEL_COMPUTE ? TM_CATEGORY_SILENT : TM_CATEGORY_COPY;
    default:
        return TM_CATEGORY_SILENT;
    }
}

/* Whether it may be the product of its op, judging by its name. */
static bool may_be_product(const struct tm_category_question *q, enum tm_kernel_category category)
{
    switch (category) {
    case TM_CATEGORY_OTHER:
    case TM_CATEGORY_CUSTOM:
        return true;
    case TM_CATEGORY_ELEMENTWISE:
    case TM_CATEGORY_ELEMENTWISE_ALONE:
    case TM_CATEGORY_REDUCTION:
    case TM_CATEGORY_NORMALIZATION:
    case TM_CATEGORY_SOFTMAX:
    case TM_CATEGORY_QUANTIZATION:
        return q->is_op;
    default:
        return false;
    }
}

/* For a kernel without any hint: one from a known library, which has all kinds, is of another kind; one from no
 * library is custom. */
static enum tm_kernel_category category_of_stranger(struct tm_names *names, const struct tm_category_question *q)
{
    static const char *const libraries[] = {
        "at::native", "at_cuda_detail", "cub::", "cudnn", "rocprim", "thrust::", "eigen::", "tensorflow::", "miopen",
    };
    struct lowered lowered;
    const char *text;
    size_t length;

    if (q->class != TM_CLASS_KERNEL || !q->name)
        return TM_CATEGORY_OTHER;
    text = tm_names_text(names, q->name, LOOKED_AT_BYTES, &length);
    if (!length)
        return TM_CATEGORY_OTHER;
    lower(&lowered, text, length);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (has(&lowered, libraries[i], ANYWHERE))
            return TM_CATEGORY_OTHER;
    return TM_CATEGORY_CUSTOM;
}

enum tm_kernel_category tm_kernel_category_of(struct tm_names *names, const struct tm_category_question *q)
{
    const struct {
        tm_strid text;
        bool is_path;
    } sources[] = { { q->category, false }, { q->name, false }, { q->hlo_op, false }, { q->op, true } };
    enum tm_kernel_category category = category_of_class(q), weak = TM_CATEGORY_SILENT;

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && category == TM_CATEGORY_SILENT; i++) {
        const enum tm_kernel_category told = ask(names, sources[i].text, sources[i].is_path);

        if (told == TM_CATEGORY_CONVOLUTION && q->category)
            weak = told; /* the TPU compiler calls dots convolutions: another text may be more specific */
        else if (told == TM_CATEGORY_CUSTOM && weak == TM_CATEGORY_SILENT)
            weak = told; /* a custom call may be anything */
        else if (told != TM_CATEGORY_CUSTOM && (weak != TM_CATEGORY_CONVOLUTION || told == TM_CATEGORY_GEMM))
            category = told;
    }
    if (category == TM_CATEGORY_SILENT)
        category = weak;
    if (category == TM_CATEGORY_SILENT)
        category = category_of_stranger(names, q);
    return q->has_matrix && may_be_product(q, category) ? TM_CATEGORY_GEMM : category;
}

/* --- precision --- */

struct precision {
    const char *part;
    enum where where;
    const char *precision;
};

/* In this order: the type of the operands comes before that of the accumulator. */
/* clang-format off */
static const struct precision precisions[] = {
    { "fp8", ANYWHERE, "fp8" },     { "e4m3", ANYWHERE, "fp8" },     { "e5m2", ANYWHERE, "fp8" },
    { "bf16", ANYWHERE, "bf16" },   { "bfloat16", ANYWHERE, "bf16" }, { "tf32", ANYWHERE, "tf32" },
    { "f16", ANYWHERE, "f16" },     { "fp16", ANYWHERE, "f16" },     { "half", WORD, "f16" },
    { "float16", ANYWHERE, "f16" }, { "hgemm", ANYWHERE, "f16" },    { "h884", ANYWHERE, "f16" },
    { "h1688", ANYWHERE, "f16" },   { "h16816", ANYWHERE, "f16" },   { "s8", TYPE, "s8" },
    { "int8", ANYWHERE, "s8" },     { "i8816", ANYWHERE, "s8" },     { "i16832", ANYWHERE, "s8" },
    { "f64", ANYWHERE, "f64" },     { "fp64", ANYWHERE, "f64" },     { "dgemm", ANYWHERE, "f64" },
    { "double", WORD, "f64" },      { "f32", ANYWHERE, "f32" },      { "fp32", ANYWHERE, "f32" },
    { "sgemm", ANYWHERE, "f32" },   { "scudnn", ANYWHERE, "f32" },  { "float", WORD, "f32" },
};
/* clang-format on */

/* Tensile: "Cijk_Ailk_Bljk_BBS_BH_...": the types of inputs, output, and sums come third, "S_B" in newer ones. */
static const char *precision_of_tensile(struct tm_text name)
{
    for (int i = 0; i < 3; i++) {
        const char *bar = name.length ? memchr(name.at, '_', name.length) : NULL;

        if (!bar)
            return NULL;
        name = tm_text_from(name, (size_t)(bar - name.at) + 1);
    }
    if (tm_text_begins(name, "f8") || tm_text_begins(name, "b8"))
        return "fp8";
    if (tm_text_begins(name, "i8") || tm_text_begins(name, "4xi8"))
        return "s8";
    switch (name.length ? *name.at : ' ') {
    case 'b':
        return "bf16";
    case 'h':
        return "f16";
    case 's':
        return "f32";
    case 'd':
        return "f64";
    default:
        return NULL;
    }
}

/* cuBLAS: "nvjet_hsh_...", "nvjet_tst_...", "nvjet_qqtst_...": the letters of the types. */
static const char *precision_of_nvjet(struct tm_text name)
{
    const char *bar = memchr(name.at, '_', name.length);
    const struct tm_text types = tm_text_from(name, bar ? (size_t)(bar - name.at) + 1 : name.length);

    switch (types.length ? *types.at : ' ') {
    case 'h':
        return "f16";
    case 't':
        return "bf16";
    case 'q':
        return "fp8";
    default:
        return NULL;
    }
}

const char *tm_precision_in(const char *text, size_t length)
{
    struct lowered lowered;
    struct tm_text name;

    lower(&lowered, text, length);
    name = lowered.text;
    if (tm_text_begins(name, "cijk_"))
        return precision_of_tensile(name);
    if (tm_text_begins(name, "nvjet"))
        return precision_of_nvjet(name);
    for (size_t i = 0; i < sizeof(precisions) / sizeof(precisions[0]); i++)
        if (has(&lowered, precisions[i].part, precisions[i].where))
            return precisions[i].precision;
    return NULL;
}

const char *tm_precision_of_hlo(const char *text, size_t length)
{
    /* clang-format off */
    static const struct {
        const char *type, *precision;
    } types[] = {
        { "bf16[", "bf16" }, { "f16[", "f16" }, { "f32[", "f32" }, { "f64[", "f64" },
        { "s8[", "s8" }, { "f8e4m3", "fp8" }, { "f8e5m2", "fp8" },
    };
    /* clang-format on */
    const char *equals = length ? memmem(text, length, " = ", 3) : NULL;
    struct tm_text shape;

    if (!equals)
        return NULL;
    shape = tm_text_from((struct tm_text){ text, length }, (size_t)(equals - text) + 3);
    while (tm_text_begins(shape, "("))
        shape = tm_text_from(shape, 1);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (tm_text_begins(shape, types[i].type))
            return types[i].precision;
    return NULL;
}

/* --- Tensor Cores --- */

int tm_tensor_core_in(const char *text, size_t length)
{
    /* clang-format off */
    static const struct {
        const char *part;
        enum where where;
    } parts[] = {
        { "gemm_fusion_dot", ANYWHERE }, { "nvjet", ANYWHERE }, { "wgmma", ANYWHERE },
        { "tensorop", ANYWHERE }, { "cijk_", BEGINS }, { "bmm_", BEGINS }, { "flash", ANYWHERE }, { "fmha", ANYWHERE },
        { "xmma", ANYWHERE }, { "hmma", ANYWHERE }, { "imma", WORD }, { "dmma", WORD },
        { "mma", WORD }, { "16816", ANYWHERE }, { "16832", ANYWHERE }, { "s1688", ANYWHERE },
        { "h1688", ANYWHERE }, { "s884", ANYWHERE }, { "h884", ANYWHERE }, { "i8816", ANYWHERE },
    };
    /* clang-format on */
    struct lowered lowered;
    struct tm_text name;

    lower(&lowered, text, length);
    name = lowered.text;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (has(&lowered, parts[i].part, parts[i].where))
            return 1;
    if (has(&lowered, "sgemm", ANYWHERE) || has(&lowered, "scudnn", ANYWHERE) || has(&lowered, "simt", ANYWHERE))
        return 0;
    return tm_text_begins(name, "loop_") || tm_text_begins(name, "input_") || tm_text_begins(name, "wrapped_") ? 0 : -1;
}
