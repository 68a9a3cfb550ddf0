/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of hosts: what each tells, and where it stands.  Holds no memory. */
#include "pipeline/engine/host_clocks.h"

/* Hosts of one run begin within this time; clocks that are further apart do not agree. */
static const int64_t clocks_apart_ns = INT64_C(2) * 86400 * 1000000000;

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

int64_t tm_host_clock_base(const struct tm_trace *trace)
{
    int64_t base_ns;

    if (trace->origin == TM_ORIGIN_XSPACE)
        return trace->clock_ns <= INT64_MAX / 2 ? trace->clock_ns : 0;
    if (__builtin_mul_overflow(trace->origin_us, 1000, &base_ns) || base_ns > INT64_MAX / 2 || base_ns < 0)
        return 0;
    return base_ns;
}

void tm_host_clock_note(struct tm_host_clock *clock, const struct tm_trace *trace)
{
    *clock =
        (struct tm_host_clock){ .base_ns = tm_host_clock_base(trace), .first_ps = trace->first_ps, .is_noted = true };
}

int64_t tm_host_clocks_place(struct tm_host_clock *clocks, uint32_t count)
{
    int64_t base_ns = INT64_MAX, origin_ns = INT64_MAX;

    for (uint32_t i = 0; i < count; i++)
        if (clocks[i].base_ns && clocks[i].base_ns < base_ns)
            base_ns = clocks[i].base_ns;
    base_ns = base_ns == INT64_MAX ? 0 : base_ns;
    for (uint32_t i = 0; i < count; i++) {
        struct tm_host_clock *clock = &clocks[i];
        int64_t first_ns;

        if (!clock->base_ns || clock->base_ns - base_ns > clocks_apart_ns)
            clock->base_ns = base_ns;
        first_ns = clock->base_ns + (clock->first_ps < 0 ? floor_ns(clock->first_ps) : 0);
        origin_ns = first_ns < origin_ns ? first_ns : origin_ns;
    }
    for (uint32_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(clocks[i].base_ns - origin_ns, 1000, &clocks[i].offset_ps))
            clocks[i].offset_ps = INT64_MAX; /* its events will not fit */
    return origin_ns < 0 ? 0 : origin_ns;    /* no clock of a trace reads less than 0 */
}
