/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of a Chrome trace become: tracks, records, devices, tallies. */
#include "stages/input/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/engine/analysis.h"
#include "stages/resolve/classes.h"
#include "tests/support/argument_text.h"
#include "tests/support/memory_file.h"
#include "tests/support/test_run.h"

struct opened {
    struct tm_run run;
    struct tm_names *names;
    struct tm_host_run host;
    int fd;
};

static void ignore_warning(void *to, const char *text, size_t length)
{
    (void)to;
    (void)text;
    (void)length;
}

static tm_status open_trace_with(struct opened *o, const char *json, const struct tm_host_options *options)
{
    char path[MEMORY_FILE_PATH], name[] = "h0";
    const struct tm_found_file found = { .path = path, .host = name };
    const uint64_t refuse_in = o->run.budget.refuse_in;

    test_run_init(&o->run);
    o->run.budget.refuse_in = refuse_in;
    o->fd = memory_file(json, strlen(json), path);
    o->host = (struct tm_host_run){ .run = NULL };
    o->names = tm_names_new(&o->run, tm_budget_share(&o->run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
    if (!o->names)
        return o->run.error.status;
    return tm_host_open(&o->host, &o->run, o->names, &found, 0, options);
}

static tm_status open_trace(struct opened *o, const char *json)
{
    const struct tm_host_options options = { .steps.all = true, .warn = ignore_warning };

    return open_trace_with(o, json, &options);
}

static tm_status open_with_arguments(struct opened *o, const char *json)
{
    const struct tm_host_options options = { .steps.all = true, .warn = ignore_warning, .keeps_arguments = true };

    return open_trace_with(o, json, &options);
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
    const char *const text = tm_names_text(o->names, id, 64, &length);

    (void)fwrite(text, 1, length, to);
}

/* "kind class start+dur name" of every record of a track, each behind a blank and a semicolon. */
static void put_records(struct opened *o, FILE *to, uint64_t track)
{
    static const char *const kinds[] = { "span", "instant", "counter", "s", "t", "f", "B", "E" };
    struct tm_source *source = o->host.source;
    struct tm_cursor *cursor = source->type->open(source, track, 4096);

    assert_non_null(cursor);
    for (;;) {
        struct tm_raw_record raw;
        bool more;

        assert_int_equal(source->type->next(cursor, &raw, &more), TM_OK);
        if (!more)
            break;
        (void)fprintf(to, " %s %s %" PRId64 "+%" PRId64 " ", kinds[raw.record.kind], tm_class_name[raw.record.class],
                      raw.record.start_ps, raw.record.dur_ps);
        put_name(o, to, raw.record.name);
        if (raw.record.flags & TM_FLAG_OPEN)
            (void)fputs(" open", to);
        if (raw.record.args_length == sizeof(struct tm_number))
            (void)fprintf(to, " =%" PRId64, ((const struct tm_number *)raw.args)->value);
        if (raw.record.flags & TM_FLAG_CORRELATION)
            (void)fprintf(to, " #%" PRIu64, raw.record.correlation);
        (void)fputc(';', to);
    }
    source->type->close(cursor);
}

/* Every track that has records: "[plane/line side device]" and its records. */
static void assert_tracks(const char *json, const char *expected)
{
    static const char *const sides[] = { "other", "host", "device" };
    char text[4096] = "";
    FILE *to = fmemopen(text, sizeof(text), "w");
    struct opened o = { .fd = -1 };

    assert_non_null(to);
    assert_int_equal(open_trace(&o, json), TM_OK);
    for (uint64_t i = 0; i < tm_rows_count(o.host.trace.tracks); i++) {
        const struct tm_track *row = tm_rows_at(o.host.trace.tracks, i);
        struct tm_track track;

        assert_non_null(row);
        track = *row;
        if (!track.events)
            continue;
        (void)fputc('[', to);
        put_name(&o, to, track.plane_name);
        (void)fputc('|', to);
        put_name(&o, to, track.name);
        (void)fprintf(to, "|%s", sides[track.side]);
        if (track.device != TM_NONE)
            (void)fprintf(to, "|%s", o.host.trace.devices[track.device].id);
        (void)fputc(']', to);
        put_records(&o, to, i);
    }
    (void)fclose(to);
    close_trace(&o);
    assert_string_equal(text, expected);
}

#define EVENT(ph, rest) "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":2,\"name\":\"a\"" rest "}"
#define NAMED(ph, name, rest) "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":2,\"name\":\"" name "\"" rest "}"
#define META(what, pid, rest, name)                                                                                    \
    "{\"ph\":\"M\",\"pid\":" pid rest ",\"name\":\"" what "\",\"args\":{\"name\":\"" name "\"}}"

static void phases_become_records(void **state)
{
    static const struct {
        const char *events, *expected;
    } rows[] = {
        { EVENT("X", ",\"ts\":1.5,\"dur\":2"), "[process 1|thread 2|host] span unresolved 1500000+2000000 a;" },
        { EVENT("X", ",\"ts\":1"), "[process 1|thread 2|host] instant unresolved 1000000+0 a;" },
        { EVENT("X", ",\"ts\":1,\"dur\":-4"), "[process 1|thread 2|host] instant unresolved 1000000+0 a;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1e-6"), "[process 1|thread 2|host] instant unresolved 1000000+0 a;" },
        { EVENT("X", ",\"cat\":\"x\",\"ts\":1,\"dur\":1e-6"),
          "[process 1|thread 2|host] span unresolved 1000000+1 a;" },
        { EVENT("B", ",\"ts\":1") "," EVENT("E", ",\"ts\":3"),
          "[process 1|thread 2|host] span unresolved 1000000+2000000 a;" },
        { EVENT("E", ",\"ts\":3") "," EVENT("B", ",\"ts\":1"),
          "[process 1|thread 2|host] span unresolved 1000000+2000000 a;" },
        { EVENT("B", ",\"ts\":1"), "[process 1|thread 2|host] span unresolved 1000000+0 a open;" },
        { EVENT("i", ",\"ts\":1,\"s\":\"t\""), "[process 1|thread 2|host] instant instant 1000000+0 a;" },
        { EVENT("I", ",\"ts\":1,\"s\":\"p\""), "[process 1|(no thread)|other] instant instant 1000000+0 a;" },
        { EVENT("C", ",\"ts\":1,\"args\":{\"v\":3}"), "[process 1|(counters)|other] counter counter 1000000+0 a;" },
        { NAMED("i", "[memory]", ",\"ts\":1,\"s\":\"t\",\"args\":{\"Bytes\":-8}"),
          "[process 1|thread 2|host] instant free 1000000+0 [memory];" },
        { NAMED("C", "[memory]", ",\"ts\":1,\"args\":{\"Bytes\":8}"),
          "[process 1|(counters)|other] counter counter 1000000+0 [memory];" },
        { EVENT("s", ",\"ts\":1,\"id\":7") "," EVENT("f", ",\"ts\":2,\"id\":7"),
          "[process 1|(flows)|other] s flow 1000000+0 a; f flow 2000000+0 a;" },
        { EVENT("b", ",\"ts\":1,\"id\":7") "," EVENT("b", ",\"ts\":2,\"id\":8") "," EVENT(
              "e", ",\"ts\":4,\"id\":7") "," EVENT("e", ",\"ts\":5,\"id\":8"),
          "[process 1|(async)|other] span async 1000000+3000000 a; span async 2000000+3000000 a;" },
        { EVENT("X", ",\"ts\":5,\"dur\":1") "," EVENT("X", ",\"ts\":1,\"dur\":1"),
          "[process 1|thread 2|host] span unresolved 1000000+1000000 a; span unresolved 5000000+1000000 a;" },
    };
    char json[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_tracks(json, rows[i].expected);
    }
}

#define X(pid, tid, more) "{\"ph\":\"X\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"a\",\"ts\":1,\"dur\":1" more "}"
#define ONE "span unresolved 1000000+1000000 a;"

static void threads_are_told_apart_by_process_and_number(void **state)
{
    static const struct {
        const char *events, *expected;
    } rows[] = {
        { X("1", "2", "") "," X("1", "3", "") "," X("2", "2", ""),
          "[process 1|thread 2|host] " ONE "[process 1|thread 3|host] " ONE "[process 2|thread 2|host] " ONE },
        { X("1", "2", "") "," X("\"1\"", "\"2\"", ""), "[process 1|thread 2|host] " ONE " " ONE },
        { X("1", "\"main\"", ""), "[process 1|main|host] " ONE },
        { X("1", "18446744073709551615", "") "," X("1", "-1", ""),
          "[process 1|thread 18446744073709551615|host] " ONE "[process 1|thread -1|host] " ONE },
        { X("1", "9007199254740993", "") "," X("1", "9007199254740992", ""),
          "[process 1|thread 9007199254740993|host] " ONE "[process 1|thread 9007199254740992|host] " ONE },
        { "{\"ph\":\"X\",\"pid\":4,\"name\":\"a\",\"ts\":1,\"dur\":1}", "[process 4|thread 4|host] " ONE },
    };
    char json[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_tracks(json, rows[i].expected);
    }
}

static void processes_are_called_by_name_label_or_id(void **state)
{
    static const struct {
        const char *events, *expected;
    } rows[] = {
        { X("\"\"", "2", ""), "[process \"\"|thread 2|host] " ONE },
        { X("1", "2", "") "," META("process_name", "1", "", "python"), "[python|thread 2|host] " ONE },
        { X("1", "2", "") "," META(
              "process_name", "1", "",
              "python") ",{\"ph\":\"M\",\"pid\":1,\"name\":\"process_labels\",\"args\":{\"labels\":\"GPU 0\"}}",
          "[python (GPU 0)|thread 2|host] " ONE },
    };
    char json[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_tracks(json, rows[i].expected);
    }
}

#define KERNEL(device)                                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{"                \
    "\"device\":" device "}}"

static void devices_stand_in_the_order_of_their_numbers(void **state)
{
    struct opened o = { .fd = -1 };

    (void)state;
    assert_tracks("[" KERNEL("2") "," KERNEL("0") "," KERNEL("1") "]",
                  "[GPU 2|stream 7|device|h0/gpu:2] span kernel 1000000+1000000 k;"
                  "[GPU 0|stream 7|device|h0/gpu:0] span kernel 1000000+1000000 k;"
                  "[GPU 1|stream 7|device|h0/gpu:1] span kernel 1000000+1000000 k;");
    assert_int_equal(open_trace(&o, "[" KERNEL("2") "," KERNEL("0") "," KERNEL("1") "]"), TM_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(o.host.trace.devices[i].ordinal, i);
        assert_int_equal(o.host.trace.devices[i].index, i);
        assert_int_equal(o.host.trace.devices[i].activities, 1);
    }
    close_trace(&o);
}

static void names_may_come_last(void **state)
{
    static const char *const events = X("701", "5", "") "," X("1", "9", ",\"args\":{\"kernel_details\":\"regs:4\"}");
    static const char *const names = META("process_name", "1", "", "/device:GPU:0") "," META(
        "thread_name", "1", ",\"tid\":9", "Stream #9(Compute)") "," META("process_name", "701", "",
                                                                         "/host:CPU") "," META("thread_name", "701",
                                                                                               ",\"tid\":5", "python");
    char json[2048];
    const char *expected = "[/host:CPU|python|host] " ONE "[/device:GPU:0|Stream #9(Compute)|device|h0/gpu:0] " ONE;

    (void)state;
    (void)snprintf(json, sizeof(json), "{\"traceEvents\":[%s,%s]}", events, names);
    assert_tracks(json, expected);
}

/* JAX's writer puts the planes of its profile into the processes; whatever else is there is not the profile's. */
static void beside_planes_other_processes_are_no_hosts(void **state)
{
    (void)state;
    assert_tracks("[" X("1", "2", "") "," X("3", "4", "") "," META("process_name", "1", "", "/host:CPU") "]",
                  "[/host:CPU|thread 2|host] " ONE "[process 3|thread 4|other] " ONE);
}

static void pytorch_is_told_by_its_categories(void **state)
{
    static const char *const json =
        "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":3,\"name\":\"GPU "
        "X\",\"totalGlobalMem\":1024,\"numSms\":8}],"
        "\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#12\",\"pid\":8,\"tid\":8,\"ts\":1,\"dur\":9}"
        ","
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":8,\"tid\":8,\"ts\":2,\"dur\":1,"
        "\"args\":{\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":2,\"args\":{"
        "\"device\":3,\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":\"stream "
        "7\",\"ts\":6,\"dur\":1,\"args\":{\"device\":3,\"bytes\":64}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#12\",\"pid\":0,\"tid\":7,\"ts\":4,"
        "\"dur\":2,\"args\":{\"device\":3}}]}";
    struct opened o = { .fd = -1 };

    (void)state;
    assert_tracks(json, "[process 8|thread 8|host] span annotation 1000000+9000000 ProfilerStep#12 =12;"
                        " span runtime 2000000+1000000 cudaLaunchKernel #5;"
                        "[GPU 3|stream 7|device|h0/gpu:3] span kernel 4000000+2000000 gemm #5;"
                        " span derived 4000000+2000000 ProfilerStep#12 =12;"
                        "[GPU 3|stream 7|device|h0/gpu:3] span copy 6000000+1000000 Memcpy HtoD (Pageable -> Device);");
    assert_int_equal(open_trace(&o, json), TM_OK);
    assert_int_equal(o.host.trace.device_count, 1);
    assert_string_equal(o.host.trace.devices[0].model, "GPU X");
    assert_int_equal(o.host.trace.devices[0].core_count, 8);
    assert_int_equal(o.host.trace.devices[0].activities, 2);
    assert_int_equal(o.host.trace.steps.source, TM_STEPS_HOST);
    close_trace(&o);
}

/* A clock that counts from 1970 keeps its picoseconds: it is counted from the whole second of the first event. */
static void epochs_keep_their_fractions(void **state)
{
    (void)state;
    assert_tracks(
        "[" NAMED("X", "a", ",\"ts\":1666382280874284.123456,\"dur\":1") "," NAMED(
            "X", "b", ",\"ts\":1666382279999999.5,\"dur\":1") "]",
        "[process 1|thread 2|host] span unresolved -500000+1000000 b; span unresolved 874284123456+1000000 a;");
    assert_tracks("[" NAMED("X", "a", ",\"ts\":5000000.25,\"dur\":1") "]",
                  "[process 1|thread 2|host] span unresolved 5000000250000+1000000 a;");
    assert_tracks("[" NAMED("X", "a", ",\"ts\":3600000000.25,\"dur\":1") "]",
                  "[process 1|thread 2|host] span unresolved 3600000000250000+1000000 a;");
    assert_tracks("[" NAMED("X", "a", ",\"cat\":\"cpu_op\",\"ts\":3600000000.25,\"dur\":1") "]",
                  "[process 1|thread 2|host] span framework_op 250000+1000000 a;");
}

static uint64_t tally_of(const char *events, enum tm_tally tally)
{
    struct opened o = { .fd = -1 };
    char json[2048];
    uint64_t count;

    (void)snprintf(json, sizeof(json), "[%s,%s]", X("1", "1", ""), events);
    assert_int_equal(open_trace(&o, json), TM_OK);
    count = o.run.tallies.count[tally];
    close_trace(&o);
    return count;
}

static void oddities_are_tallied_by_name(void **state)
{
    static const struct {
        enum tm_tally tally;
        uint64_t count;
        const char *events;
    } rows[] = {
        { TM_TALLY_MISSING_PHASE, 1, "{\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\"}" },
        { TM_TALLY_UNKNOWN_PHASE, 2, EVENT("Z", ",\"ts\":1") "," EVENT("XX", ",\"ts\":1") },
        { TM_TALLY_STACK_FRAMES, 0, EVENT("C", ",\"ts\":1") },
        { TM_TALLY_OTHER_PHASE, 2, EVENT("N", ",\"ts\":1") "," EVENT("v", ",\"ts\":1") },
        { TM_TALLY_MISSING_TIME, 1, EVENT("X", ",\"dur\":1") },
        { TM_TALLY_MISSING_DURATION, 1, EVENT("X", ",\"ts\":1") },
        { TM_TALLY_NEGATIVE_DURATION, 1, EVENT("X", ",\"ts\":1,\"dur\":-0.001") },
        { TM_TALLY_MISSING_NAME, 1, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}" },
        { TM_TALLY_MISSING_NAME, 0, EVENT("B", ",\"ts\":1") ",{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":2}" },
        { TM_TALLY_MISSING_PROCESS, 1, "{\"ph\":\"X\",\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\"}" },
        { TM_TALLY_MISSING_PROCESS, 0, "{\"ph\":\"i\",\"s\":\"g\",\"ts\":1,\"name\":\"a\"}" },
        { TM_TALLY_MISSING_THREAD, 1, "{\"ph\":\"X\",\"pid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\"}" },
        { TM_TALLY_METADATA_EVENT, 1, META("process_name", "1", "", "p") },
        { TM_TALLY_RENAMED, 1,
          META("process_name", "1", "", "p") "," META("process_name", "1", "", "q") "," META("process_name", "1", "",
                                                                                             "q") },
        { TM_TALLY_RENAMED, 1,
          META("thread_name", "1", ",\"tid\":1", "p") "," META("thread_name", "1", ",\"tid\":1", "q") },
        { TM_TALLY_CLOCK_OUTLIER, 2,
          EVENT("X", ",\"ts\":8640001000000,\"dur\":1") "," EVENT("X", ",\"ts\":1,\"dur\":1e300") },
        { TM_TALLY_UNMATCHED_BEGIN, 0,
          EVENT("X", ",\"ts\":1,\"dur\":1,\"bind_id\":4") "," EVENT("b", ",\"ts\":1") "," EVENT(
              "X", ",\"ts\":1,\"dur\":1,\"bind_id\":5") "," EVENT("e", ",\"ts\":2") },
        { TM_TALLY_INSTANT_EVENT, 2, EVENT("R", ",\"ts\":1") "," EVENT("P", ",\"ts\":1") },
        { TM_TALLY_BEGIN_END_EVENT, 2, EVENT("B", ",\"ts\":1") "," EVENT("E", ",\"ts\":2") },
        { TM_TALLY_UNMATCHED_BEGIN, 1, EVENT("B", ",\"ts\":1") },
        { TM_TALLY_UNMATCHED_END, 1, EVENT("E", ",\"ts\":1") },
        { TM_TALLY_COUNTER_EVENT, 1, EVENT("C", ",\"ts\":1") },
        { TM_TALLY_INSTANT_EVENT, 1, EVENT("i", ",\"ts\":1") },
        { TM_TALLY_FLOW_EVENT, 1, EVENT("s", ",\"ts\":1,\"id\":1") },
        { TM_TALLY_UNMATCHED_FLOW, 1, EVENT("s", ",\"ts\":1,\"id\":1") },
        { TM_TALLY_ASYNC_EVENT, 1, EVENT("n", ",\"ts\":1,\"id\":1") },
        { TM_TALLY_UNKNOWN_DEVICE, 1, EVENT("X", ",\"cat\":\"mtia_ccp_events\",\"ts\":1,\"dur\":1") },
        { TM_TALLY_OVERLAPPING_SPAN, 1, EVENT("X", ",\"ts\":1,\"dur\":4") "," EVENT("X", ",\"ts\":3,\"dur\":4") },
        { TM_TALLY_REPEATED_EVENT, 1, EVENT("X", ",\"ts\":1,\"dur\":4") "," EVENT("X", ",\"ts\":1,\"dur\":4") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t count = tally_of(rows[i].events, rows[i].tally);

        if (count != rows[i].count)
            fail_msg("row %zu: %s is %" PRIu64 ", not %" PRIu64, i, tm_tally_info[rows[i].tally].name, count,
                     rows[i].count);
    }
}

static void the_execution_of_a_tpu_bears_its_device(void **state)
{
    static const char *const json =
        "[{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":1,\"dur\":5,\"name\":\"jit_f\",\"args\":{\"run_id\":\"77\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":0,\"dur\":1,\"name\":\"DoEnqueueProgram\",\"args\":{\"run_id\":"
        "\"77\",\"device_ordinal\":\"1\"}}," META("process_name", "2", "", "/device:TPU:1") "," META(
            "thread_name", "2", ",\"tid\":1", "XLA Modules") "," META("process_name", "701", "", "/host:CPU") "]";
    struct opened o = { .fd = -1 };

    (void)state;
    assert_int_equal(open_trace(&o, json), TM_OK);
    for (uint64_t i = 0; i < 2; i++) {
        struct tm_cursor *cursor = o.host.source->type->open(o.host.source, i, 4096);
        struct tm_raw_record raw;
        bool more;

        assert_int_equal(o.host.source->type->next(cursor, &raw, &more), TM_OK);
        assert_true(more);
        assert_int_equal(raw.record.correlation, tm_run_key(77, 1));
        o.host.source->type->close(cursor);
    }
    close_trace(&o);
}

#define LATE(at) EVENT("X", ",\"ts\":1700000000" at ".5,\"dur\":1")
#define MANY_LATE LATE("000001") "," LATE("000002") "," LATE("999999")

/* One wrong time, at the start or elsewhere, does not decide for the others. */
static void times_are_counted_from_where_most_events_are(void **state)
{
    static const struct {
        uint64_t outliers;
        int64_t origin_us;
        const char *events;
    } rows[] = {
        { 0, 1700000000000000, MANY_LATE },
        { 1, 1700000000000000, EVENT("X", ",\"ts\":0,\"dur\":1") "," MANY_LATE },
        { 1, 1700000000000000, EVENT("X", ",\"ts\":1e17,\"dur\":1") "," MANY_LATE },
        { 1, 1700000000000000, EVENT("X", ",\"ts\":-9e18,\"dur\":1") "," MANY_LATE },
        { 1, 1700000000000000, EVENT("X", ",\"ts\":9.2e18,\"dur\":1") "," MANY_LATE },
        { 2, 1700000000000000, EVENT("i", ",\"ts\":0") "," EVENT("i", ",\"ts\":1e17") "," MANY_LATE },
        { 1, 1700000000000000, MANY_LATE "," EVENT("X", ",\"ts\":0,\"dur\":1") },
        { 1, 0, EVENT("X", ",\"ts\":1e17,\"dur\":1") "," EVENT("i", ",\"ts\":1") "," EVENT("i", ",\"ts\":2") },
        /* what has no place in time has no say, and damage does not end the look */
        { 0, 1700000000000000, EVENT("N", ",\"ts\":0") "," EVENT("N", ",\"ts\":1") "," LATE("000001") },
        { 1, 1700000000000000, EVENT("X", ",\"ts\":0,\"dur\":1") ",{x}," MANY_LATE },
        /* all fit from the first one, however far apart they are; as many here as there: the first */
        { 0, 0, EVENT("i", ",\"ts\":0") "," EVENT("i", ",\"ts\":4e12") "," EVENT("i", ",\"ts\":4e12") },
        { 1, 0, EVENT("i", ",\"ts\":0") "," LATE("000001") },
    };
    char json[2048];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct opened o = { .fd = -1 };

        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_int_equal(open_trace(&o, json), TM_OK);
        if (o.run.tallies.count[TM_TALLY_CLOCK_OUTLIER] != rows[i].outliers ||
            o.host.trace.origin_us != rows[i].origin_us)
            fail_msg("row %zu: %" PRIu64 " outliers, origin %" PRId64, i, o.run.tallies.count[TM_TALLY_CLOCK_OUTLIER],
                     o.host.trace.origin_us);
        close_trace(&o);
    }
}

/* --- what events say of themselves --- */

struct told {
    struct opened *o;
    FILE *to;
};

static tm_status tell(void *to, const struct tm_event *event)
{
    struct told *const t = to;

    (void)fprintf(t->to, "%" PRIu32 " ", event->record.track);
    put_name(t->o, t->to, event->record.name);
    (void)fputs(event->record.flags & TM_FLAG_OPEN ? "! " : " ", t->to);
    print_arguments(t->to, t->o->names, event->own);
    (void)fputc(';', t->to);
    return TM_OK;
}

/* "track name arguments;" of every event in the order of time. */
static void assert_arguments(const char *json, const char *expected)
{
    char text[4096] = "";
    struct opened o = { .fd = -1 };
    struct told told = { &o, fmemopen(text, sizeof(text), "w") };

    assert_non_null(told.to);
    assert_int_equal(open_with_arguments(&o, json), TM_OK);
    assert_int_equal(tm_host_events(&o.host, tell, &told), TM_OK);
    (void)fclose(told.to);
    assert_true(o.run.budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_budget_share(&o.run.budget, TM_ACCOUNT_INPUT));
    close_trace(&o);
    assert_string_equal(text, expected);
}

static void events_come_with_their_arguments(void **state)
{
    static const struct {
        const char *events, *expected;
    } rows[] = {
        { EVENT("X", ",\"ts\":1,\"dur\":1"), "0 a ;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"k\":[1,\"x\"]}"), "0 a k:[1 'x'];" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":[1]"), "0 a args:[1];" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":\"t\",\"zz\":null"), "0 a args:'t' zz:null;" },
        { EVENT("X", ",\"tts\":1.5,\"ts\":1,\"dur\":1,\"tdur\":2 , \"cname\" : "
                     "\"red\\\"\",\"args\":{\"k\":1},\"sf\":{\"a\":[1,{}]}"),
          "0 a k:1 tts:#1.5 tdur:2 cname:'red\"' sf:{a:[1 {}]};" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"id\":\"0x7\""), "0 a id:'0x7';" },
        { EVENT("B", ",\"ts\":1,\"tts\":1") "," EVENT("E", ",\"ts\":2,\"tts\":2"), "0 a tts:1 tts:2;" },
        { EVENT("R", ",\"ts\":1,\"args\":{\"k\":1}"), "0 a k:1;" },
        { EVENT("P", ",\"ts\":1,\"sf\":\"7\",\"weight\":1"), "0 a sf:'7' weight:1;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"k\":1},\"args\":{\"l\":2}"), "0 a l:2;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"cat\":\"c\",\"id\":4"), "0 a cat='c' id:4;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"cat\":\"kernel\",\"args\":{\"device\":2,\"correlation\":7}"),
          "0 a cat='kernel' device:2 correlation:7;" },
        { EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"step_num\":7}"), "0 a step_num:7;" },
        { EVENT("i", ",\"ts\":1,\"s\":\"p\",\"args\":{\"k\":1}"), "0 a k:1;" },
        { EVENT("C", ",\"ts\":1,\"id\":\"x\",\"args\":{\"v\":1.5}"), "0 a id='x' v:#1.5;" },
        { EVENT("B", ",\"ts\":1,\"cat\":\"c\",\"args\":{\"k\":1}") "," EVENT(
              "E", ",\"ts\":2,\"cat\":\"c\",\"args\":{\"k\":2,\"l\":3}"),
          "0 a cat='c' k:1 k:2 l:3;" },
        { EVENT("b", ",\"ts\":1,\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"}") "," EVENT(
              "e", ",\"ts\":2,\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"},\"args\":{\"k\":1}"),
          "0 a cat='c' id='0x1' k:1;" },
        { EVENT("n", ",\"ts\":1,\"cat\":\"c\",\"id\":7"), "0 a cat='c' id='7';" },
    };
    char json[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_arguments(json, rows[i].expected);
    }
}

