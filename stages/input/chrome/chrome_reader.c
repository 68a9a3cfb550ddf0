/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Chrome traces: its memory, which is fixed, and which engine it runs on. */
#include "stages/input/chrome/chrome_reader.h"

#include <string.h>

#include "stages/input/bytes/input_file.h"
#include "stages/input/chrome/chrome_template.h"
#include "stages/input/chrome/json_walk.h"

bool tm_json_engine_works(enum tm_json_engine engine)
{
    switch (engine) {
    case TM_JSON_BEST:
    case TM_JSON_PLAIN:
        return true;
#ifdef __x86_64__
    case TM_JSON_SSE2:
        return true;
    case TM_JSON_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#endif
#ifdef __AARCH64EL__
    case TM_JSON_NEON:
        return true;
#endif
    default:
        return false;
    }
}

static const struct tm_chrome_engine *choose_engine(enum tm_json_engine engine)
{
#ifdef __x86_64__
    if ((engine == TM_JSON_AVX2 || engine == TM_JSON_BEST) && tm_json_engine_works(TM_JSON_AVX2))
        return &tm_chrome_engine_avx2;
    if (engine == TM_JSON_SSE2 || engine == TM_JSON_BEST)
        return &tm_chrome_engine_sse2;
#endif
#ifdef __AARCH64EL__
    if (engine == TM_JSON_NEON || engine == TM_JSON_BEST)
        return &tm_chrome_engine_neon;
#endif
    (void)engine;
    return &tm_chrome_engine_plain;
}

static size_t window_bytes(const struct tm_chrome_options *options)
{
    const size_t bytes = options && options->window_bytes ? options->window_bytes : TM_JSON_WINDOW_DEFAULT;

    return bytes < TM_JSON_WINDOW_LEAST ? TM_JSON_WINDOW_LEAST : bytes;
}

static tm_status open_memory(struct tm_chrome_reader *reader, const struct tm_chrome_options *options)
{
    const size_t bytes = window_bytes(options);
    const tm_status st = tm_json_window_open(&reader->window, bytes);

    if (st != TM_OK)
        return st;
    reader->templates = tm_chrome_templates_new(reader->run);
    if (!reader->templates)
        return reader->run->error.status;
    reader->side = tm_take(&reader->run->budget, TM_ACCOUNT_INPUT, bytes + TM_JSON_PADDING, &reader->run->error);
    return reader->side ? TM_OK : reader->run->error.status;
}

struct tm_chrome_reader *tm_chrome_reader_new(struct tm_run *run, struct tm_input *input,
                                              const struct tm_chrome_options *options)
{
    struct tm_chrome_reader *const reader =
        tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(struct tm_chrome_reader), &run->error);

    if (!reader)
        return NULL;
    reader->run = run;
    reader->engine = choose_engine(options ? options->engine : TM_JSON_BEST);
    reader->header.rank = reader->header.world_size = -1;
    reader->window = (struct tm_json_window){
        .run = run,
        .input = input,
        .read_bytes = options && options->read_bytes ? options->read_bytes : SIZE_MAX,
        .moved = tm_chrome_moved,
        .outgrown = tm_chrome_outgrown,
        .to = reader,
    };
    if (open_memory(reader, options) != TM_OK) {
        tm_chrome_reader_free(reader);
        return NULL;
    }
    reader->at = reader->window.buffer;
    return reader;
}

void tm_chrome_reader_free(struct tm_chrome_reader *reader)
{
    struct tm_budget *budget;

    if (!reader)
        return;
    budget = &reader->run->budget;
    tm_give(budget, TM_ACCOUNT_METADATA, reader->header.devices,
            reader->device_capacity * sizeof(*reader->header.devices));
    if (reader->side)
        tm_give(budget, TM_ACCOUNT_INPUT, reader->side, reader->window.capacity + TM_JSON_PADDING);
    tm_chrome_templates_free(reader->templates, reader->run);
    tm_json_window_close(&reader->window);
    tm_give(budget, TM_ACCOUNT_INPUT, reader, sizeof(*reader));
}

