/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as debug annotations, written as they are read: objects and lists inside are walked with a stack, and get
 * their length when they end.  Of an event with more values than may be those that lie outside come first, so its values
 * are counted by depth before. */
#include "stages/output/perfetto/perfetto_arguments.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/output/text/out_text.h"

enum {
    NUMBER_MOST = 4096, /* bytes of a number as it was written; longer ones stay texts */
    KEY_MOST = 480,     /* bytes of a key that comes again; what is longer is cut */
};

/* Fields of TrackEvent and of DebugAnnotation. */
enum { EVENT_ARGUMENTS = 4 };
enum {
    NAME_IID = 1, BOOL_VALUE = 2, UINT_VALUE = 3, INT_VALUE = 4, DOUBLE_VALUE = 5, STRING_VALUE = 6, NAME = 10,
    DICT_ENTRIES = 11, ARRAY_VALUES = 12, STRING_VALUE_IID = 17
};

void tm_perfetto_arguments_open(struct tm_perfetto_arguments *a, struct tm_perfetto_names *names)
{
    a->names = names;
}

void tm_perfetto_arguments_begin(struct tm_perfetto_arguments *a, enum tm_args_level level, uint8_t *to)
{
    a->level = level;
    a->to = to;
    a->count = 0;
    a->objects = 0;
    a->is_limited = false;
    tm_json_keys_begin(&a->seen);
}

/* --- names of arguments --- */

/* Viewers take '.', '[' and ']' of a key for '_', so that two keys may become one. */
static uint64_t hash_shown(const char *text, size_t length)
{
    char shown[KEY_MOST];

    if (length > sizeof(shown))
        return tm_json_key_hash(text, length);
    for (size_t i = 0; i < length; i++)
        shown[i] = text[i] == '.' || text[i] == '[' || text[i] == ']' ? '_' : text[i];
    return tm_json_key_hash(shown, length);
}

static tm_status learn_key(struct tm_perfetto_arguments *a, struct tm_perfetto_key *key, tm_strid id)
{
    const char *text;
    size_t length;
    const tm_status status = tm_names_text(a->names->names, id, TM_PERFETTO_TEXT_MOST, &text, &length);

    if (status == TM_OK)
        *key = (struct tm_perfetto_key){ id, tm_is_essential_argument(text, length), hash_shown(text, length) };
    return status;
}

static inline tm_status know_key(struct tm_perfetto_arguments *a, tm_strid id, const struct tm_perfetto_key **known)
{
    struct tm_perfetto_key *const key = &a->keys[id % TM_PERFETTO_KNOWN_KEYS];

    *known = key;
    return key->id == id && id ? TM_OK : learn_key(a, key, id);
}

/* "key (2)": of values of one name viewers keep the last one only. */
static tm_status put_numbered_key(struct tm_perfetto_arguments *a, tm_strid key, uint64_t number)
{
    char text[KEY_MOST + 32];
    const char *plain;
    size_t length, used;
    const tm_status status = tm_names_text(a->names->names, key, TM_PERFETTO_TEXT_MOST + 1, &plain, &length);

    if (status != TM_OK)
        return status;
    used = length < KEY_MOST ? length : KEY_MOST;
    a->names->is_cut |= used < length;
    memcpy(text, plain, used);
    used += (size_t)snprintf(text + used, sizeof(text) - used, " (%" PRIu64 ")", number);
    tm_perfetto_put_text(a->names, &a->to, NAME, text, used);
    return TM_OK;
}

/* in: object  of the event that it is a key of; its arguments: 0 */
static tm_status put_key(struct tm_perfetto_arguments *a, tm_strid id, uint32_t object)
{
    const struct tm_perfetto_key *key;
    uint64_t number;
    uint32_t iid;
    tm_status status = know_key(a, id, &key);

    if (status != TM_OK)
        return status;
    number = tm_json_keys_take(&a->seen, key->hash, object);
    if (number)
        return put_numbered_key(a, id, number);
    status = tm_perfetto_number(a->names, TM_PERFETTO_KEYS, id, &iid);
    if (status == TM_OK && !iid)
        return tm_perfetto_put_name(a->names, &a->to, NAME, id);
    a->to = tm_pb_varint(a->to, NAME_IID, iid);
    return status;
}

/* --- values --- */

static void put_literal(struct tm_perfetto_arguments *a, const char *text)
{
    a->to = tm_pb_bytes(a->to, STRING_VALUE, text, strlen(text));
}

static void put_real(struct tm_perfetto_arguments *a, double real)
{
    if (isfinite(real))
        a->to = tm_pb_double(a->to, DOUBLE_VALUE, real);
    else
        put_literal(a, tm_out_not_finite(real));
}