#define FLOW(ph, pid, tid, ts, more)                                                                                   \
    "{\"ph\":\"" ph "\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"" ph "\",\"cat\":\"c\",\"id\":5,\"ts\":" ts more "}"
#define ON_DEVICE(cat, ts, args)                                                                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":1,\"args\":{" args "}" \
    "}"

static void flows_tell_where_they_lie(void **state)
{
    static const struct {
        const char *events, *expected;
    } rows[] = {
        { X("1", "2", "") "," FLOW("s", "1", "2", "1", ""), "0 a ;1 s cat='c' id='5' place=0 enclosed;" },
        { FLOW("t", "1", "2", "1", ""), "0 t! cat='c' id='5' place=1 enclosed;" },
        { FLOW("f", "1", "2", "1", ""), "0 f! cat='c' id='5' place=1;" },
        { FLOW("f", "1", "2", "1", ",\"bp\":\"e\""), "0 f! cat='c' id='5' place=1 enclosed;" },
        { FLOW("f", "1", "2", "1", "") "," X("1", "2", ""), "1 a ;0 f! cat='c' id='5' place=1;" },
        /* PyTorch: the process and thread of a flow's end are those of a stream's activity, in any order of the file */
        { ON_DEVICE("kernel", "1", "\"device\":3") "," FLOW("f", "0", "7", "1", ""),
          "0 k cat='kernel' device:3;2 f! cat='c' id='5' place=0;" },
        { FLOW("f", "0", "7", "1", "") "," ON_DEVICE("kernel", "1", "\"device\":3"),
          "2 k cat='kernel' device:3;0 f! cat='c' id='5' place=2;" },
        { ON_DEVICE("mtia_insight", "1", "\"k\":3") "," FLOW("f", "0", "7", "1", ""),
          "0 k cat='mtia_insight' k:3;2 f! cat='c' id='5' place=0;" },
        { FLOW("f", "0", "8", "1", "") "," ON_DEVICE("kernel", "1", "\"device\":3"),
          "2 k cat='kernel' device:3;0 f! cat='c' id='5' place=1;" },
        /* What is drawn on a stream but lies on a thread */
        { ON_DEVICE("kernel", "1", "\"device\":3") "," ON_DEVICE("cuda_sync", "2", "\"k\":1") "," FLOW("f", "0", "7",
                                                                                                       "2", ""),
          "0 k cat='kernel' device:3;1 k cat='cuda_sync' k:1;2 f! cat='c' id='5' place=1;" },
    };
    char json[2048];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(json, sizeof(json), "[%s]", rows[i].events);
        assert_arguments(json, rows[i].expected);
    }
}

