/* SPDX-License-Identifier: Apache-2.0 */
/* Host activity, the stage: opens the tables of the run, and passes each event to the tables that need it. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/lengths.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/figures/nesting.h"
#include "stages/resolve/classes.h"

/* HOST_EMPTY_LISTED: the longest stretches without launched work that are listed.  HOST_OPEN_MOST: spans that are
 * open at once on all threads.  HOST_CALLERS: a power of two; 4 KiB. */
enum { HOST_EMPTY_LISTED = 10, HOST_OPEN_MOST = 8192, LAUNCHED_PAGE = 8 << 10, HOST_CALLERS = 1024 };

enum host_call_kind { HOST_PYTHON, HOST_ANNOTATION, HOST_CALL_KINDS };

/* Calls of one Python function, or one annotation. */
struct call_row {
    struct tm_key key; /* of the name and the kind */
    uint64_t count;
    int64_t self_ps, total_ps;
    tm_strid name;
    uint8_t kind; /* enum host_call_kind */
};

/* Waits of one name from one place. */
struct sync_row {
    struct tm_key key; /* of the three names */
    uint64_t count;
    int64_t total_ps;
    struct tm_longest longest;
    tm_strid name, caller, annotation; /* 0 = none around it */
};

/* A stretch of a device without activity and without launched work, until more is known: of the current host. */
struct empty_row {
    int64_t start_ps, end_ps;
    uint64_t below; /* the one before it on its device, plus one; of an unused row the next unused one */
};

struct empty_lane {
    int64_t start_ps, end_ps;         /* what counts of the device */
    int64_t until_ps;                 /* it was active, or something was, up to here */
    int64_t gap_begin_ps, gap_end_ps; /* the latest gap */
    uint64_t top;                     /* row of its latest stretch, plus one; 0 = none */
    int64_t top_end_ps;               /* where that ends */
    bool is_used;
};

/* A host thread. */
struct thread_row {
    uint64_t events, ops;
    int64_t busy_ps, op_ps;
    int64_t first_ps, last_ps;
    int64_t busy_until_ps, op_until_ps; /* while its host is read */
    uint64_t number;                    /* in the report: its place in the run */
    uint32_t host;
    tm_strid name;
    uint8_t is_main, is_host; /* is_host: a line of the host's, while it is read */
};

/* One host of the run. */
struct host_row {
    char name[128];
    int64_t start_ps, end_ps; /* what counts of it; equal = nothing was recorded */
    uint8_t basis;            /* enum tm_host_basis */
};

/* Data that accompanies an open span: its names are those of the innermost ones, itself included. */
struct host_span {
    tm_strid name, python, annotation; /* 0 = none */
    uint8_t is_python;                 /* of any class: a Python function may wait */
    uint8_t is_annotation;             /* of the user's, also one that brings input */
    uint8_t is_sync, is_in_sync;       /* it waits and is in no other wait; it waits or is in one that does */
};

/* Accumulated calls of one name and kind. */
struct host_call {
    struct call_row row;
    bool is_wrapper; /* JAX's wrapper around its own functions, which does not identify a location */
};

struct host {
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_names *names;
    /* of the current host */
    const struct tm_trace *trace;
    struct tm_host_window window;
    int64_t seen_begin_ps, seen_end_ps; /* of the spans of its threads; start after end = none */
    struct tm_nesting *nesting;         /* payload: struct host_span */
    struct tm_rows *lines;              /* struct thread_row, by track */
    struct tm_rows *launched;  /* delay_bits of each launch by its number; 0 = it launched no chosen activity.  Those of
                                * the last host stay until they are needed */
    size_t launched_drawn;     /* bytes for them from the pool */
    struct tm_rows *stretches; /* struct empty_row */
    uint64_t unused_stretch;   /* plus one; 0 = none */
    struct empty_lane *lanes;  /* by the device's index */
    uint32_t lane_count;
    struct tm_front front;          /* struct host_call, before calls */
    tm_strid callers[HOST_CALLERS]; /* names of Python functions that are no wrappers, by their lowest bits */
    /* of the run */
    struct tm_groups *calls;   /* struct call_row */
    struct tm_groups *syncs;   /* struct sync_row */
    struct tm_lengths *delays; /* picoseconds from launch to work; one group; without those in `launched` */
    tm_length_place delays_place;
    bool has_delays;         /* there are some in `delays` */
    int64_t max_delay_ps;    /* of those in `launched` */
    struct tm_rows *threads; /* struct thread_row, host by host */
    struct tm_rows *hosts;   /* struct host_row */
    struct tm_stretch empty[HOST_EMPTY_LISTED];
    uint32_t empty_listed;
    uint64_t empty_count;
    int64_t empty_ps;
    uint64_t launch_count, negative_delays;
    uint64_t unlaunched; /* chosen activities whose launch is not known */
    bool has_steps;      /* some host's steps are marked or derived from its programs */
    uint64_t sync_count;
    int64_t sync_ps;
    bool has_accelerator, has_cpu_device;
};

/* Shares of the memory for the tables of this stage, in thirty-seconds. */
enum {
    HOST_FRONT = 4,
    HOST_CALLS = 7,
    HOST_SYNCS = 3,
    HOST_DELAYS = 5,
    HOST_LAUNCHES = 1,
    HOST_STRETCHES = 1,
    HOST_LINES = 2,
    HOST_THREADS = 1
};

static inline size_t host_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_HOST, 32, (unsigned)parts);
}

/* Launches as seen by the devices: the launching thread, the delay, and the times with an empty launch queue.  Memory:
 * 8 bytes for each launch of the current host.  The periods without launched work of a device are a stack, because an
 * activity may turn out to have been launched long before it started: it removes everything after its launch.  Each
 * period is pushed and popped once; all stacks share one array of rows.  Both spill. */

static void open_lanes(struct host *h)
{
    const struct tm_trace *trace = h->trace;

    h->lanes = tm_take(&h->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*h->lanes), &h->run->error);
    if (!h->lanes)
        return;
    h->lane_count = trace->device_count;
    for (uint32_t i = 0; i < h->lane_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (!device->activities)
            continue;
        h->has_cpu_device |= device->kind == TM_DEVICE_CPU;
        h->has_accelerator |= device->kind != TM_DEVICE_CPU;
        h->lanes[i] = (struct empty_lane){ .start_ps = device->chosen_begin_ps,
                                           .end_ps = device->chosen_end_ps,
                                           .until_ps = device->chosen_begin_ps,
                                           .gap_begin_ps = device->chosen_begin_ps,
                                           .gap_end_ps = device->chosen_begin_ps,
                                           .is_used = device->kind != TM_DEVICE_CPU };
    }
}

