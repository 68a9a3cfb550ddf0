/* SPDX-License-Identifier: Apache-2.0 */
/* One program on the wire: module, computations, instructions, through one window that only goes forward.  Each level
 * checks its fields against its own end, and leaves what is damaged by its length.
 * source: HloProto {hlo_module 1}, HloModuleProto {name 1, computations 3, host_program_shape 4, id 5,
 *         device_assignment 15, stack_frame_index 17}, HloComputationProto {instructions 2, id 5, root_id 6,
 *         is_fusion_computation 7, execution_thread 8}; xla/service/hlo.proto */
#include "stages/input/hlo/hlo_private.h"

enum {
    PROTO_MODULE = 1,
    MODULE_NAME = 1, MODULE_COMPUTATION = 3, MODULE_SHAPE = 4, MODULE_ID = 5, MODULE_DEVICES = 15, MODULE_FRAMES = 17,
    COMPUTATION_INSTRUCTION = 2, COMPUTATION_ID = 5, COMPUTATION_ROOT = 6, COMPUTATION_FUSION = 7,
    COMPUTATION_THREAD = 8,
    SHAPE_PARAMETER = 1, DEVICES_REPLICAS = 1, DEVICES_PARTITIONS = 2,
    IN_SHAPE = 3, IN_LITERAL = 8, IN_CONFIG = 43,
    SMALL_FIELD = 32 << 10, /* of an instruction that is larger than the window */
    SHAPES_TEXT = 16 << 10,
};

struct walk {
    struct tm_hlo *hlo;
    struct hlo_module module; /* a copy: written back at the end */
    uint32_t number;
    uint64_t computation;     /* row of the present one */
    bool is_fusion, is_host;  /* the present one, in the second walk */
    enum hlo_pass pass;
    uint64_t shape_at;        /* of a large instruction: where its shape lies */
    struct tm_reader w;
};

static void note_damage(struct walk *k, uint64_t at)
{
    if (!k->module.is_damaged)
        k->module.damaged_at = at;
    k->module.is_damaged = 1;
}

/* The next field of a message that ends at `end`; more = false there, or where it is damaged. */
static tm_status next_field(struct walk *k, uint64_t end, struct tm_head *head, bool *more)
{
    bool damaged = false;
    tm_status st;

    *more = tm_reader_offset(&k->w) < end;
    if (!*more)
        return TM_OK;
    st = tm_reader_head(&k->w, head, more, &damaged);
    if (st != TM_OK)
        return st;
    if (*more && !damaged)
        damaged = tm_reader_offset(&k->w) > end ||
                  (head->type == TM_WIRE_LEN && head->value > end - tm_reader_offset(&k->w));
    if (damaged || !*more) {
        note_damage(k, head->offset);
        *more = false;
    }
    return TM_OK;
}

/* Go on behind a message, wherever the window stands: a damaged field in it may have led past its end. */
static void leave(struct walk *k, uint64_t end)
{
    if (tm_reader_offset(&k->w) < end)
        tm_reader_skip(&k->w, end - tm_reader_offset(&k->w));
    else
        tm_reader_return(&k->w, end);
}

/* --- an instruction --- */

static bool put_bytes(struct tm_hlo_text *to, const void *bytes, size_t length)
{
    if (length > to->room - to->length)
        return false;
    memcpy(to->at + to->length, bytes, length);
    to->length += length;
    return true;
}

static bool put_varint(struct tm_hlo_text *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    return put_bytes(to, bytes, n);
}

/* Copy the next field of a large instruction; false where there is no room. */
static tm_status copy_field(struct walk *k, const struct tm_head *head, struct tm_hlo_text *to, bool *fits)
{
    struct tm_wire view;
    const size_t before = to->length;
    tm_status st = TM_OK;

    if (head->number == IN_SHAPE)
        k->shape_at = tm_reader_offset(&k->w);
    *fits = head->type == TM_WIRE_VARINT || (head->type == TM_WIRE_LEN && head->value <= SMALL_FIELD);
    if (*fits)
        *fits = put_varint(to, TM_WIRE_KEY(head->number, head->type)) && put_varint(to, head->value);
    if (*fits && head->type == TM_WIRE_LEN) {
        st = tm_reader_peek(&k->w, (size_t)head->value, &view);
        if (st == TM_OK)
            *fits = put_bytes(to, view.at, (size_t)(view.end - view.at));
    }
    if (!*fits)
        to->length = before;
    return st;
}

