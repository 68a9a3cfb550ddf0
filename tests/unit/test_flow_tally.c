/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/flow_tally.h"

#include "tests/support/stored_trace.h"

enum { LEAST_BYTES = 128 << 10 };

static void assert_same_tallies(const struct tm_run *a, const struct tm_run *b)
{
    assert_int_equal(a->tallies.count[TM_TALLY_UNMATCHED_FLOW], b->tallies.count[TM_TALLY_UNMATCHED_FLOW]);
    assert_int_equal(a->tallies.count[TM_TALLY_REUSED_FLOW_ID], b->tallies.count[TM_TALLY_REUSED_FLOW_ID]);
}

/* Random ends of flows, as records that are joined and in a tally.
 * in:     times  different ones */
static void check(uint64_t count, uint64_t keys, uint64_t times, size_t memory_bytes, bool spills)
{
    struct tm_run run, joined_run;
    struct stored_trace s;
    struct tm_flow_tally *tally;
    uint64_t seed = count + keys;

    test_run_init(&run);
    test_run_init(&joined_run);
    stored_trace_init(&s, &joined_run, 2);
    tally = tm_flow_tally_new(&run, TM_ACCOUNT_SORT, memory_bytes);
    assert_non_null(tally);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t dice = next_number(&seed);
        const struct tm_raw_record raw = {
            .record = { .start_ps = (int64_t)(dice % times),
                        .correlation = 1 + next_number(&seed) % keys,
                        .track = 1,
                        .kind = (uint8_t)(TM_FLOW_BEGIN + (dice >> 20) % 3),
                        .flags = dice >> 30 & 1 && keys % 2 ? TM_FLAG_CHAINED : 0 },
        };

        tm_record_store_add(s.store, &raw);
        tm_flow_tally_add(tally, raw.record.correlation, raw.record.start_ps, (enum tm_kind)raw.record.kind,
                          raw.record.flags & TM_FLAG_CHAINED);
    }
    tm_flow_tally_finish(tally);
    assert_int_equal(tm_flow_tally_count(tally), count);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_same_tallies(&run, &joined_run);
    assert_int_equal(run.budget.spilled_bytes > 0, spills);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= memory_bytes);
    tm_flow_tally_free(tally);
    stored_trace_free(&s);
    assert_ledger_is_even(&run);
    assert_ledger_is_even(&joined_run);
}

static void the_tally_is_that_of_joining(void **state)
{
    (void)state;
    check(0, 1, 1, LEAST_BYTES, false);
    check(1, 1, 1, LEAST_BYTES, false);
    for (uint64_t count = 14; count < 19; count++) /* around those that wait for their slots */
        check(count, 5, 50, LEAST_BYTES, false);
    check(1000, 500, 1 << 20, LEAST_BYTES, false);
    check(1000, 501, 3, LEAST_BYTES, false); /* chained ones, too */
    check(300, 20, 50, LEAST_BYTES, false);  /* many ends of a key */
    check(50000, 1 << 20, 1 << 20, 4 << 20, false);
    check(50000, 1 << 20, 1 << 20, LEAST_BYTES, true); /* more keys than the table holds */
    check(50000, 20001, 1 << 20, LEAST_BYTES, true);
}

static tm_status job(struct tm_run *run)
{
    struct tm_flow_tally *const tally = tm_flow_tally_new(run, TM_ACCOUNT_SORT, LEAST_BYTES);

    if (!tally)
        return run->error.status;
    for (uint64_t i = 0; i < 3000 && !tm_failed(run); i++)
        tm_flow_tally_add(tally, i % 1900 + 1, (int64_t)i, i < 1500 ? TM_FLOW_BEGIN : TM_FLOW_END, false);
    tm_flow_tally_finish(tally);
    tm_flow_tally_free(tally);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tally_is_that_of_joining),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("flow_tally", tests, NULL, NULL);
}
