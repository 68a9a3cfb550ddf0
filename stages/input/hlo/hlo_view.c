/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over one program.  The first finds the instruction, the second what is one level around it, the third the
 * second level and the bodies of the computations that it calls, the last the names of operands.  Memory: a table of
 * ENTRIES_MOST instructions and one of their operands, regardless of the size of the program; what does not fit is
 * counted.
 * source: xla/service/hlo.proto */
#include "stages/input/hlo/hlo.h"

#include <stdio.h>
#include <stdlib.h>

#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"
#include "stages/input/hlo/hlo_private.h"

/* clang-format off */
enum {
    NEAR_MOST = 128,    /* instructions of one relation and level */
    BODY_MOST = 512,    /* instructions of the body */
    ENTRIES_MOST = 1 + 5 * NEAR_MOST + BODY_MOST,
    WANTED_MOST = 16 << 10,
    OPERANDS_MOST = 64, /* that are listed of one instruction */
    TEXT_BYTES = 4096,
};
/* clang-format on */

enum relation { SELF, CALLER, OPERAND, USER, BODY, RELATIONS };

static const char *const relation_name[RELATIONS] = { "op", "caller", "operand", "user", "body" };

struct entry {
    int64_t id;
    uint64_t computation; /* number in the program */
    uint64_t bytes, operand_count;
    tm_strid name, opcode, shape, path, source, sharding, target, fusion_kind, in;
    uint32_t first_wanted, wanted; /* its operands, in view.wanted */
    uint8_t relation, level, has_bytes;
};

/* An operand whose name is searched for. */
struct wanted {
    int64_t id;
    uint64_t computation;
    tm_strid name;
};

struct view {
    struct tm_hlo hlo; /* the buffers and tables of the reading */
    struct hlo_module module;
    struct tm_reader w;
    uint64_t computation; /* the current one */
    char computation_name[TM_HLO_NAME];
    struct entry entries[ENTRIES_MOST];
    size_t count;
    uint64_t found[RELATIONS][3]; /* of each relation and level, listed or not */
    struct wanted wanted[WANTED_MOST];
    uint32_t wanted_count;
    uint16_t order[WANTED_MOST];                                     /* index of wanted, by computation and id */
    uint64_t called[TM_HLO_CALLED_MOST], bodies[TM_HLO_CALLED_MOST]; /* ids, and numbers of those computations */
    uint32_t called_count, body_count;
    uint64_t self_computation; /* number */
    int64_t self_computation_id;
    tm_strid self_computation_name;
    const char *name; /* looked for */
    struct tm_hlo_search *search;
    const struct tm_hlo_memory *memory; /* whose buffers are named */
    bool is_found;
    char text[TEXT_BYTES + 16];
};

/* What one pass does; each may be NULL. */
struct pass {
    void (*take)(struct view *v, const struct tm_hlo_instruction *in);
    void (*end)(struct view *v, int64_t id, bool is_fusion);
    bool has_frames;
};

/* --- the walk --- */

static void walk_instruction(struct view *v, const struct pass *pass, uint64_t end)
{
    const uint64_t begin = tm_reader_offset(&v->w);
    struct tm_hlo_instruction in = { .operands = v->hlo.operands, .operand_room = HLO_OPERANDS_MOST };
    struct tm_hlo_compacted facts;
    const struct tm_wire bytes = end - begin > HLO_BUFFER ? tm_hlo_compact(&v->w, end, v->hlo.compact, &facts)
                                                          : tm_reader_peek(&v->w, (size_t)(end - begin));

    tm_hlo_instruction_read(bytes, &in);
    if (pass->take)
        pass->take(v, &in);
}

