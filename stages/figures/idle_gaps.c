/* SPDX-License-Identifier: Apache-2.0 */
/* Why a device was idle: each gap's time is split by what the launching thread did.
 * source: docs/metrics.md, "Idle gaps" */
#include "stages/figures/device_time.h"

#include <string.h>

#include "pipeline/front.h"
#include "pipeline/record.h"

#define LONG_CALL_PS INT64_C(1000000000) /* 1 ms or more is long */

/* Lengths of calls by name.  Memory: rows by name, which spill. */

struct tm_call_lengths {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_groups *groups;
    struct tm_front front;
};

static void add_row(void *into, const void *from)
{
    struct tm_call_lengths_row *to = into;
    const struct tm_call_lengths_row *more = from;

    to->count = tm_sum_counts(to->count, more->count);
    to->long_count = tm_sum_counts(to->long_count, more->long_count);
    to->short_ps = tm_sum_times(to->short_ps, more->short_ps);
}

struct tm_call_lengths *tm_call_lengths_new(struct tm_run *run, struct tm_names *names)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS);
    struct tm_call_lengths *l = tm_take(&run->budget, TM_ACCOUNT_THREADS, sizeof(*l), &run->error);

    if (!l)
        return NULL;
    *l = (struct tm_call_lengths){ .run = run, .names = names };
    l->groups = tm_groups_new(run, TM_ACCOUNT_THREADS, sizeof(struct tm_call_lengths_row), share / 16, add_row);
    if (l->groups)
        tm_front_init(&l->front, run, TM_ACCOUNT_THREADS, sizeof(struct tm_call_lengths_row), share / 16, l->groups);
    if (!tm_failed(run))
        return l;
    tm_call_lengths_free(l);
    return NULL;
}

void tm_call_lengths_free(struct tm_call_lengths *l)
{
    if (!l)
        return;
    tm_front_release(&l->front);
    tm_groups_free(l->groups);
    tm_give(&l->run->budget, TM_ACCOUNT_THREADS, l, sizeof(*l));
}

static inline void take_length(struct tm_call_lengths *l, tm_strid name, int64_t dur_ps)
{
    bool is_new;
    struct tm_call_lengths_row *const row = tm_front_at(&l->front, (uint64_t)name + 1, &is_new);

    if (!row)
        return;
    if (is_new)
        row->key = tm_names_info(l->names, name).hash;
    row->count++;
    if (dur_ps >= LONG_CALL_PS)
        row->long_count++;
    else
        row->short_ps = tm_sum_times(row->short_ps, dur_ps);
}

void tm_call_lengths_take(struct tm_call_lengths *l, const struct tm_event *events, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_record *const r = &events[i].record;

        if (events[i].wanted & wanted && r->dur_ps && tm_is_work((enum tm_class)r->class))
            take_length(l, r->name, r->dur_ps);
    }
}

/* No more events. */
static void finish_lengths(struct tm_call_lengths *l)
{
    tm_front_flush(&l->front);
    tm_groups_finish(l->groups);
}

/* The next name, in the order of the keys; valid until the next call, NULL at the end. */
static const struct tm_call_lengths_row *next_length(struct tm_call_lengths *l)
{
    return tm_groups_next(l->groups);
}

/* --- gaps --- */

void tm_find_period(struct device_time *d, const struct lane *lane, struct period *period)
{
    const struct tm_steps *steps = &d->trace->steps;

    period->exists = false;
    for (; period->ordinal < steps->count; period->ordinal++) {
        const struct tm_step_row *row = tm_rows_at(steps->rows, lane->first_step_row + period->ordinal);

        if (row->end_ps > row->start_ps) {
            *period = (struct period){ period->ordinal, row->start_ps, row->end_ps, true };
            return;
        }
    }
}

/* What a stretch of idle time is attributed to. */
struct reasons {
    int64_t parts[TM_CAUSE_COUNT];
    int64_t main_ps[TM_CAUSE_COUNT]; /* of them, the part from the main thread instead of the launching one */
    tm_strid names[TM_CAUSE_COUNT];
    bool by_main[TM_CAUSE_COUNT]; /* the names */
};

/* The cause of a gap that has only one, for which no thread has to be examined; TM_CAUSE_COUNT = none such. */
static enum tm_cause sole_cause(const struct open_gap *gap)
{
    if (gap->is_inside_run)
        return TM_CAUSE_DEVICE_WAIT;
    if (!gap->has_launch || gap->launch_start_ps >= gap->start_ps)
        return TM_CAUSE_COUNT;
    return gap->launch_start_ps + gap->launch_dur_ps <= gap->start_ps ? TM_CAUSE_DEVICE_WAIT : TM_CAUSE_LAUNCH;
}

