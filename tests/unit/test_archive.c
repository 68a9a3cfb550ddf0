/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/input/bytes/input_file.h"
#include "tests/support/test_run.h"

/* ---- archives ---- */

enum { BIG = 300000, MEMBERS_MOST = 64 };

static char path[] = "/var/tmp/tracemill-archive-XXXXXX";
static uint8_t big[BIG];

static int make_path(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    for (uint64_t i = 0, seed = 1; i < BIG; i++)
        big[i] = (uint8_t)(next_number(&seed) >> 61);
    return fd >= 0 ? close(fd) : -1;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

struct form {
    const char *name;
    int (*format)(struct archive *);
    int (*filter)(struct archive *);
    bool keeps_links; /* knows them at all */
};

static const struct form forms[] = {
    { "ustar", archive_write_set_format_ustar, archive_write_add_filter_none, true },
    { "pax", archive_write_set_format_pax, archive_write_add_filter_none, true },
    { "GNU tar", archive_write_set_format_gnutar, archive_write_add_filter_none, true },
    { "old tar", archive_write_set_format_v7tar, archive_write_add_filter_none, true },
    { "tar.gz", archive_write_set_format_pax, archive_write_add_filter_gzip, true },
    { "tar.zst", archive_write_set_format_pax, archive_write_add_filter_zstd, true },
    { "zip", archive_write_set_format_zip, archive_write_add_filter_none, true },
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]), PAX = 1, GNU = 2, GZIP = 4, ZSTD = 5, ZIP = 6 };

static struct archive *begin(const struct form *form)
{
    struct archive *const a = archive_write_new();

    assert_non_null(a);
    assert_int_equal(form->format(a), ARCHIVE_OK);
    assert_int_equal(form->filter(a), ARCHIVE_OK);
    return a;
}

static void open_it(struct archive *a)
{
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
}

static void put_type(struct archive *a, const char *name, const void *bytes, size_t length, unsigned type,
                     const char *link)
{
    struct archive_entry *const e = archive_entry_new();

    archive_entry_copy_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (int64_t)length);
    archive_entry_set_mtime(e, 1000, 0);
    if (link && type == AE_IFLNK)
        archive_entry_copy_symlink(e, link);
    else if (link)
        archive_entry_copy_hardlink(e, link);
    if (archive_write_header(a, e) < ARCHIVE_WARN)
        fail_msg("%s: %s", name, archive_error_string(a));
    if (length > 0)
        assert_int_equal(archive_write_data(a, bytes, length), length);
    archive_entry_free(e);
}

static void put(struct archive *a, const char *name, const void *bytes, size_t length)
{
    put_type(a, name, bytes, length, AE_IFREG, NULL);
}

static void end(struct archive *a)
{
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

/* Three members: small, big, small. */
static void make_usual(const struct form *form)
{
    struct archive *const a = begin(form);

    open_it(a);
    put(a, "run/a.xplane.pb", "first", 5);
    put(a, "run/b.xplane.pb", big, BIG);
    put(a, "run/c.xplane.pb", "last", 4);
    end(a);
}

static size_t file_bytes(void)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return (size_t)info.st_size;
}

/* ---- what comes back ---- */

struct row {
    char name[TM_MEMBER_NAME_MOST + 1];
    uint64_t position, bytes;
    int64_t mtime_ns;
    bool is_regular;
};

static struct row rows[MEMBERS_MOST];
static size_t count;
static struct tm_run run;
static struct tm_listing listing;

static tm_status take(void *to, const struct tm_member *m)
{
    struct row *const r = &rows[count < MEMBERS_MOST ? count : MEMBERS_MOST - 1];

    (void)to;
    (void)snprintf(r->name, sizeof(r->name), "%s", m->name);
    r->position = m->position;
    r->bytes = m->bytes;
    r->mtime_ns = m->mtime_ns;
    r->is_regular = m->is_regular;
    count++;
    return TM_OK;
}

static tm_status list(void)
{
    test_run_init(&run);
    count = 0;
    return tm_archive_list(&run, path, take, NULL, &listing);
}

/* Not even what is left open for the next member, once that is ended. */
static void assert_nothing_is_held(void)
{
    tm_close_left_open(&run);
    assert_ledger_is_even(&run);
}

