/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of packets, and arguments as debug annotations, which are written as they are read: objects and lists inside
 * are walked with a stack, and get their length when they end.  Of an event with more values than allowed, the outer
 * ones come first, so its values are counted by depth before. */
#include "stages/output/perfetto/perfetto_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/strings.h"
#include "stages/output/file/out_file.h"

/* --- strings ---
 * Tables of frequent ones, open addressing by the hash of the text.  A cache by handle precedes each table, one entry
 * per slot, so most lookups do not access the run's names.  Memory: fixed.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event, interning */

static const uint8_t table_bits[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = TM_PERFETTO_CATEGORY_BITS,
    [TM_PERFETTO_NAMES] = TM_PERFETTO_NAME_BITS,
    [TM_PERFETTO_KEYS] = TM_PERFETTO_KEY_BITS,
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_STRING_BITS,
};

static const size_t table_at[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_NAMES] = 1 << TM_PERFETTO_CATEGORY_BITS,
    [TM_PERFETTO_KEYS] = (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS),
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_SLOTS - (1 << TM_PERFETTO_STRING_BITS),
};

static const uint32_t fresh_most[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = 1,
    [TM_PERFETTO_NAMES] = 1,
    [TM_PERFETTO_KEYS] = TM_PERFETTO_FRESH_KEYS,
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_FRESH_STRINGS,
};

/* Fields of InternedData; of its entries. */
static const uint8_t table_field[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = 1,
    [TM_PERFETTO_NAMES] = 2,
    [TM_PERFETTO_KEYS] = 3,
    [TM_PERFETTO_STRINGS] = 29,
};

enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };

void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names)
{
    n->names = names;
    n->seed = tm_hash_seed(n);
}

void tm_perfetto_names_clear(struct tm_perfetto_names *n)
{
    n->tables++;
    memset(n->count, 0, sizeof(n->count));
    memset(n->slots, 0, sizeof(n->slots));
    memset(n->guesses, 0, sizeof(n->guesses));
}

/* --- strings: fields --- */

static bool is_plain(const char *text, size_t length)
{
    return tm_utf8_is_valid(text, length) && !memchr(text, '\0', length);
}

/* No room: the text is left out. */
static size_t lose(struct tm_perfetto_names *n)
{
    n->is_cut = true;
    return SIZE_MAX;
}

/* The text in valid UTF-8.
 * in: is_counted  even if it is valid as it is
 * out: bytes written; SIZE_MAX: none, since there is no room */
static size_t make_valid(struct tm_perfetto_names *n, uint8_t *to, const char *text, size_t length, bool is_counted)
{
    const size_t left = TM_PERFETTO_COPIED_MOST - n->copied;

    if (length > TM_PERFETTO_TEXT_MOST) {
        n->is_cut = true;
        length = TM_PERFETTO_TEXT_MOST;
    }
    if (!length)
        return 0;
    if (is_plain(text, length)) {
        if (is_counted && length > left)
            return lose(n);
        n->copied += is_counted ? length : 0;
        memcpy(to, text, length);
        return length;
    }
    if (length > left / TM_UTF8_REPLACEMENT_BYTES)
        return lose(n);
    length = tm_out_utf8((char *)to, text, length);
    n->copied += length;
    return length;
}

/* The text is made where it is if its length takes one byte, and moves otherwise. */
static void put_valid(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length,
                      bool is_counted)
{
    uint8_t *begin;
    uint8_t *const at = tm_pb_begin(*to, field, &begin);
    const size_t bytes = make_valid(n, at, text, length, is_counted);

    *to = tm_pb_end(at + (bytes == SIZE_MAX ? 0 : bytes), begin);
}

/* A string field of bytes of an event's arguments, which count only if they are not valid.
 * in: *to  room for them besides */
static void put_argument_text(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text,
                              size_t length)
{
    put_valid(n, to, field, text, length, false);
}

void tm_perfetto_put_text(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length)
{
    put_valid(n, to, field, text, length, true);
}

