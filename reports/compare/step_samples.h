/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STEP_SAMPLES_H
#define TM_STEP_SAMPLES_H

#include "pipeline/doc/doc.h"
#include "reports/compare/room.h"
#include "reports/statistics/tests.h"

/* The steps of a run as tests need them: one value for each step number, in the order of time.  The hosts of a
 * program run a step together, so that a step is not one sample for each of them: of several values of one number the
 * mean counts. */

/* out: sample  of steps.samples_ps
 * errors: TM_ERR_LIMIT when memory ends */
tm_status tm_step_samples(struct tm_compare_blocks *room, const struct tm_value *summary,
                          struct tm_sample *sample) TM_MUST_USE;
/* As many as there can be. */
size_t tm_step_samples_most(const struct tm_value *summary);
/* Those of them in which nothing is compiled, to find out how much a step resembles the one before. */
tm_status tm_quiet_samples(struct tm_compare_blocks *room, const struct tm_value *summary,
                           struct tm_sample *sample) TM_MUST_USE;
/* Of the listed steps that are analyzed, a member of each: "compute_ps". */
tm_status tm_listed_samples(struct tm_compare_blocks *room, const struct tm_value *summary, const char *path,
                            struct tm_sample *sample) TM_MUST_USE;

/* Are the steps of both measured in the same way, as far as it is known?  Else no test can compare them. */
bool tm_are_steps_alike(const struct tm_value *a, const struct tm_value *b);
#define TM_STEPS_NOT_ALIKE                                                                                             \
    "the steps are measured in two ways: as the time from one to the next, and as the host's spans"

/* The number of analyzed steps; 1 of a run without steps. */
double tm_analyzed_steps(const struct tm_value *summary);

/* Steps in which a program is compiled: events that are recorded one by one, and no matter of chance. */
struct tm_compiling_steps {
    double steps, compiling;
    double mean_ps;   /* of all steps; NaN = there are none */
    double excess_ps; /* by how much the compiling ones raise it: less the mean of the others; 0 where all compile */
};
/* Do they come in another share of the steps, and do they change the mean by so much of the base's? */
#define TM_COMPILING_LEAST_PCT 1.0
bool tm_have_compiling_changed(const struct tm_compiling_steps *base, const struct tm_compiling_steps *other,
                               double least_pct);
tm_status tm_count_compiling_steps(struct tm_compare_blocks *room, const struct tm_value *summary,
                                   struct tm_compiling_steps *of) TM_MUST_USE;

#endif
