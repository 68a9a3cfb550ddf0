/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOUBLE_TEXT_H
#define TM_DOUBLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TM_INT_TEXT = 20, TM_DOUBLE_TEXT = 48 };

/* in:     to  TM_INT_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_int_text(char *to, int64_t value);

/* A finite number in the fewest of 15 to 17 digits that read back the same, as JSON writes numbers.
 * in:     to  TM_DOUBLE_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_double_text(char *to, double value);

#endif
