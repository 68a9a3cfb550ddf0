/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEXT_WIDTH_H
#define TM_TEXT_WIDTH_H

#include <stddef.h>

/* Texts in columns of a terminal.  All texts are valid UTF-8 without characters that are not seen.  A character that is
 * not ASCII counts as its widest form where its width is not certain, so that a line may be shorter than it could be
 * but never longer. */

/* Length in bytes of the character at `at`, and its columns. */
size_t tm_text_character(const char *at, int *columns);

int tm_text_width(const char *text);

/* Bytes of the longest beginning of `text` that takes at most `width` columns. */
size_t tm_text_head(const char *text, int width);

/* Bytes of the next line of a text that is to be wrapped; at a space where there is one.  A line takes one character
 * at least. */
size_t tm_text_line(const char *text, int width);

/* The bytes without the spaces at their end. */
size_t tm_text_trimmed(const char *text, size_t bytes);

/* Cut a text in the middle so that it takes at most `width` columns. */
void tm_text_cut(char *text, int width);

#endif
