/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INSPECT_H
#define TM_INSPECT_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* What `inspect` has found, as a tree of values: schema "tracemill.inspect", run, files, environment, coverage, unused,
 * contents (stages/figures/contents.h), checks, advice. */

/* Say what to change in the way of profiling: adds an array `advice` of {"id", "what", "fix"}, in the order of
 * their weight; empty where the trace has everything that the figures need. */
void tm_inspect_advise(struct tm_value *found);

/* Print it for people. */
void tm_inspect_print(const struct tm_value *found, FILE *to);

#endif
