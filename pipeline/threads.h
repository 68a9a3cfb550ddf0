/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_THREADS_H
#define TM_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"

/* Work beside the main thread, where --jobs and the machine have a core for it.  No other module starts a thread.  The
 * data of a thread is its own until it passes it on under a lock; it never touches the run: not the ledger, not the
 * error, not the tallies.  Signals go to the main thread. */

/* How many threads may work at once, the main thread included: --jobs, or the cores of the machine.  1 where the run is
 * that of a worker process. */
unsigned tm_cores(struct tm_run *run);

/* A producer that fills blocks ahead of their reader:
 *
 *     thread:  fill ──► [block][block][block][block] ──► tm_ahead_read
 *
 * Inflating takes a quarter of the time of a report from JSON, and continues while the main thread decodes.  Who has to
 * wait is woken only when half of the blocks are filled, or free: waking a thread takes as long as inflating some
 * kilobytes, and much longer on an idle core of a virtual machine.  Memory: TM_AHEAD_BLOCKS blocks of
 * TM_ACCOUNT_INPUT, drawn from the pool, or TM_AHEAD_LEAST of them. */
struct tm_ahead;

enum {
    TM_AHEAD_BLOCKS = 8,
    TM_AHEAD_LEAST = 4,
    TM_AHEAD_HEAD_BYTES = 16 << 10, /* of memory before the bytes of a block, and behind them: the reader's */
    TM_AHEAD_TAIL_BYTES = 256,
    TM_AHEAD_BLOCK_BYTES = 240 << 10
};

/* On the thread: the next bytes of what is read.
 * out:    got   bytes that were filled in
 *         read  bytes of the input that this took, for progress
 * returned: false  nothing follows, or it failed: the reader continues without the thread */
typedef bool tm_ahead_fill(void *of, uint8_t *to, size_t bytes, size_t *got, uint64_t *read);

/* out:    NULL if no core is free, the memory does not allow it, or the system makes no thread: not an error
 * owns:   the caller; tm_ahead_end */
struct tm_ahead *tm_ahead_start(struct tm_run *run, tm_ahead_fill *fill, void *of);

/* The next bytes, at least one.  out: read  as `fill` counted; 0 bytes: it has ended */
size_t tm_ahead_read(struct tm_ahead *ahead, void *to, size_t bytes, uint64_t *read);

/* Lend the reader a block instead of copying it, which takes a seventh of its time: the bytes come from the cache of
 * another core, and who reads them where they are does not wait for each.  It may write to the memory around them.
 * in:     a lent block is returned before tm_ahead_read, and after the next one is lent: two at most
 * out:    at   its bytes
 * returned: how many; 0: nothing follows, or part of the block has been read with tm_ahead_read */
size_t tm_ahead_lend(struct tm_ahead *ahead, uint8_t **at);
/* The older lent block, if any, is the thread's again.  out: read  as `fill` counted */
void tm_ahead_return(struct tm_ahead *ahead, uint64_t *read);

/* Wait until the thread has ended.  Tolerates NULL */
void tm_ahead_end(struct tm_ahead *ahead);

/* A thread that does one piece of work at a time while the main thread prepares the next one, such as deflating a block
 * of a trace.  Memory: a small struct. */
struct tm_worker_thread;

typedef void tm_thread_work(void *of);

/* out:    NULL if no core is free, or the system makes no thread: not an error
 * owns:   the caller; tm_worker_thread_end */
struct tm_worker_thread *tm_worker_thread_start(struct tm_run *run, tm_thread_work *work, void *of);
/* Let the thread do the work once.  What it reads and writes is the thread's until tm_worker_thread_wait. */
void tm_worker_thread_go(struct tm_worker_thread *thread);
/* Wait until its current work, if any, is done. */
void tm_worker_thread_wait(struct tm_worker_thread *thread);
void tm_worker_thread_end(struct tm_worker_thread *thread); /* tolerates NULL */

#endif
