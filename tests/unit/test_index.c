/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/sorter.h"

#include "tests/support/test_run.h"

struct row {
    uint64_t key, number, rank;
};

/* The row of the higher rank stays; of equal ones the earlier. */
static bool has_higher_rank(const void *a, const void *b)
{
    return ((const struct row *)b)->rank > ((const struct row *)a)->rank;
}

static const size_t memories[] = { 0, 4 << 10, 100 << 10, 1 << 20, 64 << 20 };
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]), MANY = 30000, KEYS = 20000 };

enum spread { DENSE, HIGH, SPARSE, UNEVEN, CLUSTERS, HUGE, SPREADS };

/* Keys by ordinal, one to one. */
static uint64_t key_of(enum spread spread, uint64_t ordinal)
{
    switch (spread) {
    case DENSE:
        return ordinal;
    case HIGH: /* near each other, as correlation ids that only some calls have */
        return (UINT64_C(1) << 40) + ordinal * 7;
    case SPARSE:
        return ordinal * 1000003;
    case UNEVEN:
        return ordinal * ordinal * ordinal;
    case CLUSTERS:
        return ordinal % 1000 + (ordinal / 1000 * (ordinal / 1000) << 40);
    default:
        return ordinal * UINT64_C(0x9e3779b97f4a7c15) - 1; /* with UINT64_MAX at 0 */
    }
}

/* What a plain array says about the same rows. */
struct expected {
    struct row rows[KEYS];
    bool has[KEYS];
    uint64_t count, duplicates;
};

static void expect(struct expected *e, uint64_t ordinal, const struct row *row, enum tm_index_duplicates duplicates)
{
    struct row *mine = &e->rows[ordinal];

    if (e->has[ordinal]) {
        e->duplicates++;
        if (duplicates == TM_INDEX_FIRST || (duplicates == TM_INDEX_ASK && !has_higher_rank(mine, row)))
            return;
    } else {
        e->has[ordinal] = true;
        e->count++;
    }
    *mine = *row;
}

static void assert_same(struct tm_index *index, const struct expected *e, enum spread spread, uint64_t ordinal)
{
    const void *found = e;

    found = tm_index_get(index, key_of(spread, ordinal));
    if (ordinal < KEYS && e->has[ordinal]) {
        assert_non_null(found);
        assert_memory_equal(found, &e->rows[ordinal], sizeof(struct row));
    } else {
        assert_null(found);
    }
}

static void check_index(size_t memory, enum spread spread, enum tm_index_duplicates duplicates)
{
    static struct expected e;
    struct tm_run run;
    uint64_t seed = 9;
    const uint64_t rows = memory == 0 ? MANY / 20 : MANY;

    memset(&e, 0, sizeof(e));
    test_run_init(&run);
    struct tm_index *index = tm_index_new(&run, TM_ACCOUNT_LAUNCHES, sizeof(struct row), memory, duplicates,
                                          duplicates == TM_INDEX_ASK ? has_higher_rank : NULL);

    assert_non_null(index);
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t ordinal = next_number(&seed) % KEYS;
        const struct row row = { key_of(spread, ordinal), i, next_number(&seed) % 5 };

        expect(&e, ordinal, &row, duplicates);
        tm_index_put(index, &row);
    }
    tm_index_finish(index);
    assert_int_equal(tm_index_count(index), e.count);
    assert_int_equal(tm_index_duplicate_count(index), e.duplicates);
    for (uint64_t i = 0; i < KEYS + 100; i++)
        assert_same(index, &e, spread, i);
    for (uint64_t i = 0; i < rows; i++)
        assert_same(index, &e, spread, next_number(&seed) % (KEYS + 1000));
    assert_int_equal(run.budget.spilled_bytes != 0, memory < 2 << 20);
    if (memory >= 1 << 20)
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= memory);
    tm_index_free(index);
    assert_ledger_is_even(&run);
}

static void look_ups_are_the_same_in_every_memory_for_all_keys_and_duplicates(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        for (int spread = 0; spread < SPREADS; spread++) {
            for (int duplicates = TM_INDEX_FIRST; duplicates <= TM_INDEX_ASK; duplicates++)
                check_index(memories[m], (enum spread)spread, (enum tm_index_duplicates)duplicates);
        }
    }
}

