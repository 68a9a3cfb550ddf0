/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RESOLVER_H
#define TM_RESOLVER_H

#include "pipeline/front.h"
#include "pipeline/source.h"
#include "pipeline/stage.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "pipeline/trace.h"
#include "stages/resolve/classes.h"

/* Spans of time on lanes (a device, a thread), looked up by time: step markers, executions of programs.
 * Added in any order, then finished, then only read.  Spills. */
struct tm_span {
    uint64_t lane;
    int64_t start_ps, end_ps;
    uint64_t value;   /* the caller's */
    uint64_t ordinal; /* position on its lane, in time order; set by finish */
};

struct tm_spans;

struct tm_spans *tm_spans_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_spans_free(struct tm_spans *spans);
/* Failures of all that follows are remembered in run->error, and what is looked up after one is not found. */
void tm_spans_add(struct tm_spans *spans, const struct tm_span *span);
/* No more spans.  A span that is inside the one before it on its lane is dropped. */
void tm_spans_finish(struct tm_spans *spans);

uint64_t tm_spans_count(const struct tm_spans *spans);
/* The i-th in the order (lane, begin), as tm_rows_at gives it. */
const struct tm_span *tm_spans_at(struct tm_spans *spans, uint64_t index) TM_MUST_USE;
/* The largest number of spans of one lane. */
uint64_t tm_spans_longest_lane(const struct tm_spans *spans);

/* The span of a lane that contains `at_ps`: the last one that starts at or before it, if it has not ended.  NULL if
 * there is none; valid until the next call. */
const struct tm_span *tm_spans_find(struct tm_spans *spans, uint64_t lane, int64_t at_ps);
/* The range of times in which a lookup on the lane returns the span that was found last on it. */
void tm_spans_found(const struct tm_spans *spans, uint64_t lane, int64_t *from_ps, int64_t *until_ps);

/* Host calls that may have launched device work, by their key: added once, then only read.  They are requested by
 * every activity, in the order of the devices: so they are kept small, and without a table beside them where keys are
 * near each other. */

/* A host call that may have launched device work, by correlation id or tm_run_key. */
struct tm_launch {
    uint64_t key;
    int64_t start_ps, dur_ps;
    uint32_t track, thread; /* a thread other than TM_NONE is that of one track alone */
    uint8_t is_named;       /* its name shows that it launches */
    uint8_t is_uncertain;   /* only determined by a device activity of the same id */
    uint8_t direction;      /* enum tm_direction in its name */
};

/* What is kept of one.  `rest`, from the lowest bit on: is_there, is_named, is_uncertain, is_wide, 3 of direction, 1
 * unused, 12 of thread, 44 of dur_ps.  Of a wide one, whose duration or thread does not fit, the duration's bits are
 * the number of a row of tm_launches.wide. */
struct tm_short_launch {
    int64_t start_ps;
    uint64_t rest; /* 0 = there is none */
};

enum {
    TM_LAUNCH_THERE = 1,
    TM_LAUNCH_NAMED = 2,
    TM_LAUNCH_UNCERTAIN = 4,
    TM_LAUNCH_WIDE = 8,
    TM_LAUNCH_DIRECTION_SHIFT = 4,
    TM_LAUNCH_DIRECTION_MASK = 7,
    TM_LAUNCH_THREAD_SHIFT = 8,
    TM_LAUNCH_THREAD_MASK = TM_THREADS_MOST - 1,
    TM_LAUNCH_DUR_SHIFT = 20,
};

/* Dense as long as keys are: the launch of a key is at key - least_key, modulo 2^64.  Once they are too far apart, or
 * the memory is used up, all of them are in `sparse`, and are sorted.  If keys turn out to be dense then, which they
 * are if only the memory was used up, they become dense again, in pages that spill: `rows` is one of the pages. */