/* Their number is known, so they are in memory if there is room: a report of 5 million events at 256M takes 3% less CPU
 * time than with spilled pages. */
static void open_launched(struct host *h)
{
    const uint64_t count = h->trace->launch_numbers + 1;
    const size_t own = host_memory(h->run, HOST_LAUNCHES);
    const uint64_t wanted = count * sizeof(uint64_t) / 63 * 64 + 2 * LAUNCHED_PAGE; /* and its tables */

    if (wanted > own && wanted < SIZE_MAX / 2 && tm_budget_draw(&h->run->budget, (size_t)wanted - own))
        h->launched_drawn = (size_t)wanted - own;
    h->launched =
        tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(uint64_t), own + h->launched_drawn, LAUNCHED_PAGE);
}

/* Device events */
static void host_begin_launches(struct host *h)
{
    open_launched(h);
    h->stretches = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(struct empty_row),
                                     host_memory(h->run, HOST_STRETCHES), 8 << 10);
    h->unused_stretch = 0;
    if (!h->launched || !h->stretches)
        return;
    tm_rows_resize(h->launched, h->trace->launch_numbers + 1);
    if (h->trace->device_count)
        open_lanes(h);
}

static void host_free_launched(struct host *h)
{
    tm_rows_free(h->launched);
    tm_budget_put_back(&h->run->budget, h->launched_drawn);
    h->launched_drawn = 0;
    h->launched = NULL;
}

/* the rest of the state of the current host; after anything */
static void host_free_launches(struct host *h)
{
    tm_rows_free(h->stretches);
    tm_give(&h->run->budget, TM_ACCOUNT_TABLES, h->lanes, h->lanes ? h->lane_count * sizeof(*h->lanes) : 0);
    h->stretches = NULL;
    h->lanes = NULL;
    h->lane_count = 0;
}

/* --- stretches without launched work --- */

static void push_stretch(struct host *h, struct empty_lane *lane, int64_t start_ps, int64_t end_ps)
{
    const struct empty_row row = { start_ps, end_ps, lane->top };
    struct empty_row *unused;

    lane->top_end_ps = end_ps;
    if (!h->unused_stretch) {
        tm_rows_append(h->stretches, &row);
        lane->top = tm_rows_count(h->stretches);
        return;
    }
    unused = tm_rows_change(h->stretches, h->unused_stretch - 1);
    lane->top = h->unused_stretch;
    h->unused_stretch = unused->below;
    *unused = row;
}

/* Launched work is pending from this time on: what follows is not a stretch with an empty queue. */
static void cut_stretches(struct host *h, struct empty_lane *lane, int64_t from_ps)
{
    while (lane->top) {
        const uint64_t number = lane->top;
        struct empty_row *row = tm_rows_change(h->stretches, number - 1);

        if (row->start_ps < from_ps) {
            if (row->end_ps > from_ps)
                row->end_ps = from_ps;
            lane->top_end_ps = row->end_ps;
            return;
        }
        lane->top = row->below;
        row->below = h->unused_stretch;
        h->unused_stretch = number;
    }
}

/* When an activity started to wait.  If its launch is not known, it may have waited for all of the gap before it. */
static int64_t waits_from(const struct empty_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;

    if (event->launch_track == TM_NONE)
        return start_ps == lane->gap_end_ps ? lane->gap_begin_ps : start_ps;
    return event->launch_start_ps < start_ps ? event->launch_start_ps : start_ps;
}

/* A gap ends if the activity starts after everything before it.  Of this gap and of earlier ones, only what precedes
 * the activity's wait is kept. */
static void note_stretches(struct host *h, struct empty_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;
    const int64_t counted_ps = start_ps < lane->end_ps ? start_ps : lane->end_ps;
    int64_t from_ps, end_ps;

    if (start_ps > lane->until_ps) {
        lane->gap_begin_ps = lane->until_ps;
        lane->gap_end_ps = start_ps;
    }
    from_ps = waits_from(lane, event);
    end_ps = from_ps < counted_ps ? from_ps : counted_ps;
    if (end_ps > lane->until_ps)
        push_stretch(h, lane, lane->until_ps, end_ps);
    else if (lane->top && lane->top_end_ps > from_ps)
        cut_stretches(h, lane, from_ps);
}

/* --- events --- */

/* Delays as nonzero numbers in the same order; none exceeds a trace (tm_time_fits). */
static uint64_t delay_bits(int64_t delay_ps)
{
    return (uint64_t)delay_ps ^ (uint64_t)1 << 63;
}

/* The first activity of a launch, on any device, determines its delay.
 * in:     page  of h->launched: launches of a batch are near each other */
static inline void note_launch(struct host *h, const struct tm_event *event, struct tm_row_page *page)
{
    const uint64_t bits = delay_bits(event->record.start_ps - event->launch_start_ps);
    uint64_t *launched;

    if (event->launch_track == TM_NONE) {
        h->unlaunched = tm_sum_counts(h->unlaunched, 1);
        return;
    }
    launched = tm_rows_change_near(h->launched, sizeof(*launched), event->launch, page);
    if (!*launched || bits < *launched)
        *launched = bits;
}

/* Receives delay_bits, some of them 0. */
typedef void take_launched(struct host *h, const uint64_t *bits, uint64_t count, void *to);

static void for_launched(struct host *h, take_launched *take_bits, void *to)
{
    const uint64_t all = tm_rows_count(h->launched);
    uint64_t count;

    for (uint64_t i = 0; i < all && !tm_failed(h->run); i += count) {
        const uint64_t *const bits = tm_rows_span(h->launched, i, &count);

        take_bits(h, bits, count, to);
    }
}

static void count_some(struct host *h, const uint64_t *bits, uint64_t count, void *to)
{
    uint64_t launches = 0, negative = 0, most = 0;

    (void)to;
    for (uint64_t i = 0; i < count; i++) {
        launches += bits[i] != 0;
        negative += bits[i] && bits[i] < delay_bits(0);
        most = bits[i] > most ? bits[i] : most;
    }
    h->launch_count = tm_sum_counts(h->launch_count, launches);
    h->negative_delays = tm_sum_counts(h->negative_delays, negative);
    if (most >= delay_bits(h->max_delay_ps))
        h->max_delay_ps = (int64_t)(most - delay_bits(0));
}

