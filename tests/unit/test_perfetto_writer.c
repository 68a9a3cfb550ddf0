/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "perfetto.pb-c.h"
#include "stages/input/bytes/input_file.h"
#include "stages/output/trace_writer.h"
#include "tests/support/test_run.h"

enum {
    PACKETS_MOST = 200000,
    BLOCKS_MOST = 200,
    IIDS_MOST = 20000,
    EPOCH_NS = 1000000 /* less than a clock since 1970 reads */
};

/* --- writing --- */

struct rig {
    struct tm_run run;
    struct tm_names *names;
    struct tm_trace_writer *w;
    struct tm_out_file *file;
    char folder[64];
    struct tm_arguments_builder b;
    uint8_t list[TM_ARGUMENTS_MOST];
};

static struct tm_out_row thread_row = { .uuid = 11, .parent = 10, .sort = TM_OUT_THREAD, .pid = 1, .tid = 14 };

static tm_status open_rig(struct rig *r, struct tm_writer_options options, size_t names_bytes)
{
    memcpy(r->folder, "/var/tmp/test-perfetto-XXXXXX", 30);
    assert_non_null(mkdtemp(r->folder));
    r->names = tm_names_new(&r->run, names_bytes, NULL);
    r->w = r->names ? tm_perfetto_writer.open(&r->run, r->names, &options) : NULL;
    return r->w ? TM_OK : r->run.error.status;
}

static struct rig *new_rig(struct tm_writer_options options)
{
    struct rig *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    test_run_init(&r->run);
    options.epoch_ns = options.epoch_ns ? options.epoch_ns : EPOCH_NS;
    assert_int_equal(open_rig(r, options, tm_budget_share(&r->run.budget, TM_ACCOUNT_NAMES)), TM_OK);
    return r;
}

static void path_of(const struct rig *r, const char *name, char path[200])
{
    (void)snprintf(path, 200, "%s/%s", r->folder, name);
}

static void close_rig(struct rig *r)
{
    char path[200];

    for (int i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof(path), "%s/%d", r->folder, i);
        (void)unlink(path);
    }
    tm_out_file_free(r->file);
    tm_perfetto_writer.free(r->w);
    tm_names_free(r->names);
    (void)rmdir(r->folder);
}

static void free_rig(struct rig *r)
{
    close_rig(r);
    assert_ledger_is_even(&r->run);
    free(r);
}

static tm_status begin_file(struct rig *r, int number)
{
    char name[8];

    (void)snprintf(name, sizeof(name), "%d", number);
    r->file = tm_out_file_open(&r->run, r->folder, name, false);
    if (r->file)
        tm_perfetto_writer.begin_file(r->w, r->file);
    return r->run.error.status;
}

static tm_status end_file(struct rig *r)
{
    tm_perfetto_writer.end_file(r->w);
    const tm_status status = tm_out_file_commit(r->file, NULL);

    tm_out_file_free(r->file);
    r->file = NULL;
    return status;
}

static tm_strid id_of(struct rig *r, const char *text)
{
    return tm_names_put_string(r->names, text);
}

static void begin_list(struct rig *r)
{
    tm_arguments_begin(&r->b, r->names, r->list, sizeof(r->list));
}

static struct tm_out_event event_of(struct rig *r, const char *name, int64_t start_ps, int64_t end_ps)
{
    return (struct tm_out_event){ .row = &thread_row,
                                  .name = id_of(r, name),
                                  .start_ps = start_ps,
                                  .end_ps = end_ps,
                                  .whole_begin_ps = start_ps,
                                  .whole_end_ps = end_ps };
}

static void put_slice(struct rig *r, const struct tm_out_event *event)
{
    tm_perfetto_writer.begin(r->w, event);
    tm_perfetto_writer.end(r->w, event);
}

/* --- reading, with the tables of names and the clock as a viewer keeps them --- */

enum table { CATEGORIES, NAMES, KEYS, STRINGS, TABLES };

struct trace {
    Perfetto__Trace *traces[BLOCKS_MOST];
    size_t trace_count, block_count;
    Perfetto__TracePacket **packets;
    uint64_t *time_ns; /* of each packet: what the trace's clock reads */
    size_t count, snapshots, origins;
    ProtobufCBinaryData *text[TABLES]; /* by iid */
    size_t cleared;
};

static uint8_t *read_bytes(const struct rig *r, const char *name, size_t *length)
{
    char path[200];

    path_of(r, name, path);
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *length = (size_t)ftell(in);
    rewind(in);
    uint8_t *bytes = malloc(*length + 1);

    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, in), *length);
    (void)fclose(in);
    return bytes;
}

static void add_packets(struct trace *t, const uint8_t *bytes, size_t length);

static void add_block(struct trace *t, ProtobufCBinaryData block)
{
    uLongf length = 2 << 20;
    uint8_t *bytes = malloc(length);

    assert_non_null(bytes);
    assert_int_equal(uncompress(bytes, &length, block.data, block.len), Z_OK);
    assert_true(length <= 512 << 10);
    t->block_count++;
    add_packets(t, bytes, length);
    free(bytes);
}

/* What a file begins with: the program that wrote it.  It needs no state of the sequence, which is cleared after it. */
static bool is_origin(const Perfetto__TracePacket *packet)
{
    return packet->trace_attributes && !packet->has_sequence_flags;
}

static void add_packets(struct trace *t, const uint8_t *bytes, size_t length)
{
    Perfetto__Trace *trace = perfetto__trace__unpack(NULL, length, bytes);

    assert_non_null(trace);
    assert_true(t->trace_count < BLOCKS_MOST);
    t->traces[t->trace_count++] = trace;
    for (size_t i = 0; i < trace->n_packet; i++) {
        assert_int_equal(trace->packet[i]->base.n_unknown_fields, 0);
        if (trace->packet[i]->has_compressed_packets) {
            add_block(t, trace->packet[i]->compressed_packets);
            continue;
        }
        if (is_origin(trace->packet[i])) {
            t->origins++;
            continue;
        }
        assert_true(t->count < PACKETS_MOST);
        t->packets[t->count++] = trace->packet[i];
    }
}

enum { SEQUENCE_CLOCK = 64, TRACE_CLOCK = 6, REALTIME = 1, MONOTONIC = 3 };

/* Both clocks of the trace read 0 at the same moment, and that of the recording what it read then. */
static void check_snapshot(const Perfetto__ClockSnapshot *snapshot)
{
    assert_int_equal(snapshot->n_clocks, 3);
    assert_int_equal(snapshot->clocks[2]->clock_id, MONOTONIC);
    assert_int_equal(snapshot->clocks[2]->timestamp, EPOCH_NS);
    for (size_t i = 0; i < 2; i++) {
        const Perfetto__Clock *clock = snapshot->clocks[i];

        assert_int_equal(clock->clock_id, i == 0 ? SEQUENCE_CLOCK : TRACE_CLOCK);
        assert_int_equal(clock->is_incremental, i == 0);
        assert_true(clock->has_timestamp && clock->timestamp == 0);
    }
}

