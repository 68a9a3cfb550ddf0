/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SKEW_H
#define TM_SKEW_H

#include <stddef.h>

#include "pipeline/clock.h"
#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/figure_rows.h"

/* Kinds of collectives. */
enum tm_collective_kind {
    TM_ALL_REDUCE,
    TM_ALL_GATHER,
    TM_REDUCE_SCATTER,
    TM_ALL_TO_ALL,
    TM_BROADCAST,
    TM_SEND_RECV,
    TM_PERMUTE,
    TM_OTHER_COLLECTIVE, /* reduce, gather, scatter, barrier, and unknown kinds */
    TM_COLLECTIVE_KIND_COUNT
};

extern const char *const tm_collective_kind_name[TM_COLLECTIVE_KIND_COUNT]; /* "all-reduce", ... */

/* The kind from a string: the operation of a message ("_allgather_base"), an HLO op or opcode ("all-reduce-start.1"), a
 * kernel's name ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"); any case, with or without '_' and '-' between the
 * words.  TM_OTHER_COLLECTIVE = none. */
enum tm_collective_kind tm_collective_kind_in(const char *text, size_t length);

/* Where the devices of a collective are. */
enum tm_collective_reach { TM_REACH_UNKNOWN, TM_REACH_NODE, TM_REACH_NODES, TM_REACH_COUNT };

/* The properties of a collective from its event, its message, and its program's HLO. 0 = unknown. */
struct tm_collective_facts {
    uint64_t message_bytes; /* the most that a rank sends or receives: an all-gather's output, a reduce-scatter's
                                input */
    uint32_t group_size;
    enum tm_collective_kind kind;
    enum tm_collective_reach reach;
    tm_strid data_type;
    tm_strid operation, group, group_ranks; /* of its message */
    tm_strid replica_groups;                /* of its HLO instruction: "{{0,1},{2,3}}" */
};

/* in:     event  a collective of a device, or a stretch in which one is in flight */
struct tm_collective_facts tm_collective_facts(const struct tm_trace *trace, const struct tm_event *event);

/* Whether each group of ranks in a string is in one node: "[0, 1, 2, 3]", "{{0,1},{2,3}}".  Ranks
 * are numbered node by node, as launchers do. */
enum tm_collective_reach tm_reach_of_ranks(const char *text, size_t length, uint32_t node_devices);

/* Late arrivals: the part of the stage collectives that compares devices.  source:
 * docs/metrics.md, "Late arrivals" */

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

/* Looked up once for many events: a name and a configuration of the current host. */
struct skew_front {
    struct tm_key communicator;
    tm_strid name;
    uint32_t config;
    bool is_used, can_match, is_numbered;
};

struct skew {
    struct tm_run *run;
    const struct tm_settings *settings; /* NULL = none: matches are not passed on */
    const struct tm_trace *trace;       /* of the current host */
    struct tm_names *names;
    struct tm_members members;
    struct presence *presences; /* by member */
    uint32_t presence_most;
    struct host_clock *clocks; /* by host */
    uint32_t clock_count;
    struct tm_sorter *arrivals;      /* struct arrival */
    struct tm_groups *communicators; /* struct communicator */
    struct skew_front *front;
    uint64_t unmatchable; /* collectives with unknown participants */
};

static inline size_t collectives_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_COLLECTIVES, 32, (unsigned)parts);
}

/* Parts of what the tables of collectives may take, in 32nds.  All but the first two are needed for
 * the report only; the last one twice, before the exposed time of collectives is split, whose rows take 4. */
enum {
    SKEW_ARRIVALS = 5,
    SKEW_COMMUNICATORS = 2,
    SKEW_JOINED = 3,
    SKEW_LENGTHS = 1,
    SKEW_ROWS = 1,
    SKEW_MATCHED = 3,
    SKEW_MEETINGS = 2
};

/* --- matching: skew_matches.c --- */

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

