/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/input_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

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
        text[i] = i % 1000 < 300 ? (uint8_t)next_number(&seed) : (uint8_t) "\x0a\x12vm/host:CPU"[i % 13];
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

/* A zstd of one frame in `packed`. */
static size_t pack_zstd(const uint8_t *from, size_t length)
{
    const size_t bytes = ZSTD_compress(packed, sizeof(packed), from, length, 1);

    assert_false(ZSTD_isError(bytes));
    return bytes;
}

/* Open, hold, and read all of it. */
static tm_status hold_with(struct tm_input *in, struct tm_run *run, const char *path,
                           const struct tm_input_options *options)
{
    tm_status st = tm_input_open_with(in, run, path, options);

    if (st == TM_OK)
        st = tm_input_hold(in);
    return st == TM_OK ? tm_input_finish(in) : st;
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
    assert_int_equal(hold_with(&in, &run, path_of("plain"), NULL), TM_OK);
    assert_false(in.spilled || in.partial);
    assert_int_equal(in.wrapping, TM_PLAIN);
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

/* In whatever order and pieces it is read meanwhile, and whether all of it or not. */
static void the_fingerprint_of_a_held_file_is_of_all_its_bytes(void **state)
{
    static uint8_t got[LONG];
    uint64_t seed = 7;

    (void)state;
    write_file("places", text, LONG);
    for (int round = 0; round < 30; round++) {
        struct tm_run run;
        struct tm_input in;
        size_t n;

        test_run_init(&run);
        assert_int_equal(tm_input_open(&in, &run, path_of("places")), TM_OK);
        assert_int_equal(tm_input_hold(&in), TM_OK);
        assert_int_equal(in.bytes, LONG);
        for (int i = 0; i < round; i++) {
            const uint64_t ahead = next_number(&seed) % (LONG / 8);
            const uint64_t next = LONG - tm_input_unseen(&in); /* one piece is hashed in order */
            const uint64_t at = round & 1 ? next - next_number(&seed) % 1000 : ahead * (uint64_t)i / 4;

            assert_int_equal(tm_input_read(&in, got, (size_t)(ahead + 1000), at, &n), TM_OK);
            assert_memory_equal(got, text + at, n);
        }
        if (round == 29)
            assert_int_equal(tm_input_unseen(&in), 0); /* nothing is left to be read again */
        if (round == 7) {                              /* in front of a place, what is missing is read first */
            assert_int_equal(tm_input_approach(&in, LONG / 2, got, 5000), TM_OK);
            assert_true(tm_input_unseen(&in) <= LONG - LONG / 2);
        }
        assert_int_equal(tm_input_finish(&in), TM_OK);
        assert_int_equal(tm_input_unseen(&in), 0);
        assert_int_equal(in.xxh3, XXH3_64bits(text, LONG));
        assert_int_equal(in.disk_bytes, LONG);
        assert_int_equal(in.bytes, LONG);
        assert_int_equal(run.bytes_read, LONG);
        assert_content(&in, text, LONG);
        tm_input_close(&in);
        assert_ledger_is_even(&run);
    }
    assert_int_equal(unlink(path_of("places")), 0);
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
        assert_int_equal(hold_with(&in, &run, path_of("gzip"), &options), TM_OK);
        assert_true(in.spilled);
        assert_int_equal(in.wrapping, TM_GZIP);
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
            st[i] = hold_with(&in[i], &runs[i], path_of("damaged"), &options);
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
    open_refused(path_of("hollow"), "is empty after it is inflated (0 bytes)", "block_until_ready()");
    write_file("hollow", packed, 10);
    open_refused(path_of("hollow"), "truncated inside member 1 (byte 10)", "copy the file again");
    write_file("hollow", "\x1f\x8b\x07", 3);
    open_refused(path_of("hollow"), "truncated inside member 1 (byte 3)", "copy the file again");
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
    assert_int_equal(hold_with(&in, &run, path_of("shrinks"), NULL), TM_OK);
    assert_int_equal(truncate(path_of("shrinks"), 4050), 0);
    assert_int_equal(tm_input_read(&in, got, 50, 4000, &n), TM_OK);
    assert_int_equal(tm_input_read(&in, got, 100, 4000, &n), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "was truncated while it was read (it had 5000 bytes)"));
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
    assert_int_equal(hold_with(&in, &run, path_of("grows"), NULL), TM_OK);
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
    assert_int_equal(tm_input_hold(&in), TM_OK);
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
        assert_int_equal(tm_input_hold(&in), TM_OK);
        assert_true(in.spilled);
        assert_int_equal(in.wrapping, zipped ? TM_GZIP : TM_PLAIN);
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

/* ---- the stream --------------------------------------------------------------------------------------- */

/* What came out of an input, and all that is known of it. */
struct read_out {
    uint8_t *at;
    size_t length;
    tm_status status;
    struct tm_input in; /* closed */
    char error[TM_ERROR_TEXT];
};

static void assert_same_content(const struct read_out *a, const struct read_out *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->error, b->error);
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->at, b->at, a->length);
    assert_int_equal(a->in.kind, b->in.kind);
    assert_int_equal(a->in.wrapping, b->in.wrapping);
    assert_int_equal(a->in.partial, b->in.partial);
    assert_int_equal(a->in.bytes, b->in.bytes);
    assert_int_equal(a->in.disk_bytes, b->in.disk_bytes);
    assert_int_equal(a->in.members, b->in.members);
    assert_true(a->in.xxh3 == b->in.xxh3);
    assert_int_equal(a->in.problem_at, b->in.problem_at);
    assert_string_equal(a->in.problem, b->in.problem);
}

