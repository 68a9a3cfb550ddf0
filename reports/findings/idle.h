/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_IDLE_H
#define TM_IDLE_H

#include "reports/findings/finding.h"

/* What the groups of rules ask each other, so that the same time is told once. */

/* Name the longest gaps of a cause, and where they are. */
void tm_idle_say_gaps(struct tm_findings *all, struct tm_finding *f, const char *cause);

/* Do few launches that took long make up the idle time by launches, so that fewer launches would not help? */
bool tm_idle_is_of_long_launches(const struct tm_findings *all);

int64_t tm_compiles_inside_steps(const struct tm_findings *all); /* 0 where steps are not marked */
bool tm_host_was_not_recorded(const struct tm_findings *all);

/* Evidence of what the host did, in all of the chosen steps: waits, launches, Python functions (without those in which
 * threads wait for each other, waiting_names.h; with_sleep: those that sleep are named). */
void tm_host_say_waits(struct tm_findings *all, struct tm_finding *f);
void tm_host_say_launches(struct tm_findings *all, struct tm_finding *f);
void tm_host_say_functions(struct tm_findings *all, struct tm_finding *f, bool with_sleep);

#endif
