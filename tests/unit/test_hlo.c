/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by hand, in profiles made by hand, and what is told of their ops. */
#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/input/hlo/hlo_private.h"
#include "stages/input/xspace/xspace_private.h"
#include "tests/support/xspace_run.h"

enum { F32 = 11, BF16 = 16, S32 = 4, F8 = 20, S8 = 2, TUPLE = 13 };
enum { IDS_MOST = 8 };

/* --- programs by hand --- */

static void put_text(struct xb_bytes *to, uint32_t field, const char *text)
{
    xb_chunk(to, field, text, strlen(text));
}

/* The bytes of a message go into another one, and are freed. */
static void put_message(struct xb_bytes *to, uint32_t field, struct xb_bytes *message)
{
    xb_chunk(to, field, message->at, message->length);
    xb_free(message);
}

static void put_packed(struct xb_bytes *to, uint32_t field, const uint64_t *values, size_t count)
{
    struct xb_bytes packed = { .length = 0 };

    for (size_t i = 0; i < count; i++)
        xb_varint(&packed, values[i]);
    put_message(to, field, &packed);
}

struct array {
    uint64_t type;
    size_t rank;
    uint64_t dims[6];
};
#define COUNT_OF(...) (sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define ARRAY(type, ...) ((struct array){ type, COUNT_OF(__VA_ARGS__), { __VA_ARGS__ } })
#define SCALAR(element) ((struct array){ .type = element })

static struct xb_bytes shape_of(struct array array)
{
    struct xb_bytes shape = { .length = 0 };

    xb_number(&shape, 2, array.type);
    if (array.rank)
        put_packed(&shape, 3, array.dims, array.rank);
    return shape;
}

static struct xb_bytes tuple_of(struct array a, struct array b)
{
    struct xb_bytes tuple = { .length = 0 }, part = shape_of(a);

    xb_number(&tuple, 2, TUPLE);
    put_message(&tuple, 4, &part);
    part = shape_of(b);
    put_message(&tuple, 4, &part);
    return tuple;
}

struct ids {
    size_t count;
    uint64_t at[IDS_MOST];
};
#define IDS(...) ((struct ids){ COUNT_OF(__VA_ARGS__), { __VA_ARGS__ } })
#define NO_IDS ((struct ids){ .count = 0 })

/* An instruction without its end: more may be put into it before it goes into its computation. */
static struct xb_bytes op(uint64_t id, const char *name, const char *opcode, struct xb_bytes shape, struct ids operands)
{
    struct xb_bytes in = { .length = 0 };

    put_text(&in, 1, name);
    put_text(&in, 2, opcode);
    put_message(&in, 3, &shape);
    xb_number(&in, 35, id);
    if (operands.count)
        put_packed(&in, 36, operands.at, operands.count);
    return in;
}

static struct xb_bytes array_op(uint64_t id, const char *name, const char *opcode, struct array array,
                                struct ids operands)
{
    return op(id, name, opcode, shape_of(array), operands);
}

static void add(struct xb_bytes *computation, struct xb_bytes instruction)
{
    put_message(computation, 2, &instruction);
}

static void parameter(struct xb_bytes *computation, uint64_t id, uint64_t number, struct array array)
{
    char name[32];
    struct xb_bytes in;

    (void)snprintf(name, sizeof(name), "param.%llu", (unsigned long long)id);
    in = array_op(id, name, "parameter", array, NO_IDS);
    xb_number(&in, 9, number);
    add(computation, in);
}

static struct xb_bytes calling(struct xb_bytes instruction, uint64_t computation)
{
    put_packed(&instruction, 38, &computation, 1);
    return instruction;
}

static struct xb_bytes dotting(struct xb_bytes instruction, uint64_t contracted, bool batched)
{
    static const uint64_t first = 0;
    struct xb_bytes dot = { .length = 0 };

    put_packed(&dot, 1, &contracted, 1);
    if (batched)
        put_packed(&dot, 3, &first, 1);
    put_message(&instruction, 30, &dot);
    return instruction;
}

/* The end of a computation, which goes into its module. */
static void end(struct xb_bytes *module, struct xb_bytes *computation, uint64_t id, uint64_t root, bool is_fusion)
{
    xb_number(computation, 5, id);
    xb_number(computation, 6, root);
    xb_number(computation, 7, is_fusion);
    put_message(module, 3, computation);
    *computation = (struct xb_bytes){ .length = 0 };
}

/* A profile that holds a module: the module's bytes are freed. */
static void put_module(struct xb_plane *plane, const char *entry, struct xb_bytes *module)
{
    struct xb_bytes proto = { .length = 0 };

    put_message(&proto, 1, module);
    xb_name_bytes(plane, entry, "Hlo Proto", &proto);
    xb_free(&proto);
}

struct fixture {
    struct xb_space *space;
    struct xb_plane *programs;
    struct xb_line *line; /* a stream of a GPU */
    struct xspace_run x;
};

static void begin(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    f->space = xb_space_new();
    f->line = xb_line(xb_plane(f->space, "/device:GPU:0"), 7, "Stream #7(Compute)", 0);
    f->programs = xb_plane(f->space, "/host:metadata");
}

static void scan(struct fixture *f, const struct xb_style *style)
{
    assert_int_equal(xspace_scan_space(&f->x, f->space, style), TM_OK);
}

static void finish(struct fixture *f)
{
    xspace_close(&f->x);
    xb_space_free(f->space);
}

/* A profile of one module. */
static void scan_module(struct fixture *f, struct xb_bytes *module)
{
    begin(f);
    put_text(module, 1, "jit_f");
    put_module(f->programs, "jit_f(7)", module);
    scan(f, NULL);
}

static const struct tm_hlo_op *find(struct fixture *f, const char *name, int64_t program)
{
    const struct tm_trace *trace = &f->x.host.trace;

    for (uint64_t i = 1; i < tm_rows_count(trace->hlo_ops); i++) {
        const struct tm_hlo_op *row = tm_rows_at(trace->hlo_ops, i);

        assert_non_null(row);
        if (row->program_id == program && !strcmp(xspace_text(&f->x, row->name), name))
            return tm_rows_at(trace->hlo_ops, i);
    }
    fail_msg("no op '%s' in program %lld", name, (long long)program);
    return NULL;
}