static bool is_longer(int64_t dur_a, int64_t begin_a, int64_t dur_b, int64_t begin_b)
{
    return dur_a != dur_b ? dur_a > dur_b : begin_a < begin_b;
}

/* Keep the longest ones in order: the list is short. */
static void list_of_lane(struct lane *lane, int64_t start_ps, int64_t dur_ps)
{
    uint32_t at = lane->longest_count;

    while (at && is_longer(dur_ps, start_ps, lane->longest[at - 1].dur_ps, lane->longest[at - 1].start_ps))
        at--;
    if (at == LANE_GAPS)
        return;
    if (lane->longest_count < LANE_GAPS)
        lane->longest_count++;
    for (uint32_t i = lane->longest_count - 1; i > at; i--)
        lane->longest[i] = lane->longest[i - 1];
    lane->longest[at] = (struct short_gap){ start_ps, dur_ps };
}

/* The place of a gap among the longest ones of the run, ties by device; RUN_GAPS = none. */
static uint32_t place_in_run(const struct device_time *d, const struct listed_gap *gap)
{
    uint32_t at = d->longest_count;

    for (; at; at--) {
        const struct listed_gap *const before = &d->longest[at - 1];
        const bool is_alike = gap->dur_ps == before->dur_ps && gap->start_ps == before->start_ps;

        if (is_alike ? gap->lane >= before->lane
                     : !is_longer(gap->dur_ps, gap->start_ps, before->dur_ps, before->start_ps))
            break;
    }
    return at;
}

void tm_idle_gaps_list(struct device_time *d, const struct listed_gap *gap)
{
    const uint32_t at = place_in_run(d, gap);

    if (at == RUN_GAPS)
        return;
    if (d->longest_count < RUN_GAPS)
        d->longest_count++;
    for (uint32_t i = d->longest_count - 1; i > at; i--)
        d->longest[i] = d->longest[i - 1];
    d->longest[at] = *gap;
}

static void list_of_run(struct device_time *d, const struct listed_gap *gap)
{
    struct listed_gap listed = *gap;

    if (place_in_run(d, gap) == RUN_GAPS)
        return;
    if (gap->step != TM_NONE)
        listed.step_number = ((const struct tm_step_mark *)tm_rows_at(d->trace->steps.marks, gap->step))->number;
    tm_idle_gaps_list(d, &listed);
}

static enum tm_cause largest(const int64_t parts[TM_CAUSE_COUNT])
{
    enum tm_cause best = 0;

    for (int i = 1; i < TM_CAUSE_COUNT; i++)
        if (parts[i] > parts[best])
            best = (enum tm_cause)i;
    return best;
}

static void show_gap(const struct device_time *d, const struct lane *lane, const struct listed_gap *gap)
{
    const int64_t end_ps = gap->start_ps + gap->dur_ps;
    const bool has_launch = gap->parts[TM_CAUSE_LAUNCH] && gap->launch_ps < end_ps;
    const int64_t launch_ps = !has_launch ? end_ps : gap->launch_ps > gap->start_ps ? gap->launch_ps : gap->start_ps;
    const struct tm_idle_gap shown = { .host = d->trace->host,
                                       .device = lane->device.index,
                                       .start_ps = gap->start_ps,
                                       .end_ps = end_ps,
                                       .step = (uint32_t)gap->step,
                                       .before = gap->before,
                                       .after = gap->after,
                                       .host_event = gap->host_event,
                                       .cause = gap->cause,
                                       .launch = TM_CAUSE_LAUNCH,
                                       .launch_ps = launch_ps,
                                       .parts = gap->parts,
                                       .part_names = tm_cause_name,
                                       .part_count = TM_CAUSE_COUNT };

    (void)d->settings->take_gap(d->settings->gap_taker, &shown); /* its failure is that of the run */
}

/* One that is long enough to be shown: into the histogram and the lists. */
static void list_long_gap(struct device_time *d, struct lane *lane, const struct listed_gap *gap)
{
    const int bucket = 63 - __builtin_clzll((unsigned long long)gap->dur_ps); /* of [2^bucket, 2^(bucket + 1)) */

    static_assert(HISTOGRAM_ROWS == 64, "a row for each power of two");
    lane->gap_count_min++;
    d->histogram[bucket].count++;
    d->histogram[bucket].total_ps = tm_sum_times(d->histogram[bucket].total_ps, gap->dur_ps);
    list_of_run(d, gap);
    if (d->settings->take_gap && !tm_failed(d->run))
        show_gap(d, lane, gap);
}