static void listed(void)
{
    if (list() != TM_OK)
        fail_msg("%s", run.error.what);
    assert_nothing_is_held();
}

static bool is_archive(void)
{
    bool is;

    test_run_init(&run);
    assert_int_equal(tm_kind_is_archive(&run, path, &is), TM_OK);
    assert_nothing_is_held();
    return is;
}

/* Read a member in odd portions.  out: its length; *problem  whether it is damaged */
static size_t read_member(const char *name, uint64_t position, uint8_t *to, size_t room, bool *problem)
{
    struct tm_archive_member *m;
    size_t all = 0, got = 1;

    if (tm_archive_open(&m, &run, path, name, position) != TM_OK) {
        assert_null(m);
        return SIZE_MAX;
    }
    while (got > 0 && all < room) {
        const size_t want = room - all < 7919 ? room - all : 7919;

        if (tm_archive_read(m, to + all, want, &got) != TM_OK) {
            all = SIZE_MAX;
            break;
        }
        all += got;
    }
    *problem = tm_archive_problem(m) != NULL;
    tm_archive_close(m);
    assert_nothing_is_held();
    return all;
}

static uint8_t content[BIG + 1000];

static void expect(const char *name, uint64_t position, const void *bytes, size_t length)
{
    bool problem;

    test_run_init(&run);
    if (read_member(name, position, content, sizeof(content), &problem) != length)
        fail_msg("'%s' has another length: %s", name, run.error.what);
    assert_memory_equal(content, bytes, length);
    assert_false(problem);
}

/* ---- tests ---- */

static void every_form_gives_its_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        make_usual(&forms[i]);
        assert_true(is_archive());
        listed();
        assert_int_equal(count, 3);
        assert_int_equal(listing.members, 3);
        assert_int_equal(listing.unnamed, 0);
        assert_string_equal(listing.problem, "");
        assert_string_equal(rows[1].name, "run/b.xplane.pb");
        assert_int_equal(rows[1].bytes, BIG);
        assert_int_equal(rows[1].position, 2);
        assert_int_equal(rows[1].mtime_ns, 1000 * INT64_C(1000000000));
        assert_true(rows[1].is_regular);
        expect("run/a.xplane.pb", 1, "first", 5);
        expect("run/b.xplane.pb", 2, big, BIG);
        expect("run/c.xplane.pb", 0, "last", 4);
    }
}

static void write_file(const void *bytes, size_t length)
{
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    assert_int_equal(close(fd), 0);
}

/* pzstd says so how long the frame that follows is. */
static void a_tar_in_zstd_may_start_with_a_skippable_frame(void **state)
{
    static const char frame[] = "\x50\x2a\x4d\x18\4\0\0\0size";
    static uint8_t file[2 * BIG];
    size_t length;
    int fd;

    (void)state;
    make_usual(&forms[ZSTD]);
    length = file_bytes();
    assert_true(length + sizeof(frame) - 1 <= sizeof(file));
    memcpy(file, frame, sizeof(frame) - 1);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, file + sizeof(frame) - 1, length), length);
    assert_int_equal(close(fd), 0);
    write_file(file, length + sizeof(frame) - 1);
    assert_true(is_archive());
    listed();
    assert_int_equal(count, 3);
    expect("run/b.xplane.pb", 2, big, BIG);
}

static void what_is_no_archive_is_told(void **state)
{
    struct archive *a;
    bool is = true;

    (void)state;
    write_file("plain", 5);
    assert_false(is_archive());
    write_file("", 0);
    assert_false(is_archive());
    for (size_t i = 0; i < 2; i++) {
        a = begin(&(struct form){ "raw", archive_write_set_format_raw,
                                  i ? archive_write_add_filter_gzip : archive_write_add_filter_zstd, false });
        open_it(a);
        put(a, "data", big, BIG);
        end(a);
        assert_false(is_archive());
    }
    test_run_init(&run);
    assert_int_equal(tm_kind_is_archive(&run, "/var/tmp", &is), TM_OK);
    assert_false(is);
    is = true;
    assert_int_equal(tm_kind_is_archive(&run, "/var/tmp/there is none", &is), TM_OK);
    assert_false(is);
}