static const struct tm_hlo_op *op_of(struct fixture *f, const char *name)
{
    return find(f, name, 7);
}

static const struct tm_hlo_module *module_of(struct fixture *f, uint64_t number)
{
    return tm_rows_at(f->x.host.trace.hlo_modules, number);
}

#define FLOPS(f, name, expected)                                                                                       \
    do {                                                                                                               \
        assert_true(op_of(f, name)->has_flops);                                                                        \
        assert_int_equal(op_of(f, name)->flops, expected);                                                             \
    } while (0)
#define BYTES(f, name, expected)                                                                                       \
    do {                                                                                                               \
        assert_true(op_of(f, name)->has_bytes);                                                                        \
        assert_int_equal(op_of(f, name)->bytes, expected);                                                             \
    } while (0)

/* --- costs --- */

static void ops_cost_what_their_shapes_say(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
    struct fixture f;

    (void)state;
    parameter(&c, 1, 0, ARRAY(BF16, 4, 8, 16));
    parameter(&c, 2, 1, ARRAY(BF16, 4, 16, 32));
    parameter(&c, 3, 2, ARRAY(F32, 100));
    add(&c, dotting(array_op(10, "dot.1", "dot", ARRAY(F32, 4, 8, 32), IDS(1, 2)), 2, true));
    add(&c, dotting(array_op(11, "dot.2", "dot", ARRAY(BF16, 4, 8, 4, 8), IDS(1, 1)), 2, false));
    add(&c, array_op(12, "add.1", "add", ARRAY(F32, 100), IDS(3, 3)));
    add(&c, array_op(13, "copy.1", "copy", ARRAY(F32, 100), IDS(3)));
    add(&c, array_op(14, "reduce.1", "reduce", SCALAR(F32), IDS(3)));
    add(&c, array_op(15, "slice.1", "dynamic-slice", ARRAY(F32, 10), IDS(3)));
    add(&c, array_op(16, "strange.1", "what-is-this", ARRAY(F32, 10), IDS(3)));
    add(&c, array_op(17, "missing.1", "add", ARRAY(F32, 100), IDS(3, 999)));
    add(&c, array_op(18, "update.1", "dynamic-update-slice", ARRAY(F32, 100), IDS(3, 15)));
    add(&c, op(19, "copy-start.1", "copy-start", tuple_of(ARRAY(F32, 100), ARRAY(F32, 100)), IDS(3)));
    add(&c, array_op(20, "copy-done.1", "copy-done", ARRAY(F32, 100), IDS(19)));
    add(&c, array_op(21, "while.1", "while", ARRAY(F32, 100), IDS(3)));
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);

    FLOPS(&f, "dot.1", 2 * 4 * 8 * 32 * 16);
    BYTES(&f, "dot.1", 2 * 4 * 8 * 16 + 2 * 4 * 16 * 32 + 4 * 4 * 8 * 32);
    assert_int_equal(op_of(&f, "dot.1")->precision, TM_BF16);
    assert_true(op_of(&f, "dot.1")->is_batched && op_of(&f, "dot.1")->has_matrix);
    FLOPS(&f, "dot.2", 2 * 4 * 8 * 4 * 8 * 16);
    BYTES(&f, "dot.2", 2 * 4 * 8 * 16 + 2 * 4 * 8 * 4 * 8); /* one operand, read once */
    assert_false(op_of(&f, "dot.2")->is_batched);
    FLOPS(&f, "add.1", 100);
    BYTES(&f, "add.1", 800);
    assert_int_equal(op_of(&f, "add.1")->precision, TM_F32);
    FLOPS(&f, "copy.1", 0);
    assert_false(op_of(&f, "reduce.1")->has_flops);
    BYTES(&f, "reduce.1", 404);
    BYTES(&f, "slice.1", 80);
    BYTES(&f, "update.1", 80);
    BYTES(&f, "copy-start.1", 800);
    assert_false(op_of(&f, "copy-done.1")->has_bytes);
    assert_false(op_of(&f, "while.1")->has_bytes || op_of(&f, "while.1")->has_flops);
    assert_false(op_of(&f, "strange.1")->has_flops);
    FLOPS(&f, "missing.1", 100);
    assert_false(op_of(&f, "missing.1")->has_bytes);
    assert_int_equal(module_of(&f, 0)->instructions, 15);
    assert_int_equal(module_of(&f, 0)->program_id, 7);
    assert_int_equal(module_of(&f, 0)->why, 0);
    assert_int_equal(tm_rows_count(f.x.host.trace.hlo_ops), 1 + 12); /* parameters never run */
    finish(&f);
}

static struct xb_bytes custom(uint64_t id, const char *name, const char *target, const char *config, struct array array,
                              struct ids operands)
{
    struct xb_bytes in = op(id, name, "custom-call", tuple_of(array, ARRAY(S8, 1 << 20)), operands);

    put_text(&in, 28, target);
    put_text(&in, 43, config);
    return in;
}

static struct xb_bytes convolving(struct xb_bytes instruction, uint64_t output_feature)
{
    struct xb_bytes dims = { .length = 0 };

    xb_number(&dims, 4, output_feature);
    put_message(&instruction, 16, &dims);
    return instruction;
}

