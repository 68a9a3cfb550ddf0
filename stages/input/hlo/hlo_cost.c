/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of one instruction: its FLOPs, the bytes that it reads and writes, and the participants of a collective. */
#include "stages/input/hlo/hlo_private.h"

#include <stdlib.h>

/* Floating-point operations: a dot 2 for each element of its result and each contracted
 * one, a convolution 2 for each element of its result and each of the window and input features combined there,
 * elementwise ops one for each element.
 * source: DotDimensionNumbers {lhs_contracting 1, lhs_batch 3}, ConvolutionDimensionNumbers {kernel_output_feature 4},
 *         PrecisionConfig {algorithm 2} of xla/xla_data.proto; GemmBackendConfig of xla/service/gpu */

enum {
    DOT_CONTRACTING = 1,
    DOT_BATCH = 3,
    KERNEL_OUTPUT_FEATURE = 4,
    PRECISION_ALGORITHM = 2,
    SHAPE_MOST = 1024, /* bytes of the shape of an array */
};

/* NULL if there is none. */
static const struct hlo_result *find_result(struct tm_hlo *hlo, uint32_t module, uint64_t id)
{
    const struct hlo_result *const found = tm_index_get(hlo->results, tm_hlo_key(module, (int64_t)id));

    return found && found->id == (int64_t)id && found->module == module ? found : NULL;
}

/* The shape of an operand that is an array; rank 0 and no elements if it is not known. */
static void operand_shape(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint32_t n,
                          struct tm_hlo_shape *shape)
{
    uint8_t bytes[SHAPE_MOST];
    const struct hlo_result *const result = n < in->operand_count ? find_result(hlo, module, in->operands[n]) : NULL;
    size_t got = 0;

    memset(shape, 0, sizeof(*shape));
    if (result && result->shape_bytes <= sizeof(bytes) &&
        tm_input_read(hlo->input, bytes, result->shape_bytes, result->shape_at, &got) == TM_OK)
        tm_hlo_shape_read((struct tm_wire){ bytes, bytes + got }, shape, NULL);
}

static bool has_dims(const struct tm_hlo_shape *shape)
{
    return shape->has_elements && shape->rank <= TM_HLO_RANK_MOST && !shape->is_tuple;
}

static bool times(uint64_t *product, uint64_t factor)
{
    return !__builtin_mul_overflow(*product, factor, product);
}

/* The type in which a product of two types is computed: the wider one. */
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

/* The algorithm that a dot specifies, if any. */
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

static void take_product(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                         const struct dims *contracted, struct hlo_cost *cost)
{
    struct tm_hlo_shape left, right;

    operand_shape(hlo, module, in, 0, &left);
    operand_shape(hlo, module, in, 1, &right);
    cost->has_matrix = true;
    cost->precision = wider(left.element, right.element);
    cost->has_flops = dot_flops(&left, &cost->shape, contracted, &cost->flops);
}

static void take_dot(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(in->dot, DOT_CONTRACTING);
    struct dims contracted = { .count = 0 };
    const uint8_t bound = precision_of_algorithm(in->precision);
    uint64_t dim;

    while (tm_hlo_next_number(&numbers, &dim))
        put_dim(&contracted, dim);
    numbers = tm_hlo_numbers_of(in->dot, DOT_BATCH);
    cost->is_batched = tm_hlo_next_number(&numbers, &dim);
    take_product(hlo, module, in, &contracted, cost);
    if (bound)
        cost->precision = bound;
}

/* --- convolutions --- */

/* For a forward convolution: elements of its output, and the kernel's without its output features. */
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

/* The gradients of a convolution do its work with the tensors in other places: the one for the input produces the input
 * and reads the output, the one for the kernel produces the kernel. */
static void take_convolution(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                             struct hlo_cost *cost)
{
    const bool by_input = tm_text_begins(in->target, "__cudnn$convBackwardInput");
    const bool by_kernel = tm_text_begins(in->target, "__cudnn$convBackwardFilter");
    struct tm_wire w = in->convolution;
    struct tm_hlo_shape left, right, own = cost->shape;
    struct tm_field field;
    uint64_t output_feature = 0;

    operand_shape(hlo, module, in, 0, &left);
    operand_shape(hlo, module, in, 1, &right);
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
}

