/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

static struct tm_hlo_line line_of(const char *text)
{
    return tm_hlo_line_read((struct tm_text){ text, strlen(text) });
}

/* What a collective moves, and among how many.  The first rows are lines of TPU profiles. */
static void messages_of_collectives(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        uint32_t group_size;
    } rows[] = {
        { "%all-reduce.1 = bf16[1024,5120]{1,0:T(8,128)(2,1)S(1)} all-reduce(bf16[1024,5120]{1,0:T(8,128)(2,1)S(1)} "
          "%fusion), channel_id=3, replica_groups=[1,2]<=[2], use_global_device_ids=true, to_apply=%add.2.clone",
          1024 * 5120 * 2, 2 },
        { "%all-gather.3 = s32[2,1,8]{2,1,0:T(1,128)S(1)} all-gather(s32[1,1,8]{2,1,0} %x), replica_groups={{0,1}}, "
          "dimensions={0}",
          64, 2 },
        { "%r = f32[16]{0} reduce-scatter(f32[64]{0} %x), replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}", 256,
          4 },
        { "%a = (f32[8]{0}, bf16[4]{0:T(8,128)}) all-reduce(f32[8]{0} %x, bf16[4]{0} %y), replica_groups=[2,4]<=[8]",
          40, 4 },
        { "%s = (f32[16]{0:T(8)}, f32[64]{0:T(8)}) all-gather-start(f32[16]{0} %x), replica_groups=[2,4]<=[4,2]T(1,0)",
          256, 4 },
        { "%d = f32[64]{0} all-gather-done((f32[16]{0}, f32[64]{0}) %s)", 256, 0 },
        { "%c = pred[3]{0} collective-permute(pred[3]{0} %x), source_target_pairs={{0,1},{1,0}}", 3, 0 },
        { "%f = f8e4m3fn[10]{0} all-reduce(f8e4m3fn[10]{0} %x)", 10, 0 },
        { "%q = s4[3]{0} all-reduce(s4[3]{0} %x)", 2, 0 },
        { "%n = f32[] all-reduce(f32[] %x), replica_groups={}", 4, 0 },
        { "%z = f32[0,8]{1,0} all-reduce(f32[0,8]{1,0} %x)", 0, 0 },
        { "%t = token[] all-reduce(token[] %x)", 0, 0 },
        /* cut short, or hostile */
        { "%all-reduce.1 = bf16[1024,51", 0, 0 },
        { "%a = f32[99999999999,99999999999] all-reduce(f32[1] %x)", 0, 0 },
        { "%a = f32[4294967296,2147483648] all-reduce(f32[1] %x)", 0, 0 },
        { "%a = f32[8] all-reduce(f32[8] %x), replica_groups=[1,99999999999999999999]<=[2]", 32, 0 },
        { "%a = f32[8] all-reduce(f32[8] %x), replica_groups={{0,1", 32, 0 },
        { "%a = ((((", 0, 0 },
        { "all-reduce", 0, 0 },
        { "", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_hlo_line line = line_of(rows[i].text);
        const uint32_t size = tm_hlo_line_group_size(&line);
        const uint64_t bytes = tm_hlo_line_message_bytes(&line, size);

        if (size != rows[i].group_size || bytes != rows[i].bytes)
            fail_msg("row %zu gives %llu bytes among %u", i, (unsigned long long)bytes, size);
    }
}

/* However a line is cut, nothing past its end is looked at. */
static void every_cut(void **state)
{
    static const char text[] = "%a = (f32[8]{0:T(8,128)}, bf16[4]{0}) reduce-scatter(f32[8]{0} %x), "
                               "replica_groups={{0,1},{2,3}}";

    (void)state;
    for (size_t n = 0; n < sizeof(text); n++) {
        char *copy = malloc(n + !n);
        struct tm_hlo_line line;

        assert_non_null(copy);
        memcpy(copy, text, n);
        line = tm_hlo_line_read((struct tm_text){ copy, n });
        assert_true(tm_hlo_line_message_bytes(&line, tm_hlo_line_group_size(&line)) <= 160);
        free(copy);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_collectives),
        cmocka_unit_test(every_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
