/* SPDX-License-Identifier: Apache-2.0 */
/* Mann and Whitney (1947).  U = pairs in which the value of a is the larger one, ties by half.
 * Where all values are different and the samples small, the share of the orders with such a U is
 * counted: the number of them is a coefficient of the Gaussian binomial prod (1 - q^(n+i)) / (1 -
 * q^i), i = 1 to m (Andrews, The Theory of Partitions, 3.2).  Else U is normal with mean mn/2 and
 * the variance mn/12 (N + 1 - sum(t^3 - t) / (N (N - 1))), t = values that are equal, N = m + n.
 * Counts pairs: no memory, and time by (m + n)^2. */
#include "reports/statistics/tests.h"

#include <math.h>

enum { EXACT_FEWER_MOST = 20, EXACT_COUNTS = 8192 };

struct ranks {
    double u;    /* of a */
    double ties; /* sum of t^3 - t */
    bool is_number;
};

static double pairs_won(double x, struct tm_sample over)
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
        ranks.u += pairs_won(a.value[i], b);
    add_ties(&ranks, a, b);
    add_ties(&ranks, b, a);
    return ranks;
}

/* P(U <= u) of samples of m and n values, all different.  in: u  a whole number below EXACT_COUNTS
 */
static double exact_lower(size_t m, size_t n, size_t u)
{
    double orders[EXACT_COUNTS] = { 1 }; /* by their U, up to u */
    double all = 1, lower = 0;

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

static double normal_two_sided(double m, double n, const struct ranks *ranks, double u_most)
{
    const double count = m + n;
    const double variance = m * n / 12 * (count + 1 - ranks->ties / (count * (count - 1)));

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
    const double p =
        ranks.ties == 0 && fewer <= EXACT_FEWER_MOST && pairs / 2 < EXACT_COUNTS
            ? 2 * exact_lower(fewer, more, (size_t)least)
            : normal_two_sided((double)a.count, (double)b.count, &ranks, pairs - least);

    return fmin(p, 1);
}
