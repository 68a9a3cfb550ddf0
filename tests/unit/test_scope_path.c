/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/scopes.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { LONG_BYTES = 1 << 20 };

static struct tm_scope_path path_of(const char *text)
{
    struct tm_scope_path path;

    tm_scope_path_read(text, strlen(text), &path);
    return path;
}

static void paths_of_every_sort_tell_their_scopes(void **state)
{
    static const struct {
        const char *text, *scopes;
        enum tm_scope_pass pass;
        bool is_recomputed;
    } rows[] = {
        { "jit(train)/sub", "train", TM_PASS_OTHER, false },
        { "jit(train)/jit(main)/jvp(layer_0)/attn/dot_general", "train/layer_0/attn", TM_PASS_FORWARD, false },
        { "jit(train)/transpose(jvp(layer_0))/mlp/transpose", "train/layer_0/mlp", TM_PASS_BACKWARD, false },
        { "jit(train)/jvp(layer_0)/mlp/jit(silu)/exp", "train/layer_0/mlp/silu", TM_PASS_FORWARD, false },
        { "jit(train)/jvp(layer_0)/mlp/jit(silu)", "train/layer_0/mlp/silu", TM_PASS_FORWARD, false },
        { "jit(f)/vmap(jvp(vmap(transpose(jvp(layer_0)))))/mlp/mul", "f/layer_0/mlp", TM_PASS_BACKWARD, false },
        { "jit(<lambda>)/transpose(jvp(jit(inner)))/ij,jk->ik/dot_general", "<lambda>/inner/ij,jk->ik",
          TM_PASS_BACKWARD, false },
        /* control flow */
        { "jit(f)/jvp()/while", "f", TM_PASS_FORWARD, false },
        { "jit(f)/jvp()/while/body/closed_call/blk/tanh", "f/blk", TM_PASS_FORWARD, false },
        { "jit(f)/while/cond/lt", "f", TM_PASS_OTHER, false },
        { "jit(f)/while/body/while/body/blk/add", "f/blk", TM_PASS_OTHER, false },
        { "jit(f)/jvp()/cond/branch_1_fun/layer_0/exp", "f/layer_0", TM_PASS_FORWARD, false },
        { "jit(f)/cond/inside/add", "f/cond/inside", TM_PASS_OTHER, false },
        { "jit(f)/while/inside/add", "f/while/inside", TM_PASS_OTHER, false },
        { "jit(f)/jit(shmap_body)/shard_map/layer_1/psum", "f/shmap_body/layer_1", TM_PASS_OTHER, false },
        /* recomputation */
        { "jit(r)/transpose(jvp(jvp()))/checkpoint/rematted_computation/layer_0/exp", "r/layer_0", TM_PASS_BACKWARD,
          true },
        { "jit(r)/transpose(jvp(jvp()))/checkpoint/layer_0/mul", "r/layer_0", TM_PASS_BACKWARD, false },
        { "jit(l)/transpose(jvp(M))/jvp(M)/checkpoint/CheckpointDense_0/dot_general", "l/M/CheckpointDense_0",
          TM_PASS_BACKWARD, false },
        { "jit(l)/jvp(M)/SelfAttention_0/SelfAttention_0/...hqk,...khd->...qhd/dot_general",
          "l/M/SelfAttention_0/SelfAttention_0/...hqk,...khd->...qhd", TM_PASS_FORWARD, false },
        { "jit(train)/mlp/~/linear_0/dot_general", "train/mlp/linear_0", TM_PASS_OTHER, false },
        /* names of the user's own making */
        { "jit(f)/attn/inner (a)/div", "f/attn/inner (a)", TM_PASS_OTHER, false },
        { "jit(f)/scope[a/b]/mul", "f/scope[a/b]", TM_PASS_OTHER, false },
        { "jit(f)/broken (a/b/mul", "f/broken (a/b", TM_PASS_OTHER, false },
        { "jit(f)/a)/b/mul", "f/a)/b", TM_PASS_OTHER, false },
        { "jit(f)(x)/b/mul", "jit(f)(x)/b", TM_PASS_OTHER, false },
        { "jit(f)/custom(x)/mul", "f/custom(x)", TM_PASS_OTHER, false },
        { "jit(f)/dense/jit(main)/mul", "f/dense/main", TM_PASS_OTHER, false },
        { "//a//b//c", "a/b", TM_PASS_OTHER, false },
        /* TensorFlow */
        { "model/dense/MatMul:MatMul", "model/dense", TM_PASS_OTHER, false },
        { "gradient_tape/model/dense/MatMul/MatMul_1:MatMul", "model/dense/MatMul", TM_PASS_BACKWARD, false },
        /* ops that XLA made one of */
        { "jit(f)/a/reshape;jit(f)/b/c/reshape", "f/a", TM_PASS_OTHER, false },
        { "jit(f)/a/reshape;jit(f)/transpose(jvp(b))/c/reshape", "f/a", TM_PASS_OTHER, false },
        { "jit(f)/a;b/reshape", "f/a;b", TM_PASS_OTHER, false },
        /* only an op */
        { "dot_general", "", TM_PASS_OTHER, false },
        { "p['params']['a/b']['kernel']", "", TM_PASS_OTHER, false },
        { "", "", TM_PASS_OTHER, false },
        { "/", "", TM_PASS_OTHER, false },
        { "jit(loss_fn)", "loss_fn", TM_PASS_OTHER, false },
        { "a/b/", "a/b", TM_PASS_OTHER, false },
    };
    char joined[TM_SCOPE_PATH_MOST];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_scope_path path = path_of(rows[i].text);
        const size_t length = tm_scope_path_join(rows[i].text, &path, path.depth, joined);

        if (length != strlen(rows[i].scopes) || memcmp(joined, rows[i].scopes, length) != 0)
            fail_msg("'%s' is in '%.*s'", rows[i].text, (int)length, joined);
        if (path.pass != rows[i].pass || path.is_recomputed != rows[i].is_recomputed || path.is_cut)
            fail_msg("'%s' is of the pass %s", rows[i].text, tm_scope_pass_name[path.pass]);
    }
}

