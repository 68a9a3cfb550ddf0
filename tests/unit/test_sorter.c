/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/sorter.h"

#include "tests/support/test_run.h"

struct row {
    uint32_t key, number; /* number: order of input */
    uint64_t check;
};

static int by_key(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t whole_key(const void *row)
{
    return ((const struct row *)row)->key;
}

/* Rows of many keys have the same, and the part that differs is far up. */
static uint64_t coarse_key(const void *row)
{
    return (uint64_t)(((const struct row *)row)->key >> 20) << 50;
}

/* Only the lowest bits of 64 are lost in a tag. */
static uint64_t wide_key(const void *row)
{
    const uint64_t key = ((const struct row *)row)->key;

    return key << 32 | key;
}

static tm_row_prefix *const prefixes[] = { NULL, whole_key, coarse_key, wide_key };
enum { PREFIXES = sizeof(prefixes) / sizeof(prefixes[0]) };

static const size_t memories[] = { 0, 300, 4 << 10, 64 << 10, 300 << 10, 3 << 20, 64 << 20 };
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]) };

enum pattern { RANDOM, FEW_KEYS, ASCENDING, DESCENDING, RUNS, EQUAL, PATTERNS };

static uint32_t key_for(enum pattern pattern, uint32_t i, uint64_t *seed)
{
    switch (pattern) {
    case RANDOM:
        return (uint32_t)next_number(seed);
    case FEW_KEYS:
        return (uint32_t)(next_number(seed) % 7);
    case ASCENDING:
        return i;
    case DESCENDING:
        return UINT32_MAX - i;
    case RUNS:
        return i % 1000;
    default:
        return 5;
    }
}

/* Pull all rows and compare: in order, stable, each of them once and whole. */
static void assert_sorted(struct tm_sorter *sorter, uint32_t count)
{
    struct row before = { 0 };
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const void *next;

        next = tm_sorter_next(sorter);
        assert_non_null(next);
        const struct row *row = next;

        assert_int_equal(row->check, row->key * UINT64_C(31) + row->number);
        assert_true(i == 0 || before.key < row->key || (before.key == row->key && before.number < row->number));
        before = *row;
        sum += row->number;
    }
    const void *end = &before;

    assert_int_equal(sum, (uint64_t)count * (count - (count != 0)) / 2);
    end = tm_sorter_next(sorter);
    assert_null(end);
    end = tm_sorter_next(sorter);
    assert_null(end);
}

static void check_sort(size_t memory, enum pattern pattern, uint32_t count, tm_row_prefix *prefix)
{
    struct tm_run run;
    uint64_t seed = 42;

    test_run_init(&run);
    struct tm_sorter *sorter = tm_sorter_new(&run, TM_ACCOUNT_SORT, sizeof(struct row), memory, by_key);

    assert_non_null(sorter);
    tm_sorter_set_prefix(sorter, prefix);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t key = key_for(pattern, i, &seed);
        const struct row row = { key, i, key * UINT64_C(31) + i };

        tm_sorter_push(sorter, &row);
    }
    assert_int_equal(tm_sorter_count(sorter), count);
    tm_sorter_finish(sorter);
    if (memory > (1 << 20))
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= memory);
    for (int round = 0; round < 3; round++) {
        if (round == 2) { /* a rewind in the middle */
            for (uint32_t i = 0; i < count / 2; i++)
                assert_non_null(tm_sorter_next(sorter));
            tm_sorter_rewind(sorter);
        }
        assert_sorted(sorter, count);
        if (round == 0)
            tm_sorter_finish(sorter);
        else
            tm_sorter_rewind(sorter);
    }
    assert_int_equal(run.budget.spilled_bytes != 0, count * sizeof(struct row) > memory && count > 2);
    tm_sorter_free(sorter);
    assert_ledger_is_even(&run);
}

