/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LIMITS_H
#define TM_LIMITS_H

#include "pipeline/run.h"

/* Limits on what a file may claim to hold or a folder may have below it: far more than real ones have, so that a small
 * file cannot take a disk or a night.  Whoever knows better raises all of them: --raise-limits TIMES. */

/* in:     usual  where nothing is raised */
uint64_t tm_raised_limit(const struct tm_run *run, uint64_t usual);

/* Hint behind a limit that was reached.  in: instead  what else can be done, as a clause: "give parts of it" */
void tm_limit_hint(struct tm_run *run, const char *instead);

#endif