/* Tables that begin anew take the defaults with them, and those name the clock: both come again.  Each time counts from
 * the one before, the first one after a snapshot from 0. */
static void follow_clock(struct trace *t)
{
    uint64_t clock_ns = 0;

    for (size_t i = 0; i < t->count; i++) {
        const Perfetto__TracePacket *packet = t->packets[i];

        assert_int_equal(packet->sequence_flags == 1, packet->trace_packet_defaults != NULL);
        if (packet->trace_packet_defaults) {
            assert_non_null(packet->clock_snapshot);
            assert_int_equal(packet->trace_packet_defaults->timestamp_clock_id, SEQUENCE_CLOCK);
        }
        assert_int_equal(packet->has_timestamp, packet->track_event != NULL);
        if (packet->clock_snapshot) {
            check_snapshot(packet->clock_snapshot);
            t->snapshots++;
            clock_ns = 0;
        }
        assert_false(__builtin_add_overflow(clock_ns, packet->timestamp, &clock_ns));
        assert_true(clock_ns <= INT64_MAX);
        t->time_ns[i] = clock_ns;
    }
}

static struct trace *trace_of(const uint8_t *bytes, size_t length)
{
    struct trace *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    t->packets = calloc(PACKETS_MOST, sizeof(*t->packets));
    t->time_ns = calloc(PACKETS_MOST, sizeof(*t->time_ns));
    assert_non_null(t->packets);
    assert_non_null(t->time_ns);
    for (int i = 0; i < TABLES; i++) {
        t->text[i] = calloc(IIDS_MOST, sizeof(*t->text[i]));
        assert_non_null(t->text[i]);
    }
    add_packets(t, bytes, length);
    follow_clock(t);
    return t;
}

static struct trace *read_trace(const struct rig *r, const char *name)
{
    size_t length;
    uint8_t *bytes = read_bytes(r, name, &length);
    struct trace *t = trace_of(bytes, length);

    free(bytes);
    return t;
}

static void free_trace(struct trace *t)
{
    for (size_t i = 0; i < t->trace_count; i++)
        perfetto__trace__free_unpacked(t->traces[i], NULL);
    for (int i = 0; i < TABLES; i++)
        free(t->text[i]);
    free(t->time_ns);
    free(t->packets);
    free(t);
}

static void learn(struct trace *t, enum table table, size_t count, Perfetto__InternedText **entries)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t iid = entries[i]->iid;

        assert_true(iid > 0 && iid < IIDS_MOST);
        assert_null(t->text[table][iid].data); /* a number has one meaning */
        t->text[table][iid] = entries[i]->text;
        if (!t->text[table][iid].len)
            t->text[table][iid].data = (uint8_t *)t; /* no bytes, but there */
    }
}

/* The packet by its number, with its names learnt: to be called for each in turn. */
static Perfetto__TracePacket *packet_at(struct trace *t, size_t i)
{
    assert_true(i < t->count);
    Perfetto__TracePacket *packet = t->packets[i];
    const Perfetto__InternedData *data = packet->interned_data;

    assert_int_equal(packet->trusted_packet_sequence_id, 1);
    assert_true(packet->sequence_flags == 1 || (i > 0 && packet->sequence_flags == 2));
    if (i == 1)
        assert_true(packet->track_descriptor && packet->track_descriptor->uuid == 0); /* of the trace */
    if (packet->sequence_flags == 1) {
        t->cleared++;
        for (int k = 0; k < TABLES; k++)
            memset(t->text[k], 0, IIDS_MOST * sizeof(*t->text[k]));
    }
    if (data) {
        learn(t, CATEGORIES, data->n_event_categories, data->event_categories);
        learn(t, NAMES, data->n_event_names, data->event_names);
        learn(t, KEYS, data->n_debug_annotation_names, data->debug_annotation_names);
        learn(t, STRINGS, data->n_debug_annotation_string_values, data->debug_annotation_string_values);
    }
    return packet;
}

static ProtobufCBinaryData known(const struct trace *t, enum table table, uint64_t iid)
{
    assert_true(iid > 0 && iid < IIDS_MOST && t->text[table][iid].data);
    return t->text[table][iid];
}

static void assert_is(ProtobufCBinaryData text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
}

static ProtobufCBinaryData name_of(const struct trace *t, const Perfetto__TrackEvent *event)
{
    return event->name_field_case == PERFETTO__TRACK_EVENT__NAME_FIELD_NAME_IID ? known(t, NAMES, event->name_iid)
                                                                                : event->name;
}

static ProtobufCBinaryData key_of(const struct trace *t, const Perfetto__DebugAnnotation *a)
{
    return a->name_field_case == PERFETTO__DEBUG_ANNOTATION__NAME_FIELD_NAME_IID ? known(t, KEYS, a->name_iid)
                                                                                 : a->name;
}

static ProtobufCBinaryData string_of(const struct trace *t, const Perfetto__DebugAnnotation *a)
{
    if (a->value_case == PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE_IID)
        return known(t, STRINGS, a->string_value_iid);
    assert_int_equal(a->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE);
    return a->string_value;
}

static void skip_to(struct trace *t, size_t *i, Perfetto__TrackEvent__Type type)
{
    while (!packet_at(t, *i)->track_event || t->packets[*i]->track_event->type != type)
        (*i)++;
}

