/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs in one trace, step above step: `compare --format perfetto`.  Each run is analyzed and written like any
 * other, one after the other, through a writer that moves its steps (trace_writer.h, struct tm_alignment): a step
 * starts in both runs at the same time, after the longer one of the step before.  Rows of the comparison follow.
 *
 * Memory: two conversions one after the other, a fixed struct for each pair of steps, the sums of operations. */
#include "pipeline/engine/conversion.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/clock.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/numbers.h"

enum { PARTS_MOST = 20, PART_NAME = 32, PARTS_SHOWN = 6, LABEL_BYTES = TM_LABEL_BYTES, LIST_BYTES = 8192 };

/* A step of one run: of several hosts the earliest start and the longest time. */
struct side_step {
    int64_t number, start_ps, end_ps, period_ps;
    int64_t part_ps[PARTS_MOST]; /* of its longest device: compute, exposed collectives, idle by cause ... */
    bool is_chosen;
};

struct side {
    struct side_step *steps; /* `count` of them, in the order of their starts */
    size_t count, room;
    struct tm_aligned_step *aligned; /* room of them */
    char label[LABEL_BYTES];
    const char *path;
    bool has_steps;
};

struct tm_compared_trace {
    struct tm_run *run;
    struct side side[2];
    size_t *pairs[2]; /* of the steps of each side; pair_count */
    size_t pair_count, pair_room;
    char parts[PARTS_MOST][PART_NAME];
    size_t part_count;
    struct tm_op_sums *sums;
    uint8_t list[LIST_BYTES];
};

/* --- steps --- */

static void add_part(struct tm_compared_trace *t, struct side_step *step, const char *name,
                     const struct tm_value *value)
{
    size_t i = 0;

    while (i < t->part_count && strcmp(t->parts[i], name) != 0)
        i++;
    if (i == PARTS_MOST)
        return;
    if (i == t->part_count)
        (void)snprintf(t->parts[t->part_count++], PART_NAME, "%s", name);
    step->part_ps[i] = tm_int(value);
}

static void add_causes(struct tm_compared_trace *t, struct side_step *step, const char *prefix,
                       const struct tm_value *causes)
{
    char name[PART_NAME];

    for (size_t i = 0; i < tm_length(causes); i++) {
        const char *const key = tm_key_at(causes, i);

        (void)snprintf(name, sizeof(name), "%s%s", prefix, key);
        add_part(t, step, name, tm_get(causes, key));
    }
}

static void add_parts(struct tm_compared_trace *t, struct side_step *step, const struct tm_value *row)
{
    memset(step->part_ps, 0, sizeof(step->part_ps));
    add_part(t, step, "compute", tm_get(row, "compute_ps"));
    add_part(t, step, "exposed collectives", tm_get(row, "exposed_collective_ps"));
    add_causes(t, step, "exposed copy: ", tm_get(row, "exposed_copy_ps"));
    add_causes(t, step, "idle: ", tm_get(row, "idle_ps"));
}

/* The clock of a host in what is written. */
static struct tm_clock clock_of(const struct tm_value *summary, const char *host)
{
    const struct tm_value *const files = tm_path(summary, "input.files");
    struct tm_clock clock;

    (void)tm_clock_of_name(summary, host, &clock);
    for (size_t i = 0; i < tm_length(files); i++)
        if (strcmp(tm_text(tm_get(tm_at(files, i), "host")), host) == 0)
            clock.offset_ps = tm_int(tm_get(tm_at(files, i), "trace_ps"));
    return clock;
}

