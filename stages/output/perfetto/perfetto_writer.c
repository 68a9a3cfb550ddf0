/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in Perfetto's own format: each row, each start and end of a span, each value of a counter is a packet.  All
 * packets belong to one sequence, whose tables of names start with the file.  Memory: one piece of a fixed size.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event */
#include "stages/output/perfetto/perfetto_writer.h"

#include <assert.h>
#include <string.h>

#include "perfetto.pb-c.h"
#include "pipeline/arguments.h"
#include "pipeline/deflate.h"
#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/names.h"
#include "pipeline/threads.h"
#include "stages/output/file/out_file.h"
#include "stages/output/trace_writer.h"

/* Packets to be written to a file. They are collected in a block; a full one is written as it is, or deflated into one
 * packet (compressed_packets), which viewers read like the packets themselves. */
enum {
    TM_PACKETS_BLOCK_BYTES = 512 << 10, /* capacity of a block; a larger packet is written to the file directly */
    TM_PACKET_MOST = 1 << 20,           /* bytes of one packet on the wire with its head, at most */
};

/* Before the TrackEvent of a packet: its own head, the fields that are the same in all of them, the head of the
 * event. */
enum {
    PACKET_HEAD_LEAST = 8, /* where both lengths take one byte */
    PACKET_HEAD_REST = 19, /* usual bytes of the row, an arrow, and numbers, which are not in a known start */
};

/* Packets on their way to the file. */
struct packet_block {
    size_t used;
    uint8_t bytes[TM_PACKETS_BLOCK_BYTES + TM_PACKET_MOST]; /* and the packet that is made after the used part */
};

/* A full block may be deflated by another thread while the main thread makes the packets of the next one:
 *
 *     main thread:  packets ─► block    ─► the file: what was deflated before
 *     thread:       deflate ◄─ block before
 */
struct tm_packets {
    struct tm_run *run;
    struct tm_out_file *file;           /* NULL = none is open */
    uint64_t raw_bytes;                 /* of the file so far, before compression */
    struct tm_block_deflater *deflater; /* NULL = blocks are written as they are, or: */
    struct tm_block_zstd *zstd;         /* that compresses them */
    uint8_t *deflated;                  /* TM_PACKETS_BLOCK_BYTES; NULL likewise */
    size_t deflated_bytes;              /* 0: the block is written as it is */
    struct packet_block *block;         /* that is filled */
    struct packet_block *before;        /* that is or was deflated; NULL = there is no thread */
    bool is_deflating;                  /* `before` has something that the file lacks */
    bool has_asked;                     /* for a thread, when the first block was full */
    struct tm_worker_thread *thread;
};

/* Names of arguments that are ours. */
enum tm_perfetto_own_key {
    TM_PERFETTO_KEY_CUT,
    TM_PERFETTO_KEY_BEGIN,
    TM_PERFETTO_KEY_DURATION,
    TM_PERFETTO_KEY_UNFINISHED,
    TM_PERFETTO_OWN_KEYS
};

/* Bytes of a TrackEvent on the wire, at most: its own numbers, its arguments, strings. */
enum {
    TM_PERFETTO_EVENT_BYTES = 16 * TM_PB_MOST +
                              (TM_PERFETTO_VALUES_MOST + TM_PERFETTO_OWN_KEYS) * TM_PERFETTO_VALUE_BYTES +
                              TM_PERFETTO_COPIED_MOST + 2 * TM_ARGUMENTS_MOST,
};

enum { TM_PERFETTO_SEQUENCE = 1, TM_PERFETTO_CLOCK_MOST = 128 }; /* of all packets; bytes of a clock snapshot */

enum { TM_PERFETTO_ANEW = 1, TM_PERFETTO_USES_NAMES = 2 }; /* sequence_flags */

/* All of it is one piece of memory, of a fixed size. */
struct tm_perfetto {
    struct tm_trace_writer base;
    struct tm_writer_options options;
    tm_strid own_keys[TM_PERFETTO_OWN_KEYS];
    int64_t clock_ns;   /* the clock of the sequence: times are written as differences from it */
    size_t clock_bytes; /* of the snapshot that is repeated; 0 = it was not written yet */
    uint8_t clock[TM_PERFETTO_CLOCK_MOST];
    struct tm_perfetto_names names;
    struct tm_perfetto_arguments arguments;
    struct tm_perfetto_kernels *kernels; /* NULL = not wanted */
    struct tm_known_starts *starts;
    struct tm_packets packets;
};

/* Packets in blocks, blocks in a file.  A block is deflated separately, so a truncated file loses no more than its last
 * block, and concatenated files are one trace.  Memory: two blocks and the deflate state, of fixed size, and a block
 * more from the pool where a core is free.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, compressed_packets; RFC 1950 */

/* in:     packets  zeroed memory
 * errors: in run->error */
static void packets_open(struct tm_packets *p, struct tm_run *run, const struct tm_writer_options *options)
{
    p->run = run;
    p->block = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*p->block), &run->error);
    if (options->is_gzip || !p->block)
        return;
    p->deflated = tm_take(&run->budget, TM_ACCOUNT_TABLES, TM_PACKETS_BLOCK_BYTES, &run->error);
    p->zstd = p->deflated && options->is_zstd ? tm_block_zstd_new(run) : NULL;
    p->deflater = p->deflated && !options->is_zstd ? tm_block_deflater_new(run) : NULL;
}

/* The block from the pool, whether it could be taken or not. */
static void give_before(struct tm_packets *p)
{
    tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->before, sizeof(*p->before));
    tm_budget_put_back(&p->run->budget, sizeof(*p->before));
    p->before = NULL;
}

