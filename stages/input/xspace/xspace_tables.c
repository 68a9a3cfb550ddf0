/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata tables of an XSpace, an entry at a time: strings of statistics, names of events, and the profiler's data
 * about a plane.  Entries are parsed from the wire format, because an entry may contain an entire compiled program;
 * protobuf-c unpacks the small messages inside. */
#include "stages/input/xspace/xspace_private.h"

#include <inttypes.h>
#include <stdio.h>

#include <xxhash.h>

#include "pipeline/strings.h"
#include "stages/input/xspace/xspace_reader.h"
#include "stages/resolve/classes.h"
#include "xplane.pb-c.h"

/* --- statistics ---
 * The meaning of their ids, the position of large values, and their conversion to arguments if an output needs them.  Memory for arguments: one list of TM_ARGUMENTS_MOST bytes per source, and tables of fixed size for names
 * and for recent lists; names and longer strings are added to the names of the trace. */

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

static struct tm_xstat_place find_stat(const struct tm_input *input, uint64_t begin, uint64_t end)
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
    const struct tm_xstat_place place = find_stat(x->input, begin, end);

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

/* Add the statistic of `length` bytes at the window's place, which stays. */
static void put_plane_stat(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, uint64_t length,
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
            put_plane_stat(x, plane, &w, head.value, b);
        tm_reader_skip(&w, head.value);
    }
}

/* What an event's metadata is called beside the name that its records have.
 * in: name  of the metadata.  display  0 = none.  shows_display: records are named with it */
static void put_names(struct tm_xspace *x, tm_strid name, tm_strid display, bool shows_display,
                      struct tm_arguments_builder *b)
{
    if (!display || !name || tm_names_are_same(x->source.trace->names, name, display))
        return;
    if (shows_display)
        tm_put_name(b, x->arguments->long_name, name);
    else
        tm_put_name(b, x->arguments->display_name, display);
}

/* --- entries of the tables --- */

/* A statistic is unpacked as a whole, at up to 50 times its size: a larger one is a serialized message. */
enum { LARGEST_STAT = 64 << 10 };

enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, VALUE_ID = 1, VALUE_NAME = 2, VALUE_DISPLAY_NAME = 4, VALUE_STATS = 5 };

/* The bytes of a name at the window's place: a view into the window or the scratch memory. */
static struct tm_wire name_bytes(struct tm_xspace *x, struct tm_reader *w, uint64_t length)
{
    struct tm_run *run = x->source.trace->run;
    size_t got = 0;

    if (length > w->end - tm_reader_offset(w))
        length = w->end - tm_reader_offset(w);
    if (length <= w->buffer_bytes)
        return tm_reader_peek(w, (size_t)length);
    if (length > x->scratch_bytes) {
        tm_tally_add(&run->tallies, TM_TALLY_LONG_VALUE, 1);
        length = x->scratch_bytes;
    }
    (void)!tm_input_read(x->input, x->scratch, (size_t)length, tm_reader_offset(w), &got);
    return (struct tm_wire){ x->scratch, x->scratch + got };
}

static tm_strid put_text(struct tm_xspace *x, struct tm_wire view)
{
    return tm_names_put(x->source.trace->names, (const char *)view.at, (size_t)(view.end - view.at));
}

/* Whether a field of an entry has another wire type than the format gives it: what it says is lost. */
static bool is_misfit_of_entry(const struct tm_head *head)
{
    return (head->number == ENTRY_KEY && head->type != TM_WIRE_VARINT) ||
           (head->number == ENTRY_VALUE && head->type != TM_WIRE_LEN);
}

static bool is_misfit_of_value(const struct tm_head *head)
{
    return (head->number == VALUE_ID && head->type != TM_WIRE_VARINT) ||
           (head->number >= VALUE_NAME && head->number <= VALUE_STATS && head->type != TM_WIRE_LEN);
}

/* Step to the value of a map entry; the reader ends where it ends.  Key and value come in any order.
 * out: false if there is no value.  *is_damaged  set where the entry is */
