/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/source.h"

#include "tests/support/test_run.h"

/* Enough allocations that their slots spill. */
enum { MANY = 5000, LONGEST = sizeof(struct tm_allocation) };

static void fill(uint64_t number, uint32_t length, uint8_t *args)
{
    for (uint32_t i = 0; i < length; i++)
        args[i] = (uint8_t)(number * 7 + i + number / 256);
}

static struct tm_raw_record made(uint64_t number, uint32_t length, const uint8_t *args)
{
    return (struct tm_raw_record){
        /* clang-format off */
        .record = { .start_ps = -(int64_t)number, .dur_ps = 3, .correlation = number, .name = 5, .track = 7,
                    .config = 11, .common = 13, .args_length = length, .class = 17, .kind = TM_INSTANT,
                    .flags = TM_FLAG_STEP },
        .args = length ? args : NULL,
        .traits = (uint32_t)number ^ 0x5a5a,
    };
    /* clang-format on */
}

static void check(const struct tm_kept_args *args, const struct tm_kept_record *row, uint64_t number, uint32_t length)
{
    struct tm_allocation buffer;
    uint8_t expected[LONGEST];
    struct tm_raw_record raw, whole = made(number, length, NULL);

    fill(number, length, expected);
    memset(&buffer, 0xee, sizeof(buffer));
    assert_int_equal(tm_unkeep_record(args, row, &buffer, &raw), TM_OK);
    assert_memory_equal(&raw.record, &whole.record, sizeof(raw.record));
    assert_int_equal(raw.traits, whole.traits);
    assert_ptr_equal(raw.args, &buffer);
    assert_memory_equal(raw.args, expected, length);
}

static void arguments_of_every_length_come_back(void **state)
{
    struct tm_run run;
    struct tm_kept_args args = { .account = TM_ACCOUNT_SORT };
    struct tm_kept_record rows[LONGEST + 1];

    (void)state;
    test_run_init(&run);
    for (uint32_t length = 0; length <= LONGEST; length++) {
        uint8_t bytes[LONGEST];
        const struct tm_raw_record raw = made(length, length, bytes);

        fill(length, length, bytes);
        memset(&rows[length], 0xee, sizeof(rows[length]));
        assert_int_equal(tm_keep_record(&args, &run, &raw, &rows[length]), TM_OK);
        assert_int_equal(args.slots != NULL, length > 8); /* numbers need no memory beside */
    }
    for (uint32_t length = 0; length <= LONGEST; length++)
        check(&args, &rows[length], length, length);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] > 0);
    assert_int_equal(run.budget.peak_bytes[TM_ACCOUNT_INPUT], 0);
    tm_kept_args_free(&args);
    assert_ledger_is_even(&run);
}

static void longer_arguments_are_left_out(void **state)
{
    struct tm_run run;
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT };
    struct tm_kept_record row;
    uint8_t bytes[LONGEST + 1] = { 1 };
    const struct tm_raw_record raw = made(1, LONGEST + 1, bytes);

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_keep_record(&args, &run, &raw, &row), TM_OK);
    check(&args, &row, 1, 0);
    tm_kept_args_free(&args);
    assert_ledger_is_even(&run);
}

static tm_status keep_many(struct tm_run *run, struct tm_kept_args *args, struct tm_kept_record *rows)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < MANY && st == TM_OK; i++) {
        uint8_t bytes[LONGEST];
        const struct tm_raw_record raw = made(i, LONGEST, bytes);

        fill(i, LONGEST, bytes);
        st = tm_keep_record(args, run, &raw, &rows[i]);
    }
    return st;
}

static void many_arguments_spill_and_come_back_in_any_order(void **state)
{
    static struct tm_kept_record rows[MANY];
    struct tm_run run;
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT };
    uint64_t seed = 1;

    (void)state;
    test_run_init(&run);
    assert_int_equal(keep_many(&run, &args, rows), TM_OK);
    assert_true(run.budget.spilled_bytes > 0);
    for (uint64_t i = 0; i < 2 * MANY; i++) {
        const uint64_t number = i < MANY ? i : next_number(&seed) % MANY;

        check(&args, &rows[number], number, LONGEST);
    }
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_INPUT] <= TM_KEPT_ARGS_BYTES);
    tm_kept_args_free(&args);
    assert_ledger_is_even(&run);
}

/* --- what events say of themselves --- */

enum { LENGTHS = LONGEST + 1, OWN_MOST = 400 };

/* Own arguments of a record: any length, whatever the other ones have. */
static size_t fill_own(uint64_t number, uint8_t *own)
{
    const size_t length = number % 3 ? (size_t)(number * 37 % OWN_MOST) : 0;

    for (size_t i = 0; i < length; i++)
        own[i] = (uint8_t)(number * 11 + i);
    return length;
}

static tm_status keep_own(struct tm_run *run, struct tm_kept_args *args, struct tm_kept_record *rows)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < MANY && st == TM_OK; i++) {
        uint8_t bytes[LONGEST], own[OWN_MOST];
        const uint32_t length = (uint32_t)(i % LENGTHS);
        struct tm_raw_record raw = made(i, length, bytes);

        fill(i, length, bytes);
        raw.own = (struct tm_arguments){ own, fill_own(i, own) };
        st = tm_keep_record(args, run, &raw, &rows[i]);
    }
    return st;
}

