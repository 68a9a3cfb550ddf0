/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/rows.h"

#include "tests/support/test_run.h"

struct wide {
    uint64_t number;
    char pad[40];
};

static const size_t memories[] = { 0, 200 << 10, 1 << 20, 64 << 20 };
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]), MANY = 20000 };

static struct tm_rows *filled(struct tm_run *run, size_t memory)
{
    struct tm_rows *rows = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct wide), memory);

    assert_non_null(rows);
    for (uint64_t i = 0; i < MANY; i++) {
        const struct wide row = { .number = i * i };

        tm_rows_append(rows, &row);
    }
    assert_int_equal(tm_rows_count(rows), MANY);
    return rows;
}

static void rows_read_back_in_every_memory(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        uint64_t seed = 1;

        test_run_init(&run);
        struct tm_rows *rows = filled(&run, memories[m]);

        assert_int_equal(run.budget.spilled_bytes != 0, memories[m] < MANY * sizeof(struct wide));
        for (int i = 0; i < 2 * MANY; i++) {
            const uint64_t index = i < MANY ? (uint64_t)i : next_number(&seed) % MANY;
            const struct wide *row = tm_rows_at(rows, index);

            assert_non_null(row);
            assert_int_equal(row->number, index * index);
        }
        const size_t least = 2 * (64 << 10) + 4096;

        assert_true(run.budget.peak_bytes[TM_ACCOUNT_METADATA] <= (memories[m] > least ? memories[m] : least));
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

/* Read once in order, and forgotten: pages that are still in memory are not written for it. */
static void forgotten_pages_are_not_written(void **state)
{
    enum { PAGE_ROWS = 1024, PART = 16 }; /* of 48 bytes: a page of 48 KiB */

    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;

        test_run_init(&run);
        struct tm_rows *rows = filled(&run, memories[m]);
        const size_t before = run.budget.spilled_bytes, pages = MANY / PAGE_ROWS;

        for (uint64_t i = 0; i < pages * PAGE_ROWS; i++) {
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, i * i);
            if (i % PART == PART - 1)
                tm_rows_forget(rows, i - (PART - 1), PART);
        }
        /* The first page that is read back takes the place of one that has to be written. */
        assert_in_range(run.budget.spilled_bytes - before, 0, 2 * PAGE_ROWS * sizeof(struct wide));
        /* The others are still there, and memory of forgotten ones is used again. */
        for (uint64_t i = pages * PAGE_ROWS; i < MANY; i++)
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, i * i);
        for (uint64_t i = MANY; i < 3 * (uint64_t)MANY; i++)
            tm_rows_append(rows, &(struct wide){ .number = i * i });
        tm_rows_resize(rows, 2 * (uint64_t)MANY);
        tm_rows_allow(rows, memories[m] + (1 << 20));
        for (uint64_t i = MANY; i < 2 * (uint64_t)MANY; i++)
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, i * i);
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void changes_stay_in_every_memory(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        uint64_t seed = 2;

        test_run_init(&run);
        struct tm_rows *rows = filled(&run, memories[m]);
        static uint64_t expected[MANY];

        for (uint64_t i = 0; i < MANY; i++)
            expected[i] = i * i;
        for (int i = 0; i < 3 * MANY; i++) {
            const uint64_t index = next_number(&seed) % MANY;
            struct wide *row = tm_rows_change(rows, index);

            assert_non_null(row);
            assert_int_equal(row->number, expected[index]);
            row->number = expected[index] = next_number(&seed);
        }
        for (uint64_t i = 0; i < MANY; i++)
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, expected[i]);
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void rows_of_a_page_are_changed_without_a_call_each(void **state)
{
    (void)state;
    for (size_t memory = 1; memory <= 4 << 20; memory *= 64) {
        struct tm_run run;
        struct tm_rows *rows;
        struct tm_row_page page = { .rows = NULL };

        test_run_init(&run);
        rows = tm_rows_new(&run, TM_ACCOUNT_TABLES, sizeof(uint64_t), memory);
        tm_rows_resize(rows, 100000);
        for (uint64_t i = 0; i < 100000; i++) {
            const uint64_t index = i * 7919 % 100000; /* in any order */

            *(uint64_t *)tm_rows_change_near(rows, sizeof(uint64_t), index, &page) += index + 1;
        }
        for (uint64_t i = 0; i < 100000; i++)
            assert_int_equal(*(const uint64_t *)tm_rows_at(rows, i), i + 1);
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void new_rows_are_zero_after_growing_and_after_shrinking(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;

        test_run_init(&run);
        struct tm_rows *rows = filled(&run, memories[m]);
        const uint64_t kept = 3333;

        tm_rows_resize(rows, kept);
        assert_int_equal(tm_rows_count(rows), kept);
        tm_rows_resize(rows, 3 * MANY);
        for (uint64_t i = 0; i < 3 * MANY; i++)
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, i < kept ? i * i : 0);
        const struct wide last = { .number = 77 };

        tm_rows_append(rows, &last);
        assert_int_equal(((const struct wide *)tm_rows_at(rows, 3 * MANY))->number, 77);
        tm_rows_resize(rows, 0);
        tm_rows_append(rows, &last);
        tm_rows_resize(rows, 5000);
        assert_int_equal(((const struct wide *)tm_rows_at(rows, 0))->number, 77);
        assert_int_equal(((const struct wide *)tm_rows_at(rows, 4999))->number, 0);
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void a_long_array_of_zeros_costs_no_disk(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_rows *rows = tm_rows_new(&run, TM_ACCOUNT_STEPS, 16, 0);

    assert_non_null(rows);
    tm_rows_resize(rows, UINT64_C(1) << 34);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t *row = tm_rows_change(rows, i << 30);

        assert_non_null(row);
        assert_int_equal(*row, 0);
        *row = i + 1;
    }
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(*(const uint64_t *)tm_rows_at(rows, i << 30), i + 1);
    assert_true(run.budget.spilled_bytes < 2 << 20);
    tm_rows_resize(rows, UINT64_MAX);
    assert_int_equal(run.error.status, TM_ERR_LIMIT);
    tm_rows_free(rows);
}

static void odd_row_sizes_work(void **state)
{
    static const size_t sizes[] = { 1, 3, 7, 24, 100, 1025, 2047, TM_ROW_BYTES_MOST };

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct tm_run run;
        static unsigned char row[TM_ROW_BYTES_MOST];
        const uint64_t n = sizes[s] < 1000 ? 300000 / sizes[s] : 20;

        test_run_init(&run);
        struct tm_rows *rows = tm_rows_new(&run, TM_ACCOUNT_STEPS, sizes[s], 0);

        assert_non_null(rows);
        for (uint64_t i = 0; i < n; i++) {
            memset(row, (int)(i % 251), sizes[s]);
            tm_rows_append(rows, row);
        }
        for (uint64_t i = 0; i < n; i++) {
            const unsigned char *got = tm_rows_at(rows, i);

            assert_non_null(got);
            assert_int_equal(got[0], i % 251);
            assert_int_equal(got[sizes[s] - 1], i % 251);
        }
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void blocks_of_rows_are_put_in_and_read_as_spans(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        static char text[200000];
        uint64_t done = 0;

        test_run_init(&run);
        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = (char)(i % 127);
        struct tm_rows *rows = tm_rows_new(&run, TM_ACCOUNT_NAMES, 1, memories[m]);

        assert_non_null(rows);
        tm_rows_append_many(rows, text, 0);
        tm_rows_append_many(rows, text, 1);
        tm_rows_append_many(rows, text + 1, sizeof(text) - 1);
        while (done < sizeof(text)) {
            uint64_t n;
            const char *span = tm_rows_span(rows, done, &n);

            assert_non_null(span);
            assert_true(n > 0 && n <= sizeof(text) - done);
            assert_memory_equal(span, text + done, n);
            done += n > 1000 ? 1000 : n;
        }
        tm_rows_free(rows);
        assert_ledger_is_even(&run);
    }
}

static void more_memory_can_be_allowed_later(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_rows *rows = filled(&run, 0);

    tm_rows_allow(rows, 64 << 20);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < MANY; i++)
            assert_int_equal(((const struct wide *)tm_rows_at(rows, i))->number, i * i);
    }
    assert_true(run.budget.used_bytes[TM_ACCOUNT_METADATA] > MANY * sizeof(struct wide));
    tm_rows_allow(rows, 0);
    assert_int_equal(((const struct wide *)tm_rows_at(rows, 7))->number, 49);
    tm_rows_free(rows);
    assert_ledger_is_even(&run);
}