/* The order of two collectives: by block, subgroup, and ordinal. */
static inline int tm_skew_order(uint64_t block, uint64_t other_block, uint32_t subgroup, uint32_t other_subgroup,
                                uint64_t ordinal, uint64_t other_ordinal)
{
    if (block != other_block)
        return block < other_block ? -1 : 1;
    if (subgroup != other_subgroup)
        return subgroup < other_subgroup ? -1 : 1;
    return (ordinal > other_ordinal) - (ordinal < other_ordinal);
}

/* A collective of a device whose counterparts on the other devices are known. */
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

/* Match the collectives.
 * owns:   the caller owns the content of *m, also after a failure: tm_skew_free_matches */
void tm_skew_match_arrivals(struct skew *k, struct matches *m);
void tm_skew_free_matches(struct matches *m);

/* The group of each device in "{{0,1},{2,3}}", of a run of this many devices: their numbers
 * are taken for those of the text.
 * out: groups[count]; TM_NONE = in none, or the text has other numbers */
void tm_skew_find_subgroups(const char *text, uint32_t *groups, uint32_t count);

/* --- instances, and the clocks of hosts: skew_clocks.c --- */

/* For collectives that need all devices at once: their number, and how many of them overlap. */
struct overlap {
    uint64_t checked, overlapping;
};

/* Where the clock of a host comes from. */
enum tm_clock_method {
    TM_CLOCK_ASSUMED,     /* from nowhere */
    TM_CLOCK_RECORDED,    /* the recorded start */
    TM_CLOCK_CONFIRMED,   /* the recorded start, within the uncertainty of the ends of collectives */
    TM_CLOCK_COLLECTIVES, /* a line through the ends of collectives */
    TM_CLOCK_REFERENCE,   /* the others are aligned with it */
    TM_CLOCK_METHODS
};

/* A host on the clock of the reference. */
struct host_alignment {
    struct tm_clock clock;
    int64_t recorded_ps;   /* its time 0 as recorded, on that of the host that started first */
    int64_t difference_ps; /* what the ends of collectives say, minus what is recorded */
    int64_t uncertainty_ps;
    uint64_t points; /* matched ends */
    uint8_t method;
    bool has_recorded;
    bool is_linked; /* it ran collectives with other hosts that all devices must be in at once */
    bool is_placed; /* others may be aligned with it */
    bool is_tried;  /* its ends do not fit a line */
    uint32_t slot;
};

/* The collectives, one after the other. */
struct instances {
    struct skew *k;
    struct matches *m;
    const struct host_alignment *hosts;
    struct joined *rows; /* of the current one, in the order of the members; room for all there are */
    uint32_t count;
    uint32_t group_size; /* 0 = not recorded */
    struct joined next;  /* the first row of the next one */
    bool has_next;
};

void tm_skew_rewind(struct instances *it);
/* in:     is_across  devices of several hosts are one instance
 * out:    false at the end */
bool tm_skew_next_instance(struct instances *it, bool is_across);
/* Is any part of it analyzed? */
bool tm_skew_has_chosen(const struct instances *it);
/* A time on the common clock of all hosts. */
int64_t tm_skew_shared(const struct instances *it, const struct joined *row, int64_t time_ps);
/* Must all devices be in the collective at once, and are they? Others give no information: the root of a broadcast
 * may leave early, and of an asynchronous one only the start is known.
 * out:    *fits  there are not more devices than its group has: otherwise the matching is unknown */
void tm_skew_look_at_overlap(struct instances *it, bool *has_to, bool *does, bool *fits);
/* in:     is_across   devices of several hosts are one instance
 *         only_hosts  count only those */
void tm_skew_count_overlap(struct instances *it, bool is_across, bool only_hosts, struct overlap *overlap);

/* Whether the times of several hosts are comparable. */
struct clock_check {
    uint32_t hosts;         /* that ran collectives */
    struct overlap overlap; /* of collectives of several hosts */
    const char *why;        /* why the clocks cannot be compared; NULL = they were */
    bool is_aligned;
};

enum { SKEW_OVERLAP_PCT = 90 /* the share of required overlaps from which clocks are trusted */ };