static void paths_tell_derivative_rules(void **state)
{
    static const struct {
        const char *text;
        enum tm_custom_derivative custom;
        enum tm_scope_pass pass;
    } rows[] = {
        { "jit(f)/jvp(mlp)/custom_jvp_call/exp", TM_CUSTOM_JVP, TM_PASS_FORWARD },
        { "jit(f)/jvp(mlp)/custom_vjp_call/tanh", TM_CUSTOM_VJP, TM_PASS_FORWARD },
        { "jit(f)/jvp(mlp)/custom_vjp_call_jaxpr/while/body/tanh", TM_CUSTOM_VJP, TM_PASS_FORWARD },
        { "jit(f)/transpose(jvp(mlp))/custom_lin/mul", TM_CUSTOM_VJP, TM_PASS_BACKWARD },
        { "jit(f)/transpose(jvp(custom_vjp(attention)))/mul", TM_CUSTOM_VJP, TM_PASS_BACKWARD },
        { "jit(f)/custom_jvp_call_jaxpr[ num_consts=0 ]", TM_CUSTOM_JVP, TM_PASS_OTHER },
        { "jit(f)/custom_vjp_call", TM_CUSTOM_VJP, TM_PASS_OTHER },
        { "jit(f)/custom_vjp_call/a/custom_jvp_call/exp", TM_CUSTOM_JVP, TM_PASS_OTHER },
        { "jit(f)/my_custom_vjp/mul", TM_CUSTOM_NONE, TM_PASS_OTHER },
        { "jit(f)/custom_vjp_scope/mul", TM_CUSTOM_NONE, TM_PASS_OTHER },
        { "jit(f)/custom_linear/mul", TM_CUSTOM_NONE, TM_PASS_OTHER },
        { "jit(f)/custom_", TM_CUSTOM_NONE, TM_PASS_OTHER },
        { "", TM_CUSTOM_NONE, TM_PASS_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_scope_path path = path_of(rows[i].text);

        if (path.custom != rows[i].custom || path.pass != rows[i].pass)
            fail_msg("'%s' is '%s', %s", rows[i].text, tm_custom_name[path.custom], tm_scope_pass_name[path.pass]);
    }
}

static void nodes_have_the_keys_of_their_names_and_pass(void **state)
{
    static const char one[] = "jit(f)/jvp(a)/b/mul", same[] = "jit(f)/jit(main)/jvp(a)/while/body/b/add",
                      other[] = "jit(f)/transpose(jvp(a))/b/mul", joined[] = "jit(f)/jvp(a/b)/mul";
    const struct tm_scope_path paths[] = { path_of(one), path_of(same), path_of(other), path_of(joined) };
    struct tm_key keys[4][TM_SCOPE_DEPTH_MOST + 1];

    (void)state;
    tm_scope_path_keys(one, &paths[0], keys[0]);
    tm_scope_path_keys(same, &paths[1], keys[1]);
    tm_scope_path_keys(other, &paths[2], keys[2]);
    tm_scope_path_keys(joined, &paths[3], keys[3]);
    assert_memory_equal(keys[0], keys[1], 4 * sizeof(struct tm_key));
    assert_memory_not_equal(&keys[0][3], &keys[2][3], sizeof(struct tm_key));
    assert_int_equal(paths[3].depth, 2);
    assert_memory_equal(&keys[0][1], &keys[3][1], sizeof(struct tm_key));
    assert_memory_not_equal(&keys[0][3], &keys[3][2], sizeof(struct tm_key)); /* "a", "b" are not "a/b" */
}

/* in: what is repeated; LONG_BYTES of it */
static struct tm_scope_path long_path_of(const char *piece, char *text)
{
    const size_t length = strlen(piece);
    struct tm_scope_path path;

    for (size_t i = 0; i < LONG_BYTES; i++)
        text[i] = piece[i % length];
    tm_scope_path_read(text, LONG_BYTES, &path);
    return path;
}

static void hostile_paths_end(void **state)
{
    char *text = malloc(LONG_BYTES);

    (void)state;
    assert_non_null(text);
    assert_int_equal(long_path_of("/", text).depth, 0);
    assert_int_equal(long_path_of("a/", text).depth, TM_SCOPE_DEPTH_MOST);
    assert_int_equal(long_path_of("a", text).depth, 0);
    assert_true(long_path_of("a", text).is_cut);
    assert_int_equal(long_path_of("(/", text).depth, TM_SCOPE_DEPTH_MOST);
    assert_int_equal(long_path_of("jvp(", text).depth, 0);
    assert_int_equal(long_path_of("jit(a)/", text).depth, 1); /* of one name: told once */
    assert_int_equal(long_path_of(")/[", text).depth, TM_SCOPE_DEPTH_MOST);
    assert_true(long_path_of("a/", text).is_cut);
    free(text);
}

static void numbered_names_are_layers(void **state)
{
    static const struct {
        const char *name;
        bool is;
        size_t digits_at;
        uint64_t number;
    } rows[] = {
        { "layer_3", true, 6, 3 },   { "h.12", true, 2, 12 },
        { "block7", true, 5, 7 },    { "Dense_0", true, 6, 0 },
        { "3", true, 0, 3 },         { "layer", false, 0, 0 },
        { "", false, 0, 0 },         { "layer_", false, 0, 0 },
        { "layer_007", true, 6, 7 }, { "x_1234567890123456789", false, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t digits_at = 0;
        uint64_t number = 0;

        if (tm_scope_is_layer(rows[i].name, strlen(rows[i].name), &digits_at, &number) != rows[i].is)
            fail_msg("'%s'", rows[i].name);
        if (rows[i].is) {
            assert_int_equal(digits_at, rows[i].digits_at);
            assert_int_equal(number, rows[i].number);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_every_sort_tell_their_scopes),
        cmocka_unit_test(paths_tell_derivative_rules),
        cmocka_unit_test(nodes_have_the_keys_of_their_names_and_pass),
        cmocka_unit_test(hostile_paths_end),
        cmocka_unit_test(numbered_names_are_layers),
    };

    return cmocka_run_group_tests_name("scope_path", tests, NULL, NULL);
}