static void libraries_are_told_by_their_targets(void **state)
{
    static const char config[] = "{\"gemm_backend_config\":{\"dot_dimension_numbers\": "
                                 "{\"lhs_contracting_dimensions\" : [ \"1\" ],\"lhs_batch_dimensions\":[]}}}";
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
    struct fixture f;

    (void)state;
    parameter(&c, 1, 0, ARRAY(F8, 64, 32));
    parameter(&c, 2, 1, ARRAY(F8, 32, 16));
    parameter(&c, 3, 2, ARRAY(BF16, 1, 30, 30, 8));  /* input */
    parameter(&c, 4, 3, ARRAY(BF16, 3, 3, 8, 24));   /* kernel */
    parameter(&c, 5, 4, ARRAY(BF16, 1, 28, 28, 24)); /* output */
    add(&c, custom(10, "gemm.1", "__cublas$lt$matmul$f8", config, ARRAY(BF16, 64, 16), IDS(1, 2)));
    add(&c, custom(11, "gemm.2", "__cublas$gemm", "{}", ARRAY(BF16, 64, 16), IDS(1, 2)));
    add(&c, custom(12, "gemm.3", "__cublas$gemm", "{\"lhs_contracting_dimensions\":[\"9999999999\"]}",
                   ARRAY(BF16, 64, 16), IDS(1, 2)));
    add(&c, convolving(custom(13, "conv.1", "__cudnn$convForward", "", ARRAY(BF16, 1, 28, 28, 24), IDS(3, 4)), 3));
    add(&c, convolving(custom(14, "conv.2", "__cudnn$convBackwardInput", "", ARRAY(BF16, 1, 30, 30, 8), IDS(5, 4)), 3));
    add(&c, convolving(custom(15, "conv.3", "__cudnn$convBackwardFilter", "", ARRAY(BF16, 3, 3, 8, 24), IDS(3, 5)), 3));
    add(&c, convolving(array_op(16, "conv.4", "convolution", ARRAY(BF16, 1, 28, 28, 24), IDS(3, 4)), 3));
    add(&c, convolving(array_op(17, "conv.5", "convolution", ARRAY(BF16, 1, 28, 28, 24), IDS(3, 4)), 9));
    add(&c, custom(18, "call.1", "xla_ffi_python_gpu_callback", "", SCALAR(F32), NO_IDS));
    add(&c, custom(19, "call.2", "xla_python_cpu_callback", "", SCALAR(F32), NO_IDS));
    add(&c, custom(20, "call.3", "__flash_attention", "", SCALAR(F32), NO_IDS));
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);

    FLOPS(&f, "gemm.1", 2 * 64 * 16 * 32);
    BYTES(&f, "gemm.1", 64 * 32 + 32 * 16 + 2 * 64 * 16); /* without the working memory */
    assert_int_equal(op_of(&f, "gemm.1")->precision, TM_F8);
    assert_false(op_of(&f, "gemm.1")->is_batched);
    assert_true(op_of(&f, "gemm.2")->has_matrix);
    assert_false(op_of(&f, "gemm.2")->has_flops || op_of(&f, "gemm.3")->has_flops);
    for (int i = 1; i <= 4; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "conv.%d", i);
        FLOPS(&f, name, 2 * 28 * 28 * 24 * 3 * 3 * 8);
        assert_true(op_of(&f, name)->has_matrix);
    }
    assert_false(op_of(&f, "conv.5")->has_flops);
    assert_true(op_of(&f, "call.1")->is_host && op_of(&f, "call.2")->is_host);
    assert_false(op_of(&f, "call.3")->is_host || op_of(&f, "call.3")->has_flops || op_of(&f, "call.3")->has_matrix);
    assert_string_equal(xspace_text(&f.x, op_of(&f, "call.3")->target), "__flash_attention");
    finish(&f);
}

/* A computation of so many additions of 10 elements; it may call another one. */
static void additions(struct xb_bytes *module, uint64_t id, int count, uint64_t called)
{
    struct xb_bytes c = { .length = 0 };

    parameter(&c, 100 * id, 0, ARRAY(F32, 10));
    for (int i = 0; i < count; i++)
        add(&c, array_op(100 * id + 1 + (uint64_t)i, "add", "add", ARRAY(F32, 10), IDS(100 * id)));
    if (called)
        add(&c, calling(array_op(100 * id + 50, "inner", "fusion", ARRAY(F32, 10), IDS(100 * id)), called));
    end(module, &c, id, 100 * id + 50, true);
}

static void fusions_cost_what_is_in_them_in_any_order(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
    struct fixture f;

    (void)state;
    additions(&module, 4, 3, 5); /* calls what comes behind it */
    parameter(&c, 1, 0, ARRAY(F32, 10));
    add(&c, calling(array_op(10, "fusion.4", "fusion", ARRAY(F32, 10), IDS(1)), 4));
    add(&c, calling(array_op(11, "fusion.5", "fusion", ARRAY(F32, 10), IDS(1)), 5));
    add(&c, calling(array_op(12, "fusion.6", "fusion", ARRAY(F32, 10), IDS(1)), 6)); /* in a circle */
    add(&c, calling(array_op(13, "fusion.8", "fusion", ARRAY(F32, 10), IDS(1)), 8)); /* calls itself */
    add(&c, calling(array_op(14, "fusion.9", "fusion", ARRAY(F32, 10), IDS(1)), 9)); /* there is none */
    add(&c, array_op(15, "fusion.0", "fusion", ARRAY(F32, 10), IDS(1)));             /* calls nothing */
    add(&c, calling(array_op(16, "call.3", "call", ARRAY(F32, 10), IDS(1)), 3));     /* the entry itself */
    end(&module, &c, 3, 10, false);
    additions(&module, 5, 2, 0);
    additions(&module, 6, 1, 7);
    additions(&module, 7, 1, 6);
    additions(&module, 8, 1, 8);
    scan_module(&f, &module);

    FLOPS(&f, "fusion.4", 50);
    FLOPS(&f, "fusion.5", 20);
    BYTES(&f, "fusion.6", 80);
    for (size_t i = 0; i < 4; i++)
        assert_false(op_of(&f, (const char *[]){ "fusion.6", "fusion.8", "fusion.9", "fusion.0" }[i])->has_flops);
    assert_false(op_of(&f, "call.3")->has_flops);
    assert_true(op_of(&f, "fusion.4")->is_fusion);
    assert_int_equal(tm_rows_count(f.x.host.trace.hlo_ops), 1 + 7); /* nothing of what is fused */
    finish(&f);
}

