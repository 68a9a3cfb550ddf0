/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/process.h"
#include "tests/support/test_folder.h"

#define HEADER "file,rows"

static void path_of(char path[300], const char *name)
{
    (void)snprintf(path, 300, "%s/%s", folder, name);
}

static void put_file(const char *name, const char *text)
{
    char path[300];

    path_of(path, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static bool is_there(const char *name)
{
    char path[300];

    path_of(path, name);
    return access(path, F_OK) == 0;
}

static void remove_all(const char *const *names, size_t count)
{
    char path[300];

    for (size_t i = 0; i < count; i++) {
        path_of(path, names[i]);
        assert_int_equal(remove(path), 0);
    }
}

static void add(struct tm_atomic_folder *to, const char *name, const char *text)
{
    FILE *file = tm_atomic_folder_add(to, name);

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(tm_atomic_folder_close(to, file), TM_OK);
}

static struct tm_atomic_folder *open_it(struct tm_run *run)
{
    return tm_atomic_folder_open(run, folder, "csv", "index.csv", HEADER);
}

static void write_tables(struct tm_run *run, const char *name)
{
    struct tm_atomic_folder *to = open_it(run);
    char index[100];

    assert_non_null(to);
    (void)snprintf(index, sizeof(index), HEADER "\n%s,3\n", name);
    add(to, "index.csv", index);
    add(to, name, "a\n");
    assert_int_equal(tm_atomic_folder_commit(to), TM_OK);
    tm_atomic_folder_free(to);
}

static void a_folder_appears_whole(void **state)
{
    static const char *const names[] = { "csv/index.csv", "csv/a.csv", "csv" };
    struct tm_run run;
    struct tm_atomic_folder *to;

    (void)state;
    test_run_init(&run);
    to = open_it(&run);
    assert_non_null(to);
    add(to, "index.csv", HEADER "\na.csv,1\n");
    add(to, "a.csv", "x\n");
    assert_false(is_there("csv"));
    assert_int_equal(tm_atomic_folder_commit(to), TM_OK);
    tm_atomic_folder_free(to);
    assert_ledger_is_even(&run);
    assert_int_equal(count_entries(false), 1);
    assert_true(is_there("csv/a.csv"));
    remove_all(names, 3);
}

static void what_is_not_committed_goes_away(void **state)
{
    struct tm_run run;
    struct tm_atomic_folder *to;

    (void)state;
    test_run_init(&run);
    to = open_it(&run);
    assert_non_null(to);
    add(to, "a.csv", "x\n");
    tm_atomic_folder_free(to);
    tm_atomic_folder_free(NULL);
    assert_int_equal(count_entries(false), 0);
    assert_ledger_is_even(&run);
}

static void older_files_of_ours_go_and_others_stay(void **state)
{
    static const char *const names[] = { "csv/index.csv", "csv/new.csv", "csv/mine.csv", "csv/notes.txt", "csv" };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    write_tables(&run, "old.csv");
    put_file("csv/notes.txt", "mine");
    put_file("csv/mine.csv", "mine");
    write_tables(&run, "new.csv");
    assert_int_equal(count_entries(false), 1);
    assert_false(is_there("csv/old.csv"));
    assert_true(is_there("csv/new.csv"));
    assert_true(is_there("csv/notes.txt"));
    assert_true(is_there("csv/mine.csv"));
    remove_all(names, 5);
}

static void an_index_of_somebody_else_removes_nothing(void **state)
{
    static const char *const names[] = { "csv/index.csv", "csv/new.csv", "csv/keep.csv", "csv", "keep.csv" };
    struct tm_run run;
    char path[300];

    (void)state;
    test_run_init(&run);
    path_of(path, "csv");
    assert_int_equal(mkdir(path, 0755), 0);
    put_file("keep.csv", "");
    put_file("csv/keep.csv", "");
    put_file("csv/index.csv", "name,size\nkeep.csv,1\n");
    write_tables(&run, "new.csv");
    assert_true(is_there("csv/keep.csv"));
    put_file("csv/index.csv", HEADER "\n../keep.csv,1\n/keep.csv,2\n.csv,3\nnew.csv,1\n");
    write_tables(&run, "new.csv");
    assert_true(is_there("csv/keep.csv"));
    assert_true(is_there("keep.csv"));
    remove_all(names, 5);
}

static void a_link_or_a_file_of_that_name_is_refused(void **state)
{
    struct tm_run run;
    char path[300];

    (void)state;
    test_run_init(&run);
    path_of(path, "csv");
    assert_int_equal(symlink("/var/tmp", path), 0);
    assert_null(open_it(&run));
    assert_int_equal(run.error.status, TM_ERR_OUTPUT);
    assert_int_equal(unlink(path), 0);
    put_file("csv", "");
    assert_null(open_it(&run));
    assert_int_equal(count_entries(true), 1);
    assert_ledger_is_even(&run);
}

static void names_are_plain_and_new(void **state)
{
    static const char *const names[] = { "a.csv", "../b.csv", "b", "B.csv", ".csv", "a/b.csv" };
    struct tm_run run;
    struct tm_atomic_folder *to;

    (void)state;
    test_run_init(&run);
    to = open_it(&run);
    assert_non_null(to);
    add(to, "a.csv", "");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(tm_atomic_folder_add(to, names[i]));
    tm_atomic_folder_free(to);
    assert_int_equal(count_entries(false), 0);
}

static void a_signal_leaves_nothing(void **state)
{
    struct tm_run run;
    int status;
    pid_t child;

    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tm_signals_install();
        test_run_init(&run);
        struct tm_atomic_folder *const to = open_it(&run);

        if (to && tm_atomic_folder_add(to, "a.csv"))
            (void)raise(SIGTERM);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(count_entries(false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_appears_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_committed_goes_away, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(older_files_of_ours_go_and_others_stay, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_index_of_somebody_else_removes_nothing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_link_or_a_file_of_that_name_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(names_are_plain_and_new, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_signal_leaves_nothing, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
