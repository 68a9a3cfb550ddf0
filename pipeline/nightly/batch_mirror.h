/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_MIRROR_H
#define TM_BATCH_MIRROR_H

#include "pipeline/options.h"
#include "pipeline/run.h"

/* The mirror of the folder of a batch in a bucket (--mirror).  The folder remains where work is done and results are
 * found; each file of it becomes an object with the same path below the address.  Data precedes what says that it is
 * there: the files of an item, then its result.json; all items, then the history; the history, then the page.
 *
 * Files are stored many at a time (mirror_staging.h).  A note in OUT/mirror for each item, and for each other file,
 * says which content the bucket has, so nothing is stored twice, and a mirror that was interrupted at any moment is
 * completed by the next one.  Only one process at a time writes a mirror: that which has the lock of the folder.
 *
 * The note of a run also lists the objects stored with it.  Those of a pruned run whose files are gone are removed, after
 * everything else has been stored, so that nothing in the bucket refers to them any more.  Nothing else is ever removed
 * from the bucket. */

/* Whether OUT and --mirror can be used.
 * errors: TM_ERR_USAGE  OUT is the address of a bucket, or the address of --mirror is not */
tm_status tm_mirror_check(struct tm_run *run, const struct tm_options *options, const char *out);

/* Restore an OUT without a manifest from its mirror; files that exist are kept.  Nothing without --mirror.
 * errors: TM_ERR_INPUT  of the bucket; TM_ERR_OUTPUT */
tm_status tm_mirror_fetch(struct tm_run *run, const struct tm_options *options, const char *out);

/* Store what is new, and remove the objects of pruned runs.  Nothing without --mirror.
 * errors: TM_ERR_OUTPUT  of the bucket, or another batch works in OUT */
tm_status tm_mirror_put(struct tm_run *run, const struct tm_options *options, const char *out);

#endif
