/* SPDX-License-Identifier: Apache-2.0 */
/* The section steps, and the steps of each device. */
#include <math.h>
#include <stdlib.h>

#include "pipeline/clock.h"
#include "stages/figures/device_time.h"

void tm_add_directions(struct tm_value *to, const char *key, const int64_t copy_ps[TM_DIRECTION_COUNT])
{
    struct tm_value *by = tm_add_object(to, key);

    for (int i = 0; i < TM_DIRECTION_COUNT; i++)
        tm_add_int(by, tm_direction_name[i], copy_ps[i]);
}

static void add_parts(struct tm_value *to, const struct time_parts *parts)
{
    struct tm_value *idle;

    tm_add_int(to, "compute_ps", parts->compute_ps);
    tm_add_int(to, "exposed_collective_ps", parts->exposed_collective_ps);
    tm_add_directions(to, "exposed_copy_ps", parts->exposed_copy_ps);
    idle = tm_add_object(to, "idle_ps");
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        tm_add_int(idle, tm_cause_name[i], parts->idle_ps[i]);
}

enum { SAMPLES_MOST = 4096, SKIPPED_MOST = 100, DEVICE_STEPS_MOST = 16384 /* listed, over all devices */ };

static const char *const source_name[] = {
    [TM_STEPS_HOST] = "host",     [TM_STEPS_GROUP] = "group",     [TM_STEPS_TPU] = "tpu",
    [TM_STEPS_MODULE] = "module", [TM_STEPS_SESSION] = "session",
};

/* How many of the first and of the slowest steps are listed: 1,000 of each, fewer where --rows requests shorter tables
 * than the default. */
static uint64_t listed_steps(const struct device_time *d)
{
    return d->settings->table_rows < TM_ROWS_USUAL ? d->settings->table_rows : LISTED_STEPS;
}

/* --- the steps of one device --- */

typedef void add_figure(struct tm_value *array, const struct device_step *step);

static void add_first(struct tm_value *array, const struct device_step *step)
{
    tm_add_int(array, NULL, step->first_ps);
}

static void add_last(struct tm_value *array, const struct device_step *step)
{
    tm_add_int(array, NULL, step->last_ps);
}

static void add_period(struct tm_value *array, const struct device_step *step)
{
    tm_add_int(array, NULL, step->period_ps);
}

static void add_span(struct tm_value *array, const struct device_step *step)
{
    tm_add_int(array, NULL, step->last_ps - step->first_ps);
}

static void add_busy(struct tm_value *array, const struct device_step *step)
{
    tm_add_int(array, NULL, step->busy_ps);
}

/* The first row of a lane: every lane of a host has as many as the host has steps, up to the limit. */
static uint64_t first_row(const struct device_time *d, const struct lane *lane, uint64_t *count)
{
    const uint64_t rows = tm_rows_count(d->device_steps);
    uint64_t at = 0;

    for (uint32_t i = 0; i < d->lane_count; i++) {
        const uint64_t end = d->lanes[i].device_steps_end;

        if (&d->lanes[i] == lane) {
            *count = end - at;
            return at;
        }
        at = end;
    }
    *count = 0;
    return rows;
}

tm_status tm_device_time_report_steps(struct device_time *d, const struct lane *lane, struct tm_value *device)
{
    static const struct {
        const char *key;
        add_figure *add;
    } figures[] = {
        { "first_ps", add_first },      { "last_ps", add_last }, { "period_ps", add_period },
        { "device_span_ps", add_span }, { "busy_ps", add_busy },
    };
    struct tm_value *steps = tm_add_object(device, "steps"), *array;
    uint64_t count;
    const uint64_t first = first_row(d, lane, &count);

    if (count > DEVICE_STEPS_MOST / d->lane_count)
        count = DEVICE_STEPS_MOST / d->lane_count;
    if (count > listed_steps(d))
        count = listed_steps(d);
    array = tm_add_array(steps, "activities");
    for (size_t f = 0; f <= sizeof(figures) / sizeof(figures[0]); f++) {
        if (f)
            array = tm_add_array(steps, figures[f - 1].key);
        for (uint64_t i = 0; i < count; i++) {
            const struct device_step *step = tm_rows_at(d->device_steps, first + i);

            if (!f)
                tm_add_uint(array, NULL, step->activities);
            else if (step->activities)
                figures[f - 1].add(array, step);
            else
                tm_add_null(array, NULL, NULL);
        }
    }
    return d->run->error.status;
}

