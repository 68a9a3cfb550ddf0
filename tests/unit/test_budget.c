/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A request that no system can fulfil has to come back as NULL, under the address sanitizer too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void shares_add_up_to_under_the_limit(void **state)
{
    static const size_t limits[] = { 0, 1, 99, (size_t)32 << 20, (size_t)256 << 20, SIZE_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct tm_budget budget;
        size_t sum = 0;

        tm_budget_init(&budget, limits[i]);
        for (int a = 0; a < TM_ACCOUNT_COUNT; a++) {
            const size_t share = tm_budget_share(&budget, (enum tm_account)a);

            assert_true(share <= limits[i] - sum);
            sum += share;
        }
        assert_true(budget.pool_bytes <= limits[i] - sum);
        sum += budget.pool_bytes;
        assert_true(sum <= limits[i] / 100 * 99);
    }
}

static void at_the_least_limit_there_is_no_pool(void **state)
{
    struct tm_budget budget;

    (void)state;
    tm_budget_init(&budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    assert_int_equal(budget.pool_bytes, 0);
    assert_false(tm_budget_draw(&budget, 1));
    for (int a = 0; a < TM_ACCOUNT_COUNT; a++)
        assert_int_equal(tm_budget_share(&budget, (enum tm_account)a), tm_budget_part(&budget, (enum tm_account)a));
}

static void what_is_spare_goes_to_the_pool(void **state)
{
    struct tm_budget budget;

    (void)state;
    tm_budget_init(&budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    tm_budget_add_spare(&budget);
    assert_int_equal(budget.pool_bytes, TM_SPARE_MIB * TM_MIB);
    assert_true(tm_budget_draw_spare(&budget, TM_MIB));
    assert_false(tm_budget_draw(&budget, 4 * TM_MIB));
    assert_true(tm_budget_draw(&budget, 3 * TM_MIB));
}

/* While a part of the limit is lent, shares and pool are those of the rest. */
static void a_limit_changes_while_parts_of_it_are_in_use(void **state)
{
    struct tm_budget budget, half;

    (void)state;
    tm_budget_init(&budget, (size_t)256 * TM_MIB);
    tm_budget_add_spare(&budget);
    tm_budget_init(&half, (size_t)128 * TM_MIB);
    tm_budget_add_spare(&half);
    const size_t pool = budget.pool_bytes;

    assert_true(tm_budget_draw(&budget, 3 * TM_MIB));
    assert_true(tm_budget_set_limit(&budget, half.limit_bytes));
    assert_int_equal(budget.pool_bytes, half.pool_bytes - 3 * TM_MIB);
    for (int a = 0; a < TM_ACCOUNT_COUNT; a++)
        assert_int_equal(tm_budget_share(&budget, (enum tm_account)a), tm_budget_share(&half, (enum tm_account)a));
    tm_budget_put_back(&budget, TM_MIB);
    assert_true(tm_budget_set_limit(&budget, (size_t)256 * TM_MIB));
    assert_int_equal(budget.pool_bytes, pool - 2 * TM_MIB);
    while (budget.pool_bytes > TM_MIB)
        assert_true(tm_budget_draw(&budget, budget.pool_bytes / 2));
    assert_false(tm_budget_set_limit(&budget, half.limit_bytes));
    assert_int_equal(budget.limit_bytes, (size_t)256 * TM_MIB);
}

/* Who draws as long as the pool gives does not leave others without. */
static void the_pool_gives_a_part_of_what_it_has_and_takes_it_back(void **state)
{
    struct tm_budget budget;
    size_t drawn = TM_MIB;

    (void)state;
    tm_budget_init(&budget, (size_t)256 * TM_MIB);
    const size_t pool = budget.pool_bytes;

    assert_true(pool > (size_t)64 * TM_MIB);
    assert_false(tm_budget_draw(&budget, pool / 4 * 3));
    assert_true(tm_budget_draw(&budget, drawn));
    while (tm_budget_draw(&budget, drawn / 4))
        drawn += drawn / 4;
    assert_true(drawn > pool / 2 && drawn <= pool / 4 * 3);
    assert_false(tm_budget_draw_spare(&budget, 1));
    assert_int_equal(budget.pool_bytes, pool - drawn);
    assert_true(tm_budget_draw(&budget, TM_MIB));
    tm_budget_put_back(&budget, TM_MIB);
    tm_budget_put_back(&budget, drawn);
    assert_int_equal(budget.pool_bytes, pool);
    assert_true(tm_budget_draw_spare(&budget, pool / 8));
    assert_false(tm_budget_draw_spare(&budget, pool / 4));
    tm_budget_put_back(&budget, pool / 8);
}

static void memory_is_counted_by_account_with_its_peak(void **state)
{
    struct tm_budget budget;
    struct tm_error error = { 0 };

    (void)state;
    tm_budget_init(&budget, TM_MIB);
    unsigned char *a = tm_take(&budget, TM_ACCOUNT_NAMES, 1000, &error);

    assert_non_null(a);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(a[i], 0);
    memset(a, 7, 1000);
    a = tm_retake(&budget, TM_ACCOUNT_NAMES, a, 1000, 5000, &error);
    assert_non_null(a);
    assert_int_equal(a[999], 7);
    assert_int_equal(budget.used_bytes[TM_ACCOUNT_NAMES], 5000);
    tm_give(&budget, TM_ACCOUNT_NAMES, a, 5000);
    assert_int_equal(budget.used_bytes[TM_ACCOUNT_NAMES], 0);
    assert_true(budget.peak_bytes[TM_ACCOUNT_NAMES] >= 5000);
    assert_int_equal(budget.peak_bytes[TM_ACCOUNT_SORT], 0);
    tm_give(&budget, TM_ACCOUNT_NAMES, NULL, 123);
    assert_int_equal(error.status, TM_OK);
}

static void nothing_can_be_taken_and_given_back(void **state)
{
    struct tm_budget budget;
    struct tm_error error = { 0 };

    (void)state;
    tm_budget_init(&budget, TM_MIB);
    void *block = tm_take(&budget, TM_ACCOUNT_SORT, 0, &error);

    assert_non_null(block);
    block = tm_retake(&budget, TM_ACCOUNT_SORT, block, 0, 0, &error);
    assert_non_null(block);
    tm_give(&budget, TM_ACCOUNT_SORT, block, 0);
}

static void what_the_system_cannot_give_is_a_limit(void **state)
{
    struct tm_budget budget;
    struct tm_error error = { 0 };

    (void)state;
    tm_budget_init(&budget, TM_MIB);
    assert_null(tm_take(&budget, TM_ACCOUNT_MODEL, SIZE_MAX / 4, &error));
    assert_int_equal(error.status, TM_ERR_LIMIT);
    assert_non_null(strstr(error.what, "'model'"));
    assert_int_equal(budget.used_bytes[TM_ACCOUNT_MODEL], 0);

    struct tm_error second = { 0 };
    void *block = tm_take(&budget, TM_ACCOUNT_MODEL, 10, &second);

    assert_non_null(block);
    assert_null(tm_retake(&budget, TM_ACCOUNT_MODEL, block, 10, SIZE_MAX / 4, &second));
    assert_int_equal(second.status, TM_ERR_LIMIT);
    tm_give(&budget, TM_ACCOUNT_MODEL, block, 10); /* the old block is still there */
    assert_int_equal(budget.used_bytes[TM_ACCOUNT_MODEL], 0);
}

static void a_test_can_have_one_request_refused(void **state)
{
    struct tm_budget budget;
    struct tm_error error = { 0 };

    (void)state;
    tm_budget_init(&budget, TM_MIB);
    budget.refuse_in = 2;
    void *first = tm_take(&budget, TM_ACCOUNT_SORT, 8, &error);
    void *second = tm_take(&budget, TM_ACCOUNT_SORT, 8, &error);
    void *third = tm_take(&budget, TM_ACCOUNT_SORT, 8, &error);

    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    tm_give(&budget, TM_ACCOUNT_SORT, first, 8);
    tm_give(&budget, TM_ACCOUNT_SORT, third, 8);
}

static void every_account_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        assert_non_null(tm_account_name[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up_to_under_the_limit),
        cmocka_unit_test(at_the_least_limit_there_is_no_pool),
        cmocka_unit_test(what_is_spare_goes_to_the_pool),
        cmocka_unit_test(a_limit_changes_while_parts_of_it_are_in_use),
        cmocka_unit_test(the_pool_gives_a_part_of_what_it_has_and_takes_it_back),
        cmocka_unit_test(memory_is_counted_by_account_with_its_peak),
        cmocka_unit_test(nothing_can_be_taken_and_given_back),
        cmocka_unit_test(what_the_system_cannot_give_is_a_limit),
        cmocka_unit_test(a_test_can_have_one_request_refused),
        cmocka_unit_test(every_account_has_a_name),
    };

    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
