/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/groups.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

struct row {
    struct tm_key key;
    uint64_t count, sum, least;
};

static void merge(void *into, const void *from)
{
    struct row *a = into;
    const struct row *b = from;

    a->count += b->count;
    a->sum += b->sum;
    a->least = b->least < a->least ? b->least : a->least;
}

static const size_t memories[] = { 0, 4 << 10, 100 << 10, 1 << 20, 64 << 20 };
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]) };

/* Keys that differ in one half only and in both. */
static struct tm_key key_for(uint64_t ordinal)
{
    switch (ordinal % 3) {
    case 0:
        return (struct tm_key){ .high = ordinal, .low = 1 };
    case 1:
        return (struct tm_key){ .high = 1, .low = ordinal };
    default:
        return (struct tm_key){ .high = ordinal * UINT64_C(0x9e3779b97f4a7c15), .low = ~ordinal };
    }
}

static bool is_before(struct tm_key a, struct tm_key b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Read all groups; the sum of a mix of each goes to *mix. */
static uint64_t read_all(struct tm_groups *groups, uint64_t *events, uint64_t *mix)
{
    struct tm_key before = { 0, 0 };
    uint64_t count = 0;

    *events = 0;
    *mix = 0;
    for (;;) {
        const void *next;

        next = tm_groups_next(groups);
        if (!next)
            return count;
        const struct row *row = next;

        assert_true(count == 0 || is_before(before, row->key));
        before = row->key;
        *events += row->count;
        *mix = *mix * 31 + (row->key.high ^ row->key.low * 3) + row->sum * 7 + row->least;
        count++;
    }
}

static void groups_are_the_same_in_every_memory(void **state)
{
    /* clang-format off */
    static const struct { uint64_t keys, rows; } table[] = {
        { 1, 50000 }, { 10, 50000 }, { 3000, 50000 }, { 50000, 60000 }, { 1, 1 }, { 1, 0 },
    };
    /* clang-format on */

    (void)state;
    for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++) {
        uint64_t first_mix = 0, first_count = 0;

        for (size_t m = 0; m < MEMORIES; m++) {
            struct tm_run run;
            uint64_t seed = 11, events, mix;

            test_run_init(&run);
            struct tm_groups *groups = tm_groups_new(&run, TM_ACCOUNT_TABLES, sizeof(struct row), memories[m], merge);

            assert_non_null(groups);
            for (uint64_t i = 0; i < table[t].rows; i++) {
                const uint64_t value = next_number(&seed) >> 20;
                const struct row row = { key_for(next_number(&seed) % table[t].keys), 1, value, value };

                tm_groups_add(groups, &row);
            }
            tm_groups_finish(groups);
            for (int round = 0; round < 2; round++) {
                const uint64_t count = read_all(groups, &events, &mix);

                assert_int_equal(events, table[t].rows);
                if (m == 0 && round == 0) {
                    first_mix = mix;
                    first_count = count;
                }
                assert_int_equal(count, first_count);
                assert_int_equal(mix, first_mix);
                const void *end;

                end = tm_groups_next(groups);
                assert_null(end);
                tm_groups_rewind(groups);
            }
            if (memories[m] >= 1 << 20)
                assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= memories[m]);
            tm_groups_free(groups);
            assert_ledger_is_even(&run);
        }
        assert_true(first_count <= table[t].keys);
    }
}

static void few_groups_of_many_rows_are_not_spilled(void **state)
{
    struct tm_run run;
    uint64_t events, mix;

    (void)state;
    test_run_init(&run);
    struct tm_groups *groups = tm_groups_new(&run, TM_ACCOUNT_TABLES, sizeof(struct row), 256 << 10, merge);

    assert_non_null(groups);
    for (uint64_t i = 0; i < 1000000; i++) {
        const struct row row = { key_for(i % 1000), 1, i, i };

        tm_groups_add(groups, &row);
    }
    tm_groups_finish(groups);
    assert_int_equal(read_all(groups, &events, &mix), 1000);
    assert_int_equal(events, 1000000);
    assert_int_equal(run.budget.spilled_bytes, 0);
    tm_groups_free(groups);
    assert_ledger_is_even(&run);
}

static void many_groups_keep_to_their_memory(void **state)
{
    struct tm_run run;
    const size_t memory = 1 << 20;
    uint64_t events, mix;

    (void)state;
    test_run_init(&run);
    struct tm_groups *groups = tm_groups_new(&run, TM_ACCOUNT_TABLES, sizeof(struct row), memory, merge);

    assert_non_null(groups);
    for (uint64_t i = 0; i < 600000; i++) { /* 24 MB of rows, each key twice */
        const uint64_t ordinal = i % 300000;
        const struct row row = { key_for(ordinal), 1, i, i };

        tm_groups_add(groups, &row);
    }
    tm_groups_finish(groups);
    assert_int_equal(read_all(groups, &events, &mix), 300000);
    assert_int_equal(events, 600000);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= memory);
    tm_groups_free(groups);
    assert_ledger_is_even(&run);
}

static tm_status use_groups(struct tm_run *run, size_t memory)
{
    struct tm_groups *groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), memory, merge);

    if (!groups)
        return run->error.status;
    for (uint64_t i = 0; i < 6000; i++) {
        const struct row next = { key_for(i), 1, 1, 1 };

        tm_groups_add(groups, &next);
    }
    tm_groups_finish(groups);
    while (tm_groups_next(groups))
        ;
    tm_groups_free(groups);
    return run->error.status;
}

static tm_status use_in_memory(struct tm_run *run)
{
    return use_groups(run, 8 << 20);
}

static tm_status use_on_disk(struct tm_run *run)
{
    return use_groups(run, 16 << 10);
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
        cmocka_unit_test(groups_are_the_same_in_every_memory),
        cmocka_unit_test(few_groups_of_many_rows_are_not_spilled),
        cmocka_unit_test(many_groups_keep_to_their_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_spill_file_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
