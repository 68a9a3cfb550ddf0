/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STAGE_H
#define TM_STAGE_H

#include "pipeline/arguments.h"
#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/lengths.h"
#include "pipeline/trace.h"

/* One ordered event with everything that is known about it.  Borrowed: valid until take() returns. */
struct tm_event {
    struct tm_record record;        /* class decided */
    const void *args;               /* record.args_length bytes */
    struct tm_arguments own;        /* where the trace keeps arguments */
    const struct tm_config *config; /* never NULL: row 0 is empty */
    uint32_t traits;                /* of the name */
    uint32_t device;                /* of an activity (also cpu_op); TM_NONE elsewhere */
    uint32_t step;                  /* ordinal of the step it belongs to; TM_NONE = none */
    uint8_t level;                  /* enum tm_level; TM_LEVEL_NONE = not an activity */
    uint8_t direction;              /* enum tm_direction of a copy */
    bool chosen;                    /* belongs to an analyzed step */
    uint32_t thread;                /* of a host event: struct tm_track.thread */
    uint32_t wanted;                /* struct tm_stage.bit of the interested stages */
    uint64_t site;          /* the same number is the same name, traits, config, device, class, level, direction,
                                          kind and flags (pipeline/front.h); never 0 */
    uint64_t launch;        /* number of the launch among the host's, from 1 to trace.launch_numbers; two
                                          events of one launch have the same.  0 = none known */
    uint32_t launch_track;  /* TM_NONE = no launch known */
    uint32_t launch_thread; /* struct tm_track.thread of it */
    int64_t launch_start_ps, launch_dur_ps;
};

/* Classes of events, as bits. */
#define TM_CLASS_BIT(class) (UINT32_C(1) << (class))
static_assert(TM_CLASS_COUNT < 32, "a bit for each class");
#define TM_CLASSES_ALL (TM_CLASS_BIT(TM_CLASS_COUNT) - 1)
/* That may have a level, a device and a step: all others are never analyzed. */
#define TM_CLASSES_ACTIVITY                                                                                            \
    (TM_CLASS_BIT(TM_CLASS_KERNEL) | TM_CLASS_BIT(TM_CLASS_COLLECTIVE) | TM_CLASS_BIT(TM_CLASS_COPY) |                 \
     TM_CLASS_BIT(TM_CLASS_MEMSET) | TM_CLASS_BIT(TM_CLASS_GRAPH) | TM_CLASS_BIT(TM_CLASS_TPU_OP) |                    \
     TM_CLASS_BIT(TM_CLASS_CPU_OP))
/* On no device: thread events and their data. */
#define TM_CLASSES_HOST                                                                                                \
    ((TM_CLASSES_ALL & ~(TM_CLASSES_ACTIVITY | TM_CLASS_BIT(TM_CLASS_TPU_ASYNC))) | TM_CLASS_BIT(TM_CLASS_CPU_OP))

struct tm_stage; /* one opened instance */
struct tm_feed;  /* stages/figures/feed.h */

/* The totals of the events of one call site; separate for analyzed steps and the others (event.chosen). Members
 * after `without_length` cover chosen events only. */
struct tm_site_sums {
    uint64_t count;
    int64_t total_ps;
    uint64_t without_length; /* of these, the ones with length 0 */
    int64_t min_ps, max_ps;  /* of a length */
    struct tm_wide squares;  /* sum of squared lengths */
    int64_t first_ps;        /* start of the first one */
    int64_t first_dur_ps;    /* its length */
    uint64_t first_order;    /* its place in the stream of its host */
    uint64_t continued;      /* tm_feed_continue */
    int64_t self_ps;         /* for take_self: without what is in them */
    struct tm_wide self_squares;
};

/* A stage at the end of the pipeline: receives the events of one host after the other, each host's events in the order
 * of tm_order, and then adds its section to the summary.  A const record and zeroed state, no globals.  Calls come in
 * this order; after a failure only close is called:
 *     open (begin_host (take | take_site | take_self)* end_host | load)* save? report conclude? close
 * The state between two hosts must be a pure merge of the state of each host: loading a saved state from another
 * process is then equivalent to reading the hosts here. */
