/* SPDX-License-Identifier: Apache-2.0 */
/* Tells runs apart by what their files hold, not by where they lie. */
#include "reports/gates/same_run.h"

#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/gates/gates.h"

bool tm_are_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    char of_a[TM_RUN_FINGERPRINT_BYTES], of_b[TM_RUN_FINGERPRINT_BYTES];

    return tm_fingerprint(a->summary, of_a) && tm_fingerprint(b->summary, of_b) && strcmp(of_a, of_b) == 0;
}

tm_status tm_refuse_same_run(struct tm_run *run, const struct tm_compared_run *input,
                             const struct tm_comparison_side *baseline)
{
    for (size_t i = 0; baseline && i < baseline->runs; i++) {
        const struct tm_compared_run *const base = &baseline->run[i];

        if (tm_are_same_run(input, base)) {
            (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                          "cannot compare '%s' with itself: the baseline '%s' is the same run",
                          input->path, base->path);
            tm_hint(&run->error, "give the summary.json of an earlier run as the baseline");
            return TM_ERR_USAGE;
        }
        for (size_t k = 0; k < i; k++) {
            if (tm_are_same_run(&baseline->run[k], base))
                return tm_fail(&run->error, TM_ERR_USAGE, -1,
                               "the baselines '%s' and '%s' are the same run",
                               baseline->run[k].path, base->path);
        }
    }
    return TM_OK;
}
