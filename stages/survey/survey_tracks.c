/* SPDX-License-Identifier: Apache-2.0 */
/* The readings of the survey: every record of a track, in the order of the file.  Everything collected here is a
 * count, a sum, a first or a last, or is added to a table that is sorted later: the order does not matter. */
#include <string.h>

#include "pipeline/store/names.h"
#include "stages/resolve/classes.h"
#include "stages/survey/survey.h"

/* in: raw  of one that has a signature only what tm_fill_record needs */
typedef void on_record(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw);
/* Takes records of a batch from the i-th on, as far as it can.  out: the first one that is left to on_record */
typedef uint32_t on_batch(struct tm_survey *s, struct tm_track *track, const struct tm_batch *batch, uint32_t i);

static inline void fill_record(const struct tm_survey *s, struct tm_raw_record *raw)
{
    if (raw->signature)
        tm_fill_record(s->source->signatures, raw);
}

/* The times of the previous record; initially those of one before all others. */
struct before {
    int64_t start_ps, dur_ps;
};
static const struct before nothing_before = { INT64_MIN, 0 };

static void note_times(struct tm_track *track, struct before *before, const int64_t *start_ps, const int64_t *dur_ps,
                       uint32_t count)
{
    struct before last = *before;
    int64_t first_ps = track->first_ps, last_ps = track->last_ps;
    bool is_unsorted = false;

    for (uint32_t i = 0; i < count; i++) {
        const int64_t end_ps = start_ps[i] + dur_ps[i]; /* tm_time_fits */

        first_ps = start_ps[i] < first_ps ? start_ps[i] : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
        if (start_ps[i] <= last.start_ps)
            is_unsorted |= start_ps[i] < last.start_ps || dur_ps[i] > last.dur_ps;
        last = (struct before){ start_ps[i], dur_ps[i] };
    }
    track->first_ps = first_ps;
    track->last_ps = last_ps;
    track->is_unsorted |= is_unsorted;
    *before = last;
}

/* Facts of a track from the first reading of its records: their number, the first and the last time, and whether they
 * are in order. */
static void count_batch(struct tm_survey *s, struct tm_track *track, const struct tm_batch *batch,
                        struct before *before)
{
    const uint32_t count = batch->count + batch->has_other;

    track->records += count;
    tm_progress_events(&s->run->progress, count);
    note_times(track, before, batch->start_ps, batch->dur_ps, batch->count);
    if (batch->has_other)
        note_times(track, before, &batch->other.record.start_ps, &batch->other.record.dur_ps, 1);
    if (s->census)
        tm_survey_stats_take_batch(s->census, s->source->signatures, track, batch);
}

static void note_track(struct tm_trace *trace, const struct tm_track *track)
{
    trace->first_ps = track->first_ps < trace->first_ps ? track->first_ps : trace->first_ps;
    trace->last_ps = track->last_ps > trace->last_ps ? track->last_ps : trace->last_ps;
}

/* Receives the records that are read. */
struct takers {
    on_batch *batch; /* may be NULL */
    on_record *record;
};

/* Read a track.  in: counts  true for one reading of each track: its tallies are counted, and what it holds */
static void read_track(struct tm_survey *s, uint64_t number, bool counts, const struct takers *take,
                       struct tm_track *track)
{
    const struct tm_source_type *type = s->source->type;
    struct tm_cursor *cursor = type->open(s->source, number, s->buffer_bytes);
    struct tm_batch *const batch = s->batch;
    struct before before = nothing_before;
    const uint64_t events_before = s->run->events_read;

    if (cursor)
        cursor->counts = counts;
    if (counts) {
        track->first_ps = INT64_MAX;
        track->last_ps = INT64_MIN;
    }
    batch->is_last = false;
    while (!batch->is_last && !tm_failed(s->run)) {
        struct tm_raw_record raw = { .record = { .track = (uint32_t)number } };

        tm_next_batch(cursor, batch);
        if (counts)
            count_batch(s, track, batch, &before);
        for (uint32_t i = 0; i < batch->count + batch->has_other && !tm_failed(s->run); i++) {
            if (take->batch)
                i = take->batch(s, track, batch, i);
            if (i == batch->count + batch->has_other)
                break;
            tm_batch_get(batch, i, &raw);
            take->record(s, track, &raw);
        }
    }
    if (counts) {
        if (s->trace->skims_lines)
            track->events = s->run->events_read - events_before;
        note_track(s->trace, track);
    }
    type->close(cursor);
}

