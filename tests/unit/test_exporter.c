/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/export/exporter.h"

#include <math.h>
#include <stdlib.h>

#include "stages/output/derived/derived.h"
#include "tests/support/export_rig.h"

/* Tracks of the made trace; b is empty where a test does not use it. */
enum { MAIN, WORKER, STREAM, LOOSE, ASYNC, FLOWS, COUNTERS, TRACKS };
enum { CUTS_MOST = 1000 };

struct exporter_rig {
    struct export_rig export;
    struct tm_exporter *e;
    struct tm_arguments_builder list;
    uint8_t buffer[4096];
    /* cuts */
    int64_t cut_every, next_cut; /* ps; 0 = none */
    uint64_t most_slices;        /* 0 = any */
    uint64_t slices, pieces;     /* of files that have ended */
    int64_t cuts[CUTS_MOST];
    size_t cut_count;
};

static void add_tracks(struct export_rig *rig)
{
    static const struct {
        const char *name;
        uint8_t sort;
    } rows[TRACKS] = {
        [MAIN] = { "main", TM_TRACK_THREAD },
        [WORKER] = { "worker", TM_TRACK_THREAD },
        [STREAM] = { "stream", TM_TRACK_THREAD },
        [LOOSE] = { "(no thread)", TM_TRACK_LOOSE },
        [ASYNC] = { "(async)", TM_TRACK_ASYNC },
        [FLOWS] = { "(flows)", TM_TRACK_FLOWS },
        [COUNTERS] = { "(counters)", TM_TRACK_COUNTERS },
    };

    for (uint32_t i = 0; i < TRACKS; i++) {
        const bool is_stream = i == STREAM;
        const struct tm_track track = { .id = i + 1,
                                        .sort = rows[i].sort,
                                        .process = is_stream,
                                        .process_order = is_stream,
                                        .process_id = 10 + is_stream,
                                        .device = is_stream ? 0 : TM_NONE,
                                        .side = is_stream ? TM_SIDE_DEVICE : TM_SIDE_HOST };

        (void)export_rig_track(rig, &track, is_stream ? "gpu" : "host", rows[i].name);
    }
}

static bool wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                      int64_t time_ps)
{
    struct exporter_rig *const rig = to;

    (void)raw_bytes;
    if (rig->most_slices)
        return counts->slices >= rig->most_slices && open_spans < rig->most_slices;
    if (!rig->cut_every || time_ps < rig->next_cut)
        return false;
    rig->next_cut += (time_ps - rig->next_cut) / rig->cut_every * rig->cut_every + rig->cut_every;
    return true;
}

static void add_counts(struct exporter_rig *rig, const struct tm_export_counts *counts)
{
    rig->slices += counts->slices;
    rig->pieces += counts->pieces;
}

static struct tm_out_file *next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps)
{
    struct exporter_rig *const rig = to;

    assert_true(counts->first_ps > counts->last_ps || counts->last_ps <= time_ps);
    add_counts(rig, counts);
    assert_true(rig->cut_count < CUTS_MOST);
    rig->cuts[rig->cut_count++] = time_ps;
    return (struct tm_out_file *)(void *)rig; /* the recorder does not look */
}

static void rig_init(struct exporter_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type)
{
    *rig = (struct exporter_rig){ .cut_every = 0 };
    export_rig_init(&rig->export, run, type);
    (void)export_rig_device(&rig->export, TM_DEVICE_GPU, 0);
    add_tracks(&rig->export);
}

/* Open an exporter, and begin a host whose time 0 lies at offset_ps. */
static tm_status rig_open(struct exporter_rig *rig, struct tm_export_options options, int64_t offset_ps)
{
    struct export_rig *const export = &rig->export;

    options.writer = &export->recorder.writer;
    if (rig->cut_every || rig->most_slices) {
        options.wants_cut = wants_cut;
        options.next_file = next_file;
        options.to = rig;
        rig->next_cut = rig->cut_every;
    }
    rig->e = tm_exporter_new(export->run, export->names, &options);
    if (!rig->e)
        return export->run->error.status;
    export->recorder.writer.type->begin_file(&export->recorder.writer, NULL);
    tm_exporter_begin_file(rig->e);
    return tm_exporter_begin_host(rig->e, &export->trace, &(const struct tm_clock){ .offset_ps = offset_ps });
}

static void rig_free(struct exporter_rig *rig)
{
    tm_exporter_free(rig->e);
    export_rig_free(&rig->export);
}

/* The host ends, and the file. */
static void rig_end(struct exporter_rig *rig)
{
    assert_int_equal(tm_exporter_end_host(rig->e), TM_OK);
    add_counts(rig, tm_exporter_counts(rig->e));
}

static void take(struct exporter_rig *rig, const struct tm_event *event)
{
    assert_int_equal(tm_exporter_take(rig->e, event), TM_OK);
}

static struct tm_event span_of(struct exporter_rig *rig, uint32_t track, const char *name, int64_t begin, int64_t end)
{
    return export_rig_event(&rig->export, track, TM_SPAN, name, begin, end - begin);
}

static void take_span(struct exporter_rig *rig, uint32_t track, const char *name, int64_t begin, int64_t end)
{
    const struct tm_event event = span_of(rig, track, name, begin, end);

    take(rig, &event);
}

static struct tm_arguments_builder *begin_list(struct exporter_rig *rig)
{
    tm_arguments_begin(&rig->list, rig->export.names, rig->buffer, sizeof(rig->buffer));
    return &rig->list;
}

static tm_strid key(struct exporter_rig *rig, const char *name)
{
    return export_rig_name(&rig->export, name);
}

/* --- spans --- */

/* Nesting, lanes, ends before begins, ends in time, lengths of 0, instants; rows come when something lies on them. */
static void take_spans(struct exporter_rig *rig)
{
    struct tm_event event;

    take_span(rig, MAIN, "a", 0, 100);
    take_span(rig, MAIN, "b", 0, 50);
    take_span(rig, MAIN, "c", 40, 60); /* does not nest in b */
    take_span(rig, MAIN, "d", 50, 70); /* b has ended: in a */
    take_span(rig, MAIN, "", 60, 60);
    event = export_rig_event(&rig->export, MAIN, TM_INSTANT, "i", 60, 0);
    event.record.flags |= TM_FLAG_INSTANT;
    take(rig, &event);
    event = span_of(rig, WORKER, "open", 61, 61);
    event.record.flags = TM_FLAG_OPEN;
    event.record.class = TM_CLASS_PYTHON;
    take(rig, &event);
    rig_end(rig);
}

