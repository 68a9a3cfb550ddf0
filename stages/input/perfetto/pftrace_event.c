/* SPDX-License-Identifier: Apache-2.0 */
/* One event on the wire.  Names and strings that come by number are handles already: their text is read again only for
 * the few facts that depend on it.  Memory: buffers of fixed size. */
#include "stages/input/perfetto/pftrace_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SCRATCH_BYTES = 96 << 10, /* texts of the facts of one event */
    FACT_TEXT_MOST = 64 << 10,
    SHAPE_MOST = 256, /* bytes of a list of numbers as text */
    DEEPEST = TM_ARGUMENTS_DEEPEST + 8,
};

/* Fields of TrackEvent, of LegacyEvent, of DebugAnnotation, of its older form for lists. */
/* clang-format off */
enum {
    DELTA_US = 1, CATEGORY_IIDS = 3, ANNOTATIONS = 4, LEGACY = 6, TYPE = 9, NAME_IID = 10, ABSOLUTE_US = 16,
    CATEGORIES = 22, NAME = 23, VALUE = 30, LOCATION = 33, LOCATION_IID = 34, REAL_VALUE = 44
};
enum {
    LEGACY_NAME_IID = 1, LEGACY_PHASE = 2, LEGACY_DURATION_US = 3, LEGACY_ID = 6, LEGACY_LOCAL_ID = 10,
    LEGACY_GLOBAL_ID = 11, LEGACY_ENCLOSING = 12, LEGACY_PID = 18, LEGACY_TID = 19
};
enum {
    A_NAME_IID = 1, A_BOOL = 2, A_UINT = 3, A_INT = 4, A_DOUBLE = 5, A_STRING = 6, A_POINTER = 7, A_NESTED = 8,
    A_JSON = 9, A_NAME = 10, A_ENTRIES = 11, A_VALUES = 12, A_STRING_IID = 17
};
enum { N_TYPE = 1, N_KEYS = 2, N_DICT_VALUES = 3, N_VALUES = 4, N_INT = 5, N_DOUBLE = 6, N_BOOL = 7, N_STRING = 8 };
enum { NESTED_DICT = 1, NESTED_ARRAY = 2 };
/* clang-format on */

struct tm_pftrace_events {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_pftrace_state *state;
    struct tm_pftrace_event *event; /* that is read */
    bool is_own;
    struct tm_arguments_builder builder;
    tm_strid key_source, key_function; /* of source locations */
    size_t scratch_used;
    char scratch[SCRATCH_BYTES];
    uint8_t list[TM_ARGUMENTS_MOST];
};

struct tm_pftrace_events *tm_pftrace_events_new(struct tm_trace *trace, struct tm_pftrace_state *state)
{
    struct tm_run *const run = trace->run;
    struct tm_pftrace_events *const e = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*e), &run->error);

    if (!e)
        return NULL;
    e->run = run;
    e->trace = trace;
    e->state = state;
    e->key_source = tm_names_put_string(trace->names, "source");
    e->key_function = tm_names_put_string(trace->names, "source_function");
    return e;
}

void tm_pftrace_events_free(struct tm_pftrace_events *e)
{
    if (e)
        tm_give(&e->run->budget, TM_ACCOUNT_INPUT, e, sizeof(*e));
}

size_t tm_pftrace_text(struct tm_pftrace_events *e, tm_strid name, char *to, size_t most)
{
    size_t length;
    const char *const text = tm_names_text(e->trace->names, name, most, &length);

    memcpy(to, text, length);
    return length;
}

/* --- members --- */

static void add_category(struct tm_pftrace_event *event, const char *text, size_t length)
{
    const size_t comma = event->category_length > 0;

    if (length + comma > sizeof(event->category) - event->category_length)
        return;
    if (comma)
        event->category[event->category_length++] = ',';
    memcpy(event->category + event->category_length, text, length);
    event->category_length += length;
}

static void take_category(struct tm_pftrace_events *e, struct tm_pftrace_event *event, uint64_t iid)
{
    struct tm_pftrace_entry entry;
    size_t length;
    const char *text;

    if (!tm_pftrace_find(e->state, TM_PFTRACE_CATEGORIES, iid, &entry)) {
        event->has_missing = true;
        return;
    }
    text = tm_names_text(e->trace->names, entry.text, TM_PFTRACE_CATEGORY_MOST, &length);
    add_category(event, text, length);
}