static void walk_computation(struct view *v, const struct pass *pass, uint64_t end)
{
    struct tm_head head;
    bool damaged = false, is_fusion = false;
    int64_t id = 0;

    v->computation_name[0] = '\0';
    while (!tm_failed(v->hlo.run) && tm_hlo_next_field(&v->w, end, &head, &damaged)) {
        const uint64_t field_end = tm_reader_offset(&v->w) + (head.type == TM_WIRE_LEN ? head.value : 0);

        if (head.number == COMPUTATION_INSTRUCTION && head.type == TM_WIRE_LEN) {
            walk_instruction(v, pass, field_end);
        } else if (head.number == COMPUTATION_NAME && head.type == TM_WIRE_LEN) {
            const struct tm_wire name =
                tm_reader_peek(&v->w, head.value < TM_HLO_NAME - 1 ? (size_t)head.value : TM_HLO_NAME - 1);

            (void)snprintf(v->computation_name, TM_HLO_NAME, "%.*s", (int)(name.end - name.at), (const char *)name.at);
        } else if (head.number == COMPUTATION_ID && head.type == TM_WIRE_VARINT) {
            id = (int64_t)head.value;
        } else if (head.number == COMPUTATION_FUSION && head.type == TM_WIRE_VARINT) {
            is_fusion = head.value != 0;
        }
        tm_hlo_leave(&v->w, field_end);
    }
    if (pass->end)
        pass->end(v, id, is_fusion);
    v->computation++;
}

static void walk_module(struct view *v, const struct pass *pass, uint64_t end)
{
    struct tm_head head;
    bool damaged = false;

    while (!tm_failed(v->hlo.run) && tm_hlo_next_field(&v->w, end, &head, &damaged)) {
        const uint64_t field_end = tm_reader_offset(&v->w) + (head.type == TM_WIRE_LEN ? head.value : 0);

        if (head.number == MODULE_COMPUTATION && head.type == TM_WIRE_LEN)
            walk_computation(v, pass, field_end);
        else if (head.number == MODULE_FRAMES && head.type == TM_WIRE_LEN && pass->has_frames)
            tm_hlo_read_frames(&v->hlo, &v->module, &v->w, field_end);
        tm_hlo_leave(&v->w, field_end);
    }
}

static void walk(struct view *v, const struct pass *pass)
{
    uint64_t end;

    v->computation = 0;
    if (tm_hlo_enter(&v->hlo, &v->module.program, &v->w, PROTO_MODULE, &end))
        walk_module(v, pass, end);
}

/* --- open and close --- */

static void view_free(struct view *v)
{
    struct tm_run *const run = v->hlo.run;

    tm_rows_free(v->hlo.files);
    tm_rows_free(v->hlo.locations);
    tm_rows_free(v->hlo.frames);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, v->hlo.buffer, v->hlo.buffer ? HLO_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, v->hlo.compact, v->hlo.compact ? HLO_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, v->hlo.operands,
            v->hlo.operands ? HLO_OPERANDS_MOST * sizeof(*v->hlo.operands) : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, v, sizeof(*v));
}

/* errors: NULL: run->error */
static struct view *view_new(struct tm_trace *trace, const struct tm_input *input)
{
    struct tm_run *const run = trace->run;
    struct view *const v = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*v), &run->error);
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);

    if (!v)
        return NULL;
    v->hlo = (struct tm_hlo){ .run = run, .trace = trace, .input = input };
    v->hlo.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    v->hlo.compact = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    v->hlo.operands =
        tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_OPERANDS_MOST * sizeof(*v->hlo.operands), &run->error);
    v->hlo.files = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(tm_strid), share / 64);
    v->hlo.locations = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_location), share / 32);
    v->hlo.frames = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(uint64_t), share / 64);
    if (!tm_failed(run))
        return v;
    view_free(v);
    return NULL;
}

/* out: its row */
static struct tm_hlo_module choose_module(struct view *v, uint64_t number)
{
    const struct tm_hlo_module row = *(const struct tm_hlo_module *)tm_rows_at(v->hlo.trace->hlo_modules, number);

    v->module = (struct hlo_module){ .program = { .begin = row.begin, .end = row.end } };
    return row;
}

static const char *text_of(const struct view *v, tm_strid id)
{
    return tm_names_text(v->hlo.trace->names, id, TEXT_BYTES, NULL);
}

/* --- texts --- */

static tm_strid put(struct view *v, struct tm_text text)
{
    return text.length ? tm_names_put(v->hlo.trace->names, text.at, text.length < TEXT_BYTES ? text.length : TEXT_BYTES)
                       : 0;
}

/* Store what was written into v->text; a long one ends in "...". */
static tm_strid put_written(struct view *v, struct tm_hlo_text *text)
{
    if (text->cut) {
        memcpy(text->at + text->length, "...", 3);
        text->length += 3;
    }
    return text->length ? tm_names_put(v->hlo.trace->names, text->at, text->length) : 0;
}

/* --- entries --- */

