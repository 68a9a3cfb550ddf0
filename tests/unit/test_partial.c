/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/partial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "pipeline/engine/analysis.h"
#include "tests/support/test_run.h"

enum { FILE_MOST = 4096 };

static const char *const hosts[] = { "alpha", "beta" };

static const char *name_of_host(const void *of, uint32_t host)
{
    return ((const char *const *)of)[host];
}

struct file {
    char path[64];
    uint8_t bytes[FILE_MOST];
    size_t length;
};

static void write_bytes(struct file *file, const uint8_t *bytes, size_t length)
{
    FILE *to = fopen(file->path, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, length, to), length);
    assert_int_equal(fclose(to), 0);
}

static int make_file(void **state)
{
    struct file *file = calloc(1, sizeof(*file));
    int fd;

    if (!file)
        return -1;
    memcpy(file->path, "/var/tmp/test-partial-XXXXXX", 29);
    fd = mkstemp(file->path);
    if (fd < 0)
        return -1;
    *state = file;
    return close(fd);
}

static int remove_file(void **state)
{
    struct file *file = *state;
    const int status = unlink(file->path);

    free(file);
    return status;
}

/* Where one takes a byte more than the one before. */
static const uint64_t packed[] = { 0, 127, 128, 16383, 16384, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX };
enum { PACKED = sizeof(packed) / sizeof(packed[0]) };

/* Two sections with a value of every kind. */
static tm_status put_sections(struct tm_partial_writer *w, tm_strid name)
{
    const int64_t words[3] = { -1, 0, INT64_MAX };
    tm_status st;

    tm_partial_begin(w, "first");
    tm_partial_put_u8(w, 1);
    tm_partial_put_u32(w, 70000);
    tm_partial_put_u64(w, UINT64_C(1) << 60);
    tm_partial_put_i64(w, -5);
    for (size_t i = 0; i < PACKED; i++)
        tm_partial_put_packed(w, packed[i]);
    tm_partial_put_double(w, 0.25);
    tm_partial_put_words(w, words, 3);
    tm_partial_put_text(w, "a text");
    tm_partial_put_name(w, name);
    tm_partial_put_name(w, 0);
    st = tm_partial_end(w);
    tm_partial_begin(w, "second");
    tm_partial_put_name(w, name);
    tm_partial_put_id(w, 0, "alpha/gpu:0");
    tm_partial_put_id(w, 0, "elsewhere");
    tm_partial_put_u32(w, 3);
    return st == TM_OK ? tm_partial_end(w) : st;
}

static tm_status write_partial(struct tm_run *run, const char *path)
{
    struct tm_names *names = tm_names_new(run, 1 << 20, NULL);
    const tm_strid name = names ? tm_names_put(names, "fusion.12", 9) : 0;
    struct tm_partial_writer *w = tm_failed(run) ? NULL : tm_partial_writer_new(run, names, name_of_host, hosts);
    FILE *to;

    if (w && !put_sections(w, name)) {
        to = fopen(path, "wb");
        assert_non_null(to);
        tm_partial_write(w, to);
        assert_int_equal(fclose(to), 0);
    }
    tm_partial_writer_free(w);
    tm_names_free(names);
    return run->error.status;
}

struct content {
    bool flag;
    uint32_t small, below;
    uint64_t large, packed[PACKED];
    int64_t negative, words[3];
    double number;
    char text[16], id[32], plain[32];
    tm_strid name, none, again;
};

static void take_sections(struct tm_partial_reader *r, struct content *c)
{
    tm_partial_enter(r, "first");
    c->flag = tm_partial_bool(r);
    c->small = tm_partial_u32(r);
    c->large = tm_partial_u64(r);
    c->negative = tm_partial_i64(r);
    for (size_t i = 0; i < PACKED; i++)
        c->packed[i] = tm_partial_packed(r);
    c->number = tm_partial_double(r);
    tm_partial_words(r, c->words, 3);
    tm_partial_text(r, c->text, sizeof(c->text));
    c->name = tm_partial_name(r);
    c->none = tm_partial_name(r);
    tm_partial_leave(r);
    tm_partial_enter(r, "second");
    c->again = tm_partial_name(r);
    tm_partial_id(r, 0, c->id, sizeof(c->id));
    tm_partial_id(r, 0, c->plain, sizeof(c->plain));
    c->below = tm_partial_below_u32(r, 4);
    tm_partial_leave(r);
    tm_partial_finish(r);
}

/* The hosts are loaded as the second one of the run. */
static tm_status read_partial(struct tm_run *run, const char *path, struct content *c)
{
    struct tm_names *names = tm_names_new(run, 1 << 20, NULL);
    struct tm_partial_reader *r = names ? tm_partial_open(run, path) : NULL;

    memset(c, 0, sizeof(*c));
    if (r) {
        tm_partial_bind(r, names, name_of_host, hosts, 1, 1);
        take_sections(r, c);
    }
    tm_partial_close(r);
    tm_names_free(names);
    return run->error.status;
}