/* Stream to the end, `room` bytes at a time; each buffer is as long as it says. */
static tm_status stream_all(struct tm_input *in, size_t room, size_t read_most, struct read_out *to)
{
    uint8_t *const buffer = malloc(room);
    size_t got;
    tm_status st;

    assert_non_null(buffer);
    do {
        st = tm_input_next(in, buffer, room, &got);
        assert_true(got <= room && (read_most == 0 || got <= read_most));
        assert_true(to->length + got <= MOST);
        if (got > 0)
            memcpy(to->at + to->length, buffer, got);
        to->length += got;
    } while (st == TM_OK && got > 0);
    if (st == TM_OK) {
        assert_int_equal(tm_input_next(in, buffer, room, &got), TM_OK); /* the end stays the end */
        assert_int_equal(got, 0);
        assert_int_equal(in->bytes, to->length);
    }
    assert_int_equal(in->run->budget.spilled_bytes, 0);
    free(buffer);
    return st;
}

static tm_status read_held(struct tm_input *in, struct read_out *to)
{
    tm_status st = tm_input_hold(in);

    if (st == TM_OK)
        st = tm_input_read(in, to->at, MOST, 0, &to->length);
    return st == TM_OK ? tm_input_finish(in) : st;
}

static struct read_out end_read(struct read_out o, struct tm_run *run, struct tm_input *in)
{
    (void)snprintf(o.error, sizeof(o.error), "%s", run->error.what);
    assert_int_equal(run->error.status, o.status);
    assert_int_equal(run->bytes_read, o.status == TM_OK ? in->disk_bytes : 0);
    tm_input_close(in);
    assert_ledger_is_even(run);
    o.in = *in;
    return o;
}

/* room 0 = held. */
static struct read_out read_file_whole(const char *name, size_t room, const struct tm_input_options *options)
{
    struct read_out o = { .at = malloc(MOST) };
    struct tm_run run;
    struct tm_input in;

    assert_non_null(o.at);
    test_run_init(&run);
    o.status = tm_input_open_with(&in, &run, path_of(name), options);
    if (o.status == TM_OK)
        o.status = room ? stream_all(&in, room, options ? options->read_most : 0, &o) : read_held(&in, &o);
    return end_read(o, &run, &in);
}