/* --- custom calls --- */

/* The list after a key of a JSON text: ["1","2"] or [1, 2]; false = there is none. */
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
            in_number = dim < 1000; /* more digits give a dimension that does not exist */
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

static void take_gemm(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    const struct tm_text json = { (const char *)in->config.at, (size_t)(in->config.end - in->config.at) };
    struct dims contracted = { .count = 0 }, batch = { .count = 0 };
    const bool told = json_dims(json, "\"lhs_contracting_dimensions\"", &contracted);

    take_product(hlo, module, in, &contracted, cost);
    cost->has_flops = cost->has_flops && told;
    cost->is_batched = json_dims(json, "\"lhs_batch_dimensions\"", &batch) && batch.count;
}

static bool is_callback(struct tm_text target)
{
    return target.length && memmem(target.at, target.length, "python_", 7) && tm_text_ends(target, "_callback");
}

static void take_custom(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    if (tm_text_begins(in->target, "__cublas$")) {
        take_gemm(hlo, module, in, cost);
    } else if (tm_text_begins(in->target, "__cudnn$conv")) {
        take_convolution(hlo, module, in, cost);
    } else {
        cost->has_matrix = tm_text_begins(in->target, "__cudnn$fmha");
        cost->is_host = is_callback(in->target);
    }
}

/* What one instruction reads and writes in device memory: each operand once, and the result.  A slice reads as much as
 * it produces, an update writes what it reads, a fusion does what its computation says. */

static int by_id(const void *a, const void *b)
{
    const struct hlo_operand *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* The computation that an instruction calls, by its row; false if there is none of that id. */
bool tm_hlo_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint64_t *row)
{
    const struct hlo_place *const place =
        in->has_called ? tm_index_get(hlo->places, tm_hlo_key(module, (int64_t)in->called)) : NULL;
    const bool found = place && place->id == (int64_t)in->called && place->module == module;

    *row = found ? place->row : 0;
    return found;
}

/* A fusion's computation, if there is one. */
struct called {
    uint64_t row, written;
    bool is_fusion, has_written;
};

static struct called find_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in)
{
    struct called called = { .row = 0 };
    const struct hlo_computation *computation;

    called.is_fusion = in->known->traits & TM_HLO_IS_FUSION && tm_hlo_called(hlo, module, in, &called.row);
    if (!called.is_fusion)
        return called;
    computation = tm_rows_at(hlo->computations, called.row);
    called.written = computation->written;
    called.has_written = computation->has_written;
    return called;
}

/* For a parameter of a fusion. out: false: all of it is read */
static bool part_read_of(struct tm_hlo *hlo, uint64_t computation, uint32_t number, uint64_t *bytes)
{
    const struct hlo_read *const found = tm_index_get(hlo->partial_reads, tm_hlo_key(computation, number));
    const bool is_part = found && found->computation == computation && found->number == (int64_t)number;

    *bytes = is_part ? found->bytes : 0;
    return is_part;
}

/* Bytes that are read of one operand, which may be at several positions: all, or the slices that are taken. */
static uint64_t read_of(struct tm_hlo *hlo, const struct called *called, const struct hlo_operand *first, size_t count,
                        uint64_t whole)
{
    uint64_t parts = 0;

    if (!called->is_fusion)
        return whole;
    for (size_t i = 0; i < count; i++) {
        uint64_t part;

        if (!part_read_of(hlo, called->row, first[i].position, &part) || __builtin_add_overflow(parts, part, &parts))
            return whole;
    }
    return parts < whole ? parts : whole;
}

