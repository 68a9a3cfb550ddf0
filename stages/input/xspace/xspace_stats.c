/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics: the meaning of their ids, the position of large values, and their conversion to arguments if an output
 * needs them.  Memory for arguments: one list of TM_ARGUMENTS_MOST bytes per source, and tables of fixed size for names
 * and for recent lists; names and longer strings are added to the names of the trace. */
#include "stages/input/xspace/xspace_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "pipeline/strings.h"

enum {
    LONGEST_BYTES = 1024, /* of bytes that are shown as a string */
    SENTENCE_BYTES = 40,  /* "(no text -9223372036854775808)" */
};

/* The entry of a statistic's id.  NULL if there is none; valid until the next lookup */
static const struct tm_stat_row *stat_row(struct tm_xspace *x, uint64_t plane, int64_t id)
{
    const struct tm_stat_row *const row = tm_index_get(x->stats, tm_metadata_key(plane, id));

    return row && row->id == id && row->plane == plane ? row : NULL;
}

enum tm_stat tm_xspace_stat(struct tm_xspace *x, uint64_t plane, int64_t id)
{
    const struct tm_stat_row *const row = stat_row(x, plane, id);

    return row ? (enum tm_stat)row->stat : TM_STAT_UNKNOWN;
}

tm_strid tm_xspace_ref(struct tm_xspace *x, uint64_t plane, int64_t id)
{
    const struct tm_stat_row *const row = stat_row(x, plane, id);

    return row ? row->name : 0;
}

/* A statistic that is too large to be buffered as a whole: its heads are read through a small window, its value is
 * not. */

enum { WINDOW_BYTES = 64 };

struct tm_xstat_place tm_xstat_find(const struct tm_input *input, uint64_t begin, uint64_t end)
{
    struct tm_xstat_place place = { .value = { .type = TM_WIRE_END } };
    uint8_t window[WINDOW_BYTES];
    struct tm_reader w;
    struct tm_head head;
    bool damaged = false;

    tm_reader_init(&w, input, window, sizeof(window), begin, end);
    while (!damaged && tm_reader_head(&w, &head, &damaged)) {
        if (head.number == TM_XSTAT_ID && head.type == TM_WIRE_VARINT && !damaged) {
            place.id = (int64_t)head.value;
        } else if (head.number <= TM_XSTAT_REF && (head.type == TM_WIRE_LEN || !damaged)) {
            place.value = head;
            place.value_at = tm_reader_offset(&w);
            if (damaged)
                place.value.value = end - place.value_at;
        }
        if (head.type == TM_WIRE_LEN && !damaged)
            tm_reader_skip(&w, head.value);
    }
    return place;
}

/* --- arguments --- */

void tm_xarguments_make(struct tm_xspace *x)
{
    struct tm_trace *const trace = x->source.trace;

    x->arguments = tm_take(&trace->run->budget, TM_ACCOUNT_INPUT, sizeof(*x->arguments), &trace->run->error);
    if (!x->arguments)
        return;
    x->arguments->long_name = tm_names_put_string(trace->names, "long_name");
    x->arguments->display_name = tm_names_put_string(trace->names, "display_name");
}

void tm_xarguments_free(struct tm_xspace *x)
{
    if (!x->arguments)
        return;
    tm_give(&x->source.trace->run->budget, TM_ACCOUNT_INPUT, x->arguments, sizeof(*x->arguments));
    x->arguments = NULL;
}

void tm_xarguments_begin(struct tm_xspace *x, struct tm_arguments_builder *b)
{
    tm_arguments_begin(b, x->source.trace->names, x->arguments->list, sizeof(x->arguments->list));
}

static tm_strid find_key(struct tm_xspace *x, uint64_t plane, int64_t id)
{
    const tm_strid key = tm_xspace_ref(x, plane, id);
    char text[SENTENCE_BYTES];

    if (key)
        return key;
    (void)snprintf(text, sizeof(text), "stat %" PRId64, id);
    return tm_names_put_string(x->source.trace->names, text);
}

static inline struct tm_xarguments_name *known_name(struct tm_xarguments_name *names, size_t count, uint64_t plane,
                                                    int64_t id)
{
    return &names[((uint64_t)id + 61 * plane) % count];
}

static inline bool is_name_of(const struct tm_xarguments_name *known, uint64_t plane, int64_t id)
{
    return known->name && known->id == id && known->plane == plane;
}

static inline tm_strid key_of(struct tm_xspace *x, uint64_t plane, int64_t id)
{
    struct tm_xarguments_name *const known = known_name(x->arguments->keys, TM_XARGUMENTS_KEYS, plane, id);

    if (!is_name_of(known, plane, id))
        *known = (struct tm_xarguments_name){ plane, id, find_key(x, plane, id) };
    return known->name;
}

static void put_length(struct tm_arguments_builder *b, tm_strid key, uint64_t length)
{
    char text[SENTENCE_BYTES];

    (void)snprintf(text, sizeof(text), "(%" PRIu64 " bytes)", length);
    tm_put_text(b, key, text, strlen(text));
}

/* A string that a person reads: UTF-8 without control characters except for those that separate lines and words. */
static bool is_readable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r'))
            return false;
    }
    return tm_utf8_is_valid(text, length);
}

static void put_bytes(struct tm_arguments_builder *b, tm_strid key, const char *bytes, uint64_t length)
{
    if (length <= LONGEST_BYTES && is_readable(bytes, (size_t)length))
        tm_put_text(b, key, bytes, (size_t)length);
    else
        put_length(b, key, length);
}

