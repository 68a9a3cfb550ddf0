/* SPDX-License-Identifier: Apache-2.0 */
/* Has the median or the mean of a series changed? The median by ranks (Mann and Whitney), the mean by permutations
 * (Pitman 1937): all of them if there are few, else a sample drawn from a fixed seed. p is adjusted for two tests, step
 * down, by their correlation: over all permutations the two statistics correlate as the values do with their ranks.
 *
 * Values in time order resemble their neighbors. r is the lag-1 autocorrelation of both series, each around its own
 * mean.  Above LAG1_LEAST it is corrected, because a short series underestimates it by (1 + 4 r) / n (Kendall 1954,
 * Marriott and Pope 1954), the effective number of values is n (1 - r) / (1 + r) (Bartlett 1935), and both tests become
 * t tests with that number of values: of the ranks (Conover and Iman 1981) and of the values. r itself is uncertain, so
 * small effective samples need stronger evidence: where no permutation of that many values could reach the level, p
 * must reach a tenth of it. */
#include "reports/statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The normal distribution by the error function, Student's by the incomplete beta function:
 * P(|T| > t) = I_x(v/2, 1/2) with x = v / (v + t^2) (DLMF 8.17.1, 8.17(i)); the continued fraction
 * is DLMF 8.17.22, evaluated as Lentz (1976) and Thompson and Barnett (1986) do. */

/* From here on, the two distributions agree in all relevant digits, and the fraction is
 * slow. */
static const double FREEDOM_IS_NORMAL = 1e8;

enum { TERMS_MOST = 20000, HALVINGS_MOST = 2000 };

double tm_normal_upper(double z)
{
    return 0.5 * erfc(z / sqrt(2));
}

/* No part of the fraction may become zero. */
static double apart(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* I_x(a, b) where the fraction converges fast: x < (a + 1) / (a + b + 2).  in: rest  1 - x */
static double beta_fraction(double a, double b, double x, double rest)
{
    int sign;
    const double front =
        exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log(rest)) / a;
    double c = 1, d = 1 / apart(1 - (a + b) * x / (a + 1)), value = d;

    for (int m = 1; m <= TERMS_MOST; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

        d = 1 / apart(1 + even * d);
        c = apart(1 + even / c);
        value *= c * d;
        d = 1 / apart(1 + odd * d);
        c = apart(1 + odd / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return front * value;
}

static double beta_share(double a, double b, double x, double rest)
{
    if (x <= 0)
        return 0;
    if (rest <= 0)
        return 1;
    return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x, rest) : 1 - beta_fraction(b, a, rest, x);
}

double tm_student_two_sided(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0))
        return NAN;
    if (isinf(t))
        return 0;
    if (freedom > FREEDOM_IS_NORMAL)
        return 2 * tm_normal_upper(fabs(t));
    const double square = t * t, whole = freedom + square;

    return isinf(square) ? 0 : beta_share(freedom / 2, 0.5, freedom / whole, square / whole);
}

double tm_student_quantile(double p, double freedom)
{
    if (!(p >= 0 && p <= 1) || !(freedom > 0))
        return NAN;
    const double tail = 2 * (p < 0.5 ? p : 1 - p); /* both of them */
    double low = 0, high = 1;

    if (tail == 0)
        return p < 0.5 ? -INFINITY : INFINITY;
    while (tm_student_two_sided(high, freedom) > tail && high < 1e150) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < HALVINGS_MOST; i++) {
        const double middle = low + (high - low) / 2;

        if (middle == low || middle == high)
            break;
        *(tm_student_two_sided(middle, freedom) > tail ? &low : &high) = middle;
    }
    return p == 0.5 ? 0 : p < 0.5 ? -high : high;
}

/* Mann and Whitney (1947).  U = number of pairs in which the value of a is the larger one, ties count half.  If all
 * values differ and the samples are small, the share of the permutations with such a U is counted: their number is a
 * coefficient of the Gaussian binomial prod (1 - q^(n+i)) / (1 - q^i), i = 1 to m (Andrews, The Theory of Partitions,
 * 3.2).  With ties and few values, the ways to choose m of the N midranks are counted by their sum (Streitberg and
 * Roehmel 1986).  Otherwise U is normal with mean mn/2 and the variance mn/12 (N + 1 - sum(t^3 - t) / (N (N - 1))), t =
 * number of tied values, N = m + n.  Counts pairs: no memory, and time proportional to (m + n)^2. */

