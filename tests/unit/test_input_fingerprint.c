/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint of an input, in whatever order its bytes pass. */
#include "stages/input/bytes/fingerprint.h"

#include <stdlib.h>

#include <xxhash.h>

#include "tests/support/test_run.h"

enum { MOST = 4 * TM_PIECE_BYTES };

static uint8_t *bytes;

static int make_bytes(void **state)
{
    uint64_t seed = 11;

    (void)state;
    bytes = malloc(MOST);
    if (!bytes)
        return -1;
    for (size_t i = 0; i < MOST; i += sizeof(seed)) {
        const uint64_t number = next_number(&seed);

        memcpy(bytes + i, &number, sizeof(number));
    }
    return 0;
}

static int free_bytes(void **state)
{
    (void)state;
    free(bytes);
    return 0;
}

/* As its definition says. */
static uint64_t defined(size_t length)
{
    uint8_t hashes[MOST / TM_PIECE_BYTES][8];
    size_t pieces = 0;

    if (length <= TM_PIECE_BYTES)
        return XXH3_64bits(bytes, length);
    for (size_t at = 0; at < length; at += TM_PIECE_BYTES, pieces++) {
        const uint64_t hash =
            XXH3_64bits(bytes + at, length - at < TM_PIECE_BYTES ? length - at : (size_t)TM_PIECE_BYTES);

        for (size_t i = 0; i < sizeof(hashes[0]); i++)
            hashes[pieces][i] = (uint8_t)(hash >> (56 - 8 * i));
    }
    return XXH3_64bits(hashes, pieces * sizeof(hashes[0]));
}

static const size_t sizes[] = {
    1, 1000, TM_PIECE_BYTES - 1, TM_PIECE_BYTES, TM_PIECE_BYTES + 1, 2 * TM_PIECE_BYTES, 3 * TM_PIECE_BYTES + 12345,
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void note(struct tm_fingerprint *f, uint64_t at, uint64_t end)
{
    tm_fingerprint_note(f, at, bytes + at, (size_t)(end - at));
}

/* As tm_input_finish does.  out: how many bytes it took */
static uint64_t complete(struct tm_fingerprint *f)
{
    uint64_t taken = 0;

    for (struct tm_gap gap = tm_fingerprint_next_gap(f); gap.begin < gap.end; gap = tm_fingerprint_next_gap(f)) {
        const uint64_t end = gap.end - gap.begin > 256 << 10 ? gap.begin + (256 << 10) : gap.end;

        note(f, gap.begin, end);
        taken += end - gap.begin;
    }
    return taken;
}

static void a_stream_and_a_file_have_the_same(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < SIZES; i++)
        for (int knows_size = 0; knows_size < 2; knows_size++) {
            struct tm_fingerprint *const f = tm_fingerprint_new(&run, knows_size ? sizes[i] : 0);
            uint64_t seed = 3 + i, at = 0;

            assert_non_null(f);
            while (at < sizes[i]) {
                const uint64_t length = 1 + next_number(&seed) % 3000000;

                if (next_number(&seed) % 4 == 0) /* as after a restart */
                    note(f, 0, at < 500000 ? at : 500000);
                note(f, at, at + length < sizes[i] ? at + length : sizes[i]);
                at += length;
            }
            assert_int_equal(tm_fingerprint_value(f), defined(sizes[i]));
            assert_int_equal(tm_fingerprint_value(f), defined(sizes[i])); /* asking changes nothing */
            if (knows_size) {
                assert_int_equal(tm_fingerprint_noted(f), sizes[i]);
                assert_int_equal(complete(f), 0);
            }
            tm_fingerprint_free(f);
        }
    assert_ledger_is_even(&run);
}

static void of_nothing_it_is_the_hash_of_nothing(void **state)
{
    struct tm_run run;
    struct tm_fingerprint *f;

    (void)state;
    test_run_init(&run);
    f = tm_fingerprint_new(&run, 0);
    assert_int_equal(tm_fingerprint_value(f), XXH3_64bits(NULL, 0));
    tm_fingerprint_free(f);
    tm_fingerprint_free(NULL);
    assert_ledger_is_even(&run);
}

/* Regions of a file in an order of their own, each from its begin to its end in windows that overlap now and then. */
static void any_order_gives_the_same(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (uint64_t round = 0; round < 12; round++) {
        const uint64_t size = sizes[round % SIZES];
        struct tm_fingerprint *const f = tm_fingerprint_new(&run, size);
        uint64_t seed = 100 + round, left;

        for (uint64_t i = 0; i < round; i++) {
            uint64_t at = next_number(&seed) % size;
            const uint64_t end = at + next_number(&seed) % (size - at) + 1;

            while (at < end) {
                const uint64_t length = 1 + next_number(&seed) % 700000;

                note(f, at, at + length < end ? at + length : end);
                at += length - (length > 5000 && next_number(&seed) % 3 == 0 ? 4096 : 0);
            }
        }
        left = size - tm_fingerprint_noted(f);
        assert_int_equal(complete(f), left); /* nothing that was noted is read again */
        assert_int_equal(tm_fingerprint_noted(f), size);
        assert_int_equal(tm_fingerprint_value(f), defined(size));
        tm_fingerprint_free(f);
    }
    assert_ledger_is_even(&run);
}

/* A file of JAX: the lines of devices, then those of the host, which are read first.  Of the piece that they share only
 * the smaller part is read twice. */
static void the_last_region_may_be_read_first(void **state)
{
    static const struct {
        uint64_t host, twice; /* where the host's lines begin; how much is read twice */
    } cases[] = {
        { 2 * TM_PIECE_BYTES + 5000, 5000 },
        { 3 * TM_PIECE_BYTES - 6000, 6000 },
        { 2 * TM_PIECE_BYTES, 0 },
        { 5000, 5000 },
    };
    const uint64_t size = 3 * TM_PIECE_BYTES + 77;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_fingerprint *const f = tm_fingerprint_new(&run, size);
        const struct tm_gap gap = tm_fingerprint_gap_before(f, cases[i].host);

        note(f, gap.begin, gap.end);
        assert_true(gap.begin == gap.end || gap.end == cases[i].host);
        note(f, cases[i].host, size);
        assert_int_equal(tm_fingerprint_gap_before(f, 100).begin, cases[i].host < TM_PIECE_BYTES ? 100 : 0);
        note(f, 0, cases[i].host);
        assert_int_equal(gap.end - gap.begin + complete(f), cases[i].twice);
        assert_int_equal(tm_fingerprint_value(f), defined((size_t)size));
        tm_fingerprint_free(f);
    }
    assert_ledger_is_even(&run);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    for (uint64_t refused = 1; refused <= 2; refused++) {
        struct tm_run run;

        test_run_init(&run);
        run.budget.refuse_in = refused;
        assert_null(tm_fingerprint_new(&run, MOST));
        assert_int_equal(run.error.status, TM_ERR_LIMIT);
        assert_ledger_is_even(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_and_a_file_have_the_same), cmocka_unit_test(of_nothing_it_is_the_hash_of_nothing),
        cmocka_unit_test(any_order_gives_the_same),          cmocka_unit_test(the_last_region_may_be_read_first),
        cmocka_unit_test(without_memory_there_is_none),
    };

    return cmocka_run_group_tests(tests, make_bytes, free_bytes);
}
