/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a pool: what becomes of each, and what of them when the driver ends. */
#include "pipeline/nightly/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/support/test_folder.h"

enum { PIECES = 64, SECOND_PS_1000TH = 1000000000 };

struct seen {
    int (*work)(void *of, size_t index);
    size_t ended, order[PIECES];
    struct tm_outcome outcome[PIECES];
    char said[PIECES][64];
    size_t said_length;
    size_t stop_after; /* 0 = never */
    struct tm_run *run;
};

static void pause_ms(int64_t ms)
{
    const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    (void)nanosleep(&time, NULL);
}

static tm_status note(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct seen *seen = of;

    assert_true(index < PIECES);
    seen->outcome[index] = *outcome;
    seen->order[seen->ended++] = index;
    seen->said_length = strlen(outcome->said);
    (void)snprintf(seen->said[index], sizeof(seen->said[index]), "%.63s", outcome->said);
    return seen->ended == seen->stop_after ? tm_fail(&seen->run->error, TM_ERR_OUTPUT, -1, "stop") : TM_OK;
}

static int do_work(void *of, size_t index)
{
    const struct seen *seen = of;

    return seen->work(of, index);
}

static tm_status work_all(struct seen *seen, size_t count, unsigned jobs, int64_t time_ps)
{
    static struct tm_run run;

    test_run_init(&run);
    seen->run = &run;
    return tm_work_all(&run, &(struct tm_work){ .of = seen,
                                                .count = count,
                                                .jobs = jobs,
                                                .time_ps = time_ps,
                                                .memory_bytes = (size_t)32 << 20,
                                                .work = do_work,
                                                .ended = note });
}

static struct tm_work_pool *begin_work(struct tm_run *run, struct seen *seen, size_t count, unsigned jobs)
{
    test_run_init(run);
    seen->run = run;
    return tm_work_begin(run, &(struct tm_work){ .of = seen,
                                                 .count = count,
                                                 .jobs = jobs,
                                                 .memory_bytes = (size_t)32 << 20,
                                                 .work = do_work,
                                                 .ended = note });
}

/* --- a driver with work of its own --- */

static int *shared_marks; /* of pieces, in memory that all processes have */

static int mark(void *of, size_t index)
{
    (void)of;
    shared_marks[index] = 1;
    return 0;
}

static int mark_and_wait(void *of, size_t index)
{
    (void)mark(of, index);
    pause_ms(60000);
    return 0;
}

static void wait_for_mark(size_t index)
{
    for (int i = 0; i < 10000 && !*(volatile int *)&shared_marks[index]; i++)
        pause_ms(1);
    assert_int_equal(shared_marks[index], 1);
}