enum { EXACT_FEWER_MOST = 20, EXACT_COUNTS = 8192, TIED_MOST = 24 };

struct ranks {
    double u;    /* of a */
    double ties; /* sum of t^3 - t */
    bool is_number;
};

double tm_values_below(double x, struct tm_sample over)
{
    double won = 0;

    for (size_t i = 0; i < over.count; i++)
        won += (x > over.value[i] ? 0.5 : 0) + (x >= over.value[i] ? 0.5 : 0);
    return won;
}

static double equals(double x, struct tm_sample in)
{
    double count = 0;

    for (size_t i = 0; i < in.count; i++)
        count += x == in.value[i] ? 1 : 0;
    return count;
}

/* Each of t equal values adds t^2 - 1. */
static void add_ties(struct ranks *ranks, struct tm_sample of, struct tm_sample other)
{
    for (size_t i = 0; i < of.count; i++) {
        const double t = equals(of.value[i], of) + equals(of.value[i], other);

        ranks->is_number &= !isnan(of.value[i]);
        ranks->ties += t * t - 1;
    }
}

static struct ranks rank(struct tm_sample a, struct tm_sample b)
{
    struct ranks ranks = { .is_number = true };

    for (size_t i = 0; i < a.count; i++)
        ranks.u += tm_values_below(a.value[i], b);
    add_ties(&ranks, a, b);
    add_ties(&ranks, b, a);
    return ranks;
}

/* P(U <= u) of samples of m and n values, all different.  in: u  an integer below EXACT_COUNTS
 */
static double exact_lower(size_t m, size_t n, size_t u)
{
    static _Thread_local double orders[EXACT_COUNTS]; /* by their U, up to u; too much for the stack */
    double all = 1, lower = 0;

    memset(orders, 0, sizeof(orders));
    orders[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t k = u; k >= n + i; k--)
            orders[k] -= orders[k - n - i];
        for (size_t k = i; k <= u; k++)
            orders[k] += orders[k - i];
        all *= (double)(n + i) / (double)i;
    }
    for (size_t k = 0; k <= u; k++)
        lower += orders[k];
    return lower / all;
}

/* Twice the midrank of a value among both samples, 2 to 2 N: an integer. */
static size_t twice_midrank(double x, struct tm_sample a, struct tm_sample b)
{
    double below = tm_values_below(x, a) + tm_values_below(x, b); /* itself is a tie, and half a pair */

    return (size_t)(2 * below + 1);
}

/* P(the sum of a's midranks is as far from its mean, or farther), both ways.
 * in: a  the smaller sample; both together up to TIED_MOST values */
static double tied_two_sided(struct tm_sample a, struct tm_sample b)
{
    enum { SUMS = TIED_MOST * (TIED_MOST + 1) + 1 };
    static _Thread_local double chosen[TIED_MOST / 2 + 1][SUMS]; /* ways to choose this many with that sum */
    const size_t count = a.count + b.count, middle = a.count * (count + 1);
    size_t own = 0, reach = 0, far;
    double all = 0, as_far = 0;

    memset(chosen, 0, sizeof(chosen));
    chosen[0][0] = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t rank = twice_midrank(i < a.count ? a.value[i] : b.value[i - a.count], a, b);

        own += i < a.count ? rank : 0;
        reach = reach + rank < SUMS ? reach + rank : SUMS - 1;
        for (size_t k = i + 1 < a.count ? i + 1 : a.count; k > 0; k--)
            for (size_t sum = reach; sum >= rank; sum--)
                chosen[k][sum] += chosen[k - 1][sum - rank];
    }
    far = own > middle ? own - middle : middle - own;
    for (size_t sum = 0; sum <= reach; sum++) {
        all += chosen[a.count][sum];
        as_far += (sum > middle ? sum - middle : middle - sum) >= far ? chosen[a.count][sum] : 0;
    }
    return as_far / all;
}

