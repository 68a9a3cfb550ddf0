/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/hash.h"

#include <inttypes.h>

#include "pipeline/store/groups.h"
#include "tests/support/test_run.h"

enum { HALF = 8, SEEDS = 1000, BITS = 12, KEYS = 1 << (BITS - 1) };

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

/* ---- numbers that follow each other, as ids do ---- */

typedef struct tm_key make_key(uint64_t i);

static struct tm_key low_numbers(uint64_t i)
{
    return (struct tm_key){ i, 0 };
}

static struct tm_key high_numbers(uint64_t i)
{
    return (struct tm_key){ i << 32, 7 };
}

static struct tm_key second_numbers(uint64_t i)
{
    return (struct tm_key){ 7, i };
}

static struct tm_key tables(uint64_t i)
{
    return (struct tm_key){ (i / 90) << 32, i % 90 };
}

static struct tm_key equal_numbers(uint64_t i)
{
    return (struct tm_key){ i, i };
}

/* out: places that are looked at for a key, on average, while a table is filled to the half; 1.5 by chance (Knuth, The
 * Art of Computer Programming, vol. 3, 6.4: linear probing) */
static double mean_probes(make_key *make, uint64_t seed)
{
    bool is_used[1 << BITS] = { false };
    double probes = 0;

    for (uint64_t i = 0; i < KEYS; i++) {
        const struct tm_key key = make(i);
        uint64_t at = tm_hash_pair(key.high, key.low, seed) >> (64 - BITS);

        for (probes++; is_used[at]; probes++)
            at = (at + 1) & ((1 << BITS) - 1);
        is_used[at] = true;
    }
    return probes / KEYS;
}

static void no_seed_makes_a_table_slow(void **state)
{
    static make_key *const makes[] = { low_numbers, high_numbers, second_numbers, tables, equal_numbers };
    static const uint64_t rare[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x5a5a5a5a5a5a5a5a) };
    const uint64_t rares = sizeof(rare) / sizeof(rare[0]);

    (void)state;
    for (size_t m = 0; m < sizeof(makes) / sizeof(makes[0]); m++)
        for (uint64_t n = 0; n < SEEDS; n++) {
            const uint64_t seed = n < rares ? rare[n] : tm_hash_mix(n, 1);
            const double mean = mean_probes(makes[m], seed);

            if (mean > 3)
                fail_msg("keys %zu, seed %" PRIx64 ": %.1f places", m, seed, mean);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_with_swapped_halves_are_told_apart),
        cmocka_unit_test(no_seed_makes_a_table_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
