/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/formats.h"

#include <stdlib.h>
#include <time.h>

#include "stages/input/xspace/xspace_reader.h"
#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

enum { BUFFER = 64 << 10, LEAST_BUFFER = 4 << 10 };
static const int64_t ps_per_ns = 1000, day_ps = (int64_t)86400 * 1000000000000;

/* --- a profile with something of everything --- */

static void put_gpu(struct xb_space *space)
{
    struct xb_plane *const gpu = xb_plane(space, "/device:GPU:0");
    struct xb_line *line;

    xb_plane_text(gpu, "device_vendor", "Nvidia");
    xb_plane_text(gpu, "gpu_device_name", "H100");
    xb_plane_number(gpu, "core_count", 132);
    xb_plane_number(gpu, "memory_size", UINT64_C(85899345920));
    xb_plane_number(gpu, "compute_cap_major", 9);
    line = xb_line(gpu, 13, "Stream #13(Compute)", 7);
    xb_event(line, "fusion_1", 1000, 500);
    xb_int(line, "correlation_id", 41);
    xb_ref(line, "kernel_details", "regs:32 static_shared:1024 dynamic_shared:0 grid:8,2,1 block:256,1,1 occ_pct:50");
    xb_ref(line, "hlo_op", "fusion.1");
    xb_ref(line, "hlo_module", "jit_step");
    xb_int(line, "program_id", 77);
    xb_event(line, "MemcpyH2D", 2000, 250);
    xb_uint(line, "correlation_id", 42);
    xb_str(line, "memcpy_details", "kind_src:pageable kind_dst:device size:4096 dest:0 async:1");
    xb_event(line, "fusion_1", 3000, 500);
    xb_int(line, "correlation_id", 43);
    xb_ref(line, "kernel_details", "regs:32 static_shared:1024 dynamic_shared:0 grid:8,2,1 block:256,1,1 occ_pct:50");
    xb_str(line, "hlo_op", "fusion.1");
    xb_real(line, "theoretical_occupancy_pct", 12.5);
}

