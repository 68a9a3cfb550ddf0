/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arguments: see arguments.h for their form. */
#include "pipeline/arguments.h"

#include <string.h>

enum { VARINT_MOST = 10, HANDLE_MOST = 5, LENGTH_BYTES = 4 };

/* --- reading --- */

bool tm_arguments_long_varint(struct tm_arguments *list, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && list->length; shift += 7) {
        const uint8_t byte = *list->bytes++;

        list->length--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static inline bool take_bytes(struct tm_arguments *list, uint64_t length, const uint8_t **bytes)
{
    if (length > list->length)
        return false;
    *bytes = list->bytes;
    list->bytes += length;
    list->length -= (size_t)length;
    return true;
}

static bool take_text(struct tm_arguments *list, struct tm_argument *argument)
{
    const uint8_t *bytes;
    uint64_t length;

    if (!tm_arguments_varint(list, &length) || !take_bytes(list, length, &bytes))
        return false;
    argument->text = (const char *)bytes;
    argument->length = (size_t)length;
    return true;
}

static bool take_inside(struct tm_arguments *list, struct tm_argument *argument)
{
    const uint8_t *bytes;
    uint32_t length;

    if (!take_bytes(list, LENGTH_BYTES, &bytes))
        return false;
    memcpy(&length, bytes, LENGTH_BYTES);
    if (!take_bytes(list, length, &bytes))
        return false;
    argument->inside = (struct tm_arguments){ bytes, length };
    return true;
}

bool tm_arguments_payload(struct tm_arguments *list, struct tm_argument *argument)
{
    const uint8_t *bytes;

    switch (argument->type) {
    case TM_ARGUMENT_NULL:
    case TM_ARGUMENT_FALSE:
    case TM_ARGUMENT_TRUE:
    case TM_ARGUMENT_ENCLOSED:
        return true;
    case TM_ARGUMENT_UINT:
    case TM_ARGUMENT_PLACE:
        return tm_arguments_varint(list, &argument->value);
    case TM_ARGUMENT_DOUBLE:
        if (!take_bytes(list, sizeof(argument->real), &bytes))
            return false;
        memcpy(&argument->real, bytes, sizeof(argument->real));
        return true;
    case TM_ARGUMENT_NUMBER:
    case TM_ARGUMENT_TEXT:
    case TM_ARGUMENT_CATEGORY:
    case TM_ARGUMENT_ID:
        return take_text(list, argument);
    case TM_ARGUMENT_OBJECT:
    case TM_ARGUMENT_ARRAY:
        return take_inside(list, argument);
    default:
        return false;
    }
}

/* A varint of HANDLE_MOST bytes, whatever the value. */
static void put_wide(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < HANDLE_MOST; i++, value >>= 7)
        to[i] = (uint8_t)(value | (i < HANDLE_MOST - 1 ? 0x80 : 0));
}

bool tm_arguments_find(struct tm_arguments list, enum tm_argument_type type, struct tm_argument *argument)
{
    while (tm_arguments_next(&list, true, argument) && !tm_argument_is_value(argument))
        if (argument->type == type)
            return true;
    return false;
}

void tm_arguments_move_place(uint8_t *bytes, size_t length, uint32_t track)
{
    struct tm_arguments list = { bytes, length };
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument) && !tm_argument_is_value(&argument)) {
        if (argument.type != TM_ARGUMENT_PLACE)
            continue;
        put_wide(bytes + (list.bytes - bytes) - HANDLE_MOST, track);
        return;
    }
}

size_t tm_arguments_fitting(struct tm_arguments list, size_t room)
{
    const uint8_t *const begin = list.bytes;
    struct tm_argument argument;
    size_t fitting = 0;

    while (tm_arguments_next(&list, true, &argument) && (size_t)(list.bytes - begin) <= room)
        fitting = (size_t)(list.bytes - begin);
    return fitting;
}

/* --- making --- */

void tm_arguments_begin(struct tm_arguments_builder *b, struct tm_names *names, uint8_t *buffer, size_t room)
{
    /* What is open is written before it is read, and this is done for each event. */
    b->bytes = buffer;
    b->used = b->spared = 0;
    b->room = room;
    b->names = names;
    b->status = TM_OK;
    b->is_cut = b->has_nul = false;
    b->depth = b->skipped = 0;
}

static void put_varint(struct tm_arguments_builder *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        b->bytes[b->used++] = (uint8_t)(value | 0x80);
    b->bytes[b->used++] = (uint8_t)value;
}

static void put_handle(struct tm_arguments_builder *b, tm_strid handle)
{
    const size_t end = b->used + HANDLE_MOST;

    put_varint(b, handle);
    b->spared += end - b->used;
}

/* Key and type of a node with a payload of at most this many bytes. false: it does not fit, or its parent could not be
 * opened. */
