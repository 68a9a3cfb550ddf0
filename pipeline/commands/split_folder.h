/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPLIT_FOLDER_H
#define TM_SPLIT_FOLDER_H

#include "pipeline/run.h"

/* The folder that parts go to. */

#define TM_SPLIT_INDEX "index.json"
#define TM_SPLIT_PAGE "index.html"
#define TM_SPLIT_SCHEMA "tracemill.split"

/* See that it can be written, and holds nothing but an older split.
 * in:     force  whatever it holds
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_check(struct tm_run *run, const char *folder, bool force) TM_MUST_USE;

/* Remove an older split, if there is one: its index first, then the parts that the index lists, nothing else.
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_clear(struct tm_run *run, const char *folder) TM_MUST_USE;

/* Remove a part; one that is not there is fine. */
void tm_split_folder_remove(const char *folder, const char *name);

#endif