/* For the operands starting at index from. */
static void add_operands(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint32_t from,
                         const struct called *called, struct hlo_cost *cost)
{
    struct hlo_operand *operands = hlo->sorted;
    size_t count = 0, n;

    for (uint32_t i = from; i < in->operand_count; i++)
        operands[count++] = (struct hlo_operand){ in->operands[i], i };
    qsort(operands, count, sizeof(*operands), by_id);
    cost->operand_bytes = 0;
    cost->has_operand_bytes = !in->is_cut;
    for (size_t i = 0; i < count; i += n) {
        const struct hlo_result *result;

        for (n = 1; i + n < count && operands[i + n].id == operands[i].id;)
            n++;
        result = find_result(hlo, module, operands[i].id);
        if (!result || !result->has_bytes ||
            __builtin_add_overflow(cost->operand_bytes, read_of(hlo, called, &operands[i], n, result->bytes),
                                   &cost->operand_bytes))
            cost->has_operand_bytes = false;
    }
}

static void set_bytes(struct hlo_cost *cost, bool known, uint64_t read, uint64_t written)
{
    cost->has_bytes = known && !__builtin_add_overflow(read, written, &cost->bytes);
}

/* What is written: by a library call its first array, the others are its workspace; by an update the slice. */
static bool written_by(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                       const struct called *called, const struct tm_hlo_shape *shape, uint64_t *bytes)
{
    const bool is_library = tm_text_begins(in->target, "__cublas$") || tm_text_begins(in->target, "__cudnn$");
    const struct hlo_result *update = NULL;

    if (in->known->traits & TM_HLO_UPDATES) {
        if (in->operand_count > 1)
            update = find_result(hlo, module, in->operands[1]);
        *bytes = update && update->has_bytes ? update->bytes : 0;
        return update && update->has_bytes;
    }
    *bytes = is_library && shape->is_tuple ? shape->part[0] : shape->bytes;
    if (called->has_written)
        *bytes = called->written;
    return called->has_written || shape->has_bytes;
}

/* cost->bytes and operand_bytes. */
static void take_bytes(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    const uint16_t traits = in->known->traits;
    const bool is_part = (traits & (TM_HLO_SLICES | TM_HLO_UPDATES)) != 0;
    struct called called;
    uint64_t written;
    bool known;

    if (traits & (TM_HLO_CONTAINER | TM_HLO_DONE | TM_HLO_SILENT))
        return;
    called = find_called(hlo, module, in);
    add_operands(hlo, module, in, is_part, &called, cost);
    known = written_by(hlo, module, in, &called, &cost->shape, &written);
    if (traits & TM_HLO_START && cost->shape.is_tuple) /* its result holds its operands */
        set_bytes(cost, cost->shape.has_bytes, cost->shape.bytes, 0);
    else
        set_bytes(cost, cost->has_operand_bytes && known, cost->operand_bytes, written);
    if (traits & TM_HLO_SLICES)
        set_bytes(cost, cost->has_bytes, cost->bytes, cost->shape.bytes);
}

void tm_hlo_cost(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
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
        take_dot(hlo, module, in, cost);
        break;
    case TM_HLO_CONVOLUTION:
        take_convolution(hlo, module, in, cost);
        break;
    case TM_HLO_CUSTOM:
        take_custom(hlo, module, in, cost);
        break;
    default:
        break;
    }
    if (!cost->has_flops)
        cost->flops = 0;
    take_bytes(hlo, module, in, cost);
}

/* Collectives: the participating ranks, in HLO syntax ("{{0,1},{2,3}}"), and the most that one of them sends or
 * receives.  Groups are listed, or given as a transposed grid of 0, 1, 2 ...
 * source: ReplicaGroup {replica_ids 1}, CollectiveDeviceListProto {replica_groups 1, iota_replica_group_list 2},
 *         IotaReplicaGroupListProto {num_replica_groups 1, num_devices_per_group 2, iota_reshape_dims 3,
 *         iota_transpose_perm 4}, MeshAxesReplicaGroupListProto {mesh 1, axes 2}, MeshProto {axes 1 {name 1, size 2}},
 *         AxisRefProto {mesh_axis_index 1, sub_axis_info 2 {pre_size 1, size 2}}, SourceTarget {source 1, target 2};
 *         xla/xla_data.proto */

