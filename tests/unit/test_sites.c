/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/front.h"

#include "tests/support/test_run.h"

static struct tm_site made(uint64_t i)
{
    return (struct tm_site){ .name_and_config = i / 4 << 32, .rest = i % 2 << 8, .traits = (uint32_t)(i % 4 / 2) };
}

static uint64_t number_of(struct tm_sites *sites, uint64_t i, bool *is_new)
{
    const struct tm_site site = made(i);
    struct tm_sites_slot *const slot = tm_sites_at(sites, &site, is_new);

    assert_non_null(slot);
    if (*is_new) {
        assert_int_equal(slot->told, 0);
        slot->told = (uint32_t)i;
    }
    assert_int_equal(slot->told, i);
    return slot->number;
}

static void numbers_stay_while_the_table_grows(void **state)
{
    struct tm_run run;
    struct tm_sites sites;
    bool is_new;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 1 << 20), TM_OK);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_int_equal(number_of(&sites, i, &is_new), i + 1);
        assert_true(is_new);
        assert_int_equal(number_of(&sites, i / 2, &is_new), i / 2 + 1);
        assert_false(is_new);
    }
    assert_true(run.budget.used_bytes[TM_ACCOUNT_LAUNCHES] <= 1 << 20);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= 1 << 20);
    tm_sites_release(&sites);
    assert_ledger_is_even(&run);
}

static void a_full_table_forgets_and_gives_no_number_twice(void **state)
{
    struct tm_run run;
    struct tm_sites sites;
    uint64_t last = 0, forgotten = 0;
    bool is_new;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 24 << 10), TM_OK);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t number = number_of(&sites, i % 1000, &is_new);

        assert_true(is_new ? number == last + 1 : number <= last);
        last = is_new ? number : last;
        forgotten += is_new && i >= 1000;
    }
    assert_true(forgotten > 0);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= 24 << 10);
    tm_sites_release(&sites);
    assert_ledger_is_even(&run);
}

static void the_pool_helps_a_table_that_is_full(void **state)
{
    struct tm_run run;
    struct tm_sites sites;
    bool is_new;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    const size_t pool = run.budget.pool_bytes;

    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 16 << 10), TM_OK);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(number_of(&sites, i % 1000, &is_new), i % 1000 + 1);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= (16 << 10) + pool - run.budget.pool_bytes);
    tm_sites_release(&sites);
    assert_int_equal(run.budget.pool_bytes, pool);
    assert_ledger_is_even(&run);
}

static tm_status whole_job(struct tm_run *run)
{
    struct tm_sites sites;
    tm_status st = tm_sites_init(&sites, run, TM_ACCOUNT_LAUNCHES, 1 << 20);
    bool is_new;

    for (uint64_t i = 0; i < 1000 && st == TM_OK; i++) {
        const struct tm_site site = made(i);

        st = tm_sites_at(&sites, &site, &is_new) ? TM_OK : run->error.status;
    }
    tm_sites_release(&sites);
    return st;
}

static void every_part_of_a_site_counts(void **state)
{
    const struct tm_site site = { .name_and_config = 7 };
    const struct tm_site others[] = {
        { .name_and_config = 8 },
        { .name_and_config = 7, .rest = 1 },
        { .name_and_config = 7, .traits = 1 },
    };
    struct tm_sites sites;
    struct tm_run run;
    bool is_new;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 0), TM_OK);
    (void)tm_sites_at(&sites, &site, &is_new);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        (void)tm_sites_at(&sites, &others[i], &is_new);
        assert_true(is_new);
    }
    (void)tm_sites_at(&sites, &site, &is_new);
    assert_false(is_new);
    tm_sites_release(&sites);
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay_while_the_table_grows),
        cmocka_unit_test(a_full_table_forgets_and_gives_no_number_twice),
        cmocka_unit_test(the_pool_helps_a_table_that_is_full),
        cmocka_unit_test(every_part_of_a_site_counts),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
