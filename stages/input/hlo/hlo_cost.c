/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction costs.  Floating-point operations: a dot 2 for each element of its result and each contracted
 * one, a convolution 2 for each element of its result and each of the window and input features that meet there,
 * elementwise ops one for each element.
 * source: DotDimensionNumbers {lhs_contracting 1, lhs_batch 3}, ConvolutionDimensionNumbers {kernel_output_feature 4},
 *         PrecisionConfig {algorithm 2} of xla/xla_data.proto; GemmBackendConfig of xla/service/gpu */
#include "stages/input/hlo/hlo_private.h"

enum {
    DOT_CONTRACTING = 1,
    DOT_BATCH = 3,
    KERNEL_OUTPUT_FEATURE = 4,
    PRECISION_ALGORITHM = 2,
    SHAPE_MOST = 1024, /* bytes of the shape of an array */
};

tm_status tm_hlo_result(struct tm_hlo *hlo, uint32_t module, uint64_t id, const struct hlo_result **result)
{
    const void *row;
    const tm_status st = tm_index_get(hlo->results, tm_hlo_key(module, (int64_t)id), &row);
    const struct hlo_result *found = row;

    *result = st == TM_OK && found && found->id == (int64_t)id && found->module == module ? found : NULL;
    return st;
}

/* The shape of an operand that is an array; rank 0 and no elements where it is not known. */
static tm_status operand_shape(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint32_t n,
                               struct tm_hlo_shape *shape)
{
    uint8_t bytes[SHAPE_MOST];
    const struct hlo_result *result = NULL;
    size_t got = 0;
    tm_status st = TM_OK;

    memset(shape, 0, sizeof(*shape));
    if (n < in->operand_count)
        st = tm_hlo_result(hlo, module, in->operands[n], &result);
    if (st != TM_OK || !result || result->shape_bytes > sizeof(bytes))
        return st;
    st = tm_input_read(hlo->input, bytes, result->shape_bytes, result->shape_at, &got);
    if (st == TM_OK)
        tm_hlo_shape_read((struct tm_wire){ bytes, bytes + got }, shape, NULL);
    return st;
}

static bool has_dims(const struct tm_hlo_shape *shape)
{
    return shape->has_elements && shape->rank <= TM_HLO_RANK_MOST && !shape->is_tuple;
}

static bool times(uint64_t *product, uint64_t factor)
{
    return !__builtin_mul_overflow(*product, factor, product);
}

/* The type that a product of two types is made in: the wider one. */
static uint8_t wider(uint8_t a, uint8_t b)
{
    const uint8_t x = (uint8_t)tm_hlo_precision(a), y = (uint8_t)tm_hlo_precision(b);

    if (!x || !y)
        return x ? x : y;
    return x < y ? x : y;
}

/* --- dots --- */

enum { DIMS_MOST = TM_HLO_RANK_MOST };

/* Numbers of dimensions; count above DIMS_MOST: not known. */
struct dims {
    uint64_t at[DIMS_MOST];
    uint32_t count;
};

static void put_dim(struct dims *dims, uint64_t dim)
{
    if (dims->count < DIMS_MOST)
        dims->at[dims->count] = dim;
    if (dims->count <= DIMS_MOST)
        dims->count++;
}

static bool dot_flops(const struct tm_hlo_shape *left, const struct tm_hlo_shape *result, const struct dims *contracted,
                      uint64_t *flops)
{
    *flops = 2;
    if (!has_dims(left) || !result->has_elements || contracted->count > DIMS_MOST || !times(flops, result->elements))
        return false;
    for (uint32_t i = 0; i < contracted->count; i++)
        if (contracted->at[i] >= left->rank || !times(flops, left->dims[contracted->at[i]]))
            return false;
    return true;
}

/* The algorithm that a dot is bound to, where it is. */
static uint8_t precision_of_algorithm(struct tm_wire config)
{
    static const uint8_t precisions[] = {
        [1] = TM_F8,   [2] = TM_F8,   [3] = TM_F16,   [4] = TM_F16,  [5] = TM_BF16, [6] = TM_BF16,  [7] = TM_BF16,
        [8] = TM_BF16, [9] = TM_TF32, [10] = TM_TF32, [11] = TM_F32, [12] = TM_F64, [13] = TM_BF16,
    };
    struct tm_field field;

    while (tm_wire_next(&config, &field))
        if (field.key == TM_WIRE_KEY(PRECISION_ALGORITHM, TM_WIRE_VARINT) && field.value < sizeof(precisions))
            return precisions[field.value];
    return TM_PRECISION_UNKNOWN;
}

static tm_status take_product(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                              const struct dims *contracted, struct hlo_cost *cost)
{
    struct tm_hlo_shape left, right;
    tm_status st = operand_shape(hlo, module, in, 0, &left);

    if (st == TM_OK)
        st = operand_shape(hlo, module, in, 1, &right);
    if (st != TM_OK)
        return st;
    cost->has_matrix = true;
    cost->precision = wider(left.element, right.element);
    cost->has_flops = dot_flops(&left, &cost->shape, contracted, &cost->flops);
    return TM_OK;
}

static tm_status take_dot(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                          struct hlo_cost *cost)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(in->dot, DOT_CONTRACTING);
    struct dims contracted = { .count = 0 };
    const uint8_t bound = precision_of_algorithm(in->precision);
    uint64_t dim;
    tm_status st;

    while (tm_hlo_next_number(&numbers, &dim))
        put_dim(&contracted, dim);
    numbers = tm_hlo_numbers_of(in->dot, DOT_BATCH);
    cost->is_batched = tm_hlo_next_number(&numbers, &dim);
    st = take_product(hlo, module, in, &contracted, cost);
    if (bound)
        cost->precision = bound;
    return st;
}