/* --- the host's lines --- */

struct host_reading {
    struct tm_track track;                                        /* first: take_host gets a pointer to it */
    uint64_t python, pjit, framework_ops, markers, calls, thunks; /* calls: of the driver */
};

/* Give a thread its number; past the limit its doings count as not recorded. */
static void number_thread(struct tm_survey *s, struct tm_track *track, uint32_t most)
{
    if (track->thread == TM_NONE && s->trace->thread_count < most)
        track->thread = s->trace->thread_count++;
}

/* in: of  the track that the record names */
static inline void keep_launch(struct tm_survey *s, struct tm_track *track, uint64_t key, int64_t start_ps,
                               int64_t dur_ps, uint32_t of, uint32_t traits)
{
    const bool is_uncertain = !(traits & (TM_TRAIT_LAUNCH | TM_TRAIT_SYNC));

    number_thread(s, track, TM_THREADS_MOST - 1); /* one is for the main thread */
    s->has_uncertain_launches |= is_uncertain;
    /* made at once: a copy of members that were written a moment ago would wait for the cache */
    tm_launches_put_first(s->resolver->launches, &(struct tm_launch){ .key = key,
                                                                      .start_ps = start_ps,
                                                                      .dur_ps = dur_ps,
                                                                      .track = of,
                                                                      .thread = track->thread,
                                                                      .is_named = (traits & TM_TRAIT_LAUNCH) != 0,
                                                                      .is_uncertain = is_uncertain,
                                                                      .direction = (uint8_t)tm_direction_of(traits) });
}

static void keep_marker(struct tm_survey *s, const struct tm_raw_record *raw)
{
    const struct tm_record *r = &raw->record;
    const int64_t number =
        r->args_length == sizeof(struct tm_number) ? ((const struct tm_number *)raw->args)->value : INT64_MIN;
    const struct tm_span span = { .start_ps = r->start_ps,
                                  .end_ps = r->start_ps + r->dur_ps,
                                  .value = (uint64_t)number };

    s->marker_count++;
    tm_spans_add(s->markers, &span);
}

static void keep_compile(struct tm_survey *s, const struct tm_raw_record *raw)
{
    const uint32_t kind = raw->traits & TM_TRAIT_COMPILE_WHOLE ? 0 : raw->traits & TM_TRAIT_COMPILE_CLIENT ? 1 : 2;
    const struct tm_compile_mark mark = { raw->record.start_ps, kind };

    s->compile_counts[kind]++;
    tm_sorter_push(s->compiles, &mark);
}

/* An execution of a program on a lane; the same again in the table of programs. */
static void keep_execution(struct tm_survey *s, tm_strid module, uint64_t lane, const struct tm_record *record,
                           bool is_device_time)
{
    struct tm_execution execution = {
        .name = module, .lane = lane, .start_ps = record->start_ps, .end_ps = record->start_ps + record->dur_ps
    };
    struct tm_module_time time = { .name = module, .executions = 1, .total_ps = is_device_time ? record->dur_ps : 0 };

    execution.module = time.module = tm_names_info(s->trace->names, module).hash;
    tm_sorter_push(s->executions, &execution);
    tm_groups_add(s->module_times, &time);
}

static void keep_cpu_op(struct tm_survey *s, struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_config *config = tm_rows_at(s->trace->configs, raw->record.config);
    const uint32_t device = tm_cpu_device(s->trace, config->ordinal);

    if (device == TM_NONE)
        return;
    if (!s->trace->devices[device].activities && s->trace->devices[device].first_ps == 0) {
        s->trace->devices[device].first_ps = INT64_MAX;
        s->trace->devices[device].last_ps = INT64_MIN;
    }
    track->has_cpu_ops = 1;
    s->has_cpu_ops = true;
}

