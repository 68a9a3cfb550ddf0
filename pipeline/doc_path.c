/* SPDX-License-Identifier: Apache-2.0 */
/* Values by path: members by ".", elements by "[number]" or "[id]".  An id ends at the first ']'.
 */
#include <ctype.h>
#include <string.h>

#include "pipeline/doc.h"

/* True if `text` is the n bytes at `piece`. */
static bool is_piece(const char *text, const char *piece, size_t n)
{
    return strncmp(text, piece, n) == 0 && text[n] == '\0';
}

static const struct tm_value *member(const struct tm_value *object, const char *piece, size_t n)
{
    const size_t count = tm_length(object);

    for (size_t i = 0; i < count; i++) {
        const char *key = tm_key_at(object, i);

        if (*key == *piece && is_piece(key, piece, n))
            return tm_value_at(object, i);
    }
    return NULL;
}

static bool read_number(const char *piece, size_t n, size_t *number)
{
    *number = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)piece[i]) || *number > SIZE_MAX / 10 - 1)
            return false;
        *number = 10 * *number + (size_t)(piece[i] - '0');
    }
    return n > 0;
}

static const struct tm_value *element(const struct tm_value *from, const char *piece, size_t n)
{
    size_t number;

    if (n == 0) /* an element without an id is not the one meant */
        return NULL;
    if (tm_type_of(from) == TM_OBJECT)
        return member(from, piece, n);
    if (read_number(piece, n, &number))
        return tm_at(from, number);
    for (size_t i = 0; i < tm_length(from); i++) {
        const struct tm_value *v = tm_at(from, i);

        if (is_piece(tm_text(tm_get(v, "id")), piece, n) ||
            is_piece(tm_text(tm_get(v, "name")), piece, n))
            return v;
    }
    return NULL;
}

const struct tm_value *tm_path(const struct tm_value *from, const char *path)
{
    while (from && *path != '\0') {
        if (*path == '[') {
            const char *end = strchr(path, ']');

            if (!end)
                return NULL;
            from = element(from, path + 1, (size_t)(end - path - 1));
            path = end + 1;
        } else {
            path += *path == '.';
            const size_t n = strcspn(path, ".[");

            if (n == 0)
                return NULL;
            from = member(from, path, n);
            path += n;
        }
    }
    return from;
}
