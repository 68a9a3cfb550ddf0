/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_RUN_H
#define TM_TEST_RUN_H

/* What the unit tests of the engine share: a run with a ledger, a generator of numbers, and the
 * loop that refuses each request for memory in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/run.h"

static inline void test_run_init(struct tm_run *run)
{
    memset(run, 0, sizeof(*run));
    tm_budget_init(&run->budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    run->spill_dir = "/var/tmp";
    run->quiet = true;
}

/* Everything that was taken was given back. */
static inline void assert_ledger_is_even(const struct tm_run *run)
{
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        assert_int_equal(run->budget.used_bytes[i], 0);
    struct tm_budget fresh;

    tm_budget_init(&fresh, run->budget.limit_bytes);
    assert_int_equal(run->budget.pool_bytes, fresh.pool_bytes);
}

static inline uint64_t next_number(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Run the job with its first, second, third ... request for memory refused, until one gets all it
 * asks for. Each refusal has to end in TM_ERR_LIMIT with nothing left over.  The job returns its
 * status. */
static inline void refuse_each_request(tm_status (*job)(struct tm_run *run))
{
    uint64_t refusals = 0;

    for (uint64_t turn = 1; turn < 10000; turn++) {
        struct tm_run run;

        test_run_init(&run);
        run.budget.refuse_in = turn;
        const tm_status status = job(&run);

        assert_ledger_is_even(&run);
        if (run.budget.refuse_in != 0) {
            assert_int_equal(status, TM_OK);
            assert_true(refusals > 0);
            return;
        }
        assert_int_equal(status, TM_ERR_LIMIT);
        assert_int_equal(run.error.status, TM_ERR_LIMIT);
        refusals++;
    }
    fail_msg("the job never got all the memory it asked for");
}

/* Where no spill file can be made, a job that needs none works, and one that spills says so and gives all back. */
static inline void assert_spilling_needs_a_file(tm_status (*in_memory)(struct tm_run *run),
                                                tm_status (*on_disk)(struct tm_run *run))
{
    struct tm_run run;

    test_run_init(&run);
    run.spill_dir = "/nowhere/at/all";
    assert_int_equal(in_memory(&run), TM_OK);
    assert_int_equal(on_disk(&run), TM_ERR_OUTPUT);
    assert_ledger_is_even(&run);
}

#endif