static bool put_head(struct tm_arguments_builder *b, tm_strid key, enum tm_argument_type type, size_t payload)
{
    const size_t taken = b->used + b->spared;
    const size_t left = b->room > taken ? b->room - taken : 0;

    if (b->skipped)
        return false;
    if (left < 2 * VARINT_MOST || payload > left - 2 * VARINT_MOST) {
        b->is_cut = true;
        return false;
    }
    if (!b->depth || !b->open[b->depth - 1].is_array)
        put_handle(b, key);
    b->bytes[b->used++] = (uint8_t)type;
    return true;
}

static void put_bytes(struct tm_arguments_builder *b, const void *bytes, size_t length)
{
    if (length)
        memcpy(b->bytes + b->used, bytes, length);
    b->used += length;
}

void tm_put_null(struct tm_arguments_builder *b, tm_strid key)
{
    (void)put_head(b, key, TM_ARGUMENT_NULL, 0);
}

void tm_put_bool(struct tm_arguments_builder *b, tm_strid key, bool value)
{
    (void)put_head(b, key, value ? TM_ARGUMENT_TRUE : TM_ARGUMENT_FALSE, 0);
}

void tm_put_int(struct tm_arguments_builder *b, tm_strid key, int64_t value)
{
    if (put_head(b, key, TM_ARGUMENT_INT, VARINT_MOST))
        put_varint(b, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void tm_put_uint(struct tm_arguments_builder *b, tm_strid key, uint64_t value)
{
    if (put_head(b, key, TM_ARGUMENT_UINT, VARINT_MOST))
        put_varint(b, value);
}

void tm_put_double(struct tm_arguments_builder *b, tm_strid key, double value)
{
    if (put_head(b, key, TM_ARGUMENT_DOUBLE, sizeof(value)))
        put_bytes(b, &value, sizeof(value));
}

static void put_text(struct tm_arguments_builder *b, tm_strid key, enum tm_argument_type type, const char *text,
                     size_t length)
{
    if (!put_head(b, key, type, length + VARINT_MOST))
        return;
    put_varint(b, length);
    put_bytes(b, text, length);
}

void tm_put_number(struct tm_arguments_builder *b, tm_strid key, const char *text, size_t length)
{
    put_text(b, key, TM_ARGUMENT_NUMBER, text, length);
}

void tm_put_event_text(struct tm_arguments_builder *b, enum tm_argument_type type, const char *text, size_t length)
{
    put_text(b, 0, type, text, length);
}

void tm_put_text(struct tm_arguments_builder *b, tm_strid key, const char *text, size_t length)
{
    tm_strid name;

    if (length <= TM_ARGUMENT_TEXT_MOST) {
        put_text(b, key, TM_ARGUMENT_TEXT, text, length);
        return;
    }
    if (b->skipped)
        return;
    name = tm_names_put(b->names, text, length);
    b->status = tm_names_status(b->names);
    if (name)
        tm_put_name(b, key, name);
}

void tm_put_name(struct tm_arguments_builder *b, tm_strid key, tm_strid name)
{
    if (put_head(b, key, TM_ARGUMENT_NAME, VARINT_MOST))
        put_handle(b, name);
}

void tm_put_place(struct tm_arguments_builder *b, uint32_t track)
{
    if (!put_head(b, 0, TM_ARGUMENT_PLACE, HANDLE_MOST))
        return;
    put_wide(b->bytes + b->used, track);
    b->used += HANDLE_MOST;
}

void tm_put_enclosed(struct tm_arguments_builder *b)
{
    (void)put_head(b, 0, TM_ARGUMENT_ENCLOSED, 0);
}

static void open_list(struct tm_arguments_builder *b, tm_strid key, bool is_array)
{
    static const uint8_t no_length[LENGTH_BYTES] = { 0 };

    if (b->depth == TM_ARGUMENTS_DEEPEST)
        b->is_cut = true;
    if (b->depth == TM_ARGUMENTS_DEEPEST ||
        !put_head(b, key, is_array ? TM_ARGUMENT_ARRAY : TM_ARGUMENT_OBJECT, LENGTH_BYTES)) {
        b->skipped++;
        return;
    }
    b->open[b->depth].at = b->used;
    b->open[b->depth++].is_array = is_array;
    put_bytes(b, no_length, LENGTH_BYTES);
}

void tm_put_object(struct tm_arguments_builder *b, tm_strid key)
{
    open_list(b, key, false);
}

void tm_put_array(struct tm_arguments_builder *b, tm_strid key)
{
    open_list(b, key, true);
}

void tm_put_close(struct tm_arguments_builder *b)
{
    uint32_t length;

    if (b->skipped) {
        b->skipped--;
        return;
    }
    if (!b->depth)
        return;
    b->depth--;
    length = (uint32_t)(b->used - b->open[b->depth].at - LENGTH_BYTES);
    memcpy(b->bytes + b->open[b->depth].at, &length, LENGTH_BYTES);
}

struct tm_arguments tm_arguments_end(struct tm_arguments_builder *b)
{
    b->skipped = 0;
    while (b->depth)
        tm_put_close(b);
    return (struct tm_arguments){ b->bytes, b->used };
}