static void names_of_any_length_and_bytes_are_kept(void **state)
{
    static const int long_forms[] = { PAX, GNU, GZIP, ZIP };
    static char longest[TM_MEMBER_NAME_MOST + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(long_forms) / sizeof(long_forms[0]); i++) {
        struct archive *const a = begin(&forms[long_forms[i]]);

        memset(longest, 'n', sizeof(longest) - 1);
        open_it(a);
        put(a, longest, "too long", 8);
        longest[TM_MEMBER_NAME_MOST] = '\0';
        put(a, longest, "long", 4);
        put(a, "r\xc3\xa9sum\xc3\xa9/\xe2\x82\xac", "UTF-8", 5);
        put(a, "a\x01\x7f \"'", "odd", 3);
        end(a);
        listed();
        assert_int_equal(count, 3);
        assert_int_equal(listing.members, 4);
        assert_int_equal(listing.unnamed, 1);
        assert_string_equal(rows[0].name, longest);
        assert_int_equal(rows[0].position, 2);
        assert_string_equal(rows[1].name, "r\xc3\xa9sum\xc3\xa9/\xe2\x82\xac");
        expect(longest, 2, "long", 4);
        expect(rows[1].name, 3, "UTF-8", 5);
        expect("a\x01\x7f \"'", 0, "odd", 3);
    }
}

static void bytes_that_are_no_text_are_kept(void **state)
{
    struct archive *const a = begin(&forms[GNU]);

    (void)state;
    open_it(a);
    put(a, "\xff\xfe/\x80.xplane.pb", "bytes", 5);
    end(a);
    listed();
    assert_int_equal(count, 1);
    expect("\xff\xfe/\x80.xplane.pb", 1, "bytes", 5);
}

static void hostile_names_and_links_do_nothing(void **state)
{
    struct archive *a;

    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        a = begin(&forms[i]);
        open_it(a);
        put(a, "../../etc/passwd", "up", 2);
        put(a, "/etc/passwd", "absolute", 8);
        put_type(a, "run/link.xplane.pb", NULL, 0, AE_IFLNK, "/etc/passwd");
        if (i != ZIP)
            put_type(a, "run/hard.xplane.pb", NULL, 0, AE_IFREG, "../../etc/passwd");
        put_type(a, "run/", NULL, 0, AE_IFDIR, NULL);
        end(a);
        listed();
        assert_int_equal(count, i == ZIP ? 4 : 5);
        assert_true(rows[0].is_regular);
        assert_string_equal(rows[0].name, "../../etc/passwd");
        assert_true(rows[1].is_regular);
        for (size_t k = 2; k < count; k++)
            assert_false(rows[k].is_regular);
        expect("../../etc/passwd", 1, "up", 2);
        expect("/etc/passwd", 2, "absolute", 8);
        test_run_init(&run);
        assert_int_equal(read_member("run/link.xplane.pb", 3, content, 10, &(bool){ false }), SIZE_MAX);
        assert_int_equal(run.error.status, TM_ERR_INPUT);
    }
}

static void of_one_name_the_last_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        struct archive *const a = begin(&forms[i]);

        open_it(a);
        put(a, "x", "old", 3);
        put(a, "y", "other", 5);
        put(a, "x", "newer", 5);
        end(a);
        expect("x", 0, "newer", 5);
        expect("x", 1, "old", 3);
    }
}

static void what_is_not_there_is_said(void **state)
{
    bool problem;

    (void)state;
    make_usual(&forms[ZIP]);
    test_run_init(&run);
    assert_int_equal(read_member("run/d.xplane.pb", 0, content, 10, &problem), SIZE_MAX);
    assert_non_null(strstr(run.error.what, "no 'run/d.xplane.pb'"));
    test_run_init(&run);
    assert_int_equal(read_member("run/a.xplane.pb", 2, content, 10, &problem), SIZE_MAX);
    assert_non_null(strstr(run.error.what, "has changed"));
    test_run_init(&run);
    assert_int_equal(read_member("run/a.xplane.pb", 9, content, 10, &problem), SIZE_MAX);
    assert_nothing_is_held();
}