/* tolerates zeroed memory */
static void packets_close(struct tm_packets *p)
{
    tm_worker_thread_end(p->thread);
    if (p->before)
        give_before(p);
    tm_block_deflater_free(p->deflater);
    tm_block_zstd_free(p->zstd);
    if (p->deflated)
        tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->deflated, TM_PACKETS_BLOCK_BYTES);
    if (p->block)
        tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->block, sizeof(*p->block));
    *p = (struct tm_packets){ .run = NULL };
}

enum {
    TRACE_PACKET = 1,
    COMPRESSED_PACKETS = 50,
    ZSTD_COMPRESSED_PACKETS = 133
}; /* fields of Trace and of TracePacket */

static void deflate_block(struct tm_packets *p, const struct packet_block *block)
{
    p->deflated_bytes =
        p->zstd ? tm_block_zstd(p->zstd, block->bytes, block->used, p->deflated, TM_PACKETS_BLOCK_BYTES)
                : tm_block_deflate(p->deflater, block->bytes, block->used, p->deflated, TM_PACKETS_BLOCK_BYTES);
}

/* On the thread. */
static void deflate_before(void *of)
{
    struct tm_packets *const p = of;

    deflate_block(p, p->before);
}

/* Write a block that was deflated as one packet; incompressible data is written unchanged. */
static void write_deflated(struct tm_packets *p, struct packet_block *block)
{
    const size_t bytes = p->deflated_bytes;
    uint8_t head[2 * TM_PB_HEAD], *to;

    if (bytes) {
        to = tm_pb_head(head, TRACE_PACKET, TM_PB_FIELD + tm_pb_number_bytes(bytes) + bytes);
        to = tm_pb_head(to, p->zstd ? ZSTD_COMPRESSED_PACKETS : COMPRESSED_PACKETS, bytes);
        tm_out_file_write(p->file, head, (size_t)(to - head));
        tm_out_file_write(p->file, p->deflated, bytes);
    } else {
        tm_out_file_write(p->file, block->bytes, block->used);
    }
    block->used = 0;
}

/* The file gets what the thread has. */
static void finish_before(struct tm_packets *p)
{
    if (!p->is_deflating)
        return;
    tm_worker_thread_wait(p->thread);
    p->is_deflating = false;
    write_deflated(p, p->before);
}

static void packets_begin_file(struct tm_packets *p, struct tm_out_file *file)
{
    if (p->is_deflating) /* of a file that was given up */
        tm_worker_thread_wait(p->thread);
    p->is_deflating = false;
    p->file = file;
    p->raw_bytes = 0;
    p->block->used = 0;
}

/* Write the collected packets to the file as they are, not deflated. */
static void packets_write_plain(struct tm_packets *p)
{
    finish_before(p);
    tm_out_file_write(p->file, p->block->bytes, p->block->used);
    p->block->used = 0;
}

/* A thread that deflates, once there is a block for it. */
static void ask_for_thread(struct tm_packets *p)
{
    p->has_asked = true;
    if (tm_cores(p->run) < 2 || !tm_budget_draw(&p->run->budget, sizeof(*p->before)))
        return;
    p->before = tm_take(&p->run->budget, TM_ACCOUNT_TABLES, sizeof(*p->before), &p->run->error);
    if (p->before)
        p->thread = tm_worker_thread_start(p->run, deflate_before, p);
    if (!p->thread)
        give_before(p);
}

/* Write the collected packets into the file.  out: p->block is empty */
static void write_block(struct tm_packets *p)
{
    if (!p->deflated || !p->block->used || p->block->used > TM_PACKETS_BLOCK_BYTES) {
        packets_write_plain(p);
        return;
    }
    finish_before(p);
    if (!p->thread) {
        deflate_block(p, p->block);
        write_deflated(p, p->block);
        return;
    }
    struct packet_block *const full = p->block;

    p->block = p->before;
    p->before = full;
    p->is_deflating = true;
    tm_worker_thread_go(p->thread);
}

/* A packet of this many bytes is appended to the block.  If it does not fit, it starts the next block. */
static void packets_add(struct tm_packets *p, size_t bytes)
{
    const uint8_t *const packet = p->block->bytes + p->block->used;

    assert(bytes <= TM_PACKET_MOST);
    if (p->block->used + bytes > TM_PACKETS_BLOCK_BYTES) {
        if (!p->has_asked && p->deflated)
            ask_for_thread(p);
        write_block(p);
        memmove(p->block->bytes, packet, bytes);
    }
    p->block->used += bytes;
    p->raw_bytes += bytes;
}

static void packets_put(struct tm_packets *p, const Perfetto__TracePacket *packet)
{
    uint8_t *const head = p->block->bytes + p->block->used;
    const size_t bytes = perfetto__trace_packet__get_packed_size(packet);

    assert(bytes + TM_PB_HEAD <= TM_PACKET_MOST);
    uint8_t *const to = tm_pb_head(head, TRACE_PACKET, bytes);

    (void)perfetto__trace_packet__pack(packet, to);
    packets_add(p, (size_t)(to - head) + bytes);
}

static void packets_end_file(struct tm_packets *p)
{
    write_block(p);
    finish_before(p);
    p->file = NULL;
}

/* Times are written as differences from the previous packet: a fifth to a third less of the compressed file than
 * absolute times.  The clock of the sequence and that of the trace (BOOTTIME) read 0 at the start of the profile, like
 * the times of a report; the recording's clock at that time is written with them: REALTIME if it counts from 1970, so
 * viewers can show the time of day, else MONOTONIC.  The snapshot is repeated where time steps back: always the same
 * one, so files can be concatenated in any order.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, ClockSnapshot */

enum { SEQUENCE_CLOCK = 64, TRACE_CLOCK = 6, REALTIME = 1, MONOTONIC = 3 };

