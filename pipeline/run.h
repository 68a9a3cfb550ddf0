/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_H
#define TM_RUN_H

#include <stdbool.h>

#include "pipeline/error.h"
#include "pipeline/progress.h"
#include "pipeline/store/budget.h"
#include "pipeline/tally.h"

struct tm_redactor;
struct tm_guard;

/* What every part of one job shares: the limits, the ledger, the place for spill files, the tallies,
 * the error.  One per job, owned by the verb; passed by pointer, never global. */
struct tm_run {
    struct tm_error error;
    struct tm_budget budget;
    struct tm_tallies tallies;
    struct tm_progress progress;
    const char *spill_dir;        /* chosen folder, set by tm_spill_choose_dir */
    struct tm_redactor *redactor; /* --redact: names are written as pseudonyms; NULL = as they are */
    uint64_t limit_times;         /* --raise-limits (pipeline/limits.h); 0 = 1 */
    enum tm_tally_use tally_use;  /* what the verb writes */
    bool raw;                     /* --raw: texts in CSV with all their characters */
    struct tm_guard *guard;       /* pipeline/guard.h; NULL = nothing is looked after */
    bool strict;
    bool quiet;
    bool follow_links;                  /* --follow-links: out of the folder that is searched */
    const char *links_root;             /* links may lead anywhere in it; NULL = in the folder that is searched */
    uint64_t swept_device, swept_inode; /* the folder that tm_left_behind_sweep saw last */
    uint64_t last_site;                 /* number given last (pipeline/sites.h) */
    uint64_t events_read;
    uint64_t bytes_read; /* of the input as it lies on disk */
    /* of stages/input/bytes/archive.h: an archive that is still open behind the member that was read last, NULL = none, and
     * what all passes over archives came by to get at members: headers, and bytes that were unpacked for it */
    struct tm_archive_member *archive_left;
    uint64_t archive_again_members, archive_again_bytes;
};

#endif
