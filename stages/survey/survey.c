/* SPDX-License-Identifier: Apache-2.0 */
/* The survey: order of its readings, what it owns, and the steps.  See survey.h. */
#include "stages/survey/survey.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/groups.h"
#include "stages/figures/figure_rows.h"
#include "stages/resolve/resolver.h"

enum { ROWS_PAGE = 4 << 10 };

/* --- steps: where they come from ---
 * source: docs/metrics.md, "Steps" */

/* The program with the most device time of those that ran twice or more. */
static bool choose_module(struct tm_survey *s, struct tm_module_time *best)
{
    const struct tm_module_time *time;
    bool found = false;

    tm_groups_finish(s->module_times);
    while ((time = tm_groups_next(s->module_times))) {
        if (time->executions >= 2 && (!found || time->total_ps > best->total_ps)) {
            *best = *time;
            found = true;
        }
    }
    return found;
}

/* When the n-th execution ran on any thread: driver calls are often on separate lines, so a launch can only be assigned
 * to its execution by time. */
static void widen(struct tm_rows *anywhere, uint64_t ordinal, const struct tm_span *span)
{
    struct tm_span *row;

    if (ordinal == tm_rows_count(anywhere)) {
        struct tm_span first = *span;

        first.lane = TM_NONE;
        tm_rows_append(anywhere, &first);
        return;
    }
    row = tm_rows_change(anywhere, ordinal);
    row->start_ps = span->start_ps < row->start_ps ? span->start_ps : row->start_ps;
    row->end_ps = span->end_ps > row->end_ps ? span->end_ps : row->end_ps;
}

static void add_executions(struct tm_survey *s, const struct tm_key *module, struct tm_rows *anywhere)
{
    uint64_t lane = UINT64_MAX, ordinal = 0;
    const struct tm_execution *e;

    tm_sorter_finish(s->executions);
    while ((e = tm_sorter_next(s->executions))) {
        struct tm_span span;

        if (!tm_is_same_key(e->module, *module))
            continue;
        ordinal = e->lane == lane ? ordinal + 1 : 0;
        lane = e->lane;
        span = (struct tm_span){
            .lane = lane, .start_ps = e->start_ps, .end_ps = e->end_ps, .value = (uint64_t)INT64_MIN
        };
        tm_spans_add(s->resolver->steps, &span);
        if (!s->tpu_programs)
            widen(anywhere, ordinal, &span);
    }
    for (uint64_t i = 0; i < tm_rows_count(anywhere); i++)
        tm_spans_add(s->resolver->steps, tm_rows_at(anywhere, i));
}

static void take_executions(struct tm_survey *s, const struct tm_key *module)
{
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);
    struct tm_rows *anywhere = tm_rows_new(s->run, TM_ACCOUNT_STEPS, sizeof(struct tm_span), share / 16);

    s->resolver->steps = tm_spans_new(s->run, TM_ACCOUNT_STEPS, share / 8);
    if (anywhere && s->resolver->steps)
        add_executions(s, module, anywhere);
    tm_rows_free(anywhere);
}

static void take_groups(struct tm_survey *s)
{
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);
    struct tm_group_step step = { .ordinal = 0 };
    const struct tm_group_span *group;

    tm_groups_finish(s->groups);
    s->resolver->group_steps =
        tm_index_new(s->run, TM_ACCOUNT_STEPS, sizeof(struct tm_group_step), share / 8, TM_INDEX_FIRST, NULL);
    if (!s->resolver->group_steps)
        return;
    while ((group = tm_groups_next(s->groups))) {
        step.key = group->key.low;
        tm_index_put(s->resolver->group_steps, &step);
        step.ordinal++;
    }
    s->trace->steps.count = step.ordinal;
    tm_index_finish(s->resolver->group_steps);
}

