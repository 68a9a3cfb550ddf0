/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FORMAT_H
#define TM_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/attributes.h"

/* Figures as people read them, the same in every report.  Three significant digits unless said
 * otherwise, rounded to the nearest; decimals as in the C locale, which the program never leaves.
 * Every function writes a terminated string of at most TM_FORMAT_BYTES bytes and returns `out`. The
 * only character that is not ASCII is U+00B5 (micro), as UTF-8. */
enum { TM_FORMAT_BYTES = 48 };

char *tm_format_time(char *out,
                     int64_t ps); /* "750 ps" "1.23 µs" "12.3 ms" "9.80 s" "12 min 34 s" */
char *tm_format_time_roughly(char *out, int64_t ps); /* two digits: "8.4 µs" "17 µs" "130 µs" */
char *tm_format_moment(char *out, int64_t ps);    /* a point in time, to the ns: "1.234567890 s" */
char *tm_format_date(char *out, int64_t unix_ns); /* "2026-11-20 20:37:30 UTC"; out of range: "" */
char *tm_format_bytes(char *out, double bytes);   /* "512 B" "3.20 GiB" */
char *tm_format_rate(char *out,
                     double bytes_per_s); /* "12.3 GB/s", powers of 1000 as data sheets have */
char *tm_format_flop_rate(char *out, double flop_per_s); /* "61.9 TFLOP/s" */
char *tm_format_count(char *out, int64_t count); /* all digits: "12,345" */
char *tm_format_pct(char *out, double pct);      /* one decimal: "45.2 %"; "< 0.1 %" for what would
                                                    read 0.0 and is not 0; "> 99.9 %" likewise */
char *tm_format_number(char *out, double value); /* "0.0123" "12.3" "1,230,000"; not finite: "" */

/* A value with the unit that the summary gives beside it ("%", "ms", "s", "ps", "bytes", "count",
 * ...). */
char *tm_format_unit(char *out, double value, const char *unit);

/* A limit as the threshold table has it: "80 %", "0.1 ms", "0". */
char *tm_format_limit(char *out, double limit, const char *unit);

/* Make a text of a trace visible: control characters (C0, DEL, C1), line and paragraph separators,
 * bidi and zero-width characters, and bytes that are not UTF-8 become escapes as in C or JSON (\n,
 * \u202e, \xff). in:     text       any bytes out:    out        valid UTF-8, terminated; ends
 * before the first character that does not fit (returns)  bytes written without the terminator */
size_t tm_format_visible(char *out, size_t out_bytes, const char *text, size_t length);

/* The same of a text of any length: one that is too long keeps its head and its tail around an ellipsis.
 * in:     out_bytes  at least 16 */
void tm_format_text(char *out, size_t out_bytes, const char *text);

/* Cut a valid UTF-8 text in the middle so that it has at most `most` characters (least 5):
 * "fusion_…_42". Never cuts inside a character.  The ellipsis is U+2026. out:    out   at least 4 *
 * most + 1 bytes (returns) true when something was cut */
bool tm_format_middle(char *out, size_t out_bytes, const char *text, size_t most);

/* Put more at the end of a text; what does not fit into its text_bytes is cut. */
void tm_format_append(char *text, size_t text_bytes, const char *format, ...) TM_PRINTF(3, 4);

/* What a noun ends with: "1 job", "2 jobs". */
const char *tm_format_plural(uint64_t count);

/* Number of characters (code points) of a valid UTF-8 text. */
size_t tm_format_length(const char *text);

#endif
