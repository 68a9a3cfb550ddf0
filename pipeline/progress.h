/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROGRESS_H
#define TM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A line on the terminal while a long job runs: the phase, its share done, bytes, events, rate, time left.  Silent
 * unless stderr is a terminal and --quiet is off; then at most ten times a second. */
struct tm_progress {
    bool shown;
    const char *phase;
    uint64_t total_bytes, done_bytes;   /* of the phase; total: 0 = not known */
    uint64_t total_events, done_events; /* likewise: where the total is known, the phase is measured in events */
    const uint64_t *events_read;        /* counter of the run; NULL = none */
    uint64_t events_before;             /* what it read when the phase began */
    uint64_t begin_ns, last_print_ns;
};

void tm_progress_init(struct tm_progress *p, bool quiet);
/* A new phase begins ("reading", "analyzing", ...), measured in bytes; total_bytes 0 = not known. */
void tm_progress_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes);
/* The same, measured in events.  in: bytes  of the input that they come from, for the line; 0 = not known */
void tm_progress_phase_of_events(struct tm_progress *p, const char *phase, uint64_t total_events, uint64_t bytes);
/* Cheap enough for every buffer: looks at the clock only each few hundred kilobytes. */
void tm_progress_add(struct tm_progress *p, uint64_t bytes);
void tm_progress_look(struct tm_progress *p);
/* Clear the line. */
void tm_progress_end(struct tm_progress *p);

/* One more event of the phase: looks at the clock once in 16,384. */
static inline void tm_progress_event(struct tm_progress *p)
{
    if ((++p->done_events & 0x3fff) == 0 && p->shown)
        tm_progress_look(p);
}

#endif
