/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto traces: packets out of any division of the bytes, and what the events of a trace become. */
#include "stages/input/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "pipeline/engine/analysis.h"
#include "stages/input/perfetto/pftrace_reader.h"
#include "stages/resolve/classes.h"
#include "tests/support/argument_text.h"
#include "tests/support/memory_file.h"
#include "tests/support/test_run.h"

/* --- messages --- */

struct message {
    uint8_t at[4096];
    size_t length;
};

static void put(struct message *m, const void *bytes, size_t length)
{
    assert_true(m->length + length <= sizeof(m->at));
    memcpy(m->at + m->length, bytes, length);
    m->length += length;
}

static void put_varint(struct message *m, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        put(m, &byte, 1);
        value >>= 7;
    } while (value);
}

static void number(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3);
    put_varint(m, value);
}

static void fixed(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3 | 1);
    put(m, &value, sizeof(value));
}

static void chunk(struct message *m, unsigned field, const void *bytes, size_t length)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, length);
    put(m, bytes, length);
}

static void text(struct message *m, unsigned field, const char *string)
{
    chunk(m, field, string, strlen(string));
}

static void inside(struct message *m, unsigned field, const struct message *of)
{
    chunk(m, field, of->at, of->length);
}

enum { CLEAN = 1, NEEDS = 2 };

/* A packet of a sequence with one message. */
static void packet(struct message *trace, uint64_t sequence, unsigned flags, int64_t ns, unsigned field,
                   const struct message *of)
{
    struct message p = { .length = 0 };

    if (ns >= 0)
        number(&p, 8, (uint64_t)ns);
    number(&p, 10, sequence);
    if (flags)
        number(&p, 13, flags);
    if (of)
        inside(&p, field, of);
    inside(trace, 1, &p);
}

/* An event of a track; name: NULL = none. */
static struct message event(unsigned type, uint64_t track, const char *name)
{
    struct message e = { .length = 0 };

    number(&e, 9, type);
    number(&e, 11, track);
    if (name)
        text(&e, 23, name);
    return e;
}

static void put_event(struct message *trace, int64_t ns, unsigned type, uint64_t track, const char *name)
{
    const struct message e = event(type, track, name);

    packet(trace, 1, 0, ns, 11, &e);
}

static void put_thread(struct message *trace, uint64_t uuid, uint64_t pid, uint64_t tid, const char *name)
{
    struct message track = { .length = 0 }, thread = { .length = 0 };

    number(&thread, 1, pid);
    number(&thread, 2, tid);
    text(&thread, 5, name);
    number(&track, 1, uuid);
    inside(&track, 4, &thread);
    packet(trace, 1, 0, -1, 60, &track);
}

static void put_plain(struct message *trace, uint64_t uuid, uint64_t parent, const char *name)
{
    struct message track = { .length = 0 };

    number(&track, 1, uuid);
    if (parent)
        number(&track, 5, parent);
    if (name)
        text(&track, 2, name);
    packet(trace, 1, 0, -1, 60, &track);
}

/* An entry of a table of names, in a packet of its own. */
static void intern(struct message *trace, uint64_t sequence, unsigned flags, unsigned table, uint64_t iid,
                   const char *name)
{
    struct message entry = { .length = 0 }, data = { .length = 0 };

    number(&entry, 1, iid);
    text(&entry, 2, name);
    inside(&data, table, &entry);
    packet(trace, sequence, flags, -1, 12, &data);
}

static struct message compressed(const struct message *packets)
{
    struct message p = { .length = 0 }, trace = { .length = 0 };
    uint8_t out[4096];
    uLongf length = sizeof(out);

    assert_int_equal(compress(out, &length, packets->at, packets->length), Z_OK);
    chunk(&p, 50, out, length);
    inside(&trace, 1, &p);
    return trace;
}

/* --- packets --- */

struct read_packets {
    struct tm_run run;
    uint64_t packets, sum; /* of timestamps and places */
    struct tm_pftrace_damage damage;
};

static struct read_packets read_packets(const void *bytes, size_t length, size_t window, size_t reads)
{
    const struct tm_pftrace_options options = { .window_bytes = window, .read_bytes = reads };
    struct read_packets r = { .packets = 0 };
    struct tm_input input = { .fd = -1 };
    struct tm_pftrace_reader *reader;
    struct tm_pftrace_packet found;
    char path[MEMORY_FILE_PATH];
    const int fd = memory_file(bytes, length, path);

