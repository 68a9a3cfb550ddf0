/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SERIAL_FIT_H
#define TM_SERIAL_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* The serial share s of a program from its times t(n) on n devices, by least squares of the
 * relative errors. Strong scaling (Amdahl 1967): t(n) = t1 (s + (1 - s) / n).  Weak scaling
 * (Gustafson 1988): t(n) = t1 ((1 - s) + s n), where n times the work is done. */
struct tm_serial_fit {
    double serial_pct, low_pct, high_pct; /* 95 % interval by the residuals; the share is within 0 and 100 */
    double t1;                            /* fitted, in the unit of the times */
    double residual_pct;                  /* root mean square */
    double speedup_limit;                 /* 1 / s; infinite where s is 0, and of weak scaling */
};

/* in:  n, t  `count` points, four or more, of at least three different n
 * out: false = too few points, or one that is not positive and finite */
bool tm_fit_serial(const double *n, const double *t, size_t count, bool is_weak, struct tm_serial_fit *fit);
/* What the fit says for n devices. */
double tm_serial_time(const struct tm_serial_fit *fit, double n, bool is_weak);

#endif
