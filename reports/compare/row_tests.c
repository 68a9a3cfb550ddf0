/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed in a row, and is it more than chance?  Of single runs the lengths of its
 * executions are tested (Welch, from count, mean and deviation) and their number; of groups the
 * runs.  Executions of one run have the state of the machine in common, so that a test of them
 * alone would find every two runs different: a change also has to be larger than what steps vary
 * by, and a real part of the step. */
#include <math.h>
#include <string.h>

#include "reports/compare/row_table.h"

double row_noise_pct(const struct comparison *c, size_t side)
{
    const struct tm_sample a = c->facts[0].part_of_step[TM_PART_COMPUTE];
    const struct tm_sample b = c->facts[side].part_of_step[TM_PART_COMPUTE];
    const double x = tm_sample_moments(a).cv_pct, y = tm_sample_moments(b).cv_pct;
    const struct step_test *test = &c->step_test[side];
    const double worth = test->basis == TEST_STEPS ? test->effective_base / (double)c->facts[0].steps.count : 1;
    const double error = 3 * sqrt((x * x / (double)a.count + y * y / (double)b.count) / worth);

    return error > ROW_LEAST_PCT ? error : ROW_LEAST_PCT; /* that of a NaN, too */
}

double row_rate(const struct comparison *c, size_t side)
{
    bool has_changed = c->step_test[side].is_changed;

    for (int i = 0; i < TM_PARTS; i++)
        has_changed = has_changed || c->waterfall[side].test[i].is_significant;
    return has_changed ? ROW_RATE : ROW_RATE_ALONE;
}

static struct tm_summed lengths_of(const struct row_cell *cell)
{
    return (struct tm_summed){ cell->mean_ps, sqrt(cell->squares / (cell->executions - 1)),
                               cell->executions };
}

double length_p(const struct row_cell *base, const struct row_cell *other)
{
    if (!base->has_moments || !other->has_moments || base->executions < 2 || other->executions < 2)
        return NAN;
    return tm_welch_test(lengths_of(base), lengths_of(other));
}

/* Executions that come as often in every step are no matter of chance; others are taken for
 * independent ones. */
static double count_p(const struct comparison *c, size_t side, const struct row_cell *base,
                      const struct row_cell *other)
{
    const double a = tm_device_steps(c->side[0].run[0].summary),
                 b = tm_device_steps(c->side[side].run[0].summary);
    const double variance = base->count / a + other->count / b, change = other->count - base->count;

    if (fabs(change) < 1e-9)
        return 1;
    if (base->is_counted_exactly && other->is_counted_exactly && a >= 2 && b >= 2)
        return 0;
    return 2 * tm_normal_upper(fabs(change) / sqrt(variance));
}

static double runs_p(const struct comparison *c, size_t side, const struct tm_row *row)
{
    const struct tm_sample x = { row->cell[0].ps_of_run, c->side[0].runs };
    const struct tm_sample y = { row->cell[side].ps_of_run, c->side[side].runs };

    return tm_welch_sample_test(x, y);
}

static double executions_p(const struct comparison *c, size_t side, const struct tm_row *row)
{
    static const struct row_cell none;
    const struct row_cell *base = row->cell[0].is_known ? &row->cell[0] : &none;
    const struct row_cell *other = row->cell[side].is_known ? &row->cell[side] : &none;
    double by_count, by_length;

    if (!row->cell[0].is_known || !row->cell[side].is_known)
        return count_p(c, side, base, other);
    by_length = length_p(base, other);
    by_count = count_p(c, side, base, other);
    if (by_count >= 1)
        return by_length;
    if (!isfinite(by_length)) {
        const struct row_change *change = &row->change[side];

        return fabs(change->from_count_ps) >= 2 * fabs(change->from_length_ps) ? by_count : NAN;
    }
    return fmin(1, 2 * fmin(by_count, by_length));
}

static double part_p(const struct comparison *c, size_t side, const char *prefix,
                     const struct tm_row *row, bool *holds)
{
    for (int i = 0; i < TM_PARTS; i++) {
        const char *id = tm_part_kind[i].id;

        if (strncmp(id, prefix, strlen(prefix)) == 0 &&
            strcmp(id + strlen(prefix), row->name) == 0) {
            *holds = c->waterfall[side].test[i].is_significant;
            return c->waterfall[side].test[i].p;
        }
    }
    return NAN;
}