/* What determines the causes of a gap: one cause for all of it, or threads for the part before the launch. */
struct gap_causes {
    enum tm_cause sole;     /* TM_CAUSE_COUNT: several, as follows */
    bool asks_main;         /* the launching thread recorded too little */
    uint32_t thread;        /* the launching one; TM_NONE = not known */
    int64_t until_ps;       /* from there on it is the launch */
    struct reasons reasons; /* of the whole gap */
};

static void ask(struct device_time *d, const struct gap_causes *causes, int64_t start_ps, int64_t end_ps,
                struct reasons *reasons)
{
    int64_t any_ps[TM_CAUSE_COUNT] = { 0 };

    if (causes->asks_main)
        tm_host_threads_ask_main(d->threads, d->trace->main_thread, causes->thread, start_ps, end_ps, reasons->parts,
                                 causes->thread != TM_NONE ? reasons->main_ps : any_ps, reasons->names,
                                 reasons->by_main);
    else
        tm_host_threads_ask(d->threads, causes->thread, start_ps, end_ps, reasons->parts, reasons->names);
}

/* Look up what happened before the launch: on the launching thread, or on the main thread if the launching one recorded
 * less than half of the stretch or no launch is known. */
static void ask_thread(struct device_time *d, const struct open_gap *gap, struct gap_causes *causes)
{
    const int64_t length_ps = causes->until_ps - gap->start_ps;
    const int64_t *unrecorded_ps = &causes->reasons.parts[TM_CAUSE_UNRECORDED];

    if (gap->has_launch) {
        ask(d, causes, gap->start_ps, causes->until_ps, &causes->reasons);
        if (*unrecorded_ps <= length_ps - *unrecorded_ps || causes->thread == d->trace->main_thread)
            return;
        causes->reasons = (struct reasons){ .parts = { 0 } };
    }
    causes->asks_main = true;
    ask(d, causes, gap->start_ps, causes->until_ps, &causes->reasons);
}

static void find_causes(struct device_time *d, const struct open_gap *gap, struct gap_causes *causes)
{
    *causes = (struct gap_causes){ .sole = TM_CAUSE_COUNT,
                                   .until_ps = gap->end_ps,
                                   .thread = gap->has_launch ? gap->launch_thread : TM_NONE };
    if (gap->has_launch && gap->launch_start_ps < gap->end_ps)
        causes->until_ps = gap->launch_start_ps > gap->start_ps ? gap->launch_start_ps : gap->start_ps;
    ask_thread(d, gap, causes);
    causes->reasons.parts[TM_CAUSE_LAUNCH] += gap->end_ps - causes->until_ps;
}

/* The causes of a piece of a gap: those of its pieces add up to those of the gap.  in: *reasons is empty */
static void split(struct device_time *d, const struct open_gap *gap, const struct gap_causes *causes, int64_t start_ps,
                  int64_t end_ps, struct reasons *reasons)
{
    const int64_t launch_ps = causes->until_ps > start_ps ? causes->until_ps : start_ps;

    if (causes->sole != TM_CAUSE_COUNT) {
        reasons->parts[causes->sole] = end_ps - start_ps;
        return;
    }
    if (start_ps == gap->start_ps && end_ps == gap->end_ps) {
        *reasons = causes->reasons;
        return;
    }
    if (start_ps < causes->until_ps)
        ask(d, causes, start_ps, end_ps < causes->until_ps ? end_ps : causes->until_ps, reasons);
    if (end_ps > launch_ps)
        reasons->parts[TM_CAUSE_LAUNCH] += end_ps - launch_ps;
}

/* Each step gets the part of the gap that overlaps it.
 * out:    the one in which it ends; TM_NONE = in none */
