/* SPDX-License-Identifier: Apache-2.0 */
/* Packets out of a stream of bytes.  Two windows of fixed size: on the content, and on what is unpacked; the second
 * one is fed from the first.  A packet is walked as a whole before it is returned, so a wrong length is noticed where
 * it is. */
#include "stages/input/perfetto/pftrace_reader.h"

#include <string.h>

enum {
    TRACE_PACKET = 0x0a, /* field 1 of Trace */
    HEAD_MOST = 1 + 10,
    WINDOW_BYTES = (256 << 10) + 64, /* a packet of packed ones may be larger */
    WINDOW_LEAST = 64,
    PACKET_MOST = 256 << 20, /* a larger length is damage */
    AGAIN_FREE = 1 << 20,    /* bytes that a search for a packet may examine again, */
    AGAIN_TIMES = 16,        /* and for each byte skipped */
};

/* Fields of TracePacket. */
enum {
    FTRACE_EVENTS = 1,
    PROCESS_TREE = 2,
    CLOCK_SNAPSHOT = 6,
    TIMESTAMP = 8,
    SEQUENCE_ID = 10,
    TRACK_EVENT = 11,
    INTERNED_DATA = 12,
    SEQUENCE_FLAGS = 13,
    STATE_CLEARED = 41,
    PACKETS_DROPPED = 42,
    PROCESS_DESCRIPTOR = 43,
    THREAD_DESCRIPTOR = 44,
    COMPRESSED_PACKETS = 50,
    CLOCK_ID = 58,
    PACKET_DEFAULTS = 59,
    TRACK_DESCRIPTOR = 60,
    MACHINE_ID = 98,
    TRACE_ATTRIBUTES = 126,
    ZSTD_PACKETS = 133,
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

struct window {
    uint8_t *buffer;
    size_t room, at, end; /* the bytes [at, end) are available */
    uint64_t base;        /* where the buffer's first byte is in its content */
    bool at_end;          /* nothing follows */
};

struct tm_pftrace_reader {
    struct tm_run *run;
    struct tm_input *input;
    size_t read_bytes;
    struct window outer, inner;
    struct tm_decoder *decoder; /* NULL: the next packet is in `outer` */
    uint64_t packed_left;       /* bytes of the packed field that it has not received yet */
    uint64_t after_packed;      /* and of its packet after them */
    uint64_t packed_at;         /* where that packet starts */
    bool may_have_more;         /* the decoder has filled the window */
    bool is_inner_cut;          /* what was unpacked ends inside a packet */
    struct tm_pftrace_damage damage;
};

/* --- windows --- */

/* The bytes that are left move to the front. */
static void make_room(struct window *w)
{
    if (w->at == 0)
        return;
    memmove(w->buffer, w->buffer + w->at, w->end - w->at);
    w->base += w->at;
    w->end -= w->at;
    w->at = 0;
}

static void fill_outer(struct tm_pftrace_reader *r)
{
    struct window *const w = &r->outer;
    const size_t room = w->room - w->end < r->read_bytes ? w->room - w->end : r->read_bytes;
    size_t got = 0;

    if (tm_failed(r->run) || tm_input_next(r->input, w->buffer + w->end, room, &got) != TM_OK || !got)
        w->at_end = true;
    else
        w->end += got;
}

/* At least `bytes` of the content, or all that is left. */
static void need_outer(struct tm_pftrace_reader *r, size_t bytes)
{
    struct window *const w = &r->outer;

    if (w->end - w->at >= bytes)
        return;
    make_room(w);
    while (w->end < bytes && !w->at_end)
        fill_outer(r);
}

static void report(struct tm_pftrace_reader *r, const char *problem, uint64_t at, bool is_cut)
{
    struct tm_pftrace_damage *const damage = &r->damage;

    tm_tally_add(&r->run->tallies, is_cut ? TM_TALLY_CUT_SHORT : TM_TALLY_DAMAGED_PACKETS, 1);
    damage->places += !is_cut;
    if (damage->problem)
        return;
    damage->problem = problem;
    damage->at = at;
}

static void fill_inner(struct tm_pftrace_reader *r)
{
    struct window *const w = &r->inner, *const from = &r->outer;
    struct tm_flow flow = { .out = w->buffer + w->end, .out_left = w->room - w->end };
    const size_t room = flow.out_left;

    if (r->packed_left && !r->may_have_more)
        need_outer(r, 1);
    flow.in = from->buffer + from->at;
    flow.in_left = from->end - from->at < r->packed_left ? from->end - from->at : (size_t)r->packed_left;
    if (!flow.in_left && !r->may_have_more) {
        w->at_end = true;
        return;
    }
    const size_t length = flow.in_left;

    if (r->decoder->type->run(r->decoder, &flow) != TM_OK)
        w->at_end = true;
    if (length && flow.in_left == length && flow.out_left == room)
        w->at_end = true; /* it neither takes nor gives anything */
    from->at += length - flow.in_left;
    r->packed_left -= length - flow.in_left;
    r->may_have_more = flow.out_left == 0;
    w->end += room - flow.out_left;
}

static void need(struct tm_pftrace_reader *r, struct window *w, size_t bytes)
{
    if (w == &r->outer) {
        need_outer(r, bytes);
        return;
    }
    if (w->end - w->at >= bytes)
        return;
    make_room(w);
    while (w->end < bytes && !w->at_end)
        fill_inner(r);
}

/* Skip bytes; false: the input ends before. */
static bool skip(struct tm_pftrace_reader *r, struct window *w, uint64_t bytes)
{
    while (bytes) {
        const size_t here = w->end - w->at < bytes ? w->end - w->at : (size_t)bytes;

        w->at += here;
        bytes -= here;
        if (!bytes)
            break;
        need(r, w, 1);
        if (w->at == w->end)
            return false;
    }
    return true;
}

static void end_packed(struct tm_pftrace_reader *r)
{
    struct tm_decoder *const decoder = r->decoder;
    bool is_damaged, is_cut;

    decoder->type->finish(decoder);
    is_damaged = decoder->problem[0] || r->is_inner_cut;
    tm_decoder_free(decoder);
    r->decoder = NULL;
    is_cut = !skip(r, &r->outer, r->packed_left + r->after_packed);
    if ((is_damaged || is_cut) && !tm_failed(r->run))
        report(r, is_cut ? "the trace ends inside a packet" : "compressed packets are damaged", r->packed_at, is_cut);
}

/* --- a packet --- */

/* Data of other sources that describes only the recording: configurations, markers, statistics. */
static bool is_about_recording(uint64_t number)
{
    static const uint8_t fields[] = { 33, 34, 35, 36, 45, 46, 47, 48, 49, 51, 69, 72, 78, 89 };

    return number >= 200 || (number <= UINT8_MAX && memchr(fields, (int)number, sizeof(fields)));
}

static bool take_message(const struct tm_field *field, struct tm_wire *to)
{
    if ((field->key & 7) != TM_WIRE_LEN)
        return false;
    *to = tm_wire_of(field);
    return true;
}

static bool take_number(const struct tm_field *field, struct tm_pftrace_packet *packet)
{
    if ((field->key & 7) != TM_WIRE_VARINT)
        return false;
    switch (field->key >> TM_WIRE_TYPE_BITS) {
    case TIMESTAMP:
        packet->timestamp = field->value;
        packet->has_timestamp = true;
        break;
    case SEQUENCE_ID:
        packet->sequence = (uint32_t)field->value;
        break;
    case SEQUENCE_FLAGS:
        packet->is_clean |= field->value & FLAG_CLEARED;
        packet->uses_state |= field->value & FLAG_NEEDS_STATE;
        break;
    case STATE_CLEARED:
        packet->is_clean |= field->value != 0;
        break;
    case PACKETS_DROPPED:
        packet->is_after_loss |= field->value != 0;
        break;
    case CLOCK_ID:
        packet->clock = (uint32_t)field->value;
        break;
    default:
        packet->machine = (uint32_t)field->value;
    }
    return true;
}

static bool take_field(const struct tm_field *field, struct tm_pftrace_packet *packet)
{
    const uint64_t number = field->key >> TM_WIRE_TYPE_BITS;

    switch (number) {
    case TIMESTAMP:
    case SEQUENCE_ID:
    case SEQUENCE_FLAGS:
    case STATE_CLEARED:
    case PACKETS_DROPPED:
    case CLOCK_ID:
    case MACHINE_ID:
        return take_number(field, packet);
    case TRACK_EVENT:
        return take_message(field, &packet->event);
    case INTERNED_DATA:
        return take_message(field, &packet->interned);
    case TRACK_DESCRIPTOR:
        return take_message(field, &packet->track);
    case PACKET_DEFAULTS:
        return take_message(field, &packet->defaults);
    case CLOCK_SNAPSHOT:
        return take_message(field, &packet->snapshot);
    case TRACE_ATTRIBUTES:
        return take_message(field, &packet->attributes);
    case PROCESS_TREE:
        return take_message(field, &packet->process_tree);
    case PROCESS_DESCRIPTOR:
        return take_message(field, &packet->process);
    case THREAD_DESCRIPTOR:
        return take_message(field, &packet->thread);
    case COMPRESSED_PACKETS:
        return take_message(field, &packet->packed);
    case ZSTD_PACKETS:
        return take_message(field, &packet->zstd);
    default:
        if ((field->key & 7) == TM_WIRE_LEN && !packet->other && !is_about_recording(number))
            packet->other = (uint32_t)number;
        return true;
    }
}

/* The fields that most packets have, in front of all others: a number may end at most TM_READER_SLACK bytes behind what
 * is in the window. */
static void read_common(struct tm_wire *bytes, struct tm_pftrace_packet *packet)
{
    while (bytes->at < bytes->end) {
        const uint8_t key = *bytes->at;
        const uint8_t *at;
        uint64_t value;

        if (key != TM_WIRE_KEY(TIMESTAMP, TM_WIRE_VARINT) && key != TM_WIRE_KEY(SEQUENCE_ID, TM_WIRE_VARINT) &&
            key != TM_WIRE_KEY(SEQUENCE_FLAGS, TM_WIRE_VARINT) && key != TM_WIRE_KEY(TRACK_EVENT, TM_WIRE_LEN))
            return;
        at = tm_wire_number(bytes->at + 1, &value, tm_wire_pack);
        if (!at || at > bytes->end)
            return;
        if (key == TM_WIRE_KEY(TRACK_EVENT, TM_WIRE_LEN)) {
            if (value > (uint64_t)(bytes->end - at))
                return;
            packet->event = (struct tm_wire){ at, at + value };
            at += value;
        } else if (key == TM_WIRE_KEY(TIMESTAMP, TM_WIRE_VARINT)) {
            packet->timestamp = value;
            packet->has_timestamp = true;
        } else if (key == TM_WIRE_KEY(SEQUENCE_ID, TM_WIRE_VARINT)) {
            packet->sequence = (uint32_t)value;
        } else {
            packet->is_clean |= value & FLAG_CLEARED;
            packet->uses_state |= (value & FLAG_NEEDS_STATE) != 0;
        }
        bytes->at = at;
    }
}

static_assert(TM_READER_SLACK >= 8, "a number can be read at the end of the window");

/* out: false: it is not a packet.  Nor is one that has its first field twice: the packets after one of a wrong length
 * look like that. */
static bool read_packet(struct tm_wire bytes, struct tm_pftrace_packet *packet)
{
    struct tm_field field;
    int first_fields = 0;

    *packet = (struct tm_pftrace_packet){ .offset = 0 };
    read_common(&bytes, packet);
    if (bytes.at == bytes.end)
        return true;
    while (tm_wire_next(&bytes, &field)) {
        first_fields += field.key >> TM_WIRE_TYPE_BITS == FTRACE_EVENTS;
        if (first_fields > 1 || !take_field(&field, packet))
            return false;
    }
    return bytes.at == bytes.end;
}

/* --- packed packets --- */

static bool is_packed(uint64_t key)
{
    return key == TM_WIRE_KEY(COMPRESSED_PACKETS, TM_WIRE_LEN) || key == TM_WIRE_KEY(ZSTD_PACKETS, TM_WIRE_LEN);
}

/* in: w  at the first byte of the packed field */
static void begin_packed(struct tm_pftrace_reader *r, bool is_zstd, uint64_t length, uint64_t after, uint64_t at)
{
    r->decoder = is_zstd ? tm_unzstd_new(r->run) : tm_unzlib_new(r->run);
    r->packed_left = length;
    r->after_packed = after;
    r->packed_at = at;
    r->may_have_more = r->is_inner_cut = false;
    r->inner.at = r->inner.end = 0;
    r->inner.base = 0;
    r->inner.at_end = false;
}

/* The packet at the window's place is packed ones: its bytes are not stepped over yet.
 * in: head, length  of the packet */
static void enter_packed(struct tm_pftrace_reader *r, const struct tm_pftrace_packet *packet, size_t head,
                         uint64_t length)
{
    const bool is_zstd = packet->zstd.at != NULL;
    const struct tm_wire field = is_zstd ? packet->zstd : packet->packed;
    struct window *const w = &r->outer;
    const uint8_t *const end = w->buffer + w->at + head + length;
    const uint64_t at = w->base + w->at;

    w->at = (size_t)(field.at - w->buffer);
    begin_packed(r, is_zstd, (uint64_t)(field.end - field.at), (uint64_t)(end - field.end), at);
}

/* --- after damage --- */

/* It has a sequence or a time, and content. */
static bool is_plausible(const struct tm_pftrace_packet *packet)
{
    if (packet->packed.at || packet->zstd.at)
        return true;
    return (packet->sequence || packet->has_timestamp) &&
           (packet->event.at || packet->track.at || packet->interned.at || packet->defaults.at || packet->snapshot.at ||
            packet->attributes.at || packet->other);
}

/* Whether a packet starts at the window's place, and another one, or nothing, follows it.
 * out: *examined  bytes that were looked at */
static bool is_packet_here(struct tm_pftrace_reader *r, struct window *w, size_t *examined)
{
    struct tm_pftrace_packet packet;
    struct tm_wire view;
    uint64_t length;

    *examined = 1;
    need(r, w, HEAD_MOST);
    view = (struct tm_wire){ w->buffer + w->at, w->buffer + w->end };
    if (*view.at++ != TRACE_PACKET || !tm_wire_varint(&view, &length))
        return false;
    const size_t head = (size_t)(view.at - w->buffer) - w->at;

    if (length == 0 || length + head > w->room)
        return false;
    need(r, w, head + (size_t)length + 1);
    if (w->end - w->at < head + length)
        return false;
    view = (struct tm_wire){ w->buffer + w->at + head, w->buffer + w->at + head + length };
    if (w->end - w->at > head + length && *view.end != TRACE_PACKET)
        return false;
    *examined = (size_t)length;
    return read_packet(view, &packet) && is_plausible(&packet);
}

/* From a place where no packet is to the next one.  Candidates that turn out to be none are examined again only to some
 * extent, so that each byte is examined a few times at most. */
static void find_packet(struct tm_pftrace_reader *r, struct window *w)
{
    uint64_t again = AGAIN_FREE, skipped = 0;

    do {
        const uint8_t *found;
        size_t examined = 1, step = 1;

        if (skipped && is_packet_here(r, w, &examined))
            break;
        if (examined > again)
            step = examined;
        else
            again += AGAIN_TIMES - examined;
        w->at += step;
        skipped += step;
        need(r, w, 1);
        found = w->at < w->end ? memchr(w->buffer + w->at, TRACE_PACKET, w->end - w->at) : NULL;
        while (!found && w->at < w->end) {
            skipped += w->end - w->at;
            w->at = w->end;
            need(r, w, 1);
            found = memchr(w->buffer + w->at, TRACE_PACKET, w->end - w->at);
        }
        if (found) {
            skipped += (size_t)(found - w->buffer) - w->at;
            w->at = (size_t)(found - w->buffer);
        }
    } while (w->at < w->end && !tm_failed(r->run));
    r->damage.bytes += skipped;
}

static uint64_t place_of(const struct tm_pftrace_reader *r, const struct window *w)
{
    return w == &r->outer ? w->base + w->at : r->packed_at;
}

/* The bytes at the window's place are no packet. */
static void skip_damage(struct tm_pftrace_reader *r, struct window *w, bool may_be_cut)
{
    const uint64_t at = place_of(r, w);
    bool is_cut;

    find_packet(r, w);
    is_cut = may_be_cut && w->at == w->end;
    if (is_cut && w == &r->inner)
        r->is_inner_cut = true;
    else if (!tm_failed(r->run))
        report(r, is_cut ? "the trace ends inside a packet" : "the data is not a packet", at, is_cut);
}

/* --- the next one --- */

/* Whether a packet of this length may start with these bytes: its available fields, by the rules of read_packet. */
static bool may_be_packet(struct tm_wire bytes, uint64_t length)
{
    const uint8_t *const begin = bytes.at;
    int first_fields = 0;
    uint64_t key, value;

    while (bytes.at < bytes.end) {
        const unsigned step = *bytes.at & 7;

        if (!tm_wire_varint(&bytes, &key))
            return bytes.end - bytes.at < HEAD_MOST; /* the window ends inside it */
        first_fields += key >> TM_WIRE_TYPE_BITS == FTRACE_EVENTS;
        if (!(key >> TM_WIRE_TYPE_BITS) || key > UINT32_MAX || first_fields > 1 || step == TM_WIRE_GROUP ||
            step == TM_WIRE_END || step > TM_WIRE_32)
            return false;
        if (step == TM_WIRE_64 || step == TM_WIRE_32)
            value = step == TM_WIRE_64 ? 8 : 4;
        else if (!tm_wire_varint(&bytes, &value))
            return bytes.end - bytes.at < HEAD_MOST;
        if (step == TM_WIRE_VARINT)
            continue;
        if (value > length - (uint64_t)(bytes.at - begin))
            return false;
        if (value > (uint64_t)(bytes.end - bytes.at))
            return true;
        bytes.at += value;
    }
    return true;
}

/* A packet that the window cannot hold: packed packets are unpacked, others are stepped over.
 * in: head, length  of the packet at the window's place.  out: false: it is none */
static bool take_large(struct tm_pftrace_reader *r, struct window *w, size_t head, uint64_t length)
{
    const uint64_t at = place_of(r, w);
    struct tm_wire view;
    uint64_t key, inside;

    need(r, w, w->room);
    view = (struct tm_wire){ w->buffer + w->at + head, w->buffer + w->end };
    if (length > PACKET_MOST || !may_be_packet(view, length) || !tm_wire_varint(&view, &key))
        return false;
    if (!tm_wire_varint(&view, &inside) || ((key & 7) == TM_WIRE_LEN && inside > length))
        return false;
    if (w == &r->outer && is_packed(key)) {
        const size_t used = (size_t)(view.at - w->buffer) - w->at;

        w->at += used;
        begin_packed(r, key == TM_WIRE_KEY(ZSTD_PACKETS, TM_WIRE_LEN), inside, length - (used - head) - inside, at);
        return true;
    }
    tm_tally_add(&r->run->tallies, TM_TALLY_LONG_VALUE, 1);
    if (!skip(r, w, head + length))
        report(r, "the trace ends inside a packet", at, true);
    return true;
}

/* The content ends inside a packet of packed ones: the available part of them is unpacked.  The length of the packet is
 * trusted if it matches that of its field.  out: false: it is something else */
static bool take_cut_packed(struct tm_pftrace_reader *r, size_t head, uint64_t length)
{
    struct window *const w = &r->outer;
    struct tm_wire view = { w->buffer + w->at + head, w->buffer + w->end };
    const uint8_t *const begin = view.at;
    const uint64_t at = w->base + w->at;
    uint64_t key, inside;

    if (!tm_wire_varint(&view, &key) || !tm_wire_varint(&view, &inside) || !is_packed(key) ||
        inside != length - (uint64_t)(view.at - begin))
        return false;
    w->at = (size_t)(view.at - w->buffer);
    begin_packed(r, key == TM_WIRE_KEY(ZSTD_PACKETS, TM_WIRE_LEN), inside, 0, at);
    return true;
}

/* out: false: none was taken, but the window may be at another place now, or packed packets were entered */
static bool take_packet(struct tm_pftrace_reader *r, struct window *w, struct tm_pftrace_packet *packet)
{
    const uint64_t at = place_of(r, w);
    struct tm_wire view = { w->buffer + w->at, w->buffer + w->end };
    uint64_t length;
    size_t head;

    if (*view.at++ != TRACE_PACKET || !tm_wire_varint(&view, &length)) {
        skip_damage(r, w, w->end - w->at < HEAD_MOST && w->buffer[w->at] == TRACE_PACKET);
        return false;
    }
    head = (size_t)(view.at - w->buffer) - w->at;
    if (length > w->room - head) {
        if (!take_large(r, w, head, length))
            skip_damage(r, w, true);
        return false;
    }
    if (w->end - w->at < head + length)
        need(r, w, head + (size_t)length);
    if (w->end - w->at < head + length) {
        if (w != &r->outer || !take_cut_packed(r, head, length))
            skip_damage(r, w, true);
        return false;
    }
    view = (struct tm_wire){ w->buffer + w->at + head, w->buffer + w->at + head + length };
    if (!read_packet(view, packet)) {
        skip_damage(r, w, false);
        return false;
    }
    if ((packet->packed.at || packet->zstd.at) && w == &r->outer) {
        enter_packed(r, packet, head, length);
        return false;
    }
    if (packet->packed.at || packet->zstd.at) /* they must not nest */
        packet->other = COMPRESSED_PACKETS;
    packet->offset = at;
    w->at += head + (size_t)length;
    return true;
}

/* Zeros follow a trace that was not written to the end of its file. */
static bool is_padding(struct tm_pftrace_reader *r)
{
    struct window *const w = &r->outer;
    const uint64_t at = w->base + w->at;

    if (w->buffer[w->at] != 0)
        return false;
    do {
        while (w->at < w->end && !w->buffer[w->at])
            w->at++;
        need_outer(r, 1);
    } while (w->at < w->end && !w->buffer[w->at]);
    if (w->at < w->end) {
        r->damage.bytes += w->base + w->at - at;
        report(r, "the data is not a packet", at, false);
        return false;
    }
    tm_tally_add(&r->run->tallies, TM_TALLY_ZERO_PADDING, 1);
    return true;
}

bool tm_pftrace_next(struct tm_pftrace_reader *r, struct tm_pftrace_packet *packet)
{
    while (!tm_failed(r->run)) {
        struct window *const w = r->decoder ? &r->inner : &r->outer;

        if (w->end - w->at < HEAD_MOST)
            need(r, w, HEAD_MOST);
        if (w->at == w->end && r->decoder) {
            end_packed(r);
            continue;
        }
        if (w->at == w->end || (w == &r->outer && is_padding(r)))
            return false;
        if (w->end - w->at < HEAD_MOST)
            need(r, w, HEAD_MOST); /* zeros may have been stepped over */
        if (take_packet(r, w, packet))
            return true;
    }
    return false;
}

const struct tm_pftrace_damage *tm_pftrace_damage(const struct tm_pftrace_reader *reader)
{
    return &reader->damage;
}

/* --- its memory --- */

static void open_window(struct tm_run *run, struct window *w, size_t bytes)
{
    w->room = bytes;
    w->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, bytes + TM_READER_SLACK, &run->error);
}

