/* SPDX-License-Identifier: Apache-2.0 */
/* Figure by figure: the value of each side and what has changed.  Of single runs those are tested
 * that have a value for each step, of groups all by their runs. */
#include <math.h>
#include <string.h>

#include "reports/compare/comparison.h"
#include "reports/compare/figure_table.h"

struct figure_change {
    double p;
    bool is_significant;
};

static double value_in(const struct tm_value *summary, const void *what)
{
    const struct tm_compared_figure *figure = what;
    const struct tm_value *value = tm_path(summary, figure->path);

    if (!tm_has(value))
        return NAN;
    return tm_double(value) / (figure->is_per_step ? tm_device_steps(summary) : 1);
}

static double test_by_runs(const struct comparison *c, size_t side,
                           const struct tm_compared_figure *figure)
{
    struct tm_summed sums[2];

    for (int i = 0; i < 2; i++) {
        const struct tm_comparison_side *of = &c->side[i ? side : 0];
        double value[TM_SIDE_RUNS_MOST];
        struct tm_sample sample = { value, 0 };

        for (size_t r = 0; r < of->runs && r < TM_SIDE_RUNS_MOST; r++) {
            const double here = value_in(of->run[r].summary, figure);

            if (isfinite(here))
                value[sample.count++] = here;
        }
        const struct tm_moments moments = tm_sample_moments(sample);

        sums[i] = (struct tm_summed){ moments.mean, moments.stddev, (double)sample.count };
    }
    return tm_welch_test(sums[0], sums[1]);
}

/* The sum of some parts in each listed step, or its share. */
static tm_status steps_of(struct comparison *c, const struct side_facts *facts,
                          const struct tm_compared_figure *figure, struct tm_sample *sample)
{
    const size_t steps = facts->period_of_step.count;
    double *value = tm_room_take(&c->room, steps, sizeof(*value));

    if (!value)
        return c->run->error.status;
    *sample = (struct tm_sample){ value, steps };
    for (size_t i = 0; i < steps; i++) {
        for (int part = 0; part < TM_PARTS; part++)
            value[i] += figure->parts >> part & 1 ? facts->part_of_step[part].value[i] : 0;
        if (figure->steps == FIGURE_OF_SHARE)
            value[i] =
                facts->period_of_step.value[i] > 0 ? value[i] / facts->period_of_step.value[i] : 0;
    }
    return TM_OK;
}

/* The test of the step time that a figure has by itself; NULL = it has none. */
static const struct middle_test *middle_of(const struct comparison *c, size_t side,
                                           const struct tm_compared_figure *figure)
{
    if (figure->steps == FIGURE_OF_STEP)
        return &c->step_test[side].median;
    return figure->steps == FIGURE_OF_MEAN_STEP ? &c->step_test[side].mean : NULL;
}

static tm_status test_figure(struct comparison *c, size_t side,
                             const struct tm_compared_figure *figure, double *p)
{
    const struct middle_test *middle = middle_of(c, side, figure);
    struct tm_sample a = { NULL, 0 }, b = { NULL, 0 };
    tm_status st;

    *p = NAN;
    switch (basis_of(c, side)) {
    case TEST_RUNS:
        *p = middle ? middle->p : test_by_runs(c, side, figure);
        return TM_OK;
    case TEST_STEPS:
        if (middle)
            *p = middle->p;
        if (figure->steps != FIGURE_OF_PARTS && figure->steps != FIGURE_OF_SHARE)
            return TM_OK;
        st = steps_of(c, &c->facts[0], figure, &a);
        if (st == TM_OK)
            st = steps_of(c, &c->facts[side], figure, &b);
        if (st == TM_OK)
            *p = tm_series_rank_test(a, b);
        return st;
    default:
        return TM_OK;
    }
}

/* What can be seen as a change: 1 % of a figure, a point of a share, 1 % of the step of a time. */
static bool is_large(const struct comparison *c, const struct tm_compared_figure *figure,
                     double base, double value)
{
    const double change = fabs(value - base);

    if (strcmp(figure->kind, "pct") == 0)
        return change >= 1;
    if (figure->steps == FIGURE_OF_PARTS)
        return change * 100 >= PART_LEAST_PCT * base_step_ps(c);
    return base == 0 ? change > 0 : 100 * change >= STEP_LEAST_PCT * fabs(base);
}

static const char *judgement(const struct comparison *c, const struct tm_compared_figure *figure,
                             double base, double value, const struct figure_change *change)
{
    const bool is_tested = isfinite(change->p);
    const bool is_fact = strcmp(figure->kind, "count") == 0 || strcmp(figure->kind, "bytes") == 0;

    if (is_tested ? !change->is_significant : !is_large(c, figure, base, value))
        return "same";
    if (strcmp(figure->better, "neither") == 0)
        return "other";
    if (!is_tested && !is_fact)
        return "unclear";
    return (value > base) == (strcmp(figure->better, "more") == 0) ? "better" : "worse";
}

static void add_change(const struct comparison *c, struct tm_value *changes, size_t side,
                       const struct tm_compared_figure *figure, double base, double value,
                       const struct figure_change *change)
{
    struct tm_value *to = tm_add_object(changes, NULL);
    const bool is_known = isfinite(base) && isfinite(value);
    char reason[STEP_WHY_BYTES];
    const char *why = basis_of(c, side) == TEST_NONE ? no_test_reason(c, side, reason, sizeof(reason))
                      : figure->steps == FIGURE_OF_RUN ? "of a single run there is one value"
                                                       : "too few independent steps";

    if (!is_known)
        why = "a side does not have it";
    tm_add_figure(to, "change", value - base, why);
    tm_add_figure(to, "pct", is_known ? change_pct(base, value) : NAN,
                  is_known ? "the base has none" : why);
    tm_add_figure(to, "p", is_known ? change->p : NAN, why);
    if (is_known && isfinite(change->p))
        tm_add_bool(to, "significant", change->is_significant);
    else
        tm_add_null(to, "significant", why);
    tm_add_string(to, "judgement",
                  is_known ? judgement(c, figure, base, value, change) : "unclear");
}

