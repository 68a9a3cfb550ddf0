/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/ring.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/test_run.h"

enum { NUMBERS = 200000, NUMBERS_EACH = 64 };

struct block {
    uint64_t count;
    uint64_t number[NUMBERS_EACH];
};

static bool never(void *of)
{
    (void)of;
    return false;
}

static bool has_ended(void *of)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t) * (const pid_t *)of, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static void rest(unsigned microseconds)
{
    const struct timespec pause = { .tv_nsec = microseconds * 1000L };

    (void)nanosleep(&pause, NULL);
}

/* In the other process.  out: its status: 0 = all numbers came, in their order */
static int read_numbers(struct tm_ring *ring, uint64_t slow)
{
    uint64_t next = 0;

    for (const struct block *block; (block = tm_ring_next(ring)) != NULL; tm_ring_free_block(ring, block)) {
        for (uint64_t i = 0; i < block->count; i++)
            if (block->number[i] != next++)
                return 1;
        if (slow && next % slow < NUMBERS_EACH)
            rest(200);
    }
    return next == NUMBERS ? 0 : 2;
}

/* in: slow  numbers between pauses; 0 = none */
static void pass_on(uint64_t slow_reader, uint64_t slow_writer)
{
    struct tm_ring *const ring = tm_ring_new(sizeof(struct block));
    int status = -1;
    pid_t pid;

    assert_non_null(ring);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(read_numbers(ring, slow_reader));
    for (uint64_t next = 0; next < NUMBERS;) {
        struct block *const block = tm_ring_room(ring, never, NULL);

        assert_non_null(block);
        block->count = 0;
        while (block->count < 1 + next % NUMBERS_EACH && next < NUMBERS)
            block->number[block->count++] = next++;
        tm_ring_send(ring, block);
        if (slow_writer && next % slow_writer < NUMBERS_EACH)
            rest(200);
    }
    tm_ring_close(ring);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    tm_ring_free(ring);
}

static void blocks_arrive_in_their_order(void **state)
{
    (void)state;
    pass_on(0, 0);
}

static void the_slower_side_is_waited_for(void **state)
{
    (void)state;
    pass_on(20000, 0);
    pass_on(0, 20000);
    pass_on(10000, 7000);
}

/* In the order in which they were sent, whichever was taken first. */
static void two_blocks_are_filled_at_a_time(void **state)
{
    struct tm_ring *const ring = tm_ring_new(sizeof(struct block));

    (void)state;
    assert_non_null(ring);
    for (uint64_t round = 0; round < 100; round++) {
        struct block *const first = tm_ring_room(ring, never, NULL), *const second = tm_ring_room(ring, never, NULL);
        const struct block *got;

        assert_ptr_not_equal(first, second);
        first->number[0] = round;
        second->number[0] = round + 1000;
        tm_ring_send(ring, second);
        tm_ring_send(ring, first);
        got = tm_ring_next(ring);
        assert_int_equal(got->number[0], round + 1000);
        tm_ring_free_block(ring, got);
        got = tm_ring_next(ring);
        assert_int_equal(got->number[0], round);
        tm_ring_free_block(ring, got);
    }
    tm_ring_close(ring);
    assert_null(tm_ring_next(ring));
    tm_ring_free(ring);
}

static void a_reader_that_is_killed_is_noticed(void **state)
{
    struct tm_ring *const ring = tm_ring_new(sizeof(struct block));
    uint64_t sent = 0;
    void *block;
    pid_t pid;

    (void)state;
    assert_non_null(ring);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            rest(1000);
    assert_int_equal(kill(pid, SIGKILL), 0);
    while ((block = tm_ring_room(ring, has_ended, &pid)) != NULL) {
        tm_ring_send(ring, block);
        sent++;
    }
    assert_int_equal(sent, TM_RING_BLOCKS);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    tm_ring_free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_arrive_in_their_order),
        cmocka_unit_test(the_slower_side_is_waited_for),
        cmocka_unit_test(two_blocks_are_filled_at_a_time),
        cmocka_unit_test(a_reader_that_is_killed_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
