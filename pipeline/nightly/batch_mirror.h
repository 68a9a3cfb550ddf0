/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_MIRROR_H
#define TM_BATCH_MIRROR_H

#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"

/* The mirror of the folder of a batch in a bucket (--mirror).  The folder remains where work is done and results are
 * found; each file of it becomes an object with the same path below the address.  Data precedes what says that it is
 * there: the files of an item, then its result.json; all items, then the history; the history, then the page.
 *
 * Files are stored many at a time (mirror_staging.c).  A note in OUT/mirror for each item, and for each other file,
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

/* Files that wait to be stored (mirror_staging.c): hard links below OUT/mirror/.staging, which one start of the helper
 * stores all at once.  Stages are stored one after the other, so that data precedes what says that it is there, and
 * notes of what the bucket has become valid last.  The names of objects that are to be removed from the bucket wait
 * there, too.  What a killed process left there is removed by the next one. */

#define TM_STAGING_NAME ".staging" /* of their folder, in that of the notes */

enum tm_mirror_stage { TM_STAGE_DATA, TM_STAGE_HOSTS, TM_STAGE_RESULTS, TM_STAGES };

struct tm_staging {
    struct tm_run *run;
    const char *uri;                /* of the mirror, without a slash at its end; borrowed */
    char folder[TM_OUT_PATH_BYTES]; /* that the stages are in */
    bool is_used;                   /* the helper stores folders, and the file system has hard links */
    bool notes_wait;                /* until what they say is true: files or removals wait */
    size_t count[TM_STAGES];        /* files that wait */
    size_t removals;                /* objects that wait to be removed */
};

/* in: notes  the folder of the mirror's notes
 * errors: TM_ERR_OUTPUT */
tm_status tm_staging_begin(struct tm_staging *s, struct tm_run *run, const char *notes, const char *uri);
/* A file to be stored at a place below the address.
 * out: false: it cannot wait, and what waited was stored: store it now */
bool tm_staging_add(struct tm_staging *s, enum tm_mirror_stage stage, const char *path, const char *place);
/* An object to be removed from its place below the address, after what waits has been stored.
 * errors: TM_ERR_OUTPUT; of tm_staging_store, if so many wait that they are removed now */
tm_status tm_staging_remove(struct tm_staging *s, const char *place);
/* The folder for a note of something that waits.  in: below  its folder in that of the notes */
tm_status tm_staging_notes(const struct tm_staging *s, const char *below, char folder[TM_OUT_PATH_BYTES]);
/* Whether so much waits that it should be stored now. */
bool tm_staging_is_full(const struct tm_staging *s);
/* Store what waits, then remove what waits.  errors: of tm_store_folder and tm_remove_objects; TM_ERR_OUTPUT */
tm_status tm_staging_store(struct tm_staging *s);

#endif
