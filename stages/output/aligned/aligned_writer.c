/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a run, each moved to its place in a comparison: a writer in front of another one.  The run is cut at the
 * borders of the steps by the exporter, as it is for parts, but all parts go into one file, each with its own shift:
 *
 *     run     | warm-up | step 3 |   step 4   | step 5 |        what follows
 *     file              | step 3 |    | step 4   |      | step 5 |
 *
 * What is outside of the steps is not written.  A span that crosses a border is written in pieces, marked as in parts.
 *
 * In addition, the time of the operations of each step is summed up, by the step that their launch belongs to, wherever
 * they run.  Memory: a fixed struct, and a table of sums of a fixed size. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/names.h"
#include "pipeline/store/rows.h"
#include "stages/output/export/exporter.h"
#include "stages/output/trace_writer.h"

struct aligned {
    struct tm_trace_writer base;
    struct tm_names *names;
    struct tm_alignment of;
    struct tm_out_file *file; /* of the whole; NULL = it has not started */
    size_t passed;            /* borders: alternating starts and ends of the steps */
    size_t cut_passed;        /* of them when the file that the exporter starts next has started */
    size_t found;             /* the step of the last operation */
    uint64_t slices;
};

static struct aligned *writer_of(struct tm_trace_writer *w)
{
    return (struct aligned *)w;
}

/* --- sums of operations --- */

enum { SUM_SLOTS = 1 << 14, SUMS_MOST = SUM_SLOTS / 4 * 3 };

struct tm_op_sums {
    struct tm_run *run;
    size_t count;
    bool is_full; /* further operations are not in it */
    struct tm_op_sum slots[SUM_SLOTS];
};

struct tm_op_sums *tm_op_sums_new(struct tm_run *run)
{
    struct tm_op_sums *const sums = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*sums), &run->error);

    if (sums)
        sums->run = run;
    return sums;
}

void tm_op_sums_free(struct tm_op_sums *sums)
{
    if (sums)
        tm_give(&sums->run->budget, TM_ACCOUNT_MODEL, sums, sizeof(*sums));
}

bool tm_op_sums_are_complete(const struct tm_op_sums *sums)
{
    return !sums->is_full;
}

static bool is_sum_of(const void *slot, const void *wanted)
{
    const struct tm_op_sum *const sum = slot, *const of = wanted;

    return !sum->is_used || (sum->name_hash == of->name_hash && sum->step == of->step);
}

static void add_sum(struct aligned *a, uint32_t step, tm_strid name, int64_t ps)
{
    struct tm_op_sums *const sums = a->of.sums;
    const struct tm_op_sum of = { .name_hash = tm_names_info(a->names, name).hash.low, .step = step, .is_used = true };
    struct tm_op_sum *const sum = tm_probe(sums->slots, SUM_SLOTS, sizeof(of),
                                           (size_t)tm_hash_mix(of.name_hash, step) & (SUM_SLOTS - 1), &of, is_sum_of);

    if (!sum->is_used) {
        size_t length;
        const char *text;

        if (sums->count == SUMS_MOST) {
            sums->is_full = true;
            return;
        }
        sums->count++;
        *sum = of;
        text = tm_names_text(a->names, name, sizeof(sum->name) - 1, &length);
        memcpy(sum->name, text, length);
        sum->name[length] = '\0';
    }
    sum->ps[a->of.side] += ps;
}

/* The step of this number; SIZE_MAX = it is none of those that are aligned. */
static size_t find_step(struct aligned *a, int64_t number)
{
    if (a->found < a->of.count && a->of.steps[a->found].number == number)
        return a->found;
    for (size_t i = 0; i < a->of.count; i++)
        if (a->of.steps[i].number == number)
            return a->found = i;
    return SIZE_MAX;
}

static void sum_up(struct aligned *a, const struct tm_out_event *out)
{
    const struct tm_event *const event = out->of;
    const struct tm_step_mark *mark;
    size_t step;

    if (!event || !event->chosen || event->device == TM_NONE || event->level >= TM_LEVEL_CONTAINER ||
        (a->of.has_steps && event->step == TM_NONE))
        return;
    if (a->of.has_steps) {
        mark = tm_rows_at(out->trace->steps.marks, event->step);
        step = find_step(a, mark->number);
    } else {
        step = 0;
    }
    if (step != SIZE_MAX)
        add_sum(a, (uint32_t)step, out->name, event->record.dur_ps);
}

static int by_difference(const void *a, const void *b)
{
    const struct tm_op_sum *const x = *(const struct tm_op_sum *const *)a, *const y =
                                                                               *(const struct tm_op_sum *const *)b;
    const int64_t dx = llabs(x->ps[1] - x->ps[0]), dy = llabs(y->ps[1] - y->ps[0]);

    if (dx != dy)
        return dx < dy ? 1 : -1;
    return strcmp(x->name, y->name);
}

size_t tm_op_sums_largest(const struct tm_op_sums *sums, size_t step, const struct tm_op_sum *largest[TM_OP_SUMS_SHOWN])
{
    size_t count = 0;

    for (size_t i = 0; i < SUM_SLOTS; i++) {
        const struct tm_op_sum *const sum = &sums->slots[i];

        if (!sum->is_used || sum->step != step || sum->ps[0] == sum->ps[1])
            continue;
        if (count == TM_OP_SUMS_SHOWN && by_difference(&sum, &largest[count - 1]) >= 0)
            continue;
        largest[count < TM_OP_SUMS_SHOWN ? count++ : count - 1] = sum;
        qsort(largest, count, sizeof(*largest), by_difference);
    }
    return count;
}

/* --- borders --- */

static int64_t border_ps(const struct aligned *a, size_t border)
{
    const struct tm_aligned_step *const step = &a->of.steps[border / 2];

    return border % 2 ? step->end_ps : step->start_ps;
}

