/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PRUNE_FOLDER_H
#define TM_PRUNE_FOLDER_H

#include "pipeline/run.h"

/* Remove what the program wrote into the folder of a run: reports, tables, partials of hosts.  result.json stays, and what
 * others put there.  Links are removed, not followed.
 * in:     keeps_summary  summary.json stays too
 *         only_counts    nothing is removed
 * out:    bytes  are added to: what goes; files likewise
 * errors: TM_ERR_OUTPUT  something cannot be removed */
struct tm_pruned {
    uint64_t files, bytes;
};
tm_status tm_prune_folder(struct tm_run *run, const char *folder, bool keeps_summary, bool only_counts,
                          struct tm_pruned *pruned) TM_MUST_USE;

#endif
