/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/front.h"
#include "tests/support/test_run.h"

enum { SITES = 3000, GROUPS = 50, TURNS = 60000 };

struct row {
    struct tm_key key;
    uint64_t count, sum;
};

struct site_row {
    struct row row;
    uint64_t looked_up; /* remembered for the site */
};

static void merge(void *into, const void *from)
{
    ((struct row *)into)->count += ((const struct row *)from)->count;
    ((struct row *)into)->sum += ((const struct row *)from)->sum;
}

static uint64_t group_of(uint64_t site)
{
    return site % GROUPS;
}

static tm_status fold(struct tm_front *front, uint64_t site, uint64_t value)
{
    bool is_new;
    struct site_row *row = tm_front_at(front, site, &is_new);

    if (!row)
        return front->run->error.status;
    if (is_new) {
        assert_int_equal(row->row.count, 0);
        assert_int_equal(row->looked_up, 0);
        row->row.key = (struct tm_key){ group_of(site), 1 };
        row->looked_up = site * 3;
    }
    assert_int_equal(row->looked_up, site * 3);
    row->row.count++;
    row->row.sum += value;
    return TM_OK;
}

static tm_status use_front(struct tm_run *run, size_t memory_bytes, struct row *result)
{
    struct tm_front front = { .run = NULL };
    struct tm_groups *groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), 1 << 20, merge);
    const struct row *row;
    uint64_t seed = 1, n = 0;
    tm_status st = groups ? TM_OK : run->error.status;

    if (st == TM_OK)
        st = tm_front_init(&front, run, TM_ACCOUNT_TABLES, sizeof(struct site_row), memory_bytes, groups);
    for (uint64_t i = 0; i < TURNS && st == TM_OK; i++) {
        st = fold(&front, 1 + next_number(&seed) % SITES, i);
        if (st == TM_OK && i == TURNS / 2)
            st = tm_front_flush(&front);
    }
    if (st == TM_OK) {
        tm_front_flush(&front);
        tm_groups_finish(groups);
        while ((row = tm_groups_next(groups)) && n < GROUPS)
            if (result)
                result[n++] = *row;
    }
    tm_front_release(&front);
    tm_groups_free(groups);
    return run->error.status;
}

static void groups_are_the_same_for_any_number_of_rows(void **state)
{
    static const size_t memories[] = { 0, 20 << 10, 1 << 20 };
    struct row expected[GROUPS] = { { .count = 0 } };
    uint64_t seed = 1;

    (void)state;
    for (uint64_t i = 0; i < TURNS; i++) {
        struct row *row = &expected[group_of(1 + next_number(&seed) % SITES)];

        row->count++;
        row->sum += i;
    }
    for (size_t m = 0; m < 3; m++) {
        struct row result[GROUPS];
        struct tm_run run;

        test_run_init(&run);
        assert_int_equal(use_front(&run, memories[m], result), TM_OK);
        for (uint64_t g = 0; g < GROUPS; g++) {
            assert_int_equal(result[g].key.high, g);
            assert_int_equal(result[g].count, expected[g].count);
            assert_int_equal(result[g].sum, expected[g].sum);
        }
        assert_ledger_is_even(&run);
    }
}

/* How many of the pairs that occur again no longer have their row. */
static uint64_t count_lost(struct tm_run *run, uint32_t firsts, uint32_t seconds)
{
    struct tm_groups *groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), 1 << 20, merge);
    struct tm_front front;
    uint64_t lost = 0;

    assert_int_equal(tm_front_init(&front, run, TM_ACCOUNT_TABLES, sizeof(struct site_row), 256 << 10, groups), TM_OK);
    for (uint32_t i = 0; i < 2 * firsts * seconds; i++) {
        const uint32_t first = i % firsts, second = UINT32_C(0xffffff00) + i / firsts % seconds;
        struct site_row *row;
        bool is_new;

        row = tm_front_at(&front, tm_site_of_pair(first, second), &is_new);
        assert_non_null(row);
        row->row.key = (struct tm_key){ first, second };
        lost += is_new && i >= firsts * seconds;
    }
    tm_front_release(&front);
    tm_groups_free(groups);
    return lost;
}

static void pairs_that_share_a_number_have_rows_of_their_own(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(count_lost(&run, 200, 1), 0);
    assert_int_equal(count_lost(&run, 1, 200), 0);
    assert_ledger_is_even(&run);
}

static tm_status use_small(struct tm_run *run)
{
    return use_front(run, 0, NULL);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_the_same_for_any_number_of_rows),
        cmocka_unit_test(pairs_that_share_a_number_have_rows_of_their_own),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("group front", tests, NULL, NULL);
}
