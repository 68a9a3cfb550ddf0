/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SKEW_PRIVATE_H
#define TM_SKEW_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/collectives/collective_facts.h"
#include "stages/diagnose/run/members.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/top_rows.h"

/* Late arrivals: what of the stage collectives compares devices with each other.  source:
 * docs/metrics.md, "Late arrivals" */

/* One collective of one device. */
struct arrival {
    struct tm_key communicator;
    struct tm_key row;         /* of struct collective_row */
    int64_t place;             /* its recorded sequence number, else its step */
    int64_t step;              /* as its marker says; TM_NO_STEP = in none */
    int64_t start_ps, dur_ps;  /* in the time of its host */
    uint64_t serial;           /* among the collectives of its device */
    uint32_t member;
    uint8_t is_start; /* starts an asynchronous one: its end is not the collective's */
    uint8_t is_chosen;
};

/* Collectives that are told apart by their order only: those of the same key on several devices belong together, the
 * first to the first, and so on. */
struct communicator {
    struct tm_key key;
    tm_strid name;            /* an operation, an HLO op or a kernel */
    tm_strid group;           /* its ranks, else its name; 0 = not told */
    tm_strid replica_groups;  /* "{{0,1},{2,3}}"; 0 = not told */
    struct tm_key replica_hash;
    uint32_t group_size;      /* 0 = not told */
    uint8_t kind;             /* enum tm_collective_kind */
};

/* What a device did, matched or not. */
struct presence {
    uint64_t count;
    int64_t collective_ps;
};

/* What the times of a host count from. */
enum clock_base {
    CLOCK_UNKNOWN,
    CLOCK_EPOCH, /* at: ns since 1970 */
    CLOCK_FILE,  /* at: us of the files' clock */
    CLOCK_BASE_COUNT
};

struct host_clock {
    int64_t at;
    uint8_t base;
};

/* What is looked up once for many events: a name and a configuration of the present host. */
struct skew_front {
    struct tm_key communicator;
    tm_strid name;
    uint32_t config;
    bool is_used, can_match, is_numbered;
};

struct skew {
    struct tm_run *run;
    const struct tm_trace *trace;   /* of the present host */
    struct tm_names *names;
    struct tm_members members;
    struct presence *presences;     /* by member */
    uint32_t presence_most;
    struct host_clock *clocks;      /* by host */
    uint32_t clock_count;
    struct tm_sorter *arrivals;     /* struct arrival */
    struct tm_groups *communicators; /* struct communicator */
    struct skew_front *front;
    uint64_t unmatchable;           /* collectives of which nothing tells who took part */
};

enum { SKEW_FRONT = 128 /* a power of two */, SKEW_ROWS_PAGE = 4 << 10 };

/* Parts of what the tables of collectives may take, in 32nds.  All but the first two are needed for
 * the report only. */
enum {
    SKEW_ARRIVALS = 5,
    SKEW_COMMUNICATORS = 2,
    SKEW_JOINED = 3,
    SKEW_LENGTHS = 1,
    SKEW_ROWS = 1,
    SKEW_MATCHED = 3
};

static inline size_t collectives_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_COLLECTIVES, 32, (unsigned)parts);
}

/* --- matching: skew_match.c --- */

/* All collectives of a communicator in one place: with one sequence number, or in one step. */
struct block {
    tm_strid name, group;
    int64_t step; /* of the first device */
    uint32_t group_size;
    uint8_t kind;
};

/* An arrival that has its place: (block, subgroup, ordinal) is one collective of several devices. */
struct joined {
    uint64_t block, ordinal;
    uint32_t subgroup, member;
    int64_t start_ps, end_ps;
    struct tm_key row;
    uint64_t serial;
    uint8_t is_start, is_chosen;
};

/* A collective of a device of which the counterparts on the other devices are known. */
struct matched {
    uint64_t serial;
    int64_t last_ps; /* start of the last device, in the time of this one's host */
    int64_t end_ps;
    struct tm_key row;
    uint32_t member;
    uint8_t is_start, is_chosen;
};

struct matches {
    struct tm_sorter *joined; /* struct joined, in the order (block, subgroup, ordinal, member) */
    struct tm_rows *blocks;   /* struct block */
    uint64_t communicators;   /* that several devices ran equally often in some step */
    uint64_t unmatched;       /* arrivals without a partner */
};

