/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/text/text_width.h"

#include <stdint.h>
#include <string.h>

enum {
    LEAST_CUT = 5,       /* columns that a cut in the middle makes sense in */
    FIRST_WIDE = 0x1100, /* code points from here on may take two columns */
    FIRST_NARROW = 0x2010,
    LAST_NARROW = 0x22ff, /* punctuation, arrows, mathematics: one column */
};

size_t tm_text_character(const char *at, int *columns)
{
    const unsigned char *c = (const unsigned char *)at;
    uint32_t code = c[0];
    size_t n = 1;

    if (c[0] >= 0xf0 && c[1] && c[2] && c[3]) {
        code = FIRST_WIDE;
        n = 4;
    } else if (c[0] >= 0xe0 && c[0] < 0xf0 && c[1] && c[2]) {
        code = (uint32_t)(c[0] & 15) << 12 | (uint32_t)(c[1] & 63) << 6 | (c[2] & 63);
        n = 3;
    } else if (c[0] >= 0xc0 && c[0] < 0xe0 && c[1]) {
        code = (uint32_t)(c[0] & 31) << 6 | (c[1] & 63);
        n = 2;
    }
    *columns = code < FIRST_WIDE || (code >= FIRST_NARROW && code <= LAST_NARROW) ? 1 : 2;
    return n;
}

int tm_text_width(const char *text)
{
    int width = 0;

    while (*text) {
        int columns;

        text += tm_text_character(text, &columns);
        width += columns;
    }
    return width;
}

size_t tm_text_head(const char *text, int width)
{
    size_t used = 0;

    while (text[used]) {
        int columns;
        const size_t n = tm_text_character(text + used, &columns);

        if (columns > width)
            break;
        width -= columns;
        used += n;
    }
    return used;
}

size_t tm_text_line(const char *text, int width)
{
    const size_t most = tm_text_head(text, width);
    size_t n = most;
    int columns;

    if (!text[most])
        return most;
    while (n > 0 && text[n] != ' ')
        n--;
    if (n > 0)
        return n;
    return most > 0 ? most : tm_text_character(text, &columns);
}

size_t tm_text_trimmed(const char *text, size_t n)
{
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

void tm_text_cut(char *text, int width)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const int whole = tm_text_width(text), after = width - 1 - width / 2;
    size_t head, tail;
    int left = whole, columns;

    if (whole <= width)
        return;
    head = tm_text_head(text, width / 2);
    for (tail = 0; left > after && text[tail]; left -= columns)
        tail += tm_text_character(text + tail, &columns);
    if (tail < head + sizeof(ellipsis) - 1) /* the sign takes three bytes, and may replace two */
        head = tm_text_head(text, width / 2 - 1);
    if (width < LEAST_CUT || tail < head + sizeof(ellipsis) - 1) {
        text[tm_text_head(text, width)] = 0;
        return;
    }
    memcpy(text + head, ellipsis, sizeof(ellipsis) - 1);
    memmove(text + head + sizeof(ellipsis) - 1, text + tail, strlen(text + tail) + 1);
}
