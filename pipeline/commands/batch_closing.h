/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_CLOSING_H
#define TM_BATCH_CLOSING_H

#include "pipeline/commands/batch_parts.h"

/* Say how the items of a batch stand: a line on a terminal, a document with --json.
 * errors: TM_PARTIAL where one is not done, or of a damaged input; TM_ERR_OUTPUT */
tm_status tm_batch_close(struct tm_run *run, const struct tm_options *options,
                         const struct tm_batch_counts *counts) TM_MUST_USE;

#endif
