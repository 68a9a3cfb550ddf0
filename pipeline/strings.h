/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STRINGS_H
#define TM_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One step through a string of any bytes.
 * in:     length  bytes that are left, at least 1
 * out:    code    the code point, if the result is not 0
 *         result  length of the valid sequence (1 to 4), or 0: the first byte starts none
 * source: RFC 3629: no surrogates, no overlong forms, nothing past U+10FFFF */
enum { TM_UTF8_LONGEST = 4 };

size_t tm_utf8_next(const char *text, size_t length, uint32_t *code);

/* Is a character invisible, or does it change how others are displayed, or control a terminal?  Controls (C0, DEL, C1),
 * separators of lines, marks of direction, what is ignored where it is shown, and what is not a character.  Such
 * characters are replaced by a sign or an escape everywhere.
 * source: Unicode, DerivedCoreProperties.txt, Default_Ignorable_Code_Point, without what has its own shape */
bool tm_utf8_is_hidden(uint32_t code);

/* The replacement for bytes that are not UTF-8: U+FFFD. */
#define TM_UTF8_REPLACEMENT "\xef\xbf\xbd"

enum { TM_UTF8_REPLACEMENT_BYTES = 3 };

/* Whether each of eight bytes is a character of ASCII but NUL. */
static inline bool tm_utf8_is_plain(uint64_t eight)
{
    const uint64_t highest = UINT64_C(0x8080808080808080);

    return !(eight & highest) && !((eight - UINT64_C(0x0101010101010101)) & highest);
}

/* How many bytes at the start of a string are valid UTF-8 without NUL. */
static inline size_t tm_utf8_head(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint32_t code;

        if ((unsigned char)(text[i] - 1) < 0x7f) {
            i++;
            continue;
        }
        const size_t n = tm_utf8_next(text + i, length - i, &code);

        if (n == 0 || code == 0)
            break;
        i += n;
    }
    return i;
}

/* A character as people read it: "\n", "\u001b", "\u{e0001}"; and as JSON has it, in two halves where it needs them
 * (RFC 8259, section 7).
 * in: to  TM_UTF8_ESCAPE, TM_JSON_ESCAPE bytes.  out: bytes written, without the terminator */
enum { TM_UTF8_ESCAPE = 11, TM_JSON_ESCAPE = 13 };
size_t tm_utf8_escape(char *to, uint32_t code);
size_t tm_json_escape(char *to, uint32_t code);
/* A byte of a string of JSON in UTF-8, escaped if it has to be, or is a control character. */
void tm_json_put_byte(FILE *to, unsigned char byte);

/* How many bytes at the start of a string are valid UTF-8 of characters that are not hidden. */
size_t tm_utf8_visible_head(const char *text, size_t length);

/* True if all of it is valid; quick where the text is ASCII. */
bool tm_utf8_is_valid(const char *text, size_t length);

/* Strings as cells of CSV files.  Text that a spreadsheet would interpret as a formula gets an apostrophe in front:
 * names are untrusted.  A formula starts with = + - @, as ASCII or of full width, which blanks and quotes may precede,
 * at the start of a cell; and directly or behind quotes where some spreadsheets start another cell: depending on the
 * locale they read ';' or a tab as the separator, and then a line break inside a cell as the end of a row.  U+FFFD
 * replaces bytes that are not UTF-8. Characters that are invisible or control a terminal (tm_utf8_is_hidden) become
 * escapes, as in reports: "\n", "\u001b", "\u{e0001}"; with is_raw only NUL does.
 * source: RFC 4180, with LF at the end of a line; OWASP, CSV Injection */
typedef void tm_csv_put(void *to, const char *bytes, size_t length);

/* Needs no quotes: can be written as it is. */
bool tm_csv_is_plain(const char *text, size_t length);

/* Write a string of any bytes as a cell in quotes. */
void tm_csv_quote(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw);

/* The same without its quotes, for a cell of several lines. */
void tm_csv_put_quoted(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw);

typedef void tm_shell_put(void *to, const char *text, size_t length);

/* Write a string of any bytes as one word of a POSIX shell, in quotes where it has to be. */
void tm_shell_word(tm_shell_put *put, void *to, const char *text);

/* Quantities as people type them: on the command line, in a configuration file, inside a filter. */

/* What is wrong with a string, as clauses for a message; the hint may be NULL. */
struct tm_wrong {
    const char *reason, *hint;
};

/* Digits at *text, moved past them.  out: false if there are none or the number passes uint64 */
bool tm_take_digits(const char **text, uint64_t *number);

/* An integer with K, M, G, KiB, MiB, GiB or nothing after it; K is 1024 bytes.  out: false, *wrong */
bool tm_read_bytes(const char *text, uint64_t *bytes, struct tm_wrong *wrong);

/* WHOLE[.FRACTION]UNIT in picoseconds, exactly: never through a double.
 * in:     text  length bytes
 * out:    *ps  0 to 106 days; false, *wrong */
bool tm_read_time(const char *text, size_t length, int64_t *ps, struct tm_wrong *wrong);

/* A:B, integers; an omitted end is 0, or UINT64_MAX. out: false if it is not such a range */
bool tm_read_range(const char *text, uint64_t *begin, uint64_t *end);

/* How many edits (insert, delete, replace, swap two neighbors) turn `a` into `b`; any case.
 * Words of more than 63 bytes are compared by their first 63. */
size_t tm_word_distance(const char *a, const char *b);

/* The search for the known word closest to a mistyped one.  Zeroed = nothing offered. */
struct tm_nearest {
    const char *word; /* the best so far; NULL if none is near enough to suggest */
    size_t distance;
};

/* Offer one known word.  A word that starts with all of `typed`, of 2 bytes or more, counts as
 * near; otherwise at most every third byte may be wrong.  Of equally near words the first one
 * stays. */
void tm_nearest_offer(struct tm_nearest *nearest, const char *typed, const char *known);

/* Whether a string ends with that ending, and has something before it. */
bool tm_has_ending(const char *text, const char *ending);

/* Shell patterns for entire strings: '*' any bytes, '?' one character, [a-z] one byte of these, [!a-z] one byte of
 * others, '\\' escapes the next character. '/' and a leading '.' are not special. */

/* What is wrong with a pattern, as a clause; NULL = nothing. */
const char *tm_glob_wrong(const char *pattern);

/* in:     pattern  nothing is wrong with it
 *         text     length bytes, any
 * The time is bounded by the product of both lengths. */
bool tm_glob_fits(const char *pattern, const char *text, size_t length);

#endif
