/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as debug annotations.  Lists are taken level by level: first the arguments of the event, then what is
 * inside the first object or list among them, and so on, so that the values of each list lie one after the other, and
 * nothing is called again from inside itself.  Memory: one array of values, of a fixed size. */
#include "stages/output/perfetto/perfetto_arguments.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/output/text/out_text.h"

enum {
    NUMBER_MOST = 4096, /* bytes of a number as it was written; longer ones stay texts */
    KEY_MOST = 480,     /* bytes of a key that comes again; what is longer is cut */
};

void tm_perfetto_arguments_open(struct tm_perfetto_arguments *a, struct tm_perfetto_names *names)
{
    a->names = names;
    for (size_t i = 0; i < TM_PERFETTO_VALUES_MOST; i++) {
        a->value[i] = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
        a->at[i] = &a->value[i];
    }
}

void tm_perfetto_arguments_begin(struct tm_perfetto_arguments *a, enum tm_args_level level)
{
    a->level = level;
    a->count = a->inside_count = 0;
    tm_json_keys_begin(&a->seen);
}

static tm_status is_essential(struct tm_perfetto_arguments *a, tm_strid key, bool *wanted)
{
    struct tm_name_answer *known = tm_name_answer(a->keys, TM_PERFETTO_KNOWN_KEYS, key);
    const char *text;
    size_t length;

    if (!known->is_known) {
        const tm_status status = tm_names_text(a->names->names, key, TM_PERFETTO_TEXT_MOST, &text, &length);

        if (status != TM_OK)
            return status;
        known->is_known = true;
        known->answer = tm_is_essential_argument(text, length);
    }
    *wanted = known->answer;
    return TM_OK;
}

/* The next value, without a name and a value; NULL = no more fit. */
static Perfetto__DebugAnnotation *next_value(struct tm_perfetto_arguments *a)
{
    Perfetto__DebugAnnotation *value = &a->value[a->count];

    if (a->count == TM_PERFETTO_VALUES_MOST) {
        a->names->is_cut = true;
        return NULL;
    }
    a->count++;
    value->n_dict_entries = value->n_array_values = 0;
    value->name_field_case = PERFETTO__DEBUG_ANNOTATION__NAME_FIELD__NOT_SET;
    value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE__NOT_SET;
    return value;
}

static void set_text(Perfetto__DebugAnnotation *value, ProtobufCBinaryData text)
{
    value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
    value->string_value = text;
}

void tm_perfetto_set_text(Perfetto__DebugAnnotation *value, const char *text)
{
    set_text(value, (ProtobufCBinaryData){ strlen(text), (uint8_t *)(uintptr_t)text });
}

static void set_real(Perfetto__DebugAnnotation *value, double real)
{
    if (!isfinite(real)) {
        tm_perfetto_set_text(value, tm_out_not_finite(real));
        return;
    }
    value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_DOUBLE_VALUE;
    value->double_value = real;
}

/* The nearest double; a number beyond all of them stays the text that it is. */
static void set_number(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value,
                       const struct tm_argument *argument)
{
    char digits[NUMBER_MOST];
    double real = HUGE_VAL;

    if (argument->length < sizeof(digits)) {
        memcpy(digits, argument->text, argument->length);
        digits[argument->length] = '\0';
        real = strtod(digits, NULL);
    }
    if (isfinite(real))
        set_real(value, real);
    else
        set_text(value, tm_perfetto_bytes(a->names, argument->text, argument->length));
}

