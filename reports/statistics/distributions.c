/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution by the error function, Student's by the incomplete beta function:
 * P(|T| > t) = I_x(v/2, 1/2) with x = v / (v + t^2) (DLMF 8.17.1, 8.17(i)); the continued fraction
 * is DLMF 8.17.22, evaluated as Lentz (1976) and Thompson and Barnett (1986) do. */
#include "reports/statistics/tests.h"

#include <math.h>

/* From here on the two distributions are the same to all digits that matter, and the fraction is
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
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log(rest)) /
                         a;
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
    return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x, rest)
                                     : 1 - beta_fraction(b, a, rest, x);
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