static void a_fusion_is_what_is_in_it(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, in, note = { .length = 0 };
    struct fixture f;

    (void)state;
    parameter(&c, 100, 0, ARRAY(BF16, 8, 8));
    add(&c, array_op(101, "exponential", "exponential", ARRAY(BF16, 8, 8), IDS(100)));
    in = array_op(102, "divide", "divide", ARRAY(BF16, 8, 8), IDS(101, 100));
    put_text(&note, 2, "jit(f)/layer/div");
    put_text(&note, 3, "model.py");
    xb_number(&note, 4, 12);
    put_message(&in, 7, &note);
    add(&c, in);
    add(&c, dotting(array_op(103, "dot", "dot", ARRAY(F32, 8, 8), IDS(102, 102)), 1, true));
    end(&module, &c, 2, 103, true);
    parameter(&c, 1, 0, ARRAY(BF16, 8, 8));
    add(&c, calling(array_op(10, "fusion.1", "fusion", ARRAY(F32, 8, 8), IDS(1)), 2));
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);

    FLOPS(&f, "fusion.1", 64 + 64 + 2 * 64 * 8);
    assert_int_equal(op_of(&f, "fusion.1")->precision, TM_BF16);
    assert_true(op_of(&f, "fusion.1")->has_matrix && op_of(&f, "fusion.1")->is_batched);
    assert_true(op_of(&f, "fusion.1")->has_softmax);
    assert_string_equal(xspace_text(&f.x, op_of(&f, "fusion.1")->path), "jit(f)/layer/div");
    assert_string_equal(xspace_text(&f.x, op_of(&f, "fusion.1")->source), "model.py:12");
    finish(&f);
}

static void slices_are_what_is_read_and_written(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
    struct fixture f;

    (void)state;
    parameter(&c, 200, 0, ARRAY(F32, 50, 10)); /* sliced */
    parameter(&c, 201, 1, ARRAY(F32, 50, 10)); /* updated */
    parameter(&c, 202, 2, ARRAY(F32, 50, 10)); /* sliced, and read whole */
    parameter(&c, 203, 3, SCALAR(S32));
    add(&c, array_op(210, "bitcast", "bitcast", ARRAY(F32, 500), IDS(200)));
    add(&c, array_op(211, "slice", "dynamic-slice", ARRAY(F32, 10), IDS(210, 203)));
    add(&c, array_op(212, "slice", "slice", ARRAY(F32, 10), IDS(202)));
    add(&c, array_op(213, "negate", "negate", ARRAY(F32, 50, 10), IDS(202)));
    add(&c, array_op(214, "add", "add", ARRAY(F32, 10), IDS(211, 212)));
    add(&c, array_op(215, "update", "dynamic-update-slice", ARRAY(F32, 50, 10), IDS(201, 214, 203)));
    end(&module, &c, 2, 215, true);
    parameter(&c, 1, 0, ARRAY(F32, 50, 10));
    parameter(&c, 2, 1, ARRAY(F32, 50, 10));
    parameter(&c, 3, 2, ARRAY(F32, 50, 10));
    parameter(&c, 4, 3, SCALAR(S32));
    add(&c, calling(array_op(10, "fusion.1", "fusion", ARRAY(F32, 50, 10), IDS(1, 2, 3, 4)), 2));
    add(&c, calling(array_op(11, "fusion.2", "fusion", ARRAY(F32, 50, 10), IDS(1, 2, 1, 4)), 2));
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);

    BYTES(&f, "fusion.1", 40 + 0 + 2000 + 4 + 40);
    BYTES(&f, "fusion.2", 2000 + 0 + 4 + 40); /* one array, once sliced and once read whole */
    finish(&f);
}

/* --- collectives --- */

static struct xb_bytes grouped(struct xb_bytes in, struct ids first, struct ids second)
{
    struct ids groups[] = { first, second };

    for (size_t i = 0; i < 2; i++) {
        struct xb_bytes group = { .length = 0 };

        put_packed(&group, 1, groups[i].at, groups[i].count);
        if (groups[i].count)
            put_message(&in, 49, &group);
        else
            xb_free(&group);
    }
    return in;
}

/* {groups, devices} over a grid of 2 times 2 times 2, in another order. */
static struct xb_bytes gridded(struct xb_bytes in, uint64_t groups, uint64_t devices, struct ids order)
{
    static const uint64_t dims[] = { 2, 2, 2 };
    struct xb_bytes iota = { .length = 0 }, list = { .length = 0 };

    xb_number(&iota, 1, groups);
    xb_number(&iota, 2, devices);
    put_packed(&iota, 3, dims, 3);
    put_packed(&iota, 4, order.at, order.count);
    put_message(&list, 2, &iota);
    put_message(&in, 87, &list);
    return in;
}