static void test_spans(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.export.recorder.tells_rows = true;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 1000), TM_OK);
    take_spans(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "process 10 host @2\n"
                                                       "thread 10/1 main @512\n"
                                                       "begin main a 1000-1100\n"
                                                       "begin main b 1000-1050\n"
                                                       "lane 10/1000003 main+1 @513\n"
                                                       "begin main+1 c 1040-1060\n"
                                                       "end main 1050\n"
                                                       "begin main d 1050-1070\n"
                                                       "end main+1 1060\n"
                                                       "begin main (no name) 1060-1060\n"
                                                       "end main 1060\n"
                                                       "instant main i 1060\n"
                                                       "thread 10/2 worker @576\n"
                                                       "begin worker open 1061-1061 (python) [unfinished]\n"
                                                       "end worker 1061\n"
                                                       "end main 1070\n"
                                                       "end main 1100\n");
    assert_int_equal(tm_exporter_counts(rig.e)->slices, 7);
    assert_int_equal(tm_exporter_counts(rig.e)->rows, 4);
    assert_int_equal(tm_exporter_counts(rig.e)->first_ps, 1000);
    assert_int_equal(tm_exporter_counts(rig.e)->last_ps, 1100);
    assert_int_equal(run.tallies.count[TM_TALLY_LANE_MOVED], 1);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* A writer that wants a span as a whole gets it in the order of begins. */
static void test_whole_spans(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_without_ends);
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_spans(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "span main a 0-100\n"
                                                       "span main b 0-50\n"
                                                       "span main+1 c 40-60\n"
                                                       "span main d 50-70\n"
                                                       "span main (no name) 60-60\n"
                                                       "instant main i 60\n"
                                                       "span worker open 61-61 (python) [unfinished]\n");
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Spans of one id nest, of others they lie beside each other; what is on no thread has its row. */
static void test_async(void **state)
{
    static const struct {
        const char *name;
        int64_t begin, end;
        uint64_t id;
    } spans[] = {
        { "a", 0, 100, 7 },
        { "b", 10, 20, 8 },
        { "c", 10, 20, 7 },
        { "d", 20, 30, 9 },
    };
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        event = span_of(&rig, ASYNC, spans[i].name, spans[i].begin, spans[i].end);
        event.record.correlation = spans[i].id;
        event.record.class = TM_CLASS_ASYNC;
        take(&rig, &event);
    }
    event = export_rig_event(&rig.export, ASYNC, TM_INSTANT, "n", 25, 0);
    event.record.flags |= TM_FLAG_INSTANT;
    event.record.correlation = 9;
    event.record.class = TM_CLASS_ASYNC;
    take(&rig, &event);
    event = export_rig_event(&rig.export, LOOSE, TM_INSTANT, "g", 25, 0);
    event.record.flags |= TM_FLAG_INSTANT;
    take(&rig, &event);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin (async) a 0-100\n"
                                                       "begin (async)+1 b 10-20\n"
                                                       "begin (async) c 10-20\n"
                                                       "end (async) 20\n"
                                                       "end (async)+1 20\n"
                                                       "begin (async)+1 d 20-30\n"
                                                       "instant (async)+1 n 25\n"
                                                       "instant (no thread) g 25\n"
                                                       "end (async)+1 30\n"
                                                       "end (async) 100\n");
    assert_int_equal(run.tallies.count[TM_TALLY_LANE_MOVED], 0);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Own arguments, common ones, and the category of the file. */
static void test_arguments(void **state)
{
    struct exporter_rig rig;
    struct tm_arguments_builder *list;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.export.trace.common = tm_rows_new(&run, TM_ACCOUNT_METADATA, sizeof(struct tm_common_arguments), 128 << 10);
    rig.export.trace.common_bytes = tm_rows_new(&run, TM_ACCOUNT_METADATA, 1, 128 << 10);
    tm_rows_resize(rig.export.trace.common, 1);
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    event = span_of(&rig, MAIN, "a", 0, 10);
    list = begin_list(&rig);
    tm_put_text(list, key(&rig, "shared"), "yes", 3);
    assert_int_equal(tm_trace_add_common(&rig.export.trace, tm_arguments_end(list), &event.record.common), TM_OK);
    list = begin_list(&rig);
    tm_put_event_text(list, TM_ARGUMENT_CATEGORY, "cpu_op", 6);
    tm_put_int(list, key(&rig, "n"), 3);
    event.own = tm_arguments_end(list);
    take(&rig, &event);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 0-10 (cpu_op) { n=3 shared=yes }\n"
                                                       "end main 10\n");
    tm_rows_free(rig.export.trace.common);
    tm_rows_free(rig.export.trace.common_bytes);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* --- counters --- */

static struct tm_event counter_of(struct exporter_rig *rig, const char *name, const char *id, int64_t time)
{
    struct tm_event event = export_rig_event(&rig->export, COUNTERS, TM_COUNTER, name, time, 0);
    struct tm_arguments_builder *const list = begin_list(rig);

    if (id)
        tm_put_event_text(list, TM_ARGUMENT_ID, id, strlen(id));
    event.record.class = TM_CLASS_COUNTER;
    event.own.bytes = rig->buffer; /* its end is set by the caller */
    return event;
}

static void take_list(struct exporter_rig *rig, struct tm_event *event)
{
    event->own = tm_arguments_end(&rig->list);
    take(rig, event);
}

