/* SPDX-License-Identifier: Apache-2.0 */
/* One program in wire format: module, computations, instructions, through one window that only moves forward.  Each
 * level checks its fields against its own end, and skips damaged ones by their length.
 * source: HloProto {hlo_module 1}, HloModuleProto {name 1, computations 3, host_program_shape 4, id 5,
 *         device_assignment 15, stack_frame_index 17}, HloComputationProto {instructions 2, id 5, root_id 6,
 *         is_fusion_computation 7, execution_thread 8}; xla/service/hlo.proto */
#include "stages/input/hlo/hlo_private.h"

#include <stdio.h>

#include "pipeline/store/hash.h"

/* The bytes that a fusion reads of its operands, and those that it writes: a parameter that is only sliced inside is
 * not read completely, and a root that updates a slice writes only that slice.  Loops over stacked layers consist of
 * such fusions; otherwise they would be charged the bytes of all layers in each iteration.  One computation at a time,
 * in a table of fixed size; a computation with more instructions reads and writes everything. */

enum { VALUES_MOST = 2048, SLOTS = 4096 /* a power of two */ };

/* An instruction of the computation. */
struct value {
    int64_t id;
    uint64_t written;   /* bytes, if it is the result */
    uint64_t read;      /* of a parameter: bytes that slices take */
    int64_t number;     /* of a parameter */
    uint16_t parameter; /* the value, plus one, of the parameter that this is another shape of; 0 = none */
    uint8_t has_written;
    uint8_t is_whole; /* of a parameter: something reads all of it */
    uint8_t is_used;
};

struct hlo_reads {
    struct value values[VALUES_MOST];
    uint16_t slots[SLOTS]; /* by id: number of a value, plus one */
    uint64_t seed;
    uint32_t count;
    bool overflows;
};

struct hlo_reads *tm_hlo_reads_new(struct tm_run *run)
{
    struct hlo_reads *const reads = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*reads), &run->error);

    if (reads)
        reads->seed = tm_hash_seed(reads);
    return reads;
}

void tm_hlo_reads_free(struct tm_run *run, struct hlo_reads *reads)
{
    tm_give(&run->budget, TM_ACCOUNT_INPUT, reads, reads ? sizeof(*reads) : 0);
}

static void hlo_reads_begin(struct hlo_reads *reads)
{
    if (reads->count)
        memset(reads->slots, 0, sizeof(reads->slots));
    reads->count = 0;
    reads->overflows = false;
}

struct wanted {
    const struct hlo_reads *reads;
    int64_t id;
};

static bool ends_id(const void *slot, const void *wanted)
{
    const uint16_t number = *(const uint16_t *)slot;
    const struct wanted *const w = wanted;

    return !number || w->reads->values[number - 1].id == w->id;
}

/* The slot of an id: that of its value, or an empty one. */
static uint16_t *slot_of(struct hlo_reads *reads, int64_t id)
{
    const struct wanted wanted = { reads, id };

    return tm_probe(reads->slots, SLOTS, sizeof(*reads->slots), tm_hash_mix((uint64_t)id, reads->seed), &wanted,
                    ends_id);
}

static struct value *find(struct hlo_reads *reads, uint64_t id)
{
    const uint16_t number = *slot_of(reads, (int64_t)id);

    return number ? &reads->values[number - 1] : NULL;
}

static struct value *parameter_of(struct hlo_reads *reads, const struct value *value)
{
    return value && value->parameter ? &reads->values[value->parameter - 1] : NULL;
}

static bool is_opcode(const struct tm_hlo_instruction *in, const char *name)
{
    return tm_text_is(in->opcode, name);
}

/* Note what the instruction reads of one of its operands. */
static void use(struct value *parameter, const struct tm_hlo_instruction *in, uint32_t n,
                const struct hlo_result *result)
{
    const uint16_t traits = in->known->traits;

    parameter->is_used = 1;
    if (n > 0 || !(traits & (TM_HLO_SLICES | TM_HLO_UPDATES))) {
        parameter->is_whole |= !is_opcode(in, "bitcast");
        return;
    }
    if ((traits & TM_HLO_SLICES) &&
        (!result->has_bytes || __builtin_add_overflow(parameter->read, result->bytes, &parameter->read)))
        parameter->is_whole = 1;
}