static double variance_of(double m, double n, const struct ranks *ranks)
{
    const double count = m + n;

    return m * n / 12 * (count + 1 - ranks->ties / (count * (count - 1)));
}

static double normal_two_sided(double m, double n, const struct ranks *ranks, double u_most)
{
    const double variance = variance_of(m, n, ranks);

    if (!(variance > 0))
        return 1; /* all values are equal */
    return 2 * tm_normal_upper((u_most - m * n / 2 - 0.5) / sqrt(variance));
}

double tm_rank_test(struct tm_sample a, struct tm_sample b)
{
    if (a.count < 2 || b.count < 2)
        return NAN;
    const struct ranks ranks = rank(a, b);
    const double pairs = (double)a.count * (double)b.count;
    const double least = fmin(ranks.u, pairs - ranks.u);
    const size_t fewer = a.count < b.count ? a.count : b.count, more = a.count + b.count - fewer;

    if (!ranks.is_number)
        return NAN;
    if (ranks.ties > 0 && a.count + b.count <= TIED_MOST)
        return a.count <= b.count ? tied_two_sided(a, b) : tied_two_sided(b, a);
    const double p = ranks.ties == 0 && fewer <= EXACT_FEWER_MOST && pairs / 2 < EXACT_COUNTS
                         ? 2 * exact_lower(fewer, more, (size_t)least)
                         : normal_two_sided((double)a.count, (double)b.count, &ranks, pairs - least);

    return fmin(p, 1);
}

/* The same where only a share of the values is independent, by Student's t of the ranks. */
static double rank_test_effective(struct tm_sample a, struct tm_sample b, double share)
{
    const double m = (double)a.count, n = (double)b.count, count = share * (m + n);

    if (a.count < 2 || b.count < 2 || !(count > 2))
        return NAN;
    const struct ranks ranks = rank(a, b);
    const double variance = variance_of(m, n, &ranks) / share;
    const double z = variance > 0 ? fmax(fabs(ranks.u - m * n / 2) - 0.5, 0) / sqrt(variance) : 0;
    const double rest = count - 1 - z * z;

    if (!ranks.is_number)
        return NAN;
    return rest > 0 ? tm_student_two_sided(z / sqrt(rest / (count - 2)), count - 2) : 0;
}

/* Mean and spread in two passes, quantiles by interpolation, the geometric mean. */

struct tm_moments tm_sample_moments(struct tm_sample sample)
{
    struct tm_moments of = { NAN, NAN, NAN };
    double sum = 0, squares = 0;

    if (sample.count == 0)
        return of;
    for (size_t i = 0; i < sample.count; i++)
        sum += sample.value[i];
    of.mean = sum / (double)sample.count;
    if (sample.count == 1)
        return of;
    for (size_t i = 0; i < sample.count; i++) {
        const double off = sample.value[i] - of.mean;

        squares += off * off;
    }
    of.stddev = sqrt(squares / (double)(sample.count - 1));
    of.cv_pct = of.mean == 0 ? NAN : 100 * of.stddev / of.mean;
    return of;
}

