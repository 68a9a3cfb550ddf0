/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATOMIC_FILE_H
#define TM_ATOMIC_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "pipeline/run.h"

/* A file that appears under its name completely or not at all: written under a temporary name in the same folder,
 * synced, renamed.  Symbolic links at the final name are replaced, not followed. */
struct tm_atomic_file {
    struct tm_run *run;
    FILE *stream;    /* write here; NULL = not open */
    char path[4096]; /* final */
    char part[4200]; /* while it is written */
};

/* After a failure of the run nothing is opened, and nothing gets its name.
 * errors: TM_ERR_OUTPUT with path and reason; a missing folder gets a hint */
tm_status tm_atomic_open(struct tm_atomic_file *file, struct tm_run *run, const char *folder, const char *name);
tm_status tm_atomic_commit(struct tm_atomic_file *file);

/* The same without the last step: its content is on the disk, its name perhaps not until tm_sync_folder.  For several
 * files of one folder, and for one that is created again if a power cut loses it. */
tm_status tm_atomic_give_name(struct tm_atomic_file *file);
/* Make the latest names in a folder survive a power cut.  Best effort: some file systems cannot. */
void tm_sync_folder(const char *path);
void tm_atomic_abort(struct tm_atomic_file *file); /* tolerates zeroed and committed ones */

/* Make a folder and its parents.  errors: TM_ERR_OUTPUT */
tm_status tm_make_folder(struct tm_run *run, const char *path);

/* A folder of files that appears under its name completely or not at all: it is built under a temporary name beside it,
 * then exchanged with the existing one.  Files of an older folder that its index lists as written by this program are
 * removed; all others stay. */
struct tm_atomic_folder;

/* in:     folder  the parent, which must exist
 *         name    of the folder, one part of a path
 *         index   name of the file that lists the others, in the first cell of each line after the first
 *         header  first line of that file, without its line end: an index without it belongs to another program
 * errors: NULL, with the error in run->error: TM_ERR_OUTPUT with path and reason, TM_ERR_LIMIT */
struct tm_atomic_folder *tm_atomic_folder_open(struct tm_run *run, const char *folder, const char *name,
                                               const char *index, const char *header) TM_MUST_USE;

/* A new file in it, to be closed with tm_atomic_folder_close.
 * in:     name  [a-z0-9_-], ".csv"; not one that already exists
 * errors: NULL, with the error in run->error; TM_ERR_LIMIT after TM_FOLDER_FILES files */
FILE *tm_atomic_folder_add(struct tm_atomic_folder *to, const char *name) TM_MUST_USE;
tm_status tm_atomic_folder_close(struct tm_atomic_folder *to, FILE *file); /* synced */

tm_status tm_atomic_folder_commit(struct tm_atomic_folder *to); /* all files are closed */
void tm_atomic_folder_free(struct tm_atomic_folder *to);        /* removes what was not committed; tolerates NULL */

/* Names for the parts of a split: one plain part of a path that is also safe in a URL: "part-0001-host.pftrace". */
enum { TM_PART_NAME_BYTES = 256 };

/* Whether a name is one that a part can have: nothing else is linked to, or removed. */
bool tm_is_part_name(const char *name);

/* The start of a name.  in: number  from 1 */
void tm_part_name_begin(char *name, size_t bytes, unsigned number);
/* Append a host or a device, whatever its name. */
void tm_part_name_add(char *name, size_t bytes, const char *text);

/* Incomplete files and folders have a temporary name, ".NAME.PID-N.part", and their writer locks them as long as it
 * lives.  One with such a name but no lock was left by a process that was killed.  The journal that SQLite keeps beside a
 * database, ".NAME.PID-N.part-journal", belongs to the file of its name. */

/* Whether a name is that of a file or folder which is not complete. */
bool tm_left_behind_is(const char *name);

/* Remove the files that killed processes left in a folder, but none that a process still writes, and none of other
 * users.
 * in:     dir       open, from its position on
 *         is_alone  no other process can work there: remove also if the file system cannot lock */
void tm_left_behind_remove(DIR *dir, bool is_alone);
/* Leave a folder to the caller, who removes them there: the next file in it does not look for them. */
void tm_left_behind_leave(struct tm_run *run, int folder);

/* Remove a folder of tables: its files with the ending ".csv", and the folder itself if it is then empty. */
bool tm_left_behind_remove_tables(int folder, const char *name);

#endif