static void make_partial(struct file *file)
{
    struct tm_run run;
    FILE *in;

    test_run_init(&run);
    assert_int_equal(write_partial(&run, file->path), TM_OK);
    assert_ledger_is_even(&run);
    in = fopen(file->path, "rb");
    assert_non_null(in);
    file->length = fread(file->bytes, 1, sizeof(file->bytes), in);
    assert_true(file->length > TM_PARTIAL_MAGIC_BYTES && file->length < sizeof(file->bytes));
    (void)fclose(in);
}

static void what_is_written_is_read_again(void **state)
{
    struct file *file = *state;
    struct content c;
    struct tm_run run;

    make_partial(file);
    test_run_init(&run);
    assert_true(tm_partial_is(file->path));
    assert_int_equal(read_partial(&run, file->path, &c), TM_OK);
    assert_true(c.flag && c.small == 70000 && c.large == UINT64_C(1) << 60 && c.negative == -5 && c.below == 3);
    assert_memory_equal(c.packed, packed, sizeof(packed));
    assert_true(c.number > 0.2499 && c.number < 0.2501);
    assert_true(c.words[0] == -1 && c.words[1] == 0 && c.words[2] == INT64_MAX);
    assert_string_equal(c.text, "a text");
    assert_true(c.name != 0 && c.none == 0 && c.again == c.name);
    assert_string_equal(c.id, "beta/gpu:0"); /* the host has another number here */
    assert_string_equal(c.plain, "elsewhere");
    assert_ledger_is_even(&run);
}

static void numbers_are_little_endian(void **state)
{
    static const uint8_t begin[] = { 5, 0, 0, 0, 'f', 'i', 'r', 's', 't' };
    static const uint8_t values[] = { 1, 0x70, 0x11, 1, 0 };
    struct file *file = *state;

    make_partial(file);
    assert_memory_equal(file->bytes, TM_PARTIAL_MAGIC, TM_PARTIAL_MAGIC_BYTES);
    assert_memory_equal(file->bytes + TM_PARTIAL_MAGIC_BYTES, begin, sizeof(begin));
    assert_memory_equal(file->bytes + TM_PARTIAL_MAGIC_BYTES + sizeof(begin) + 8, values, sizeof(values));
}

/* Reading the file has to fail as an input does: said where, with a hint, and nothing left over. */
static void assert_refused(const struct file *file)
{
    struct content c;
    struct tm_run run;

    test_run_init(&run);
    assert_int_equal(read_partial(&run, file->path, &c), TM_ERR_INPUT);
    assert_int_equal(run.error.status, TM_ERR_INPUT);
    assert_true(run.error.what[0] && run.error.hint[0] && run.error.at >= 0);
    assert_ledger_is_even(&run);
}

static void every_changed_byte_is_found(void **state)
{
    struct file *file = *state;

    make_partial(file);
    for (size_t i = 0; i < file->length; i++) {
        file->bytes[i] ^= 0x41;
        write_bytes(file, file->bytes, file->length);
        assert_refused(file);
        file->bytes[i] ^= 0x41;
    }
}

static void every_cut_is_found(void **state)
{
    struct file *file = *state;

    make_partial(file);
    for (size_t length = 0; length < file->length; length++) {
        write_bytes(file, file->bytes, length);
        assert_refused(file);
    }
}

/* A file that somebody meant to be wrong has the right checksum. */
static void put_checksum(struct file *file)
{
    const uint64_t sum = XXH3_64bits(file->bytes, file->length - 8);

    for (int i = 0; i < 8; i++)
        file->bytes[file->length - 8 + (size_t)i] = (uint8_t)(sum >> 8 * i);
    write_bytes(file, file->bytes, file->length);
}

static void changes_under_a_right_checksum_do_no_harm(void **state)
{
    static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
    struct file *file = *state;
    unsigned refused = 0;

    make_partial(file);
    for (size_t i = TM_PARTIAL_MAGIC_BYTES; i < file->length - 8; i++) {
        const uint8_t before = file->bytes[i];

        for (size_t k = 0; k < sizeof(values); k++) {
            struct content c;
            struct tm_run run;

            file->bytes[i] = values[k];
            put_checksum(file);
            test_run_init(&run);
            if (read_partial(&run, file->path, &c) != TM_OK) {
                assert_int_equal(run.error.status, TM_ERR_INPUT);
                refused++;
            }
            assert_ledger_is_even(&run);
        }
        file->bytes[i] = before;
    }
    assert_true(refused > 100);
}

static tm_status refusable_job(struct tm_run *run)
{
    static const char path[] = "/var/tmp/test-partial-refused";
    struct content c;
    tm_status st = write_partial(run, path);

    if (st == TM_OK)
        st = read_partial(run, path, &c);
    (void)unlink(path);
    return st;
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(refusable_job);
}

