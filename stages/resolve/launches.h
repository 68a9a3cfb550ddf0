/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LAUNCHES_H
#define TM_LAUNCHES_H

#include "pipeline/index.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"

/* Host calls that may have launched device work, by their key: put in once, then only read.  They are asked for by
 * every activity, in the order of the devices: so they are kept small, and without a table beside them where keys lie
 * near each other. */

/* A host call that may have launched device work, by correlation id or tm_run_key. */
struct tm_launch {
    uint64_t key;
    int64_t start_ps, dur_ps;
    uint32_t track, thread; /* a thread other than TM_NONE is that of one track alone */
    uint8_t is_named;       /* its name says that it launches */
    uint8_t is_uncertain;   /* only a device activity of the same id can tell */
    uint8_t direction;      /* enum tm_direction that its name tells */
};

/* What is kept of one.  `rest`, from the lowest bit on: is_there, is_named, is_uncertain, is_wide, 3 of direction, 1
 * unused, 12 of thread, 44 of dur_ps.  Of a wide one, whose duration or thread does not fit, the duration's bits are the
 * number of a row of tm_launches.wide. */
struct tm_short_launch {
    int64_t start_ps;
    uint64_t rest; /* 0 = there is none */
};

enum {
    TM_LAUNCH_THERE = 1,
    TM_LAUNCH_NAMED = 2,
    TM_LAUNCH_UNCERTAIN = 4,
    TM_LAUNCH_WIDE = 8,
    TM_LAUNCH_DIRECTION_SHIFT = 4,
    TM_LAUNCH_DIRECTION_MASK = 7,
    TM_LAUNCH_THREAD_SHIFT = 8,
    TM_LAUNCH_THREAD_MASK = TM_THREADS_MOST - 1,
    TM_LAUNCH_DUR_SHIFT = 20,
};

/* Dense as long as keys are: the launch of a key lies at key - least_key, modulo 2^64.  Once they are too far apart, or
 * the memory is used up, all of them are in `sparse`. */
struct tm_launches {
    struct tm_run *run;
    size_t memory_bytes;          /* of all of it, beside what the pool gives */
    struct tm_short_launch *rows; /* `capacity` of them; `used` = one more than the last that is there */
    uint64_t least_key;
    size_t capacity, used, count; /* count: of different keys */
    size_t drawn_bytes;
    struct tm_index *sparse;          /* struct tm_sparse_launch; NULL while dense */
    struct tm_rows *wide;             /* struct tm_wide_launch; NULL before the first */
    uint32_t tracks[TM_THREADS_MOST]; /* by thread */
};

/* in:     memory_bytes  what it is sure of, of TM_ACCOUNT_LAUNCHES
 * owns:   tm_launches_free releases it (NULL allowed) */
struct tm_launches *tm_launches_new(struct tm_run *run, size_t memory_bytes) TM_MUST_USE;
void tm_launches_free(struct tm_launches *launches);

/* Of two of one key stays the one that says by its name that it launches, then the earlier one, then the former. */
tm_status tm_launches_put(struct tm_launches *launches, const struct tm_launch *launch) TM_MUST_USE;
/* No more of them.  Then look-ups are allowed. */
tm_status tm_launches_finish(struct tm_launches *launches) TM_MUST_USE;
uint64_t tm_launches_most_number(const struct tm_launches *launches); /* after finish: none has a larger one */

/* Parts of tm_launches_find. */
tm_status tm_launches_find_sparse(struct tm_launches *launches, uint64_t key, struct tm_launch *launch,
                                  uint64_t *number) TM_MUST_USE;
tm_status tm_launches_widen(struct tm_launches *launches, struct tm_launch *launch) TM_MUST_USE;

static inline tm_status tm_launches_unpack(struct tm_launches *launches, uint64_t key, struct tm_short_launch row,
                                           struct tm_launch *launch)
{
    const uint32_t thread = row.rest >> TM_LAUNCH_THREAD_SHIFT & TM_LAUNCH_THREAD_MASK;

    launch->key = key;
    launch->start_ps = row.start_ps;
    launch->dur_ps = (int64_t)(row.rest >> TM_LAUNCH_DUR_SHIFT);
    launch->track = launches->tracks[thread];
    launch->thread = thread;
    launch->is_named = (row.rest & TM_LAUNCH_NAMED) != 0;
    launch->is_uncertain = (row.rest & TM_LAUNCH_UNCERTAIN) != 0;
    launch->direction = row.rest >> TM_LAUNCH_DIRECTION_SHIFT & TM_LAUNCH_DIRECTION_MASK;
    return row.rest & TM_LAUNCH_WIDE ? tm_launches_widen(launches, launch) : TM_OK;
}

/* out:    *launch  only where there is one
 *         *number  of the launch, from 1 on: the same whenever the same one is found; 0 if there is none */
static inline tm_status tm_launches_find(struct tm_launches *launches, uint64_t key, struct tm_launch *launch,
                                         uint64_t *number)
{
    const uint64_t at = key - launches->least_key;

    if (launches->sparse)
        return tm_launches_find_sparse(launches, key, launch, number);
    *number = 0;
    if (at >= launches->used || !launches->rows[at].rest)
        return TM_OK;
    *number = at + 1;
    return tm_launches_unpack(launches, key, launches->rows[at], launch);
}

/* The key will be looked up soon: fetch what is known of it into the cache where that is cheap. */
static inline void tm_launches_expect(const struct tm_launches *launches, uint64_t key)
{
    if (launches->sparse)
        tm_index_expect(launches->sparse, key);
    else if (key - launches->least_key < launches->used)
        __builtin_prefetch(&launches->rows[key - launches->least_key]);
}

#endif
