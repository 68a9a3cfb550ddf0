/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/links.h"

#include <string.h>

bool tm_link_is_safe(const char *path)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

    if (!*path || *path == '/' || path[strspn(path, allowed)])
        return false;
    for (const char *part = path;; part++) {
        const size_t length = strcspn(part, "/");

        if (length == 2 && strncmp(part, "..", 2) == 0)
            return false;
        part += length;
        if (!*part)
            return true;
    }
}
