/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of all sides, matched by position: ids contain host names,
 * which differ. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/run_figures.h"
#include "reports/compare/compare.h"
#include "reports/compare/comparison.h"
#include "reports/format/format.h"

/* The tables of a comparison as written: sorted by the largest change, the rest summed up. */

static const char *const match_name[] = { "name", "family", "pattern", "category", "none" };

static const char *const status_name[] = { "added", "removed", "slower", "faster", "same", "unclear" };

static double largest_change(const struct tm_row *row, size_t sides)
{
    double most = 0;

    for (size_t i = 1; i < sides; i++)
        most = fmax(most, fabs(row->change[i].change_ps));
    return most;
}

struct placed {
    const struct tm_row *row;
    double change_ps, ps;
};

static int by_change(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order;

    if (x->change_ps != y->change_ps)
        return x->change_ps > y->change_ps ? -1 : 1;
    if (x->ps != y->ps)
        return x->ps > y->ps ? -1 : 1;
    order = strcmp(x->row->name, y->row->name);
    return order ? order : strcmp(x->row->path, y->row->path);
}

static void add_change(const struct comparison *c, struct tm_value *changes, const struct row_change *change,
                       size_t side, bool is_by_execution)
{
    static const char hidden[] = "the table of a side is truncated, so the row may be among its remaining rows";
    struct tm_value *to = tm_add_object(changes, NULL);
    char reason[STEP_WHY_BYTES];
    const char *why = tm_no_test_reason(c, side, reason, sizeof(reason));

    if (tm_basis_of(c, side) != TEST_NONE)
        why = is_by_execution ? "the summaries do not record the variation of its executions"
                              : "a single run has only one value";
    tm_add_ps(to, "change_ps", change->is_known ? change->change_ps : NAN, hidden);
    tm_add_figure(to, "pct", change->is_known ? change->pct : NAN, change->is_known ? "the base has none" : hidden);
    tm_add_figure(to, "p", change->p, change->is_known ? why : hidden);
    if (change->is_tested)
        tm_add_bool(to, "significant", change->is_significant);
    else
        tm_add_null(to, "significant", change->is_known ? why : hidden);
    tm_add_string(to, "status", status_name[change->status]);
    tm_add_ps(to, "from_count_ps", change->is_known ? round(change->change_ps) - round(change->from_length_ps) : NAN,
              hidden);
    tm_add_ps(to, "from_length_ps", change->is_known ? change->from_length_ps : NAN, hidden);
}

static double cell_ps(const struct tm_row_table *table, const struct row_cell *cell)
{
    return cell->is_known ? cell->ps : table->is_whole && !cell->is_hidden ? 0 : NAN;
}

static void add_values(const struct comparison *c, struct tm_value *to, const struct tm_row_table *table,
                       const struct tm_row *row)
{
    struct tm_value *list = tm_add_array(to, "values");
    bool has_bytes = false;

    for (size_t i = 0; i < c->sides; i++)
        tm_add_ps(list, NULL, cell_ps(table, &row->cell[i]), NULL);
    list = tm_add_array(to, "counts");
    for (size_t i = 0; i < c->sides; i++) {
        tm_add_figure(list, NULL, row->cell[i].is_known ? row->cell[i].count : NAN, NULL);
        has_bytes = has_bytes || row->cell[i].has_bytes;
    }
    if (!has_bytes)
        return;
    list = tm_add_array(to, "bytes");
    for (size_t i = 0; i < c->sides; i++)
        tm_add_figure(list, NULL, row->cell[i].is_known && row->cell[i].has_bytes ? row->cell[i].bytes : NAN, NULL);
}

static void add_row(const struct comparison *c, struct tm_value *rows, const struct tm_row_table *table,
                    const struct tm_row *row)
{
    struct tm_value *to = tm_add_object(rows, NULL), *changes;
    size_t members = 0;

    tm_add_string(to, "name", row->name);
    if (*row->group)
        tm_add_string(to, "group", row->group);
    else
        tm_add_null(to, "group", "there is none, or several");
    if (table->has_path)
        tm_add_known(to, "op", row->path, "not recorded, or several");
    for (size_t i = 0; i < c->sides; i++)
        members = row->cell[i].members > members ? row->cell[i].members : members;
    tm_add_string(to, "match", match_name[row->match]);
    tm_add_uint(to, "members", members);
    add_values(c, to, table, row);
    changes = tm_add_array(to, "changes");
    for (size_t i = 1; i < c->sides; i++)
        add_change(c, changes, &row->change[i], i, !table->is_of_session && !table->test_part);
}