struct tm_launches {
    struct tm_run *run;
    size_t memory_bytes;          /* total memory, besides the pool's */
    struct tm_short_launch *rows; /* `capacity` of them; `used` = one more than the index of the last one */
    uint64_t least_key;           /* of `rows` */
    uint64_t first_key, last_key; /* of all, the last one only while they are in `sparse` */
    size_t capacity, used, count; /* count: of different keys; of those in `sparse` with duplicates */
    size_t drawn_bytes;
    struct tm_index *sparse;          /* struct tm_sparse_launch; NULL while dense */
    struct tm_rows *pages;            /* struct tm_short_launch from first_key on; NULL = all are in `rows` */
    struct tm_rows *wide;             /* struct tm_wide_launch; NULL before the first */
    uint32_t tracks[TM_THREADS_MOST]; /* by thread */
};

/* in:     memory_bytes  its guaranteed share of TM_ACCOUNT_LAUNCHES
 * owns:   tm_launches_free releases it (NULL allowed) */
struct tm_launches *tm_launches_new(struct tm_run *run, size_t memory_bytes) TM_MUST_USE;
void tm_launches_free(struct tm_launches *launches);

/* If two have the same key, the one whose name says that it launches is kept, then the earlier one, then the first. */
void tm_launches_put(struct tm_launches *launches, const struct tm_launch *launch);
/* The same, inline for what is nearly always the case: it is the first one of its key, and there is room for it. */
static inline void tm_launches_put_first(struct tm_launches *launches, const struct tm_launch *launch);
/* No more launches.  Then lookups are allowed. */
void tm_launches_finish(struct tm_launches *launches);
uint64_t tm_launches_most_number(const struct tm_launches *launches); /* after finish: none has a larger one */

/* Parts of tm_launches_find.  turn: bring the page of a key into `rows`; false: there is none */
bool tm_launches_turn(struct tm_launches *launches, uint64_t key);
uint64_t tm_launches_find_sparse(struct tm_launches *launches, uint64_t key, struct tm_launch *launch);
void tm_launches_widen(struct tm_launches *launches, struct tm_launch *launch);

static inline void tm_launches_unpack(struct tm_launches *launches, uint64_t key, struct tm_short_launch row,
                                      struct tm_launch *launch)
{
    const uint32_t thread = row.rest >> TM_LAUNCH_THREAD_SHIFT & TM_LAUNCH_THREAD_MASK;

    launch->key = key;
    launch->start_ps = row.start_ps;
    launch->dur_ps = (int64_t)(row.rest >> TM_LAUNCH_DUR_SHIFT);
    launch->track = launches->tracks[thread];
    launch->thread = thread;
    launch->is_named = (row.rest & TM_LAUNCH_NAMED) != 0;
    launch->is_uncertain = (row.rest & TM_LAUNCH_UNCERTAIN) != 0;
    launch->direction = row.rest >> TM_LAUNCH_DIRECTION_SHIFT & TM_LAUNCH_DIRECTION_MASK;
    if (row.rest & TM_LAUNCH_WIDE)
        tm_launches_widen(launches, launch);
}

/* `rest` of a launch, wide or not, without its thread and duration. */
static inline uint64_t tm_launch_marks(const struct tm_launch *launch)
{
    return TM_LAUNCH_THERE | (launch->is_named ? TM_LAUNCH_NAMED : 0) |
           (launch->is_uncertain ? TM_LAUNCH_UNCERTAIN : 0) | (uint64_t)launch->direction << TM_LAUNCH_DIRECTION_SHIFT;
}

static inline bool tm_launch_is_short(const struct tm_launch *launch)
{
    return (uint64_t)launch->dur_ps >> (64 - TM_LAUNCH_DUR_SHIFT) == 0 && launch->thread < TM_THREADS_MOST;
}

static inline void tm_launches_put_first(struct tm_launches *launches, const struct tm_launch *launch)
{
    const uint64_t at = launch->key - launches->least_key;

    if (at >= launches->capacity || launches->rows[at].rest || !tm_launch_is_short(launch)) {
        tm_launches_put(launches, launch);
        return;
    }
    launches->tracks[launch->thread] = launch->track;
    launches->rows[at] = (struct tm_short_launch){
        .start_ps = launch->start_ps,
        .rest = tm_launch_marks(launch) | (uint64_t)launch->thread << TM_LAUNCH_THREAD_SHIFT |
                (uint64_t)launch->dur_ps << TM_LAUNCH_DUR_SHIFT,
    };
    launches->count++;
    launches->used = at < launches->used ? launches->used : at + 1;
}