static const int64_t since_1970_ns = INT64_C(100000000000000000); /* 1973: no machine is up that long */

/* The clock of the sequence reads 0; begins_anew: the tables of names are empty, too. */
static void make_clock(struct tm_perfetto *w, bool begins_anew)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
    Perfetto__Clock clocks[3] = { PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT };
    Perfetto__Clock *at[3] = { &clocks[0], &clocks[1], &clocks[2] };

    for (int i = 0; i < 3; i++)
        clocks[i].has_clock_id = clocks[i].has_timestamp = true;
    clocks[0].clock_id = SEQUENCE_CLOCK;
    clocks[0].has_is_incremental = clocks[0].is_incremental = true;
    clocks[1].clock_id = TRACE_CLOCK;
    clocks[2].clock_id = w->options.epoch_ns >= since_1970_ns ? REALTIME : MONOTONIC;
    clocks[2].timestamp = (uint64_t)w->options.epoch_ns;
    snapshot.n_clocks = w->options.epoch_ns > 0 ? 3 : 2;
    snapshot.clocks = at;
    packet.clock_snapshot = &snapshot;
    packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = true;
    packet.trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packet.sequence_flags = begins_anew ? TM_PERFETTO_ANEW : TM_PERFETTO_USES_NAMES;
    if (begins_anew) {
        defaults.has_timestamp_clock_id = true;
        defaults.timestamp_clock_id = SEQUENCE_CLOCK;
        packet.trace_packet_defaults = &defaults;
    }
    packets_put(&w->packets, &packet);
}

/* Times step back for each merged slice of an overview: the packet is copied, because protobuf-c takes a third of the
 * time of writing such a file. */
static void perfetto_put_clock(struct tm_perfetto *w, bool begins_anew)
{
    struct tm_packets *const p = &w->packets;
    const uint64_t before = p->raw_bytes;

    w->clock_ns = 0;
    if (!begins_anew && w->clock_bytes) {
        memcpy(p->block->bytes + p->block->used, w->clock, w->clock_bytes);
        packets_add(p, w->clock_bytes);
        return;
    }
    make_clock(w, begins_anew);
    if (begins_anew)
        return;
    w->clock_bytes = (size_t)(p->raw_bytes - before);
    assert(w->clock_bytes <= sizeof(w->clock));
    memcpy(w->clock, p->block->bytes + p->block->used - w->clock_bytes, w->clock_bytes);
}

/* Fields of TracePacket; of TrackEvent; of LegacyEvent. */
enum { TIMESTAMP = 8, SEQUENCE_ID = 10, TRACK_EVENT = 11, INTERNED_DATA = 12, SEQUENCE_FLAGS = 13 };

/* clang-format off */
enum {
    CATEGORY_IIDS = 3, LEGACY_EVENT = 6, TYPE = 9, NAME_IID = 10, TRACK_UUID = 11, CATEGORIES = 22, NAME = 23,
    COUNTER_VALUE = 30, DOUBLE_COUNTER_VALUE = 44, FLOW_IDS = 47
};

/* clang-format on */

enum { PHASE = 2, UNSCOPED_ID = 6, BIND_TO_ENCLOSING = 12 };

enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4, NEITHER = 0 }; /* TYPE */

static_assert(TM_PERFETTO_EVENT_BYTES + TM_PERFETTO_FRESH * TM_PERFETTO_ENTRY_HEAD + 16 * TM_PB_MOST <= TM_PACKET_MOST,
              "the largest packet fits behind a block");

/* The viewer numbers the arrows that the input has from 0 on: spans that are joined must not share these numbers. */
static const uint64_t own_flow = UINT64_C(1) << 63;

static const char *const own_key_text[TM_PERFETTO_OWN_KEYS] = {
    [TM_PERFETTO_KEY_CUT] = TM_OUT_KEY_CUT,
    [TM_PERFETTO_KEY_BEGIN] = TM_OUT_KEY_BEGIN,
    [TM_PERFETTO_KEY_DURATION] = TM_OUT_KEY_DURATION,
    [TM_PERFETTO_KEY_UNFINISHED] = TM_OUT_KEY_UNFINISHED,
};

static void free_starts(struct tm_perfetto *w)
{
    struct tm_budget *const budget = &w->base.run->budget;
    struct tm_known_starts *const k = w->starts;

    if (!k)
        return;
    const size_t drawn = k->room_bytes - TM_KNOWN_START_BYTES;

    tm_give(budget, TM_ACCOUNT_TABLES, k, sizeof(*k) + k->room_bytes + TM_ARG_CACHE_COPIED);
    tm_budget_put_back(budget, drawn);
}

static void make_starts(struct tm_perfetto *w)
{
    struct tm_budget *const budget = &w->base.run->budget;
    const size_t more = TM_KNOWN_START_LARGE - TM_KNOWN_START_BYTES;
    const size_t drawn = tm_budget_draw(budget, more) ? more : 0, room = TM_KNOWN_START_BYTES + drawn;

    w->starts =
        tm_take(budget, TM_ACCOUNT_TABLES, sizeof(*w->starts) + room + TM_ARG_CACHE_COPIED, &w->base.run->error);
    if (!w->starts) {
        tm_budget_put_back(budget, drawn);
        return;
    }
    w->starts->room_bytes = room;
}

static void free_writer(struct tm_trace_writer *base)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;

    if (!w)
        return;
    packets_close(&w->packets);
    free_starts(w);
    tm_give(&w->base.run->budget, TM_ACCOUNT_TABLES, w->kernels, w->kernels ? sizeof(*w->kernels) : 0);
    tm_give(&w->base.run->budget, TM_ACCOUNT_TABLES, w, sizeof(*w));
}

