/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHOWN_NAMES_H
#define TM_SHOWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/doc.h"

/* Names of hosts and devices as people read them.  The summary has them in full, "vm/gpu:0"; where
 * the run has one host its name tells nothing, and where it has several with a long beginning in
 * common that says as little: of "train-2026-job-0" and "train-2026-job-1" are left "job-0" and
 * "job-1".  What was distinct stays distinct. out:    a part of the name that was given; a name
 * that is of no host of the run as it is */
const char *tm_shown_device(const struct tm_value *summary, const char *id);
const char *tm_shown_host(const struct tm_value *summary, const char *host);

/* The name of the run.  Several files that were given one by one are named as the first of them: then it is what the
 * names of all hosts begin with.
 * out:    returned: out, any bytes, cut where the room ends; "" without a name */
const char *tm_shown_run(const struct tm_value *summary, char *out, size_t out_bytes);

/* The run has one host, and no other name than it. */
bool tm_is_named_as_run(const struct tm_value *summary);

#endif
