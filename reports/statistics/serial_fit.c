/* SPDX-License-Identifier: Apache-2.0 */
/* Both laws are t(n) = serial f(n) + parallel g(n): with f = 1, g = 1 / n for strong scaling, f =
 * n, g = 1 for weak. Divided by t it is a linear regression of ones, solved by its normal equations
 * (two of them: by Cramer's rule); the share is serial / (serial + parallel), its variance by
 * propagation from the covariance of the two. */
#include "reports/statistics/serial_fit.h"

#include <math.h>

#include "reports/statistics/tests.h"

enum { POINTS_LEAST = 4, NUMBERS_LEAST = 3 };

struct sums { /* over the points, of f and g divided by t */
    double ff, fg, gg, f, g;
};

struct parts {
    double serial, parallel;
};

static double serial_basis(double n, bool is_weak)
{
    return is_weak ? n : 1;
}

static double parallel_basis(double n, bool is_weak)
{
    return is_weak ? 1 : 1 / n;
}

static bool is_enough(const double *n, const double *t, size_t count)
{
    size_t numbers = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_new = true;

        if (!(n[i] > 0) || !(t[i] > 0) || isinf(n[i]) || isinf(t[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            is_new &= n[k] != n[i];
        numbers += is_new;
    }
    return count >= POINTS_LEAST && numbers >= NUMBERS_LEAST;
}

static struct sums add_up(const double *n, const double *t, size_t count, bool is_weak)
{
    struct sums sums = { 0 };

    for (size_t i = 0; i < count; i++) {
        const double f = serial_basis(n[i], is_weak) / t[i], g = parallel_basis(n[i], is_weak) / t[i];

        sums.ff += f * f;
        sums.fg += f * g;
        sums.gg += g * g;
        sums.f += f;
        sums.g += g;
    }
    return sums;
}

/* Root mean square of what is left of the ones. */
static double residual(const double *n, const double *t, size_t count, bool is_weak, struct parts parts)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        const double off =
            1 - (parts.serial * serial_basis(n[i], is_weak) + parts.parallel * parallel_basis(n[i], is_weak)) / t[i];

        squares += off * off;
    }
    return sqrt(squares / (double)count);
}

static double share(struct parts parts)
{
    return parts.serial / (parts.serial + parts.parallel);
}

/* Half the width of the 95 % interval of the share. */
static double uncertainty(const struct sums *sums, struct parts parts, double rms, size_t count)
{
    const double freedom = (double)count - 2, variance = rms * rms * (double)count / freedom;
    const double whole = parts.serial + parts.parallel, determinant = sums->ff * sums->gg - sums->fg * sums->fg;
    const double by_serial = parts.parallel / (whole * whole), by_parallel = -parts.serial / (whole * whole);
    const double spread = (by_serial * by_serial * sums->gg - 2 * by_serial * by_parallel * sums->fg +
                           by_parallel * by_parallel * sums->ff) /
                          determinant;

    return tm_student_quantile(0.975, freedom) * sqrt(variance * fmax(spread, 0));
}

/* Neither part is below nothing: where one would be, the other one is fitted alone. */
static struct parts within(const struct sums *sums, struct parts parts)
{
    if (parts.serial < 0)
        return (struct parts){ 0, sums->g / sums->gg };
    if (parts.parallel < 0)
        return (struct parts){ sums->f / sums->ff, 0 };
    return parts;
}

static double percent_within(double x)
{
    return fmin(fmax(100 * x, 0), 100);
}

bool tm_fit_serial(const double *n, const double *t, size_t count, bool is_weak, struct tm_serial_fit *fit)
{
    if (!is_enough(n, t, count))
        return false;
    const struct sums sums = add_up(n, t, count, is_weak);
    const double determinant = sums.ff * sums.gg - sums.fg * sums.fg;
    const struct parts free_parts = { (sums.f * sums.gg - sums.g * sums.fg) / determinant,
                                      (sums.g * sums.ff - sums.f * sums.fg) / determinant };
    const struct parts parts = within(&sums, free_parts);
    const double half = uncertainty(&sums, free_parts, residual(n, t, count, is_weak, free_parts), count);

    if (!(determinant > 0) || !isfinite(half))
        return false;
    fit->serial_pct = percent_within(share(parts));
    fit->low_pct = percent_within(share(free_parts) - half);
    fit->high_pct = percent_within(share(free_parts) + half);
    fit->t1 = parts.serial + parts.parallel;
    fit->residual_pct = 100 * residual(n, t, count, is_weak, parts);
    fit->speedup_limit = is_weak || parts.serial == 0 ? INFINITY : 1 / share(parts);
    return true;
}

double tm_serial_time(const struct tm_serial_fit *fit, double n, bool is_weak)
{
    const double serial = fit->t1 * fit->serial_pct / 100;

    return serial * serial_basis(n, is_weak) + (fit->t1 - serial) * parallel_basis(n, is_weak);
}