/* As many as there are slots work while the driver does; the others follow when it waits. */
static void processes_work_while_the_driver_does(void **state)
{
    struct seen seen = { .work = mark };
    struct tm_run run;
    struct tm_work_pool *const pool = begin_work(&run, &seen, 3, 2);

    (void)state;
    assert_non_null(pool);
    wait_for_mark(0);
    wait_for_mark(1);
    assert_int_equal(shared_marks[2], 0);
    assert_int_equal(seen.ended, 0);
    assert_int_equal(tm_work_end(pool), TM_OK);
    assert_int_equal(shared_marks[2], 1);
    assert_int_equal(seen.ended, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(seen.outcome[i].number, 0);
    assert_int_equal(run.budget.used_bytes[TM_ACCOUNT_MODEL], 0);
}

static void a_driver_that_has_failed_ends_them(void **state)
{
    struct seen seen = { .work = mark_and_wait };
    struct tm_run run;
    struct tm_work_pool *const pool = begin_work(&run, &seen, 2, 2);
    const time_t begin = time(NULL);

    (void)state;
    assert_non_null(pool);
    wait_for_mark(0);
    (void)tm_fail(&run.error, TM_ERR_OUTPUT, -1, "the driver's own");
    assert_int_equal(tm_work_end(pool), TM_ERR_OUTPUT);
    assert_int_equal(seen.ended, 0);
    assert_true(time(NULL) - begin < 30);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
    assert_int_equal(run.budget.used_bytes[TM_ACCOUNT_MODEL], 0);
}

static int make_marks(void **state)
{
    (void)state;
    shared_marks = mmap(NULL, PIECES * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared_marks == MAP_FAILED;
}

static int remove_marks(void **state)
{
    (void)state;
    return munmap(shared_marks, PIECES * sizeof(int));
}

/* --- outcomes --- */

static int end_in_ways(void *of, size_t index)
{
    (void)of;
    switch (index) {
    case 0:
        return 0;
    case 1:
        (void)fputs("tracemill: cannot read\nhint: do\n", stderr);
        return 3;
    case 2:
        (void)raise(SIGKILL);
        return 0;
    case 3:
        (void)signal(SIGSEGV, SIG_DFL);
        (void)raise(SIGSEGV);
        return 0;
    default:
        return 6;
    }
}

static void each_end_is_an_outcome(void **state)
{
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        struct seen seen = { .work = end_in_ways };

        (void)state;
        assert_int_equal(work_all(&seen, 5, jobs, 0), TM_OK);
        assert_int_equal(seen.ended, 5);
        assert_int_equal(seen.outcome[0].kind, TM_OUTCOME_EXIT);
        assert_int_equal(seen.outcome[0].number, 0);
        assert_int_equal(seen.outcome[1].number, 3);
        assert_string_equal(seen.said[1], "tracemill: cannot read\nhint: do\n");
        assert_int_equal(seen.outcome[2].kind, TM_OUTCOME_SIGNAL);
        assert_int_equal(seen.outcome[2].number, SIGKILL);
        assert_int_equal(seen.outcome[3].kind, TM_OUTCOME_SIGNAL);
        assert_int_equal(seen.outcome[3].number, SIGSEGV);
        assert_int_equal(seen.outcome[4].number, 6);
        assert_string_equal(seen.said[4], "");
    }
}

static int emit_much(void *of, size_t index)
{
    (void)of;
    (void)index;
    for (int i = 0; i < 100000; i++)
        (void)fputs("a line of thirty-two characters\n", stderr);
    return 0;
}

static void what_is_said_is_kept_at_its_begin_and_never_blocks(void **state)
{
    struct seen seen = { .work = emit_much };

    (void)state;
    assert_int_equal(work_all(&seen, 3, 2, 0), TM_OK);
    assert_int_equal(seen.ended, 3);
    assert_int_equal(seen.outcome[2].number, 0);
    assert_int_equal(seen.said_length, 4095);
}

static int emit_without_end(void *of, size_t index)
{
    (void)of;
    while (index == 0)
        (void)fputs("a line of thirty-two characters\n", stderr);
    return 0;
}

static void one_that_never_stops_talking_is_ended_too(void **state)
{
    struct seen seen = { .work = emit_without_end };

    (void)state;
    assert_int_equal(work_all(&seen, 3, 2, (int64_t)300 * SECOND_PS_1000TH), TM_OK);
    assert_int_equal(seen.outcome[0].kind, TM_OUTCOME_TIME);
    assert_int_equal(seen.outcome[0].number, SIGTERM);
    assert_int_equal(seen.outcome[2].kind, TM_OUTCOME_EXIT);
}

static int sleep_long(void *of, size_t index)
{
    (void)of;
    if (index == 1)
        (void)signal(SIGTERM, SIG_IGN);
    if (index < 2)
        pause_ms(60000);
    return 0;
}

static void one_that_takes_too_long_is_ended_and_the_others_go_on(void **state)
{
    struct seen seen = { .work = sleep_long };

    (void)state;
    assert_int_equal(work_all(&seen, 4, 2, (int64_t)200 * SECOND_PS_1000TH), TM_OK);
    assert_int_equal(seen.ended, 4);
    assert_int_equal(seen.outcome[0].kind, TM_OUTCOME_TIME);
    assert_int_equal(seen.outcome[0].number, SIGTERM);
    assert_int_equal(seen.outcome[1].kind, TM_OUTCOME_TIME);
    assert_int_equal(seen.outcome[1].number, SIGKILL); /* it did not listen */
    assert_int_equal(seen.outcome[2].kind, TM_OUTCOME_EXIT);
    assert_int_equal(seen.outcome[3].kind, TM_OUTCOME_EXIT);
}

static void an_error_of_the_driver_ends_all(void **state)
{
    struct seen seen = { .work = end_in_ways, .stop_after = 2 };

    (void)state;
    assert_int_equal(work_all(&seen, 5, 1, 0), TM_ERR_OUTPUT);
    assert_int_equal(seen.ended, 2);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    assert_int_equal(errno, ECHILD);
}

static void pieces_are_begun_in_their_order(void **state)
{
    struct seen seen = { .work = end_in_ways };

    (void)state;
    assert_int_equal(work_all(&seen, 5, 1, 0), TM_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(seen.order[i], i);
    seen.ended = 0;
    assert_int_equal(work_all(&seen, 0, 4, 0), TM_OK);
    assert_int_equal(seen.ended, 0);
}

/* --- what a process is given --- */

static int count_files(void *of, size_t index)
{
    int count = 0;

    (void)of;
    (void)index;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static void no_file_of_the_driver_is_open_in_a_process(void **state)
{
    struct seen seen = { .work = count_files };
    const int fd = open("/dev/null", O_RDONLY);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(work_all(&seen, 8, 4, 0), TM_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(seen.outcome[i].number, 3);
    assert_int_equal(fcntl(fd, F_GETFD), 0);
    (void)close(fd);
}

static int take_memory(void *of, size_t index)
{
    const size_t bound = (size_t)tm_work_data_bytes((size_t)32 << 20);
    const size_t bytes = index ? bound + ((size_t)64 << 20) : bound / 2;

    (void)of;
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 6 : 0;
}

static void data_of_a_process_has_a_bound(void **state)
{
    struct seen seen = { .work = take_memory };

    (void)state;
    if (getenv("TM_UNDER"))
        skip(); /* the checker's own memory counts, too */
    assert_int_equal(work_all(&seen, 2, 1, 0), TM_OK);
    assert_int_equal(seen.outcome[0].number, 0);
    assert_int_equal(seen.outcome[1].number, 6);
}

static int check_signals(void *of, size_t index)
{
    struct sigaction action;
    sigset_t mask;

    (void)of;
    (void)index;
    if (sigprocmask(SIG_BLOCK, NULL, &mask) != 0 || sigismember(&mask, SIGTERM))
        return 1;
    return sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == SIG_DFL ? 0 : 2;
}

static void signals_are_those_from_before(void **state)
{
    struct seen seen = { .work = check_signals };
    struct sigaction action;

    (void)state;
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGCHLD, SIG_IGN); /* as some who start programs leave it */
    assert_int_equal(work_all(&seen, 2, 2, 0), TM_OK);
    assert_int_equal(seen.outcome[0].kind, TM_OUTCOME_EXIT);
    assert_int_equal(seen.outcome[0].number, 0);
    assert_int_equal(sigaction(SIGCHLD, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* --- when the driver ends --- */

/* Nothing of the test is open in a process: it is known to live by what it locks. */
static int sleep_with_lock(void *of, size_t index)
{
    char path[300];
    const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    (void)snprintf(path, sizeof(path), "%s/%zu", folder, index);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
        return 1;
    (void)of;
    pause_ms(60000);
    return 0;
}

static bool is_locked(int index)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%d", folder, index);
    const int fd = open(path, O_RDWR);
    const bool locked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (fd >= 0)
        (void)close(fd);
    return locked;
}

static bool wait_for_locks(bool wanted)
{
    for (int i = 0; i < 1000; i++) {
        if (is_locked(0) == wanted && is_locked(1) == wanted)
            return true;
        pause_ms(10);
    }
    return false;
}

/* A driver with two processes gets a signal.  out: its wait status, when both are gone */
static int end_driver(int number)
{
    const pid_t driver = fork();
    int status = 0;

    assert_true(driver >= 0);
    if (driver == 0) {
        struct seen seen = { .work = sleep_with_lock };

        (void)signal(number, SIG_DFL);
        _exit(work_all(&seen, 2, 2, 0) == TM_OK ? 0 : 1);
    }
    assert_true(wait_for_locks(true));
    assert_int_equal(kill(driver, number), 0);
    assert_int_equal(waitpid(driver, &status, 0), driver);
    if (number != SIGKILL)
        assert_false(is_locked(0) || is_locked(1)); /* it waits for them */
    assert_true(wait_for_locks(false));
    return status;
}

static void processes_end_with_the_driver(void **state)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGKILL };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const int status = end_driver(numbers[i]);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
    }
}

/* --- memory of the driver --- */

static int end_well(void *of, size_t index)
{
    (void)of;
    (void)index;
    return 0;
}

static tm_status count_only(void *of, size_t index, const struct tm_outcome *outcome)
{
    size_t *count = of;

    (void)index;
    *count += outcome->kind == TM_OUTCOME_EXIT;
    return TM_OK;
}

static void the_driver_holds_no_more_for_more_pieces(void **state)
{
    static struct tm_run run;
    size_t peaks[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t count = 0;

        test_run_init(&run);
        assert_int_equal(tm_work_all(&run, &(struct tm_work){ .of = &count,
                                                              .count = i ? 400 : 4,
                                                              .jobs = 4,
                                                              .memory_bytes = (size_t)32 << 20,
                                                              .work = end_well,
                                                              .ended = count_only }),
                         TM_OK);
        assert_int_equal(count, i ? 400 : 4);
        assert_int_equal(run.budget.used_bytes[TM_ACCOUNT_MODEL], 0);
        peaks[i] = run.budget.peak_bytes[TM_ACCOUNT_MODEL];
    }
    assert_int_equal(peaks[0], peaks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_work_while_the_driver_does, make_marks, remove_marks),
        cmocka_unit_test_setup_teardown(a_driver_that_has_failed_ends_them, make_marks, remove_marks),
        cmocka_unit_test(each_end_is_an_outcome),
        cmocka_unit_test(what_is_said_is_kept_at_its_begin_and_never_blocks),
        cmocka_unit_test(one_that_never_stops_talking_is_ended_too),
        cmocka_unit_test(one_that_takes_too_long_is_ended_and_the_others_go_on),
        cmocka_unit_test(an_error_of_the_driver_ends_all),
        cmocka_unit_test(pieces_are_begun_in_their_order),
        cmocka_unit_test(no_file_of_the_driver_is_open_in_a_process),
        cmocka_unit_test(data_of_a_process_has_a_bound),
        cmocka_unit_test(signals_are_those_from_before),
        cmocka_unit_test_setup_teardown(processes_end_with_the_driver, make_folder, remove_folder),
        cmocka_unit_test(the_driver_holds_no_more_for_more_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
