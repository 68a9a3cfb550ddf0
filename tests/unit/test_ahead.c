/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/threads.h"

#include <string.h>

#include "tests/support/test_run.h"

/* What a thread fills in: bytes that follow from their place, in blocks that are not always full. */
struct filler {
    uint64_t at, bytes;
    uint64_t seed;
    unsigned work; /* per block, so that the thread is slower than the reader */
};

enum { BLOCK = TM_AHEAD_BLOCK_BYTES, MANY_BLOCKS = 3 * TM_AHEAD_BLOCKS + 1 };

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 31 + (at >> 8));
}

static void work(unsigned rounds)
{
    volatile uint64_t worked = 0;

    for (unsigned i = 0; i < rounds; i++)
        worked = worked + i;
}

static bool fill(void *of, uint8_t *to, size_t bytes, size_t *got, uint64_t *read)
{
    struct filler *const f = of;
    const uint64_t left = f->bytes - f->at;
    const size_t most = next_number(&f->seed) % 3 ? bytes : 1 + next_number(&f->seed) % bytes;

    *got = left < most ? (size_t)left : most;
    *read = *got / 2;
    for (size_t i = 0; i < *got; i++)
        to[i] = byte_at(f->at + i);
    f->at += *got;
    work(f->work);
    return f->at < f->bytes;
}

static void init_two_cores(struct tm_run *run)
{
    test_run_init(run);
    tm_budget_init(&run->budget, (size_t)256 << 20);
    run->jobs = 2;
}

/* Read all of it, in pieces of any size.
 * in:     most  bytes of a piece; filler_work, reader_work  rounds after each block or piece */
static void check(uint64_t bytes, size_t most, unsigned filler_work, unsigned reader_work)
{
    static uint8_t piece[BLOCK + 1];
    struct filler filler = { .bytes = bytes, .seed = bytes + most, .work = filler_work };
    struct tm_run run;
    struct tm_ahead *ahead;
    uint64_t seed = most, at = 0, read = 0, part;
    size_t got;

    init_two_cores(&run);
    ahead = tm_ahead_start(&run, fill, &filler);
    assert_non_null(ahead);
    while ((got = tm_ahead_read(ahead, piece, 1 + next_number(&seed) % most, &part))) {
        for (size_t i = 0; i < got; i++)
            if (piece[i] != byte_at(at + i))
                fail_msg("byte %llu is another one", (unsigned long long)(at + i));
        at += got;
        read += part;
        work(reader_work);
    }
    assert_int_equal(at, bytes);
    assert_true(read <= bytes / 2);
    assert_int_equal(tm_ahead_read(ahead, piece, 1, &part), 0); /* and so it stays */
    tm_ahead_end(ahead);
    assert_int_equal(filler.at, bytes);
    assert_ledger_is_even(&run);
}

static void all_that_is_filled_is_read_in_order(void **state)
{
    static const uint64_t lengths[] = {
        0, 1, BLOCK, BLOCK + 1, (uint64_t)TM_AHEAD_BLOCKS * BLOCK, (uint64_t)MANY_BLOCKS * BLOCK + 5
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        check(lengths[i], BLOCK + 1, 0, 0);
        check(lengths[i], 1 << 15, 0, 0);
        check(lengths[i], BLOCK, 300000, 0); /* the reader waits */
        check(lengths[i], BLOCK, 0, 300000); /* the thread waits */
    }
}

