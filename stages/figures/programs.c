/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, the stage: counts executions by the calls that make them (on a TPU by the line of modules), and follows
 * each device from the ops of one program to those of the next.  Memory: one row per device of a host. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* Longer stretches between two programs are identified by their cause, like idle gaps. */
#define PROGRAMS_PAUSE_PS INT64_C(100000000)

enum {
    BEGUN_BYTES = 128 << 10, /* of starts that are in memory: they are read in their order */
    PROGRAMS_NAMES = 8,      /* different names of the calls that execute a program: three are known */
    PROGRAMS_PAUSES = 10,
};

/* Shorter operations are small, as in fusion.small. */
#define PROGRAMS_SMALL_PS INT64_C(100000000)

/* The calls of one name.  An execution is several calls, nested, each with its own name. */
struct program_call {
    uint64_t hash; /* of the name */
    uint64_t count;
    int64_t total_ps;
};

/* A unit of work that a device runs for the host: a compiled program, or what one call launched. */
struct dispatch {
    uint64_t ops;     /* so far; 0 = none is open */
    uint64_t launch;  /* of its last op; 0 = not known */
    int64_t op_ps;    /* of the first op */
    int64_t pause_ps; /* before it */
    int64_t call_ps;  /* of its launch */
    uint32_t step;
};

/* Dispatches of the analyzed steps; data about those with a single op. */
struct dispatch_sums {
    uint64_t count, single_count;
    uint64_t step_devices;      /* steps times devices, of the hosts that have some */
    int64_t pause_ps, small_ps; /* of single ones */
    int64_t call_ps;            /* of launches of single ones */
    int64_t execute_ps;         /* of the calls that execute programs, nested ones once */
};

/* One device of the current host. */
struct program_lane {
    int64_t end_ps; /* of what ran last */
    struct dispatch dispatch;
    tm_strid module, first; /* the program that ran last and its first op; module 0 = none */
    uint64_t begun;         /* executions that had started when it did: begun_by */
    uint64_t host_begun;    /* of those, the host's, up to the latest op */
    uint64_t own_begun;     /* TPU: of those, the device's own */
    uint32_t step;          /* TM_NONE = nothing has run */
    int64_t program_end_ps; /* TPU: of the execution that started last */
    bool is_uncounted;      /* which has no op in the analyzed steps yet */
};

struct program_pause {
    int64_t start_ps, dur_ps, step_number;
    uint32_t host, device_index;
    tm_strid before, after; /* programs */
    uint8_t has_step;
    char device[192];
};

struct programs {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct program_lane *lanes; /* of the current host, by device */
    uint32_t lane_count;
    struct program_call calls[PROGRAMS_NAMES]; /* of the current host, in its analyzed steps */
    uint64_t mark;                             /* the step marker that the next call may be in */
    struct tm_rows *begun;                     /* int64_t: starts of the current host's executions, in steps or not */
    bool has_begun;                            /* some execution of the current host or of a device of it */
    uint64_t host_count;                       /* executions on TPUs of the current host */
    struct dispatch_sums host_dispatches;      /* of the current host */
    bool has_modules;                          /* some op of the current host names its program */
    struct tm_top_rows *longest;               /* struct program_pause */
    /* of the run */
    uint64_t count, step_devices; /* steps times devices, of the hosts that have executions in marked steps */
    uint64_t operations, pause_count;
    int64_t operation_ps, pause_ps;
    struct dispatch_sums dispatches;
    bool has_device, has_steps;
};

/* The section programs. */

enum { NAME_MOST = 512 };

static void add_name(struct programs *p, struct tm_value *to, const char *key, tm_strid name)
{
    size_t length;
    const char *text = tm_names_text(p->names, name, NAME_MOST, &length);

    tm_add_text(to, key, text, length);
}