enum {
    IN_GROUPS = 49,
    IN_PAIRS = 52,
    GROUP_IDS = 1,
    LIST_GROUPS = 1,
    LIST_IOTA = 2,
    IOTA_GROUPS = 1,
    IOTA_DEVICES = 2,
    IOTA_DIMS = 3,
    IOTA_ORDER = 4,
    MESH_GROUPS_MESH = 1,
    MESH_GROUPS_AXES = 2,
    MESH_AXES = 1,
    AXIS_SIZE = 2,
    REF_AXIS = 1,
    REF_PART = 2,
    PART_BEFORE = 1,
    PART_SIZE = 2,
    GROUPS_TEXT = 4096, /* longer ones end in "..." */
};

/* The groups that were found. */
struct groups {
    struct tm_hlo_text text;
    uint64_t count, size; /* size: of the first group; of pairs: their number */
    bool is_unknown;      /* they are given in an unsupported form */
    char room[GROUPS_TEXT + 8];
};

static void begin_groups(struct groups *g)
{
    g->text = (struct tm_hlo_text){ .at = g->room, .room = GROUPS_TEXT };
    g->count = g->size = 0;
    g->is_unknown = false;
}

/* The groups that a repeated field of a message lists. */
static void take_lists(struct groups *g, struct tm_wire message, uint32_t number)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field)) {
        struct tm_hlo_numbers ids;
        uint64_t id, n = 0;

        if (field.key != TM_WIRE_KEY(number, TM_WIRE_LEN))
            continue;
        ids = tm_hlo_numbers_of(tm_wire_of(&field), GROUP_IDS);
        tm_hlo_write(&g->text, "%s{", g->count ? "," : "{");
        for (; tm_hlo_next_number(&ids, &id); n++)
            tm_hlo_write(&g->text, "%s%lld", n ? "," : "", (long long)id);
        tm_hlo_write(&g->text, "}");
        if (!g->count++)
            g->size = n;
    }
    if (g->count)
        tm_hlo_write(&g->text, "}");
}

static void take_pairs(struct groups *g, struct tm_wire message)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field)) {
        struct tm_wire pair;
        uint64_t ends[2] = { 0, 0 };
        struct tm_field end;

        if (field.key != TM_WIRE_KEY(IN_PAIRS, TM_WIRE_LEN))
            continue;
        pair = tm_wire_of(&field);
        while (tm_wire_next(&pair, &end))
            if (end.key == TM_WIRE_KEY(1, TM_WIRE_VARINT) || end.key == TM_WIRE_KEY(2, TM_WIRE_VARINT))
                ends[(end.key >> TM_WIRE_TYPE_BITS) - 1] = end.value;
        tm_hlo_write(&g->text, "%s{%lld,%lld}", g->count ? "," : "{", (long long)ends[0], (long long)ends[1]);
        g->count++;
    }
    g->size = g->count;
    if (g->count)
        tm_hlo_write(&g->text, "}");
}

static void take_numbers(struct tm_wire message, uint32_t number, uint64_t *to, uint32_t *count)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(message, number);
    uint64_t value;

    for (*count = 0; *count < TM_HLO_IOTA_RANK_MOST && tm_hlo_next_number(&numbers, &value); ++*count)
        to[*count] = value;
}

bool tm_hlo_iota_is_sound(const struct tm_hlo_iota *iota)
{
    uint64_t members, cells = 1;
    unsigned seen = 0;

    if (!iota->rank || (iota->order_rank && iota->order_rank != iota->rank) ||
        __builtin_mul_overflow(iota->groups, iota->devices, &members) || !members)
        return false;
    for (uint32_t i = 0; i < iota->rank; i++) {
        const uint64_t place = iota->order_rank ? iota->order[i] : i;

        if (place >= iota->rank || __builtin_mul_overflow(cells, iota->dims[i], &cells))
            return false;
        seen |= 1u << place;
    }
    return cells == members && seen == (1u << iota->rank) - 1;
}

uint64_t tm_hlo_iota_cell(const struct tm_hlo_iota *iota, uint64_t n)
{
    uint64_t place[TM_HLO_IOTA_RANK_MOST] = { 0 }, value = 0;

    for (uint32_t i = iota->rank; i-- > 0;) {
        const uint64_t dim = iota->order_rank ? iota->order[i] : i;

        place[dim] = n % iota->dims[dim];
        n /= iota->dims[dim];
    }
    for (uint32_t i = 0; i < iota->rank; i++)
        value = value * iota->dims[i] + place[i];
    return value;
}

