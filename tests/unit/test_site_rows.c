/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by site, bare and before a group table. */
#include "pipeline/site_rows.h"

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

static void rows_lie_in_few_cache_lines_and_take_what_memory_they_are_given(void **state)
{
    static const struct {
        size_t row_bytes, memory_bytes, expected_bytes;
        uint64_t expected_rows;
    } cases[] = {
        { 8, 0, 8, 16 },
        { 24, 32 * 1024, 32, 1024 },
        { 56, 64 * 1024, 64, 1024 },
        { 64, 64 * 1024 - 1, 64, 512 },
        { 72, 128 * 1024, 128, 1024 },
        { 200, SIZE_MAX / 4, 256, 65536 },
    };
    struct tm_site_rows rows;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(tm_site_rows_init(&rows, &run, TM_ACCOUNT_TABLES, cases[i].row_bytes, cases[i].memory_bytes));
        assert_int_equal(rows.row_bytes, cases[i].expected_bytes);
        assert_int_equal(rows.mask + 1, cases[i].expected_rows);
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
    OK(tm_groups_finish(groups));
    memset(counts, 0, 7 * sizeof(*counts));
    while (tm_groups_next(groups, &next) == TM_OK && next)
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
        cmocka_unit_test(rows_lie_in_few_cache_lines_and_take_what_memory_they_are_given),
        cmocka_unit_test(what_gathers_comes_to_the_groups_whole_however_many_sites_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