static void check_own(const struct tm_kept_args *args, const struct tm_kept_record *row, uint64_t number)
{
    uint8_t expected[OWN_MOST];
    const size_t length = fill_own(number, expected);
    struct tm_raw_record raw;

    check(args, row, number, (uint32_t)(number % LENGTHS));
    assert_int_equal(tm_unkeep_own(args, row, &raw), TM_OK);
    assert_int_equal(raw.own.length, length);
    assert_memory_equal(raw.own.bytes ? raw.own.bytes : expected, expected, length);
}

static void own_arguments_lie_behind_the_others_and_come_back(void **state)
{
    static struct tm_kept_record rows[MANY];
    struct tm_run run;
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT, .own_bytes = TM_KEPT_LEAST_BYTES };
    uint64_t seed = 1;

    (void)state;
    test_run_init(&run);
    assert_int_equal(keep_own(&run, &args, rows), TM_OK);
    assert_true(run.budget.spilled_bytes > 0);
    for (uint64_t i = 0; i < 2 * MANY; i++) {
        const uint64_t number = i < MANY ? i : next_number(&seed) % MANY;

        check_own(&args, &rows[number], number);
    }
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_kept_args_bytes(args.own_bytes));
    tm_kept_args_free(&args);
    assert_ledger_is_even(&run);
}

/* A record of so many bytes of arguments, and a list of so many nodes of 2 bytes. */
static void keep_nodes(struct tm_run *run, struct tm_kept_args *args, uint32_t length, size_t nodes,
                       struct tm_kept_record *row)
{
    static uint8_t own[TM_ARGUMENTS_MOST];
    uint8_t bytes[LONGEST] = { 0 };
    struct tm_raw_record raw = made(length, length, bytes);

    fill(length, length, bytes);
    memset(own, TM_ARGUMENT_NULL, sizeof(own)); /* no key, nothing */
    raw.own = (struct tm_arguments){ own, 2 * nodes };
    assert_int_equal(tm_keep_record(args, run, &raw, row), TM_OK);
}

static void own_arguments_of_two_rows_are_joined(void **state)
{
    static const size_t most = TM_ARGUMENTS_MOST / 2;
    static const struct {
        size_t nodes, with, joined;
    } rows[] = {
        { 0, 0, 0 },
        { 3, 0, 3 },
        { 0, 3, 3 },
        { 2, 3, 5 },
        { 1000, 2000, 3000 },
        { TM_ARGUMENTS_MOST / 2 - 1, 5, TM_ARGUMENTS_MOST / 2 },
        { TM_ARGUMENTS_MOST / 2, 5, TM_ARGUMENTS_MOST / 2 },
    };
    struct tm_run run;
    struct tm_kept_args args = { .account = TM_ACCOUNT_SORT, .own_bytes = TM_KEPT_LEAST_BYTES };

    (void)state;
    test_run_init(&run);
    for (uint32_t length = 0; length <= LONGEST; length += 4)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            struct tm_kept_record row, with;
            struct tm_raw_record raw;
            bool is_cut = false;

            keep_nodes(&run, &args, length, rows[i].nodes, &row);
            keep_nodes(&run, &args, LONGEST - length, rows[i].with, &with);
            assert_int_equal(tm_kept_args_join(&args, &row, &with, &is_cut), TM_OK);
            assert_int_equal(is_cut, rows[i].nodes + rows[i].with > most);
            check(&args, &row, length, length);
            assert_int_equal(tm_unkeep_own(&args, &row, &raw), TM_OK);
            assert_int_equal(raw.own.length, 2 * rows[i].joined);
            assert_int_equal(tm_arguments_fitting(raw.own, SIZE_MAX), raw.own.length);
        }
    tm_kept_args_free(&args);
    assert_ledger_is_even(&run);
}

static tm_status own_job(struct tm_run *run)
{
    static struct tm_kept_record rows[MANY];
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT, .own_bytes = TM_KEPT_LEAST_BYTES };
    bool is_cut = false;
    tm_status st = keep_own(run, &args, rows);

    if (st == TM_OK)
        st = tm_kept_args_join(&args, &rows[1], &rows[2], &is_cut);
    tm_kept_args_free(&args);
    return st;
}

static void each_refused_request_for_own_arguments_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(own_job);
}

static tm_status job(struct tm_run *run)
{
    static struct tm_kept_record rows[MANY];
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT, .own_bytes = TM_KEPT_LEAST_BYTES };
    const tm_status st = keep_many(run, &args, rows);

    tm_kept_args_free(&args);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

static void freeing_nothing_is_fine(void **state)
{
    struct tm_kept_args args = { .account = TM_ACCOUNT_INPUT, .own_bytes = TM_KEPT_LEAST_BYTES };

    (void)state;
    tm_kept_args_free(&args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_of_every_length_come_back),
        cmocka_unit_test(longer_arguments_are_left_out),
        cmocka_unit_test(many_arguments_spill_and_come_back_in_any_order),
        cmocka_unit_test(own_arguments_lie_behind_the_others_and_come_back),
        cmocka_unit_test(own_arguments_of_two_rows_are_joined),
        cmocka_unit_test(each_refused_request_for_own_arguments_ends_clean),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(freeing_nothing_is_fine),
    };

    return cmocka_run_group_tests_name("kept_record", tests, NULL, NULL);
}
