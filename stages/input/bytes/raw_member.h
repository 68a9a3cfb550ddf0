/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RAW_MEMBER_H
#define TM_RAW_MEMBER_H

#include "stages/input/bytes/raw_bytes.h"

/* The bytes of a member of an archive, as they were put into it.  A restart reads the archive again. */
struct tm_member_place {
    const char *path;   /* of the archive */
    const char *member; /* its name there */
    uint64_t position;  /* as tm_archive_open takes it */
};

/* What the archive tells of a member before it is read; it may be wrong. */
struct tm_member_facts {
    uint64_t bytes;
    int64_t modified_ns;
};

/* Open a member; fills raw for tm_raw_open, but for its name.
 * in:     place   its texts have to live as long as raw
 * owns:   raw owns the open archive: tm_raw_close releases it
 * errors: as tm_archive_open; then there is nothing to close */
tm_status tm_raw_member_open(struct tm_raw_bytes *raw, struct tm_run *run, const struct tm_member_place *place,
                             struct tm_member_facts *facts) TM_MUST_USE;

#endif