void tm_perfetto_put_name(struct tm_perfetto_names *n, uint8_t **to, unsigned field, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(n->names, id, TM_PERFETTO_TEXT_MOST + 1, &length);

    put_valid(n, to, field, text, length, true);
}

ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *text, size_t length)
{
    uint8_t *const to = n->fresh + n->copied;
    const size_t bytes = make_valid(n, to, text, length, true);

    return bytes == SIZE_MAX ? (ProtobufCBinaryData){ 0, NULL } : (ProtobufCBinaryData){ bytes, to };
}

ProtobufCBinaryData tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(n->names, id, TM_PERFETTO_TEXT_MOST + 1, &length);

    return tm_perfetto_copy(n, text, length);
}

/* --- strings: tables --- */

static bool ends_text(const void *at, const void *key)
{
    const struct tm_perfetto_slot *const slot = at;

    return !slot->iid || tm_is_same_key(slot->key, *(const struct tm_key *)key);
}

/* The slot of a string: its own, or the empty one where it belongs. */
static struct tm_perfetto_slot *find_slot(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key)
{
    return tm_probe(n->slots + table_at[table], (size_t)1 << table_bits[table], sizeof(*n->slots),
                    tm_hash_mix(key.low, n->seed), &key, ends_text);
}

/* An entry that this packet adds, unless there is no room for its text. */
static void put_entry(struct tm_perfetto_names *n, enum tm_perfetto_table table, uint32_t iid, tm_strid id)
{
    const bool was_cut = n->is_cut;
    uint8_t *begin, *to = tm_pb_begin(n->fresh + n->fresh_used, table_field[table], &begin);

    n->is_cut = false;
    to = tm_pb_varint(to, ENTRY_IID, iid);
    tm_perfetto_put_name(n, &to, ENTRY_TEXT, id);
    if (!n->is_cut)
        n->fresh_used = (size_t)(tm_pb_end(to, begin) - n->fresh);
    n->is_cut |= was_cut;
}

/* Give a string the next number of a table.
 * out: 0: it has to be where it is used */
static uint32_t add(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key, tm_strid id)
{
    const uint32_t most = 3u << table_bits[table] >> 2;
    const size_t used = n->fresh_used;

    if (n->fresh_count[table] == fresh_most[table])
        return 0;
    if (n->count[table] == most) {
        n->is_full = true;
        return 0;
    }
    put_entry(n, table, n->count[table] + 1, id);
    if (n->fresh_used == used)
        return 0;
    n->fresh_count[table]++;
    n->count[table]++;
    *find_slot(n, table, key) = (struct tm_perfetto_slot){ key, n->count[table] };
    return n->count[table];
}

uint32_t tm_perfetto_find(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id)
{
    const struct tm_name name = tm_names_info(n->names, id);
    uint32_t iid = find_slot(n, table, name.hash)->iid;

    if (!iid && name.length <= TM_PERFETTO_INTERNED_MOST)
        iid = add(n, table, name.hash, id);
    if (iid)
        *tm_perfetto_guess(n, table, id) = (struct tm_perfetto_guess){ id, iid };
    return iid;
}

enum {
    NUMBER_MOST = 4096, /* bytes of a number as it was written; longer ones stay strings */
    KEY_MOST = 480,     /* bytes of a key that comes again; what is longer is cut */
};

/* Fields of TrackEvent and of DebugAnnotation. */
enum { EVENT_ARGUMENTS = 4 };
/* clang-format off */
enum {
    NAME_IID = 1, BOOL_VALUE = 2, UINT_VALUE = 3, INT_VALUE = 4, DOUBLE_VALUE = 5, STRING_VALUE = 6, NAME = 10,
    DICT_ENTRIES = 11, ARRAY_VALUES = 12, STRING_VALUE_IID = 17
};
/* clang-format on */

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

/* --- arguments: their names --- */

