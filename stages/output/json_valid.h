/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_VALID_H
#define TM_JSON_VALID_H

#include "pipeline/utf8.h"

/* What takes the place of a byte that is no part of valid UTF-8, and of NUL, as tm_out_utf8 does it: U+FFFD. */
#define TM_JSON_REPLACEMENT "\xef\xbf\xbd"
enum { TM_JSON_REPLACEMENT_BYTES = 3 };

/* How many bytes at the begin of a text are valid UTF-8 without NUL. */
static inline size_t tm_json_valid(const char *text, size_t length)
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

#endif