/* The first begin of a slice. */
static const Perfetto__TrackEvent *first_slice(struct trace *t)
{
    size_t i = 0;

    skip_to(t, &i, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
    return t->packets[i]->track_event;
}

static const Perfetto__TrackEvent *first_end(struct trace *t)
{
    size_t i = 0;

    skip_to(t, &i, PERFETTO__TRACK_EVENT__TYPE__SLICE_END);
    return t->packets[i]->track_event;
}

/* --- tests --- */

static const struct tm_writer_options all = { .args = TM_ARGS_ALL };

static void slices_instants_and_counters_are_packets_of_one_sequence(void **state)
{
    struct rig *r = new_rig(all);
    const struct tm_out_row row = { .uuid = UINT64_MAX };
    struct tm_out_event event = event_of(r, "fusion.1", 1500, 2499);
    struct tm_out_counter counter = { .row = &row, .time_ps = 4000000, .is_whole = true };

    (void)state;
    event.category = id_of(r, "kernel");
    event.flow = 7;
    assert_int_equal(begin_file(r, 0), TM_OK);
    put_slice(r, &event);
    event.is_instant = true;
    event.end_ps = event.start_ps;
    event.flow = 0;
    tm_perfetto_writer.instant(r->w, &event);
    tm_perfetto_writer.counter(r->w, &counter);
    counter.is_whole = false;
    counter.value = -0.5;
    tm_perfetto_writer.counter(r->w, &counter);
    assert_int_equal(end_file(r), TM_OK);

    struct trace *t = read_trace(r, "0");

    assert_int_equal(t->count, 8);
    assert_int_equal(t->snapshots, 1);
    assert_int_equal(packet_at(t, 0)->sequence_flags, 1);
    (void)packet_at(t, 1);
    const Perfetto__TracePacket *p = packet_at(t, 2);

    assert_int_equal(t->time_ns[2], 2);
    assert_int_equal(p->track_event->type, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
    assert_int_equal(p->track_event->track_uuid, 11);
    assert_is(name_of(t, p->track_event), "fusion.1");
    assert_int_equal(p->track_event->n_category_iids, 1);
    assert_is(known(t, CATEGORIES, p->track_event->category_iids[0]), "kernel");
    assert_int_equal(p->track_event->n_flow_ids, 1);
    assert_true(p->track_event->flow_ids[0] == (UINT64_C(1) << 63 | 7));
    p = packet_at(t, 3);
    assert_int_equal(t->time_ns[3], 2); /* 2.499 ns */
    assert_int_equal(p->track_event->type, PERFETTO__TRACK_EVENT__TYPE__SLICE_END);
    assert_int_equal(p->track_event->track_uuid, 11);
    p = packet_at(t, 4);
    assert_int_equal(p->track_event->type, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN); /* the instant */
    assert_int_equal(t->time_ns[4], 2);
    assert_is(name_of(t, p->track_event), "fusion.1");
    assert_null(p->interned_data);
    assert_int_equal(p->track_event->n_flow_ids, 0);
    p = packet_at(t, 5);
    assert_int_equal(t->time_ns[5], 2);
    assert_int_equal(p->track_event->type, PERFETTO__TRACK_EVENT__TYPE__SLICE_END);
    p = packet_at(t, 6);
    assert_int_equal(t->time_ns[6], 4000);
    assert_int_equal(p->track_event->type, PERFETTO__TRACK_EVENT__TYPE__COUNTER);
    assert_true(p->track_event->track_uuid == UINT64_MAX);
    assert_int_equal(p->track_event->counter_value_field_case,
                     PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_COUNTER_VALUE);
    assert_int_equal(p->track_event->counter_value, 0);
    p = packet_at(t, 7);
    assert_int_equal(p->track_event->counter_value_field_case,
                     PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_DOUBLE_COUNTER_VALUE);
    assert_true(p->track_event->double_counter_value == -0.5);
    free_trace(t);
    free_rig(r);
}

static void rows_are_tracks_with_their_order(void **state)
{
    struct rig *r = new_rig(all);
    const struct tm_out_row rows[] = {
        { .uuid = 10, .sort = TM_OUT_PROCESS, .pid = 1, .name = id_of(r, "/device:GPU:0"), .order = -3 },
        { .uuid = 11,
          .parent = 10,
          .sort = TM_OUT_THREAD,
          .pid = 1,
          .tid = 14,
          .name = id_of(r, "Stream"),
          .order = INT64_MAX },
        { .uuid = 12, .parent = 11, .sort = TM_OUT_LANE, .pid = 1, .tid = 15, .name = id_of(r, "Stream"), .order = 1 },
        { .uuid = 13,
          .parent = 10,
          .sort = TM_OUT_ROW,
          .pid = 1,
          .tid = 16,
          .name = id_of(r, "(async\xff)"),
          .order = 2 },
        { .uuid = 14,
          .parent = 10,
          .sort = TM_OUT_COUNTER,
          .pid = 1,
          .name = id_of(r, "memory"),
          .unit = id_of(r, "bytes") },
        { .uuid = 15, .parent = 10, .sort = TM_OUT_COUNTER, .pid = 1, .name = id_of(r, "busy"), .unit = id_of(r, "%") },
        { .uuid = 16,
          .parent = 10,
          .sort = TM_OUT_COUNTER,
          .pid = 1,
          .name = id_of(r, "queue"),
          .unit = id_of(r, "count") },
        { .uuid = 17, .parent = 10, .sort = TM_OUT_COUNTER, .pid = 1, .name = id_of(r, "other") },
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (size_t i = 0; i < ROWS; i++)
        tm_perfetto_writer.row(r->w, &rows[i]);
    assert_int_equal(end_file(r), TM_OK);

    struct trace *t = read_trace(r, "0");
    const Perfetto__TrackDescriptor *track[1 + ROWS];

    assert_int_equal(t->count, 2 + ROWS);
    (void)packet_at(t, 0);
    for (size_t i = 0; i < 1 + ROWS; i++) {
        track[i] = packet_at(t, 1 + i)->track_descriptor;
        assert_non_null(track[i]);
        assert_true(track[i]->has_uuid);
        assert_int_equal(track[i]->uuid, i == 0 ? 0 : rows[i - 1].uuid);
        assert_int_equal(track[i]->parent_uuid, i == 0 ? 0 : rows[i - 1].parent);
        assert_int_equal(track[i]->process != NULL, i == 1);
        assert_int_equal(track[i]->thread != NULL, i == 2);
        assert_int_equal(track[i]->counter != NULL, i >= 5);
        if (i >= 2)
            assert_int_equal(track[i]->sibling_merge_behavior, PERFETTO__TRACK_DESCRIPTOR__MERGING__NONE);
    }
    assert_int_equal(track[0]->process_ordering, PERFETTO__TRACK_DESCRIPTOR__RANK_ORDERING__BY_RANK);
    assert_int_equal(track[0]->thread_ordering, PERFETTO__TRACK_DESCRIPTOR__RANK_ORDERING__BY_RANK);
    assert_int_equal(track[1]->process->pid, 1);
    assert_is(track[1]->process->process_name, "/device:GPU:0");
    assert_int_equal(track[1]->process->legacy_sort_index, -3);
    assert_int_equal(track[1]->sibling_order_rank, -3);
    assert_int_equal(track[1]->child_ordering, PERFETTO__TRACK_DESCRIPTOR__ORDERING__EXPLICIT);
    assert_int_equal(track[2]->thread->pid, 1);
    assert_int_equal(track[2]->thread->tid, 14);
    assert_is(track[2]->thread->thread_name, "Stream");
    assert_int_equal(track[2]->sibling_order_rank, INT32_MAX);
    assert_is(track[3]->name, "Stream");
    assert_is(track[4]->name, "(async\xef\xbf\xbd)");
    assert_int_equal(track[4]->sibling_order_rank, 2);
    assert_int_equal(track[5]->counter->unit, PERFETTO__COUNTER_DESCRIPTOR__UNIT__SIZE_BYTES);
    assert_is(track[6]->counter->unit_name, "%");
    assert_int_equal(track[7]->counter->unit, PERFETTO__COUNTER_DESCRIPTOR__UNIT__COUNT);
    assert_false(track[8]->counter->has_unit || track[8]->counter->has_unit_name);
    free_trace(t);
    free_rig(r);
}

/* A group is a track of no process, and what stands for its own spans is no track beside it. */
static void a_group_holds_rows_and_its_own_spans(void **state)
{
    struct rig *r = new_rig(all);
    const struct tm_out_row rows[] = {
        { .uuid = 10, .sort = TM_OUT_GROUP, .pid = 1, .name = id_of(r, "Analysis") },
        { .uuid = 10, .parent = 10, .sort = TM_OUT_ROW, .pid = 1, .tid = 1, .name = id_of(r, "verdict") },
        { .uuid = 11, .parent = 10, .sort = TM_OUT_ROW, .pid = 1, .tid = 2, .name = id_of(r, "findings"), .order = 1 },
    };

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        tm_perfetto_writer.row(r->w, &rows[i]);
    assert_int_equal(end_file(r), TM_OK);

    struct trace *t = read_trace(r, "0");
    const Perfetto__TrackDescriptor *group, *findings;

    assert_int_equal(t->count, 4);
    group = packet_at(t, 2)->track_descriptor;
    findings = packet_at(t, 3)->track_descriptor;
    assert_int_equal(group->uuid, 10);
    assert_false(group->has_parent_uuid || group->process || group->thread);
    assert_is(group->name, "Analysis");
    assert_int_equal(group->child_ordering, PERFETTO__TRACK_DESCRIPTOR__ORDERING__EXPLICIT);
    assert_int_equal(findings->parent_uuid, 10);
    assert_int_equal(findings->sibling_order_rank, 1);
    free_trace(t);
    free_rig(r);
}

/* What the one slice of a trace with these arguments says. */
static struct trace *write_one(struct rig *r, struct tm_out_event *event, const Perfetto__TrackEvent **slice)
{
    event->own = tm_arguments_end(&r->b);
    assert_int_equal(r->b.status, TM_OK);
    assert_int_equal(begin_file(r, 0), TM_OK);
    put_slice(r, event);
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    *slice = first_slice(t);
    return t;
}

static void no_key_comes_twice(void **state)
{
    static const char *const keys[] = { "k", "a.b", "a_b (2)", "k (2)", "o", "a[b (3)", "k (3)" };
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 0, 1000);
    const Perfetto__TrackEvent *slice;

    (void)state;
    begin_list(r);
    tm_put_int(&r->b, id_of(r, "k"), 1);
    tm_put_int(&r->b, id_of(r, "a.b"), 2);
    tm_put_int(&r->b, id_of(r, "a_b"), 3); /* shown as the one before */
    tm_put_int(&r->b, id_of(r, "k"), 4);
    tm_put_object(&r->b, id_of(r, "o"));
    tm_put_int(&r->b, id_of(r, "k"), 5);
    tm_put_int(&r->b, id_of(r, "k"), 6);
    tm_put_close(&r->b);
    tm_put_int(&r->b, id_of(r, "a[b"), 7);
    tm_put_int(&r->b, id_of(r, "k"), 8);

    struct trace *t = write_one(r, &event, &slice);

    assert_int_equal(slice->n_debug_annotations, 7);
    for (size_t i = 0; i < 7; i++)
        assert_is(key_of(t, slice->debug_annotations[i]), keys[i]);
    assert_int_equal(slice->debug_annotations[4]->n_dict_entries, 2);
    assert_is(key_of(t, slice->debug_annotations[4]->dict_entries[0]), "k");
    assert_is(key_of(t, slice->debug_annotations[4]->dict_entries[1]), "k (2)");
    free_trace(t);
    free_rig(r);
}

/* Arguments of the i-th event of a name: mostly as before, but for a number, an object, and now and then its keys. */
static void put_alike(struct rig *r, int i)
{
    begin_list(r);
    tm_put_event_text(&r->b, TM_ARGUMENT_CATEGORY, i % 5 ? "one" : "another", i % 5 ? 3 : 7);
    tm_put_text(&r->b, id_of(r, "text"), "the same", 8);
    tm_put_int(&r->b, id_of(r, "number"), i);
    if (i % 7 == 6)
        tm_put_bool(&r->b, id_of(r, i % 2 ? "text" : "more"), true);
    tm_put_object(&r->b, id_of(r, "object"));
    tm_put_int(&r->b, id_of(r, "number"), i / 3);
    tm_put_close(&r->b);
    if (i % 11)
        tm_put_text(&r->b, id_of(r, "last"), "a text that stands in a table by its number", 43);
}

static void check_alike(struct trace *t, const Perfetto__TrackEvent *slice, int i)
{
    Perfetto__DebugAnnotation *const *at = slice->debug_annotations;
    const bool has_more = i % 7 == 6;

    assert_int_equal(slice->n_debug_annotations, 3 + has_more + (i % 11 != 0));
    assert_is(key_of(t, at[0]), "text");
    assert_is(key_of(t, at[1]), "number");
    assert_int_equal(at[1]->int_value, i);
    if (has_more)
        assert_is(key_of(t, at[2]), i % 2 ? "text (2)" : "more");
    at += has_more;
    assert_is(key_of(t, at[2]), "object");
    assert_int_equal(at[2]->n_dict_entries, 1);
    assert_is(key_of(t, at[2]->dict_entries[0]), "number");
    assert_int_equal(at[2]->dict_entries[0]->int_value, i / 3);
    if (i % 11)
        assert_is(string_of(t, at[3]), "a text that stands in a table by its number");
}

static void events_of_a_name_differ_where_they_do(void **state)
{
    enum { COUNT = 300 };
    struct rig *r = new_rig(all);
    size_t at = 0;

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (int i = 0; i < COUNT; i++) {
        struct tm_out_event event = event_of(r, "op", i * 1000, i * 1000);

        put_alike(r, i);
        event.own = tm_arguments_end(&r->b);
        put_slice(r, &event);
    }
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    for (int i = 0; i < COUNT; i++, at++) {
        skip_to(t, &at, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
        check_alike(t, t->packets[at]->track_event, i);
    }
    free_trace(t);
    free_rig(r);
}

static void arguments_keep_their_kind(void **state)
{
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 0, 1000);
    const Perfetto__TrackEvent *slice;
    const char *const long_text = "a text that is too long to stay in its place";

    (void)state;
    begin_list(r);
    tm_put_event_text(&r->b, TM_ARGUMENT_CATEGORY, "cat", 3);
    tm_put_null(&r->b, id_of(r, "nothing"));
    tm_put_bool(&r->b, id_of(r, "no"), false);
    tm_put_int(&r->b, id_of(r, "int"), INT64_MIN);
    tm_put_uint(&r->b, id_of(r, "uint"), INT64_MAX);
    tm_put_uint(&r->b, id_of(r, "large"), UINT64_MAX);
    tm_put_double(&r->b, id_of(r, "real"), 0.1);
    tm_put_double(&r->b, id_of(r, "nan"), (double)NAN);
    tm_put_double(&r->b, id_of(r, "below"), -(double)INFINITY);
    tm_put_number(&r->b, id_of(r, "number"), "12345678901234567890.5", 22);
    tm_put_number(&r->b, id_of(r, "huge"), "-1e999", 6);
    tm_put_text(&r->b, id_of(r, "text"), "a\xff\0b", 4);
    tm_put_text(&r->b, id_of(r, "name"), long_text, strlen(long_text));
    tm_put_text(&r->b, 0, "", 0);

    struct trace *t = write_one(r, &event, &slice);
    Perfetto__DebugAnnotation **a = slice->debug_annotations;
    static const char *const keys[] = { "nothing", "no",     "int",  "uint", "large", "real", "nan",
                                        "below",   "number", "huge", "text", "name",  "" };

    assert_int_equal(slice->n_debug_annotations, 13);
    for (size_t i = 0; i < 13; i++)
        assert_is(key_of(t, a[i]), keys[i]);
    assert_is(string_of(t, a[0]), "null");
    assert_int_equal(a[1]->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_BOOL_VALUE);
    assert_false(a[1]->bool_value);
    assert_int_equal(a[2]->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_INT_VALUE);
    assert_true(a[2]->int_value == INT64_MIN);
    assert_int_equal(a[3]->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_UINT_VALUE);
    assert_true(a[3]->uint_value == INT64_MAX);
    assert_is(string_of(t, a[4]), "18446744073709551615");
    assert_int_equal(a[5]->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_DOUBLE_VALUE);
    assert_true(a[5]->double_value == 0.1);
    assert_is(string_of(t, a[6]), "NaN");
    assert_is(string_of(t, a[7]), "-Infinity");
    assert_true(a[8]->double_value == 12345678901234567890.5);
    assert_is(string_of(t, a[9]), "-1e999");
    assert_is(string_of(t, a[10]), "a\xef\xbf\xbd\xef\xbf\xbd"
                                   "b");
    assert_int_equal(a[11]->value_case, PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE_IID);
    assert_is(string_of(t, a[11]), long_text);
    assert_is(string_of(t, a[12]), "");
    assert_int_equal(r->run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 0);
    free_trace(t);
    free_rig(r);
}

static void objects_and_lists_stay_inside_each_other(void **state)
{
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 0, 1000);
    const Perfetto__TrackEvent *slice;

    (void)state;
    begin_list(r);
    tm_put_object(&r->b, id_of(r, "o"));
    tm_put_int(&r->b, id_of(r, "a"), 1);
    tm_put_array(&r->b, id_of(r, "l"));
    tm_put_int(&r->b, 0, 2);
    tm_put_object(&r->b, 0);
    tm_put_int(&r->b, id_of(r, "deep"), 3);
    tm_put_close(&r->b);
    tm_put_array(&r->b, 0);
    tm_put_close(&r->b);
    tm_put_close(&r->b);
    tm_put_int(&r->b, id_of(r, "z"), 4);
    tm_put_close(&r->b);
    tm_put_object(&r->b, id_of(r, "empty"));
    tm_put_close(&r->b);
    tm_put_int(&r->b, id_of(r, "last"), 5);

    struct trace *t = write_one(r, &event, &slice);
    Perfetto__DebugAnnotation **a = slice->debug_annotations;

    assert_int_equal(slice->n_debug_annotations, 3);
    assert_int_equal(a[0]->n_dict_entries, 3);
    assert_is(key_of(t, a[0]->dict_entries[0]), "a");
    assert_is(key_of(t, a[0]->dict_entries[2]), "z");
    assert_int_equal(a[0]->dict_entries[2]->int_value, 4);
    Perfetto__DebugAnnotation *l = a[0]->dict_entries[1];

    assert_is(key_of(t, l), "l");
    assert_int_equal(l->n_array_values, 3);
    assert_int_equal(l->array_values[0]->int_value, 2);
    assert_int_equal(l->array_values[0]->name_field_case, PERFETTO__DEBUG_ANNOTATION__NAME_FIELD__NOT_SET);
    assert_int_equal(l->array_values[1]->n_dict_entries, 1);
    assert_is(key_of(t, l->array_values[1]->dict_entries[0]), "deep");
    assert_is(string_of(t, l->array_values[2]), "[]");
    assert_is(string_of(t, a[1]), "{}");
    assert_int_equal(a[2]->int_value, 5);
    free_trace(t);
    free_rig(r);
}

static void levels_choose_arguments_but_marks_stay(void **state)
{
    static const struct {
        enum tm_args_level level;
        uint8_t marks;
        size_t count;
    } cases[] = {
        { TM_ARGS_ALL, 0, 3 },
        { TM_ARGS_ESSENTIAL, 0, 1 },
        { TM_ARGS_NONE, 0, 0 },
        { TM_ARGS_NONE, TM_OUT_DERIVED, 3 },
        { TM_ARGS_NONE, TM_OUT_UNFINISHED, 1 },
        { TM_ARGS_NONE, TM_OUT_CUT_BEGIN, 0 },
        { TM_ARGS_ALL, TM_OUT_CUT_END | TM_OUT_UNFINISHED, 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = new_rig((struct tm_writer_options){ .args = cases[i].level });
        struct tm_out_event event = event_of(r, "op", 2000, 3000);
        uint8_t more[64];
        struct tm_arguments_builder b;
        const Perfetto__TrackEvent *slice;

        tm_arguments_begin(&b, r->names, more, sizeof(more));
        tm_put_int(&b, id_of(r, "common"), 1);
        event.common = tm_arguments_end(&b);
        event.marks = cases[i].marks;
        begin_list(r);
        tm_put_int(&r->b, id_of(r, "hlo_op"), 1);
        tm_put_int(&r->b, id_of(r, "some wish"), 2);
        struct trace *t = write_one(r, &event, &slice);

        assert_int_equal(slice->n_debug_annotations, cases[i].count);
        assert_int_equal(first_end(t)->n_debug_annotations,
                         cases[i].marks & (TM_OUT_CUT_BEGIN | TM_OUT_CUT_END) ? 3 : 0);
        free_trace(t);
        free_rig(r);
    }
}

/* That it was cut is known when a piece ends. */
static void a_cut_slice_tells_of_the_whole(void **state)
{
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 2000, 3000);
    const Perfetto__TrackEvent *slice;

    (void)state;
    event.marks = TM_OUT_CUT_BEGIN | TM_OUT_CUT_END | TM_OUT_UNFINISHED;
    event.whole_begin_ps = 1500;
    event.whole_end_ps = 9499;
    begin_list(r);
    struct trace *t = write_one(r, &event, &slice);
    Perfetto__DebugAnnotation **a = first_end(t)->debug_annotations;

    assert_int_equal(first_end(t)->n_debug_annotations, 3);
    assert_is(key_of(t, a[0]), "tracemill_cut");
    assert_is(string_of(t, a[0]), "both");
    assert_is(key_of(t, a[1]), "tracemill_begin_ns");
    assert_int_equal(a[1]->int_value, 2);
    assert_is(key_of(t, a[2]), "tracemill_dur_ns");
    assert_int_equal(a[2]->int_value, 7);
    assert_int_equal(slice->n_debug_annotations, 1);
    assert_is(key_of(t, slice->debug_annotations[0]), "tracemill_unfinished");
    assert_true(slice->debug_annotations[0]->bool_value);
    free_trace(t);
    free_rig(r);
}

static void ends_of_arrows_are_legacy_events(void **state)
{
    static const struct {
        uint8_t kind;
        bool is_enclosed;
        char phase;
        bool is_bound;
    } cases[] = { { TM_FLOW_BEGIN, true, 's', false },
                  { TM_FLOW_STEP, true, 't', false },
                  { TM_FLOW_END, true, 'f', true },
                  { TM_FLOW_END, false, 'f', false } };
    struct rig *r = new_rig(all);

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (size_t i = 0; i < 4; i++) {
        const struct tm_out_flow flow = { .row = &thread_row,
                                          .time_ps = 5000,
                                          .id = UINT64_MAX - i,
                                          .name = id_of(r, "ac2g"),
                                          .category = id_of(r, "link"),
                                          .kind = cases[i].kind,
                                          .is_enclosed = cases[i].is_enclosed };

        tm_perfetto_writer.flow(r->w, &flow);
    }
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    (void)packet_at(t, 0);
    (void)packet_at(t, 1);
    for (size_t i = 0; i < 4; i++) {
        const Perfetto__TracePacket *p = packet_at(t, i + 2);
        const Perfetto__LegacyEvent *arrow = p->track_event->legacy_event;

        assert_int_equal(t->time_ns[i + 2], 5);
        assert_false(p->track_event->has_type);
        assert_int_equal(p->track_event->track_uuid, 11);
        assert_is(name_of(t, p->track_event), "ac2g");
        assert_is(known(t, CATEGORIES, p->track_event->category_iids[0]), "link");
        assert_int_equal(arrow->phase, cases[i].phase);
        assert_true(arrow->unscoped_id == UINT64_MAX - i);
        assert_int_equal(arrow->bind_to_enclosing, cases[i].is_bound);
    }
    free_trace(t);
    free_rig(r);
}

/* Slices with so many different names, keys and strings; every text comes twice in a row. */
static void put_many(struct rig *r, size_t count)
{
    char text[100];

    for (size_t i = 0; i < count; i++) {
        struct tm_out_event event;

        (void)snprintf(text, sizeof(text), "name %zu", i / 2);
        event = event_of(r, text, (int64_t)i * 1000, (int64_t)i * 1000);
        (void)snprintf(text, sizeof(text), "category %zu", i % 700);
        event.category = id_of(r, text);
        begin_list(r);
        (void)snprintf(text, sizeof(text), "a text of some length, number %zu of many", i);
        tm_put_text(&r->b, id_of(r, text + 30), text, strlen(text));
        event.own = tm_arguments_end(&r->b);
        put_slice(r, &event);
    }
}

static void check_many(struct trace *t, size_t count)
{
    char text[100];
    size_t i = 0;

    for (size_t n = 0; n < count; n++, i++) {
        skip_to(t, &i, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
        const Perfetto__TrackEvent *event = t->packets[i]->track_event;

        assert_int_equal(t->time_ns[i], n);
        (void)snprintf(text, sizeof(text), "name %zu", n / 2);
        assert_is(name_of(t, event), text);
        (void)snprintf(text, sizeof(text), "category %zu", n % 700);
        assert_is(known(t, CATEGORIES, event->category_iids[0]), text);
        (void)snprintf(text, sizeof(text), "a text of some length, number %zu of many", n);
        assert_is(key_of(t, event->debug_annotations[0]), text + 30);
        assert_is(string_of(t, event->debug_annotations[0]), text);
    }
}

static void full_tables_begin_anew(void **state)
{
    enum { COUNT = 30000 };
    struct rig *r = new_rig(all);

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    put_many(r, COUNT);
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    check_many(t, COUNT);
    assert_in_range(t->cleared, 10, 100);
    assert_int_equal(t->snapshots, t->cleared);
    assert_true(t->block_count > 2);
    free_trace(t);
    free_rig(r);
}

static void each_file_opens_alone(void **state)
{
    struct rig *r = new_rig(all);
    uint8_t *bytes[3];
    size_t length[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(begin_file(r, i), TM_OK);
        assert_true(tm_perfetto_writer.raw_bytes(r->w) < 100);
        put_many(r, 100);
        assert_int_equal(end_file(r), TM_OK);
        struct trace *t = read_trace(r, name);

        check_many(t, 100);
        assert_int_equal(t->cleared, 1);
        assert_int_equal(t->snapshots, 1);
        free_trace(t);
        bytes[i] = read_bytes(r, name, &length[i]);
        assert_int_equal(length[i], length[0]);
        assert_memory_equal(bytes[i], bytes[0], length[0]);
    }
    for (int i = 0; i < 3; i++)
        free(bytes[i]);
    free_rig(r);
}

/* Hosts come one after the other: the times of the second one step back, once, and then count on. */
static void times_that_step_back_say_the_clock_again(void **state)
{
    static const struct {
        int64_t begin_ns, end_ns;
        size_t snapshots; /* with the first one */
    } cases[] = { { 5, 9, 1 }, { 9, 12, 1 }, { 12, 12, 1 }, { 0, 3, 2 }, { 3, 8, 2 }, { 7, 7, 3 }, { 1000, 1001, 3 } };
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    struct rig *r = new_rig(all);
    size_t at = 2, snapshots = 1;

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (size_t i = 0; i < CASES; i++) {
        const struct tm_out_event event = event_of(r, "op", cases[i].begin_ns * 1000, cases[i].end_ns * 1000);

        put_slice(r, &event);
    }
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    (void)packet_at(t, 0);
    (void)packet_at(t, 1);
    for (size_t i = 0; i < CASES; i++, at += 2) {
        const Perfetto__TracePacket *p = packet_at(t, at);

        if (p->clock_snapshot) {
            p = packet_at(t, ++at);
            snapshots++;
        }
        assert_int_equal(snapshots, cases[i].snapshots);
        assert_is(name_of(t, p->track_event), "op"); /* known from before */
        assert_int_equal(t->time_ns[at], cases[i].begin_ns);
        assert_int_equal(t->time_ns[at + 1], cases[i].end_ns);
    }
    assert_int_equal(at, t->count);
    assert_int_equal(t->cleared, 1);
    free_trace(t);
    free_rig(r);
}

/* Parts put together are the whole: each says the clock anew, also where the one before has run far ahead. */
static void files_one_behind_the_other_are_one_trace(void **state)
{
    struct rig *r = new_rig(all);
    uint8_t *bytes[3], *whole;
    size_t length[3], total = 0, at = 0, seen = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[8];
        const struct tm_out_event event = event_of(r, "op", (3 - i) * 1000000, (3 - i) * 1000000 + 5000);

        (void)snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(begin_file(r, i), TM_OK);
        put_slice(r, &event);
        assert_int_equal(end_file(r), TM_OK);
        bytes[i] = read_bytes(r, name, &length[i]);
        total += length[i];
    }
    whole = malloc(total);
    assert_non_null(whole);
    for (int i = 0; i < 3; at += length[i++])
        memcpy(whole + at, bytes[i], length[i]);
    struct trace *t = trace_of(whole, total);

    for (size_t i = 0; i < t->count; i++) {
        const Perfetto__TrackEvent *event = t->packets[i]->track_event;

        if (!event || event->type != PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN)
            continue;
        assert_int_equal(t->time_ns[i], (3 - seen) * 1000);
        assert_int_equal(t->time_ns[i + 1], (3 - seen) * 1000 + 5);
        seen++;
    }
    assert_int_equal(seen, 3);
    assert_int_equal(t->snapshots, 3);
    free_trace(t);
    free(whole);
    for (int i = 0; i < 3; i++)
        free(bytes[i]);
    free_rig(r);
}

/* A text that is given out under a second handle when the run's names have little memory is still one text. */
static void memory_changes_no_byte(void **state)
{
    static const size_t memories[] = { 0, 64 << 10, 8 << 20 };
    uint8_t *first = NULL;
    size_t first_length = 0;
    bool had_duplicates = false;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = calloc(1, sizeof(*r));
        size_t length;

        assert_non_null(r);
        test_run_init(&r->run);
        assert_int_equal(open_rig(r, all, memories[i]), TM_OK);
        assert_int_equal(begin_file(r, 0), TM_OK);
        for (int again = 0; again < 3; again++)
            put_many(r, 2000);
        assert_int_equal(end_file(r), TM_OK);
        had_duplicates |= tm_names_have_duplicates(r->names);
        uint8_t *bytes = read_bytes(r, "0", &length);

        if (!first) {
            first = bytes;
            first_length = length;
        } else {
            assert_int_equal(length, first_length);
            assert_memory_equal(bytes, first, length);
            free(bytes);
        }
        free_rig(r);
    }
    assert_true(had_duplicates);
    free(first);
}