static struct tm_trace_writer *open_writer(struct tm_run *run, struct tm_names *names,
                                           const struct tm_writer_options *options)
{
    struct tm_perfetto *w = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*w), &run->error);

    if (!w)
        return NULL;
    w->base = (struct tm_trace_writer){ .type = &tm_perfetto_writer, .run = run };
    w->options = *options;
    packets_open(&w->packets, run, options);
    if (!tm_failed(run))
        make_starts(w);
    if (options->kernels && !tm_failed(run))
        w->kernels = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*w->kernels), &run->error);
    tm_perfetto_names_open(&w->names, names);
    tm_perfetto_arguments_open(&w->arguments, &w->names);
    for (size_t i = 0; i < TM_PERFETTO_OWN_KEYS; i++)
        w->own_keys[i] = tm_names_put_string(names, own_key_text[i]);
    if (!tm_failed(run))
        return &w->base;
    free_writer(&w->base);
    return NULL;
}

/* A packet that protobuf-c makes.  Strings are gone after it. */
static void perfetto_put(struct tm_perfetto *w, Perfetto__TracePacket *packet)
{
    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
    packet->trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packet->sequence_flags = TM_PERFETTO_USES_NAMES;
    tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, w->names.is_cut);
    packets_put(&w->packets, packet);
}

/* The tables of names are empty.  A packet brings fewer strings than an empty table holds. */
static void begin_anew(struct tm_perfetto *w)
{
    tm_perfetto_names_clear(&w->names);
    perfetto_put_clock(w, true);
}

static void perfetto_put_origin(struct tm_perfetto *w);
static void perfetto_put_facts(struct tm_perfetto *w);
static void perfetto_put_row(struct tm_trace_writer *base, const struct tm_out_row *row);

static void begin_file(struct tm_trace_writer *base, struct tm_out_file *file)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;

    packets_begin_file(&w->packets, file);
    perfetto_put_origin(w);
    packets_write_plain(&w->packets);
    begin_anew(w);
    perfetto_put_facts(w);
}

static void end_file(struct tm_trace_writer *base)
{
    packets_end_file(&((struct tm_perfetto *)base)->packets);
}

static uint64_t raw_bytes(const struct tm_trace_writer *base)
{
    return ((const struct tm_perfetto *)base)->packets.raw_bytes;
}

/* --- packets of events --- */

/* The event that is made, where its packet will be: most of them need not move when the packet's head is known. */
static uint8_t *event_place(struct tm_perfetto *w)
{
    return w->packets.block->bytes + w->packets.block->used + PACKET_HEAD_LEAST;
}

/* A packet of any length, with or without new strings. */
TM_NOT_INLINE void put_any_packet(struct tm_perfetto *w, uint64_t ns, uint8_t *event, uint8_t *to)
{
    uint8_t *at = w->packets.block->bytes + w->packets.block->used;
    const size_t event_bytes = (size_t)(to - event);
    const size_t same_bytes = 1 + 1 + 1 + 1 + 1 + tm_pb_number_bytes(event_bytes);
    size_t rest, packet, head;

    if (w->names.fresh_used)
        to = tm_pb_bytes(to, INTERNED_DATA, w->names.fresh, w->names.fresh_used);
    to = tm_pb_varint(to, TIMESTAMP, ns);
    rest = (size_t)(to - event);
    packet = same_bytes + rest;
    head = 1 + tm_pb_number_bytes(packet) + same_bytes;
    if (at + head != event)
        memmove(at + head, event, rest);
    at = tm_pb_head(at, TRACE_PACKET, packet);
    at = tm_pb_varint(at, SEQUENCE_ID, TM_PERFETTO_SEQUENCE);
    at = tm_pb_varint(at, SEQUENCE_FLAGS, TM_PERFETTO_USES_NAMES);
    (void)tm_pb_head(at, TRACK_EVENT, event_bytes);
    packets_add(&w->packets, head + rest);
    if (w->names.is_cut)
        tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
}

/* The head of a packet whose lengths take one byte each: all of it is one word.
 * in: packet, event  bytes of both */
static inline void put_short_head(uint8_t *to, size_t packet, size_t event)
{
    const uint64_t same = TRACE_PACKET << 3 | TM_PB_BYTES | (SEQUENCE_ID << 3 | TM_PB_VARINT) << 16 |
                          TM_PERFETTO_SEQUENCE << 24 | (uint64_t)(SEQUENCE_FLAGS << 3 | TM_PB_VARINT) << 32 |
                          (uint64_t)TM_PERFETTO_USES_NAMES << 40 | (uint64_t)(TRACK_EVENT << 3 | TM_PB_BYTES) << 48;
    const uint64_t head = htole64(same | (uint64_t)packet << 8 | (uint64_t)event << 56);

    memcpy(to, &head, PACKET_HEAD_LEAST);
}

/* The packet of the event that was made from `event` up to `to`, which moves where the packet's head takes more or less
 * than is before it.  What is the same in many packets is together, before the time, which never is: that is a tenth of
 * the deflated bytes, and of the time that deflating takes.  The head of a short packet without new strings is written
 * at once: 70 instructions less for each packet.
 * in: ns  after the packet before */
static inline void put_packet(struct tm_perfetto *w, uint64_t ns, uint8_t *event, uint8_t *to)
{
    struct packet_block *const block = w->packets.block;
    const size_t event_bytes = (size_t)(to - event);
    const size_t packet = PACKET_HEAD_LEAST - 2 + event_bytes + 1 + tm_pb_number_bytes(ns), bytes = packet + 2;

    if (packet > INT8_MAX || event != event_place(w) || w->names.fresh_used || w->names.is_cut ||
        block->used + bytes > TM_PACKETS_BLOCK_BYTES) {
        put_any_packet(w, ns, event, to);
        return;
    }
    (void)tm_pb_varint(to, TIMESTAMP, ns);
    put_short_head(event - PACKET_HEAD_LEAST, packet, event_bytes);
    block->used += bytes;
    w->packets.raw_bytes += bytes;
}

