/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RING_H
#define TM_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/run.h"

/* Blocks that one process fills and another one reads, in memory that both share at the same address.  Made before the
 * fork; then one process only writes, and the other one only reads:
 *
 *     writer:  tm_ring_room ──► fill ──► tm_ring_send          reader:  tm_ring_next ──► read ──► tm_ring_free_block
 *
 * Blocks arrive in the order in which they were sent, not in the order in which the writer took them: it may fill two at a
 * time.  Neither side calls the kernel while the other one keeps up; a side that sleeps is woken when half of the blocks
 * are ready for it.  Contents are passed on as they are: a pointer in them has to be valid in both processes. */
struct tm_ring;

enum { TM_RING_BLOCKS = 16, TM_RING_OPEN_MOST = 2 /* that the writer fills at a time */ };

/* in:     block_bytes  of each, rounded up to cache lines
 * owns:   each process its own mapping; tm_ring_free (NULL allowed)
 * out:    NULL: the system has no memory to share; not an error */
struct tm_ring *tm_ring_new(size_t block_bytes) TM_MUST_USE;
void tm_ring_free(struct tm_ring *ring);
/* Of all blocks and the rest, for the ledger of the caller. */
size_t tm_ring_bytes(size_t block_bytes);

/* Asked from time to time while the writer waits: true if the reader's process has ended, so nothing will be read. */
typedef bool tm_ring_is_over(void *of);

/* A block to fill, with what was in it before.  out: NULL: the reader has ended */
void *tm_ring_room(struct tm_ring *ring, tm_ring_is_over *is_over, void *of);
/* in: block  from tm_ring_room, which the writer no longer changes */
void tm_ring_send(struct tm_ring *ring, const void *block);
/* Nothing more is sent. */
void tm_ring_close(struct tm_ring *ring);

/* The next block that was sent, which the reader may change.  out: NULL: that was the last one */
void *tm_ring_next(struct tm_ring *ring);
void tm_ring_free_block(struct tm_ring *ring, const void *block);

#endif
