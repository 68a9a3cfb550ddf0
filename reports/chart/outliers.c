/* SPDX-License-Identifier: Apache-2.0 */
/* A few values that would hide all others.  See outliers.h. */
#include "reports/chart/outliers.h"

#include <stdlib.h>

enum { FAR = 4, LEAST = 3, CUT_PART = 4 /* of the values may be cut */ };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double tm_without_outliers(double *values, size_t count)
{
    size_t kept = count;

    if (!count)
        return 0;
    qsort(values, count, sizeof(*values), by_value);
    while (kept > 0 && values[kept - 1] > FAR * values[count / 2])
        kept--;
    if (count < LEAST || kept == 0 || values[kept - 1] <= 0 || (count - kept) * CUT_PART > count + 1)
        kept = count; /* there is no usual length */
    return values[kept - 1];
}