/* Of an instruction that is larger than the window, what is not large: constants and compiled kernels are left out. */
static tm_status compact(struct walk *k, uint64_t end, struct tm_wire *bytes)
{
    struct tm_hlo_text to = { .at = (char *)k->hlo->compact, .room = HLO_BUFFER };
    tm_status st = TM_OK;

    while (st == TM_OK) {
        struct tm_head head;
        bool more, fits;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        st = copy_field(k, &head, &to, &fits);
        if (!fits && head.number != IN_LITERAL && head.number != IN_CONFIG)
            k->module.is_cut = 1;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    *bytes = (struct tm_wire){ k->hlo->compact, k->hlo->compact + to.length };
    return st;
}

/* Note the shape of its result.  shape_at: in the input */
static tm_status note_result(struct walk *k, const struct tm_hlo_instruction *in, uint64_t shape_at)
{
    struct tm_hlo *hlo = k->hlo;
    struct tm_hlo_shape shape;
    struct hlo_result row = { .key = tm_hlo_key(k->number, in->id), .id = in->id, .module = k->number };

    tm_hlo_shape_read(in->shape, &shape, NULL);
    if (shape.is_damaged)
        note_damage(k, shape_at);
    row.shape_at = shape_at;
    row.shape_bytes = (uint32_t)(in->shape.end - in->shape.at);
    row.bytes = shape.bytes;
    row.elements = shape.elements;
    row.element = shape.element;
    row.has_bytes = shape.has_bytes;
    row.has_elements = shape.has_elements;
    tm_hlo_reads_note(hlo->reads, in, &row);
    return tm_index_put(hlo->results, &row);
}

static tm_status put_text(struct tm_hlo *hlo, struct tm_text text, tm_strid *id)
{
    const size_t length = text.length < HLO_TEXT_MOST ? text.length : HLO_TEXT_MOST;

    *id = 0;
    return length ? tm_names_put(hlo->trace->names, text.at, length, id) : TM_OK;
}

static bool path_tells_softmax(struct tm_text path)
{
    return path.length && memmem(path.at, path.length < HLO_TEXT_MOST ? path.length : HLO_TEXT_MOST, "softmax", 7);
}

static tm_status fill_op(struct walk *k, const struct tm_hlo_instruction *in, const struct hlo_cost *cost,
                         struct tm_hlo_op *op)
{
    struct tm_hlo *hlo = k->hlo;
    tm_status st;

    op->flops = cost->flops;
    op->has_flops = cost->has_flops && in->known->kind != TM_HLO_CALLS; /* those come with the sums */
    op->bytes = cost->bytes;
    op->has_bytes = cost->has_bytes;
    op->precision = cost->precision;
    op->has_matrix = cost->has_matrix;
    op->is_batched = cost->is_batched;
    op->is_host = cost->is_host || k->is_host;
    op->is_fusion = (in->known->traits & TM_HLO_IS_FUSION) != 0;
    op->has_softmax = path_tells_softmax(in->path);
    st = put_text(hlo, in->path, &op->path);
    if (st == TM_OK)
        st = tm_hlo_source(hlo, &k->module, in, &op->source);
    return st == TM_OK ? tm_hlo_collective(hlo, &k->module, in, cost, op) : st;
}

/* What the instruction adds to its computation. */
static tm_status add_own(struct walk *k, const struct tm_hlo_instruction *in, const struct hlo_cost *cost,
                         const struct tm_hlo_op *op)
{
    struct hlo_computation *computation = tm_rows_change(k->hlo->computations, k->computation);
    const bool calls = in->known->kind == TM_HLO_CALLS;
    const struct hlo_sums sums = {
        .flops = calls ? 0 : cost->flops,
        .lacks_flops = !calls && !cost->has_flops,
        .message_bytes = op->message_bytes,
        .group_size = op->group_size,
        .groups = op->groups,
        .path = op->path,
        .source = op->path ? op->source : 0,
        .traits = in->known->traits & (TM_HLO_EXPONENTIAL | TM_HLO_DIVIDES | TM_HLO_REDUCES | TM_HLO_HOST),
        .has_matrix = cost->has_matrix,
        .precision = cost->has_matrix ? cost->precision : TM_PRECISION_UNKNOWN,
        .is_batched = cost->is_batched,
    };

    if (!computation)
        return k->hlo->run->error.status;
    tm_hlo_add_sums(&computation->sums, &sums);
    return TM_OK;
}

static tm_status add_op(struct walk *k, const struct tm_hlo_instruction *in, struct tm_hlo_op *op, uint32_t *row)
{
    struct tm_hlo *hlo = k->hlo;
    const struct tm_hlo_module *module = tm_rows_at(hlo->trace->hlo_modules, k->number);
    tm_status st;

    if (!module)
        return hlo->run->error.status;
    op->module = module->name;
    op->program_id = module->program_id;
    st = put_text(hlo, in->name, &op->name);
    if (st == TM_OK)
        st = put_text(hlo, in->opcode, &op->opcode);
    if (st == TM_OK)
        st = put_text(hlo, in->target, &op->target);
    *row = (uint32_t)tm_rows_count(hlo->trace->hlo_ops);
    return st == TM_OK ? tm_rows_append(hlo->trace->hlo_ops, op) : st;
}

static tm_status take_costs(struct walk *k, const struct tm_hlo_instruction *in)
{
    struct hlo_cost cost;
    struct tm_hlo_op op = { .name = 0 };
    uint32_t row = 0;
    tm_status st = tm_hlo_cost(k->hlo, k->number, in, &cost);

    if (st == TM_OK)
        st = fill_op(k, in, &cost, &op);
    if (st == TM_OK)
        st = add_own(k, in, &cost, &op);
    if (st == TM_OK && !k->is_fusion && in->name.length && !(in->known->traits & TM_HLO_SILENT))
        st = add_op(k, in, &op, &row);
    if (st == TM_OK && row)
        st = tm_hlo_note_wait(k->hlo, k->computation, in, row);
    if (st == TM_OK && in->known->kind == TM_HLO_CALLS)
        st = tm_hlo_note_call(k->hlo, k->number, k->computation, in, row);
    return st;
}

static tm_status walk_instruction(struct walk *k, uint64_t end)
{
    const uint64_t begin = tm_reader_offset(&k->w);
    const bool is_large = end - begin > HLO_BUFFER;
    struct tm_hlo_instruction in = { .operands = k->hlo->operands, .operand_room = HLO_OPERANDS_MOST };
    struct tm_wire bytes;
    const tm_status st = is_large ? compact(k, end, &bytes) : tm_reader_peek(&k->w, (size_t)(end - begin), &bytes);

    if (st != TM_OK)
        return st;
    tm_hlo_instruction_read(bytes, &in);
    k->module.is_cut |= in.is_cut;
    if (in.is_damaged)
        note_damage(k, begin);
    if (k->pass == HLO_PASS_COSTS)
        return take_costs(k, &in);
    return note_result(k, &in, is_large || !in.shape.at ? k->shape_at : begin + (uint64_t)(in.shape.at - bytes.at));
}

/* --- a computation --- */

static tm_status put_place(struct walk *k, int64_t id)
{
    const struct hlo_place place = {
        .key = tm_hlo_key(k->number, id), .id = id, .row = k->computation, .module = k->number
    };

    return tm_index_put(k->hlo->places, &place);
}

static tm_status begin_computation(struct walk *k)
{
    const struct hlo_computation none = { .first_call = 0 };
    const struct hlo_computation *known;

    k->module.computations++;
    if (k->pass == HLO_PASS_SHAPES) {
        k->computation = tm_rows_count(k->hlo->computations);
        tm_hlo_reads_begin(k->hlo->reads);
        return tm_rows_append(k->hlo->computations, &none);
    }
    k->computation = k->module.first_computation + k->module.computations - 1;
    known = tm_rows_at(k->hlo->computations, k->computation);
    if (!known)
        return k->hlo->run->error.status;
    k->is_fusion = known->is_fusion;
    k->is_host = known->is_host;
    return TM_OK;
}

/* What the computation itself says: behind its instructions on the wire, so it is kept for the second walk. */
struct computation_end {
    int64_t id, root_id;
    bool is_fusion, is_host;
};

static tm_status end_computation(struct walk *k, const struct computation_end *end)
{
    struct hlo_computation *row;
    tm_status st = TM_OK;

    if (k->pass != HLO_PASS_SHAPES)
        return TM_OK;
    row = tm_rows_change(k->hlo->computations, k->computation);
    if (!row)
        return k->hlo->run->error.status;
    row->is_fusion = end->is_fusion;
    row->is_host = end->is_host;
    if (end->is_fusion)
        st = tm_hlo_reads_end(k->hlo, k->computation, end->root_id, row);
    return st == TM_OK ? put_place(k, end->id) : st;
}

/* Whether an instruction more may be read. */
static bool take_from_budget(struct walk *k)
{
    if (k->pass != HLO_PASS_SHAPES)
        return true;
    if (k->hlo->instructions == HLO_INSTRUCTIONS_MOST) {
        k->module.is_skipped = 1;
        return false;
    }
    k->hlo->instructions++;
    return true;
}

static tm_status walk_computation(struct walk *k, uint64_t end)
{
    struct computation_end last = { .id = 0 };
    bool more = true;
    tm_status st = begin_computation(k);

    while (st == TM_OK) {
        struct tm_head head;
        struct tm_wire view;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        if (head.type == TM_WIRE_LEN && head.number == COMPUTATION_INSTRUCTION) {
            const uint64_t instruction_end = tm_reader_offset(&k->w) + head.value;

            if (!take_from_budget(k))
                break;
            st = walk_instruction(k, instruction_end);
            leave(k, instruction_end);
            continue;
        }
        if (head.number == COMPUTATION_ID && head.type == TM_WIRE_VARINT)
            last.id = (int64_t)head.value;
        if (head.number == COMPUTATION_ROOT && head.type == TM_WIRE_VARINT)
            last.root_id = (int64_t)head.value;
        if (head.number == COMPUTATION_FUSION && head.type == TM_WIRE_VARINT)
            last.is_fusion = head.value != 0;
        if (head.number == COMPUTATION_THREAD && head.type == TM_WIRE_LEN && head.value == 4) {
            st = tm_reader_peek(&k->w, 4, &view);
            last.is_host = st == TM_OK && view.end - view.at == 4 && !memcmp(view.at, "host", 4);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    return st == TM_OK ? end_computation(k, &last) : st;
}

/* --- the module --- */

/* "f32[8,128], s32[]": the parameters of the program. */
static tm_status take_shapes(struct walk *k, uint64_t end, struct tm_hlo_module *row)
{
    struct tm_hlo_text text = { .at = (char *)k->hlo->compact, .room = SHAPES_TEXT };
    tm_status st = TM_OK;

    while (st == TM_OK) {
        struct tm_head head;
        struct tm_wire view;
        struct tm_hlo_shape shape;
        bool more;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        if (head.number == SHAPE_PARAMETER && head.type == TM_WIRE_LEN && head.value <= HLO_BUFFER) {
            st = tm_reader_peek(&k->w, (size_t)head.value, &view);
            if (st != TM_OK)
                break;
            if (text.length)
                tm_hlo_write(&text, ", ");
            tm_hlo_shape_read(view, &shape, &text);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    if (st != TM_OK || !text.length)
        return st;
    if (text.cut) { /* there is room for it: the last text that did not fit was left out */
        text.cut = false;
        text.room += 8;
        tm_hlo_write(&text, "...");
    }
    return tm_names_put(k->hlo->trace->names, text.at, text.length, &row->shapes);
}

static tm_status take_devices(struct walk *k, uint64_t end)
{
    tm_status st = TM_OK;

    while (st == TM_OK) {
        struct tm_head head;
        bool more;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        if (head.number == DEVICES_REPLICAS && head.type == TM_WIRE_VARINT)
            k->module.replicas = head.value;
        if (head.number == DEVICES_PARTITIONS && head.type == TM_WIRE_VARINT)
            k->module.partitions = head.value;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    return st;
}

/* A field that is looked at in the first walk alone. */
static tm_status take_field(struct walk *k, const struct tm_head *head, struct tm_hlo_module *row)
{
    const uint64_t end = tm_reader_offset(&k->w) + (head->type == TM_WIRE_LEN ? head->value : 0);
    struct tm_wire view;
    tm_status st;

    if (head->number == MODULE_ID && head->type == TM_WIRE_VARINT && !k->module.program.has_id)
        row->program_id = (int64_t)head->value;
    if (head->type != TM_WIRE_LEN)
        return TM_OK;
    switch (head->number) {
    case MODULE_NAME:
        st = tm_reader_peek(&k->w, head->value < HLO_TEXT_MOST ? (size_t)head->value : HLO_TEXT_MOST, &view);
        if (st != TM_OK || view.at == view.end)
            return st;
        return tm_names_put(k->hlo->trace->names, (const char *)view.at, (size_t)(view.end - view.at), &row->name);
    case MODULE_SHAPE:
        return take_shapes(k, end, row);
    case MODULE_DEVICES:
        return take_devices(k, end);
    case MODULE_FRAMES:
        return tm_hlo_frames(k->hlo, &k->module, &k->w, end);
    default:
        return TM_OK;
    }
}

static tm_status walk_module(struct walk *k, uint64_t end, struct tm_hlo_module *row)
{
    tm_status st = TM_OK;

    while (st == TM_OK && !k->module.is_skipped) {
        struct tm_head head;
        uint64_t field_end;
        bool more;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        field_end = tm_reader_offset(&k->w) + (head.type == TM_WIRE_LEN ? head.value : 0);
        if (head.number == MODULE_COMPUTATION && head.type == TM_WIRE_LEN)
            st = walk_computation(k, field_end);
        else if (k->pass == HLO_PASS_SHAPES)
            st = take_field(k, &head, row);
        leave(k, field_end);
    }
    return st;
}

static tm_status walk_proto(struct walk *k, struct tm_hlo_module *row)
{
    const uint64_t end = k->module.program.end;
    bool more = true, found = false;
    tm_status st = TM_OK;

    tm_reader_init(&k->w, k->hlo->input, k->hlo->buffer, HLO_BUFFER, k->module.program.begin, end);
    while (st == TM_OK && !found) {
        struct tm_head head;

        st = next_field(k, end, &head, &more);
        if (st != TM_OK || !more)
            break;
        found = head.number == PROTO_MODULE && head.type == TM_WIRE_LEN;
        if (found)
            st = walk_module(k, tm_reader_offset(&k->w) + head.value, row);
        else if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    /* Bytes that happen to be fields are no program: one has a computation. */
    if (st == TM_OK && k->module.program.begin < end && (!found || (!k->module.computations && !k->module.is_skipped)))
        note_damage(k, k->module.program.begin);
    return st;
}

tm_status tm_hlo_walk(struct tm_hlo *hlo, uint32_t module, enum hlo_pass pass)
{
    struct walk k = { .hlo = hlo, .number = module, .pass = pass };
    const struct hlo_module *known = tm_rows_at(hlo->modules, module);
    struct tm_hlo_module row = { .name = 0 };
    const uint64_t before = hlo->instructions;
    struct hlo_module *changed;
    tm_status st;

    if (!known)
        return hlo->run->error.status;
    k.module = *known;
    if (pass == HLO_PASS_COSTS && k.module.is_skipped)
        return TM_OK;
    if (pass == HLO_PASS_SHAPES)
        k.module.first_computation = tm_rows_count(hlo->computations);
    k.module.computations = 0;
    row.name = k.module.program.name;
    row.program_id = k.module.program.id;
    st = walk_proto(&k, &row);
    if (st == TM_OK && pass == HLO_PASS_SHAPES) {
        row.instructions = hlo->instructions - before;
        st = tm_rows_append(hlo->trace->hlo_modules, &row);
    }
    changed = st == TM_OK ? tm_rows_change(hlo->modules, module) : NULL;
    if (changed)
        *changed = k.module;
    return st == TM_OK && !changed ? hlo->run->error.status : st;
}