struct tm_stage_type {
    const char *name;    /* as in --stats: "gaps" */
    const char *summary; /* one clause, no full stop */
    size_t state_bytes;
    uint32_t classes; /* the classes of events that it needs: 1 << enum tm_class */
    tm_status (*open)(struct tm_stage *s);
    tm_status (*begin_host)(struct tm_stage *s, const struct tm_trace *trace);
    /* Whether take is to get the events of a call site, which are chosen or are not.  NULL = all of its classes */
    bool (*wants)(struct tm_stage *s, const struct tm_event *event);
    /* Events in time order, all of one device or all of none: what depends on that order.  Only those for which
     * tm_wants is true count.  NULL = nothing does */
    void (*take)(struct tm_stage *s, const struct tm_event *events, size_t count);
    /* The totals of the events of a call site, once there are many or their host ends; the event provides only the
     * properties that all of them share (not times, arguments, launch, step, or track).  Unordered, and a site may
     * occur several times, each time with other events.  NULL = the stage does more than count */
    void (*take_site)(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums);
    /* The same with self times, of chosen activities: where they are nested (the lines of TPUs, the threads of
     * CPUs) of operations that have ended. */
    void (*take_self)(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums);
    /* Where the lengths of a site's chosen events are kept for exact quantiles, and as what group; NULL = nowhere. */
    struct tm_lengths *(*lengths)(struct tm_stage *s, const struct tm_event *event, uint64_t *group);
    tm_status (*end_host)(struct tm_stage *s);
    tm_status (*report)(struct tm_stage *s, struct tm_value *summary); /* adds its section */
    /* When all stages have reported: adds what depends on their sections.  NULL = nothing does */
    tm_status (*conclude)(struct tm_stage *s, struct tm_value *summary);
    /* Write and read the state, inside an open section; save does not change the report. */
    tm_status (*save)(struct tm_stage *s, struct tm_partial_writer *w);
    tm_status (*load)(struct tm_stage *s, struct tm_partial_reader *r);
    void (*close)(struct tm_stage *s); /* always, even after a failed open */
};

/* A period in which a device was idle. */
struct tm_idle_gap {
    uint32_t host, device; /* number of the host in the run; index into its trace's devices */
    int64_t start_ps, end_ps;
    uint32_t step;                 /* the step in whose period it ends; TM_NONE = none */
    tm_strid before, after;        /* activities; 0 = none */
    tm_strid host_event;           /* what the host did; 0 = nothing that is known */
    uint32_t cause;                /* the largest part: "input", "compile" ..., by its number in part_names */
    uint32_t launch;               /* the number of the launch of what follows */
    int64_t launch_ps;             /* from there to the end its cause is that launch; end_ps = from nowhere */
    const int64_t *parts;          /* of its time, by cause; borrowed */
    const char *const *part_names; /* of the causes */
    uint32_t part_count;
};
typedef tm_status tm_take_gap(void *to, const struct tm_idle_gap *gap);

/* A collective of a device, matched with those of the other devices that it ran with. */
struct tm_matched_collective {
    uint64_t number;       /* the same for all devices of one; never 0 */
    uint32_t host, device; /* as in struct tm_idle_gap */
    int64_t start_ps, end_ps;
    int64_t last_ps;  /* when the last device arrived, in the time of this one's host */
    tm_strid group;   /* its ranks, else the name of its group; 0 = not recorded */
    uint32_t devices; /* that were matched */
    bool is_last;     /* this device arrived last */
    bool is_start;    /* of an asynchronous one: its end is not known here */
};
typedef tm_status tm_take_matched(void *to, const struct tm_matched_collective *matched);

/* An observer of the analysis of hosts.  Calls come in this order, none after a failure:
 *     (begin_host (take | take_gap)* end_host)* take_matched*
 * Events arrive in the order of tm_order_by_device: those of a device, and those of the host, each in time order.
 * Gaps arrive some time after the events around them. */
struct tm_observer_type {
    tm_status (*begin_host)(void *to, const struct tm_trace *trace); /* surveyed; stays until end_host returns */
    tm_status (*take)(void *to, const struct tm_event *event);       /* as stages get it */
    tm_take_gap *take_gap;
    tm_status (*end_host)(void *to);
    tm_take_matched *take_matched; /* NULL = not wanted */
};

#define TM_ROWS_USUAL 500

/* Command line settings for stages, and the observer of gaps of at least gap_min_ps. */
struct tm_settings {
    int64_t gap_min_ps;  /* shown gaps; default 10 us */
    uint64_t table_rows; /* cap of tables; TM_ROWS_USUAL by default */
    bool session_window; /* --window session: shares refer to the whole profiling session */
    bool findings_only;  /* only the findings of the summary and what they depend on are used: no quantiles of kernels.
                            * Replays of the critical path limit findings */
    tm_take_gap *take_gap; /* NULL = none */
    void *gap_taker;
    tm_take_matched *take_matched; /* NULL = none */
    void *matched_taker;
};

struct tm_stage {
    const struct tm_stage_type *type;
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_feed *feed; /* that calls it */
    uint32_t bit;         /* of struct tm_event.wanted */
    void *state;
};

static inline bool tm_wants(const struct tm_stage *s, const struct tm_event *event)
{
    return (event->wanted & s->bit) != 0;
}

#endif
