/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NUMBERS_H
#define TM_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Figures as people read them, the same in every report.  Three significant digits unless said
 * otherwise, rounded to the nearest; decimals as in the C locale, which the program never leaves.
 * Every function writes a terminated string of at most TM_FORMAT_BYTES bytes and returns `out`. The
 * only character that is not ASCII is U+00B5 (micro), as UTF-8. */
enum { TM_FORMAT_BYTES = 48 };

char *tm_format_time(char *out, int64_t ps);         /* "750 ps" "1.23 µs" "12.3 ms" "9.80 s" "12 min 34 s" */
char *tm_format_time_roughly(char *out, int64_t ps); /* two digits: "8.4 µs" "17 µs" "130 µs" */

char *tm_format_moment(char *out, int64_t ps);    /* a point in time, to the ns: "1.234567890 s" */
char *tm_format_date(char *out, int64_t unix_ns); /* "2026-11-20 20:37:30 UTC"; out of range: "" */

char *tm_format_bytes(char *out, double bytes);          /* "512 B" "3.20 GiB" */
char *tm_format_rate(char *out, double bytes_per_s);     /* "12.3 GB/s", powers of 1000 as data sheets have */
char *tm_format_flop_rate(char *out, double flop_per_s); /* "61.9 TFLOP/s" */
char *tm_format_count(char *out, int64_t count);         /* all digits: "12,345" */

char *tm_format_pct(char *out, double pct);      /* one decimal: "45.2 %"; "< 0.1 %" for what would
                                                    read 0.0 and is not 0; "> 99.9 %" likewise */
char *tm_format_number(char *out, double value); /* "0.0123" "12.3" "1,230,000"; not finite: "" */

/* A value with the unit that the summary gives beside it ("%", "ms", "s", "ps", "bytes", "count",
 * ...). */
char *tm_format_unit(char *out, double value, const char *unit);

/* The change of a figure, in percent, or in points if it is a share itself: "+1.2 %"; not a number: "" */
char *tm_format_change(char *out, double change, bool is_share);

/* A limit in the form of the threshold table: "80 %", "0.1 ms", "0". */
char *tm_format_limit(char *out, double limit, const char *unit);

/* Numbers as programs read them. */
enum { TM_INT_TEXT = 20, TM_FIXED_TEXT = 24, TM_DOUBLE_TEXT = 48 };

/* in:     to  TM_INT_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_int_text(char *to, int64_t value);
size_t tm_uint_text(char *to, uint64_t value);

/* A number rounded to this many decimals, in its shortest form: "12", "12.5", "-0.25".  No locale can put a comma.
 * in:     to  TM_FIXED_TEXT bytes; decimals  at most 6; value  0 is written for one that is not finite, or from 1e12 on
 * out:    bytes written, no NUL */
size_t tm_fixed_text(char *to, double value, int decimals);

/* A finite number in the fewest of 15 to 17 digits that read back the same, as JSON writes numbers.
 * in:     to  TM_DOUBLE_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_double_text(char *to, double value);

#endif
