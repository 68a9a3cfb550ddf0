/* SPDX-License-Identifier: Apache-2.0 */
/* In single quotes everything stands for itself but the single quote, which goes between two quoted parts.
 * source: POSIX.1-2017, Shell Command Language, 2.2.2 */
#include "pipeline/shell_text.h"

#include <string.h>

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
