/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_STAT_H
#define TM_XSPACE_STAT_H

#include "stages/input/xspace/reader.h"

/* A statistic on the wire: XStat {metadata_id 1, double 2, uint64 3, int64 4, str 5, bytes 6, ref 7}. */
enum {
    TM_XSTAT_ID = 1, TM_XSTAT_DOUBLE = 2, TM_XSTAT_UINT = 3, TM_XSTAT_INT = 4, TM_XSTAT_STR = 5, TM_XSTAT_BYTES = 6,
    TM_XSTAT_REF = 7,
    TM_XSTAT_LARGEST = 64 << 10, /* a larger one is looked at where it lies */
};

struct tm_xstat {
    int64_t id;
    struct tm_field value; /* key 0: it has none */
};

/* Its fields, whatever their order.  What comes later in the format is no value. */
static inline void tm_xstat_read(struct tm_wire *bytes, struct tm_xstat *stat)
{
    struct tm_field field;

    while (tm_wire_next(bytes, &field)) {
        if (field.key == TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT))
            stat->id = (int64_t)field.value;
        else if (field.key < TM_WIRE_KEY(TM_XSTAT_REF + 1, 0))
            stat->value = field;
    }
}

/* What it means and where its value lies, of one that may be of any length.  The value is not read. */
struct tm_xstat_place {
    int64_t id;
    struct tm_head value;  /* type TM_WIRE_END: it has none */
    uint64_t value_at;     /* LEN: of its first byte */
};
/* in: begin, end  of its bytes; of one that is cut, what is there counts */
tm_status tm_xstat_find(const struct tm_input *input, uint64_t begin, uint64_t end,
                        struct tm_xstat_place *place) TM_MUST_USE;

#endif
