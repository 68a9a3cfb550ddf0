/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = (4 << 20) + 5000 };

static void blocks_are_zero_keep_what_they_hold_and_grow_with_zeros(void **state)
{
    uint8_t *block = tm_large_block(BYTES);

    (void)state;
    assert_non_null(block);
    for (size_t i = 0; i < BYTES; i++) {
        assert_int_equal(block[i], 0);
        block[i] = (uint8_t)(i * 7);
    }
    block = tm_large_block_resize(block, BYTES, 3 * BYTES);
    assert_non_null(block);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(block[i], (uint8_t)(i * 7));
    for (size_t i = BYTES; i < 3 * BYTES; i++)
        assert_int_equal(block[i], 0);
    block = tm_large_block_resize(block, 3 * BYTES, BYTES / 2);
    assert_non_null(block);
    for (size_t i = 0; i < BYTES / 2; i++)
        assert_int_equal(block[i], (uint8_t)(i * 7));
    tm_large_block_free(block, BYTES / 2);
}

static void what_the_system_has_not_is_refused_and_the_block_stays(void **state)
{
    uint8_t *block = tm_large_block(BYTES);

    (void)state;
    assert_non_null(block);
    block[BYTES - 1] = 9;
    assert_null(tm_large_block(SIZE_MAX));
    assert_null(tm_large_block(SIZE_MAX / 2));
    assert_null(tm_large_block_resize(block, BYTES, SIZE_MAX / 4));
    assert_int_equal(block[BYTES - 1], 9);
    tm_large_block_free(block, BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zero_keep_what_they_hold_and_grow_with_zeros),
        cmocka_unit_test(what_the_system_has_not_is_refused_and_the_block_stays),
    };

    return cmocka_run_group_tests_name("large block", tests, NULL, NULL);
}
