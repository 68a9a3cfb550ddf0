/* SPDX-License-Identifier: Apache-2.0 */
/* Results of items: when they stand, what is removed before work begins; paths and the lock of the folder. */
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/support/test_folder.h"

static const struct tm_batch_file hosts[] = {
    { .path = "night/a.xplane.pb", .host = "a", .id = "a" },
    { .path = "night/b.xplane.pb", .host = "b", .id = "b" },
};
static const struct tm_batch_run batch_run = { .id = "night-0123456789abcdef",
                                               .root = "/data",
                                               .path = "night",
                                               .file = (struct tm_batch_file *)(uintptr_t)hosts,
                                               .files = 2 };
static const char *const made[] = { "summary.json", "tables/" };
static const char *const outputs[] = { "summary.json", "report.html", "tables/" };

static void write_text(const char *name, const char *text)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const char *name)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void make_files(void)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/tables", folder);
    (void)mkdir(path, 0777);
    write_text("summary.json", "{}\n");
    write_text("tables/tables.csv", "table\n");
    write_text("tables/kernels.csv", "name\nokapi\n");
}

static int clear_all(void **state)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "rm -rf '%.64s'", folder);
    (void)state;
    return system(path); /* NOLINT: a folder of this test */
}

static struct tm_result_about about_of(enum tm_result_status status)
{
    return (struct tm_result_about){
        .batch_run = &batch_run, .fingerprint = "00000000000000f1", .options = "00000000000000a1", .status = status
    };
}

static void write_result(struct tm_run *run, const struct tm_result_about *about, size_t count)
{
    struct tm_doc *doc = tm_doc_new(run);

    assert_non_null(doc);
    tm_result_fill(doc, about);
    assert_int_equal(tm_result_list(doc, folder, made, count), TM_OK);
    assert_int_equal(tm_result_write(run, folder, doc), TM_OK);
    tm_doc_free(doc);
}

static enum tm_result_status look(struct tm_run *run)
{
    const enum tm_result_status status = tm_result_look(run, folder, "00000000000000f1", "00000000000000a1", NULL);

    assert_int_equal(run->error.status, TM_OK);
    return status;
}

static void a_result_stands_for_its_inputs_options_and_files(void **state)
{
    const struct tm_result_about about = about_of(TM_RESULT_DONE);
    char message[TM_RESULT_MESSAGE_BYTES];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(look(&run), TM_RESULT_MISSING);
    make_files();
    write_result(&run, &about, 2);
    assert_int_equal(look(&run), TM_RESULT_DONE);
    assert_int_equal(tm_result_look(&run, folder, "00000000000000f2", "00000000000000a1", NULL), TM_RESULT_MISSING);
    assert_int_equal(tm_result_look(&run, folder, "00000000000000f1", "00000000000000a2", NULL), TM_RESULT_MISSING);
    assert_int_equal(tm_result_look(&run, folder, "00000000000000f1", NULL, message), TM_RESULT_DONE);
    assert_string_equal(message, "");

    write_text("tables/kernels.csv", "name\n"); /* another size */
    assert_int_equal(look(&run), TM_RESULT_MISSING);
    make_files();
    assert_int_equal(look(&run), TM_RESULT_DONE);
    write_text("result.json", "{\"schema\": \"tracemill.result\", \"sch");
    assert_int_equal(look(&run), TM_RESULT_MISSING);
    write_text("result.json", "");
    assert_int_equal(look(&run), TM_RESULT_MISSING);
    assert_int_equal(run.budget.used_bytes[TM_ACCOUNT_MODEL], 0);
}

static void the_status_tells_whether_it_is_done_again(void **state)
{
    static const bool stands[][2] = {
        { true, true }, { true, true }, { true, false }, { false, false }, { false, false }
    };
    char message[TM_RESULT_MESSAGE_BYTES];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (int i = 0; i <= TM_RESULT_MISSING; i++)
        for (int retry = 0; retry < 2; retry++)
            assert_int_equal(tm_result_stands((enum tm_result_status)i, retry), stands[i][retry]);
    for (int i = 0; i < TM_RESULT_MISSING; i++) {
        struct tm_result_about about = about_of((enum tm_result_status)i);

        about.message = "why\x01 \xff";
        write_result(&run, &about, 0);
        assert_int_equal(tm_result_look(&run, folder, "00000000000000f1", "00000000000000a1", message), i);
        assert_string_equal(message, "why? ?");
        assert_int_equal(tm_result_status_of(tm_result_status_words[i]), i);
    }
    assert_int_equal(tm_result_status_of("okapi"), TM_RESULT_MISSING);
}

static void members_are_those_of_the_schema(void **state)
{
    static const char *const keys[] = { "schema",      "schema_version", "tool",        "definitions", "id",
                                        "host",        "status",         "exit_status", "message",     "hint",
                                        "fingerprint", "options",        "pruned",      "files",       "figures",
                                        "facts",       "verdict",        "ops",         "scopes" };
    struct tm_result_about about = about_of(TM_RESULT_FAILED);
    struct tm_doc *doc;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    make_files();
    about.file = &hosts[1];
    about.exit_status = 137;
    write_result(&run, &about, 2);
    doc = tm_doc_new(&run);
    assert_true(tm_result_read(doc, tm_doc_root(doc), folder));
    const struct tm_value *root = tm_doc_root(doc);

    assert_int_equal(tm_length(root), sizeof(keys) / sizeof(keys[0]));
    for (size_t i = 0; i < tm_length(root); i++)
        assert_string_equal(tm_key_at(root, i), keys[i]);
    assert_string_equal(tm_text(tm_get(root, "host")), "b");
    assert_int_equal(tm_int(tm_get(root, "exit_status")), 137);
    assert_int_equal(tm_length(tm_get(root, "files")), 3);
    assert_string_equal(tm_text(tm_path(root, "files[0].name")), "summary.json");
    assert_string_equal(tm_text(tm_path(root, "files[1].name")), "tables/kernels.csv");
    assert_string_equal(tm_text(tm_path(root, "files[2].name")), "tables/tables.csv");
    assert_int_equal(tm_int(tm_path(root, "files[0].bytes")), 3);
    assert_int_equal(strlen(tm_text(tm_path(root, "files[0].xxh3"))), 16);
    tm_doc_free(doc);
}