static void choose_source(struct tm_survey *s)
{
    struct tm_steps *steps = &s->trace->steps;
    struct tm_module_time best = { .executions = 0 };

    if (s->marker_count) {
        steps->source = TM_STEPS_HOST;
        s->resolver->steps = s->markers;
    } else if (s->has_groups) {
        steps->source = TM_STEPS_GROUP;
        take_groups(s);
        return;
    } else if (s->tpu_step_count) {
        steps->source = TM_STEPS_TPU;
        s->resolver->steps = s->tpu_steps;
    } else if (choose_module(s, &best)) {
        steps->source = TM_STEPS_MODULE;
        steps->module = best.name;
        take_executions(s, &best.module);
    } else {
        steps->source = TM_STEPS_SESSION;
        steps->count = 1;
        return;
    }
    if (tm_failed(s->run))
        return;
    tm_spans_finish(s->resolver->steps);
    steps->count = tm_spans_longest_lane(s->resolver->steps);
}

static void make_rows(struct tm_survey *s)
{
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);
    struct tm_steps *steps = &s->trace->steps;

    if (steps->count > TM_STEP_ROWS_MOST || s->trace->device_count * steps->count > TM_STEP_ROWS_MOST) {
        (void)tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "%llu steps of %u devices are more than %d rows",
                      (unsigned long long)steps->count, s->trace->device_count, TM_STEP_ROWS_MOST);
        return;
    }
    steps->rows = tm_rows_new_paged(s->run, TM_ACCOUNT_STEPS, sizeof(struct tm_step_row), share / 8, ROWS_PAGE);
    steps->marks = tm_rows_new(s->run, TM_ACCOUNT_STEPS, sizeof(struct tm_step_mark), share / 8);
    if (!steps->rows || !steps->marks)
        return;
    for (uint32_t i = 0; i < s->trace->device_count; i++)
        s->trace->devices[i].first_step_row = i * steps->count;
    tm_rows_resize(steps->rows, s->trace->device_count * steps->count);
}

static bool choose_steps(struct tm_survey *s)
{
    choose_source(s);
    if (!tm_failed(s->run))
        make_rows(s);
    return !tm_failed(s->run);
}

/* --- steps: devices that are active at the same time --- */

/* Whether two devices overlap by half or more of the shorter one's extent.  A device whose clock could only be placed
 * roughly (its recorded mapping jumps) is compared with no other: on a v6e the step time would be the fastest
 * clock's. */
static bool overlap(const struct tm_device *a, const struct tm_device *b)
{
    if (a->clock_jumps || b->clock_jumps)
        return false;
    const int64_t first_ps = a->first_ps > b->first_ps ? a->first_ps : b->first_ps;
    const int64_t last_ps = a->last_ps < b->last_ps ? a->last_ps : b->last_ps;
    const int64_t a_ps = a->last_ps - a->first_ps, b_ps = b->last_ps - b->first_ps;
    const int64_t shorter_ps = a_ps < b_ps ? a_ps : b_ps;

    return first_ps <= last_ps && last_ps - first_ps >= shorter_ps - shorter_ps / 2;
}

/* Each device leads to the next one of its group, so steps are computed without examining the devices of others. */
static void link_groups(struct tm_trace *trace)
{
    uint32_t next[TM_DEVICES_MOST];

    memset(next, 0xff, sizeof(next)); /* TM_NONE */
    for (uint32_t i = trace->device_count; i-- > 0;) {
        struct tm_device *device = &trace->devices[i];

        device->next_in_group = TM_NONE;
        if (device->group == TM_NONE)
            continue;
        device->next_in_group = next[device->group];
        next[device->group] = i;
    }
}

/* Groups are numbered from 0 in the order of their first devices.  Each device takes the number of its group's first
 * device; the numbers are closed up afterwards. */
static void group_devices(struct tm_trace *trace)
{
    struct tm_device *devices = trace->devices;
    uint32_t groups = 0;

    for (uint32_t i = 0; i < trace->device_count; i++)
        devices[i].group = i;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        for (uint32_t k = 0; k < i && devices[i].activities; k++) {
            const uint32_t from = devices[i].group, to = devices[k].group;

            if (!devices[k].activities || from == to || !overlap(&devices[i], &devices[k]))
                continue;
            for (uint32_t n = 0; n <= i; n++)
                if (devices[n].group == (from > to ? from : to))
                    devices[n].group = from > to ? to : from;
        }
    }
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (!devices[i].activities)
            devices[i].group = TM_NONE;
        else
            devices[i].group = devices[i].group == i ? groups++ : devices[devices[i].group].group;
    trace->group_count = groups;
    link_groups(trace);
}

