/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_TIME_H
#define TM_DEVICE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/record.h"
#include "pipeline/stage.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/critical_path.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* The usual duration of calls of one name, on the threads that may explain why a device was idle, to detect one that
 * takes many times as long. source: docs/metrics.md, "Idle gaps", stalled calls */

/* For all events of one name that only show that the host is busy (tm_is_work), over all recorded time of a host. */
struct tm_call_lengths_row {
    struct tm_key key; /* hash of the name */
    uint64_t count, long_count;
    int64_t short_ps; /* of those that are not long, together */
};

struct tm_call_lengths;

struct tm_call_lengths *tm_call_lengths_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_call_lengths_free(struct tm_call_lengths *lengths);
/* The lengths of calls that work.  in: wanted  bit of struct tm_event.wanted: events without it are ignored */
void tm_call_lengths_take(struct tm_call_lengths *lengths, const struct tm_event *events, size_t count,
                          uint32_t wanted);

/* Where the devices' time went: busy by kind, idle by cause, gaps, steps.  Writes the sections window, steps,
 * devices, unused, total, gaps, host and balance.  source: docs/metrics.md */
extern const struct tm_stage_type tm_device_time_stage;

enum { TM_BUSY_BINS_MOST = 240 };

/* How busy a device is over its recorded time, cut at the multiples of a round width: 1, 2 or 5 times a power of ten.
 * The first bin starts at start_ps, the last one ends at end_ps, so both may be shorter than the others.
 * source: docs/metrics.md, "Device time", utilization over time */
struct tm_busy_bins {
    int64_t start_ps, end_ps, bin_ps;
    uint32_t count;
    int64_t busy_ps[TM_BUSY_BINS_MOST];
    uint32_t last;                      /* the bin that something was added to last */
    int64_t last_begin_ps, last_end_ps; /* both 0 = none */
};

/* Empty bins of the smallest round width that gives few enough.
 * in:     start_ps, end_ps  nothing between them: no bins */
void tm_busy_bins_init(struct tm_busy_bins *bins, int64_t start_ps, int64_t end_ps);

/* The bin that contains a moment; one must.  out: *end_ps  its end */
uint32_t tm_busy_bins_find(struct tm_busy_bins *bins, int64_t at_ps, int64_t *end_ps);

/* Distribute [begin, end) over the bins that it overlaps; the part outside of them is ignored.  With sign -1 it is
 * subtracted again. */
void tm_busy_bins_add(struct tm_busy_bins *bins, int64_t start_ps, int64_t end_ps, int sign);

/* Merge them until there are at most this many: into the next round widths. in: most  at least 1; 3 can be reached */
void tm_busy_bins_merge(struct tm_busy_bins *bins, uint32_t most);

/* The sweep over one device's activities in the order of their starts: at every instant the lowest level that runs
 * takes the time.  Of each level only the time until which it is covered matters, so the state has a fixed size
 * however many activities overlap.  source: docs/metrics.md, "Device time" */
struct tm_sweep {
    int64_t at_ps; /* everything before has been reported */
    int64_t covered_ps[TM_LEVEL_COUNT];
    int64_t until_ps; /* the latest of these */
    bool has_begun;
};

/* Called for every stretch [begin, end) in order, with its level; TM_LEVEL_NONE if nothing runs. */
typedef tm_status tm_sweep_told(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps);

static inline enum tm_level tm_sweep_running(const struct tm_sweep *sweep)
{
    if (sweep->until_ps <= sweep->at_ps)
        return TM_LEVEL_NONE;
    for (int level = 0; level < TM_LEVEL_COUNT; level++)
        if (sweep->covered_ps[level] > sweep->at_ps)
            return (enum tm_level)level;
    return TM_LEVEL_NONE;
}

