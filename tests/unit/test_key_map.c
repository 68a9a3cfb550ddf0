/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/key_map.h"

#include "tests/support/test_run.h"

enum { KEYS = 60000, LITTLE = 64 << 10, MUCH = 16 << 20, PAGE_BYTES = 4 << 10 };

static struct tm_key key_of(uint64_t i)
{
    return tm_hash_key(&i, sizeof(i));
}

static void give_numbers(size_t memory_bytes, bool spills)
{
    struct tm_run run;
    struct tm_key_map *map;
    uint64_t number;

    test_run_init(&run);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, memory_bytes);
    assert_non_null(map);
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_int_equal(tm_key_map_number(map, key_of(i), 0, &number), TM_OK);
        assert_int_equal(number, i);
        assert_int_equal(tm_key_map_number(map, key_of(i / 3), 0, &number), TM_OK);
        assert_int_equal(number, i / 3);
    }
    assert_int_equal(run.budget.spilled_bytes != 0, spills);
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

static void keys_are_numbered_in_the_order_in_which_they_come(void **state)
{
    (void)state;
    give_numbers(MUCH, false);
}

static void every_key_has_one_number_also_on_disk(void **state)
{
    (void)state;
    give_numbers(LITTLE, true);
}

/* The number of i among the keys that follow each other, as a family and a member of it. */
static void number_member(struct tm_key_map *map, uint64_t i, uint64_t expected)
{
    uint64_t number;

    assert_int_equal(tm_key_map_number(map, key_of(i >> TM_KEY_MEMBER_BITS), i & ((1 << TM_KEY_MEMBER_BITS) - 1), &number), TM_OK);
    assert_int_equal(number, expected);
}

static void members_of_families_cost_a_page_for_dozens_of_them(void **state)
{
    struct tm_run run;
    struct tm_key_map *map;

    (void)state;
    test_run_init(&run);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, LITTLE);
    assert_non_null(map);
    for (uint64_t i = 0; i < KEYS; i++) {
        number_member(map, i, i);
        number_member(map, i - i % 100, i - i % 100);
    }
    assert_in_range(run.budget.spilled_bytes, KEYS, (uint64_t)KEYS * PAGE_BYTES / 8); /* a page for each would be KEYS pages */
    for (uint64_t i = KEYS; i-- > 0;)
        number_member(map, i, i);
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

static tm_status number_some(struct tm_run *run)
{
    struct tm_key_map *map = tm_key_map_new(run, TM_ACCOUNT_METADATA, LITTLE);
    tm_status st = map ? TM_OK : run->error.status;

    for (uint64_t i = 0; i < 2000 && st == TM_OK; i++) {
        uint64_t number;

        st = tm_key_map_number(map, key_of(i), 0, &number);
    }
    tm_key_map_free(map);
    return st;
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(number_some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_numbered_in_the_order_in_which_they_come),
        cmocka_unit_test(every_key_has_one_number_also_on_disk),
        cmocka_unit_test(members_of_families_cost_a_page_for_dozens_of_them),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
