/* SPDX-License-Identifier: Apache-2.0 */
/* Can these runs be a scaling study?  Asked before anything is worked out. */
#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/scaling/scaling.h"

#define MARKS "jax.profiler.StepTraceAnnotation, or step() of torch.profiler.profile"

uint32_t tm_scaling_devices(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    uint32_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += tm_int(tm_get(tm_at(devices, i), "compute_ps")) > 0;
    return count;
}

static tm_status check_run(struct tm_run *run, const struct tm_compared_run *one)
{
    if (tm_scaling_devices(one->summary) == 0) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': no device computes in it",
                      one->path);
        tm_hint(&run->error, "give profiles with the activity of devices");
        return TM_ERR_INPUT;
    }
    if (!tm_has(tm_path(one->summary, "steps.median_ps"))) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': no step of it has a length",
                      one->path);
        tm_hint(
            &run->error,
            "mark the steps (" MARKS "), or choose others with --steps");
        return TM_ERR_INPUT;
    }
    return TM_OK;
}

/* The run of that number, point after point. */
static const struct tm_compared_run *run_at(const struct tm_scaling_point *point, size_t number)
{
    for (; number >= point->side.runs; point++)
        number -= point->side.runs;
    return &point->side.run[number];
}

/* Without marked steps the session stands for one, as in comparisons; but a session is no match for a step. */
static tm_status check_steps(struct tm_run *run, const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    if (tm_has_steps(a->summary) == tm_has_steps(b->summary))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot scale '%s' with '%s': only one of them has steps", a->path,
                  b->path);
    tm_hint(&run->error, "mark the steps in all runs (" MARKS "), or in none");
    return TM_ERR_USAGE;
}

static tm_status check_pair(struct tm_run *run, const struct tm_compared_run *a,
                            const struct tm_compared_run *b)
{
    char x[TM_RUN_FINGERPRINT_BYTES], y[TM_RUN_FINGERPRINT_BYTES];

    if (!tm_fingerprint(a->summary, x) || !tm_fingerprint(b->summary, y) || strcmp(x, y) != 0)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' and '%s': they are the same run",
                  a->path, b->path);
    tm_hint(&run->error, "give each run once");
    return TM_ERR_USAGE;
}

tm_status tm_scaling_check(struct tm_run *run, const struct tm_scaling_point *point, size_t points)
{
    size_t runs = 0;

    for (size_t i = 0; i < points; i++)
        runs += point[i].side.runs;
    for (size_t i = 0; i < runs; i++) {
        tm_status st = check_run(run, run_at(point, i));

        if (st == TM_OK && i > 0)
            st = check_steps(run, run_at(point, 0), run_at(point, i));
        for (size_t k = 0; k < i && st == TM_OK; k++)
            st = check_pair(run, run_at(point, k), run_at(point, i));
        if (st != TM_OK)
            return st;
    }
    if (points >= 2)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot tell how it scales: all runs have %u device%s",
                  points ? point->devices : 0, points && point->devices == 1 ? "" : "s");
    tm_hint(&run->error, "give runs on different numbers of devices; N=PATH tells the number where "
                         "a profile has not "
                         "all of them");
    return TM_ERR_USAGE;
}