/* An lzma says how large a dictionary it needs, whatever it holds: 2 GiB for these few bytes.  Found by fuzzing. */
static void a_member_packed_by_anything_but_deflate_is_refused(void **state)
{
    struct archive *const a = begin(&forms[ZIP]);
    FILE *file;
    bool problem;

    (void)state;
    assert_int_equal(archive_write_set_options(a, "zip:compression=store"), ARCHIVE_OK);
    open_it(a);
    put(a, "run/a.xplane.pb", "\x10\x02\x05\0\x5d\0\0\0\x80 packed", 16);
    end(a);
    file = fopen(path, "r+b");
    assert_true(file && fseek(file, 8, SEEK_SET) == 0 && fputc(14, file) == 14 && fclose(file) == 0);
    listed();
    assert_int_equal(count, 1);
    test_run_init(&run);
    assert_int_equal(read_member("run/a.xplane.pb", 1, content, 1000, &problem), SIZE_MAX);
    assert_non_null(strstr(run.error.what, "is compressed with 'lzma', but only deflate is supported"));
    assert_ledger_is_even(&run);
}

static void an_encrypted_member_is_refused(void **state)
{
    struct archive *const a = begin(&forms[ZIP]);
    bool problem;

    (void)state;
    if (archive_write_set_options(a, "zip:encryption=zipcrypt") != ARCHIVE_OK ||
        archive_write_set_passphrase(a, "secret") != ARCHIVE_OK) {
        (void)archive_write_free(a);
        skip();
    }
    open_it(a);
    put(a, "run/a.xplane.pb", big, 1000);
    end(a);
    listed();
    assert_int_equal(count, 1);
    test_run_init(&run);
    assert_int_equal(read_member("run/a.xplane.pb", 1, content, 1000, &problem), SIZE_MAX);
    assert_non_null(strstr(run.error.what, "is encrypted"));
    assert_true(run.error.hint[0] != '\0');
}

/* Whatever is left of the usual members is the begin of them. */
static size_t check_rest(void)
{
    static const char *const small[] = { "first", NULL, "last" };
    size_t whole = 0;
    bool problem = false;

    if (list() != TM_OK) {
        assert_true(run.error.status == TM_ERR_INPUT);
        assert_nothing_is_held();
        return 0;
    }
    assert_true(count <= 3);
    for (size_t i = 0; i < count; i++) {
        const void *const bytes = small[i] ? (const void *)small[i] : big;
        const size_t length = small[i] ? strlen(small[i]) : BIG;
        size_t got;

        test_run_init(&run);
        got = read_member(rows[i].name, rows[i].position, content, sizeof(content), &problem);
        if (got == SIZE_MAX)
            break;
        assert_true(got <= length);
        assert_memory_equal(content, bytes, got);
        assert_true(problem || got == length);
        whole += got == length && !problem;
    }
    return whole;
}

static void a_cut_archive_gives_what_lies_before_the_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        size_t most = 0, bytes;

        make_usual(&forms[i]);
        bytes = file_bytes();
        for (size_t cut = bytes; cut > 0; cut = cut > 9973 ? cut - 9973 : cut / 2) {
            size_t whole;

            assert_int_equal(truncate(path, (off_t)cut), 0);
            whole = check_rest();
            most = whole > most ? whole : most;
            if (whole < 2 && list() == TM_OK) /* also the big one is cut */
                assert_true(listing.problem[0] != '\0');
        }
        assert_int_equal(most, 3);
    }
}

static void a_zip_without_its_directory_is_read_in_order(void **state)
{
    (void)state;
    make_usual(&forms[ZIP]);
    assert_int_equal(truncate(path, (off_t)file_bytes() - 30), 0);
    listed();
    assert_int_equal(count, 3);
    assert_non_null(strstr(listing.problem, "directory"));
    expect("run/b.xplane.pb", 2, big, BIG);
}

