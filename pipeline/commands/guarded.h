/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GUARDED_H
#define TM_GUARDED_H

#include "pipeline/options.h"
#include "pipeline/run.h"

struct tm_document;

/* What the verbs tell the guard (pipeline/guard.h) before they begin to work. */

/* The files that the command line, the environment and the configuration name for reading.  Folders and archives tell theirs
 * as they are searched. */
tm_status tm_guard_options(struct tm_run *run, const struct tm_options *options) TM_MUST_USE;

/* The files of a document in a folder.  in: formats  bits of enum tm_format */
tm_status tm_guard_document(struct tm_run *run, const char *folder, const struct tm_document *document,
                            uint32_t formats) TM_MUST_USE;

/* What a batch keeps in its folder: nothing else may be written there. */
tm_status tm_guard_batch(struct tm_run *run, const char *out) TM_MUST_USE;

#endif
