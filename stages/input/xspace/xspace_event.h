/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_EVENT_H
#define TM_XSPACE_EVENT_H

#include "stages/input/xspace/xspace_private.h"

/* XEvent {metadata_id 1, offset_ps 2, duration_ps 3, stats 4, num_occurrences 5} */
enum {
    TM_XEVENT_METADATA_ID = 1, TM_XEVENT_OFFSET = 2, TM_XEVENT_DURATION = 3, TM_XEVENT_STATS = 4,
    TM_XEVENT_OCCURRENCES = 5,
    TM_XEVENT_LARGEST = 64 << 10, /* of a longer one only the beginning is read, whatever the buffer */
};

/* One event as it lies on the wire, its known statistics picked out. */
struct tm_xevent {
    int64_t metadata_id, offset_ps, duration_ps;
    bool is_aggregated;
    uint32_t unknown_fields;
    struct tm_facts facts;
};

/* Read an event out of its bytes.  Texts of the facts lie in `bytes`, or are refs into the plane's table.
 * errors: false where the bytes are damaged: what came before is there */
tm_status tm_xevent_read(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                         struct tm_wire bytes, struct tm_xevent *event, bool *damaged) TM_MUST_USE;

#endif