static void add_figure(const struct comparison *c, struct tm_value *figures,
                       const struct tm_compared_figure *figure, const double *value,
                       const struct figure_change *change)
{
    struct tm_value *to = tm_add_object(figures, NULL), *list;

    tm_add_string(to, "id", figure->path);
    tm_add_string(to, "title", figure->title);
    tm_add_string(to, "kind", figure->kind);
    tm_add_string(to, "better", figure->better);
    tm_add_bool(to, "per_step", figure->is_per_step);
    list = tm_add_array(to, "values");
    for (size_t i = 0; i < c->sides; i++)
        tm_add_figure(list, NULL, value[i], NULL);
    list = tm_add_array(to, "changes");
    for (size_t i = 1; i < c->sides; i++)
        add_change(c, list, i, figure, value[0], value[i], &change[i]);
}

/* Which of a side's changes are no chance: the length of a step by its own level, the others
 * together. */
static void decide(const struct comparison *c, size_t side, const double *value,
                   struct figure_change *change, double *p, bool *holds, double *scratch)
{
    const size_t sides = c->sides, count = tm_compared_figure_count;

    for (size_t i = 0; i < count; i++)
        p[i] = middle_of(c, side, &tm_compared_figures[i]) ? NAN : change[i * sides + side].p;
    if (basis_of(c, side) == TEST_STEPS)
        tm_family_tests(p, count, PART_LEVEL, holds, scratch);
    else
        tm_discoveries(p, count, FIGURE_RATE, holds, scratch);
    for (size_t i = 0; i < count; i++)
        change[i * sides + side].is_significant =
            middle_of(c, side, &tm_compared_figures[i])
                ? middle_of(c, side, &tm_compared_figures[i])->is_changed
                : holds[i] && is_large(c, &tm_compared_figures[i], value[i * sides],
                                       value[i * sides + side]);
}

tm_status add_figures(struct comparison *c)
{
    const size_t sides = c->sides, count = tm_compared_figure_count;
    double *value = tm_room_take(&c->room, count * sides, sizeof(*value));
    struct figure_change *change = tm_room_take(&c->room, count * sides, sizeof(*change));
    double *p = tm_room_take(&c->room, 2 * count, sizeof(*p));
    bool *holds = tm_room_take(&c->room, count, sizeof(*holds));
    struct tm_value *figures = tm_add_array(c->root, "figures");

    if (!value || !change || !p || !holds)
        return c->run->error.status;
    for (size_t i = 0; i < count; i++) {
        for (size_t side = 0; side < sides; side++) {
            tm_status st = TM_OK;

            value[i * sides + side] =
                mean_over_runs(&c->side[side], value_in, &tm_compared_figures[i]);
            if (side)
                st = test_figure(c, side, &tm_compared_figures[i], &change[i * sides + side].p);
            if (st != TM_OK)
                return st;
        }
    }
    for (size_t side = 1; side < sides; side++)
        decide(c, side, value, change, p, holds, p + count);
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;

        for (size_t side = 0; side < sides; side++)
            is_known = is_known || isfinite(value[i * sides + side]);
        if (is_known)
            add_figure(c, figures, &tm_compared_figures[i], &value[i * sides], &change[i * sides]);
    }
    return TM_OK;
}

void add_geomean(struct comparison *c)
{
    static const char *const ids[] = { "steps.mean_ps", "total.compute_ps",
                                       "total.exposed_collective_ps", "total.exposed_copy_ps",
                                       "total.idle_ps" };
    enum { IDS = sizeof(ids) / sizeof(ids[0]) };
    double value[TM_SIDES_MOST][IDS] = { { 0 } };
    bool is_used[IDS];
    size_t used = 0;
    struct tm_value *to, *list;

    for (size_t i = 0; i < tm_compared_figure_count; i++) {
        for (size_t id = 0; id < IDS; id++) {
            for (size_t side = 0;
                 side < c->sides && strcmp(ids[id], tm_compared_figures[i].path) == 0; side++)
                value[side][id] = mean_over_runs(&c->side[side], value_in, &tm_compared_figures[i]);
        }
    }
    for (size_t id = 0; id < IDS;
         id++) { /* a ratio of times that are next to nothing tells nothing */
        is_used[id] = true;
        for (size_t side = 0; side < c->sides; side++)
            is_used[id] =
                is_used[id] && value[side][id] > 0 && value[side][id] * 100 >= base_step_ps(c);
        used += is_used[id];
    }
    if (used == 0) {
        tm_add_null(c->root, "geomean", "no time is there on all sides");
        return;
    }
    to = tm_add_object(c->root, "geomean");
    list = tm_add_array(to, "figures");
    for (size_t id = 0; id < IDS; id++) {
        if (is_used[id])
            tm_add_string(list, NULL, ids[id]);
    }
    list = tm_add_array(to, "ratios");
    for (size_t side = 0; side < c->sides; side++) {
        double ratio[IDS];
        struct tm_sample sample = { ratio, 0 };

        for (size_t id = 0; id < IDS; id++) {
            if (is_used[id])
                ratio[sample.count++] = value[side][id] / value[0][id];
        }
        tm_add_double(list, NULL, tm_sample_geomean(sample));
    }
}