static void write_iota(struct groups *g, const struct tm_hlo_iota *iota)
{
    if (!tm_hlo_iota_is_sound(iota))
        return;
    g->count = iota->groups;
    g->size = iota->devices;
    for (uint64_t n = 0; n < iota->groups * iota->devices && !g->text.cut; n++)
        tm_hlo_write(&g->text, "%s%llu",
                     n == 0              ? "{{"
                     : n % iota->devices ? ","
                                         : "},{",
                     (unsigned long long)tm_hlo_iota_cell(iota, n));
    tm_hlo_write(&g->text, "}}");
}

static void take_iota(struct groups *g, struct tm_wire message)
{
    struct tm_hlo_iota iota = { .groups = tm_hlo_number_in(message, IOTA_GROUPS),
                                .devices = tm_hlo_number_in(message, IOTA_DEVICES) };

    take_numbers(message, IOTA_DIMS, iota.dims, &iota.rank);
    take_numbers(message, IOTA_ORDER, iota.order, &iota.order_rank);
    write_iota(g, &iota);
}

/* --- groups along the axes of a mesh --- */

struct mesh {
    struct tm_hlo_iota iota; /* dims: its axes; a part of one is a dimension of its own */
    bool is_member[TM_HLO_IOTA_RANK_MOST];
    uint32_t place[TM_HLO_IOTA_RANK_MOST]; /* of an axis in dims */
    bool is_used[TM_HLO_IOTA_RANK_MOST];   /* an axis; two parts of one are not read */
    bool is_sound;
};

/* Split an axis into what comes before a part, the part, and what comes after. */
static void split_axis(struct mesh *m, uint32_t at, uint64_t before, uint64_t size)
{
    struct tm_hlo_iota *const iota = &m->iota;
    const uint64_t all = iota->dims[at];
    uint64_t taken;

    if (iota->rank + 2 > TM_HLO_IOTA_RANK_MOST || __builtin_mul_overflow(before, size, &taken) || !taken ||
        all % taken) {
        m->is_sound = false;
        return;
    }
    memmove(&iota->dims[at + 3], &iota->dims[at + 1], (iota->rank - at - 1) * sizeof(*iota->dims));
    memmove(&m->is_member[at + 3], &m->is_member[at + 1], (iota->rank - at - 1) * sizeof(*m->is_member));
    iota->dims[at] = before;
    iota->dims[at + 1] = size;
    iota->dims[at + 2] = all / taken;
    m->is_member[at] = m->is_member[at + 2] = false;
    m->is_member[at + 1] = true;
    iota->rank += 2;
    for (uint32_t i = 0; i < TM_HLO_IOTA_RANK_MOST; i++)
        m->place[i] += m->place[i] > at ? 2 : 0;
}

/* One axis along which the members of a group differ.  in: axes  of the mesh as it is recorded */
static void take_axis(struct mesh *m, struct tm_wire ref, uint32_t axes)
{
    const uint64_t axis = tm_hlo_number_in(ref, REF_AXIS);
    struct tm_field field;

    if (axis >= axes || m->is_used[axis]) {
        m->is_sound = false;
        return;
    }
    m->is_used[axis] = true;
    m->is_member[m->place[axis]] = true;
    while (tm_wire_next(&ref, &field))
        if (field.key == TM_WIRE_KEY(REF_PART, TM_WIRE_LEN))
            split_axis(m, m->place[axis], tm_hlo_number_in(tm_wire_of(&field), PART_BEFORE),
                       tm_hlo_number_in(tm_wire_of(&field), PART_SIZE));
}