static uint64_t add_to_steps(struct device_time *d, const struct lane *lane, const struct gap_causes *causes)
{
    const struct open_gap *gap = &lane->gap;
    struct period period = gap->period;
    uint64_t step = TM_NONE;

    while (period.exists && period.start_ps < gap->end_ps) {
        const int64_t start_ps = gap->start_ps > period.start_ps ? gap->start_ps : period.start_ps;
        const int64_t end_ps = gap->end_ps < period.end_ps ? gap->end_ps : period.end_ps;

        if (end_ps > start_ps) {
            struct reasons reasons = { .parts = { 0 } };
            struct time_parts *row;

            split(d, gap, causes, start_ps, end_ps, &reasons);
            row = tm_rows_change(d->parts, lane->first_parts_row + period.ordinal);
            for (int i = 0; i < TM_CAUSE_COUNT; i++)
                row->idle_ps[i] += reasons.parts[i];
        }
        step = end_ps == gap->end_ps ? period.ordinal : TM_NONE;
        if (period.end_ps >= gap->end_ps)
            break;
        period.ordinal++;
        tm_find_period(d, lane, &period);
    }
    return step;
}

static inline void count_gap(struct device_time *d, struct lane *lane, int64_t start_ps, int64_t dur_ps,
                             enum tm_cause cause, int64_t wait_ps)
{
    lane->gap_count++;
    lane->gap_total_ps += dur_ps;
    lane->cause_counts[cause]++;
    if (lane->longest_count < LANE_GAPS || dur_ps >= lane->longest[LANE_GAPS - 1].dur_ps) /* hardly any */
        list_of_lane(lane, start_ps, dur_ps);
    if (dur_ps < PAUSE_BELOW_PS && wait_ps) {
        d->pauses.count++;
        d->pauses.total_ps = tm_sum_times(d->pauses.total_ps, wait_ps);
    }
}

/* in:     parts  NULL = all of it has that one cause */
static void count_short(struct device_time *d, int64_t dur_ps, enum tm_cause cause, const int64_t *parts)
{
    if (dur_ps < PAUSE_BELOW_PS || dur_ps >= SHORT_BELOW_PS)
        return;
    d->short_gaps[cause].count++;
    if (!parts)
        d->short_gaps[cause].total_ps = tm_sum_times(d->short_gaps[cause].total_ps, dur_ps);
    for (int i = 0; parts && i < TM_CAUSE_COUNT; i++)
        d->short_gaps[i].total_ps = tm_sum_times(d->short_gaps[i].total_ps, parts[i]);
}

/* --- a gap is over --- */

static struct listed_gap listed_from(const struct device_time *d, const struct lane *lane, int64_t start_ps,
                                     int64_t end_ps)
{
    return (struct listed_gap){ .start_ps = start_ps,
                                .dur_ps = end_ps - start_ps,
                                .lane = (uint32_t)(lane - d->lanes),
                                .before = lane->gap.before,
                                .after = lane->gap.after,
                                .launch_ps = lane->gap.has_launch ? lane->gap.launch_start_ps : INT64_MIN,
                                .launch_dur_ps = lane->gap.has_launch ? lane->gap.launch_dur_ps : 0 };
}

/* Most gaps have one cause and are in one step, inside the window. */
static bool is_plain(const struct lane *lane, enum tm_cause cause)
{
    const struct open_gap *gap = &lane->gap;

    return cause != TM_CAUSE_COUNT && gap->period.exists && gap->period.start_ps <= gap->start_ps &&
           gap->end_ps <= gap->period.end_ps && gap->start_ps > lane->start_ps && gap->end_ps < lane->end_ps;
}

void tm_idle_gaps_settle(struct device_time *d, struct lane *lane)
{
    struct step_gaps *const gaps = &lane->step_gaps;
    struct time_parts *row;

    if (!gaps->has_any)
        return;
    row = tm_rows_change(d->parts, lane->first_parts_row + gaps->ordinal);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        row->idle_ps[i] += gaps->idle_ps[i];
        lane->parts.idle_ps[i] += gaps->idle_ps[i];
    }
    *gaps = (struct step_gaps){ .has_any = false };
}

TM_NOT_INLINE void list_plain(struct device_time *d, struct lane *lane, enum tm_cause cause)
{
    const struct open_gap *const gap = &lane->gap;
    struct listed_gap listed = listed_from(d, lane, gap->start_ps, gap->end_ps);

    listed.step = gap->period.ordinal;
    listed.cause = cause;
    listed.parts[cause] = listed.dur_ps;
    list_long_gap(d, lane, &listed);
}