/* Note what it writes if it is the result. */
static void set_written(struct hlo_reads *reads, const struct tm_hlo_instruction *in, const struct hlo_result *result,
                        struct value *value)
{
    const bool is_tuple = is_opcode(in, "tuple");
    const struct value *update;

    value->written = result->bytes;
    value->has_written = result->has_bytes;
    if (in->known->traits & TM_HLO_UPDATES && in->operand_count > 1) {
        update = find(reads, in->operands[1]);
        value->written = update ? update->written : 0;
        value->has_written = update && update->has_written;
    } else if (is_tuple || (is_opcode(in, "bitcast") && in->operand_count == 1)) {
        value->written = 0;
        value->has_written = 1;
        for (uint32_t i = 0; i < in->operand_count; i++) {
            const struct value *part = find(reads, in->operands[i]);

            if (!part || !part->has_written || __builtin_add_overflow(value->written, part->written, &value->written))
                value->has_written = 0;
        }
    }
}

static void hlo_reads_note(struct hlo_reads *reads, const struct tm_hlo_instruction *in,
                           const struct hlo_result *result)
{
    uint16_t *slot;
    struct value value = { .id = in->id };

    if (reads->count == VALUES_MOST || in->is_cut)
        reads->overflows = true;
    if (reads->overflows)
        return;
    set_written(reads, in, result, &value);
    for (uint32_t i = 0; i < in->operand_count; i++) {
        struct value *parameter = parameter_of(reads, find(reads, in->operands[i]));

        if (parameter)
            use(parameter, in, i, result);
        if (parameter && i == 0 && is_opcode(in, "bitcast"))
            value.parameter = (uint16_t)(parameter - reads->values + 1);
    }
    if (in->known->traits & TM_HLO_PARAMETER) {
        value.parameter = (uint16_t)(reads->count + 1);
        value.number = in->parameter;
    }
    slot = slot_of(reads, in->id);
    if (*slot) { /* two of one id */
        reads->overflows = true;
        return;
    }
    reads->values[reads->count++] = value;
    *slot = (uint16_t)reads->count;
}

static void put_read(struct tm_hlo *hlo, uint64_t computation, const struct value *value)
{
    struct hlo_read row = { .computation = computation, .number = value->number, .bytes = value->read };

    row.key = tm_hlo_key(computation, value->number);
    tm_index_put(hlo->partial_reads, &row);
}

static void hlo_reads_end(struct tm_hlo *hlo, uint64_t number, int64_t root_id, struct hlo_computation *computation)
{
    struct hlo_reads *reads = hlo->reads;
    const struct value *root = reads->overflows ? NULL : find(reads, (uint64_t)root_id);

    if (root && root->has_written) {
        computation->written = root->written;
        computation->has_written = 1;
    }
    for (uint32_t i = 0; i < reads->count && !reads->overflows; i++) {
        const struct value *value = &reads->values[i];

        if (value->parameter == i + 1 && value->is_used && !value->is_whole && value != root)
            put_read(hlo, number, value);
    }
}

/* The source location of an op.  Its metadata contains it, or names a frame of the module's table: frames name
 * locations, locations files, all by numbers that count from 1.
 * source: StackFrameIndexProto {file_names 1, file_locations 3 {file_name_id 1, line 3}, stack_frames 4
 *         {file_location_id 1}}; xla/service/hlo.proto */

enum {
    INDEX_FILE = 1,
    INDEX_LOCATION = 3,
    INDEX_FRAME = 4,
    LOCATION_FILE = 1,
    LOCATION_LINE = 3,
    FRAME_LOCATION = 1,
    ROW_BYTES_MOST = 256, /* of a location or frame: six numbers */
};

static tm_strid put_source(struct tm_hlo *hlo, struct tm_text file, int64_t line)
{
    char text[HLO_TEXT_MOST + 32];
    const int length = (int)(file.length < HLO_TEXT_MOST ? file.length : HLO_TEXT_MOST);
    int written;

    if (!length)
        return 0;
    if (line <= 0)
        return tm_names_put(hlo->trace->names, file.at, (size_t)length);
    memcpy(text, file.at, (size_t)length);
    written = snprintf(text + length, sizeof(text) - (size_t)length, ":%lld", (long long)line);
    return tm_names_put(hlo->trace->names, text, (size_t)length + (size_t)written);
}