static void collectives_tell_their_groups_and_messages(void **state)
{
    static const struct {
        const char *name, *groups;
        uint32_t size;
        uint64_t bytes;
    } rows[] = {
        { "all-reduce.1", "{{0,1},{2,3}}", 2, 400 }, { "all-gather.1", "{{0,2,4,6},{1,3,5,7}}", 4, 1600 },
        { "reduce-scatter.1", "", 8, 400 },          { "all-gather-start.1", "", 2, 1600 },
        { "permute.1", "{{0,1},{1,0}}", 2, 400 },    { "all-to-all.1", "", 2, 400 },
        { "all-reduce-done.1", "", 0, 0 }, /* of nothing that began */
        { "all-gather-done.1", "", 2, 1600 },        { "async.1", "{{5}}", 1, 400 },
        { "async-update.1", "{{5}}", 1, 400 },       { "async-done.1", "{{5}}", 1, 400 },
    };
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, pair = { .length = 0 }, devices = { .length = 0 };
    struct xb_bytes in;
    struct fixture f;

    (void)state;
    xb_number(&devices, 1, 2);
    xb_number(&devices, 2, 4);
    parameter(&c, 100, 0, ARRAY(F32, 100));
    add(&c, grouped(array_op(101, "wrapped", "all-reduce", ARRAY(F32, 100), IDS(100)), IDS(5), NO_IDS));
    end(&module, &c, 2, 101, false);
    parameter(&c, 1, 0, ARRAY(F32, 100));
    add(&c, grouped(array_op(10, "all-reduce.1", "all-reduce", ARRAY(F32, 100), IDS(1)), IDS(0, 1), IDS(2, 3)));
    add(&c, gridded(array_op(11, "all-gather.1", "all-gather", ARRAY(F32, 400), IDS(1)), 2, 4, IDS(2, 0, 1)));
    in = array_op(12, "reduce-scatter.1", "reduce-scatter", ARRAY(F32, 50), IDS(1));
    xb_number(&in, 26, 3); /* a channel: across partitions too */
    add(&c, in);
    add(&c, op(13, "all-gather-start.1", "all-gather-start", tuple_of(ARRAY(F32, 100), ARRAY(F32, 400)), IDS(1)));
    in = array_op(14, "permute.1", "collective-permute", ARRAY(F32, 100), IDS(1));
    xb_number(&pair, 2, 1);
    put_message(&in, 52, &pair);
    pair = (struct xb_bytes){ .length = 0 };
    xb_number(&pair, 1, 1);
    put_message(&in, 52, &pair);
    add(&c, in);
    add(&c, gridded(array_op(15, "all-to-all.1", "all-to-all", ARRAY(F32, 100), IDS(1)), 2, 4, IDS(0, 0, 1)));
    add(&c, array_op(16, "all-reduce-done.1", "all-reduce-done", ARRAY(F32, 100), IDS(10)));
    add(&c, calling(op(17, "async.1", "async-start", tuple_of(ARRAY(F32, 100), ARRAY(F32, 100)), IDS(1)), 2));
    add(&c, array_op(18, "all-gather-done.1", "all-gather-done", ARRAY(F32, 400), IDS(13)));
    add(&c, op(19, "async-update.1", "async-update", tuple_of(ARRAY(F32, 100), ARRAY(F32, 100)), IDS(17)));
    add(&c, array_op(20, "async-done.1", "async-done", ARRAY(F32, 100), IDS(19)));
    end(&module, &c, 1, 10, false);
    put_message(&module, 15, &devices);
    scan_module(&f, &module);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_hlo_op *row = op_of(&f, rows[i].name);
        const uint32_t size = row->group_size;
        const uint64_t bytes = row->message_bytes;

        assert_string_equal(xspace_text(&f.x, row->groups), rows[i].groups);
        assert_int_equal(size, rows[i].size);
        assert_int_equal(bytes, rows[i].bytes);
        assert_false(op_of(&f, rows[i].name)->has_flops);
    }
    finish(&f);
}

/* --- where it stands in the source --- */

static struct xb_bytes framed(uint64_t id, const char *name, uint64_t frame)
{
    struct xb_bytes in = array_op(id, name, "negate", SCALAR(F32), NO_IDS), note = { .length = 0 };

    xb_number(&note, 15, frame);
    put_message(&in, 7, &note);
    return in;
}

static void sources_come_from_frames(void **state)
{
    static const uint64_t locations[][2] = { { 2, 31 }, { 1, 0 }, { 9, 5 } }; /* file, line */
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, index = { .length = 0 };
    struct fixture f;

    (void)state;
    for (uint64_t frame = 0; frame <= 5; frame++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "op.%llu", (unsigned long long)frame);
        add(&c, framed(10 + frame, name, frame));
    }
    add(&c, framed(20, "op.far", UINT64_MAX));
    end(&module, &c, 1, 10, false);
    put_text(&index, 1, "a.py");
    put_text(&index, 1, "b.py");
    for (size_t i = 0; i < 3; i++) {
        struct xb_bytes location = { .length = 0 };

        xb_number(&location, 1, locations[i][0]);
        xb_number(&location, 3, locations[i][1]);
        put_message(&index, 3, &location);
    }
    for (uint64_t i = 1; i <= 4; i++) { /* the fourth names a location that there is not */
        struct xb_bytes frame = { .length = 0 };

        xb_number(&frame, 1, i);
        put_message(&index, 4, &frame);
    }
    put_message(&module, 17, &index);
    scan_module(&f, &module);
    assert_string_equal(xspace_text(&f.x, op_of(&f, "op.1")->source), "b.py:31");
    assert_string_equal(xspace_text(&f.x, op_of(&f, "op.2")->source), "a.py");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(op_of(&f, (const char *[]){ "op.0", "op.3", "op.4", "op.5", "op.far" }[i])->source, 0);
    finish(&f);
}

/* --- shapes --- */

static void shapes_of_parameters_are_written_as_hlo_does(void **state)
{
    struct xb_bytes module = { .length = 0 }, program = { .length = 0 }, shape;
    struct fixture f;

    (void)state;
    shape = shape_of(ARRAY(F32, 8, 128));
    put_message(&program, 1, &shape);
    shape = shape_of(SCALAR(S32));
    put_message(&program, 1, &shape);
    shape = tuple_of(ARRAY(BF16, 4), ARRAY(77, 1));
    put_message(&program, 1, &shape);
    shape = shape_of(SCALAR(F32));
    put_message(&program, 2, &shape);
    put_message(&module, 4, &program);
    scan_module(&f, &module);
    assert_string_equal(xspace_text(&f.x, module_of(&f, 0)->shapes), "f32[8,128], s32[], (bf16[4], ?[1])");
    finish(&f);
}

static void shapes_that_cannot_be_are_of_unknown_size(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, deep = shape_of(SCALAR(F32));
    struct fixture f;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct xb_bytes tuple = { .length = 0 };

        put_message(&tuple, 4, &deep);
        xb_number(&tuple, 2, TUPLE);
        deep = tuple;
    }
    add(&c, array_op(10, "large.1", "negate", ARRAY(F32, UINT64_C(1) << 40, UINT64_C(1) << 40), NO_IDS));
    add(&c, array_op(11, "large.2", "negate", ARRAY(F32, UINT64_C(1) << 62), NO_IDS));
    add(&c, array_op(12, "negative.1", "negate", ARRAY(F32, UINT64_MAX, 2), NO_IDS));
    add(&c, array_op(13, "strange.1", "negate", ARRAY(200, 8), NO_IDS));
    add(&c, op(14, "deep.1", "negate", deep, NO_IDS));
    add(&c, op(15, "none.1", "negate", (struct xb_bytes){ .length = 0 }, NO_IDS));
    add(&c, dotting(array_op(16, "dot.1", "dot", ARRAY(F32, 4), IDS(10, 10)), 0, false));
    add(&c, dotting(array_op(17, "dot.2", "dot", ARRAY(F32, 4), IDS(16, 16)), 9, false));
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);
    for (size_t i = 0; i < 6; i++)
        assert_false(
            op_of(&f, (const char *[]){ "large.1", "large.2", "negative.1", "strange.1", "deep.1", "none.1" }[i])
                ->has_bytes);
    assert_false(op_of(&f, "large.1")->has_flops || op_of(&f, "negative.1")->has_flops);
    FLOPS(&f, "large.2", UINT64_C(1) << 62);
    assert_false(op_of(&f, "dot.1")->has_flops || op_of(&f, "dot.2")->has_flops);
    assert_true(op_of(&f, "dot.2")->has_bytes);
    finish(&f);
}