static void damage_is_no_crash(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int turn = 0; turn < 210; turn++) {
        uint8_t byte;
        size_t bytes;
        int fd;

        make_usual(&forms[turn % FORMS]);
        bytes = file_bytes();
        fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        for (int i = 0; i < 8; i++) {
            const uint64_t near = i < 4 ? 1024 : bytes; /* headers more than contents */

            byte = (uint8_t)next_number(&seed);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)(next_number(&seed) % near % bytes)), 1);
        }
        assert_int_equal(close(fd), 0);
        (void)is_archive();
        if (list() == TM_OK) {
            for (size_t i = 0; i < count && i < MEMBERS_MOST; i++) {
                bool problem;

                test_run_init(&run);
                (void)read_member(rows[i].name, rows[i].position, content, sizeof(content), &problem);
            }
        }
        assert_nothing_is_held();
    }
}

static void a_check_that_fails_is_a_problem(void **state)
{
    struct archive *a;
    bool problem = false;
    int fd;

    (void)state;
    a = begin(&forms[ZIP]);
    assert_int_equal(archive_write_set_options(a, "zip:compression=store"), ARCHIVE_OK);
    open_it(a);
    put(a, "x", big, BIG);
    end(a);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "\xff", 1, 5000), 1);
    assert_int_equal(close(fd), 0);
    test_run_init(&run);
    assert_int_equal(read_member("x", 1, content, sizeof(content), &problem), BIG);
    assert_true(problem);
}

static void holes_are_zeros(void **state)
{
    struct archive *const a = begin(&forms[PAX]);
    struct archive_entry *const e = archive_entry_new();
    static uint8_t want[BIG];

    (void)state;
    memset(want, 0, sizeof(want));
    memcpy(want, "begin", 5);
    memcpy(want + 200000, big, 100000);
    open_it(a);
    archive_entry_copy_pathname(e, "sparse");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_size(e, BIG);
    archive_entry_sparse_add_entry(e, 0, 5);
    archive_entry_sparse_add_entry(e, 200000, 100000);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, want, BIG), BIG);
    archive_entry_free(e);
    end(a);
    expect("sparse", 1, want, BIG);
}

static uint64_t bytes_read(void)
{
    FILE *const io = fopen("/proc/self/io", "re");
    unsigned long long bytes = 0;

    assert_non_null(io);
    assert_int_equal(fscanf(io, "rchar: %llu", &bytes), 1);
    assert_int_equal(fclose(io), 0);
    return bytes;
}

static void what_is_passed_over_is_not_read(void **state)
{
    static const int plain[] = { PAX, GNU, ZIP };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct archive *const a = begin(&forms[plain[i]]);
        uint64_t before;
        char name[16];

        if (plain[i] == ZIP)
            assert_int_equal(archive_write_set_options(a, "zip:compression=store"), ARCHIVE_OK);
        open_it(a);
        for (int k = 0; k < 40; k++) {
            (void)snprintf(name, sizeof(name), "m%d", k);
            put(a, name, big, BIG);
        }
        end(a);
        before = bytes_read();
        listed();
        assert_int_equal(count, 40);
        assert_true(bytes_read() - before < 2000000); /* of 12 MB */
    }
}

static void a_long_directory_is_a_limit(void **state)
{
    struct archive *const a = begin(&forms[ZIP]);
    static char name[4000];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    open_it(a);
    for (int i = 0; i < 4600; i++) {
        (void)snprintf(name, 16, "%d", i);
        name[strlen(name)] = '/';
        put(a, name, "", 0);
    }
    end(a);
    assert_int_equal(list(), TM_ERR_LIMIT);
    assert_true(run.error.hint[0] != '\0');
    assert_nothing_is_held();
}

/* A million members and one more, of 512 bytes each, as a gzip of many equal members. */
static void more_members_than_the_most_are_a_limit(void **state)
{
    enum { HEADERS = 1000, HEADER = 512 };
    static uint8_t headers[HEADERS * HEADER], packed[64 * 1024];
    struct archive *a = begin(&forms[0]);
    size_t packed_bytes = 0;
    FILE *file;

    (void)state;
    open_it(a);
    put(a, "a.txt", "", 0);
    end(a);
    file = fopen(path, "rbe");
    assert_non_null(file);
    assert_int_equal(fread(headers, 1, HEADER, file), HEADER);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 1; i < HEADERS; i++)
        memcpy(headers + i * HEADER, headers, HEADER);
    a = begin(&(struct form){ "raw", archive_write_set_format_raw, archive_write_add_filter_gzip, false });
    assert_int_equal(archive_write_set_bytes_per_block(a, 0), ARCHIVE_OK);
    assert_int_equal(archive_write_open_memory(a, packed, sizeof(packed), &packed_bytes), ARCHIVE_OK);
    put(a, "data", headers, sizeof(headers));
    end(a);
    file = fopen(path, "wbe");
    assert_non_null(file);
    for (size_t i = 0; i <= TM_ARCHIVE_MEMBERS_MOST / HEADERS; i++)
        assert_int_equal(fwrite(packed, 1, packed_bytes, file), packed_bytes);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(list(), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.what, "more than 1000000 members"));
    assert_true(run.error.hint[0] != '\0');
    assert_int_equal(count, TM_ARCHIVE_MEMBERS_MOST);
    assert_nothing_is_held();
}

