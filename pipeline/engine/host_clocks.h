/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_CLOCKS_H
#define TM_HOST_CLOCKS_H

#include "pipeline/trace.h"

/* The clocks of the hosts of a run, put on one.  docs/convert.md, "Files" */
struct tm_host_clock {
    int64_t base_ns;   /* what its clock read at its time 0; 0 = not told */
    int64_t first_ps;  /* its first event, after that */
    int64_t offset_ps; /* where its time 0 lies on the clock of the output */
    bool is_noted, is_written;
};

/* What the clock of a host read at its time 0; 0 = not told. */
int64_t tm_host_clock_base(const struct tm_trace *trace);
/* What a host tells of its clock.  in: trace  surveyed */
void tm_host_clock_note(struct tm_host_clock *clock, const struct tm_trace *trace);
/* One clock for all of them: fill offset_ps.
 * in:     clocks  noted
 * out:    what that clock reads at time 0 */
int64_t tm_host_clocks_place(struct tm_host_clock *clocks, uint32_t count);

#endif