static bool chrome_document_next(struct tm_chrome_reader *reader);
static const uint8_t *chrome_header_member(struct tm_chrome_reader *reader, struct tm_json_slice key,
                                           const uint8_t *at);

tm_status tm_chrome_next(struct tm_chrome_reader *reader, const struct tm_chrome_event **event)
{
    const bool got = chrome_document_next(reader);

    *event = got && reader->window.status == TM_OK ? &reader->event : NULL;
    return reader->window.status;
}

void tm_chrome_take_known(struct tm_chrome_reader *reader, tm_chrome_take *take, void *to)
{
    reader->known.take = take;
    reader->known.to = to;
}

const struct tm_chrome_header *tm_chrome_header(const struct tm_chrome_reader *reader)
{
    return &reader->header;
}

const char *tm_chrome_problem(const struct tm_chrome_reader *reader, uint64_t *at)
{
    *at = reader->damage.at;
    return reader->damage.problem;
}

const struct tm_chrome_damage *tm_chrome_damage(const struct tm_chrome_reader *reader)
{
    return &reader->damage;
}

/* The document of a Chrome trace: an object with traceEvents among its members, or the bare list.
 * source: the Trace Event Format; RFC 8259 */

static void count(struct tm_chrome_reader *r, enum tm_tally which)
{
    tm_tally_add(&r->run->tallies, which, 1);
}

static bool is_at_end(const struct tm_chrome_reader *r, const uint8_t *at)
{
    return at == r->window.end;
}

static void count_not_numbers(struct tm_chrome_reader *r)
{
    tm_tally_add(&r->run->tallies, TM_TALLY_NAN_NUMBER, r->not_numbers);
}

/* --- start and end --- */

static const uint8_t *begin_document(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has_mark;
    const uint8_t *const begin = tm_json_more(&r->window, at);

    at = begin;
    if (*begin == 0xef) {
        at = tm_json_walk_word(&r->window, begin, "\xef\xbb\xbf", &has_mark);
        if (!has_mark)
            return tm_chrome_fail(r, at, "it does not start like JSON");
        count(r, TM_TALLY_BYTE_ORDER_MARK);
    }
    at = walk_space(r, at);
    r->header.is_list = *at == '[';
    if (*at != '[' && *at != '{')
        return tm_chrome_fail(r, at, "it does not start like JSON with trace events");
    r->is_first = true;
    r->state = r->header.is_list ? TM_DOCUMENT_LIST : TM_DOCUMENT_MEMBERS;
    return r->header.is_list ? at + 1 : at; /* the members start with their brace */
}

/* Nothing but white space and zero bytes may follow. */
static const uint8_t *read_tail(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has_zeros = false;

    for (at = walk_space(r, at); !is_at_end(r, at); at = walk_space(r, at + 1)) {
        if (*at)
            return tm_chrome_fail(r, at, "there is data after the end of the JSON");
        has_zeros = true;
    }
    if (has_zeros)
        count(r, TM_TALLY_ZERO_PADDING);
    r->state = TM_DOCUMENT_END;
    return at;
}

/* --- the list --- */

/* Count an empty {}, now that it is known what it was. */
static void settle_empty(struct tm_chrome_reader *r, enum tm_tally which)
{
    if (r->waits_empty)
        count(r, which);
    r->waits_empty = false;
}

static const uint8_t *end_list(struct tm_chrome_reader *r, const uint8_t *at)
{
    settle_empty(r, TM_TALLY_CLOSING_OBJECT);
    r->is_first = false; /* of the members, which continue */
    r->state = r->header.is_list || r->is_looking ? TM_DOCUMENT_TAIL : TM_DOCUMENT_MEMBERS;
    return at;
}