/* The nearest double; a number beyond all of them stays the text that it is. */
static void put_number(struct tm_perfetto_arguments *a, const struct tm_argument *argument)
{
    char digits[NUMBER_MOST];
    double real = HUGE_VAL;

    if (argument->length < sizeof(digits)) {
        memcpy(digits, argument->text, argument->length);
        digits[argument->length] = '\0';
        real = strtod(digits, NULL);
    }
    if (isfinite(real))
        put_real(a, real);
    else
        tm_perfetto_put_argument(a->names, &a->to, STRING_VALUE, argument->text, argument->length);
}

/* Viewers take unsigned numbers for signed ones: what is larger than these becomes a text. */
static void put_unsigned(struct tm_perfetto_arguments *a, uint64_t number)
{
    char digits[24];

    if (number <= INT64_MAX) {
        a->to = tm_pb_varint(a->to, UINT_VALUE, number);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    put_literal(a, digits);
}

static tm_status put_name(struct tm_perfetto_arguments *a, tm_strid id)
{
    uint32_t iid;
    const tm_status status = tm_perfetto_number(a->names, TM_PERFETTO_STRINGS, id, &iid);

    if (status == TM_OK && !iid)
        return tm_perfetto_put_name(a->names, &a->to, STRING_VALUE, id);
    a->to = tm_pb_varint(a->to, STRING_VALUE_IID, iid);
    return status;
}

/* One that is neither an object nor a list. */
static tm_status put_scalar(struct tm_perfetto_arguments *a, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE: case TM_ARGUMENT_TRUE:
        a->to = tm_pb_varint(a->to, BOOL_VALUE, argument->type == TM_ARGUMENT_TRUE);
        return TM_OK;
    case TM_ARGUMENT_INT:
        a->to = tm_pb_varint(a->to, INT_VALUE, (uint64_t)argument->number);
        return TM_OK;
    case TM_ARGUMENT_UINT:
        put_unsigned(a, argument->value);
        return TM_OK;
    case TM_ARGUMENT_DOUBLE:
        put_real(a, argument->real);
        return TM_OK;
    case TM_ARGUMENT_NUMBER:
        put_number(a, argument);
        return TM_OK;
    case TM_ARGUMENT_TEXT:
        tm_perfetto_put_argument(a->names, &a->to, STRING_VALUE, argument->text, argument->length);
        return TM_OK;
    case TM_ARGUMENT_NAME:
        return put_name(a, (tm_strid)argument->value);
    default: /* the format has no nothing */
        put_literal(a, "null");
        return TM_OK;
    }
}

/* --- lists --- */

static bool is_list(const struct tm_argument *argument)
{
    return argument->type == TM_ARGUMENT_OBJECT || argument->type == TM_ARGUMENT_ARRAY;
}

/* The format has no empty lists: they are told as texts, and so is what lies too deep. */
static void put_no_values(struct tm_perfetto_arguments *a, bool is_array)
{
    put_literal(a, is_array ? "[]" : "{}");
}

/* The next value of a list that is wanted.
 * out: false: there is none */
static tm_status next_value(struct tm_perfetto_arguments *a, struct tm_perfetto_level *level, bool is_top,
                            struct tm_argument *argument, bool *is_found)
{
    while (tm_arguments_next(&level->rest, !level->is_array, argument)) {
        const struct tm_perfetto_key *key;

        *is_found = tm_argument_is_value(argument);
        if (*is_found && is_top && a->level == TM_ARGS_ESSENTIAL) {
            const tm_status status = know_key(a, argument->key, &key);

            if (status != TM_OK)
                return status;
            *is_found = key->is_essential;
        }
        if (*is_found)
            return TM_OK;
    }
    *is_found = false;
    return TM_OK;
}

/* Whether one more value of a depth may be. */
static inline bool take_place(struct tm_perfetto_arguments *a, size_t depth)
{
    if (!a->is_limited)
        return true;
    if (a->left[depth]) {
        a->left[depth]--;
        return true;
    }
    a->names->is_cut = true;
    return false;
}

/* The value is open: what is inside comes next. */
static void open_level(struct tm_perfetto_level *level, const struct tm_argument *argument, uint8_t *begin,
                       uint32_t object)
{
    *level = (struct tm_perfetto_level){ .rest = argument->inside, .begin = begin, .object = object,
                                         .is_array = argument->type == TM_ARGUMENT_ARRAY };
}

