/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/limits.h"

#include <inttypes.h>

static uint64_t times(const struct tm_run *run)
{
    return run->limit_times ? run->limit_times : 1;
}

uint64_t tm_raised_limit(const struct tm_run *run, uint64_t usual)
{
    uint64_t raised;

    return __builtin_mul_overflow(usual, times(run), &raised) ? UINT64_MAX : raised;
}

void tm_limit_hint(struct tm_run *run, const char *instead)
{
    tm_hint(&run->error, "%s; or, where you trust it, raise the limits: --raise-limits %" PRIu64, instead,
            4 * times(run));
}
