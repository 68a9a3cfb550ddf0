/* SPDX-License-Identifier: Apache-2.0 */
/* Matching without recursion: where a star has to take more, only the last one does.  Holds no memory. */
#include "pipeline/glob.h"

#include <string.h>

#include "pipeline/utf8.h"

/* The bracket that closes a set.  in: at  behind its '['.  NULL = none does */
static const char *end_of_set(const char *at)
{
    if (*at == '!')
        at++;
    if (*at == ']') /* the first one stands for itself */
        at++;
    return strchr(at, ']');
}

const char *tm_glob_wrong(const char *pattern)
{
    if (!pattern[0])
        return "the pattern is empty";
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\') {
            if (!*++at)
                return "nothing follows its last '\\'";
        } else if (*at == '[') {
            at = end_of_set(at + 1);
            if (!at)
                return "a '[' is not closed";
        }
    }
    return NULL;
}

static bool is_in_set(const char *at, const char *end, unsigned char byte)
{
    const bool is_other = *at == '!';
    bool is_in = false;

    for (at += is_other; at < end; at++) {
        const unsigned char low = (unsigned char)*at;
        const bool has_high = at[1] == '-' && at + 2 < end;

        at += has_high ? 2 : 0;
        is_in |= byte >= low && byte <= (unsigned char)*at;
    }
    return is_in != is_other;
}

/* Fit one element of the pattern, no star, to the begin of the text.
 * out:    bytes of the text; 0 = it does not fit; *next  behind the element */
static size_t fit_one(const char *pattern, const char *text, size_t length, const char **next)
{
    const char *end;
    uint32_t code;

    *next = pattern + 1;
    if (length == 0)
        return 0;
    if (*pattern == '?') {
        const size_t bytes = tm_utf8_next(text, length, &code);

        return bytes ? bytes : 1;
    }
    if (*pattern == '[') {
        end = end_of_set(pattern + 1);
        *next = end + 1;
        return is_in_set(pattern + 1, end, (unsigned char)*text);
    }
    if (*pattern == '\\')
        *next = ++pattern + 1;
    return *pattern == *text;
}

bool tm_glob_fits(const char *pattern, const char *text, size_t length)
{
    const char *star = NULL;  /* behind the last one */
    size_t at = 0, taken = 0; /* taken: what that star leaves begins there */

    while (at < length || *pattern) {
        const char *next;
        size_t bytes;

        if (*pattern == '*') {
            star = ++pattern;
            taken = at;
            continue;
        }
        bytes = *pattern ? fit_one(pattern, text + at, length - at, &next) : 0;
        if (bytes) {
            pattern = next;
            at += bytes;
        } else if (star && taken < length) {
            pattern = star;
            at = ++taken;
        } else {
            return false;
        }
    }
    return true;
}
