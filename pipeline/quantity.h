/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_QUANTITY_H
#define TM_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Quantities as people type them: on the command line, in a configuration file, inside a filter. */

/* What is wrong with a text, as clauses for a message; the hint may be NULL. */
struct tm_wrong {
    const char *reason, *hint;
};

/* Digits at *text, moved past them.  out: false where there are none or the number passes uint64 */
bool tm_take_digits(const char **text, uint64_t *number);

/* A whole number with K, M, G, KiB, MiB, GiB or nothing behind it; K is 1024 bytes.  out: false, *wrong */
bool tm_read_bytes(const char *text, uint64_t *bytes, struct tm_wrong *wrong);

/* WHOLE[.FRACTION]UNIT in picoseconds, exactly: never through a double.
 * in:     text  length bytes
 * out:    *ps  0 to 106 days; false, *wrong */
bool tm_read_time(const char *text, size_t length, int64_t *ps, struct tm_wrong *wrong);

/* A:B, whole numbers; an end that is left out is 0, or UINT64_MAX.  out: false where it is no such range */
bool tm_read_range(const char *text, uint64_t *begin, uint64_t *end);

#endif
