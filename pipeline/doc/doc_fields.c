/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/doc/doc_fields.h"

#include <string.h>

const char *tm_doc_unit(enum tm_doc_kind kind)
{
    static const char *const units[TM_DOC_KIND_COUNT] = {
        [TM_DOC_TIME] = "ps",     [TM_DOC_MOMENT] = "ps",    [TM_DOC_DATE] = "ns",          [TM_DOC_US] = "us",
        [TM_DOC_BYTES] = "bytes", [TM_DOC_RATE] = "bytes/s", [TM_DOC_FLOP_RATE] = "FLOP/s", [TM_DOC_SHARE] = "%",
        [TM_DOC_PERCENT] = "%",
    };

    return units[kind] ? units[kind] : "";
}

const struct tm_doc_field *tm_doc_field(const struct tm_doc_field *fields, const char *key, size_t length)
{
    for (; fields && fields->key; fields++)
        if (strncmp(fields->key, key, length) == 0 && fields->key[length] == '\0')
            return fields;
    return NULL;
}

void tm_doc_enter(struct tm_doc_place *place, const char *key, size_t length)
{
    if (!place->is_map) {
        place->field = tm_doc_field(place->below, key, length);
        place->is_map = place->field && (place->field->shape & TM_DOC_MAP);
    } else {
        place->is_map = false;
    }
    place->below = place->field && !place->is_map ? place->field->fields : NULL;
}

const struct tm_doc_field *tm_doc_field_at(const struct tm_doc_field *fields, const char *path)
{
    struct tm_doc_place place = { .below = fields };

    while (*path) {
        const bool is_element = *path == '[';
        const size_t length = strcspn(path, is_element ? "]" : ".[");

        if (!is_element)
            tm_doc_enter(&place, path, length);
        if (!place.field || (is_element && !path[length]))
            return NULL;
        path += length + is_element;
        path += *path == '.';
    }
    return place.field;
}
