/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes work at once. */
#include "pipeline/batch/machine.h"
#include "pipeline/batch/workers.h"

tm_status tm_jobs_choose(struct tm_run *run, uint64_t wanted, size_t memory_bytes, bool is_forced, unsigned *jobs)
{
    const struct tm_machine machine = tm_machine_look("");
    const uint64_t each = (uint64_t)memory_bytes + (uint64_t)TM_PROCESS_MIB * TM_MIB;
    const uint64_t fit = machine.memory_bytes / each ? machine.memory_bytes / each : 1;

    *jobs = (unsigned)(wanted ? wanted : machine.cores < fit ? machine.cores : fit);
    if (!wanted || wanted <= fit || is_forced)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot work %u traces at once: each takes up to %llu MiB, and %llu MiB are there, for %llu", *jobs,
                  (unsigned long long)(each / TM_MIB), (unsigned long long)(machine.memory_bytes / TM_MIB),
                  (unsigned long long)fit);
    tm_hint(&run->error, "'--jobs %llu' fits, or a smaller --memory; --force goes on all the same",
            (unsigned long long)fit);
    return TM_ERR_USAGE;
}