static void test_counters(void **state)
{
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.export.recorder.tells_rows = true;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    event = counter_of(&rig, "mem", NULL, 10);
    tm_put_int(&rig.list, key(&rig, "used"), -3);
    tm_put_double(&rig.list, key(&rig, "share"), 0.5);
    tm_put_double(&rig.list, key(&rig, "nan"), NAN);
    tm_put_number(&rig.list, key(&rig, "long"), "1e3", 3);
    tm_put_number(&rig.list, key(&rig, "too_long"), "1e999", 5);
    tm_put_text(&rig.list, key(&rig, "text"), "12", 2);
    tm_put_text(&rig.list, key(&rig, "word"), "inf", 3);
    tm_put_uint(&rig.list, key(&rig, "unsigned"), 5);
    tm_put_null(&rig.list, key(&rig, "null"));
    take_list(&rig, &event);
    event = counter_of(&rig, "mem", "x1", 20);
    tm_put_int(&rig.list, key(&rig, "used"), 4);
    take_list(&rig, &event);
    event = counter_of(&rig, "mem", NULL, 30);
    tm_put_int(&rig.list, key(&rig, "used"), 4);
    take_list(&rig, &event);
    event = counter_of(&rig, "none", NULL, 40);
    take_list(&rig, &event);
    event = counter_of(&rig, "", NULL, 50);
    tm_put_int(&rig.list, key(&rig, "used"), 6);
    tm_put_int(&rig.list, 0, 7);
    take_list(&rig, &event);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "process 10 host @2\n"
                                                       "counter 10 mem used\n"
                                                       "value mem used 10 -3\n"
                                                       "counter 10 mem share\n"
                                                       "value mem share 10 0.5 real\n"
                                                       "counter 10 mem long\n"
                                                       "value mem long 10 1000 real\n"
                                                       "counter 10 mem text\n"
                                                       "value mem text 10 12 real\n"
                                                       "counter 10 mem unsigned\n"
                                                       "value mem unsigned 10 5\n"
                                                       "counter 10 mem [x1] used\n"
                                                       "value mem [x1] used 20 4\n"
                                                       "value mem used 30 4\n"
                                                       "counter 10 (no name) used\n"
                                                       "value (no name) used 50 6\n"
                                                       "counter 10 (no name)\n"
                                                       "value (no name) 50 7\n");
    assert_int_equal(run.tallies.count[TM_TALLY_COUNTER_WITHOUT_VALUE], 5);
    assert_int_equal(tm_exporter_counts(rig.e)->counters, 9);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Of an XSpace: a statistic makes a counter; an allocator's bytes are counters of its device, where they change. */
static void test_counters_of_xspace(void **state)
{
    struct tm_allocation a = { .has = TM_HAS_ALLOCATED | TM_HAS_PEAK,
                               .bytes_allocated = 100,
                               .peak_bytes_in_use = 100 };
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.export.trace.origin = TM_ORIGIN_XSPACE;
    rig.export.recorder.tells_rows = true;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    event = export_rig_event(&rig.export, STREAM, TM_COUNTER, "watts", 5, 0);
    tm_put_int(begin_list(&rig), key(&rig, "else"), 3);
    tm_put_double(&rig.list, key(&rig, "counter_value"), 1.5);
    take_list(&rig, &event);
    a.allocator = key(&rig, "GPU_0_bfc");
    for (int64_t i = 0; i < 2; i++) {
        event = span_of(&rig, MAIN, "Malloc", 10 + i, 10 + i);
        event.record.class = TM_CLASS_ALLOC;
        event.record.args_length = sizeof(a);
        event.args = &a;
        a.bytes_allocated += 50 * i;
        take(&rig, &event);
    }
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "process 1001 gpu @1\n"
                                                       "counter 1001 watts\n"
                                                       "value watts 5 1.5 real\n"
                                                       "process 1002 host @2\n"
                                                       "thread 1002/1 main @512\n"
                                                       "begin main Malloc 10-10 (alloc)\n"
                                                       "end main 10\n"
                                                       "counter 1001 GPU_0_bfc bytes allocated bytes\n"
                                                       "value GPU_0_bfc bytes allocated 10 100\n"
                                                       "counter 1001 GPU_0_bfc peak bytes in use bytes\n"
                                                       "value GPU_0_bfc peak bytes in use 10 100\n"
                                                       "begin main Malloc 11-11 (alloc)\n"
                                                       "end main 11\n"
                                                       "value GPU_0_bfc bytes allocated 11 150\n");
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* --- arrows --- */

static void take_flow(struct exporter_rig *rig, enum tm_kind kind, uint64_t id, uint32_t where, int64_t time,
                      bool encloses, bool is_open)
{
    struct tm_event event = export_rig_event(&rig->export, FLOWS, kind, "f", time, 0);
    struct tm_arguments_builder *const list = begin_list(rig);

    if (where != TM_NONE)
        tm_put_place(list, where);
    if (encloses)
        tm_put_enclosed(list);
    event.record.correlation = id;
    event.record.class = TM_CLASS_FLOW;
    event.record.flags = is_open ? TM_FLAG_OPEN : 0;
    event.own = tm_arguments_end(list);
    take(rig, &event);
}

static void test_flows(void **state)
{
    struct exporter_rig rig;
    struct tm_track *track;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    track = tm_rows_change(rig.export.trace.tracks, FLOWS);
    track->events = 9;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_flow(&rig, TM_FLOW_BEGIN, 5, MAIN, 5, false, false); /* nothing is open */
    take_span(&rig, MAIN, "a", 10, 50);
    take_span(&rig, MAIN, "b", 20, 60); /* on a lane */
    take_flow(&rig, TM_FLOW_BEGIN, 1, MAIN, 20, false, false);
    take_flow(&rig, TM_FLOW_BEGIN, 2, MAIN, 25, false, false);
    take_flow(&rig, TM_FLOW_END, 5, MAIN, 26, true, false);   /* its begin was lost */
    take_flow(&rig, TM_FLOW_END, 7, MAIN, 27, true, true);    /* nobody began it */
    take_flow(&rig, TM_FLOW_BEGIN, 5, MAIN, 28, true, false); /* the id again */
    take_span(&rig, STREAM, "k", 30, 40);
    take_flow(&rig, TM_FLOW_STEP, 1, STREAM, 30, false, false);
    take_flow(&rig, TM_FLOW_END, 2, WORKER, 31, true, false); /* nothing is open there */
    take_flow(&rig, TM_FLOW_END, 1, WORKER, 35, false, false);
    take_flow(&rig, TM_FLOW_END, 5, TM_NONE, 36, false, false);
    take_span(&rig, WORKER, "c", 40, 45);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 10-50\n"
                                                       "begin main+1 b 20-60\n"
                                                       "arrow begins main+1 20 #1\n"
                                                       "arrow begins main+1 25 #2\n"
                                                       "arrow begins main+1 28 #5\n"
                                                       "begin stream k 30-40\n"
                                                       "arrow goes stream 30 #1\n"
                                                       "arrow ends worker 35 #1 next\n"
                                                       "end stream 40\n"
                                                       "begin worker c 40-45\n"
                                                       "end worker 45\n"
                                                       "end main 50\n"
                                                       "end main+1 60\n");
    assert_int_equal(run.tallies.count[TM_TALLY_FLOW_NOT_BEGUN], 1);
    assert_int_equal(run.tallies.count[TM_TALLY_FLOW_WITHOUT_SPAN], 4);
    assert_int_equal(tm_exporter_counts(rig.e)->arrow_ends, 5);
    assert_int_equal(tm_exporter_counts(rig.e)->arrows, 2);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

