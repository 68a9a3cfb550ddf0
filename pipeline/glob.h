/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GLOB_H
#define TM_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Patterns as a shell has them, for whole texts: '*' any bytes, '?' one character, [a-z] one byte of these, [!a-z] one
 * byte of others, '\' takes what follows as it is.  '/' and a '.' at the begin are nothing special. */

/* What is wrong with a pattern, as a clause; NULL = nothing. */
const char *tm_glob_wrong(const char *pattern);

/* in:     pattern  nothing is wrong with it
 *         text     length bytes, any
 * The time is bounded by the product of both lengths. */
bool tm_glob_fits(const char *pattern, const char *text, size_t length);

#endif