/* --- steps: how long they took --- */

/* The start of the first step of a device: at its marker or execution, if that is earlier than its activity. */
static int64_t first_begin(struct tm_survey *s, const struct tm_device *device, uint64_t ordinal, int64_t first_ps)
{
    const struct tm_steps *steps = &s->trace->steps;
    const struct tm_span *span = NULL;

    if (steps->source == TM_STEPS_HOST)
        span = tm_spans_at(s->resolver->steps, ordinal);
    else if (device->kind == TM_DEVICE_TPU && s->resolver->steps)
        span = tm_spans_find(s->resolver->steps, device->index, first_ps);
    return span && span->start_ps < first_ps ? span->start_ps : first_ps;
}

/* A device's own periods reach from the end of the last activity of its previous steps to that of this one. */
static void make_own_periods(struct tm_survey *s, const struct tm_device *device)
{
    bool has_before = false;
    int64_t before_ps = 0;

    for (uint64_t k = 0; k < s->trace->steps.count; k++) {
        const struct tm_step_row *row = tm_rows_at(s->trace->steps.rows, device->first_step_row + k);
        struct tm_step_row *changed;
        int64_t last_ps;

        if (!row->activities)
            continue;
        last_ps = row->last_ps;
        if (!has_before)
            before_ps = first_begin(s, device, k, row->first_ps);
        changed = tm_rows_change(s->trace->steps.rows, device->first_step_row + k);
        changed->own_ps = last_ps > before_ps ? last_ps - before_ps : 0;
        before_ps = last_ps > before_ps ? last_ps : before_ps;
        has_before = true;
    }
}

/* The extent of a step's activities on the devices of a group; last < first = there are none. */
static void extent_in_group(struct tm_survey *s, uint32_t first_device, uint64_t ordinal, int64_t *first_ps,
                            int64_t *last_ps)
{
    *first_ps = INT64_MAX;
    *last_ps = INT64_MIN;
    for (uint32_t i = first_device; i != TM_NONE; i = s->trace->devices[i].next_in_group) {
        const struct tm_step_row *row = tm_rows_at(s->trace->steps.rows, s->trace->devices[i].first_step_row + ordinal);

        if (!row->activities)
            continue;
        *first_ps = row->first_ps < *first_ps ? row->first_ps : *first_ps;
        *last_ps = row->last_ps > *last_ps ? row->last_ps : *last_ps;
    }
}

static void set_period(struct tm_survey *s, uint32_t first_device, uint64_t ordinal, int64_t start_ps, int64_t end_ps)
{
    for (uint32_t i = first_device; i != TM_NONE; i = s->trace->devices[i].next_in_group) {
        struct tm_step_row *row = tm_rows_change(s->trace->steps.rows, s->trace->devices[i].first_step_row + ordinal);

        row->start_ps = start_ps;
        row->end_ps = end_ps;
    }
}

/* Step n of a group reaches from E(n-1) to E(n), the latest end of the activities of step n or an earlier one on any of
 * its devices, so step times add up to the window however the devices jitter.  The first one starts at its marker or
 * its first activity, whichever is earlier.
 * source: docs/metrics.md, "Steps" */
static void make_periods(struct tm_survey *s, uint32_t first_device)
{
    const struct tm_steps *steps = &s->trace->steps;
    bool has_before = false;
    int64_t reached_ps = 0;

    for (uint64_t k = 0; k < steps->count; k++) {
        int64_t first_ps, last_ps, start_ps = reached_ps;

        extent_in_group(s, first_device, k, &first_ps, &last_ps);
        if (last_ps < first_ps)
            continue;
        if (!has_before) {
            start_ps = first_ps;
            if (steps->source == TM_STEPS_HOST) {
                const struct tm_span *span = tm_spans_at(s->resolver->steps, k);

                start_ps = span->start_ps < start_ps ? span->start_ps : start_ps;
            }
        }
        reached_ps = last_ps > start_ps ? last_ps : start_ps;
        has_before = true;
        set_period(s, first_device, k, start_ps, reached_ps);
    }
}