static void put_ref(struct tm_xspace *x, uint64_t plane, tm_strid key, int64_t id, struct tm_arguments_builder *b)
{
    struct tm_xarguments_name *const known = known_name(x->arguments->texts, TM_XARGUMENTS_TEXTS, plane, id);
    const struct tm_stat_row *row;
    char text[SENTENCE_BYTES] = "";

    if (is_name_of(known, plane, id)) {
        tm_put_name(b, key, known->name);
        return;
    }
    row = stat_row(x, plane, id);
    if (row && row->name) {
        *known = (struct tm_xarguments_name){ plane, id, row->name };
        tm_put_name(b, key, row->name);
        return;
    }
    if (!row)
        (void)snprintf(text, sizeof(text), "(no text %" PRId64 ")", id);
    tm_put_text(b, key, text, strlen(text));
}

static void put_unsigned(struct tm_arguments_builder *b, tm_strid key, uint64_t value)
{
    if (value <= INT64_MAX)
        tm_put_int(b, key, (int64_t)value);
    else
        tm_put_uint(b, key, value);
}

static void put_stat(struct tm_xspace *x, uint64_t plane, const struct tm_xstat *stat, struct tm_arguments_builder *b)
{
    const struct tm_field *const value = &stat->value;
    const tm_strid key = key_of(x, plane, stat->id);

    switch (value->key) {
    case TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64):
        tm_put_double(b, key, tm_wire_double(value->value));
        break;
    case TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT):
        put_unsigned(b, key, value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT):
        tm_put_int(b, key, (int64_t)value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN):
        tm_put_text(b, key, (const char *)value->bytes, (size_t)value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN):
        put_bytes(b, key, (const char *)value->bytes, value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT):
        put_ref(x, plane, key, (int64_t)value->value, b);
        break;
    default: /* it has no value, or one of another wire type */
        tm_put_null(b, key);
        break;
    }
}

/* One that is too large to be examined whole: how long its text or its bytes are. */
static void put_large_stat(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                           struct tm_arguments_builder *b)
{
    const struct tm_xstat_place place = tm_xstat_find(x->input, begin, end);

    if (place.value.type != TM_WIRE_LEN) { /* what makes it large is a field of no meaning */
        const struct tm_xstat stat = { .id = place.id,
                                       .value = { .key = TM_WIRE_KEY(place.value.number, place.value.type),
                                                  .value = place.value.value } };

        put_stat(x, plane, &stat, b);
        return;
    }
    put_length(b, key_of(x, plane, place.id), place.value.value);
    b->is_cut |= place.value.number == TM_XSTAT_STR;
}

static void put_stat_bytes(struct tm_xspace *x, uint64_t plane, struct tm_wire bytes, struct tm_arguments_builder *b)
{
    struct tm_xstat stat = { .id = 0 };

    tm_xstat_read(&bytes, &stat);
    put_stat(x, plane, &stat, b);
}

void tm_xarguments_stat(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, uint64_t length,
                        struct tm_arguments_builder *b)
{
    if (length > TM_XSTAT_LARGEST)
        put_large_stat(x, plane, tm_reader_offset(w), tm_reader_offset(w) + length, b);
    else
        put_stat_bytes(x, plane, tm_reader_peek(w, (size_t)length), b);
}

/* --- events --- */

/* A statistic as writers put it: its id, then a number or a reference, and nothing else.
 * in:     end  of what may be read after it
 * out:    false: it is something else */
static inline bool read_usual_stat(const struct tm_field *field, const uint8_t *end, struct tm_xstat *stat)
{
    struct tm_wire w = { field->bytes + 1, end };
    const uint8_t *const behind = field->bytes + field->value;
    uint64_t id;

    if (field->value < 4 || *field->bytes != TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) || !tm_wire_varint(&w, &id) ||
        behind - w.at < 2)
        return false;
    stat->id = (int64_t)id;
    stat->value.key = *w.at++;
    if (stat->value.key != TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT) &&
        stat->value.key != TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) &&
        stat->value.key != TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT))
        return false;
    return tm_wire_varint(&w, &stat->value.value) && w.at == behind;
}

/* in: end  of what may be read after the statistic */
static void put_field(struct tm_xspace *x, uint64_t plane, const struct tm_field *field, const uint8_t *end,
                      struct tm_arguments_builder *b)
{
    struct tm_xstat stat;

    if (field->key != TM_WIRE_KEY(TM_XEVENT_STATS, TM_WIRE_LEN))
        return;
    if (read_usual_stat(field, end, &stat))
        put_stat(x, plane, &stat, b);
    else
        put_stat_bytes(x, plane, tm_wire_of(field), b);
}

void tm_xarguments_event(struct tm_xspace *x, uint64_t plane, struct tm_wire bytes, struct tm_arguments_builder *b)
{
    struct tm_field field;

    while (tm_wire_next(&bytes, &field))
        put_field(x, plane, &field, bytes.end, b);
}

void tm_xarguments_long_event(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                              struct tm_arguments_builder *b)
{
    struct tm_reader w;
    struct tm_head head;
    bool damaged;

    tm_reader_init(&w, x->input, x->scratch, TM_XSTAT_LARGEST, begin, end);
    while (tm_reader_head(&w, &head, &damaged) && !damaged) {
        if (head.type != TM_WIRE_LEN)
            continue;
        if (head.number == TM_XEVENT_STATS)
            tm_xarguments_stat(x, plane, &w, head.value, b);
        tm_reader_skip(&w, head.value);
    }
}

void tm_xarguments_names(struct tm_xspace *x, tm_strid name, tm_strid display, bool shows_display,
                         struct tm_arguments_builder *b)
{
    if (!display || !name || tm_names_are_same(x->source.trace->names, name, display))
        return;
    if (shows_display)
        tm_put_name(b, x->arguments->long_name, name);
    else
        tm_put_name(b, x->arguments->display_name, display);
}