/* The two ends of a pipe that is filled by a thread. */
struct filled_pipe {
    pthread_t writer;
    int from, to;
    const uint8_t *bytes;
    size_t length;
};

static void *fill_pipe(void *of)
{
    struct filled_pipe *const p = of;
    size_t done = 0;

    while (done < p->length) {
        const ssize_t n = write(p->to, p->bytes + done, p->length - done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return close(p->to) == 0 && done == p->length ? NULL : p;
}

static struct read_out read_pipe_whole(const uint8_t *bytes, size_t length, size_t room)
{
    struct filled_pipe p = { .bytes = bytes, .length = length };
    struct read_out o = { .at = malloc(MOST) };
    struct tm_run run;
    struct tm_input in;
    void *failed;
    int ends[2];

    assert_non_null(o.at);
    assert_int_equal(pipe(ends), 0);
    p.from = ends[0];
    p.to = ends[1];
    assert_int_equal(pthread_create(&p.writer, NULL, fill_pipe, &p), 0);
    o.status = open_stdin(&in, &run, p.from);
    if (o.status == TM_OK)
        o.status = room ? stream_all(&in, room, 0, &o) : read_held(&in, &o);
    assert_int_equal(pthread_join(p.writer, &failed), 0);
    assert_null(failed);
    return end_read(o, &run, &in);
}

/* The bytes of a file, streamed in every way and held, by either engine, give the same content. */
static struct read_out read_each_way(const uint8_t *bytes, size_t length)
{
    static const struct {
        size_t room, most;
    } ways[] = { { 1 << 20, 0 }, { 1 << 20, 1 }, { 7, 0 }, { 65536, 4096 }, { 100003, 0 }, { 4099, 4095 }, { 0, 0 } };
    struct read_out first, other;

    write_file("each", bytes, length);
    first = read_file_whole("each", 0, &(struct tm_input_options){ .engine = TM_INFLATE_ZLIB });
    for (enum tm_inflate_engine engine = TM_INFLATE_DEFAULT; engine <= TM_INFLATE_ZLIB; engine++) {
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            const struct tm_input_options options = { .engine = engine, .read_most = ways[i].most };

            other = read_file_whole("each", ways[i].room, &options);
            assert_same_content(&first, &other);
            free(other.at);
        }
    }
    for (size_t room = 0; room <= 60000; room += 20000) {
        other = read_pipe_whole(bytes, length, room);
        assert_same_content(&first, &other);
        free(other.at);
    }
    assert_int_equal(unlink(path_of("each")), 0);
    assert_int_equal(first.status, TM_OK);
    assert_int_equal(first.in.disk_bytes, length);
    assert_true(first.in.xxh3 == XXH3_64bits(bytes, length));
    return first;
}

static void assert_each_way(const uint8_t *bytes, size_t length, enum tm_wrapping wrapping, uint64_t members,
                            const char *problem)
{
    struct read_out o = read_each_way(bytes, length);

    assert_int_equal(o.in.wrapping, wrapping);
    assert_int_equal(o.in.members, members);
    if (!strstr(o.in.problem, problem) || (problem[0] == 0) != (o.in.problem[0] == 0))
        fail_msg("'%s' has no '%s'", o.in.problem, problem);
    assert_int_equal(o.length, LONG);
    assert_memory_equal(o.at, text, LONG);
    free(o.at);
}

static void a_stream_gives_what_is_held(void **state)
{
    size_t length;

    (void)state;
    assert_each_way(text, LONG, TM_PLAIN, 0, "");
    length = pack(text, LONG);
    assert_each_way(packed, length, TM_GZIP, 1, "");
    length = pack_zstd(text, LONG);
    assert_each_way(packed, length, TM_ZSTD, 1, "");
}

/* Three pieces of the text, wrapped one after the other, in a file that the caller frees. */
static uint8_t *pack_three(size_t (*pack_one)(const uint8_t *, size_t), size_t *length, size_t *first_end)
{
    static const size_t ends[] = { 0, 300001, 300001, LONG };
    uint8_t *const file = calloc(1, MOST);

    assert_non_null(file);
    *length = 0;
    for (size_t i = 0; i < 3; i++) {
        const size_t bytes = pack_one(text + ends[i], ends[i + 1] - ends[i]);

        assert_true(*length + bytes < MOST - 1000);
        memcpy(file + *length, packed, bytes);
        *length += bytes;
        if (i == 0)
            *first_end = *length;
    }
    return file;
}

static void members_and_frames_follow_one_another(void **state)
{
    size_t length, first_end;
    uint8_t *file = pack_three(pack, &length, &first_end);

    (void)state;
    assert_each_way(file, length, TM_GZIP, 3, "");
    assert_each_way(file, length + 700, TM_GZIP, 3, ""); /* zeros */
    file[length + 300] = 'x';
    assert_each_way(file, length + 700, TM_GZIP, 3, "after member 3, there is data");
    file[length + 300] = 0;
    file[first_end - 5] ^= 1; /* the CRC: no byte is lost */
    assert_each_way(file, length, TM_GZIP, 3, "checksum (CRC) of member 1 is wrong");
    free(file);
    file = pack_three(pack_zstd, &length, &first_end);
    assert_each_way(file, length, TM_ZSTD, 3, "");
    assert_each_way(file, length + 10, TM_ZSTD, 3, "after frame 3, there is data");
    free(file);
}

/* Streamed by both engines, whole and a byte at a time, a damaged file gives what zlib alone gives. */
static void assert_streams_agree(const uint8_t *bytes, size_t length, size_t room)
{
    struct read_out held, streamed;

    write_file("agree", bytes, length);
    held = read_file_whole("agree", 0, &(struct tm_input_options){ .engine = TM_INFLATE_ZLIB });
    for (enum tm_inflate_engine engine = TM_INFLATE_DEFAULT; engine <= TM_INFLATE_ZLIB; engine++) {
        const struct tm_input_options options = { .engine = engine };

        streamed = read_file_whole("agree", room, &options);
        assert_same_content(&held, &streamed);
        free(streamed.at);
    }
    free(held.at);
    assert_int_equal(unlink(path_of("agree")), 0);
}

static void a_file_cut_anywhere_streams_what_came_before(void **state)
{
    static uint8_t file[MOST];

    (void)state;
    for (int wrapping = 0; wrapping < 2; wrapping++) {
        const size_t length = wrapping ? pack(text, 1500) : pack_zstd(text, 1500);

        memcpy(file, packed, length);
        for (size_t cut = 4; cut < length; cut++)
            assert_streams_agree(file, cut, 1 + cut % 200);
    }
}

static void a_file_damaged_anywhere_streams_what_came_before(void **state)
{
    static uint8_t file[MOST];

    (void)state;
    for (int wrapping = 0; wrapping < 2; wrapping++) {
        const size_t length = wrapping ? pack(text, 1500) : pack_zstd(text, 1500);

        memcpy(file, packed, length);
        for (size_t at = 4; at < length; at++) {
            file[at] ^= (uint8_t)(1u << at % 8);
            assert_streams_agree(file, length, 1 + at % 200);
            file[at] ^= (uint8_t)(1u << at % 8);
        }
    }
}

/* Damage long after the head, when bytes have been given out.  The fast engine may have given out a little more
 * than zlib would; what is held never has more. */
static void damage_far_inside_is_met_while_streaming(void **state)
{
    enum { JSON = 300000 };
    static const size_t rooms[] = { 1 << 20, 65536, 1000, 3 };
    static uint8_t file[MOST], json[JSON];
    uint64_t seed = 11;
    size_t length, met = 0;

    (void)state;
    for (size_t i = 0; i < JSON; i++) { /* long matches between numbers */
        json[i] = (uint8_t) "{\"name\": \"fusion\", ts}, "[i % 24];
        if (i % 100 < 30)
            json[i] = (uint8_t)('0' + next_number(&seed) % 10);
    }
    length = pack(json, JSON);
    memcpy(file, packed, length);
    for (int turn = 0; turn < 200; turn++) {
        const size_t at = length / 3 + next_number(&seed) % (length / 2);
        const size_t bytes = turn % 4 == 0 ? 1 : 3000; /* a long damage meets the head of a block */
        struct read_out zlib, fast, held;

        for (size_t i = at; i < at + bytes; i++)
            file[i] = (uint8_t)next_number(&seed);
        write_file("far", file, length);
        zlib = read_file_whole("far", rooms[0], &(struct tm_input_options){ .engine = TM_INFLATE_ZLIB });
        held = read_file_whole("far", 0, NULL);
        fast = read_file_whole("far", rooms[turn % 4], NULL);
        assert_true(zlib.in.partial && zlib.length > 65536);
        assert_same_content(&zlib, &held);
        assert_true(fast.length >= zlib.length && fast.length < zlib.length + 10000);
        assert_memory_equal(fast.at, zlib.at, zlib.length);
        assert_string_equal(fast.in.problem, zlib.in.problem);
        met += strstr(zlib.in.problem, "the compressed data") != NULL;
        assert_true(fast.in.xxh3 == zlib.in.xxh3);
        free(zlib.at);
        free(held.at);
        free(fast.at);
        memcpy(file, packed, length);
        assert_streams_agree(file, at, rooms[turn % 4]); /* cut there: always the same */
    }
    assert_true(met > 20);
    assert_int_equal(unlink(path_of("far")), 0);
}

static void a_file_that_changes_is_noticed_while_streaming(void **state)
{
    struct tm_run run;
    struct tm_input in;
    static uint8_t got[1 << 20];
    size_t n;

    (void)state;
    for (int grows = 0; grows < 2; grows++) {
        test_run_init(&run);
        write_file("changes", text, LONG);
        assert_int_equal(tm_input_open(&in, &run, path_of("changes")), TM_OK);
        assert_int_equal(in.disk_bytes, LONG);
        assert_int_equal(tm_input_next(&in, got, 100, &n), TM_OK);
        assert_int_equal(truncate(path_of("changes"), grows ? LONG + 5 : LONG - 5), 0);
        while (tm_input_next(&in, got, sizeof(got), &n) == TM_OK && n > 0)
            ;
        if (grows)
            assert_non_null(strstr(in.problem, "the file grew while it was read, from 900000 to 900005 bytes"));
        else
            assert_non_null(strstr(run.error.what, "was truncated while it was read (it had 900000 bytes)"));
        assert_int_equal(in.partial, grows);
        assert_int_equal(run.error.at, grows ? 0 : LONG - 5);
        tm_input_close(&in);
        assert_ledger_is_even(&run);
    }
    assert_int_equal(unlink(path_of("changes")), 0);
}

static void kinds_are_told_through_the_wrapping(void **state)
{
    static const char json[] = "{\"traceEvents\": []}", space[] = "\x0a\x0b\x12\x09/host:CPU";
    struct read_out o;
    uint8_t once[200];
    size_t length;

    (void)state;
    write_file("kind", packed, pack_zstd((const uint8_t *)json, sizeof(json) - 1));
    o = read_file_whole("kind", 9, NULL);
    assert_int_equal(o.in.kind, TM_FILE_CHROME_JSON);
    free(o.at);
    write_file("kind", packed, pack_zstd((const uint8_t *)space, sizeof(space) - 1));
    o = read_file_whole("kind", 0, NULL);
    assert_int_equal(o.in.kind, TM_FILE_XSPACE);
    free(o.at);
    length = pack((const uint8_t *)json, sizeof(json) - 1);
    memcpy(once, packed, length);
    write_file("kind", packed, pack_zstd(once, length)); /* a gzip in a zstd */
    o = read_file_whole("kind", 0, NULL);
    assert_int_equal(o.in.kind, TM_FILE_GZIP);
    free(o.at);
    length = pack_zstd((const uint8_t *)json, sizeof(json) - 1);
    memcpy(once, packed, length);
    write_file("kind", packed, pack(once, length));
    o = read_file_whole("kind", 0, NULL);
    assert_int_equal(o.in.kind, TM_FILE_ZSTD);
    assert_int_equal(tm_kind_can_read(o.in.kind), false);
    free(o.at);
    assert_int_equal(unlink(path_of("kind")), 0);
}

static void a_zstd_without_content_is_refused(void **state)
{
    const size_t length = pack_zstd(text, 0);

    (void)state;
    write_file("hollow", packed, length);
    open_refused(path_of("hollow"), "is empty after it is decompressed (0 bytes)", "block_until_ready()");
    write_file("hollow", packed, 5);
    open_refused(path_of("hollow"), "truncated inside frame 1 (byte 5)", "copy the file again");
    assert_int_equal(unlink(path_of("hollow")), 0);
}

static void other_kinds_are_refused_with_what_to_give(void **state)
{
    static const char *const readable[] = { "\x0a\x0b\x12\x09/host:CPU", "{\"traceEvents\": []}" };
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    write_file("trace.json", "<html>", 6);
    assert_int_equal(tm_input_open(&in, &run, path_of("trace.json")), TM_OK);
    assert_int_equal(in.kind, TM_FILE_HTML);
    assert_int_equal(tm_input_require_readable(&in), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, ": it is a web page (HTML)"));
    assert_non_null(strstr(run.error.hint, "download the file itself"));
    tm_input_close(&in);
    for (size_t i = 0; i < 2; i++) {
        test_run_init(&run);
        write_file("trace.json", readable[i], strlen(readable[i]));
        assert_int_equal(tm_input_open(&in, &run, path_of("trace.json")), TM_OK);
        assert_int_equal(tm_input_require_readable(&in), TM_OK);
        tm_input_close(&in);
    }
    assert_int_equal(unlink(path_of("trace.json")), 0);
}

