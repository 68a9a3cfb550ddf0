/* SPDX-License-Identifier: Apache-2.0 */
/* Mann and Whitney (1947).  U = pairs in which the value of a is the larger one, ties by half.
 * Where all values are different and the samples small, the share of the orders with such a U is
 * counted: the number of them is a coefficient of the Gaussian binomial prod (1 - q^(n+i)) / (1 -
 * q^i), i = 1 to m (Andrews, The Theory of Partitions, 3.2).  With equal values and few of them the
 * ways to choose m of the N midranks are counted by their sum (Streitberg and Roehmel 1986).  Else
 * U is normal with mean mn/2 and the variance mn/12 (N + 1 - sum(t^3 - t) / (N (N - 1))), t = values
 * that are equal, N = m + n.
 * Counts pairs: no memory, and time by (m + n)^2. */
#include "reports/statistics/tests.h"

#include <math.h>
#include <string.h>

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

/* P(U <= u) of samples of m and n values, all different.  in: u  a whole number below EXACT_COUNTS
 */
static double exact_lower(size_t m, size_t n, size_t u)
{
    static double orders[EXACT_COUNTS]; /* by their U, up to u; too much for a small stack */
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

/* Twice the midrank of a value among both samples, 2 to 2 N: a whole number. */
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
    static double chosen[TIED_MOST / 2 + 1][SUMS]; /* ways to choose so many with that sum; too much for a small stack */
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
    const double p =
        ranks.ties == 0 && fewer <= EXACT_FEWER_MOST && pairs / 2 < EXACT_COUNTS
            ? 2 * exact_lower(fewer, more, (size_t)least)
            : normal_two_sided((double)a.count, (double)b.count, &ranks, pairs - least);

    return fmin(p, 1);
}

double tm_rank_test_effective(struct tm_sample a, struct tm_sample b, double share)
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