static void add_step(struct tm_compared_trace *t, struct side *side, const struct tm_value *row,
                     const struct tm_value *summary)
{
    const struct tm_clock clock = clock_of(summary, tm_text(tm_get(row, "host")));
    struct side_step step = { .number = tm_int(tm_get(row, "number")),
                              .period_ps = tm_int(tm_get(row, "period_ps")),
                              .is_chosen = tm_is(tm_get(row, "chosen")) };
    struct side_step *same = NULL;

    if (!tm_has(tm_get(row, "begin_ps")) || !tm_has(tm_get(row, "end_ps")) ||
        !tm_clock_at(&clock, tm_int(tm_get(row, "begin_ps")), &step.start_ps) ||
        !tm_clock_at(&clock, tm_int(tm_get(row, "end_ps")), &step.end_ps))
        return;
    for (size_t i = 0; i < side->count && !same; i++)
        if (side->steps[i].number == step.number)
            same = &side->steps[i];
    if (!same) {
        if (side->count == side->room)
            return;
        add_parts(t, &step, row);
        side->steps[side->count++] = step;
        return;
    }
    same->start_ps = step.start_ps < same->start_ps ? step.start_ps : same->start_ps;
    same->end_ps = step.end_ps > same->end_ps ? step.end_ps : same->end_ps;
    same->is_chosen |= step.is_chosen;
    if (step.period_ps > same->period_ps) {
        same->period_ps = step.period_ps;
        add_parts(t, same, row);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct side_step *const x = a, *const y = b;

    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Steps of a device end after the host has started the next one: on the timeline a step ends where the next one
 * starts. */
static void find_steps(struct tm_compared_trace *t, struct side *side, const struct tm_value *summary)
{
    const struct tm_value *const list = tm_path(summary, "steps.list");

    side->has_steps = strcmp(tm_text(tm_path(summary, "steps.source")), "session") != 0;
    for (size_t i = 0; i < tm_length(list); i++)
        add_step(t, side, tm_at(list, i), summary);
    if (side->count)
        qsort(side->steps, side->count, sizeof(*side->steps), by_start);
    for (size_t i = 0; i + 1 < side->count; i++) {
        struct side_step *const step = &side->steps[i];
        const int64_t next_ps = side->steps[i + 1].start_ps;

        if (step->end_ps > next_ps || side->steps[i + 1].number == step->number + 1)
            step->end_ps = next_ps;
    }
}

/* The next analyzed step from this one on; count = there is none. */
static size_t next_chosen(const struct side *side, size_t from)
{
    while (from < side->count && !side->steps[from].is_chosen)
        from++;
    return from;
}

static size_t find_number(const struct side *side, int64_t number)
{
    for (size_t i = next_chosen(side, 0); i < side->count; i = next_chosen(side, i + 1))
        if (side->steps[i].number == number)
            return i;
    return side->count;
}

static void add_pair(struct tm_compared_trace *t, size_t base, size_t other)
{
    const struct side_step *const b = &t->side[0].steps[base], *const n = &t->side[1].steps[other];

    if (t->pair_count == t->pair_room || b->end_ps <= b->start_ps || n->end_ps <= n->start_ps)
        return;
    if (t->pair_count && (other <= t->pairs[1][t->pair_count - 1] || base <= t->pairs[0][t->pair_count - 1]))
        return; /* numbers that do not rise with time */
    t->pairs[0][t->pair_count] = base;
    t->pairs[1][t->pair_count++] = other;
}

/* Steps of the same number; if the runs have none in common, by their places. */
static void find_pairs(struct tm_compared_trace *t)
{
    const struct side *const base = &t->side[0], *const other = &t->side[1];
    size_t i, k;

    if (base->has_steps && other->has_steps)
        for (i = next_chosen(base, 0); i < base->count; i = next_chosen(base, i + 1)) {
            k = find_number(other, base->steps[i].number);
            if (k < other->count)
                add_pair(t, i, k);
        }
    if (t->pair_count)
        return;
    i = next_chosen(base, 0);
    k = next_chosen(other, 0);
    for (; i < base->count && k < other->count; i = next_chosen(base, i + 1), k = next_chosen(other, k + 1))
        add_pair(t, i, k);
}

static const struct side_step *step_of(const struct tm_compared_trace *t, size_t side, size_t pair)
{
    return &t->side[side].steps[t->pairs[side][pair]];
}

/* Where a pair ends in the file, with the longer one of its steps. */
static int64_t end_of(const struct tm_compared_trace *t, size_t pair)
{
    const struct side_step *const base = step_of(t, 0, pair), *const other = step_of(t, 1, pair);
    const int64_t base_ps = base->end_ps - base->start_ps, other_ps = other->end_ps - other->start_ps;

    return t->side[0].aligned[pair].at_ps + (base_ps > other_ps ? base_ps : other_ps);
}

/* Where each pair starts in the file. */
static void place_pairs(struct tm_compared_trace *t)
{
    int64_t at_ps = 0;

    for (size_t i = 0; i < t->pair_count; i++) {
        for (size_t s = 0; s < 2; s++) {
            const struct side_step *const step = step_of(t, s, i);

            t->side[s].aligned[i] = (struct tm_aligned_step){
                .number = step->number, .start_ps = step->start_ps, .end_ps = step->end_ps, .at_ps = at_ps
            };
        }
        at_ps = end_of(t, i);
    }
}

struct tm_compared_trace *tm_compared_trace_plan(struct tm_run *run, const struct tm_compared_input input[2])
{
    struct tm_compared_trace *const t = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*t), &run->error);

    if (!t)
        return NULL;
    t->run = run;
    for (size_t s = 0; s < 2; s++) {
        struct side *const side = &t->side[s];
        const size_t rows = tm_length(tm_path(input[s].summary, "steps.list")) + 1;

        (void)snprintf(side->label, sizeof(side->label), "%s", input[s].label);
        side->path = input[s].path;
        side->room = rows;
        t->pair_room = s && t->pair_room < rows ? t->pair_room : rows;
        side->steps = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows * sizeof(*side->steps), &run->error);
        side->aligned = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows * sizeof(*side->aligned), &run->error);
        if (!tm_failed(run))
            find_steps(t, side, input[s].summary);
    }
    for (size_t s = 0; s < 2; s++)
        t->pairs[s] = tm_take(&run->budget, TM_ACCOUNT_MODEL, t->pair_room * sizeof(*t->pairs[s]), &run->error);
    if (!tm_failed(run))
        t->sums = tm_op_sums_new(run);
    if (!tm_failed(run)) {
        find_pairs(t);
        place_pairs(t);
        if (!t->pair_count) {
            (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                          "cannot write both runs as one trace: they have no analyzed steps in common");
            tm_hint(&run->error, "choose steps with --steps, or convert each run");
        }
    }
    if (!tm_failed(run))
        return t;
    tm_compared_trace_free(t);
    return NULL;
}

