/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a device memory profile in two passes: first the tables, with the strings last, then the samples.
 * Memory: three buffers; the tables spill. */
#include "stages/input/formats.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/store/names.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "profile.pb-c.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/xspace/xspace_reader.h"

enum {
    PPROF_BUFFER = 64 << 10,        /* of the window on the profile and of strings: the longest that are read */
    PPROF_SAMPLE_BUFFER = 16 << 10, /* of the window on a sample */
    PPROF_VALUES_MOST = 16,         /* kinds of values */
};

/* Numbers of the fields of a profile. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
};

struct pprof_string {
    uint64_t at; /* in the input */
    uint64_t length;
};

/* A function as in the file: numbers of strings. */
struct pprof_raw_function {
    uint64_t id;
    int64_t name, file;
};

struct pprof_function {
    uint64_t key; /* its id */
    tm_strid name, file;
    uint32_t owner; /* enum tm_code_owner */
};

struct pprof_location {
    uint64_t key;          /* its id */
    uint64_t first, count; /* rows of lines: what was inlined comes first */
};

struct pprof_line {
    uint64_t function;
    int64_t line;
};

/* The type of a value: numbers of strings. */
struct pprof_type {
    int64_t type, unit;
};

struct pprof {
    struct tm_run *run;
    const struct tm_input *input;
    struct tm_names *names;
    struct tm_pprof_damage *damage;
    uint8_t *buffer, *sample_buffer; /* of windows */
    char *text;                      /* PPROF_BUFFER bytes */
    uint64_t end;                    /* of the whole fields */
    struct tm_rows *strings;         /* struct pprof_string */
    struct tm_rows *raw;             /* struct pprof_raw_function */
    struct tm_rows *lines;           /* struct pprof_line */
    struct tm_index *locations;      /* struct pprof_location */
    struct tm_index *functions;      /* struct pprof_function */
    struct pprof_type types[PPROF_VALUES_MOST];
    uint32_t type_count;
    int count_at, bytes_at; /* places among the values; count_at -1 = every sample is one */
};

/* The tables of a memory profile: strings by their place in the file, functions, locations, kinds of values.  They
 * may come in any order, and refer to strings that come last. */

/* out: false: the run has failed */
static bool make_tables(struct pprof *p)
{
    const size_t share = tm_budget_share(&p->run->budget, TM_ACCOUNT_METADATA) / 8;

    p->strings = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_string), share);
    p->raw = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_raw_function), share);
    p->lines = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_line), share);
    p->locations = tm_index_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_location), share, TM_INDEX_LAST, NULL);
    p->functions = tm_index_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_function), share, TM_INDEX_LAST, NULL);
    return p->strings && p->raw && p->lines && p->locations && p->functions;
}

/* tolerates what was not made */
static void pprof_free_tables(struct pprof *p)
{
    tm_rows_free(p->strings);
    tm_rows_free(p->raw);
    tm_rows_free(p->lines);
    tm_index_free(p->locations);
    tm_index_free(p->functions);
}

/* --- strings --- */

/* A string by its number, cut at PPROF_BUFFER; "" and a tally if there is none.
 * out: valid until the next call */
static const char *pprof_text(struct pprof *p, int64_t number, size_t *length)
{
    const struct pprof_string *row;
    uint64_t bytes;

    *length = 0;
    if (number < 0 || (uint64_t)number >= tm_rows_count(p->strings)) {
        tm_tally_add(&p->run->tallies, TM_TALLY_NO_METADATA, 1);
        return "";
    }
    row = tm_rows_at(p->strings, (uint64_t)number);
    bytes = row->length < PPROF_BUFFER ? row->length : PPROF_BUFFER;
    if (bytes < row->length)
        tm_tally_add(&p->run->tallies, TM_TALLY_LONG_VALUE, 1);
    (void)!tm_input_read(p->input, p->text, (size_t)bytes, row->at, length);
    return p->text;
}

static tm_strid put_text(struct pprof *p, int64_t number)
{
    size_t length;
    const char *const text = pprof_text(p, number, &length);

    return tm_names_put(p->names, text, length);
}

/* --- messages --- */

/* Takes an unpacked small message. */
typedef void use_message(struct pprof *p, const struct tm_wire *bytes);

static void use_type(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__ValueType *m = tracemill__pprof__value_type__unpack(tm_unpacking_begin(&unpacking),
                                                                          (size_t)(bytes->end - bytes->at), bytes->at);

    if (!m) {
        tm_unpacking_refused(&unpacking, p->run);
        return;
    }
    if (p->type_count < PPROF_VALUES_MOST)
        p->types[p->type_count++] = (struct pprof_type){ m->type, m->unit };
    tracemill__pprof__value_type__free_unpacked(m, NULL);
}