/* The event that was made up to `to`, at a time. */
static inline void put_event(struct tm_perfetto *w, uint8_t *to, int64_t time_ps)
{
    const int64_t ns = tm_out_ns(time_ps);
    const uint64_t passed = (uint64_t)(ns - w->clock_ns);

    w->clock_ns = ns;
    put_packet(w, passed, event_place(w), to);
}

/* A packet at a time is next.  Where time steps back, which only another host makes it do, the clock comes before. */
static inline void reach(struct tm_perfetto *w, int64_t ns)
{
    if (ns < w->clock_ns)
        perfetto_put_clock(w, false);
}

/* An event of a row starts, at a time. */
static inline uint8_t *begin_event(struct tm_perfetto *w, const struct tm_out_row *row, unsigned type, int64_t time_ps)
{
    uint8_t *to;

    reach(w, tm_out_ns(time_ps));
    to = event_place(w);
    if (type != NEITHER)
        to = tm_pb_varint(to, TYPE, type);
    tm_perfetto_names_begin(&w->names);
    return tm_pb_varint(to, TRACK_UUID, row->uuid);
}

/* A string by its number, or as it is. */
static void put_text(struct tm_perfetto *w, uint8_t **to, enum tm_perfetto_table table, tm_strid id, unsigned iid_field,
                     unsigned text_field)
{
    const uint32_t iid = tm_perfetto_number(&w->names, table, id);

    if (iid)
        *to = tm_pb_varint(*to, iid_field, iid);
    else
        tm_perfetto_put_name(&w->names, to, text_field, id);
}

static void put_names(struct tm_perfetto *w, uint8_t **to, tm_strid name, tm_strid category)
{
    put_text(w, to, TM_PERFETTO_NAMES, name, NAME_IID, NAME);
    if (category)
        put_text(w, to, TM_PERFETTO_CATEGORIES, category, CATEGORY_IIDS, CATEGORIES);
}

/* --- slices --- */

/* Marks come first: they are kept however many arguments there are. */
static uint8_t *put_arguments(struct tm_perfetto *w, uint8_t *to, const struct tm_out_event *from)
{
    struct tm_perfetto_arguments *const a = &w->arguments;

    tm_perfetto_arguments_begin(a, from->marks & TM_OUT_DERIVED ? TM_ARGS_ALL : w->options.args, to);
    if (from->marks & TM_OUT_UNFINISHED)
        tm_perfetto_put_true(a, w->own_keys[TM_PERFETTO_KEY_UNFINISHED]);
    tm_perfetto_arguments_add(a, from);
    return a->to;
}

static uint8_t *make_begin(struct tm_perfetto *w, const struct tm_out_event *from)
{
    uint8_t *to = begin_event(w, from->row, SLICE_BEGIN, from->start_ps);

    put_names(w, &to, from->name, from->category);
    to = put_arguments(w, to, from);
    return from->flow ? tm_pb_fixed64(to, FLOW_IDS, from->flow | own_flow) : to;
}

/* --- starts that are known --- */

/* Whether all that is written before its arrow follows from what a known start has. */
static inline bool may_be_known(const struct tm_out_event *from)
{
    return !from->marks && !from->common.length && (from->template || !from->own.length);
}

/* Nearly all starts of a name and a template have the same category. */
static inline uint64_t hash_start(tm_strid name, uint32_t template)
{
    return tm_hash_fold((uint64_t)name << 32 | template, UINT64_C(0xa0761d6478bd642f));
}

static void forget_starts(struct tm_known_starts *k)
{
    memset(k->slots, 0, sizeof(k->slots));
    k->used = 0;
}

/* Forget those of another host, and of earlier tables of names.  An event without a template may be of no trace. */
static inline void turn_starts(struct tm_known_starts *k, const struct tm_out_event *from, uint32_t tables)
{
    const bool is_same_host =
        !from->template || (k->templates == from->trace->templates && k->host == from->trace->host);

    if (is_same_host && k->tables == tables)
        return;
    forget_starts(k);
    k->tables = tables;
    if (from->template) {
        k->templates = from->trace->templates;
        k->host = from->trace->host;
    }
}

static inline const struct tm_known_start *start_at(const struct tm_known_starts *k, uint32_t at)
{
    return (const struct tm_known_start *)(const void *)(k->room + at - 1);
}

static inline const struct tm_known_start *find_start(const struct tm_known_starts *k, const struct tm_out_event *from,
                                                      uint64_t hash)
{
    const struct tm_known_slot *const set = k->slots[hash % TM_KNOWN_START_SETS];

    for (size_t way = 0; way < TM_KNOWN_START_WAYS; way++) {
        if (set[way].tag != hash >> 32 || !set[way].at)
            continue;
        const struct tm_known_start *const s = start_at(k, set[way].at);

        if (s->name == from->name && s->template == from->template && s->category == from->category)
            return s;
    }
    return NULL;
}

static inline uint64_t hash_expected(const struct tm_record *record)
{
    return hash_start(record->name, record->flags & TM_FLAG_TEMPLATE ? record->common : 0);
}

/* What is in the first places of the sets of these events: most known starts have no more than three cache lines.
 * Waiting for them took 6% of the time of a conversion. */