static void add_some(struct host *h, const uint64_t *bits, uint64_t count, void *to)
{
    (void)to;
    for (uint64_t i = 0; i < count; i++)
        if (bits[i] >= delay_bits(0))
            tm_lengths_add_at(h->delays, &h->delays_place, 0, bits[i] - delay_bits(0));
}

/* The delays of the last host are added to those of the others.  If there are no others, their quantiles are found in
 * place. */
static void host_move_delays(struct host *h)
{
    if (!h->launched)
        return;
    for_launched(h, add_some, NULL);
    h->has_delays = true;
    host_free_launched(h);
}

/* Delays among which one is looked for: `counts` of them in parts, each 1 << shift long, from the lowest one on. */
enum { DELAY_PART_BITS = 11, DELAY_PARTS = 1 << DELAY_PART_BITS, DELAY_RANKS = 2 };

struct delay_parts {
    uint64_t low, high; /* delay_bits */
    unsigned shift;
    uint64_t rank; /* of the one that is looked for, from `low` on */
    uint64_t counts[DELAY_PARTS];
};

/* At first all look at the same delays, which are counted once. */
static bool is_shared(const struct delay_parts *searches, int n)
{
    return n > 0 && searches[n].low == searches[0].low && searches[n].high == searches[0].high;
}

static void count_parts(struct host *h, const uint64_t *bits, uint64_t count, void *to)
{
    struct delay_parts *const searches = to;

    (void)h;
    for (int n = 0; n < DELAY_RANKS; n++) {
        struct delay_parts *const parts = &searches[n];
        const uint64_t low = parts->low, most = parts->high - low;

        for (uint64_t i = 0; i < count && most && !is_shared(searches, n); i++)
            if (bits[i] - low <= most)
                parts->counts[(bits[i] - low) >> parts->shift]++;
    }
}

static void begin_pass(struct delay_parts *parts)
{
    const unsigned bits = parts->low < parts->high ? 64 - (unsigned)__builtin_clzll(parts->high - parts->low) : 0;

    parts->shift = bits > DELAY_PART_BITS ? bits - DELAY_PART_BITS : 0;
    memset(parts->counts, 0, sizeof(parts->counts));
}

/* The part that contains the rank is the next one to be divided. */
static void end_pass(struct delay_parts *parts)
{
    uint64_t at = 0, end;

    if (parts->low == parts->high)
        return;
    for (; at < DELAY_PARTS - 1 && parts->rank >= parts->counts[at]; at++)
        parts->rank -= parts->counts[at];
    parts->low += at << parts->shift;
    end = parts->low + ((UINT64_C(1) << parts->shift) - 1);
    parts->high = end < parts->high ? end : parts->high;
}

/* The delays of ranks, from 0 on, of those in `launched`: the parts that contain them are divided further until they have
 * one value.  Five passes at most for a trace of an hour take a fourth of the instructions of a sort, and no memory; each
 * page is read for all ranks at once. */
static void find_ranks(struct host *h, const uint64_t ranks[DELAY_RANKS], int64_t found_ps[DELAY_RANKS])
{
    const size_t bytes = DELAY_RANKS * sizeof(struct delay_parts);
    struct delay_parts *const searches = tm_take(&h->run->budget, TM_ACCOUNT_TABLES, bytes, &h->run->error);
    bool has_parts = searches;

    for (int n = 0; n < DELAY_RANKS; n++)
        found_ps[n] = 0;
    for (int n = 0; searches && n < DELAY_RANKS; n++) {
        searches[n].low = delay_bits(0);
        searches[n].high = delay_bits(h->max_delay_ps);
        searches[n].rank = ranks[n];
    }
    while (has_parts && !tm_failed(h->run)) {
        has_parts = false;
        for (int n = 0; n < DELAY_RANKS; n++)
            begin_pass(&searches[n]);
        for_launched(h, count_parts, searches);
        for (int n = 1; n < DELAY_RANKS; n++)
            if (is_shared(searches, n))
                memcpy(searches[n].counts, searches[0].counts, sizeof(searches[n].counts));
        for (int n = 0; n < DELAY_RANKS; n++) {
            end_pass(&searches[n]);
            has_parts |= searches[n].low < searches[n].high;
        }
    }
    for (int n = 0; searches && n < DELAY_RANKS; n++)
        found_ps[n] = (int64_t)(searches[n].low - delay_bits(0));
    tm_give(&h->run->budget, TM_ACCOUNT_TABLES, searches, bytes);
}

static inline void host_take_activity(struct host *h, struct empty_lane *lane, const struct tm_event *event,
                                      struct tm_row_page *page)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;

    note_stretches(h, lane, event);
    if (end_ps > lane->until_ps)
        lane->until_ps = end_ps;
    if (event->chosen)
        note_launch(h, event, page);
}

/* --- a host ends --- */

static void count_stretches(struct host *h, uint32_t device)
{
    for (uint64_t at = h->lanes[device].top; at;) {
        const struct empty_row *row = tm_rows_at(h->stretches, at - 1);
        struct tm_stretch stretch = { .host = h->trace->host };

        stretch.start_ps = row->start_ps;
        stretch.dur_ps = row->end_ps - row->start_ps;
        memcpy(stretch.device, h->trace->devices[device].id, sizeof(stretch.device));
        h->empty_count = tm_sum_counts(h->empty_count, 1);
        h->empty_ps = tm_sum_times(h->empty_ps, stretch.dur_ps);
        tm_stretches_add(h->empty, &h->empty_listed, HOST_EMPTY_LISTED, &stretch);
        at = row->below;
    }
}

static void host_end_launches(struct host *h)
{
    for (uint32_t i = 0; i < h->lane_count; i++)
        count_stretches(h, i);
    h->max_delay_ps = 0;
    for_launched(h, count_some, NULL);
    if (h->has_delays)
        host_move_delays(h);
    host_free_launches(h);
}

/* Host activity in a partial: sums, the hosts with their threads, and all groups in the order of their keys. */

#define HOST(member, kind, merge) TM_FIELD(struct host, member, kind, merge)

