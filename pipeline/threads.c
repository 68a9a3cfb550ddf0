/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: blocks that one fills ahead, and work that one does alongside the main thread (threads.h). */
#include "pipeline/threads.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "pipeline/workers.h"

enum { STACK_BYTES = 512 << 10 };

unsigned tm_cores(struct tm_run *run)
{
    if (run->jobs == TM_JOBS_AUTO)
        run->jobs = tm_machine_look("").cores;
    return run->jobs > 1 ? (unsigned)run->jobs : 1;
}

/* --- reading ahead --- */

struct block {
    size_t have;
    uint64_t read;
};

struct tm_ahead {
    struct tm_run *run; /* of the main thread */
    tm_ahead_fill *fill;
    void *of;
    pthread_t thread;
    unsigned blocks;
    pthread_mutex_t lock; /* of all that follows but the bytes */
    pthread_cond_t may_fill, may_read;
    bool waits_to_fill, waits_to_read; /* until it is woken */
    struct block block[TM_AHEAD_BLOCKS];
    unsigned first, count; /* blocks that are filled */
    bool is_ending, has_ended;
    size_t used;    /* of the first block; the main thread's own, as the next one */
    unsigned lent;  /* blocks from the first one on */
    uint8_t *bytes; /* a block belongs to the thread until it counts, then to the main thread */
};

enum { ROOM_BYTES = TM_AHEAD_HEAD_BYTES + TM_AHEAD_BLOCK_BYTES + TM_AHEAD_TAIL_BYTES };

static uint8_t *bytes_of(const struct tm_ahead *a, unsigned block)
{
    return a->bytes + (size_t)block * ROOM_BYTES + TM_AHEAD_HEAD_BYTES;
}

/* Let go of the lock, and wake the other thread if it waits and has something to do. */
static void unlock_and_wake(struct tm_ahead *a, bool *waits, pthread_cond_t *until, bool has_work)
{
    const bool wakes = *waits && has_work;

    if (wakes)
        *waits = false;
    (void)pthread_mutex_unlock(&a->lock);
    if (wakes)
        (void)pthread_cond_signal(until);
}

static void *fill_blocks(void *of)
{
    struct tm_ahead *const a = of;

    (void)pthread_mutex_lock(&a->lock);
    while (!a->is_ending) {
        const unsigned next = (a->first + a->count) % a->blocks;
        struct block block = { .have = 0 };
        bool more;

        if (a->has_ended || a->count == a->blocks) {
            a->waits_to_fill = true;
            (void)pthread_cond_wait(&a->may_fill, &a->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&a->lock);
        more = a->fill(a->of, bytes_of(a, next), TM_AHEAD_BLOCK_BYTES, &block.have, &block.read);
        (void)pthread_mutex_lock(&a->lock);
        a->has_ended = !more;
        if (block.have) {
            a->block[next] = block;
            a->count++;
        }
        unlock_and_wake(a, &a->waits_to_read, &a->may_read, a->has_ended || a->count >= a->blocks / 2);
        (void)pthread_mutex_lock(&a->lock);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals stay with the main thread.  out: false: the system makes no thread */
static bool start_thread(pthread_t *thread, void *(*work)(void *of), void *of)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int problem;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    problem = pthread_create(thread, &attributes, work, of);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return !problem;
}

static size_t bytes_of_all(const struct tm_ahead *a)
{
    return (size_t)a->blocks * ROOM_BYTES;
}

static void release(struct tm_ahead *a)
{
    struct tm_budget *const budget = &a->run->budget;
    const size_t bytes = bytes_of_all(a);

    (void)pthread_cond_destroy(&a->may_fill);
    (void)pthread_cond_destroy(&a->may_read);
    (void)pthread_mutex_destroy(&a->lock);
    tm_give(budget, TM_ACCOUNT_INPUT, a->bytes, bytes);
    tm_give(budget, TM_ACCOUNT_INPUT, a, sizeof(*a));
    tm_budget_put_back(budget, bytes);
}

/* out: how many blocks the pool allows; 0 = none */
static unsigned draw_blocks(struct tm_run *run)
{
    for (unsigned blocks = TM_AHEAD_BLOCKS; blocks >= TM_AHEAD_LEAST; blocks /= 2)
        if (tm_budget_draw(&run->budget, (size_t)blocks * ROOM_BYTES))
            return blocks;
    return 0;
}

struct tm_ahead *tm_ahead_start(struct tm_run *run, tm_ahead_fill *fill, void *of)
{
    struct tm_ahead *a;
    unsigned blocks;

    if (tm_failed(run) || tm_cores(run) < 2)
        return NULL;
    blocks = draw_blocks(run);
    if (!blocks)
        return NULL;
    a = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*a), &run->error);
    if (!a) {
        tm_budget_put_back(&run->budget, (size_t)blocks * ROOM_BYTES);
        return NULL;
    }
    *a = (struct tm_ahead){ .run = run, .fill = fill, .of = of, .blocks = blocks };
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->may_fill, NULL);
    (void)pthread_cond_init(&a->may_read, NULL);
    a->bytes = tm_take(&run->budget, TM_ACCOUNT_INPUT, bytes_of_all(a), &run->error);
    if (a->bytes && start_thread(&a->thread, fill_blocks, a))
        return a;
    release(a);
    return NULL;
}

