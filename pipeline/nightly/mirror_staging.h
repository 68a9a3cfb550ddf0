/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MIRROR_STAGING_H
#define TM_MIRROR_STAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/nightly/result.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"

/* Files of a mirror that wait to be stored: hard links below OUT/mirror/.staging, which one start of the helper stores
 * all at once.  Stages are stored one after the other, so that data precedes what says that it is there, and notes of
 * what the bucket has become valid last.  The names of objects that are to be removed from the bucket wait there, too.
 * What a killed process left there is removed by the next one. */

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