/* What is kept of a launch while they are dense, valid until the next call; NULL: there is none. */
static inline const struct tm_short_launch *tm_launches_at(struct tm_launches *launches, uint64_t key)
{
    if (key - launches->least_key >= launches->used && !(launches->pages && tm_launches_turn(launches, key)))
        return NULL;
    const struct tm_short_launch *const row = &launches->rows[key - launches->least_key];

    return row->rest ? row : NULL;
}

/* The number of the launch, from 1: the same number for the same launch; 0 if there is none.
 * out:    *launch  only if there is one */
static inline uint64_t tm_launches_find(struct tm_launches *launches, uint64_t key, struct tm_launch *launch)
{
    const struct tm_short_launch *row;

    if (launches->sparse)
        return tm_launches_find_sparse(launches, key, launch);
    row = tm_launches_at(launches, key);
    if (!row)
        return 0;
    tm_launches_unpack(launches, key, *row, launch);
    return key - launches->first_key + 1;
}

/* From a record to an event: its class, its device, the call that launched it, the step it belongs to.  Depends on
 * what the survey found: launches by correlation id, markers, executions. */

/* A key alone: a set. */
struct tm_id {
    uint64_t key;
};

/* The launch of a TPU's execution, which all ops in it share. */
struct tm_run_launch {
    uint64_t key;    /* 0 = none yet */
    uint64_t number; /* 0 = no launch */
    struct tm_launch launch;
};

/* The configs of passed events are freed: callers that keep such events must drop them. */
typedef void tm_forget_configs(void *to);

enum { TM_RUN_LAUNCHES = 16 /* a power of two */ };

struct tm_resolver {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_launches *launches;
    struct tm_index *launched;        /* struct tm_id: uncertain launches that a device activity has the id of */
    struct tm_index *expanded_graphs; /* struct tm_id: correlation ids of graphs whose kernels were recorded */
    struct tm_spans *programs;        /* TPU: executions by device; value = tm_run_key */
    struct tm_run_launch
        run_launches[TM_RUN_LAUNCHES];      /* looked up last: of devices by the lowest bits of their number */
    struct tm_spans *steps;                 /* markers or executions; the lane is by the source of the steps: host 0,
                                         TPU the device, GPU executions the launching track,
                                         and TM_NONE for executions on any track */
    struct tm_index *group_steps;           /* struct tm_group_step; source group */
    int64_t *inside_until_ps;               /* by thread: the end of the last execution or compilation that started on
                                             * it;
                                         NULL before the ordered reading */
    struct tm_sites sites;                  /* numbers of sites */
    const struct tm_signatures *signatures; /* of the records */
    struct tm_call_sites *call_sites;
    tm_forget_configs *forget; /* called before the config of an event that was given is freed; may be NULL */
    void *forget_to;
    bool knows_launches, knows_steps; /* which parts of it are complete */
    bool has_launched, has_expanded;  /* there are some in `launched` and `expanded_graphs`, which are finished */
    bool has_devices;                 /* a GPU or TPU was active: cpu_op events are not activities */
};

/* Ordinal of a viewer's group. */
struct tm_group_step {
    uint64_t key; /* group_id */
    uint64_t ordinal;
};

/* What may differ between events of the same name, line, flags and launch facts. */
struct tm_circumstances {
    bool is_inside;    /* it is inside an execution or a compilation of its thread */
    bool is_known;     /* of a host call: an activity has its id; of a graph: its kernels were recorded */
    uint8_t direction; /* enum tm_direction from the name of its launch */
};

/* What follows for the event; the same for all of a site. */
struct tm_told {
    uint8_t class, level, direction;
    bool is_activity; /* of a device: it may have a launch and a step */
    uint32_t device;
};

/* Determine an event's class and the properties that follow from it, independent of its time. */
struct tm_told tm_tell(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw,
                       const struct tm_circumstances *around);

/* Whether circumstances.is_known has to be looked up: of a call that launches, if an activity has its id; of a graph
 * as a whole. */