static void keep_thunks(struct tm_survey *s, const struct tm_record *r)
{
    const struct tm_span span = { .lane = r->track, .start_ps = r->start_ps, .end_ps = r->start_ps + r->dur_ps };

    tm_spans_add(s->thunks, &span);
}

/* Names of host events that say more than a launch. */
enum {
    TRAITS_TELLING = TM_TRAIT_STEP_NAME | TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA |
                     TM_TRAIT_EXECUTE_THUNKS
};

/* An op with a correlation id is what a launch launches. */
static inline bool is_cpu_op(uint16_t flags)
{
    return (flags & (TM_FLAG_HLO_OP | TM_FLAG_CORRELATION)) == TM_FLAG_HLO_OP;
}

static void take_telling(struct tm_survey *s, struct host_reading *h, struct tm_raw_record *raw)
{
    const struct tm_record *r = &raw->record;
    const uint32_t traits = raw->traits;

    if (r->flags & TM_FLAG_STEP || traits & TM_TRAIT_STEP_NAME) {
        h->markers++;
        keep_marker(s, raw);
    }
    if (traits & (TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA))
        keep_compile(s, raw);
    if (traits & TM_TRAIT_EXECUTE_THUNKS) {
        h->thunks++;
        keep_thunks(s, r);
        if (r->config) {
            const struct tm_config *config = tm_rows_at(s->trace->configs, r->config);

            keep_execution(s, config->module, r->track, r, false);
        }
    }
    if (is_cpu_op(r->flags) && !(traits & TM_TRAIT_END_MARKER))
        keep_cpu_op(s, &h->track, raw);
}

static inline void count_call(struct host_reading *h, enum tm_class class, uint32_t traits)
{
    h->python += traits & TM_TRAIT_PYTHON || class == TM_CLASS_PYTHON;
    h->pjit += (traits & TM_TRAIT_PJIT) != 0;
    h->framework_ops += (traits & TM_TRAIT_FRAMEWORK_OP) != 0;
    h->calls += (traits & TM_TRAIT_DRIVER_CALL) != 0;
}

static inline bool may_be_launch(uint64_t correlation, uint16_t flags, uint32_t traits)
{
    return correlation && (flags & TM_FLAG_CORRELATION || tm_is_enqueue(traits));
}

static inline bool is_telling(uint16_t flags, uint32_t traits)
{
    return flags & TM_FLAG_STEP || traits & TRAITS_TELLING || is_cpu_op(flags);
}

static void take_host(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw)
{
    struct host_reading *h = (struct host_reading *)track;
    const struct tm_record *r = &raw->record;
    uint32_t traits;

    fill_record(s, raw);
    traits = raw->traits;
    count_call(h, (enum tm_class)r->class, traits);
    if (may_be_launch(r->correlation, r->flags, traits))
        keep_launch(s, track, r->correlation, r->start_ps, r->dur_ps, r->track, traits);
    if (is_telling(r->flags, traits))
        take_telling(s, h, raw);
}

/* Calls that are at most launches: nearly all of them.  They take 60 instructions instead of 170, because their records
 * are not filled in, and what their signatures say is counted once for those that follow each other.  An on_batch. */
static uint32_t take_plain_calls(struct tm_survey *s, struct tm_track *track, const struct tm_batch *batch, uint32_t i)
{
    struct host_reading *const h = (struct host_reading *)track;

    for (; i < batch->count; i++) {
        const struct tm_signature *const call = &s->source->signatures->rows[batch->signature[i]];
        const uint32_t traits = call->traits;
        const uint64_t id = batch->correlation[i];

        if (is_telling(call->flags, traits))
            break;
        count_call(h, (enum tm_class)call->class, traits);
        if (may_be_launch(id, call->flags, traits))
            keep_launch(s, track, id, batch->start_ps[i], batch->dur_ps[i], call->track, traits);
    }
    return i;
}

/* The main thread is the line of the step markers, else that with most python, else with most PjitFunction, else with
 * most events: the order of the lines is not the same in a JSON. */
