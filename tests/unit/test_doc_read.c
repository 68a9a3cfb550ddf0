/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/doc/doc.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/test_run.h"

/* A document with the run that it belongs to. */
struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *root;
};

static void open_doc(struct fixture *f)
{
    test_run_init(&f->run);
    tm_budget_init(&f->run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    f->root = tm_doc_root(f->doc);
}

static void close_doc(struct fixture *f)
{
    tm_doc_free(f->doc);
    assert_ledger_is_even(&f->run);
}

/* A file without a name that holds the document; its length. */
static FILE *print(struct fixture *f, size_t *length)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(tm_doc_print(f->doc, &f->run, fileno(file)), TM_OK);
    *length = (size_t)lseek(fileno(file), 0, SEEK_END);
    return file;
}

static char *whole(FILE *file, size_t length)
{
    char *text = calloc(1, length + 1);

    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, length, 0), length);
    (void)fclose(file);
    return text;
}

static char *printed(struct fixture *f)
{
    size_t length;
    FILE *file = print(f, &length);

    return whole(file, length);
}

static tm_status read_bytes(struct fixture *f, const char *bytes, size_t length)
{
    /* In a block of its own, so that a sanitizer sees what is read past its end. */
    char *copy = malloc(length ? length : 1);
    tm_status st;

    assert_non_null(copy);
    memcpy(copy, bytes, length);
    st = tm_doc_read(f->doc, f->root, copy, length, "some.json");
    free(copy);
    return st;
}

/* Both ways of reading: from memory, and from a file through the window. */
static void assert_reads_as(const char *json, const char *expected)
{
    struct fixture f;
    FILE *file = tmpfile();
    char *text;

    open_doc(&f);
    assert_int_equal(read_bytes(&f, json, strlen(json)), TM_OK);
    text = printed(&f);
    assert_string_equal(text, expected);
    free(text);
    close_doc(&f);

    assert_non_null(file);
    assert_int_equal(write(fileno(file), json, strlen(json)), strlen(json));
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    open_doc(&f);
    assert_int_equal(tm_doc_read_from(f.doc, f.root, fileno(file), UINT64_MAX, "some.json"), TM_OK);
    text = printed(&f);
    assert_string_equal(text, expected);
    free(text);
    close_doc(&f);
    (void)fclose(file);
}

static void assert_refused(const char *bytes, size_t length, tm_status status, const char *what)
{
    struct fixture f;

    open_doc(&f);
    assert_int_equal(read_bytes(&f, bytes, length), status);
    assert_int_equal(f.run.error.status, status);
    if (!strstr(f.run.error.what, what))
        fail_msg("'%.*s': '%s' does not say '%s'", (int)length, bytes, f.run.error.what, what);
    assert_non_null(strstr(f.run.error.what, "'some.json'"));
    close_doc(&f);
}

static void a_printed_document_reads_back_the_same(void **state)
{
    (void)state;
    assert_reads_as("{}", "{}\n");
    assert_reads_as(" \t\r\n{ \"a\" : [ ] , \"b\":{ } }\n", "{\n  \"a\": [],\n  \"b\": {}\n}\n");
    assert_reads_as("\xef\xbb\xbf{\"mark\":true}", "{\n  \"mark\": true\n}\n");
    assert_reads_as("{\"a\":1,\"b\":[false,null,\"x\"],\"a\":2}",
                    "{\n  \"a\": 2,\n  \"b\": [\n    false,\n    null,\n    \"x\"\n  ]\n}\n");
}

