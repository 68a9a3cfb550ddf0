/* SPDX-License-Identifier: Apache-2.0 */
/* What a name and a configuration tell of an operation: what it is called, what one execution costs, and in which type
 * it computes.  The profile's own word goes before the program's HLO, and that before what the names of kernels hint
 * at. */
#include <string.h>
#include <xxhash.h>

#include "stages/diagnose/kernel_category.h"
#include "stages/diagnose/ops/ops_private.h"
#include "stages/resolve/classes.h"

enum { TEXT_MOST = 4096 }; /* bytes of a text that are looked at */

/* What the key of an operation is made of; no gaps in it. */
struct key_text {
    struct tm_key name, module;
    int64_t program_id; /* where the module is not told */
    uint64_t kind;
};
static_assert(sizeof(struct key_text) == 48, "hashed as bytes");

static tm_status find_key(struct ops *o, const struct tm_config *config, enum tm_device_kind kind,
                          struct op_row *row)
{
    struct tm_key hashes[2];
    struct key_text text;
    const tm_status st = tm_names_hashes(o->names, (const tm_strid[]){ row->name, row->module }, 2, hashes);

    if (st != TM_OK)
        return st;
    text = (struct key_text){ hashes[0], hashes[1], row->module ? 0 : config->program_id, kind };
    row->key = tm_hash_key(&text, sizeof(text));
    return TM_OK;
}

/* What decides between two events of one operation at one instant; none of it depends on handles. */
static tm_status find_tie(struct ops *o, struct op_row *row)
{
    const tm_strid texts[] = { row->kernel, row->opcode, row->details, row->category, row->path, row->source };
    enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
    uint64_t parts[COUNT + 1] = { (uint64_t)row->class << 8 | row->level };
    struct tm_key hashes[COUNT];
    const tm_status st = tm_names_hashes(o->names, texts, COUNT, hashes);

    if (st != TM_OK)
        return st;
    for (int i = 0; i < COUNT; i++)
        parts[i + 1] = hashes[i].low;
    row->first_tie = XXH3_64bits(parts, sizeof(parts));
    return TM_OK;
}

/* --- types --- */

static enum tm_precision precision_called(const char *text)
{
    static const struct {
        const char *name;
        enum tm_precision precision;
    } words[] = {
        { "f64", TM_F64 },   { "f32", TM_F32 }, { "tf32", TM_TF32 }, { "bf16", TM_BF16 },
        { "f16", TM_F16 },   { "fp8", TM_F8 },  { "s8", TM_INT8 },   { "s4", TM_INT4 },
    };

    for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].name, text) == 0)
            return words[i].precision;
    return TM_PRECISION_UNKNOWN;
}

static bool is_of_matrices(enum tm_kernel_category category)
{
    return category == TM_CATEGORY_GEMM || category == TM_CATEGORY_CONVOLUTION || category == TM_CATEGORY_ATTENTION;
}

static tm_status matrix_in(struct ops *o, tm_strid id, struct op_row *row)
{
    enum tm_kernel_category category;
    const tm_status st = tm_category_of_text(o->names, id, &category);

    if (st == TM_OK && is_of_matrices(category))
        row->has_matrix = 1;
    return st;
}

/* What the name of a kernel tells.  Programs run a kernel for many operations.
 * out: *kernel  stays until the next call */
static tm_status find_kernel(struct ops *o, tm_strid name, const struct op_kernel **kernel)
{
    struct op_kernel *known = &o->kernels[name & (OPS_KERNELS - 1)];
    enum tm_kernel_category category;
    const char *text;
    size_t length;
    tm_status st;

    *kernel = known;
    if (known->name == name && name)
        return TM_OK;
    st = tm_category_of_text(o->names, name, &category);
    if (st == TM_OK)
        st = tm_names_text(o->names, name, TEXT_MOST, &text, &length);
    if (st == TM_OK)
        *known = (struct op_kernel){ .name = name,
                                     .precision = (uint8_t)precision_called(tm_precision_in(text, length)),
                                     .is_tensor_core = tm_tensor_core_in(text, length) == 1,
                                     .has_matrix = is_of_matrices(category) };
    return st;
}

/* A kernel of a GPU by its name; products of f32 on tensor cores are tf32. */
static tm_status ask_kernel(struct ops *o, struct op_front *front)
{
    struct op_row *row = &front->row;
    const struct op_kernel *kernel;
    tm_status st;

    if (row->class == TM_CLASS_COPY || row->class == TM_CLASS_MEMSET)
        return TM_OK;
    st = find_kernel(o, row->kernel, &kernel);
    if (st != TM_OK)
        return st;
    front->is_tensor_core = kernel->is_tensor_core;
    row->has_matrix |= kernel->has_matrix;
    if (!row->precision || (row->precision == TM_F32 && kernel->precision == TM_TF32))
        row->precision = kernel->precision;
    if (row->precision == TM_F32 && front->is_tensor_core && row->has_matrix)
        row->precision = TM_TF32;
    return TM_OK;
}