static void judge_main_track(struct tm_survey *s, const struct host_reading *h, uint64_t number)
{
    uint64_t score = h->track.events;

    if (h->markers)
        score = ((uint64_t)1 << 62) + h->markers;
    else if (h->python)
        score = ((uint64_t)1 << 61) + h->python;
    else if (h->pjit)
        score = ((uint64_t)1 << 60) + h->pjit;
    if (s->trace->main_track == TM_NONE || score > s->main_score) {
        s->main_score = score;
        s->trace->main_track = (uint32_t)number;
    }
}

/* A line of the driver's calls alone, and one that executes programs and does not launch: they may be one thread. */
static void note_executor(struct tm_survey *s, struct host_reading *h, uint64_t number)
{
    h->track.is_driver = h->track.thread != TM_NONE && h->calls == h->track.records;
    s->has_drivers |= h->track.is_driver;
    if (h->thunks && h->track.thread == TM_NONE && s->executor_count < TM_EXECUTORS_MOST)
        s->executors[s->executor_count++] = (uint32_t)number;
}

static void put_track(struct tm_survey *s, uint64_t number, const struct tm_track *track)
{
    struct tm_track *row = tm_rows_change(s->trace->tracks, number);

    if (tm_failed(s->run))
        return;
    *row = *track;
    if (track->sort == TM_TRACK_FLOWS && s->trace->has_inert_flows)
        row->is_unsorted = 0; /* sorting them would change nothing */
    if (row->is_unsorted)
        tm_tally_add(&s->run->tallies, TM_TALLY_UNSORTED_LINE, 1);
}

static void get_track(struct tm_survey *s, uint64_t number, struct tm_track *track)
{
    *track = *(const struct tm_track *)tm_rows_at(s->trace->tracks, number);
}

/* CPU devices were created in the order of their first ops; people expect the order of their numbers.  Nothing
 * refers to them by index yet. */
static void sort_cpu_devices(struct tm_trace *trace)
{
    uint32_t first = 0;

    while (first < trace->device_count && trace->devices[first].kind != TM_DEVICE_CPU)
        first++;
    tm_trace_sort_devices(trace, first, NULL);
}

static void number_main_thread(struct tm_survey *s)
{
    struct tm_track *row;

    s->trace->main_thread = TM_NONE;
    if (s->trace->main_track == TM_NONE)
        return;
    row = tm_rows_change(s->trace->tracks, s->trace->main_track);
    number_thread(s, row, TM_THREADS_MOST);
    s->trace->main_thread = row->thread;
}

/* ROCm's tracer puts the driver's calls of a thread on a separate line.  The owner is determined by time: the thread
 * whose program executions contain them.  Both lines then have one thread number, so queries about the launching thread
 * cover both.  Memory: fixed. */

enum { CALLS_ASKED = 256 }; /* of a line: examine this many launches */

/* The number of launches of a line in the executions of each thread. */
struct overlap {
    uint32_t launches;
    uint32_t inside[TM_EXECUTORS_MOST];
};

static void count_launch(struct tm_survey *s, int64_t at_ps, struct overlap *overlap)
{
    overlap->launches++;
    for (uint32_t i = 0; i < s->executor_count; i++)
        overlap->inside[i] += tm_spans_find(s->thunks, s->executors[i], at_ps) != NULL;
}

static void count_overlap(struct tm_survey *s, uint64_t number, struct overlap *overlap)
{
    const struct tm_source_type *type = s->source->type;
    struct tm_cursor *cursor = type->open(s->source, number, s->buffer_bytes);
    struct tm_raw_record raw;
    bool more;

    if (cursor)
        cursor->counts = false;
    while (cursor && overlap->launches < CALLS_ASKED && type->next(cursor, &raw, &more) == TM_OK && more) {
        if (raw.traits & TM_TRAIT_LAUNCH)
            count_launch(s, raw.record.start_ps, overlap);
    }
    type->close(cursor);
}

