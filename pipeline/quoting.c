/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/quoting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/utf8.h"

enum { WIDE_BYTES = 3 };

/* The sign of a formula, behind characters that do not count. */
static bool has_sign(const char *text, size_t length, const char *before)
{
    static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0" }; /* = + - @ */

    for (; length && text[0] && strchr(before, text[0]); length--)
        text++;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (length >= WIDE_BYTES && memcmp(text, wide[i], WIDE_BYTES) == 0)
            return true;
    return length && memchr("=+-@", text[0], 4);
}

/* A formula begins behind a separator.  Blanks do not count there: "; -x" is what sentences have. */
static bool begins_another(const char *text, size_t length)
{
    const char c = text[0];

    return (c == ';' || c == '\t' || c == '\r' || c == '\n') && length > 1 && has_sign(text + 1, length - 1, "\"'");
}

/* What a spreadsheet takes for the begin of a formula. */
static bool is_formula(const char *text, size_t length)
{
    return length && (memchr("\t\r\n", text[0], 3) || has_sign(text, length, " \t\r\n\"'"));
}

bool tm_csv_is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == ',' || begins_another(text + i, length - i))
            return false;
    return !is_formula(text, length);
}

/* Valid UTF-8, with quotes twice. */
static void put_valid(tm_csv_put *put, void *to, const char *text, size_t length)
{
    while (length) {
        const char *const quote = memchr(text, '"', length);
        const size_t n = quote ? (size_t)(quote - text) + 1 : length;

        put(to, text, n);
        if (quote)
            put(to, "\"", 1);
        text += n;
        length -= n;
    }
}

static void put_escape(tm_csv_put *put, void *to, uint32_t code)
{
    const char *const letter = code == '\n' ? "\\n" : code == '\t' ? "\\t" : code == '\r' ? "\\r" : NULL;
    char text[16];

    if (!letter)
        (void)snprintf(text, sizeof(text), code <= 0xffff ? "\\u%04x" : "\\u{%x}", code);
    put(to, letter ? letter : text, strlen(letter ? letter : text));
}

/* Any bytes, with quotes twice. */
static void put_any(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    for (;;) {
        const size_t n = is_raw ? tm_utf8_head(text, length) : tm_utf8_visible_head(text, length);
        size_t bytes;
        uint32_t code;

        put_valid(put, to, text, n);
        if (n == length)
            break;
        bytes = is_raw ? 0 : tm_utf8_next(text + n, length - n, &code);
        if (bytes)
            put_escape(put, to, code);
        else
            put(to, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        bytes = n + (bytes ? bytes : 1);
        text += bytes;
        length -= bytes;
    }
}

/* How many bytes stand before the next place that needs an apostrophe; all where there is none. */
static size_t until_formula(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (begins_another(text + i, length - i))
            return i + 1;
    return length;
}

void tm_csv_put_quoted(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    if (is_formula(text, length))
        put(to, "'", 1);
    while (length) {
        const size_t n = until_formula(text, length);

        put_any(put, to, text, n, is_raw);
        if (n < length)
            put(to, "'", 1);
        text += n;
        length -= n;
    }
}

void tm_csv_quote(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    put(to, "\"", 1);
    tm_csv_put_quoted(put, to, text, length, is_raw);
    put(to, "\"", 1);
}

/* In single quotes everything stands for itself but the single quote, which goes between two quoted parts.
 * source: POSIX.1-2017, Shell Command Language, 2.2.2 */

void tm_shell_word(tm_shell_put *put, void *to, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";

    if (*text && text[strspn(text, plain)] == '\0') {
        put(to, text, strlen(text));
        return;
    }
    put(to, "'", 1);
    for (;;) {
        const size_t length = strcspn(text, "'");

        put(to, text, length);
        text += length;
        if (!*text++)
            break;
        put(to, "'\\''", 4);
    }
    put(to, "'", 1);
}