static void an_empty_index_finds_nothing(void **state)
{
    struct tm_run run;
    const void *row = &run;

    (void)state;
    test_run_init(&run);
    struct tm_index *index = tm_index_new(&run, TM_ACCOUNT_LAUNCHES, 8, 0, TM_INDEX_LAST, NULL);

    assert_non_null(index);
    tm_index_finish(index);
    row = tm_index_get(index, 0);
    assert_null(row);
    row = tm_index_get(index, UINT64_MAX);
    assert_null(row);
    assert_int_equal(tm_index_count(index), 0);
    tm_index_free(index);
    tm_index_free(NULL);
    assert_ledger_is_even(&run);
}

static void all_rows_of_one_key_leave_one(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        const void *found;

        test_run_init(&run);
        struct tm_index *index =
            tm_index_new(&run, TM_ACCOUNT_LAUNCHES, sizeof(struct row), memories[m], TM_INDEX_LAST, NULL);

        assert_non_null(index);
        for (uint64_t i = 0; i < 5000; i++) {
            const struct row row = { UINT64_MAX, i, 0 };

            tm_index_put(index, &row);
        }
        tm_index_finish(index);
        assert_int_equal(tm_index_count(index), 1);
        assert_int_equal(tm_index_duplicate_count(index), 4999);
        found = tm_index_get(index, UINT64_MAX);
        assert_non_null(found);
        assert_int_equal(((const struct row *)found)->number, 4999);
        tm_index_free(index);
        assert_ledger_is_even(&run);
    }
}

static void a_large_spilled_index_keeps_to_its_memory(void **state)
{
    struct tm_run run;
    const size_t memory = 1 << 20;
    const uint64_t count = 1000000; /* 24 MB of rows */
    const void *found;
    uint64_t seed = 4;

    (void)state;
    test_run_init(&run);
    struct tm_index *index = tm_index_new(&run, TM_ACCOUNT_LAUNCHES, sizeof(struct row), memory, TM_INDEX_FIRST, NULL);

    assert_non_null(index);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = (i * 7919) % count * 3;
        const struct row row = { key, key + 1, 0 };

        tm_index_put(index, &row);
    }
    tm_index_finish(index);
    assert_int_equal(tm_index_count(index), count);
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t key = i < 150000 ? i : next_number(&seed) % (3 * count + 10);

        found = tm_index_get(index, key);
        if (key % 3 == 0 && key < 3 * count)
            assert_int_equal(((const struct row *)found)->number, key + 1);
        else
            assert_null(found);
    }
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= memory);
    tm_index_free(index);
    assert_ledger_is_even(&run);
}

static tm_status use_index(struct tm_run *run, size_t memory)
{
    struct tm_index *index = tm_index_new(run, TM_ACCOUNT_LAUNCHES, sizeof(struct row), memory, TM_INDEX_FIRST, NULL);

    if (!index)
        return run->error.status;
    for (uint64_t i = 0; i < 5000; i++) {
        const struct row next = { i << 20, i, 0 };

        tm_index_put(index, &next);
    }
    tm_index_finish(index);
    for (uint64_t i = 0; i < 5000; i += 50)
        (void)tm_index_get(index, i << 20);
    tm_index_free(index);
    return run->error.status;
}

static tm_status use_in_memory(struct tm_run *run)
{
    return use_index(run, 8 << 20);
}

static tm_status use_on_disk(struct tm_run *run)
{
    return use_index(run, 16 << 10);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_in_memory);
    refuse_each_request(use_on_disk);
}

static void a_spill_file_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    assert_spilling_needs_a_file(use_in_memory, use_on_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_ups_are_the_same_in_every_memory_for_all_keys_and_duplicates),
        cmocka_unit_test(an_empty_index_finds_nothing),
        cmocka_unit_test(all_rows_of_one_key_leave_one),
        cmocka_unit_test(a_large_spilled_index_keeps_to_its_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_spill_file_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
