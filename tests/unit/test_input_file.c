/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/input_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xxhash.h>
#include <zlib.h>

#include "tests/support/test_run.h"

enum { LONG = 900000, MOST = 1 << 21 };

static char folder[64];
static uint8_t text[LONG];
static uint8_t packed[MOST];

static int make_folder(void **state)
{
    uint64_t seed = 5;

    (void)state;
    (void)snprintf(folder, sizeof(folder), "/var/tmp/tracemill-input-XXXXXX");
    for (size_t i = 0; i < LONG; i++)
        text[i] = i % 1000 < 300 ? (uint8_t)next_number(&seed) : (uint8_t)"\x0a\x12vm/host:CPU"[i % 13];
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *const f = fopen(path_of(name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

/* A gzip of one member in `packed`. */
static size_t pack(const uint8_t *from, size_t length)
{
    z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)from, .avail_in = (uInt)length };

    z.next_out = packed;
    z.avail_out = sizeof(packed);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, 0), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return z.total_out;
}

/* Every place of the content can be read, across blocks and at the end. */
static void assert_content(const struct tm_input *in, const uint8_t *wanted, size_t length)
{
    static uint8_t got[LONG + 100];
    size_t n;

    assert_int_equal(in->bytes, length);
    assert_int_equal(tm_input_read(in, got, length + 100, 0, &n), TM_OK);
    assert_int_equal(n, length);
    assert_memory_equal(got, wanted, length);
    for (size_t at = 0; at < length; at += 99991) {
        assert_int_equal(tm_input_read(in, got, 77, at, &n), TM_OK);
        assert_int_equal(n, length - at < 77 ? length - at : 77);
        assert_memory_equal(got, wanted + at, n);
    }
    assert_int_equal(tm_input_read(in, got, 10, length, &n), TM_OK);
    assert_int_equal(n, 0);
    assert_int_equal(tm_input_read(in, got, 10, UINT64_MAX, &n), TM_OK);
    assert_int_equal(n, 0);
}

static void a_plain_file_is_read_in_place(void **state)
{
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    write_file("plain", text, LONG);
    assert_int_equal(tm_input_open(&in, &run, path_of("plain")), TM_OK);
    assert_false(in.spilled || in.gzip || in.partial);
    assert_int_equal(in.disk_bytes, LONG);
    assert_int_equal(in.xxh3, XXH3_64bits(text, LONG));
    assert_int_equal(run.bytes_read, LONG);
    assert_int_equal(run.budget.spilled_bytes, 0);
    assert_true(in.modified_ns > 0);
    assert_content(&in, text, LONG);
    tm_input_close(&in);
    tm_input_close(&in);
    assert_ledger_is_even(&run);
    assert_int_equal(unlink(path_of("plain")), 0);
}

static void a_gzip_is_inflated_first(void **state)
{
    const size_t length = pack(text, LONG);

    (void)state;
    write_file("gzip", packed, length);
    for (enum tm_inflate_engine engine = TM_INFLATE_DEFAULT; engine <= TM_INFLATE_ISAL; engine++) {
        const struct tm_input_options options = { .engine = engine };
        struct tm_run run;
        struct tm_input in;

        if (!tm_inflate_has(engine))
            continue;
        test_run_init(&run);
        assert_int_equal(tm_input_open_with(&in, &run, path_of("gzip"), &options), TM_OK);
        assert_true(in.spilled && in.gzip);
        assert_false(in.partial);
        assert_int_equal(in.members, 1);
        assert_int_equal(in.disk_bytes, length);
        assert_int_equal(in.xxh3, XXH3_64bits(packed, length));
        assert_int_equal(run.bytes_read, length);
        assert_content(&in, text, LONG);
        tm_input_close(&in);
        assert_ledger_is_even(&run);
    }
    assert_int_equal(unlink(path_of("gzip")), 0);
}

