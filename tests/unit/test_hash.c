/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/hash.h"
#include "tests/support/test_run.h"

enum { HALF = 8, SEEDS = 1000 };

/* Who does not know the seed cannot choose texts of one hash: not by swapping halves either, whatever is known of how the
 * two factors of a product differ. */
static void texts_with_swapped_halves_are_told_apart(void **state)
{
    static const uint64_t differences[] = { 0, UINT64_C(0xa0761d6478bd642f) ^ UINT64_C(0xe7037ed1a0b428db), 16,
                                            UINT64_MAX };

    (void)state;
    for (uint64_t n = 2; n < SEEDS; n++) {
        const uint64_t seed = tm_hash_mix(n, 1); /* not 0, which is known */

        for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
            const uint64_t words[] = { tm_hash_mix(n, 2), tm_hash_mix(n, 3) };
            const uint64_t swapped[] = { words[1] ^ differences[i], words[0] ^ differences[i] };

            assert_true(tm_hash_text(words, 2 * HALF, seed) != tm_hash_text(swapped, 2 * HALF, seed));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_with_swapped_halves_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