/* NaN = a side without the table. */
static void add_sums(const struct comparison *c, struct tm_value *to, const double *ps)
{
    static const char why[] = "a side does not have it";
    struct tm_value *values = tm_add_array(to, "values"), *changes;

    for (size_t i = 0; i < c->sides; i++)
        tm_add_ps(values, NULL, ps[i], NULL);
    changes = tm_add_array(to, "changes");
    for (size_t i = 1; i < c->sides; i++) {
        struct tm_value *change = tm_add_object(changes, NULL);
        const double change_ps = round(ps[i]) - round(ps[0]);

        tm_add_ps(change, "change_ps", change_ps, why);
        tm_add_figure(change, "pct", tm_change_pct(ps[0], ps[i]), isfinite(change_ps) ? "the base has none" : why);
    }
}

static void add_table(struct comparison *c, const struct tm_row_table *table)
{
    struct placed *placed = tm_room_take(&c->room, table->rows, sizeof(*placed));
    double *whole = tm_room_take(&c->room, c->sides, sizeof(*whole));
    double *rest = tm_room_take(&c->room, c->sides, sizeof(*rest));
    struct tm_value *to, *list;
    size_t listed = c->options->rows && c->options->rows < table->rows ? c->options->rows : table->rows;

    if (!placed || !whole || !rest)
        return;
    if (table->why) {
        tm_add_null(c->root, table->key, table->why);
        return;
    }
    for (size_t i = 0; i < table->rows; i++) {
        placed[i] = (struct placed){ table->row[i], largest_change(table->row[i], c->sides), 0 };
        for (size_t side = 0; side < c->sides; side++) {
            whole[side] += table->row[i]->cell[side].ps;
            placed[i].ps += table->row[i]->cell[side].ps;
        }
    }
    qsort(placed, table->rows, sizeof(*placed), by_change);
    to = tm_add_object(c->root, table->key);
    tm_add_string(to, "by", table->by);
    tm_add_string(to, "per", table->is_of_session ? "session" : "step");
    for (size_t side = 0; side < c->sides; side++)
        whole[side] = isfinite(table->floor_ps[side]) ? whole[side] + table->rest_ps[side] : NAN;
    add_sums(c, tm_add_object(to, "total"), whole);
    list = tm_add_array(to, "rows");
    for (size_t i = 0; i < listed; i++)
        add_row(c, list, table, placed[i].row);
    for (size_t side = 0; side < c->sides; side++) {
        rest[side] = isfinite(table->floor_ps[side]) ? table->rest_ps[side] : NAN;
        for (size_t i = listed; i < table->rows; i++)
            rest[side] += placed[i].row->cell[side].ps;
    }
    to = tm_add_object(to, "rest");
    tm_add_uint(to, "rows", table->rows - listed + table->rest_rows);
    add_sums(c, to, rest);
}

void tm_add_tables(struct comparison *c)
{
    struct tm_row_table *table[ROW_KINDS];

    for (int i = 0; i < ROW_KINDS; i++) {
        table[i] = tm_row_table_load(c, i);
        if (!table[i])
            return;
        add_table(c, table[i]);
    }
    c->kernels = table[ROWS_KERNELS];
    c->ops = table[ROWS_OPS];
    c->collectives = table[ROWS_COLLECTIVES];
    c->transfers = table[ROWS_TRANSFERS];
}

/* The figures of a run that are compared, in their order. */
struct compared_figures {
    const struct tm_run_figure *figure[TM_RUN_FIGURES_MOST];
    size_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct tm_run_figure *const *x = a, *const *y = b;

    return (*x)->place - (*y)->place;
}

static struct compared_figures find_compared(void)
{
    struct compared_figures found = { .count = 0 };
    const struct tm_run_figure *figure;

    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (figure->place)
            found.figure[found.count++] = figure;
    qsort(found.figure, found.count, sizeof(found.figure[0]), by_place);
    return found;
}