static void rig_init_with_arrows(struct exporter_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type)
{
    struct tm_track *track;

    test_run_init(run);
    rig_init(rig, run, type);
    track = tm_rows_change(rig->export.trace.tracks, FLOWS);
    track->events = 9;
}

static void take_instant(struct exporter_rig *rig, uint32_t track, const char *name, int64_t time)
{
    struct tm_event event = export_rig_event(&rig->export, track, TM_INSTANT, name, time, 0);

    event.record.flags |= TM_FLAG_INSTANT;
    take(rig, &event);
}

/* A span of length 0 is open until time goes on, or something else begins on its row: arrows of its time point to it. */
static void take_empty_spans(struct exporter_rig *rig)
{
    take_span(rig, MAIN, "a", 0, 100);
    take_span(rig, MAIN, "y", 10, 10);
    take_span(rig, MAIN, "z", 10, 10);
    take_span(rig, WORKER, "w", 10, 10);
    take_flow(rig, TM_FLOW_BEGIN, 1, WORKER, 10, true, false);
    take_flow(rig, TM_FLOW_BEGIN, 2, MAIN, 10, true, false);
    take_flow(rig, TM_FLOW_END, 3, WORKER, 11, true, false); /* w has ended */
    take_flow(rig, TM_FLOW_STEP, 1, MAIN, 20, true, false);
    take_span(rig, MAIN, "x", 30, 30);
    take_instant(rig, MAIN, "i", 30); /* nothing points to it */
    take_flow(rig, TM_FLOW_END, 2, MAIN, 30, true, false);
    take_span(rig, STREAM, "k", 40, 40);
    take_flow(rig, TM_FLOW_END, 1, STREAM, 40, true, false);
    rig_end(rig);
    assert_int_equal(rig->export.run->tallies.count[TM_TALLY_FLOW_WITHOUT_SPAN], 1);
    assert_int_equal(tm_exporter_counts(rig->e)->arrows, 3);
}

