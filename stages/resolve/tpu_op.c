/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"

#include <limits.h>

#include "pipeline/trace.h"

static inline bool tm_is_opcode_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The length of what is before the first blank outside of brackets: a shape, or one of a tuple's. */
static size_t shape_length(struct tm_text text)
{
    /* Most characters of the long strings that this reads do not matter here. */
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
    line.shape = (struct tm_text){ rest.at, shape_length(rest) };
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

/* A decimal number at the text's start, which is consumed.  out: false if there is none, or it does not fit */
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

/* Bits of an element of a type: those that its name has (bf16, f8e4m3fn, s4, c64), except for pred. */
static uint64_t bits_of(struct tm_text type)
{
    uint64_t bits;

    if (tm_text_is(type, "pred"))
        return 8;
    while (type.length && !is_digit(*type.at))
        type = tm_text_from(type, 1);
    return take_number(&type, &bits) && bits <= 128 ? bits : 0;
}

/* The size of the array at the text's start, "bf16[8,128]"; 0 = there is none, or it is too large. */
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
    for (; rest.length; rest = tm_text_from(rest, shape_length(rest) + 1)) {
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

/* What an op of a TPU core does, from its HLO line.  The line may be truncated anywhere; then, and where the event's
 * name is only the op's name, the category decides, else the name.  Checked on a TPU v6e profile. */

/* The sort of work that an op starts, waits for, or is. */
enum sort { SORT_COMPUTE, SORT_COPY, SORT_COLLECTIVE, SORT_HOST, SORT_CONTAINER, SORT_ASYNC };

static bool holds(struct tm_text text, const char *want)
{
    return text.length && memmem(text.at, text.length, want, strlen(want)) != NULL;
}

/* Whether the text of a name starts with the name of a collective: all-gather, all_gather.3, all-reduce-fusion. */
static bool names_collective(struct tm_text text)
{
    size_t n = 0;

    while (n < text.length && (tm_is_opcode_letter(text.at[n])))
        n++;
    for (; n; n--) { /* the longest part that ends before a '-' or '_' */
        if (n == text.length || !tm_is_opcode_letter(text.at[n]) || text.at[n] == '-' || text.at[n] == '_') {
            if (tm_is_collective_op(text.at, n))
                return true;
        }
    }
    return false;
}

static struct tm_text without_prefix(struct tm_text text, const char *prefix)
{
    return tm_text_begins(text, prefix) ? tm_text_from(text, strlen(prefix)) : text;
}

/* The sort of what an async-start wraps: "calls=%wrapped_all_gather" or the op's own name. */
static enum sort sort_of_async(const struct tm_hlo_line *line)
{
    const char *calls = line->operands.length ? memmem(line->operands.at, line->operands.length, "calls=", 6) : NULL;
    struct tm_text called = { NULL, 0 };

    if (holds(line->operands, "async_execution_thread=\"host\""))
        return SORT_HOST;
    if (calls) {
        called = tm_text_from(line->operands, (size_t)(calls - line->operands.at) + 6);
        called = without_prefix(without_prefix(without_prefix(called, "%"), "async_"), "wrapped_");
    }
    if (names_collective(called) || names_collective(line->name) || tm_text_begins(line->name, "async-collective"))
        return SORT_COLLECTIVE;
    return SORT_COPY;
}

/* The end that says "-start" or "-done"; 0 = neither. */
static size_t async_end(struct tm_text op, enum tm_tpu_part *part)
{
    static const struct {
        const char *end;
        enum tm_tpu_part part;
    } ends[] = { { "-start", TM_TPU_START }, { "-update", TM_TPU_START }, { "-done", TM_TPU_WAIT } };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (tm_text_ends(op, ends[i].end)) {
            *part = ends[i].part;
            return strlen(ends[i].end);
        }
    }
    return 0;
}

/* An opcode or a category, without -start and -done. */
static enum sort sort_of(struct tm_text op, bool is_async)
{
    if (tm_text_is(op, "infeed") || tm_text_is(op, "outfeed") || tm_text_begins(op, "host "))
        return SORT_HOST;
    if (op.length && tm_is_collective_op(op.at, op.length))
        return SORT_COLLECTIVE;
    if (is_async && tm_text_is(op, "async-collective"))
        return SORT_COLLECTIVE;
    if (is_async)
        return tm_text_is(op, "async") ? SORT_ASYNC : SORT_COPY;
    if (tm_text_is(op, "while") || tm_text_is(op, "call") || tm_text_is(op, "conditional"))
        return SORT_CONTAINER;
    return SORT_COMPUTE;
}

/* The destination of a copy.  A copy's tuple is (to, from, context), that of another async op ((from, ...), to,
 * context); a wait has the tuple as its operand.  Memory space 5 is the host's. */
static enum tm_level copy_level(const struct tm_hlo_line *line, enum tm_tpu_part part)
{
    struct tm_text tuple = part == TM_TPU_WAIT ? tm_text_from(line->operands, 1) : line->shape;
    struct tm_text to, from;

    if (!tm_text_begins(tuple, "("))
        return TM_LEVEL_D2D;
    tuple = tm_text_from((struct tm_text){ tuple.at, shape_length(tuple) }, 1);
    to = (struct tm_text){ tuple.at, shape_length(tuple) };
    tuple = tm_text_from(tuple, to.length + 1);
    from = (struct tm_text){ tuple.at, shape_length(tuple) };
    if (tm_text_begins(to, "(")) {
        const struct tm_text swapped = to;

        to = from;
        from = swapped;
    }
    if (holds(to, "S(5)"))
        return TM_LEVEL_D2H;
    return holds(from, "S(5)") ? TM_LEVEL_H2D : TM_LEVEL_D2D;
}

/* The bytes of a copy: the array that it writes.  That is the result of a wait, and in the result of a copy's start, if
 * the source of the same size is beside it; another kind of start, of a slice, does not have it.
 * in:     op  without -start and -done */
static void note_copy_bytes(const struct tm_hlo_line *line, struct tm_text op, enum tm_tpu_part part,
                            struct tm_config *config)
{
    const bool is_slice = tm_text_is(op, "slice") || tm_text_is(op, "dynamic-slice");
    const bool is_told = tm_text_is(op, "copy") || (is_slice && part == TM_TPU_WAIT);
    const uint64_t bytes = is_told ? tm_hlo_line_message_bytes(line, 1) : 0;

    config->copy_bytes = bytes;
    config->has_copy_bytes = bytes != 0;
}

/* Opcodes that do not show what is inside; their category does. */
static bool is_shell(struct tm_text opcode)
{
    return tm_text_is(opcode, "fusion") || tm_text_is(opcode, "custom-call");
}

void tm_hlo_opcode(const char *hlo_text, size_t length, const char **opcode, size_t *opcode_length)
{
    const struct tm_hlo_line line = tm_hlo_line_read((struct tm_text){ hlo_text, length });

    *opcode = line.opcode.at;
    *opcode_length = line.opcode.length;
}

/* "copy-done.3", "all-reduce": up to the number. */
static struct tm_text without_number(struct tm_text name)
{
    const char *dot = name.length ? memchr(name.at, '.', name.length) : NULL;

    if (dot)
        name.length = (size_t)(dot - name.at);
    return name;
}

void tm_parse_tpu_op(const char *hlo_text, size_t length, const char *category, size_t category_length,
                     struct tm_config *config)
{
    const struct tm_hlo_line line = tm_hlo_line_read((struct tm_text){ hlo_text, length });
    const struct tm_text told = { category, category_length };
    enum tm_tpu_part part = TM_TPU_PLAIN;
    struct tm_text op = line.opcode;
    enum sort sort;

    if (!op.length || (told.length && is_shell(op) && async_end(told, &part)))
        op = told.length ? told : without_number(line.name);
    op.length -= async_end(op, &part);
    sort = sort_of(op, part != TM_TPU_PLAIN);
    if (sort == SORT_ASYNC)
        sort = sort_of_async(&line);
    if (sort == SORT_COMPUTE && names_collective(told))
        sort = SORT_COLLECTIVE; /* a fusion that is a collective: "all-reduce-scatter fusion" */
    if (sort == SORT_COLLECTIVE && part == TM_TPU_PLAIN && (tm_text_is(op, "send") || tm_text_is(op, "recv")))
        part = TM_TPU_START;
    if (tm_text_begins(told, "host ") || holds(line.operands, "is_host_transfer=true"))
        sort = SORT_HOST;

    config->tpu_part = (uint8_t)(sort == SORT_HOST ? TM_TPU_HOST_WAIT : part);
    switch (sort) {
    case SORT_COPY:
        config->level = (uint8_t)copy_level(&line, part);
        note_copy_bytes(&line, op, part, config);
        break;
    case SORT_COLLECTIVE:
        config->level = TM_LEVEL_COLLECTIVE;
        break;
    case SORT_HOST:
        config->level = TM_LEVEL_NONE;
        break;
    case SORT_CONTAINER:
        config->level = TM_LEVEL_CONTAINER;
        break;
    default:
        config->level = TM_LEVEL_COMPUTE;
        break;
    }
}

bool tm_program_in_name(const char *text, size_t *length, int64_t *id)
{
    uint64_t number = 0;
    size_t at = *length;

    if (at < 3 || text[at - 1] != ')')
        return false;
    for (at--; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';)
        at--;
    if (at == 0 || text[at - 1] != '(' || at == *length - 1)
        return false;
    for (size_t i = at; i < *length - 1; i++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (unsigned)(text[i] - '0'), &number))
            return false;
    *length = at - 1;
    *id = (int64_t)number;
    return true;
}