static inline void close_plain(struct device_time *d, struct lane *lane, enum tm_cause cause)
{
    const struct open_gap *gap = &lane->gap;
    const int64_t dur_ps = gap->end_ps - gap->start_ps;

    if (!lane->step_gaps.has_any || lane->step_gaps.ordinal != gap->period.ordinal) {
        tm_idle_gaps_settle(d, lane);
        lane->step_gaps.ordinal = gap->period.ordinal;
        lane->step_gaps.has_any = true;
    }
    lane->step_gaps.idle_ps[cause] += dur_ps;
    count_gap(d, lane, gap->start_ps, dur_ps, cause, cause == TM_CAUSE_DEVICE_WAIT ? dur_ps : 0);
    count_short(d, dur_ps, cause, NULL);
    if (dur_ps >= d->settings->gap_min_ps)
        list_plain(d, lane, cause);
}

/* The thread whose event names a gap. */
static enum told_by told_by(const struct gap_causes *causes, tm_strid name, bool is_main)
{
    if (!name)
        return TOLD_BY_NOBODY;
    return causes->thread == TM_NONE      ? TOLD_BY_MAIN_ALONE
           : causes->asks_main && is_main ? TOLD_BY_MAIN
                                          : TOLD_BY_LAUNCHING;
}

/* Any other one. */
static void close_split(struct device_time *d, struct lane *lane, const struct gap_causes *causes)
{
    const struct open_gap *gap = &lane->gap;
    const int64_t start_ps = gap->start_ps > lane->start_ps ? gap->start_ps : lane->start_ps;
    const int64_t end_ps = gap->end_ps < lane->end_ps ? gap->end_ps : lane->end_ps;
    struct listed_gap listed = listed_from(d, lane, start_ps, end_ps);
    struct reasons reasons = { .parts = { 0 } };

    listed.step = add_to_steps(d, lane, causes);
    if (end_ps <= start_ps)
        return;
    split(d, gap, causes, start_ps, end_ps, &reasons);
    memcpy(listed.parts, reasons.parts, sizeof(listed.parts));
    listed.cause = largest(listed.parts);
    listed.host_event = reasons.names[listed.cause];
    listed.thread = told_by(causes, listed.host_event, reasons.by_main[listed.cause]);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        lane->parts.idle_ps[i] += listed.parts[i];
        lane->main_ps[i] = tm_sum_times(lane->main_ps[i], reasons.main_ps[i]);
    }
    count_gap(d, lane, start_ps, listed.dur_ps, listed.cause, listed.parts[TM_CAUSE_DEVICE_WAIT]);
    count_short(d, listed.dur_ps, listed.cause, listed.parts);
    if (start_ps == lane->start_ps)
        lane->lead_ps = listed.dur_ps;
    else if (end_ps == lane->end_ps)
        lane->trail_ps = listed.dur_ps;
    if (listed.dur_ps >= d->settings->gap_min_ps)
        list_long_gap(d, lane, &listed);
}

TM_NOT_INLINE void close_other(struct device_time *d, struct lane *lane, enum tm_cause cause)
{
    struct gap_causes causes;

    if (cause == TM_CAUSE_COUNT)
        find_causes(d, &lane->gap, &causes);
    else
        causes = (struct gap_causes){ .sole = cause };
    close_split(d, lane, &causes);
}

void tm_idle_gaps_close(struct device_time *d, struct lane *lane)
{
    struct open_gap *gap = &lane->gap;
    const enum tm_cause cause = sole_cause(gap);

    gap->is_open = false;
    if (gap->has_launch && gap->launch_start_ps > gap->end_ps)
        tm_tally_add(&d->run->tallies, TM_TALLY_WRONG_CLOCK, 1);
    if (is_plain(lane, cause))
        close_plain(d, lane, cause);
    else
        close_other(d, lane, cause);
}

/* --- a host ends --- */

void tm_device_time_measure_calls(struct device_time *d)
{
    const struct tm_call_lengths_row *row;
    struct tm_key keys[RUN_GAPS];

    if (!d->longest_count)
        return;
    for (uint32_t i = 0; i < d->longest_count; i++) {
        const struct listed_gap *gap = &d->longest[i];

        keys[i] = (struct tm_key){ 0, 0 };
        if (gap->lane >= d->first_lane && gap->host_event)
            keys[i] = tm_names_info(d->names, gap->host_event).hash;
    }
    finish_lengths(d->lengths);
    while ((row = next_length(d->lengths))) {
        for (uint32_t i = 0; i < d->longest_count; i++) {
            struct listed_gap *gap = &d->longest[i];

            if (gap->lane < d->first_lane || !gap->host_event || !tm_is_same_key(keys[i], row->key))
                continue;
            gap->calls = row->count;
            gap->long_calls = row->long_count;
            gap->short_calls_ps = row->short_ps;
        }
    }
}