static void put_tpu(struct xb_space *space)
{
    struct xb_plane *const tpu = xb_plane(space, "/device:TPU:3");
    struct xb_line *line = xb_line(tpu, 2, "XLA Modules", 7);

    xb_event(line, "jit_step(9)", 0, 9000);
    xb_int(line, "run_id", 5);
    line = xb_line(tpu, 3, "XLA Ops", 7);
    xb_event(line, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 100, 200);
    xb_name_text(tpu, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", "hlo_category", "loop fusion");
    xb_name_number(tpu, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", "flops", 4000);
    xb_name_number(tpu, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", "bytes_accessed", 96);
    xb_display_name(tpu, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", "add.1");
}

static void put_host(struct xb_space *space)
{
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *line = xb_line(host, -4611686018427387904, "python", 5);

    xb_event(line, "train", 0, 20000);
    xb_int(line, "_r", 1);
    xb_int(line, "step_num", 12);
    xb_event(line, "$model.py:3 step", 10, 9000);
    xb_event(line, "cuLaunchKernel", 20, 30);
    xb_int(line, "correlation_id", 41);
    line = xb_line(host, 8, "allocator", 5);
    xb_event(line, "MemoryAllocation", 30, 0);
    xb_str(line, "allocator_name", "GPU_0_bfc");
    xb_int(line, "bytes_allocated", 1 << 20);
    xb_int(line, "bytes_available", (int64_t)1 << 40);
    xb_uint(line, "addr", UINT64_C(0xffffabcd00001234));
    xb_real(line, "fragmentation", 0.25);
    xb_ref(line, "shape", "f32[256]");
}

static void put_environment(struct xb_space *space)
{
    struct xb_plane *const task = xb_plane(space, "Task Environment");
    struct xb_plane *const metadata = xb_plane(space, "/host:metadata");

    xb_plane_number(task, "profile_start_time", UINT64_C(1767225600000000000));
    xb_plane_number(task, "profile_stop_time", UINT64_C(1767225601000000000));
    xb_plane_text(metadata, "jax_version", "0.10.2");
    xb_error(space, "an error");
    xb_warning(space, "Detected GPU events dropped");
    xb_hostname(space, "vm-1");
}

static struct xb_space *sample(void)
{
    struct xb_space *const space = xb_space_new();

    put_gpu(space);
    put_tpu(space);
    put_host(space);
    put_environment(space);
    return space;
}

static const char sample_text[] =
    "device host/gpu:0 '/device:GPU:0' model 'H100' vendor 'Nvidia' cores 132 bandwidth 0 memory 85899345920 9.0 0\n"
    "device host/tpu:3 '/device:TPU:3' model '' vendor '' cores 0 bandwidth 0 memory 0 0.0 0\n"
    "host 'vm-1' jax '0.10.2' 1767225600000000000 1767225601000000000 events 9 partial 0\n"
    "line 'Stream #13(Compute)' of '/device:GPU:0' id 13 device 0 side 2 kind 2 events 3\n"
    "  8000 +500 'fusion_1' correlation 29 flags 19 kind 0 grid=8,2,1 block=256,1,1 registers=32 occupancy=50000 "
    "shared=1024 bytes=0 hlo_op='fusion.1' module='jit_step' program=77 flops=0 accessed=0 graph=0 ordinal=-1 "
    "copy=0,0,0,0 kernel=1 tpu=0 level=8\n"
    "  9000 +250 'MemcpyH2D' correlation 2a flags 12 kind 0 grid=0,0,0 block=0,0,0 registers=0 occupancy=0 shared=0 "
    "bytes=4096 program=0 flops=0 accessed=0 graph=0 ordinal=-1 copy=1,1,0,1 kernel=0 tpu=0 level=8\n"
    "  10000 +500 'fusion_1' correlation 2b flags 19 kind 0 grid=8,2,1 block=256,1,1 registers=32 occupancy=50000 "
    "shared=1024 bytes=0 hlo_op='fusion.1' program=0 flops=0 accessed=0 graph=0 ordinal=-1 copy=0,0,0,0 kernel=1 "
    "tpu=0 level=8\n"
    "line 'XLA Modules' of '/device:TPU:3' id 2 device 1 side 2 kind 5 events 1\n"
    "  7000 +9000 'jit_step(9)' correlation RUNKEY flags 100 kind 0 CONFIG0\n"
    "line 'XLA Ops' of '/device:TPU:3' id 3 device 1 side 2 kind 3 events 1\n"
    "  7100 +200 'add.1' correlation 0 flags 0 kind 0 grid=0,0,0 block=0,0,0 registers=0 occupancy=0 shared=0 bytes=0 "
    "category='loop fusion' program=0 flops=4000 accessed=96 graph=0 ordinal=-1 copy=0,0,0,0 kernel=0 tpu=0 level=0\n"
    "line 'python' of '/host:CPU' id -4611686018427387904 device -1 side 1 kind 0 events 3\n"
    "  5000 +20000 'train' correlation 0 flags 20 kind 0 number=12\n"
    "  5010 +9000 '$model.py:3 step' correlation 0 flags 0 kind 0\n"
    "  5020 +30 'cuLaunchKernel' correlation 29 flags 10 kind 0\n"
    "line 'allocator' of '/host:CPU' id 8 device -1 side 1 kind 0 events 1\n"
    "  5030 +0 'MemoryAllocation' correlation 0 flags 0 kind 1 has=c6 "
    "0,1048576,1099511627776,0,0,0,ffffabcd00001234,0.25 "
    "allocator='GPU_0_bfc' shape='f32[256]'\n";

/* The text of all that was read. */
static char *text_of(struct xspace_run *x, size_t buffer_bytes)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);

    assert_non_null(to);
    xspace_print(x, buffer_bytes, to);
    assert_int_equal(fclose(to), 0);
    return text;
}

/* What came out is what is expected, line by line; lines may come in another order. */
static void assert_has_lines(const char *text, const char *expected)
{
    while (*expected) {
        const char *const end = strchr(expected, '\n') + 1;
        char line[2000];

        assert_true((size_t)(end - expected) < sizeof(line));
        (void)snprintf(line, sizeof(line), "%.*s", (int)(end - expected), expected);
        if (!strstr(line, "RUNKEY") && !strstr(text, line))
            fail_msg("missing:\n%sin:\n%s", line, text);
        expected = end;
    }
}

static void records_are_what_the_bytes_say(void **state)
{
    struct xb_space *const space = sample();
    struct xspace_run x;
    char key[80], *text;

    (void)state;
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    text = text_of(&x, BUFFER);
    assert_has_lines(text, sample_text);
    (void)snprintf(key, sizeof(key), "'jit_step(9)' correlation %llx flags 100", (unsigned long long)tm_run_key(5, 3));
    assert_non_null(strstr(text, key));
    assert_string_equal(x.warnings, "an error\nDetected GPU events dropped\n");
    assert_int_equal(x.run.tallies.count[TM_TALLY_PROFILER_WARNING], 2);
    assert_int_equal(x.run.tallies.count[TM_TALLY_UNKNOWN_FIELD], 0);
    assert_int_equal(x.run.tallies.count[TM_TALLY_BAD_FIELD], 0);
    free(text);
    xspace_close(&x);
    xb_space_free(space);
}

/* --- the same content in other bytes --- */

static void check_style(const struct xb_space *space, const struct xb_style *style, size_t buffer_bytes,
                        const char *expected)
{
    struct xspace_run x;
    char *text;

    assert_int_equal(xspace_scan_space(&x, space, style), TM_OK);
    text = text_of(&x, buffer_bytes);
    if (strcmp(text, expected) != 0)
        fail_msg("style {%llu %d %d %d %d %d %d %d}, buffer %zu:\n%s\ninstead of\n%s",
                 (unsigned long long)style->shuffle, style->metadata_first, style->names_last, style->keeps_zeros,
                 style->unknown_fields, style->groups, style->long_numbers, style->duplicates, buffer_bytes, text,
                 expected);
    assert_int_equal(x.run.tallies.count[TM_TALLY_BAD_FIELD], 0);
    assert_int_equal(x.run.tallies.count[TM_TALLY_UNKNOWN_FIELD] > 0, style->unknown_fields || style->groups);
    assert_int_equal(x.run.tallies.count[TM_TALLY_DUPLICATE_METADATA] > 0, style->duplicates);
    free(text);
    xspace_close(&x);
}

static void every_encoding_of_a_profile_gives_the_same_records(void **state)
{
    struct xb_space *const space = sample();
    struct xspace_run x;
    char *expected;

    (void)state;
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    expected = text_of(&x, BUFFER);
    xspace_close(&x);
    for (unsigned bits = 0; bits < 1 << 7; bits++) {
        const struct xb_style style = { .metadata_first = bits & 1,
                                        .names_last = bits & 2,
                                        .keeps_zeros = bits & 4,
                                        .unknown_fields = bits & 8,
                                        .groups = bits & 16,
                                        .long_numbers = bits & 32,
                                        .duplicates = bits & 64 };

        check_style(space, &style, bits % 3 ? BUFFER : LEAST_BUFFER, expected);
    }
    free(expected);
    xb_space_free(space);
}

/* One device only: devices are numbered in the order of their planes. */
static void fields_in_any_order_give_the_same_records(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xspace_run x;
    char *expected;

    (void)state;
    put_tpu(space);
    put_host(space);
    put_environment(space);
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    expected = text_of(&x, BUFFER);
    xspace_close(&x);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const struct xb_style style = { .shuffle = seed,
                                        .keeps_zeros = seed & 1,
                                        .unknown_fields = seed & 2,
                                        .groups = seed & 4,
                                        .long_numbers = seed & 8,
                                        .duplicates = seed & 16 };

        check_style(space, &style, seed % 3 ? BUFFER : LEAST_BUFFER, expected);
    }
    free(expected);
    xb_space_free(space);
}

/* A line of a GPU is derived by its id, wherever the id stands. */
static void a_derived_line_is_told_by_an_id_behind_its_name(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const struct xb_style style = { .shuffle = seed };
        struct xb_space *const space = xb_space_new();
        struct xspace_run x;
        const struct tm_track *track;

        xb_event(xb_line(xb_plane(space, "/device:GPU:0"), 0xdeadbef0, "Stream #1", 0), "k", 1, 1);
        assert_int_equal(xspace_scan_space(&x, space, &style), TM_OK);
        track = tm_rows_at(x.host.trace.tracks, 0);
        assert_non_null(track);
        assert_int_equal(track->line, TM_LINE_DERIVED);
        xspace_close(&x);
        xb_space_free(space);
    }
}

/* --- single facts --- */

struct read_record {
    struct tm_record record;
    char name[64];
    int64_t number;
};

enum { READ_MOST = 64 };

/* The records of a line; returns how many. */
static size_t read_line(struct xspace_run *x, const char *name, size_t buffer_bytes, struct read_record *to)
{
    const struct tm_source_type *const type = x->host.source->type;
    struct tm_cursor *const cursor = type->open(x->host.source, xspace_line(x, name), buffer_bytes);
    size_t count = 0;
    bool more = true;

    assert_non_null(cursor);
    cursor->counts = true;
    while (more && count < READ_MOST) {
        struct tm_raw_record raw;

        assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
        if (!more)
            break;
        to[count].record = raw.record;
        to[count].number =
            raw.record.args_length == sizeof(struct tm_number) ? ((const struct tm_number *)raw.args)->value : 0;
        (void)snprintf(to[count].name, sizeof(to[count].name), "%s", xspace_text(x, raw.record.name));
        count++;
    }
    type->close(cursor);
    return count;
}