/* The step that is being written; NULL = it is between them. */
static const struct tm_aligned_step *present(const struct aligned *a)
{
    return a->passed % 2 ? &a->of.steps[a->passed / 2] : NULL;
}

/* Enough is written: no further step starts. */
static void stop_before(struct aligned *a, size_t step)
{
    a->of.count = step;
}

bool tm_aligned_wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                          int64_t time_ps)
{
    struct aligned *const a = to;

    (void)counts, (void)raw_bytes, (void)open_spans;
    a->cut_passed = a->passed;
    while (a->cut_passed < 2 * a->of.count && time_ps >= border_ps(a, a->cut_passed)) {
        if (a->cut_passed % 2 == 0 && a->cut_passed && a->slices >= a->of.slices_most)
            stop_before(a, a->cut_passed / 2);
        else
            a->cut_passed++;
    }
    return a->cut_passed != a->passed;
}

struct tm_out_file *tm_aligned_next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps)
{
    struct aligned *const a = to;

    (void)counts, (void)time_ps;
    return a->file;
}

size_t tm_aligned_steps(const struct tm_trace_writer *w)
{
    const struct aligned *const a = (const struct aligned *)w;

    return a->of.count;
}

uint64_t tm_aligned_slices(const struct tm_trace_writer *w)
{
    return ((const struct aligned *)w)->slices;
}

void tm_aligned_end(struct tm_trace_writer *w)
{
    struct aligned *const a = writer_of(w);

    a->base.inner->type->end_file(a->base.inner);
}

/* --- the calls --- */

static int64_t move(const struct tm_aligned_step *step, int64_t ps)
{
    const int64_t inside = ps < step->start_ps ? step->start_ps : ps > step->end_ps ? step->end_ps : ps;

    return step->at_ps + (inside - step->start_ps);
}

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct aligned *const a = writer_of(w);

    if (!a->file)
        a->base.inner->type->begin_file(a->base.inner, file);
    else
        a->passed = a->cut_passed;
    a->file = file;
}

static void put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct aligned *const a = writer_of(w);

    if (present(a))
        a->base.inner->type->row(a->base.inner, row);
}

/* A piece that continues is moved back to where its step starts: the cut is made at the next event. */
static struct tm_out_event moved(const struct tm_aligned_step *step, const struct tm_out_event *event)
{
    struct tm_out_event piece = *event;
    const bool continues = event->start_ps > event->whole_begin_ps;
    const int64_t from_ps = !continues                               ? event->start_ps
                            : event->whole_begin_ps > step->start_ps ? event->whole_begin_ps
                                                                     : step->start_ps;

    piece.start_ps = move(step, from_ps);
    piece.end_ps = move(step, event->end_ps);
    return piece;
}

static void begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct aligned *const a = writer_of(w);
    const struct tm_aligned_step *const step = present(a);

    sum_up(a, event);
    if (!step)
        return;
    const struct tm_out_event piece = moved(step, event);

    a->slices++;
    a->base.inner->type->begin(a->base.inner, &piece);
}

static void end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct aligned *const a = writer_of(w);
    const struct tm_aligned_step *const step = present(a);

    if (!step)
        return;
    struct tm_out_event piece = moved(step, event);

    if (event->end_ps > step->end_ps)
        piece.marks |= TM_OUT_CUT_END;
    a->base.inner->type->end(a->base.inner, &piece);
}

static void instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct aligned *const a = writer_of(w);
    const struct tm_aligned_step *const step = present(a);

    if (!step)
        return;
    const struct tm_out_event piece = moved(step, event);

    a->slices++;
    a->base.inner->type->instant(a->base.inner, &piece);
}

static void put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct aligned *const a = writer_of(w);
    const struct tm_aligned_step *const step = present(a);
    struct tm_out_counter shown = *counter;

    if (!step)
        return;
    shown.time_ps = move(step, counter->time_ps);
    a->base.inner->type->counter(a->base.inner, &shown);
}

static void flow(struct tm_trace_writer *w, const struct tm_out_flow *arrow)
{
    struct aligned *const a = writer_of(w);
    const struct tm_aligned_step *const step = present(a);
    struct tm_out_flow shown = *arrow;

    if (!step)
        return;
    shown.time_ps = move(step, arrow->time_ps);
    a->base.inner->type->flow(a->base.inner, &shown);
}

/* Of a part; tm_aligned_end ends the file. */
static void end_file(struct tm_trace_writer *w)
{
    (void)w;
}

static void free_writer(struct tm_trace_writer *w)
{
    struct aligned *const a = writer_of(w);

    if (!a)
        return;
    a->base.inner->type->free(a->base.inner);
    tm_give(&a->base.run->budget, TM_ACCOUNT_TABLES, a, sizeof(*a));
}

static const struct tm_trace_writer_type aligned_type = {
    .writes_ends = true,
    .begin_file = begin_file,
    .row = put_row,
    .begin = begin,
    .end = end,
    .instant = instant,
    .counter = put_counter,
    .flow = flow,
    .end_file = end_file,
    .raw_bytes = tm_inner_raw_bytes,
    .free = free_writer,
};

struct tm_trace_writer *tm_aligned_writer_new(struct tm_run *run, struct tm_names *names,
                                              const struct tm_alignment *alignment, struct tm_trace_writer *inner)
{
    struct aligned *const a = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*a), &run->error);

    assert(inner->type->writes_ends);
    if (!a) {
        inner->type->free(inner);
        return NULL;
    }
    a->base = (struct tm_trace_writer){ .type = &aligned_type, .run = run, .inner = inner };
    a->names = names;
    a->of = *alignment;
    return &a->base;
}