/* --- joining --- */

/* A module of one instruction. */
static void put_small_module(struct fixture *f, const char *entry, const char *name, const char *instruction,
                             const char *source)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, in, note = { .length = 0 };

    put_text(&module, 1, name);
    in = array_op(10, instruction, "negate", ARRAY(F32, 10), NO_IDS);
    put_text(&note, 3, source);
    xb_number(&note, 4, 1);
    put_message(&in, 7, &note);
    add(&c, in);
    end(&module, &c, 1, 10, false);
    put_module(f->programs, entry, &module);
}

static void event(struct fixture *f, int64_t at_ns, const char *hlo_op, int64_t program_id, const char *module)
{
    xb_event(f->line, hlo_op, at_ns * 1000, 500);
    xb_ref(f->line, "kernel_details", "regs:8 grid:1,1,1 block:1,1,1");
    xb_ref(f->line, "hlo_op", hlo_op);
    if (program_id >= 0)
        xb_int(f->line, "program_id", program_id);
    if (module)
        xb_ref(f->line, "hlo_module", module);
}

/* What was joined with each event, in order: "program:source" of its op, or "-". */
struct joined {
    struct fixture *f;
    char text[32][64];
    size_t count;
};

static tm_status take_joined(void *to, const struct tm_event *e)
{
    struct joined *j = to;
    const struct tm_hlo_op *row = tm_rows_at(j->f->x.host.trace.hlo_ops, e->config->hlo);

    assert_non_null(row);
    assert_true(j->count < 32);
    if (e->config->hlo)
        (void)snprintf(j->text[j->count], sizeof(j->text[0]), "%lld:%s", (long long)row->program_id,
                       xspace_text(&j->f->x, e->config->source));
    else
        (void)snprintf(j->text[j->count], sizeof(j->text[0]), "-");
    j->count++;
    return TM_OK;
}

static void read_joined(struct fixture *f, struct joined *j, const struct xb_style *style)
{
    *j = (struct joined){ .f = f };
    scan(f, style);
    assert_int_equal(xspace_survey(&f->x, NULL), TM_OK);
    assert_int_equal(tm_host_events(&f->x.host, take_joined, j), TM_OK);
}

static void events_find_their_op(void **state)
{
    static const struct {
        const char *hlo_op;
        int64_t program;
        const char *module, *joined;
    } rows[] = {
        { "fusion.1", 4, NULL, "4:a.py:1" },
        { "fusion.1", 5, NULL, "5:b.py:1" },
        { "command.3::fusion.1", 5, NULL, "5:b.py:1" },
        { "fusion.1", 6, NULL, "-" },  /* another program */
        { "fusion.1", -1, NULL, "-" }, /* two programs have one */
        { "only.5", -1, NULL, "5:c.py:1" },
        { "only.5", 4, NULL, "-" }, /* not this one */
        { "zero.1", 0, "jit_zero", "0:z.py:1" },
        { "zero.1", -1, "jit_other", "0:z.py:1" },
        { "fusion.1", 0, "jit_zero", "-" },
        { "fusion.7", 5, NULL, "-" },
        { "::", 5, NULL, "-" },
    };
    const struct xb_style styles[] = {
        { .shuffle = 0 },
        { .shuffle = 5 },
        { .metadata_first = true, .keeps_zeros = true },
        { .unknown_fields = true, .groups = true, .long_numbers = true, .shuffle = 9 },
    };

    (void)state;
    for (size_t s = 0; s < sizeof(styles) / sizeof(styles[0]); s++) {
        struct fixture f;
        struct joined j;

        begin(&f);
        put_small_module(&f, "jit_f(4)", "jit_f", "fusion.1", "a.py");
        put_small_module(&f, "jit_f(5)", "jit_f", "fusion.1", "b.py");
        put_small_module(&f, "jit_g(99)", "jit_g", "only.5", "c.py");
        xb_name_number(f.programs, "jit_g(99)", "program_id", 5); /* before the number of the name */
        put_small_module(&f, "jit_zero(0)", "jit_zero", "zero.1", "z.py");
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            event(&f, (int64_t)i * 10, rows[i].hlo_op, rows[i].program, rows[i].module);
        read_joined(&f, &j, &styles[s]);
        assert_int_equal(j.count, sizeof(rows) / sizeof(rows[0]));
        for (size_t i = 0; i < j.count; i++)
            assert_string_equal(j.text[i], rows[i].joined);
        finish(&f);
    }
}

static void ops_of_a_tpu_find_theirs(void **state)
{
    static const char told[] = "%fusion.1 = f32[10]{0} fusion(f32[10]{0} %param)";
    static const char silent[] = "%only.5 = f32[10]{0} negate()";
    struct fixture f;
    struct joined j;
    struct xb_plane *plane;
    struct xb_line *line;

    (void)state;
    memset(&f, 0, sizeof(f));
    f.space = xb_space_new();
    plane = xb_plane(f.space, "/device:TPU:0");
    line = xb_line(plane, 2, "XLA Ops", 0);
    f.programs = xb_plane(f.space, "/host:metadata");
    put_small_module(&f, "jit_f(12190760917235803885)", "jit_f", "fusion.1", "a.py");
    put_small_module(&f, "jit_f(3)", "jit_f", "fusion.1", "b.py");
    put_small_module(&f, "jit_g(4)", "jit_g", "only.5", "c.py");
    xb_event(line, told, 0, 500);
    xb_name_number(plane, told, "program_id", UINT64_C(12190760917235803885));
    xb_name_text(plane, told, "source", "told.py:7");
    xb_display_name(plane, told, "fusion.1");
    xb_event(line, silent, 1000, 500);
    read_joined(&f, &j, NULL);
    assert_int_equal(j.count, 2);
    assert_string_equal(j.text[0], "-6255983156473747731:told.py:7");
    assert_string_equal(j.text[1], "4:c.py:1");
    finish(&f);
}