static void test_arrows_of_empty_spans(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    rig_init_with_arrows(&rig, &run, &recorder_with_ends);
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_empty_spans(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 0-100\n"
                                                       "begin main y 10-10\n"
                                                       "end main 10\n"
                                                       "begin main z 10-10\n"
                                                       "begin worker w 10-10\n"
                                                       "arrow begins worker 10 #1\n"
                                                       "arrow begins main 10 #2\n"
                                                       "end worker 10\n"
                                                       "end main 10\n"
                                                       "arrow goes main 20 #1\n"
                                                       "begin main x 30-30\n"
                                                       "end main 30\n"
                                                       "instant main i 30\n"
                                                       "arrow ends main 30 #2\n"
                                                       "begin stream k 40-40\n"
                                                       "arrow ends stream 40 #1\n"
                                                       "end stream 40\n"
                                                       "end main 100\n");
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* A writer of whole spans has them before their arrows, whether there may be cuts or not. */
static void test_arrows_of_whole_empty_spans(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    for (int may_cut = 0; may_cut < 2; may_cut++) {
        rig_init_with_arrows(&rig, &run, &recorder_without_ends);
        rig.cut_every = may_cut ? 1000 : 0;
        assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
        take_empty_spans(&rig);
        const char *const lines = export_rig_lines(&rig.export);

        assert_non_null(strstr(lines, "span main y 10-10\n"
                                      "span main z 10-10\n"
                                      "span worker w 10-10\n"
                                      "arrow begins worker 10 #1\n"
                                      "arrow begins main 10 #2\n"
                                      "arrow goes main 20 #1\n"
                                      "span main x 30-30\n"
                                      "instant main i 30\n"
                                      "arrow ends main 30 #2\n"
                                      "span stream k 40-40\n"
                                      "arrow ends stream 40 #1\n"));
        rig_free(&rig);
        assert_ledger_is_even(&run);
    }
}

/* More rows with one at the same time than are kept open: the others end as they begin. */
static void test_many_empty_spans(void **state)
{
    enum { ROWS = 300 };
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    rig_init_with_arrows(&rig, &run, &recorder_with_ends);
    for (uint32_t i = TRACKS; i < ROWS; i++) {
        const struct tm_track track = { .id = i + 1, .process_id = 10, .device = TM_NONE, .side = TM_SIDE_HOST };

        (void)export_rig_track(&rig.export, &track, "host", "t");
    }
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (uint32_t i = TRACKS; i < ROWS; i++)
        take_span(&rig, i, "z", 10, 10);
    for (uint32_t i = TRACKS; i < ROWS; i++)
        take_flow(&rig, TM_FLOW_BEGIN, i + 1, i, 10, true, false);
    rig_end(&rig);
    assert_int_equal(tm_exporter_counts(rig.e)->slices, ROWS - TRACKS);
    assert_int_equal(tm_exporter_counts(rig.e)->arrow_ends, 256);
    assert_int_equal(run.tallies.count[TM_TALLY_FLOW_WITHOUT_SPAN], ROWS - TRACKS - 256);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* More arrows are lost than can be remembered: no more than that many ends are missed, and none is lost by mistake. */
static void test_many_lost_flows(void **state)
{
    struct exporter_rig rig;
    struct tm_track *track;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    track = tm_rows_change(rig.export.trace.tracks, FLOWS);
    track->events = 9;
    (void)fclose(rig.export.recorder.to);
    rig.export.recorder.to = NULL;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (uint64_t i = 1; i <= 20000; i++)
        take_flow(&rig, TM_FLOW_BEGIN, i * 7919, MAIN, 0, false, false);
    take_span(&rig, MAIN, "a", 1, 10);
    for (uint64_t i = 1; i <= 20000; i += 3)
        take_flow(&rig, TM_FLOW_BEGIN, i * 7919, MAIN, 2, false, false);
    assert_int_equal(tm_exporter_counts(rig.e)->arrow_ends, 6667);
    assert_int_equal(tm_exporter_counts(rig.e)->arrows, 0);
    for (uint64_t i = 20000; i >= 1; i--)
        take_flow(&rig, TM_FLOW_END, i * 7919, MAIN, 3, true, false);
    rig_end(&rig);
    /* Written: those that began again, and those past the first 16384. */
    assert_int_equal(tm_exporter_counts(rig.e)->arrow_ends, 6667 + 6667 + 20000 - 16384 - (20000 - 16384) / 3);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* A call, its activities, an enqueue and its execution on a TPU; nobody else. */
static void test_launches(void **state)
{
    struct exporter_rig rig;
    struct tm_event call, work;
    struct tm_track *track;
    struct tm_run run;

    (void)state;
    for (int has_arrows = 0; has_arrows < 2; has_arrows++) {
        test_run_init(&run);
        rig_init(&rig, &run, &recorder_with_ends);
        track = tm_rows_change(rig.export.trace.tracks, FLOWS);
        track->events = (uint64_t)has_arrows;
        track = tm_rows_change(rig.export.trace.tracks, WORKER);
        track->line = TM_LINE_TPU_MODULES;
        assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
        call = span_of(&rig, MAIN, "launch", 0, 10);
        call.record.class = TM_CLASS_LAUNCH;
        call.record.correlation = 9;
        take(&rig, &call);
        work = span_of(&rig, STREAM, "k", 10, 20);
        work.record.class = TM_CLASS_KERNEL;
        work.record.correlation = 9;
        work.device = 0;
        work.launch_track = MAIN;
        take(&rig, &work);
        work.launch_track = TM_NONE; /* nobody knows who launched it */
        work.record.start_ps = 20;
        take(&rig, &work);
        work = span_of(&rig, WORKER, "module", 30, 40);
        work.record.class = TM_CLASS_MODULE;
        work.record.correlation = 9;
        take(&rig, &work);
        rig_end(&rig);
        assert_string_equal(export_rig_lines(&rig.export), has_arrows ? "file 1\n"
                                                                        "begin main launch 0-10 (launch)\n"
                                                                        "end main 10\n"
                                                                        "begin stream k 10-20 (gpu_kernel)\n"
                                                                        "end stream 20\n"
                                                                        "begin stream k 20-30 (gpu_kernel)\n"
                                                                        "end stream 30\n"
                                                                        "begin worker module 30-40 (module)\n"
                                                                        "end worker 40\n"
                                                                      : "file 1\n"
                                                                        "begin main launch 0-10 (launch) #\n"
                                                                        "end main 10\n"
                                                                        "begin stream k 10-20 (gpu_kernel) #\n"
                                                                        "end stream 20\n"
                                                                        "begin stream k 20-30 (gpu_kernel)\n"
                                                                        "end stream 30\n"
                                                                        "begin worker module 30-40 (module) #\n"
                                                                        "end worker 40\n");
        assert_int_equal(tm_exporter_counts(rig.e)->arrows, has_arrows ? 0 : 2);
        rig_free(&rig);
        assert_ledger_is_even(&run);
    }
}

/* --- cuts --- */

static void take_to_be_cut(struct exporter_rig *rig)
{
    struct tm_event event;

    event = span_of(rig, MAIN, "a", 0, 250);
    tm_put_int(begin_list(rig), key(rig, "n"), 1);
    take_list(rig, &event);
    take_span(rig, MAIN, "b", 50, 250);
    event = counter_of(rig, "c", NULL, 60);
    tm_put_int(&rig->list, key(rig, "v"), 7);
    take_list(rig, &event);
    take_span(rig, WORKER, "short", 60, 100);
    take_span(rig, WORKER, "d", 100, 110);
    take_span(rig, MAIN, "e", 200, 240);
    rig_end(rig);
}

static void test_cut(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.cut_every = 100;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_to_be_cut(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 0-250 { n=1 }\n"
                                                       "begin main b 50-250\n"
                                                       "value c v 60 7\n"
                                                       "begin worker short 60-100\n"
                                                       "end worker 100\n"
                                                       "end main 100 [end] of 50-250\n"
                                                       "end main 100 [end] of 0-250\n"
                                                       "close\n"
                                                       "file 2\n"
                                                       "value c v 100 7\n"
                                                       "begin main a 100-250 { n=1 }\n"
                                                       "begin main b 100-250\n"
                                                       "begin worker d 100-110\n"
                                                       "end worker 110\n"
                                                       "end main 200 [begin] [end] of 50-250\n"
                                                       "end main 200 [begin] [end] of 0-250\n"
                                                       "close\n"
                                                       "file 3\n"
                                                       "value c v 200 7\n"
                                                       "begin main a 200-250 { n=1 }\n"
                                                       "begin main b 200-250\n"
                                                       "begin main e 200-240\n"
                                                       "end main 240\n"
                                                       "end main 250 [begin] of 50-250\n"
                                                       "end main 250 [begin] of 0-250\n");
    assert_int_equal(rig.slices - rig.pieces, 5);
    assert_int_equal(rig.pieces, 4);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Without ends: pieces of one length come outer ones first. */
static void test_cut_whole_spans(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_without_ends);
    rig.cut_every = 100;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_to_be_cut(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "value c v 60 7\n"
                                                       "span worker short 60-100\n"
                                                       "span main a 0-100 [end] of 0-250 { n=1 }\n"
                                                       "span main b 50-100 [end] of 50-250\n"
                                                       "close\n"
                                                       "file 2\n"
                                                       "value c v 100 7\n"
                                                       "span worker d 100-110\n"
                                                       "span main a 100-200 [begin] [end] of 0-250 { n=1 }\n"
                                                       "span main b 100-200 [begin] [end] of 50-250\n"
                                                       "close\n"
                                                       "file 3\n"
                                                       "value c v 200 7\n"
                                                       "span main e 200-240\n"
                                                       "span main a 200-250 [begin] of 0-250 { n=1 }\n"
                                                       "span main b 200-250 [begin] of 50-250\n");
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* A cut comes neither between a span of length 0 and its arrow, nor through it; arrows show inside of a part. */
static void test_cut_arrows(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;

    (void)state;
    rig_init_with_arrows(&rig, &run, &recorder_with_ends);
    rig.most_slices = 3;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    take_span(&rig, MAIN, "a", 0, 100);
    take_flow(&rig, TM_FLOW_BEGIN, 1, MAIN, 0, true, false);
    take_flow(&rig, TM_FLOW_BEGIN, 2, MAIN, 0, true, false);
    take_span(&rig, STREAM, "k", 10, 10);
    take_span(&rig, WORKER, "w", 10, 10);
    take_flow(&rig, TM_FLOW_END, 1, STREAM, 10, true, false);
    assert_int_equal(tm_exporter_counts(rig.e)->arrows, 1);
    take_span(&rig, STREAM, "l", 20, 30);
    assert_int_equal(tm_exporter_counts(rig.e)->arrows, 0);
    take_flow(&rig, TM_FLOW_END, 2, STREAM, 20, true, false); /* begun in the part before */
    take_flow(&rig, TM_FLOW_BEGIN, 3, STREAM, 20, true, false);
    take_flow(&rig, TM_FLOW_END, 3, MAIN, 25, true, false);
    rig_end(&rig);
    assert_int_equal(tm_exporter_counts(rig.e)->arrows, 1);
    assert_int_equal(tm_exporter_counts(rig.e)->arrow_ends, 3);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 0-100\n"
                                                       "arrow begins main 0 #1\n"
                                                       "arrow begins main 0 #2\n"
                                                       "begin stream k 10-10\n"
                                                       "begin worker w 10-10\n"
                                                       "arrow ends stream 10 #1\n"
                                                       "end worker 10\n"
                                                       "end stream 10\n"
                                                       "end main 20 [end] of 0-100\n"
                                                       "close\n"
                                                       "file 2\n"
                                                       "begin main a 20-100\n"
                                                       "begin stream l 20-30\n"
                                                       "arrow ends stream 20 #2\n"
                                                       "arrow begins stream 20 #3\n"
                                                       "arrow ends main 25 #3\n"
                                                       "end stream 30\n"
                                                       "end main 100 [begin] of 0-100\n");
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Of one launch, activities in its part and in the next one. */
static void test_cut_launches(void **state)
{
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.cut_every = 100;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    event = span_of(&rig, MAIN, "launch", 0, 10);
    event.record.class = TM_CLASS_LAUNCH;
    event.record.correlation = 9;
    take(&rig, &event);
    event = span_of(&rig, STREAM, "k", 10, 20);
    event.record.correlation = 9;
    event.launch_track = MAIN;
    for (int i = 0; i < 5; i++) { /* at 10, 50, 90; 130, 170 */
        take(&rig, &event);
        event.record.start_ps += 40;
        assert_int_equal(tm_exporter_counts(rig.e)->arrows, i < 3 ? i + 1 : i - 3);
    }
    rig_end(&rig);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

enum { MANY = 3000 };

/* Read "span ROW NAME BEGIN-END" lines: the pieces of each name one after the other are the whole again, and each lies
 * inside its part. */
static void join_pieces(const struct exporter_rig *rig, const int64_t (*expected)[2])
{
    int64_t until[MANY];
    size_t part = 0; /* from 1 */
    char *rest = NULL;

    memset(until, 0xff, sizeof(until));
    for (char *line = strtok_r(rig->export.recorder.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        long long begin, end;
        int number;

        part += strncmp(line, "file ", 5) == 0;
        if (sscanf(line, "span %*s n%d %lld-%lld", &number, &begin, &end) != 3)
            continue;
        assert_true(number >= 0 && number < MANY && begin <= end);
        assert_true(part < 2 || begin >= rig->cuts[part - 2]);
        assert_true(part > rig->cut_count || end <= rig->cuts[part - 1]);
        assert_int_equal(begin, until[number] < 0 ? expected[number][0] : until[number]);
        until[number] = end;
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(until[i], expected[i][1]);
}

static void cut_randomly(uint64_t seed, int64_t cut_every, uint64_t most_slices)
{
    static int64_t spans[MANY][2];
    struct exporter_rig rig;
    struct tm_run run;
    int64_t now = 0;

    test_run_init(&run);
    rig_init(&rig, &run, &recorder_without_ends);
    rig.cut_every = cut_every;
    rig.most_slices = most_slices;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (int i = 0; i < MANY; i++) {
        char name[16];

        now += (int64_t)(next_number(&seed) % 5);
        spans[i][0] = now;
        spans[i][1] = now + (int64_t)(next_number(&seed) % (next_number(&seed) % 50 ? 30 : 3000));
        (void)snprintf(name, sizeof(name), "n%d", i);
        take_span(&rig, (uint32_t)(next_number(&seed) % 3), name, spans[i][0], spans[i][1]);
    }
    rig_end(&rig);
    assert_int_equal(rig.slices - rig.pieces, MANY);
    assert_true(rig.export.recorder.files > 10);
    (void)export_rig_lines(&rig.export);
    join_pieces(&rig, (const int64_t(*)[2])spans);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

static void test_random_cuts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        cut_randomly(seed, 100, 0);
        cut_randomly(seed, 0, 200);
    }
}

/* --- filter, device --- */

static void test_filter(void **state)
{
    const struct tm_filter filter = { .terms = { { .kind = TM_FILTER_TIME, .begin = 100, .end = 200 } }, .count = 1 };
    struct exporter_rig rig;
    struct tm_track *track;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    track = tm_rows_change(rig.export.trace.tracks, FLOWS);
    track->events = 9;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .filter = &filter }, 0), TM_OK);
    take_span(&rig, MAIN, "a", 0, 300);
    take_span(&rig, MAIN, "out", 0, 100);
    take_flow(&rig, TM_FLOW_BEGIN, 1, MAIN, 50, false, false);
    take_span(&rig, MAIN, "b", 150, 160);
    take_flow(&rig, TM_FLOW_END, 1, MAIN, 155, true, false);
    take_span(&rig, MAIN, "out", 200, 210);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export), "file 1\n"
                                                       "begin main a 100-200\n"
                                                       "begin main b 150-160\n"
                                                       "end main 160\n"
                                                       "end main 200 [begin] [end] of 0-300\n");
    assert_int_equal(run.tallies.count[TM_TALLY_FILTERED_OUT], 3);
    assert_int_equal(run.tallies.count[TM_TALLY_FLOW_WITHOUT_SPAN], 1);
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

static void test_device(void **state)
{
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    for (int on_device = 0; on_device < 2; on_device++) {
        test_run_init(&run);
        rig_init(&rig, &run, &recorder_with_ends);
        assert_int_equal(
            rig_open(&rig, (struct tm_export_options){ .has_device = true, .device = on_device ? 0 : TM_NONE }, 0),
            TM_OK);
        take_span(&rig, MAIN, "a", 0, 10);
        take_span(&rig, STREAM, "k", 5, 10);
        event = span_of(&rig, MAIN, "op", 20, 30); /* an activity on the host's thread */
        event.device = 0;
        take(&rig, &event);
        take_flow(&rig, TM_FLOW_BEGIN, 1, MAIN, 20, false, false); /* nothing is open there of what lies on no device */
        take_span(&rig, MAIN, "c", 40, 60);
        take_flow(&rig, TM_FLOW_BEGIN, 2, MAIN, 40, false, false);
        take_span(&rig, STREAM, "l", 50, 60);
        take_flow(&rig, TM_FLOW_END, 2, STREAM, 50, true, false); /* its begin is in the other output */
        rig_end(&rig);
        assert_string_equal(export_rig_lines(&rig.export), on_device ? "file 1\n"
                                                                       "begin stream k 5-10\n"
                                                                       "end stream 10\n"
                                                                       "begin main op 20-30\n"
                                                                       "end main 30\n"
                                                                       "begin stream l 50-60\n"
                                                                       "arrow ends stream 50 #2\n"
                                                                       "end stream 60\n"
                                                                     : "file 1\n"
                                                                       "begin main a 0-10\n"
                                                                       "end main 10\n"
                                                                       "begin main c 40-60\n"
                                                                       "arrow begins main 40 #2\n"
                                                                       "end main 60\n");
        assert_int_equal(run.tallies.count[TM_TALLY_FILTERED_OUT], 0);
        rig_free(&rig);
        assert_ledger_is_even(&run);
    }
}

/* --- what was worked out --- */

static void add_derived(struct tm_derived *d, struct exporter_rig *rig, enum tm_derived_sort sort, uint32_t device,
                        int64_t begin, int64_t end, const char *name)
{
    const struct derived_row row = {
        .start_ps = begin, .end_ps = end, .value = 2.5, .name = key(rig, name), .device = device, .sort = (uint8_t)sort
    };

    tm_put_int(tm_derived_list(d), key(rig, "n"), begin);
    tm_derived_push(d, &row);
}

static void test_derived(void **state)
{
    struct exporter_rig rig;
    struct tm_derived *derived;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    rig.export.recorder.tells_rows = true;
    derived = tm_derived_new(&run, rig.export.names);
    assert_non_null(derived);
    add_derived(derived, &rig, TM_DERIVED_FACTS, TM_NONE, 0, 60, "all is well");
    add_derived(derived, &rig, TM_DERIVED_STEP, 0, 0, 40, "step 0");
    add_derived(derived, &rig, TM_DERIVED_STEP, TM_NONE, 5, 20, "step 0");
    add_derived(derived, &rig, TM_DERIVED_GAP, 0, 15, 18, "idle: input");
    add_derived(derived, &rig, TM_DERIVED_BUSY, 0, 16, 16, "busy share");
    add_derived(derived, &rig, TM_DERIVED_FINDING, TM_NONE, 60, 60, "slow");
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = derived }, 0), TM_OK);
    take_span(&rig, MAIN, "a", 0, 10);
    take_span(&rig, MAIN, "b", 15, 50);
    rig_end(&rig);
    assert_string_equal(export_rig_lines(&rig.export),
                        "file 1\n"
                        "group 1000001 Analysis \u00b7 tracemill @0\n"
                        "row 1000001/1000007 verdict \u00b7 tracemill @0\n"
                        "begin verdict \u00b7 tracemill all is well 0-60 (tracemill) [derived] { n=0 }\n"
                        "row 1000001/1000001 gpu:0 steps \u00b7 tracemill @1152\n"
                        "begin gpu:0 steps \u00b7 tracemill step 0 0-40 (tracemill) [derived] { n=0 }\n"
                        "process 10 host @2\n"
                        "thread 10/1 main @512\n"
                        "begin main a 0-10\n"
                        "row 1000001/1000003 host steps \u00b7 tracemill @1088\n"
                        "begin host steps \u00b7 tracemill step 0 5-20 (tracemill) [derived] { n=5 }\n"
                        "end main 10\n"
                        "row 1000001/1000002 gpu:0 idle gaps \u00b7 tracemill @1216\n"
                        "begin gpu:0 idle gaps \u00b7 tracemill idle: input 15-18 (tracemill) [derived] { n=15 }\n"
                        "begin main b 15-50\n"
                        "counter 1000001 gpu:0 busy share \u00b7 tracemill %\n"
                        "value gpu:0 busy share \u00b7 tracemill 16 2.5 real\n"
                        "end gpu:0 idle gaps \u00b7 tracemill 18\n"
                        "end host steps \u00b7 tracemill 20\n"
                        "end gpu:0 steps \u00b7 tracemill 40\n"
                        "end main 50\n"
                        "end verdict \u00b7 tracemill 60\n"
                        "row 1000001/1000004 critical findings \u00b7 tracemill @64\n"
                        "instant critical findings \u00b7 tracemill slow 60 (tracemill) [derived] { n=60 }\n");
    rig_free(&rig);
    tm_derived_free(derived);
    assert_ledger_is_even(&run);
}