double tm_sample_quantile(struct tm_sample sorted, double p)
{
    if (sorted.count == 0 || !(p >= 0 && p <= 1))
        return NAN;
    const double place = p * (double)(sorted.count - 1), whole = floor(place);
    const size_t at = (size_t)whole;

    if (place == whole)
        return sorted.value[at];
    return sorted.value[at] + (place - whole) * (sorted.value[at + 1] - sorted.value[at]);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

void tm_sample_sort(double *value, size_t count)
{
    if (count > 1)
        qsort(value, count, sizeof(*value), ascending);
}

double tm_sample_geomean(struct tm_sample sample)
{
    double sum = 0;

    for (size_t i = 0; i < sample.count; i++) {
        if (!(sample.value[i] > 0))
            return NAN;
        sum += log(sample.value[i]);
    }
    return sample.count == 0 ? NAN : exp(sum / (double)sample.count);
}

static void swap(double *a, double *b)
{
    const double kept = *a;

    *a = *b;
    *b = kept;
}

/* Partition [first, last], no value of the first part larger than one of the second (Hoare 1961).
 * out:    the last position of the first part; the second part is not empty */
static size_t divide(double *value, size_t first, size_t last)
{
    const double pivot = value[first + (last - first) / 2];
    size_t up = first, down = last;

    for (;;) {
        while (value[up] < pivot)
            up++;
        while (value[down] > pivot)
            down--;
        if (up >= down)
            return down;
        swap(&value[up++], &value[down--]);
    }
}

/* Put the value of this rank there; none before it is larger.  in: no NaN */
static double select_place(double *value, size_t count, size_t place)
{
    size_t first = 0, last = count - 1;

    while (first < last) {
        const size_t middle = divide(value, first, last);

        if (place <= middle)
            last = middle;
        else
            first = middle + 1;
    }
    return value[place];
}

double tm_sample_select_median(double *value, size_t count)
{
    const double upper = select_place(value, count, count / 2);
    double lower = value[0];

    if (count % 2 == 1)
        return upper;
    for (size_t i = 1; i < count / 2; i++)
        lower = value[i] > lower ? value[i] : lower;
    return lower + (upper - lower) / 2;
}

/* Welch (1947): the difference of two means over its standard error, with the degrees of freedom of
 * Satterthwaite. */

double tm_welch_test(struct tm_summed a, struct tm_summed b)
{
    if (!(a.count >= 2) || !(b.count >= 2) || !(a.stddev >= 0) || !(b.stddev >= 0))
        return NAN;
    const double a_part = a.stddev * a.stddev / a.count, b_part = b.stddev * b.stddev / b.count;
    const double both = a_part + b_part, difference = a.mean - b.mean;

    if (isnan(difference) || isinf(both))
        return NAN;
    if (both == 0)
        return difference == 0 ? 1 : 0;
    /* By shares: the squares of small variances would vanish. */
    const double a_share = a_part / both, b_share = b_part / both;

    return tm_student_two_sided(difference / sqrt(both),
                                1 / (a_share * a_share / (a.count - 1) + b_share * b_share / (b.count - 1)));
}

static struct tm_summed summed(struct tm_sample sample)
{
    const struct tm_moments moments = tm_sample_moments(sample);

    return (struct tm_summed){ moments.mean, moments.stddev, (double)sample.count };
}

double tm_welch_sample_test(struct tm_sample a, struct tm_sample b)
{
    return tm_welch_test(summed(a), summed(b));
}

#define LAG1_LEAST 0.1
#define LAG1_MOST 0.99

enum {
    PERMUTATIONS_ALL = 20000, /* up to this many are all gone through */
    PERMUTATIONS_DRAWN = 20000,
    EXCEEDED_ENOUGH = 500, /* then p is known well enough, and above any level */
    PERMUTED_MOST = 1024,  /* values of both samples: more are close enough to normal */
};

static double effective_count(double count, double lag1)
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

/* The number of ways to choose k of n; at most `most`. */
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
    double distance; /* of the sum of the chosen from 0, in the original order */
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

/* The original order counts as one of them, so that p is never 0 (Davison and Hinkley 1997). */
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
    return ways(p.count, p.chosen, PERMUTATIONS_ALL + 1) <= PERMUTATIONS_ALL ? all_permutations(&p)
                                                                             : drawn_permutations(&p);
}

/* --- both, of values that are not independent --- */

/* The variance of n values, `effective` of them independent, as if it had been taken about the true mean. */
static struct tm_summed summed_effective(struct tm_sample of, double effective)
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

/* The smaller one as the smaller of two, the other on its own, but not below (step-down). */
static double adjusted(double p, double other, double correlation)
{
    return p <= other ? either(p, correlation) : fmax(p, either(other, correlation));
}

double tm_adjust_p(double p, double other, double correlation)
{
    return adjusted(p, other, correlation);
}

/* The least p that this many values can have: all of one sample are larger than those of the other. */
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
    return lag1 > LAG1_LEAST ? effective_count(1, lag1) : 1;
}

