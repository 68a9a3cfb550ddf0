/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for mistyped words: optimal string alignment over two short words, with three rows of
 * the table on the stack. */
#include "pipeline/store/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORD_MOST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t tm_word_distance(const char *a, const char *b)
{
    const size_t a_length = strnlen(a, WORD_MOST);
    const size_t b_length = strnlen(b, WORD_MOST);
    size_t rows[3][WORD_MOST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        size_t *const free_row = before;

        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

void tm_nearest_offer(struct tm_nearest *nearest, const char *typed, const char *known)
{
    const size_t length = strlen(typed);
    const size_t allowed = least(length, strlen(known)) / 3 + (length < 3);
    size_t distance = tm_word_distance(typed, known);

    if (length >= 2 && strncasecmp(typed, known, length) == 0)
        distance = least(distance, 1);
    else if (distance > allowed)
        return;
    if (!nearest->word || distance < nearest->distance) {
        nearest->word = known;
        nearest->distance = distance;
    }
}
