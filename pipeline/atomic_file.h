/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATOMIC_FILE_H
#define TM_ATOMIC_FILE_H

#include "pipeline/run.h"

/* A file that appears whole under its name, or not at all: written under a temporary name in the same folder,
 * synced, renamed.  Symbolic links at the final name are replaced, not followed. */
struct tm_atomic_file {
    struct tm_run *run;
    FILE *stream;      /* write here; NULL = not open */
    char path[4096];   /* final */
    char part[4200];   /* while it is written */
};

/* errors: TM_ERR_OUTPUT with path and reason; a missing folder gets a hint */
tm_status tm_atomic_open(struct tm_atomic_file *file, struct tm_run *run, const char *folder,
                         const char *name) TM_MUST_USE;
tm_status tm_atomic_commit(struct tm_atomic_file *file) TM_MUST_USE;
/* The same without the last step: its content is on the disk, its name perhaps not until tm_sync_folder.  For several files
 * of one folder, and for one that is made again if a power cut takes it. */
tm_status tm_atomic_give_name(struct tm_atomic_file *file) TM_MUST_USE;
/* Make names that files of a folder got last over a power cut.  Best effort: some file systems cannot. */
void tm_sync_folder(const char *path);
void tm_atomic_abort(struct tm_atomic_file *file); /* tolerates zeroed and committed ones */

/* Make a folder and its parents.  errors: TM_ERR_OUTPUT */
tm_status tm_make_folder(struct tm_run *run, const char *path) TM_MUST_USE;

#endif
