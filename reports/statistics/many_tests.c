/* SPDX-License-Identifier: Apache-2.0 */
/* Benjamini and Hochberg (1995): of the sorted p, the last p(k) <= k q / m and all before it hold.
 * Holm (1979): those before the first p(k) > alpha / (m - k + 1).  Both are a bound on p. */
#include "reports/statistics/tests.h"

#include <math.h>

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