/* Figure by figure: the value of each side and what has changed.  For single runs, figures with a
 * value for each step are tested; for groups, all figures by their runs. */

struct figure_change {
    double p;
    bool is_significant;
};

static double value_in(const struct tm_value *summary, const void *what)
{
    const struct tm_run_figure *figure = what;
    const struct tm_value *value = tm_path(summary, figure->path);

    if (!tm_has(value))
        return NAN;
    return tm_double(value) / (figure->is_per_step ? tm_device_steps(summary) : 1);
}

static double test_by_runs(const struct comparison *c, size_t side, const struct tm_run_figure *figure)
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

/* The sum of some parts of each listed step, or its share. */
static struct tm_sample steps_of(struct comparison *c, const struct side_facts *facts,
                                 const struct tm_run_figure *figure)
{
    const size_t steps = facts->period_of_step.count;
    double *value = tm_room_take(&c->room, steps, sizeof(*value));

    for (size_t i = 0; i < steps && value; i++) {
        for (int part = 0; part < TM_PARTS; part++)
            value[i] += figure->parts >> part & 1 ? facts->part_of_step[part].value[i] : 0;
        if (figure->steps == TM_FIGURE_OF_SHARE)
            value[i] = facts->period_of_step.value[i] > 0 ? value[i] / facts->period_of_step.value[i] : 0;
    }
    return (struct tm_sample){ value, value ? steps : 0 };
}

/* The separate test that a step time figure has; NULL = it has none. */
static const struct middle_test *middle_of(const struct comparison *c, size_t side, const struct tm_run_figure *figure)
{
    if (figure->steps == TM_FIGURE_OF_STEP)
        return &c->step_test[side].median;
    return figure->steps == TM_FIGURE_OF_MEAN_STEP ? &c->step_test[side].mean : NULL;
}

static double test_figure(struct comparison *c, size_t side, const struct tm_run_figure *figure)
{
    const struct middle_test *middle = middle_of(c, side, figure);

    switch (tm_basis_of(c, side)) {
    case TEST_RUNS:
        return middle ? middle->p : test_by_runs(c, side, figure);
    case TEST_STEPS:
        if (figure->steps == TM_FIGURE_OF_PARTS || figure->steps == TM_FIGURE_OF_SHARE)
            return tm_series_rank_test(steps_of(c, &c->facts[0], figure), steps_of(c, &c->facts[side], figure));
        return middle ? middle->p : NAN;
    default:
        return NAN;
    }
}

/* The smallest reported change: 1% of a figure, one point of a share, for a time 1% of the step. */
static bool is_large(const struct comparison *c, const struct tm_run_figure *figure, double base, double value)
{
    const double change = fabs(value - base);

    if (figure->kind == TM_DOC_PERCENT)
        return change >= 1;
    if (figure->steps == TM_FIGURE_OF_PARTS)
        return change * 100 >= PART_LEAST_PCT * tm_base_step_ps(c);
    return base == 0 ? change > 0 : 100 * change >= STEP_LEAST_PCT * fabs(base);
}

static const char *judgement(const struct comparison *c, const struct tm_run_figure *figure, double base, double value,
                             const struct figure_change *change)
{
    const bool is_tested = isfinite(change->p);
    const bool is_fact = figure->kind == TM_DOC_COUNT || figure->kind == TM_DOC_BYTES;

    if (is_tested ? !change->is_significant : !is_large(c, figure, base, value))
        return "same";
    if (figure->better == TM_BETTER_NEITHER)
        return "other";
    if (!is_tested && !is_fact)
        return "unclear";
    return (value > base) == (figure->better == TM_BETTER_HIGHER) ? "better" : "worse";
}