static void take_categories(struct tm_pftrace_events *e, struct tm_pftrace_event *event, const struct tm_field *field)
{
    struct tm_wire bytes;
    uint64_t iid;

    if ((field->key & 7) == TM_WIRE_VARINT) {
        take_category(e, event, field->value);
        return;
    }
    for (bytes = tm_wire_of(field); bytes.at < bytes.end && tm_wire_varint(&bytes, &iid);) /* packed */
        take_category(e, event, iid);
}

static void take_name(struct tm_pftrace_events *e, struct tm_pftrace_event *event, uint64_t iid)
{
    struct tm_pftrace_entry entry;

    if (!iid)
        return;
    event->is_nameless = !tm_pftrace_find(e->state, TM_PFTRACE_NAMES, iid, &entry);
    event->has_missing |= event->is_nameless;
    event->name = entry.text;
    event->traits = entry.traits;
}

static void read_legacy(struct tm_pftrace_events *e, struct tm_wire bytes, struct tm_pftrace_event *event)
{
    struct tm_field field;

    event->legacy.is_any = true;
    while (tm_wire_next(&bytes, &field)) {
        if ((field.key & 7) != TM_WIRE_VARINT)
            continue;
        switch (field.key >> TM_WIRE_TYPE_BITS) {
        case LEGACY_NAME_IID:
            take_name(e, event, field.value);
            break;
        case LEGACY_PHASE:
            event->legacy.phase = (int32_t)field.value;
            break;
        case LEGACY_DURATION_US:
            event->legacy.duration_us = (int64_t)field.value;
            break;
        case LEGACY_ID:
        case LEGACY_LOCAL_ID:
        case LEGACY_GLOBAL_ID:
            event->legacy.id = field.value;
            event->legacy.has_id = true;
            break;
        case LEGACY_ENCLOSING:
            event->legacy.is_bound_to_enclosing = field.value != 0;
            break;
        case LEGACY_PID:
            event->legacy.pid = (int32_t)field.value;
            event->legacy.has_pid = true;
            break;
        case LEGACY_TID:
            event->legacy.tid = (int32_t)field.value;
            event->legacy.has_tid = true;
            break;
        default:
            break;
        }
    }
    tm_pftrace_check_end(e->run, &bytes);
}

static void take_number(struct tm_pftrace_events *e, struct tm_pftrace_event *event, const struct tm_field *field)
{
    switch (field->key >> TM_WIRE_TYPE_BITS) {
    case TYPE:
        event->type = (uint32_t)field->value;
        break;
    case TM_PFTRACE_FIELD_TRACK:
        event->track = field->value;
        event->has_track = true;
        break;
    case NAME_IID:
        take_name(e, event, field->value);
        break;
    case VALUE:
        event->value = (int64_t)field->value;
        event->has_value = true;
        event->is_real = false;
        break;
    case DELTA_US:
        event->delta_us = (int64_t)field->value;
        event->has_delta = true;
        break;
    case ABSOLUTE_US:
        event->absolute_us = (int64_t)field->value;
        event->has_absolute = true;
        break;
    default:
        break;
    }
}

/* in: at  its first byte */
static void take_member(struct tm_pftrace_events *e, struct tm_pftrace_event *event, const struct tm_field *field,
                        const uint8_t *at)
{
    switch (field->key >> TM_WIRE_TYPE_BITS) {
    case CATEGORY_IIDS:
        take_categories(e, event, field);
        break;
    case TM_PFTRACE_FIELD_FLOWS:
    case TM_PFTRACE_FIELD_ENDING_FLOWS:
    case TM_PFTRACE_FIELD_OLD_FLOWS:
    case TM_PFTRACE_FIELD_OLD_ENDING_FLOWS:
        event->has_flows = true;
        break;
    case TM_PFTRACE_FIELD_EXTRA_VALUES:
    case TM_PFTRACE_FIELD_EXTRA_REAL_VALUES:
        event->has_extra_values = true;
        break;
    case ANNOTATIONS:
    case LOCATION:
    case LOCATION_IID:
        event->first_annotation = event->first_annotation ? event->first_annotation : at;
        break;
    case CATEGORIES:
        if ((field->key & 7) == TM_WIRE_LEN)
            add_category(event, (const char *)field->bytes, (size_t)field->value);
        break;
    case NAME:
        if ((field->key & 7) != TM_WIRE_LEN)
            break;
        event->name =
            tm_names_put_often(e->trace->names, (const char *)field->bytes, (size_t)field->value, &event->traits);
        event->is_nameless = false;
        break;
    case LEGACY:
        if ((field->key & 7) == TM_WIRE_LEN)
            read_legacy(e, tm_wire_of(field), event);
        break;
    case REAL_VALUE:
        if ((field->key & 7) != TM_WIRE_64)
            break;
        event->real = tm_wire_double(field->value);
        event->has_value = event->is_real = true;
        break;
    default:
        if ((field->key & 7) == TM_WIRE_VARINT)
            take_number(e, event, field);
    }
}