static void long_names_go_through_whole(void **state)
{
    enum { LONG = 300000 };
    struct file *file = *state;
    char *text = calloc(1, LONG), *back = calloc(1, LONG);
    struct tm_run run;
    struct tm_names *names;
    struct tm_partial_writer *w;
    struct tm_partial_reader *r;
    tm_strid id;
    FILE *to;

    assert_true(text && back);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 23);
    test_run_init(&run);
    names = tm_names_new(&run, 4 << 20, NULL);
    id = tm_names_put(names, text, LONG);
    w = tm_partial_writer_new(&run, names, name_of_host, hosts);
    tm_partial_begin(w, "names");
    tm_partial_put_name(w, id);
    assert_int_equal(tm_partial_end(w), TM_OK);
    to = fopen(file->path, "wb");
    assert_int_equal(tm_partial_write(w, to), TM_OK);
    assert_int_equal(fclose(to), 0);
    tm_partial_writer_free(w);
    tm_names_free(names);
    names = tm_names_new(&run, 4 << 20, NULL);
    r = tm_partial_open(&run, file->path);
    assert_non_null(r);
    tm_partial_bind(r, names, name_of_host, hosts, 0, 1);
    tm_partial_enter(r, "names");
    id = tm_partial_name(r);
    tm_partial_leave(r);
    tm_partial_finish(r);
    assert_int_equal(tm_names_info(names, id).length, LONG);
    tm_names_copy(names, id, 0, back, LONG);
    assert_int_equal(run.error.status, TM_OK);
    assert_memory_equal(text, back, LONG);
    tm_partial_close(r);
    tm_names_free(names);
    assert_ledger_is_even(&run);
    free(text);
    free(back);
}

/* The facts of one file, written with this hash of its content and read again. */
static tm_status pass_hash_of_file(struct tm_run *run, const char *path, const char *hash, struct tm_file_facts *facts)
{
    struct tm_doc *const doc = tm_doc_new(run);
    struct tm_names *const names = tm_names_new(run, 1 << 20, NULL);
    struct tm_partial_writer *const w = tm_partial_writer_new(run, names, name_of_host, hosts);
    struct tm_value *list = tm_add_array(tm_doc_root(doc), "files");
    struct tm_partial_reader *r;
    struct file file = { .length = 0 };
    uint8_t *at;
    FILE *stream;
    tm_status st;

    *facts = (struct tm_file_facts){ .path = "a", .xxh3 = "0123456789abcdef" };
    tm_file_facts_add(facts, TM_FACTS_SUMMARY, list);
    tm_partial_begin(w, "files");
    tm_file_facts_save(w, tm_at(list, 0), "alpha");
    assert_int_equal(tm_partial_end(w), TM_OK);
    stream = tmpfile();
    assert_true(stream && tm_partial_write(w, stream) == TM_OK);
    rewind(stream);
    file.length = fread(file.bytes, 1, sizeof(file.bytes), stream);
    (void)fclose(stream);
    tm_partial_writer_free(w);
    at = memmem(file.bytes, file.length, facts->xxh3, strlen(facts->xxh3));
    assert_non_null(at);
    memcpy(at, hash, strlen(facts->xxh3));
    (void)snprintf(file.path, sizeof(file.path), "%s", path);
    put_checksum(&file);
    r = tm_partial_open(run, path);
    assert_non_null(r);
    tm_partial_bind(r, names, name_of_host, hosts, 0, 1);
    tm_partial_enter(r, "files");
    st = tm_file_facts_load(r, facts);
    tm_partial_close(r);
    tm_names_free(names);
    tm_doc_free(doc);
    return st;
}

/* Else it would be longer in the next partial, which would be refused. */
static void texts_of_files_are_utf8(void **state)
{
    const struct file *const file = *state;
    struct tm_file_facts *const facts = malloc(sizeof(*facts));
    struct tm_run run;

    assert_non_null(facts);
    test_run_init(&run);
    assert_int_equal(pass_hash_of_file(&run, file->path, "fedcba9876543210", facts), TM_OK);
    assert_string_equal(facts->xxh3, "fedcba9876543210");
    assert_int_equal(pass_hash_of_file(&run, file->path,
                                       "01234567\xa5\xcc"
                                       "abcdef",
                                       facts),
                     TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "UTF-8"));
    assert_ledger_is_even(&run);
    free(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_again, make_file, remove_file),
        cmocka_unit_test_setup_teardown(numbers_are_little_endian, make_file, remove_file),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_found, make_file, remove_file),
        cmocka_unit_test_setup_teardown(every_cut_is_found, make_file, remove_file),
        cmocka_unit_test_setup_teardown(changes_under_a_right_checksum_do_no_harm, make_file, remove_file),
        cmocka_unit_test_setup_teardown(long_names_go_through_whole, make_file, remove_file),
        cmocka_unit_test_setup_teardown(texts_of_files_are_utf8, make_file, remove_file),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
