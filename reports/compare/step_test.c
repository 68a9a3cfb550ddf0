/* SPDX-License-Identifier: Apache-2.0 */
/* Is a step of one side longer than one of the base, by its mean or its median? Single runs are tested by their steps,
 * groups by their runs: steps of one run are correlated, so more of them do not replace a second run.  Compilations in
 * steps are individually recorded events: what they add to the mean of only one side is not chance, even if they affect
 * few steps.  And the waterfall: which parts of the step changed. */
#include "reports/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/compare/comparison.h"
#include "reports/format/format.h"
#include "reports/statistics/statistics.h"

/* Groups show their own run-to-run variation, so other sources of it are ignored there. */
static void set_middle(const struct comparison *c, const struct step_test *test, struct middle_test *of, double base_ps,
                       double new_ps, const char *path)
{
    *of = (struct middle_test){ .base_ps = base_ps,
                                .new_ps = new_ps,
                                .change_ps = new_ps - base_ps,
                                .change_pct = tm_change_pct(base_ps, new_ps),
                                .low_pct = NAN,
                                .high_pct = NAN,
                                .p = NAN,
                                .spread_pct = test->basis == TEST_RUNS
                                                  ? NAN
                                                  : tm_spread_pct(c->options->spread, c->options->spreads, path) };
}

/* --- by steps --- */

static void test_steps(struct comparison *c, const struct side_facts *base, const struct side_facts *other,
                       struct step_test *test)
{
    const double lag1 = tm_pooled_lag1(base->quiet_steps, other->quiet_steps);
    const struct tm_change_test found = tm_change_test(base->steps, other->steps, lag1, STEP_LEVEL);
    double *scratch = tm_room_take(&c->room, base->steps.count + other->steps.count + TM_RESAMPLES, sizeof(*scratch));
    struct middle_test *const middle[] = { [TM_MIDDLE_MEDIAN] = &test->median, [TM_MIDDLE_MEAN] = &test->mean };

    if (!scratch || base->steps.count < TM_VALUES_LEAST || other->steps.count < TM_VALUES_LEAST)
        return;
    test->lag1 = found.lag1;
    test->effective_base = found.effective_a;
    test->effective_new = found.effective_b;
    test->is_enough = found.is_enough;
    test->level = found.level;
    test->median.p = found.p_median;
    test->mean.p = found.p_mean;
    for (int i = TM_MIDDLE_MEDIAN; i <= TM_MIDDLE_MEAN; i++) {
        const struct tm_interval interval =
            tm_change_interval(base->steps, other->steps, i, found.share, 0.95, scratch);

        middle[i]->low_pct = interval.low;
        middle[i]->high_pct = interval.high;
    }
}

/* --- by runs --- */

static void test_middle_of_runs(struct tm_sample base, struct tm_sample other, struct middle_test *test)
{
    const struct tm_moments a = tm_sample_moments(base), b = tm_sample_moments(other);
    const double na = (double)base.count, nb = (double)other.count;
    const double va = a.stddev * a.stddev / na, vb = b.stddev * b.stddev / nb;
    const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));

    test->p = tm_welch_test((struct tm_summed){ a.mean, a.stddev, na }, (struct tm_summed){ b.mean, b.stddev, nb });
    if (va + vb > 0 && a.mean > 0) {
        const double reach = tm_student_quantile(0.975, freedom) * sqrt(va + vb);

        test->low_pct = 100 * (b.mean - a.mean - reach) / a.mean;
        test->high_pct = 100 * (b.mean - a.mean + reach) / a.mean;
    }
}

/* The correlation of medians and means of runs within their sides. */
static double correlation_of_runs(const struct side_facts *base, const struct side_facts *other)
{
    double both = 0, medians = 0, means = 0;

    for (int side = 0; side < 2; side++) {
        const struct side_facts *of = side ? other : base;
        const double median = tm_sample_moments(of->run_medians).mean, mean = tm_sample_moments(of->run_means).mean;

        for (size_t i = 0; i < of->run_medians.count; i++) {
            const double x = of->run_medians.value[i] - median, y = of->run_means.value[i] - mean;

            both += x * y;
            medians += x * x;
            means += y * y;
        }
    }
    return medians > 0 && means > 0 ? fmin(both / sqrt(medians * means), 1) : 0;
}

static void test_runs(const struct side_facts *base, const struct side_facts *other, struct step_test *test)
{
    double median, mean;

    test_middle_of_runs(base->run_medians, other->run_medians, &test->median);
    test_middle_of_runs(base->run_means, other->run_means, &test->mean);
    median = test->median.p;
    mean = test->mean.p;
    test->median.p = tm_adjust_p(median, mean, correlation_of_runs(base, other));
    test->mean.p = tm_adjust_p(mean, median, correlation_of_runs(base, other));
    test->is_enough = isfinite(median) && isfinite(mean);
}