static bool enter_value(struct tm_reader *w, int64_t *key, bool *is_damaged)
{
    uint64_t begin = 0, end = 0;
    bool has_key = false, found = false;

    *key = 0;
    for (;;) {
        struct tm_head head;
        bool damaged;
        const bool more = tm_reader_head(w, &head, &damaged);

        *is_damaged |= damaged || (more && is_misfit_of_entry(&head)) || (more && found && head.number == ENTRY_VALUE);
        if (more && head.number == ENTRY_KEY && head.type == TM_WIRE_VARINT && !damaged) {
            *key = (int64_t)head.value;
            has_key = true;
        }
        if (more && head.number == ENTRY_VALUE && head.type == TM_WIRE_LEN && !found) {
            found = true;
            begin = tm_reader_offset(w);
            end = damaged ? w->end : begin + head.value;
        }
        if (!more || damaged || (found && has_key && end == w->end))
            break;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
    }
    if (found && begin != tm_reader_offset(w)) /* the key came after it */
        tm_reader_init(w, w->input, w->buffer, w->buffer_bytes, begin, end);
    else if (found)
        tm_reader_end_at(w, end);
    *is_damaged |= !found; /* writers give each entry a value, and one */
    return found;
}

static void finish_stat(struct tm_xspace *x, uint64_t plane, struct tm_stat_row *row)
{
    row->plane = plane;
    row->key = tm_metadata_key(plane, row->id);
    if (row->id >= 0 && row->id < TM_SMALL_STATS)
        ((struct tm_plane *)tm_rows_change(x->planes, plane))->small_stats[row->id] = (uint8_t)row->stat;
    tm_index_put(x->stats, row);
}

void tm_xspace_stat_entry(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, bool *is_damaged)
{
    struct tm_stat_row row = { .stat = TM_STAT_UNKNOWN };
    struct tm_head head;
    bool damaged = false;

    if (!enter_value(w, &row.id, is_damaged))
        return;
    while (!damaged && tm_reader_head(w, &head, &damaged)) {
        *is_damaged |= damaged || is_misfit_of_value(&head);
        if (head.type != TM_WIRE_LEN)
            continue;
        if (head.number == VALUE_NAME) {
            const struct tm_wire view = name_bytes(x, w, head.value);

            row.stat = tm_stat_of((const char *)view.at, (size_t)(view.end - view.at));
            row.name = put_text(x, view);
        }
        if (!damaged)
            tm_reader_skip(w, head.value);
    }
    finish_stat(x, plane, &row);
}

/* An integer from any of the number types: writers changed them over the years. */
static int64_t stat_int(const Tracemill__Stat *stat)
{
    switch (stat->value_case) {
    case TRACEMILL__STAT__VALUE_UINT64_VALUE:
        return (int64_t)stat->uint64_value;
    case TRACEMILL__STAT__VALUE_INT64_VALUE:
        return stat->int64_value;
    case TRACEMILL__STAT__VALUE_DOUBLE_VALUE:
        return stat->double_value > -9e18 && stat->double_value < 9e18 ? (int64_t)stat->double_value : 0;
    default:
        return 0;
    }
}

static double stat_double(const Tracemill__Stat *stat)
{
    return stat->value_case == TRACEMILL__STAT__VALUE_DOUBLE_VALUE ? stat->double_value : (double)stat_int(stat);
}

/* The text of a statistic, interned; 0 = it is not a string. */
static tm_strid stat_text(struct tm_xspace *x, uint64_t plane, const Tracemill__Stat *stat)
{
    if (stat->value_case == TRACEMILL__STAT__VALUE_STR_VALUE)
        return tm_names_put(x->source.trace->names, (const char *)stat->str_value.data, stat->str_value.len);
    if (stat->value_case == TRACEMILL__STAT__VALUE_REF_VALUE)
        return tm_xspace_ref(x, plane, (int64_t)stat->ref_value);
    return 0;
}

static void copy_text(struct tm_xspace *x, tm_strid name, char *to, size_t bytes)
{
    size_t length;
    const char *const text = tm_names_text(x->source.trace->names, name, bytes, &length);

    tm_clean_text(to, bytes, text, length);
}

/* What a TPU op's metadata states for all its events. */
struct op_facts {
    struct tm_config config;
    char category[64];
    bool any, has_name;
};

static void take_op_stat(struct tm_xspace *x, uint64_t plane, const Tracemill__Stat *stat, struct op_facts *facts)
{
    struct tm_config *config = &facts->config;
    const enum tm_stat what = tm_xspace_stat(x, plane, stat->metadata_id);
    const tm_strid text = stat_text(x, plane, stat);

    facts->any = true;
    switch (what) {
    case TM_STAT_HLO_CATEGORY:
        config->category = text;
        copy_text(x, text, facts->category, sizeof(facts->category));
        break;
    case TM_STAT_FLOPS:
        config->flops = (uint64_t)stat_int(stat);
        config->has_flops = 1;
        break;
    case TM_STAT_BYTES_ACCESSED:
        config->bytes_accessed = (uint64_t)stat_int(stat);
        config->has_bytes_accessed = 1;
        break;
    case TM_STAT_NAME:
        config->op = text;
        facts->has_name = true;
        break;
    case TM_STAT_TF_OP:
        if (!facts->has_name)
            config->op = tm_path_of_tf_op(x->source.trace->names, text);
        break;
    case TM_STAT_PROGRAM_ID:
        config->program_id = stat_int(stat);
        break;
    case TM_STAT_SOURCE:
        config->source = text;
        break;
    default:
        break;
    }
}

