/* SPDX-License-Identifier: Apache-2.0 */
/* What a folder of parts may hold, and what of it goes away when another split is written. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/commands/commands.h"
#include "tests/support/test_run.h"

static char folder[] = "/tmp/tracemill-split-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static tm_status check(bool force)
{
    struct tm_run run;

    test_run_init(&run);
    return tm_split_folder_check(&run, folder, force);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static const char older[] =
    "{\n  \"schema\": \"tracemill.split\",\n  \"schema_version\": 1,\n  \"run\": \"part-9999.json\",\n"
    "  \"parts\": [\n    {\n      \"file\": \"part-0001.pftrace\",\n      \"bytes\": 3\n    },\n"
    "    {\n      \"file\": \"part-0002-host0.pftrace\"\n    },\n"
    "    {\n      \"file\": \"../part-0003.pftrace\"\n    },\n"
    "    {\n      \"file\": \"notes.txt\"\n    }\n  ]\n}\n";

static void an_empty_folder_is_free(void **state)
{
    struct tm_run run;

    (void)state;
    assert_int_equal(check(false), TM_OK);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(check(false), TM_OK); /* it will be made */
    test_run_init(&run);
    assert_int_equal(tm_split_folder_check(&run, "/proc/self/status/x", false), TM_ERR_OUTPUT);
}

static void what_is_not_ours_is_refused(void **state)
{
    (void)state;
    put("mine.txt", "mine");
    assert_int_equal(check(false), TM_ERR_OUTPUT);
    assert_int_equal(check(true), TM_OK);
    put("index.json", "{}\n");
    assert_int_equal(check(false), TM_ERR_OUTPUT);
    put("index.json", "{\n  \"schema\": \"another\",\n");
    assert_int_equal(check(false), TM_ERR_OUTPUT);
    put("index.json", "{\n  \"schema\": \"tracemill.split\"");
    assert_int_equal(check(false), TM_OK);
}

static void an_older_split_goes_away_and_nothing_else(void **state)
{
    struct tm_run run;

    (void)state;
    put("index.json", older);
    put("index.html", "page");
    put("part-0001.pftrace", "1");
    put("part-0002-host0.pftrace", "2");
    put("part-0004.pftrace", "not listed");
    put("part-9999.json", "not a part of the list");
    put("notes.txt", "mine");
    assert_int_equal(check(false), TM_OK);
    test_run_init(&run);
    assert_int_equal(tm_split_folder_clear(&run, folder), TM_OK);
    assert_false(is_there("index.json") || is_there("index.html"));
    assert_false(is_there("part-0001.pftrace") || is_there("part-0002-host0.pftrace"));
    assert_true(is_there("part-0004.pftrace") && is_there("part-9999.json") && is_there("notes.txt"));
    /* without a list there is nothing to do */
    assert_int_equal(tm_split_folder_clear(&run, folder), TM_OK);
    assert_true(is_there("notes.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_folder_is_free, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_ours_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_older_split_goes_away_and_nothing_else, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