/* Ids hold the computation's and a small number: those of two programs must not meet. */
static void programs_keep_their_ids_apart(void **state)
{
    enum { PROGRAMS = 40, OPS = 20 };
    struct fixture f;

    (void)state;
    begin(&f);
    for (uint64_t p = 0; p < PROGRAMS; p++) {
        struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
        const uint64_t base = UINT64_C(3) << 32;
        char entry[32];

        parameter(&c, base, 0, ARRAY(F32, 100 + p));
        for (uint64_t i = 1; i < OPS; i++) {
            char name[16];

            (void)snprintf(name, sizeof(name), "op.%d", (int)i);
            add(&c, array_op(base + i, name, "negate", ARRAY(F32, 100 + p), IDS(base + i - 1)));
        }
        end(&module, &c, 3, base, false);
        (void)snprintf(entry, sizeof(entry), "jit_f(%d)", (int)p);
        put_module(f.programs, entry, &module);
    }
    scan(&f, NULL);
    assert_int_equal(tm_rows_count(f.x.host.trace.hlo_ops), 1 + PROGRAMS * (OPS - 1));
    for (uint64_t i = 1; i < tm_rows_count(f.x.host.trace.hlo_ops); i++) {
        const struct tm_hlo_op *row = tm_rows_at(f.x.host.trace.hlo_ops, i);

        assert_true(row->has_bytes);
        assert_int_equal(row->bytes, 8 * (100 + row->program_id));
    }
    finish(&f);
}

/* --- damage and size --- */

static struct xb_bytes a_module(void)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };

    additions(&module, 4, 3, 0);
    parameter(&c, 1, 0, ARRAY(F32, 10));
    add(&c, calling(array_op(10, "fusion.4", "fusion", ARRAY(F32, 10), IDS(1)), 4));
    add(&c, grouped(array_op(11, "all-reduce.1", "all-reduce", ARRAY(F32, 10), IDS(1)), IDS(0, 1), IDS(2, 3)));
    add(&c, dotting(array_op(12, "dot.1", "dot", SCALAR(F32), IDS(1, 1)), 0, false));
    end(&module, &c, 1, 10, false);
    return module;
}

/* Cut at every byte, and with each byte changed: whatever is told, nothing breaks. */
static void damaged_programs_do_no_harm(void **state)
{
    const struct xb_bytes whole = a_module();

    (void)state;
    for (size_t i = 0; i < whole.length; i += 3) {
        for (int way = 0; way < 2; way++) {
            struct xb_bytes module = { .length = 0 };
            struct fixture f;

            xb_raw(&module, whole.at, way ? whole.length : i);
            if (way)
                module.at[i] ^= (uint8_t)(1 << i % 8);
            scan_module(&f, &module);
            assert_int_equal(tm_rows_count(f.x.host.trace.hlo_modules), 1);
            finish(&f);
        }
    }
    free(whole.at);
}

static void what_is_damaged_says_so(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
    struct fixture f;

    (void)state;
    add(&c, array_op(10, "negate.1", "negate", ARRAY(F32, 10), NO_IDS));
    end(&module, &c, 1, 10, false);
    xb_key(&module, 3, 2); /* a computation longer than what is left */
    xb_varint(&module, 1 << 20);
    begin(&f);
    put_module(f.programs, "jit_f(7)", &module);
    scan(&f, NULL);
    FLOPS(&f, "negate.1", 10);
    assert_string_equal(xspace_text(&f.x, module_of(&f, 0)->why), "its HLO is damaged");
    assert_int_equal(f.x.run.tallies.count[TM_TALLY_DAMAGED_PROGRAM], 1);
    assert_true(f.x.host.trace.partial);
    assert_non_null(strstr(f.x.host.trace.problem, "the HLO of a program is damaged (byte "));
    finish(&f);
}

/* Of each program in which something cannot be read; one that is whole has none. */
static void each_sort_of_damage_is_told(void **state)
{
    static const uint8_t unfinished[] = { 0x50, 0xff };

    (void)state;
    for (int way = 0; way < 4; way++) {
        struct xb_bytes module = { .length = 0 }, c = { .length = 0 },
                        in = array_op(10, "negate.1", "negate", ARRAY(F32, 10), NO_IDS);
        struct fixture f;

        if (way == 1)
            xb_raw(&in, unfinished, sizeof(unfinished));
        if (way == 2)
            xb_chunk(&in, 3, unfinished, sizeof(unfinished)); /* its shape */
        add(&c, in);
        end(&module, &c, 1, 10, false);
        if (way == 3)
            xb_chunk(&module, 17, unfinished, sizeof(unfinished)); /* stack frames */
        scan_module(&f, &module);
        assert_int_equal(f.x.run.tallies.count[TM_TALLY_DAMAGED_PROGRAM], way > 0);
        assert_int_equal(f.x.host.trace.partial, way > 0);
        finish(&f);
    }
}

static void bytes_that_are_no_program_are_told(void **state)
{
    struct xb_bytes proto = { .length = 0 };
    struct fixture f;

    (void)state;
    xb_number(&proto, 7, 1);
    begin(&f);
    xb_name_bytes(f.programs, "jit_f(7)", "Hlo Proto", &proto);
    scan(&f, NULL);
    xb_free(&proto);
    assert_int_equal(f.x.run.tallies.count[TM_TALLY_DAMAGED_PROGRAM], 1);
    finish(&f);
}