static bool is_message(struct tm_wire bytes)
{
    struct tm_field field;

    while (tm_wire_next(&bytes, &field))
        ;
    return bytes.at == bytes.end;
}

/* Report one that is not a valid message, whether or not anything here uses it.  A large one is examined in place by
 * its user. */
static bool is_whole_stat(struct tm_xspace *x, struct tm_reader *w, uint64_t length)
{
    if (length > LARGEST_STAT || length > w->buffer_bytes || is_message(tm_reader_peek(w, (size_t)length)))
        return true;
    tm_tally_add(&x->source.trace->run->tallies, TM_TALLY_BAD_FIELD, 1);
    return false;
}

static void unpack_op_stat(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, uint64_t length,
                           struct op_facts *facts)
{
    struct tm_wire view;
    struct tm_unpacking unpacking;
    Tracemill__Stat *stat;

    if (length > LARGEST_STAT || length > w->buffer_bytes) /* nothing that is examined here */
        return;
    view = tm_reader_peek(w, (size_t)length);
    stat = tracemill__stat__unpack(tm_unpacking_begin(&unpacking), (size_t)(view.end - view.at), view.at);
    if (!stat) {
        tm_unpacking_refused(&unpacking, x->source.trace->run);
        return;
    }
    take_op_stat(x, plane, stat, facts);
    tracemill__stat__free_unpacked(stat, NULL);
}

/* The config of a TPU op, made once from its metadata. */
static uint32_t add_op_config(struct tm_xspace *x, const struct tm_plane *plane, tm_strid hlo_text,
                              struct op_facts *facts)
{
    struct tm_config *config = &facts->config;
    const char *text;
    size_t length;

    if (plane->side != TM_SIDE_DEVICE || plane->device_kind != TM_DEVICE_TPU)
        return 0;
    text = tm_names_text(x->source.trace->names, hlo_text, 64 << 10, &length);
    tm_parse_tpu_op(text, length, facts->category, strlen(facts->category), config);
    config->details = hlo_text;
    config->hash = tm_config_hash(config);
    return tm_configs_put(x->configs, config->hash, config);
}

/* The plane /host:metadata has an entry per compiled program: a statistic `Hlo Proto` holds its bytes, which may be
 * hundreds of megabytes.  Only their position is noted.  `program_id` identifies the program, else the number in the
 * entry's name, else the program itself; the id of the entry may be another number. */

enum { NAME_MOST = 4096 };

/* A compiled program; it is not read here. */
struct program_entry {
    struct tm_hlo_program program;
    bool found;
};

/* One statistic of the entry.  in: start, end  of its bytes */
static void take_program_stat(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                              struct program_entry *entry)
{
    const struct tm_xstat_place stat = find_stat(x->input, begin, end);
    size_t length;
    const char *const text = tm_names_text(x->source.trace->names, tm_xspace_ref(x, plane, stat.id), 16, &length);

    if (stat.value.type == TM_WIRE_LEN && length == 9 && !memcmp(text, "Hlo Proto", 9)) {
        entry->program.begin = stat.value_at;
        entry->program.end = stat.value_at + stat.value.value;
        entry->found = true;
    } else if (stat.value.type == TM_WIRE_VARINT && length == 10 && !memcmp(text, "program_id", 10)) {
        entry->program.id = (int64_t)stat.value.value;
        entry->program.has_id = true;
    }
}

/* All of the entry is known: note the program.  in: name  of the entry, "jit_step(12)" */
static void add_program(struct tm_xspace *x, tm_strid name, struct program_entry *entry)
{
    struct tm_hlo_program *program = &entry->program;
    char copy[NAME_MOST];
    size_t length;
    const char *const text = tm_names_text(x->source.trace->names, name, sizeof(copy), &length);
    int64_t id;

    memcpy(copy, text, length); /* putting a string in may move it */
    if (tm_program_in_name(copy, &length, &id) && !program->has_id) {
        program->id = id;
        program->has_id = true;
    }
    program->name = tm_names_put(x->source.trace->names, copy, length);
    tm_hlo_add(x->hlo, program);
}