struct tm_pftrace_reader *tm_pftrace_reader_new(struct tm_run *run, struct tm_input *input,
                                                const struct tm_pftrace_options *options)
{
    struct tm_pftrace_reader *const r = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*r), &run->error);
    size_t bytes = options && options->window_bytes ? options->window_bytes : WINDOW_BYTES;

    if (!r)
        return NULL;
    bytes = bytes < WINDOW_LEAST ? WINDOW_LEAST : bytes;
    r->run = run;
    r->input = input;
    r->read_bytes = options && options->read_bytes ? options->read_bytes : SIZE_MAX;
    open_window(run, &r->outer, bytes);
    open_window(run, &r->inner, bytes);
    if (!tm_failed(run))
        return r;
    tm_pftrace_reader_free(r);
    return NULL;
}

void tm_pftrace_reader_free(struct tm_pftrace_reader *r)
{
    struct tm_budget *budget;

    if (!r)
        return;
    budget = &r->run->budget;
    tm_decoder_free(r->decoder);
    if (r->outer.buffer)
        tm_give(budget, TM_ACCOUNT_INPUT, r->outer.buffer, r->outer.room + TM_READER_SLACK);
    if (r->inner.buffer)
        tm_give(budget, TM_ACCOUNT_INPUT, r->inner.buffer, r->inner.room + TM_READER_SLACK);
    tm_give(budget, TM_ACCOUNT_INPUT, r, sizeof(*r));
}