static void ids_of_any_size_and_sign_find_their_names(void **state)
{
    static const int64_t ids[] = {
        0, 1, 511, 512, INT64_MAX, INT64_MIN, -1, -512, (int64_t)1 << 40, ((int64_t)1 << 40) - 1, (int64_t)1 << 62
    };
    enum { IDS = sizeof(ids) / sizeof(ids[0]) };

    (void)state;
    for (unsigned planes = 1; planes <= 2; planes++) {
        struct xb_space *const space = xb_space_new();
        struct read_record records[READ_MOST];
        struct xspace_run x;

        for (unsigned p = 0; p < planes; p++) {
            struct xb_plane *const plane = xb_plane(space, "/host:CPU");
            char name[64];
            struct xb_line *line;

            (void)snprintf(name, sizeof(name), "thread %u", p);
            line = xb_line(plane, 1, name, 0);
            for (size_t i = 0; i < IDS; i++) {
                (void)snprintf(name, sizeof(name), "name %zu of %u", i, p);
                xb_event_id(plane, name, ids[i]);
                xb_event(line, name, 10 * (int64_t)i, 1);
                (void)snprintf(name, sizeof(name), "module_name %zu", i);
                xb_stat_id(plane, i == 3 ? "step_num" : name, ids[IDS - 1 - i]);
            }
            xb_int(line, "step_num", 34); /* of the last event */
        }
        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        for (unsigned p = 0; p < planes; p++) {
            char name[64];

            (void)snprintf(name, sizeof(name), "thread %u", p);
            assert_int_equal(read_line(&x, name, BUFFER, records), IDS);
            for (size_t i = 0; i < IDS; i++) {
                (void)snprintf(name, sizeof(name), "name %zu of %u", i, p);
                assert_string_equal(records[i].name, name);
            }
            assert_int_equal(records[IDS - 1].number, 34);
            assert_int_equal(records[IDS - 1].record.flags, TM_FLAG_STEP);
        }
        assert_int_equal(x.run.tallies.count[TM_TALLY_NO_METADATA], 0);
        xspace_close(&x);
        xb_space_free(space);
    }
}

static void an_id_without_an_entry_gives_an_event_without_a_name(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct read_record records[READ_MOST];
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
    struct xspace_run x;

    (void)state;
    xb_event(line, "known", 5, 1);
    xb_event_of_id(line, 99, 6, 1);
    xb_event_of_id(line, INT64_MIN, 7, 1);
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    assert_int_equal(read_line(&x, "thread", BUFFER, records), 3);
    assert_string_equal(records[1].name, "");
    assert_string_equal(records[2].name, "");
    assert_int_equal(records[2].record.start_ps, 7);
    assert_int_equal(x.run.tallies.count[TM_TALLY_NO_METADATA], 2);
    xspace_close(&x);
    xb_space_free(space);
}

static void aggregated_events_are_tallied(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct read_record records[READ_MOST];
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
    struct xspace_run x;

    (void)state;
    xb_event(line, "one", 5, 1);
    xb_event(line, "many", 0, 100);
    xb_occurrences(line, 17);
    xb_event(line, "two", 9, 1);
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    assert_int_equal(read_line(&x, "thread", BUFFER, records), 2);
    assert_string_equal(records[1].name, "two");
    assert_int_equal(x.run.tallies.count[TM_TALLY_AGGREGATED_EVENT], 1);
    assert_int_equal(x.run.events_read, 3);
    xspace_close(&x);
    xb_space_free(space);
}

/* A writer may give a line, and its plane, in parts: they are one timeline, each with the names of its plane. */
static void parts_of_a_line_are_one_timeline(void **state)
{
    enum { PARTS = 4 };
    struct xb_space *const space = xb_space_new();
    struct read_record records[READ_MOST];
    struct xspace_run x;
    char name[32];

    (void)state;
    for (int i = 0; i < PARTS; i++) {
        struct xb_plane *const plane = xb_plane(space, "/host:CPU");
        struct xb_line *line = xb_line(plane, 1, "thread", i); /* counts from a time of its own */

        (void)snprintf(name, sizeof(name), "event %d", i);
        xb_event(line, name, 10 + i, 1);
        (void)xb_line(plane, 1, "thread", 900); /* nothing in it */
        xb_event(xb_line(plane, 2, "thread", 0), "of another id", 5, 1);
        xb_event(xb_line(plane, 1, "other", 0), "of another name", 5, 1);
    }
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    assert_int_equal(tm_rows_count(x.host.trace.tracks), 3);
    assert_int_equal(read_line(&x, "thread", LEAST_BUFFER, records), PARTS);
    for (int i = 0; i < PARTS; i++) {
        (void)snprintf(name, sizeof(name), "event %d", i);
        assert_string_equal(records[i].name, name);
        assert_int_equal(records[i].record.start_ps, 1000 * i + 10 + i);
        assert_int_equal(records[i].record.track, 0);
    }
    assert_int_equal(read_line(&x, "other", LEAST_BUFFER, records), PARTS);
    xspace_close(&x);
    xb_space_free(space);
}