/* Each engine gives the same bytes and the same words of a damaged file. */
static void a_damaged_gzip_gives_what_could_be_inflated(void **state)
{
    const size_t length = pack(text, 5000);
    uint64_t seed = 3;
    size_t partial = 0;

    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        static uint8_t damaged[MOST], first[8192], second[8192];
        const size_t bytes = turn % 2 ? length : 1 + next_number(&seed) % length;
        struct tm_run runs[2];
        struct tm_input in[2];
        size_t n[2];
        tm_status st[2];

        memcpy(damaged, packed, bytes);
        if (turn % 2)
            damaged[10 + next_number(&seed) % (bytes - 10)] ^= (uint8_t)(1 + next_number(&seed) % 255);
        write_file("damaged", damaged, bytes);
        for (int i = 0; i < 2; i++) {
            const struct tm_input_options options = { .engine = i ? TM_INFLATE_DEFAULT : TM_INFLATE_ZLIB };

            test_run_init(&runs[i]);
            st[i] = tm_input_open_with(&in[i], &runs[i], path_of("damaged"), &options);
        }
        assert_int_equal(st[0], st[1]);
        assert_string_equal(runs[0].error.what, runs[1].error.what);
        assert_int_equal(in[0].partial, in[1].partial);
        assert_string_equal(in[0].problem, in[1].problem);
        assert_int_equal(in[0].problem_at, in[1].problem_at);
        assert_int_equal(in[0].xxh3, in[1].xxh3);
        assert_int_equal(in[0].bytes, in[1].bytes);
        if (st[0] == TM_OK) {
            partial += in[0].partial;
            assert_int_equal(tm_input_read(&in[0], first, sizeof(first), 0, &n[0]), TM_OK);
            assert_int_equal(tm_input_read(&in[1], second, sizeof(second), 0, &n[1]), TM_OK);
            assert_int_equal(n[0], n[1]);
            assert_memory_equal(first, second, n[0]);
        } else {
            assert_int_equal(st[0], TM_ERR_INPUT);
        }
        for (int i = 0; i < 2; i++) {
            tm_input_close(&in[i]);
            assert_ledger_is_even(&runs[i]);
        }
    }
    assert_true(partial > 200);
    assert_int_equal(unlink(path_of("damaged")), 0);
}

static void open_refused(const char *path, const char *words, const char *hint)
{
    struct tm_run run;
    struct tm_input in;

    test_run_init(&run);
    assert_int_equal(tm_input_open(&in, &run, path), TM_ERR_INPUT);
    assert_int_equal(run.error.status, TM_ERR_INPUT);
    if (!strstr(run.error.what, words))
        fail_msg("'%s' has no '%s'", run.error.what, words);
    if (!strstr(run.error.hint, hint))
        fail_msg("'%s' has no '%s'", run.error.hint, hint);
    tm_input_close(&in);
    assert_ledger_is_even(&run);
}

static void what_is_no_file_is_refused(void **state)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    open_refused(path_of("missing"), "missing': No such file", "tracemill list");
    open_refused(folder, "is a folder, not a file", "tracemill list");
    open_refused("/dev/null", "'/dev/null' is a device", "xplane");
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    open_refused(path_of("pipe"), "is a pipe, not a file", "'-'");
    assert_int_equal(unlink(path_of("pipe")), 0);
    assert_true(strlen(path_of("socket")) < sizeof(address.sun_path));
    strcpy(address.sun_path, path_of("socket"));
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    open_refused(path_of("socket"), "is a pipe, not a file", "'-'");
    assert_int_equal(unlink(path_of("socket")), 0);
    assert_int_equal(close(listener), 0);
    write_file("empty", "", 0);
    open_refused(path_of("empty"), "empty' is empty (0 bytes)", "block_until_ready()");
    if (geteuid() != 0) { /* root may read everything */
        assert_int_equal(chmod(path_of("empty"), 0), 0);
        open_refused(path_of("empty"), "Permission denied", "permissions");
    }
    assert_int_equal(unlink(path_of("empty")), 0);
}

