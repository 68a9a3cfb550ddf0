/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/doc/doc_fields.h"

#include <string.h>

const char *tm_doc_kind_name(enum tm_doc_kind kind)
{
    static const char *const names[TM_DOC_KIND_COUNT] = {
        [TM_DOC_OBJECT] = "object",
        [TM_DOC_BOOL] = "yes or no",
        [TM_DOC_WORD] = "word",
        [TM_DOC_TERM] = "word",
        [TM_DOC_CAUSE] = "cause",
        [TM_DOC_DIRECTION] = "direction",
        [TM_DOC_PROSE] = "text",
        [TM_DOC_NAME] = "name",
        [TM_DOC_DEVICE] = "device",
        [TM_DOC_HOST] = "host",
        [TM_DOC_PATH] = "path",
        [TM_DOC_TIME] = "duration",
        [TM_DOC_MOMENT] = "time",
        [TM_DOC_DATE] = "date",
        [TM_DOC_NS] = "nanoseconds",
        [TM_DOC_US] = "microseconds",
        [TM_DOC_COUNT] = "count",
        [TM_DOC_INTEGER] = "whole number",
        [TM_DOC_BYTES] = "bytes",
        [TM_DOC_RATE] = "bytes/s",
        [TM_DOC_FLOPS] = "FLOP",
        [TM_DOC_FLOP_RATE] = "FLOP/s",
        [TM_DOC_SHARE] = "share",
        [TM_DOC_PERCENT] = "percent",
        [TM_DOC_VALUE] = "word or number",
        [TM_DOC_CHANGE] = "change",
        [TM_DOC_CHANGE_PCT] = "change in percent",
        [TM_DOC_P] = "p",
        [TM_DOC_NUMBER] = "number",
        [TM_DOC_POINT] = "point",
        [TM_DOC_ROW] = "row",
    };

    return names[kind] ? names[kind] : "";
}

const char *tm_doc_unit(enum tm_doc_kind kind)
{
    static const char *const units[TM_DOC_KIND_COUNT] = {
        [TM_DOC_TIME] = "ps", [TM_DOC_MOMENT] = "ps",   [TM_DOC_DATE] = "ns",      [TM_DOC_NS] = "ns",
        [TM_DOC_US] = "us",   [TM_DOC_BYTES] = "bytes", [TM_DOC_RATE] = "bytes/s", [TM_DOC_FLOP_RATE] = "FLOP/s",
        [TM_DOC_SHARE] = "%", [TM_DOC_PERCENT] = "%",   [TM_DOC_CHANGE] = "ps",    [TM_DOC_CHANGE_PCT] = "%",
    };

    return units[kind] ? units[kind] : "";
}

const struct tm_doc_field *tm_doc_field_by_key(const struct tm_doc_field *fields, const char *key, size_t length)
{
    for (; fields && fields->key; fields++)
        if (*fields->key == *key && strncmp(fields->key, key, length) == 0 && fields->key[length] == '\0')
            return fields;
    return NULL;
}

void tm_doc_enter(struct tm_doc_place *place, const char *key, size_t length)
{
    if (!place->is_map) {
        place->field = tm_doc_field_by_key(place->below, key, length);
        place->is_map = place->field && (place->field->shape & TM_DOC_MAP);
    } else {
        place->is_map = false;
    }
    place->below = place->field && !place->is_map ? place->field->fields : NULL;
}

void tm_doc_enter_piece(struct tm_doc_place *place, const char *piece, size_t length)
{
    const bool is_element = *piece == '[', has_sign = is_element || *piece == '.';

    if (!is_element || !place->field || !(place->field->shape & TM_DOC_LIST))
        tm_doc_enter(place, piece + has_sign, length - has_sign - is_element);
}

/* Bytes of the first piece of a path; 0 = there is none. */
static size_t piece_length(const char *path)
{
    const size_t sign = *path == '.', length = strcspn(path + sign, *path == '[' ? "]" : ".[");

    if (*path == '[')
        return path[length] ? length + 1 : 0;
    return length ? sign + length : 0;
}

/* Continue from a place.  out: whether the whole path leads somewhere; is_sum  whether a field on the way is one */
static bool walk(struct tm_doc_place *place, const char *path, bool *is_sum)
{
    const bool has_path = *path;

    *is_sum = false;
    while (*path) {
        const size_t length = piece_length(path);

        if (length == 0)
            return false;
        tm_doc_enter_piece(place, path, length);
        if (!place->field)
            return false;
        *is_sum |= (place->field->shape & TM_DOC_SUM) != 0;
        path += length;
    }
    return has_path;
}

const struct tm_doc_field *tm_doc_walk(struct tm_doc_place *place, const char *path)
{
    bool is_sum;

    return walk(place, path, &is_sum) ? place->field : NULL;
}

bool tm_doc_place_at(struct tm_doc_place *place, const struct tm_doc_field *fields, const char *path)
{
    *place = (struct tm_doc_place){ .below = fields };
    return tm_doc_walk(place, path) != NULL;
}

bool tm_doc_is_sum(const struct tm_doc_field *fields, const char *path)
{
    struct tm_doc_place place = { .below = fields };
    bool is_sum;

    return walk(&place, path, &is_sum) && is_sum && tm_doc_kind_of(place.field) != TM_DOC_OBJECT;
}

const struct tm_doc_field *tm_doc_field_at(const struct tm_doc_field *fields, const char *path)
{
    struct tm_doc_place place = { .below = fields };

    return tm_doc_walk(&place, path);
}