/* --- statistics --- */

struct statistics {
    uint64_t count;
    int64_t min_ps, max_ps;
    int64_t median_ps, p90_ps, p95_ps;
    double mean_ps, stddev_ps;
    double lag1; /* autocorrelation of neighbors */
};

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* On hosts without a device the marker's length is the step's. */
static bool uses_host_span(const struct device_time *d)
{
    return d->source == TM_STEPS_HOST && (!d->lane_count || d->lanes[0].device.kind == TM_DEVICE_CPU);
}

/* The length of a step of a group if it counts for the statistics: analyzed, with activity, and seen from its start. */
static bool has_length(const struct device_time *d, const struct step_line *line, int64_t *length_ps)
{
    const bool by_host = uses_host_span(d);

    *length_ps = by_host ? line->host_span_ps : line->period_ps;
    return line->chosen && (by_host || (line->has_activity && !line->is_cut));
}

/* --- the steps of the run --- */

/* Converts times of the hosts to those of the reference, where their clocks are aligned: the devices of all hosts then
 * end a step together. */
struct shared_clock {
    const struct tm_value *summary; /* that has them; NULL = each host has its own clock */
    const char *why;                /* it has */
};

static int64_t shared_time(const struct shared_clock *clock, uint32_t host, int64_t time_ps)
{
    struct tm_clock of_host;
    int64_t at_ps;

    if (!clock->summary)
        return time_ps;
    tm_clock_of_host(clock->summary, host, &of_host);
    return tm_clock_at(&of_host, time_ps, &at_ps) ? at_ps : time_ps < 0 ? INT64_MIN : INT64_MAX;
}

/* Devices of a host that are not active at the same time share no end of a step, neither with each other nor with
 * devices of another host. */
static struct shared_clock find_clock(const struct device_time *d, const struct tm_value *summary)
{
    const struct tm_value *clock = tm_path(summary, "collectives.skew.clock");
    uint32_t hosts = 0, last = TM_NONE;

    for (uint32_t i = 0; i < d->group_count; i++) {
        if (!d->groups[i].devices)
            continue;
        if (d->groups[i].host == last)
            return (struct shared_clock){ .why = "not all devices of a host are active at the same time" };
        last = d->groups[i].host;
        hosts++;
    }
    if (hosts < 2)
        return (struct shared_clock){ .why = hosts ? "one host" : "no device activity was recorded" };
    if (uses_host_span(d))
        return (struct shared_clock){ .why = "the step time is that of the host's markers" };
    if (tm_int(tm_get(clock, "hosts")) != hosts)
        return (struct shared_clock){ .why = "not all hosts ran collectives, which are needed to compare clocks" };
    if (!tm_has(tm_get(clock, "list")))
        return (struct shared_clock){ .why = tm_why(tm_get(clock, "list")) };
    return (struct shared_clock){ .summary = summary };
}

/* The groups of devices and the hosts of one program run a step together: all lines of one step number are one step.
 * Its time is from the latest end of the step before to its own on all of them where they share a clock, else the mean
 * over those that have one.
 * source: docs/metrics.md, "Steps" */
struct run_steps {
    struct shared_clock clock;
    uint64_t count, chosen, warmup, incomplete;
    struct tm_rows *lengths; /* int64_t, in the order of the steps: the samples */
    double total_ps;         /* of the lengths */
    /* on a shared clock */
    bool has_begun, has_window;
    int64_t reached_ps;                 /* E(n) of the latest step */
    int64_t start_ps, end_ps, steps_ps; /* the window of the analyzed steps, and the sum of their times */
};