/* One step over all devices: its length (the longest one of the groups), its activities, where it starts. */
struct step_facts {
    int64_t start_ps, end_ps, period_ps;
    uint64_t activities;
};

static struct step_facts facts_of(struct tm_survey *s, uint64_t ordinal)
{
    struct step_facts facts = { .start_ps = INT64_MAX, .end_ps = INT64_MIN };

    for (uint32_t i = 0; i < s->trace->device_count; i++) {
        const struct tm_device *device = &s->trace->devices[i];
        const struct tm_step_row *row;

        if (!device->activities)
            continue;
        row = tm_rows_at(s->trace->steps.rows, device->first_step_row + ordinal);
        if (!row->activities)
            continue;
        facts.activities += row->activities;
        facts.start_ps = row->first_ps < facts.start_ps ? row->first_ps : facts.start_ps;
        facts.end_ps = row->last_ps > facts.end_ps ? row->last_ps : facts.end_ps;
        if (row->end_ps - row->start_ps > facts.period_ps)
            facts.period_ps = row->end_ps - row->start_ps;
    }
    return facts;
}

static void make_mark(struct tm_survey *s, uint64_t ordinal)
{
    const struct tm_steps *steps = &s->trace->steps;
    struct tm_step_mark mark = { .number = (int64_t)ordinal, .complete = 1 };
    const struct step_facts facts = facts_of(s, ordinal);

    if (steps->source == TM_STEPS_HOST) {
        const struct tm_span *span = tm_spans_at(s->resolver->steps, ordinal);

        mark.start_ps = span->start_ps;
        mark.dur_ps = span->end_ps - span->start_ps;
        if ((int64_t)span->value != INT64_MIN)
            mark.number = (int64_t)span->value;
    } else {
        mark.start_ps = facts.activities ? facts.start_ps : 0;
    }
    tm_rows_append(steps->marks, &mark);
}

/* --- steps: which of them count --- */

/* Compilations that start inside a host step.  Of the names that identify a compilation the best one counts. */
static void mark_compiles(struct tm_survey *s)
{
    const uint32_t kind = s->compile_counts[0] ? 0 : s->compile_counts[1] ? 1 : 2;
    const struct tm_compile_mark *compile;

    if (s->trace->steps.source != TM_STEPS_HOST)
        return;
    tm_sorter_finish(s->compiles);
    while ((compile = tm_sorter_next(s->compiles))) {
        const struct tm_span *const span =
            compile->kind == kind ? tm_spans_find(s->resolver->steps, 0, compile->start_ps) : NULL;

        if (span) {
            struct tm_step_mark *mark = tm_rows_change(s->trace->steps.marks, span->ordinal);

            mark->has_compile = 1;
        }
    }
}

static void mark_incomplete(struct tm_survey *s)
{
    struct tm_steps *steps = &s->trace->steps;
    struct step_facts last, before;
    struct tm_step_mark *mark;

    if (steps->count < 2)
        return;
    last = facts_of(s, steps->count - 1);
    before = facts_of(s, steps->count - 2);
    if (last.activities * 5 >= before.activities * 4)
        return;
    mark = tm_rows_change(steps->marks, steps->count - 1);
    mark->complete = 0;
    steps->incomplete = 1;
}