static const struct tm_row_field sum_fields[] = {
    HOST(empty_count, COUNT, SUM),
    HOST(empty_ps, TIME, SUM),
    HOST(launch_count, COUNT, SUM),
    HOST(negative_delays, COUNT, SUM),
    HOST(unlaunched, COUNT, SUM),
    HOST(has_steps, BOOL, ANY),
    HOST(sync_count, COUNT, SUM),
    HOST(sync_ps, TIME, SUM),
    HOST(has_accelerator, BOOL, ANY),
    HOST(has_cpu_device, BOOL, ANY),
    TM_FIELDS_END,
};

static const struct tm_row_field host_fields[] = {
    TM_FIELD(struct host_row, start_ps, INSTANT, KEEP),
    TM_FIELD(struct host_row, end_ps, INSTANT, KEEP),
    TM_FIELD_BELOW(struct host_row, basis, U8, KEEP, TM_HOST_BASIS_COUNT),
    TM_FIELDS_END,
};

static const struct tm_row_field thread_fields[] = {
    TM_FIELD(struct thread_row, events, COUNT, KEEP),     TM_FIELD(struct thread_row, ops, COUNT, KEEP),
    TM_FIELD(struct thread_row, busy_ps, TIME, KEEP),     TM_FIELD(struct thread_row, op_ps, TIME, KEEP),
    TM_FIELD(struct thread_row, first_ps, INSTANT, KEEP), TM_FIELD(struct thread_row, last_ps, INSTANT, KEEP),
    TM_FIELD(struct thread_row, host, HOST, KEEP),        TM_FIELD(struct thread_row, name, NAME, KEEP),
    TM_FIELD(struct thread_row, is_main, BOOL, KEEP),     TM_FIELDS_END,
};

static const struct tm_row_field call_fields[] = {
    TM_FIELD(struct call_row, key, WORD, KEEP),
    TM_FIELD(struct call_row, count, COUNT, SUM),
    TM_FIELD(struct call_row, self_ps, TIME, SUM),
    TM_FIELD(struct call_row, total_ps, TIME, SUM),
    TM_FIELD(struct call_row, name, NAME, KEEP),
    TM_FIELD_BELOW(struct call_row, kind, U8, KEEP, HOST_CALL_KINDS),
    TM_FIELDS_END,
};

static const struct tm_row_field sync_fields[] = {
    TM_FIELD(struct sync_row, key, WORD, KEEP),
    TM_FIELD(struct sync_row, count, COUNT, SUM),
    TM_FIELD(struct sync_row, total_ps, TIME, SUM),
    TM_FIELD_STRUCTS(struct sync_row, longest, struct tm_longest, tm_longest_fields),
    TM_FIELD(struct sync_row, name, NAME, KEEP),
    TM_FIELD(struct sync_row, caller, NAME, KEEP),
    TM_FIELD(struct sync_row, annotation, NAME, KEEP),
    TM_FIELDS_END,
};

static tm_status host_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct host *h = s->state;

    tm_fields_save(w, sum_fields, h);
    tm_stretches_save(w, tm_stretch_fields, h->empty, h->empty_listed);
    tm_fields_save_rows(w, host_fields, h->hosts, 0, tm_rows_count(h->hosts));
    tm_partial_put_u64(w, tm_rows_count(h->threads));
    tm_fields_save_rows(w, thread_fields, h->threads, 0, tm_rows_count(h->threads));
    tm_fields_save_groups(w, call_fields, h->calls);
    tm_fields_save_groups(w, sync_fields, h->syncs);
    host_move_delays(h);
    return tm_fields_save_lengths(w, h->delays);
}

/* Hosts of the run arrive in order: the row belongs to the next one. */
static tm_status complete_host(void *of, struct tm_partial_reader *r, void *row)
{
    const struct host *h = of;
    struct host_row *host = row;
    int64_t length_ps;

    if (host->end_ps < host->start_ps || __builtin_sub_overflow(host->end_ps, host->start_ps, &length_ps))
        return tm_partial_damaged(r, "a time is out of its range");
    tm_partial_copy_host(r, (uint32_t)tm_rows_count(h->hosts) - tm_partial_first_host(r), host->name,
                         sizeof(host->name));
    return TM_OK;
}

static tm_status host_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct host *h = s->state;

    h->names = tm_partial_names(r);
    tm_fields_load_more(r, sum_fields, h);
    tm_stretches_load(r, tm_stretch_fields, h->empty, &h->empty_listed, HOST_EMPTY_LISTED);
    tm_fields_load_rows(r, host_fields, h->hosts, tm_partial_host_count(r), complete_host, h);
    tm_fields_load_rows(r, thread_fields, h->threads, tm_partial_u64(r), NULL, NULL);
    tm_fields_load_groups(r, call_fields, h->calls, NULL, NULL);
    tm_fields_load_groups(r, sync_fields, h->syncs, NULL, NULL);
    host_move_delays(h);
    h->has_delays = true;
    return tm_fields_load_lengths(r, h->delays);
}

/* The section host, except for the overhead, which device_time adds. */

static const char no_threads[] = "no host events were recorded";

static const char no_launch[] = "no launch of the devices' work was recorded";

/* Why launches cannot be reported; NULL = they can. */
static const char *why_no_launches(const struct host *h)
{
    if (!h->has_accelerator)
        return h->has_cpu_device ? "the host is the device" : "no device activity was recorded";
    return h->launch_count ? NULL : no_launch;
}

/* --- launches --- */

/* in:     steps  of the run; its hosts run each of them together */
static void add_launches(const struct host *h, struct tm_value *section, int64_t steps)
{
    struct tm_value *launches = tm_add_object(section, "launches");

    tm_add_uint(launches, "count", h->launch_count);
    if (h->has_steps && steps > 0)
        tm_add_double(launches, "per_step", (double)h->launch_count / (double)steps);
    else
        tm_add_null(launches, "per_step", "no steps are marked");
    tm_add_uint(launches, "unknown_count", h->unlaunched);
}

/* The index of the smallest value that at least this percentage of the values do not exceed. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    return (uint64_t)(((unsigned __int128)count * percent + 99) / 100) - 1;
}

struct delays {
    uint64_t p50, p95, seen; /* places, and how many were seen */
    int64_t p50_ps, p95_ps, max_ps;
};