/* --- the verdict --- */

/* A change, unless runs of the same program differ by as much. */
static bool is_sure(const struct middle_test *middle, bool is_significant)
{
    return is_significant && fabs(middle->change_pct) >= STEP_LEAST_PCT;
}

static bool is_beyond(const struct middle_test *middle, bool is_significant)
{
    return is_sure(middle, is_significant) && !(fabs(middle->change_pct) <= middle->spread_pct);
}

static void decide(const struct comparison *c, size_t side, struct step_test *test)
{
    char why[STEP_WHY_BYTES];
    const bool is_mean = test->mean.p < test->level || test->is_recorded, is_median = test->median.p < test->level;

    test->mean.is_changed = is_beyond(&test->mean, is_mean);
    test->median.is_changed = is_beyond(&test->median, is_median);
    test->is_changed = test->mean.is_changed || test->median.is_changed;
    test->is_within_spread = !test->is_changed && (is_sure(&test->mean, is_mean) || is_sure(&test->median, is_median));
    test->lead = &test->mean;
    if (test->is_changed ? !test->mean.is_changed : test->is_within_spread && !is_sure(&test->mean, is_mean))
        test->lead = &test->median;
    test->change_ps = test->lead->change_ps;
    test->change_pct = test->lead->change_pct;
    if (test->is_changed)
        test->verdict = test->change_ps > 0 ? STEP_REGRESSION : STEP_IMPROVEMENT;
    else if (test->is_enough && isfinite(test->median.p))
        test->verdict = STEP_NO_CHANGE;
    else
        (void)snprintf(test->why, sizeof(test->why), "%s",
                       tm_no_test_reason(c, side, why, sizeof(why)) + strlen(NO_SIGNIFICANCE));
}

/* --- the document --- */

static const char *direction_of(const struct step_test *test)
{
    if (test->basis == TEST_NONE ? !(fabs(test->change_pct) >= STEP_LEAST_PCT) : !test->is_changed)
        return "same";
    return test->change_ps > 0 ? "slower" : "faster";
}

static void add_spread(struct tm_value *to, const struct middle_test *middle)
{
    tm_add_figure(to, "run_spread_pct", middle->spread_pct, "the run-to-run variation is unknown");
}

static void add_middle(struct tm_value *to, const struct middle_test *middle, const char *method, const char *why)
{
    static const char none[] = "a side has no step with a duration";

    tm_add_string(to, "method", method);
    tm_add_ps(to, "change_ps", middle->change_ps, none);
    tm_add_figure(to, "change_pct", middle->change_pct, none);
    tm_add_figure(to, "low_pct", middle->low_pct, why);
    tm_add_figure(to, "high_pct", middle->high_pct, why);
    tm_add_figure(to, "p", middle->p, why);
}

static void add_changed(struct tm_value *to, const struct middle_test *middle, const char *why)
{
    if (isfinite(middle->p) || middle->is_changed)
        tm_add_bool(to, "changed", middle->is_changed);
    else
        tm_add_null(to, "changed", why);
}