/* A line, to be combined with the others of its number. */
struct numbered {
    int64_t number, length_ps;
    int64_t start_ps, end_ps; /* of its period */
    uint8_t has_activity, has_length, chosen, warmup, incomplete;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Whether each host counts its steps up, so that a number says which step it is; else their order does. */
static bool are_counted_up(struct device_time *d)
{
    struct {
        uint32_t host;
        uint64_t ordinal;
        int64_t number;
    } before = { .host = TM_NONE };

    for (uint64_t i = 0; i < tm_rows_count(d->steps); i++) {
        const struct step_line *line = tm_rows_at(d->steps, i);

        if (line->host == before.host && line->ordinal != before.ordinal && line->number <= before.number)
            return false;
        before.host = line->host;
        before.ordinal = line->ordinal;
        before.number = line->number;
    }
    return true;
}

static void sort_lines(struct device_time *d, const struct shared_clock *clock, struct tm_sorter *sorter)
{
    const bool counted_up = are_counted_up(d);

    for (uint64_t i = 0; i < tm_rows_count(d->steps); i++) {
        const struct step_line *line = tm_rows_at(d->steps, i);
        struct numbered row = { .number = 0 };

        row.number = counted_up ? line->number : (int64_t)line->ordinal;
        row.has_length = has_length(d, line, &row.length_ps);
        row.start_ps = shared_time(clock, line->host, line->end_ps - line->period_ps);
        row.end_ps = shared_time(clock, line->host, line->end_ps);
        row.has_activity = line->has_activity;
        row.chosen = line->chosen;
        row.warmup = line->warmup;
        row.incomplete = !line->complete;
        tm_sorter_push(sorter, &row);
    }
    tm_sorter_finish(sorter);
}

/* A step of the run, while its lines come. */
struct gathered {
    bool has_line, has_activity, chosen, warmup, incomplete;
    int64_t number;
    int64_t start_ps, end_ps; /* the earliest start and the latest end of its periods */
    __int128 total_ps;
    int64_t lengths;
};

/* out: the time of the step on the clock of all hosts */
static int64_t advance(struct run_steps *steps, const struct gathered *step)
{
    const int64_t start_ps = steps->has_begun ? steps->reached_ps : step->start_ps;

    if (!step->has_activity)
        return 0;
    steps->has_begun = true;
    steps->reached_ps = step->end_ps > start_ps ? step->end_ps : start_ps;
    if (step->chosen) {
        if (!steps->has_window)
            steps->start_ps = start_ps;
        steps->has_window = true;
        steps->end_ps = steps->reached_ps;
        steps->steps_ps = tm_sum_times(steps->steps_ps, steps->reached_ps - start_ps);
    }
    return steps->reached_ps - start_ps;
}

static void count_step(struct run_steps *steps, const struct gathered *step)
{
    int64_t length_ps = 0;

    if (!step->has_line)
        return;
    steps->count++;
    steps->chosen += step->chosen;
    steps->warmup += step->warmup;
    steps->incomplete += step->incomplete;
    if (steps->clock.summary)
        length_ps = advance(steps, step);
    else if (step->lengths)
        length_ps = (int64_t)((step->total_ps + step->lengths / 2) / step->lengths);
    if (!step->lengths)
        return;
    steps->total_ps += (double)length_ps;
    tm_rows_append(steps->lengths, &length_ps);
}

static void gather_steps(struct tm_sorter *sorter, struct run_steps *steps)
{
    struct gathered step = { .has_line = false };
    const struct numbered *line;

    while ((line = tm_sorter_next(sorter))) {
        if (!step.has_line || line->number != step.number) {
            count_step(steps, &step);
            step = (struct gathered){ .has_line = true, .number = line->number };
        }
        step.chosen |= line->chosen;
        step.warmup |= line->warmup;
        step.incomplete |= line->incomplete;
        step.total_ps += line->has_length ? line->length_ps : 0;
        step.lengths += line->has_length;
        if (!line->has_activity)
            continue;
        if (!step.has_activity || line->start_ps < step.start_ps)
            step.start_ps = line->start_ps;
        if (!step.has_activity || line->end_ps > step.end_ps)
            step.end_ps = line->end_ps;
        step.has_activity = true;
    }
    count_step(steps, &step);
}

/* owns:   the caller frees steps->lengths, also after a failure */
static void make_run_steps(struct device_time *d, struct shared_clock clock, struct run_steps *steps)
{
    const size_t share = tm_budget_share(&d->run->budget, TM_ACCOUNT_STEPS) / 8;
    struct tm_sorter *sorter = tm_sorter_new(d->run, TM_ACCOUNT_STEPS, sizeof(struct numbered), share, by_number);

    *steps =
        (struct run_steps){ .clock = clock, .lengths = tm_rows_new(d->run, TM_ACCOUNT_STEPS, sizeof(int64_t), share) };
    if (sorter && steps->lengths) {
        sort_lines(d, &clock, sorter);
        gather_steps(sorter, steps);
    }
    tm_sorter_free(sorter);
}

/* --- statistics --- */

/* The smallest value that at least `per_mille` of the values do not exceed (nearest rank). */
static uint64_t rank(uint64_t count, uint64_t per_mille)
{
    const uint64_t at = (count * per_mille + 999) / 1000;

    return at ? at - 1 : 0;
}

/* Into a sorter for quantiles, and how much neighbors depend on each other.
 * out: sum of the products of neighbors' distances from the mean */
static double fill_sorter(const struct run_steps *steps, double mean_ps, struct tm_sorter *sorter)
{
    double before = 0, products = 0;

    for (uint64_t i = 0; i < tm_rows_count(steps->lengths); i++) {
        const int64_t *length_ps = tm_rows_at(steps->lengths, i);
        const double distance = (double)*length_ps - mean_ps;

        products += i ? before * distance : 0;
        before = distance;
        tm_sorter_push(sorter, length_ps);
    }
    tm_sorter_finish(sorter);
    return products;
}

static void compute(struct device_time *d, const struct run_steps *steps, struct statistics *s)
{
    struct tm_sorter *sorter = tm_sorter_new(d->run, TM_ACCOUNT_STEPS, sizeof(int64_t),
                                             tm_budget_share(&d->run->budget, TM_ACCOUNT_STEPS) / 8, by_value);
    double products, squares = 0;
    const int64_t *next;
    int64_t before_ps = 0;

    *s = (struct statistics){ .count = tm_rows_count(steps->lengths) };
    s->mean_ps = s->count ? steps->total_ps / (double)s->count : 0;
    if (!sorter)
        return;
    products = fill_sorter(steps, s->mean_ps, sorter);
    for (uint64_t i = 0; i < s->count && (next = tm_sorter_next(sorter)); i++) {
        const int64_t value = *next;

        squares += ((double)value - s->mean_ps) * ((double)value - s->mean_ps);
        if (i == 0)
            s->min_ps = value;
        if (i == s->count / 2)
            s->median_ps = s->count % 2 ? value : before_ps + (value - before_ps) / 2;
        if (i == rank(s->count, 900))
            s->p90_ps = value;
        if (i == rank(s->count, 950))
            s->p95_ps = value;
        s->max_ps = before_ps = value;
    }
    s->stddev_ps = s->count > 1 ? sqrt(squares / (double)(s->count - 1)) : 0;
    s->lag1 = squares > 0 ? products / squares : 0;
    tm_sorter_free(sorter);
}

/* Correlated steps carry less information than independent ones.
 * source: docs/metrics.md, "Steps" */
static void add_dependence(struct tm_value *steps, const struct statistics *s)
{
    const double most = 0.99;
    const double r = s->lag1 < 0 ? 0 : s->lag1 > most ? most : s->lag1;

    if (s->count < 3) {
        tm_add_null(steps, "lag1", "fewer than three steps have a duration");
        tm_add_null(steps, "effective_samples", "fewer than three steps have a duration");
        return;
    }
    tm_add_double(steps, "lag1", s->lag1);
    tm_add_double(steps, "effective_samples", (double)s->count * (1 - r) / (1 + r));
}

static void add_statistics(struct tm_value *steps, const struct statistics *s)
{
    static const char *const keys[] = { "mean_ps", "median_ps", "p90_ps", "p95_ps", "stddev_ps", "min_ps", "max_ps" };
    const int64_t values[] = { (int64_t)llround(s->mean_ps),   s->median_ps, s->p90_ps, s->p95_ps,
                               (int64_t)llround(s->stddev_ps), s->min_ps,    s->max_ps };

    tm_add_uint(steps, "samples", s->count);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (s->count)
            tm_add_int(steps, keys[i], values[i]);
        else
            tm_add_null(steps, keys[i], "no step has a duration");
    add_dependence(steps, s);
}

static void add_samples(const struct run_steps *run, struct tm_value *steps)
{
    struct tm_value *samples = tm_add_array(steps, "samples_ps");

    for (uint64_t i = 0; i < tm_rows_count(run->lengths) && i < SAMPLES_MOST; i++)
        tm_add_int(samples, NULL, *(const int64_t *)tm_rows_at(run->lengths, i));
}

/* --- the list --- */

/* A step's place among the slowest. */
struct place {
    int64_t length_ps;
    uint64_t row;
};

static int slowest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->length_ps != y->length_ps)
        return x->length_ps > y->length_ps ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_row(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Which rows are listed: the first ones, and the slowest of the others. */
static void choose_listed(struct device_time *d, uint64_t *rows, size_t *count)
{
    const uint64_t steps = tm_rows_count(d->steps), most = listed_steps(d);
    const struct place *slow;
    struct tm_sorter *sorter;

    for (*count = 0; *count < steps && *count < most; (*count)++)
        rows[*count] = *count;
    if (steps <= most)
        return;
    sorter = tm_sorter_new(d->run, TM_ACCOUNT_STEPS, sizeof(struct place),
                           tm_budget_share(&d->run->budget, TM_ACCOUNT_STEPS) / 8, slowest_first);
    if (!sorter)
        return;
    for (uint64_t i = most; i < steps; i++) {
        const struct step_line *line = tm_rows_at(d->steps, i);
        struct place place = { .row = i };

        place.length_ps = uses_host_span(d) ? line->host_span_ps : line->period_ps;
        tm_sorter_push(sorter, &place);
    }
    tm_sorter_finish(sorter);
    for (uint64_t i = 0; i < most && (slow = tm_sorter_next(sorter)); i++)
        rows[(*count)++] = slow->row;
    tm_sorter_free(sorter);
    qsort(rows, *count, sizeof(*rows), by_row);
}

static void add_line(const struct device_time *d, const struct step_line *line, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_int(to, "number", line->number);
    tm_add_string(to, "host", d->hosts[line->host].name);
    tm_add_int(to, "begin_ps", line->start_ps);
    if (line->has_host_span)
        tm_add_int(to, "host_span_ps", line->host_span_ps);
    else
        tm_add_null(to, "host_span_ps", "the steps are not marked on the host");
    if (line->has_activity) {
        tm_add_string(to, "device", d->lanes[line->lane].device.id);
        tm_add_int(to, "device_span_ps", line->device_span_ps);
        tm_add_int(to, "period_ps", line->period_ps);
        tm_add_int(to, "end_ps", line->end_ps);
        tm_add_int(to, "busy_ps", busy_of(&line->parts));
        add_parts(to, &line->parts);
    } else {
        static const char *const keys[] = {
            "device",     "device_span_ps",        "period_ps",       "end_ps", "busy_ps",
            "compute_ps", "exposed_collective_ps", "exposed_copy_ps", "idle_ps"
        };

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(to, keys[i], "no device activity in this step");
    }
    tm_add_bool(to, "compile", line->has_compile);
    tm_add_bool(to, "warmup", line->warmup);
    tm_add_bool(to, "complete", line->complete);
    tm_add_bool(to, "chosen", line->chosen);
}

static void add_list(struct device_time *d, struct tm_value *steps)
{
    const size_t bytes = 2 * LISTED_STEPS * sizeof(uint64_t);
    uint64_t *rows = tm_take(&d->run->budget, TM_ACCOUNT_MODEL, bytes, &d->run->error);
    struct tm_value *list = tm_add_array(steps, "list");
    size_t count = 0;

    if (rows)
        choose_listed(d, rows, &count);
    for (size_t i = 0; i < count; i++)
        add_line(d, tm_rows_at(d->steps, rows[i]), list);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, rows, bytes);
}