static void every_pattern_is_sorted_and_stable_in_every_memory(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            for (size_t p = 0; p < PREFIXES; p++)
                check_sort(memories[m], (enum pattern)pattern, memories[m] < 1000 ? 3000 : 70001, prefixes[p]);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t signed_prefix(const void *row)
{
    return tm_prefix_of(*(const int64_t *)row);
}

static void signed_numbers_have_a_prefix_in_their_order(void **state)
{
    enum { COUNT = 1000 };
    struct tm_run run;
    int64_t before = INT64_MIN;

    (void)state;
    test_run_init(&run);
    struct tm_sorter *sorter = tm_sorter_new(&run, TM_ACCOUNT_SORT, sizeof(int64_t), 1 << 20, by_number);

    assert_non_null(sorter);
    tm_sorter_set_prefix(sorter, signed_prefix);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t any = (i * 7919 % COUNT - COUNT / 2) * (INT64_C(1) << 40);
        const int64_t row = i == 0 ? INT64_MAX : i == 1 ? INT64_MIN : any;

        tm_sorter_push(sorter, &row);
    }
    tm_sorter_finish(sorter);
    for (int i = 0; i < COUNT; i++) {
        const void *row;

        row = tm_sorter_next(sorter);
        assert_non_null(row);
        assert_true(before <= *(const int64_t *)row);
        before = *(const int64_t *)row;
    }
    tm_sorter_free(sorter);
    assert_ledger_is_even(&run);
}

static void small_counts_are_sorted(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        for (uint32_t count = 0; count < 3; count++)
            check_sort(memories[m], DESCENDING, count, whole_key);
    }
    for (uint32_t count = 0; count < 200; count++)
        check_sort(64 << 20, RANDOM, count, NULL);
}

static void a_spilled_sort_keeps_to_its_memory(void **state)
{
    struct tm_run run;
    uint64_t seed = 3;
    const size_t memory = 1 << 20;

    (void)state;
    test_run_init(&run);
    struct tm_sorter *sorter = tm_sorter_new(&run, TM_ACCOUNT_SORT, 48, memory, by_key);

    assert_non_null(sorter);
    for (int i = 0; i < 400000; i++) { /* over 19 MB in 1 MiB: two levels of runs */
        uint64_t row[6] = { next_number(&seed) };

        tm_sorter_push(sorter, row);
    }
    tm_sorter_finish(sorter);
    const void *row;
    uint32_t last = 0, count = 0;

    for (;;) {
        row = tm_sorter_next(sorter);
        if (!row)
            break;
        assert_true(((const struct row *)row)->key >= last);
        last = ((const struct row *)row)->key;
        count++;
    }
    assert_int_equal(count, 400000);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= memory);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] > memory / 2);
    tm_sorter_free(sorter);
    assert_ledger_is_even(&run);
}

static tm_status sort_with(struct tm_run *run, size_t memory, int count)
{
    struct tm_sorter *sorter = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct row), memory, by_key);

    if (!sorter)
        return run->error.status;
    for (int i = 0; i < count; i++) {
        const struct row next = { .key = (uint32_t)(count - i) };

        tm_sorter_push(sorter, &next);
    }
    tm_sorter_finish(sorter);
    while (tm_sorter_next(sorter))
        ;
    tm_sorter_free(sorter);
    return run->error.status;
}

static tm_status sort_in_memory(struct tm_run *run)
{
    return sort_with(run, 4 << 20, 5000);
}

static tm_status sort_on_disk(struct tm_run *run)
{
    return sort_with(run, 8 << 10, 10000);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(sort_in_memory);
    refuse_each_request(sort_on_disk);
}

static void a_spill_file_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    assert_spilling_needs_a_file(sort_in_memory, sort_on_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_is_sorted_and_stable_in_every_memory),
        cmocka_unit_test(signed_numbers_have_a_prefix_in_their_order),
        cmocka_unit_test(small_counts_are_sorted),
        cmocka_unit_test(a_spilled_sort_keeps_to_its_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_spill_file_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests_name("sorter", tests, NULL, NULL);
}
