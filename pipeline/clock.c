/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of hosts in a summary.  Allocates no memory. */
#include "pipeline/clock.h"

#include <math.h>
#include <string.h>

static const double drift_unit = 1099511627776.0; /* 2^40 */
static const double drift_most_ppm = 1e3;

double tm_clock_ppm(const struct tm_clock *clock)
{
    return (double)clock->drift_q40 * 1e6 / drift_unit;
}

static bool read_clock(const struct tm_value *row, struct tm_clock *clock)
{
    const double ppm = tm_double(tm_get(row, "drift_ppm"));

    *clock = (struct tm_clock){ .offset_ps = tm_int(tm_get(row, "offset_ps")) };
    if (fabs(ppm) <= drift_most_ppm) /* a summary may come from anywhere */
        clock->drift_q40 = (int64_t)llround(ppm / 1e6 * drift_unit);
    return tm_has(row);
}

bool tm_clock_of_host(const struct tm_value *summary, uint32_t host, struct tm_clock *clock)
{
    return read_clock(tm_at(tm_path(summary, "collectives.skew.clock.list"), host), clock);
}

bool tm_clock_of_name(const struct tm_value *summary, const char *host, struct tm_clock *clock)
{
    const struct tm_value *list = tm_path(summary, "collectives.skew.clock.list"), *found = NULL;

    for (size_t i = 0; i < tm_length(list) && !found; i++)
        if (strcmp(tm_text(tm_get(tm_at(list, i), "host")), host) == 0)
            found = tm_at(list, i);
    return read_clock(found, clock);
}
