/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/inflate.h"

#include <string.h>

#include <zlib.h>

#include "pipeline/store/hash.h"
#include "tests/support/test_run.h"

enum { BYTES = 8192, ALL_MOST = 700, PLACES = 33 };

static void fill(uint8_t bytes[BYTES])
{
    for (uint64_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)tm_hash_mix(i, 1);
}

/* Every length around the strides, at every place in a lane, after nothing and after other data. */
static void the_checksum_is_that_of_zlib(void **state)
{
    uint8_t bytes[BYTES];
    tm_crc32 *const crc = tm_crc32_best();

    (void)state;
    fill(bytes);
    for (size_t length = 0; length < BYTES - PLACES; length += length < ALL_MOST ? 1 : 509) {
        for (size_t place = 0; place < PLACES; place++) {
            const uint32_t before = (uint32_t)tm_hash_mix(length, place);

            assert_int_equal(crc(0, bytes + place, length), crc32_z(0, bytes + place, length));
            assert_int_equal(crc(before, bytes + place, length), crc32_z(before, bytes + place, length));
        }
    }
}

static void the_parts_of_a_text_have_its_checksum(void **state)
{
    uint8_t bytes[BYTES];
    tm_crc32 *const crc = tm_crc32_best();
    uint32_t whole, parts;

    (void)state;
    fill(bytes);
    whole = crc(0, bytes, BYTES);
    for (size_t first = 0; first < ALL_MOST; first++) {
        parts = crc(crc(0, bytes, first), bytes + first, BYTES - first);
        assert_int_equal(parts, whole);
    }
}

static void one_bit_changes_the_checksum(void **state)
{
    uint8_t bytes[BYTES];
    tm_crc32 *const crc = tm_crc32_best();
    uint32_t right;

    (void)state;
    fill(bytes);
    right = crc(0, bytes, BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] ^= (uint8_t)(1U << i % 8);
        assert_true(crc(0, bytes, BYTES) != right);
        bytes[i] ^= (uint8_t)(1U << i % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_that_of_zlib),
        cmocka_unit_test(the_parts_of_a_text_have_its_checksum),
        cmocka_unit_test(one_bit_changes_the_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
