/* SPDX-License-Identifier: Apache-2.0 */
/* Has the median or the mean of a series changed?  The median by ranks (Mann and Whitney), the mean by permutations
 * (Pitman 1937): all of them where there are few, else drawn from a fixed seed.  p is adjusted for two tests, step
 * down, by
 * how closely they are related: over all permutations the two statistics correlate as the values do with their ranks.
 *
 * Values in the order of time resemble their neighbors.  r is the lag-1 autocorrelation of both series, each about its
 * own mean.  Above LAG1_LEAST it is corrected, since a short series underestimates it by (1 + 4 r) / n (Kendall 1954,
 * Marriott and Pope 1954), n (1 - r) / (1 + r) values count in place of n (Bartlett 1935), and both tests become t
 * tests
 * of so many values: of the ranks (Conover and Iman 1981) and of the values.  r is not well known itself, so that few
 * independent values have to be surer: what no order of so many could show has to reach a tenth of the level. */
#include "reports/statistics/tests.h"

#include <math.h>

#include "reports/statistics/draw.h"

#define LAG1_LEAST 0.1
#define LAG1_MOST 0.99

enum {
    PERMUTATIONS_ALL = 20000,  /* up to so many are all gone through */
    PERMUTATIONS_DRAWN = 20000,
    EXCEEDED_ENOUGH = 500,     /* then p is known well enough, and above any level */
    PERMUTED_MOST = 1024,      /* values of both samples: more are as good as normal */
};

double tm_effective_count(double count, double lag1)
{
    return count * (1 - lag1) / (1 + lag1);
}

/* --- autocorrelation --- */

struct products {
    double lag1, squares, values;
};

static void add_products(struct products *sum, struct tm_sample of)
{
    const double mean = tm_sample_moments(of).mean;

    for (size_t i = 0; i < of.count; i++) {
        const double off = of.value[i] - mean;

        sum->squares += off * off;
        sum->lag1 += i ? off * (of.value[i - 1] - mean) : 0;
    }
    sum->values += (double)of.count;
}

double tm_pooled_lag1(struct tm_sample a, struct tm_sample b)
{
    struct products sum = { 0, 0, 0 };
    double n, r;

    add_products(&sum, a);
    add_products(&sum, b);
    n = sum.values / 2;
    if (!(sum.squares > 0) || n <= 4)
        return 0;
    r = sum.lag1 / sum.squares;
    if (r > LAG1_LEAST)
        r = (n * r + 1) / (n - 4);
    return fmin(fmax(r, 0), LAG1_MOST);
}

/* --- the mean --- */

/* How many ways there are to choose k of n; at most `most`. */
static double ways(size_t n, size_t k, double most)
{
    double count = 1;

    for (size_t i = 1; i <= k && count <= most; i++)
        count = count * (double)(n - k + i) / (double)i;
    return fmin(round(count), most);
}

struct permutation {
    double *value; /* of both samples, less the mean of all */
    size_t *place;
    size_t count, chosen;
    double distance; /* of the sum of the chosen from 0, as it is */
};

static bool is_as_far(const struct permutation *p, double sum)
{
    return fabs(sum) >= p->distance * (1 - 1e-9);
}

/* The next choice in lexical order.  out: false: that was the last one */
static bool next_choice(struct permutation *p)
{
    size_t i = p->chosen;

    while (i > 0 && p->place[i - 1] == p->count - p->chosen + i - 1)
        i--;
    if (i == 0)
        return false;
    for (p->place[i - 1]++; i < p->chosen; i++)
        p->place[i] = p->place[i - 1] + 1;
    return true;
}

static double all_permutations(struct permutation *p)
{
    double all = 0, as_far = 0;

    for (size_t i = 0; i < p->chosen; i++)
        p->place[i] = i;
    do {
        double sum = 0;

        for (size_t i = 0; i < p->chosen; i++)
            sum += p->value[p->place[i]];
        all++;
        as_far += is_as_far(p, sum);
    } while (next_choice(p));
    return as_far / all;
}

/* The order as it is counts as one of them, so that p is never 0 (Davison and Hinkley 1997). */
static double drawn_permutations(struct permutation *p)
{
    uint64_t state = 1;
    int drawn = 0, as_far = 0;

    while (drawn < PERMUTATIONS_DRAWN && as_far < EXCEEDED_ENOUGH) {
        double sum = 0;

        for (size_t i = 0; i < p->chosen; i++) {
            const size_t from = i + tm_draw_below(&state, p->count - i);
            const double taken = p->value[from];

            p->value[from] = p->value[i];
            p->value[i] = taken;
            sum += taken;
        }
        drawn++;
        as_far += is_as_far(p, sum);
    }
    return (as_far + 1.0) / (drawn + 1.0);
}

double tm_mean_test(struct tm_sample a, struct tm_sample b)
{
    double value[PERMUTED_MOST], mean = 0;
    size_t place[PERMUTED_MOST];
    const struct tm_sample fewer = a.count < b.count ? a : b, more = a.count < b.count ? b : a;
    struct permutation p = { value, place, a.count + b.count, fewer.count, 0 };

    if (a.count < 2 || b.count < 2)
        return NAN;
    if (p.count > PERMUTED_MOST)
        return tm_welch_sample_test(a, b);
    for (size_t i = 0; i < p.count; i++) {
        value[i] = i < fewer.count ? fewer.value[i] : more.value[i - fewer.count];
        mean += value[i] / (double)p.count;
    }
    if (isnan(mean))
        return NAN;
    for (size_t i = 0; i < p.count; i++)
        value[i] -= mean;
    for (size_t i = 0; i < p.chosen; i++)
        p.distance += value[i];
    p.distance = fabs(p.distance);
    return ways(p.count, p.chosen,
                PERMUTATIONS_ALL + 1) <= PERMUTATIONS_ALL ? all_permutations(&p) : drawn_permutations(&p);
}

