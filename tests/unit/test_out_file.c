/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/file/out_file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/test_folder.h"

static size_t read_raw(const char *name, uint8_t *to, size_t room)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    const size_t n = fread(to, 1, room, in);

    assert_true(feof(in) || n < room);
    (void)fclose(in);
    return n;
}

/* Inflate one gzip member; *rest = bytes after it. */
static size_t inflate_member(const uint8_t *from, size_t length, uint8_t *to, size_t room, size_t *rest)
{
    z_stream z = {
        .next_in = (z_const Bytef *)(uintptr_t)from, .avail_in = (uInt)length, .next_out = to, .avail_out = (uInt)room
    };

    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    *rest = z.avail_in;
    (void)inflateEnd(&z);
    return room - z.avail_out;
}

enum { MOST = 3 << 20 };

/* Something that deflate makes smaller, but not much. */
static void fill(uint8_t *bytes, size_t length)
{
    uint64_t state = 7;

    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(next_number(&state) % 61 + ' ');
}

static void write_in_pieces(struct tm_out_file *file, const uint8_t *bytes, size_t length, size_t most)
{
    uint64_t state = length;

    while (length) {
        const size_t wish = (size_t)(next_number(&state) % (most + 1));
        const size_t n = wish < length ? wish : length;

        tm_out_file_write(file, bytes, n);
        bytes += n;
        length -= n;
    }
}

static void the_bytes_come_back(void **state)
{
    static const size_t lengths[] = { 0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, MOST };
    uint8_t *const in = malloc(MOST), *const raw = malloc(2 * MOST), *const out = malloc(MOST + 1);

    (void)state;
    fill(in, MOST);
    for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
        const size_t length = lengths[i / 2];
        const bool is_gzip = i % 2 != 0;
        struct tm_run run;
        uint64_t written = 0;
        size_t rest;

        test_run_init(&run);
        struct tm_out_file *file = tm_out_file_open(&run, folder, "t", is_gzip);

        assert_non_null(file);
        write_in_pieces(file, in, length, i % 3 ? 100000 : 3000);
        assert_int_equal(tm_out_file_commit(file, &written), TM_OK);
        tm_out_file_free(file);
        assert_ledger_is_even(&run);
        assert_int_equal(read_raw("t", raw, 2 * MOST), written);
        if (is_gzip) {
            assert_int_equal(inflate_member(raw, (size_t)written, out, MOST + 1, &rest), length);
            assert_int_equal(rest, 0);
        } else {
            assert_int_equal(written, length);
            memcpy(out, raw, length);
        }
        assert_memory_equal(out, in, length);
    }
    free(in);
    free(raw);
    free(out);
}

static void a_gzip_file_has_neither_name_nor_time(void **state)
{
    uint8_t raw[100];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_out_file *file = tm_out_file_open(&run, folder, "t.gz", true);

    assert_non_null(file);
    tm_out_file_write(file, "text", 4);
    assert_int_equal(tm_out_file_commit(file, NULL), TM_OK);
    tm_out_file_free(file);
    assert_true(read_raw("t.gz", raw, sizeof(raw)) > 18);
    assert_memory_equal(raw, "\x1f\x8b\x08\0\0\0\0\0", 8);
}

static void what_is_not_committed_goes_away(void **state)
{
    (void)state;
    for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
        struct tm_run run;

        test_run_init(&run);
        struct tm_out_file *file = tm_out_file_open(&run, folder, "t", is_gzip != 0);

        assert_non_null(file);
        tm_out_file_write(file, "text", 4);
        tm_out_file_free(file);
        tm_out_file_free(NULL);
        assert_int_equal(count_entries(false), 0);
        assert_ledger_is_even(&run);
    }
}

static tm_status write_much(struct tm_run *run, const char *in_folder, bool is_gzip)
{
    static uint8_t bytes[100000];
    struct tm_out_file *file = tm_out_file_open(run, in_folder, "t", is_gzip);

    if (!file)
        return run->error.status;
    fill(bytes, sizeof(bytes));
    for (int i = 0; i < 10; i++)
        tm_out_file_write(file, bytes, sizeof(bytes));
    const tm_status status = tm_out_file_commit(file, NULL);

    tm_out_file_free(file);
    return status;
}

static void a_write_that_fails_is_told_with_the_path(void **state)
{
    struct rlimit old, tiny;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = (struct rlimit){ .rlim_cur = 1000, .rlim_max = old.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
        struct tm_run run;

        test_run_init(&run);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
        const tm_status status = write_much(&run, folder, is_gzip != 0);

        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, TM_ERR_OUTPUT);
        assert_non_null(strstr(run.error.what, folder));
        assert_int_equal(count_entries(false), 0);
        assert_ledger_is_even(&run);
    }
}

static void a_missing_folder_is_an_error(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(write_much(&run, "/nowhere/at/all", true), TM_ERR_OUTPUT);
    assert_ledger_is_even(&run);
}

static tm_status write_gzip(struct tm_run *run)
{
    return write_much(run, folder, true);
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(write_gzip);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_bytes_come_back),
        WITH_FOLDER(a_gzip_file_has_neither_name_nor_time),
        WITH_FOLDER(what_is_not_committed_goes_away),
        WITH_FOLDER(a_write_that_fails_is_told_with_the_path),
        WITH_FOLDER(a_missing_folder_is_an_error),
        WITH_FOLDER(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("out_file", tests, NULL, NULL);
}