/* in: base_ps  above 0 */
static double change_pct(int64_t base_ps, int64_t other_ps)
{
    return 100.0 * (double)(other_ps - base_ps) / (double)base_ps;
}

void tm_compared_trace_describe(const struct tm_compared_trace *t, const char *name, struct tm_value *comparison)
{
    struct tm_value *const timeline = tm_add_object(comparison, "timeline");
    struct tm_value *list;

    tm_add_string(timeline, "file", name);
    list = tm_add_array(timeline, "steps");
    for (size_t i = 0; i < t->pair_count; i++) {
        const struct side_step *const base = step_of(t, 0, i), *const other = step_of(t, 1, i);
        struct tm_value *const step = tm_add_object(list, NULL);

        tm_add_int(step, "base_step", base->number);
        tm_add_int(step, "new_step", other->number);
        tm_add_int(step, "base_ps", base->period_ps);
        tm_add_int(step, "new_ps", other->period_ps);
        tm_add_int(step, "change_ps", other->period_ps - base->period_ps);
        if (base->period_ps > 0)
            tm_add_double(step, "pct", change_pct(base->period_ps, other->period_ps));
        else
            tm_add_null(step, "pct", "the step of the base takes no time");
        tm_add_int(step, "trace_ps", t->side[0].aligned[i].at_ps);
        tm_add_int(step, "span_ps", end_of(t, i) - t->side[0].aligned[i].at_ps);
    }
}

void tm_compared_trace_free(struct tm_compared_trace *t)
{
    if (!t)
        return;
    for (size_t s = 0; s < 2; s++) {
        struct side *const side = &t->side[s];

        tm_give(&t->run->budget, TM_ACCOUNT_MODEL, side->steps, side->room * sizeof(*side->steps));
        tm_give(&t->run->budget, TM_ACCOUNT_MODEL, side->aligned, side->room * sizeof(*side->aligned));
        tm_give(&t->run->budget, TM_ACCOUNT_MODEL, t->pairs[s], t->pair_room * sizeof(*t->pairs[s]));
    }
    tm_op_sums_free(t->sums);
    tm_give(&t->run->budget, TM_ACCOUNT_MODEL, t, sizeof(*t));
}

/* --- rows of the comparison --- */

