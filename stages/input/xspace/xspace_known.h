/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_KNOWN_H
#define TM_XSPACE_KNOWN_H

#include "stages/input/xspace/xspace_private.h"

/* Events that were met before.  A program runs the same kernels again and again: their events have the same
 * statistics but for a few numbers (a correlation id).  The first event of some metadata tells the *shape*: where those
 * numbers stand.  What was made of an event is remembered under all the other bytes, so of one that is the same but for
 * its numbers only these have to be read.
 * Memory: two tables of fixed size; what falls out of them is read as if it had not been met: nothing else changes. */
struct tm_xknown;

/* Whose events are the same where their statistics are. */
struct tm_xkin {
    uint64_t plane;
    int64_t metadata_id;
    uint8_t line; /* enum tm_line */
};

/* What was made of an event, but for its times and the numbers that vary. */
struct tm_xresult {
    tm_strid name;
    uint32_t traits, config, common;
    uint16_t flags;
    int16_t ordinal; /* TM_STAT_DEVICE_ORDINAL */
    bool is_counter : 1;
    bool has_step_num : 1, has_size : 1, has_ordinal : 1; /* a size that is a text is none */
    bool has_device_times : 1;
};

/* owns:   the caller frees it; x must outlive it
 * errors: NULL, with the error in run->error */
struct tm_xknown *tm_xknown_new(struct tm_xspace *x) TM_MUST_USE;
void tm_xknown_free(struct tm_xknown *known); /* tolerates NULL */

/* Find what was made of an event that was the same but for its numbers.
 * in:     stats  the fields of the event behind its times, with TM_READER_SLACK readable bytes behind them
 * out:    numbers  by enum tm_stat: those that vary
 *         NULL     it is to be read, and then learned; else valid until the next call of either */
const struct tm_xresult *tm_xknown_find(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                                        int64_t numbers[TM_STAT_COUNT]) TM_MUST_USE;

/* An event of these is what will be looked for next: what is known of it may come into the caches meanwhile. */
void tm_xknown_expect(const struct tm_xknown *known, const struct tm_xkin *kin);

/* Remember what was made of an event that tm_xknown_find did not find and that was read without damage.  Not of one
 * whose other numbers matter, too (an allocation). */
tm_status tm_xknown_learn(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                          const struct tm_xresult *result) TM_MUST_USE;

#endif
