/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/sites.h"

#include "tests/support/test_run.h"

static struct tm_site site_of(uint64_t i)
{
    return (struct tm_site){ .name_and_config = i << 32 | i % 3, .rest = i % 5 };
}

static uint64_t number_of(struct tm_sites *sites, uint64_t i, bool *is_new)
{
    const struct tm_site site = site_of(i);

    return tm_sites_at(sites, &site, is_new)->number;
}

static void the_same_site_has_the_same_number_while_the_table_holds_it(void **state)
{
    struct tm_sites sites;
    struct tm_run run;
    uint64_t numbers[100];
    bool is_new;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 64 << 10), TM_OK);
    for (uint64_t i = 0; i < 100; i++) {
        numbers[i] = number_of(&sites, i, &is_new);
        assert_true(is_new);
        assert_int_equal(numbers[i], i + 1);
    }
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(number_of(&sites, i, &is_new), numbers[i]);
        assert_false(is_new);
    }
    tm_sites_release(&sites);
    assert_ledger_is_even(&run);
}

static void every_part_of_a_site_counts(void **state)
{
    const struct tm_site site = { .name_and_config = 7 };
    const struct tm_site others[] = {
        { .name_and_config = 8 }, { .name_and_config = 7, .rest = 1 }, { .name_and_config = 7, .traits = 1 },
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

/* More sites than the table holds: it forgets, but no number is given to two of them. */
static void a_full_table_forgets_and_gives_no_number_twice(void **state)
{
    enum { MANY = 5000 };
    static uint64_t owner[4 * MANY];
    struct tm_sites sites;
    struct tm_run run;
    bool is_new;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_sites_init(&sites, &run, TM_ACCOUNT_LAUNCHES, 0), TM_OK);
    const size_t held = run.budget.used_bytes[TM_ACCOUNT_LAUNCHES];

    for (uint64_t i = 0; i < 3 * MANY; i++) {
        const uint64_t number = number_of(&sites, i % MANY, &is_new);

        assert_true(number > 0 && number < 4 * MANY);
        assert_true(is_new == (owner[number] == 0));
        assert_true(is_new || owner[number] == i % MANY + 1);
        owner[number] = i % MANY + 1;
    }
    assert_int_equal(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES], held);
    tm_sites_release(&sites);
    assert_ledger_is_even(&run);
}

static tm_status use_sites(struct tm_run *run)
{
    struct tm_sites sites;
    const tm_status st = tm_sites_init(&sites, run, TM_ACCOUNT_LAUNCHES, 1 << 20);

    tm_sites_release(&sites);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_sites);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_site_has_the_same_number_while_the_table_holds_it),
        cmocka_unit_test(every_part_of_a_site_counts),
        cmocka_unit_test(a_full_table_forgets_and_gives_no_number_twice),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("sites", tests, NULL, NULL);
}