static void put_file(struct tm_hlo *hlo, struct hlo_module *module, struct tm_wire view)
{
    const tm_strid name = tm_names_put(hlo->trace->names, (const char *)view.at, (size_t)(view.end - view.at));

    module->files++;
    tm_rows_append(hlo->files, &name);
}

static void put_row(struct tm_hlo *hlo, struct hlo_module *module, uint32_t field, struct tm_wire view)
{
    struct hlo_location location;
    uint64_t frame;

    if (field == INDEX_FRAME) {
        module->frames++;
        frame = tm_hlo_number_in(view, FRAME_LOCATION);
        tm_rows_append(hlo->frames, &frame);
        return;
    }
    module->locations++;
    location.file = tm_hlo_number_in(view, LOCATION_FILE);
    location.line = (int64_t)tm_hlo_number_in(view, LOCATION_LINE);
    tm_rows_append(hlo->locations, &location);
}

static uint64_t rows_of_all(const struct tm_hlo *hlo)
{
    return tm_rows_count(hlo->files) + tm_rows_count(hlo->locations) + tm_rows_count(hlo->frames);
}

void tm_hlo_read_frames(struct tm_hlo *hlo, struct hlo_module *module, struct tm_reader *w, uint64_t end)
{
    if (module->frames || module->locations || module->files) /* the format allows no second table */
        return;
    module->first_file = tm_rows_count(hlo->files);
    module->first_location = tm_rows_count(hlo->locations);
    module->first_frame = tm_rows_count(hlo->frames);
    while (tm_reader_offset(w) < end && rows_of_all(hlo) < HLO_INSTRUCTIONS_MOST) {
        struct tm_head head;
        struct tm_wire view;
        bool damaged;
        const bool more = tm_reader_head(w, &head, &damaged);
        uint64_t most;

        if (more && !damaged && tm_reader_offset(w) <= end && head.type != TM_WIRE_LEN)
            continue; /* a field of a later version */
        if (!more || damaged || tm_reader_offset(w) > end || head.value > end - tm_reader_offset(w)) {
            module->damaged_at = module->is_damaged ? module->damaged_at : head.offset;
            module->is_damaged = 1;
            break;
        }
        most = head.number == INDEX_FILE ? HLO_TEXT_MOST : ROW_BYTES_MOST;
        view = tm_reader_peek(w, (size_t)(head.value < most ? head.value : most));
        if (head.number == INDEX_FILE)
            put_file(hlo, module, view);
        else if (head.number == INDEX_LOCATION || head.number == INDEX_FRAME)
            put_row(hlo, module, head.number, view);
        tm_reader_skip(w, head.value);
    }
}

/* Row `number` (from 1) of a module's part of a table; NULL = there is none. */
static const void *row_of(struct tm_rows *rows, uint64_t first, uint64_t count, uint64_t number)
{
    return number && number <= count ? tm_rows_at(rows, first + number - 1) : NULL;
}

static tm_strid source_of_frame(struct tm_hlo *hlo, const struct hlo_module *module, uint64_t frame)
{
    const uint64_t *number = row_of(hlo->frames, module->first_frame, module->frames, frame);
    const struct hlo_location *location =
        number ? row_of(hlo->locations, module->first_location, module->locations, *number) : NULL;
    const tm_strid *file = location ? row_of(hlo->files, module->first_file, module->files, location->file) : NULL;
    const char *text;
    char copy[HLO_TEXT_MOST + 1];
    size_t length;

    if (!file)
        return 0;
    text = tm_names_text(hlo->trace->names, *file, sizeof(copy), &length);
    memcpy(copy, text, length < sizeof(copy) ? length : sizeof(copy)); /* putting a string in may move it */
    return put_source(hlo, (struct tm_text){ copy, length < sizeof(copy) ? length : sizeof(copy) }, location->line);
}

tm_strid tm_hlo_source(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in)
{
    if (in->source_file.length)
        return put_source(hlo, in->source_file, in->source_line);
    return in->stack_frame > 0 ? source_of_frame(hlo, module, (uint64_t)in->stack_frame) : 0;
}

/* A call waits until its computation is known (hlo.c). */
static void note_call(struct tm_hlo *hlo, uint32_t module, uint64_t caller, const struct tm_hlo_instruction *in,
                      uint32_t op)
{
    struct hlo_call call = { .caller = caller, .op = op };
    struct hlo_computation *computation = tm_rows_change(hlo->computations, caller);

    if (!tm_hlo_called(hlo, module, in, &call.callee)) {
        computation->sums.lacks_flops = 1;
        return;
    }
    computation->pending++;
    tm_sorter_push(hlo->sorter, &call);
}

