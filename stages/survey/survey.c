/* SPDX-License-Identifier: Apache-2.0 */
/* The survey: order of its readings, and what it owns.  See survey.h. */
#include "stages/survey/survey.h"

#include "stages/figures/figure_rows.h"
#include "stages/resolve/classes.h"
#include "stages/survey/survey_private.h"
#include "stages/survey/survey_stats.h"

enum { SURVEY_BUFFER = 64 << 10 };

static int by_module_and_lane(const void *a, const void *b)
{
    const struct tm_execution *x = a, *y = b;
    const int modules = tm_key_order(x->module, y->module);

    if (modules)
        return modules;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static int by_begin(const void *a, const void *b)
{
    const struct tm_compile_mark *x = a, *y = b;

    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static void add_module_time(void *into, const void *from)
{
    struct tm_module_time *to = into;
    const struct tm_module_time *more = from;

    to->executions += more->executions;
    to->total_ps = tm_sum_times(to->total_ps, more->total_ps);
}

static void widen_group(void *into, const void *from)
{
    struct tm_group_span *to = into;
    const struct tm_group_span *more = from;

    to->start_ps = more->start_ps < to->start_ps ? more->start_ps : to->start_ps;
    to->end_ps = more->end_ps > to->end_ps ? more->end_ps : to->end_ps;
}

static int in_any_order(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return 0;
}

static tm_status make_tables(struct tm_survey *s)
{
    struct tm_run *run = s->run;
    struct tm_resolver *r = s->resolver;
    const size_t launches = tm_budget_share(&run->budget, TM_ACCOUNT_LAUNCHES);
    const size_t steps = tm_budget_share(&run->budget, TM_ACCOUNT_STEPS);

    if (tm_sites_init(&r->sites, run, TM_ACCOUNT_LAUNCHES, launches / 16) != TM_OK)
        return run->error.status;
    r->launches = tm_launches_new(run, launches / 2);
    r->launched = tm_index_new(run, TM_ACCOUNT_LAUNCHES, sizeof(struct tm_id), launches / 8, TM_INDEX_FIRST, NULL);
    r->expanded_graphs =
        tm_index_new(run, TM_ACCOUNT_LAUNCHES, sizeof(struct tm_id), launches / 8, TM_INDEX_FIRST, NULL);
    r->programs = tm_spans_new(run, TM_ACCOUNT_LAUNCHES, launches / 16 * 3);
    s->markers = tm_spans_new(run, TM_ACCOUNT_STEPS, steps / 8);
    s->tpu_steps = tm_spans_new(run, TM_ACCOUNT_STEPS, steps / 8);
    s->thunks = tm_spans_new(run, TM_ACCOUNT_STEPS, steps / 16);
    s->executions = tm_sorter_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_execution), steps / 8, by_module_and_lane);
    s->module_times = tm_groups_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_module_time), steps / 16, add_module_time);
    s->groups = tm_groups_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_group_span), steps / 16, widen_group);
    s->graphs = tm_sorter_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_graph_event), steps / 16, in_any_order);
    s->compiles = tm_sorter_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_compile_mark), steps / 16, by_begin);
    return r->launches && r->launched && r->expanded_graphs && r->programs && s->markers && s->tpu_steps && s->thunks &&
                   s->executions && s->module_times && s->compiles && s->groups && s->graphs
               ? TM_OK
               : run->error.status;
}

static void free_tables(struct tm_survey *s)
{
    if (s->resolver->steps != s->markers)
        tm_spans_free(s->markers);
    if (s->resolver->steps != s->tpu_steps)
        tm_spans_free(s->tpu_steps);
    tm_spans_free(s->thunks);
    tm_sorter_free(s->executions);
    tm_groups_free(s->module_times);
    tm_sorter_free(s->compiles);
    tm_groups_free(s->groups);
    tm_sorter_free(s->graphs);
}

/* Everything that the devices' lines tell.  Where markers tell the steps, one reading gives it all; else the
 * source of the steps is chosen by device time, and a second reading counts activities by step. */
static tm_status survey_devices(struct tm_survey *s)
{
    const bool one_reading = s->marker_count > 0;
    tm_status st = tm_survey_program_tracks(s);

    if (st == TM_OK)
        st = tm_spans_finish(s->resolver->programs);
    if (st == TM_OK && one_reading)
        st = tm_survey_choose_source(s);
    if (st == TM_OK && one_reading)
        st = tm_survey_make_rows(s);
    if (st == TM_OK)
        st = tm_survey_device_tracks(s, true, one_reading);
    if (st == TM_OK && !one_reading)
        st = tm_survey_choose_source(s);
    if (st == TM_OK && !one_reading)
        st = tm_survey_make_rows(s);
    if (st == TM_OK && !one_reading)
        st = tm_survey_device_tracks(s, false, true);
    return st;
}

tm_status tm_survey(struct tm_source *source, const struct tm_chosen_steps *choice, struct tm_survey_stats *census,
                    struct tm_resolver *resolver)
{
    struct tm_survey s = { .source = source,
                           .trace = source->trace,
                           .run = source->trace->run,
                           .resolver = resolver,
                           .census = census,
                           .buffer_bytes = SURVEY_BUFFER };
    tm_status st;