static void add_pauses(struct programs *p, struct tm_value *section)
{
    struct tm_value *pauses = tm_add_object(section, "pauses"), *list;

    tm_add_int(pauses, "below_ps", PROGRAMS_PAUSE_PS);
    tm_add_uint(pauses, "count", p->pause_count);
    tm_add_int(pauses, "total_ps", p->pause_ps);
    list = tm_add_array(pauses, "longest");
    tm_top_rows_sort(p->longest);
    for (uint64_t i = 0; i < tm_top_rows_count(p->longest); i++) {
        const struct program_pause *pause = tm_top_rows_at(p->longest, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "device", pause->device);
        tm_add_int(to, "begin_ps", pause->start_ps);
        tm_add_int(to, "dur_ps", pause->dur_ps);
        if (pause->has_step)
            tm_add_int(to, "step", pause->step_number);
        else
            tm_add_null(to, "step", "the step has no number");
        add_name(p, to, "before", pause->before);
        add_name(p, to, "after", pause->after);
    }
}

/* host.eager: how much of the work is sent to the devices op by op. */
static void add_eager(const struct programs *p, struct tm_value *summary)
{
    const struct dispatch_sums *sums = &p->dispatches;
    struct tm_value *host = tm_member(summary, "host"), *eager;

    if (!host)
        host = tm_add_object(summary, "host");
    if (!sums->count || !sums->step_devices) {
        tm_add_null(host, "eager",
                    !p->has_device  ? "no device activity was recorded"
                    : !p->has_steps ? "no steps are marked in this profile"
                                    : "the profile does not record which operations were launched together");
        return;
    }
    eager = tm_add_object(host, "eager");
    tm_add_double(eager, "programs_per_step", (double)sums->count / (double)sums->step_devices);
    tm_add_double(eager, "single_op_programs_pct", 100 * (double)sums->single_count / (double)sums->count);
    tm_add_int(eager, "launch_gap_ps", sums->pause_ps);
    tm_add_int(eager, "small_kernel_ps", sums->small_ps);
    if (sums->execute_ps || sums->call_ps)
        tm_add_int(eager, "host_ps", sums->execute_ps ? sums->execute_ps : sums->call_ps);
    else
        tm_add_null(eager, "host_ps", "the host calls that launch the work are not recorded");
}

static tm_status programs_report(struct tm_stage *s, struct tm_value *summary)
{
    struct programs *p = s->state;
    struct tm_value *section;

    add_eager(p, summary);
    if (!p->has_device || !p->has_steps || !p->step_devices) {
        tm_add_null(summary, "programs",
                    !p->has_device  ? "no device activity was recorded"
                    : !p->has_steps ? "no steps are marked in this profile"
                                    : "the profile does not record when compiled programs run in its steps");
        return TM_OK;
    }
    section = tm_add_object(summary, "programs");
    tm_add_uint(section, "count", p->count);
    tm_add_double(section, "per_step", (double)p->count / (double)p->step_devices);
    tm_add_uint(section, "operations", p->operations);
    tm_add_int(section, "operation_ps", p->operation_ps);
    add_pauses(p, section);
    return s->run->error.status;
}

/* Programs in a partial: the sums and the longest pauses. */

#define DISPATCH(member, kind) TM_FIELD(struct dispatch_sums, member, kind, SUM)

static const struct tm_row_field dispatch_fields[] = {
    DISPATCH(count, COUNT),   DISPATCH(single_count, COUNT), DISPATCH(step_devices, COUNT), DISPATCH(pause_ps, TIME),
    DISPATCH(small_ps, TIME), DISPATCH(call_ps, TIME),       DISPATCH(execute_ps, TIME),    TM_FIELDS_END,
};

#define SUM(member, kind) TM_FIELD(struct programs, member, kind, SUM)

static const struct tm_row_field stage_fields[] = {
    SUM(count, COUNT),
    SUM(step_devices, COUNT),
    SUM(operations, COUNT),
    SUM(operation_ps, TIME),
    SUM(pause_count, COUNT),
    SUM(pause_ps, TIME),
    TM_FIELD_STRUCTS(struct programs, dispatches, struct dispatch_sums, dispatch_fields),
    TM_FIELD(struct programs, has_device, BOOL, ANY),
    TM_FIELD(struct programs, has_steps, BOOL, ANY),
    TM_FIELDS_END,
};

#define PAUSE(member, kind) TM_FIELD(struct program_pause, member, kind, KEEP)

