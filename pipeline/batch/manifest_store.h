/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MANIFEST_STORE_H
#define TM_MANIFEST_STORE_H

#include "pipeline/batch/manifest.h"

/* What scanning and reading a manifest share: where its rows and texts lie, and what they may be.  Private to
 * pipeline/batch/manifest*.c. */

enum { TM_BATCH_PATH_MOST = TM_FOUND_NAME_BYTES - 1, TM_BATCH_NAME_MOST = TM_FOUND_NAME_BYTES - 1 };

void tm_manifest_begin(struct tm_manifest *manifest, struct tm_run *run);

/* Zeroed memory that lives as long as the manifest.  NULL: TM_ERR_LIMIT in run->error */
void *tm_manifest_take(struct tm_manifest *manifest, size_t bytes) TM_MUST_USE;
char *tm_manifest_copy(struct tm_manifest *manifest, const char *text, size_t length) TM_MUST_USE;
/* Copy keys; texts that the run before has, too, are stored once. */
tm_status tm_manifest_keys(struct tm_manifest *manifest, struct tm_batch_keys *to,
                           const struct tm_run_keys *keys) TM_MUST_USE;

/* Add a run: the manifest counts its files and bytes from then on. */
tm_status tm_manifest_add(struct tm_manifest *manifest, const struct tm_batch_run *batch_run) TM_MUST_USE;

/* Of two pointers to texts, for qsort. */
int tm_by_text(const void *a, const void *b);
/* Are two texts the same?  They are put in order. */
bool tm_has_doubles(const char **texts, size_t count);
/* errors: TM_ERR_INPUT  two runs have one id */
tm_status tm_manifest_check_ids(const struct tm_manifest *manifest) TM_MUST_USE;

/* A path below a root: relative, none of its parts "." or ".." or empty; "" is the root itself. */
bool tm_path_is_below(const char *path);

#endif