    test_run_init(&r.run);
    assert_int_equal(tm_input_open(&input, &r.run, path), TM_OK);
    reader = tm_pftrace_reader_new(&r.run, &input, &options);
    assert_non_null(reader);
    while (tm_pftrace_next(reader, &found)) {
        r.packets++;
        r.sum = r.sum * 31 + found.timestamp + found.offset + (found.event.at ? (uint64_t)*found.event.at : 0);
    }
    r.damage = *tm_pftrace_damage(reader);
    tm_pftrace_reader_free(reader);
    tm_input_close(&input);
    (void)close(fd);
    assert_int_equal(r.run.error.status, TM_OK);
    assert_ledger_is_even(&r.run);
    return r;
}

static uint64_t tally(const struct read_packets *r, enum tm_tally which)
{
    return r->run.tallies.count[which];
}

/* Six packets, three of them packed. */
static struct message some_packets(void)
{
    struct message trace = { .length = 0 }, packed = { .length = 0 }, block;

    put_thread(&trace, 5, 1, 2, "main");
    put_event(&trace, 1000, 1, 5, "outer");
    put_event(&packed, 2000, 1, 5, "inner");
    put_event(&packed, 3000, 2, 5, NULL);
    put_event(&packed, 4000, 2, 5, NULL);
    block = compressed(&packed);
    put(&trace, block.at, block.length);
    put_event(&trace, 5000, 3, 5, "mark");
    return trace;
}

static void packets_are_the_same_for_every_split(void **state)
{
    const struct message trace = some_packets();
    const struct read_packets whole = read_packets(trace.at, trace.length, 0, 0);

    (void)state;
    assert_int_equal(whole.packets, 6);
    assert_null(whole.damage.problem);
    for (size_t reads = 1; reads <= trace.length; reads++)
        for (size_t window = 200; window <= 1000; window += 400) {
            const struct read_packets part = read_packets(trace.at, trace.length, window, reads);

            assert_int_equal(part.packets, 6);
            assert_int_equal(part.sum, whole.sum);
            assert_null(part.damage.problem);
        }
}

static void every_truncation_ends_cleanly(void **state)
{
    const struct message trace = some_packets();
    uint64_t most = 0, cut = 0;

    (void)state;
    for (size_t length = 1; length < trace.length; length++) {
        const struct read_packets part = read_packets(trace.at, length, 0, 0);

        assert_in_range(part.packets, most ? most - 1 : 0, 6); /* what is whole is read */
        most = part.packets > most ? part.packets : most;
        cut += tally(&part, TM_TALLY_CUT_SHORT);
        assert_true(part.damage.problem || tally(&part, TM_TALLY_CUT_SHORT) == 0);
        assert_int_equal(tally(&part, TM_TALLY_DAMAGED_PACKETS), 0);
        assert_int_equal(read_packets(trace.at, length, 300, 7).sum, part.sum);
    }
    assert_true(most >= 5 && cut > trace.length / 2);
}

/* A wrong byte in each place: what follows is read. */
static void damage_costs_little(void **state)
{
    struct message trace = { .length = 0 };
    uint64_t lost = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        put_event(&trace, 1000 + i, 3, 5, "an instant");
    for (size_t at = 0; at < trace.length; at++) {
        struct message wrong = trace;
        struct read_packets r;

        wrong.at[at] ^= 0x88;
        r = read_packets(wrong.at, wrong.length, 0, 0);
        assert_in_range(r.packets, 17, 20);
        lost += 20 - r.packets;
        assert_int_equal(read_packets(wrong.at, wrong.length, 0, 3).sum, r.sum);
        assert_in_range(read_packets(wrong.at, wrong.length, 300, 3).packets, 17, 20);
        assert_true(r.packets == 20 || r.damage.problem);
    }
    assert_true(lost > 20);
}

/* Zeros between packets, and after them. */
static void zeros_are_stepped_over(void **state)
{
    static const uint8_t zeros[100];
    struct message trace = { .length = 0 };

    (void)state;
    put_event(&trace, 1, 3, 5, "before");
    put(&trace, zeros, sizeof(zeros));
    put_event(&trace, 2, 3, 5, "after");
    for (size_t reads = 1; reads < 4; reads++) {
        const struct read_packets r = read_packets(trace.at, trace.length, 0, reads);

        assert_int_equal(r.packets, 2);
        assert_int_equal(r.damage.places, 1);
        assert_int_equal(r.damage.bytes, sizeof(zeros));
    }
    put(&trace, zeros, sizeof(zeros));
    {
        const struct read_packets r = read_packets(trace.at, trace.length, 0, 0);

        assert_int_equal(tally(&r, TM_TALLY_ZERO_PADDING), 1);
    }
}