static inline void count_delay(struct delays *d, uint64_t value, uint64_t count)
{
    const uint64_t until = tm_sum_counts(d->seen, count);

    d->max_ps = (int64_t)value;
    if (d->p50 >= d->seen && d->p50 < until)
        d->p50_ps = d->max_ps;
    if (d->p95 >= d->seen && d->p95 < until)
        d->p95_ps = d->max_ps;
    d->seen = until;
}

static void find_delays(struct host *h, uint64_t count, struct delays *found)
{
    struct tm_length_span span;

    found->p50 = rank_of(count, 50);
    found->p95 = rank_of(count, 95);
    if (h->launched && !h->has_delays) {
        int64_t found_ps[DELAY_RANKS];

        find_ranks(h, (const uint64_t[DELAY_RANKS]){ found->p50, found->p95 }, found_ps);
        found->p50_ps = found_ps[0];
        found->p95_ps = found_ps[1];
        found->max_ps = h->max_delay_ps;
        return;
    }
    host_move_delays(h);
    tm_lengths_finish(h->delays); /* they come in their order */
    while (tm_lengths_next_span(h->delays, &span)) {
        for (size_t i = 0; i < span.count; i++)
            count_delay(found, tm_length_span_value(&span, i), tm_length_span_count(&span, i));
    }
}

static void add_delay(struct host *h, struct tm_value *section)
{
    const uint64_t count = h->launch_count > h->negative_delays ? h->launch_count - h->negative_delays : 0;
    struct tm_value *delay = tm_add_object(section, "launch_delay");
    struct delays found = { .seen = 0 };

    tm_add_uint(delay, "count", count);
    if (!count) {
        static const char *const keys[] = { "p50_ps", "p95_ps", "max_ps" };

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(delay, keys[i], "all work starts before its launch: the clocks differ");
        tm_add_uint(delay, "negative", h->negative_delays);
        return;
    }
    find_delays(h, count, &found);
    tm_add_int(delay, "p50_ps", found.p50_ps);
    tm_add_int(delay, "p95_ps", found.p95_ps);
    tm_add_int(delay, "max_ps", found.max_ps);
    tm_add_uint(delay, "negative", h->negative_delays);
}

static void add_share(struct tm_value *to, int64_t part_ps, int64_t whole_ps)
{
    if (whole_ps > 0)
        tm_add_double(to, "share_pct", 100.0 * (double)part_ps / (double)whole_ps);
    else
        tm_add_null(to, "share_pct", "there is no window");
}

static void add_queue_empty(const struct host *h, const struct tm_value *summary, struct tm_value *section)
{
    struct tm_value *empty = tm_add_object(section, "queue_empty"), *longest;

    tm_add_uint(empty, "count", h->empty_count);
    tm_add_int(empty, "total_ps", h->empty_ps);
    add_share(empty, h->empty_ps, tm_int(tm_path(summary, "window.total_ps")));
    longest = tm_add_array(empty, "longest");
    for (uint32_t i = 0; i < h->empty_listed; i++) {
        struct tm_value *row = tm_add_object(longest, NULL);

        tm_add_string(row, "device", h->empty[i].device);
        tm_add_int(row, "begin_ps", h->empty[i].start_ps);
        tm_add_int(row, "dur_ps", h->empty[i].dur_ps);
    }
}

static void add_device_side(struct host *h, const struct tm_value *summary, struct tm_value *section)
{
    const char *why = why_no_launches(h);

    if (why) {
        tm_add_null(section, "launches", why);
        tm_add_null(section, "launch_delay", why);
        tm_add_null(section, "queue_empty", why);
        return;
    }
    add_launches(h, section, tm_int(tm_path(summary, "steps.chosen")));
    add_delay(h, section);
    add_queue_empty(h, summary, section);
}

/* --- waits --- */

static int longest_sync_first(const void *a, const void *b)
{
    const struct sync_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static const char *host_name(struct host *h, uint32_t host)
{
    const struct host_row *row = host < tm_rows_count(h->hosts) ? tm_rows_at(h->hosts, host) : NULL;

    return row ? row->name : "";
}

static void add_sync(struct host *h, const struct sync_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_name(to, "name", h->names, row->name);
    tm_add_known_name(to, "caller", h->names, row->caller, "no enclosing Python function was recorded");
    tm_add_known_name(to, "annotation", h->names, row->annotation, "it is outside annotations");
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_string(to, "host", host_name(h, row->longest.host));
    tm_add_int(to, "longest_begin_ps", row->longest.start_ps);
    tm_add_int(to, "longest_ps", row->longest.dur_ps);
}

static void add_syncs(struct host *h, struct tm_value *section)
{
    struct tm_value *sync = tm_add_object(section, "sync"), *list, *rest;
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct sync_row), h->settings->table_rows, longest_sync_first);
    const void *row;
    uint64_t distinct = 0, listed = 0;
    int64_t listed_ps = 0;

    if (!top)
        return;
    tm_add_uint(sync, "count", h->sync_count);
    tm_add_int(sync, "total_ps", h->sync_ps);
    list = tm_add_array(sync, "rows");
    tm_groups_finish(h->syncs);
    for (; (row = tm_groups_next(h->syncs)); distinct++)
        tm_top_rows_add(top, row);
    tm_top_rows_sort(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++) {
        const struct sync_row *at = tm_top_rows_at(top, i);

        listed = tm_sum_counts(listed, at->count);
        listed_ps = tm_sum_times(listed_ps, at->total_ps);
        add_sync(h, at, list);
    }
    rest = tm_add_object(sync, "rest");
    tm_add_uint(rest, "rows", distinct - tm_top_rows_count(top));
    tm_add_uint(rest, "count", h->sync_count > listed ? h->sync_count - listed : 0);
    tm_add_int(rest, "total_ps", h->sync_ps > listed_ps ? h->sync_ps - listed_ps : 0);
    tm_top_rows_free(top);
}

/* --- functions and annotations --- */

static int longest_call_first(const void *a, const void *b)
{
    const struct call_row *x = a, *y = b;

    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

/* All calls of a kind, and what remains of them besides the listed ones. */
struct call_sums {
    uint64_t rows, count;
    int64_t self_ps;
};

static void choose_calls(struct host *h, enum host_call_kind kind, struct tm_top_rows *top, struct call_sums *sums)
{
    const struct call_row *row;

    tm_groups_finish(h->calls);
    while ((row = tm_groups_next(h->calls))) {
        if (row->kind != kind)
            continue;
        sums->rows++;
        sums->count = tm_sum_counts(sums->count, row->count);
        sums->self_ps = tm_sum_times(sums->self_ps, row->self_ps);
        tm_top_rows_add(top, row);
    }
    tm_top_rows_sort(top);
}

static void add_call(struct host *h, const struct call_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_name(to, "name", h->names, row->name);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "self_ps", row->self_ps);
    tm_add_int(to, "total_ps", row->total_ps);
}

