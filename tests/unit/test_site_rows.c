/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by site, bare and before a group table. */
#include "pipeline/front.h"

#include "tests/support/test_run.h"

#define OK(call) assert_int_equal(call, TM_OK)

struct memory {
    uint64_t site, kept;
    uint8_t more[60];
};

static void a_row_is_kept_until_another_site_needs_its_room(void **state)
{
    struct tm_site_rows rows;
    struct tm_run run;
    bool is_new;

    (void)state;
    test_run_init(&run);
    OK(tm_site_rows_init(&rows, &run, TM_ACCOUNT_TABLES, sizeof(struct memory), 0));
    for (uint64_t site = 1; site <= 16; site++) {
        struct memory *row = tm_site_rows_at(&rows, site, &is_new);

        assert_true(is_new);
        row->kept = 100 + site;
        memset(row->more, 255, sizeof(row->more)); /* does not reach into the next one */
    }
    for (uint64_t site = 1; site <= 16; site++) {
        const struct memory *row = tm_site_rows_at(&rows, site, &is_new);

        assert_false(is_new);
        assert_int_equal(row->kept, 100 + site);
    }
    (void)tm_site_rows_at(&rows, 17, &is_new); /* where 1 was */
    assert_true(is_new);
    (void)tm_site_rows_at(&rows, 1, &is_new);
    assert_true(is_new);
    (void)tm_site_rows_at(&rows, 2, &is_new);
    assert_false(is_new);
    tm_site_rows_release(&rows);
    tm_site_rows_release(&rows);
    assert_ledger_is_even(&run);
}

/* So many sites one after the other; how many of them are remembered. */
static uint64_t remember(struct tm_site_rows *rows, uint64_t sites)
{
    uint64_t count = 0;
    bool is_new;

    for (uint64_t site = 1; site <= sites; site++) {
        struct memory *row = tm_site_rows_at(rows, site, &is_new);

        assert_non_null(row);
        assert_true(is_new);
        row->kept = 100 + site;
    }
    for (uint64_t site = 1; site <= sites; site++) {
        const struct memory *row = tm_site_rows_place(rows, site);

        assert_true(row->site != site || row->kept == 100 + site);
        count += row->site == site;
    }
    return count;
}

static void rows_grow_while_sites_meet_as_far_as_memory_goes(void **state)
{
    static const struct {
        size_t memory_bytes, limit_mib;
        uint64_t sites, expected;
    } cases[] = {
        { 0, 32, 16, 16 },
        { 0, 32, 17, 16 },            /* the pool of the least limit is empty */
        { 3 * 16 * 128, 32, 17, 17 }, /* both blocks are held while rows move */
        { 3 * 16 * 128 - 1, 32, 17, 16 },
        { 3 * 512 * 128, 32, 5000, 1024 },
        { SIZE_MAX / 4, 32, 70000, 65536 },
        { 0, 256, 5000, 5000 }, /* of the pool */
        { 0, 256, 20000, 16384 },
    };
    struct tm_site_rows rows;
    struct tm_run run;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_run_init(&run);
        tm_budget_init(&run.budget, cases[i].limit_mib << 20);
        const size_t pool_bytes = run.budget.pool_bytes;

        OK(tm_site_rows_init(&rows, &run, TM_ACCOUNT_TABLES, sizeof(struct memory), cases[i].memory_bytes));
        assert_int_equal(remember(&rows, cases[i].sites), cases[i].expected);
        assert_int_equal(pool_bytes - run.budget.pool_bytes, rows.drawn_bytes);
        tm_site_rows_release(&rows);
        assert_int_equal(run.budget.pool_bytes, pool_bytes);
        assert_ledger_is_even(&run);
    }
}

/* Two that meet for ever, because what makes them differ lies above any number of rows. */
static void few_rows_do_not_grow_for_two_that_meet(void **state)
{
    struct tm_site_rows rows;
    struct tm_run run;
    bool is_new;

    (void)state;
    test_run_init(&run);
    OK(tm_site_rows_init(&rows, &run, TM_ACCOUNT_TABLES, sizeof(struct memory), SIZE_MAX / 4));
    for (uint64_t i = 0; i < 100; i++)
        (void)tm_site_rows_at(&rows, 1 + (i % 2 << 32), &is_new);
    assert_int_equal(rows.mask + 1, 16);
    tm_site_rows_release(&rows);
    assert_ledger_is_even(&run);
}

static void rows_lie_in_few_cache_lines(void **state)
{
    static const struct {
        size_t row_bytes, expected_bytes;
    } cases[] = { { 8, 8 }, { 24, 32 }, { 56, 64 }, { 64, 64 }, { 72, 128 }, { 200, 256 } };
    struct tm_site_rows rows;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(tm_site_rows_init(&rows, &run, TM_ACCOUNT_TABLES, cases[i].row_bytes, 0));
        assert_int_equal(rows.row_bytes, cases[i].expected_bytes);
        tm_site_rows_release(&rows);
    }
    assert_ledger_is_even(&run);
}

/* --- before groups --- */

struct sum {
    struct tm_key key;
    uint64_t count;
};

static void merge(void *into, const void *from)
{
    ((struct sum *)into)->count += ((const struct sum *)from)->count;
}

/* Sites 1 to `sites` again and again; site n is of group n modulo 7. */
static void gather(uint64_t sites, uint64_t counts[7])
{
    struct tm_groups *groups;
    struct tm_front front;
    struct tm_run run;
    const void *next;

    test_run_init(&run);
    groups = tm_groups_new(&run, TM_ACCOUNT_TABLES, sizeof(struct sum), 1 << 20, merge);
    assert_non_null(groups);
    OK(tm_front_init(&front, &run, TM_ACCOUNT_TABLES, sizeof(struct sum), 0, groups));
    for (uint64_t i = 0; i < 10 * sites; i++) {
        bool is_new;
        struct sum *row = tm_front_at(&front, 1 + i % sites, &is_new);

        assert_non_null(row);
        if (is_new)
            row->key.low = (1 + i % sites) % 7;
        row->count++;
    }
    OK(tm_front_flush(&front));
    OK(tm_front_flush(&front)); /* nothing twice */
    tm_groups_finish(groups);
    memset(counts, 0, 7 * sizeof(*counts));
    while ((next = tm_groups_next(groups)))
        counts[((const struct sum *)next)->key.low] = ((const struct sum *)next)->count;
    tm_front_release(&front);
    tm_groups_free(groups);
    assert_ledger_is_even(&run);
}

static void what_gathers_comes_to_the_groups_whole_however_many_sites_there_are(void **state)
{
    static const uint64_t sites[] = { 7, 16, 17, 33, 700 };

    (void)state;
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
        uint64_t counts[7];

        gather(sites[i], counts);
        for (uint64_t group = 0; group < 7; group++) {
            uint64_t expected = 0;

            for (uint64_t site = 1; site <= sites[i]; site++)
                expected += site % 7 == group ? 10 : 0;
            assert_int_equal(counts[group], expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_kept_until_another_site_needs_its_room),
        cmocka_unit_test(rows_grow_while_sites_meet_as_far_as_memory_goes),
        cmocka_unit_test(few_rows_do_not_grow_for_two_that_meet),
        cmocka_unit_test(rows_lie_in_few_cache_lines),
        cmocka_unit_test(what_gathers_comes_to_the_groups_whole_however_many_sites_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