/* Start and number of occurrences exclude each other: the one that is written last holds. */
static void of_start_and_occurrences_the_last_one_holds(void **state)
{
    static const struct {
        const char *event;
        bool is_aggregated;
    } rows[] = {
        { "\x28\x05\x10\x07\x18\x02", false },
        { "\x10\x07\x28\x05\x18\x02", true },
        { "\x28\x05\x10\x07\x28\x05", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct xb_bytes line = { .length = 0 }, plane = { .length = 0 }, bytes = { .length = 0 };
        struct read_record records[READ_MOST];
        struct xspace_run x;

        xb_chunk(&line, 4, rows[i].event, 6);
        xb_chunk(&plane, 2, "/host:CPU", 9);
        xb_chunk(&plane, 3, line.at, line.length);
        xb_chunk(&bytes, 1, plane.at, plane.length);
        assert_int_equal(xspace_scan(&x, &bytes, TM_MEMORY_LEAST_MIB), TM_OK);
        assert_int_equal(read_line(&x, "", BUFFER, records), !rows[i].is_aggregated);
        if (!rows[i].is_aggregated)
            assert_int_equal(records[0].record.start_ps, 7);
        assert_int_equal(x.run.tallies.count[TM_TALLY_AGGREGATED_EVENT], rows[i].is_aggregated);
        xspace_close(&x);
        xb_free(&line);
        xb_free(&plane);
        xb_free(&bytes);
    }
}

/* Times of one event, on a line with a time of its own. */
struct timed {
    const char *what;
    int64_t line_ns, offset_ps, dur_ps;
    bool is_kept;
    int64_t start_ps, kept_dur_ps;
    enum tm_tally tally; /* TM_TALLY_COUNT = none */
};

static void times_are_kept_or_tallied(void **state)
{
    const struct timed rows[] = {
        { "a plain one", 5, 7, 3, true, 5007, 3, TM_TALLY_COUNT },
        { "a negative offset behind the line's time", 5, -2000, 3, true, 3000, 3, TM_TALLY_COUNT },
        { "a start before the profile", 5, -9000, 3, true, -4000, 3, TM_TALLY_NEGATIVE_START },
        { "a negative line", -5, 7, 3, true, -4993, 3, TM_TALLY_NEGATIVE_START },
        { "a negative duration", 5, 7, -3, true, 5007, 0, TM_TALLY_NEGATIVE_DURATION },
        { "the most negative duration", 0, 7, INT64_MIN, true, 7, 0, TM_TALLY_NEGATIVE_DURATION },
        { "99 days", 0, 99 * day_ps, 3, true, 99 * day_ps, 3, TM_TALLY_COUNT },
        { "101 days", 0, 101 * day_ps, 3, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "up to 99 days", 0, 7, 99 * day_ps, true, 7, 99 * day_ps, TM_TALLY_COUNT },
        { "up to 101 days", 0, 7, 101 * day_ps, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "101 days before", 0, -101 * day_ps, 3, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "a sum past 64 bits", 9000000000000000, INT64_MAX, 3, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "an end past 64 bits", 5, 7, INT64_MAX, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "the largest offset", 0, INT64_MAX, 0, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "the smallest offset", 0, INT64_MIN, 0, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
        { "the smallest line", INT64_MIN, 0, 0, false, 0, 0, TM_TALLY_CLOCK_OUTLIER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct xb_space *const space = xb_space_new();
        struct read_record records[READ_MOST];
        struct xspace_run x;
        size_t count;

        xb_event(xb_line(xb_plane(space, "/host:CPU"), 1, "thread", rows[i].line_ns), "e", rows[i].offset_ps,
                 rows[i].dur_ps);
        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        count = read_line(&x, "thread", BUFFER, records);
        if (count != rows[i].is_kept || (count && (records[0].record.start_ps != rows[i].start_ps ||
                                                   records[0].record.dur_ps != rows[i].kept_dur_ps)))
            fail_msg("%s: wrong", rows[i].what);
        for (int t = 0; t < TM_TALLY_COUNT; t++)
            if (x.run.tallies.count[t] != (t == (int)rows[i].tally))
                fail_msg("%s: tally %s is %llu", rows[i].what, tm_tally_info[t].name,
                         (unsigned long long)x.run.tallies.count[t]);
        xspace_close(&x);
        xb_space_free(space);
    }
}

/* Whatever is kept lies so near that the distance of any two times fits in 64 bits. */
static void distances_of_kept_times_fit(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
    struct read_record records[READ_MOST];
    struct xspace_run x;
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN, distance_ps;
    size_t count;

    (void)state;
    for (int64_t days = -120; days <= 120; days += 5)
        xb_event(line, "e", days < -106 || days > 106 ? 0 : days * day_ps, 1);
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    count = read_line(&x, "thread", BUFFER, records);
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        const int64_t start_ps = records[i].record.start_ps, end_ps = start_ps + records[i].record.dur_ps;

        first_ps = start_ps < first_ps ? start_ps : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
    }
    assert_false(__builtin_sub_overflow(last_ps, first_ps, &distance_ps));
    xspace_close(&x);
    xb_space_free(space);
}

/* --- files whose lines count from the epoch --- */

static struct xb_space *timed_space(uint64_t profile_start_ns, int64_t first_ns, int64_t second_ns)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");

    xb_event(xb_line(host, 1, "first", first_ns), "a", 500, 1);
    xb_event(xb_line(host, 2, "second", second_ns), "b", 0, 1);
    if (profile_start_ns)
        xb_plane_number(xb_plane(space, "Task Environment"), "profile_start_time", profile_start_ns);
    return space;
}

static void check_times(const char *what, struct xb_space *space, int64_t first_ps, int64_t second_ps)
{
    struct read_record records[READ_MOST];
    struct xspace_run x;

    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    if (read_line(&x, "first", BUFFER, records) != 1 || records[0].record.start_ps != first_ps)
        fail_msg("%s: the first line is at %lld", what, (long long)records[0].record.start_ps);
    if (read_line(&x, "second", BUFFER, records) != 1 || records[0].record.start_ps != second_ps)
        fail_msg("%s: the second line is at %lld", what, (long long)records[0].record.start_ps);
    assert_int_equal(x.run.tallies.count[TM_TALLY_CLOCK_OUTLIER], 0);
    xspace_close(&x);
    xb_space_free(space);
}

static void epoch_times_become_times_of_the_profile(void **state)
{
    static const int64_t epoch_ns = 1767225600123456789;

    (void)state;
    check_times("from the profile's start", timed_space((uint64_t)epoch_ns, epoch_ns + 40, epoch_ns + 3000),
                40 * ps_per_ns + 500, 3000 * ps_per_ns);
    check_times("from the whole second of the first line, where no start is known",
                timed_space(0, epoch_ns + 40, epoch_ns + 3000), (123456789 + 40) * ps_per_ns + 500,
                (123456789 + 3000) * ps_per_ns);
    check_times("normalized ones stay", timed_space((uint64_t)epoch_ns, 40, 3000), 40 * ps_per_ns + 500,
                3000 * ps_per_ns);
    check_times("of a mixed file, those after the start are moved",
                timed_space((uint64_t)epoch_ns, 40, epoch_ns + 3000), 40 * ps_per_ns + 500, 3000 * ps_per_ns);
    check_times("a line a little before the start moves along",
                timed_space((uint64_t)epoch_ns, epoch_ns - 40, epoch_ns + 3000), (123456789 - 40) * ps_per_ns + 500,
                (123456789 + 3000) * ps_per_ns);
    check_times("a start that is no epoch time", timed_space(1000000, 1000040, 1003000), 40 * ps_per_ns + 500,
                3000 * ps_per_ns);
}

/* --- long values --- */

/* An event of some size: what is read of it does not depend on the size of the buffer. */
static void a_long_event_is_read_alike_through_every_buffer(void **state)
{
    static const size_t sizes[] = { 10, 3000, 4000, 4090, 4096, 5000, 40000, 65000, 65536, 70000, 300000 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct xb_space *const space = xb_space_new();
        struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
        struct xspace_run x;
        struct read_record large[READ_MOST], small[READ_MOST];

        xb_event(line, "before", 1, 1);
        xb_event(line, "long", 2, 5);
        xb_int(line, "correlation_id", 7);
        xb_blob(line, "a long text", sizes[i]);
        xb_int(line, "step_num", 8);
        xb_event(line, "after", 3, 1);
        xb_int(line, "correlation_id", 9);
        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        assert_int_equal(read_line(&x, "thread", BUFFER, large), 3);
        x.run.tallies.count[TM_TALLY_LONG_VALUE] = 0;
        assert_int_equal(read_line(&x, "thread", LEAST_BUFFER, small), 3);
        for (int k = 0; k < 3; k++) {
            assert_memory_equal(&large[k].record, &small[k].record, sizeof(struct tm_record));
            assert_int_equal(large[k].number, small[k].number);
        }
        assert_int_equal(small[1].record.start_ps, 2);
        assert_int_equal(small[1].record.dur_ps, 5);
        assert_int_equal(small[1].record.correlation, 7);
        assert_string_equal(small[1].name, "long");
        assert_int_equal(small[2].record.correlation, 9);
        if (sizes[i] <= 65000)
            assert_int_equal(small[1].number, 8);
        assert_int_equal(x.run.tallies.count[TM_TALLY_LONG_VALUE], sizes[i] > 65500);
        xspace_close(&x);
        xb_space_free(space);
    }
}

static void a_long_name_is_whole_up_to_its_limit(void **state)
{
    const size_t sizes[] = { 1000, 300000, 1000000 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct xb_space *const space = xb_space_new();
        char *const name = malloc(sizes[i] + 1);
        struct read_record records[READ_MOST];
        struct tm_name info;
        struct xspace_run x;

        assert_non_null(name);
        memset(name, 'n', sizes[i]);
        name[sizes[i]] = '\0';
        xb_event(xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0), name, 1, 1);
        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        assert_int_equal(read_line(&x, "thread", LEAST_BUFFER, records), 1);
        info = tm_names_info(x.names, records[0].record.name);
        assert_true(info.length == sizes[i] || x.run.tallies.count[TM_TALLY_LONG_VALUE] == 1);
        assert_true(info.length >= 256 << 10 || info.length == sizes[i]);
        xspace_close(&x);
        xb_space_free(space);
        free(name);
    }
}