void tm_hlo_add_sums(struct hlo_sums *into, const struct hlo_sums *from)
{
    into->lacks_flops |= from->lacks_flops;
    if (__builtin_add_overflow(into->flops, from->flops, &into->flops)) {
        into->flops = 0;
        into->lacks_flops = 1;
    }
    into->traits |= from->traits;
    if (from->has_matrix && !into->has_matrix)
        into->precision = from->precision;
    into->has_matrix |= from->has_matrix;
    into->is_batched |= from->is_batched;
    if (from->path) { /* the last one: the root is at the end */
        into->path = from->path;
        into->source = from->source;
    }
    if (from->message_bytes > into->message_bytes) {
        into->message_bytes = from->message_bytes;
        into->group_size = from->group_size;
        into->groups = from->groups;
        into->origin = from->origin;
    }
}

/* A wait (-done, async-update) has the same message as its start (-start, async-start), and gets the same properties:
 * on a TPU the wait takes the time. */

/* The latest ops that were started in the current computation; a wait follows closely after its start. */
static void note_start(struct hlo_waits *waits, int64_t id, uint32_t op)
{
    waits->starts[waits->next++ % HLO_STARTS] = (struct hlo_start){ .id = id, .op = op };
}

static uint32_t find_start(const struct hlo_waits *waits, uint64_t id)
{
    for (uint32_t i = 0; i < HLO_STARTS; i++)
        if (waits->starts[i].op && waits->starts[i].id == (int64_t)id)
            return waits->starts[i].op;
    return 0;
}

/* Each op that is noted, in the order of the program. */
static void note_wait(struct tm_hlo *hlo, uint64_t computation, const struct tm_hlo_instruction *in, uint32_t op)
{
    struct hlo_waits *waits = &hlo->waits;
    struct hlo_wait wait = { .op = op };

    if (waits->computation != computation)
        *waits = (struct hlo_waits){ .computation = computation };
    if (in->known->traits & TM_HLO_START)
        note_start(waits, in->id, op);
    if (!(in->known->traits & TM_HLO_DONE) || !in->operand_count)
        return;
    wait.start = find_start(waits, in->operands[0]);
    if (!wait.start)
        return;
    note_start(waits, in->id, wait.start);
    tm_rows_append(hlo->wait_rows, &wait);
}

/* --- the walk --- */

enum { SHAPES_TEXT = 16 << 10 };

struct walk {
    struct tm_hlo *hlo;
    struct hlo_module module; /* a copy: written back at the end */
    uint32_t number;
    uint64_t computation;    /* row of the current one */
    bool is_fusion, is_host; /* the current one, in the second walk */
    enum hlo_pass pass;
    uint64_t shape_at; /* of a large instruction: where its shape is */
    struct tm_reader w;
};

static void note_damage(struct walk *k, uint64_t at)
{
    if (!k->module.is_damaged)
        k->module.damaged_at = at;
    k->module.is_damaged = 1;
}

static bool next_field(struct walk *k, uint64_t end, struct tm_head *head)
{
    bool damaged = false;
    const bool more = tm_hlo_next_field(&k->w, end, head, &damaged);

    if (damaged)
        note_damage(k, head->offset);
    return more;
}

/* --- an instruction --- */

static struct tm_wire compact(struct walk *k, uint64_t end)
{
    struct tm_hlo_compacted facts;
    const struct tm_wire bytes = tm_hlo_compact(&k->w, end, k->hlo->compact, &facts);

    k->shape_at = facts.shape_at ? facts.shape_at : k->shape_at;
    k->module.is_cut |= facts.is_cut;
    if (facts.is_damaged)
        note_damage(k, facts.damaged_at);
    return bytes;
}