static void a_member_of_what_is_no_archive_is_refused(void **state)
{
    const struct tm_input_options options = { .member = "run1/host.xplane.pb" };
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    write_file("plain", text, 100);
    assert_int_equal(tm_input_open_with(&in, &run, path_of("plain"), &options), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "cannot read the archive"));
    tm_input_close(&in);
    assert_ledger_is_even(&run);
    assert_int_equal(unlink(path_of("plain")), 0);
}

static tm_status hold_once(struct tm_run *run)
{
    struct tm_input in;
    const tm_status st = hold_with(&in, run, path_of("wrapped"), NULL);

    tm_input_close(&in);
    return st;
}

static tm_status stream_once(struct tm_run *run)
{
    struct tm_input in;
    uint8_t got[4096];
    size_t n = 1;
    tm_status st = tm_input_open(&in, run, path_of("wrapped"));

    while (st == TM_OK && n > 0)
        st = tm_input_next(&in, got, sizeof(got), &n);
    tm_input_close(&in);
    return st;
}

/* ---- files that nobody named as traces ---- */

static enum tm_sniffed sniffed_of(const void *bytes, size_t length, tm_status wanted)
{
    enum tm_sniffed sniffed = TM_SNIFFED_XSPACE;
    struct tm_run run;

    write_file("plain.json", bytes, length);
    test_run_init(&run);
    assert_int_equal(tm_sniff_file(&run, path_of("plain.json"), &sniffed), wanted);
    assert_ledger_is_even(&run);
    assert_int_equal(unlink(path_of("plain.json")), 0);
    return sniffed;
}