static void what_is_compressed_as_a_whole_is_plain_inside(void **state)
{
    struct rig *r = new_rig((struct tm_writer_options){ .args = TM_ARGS_ALL, .is_gzip = true });
    size_t length;

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    put_many(r, 20000);
    tm_perfetto_writer.end_file(r->w);
    const uint64_t raw = tm_perfetto_writer.raw_bytes(r->w);

    assert_int_equal(tm_out_file_commit(r->file, NULL), TM_OK);
    struct trace *t = read_trace(r, "0");
    uint8_t *bytes = read_bytes(r, "0", &length);

    assert_int_equal(length, raw);
    assert_int_equal(t->block_count, 0);
    check_many(t, 20000);
    free(bytes);
    free_trace(t);
    free_rig(r);
}

static void facts_stand_at_the_begin(void **state)
{
    enum { FACTS = 100 };
    struct tm_out_fact facts[FACTS];
    struct rig *r;
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < FACTS; i++)
        facts[i] = (struct tm_out_fact){ i == 70 ? "host" : "tool", i == 70 ? "a\xfe" : "tracemill" };
    r = new_rig((struct tm_writer_options){ .args = TM_ARGS_ALL, .facts = facts, .fact_count = FACTS });
    assert_int_equal(begin_file(r, 0), TM_OK);
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    (void)packet_at(t, 0);
    (void)packet_at(t, 1);
    for (size_t i = 2; i < t->count; i++) {
        const Perfetto__TraceAttributes *a = packet_at(t, i)->trace_attributes;

        for (size_t k = 0; k < a->n_attribute; k++, seen++) {
            assert_is(a->attribute[k]->key, facts[seen].key);
            assert_is(a->attribute[k]->string_value, seen == 70 ? "a\xef\xbf\xbd" : "tracemill");
        }
    }
    assert_int_equal(seen, FACTS);
    free_trace(t);
    free_rig(r);
}