static void add_figure_change(const struct comparison *c, struct tm_value *changes, size_t side,
                              const struct tm_run_figure *figure, double base, double value,
                              const struct figure_change *change)
{
    struct tm_value *to = tm_add_object(changes, NULL);
    const bool is_known = isfinite(base) && isfinite(value);
    char reason[STEP_WHY_BYTES];
    const char *why = tm_basis_of(c, side) == TEST_NONE   ? tm_no_test_reason(c, side, reason, sizeof(reason))
                      : figure->steps == TM_FIGURE_OF_RUN ? "a single run has only one value"
                                                          : "too few independent steps";

    if (!is_known)
        why = "a side does not have it";
    tm_add_figure(to, "change", value - base, why);
    tm_add_figure(to, "pct", is_known ? tm_change_pct(base, value) : NAN, is_known ? "the base has none" : why);
    tm_add_figure(to, "p", is_known ? change->p : NAN, why);
    if (is_known && isfinite(change->p))
        tm_add_bool(to, "significant", change->is_significant);
    else
        tm_add_null(to, "significant", why);
    tm_add_string(to, "judgement", is_known ? judgement(c, figure, base, value, change) : "unclear");
}

static void add_figure(const struct comparison *c, struct tm_value *figures, const struct tm_run_figure *figure,
                       const double *value, const struct figure_change *change)
{
    static const char *const better[] = {
        [TM_BETTER_LOWER] = "less", [TM_BETTER_HIGHER] = "more", [TM_BETTER_NEITHER] = "neither"
    };
    struct tm_value *to = tm_add_object(figures, NULL), *list;
    char headline[TM_FIGURE_TITLE_BYTES];

    tm_add_string(to, "id", figure->path);
    tm_add_string(to, "title", tm_figure_headline(headline, figure));
    tm_add_string(to, "kind", tm_figure_unit_word(figure->kind));
    tm_add_string(to, "better", better[figure->better]);
    tm_add_bool(to, "per_step", figure->is_per_step);
    list = tm_add_array(to, "values");
    for (size_t i = 0; i < c->sides; i++)
        tm_add_figure(list, NULL, value[i], NULL);
    list = tm_add_array(to, "changes");
    for (size_t i = 1; i < c->sides; i++)
        add_figure_change(c, list, i, figure, value[0], value[i], &change[i]);
}

/* Which of a side's changes are significant: the step time at its own level, the others
 * together. */
static void decide(const struct comparison *c, const struct compared_figures *compared, size_t side,
                   const double *value, struct figure_change *change)
{
    const size_t sides = c->sides, count = compared->count;
    double p[TM_RUN_FIGURES_MOST], scratch[TM_RUN_FIGURES_MOST];
    bool holds[TM_RUN_FIGURES_MOST];

    for (size_t i = 0; i < count; i++)
        p[i] = middle_of(c, side, compared->figure[i]) ? NAN : change[i * sides + side].p;
    if (tm_basis_of(c, side) == TEST_STEPS)
        tm_family_tests(p, count, PART_LEVEL, holds, scratch);
    else
        tm_discoveries(p, count, FIGURE_RATE, holds, scratch);
    for (size_t i = 0; i < count; i++) {
        const struct middle_test *middle = middle_of(c, side, compared->figure[i]);

        change[i * sides + side].is_significant =
            middle ? middle->is_changed
                   : holds[i] && is_large(c, compared->figure[i], value[i * sides], value[i * sides + side]);
    }
}

void tm_add_figures(struct comparison *c)
{
    const struct compared_figures compared = find_compared();
    const size_t sides = c->sides, count = compared.count;
    double *value = tm_room_take(&c->room, count * sides, sizeof(*value));
    struct figure_change *change = tm_room_take(&c->room, count * sides, sizeof(*change));
    struct tm_value *figures = tm_add_array(c->root, "figures");

    if (tm_failed(c->run))
        return;
    for (size_t i = 0; i < count; i++) {
        for (size_t side = 0; side < sides; side++) {
            value[i * sides + side] = tm_mean_over_runs(&c->side[side], value_in, compared.figure[i]);
            if (side)
                change[i * sides + side].p = test_figure(c, side, compared.figure[i]);
        }
    }
    for (size_t side = 1; side < sides; side++)
        decide(c, &compared, side, value, change);
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;

        for (size_t side = 0; side < sides; side++)
            is_known = is_known || isfinite(value[i * sides + side]);
        if (is_known)
            add_figure(c, figures, compared.figure[i], &value[i * sides], &change[i * sides]);
    }
}