/* --- values of the wrong kind --- */

/* A statistic whose value has the number of a text, but is a number: bytes that are not there are not read. */
static void values_of_another_wire_type_are_no_values(void **state)
{
    static const char *const stats[] = { "kernel_details", "hlo_op", "correlation_id", "memcpy_details" };

    (void)state;
    for (uint32_t number = 2; number <= 7; number++)
        for (unsigned type = 0; type <= 5; type++) {
            struct xb_bytes stat = { .length = 0 }, event = { .length = 0 }, line = { .length = 0 };
            struct xb_bytes plane = { .length = 0 }, bytes = { .length = 0 };
            struct xspace_run x;
            struct read_record records[READ_MOST];
            static const uint64_t large = UINT64_C(0x7fffffffffffff0f);

            if (type == TM_WIRE_GROUP || type == TM_WIRE_END)
                continue;
            for (uint64_t id = 1; id <= 4; id++) {
                xb_number(&stat, 1, id);
                xb_key(&stat, number, type);
                if (type == TM_WIRE_VARINT)
                    xb_varint(&stat, large);
                else if (type == TM_WIRE_LEN)
                    xb_raw(&stat,
                           "\x03"
                           "abc",
                           4);
                else
                    xb_raw(&stat, &large, type == TM_WIRE_64 ? 8 : 4);
                xb_chunk(&event, 4, stat.at, stat.length);
                stat.length = 0;
            }
            xb_chunk(&line, 4, event.at, event.length);
            xb_chunk(&plane, 2, "/device:GPU:0", 13);
            xb_chunk(&plane, 3, line.at, line.length);
            for (uint64_t id = 1; id <= 4; id++) {
                struct xb_bytes value = { .length = 0 }, entry = { .length = 0 };

                xb_chunk(&value, 2, stats[id - 1], strlen(stats[id - 1]));
                xb_number(&entry, 1, id);
                xb_chunk(&entry, 2, value.at, value.length);
                xb_chunk(&plane, 5, entry.at, entry.length);
                xb_free(&value);
                xb_free(&entry);
            }
            xb_chunk(&bytes, 1, plane.at, plane.length);
            assert_int_equal(xspace_scan(&x, &bytes, TM_MEMORY_LEAST_MIB), TM_OK);
            assert_int_equal(read_line(&x, "", BUFFER, records), 1);
            xspace_close(&x);
            xb_free(&stat);
            xb_free(&event);
            xb_free(&line);
            xb_free(&plane);
            xb_free(&bytes);
        }
}

/* --- damage --- */

/* A small profile of which every byte can be tried. */
static struct xb_space *small_sample(void)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const gpu = xb_plane(space, "/device:GPU:0");
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *line = xb_line(gpu, 1, "Stream #1", 2);

    for (int i = 0; i < 3; i++) {
        xb_event(line, "k", 1000 * i, 300);
        xb_int(line, "correlation_id", 5 + i);
        xb_ref(line, "kernel_details", "grid:1,1,1 block:32,1,1");
    }
    line = xb_line(host, 2, "python", 1);
    xb_event(line, "step", 0, 3000);
    xb_int(line, "_r", 1);
    for (int i = 0; i < 3; i++) {
        xb_event(line, "cuLaunchKernel", 900 * i, 100);
        xb_int(line, "correlation_id", 5 + i);
    }
    return space;
}

enum { LINES = 2, EVENTS = 8 };

/* What the cut-free profile holds, to compare with. */
struct whole {
    struct read_record records[LINES][EVENTS];
    size_t count[LINES];
};

static const char *const line_names[LINES] = { "Stream #1", "python" };

static void read_whole(const struct xb_bytes *bytes, struct whole *whole)
{
    struct xspace_run x;

    assert_int_equal(xspace_scan(&x, bytes, TM_MEMORY_LEAST_MIB), TM_OK);
    for (int i = 0; i < LINES; i++)
        whole->count[i] = read_line(&x, line_names[i], BUFFER, whole->records[i]);
    assert_int_equal(whole->count[0], 3);
    assert_int_equal(whole->count[1], 4);
    xspace_close(&x);
}