void tm_pftrace_event_read(struct tm_pftrace_events *e, struct tm_wire bytes, struct tm_pftrace_event *event)
{
    struct tm_field field;

    memset(event, 0, offsetof(struct tm_pftrace_event, category));
    memset(&event->legacy, 0, sizeof(event->legacy));
    event->category_length = 0;
    event->bytes = bytes;
    event->is_nameless = true;
    event->list = (struct tm_arguments){ .length = 0 };
    for (const uint8_t *at = bytes.at; tm_wire_next(&bytes, &field); at = bytes.at)
        take_member(e, event, &field, at);
    tm_pftrace_check_end(e->run, &bytes);
}

/* --- facts --- */

/* Facts that depend on the text itself. */
static bool is_text_needed(enum tm_stat stat)
{
    return stat == TM_STAT_LONG_NAME || stat == TM_STAT_HLO_CATEGORY || stat == TM_STAT_GRID || stat == TM_STAT_BLOCK ||
           stat == TM_STAT_ELEMENT_TYPE;
}

static void put_fact_text(struct tm_pftrace_events *e, enum tm_stat stat, const struct tm_pftrace_entry *entry)
{
    struct tm_facts *const facts = &e->event->facts;
    const size_t left = sizeof(e->scratch) - e->scratch_used;
    char *const to = e->scratch + e->scratch_used;
    size_t length;

    if (!entry->is_number && !is_text_needed(stat)) {
        tm_facts_put_ref(facts, stat, entry->text);
        return;
    }
    length = tm_pftrace_text(e, entry->text, to, left < FACT_TEXT_MOST ? left : FACT_TEXT_MOST);
    e->scratch_used += length;
    tm_facts_put_number_text(facts, stat, to, length);
}

/* --- annotations --- */

/* One as it is on the wire, but for what is inside. */
struct annotation {
    tm_strid key;
    uint8_t stat;          /* enum tm_stat */
    struct tm_field value; /* key 0 = none */
    bool is_object, is_array;
};

static tm_strid name_of_missing(struct tm_pftrace_events *e, const char *what, uint64_t iid)
{
    char text[48];

    e->event->has_missing = true;
    (void)snprintf(text, sizeof(text), "%s %" PRIu64, what, iid);
    return tm_names_put_string(e->trace->names, text);
}

static void read_annotation(struct tm_pftrace_events *e, struct tm_wire bytes, struct annotation *a)
{
    struct tm_pftrace_entry entry;
    struct tm_field field;

    *a = (struct annotation){ .key = 0 };
    while (tm_wire_next(&bytes, &field)) {
        const uint64_t number = field.key >> TM_WIRE_TYPE_BITS;

        if (field.key == TM_WIRE_KEY(A_NAME_IID, TM_WIRE_VARINT)) {
            if (tm_pftrace_find(e->state, TM_PFTRACE_KEYS, field.value, &entry)) {
                a->key = entry.text;
                a->stat = entry.stat;
            } else {
                a->key = name_of_missing(e, "name", field.value);
            }
        } else if (field.key == TM_WIRE_KEY(A_NAME, TM_WIRE_LEN)) {
            a->key = tm_names_put(e->trace->names, (const char *)field.bytes, (size_t)field.value);
            a->stat = (uint8_t)tm_argument_of((const char *)field.bytes, (size_t)field.value);
        } else if (field.key == TM_WIRE_KEY(A_ENTRIES, TM_WIRE_LEN)) {
            a->is_object = true;
        } else if (field.key == TM_WIRE_KEY(A_VALUES, TM_WIRE_LEN)) {
            a->is_array = true;
        } else if ((number >= A_BOOL && number <= A_JSON) || number == A_STRING_IID) {
            a->value = field;
        }
    }
    tm_pftrace_check_end(e->run, &bytes);
}

/* Without arguments no string becomes a name. */
static void put_text(struct tm_pftrace_events *e, tm_strid key, const char *text, size_t length)
{
    if (e->trace->keeps_arguments)
        tm_put_text(&e->builder, key, text, length);
}

