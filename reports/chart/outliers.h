/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUTLIERS_H
#define TM_OUTLIERS_H

#include <stddef.h>

/* Up to where a scale has to reach so that most values can be told apart: the largest one, unless a few are more than
 * four times as long as the one in the middle.  Then it is the largest of the others.
 * in:     values  sorted in place */
double tm_without_outliers(double *values, size_t count);

#endif