static tm_status use_rows(struct tm_run *run)
{
    struct tm_rows *rows = tm_rows_new(run, TM_ACCOUNT_METADATA, 48, 300 << 10);
    const char row[48] = "x";

    if (!rows)
        return run->error.status;
    for (int i = 0; i < 9000; i++)
        tm_rows_append(rows, row);
    assert_non_null(tm_rows_at(rows, 0));
    tm_rows_free(rows);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_rows);
}

static void a_spill_file_that_cannot_be_made_is_an_error(void **state)
{
    struct tm_run run;
    const char row[48] = "x";

    (void)state;
    test_run_init(&run);
    run.spill_dir = "/nowhere/at/all";
    struct tm_rows *rows = tm_rows_new(&run, TM_ACCOUNT_METADATA, sizeof(row), 0);

    assert_non_null(rows);
    for (int i = 0; i < 9000; i++)
        tm_rows_append(rows, row);
    assert_int_equal(run.error.status, TM_ERR_OUTPUT);
    tm_rows_free(rows);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_read_back_in_every_memory),
        cmocka_unit_test(forgotten_pages_are_not_written),
        cmocka_unit_test(changes_stay_in_every_memory),
        cmocka_unit_test(rows_of_a_page_are_changed_without_a_call_each),
        cmocka_unit_test(new_rows_are_zero_after_growing_and_after_shrinking),
        cmocka_unit_test(a_long_array_of_zeros_costs_no_disk),
        cmocka_unit_test(odd_row_sizes_work),
        cmocka_unit_test(blocks_of_rows_are_put_in_and_read_as_spans),
        cmocka_unit_test(more_memory_can_be_allowed_later),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_spill_file_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
