/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_EVENT_H
#define TM_XSPACE_EVENT_H

#include "stages/input/xspace_private.h"

/* A text as an event holds it: by reference into the table of statistics, or its bytes. */
struct tm_xtext {
    enum { TM_XTEXT_NONE, TM_XTEXT_REF, TM_XTEXT_BYTES } kind;
    uint64_t ref;
    const uint8_t *bytes;
    size_t length;
};

/* One event as it lies on the wire, its known statistics picked out. */
struct tm_xevent {
    int64_t metadata_id, offset_ps, duration_ps;
    bool is_aggregated;
    uint32_t unknown_fields;
    uint64_t has;                           /* bit 1 << enum tm_stat */
    uint16_t flags;                         /* enum tm_record_flag */
    uint64_t config_hash;                   /* of the statistics that make a config, in their order */
    int64_t ints[TM_STAT_COUNT];            /* of those that are numbers */
    double doubles[TM_STAT_COUNT];          /* occupancy and fragmentation */
    struct tm_xtext texts[TM_STAT_COUNT];   /* of those that are texts */
};

static inline bool tm_xevent_has(const struct tm_xevent *event, enum tm_stat stat)
{
    return event->has >> stat & 1;
}

/* Read an event out of its bytes.  Only members whose bit is set in `has` are written.
 * errors: false where the bytes are damaged: what came before is there */
tm_status tm_xevent_read(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                         struct tm_wire bytes, struct tm_xevent *event, bool *damaged) TM_MUST_USE;

/* The config of an event; 0 where nothing of it is recorded. */
tm_status tm_xevent_config(struct tm_xspace *x, uint64_t plane_number, const struct tm_xevent *event,
                           uint32_t op_config, uint32_t *row) TM_MUST_USE;

/* The handle of a text. */
tm_status tm_xevent_text(struct tm_xspace *x, uint64_t plane_number, const struct tm_xtext *text,
                         tm_strid *name) TM_MUST_USE;

#endif