/* An entry of the events' table while its fields are read. */
struct event_entry {
    struct tm_event_row row;
    tm_strid display;
    bool is_tpu, holds_programs;
    struct op_facts facts;
    struct program_entry program;
    struct tm_arguments_builder common; /* where arguments are kept */
};

/* A statistic of `length` bytes at the window's place.  is_cut: it runs past the end of the window */
static void take_entry_stat(struct tm_xspace *x, struct tm_reader *w, uint64_t length, bool is_cut,
                            struct event_entry *e)
{
    const uint64_t plane = e->row.plane, end = is_cut ? w->end : tm_reader_offset(w) + length;
    const bool is_whole = is_cut || is_whole_stat(x, w, length);

    if (e->is_tpu && !is_cut && is_whole)
        unpack_op_stat(x, plane, w, length, &e->facts);
    else if (e->holds_programs)
        take_program_stat(x, plane, tm_reader_offset(w), end, &e->program);
    if (x->arguments && !is_cut)
        put_plane_stat(x, plane, w, length, &e->common);
}

static void take_entry_field(struct tm_xspace *x, struct tm_reader *w, const struct tm_head *head, bool is_cut,
                             struct event_entry *e)
{
    if (head->number == VALUE_STATS)
        take_entry_stat(x, w, head->value, is_cut, e);
    else if (head->number == VALUE_NAME)
        e->row.name = put_text(x, name_bytes(x, w, head->value));
    else if (head->number == VALUE_DISPLAY_NAME)
        e->display = put_text(x, name_bytes(x, w, head->value));
}

/* Arguments that all events of the entry have. */
static void add_common(struct tm_xspace *x, struct event_entry *e)
{
    struct tm_trace *const trace = x->source.trace;

    if (!x->arguments)
        return;
    put_names(x, e->row.name, e->display, e->is_tpu, &e->common);
    if (tm_trace_add_common(trace, tm_arguments_end(&e->common), &e->row.common) == TM_OK && e->common.is_cut)
        tm_tally_add(&trace->run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
}

/* All fields have been read: the row. */
static void finish_entry(struct tm_xspace *x, struct event_entry *e)
{
    struct tm_event_row *const row = &e->row;

    row->config = add_op_config(x, tm_rows_at(x->planes, row->plane), row->name, &e->facts);
    row->traits = row->name ? tm_names_info(x->source.trace->names, row->name).traits : 0;
    add_common(x, e);
    if (e->is_tpu && e->display) /* the name of a TPU op is its whole HLO text; this is what people call it */
        row->name = e->display;
    row->key = tm_metadata_key(row->plane, row->id);
    tm_index_put(x->events, row);
}

void tm_xspace_event_entry(struct tm_xspace *x, uint64_t plane_number, struct tm_reader *w, bool *is_damaged)
{
    const struct tm_plane *plane = tm_rows_at(x->planes, plane_number);
    struct event_entry e = { .row = { .plane = plane_number },
                             .facts = { .config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE } },
                             .is_tpu = plane->side == TM_SIDE_DEVICE && plane->device_kind == TM_DEVICE_TPU,
                             .holds_programs = plane->is_metadata };
    struct tm_head head;
    bool damaged = false;

    if (!enter_value(w, &e.row.id, is_damaged))
        return;
    if (x->arguments)
        tm_xarguments_begin(x, &e.common);
    while (!damaged && tm_reader_head(w, &head, &damaged)) {
        *is_damaged |= damaged || is_misfit_of_value(&head);
        if (head.type != TM_WIRE_LEN)
            continue;
        take_entry_field(x, w, &head, damaged, &e);
        if (!damaged)
            tm_reader_skip(w, head.value);
    }
    if (e.program.found)
        add_program(x, e.row.name, &e.program);
    finish_entry(x, &e);
}

/* Facts about a device or the software, by the name of the statistic. */
enum fact_kind { FACT_TEXT, FACT_U64, FACT_U32, FACT_I64, FACT_DOUBLE, FACT_GIGABYTES };

struct fact {
    const char *name;
    size_t offset, bytes;
    enum fact_kind kind;
};

#define MEMBER(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)

static const struct fact device_facts[] = {
    { "device_vendor", MEMBER(tm_device, vendor), FACT_TEXT },
    { "gpu_device_name", MEMBER(tm_device, model), FACT_TEXT },
    { "device_type_string", MEMBER(tm_device, model), FACT_TEXT },
    { "core_count", MEMBER(tm_device, core_count), FACT_U64 },
    { "clock_rate", MEMBER(tm_device, clock_khz), FACT_U64 },
    { "memory_bandwidth", MEMBER(tm_device, memory_bandwidth_bytes), FACT_U64 },
    { "memory_size", MEMBER(tm_device, memory_bytes), FACT_U64 },
    { "compute_cap_major", MEMBER(tm_device, capability_major), FACT_U32 },
    { "compute_cap_minor", MEMBER(tm_device, capability_minor), FACT_U32 },
    { "peak_teraflops_per_second", MEMBER(tm_device, peak_tflops), FACT_DOUBLE },
    { "peak_hbm_bw_gigabytes_per_second", MEMBER(tm_device, memory_bandwidth_bytes), FACT_GIGABYTES },
};