static void a_gzip_without_content_is_refused(void **state)
{
    const size_t length = pack(text, 0);

    (void)state;
    write_file("hollow", packed, length);
    open_refused(path_of("hollow"), "is empty once it is inflated (0 bytes)", "block_until_ready()");
    write_file("hollow", packed, 10);
    open_refused(path_of("hollow"), "cut short inside member 1 (byte 10)", "copy the file again");
    write_file("hollow", "\x1f\x8b\x07", 3);
    open_refused(path_of("hollow"), "cut short inside member 1 (byte 3)", "copy the file again");
    assert_int_equal(unlink(path_of("hollow")), 0);
}

static void long_and_hostile_paths_fit_into_the_message(void **state)
{
    char path[6000];

    (void)state;
    memset(path, 'a', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    open_refused(path, "File name too long", "");
    path[3000] = '\0';
    open_refused(path, "File name too long", "");
    open_refused("\x1b[31mred\n", "'?[31mred?'", "check the path");
}

static void a_file_that_shrinks_is_an_error(void **state)
{
    struct tm_run run;
    struct tm_input in;
    uint8_t got[100];
    size_t n;

    (void)state;
    test_run_init(&run);
    write_file("shrinks", text, 5000);
    assert_int_equal(tm_input_open(&in, &run, path_of("shrinks")), TM_OK);
    assert_int_equal(truncate(path_of("shrinks"), 4050), 0);
    assert_int_equal(tm_input_read(&in, got, 50, 4000, &n), TM_OK);
    assert_int_equal(tm_input_read(&in, got, 100, 4000, &n), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "became shorter while it was read (it had 5000 bytes)"));
    assert_int_equal(run.error.at, 4050);
    tm_input_close(&in);
    assert_int_equal(unlink(path_of("shrinks")), 0);
}

static _Atomic int writing;

/* A profiler that goes on writing. */
static void *write_on(void *unused)
{
    FILE *const f = fopen(path_of("grows"), "ab");

    while (f && writing) {
        (void)fputc('x', f);
        (void)fflush(f);
    }
    return f && fclose(f) == 0 ? unused : &writing;
}

static void a_file_that_grows_is_partial(void **state)
{
    struct tm_run run;
    struct tm_input in;
    pthread_t writer;
    void *failed;

    (void)state;
    test_run_init(&run);
    write_file("grows", text, LONG);
    assert_int_equal(truncate(path_of("grows"), 64 << 20), 0); /* long enough for the other thread's turn */
    writing = 1;
    assert_int_equal(pthread_create(&writer, NULL, write_on, NULL), 0);
    assert_int_equal(tm_input_open(&in, &run, path_of("grows")), TM_OK);
    writing = 0;
    assert_int_equal(pthread_join(writer, &failed), 0);
    assert_null(failed);
    assert_true(in.partial);
    assert_true(in.bytes >= 64 << 20);
    assert_int_equal(in.problem_at, in.bytes);
    assert_non_null(strstr(in.problem, "the file grew while it was read"));
    tm_input_close(&in);
    assert_int_equal(unlink(path_of("grows")), 0);
}

