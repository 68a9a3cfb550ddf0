/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_folder.h"

static void read_file(const char *name, char *text, size_t room)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *in = fopen(path, "r");

    assert_non_null(in);
    text[fread(text, 1, room - 1, in)] = '\0';
    (void)fclose(in);
}

static void a_file_appears_whole_when_it_is_committed(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;
    char text[32];
    struct stat info;

    (void)state;
    test_run_init(&run);
    const mode_t mask = umask(022);

    for (int round = 0; round < 2; round++) { /* the second one replaces the first */
        assert_int_equal(tm_atomic_open(&file, &run, folder, "report.txt"), TM_OK);
        assert_true(fprintf(file.stream, "round %d\n", round) > 0);
        assert_int_equal(count_entries(false), 1 + round);
        assert_int_equal(tm_atomic_commit(&file), TM_OK);
        assert_int_equal(count_entries(false), 1);
        tm_atomic_abort(&file);
        read_file("report.txt", text, sizeof(text));
        assert_string_equal(text, round == 0 ? "round 0\n" : "round 1\n");
    }
    (void)umask(mask);
    assert_int_equal(stat(file.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
}

static void an_aborted_file_leaves_nothing(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file, zeroed = { 0 };

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_atomic_open(&file, &run, folder, "report.txt"), TM_OK);
    (void)fputs("half", file.stream);
    tm_atomic_abort(&file);
    tm_atomic_abort(&file);
    tm_atomic_abort(&zeroed);
    assert_int_equal(count_entries(false), 0);
}

static void a_link_at_the_final_name_is_replaced_and_not_followed(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;
    char path[300], target[300], text[32];
    struct stat info;

    (void)state;
    test_run_init(&run);
    (void)snprintf(path, sizeof(path), "%s/report.txt", folder);
    (void)snprintf(target, sizeof(target), "%s/precious", folder);
    FILE *precious = fopen(target, "w");

    assert_non_null(precious);
    (void)fputs("precious", precious);
    (void)fclose(precious);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(tm_atomic_open(&file, &run, folder, "report.txt"), TM_OK);
    (void)fputs("new", file.stream);
    assert_int_equal(tm_atomic_commit(&file), TM_OK);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    read_file("precious", text, sizeof(text));
    assert_string_equal(text, "precious");
}

static void a_temporary_name_in_use_is_passed_over(void **state)
{
    struct tm_run run;
    struct tm_atomic_file first, second;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_atomic_open(&first, &run, folder, "a"), TM_OK);
    assert_int_equal(tm_atomic_open(&second, &run, folder, "a"), TM_OK);
    assert_string_not_equal(first.part, second.part);
    assert_int_equal(tm_atomic_commit(&first), TM_OK);
    assert_int_equal(tm_atomic_commit(&second), TM_OK);
    assert_int_equal(count_entries(false), 1);
}

static void put_empty(const char *name)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fclose(out), 0);
}

static bool exists(const char *name)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void what_killed_processes_left_is_removed_with_its_journal(void **state)
{
    struct tm_run run;
    struct tm_atomic_file written, next;
    char journal[80];

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_atomic_open(&written, &run, folder, "run.db"), TM_OK);
    (void)snprintf(journal, sizeof(journal), "%s-journal", strrchr(written.part, '/') + 1);
    put_empty(journal);
    put_empty(".run.db.99-0.part");
    put_empty(".run.db.99-0.part-journal");
    put_empty(".run.db.99-1.part-journal");
    put_empty("run.db-journal");
    put_empty(".part-journal");
    test_run_init(&run); /* each run looks into a folder once */
    assert_int_equal(tm_atomic_open(&next, &run, folder, "b"), TM_OK);
    assert_true(exists(journal));
    assert_true(exists("run.db-journal"));
    assert_true(exists(".part-journal"));
    assert_false(exists(".run.db.99-0.part"));
    assert_false(exists(".run.db.99-0.part-journal"));
    assert_false(exists(".run.db.99-1.part-journal"));
    tm_atomic_abort(&written);
    tm_atomic_abort(&next);
}