/* Names of these lengths of one byte, as event, key, category and value. */
static void put_overlong(struct rig *r, size_t length, char byte)
{
    struct tm_out_event event = event_of(r, "x", 1000, 1000);
    char *text = malloc(length);

    assert_non_null(text);
    memset(text, byte, length);
    event.name = tm_names_put(r->names, text, length);
    event.category = event.name;
    begin_list(r);
    for (int i = 0; i < 5; i++)
        tm_put_name(&r->b, event.name, event.name);
    event.own = tm_arguments_end(&r->b);
    put_slice(r, &event);
    free(text);
}

static void overlong_names_break_nothing(void **state)
{
    static const size_t lengths[] = { 20000, 65536, 65537, 131072, 131073, 200000 };
    static const size_t valid[] = { 20000, 65536, 65537, 131072, 131072, 131072 };

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct rig *r = new_rig(all);

        assert_int_equal(begin_file(r, 0), TM_OK);
        put_overlong(r, lengths[i], 'n');
        put_overlong(r, lengths[i], '\xff');
        put_overlong(r, 10, 'n');
        assert_int_equal(end_file(r), TM_OK);
        struct trace *t = read_trace(r, "0");
        size_t at = 2;

        (void)packet_at(t, 0);
        (void)packet_at(t, 1);
        assert_int_equal(name_of(t, packet_at(t, at)->track_event).len, valid[i]);
        (void)packet_at(t, at + 1);
        assert_int_equal(name_of(t, packet_at(t, at + 2)->track_event).len, 3 * valid[i]);
        (void)packet_at(t, at + 3);
        assert_is(name_of(t, packet_at(t, at + 4)->track_event), "nnnnnnnnnn");
        assert_int_equal(t->packets[at + 4]->track_event->n_debug_annotations, 5);
        assert_true(r->run.tallies.count[TM_TALLY_LONG_ARGUMENTS] <= 2);
        assert_true(r->run.tallies.count[TM_TALLY_LONG_ARGUMENTS] > 0); /* long keys that come again are cut */
        free_trace(t);
        free_rig(r);
    }
}