static void long_arguments_are_tallied_and_kept_as_far_as_they_fit(void **state)
{
    static char json[200 << 10];
    struct opened o = { .fd = -1 };
    size_t used = (size_t)snprintf(json, sizeof(json), "[" X("1", "1", ",\"args\":{\"k\":["));

    (void)state;
    used = (size_t)(strrchr(json, '[') + 1 - json);
    for (int i = 0; i < 90000; i++, used += 2)
        memcpy(json + used, "1,", 2);
    (void)snprintf(json + used, sizeof(json) - used, "1]}}]");
    assert_int_equal(open_with_arguments(&o, json), TM_OK);
    assert_int_equal(o.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    assert_int_equal(tm_trace_events(&o.host.trace), 1);
    close_trace(&o);
}

#define WITH_NUL                                                                                                       \
    EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"long\":\"0123456789012345678901234567890123\",\"a\":\"x\\u0000y\"}")

/* What is not written is told, once for each event. */
static void what_is_left_out_is_tallied(void **state)
{
    static const struct {
        enum tm_tally tally;
        uint64_t count;
        const char *events;
    } rows[] = {
        { TM_TALLY_UNWRITTEN_MEMBER, 0, EVENT("X", ",\"ts\":1,\"dur\":1,\"tts\":1") },
        { TM_TALLY_UNWRITTEN_MEMBER, 1, EVENT("C", ",\"ts\":1,\"tts\":1,\"id\":2,\"args\":{\"v\":1}") },
        { TM_TALLY_UNWRITTEN_MEMBER, 0, EVENT("C", ",\"ts\":1,\"id\":2,\"args\":{\"v\":1}") },
        { TM_TALLY_UNWRITTEN_MEMBER, 1, EVENT("s", ",\"ts\":1,\"id\":2,\"cname\":\"x\"") },
        { TM_TALLY_UNWRITTEN_MEMBER, 1, EVENT("s", ",\"ts\":1,\"id\":2,\"args\":{\"v\":1}") },
        { TM_TALLY_UNWRITTEN_MEMBER, 0, EVENT("s", ",\"ts\":1,\"id\":2,\"args\":{}") },
        { TM_TALLY_NUL_IN_ARGUMENTS, 1,
          EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"a\":\"x\\u0000y\",\"b\":\"\\u0000\"}") },
        { TM_TALLY_NUL_IN_ARGUMENTS, 1, EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"a\\u0000\":1}") },
        { TM_TALLY_NUL_IN_ARGUMENTS, 0, EVENT("X", ",\"ts\":1,\"dur\":1,\"args\":{\"a\":\"x\\u0001y\\\\u0000\"}") },
        /* also where it stands so in the event before */
        { TM_TALLY_NUL_IN_ARGUMENTS, 3, WITH_NUL "," WITH_NUL "," WITH_NUL },
    };
    char json[2048];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct opened o = { .fd = -1 };

        (void)snprintf(json, sizeof(json), "[%s,%s]", X("1", "1", ""), rows[i].events);
        assert_int_equal(open_with_arguments(&o, json), TM_OK);
        if (o.run.tallies.count[rows[i].tally] != rows[i].count)
            fail_msg("row %zu: %" PRIu64, i, o.run.tallies.count[rows[i].tally]);
        close_trace(&o);
    }
}