/* Numbers that no row of a run has: those are small, or have the first bit. */
enum { ROW_GROUP, ROW_STEPS, ROW_TIMES, ROWS = ROW_TIMES + 2 };

static const uint64_t first_uuid = UINT64_C(1) << 62;

struct rows {
    struct tm_compared_trace *t;
    struct tm_trace_writer *writer;
    struct tm_names *names;
    struct tm_out_row row[ROWS];
    struct tm_arguments_builder list;
    struct tm_written *written;
};

static tm_strid name_of(const struct rows *r, const char *text)
{
    return tm_names_put_string(r->names, text);
}

static void make_row(struct rows *r, size_t number, enum tm_out_sort sort, const char *name)
{
    struct tm_out_row *const row = &r->row[number];

    *row = (struct tm_out_row){ .uuid = first_uuid + 2 * number,
                                .parent = number == ROW_GROUP ? 0 : first_uuid,
                                .sort = (uint8_t)sort,
                                .name = name_of(r, name),
                                .unit = sort == TM_OUT_COUNTER ? name_of(r, "ms") : 0,
                                .order = number == ROW_GROUP ? INT32_MIN : (int64_t)number };
    r->writer->type->row(r->writer, row);
    r->written->counts.rows++;
}

static void make_rows(struct rows *r)
{
    char name[LABEL_BYTES + 64];

    make_row(r, ROW_GROUP, TM_OUT_GROUP, "Comparison \u00b7 tracemill");
    make_row(r, ROW_STEPS, TM_OUT_ROW, "step difference \u00b7 tracemill");
    for (size_t s = 0; s < 2; s++) {
        (void)snprintf(name, sizeof(name), "step time, %s \u00b7 tracemill", r->t->side[s].label);
        make_row(r, ROW_TIMES + s, TM_OUT_COUNTER, name);
    }
}

static void put_ns(struct rows *r, const char *key, int64_t ps)
{
    tm_put_int(&r->list, name_of(r, key), tm_out_ns(ps));
}

static void begin_list(struct rows *r)
{
    tm_arguments_begin(&r->list, r->names, r->t->list, sizeof(r->t->list));
}

static void put_span(struct rows *r, size_t row, const char *name, int64_t start_ps, int64_t end_ps)
{
    const struct tm_out_event event = { .row = &r->row[row],
                                        .start_ps = start_ps,
                                        .end_ps = end_ps,
                                        .whole_begin_ps = start_ps,
                                        .whole_end_ps = end_ps,
                                        .name = name_of(r, name),
                                        .category = name_of(r, "tracemill"),
                                        .own = tm_arguments_end(&r->list),
                                        .marks = TM_OUT_DERIVED };

    r->writer->type->begin(r->writer, &event);
    r->writer->type->end(r->writer, &event);
    r->written->counts.slices++;
}

/* "+3.10 ms (+12.0 %)" */
static void describe(char *text, size_t size, int64_t base_ps, int64_t other_ps)
{
    const int64_t difference_ps = other_ps - base_ps;
    char time[TM_FORMAT_BYTES];

    (void)tm_format_time(time, llabs(difference_ps));
    if (base_ps > 0)
        (void)snprintf(text, size, "%s%s (%+.1f %%)", difference_ps < 0 ? "\u2212" : "+", time,
                       change_pct(base_ps, other_ps));
    else
        (void)snprintf(text, size, "%s%s", difference_ps < 0 ? "\u2212" : "+", time);
}

static void put_difference(struct rows *r, const char *name, int64_t base_ps, int64_t other_ps)
{
    tm_put_object(&r->list, name_of(r, name));
    put_ns(r, "base_ns", base_ps);
    put_ns(r, "new_ns", other_ps);
    tm_put_int(&r->list, name_of(r, "difference_ns"), tm_out_ns(other_ps) - tm_out_ns(base_ps));
    tm_put_close(&r->list);
}