/* Note the shape of its result.  shape_at: in the input */
static void note_result(struct walk *k, const struct tm_hlo_instruction *in, uint64_t shape_at)
{
    struct tm_hlo *hlo = k->hlo;
    struct tm_hlo_shape shape;
    struct hlo_result row = { .key = tm_hlo_key(k->number, in->id), .id = in->id, .module = k->number };

    tm_hlo_shape_read(in->shape, &shape, NULL);
    if (shape.is_damaged)
        note_damage(k, shape_at);
    row.shape_at = shape_at;
    row.shape_bytes = (uint32_t)(in->shape.end - in->shape.at);
    row.number = (uint32_t)hlo->instructions - 1; /* it counts already */
    row.bytes = shape.bytes;
    row.elements = shape.elements;
    row.element = shape.element;
    row.has_bytes = shape.has_bytes;
    row.has_elements = shape.has_elements;
    hlo_reads_note(hlo->reads, in, &row);
    tm_index_put(hlo->results, &row);
}

static tm_strid put_text(struct tm_hlo *hlo, struct tm_text text)
{
    const size_t length = text.length < HLO_TEXT_MOST ? text.length : HLO_TEXT_MOST;

    return length ? tm_names_put(hlo->trace->names, text.at, length) : 0;
}

static bool path_tells_softmax(struct tm_text path)
{
    return path.length && memmem(path.at, path.length < HLO_TEXT_MOST ? path.length : HLO_TEXT_MOST, "softmax", 7);
}

static void fill_op(struct walk *k, const struct tm_hlo_instruction *in, const struct hlo_cost *cost,
                    struct tm_hlo_op *op)
{
    struct tm_hlo *hlo = k->hlo;

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
    op->path = put_text(hlo, in->path);
    op->source = tm_hlo_source(hlo, &k->module, in);
    op->sharding = tm_hlo_sharding(hlo, in);
    op->devices = tm_hlo_devices(&k->module) <= UINT32_MAX ? (uint32_t)tm_hlo_devices(&k->module) : 0;
    op->origin = tm_hlo_origin_of(&k->module, in);
    tm_hlo_collective(hlo, &k->module, in, cost, op);
}

/* Add the instruction to the sums of its computation. */
static void add_own(struct walk *k, const struct tm_hlo_instruction *in, const struct hlo_cost *cost,
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
        .origin = op->origin,
        .path = op->path,
        .source = op->path ? op->source : 0,
        .traits = (in->known->traits & (TM_HLO_EXPONENTIAL | TM_HLO_DIVIDES | TM_HLO_REDUCES | TM_HLO_HOST)) |
                  (tm_hlo_is_own(in) ? TM_HLO_OWN : 0),
        .has_matrix = cost->has_matrix,
        .precision = cost->has_matrix ? cost->precision : TM_PRECISION_UNKNOWN,
        .is_batched = cost->is_batched,
    };

    tm_hlo_add_sums(&computation->sums, &sums);
}

/* out: its row */
static uint32_t add_op(struct walk *k, const struct tm_hlo_instruction *in, struct tm_hlo_op *op)
{
    struct tm_hlo *hlo = k->hlo;
    const struct tm_hlo_module *module = tm_rows_at(hlo->trace->hlo_modules, k->number);
    const uint64_t row = tm_rows_count(hlo->trace->hlo_ops);

    op->module = module->name;
    op->program_id = module->program_id;
    op->name = put_text(hlo, in->name);
    op->opcode = put_text(hlo, in->opcode);
    op->target = put_text(hlo, in->target);
    tm_rows_append(hlo->trace->hlo_ops, op);
    return (uint32_t)row;
}

static void take_costs(struct walk *k, const struct tm_hlo_instruction *in)
{
    struct hlo_cost cost;
    struct tm_hlo_op op = { .name = 0 };
    uint32_t row = 0;

    tm_hlo_cost(k->hlo, k->number, in, &cost);
    fill_op(k, in, &cost, &op);
    add_own(k, in, &cost, &op);
    if (!k->is_fusion && in->name.length && !(in->known->traits & TM_HLO_SILENT))
        row = add_op(k, in, &op);
    if (row) {
        note_wait(k->hlo, k->computation, in, row);
        tm_hlo_note_op(k->hlo, k->number, in->id, row);
    }
    if (in->known->kind == TM_HLO_CALLS)
        note_call(k->hlo, k->number, k->computation, in, row);
}

static void walk_instruction(struct walk *k, uint64_t end)
{
    const uint64_t begin = tm_reader_offset(&k->w);
    const bool is_large = end - begin > HLO_BUFFER;
    struct tm_hlo_instruction in = { .operands = k->hlo->operands, .operand_room = HLO_OPERANDS_MOST };
    const struct tm_wire bytes = is_large ? compact(k, end) : tm_reader_peek(&k->w, (size_t)(end - begin));

    tm_hlo_instruction_read(bytes, &in);
    k->module.is_cut |= in.is_cut;
    if (in.is_damaged)
        note_damage(k, begin);
    if (k->pass == HLO_PASS_COSTS)
        take_costs(k, &in);
    else
        note_result(k, &in, is_large || !in.shape.at ? k->shape_at : begin + (uint64_t)(in.shape.at - bytes.at));
}