/* Viewers treat '.', '[' and ']' in a key as '_', so two keys may become one. */
static uint64_t hash_shown(const char *text, size_t length)
{
    char shown[KEY_MOST];

    if (length > sizeof(shown))
        return tm_json_key_hash(text, length);
    for (size_t i = 0; i < length; i++)
        shown[i] = text[i] == '.' || text[i] == '[' || text[i] == ']' ? '_' : text[i];
    return tm_json_key_hash(shown, length);
}

static void learn_key(struct tm_perfetto_arguments *a, struct tm_perfetto_key *key, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(a->names->names, id, TM_PERFETTO_TEXT_MOST, &length);

    *key = (struct tm_perfetto_key){ id, tm_is_essential_argument(text, length), hash_shown(text, length) };
}

static inline const struct tm_perfetto_key *know_key(struct tm_perfetto_arguments *a, tm_strid id)
{
    struct tm_perfetto_key *const key = &a->keys[id % TM_PERFETTO_KNOWN_KEYS];

    if (key->id != id || !id)
        learn_key(a, key, id);
    return key;
}

/* "key (2)": of values of one name viewers keep the last one only. */
static void put_numbered_key(struct tm_perfetto_arguments *a, tm_strid key, uint64_t number)
{
    char text[KEY_MOST + 32];
    size_t length;
    const char *const plain = tm_names_text(a->names->names, key, TM_PERFETTO_TEXT_MOST + 1, &length);
    size_t used = length < KEY_MOST ? length : KEY_MOST;

    a->names->is_cut |= used < length;
    memcpy(text, plain, used);
    used += (size_t)snprintf(text + used, sizeof(text) - used, " (%" PRIu64 ")", number);
    tm_perfetto_put_text(a->names, &a->to, NAME, text, used);
}

/* A string by its number, or as it is. */
static void put_by_number(struct tm_perfetto_arguments *a, enum tm_perfetto_table table, tm_strid id,
                          unsigned iid_field, unsigned text_field)
{
    const uint32_t iid = tm_perfetto_number(a->names, table, id);

    if (iid)
        a->to = tm_pb_varint(a->to, iid_field, iid);
    else
        tm_perfetto_put_name(a->names, &a->to, text_field, id);
}

/* in: object  of the event that it is a key of; its arguments: 0 */
static void put_key(struct tm_perfetto_arguments *a, tm_strid id, uint32_t object)
{
    const struct tm_perfetto_key *const key = know_key(a, id);
    const uint64_t number = tm_json_keys_take(&a->seen, key->hash, object);

    if (number)
        put_numbered_key(a, id, number);
    else
        put_by_number(a, TM_PERFETTO_KEYS, id, NAME_IID, NAME);
}

/* --- arguments: values --- */

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
        put_argument_text(a->names, &a->to, STRING_VALUE, argument->text, argument->length);
}

/* Viewers read unsigned numbers as signed ones: what is larger than these becomes a string. */
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

/* One that is neither an object nor a list. */
static void put_scalar(struct tm_perfetto_arguments *a, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE:
    case TM_ARGUMENT_TRUE:
        a->to = tm_pb_varint(a->to, BOOL_VALUE, argument->type == TM_ARGUMENT_TRUE);
        break;
    case TM_ARGUMENT_INT:
        a->to = tm_pb_varint(a->to, INT_VALUE, (uint64_t)argument->number);
        break;
    case TM_ARGUMENT_UINT:
        put_unsigned(a, argument->value);
        break;
    case TM_ARGUMENT_DOUBLE:
        put_real(a, argument->real);
        break;
    case TM_ARGUMENT_NUMBER:
        put_number(a, argument);
        break;
    case TM_ARGUMENT_TEXT:
        put_argument_text(a->names, &a->to, STRING_VALUE, argument->text, argument->length);
        break;
    case TM_ARGUMENT_NAME:
        put_by_number(a, TM_PERFETTO_STRINGS, (tm_strid)argument->value, STRING_VALUE_IID, STRING_VALUE);
        break;
    default: /* the format has no null */
        put_literal(a, "null");
    }
}