static void the_first_bytes_tell_a_trace(void **state)
{
    static const char events[] = "{\"traceEvents\": [{\"ph\": \"X\"}]}", space[] = "\n\x0f\x12\x0d/device:GPU:0";
    static uint8_t far[LONG];
    ZSTD_CCtx *const z = ZSTD_createCCtx();
    ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
    ZSTD_inBuffer in = { far, 100, 0 };
    enum tm_sniffed sniffed;
    struct tm_run run;
    size_t length;

    (void)state;
    assert_int_equal(sniffed_of(events, strlen(events), TM_OK), TM_SNIFFED_TRACE_JSON);
    assert_int_equal(sniffed_of(space, sizeof(space) - 1, TM_OK), TM_SNIFFED_XSPACE);
    assert_int_equal(sniffed_of("{}", 2, TM_OK), TM_SNIFFED_OTHER);
    assert_int_equal(sniffed_of("", 0, TM_OK), TM_SNIFFED_OTHER);
    length = pack((const uint8_t *)events, strlen(events));
    assert_int_equal(sniffed_of(packed, length, TM_OK), TM_SNIFFED_TRACE_JSON);
    assert_int_equal(sniffed_of(packed, 12, TM_OK), TM_SNIFFED_OTHER); /* cut: whoever names it is told */
    length = pack_zstd((const uint8_t *)space, sizeof(space) - 1);
    assert_int_equal(sniffed_of(packed, length, TM_OK), TM_SNIFFED_XSPACE);

    memset(far, ' ', sizeof(far)); /* what comes behind the first bytes is not looked at */
    memcpy(far, "{\"a\": [", 7);
    memcpy(far + sizeof(far) - 40, "],\"traceEvents\": []}", 20);
    assert_int_equal(sniffed_of(far, sizeof(far), TM_OK), TM_SNIFFED_OTHER);
    memcpy(far, events, strlen(events));
    memcpy(far + 1000, text, sizeof(far) - 1000); /* of which much does not pack */
    assert_int_equal(sniffed_of(packed, pack(far, sizeof(far)), TM_OK), TM_SNIFFED_TRACE_JSON);

    /* a window that the memory does not allow is no reason to end a search */
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 27)));
    assert_false(ZSTD_isError(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush)));
    (void)sniffed_of(packed, out.pos, TM_ERR_INPUT);
    (void)ZSTD_freeCCtx(z);
    test_run_init(&run);
    assert_int_equal(tm_sniff_file(&run, path_of("nowhere.json"), &sniffed), TM_ERR_INPUT);
    assert_ledger_is_even(&run);
}

