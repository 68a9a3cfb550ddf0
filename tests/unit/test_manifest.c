/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: written, read back, and refused where they cannot be trusted. */
#include <fcntl.h>
#include <sys/stat.h>

#include "pipeline/nightly/manifest.h"
#include "tests/support/test_folder.h"

static const char *in_folder(const char *name)
{
    static char path[2][128];
    static size_t turn;

    turn = 1 - turn;
    (void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

static void put_file(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(in_folder(name), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static tm_status write_manifest(const struct tm_manifest *manifest, const char *name)
{
    FILE *file = fopen(in_folder(name), "we");
    tm_status st;

    assert_non_null(file);
    st = tm_manifest_write(manifest, file);
    assert_int_equal(fclose(file), 0);
    return st;
}

static void assert_same_file(const char *one, const char *other)
{
    static char bytes[2][1 << 16];
    size_t length[2];
    const char *const names[2] = { one, other };

    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(in_folder(names[i]), "re");

        assert_non_null(file);
        length[i] = fread(bytes[i], 1, sizeof(bytes[i]), file);
        assert_true(length[i] > 0 && length[i] < sizeof(bytes[i]));
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
}

/* --- there and back --- */

static void make_manifest(struct tm_manifest *m, struct tm_run *run)
{
    /* clang-format off */
    static struct tm_batch_file files[] = {
        { .path = "a\xff/h\n.xplane.pb", .host = "h?", .bytes = 7, .mtime_ns = -3, .version = "7-1-2", .fingerprint = "0123456789abcdef", .id = "h" },
        { .path = "a.tar", .member = "x\xfe/y.trace.json.gz", .position = 5, .host = "y", .bytes = 1 << 20, .version = "", .id = "y.1" },
    };
    /* clang-format on */
    static const char *roots[] = { "/data/\xe9t\xe9", "/home" };
    /* clang-format off */
    const struct tm_batch_run runs[] = {
        { .id = "a-1", .root = roots[0], .path = "a\xff", .name = "a?", .file = files, .files = 1, .bytes = 7,
          .keys = { .job = "j", .night = "2026-11-21", .revision = "r", .label = "l", .labels = "{\"a\":\"b\"}", .training = "t", .when_ns = -1, .step = 0 } },
        { .id = "a-2", .root = roots[1], .path = "", .name = "\xc3\xa9", .file = files, .files = 2, .bytes = (1 << 20) + 7,
          .keys = { .job = "j", .night = "2026-11-22", .revision = "", .label = "", .labels = "", .training = "", .when_ns = INT64_MAX, .step = -1 } },
    };
    /* clang-format on */

    tm_manifest_begin(m, run);
    m->roots = roots;
    m->root_count = 2;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(tm_manifest_add(m, &runs[i]), TM_OK);
}

static void what_was_written_is_read_as_it_was(void **state)
{
    struct tm_run run;
    struct tm_manifest made, read;

    (void)state;
    test_run_init(&run);
    make_manifest(&made, &run);
    assert_int_equal(write_manifest(&made, "one"), TM_OK);
    assert_int_equal(tm_manifest_read(&read, &run, in_folder("one")), TM_OK);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.files, 3);
    assert_int_equal(read.bytes, made.bytes);
    for (size_t i = 0; i < 2; i++) {
        const struct tm_batch_run *const a = &made.runs[i], *const b = &read.runs[i];

        assert_string_equal(a->id, b->id);
        assert_string_equal(a->root, b->root);
        assert_string_equal(a->path, b->path);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->keys.job, b->keys.job);
        assert_string_equal(a->keys.night, b->keys.night);
        assert_string_equal(a->keys.revision, b->keys.revision);
        assert_string_equal(a->keys.label, b->keys.label);
        assert_string_equal(a->keys.labels, b->keys.labels);
        assert_string_equal(a->keys.training, b->keys.training);
        assert_int_equal(a->keys.when_ns, b->keys.when_ns);
        assert_int_equal(a->keys.step, b->keys.step);
        assert_int_equal(a->bytes, b->bytes);
        assert_int_equal(a->files, b->files);
        for (size_t k = 0; k < a->files; k++) {
            assert_string_equal(a->file[k].path, b->file[k].path);
            assert_int_equal(a->file[k].member != NULL, b->file[k].member != NULL);
            if (a->file[k].member)
                assert_string_equal(a->file[k].member, b->file[k].member);
            assert_int_equal(a->file[k].position, b->file[k].position);
            assert_string_equal(a->file[k].host, b->file[k].host);
            assert_string_equal(a->file[k].id, b->file[k].id);
            assert_int_equal(a->file[k].bytes, b->file[k].bytes);
            assert_int_equal(a->file[k].mtime_ns, b->file[k].mtime_ns);
            assert_string_equal(a->file[k].fingerprint, b->file[k].fingerprint);
            assert_string_equal(a->file[k].version, b->file[k].version);
        }
    }
    assert_ptr_equal(read.runs[0].keys.job, read.runs[1].keys.job); /* stored once */
    assert_int_equal(write_manifest(&read, "two"), TM_OK);
    assert_same_file("one", "two");
    tm_manifest_free(&read);
    tm_manifest_free(&made);
    tm_manifest_free(&made);
    assert_ledger_is_even(&run);
}

static void keys_are_copied_whole(void **state)
{
    const struct tm_batch_keys keys = { .job = "j",
                                        .night = "2026-11-21",
                                        .revision = "r",
                                        .label = "l",
                                        .labels = "{\"a\":\"b\"}",
                                        .training = "t",
                                        .when_ns = 5,
                                        .step = 6 };
    struct tm_run_keys copy;

    (void)state;
    tm_batch_keys_copy(&copy, &keys);
    assert_string_equal(copy.job, "j");
    assert_string_equal(copy.night, "2026-11-21");
    assert_string_equal(copy.labels, "{\"a\":\"b\"}");
    assert_string_equal(copy.revision, "r");
    assert_string_equal(copy.label, "l");
    assert_string_equal(copy.training, "t");
    assert_int_equal(copy.when_ns, 5);
    assert_int_equal(copy.step, 6);
}

/* --- scanning --- */

static tm_status discover(struct tm_run *run, const char *input, struct tm_found *found)
{
    return tm_discover(run, input, NULL, found);
}

static tm_status scan_write_read(struct tm_run *run)
{
    const struct tm_options options = { .inputs = NULL };
    char *const roots[] = { folder };
    struct tm_manifest made, read = { .run = NULL };
    tm_status st = tm_manifest_scan(&made, run, roots, 1, &options, discover, NULL);

    if (st == TM_OK)
        st = write_manifest(&made, "one");
    if (st == TM_OK)
        st = tm_manifest_read(&read, run, in_folder("one"));
    tm_manifest_free(&read);
    tm_manifest_free(&made);
    return st;
}

static void refused_memory_is_an_error_and_no_more(void **state)
{
    (void)state;
    put_file("h1.xplane.pb", "x", 1);
    put_file("h2.xplane.pb", "y", 1);
    refuse_each_request(scan_write_read);
}

static void a_scan_tells_files_and_fingerprints(void **state)
{
    const struct tm_options options = { .inputs = NULL };
    char *const roots[] = { folder, folder };
    struct tm_manifest m;
    struct tm_run run;
    char fingerprint[TM_FINGERPRINT_BYTES], of_run[TM_FINGERPRINT_BYTES];
    uint64_t bytes;
    int64_t mtime_ns;

    (void)state;
    test_run_init(&run);
    put_file("h#1.xplane.pb", "abc", 3);
    put_file("h_1.xplane.pb", "abcd", 4);
    assert_int_equal(symlink("/nowhere", in_folder("gone.xplane.pb")), 0);
    assert_int_equal(tm_manifest_scan(&m, &run, roots, 2, &options, discover, NULL), TM_OK);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.root_count, 1);
    assert_int_equal(m.files, 2);
    assert_int_equal(m.bytes, 7);
    assert_string_equal(m.runs[0].path, "");
    assert_string_equal(m.runs[0].root, folder);
    assert_string_equal(m.runs[0].keys.job, strrchr(folder, '/') + 1);
    assert_string_equal(m.runs[0].file[0].host, "h#1");
    assert_int_equal(strlen(m.runs[0].file[0].id), 3 + 17); /* not the name itself: its hash tells it from the other */
    assert_string_equal(m.runs[0].file[1].id, "h_1");
    assert_int_equal(tm_file_fingerprint(&run, in_folder("h#1.xplane.pb"), &bytes, &mtime_ns, fingerprint), TM_OK);
    assert_string_equal(fingerprint, m.runs[0].file[0].fingerprint);
    assert_int_equal(mtime_ns, m.runs[0].file[0].mtime_ns);
    tm_run_fingerprint(&m.runs[0], fingerprint);
    m.runs[0].file[1].fingerprint[3] ^= 1;
    tm_run_fingerprint(&m.runs[0], of_run);
    assert_string_not_equal(fingerprint, of_run);
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
}

static void roots_that_hold_nothing_are_refused(void **state)
{
    static const struct {
        const char *root;
        tm_status status;
        const char *what;
    } cases[] = {
        { "/nowhere/at/all", TM_ERR_INPUT, "cannot open '/nowhere/at/all': No such file or directory" },
        { "-", TM_ERR_USAGE, "cannot process a batch from stdin" },
        { folder, TM_ERR_INPUT, "no profile in" },
    };
    const struct tm_options options = { .inputs = NULL };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char root[128];
        char *const roots[] = { root };
        struct tm_manifest m;
        struct tm_run run;

        (void)snprintf(root, sizeof(root), "%s", cases[i].root);
        test_run_init(&run);
        assert_int_equal(tm_manifest_scan(&m, &run, roots, 1, &options, discover, NULL), cases[i].status);
        assert_non_null(strstr(run.error.what, cases[i].what));
        tm_manifest_free(&m);
        assert_ledger_is_even(&run);
    }
}