/* --- arguments: lists --- */

static bool is_list(const struct tm_argument *argument)
{
    return argument->type == TM_ARGUMENT_OBJECT || argument->type == TM_ARGUMENT_ARRAY;
}

/* The format has no empty lists: they are written as strings, and so are lists that are nested too deeply. */
static void put_no_values(struct tm_perfetto_arguments *a, bool is_array)
{
    put_literal(a, is_array ? "[]" : "{}");
}

/* Whether a node of the event is an argument, and one that is written. */
static bool is_wanted(struct tm_perfetto_arguments *a, const struct tm_argument *argument)
{
    if (!tm_argument_is_value(argument))
        return false;
    return a->level != TM_ARGS_ESSENTIAL || know_key(a, argument->key)->is_essential;
}

/* The next value inside an object or a list. */
static bool next_inside(struct tm_perfetto_level *level, struct tm_argument *argument)
{
    while (tm_arguments_next(&level->rest, !level->is_array, argument))
        if (tm_argument_is_value(argument))
            return true;
    return false;
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
    *level = (struct tm_perfetto_level){
        .rest = argument->inside, .begin = begin, .object = object, .is_array = argument->type == TM_ARGUMENT_ARRAY
    };
}

/* in: depth  of the value.  out: *depth  of what comes next */
static void put_value(struct tm_perfetto_arguments *a, const struct tm_argument *argument, size_t *depth)
{
    struct tm_perfetto_level *const level = &a->levels[*depth];
    const unsigned field = !*depth ? EVENT_ARGUMENTS : level->is_array ? ARRAY_VALUES : DICT_ENTRIES;
    uint8_t *begin;

    a->count += !*depth;
    level->has_values = true;
    a->to = tm_pb_begin(a->to, field, &begin);
    if (!level->is_array)
        put_key(a, argument->key, level->object);
    if (!is_list(argument)) {
        put_scalar(a, argument);
    } else if (argument->inside.length && *depth < TM_ARGUMENTS_DEEPEST) {
        ++*depth;
        open_level(level + 1, argument, begin, ++a->objects);
        return;
    } else {
        a->names->is_cut |= argument->inside.length != 0;
        put_no_values(a, argument->type == TM_ARGUMENT_ARRAY);
    }
    a->to = tm_pb_end(a->to, begin);
}

static void close_level(struct tm_perfetto_arguments *a, const struct tm_perfetto_level *level)
{
    if (!level->has_values)
        put_no_values(a, level->is_array);
    a->to = tm_pb_end(a->to, level->begin);
}

/* Put the contents of the last value, down to the deepest. */
static void put_inside(struct tm_perfetto_arguments *a, size_t depth)
{
    while (depth) {
        struct tm_argument argument;
        const bool is_found = next_inside(&a->levels[depth], &argument);

        if (is_found && take_place(a, depth))
            put_value(a, &argument, &depth);
        else if (is_found)
            a->levels[depth].rest.length = 0;
        else
            close_level(a, &a->levels[depth--]);
    }
}

/* An argument of the event, with all that is inside of it. */
static void put_argument(struct tm_perfetto_arguments *a, const struct tm_argument *argument)
{
    size_t depth = 0;

    put_value(a, argument, &depth);
    put_inside(a, depth);
}

static void put_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument)) {
        if (!is_wanted(a, &argument))
            continue;
        if (!take_place(a, 0))
            break;
        put_argument(a, &argument);
    }
}

/* --- events with very many values --- */

/* Count the contents of a value, by depth. */
static void count_inside(struct tm_perfetto_arguments *a, const struct tm_argument *value)
{
    size_t depth = 1;

    open_level(&a->levels[depth], value, NULL, 0);
    while (depth) {
        struct tm_argument argument;

        if (!next_inside(&a->levels[depth], &argument)) {
            depth--;
            continue;
        }
        a->left[depth]++;
        if (is_list(&argument) && argument.inside.length && depth < TM_ARGUMENTS_DEEPEST)
            open_level(&a->levels[++depth], &argument, NULL, 0);
    }
}

