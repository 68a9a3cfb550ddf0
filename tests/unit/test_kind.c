/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/input_file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/support/test_run.h"

/* Bytes of a head that is put together. */
struct head {
    uint8_t bytes[2048];
    size_t length;
};

static void put(struct head *h, const void *bytes, size_t length)
{
    assert_true(h->length + length <= sizeof(h->bytes));
    memcpy(h->bytes + h->length, bytes, length);
    h->length += length;
}

static void put_varint(struct head *h, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        put(h, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_number(struct head *h, unsigned field, uint64_t value)
{
    put_varint(h, field << 3);
    put_varint(h, value);
}

static void put_chunk(struct head *h, unsigned field, const void *bytes, size_t length)
{
    put_varint(h, field << 3 | 2);
    put_varint(h, length);
    put(h, bytes, length);
}

static void put_text(struct head *h, unsigned field, const char *text)
{
    put_chunk(h, field, text, strlen(text));
}

static void put_inside(struct head *h, unsigned field, const struct head *inside)
{
    put_chunk(h, field, inside->bytes, inside->length);
}

static struct head make_plane(const char *name)
{
    struct head plane = { .length = 0 }, line = { .length = 0 }, event = { .length = 0 }, entry = { .length = 0 };

    put_number(&event, 1, 7);
    put_number(&event, 2, 1000);
    put_number(&event, 3, 500);
    put_number(&line, 1, 13);
    put_text(&line, 2, "Stream #13(Compute)");
    put_number(&line, 3, 8530);
    put_inside(&line, 4, &event);
    put_inside(&line, 4, &event);
    put_number(&entry, 1, 7);
    put_text(&entry, 2, "\x08\x07\x12\x04gemm");
    put_number(&plane, 1, 2);
    put_text(&plane, 2, name);
    put_inside(&plane, 3, &line);
    put_inside(&plane, 4, &entry);
    return plane;
}

static struct head make_space(const char *name)
{
    const struct head plane = make_plane(name);
    struct head space = { .length = 0 };

    put_inside(&space, 1, &plane);
    put_inside(&space, 1, &plane);
    put_text(&space, 3, "12 events were dropped");
    put_text(&space, 4, "vm");
    return space;
}

static enum tm_file_kind kind_of_text(const char *text)
{
    return tm_kind_of((const uint8_t *)text, strlen(text));
}

static enum tm_file_kind kind_of(const struct head *h)
{
    return tm_kind_of(h->bytes, h->length);
}

static void every_kind_has_a_name_and_a_hint(void **state)
{
    (void)state;
    for (int kind = 0; kind < TM_FILE_KINDS; kind++) {
        assert_non_null(tm_kind_name(kind));
        assert_non_null(tm_kind_hint(kind));
        assert_true(strlen(tm_kind_name(kind)) > 3);
        if (kind == TM_FILE_XSPACE || kind == TM_FILE_CHROME_JSON || kind == TM_FILE_PERFETTO ||
            kind == TM_FILE_OWN_PERFETTO || kind == TM_FILE_PPROF)
            assert_true(tm_kind_can_read(kind));
        else
            assert_false(tm_kind_can_read(kind));
        if (!tm_kind_can_read(kind))
            assert_true(strlen(tm_kind_hint(kind)) > 3);
    }
}

static void magic_numbers_tell_the_kind(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum tm_file_kind kind;
    } rows[] = {
        { "\x1f\x8b\x08\0", 4, TM_FILE_GZIP },
        { "\x28\xb5\x2f\xfd\x04", 5, TM_FILE_ZSTD },
        { "\x50\x2a\x4d\x18\x04", 5, TM_FILE_ZSTD },
        { "\x5f\x2a\x4d\x18", 4, TM_FILE_ZSTD },
        { "\xfd"
          "7zXZ\0\0",
          7, TM_FILE_XZ },
        { "BZh9\x31\x41\x59\x26\x53\x59", 10, TM_FILE_BZIP2 },
        { "BZh9\x17\x72\x45\x38\x50\x90", 10, TM_FILE_BZIP2 },
        { "\x04\x22\x4d\x18\x64", 5, TM_FILE_LZ4 },
        { "PK\x03\x04\x14", 5, TM_FILE_ZIP },
        { "PK\x05\x06\0", 5, TM_FILE_ZIP },
        { "7z\xbc\xaf\x27\x1c\0", 7, TM_FILE_SEVEN_ZIP },
        { "SQLite format 3\0\x10", 17, TM_FILE_SQLITE },
        { "SQLite format 3\0\x10"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (",
          57, TM_FILE_NSIGHT_DATABASE },
        { "\xff\xfe{\0\"\0", 6, TM_FILE_UTF16 },
        { "\xfe\xff\0{\0\"", 6, TM_FILE_UTF16 },
        { "{\0\"\0t\0", 6, TM_FILE_UTF16 },
        { "\0[\0{", 4, TM_FILE_UTF16 },
        { "#!/bin/sh\n", 10, TM_FILE_SCRIPT },
        { "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\0\0", 10, TM_FILE_RIEGELI },
        { "%PDF-1.7\n", 9, TM_FILE_PDF },
        { "\x7f"
          "ELF\x02\x01",
          6, TM_FILE_ELF },
        { "version https://git-lfs.github.com/spec/v1\noid sha256:00\n", 56, TM_FILE_GIT_LFS },
        { "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\x80\xd4\x6d\x1e\xda\x41\x1a\x0d"
          "brain.Event:2",
          36, TM_FILE_TENSORBOARD },
        { "", 0, TM_FILE_EMPTY },
        { "\0\0\0\0\0\0\0\0", 8, TM_FILE_UNKNOWN },
        { "\xde\xad\xbe\xef\xff\xff\xff\xff", 8, TM_FILE_UNKNOWN },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(tm_kind_of((const uint8_t *)rows[i].bytes, rows[i].length), rows[i].kind);
}

/* What nobody named as a trace is one only where its first bytes say so. */
static void a_trace_is_told_beyond_doubt(void **state)
{
    static uint8_t long_object[TM_KIND_HEAD_BYTES];
    const struct head space = make_space("/device:GPU:0"), odd = make_space("/something/else");
    const char *const events = "{\"traceEvents\": []}", *const list = "[{\"ph\":\"X\"}]", *const other = "{\"a\": 1}";
    enum tm_file_kind kind;

    (void)state;
    assert_true(tm_kind_is_trace((const uint8_t *)events, strlen(events), &kind));
    assert_int_equal(kind, TM_FILE_CHROME_JSON);
    assert_true(tm_kind_is_trace((const uint8_t *)list, strlen(list), &kind));
    assert_false(tm_kind_is_trace((const uint8_t *)other, strlen(other), &kind));
    assert_true(tm_kind_is_trace(space.bytes, space.length, &kind));
    assert_int_equal(kind, TM_FILE_XSPACE);
    assert_false(tm_kind_is_trace(odd.bytes, odd.length, &kind));
    memset(long_object, ' ', sizeof(long_object));
    memcpy(long_object, "{\"model\": {", 11);
    assert_false(tm_kind_is_trace(long_object, sizeof(long_object), &kind));
    assert_int_equal(kind, TM_FILE_CHROME_JSON); /* as whoever named it gets it */
}

static void archives_are_told_by_the_header_of_tar(void **state)
{
    uint8_t block[1024] = "run/vm.xplane.pb";
    unsigned sum = 0;
    char digits[9];

    (void)state;
    memcpy(block + 257, "ustar", 5);
    assert_int_equal(tm_kind_of(block, sizeof(block)), TM_FILE_TAR);
    memset(block + 257, 0, 5);
    assert_int_not_equal(tm_kind_of(block, sizeof(block)), TM_FILE_TAR);
    memset(block + 148, ' ', 8); /* the older form has a checksum only */
    for (size_t i = 0; i < 512; i++)
        sum += block[i];
    (void)snprintf(digits, sizeof(digits), "%06o", sum);
    memcpy(block + 148, digits, 7);
    assert_int_equal(tm_kind_of(block, sizeof(block)), TM_FILE_TAR);
    block[0]++;
    assert_int_not_equal(tm_kind_of(block, sizeof(block)), TM_FILE_TAR);
}

static void json_is_told_by_its_keys(void **state)
{
    static const struct {
        const char *text;
        enum tm_file_kind kind;
    } rows[] = {
        { "{\"traceEvents\": []}", TM_FILE_CHROME_JSON },
        { "\xef\xbb\xbf \r\n{ \"displayTimeUnit\" : \"ns\", \"traceEvents\":[", TM_FILE_CHROME_JSON },
        { "[{\"ph\":\"X\",\"ts\":1}", TM_FILE_CHROME_JSON },
        { "\n  {\n \"schemaVersion\": 1,\n \"deviceProperties\": [\n {\"id\": 0", TM_FILE_CHROME_JSON },
        { "{\"rocprofiler-sdk-tool\":[{\"metadata\":{}", TM_FILE_ROCPROF_JSON },
        { "{\"rocprofiler-sdk-json-tool\":{}", TM_FILE_ROCPROF_JSON },
        { "{\n \"schema\": \"tracemill.summary\",", TM_FILE_SUMMARY_JSON },
        { "{\"a\": \"traceEvents\"}", TM_FILE_OTHER_JSON },
        { "{\"a\": {\"traceEvents\": []}}", TM_FILE_OTHER_JSON },
        { "{\"a\": \"\\\"traceEvents\\\": \"}", TM_FILE_OTHER_JSON },
        { "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"profiles\": []}",
          TM_FILE_SPEEDSCOPE },
        { "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 7, \"nodes\": [{\"id\": 1}", TM_FILE_EXECUTION_TRACE },
        { "{\"schema\": 1, \"traceEvents\": [], \"nodes\": []", TM_FILE_CHROME_JSON },
        { "[1, 2, 3]", TM_FILE_OTHER_JSON },
        { "[]", TM_FILE_OTHER_JSON },
        { "{}", TM_FILE_OTHER_JSON },
        { "{\"unended", TM_FILE_OTHER_JSON },
        { "{\"unended\\", TM_FILE_OTHER_JSON },
        { "{", TM_FILE_OTHER_JSON },
        { "{not json", TM_FILE_TEXT },
        { "<!DOCTYPE html><html>", TM_FILE_HTML },
        { "\n <HTML lang=en>", TM_FILE_HTML },
        { "date,host,events\n2026,vm,12\n", TM_FILE_TEXT },
        { "junk", TM_FILE_TEXT }, /* as a protobuf, a field 13 of 117 bytes */
        { "x", TM_FILE_TEXT },
        { "\x1b[31mGr\xc3\xbc\xc3\x9f"
          "e\n",
          TM_FILE_TEXT },
        { "\n\nhello world, this is a log\n", TM_FILE_TEXT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (kind_of_text(rows[i].text) != rows[i].kind)
            fail_msg("%s: '%s'", rows[i].text, tm_kind_name(kind_of_text(rows[i].text)));
    }
}

static void a_space_is_told_from_its_first_bytes_on(void **state)
{
    const struct head space = make_space("/device:GPU:0");

    (void)state;
    for (size_t length = 4; length <= space.length; length++)
        assert_int_equal(tm_kind_of(space.bytes, length), TM_FILE_XSPACE);
}

static void a_space_with_names_of_its_own_is_a_space(void **state)
{
    struct head space = make_space("\x01\x02 something \xff else");

    (void)state;
    assert_int_equal(kind_of(&space), TM_FILE_XSPACE);
    space = make_space("");
    assert_int_equal(kind_of(&space), TM_FILE_XSPACE);
}

static void a_space_may_begin_with_any_of_its_fields(void **state)
{
    (void)state;
    for (unsigned field = 2; field <= 4; field++) {
        const struct head plane = make_plane("/host:CPU");
        struct head space = { .length = 0 };

        put_text(&space, field, "node17");
        assert_int_equal(kind_of(&space), TM_FILE_XSPACE);
        put_inside(&space, 1, &plane);
        assert_int_equal(kind_of(&space), TM_FILE_XSPACE);
    }
}

static void a_space_with_fields_to_come_is_a_space(void **state)
{
    struct head space = make_space("/host:CPU");

    (void)state;
    put_text(&space, 900, "later");
    put_number(&space, 901, 7);
    assert_int_equal(kind_of(&space), TM_FILE_XSPACE);
}

static void a_damaged_space_is_still_a_space(void **state)
{
    uint64_t seed = 1;
    size_t hits = 0;
    enum { TURNS = 2000 };

    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        struct head space = make_space("/device:TPU:0");

        space.bytes[2 + next_number(&seed) % (space.length - 2)] ^= (uint8_t)(1u << next_number(&seed) % 8);
        hits += kind_of(&space) == TM_FILE_XSPACE;
    }
    assert_true(hits > TURNS * 97 / 100);
}

/* The bytes of an XSpace after a text filter: everything that is no UTF-8 became U+FFFD. */
static void a_space_that_went_through_a_text_filter_is_a_space(void **state)
{
    static const uint8_t bytes[] = "\x0a\xef\xbf\xbd\xef\xbf\xbd\x06\x08\x02\x12\x0a/device:TPU:0\x1a\xef\xbf\xbd"
                                   "4\x08\x02\x12\x0bXLA Modules";

    (void)state;
    assert_int_equal(tm_kind_of(bytes, sizeof(bytes) - 1), TM_FILE_XSPACE);
}

static void a_perfetto_trace_is_not_a_space(void **state)
{
    struct head trace = { .length = 0 }, packet = { .length = 0 }, track = { .length = 0 };

    (void)state;
    put_number(&track, 1, 1000);
    put_text(&track, 2, "/device:GPU:0"); /* a name that a plane could have */
    put_number(&packet, 10, 1);
    put_number(&packet, 41, 1);
    put_inside(&packet, 60, &track);
    put_inside(&trace, 1, &packet);
    packet.length = 0;
    put_number(&packet, 8, 1234567);
    put_number(&packet, 10, 1);
    put_inside(&packet, 11, &track);
    for (int i = 0; i < 4; i++)
        put_inside(&trace, 1, &packet);
    assert_int_equal(kind_of(&trace), TM_FILE_PERFETTO);
}

static void a_perfetto_trace_of_this_program_is_told(void **state)
{
    struct head attribute = { .length = 0 }, attributes = { .length = 0 }, packet = { .length = 0 },
                trace = { .length = 0 };

    (void)state;
    put_text(&attribute, 1, "tracemill.version");
    put_text(&attribute, 3, "0.1.0");
    put_inside(&attributes, 1, &attribute);
    put_number(&packet, 10, 1);
    put_inside(&packet, 126, &attributes);
    put_inside(&trace, 1, &packet);
    packet.length = 0;
    attribute.length = 0;
    put_text(&attribute, 7, "x\x9c");
    put_inside(&packet, 50, &attribute); /* a block of compressed packets, whatever is in it */
    put_inside(&trace, 1, &packet);
    assert_int_equal(kind_of(&trace), TM_FILE_OWN_PERFETTO);
    trace.length = 0;
    put_inside(&trace, 1, &packet);
    assert_int_equal(kind_of(&trace), TM_FILE_PERFETTO);
}

static void a_memory_profile_is_not_a_space(void **state)
{
    struct head profile = { .length = 0 }, type = { .length = 0 }, sample = { .length = 0 };

    (void)state;
    put_number(&type, 1, 1);
    put_number(&type, 2, 2);
    put_chunk(&sample, 1, "\x01\x02\x03", 3);
    put_chunk(&sample, 2, "\x01\x80\x01", 3);
    put_inside(&profile, 1, &type);
    put_inside(&profile, 1, &type);
    put_inside(&profile, 2, &sample);
    put_inside(&profile, 2, &sample);
    put_text(&profile, 6, "");
    put_text(&profile, 6, "allocations");
    assert_int_equal(kind_of(&profile), TM_FILE_PPROF);
}

static void a_program_is_not_a_space(void **state)
{
    struct head proto = { .length = 0 }, module = { .length = 0 }, computation = { .length = 0 };
    struct head instruction = { .length = 0 };

    (void)state;
    put_text(&instruction, 1, "param_0");
    put_text(&instruction, 2, "parameter");
    put_text(&instruction, 3, "\x08\x0b");
    put_number(&instruction, 35, 5);
    put_text(&computation, 1, "fused_computation");
    put_inside(&computation, 2, &instruction);
    put_text(&module, 1, "jit_step");
    put_text(&module, 2, "main.7");
    put_inside(&module, 3, &computation);
    put_inside(&proto, 1, &module);
    assert_int_equal(kind_of(&module), TM_FILE_HLO);
    assert_int_equal(kind_of(&proto), TM_FILE_HLO);
}

static void any_bytes_are_told_without_harm(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int turn = 0; turn < 20000; turn++) {
        uint8_t bytes[96];
        const size_t length = next_number(&seed) % sizeof(bytes);
        /* exactly as long as it says, so that a checker sees a step past the end */
        uint8_t *const exact = malloc(length ? length : 1);

        assert_non_null(exact);
        for (size_t i = 0; i < length; i++)
            exact[i] = (uint8_t)(next_number(&seed) % (turn % 2 ? 256 : 32));
        assert_true((unsigned)tm_kind_of(exact, length) < TM_FILE_KINDS);
        free(exact);
    }
}

static enum tm_file_kind kind_of_file(const char *path)
{
    static uint8_t head[TM_KIND_HEAD_BYTES];
    const gzFile file = gzopen(path, "rb"); /* reads what is no gzip as it is */
    int got;

    assert_non_null(file);
    got = gzread(file, head, sizeof(head));
    assert_true(got >= 0);
    assert_int_equal(gzclose(file), Z_OK);
    return tm_kind_of(head, (size_t)got);
}

/* The folder of real traces, where there is one. */
static const char *shared_folder(void)
{
    const char *const named = getenv("TM_SHARED");

    return named ? named : "../shared";
}

static void real_files_are_told(void **state)
{
    static const struct {
        const char *pattern;
        enum tm_file_kind kind;
    } rows[] = {
        { "xspace/*.pb", TM_FILE_XSPACE },
        { "logdir/*/plugins/profile/*/*.xplane.pb", TM_FILE_XSPACE },
        { "logdir/*/plugins/profile/*/*.json.gz", TM_FILE_CHROME_JSON },
        { "jax-json/*.gz", TM_FILE_CHROME_JSON },
        { "kineto/*.json*", TM_FILE_CHROME_JSON },
        { "chrome/catapult*", TM_FILE_CHROME_JSON },
        { "chrome/otf2*", TM_FILE_CHROME_JSON },
        { "chrome/*rocprof-*", TM_FILE_ROCPROF_JSON },
        { "chrome/*.perfetto-trace", TM_FILE_PERFETTO },
        { "memory/*", TM_FILE_PPROF },
    };
    const char *const folder = shared_folder();

    (void)state;
    if (access(folder, R_OK | X_OK) != 0)
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char pattern[4096];
        glob_t found;

        (void)snprintf(pattern, sizeof(pattern), "%s/traces/%s", folder, rows[i].pattern);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            if (kind_of_file(found.gl_pathv[k]) != rows[i].kind)
                fail_msg("%s: %s", found.gl_pathv[k], tm_kind_name(kind_of_file(found.gl_pathv[k])));
        }
        globfree(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_and_a_hint),
        cmocka_unit_test(magic_numbers_tell_the_kind),
        cmocka_unit_test(a_trace_is_told_beyond_doubt),
        cmocka_unit_test(archives_are_told_by_the_header_of_tar),
        cmocka_unit_test(json_is_told_by_its_keys),
        cmocka_unit_test(a_space_is_told_from_its_first_bytes_on),
        cmocka_unit_test(a_space_with_names_of_its_own_is_a_space),
        cmocka_unit_test(a_space_may_begin_with_any_of_its_fields),
        cmocka_unit_test(a_space_with_fields_to_come_is_a_space),
        cmocka_unit_test(a_damaged_space_is_still_a_space),
        cmocka_unit_test(a_space_that_went_through_a_text_filter_is_a_space),
        cmocka_unit_test(a_perfetto_trace_is_not_a_space),
        cmocka_unit_test(a_perfetto_trace_of_this_program_is_told),
        cmocka_unit_test(a_memory_profile_is_not_a_space),
        cmocka_unit_test(a_program_is_not_a_space),
        cmocka_unit_test(any_bytes_are_told_without_harm),
        cmocka_unit_test(real_files_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
