/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GUARD_H
#define TM_GUARD_H

#include <sys/stat.h>

#include "pipeline/run.h"

/* Nothing that a job writes takes the place of what it reads, nor of something else that it writes.  Who finds an input notes
 * it, by device and inode; who will write notes where, by the path without links.  Whichever comes first, the second one is
 * refused, before any work is lost; and tm_atomic_open asks once more, for names that nobody knew before.
 * A run of which the guard was not begun is not looked after. */
tm_status tm_guard_begin(struct tm_run *run) TM_MUST_USE;
void tm_guard_end(struct tm_run *run);

/* An input.  One that is not there, or is no regular file, is none.
 * in:     info  as stat() tells; NULL = look
 * errors: TM_ERR_USAGE  something will be written there */
tm_status tm_guard_input(struct tm_run *run, const char *path, const struct stat *info) TM_MUST_USE;
/* Whether a file of so many bytes may be where something will be written: if not, it need not be looked at. */
bool tm_guard_may_meet(const struct tm_run *run, uint64_t bytes);

/* A file that will be written; the same one may be noted again.
 * in:     what  "the file of --junit", "the history of the batch": another one may not be written there; borrowed
 * errors: TM_ERR_USAGE; TM_ERR_OUTPUT for a path that is too long */
tm_status tm_guard_output(struct tm_run *run, const char *path, const char *what) TM_MUST_USE;
/* A folder that is written into: no other file may lie in it.  in: what  "among the runs of the batch" */
tm_status tm_guard_tree(struct tm_run *run, const char *path, const char *what) TM_MUST_USE;

/* At the last moment: is it an input? */
tm_status tm_guard_check(struct tm_run *run, const char *path) TM_MUST_USE;

/* Files and folders by device and inode: which ones were met before, by whatever path.  Of the account `model`. */
struct tm_file_id {
    dev_t device;
    ino_t inode; /* 0 = free place of the table: no file has that number */
};

struct tm_file_ids {
    struct tm_file_id *at; /* open addressing, a power of two */
    size_t count, capacity;
};

/* out:    *is_new  NULL allowed
 * errors: TM_ERR_LIMIT */
tm_status tm_file_ids_add(struct tm_run *run, struct tm_file_ids *ids, const struct stat *info,
                          bool *is_new) TM_MUST_USE;
void tm_file_ids_free(struct tm_run *run, struct tm_file_ids *ids); /* tolerates a zeroed one */

#endif
