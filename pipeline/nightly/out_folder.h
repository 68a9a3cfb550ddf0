/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_FOLDER_H
#define TM_OUT_FOLDER_H

#include "pipeline/nightly/manifest.h"

/* What lies where in the folder of a batch (schemas/BATCH.md):
 *     OUT/manifest.jsonl                       what the batch is of
 *     OUT/runs/ID/report.html, summary.json    of a run
 *     OUT/runs/ID/result.json                  its result: written last, so that what stands beside it is whole
 *     OUT/runs/ID/hosts/HOST/run.partial, result.json    of one host of a run of several
 *     OUT/index.html, index.json, history.db
 */
enum { TM_OUT_PATH_BYTES = 4096 };
#define TM_RESULT_FILE "result.json"
#define TM_HISTORY_FILE "history.db"
#define TM_MANIFEST_FILE "manifest.jsonl"

/* All give TM_ERR_OUTPUT for a path that is too long.
 * in: file  NULL = of the run itself */
tm_status tm_out_item_folder(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, char path[TM_OUT_PATH_BYTES]) TM_MUST_USE;
tm_status tm_out_path(struct tm_run *run, const char *out, const char *name, char path[TM_OUT_PATH_BYTES]) TM_MUST_USE;
/* Where a file of the manifest lies. */
tm_status tm_input_path(struct tm_run *run, const struct tm_batch_run *batch_run, const struct tm_batch_file *file,
                        char path[TM_OUT_PATH_BYTES]) TM_MUST_USE;

/* One driver at a time in a folder, or any number of shares of one manifest, whose items are different ones: where the file
 * system can lock.  The lock ends with the process.  Who comes too late is refused.  What killed drivers left in the folder
 * itself under temporary names goes away when one has it alone.
 * out:    fd  -1 = the file system cannot lock: go on
 * errors: TM_ERR_OUTPUT */
tm_status tm_out_lock(struct tm_run *run, const char *out, bool is_share, int *fd) TM_MUST_USE;

/* A share is worked by one process at a time: a second one waits for the end of the first, however that ends, and then does
 * what is left.  The lock is a file, which also file systems can lock that cannot lock folders, NFS among them.
 * owns:   the caller; tm_out_unlock_share
 * errors: TM_ERR_OUTPUT */
struct tm_share_lock {
    int fd; /* -1 = not locked: the file system cannot */
    char path[TM_OUT_PATH_BYTES];
};
tm_status tm_out_lock_share(struct tm_run *run, const char *out, struct tm_shard shard,
                            struct tm_share_lock *lock) TM_MUST_USE;
void tm_out_unlock_share(struct tm_share_lock *lock);

#endif