static void count_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument)) {
        if (!is_wanted(a, &argument))
            continue;
        a->left[0]++;
        if (is_list(&argument) && argument.inside.length)
            count_inside(a, &argument);
    }
}

/* The number of values allowed at each depth, if there may be more than fit: a value takes a byte at least. */
static void limit(struct tm_perfetto_arguments *a, struct tm_arguments own, struct tm_arguments common)
{
    size_t left = TM_PERFETTO_VALUES_MOST - a->count;

    if (own.length + common.length <= left)
        return;
    memset(a->left, 0, sizeof(a->left));
    count_list(a, own);
    count_list(a, common);
    for (size_t depth = 0; depth < TM_PERFETTO_DEPTHS; depth++) {
        a->left[depth] = a->left[depth] < left ? a->left[depth] : (uint32_t)left;
        left -= a->left[depth];
    }
    a->is_limited = true;
}

static struct tm_arguments cut_list(struct tm_perfetto_arguments *a, struct tm_arguments list)
{
    if (list.length > TM_ARGUMENTS_MOST) {
        a->names->is_cut = true;
        list.length = TM_ARGUMENTS_MOST;
    }
    return list;
}

static void put_lists(struct tm_perfetto_arguments *a, struct tm_arguments own, struct tm_arguments common)
{
    own = cut_list(a, own);
    common = cut_list(a, common);
    limit(a, own, common);
    put_list(a, own);
    put_list(a, common);
}

int tm_perfetto_arguments_add_template(struct tm_perfetto_arguments *a, const struct tm_argument_template *template,
                                       const uint8_t *from, struct tm_cached_hole *holes)
{
    struct tm_arguments list = { .bytes = template->list, .length = template->length };
    struct tm_argument argument;
    int count = 0;

    while (tm_arguments_next(&list, true, &argument)) {
        const uint8_t *const at = a->to;
        const bool is_hole = count < template->holes && template->list + template->hole_at[count] + 1 == list.bytes,
                   is_left = !is_wanted(a, &argument);

        if (!is_left)
            put_argument(a, &argument);
        if (a->to - from > TM_KNOWN_START_MOST)
            return -1;
        if (!is_hole)
            continue;
        if (!is_left && a->to - at > INT8_MAX) /* its length takes more than a byte */
            return -1;
        holes[count++] = (struct tm_cached_hole){
            .end = (uint16_t)(a->to - from - !is_left),
            .is_left = is_left,
            .back = is_left ? 0 : (uint8_t)(a->to - at - 2),
        };
    }
    return count;
}

void tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, const struct tm_out_event *event)
{
    uint8_t whole[TM_TEMPLATE_WHOLE_MOST];

    if (a->level != TM_ARGS_NONE)
        put_lists(a, tm_out_own(event, whole), event->common);
}

/* --- our own --- */

static void begin_own(struct tm_perfetto_arguments *a, tm_strid key, uint8_t **begin)
{
    a->count++;
    a->to = tm_pb_begin(a->to, EVENT_ARGUMENTS, begin);
    put_key(a, key, 0);
}

void tm_perfetto_put_int(struct tm_perfetto_arguments *a, tm_strid key, int64_t number)
{
    uint8_t *begin;

    begin_own(a, key, &begin);
    a->to = tm_pb_end(tm_pb_varint(a->to, INT_VALUE, (uint64_t)number), begin);
}

void tm_perfetto_put_true(struct tm_perfetto_arguments *a, tm_strid key)
{
    uint8_t *begin;

    begin_own(a, key, &begin);
    a->to = tm_pb_end(tm_pb_varint(a->to, BOOL_VALUE, 1), begin);
}

void tm_perfetto_put_literal(struct tm_perfetto_arguments *a, tm_strid key, const char *text)
{
    uint8_t *begin;

    begin_own(a, key, &begin);
    put_literal(a, text);
    a->to = tm_pb_end(a->to, begin);
}