static void large_packets_are_left_out_and_packed_ones_are_not(void **state)
{
    struct message large = { .length = 0 }, trace = { .length = 0 }, packed = { .length = 0 }, block;
    char name[1000];
    uint64_t random = 7;
    struct read_packets r;

    (void)state;
    for (size_t i = 0; i < sizeof(name); i++) /* so that it does not become small */
        name[i] = (char)('!' + next_number(&random) % 90);
    name[sizeof(name) - 1] = '\0';
    put_event(&trace, 1, 3, 5, "small");
    put_event(&large, 2, 3, 5, name);
    put(&trace, large.at, large.length);
    put_event(&packed, 3, 3, 5, "in a block");
    put_event(&packed, 4, 3, 5, name);
    put_event(&packed, 5, 3, 5, "after it");
    block = compressed(&packed);
    put(&trace, block.at, block.length);
    r = read_packets(trace.at, trace.length, 256, 0);
    assert_true(block.length > 256);
    assert_int_equal(r.packets, 3);
    assert_int_equal(read_packets(trace.at, trace.length, 256, 1).sum, r.sum);
    assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), 2);
    assert_null(r.damage.problem);
    assert_int_equal(read_packets(trace.at, trace.length, 0, 0).packets, 5);
}

static void packets_of_zstd_are_read(void **state)
{
    struct message packed = { .length = 0 }, p = { .length = 0 }, trace = { .length = 0 };
    uint8_t out[4096];
    size_t length;

    (void)state;
    for (int i = 0; i < 9; i++)
        put_event(&packed, i, 3, 5, "in a block");
    length = ZSTD_compress(out, sizeof(out), packed.at, packed.length, 1);
    assert_false(ZSTD_isError(length));
    chunk(&p, 133, out, length);
    inside(&trace, 1, &p);
    put_event(&trace, 100, 3, 5, "after it");
    assert_int_equal(read_packets(trace.at, trace.length, 0, 0).packets, 10);
    assert_int_equal(read_packets(trace.at, trace.length, 64, 1).packets, 10);
}

/* A block that the content ends in: what is there of it is read. */
static void a_block_is_read_as_far_as_it_goes(void **state)
{
    struct message packed = { .length = 0 }, block;
    struct read_packets r;
    char name[24];

    (void)state;
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof(name), "%d in a block", i * 77777);
        put_event(&packed, i, 3, 5, name);
    }
    block = compressed(&packed);
    r = read_packets(block.at, block.length - 100, 0, 0);
    assert_in_range(r.packets, 20, 59);
    assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 1);
    assert_int_equal(tally(&r, TM_TALLY_DAMAGED_PACKETS), 0);
    assert_string_equal(r.damage.problem, "the trace ends inside a packet");
}

static void a_damaged_block_is_reported(void **state)
{
    struct message packed = { .length = 0 }, block, after = { .length = 0 };
    struct read_packets r;

    (void)state;
    for (int i = 0; i < 9; i++)
        put_event(&packed, i, 3, 5, "in a block");
    block = compressed(&packed);
    block.at[block.length - 2] ^= 0x55; /* of the checksum */
    put_event(&after, 100, 3, 5, "after it");
    put(&block, after.at, after.length);
    r = read_packets(block.at, block.length, 0, 0);
    assert_int_equal(r.packets, 10);
    assert_int_equal(tally(&r, TM_TALLY_DAMAGED_PACKETS), 1);
    assert_string_equal(r.damage.problem, "compressed packets are damaged");
}

/* --- a whole trace --- */

struct opened {
    struct tm_run run;
    struct tm_names *names;
    struct tm_host_run host;
    int fd;
    bool is_bare; /* arguments are not kept */
};

