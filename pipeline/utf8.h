/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_UTF8_H
#define TM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One step through a text of any bytes.
 * in:     length  bytes that are left, at least 1
 * out:    code    the code point, where the result is not 0
 *         result  length of the valid sequence (1 to 4), or 0: the first byte begins none
 * source: RFC 3629: no surrogates, no overlong forms, nothing past U+10FFFF */
enum { TM_UTF8_LONGEST = 4 };
size_t tm_utf8_next(const char *text, size_t length, uint32_t *code);

/* Is a character not seen, or does it change how others are seen, or make a terminal act?  Controls (C0, DEL, C1), separators
 * of lines, marks of direction, what is ignored where it is shown, and what is no character.  Everywhere such a one is
 * replaced by a sign, or by its escape.
 * source: Unicode, DerivedCoreProperties.txt, Default_Ignorable_Code_Point, without what has a shape of its own */
bool tm_utf8_is_hidden(uint32_t code);

/* What takes the place of bytes that are not UTF-8: U+FFFD. */
#define TM_UTF8_REPLACEMENT "\xef\xbf\xbd"
enum { TM_UTF8_REPLACEMENT_BYTES = 3 };

/* Whether each of eight bytes is a character of ASCII but NUL. */
static inline bool tm_utf8_is_plain(uint64_t eight)
{
    const uint64_t highest = UINT64_C(0x8080808080808080);

    return !(eight & highest) && !((eight - UINT64_C(0x0101010101010101)) & highest);
}

/* How many bytes at the begin of a text are valid UTF-8 without NUL. */
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

/* How many bytes at the start of a text are valid UTF-8 of characters that are not hidden. */
size_t tm_utf8_visible_head(const char *text, size_t length);

/* True if all of it is valid; quick where the text is ASCII. */
bool tm_utf8_is_valid(const char *text, size_t length);

#endif
