/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILE_IDS_H
#define TM_FILE_IDS_H

#include <sys/stat.h>

#include "pipeline/run.h"

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
tm_status tm_file_ids_add(struct tm_run *run, struct tm_file_ids *ids, const struct stat *info, bool *is_new) TM_MUST_USE;
bool tm_file_ids_has(const struct tm_file_ids *ids, const struct stat *info);
void tm_file_ids_free(struct tm_run *run, struct tm_file_ids *ids); /* tolerates a zeroed one */

#endif