static void add_skipped(struct device_time *d, struct tm_value *steps)
{
    struct tm_value *skipped = tm_add_array(steps, "skipped");
    uint64_t added = 0;

    for (uint64_t i = 0; i < tm_rows_count(d->steps) && added < SKIPPED_MOST; i++) {
        const struct step_line *line = tm_rows_at(d->steps, i);
        struct tm_value *row;

        if (line->chosen)
            continue;
        row = tm_add_object(skipped, NULL);
        tm_add_int(row, "number", line->number);
        tm_add_string(row, "host", d->hosts[line->host].name);
        tm_add_string(row, "reason", !line->complete ? "incomplete" : line->warmup ? "warm-up" : "not requested");
        added++;
    }
}

static void add_module(struct device_time *d, struct tm_value *steps)
{
    const char *text;
    size_t length;

    if (d->source != TM_STEPS_MODULE) {
        tm_add_null(steps, "module", "the steps are not executions of a program");
        return;
    }
    text = tm_names_text(d->names, d->module, 512, &length);
    tm_add_text(steps, "module", text, length);
}

/* The parts of all devices in what counts: they add up to the devices' spans. */
static void add_parts_of_run(const struct device_time *d, struct tm_value *steps)
{
    struct time_parts sum = { .compute_ps = 0 };
    struct tm_value *parts;

    for (uint32_t i = 0; i < d->lane_count; i++)
        add_all_parts(&sum, &d->lanes[i].parts);
    if (!d->lane_count) {
        tm_add_null(steps, "parts", "no device activity was recorded");
        return;
    }
    parts = tm_add_object(steps, "parts");
    add_parts(parts, &sum);
    tm_add_int(parts, "total_ps", tm_sum_times(busy_of(&sum), idle_of(&sum)));
}