/* --- limits --- */

static void test_before_the_clock(void **state)
{
    struct exporter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 5), TM_OK);
    event = span_of(&rig, MAIN, "a", -6, 10);
    assert_int_equal(tm_exporter_take(rig.e, &event), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.what, "host 'h0'"));
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Everything at once inside the shares of the least memory. */
static void test_memory(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;
    uint64_t seed = 5;
    int64_t now = 0;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    (void)fclose(rig.export.recorder.to);
    rig.export.recorder.to = NULL;
    rig.cut_every = 1000000;
    for (int64_t i = 0; i < 50000; i++) {
        const struct tm_track track = { .process = (uint32_t)(10 + i / 10), .id = i % 7, .device = TM_NONE };

        tm_rows_append(rig.export.trace.tracks, &track);
    }
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (int i = 0; i < 200000; i++) {
        struct tm_event event;

        now += (int64_t)(next_number(&seed) % 100);
        if (i % 3) {
            const uint32_t track = TRACKS + (uint32_t)(next_number(&seed) % 50000);

            event = span_of(&rig, track, "a", now, now + (int64_t)(next_number(&seed) % 40000));
            tm_put_int(begin_list(&rig), 1, i);
        } else {
            char name[32];

            (void)snprintf(name, sizeof(name), "c%d", (int)(next_number(&seed) % 60000));
            event = counter_of(&rig, name, NULL, now);
            tm_put_int(&rig.list, 1, i);
        }
        take_list(&rig, &event);
    }
    rig_end(&rig);
    assert_true(run.tallies.count[TM_TALLY_COUNTER_NOT_REPEATED] > 0);
    assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_TABLES], 1, tm_budget_share(&run.budget, TM_ACCOUNT_TABLES) / 2);
    assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_THREADS], 1, tm_budget_share(&run.budget, TM_ACCOUNT_THREADS));
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

