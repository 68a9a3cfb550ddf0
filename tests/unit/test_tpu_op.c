/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/resolve/classes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HBM "f32[5,1024,1024,256]{3,2,1,0:T(8,128)}"
#define HOST "f32[5,1024,1024,256]{3,2,1,0:T(8,128)S(5)}"

struct op_row {
    const char *text, *category;
    enum tm_tpu_part part;
    enum tm_level level;
};

/* The first rows are lines of a TPU v6e profile. */
static const struct op_row rows[] = {
    { "%all-reduce = " HBM " all-reduce(" HBM " %bitcast), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), "
      "use_global_device_ids=true, to_apply=%region_0.3.clone",
      "all-reduce", TM_TPU_PLAIN, TM_LEVEL_COLLECTIVE },
    { "%broadcast.2 = " HBM " broadcast(f32[]{:T(128)S(6)} %copy), dimensions={}", "broadcast", TM_TPU_PLAIN,
      TM_LEVEL_COMPUTE },
    { "%broadcast_add_fusion.2 = " HBM " fusion(" HBM " %copy-done), kind=kLoop, calls=%fused_computation.2",
      "loop fusion", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%copy-start = (" HBM ", " HOST ", u32[]{:S(2)}) copy-start(" HOST " %param)", "copy-start", TM_TPU_START,
      TM_LEVEL_H2D },
    { "%copy-start.1 = (" HOST ", " HBM ", u32[]{:S(2)}) copy-start(" HBM " %broadcast_add_fusion.2)", "copy-start",
      TM_TPU_START, TM_LEVEL_D2H },
    { "%copy-done = " HBM " copy-done((" HBM ", " HOST ", u32[]{:S(2)}) %copy-start)", "copy-done", TM_TPU_WAIT,
      TM_LEVEL_H2D },
    { "%copy-done.1 = " HOST " copy-done((" HOST ", " HBM ", u32[]{:S(2)}) %copy-start.1)", "copy-done", TM_TPU_WAIT,
      TM_LEVEL_D2H },

    { "%copy-start.4 = (bf16[8]{0:T(8,128)(2,1)S(1)}, bf16[8]{0}, u32[]{:S(2)}) copy-start(bf16[8]{0} %p)",
      "copy-start", TM_TPU_START, TM_LEVEL_D2D },
    { "%async-collective-done.1 = bf16[8,2048]{1,0} reduce-scatter-done((bf16[8]{0}, u32[]) %x)", "async-done",
      TM_TPU_WAIT, TM_LEVEL_COLLECTIVE },
    { "%all-gather-start.7 = (f32[8]{0}, f32[64]{0}) all-gather-start(f32[8]{0} %p)", "", TM_TPU_START,
      TM_LEVEL_COLLECTIVE },
    { "%ag = ((f32[8]{0}), f32[64]{0}, u32[]) async-start(f32[8]{0} %p), calls=%wrapped_all_gather.3", "async-start",
      TM_TPU_START, TM_LEVEL_COLLECTIVE },
    { "%all-to-all-done.2 = f32[8]{0} async-done(((f32[8]{0}), f32[8]{0}) %s)", "async-done", TM_TPU_WAIT,
      TM_LEVEL_COLLECTIVE },
    { "%slice-start.2 = ((" HOST "), " HBM ", u32[]) async-start(" HOST " %p), calls=%async_slice", "async-start",
      TM_TPU_START, TM_LEVEL_H2D },
    { "%dynamic-slice-done = " HBM " dynamic-slice-done(((" HOST "), " HBM ", u32[]) %s)", "async-done", TM_TPU_WAIT,
      TM_LEVEL_H2D },
    { "%h = f32[8]{0} async-done((f32[8]{0}) %s), async_execution_thread=\"host\"", "async-done", TM_TPU_HOST_WAIT,
      TM_LEVEL_NONE },
    { "%async-collective-start.3 = (f32[8]{0}, f32[8]{0}) fusion(f32[8]{0} %p), kind=kCustom, calls=%all-gather.4",
      "async-start", TM_TPU_START, TM_LEVEL_COLLECTIVE },
    { "%fusion.9 = f32[8]{0} fusion(f32[8]{0} %all-reduce.1), kind=kCustom", "all-reduce-scatter fusion", TM_TPU_PLAIN,
      TM_LEVEL_COLLECTIVE },
    { "%fusion.9 = f32[8]{0} fusion(f32[8]{0} %all-reduce.1), kind=kLoop, calls=%all-reduce", "loop fusion",
      TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%infeed.1 = ((f32[8]{0}), token[]) infeed(token[] %t)", "infeed", TM_TPU_HOST_WAIT, TM_LEVEL_NONE },
    { "%outfeed.1 = token[] outfeed(f32[8]{0} %p, token[] %t)", "outfeed", TM_TPU_HOST_WAIT, TM_LEVEL_NONE },
    { "%send.1 = (f32[8]{0}, u32[], token[]) send(f32[8]{0} %p, token[] %t), channel_id=2", "send", TM_TPU_START,
      TM_LEVEL_COLLECTIVE },
    { "%recv-done.1 = (f32[8]{0}, token[]) recv-done((f32[8]{0}, u32[], token[]) %r), channel_id=2", "recv-done",
      TM_TPU_WAIT, TM_LEVEL_COLLECTIVE },
    { "%send.1 = (f32[8]{0}, u32[], token[]) send(f32[8]{0} %p, token[] %t), is_host_transfer=true", "send",
      TM_TPU_HOST_WAIT, TM_LEVEL_NONE },
    { "%recv-done.1 = (f32[8]{0}, token[]) recv-done((f32[8]{0}) %r)", "host recv-done", TM_TPU_HOST_WAIT,
      TM_LEVEL_NONE },
    { "%while.3 = (s32[]{:T(128)}, /*index=1*/f32[8,128]{1,0:T(8,128)}) while((s32[], f32[8,128]) %tuple.1), "
      "condition=%c, body=%b",
      "while", TM_TPU_PLAIN, TM_LEVEL_CONTAINER },
    { "%call.3 = f32[8]{0} call(f32[8]{0} %p), to_apply=%f", "call", TM_TPU_PLAIN, TM_LEVEL_CONTAINER },
    { "%conditional.3 = f32[] conditional(pred[] %p, f32[] %a, f32[] %b)", "conditional", TM_TPU_PLAIN,
      TM_LEVEL_CONTAINER },
    { "ROOT %dynamic-update-slice.1 = f32[8]{0} dynamic-update-slice(f32[8]{0} %a)", "", TM_TPU_PLAIN,
      TM_LEVEL_COMPUTE },
    { "%copy.77 = bf16[8]{0} copy(bf16[8]{0} %p)", "data formatting", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%x = f32[<=8,?]{1,0} custom-call(f32[8]{0} %all-reduce), custom_call_target=\"all-reduce\"", "custom-call",
      TM_TPU_PLAIN, TM_LEVEL_COMPUTE },

    /* no line: the category, else the name */
    { "fusion.12", "copy-done", TM_TPU_WAIT, TM_LEVEL_D2D },
    { "%while.1 = (s32[], f32[8]{0", "while", TM_TPU_PLAIN, TM_LEVEL_CONTAINER },
    { "all-reduce-done.4", "", TM_TPU_WAIT, TM_LEVEL_COLLECTIVE },
    { "copy-start.4", "", TM_TPU_START, TM_LEVEL_D2D },
    { "async-collective-done.4", "", TM_TPU_WAIT, TM_LEVEL_COLLECTIVE },
    { "while.3", "", TM_TPU_PLAIN, TM_LEVEL_CONTAINER },
    { "infeed.3", "", TM_TPU_HOST_WAIT, TM_LEVEL_NONE },
    { "add_fusion.25", "", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "", "", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%", "", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { " = ", "", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%x = ", "", TM_TPU_PLAIN, TM_LEVEL_COMPUTE },
    { "%x = )))) all-reduce(", "", TM_TPU_PLAIN, TM_LEVEL_COLLECTIVE },
};

static void lines_tell_what_an_op_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_config config = { .level = 0xff, .tpu_part = 0xff };

        tm_parse_tpu_op(rows[i].text, strlen(rows[i].text), rows[i].category, strlen(rows[i].category), &config);
        if (config.tpu_part != rows[i].part || config.level != rows[i].level)
            fail_msg("%s: part %d level %d, not %d %d", rows[i].text, config.tpu_part, config.level, rows[i].part,
                     rows[i].level);
    }
}