/* --- hostile lists --- */

#define HEADER                                                                                                         \
    "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [{\"path\": \"/d\"}], \"runs\": 1, "       \
    "\"files\": 1}\n"
#define KEYS "\"keys\": {\"job\": \"j\", \"night\": \"2026-11-21\", \"when_ns\": 1}"
#define ONE_FILE(path, more)                                                                                           \
    "\"files\": [{\"path\": \"" path "\", \"host\": \"h\", \"id\": \"h\", \"bytes\": 1, \"mtime_ns\": 1" more "}]"
#define RUN(id, root, path) "{\"id\": \"" id "\", \"root\": " root ", \"path\": \"" path "\", \"run\": \"r\", "
#define GOOD RUN("a", "0", "r") KEYS ", " ONE_FILE("r/h", "") "}\n"

static const struct {
    const char *text, *what;
} hostile[] = {
    { "", "line 1 of" },
    { "\n", "line 1" },
    { "{}\n", "it is not a manifest" },
    { "[1, 2]\n", "line 1" },
    { "{\"schema\": \"tracemill.manifest\", \"schema_version\": 2}\n", "it has a different version" },
    { "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": []}\n", "the number of runs" },
    { "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [], \"runs\": 0, \"files\": 0}\n",
      "contains no roots" },
    { "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [{\"path\": \"d\"}], \"runs\": 0, "
      "\"files\": 0}\n",
      "not an absolute path" },
    { "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [{\"path\": \"/d/../e\"}], \"runs\": 0, "
      "\"files\": 0}\n",
      "not an absolute path" },
    { HEADER, "the number of runs differs" },
    { HEADER GOOD GOOD, "the number of runs differs" },
    { HEADER "{\"id\": \"a\"", "truncated" },
    { HEADER "{\"id\": \"a\"\n", "line 2" },
    { HEADER RUN("../a", "0", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "no id" },
    { HEADER RUN(".a", "0", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "no id" },
    { HEADER RUN("", "0", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "no id" },
    { HEADER RUN("a b", "0", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "no id" },
    { HEADER RUN("a", "1", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "has no root" },
    { HEADER RUN("a", "-1", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "has no root" },
    { HEADER RUN("a", "0.5", "r") KEYS ", " ONE_FILE("r/h", "") "}\n", "has no root" },
    { HEADER RUN("a", "0", "/r") KEYS ", " ONE_FILE("r/h", "") "}\n", "path of a run" },
    { HEADER RUN("a", "0", "r/../x") KEYS ", " ONE_FILE("r/h", "") "}\n", "path of a run" },
    { HEADER RUN("a", "0", "r") ONE_FILE("r/h", "") "}\n", "keys of a run" },
    { HEADER RUN("a", "0", "r") "\"keys\": {\"job\": \"j\", \"night\": \"today\", \"when_ns\": 1}, " ONE_FILE("r/h",
                                                                                                              "") "}\n",
      "keys of a run" },
    { HEADER RUN("a", "0", "r") "\"keys\": {\"job\": \"\", \"night\": \"2026-11-21\", \"when_ns\": 1}, " ONE_FILE(
          "r/h", "") "}\n",
      "keys of a run" },
    { HEADER RUN("a", "0", "r") KEYS "}\n", "has no traces" },
    { HEADER RUN("a", "0", "r") KEYS ", \"files\": []}\n", "has no traces" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("", "") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("/etc/passwd", "") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r/../../x", "") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("..", "") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"path_hex\": \"2e2e2f78\"") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"path_hex\": \"7\"") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"path_hex\": \"7800\"") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"path_hex\": \"zz\"") "}\n", "not below its root" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"id\": \"a/b\"") "}\n", "no host, or an id" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"bytes\": -1") "}\n", "no size" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"member\": \"m\"") "}\n", "no position" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"member\": \"m\", \"position\": 0") "}\n", "no position" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"fingerprint\": \"xyz\"") "}\n", "a fingerprint" },
    { HEADER RUN("a", "0", "r") KEYS ", " ONE_FILE("r", ", \"fingerprint\": \"0123456789abcdefxyz\"") "}\n",
      "a fingerprint" },
    { HEADER RUN("a", "0", "r") KEYS
      ", \"files\": [{\"path\": \"r\", \"host\": \"h\", \"id\": \"h\", \"bytes\": 1, \"mtime_ns\": 1}, "
      "{\"path\": \"s\", \"host\": \"g\", \"id\": \"h\", \"bytes\": 1, \"mtime_ns\": 1}]}\n",
      "have the same id" },
};

