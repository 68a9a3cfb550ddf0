/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVES_PRIVATE_H
#define TM_COLLECTIVES_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/collectives/collective_facts.h"
#include "stages/diagnose/collectives/collectives.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

/* Collectives of one kind with messages of one size, type and group. */
struct collective_row {
    struct tm_key key; /* of all that is not summed */
    uint64_t count;
    int64_t total_ps, exposed_ps;
    uint64_t moved_count;   /* of those whose transfer was timed */
    int64_t moved_ps;       /* how long it took: of a TPU's asynchronous ones the time in flight, not that of the waits */
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

/* A collective that runs on a device: until when, and its row with the exposed time that it has so far. */
struct exposed {
    struct collective_row row;
    int64_t end_ps;
    bool is_there;
};

/* The exposed time of a device. */
struct exposure {
    int64_t begin_ps, end_ps; /* what counts of the device */
    int64_t at_ps;            /* everything before is shared out */
    int64_t computes_until_ps;
    struct exposed owner, next; /* next: of those that end after the owner the one with the latest end */
};

struct collectives {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct collective_row */
    struct collective_front *front;
    struct exposure *exposures; /* of the present host, by device */
    uint32_t exposure_count;
    uint64_t count, bytes, sized_count; /* bytes: of the sized ones, whose messages' sizes are known */
    int64_t total_ps, exposed_ps;
    bool has_device;
};

enum { COLLECTIVES_FRONT = 256 }; /* a power of two: a program has few of them */

/* Parts of what the tables of collectives may take, in 32nds; what is left is for the front and for the stage skew. */
enum { COLLECTIVES_GROUPS = 8 };

static inline size_t collectives_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_COLLECTIVES, 32, (unsigned)parts);
}

/* collective_exposure.c */
void init_exposure(struct exposure *e, int64_t begin_ps, int64_t end_ps);
/* Bring it up to a time: the begin of the next activity, or INT64_MAX at the end.  Collectives that end until then and
 * have exposed time are put into the groups. */
tm_status expose_to(struct exposure *e, int64_t to_ps, struct tm_groups *groups) TM_MUST_USE;
/* Activities in the order of their begins, each after expose_to(begin). */
void expose_compute(struct exposure *e, int64_t end_ps);
void expose_collective(struct exposure *e, int64_t start_ps, int64_t end_ps, const struct collective_row *row);

/* collective_report.c */
tm_status tm_collectives_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* collective_partial.c */
tm_status tm_collectives_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_collectives_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
