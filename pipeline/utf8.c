/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by RFC 3629, strictly.  Names in traces are bytes that somebody else wrote, so each text is
 * looked at before it reaches a terminal or a report. */
#include "pipeline/utf8.h"

#include <string.h>

/* Lead bytes by length, with the bounds of the second byte that keep out overlong forms (E0, F0),
 * surrogates (ED) and code points past U+10FFFF (F4). */
static size_t sequence_length(uint8_t lead, uint8_t *least, uint8_t *most)
{
    *least = 0x80;
    *most = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef) {
        if (lead == 0xe0)
            *least = 0xa0;
        if (lead == 0xed)
            *most = 0x9f;
        return 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        if (lead == 0xf0)
            *least = 0x90;
        if (lead == 0xf4)
            *most = 0x8f;
        return 4;
    }
    return 0;
}

size_t tm_utf8_next(const char *text, size_t length, uint32_t *code)
{
    const uint8_t lead = (uint8_t)text[0];
    uint8_t least, most;

    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    const size_t n = sequence_length(lead, &least, &most);

    if (n == 0 || n > length)
        return 0;
    if ((uint8_t)text[1] < least || (uint8_t)text[1] > most)
        return 0;
    uint32_t value = lead & (0x7fu >> n);

    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | ((uint8_t)text[i] & 0x3f);
    }
    *code = value;
    return n;
}

bool tm_utf8_is_hidden(uint32_t code)
{
    static const struct {
        uint32_t from, to;
    } range[] = {
        { 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },
        { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
        { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfdd0, 0xfdef },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
        { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
    };

    if (code >= ' ' && code <= '~')
        return false;
    if ((code & 0xfffe) == 0xfffe)
        return true;
    for (size_t i = 0; i < sizeof(range) / sizeof(range[0]) && code >= range[i].from; i++)
        if (code <= range[i].to)
            return true;
    return false;
}

size_t tm_utf8_visible_head(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint32_t code;

        if (text[i] >= ' ' && text[i] <= '~') {
            i++;
            continue;
        }
        const size_t n = tm_utf8_next(text + i, length - i, &code);

        if (n == 0 || tm_utf8_is_hidden(code))
            break;
        i += n;
    }
    return i;
}

bool tm_utf8_is_valid(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint64_t eight;
        uint32_t code;

        if (length - i >= sizeof(eight)) {
            memcpy(&eight, text + i, sizeof(eight));
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof(eight);
                continue;
            }
        }
        const size_t n = (uint8_t)text[i] < 0x80 ? 1 : tm_utf8_next(text + i, length - i, &code);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}
