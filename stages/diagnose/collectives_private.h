/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVES_PRIVATE_H
#define TM_COLLECTIVES_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/collective_kind.h"
#include "stages/diagnose/collectives.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

/* Collectives of one kind with messages of one size, type and group. */
struct collective_row {
    struct tm_key key; /* of all that is not summed */
    uint64_t count;
    int64_t total_ps;
    uint64_t message_bytes; /* 0 = not recorded */
    uint32_t group_size;    /* 0 = not recorded */
    tm_strid data_type;
    uint8_t kind;           /* enum tm_collective_kind */
};

/* What is looked up once for many events: a name and a configuration of the present host. */
struct collective_front {
    struct collective_row row; /* of one event, but for its length */
    tm_strid name;
    uint32_t config;
    bool is_used;
};

struct collectives {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct collective_row */
    struct collective_front *front;
    uint64_t count, bytes, sized_count; /* bytes: of the sized ones, whose messages' sizes are known */
    int64_t total_ps;
    bool has_device;
};

enum { COLLECTIVES_FRONT = 1024 }; /* a power of two: a program has few of them */

/* Parts of what the tables of this stage may take, in sixteenths. */
enum { COLLECTIVES_GROUPS = 8, COLLECTIVES_TOP = 4 };

static inline size_t collectives_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_COLLECTIVES, 16, (unsigned)parts);
}

/* collective_report.c */
tm_status tm_collectives_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* collective_partial.c */
tm_status tm_collectives_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_collectives_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
