/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text that reads back the same. */
#include "pipeline/double_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever the locale puts as decimal point (it may be several bytes) becomes one '.'. */
size_t tm_double_text(char *to, double value)
{
    char digits[TM_DOUBLE_TEXT];
    size_t used = 0;

    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    for (const char *c = digits; *c != '\0'; c++) {
        if (strchr("+-0123456789e", *c))
            to[used++] = *c;
        else if (used == 0 || to[used - 1] != '.')
            to[used++] = '.';
    }
    return used;
}