/* The length by which steps are assessed: the step time, on runs without device time the marker's. */
static int64_t length_of(struct tm_survey *s, uint64_t ordinal)
{
    const struct tm_step_mark *mark = tm_rows_at(s->trace->steps.marks, ordinal);

    if (!s->resolver->has_devices && s->trace->steps.source == TM_STEPS_HOST)
        return mark->dur_ps;
    return facts_of(s, ordinal).period_ps;
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The lengths of the complete steps around the middle, from which the median without one step follows. */
struct middle {
    int64_t at[3]; /* sorted positions p, p+1, p+2 with p = (n - 2) / 2 */
    uint64_t count;
};

static struct middle find_middle(struct tm_survey *s, uint64_t steps)
{
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);
    struct tm_sorter *sorter = tm_sorter_new(s->run, TM_ACCOUNT_STEPS, sizeof(int64_t), share / 8, by_length);
    const uint64_t from = (steps - 2) / 2;
    struct middle middle = { .count = steps };
    const int64_t *length;

    if (!sorter)
        return middle;
    for (uint64_t k = 0; k < steps; k++) {
        const int64_t length_ps = length_of(s, k);

        tm_sorter_push(sorter, &length_ps);
    }
    tm_sorter_finish(sorter);
    for (uint64_t i = 0; i < steps && (length = tm_sorter_next(sorter)); i++)
        if (i >= from && i < from + 3)
            middle.at[i - from] = *length;
    tm_sorter_free(sorter);
    return middle;
}

/* Twice the median of all lengths but one, without rounding. */
static int64_t twice_median_without(const struct middle *m, int64_t length_ps)
{
    const uint64_t others = m->count - 1;
    const int64_t *at = m->at;
    const int64_t low_ps = length_ps <= at[0] ? at[1] : at[0]; /* positions p and p + 1 of what is left */
    const int64_t high_ps = length_ps <= at[1] ? at[2] : at[1];

    return tm_sum_times(low_ps, others % 2 ? low_ps : high_ps);
}

/* Warm-up: the leading steps up to the first one without a compilation and within twice the median of the others;
 * none if that were more than half of the steps or left fewer than two. */
static uint64_t count_warmup(struct tm_survey *s, uint64_t complete)
{
    struct middle middle;

    if (complete < 3)
        return 0;
    middle = find_middle(s, complete);
    for (uint64_t k = 0; k < complete; k++) {
        const struct tm_step_mark *mark = tm_rows_at(s->trace->steps.marks, k);
        const bool compiles = mark->has_compile;
        const int64_t length_ps = length_of(s, k);

        if (k > complete / 2 || complete - k < 2)
            return 0; /* the rule would take too much */
        if (!compiles && length_ps <= twice_median_without(&middle, length_ps))
            return k;
    }
    return 0;
}

static void choose_range(struct tm_survey *s, const struct tm_chosen_steps *choice)
{
    struct tm_steps *steps = &s->trace->steps;
    const uint64_t complete = steps->count - steps->incomplete;

    steps->all = choice->all || steps->source == TM_STEPS_SESSION;
    steps->chosen_begin = 0;
    steps->chosen_end = steps->count;
    if (steps->all)
        return;
    if (choice->has_range) {
        steps->chosen_begin = choice->begin < steps->count ? choice->begin : steps->count;
        steps->chosen_end = choice->end < steps->count ? choice->end : steps->count;
    } else {
        steps->chosen_end = complete;
        if (choice->has_skip)
            steps->warmup = choice->skip < complete ? choice->skip : complete;
        else
            steps->warmup = count_warmup(s, complete);
        steps->chosen_begin = steps->warmup;
    }
    if (steps->chosen_begin >= steps->chosen_end && !tm_failed(s->run)) {
        tm_hint(&s->run->error, "steps are numbered from 0 to %llu; --steps all selects all of them",
                (unsigned long long)(steps->count - 1));
        (void)tm_fail(&s->run->error, TM_ERR_USAGE, -1, "the selection includes none of the %llu steps",
                      (unsigned long long)steps->count);
    }
}

/* Write the choice into the marks. */
static void mark_choice(struct tm_survey *s)
{
    const struct tm_steps *steps = &s->trace->steps;

    for (uint64_t k = 0; k < steps->count; k++) {
        struct tm_step_mark *mark = tm_rows_change(steps->marks, k);

        mark->warmup = k < steps->warmup;
        mark->chosen = steps->all || (k >= steps->chosen_begin && k < steps->chosen_end);
    }
}

