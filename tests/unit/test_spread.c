/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_rows.h"

#include "tests/support/test_run.h"

/* Standard deviations by hand. */
struct spread_case {
    uint64_t count;
    int64_t lengths[4]; /* as many of them as count has; beyond 4 all are like the first */
    int64_t want_ps;    /* -1 = null */
};

static struct tm_wide squares_of(const struct spread_case *c, int64_t *sum_ps)
{
    struct tm_wide squares = { 0, 0 };

    *sum_ps = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        const int64_t ps = c->lengths[i < 4 ? i : 0];

        squares = tm_sum_squares(squares, ps);
        *sum_ps = tm_sum_times(*sum_ps, ps);
    }
    return squares;
}

static void deviations_are_with_one_less_than_their_number(void **state)
{
    static const struct spread_case cases[] = {
        { 0, { 0 }, -1 },
        { 1, { 7 }, -1 },
        { 2, { 0, 0 }, 0 },
        { 2, { 10, 16 }, 4 },         /* sqrt(18) = 4.24 */
        { 3, { 1, 3, 10 }, 5 },       /* sqrt(67 / 3) = 4.73 */
        { 4, { 10, 16, 10, 16 }, 3 }, /* sqrt(12) = 3.46 */
        { 1000, { 123456789012, 123456789012, 123456789012, 123456789012 }, 0 },
        { 3, { 1000000000000000, 1000000000000001, 1000000000000002 }, 1 }, /* a thousand seconds, and a little */
        { 2, { 0, INT64_MAX - 1 }, 6521908912666391552 },                   /* (2^63 - 2) / sqrt(2), to 2^10 */
        { 2, { INT64_MAX, 0 }, -1 },                                        /* at the end of the range */
        { 2, { INT64_MAX - 1, INT64_MAX - 1 }, -1 },                        /* past it */
    };
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_value *to = tm_add_object(tm_doc_root(doc), "row");
        int64_t sum_ps;
        const struct tm_wide squares = squares_of(&cases[i], &sum_ps);
        const struct tm_value *value;

        tm_add_stddev(to, "stddev_ps", cases[i].count, sum_ps, squares);
        value = tm_get(to, "stddev_ps");
        assert_non_null(value);
        if (tm_has(value) != (cases[i].want_ps >= 0) || (tm_has(value) && tm_int(value) != cases[i].want_ps))
            fail_msg("case %zu: %lld", i, (long long)tm_int(value));
        assert_true(tm_has(value) || *tm_why(value));
    }
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

/* What only a damaged partial can hold. */
static void squares_that_cannot_be_do_no_harm(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *to;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    to = tm_doc_root(doc);
    tm_add_stddev(to, "few", 2, 1000, (struct tm_wide){ 0, 3 });
    tm_add_stddev(to, "many", 2, 1000, (struct tm_wide){ UINT64_MAX, 0 });
    tm_add_stddev(to, "whole", 2, 1000, (struct tm_wide){ UINT64_MAX, UINT64_MAX });
    assert_int_equal(tm_int(tm_get(to, "few")), 0);
    assert_true(tm_int(tm_get(to, "many")) == INT64_MAX);
    assert_false(tm_has(tm_get(to, "whole")));
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviations_are_with_one_less_than_their_number),
        cmocka_unit_test(squares_that_cannot_be_do_no_harm),
    };

    return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