/* Viewers take unsigned numbers for signed ones: what is larger than these becomes a text. */
static void set_unsigned(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value, uint64_t number)
{
    char digits[24];

    if (number > INT64_MAX) {
        (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
        set_text(value, tm_perfetto_copy(a->names, digits, strlen(digits)));
        return;
    }
    value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
    value->uint_value = number;
}

static tm_status set_name(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value, tm_strid id)
{
    ProtobufCBinaryData text;
    uint64_t iid;
    const tm_status status = tm_perfetto_number(a->names, TM_PERFETTO_STRINGS, id, &iid, &text);

    if (iid) {
        value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE_IID;
        value->string_value_iid = iid;
    } else {
        set_text(value, text);
    }
    return status;
}

/* What is inside is taken later.  The format has no empty lists: they are told as texts. */
static void set_inside(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value,
                       const struct tm_argument *argument, uint8_t depth)
{
    const bool is_array = argument->type == TM_ARGUMENT_ARRAY;

    if (!argument->inside.length || depth == TM_ARGUMENTS_DEEPEST) {
        a->names->is_cut |= argument->inside.length != 0;
        tm_perfetto_set_text(value, is_array ? "[]" : "{}");
        return;
    }
    a->inside[a->inside_count++] = (struct tm_perfetto_inside){
        (uint32_t)(value - a->value), (uint8_t)(depth + 1), is_array, argument->inside,
    };
}

static tm_status set_value(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value,
                           const struct tm_argument *argument, uint8_t depth)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE: case TM_ARGUMENT_TRUE:
        value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_BOOL_VALUE;
        value->bool_value = argument->type == TM_ARGUMENT_TRUE;
        return TM_OK;
    case TM_ARGUMENT_INT:
        value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_INT_VALUE;
        value->int_value = argument->number;
        return TM_OK;
    case TM_ARGUMENT_UINT:
        set_unsigned(a, value, argument->value);
        return TM_OK;
    case TM_ARGUMENT_DOUBLE:
        set_real(value, argument->real);
        return TM_OK;
    case TM_ARGUMENT_NUMBER:
        set_number(a, value, argument);
        return TM_OK;
    case TM_ARGUMENT_TEXT:
        set_text(value, tm_perfetto_bytes(a->names, argument->text, argument->length));
        return TM_OK;
    case TM_ARGUMENT_NAME:
        return set_name(a, value, (tm_strid)argument->value);
    case TM_ARGUMENT_OBJECT: case TM_ARGUMENT_ARRAY:
        set_inside(a, value, argument, depth);
        return TM_OK;
    default: /* the format has no nothing */
        tm_perfetto_set_text(value, "null");
        return TM_OK;
    }
}

/* Viewers take '.', '[' and ']' of a key for '_', so that two keys may become one. */
static tm_status hash_key(struct tm_perfetto_arguments *a, tm_strid key, uint64_t *hash)
{
    const size_t place = key % TM_PERFETTO_KNOWN_KEYS;
    char shown[KEY_MOST];
    const char *text;
    size_t length;
    tm_status status;

    *hash = a->hashes[place].hash;
    if (key && a->hashes[place].id == key)
        return TM_OK;
    status = tm_names_text(a->names->names, key, TM_PERFETTO_TEXT_MOST, &text, &length);
    if (status != TM_OK)
        return status;
    if (length <= sizeof(shown)) {
        for (size_t i = 0; i < length; i++)
            shown[i] = text[i] == '.' || text[i] == '[' || text[i] == ']' ? '_' : text[i];
        text = shown;
    }
    *hash = tm_json_key_hash(text, length);
    a->hashes[place].id = key;
    a->hashes[place].hash = *hash;
    return TM_OK;
}

/* "key (2)": of values of one name viewers keep the last one only. */
static tm_status set_numbered_key(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value, tm_strid key,
                                  uint64_t number)
{
    char text[KEY_MOST + 32];
    ProtobufCBinaryData plain;
    const tm_status status = tm_perfetto_text(a->names, key, &plain);
    size_t length = plain.len < KEY_MOST ? plain.len : KEY_MOST;

    if (status != TM_OK || !plain.data)
        return status;
    a->names->is_cut |= length < plain.len;
    memcpy(text, plain.data, length);
    length += (size_t)snprintf(text + length, sizeof(text) - length, " (%" PRIu64 ")", number);
    value->name_field_case = PERFETTO__DEBUG_ANNOTATION__NAME_FIELD_NAME;
    value->name = tm_perfetto_copy(a->names, text, length);
    return TM_OK;
}