static void put_pointer(struct tm_pftrace_events *e, tm_strid key, uint64_t pointer)
{
    char text[24];
    const int length = snprintf(text, sizeof(text), "0x%" PRIx64, pointer);

    put_text(e, key, text, (size_t)length);
}

static void put_string_iid(struct tm_pftrace_events *e, const struct annotation *a, bool is_top)
{
    struct tm_pftrace_entry entry;

    if (!tm_pftrace_find(e->state, TM_PFTRACE_STRINGS, a->value.value, &entry)) {
        tm_put_name(&e->builder, a->key, name_of_missing(e, "string", a->value.value));
        return;
    }
    tm_put_name(&e->builder, a->key, entry.text);
    if (is_top && a->stat)
        put_fact_text(e, (enum tm_stat)a->stat, &entry);
}

/* A number as the value and as the fact. */
static void put_whole(struct tm_pftrace_events *e, const struct annotation *a, int64_t number, bool is_top)
{
    if (is_top && a->stat)
        tm_facts_put_int(&e->event->facts, (enum tm_stat)a->stat, number);
}

/* The older form of lists.  They nest up to some depth. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEEPEST */
static void put_nested(struct tm_pftrace_events *e, struct tm_wire bytes, tm_strid key, int depth)
{
    struct tm_wire keys = bytes, values = bytes;
    struct tm_field field, name;
    uint64_t type = 0;

    for (struct tm_wire all = bytes; tm_wire_next(&all, &field);) {
        switch (field.key) {
        case TM_WIRE_KEY(N_TYPE, TM_WIRE_VARINT):
            type = field.value;
            break;
        case TM_WIRE_KEY(N_INT, TM_WIRE_VARINT):
            tm_put_int(&e->builder, key, (int64_t)field.value);
            return;
        case TM_WIRE_KEY(N_DOUBLE, TM_WIRE_64):
            tm_put_double(&e->builder, key, tm_wire_double(field.value));
            return;
        case TM_WIRE_KEY(N_BOOL, TM_WIRE_VARINT):
            tm_put_bool(&e->builder, key, field.value != 0);
            return;
        case TM_WIRE_KEY(N_STRING, TM_WIRE_LEN):
            put_text(e, key, (const char *)field.bytes, (size_t)field.value);
            return;
        default:
            break;
        }
    }
    if ((type != NESTED_DICT && type != NESTED_ARRAY) || depth >= DEEPEST) {
        e->builder.is_cut |= depth >= DEEPEST;
        tm_put_null(&e->builder, key);
        return;
    }
    if (type == NESTED_DICT)
        tm_put_object(&e->builder, key);
    else
        tm_put_array(&e->builder, key);
    while (tm_wire_next(&values, &field)) {
        if (field.key != TM_WIRE_KEY(type == NESTED_DICT ? N_DICT_VALUES : N_VALUES, TM_WIRE_LEN))
            continue;
        do {
            if (type != NESTED_DICT || !tm_wire_next(&keys, &name))
                name.key = 0;
        } while (name.key && name.key != TM_WIRE_KEY(N_KEYS, TM_WIRE_LEN));
        put_nested(e, tm_wire_of(&field),
                   name.key ? tm_names_put(e->trace->names, (const char *)name.bytes, (size_t)name.value) : 0,
                   depth + 1);
    }
    tm_put_close(&e->builder);
}

static void put_scalar(struct tm_pftrace_events *e, const struct annotation *a, bool is_top)
{
    struct tm_arguments_builder *const b = &e->builder;
    struct tm_facts *const facts = &e->event->facts;
    const struct tm_field *const value = &a->value;

    switch (value->key) {
    case TM_WIRE_KEY(A_BOOL, TM_WIRE_VARINT):
        tm_put_bool(b, a->key, value->value != 0);
        break;
    case TM_WIRE_KEY(A_UINT, TM_WIRE_VARINT):
        tm_put_uint(b, a->key, value->value);
        put_whole(e, a, (int64_t)value->value, is_top);
        break;
    case TM_WIRE_KEY(A_INT, TM_WIRE_VARINT):
        tm_put_int(b, a->key, (int64_t)value->value);
        put_whole(e, a, (int64_t)value->value, is_top);
        break;
    case TM_WIRE_KEY(A_DOUBLE, TM_WIRE_64):
        tm_put_double(b, a->key, tm_wire_double(value->value));
        if (is_top && a->stat)
            tm_facts_put_double(facts, (enum tm_stat)a->stat, tm_wire_double(value->value));
        break;
    case TM_WIRE_KEY(A_STRING, TM_WIRE_LEN):
    case TM_WIRE_KEY(A_JSON, TM_WIRE_LEN):
        put_text(e, a->key, (const char *)value->bytes, (size_t)value->value);
        if (is_top && a->stat)
            tm_facts_put_number_text(facts, (enum tm_stat)a->stat, (const char *)value->bytes, (size_t)value->value);
        break;
    case TM_WIRE_KEY(A_STRING_IID, TM_WIRE_VARINT):
        put_string_iid(e, a, is_top);
        break;
    case TM_WIRE_KEY(A_POINTER, TM_WIRE_VARINT):
        put_pointer(e, a->key, value->value);
        put_whole(e, a, (int64_t)value->value, is_top);
        break;
    case TM_WIRE_KEY(A_NESTED, TM_WIRE_LEN):
        put_nested(e, tm_wire_of(value), a->key, 1);
        break;
    default: /* it has no value, or one of another wire type */
        tm_put_null(b, a->key);
    }
}