static void add_calls(struct host *h, enum host_call_kind kind, const char *key, const char *rest_key,
                      struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, key), *rest = tm_add_object(section, rest_key);
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct call_row), h->settings->table_rows, longest_call_first);
    struct call_sums sums = { .rows = 0 };

    if (!top)
        return;
    choose_calls(h, kind, top, &sums);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++) {
        const struct call_row *row = tm_top_rows_at(top, i);

        sums.rows--;
        sums.count -= row->count < sums.count ? row->count : sums.count;
        sums.self_ps -= row->self_ps < sums.self_ps ? row->self_ps : sums.self_ps;
        add_call(h, row, list);
    }
    tm_add_uint(rest, "rows", sums.rows);
    tm_add_uint(rest, "count", sums.count);
    tm_add_int(rest, "self_ps", sums.self_ps);
    tm_top_rows_free(top);
}

/* --- threads --- */

static int busiest_first(const void *a, const void *b)
{
    const struct thread_row *x = a, *y = b;

    if (x->busy_ps != y->busy_ps)
        return x->busy_ps > y->busy_ps ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void add_thread(struct host *h, const struct thread_row *row, struct tm_value *list)
{
    const struct host_row *found = row->host < tm_rows_count(h->hosts) ? tm_rows_at(h->hosts, row->host) : NULL;
    struct tm_value *to = tm_add_object(list, NULL);

    if (!found)
        return;
    tm_add_string(to, "host", found->name);
    tm_add_name(to, "name", h->names, row->name);
    tm_add_uint(to, "events", row->events);
    tm_add_int(to, "busy_ps", row->busy_ps);
    add_share(to, row->busy_ps, found->end_ps - found->start_ps);
    tm_add_int(to, "first_ps", row->first_ps);
    tm_add_int(to, "last_ps", row->last_ps);
    tm_add_uint(to, "ops", row->ops);
    tm_add_int(to, "op_ps", row->op_ps);
    tm_add_bool(to, "is_main", row->is_main);
}

static void choose_threads(struct host *h, struct tm_top_rows *top, struct thread_row *sums)
{
    for (uint64_t i = 0; i < tm_rows_count(h->threads); i++) {
        const struct thread_row *at = tm_rows_at(h->threads, i);
        struct thread_row row = *at;

        row.number = i;
        sums->events = tm_sum_counts(sums->events, row.events);
        sums->busy_ps = tm_sum_times(sums->busy_ps, row.busy_ps);
        tm_top_rows_add(top, &row);
    }
    tm_top_rows_sort(top);
}

static void add_threads(struct host *h, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "threads"), *rest = tm_add_object(section, "threads_rest");
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct thread_row), h->settings->table_rows, busiest_first);
    struct thread_row sums = { .events = 0 };

    if (!top)
        return;
    choose_threads(h, top, &sums);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++) {
        const struct thread_row *row = tm_top_rows_at(top, i);

        sums.events -= row->events < sums.events ? row->events : sums.events;
        sums.busy_ps -= row->busy_ps < sums.busy_ps ? row->busy_ps : sums.busy_ps;
        add_thread(h, row, list);
    }
    tm_add_uint(rest, "rows", tm_rows_count(h->threads) - tm_top_rows_count(top));
    tm_add_uint(rest, "events", sums.events);
    tm_add_int(rest, "busy_ps", sums.busy_ps);
    tm_top_rows_free(top);
}

/* --- the section --- */

static void add_windows(struct host *h, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "windows");

    for (uint64_t i = 0; i < tm_rows_count(h->hosts); i++) {
        const struct host_row *row = tm_rows_at(h->hosts, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "host", row->name);
        tm_add_string(to, "basis", tm_host_basis_name[row->basis]);
        tm_add_int(to, "begin_ps", row->start_ps);
        tm_add_int(to, "end_ps", row->end_ps);
    }
}

static tm_status host_report(struct tm_stage *s, struct tm_value *summary)
{
    struct host *h = s->state;
    struct tm_value *section = tm_member(summary, "host");

    if (!section)
        section = tm_add_object(summary, "host");
    add_device_side(h, summary, section);
    add_windows(h, section);
    if (tm_rows_count(h->threads))
        add_syncs(h, section);
    else
        tm_add_null(section, "sync", no_threads);
    add_calls(h, HOST_PYTHON, "python", "python_rest", section);
    add_calls(h, HOST_ANNOTATION, "annotations", "annotations_rest", section);
    add_threads(h, section);
    return s->run->error.status;
}

/* The activity of a host's threads: functions and annotations by self time, waits and their locations, busy time of
 * each thread.  Every span is first clipped to the host time that counts, so the self times of a thread add up to its
 * busy time.  Memory: open spans, fixed; groups by name, and a row per thread, which spill. */

/* --- names --- */

/* The wrapper of jax.profiler.annotate_function, and the start of the profile. */
static const char wrapper[] = "$profiler.py:";

TM_NOT_INLINE void fill_call(struct host *h, struct host_call *call, tm_strid name, enum host_call_kind kind)
{
    const char *text;
    size_t length;
    const struct tm_name info = tm_names_info(h->names, name);

    text = tm_names_text(h->names, name, sizeof(wrapper), &length);
    call->row.key = (struct tm_key){ info.hash.high, tm_hash_mix(info.hash.low, kind) };
    call->row.name = name;
    call->row.kind = (uint8_t)kind;
    call->is_wrapper = length >= sizeof(wrapper) - 1 && memcmp(text, wrapper, sizeof(wrapper) - 1) == 0;
}

/* The calls of one name and kind, to fold into; valid until the next one is searched for.  NULL after a failure */
static inline struct host_call *find_call(struct host *h, tm_strid name, enum host_call_kind kind)
{
    bool is_new;
    struct host_call *const call = tm_front_at(&h->front, ((uint64_t)kind << 32 | name) + 1, &is_new);

    if (call && is_new)
        fill_call(h, call, name, kind);
    return call;
}

