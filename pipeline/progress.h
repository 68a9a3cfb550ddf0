/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROGRESS_H
#define TM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A line on the terminal while a long job runs: what, share done, bytes per second, time left.  Silent
 * unless stderr is a terminal and --quiet is off; then at most ten times a second. */
struct tm_progress {
    bool shown;
    const char *phase;
    uint64_t total_bytes, done_bytes;
    uint64_t begin_ns, last_print_ns;
};

void tm_progress_init(struct tm_progress *p, bool quiet);
/* A new phase begins ("reading", "sorting", ...); total_bytes 0 = not known. */
void tm_progress_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes);
/* Cheap enough for every buffer: looks at the clock only each few hundred kilobytes. */
void tm_progress_add(struct tm_progress *p, uint64_t bytes);
/* Clear the line. */
void tm_progress_end(struct tm_progress *p);

#endif