/* The parts of the step that differ most. */
static void put_categories(struct rows *r, const struct side_step *base, const struct side_step *other)
{
    bool is_put[PARTS_MOST] = { false };

    tm_put_object(&r->list, name_of(r, "categories"));
    for (size_t shown = 0; shown < PARTS_SHOWN; shown++) {
        size_t best = PARTS_MOST;
        int64_t most_ps = 0;

        for (size_t i = 0; i < r->t->part_count; i++) {
            const int64_t ps = llabs(other->part_ps[i] - base->part_ps[i]);

            if (!is_put[i] && ps > most_ps) {
                most_ps = ps;
                best = i;
            }
        }
        if (best == PARTS_MOST)
            break;
        is_put[best] = true;
        put_difference(r, r->t->parts[best], base->part_ps[best], other->part_ps[best]);
    }
    tm_put_close(&r->list);
}

/* The operations that differ most, by the sum of their time on all devices. */
static void put_ops(struct rows *r, size_t pair)
{
    const struct tm_op_sum *largest[TM_OP_SUMS_SHOWN];
    const size_t count = tm_op_sums_largest(r->t->sums, pair, largest);

    tm_put_object(&r->list, name_of(r, "ops"));
    for (size_t i = 0; i < count; i++)
        put_difference(r, largest[i]->name, largest[i]->ps[0], largest[i]->ps[1]);
    tm_put_close(&r->list);
    if (!tm_op_sums_are_complete(r->t->sums))
        tm_put_bool(&r->list, name_of(r, "ops_complete"), false);
}

static void put_times(struct rows *r, int64_t base_ps, int64_t other_ps)
{
    put_ns(r, "base_ns", base_ps);
    put_ns(r, "new_ns", other_ps);
    tm_put_int(&r->list, name_of(r, "difference_ns"), tm_out_ns(other_ps) - tm_out_ns(base_ps));
    if (base_ps > 0)
        tm_put_double(&r->list, name_of(r, "difference_pct"), change_pct(base_ps, other_ps));
}

static void put_step(struct rows *r, size_t pair)
{
    const struct tm_compared_trace *const t = r->t;
    const struct side_step *const base = step_of(t, 0, pair), *const other = step_of(t, 1, pair);
    char name[160], difference[96];

    describe(difference, sizeof(difference), base->period_ps, other->period_ps);
    if (!t->side[0].has_steps || !t->side[1].has_steps)
        (void)snprintf(name, sizeof(name), "run: %s", difference);
    else if (base->number == other->number)
        (void)snprintf(name, sizeof(name), "step %" PRId64 ": %s", base->number, difference);
    else
        (void)snprintf(name, sizeof(name), "steps %" PRId64 " and %" PRId64 ": %s", base->number, other->number,
                       difference);
    begin_list(r);
    tm_put_int(&r->list, name_of(r, "base_step"), base->number);
    tm_put_int(&r->list, name_of(r, "new_step"), other->number);
    put_times(r, base->period_ps, other->period_ps);
    put_categories(r, base, other);
    put_ops(r, pair);
    put_span(r, ROW_STEPS, name, t->side[0].aligned[pair].at_ps, end_of(t, pair));
}

/* On the group itself, like the verdict of a run. */
static void put_total(struct rows *r)
{
    const struct tm_compared_trace *const t = r->t;
    const size_t count = t->pair_count;
    int64_t sum[2] = { 0 };
    char name[384 + 2 * LABEL_BYTES], difference[96], times[2][TM_FORMAT_BYTES];

    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < 2; s++)
            sum[s] += step_of(t, s, i)->period_ps;
    for (size_t s = 0; s < 2; s++)
        (void)tm_format_time(times[s], sum[s] / (int64_t)count);
    describe(difference, sizeof(difference), sum[0] / (int64_t)count, sum[1] / (int64_t)count);
    (void)snprintf(name, sizeof(name), "%s: %s \u2192 %s: %s, %s (mean of %zu step%s)", t->side[0].label, times[0],
                   t->side[1].label, times[1], difference, count, count == 1 ? "" : "s");
    begin_list(r);
    tm_put_text(&r->list, name_of(r, "base"), t->side[0].label, strlen(t->side[0].label));
    tm_put_text(&r->list, name_of(r, "new"), t->side[1].label, strlen(t->side[1].label));
    tm_put_int(&r->list, name_of(r, "steps"), (int64_t)count);
    put_times(r, sum[0], sum[1]);
    put_span(r, ROW_GROUP, name, 0, end_of(t, count - 1));
}