/* For the step and its parts. */
void tm_add_geomean(struct comparison *c)
{
    const struct compared_figures compared = find_compared();
    double value[TM_SIDES_MOST][TM_RUN_FIGURES_MOST];
    bool is_used[TM_RUN_FIGURES_MOST];
    size_t used = 0;
    struct tm_value *to, *list;

    for (size_t i = 0; i < compared.count; i++) {
        const struct tm_run_figure *figure = compared.figure[i];

        is_used[i] = figure->steps == TM_FIGURE_OF_MEAN_STEP || tm_figure_is_of_parts(figure);
        for (size_t side = 0; side < c->sides && is_used[i]; side++) {
            value[side][i] = tm_mean_over_runs(&c->side[side], value_in, figure);
            /* ratios of tiny times are meaningless */
            is_used[i] = value[side][i] > 0 && value[side][i] * 100 >= tm_base_step_ps(c);
        }
        used += is_used[i];
    }
    if (used == 0) {
        tm_add_null(c->root, "geomean", "no time is available on all sides");
        return;
    }
    to = tm_add_object(c->root, "geomean");
    list = tm_add_array(to, "figures");
    for (size_t i = 0; i < compared.count; i++) {
        if (is_used[i])
            tm_add_string(list, NULL, compared.figure[i]->path);
    }
    list = tm_add_array(to, "ratios");
    for (size_t side = 0; side < c->sides; side++) {
        double ratio[TM_RUN_FIGURES_MOST];
        struct tm_sample sample = { ratio, 0 };

        for (size_t i = 0; i < compared.count; i++) {
            if (is_used[i])
                ratio[sample.count++] = value[side][i] / value[0][i];
        }
        tm_add_double(list, NULL, tm_sample_geomean(sample));
    }
}

static const struct tm_value *device_of(const struct tm_compared_run *run, size_t device)
{
    return tm_at(tm_get(run->summary, "devices"), device);
}

static bool are_as_many(const struct comparison *c, size_t *count)
{
    *count = tm_length(tm_get(c->side[0].run[0].summary, "devices"));
    for (size_t side = 0; side < c->sides; side++) {
        for (size_t r = 0; r < c->side[side].runs; r++) {
            if (tm_length(tm_get(c->side[side].run[r].summary, "devices")) != *count)
                return false;
        }
    }
    return *count > 0;
}

static double steps_of_device(const struct tm_compared_run *run, size_t devices)
{
    return tm_device_steps(run->summary) / (double)devices;
}

/* Busy time of each step of a run, or of each run of a group. */
static struct tm_sample busy_sample(struct comparison *c, size_t side, size_t device, enum test_basis basis)
{
    const struct tm_comparison_side *of = &c->side[side];
    const struct tm_value *steps = tm_path(device_of(&of->run[0], device), "steps.busy_ps");
    const size_t most = basis == TEST_RUNS ? of->runs : tm_length(steps);
    double *value = tm_room_take(&c->room, most, sizeof(*value));
    struct tm_sample sample = { value, 0 };

    for (size_t i = 0; i < most && value; i++) {
        if (basis == TEST_RUNS)
            value[sample.count++] = tm_double(tm_get(device_of(&of->run[i], device), "busy_ps")) /
                                    steps_of_device(&of->run[i], c->device_count);
        else if (tm_has(tm_at(steps, i)))
            value[sample.count++] = tm_double(tm_at(steps, i));
    }
    return sample;
}

static double test_device(struct comparison *c, size_t side, size_t device)
{
    const enum test_basis basis = tm_basis_of(c, side);
    const struct tm_sample a = busy_sample(c, 0, device, basis), b = busy_sample(c, side, device, basis);

    if (basis == TEST_NONE)
        return NAN;
    return basis == TEST_STEPS ? tm_series_rank_test(a, b) : tm_welch_sample_test(a, b);
}