static void use_location(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__Location *m =
        tracemill__pprof__location__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);
    struct pprof_location row = { .first = tm_rows_count(p->lines) };

    if (!m) {
        tm_unpacking_refused(&unpacking, p->run);
        return;
    }
    row.key = m->id;
    row.count = m->n_line;
    for (size_t i = 0; i < m->n_line; i++) {
        const struct pprof_line line = { m->line[i]->function_id, m->line[i]->line };

        tm_rows_append(p->lines, &line);
    }
    tracemill__pprof__location__free_unpacked(m, NULL);
    tm_index_put(p->locations, &row);
}

static void use_function(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__Function *m =
        tracemill__pprof__function__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);
    struct pprof_raw_function row;

    if (!m) {
        tm_unpacking_refused(&unpacking, p->run);
        return;
    }
    row = (struct pprof_raw_function){ m->id, m->name ? m->name : m->system_name, m->filename };
    tracemill__pprof__function__free_unpacked(m, NULL);
    tm_rows_append(p->raw, &row);
}

/* The bytes of a message at the window's place; what is longer than the window is left out. */
static void take_message(struct pprof *p, struct tm_reader *w, uint64_t length, use_message *use)
{
    if (length > PPROF_BUFFER) {
        tm_tally_add(&p->run->tallies, TM_TALLY_LONG_VALUE, 1);
        return;
    }
    const struct tm_wire bytes = tm_reader_peek(w, (size_t)length);

    use(p, &bytes);
}

static void take_field(struct pprof *p, struct tm_reader *w, const struct tm_head *head)
{
    const struct pprof_string string = { tm_reader_offset(w), head->value };

    switch (head->number) {
    case PROFILE_SAMPLE_TYPE:
        take_message(p, w, head->value, use_type);
        break;
    case PROFILE_LOCATION:
        take_message(p, w, head->value, use_location);
        break;
    case PROFILE_FUNCTION:
        take_message(p, w, head->value, use_function);
        break;
    case PROFILE_STRING:
        tm_rows_append(p->strings, &string);
        break;
    default: /* samples wait for the tables; nothing else is requested */
        break;
    }
}

static bool pprof_next_field(struct pprof *p, struct tm_reader *w, struct tm_head *head);
static tm_status pprof_read_samples(struct pprof *p, tm_take_memory_sample *take, void *to);

static void scan(struct pprof *p)
{
    struct tm_reader w;
    struct tm_head head;

    tm_reader_init(&w, p->input, p->buffer, PPROF_BUFFER, 0, p->end);
    while (!tm_failed(p->run) && pprof_next_field(p, &w, &head)) {
        if (head.type == TM_WIRE_LEN) {
            take_field(p, &w, &head);
            tm_reader_skip(&w, head.value);
        } else if (head.number <= PROFILE_STRING) { /* those are all messages and strings */
            tm_tally_add(&p->run->tallies, TM_TALLY_BAD_FIELD, 1);
        }
    }
}

/* --- when all is known --- */

static void name_functions(struct pprof *p)
{
    for (uint64_t i = 0; i < tm_rows_count(p->raw) && !tm_failed(p->run); i++) {
        const struct pprof_raw_function raw = *(const struct pprof_raw_function *)tm_rows_at(p->raw, i);
        struct pprof_function function = { .key = raw.id, .name = put_text(p, raw.name) };
        size_t length;
        const char *const text = pprof_text(p, raw.file, &length);

        function.owner = tm_code_owner_of(text, length);
        function.file = tm_names_put(p->names, text, length);
        tm_index_put(p->functions, &function);
    }
}

/* The place of the value with that unit: of several the one of the first listed type, else the last one.
 * out: -1 = there is none */
static int find_value(struct pprof *p, const char *unit, const char *const wanted[2])
{
    int best = 3; /* 0 and 1 are places in `wanted` */
    int at = -1;

    for (uint32_t i = 0; i < p->type_count; i++) {
        size_t length;
        const char *text = pprof_text(p, p->types[i].unit, &length);
        int rank = 2;

        if (length != strlen(unit) || memcmp(text, unit, length) != 0)
            continue;
        text = pprof_text(p, p->types[i].type, &length);
        for (int k = 0; k < 2; k++)
            if (length == strlen(wanted[k]) && !memcmp(text, wanted[k], length))
                rank = k;
        if (rank < best || (rank == 2 && best == 2)) {
            best = rank;
            at = (int)i;
        }
    }
    return at;
}