static void add_test(const struct comparison *c, struct tm_value *tests, size_t side, const struct step_test *test)
{
    static const char *const basis[] = { "none", "steps", "runs" }, *const verdict[] = { "inconclusive", "no_change",
                                                                                         "improvement", "regression" };
    const bool is_of_steps = test->basis != TEST_RUNS && isfinite(test->mean.p),
               is_correlated = test->effective_base < (double)c->facts[0].steps.count;
    struct tm_value *to = tm_add_object(tests, NULL), *of;
    char id[SIDE_ID_BYTES], why[STEP_WHY_BYTES];
    const char *mean, *median;

    (void)tm_no_test_reason(c, side, why, sizeof(why));
    tm_add_string(to, "side", tm_side_id(c, side, id));
    tm_add_string(to, "basis", is_of_steps ? "steps" : basis[test->basis]);
    tm_add_string(to, "verdict", verdict[test->verdict]);
    tm_add_known(to, "reason", test->why, NULL);
    if (test->is_changed || test->verdict == STEP_NO_CHANGE)
        tm_add_bool(to, "changed", test->is_changed);
    else
        tm_add_null(to, "changed", why);
    tm_add_string(to, "direction", direction_of(test));
    tm_add_string(to, "moved",
                  test->mean.is_changed && test->median.is_changed ? "both"
                  : test->mean.is_changed                          ? "mean"
                  : test->median.is_changed                        ? "median"
                                                                   : "none");
    mean = test->basis == TEST_RUNS ? "welch"
           : !is_of_steps           ? "none"
           : is_correlated          ? "welch_effective"
                                    : "permutation";
    median = test->basis == TEST_RUNS ? "welch"
             : !is_of_steps           ? "none"
             : is_correlated          ? "rank_effective"
                                      : "mann_whitney";
    add_middle(to, test->lead, test->lead == &test->mean ? mean : median, why);
    of = tm_add_object(to, "mean");
    add_middle(of, &test->mean, mean, why);
    add_changed(of, &test->mean, why);
    add_spread(of, &test->mean);
    of = tm_add_object(to, "median");
    add_middle(of, &test->median, median, why);
    add_changed(of, &test->median, why);
    add_spread(of, &test->median);
    tm_add_figure(to, "lag1", test->lag1, "steps are not tested");
    of = tm_add_array(to, "effective_samples");
    tm_add_figure(of, NULL, test->effective_base, NULL);
    tm_add_figure(of, NULL, test->effective_new, NULL);
    of = tm_add_array(to, "compiling_steps");
    tm_add_figure(of, NULL, c->facts[0].compiling.compiling, NULL);
    tm_add_figure(of, NULL, c->facts[side].compiling.compiling, NULL);
    tm_add_bool(to, "recorded", test->is_recorded);
    add_spread(to, test->lead);
    tm_add_bool(to, "within_run_spread", test->is_within_spread);
}

void tm_add_step_tests(struct comparison *c)
{
    const struct side_facts *base = &c->facts[0];
    struct tm_value *tests = tm_add_array(c->root, "tests");

    for (size_t i = 1; i < c->sides; i++) {
        const struct side_facts *other = &c->facts[i];
        struct step_test *test = &c->step_test[i];

        *test = (struct step_test){
            .basis = tm_basis_of(c, i), .level = STEP_LEVEL, .lag1 = NAN, .effective_base = NAN, .effective_new = NAN
        };
        set_middle(c, test, &test->median, base->median_ps, other->median_ps, "steps.median_ps");
        set_middle(c, test, &test->mean, base->mean_ps, other->mean_ps, "steps.mean_ps");
        if (test->basis != TEST_RUNS && base->runs == 1 && other->runs == 1 && tm_are_measured_alike(c, i))
            test_steps(c, base, other, test);
        else if (test->basis == TEST_RUNS)
            test_runs(base, other, test);
        test->is_recorded = test->basis == TEST_STEPS &&
                            tm_have_compiling_changed(&base->compiling, &other->compiling, TM_COMPILING_LEAST_PCT);
        decide(c, i, test);
        add_test(c, tests, i, test);
    }
}

double tm_spread_pct(const struct tm_spread *spread, size_t spreads, const char *path)
{
    for (size_t i = 0; i < spreads; i++)
        if (strcmp(spread[i].path, path) == 0)
            return spread[i].pct;
    return NAN;
}

/* --- the waterfall of a step ---
 * From a step of the base to one of another side, part by part.  The parts are means per step and device in integer
 * picoseconds, rounded so that they add up to the rounded step: the picoseconds left by rounding down are given to
 * the parts with the largest fractions. */

static int64_t round_parts(const double part[TM_PARTS], double total, int64_t rounded[TM_PARTS])
{
    const int64_t whole = tm_whole(round(total));
    int64_t left = whole;

    for (int i = 0; i < TM_PARTS; i++) {
        rounded[i] = tm_whole(part[i]);
        left -= rounded[i];
    }
    for (bool is_taken[TM_PARTS] = { false }; left > 0;) {
        int best = -1;

        for (int i = 0; i < TM_PARTS; i++) {
            if (!is_taken[i] && (best < 0 || part[i] - floor(part[i]) > part[best] - floor(part[best])))
                best = i;
        }
        if (best < 0) { /* more than one each: the parts do not add up to their total */
            rounded[TM_PART_IDLE_UNRECORDED] += left;
            break;
        }
        is_taken[best] = true;
        rounded[best]++;
        left--;
    }
    if (left < 0)
        rounded[TM_PART_IDLE_UNRECORDED] += left;
    return whole;
}