static void expect(const struct tm_trace_writer *base, const struct tm_event *events, uint32_t count)
{
    const struct tm_known_starts *const k = ((const struct tm_perfetto *)base)->starts;

    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(k->slots[hash_expected(&events[i].record) % TM_KNOWN_START_SETS]);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t hash = hash_expected(&events[i].record);
        const struct tm_known_slot *const set = k->slots[hash % TM_KNOWN_START_SETS];
        const struct tm_known_slot slot = set[set[0].tag != hash >> 32];

        if (slot.tag != hash >> 32 || !slot.at)
            continue;
        const uint8_t *const s = (const uint8_t *)start_at(k, slot.at);

        __builtin_prefetch(s);
        __builtin_prefetch(s + 64);
        __builtin_prefetch(s + 128);
    }
}

/* The one that was found last is the last to be forgotten. */
static void keep_start(struct tm_known_starts *k, const struct tm_known_start *made, const struct tm_cached_hole *holes,
                       const uint8_t *bytes, uint64_t hash)
{
    const size_t align = _Alignof(struct tm_known_start), set = hash % TM_KNOWN_START_SETS;
    const size_t whole = (sizeof(*made) + made->holes * sizeof(*holes) + made->length + align - 1) / align * align;

    if (whole > k->room_bytes - k->used)
        forget_starts(k);
    struct tm_known_start *const kept = (struct tm_known_start *)(void *)(k->room + k->used);

    *kept = *made;
    memcpy(kept->hole, holes, made->holes * sizeof(*holes));
    memcpy(kept->hole + made->holes, bytes, made->length);
    memmove(&k->slots[set][1], &k->slots[set][0], sizeof(k->slots[set]) - sizeof(k->slots[set][0]));
    k->slots[set][0].tag = (uint32_t)(hash >> 32);
    k->slots[set][0].at = (uint32_t)k->used + 1;
    k->used += whole;
}

/* A start that was just written, whose strings all have numbers now, is encoded again, with 0 in its holes. */
TM_NOT_INLINE void learn_start(struct tm_perfetto *w, const struct tm_out_event *from, uint64_t hash)
{
    struct tm_perfetto_arguments *const a = &w->arguments;
    struct tm_cached_hole holes[TM_ARGUMENT_HOLES];
    const size_t count = a->count;
    uint8_t *to = begin_event(w, from->row, SLICE_BEGIN, from->start_ps), *const begin = to;
    int made = 0;

    put_names(w, &to, from->name, from->category);
    tm_perfetto_arguments_begin(a, w->options.args, to);
    if (from->template && a->level != TM_ARGS_NONE)
        made = tm_perfetto_arguments_add_template(a, tm_argument_template(from->trace->templates, from->template),
                                                  begin, holes);
    if (made >= 0 && a->to - begin <= TM_KNOWN_START_MOST && !w->names.copied && !w->names.is_cut && !w->names.is_full)
        keep_start(w->starts,
                   &(struct tm_known_start){ .name = from->name,
                                             .category = from->category,
                                             .template = from->template,
                                             .arguments = (uint32_t)a->count,
                                             .length = (uint16_t)(a->to - begin),
                                             .holes = (uint16_t)made },
                   holes, begin, hash);
    a->count = count;
    tm_perfetto_names_begin(&w->names);
}

static inline uint8_t *copy_number(uint8_t *to, const uint8_t **number)
{
    do
        *to++ = **number;
    while (*(*number)++ & 0x80);
    return to;
}

/* The bytes of a known start with the numbers of an event.  The bytes of a number are its encoding in a hole; the
 * length of its annotation precedes it by hole.back. */
static inline uint8_t *copy_start(uint8_t *to, const struct tm_known_start *s, const struct tm_out_event *from)
{
    const uint8_t *const bytes = (const uint8_t *)(s->hole + s->holes), *number = from->own.bytes;
    bool is_correlation = from->template & TM_TEMPLATE_CORRELATION;
    size_t at = 0;

    for (size_t i = 0; i < s->holes; i++) {
        const struct tm_cached_hole hole = s->hole[i];
        uint8_t *const before = to = tm_arg_cache_copy(to, bytes + at, hole.end - at);

        to = is_correlation ? tm_put_hole(to, (int64_t)from->correlation) : copy_number(to, &number);
        is_correlation = false; /* it is the first one */
        at = hole.end;
        if (hole.is_left) {
            to = before;
            continue;
        }
        before[-hole.back] = (uint8_t)(hole.back - 1 + (to - before));
        at++;
    }
    return tm_arg_cache_copy(to, bytes + at, s->length - at);
}

static void put_known_start(struct tm_perfetto *w, const struct tm_known_start *s, const struct tm_out_event *from)
{
    const int64_t ns = tm_out_ns(from->start_ps);
    uint8_t *event, *to;
    uint64_t passed;

    reach(w, ns);
    passed = (uint64_t)(ns - w->clock_ns);
    w->clock_ns = ns;
    tm_perfetto_names_begin(&w->names);
    event = event_place(w) + (s->length + PACKET_HEAD_REST > INT8_MAX ? 2 : 0); /* both lengths take a byte more */
    to = tm_pb_varint(event, TYPE, SLICE_BEGIN);
    to = tm_pb_varint(to, TRACK_UUID, from->row->uuid);
    to = copy_start(to, s, from);
    if (from->flow)
        to = tm_pb_fixed64(to, FLOW_IDS, from->flow | own_flow);
    w->arguments.count = s->arguments;
    put_packet(w, passed, event, to);
}

static void put_kernel(struct tm_perfetto *w, const struct tm_out_event *from)
{
    uint8_t *const at = w->packets.block->bytes + w->packets.block->used;
    const uint8_t *const end =
        tm_perfetto_put_kernel(w->kernels, &w->names, at, from, TM_PERFETTO_SEQUENCE, TM_PERFETTO_USES_NAMES);

    packets_add(&w->packets, (size_t)(end - at));
}