static void lists_that_cannot_be_trusted_are_refused(void **state)
{
    struct tm_run run;
    struct tm_manifest m;

    (void)state;
    test_run_init(&run);
    put_file("list", HEADER GOOD, strlen(HEADER GOOD));
    assert_int_equal(tm_manifest_read(&m, &run, in_folder("list")), TM_OK);
    tm_manifest_free(&m);
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        test_run_init(&run);
        put_file("list", hostile[i].text, strlen(hostile[i].text));
        print_message("%s", hostile[i].text);
        assert_int_equal(tm_manifest_read(&m, &run, in_folder("list")), TM_ERR_INPUT);
        if (!strstr(run.error.what, hostile[i].what))
            assert_non_null(strstr(run.error.while_doing[0], hostile[i].what));
        tm_manifest_free(&m);
        assert_ledger_is_even(&run);
    }
}

static void two_runs_of_one_id_are_refused(void **state)
{
    static const char text[] = "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [{\"path\": "
                               "\"/d\"}], \"runs\": 2, \"files\": 2}\n" GOOD GOOD;
    struct tm_run run;
    struct tm_manifest m;

    (void)state;
    test_run_init(&run);
    put_file("list", text, sizeof(text) - 1);
    assert_int_equal(tm_manifest_read(&m, &run, in_folder("list")), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "two runs have the same id"));
    tm_manifest_free(&m);
    assert_int_equal(tm_manifest_read(&m, &run, "/nowhere"), TM_ERR_INPUT);
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
}