static inline bool tm_id_tells(const struct tm_track *track, const struct tm_raw_record *raw)
{
    const uint32_t details = TM_FLAG_KERNEL_DETAILS | TM_FLAG_COPY_DETAILS | TM_FLAG_MEMSET_DETAILS;
    const struct tm_record *r = &raw->record;

    if (r->class == TM_CLASS_GRAPH)
        return true;
    if (track->side == TM_SIDE_HOST)
        return r->flags & TM_FLAG_CORRELATION && !(raw->traits & (TM_TRAIT_LAUNCH | TM_TRAIT_SYNC));
    return !(r->flags & details) && (r->flags & TM_FLAG_GRAPH_EXEC || raw->traits & TM_TRAIT_GRAPH_NAME);
}

bool tm_is_known_id(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw);

/* Names of executions and compilations: nested unclassified events are part of the runtime. */
enum {
    TM_TRAITS_RUNTIME =
        TM_TRAIT_EXECUTE_THUNKS | TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA
};

/* What the records of one signature (struct tm_signature) resolve to.  The event is made once and changed for each
 * record: only the times, the launch and the step have to be computed, in 60 instructions instead of 450. */
struct tm_call_site {
    uint64_t number; /* of the signature; 0 = none */
    struct tm_circumstances around;
    bool is_activity; /* it has a launch and a step */
    bool has_id;      /* around.is_known has to be looked up each time, by the id of a graph or of a launch: */
    bool is_graph;
    bool may_turn;   /* a copy whose direction comes from the name of its launch */
    bool is_runtime; /* nested events are part of the runtime */
    bool is_simple;  /* none of the three before is true */
    bool is_plain;   /* simple, and an activity that is not a graph and of none */
    struct tm_event event;
    struct tm_config config; /* of the event */
};

struct tm_call_sites {
    struct tm_site_rows rows[2]; /* struct tm_call_site by number: of records outside and inside executions */
    struct tm_call_site other;   /* of the last record without a signature */
};

/* in:     signatures  of the records that will be resolved; must outlive the call sites
 * errors: of the ledger */
tm_status tm_call_sites_init(struct tm_resolver *resolver, const struct tm_signatures *signatures, size_t memory_bytes);
void tm_call_sites_release(struct tm_resolver *resolver);
/* The data they were made from has changed: tracks, or known properties. */
void tm_call_sites_forget(struct tm_resolver *resolver);

/* The call site of a signature, outside of executions; NULL: it has not been made yet. */
static inline const struct tm_call_site *tm_call_site_of(const struct tm_resolver *resolver, uint32_t signature)
{
    const struct tm_call_site *const site = tm_site_rows_place(&resolver->call_sites->rows[0], signature);

    return site->number == signature ? site : NULL;
}

/* Resolve one record.  Without `knows_launches` and `knows_steps` only class, device and level are decided.
 * in:     track  of the record
 *         raw    of one that has a signature only what tm_fill_record needs
 * returns the event, valid until the next call; NULL: the run has failed */
const struct tm_event *tm_resolve(struct tm_resolver *resolver, const struct tm_track *track,
                                  const struct tm_raw_record *raw);
/* A record that has a signature is resolved soon: its call site is fetched into the cache.  With events of 44 tracks in
 * time order, waiting for it took 7% of the time of a conversion, and this takes 2%. */
void tm_resolve_expect(const struct tm_resolver *resolver, const struct tm_track *track,
                       const struct tm_raw_record *raw);
/* The same for records from `first` on, with their launches. */
void tm_resolve_expect_many(const struct tm_resolver *resolver, const struct tm_merged *merged, uint32_t first,
                            uint32_t count);

/* Resolve records from `first` on, as long as they take no more than a look at their call sites.
 * out:    events  `count` of them at most, valid until the next call of tm_resolve
 * returns how many; the record behind them is for tm_resolve */
uint32_t tm_resolve_many(struct tm_resolver *resolver, const struct tm_merged *merged, uint32_t first, uint32_t count,
                         struct tm_event *events);

/* The device of CPU ops with an ordinal: made when it is first seen.  TM_NONE after a failure. */
uint32_t tm_cpu_device(struct tm_trace *trace, uint32_t ordinal);

#endif
