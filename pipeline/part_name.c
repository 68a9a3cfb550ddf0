/* SPDX-License-Identifier: Apache-2.0 */
/* Names of parts are made of a few characters; others become '_'. */
#include "pipeline/part_name.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MOST = 80 /* bytes of a host or a device */ };

static const char begin[] = "part-";
static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool tm_is_part_name(const char *name)
{
    const size_t length = strlen(name);

    return strncmp(name, begin, sizeof(begin) - 1) == 0 && length < TM_PART_NAME_BYTES &&
           strspn(name, safe) == length;
}

void tm_part_name_begin(char *name, size_t bytes, unsigned number)
{
    (void)snprintf(name, bytes, "%s%04u", begin, number);
}

void tm_part_name_add(char *name, size_t bytes, const char *text)
{
    size_t used = strlen(name);

    if (used + 1 < bytes)
        name[used++] = '-';
    for (size_t i = 0; i < TEXT_MOST && text[i] && used + 1 < bytes; i++) {
        if (text[i] == ':') /* gpu:0 */
            continue;
        name[used++] = text[i] != '-' && strchr(safe, text[i]) ? text[i] : '_';
    }
    name[used] = '\0';
}