static void what_is_too_much_is_left_out_and_counted(void **state)
{
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 0, 1000);
    const Perfetto__TrackEvent *slice;

    (void)state;
    begin_list(r);
    tm_put_array(&r->b, id_of(r, "list"));
    for (int i = 0; i < 10000; i++)
        tm_put_int(&r->b, 0, i);
    tm_put_close(&r->b);
    tm_put_int(&r->b, id_of(r, "behind"), 1);
    struct trace *t = write_one(r, &event, &slice);

    assert_int_equal(slice->n_debug_annotations, 2); /* what lies outside comes first */
    assert_int_equal(slice->debug_annotations[0]->n_array_values, 4096 - 2);
    assert_int_equal(r->run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    free_trace(t);
    free_rig(r);
}

/* A list inside a list inside a list ..., deeper than anything may be. */
static void nesting_without_end_is_cut(void **state)
{
    enum { DEPTH = 20000, NODE = 5 };
    static uint8_t bytes[2 + NODE * DEPTH];
    struct rig *r = new_rig(all);
    struct tm_out_event event = event_of(r, "op", 0, 1000);
    size_t depth = 0;

    (void)state;
    bytes[0] = 1; /* key */
    for (size_t i = 0; i < DEPTH; i++) {
        const uint32_t length = (uint32_t)(NODE * (DEPTH - i - 1));

        bytes[1 + NODE * i] = TM_ARGUMENT_ARRAY;
        memcpy(bytes + 2 + NODE * i, &length, sizeof(length));
    }
    event.own = (struct tm_arguments){ bytes, sizeof(bytes) - 1 };
    assert_int_equal(begin_file(r, 0), TM_OK);
    put_slice(r, &event);
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");
    const Perfetto__TrackEvent *slice = first_slice(t);

    for (const Perfetto__DebugAnnotation *a = slice->debug_annotations[0]; a->n_array_values; a = a->array_values[0])
        depth++;
    assert_int_equal(depth, TM_ARGUMENTS_DEEPEST);
    assert_int_equal(r->run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    free_trace(t);
    free_rig(r);
}

/* Lists that were never made as such: whatever they say, the packets can be read. */
static void no_list_breaks_the_packets(void **state)
{
    struct rig *r = new_rig(all);
    uint64_t seed = 7;
    static uint8_t bytes[TM_ARGUMENTS_MOST + 100];

    (void)state;
    for (char name[2] = "a"; *name < 'm'; (*name)++)
        (void)id_of(r, name);
    assert_int_equal(begin_file(r, 0), TM_OK);
    for (int turn = 0; turn < 300; turn++) {
        struct tm_out_event event = event_of(r, "op", turn * 1000, turn * 1000 + 1000);
        const size_t length = turn < 290 ? next_number(&seed) % 3000 : sizeof(bytes);

        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)(next_number(&seed) % 12); /* types, names that exist, short lengths */
        event.own = event.common = (struct tm_arguments){ bytes, length };
        put_slice(r, &event);
    }
    assert_int_equal(end_file(r), TM_OK);
    struct trace *t = read_trace(r, "0");

    assert_int_equal(t->count, 602);
    for (size_t i = 0; i < t->count; i++)
        (void)packet_at(t, i);
    free_trace(t);
    free_rig(r);
}

