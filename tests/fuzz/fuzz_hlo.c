/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a compiled program (an HloProto), twice in one profile under two ids.  Beside what the sanitizers see: two
 * results of the same bytes; ops that a config with their name does not find; figures without their flag; handles and
 * ranges past their end; memory that is not given back.
 * An input that begins with 0xfe or 0xff is an instruction with a large literal.
 * Seeds: programs, which seeds_hlo.py makes. */
#include <string.h>

#include "pipeline/doc/doc.h"
#include "stages/input/hlo/hlo.h"
#include "tests/fuzz/fuzz_job.h"

enum { LARGE = 300 << 10, TABLE = 256 << 10, PREFIX = 4, FIRST_ID = 7 };

static const char prefix[PREFIX] = "plan"; /* so that it is unwrapped as nothing */

struct reading {
    struct tm_run run;
    struct tm_input input;
    struct tm_trace trace;
    struct tm_hlo *hlo;
};

static void begin(struct reading *r, const char *path)
{
    static const struct tm_hlo_op no_op;
    struct tm_run *const run = &r->run;
    struct tm_trace *const t = &r->trace;

    fuzz_run_init(run);
    *t = (struct tm_trace){ .run = run, .names = tm_names_new(run, TABLE, NULL), .host_name = "host" };
    t->configs = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), TABLE);
    t->hlo_ops = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), TABLE);
    t->hlo_modules = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_module), TABLE);
    FUZZ_REQUIRE(t->names && t->configs && t->hlo_ops && t->hlo_modules);
    tm_rows_append(t->hlo_ops, &no_op);
    FUZZ_REQUIRE(tm_input_open(&r->input, run, path) == TM_OK && tm_input_hold(&r->input) == TM_OK);
    r->hlo = tm_hlo_new(t, &r->input);
    FUZZ_REQUIRE(r->hlo != NULL);
}

static void end(struct reading *r)
{
    tm_hlo_free(r->hlo);
    tm_rows_free(r->trace.configs);
    tm_rows_free(r->trace.hlo_ops);
    tm_rows_free(r->trace.hlo_modules);
    tm_names_free(r->trace.names);
    tm_input_close(&r->input);
    fuzz_run_end(&r->run);
}

static const struct tm_hlo_op *op_at(struct reading *r, uint64_t number)
{
    const struct tm_hlo_op *const op = tm_rows_at(r->trace.hlo_ops, number);

    FUZZ_REQUIRE(op != NULL);
    return op;
}

/* One of its name is found, in its program. */
static void check_join(struct reading *r, const struct tm_hlo_op *op)
{
    struct tm_config config = { .hlo_op = op->name, .program_id = op->program_id, .module = op->module };
    size_t length;
    const char *const text = tm_names_text(r->trace.names, op->name, 0, &length);

    if (!op->name || length > 4096 || memmem(text, length, "::", 2))
        return; /* only the last part would be looked for */
    tm_hlo_join(r->hlo, &config);
    FUZZ_REQUIRE(config.hlo != 0);
    FUZZ_REQUIRE(tm_names_are_same(r->trace.names, op_at(r, config.hlo)->name, op->name));
}

static void check_op(struct reading *r, const struct tm_hlo_op *op)
{
    const uint64_t names = tm_names_count(r->trace.names);

    FUZZ_REQUIRE(op->name < names && op->opcode < names && op->module < names && op->path < names &&
                 op->source < names && op->target < names && op->groups < names);
    FUZZ_REQUIRE(op->precision < TM_PRECISION_COUNT && (op->has_flops || !op->flops) && (op->has_bytes || !op->bytes));
    FUZZ_REQUIRE(op->program_id == FIRST_ID || op->program_id == FIRST_ID + 1);
}

/* But for the program. */
static void require_same(const struct tm_hlo_op *a, const struct tm_hlo_op *b)
{
    FUZZ_REQUIRE(a->program_id + 1 == b->program_id);
    FUZZ_REQUIRE(a->name == b->name && a->opcode == b->opcode && a->module == b->module && a->path == b->path &&
                 a->source == b->source && a->target == b->target && a->groups == b->groups);
    FUZZ_REQUIRE(a->flops == b->flops && a->bytes == b->bytes && a->message_bytes == b->message_bytes &&
                 a->group_size == b->group_size && a->precision == b->precision);
    FUZZ_REQUIRE(a->has_flops == b->has_flops && a->has_bytes == b->has_bytes && a->has_matrix == b->has_matrix &&
                 a->has_softmax == b->has_softmax && a->is_batched == b->is_batched && a->is_host == b->is_host &&
                 a->is_fusion == b->is_fusion);
}

