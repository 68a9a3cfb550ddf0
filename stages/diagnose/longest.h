/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LONGEST_H
#define TM_LONGEST_H

#include "pipeline/partial.h"

/* The longest of some events; of equal ones that of the first host, the earliest one. */
struct tm_longest {
    int64_t dur_ps, begin_ps;
    uint32_t host;
};

void tm_longest_merge(struct tm_longest *into, const struct tm_longest *from);
void tm_longest_save(struct tm_partial_writer *w, const struct tm_longest *longest);
void tm_longest_load(struct tm_partial_reader *r, struct tm_longest *longest);

/* A time in which a device did nothing. */
struct tm_stretch {
    int64_t begin_ps, dur_ps;
    uint64_t bytes; /* that were copied right before and after it; 0 = not asked for, or not recorded */
    uint32_t host;
    char device[192]; /* id */
};

/* Put a stretch in its place in a list of at most so many, the longest ones first. */
void tm_stretches_add(struct tm_stretch *list, uint32_t *count, uint32_t most, const struct tm_stretch *stretch);
/* All but its bytes. */
void tm_stretch_save(struct tm_partial_writer *w, const struct tm_stretch *stretch);
void tm_stretch_load(struct tm_partial_reader *r, struct tm_stretch *stretch);

#endif