/* --- convolutions --- */

/* Of a forward convolution: elements of its output, and the kernel's without its output features. */
static bool convolution_flops(const struct tm_hlo_shape *output, const struct tm_hlo_shape *kernel,
                              uint64_t output_feature, uint64_t *flops)
{
    *flops = 2;
    if (!output->has_elements || !has_dims(kernel) || output_feature >= kernel->rank || !times(flops, output->elements))
        return false;
    for (uint32_t i = 0; i < kernel->rank; i++)
        if (i != output_feature && !times(flops, kernel->dims[i]))
            return false;
    return true;
}

/* The gradients of a convolution do its work with the tensors in other places: the one by the input gives the input
 * and takes the output, the one by the kernel gives the kernel. */
static tm_status take_convolution(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                                  struct hlo_cost *cost)
{
    const bool by_input = tm_text_begins(in->target, "__cudnn$convBackwardInput");
    const bool by_kernel = tm_text_begins(in->target, "__cudnn$convBackwardFilter");
    struct tm_wire w = in->convolution;
    struct tm_hlo_shape left, right, own = cost->shape;
    struct tm_field field;
    uint64_t output_feature = 0;
    tm_status st = operand_shape(hlo, module, in, 0, &left);

    if (st == TM_OK)
        st = operand_shape(hlo, module, in, 1, &right);
    if (st != TM_OK)
        return st;
    while (tm_wire_next(&w, &field))
        if (field.key == TM_WIRE_KEY(KERNEL_OUTPUT_FEATURE, TM_WIRE_VARINT))
            output_feature = field.value;
    own.is_tuple = 0; /* its first array; the others are working memory */
    cost->has_matrix = true;
    cost->precision = wider(left.element, right.element);
    if (!in->convolution.at)
        cost->has_flops = false;
    else if (by_kernel)
        cost->has_flops = convolution_flops(&right, &own, output_feature, &cost->flops);
    else
        cost->has_flops = convolution_flops(by_input ? &left : &own, &right, output_feature, &cost->flops);
    return TM_OK;
}

/* --- custom calls --- */

/* The list behind a key of a JSON text: ["1","2"] or [1, 2]; false = there is none. */
static bool json_dims(struct tm_text json, const char *key, struct dims *dims)
{
    const size_t length = strlen(key);
    const char *at = json.length ? memmem(json.at, json.length, key, length) : NULL;
    const char *const end = at ? json.at + json.length : NULL;
    uint64_t dim = 0;
    bool in_number = false;

    if (!at)
        return false;
    for (at += length; at < end && *at != '['; at++)
        if (*at != ' ' && *at != ':' && *at != '"')
            return false;
    for (at += at < end; at < end; at++) {
        if (*at >= '0' && *at <= '9') {
            dim = (in_number ? dim * 10 : 0) + (uint64_t)(*at - '0');
            in_number = dim < 1000; /* more digits end in a dimension that there is not */
            if (!in_number)
                return false;
            continue;
        }
        if (in_number)
            put_dim(dims, dim);
        in_number = false;
        if (*at == ']')
            return true;
    }
    return false;
}

static tm_status take_gemm(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                           struct hlo_cost *cost)
{
    const struct tm_text json = { (const char *)in->config.at, (size_t)(in->config.end - in->config.at) };
    struct dims contracted = { .count = 0 }, batch = { .count = 0 };
    const bool told = json_dims(json, "\"lhs_contracting_dimensions\"", &contracted);
    const tm_status st = take_product(hlo, module, in, &contracted, cost);

    cost->has_flops = cost->has_flops && told;
    cost->is_batched = json_dims(json, "\"lhs_batch_dimensions\"", &batch) && batch.count;
    return st;
}

static bool is_callback(struct tm_text target)
{
    return target.length && memmem(target.at, target.length, "python_", 7) && tm_text_ends(target, "_callback");
}

static tm_status take_custom(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                             struct hlo_cost *cost)
{
    if (tm_text_begins(in->target, "__cublas$"))
        return take_gemm(hlo, module, in, cost);
    if (tm_text_begins(in->target, "__cudnn$conv"))
        return take_convolution(hlo, module, in, cost);
    cost->has_matrix = tm_text_begins(in->target, "__cudnn$fmha");
    cost->is_host = is_callback(in->target);
    return TM_OK;
}

tm_status tm_hlo_cost(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    tm_status st = TM_OK;

    *cost = (struct hlo_cost){ .flops = 0 };
    tm_hlo_shape_read(in->shape, &cost->shape, NULL);
    cost->precision = (uint8_t)tm_hlo_precision(cost->shape.element);
    cost->is_host = in->is_host_transfer || (in->known->traits & TM_HLO_HOST);
    switch ((enum tm_hlo_kind)in->known->kind) {
    case TM_HLO_MOVES:
        cost->has_flops = true;
        break;
    case TM_HLO_ELEMENTWISE:
        cost->has_flops = cost->shape.has_elements;
        cost->flops = cost->shape.elements;
        break;
    case TM_HLO_DOT:
        st = take_dot(hlo, module, in, cost);
        break;
    case TM_HLO_CONVOLUTION:
        st = take_convolution(hlo, module, in, cost);
        break;
    case TM_HLO_CUSTOM:
        st = take_custom(hlo, module, in, cost);
        break;
    default:
        break;
    }
    if (!cost->has_flops)
        cost->flops = 0;
    return st == TM_OK ? tm_hlo_bytes(hlo, module, in, cost) : st;
}