/* --- spans that have ended --- */

static inline void count_call(struct host *h, const struct tm_nested *span, enum host_call_kind kind)
{
    const struct host_span *about = span->payload;
    struct host_call *const call = find_call(h, about->name, kind);

    if (!call)
        return;
    call->row.count = tm_sum_counts(call->row.count, 1);
    call->row.self_ps = tm_sum_times(call->row.self_ps, span->self_ps);
    call->row.total_ps = tm_sum_times(call->row.total_ps, span->dur_ps);
}

/* Key and names of a wait; without padding. */
static void sync_key(struct host *h, const tm_strid names[3], struct tm_key *key)
{
    struct tm_key texts[3] = { { 0, 0 } };

    for (int i = 0; i < 3; i++) {
        if (names[i])
            texts[i] = tm_names_info(h->names, names[i]).hash;
    }
    *key = tm_hash_key(texts, sizeof(texts));
}

TM_NOT_INLINE void count_sync(struct host *h, const struct tm_nested *span)
{
    const struct host_span *about = span->payload, *around = span->parent;
    const tm_strid names[3] = { about->name, around ? around->python : 0, around ? around->annotation : 0 };
    struct sync_row row = { .count = 1,
                            .total_ps = span->dur_ps,
                            .longest = { span->dur_ps, span->start_ps, h->trace->host },
                            .name = names[0],
                            .caller = names[1],
                            .annotation = names[2] };

    sync_key(h, names, &row.key);
    h->sync_count = tm_sum_counts(h->sync_count, 1);
    h->sync_ps = tm_sum_times(h->sync_ps, span->dur_ps);
    tm_groups_add(h->syncs, &row);
}

static void take_nested(void *to, const struct tm_nested *span)
{
    struct host *h = to;
    const struct host_span *about = span->payload;

    if (about->is_python || about->is_annotation)
        count_call(h, span, about->is_python ? HOST_PYTHON : HOST_ANNOTATION);
    if (about->is_sync)
        count_sync(h, span);
}

/* --- events --- */

static bool is_python(const struct tm_event *event)
{
    return event->record.class == TM_CLASS_PYTHON || event->traits & TM_TRAIT_PYTHON;
}

/* Whether it says more than that its thread was busy.  All others, most of them launches, count as their parents. */
static bool tells_names(const struct tm_event *event)
{
    const uint32_t classes =
        TM_CLASS_BIT(TM_CLASS_SYNC) | TM_CLASS_BIT(TM_CLASS_ANNOTATION) | TM_CLASS_BIT(TM_CLASS_INPUT);

    return TM_CLASS_BIT(event->record.class) & classes || is_python(event);
}

/* The names in `callers` are found without their calls, which are needed when they end. */
TM_NOT_INLINE bool is_new_caller(struct host *h, tm_strid name)
{
    const struct host_call *const call = find_call(h, name, HOST_PYTHON);

    if (!call || call->is_wrapper)
        return false;
    h->callers[name % HOST_CALLERS] = name;
    return true;
}

static inline bool is_caller(struct host *h, tm_strid name)
{
    return h->callers[name % HOST_CALLERS] == name || is_new_caller(h, name);
}

/* What is known about a span when it starts: its own names, else those of its parent. */
static inline void describe(struct host *h, const struct tm_event *event, const struct host_span *around,
                            struct host_span *about)
{
    const enum tm_class class = (enum tm_class)event->record.class;
    const bool is_sync = class == TM_CLASS_SYNC, is_in_sync = around && around->is_in_sync;

    *about = (struct host_span){ .name = event->record.name,
                                 .python = around ? around->python : 0,
                                 .annotation = around ? around->annotation : 0,
                                 .is_python = is_python(event),
                                 .is_sync = is_sync && !is_in_sync,
                                 .is_in_sync = is_sync || is_in_sync };
    if (!about->is_python) {
        about->is_annotation = class == TM_CLASS_ANNOTATION || class == TM_CLASS_INPUT;
        if (about->is_annotation)
            about->annotation = about->name;
    } else if (is_caller(h, about->name)) {
        about->python = about->name;
    }
}

/* There is no room for it in the table of open spans. */
TM_NOT_INLINE void take_span_alone(struct host *h, const struct tm_event *event, const struct host_span *around,
                                   int64_t start_ps, int64_t dur_ps)
{
    struct host_span about;

    describe(h, event, around, &about);
    tm_nesting_take(h->nesting, event->record.track, start_ps, dur_ps, &about);
}

/* A span with names.  in: *event is cut to `dur_ps` from `start_ps` on */
static inline void open_span(struct host *h, const struct tm_event *event, int64_t start_ps, int64_t dur_ps)
{
    const void *around;
    struct host_span *const about = tm_nesting_open(h->nesting, event->record.track, start_ps, dur_ps, &around);

    if (about)
        describe(h, event, around, about);
    else
        take_span_alone(h, event, around, start_ps, dur_ps);
}

/* A union of spans that come in the order of their starts. */
static int64_t cover(int64_t *until_ps, int64_t start_ps, int64_t end_ps)
{
    const int64_t from_ps = start_ps > *until_ps ? start_ps : *until_ps;

    if (end_ps <= from_ps)
        return 0;
    *until_ps = end_ps;
    return end_ps - from_ps;
}

static void add_to_thread(struct thread_row *thread, const struct tm_event *event, int64_t start_ps, int64_t end_ps)
{
    const bool is_op = event->record.class == TM_CLASS_CPU_OP || event->record.class == TM_CLASS_COLLECTIVE;

    if (!thread->events)
        thread->first_ps = start_ps;
    if (!thread->events || end_ps > thread->last_ps)
        thread->last_ps = end_ps;
    thread->events++;
    thread->busy_ps = tm_sum_times(thread->busy_ps, cover(&thread->busy_until_ps, start_ps, end_ps));
    if (!is_op)
        return;
    thread->ops++;
    thread->op_ps = tm_sum_times(thread->op_ps, cover(&thread->op_until_ps, start_ps, end_ps));
}

/* in:     lines  how many there are
 *         event  that `wants` wants
 *         page   of h->lines */
static inline void host_take_span(struct host *h, uint64_t lines, const struct tm_event *event,
                                  struct tm_row_page *page)
{
    int64_t start_ps = event->record.start_ps, end_ps = start_ps + event->record.dur_ps;
    const uint32_t track = event->record.track;
    struct thread_row *thread;