/* Find out what belongs together.
 * owns:   the caller owns what is in *m, also after a failure: free_matches */
tm_status match_arrivals(struct skew *k, struct matches *m) TM_MUST_USE;
void free_matches(struct matches *m);

/* skew_groups.c: the group of each device in "{{0,1},{2,3}}", of a run of so many devices: their numbers
 * are taken for those of the text.
 * out: groups[count]; TM_NONE = in none, or the text has other numbers */
void find_subgroups(const char *text, uint32_t *groups, uint32_t count);

/* --- figures: skew_sums.c --- */

/* Of collectives in which all devices have to be at once, how many there are and how many of them overlap. */
struct overlap {
    uint64_t checked, overlapping;
};

/* Whether the times of several hosts can be brought together. */
struct clock_check {
    uint32_t hosts;            /* that ran collectives */
    struct overlap overlap;    /* of collectives of several hosts */
    const char *why;           /* why the clocks cannot be compared; NULL = they were */
    bool is_aligned;
};

/* What a device did in the collectives that were matched. */
struct member_sums {
    uint64_t count, last_count;
    int64_t late_ps, late_max_ps; /* own start minus the earliest */
    int64_t wait_ps;              /* last start minus own */
    int64_t caused_ps; /* of what the others wait: its part while it had not come; adds up to
                          wait_ps of all */
    int64_t alone_ps;  /* where it came last: what the others would wait less had it come with the
                          one before */
};

/* One of the collectives with the latest arrivals. */
struct late_row {
    int64_t skew_ps, begin_ps, first_begin_ps; /* begins of the last and the first device, in their hosts' times */
    uint64_t block, ordinal;
    uint32_t subgroup, last, first;
};

enum { SKEW_WORST = 20, SKEW_OVERLAP_PCT = 90 /* of those that have to, from which they are believed */ };

struct skew_sums {
    struct clock_check clock;
    struct overlap overlap;      /* of all that were put together */
    struct member_sums *members; /* by member */
    int64_t *offsets_ps;         /* by host: what its time 0 is in that of the earliest one; 0 where they do not share a clock */
    struct tm_sorter *lengths;   /* int64_t, the skew of each */
    struct tm_sorter *rows;      /* struct matched, in the order (member, serial) */
    struct tm_top_rows *worst;   /* struct late_row */
    uint64_t matched, unmatched;
    uint64_t incomplete; /* of the matched: with members that are not in the profile */
    int64_t late_ps, wait_ps, max_ps;
};

static inline bool is_believed(const struct overlap *o)
{
    return o->overlapping * 100 >= o->checked * SKEW_OVERLAP_PCT;
}

/* owns:   the caller owns what is in *sums, also after a failure: free_skew_sums */
tm_status add_up_skew(struct skew *k, struct matches *m, struct skew_sums *sums) TM_MUST_USE;
void free_skew_sums(struct skew *k, struct skew_sums *sums);

/* --- the stage's calls: skew.c, skew_report.c, skew_partial.c --- */
tm_status open_skew(struct skew *k, struct tm_run *run) TM_MUST_USE;
tm_status begin_skew_host(struct skew *k, const struct tm_trace *trace) TM_MUST_USE;
/* A collective, chosen or not.  row, serial: as in struct arrival */
tm_status take_arrival(struct skew *k, const struct tm_event *event, struct tm_key row,
                       uint64_t serial) TM_MUST_USE;
void close_skew(struct skew *k);
/* Why nothing can be compared; NULL = it can. */
const char *why_no_skew(const struct skew *k);
/* Why none of the collectives that count was matched. */
const char *why_not_matched(const struct skew *k, const struct skew_sums *sums);
tm_status report_skew(struct skew *k, struct matches *m, struct skew_sums *sums,
                      struct tm_value *section) TM_MUST_USE;
tm_status save_skew(struct skew *k, struct tm_partial_writer *w) TM_MUST_USE;
/* out: first  number of the first device that was loaded */
tm_status load_skew(struct skew *k, struct tm_partial_reader *r, uint32_t *first) TM_MUST_USE;

/* skew.c */
tm_status grow_presences(struct skew *k) TM_MUST_USE; /* as many as there are members */
tm_status add_clock(struct skew *k, struct host_clock clock) TM_MUST_USE;

#endif
