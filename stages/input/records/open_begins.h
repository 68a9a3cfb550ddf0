/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OPEN_BEGINS_H
#define TM_OPEN_BEGINS_H

#include "pipeline/store/groups.h"
#include "pipeline/kept_record.h"

/* The begins of one key that wait for their ends: a stack without a limit that spills, in which the innermost one of
 * a name is found without a walk. */
struct tm_open_begins;

/* A begin that waits. */
struct tm_open_begin {
    struct tm_kept_record kept;
    uint64_t order;     /* its place in the file */
    struct tm_key name; /* what names are compared by */
};

/* errors: NULL, with the error in run->error */
struct tm_open_begins *tm_open_begins_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_open_begins_free(struct tm_open_begins *open); /* tolerates NULL */

tm_status tm_open_begins_push(struct tm_open_begins *open, const struct tm_open_begin *begin) TM_MUST_USE;
/* Take the innermost one, or with a name the innermost one of that name.  *found false: there is none. */
tm_status tm_open_begins_pop(struct tm_open_begins *open, const struct tm_key *name, struct tm_open_begin *begin,
                             bool *found) TM_MUST_USE;

#endif
