/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/record_store.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

/* The same stack in the simplest way. */
struct plain {
    struct tm_open_begin *all;
    uint64_t count;
};

static bool pop_plain(struct plain *plain, const struct tm_key *name, struct tm_open_begin *begin)
{
    uint64_t at = plain->count;

    while (at && name && plain->all[at - 1].name.low != name->low)
        at--;
    if (!at)
        return false;
    *begin = plain->all[at - 1];
    memmove(&plain->all[at - 1], &plain->all[at], (plain->count - at) * sizeof(*plain->all));
    plain->count--;
    return true;
}

static void push_both(struct tm_open_begins *open, struct plain *plain, uint64_t number, uint64_t name)
{
    const struct tm_open_begin begin = { .order = number,
                                         .name = { .low = name },
                                         .kept.record.start_ps = (int64_t)number * 3 };

    plain->all[plain->count++] = begin;
    tm_open_begins_push(open, &begin);
}

static void pop_both(struct tm_open_begins *open, struct plain *plain, const struct tm_key *name)
{
    struct tm_open_begin expected, begin;
    const bool is_there = pop_plain(plain, name, &expected);
    const bool found = tm_open_begins_pop(open, name, &begin);

    assert_int_equal(found, is_there);
    if (found)
        assert_memory_equal(&begin, &expected, sizeof(begin));
}

/* in: names  different ones; grows  of 16 steps so many are begins, until half of the steps are done */
static void check(size_t memory_bytes, uint64_t names, uint64_t grows, uint64_t seed)
{
    enum { STEPS = 20000 };
    struct plain plain = { .all = calloc(STEPS, sizeof(*plain.all)) };
    struct tm_open_begins *open;
    struct tm_run run;

    test_run_init(&run);
    assert_non_null(plain.all);
    open = tm_open_begins_new(&run, TM_ACCOUNT_SORT, memory_bytes);
    assert_non_null(open);
    for (uint64_t i = 0; i < STEPS; i++) {
        const uint64_t dice = next_number(&seed);
        const struct tm_key name = { .low = dice >> 32 & 0xffff };
        const struct tm_key one = { .low = name.low % names };

        if (dice % 16 < (i < STEPS / 2 ? grows : 16 - grows))
            push_both(open, &plain, i, one.low);
        else
            pop_both(open, &plain, dice & 16 ? &one : NULL);
    }
    while (plain.count)
        pop_both(open, &plain, NULL);
    pop_both(open, &plain, NULL);
    pop_both(open, &plain, &(struct tm_key){ .low = 0 });
    tm_open_begins_free(open);
    free(plain.all);
    assert_ledger_is_even(&run);
}

static void it_is_a_stack_whatever_the_memory_and_the_names(void **state)
{
    static const size_t memories[] = { 0, 64 << 10, 4 << 20 };
    static const uint64_t names[] = { 1, 5, 3000, 60000 };

    (void)state;
    for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++)
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
            check(memories[m], names[n], 9, m + n);
            check(memories[m], names[n], 14, m * n);
        }
}

static tm_status job(struct tm_run *run)
{
    struct tm_open_begins *const open = tm_open_begins_new(run, TM_ACCOUNT_SORT, 200 << 10);

    for (uint64_t i = 0; open && i < 5000; i++)
        tm_open_begins_push(open, &(struct tm_open_begin){ .name = { .low = i } });
    tm_open_begins_free(open);
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
        cmocka_unit_test(it_is_a_stack_whatever_the_memory_and_the_names),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("open_begins", tests, NULL, NULL);
}