/* JAX counts "allocations" and "space"; heap profiles of other programs have what is in use among others. */
static void find_values(struct pprof *p)
{
    static const char *const spaces[2] = { "space", "inuse_space" };
    static const char *const objects[2] = { "allocations", "inuse_objects" };

    p->bytes_at = find_value(p, "bytes", spaces);
    p->count_at = find_value(p, "count", objects);
    if (tm_failed(p->run) || p->bytes_at >= 0)
        return;
    if (p->damage->is_damaged)
        (void)tm_fail(&p->run->error, TM_ERR_INPUT, -1, "%s is damaged: the types of its values are missing",
                      p->input->name);
    else
        (void)tm_fail(&p->run->error, TM_ERR_INPUT, -1, "%s is a pprof profile without memory sizes", p->input->name);
    tm_hint(&p->run->error, "use the file written by jax.profiler.save_device_memory_profile()");
}

/* The first reading.  Fills everything above.
 * errors: as in tm_pprof_read */
static void pprof_read_tables(struct pprof *p)
{
    if (!make_tables(p))
        return;
    scan(p);
    tm_index_finish(p->locations);
    find_values(p);
    name_functions(p);
    tm_index_finish(p->functions);
    tm_tally_add(&p->run->tallies, TM_TALLY_DUPLICATE_METADATA,
                 tm_index_duplicate_count(p->locations) + tm_index_duplicate_count(p->functions));
}

/* The damage that is reported, where it is the first. */
static void pprof_damaged(struct pprof *p, const char *what, uint64_t at)
{
    if (p->damage->is_damaged)
        return;
    p->damage->is_damaged = true;
    (void)snprintf(p->damage->problem, sizeof(p->damage->problem), "the memory profile is damaged: %s (byte %llu)",
                   what, (unsigned long long)at);
}

/* The fields of the whole part of the profile, one after the other.
 * out: false at the end */
static bool pprof_next_field(struct pprof *p, struct tm_reader *w, struct tm_head *head)
{
    bool damaged;

    if (!tm_reader_head(w, head, &damaged))
        return false;
    if (!damaged)
        return true;
    pprof_damaged(p, "it ends in the middle of a message, or is not a pprof file", head->offset);
    tm_tally_add(&p->run->tallies, TM_TALLY_CUT_SHORT, w->end - head->offset);
    p->end = head->offset;
    return false;
}

/* --- whose code --- */

static bool has(const char *text, size_t length, const char *part)
{
    return memmem(text, length, part, strlen(part)) != NULL;
}

static bool begins(const char *text, size_t length, const char *part)
{
    return length >= strlen(part) && memcmp(text, part, strlen(part)) == 0;
}

enum tm_code_owner tm_code_owner_of(const char *file, size_t length)
{
    static const char *const runtime[] = { "/jax/_src/", "-packages/jax/", "/jaxlib/", "-packages/jaxlib/" };
    static const char *const runtime_begin[] = { "jax/_src/", "jaxlib/", "xla/", "external/" };
    static const char *const library[] = { "/site-packages/", "/dist-packages/", "/lib/python3", "\\site-packages\\" };

    if (length == 0)
        return TM_CODE_RUNTIME;
    if (has(file, length, "/jax/_src/traceback_util.py"))
        return TM_CODE_WRAPPER;
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
        if (has(file, length, runtime[i]) || begins(file, length, runtime_begin[i]))
            return TM_CODE_RUNTIME;
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
        if (has(file, length, library[i]))
            return TM_CODE_LIBRARY;
    return begins(file, length, "<frozen ") ? TM_CODE_LIBRARY : TM_CODE_USER;
}

/* --- reading --- */

tm_status tm_pprof_read(struct tm_run *run, const struct tm_input *input, struct tm_names *names,
                        tm_take_memory_sample *take, void *to, struct tm_pprof_damage *damage)
{
    struct pprof p = { .run = run, .input = input, .names = names, .damage = damage, .end = input->bytes };
    tm_status st;

    *damage = (struct tm_pprof_damage){ .is_damaged = false };
    p.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_BUFFER, &run->error);
    p.sample_buffer = p.buffer ? tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_SAMPLE_BUFFER, &run->error) : NULL;
    p.text = p.sample_buffer ? tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_BUFFER, &run->error) : NULL;
    if (p.text)
        pprof_read_tables(&p);
    st = tm_failed(run) ? run->error.status : pprof_read_samples(&p, take, to);
    pprof_free_tables(&p);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.text, p.text ? PPROF_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.sample_buffer, p.sample_buffer ? PPROF_SAMPLE_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.buffer, p.buffer ? PPROF_BUFFER : 0);
    return st;
}