static void load_device(struct comparison *c, size_t number)
{
    struct compared_device *device = &c->devices[number];
    const struct tm_value *summary = c->side[0].run[0].summary;

    device->name = tm_shown_device(summary, tm_text(tm_get(device_of(&c->side[0].run[0], number), "id")));
    device->busy_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    device->compute_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    device->p = tm_room_take(&c->room, c->sides, sizeof(double));
    device->is_significant = tm_room_take(&c->room, c->sides, sizeof(bool));
    if (tm_failed(c->run))
        return;
    for (size_t side = 0; side < c->sides; side++) {
        const struct tm_comparison_side *of = &c->side[side];

        for (size_t r = 0; r < of->runs; r++) {
            const double units = steps_of_device(&of->run[r], c->device_count) * (double)of->runs;

            device->busy_ps[side] += tm_double(tm_get(device_of(&of->run[r], number), "busy_ps")) / units;
            device->compute_ps[side] += tm_double(tm_get(device_of(&of->run[r], number), "compute_ps")) / units;
        }
        if (side)
            device->p[side] = test_device(c, side, number);
    }
}

static void decide_devices(struct comparison *c, size_t side)
{
    double *p = tm_room_take(&c->room, 2 * c->device_count, sizeof(*p));
    bool *holds = tm_room_take(&c->room, c->device_count, sizeof(*holds));

    if (!p || !holds)
        return;
    for (size_t i = 0; i < c->device_count; i++)
        p[i] = c->devices[i].p[side];
    tm_family_tests(p, c->device_count, PART_LEVEL, holds, p + c->device_count);
    for (size_t i = 0; i < c->device_count; i++) {
        struct compared_device *device = &c->devices[i];

        device->is_significant[side] =
            holds[i] && fabs(device->busy_ps[side] - device->busy_ps[0]) * 100 >= PART_LEAST_PCT * tm_base_step_ps(c);
    }
}

static void add_device(const struct comparison *c, struct tm_value *rows, const struct compared_device *device)
{
    struct tm_value *to = tm_add_object(rows, NULL), *values, *compute, *changes;

    tm_add_string(to, "name", device->name);
    values = tm_add_array(to, "values");
    compute = tm_add_array(to, "compute");
    changes = tm_add_array(to, "changes");
    for (size_t side = 0; side < c->sides; side++) {
        struct tm_value *change;
        char why[STEP_WHY_BYTES];

        tm_add_ps(values, NULL, device->busy_ps[side], NULL);
        tm_add_ps(compute, NULL, device->compute_ps[side], NULL);
        if (side == 0)
            continue;
        change = tm_add_object(changes, NULL);
        (void)snprintf(why, sizeof(why), "too few independent steps");
        if (tm_basis_of(c, side) == TEST_NONE)
            (void)tm_no_test_reason(c, side, why, sizeof(why));
        tm_add_ps(change, "change_ps", round(device->busy_ps[side]) - round(device->busy_ps[0]), NULL);
        tm_add_figure(change, "pct", tm_change_pct(device->busy_ps[0], device->busy_ps[side]), "the base has none");
        tm_add_figure(change, "p", device->p[side], why);
        if (isfinite(device->p[side]))
            tm_add_bool(change, "significant", device->is_significant[side]);
        else
            tm_add_null(change, "significant", why);
    }
}

static void add_imbalance(const struct comparison *c, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "imbalance_pct");

    for (size_t side = 0; side < c->sides; side++) {
        double sum = 0, most = 0;

        for (size_t i = 0; i < c->device_count; i++) {
            sum += c->devices[i].compute_ps[side];
            most = fmax(most, c->devices[i].compute_ps[side]);
        }
        tm_add_figure(list, NULL, sum > 0 ? 100 * (most * (double)c->device_count / sum - 1) : NAN, NULL);
    }
}

void tm_add_compared_devices(struct comparison *c)
{
    struct tm_value *to, *rows;
    size_t count;

    if (!are_as_many(c, &count)) {
        tm_add_null(c->root, "devices", "the runs have no devices, or different numbers of devices");
        return;
    }
    c->devices = tm_room_take(&c->room, count, sizeof(*c->devices));
    if (!c->devices)
        return;
    c->device_count = count;
    for (size_t i = 0; i < count && !tm_failed(c->run); i++)
        load_device(c, i);
    for (size_t side = 1; side < c->sides && !tm_failed(c->run); side++)
        decide_devices(c, side);
    if (tm_failed(c->run))
        return;
    to = tm_add_object(c->root, "devices");
    rows = tm_add_array(to, "rows");
    for (size_t i = 0; i < count; i++)
        add_device(c, rows, &c->devices[i]);
    add_imbalance(c, to);
}
