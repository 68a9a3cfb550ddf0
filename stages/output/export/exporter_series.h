/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EXPORTER_SERIES_H
#define TM_EXPORTER_SERIES_H

#include "stages/output/export/exporter.h"

/* Series of values, and who has them: exporter.c, exporter.c. */

struct tm_counter_value {
    double value; /* finite */
    int64_t whole;
    bool is_whole;
};

static inline struct tm_counter_value tm_whole_value(int64_t whole)
{
    return (struct tm_counter_value){ .value = (double)whole, .whole = whole, .is_whole = true };
}

/* What tells a counter from others, and makes its name: NAME [ID] KEY, or NAME SUFFIX. */
struct tm_counter_key {
    uint32_t process, device; /* device: as in tm_counter_row */
    tm_strid name, key, unit;
    const char *suffix; /* NULL = none */
    const char *id;     /* NULL = none; id_length bytes */
    size_t id_length;
    uint8_t order;                /* enum tm_counter_order */
    bool only_changes;            /* a value that is the same as before is not written */
    const struct tm_event *event; /* NULL = worked out */
};

/* A value of a counter, whose series is made where there is none. */
tm_status tm_exporter_count(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_counter_value *value,
                            int64_t time_ps) TM_MUST_USE;

#endif