/* Wait for a block beside those that are lent.
 * out:    its number; the bytes in it, 0: nothing follows */
static size_t await_block(struct tm_ahead *a, unsigned *number)
{
    size_t have;

    (void)pthread_mutex_lock(&a->lock);
    while (a->count == a->lent && !a->has_ended) {
        a->waits_to_read = true;
        (void)pthread_cond_wait(&a->may_read, &a->lock);
    }
    *number = (a->first + a->lent) % a->blocks;
    have = a->count > a->lent ? a->block[*number].have : 0;
    (void)pthread_mutex_unlock(&a->lock);
    return have;
}

/* The first block is the thread's again. */
static void drop_first(struct tm_ahead *a, uint64_t *read)
{
    (void)pthread_mutex_lock(&a->lock);
    *read = a->block[a->first].read;
    a->first = (a->first + 1) % a->blocks;
    a->count--;
    unlock_and_wake(a, &a->waits_to_fill, &a->may_fill, a->count <= a->blocks / 2);
}

size_t tm_ahead_read(struct tm_ahead *ahead, void *to, size_t bytes, uint64_t *read)
{
    struct tm_ahead *const a = ahead;
    unsigned number;
    size_t left;

    assert(!a->lent);
    *read = 0;
    left = await_block(a, &number);
    if (!left)
        return 0;
    left -= a->used;
    if (bytes > left)
        bytes = left;
    memcpy(to, bytes_of(a, number) + a->used, bytes);
    a->used += bytes;
    if (bytes < left)
        return bytes;
    a->used = 0;
    drop_first(a, read);
    return bytes;
}

size_t tm_ahead_lend(struct tm_ahead *ahead, uint8_t **at)
{
    struct tm_ahead *const a = ahead;
    unsigned number;
    size_t have;

    assert(a->lent < 2);
    have = a->used ? 0 : await_block(a, &number);
    if (!have)
        return 0;
    a->lent++;
    *at = bytes_of(a, number);
    return have;
}

void tm_ahead_return(struct tm_ahead *ahead, uint64_t *read)
{
    struct tm_ahead *const a = ahead;

    *read = 0;
    if (!a->lent)
        return;
    a->lent--;
    drop_first(a, read);
}

void tm_ahead_end(struct tm_ahead *ahead)
{
    struct tm_ahead *const a = ahead;

    if (!a)
        return;
    (void)pthread_mutex_lock(&a->lock);
    a->is_ending = true;
    unlock_and_wake(a, &a->waits_to_fill, &a->may_fill, true);
    (void)pthread_join(a->thread, NULL);
    release(a);
}

/* --- one piece of work at a time --- */

struct tm_worker_thread {
    struct tm_run *run; /* of the main thread */
    tm_thread_work *work;
    void *of;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool has_work, is_ending;
};

static void *do_work(void *of)
{
    struct tm_worker_thread *const t = of;

    (void)pthread_mutex_lock(&t->lock);
    while (t->has_work || !t->is_ending) {
        if (!t->has_work) {
            (void)pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&t->lock);
        t->work(t->of);
        (void)pthread_mutex_lock(&t->lock);
        t->has_work = false;
        (void)pthread_cond_broadcast(&t->changed);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void release_worker(struct tm_worker_thread *t)
{
    (void)pthread_cond_destroy(&t->changed);
    (void)pthread_mutex_destroy(&t->lock);
    tm_give(&t->run->budget, TM_ACCOUNT_INPUT, t, sizeof(*t));
}

struct tm_worker_thread *tm_worker_thread_start(struct tm_run *run, tm_thread_work *work, void *of)
{
    struct tm_worker_thread *t;

    if (tm_failed(run) || tm_cores(run) < 2)
        return NULL;
    t = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*t), &run->error);
    if (!t)
        return NULL;
    *t = (struct tm_worker_thread){ .run = run, .work = work, .of = of };
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->changed, NULL);
    if (start_thread(&t->thread, do_work, t))
        return t;
    release_worker(t);
    return NULL;
}

void tm_worker_thread_go(struct tm_worker_thread *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->has_work = true;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}

void tm_worker_thread_wait(struct tm_worker_thread *t)
{
    (void)pthread_mutex_lock(&t->lock);
    while (t->has_work)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}

void tm_worker_thread_end(struct tm_worker_thread *t)
{
    if (!t)
        return;
    (void)pthread_mutex_lock(&t->lock);
    t->is_ending = true;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
    (void)pthread_join(t->thread, NULL);
    release_worker(t);
}