static void put_new_start(struct tm_perfetto *w, const struct tm_out_event *from)
{
    uint8_t *to = make_begin(w, from);

    if (w->names.is_full) {
        begin_anew(w);
        to = make_begin(w, from);
    }
    put_event(w, to, from->start_ps);
}

static void begin(struct tm_trace_writer *base, const struct tm_out_event *from)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    const bool is_usual = may_be_known(from);
    const struct tm_known_start *known = NULL;
    uint64_t hash = 0;

    if (is_usual) {
        turn_starts(w->starts, from, w->names.tables);
        hash = hash_start(from->name, from->template);
        known = find_start(w->starts, from, hash);
    }
    if (known) {
        put_known_start(w, known, from);
    } else {
        put_new_start(w, from);
        if (is_usual && !w->names.copied && !w->names.is_cut)
            learn_start(w, from, hash);
    }
    w->base.arguments += w->arguments.count;
    if (w->kernels && tm_perfetto_is_kernel(from))
        put_kernel(w, from);
}

static void put_cut(struct tm_perfetto *w, const struct tm_out_event *from)
{
    struct tm_perfetto_arguments *const a = &w->arguments;
    const int64_t begin_ns = tm_out_ns(from->whole_begin_ps), end_ns = tm_out_ns(from->whole_end_ps);

    tm_perfetto_put_literal(a, w->own_keys[TM_PERFETTO_KEY_CUT], tm_out_cut_text(from->marks));
    tm_perfetto_put_int(a, w->own_keys[TM_PERFETTO_KEY_BEGIN], begin_ns);
    tm_perfetto_put_int(a, w->own_keys[TM_PERFETTO_KEY_DURATION], end_ns - begin_ns);
}

/* Whether a slice was cut is known when its piece ends: readers put arguments of an end to those of its start. */
static uint8_t *make_cut_end(struct tm_perfetto *w, const struct tm_out_event *from)
{
    uint8_t *const to = begin_event(w, from->row, SLICE_END, from->end_ps);

    w->arguments.count = 0;
    tm_perfetto_arguments_begin(&w->arguments, TM_ARGS_ALL, to);
    put_cut(w, from);
    return w->arguments.to;
}

TM_NOT_INLINE void end_cut(struct tm_perfetto *w, const struct tm_out_event *event)
{
    uint8_t *to = make_cut_end(w, event);

    if (w->names.is_full) {
        begin_anew(w);
        to = make_cut_end(w, event);
    }
    w->base.arguments += w->arguments.count;
    put_event(w, to, event->end_ps);
}

static void end(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;

    if (event->marks & TM_OUT_CUTS)
        end_cut(w, event);
    else
        put_event(w, begin_event(w, event->row, SLICE_END, event->end_ps), event->end_ps);
}

/* Viewers draw slices of length 0 as instants.  An instant of the format remains the innermost event of its row until
 * something starts or ends there, and would attract arrows of the input. */
static void instant(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    begin(base, event);
    end(base, event);
}

/* --- what else there is --- */

static void counter(struct tm_trace_writer *base, const struct tm_out_counter *counter)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to = begin_event(w, counter->row, COUNTER, counter->time_ps);

    if (counter->is_whole)
        to = tm_pb_varint(to, COUNTER_VALUE, (uint64_t)counter->whole);
    else
        to = tm_pb_double(to, DOUBLE_COUNTER_VALUE, counter->value);
    put_event(w, to, counter->time_ps);
}

static uint8_t *make_flow(struct tm_perfetto *w, const struct tm_out_flow *flow)
{
    uint8_t *begin, *to = begin_event(w, flow->row, NEITHER, flow->time_ps);

    put_names(w, &to, flow->name, flow->category);
    to = tm_pb_begin(to, LEGACY_EVENT, &begin);
    to = tm_pb_varint(to, PHASE, (unsigned char)tm_out_flow_phase(flow));
    to = tm_pb_varint(to, UNSCOPED_ID, flow->id);
    if (flow->kind == TM_FLOW_END && flow->is_enclosed)
        to = tm_pb_varint(to, BIND_TO_ENCLOSING, 1);
    return tm_pb_end(to, begin);
}

static void flow(struct tm_trace_writer *base, const struct tm_out_flow *flow)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to = make_flow(w, flow);

    if (w->names.is_full) {
        begin_anew(w);
        to = make_flow(w, flow);
    }
    put_event(w, to, flow->time_ps);
}

const struct tm_trace_writer_type tm_perfetto_writer = {
    .writes_ends = true,
    .open = open_writer,
    .begin_file = begin_file,
    .row = perfetto_put_row,
    .expect = expect,
    .begin = begin,
    .end = end,
    .instant = instant,
    .counter = counter,
    .flow = flow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};

/* Rows as track descriptors, and what is before them.  Threads are tracks of threads, because the strip at the top
 * of the viewer is drawn from these alone.  No rows are merged, not even the lanes of one row: the viewer shows these
 * together anyway, and arrows of the input are refused on rows that are merged.
 * A group is a track without a process that holds others: viewers show it above the processes, with its spans.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, TrackDescriptor */

enum { FACTS_AT_ONCE = 64 };

/* Strings of facts that come after the scratch memory is full are left out; they are short. */
static ProtobufCBinaryData text_of(struct tm_perfetto *w, const char *text)
{
    return tm_perfetto_copy(&w->names, text, strlen(text));
}

