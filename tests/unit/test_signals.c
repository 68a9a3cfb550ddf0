/* SPDX-License-Identifier: Apache-2.0 */
/* What a signal leaves behind: children guard files, get a signal, and their parent looks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pipeline/process.h"

enum { FILES = 3 };

static char folder[64], path[FILES][128];

static int make_files(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/test_signals.XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(path[i], sizeof(path[i]), "%s/%d", folder, i);
        FILE *const file = fopen(path[i], "w");

        assert_non_null(file);
        (void)fclose(file);
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++)
        (void)unlink(path[i]);
    return rmdir(folder);
}

/* Let a child guard the files 0 and 1, release 1, and end by a signal.  out: its wait status */
static int run_child(int number, bool is_ignored)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(number, is_ignored ? SIG_IGN : SIG_DFL); /* whatever the test itself was started with */
        tm_signals_install();
        tm_signals_guard(path[0]);
        tm_signals_guard(path[1]);
        tm_signals_release(path[1]);
        tm_signals_release("never guarded");
        (void)raise(number);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void unfinished_files_are_removed_and_the_signal_ends_the_process(void **state)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        const int status = run_child(signals[i], false);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_not_equal(access(path[0], F_OK), 0);
        assert_int_equal(access(path[1], F_OK), 0);
        assert_int_equal(access(path[2], F_OK), 0);
        (void)remove_files(state);
        (void)make_files(state);
    }
}

static void a_signal_waits_until_what_is_made_is_guarded(void **state)
{
    const pid_t child = fork();
    int status = 0;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        sigset_t before;

        tm_signals_install();
        tm_signals_hold(&before);
        (void)raise(SIGTERM);
        tm_signals_guard(path[0]);
        tm_signals_let(&before);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_not_equal(access(path[0], F_OK), 0);
    assert_int_equal(access(path[1], F_OK), 0);
}

static void signals_that_were_ignored_stay_ignored(void **state)
{
    (void)state;
    const int status = run_child(SIGHUP, true);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access(path[0], F_OK), 0);
}

static void a_closed_pipe_is_an_error_and_no_signal(void **state)
{
    (void)state;
    const int status = run_child(SIGPIPE, false);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access(path[0], F_OK), 0);
}

static void a_full_table_and_a_long_path_are_harmless(void **state)
{
    static char long_path[TM_SIGNAL_PATH_BYTES + 1];
    char other[32];

    (void)state;
    memset(long_path, 'x', TM_SIGNAL_PATH_BYTES);
    tm_signals_guard(long_path);
    for (int i = 0; i < 2 * TM_SIGNAL_PATHS; i++) {
        (void)snprintf(other, sizeof(other), "p%d", i);
        tm_signals_guard(other);
    }
    for (int i = 0; i < 2 * TM_SIGNAL_PATHS; i++) {
        (void)snprintf(other, sizeof(other), "p%d", i);
        tm_signals_release(other);
    }
    /* the table is empty again: a child finds room */
    assert_true(WIFSIGNALED(run_child(SIGTERM, false)));
    assert_int_not_equal(access(path[0], F_OK), 0);
}

int main(void)
{
#define SIGNALS_TEST(f) cmocka_unit_test_setup_teardown(f, make_files, remove_files)
    const struct CMUnitTest tests[] = {
        SIGNALS_TEST(unfinished_files_are_removed_and_the_signal_ends_the_process),
        SIGNALS_TEST(a_signal_waits_until_what_is_made_is_guarded),
        SIGNALS_TEST(signals_that_were_ignored_stay_ignored),
        SIGNALS_TEST(a_closed_pipe_is_an_error_and_no_signal),
        SIGNALS_TEST(a_full_table_and_a_long_path_are_harmless),
    };

    return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