/* Each op of the first program is one of the second. */
static void compare(struct reading *r)
{
    const uint64_t count = tm_rows_count(r->trace.hlo_ops) - 1;
    const struct tm_hlo_module *module;
    uint64_t instructions;

    FUZZ_REQUIRE(count % 2 == 0 && tm_rows_count(r->trace.hlo_modules) == 2);
    for (uint64_t i = 1; i <= count / 2; i++) {
        const struct tm_hlo_op one = *op_at(r, i), other = *op_at(r, i + count / 2);

        check_op(r, &one);
        check_join(r, &one);
        require_same(&one, &other);
    }
    module = tm_rows_at(r->trace.hlo_modules, 0);
    instructions = module->instructions;
    FUZZ_REQUIRE(instructions >= count / 2 && instructions <= r->input.bytes &&
                 (!module->why || tm_names_count(r->trace.names)));
    module = tm_rows_at(r->trace.hlo_modules, 1);
    FUZZ_REQUIRE(module->instructions == instructions);
}

/* What `show` prints of it: the programs, and the first op with what is around it. */
static void view(struct reading *r)
{
    static struct tm_hlo_search search;
    char name[TM_HLO_NAME];
    struct tm_doc *const doc = tm_doc_new(&r->run);
    struct tm_value *const root = tm_doc_root(doc);
    struct tm_hlo_lists lists;
    size_t length;

    FUZZ_REQUIRE(doc != NULL);
    lists.programs = tm_add_array(root, "programs");
    lists.buffers = tm_add_array(root, "buffers");
    lists.peak = tm_add_array(root, "peak");
    tm_hlo_list_programs(&r->trace, &r->input, &lists);
    FUZZ_REQUIRE(tm_failed(&r->run) || tm_length(lists.programs) == 2);
    search = (struct tm_hlo_search){ .name = name };
    if (tm_rows_count(r->trace.hlo_ops) > 1 && !tm_failed(&r->run)) {
        (void)snprintf(name, sizeof(name), "%s",
                       tm_names_text(r->trace.names, op_at(r, 1)->name, TM_HLO_NAME - 1, &length));
        tm_hlo_search(&search, &r->trace, &r->input);
        FUZZ_REQUIRE(search.programs == 2 && search.matches <= 2);
    }
    if (search.matches && !tm_failed(&r->run)) {
        tm_hlo_list_instructions(&search, &r->trace, &r->input, root);
        FUZZ_REQUIRE(tm_failed(&r->run) || tm_length(tm_get(root, "instructions")) > 0);
    }
    tm_doc_free(doc);
}

static void use_file(const char *path, size_t size)
{
    const uint64_t length = (size - PREFIX) / 2;
    static struct reading r;

    begin(&r, path);
    for (uint64_t i = 0; i < 2; i++) {
        const struct tm_hlo_program program = {
            .begin = PREFIX + i * length, .end = PREFIX + (i + 1) * length, .id = FIRST_ID + (int64_t)i, .has_id = true
        };

        tm_hlo_add(r.hlo, &program);
    }
    tm_hlo_read(r.hlo);
    if (!tm_failed(&r.run)) {
        compare(&r);
        view(&r);
    }
    if (tm_failed(&r.run))
        FUZZ_REQUIRE(r.run.error.what[0] != '\0');
    end(&r);
}

static void use_twice(const uint8_t *data, size_t size)
{
    uint8_t *const twice = malloc(PREFIX + 2 * size);

    FUZZ_REQUIRE(twice != NULL);
    memcpy(twice, prefix, PREFIX);
    if (size) {
        memcpy(twice + PREFIX, data, size);
        memcpy(twice + PREFIX + size, data, size);
    }
    fuzz_with_file(twice, PREFIX + 2 * size, use_file);
    free(twice);
}

/* The head of a message of so many bytes.  out: bytes of it */
static size_t put_head(uint8_t *to, uint8_t field, size_t length)
{
    size_t n = 0;

    to[n++] = (uint8_t)(field << 3 | 2);
    for (; length > 0x7f; length >>= 7)
        to[n++] = (uint8_t)(length | 0x80);
    to[n++] = (uint8_t)length;
    return n;
}

/* The bytes as the fields of an instruction that has a literal before or behind them, larger than what is read at once. */
static void use_large(const uint8_t *data, size_t size, bool is_before)
{
    static uint8_t program[LARGE + 64 + (64 << 10)];
    const size_t room = 64, literal_at = room + (is_before ? 0 : size);
    uint8_t head[16];
    size_t n, begin = room, length = size + LARGE;

    if (length + room > sizeof(program) - sizeof(head))
        return;
    n = put_head(head, 8, LARGE - 4); /* of four bytes */
    memset(program, 0, sizeof(program));
    memcpy(program + literal_at, head, n);
    memcpy(program + (is_before ? room + LARGE : room), data, size);
    /* instruction in computation in module in proto */
    for (const uint8_t *field = (const uint8_t[]){ 2, 3, 1, 0 }; *field; field++) {
        n = put_head(head, *field, length);
        begin -= n;
        length += n;
        memcpy(program + begin, head, n);
    }
    use_twice(program + begin, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] >= 0xfe) /* begins no program */
        use_large(data + 1, size - 1, data[0] == 0xfe);
    else
        use_twice(data, size);
    return 0;
}
