/* SPDX-License-Identifier: Apache-2.0 */
/* Goes down by recursion, as deep as a document may be (doc.c). */
#include "pipeline/doc_copy.h"

static void add_inside(struct tm_value *to, const struct tm_value *from)
{
    const bool is_object = tm_type_of(from) == TM_OBJECT;

    for (size_t i = 0; i < tm_length(from); i++)
        tm_add_copy(to, is_object ? tm_key_at(from, i) : NULL,
                    is_object ? tm_value_at(from, i) : tm_at(from, i));
}

void tm_add_copy(struct tm_value *to, const char *key, const struct tm_value *from)
{
    switch (tm_type_of(from)) {
    case TM_NULL:
        tm_add_null(to, key, *tm_why(from) ? tm_why(from) : NULL);
        return;
    case TM_BOOL:
        tm_add_bool(to, key, tm_is(from));
        return;
    case TM_INT:
        tm_add_int(to, key, tm_int(from));
        return;
    case TM_DOUBLE:
        tm_add_double(to, key, tm_double(from));
        return;
    case TM_STRING:
        tm_add_string(to, key, tm_text(from));
        return;
    case TM_ARRAY:
        add_inside(tm_add_array(to, key), from);
        return;
    case TM_OBJECT:
        add_inside(tm_add_object(to, key), from);
        return;
    }
}