static void numbers_keep_all_their_digits(void **state)
{
    static const struct {
        const char *text, *expected;
        enum tm_type type;
    } rows[] = {
        { "0", "0", TM_INT },
        { "-1", "-1", TM_INT },
        { "9007199254740991", "9007199254740991", TM_INT },
        { "9007199254740992", "9007199254740992", TM_INT },
        { "9007199254740993", "9007199254740993", TM_INT },
        { "-9007199254740993", "-9007199254740993", TM_INT },
        { "1763000000000000001", "1763000000000000001", TM_INT },
        { "9223372036854775807", "9223372036854775807", TM_INT },
        { "-9223372036854775808", "-9223372036854775808", TM_INT },
        { "9223372036854775808", "9.223372036854776e+18", TM_DOUBLE },
        { "-0", "-0", TM_DOUBLE },
        { "0.1", "0.1", TM_DOUBLE },
        { "-2.5e-3", "-0.0025", TM_DOUBLE },
        { "1E3", "1000", TM_DOUBLE },
        { "1e+15", "1e+15", TM_DOUBLE },
        { "5e-324", "4.94065645841247e-324", TM_DOUBLE },
        { "1.7976931348623157e308", "1.7976931348623157e+308", TM_DOUBLE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[64], expected[64];
        struct fixture f;

        (void)snprintf(json, sizeof(json), "{\"n\":%s}", rows[i].text);
        (void)snprintf(expected, sizeof(expected), "{\n  \"n\": %s\n}\n", rows[i].expected);
        assert_reads_as(json, expected);
        open_doc(&f);
        assert_int_equal(read_bytes(&f, json, strlen(json)), TM_OK);
        assert_int_equal(tm_type_of(tm_get(f.root, "n")), rows[i].type);
        close_doc(&f);
    }
    assert_reads_as("{\"n\":1e999}",
                    "{\n  \"n\": null,\n  \"why\": {\n    \"n\": \"the number is too large\"\n  }\n}\n");
}

static void texts_are_unescaped_and_made_valid(void **state)
{
    static const char *const rows[][2] = {
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
        { "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\"\\u0000\"", "\"\xef\xbf\xbd\"" },
        { "\"\\ud83d\"", "\"\xef\xbf\xbd\"" },
        { "\"\\ude00x\"", "\"\xef\xbf\xbdx\"" },
        { "\"\\ud83d\\n\"", "\"\xef\xbf\xbd\\n\"" },
        { "\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                                "A\"" },
        { "\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"" },
        { "\"\\ud83d\\\\u\"", "\"\xef\xbf\xbd\\\\u\"" },
        { "\"\xff\xc3\"", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\x7f\"", "\"\\u007f\"" },
        { "\"\xe2\x80\xa8\"", "\"\\u2028\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[128], expected[128];

        (void)snprintf(json, sizeof(json), "{\"t\":[%s]}", rows[i][0]);
        (void)snprintf(expected, sizeof(expected), "{\n  \"t\": [\n    %s\n  ]\n}\n", rows[i][1]);
        assert_reads_as(json, expected);
        (void)snprintf(json, sizeof(json), "{%s:1}", rows[i][0]);
        (void)snprintf(expected, sizeof(expected), "{\n  %s: 1\n}\n", rows[i][1]);
        assert_reads_as(json, expected);
    }
}

static const struct tm_value *read_into(struct fixture *f, const char *json)
{
    assert_int_equal(read_bytes(f, json, strlen(json)), TM_OK);
    return f->root;
}

static void nulls_get_their_reasons(void **state)
{
    struct fixture f;
    const struct tm_value *v;

    (void)state;
    open_doc(&f);
    v = read_into(&f, "{\"a\":null,\"b\":1,\"c\":null,\"why\":{\"a\":\"not recorded\",\"c\":\"\"}}");
    assert_string_equal(tm_why(tm_get(v, "a")), "not recorded");
    assert_string_equal(tm_why(tm_get(v, "c")), "");
    assert_null(tm_get(v, "why"));
    close_doc(&f);

    open_doc(&f); /* what is not about a null stays, and a null may come later */
    v = read_into(&f, "{\"a\":null,\"b\":1,\"why\":{\"a\":\"x\",\"b\":\"y\",\"c\":\"z\",\"d\":[1]},\"c\":null}");
    assert_string_equal(tm_why(tm_get(v, "a")), "x");
    assert_string_equal(tm_why(tm_get(v, "c")), "z");
    assert_string_equal(tm_text(tm_path(v, "why.a")), "x");
    assert_string_equal(tm_text(tm_path(v, "why.b")), "y");
    assert_int_equal(tm_int(tm_path(v, "why.d[0]")), 1);
    close_doc(&f);

    open_doc(&f); /* a key like any other */
    v = read_into(&f, "{\"a\":null,\"why\":\"because\",\"o\":{\"why\":{}},\"l\":[null,{\"why\":null}]}");
    assert_string_equal(tm_text(tm_get(v, "why")), "because");
    assert_int_equal(tm_type_of(tm_path(v, "o.why")), TM_OBJECT);
    assert_string_equal(tm_why(tm_get(v, "a")), "");
    close_doc(&f);
    assert_reads_as("{\"why\":{\"why\":{\"x\":1},\"y\":null}}",
                    "{\n  \"why\": {\n    \"why\": {\n      \"x\": 1\n    },\n    \"y\": null\n  }\n}\n");
    assert_reads_as("{\"a\":null,\"why\":{\"a\":\"1\"},\"why\":{\"a\":\"2\"}}",
                    "{\n  \"a\": null,\n  \"why\": {\n    \"a\": \"2\"\n  }\n}\n");
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const rows[][2] = {
        { "", "it is empty" },
        { " ", "it is empty" },
        { "[]", "not a JSON object" },
        { "nul", "not a JSON object" },
        { "{}x", "something follows" },
        { "{}{}", "something follows" },
        { "{,}", "a key is missing" },
        { "{\"a\"}", "':' is missing" },
        { "{\"a\":}", "a value is missing" },
        { "{\"a\":1,}", "a key is missing" },
        { "{\"a\":1 \"b\":2}", "',' or the end" },
        { "{\"a\":[1,]}", "a value is missing" },
        { "{\"a\":[1 2]}", "',' or the end" },
        { "{\"a\":nul}", "no such word" },
        { "{\"a\":True}", "a value is missing" },
        { "{\"a\":NaN}", "a value is missing" },
        { "{\"a\":01}", "begins with 0" },
        { "{\"a\":-01}", "begins with 0" },
        { "{\"a\":+1}", "a value is missing" },
        { "{\"a\":-}", "a digit is missing" },
        { "{\"a\":.5}", "a value is missing" },
        { "{\"a\":5.}", "a digit is missing" },
        { "{\"a\":1e}", "a digit is missing" },
        { "{\"a\":0x1}", "',' or the end" },
        { "{'a':1}", "a key is missing" },
        { "{\"a\":\"\t\"}", "an unescaped control character" },
        { "{\"a\":\"\\x\"}", "no such escape" },
        { "{\"a\":\"\\u12g4\"}", "hexadecimal" },
        { "{\"a\":\"\\ud800\\x\"}", "no such escape" },
        { "{\"why\":{\"a\"}}", "':' is missing" },
        { "{/**/}", "a key is missing" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_refused(rows[i][0], strlen(rows[i][0]), TM_ERR_INPUT, rows[i][1]);
    assert_refused("{\"a\":\"\0\"}", 10, TM_ERR_INPUT, "an unescaped control character");
    assert_refused("{}\0", 3, TM_ERR_INPUT, "something follows");
}

static void a_text_cut_at_any_byte_is_refused_with_the_byte(void **state)
{
    static const char json[] = "{\"a\": [1, -2.5e+3, \"x\\n\\ud83d\\ude00\", null, true], \"why\": {\"b\": \"c\"},"
                               " \"n\": null, \"why\": {\"n\": \"gone\"}, \"o\": {\"p\": false}}";

    (void)state;
    for (size_t cut = 0; cut + 1 < sizeof(json); cut++) {
        struct fixture f;

        open_doc(&f);
        assert_int_equal(read_bytes(&f, json, cut), TM_ERR_INPUT);
        assert_int_equal(f.run.error.at, cut);
        assert_non_null(strstr(f.run.error.what, cut ? "truncated" : "empty"));
        close_doc(&f);
    }
}

static void nesting_has_a_bound(void **state)
{
    char json[4 * TM_DOC_DEPTH_MOST + 64];

    (void)state;
    for (size_t levels = TM_DOC_DEPTH_MOST - 1; levels <= TM_DOC_DEPTH_MOST; levels++) {
        size_t used = (size_t)sprintf(json, "{\"a\":");
        struct fixture f;
        const tm_status expected = levels < TM_DOC_DEPTH_MOST ? TM_OK : TM_ERR_LIMIT;

        memset(json + used, '[', levels);
        memset(json + used + levels, ']', levels);
        json[used + 2 * levels] = '}';
        open_doc(&f);
        assert_int_equal(read_bytes(&f, json, used + 2 * levels + 1), expected);
        close_doc(&f);
    }
    { /* far beyond, also by reasons */
        const size_t levels = 1 << 16;
        char *deep = malloc(7 * levels);

        assert_non_null(deep);
        for (size_t i = 0; i < levels; i++)
            memcpy(deep + 7 * i, "{\"why\":", 7);
        assert_refused(deep, 7 * levels, TM_ERR_LIMIT, "64 levels");
        memset(deep, '[', levels);
        memcpy(deep, "{\"a\":", 5);
        assert_refused(deep, levels, TM_ERR_LIMIT, "64 levels");
        free(deep);
    }
}

static void length_and_memory_have_bounds(void **state)
{
    const size_t most = TM_DOC_BYTES_MOST;
    FILE *file = tmpfile();
    char *text = malloc(most + 1);
    struct fixture f;

    (void)state;
    assert_non_null(file);
    assert_non_null(text);
    memset(text, ' ', most + 1);
    text[0] = '{';
    text[most - 1] = '}';
    assert_refused(text, most + 1, TM_ERR_LIMIT, "64 MiB");
    open_doc(&f);
    assert_int_equal(read_bytes(&f, text, most), TM_OK);
    close_doc(&f);

    assert_int_equal(ftruncate(fileno(file), (off_t)most + 4096), 0); /* blanks, then nothing: a hole of zeros */
    assert_int_equal(pwrite(fileno(file), text, most, 0), most);
    open_doc(&f); /* what follows the part is not looked at */
    assert_int_equal(tm_doc_read_from(f.doc, f.root, fileno(file), most, "part"), TM_OK);
    close_doc(&f);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    text[most - 1] = ' ';
    assert_int_equal(pwrite(fileno(file), text, most, 0), most);
    open_doc(&f);
    assert_int_equal(tm_doc_read_from(f.doc, f.root, fileno(file), UINT64_MAX, "some.json"), TM_ERR_LIMIT);
    close_doc(&f);
    (void)fclose(file);

    memset(text, 'x', TM_DOC_TEXT_MOST + 16);
    memcpy(text, "{\"a\":\"", 6);
    assert_refused(text, TM_DOC_TEXT_MOST + 16, TM_ERR_LIMIT, "a text has more");
    memset(text + 5, '1', TM_DOC_TEXT_MOST + 16);
    assert_refused(text, TM_DOC_TEXT_MOST + 21, TM_ERR_LIMIT, "a text has more");

    /* Many values: the tree's share ends, and reading with it. */
    for (size_t i = 5; i + 1 < most; i += 2)
        memcpy(text + i, i == 5 ? "[0" : ",0", 2);
    open_doc(&f);
    assert_int_equal(read_bytes(&f, text, most), TM_ERR_LIMIT);
    assert_non_null(strstr(f.run.error.hint, "--memory"));
    close_doc(&f);
    free(text);
}

/* The summaries that other tests hold as expected outputs. */
static void summaries_read_back_byte_by_byte(void **state)
{
    glob_t found;

    (void)state;
    if (glob("tests/golden/report-*/out/summary.json", 0, NULL, &found) != 0 || found.gl_pathc < 5)
        fail_msg("the stored summaries are not there");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct fixture f;
        size_t length, stored_length;
        FILE *stored = fopen(found.gl_pathv[i], "rbe"), *file;
        char *text, *expected;

        assert_non_null(stored);
        stored_length = (size_t)lseek(fileno(stored), 0, SEEK_END);
        open_doc(&f);
        assert_int_equal(tm_doc_read_file(f.doc, f.root, found.gl_pathv[i]), TM_OK);
        file = print(&f, &length);
        assert_int_equal(length, stored_length);
        text = whole(file, length);
        expected = whole(stored, stored_length);
        assert_memory_equal(text, expected, length);
        free(text);
        free(expected);
        close_doc(&f);
    }
    globfree(&found);
}

static void reading_ends_before_a_member_of_the_whole(void **state)
{
    static const char json[] =
        "{\"a\": {\"last\": 1, \"b\": 2}, \"n\": null, \"why\": {\"n\": \"a reason\"}, \"last\": [{";
    char path[] = "/tmp/tracemill-doc.XXXXXX";
    const int fd = mkstemp(path);
    struct fixture f;

    (void)state;
    assert_true(fd >= 0 && write(fd, json, sizeof(json) - 1) == sizeof(json) - 1);
    open_doc(&f);
    assert_int_equal(tm_doc_read_file_until(f.doc, f.root, path, "last"), TM_OK);
    assert_int_equal(tm_int(tm_path(f.root, "a.last")), 1);
    assert_int_equal(tm_int(tm_path(f.root, "a.b")), 2);
    assert_true(tm_has(tm_get(f.root, "a")) && !tm_has(tm_get(f.root, "last")));
    close_doc(&f);
    open_doc(&f);
    assert_int_equal(tm_doc_read_file_until(f.doc, f.root, path, "none"), TM_ERR_INPUT);
    close_doc(&f);
    (void)close(fd);
    (void)unlink(path);
}

static void a_file_that_cannot_be_read_is_told(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    assert_int_equal(tm_doc_read_file(f.doc, f.root, "/nowhere/x.json"), TM_ERR_INPUT);
    assert_non_null(strstr(f.run.error.what, "'/nowhere/x.json'"));
    close_doc(&f);
    open_doc(&f);
    assert_int_equal(tm_doc_read_file(f.doc, f.root, "/"), TM_ERR_INPUT);
    assert_non_null(strstr(f.run.error.what, "directory"));
    close_doc(&f);
}

static tm_status job(struct tm_run *run)
{
    static const char json[] = "{\"key\": [1, \"text\", {\"n\": null, \"why\": {\"n\": \"a reason\"}}], \"long\": "
                               "\"................................................................................"
                               "................................................................................"
                               "................................................................................"
                               "...........................................\"}";
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st = doc ? tm_doc_read(doc, tm_doc_root(doc), json, sizeof(json) - 1, "some.json") : run->error.status;

    tm_doc_free(doc);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_printed_document_reads_back_the_same),
        cmocka_unit_test(numbers_keep_all_their_digits),
        cmocka_unit_test(texts_are_unescaped_and_made_valid),
        cmocka_unit_test(nulls_get_their_reasons),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(a_text_cut_at_any_byte_is_refused_with_the_byte),
        cmocka_unit_test(nesting_has_a_bound),
        cmocka_unit_test(length_and_memory_have_bounds),
        cmocka_unit_test(summaries_read_back_byte_by_byte),
        cmocka_unit_test(reading_ends_before_a_member_of_the_whole),
        cmocka_unit_test(a_file_that_cannot_be_read_is_told),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("doc read", tests, NULL, NULL);
}