/* Nothing is kept that nobody asked for. */
static void arguments_cost_nothing_where_they_are_not_kept(void **state)
{
    static const char *const json = "[" X("1", "2", ",\"args\":{\"a key\":1}") "," FLOW("f", "1", "3", "1", "") "]";
    struct opened o = { .fd = -1 };
    uint64_t names;

    (void)state;
    assert_int_equal(open_trace(&o, json), TM_OK);
    names = tm_names_count(o.names);
    assert_int_equal(tm_rows_count(o.host.trace.tracks), 2);
    close_trace(&o);
    o = (struct opened){ .fd = -1 };
    assert_int_equal(open_with_arguments(&o, json), TM_OK);
    assert_int_equal(tm_names_count(o.names), names + 2); /* the key, and a name for the thread of the flow */
    assert_int_equal(tm_rows_count(o.host.trace.tracks), 3);
    close_trace(&o);
}

/* --- whose tracks they are --- */

#define SORT_INDEX(what, tid, index)                                                                                   \
    "{\"ph\":\"M\",\"pid\":1" tid ",\"name\":\"" what "_sort_index\",\"args\":{\"sort_index\":" index "}}"

static void tracks_know_their_process_and_order(void **state)
{
    static const char *const json =
        "[" SORT_INDEX("process", "", "5") "," SORT_INDEX("process", "", "-3") "," SORT_INDEX("thread", ",\"tid\":2", "9") "," X(
            "1", "2",
            "") "," X("\"p\"", "\"t\"",
                      "") "," X("1", "4",
                                "") "," EVENT("C",
                                              ",\"ts\":1") "," EVENT("b",
                                                                     ",\"ts\":1,\"id\":1") "," EVENT("i",
                                                                                                     ",\"ts\":1,\"s\":"
                                                                                                     "\"p\"") "," EVENT("s",
                                                                                                                        ","
                                                                                                                        "\""
                                                                                                                        "ts"
                                                                                                                        "\""
                                                                                                                        ":1"
                                                                                                                        ","
                                                                                                                        "\""
                                                                                                                        "id"
                                                                                                                        "\""
                                                                                                                        ":"
                                                                                                                        "1") "," KERNEL("2") "," KERNEL("1") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":8,\"ts\":1,\"dur\":1,"
                                                                                                                                                             "\"args\":{\"device\":2}}]";
    static const struct {
        int64_t process_id, id, process_order, order;
        uint32_t process;
        uint8_t sort;
    } rows[] = {
        { 1, 2, -3, 9, 0, TM_TRACK_THREAD },   { 0, 0, 0, 0, 1, TM_TRACK_THREAD }, { 1, 4, -3, 0, 0, TM_TRACK_THREAD },
        { 1, 0, -3, 0, 0, TM_TRACK_COUNTERS }, { 1, 0, -3, 0, 0, TM_TRACK_ASYNC }, { 1, 0, -3, 0, 0, TM_TRACK_LOOSE },
        { 1, 0, -3, 0, 0, TM_TRACK_FLOWS },    { 0, 7, 0, 0, 3, TM_TRACK_THREAD }, { 0, 7, 0, 0, 4, TM_TRACK_THREAD },
        { 1, 8, -3, 0, 3, TM_TRACK_THREAD },
    };
    struct opened o = { .fd = -1 };

    (void)state;
    assert_int_equal(open_trace(&o, json), TM_OK);
    assert_int_equal(tm_rows_count(o.host.trace.tracks), sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_track *const track = tm_rows_at(o.host.trace.tracks, i);

        assert_int_equal(track->process_id, rows[i].process_id);
        assert_int_equal(track->id, rows[i].id);
        assert_int_equal(track->process_order, rows[i].process_order);
        assert_int_equal(track->order, rows[i].order);
        assert_int_equal(track->process, rows[i].process);
        assert_int_equal(track->sort, rows[i].sort);
    }
    close_trace(&o);
}