static struct entry *find_entry(struct view *v, int64_t id, uint64_t computation)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->entries[i].id == id && v->entries[i].computation == computation)
            return &v->entries[i];
    return NULL;
}

static void want_operands(struct view *v, struct entry *e, const struct tm_hlo_instruction *in)
{
    e->operand_count = in->operand_count;
    e->first_wanted = v->wanted_count;
    for (uint32_t i = 0; i < in->operand_count && i < OPERANDS_MOST && v->wanted_count < WANTED_MOST; i++, e->wanted++)
        v->wanted[v->wanted_count++] = (struct wanted){ .id = (int64_t)in->operands[i], .computation = v->computation };
}

static void take_fields(struct view *v, struct entry *e, const struct tm_hlo_instruction *in)
{
    struct tm_hlo_text text = { .at = v->text, .room = TEXT_BYTES, .has_layouts = true };
    struct tm_hlo_shape shape;
    struct tm_wire w = in->all;
    struct tm_field field;

    tm_hlo_shape_read(in->shape, &shape, &text);
    e->bytes = shape.bytes;
    e->has_bytes = shape.has_bytes && in->shape.at;
    e->shape = in->shape.at ? put_written(v, &text) : 0;
    while (tm_wire_next(&w, &field)) {
        if (field.key == TM_WIRE_KEY(IN_SHARDING, TM_WIRE_LEN)) {
            text = (struct tm_hlo_text){ .at = v->text, .room = TEXT_BYTES };
            tm_hlo_write_sharding(&text, tm_wire_of(&field));
            e->sharding = put_written(v, &text);
        } else if (field.key == TM_WIRE_KEY(IN_FUSION_KIND, TM_WIRE_LEN)) {
            e->fusion_kind = put(v, (struct tm_text){ (const char *)field.bytes, (size_t)field.value });
        }
    }
}

static void add(struct view *v, const struct tm_hlo_instruction *in, enum relation relation, uint8_t level)
{
    const uint64_t most = relation == BODY ? BODY_MOST : NEAR_MOST;
    struct entry *e;

    if (++v->found[relation][level] > most || v->count == ENTRIES_MOST)
        return;
    e = &v->entries[v->count++];
    *e = (struct entry){ .id = in->id, .computation = v->computation, .relation = (uint8_t)relation, .level = level };
    e->name = put(v, in->name);
    e->opcode = put(v, in->opcode);
    e->path = put(v, in->path);
    e->target = put(v, in->target);
    e->source = tm_hlo_source(&v->hlo, &v->module, in);
    e->in = put(v, (struct tm_text){ v->computation_name, strlen(v->computation_name) });
    take_fields(v, e, in);
    want_operands(v, e, in);
}

/* --- passes --- */

static bool is_self(const struct view *v, const struct tm_hlo_instruction *in)
{
    return in->name.length && tm_text_is(in->name, v->name);
}

static void take_self(struct view *v, const struct tm_hlo_instruction *in)
{
    struct tm_hlo_numbers called;
    uint64_t id;

    if (v->count || !is_self(v, in))
        return;
    add(v, in, SELF, 0);
    v->self_computation = v->computation;
    called = tm_hlo_numbers_of(in->all, IN_CALLED);
    while (v->called_count < TM_HLO_CALLED_MOST && tm_hlo_next_number(&called, &id))
        v->called[v->called_count++] = id;
}

static void end_self(struct view *v, int64_t id, bool is_fusion)
{
    (void)is_fusion;
    if (v->count && v->self_computation == v->computation)
        v->self_computation_id = id;
}

static bool uses(const struct tm_hlo_instruction *in, int64_t id)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if ((int64_t)in->operands[i] == id)
            return true;
    return false;
}

static bool is_operand_of(const struct view *v, const struct entry *e, int64_t id)
{
    for (uint32_t i = 0; i < e->wanted; i++)
        if (v->wanted[e->first_wanted + i].id == id)
            return true;
    return false;
}

static bool calls(const struct tm_hlo_instruction *in, int64_t computation)
{
    struct tm_hlo_numbers called = tm_hlo_numbers_of(in->all, IN_CALLED);
    uint64_t id;

    while (tm_hlo_next_number(&called, &id))
        if ((int64_t)id == computation)
            return true;
    return false;
}