/* Bring the sweep up to a time.  Nothing is reported before the first activity. */
static inline tm_status tm_sweep_to(struct tm_sweep *sweep, int64_t to_ps, tm_sweep_told *told, void *to)
{
    if (!sweep->has_begun)
        return TM_OK;
    while (sweep->at_ps < to_ps) {
        const enum tm_level level = tm_sweep_running(sweep);
        const int64_t start_ps = sweep->at_ps;
        tm_status st;

        sweep->at_ps = to_ps;
        if (level != TM_LEVEL_NONE && sweep->covered_ps[level] < to_ps)
            sweep->at_ps = sweep->covered_ps[level];
        st = told(to, level, start_ps, sweep->at_ps);
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

/* Before the first activity. */
static inline void tm_sweep_begin(struct tm_sweep *sweep, int64_t start_ps)
{
    *sweep = (struct tm_sweep){ .at_ps = start_ps, .until_ps = start_ps, .has_begun = true };
    for (int i = 0; i < TM_LEVEL_COUNT; i++)
        sweep->covered_ps[i] = start_ps;
}

/* The same without notifying anyone. */
static inline void tm_sweep_pass(struct tm_sweep *sweep, int64_t to_ps)
{
    if (sweep->has_begun && to_ps > sweep->at_ps)
        sweep->at_ps = to_ps;
}

/* Add an activity, after tm_sweep_to(start).  One without length changes nothing. */
static inline void tm_sweep_add(struct tm_sweep *sweep, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    if (!sweep->has_begun)
        tm_sweep_begin(sweep, start_ps);
    if (end_ps > sweep->covered_ps[level])
        sweep->covered_ps[level] = end_ps;
    if (end_ps > sweep->until_ps)
        sweep->until_ps = end_ps;
}

/* Until when something runs. */
static inline int64_t tm_sweep_busy_until(const struct tm_sweep *sweep)
{
    return sweep->until_ps > sweep->at_ps ? sweep->until_ps : sweep->at_ps;
}

/* Gaps shorter than that are pauses between one piece of launched work and the next; 10 us. */
#define PAUSE_BELOW_PS INT64_C(10000000)
/* From there on up to 1 ms the host needs that long for the next operation or two. */
#define SHORT_BELOW_PS INT64_C(1000000000)

enum { LANE_GAPS = 20, RUN_GAPS = 50, HISTOGRAM_ROWS = 64, LISTED_STEPS = 1000 };

/* The parts of a period of device time, which add up to it. */
struct time_parts {
    int64_t compute_ps, exposed_collective_ps;
    int64_t exposed_copy_ps[TM_DIRECTION_COUNT];
    int64_t idle_ps[TM_CAUSE_COUNT];
};

/* A union of intervals that come in the order of their starts. */
struct cover {
    int64_t until_ps, total_ps;
    bool has_begun;
};

struct sum {
    uint64_t count, bytes;
    int64_t total_ps, min_ps, max_ps;
};

/* A step of a lane that takes time: the one at `ordinal` or the next one after it. */
struct period {
    uint64_t ordinal;
    int64_t start_ps, end_ps;
    bool exists;
};

/* A gap that is kept until everything that starts at its end has been seen. */
struct open_gap {
    bool is_open;
    int64_t start_ps, end_ps;
    struct period period; /* the one in which it starts, or the first one after that */
    bool is_inside_run;   /* CPU: the same execution continues after it */
    bool has_launch;      /* else the following members are invalid */
    int64_t launch_start_ps, launch_dur_ps;
    uint32_t launch_thread;
    tm_strid before, after;
};

/* Which thread's event names a gap.  The order is that of the partial. */
enum told_by {
    TOLD_BY_NOBODY,
    TOLD_BY_LAUNCHING,
    TOLD_BY_MAIN,       /* the launching thread is another one, which recorded too little */
    TOLD_BY_MAIN_ALONE, /* it is unknown which thread launched */
    TOLD_BY_COUNT
};

/* One of the longest gaps. */
struct listed_gap {
    int64_t start_ps, dur_ps;
    uint64_t step;       /* ordinal; TM_NONE = in no step */
    int64_t step_number; /* as its marker says */
    uint32_t lane;
    tm_strid before, after, host_event;
    uint8_t cause;  /* enum tm_cause */
    uint8_t thread; /* enum told_by: that host_event is of */
    int64_t parts[TM_CAUSE_COUNT];
    int64_t launch_ps, launch_dur_ps; /* the call that launched what ends it; INT64_MIN = not known */
    uint64_t calls, long_calls;       /* events of the name of host_event; 0 = none */
    int64_t short_calls_ps;           /* of those that are not long */
};

struct short_gap {
    int64_t start_ps, dur_ps;
};

/* A period in which a lane's steps, its window, and its utilization bin do not change: busy time is accumulated here
 * and added to all of them when the sweep leaves the period.  A span of device time thus costs a comparison and an
 * addition. */
struct cell {
    int64_t start_ps, end_ps; /* equal = none */
    int64_t busy_ps[TM_LEVEL_COUNT];
    uint64_t ordinal; /* of the step; TM_NONE = in none */
    bool is_in_window;
    uint32_t bin; /* TM_NONE = in none */
};

/* Causes of plain gaps in one step, inside the window. */
struct step_gaps {
    uint64_t ordinal;
    int64_t idle_ps[TM_CAUSE_COUNT];
    bool has_any;
};

/* One device of the run. */
struct lane {
    struct tm_device device;
    uint32_t host, group; /* group: row of device_time.groups */
    struct tm_sweep sweep;
    int64_t from_ps, until_ps; /* its steps and its window are in here */
    int64_t start_ps, end_ps;  /* its window; equal = no activity in the analyzed steps */
    int64_t lead_ps, trail_ps; /* idle time in the window before the first and after the last activity */
    struct time_parts parts;   /* of the window */
    int64_t path_ps;           /* of the critical paths of the analyzed steps, its activities */
    struct cover compute, collective, copy;
    struct cover wait, wait_copy, wait_collective, wait_host, flight, flight_or_compute;
    struct sum kernels, collectives, copies, memsets, graphs, activities;
    struct sum waits[3], starts[2], flights[2]; /* TPU: copy, collective, host */
    bool has_flights;                           /* transfers in flight are recorded, analyzed or not */
    struct cell cell;
    struct open_gap gap;
    struct step_gaps step_gaps;
    tm_strid last_name; /* of the activity that ends last */
    uint64_t last_run;  /* CPU: the execution it belongs to */
    uint32_t last_step; /* its step */
    int64_t last_end_ps;
    uint64_t gap_count, gap_count_min;
    int64_t gap_total_ps;
    uint64_t cause_counts[TM_CAUSE_COUNT];
    int64_t main_ps[TM_CAUSE_COUNT]; /* of parts.idle_ps, the part from the main thread instead of the launching one */
    struct short_gap longest[LANE_GAPS];
    uint32_t longest_count;
    uint64_t first_step_row, first_parts_row;
    struct period period;      /* the one that the sweep is in, or the next one */
    uint64_t device_steps_end; /* of its rows in device_time.device_steps */
    /* over its host's recorded time, analyzed or not */
    struct tm_busy_bins bins; /* busy time without waits */
    int64_t waited_until_ps;  /* waits up to there are taken out of the bins */
};

/* One step of one group of devices, for the list and the statistics. */
struct step_line {
    int64_t number, start_ps, host_span_ps, device_span_ps, period_ps;
    int64_t end_ps;      /* of the period: E(n) */
    uint64_t ordinal;    /* of the host's steps */
    uint32_t host, lane; /* lane: the busiest one of the group in it; TM_NONE = no activity */
    uint8_t has_host_span, has_compile, warmup, complete, chosen, has_activity;
    uint8_t is_cut;          /* the profile started after it did: no sample if there are three or more */
    struct time_parts parts; /* of that lane */
};

/* A step of a device as the summary lists it. */
struct device_step {
    uint64_t activities;
    int64_t first_ps, last_ps, period_ps, busy_ps;
};

struct host_facts {
    char name[128];
    bool is_json_copy;
};

/* Devices of a host that are active at the same time; a host without one has a group without a window. */
struct group_facts {
    uint32_t host, devices;   /* devices: that have a window */
    uint32_t first_lane;      /* while its host is read; TM_NONE = the host has no device */
    int64_t start_ps, end_ps; /* the window; equal = none */
    int64_t steps_ps;         /* of the analyzed steps: they add up to the window where it is theirs */
};

struct device_time {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct lane *lanes;
    uint32_t lane_count, lane_most, first_lane; /* first_lane: of the current host */
    uint32_t lane_by_device[TM_DEVICES_MOST];   /* of the current host */
    uint32_t closings;                          /* that are left until the next horizon */
    struct tm_host_threads *threads;
    struct tm_call_lengths *lengths;
    struct tm_critical_path *path;
    bool has_device_turn; /* the last events were those of a device */
    int64_t host_ps;      /* start of the last host event */
    struct host_facts *hosts;
    uint32_t host_count;
    struct group_facts *groups;
    uint32_t group_count, group_most, first_group; /* first_group: of the current host */
    /* rows of the current host */
    struct tm_rows *parts; /* struct time_parts, by lane and step */
    /* of the run */
    struct tm_rows *steps;        /* struct step_line */
    struct tm_rows *device_steps; /* struct device_step, per lane at most LISTED_STEPS */
    struct listed_gap longest[RUN_GAPS];
    uint32_t longest_count;
    struct sum histogram[HISTOGRAM_ROWS];
    struct sum pauses;                     /* device_wait in gaps under PAUSE_BELOW_PS */
    struct sum short_gaps[TM_CAUSE_COUNT]; /* from there on, under SHORT_BELOW_PS: those of that cause, and its time */
    /* what the steps were */
    enum tm_step_source source;
    bool all, session;
    tm_strid module;
};

static inline int64_t idle_of(const struct time_parts *parts)
{
    int64_t sum = 0;

    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        sum = tm_sum_times(sum, parts->idle_ps[i]);
    return sum;
}

static inline int64_t exposed_copy_of(const struct time_parts *parts)
{
    int64_t sum = 0;

    for (int i = 0; i < TM_DIRECTION_COUNT; i++)
        sum = tm_sum_times(sum, parts->exposed_copy_ps[i]);
    return sum;
}

static inline int64_t busy_of(const struct time_parts *parts)
{
    return tm_sum_times(tm_sum_times(parts->compute_ps, parts->exposed_collective_ps), exposed_copy_of(parts));
}

/* Parts of one more device. */
static inline void add_all_parts(struct time_parts *to, const struct time_parts *more)
{
    to->compute_ps = tm_sum_times(to->compute_ps, more->compute_ps);
    to->exposed_collective_ps = tm_sum_times(to->exposed_collective_ps, more->exposed_collective_ps);
    for (int i = 0; i < TM_DIRECTION_COUNT; i++)
        to->exposed_copy_ps[i] = tm_sum_times(to->exposed_copy_ps[i], more->exposed_copy_ps[i]);
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        to->idle_ps[i] = tm_sum_times(to->idle_ps[i], more->idle_ps[i]);
}

static inline bool has_window(const struct lane *lane)
{
    return lane->end_ps > lane->start_ps;
}

/* device_time.c: the period at `ordinal` of a lane of the current host, or the next one that takes time */
void tm_find_period(struct device_time *d, const struct lane *lane, struct period *period);

/* idle_gaps.c */
void tm_idle_gaps_close(struct device_time *d, struct lane *lane);
void tm_idle_gaps_settle(struct device_time *d, struct lane *lane); /* adds the accumulated values to the steps */
void tm_idle_gaps_list(struct device_time *d, const struct listed_gap *gap); /* among the longest ones of the run */

void tm_device_time_measure_calls(struct device_time *d); /* of the gaps of the current host, which ends */

/* device_time.c */
struct lane *tm_new_lane(struct device_time *d);                     /* zeroed; NULL: error in run->error */
struct host_facts *tm_device_time_new_host(struct device_time *d);   /* the same */
struct group_facts *tm_device_time_new_group(struct device_time *d); /* the same */

/* device_time_tables.c */
tm_status tm_device_time_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_device_time_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

/* device_time_report.c, steps.c, idle_gaps.c */
void tm_device_time_report_devices(struct device_time *d, struct tm_value *summary);
tm_status tm_device_time_report_steps(struct device_time *d, const struct lane *lane, struct tm_value *device);
tm_status tm_steps_report(struct device_time *d, struct tm_value *summary);
/* The rest of the section steps, and window.job: after the section collectives, which says whether clocks agree. */
tm_status tm_steps_report_times(struct device_time *d, struct tm_value *summary);
void tm_idle_gaps_report(struct device_time *d, struct tm_value *summary);
void tm_add_directions(struct tm_value *to, const char *key, const int64_t copy_ps[TM_DIRECTION_COUNT]);

#endif