static double value_of(const struct tm_row *row, size_t side)
{
    return row->cell[side].is_known ? row->cell[side].ps : 0;
}

static void find_change(const struct tm_row *row, size_t side)
{
    const struct row_cell *base = &row->cell[0], *other = &row->cell[side];
    struct row_change *change = &row->change[side];

    *change = (struct row_change){ .pct = NAN, .p = NAN, .status = ROW_UNCLEAR };
    change->is_known = !base->is_hidden && !other->is_hidden;
    if (!change->is_known)
        return;
    change->change_ps = value_of(row, side) - value_of(row, 0);
    change->pct = change_pct(value_of(row, 0), value_of(row, side));
    change->from_count_ps = change->change_ps;
    if (base->is_known && other->is_known && base->count > 0 && other->count > 0) {
        change->from_length_ps =
            (other->ps / other->count - base->ps / base->count) * (base->count + other->count) / 2;
        change->from_count_ps = change->change_ps - change->from_length_ps;
    }
}

static void judge(const struct comparison *c, const struct tm_row_table *table,
                  const struct tm_row *row, size_t side)
{
    struct row_change *change = &row->change[side];
    const bool is_in_base = row->cell[0].is_known, is_in_other = row->cell[side].is_known;

    if (!change->is_known)
        return;
    if (is_in_base != is_in_other && !table->is_whole)
        change->status = is_in_other ? ROW_ADDED : ROW_REMOVED;
    else if (change->is_tested)
        change->status = !change->is_significant ? ROW_SAME
                         : change->change_ps > 0 ? ROW_SLOWER
                                                 : ROW_FASTER;
    else if (fabs(change->change_ps) * 100 < ROW_STEP_LEAST_PCT * base_step_ps(c) ||
             fabs(change->pct) < STEP_LEAST_PCT)
        change->status = ROW_SAME;
}

static bool is_worth_it(const struct comparison *c, const struct row_change *change,
                        double noise_pct)
{
    return change->is_known &&
           fabs(change->change_ps) * 100 >= ROW_STEP_LEAST_PCT * base_step_ps(c) &&
           (!isfinite(change->pct) || fabs(change->pct) >= noise_pct);
}

static void test_side(const struct comparison *c, struct tm_row_table *table, size_t side,
                      double *p, bool *holds, double *scratch)
{
    const enum test_basis basis = basis_of(c, side);
    const double noise_pct = row_noise_pct(c, side);

    for (size_t i = 0; i < table->rows; i++) {
        struct tm_row *row = table->row[i];
        struct row_change *change = &row->change[side];

        find_change(row, side);
        if (!change->is_known || basis == TEST_NONE ||
            (table->is_of_session && basis == TEST_STEPS))
            change->p = NAN;
        else if (table->test_part)
            change->p = part_p(c, side, table->test_part, row, &change->is_significant);
        else
            change->p = basis == TEST_RUNS ? runs_p(c, side, row) : executions_p(c, side, row);
        change->is_tested = isfinite(change->p);
        p[i] = change->p;
    }
    tm_discoveries(p, table->rows, row_rate(c, side), holds, scratch);
    for (size_t i = 0; i < table->rows; i++) {
        struct row_change *change = &table->row[i]->change[side];

        if (!table->test_part)
            change->is_significant = holds[i] && is_worth_it(c, change, noise_pct);
        judge(c, table, table->row[i], side);
    }
}

/* A row that a side does not list, whose list was cut: it may have as much as the least row listed.
 */
static void hide_cut(const struct comparison *c, struct tm_row_table *table)
{
    for (size_t i = 0; i < table->rows; i++) {
        double most = 0;

        for (size_t side = 0; side < c->sides; side++)
            most = fmax(most, value_of(table->row[i], side));
        for (size_t side = 0; side < c->sides; side++) {
            struct row_cell *cell = &table->row[i]->cell[side];

            cell->is_hidden =
                !cell->is_known && table->floor_ps[side] > 0 && most < 4 * table->floor_ps[side];
        }
    }
}

tm_status row_table_test(struct comparison *c, struct tm_row_table *table)
{
    double *p = tm_room_take(&c->room, 2 * table->rows, sizeof(*p));
    bool *holds = tm_room_take(&c->room, table->rows, sizeof(*holds));

    if (!p || !holds)
        return c->run->error.status;
    hide_cut(c, table);
    for (size_t side = 1; side < c->sides; side++)
        test_side(c, table, side, p, holds, p + table->rows);
    return TM_OK;
}
