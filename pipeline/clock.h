/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"

/* The clock of a host on the clock of all hosts: at its time t, that one reads t + offset + t * drift / 2^40. */
struct tm_clock {
    int64_t offset_ps, drift_q40; /* drift: below 2^31 either way, so times keep their order */
};

/* out: false where the result does not fit */
static inline bool tm_clock_at(const struct tm_clock *clock, int64_t ps, int64_t *at_ps)
{
    int64_t time_ps = ps;

    if (clock->drift_q40 && __builtin_add_overflow(ps, (int64_t)(((__int128)ps * clock->drift_q40) >> 40), &time_ps))
        return false;
    return !__builtin_add_overflow(time_ps, clock->offset_ps, at_ps);
}

double tm_clock_ppm(const struct tm_clock *clock);

/* The clocks of the hosts as a summary has them: collectives.skew.clock.
 * in:     host  its number, or its name
 * out:    false: they are not aligned, *clock is 0 */
bool tm_clock_of_host(const struct tm_value *summary, uint32_t host, struct tm_clock *clock);
bool tm_clock_of_name(const struct tm_value *summary, const char *host, struct tm_clock *clock);

#endif