static void a_list_that_memory_does_not_hold_is_refused(void **state)
{
    char line[4096];
    struct tm_run run;
    struct tm_manifest m;
    const size_t runs = 60000;
    FILE *file;

    (void)state;
    test_run_init(&run);
    file = fopen(in_folder("list"), "we");
    assert_non_null(file);
    (void)fprintf(file,
                  "{\"schema\": \"tracemill.manifest\", \"schema_version\": 1, \"roots\": [{\"path\": \"/d\"}], "
                  "\"runs\": %zu, \"files\": %zu}\n",
                  runs, runs);
    memset(line, 'x', sizeof(line));
    line[400] = '\0';
    for (size_t i = 0; i < runs; i++)
        (void)fprintf(file,
                      "{\"id\": \"a%zu\", \"root\": 0, \"path\": \"%s\", \"run\": \"r\", " KEYS
                      ", " ONE_FILE("r", "") "}\n",
                      i, line);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tm_manifest_read(&m, &run, in_folder("list")), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.what, "does not fit in memory"));
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] < run.budget.limit_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read_as_it_was, make_folder, remove_folder),
        cmocka_unit_test(keys_are_copied_whole),
        cmocka_unit_test_setup_teardown(refused_memory_is_an_error_and_no_more, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_scan_tells_files_and_fingerprints, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(roots_that_hold_nothing_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(lists_that_cannot_be_trusted_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_runs_of_one_id_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_list_that_memory_does_not_hold_is_refused, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
