/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_TEXT_H
#define TM_OUT_TEXT_H

#include "pipeline/utf8.h"

/* Texts of outputs: valid UTF-8 without NUL, whatever the input has.  U+FFFD takes the place of any other byte. */
#define TM_OUT_REPLACEMENT "\xef\xbf\xbd"
enum { TM_OUT_REPLACEMENT_BYTES = 3 };

/* How many bytes at the begin of a text are valid UTF-8 without NUL. */
static inline size_t tm_out_valid(const char *text, size_t length)
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

/* A text as valid UTF-8 without NUL.
 * in:     to  TM_OUT_REPLACEMENT_BYTES * length bytes at least
 * out:    bytes written */
size_t tm_out_utf8(char *to, const char *text, size_t length);

/* What a number that is not finite is called, since no format has it. */
const char *tm_out_not_finite(double value);

#endif
