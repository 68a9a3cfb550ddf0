/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a memory profile.  A stack may be of any length: it is walked call by call, from the inside, and of
 * it only what is near a site is kept. */
#include <string.h>

#include "profile.pb-c.h"
#include "stages/input/bytes/unpacking.h"
#include "stages/input/pprof/pprof_private.h"

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3, VARINT_MOST = 10 };

/* Frames around the innermost one of an owner. */
struct near {
    struct tm_frame frames[TM_FRAMES_MOST];
    uint32_t count, site;
};

/* A text of a label that was put into the names before: labels have few values. */
struct known_text {
    int64_t number; /* -1 = none yet */
    tm_strid name;
};

struct sample {
    struct pprof *p;
    struct tm_reader w;
    struct known_text kinds, devices;
    /* of the present one */
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

static tm_status take_line(struct sample *s, const struct pprof_line *line)
{
    struct tm_frame frame = { .line = line->line > 0 ? line->line : 0 };
    enum tm_code_owner owner = TM_CODE_RUNTIME;
    const void *row;
    const tm_status st = tm_index_get(s->p->functions, line->function, &row);

    if (st != TM_OK)
        return st;
    if (row) {
        const struct pprof_function *function = row;

        frame.function = function->name;
        frame.file = function->file;
        owner = function->owner;
    } else {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_NO_METADATA, 1);
    }
    if (owner != TM_CODE_WRAPPER)
        take_frame(s, &frame, owner);
    return TM_OK;
}

static tm_status take_location(struct sample *s, uint64_t id)
{
    struct pprof_location location;
    const void *row;
    tm_status st = tm_index_get(s->p->locations, id, &row);

    if (st != TM_OK)
        return st;
    if (!row) {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_NO_METADATA, 1);
        return TM_OK;
    }
    location = *(const struct pprof_location *)row;
    for (uint64_t i = 0; i < location.count && st == TM_OK; i++) {
        const struct pprof_line *line = tm_rows_at(s->p->lines, location.first + i);

        st = line ? take_line(s, line) : s->p->run->error.status;
    }
    return st;
}

/* --- values and labels --- */

static tm_status take_value(struct sample *s, uint64_t value)
{
    if (s->value_count < PPROF_VALUES_MOST)
        s->values[s->value_count++] = (int64_t)value;
    return TM_OK;
}

static tm_status take_text(struct sample *s, int64_t number, struct known_text *known, tm_strid *name)
{
    const char *text;
    size_t length;
    tm_status st = TM_OK;

    if (known->number != number) {
        st = pprof_text(s->p, number, &text, &length);
        if (st == TM_OK)
            st = tm_names_put(s->p->names, text, length, &known->name);
        known->number = st == TM_OK ? number : -1;
    }
    *name = known->name;
    return st;
}

static tm_status use_label(struct sample *s, const Tracemill__Pprof__Label *label)
{
    const char *key;
    size_t length;
    const tm_status st = pprof_text(s->p, label->key, &key, &length);

    if (st != TM_OK)
        return st;
    if (length == 4 && !memcmp(key, "kind", 4))
        return take_text(s, label->str, &s->kinds, &s->kind);
    if (length == 6 && !memcmp(key, "device", 6))
        return take_text(s, label->str, &s->devices, &s->device);
    return TM_OK;
}

static tm_status take_label(struct sample *s, uint64_t length)
{
    Tracemill__Pprof__Label *label;
    struct tm_wire bytes;
    struct tm_unpacking unpacking;
    tm_status st;

    if (length > PPROF_SAMPLE_BUFFER) {
        tm_tally_add(&s->p->run->tallies, TM_TALLY_LONG_VALUE, 1);
        return TM_OK;
    }
    st = tm_reader_peek(&s->w, (size_t)length, &bytes);
    if (st != TM_OK)
        return st;
    label = tracemill__pprof__label__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes.end - bytes.at), bytes.at);
    if (!label)
        return tm_unpacking_refused(&unpacking, s->p->run);
    st = use_label(s, label);
    tracemill__pprof__label__free_unpacked(label, NULL);
    return st;
}

