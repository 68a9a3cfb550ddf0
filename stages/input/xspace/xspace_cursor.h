/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_CURSOR_H
#define TM_XSPACE_CURSOR_H

#include "stages/input/xspace/xspace_private.h"

/* XEvent {metadata_id 1, offset_ps 2, duration_ps 3, stats 4, num_occurrences 5} */
enum {
    TM_XEVENT_METADATA_ID = 1,
    TM_XEVENT_OFFSET = 2,
    TM_XEVENT_DURATION = 3,
    TM_XEVENT_STATS = 4,
    TM_XEVENT_OCCURRENCES = 5,
    TM_XEVENT_LARGEST = 64 << 10, /* of a longer one only the beginning is read, whatever the buffer */
};

#endif