static const struct tm_row_field pause_fields[] = {
    TM_FIELD_DEVICE_ID(struct program_pause, device, host),
    TM_FIELD_BELOW(struct program_pause, device_index, U32, KEEP, TM_DEVICES_MOST),
    PAUSE(start_ps, INSTANT),
    PAUSE(dur_ps, TIME),
    PAUSE(has_step, BOOL),
    PAUSE(step_number, INSTANT),
    PAUSE(before, NAME),
    PAUSE(after, NAME),
    TM_FIELDS_END,
};

static tm_status programs_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct programs *p = s->state;

    tm_fields_save(w, stage_fields, p);
    tm_fields_save_top(w, pause_fields, p->longest);
    return TM_OK;
}

static tm_status programs_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct programs *p = s->state;

    p->names = tm_partial_names(r);
    tm_fields_load_more(r, stage_fields, p);
    return tm_fields_load_top(r, pause_fields, p->longest, PROGRAMS_PAUSES);
}

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int programs_longest_first(const void *a, const void *b)
{
    const struct program_pause *x = a, *y = b;

    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->device_index != y->device_index)
        return x->device_index < y->device_index ? -1 : 1;
    return compare_times(x->start_ps, y->start_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct programs *p = s->state;

    p->run = s->run;
    p->longest = tm_top_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct program_pause), PROGRAMS_PAUSES,
                                 PROGRAMS_PAUSES * sizeof(struct program_pause) * 2, programs_longest_first);
    return p->longest ? TM_OK : s->run->error.status;
}

static void give_lanes(struct programs *p)
{
    tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->lanes, p->lane_count * sizeof(*p->lanes));
    p->lanes = NULL;
    p->lane_count = 0;
    tm_rows_free(p->begun);
    p->begun = NULL;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct programs *p = s->state;

    p->trace = trace;
    p->names = trace->names;
    p->mark = trace->steps.chosen_begin;
    p->begun = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(int64_t), BEGUN_BYTES);
    p->has_begun = false;
    p->host_count = 0;
    p->host_dispatches = (struct dispatch_sums){ .count = 0 };
    p->has_modules = false;
    memset(p->calls, 0, sizeof(p->calls));
    p->lanes = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*p->lanes), &s->run->error);
    if (!p->lanes)
        return s->run->error.status;
    p->lane_count = trace->device_count;
    for (uint32_t i = 0; i < p->lane_count; i++) {
        p->lanes[i] = (struct program_lane){ .step = TM_NONE };
        p->has_device |= trace->devices[i].activities != 0;
    }
    return TM_OK;
}

/* --- executions --- */

/* Whether a moment of the host is in an analyzed step; moments come in their order, as the markers do. */
static bool is_in_mark(struct programs *p, int64_t at_ps)
{
    const struct tm_steps *steps = &p->trace->steps;

    for (; p->mark < steps->chosen_end; p->mark++) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, p->mark);

        if (at_ps < mark->start_ps)
            return false;
        if (at_ps - mark->start_ps < mark->dur_ps)
            return true;
    }
    return false;
}

static void take_call(struct programs *p, const struct tm_event *event)
{
    struct tm_name name;

    tm_rows_append(p->begun, &event->record.start_ps);
    if (p->trace->steps.source != TM_STEPS_HOST)
        return;

    if (!is_in_mark(p, event->record.start_ps))
        return;
    name = tm_names_info(p->names, event->record.name);
    for (int i = 0; i < PROGRAMS_NAMES; i++) {
        struct program_call *call = &p->calls[i];

        if (call->count && call->hash != name.hash.low)
            continue;
        call->hash = name.hash.low;
        call->count++;
        call->total_ps = tm_sum_times(call->total_ps, event->record.dur_ps);
        break;
    }
}

/* An execution on a TPU, which counts with its first op of an analyzed step. */
static void take_module(struct program_lane *lane, const struct tm_event *event)
{
    lane->own_begun++;
    lane->program_end_ps = event->record.start_ps + event->record.dur_ps;
    lane->is_uncounted = true;
}