static void the_line_of_a_copy_tells_its_size(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0 = not told */
    } copies[] = {
        { "%copy-start = (" HBM ", " HOST ", u32[]{:S(2)}) copy-start(" HOST " %param)", UINT64_C(5) << 30 },
        { "%copy-done = " HBM " copy-done((" HBM ", " HOST ", u32[]{:S(2)}) %copy-start)", UINT64_C(5) << 30 },
        { "%d = bf16[3,5]{1,0} dynamic-slice-done(((" HOST "), bf16[3,5]{1,0}, u32[]) %s)", 30 },
        { "%slice-start.2 = ((" HOST "), " HBM ", u32[]) async-start(" HOST " %p), calls=%async_slice", 0 },
        { "copy-done.1", 0 },
        { "%add = " HBM " add(" HBM " %a, " HBM " %b)", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(copies); i++) {
        struct tm_config config = { .level = TM_LEVEL_NONE };

        tm_parse_tpu_op(copies[i].text, strlen(copies[i].text), NULL, 0, &config);
        assert_int_equal(config.has_copy_bytes, copies[i].bytes != 0);
        assert_int_equal(config.copy_bytes, copies[i].bytes);
    }
}

/* The text lies in a block of its own, so a sanitizer build sees a read past the end. */
static void lines_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t length = 0; length <= strlen(rows[i].text); length++) {
            struct tm_config config = { .level = 0xff, .tpu_part = 0xff };
            char *cut = malloc(length ? length : 1);

            assert_non_null(cut);
            memcpy(cut, rows[i].text, length);
            tm_parse_tpu_op(cut, length, NULL, 0, &config);
            assert_true(config.level <= TM_LEVEL_NONE);
            assert_true(config.tpu_part <= TM_TPU_HOST_WAIT);
            free(cut);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_tell_what_an_op_is),
        cmocka_unit_test(the_line_of_a_copy_tells_its_size),
        cmocka_unit_test(lines_may_be_cut_anywhere),
    };

    return cmocka_run_group_tests_name("tpu_op", tests, NULL, NULL);
}
