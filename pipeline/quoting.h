/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_QUOTING_H
#define TM_QUOTING_H

#include <stdbool.h>
#include <stddef.h>

/* Texts as cells of CSV files.  What a spreadsheet would take for a formula gets an apostrophe before it: names are somebody
 * else's words.  A formula begins with = + - @, as ASCII or of full width, which blanks and quotes may precede, at the begin
 * of a cell; and directly or behind quotes where some spreadsheets begin another cell: they take ';' or a tab for the comma, depending on the country,
 * and then a line's end inside of a cell for one of the table.  U+FFFD takes
 * the place of bytes that are not UTF-8.  What is not seen, or makes a terminal act (tm_utf8_is_hidden), is an escape, as
 * reports show it: "\n", "\u001b", "\u{e0001}"; where it is asked for as it was recorded (is_raw), only NUL is not.
 * source: RFC 4180, with LF at the end of a line; OWASP, CSV Injection */
typedef void tm_csv_put(void *to, const char *bytes, size_t length);

/* Needs no quotes: can be written as it is. */
bool tm_csv_is_plain(const char *text, size_t length);

/* Write a text of any bytes as a cell in quotes. */
void tm_csv_quote(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw);

/* The same without its quotes, for a cell of several lines. */
void tm_csv_put_quoted(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw);

typedef void tm_shell_put(void *to, const char *text, size_t length);

/* Write a text of any bytes as one word of a POSIX shell, in quotes where it has to be. */
void tm_shell_word(tm_shell_put *put, void *to, const char *text);

#endif