/* --- a sample --- */

typedef tm_status take_number(struct sample *s, uint64_t value);

/* Numbers in one field, to its end. */
static tm_status take_packed(struct sample *s, uint64_t length, take_number *take)
{
    const uint64_t end = tm_reader_offset(&s->w) + length;
    tm_status st = TM_OK;

    while (st == TM_OK && tm_reader_offset(&s->w) < end) {
        const uint64_t left = end - tm_reader_offset(&s->w);
        struct tm_wire view;
        const uint8_t *first;
        uint64_t value;

        st = tm_reader_peek(&s->w, left < VARINT_MOST ? (size_t)left : VARINT_MOST, &view);
        if (st != TM_OK)
            break;
        first = view.at;
        s->is_bad |= !tm_wire_varint(&view, &value);
        if (s->is_bad)
            return TM_OK;
        tm_reader_skip(&s->w, (uint64_t)(view.at - first));
        st = take(s, value);
    }
    return st;
}

static tm_status take_numbers(struct sample *s, const struct tm_head *head, take_number *take)
{
    if (head->type == TM_WIRE_VARINT)
        return take(s, head->value);
    if (head->type == TM_WIRE_LEN)
        return take_packed(s, head->value, take);
    tm_tally_add(&s->p->run->tallies, TM_TALLY_BAD_FIELD, 1);
    return TM_OK;
}

static tm_status take_field(struct sample *s, const struct tm_head *head)
{
    const uint64_t next = tm_reader_offset(&s->w) + (head->type == TM_WIRE_LEN ? head->value : 0);
    tm_status st = TM_OK;

    if (head->number == SAMPLE_LOCATION)
        st = take_numbers(s, head, take_location);
    else if (head->number == SAMPLE_VALUE)
        st = take_numbers(s, head, take_value);
    else if (head->number == SAMPLE_LABEL && head->type == TM_WIRE_LEN)
        st = take_label(s, head->value);
    if (st == TM_OK && !s->is_bad)
        tm_reader_skip(&s->w, next - tm_reader_offset(&s->w));
    return st;
}

static tm_status walk_sample(struct sample *s, uint64_t at, uint64_t length)
{
    struct tm_head head;
    bool more = true;
    tm_status st = TM_OK;

    memset(s->near, 0, sizeof(s->near));
    s->has_before = s->is_bad = false;
    s->value_count = 0;
    s->kind = s->device = 0;
    tm_reader_init(&s->w, s->p->input, s->p->sample_buffer, PPROF_SAMPLE_BUFFER, at, at + length);
    while (st == TM_OK && !s->is_bad) {
        st = tm_reader_head(&s->w, &head, &more, &s->is_bad);
        if (st != TM_OK || !more || s->is_bad)
            break;
        st = take_field(s, &head);
    }
    if (s->is_bad)
        pprof_damaged(s->p, "a sample cannot be read", at);
    return st;
}

/* A value that is not there, or below zero, which no amount of memory is, counts nothing. */
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

tm_status pprof_read_samples(struct pprof *p, tm_take_memory_sample *take, void *to)
{
    struct sample s = { .p = p, .kinds = { .number = -1 }, .devices = { .number = -1 } };
    struct tm_reader w;
    struct tm_head head;
    bool more;
    tm_status st;

    tm_reader_init(&w, p->input, p->buffer, PPROF_BUFFER, 0, p->end);
    st = pprof_next_field(p, &w, &head, &more);
    while (st == TM_OK && more) {
        if (head.number == PROFILE_SAMPLE && head.type == TM_WIRE_LEN) {
            st = walk_sample(&s, tm_reader_offset(&w), head.value);
            if (st == TM_OK && !s.is_bad)
                st = give(&s, take, to);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
        if (st == TM_OK)
            st = pprof_next_field(p, &w, &head, &more);
    }
    return st;
}
