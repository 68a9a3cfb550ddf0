/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LEASES_H
#define TM_LEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"

/* Leases of items: the process that creates the file OUT/leases/ID, or OUT/leases/ID@HOST, works on the item, renews the lease
 * by rewriting the file, and removes it at the end.  A lease that is not renewed for the time that --lease gives is
 * taken over: its worker was killed.  A process that waits measures that time by its own clock, so clocks need not agree.
 *
 * Leases save work and are not relied on for anything else.  A worker that was suspended for too long and continues
 * writes the same bytes as the one that took over. */

enum { TM_LEASE_BYTES = 128 };

struct tm_lease {
    char path[4096];
    char owner[TM_LEASE_BYTES]; /* "" = not held */
    uint64_t count, renewed_ns;
};

/* in:     part  the host of a multi-host run; NULL = the run
 * out:    lease  held or not; *is_taken
 * errors: TM_ERR_OUTPUT */
tm_status tm_lease_take(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                        const struct tm_batch_file *part, struct tm_lease *lease, bool *is_taken);

/* Rewrite it if a third of that time is over.  One that was taken over meanwhile is no longer held. */
void tm_lease_renew(struct tm_lease *lease, int64_t time_ps);
void tm_lease_give(struct tm_lease *lease); /* tolerates one that is not held */

/* What somebody else's lease is now: another number after each renewal.  0 = it is free */
uint64_t tm_lease_mark(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                       const struct tm_batch_file *part);

/* Remove an expired lease, unless it is not the one with that mark any more. */
void tm_lease_break(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                    const struct tm_batch_file *part, uint64_t mark);

/* Remove the lease of an item that has a valid result: its worker was killed before it could. */
void tm_lease_drop(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                   const struct tm_batch_file *part);

/* Remove the folder of leases if it is empty.  out: false: it is not */
bool tm_leases_end(const char *out);

/* Lock a folder for one driver, or for any number of shares of one manifest, whose items differ, if the file system can
 * lock.  The lock ends with the process.  A second driver is refused.  A driver that is alone also removes temporary
 * files that killed drivers left in the folder itself.
 * out:    fd  -1 = the file system cannot lock: continue
 * errors: TM_ERR_OUTPUT */
enum tm_lock_kind {
    TM_LOCK_ALONE,
    TM_LOCK_AFTER_OTHERS, /* the same, but processes that are just ending have TM_LOCK_WAIT_MS to do so */
    TM_LOCK_SHARE,
};

enum { TM_LOCK_WAIT_MS = 10000 };

tm_status tm_out_lock(struct tm_run *run, const char *out, enum tm_lock_kind kind, int *fd);

/* Only one process at a time works on a share: a second one waits for the first to end in any way, and then does the
 * rest.  The lock is a file, because some file systems cannot lock folders, NFS among them.
 * owns:   the caller; tm_out_unlock_share
 * errors: TM_ERR_OUTPUT */
struct tm_share_lock {
    int fd; /* -1 = not locked: the file system cannot */
    char path[TM_OUT_PATH_BYTES];
};

tm_status tm_out_lock_share(struct tm_run *run, const char *out, struct tm_shard shard, struct tm_share_lock *lock);
void tm_out_unlock_share(struct tm_share_lock *lock);

#endif
