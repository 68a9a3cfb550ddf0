/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study from its beginning to its end: schemas/SCALING.md, docs/scaling.md.  Its memory
 * is one block: the facts of the points, the samples of all runs, the room of the resampling. */
#include "reports/scaling/scaling.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/compare/step_samples.h"
#include "reports/scaling/study.h"

static_assert(sizeof(struct point_facts) % _Alignof(double) == 0,
              "numbers follow the facts in one block");

static size_t count_samples(const struct tm_scaling_point *point)
{
    size_t count = 0;

    for (size_t i = 0; i < point->side.runs; i++)
        count += tm_step_samples_most(point->side.run[i].summary);
    return count;
}

/* One sample for each step number, as in comparisons.
 * in: room  out: the end of the numbers that it took */
static tm_status take_samples(struct tm_compare_blocks *memory, const struct tm_scaling_point *point, struct point_facts *facts,
                              double **room)
{
    double *const value = *room, *const medians = value + count_samples(point);

    facts->steps = (struct tm_sample){ value, 0 };
    facts->run_medians = (struct tm_sample){ medians, 0 };
    *room = medians + point->side.runs;
    for (size_t i = 0; i < point->side.runs; i++) {
        const struct tm_value *summary = point->side.run[i].summary, *median = tm_path(summary, "steps.median_ps");
        struct tm_sample samples;
        const tm_status st = tm_step_samples(memory, summary, &samples);

        if (st != TM_OK)
            return st;
        for (size_t k = 0; k < samples.count; k++)
            value[facts->steps.count++] = samples.value[k];
        if (tm_has(median))
            medians[facts->run_medians.count++] = tm_double(median);
    }
    return TM_OK;
}

/* Is it so in any run? */
static bool is_any(const struct scaling_study *s, const char *path)
{
    for (size_t i = 0; i < s->points; i++)
        for (size_t r = 0; r < s->point[i].side.runs; r++)
            if (tm_is(tm_path(s->point[i].side.run[r].summary, path)))
                return true;
    return false;
}

static void add_head(struct scaling_study *s)
{
    char name[2 * DEVICES_TEXT], last[DEVICES_TEXT];
    struct tm_value *to;

    tm_add_study_head(s->root, "tracemill.scaling", s->options, is_any(s, "report.redacted"));
    to = tm_add_object(s->root, "input");
    tm_add_bool(to, "partial", is_any(s, "input.partial"));
    (void)snprintf(name, sizeof(name), "%.0f to %s", s->facts[0].devices,
                   devices_text(last, last_point(s)->devices));
    tm_add_string(to, "run", name);
}

static void add_mode(struct scaling_study *s)
{
    static const char *const modes[] = {
        [SCALING_STRONG] = "strong", [SCALING_WEAK] = "weak", [SCALING_UNCLEAR] = "unclear"
    };
    struct tm_value *work, *limits;

    tm_add_string(s->root, "mode", modes[s->mode]);
    work = tm_add_object(s->root, "work");
    tm_add_figure(work, "total_change_pct", s->total_change_pct,
                  "what a point computes is not known");
    tm_add_figure(work, "device_change_pct", s->device_change_pct,
                  "what a point computes is not known");
    tm_add_int(work, "same_within_pct", SCALING_SAME_PCT);
    limits = tm_add_object(s->root, "limits");
    tm_add_int(limits, "good_pct", SCALING_GOOD_PCT);
    tm_add_int(limits, "bad_pct", SCALING_BAD_PCT);
}

static void fill(struct scaling_study *s)
{
    take_step_times(s);
    take_parts(s);
    tell_mode(s);
    work_out_speedups(s);
    fit_serial_share(s);
    add_head(s);
    add_mode(s);
    add_points(s);
    add_fit(s);
    add_scaling_notes(s);
    add_scaling_findings(s);
    add_scaling_verdict(s);
}

tm_status tm_scaling(struct tm_run *run, struct tm_doc *out, const struct tm_scaling_point *point,
                     size_t points, const struct tm_compare_options *options)
{
    struct scaling_study s = {
        .run = run, .point = point, .points = points, .options = options, .root = tm_doc_root(out)
    };
    struct tm_compare_blocks memory = { .run = run };
    size_t numbers = 0, samples = 0, bytes;
    tm_status st = TM_OK;
    double *room;

    assert(points > 0 && points <= TM_SCALING_POINTS_MOST);
    for (size_t i = 0; i < points; i++) {
        samples += count_samples(&point[i]);
        numbers += count_samples(&point[i]) + point[i].side.runs;
    }
    numbers += samples + 1 +
               TM_RESAMPLES; /* 1: a median alone is resampled beside all steps of its point */
    bytes = points * sizeof(*s.facts) + numbers * sizeof(double);
    s.facts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!s.facts)
        return run->error.status;
    room = (double *)(void *)(s.facts + points);
    for (size_t i = 0; i < points && st == TM_OK; i++)
        st = take_samples(&memory, &point[i], &s.facts[i], &room);
    s.scratch = room;
    if (st == TM_OK)
        fill(&s);
    tm_room_free(&memory);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, s.facts, bytes);
    return st == TM_OK ? tm_doc_status(out) : st;
}