/* --- both, of values that are not independent --- */

/* The variance of n values of which `effective` are independent, as if it had been taken about the true mean. */
static struct tm_summed summed(struct tm_sample of, double effective)
{
    const struct tm_moments moments = tm_sample_moments(of);
    const double n = (double)of.count;

    return (struct tm_summed){ moments.mean, moments.stddev * sqrt((n - 1) / n / (1 - 1 / effective)), effective };
}

/* --- one p for two tests --- */

/* The correlation of the values of both samples with their ranks: over all permutations that of the two statistics. */
static double correlation_with_ranks(struct tm_sample a, struct tm_sample b)
{
    const double count = (double)(a.count + b.count), middle = count / 2;
    double mean = 0, both = 0, values = 0, ranks = 0;

    for (size_t i = 0; i < a.count + b.count; i++)
        mean += (i < a.count ? a.value[i] : b.value[i - a.count]) / count;
    for (size_t i = 0; i < a.count + b.count; i++) {
        const double x = i < a.count ? a.value[i] : b.value[i - a.count];
        const double off = x - mean, rank = tm_values_below(x, a) + tm_values_below(x, b) - middle;

        both += off * rank;
        values += off * off;
        ranks += rank * rank;
    }
    return values > 0 && ranks > 0 ? fmin(both / sqrt(values * ranks), 1) : 0;
}

/* P(|X| >= z or |Y| >= z) of two normal variables, z by P(|X| >= z) = p: Simpson's rule over x. */
static double either(double p, double correlation)
{
    enum { PIECES = 200 };
    const double apart = sqrt(1 - correlation * correlation);
    const double z = p < 1e-15 ? INFINITY : tm_student_quantile(1 - p / 2, 1e9), width = 2 * z / PIECES;
    double sum = 0;

    if (correlation > 0.9999)
        return p;
    if (!(p < 1) || isinf(z))
        return fmin(2 * p, 1);
    for (int i = 0; i <= PIECES; i++) {
        const double x = -z + i * width, weight = i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2;

        sum += weight * exp(-x * x / 2) *
               (tm_normal_upper((z - correlation * x) / apart) + tm_normal_upper((z + correlation * x) / apart));
    }
    return fmin(p + sum * width / 3 / sqrt(8 * atan(1)), fmin(2 * p, 1));
}

/* The smaller one as the smaller of two, the other by itself, but not below (step-down). */
static double adjusted(double p, double other, double correlation)
{
    return p <= other ? either(p, correlation) : fmax(p, either(other, correlation));
}

double tm_adjust_p(double p, double other, double correlation)
{
    return adjusted(p, other, correlation);
}

/* The least p that so many values can have: all of one sample are larger than those of the other. */
static double least_p(double a, double b)
{
    const size_t m = (size_t)a, n = (size_t)b;

    return 2 / ways(m + n, m < n ? m : n, 1e9);
}

bool tm_is_enough(double a, double b, double level)
{
    return fmin(a, b) >= TM_VALUES_LEAST && 2 * least_p(a, b) < level;
}

double tm_independent_share(double lag1)
{
    return lag1 > LAG1_LEAST ? tm_effective_count(1, lag1) : 1;
}

double tm_series_rank_test(struct tm_sample a, struct tm_sample b)
{
    const double share = tm_independent_share(tm_pooled_lag1(a, b));
    const size_t fewer = a.count < b.count ? a.count : b.count;

    if (!(share < 1))
        return tm_rank_test(a, b);
    return share * (double)fewer < TM_EFFECTIVE_LEAST ? NAN : tm_rank_test_effective(a, b, share);
}

struct tm_change_test tm_change_test(struct tm_sample a, struct tm_sample b, double lag1, double level)
{
    struct tm_change_test test = { .lag1 = lag1, .p_median = NAN, .p_mean = NAN, .level = level / 10 };
    double correlation, median, mean;

    test.share = tm_independent_share(test.lag1);
    test.effective_a = test.share * (double)a.count;
    test.effective_b = test.share * (double)b.count;
    if (fmin(test.effective_a, test.effective_b) < TM_EFFECTIVE_LEAST || a.count < TM_VALUES_LEAST ||
        b.count < TM_VALUES_LEAST)
        return test;
    if (test.share < 1) {
        median = tm_rank_test_effective(a, b, test.share);
        mean = tm_welch_test(summed(a, test.effective_a), summed(b, test.effective_b));
    } else {
        median = tm_rank_test(a, b);
        mean = tm_mean_test(a, b);
    }
    if (isnan(median) || isnan(mean))
        return test;
    correlation = correlation_with_ranks(a, b);
    test.p_median = adjusted(median, mean, correlation);
    test.p_mean = adjusted(mean, median, correlation);
    test.is_enough = tm_is_enough(test.effective_a, test.effective_b, level);
    test.level = test.is_enough ? level : level / 10;
    return test;
}