static void count_module(struct programs *p, struct program_lane *lane, const struct tm_event *event)
{
    if (lane->is_uncounted && event->record.start_ps < lane->program_end_ps) {
        lane->is_uncounted = false;
        p->host_count++;
    }
}

/* --- pauses --- */

static void take_pause(struct programs *p, const struct program_lane *lane, const struct tm_event *event)
{
    const struct tm_device *device = &p->trace->devices[event->device];
    const struct tm_steps *steps = &p->trace->steps;
    struct program_pause pause = { .start_ps = lane->end_ps,
                                   .dur_ps = event->record.start_ps - lane->end_ps,
                                   .host = p->trace->host,
                                   .device_index = event->device,
                                   .before = lane->module,
                                   .after = event->config->module };

    if (pause.dur_ps <= 0 || pause.dur_ps >= PROGRAMS_PAUSE_PS)
        return;
    p->pause_count = tm_sum_counts(p->pause_count, 1);
    p->pause_ps = tm_sum_times(p->pause_ps, pause.dur_ps);
    memcpy(pause.device, device->id, sizeof(pause.device));
    if (steps->source == TM_STEPS_HOST && event->step < tm_rows_count(steps->marks)) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, event->step);

        pause.has_step = 1;
        pause.step_number = mark->number;
    }
    tm_top_rows_add(p->longest, &pause);
}

/* --- dispatches --- */

static void close_dispatch(struct programs *p, struct dispatch *d)
{
    struct dispatch_sums *sums = &p->host_dispatches;

    if (!d->ops)
        return;
    sums->count = tm_sum_counts(sums->count, 1);
    if (d->ops == 1) {
        sums->single_count = tm_sum_counts(sums->single_count, 1);
        sums->pause_ps = tm_sum_times(sums->pause_ps, d->pause_ps);
        sums->call_ps = tm_sum_times(sums->call_ps, d->call_ps);
        if (d->op_ps < PROGRAMS_SMALL_PS)
            sums->small_ps = tm_sum_times(sums->small_ps, d->op_ps);
    }
    d->ops = 0;
}

TM_NOT_INLINE void begin_dispatch(struct programs *p, struct program_lane *lane, const struct tm_event *event)
{
    const int64_t pause_ps = event->record.start_ps - lane->end_ps;
    struct dispatch *d = &lane->dispatch;

    close_dispatch(p, d);
    *d = (struct dispatch){ .ops = 1,
                            .launch = event->launch,
                            .op_ps = event->record.dur_ps,
                            .call_ps = event->launch ? event->launch_dur_ps : 0,
                            .step = event->step };
    if (lane->step == event->step && pause_ps > 0 && pause_ps < PROGRAMS_PAUSE_PS)
        d->pause_ps = pause_ps;
}

/* in:     is_next  it belongs to another program than the previous op, as far as programs are known */
static inline void take_dispatched(struct programs *p, struct program_lane *lane, const struct tm_event *event,
                                   bool is_next)
{
    struct dispatch *d = &lane->dispatch;

    if (d->ops && !is_next && d->step == event->step)
        d->ops++;
    else
        begin_dispatch(p, lane, event);
}

/* --- operations --- */

/* How many executions started by the time of a device's op: the host's, which may be ahead in time, and its own. */
static uint64_t begun_by(struct programs *p, struct program_lane *lane, int64_t at_ps)
{
    while (lane->host_begun < tm_rows_count(p->begun) &&
           *(const int64_t *)tm_rows_at(p->begun, lane->host_begun) <= at_ps)
        lane->host_begun++;
    return lane->host_begun + lane->own_begun;
}

/* Whether an op is of another execution than the one before it: its program is another one, or starts again with
 * its first op and an execution has started since: loops return to it, too. */
static bool is_of_next(struct programs *p, struct program_lane *lane, const struct tm_event *event)
{
    if (!tm_names_are_same(p->names, lane->module, event->config->module))
        return true;
    return tm_names_are_same(p->names, lane->first, event->config->hlo_op) &&
           begun_by(p, lane, event->record.start_ps) > lane->begun;
}