/* --- a computation --- */

static void put_place(struct walk *k, int64_t id)
{
    const struct hlo_place place = {
        .key = tm_hlo_key(k->number, id), .id = id, .row = k->computation, .module = k->number
    };

    tm_index_put(k->hlo->places, &place);
}

static void begin_computation(struct walk *k, uint64_t end)
{
    const struct hlo_computation none = { .begin = tm_reader_offset(&k->w), .end = end };
    const struct hlo_computation *known;

    k->module.computations++;
    if (k->pass == HLO_PASS_SHAPES) {
        k->computation = tm_rows_count(k->hlo->computations);
        hlo_reads_begin(k->hlo->reads);
        tm_rows_append(k->hlo->computations, &none);
        return;
    }
    k->computation = k->module.first_computation + k->module.computations - 1;
    known = tm_rows_at(k->hlo->computations, k->computation);
    k->is_fusion = known->is_fusion;
    k->is_host = known->is_host;
}

/* Fields of the computation itself: they follow its instructions on the wire, so they are kept for the second walk. */
struct computation_end {
    int64_t id, root_id;
    bool is_fusion, is_host;
};

static void end_computation(struct walk *k, const struct computation_end *end)
{
    struct hlo_computation *row;

    if (k->pass != HLO_PASS_SHAPES)
        return;
    row = tm_rows_change(k->hlo->computations, k->computation);
    row->is_fusion = end->is_fusion;
    row->is_host = end->is_host;
    row->root_id = end->root_id;
    if (end->is_fusion)
        hlo_reads_end(k->hlo, k->computation, end->root_id, row);
    put_place(k, end->id);
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

static void walk_computation(struct walk *k, uint64_t end)
{
    struct computation_end last = { .id = 0 };
    struct tm_head head;

    begin_computation(k, end);
    while (!tm_failed(k->hlo->run) && next_field(k, end, &head)) {
        if (head.type == TM_WIRE_LEN && head.number == COMPUTATION_INSTRUCTION) {
            const uint64_t instruction_end = tm_reader_offset(&k->w) + head.value;

            if (!take_from_budget(k))
                break;
            walk_instruction(k, instruction_end);
            tm_hlo_leave(&k->w, instruction_end);
            continue;
        }
        if (head.number == COMPUTATION_ID && head.type == TM_WIRE_VARINT)
            last.id = (int64_t)head.value;
        if (head.number == COMPUTATION_ROOT && head.type == TM_WIRE_VARINT)
            last.root_id = (int64_t)head.value;
        if (head.number == COMPUTATION_FUSION && head.type == TM_WIRE_VARINT)
            last.is_fusion = head.value != 0;
        if (head.number == COMPUTATION_THREAD && head.type == TM_WIRE_LEN && head.value == 4) {
            const struct tm_wire view = tm_reader_peek(&k->w, 4);

            last.is_host = view.end - view.at == 4 && !memcmp(view.at, "host", 4);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    end_computation(k, &last);
}

/* --- the module --- */

/* "f32[8,128], s32[]": the parameters of the program. */
static void take_shapes(struct walk *k, uint64_t end, struct tm_hlo_module *row)
{
    struct tm_hlo_text text = { .at = (char *)k->hlo->compact, .room = SHAPES_TEXT };
    struct tm_head head;

    while (next_field(k, end, &head)) {
        if (head.number == SHAPE_PARAMETER && head.type == TM_WIRE_LEN && head.value <= HLO_BUFFER) {
            const struct tm_wire view = tm_reader_peek(&k->w, (size_t)head.value);
            struct tm_hlo_shape shape;

            if (text.length)
                tm_hlo_write(&text, ", ");
            tm_hlo_shape_read(view, &shape, &text);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    if (!text.length)
        return;
    if (text.cut) { /* there is room for it: the last text that did not fit was left out */
        text.cut = false;
        text.room += 8;
        tm_hlo_write(&text, "...");
    }
    row->shapes = tm_names_put(k->hlo->trace->names, text.at, text.length);
}

static void take_devices(struct walk *k, uint64_t end)
{
    struct tm_head head;

    while (next_field(k, end, &head)) {
        if (head.number == DEVICES_REPLICAS && head.type == TM_WIRE_VARINT)
            k->module.replicas = head.value;
        if (head.number == DEVICES_PARTITIONS && head.type == TM_WIRE_VARINT)
            k->module.partitions = head.value;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
}

/* A field that is examined in the first walk alone. */
static void take_field(struct walk *k, const struct tm_head *head, struct tm_hlo_module *row)
{
    const uint64_t end = tm_reader_offset(&k->w) + (head->type == TM_WIRE_LEN ? head->value : 0);
    struct tm_wire view;

    if (head->number == MODULE_ID && head->type == TM_WIRE_VARINT && !k->module.program.has_id)
        row->program_id = (int64_t)head->value;
    if (head->number == MODULE_ENTRY && head->type == TM_WIRE_VARINT)
        k->module.entry_id = (int64_t)head->value;
    if (head->type != TM_WIRE_LEN)
        return;
    switch (head->number) {
    case MODULE_NAME:
        view = tm_reader_peek(&k->w, head->value < HLO_TEXT_MOST ? (size_t)head->value : HLO_TEXT_MOST);
        if (view.at < view.end)
            row->name = tm_names_put(k->hlo->trace->names, (const char *)view.at, (size_t)(view.end - view.at));
        break;
    case MODULE_SHAPE:
        take_shapes(k, end, row);
        break;
    case MODULE_DEVICES:
        take_devices(k, end);
        break;
    case MODULE_FRAMES:
        tm_hlo_read_frames(k->hlo, &k->module, &k->w, end);
        break;
    default:
        break;
    }
}

static void walk_module(struct walk *k, uint64_t end, struct tm_hlo_module *row)
{
    struct tm_head head;

    while (!k->module.is_skipped && !tm_failed(k->hlo->run) && next_field(k, end, &head)) {
        const uint64_t field_end = tm_reader_offset(&k->w) + (head.type == TM_WIRE_LEN ? head.value : 0);

        if (head.number == MODULE_COMPUTATION && head.type == TM_WIRE_LEN)
            walk_computation(k, field_end);
        else if (k->pass == HLO_PASS_SHAPES)
            take_field(k, &head, row);
        tm_hlo_leave(&k->w, field_end);
    }
}

static void walk_proto(struct walk *k, struct tm_hlo_module *row)
{
    const uint64_t end = k->module.program.end;
    bool found = false;
    struct tm_head head;

    tm_reader_init(&k->w, k->hlo->input, k->hlo->buffer, HLO_BUFFER, k->module.program.begin, end);
    while (!found && next_field(k, end, &head)) {
        found = head.number == PROTO_MODULE && head.type == TM_WIRE_LEN;
        if (found)
            walk_module(k, tm_reader_offset(&k->w) + head.value, row);
        else if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&k->w, head.value);
    }
    /* Bytes that happen to parse as fields are not a program: a program has a computation. */
    if (k->module.program.begin < end && (!found || (!k->module.computations && !k->module.is_skipped)))
        note_damage(k, k->module.program.begin);
}

void tm_hlo_walk(struct tm_hlo *hlo, uint32_t module, enum hlo_pass pass)
{
    struct walk k = { .hlo = hlo, .number = module, .pass = pass };
    struct tm_hlo_module row = { .name = 0 };
    const uint64_t before = hlo->instructions;

    k.module = *(const struct hlo_module *)tm_rows_at(hlo->modules, module);
    if (pass == HLO_PASS_COSTS && k.module.is_skipped)
        return;
    if (pass == HLO_PASS_SHAPES) {
        k.module.first_computation = tm_rows_count(hlo->computations);
        k.module.first_instruction = before;
    }
    k.module.computations = 0;
    row.name = k.module.program.name;
    row.program_id = k.module.program.id;
    row.begin = k.module.program.begin;
    row.end = k.module.program.end;
    walk_proto(&k, &row);
    if (pass == HLO_PASS_SHAPES) {
        row.instructions = hlo->instructions - before;
        tm_rows_append(hlo->trace->hlo_modules, &row);
    }
    *(struct hlo_module *)tm_rows_change(hlo->modules, module) = k.module;
}