/* Step times as two counters, whose last values reach to the end. */
static void put_counters(struct rows *r)
{
    const struct tm_compared_trace *const t = r->t;

    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < t->pair_count; i++) {
            const struct tm_out_counter counter = {
                .row = &r->row[ROW_TIMES + s],
                .time_ps = t->side[s].aligned[i].at_ps,
                .value = (double)step_of(t, s, i)->period_ps / 1e9,
            };

            r->writer->type->counter(r->writer, &counter);
            r->written->counts.counters++;
        }
}

static void write_rows(struct tm_compared_trace *t, struct tm_trace_writer *writer, struct tm_names *names,
                       struct tm_written *written)
{
    struct rows r = { .t = t, .writer = writer, .names = names, .written = written };

    make_rows(&r);
    put_total(&r);
    for (size_t i = 0; i < t->pair_count && !tm_failed(t->run); i++)
        put_step(&r, i);
    put_counters(&r);
}

/* --- the runs --- */

/* The options of a run by itself: all of its content. */
static struct tm_options options_of(const struct tm_options *from, char **input)
{
    struct tm_options options = *from;

    options.inputs = input;
    options.input_count = 1;
    options.filter.count = 0;
    options.plain = options.overview = false;
    return options;
}

static void write_side(struct tm_compared_trace *t, size_t number, const struct tm_options *from, uint32_t *first_host,
                       struct tm_out_file *file, struct tm_written *written)
{
    char *input = (char *)(uintptr_t)t->side[number].path; /* which is never changed */
    const struct tm_options options = options_of(from, &input);
    const struct tm_export_side side = { (uint32_t)number, *first_host, t->side[number].label };
    const struct tm_alignment alignment = { .steps = t->side[number].aligned,
                                            .count = t->pair_count,
                                            .has_steps = t->side[number].has_steps,
                                            .slices_most = number ? UINT64_MAX : from->part_events / 2,
                                            .sums = t->sums,
                                            .side = (unsigned)number };
    const struct tm_export_options choice = { .side = &side, .alignment = &alignment };
    const struct tm_trace_format *const format = tm_trace_format_of("compare.pftrace");
    struct tm_trace_output out = { .writer = NULL };
    struct tm_conversion c;

    tm_conversion_open(&c, t->run, &options, "compare", false);
    tm_conversion_prepare(&c);
    if (!tm_failed(t->run) && !tm_trace_output_open(&out, &c, format, &choice)) {
        tm_trace_output_begin_file(&out, file);
        for (uint32_t i = 0; i < c.inputs.host_count && !tm_failed(t->run); i++)
            tm_conversion_events(&c, i, out.exporter);
        t->pair_count = tm_aligned_steps(out.aligned);
        written->counts.slices += tm_aligned_slices(out.aligned);
        if (number && !tm_failed(t->run))
            write_rows(t, out.aligned->inner, c.names, written);
        if (!tm_failed(t->run))
            tm_aligned_end(out.aligned);
        written->raw_bytes += out.writer->type->raw_bytes(out.writer);
        *first_host += c.inputs.host_count;
    }
    tm_trace_output_close(&out);
    tm_conversion_close(&c);
    (void)tm_while(&t->run->error, "writing '%s' for Perfetto", t->side[number].path);
}

tm_status tm_compared_trace_write(struct tm_compared_trace *t, const struct tm_options *options, const char *folder,
                                  const char *name, struct tm_out_file **file, struct tm_written *written)
{
    struct tm_run *const run = t->run;
    const struct tm_counts counts = tm_counts_now(run); /* of the analysis that came before */
    const size_t steps = t->pair_count;
    uint32_t first_host = 0;

    *written = (struct tm_written){ .raw_bytes = 0 };
    (void)snprintf(written->name, sizeof(written->name), "%s", name);
    *file = tm_failed(run) ? NULL : tm_out_file_open(run, folder, name, false);
    for (size_t s = 0; s < 2 && !tm_failed(run); s++)
        write_side(t, s, options, &first_host, *file, written);
    tm_counts_restore(run, &counts);
    if (!tm_failed(run) && t->pair_count < steps && !run->quiet)
        (void)fprintf(stderr,
                      "tracemill: note: '%s' has the first %zu of %zu steps: more would exceed %" PRIu64
                      " slices (--max-events)\n",
                      name, t->pair_count, steps, options->part_events);
    return run->error.status;
}