static tm_status sniff_once(struct tm_run *run)
{
    enum tm_sniffed sniffed;

    return tm_sniff_file(run, path_of("wrapped"), &sniffed);
}

static void refused_memory_is_a_clean_error(void **state)
{
    size_t length = pack(text, 100000);

    (void)state;
    write_file("wrapped", packed, length - 5); /* damaged: every way is gone */
    refuse_each_request(hold_once);
    refuse_each_request(stream_once);
    length = pack_zstd(text, 100000);
    write_file("wrapped", packed, length);
    refuse_each_request(hold_once);
    refuse_each_request(stream_once);
    refuse_each_request(sniff_once);
    assert_int_equal(unlink(path_of("wrapped")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_read_in_place),
        cmocka_unit_test(the_fingerprint_of_a_held_file_is_of_all_its_bytes),
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
        cmocka_unit_test(a_stream_gives_what_is_held),
        cmocka_unit_test(members_and_frames_follow_one_another),
        cmocka_unit_test(a_file_cut_anywhere_streams_what_came_before),
        cmocka_unit_test(a_file_damaged_anywhere_streams_what_came_before),
        cmocka_unit_test(damage_far_inside_is_met_while_streaming),
        cmocka_unit_test(a_file_that_changes_is_noticed_while_streaming),
        cmocka_unit_test(kinds_are_told_through_the_wrapping),
        cmocka_unit_test(a_zstd_without_content_is_refused),
        cmocka_unit_test(the_first_bytes_tell_a_trace),
        cmocka_unit_test(a_member_of_what_is_no_archive_is_refused),
        cmocka_unit_test(other_kinds_are_refused_with_what_to_give),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