static void a_trace_without_events_is_refused(void **state)
{
    static const char *const traces[] = {
        "{\"traceEvents\":[]}",
        "{\"traceEvents\":[{}]}",
        "{\"traceEvents\":[" META("process_name", "1", "", "p") "]}",
        "{\"traceEvents\":[{\"ph\":",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        struct opened o = { .fd = -1 };

        assert_int_equal(open_trace(&o, traces[i]), TM_ERR_INPUT);
        assert_non_null(strstr(o.run.error.what, i < 3 ? "no events" : "damaged"));
        assert_true(o.run.error.hint[0] != '\0');
        close_trace(&o);
    }
}

/* The events of a long document may lie behind everything that its kind is told by. */
static void events_may_come_after_a_long_head(void **state)
{
    static char json[TM_KIND_HEAD_BYTES + 4096];
    struct opened o = { .fd = -1 };

    (void)state;
    (void)snprintf(json, sizeof(json), "{\"other\":\"%*s\",\"traceEvents\":[%s]}", TM_KIND_HEAD_BYTES, "",
                   X("1", "1", ""));
    assert_int_equal(open_trace(&o, json), TM_OK);
    assert_int_equal(tm_trace_events(&o.host.trace), 1);
    close_trace(&o);
    (void)snprintf(json, sizeof(json), "{\"other\":\"%*s\"}", TM_KIND_HEAD_BYTES, "");
    assert_int_equal(open_trace(&o, json), TM_ERR_INPUT);
    assert_non_null(strstr(o.run.error.what, "no traceEvents member"));
    close_trace(&o);
}