/* An operation of a TPU or a CPU by its HLO line: the type of its result. */
static tm_status ask_line(struct ops *o, struct op_row *row)
{
    const char *text;
    size_t length;
    tm_status st = TM_OK;

    if (!row->precision) {
        st = tm_names_text(o->names, row->details, TEXT_MOST, &text, &length);
        if (st == TM_OK)
            row->precision = (uint8_t)precision_called(tm_precision_of_hlo(text, length));
    }
    if (st == TM_OK && row->category)
        return matrix_in(o, row->category, row);
    return st == TM_OK && row->is_hlo ? matrix_in(o, row->name, row) : st;
}

/* --- costs --- */

/* What has costs of its own: not what other operations lie in, nor the start of one that is counted where it is
 * waited for. */
static bool has_cost(const struct op_row *row, const struct tm_config *config)
{
    return row->level != TM_LEVEL_CONTAINER && config->tpu_part != TM_TPU_START;
}

/* Compilers record 0 of a custom call where they do not know it. */
static void take_stats(const struct tm_config *config, struct op_front *front)
{
    front->has_flops = config->has_flops && (config->flops || !front->row.is_opaque);
    front->has_bytes = config->has_bytes_accessed && (config->bytes_accessed || !front->row.is_opaque);
    front->flops = front->has_flops ? config->flops : 0;
    front->bytes = front->has_bytes ? config->bytes_accessed : 0;
    front->has_stats = front->has_flops || front->has_bytes;
}

/* in: is_own  it has a cost of its own */
static void take_hlo(const struct tm_hlo_op *op, bool is_own, struct op_front *front)
{
    struct op_row *row = &front->row;

    row->opcode = op->opcode;
    row->module = row->module ? row->module : op->module;
    row->path = row->path ? row->path : op->path;
    row->source = row->source ? row->source : op->source;
    row->precision = op->precision < TM_PRECISION_COUNT ? op->precision : TM_OTHER_PRECISION;
    row->has_matrix = op->has_matrix;
    row->is_opaque |= op->target != 0;
    if (!is_own || front->has_stats || (op->target && !op->has_flops)) /* its operands are not all that it moves */
        return;
    front->has_flops = op->has_flops;
    front->has_bytes = op->has_bytes;
    front->flops = op->has_flops ? op->flops : 0;
    front->bytes = op->has_bytes ? op->bytes : 0;
    front->has_hlo = front->has_flops || front->has_bytes;
}

/* Whether an operation is a custom call, by what the profile itself says. */
static tm_status find_custom_call(struct ops *o, const struct tm_config *config, struct op_row *row)
{
    static const char custom_call[] = "custom-call";
    const char *text, *opcode = NULL;
    size_t length, opcode_length = 0;
    tm_status st = TM_OK;

    if (config->category) {
        st = tm_names_text(o->names, config->category, TEXT_MOST, &text, &length);
        row->is_opaque = st == TM_OK && length == sizeof(custom_call) - 1 && !memcmp(text, custom_call, length);
    }
    if (st != TM_OK || row->is_opaque || !row->details)
        return st;
    st = tm_names_text(o->names, row->details, TEXT_MOST, &text, &length);
    if (st == TM_OK)
        tm_hlo_opcode(text, length, &opcode, &opcode_length);
    row->is_opaque = opcode_length == sizeof(custom_call) - 1 && !memcmp(opcode, custom_call, opcode_length);
    return st;
}

tm_status tm_op_facts(struct ops *o, const struct op_span *span, const struct tm_config *config,
                      struct op_front *front)
{
    const struct op_lane *lane = &o->lanes[span->lane];
    const enum tm_device_kind kind = (enum tm_device_kind)lane->device.kind;
    struct op_row *row = &front->row;
    const struct tm_hlo_op *op;
    tm_status st;

    *front = (struct op_front){
        .row = { .name = config->hlo_op && kind != TM_DEVICE_TPU ? config->hlo_op : span->name,
                 .module = config->module,
                 .kernel = span->name,
                 .details = kind == TM_DEVICE_GPU ? 0 : config->details,
                 .category = config->category,
                 .path = config->op,
                 .source = config->source,
                 .class = span->class,
                 .level = span->level,
                 .is_hlo = config->hlo_op || kind == TM_DEVICE_TPU,
                 .min_ps = INT64_MAX,
                 .devices = tm_device_bit(lane->number),
                 .first_host = o->trace->host,
                 .first_device = lane->number },
        .lane = span->lane,
    };
    row->is_wait = config->tpu_part == TM_TPU_WAIT;
    st = find_custom_call(o, config, row);
    if (st != TM_OK)
        return st;
    if (has_cost(row, config))
        take_stats(config, front);
    st = tm_trace_hlo(o->trace, config, &op);
    if (st == TM_OK && op)
        take_hlo(op, has_cost(row, config), front);
    if (st == TM_OK)
        st = find_key(o, config, kind, row);
    if (st == TM_OK)
        st = tm_op_family_of(o, row, &row->family);
    if (st == TM_OK)
        st = find_tie(o, row);
    if (st == TM_OK)
        st = kind == TM_DEVICE_GPU ? ask_kernel(o, front) : ask_line(o, row);
    if (kind == TM_DEVICE_TPU) /* its products run on the matrix units */
        front->is_tensor_core = row->has_matrix;
    return st;
}
