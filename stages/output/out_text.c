/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of outputs: valid UTF-8, whatever the input has. */
#include <string.h>

#include "pipeline/utf8.h"
#include "stages/output/trace_writer.h"

size_t tm_out_utf8(char *to, const char *text, size_t length)
{
    static const char replacement[] = { '\xef', '\xbf', '\xbd' };
    size_t used = 0;

    while (length) {
        uint32_t code;
        const size_t bytes = tm_utf8_next(text, length, &code);
        const size_t step = bytes ? bytes : 1;

        if (bytes && code) {
            memcpy(to + used, text, bytes);
            used += bytes;
        } else {
            memcpy(to + used, replacement, sizeof(replacement));
            used += sizeof(replacement);
        }
        text += step;
        length -= step;
    }
    return used;
}