    if (track >= lines || !event->record.dur_ps || !tm_cut_to_window(&h->window, &start_ps, &end_ps))
        return;
    thread = tm_rows_change_near(h->lines, sizeof(*thread), track, page);
    if (!thread->is_host)
        return;
    add_to_thread(thread, event, start_ps, end_ps);
    if (start_ps < h->seen_begin_ps)
        h->seen_begin_ps = start_ps;
    if (end_ps > h->seen_end_ps)
        h->seen_end_ps = end_ps;
    if (tells_names(event))
        open_span(h, event, start_ps, end_ps - start_ps);
    else
        tm_nesting_take_quiet(h->nesting, track, start_ps, end_ps - start_ps);
}

/* --- a host starts and ends --- */

/* Thread events */
static void host_begin_calls(struct host *h)
{
    const uint64_t tracks = h->trace->tracks ? tm_rows_count(h->trace->tracks) : 0;

    if (tm_find_host_window(h->trace, h->settings, &h->window) != TM_OK)
        return;
    h->seen_begin_ps = INT64_MAX;
    h->seen_end_ps = INT64_MIN;
    h->nesting = tm_nesting_new(h->run, TM_ACCOUNT_THREADS, sizeof(struct host_span), HOST_OPEN_MOST, take_nested, h);
    h->lines = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(struct thread_row), host_memory(h->run, HOST_LINES),
                                 8 << 10);
    if (!h->nesting || !h->lines)
        return;
    for (uint64_t i = 0; i < tracks; i++) {
        const struct tm_track *track = tm_rows_at(h->trace->tracks, i);
        struct thread_row row = { .host = h->trace->host, .busy_until_ps = INT64_MIN, .op_until_ps = INT64_MIN };

        row.name = track->name ? track->name : track->plane_name;
        row.is_host = track->side == TM_SIDE_HOST;
        row.is_main = i == h->trace->main_track;
        tm_rows_append(h->lines, &row);
    }
}

static void host_free_calls(struct host *h)
{
    tm_nesting_free(h->nesting);
    tm_rows_free(h->lines);
    h->nesting = NULL;
    h->lines = NULL;
}

static void keep_host(struct host *h)
{
    struct host_row row = { .basis = (uint8_t)h->window.basis };

    memcpy(row.name, h->trace->host_name, sizeof(row.name));
    if (h->window.basis != TM_HOST_ALL) {
        row.start_ps = h->window.start_ps;
        row.end_ps = h->window.end_ps;
    } else if (h->seen_begin_ps <= h->seen_end_ps) {
        row.start_ps = h->seen_begin_ps;
        row.end_ps = h->seen_end_ps;
    }
    tm_rows_append(h->hosts, &row);
}

static void host_end_calls(struct host *h)
{
    tm_nesting_end(h->nesting);
    for (uint64_t i = 0; i < tm_rows_count(h->lines); i++) {
        const struct thread_row *row = tm_rows_at(h->lines, i);

        if (row->events)
            tm_rows_append(h->threads, row);
    }
    tm_front_flush(&h->front);
    keep_host(h);
    host_free_calls(h);
}

/* --- how rows are folded --- */

static void merge_calls(void *into, const void *from)
{
    tm_fields_merge(call_fields, into, from);
}

static void merge_syncs(void *into, const void *from)
{
    struct sync_row *a = into;
    const struct sync_row *b = from;

    tm_fields_merge(sync_fields, a, b);
    tm_longest_merge(&a->longest, &b->longest);
}

/* --- the stage --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct host *h = s->state;
    struct tm_run *run = s->run;

    h->run = run;
    h->settings = s->settings;
    h->calls =
        tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct call_row), host_memory(run, HOST_CALLS), merge_calls);
    h->syncs =
        tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct sync_row), host_memory(run, HOST_SYNCS), merge_syncs);
    h->delays = tm_lengths_new(run, TM_ACCOUNT_TABLES, host_memory(run, HOST_DELAYS));
    h->threads =
        tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct thread_row), host_memory(run, HOST_THREADS), 8 << 10);
    h->hosts = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct host_row), 0, 8 << 10);
    if (!h->calls || !h->syncs || !h->delays || !h->threads || !h->hosts)
        return run->error.status;
    return tm_front_init(&h->front, run, TM_ACCOUNT_TABLES, sizeof(struct host_call), host_memory(run, HOST_FRONT),
                         h->calls);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct host *h = s->state;

    h->trace = trace;
    h->names = trace->names;
    memset(h->callers, 0, sizeof(h->callers));
    h->has_steps |= trace->steps.source != TM_STEPS_SESSION;
    host_move_delays(h);
    host_begin_launches(h);
    host_begin_calls(h);
    return s->run->error.status;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct host *h = s->state;

    if (!tm_is_on_accelerator(h->trace, event))
        return tm_may_be_host_span(event);
    return event->level != TM_LEVEL_NONE && h->lanes[event->device].is_used;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct host *h = s->state;
    struct tm_row_page page = { .rows = NULL }; /* of h->launched, or of h->lines */

    if (tm_is_on_accelerator(h->trace, events)) {
        struct empty_lane *const lane = &h->lanes[events->device];

        for (size_t i = 0; i < count; i++)
            if (tm_wants(s, &events[i]))
                host_take_activity(h, lane, &events[i], &page);
    } else {
        const uint64_t lines = tm_rows_count(h->lines);

        for (size_t i = 0; i < count; i++)
            if (tm_wants(s, &events[i]))
                host_take_span(h, lines, &events[i], &page);
    }
}

static tm_status end_host(struct tm_stage *s)
{
    struct host *h = s->state;

    host_end_launches(h);
    host_end_calls(h);
    h->trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct host *h = s->state;

    if (!h->run)
        return;
    host_free_launched(h);
    host_free_launches(h);
    host_free_calls(h);
    tm_front_release(&h->front);
    tm_groups_free(h->calls);
    tm_groups_free(h->syncs);
    tm_lengths_free(h->delays);
    tm_rows_free(h->threads);
    tm_rows_free(h->hosts);
}

const struct tm_stage_type tm_host_stage = {
    .name = "host",
    .summary = "host activity: launches, waits, functions, threads",
    .state_bytes = sizeof(struct host),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = host_report,
    .save = host_save,
    .load = host_load,
    .close = close_stage,
};
