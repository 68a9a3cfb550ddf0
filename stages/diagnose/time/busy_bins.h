/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BUSY_BINS_H
#define TM_BUSY_BINS_H

#include <stdint.h>

enum { TM_BUSY_BINS_MOST = 240 };

/* How busy a device is over its recorded time, cut at the multiples of a round width: 1, 2 or 5 times a power of ten.
 * The first bin begins at begin_ps, the last one ends at end_ps, so both may be shorter than the others.
 * source: docs/metrics.md, "Device time", utilization over time */
struct tm_busy_bins {
    int64_t begin_ps, end_ps, bin_ps;
    uint32_t count;
    int64_t busy_ps[TM_BUSY_BINS_MOST];
    uint32_t last;                      /* the bin that something was added to last */
    int64_t last_begin_ps, last_end_ps; /* both 0 = none */
};

/* Empty bins, of the smallest round width of which there are not too many.
 * in:     begin_ps, end_ps  nothing between them: no bins */
void tm_busy_bins_init(struct tm_busy_bins *bins, int64_t begin_ps, int64_t end_ps);

/* Share [begin, end) out over the bins that it touches; what lies outside of them is left out.  With sign -1 it is
 * taken out again. */
void tm_busy_bins_add(struct tm_busy_bins *bins, int64_t begin_ps, int64_t end_ps, int sign);

/* Merge them until there are at most so many: into the next round widths.  in: most  at least 1; 3 can be reached */
void tm_busy_bins_merge(struct tm_busy_bins *bins, uint32_t most);

#endif
