/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LEFT_BEHIND_H
#define TM_LEFT_BEHIND_H

#include <dirent.h>

#include "pipeline/run.h"

/* Files and folders that are not complete have a temporary name, ".NAME.PID-N.part", and are locked by who writes them for as
 * long as that lives.  What has such a name and no lock was left by a process that was killed. */

/* Whether a name is that of a file or folder which is not complete. */
bool tm_left_behind_is(const char *name);

/* Lock what is written now.  A file system that cannot lock is no error.
 * out: false: somebody has just taken it for left behind and removes it: begin another one */
bool tm_left_behind_lock(int fd);

/* Remove what killed processes left in a folder: nothing that a process still writes, and nothing of other users.
 * in: dir       open, from its position on
 *     is_alone  no other process can be at work there: also where the file system cannot lock */
void tm_left_behind_remove(DIR *dir, bool is_alone);
/* The same once for each folder that a job writes into.  A folder that cannot be read is left as it is. */
void tm_left_behind_sweep(struct tm_run *run, const char *folder);

/* Remove a folder of tables: its files with the ending ".csv", and itself where nothing else is in it. */
bool tm_left_behind_remove_tables(int folder, const char *name);

#endif