tm_status tm_steps_report(struct device_time *d, struct tm_value *summary)
{
    struct tm_value *steps = tm_add_object(summary, "steps");
    struct run_steps run;

    make_run_steps(d, (struct shared_clock){ .summary = NULL }, &run);
    tm_add_string(steps, "source", source_name[d->source]);
    add_module(d, steps);
    tm_add_uint(steps, "count", run.count);
    tm_add_uint(steps, "chosen", run.chosen);
    tm_add_uint(steps, "warmup", run.warmup);
    tm_add_uint(steps, "incomplete", run.incomplete);
    add_skipped(d, steps);
    tm_rows_free(run.lengths);
    return d->run->error.status;
}

/* The analyzed steps of all hosts, where they share a clock. */
static void add_job(const struct device_time *d, const struct run_steps *run, struct tm_value *window)
{
    struct tm_value *job;
    const char *why = d->session || d->all ? "the window is not defined by the analyzed steps" : run->clock.why;

    if (why || !run->has_window) {
        tm_add_null(window, "job", why ? why : "no activity in the analyzed steps");
        return;
    }
    job = tm_add_object(window, "job");
    tm_add_int(job, "begin_ps", run->start_ps);
    tm_add_int(job, "end_ps", run->end_ps);
    tm_add_int(job, "span_ps", run->end_ps - run->start_ps);
    tm_add_int(job, "steps_ps", run->steps_ps);
}

tm_status tm_steps_report_times(struct device_time *d, struct tm_value *summary)
{
    struct tm_value *steps = tm_member(summary, "steps");
    struct run_steps run;
    struct statistics statistics;

    make_run_steps(d, find_clock(d, summary), &run);
    compute(d, &run, &statistics);
    tm_add_string(steps, "basis", uses_host_span(d) ? "host_span" : "period");
    add_statistics(steps, &statistics);
    add_samples(&run, steps);
    add_job(d, &run, tm_member(summary, "window"));
    tm_rows_free(run.lengths);
    add_parts_of_run(d, steps);
    add_list(d, steps);
    return d->run->error.status;
}