/* The bare list may end without its bracket between two events. */
static const uint8_t *end_open_list(struct tm_chrome_reader *r, const uint8_t *at)
{
    settle_empty(r, TM_TALLY_EMPTY_OBJECT);
    count(r, TM_TALLY_OPEN_ARRAY);
    r->state = TM_DOCUMENT_TAIL;
    return at;
}

static bool may_end_here(const struct tm_chrome_reader *r, const uint8_t *at)
{
    return r->header.is_list && (is_at_end(r, at) || !*at);
}

/* To the next element. */
static const uint8_t *next_element(struct tm_chrome_reader *r, const uint8_t *at)
{
    at = walk_space(r, at);
    if (*at == ']')
        return end_list(r, at + 1);
    if (may_end_here(r, at))
        return end_open_list(r, at);
    if (!r->is_first) {
        if (*at != ',')
            return tm_chrome_fail(r, at, "a comma is missing");
        settle_empty(r, TM_TALLY_EMPTY_OBJECT);
        at = walk_space(r, at + 1);
        if (may_end_here(r, at))
            return end_open_list(r, at);
    }
    r->is_first = false;
    return at;
}

/* out:    *got  it is an event that has something in it */
static const uint8_t *read_element(struct tm_chrome_reader *r, const uint8_t *at, bool *got)
{
    r->not_numbers = 0;
    at = next_element(r, at);
    if (!at || r->state != TM_DOCUMENT_LIST)
        return at;
    if (*at == '{') {
        at = r->engine->event(r, at);
        *got = at && r->seen && !(r->event.known && r->known.take);
        r->waits_empty = at && !r->seen;
    } else {
        at = r->engine->skip(r, at);
        if (at)
            count(r, TM_TALLY_NOT_AN_OBJECT);
    }
    if (at)
        count_not_numbers(r);
    return at;
}

/* --- the members --- */

static const uint8_t *begin_events(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (*at != '[')
        return tm_chrome_fail(r, at, "traceEvents is not a list");
    if (r->header.has_events)
        count(r, TM_TALLY_REPEATED_KEY);
    r->header.has_events = r->is_first = true;
    r->state = TM_DOCUMENT_LIST;
    return at + 1;
}

static const uint8_t *read_value(struct tm_chrome_reader *r, const uint8_t *at)
{
    struct tm_json_slice key;

    key.at = (const char *)take_key(r, &key.length);
    if (r->key_is_cut)
        return r->engine->skip(r, at);
    return tm_json_text_is(key, "traceEvents") ? begin_events(r, at) : chrome_header_member(r, key, at);
}

static const uint8_t *read_document_member(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool ended;

    at = r->is_first ? first_member(r, at, &ended) : next_member(r, at, &ended);
    if (!at)
        return NULL;
    r->is_first = false;
    if (ended) {
        r->state = TM_DOCUMENT_TAIL;
        return at;
    }
    r->side_used = 0;
    r->is_outgrown = false;
    r->not_numbers = 0;
    at = read_key(r, at);
    if (at)
        at = read_value(r, at);
    if (at)
        count_not_numbers(r);
    return at;
}

/* --- after damage --- */

/* To the next object that is not a member's value, at any level.
 * in:     *before  the last preceding byte that is not white space */
static const uint8_t *next_object(struct tm_chrome_reader *r, const uint8_t *at, uint8_t *before)
{
    for (;; at++) {
        at = tm_json_more(&r->window, at);
        if (is_at_end(r, at) || (*at == '{' && *before != ':'))
            return at;
        if (*at > ' ')
            *before = *at;
    }
}

/* To the next event, and past it.  A candidate that is none is not revisited, so each byte is examined twice at
 * most. */
