/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/hlo_line.h"

#include <limits.h>

size_t tm_shape_length(struct tm_text text)
{
    /* Most characters of the long texts that this reads say nothing here. */
    enum { OPENS = 1, CLOSES, BLANK };
    static const uint8_t sorts[UCHAR_MAX + 1] = {
        ['('] = OPENS, ['['] = OPENS, ['{'] = OPENS, [' '] = BLANK, [')'] = CLOSES, [']'] = CLOSES, ['}'] = CLOSES
    };
    size_t depth = 0;

    for (size_t i = 0; i < text.length; i++) {
        const uint8_t sort = sorts[(unsigned char)text.at[i]];

        if (!sort)
            continue;
        if (sort == BLANK && !depth)
            return i;
        depth += sort == OPENS;
        depth -= sort == CLOSES && depth;
    }
    return text.length;
}

struct tm_hlo_line tm_hlo_line_read(struct tm_text text)
{
    struct tm_hlo_line line = { .name = text };
    const char *equals;
    struct tm_text rest;
    size_t n = 0;

    if (tm_text_begins(line.name, "ROOT "))
        line.name = tm_text_from(line.name, 5);
    if (tm_text_begins(line.name, "%"))
        line.name = tm_text_from(line.name, 1);
    equals = line.name.length ? memmem(line.name.at, line.name.length, " = ", 3) : NULL;
    if (!equals)
        return line;
    rest = tm_text_from(line.name, (size_t)(equals - line.name.at) + 3);
    line.name.length = (size_t)(equals - line.name.at);
    line.shape = (struct tm_text){ rest.at, tm_shape_length(rest) };
    rest = tm_text_from(rest, line.shape.length + 1);
    while (n < rest.length && tm_is_opcode_letter(rest.at[n]))
        n++;
    if (n && n < rest.length && rest.at[n] == '(') {
        line.opcode = (struct tm_text){ rest.at, n };
        line.operands = tm_text_from(rest, n);
    }
    return line;
}

/* --- collectives --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number at the text's begin, which is cut off.  out: false where there is none, or it does not fit */
static bool take_number(struct tm_text *text, uint64_t *number)
{
    size_t n = 0;

    *number = 0;
    for (; n < text->length && is_digit(text->at[n]); n++) {
        if (__builtin_mul_overflow(*number, (uint64_t)10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(text->at[n] - '0'), number))
            return false;
    }
    *text = tm_text_from(*text, n);
    return n > 0;
}

uint32_t tm_hlo_line_group_size(const struct tm_hlo_line *line)
{
    static const char key[] = "replica_groups=";
    const struct tm_text all = line->operands;
    const char *at = all.length ? memmem(all.at, all.length, key, sizeof(key) - 1) : NULL;
    struct tm_text text;
    uint64_t groups, size;

    if (!at)
        return 0;
    text = tm_text_from(all, (size_t)(at - all.at) + sizeof(key) - 1);
    if (tm_text_begins(text, "[")) { /* [groups,size]<=... */
        text = tm_text_from(text, 1);
        if (!take_number(&text, &groups) || !tm_text_begins(text, ","))
            return 0;
        text = tm_text_from(text, 1);
        return take_number(&text, &size) && tm_text_begins(text, "]") && size <= UINT32_MAX ? (uint32_t)size : 0;
    }
    if (!tm_text_begins(text, "{{"))
        return 0;
    text = tm_text_from(text, 2);
    for (uint32_t count = 1; take_number(&text, &size); count++) {
        if (tm_text_begins(text, "}"))
            return count;
        text = tm_text_from(text, 1);
    }
    return 0;
}

/* Bits of an element of a type: those that its name has (bf16, f8e4m3fn, s4, c64), but for pred. */
static uint64_t bits_of(struct tm_text type)
{
    uint64_t bits;

    if (tm_text_is(type, "pred"))
        return 8;
    while (type.length && !is_digit(*type.at))
        type = tm_text_from(type, 1);
    return take_number(&type, &bits) && bits <= 128 ? bits : 0;
}

/* The size of the array at the text's begin, "bf16[8,128]"; 0 = there is none, or it is too large. */
static uint64_t array_bytes(struct tm_text text)
{
    struct tm_text type = { text.at, 0 };
    uint64_t bits, dim;

    while (type.length < text.length && tm_is_opcode_letter(text.at[type.length]))
        type.length++;
    bits = bits_of(type);
    text = tm_text_from(text, type.length);
    if (!tm_text_begins(text, "["))
        return 0;
    do {
        text = tm_text_from(text, 1);
        if (take_number(&text, &dim) && __builtin_mul_overflow(bits, dim, &bits))
            return 0;
    } while (tm_text_begins(text, ","));
    return bits / 8 + (bits % 8 != 0);
}

uint64_t tm_hlo_line_message_bytes(const struct tm_hlo_line *line, uint32_t group_size)
{
    const bool starts = tm_text_ends(line->opcode, "-start");
    struct tm_text rest = line->shape;
    uint64_t message = 0, bytes;

    if (!line->opcode.length)
        return 0;
    while (tm_text_begins(rest, "("))
        rest = tm_text_from(rest, 1);
    for (; rest.length; rest = tm_text_from(rest, tm_shape_length(rest) + 1)) {
        bytes = array_bytes(rest);
        if (starts)
            message = bytes > message ? bytes : message;
        else if (__builtin_add_overflow(message, bytes, &message))
            return 0;
    }
    if (tm_text_begins(line->opcode, "reduce-scatter") && !starts) {
        if (__builtin_mul_overflow(message, (uint64_t)group_size, &message))
            return 0;
    }
    return message > INT64_MAX ? 0 : message;
}