static void a_missing_folder_gets_a_hint(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_atomic_open(&file, &run, "/nowhere/at/all", "a"), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "'/nowhere/at/all/a'"));
    assert_true(run.error.hint[0] != '\0');
    tm_atomic_abort(&file);
}

static void a_folder_at_the_final_name_is_an_error_that_leaves_nothing(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;
    char path[300];

    (void)state;
    test_run_init(&run);
    (void)snprintf(path, sizeof(path), "%s/taken", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(tm_atomic_open(&file, &run, folder, "taken"), TM_OK);
    assert_int_equal(tm_atomic_commit(&file), TM_ERR_OUTPUT);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_entries(false), 0);
}

static void a_name_that_is_too_long_is_an_error(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;
    char name[5000];

    (void)state;
    for (size_t length = 256; length < sizeof(name); length += 2371) {
        test_run_init(&run);
        memset(name, 'n', length);
        name[length] = '\0';
        assert_int_equal(tm_atomic_open(&file, &run, folder, name), TM_ERR_OUTPUT);
        tm_atomic_abort(&file);
    }
}

static void a_write_that_fails_is_an_error_at_commit(void **state)
{
    struct tm_run run;
    struct tm_atomic_file file;
    struct rlimit old, tiny;

    (void)state;
    test_run_init(&run);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = (struct rlimit){ .rlim_cur = 1000, .rlim_max = old.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(tm_atomic_open(&file, &run, folder, "a"), TM_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    for (int i = 0; i < 1000; i++)
        (void)fputs("more than fits\n", file.stream);
    const tm_status status = tm_atomic_commit(&file);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, TM_ERR_OUTPUT);
    assert_int_equal(count_entries(false), 0);
}

static void folders_are_made_with_their_parents(void **state)
{
    struct tm_run run;
    char path[300], above[300];

    (void)state;
    test_run_init(&run);
    (void)snprintf(above, sizeof(above), "%s/one", folder);
    (void)snprintf(path, sizeof(path), "%s//one/two/", folder);
    assert_int_equal(tm_make_folder(&run, path), TM_OK);
    assert_int_equal(tm_make_folder(&run, path), TM_OK);
    assert_int_equal(access(path, W_OK), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(above), 0);
    assert_int_equal(tm_make_folder(&run, "/"), TM_OK);
    assert_int_equal(run.error.status, TM_OK);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    char file[300], below[300], longer[5000];
    const char *table[] = { "", "/proc/none/here", below, file, longer };

    (void)state;
    memset(longer, 'n', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    (void)snprintf(file, sizeof(file), "%s/file", folder);
    (void)snprintf(below, sizeof(below), "%s/file/below", folder);
    const int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    (void)close(fd);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct tm_run run;

        test_run_init(&run);
        assert_int_equal(tm_make_folder(&run, table[i]), TM_ERR_OUTPUT);
        assert_non_null(strstr(run.error.what, "cannot create the folder"));
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(a_file_appears_whole_when_it_is_committed),
        WITH_FOLDER(an_aborted_file_leaves_nothing),
        WITH_FOLDER(a_link_at_the_final_name_is_replaced_and_not_followed),
        WITH_FOLDER(a_temporary_name_in_use_is_passed_over),
        WITH_FOLDER(what_killed_processes_left_is_removed_with_its_journal),
        WITH_FOLDER(a_missing_folder_gets_a_hint),
        WITH_FOLDER(a_folder_at_the_final_name_is_an_error_that_leaves_nothing),
        WITH_FOLDER(a_name_that_is_too_long_is_an_error),
        WITH_FOLDER(a_write_that_fails_is_an_error_at_commit),
        WITH_FOLDER(folders_are_made_with_their_parents),
        WITH_FOLDER(a_folder_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests_name("atomic_file", tests, NULL, NULL);
}