/* The events of a cut profile are the first ones of the whole one.  Returns how many there are. */
static size_t compare_prefix(struct xspace_run *x, const struct whole *whole, bool has_metadata)
{
    const uint64_t lines = tm_rows_count(x->host.trace.tracks);
    const struct tm_source_type *const type = x->host.source->type;
    size_t total = 0;

    assert_true(lines <= LINES);
    for (uint64_t i = 0; i < lines; i++) {
        struct tm_cursor *const cursor = type->open(x->host.source, i, LEAST_BUFFER);
        size_t count = 0;

        assert_non_null(cursor);
        for (;;) {
            const struct tm_record *const expected = &whole->records[i][count].record;
            struct tm_raw_record raw;
            bool more;

            assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
            if (!more)
                break;
            assert_true(count < whole->count[i]);
            assert_int_equal(raw.record.start_ps, expected->start_ps);
            assert_int_equal(raw.record.dur_ps, expected->dur_ps);
            if (has_metadata) {
                assert_int_equal(raw.record.correlation, expected->correlation);
                assert_int_equal(raw.record.flags, expected->flags);
                assert_string_equal(xspace_text(x, raw.record.name), whole->records[i][count].name);
            }
            count++;
        }
        type->close(cursor);
        total += count;
    }
    return total;
}

static void a_profile_cut_at_any_byte_keeps_the_events_before_the_cut(void **state)
{
    struct xb_space *const space = small_sample();

    (void)state;
    for (int first = 0; first < 2; first++) {
        const struct xb_style style = { .metadata_first = first };
        struct xb_bytes bytes = { .length = 0 };
        struct whole whole;
        size_t before = 0, refused = 0;

        xb_encode(space, &style, &bytes);
        read_whole(&bytes, &whole);
        for (size_t cut = 1; cut < bytes.length; cut++) {
            const struct xb_bytes part = { .at = bytes.at, .length = cut };
            struct xspace_run x;
            tm_status st = xspace_scan(&x, &part, TM_MEMORY_LEAST_MIB);

            if (st == TM_OK) {
                const size_t count = compare_prefix(&x, &whole, first);

                assert_true(count >= before);
                assert_true(count > 0 || !x.host.trace.partial);
                before = count;
                st = xspace_survey(&x, NULL);
                assert_int_equal(st, TM_OK);
            } else {
                assert_int_equal(st, TM_ERR_INPUT);
                assert_int_equal(before, 0);
                assert_true(x.run.error.what[0]);
                refused++;
            }
            xspace_close(&x);
        }
        assert_int_equal(before, 7);
        assert_true(refused < bytes.length);
        xb_free(&bytes);
    }
    xb_space_free(space);
}

static tm_status count_event(void *to, const struct tm_event *event)
{
    uint64_t *const count = to;

    (*count)++;
    return event->record.dur_ps >= 0 ? TM_OK : TM_ERR_LIMIT;
}

/* Scan, survey, order, resolve: any bytes end in a status that is for input, and soon. */
static void run_through(const struct xb_bytes *bytes, const char *what, size_t at, int bit)
{
    const clock_t begin = clock();
    struct xspace_run x;
    uint64_t events = 0;
    tm_status st = xspace_scan(&x, bytes, TM_MEMORY_LEAST_MIB);

    if (st == TM_OK)
        st = xspace_survey(&x, NULL);
    if (st == TM_OK)
        st = tm_host_events(&x.host, count_event, &events);
    if (st != TM_OK && st != TM_ERR_INPUT)
        fail_msg("%s at byte %zu bit %d: status %d, %s", what, at, bit, st, x.run.error.what);
    if (events > tm_trace_events(&x.host.trace))
        fail_msg("%s at byte %zu bit %d: more events than were there", what, at, bit);
    xspace_close(&x);
    if (clock() - begin > 2 * CLOCKS_PER_SEC)
        fail_msg("%s at byte %zu bit %d: took %g s", what, at, bit, (double)(clock() - begin) / CLOCKS_PER_SEC);
}

static void any_changed_bit_is_survived(void **state)
{
    struct xb_space *const space = small_sample();
    struct xb_bytes bytes = { .length = 0 };
    const struct xb_style style = { .groups = false };

    (void)state;
    xb_encode(space, &style, &bytes);
    for (size_t at = 0; at < bytes.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes.at[at] ^= (uint8_t)(1 << bit);
            run_through(&bytes, "a changed bit", at, bit);
            bytes.at[at] ^= (uint8_t)(1 << bit);
        }
    xb_free(&bytes);
    xb_space_free(space);
}

static void any_bytes_in_the_middle_are_survived(void **state)
{
    struct xb_space *const space = sample();
    struct xb_bytes bytes = { .length = 0 };
    uint64_t seed = 77;

    (void)state;
    xb_encode(space, &(struct xb_style){ .groups = true }, &bytes);
    for (int turn = 0; turn < 3000; turn++) {
        uint8_t kept[16];
        const size_t at = next_number(&seed) % (bytes.length - sizeof(kept));
        const uint64_t noise[2] = { next_number(&seed), next_number(&seed) };

        memcpy(kept, bytes.at + at, sizeof(kept));
        memcpy(bytes.at + at, noise, 1 + next_number(&seed) % sizeof(kept));
        run_through(&bytes, "noise", at, 0);
        memcpy(bytes.at + at, kept, sizeof(kept));
    }
    xb_free(&bytes);
    xb_space_free(space);
}

/* --- shapes that cost more than their bytes --- */

/* Of CPU; a checker or an emulator takes several times as long. */
static int seconds_most(void)
{
    return getenv("TM_UNDER") ? 160 : 20;
}

static void check_shape(const char *what, const struct xb_bytes *bytes, tm_status least, tm_status other)
{
    const clock_t begin = clock();
    struct xspace_run x;
    uint64_t events = 0;
    tm_status st = xspace_scan(&x, bytes, TM_MEMORY_LEAST_MIB);

    if (st == TM_OK)
        st = xspace_survey(&x, NULL);
    if (st == TM_OK)
        st = tm_host_events(&x.host, count_event, &events);
    if (st != least && st != other)
        fail_msg("%s: status %d, %s", what, st, x.run.error.what);
    if (x.run.budget.spilled_bytes > 400 * bytes->length)
        fail_msg("%s: %zu bytes spilled for %zu bytes of input", what, x.run.budget.spilled_bytes, bytes->length);
    xspace_close(&x);
    if (clock() - begin > seconds_most() * CLOCKS_PER_SEC)
        fail_msg("%s: took %g s", what, (double)(clock() - begin) / CLOCKS_PER_SEC);
}

static void put_host_head(struct xb_bytes *plane)
{
    xb_chunk(plane, 2, "/host:CPU", 9);
}

