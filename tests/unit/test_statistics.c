/* SPDX-License-Identifier: Apache-2.0 */
/* Expected numbers without a rule beside them are of scipy 1.17.1: mannwhitneyu(a, b,
 * alternative='two-sided', method='exact' or 'asymptotic'), ttest_ind_from_stats(...,
 * equal_var=False), stats.t.sf and .ppf, stats.norm.sf, numpy.quantile, stats.gmean, bootstrap(...,
 * method='percentile', n_resamples=200000), and for the fits optimize.curve_fit(..., sigma=t). */
#include "reports/statistics/statistics.h"

#include <math.h>

#include "tests/support/test_run.h"

#define SAMPLE(...)                                                                                                    \
    (struct tm_sample)                                                                                                 \
    {                                                                                                                  \
        (double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)                                  \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_close(double is, double expected, double relative)
{
    if (!(fabs(is - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", is, expected);
}

/* `count` different numbers. */
static struct tm_sample spread(double *to, size_t count, double from, unsigned factor, unsigned prime, double by)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = from + (i * factor) % prime * by;
    return (struct tm_sample){ to, count };
}

static void figures_of_a_sample(void **state)
{
    double values[] = { 3.1, 2.7, 9.9, 4.4, 5.0, 1.2, 7.3 };
    const struct tm_sample sample = { values, COUNT(values) };
    const struct tm_moments moments = tm_sample_moments(sample);

    (void)state;
    assert_close(moments.mean, 4.8, 1e-14);
    assert_close(moments.stddev, 2.964231210055428, 1e-14);
    assert_close(moments.cv_pct, 100 * 2.964231210055428 / 4.8, 1e-14);
    assert_close(tm_sample_geomean(sample), 3.985379056569717, 1e-14);
    tm_sample_sort(values, COUNT(values));
    static const double p[] = { 0, 0.05, 0.25, 0.5, 0.9, 0.95, 1 };
    static const double expected[] = { 1.2, 1.65, 2.9, 4.4, 8.34, 9.12, 9.9 };

    for (size_t i = 0; i < COUNT(p); i++)
        assert_close(tm_sample_quantile(sample, p[i]), expected[i], 1e-14);
}

static void a_sample_may_be_too_small(void **state)
{
    const struct tm_sample none = { NULL, 0 }, one = SAMPLE(7);

    (void)state;
    assert_true(isnan(tm_sample_moments(none).mean));
    assert_true(tm_sample_moments(one).mean == 7);
    assert_true(isnan(tm_sample_moments(one).stddev));
    assert_true(isnan(tm_sample_moments(one).cv_pct));
    assert_true(isnan(tm_sample_moments(SAMPLE(-1, 1)).cv_pct));
    assert_true(isnan(tm_sample_quantile(none, 0.5)));
    assert_true(tm_sample_quantile(one, 0.9) == 7);
    assert_true(isnan(tm_sample_quantile(one, 1.5)));
    assert_true(isnan(tm_sample_quantile(one, NAN)));
    assert_true(isnan(tm_sample_geomean(none)));
    assert_true(isnan(tm_sample_geomean(SAMPLE(1, 0, 2))));
    assert_true(isnan(tm_sample_geomean(SAMPLE(1, NAN))));
}

static void values_that_are_no_numbers_are_sorted_last(void **state)
{
    double values[] = { NAN, 2, -INFINITY, NAN, 1, INFINITY };

    (void)state;
    tm_sample_sort(values, COUNT(values));
    assert_true(values[0] == -INFINITY && values[1] == 1 && values[2] == 2 && values[3] == INFINITY);
    assert_true(isnan(values[4]) && isnan(values[5]));
}

/* Of all ways to choose which of the ranks are those of `a`, the share whose U is as far from the
 * middle: each way a set of bits. */
static double enumerated(struct tm_sample a, struct tm_sample b)
{
    const unsigned all = (unsigned)(a.count + b.count);
    const double middle = (double)a.count * (double)b.count / 2;
    double u = 0, ways = 0, as_far = 0;

    for (size_t i = 0; i < a.count; i++) {
        for (size_t k = 0; k < b.count; k++)
            u += a.value[i] > b.value[k];
    }
    for (unsigned set = 0; set < 1u << all; set++) {
        unsigned chosen = 0, others = 0, won = 0;

        for (unsigned rank = 0; rank < all; rank++) {
            if (set >> rank & 1) {
                chosen++;
                won += others;
            } else {
                others++;
            }
        }
        if (chosen != a.count)
            continue;
        ways++;
        as_far += fabs(won - middle) >= fabs(u - middle);
    }
    return as_far / ways;
}

static void the_exact_rank_test_counts_every_order(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (size_t m = 2; m <= 6; m++) {
        for (size_t n = 2; n <= 8; n++) {
            double a[6], b[8];

            for (size_t i = 0; i < m; i++)
                a[i] = (double)next_number(&seed);
            for (size_t i = 0; i < n; i++)
                b[i] = (double)next_number(&seed) * 1.5;
            const struct tm_sample of_a = { a, m }, of_b = { b, n };

            assert_close(tm_rank_test(of_a, of_b), enumerated(of_a, of_b), 1e-12);
            assert_true(tm_rank_test(of_a, of_b) == tm_rank_test(of_b, of_a));
        }
    }
}

static void the_rank_test_is_that_of_scipy(void **state)
{
    double x[60], y[800];

    (void)state;
    assert_close(tm_rank_test(SAMPLE(1, 2, 3), SAMPLE(4, 5, 6)), 0.1, 1e-14);
    assert_close(tm_rank_test(SAMPLE(1, 2), SAMPLE(3, 4)), 1.0 / 3, 1e-14);
    assert_close(tm_rank_test(SAMPLE(19.8, 20.1, 20.3, 19.9, 20.6, 20.2), SAMPLE(20.9, 21.4, 20.4, 21.1, 21.0, 20.7)),
                 0.004329004329004329, 1e-13);
    assert_close(tm_rank_test(spread(x, 20, 100, 37, 101, 0.1), spread(y, 20, 101.05, 53, 103, 0.1)),
                 0.8410127327426743, 1e-12);
    assert_close(tm_rank_test(spread(x, 20, 100, 37, 101, 0.1), spread(y, 20, 104.05, 53, 103, 0.1)),
                 0.002914511329658594, 1e-12);
    assert_close(tm_rank_test(spread(x, 20, 100, 37, 101, 0.1), spread(y, 20, 107.05, 53, 103, 0.1)),
                 7.571173601061881e-07, 1e-12);
    assert_close(tm_rank_test(spread(x, 7, 1000, 37, 101, 1), spread(y, 300, 900.75, 53, 307, 0.5)),
                 0.0005021236079095908, 1e-12);
    assert_close(tm_rank_test(spread(x, 20, 1000, 37, 101, 1), spread(y, 800, 980.26, 53, 811, 0.1)),
                 7.665200394757192e-05, 1e-9);
}

static void many_or_equal_values_are_tested_by_the_normal_distribution(void **state)
{
    double x[60], y[60];

    (void)state;
    assert_close(tm_rank_test(spread(x, 50, 100, 37, 101, 0.1), spread(y, 60, 101.55, 53, 103, 0.1)),
                 0.030458032772208734, 1e-12);
    assert_close(tm_rank_test(spread(x, 30, 0, 7, 13, 1), spread(y, 30, 2, 5, 11, 1)), 0.19186596156951163, 1e-12);
    assert_true(tm_rank_test(SAMPLE(5, 5, 5), SAMPLE(5, 5, 5, 5)) == 1);
    assert_true(tm_rank_test(SAMPLE(1, 2, 3, 3), SAMPLE(1, 2, 3, 3)) == 1);
}

/* Of all ways to choose m of the scores, the share whose sum is as far from its mean as that of the first m. */
static double enumerated_sums(const double *score, unsigned m, unsigned all)
{
    double mean = 0, own = 0, ways = 0, as_far = 0;

    for (unsigned i = 0; i < all; i++) {
        mean += score[i] * m / all;
        own += i < m ? score[i] : 0;
    }
    for (unsigned set = 0; set < 1u << all; set++) {
        unsigned chosen = 0;
        double sum = 0;

        for (unsigned i = 0; i < all; i++) {
            chosen += set >> i & 1;
            sum += set >> i & 1 ? score[i] : 0;
        }
        ways += chosen == m;
        as_far += chosen == m && fabs(sum - mean) >= fabs(own - mean) * (1 - 1e-9);
    }
    return as_far / ways;
}

static void few_equal_values_and_means_are_tested_by_every_choice(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (unsigned m = 4; m <= 7; m++) {
        for (unsigned n = 4; n <= 8; n++) {
            double value[15], rank[15];
            const struct tm_sample a = { value, m }, b = { value + m, n };

            for (unsigned i = 0; i < m + n; i++)
                value[i] = (double)(next_number(&seed) % 5) + (i < m ? 0 : 1);
            for (unsigned i = 0; i < m + n; i++)
                rank[i] = tm_values_below(value[i], a) + tm_values_below(value[i], b);
            assert_close(tm_rank_test(a, b), enumerated_sums(rank, m, m + n), 1e-12);
            assert_close(tm_mean_test(a, b), enumerated_sums(value, m, m + n), 1e-12);
        }
    }
    assert_close(tm_rank_test(SAMPLE(1, 1, 2, 3), SAMPLE(4, 5, 6, 6)), 2.0 / 70, 1e-12);
    assert_true(isnan(tm_mean_test(SAMPLE(1), SAMPLE(2, 3))));
    assert_true(isnan(tm_mean_test(SAMPLE(1, NAN), SAMPLE(2, 3))));
}

static void means_of_many_values_are_tested_by_drawn_permutations(void **state)
{
    double x[30], y[30];
    const struct tm_sample a = spread(x, 20, 100, 37, 101, 0.1), b = spread(y, 20, 107.05, 53, 103, 0.1);

    (void)state;
    assert_true(tm_mean_test(a, b) < 0.0002); /* fine enough for levels far below 0.01 */
    assert_true(tm_mean_test(a, b) > 0 && tm_mean_test(a, b) == tm_mean_test(a, b));
    (void)spread(y, 20, 101.05, 53, 103, 0.1);
    assert_close(tm_mean_test(a, b), tm_welch_sample_test(a, b), 0.1);
    assert_true(tm_mean_test(SAMPLE(3, 3, 3, 3), SAMPLE(3, 3, 3, 3)) == 1);
    for (size_t i = 0; i < 20; i++) { /* two of 20 steps are long: that may be chance, whatever the mean does */
        x[i] = 100 + (double)(i * 7 % 5);
        y[i] = x[i] + (i % 10 == 3 ? 500 : 0);
    }
    assert_true(tm_mean_test((struct tm_sample){ x, 20 }, (struct tm_sample){ y, 20 }) > 0.1);
}

static double normal(uint64_t *seed)
{
    double sum = -6; /* of twelve uniform ones */

    for (int i = 0; i < 12; i++)
        sum += (double)(next_number(seed) % 1000003) / 1000003;
    return sum;
}

/* Steps of a run, each like the one before to that degree. */
static struct tm_sample series(double *to, size_t count, double mean, double like, double spread, uint64_t *seed)
{
    double off = normal(seed);

    for (size_t i = 0; i < count; i++) {
        to[i] = mean * (1 + spread * off);
        off = like * off + sqrt(1 - like * like) * normal(seed);
    }
    return (struct tm_sample){ to, count };
}

/* In how many of 1,000 pairs the median or the mean has changed. */
static int changed_pairs(size_t count, double like, double spread, double factor)
{
    uint64_t seed = 17;
    int changed = 0;

    for (int i = 0; i < 1000; i++) {
        double x[100], y[100];
        const struct tm_sample a = series(x, count, 100, like, spread, &seed),
                               b = series(y, count, 100 * factor, like, spread, &seed);
        const struct tm_change_test test = tm_change_test(a, b, tm_pooled_lag1(a, b), 0.01);

        changed += test.is_enough && (test.p_median < 0.01 || test.p_mean < 0.01);
    }
    return changed;
}

static void steps_that_are_like_their_neighbors_are_no_change(void **state)
{
    (void)state;
    assert_in_range(changed_pairs(20, 0, 0.04, 1), 2, 15); /* the level is used, and kept */
    assert_in_range(changed_pairs(11, 0, 0.04, 1), 1, 15);
    assert_in_range(changed_pairs(20, 0.5, 0.04, 1), 0, 30);
    assert_in_range(changed_pairs(20, 0.8, 0.04, 1), 0, 30);
    assert_in_range(changed_pairs(100, 0.8, 0.04, 1), 0, 25);
    assert_in_range(changed_pairs(20, 0, 0.02, 1.03), 910, 1000);
    assert_in_range(changed_pairs(100, 0.5, 0.02, 1.03), 990, 1000);
}

static void too_few_values_are_not_enough(void **state)
{
    static const struct {
        size_t a, b;
        bool is_tested, is_enough;
    } counts[] = { { 3, 20, false, false },
                   { 4, 4, true, false },
                   { 5, 5, true, false },
                   { 6, 6, true, true },
                   { 4, 9, true, true } };
    double x[20], y[20], like[40];
    uint64_t seed = 3;

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct tm_change_test test = tm_change_test(spread(x, counts[i].a, 100, 37, 101, 0.1),
                                                    spread(y, counts[i].b, 200, 53, 103, 0.1), 0, 0.01);

        if (isnan(test.p_median) == counts[i].is_tested || test.is_enough != counts[i].is_enough)
            fail_msg("%zu against %zu: p = %g, %d", counts[i].a, counts[i].b, test.p_median, test.is_enough);
    }
    const struct tm_sample slow = series(like, 20, 100, 0.97, 0.04, &seed),
                           other = series(like + 20, 20, 100, 0.97, 0.04, &seed);
    const struct tm_change_test test = tm_change_test(slow, other, tm_pooled_lag1(slow, other), 0.01);

    assert_true(test.lag1 > 0.7 && test.effective_a < 4 && !test.is_enough && isnan(test.p_mean));
    assert_true(isnan(tm_series_rank_test(slow, other)));
}

static void a_rank_test_wants_two_numbers_each(void **state)
{
    (void)state;
    assert_true(isnan(tm_rank_test(SAMPLE(1), SAMPLE(2, 3, 4))));
    assert_true(isnan(tm_rank_test(SAMPLE(1, 2), SAMPLE(3))));
    assert_true(isnan(tm_rank_test((struct tm_sample){ NULL, 0 }, (struct tm_sample){ NULL, 0 })));
    assert_true(isnan(tm_rank_test(SAMPLE(1, NAN, 2), SAMPLE(3, 4, 5))));
    assert_true(isnan(tm_rank_test(SAMPLE(1, 2, 3), SAMPLE(3, 4, NAN))));
}

static void means_are_tested_by_their_moments(void **state)
{
    static const struct {
        struct tm_summed a, b;
        double p;
    } cases[] = {
        { { 10, 1, 10 }, { 11, 2, 12 }, 0.14738714851296222 },
        { { 100, 5, 1000000 }, { 100.02, 6, 800000 }, 0.016827527922081885 },
        { { 1.0, 0.1, 2 }, { 2.0, 0.3, 2 }, 0.10586294017365382 },
        { { 5, 0, 10 }, { 6, 1, 5 }, 0.08900934250008567 },
        { { 1e13, 1e12, 10 }, { 1.1e13, 2e12, 12 }, 0.14738714851296222 },
        { { 1e-200, 1e-201, 10 }, { 1.1e-200, 2e-201, 12 }, -1 },
        { { 5, 0, 10 }, { 6, 0, 5 }, 0 },
        { { 5, 0, 10 }, { 5, 0, 5 }, 1 },
        { { 5, 1, 1 }, { 5, 1, 5 }, NAN },
        { { 5, 1, 5 }, { NAN, 1, 5 }, NAN },
        { { 5, NAN, 5 }, { 6, 1, 5 }, NAN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double p = tm_welch_test(cases[i].a, cases[i].b);

        if (isnan(cases[i].p))
            assert_true(isnan(p));
        else if (cases[i].p >= 0)
            assert_close(p, cases[i].p, 1e-9);
        else /* variances that vanish: no crash, and no certainty out of nothing */
            assert_true(p >= 0 && p <= 1);
        assert_true(isnan(p) || p == tm_welch_test(cases[i].b, cases[i].a));
    }
}

static struct tm_interval median_change(struct tm_sample a, struct tm_sample b, double level, double *scratch)
{
    return tm_change_interval(a, b, TM_MIDDLE_MEDIAN, 1, level, scratch);
}

static void an_interval_of_the_change_is_the_same_each_time(void **state)
{
    double x[20], y[20], scratch[40 + TM_RESAMPLES];
    const struct tm_sample a = spread(x, 20, 100, 37, 101, 0.1), b = spread(y, 20, 105.05, 53, 103, 0.1);
    const struct tm_interval first = median_change(a, b, 0.95, scratch);
    const struct tm_interval again = median_change(a, b, 0.95, scratch);

    (void)state;
    assert_true(first.low == again.low && first.high == again.high);
    assert_true(x[0] == 100 && x[1] == 103.7); /* the samples stay as they are */
    /* 200,000 resamples: 0.654 to 7.488; 2,000 are as near as this */
    assert_true(fabs(first.low - 0.654) < 0.4 && fabs(first.high - 7.488) < 0.4);
    const struct tm_interval narrow = median_change(a, b, 0.5, scratch);

    assert_true(narrow.low > first.low && narrow.high < first.high);
}

static void an_interval_of_samples_without_a_spread_is_a_point(void **state)
{
    double scratch[8 + TM_RESAMPLES];
    const struct tm_interval change = median_change(SAMPLE(4, 4, 4), SAMPLE(5, 5), 0.95, scratch);
    const struct tm_interval none = median_change(SAMPLE(4, 4), (struct tm_sample){ NULL, 0 }, 0.95, scratch);

    (void)state;
    assert_true(change.low == 25 && change.high == 25);
    assert_true(isnan(none.low) && isnan(none.high));
    assert_true(isnan(median_change(SAMPLE(0, 0), SAMPLE(1), 0.95, scratch).low));
    assert_true(isnan(median_change(SAMPLE(1, NAN), SAMPLE(1), 0.95, scratch).low));
    assert_true(isnan(median_change(SAMPLE(1), SAMPLE(1), 1, scratch).low));
}

/* The median of an even number of values is between two: every resample of { 1, 3 } has 1, 2 or 3.
 */
static void resampled_medians_are_medians(void **state)
{
    double scratch[3 + TM_RESAMPLES];

    (void)state;
    (void)median_change(SAMPLE(1), SAMPLE(1, 3), 0.95, scratch);
    size_t seen[3] = { 0 };

    for (size_t i = 0; i < TM_RESAMPLES; i++) {
        const double median = scratch[i] / 100 + 1;

        assert_true(median == 1 || median == 2 || median == 3);
        seen[(size_t)median - 1]++;
    }
    assert_true(seen[0] > 400 && seen[0] < 600 && seen[1] > 900 && seen[1] < 1100 && seen[2] > 400);
}

/* By hand: m = 5 of 7, q = 0.05: bounds 0.01 0.02 0.03 0.04 0.05.  Sorted 0.001 0.021 0.029 0.045
 * 0.3: the third is the last below its bound, so the second holds too, though it is above its own.
 */
static void false_discoveries_are_bounded(void **state)
{
    static const double p[] = { 0.045, 0.029, NAN, 0.001, 0.3, 0.021, NAN };
    double scratch[COUNT(p)];
    bool holds[COUNT(p)];

    (void)state;
    tm_discoveries(p, COUNT(p), 0.05, holds, scratch);
    static const bool expected[] = { false, true, false, true, false, true, false };

    assert_memory_equal(holds, expected, sizeof(expected));
    tm_discoveries(p, COUNT(p), 0.004, holds, scratch); /* 0.0008 for the first */
    assert_false(holds[3]);
    tm_discoveries(NULL, 0, 0.05, NULL, NULL);
}

/* By hand: alpha = 0.05, m = 4: bounds 0.0125, 0.0167, 0.025, 0.05.  Sorted 0.005 0.015 0.026 0.04:
 * the third is above its bound, and so the fourth does not hold either, though it is below its own.
 */
static void false_ones_in_a_family_are_bounded(void **state)
{
    static const double p[] = { 0.04, 0.005, NAN, 0.026, 0.015 };
    double scratch[COUNT(p)];
    bool holds[COUNT(p)];

    (void)state;
    tm_family_tests(p, COUNT(p), 0.05, holds, scratch);
    static const bool expected[] = { false, true, false, false, true };

    assert_memory_equal(holds, expected, sizeof(expected));
}

static void student_and_normal_are_those_of_the_tables(void **state)
{
    static const double two_sided[][3] = { /* t, freedom, p */
                                           { 0, 3, 1 },
                                           { 0.5, 1, 0.7048327646991335 },
                                           { 2, 1, 0.2951672353008665 },
                                           { 2.228138852, 10, 0.04999999999883647 },
                                           { 12, 5, 7.089492517161522e-05 },
                                           { 3, 2.5, 0.07257609554903183 },
                                           { 40, 7, 1.5902179984850364e-09 },
                                           { 1e-8, 4, 0.9999999925 },
                                           { 4.2, 1e6, 2.669380537248283e-05 },
                                           { 9, 60, 9.87049603566012e-13 },
                                           { 3, 0.7, 0.2833713393010258 }
    };
    static const double quantile[][3] = { /* p, freedom, t */
                                          { 0.975, 1, 12.706204736174694 },
                                          { 0.975, 2, 4.302652729749462 },
                                          { 0.975, 10, 2.228138851986274 },
                                          { 0.995, 5, 4.032142983555228 },
                                          { 0.95, 30, 1.697260886593957 },
                                          { 0.025, 4, -2.7764451051977943 },
                                          { 0.9999999, 3, 222.57159098625124 },
                                          { 0.6, 120, 0.25390952321492877 },
                                          { 0.975, 2.5, 3.5746548420036817 },
                                          { 0.975, 1e7, 1.959964221767205 },
                                          { 0.5, 4, 0 }
    };
    static const double upper[][2] = { { 0, 0.5 },
                                       { 1.959963984540054, 0.025 },
                                       { -1, 0.8413447460685429 },
                                       { 6, 9.865876450376946e-10 },
                                       { 30, 4.906713927147908e-198 } };

    (void)state;
    for (size_t i = 0; i < COUNT(two_sided); i++) {
        assert_close(tm_student_two_sided(two_sided[i][0], two_sided[i][1]), two_sided[i][2], 1e-9);
        assert_true(tm_student_two_sided(-two_sided[i][0], two_sided[i][1]) ==
                    tm_student_two_sided(two_sided[i][0], two_sided[i][1]));
    }
    for (size_t i = 0; i < COUNT(quantile); i++)
        assert_close(tm_student_quantile(quantile[i][0], quantile[i][1]), quantile[i][2], 1e-8);
    for (size_t i = 0; i < COUNT(upper); i++)
        assert_close(tm_normal_upper(upper[i][0]), upper[i][1], 1e-12);
    assert_close(tm_student_two_sided(2, 1e9), 2 * tm_normal_upper(2), 1e-12);
    assert_true(isnan(tm_student_two_sided(NAN, 3)) && isnan(tm_student_two_sided(1, 0)));
    assert_true(tm_student_two_sided(INFINITY, 3) == 0 && tm_student_two_sided(1e200, 3) == 0);
    assert_true(isnan(tm_student_quantile(1.1, 3)) && isinf(tm_student_quantile(1, 3)));
}

static void exact_times_give_the_share_they_were_made_of(void **state)
{
    static const double n[] = { 1, 2, 4, 8 };
    static const double shares[] = { 0, 0.05, 0.5, 1 };

    (void)state;
    for (size_t k = 0; k < 2 * COUNT(shares); k++) {
        const bool is_weak = k >= COUNT(shares);
        const double s = shares[k % COUNT(shares)];
        struct tm_serial_fit fit;
        double t[COUNT(n)];

        for (size_t i = 0; i < COUNT(n); i++)
            t[i] = 2e11 * (is_weak ? (1 - s) + s * n[i] : s + (1 - s) / n[i]);
        assert_true(tm_fit_serial(n, t, COUNT(n), is_weak, &fit));
        assert_true(fabs(fit.serial_pct - 100 * s) < 1e-10);
        assert_true(fit.low_pct <= fit.serial_pct + 1e-10 && fit.high_pct >= fit.serial_pct - 1e-10);
        assert_true(fit.high_pct - fit.low_pct < 1e-6 && fit.residual_pct < 1e-9);
        assert_close(fit.t1, 2e11, 1e-12);
        for (size_t i = 0; i < COUNT(n); i++)
            assert_close(tm_serial_time(&fit, n[i], is_weak), t[i], 1e-12);
        if (!is_weak && s > 0)
            assert_close(fit.speedup_limit, 1 / s, 1e-10);
        if (is_weak)
            assert_true(isinf(fit.speedup_limit));
    }
}

static void noisy_times_are_fitted_with_an_interval(void **state)
{
    static const double n[] = { 1, 2, 4, 8, 16 };
    static const double strong[] = { 100, 53.1, 28.7, 17.2, 10.9 }, weak[] = { 100, 104, 111.5, 128, 160.3 };
    struct tm_serial_fit fit;

    (void)state;
    assert_true(tm_fit_serial(n, strong, COUNT(n), false, &fit));
    assert_close(fit.serial_pct, 4.974327844666163, 1e-6);
    assert_close(fit.low_pct, 4.464289858680169, 1e-4);
    assert_close(fit.high_pct, 5.484365830652158, 1e-4);
    assert_close(fit.t1, 100.58472067614814, 1e-6);
    assert_close(fit.residual_pct, 0.8660305962492709, 1e-6);
    assert_close(fit.speedup_limit, 100 / 4.974327844666163, 1e-6);
    assert_true(tm_fit_serial(n, weak, COUNT(n), true, &fit));
    assert_close(fit.serial_pct, 4.02645558247912, 1e-6);
    assert_close(fit.low_pct, 3.9227480173292038, 1e-4);
    assert_close(fit.high_pct, 4.130163147629038, 1e-4);
    assert_close(fit.t1, 99.8498337630922, 1e-6);
    assert_close(fit.residual_pct, 0.19085899204554438, 1e-5);
}

/* Faster than the number of devices: no share below nothing, and the parallel part is fitted alone.
 */
static void a_share_is_never_negative(void **state)
{
    static const double n[] = { 1, 2, 4, 8 }, t[] = { 100, 48, 23, 11 };
    static const double slower[] = { 100, 101, 103, 104 };
    struct tm_serial_fit fit;

    (void)state;
    assert_true(tm_fit_serial(n, t, COUNT(n), false, &fit));
    assert_true(fit.serial_pct == 0 && fit.low_pct == 0 && isinf(fit.speedup_limit));
    assert_true(tm_serial_time(&fit, 8, false) == fit.t1 / 8);
    assert_true(tm_fit_serial(n, slower, COUNT(n), false, &fit));
    assert_true(fit.serial_pct == 100 && fit.high_pct == 100 && fit.speedup_limit == 1);
}

static void a_fit_wants_four_points_of_three_numbers(void **state)
{
    static const double n[] = { 1, 2, 4, 8 }, same[] = { 1, 1, 2, 2, 2 }, t[] = { 9, 8, 7, 6, 5 };
    static const double wrong[][4] = { { 9, 8, 7, 0 }, { 9, -8, 7, 6 }, { NAN, 8, 7, 6 }, { 9, 8, INFINITY, 6 } };
    struct tm_serial_fit fit;

    (void)state;
    assert_true(tm_fit_serial(n, t, 4, false, &fit));
    assert_false(tm_fit_serial(n, t, 3, false, &fit));
    assert_false(tm_fit_serial(same, t, 5, false, &fit));
    assert_false(tm_fit_serial(NULL, NULL, 0, false, &fit));
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(tm_fit_serial(n, wrong[i], 4, true, &fit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_sample),
        cmocka_unit_test(a_sample_may_be_too_small),
        cmocka_unit_test(values_that_are_no_numbers_are_sorted_last),
        cmocka_unit_test(the_exact_rank_test_counts_every_order),
        cmocka_unit_test(the_rank_test_is_that_of_scipy),
        cmocka_unit_test(many_or_equal_values_are_tested_by_the_normal_distribution),
        cmocka_unit_test(few_equal_values_and_means_are_tested_by_every_choice),
        cmocka_unit_test(means_of_many_values_are_tested_by_drawn_permutations),
        cmocka_unit_test(steps_that_are_like_their_neighbors_are_no_change),
        cmocka_unit_test(too_few_values_are_not_enough),
        cmocka_unit_test(a_rank_test_wants_two_numbers_each),
        cmocka_unit_test(means_are_tested_by_their_moments),
        cmocka_unit_test(an_interval_of_the_change_is_the_same_each_time),
        cmocka_unit_test(an_interval_of_samples_without_a_spread_is_a_point),
        cmocka_unit_test(resampled_medians_are_medians),
        cmocka_unit_test(false_discoveries_are_bounded),
        cmocka_unit_test(false_ones_in_a_family_are_bounded),
        cmocka_unit_test(student_and_normal_are_those_of_the_tables),
        cmocka_unit_test(exact_times_give_the_share_they_were_made_of),
        cmocka_unit_test(noisy_times_are_fitted_with_an_interval),
        cmocka_unit_test(a_share_is_never_negative),
        cmocka_unit_test(a_fit_wants_four_points_of_three_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