static const uint8_t *find_event(struct tm_chrome_reader *r, bool *got)
{
    const uint8_t *at = r->go_on_at;
    uint8_t before = 0;

    settle_empty(r, TM_TALLY_EMPTY_OBJECT);
    r->state = TM_DOCUMENT_LIST;
    do {
        r->not_numbers = 0;
        r->in_event = false;
        at = next_object(r, at, &before);
        if (is_at_end(r, at)) {
            tm_chrome_end_damage(r, tm_json_offset(&r->window, at));
            r->state = TM_DOCUMENT_END;
            return at;
        }
        at = r->engine->event(r, at);
        if (!at)
            return NULL;
        before = '}';
    } while (!r->event.phase);
    tm_chrome_end_damage(r, r->event.offset);
    r->is_first = false;
    *got = true;
    count_not_numbers(r);
    return at;
}

/* The document: advances to the next event, or to the end. */
static bool chrome_document_next(struct tm_chrome_reader *reader)
{
    const uint8_t *at = reader->at;
    bool got = false;

    while (!got && reader->state != TM_DOCUMENT_END && reader->window.status == TM_OK) {
        switch (reader->state) {
        case TM_DOCUMENT_BEGIN:
            at = begin_document(reader, at);
            break;
        case TM_DOCUMENT_MEMBERS:
            at = read_document_member(reader, at);
            break;
        case TM_DOCUMENT_LIST:
            at = read_element(reader, at, &got);
            break;
        case TM_DOCUMENT_DAMAGED:
            at = find_event(reader, &got);
            break;
        default:
            at = read_tail(reader, at);
        }
    }
    reader->at = at;
    return got;
}

/* --- looking ahead --- */

/* The window is filled and then treated as the whole input, so nothing moves in it.  The header is not read. */
tm_status tm_chrome_look_ahead(struct tm_chrome_reader *reader, size_t most, tm_chrome_look *look, void *to)
{
    struct tm_json_window *const window = &reader->window;
    const struct tm_tallies tallies = reader->run->tallies;
    const struct tm_chrome_damage damage = reader->damage;
    const uint8_t *const begin = (const uint8_t *)reader->event.members;
    const size_t bytes = begin ? (size_t)(reader->at - begin) : 0;
    bool at_end;

    look(to, &reader->event);
    if (!begin) /* it is larger than the window */
        return TM_OK;
    tm_json_fill(window, begin);
    if (window->status != TM_OK)
        return window->status;
    at_end = window->at_end;
    window->at_end = reader->is_looking = true;
    reader->at = window->buffer + bytes;
    while (--most && chrome_document_next(reader))
        look(to, &reader->event);
    reader->state = TM_DOCUMENT_LIST;
    reader->waits_empty = reader->is_first = reader->is_in_damage = false;
    reader->damage = damage;
    reader->at = reader->engine->event(reader, window->buffer);
    reader->is_looking = false;
    reader->run->tallies = tallies;
    window->at_end = at_end;
    return window->status;
}

/* What a Chrome trace contains besides its events: a few members of the document, in any order and of any size.
 * source: kineto's output_json.cpp, tsl's trace_events_to_json.cc; checked against real files */

/* A member that has a place in a struct. */
struct field {
    const char *key;
    enum { FIELD_INT64, FIELD_UINT64, FIELD_UINT32, FIELD_TEXT, FIELD_IS_TRUE, FIELD_IS_THERE } kind;
    uint16_t offset, bytes; /* bytes: of a string */
};

struct fields {
    const struct field *at;
    size_t count;
};

#define HEADER(member) offsetof(struct tm_chrome_header, member), sizeof(((struct tm_chrome_header *)0)->member)
#define DEVICE(member) offsetof(struct tm_chrome_device, member), sizeof(((struct tm_chrome_device *)0)->member)

static const struct field document_fields[] = {
    { "baseTimeNanoseconds", FIELD_INT64, HEADER(base_time_ns) },
    { "cuda_driver_version", FIELD_INT64, HEADER(cuda_driver) },
    { "cuda_runtime_version", FIELD_INT64, HEADER(cuda_runtime) },
    { "hip_driver_version", FIELD_INT64, HEADER(hip_driver) },
    { "hip_runtime_version", FIELD_INT64, HEADER(hip_runtime) },
    { "host_name", FIELD_TEXT, HEADER(host) },
    { "schemaVersion", FIELD_IS_THERE, HEADER(has_schema_version) },
    { "traceName", FIELD_TEXT, HEADER(trace_name) },
};