static void take_first_level(struct view *v, const struct tm_hlo_instruction *in)
{
    const struct entry *const self = &v->entries[0];

    if (calls(in, v->self_computation_id))
        add(v, in, CALLER, 1);
    if (v->computation != v->self_computation || in->id == self->id)
        return;
    if (is_operand_of(v, self, in->id))
        add(v, in, OPERAND, 1);
    else if (uses(in, self->id))
        add(v, in, USER, 1);
}

static void end_first_level(struct view *v, int64_t id, bool is_fusion)
{
    (void)is_fusion;
    for (uint32_t i = 0; i < v->called_count; i++)
        if ((int64_t)v->called[i] == id && v->body_count < TM_HLO_CALLED_MOST) {
            v->bodies[v->body_count++] = v->computation;
            return;
        }
}

static bool is_second_level(const struct view *v, const struct tm_hlo_instruction *in, enum relation relation)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct entry *const e = &v->entries[i];

        if (e->level == 1 && e->relation == relation &&
            (relation == OPERAND ? is_operand_of(v, e, in->id) : uses(in, e->id)))
            return true;
    }
    return false;
}

static void take_second_level(struct view *v, const struct tm_hlo_instruction *in)
{
    for (uint32_t i = 0; i < v->body_count; i++)
        if (v->bodies[i] == v->computation) {
            add(v, in, BODY, 1);
            return;
        }
    if (v->computation != v->self_computation || find_entry(v, in->id, v->computation))
        return;
    if (is_second_level(v, in, OPERAND))
        add(v, in, OPERAND, 2);
    else if (is_second_level(v, in, USER))
        add(v, in, USER, 2);
}