/* The thread that has most of them, and more than any other; executor_count = none. */
static uint32_t thread_of(const struct tm_survey *s, const struct overlap *overlap)
{
    uint32_t best = 0;
    bool is_alone = true;

    for (uint32_t i = 1; i < s->executor_count; i++) {
        if (overlap->inside[i] == overlap->inside[best])
            is_alone = false;
        if (overlap->inside[i] > overlap->inside[best]) {
            best = i;
            is_alone = true;
        }
    }
    return is_alone && overlap->inside[best] > overlap->launches / 2 ? best : s->executor_count;
}

static void join_drivers(struct tm_survey *s)
{
    const uint64_t count = tm_rows_count(s->trace->tracks);

    if (!s->has_drivers || !s->executor_count)
        return;
    tm_spans_finish(s->thunks);
    for (uint64_t i = 0; i < count && s->executor_count && !tm_failed(s->run); i++) {
        const struct tm_track *row = tm_rows_at(s->trace->tracks, i);
        struct overlap overlap = { .launches = 0 };
        struct tm_track *executor;
        uint32_t thread, best;

        if (!row->is_driver)
            continue;
        thread = row->thread;
        count_overlap(s, i, &overlap);
        best = thread_of(s, &overlap);
        if (best == s->executor_count)
            continue;
        executor = tm_rows_change(s->trace->tracks, s->executors[best]);
        executor->thread = thread;
        s->executors[best] = s->executors[--s->executor_count]; /* a thread has one such line */
    }
}

/* TensorFlow records its ops on host threads.  So does tf.data in a JAX program, but next to calls of jitted
 * functions. */
static void note_tensorflow(struct tm_trace *trace, uint64_t framework_ops, uint64_t pjit)
{
    struct tm_environment *e = &trace->environment;

    if (framework_ops && !pjit && !e->jax[0] && trace->origin != TM_ORIGIN_PYTORCH)
        (void)snprintf(e->framework, sizeof(e->framework), "tensorflow");
}

void tm_survey_host_tracks(struct tm_survey *s)
{
    uint64_t framework_ops = 0, pjit = 0;
    const uint64_t count = tm_rows_count(s->trace->tracks);

    for (uint64_t i = 0; i < count && !tm_failed(s->run); i++) {
        struct host_reading h = { .python = 0 };

        get_track(s, i, &h.track);
        if (h.track.side != TM_SIDE_HOST || !h.track.events)
            continue;
        read_track(s, i, true, &(struct takers){ take_plain_calls, take_host }, &h.track);
        h.track.has_python = h.python > 0;
        h.track.is_user = h.python || h.markers || h.pjit;
        framework_ops += h.framework_ops;
        pjit += h.pjit;
        note_executor(s, &h, i);
        judge_main_track(s, &h, i);
        put_track(s, i, &h.track);
    }
    note_tensorflow(s->trace, framework_ops, pjit);
    sort_cpu_devices(s->trace);
    join_drivers(s);
    number_main_thread(s);
}

/* --- the devices' lines --- */

struct device_reading {
    struct tm_track track; /* first */
    bool facts, rows;
    struct tm_step_row *step_row; /* of the activity before, or NULL */
    uint32_t step, step_device;
    int64_t step_from_ps,
        step_until_ps; /* what is launched from then until then belongs to it, too; equal = not known */
};

enum { PROGRAM_NAME_MOST = 4096 };

/* The number and the name that an execution's name gives.  Executions of a program mostly follow each other. */
static void keep_program_name(struct tm_survey *s, tm_strid name)
{
    struct tm_names *const names = s->trace->names;
    struct tm_program_name program;
    char copy[PROGRAM_NAME_MOST];
    const char *text;
    size_t length;
    int64_t id;

    if (!name || name == s->last_program || !s->trace->program_names)
        return;
    s->last_program = name;
    text = tm_names_text(names, name, sizeof(copy), &length);
    if (!tm_program_in_name(text, &length, &id))
        return;
    memcpy(copy, text, length); /* putting a string in may move it */
    program = (struct tm_program_name){ .program_id = (uint64_t)id, .name = tm_names_put(names, copy, length) };
    tm_index_put(s->trace->program_names, &program);
}