/* Its last field runs into the computation that follows, which is read all the same. */
static void a_damaged_table_leaves_what_follows_whole(void **state)
{
    static const uint32_t tables[] = { 4, 15, 17 }; /* shapes, devices, frames */

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (size_t before = 0; before < 3; before++) {
            static const uint8_t unfinished[] = { 0x50, 0x01, 0x50, 0x01, 0x50, 0xff };
            struct xb_bytes module = { .length = 0 }, c = { .length = 0 };
            struct fixture f;

            xb_chunk(&module, tables[i], unfinished + 2 * before, sizeof(unfinished) - 2 * before);
            add(&c, array_op(10, "negate.1", "negate", ARRAY(F32, 10), NO_IDS));
            end(&module, &c, 1, 10, false);
            scan_module(&f, &module);
            FLOPS(&f, "negate.1", 10);
            finish(&f);
        }
    }
}

static void large_constants_are_stepped_over(void **state)
{
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, in;
    uint8_t *literal = calloc(1, 1 << 20);
    struct fixture f;

    (void)state;
    assert_non_null(literal);
    in = array_op(1, "constant.1", "constant", ARRAY(F32, 64, 32), NO_IDS);
    xb_chunk(&in, 8, literal, 1 << 20);
    add(&c, in);
    add(&c, dotting(array_op(10, "dot.1", "dot", ARRAY(F32, 64, 64), IDS(1, 1)), 1, false));
    in = array_op(11, "kernel.1", "custom-call", ARRAY(F32, 8), IDS(1));
    xb_chunk(&in, 43, literal, 1 << 20);
    add(&c, in);
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);
    FLOPS(&f, "dot.1", 2 * 64 * 64 * 32);
    BYTES(&f, "kernel.1", 64 * 32 * 4 + 32);
    assert_int_equal(module_of(&f, 0)->why, 0);
    free(literal);
    finish(&f);
}

static void instructions_without_measure_are_cut(void **state)
{
    enum { OPERANDS = 20000 };
    uint64_t *ids = calloc(OPERANDS, sizeof(*ids));
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, in;
    struct fixture f;

    (void)state;
    assert_non_null(ids);
    for (size_t i = 0; i < OPERANDS; i++)
        ids[i] = 1;
    parameter(&c, 1, 0, ARRAY(F32, 10));
    in = array_op(10, "concatenate.1", "concatenate", ARRAY(F32, 10), NO_IDS);
    put_packed(&in, 36, ids, OPERANDS);
    add(&c, in);
    end(&module, &c, 1, 10, false);
    scan_module(&f, &module);
    assert_false(op_of(&f, "concatenate.1")->has_bytes);
    assert_string_equal(xspace_text(&f.x, module_of(&f, 0)->why), "some of its instructions are too large to read");
    free(ids);
    finish(&f);
}

/* More instructions than are read, in the least memory. */
static void programs_past_the_budget_are_not_read(void **state)
{
    enum { EACH = 300000, PROGRAMS = HLO_INSTRUCTIONS_MOST / EACH + 2 };
    struct xb_bytes module = { .length = 0 }, c = { .length = 0 }, in = { .length = 0 };
    struct fixture f;
    uint64_t read = 0;

    (void)state;
    xb_number(&in, 35, 1);
    for (int i = 0; i < EACH; i++)
        xb_chunk(&c, 2, in.at, in.length);
    xb_free(&in);
    end(&module, &c, 1, 1, true); /* fused: no rows */
    begin(&f);
    for (int i = 0; i < PROGRAMS; i++) {
        struct xb_bytes copy = { .length = 0 };
        char entry[32];

        (void)snprintf(entry, sizeof(entry), "jit_f(%d)", i);
        xb_raw(&copy, module.at, module.length);
        put_module(f.programs, entry, &copy);
    }
    xb_free(&module);
    scan(&f, NULL);
    assert_int_equal(tm_rows_count(f.x.host.trace.hlo_modules), PROGRAMS);
    for (uint64_t i = 0; i < PROGRAMS; i++) {
        read += module_of(&f, i)->instructions;
        assert_string_equal(xspace_text(&f.x, module_of(&f, i)->why),
                            i + 2 < PROGRAMS ? "" : "HLO larger than the budget");
    }
    assert_int_equal(read, HLO_INSTRUCTIONS_MOST);
    finish(&f);
}

/* --- memory --- */

static tm_status scan_job(struct tm_run *run)
{
    struct xb_bytes module = a_module(), bytes = { .length = 0 };
    struct fixture f;
    tm_status st;

    begin(&f);
    put_module(f.programs, "jit_f(7)", &module);
    event(&f, 10, "fusion.4", 7, NULL);
    xb_encode(f.space, &(struct xb_style){ .shuffle = 0 }, &bytes);
    st = xspace_scan_refusing(&f.x, &bytes, run->budget.refuse_in);
    if (st == TM_OK)
        st = xspace_survey(&f.x, NULL);
    run->budget.refuse_in = f.x.run.budget.refuse_in;
    run->error = f.x.run.error;
    xb_free(&bytes);
    finish(&f);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(scan_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_cost_what_their_shapes_say),
        cmocka_unit_test(libraries_are_told_by_their_targets),
        cmocka_unit_test(fusions_cost_what_is_in_them_in_any_order),
        cmocka_unit_test(a_fusion_is_what_is_in_it),
        cmocka_unit_test(slices_are_what_is_read_and_written),
        cmocka_unit_test(collectives_tell_their_groups_and_messages),
        cmocka_unit_test(sources_come_from_frames),
        cmocka_unit_test(shapes_of_parameters_are_written_as_hlo_does),
        cmocka_unit_test(shapes_that_cannot_be_are_of_unknown_size),
        cmocka_unit_test(events_find_their_op),
        cmocka_unit_test(ops_of_a_tpu_find_theirs),
        cmocka_unit_test(programs_keep_their_ids_apart),
        cmocka_unit_test(damaged_programs_do_no_harm),
        cmocka_unit_test(what_is_damaged_says_so),
        cmocka_unit_test(each_sort_of_damage_is_told),
        cmocka_unit_test(bytes_that_are_no_program_are_told),
        cmocka_unit_test(a_damaged_table_leaves_what_follows_whole),
        cmocka_unit_test(large_constants_are_stepped_over),
        cmocka_unit_test(instructions_without_measure_are_cut),
        cmocka_unit_test(programs_past_the_budget_are_not_read),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
