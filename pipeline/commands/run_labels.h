/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_LABELS_H
#define TM_RUN_LABELS_H

#include "pipeline/commands/summaries.h"

/* Give each run the label that summaries.h describes.
 * in: operand  of each run, in their order; the runs have path and doc */
void tm_label_runs(struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count);

/* Put a number behind a label where another one is the same: "a #2".
 * in: other  the i-th of those that have theirs */
typedef const char *tm_other_label(const void *of, size_t i);
void tm_make_label_distinct(char label[TM_LABEL_BYTES], tm_other_label *other, const void *of,
                            size_t count);

#endif