static void take_program(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw)
{
    const struct tm_record *r = &raw->record;
    const struct tm_span span = {
        .lane = track->device, .start_ps = r->start_ps, .end_ps = r->start_ps + r->dur_ps, .value = r->correlation
    };

    fill_record(s, raw);
    if (track->line == TM_LINE_TPU_STEPS) {
        s->tpu_step_count++;
        tm_spans_add(s->tpu_steps, &span);
        return;
    }
    s->tpu_programs++;
    keep_program_name(s, r->name);
    tm_spans_add(s->resolver->programs, &span);
    keep_execution(s, r->name, track->device, r, true);
}

static bool is_program_line(const struct tm_track *track)
{
    return track->side == TM_SIDE_DEVICE && (track->line == TM_LINE_TPU_MODULES || track->line == TM_LINE_TPU_STEPS);
}

void tm_survey_program_tracks(struct tm_survey *s)
{
    const uint64_t count = tm_rows_count(s->trace->tracks);

    for (uint64_t i = 0; i < count && !tm_failed(s->run); i++) {
        struct device_reading d = { .facts = false };

        get_track(s, i, &d.track);
        if (!is_program_line(&d.track) || !d.track.events)
            continue;
        read_track(s, i, true, &(struct takers){ .record = take_program }, &d.track);
        put_track(s, i, &d.track);
    }
}

/* An uncertain launch is one if some activity has its id.  Where that is what the launch was looked up by, and none
 * was found, it need not be looked up again. */
static void confirm_launch(struct tm_survey *s, const struct tm_track *track, const struct tm_event *event)
{
    const bool may_be_known = event->launch || track->line == TM_LINE_TPU_OPS;
    const uint64_t key = event->record.correlation;
    const struct tm_id id = { key };
    struct tm_launch launch;

    if (!s->has_uncertain_launches || !may_be_known || !key || key == s->last_launched_id)
        return;
    s->last_launched_id = key;
    if (tm_launches_find(s->resolver->launches, key, &launch) && launch.is_uncertain)
        tm_index_put(s->resolver->launched, &id);
}

static void keep_module_time(struct tm_survey *s, const struct tm_event *event)
{
    struct tm_module_time time = { .name = event->config->module, .total_ps = event->record.dur_ps };

    if (!event->config->module || event->record.class == TM_CLASS_TPU_OP)
        return;
    time.module = tm_names_info(s->trace->names, event->config->module).hash;
    tm_groups_add(s->module_times, &time);
}

static void keep_group(struct tm_survey *s, const struct tm_raw_record *raw)
{
    struct tm_group_span span = { .start_ps = raw->record.start_ps,
                                  .end_ps = raw->record.start_ps + raw->record.dur_ps };

    if (raw->signature || !(raw->record.flags & TM_FLAG_GROUP) || raw->record.args_length != sizeof(struct tm_number))
        return;
    s->has_groups = true;
    span.key.low = (uint64_t)((const struct tm_number *)raw->args)->value;
    tm_groups_add(s->groups, &span);
}

static void widen_device(struct tm_device *device, uint64_t activities, int64_t first_ps, int64_t last_ps)
{
    device->activities += activities;
    device->first_ps = first_ps < device->first_ps ? first_ps : device->first_ps;
    device->last_ps = last_ps > device->last_ps ? last_ps : device->last_ps;
}

static void widen_step(struct tm_step_row *row, uint64_t activities, int64_t first_ps, int64_t last_ps)
{
    row->first_ps = !row->activities || first_ps < row->first_ps ? first_ps : row->first_ps;
    row->last_ps = !row->activities || last_ps > row->last_ps ? last_ps : row->last_ps;
    row->activities += activities;
}

static void keep_facts(struct tm_survey *s, const struct tm_track *track, const struct tm_raw_record *raw,
                       const struct tm_event *event)
{
    struct tm_device *device = &s->trace->devices[event->device];

    widen_device(device, 1, event->record.start_ps, event->record.start_ps + event->record.dur_ps);
    device->has_collapsed_graphs |= event->record.class == TM_CLASS_GRAPH;
    s->trace->has_kernel_details |= (event->record.flags & TM_FLAG_KERNEL_DETAILS) != 0;
    if (s->has_uncertain_launches)
        confirm_launch(s, track, event);
    if (!s->marker_count) {
        keep_module_time(s, event);
        keep_group(s, raw);
    }
}