static const struct field metadata_fields[] = {
    { "highres-ticks", FIELD_IS_TRUE, HEADER(has_highres_ticks) },
};

static const struct field other_fields[] = {
    { "tracemill.version", FIELD_IS_THERE, HEADER(is_converted) },
};

static const struct field distributed_fields[] = {
    { "backend", FIELD_TEXT, HEADER(backend) },
    { "rank", FIELD_INT64, HEADER(rank) },
    { "world_size", FIELD_INT64, HEADER(world_size) },
};

static const struct field device_fields[] = {
    { "computeMajor", FIELD_UINT32, DEVICE(capability_major) },
    { "computeMinor", FIELD_UINT32, DEVICE(capability_minor) },
    { "id", FIELD_INT64, DEVICE(id) },
    { "name", FIELD_TEXT, DEVICE(name) },
    { "numSms", FIELD_UINT64, DEVICE(core_count) },
    { "totalGlobalMem", FIELD_UINT64, DEVICE(memory_bytes) },
};

#define FIELDS(table) ((struct fields){ table, sizeof(table) / sizeof((table)[0]) })

static const struct field *find_field(struct fields fields, struct tm_json_slice key)
{
    for (const struct field *field = fields.at; field < fields.at + fields.count; field++) {
        if (tm_json_text_is(key, field->key))
            return field;
    }
    return NULL;
}

static void put_text(const struct field *field, char *to, struct tm_json_slice text)
{
    const size_t most = field->bytes - 1u;
    size_t length = text.length < most ? text.length : most;

    while (length > 0 && length < text.length && ((uint8_t)text.at[length] & 0xc0) == 0x80)
        length--; /* not in the middle of a character */
    memcpy(to, text.at, length);
    to[length] = '\0';
}

/* out:    whether it fits */
static bool put_number(const struct field *field, void *to, const struct tm_json_decimal *decimal)
{
    uint64_t number;

    if (field->kind == FIELD_INT64)
        return tm_json_int_of(decimal, to);
    if (!tm_json_uint_of(decimal, &number) || (field->kind == FIELD_UINT32 && number > UINT32_MAX))
        return false;
    if (field->kind == FIELD_UINT32)
        *(uint32_t *)to = (uint32_t)number;
    else
        *(uint64_t *)to = number;
    return true;
}

static const uint8_t *read_number(struct tm_chrome_reader *r, const uint8_t *at, const struct field *field, void *to)
{
    const uint64_t not_numbers = r->not_numbers;
    struct tm_json_slice text;

    if (*at == '"') {
        at = read_text(r, at, &text);
        if (at && tm_json_decimal_of(text.at, text.length, &r->decimal))
            (void)put_number(field, to, &r->decimal);
        return at;
    }
    if (*at != '-' && (*at < '0' || *at > '9'))
        return skip_value(r, at);
    at = tm_chrome_number(r, at);
    if (at && r->not_numbers == not_numbers)
        (void)put_number(field, to, &r->decimal);
    return at;
}

/* in:     base  the struct that has the field */
static const uint8_t *read_field(struct tm_chrome_reader *r, const uint8_t *at, const struct field *field, char *base)
{
    struct tm_json_slice text;

    r->side_used = 0;
    switch (field->kind) {
    case FIELD_TEXT:
        if (*at != '"')
            return skip_value(r, at);
        at = read_text(r, at, &text);
        if (at)
            put_text(field, base + field->offset, text);
        return at;
    case FIELD_IS_TRUE:
        base[field->offset] = *at == 't';
        return skip_value(r, at);
    case FIELD_IS_THERE:
        base[field->offset] = true;
        return skip_value(r, at);
    default:
        return read_number(r, at, field, base + field->offset);
    }
}