static void test_too_many_open(void **state)
{
    struct exporter_rig rig;
    struct tm_run run;
    tm_status st = TM_OK;

    (void)state;
    test_run_init(&run);
    rig_init(&rig, &run, &recorder_with_ends);
    for (int64_t i = 0; i < 1000; i++)
        (void)export_rig_track(&rig.export, &(struct tm_track){ .id = i, .device = TM_NONE }, "host", "t");
    rig.cut_every = 1 << 30;
    assert_int_equal(rig_open(&rig, (struct tm_export_options){ .derived = NULL }, 0), TM_OK);
    for (int64_t i = 0; i < 300000 && st == TM_OK; i++) {
        const struct tm_event event = span_of(&rig, TRACKS + (uint32_t)(i % 1000), "a", i, 1000000 + i);

        st = tm_exporter_take(rig.e, &event);
    }
    assert_int_equal(st, TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.hint, "--memory"));
    rig_free(&rig);
    assert_ledger_is_even(&run);
}

static tm_status export_some(struct tm_run *run)
{
    static const struct tm_filter filter = { .terms = { { .kind = TM_FILTER_MIN, .begin = 1 } }, .count = 1 };
    struct exporter_rig rig;
    struct tm_track *track;
    tm_status st;

    rig_init(&rig, run, &recorder_without_ends);
    track = tm_rows_change(rig.export.trace.tracks, FLOWS);
    track->events = 1;
    rig.cut_every = 500;
    st = rig_open(&rig, (struct tm_export_options){ .filter = &filter }, 0);
    for (int64_t i = 0; i < 600 && st == TM_OK; i++) {
        const uint64_t refuse_in = run->budget.refuse_in;
        struct tm_event event;

        run->budget.refuse_in = 0;
        if (i % 3 == 0) {
            event = span_of(&rig, MAIN, "a", i, i + 100 + i % 7);
            tm_put_int(begin_list(&rig), 1, i);
        } else if (i % 3 == 1) {
            char name[16];

            (void)snprintf(name, sizeof(name), "c%d", (int)i);
            event = counter_of(&rig, name, NULL, i);
            tm_put_int(&rig.list, 1, i);
        } else {
            event = export_rig_event(&rig.export, FLOWS, TM_FLOW_BEGIN, "f", i, 0);
            tm_put_place(begin_list(&rig), WORKER);
        }
        event.own = tm_arguments_end(&rig.list);
        run->budget.refuse_in = refuse_in;
        st = tm_exporter_take(rig.e, &event);
    }
    if (st == TM_OK)
        st = tm_exporter_end_host(rig.e);
    rig_free(&rig);
    return st;
}

static void test_refusals(void **state)
{
    (void)state;
    refuse_each_request(export_some);
}

int main(void)
{
    /* clang-format off */
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans), cmocka_unit_test(test_whole_spans), cmocka_unit_test(test_async),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_counters), cmocka_unit_test(test_counters_of_xspace),
        cmocka_unit_test(test_flows), cmocka_unit_test(test_many_lost_flows),
        cmocka_unit_test(test_arrows_of_empty_spans), cmocka_unit_test(test_arrows_of_whole_empty_spans),
        cmocka_unit_test(test_many_empty_spans), cmocka_unit_test(test_cut_arrows), cmocka_unit_test(test_cut_launches),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_cut), cmocka_unit_test(test_cut_whole_spans), cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_filter), cmocka_unit_test(test_device), cmocka_unit_test(test_derived),
        cmocka_unit_test(test_before_the_clock), cmocka_unit_test(test_memory), cmocka_unit_test(test_too_many_open),
        cmocka_unit_test(test_refusals),
    };
    /* clang-format on */

    return cmocka_run_group_tests(tests, NULL, NULL);
}
