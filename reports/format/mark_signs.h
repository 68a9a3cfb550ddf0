/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MARK_SIGNS_H
#define TM_MARK_SIGNS_H

#include <stdbool.h>

#include "pipeline/doc.h"

/* How the marks of a summary (coverage.marks: what the losses of the input touch) stand beside figures: each has a
 * letter, in the order of the list, and a figure or section that it touches has the letters of its marks. */
enum { TM_MARKS_SHOWN = 26, TM_SIGN_BYTES = TM_MARKS_SHOWN + 8 };

/* Does the mark touch a section of the summary? */
bool tm_mark_is_of_section(const struct tm_value *mark, const char *section);
/* Is the mark one of a key figure's? */
bool tm_mark_is_of_kpi(const struct tm_value *mark, const struct tm_value *kpi);

/* " [ac]", or "" without marks.  out: TM_SIGN_BYTES */
char *tm_sign_of_section(char *out, const struct tm_value *summary, const char *section);
char *tm_sign_of_kpi(char *out, const struct tm_value *summary, const struct tm_value *kpi);

/* The letter of a mark by its place in the list. */
char tm_mark_letter(size_t at);

#endif
