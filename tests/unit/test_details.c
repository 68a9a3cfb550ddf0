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

typedef void parse_details(const char *text, size_t length, struct tm_config *config);

static struct tm_config parse(parse_details *details, const char *text)
{
    struct tm_config config = { .level = TM_LEVEL_NONE };

    details(text, strlen(text), &config);
    return config;
}

static void kernel_details_of_every_writer_are_read(void **state)
{
    static const struct {
        const char *text;
        uint32_t grid[3], block[3], registers, occupancy_milli;
        uint64_t shared_bytes;
    } rows[] = {
        { "regs:32 static_shared:1024 dynamic_shared:65536 grid:1352,2,1 block:128,1,1 occ_pct:62.5",
          { 1352, 2, 1 },
          { 128, 1, 1 },
          32,
          62500,
          66560 },
        { "regs:12 static_shared:0 dynamic_shared:0 grid:3,1,1 block:128,1,1 occ_pct:100",
          { 3, 1, 1 },
          { 128, 1, 1 },
          12,
          100000,
          0 },
        { "regs:38 shm:16 grid:160,1,1 block:1024,1,1", { 160, 1, 1 }, { 1024, 1, 1 }, 38, 0, 16 },
        { " grid:16,128,1 block:256,1,1 private_mem:0 group_mem:8704 occ_pct:0",
          { 16, 128, 1 },
          { 256, 1, 1 },
          0,
          0,
          8704 },
        { "regs:687194767361 shm:4294967297 grid:1352,139757090178736,969924896 block:1,1,1",
          { 0 },
          { 1, 1, 1 },
          0,
          0,
          0 },
        { "occ_pct:66.6667\nblock:1,2,3\ngrid:4294967295,1,1", { 4294967295, 1, 1 }, { 1, 2, 3 }, 0, 66667, 0 },
        { "occ_pct:33.33333333333", { 0 }, { 0 }, 0, 33333, 0 },
        { "occ_pct:99.99996", { 0 }, { 0 }, 0, 100000, 0 },
        { "occ_pct:0.0005", { 0 }, { 0 }, 0, 1, 0 },
        { "occ_pct:100.5 regs:1 regs:", { 0 }, { 0 }, 1, 0, 0 },
        { "occ_pct:-3 grid:1,2 block:1,2,3,4", { 0 }, { 1, 2, 3 }, 0, 0, 0 },
        { "occ_pct:1e3 grid:1,2,x grid:,, regs:4294967296", { 0 }, { 0 }, 0, 0, 0 },
        { "", { 0 }, { 0 }, 0, 0, 0 },
        { ":::: grid regs : occ_pct: grid:", { 0 }, { 0 }, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tm_config config = parse(tm_parse_kernel_details, rows[i].text);

        assert_memory_equal(config.grid, rows[i].grid, sizeof(config.grid));
        assert_memory_equal(config.block, rows[i].block, sizeof(config.block));
        assert_int_equal(config.registers, rows[i].registers);
        assert_int_equal(config.occupancy_milli, rows[i].occupancy_milli);
        assert_int_equal(config.shared_bytes, rows[i].shared_bytes);
        assert_int_equal(config.has_kernel, 1);
    }
}

static void copy_details_of_every_writer_are_read(void **state)
{
    static const struct {
        const char *text;
        enum tm_direction direction;
        uint64_t bytes;
        uint8_t has_bytes, pageable;
    } rows[] = {
        { "kind_src:pinned kind_dst:device size:1048576 dest:0 async:1", TM_H2D, 1048576, 1, 0 },
        { "kind_src:device kind_dst:pageable size:4096 dest:0 async:0", TM_D2H, 4096, 1, 1 },
        { "kind_src:pageable kind_dst:device size:1 dest:0 async:0", TM_H2D, 1, 1, 1 },
        { "kind_src:device kind_dst:device_static size:8 dest:1 async:1", TM_D2D, 8, 1, 0 },
        { "kind_src:managed kind_dst:device size:8", TM_OTHER_DIRECTION, 8, 1, 0 },
        { "kind_src:pinned kind_dst:pageable size:8", TM_OTHER_DIRECTION, 8, 1, 1 },
        { "size:112 dest:4 async:0", TM_OTHER_DIRECTION, 112, 1, 0 },
        { "kind:Unknown size:655360 dest:2 async:1", TM_OTHER_DIRECTION, 655360, 1, 0 },
        { "kind:Unknown size:0 dest:512 async:1", TM_OTHER_DIRECTION, 0, 0, 0 },
        { "size:281474976710657", TM_OTHER_DIRECTION, 0, 0, 0 },
        { "size:18446744073709551616", TM_OTHER_DIRECTION, 0, 0, 0 },
        { "size:12x size:-1 size:", TM_OTHER_DIRECTION, 0, 0, 0 },
        { "", TM_OTHER_DIRECTION, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tm_config config = parse(tm_parse_copy_details, rows[i].text);

        assert_int_equal(config.has_copy, 1);
        assert_int_equal(config.direction, rows[i].direction);
        assert_int_equal(config.copy_bytes, rows[i].bytes);
        assert_int_equal(config.has_copy_bytes, rows[i].has_bytes);
        assert_int_equal(config.pageable, rows[i].pageable);
    }
}

static void memset_details_tell_the_bytes(void **state)
{
    struct tm_config config = parse(tm_parse_memset_details, "kind:1 num_bytes:4096 async:1");

    (void)state;
    assert_int_equal(config.copy_bytes, 4096);
    assert_int_equal(config.has_copy_bytes, 1);
    assert_int_equal(config.has_copy, 0);
    config = parse(tm_parse_memset_details, "kind:1 async:1");
    assert_int_equal(config.has_copy_bytes, 0);
}

/* The text lies in a block of its own, so a sanitizer build sees a read past the end. */
static void details_may_be_cut_anywhere(void **state)
{
    static const char whole[] = "regs:32 static_shared:1024 grid:1352,2,1 block:128,1,1 occ_pct:62.5 "
                                "kind_src:pageable kind_dst:device size:1048576 num_bytes:7";
    parse_details *const parsers[] = { tm_parse_kernel_details, tm_parse_copy_details, tm_parse_memset_details };

    (void)state;
    for (size_t length = 0; length < sizeof(whole); length++) {
        char *cut = malloc(length ? length : 1);

        assert_non_null(cut);
        memcpy(cut, whole, length);
        for (size_t i = 0; i < COUNT(parsers); i++) {
            struct tm_config config = { .level = TM_LEVEL_NONE };

            parsers[i](cut, length, &config);
            assert_true(config.occupancy_milli <= 100000);
            assert_true(config.copy_bytes <= 1048576);
            assert_true(config.direction < TM_DIRECTION_COUNT);
        }
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_details_of_every_writer_are_read),
        cmocka_unit_test(copy_details_of_every_writer_are_read),
        cmocka_unit_test(memset_details_tell_the_bytes),
        cmocka_unit_test(details_may_be_cut_anywhere),
    };

    return cmocka_run_group_tests_name("details", tests, NULL, NULL);
}
