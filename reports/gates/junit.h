/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JUNIT_H
#define TM_JUNIT_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* JUnit XML of a night: a suite for each run, named by its job (a second one of the night is "JOB #2"), whose cases are
 * its report and its gates.  A run without a report is an error.
 * in:     gates  as tm_nightly_gates fills it
 * errors: TM_ERR_OUTPUT */
tm_status tm_nightly_junit_write(struct tm_run *run, const struct tm_value *gates, FILE *to) TM_MUST_USE;

#endif