/* An object some of whose members are fields.  in: at  its brace */
static const uint8_t *read_fields(struct tm_chrome_reader *r, const uint8_t *at, struct fields fields, char *base)
{
    bool ended;

    at = first_member(r, at, &ended);
    while (at && !ended) {
        const struct field *field;
        const uint8_t *key;
        uint32_t length;

        at = read_key(r, at);
        if (!at)
            return NULL;
        key = take_key(r, &length);
        field = r->key_is_cut ? NULL : find_field(fields, (struct tm_json_slice){ (const char *)key, length });
        at = field ? read_field(r, at, field, base) : skip_value(r, at);
        if (at)
            at = next_member(r, at, &ended);
    }
    return at;
}

/* --- devices --- */

/* out:    NULL  there are as many as are kept, or no memory, which is in run->error */
static struct tm_chrome_device *new_device(struct tm_chrome_reader *r)
{
    struct tm_chrome_header *const header = &r->header;

    if (header->device_count == r->device_capacity && r->device_capacity < TM_DEVICES_MOST) {
        const uint32_t capacity = r->device_capacity ? 2 * r->device_capacity : 16;
        void *const devices = tm_retake(&r->run->budget, TM_ACCOUNT_METADATA, header->devices,
                                        r->device_capacity * sizeof(*header->devices),
                                        capacity * sizeof(*header->devices), &r->run->error);

        if (!devices) {
            r->window.status = r->run->error.status;
            return NULL;
        }
        header->devices = devices;
        r->device_capacity = capacity;
    }
    if (header->device_count == r->device_capacity)
        return NULL;
    header->devices[header->device_count] = (struct tm_chrome_device){ .id = header->device_count };
    return &header->devices[header->device_count++];
}

static const uint8_t *read_device(struct tm_chrome_reader *r, const uint8_t *at)
{
    struct tm_chrome_device *const device = *at == '{' ? new_device(r) : NULL;

    return device ? read_fields(r, at, FIELDS(device_fields), (char *)device) : skip_value(r, at);
}

static const uint8_t *read_devices(struct tm_chrome_reader *r, const uint8_t *at)
{
    r->header.device_count = 0;
    if (*at != '[')
        return skip_value(r, at);
    at = walk_space(r, at + 1);
    if (*at == ']')
        return at + 1;
    for (;;) {
        at = read_device(r, at);
        if (!at)
            return NULL;
        at = walk_space(r, at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return tm_chrome_fail(r, at, "a comma is missing");
        at = walk_space(r, at + 1);
    }
}

/* --- the document's members --- */

/* A table that has something in it is reported. */
static const uint8_t *skip_frames(struct tm_chrome_reader *r, const uint8_t *at)
{
    const uint64_t from = tm_json_offset(&r->window, at);

    at = r->engine->skip(r, at);
    tm_tally_add(&r->run->tallies, TM_TALLY_STACK_FRAMES, at && tm_json_offset(&r->window, at) - from > strlen("{}"));
    return at;
}

/* A member of the document besides traceEvents.
 * in:     key  its name, until the window moves; at: its value */
static const uint8_t *chrome_header_member(struct tm_chrome_reader *reader, struct tm_json_slice key, const uint8_t *at)
{
    const struct field *const field = find_field(FIELDS(document_fields), key);
    char *const base = (char *)&reader->header;

    if (field)
        return read_field(reader, at, field, base);
    if (tm_json_text_is(key, "stackFrames"))
        return skip_frames(reader, at);
    if (tm_json_text_is(key, "deviceProperties"))
        return read_devices(reader, at);
    if (*at == '{' && tm_json_text_is(key, "metadata"))
        return read_fields(reader, at, FIELDS(metadata_fields), base);
    if (*at == '{' && tm_json_text_is(key, "otherData"))
        return read_fields(reader, at, FIELDS(other_fields), base);
    if (*at == '{' && tm_json_text_is(key, "distributedInfo"))
        return read_fields(reader, at, FIELDS(distributed_fields), base);
    return reader->engine->skip(reader, at);
}
