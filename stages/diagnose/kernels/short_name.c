/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/kernels/short_name.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_MOST = 1024 };

tm_status tm_short_kernel_name(struct tm_names *names, tm_strid name, tm_strid *to)
{
    char copy[TEXT_MOST];
    const char *text;
    size_t length, n;
    tm_status st = tm_names_text(names, name, TEXT_MOST, &text, &length);

    *to = name;
    if (st != TM_OK || length >= TEXT_MOST)
        return st;
    n = length;
    while (n && isdigit((unsigned char)text[n - 1]))
        n--;
    if (n == length || n < 2 || (text[n - 1] != '_' && text[n - 1] != '.'))
        return TM_OK;
    memcpy(copy, text, n - 1); /* the text does not outlive the next call */
    return tm_names_put(names, copy, n - 1, to);
}
