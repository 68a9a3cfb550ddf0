/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FORMAT_H
#define TM_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/numbers.h"

/* Make a text of a trace visible: control characters (C0, DEL, C1), line and paragraph separators,
 * bidi and zero-width characters, and bytes that are not UTF-8 become escapes as in C or JSON (\n,
 * \u202e, \xff).
 * in:     text       any bytes
 * out:    out        valid UTF-8, terminated; ends before the first character that does not fit
 *         (returns)  bytes written without the terminator */
size_t tm_format_visible(char *out, size_t out_bytes, const char *text, size_t length);

/* The same for a text of any length: one that is too long keeps its head and its tail around an ellipsis.
 * in:     out_bytes  at least 16 */
void tm_format_text(char *out, size_t out_bytes, const char *text);

/* The entity for a special character of HTML and XML: '&', '<', '>', '"'; NULL = itself. */
const char *tm_format_entity(uint32_t character);

/* As text or attribute of XML 1.0; what is too long loses its middle. */
void tm_format_xml(FILE *to, const char *text);

/* Cut a valid UTF-8 text in the middle so that it has at most `most` characters (least 5):
 * "fusion_…_42".  Never cuts inside a character.  The ellipsis is U+2026.
 * out:    out        at least 4 * most + 1 bytes
 *         (returns)  true if something was cut */
bool tm_format_middle(char *out, size_t out_bytes, const char *text, size_t most);

/* Append to a text; what does not fit into its text_bytes is cut. */
void tm_format_append(char *text, size_t text_bytes, const char *format, ...) TM_PRINTF(3, 4);

/* The plural ending of a noun: "1 job", "2 jobs". */
const char *tm_format_plural(uint64_t count);

/* Is the space at this position between a number and its unit, as in "1.35 s", "62.4 %"?  No line breaks there. */
bool tm_format_is_unit_blank(const char *text, size_t at);

/* Number of characters (code points) of a valid UTF-8 text. */
size_t tm_format_length(const char *text);

/* Is it a path below the folder of the document, of characters that are not special in any medium?  [A-Za-z0-9._/-],
 * not absolute, no "..": so it has no scheme, no host and no query, and cannot point elsewhere. */
bool tm_link_is_safe(const char *path);

/* How reports show the marks of a summary (coverage.marks: the effects of lost input): each has a letter, in the order
 * of the list, and an affected figure or section has the letters of its marks. */
enum { TM_MARKS_SHOWN = 26, TM_SIGN_BYTES = TM_MARKS_SHOWN + 8 };

/* Does the mark affect a section of the summary? */
bool tm_mark_is_of_section(const struct tm_value *mark, const char *section);
/* Does the mark affect a key figure? */
bool tm_mark_is_of_kpi(const struct tm_value *mark, const struct tm_value *kpi);

/* " [ac]", or "" without marks.  out: TM_SIGN_BYTES */
char *tm_sign_of_section(char *out, const struct tm_value *summary, const char *section);
char *tm_sign_of_kpi(char *out, const struct tm_value *summary, const struct tm_value *kpi);

/* The letter of a mark by its index in the list. */
char tm_mark_letter(size_t at);

/* The text for a word in a list of pairs { word, text }; `other` if the list lacks it. */
#define TM_PAIRS(list) (list), sizeof(list) / sizeof((list)[0])
const char *tm_format_word(const char *const (*pairs)[2], size_t count, const char *word, const char *other);

enum { TM_PICK_MOST = 512 };

/* The positions of the rows with the largest values of a figure, in descending order; the first of equals first.
 * in:     list  rows of the summary
 *         key   of the figure, an integer
 *         only  rows for which this is true; NULL = all
 *         most  capacity of `pick`, up to TM_PICK_MOST: each row is compared with all of them
 * out:    how many were put into `pick` */
size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick);

/* Sort picks into the order of the list.  In a tree whose parents precede their children and have values at least as
 * large, the picks form a tree again: each row comes with its parent. */
void tm_pick_in_order(size_t *pick, size_t count);

/* Whether something applies to the platform of a run: reports on a TPU or a CPU do not mention what only GPUs have.
 * in:     platforms  "gpu", "gpu,tpu"; NULL = all.  A run without device activity has everything, with its reason */
static inline bool tm_is_for(const char *platforms, const struct tm_value *summary)
{
    const char *platform = tm_text(tm_path(summary, "environment.platform"));

    return !platforms || !*platform || strcmp(platform, "none") == 0 || strstr(platforms, platform) != NULL;
}

/* The same for a key figure, which says so itself. */
static inline bool tm_kpi_is_for_run(const struct tm_value *kpi)
{
    const struct tm_value *applies = tm_get(kpi, "applies");

    return !applies || tm_is(applies);
}

/* Readable names of hosts and devices.  The summary has full names, "vm/gpu:0".  If the run has one host, its name is
 * omitted, and if several share a long prefix, the prefix is omitted: "train-2026-job-0" and "train-2026-job-1" become
 * "job-0" and "job-1".  Distinct names stay distinct.
 * out:    a part of the given name; a name of no host of the run is unchanged */
const char *tm_shown_device(const struct tm_value *summary, const char *id);
const char *tm_shown_host(const struct tm_value *summary, const char *host);

/* The name of the run.  Several files that were given one by one are named after the first one, which is then the
 * common prefix of all host names.
 * out:    returned: out, any bytes, cut at its capacity; "" without a name */
const char *tm_shown_run(const struct tm_value *summary, char *out, size_t out_bytes);

/* The run has one host, and no name other than the host's. */
bool tm_is_named_as_run(const struct tm_value *summary);

#endif
