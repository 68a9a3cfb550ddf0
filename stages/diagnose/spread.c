/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of squared differences is squares - sum^2 / count.  It is small beside either, so it is worked out in whole
 * numbers of 128 bits, and only the result becomes a double. */
#include "stages/diagnose/spread.h"

#include <math.h>

void tm_add_stddev(struct tm_value *to, const char *key, uint64_t count, int64_t sum_ps, struct tm_wide squares)
{
    const unsigned __int128 sum = (uint64_t)sum_ps, all = tm_wide_value(squares);
    double left, stddev_ps;

    if (count < 2) {
        tm_add_null(to, key, "one alone has no deviation");
        return;
    }
    if (sum_ps == INT64_MAX || all == ~(unsigned __int128)0) {
        tm_add_null(to, key, "the lengths are too long to be added up");
        return;
    }
    const unsigned __int128 of_mean = sum * sum / count; /* rounded down, by so many parts of count: */
    const double part = (double)(uint64_t)(sum * sum % count) / (double)count;

    left = all > of_mean ? (double)(all - of_mean) - part : 0;
    stddev_ps = round(sqrt(left / (double)(count - 1)));
    tm_add_int(to, key, stddev_ps < (double)INT64_MAX ? (int64_t)stddev_ps : INT64_MAX);
}