static void take_op(struct programs *p, struct program_lane *lane, const struct tm_event *event)
{
    const bool is_same_step = lane->step == event->step;
    const bool is_next = !is_same_step || is_of_next(p, lane, event);

    take_dispatched(p, lane, event, is_next);
    if (!is_next)
        return;
    if (is_same_step && lane->module)
        take_pause(p, lane, event);
    lane->module = event->config->module;
    lane->first = event->config->hlo_op;
    lane->begun = begun_by(p, lane, event->record.start_ps);
}

static bool is_op(const struct tm_event *event)
{
    return event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_TPU_OP ||
           event->record.class == TM_CLASS_CPU_OP;
}

static inline void take_activity(struct programs *p, struct program_lane *lane, const struct tm_event *event)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;

    count_module(p, lane, event);
    if (is_op(event)) {
        p->operations = tm_sum_counts(p->operations, 1);
        p->operation_ps = tm_sum_times(p->operation_ps, event->record.dur_ps);
        p->has_modules |= event->config->module != 0;
        if (event->config->module)
            take_op(p, lane, event);
        else if (event->launch)
            take_dispatched(p, lane, event, event->launch != lane->dispatch.launch);
    }
    if (lane->step == TM_NONE || end_ps > lane->end_ps)
        lane->end_ps = end_ps;
    lane->step = event->step;
}

static bool has_marked_steps(const struct tm_trace *trace)
{
    return trace->steps.source != TM_STEPS_SESSION;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct programs *p = s->state;

    if (!has_marked_steps(p->trace))
        return false;
    return event->record.class == TM_CLASS_MODULE ||
           (event->chosen && event->level != TM_LEVEL_NONE && event->device < p->lane_count);
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct programs *p = s->state;
    struct program_lane *const lane = events->device < p->lane_count ? &p->lanes[events->device] : NULL;

    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];

        if (!tm_wants(s, event))
            continue;
        if (event->record.class != TM_CLASS_MODULE) {
            if (event->step != TM_NONE)
                take_activity(p, lane, event);
            continue;
        }
        p->has_begun = true;
        if (lane)
            take_module(lane, event);
        else
            take_call(p, event);
    }
}

static tm_status end_host(struct tm_stage *s)
{
    struct programs *p = s->state;
    const struct tm_steps *steps = &p->trace->steps;
    uint64_t count = p->host_count, devices = 0;
    int64_t execute_ps = 0;

    for (int i = 0; i < PROGRAMS_NAMES; i++) {
        count = p->calls[i].count > count ? p->calls[i].count : count;
        execute_ps = p->calls[i].total_ps > execute_ps ? p->calls[i].total_ps : execute_ps;
    }
    for (uint32_t i = 0; i < p->lane_count; i++) {
        devices += p->trace->devices[i].activities != 0;
        close_dispatch(p, &p->lanes[i].dispatch);
    }
    /* Without the calls that execute them two executions of one program are not distinguished. */
    if (p->host_dispatches.count && (p->has_begun || !p->has_modules)) {
        p->host_dispatches.step_devices = (steps->chosen_end - steps->chosen_begin) * devices;
        p->host_dispatches.execute_ps = execute_ps;
        tm_fields_merge(dispatch_fields, &p->dispatches, &p->host_dispatches);
    }
    p->has_steps |= has_marked_steps(p->trace);
    if (count) {
        p->count = tm_sum_counts(p->count, count);
        p->step_devices = tm_sum_counts(p->step_devices, (steps->chosen_end - steps->chosen_begin) * devices);
    }
    give_lanes(p);
    p->trace = NULL;
    return TM_OK;
}

static void close_stage(struct tm_stage *s)
{
    struct programs *p = s->state;

    if (!p->run)
        return;
    give_lanes(p);
    tm_top_rows_free(p->longest);
}

const struct tm_stage_type tm_programs_stage = {
    .name = "programs",
    .summary = "executions of compiled programs, and the pauses between them",
    .state_bytes = sizeof(struct programs),
    .classes = TM_CLASSES_ACTIVITY | TM_CLASS_BIT(TM_CLASS_MODULE),
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = programs_report,
    .save = programs_save,
    .load = programs_load,
    .close = close_stage,
};
