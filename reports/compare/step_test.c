/* SPDX-License-Identifier: Apache-2.0 */
/* Is a step of one side longer than one of the base?  Of single runs by their steps, of groups by
 * their runs: steps of one run have much in common, so that more of them make no second run. */
#include <math.h>

#include "reports/compare/comparison.h"

static tm_status test_steps(struct comparison *c, const struct side_facts *base,
                            const struct side_facts *other, struct step_test *test)
{
    double *scratch = tm_room_take(&c->room, base->steps.count + other->steps.count + TM_RESAMPLES,
                                   sizeof(*scratch));

    if (!scratch)
        return c->run->error.status;
    const struct tm_interval interval =
        tm_median_change_interval(base->steps, other->steps, 0.95, scratch);

    test->p = tm_rank_test(base->steps, other->steps);
    test->low_pct = interval.low;
    test->high_pct = interval.high;
    return TM_OK;
}

static void test_runs(const struct side_facts *base, const struct side_facts *other,
                      struct step_test *test)
{
    const struct tm_moments a = tm_sample_moments(base->run_medians),
                            b = tm_sample_moments(other->run_medians);
    const double na = (double)base->run_medians.count, nb = (double)other->run_medians.count;
    const double va = a.stddev * a.stddev / na, vb = b.stddev * b.stddev / nb;
    const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));

    test->p = tm_welch_test((struct tm_summed){ a.mean, a.stddev, na },
                            (struct tm_summed){ b.mean, b.stddev, nb });
    if (va + vb > 0 && a.mean > 0) {
        const double reach = tm_student_quantile(0.975, freedom) * sqrt(va + vb);

        test->low_pct = 100 * (b.mean - a.mean - reach) / a.mean;
        test->high_pct = 100 * (b.mean - a.mean + reach) / a.mean;
    }
}

static const char *direction_of(const struct step_test *test)
{
    if (test->basis == TEST_NONE ? !(fabs(test->change_pct) >= STEP_LEAST_PCT) : !test->is_changed)
        return "same";
    return test->change_ps > 0 ? "slower" : "faster";
}

static void add_test(const struct comparison *c, struct tm_value *tests, size_t side,
                     const struct step_test *test)
{
    static const char *const basis[] = { "none", "steps", "runs" }, *const method[] = {
        "none", "mann_whitney", "welch"
    };
    struct tm_value *to = tm_add_object(tests, NULL);
    char id[SIDE_ID_BYTES], why[128];

    (void)no_test_reason(c, side, why, sizeof(why));
    tm_add_string(to, "side", side_id(c, side, id));
    tm_add_string(to, "basis", basis[test->basis]);
    tm_add_string(to, "method", method[test->basis]);
    tm_add_figure(to, "p", test->p, why);
    tm_add_ps(to, "change_ps", test->change_ps, "a side has no step with a length");
    tm_add_figure(to, "change_pct", test->change_pct, "a side has no step with a length");
    tm_add_figure(to, "low_pct", test->low_pct, why);
    tm_add_figure(to, "high_pct", test->high_pct, why);
    if (isfinite(test->p))
        tm_add_bool(to, "changed", test->is_changed);
    else
        tm_add_null(to, "changed", why);
    tm_add_string(to, "direction", direction_of(test));
}

tm_status add_step_tests(struct comparison *c)
{
    const struct side_facts *base = &c->facts[0];
    struct tm_value *tests = tm_add_array(c->root, "tests");

    for (size_t i = 1; i < c->sides; i++) {
        const struct side_facts *other = &c->facts[i];
        struct step_test *test = &c->step_test[i];
        tm_status st = TM_OK;

        *test = (struct step_test){
            .basis = basis_of(c, i), .p = NAN, .low_pct = NAN, .high_pct = NAN
        };
        test->change_ps = other->median_ps - base->median_ps;
        test->change_pct = change_pct(base->median_ps, other->median_ps);
        if (test->basis == TEST_STEPS)
            st = test_steps(c, base, other, test);
        else if (test->basis == TEST_RUNS)
            test_runs(base, other, test);
        if (st != TM_OK)
            return st;
        test->is_changed = test->p < STEP_LEVEL && fabs(test->change_pct) >= STEP_LEAST_PCT;
        add_test(c, tests, i, test);
    }
    return TM_OK;
}
