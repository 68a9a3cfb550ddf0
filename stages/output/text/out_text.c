/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of outputs: see out_text.h. */
#include "stages/output/text/out_text.h"

#include <math.h>
#include <string.h>

size_t tm_out_utf8(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        memcpy(to + used, text, n);
        used += n;
        if (n == length)
            return used;
        memcpy(to + used, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        used += TM_UTF8_REPLACEMENT_BYTES;
        text += n + 1;
        length -= n + 1;
    }
}

const char *tm_out_not_finite(double value)
{
    return isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}