static void a_file_that_is_not_there_is_no_result(void **state)
{
    const struct tm_result_about about = about_of(TM_RESULT_DONE);
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_doc *doc = tm_doc_new(&run);

    tm_result_fill(doc, &about);
    assert_int_equal(tm_result_list(doc, folder, made, 1), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "summary.json"));
    tm_doc_free(doc);
}

static void before_work_the_record_and_what_was_left_go_away(void **state)
{
    static const char *const left[] = { ".report.html.123-0.part", ".report.a.7.html.99999-12.part",
                                        ".run.partial.5-0.part", ".a.1-2.part.old" };
    static const char *const others[] = { "notes.txt",     ".report.html.part", ".report.html.x-0.part",
                                          ".a.1-2.partly", ".hidden",           ".1-2.part",
                                          ".a.-2.part",    ".a.1-.part" };
    const struct tm_result_about about = about_of(TM_RESULT_DONE);
    char path[300];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_result_remove(&run, "/nowhere/at/all", outputs, 3), TM_OK);
    make_files();
    write_result(&run, &about, 2);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        write_text(left[i], "half");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        write_text(others[i], "mine");
    (void)snprintf(path, sizeof(path), "%s/.tables.5-0.part", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    write_text(".tables.5-0.part/kernels.csv", "name\n");
    assert_int_equal(tm_result_remove(&run, folder, outputs, 3), TM_OK);
    assert_false(is_there("result.json") || is_there("summary.json") || is_there("tables") ||
                 is_there(".tables.5-0.part"));
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        assert_false(is_there(left[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_true(is_there(others[i]));
}

static void paths_are_where_the_schema_says(void **state)
{
    static char long_name[5000];
    char path[TM_OUT_PATH_BYTES];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_out_item_folder(&run, "out", &batch_run, NULL, path), TM_OK);
    assert_string_equal(path, "out/runs/01/night-0123456789abcdef");
    assert_int_equal(tm_out_item_folder(&run, "out", &batch_run, &hosts[1], path), TM_OK);
    assert_string_equal(path, "out/runs/01/night-0123456789abcdef/hosts/b");
    assert_int_equal(tm_input_path(&run, &batch_run, &hosts[0], path), TM_OK);
    assert_string_equal(path, "/data/night/a.xplane.pb");
    memset(long_name, 'o', sizeof(long_name) - 1);
    assert_int_equal(tm_out_path(&run, long_name, "index.html", path), TM_ERR_OUTPUT);
}

static void a_file_of_a_long_name_is_not_listed_as_empty(void **state)
{
    static char long_name[TM_OUT_PATH_BYTES];
    const char *names[] = { long_name };
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    memset(long_name, 'o', sizeof(long_name) - 1);
    (void)tm_add_array(tm_doc_root(doc), "files");
    errno = 0;
    assert_int_equal(tm_result_list(doc, folder, names, 1), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "too long"));
    tm_doc_free(doc);
}

static void a_folder_is_for_one_driver_or_for_shares(void **state)
{
    struct tm_run run;
    int one, other, status;

    (void)state;
    test_run_init(&run);
    const pid_t child = fork();

    if (child == 0)
        _exit(tm_out_lock(&run, folder, TM_LOCK_ALONE, &one) == TM_OK && one >= 0 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_ALONE, &one), TM_OK);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_ALONE, &other), TM_ERR_OUTPUT);
    assert_int_equal(other, -1);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_SHARE, &other), TM_ERR_OUTPUT);
    (void)close(one);
    test_run_init(&run);
    write_text(".manifest.jsonl.77-0.part", "half"); /* by a driver that was killed, or by a share that is at work */
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_SHARE, &one), TM_OK);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_SHARE, &other), TM_OK);
    assert_true(is_there(".manifest.jsonl.77-0.part"));
    (void)close(one);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_ALONE, &one), TM_ERR_OUTPUT);
    (void)close(other);
    test_run_init(&run);
    assert_int_equal(tm_out_lock(&run, folder, TM_LOCK_ALONE, &one), TM_OK);
    assert_false(is_there(".manifest.jsonl.77-0.part"));
    (void)close(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_result_stands_for_its_inputs_options_and_files, make_folder, clear_all),
        cmocka_unit_test_setup_teardown(the_status_tells_whether_it_is_done_again, make_folder, clear_all),
        cmocka_unit_test_setup_teardown(members_are_those_of_the_schema, make_folder, clear_all),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_there_is_no_result, make_folder, clear_all),
        cmocka_unit_test_setup_teardown(before_work_the_record_and_what_was_left_go_away, make_folder, clear_all),
        cmocka_unit_test(paths_are_where_the_schema_says),
        cmocka_unit_test_setup_teardown(a_file_of_a_long_name_is_not_listed_as_empty, make_folder, clear_all),
        cmocka_unit_test_setup_teardown(a_folder_is_for_one_driver_or_for_shares, make_folder, clear_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