static void what_came_before_damage_counts(void **state)
{
    struct opened o = { .fd = -1 };

    (void)state;
    assert_int_equal(open_trace(&o, "{\"traceEvents\":[" X("1", "1", "") ",{\"ph\":\"X\",}]}"), TM_OK);
    assert_true(o.host.trace.partial);
    assert_non_null(strstr(o.host.trace.problem, "(byte "));
    assert_int_equal(tm_trace_events(&o.host.trace), 1);
    close_trace(&o);
}

static const char *const wide = "{\"traceEvents\":[" EVENT("B", ",\"ts\":1") "," EVENT("E", ",\"ts\":2") "," EVENT(
    "s", ",\"ts\":1,\"id\":1") "," X("1", "3",
                                     ",\"cat\":\"kernel\",\"args\":{\"device\":1,\"grid\":[1,2,3],\"Collective "
                                     "name\":\"allreduce\"}") "," META("process_name", "1", "", "p") "]}";

static tm_status take_nothing(void *to, const struct tm_event *event)
{
    (void)to;
    (void)event;
    return TM_OK;
}

static tm_status read_wide(struct tm_run *run)
{
    struct opened o = { .fd = -1 };
    tm_status st;

    o.run.budget.refuse_in = run->budget.refuse_in;
    st = open_with_arguments(&o, wide);
    if (st == TM_OK)
        st = tm_host_events(&o.host, take_nothing, NULL);
    run->error = o.run.error;
    run->budget.refuse_in = o.run.budget.refuse_in;
    close_trace(&o);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(read_wide);
}

