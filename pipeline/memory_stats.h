/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMORY_STATS_H
#define TM_MEMORY_STATS_H

#include <stdio.h>

#include "pipeline/run.h"

/* What the process holds, in bytes; 0 = not known. */
struct tm_memory_stats {
    uint64_t peak_resident_bytes; /* of the whole process so far */
    uint64_t allocated_bytes;     /* jemalloc: asked for by the program, now */
    uint64_t active_bytes;        /* jemalloc: in pages that are in use */
    uint64_t resident_bytes;      /* jemalloc: mapped and not given back, its own tables included */
};

void tm_memory_stats(struct tm_memory_stats *out);

/* What --stats shows: events, speed, bytes, memory by account.
 * in:     cpu_seconds  user and system time of the job */
void tm_stats_print(const struct tm_run *run, double cpu_seconds, FILE *to);

#endif