static int by_place(const void *a, const void *b, void *of)
{
    const struct wanted *const wanted = of;
    const struct wanted *const x = &wanted[*(const uint16_t *)a], *const y = &wanted[*(const uint16_t *)b];

    if (x->computation != y->computation)
        return x->computation < y->computation ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void take_names(struct view *v, const struct tm_hlo_instruction *in)
{
    uint32_t low = 0, high = v->wanted_count;

    while (low < high) { /* the first that is not before it */
        const uint32_t middle = low + (high - low) / 2;
        const struct wanted *const w = &v->wanted[v->order[middle]];
        const bool is_before = w->computation != v->computation ? w->computation < v->computation : w->id < in->id;

        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < v->wanted_count; low++) {
        struct wanted *const w = &v->wanted[v->order[low]];

        if (w->computation != v->computation || w->id != in->id)
            return;
        w->name = put(v, in->name);
    }
}

/* --- rows --- */

static void add_name(struct view *v, struct tm_value *to, const char *key, tm_strid id)
{
    if (id)
        tm_add_string(to, key, text_of(v, id));
    else
        tm_add_null(to, key, "not recorded");
}

static void add_operands(struct view *v, struct tm_value *to, const struct entry *e)
{
    struct tm_value *const list = tm_add_array(to, "operands");

    for (uint32_t i = 0; i < e->wanted; i++) {
        const struct wanted *const w = &v->wanted[e->first_wanted + i];

        if (w->name)
            tm_add_string(list, NULL, text_of(v, w->name));
        else
            tm_add_printed(list, NULL, "#%lld", (long long)w->id);
    }
    tm_add_uint(to, "operand_count", e->operand_count);
}

/* Adds its computed figures.  in: op  NULL = nothing */
static void add_costs(struct view *v, struct tm_value *to, const struct tm_hlo_op *op)
{
    if (op && op->has_flops)
        tm_add_uint(to, "flops", op->flops);
    else
        tm_add_null(to, "flops", "not known");
    if (op && op->has_bytes)
        tm_add_uint(to, "bytes_accessed", op->bytes);
    else
        tm_add_null(to, "bytes_accessed", "not known");
    add_name(v, to, "replica_groups", op ? op->groups : 0);
}

static void add_entry(struct view *v, struct tm_value *rows, const struct entry *e, const char *program,
                      const struct tm_hlo_op *op)
{
    struct tm_value *const row = tm_add_object(rows, NULL);

    tm_add_string(row, "relation", relation_name[e->relation]);
    tm_add_int(row, "level", e->level);
    add_name(v, row, "name", e->name);
    add_name(v, row, "opcode", e->opcode);
    add_name(v, row, "shape", e->shape);
    if (e->has_bytes)
        tm_add_uint(row, "bytes", e->bytes);
    else
        tm_add_null(row, "bytes", "not known");
    add_operands(v, row, e);
    add_name(v, row, "fusion_kind", e->fusion_kind);
    add_name(v, row, "target", e->target);
    add_name(v, row, "path", e->path);
    add_name(v, row, "source", e->source);
    add_name(v, row, "sharding", e->sharding);
    add_costs(v, row, op);
    add_name(v, row, "computation", e->in);
    tm_add_string(row, "program", program);
}

/* Rows of trace->hlo_ops of the instructions; ops inside fusions have none. */
static void find_ops(struct view *v, const struct tm_hlo_module *module, uint32_t *ops)
{
    const struct tm_trace *const trace = v->hlo.trace;

    for (uint64_t n = 1; n < tm_rows_count(trace->hlo_ops) && !tm_failed(v->hlo.run); n++) {
        const struct tm_hlo_op *const op = tm_rows_at(trace->hlo_ops, n);

        if (op->program_id != module->program_id || op->module != module->name)
            continue;
        for (size_t i = 0; i < v->count; i++)
            if (v->entries[i].name == op->name && v->entries[i].relation != BODY)
                ops[i] = (uint32_t)n;
    }
}

static void print_program(const struct view *v, const struct tm_hlo_module *module, char *to, size_t room)
{
    const char *const name = text_of(v, module->name);
    const size_t length = strlen(name);

    if (length && name[length - 1] == ')') /* the number is part of its name */
        (void)snprintf(to, room, "%s", name);
    else
        (void)snprintf(to, room, "%s(%lld)", name, (long long)module->program_id);
}

static void add_entries(struct view *v, const struct tm_hlo_module *module, struct tm_value *root)
{
    struct tm_value *const rows = tm_add_array(root, "instructions");
    uint32_t *const ops =
        tm_take(&v->hlo.run->budget, TM_ACCOUNT_INPUT, ENTRIES_MOST * sizeof(*ops), &v->hlo.run->error);
    char program[TM_HLO_NAME];
    uint64_t found = 0;

    if (!ops)
        return;
    find_ops(v, module, ops);
    print_program(v, module, program, sizeof(program));
    for (int relation = 0; relation < RELATIONS; relation++)
        for (int level = 0; level < 3; level++) {
            found += v->found[relation][level];
            for (size_t i = 0; i < v->count && !tm_failed(v->hlo.run); i++) {
                struct tm_hlo_op op;

                if (v->entries[i].relation != relation || v->entries[i].level != level)
                    continue;
                if (ops[i])
                    op = *(const struct tm_hlo_op *)tm_rows_at(v->hlo.trace->hlo_ops, ops[i]);
                add_entry(v, rows, &v->entries[i], program, ops[i] ? &op : NULL);
            }
        }
    if (found > v->count)
        tm_add_uint(tm_add_object(root, "instructions_rest"), "rows", found - v->count);
    tm_give(&v->hlo.run->budget, TM_ACCOUNT_INPUT, ops, ENTRIES_MOST * sizeof(*ops));
}

/* The last part of "jit_step(8)/fusion.3" without its '%'. */
static const char *instruction_of(const char *typed)
{
    const char *const slash = strrchr(typed, '/');
    const char *const name = slash ? slash + 1 : typed;

    return *name == '%' ? name + 1 : name;
}

void tm_hlo_list_instructions(const struct tm_hlo_search *search, struct tm_trace *trace, const struct tm_input *input,
                              struct tm_value *root)
{
    static const struct pass frames = { .has_frames = true }, self = { .take = take_self, .end = end_self },
                             first = { .take = take_first_level, .end = end_first_level },
                             second = { .take = take_second_level }, names = { .take = take_names };
    struct view *const v = view_new(trace, input);

    if (!v)
        return;
    const struct tm_hlo_module module = choose_module(v, search->module);

    v->name = instruction_of(search->name);
    walk(v, &frames);
    walk(v, &self);
    if (v->count) {
        walk(v, &first);
        walk(v, &second);
        for (uint32_t i = 0; i < v->wanted_count; i++)
            v->order[i] = (uint16_t)i;
        qsort_r(v->order, v->wanted_count, sizeof(*v->order), by_place, v->wanted);
        walk(v, &names);
        add_entries(v, &module, root);
    }
    view_free(v);
}

/* --- the search --- */

static void look(struct view *v, const struct tm_hlo_instruction *in)
{
    struct tm_hlo_search *const s = v->search;
    struct tm_nearest nearest = { .word = *s->nearest ? "" : NULL, .distance = s->distance };

    if (is_self(v, in))
        v->is_found = true;
    if (v->is_found || s->matches || !in->name.length || in->name.length >= TM_HLO_NAME)
        return;
    (void)snprintf(s->nearest_room, sizeof(s->nearest_room), "%.*s", (int)in->name.length, in->name.at);
    tm_nearest_offer(&nearest, v->name, s->nearest_room);
    if (!nearest.word || !*nearest.word)
        return;
    s->distance = nearest.distance;
    (void)snprintf(s->nearest, sizeof(s->nearest), "%s", s->nearest_room);
}

/* Whether the text before the '/' means this program: its name, with or without its number, or its number. */
static bool is_program(const struct view *v, const struct tm_hlo_module *module, const char *typed, const char *full)
{
    const char *const slash = strrchr(typed, '/');
    const size_t length = slash ? (size_t)(slash - typed) : 0;
    const char *const name = text_of(v, module->name);
    char number[32];

    (void)snprintf(number, sizeof(number), "%lld", (long long)module->program_id);
    return !slash || (strlen(full) == length && !strncmp(typed, full, length)) ||
           (strlen(name) == length && !strncmp(typed, name, length)) ||
           (strlen(number) == length && !strncmp(typed, number, length));
}

/* Whether another host has it, too.  in: others  "a/x, b/x" */
static bool is_listed(const char *others, const char *place)
{
    const size_t length = strlen(place);

    for (const char *at = others; (at = strstr(at, place)); at += length)
        if ((at == others || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

void tm_hlo_search(struct tm_hlo_search *search, struct tm_trace *trace, const struct tm_input *input)
{
    static const struct pass pass = { .take = look };
    struct view *const v = view_new(trace, input);
    char program[TM_HLO_NAME], place[2 * TM_HLO_NAME + 4];

    if (!v)
        return;
    v->search = search;
    v->name = instruction_of(search->name);
    for (uint64_t n = 0; n < tm_rows_count(trace->hlo_modules) && !tm_failed(v->hlo.run); n++) {
        const struct tm_hlo_module module = choose_module(v, n);
        const size_t used = strlen(search->others);

        search->programs++;
        print_program(v, &module, program, sizeof(program));
        (void)snprintf(place, sizeof(place), "%s/%s", program, v->name);
        if (!is_program(v, &module, search->name, program))
            continue;
        v->is_found = false;
        walk(v, &pass);
        if (!v->is_found || is_listed(search->others, place))
            continue;
        if (search->matches++ == 0) {
            search->host = trace->host;
            search->module = (uint32_t)n;
        }
        if (used + strlen(place) + 6 < sizeof(search->others))
            (void)snprintf(search->others + used, sizeof(search->others) - used, "%s%s", used ? ", " : "", place);
    }
    view_free(v);
}

/* --- programs and their buffers --- */

static const char *const buffer_kind_name[TM_HLO_BUFFER_KINDS] = { "argument", "constant", "output", "temporary" };

static void add_sizes(struct view *v, struct tm_value *row, const struct tm_hlo_memory *m)
{
    static const char *const keys[TM_HLO_BUFFER_KINDS] = { "argument_bytes", "constant_bytes", "output_bytes",
                                                           "temporary_bytes" };
    const char *const why = m->overflows ? "the sizes do not add up" : "the profile has no buffer assignment of it";
    const bool is_known = m->is_recorded && !m->overflows;
    uint64_t sum = 0;
    bool overflows = false;

    for (int i = 0; i < TM_HLO_BUFFER_KINDS; i++)
        overflows |= __builtin_add_overflow(sum, m->bytes[i], &sum);
    if (is_known && !overflows)
        tm_add_uint(row, "peak_bytes", sum);
    else
        tm_add_null(row, "peak_bytes", why);
    for (int i = 0; i < TM_HLO_BUFFER_KINDS; i++)
        if (is_known)
            tm_add_uint(row, keys[i], m->bytes[i]);
        else
            tm_add_null(row, keys[i], why);
    if (is_known && m->has_heap)
        tm_add_uint(row, "heap_peak_bytes", m->heap_peak);
    else
        tm_add_null(row, "heap_peak_bytes", "the profile has no heap of it");
    add_name(v, row, "peak_at", is_known ? m->peak_at : 0);
}

/* The first buffers get the names, shapes, and places of their instructions. */
static bool is_made_by(const struct tm_hlo_buffer *buffer, const struct tm_hlo_instruction *in, tm_strid name)
{
    return buffer->instruction ? buffer->instruction == in->id : buffer->name && buffer->name == name;
}

static void take_buffer_makers(struct view *v, const struct tm_hlo_instruction *in)
{
    const struct tm_hlo_memory *const m = v->memory;
    tm_strid name = 0;

    for (size_t i = 0; i < m->live_count; i++) {
        struct entry *const e = &v->entries[i];
        struct tm_hlo_text text = { .at = v->text, .room = TEXT_BYTES };
        struct tm_hlo_shape shape;

        if (!name && !m->live[i].instruction)
            name = put(v, in->name);
        if (!is_made_by(&m->live[i], in, name) || e->name)
            continue;
        tm_hlo_shape_read(in->shape, &shape, &text);
        e->shape = in->shape.at ? put_written(v, &text) : 0;
        e->name = put(v, in->name);
        e->opcode = put(v, in->opcode);
        e->path = put(v, in->path);
        e->source = tm_hlo_source(&v->hlo, &v->module, in);
    }
}

static void list_live(struct view *v, const struct tm_hlo_memory *m, const char *program, struct tm_value *list)
{
    static const struct pass frames = { .has_frames = true }, makers = { .take = take_buffer_makers };

    v->memory = m;
    memset(v->entries, 0, m->live_count * sizeof(*v->entries));
    walk(v, &frames);
    walk(v, &makers);
    for (size_t i = 0; i < m->live_count && !tm_failed(v->hlo.run); i++) {
        const struct entry *const e = &v->entries[i];
        struct tm_value *const row = tm_add_object(list, NULL);

        tm_add_string(row, "program", program);
        tm_add_string(row, "host", v->hlo.trace->host_name);
        add_name(v, row, "name", e->name ? e->name : m->live[i].name);
        tm_add_string(row, "kind", buffer_kind_name[m->live[i].kind]);
        tm_add_uint(row, "bytes", m->live[i].bytes);
        add_name(v, row, "shape", e->shape);
        add_name(v, row, "opcode", e->opcode);
        add_name(v, row, "path", e->path);
        add_name(v, row, "source", e->source);
        tm_add_uint(row, "allocation", m->live[i].index);
    }
}

static void list_largest(struct view *v, const struct tm_hlo_memory *m, const char *program, struct tm_value *list)
{
    for (size_t i = 0; i < m->largest_count; i++) {
        struct tm_value *const buffer = tm_add_object(list, NULL);

        tm_add_string(buffer, "program", program);
        tm_add_string(buffer, "host", v->hlo.trace->host_name);
        tm_add_uint(buffer, "allocation", m->largest[i].index);
        tm_add_string(buffer, "kind", buffer_kind_name[m->largest[i].kind]);
        tm_add_uint(buffer, "bytes", m->largest[i].bytes);
        tm_add_uint(buffer, "values", m->largest[i].values);
    }
}

void tm_hlo_list_programs(struct tm_trace *trace, const struct tm_input *input, const struct tm_hlo_lists *lists)
{
    struct view *const v = view_new(trace, input);
    char name[TM_HLO_NAME];
    struct tm_hlo_memory memory;

    for (uint64_t n = 0; v && n < tm_rows_count(trace->hlo_modules) && !tm_failed(v->hlo.run); n++) {
        const struct tm_hlo_module module = choose_module(v, n);
        struct tm_value *const row = tm_add_object(lists->programs, NULL);

        print_program(v, &module, name, sizeof(name));
        tm_hlo_read_memory(&v->hlo, &v->module.program, &memory);
        tm_add_string(row, "name", name);
        tm_add_string(row, "host", trace->host_name);
        tm_add_uint(row, "instructions", module.instructions);
        tm_add_uint(row, "hlo_bytes", module.end - module.begin);
        add_sizes(v, row, &memory);
        add_name(v, row, "parameters", module.shapes);
        add_name(v, row, "problem", module.why);
        if (!memory.is_recorded)
            continue;
        list_largest(v, &memory, name, lists->buffers);
        list_live(v, &memory, name, lists->peak);
    }
    if (v)
        view_free(v);
}