    *resolver = (struct tm_resolver){ .run = s.run, .trace = s.trace };
    s.trace->main_track = TM_NONE;
    s.trace->first_ps = INT64_MAX;
    s.trace->last_ps = INT64_MIN;
    for (uint32_t i = 0; i < s.trace->device_count; i++) {
        s.trace->devices[i].first_ps = INT64_MAX;
        s.trace->devices[i].last_ps = INT64_MIN;
    }
    st = make_tables(&s);
    if (st == TM_OK)
        st = tm_survey_host_tracks(&s);
    if (st == TM_OK)
        st = tm_launches_finish(resolver->launches);
    resolver->knows_launches = true;
    if (st == TM_OK)
        st = survey_devices(&s);
    if (st == TM_OK)
        st = tm_survey_other_tracks(&s);
    if (st == TM_OK)
        st = tm_survey_finish_steps(&s, choice);
    free_tables(&s);
    if (st == TM_OK && s.trace->thread_count) {
        resolver->inside_until_ps =
            tm_take(&s.run->budget, TM_ACCOUNT_THREADS, s.trace->thread_count * sizeof(int64_t), &s.run->error);
        st = resolver->inside_until_ps ? TM_OK : s.run->error.status;
    }
    s.trace->launch_numbers = st == TM_OK ? tm_launches_most_number(resolver->launches) : 0;
    if (s.trace->first_ps > s.trace->last_ps)
        s.trace->first_ps = s.trace->last_ps = 0;
    tm_survey_rewind(resolver);
    return st;
}

void tm_survey_rewind(struct tm_resolver *resolver)
{
    for (uint32_t i = 0; resolver->inside_until_ps && i < resolver->trace->thread_count; i++)
        resolver->inside_until_ps[i] = INT64_MIN;
}

void tm_survey_free(struct tm_resolver *resolver)
{
    tm_sites_release(&resolver->sites);
    tm_launches_free(resolver->launches);
    tm_index_free(resolver->launched);
    tm_index_free(resolver->expanded_graphs);
    tm_index_free(resolver->group_steps);
    tm_spans_free(resolver->programs);
    tm_spans_free(resolver->steps);
    if (resolver->inside_until_ps)
        tm_give(&resolver->run->budget, TM_ACCOUNT_THREADS, resolver->inside_until_ps,
                resolver->trace->thread_count * sizeof(int64_t));
    *resolver = (struct tm_resolver){ .run = resolver->run };
}

/* ROCm's tracer puts the driver's calls of a thread on a line of their own.  Whose they are, time tells: the thread in
 * whose executions of programs they lie.  Both lines then have one thread number, so that whoever asks what the
 * launching thread did is told what stands on either.  Memory: fixed. */

enum { CALLS_ASKED = 256 }; /* of a line: so many launches tell */

/* How many launches of a line lie in the executions of each thread. */
struct overlap {
    uint32_t launches;
    uint32_t inside[TM_EXECUTORS_MOST];
};

static tm_status count_launch(struct tm_survey *s, int64_t at_ps, struct overlap *overlap)
{
    overlap->launches++;
    for (uint32_t i = 0; i < s->executor_count; i++) {
        const struct tm_span *span;
        const tm_status st = tm_spans_find(s->thunks, s->executors[i], at_ps, &span);

        if (st != TM_OK)
            return st;
        overlap->inside[i] += span != NULL;
    }
    return TM_OK;
}

static tm_status count_overlap(struct tm_survey *s, uint64_t number, struct overlap *overlap)
{
    const struct tm_source_type *type = s->source->type;
    struct tm_cursor *cursor = type->open(s->source, number, s->buffer_bytes);
    tm_status st = cursor ? TM_OK : s->run->error.status;

    if (cursor)
        cursor->counts = false;
    while (st == TM_OK && overlap->launches < CALLS_ASKED) {
        struct tm_raw_record raw;
        bool more;

        st = type->next(cursor, &raw, &more);
        if (st != TM_OK || !more)
            break;
        if (raw.traits & TM_TRAIT_LAUNCH)
            st = count_launch(s, raw.record.start_ps, overlap);
    }
    type->close(cursor);
    return st;
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

tm_status tm_survey_join_drivers(struct tm_survey *s)
{
    const uint64_t count = tm_rows_count(s->trace->tracks);
    tm_status st = s->has_drivers && s->executor_count ? tm_spans_finish(s->thunks) : TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK && s->has_drivers && s->executor_count; i++) {
        const struct tm_track *row = tm_rows_at(s->trace->tracks, i);
        struct overlap overlap = { .launches = 0 };
        struct tm_track *executor;
        uint32_t thread, best;

        if (!row)
            return s->run->error.status;
        if (!row->is_driver)
            continue;
        thread = row->thread;
        st = count_overlap(s, i, &overlap);
        best = st == TM_OK ? thread_of(s, &overlap) : s->executor_count;
        if (best == s->executor_count)
            continue;
        executor = tm_rows_change(s->trace->tracks, s->executors[best]);
        if (!executor)
            return s->run->error.status;
        executor->thread = thread;
        s->executors[best] = s->executors[--s->executor_count]; /* a thread has one such line */
    }
    return st;
}
