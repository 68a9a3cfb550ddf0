/* SPDX-License-Identifier: Apache-2.0 */
/* The survey: order of its readings, and what it owns.  See survey.h. */
#include "stages/survey/survey.h"

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/groups.h"
#include "stages/resolve/resolver.h"

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

static bool make_tables(struct tm_survey *s)
{
    struct tm_run *run = s->run;
    struct tm_resolver *r = s->resolver;
    const size_t launches = tm_budget_share(&run->budget, TM_ACCOUNT_LAUNCHES);
    const size_t steps = tm_budget_share(&run->budget, TM_ACCOUNT_STEPS);

    s->batch = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s->batch), &run->error);
    tm_sites_init(&r->sites, run, TM_ACCOUNT_LAUNCHES, launches / 16);
    tm_call_sites_init(r, s->source->signatures, tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 8);
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
    return !tm_failed(run);
}

static void free_tables(struct tm_survey *s)
{
    if (s->resolver->steps != s->markers)
        tm_spans_free(s->markers);
    if (s->resolver->steps != s->tpu_steps)
        tm_spans_free(s->tpu_steps);
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s->batch, s->batch ? sizeof(*s->batch) : 0);
    tm_spans_free(s->thunks);
    tm_sorter_free(s->executions);
    tm_groups_free(s->module_times);
    tm_sorter_free(s->compiles);
    tm_groups_free(s->groups);
    tm_sorter_free(s->graphs);
}

/* All information from the devices' lines.  If markers define the steps, one pass is sufficient; else the source of the
 * steps is chosen by device time, and a second pass counts activities by step. */
static void survey_devices(struct tm_survey *s)
{
    const bool one_reading = s->marker_count > 0;

    tm_survey_program_tracks(s);
    tm_spans_finish(s->resolver->programs);
    if (s->trace->program_names)
        tm_index_finish(s->trace->program_names);
    if (one_reading && !tm_survey_choose_steps(s))
        return;
    tm_survey_device_tracks(s, true, one_reading);
    if (!one_reading && tm_survey_choose_steps(s))
        tm_survey_device_tracks(s, false, true);
}

static void read_all(struct tm_survey *s, const struct tm_chosen_steps *choice)
{
    tm_survey_host_tracks(s);
    tm_launches_finish(s->resolver->launches);
    s->resolver->knows_launches = true;
    survey_devices(s);
    tm_survey_other_tracks(s);
    if (!tm_failed(s->run))
        tm_survey_finish_steps(s, choice);
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

    *resolver = (struct tm_resolver){ .run = s.run, .trace = s.trace };
    s.trace->main_track = TM_NONE;
    s.trace->first_ps = INT64_MAX;
    s.trace->last_ps = INT64_MIN;
    for (uint32_t i = 0; i < s.trace->device_count; i++) {
        s.trace->devices[i].first_ps = INT64_MAX;
        s.trace->devices[i].last_ps = INT64_MIN;
    }
    if (make_tables(&s))
        read_all(&s, choice);
    free_tables(&s);
    if (!tm_failed(s.run) && s.trace->thread_count)
        resolver->inside_until_ps =
            tm_take(&s.run->budget, TM_ACCOUNT_THREADS, s.trace->thread_count * sizeof(int64_t), &s.run->error);
    s.trace->launch_numbers = tm_failed(s.run) ? 0 : tm_launches_most_number(resolver->launches);
    if (s.trace->first_ps > s.trace->last_ps)
        s.trace->first_ps = s.trace->last_ps = 0;
    tm_survey_rewind(resolver);
    return s.run->error.status;
}

void tm_survey_rewind(struct tm_resolver *resolver)
{
    tm_call_sites_forget(resolver);
    for (uint32_t i = 0; resolver->inside_until_ps && i < resolver->trace->thread_count; i++)
        resolver->inside_until_ps[i] = INT64_MIN;
}

void tm_survey_free(struct tm_resolver *resolver)
{
    tm_sites_release(&resolver->sites);
    tm_call_sites_release(resolver);
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
