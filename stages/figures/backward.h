/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BACKWARD_H
#define TM_BACKWARD_H

#include "pipeline/trace.h"

/* Does a program compute gradients?  It decides which advice is fit: nothing about gradients or optimizers is said
 * to who only runs a model forward. */
enum tm_backward {
    TM_BACKWARD_UNKNOWN, /* nothing in the trace could tell it */
    TM_BACKWARD_NO,
    TM_BACKWARD_YES,
    TM_BACKWARD_COUNT
};

/* What the framework paths of a host tell: those of its launch facts and of its programs' HLO.  JAX writes
 * `transpose(jvp(f))` around what belongs to the backward pass.
 * out:    *backward  the larger of what it was and what was found */
tm_status tm_backward_in_paths(const struct tm_trace *trace, enum tm_backward *backward) TM_MUST_USE;

#endif