enum { KINDS = 5 };

static void put_alike(FILE *to, int kind, int number, int other)
{
    switch (kind) {
    case 0:
        (void)fprintf(to, "\"correlation\":%d,\"stream\":7,\"note\":\"a text that becomes a name\"", number);
        break;
    case 1:
        (void)fprintf(to, "\"run_id\":%d,\"device_ordinal\":0", number);
        break;
    case 2:
        (void)fprintf(to, "\"correlation\":%d,\"bytes\":%d", number, other);
        break;
    case 3:
        (void)fprintf(to, "\"left\":%d,\"right\":7", number);
        break;
    default:
        (void)fprintf(to, "\"text\":\"number %d\"", number);
    }
}

/* Events that are alike come by templates, whatever of them varies: the id that joins them, an id that becomes another one
 * when the names of planes are known, numbers that mean nothing, a text, another member. */
static void arguments_of_events_that_are_alike_are_their_own(void **state)
{
    enum { EVENTS = 400 };
    char *json = NULL;
    size_t length;
    FILE *const to = open_memstream(&json, &length);
    struct opened o = { .fd = -1 };
    int seen = 0, templates = 0;

    (void)state;
    assert_non_null(to);
    (void)fputs(
        "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}}", to);
    for (int i = 0; i < EVENTS; i++) {
        (void)fprintf(to, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"name\":\"event %d\",\"args\":{",
                      10 * i, i % KINDS);
        put_alike(to, i % KINDS, i + 7, 3 * i);
        (void)fputs("}}", to);
    }
    (void)fputs("]}", to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(open_with_arguments(&o, json), TM_OK);
    for (uint64_t track = 0; track < tm_rows_count(o.host.trace.tracks); track++) {
        const struct tm_source_type *const type = o.host.source->type;
        struct tm_cursor *const cursor = type->open(o.host.source, track, 4096);

        for (;; seen++) {
            const int kind = seen % KINDS;
            uint8_t whole[TM_TEMPLATE_WHOLE_MOST];
            char expected[64], got[64] = "";
            struct tm_argument first, second;
            struct tm_raw_record raw;
            bool more;

            assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
            if (!more)
                break;
            assert_int_equal(type->own(cursor, &raw), TM_OK);
            struct tm_arguments list = raw.own;

            if (raw.record.flags & TM_FLAG_TEMPLATE)
                list = tm_arguments_whole(o.host.trace.templates, raw.record.common, raw.own, raw.record.correlation,
                                          whole);
            templates += (raw.record.flags & TM_FLAG_TEMPLATE) != 0;
            assert_true(tm_arguments_next(&list, true, &first));
            if (kind == 4) {
                (void)snprintf(expected, sizeof(expected), "number %d", seen + 7);
                memcpy(got, first.text, first.length);
                assert_string_equal(got, expected);
                continue;
            }
            assert_int_equal(first.number, seen + 7);
            assert_true(tm_arguments_next(&list, true, &second));
            assert_int_equal(second.number, kind == 0 || kind == 3 ? 7 : kind == 1 ? 0 : 3 * seen);
        }
        type->close(cursor);
    }
    assert_int_equal(seen, EVENTS);
    assert_true(templates > EVENTS / 2);
    close_trace(&o);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_of_events_that_are_alike_are_their_own),
        cmocka_unit_test(phases_become_records),
        cmocka_unit_test(threads_are_told_apart_by_process_and_number),
        cmocka_unit_test(processes_are_called_by_name_label_or_id),
        cmocka_unit_test(devices_stand_in_the_order_of_their_numbers),
        cmocka_unit_test(names_may_come_last),
        cmocka_unit_test(beside_planes_other_processes_are_no_hosts),
        cmocka_unit_test(pytorch_is_told_by_its_categories),
        cmocka_unit_test(epochs_keep_their_fractions),
        cmocka_unit_test(oddities_are_tallied_by_name),
        cmocka_unit_test(times_are_counted_from_where_most_events_are),
        cmocka_unit_test(the_execution_of_a_tpu_bears_its_device),
        cmocka_unit_test(events_come_with_their_arguments),
        cmocka_unit_test(flows_tell_where_they_lie),
        cmocka_unit_test(long_arguments_are_tallied_and_kept_as_far_as_they_fit),
        cmocka_unit_test(what_is_left_out_is_tallied),
        cmocka_unit_test(arguments_cost_nothing_where_they_are_not_kept),
        cmocka_unit_test(tracks_know_their_process_and_order),
        cmocka_unit_test(a_trace_without_events_is_refused),
        cmocka_unit_test(events_may_come_after_a_long_head),
        cmocka_unit_test(what_came_before_damage_counts),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("chrome_scan", tests, NULL, NULL);
}