double tm_series_rank_test(struct tm_sample a, struct tm_sample b)
{
    const double share = tm_independent_share(tm_pooled_lag1(a, b));
    const size_t fewer = a.count < b.count ? a.count : b.count;

    if (!(share < 1))
        return tm_rank_test(a, b);
    return share * (double)fewer < TM_EFFECTIVE_LEAST ? NAN : rank_test_effective(a, b, share);
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
        median = rank_test_effective(a, b, test.share);
        mean = tm_welch_test(summed_effective(a, test.effective_a), summed_effective(b, test.effective_b));
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

/* Benjamini and Hochberg (1995): of the sorted p, the last p(k) <= k q / m and all before it hold.
 * Holm (1979): those before the first p(k) > alpha / (m - k + 1).  Both are a bound on p. */

static size_t sort_tested(const double *p, size_t count, double *to)
{
    size_t tested = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isnan(p[i]))
            to[tested++] = p[i];
    }
    tm_sample_sort(to, tested);
    return tested;
}

static void hold_up_to(double bound, const double *p, size_t count, bool *holds)
{
    for (size_t i = 0; i < count; i++)
        holds[i] = p[i] <= bound;
}

void tm_discoveries(const double *p, size_t count, double q, bool *holds, double *scratch)
{
    size_t k = sort_tested(p, count, scratch);
    const double tested = (double)k;

    while (k > 0 && scratch[k - 1] > (double)k * q / tested)
        k--;
    hold_up_to(k == 0 ? -1 : scratch[k - 1], p, count, holds);
}

void tm_family_tests(const double *p, size_t count, double alpha, bool *holds, double *scratch)
{
    const size_t tested = sort_tested(p, count, scratch);
    size_t k = 0;

    while (k < tested && scratch[k] <= alpha / (double)(tested - k))
        k++;
    hold_up_to(k == 0 ? -1 : scratch[k - 1], p, count, holds);
}

/* Percentile bootstrap (Efron 1979): both samples are drawn again with replacement, and the
 * quantiles of the changes of their medians or means are the interval.  The generator starts from a
 * fixed seed.  If values are not independent, only the effective number of them is drawn (m out of n). */

static void draw_anew(struct tm_sample from, double *to, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from.value[tm_draw_below(state, from.count)];
}

static size_t drawn_of(struct tm_sample from, double share)
{
    const double count = floor(share * (double)from.count);

    return count >= (double)from.count ? from.count : count < 1 ? 1 : (size_t)count;
}

static double middle_of(double *value, size_t count, enum tm_middle middle)
{
    return middle == TM_MIDDLE_MEAN ? tm_sample_moments((struct tm_sample){ value, count }).mean
                                    : tm_sample_select_median(value, count);
}

static bool has_nan(struct tm_sample sample)
{
    for (size_t i = 0; i < sample.count; i++) {
        if (isnan(sample.value[i]))
            return true;
    }
    return false;
}

struct tm_interval tm_change_interval(struct tm_sample a, struct tm_sample b, enum tm_middle middle, double share,
                                      double level, double *scratch)
{
    const struct tm_interval unknown = { NAN, NAN };
    double *const change = scratch, *const drawn_a = change + TM_RESAMPLES, *const drawn_b = drawn_a + a.count;
    const size_t count_a = drawn_of(a, share), count_b = drawn_of(b, share);
    uint64_t state = 1;

    if (a.count == 0 || b.count == 0 || !(level > 0 && level < 1) || has_nan(a) || has_nan(b))
        return unknown;
    for (int i = 0; i < TM_RESAMPLES; i++) {
        draw_anew(a, drawn_a, count_a, &state);
        draw_anew(b, drawn_b, count_b, &state);
        const double before = middle_of(drawn_a, count_a, middle);

        if (!(before > 0))
            return unknown; /* no percentage of it */
        change[i] = 100 * (middle_of(drawn_b, count_b, middle) / before - 1);
    }
    tm_sample_sort(change, TM_RESAMPLES);
    const struct tm_sample changes = { change, TM_RESAMPLES };

    return (struct tm_interval){ tm_sample_quantile(changes, (1 - level) / 2),
                                 tm_sample_quantile(changes, (1 + level) / 2) };
}
