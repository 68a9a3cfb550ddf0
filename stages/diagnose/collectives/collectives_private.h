/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVES_PRIVATE_H
#define TM_COLLECTIVES_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/collectives/collective_facts.h"
#include "stages/diagnose/collectives/collectives.h"
#include "stages/diagnose/collectives/skew_private.h"

/* Exposed time by what the device does in it: it waits until the last device has come, then data
 * move.  What has no counterpart is not known to be either.  source: docs/metrics.md, "Waiting and
 * moving" */
struct exposed_parts {
    int64_t wait_ps, move_ps, unmatched_ps;
    uint64_t matched; /* collectives of which the counterparts are known, exposed or not */
};

/* Collectives of one kind with messages of one size, type and group. */
struct collective_row {
    struct tm_key key; /* of all that is not summed */
    uint64_t count;
    int64_t total_ps;
    struct exposed_parts exposed; /* only in the report */
    uint64_t plain_count, flight_count, moved_count;
    int64_t plain_ps,
        flight_ps; /* plain: that are one event; flight: of a TPU's asynchronous ones */
    int64_t
        moved_ps; /* of plain ones that were matched, from the last start on; only in the report */
    uint64_t message_bytes; /* 0 = not recorded */
    uint32_t group_size;    /* 0 = not recorded */
    tm_strid data_type;
    uint8_t kind;           /* enum tm_collective_kind */
    uint8_t reach;          /* enum tm_collective_reach */
    bool is_told; /* what the key is made of stands here; else it stands in another row of the same
                     key */
};

/* What is looked up once for many events: a name and a configuration of the present host. */
struct collective_front {
    struct collective_row row; /* of one event, but for its length */
    uint64_t start; /* hash of the op that starts an asynchronous one, of it and of its wait; 0 =
                       neither */
    tm_strid name;
    uint32_t config;
    bool is_used;
};

/* Time in which a collective of a device runs and nothing computes. */
struct stretch {
    struct tm_key row; /* of struct collective_row */
    uint64_t serial;   /* of the collective on its device; a wait has that of what it waits for */
    int64_t begin_ps, end_ps;
    uint32_t member;
    uint32_t is_chosen;
};

/* A collective that runs on a device, and until when. */
struct exposed {
    struct stretch stretch; /* without times */
    int64_t end_ps;
    bool is_there;
};

/* Asynchronous collectives that began: their ops' names, and which ones they are. */
enum { STARTS_KEPT = 16 };
struct start {
    uint64_t name, serial;
};

/* The exposed time of a device. */
struct exposure {
    int64_t begin_ps, end_ps; /* what counts of the device */
    int64_t at_ps;            /* everything before is shared out */
    int64_t computes_until_ps;
    struct exposed owner, next; /* next: of those that end after the owner the one with the latest end */
    struct stretch open;        /* not told yet, it may go on; nothing where it has no length */
    uint64_t serials;           /* of the device's collectives, from 1 */
    struct start starts[STARTS_KEPT];
    uint32_t next_start;
};

struct collectives {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct collective_row */
    struct tm_sorter *stretches; /* struct stretch, in the order (member, serial, begin) */
    struct collective_front *front;
    struct exposure *exposures; /* of the present host, by device */
    uint32_t exposure_count;
    struct skew skew;
    uint64_t count, bytes, sized_count; /* bytes: of the sized ones, whose messages' sizes are known */
    int64_t total_ps;
    bool has_device;
};

enum { COLLECTIVES_FRONT = 128 }; /* a power of two: a program has few of them */

/* Parts of what the tables of collectives may take, in 32nds; what is left is for the fronts and
 * for struct skew.  The last one is needed for the report only. */
enum { COLLECTIVES_GROUPS = 5, COLLECTIVES_STRETCHES = 4, COLLECTIVES_SUMS = 4 };

/* collective_exposure.c */
void init_exposure(struct exposure *e, int64_t begin_ps, int64_t end_ps);
/* Bring it up to a time: the start of the next activity, or INT64_MAX at the end.  Stretches that
 * end until then are told. */
tm_status expose_to(struct exposure *e, int64_t to_ps, struct tm_sorter *stretches) TM_MUST_USE;
/* Activities in the order of their starts, each after expose_to(start). */
void expose_compute(struct exposure *e, int64_t end_ps);
void expose_collective(struct exposure *e, int64_t start_ps, int64_t end_ps,
                       const struct stretch *stretch);

/* collective_split.c */
struct exposed_sums {
    struct tm_groups
        *rows; /* struct collective_row: those of the stage with what is known only now */
    struct exposed_parts *members; /* by member */
    struct exposed_parts total;    /* of the devices: members added up */
    struct exposed_parts chosen;   /* of the collectives that count: rows added up */
};
/* Split the exposed time of all devices.
 * in:     matched  struct matched in the order (member, serial); NULL = nothing is matched
 * owns:   the caller owns what is in *sums, also after a failure: free_exposed_sums */
tm_status split_exposed(struct collectives *c, struct tm_sorter *matched,
                        struct exposed_sums *sums) TM_MUST_USE;
void free_exposed_sums(struct collectives *c, struct exposed_sums *sums);
void merge_collective_rows(void *into, const void *from);

static inline int64_t exposed_of(const struct exposed_parts *parts)
{
    return tm_sum_times(tm_sum_times(parts->wait_ps, parts->move_ps), parts->unmatched_ps);
}

static inline void add_exposed_parts(struct exposed_parts *to, const struct exposed_parts *more)
{
    to->wait_ps = tm_sum_times(to->wait_ps, more->wait_ps);
    to->move_ps = tm_sum_times(to->move_ps, more->move_ps);
    to->unmatched_ps = tm_sum_times(to->unmatched_ps, more->unmatched_ps);
    to->matched = tm_sum_counts(to->matched, more->matched);
}

/* collective_report.c */
tm_status tm_collectives_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* collective_partial.c */
tm_status tm_collectives_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_collectives_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