/* The whole profiling session, as recorded, else from the first event to the end of the last one. */
static void session_window(const struct tm_trace *trace, int64_t *start_ps, int64_t *end_ps)
{
    const struct tm_environment *e = &trace->environment;
    const uint64_t longest_ns = 8640000000000000; /* 100 days */

    *start_ps = trace->first_ps;
    *end_ps = trace->last_ps;
    if (e->end_ns > e->begin_ns && e->end_ns - e->begin_ns < longest_ns) {
        *start_ps = 0;
        *end_ps = (int64_t)(e->end_ns - e->begin_ns) * 1000;
    }
}

/* From the first to the last activity of a group. */
static void activity_window(const struct tm_trace *trace, uint32_t group, int64_t *start_ps, int64_t *end_ps)
{
    *start_ps = INT64_MAX;
    *end_ps = INT64_MIN;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->group != group)
            continue;
        *start_ps = device->first_ps < *start_ps ? device->first_ps : *start_ps;
        *end_ps = device->last_ps > *end_ps ? device->last_ps : *end_ps;
    }
}

/* The window of a device: the analyzed steps of its group, so idle time before its first and after its last activity
 * counts.  A device without activity in them has none. */
static void choose_window(struct tm_survey *s, const struct tm_chosen_steps *choice, struct tm_device *device)
{
    const struct tm_steps *steps = &s->trace->steps;
    bool is_active = steps->all, has_window = false;

    device->chosen_begin_ps = device->chosen_end_ps = 0;
    if (device->group == TM_NONE)
        return;
    for (uint64_t k = steps->chosen_begin; k < steps->chosen_end && !steps->all; k++) {
        const struct tm_step_row *row = tm_rows_at(steps->rows, device->first_step_row + k);

        is_active |= row->activities > 0;
        if (row->end_ps <= row->start_ps)
            continue;
        if (!has_window)
            device->chosen_begin_ps = row->start_ps;
        device->chosen_end_ps = row->end_ps;
        has_window = true;
    }
    if (!is_active)
        device->chosen_end_ps = device->chosen_begin_ps = 0;
    else if (choice->session)
        session_window(s->trace, &device->chosen_begin_ps, &device->chosen_end_ps);
    else if (steps->all)
        activity_window(s->trace, device->group, &device->chosen_begin_ps, &device->chosen_end_ps);
}

/* A host with one CPU device calls it by the host's name. */
static void name_cpu_device(struct tm_trace *trace)
{
    struct tm_device *only = NULL;

    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == TM_DEVICE_CPU && trace->devices[i].activities) {
            if (only)
                return;
            only = &trace->devices[i];
        }
    if (only)
        (void)snprintf(only->name, sizeof(only->name), "/host:CPU");
}

static void finish_steps(struct tm_survey *s, const struct tm_chosen_steps *choice)
{
    group_devices(s->trace);
    for (uint32_t i = 0; i < s->trace->device_count; i++)
        if (s->trace->devices[i].activities)
            make_own_periods(s, &s->trace->devices[i]);
    for (uint32_t i = 0, group = 0; i < s->trace->device_count; i++)
        if (s->trace->devices[i].group == group) { /* the first device of the next group */
            make_periods(s, i);
            group++;
        }
    for (uint64_t k = 0; k < s->trace->steps.count; k++)
        make_mark(s, k);
    mark_compiles(s);
    mark_incomplete(s);
    choose_range(s, choice);
    mark_choice(s);
    for (uint32_t i = 0; i < s->trace->device_count; i++)
        choose_window(s, choice, &s->trace->devices[i]);
    name_cpu_device(s->trace);
    s->resolver->knows_steps = true;
}

/* --- all of it --- */

enum { SURVEY_BUFFER = 256 << 10 };

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
    if (one_reading && !choose_steps(s))
        return;
    tm_survey_device_tracks(s, true, one_reading);
    if (!one_reading && choose_steps(s))
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
        finish_steps(s, choice);
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