static void many_empty_parts_are_read_in_little_time(void **state)
{
    enum { MANY = 300000 };
    struct xb_bytes bytes = { .length = 0 }, plane = { .length = 0 };

    (void)state;
    put_host_head(&plane);
    xb_chunk(&plane, 3, "\x22\x02\x10\x05", 4); /* a line with one event */
    xb_chunk(&bytes, 1, plane.at, plane.length);
    for (int i = 0; i < MANY; i++)
        xb_chunk(&bytes, 1, "", 0);
    check_shape("empty planes", &bytes, TM_OK, TM_OK);

    bytes.length = plane.length = 0;
    put_host_head(&plane);
    for (int i = 0; i < MANY; i++)
        xb_chunk(&plane, 3, "", 0);
    xb_chunk(&bytes, 1, plane.at, plane.length);
    check_shape("empty lines", &bytes, TM_OK, TM_OK);

    bytes.length = plane.length = 0;
    put_host_head(&plane);
    for (int i = 0; i < MANY; i++)
        xb_chunk(&plane, 3, "\x22\x00", 2);
    xb_chunk(&bytes, 1, plane.at, plane.length);
    check_shape("lines of one empty event", &bytes, TM_OK, TM_OK);

    bytes.length = plane.length = 0;
    put_host_head(&plane);
    for (int i = 0; i < MANY; i++)
        xb_chunk(&plane, 4, "", 0);
    for (int i = 0; i < MANY; i++)
        xb_chunk(&plane, 5, "\x12\x00", 2);
    xb_chunk(&bytes, 1, plane.at, plane.length);
    check_shape("empty entries of tables", &bytes, TM_OK, TM_OK);

    bytes.length = plane.length = 0;
    for (int i = 0; i < MANY; i++)
        xb_chunk(&bytes, 1, "\x12\x00", 2);
    check_shape("planes with an empty name", &bytes, TM_OK, TM_ERR_LIMIT);
    xb_free(&bytes);
    xb_free(&plane);
}

static void groups_in_groups_are_read_in_little_time(void **state)
{
    enum { MANY = 2000000 };
    struct xb_bytes bytes = { .length = 0 }, plane = { .length = 0 };

    (void)state;
    put_host_head(&plane);
    xb_chunk(&plane, 3, "\x22\x02\x10\x05", 4);
    xb_chunk(&bytes, 1, plane.at, plane.length);
    for (int i = 0; i < MANY; i++)
        xb_key(&bytes, 9, TM_WIRE_GROUP);
    for (int i = 0; i < MANY; i++)
        xb_key(&bytes, 9, TM_WIRE_END);
    check_shape("nested groups", &bytes, TM_OK, TM_OK);
    bytes.length -= MANY / 2;
    check_shape("groups without their ends", &bytes, TM_OK, TM_OK);
    xb_free(&bytes);
    xb_free(&plane);
}

/* Devices past the limit are refused, not forgotten. */
static void too_many_devices_are_a_limit(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xspace_run x;

    (void)state;
    for (int i = 0; i <= TM_DEVICES_MOST; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "/device:GPU:%d", i);
        xb_plane(space, name);
    }
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_ERR_LIMIT);
    xspace_close(&x);
    xb_space_free(space);
}

/* --- memory --- */

static tm_status scan_job(struct tm_run *run)
{
    struct xb_space *const space = sample();
    struct xspace_run x;
    struct xb_bytes bytes = { .length = 0 };
    const uint64_t refuse_in = run->budget.refuse_in;
    tm_status st;

    xb_encode(space, &(struct xb_style){ .shuffle = 0 }, &bytes);
    st = xspace_scan_refusing(&x, &bytes, refuse_in);
    if (st == TM_OK)
        st = xspace_survey(&x, NULL);
    if (st == TM_OK) {
        uint64_t events = 0;

        st = tm_host_events(&x.host, count_event, &events);
    }
    run->budget.refuse_in = x.run.budget.refuse_in;
    run->error = x.run.error;
    xspace_close(&x);
    xb_free(&bytes);
    xb_space_free(space);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(scan_job);
}