static void times_count_from_the_start_and_the_clock_of_the_recording_is_told(void **state)
{
    static const struct {
        int64_t epoch_ns, time_ps;
        uint32_t clock; /* 0 = none is told */
    } cases[] = {
        { INT64_MAX, 1000, REALTIME },
        { INT64_C(1738771524325858254), INT64_MAX, REALTIME },
        { 99999999999999999, 0, MONOTONIC },
        { 100000000000000000, 0, REALTIME },
        { 1, 5000, MONOTONIC },
        { -5, 4000, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = new_rig((struct tm_writer_options){ .args = TM_ARGS_ALL, .epoch_ns = cases[i].epoch_ns });
        const struct tm_out_event event = event_of(r, "op", cases[i].time_ps, cases[i].time_ps);
        size_t length;

        assert_int_equal(begin_file(r, 0), TM_OK);
        put_slice(r, &event);
        assert_int_equal(end_file(r), TM_OK);
        uint8_t *bytes = read_bytes(r, "0", &length);
        struct trace *t = calloc(1, sizeof(*t));

        assert_non_null(t);
        t->packets = calloc(PACKETS_MOST, sizeof(*t->packets));
        assert_non_null(t->packets);
        add_packets(t, bytes, length);
        const Perfetto__ClockSnapshot *snapshot = t->packets[0]->clock_snapshot;

        assert_int_equal(t->origins, 1);
        assert_int_equal(tm_kind_of(bytes, length), TM_FILE_OWN_PERFETTO);
        assert_int_equal(snapshot->n_clocks, cases[i].clock ? 3 : 2);
        if (cases[i].clock) {
            assert_int_equal(snapshot->clocks[2]->clock_id, cases[i].clock);
            assert_int_equal(snapshot->clocks[2]->timestamp, cases[i].epoch_ns);
        }
        assert_int_equal(t->packets[2]->timestamp, tm_out_ns(cases[i].time_ps));
        free(bytes);
        free_trace(t);
        free_rig(r);
    }
}

static tm_status write_little(struct tm_run *run)
{
    static struct rig r;
    struct tm_out_row row = thread_row;
    tm_status status;

    memset(&r, 0, sizeof(r));
    r.run = *run;
    status = open_rig(&r, all, 1 << 20);
    if (status == TM_OK)
        status = begin_file(&r, 0);
    if (status == TM_OK) {
        tm_perfetto_writer.row(r.w, &row);
        status = end_file(&r);
    }
    close_rig(&r);
    *run = r.run;
    return status;
}

static void every_refusal_of_memory_is_told(void **state)
{
    (void)state;
    refuse_each_request(write_little);
}

static void the_writer_fits_into_the_least_memory(void **state)
{
    struct rig *r = new_rig(all);

    (void)state;
    assert_int_equal(begin_file(r, 0), TM_OK);
    assert_true(r->run.budget.used_bytes[TM_ACCOUNT_TABLES] <= tm_budget_share(&r->run.budget, TM_ACCOUNT_TABLES));
    assert_int_equal(end_file(r), TM_OK);
    free_rig(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_instants_and_counters_are_packets_of_one_sequence),
        cmocka_unit_test(rows_are_tracks_with_their_order),
        cmocka_unit_test(a_group_holds_rows_and_its_own_spans),
        cmocka_unit_test(no_key_comes_twice),
        cmocka_unit_test(events_of_a_name_differ_where_they_do),
        cmocka_unit_test(arguments_keep_their_kind),
        cmocka_unit_test(objects_and_lists_stay_inside_each_other),
        cmocka_unit_test(levels_choose_arguments_but_marks_stay),
        cmocka_unit_test(a_cut_slice_tells_of_the_whole),
        cmocka_unit_test(ends_of_arrows_are_legacy_events),
        cmocka_unit_test(full_tables_begin_anew),
        cmocka_unit_test(each_file_opens_alone),
        cmocka_unit_test(times_that_step_back_say_the_clock_again),
        cmocka_unit_test(files_one_behind_the_other_are_one_trace),
        cmocka_unit_test(memory_changes_no_byte),
        cmocka_unit_test(what_is_compressed_as_a_whole_is_plain_inside),
        cmocka_unit_test(facts_stand_at_the_begin),
        cmocka_unit_test(overlong_names_break_nothing),
        cmocka_unit_test(what_is_too_much_is_left_out_and_counted),
        cmocka_unit_test(nesting_without_end_is_cut),
        cmocka_unit_test(no_list_breaks_the_packets),
        cmocka_unit_test(times_count_from_the_start_and_the_clock_of_the_recording_is_told),
        cmocka_unit_test(every_refusal_of_memory_is_told),
        cmocka_unit_test(the_writer_fits_into_the_least_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
