/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLAPSED_H
#define TM_COLLAPSED_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* Write scopes.collapsed: device time by scope as folded stacks, a line for each: frames joined by ';', a space, whole
 * nanoseconds of the scope itself.  The first frame is the pass: "forward;train_step;block_0;mlp 12345".  The numbers
 * add up to all device time of operations.  Where nothing tells scopes, the frames are "(no scopes recorded)", the
 * category and the name of each operation.  flamegraph.pl, speedscope and others read it.
 * In names a space becomes '_' and ';' becomes ':'; what is not seen is made visible.
 * in:     doc  a summary (schemas/SUMMARY.md)
 * out:    to   nothing where the summary has no operations on devices
 * errors: TM_ERR_OUTPUT `to` takes no more
 * source: the folded format of flamegraph.pl, github.com/brendangregg/FlameGraph */
tm_status tm_collapsed_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

#endif