/* Where a byte changed, an event may pass as a field of a line that nothing is made of. */
static void a_field_of_a_line_has_its_type(void **state)
{
    static const struct {
        const char *bytes;
        uint64_t told;
    } rows[] = { { "\x48\x01", 0 },  { "\x50\x01", 0 }, { "\x5a\x01x", 0 }, { "\x4a\x01x", 1 },
                 { "\x52\x01x", 1 }, { "\x58\x01", 1 }, { "\x20\x01", 1 },  { "\x0a\x01x", 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct xb_bytes plane = { .length = 0 }, space = { .length = 0 };
        struct xspace_run x;

        xb_chunk(&plane, 2, "/host:CPU", 9);
        xb_chunk(&plane, 3, rows[i].bytes, strlen(rows[i].bytes));
        xb_chunk(&space, 1, plane.at, plane.length);
        assert_int_equal(xspace_scan(&x, &space, TM_MEMORY_LEAST_MIB), TM_OK);
        assert_int_equal(x.run.tallies.count[TM_TALLY_UNKNOWN_FIELD], rows[i].told);
        xspace_close(&x);
        xb_free(&plane);
        xb_free(&space);
    }
}

/* A profile of one plane whose event metadata, or which itself, has a statistic of these bytes. */
static void put_space_with_stat(struct xb_bytes *space, const char *plane_name, bool is_of_event, const void *stat,
                                size_t length)
{
    struct xb_bytes plane = { .length = 0 }, entry = { .length = 0 }, metadata = { .length = 0 };

    xb_number(&metadata, 1, 7);
    if (is_of_event)
        xb_chunk(&metadata, 5, stat, length);
    xb_number(&entry, 1, 7);
    xb_chunk(&entry, 2, metadata.at, metadata.length);
    xb_chunk(&plane, 2, plane_name, strlen(plane_name));
    xb_chunk(&plane, 4, entry.at, entry.length);
    if (!is_of_event)
        xb_chunk(&plane, 6, stat, length);
    xb_chunk(space, 1, plane.at, plane.length);
    xb_free(&plane);
    xb_free(&entry);
    xb_free(&metadata);
}

/* Also of planes, and by readers, that have no use for it. */
static void a_damaged_statistic_is_told_wherever_it_stands(void **state)
{
    static const char *const planes[] = { "/host:CPU",      "/device:GPU:0",    "/device:TPU:0",
                                          "/host:metadata", "Task Environment", "x" };
    static const struct {
        const char *bytes;
        size_t length;
        uint64_t told;
    } rows[] = {
        { "\x08\x01\x20\x05", 4, 0 },
        { "\x08\x01\x62\x61x", 5, 1 },                /* a length past the end */
        { "\x08\x01\x0c", 3, 1 },                     /* the end of no group */
        { "\x08\x01\x80\x80\x80\x80\x10\x01", 8, 1 }, /* a key of 33 bits */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 2 * 6; i++) {
        const size_t row = i / 12;
        struct xb_bytes space = { .length = 0 };
        struct xspace_run x;

        put_space_with_stat(&space, planes[i % 6], i / 6 % 2, rows[row].bytes, rows[row].length);
        assert_int_equal(xspace_scan(&x, &space, TM_MEMORY_LEAST_MIB), TM_OK);
        if (x.run.tallies.count[TM_TALLY_BAD_FIELD] != rows[row].told)
            fail_msg("statistic %zu of %s of '%s'", row, i / 6 % 2 ? "an event" : "the plane", planes[i % 6]);
        xspace_close(&x);
        xb_free(&space);
    }
}

/* --- the clock of a TPU --- */

/* An op by the host's clock, and what it says of the device's; differences of 100, 100, 100, 100 and 5,100. */
static void put_op(struct xb_line *ops, const char *name, int64_t recorded_ps, int64_t own_ps)
{
    xb_event(ops, name, recorded_ps, 70);
    xb_uint(ops, "device_offset_ps", (uint64_t)own_ps);
    xb_int(ops, "device_duration_ps", 50);
}

/* Ops that say it in every form that a number has, ops that do not say it, and a module beside them.
 * in: first_id  of the statistics */
static struct xb_space *clocked_space(int64_t first_id)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const tpu = xb_plane(space, "/device:TPU:0");
    struct xb_line *modules, *ops;

    xb_stat_id(tpu, "device_offset_ps", first_id);
    xb_stat_id(tpu, "device_duration_ps", first_id + 1);
    modules = xb_line(tpu, 2, "XLA Modules", 1);
    xb_event(modules, "jit_step(9)", 0, 8000);
    ops = xb_line(tpu, 3, "XLA Ops", 1); /* of 1,000 ps */
    put_op(ops, "plain", 0, 900);
    put_op(ops, "plain", 1000, 1900);
    xb_event(ops, "reals", 2000, 70);
    xb_real(ops, "device_duration_ps", 50);
    xb_int(ops, "something", -1);
    xb_real(ops, "device_offset_ps", 2900);
    xb_event(ops, "texts", 2500, 70);
    xb_str(ops, "device_duration_ps", "50");
    xb_str(ops, "device_offset_ps", "3400");
    xb_event(ops, "refs", 2600, 100);
    xb_ref(ops, "device_offset_ps", "3400");
    xb_int(ops, "device_duration_ps", 50);
    xb_event(ops, "half", 2700, 100);
    xb_int(ops, "device_offset_ps", 1);
    put_op(ops, "twice", 8000, 77);
    xb_uint(ops, "device_offset_ps", 3900);
    xb_event(ops, "fraction", 8000, 0);
    xb_real(ops, "device_offset_ps", 0.5);
    xb_int(ops, "device_duration_ps", 50);
    return space;
}

/* "carried" lie on the line from (3500, 3400) to (9000, 3900), where the differences are 100 and 5,100. */
static const char *const clocked_texts[] = {
    "  1000 +50 'plain'", "  2000 +50 'plain'",   "  3000 +50 'reals'",
    "  3500 +50 'texts'", "  3509 +9 'refs'",     "  3518 +9 'half'",
    "  4000 +50 'twice'", "  4000 +0 'fraction'", "  1000 +3000 'jit_step(9)'",
};

static void ops_of_a_tpu_tell_their_own_times_in_any_form(void **state)
{
    static const int64_t ids[] = { 1, 120, 127, 128, 300, 510, 511, 512, 100000, -7 };
    static const struct xb_style styles[] = { { 0 },
                                              { .metadata_first = true },
                                              { .names_last = true },
                                              { .keeps_zeros = true },
                                              { .unknown_fields = true },
                                              { .groups = true },
                                              { .long_numbers = true },
                                              { .duplicates = true } };
    static const size_t buffers[] = { BUFFER, 64 };

    (void)state;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct xb_space *const space = clocked_space(ids[i]);

        for (size_t k = 0; k < sizeof(styles) / sizeof(styles[0]); k++) {
            struct xspace_run x;

            assert_int_equal(xspace_scan_space(&x, space, &styles[k]), TM_OK);
            for (size_t b = 0; b < 2; b++) {
                char *const text = text_of(&x, buffers[b]);

                for (size_t n = 0; n < sizeof(clocked_texts) / sizeof(clocked_texts[0]); n++) {
                    if (!strstr(text, clocked_texts[n]))
                        fail_msg("missing:\n%s\nin:\n%s", clocked_texts[n], text);
                }
                free(text);
            }
            assert_true(x.host.trace.devices[0].has_device_clock);
            assert_int_equal(x.host.trace.devices[0].clock_jumps, 0);
            xspace_close(&x);
        }
        xb_space_free(space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_what_the_bytes_say),
        cmocka_unit_test(every_encoding_of_a_profile_gives_the_same_records),
        cmocka_unit_test(fields_in_any_order_give_the_same_records),
        cmocka_unit_test(a_derived_line_is_told_by_an_id_behind_its_name),
        cmocka_unit_test(ids_of_any_size_and_sign_find_their_names),
        cmocka_unit_test(an_id_without_an_entry_gives_an_event_without_a_name),
        cmocka_unit_test(aggregated_events_are_tallied),
        cmocka_unit_test(parts_of_a_line_are_one_timeline),
        cmocka_unit_test(of_start_and_occurrences_the_last_one_holds),
        cmocka_unit_test(times_are_kept_or_tallied),
        cmocka_unit_test(distances_of_kept_times_fit),
        cmocka_unit_test(epoch_times_become_times_of_the_profile),
        cmocka_unit_test(a_long_event_is_read_alike_through_every_buffer),
        cmocka_unit_test(a_long_name_is_whole_up_to_its_limit),
        cmocka_unit_test(values_of_another_wire_type_are_no_values),
        cmocka_unit_test(a_profile_cut_at_any_byte_keeps_the_events_before_the_cut),
        cmocka_unit_test(any_changed_bit_is_survived),
        cmocka_unit_test(any_bytes_in_the_middle_are_survived),
        cmocka_unit_test(many_empty_parts_are_read_in_little_time),
        cmocka_unit_test(groups_in_groups_are_read_in_little_time),
        cmocka_unit_test(too_many_devices_are_a_limit),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_field_of_a_line_has_its_type),
        cmocka_unit_test(a_damaged_statistic_is_told_wherever_it_stands),
        cmocka_unit_test(ops_of_a_tpu_tell_their_own_times_in_any_form),
    };

    return cmocka_run_group_tests_name("xspace", tests, NULL, NULL);
}