/* ---- members as inputs ---- */

static struct tm_input in;

static void open_member(const char *name, uint64_t position)
{
    const struct tm_input_options options = { .member = name, .position = position };

    test_run_init(&run);
    if (tm_input_open_with(&in, &run, path, &options) != TM_OK)
        fail_msg("%s", run.error.what);
}

static void close_input(void)
{
    tm_input_close(&in);
    assert_nothing_is_held();
}

/* A gzip of `big` in packed; out: its length */
static size_t pack(uint8_t *packed, size_t room)
{
    struct archive *const a =
        begin(&(struct form){ "raw", archive_write_set_format_raw, archive_write_add_filter_gzip, false });
    size_t bytes = 0;

    assert_int_equal(archive_write_open_memory(a, packed, room, &bytes), ARCHIVE_OK);
    put(a, "data", big, BIG);
    end(a);
    return bytes;
}

static void a_member_is_an_input(void **state)
{
    static uint8_t packed[BIG + 1000];
    const size_t packed_bytes = pack(packed, sizeof(packed));

    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        struct archive *const a = begin(&forms[i]);
        uint64_t xxh3[2];
        size_t got, all = 0;

        open_it(a);
        put(a, "run/a.xplane.pb", "first", 5);
        put(a, "run/b.json.gz", packed, packed_bytes); /* wrapped by itself */
        end(a);
        open_member("run/b.json.gz", 2);
        assert_int_equal(in.wrapping, TM_GZIP);
        assert_non_null(strstr(in.name, "(run/b.json.gz)"));
        do {
            assert_int_equal(tm_input_next(&in, content + all, 7919, &got), TM_OK);
            all += got;
        } while (got > 0);
        assert_int_equal(all, BIG);
        assert_memory_equal(content, big, BIG);
        assert_int_equal(in.disk_bytes, packed_bytes);
        assert_int_equal(in.bytes, BIG);
        assert_int_equal(in.modified_ns, 1000 * INT64_C(1000000000));
        assert_false(in.partial);
        xxh3[0] = in.xxh3;
        close_input();
        open_member("run/b.json.gz", 0);
        assert_int_equal(tm_input_hold(&in), TM_OK);
        assert_int_equal(tm_input_read(&in, content, 1000, BIG - 1000, &got), TM_OK);
        assert_int_equal(got, 1000);
        assert_memory_equal(content, big + BIG - 1000, 1000);
        xxh3[1] = in.xxh3;
        assert_true(xxh3[0] == xxh3[1]);
        close_input();
    }
}

static void a_damaged_member_is_a_partial_input(void **state)
{
    static const int wrapped[] = { PAX, GZIP, ZIP };
    size_t got;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        make_usual(&forms[wrapped[i]]);
        assert_int_equal(truncate(path, (off_t)file_bytes() / 2), 0);
        open_member("run/b.xplane.pb", 2);
        assert_int_equal(tm_input_hold(&in), TM_OK);
        assert_true(in.partial);
        assert_non_null(strstr(in.problem, "the archive is damaged in this member"));
        assert_true(in.bytes > 0 && in.bytes < BIG);
        assert_int_equal(tm_input_read(&in, content, BIG, 0, &got), TM_OK);
        assert_int_equal(got, in.bytes);
        assert_memory_equal(content, big, got);
        close_input();
    }
}