static const struct fact environment_facts[] = {
    { "jax_version", MEMBER(tm_environment, jax), FACT_TEXT },
    { "jaxlib_version", MEMBER(tm_environment, jaxlib), FACT_TEXT },
    { "cuda_version", MEMBER(tm_environment, cuda), FACT_TEXT },
    { "cuda_runtime_version", MEMBER(tm_environment, cuda_runtime), FACT_TEXT },
    { "cuda_driver_version", MEMBER(tm_environment, driver), FACT_TEXT },
    { "rocm_version", MEMBER(tm_environment, rocm), FACT_TEXT },
    { "libtpu_version", MEMBER(tm_environment, libtpu), FACT_TEXT },
    { "cpu_version", MEMBER(tm_environment, platform_version), FACT_TEXT },
    { "gpu_version", MEMBER(tm_environment, platform_version), FACT_TEXT },
    { "tpu_version", MEMBER(tm_environment, platform_version), FACT_TEXT },
    { "process_id", MEMBER(tm_environment, process_id), FACT_I64 },
    { "profile_start_time", MEMBER(tm_environment, begin_ns), FACT_U64 },
    { "profile_stop_time", MEMBER(tm_environment, end_ns), FACT_U64 },
};

#undef MEMBER

static void put_fact(struct tm_xspace *x, uint64_t plane, const Tracemill__Stat *stat, const struct fact *fact,
                     void *to_struct)
{
    void *to = (char *)to_struct + fact->offset;
    const int64_t whole = stat_int(stat);
    const double gigabytes = stat_double(stat);
    tm_strid text;

    switch (fact->kind) {
    case FACT_TEXT:
        text = stat_text(x, plane, stat);
        if (text)
            copy_text(x, text, to, fact->bytes);
        else if (whole)
            (void)snprintf(to, fact->bytes, "%lld", (long long)whole);
        break;
    case FACT_U64:
    case FACT_I64:
        memcpy(to, &whole, sizeof(whole));
        break;
    case FACT_U32:
        *(uint32_t *)to = whole > 0 && whole < UINT32_MAX ? (uint32_t)whole : 0;
        break;
    case FACT_DOUBLE:
        *(double *)to = stat_double(stat);
        break;
    case FACT_GIGABYTES:
        *(uint64_t *)to = gigabytes > 0 && gigabytes < 1e9 ? (uint64_t)(gigabytes * 1e9) : 0;
        break;
    }
}

void tm_xspace_plane_stat(struct tm_xspace *x, uint64_t plane_number, const struct tm_wire *bytes)
{
    const struct tm_plane *plane = tm_rows_at(x->planes, plane_number);
    struct tm_trace *trace = x->source.trace;
    const bool is_device = plane->device != TM_NONE;
    const struct fact *facts = is_device ? device_facts : environment_facts;
    const size_t count = is_device ? sizeof(device_facts) / sizeof(device_facts[0])
                                   : sizeof(environment_facts) / sizeof(environment_facts[0]);
    void *to = is_device ? (void *)&trace->devices[plane->device] : (void *)&trace->environment;
    Tracemill__Stat *stat;
    struct tm_unpacking unpacking;
    const char *name;

    if (!is_message(*bytes)) { /* also where it is of no use: the plane is damaged */
        tm_tally_add(&trace->run->tallies, TM_TALLY_BAD_FIELD, 1);
        return;
    }
    if (!is_device && !plane->is_environment && !plane->is_metadata && plane->side != TM_SIDE_HOST)
        return;
    if (bytes->end - bytes->at > LARGEST_STAT) {
        tm_tally_add(&trace->run->tallies, TM_TALLY_LONG_VALUE, 1);
        return;
    }
    stat = tracemill__stat__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);
    if (!stat) {
        tm_unpacking_refused(&unpacking, trace->run);
        return;
    }
    name = tm_names_text(trace->names, tm_xspace_ref(x, plane_number, stat->metadata_id), 64, NULL);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, facts[i].name)) {
            put_fact(x, plane_number, stat, &facts[i], to);
            break;
        }
    tracemill__stat__free_unpacked(stat, NULL);
}