/* in: depth  of the value.  out: *depth  of what comes next */
static tm_status put_value(struct tm_perfetto_arguments *a, const struct tm_argument *argument, size_t *depth)
{
    struct tm_perfetto_level *const level = &a->levels[*depth];
    const unsigned field = !*depth ? EVENT_ARGUMENTS : level->is_array ? ARRAY_VALUES : DICT_ENTRIES;
    uint8_t *begin;
    tm_status status = TM_OK;

    a->count += !*depth;
    level->has_values = true;
    a->to = tm_pb_begin(a->to, field, &begin);
    if (!level->is_array)
        status = put_key(a, argument->key, level->object);
    if (status != TM_OK)
        return status;
    if (!is_list(argument)) {
        status = put_scalar(a, argument);
    } else if (argument->inside.length && *depth < TM_ARGUMENTS_DEEPEST) {
        ++*depth;
        open_level(level + 1, argument, begin, ++a->objects);
        return TM_OK;
    } else {
        a->names->is_cut |= argument->inside.length != 0;
        put_no_values(a, argument->type == TM_ARGUMENT_ARRAY);
    }
    a->to = tm_pb_end(a->to, begin);
    return status;
}

static void close_level(struct tm_perfetto_arguments *a, const struct tm_perfetto_level *level)
{
    if (!level->has_values)
        put_no_values(a, level->is_array);
    a->to = tm_pb_end(a->to, level->begin);
}

static tm_status put_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    size_t depth = 0;
    tm_status status = TM_OK;

    a->levels[0] = (struct tm_perfetto_level){ .rest = list };
    while (status == TM_OK) {
        struct tm_argument argument;
        bool is_found;

        status = next_value(a, &a->levels[depth], depth == 0, &argument, &is_found);
        if (status != TM_OK)
            break;
        if (is_found && take_place(a, depth))
            status = put_value(a, &argument, &depth);
        else if (is_found)
            a->levels[depth].rest.length = 0;
        else if (depth)
            close_level(a, &a->levels[depth--]);
        else
            break;
    }
    return status;
}

/* --- events with very many values --- */

static tm_status count_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    size_t depth = 0;
    tm_status status = TM_OK;

    a->levels[0] = (struct tm_perfetto_level){ .rest = list };
    while (status == TM_OK) {
        struct tm_argument argument;
        bool is_found;

        status = next_value(a, &a->levels[depth], depth == 0, &argument, &is_found);
        if (status != TM_OK || (!is_found && !depth))
            break;
        if (!is_found) {
            depth--;
            continue;
        }
        a->left[depth]++;
        if (is_list(&argument) && argument.inside.length && depth < TM_ARGUMENTS_DEEPEST)
            open_level(&a->levels[++depth], &argument, NULL, 0);
    }
    return status;
}

/* How many of each depth may be, where there may be more than fit: a value takes a byte at least. */
static tm_status limit(struct tm_perfetto_arguments *a, struct tm_arguments own, struct tm_arguments common)
{
    size_t left = TM_PERFETTO_VALUES_MOST - a->count;
    tm_status status;

    if (own.length + common.length <= left)
        return TM_OK;
    memset(a->left, 0, sizeof(a->left));
    status = count_list(a, own);
    if (status == TM_OK)
        status = count_list(a, common);
    for (size_t depth = 0; depth < TM_PERFETTO_DEPTHS; depth++) {
        a->left[depth] = a->left[depth] < left ? a->left[depth] : (uint32_t)left;
        left -= a->left[depth];
    }
    a->is_limited = true;
    return status;
}

static struct tm_arguments cut_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    if (list.length > TM_ARGUMENTS_MOST) {
        a->names->is_cut = true;
        list.length = TM_ARGUMENTS_MOST;
    }
    return list;
}

tm_status tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, struct tm_arguments own,
                                    struct tm_arguments common)
{
    tm_status status;

    if (a->level == TM_ARGS_NONE)
        return TM_OK;
    own = cut_list(a, own);
    common = cut_list(a, common);
    status = limit(a, own, common);
    if (status == TM_OK)
        status = put_list(a, own);
    return status == TM_OK && common.length ? put_list(a, common) : status;
}

/* --- our own --- */

static tm_status begin_own(struct tm_perfetto_arguments *a, tm_strid key, uint8_t **begin)
{
    a->count++;
    a->to = tm_pb_begin(a->to, EVENT_ARGUMENTS, begin);
    return put_key(a, key, 0);
}

tm_status tm_perfetto_put_int(struct tm_perfetto_arguments *a, tm_strid key, int64_t number)
{
    uint8_t *begin;
    const tm_status status = begin_own(a, key, &begin);

    a->to = tm_pb_end(tm_pb_varint(a->to, INT_VALUE, (uint64_t)number), begin);
    return status;
}

tm_status tm_perfetto_put_true(struct tm_perfetto_arguments *a, tm_strid key)
{
    uint8_t *begin;
    const tm_status status = begin_own(a, key, &begin);

    a->to = tm_pb_end(tm_pb_varint(a->to, BOOL_VALUE, 1), begin);
    return status;
}

tm_status tm_perfetto_put_literal(struct tm_perfetto_arguments *a, tm_strid key, const char *text)
{
    uint8_t *begin;
    const tm_status status = begin_own(a, key, &begin);

    put_literal(a, text);
    a->to = tm_pb_end(a->to, begin);
    return status;
}