/* Damage in the gzip of the member: it is read again with zlib, from the archive's begin. */
static void a_damaged_gzip_in_an_archive_is_read_again(void **state)
{
    static uint8_t packed[BIG + 1000];
    const size_t packed_bytes = pack(packed, sizeof(packed));
    uint64_t bytes[2];

    (void)state;
    packed[packed_bytes / 2] ^= 0x55;
    for (size_t i = 0; i < 2; i++) {
        const struct form *const form = &forms[i ? GZIP : ZIP];
        struct archive *const a = begin(form);

        open_it(a);
        put(a, "b.json.gz", packed, packed_bytes);
        end(a);
        open_member("b.json.gz", 1);
        assert_int_equal(tm_input_hold(&in), TM_OK);
        assert_true(in.partial);
        assert_non_null(strstr(in.problem, "the gzip is damaged"));
        assert_int_equal(in.disk_bytes, packed_bytes);
        bytes[i] = in.bytes;
        close_input();
    }
    assert_true(bytes[0] == bytes[1]);
}

static void an_input_that_is_no_member_is_an_error(void **state)
{
    const struct tm_input_options missing = { .member = "run/z" }, empty = { .member = "empty", .position = 2 };
    struct archive *const a = begin(&forms[GNU]);

    (void)state;
    open_it(a);
    put(a, "some", "bytes", 5);
    put(a, "empty", "", 0);
    end(a);
    test_run_init(&run);
    assert_int_equal(tm_input_open_with(&in, &run, path, &missing), TM_ERR_INPUT);
    close_input();
    test_run_init(&run);
    assert_int_equal(tm_input_open_with(&in, &run, path, &empty), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "is empty"));
    close_input();
}

static tm_status hold_member(struct tm_run *one)
{
    const struct tm_input_options options = { .member = "run/b.xplane.pb", .position = 2 };
    tm_status st = tm_input_open_with(&in, one, path, &options);

    if (st == TM_OK)
        st = tm_input_hold(&in);
    tm_input_close(&in);
    tm_close_left_open(one);
    return st;
}

static void memory_refused_for_a_member_is_a_clean_error(void **state)
{
    (void)state;
    make_usual(&forms[GZIP]);
    refuse_each_request(hold_member);
}

static tm_status refuse_third(void *to, const struct tm_member *member)
{
    (void)to;
    return member->position == 3 ? TM_ERR_LIMIT : TM_OK;
}

static void who_takes_members_may_stop(void **state)
{
    (void)state;
    make_usual(&forms[GZIP]);
    test_run_init(&run);
    assert_int_equal(tm_archive_list(&run, path, refuse_third, NULL, &listing), TM_ERR_LIMIT);
    assert_nothing_is_held();
}

static tm_status use_all(struct tm_run *one)
{
    struct tm_archive_member *m;
    bool is;
    size_t got;
    tm_status st = tm_kind_is_archive(one, path, &is);

    if (st == TM_OK)
        st = tm_archive_open(&m, one, path, "run/c.xplane.pb", 0);
    if (st != TM_OK)
        return st;
    st = tm_archive_read(m, content, sizeof(content), &got);
    tm_archive_close(m);
    tm_close_left_open(one);
    return st;
}

enum { MANY = 50 };

/* Read member `number` of `MANY`, or only its first byte. */
static tm_status read_one(unsigned number, bool to_the_end)
{
    struct tm_archive_member *m;
    char name[32], text[8];
    size_t got;
    tm_status st;

    (void)snprintf(name, sizeof(name), "run/%u.xplane.pb", number);
    st = tm_archive_open(&m, &run, path, name, number);
    if (st != TM_OK)
        return st;
    assert_int_equal(tm_archive_read(m, text, to_the_end ? sizeof(text) : 1, &got), TM_OK);
    assert_memory_equal(text, name + 4, to_the_end ? 2 : 1);
    tm_archive_close(m);
    return TM_OK;
}

static void make_many(const struct form *form)
{
    struct archive *const a = begin(form);
    char name[32];

    open_it(a);
    for (unsigned i = 1; i <= MANY; i++) {
        (void)snprintf(name, sizeof(name), "run/%u.xplane.pb", i);
        put(a, name, name + 4, 2);
    }
    end(a);
}