static tm_status open_trace(struct opened *o, const struct message *trace)
{
    const struct tm_host_options options = { .steps.all = true, .keeps_arguments = !o->is_bare };
    const uint64_t refuse_in = o->run.budget.refuse_in;
    char path[MEMORY_FILE_PATH], name[] = "h0";
    const struct tm_found_file found = { .path = path, .host = name };

    test_run_init(&o->run);
    o->run.budget.refuse_in = refuse_in;
    o->fd = memory_file(trace->at, trace->length, path);
    o->host = (struct tm_host_run){ .run = NULL };
    o->names = tm_names_new(&o->run, tm_budget_share(&o->run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
    if (!o->names)
        return o->run.error.status;
    return tm_host_open(&o->host, &o->run, o->names, &found, 0, &options);
}

static void close_trace(struct opened *o)
{
    tm_host_close(&o->host);
    tm_names_free(o->names);
    (void)close(o->fd);
    assert_ledger_is_even(&o->run);
}

static void put_name(struct opened *o, FILE *to, tm_strid id)
{
    size_t length;
    const char *const name = tm_names_text(o->names, id, 64, &length);

    (void)fwrite(name, 1, length, to);
}

/* " kind start+dur name {arguments};" in ns, with the numbers of templates as they are. */
static void put_records(struct opened *o, FILE *to, uint64_t track)
{
    static const char *const kinds[] = { "span", "instant", "counter", "s", "t", "f", "B", "E" };
    struct tm_source *const source = o->host.source;
    struct tm_cursor *const cursor = source->type->open(source, track, 4096);
    struct tm_raw_record raw;
    bool more;

    while (source->type->next(cursor, &raw, &more) == TM_OK && more) {
        const struct tm_record *const r = &raw.record;
        const bool is_empty = r->kind == TM_INSTANT && !(r->flags & TM_FLAG_INSTANT); /* a slice */
        uint8_t whole[TM_TEMPLATE_WHOLE_MOST];

        if (!o->is_bare)
            assert_int_equal(source->type->own(cursor, &raw), TM_OK);
        if (r->flags & TM_FLAG_TEMPLATE)
            raw.own = tm_arguments_whole(o->host.trace.templates, r->common, raw.own, r->correlation, whole);
        (void)fprintf(to, " %s %" PRId64 "+%" PRId64 " ", is_empty ? "empty" : kinds[r->kind], r->start_ps / 1000,
                      r->dur_ps / 1000);
        put_name(o, to, r->name);
        if (r->flags & TM_FLAG_OPEN)
            (void)fputs(" open", to);
        if (raw.own.length) {
            (void)fputs(" {", to);
            print_arguments(to, o->names, raw.own);
            (void)fputs("}", to);
        }
        (void)fputc(';', to);
    }
    source->type->close(cursor);
}

/* Every track that has records: "[process|name]" and its records. */
static void assert_records(const struct message *trace, bool is_bare, const char *expected)
{
    struct opened o = { .fd = -1, .is_bare = is_bare };
    char found[4096] = "";
    FILE *const to = fmemopen(found, sizeof(found), "w");

    assert_non_null(to);
    assert_int_equal(open_trace(&o, trace), TM_OK);
    for (uint64_t i = 0; i < tm_rows_count(o.host.trace.tracks); i++) {
        const struct tm_track track = *(const struct tm_track *)tm_rows_at(o.host.trace.tracks, i);

        if (!track.events)
            continue;
        (void)fputc('[', to);
        put_name(&o, to, track.plane_name);
        (void)fputc('|', to);
        put_name(&o, to, track.name);
        (void)fputc(']', to);
        put_records(&o, to, i);
    }
    (void)fclose(to);
    close_trace(&o);
    assert_string_equal(found, expected);
}

static void assert_tracks(const struct message *trace, const char *expected)
{
    assert_records(trace, false, expected);
}

static uint64_t tally_of(const struct message *trace, enum tm_tally which)
{
    struct opened o = { .fd = -1, .is_bare = true };
    uint64_t found;

    assert_int_equal(open_trace(&o, trace), TM_OK);
    found = o.run.tallies.count[which];
    close_trace(&o);
    return found;
}

static void slices_nest_by_track(void **state)
{
    struct message trace = { .length = 0 };

    (void)state;
    put_event(&trace, 1000, 1, 5, "outer"); /* before its descriptor */
    put_event(&trace, 2000, 1, 5, "inner");
    put_event(&trace, 2500, 3, 5, "mark");
    put_event(&trace, 3000, 2, 5, NULL);
    put_event(&trace, 4000, 2, 5, NULL);
    put_event(&trace, 5000, 1, 5, "open");
    put_event(&trace, 6000, 2, 6, NULL);
    put_event(&trace, 7000, 1, 6, "other");
    put_event(&trace, 7000, 1, 6, "same start");
    put_event(&trace, 8000, 2, 6, NULL);
    put_event(&trace, 8000, 2, 6, NULL);
    put_thread(&trace, 5, 1, 2, "main");
    put_thread(&trace, 6, 1, 3, "worker");
    assert_tracks(&trace, "[process 1|main] span 1000+3000 outer; span 2000+1000 inner; instant 2500+0 mark;"
                          " span 5000+0 open open;"
                          "[process 1|worker] span 7000+1000 other; span 7000+1000 same start;");
    assert_int_equal(tally_of(&trace, TM_TALLY_UNMATCHED_BEGIN), 1);
    assert_int_equal(tally_of(&trace, TM_TALLY_UNMATCHED_END), 1);
}

/* Packets out of order, and two tracks of one thread. */
static void order_is_that_of_time(void **state)
{
    struct message trace = { .length = 0 };

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    put_thread(&trace, 6, 1, 2, "main");
    put_event(&trace, 3000, 1, 5, "second");
    put_event(&trace, 4000, 2, 5, NULL);
    put_event(&trace, 1000, 1, 5, "first");
    put_event(&trace, 1500, 1, 6, "inner");
    put_event(&trace, 1800, 2, 6, NULL);
    put_event(&trace, 2000, 2, 5, NULL);
    assert_tracks(&trace, "[process 1|main] span 1000+1000 first; span 1500+300 inner; span 3000+1000 second;");
}

static void names_belong_to_a_sequence_and_its_state(void **state)
{
    struct message trace = { .length = 0 }, e = { .length = 0 };

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    number(&e, 9, 3);
    number(&e, 10, 1); /* name 1 */
    number(&e, 11, 5);
    number(&e, 3, 1);                       /* category 1 */
    packet(&trace, 2, NEEDS, 1000, 11, &e); /* nothing was said yet */
    intern(&trace, 2, CLEAN, 2, 1, "of two");
    intern(&trace, 2, NEEDS, 1, 1, "cat");
    intern(&trace, 3, CLEAN, 2, 1, "of three");
    packet(&trace, 2, NEEDS, 2000, 11, &e);
    packet(&trace, 3, NEEDS, 3000, 11, &e);
    intern(&trace, 2, CLEAN, 2, 1, "again");
    packet(&trace, 2, NEEDS, 4000, 11, &e);
    assert_tracks(&trace, "[process 1|main] instant 2000+0 of two {cat='cat'}; instant 3000+0 of three;"
                          " instant 4000+0 again;");
    assert_int_equal(tally_of(&trace, TM_TALLY_MISSING_STATE), 1);
    assert_int_equal(tally_of(&trace, TM_TALLY_NO_METADATA), 2); /* the category of two of them */
}

/* An instant with a correlation id and a number that is not used, by numbers of the tables. */
static void put_call(struct message *trace, int64_t ns, uint64_t correlation, uint64_t other, uint64_t flow)
{
    struct message e = { .length = 0 }, a = { .length = 0 }, b = { .length = 0 };

    number(&e, 9, 3);
    number(&e, 11, 5);
    number(&e, 10, 1);
    number(&a, 1, 1);
    number(&a, 4, correlation);
    inside(&e, 4, &a);
    number(&b, 1, 2);
    number(&b, 3, other);
    inside(&e, 4, &b);
    if (flow)
        fixed(&e, 47, flow);
    packet(trace, 2, NEEDS, ns, 11, &e);
}

/* Every record of the first track, without arguments: " start name correlation". */
static void assert_calls(const struct message *trace, const char *expected)
{
    struct opened o = { .fd = -1, .is_bare = true };
    char found[4096] = "";
    FILE *const to = fmemopen(found, sizeof(found), "w");
    struct tm_raw_record raw;
    struct tm_cursor *cursor;
    bool more;

    assert_non_null(to);
    assert_int_equal(open_trace(&o, trace), TM_OK);
    cursor = o.host.source->type->open(o.host.source, 0, 4096);
    while (o.host.source->type->next(cursor, &raw, &more) == TM_OK && more) {
        (void)fprintf(to, " %" PRId64 " ", raw.record.start_ps / 1000);
        put_name(&o, to, raw.record.name);
        (void)fprintf(to, " %" PRIu64, raw.record.flags & TM_FLAG_CORRELATION ? raw.record.correlation : 0);
    }
    o.host.source->type->close(cursor);
    (void)fclose(to);
    close_trace(&o);
    assert_string_equal(found, expected);
}

/* Events of the same bytes but for numbers are read once, as long as what they refer to stays the same. */
static void repeated_events_have_their_own_numbers(void **state)
{
    struct message trace = { .length = 0 };

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    intern(&trace, 2, CLEAN, 2, 1, "call");
    intern(&trace, 2, NEEDS, 3, 1, "correlation_id");
    intern(&trace, 2, NEEDS, 3, 2, "other");
    put_call(&trace, 1000, 1, 7, 0);
    put_call(&trace, 1001, 2, 9, 0);
    put_call(&trace, 1002, 300, 9, 0); /* longer */
    put_call(&trace, 1003, 16383, 8, 0);
    put_call(&trace, 1004, 3, 700, 0);
    intern(&trace, 2, NEEDS, 2, 1, "renamed");
    put_call(&trace, 1005, 4, 7, 0);
    put_call(&trace, 1006, 5, 8, 0);
    intern(&trace, 2, NEEDS, 3, 1, "other");
    intern(&trace, 2, NEEDS, 3, 2, "correlation_id");
    put_call(&trace, 1007, 4, 7, 0);
    put_call(&trace, 1008, 5, 8, 0);
    intern(&trace, 2, CLEAN, 2, 1, "again");
    put_call(&trace, 1009, 5, 8, 0);
    assert_calls(&trace, " 1000 call 1 1001 call 2 1002 call 300 1003 call 16383 1004 call 3 1005 renamed 4"
                         " 1006 renamed 5 1007 renamed 7 1008 renamed 8 1009 again 0");
    trace.length = 0;
    put_thread(&trace, 5, 1, 2, "main");
    intern(&trace, 2, CLEAN, 2, 1, "call");
    for (int i = 0; i < 6; i++)
        put_call(&trace, 1000 + i, 1, 7, 100 + (uint64_t)i / 2); /* the keys are missing */
    assert_int_equal(tally_of(&trace, TM_TALLY_FLOW_EVENT), 6);
    assert_int_equal(tally_of(&trace, TM_TALLY_NO_METADATA), 6);
}

/* The track of the events of a sequence that name none. */
static void put_default_track(struct message *trace, uint64_t sequence, uint64_t uuid)
{
    struct message track = { .length = 0 }, defaults = { .length = 0 };

    number(&track, 11, uuid);
    inside(&defaults, 11, &track);
    packet(trace, sequence, 0, -1, 59, &defaults);
}

static void put_attribute(struct message *trace, const char *key, const char *value)
{
    struct message attribute = { .length = 0 }, list = { .length = 0 };

    text(&attribute, 1, key);
    text(&attribute, 3, value);
    inside(&list, 1, &attribute);
    packet(trace, 1, 0, -1, 126, &list);
}

/* Events of the same bytes follow the descriptor of their track, and the default of their sequence. */
static void repeated_events_follow_their_track(void **state)
{
    struct message trace = { .length = 0 }, e = { .length = 0 };

    (void)state;
    number(&e, 9, 3);
    text(&e, 23, "mark");
    put_thread(&trace, 5, 1, 2, "main");
    put_thread(&trace, 6, 1, 3, "worker");
    put_default_track(&trace, 2, 5);
    packet(&trace, 2, 0, 1000, 11, &e);
    packet(&trace, 2, 0, 2000, 11, &e);
    put_default_track(&trace, 2, 6);
    packet(&trace, 2, 0, 3000, 11, &e);
    packet(&trace, 2, 0, 4000, 11, &e);
    assert_records(&trace, true,
                   "[process 1|main] instant 1000+0 mark; instant 2000+0 mark;"
                   "[process 1|worker] instant 3000+0 mark; instant 4000+0 mark;");
    trace.length = 0;
    put_attribute(&trace, "tracemill.version", "1");
    for (int i = 0; i < 6; i++) {
        static const char *const names[] = { "(no thread)", "steps", "steps \u00b7 tracemill" };

        if (i % 2 == 0)
            put_plain(&trace, 5, 0, names[i / 2]); /* instants, then slices, then computed ones */
        put_event(&trace, 1000 + i, 1, 5, "same");
        put_event(&trace, 1000 + i, 2, 5, NULL);
    }
    assert_records(&trace, true,
                   "[steps \u00b7 tracemill|steps \u00b7 tracemill] instant 1000+0 same; instant 1001+0 same;"
                   " empty 1002+0 same; empty 1003+0 same;");
    assert_int_equal(tally_of(&trace, TM_TALLY_COMPUTED_ROW), 2);
}

/* Values of fixed size are no lengths of packed numbers. */
static void packed_numbers_of_another_type_are_none(void **state)
{
    struct message trace = { .length = 0 }, defaults = { .length = 0 }, track = { .length = 0 }, e;

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    put_plain(&trace, 1, 0, "counter");
    fixed(&track, 31, 1); /* counters of the extra values of events */
    inside(&defaults, 11, &track);
    packet(&trace, 1, 0, -1, 59, &defaults);
    e = event(3, 5, "mark");
    fixed(&e, 3, 1); /* categories */
    number(&e, 12, 7);
    packet(&trace, 1, 0, 1000, 11, &e);
    assert_tracks(&trace, "[process 1|main] instant 1000+0 mark;");
    assert_int_equal(tally_of(&trace, TM_TALLY_NO_METADATA), 0);
}

static void annotations_become_arguments(void **state)
{
    struct message trace = { .length = 0 }, e = event(3, 5, "a"), a, b, list;
    double half = 0.5;
    uint64_t bits;

    (void)state;
    memcpy(&bits, &half, sizeof(bits));
    put_thread(&trace, 5, 1, 2, "main");
    a = (struct message){ .length = 0 };
    text(&a, 10, "whole");
    number(&a, 4, (uint64_t)-3);
    inside(&e, 4, &a);
    a = (struct message){ .length = 0 };
    text(&a, 6, "x");
    text(&a, 10, "word"); /* the name after the value */
    inside(&e, 4, &a);
    a = (struct message){ .length = 0 };
    text(&a, 10, "real");
    fixed(&a, 5, bits);
    inside(&e, 4, &a);
    a = (struct message){ .length = 0 };
    text(&a, 10, "yes");
    number(&a, 2, 1);
    inside(&e, 4, &a);
    list = (struct message){ .length = 0 };
    text(&list, 10, "list");
    for (uint64_t i = 1; i < 3; i++) {
        b = (struct message){ .length = 0 };
        number(&b, 3, i);
        inside(&list, 12, &b);
    }
    inside(&e, 4, &list);
    a = (struct message){ .length = 0 };
    text(&a, 10, "dict");
    text(&list, 10, "inner"); /* the last one counts */
    inside(&a, 11, &list);
    inside(&e, 4, &a);
    a = (struct message){ .length = 0 };
    number(&a, 1, 77); /* a name that is missing */
    number(&a, 17, 78);
    inside(&e, 4, &a);
    packet(&trace, 1, CLEAN, 1000, 11, &e);
    assert_tracks(&trace, "[process 1|main] instant 1000+0 a {whole:-3 word:'x' real:~0.5 yes:true list:[1u 2u]"
                          " dict:{inner:[1u 2u]} name 77:@string 78};");
}

/* A tree of tracks, tracks that are their own ancestors, and a process by name. */
static void tracks_have_the_process_of_their_ancestor(void **state)
{
    struct message trace = { .length = 0 }, track = { .length = 0 }, process = { .length = 0 };

    (void)state;
    number(&process, 1, 7);
    text(&process, 6, "trainer");
    number(&track, 1, 10);
    inside(&track, 3, &process);
    packet(&trace, 1, 0, -1, 60, &track);
    put_plain(&trace, 11, 10, "queue");
    put_plain(&trace, 12, 11, "lane");
    put_plain(&trace, 20, 0, "root");
    put_plain(&trace, 21, 20, "leaf");
    put_plain(&trace, 30, 31, "a");
    put_plain(&trace, 31, 30, "b");
    for (uint64_t uuid = 10; uuid < 32; uuid++)
        if (uuid <= 12 || uuid == 21 || uuid >= 30)
            put_event(&trace, 1000, 3, uuid, "x");
    assert_tracks(&trace, "[trainer|(no thread)] instant 1000+0 x;[trainer|queue] instant 1000+0 x;"
                          "[trainer|lane] instant 1000+0 x;[root|leaf] instant 1000+0 x;"
                          "[a|a] instant 1000+0 x;[a|b] instant 1000+0 x;");
}

static void counters_have_names_and_values(void **state)
{
    struct message trace = { .length = 0 }, track = { .length = 0 }, counter = { .length = 0 }, e;

    (void)state;
    for (int i = 1; i < 3; i++) { /* before its descriptor */
        e = event(4, 8, NULL);
        number(&e, 30, (uint64_t)i * 10);
        packet(&trace, 1, 0, i * 1000, 11, &e);
    }
    number(&counter, 3, 3);
    number(&track, 1, 8);
    text(&track, 2, "memory");
    inside(&track, 8, &counter);
    packet(&trace, 1, 0, -1, 60, &track);
    assert_tracks(&trace, "[memory|memory] counter 1000+0 memory {:10}; counter 2000+0 memory {:20};");
}

static void flows_join_slices_in_time_order(void **state)
{
    struct message trace = { .length = 0 }, e;

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    for (int i = 3; i > 0; i--) {
        e = event(1, 5, "a");
        fixed(&e, 47, 99);
        packet(&trace, 1, 0, i * 1000, 11, &e);
        put_event(&trace, i * 1000 + 500, 2, 5, NULL);
    }
    assert_tracks(&trace, "[process 1|main] span 1000+500 a; span 2000+500 a; span 3000+500 a;"
                          "[(no process)|(flows)] s 1000+0 flow {place=0 enclosed}; t 2000+0 flow {place=0 enclosed};"
                          " t 3000+0 flow {place=0 enclosed};");
    assert_int_equal(tally_of(&trace, TM_TALLY_UNMATCHED_FLOW), 0);
}

/* A clock of the sequence that counts from packet to packet, the wall clock, and one that nobody knows. */
static void clocks_are_those_of_the_snapshots(void **state)
{
    static const uint64_t clocks[][3] = { { 64, 0, 1 }, { 6, 5000, 0 }, { 1, 1000000, 0 } };
    struct message trace = { .length = 0 }, snapshot = { .length = 0 }, e = event(3, 5, "a"), p;

    (void)state;
    put_thread(&trace, 5, 1, 2, "main");
    for (size_t i = 0; i < 3; i++) {
        struct message clock = { .length = 0 };

        number(&clock, 1, clocks[i][0]);
        number(&clock, 2, clocks[i][1]);
        number(&clock, 3, clocks[i][2]);
        inside(&snapshot, 1, &clock);
    }
    packet(&trace, 1, CLEAN, -1, 6, &snapshot);
    for (int i = 0; i < 4; i++) {
        static const uint64_t times[][2] = { { 64, 100 }, { 64, 100 }, { 1, 1000700 }, { 3, 5 } };

        p = (struct message){ .length = 0 };
        number(&p, 8, times[i][1]);
        number(&p, 58, times[i][0]);
        number(&p, 10, 1);
        inside(&p, 11, &e);
        inside(&trace, 1, &p);
    }
    assert_tracks(&trace, "[process 1|main] instant 5100+0 a; instant 5200+0 a; instant 5700+0 a;");
    assert_int_equal(tally_of(&trace, TM_TALLY_UNKNOWN_CLOCK), 1);
}

static void other_data_is_counted(void **state)
{
    struct message trace = { .length = 0 }, ftrace = { .length = 0 };
    struct opened o = { .fd = -1 };

    (void)state;
    number(&ftrace, 1, 3);
    for (int i = 0; i < 3; i++)
        packet(&trace, 1, 0, 1000, 1, &ftrace);
    put_thread(&trace, 5, 1, 2, "main");
    assert_int_equal(open_trace(&o, &trace), TM_ERR_INPUT);
    assert_non_null(strstr(o.run.error.what, "only packets of other data sources (ftrace)"));
    close_trace(&o);
    put_event(&trace, 1000, 3, 5, "a");
    assert_int_equal(tally_of(&trace, TM_TALLY_OTHER_PACKET), 3);
}

static struct message something_of_all(void)
{
    struct message trace = some_packets(), e = event(1, 5, "a");

    intern(&trace, 1, CLEAN, 2, 1, "a name");
    fixed(&e, 47, 3);
    packet(&trace, 1, NEEDS, 6000, 11, &e);
    put_event(&trace, 7000, 2, 5, NULL);
    return trace;
}

static tm_status job(struct tm_run *run)
{
    const struct message trace = something_of_all();
    struct opened o = { .fd = -1 };
    tm_status st;

    o.run.budget.refuse_in = run->budget.refuse_in;
    st = open_trace(&o, &trace);
    close_trace(&o);
    *run = o.run;
    return st;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_the_same_for_every_split),
        cmocka_unit_test(every_truncation_ends_cleanly),
        cmocka_unit_test(damage_costs_little),
        cmocka_unit_test(zeros_are_stepped_over),
        cmocka_unit_test(large_packets_are_left_out_and_packed_ones_are_not),
        cmocka_unit_test(packets_of_zstd_are_read),
        cmocka_unit_test(a_block_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_damaged_block_is_reported),
        cmocka_unit_test(slices_nest_by_track),
        cmocka_unit_test(order_is_that_of_time),
        cmocka_unit_test(names_belong_to_a_sequence_and_its_state),
        cmocka_unit_test(repeated_events_have_their_own_numbers),
        cmocka_unit_test(repeated_events_follow_their_track),
        cmocka_unit_test(packed_numbers_of_another_type_are_none),
        cmocka_unit_test(annotations_become_arguments),
        cmocka_unit_test(tracks_have_the_process_of_their_ancestor),
        cmocka_unit_test(counters_have_names_and_values),
        cmocka_unit_test(flows_join_slices_in_time_order),
        cmocka_unit_test(clocks_are_those_of_the_snapshots),
        cmocka_unit_test(other_data_is_counted),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