/* The samples of a memory profile.  A stack may be of any length: it is walked call by call, from the inside, and only
 * what is near a site is kept. */

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3, VARINT_MOST = 10 };

/* Frames around the innermost one of an owner. */
struct near {
    struct tm_frame frames[TM_FRAMES_MOST];
    uint32_t count, site;
};

/* A string of a label that was put into the names before: labels have few values. */
struct known_text {
    int64_t number; /* -1 = none yet */
    tm_strid name;
};

struct sample {
    struct pprof *p;
    struct tm_reader w;
    struct known_text kinds, devices;
    /* of the current one */
    struct near near[TM_CODE_OWNERS];
    struct tm_frame before; /* the frame that came last */
    bool has_before;
    int64_t values[PPROF_VALUES_MOST];
    uint32_t value_count;
    tm_strid kind, device;
    bool is_bad;
};

/* --- the stack --- */

static void take_frame(struct sample *s, const struct tm_frame *frame, enum tm_code_owner owner)
{
    for (int i = 0; i < TM_CODE_OWNERS; i++) {
        struct near *near = &s->near[i];

        if (near->count && near->count < TM_FRAMES_MOST) {
            near->frames[near->count++] = *frame;
        } else if (!near->count && i == (int)owner) {
            if (s->has_before)
                near->frames[near->count++] = s->before;
            near->site = near->count;
            near->frames[near->count++] = *frame;
        }
    }
    s->before = *frame;
    s->has_before = true;
}

static void take_line(struct sample *s, const struct pprof_line *line)
{
    struct tm_frame frame = { .line = line->line > 0 ? line->line : 0 };
    enum tm_code_owner owner = TM_CODE_RUNTIME;
    const struct pprof_function *const function = tm_index_get(s->p->functions, line->function);

    if (function) {
        frame.function = function->name;
        frame.file = function->file;
        owner = function->owner;
    } else {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_NO_METADATA, 1);
    }
    if (owner != TM_CODE_WRAPPER)
        take_frame(s, &frame, owner);
}

static void take_location(struct sample *s, uint64_t id)
{
    const struct pprof_location *const row = tm_index_get(s->p->locations, id);

    if (!row) {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_NO_METADATA, 1);
        return;
    }
    const struct pprof_location location = *row;

    for (uint64_t i = 0; i < location.count && !tm_failed(s->p->run); i++)
        take_line(s, tm_rows_at(s->p->lines, location.first + i));
}

/* --- values and labels --- */

static void take_value(struct sample *s, uint64_t value)
{
    if (s->value_count < PPROF_VALUES_MOST)
        s->values[s->value_count++] = (int64_t)value;
}

static tm_strid take_text(struct sample *s, int64_t number, struct known_text *known)
{
    if (known->number != number)
        *known = (struct known_text){ number, put_text(s->p, number) };
    return known->name;
}

static void use_label(struct sample *s, const Tracemill__Pprof__Label *label)
{
    size_t length;
    const char *const key = pprof_text(s->p, label->key, &length);

    if (length == 4 && !memcmp(key, "kind", 4))
        s->kind = take_text(s, label->str, &s->kinds);
    else if (length == 6 && !memcmp(key, "device", 6))
        s->device = take_text(s, label->str, &s->devices);
}

static void take_label(struct sample *s, uint64_t length)
{
    Tracemill__Pprof__Label *label;
    struct tm_wire bytes;
    struct tm_unpacking unpacking;

    if (length > PPROF_SAMPLE_BUFFER) {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_LONG_VALUE, 1);
        return;
    }
    bytes = tm_reader_peek(&s->w, (size_t)length);
    label = tracemill__pprof__label__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes.end - bytes.at), bytes.at);
    if (!label) {
        tm_unpacking_refused(&unpacking, s->p->run);
        return;
    }
    use_label(s, label);
    tracemill__pprof__label__free_unpacked(label, NULL);
}

/* --- a sample --- */

typedef void take_number(struct sample *s, uint64_t value);

