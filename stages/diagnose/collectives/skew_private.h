/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SKEW_PRIVATE_H
#define TM_SKEW_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/collectives/collective_facts.h"
#include "stages/diagnose/collectives/skew.h"
#include "stages/diagnose/run/members.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/top_rows.h"

/* One collective of one device in a chosen step. */
struct arrival {
    struct tm_key communicator;
    int64_t step;              /* as its marker says; TM_NO_STEP = in none */
    int64_t start_ps, dur_ps;  /* in the time of its host */
    uint32_t member;
    uint32_t is_start;         /* begins an asynchronous one: its end is not the collective's */
};

/* Collectives that are told apart by their order only: those of the same key on several devices belong together, the
 * first to the first, and so on. */
struct communicator {
    struct tm_key key;
    tm_strid name;            /* an operation, an HLO op or a kernel */
    tm_strid group;           /* its ranks, else its name; 0 = not told */
    tm_strid replica_groups;  /* "{{0,1},{2,3}}"; 0 = not told */
    struct tm_key replica_hash;
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
    bool is_used, can_match;
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

enum { SKEW_FRONT = 256 /* a power of two */, SKEW_ROWS_PAGE = 4 << 10 };

/* Parts of what the tables of collectives may take, in 32nds.  The last three are needed for the report only. */
enum { SKEW_ARRIVALS = 5, SKEW_COMMUNICATORS = 2, SKEW_JOINED = 4, SKEW_LENGTHS = 1, SKEW_ROWS = 1 };

static inline size_t skew_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_COLLECTIVES, 32, (unsigned)parts);
}

/* --- matching: skew_match.c --- */

/* All collectives of a communicator in one step. */
struct block {
    tm_strid name, group;
    int64_t step;
    uint8_t kind;
};

/* An arrival that has its place: (block, subgroup, ordinal) is one collective of several devices. */
struct joined {
    uint64_t block, ordinal;
    uint32_t subgroup, member;
    int64_t start_ps, end_ps;
    uint64_t is_start;
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
    int64_t late_ps, late_max_ps; /* own begin minus the earliest */
    int64_t wait_ps;           /* last begin minus own */
    int64_t caused_ps;         /* where it came last: what the others would have waited less with the one before it */
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
    struct tm_sorter *lengths;   /* int64_t, the skew of each */
    struct tm_top_rows *worst;   /* struct late_row */
    uint64_t matched, unmatched;
    int64_t late_ps, wait_ps, max_ps;
};

static inline bool is_believed(const struct overlap *o)
{
    return o->overlapping * 100 >= o->checked * SKEW_OVERLAP_PCT;
}

/* owns:   the caller owns what is in *sums, also after a failure: free_skew_sums */
tm_status add_up_skew(struct skew *k, struct matches *m, struct skew_sums *sums) TM_MUST_USE;
void free_skew_sums(struct skew *k, struct skew_sums *sums);

/* --- skew_report.c, skew_partial.c --- */
tm_status report_skew(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;
tm_status save_skew(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status load_skew(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

/* skew.c */
tm_status grow_presences(struct skew *k) TM_MUST_USE; /* as many as there are members */
tm_status add_clock(struct skew *k, struct host_clock clock) TM_MUST_USE;

#endif