/* Open "-" with stdin replaced by `fd`. */
static tm_status open_stdin(struct tm_input *in, struct tm_run *run, int fd)
{
    const int keep = dup(STDIN_FILENO);
    tm_status st;

    assert_true(keep >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    test_run_init(run);
    st = tm_input_open(in, run, "-");
    assert_int_equal(dup2(keep, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(close(keep), 0);
    assert_int_equal(close(fd), 0);
    return st;
}

static void stdin_is_read_from_a_file_in_place(void **state)
{
    struct tm_run run;
    struct tm_input in;

    (void)state;
    write_file("in", text, LONG);
    assert_int_equal(open_stdin(&in, &run, open(path_of("in"), O_RDONLY)), TM_OK);
    assert_false(in.spilled);
    assert_string_equal(in.name, "stdin");
    assert_content(&in, text, LONG);
    tm_input_close(&in);
    assert_int_equal(unlink(path_of("in")), 0);
}

static void stdin_is_kept_where_it_is_a_pipe(void **state)
{
    const size_t length = pack(text, 20000);

    (void)state;
    for (int zipped = 0; zipped < 2; zipped++) {
        struct tm_run run;
        struct tm_input in;
        int ends[2];

        assert_int_equal(pipe(ends), 0);
        if (zipped) /* fits into the pipe */
            assert_int_equal(write(ends[1], packed, length), length);
        else
            assert_int_equal(write(ends[1], text, 20000), 20000);
        assert_int_equal(close(ends[1]), 0);
        assert_int_equal(open_stdin(&in, &run, ends[0]), TM_OK);
        assert_true(in.spilled);
        assert_int_equal(in.gzip, zipped);
        assert_int_equal(in.disk_bytes, zipped ? length : 20000);
        assert_int_equal(in.xxh3, zipped ? XXH3_64bits(packed, length) : XXH3_64bits(text, 20000));
        assert_content(&in, text, 20000);
        tm_input_close(&in);
        assert_ledger_is_even(&run);
    }
}

static void an_empty_stdin_is_refused(void **state)
{
    struct tm_run run;
    struct tm_input in;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(open_stdin(&in, &run, ends[0]), TM_ERR_INPUT);
    assert_string_equal(run.error.what, "stdin is empty (0 bytes)");
    tm_input_close(&in);
    assert_int_equal(open_stdin(&in, &run, open(folder, O_RDONLY)), TM_ERR_INPUT);
    assert_string_equal(run.error.what, "stdin is a folder, not a file");
    tm_input_close(&in);
}

static void other_kinds_are_refused_with_what_to_give(void **state)
{
    static const char chrome[] = "{\"traceEvents\": []}";
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    write_file("trace.json", chrome, sizeof(chrome) - 1);
    assert_int_equal(tm_input_open(&in, &run, path_of("trace.json")), TM_OK);
    assert_int_equal(in.kind, TM_FILE_CHROME_JSON);
    assert_int_equal(tm_input_require_readable(&in), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "is a Chrome trace in JSON, which this version does not read"));
    assert_non_null(strstr(run.error.hint, ".xplane.pb"));
    tm_input_close(&in);
    test_run_init(&run);
    write_file("trace.json", "\x0a\x0b\x12\x09/host:CPU", 13);
    assert_int_equal(tm_input_open(&in, &run, path_of("trace.json")), TM_OK);
    assert_int_equal(tm_input_require_readable(&in), TM_OK);
    tm_input_close(&in);
    assert_int_equal(unlink(path_of("trace.json")), 0);
}

static tm_status open_once(struct tm_run *run)
{
    struct tm_input in;
    const tm_status st = tm_input_open(&in, run, path_of("gzip"));

    tm_input_close(&in);
    return st;
}

static void refused_memory_is_a_clean_error(void **state)
{
    const size_t length = pack(text, 5000);

    (void)state;
    write_file("gzip", packed, length - 5); /* damaged: every way is gone */
    refuse_each_request(open_once);
    assert_int_equal(unlink(path_of("gzip")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_read_in_place),
        cmocka_unit_test(a_gzip_is_inflated_first),
        cmocka_unit_test(a_damaged_gzip_gives_what_could_be_inflated),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_gzip_without_content_is_refused),
        cmocka_unit_test(long_and_hostile_paths_fit_into_the_message),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(a_file_that_grows_is_partial),
        cmocka_unit_test(stdin_is_read_from_a_file_in_place),
        cmocka_unit_test(stdin_is_kept_where_it_is_a_pipe),
        cmocka_unit_test(an_empty_stdin_is_refused),
        cmocka_unit_test(other_kinds_are_refused_with_what_to_give),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
