/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/names.h"

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
        number = tm_key_map_number(map, key_of(i), 0);
        assert_int_equal(number, i);
        number = tm_key_map_number(map, key_of(i / 3), 0);
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

    number = tm_key_map_number(map, key_of(i >> TM_KEY_MEMBER_BITS), i & ((1 << TM_KEY_MEMBER_BITS) - 1));
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
    assert_in_range(run.budget.spilled_bytes, KEYS,
                    (uint64_t)KEYS * PAGE_BYTES / 8); /* a page for each would be KEYS pages */
    for (uint64_t i = KEYS; i-- > 0;)
        number_member(map, i, i);
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

/* ---- keys at random, in levels of runs ---- */

enum { MANY = 200000, WRITTEN_BYTES = 20 * 32 /* of a key: it is merged some times */ };

static void ask_at_random(struct tm_key_map *map, uint64_t keys)
{
    uint64_t state = 5, number;

    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t which = next_number(&state) % keys;

        number = tm_key_map_number(map, key_of(which), 0);
        assert_int_equal(number, which);
    }
}

static void number_many(size_t memory_bytes, uint64_t keys, size_t most_bytes)
{
    struct tm_run run;
    struct tm_key_map *map;
    uint64_t number;

    test_run_init(&run);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, memory_bytes);
    assert_non_null(map);
    for (uint64_t i = 0; i < keys; i++) {
        number = tm_key_map_number(map, key_of(i), 0);
        assert_int_equal(number, i);
    }
    const size_t spilled = run.budget.spilled_bytes;

    assert_in_range(spilled, keys * sizeof(struct tm_key), keys * WRITTEN_BYTES);
    ask_at_random(map, keys);
    assert_in_range(run.budget.spilled_bytes - spilled, 0, most_bytes); /* of the last new keys */
    assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_METADATA], 0, most_bytes);
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

static void random_keys_are_merged_in_levels_within_their_memory(void **state)
{
    (void)state;
    number_many(LITTLE, MANY, LITTLE);
}

static void runs_without_filters_are_read(void **state)
{
    (void)state;
    number_many(0, KEYS, LITTLE);
}

enum { FAMILIES = 2000, MEMBERS = 1 << TM_KEY_MEMBER_BITS };

/* Members of many families, each asked for several times in no order. */
static void number_families(size_t memory_bytes)
{
    static uint64_t expected[FAMILIES * MEMBERS]; /* plus one */
    struct tm_run run;
    struct tm_key_map *map;
    uint64_t state = 9, count = 0, number;

    memset(expected, 0, sizeof(expected));
    test_run_init(&run);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, memory_bytes);
    assert_non_null(map);
    for (uint64_t i = 0; i < UINT64_C(3) * FAMILIES * MEMBERS; i++) {
        const uint64_t which = next_number(&state) % (FAMILIES * MEMBERS);

        number = tm_key_map_number(map, key_of(which / MEMBERS), which % MEMBERS);
        if (!expected[which])
            expected[which] = ++count;
        assert_int_equal(number, expected[which] - 1);
    }
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

static void members_have_their_numbers_with_any_memory(void **state)
{
    (void)state;
    for (size_t memory_bytes = LITTLE; memory_bytes <= MUCH; memory_bytes *= 4)
        number_families(memory_bytes);
}

static void spare_memory_of_the_pool_is_used_before_the_disk(void **state)
{
    struct tm_run run;
    struct tm_key_map *map;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, LITTLE);
    assert_non_null(map);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(tm_key_map_number(map, key_of(i), 0), i);
    assert_int_equal(run.budget.spilled_bytes, 0);
    tm_key_map_free(map);
    assert_ledger_is_even(&run);
}

/* ---- failures ---- */

static tm_status number_keys(struct tm_run *run, uint64_t keys)
{
    struct tm_key_map *map = tm_key_map_new(run, TM_ACCOUNT_METADATA, LITTLE);

    for (uint64_t i = 0; i < keys && map; i++)
        (void)tm_key_map_number(map, key_of(i), 0);
    tm_key_map_free(map);
    return run->error.status;
}

static tm_status number_few(struct tm_run *run)
{
    return number_keys(run, 100);
}

static tm_status number_some(struct tm_run *run)
{
    return number_keys(run, 4000);
}

static void keys_that_fit_need_no_file(void **state)
{
    (void)state;
    assert_spilling_needs_a_file(number_few, number_some);
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
        cmocka_unit_test(random_keys_are_merged_in_levels_within_their_memory),
        cmocka_unit_test(runs_without_filters_are_read),
        cmocka_unit_test(members_have_their_numbers_with_any_memory),
        cmocka_unit_test(spare_memory_of_the_pool_is_used_before_the_disk),
        cmocka_unit_test(keys_that_fit_need_no_file),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