static void keep_step(struct tm_survey *s, struct device_reading *d, const struct tm_event *event)
{
    const struct tm_steps *const steps = &s->trace->steps;

    if (event->step == TM_NONE || event->step >= steps->count)
        return;
    if (!d->step_row || event->step != d->step || event->device != d->step_device) {
        d->step_row = tm_rows_change(steps->rows, s->trace->devices[event->device].first_step_row + event->step);
        d->step = event->step;
        d->step_device = event->device; /* no other row is requested meanwhile */
    }
    widen_step(d->step_row, 1, event->record.start_ps, event->record.start_ps + event->record.dur_ps);
    if (steps->source == TM_STEPS_HOST && d->track.line != TM_LINE_TPU_OPS)
        tm_spans_found(s->resolver->steps, 0, &d->step_from_ps, &d->step_until_ps);
}

static void take_activity(struct tm_survey *s, struct device_reading *d, const struct tm_raw_record *raw)
{
    const struct tm_event *const event = tm_resolve(s->resolver, &d->track, raw);

    if (!event || event->level == TM_LEVEL_NONE)
        return;
    if (d->facts)
        keep_facts(s, &d->track, raw, event);
    if (d->rows)
        keep_step(s, d, event);
}

/* A graph, or a kernel of one.  Graphs wait until it is known whether their kernels were recorded, which kernels of
 * graphs show. out: true: it waits */
static bool take_graph(struct tm_survey *s, const struct device_reading *d, struct tm_raw_record *raw)
{
    const struct tm_record *const r = &raw->record;

    fill_record(s, raw);
    if (r->flags & TM_FLAG_GRAPH_EXEC && !(r->flags & TM_FLAG_KERNEL_DETAILS)) {
        struct tm_graph_event graph = { .record = *r, .traits = raw->traits };

        if (r->args_length == sizeof(graph.number))
            memcpy(&graph.number, raw->args, sizeof(graph.number));
        if (d->facts)
            tm_sorter_push(s->graphs, &graph);
        return true;
    }
    if (d->facts && r->correlation != s->last_node_id) {
        const struct tm_id id = { r->correlation };

        tm_index_put(s->resolver->expanded_graphs, &id);
        s->last_node_id = r->correlation;
    }
    return false;
}

static inline uint16_t flags_of(const struct tm_survey *s, const struct tm_raw_record *raw)
{
    return raw->signature ? s->source->signatures->rows[raw->signature].flags : raw->record.flags;
}

static void take_device(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw)
{
    struct device_reading *d = (struct device_reading *)track;

    if (!(flags_of(s, raw) & (TM_FLAG_GRAPH_NODE | TM_FLAG_GRAPH_EXEC)) || !take_graph(s, d, raw))
        take_activity(s, d, raw);
}

/* Activities in the same step as the previous one, according to the host's markers and their own launches, that differ
 * only in their times: nearly all activities of steps.  An event takes 40 instructions instead of 250.  An on_batch. */
static uint32_t take_plain_activities(struct tm_survey *s, struct tm_track *track, const struct tm_batch *batch,
                                      uint32_t i)
{
    const struct device_reading *const d = (const struct device_reading *)track;
    struct tm_launches *const launches = s->resolver->launches;
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
    uint64_t activities = 0;

    if (!d->facts || !d->rows || launches->sparse || d->step_from_ps == d->step_until_ps)
        return i;
    for (; i < batch->count; i++) {
        const struct tm_call_site *const site = tm_call_site_of(s->resolver, batch->signature[i]);
        const int64_t start_ps = batch->start_ps[i], end_ps = start_ps + batch->dur_ps[i];
        const struct tm_short_launch *launch;
        int64_t at_ps = start_ps;

        if (!site || !site->is_plain || site->event.device != d->step_device)
            break;
        launch = batch->correlation[i] ? tm_launches_at(launches, batch->correlation[i]) : NULL;
        if (launch) {
            at_ps = launch->start_ps;
            if (launch->rest & TM_LAUNCH_UNCERTAIN)
                break;
        }
        if (at_ps < d->step_from_ps || at_ps >= d->step_until_ps)
            break;
        first_ps = start_ps < first_ps ? start_ps : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
        activities++;
    }
    if (activities) {
        widen_device(&s->trace->devices[d->step_device], activities, first_ps, last_ps);
        widen_step(d->step_row, activities, first_ps, last_ps);
    }
    return i;
}