static void put_some_facts(struct tm_perfetto *w, const struct tm_out_fact *facts, size_t count)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TraceAttributes attributes = PERFETTO__TRACE_ATTRIBUTES__INIT;
    Perfetto__TraceAttribute attribute[FACTS_AT_ONCE], *at[FACTS_AT_ONCE];

    tm_perfetto_names_begin(&w->names);
    for (size_t i = 0; i < count; i++) {
        attribute[i] = (Perfetto__TraceAttribute)PERFETTO__TRACE_ATTRIBUTE__INIT;
        attribute[i].has_key = true;
        attribute[i].key = text_of(w, facts[i].key);
        attribute[i].value_case = PERFETTO__TRACE_ATTRIBUTE__VALUE_STRING_VALUE;
        attribute[i].string_value = text_of(w, facts[i].value);
        at[i] = &attribute[i];
    }
    attributes.n_attribute = count;
    attributes.attribute = at;
    packet.trace_attributes = &attributes;
    perfetto_put(w, &packet);
}

/* The first packet: the program that wrote the file.  It is never deflated, so the first bytes identify it. */
static void perfetto_put_origin(struct tm_perfetto *w)
{
    static char key[] = "tracemill.version", value[] = TM_VERSION;
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TraceAttributes attributes = PERFETTO__TRACE_ATTRIBUTES__INIT;
    Perfetto__TraceAttribute attribute = PERFETTO__TRACE_ATTRIBUTE__INIT, *at = &attribute;

    attribute.has_key = true;
    attribute.key = (ProtobufCBinaryData){ sizeof(key) - 1, (uint8_t *)key };
    attribute.value_case = PERFETTO__TRACE_ATTRIBUTE__VALUE_STRING_VALUE;
    attribute.string_value = (ProtobufCBinaryData){ sizeof(value) - 1, (uint8_t *)value };
    attributes.n_attribute = 1;
    attributes.attribute = &at;
    packet.trace_attributes = &attributes;
    packet.has_trusted_packet_sequence_id = true;
    packet.trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packets_put(&w->packets, &packet); /* before the state of the sequence is cleared: it needs none */
}

/* The track with number 0 represents the trace: processes and threads are in the order of their ranks. */
static void put_root(struct tm_perfetto *w)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

    tm_perfetto_names_begin(&w->names);
    track.has_uuid = true;
    track.has_process_ordering = track.has_thread_ordering = true;
    track.process_ordering = track.thread_ordering = PERFETTO__TRACK_DESCRIPTOR__RANK_ORDERING__BY_RANK;
    packet.track_descriptor = &track;
    perfetto_put(w, &packet);
}

/* What the file says about itself and how rows are ordered; a row. */
static void perfetto_put_facts(struct tm_perfetto *w)
{
    const struct tm_out_fact content = { "tracemill.content", w->options.content };

    put_root(w);
    if (content.value)
        put_some_facts(w, &content, 1);
    for (size_t i = 0; i < w->options.fact_count; i += FACTS_AT_ONCE) {
        const size_t left = w->options.fact_count - i;

        put_some_facts(w, w->options.facts + i, left < FACTS_AT_ONCE ? left : FACTS_AT_ONCE);
    }
}

static bool is_text(ProtobufCBinaryData text, const char *literal)
{
    return text.len == strlen(literal) && memcmp(text.data, literal, text.len) == 0;
}

static void set_unit(struct tm_perfetto *w, Perfetto__CounterDescriptor *counter, tm_strid unit)
{
    const ProtobufCBinaryData text = tm_perfetto_text(&w->names, unit);

    if (is_text(text, "bytes") || is_text(text, "count")) {
        counter->has_unit = true;
        counter->unit = is_text(text, "bytes") ? PERFETTO__COUNTER_DESCRIPTOR__UNIT__SIZE_BYTES
                                               : PERFETTO__COUNTER_DESCRIPTOR__UNIT__COUNT;
        return;
    }
    counter->has_unit_name = true;
    counter->unit_name = text;
    counter->has_y_axis_share_key = is_text(text, "%"); /* shares can be compared */
    counter->y_axis_share_key = text;
}

static void put_track(struct tm_perfetto *w, const struct tm_out_row *row, Perfetto__TrackDescriptor *track)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

    track->has_uuid = true;
    track->uuid = row->uuid;
    track->has_parent_uuid = row->parent != 0;
    track->parent_uuid = row->parent;
    track->has_sibling_order_rank = true;
    track->sibling_order_rank = tm_out_rank(row);
    if (row->sort != TM_OUT_COUNTER) {
        track->has_child_ordering = true;
        track->child_ordering = PERFETTO__TRACK_DESCRIPTOR__ORDERING__EXPLICIT;
    }
    track->has_sibling_merge_behavior = row->sort != TM_OUT_PROCESS;
    track->sibling_merge_behavior = PERFETTO__TRACK_DESCRIPTOR__MERGING__NONE;
    packet.track_descriptor = track;
    perfetto_put(w, &packet);
}

static void perfetto_put_row(struct tm_trace_writer *base, const struct tm_out_row *row)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
    Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

    if (row->uuid == row->parent) /* of a group, which has the spans */
        return;
    tm_perfetto_names_begin(&w->names);
    track.name = tm_perfetto_text(&w->names, row->name);
    track.has_name = row->sort != TM_OUT_PROCESS && row->sort != TM_OUT_THREAD;
    process.has_pid = process.has_legacy_sort_index = process.has_process_name = true;
    process.pid = thread.pid = row->pid;
    process.legacy_sort_index = thread.legacy_sort_index = tm_out_rank(row);
    process.process_name = thread.thread_name = track.name;
    thread.has_pid = thread.has_tid = thread.has_legacy_sort_index = thread.has_thread_name = true;
    thread.tid = row->tid;
    track.process = row->sort == TM_OUT_PROCESS ? &process : NULL;
    track.thread = row->sort == TM_OUT_THREAD ? &thread : NULL;
    if (row->sort == TM_OUT_COUNTER) {
        track.counter = &counter;
        if (row->unit)
            set_unit(w, &counter, row->unit);
    }
    put_track(w, row, &track);
}
