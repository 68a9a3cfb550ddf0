/* SPDX-License-Identifier: Apache-2.0 */
/* Two queues of block numbers, one in each direction, of which each side writes one; and a futex for a side that has to
 * wait.  A process that is killed leaves no lock behind, as there is none. */
#include "pipeline/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "pipeline/platform.h"

enum { LINE_BYTES = 64, ATTEMPTS = 256 /* before a side sleeps */, WAIT_MS = 50 };

/* Written by one side.  The count never decreases, except that it starts again at 0 after 2^32. */
struct queue {
    _Alignas(LINE_BYTES) _Atomic uint32_t count;  /* put in so far */
    uint8_t block[TM_RING_BLOCKS];                /* the numbers of the last ones */
    _Alignas(LINE_BYTES) _Atomic uint32_t sleeps; /* the side that takes from it, until it is woken */
};

struct tm_ring {
    struct queue sent, freed;
    _Atomic uint32_t is_closed;
    _Alignas(LINE_BYTES) uint32_t taken_sent;  /* the reader's own: how many it took */
    _Alignas(LINE_BYTES) uint32_t taken_freed; /* the writer's own */
    size_t block_bytes;
    _Alignas(LINE_BYTES) uint8_t blocks[];
};

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

size_t tm_ring_bytes(size_t block_bytes)
{
    return sizeof(struct tm_ring) + TM_RING_BLOCKS * whole_lines(block_bytes);
}

struct tm_ring *tm_ring_new(size_t block_bytes)
{
    struct tm_ring *const ring =
        mmap(NULL, tm_ring_bytes(block_bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (ring == MAP_FAILED)
        return NULL;
    ring->block_bytes = whole_lines(block_bytes);
    for (uint8_t i = 0; i < TM_RING_BLOCKS; i++)
        ring->freed.block[i] = i;
    atomic_init(&ring->freed.count, TM_RING_BLOCKS);
    return ring;
}

void tm_ring_free(struct tm_ring *ring)
{
    if (ring)
        (void)munmap(ring, tm_ring_bytes(ring->block_bytes));
}

/* --- waiting --- */

static void wake(struct queue *queue)
{
    if (atomic_exchange(&queue->sleeps, 0))
        tm_word_wake(&queue->sleeps);
}

static inline void pause_shortly(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Whether there is more than was taken, perhaps after a moment. */
static bool has_more(const struct queue *queue, uint32_t taken)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (atomic_load_explicit(&queue->count, memory_order_acquire) != taken)
            return true;
        pause_shortly();
    }
    return false;
}

/* Sleep, unless there is more or the ring was closed; for a moment, since the other side may be gone. */
static void sleep_for_more(struct queue *queue, uint32_t taken, const _Atomic uint32_t *is_closed)
{
    const struct timespec most = { .tv_nsec = WAIT_MS * 1000000L };

    atomic_store(&queue->sleeps, 1);
    if (atomic_load(&queue->count) == taken && !(is_closed && atomic_load(is_closed)))
        tm_word_wait(&queue->sleeps, 1, &most);
    atomic_store(&queue->sleeps, 0);
}

static uint8_t *block_of(struct tm_ring *ring, uint32_t number)
{
    return ring->blocks + number * ring->block_bytes;
}

static uint8_t *take(struct tm_ring *ring, const struct queue *queue, uint32_t *taken)
{
    return block_of(ring, queue->block[(*taken)++ % TM_RING_BLOCKS]);
}

static void put(struct tm_ring *ring, struct queue *queue, const void *block)
{
    const uint32_t count = atomic_load_explicit(&queue->count, memory_order_relaxed);

    queue->block[count % TM_RING_BLOCKS] =
        (uint8_t)((size_t)((const uint8_t *)block - ring->blocks) / ring->block_bytes);
    atomic_store(&queue->count, count + 1);
}

/* --- the writer --- */

void *tm_ring_room(struct tm_ring *ring, tm_ring_is_over *is_over, void *of)
{
    while (!has_more(&ring->freed, ring->taken_freed)) {
        wake(&ring->sent);
        if (is_over(of))
            return NULL;
        sleep_for_more(&ring->freed, ring->taken_freed, NULL);
    }
    return take(ring, &ring->freed, &ring->taken_freed);
}

/* How many were sent and are not free again. */
static uint32_t in_use(struct tm_ring *ring)
{
    return atomic_load(&ring->sent.count) + TM_RING_BLOCKS - atomic_load(&ring->freed.count);
}

void tm_ring_send(struct tm_ring *ring, const void *block)
{
    put(ring, &ring->sent, block);
    if (atomic_load(&ring->sent.sleeps) && in_use(ring) >= TM_RING_BLOCKS / 2)
        wake(&ring->sent);
}

void tm_ring_close(struct tm_ring *ring)
{
    atomic_store(&ring->is_closed, 1);
    wake(&ring->sent);
}

/* --- the reader --- */

void *tm_ring_next(struct tm_ring *ring)
{
    while (!has_more(&ring->sent, ring->taken_sent)) {
        if (atomic_load(&ring->is_closed) && atomic_load(&ring->sent.count) == ring->taken_sent)
            return NULL;
        wake(&ring->freed);
        sleep_for_more(&ring->sent, ring->taken_sent, &ring->is_closed);
    }
    return take(ring, &ring->sent, &ring->taken_sent);
}

void tm_ring_free_block(struct tm_ring *ring, const void *block)
{
    put(ring, &ring->freed, block);
    if (atomic_load(&ring->freed.sleeps) && in_use(ring) <= TM_RING_BLOCKS / 2)
        wake(&ring->freed);
}