static void members_in_order_take_one_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        make_many(&forms[i]);
        test_run_init(&run);
        for (unsigned number = 1; number <= MANY; number++)
            assert_int_equal(read_one(number, number % 3 > 0), TM_OK);
        assert_in_range(run.archive_again_members, 1, 5 * MANY); /* of a zip its directory is counted, too */
        for (unsigned number = MANY; number > 7; number -= 7)
            assert_int_equal(read_one(number, number % 3 > 0), TM_OK);
        assert_nothing_is_held();
    }
}

static void too_many_passes_are_a_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        tm_status st = TM_OK;

        make_many(&forms[i]);
        test_run_init(&run);
        run.archive_again_members = TM_ARCHIVE_AGAIN_MEMBERS_MOST - 10 * MANY;
        assert_int_equal(read_one(MANY, true), TM_OK);
        for (unsigned number = MANY - 1; st == TM_OK && number > MANY - 20; number--)
            st = read_one(number, true);
        assert_int_equal(st, TM_ERR_LIMIT);
        run.limit_times = 2;
        assert_int_equal(read_one(1, true), TM_OK);
        assert_nothing_is_held();
    }
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    make_usual(&forms[GZIP]);
    refuse_each_request(use_all);
    make_usual(&forms[ZIP]);
    refuse_each_request(use_all);
}

static tm_status discover_all(struct tm_run *one)
{
    struct tm_found found;
    const tm_status st = tm_discover_members(one, path, tm_archive_list, &found);

    tm_found_free(&found);
    tm_close_left_open(one);
    return st;
}

/* Contents that are looked at, and links that are followed. */
static void refused_memory_in_a_search_is_a_clean_error(void **state)
{
    static const unsigned some[] = { GNU, GZIP, ZIP };
    static const char events[] = "{\"traceEvents\": []}";

    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        struct archive *const a = begin(&forms[some[i]]);

        open_it(a);
        put(a, "a/rank0.json", events, strlen(events));
        put(a, "a/config.json", "{}", 2);
        put_type(a, "b/rank0.json", NULL, 0, AE_IFLNK, "../a/rank0.json");
        put(a, "blob", big, BIG);
        put_type(a, "c/vm.xplane.pb", NULL, 0, AE_IFLNK, "../blob");
        end(a);
        refuse_each_request(discover_all);
        test_run_init(&run);
        assert_int_equal(discover_all(&run), TM_OK);
        assert_ledger_is_even(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_its_members),
        cmocka_unit_test(a_tar_in_zstd_may_start_with_a_skippable_frame),
        cmocka_unit_test(what_is_no_archive_is_told),
        cmocka_unit_test(names_of_any_length_and_bytes_are_kept),
        cmocka_unit_test(bytes_that_are_no_text_are_kept),
        cmocka_unit_test(hostile_names_and_links_do_nothing),
        cmocka_unit_test(of_one_name_the_last_counts),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(an_encrypted_member_is_refused),
        cmocka_unit_test(a_member_packed_by_anything_but_deflate_is_refused),
        cmocka_unit_test(a_cut_archive_gives_what_lies_before_the_cut),
        cmocka_unit_test(a_zip_without_its_directory_is_read_in_order),
        cmocka_unit_test(damage_is_no_crash),
        cmocka_unit_test(a_check_that_fails_is_a_problem),
        cmocka_unit_test(holes_are_zeros),
        cmocka_unit_test(what_is_passed_over_is_not_read),
        cmocka_unit_test(a_long_directory_is_a_limit),
        cmocka_unit_test(more_members_than_the_most_are_a_limit),
        cmocka_unit_test(a_member_is_an_input),
        cmocka_unit_test(a_damaged_member_is_a_partial_input),
        cmocka_unit_test(a_damaged_gzip_in_an_archive_is_read_again),
        cmocka_unit_test(an_input_that_is_no_member_is_an_error),
        cmocka_unit_test(memory_refused_for_a_member_is_a_clean_error),
        cmocka_unit_test(who_takes_members_may_stop),
        cmocka_unit_test(refused_memory_is_a_clean_error),
        cmocka_unit_test(refused_memory_in_a_search_is_a_clean_error),
        cmocka_unit_test(members_in_order_take_one_pass),
        cmocka_unit_test(too_many_passes_are_a_limit),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
