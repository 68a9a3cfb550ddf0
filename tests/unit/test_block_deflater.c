/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pipeline/deflate.h"
#include "tests/support/test_run.h"

enum { BLOCK_BYTES = 512 << 10 };

struct rig {
    struct tm_run run;
    struct tm_block_deflater *deflater;
    uint8_t block[BLOCK_BYTES], other[BLOCK_BYTES];
    uint8_t deflated[BLOCK_BYTES], again[BLOCK_BYTES], inflated[BLOCK_BYTES];
};

static struct rig *new_rig(void)
{
    struct rig *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    test_run_init(&r->run);
    r->deflater = tm_block_deflater_new(&r->run);
    assert_non_null(r->deflater);
    return r;
}

static void free_rig(struct rig *r)
{
    tm_block_deflater_free(r->deflater);
    assert_ledger_is_even(&r->run);
    free(r);
}

/* Bytes that come again, more or less: of noise `of_256` in 256. */
static void fill(uint8_t *bytes, size_t length, uint32_t seed, unsigned of_256)
{
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)((seed >> 8 & 255) < of_256 ? seed >> 24 : i % 61);
    }
}

static size_t deflate_block(struct rig *r, const uint8_t *block, size_t length, uint8_t *to)
{
    return tm_block_deflate(r->deflater, block, length, to, BLOCK_BYTES);
}

static void a_block_comes_back(void **state)
{
    static const size_t lengths[] = { 0, 1, 2, 257, 288, 289, 290, 577, 65535, 65536, 300000, BLOCK_BYTES };
    struct rig *r = new_rig();

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uLongf length = BLOCK_BYTES;

        fill(r->block, lengths[i], (uint32_t)i, 40);
        const size_t bytes = deflate_block(r, r->block, lengths[i], r->deflated);

        assert_true(bytes > 0 && (lengths[i] < 300 || bytes < lengths[i]));
        assert_int_equal(uncompress(r->inflated, &length, r->deflated, bytes), Z_OK);
        assert_int_equal(length, lengths[i]);
        assert_memory_equal(r->inflated, r->block, length);
    }
    free_rig(r);
}

static void what_came_before_changes_no_byte(void **state)
{
    struct rig *r = new_rig();
    size_t bytes;

    (void)state;
    fill(r->block, BLOCK_BYTES, 1, 40);
    fill(r->other, BLOCK_BYTES, 1, 80);
    bytes = deflate_block(r, r->block, BLOCK_BYTES, r->deflated);
    (void)deflate_block(r, r->other, BLOCK_BYTES, r->again);
    assert_int_equal(deflate_block(r, r->block, BLOCK_BYTES, r->again), bytes);
    assert_memory_equal(r->deflated, r->again, bytes);
    free_rig(r);
}

/* A block whose first bytes come again, others for each seed. */
static void fill_with_an_echo(uint8_t *bytes, size_t length, uint32_t seed)
{
    fill(bytes, length, seed * 2654435761U, 256);
    for (size_t at = length / 4; at + 16 <= length; at += length / 4) {
        memcpy(bytes + at, bytes, 8);
        memcpy(bytes + at + 9, bytes + 1, 6);
    }
}

/* A table that is filled from an address goes wrong for few blocks at any one address: thousands of beginnings meet some
 * of them.  Lengths on either side of where the deflater changes its way. */
static void where_it_lies_changes_no_byte(void **state)
{
    enum { DEFLATERS = 3, BEGINNINGS = 3000 };
    static const size_t lengths[] = { 64, 289, 290, 700 };
    struct rig *r = new_rig();
    struct tm_block_deflater *other[DEFLATERS];

    (void)state;
    for (size_t k = 0; k < DEFLATERS; k++) {
        other[k] = tm_block_deflater_new(&r->run);
        assert_non_null(other[k]);
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (uint32_t seed = 0; seed < BEGINNINGS; seed++) {
            fill_with_an_echo(r->block, lengths[i], seed);
            const size_t bytes = deflate_block(r, r->block, lengths[i], r->deflated);

            assert_true(bytes > 0);
            for (size_t k = 0; k < DEFLATERS; k++) {
                assert_int_equal(tm_block_deflate(other[k], r->block, lengths[i], r->again, BLOCK_BYTES), bytes);
                assert_memory_equal(r->deflated, r->again, bytes);
            }
        }
    }
    for (size_t k = 0; k < DEFLATERS; k++)
        tm_block_deflater_free(other[k]);
    free_rig(r);
}

static void what_does_not_fit_is_told_and_the_next_block_is_whole(void **state)
{
    struct rig *r = new_rig();
    uLongf length = BLOCK_BYTES;
    size_t bytes;

    (void)state;
    fill(r->block, BLOCK_BYTES, 7, 256);
    assert_int_equal(tm_block_deflate(r->deflater, r->block, BLOCK_BYTES, r->deflated, BLOCK_BYTES), 0);
    fill(r->block, BLOCK_BYTES, 7, 10);
    bytes = deflate_block(r, r->block, BLOCK_BYTES, r->deflated);
    assert_int_equal(uncompress(r->inflated, &length, r->deflated, bytes), Z_OK);
    assert_int_equal(length, BLOCK_BYTES);
    assert_memory_equal(r->inflated, r->block, BLOCK_BYTES);
    free_rig(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_comes_back),
        cmocka_unit_test(what_came_before_changes_no_byte),
        cmocka_unit_test(where_it_lies_changes_no_byte),
        cmocka_unit_test(what_does_not_fit_is_told_and_the_next_block_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