/* A list of integers as facts have it: "[8, 1, 1]". */
static void put_shape(struct tm_pftrace_events *e, struct tm_wire bytes, enum tm_stat stat)
{
    const size_t left = sizeof(e->scratch) - e->scratch_used;
    char *const text = e->scratch + e->scratch_used;
    struct annotation inside;
    struct tm_field field;
    size_t used = 0;

    if (left < SHAPE_MOST)
        return;
    while (tm_wire_next(&bytes, &field) && used < SHAPE_MOST - 32) {
        if (field.key != TM_WIRE_KEY(A_VALUES, TM_WIRE_LEN))
            continue;
        read_annotation(e, tm_wire_of(&field), &inside);
        used += (size_t)snprintf(text + used, SHAPE_MOST - used, "%s%" PRId64, used ? ", " : "[",
                                 (int64_t)inside.value.value);
    }
    text[used++] = ']';
    e->scratch_used += used;
    tm_facts_put_text(&e->event->facts, stat, text, used);
}

/* The mark of a slice without an end, which is restored. */
static bool is_unfinished_mark(struct tm_pftrace_events *e, const struct annotation *a)
{
    static const char mark[] = "tracemill_unfinished";
    const char *text;
    size_t length;

    if (!e->is_own || a->value.key != TM_WIRE_KEY(A_BOOL, TM_WIRE_VARINT))
        return false;
    text = tm_names_text(e->trace->names, a->key, sizeof(mark), &length);
    return length == sizeof(mark) - 1 && memcmp(text, mark, length) == 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEEPEST */
static void put_annotation(struct tm_pftrace_events *e, struct tm_wire bytes, bool is_inside_array, int depth)
{
    struct annotation a;
    struct tm_field field;

    read_annotation(e, bytes, &a);
    if (is_inside_array)
        a.key = 0;
    if (!depth && is_unfinished_mark(e, &a)) {
        e->event->is_unfinished = true;
        return;
    }
    if (!a.is_object && !a.is_array) {
        put_scalar(e, &a, !depth);
        return;
    }
    if (depth >= DEEPEST) {
        e->builder.is_cut = true;
        return;
    }
    if (!depth && a.stat && a.is_array)
        put_shape(e, bytes, (enum tm_stat)a.stat);
    if (a.is_object)
        tm_put_object(&e->builder, a.key);
    else
        tm_put_array(&e->builder, a.key);
    while (tm_wire_next(&bytes, &field))
        if (field.key == TM_WIRE_KEY(a.is_object ? A_ENTRIES : A_VALUES, TM_WIRE_LEN))
            put_annotation(e, tm_wire_of(&field), !a.is_object, depth + 1);
    tm_put_close(&e->builder);
}

/* "file.cc:12", as other inputs have it. */
static void put_location(struct tm_pftrace_events *e, const struct tm_pftrace_entry *entry)
{
    char text[1024];
    size_t length = tm_pftrace_text(e, entry->text, text, sizeof(text) - 16);

    if (entry->text) {
        if (entry->line)
            length += (size_t)snprintf(text + length, sizeof(text) - length, ":%" PRIu32, entry->line);
        put_text(e, e->key_source, text, length);
        tm_facts_put_ref(&e->event->facts, TM_STAT_SOURCE, tm_names_put(e->trace->names, text, length));
    }
    if (entry->function)
        tm_put_name(&e->builder, e->key_function, entry->function);
}

static void say_field(struct tm_pftrace_events *e, const struct tm_field *field)
{
    struct tm_pftrace_entry entry;

    switch (field->key) {
    case TM_WIRE_KEY(ANNOTATIONS, TM_WIRE_LEN):
        put_annotation(e, tm_wire_of(field), false, 0);
        break;
    case TM_WIRE_KEY(LOCATION, TM_WIRE_LEN):
        tm_pftrace_location(e->state, tm_wire_of(field), &entry);
        put_location(e, &entry);
        break;
    case TM_WIRE_KEY(LOCATION_IID, TM_WIRE_VARINT):
        if (tm_pftrace_find(e->state, TM_PFTRACE_LOCATIONS, field->value, &entry))
            put_location(e, &entry);
        else
            e->event->has_missing = true;
        break;
    default:
        break;
    }
}

/* --- integers --- */

enum { NUMBER_BYTES_MOST = 9 }; /* every number of at most this many bytes is valid */

/* in: begin  of the event */
static struct tm_pftrace_number number_of(struct tm_pftrace_events *e, struct tm_wire bytes, const uint8_t *begin)
{
    struct tm_pftrace_number number = { .at = 0 };
    const uint8_t *value;
    struct annotation a;
    struct tm_field field;

    read_annotation(e, bytes, &a);
    number.stat = a.stat;
    if (!tm_wire_next(&bytes, &field) || field.key != TM_WIRE_KEY(A_NAME_IID, TM_WIRE_VARINT))
        return number;
    value = bytes.at + 1;
    if (!tm_wire_next(&bytes, &field) || bytes.at != bytes.end || value >= bytes.end ||
        bytes.end - value > NUMBER_BYTES_MOST)
        return number;
    if (field.key != TM_WIRE_KEY(A_UINT, TM_WIRE_VARINT) && field.key != TM_WIRE_KEY(A_INT, TM_WIRE_VARINT) &&
        field.key != TM_WIRE_KEY(A_POINTER, TM_WIRE_VARINT))
        return number;
    number.at = (uint16_t)(value - begin);
    number.bytes = (uint8_t)(bytes.end - value);
    return number;
}

size_t tm_pftrace_event_numbers(struct tm_pftrace_events *e, const struct tm_pftrace_event *event,
                                struct tm_pftrace_number *numbers)
{
    struct tm_wire bytes = event->bytes;
    struct tm_field field;
    size_t count = 0;

    while (tm_wire_next(&bytes, &field)) {
        const bool is_flow = field.key == TM_WIRE_KEY(TM_PFTRACE_FIELD_FLOWS, TM_WIRE_64) ||
                             field.key == TM_WIRE_KEY(TM_PFTRACE_FIELD_ENDING_FLOWS, TM_WIRE_64);

        if (!is_flow && field.key != TM_WIRE_KEY(ANNOTATIONS, TM_WIRE_LEN))
            continue;
        if (count == TM_PFTRACE_NUMBERS_MOST)
            return SIZE_MAX;
        numbers[count++] = is_flow ? (struct tm_pftrace_number){ .at = (uint16_t)(bytes.at - 8 - event->bytes.at),
                                                                 .bytes = 8,
                                                                 .is_flow = true }
                                   : number_of(e, tm_wire_of(&field), event->bytes.at);
    }
    return count;
}

enum { SEED_PERFETTO = 0x7066 }; /* configs of different inputs are made from different strings */

void tm_pftrace_event_say(struct tm_pftrace_events *e, bool is_own, struct tm_pftrace_event *event)
{
    struct tm_wire bytes = event->bytes;
    struct tm_field field;

    e->event = event;
    e->is_own = is_own;
    e->scratch_used = 0;
    event->is_unfinished = false;
    tm_facts_begin(&event->facts, SEED_PERFETTO);
    tm_arguments_begin(&e->builder, e->trace->names, e->list, e->trace->keeps_arguments ? sizeof(e->list) : 0);
    if (event->category_length && event->type != TM_PFTRACE_END)
        tm_put_event_text(&e->builder, TM_ARGUMENT_CATEGORY, event->category, event->category_length);
    bytes.at = event->first_annotation;
    while (event->first_annotation && tm_wire_next(&bytes, &field))
        say_field(e, &field);
    event->list = tm_arguments_end(&e->builder);
    if (e->trace->keeps_arguments)
        tm_tally_add(&e->run->tallies, TM_TALLY_LONG_ARGUMENTS, e->builder.is_cut);
    else
        event->list.length = 0;
}