static double part_p(const struct comparison *c, size_t side, int part)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];

    switch (tm_basis_of(c, side)) {
    case TEST_STEPS:
        if (part == TM_PART_IDLE_COMPILE) /* events, which resemble no neighbor */
            return tm_rank_test(base->part_of_step[part], other->part_of_step[part]);
        return tm_series_rank_test(base->part_of_step[part], other->part_of_step[part]);
    case TEST_RUNS:
        return tm_welch_sample_test(base->part_of_run[part], other->part_of_run[part]);
    default:
        return NAN;
    }
}

/* A part smaller than the smallest reported change on both sides cannot change by it, so it is excluded from
 * the tests. */
static bool can_change(const struct waterfall *w, int part)
{
    const int64_t larger = w->base_part_ps[part] > w->new_part_ps[part] ? w->base_part_ps[part] : w->new_part_ps[part];

    return (double)larger * 100 >= PART_LEAST_PCT * (double)w->base_ps;
}

static void test_parts(const struct comparison *c, size_t side, struct waterfall *w)
{
    double p[TM_PARTS], scratch[TM_PARTS], compile_p;
    bool holds[TM_PARTS];

    for (int i = 0; i < TM_PARTS; i++) {
        w->test[i].p = part_p(c, side, i);
        w->test[i].is_tested = tm_basis_of(c, side) != TEST_NONE;
        p[i] = can_change(w, i) ? w->test[i].p : NAN;
    }
    /* Compilations affect a few steps and leave the others unchanged: such few ranks would never be significant among
     * this many parts.  They are events, counted one by one, and tested separately; if they change the mean of the
     * step, it is not chance. */
    compile_p = p[TM_PART_IDLE_COMPILE];
    p[TM_PART_IDLE_COMPILE] = NAN;
    tm_family_tests(p, TM_PARTS, PART_LEVEL, holds, scratch);
    holds[TM_PART_IDLE_COMPILE] = compile_p < PART_LEVEL || c->step_test[side].is_recorded;
    for (int i = 0; i < TM_PARTS; i++)
        w->test[i].is_significant = holds[i] && fabs((double)(w->new_part_ps[i] - w->base_part_ps[i])) * 100 >=
                                                    PART_LEAST_PCT * (double)w->base_ps;
}

static void add_part(const struct comparison *c, size_t side, struct tm_value *parts, const struct waterfall *w,
                     int part)
{
    struct tm_value *to = tm_add_object(parts, NULL);
    const int64_t change_ps = w->new_part_ps[part] - w->base_part_ps[part];
    const struct part_test *test = &w->test[part];
    char why[STEP_WHY_BYTES];

    (void)tm_no_test_reason(c, side, why, sizeof(why));
    tm_add_string(to, "id", tm_part_kind[part].id);
    tm_add_string(to, "title", tm_part_kind[part].title);
    tm_add_int(to, "base_ps", w->base_part_ps[part]);
    tm_add_int(to, "new_ps", w->new_part_ps[part]);
    tm_add_int(to, "change_ps", change_ps);
    tm_add_figure(to, "share_pct", w->base_ps ? 100 * (double)change_ps / (double)w->base_ps : NAN,
                  "the base has no time");
    tm_add_figure(to, "p", test->p, test->is_tested ? "the values cannot be tested" : why);
    if (test->is_tested)
        tm_add_bool(to, "significant", test->is_significant);
    else
        tm_add_null(to, "significant", why);
}

void tm_add_waterfalls(struct comparison *c)
{
    struct tm_value *waterfalls = tm_add_array(c->root, "waterfalls");

    for (size_t side = 1; side < c->sides; side++) {
        struct waterfall *w = &c->waterfall[side];
        struct tm_value *to = tm_add_object(waterfalls, NULL), *parts;
        char id[SIDE_ID_BYTES];

        tm_add_string(to, "side", tm_side_id(c, side, id));
        w->is_known = c->facts[0].has_parts && c->facts[side].has_parts;
        if (!w->is_known) {
            static const char *const keys[] = { "base_ps", "new_ps", "change_ps" };

            for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                tm_add_null(to, keys[i], "a side has no device activity");
            (void)tm_add_array(to, "parts");
            continue;
        }
        w->base_ps = round_parts(c->facts[0].part_ps, c->facts[0].total_ps, w->base_part_ps);
        w->new_ps = round_parts(c->facts[side].part_ps, c->facts[side].total_ps, w->new_part_ps);
        test_parts(c, side, w);
        tm_add_int(to, "base_ps", w->base_ps);
        tm_add_int(to, "new_ps", w->new_ps);
        tm_add_int(to, "change_ps", w->new_ps - w->base_ps);
        parts = tm_add_array(to, "parts");
        for (int i = 0; i < TM_PARTS; i++)
            add_part(c, side, parts, w, i);
    }
}
