/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATOMIC_FOLDER_H
#define TM_ATOMIC_FOLDER_H

#include "pipeline/run.h"

/* A folder of files that appears whole under its name, or not at all: made under a temporary name beside it, then
 * exchanged with the one that is there.  Of an older folder the files that it lists as written by this program go away;
 * all others stay. */
struct tm_atomic_folder;

/* in:     folder  the one that it is made in, and that has to be there
 *         name    of it, one part of a path
 *         index   name of the file that lists the others, the first cell of each line after the first
 *         header  first line of that file, without its end: an index without it is somebody else's
 * errors: NULL, with the error in run->error: TM_ERR_OUTPUT with path and reason, TM_ERR_LIMIT */
struct tm_atomic_folder *tm_atomic_folder_open(struct tm_run *run, const char *folder, const char *name,
                                               const char *index, const char *header) TM_MUST_USE;

/* A new file in it, to be closed with tm_atomic_folder_close.
 * in:     name  [a-z0-9_-], ".csv"; not one that is there already
 * errors: NULL, with the error in run->error; TM_ERR_LIMIT after TM_FOLDER_FILES files */
FILE *tm_atomic_folder_add(struct tm_atomic_folder *to, const char *name) TM_MUST_USE;
tm_status tm_atomic_folder_close(struct tm_atomic_folder *to, FILE *file) TM_MUST_USE; /* synced */

tm_status tm_atomic_folder_commit(struct tm_atomic_folder *to) TM_MUST_USE; /* all files are closed */
void tm_atomic_folder_free(struct tm_atomic_folder *to); /* what was not committed goes away; tolerates NULL */

#endif