/* Numbers in one field, to its end. */
static void take_packed(struct sample *s, uint64_t length, take_number *take)
{
    const uint64_t end = tm_reader_offset(&s->w) + length;

    while (tm_reader_offset(&s->w) < end) {
        const uint64_t left = end - tm_reader_offset(&s->w);
        struct tm_wire view = tm_reader_peek(&s->w, left < VARINT_MOST ? (size_t)left : VARINT_MOST);
        const uint8_t *const first = view.at;
        uint64_t value;

        s->is_bad |= !tm_wire_varint(&view, &value);
        if (s->is_bad)
            return;
        tm_reader_skip(&s->w, (uint64_t)(view.at - first));
        take(s, value);
    }
}

static void take_numbers(struct sample *s, const struct tm_head *head, take_number *take)
{
    if (head->type == TM_WIRE_VARINT)
        take(s, head->value);
    else if (head->type == TM_WIRE_LEN)
        take_packed(s, head->value, take);
    else
        tm_tally_add(&s->p->run->tallies, TM_TALLY_BAD_FIELD, 1);
}

static void take_sample_field(struct sample *s, const struct tm_head *head)
{
    const uint64_t next = tm_reader_offset(&s->w) + (head->type == TM_WIRE_LEN ? head->value : 0);

    if (head->number == SAMPLE_LOCATION)
        take_numbers(s, head, take_location);
    else if (head->number == SAMPLE_VALUE)
        take_numbers(s, head, take_value);
    else if (head->number == SAMPLE_LABEL && head->type == TM_WIRE_LEN)
        take_label(s, head->value);
    if (!s->is_bad)
        tm_reader_skip(&s->w, next - tm_reader_offset(&s->w));
}

static void walk_sample(struct sample *s, uint64_t at, uint64_t length)
{
    struct tm_head head;

    memset(s->near, 0, sizeof(s->near));
    s->has_before = s->is_bad = false;
    s->value_count = 0;
    s->kind = s->device = 0;
    tm_reader_init(&s->w, s->p->input, s->p->sample_buffer, PPROF_SAMPLE_BUFFER, at, at + length);
    while (!s->is_bad && tm_reader_head(&s->w, &head, &s->is_bad) && !s->is_bad)
        take_sample_field(s, &head);
    if (s->is_bad)
        pprof_damaged(s->p, "a sample cannot be read", at);
}

/* A value that is missing or negative, which no amount of memory is, counts as 0. */
static uint64_t value_of(const struct sample *s, int at)
{
    if ((uint32_t)at < s->value_count && s->values[at] >= 0)
        return (uint64_t)s->values[at];
    tm_tally_add(&s->p->run->tallies, TM_TALLY_BAD_FIELD, 1);
    return 0;
}

/* XLA writes count * size, and -1 for a size that it does not know: that of programs on a CPU. */
static bool is_unsized(const struct sample *s, uint64_t count)
{
    const int at = s->p->bytes_at;

    return (uint32_t)at < s->value_count && s->values[at] < 0 &&
           (s->values[at] == -1 || (uint64_t)0 - (uint64_t)s->values[at] == count);
}

static tm_status give(const struct sample *s, tm_take_memory_sample *take, void *to)
{
    struct tm_memory_sample sample = { .kind = s->kind, .device = s->device };

    sample.count = s->p->count_at >= 0 ? value_of(s, s->p->count_at) : 1;
    sample.is_unsized = is_unsized(s, sample.count);
    if (sample.is_unsized)
        tm_tally_add(&s->p->run->tallies, TM_TALLY_UNKNOWN_SIZE, 1);
    else
        sample.bytes = value_of(s, s->p->bytes_at);
    for (int i = 0; i < TM_CODE_OWNERS && !sample.frame_count; i++) {
        memcpy(sample.frames, s->near[i].frames, sizeof(sample.frames));
        sample.frame_count = s->near[i].count;
        sample.site = s->near[i].site;
    }
    return take(to, &sample);
}

/* The second reading. */
static tm_status pprof_read_samples(struct pprof *p, tm_take_memory_sample *take, void *to)
{
    struct sample s = { .p = p, .kinds = { .number = -1 }, .devices = { .number = -1 } };
    struct tm_reader w;
    struct tm_head head;

    tm_reader_init(&w, p->input, p->buffer, PPROF_BUFFER, 0, p->end);
    while (pprof_next_field(p, &w, &head)) {
        if (head.number == PROFILE_SAMPLE && head.type == TM_WIRE_LEN) {
            walk_sample(&s, tm_reader_offset(&w), head.value);
            const tm_status st = tm_failed(p->run) ? p->run->error.status : s.is_bad ? TM_OK : give(&s, take, to);

            if (st != TM_OK)
                return st;
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
    }
    return p->run->error.status;
}
