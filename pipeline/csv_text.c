/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/csv_text.h"

#include <string.h>

#include "pipeline/utf8.h"

/* What a spreadsheet takes for the begin of a formula. */
static bool is_formula(const char *text, size_t length)
{
    return length && memchr("=+-@\t\r", text[0], 6);
}

bool tm_csv_is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == ',')
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

void tm_csv_put_quoted(tm_csv_put *put, void *to, const char *text, size_t length)
{
    if (is_formula(text, length))
        put(to, "'", 1);
    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        put_valid(put, to, text, n);
        if (n == length)
            break;
        put(to, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        text += n + 1;
        length -= n + 1;
    }
}

void tm_csv_quote(tm_csv_put *put, void *to, const char *text, size_t length)
{
    put(to, "\"", 1);
    tm_csv_put_quoted(put, to, text, length);
    put(to, "\"", 1);
}