/* Blocks are lent, now and then one is copied, and what is around them is written over. */
static void what_is_lent_is_read_where_it_is(void **state)
{
    static uint8_t piece[BLOCK];

    (void)state;
    for (uint64_t round = 0; round < 12; round++) {
        struct filler filler = { .bytes = (uint64_t)MANY_BLOCKS * BLOCK + 5, .seed = round };
        struct tm_run run;
        struct tm_ahead *ahead;
        uint64_t at = 0, read = 0, part, seed = round;
        bool is_lent = false;
        uint8_t *bytes;
        size_t got;

        init_two_cores(&run);
        filler.work = round % 3 ? 0 : 100000;
        ahead = tm_ahead_start(&run, fill, &filler);
        assert_non_null(ahead);
        for (;;) {
            if (next_number(&seed) % 4 == 0) {
                tm_ahead_return(ahead, &part);
                is_lent = false;
                read += part;
                got = tm_ahead_read(ahead, piece, 1 + next_number(&seed) % BLOCK, &part);
                read += part;
                bytes = piece;
                if (!got)
                    break;
            } else {
                got = tm_ahead_lend(ahead, &bytes);
                if (is_lent && got) {
                    tm_ahead_return(ahead, &part);
                    read += part;
                }
                is_lent |= got != 0;
                if (!got)
                    continue;
                memset(bytes - TM_AHEAD_HEAD_BYTES, 0xff, TM_AHEAD_HEAD_BYTES);
                memset(bytes + got, 0xff, TM_AHEAD_TAIL_BYTES);
            }
            for (size_t i = 0; i < got; i++)
                if (bytes[i] != byte_at(at + i))
                    fail_msg("byte %llu is another one", (unsigned long long)(at + i));
            at += got;
            work(round % 2 ? 0 : 100000);
        }
        assert_int_equal(at, filler.bytes);
        assert_true(read <= filler.bytes / 2);
        tm_ahead_end(ahead);
        assert_ledger_is_even(&run);
    }
}

/* The reader stops at any place: the thread is running, or waits for room. */
static void it_ends_before_all_is_read(void **state)
{
    static uint8_t piece[BLOCK];

    (void)state;
    for (unsigned blocks = 0; blocks <= 2 * TM_AHEAD_BLOCKS; blocks++) {
        struct filler filler = { .bytes = (uint64_t)MANY_BLOCKS * BLOCK * 2, .seed = blocks };
        struct tm_run run;
        struct tm_ahead *ahead;
        uint64_t read;

        init_two_cores(&run);
        ahead = tm_ahead_start(&run, fill, &filler);
        assert_non_null(ahead);
        for (unsigned i = 0; i < blocks; i++)
            assert_true(tm_ahead_read(ahead, piece, sizeof(piece), &read) > 0);
        if (blocks % 2)
            work(20000000); /* it has filled all blocks */
        tm_ahead_end(ahead);
        assert_ledger_is_even(&run);
    }
}

static void little_memory_gives_fewer_blocks_or_none(void **state)
{
    bool has_fewer = false, has_none = false;

    (void)state;
    for (size_t pool = 0; pool <= (size_t)4 * TM_AHEAD_BLOCKS * BLOCK; pool += BLOCK) {
        struct filler filler = { .bytes = 10 };
        struct tm_run run;
        struct tm_ahead *ahead;
        uint8_t piece[16];
        uint64_t read;
        size_t whole;

        init_two_cores(&run);
        whole = run.budget.pool_bytes;
        run.budget.pool_bytes = pool;
        ahead = tm_ahead_start(&run, fill, &filler);
        if (ahead) {
            const size_t taken = run.budget.used_bytes[TM_ACCOUNT_INPUT];

            assert_true(taken >= (size_t)TM_AHEAD_LEAST * BLOCK && taken / 2 <= pool);
            has_fewer |= taken < (size_t)TM_AHEAD_BLOCKS * BLOCK;
            assert_true(tm_ahead_read(ahead, piece, sizeof(piece), &read) > 0);
        }
        has_none |= !ahead;
        tm_ahead_end(ahead);
        assert_int_equal(run.budget.pool_bytes, pool);
        run.budget.pool_bytes = whole;
        assert_ledger_is_even(&run);
    }
    assert_true(has_fewer && has_none);
}

static void one_core_needs_no_thread(void **state)
{
    struct filler filler = { .bytes = 10 };
    struct tm_run run;

    (void)state;
    init_two_cores(&run);
    run.jobs = 1;
    assert_null(tm_ahead_start(&run, fill, &filler));
    tm_ahead_end(NULL);
    assert_false(tm_failed(&run));
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_filled_is_read_in_order),
        cmocka_unit_test(what_is_lent_is_read_where_it_is),
        cmocka_unit_test(it_ends_before_all_is_read),
        cmocka_unit_test(little_memory_gives_fewer_blocks_or_none),
        cmocka_unit_test(one_core_needs_no_thread),
    };

    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