static inline bool tm_skew_is_believed(const struct overlap *o)
{
    return o->overlapping * 100 >= o->checked * SKEW_OVERLAP_PCT;
}

/* Put all hosts on the clock of one.  source: docs/metrics.md, "Clocks of hosts"
 * in:     hosts  as in *it, zeroed */
void tm_skew_align(struct instances *it, struct host_alignment *hosts, struct clock_check *check);

/* --- the path through collectives of several hosts --- */

/* What is left out in a replay of the matched collectives. */
enum { SKEW_WITHOUT_STRAGGLERS, SKEW_WITHOUT_IMBALANCE, SKEW_REPLAYS };

/* A device on the common clock. */
struct skew_path_member {
    int64_t end_ps;                 /* of its previous collective; INT64_MIN = it has had none */
    int64_t load_ps;                /* between its collectives */
    int64_t shift_ps[SKEW_REPLAYS]; /* replayed minus recorded time; at most 0 */
    int64_t path_ps;                /* of its work on the path */
};

/* Collectives that all of their devices must be in at once, in the order in which their last devices arrived.
 * source: docs/metrics.md, "Path across hosts" */
struct skew_path {
    struct tm_sorter *meetings; /* struct meeting */
    struct skew_path_member *members;
    int64_t begin_ps, end_ps; /* the earliest start, the latest end */
    int64_t move_ps;          /* on the path, from the arrival of the last device on */
    int64_t
        saved_ps[SKEW_REPLAYS]; /* device time: what the last collective of each host ends earlier, times its devices */
    uint64_t count, on_path;    /* collectives */
    uint64_t switches, host_switches;
    bool is_known;
};

/* --- figures: skew.c --- */

/* What a device did in the collectives that were matched. */
struct member_sums {
    uint64_t count, last_count;
    int64_t late_ps, late_max_ps; /* own start minus the earliest */
    int64_t wait_ps;              /* last start minus own */
    int64_t caused_ps;            /* its part of the others' wait while it had not arrived; adds up to wait_ps of all */
    int64_t alone_ps;             /* where it arrived last: the wait that the others would save had it arrived together
                                   * with the previous one */
};

struct skew_sums {
    struct clock_check clock;
    struct overlap overlap;       /* of all that were put together */
    struct member_sums *members;  /* by member */
    struct host_alignment *hosts; /* by host; zeros if they do not share a clock */
    struct tm_sorter *lengths;    /* int64_t, the skew of each */
    struct tm_sorter *rows;       /* struct matched, in the order (member, serial) */
    struct tm_top_rows *worst;    /* struct late_row */
    struct skew_path path;
    uint64_t matched, unmatched;
    uint64_t incomplete; /* of the matched: with members that are not in the profile */
    int64_t late_ps, wait_ps, max_ps;
};

/* owns:   the caller owns what is in *sums, also after a failure: tm_skew_free_sums */
void tm_skew_add_up(struct skew *k, struct matches *m, struct skew_sums *sums);
void tm_skew_free_sums(struct skew *k, struct skew_sums *sums);

/* --- the stage's calls; failures are in run->error --- */
void tm_skew_open(struct skew *k, struct tm_run *run, const struct tm_settings *settings);
void tm_skew_begin_host(struct skew *k, const struct tm_trace *trace);
/* A collective, chosen or not.  row, serial: as in struct arrival */
void tm_skew_take_arrival(struct skew *k, const struct tm_event *event, struct tm_key row, uint64_t serial);
void tm_skew_close(struct skew *k);
/* Why none of the analyzed collectives was matched. */
const char *tm_skew_why_not_matched(const struct skew *k, const struct skew_sums *sums);
/* in: names  of the hosts */
void tm_skew_report(struct skew *k, struct matches *m, struct skew_sums *sums, const struct tm_value *names,
                    struct tm_value *section);
void tm_skew_save(struct skew *k, struct tm_partial_writer *w);
/* Its devices are bound to the reader then, for what refers to them. */
void tm_skew_load(struct skew *k, struct tm_partial_reader *r);

#endif