/* The sizes of the axes.  A mesh that lists its devices in another order has further fields. */
static void take_mesh(struct mesh *m, struct tm_wire message)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field)) {
        if (field.key != TM_WIRE_KEY(MESH_AXES, TM_WIRE_LEN) || m->iota.rank == TM_HLO_IOTA_RANK_MOST) {
            m->is_sound = false;
        } else {
            m->place[m->iota.rank] = m->iota.rank;
            m->iota.dims[m->iota.rank++] = tm_hlo_number_in(tm_wire_of(&field), AXIS_SIZE);
        }
    }
}

static void take_mesh_groups(struct groups *g, struct tm_wire message)
{
    struct mesh m = { .is_sound = true };
    struct tm_hlo_iota *const iota = &m.iota;
    struct tm_wire w = message;
    struct tm_field field;
    uint32_t axes;

    while (tm_wire_next(&w, &field))
        if (field.key == TM_WIRE_KEY(MESH_GROUPS_MESH, TM_WIRE_LEN))
            take_mesh(&m, tm_wire_of(&field));
    axes = iota->rank;
    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(MESH_GROUPS_AXES, TM_WIRE_LEN) && m.is_sound)
            take_axis(&m, tm_wire_of(&field), axes);
    iota->groups = iota->devices = 1;
    for (int is_member = 0; is_member < 2; is_member++) /* the members of a group side by side */
        for (uint32_t i = 0; i < iota->rank; i++)
            if (m.is_member[i] == is_member) {
                iota->order[iota->order_rank++] = i;
                m.is_sound &= !__builtin_mul_overflow(is_member ? iota->devices : iota->groups, iota->dims[i],
                                                      is_member ? &iota->devices : &iota->groups);
            }
    if (m.is_sound)
        write_iota(g, iota);
    else
        g->is_unknown = true;
}

static void take_device_list(struct groups *g, struct tm_wire list)
{
    struct tm_wire w = list;
    struct tm_field field;

    take_lists(g, list, LIST_GROUPS);
    while (!g->count && tm_wire_next(&w, &field))
        if (field.key == TM_WIRE_KEY(LIST_IOTA, TM_WIRE_LEN))
            take_iota(g, tm_wire_of(&field));
}

/* No groups are listed: all take part. */
static uint64_t size_of_all(const struct hlo_module *module, const struct tm_hlo_instruction *in)
{
    uint64_t all = module->replicas;

    if (in->channel > 0 && __builtin_mul_overflow(module->replicas, module->partitions, &all))
        return 0;
    return all;
}

/* The most that a rank sends or receives.  The result of a -start contains its operands, with the result of the
 * operation second. */
static uint64_t message_bytes(const struct tm_hlo_instruction *in, const struct hlo_cost *cost)
{
    const bool is_start = (in->known->traits & TM_HLO_START) && cost->shape.is_tuple;
    const uint64_t result = is_start ? cost->shape.part[1] : cost->shape.bytes;

    if (!cost->has_operand_bytes || !cost->shape.has_bytes)
        return 0;
    return cost->operand_bytes > result ? cost->operand_bytes : result;
}

void tm_hlo_collective(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in,
                       const struct hlo_cost *cost, struct tm_hlo_op *op)
{
    struct groups g;

    if (in->known->kind != TM_HLO_COLLECTIVE || in->known->traits & TM_HLO_DONE)
        return;
    begin_groups(&g);
    if (in->known->traits & TM_HLO_PERMUTES)
        take_pairs(&g, in->all);
    else
        take_device_list(&g, in->devices);
    if (!g.count)
        take_lists(&g, in->all, IN_GROUPS);
    if (!g.count && in->iota_groups.at)
        take_iota(&g, in->iota_groups);
    if (!g.count && in->mesh_groups.at)
        take_mesh_groups(&g, in->mesh_groups);
    if (!g.size && !g.is_unknown && !(in->known->traits & TM_HLO_PERMUTES))
        g.size = size_of_all(module, in);
    op->group_size = g.size < UINT32_MAX ? (uint32_t)g.size : 0;
    op->message_bytes = message_bytes(in, cost);
    if (g.text.cut) {
        g.text.cut = false;
        g.text.room += 8;
        tm_hlo_write(&g.text, "...");
    }
    if (g.text.length)
        op->groups = tm_names_put(hlo->trace->names, g.text.at, g.text.length);
}
