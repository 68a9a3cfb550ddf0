/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FEED_H
#define TM_FEED_H

#include "pipeline/front.h"
#include "pipeline/ring.h"
#include "pipeline/stage.h"
#include "stages/figures/nesting.h"

/* Stages that another process runs, which has all that this one had before the first event of the host.
 *
 *     this process:  event ──► batch, a block of the ring ──► take of its own stages ──► ring ──► the other one:
 *                                                                                      take, take_site, take_self
 * Both have all stages, which have started the host; each takes events with its own.  Batches are made in the ring, so they
 * are not copied; totals of sites follow in blocks of their own.  Stages with lengths stay here. */
struct tm_feed_beside {
    uint32_t stages;      /* their bits; 0 = none */
    struct tm_ring *ring; /* of blocks of tm_feed_block_bytes(); NULL = none, or the process has ended too soon */
    tm_ring_is_over *is_over;
    void *of; /* of is_over */
};

size_t tm_feed_block_bytes(void);

/* From the stream of a host's events to the stages.  An event is added to the one accumulator of its call site, and
 * waits in a batch:
 *
 *     event ─┬─► row of its site: count, sum, squares, least, most, lengths ──► take_site of kernels, occupancy ...
 *            │        └─ if it may be in others (TPU, CPU): open until it ends ──► take_self of ops, scopes
 *            │
 *            └─► batch: up to 128 events of one device, or of threads ──► take of device time, host, fusion ...
 *
 * The accumulator: stages that only add up receive the sums of a site when another one needs its row or the host ends,
 * and groups them as it needs.  An event of a kernel touches one cache line of it, where nine stages had a row of 64 to
 * 256 bytes each.  The batch: what depends on time order handles some hundred events with its state in cache, and
 * no stage sees a site that it does not use.  Stages take 1,000 instructions per event instead of 1,700.
 *
 * Memory: rows of 192 bytes, as many as their share of TM_ACCOUNT_TABLES and the pool give, and the batch; the result
 * does not depend on their number. */
struct tm_feed {
    struct tm_run *run;
    struct tm_stage *stages; /* that are fed */
    size_t stage_count;
    const struct tm_trace *trace;  /* of the current host */
    struct tm_rows *configs;       /* its struct tm_config */
    struct tm_site_rows rows;      /* struct site_row, by call site, chosen or not */
    struct tm_site_rows ended;     /* the same for nested events */
    struct tm_nesting *nesting;    /* NULL = the host has no device on which they do */
    struct tm_lengths *lengths;    /* of the stage that keeps them; NULL = none does */
    uint64_t order;                /* events of the host so far */
    struct feed_batch *batch;      /* that is filled: `own`, or a block of the ring */
    struct feed_batch *own, *sums; /* sums: a block of the ring with totals; NULL = none is open */
    struct tm_feed_beside beside;
};

/* in:     stages  `count` of them, which are opened and stay until the release.  Sets their bits
 * owns:   tm_feed_release (a zeroed one is tolerated)
 * errors: of the ledger */
tm_status tm_feed_init(struct tm_feed *feed, struct tm_run *run, struct tm_stage *stages, size_t count);
void tm_feed_release(struct tm_feed *feed);

/* Failures are remembered in run->error, and what follows one does nothing. */
void tm_feed_begin_host(struct tm_feed *feed, const struct tm_trace *trace);
void tm_feed_take(struct tm_feed *feed, const struct tm_event *event);
/* The same for events without arguments, which are made where they wait.
 * out: count  of the events that there is room for, at least one
 * in:  count  of those that were made */
struct tm_event *tm_feed_room(struct tm_feed *feed, uint32_t *count);
void tm_feed_take_room(struct tm_feed *feed, uint32_t count);
/* The stages receive the pending events of the batch, before the data that these point to is freed. */
void tm_feed_flush(struct tm_feed *feed);
void tm_feed_end_host(struct tm_feed *feed);

/* After tm_feed_begin_host, in the process that receives the events: until the end of the host, some stages get theirs in
 * the other one, which the caller has started and waits for. */
void tm_feed_begin_beside(struct tm_feed *feed, const struct tm_feed_beside *beside);
/* In the other one, whose feed->beside.stages are its own: a block of the ring, and the end of all. */
void tm_feed_take_block(struct tm_feed *feed, void *block);
void tm_feed_end_blocks(struct tm_feed *feed);

/* For a stage while it takes events: one of them continues the execution of the previous one (sums.continued). */
void tm_feed_continue(struct tm_feed *feed, const struct tm_event *event);

#endif