/* in: object  of the event that it is a key of; its arguments: 0 */
static tm_status set_key(struct tm_perfetto_arguments *a, Perfetto__DebugAnnotation *value, tm_strid key,
                         uint32_t object)
{
    ProtobufCBinaryData text;
    uint64_t iid, number, hash;
    tm_status status = hash_key(a, key, &hash);

    if (status != TM_OK)
        return status;
    number = tm_json_keys_take(&a->seen, hash, object);
    if (number)
        return set_numbered_key(a, value, key, number);
    status = tm_perfetto_number(a->names, TM_PERFETTO_KEYS, key, &iid, &text);
    value->name_field_case = iid ? PERFETTO__DEBUG_ANNOTATION__NAME_FIELD_NAME_IID
                                 : PERFETTO__DEBUG_ANNOTATION__NAME_FIELD_NAME;
    if (iid)
        value->name_iid = iid;
    else
        value->name = text;
    return status;
}

/* The nodes of one list, as values one after the other.
 * in: object  its number in the event; the arguments: 0 */
static tm_status take_nodes(struct tm_perfetto_arguments *a, struct tm_arguments nodes, bool is_array, uint8_t depth,
                            uint32_t object)
{
    struct tm_argument argument;
    tm_status status = TM_OK;

    while (status == TM_OK && tm_arguments_next(&nodes, !is_array, &argument)) {
        bool wanted = tm_argument_is_value(&argument);
        Perfetto__DebugAnnotation *value;

        if (wanted && depth == 0 && a->level == TM_ARGS_ESSENTIAL)
            status = is_essential(a, argument.key, &wanted);
        if (status != TM_OK || !wanted)
            continue;
        value = next_value(a);
        if (!value)
            return TM_OK;
        if (!is_array)
            status = set_key(a, value, argument.key, object);
        if (status == TM_OK)
            status = set_value(a, value, &argument, depth);
    }
    return status;
}

tm_status tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    if (a->level == TM_ARGS_NONE)
        return TM_OK;
    if (list.length > TM_ARGUMENTS_MOST) {
        a->names->is_cut = true;
        list.length = TM_ARGUMENTS_MOST;
    }
    return take_nodes(a, list, false, 0, 0);
}

tm_status tm_perfetto_argument(struct tm_perfetto_arguments *a, tm_strid key, Perfetto__DebugAnnotation **value)
{
    *value = next_value(a);
    return *value ? set_key(a, *value, key, 0) : TM_OK;
}

/* The values that take_nodes made of a list belong to the object or the list that it was inside of. */
static void set_children(struct tm_perfetto_arguments *a, const struct tm_perfetto_inside *inside, size_t first)
{
    Perfetto__DebugAnnotation *value = &a->value[inside->value];
    const size_t count = a->count - first;

    if (inside->is_array) {
        value->n_array_values = count;
        value->array_values = &a->at[first];
    } else {
        value->n_dict_entries = count;
        value->dict_entries = &a->at[first];
    }
    if (!count)
        tm_perfetto_set_text(value, inside->is_array ? "[]" : "{}");
}

tm_status tm_perfetto_arguments_end(struct tm_perfetto_arguments *a, Perfetto__TrackEvent *event)
{
    tm_status status = TM_OK;

    event->n_debug_annotations = a->count;
    event->debug_annotations = a->at;
    for (size_t i = 0; status == TM_OK && i < a->inside_count; i++) {
        const struct tm_perfetto_inside inside = a->inside[i];
        const size_t first = a->count;

        status = take_nodes(a, inside.nodes, inside.is_array, inside.depth, (uint32_t)i + 1);
        set_children(a, &inside, first);
    }
    return status;
}
