/* SPDX-License-Identifier: Apache-2.0 */
/* What a Chrome trace says beside its events: a few members of the document, whatever their order and size.
 * source: kineto's output_json.cpp, tsl's trace_events_to_json.cc; checked against real files */
#include "stages/input/chrome/json_walk.h"

/* A member that has a place in a struct. */
struct field {
    const char *key;
    enum { FIELD_INT64, FIELD_UINT64, FIELD_UINT32, FIELD_TEXT, FIELD_IS_TRUE, FIELD_IS_THERE } kind;
    uint16_t offset, bytes; /* bytes: of a text */
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

/* in:     base  the struct that the field is of */
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

/* A table that has something in it is told. */
static const uint8_t *skip_frames(struct tm_chrome_reader *r, const uint8_t *at)
{
    const uint64_t from = tm_json_offset(&r->window, at);

    at = r->engine->skip(r, at);
    tm_tally_add(&r->run->tallies, TM_TALLY_STACK_FRAMES, at && tm_json_offset(&r->window, at) - from > strlen("{}"));
    return at;
}

const uint8_t *tm_chrome_header_member(struct tm_chrome_reader *reader, struct tm_json_slice key, const uint8_t *at)
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