static void take_cpu_op(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw)
{
    if (flags_of(s, raw) & TM_FLAG_HLO_OP)
        take_activity(s, (struct device_reading *)track, raw);
}

/* The graphs that were put aside, now that the expanded ones are known. */
static void take_graphs(struct tm_survey *s, bool facts, bool rows)
{
    struct device_reading d = { .facts = facts, .rows = rows };
    const void *row;

    if (facts) {
        tm_index_finish(s->resolver->expanded_graphs);
        s->resolver->has_expanded = tm_index_count(s->resolver->expanded_graphs) > 0;
        tm_sorter_finish(s->graphs);
    }
    tm_sorter_rewind(s->graphs);
    while ((row = tm_sorter_next(s->graphs))) {
        struct tm_graph_event graph = *(const struct tm_graph_event *)row;
        struct tm_raw_record raw = { .record = graph.record, .args = &graph.number, .traits = graph.traits };

        if (raw.record.args_length != sizeof(graph.number))
            raw.record.args_length = 0;
        get_track(s, raw.record.track, &d.track);
        take_activity(s, &d, &raw);
    }
}

static bool has_activity(const struct tm_trace *trace)
{
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].activities)
            return true;
    return false;
}

/* Read all tracks that `wanted` names. */
static void read_devices(struct tm_survey *s, bool cpu_ops, bool facts, bool rows)
{
    static const struct takers of_devices = { take_plain_activities, take_device }, of_cpu_ops = { NULL, take_cpu_op };
    const uint64_t count = tm_rows_count(s->trace->tracks);

    for (uint64_t i = 0; i < count && !tm_failed(s->run); i++) {
        struct device_reading d = { .facts = facts, .rows = rows };
        bool wanted;

        get_track(s, i, &d.track);
        wanted = cpu_ops ? d.track.side == TM_SIDE_HOST && d.track.has_cpu_ops
                         : d.track.side == TM_SIDE_DEVICE && !is_program_line(&d.track);
        if (!wanted || !d.track.events)
            continue;
        read_track(s, i, facts && !cpu_ops, cpu_ops ? &of_cpu_ops : &of_devices, &d.track);
        if (facts && !cpu_ops)
            put_track(s, i, &d.track);
    }
}

void tm_survey_device_tracks(struct tm_survey *s, bool facts, bool rows)
{
    s->resolver->knows_steps = rows;
    read_devices(s, false, facts, rows);
    take_graphs(s, facts, rows);
    if (facts) {
        s->resolver->has_devices = has_activity(s->trace);
        tm_index_finish(s->resolver->launched);
        s->resolver->has_launched = tm_index_count(s->resolver->launched) > 0;
    }
    if (!s->resolver->has_devices && s->has_cpu_ops)
        read_devices(s, true, facts, rows);
}

/* --- what is neither: read once, so that its oddities are counted --- */

static void take_other(struct tm_survey *s, struct tm_track *track, struct tm_raw_record *raw)
{
    fill_record(s, raw);
    if (raw->record.class == TM_CLASS_UNRESOLVED && !track->accelerator) /* what its input knows has a tally there */
        tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_PLANE, 1);
}

void tm_survey_other_tracks(struct tm_survey *s)
{
    const uint64_t count = tm_rows_count(s->trace->tracks);

    for (uint64_t i = 0; i < count && !tm_failed(s->run); i++) {
        struct device_reading d = { .facts = false };

        get_track(s, i, &d.track);
        if (d.track.side != TM_SIDE_OTHER || !d.track.events)
            continue;
        read_track(s, i, true, &(struct takers){ .record = take_other }, &d.track);
        put_track(s, i, &d.track);
    }
}
