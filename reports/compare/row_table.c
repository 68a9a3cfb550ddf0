/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a table: rows by name, cells by side.  A row of a summary is added to the row of its name
 * and framework path. */
#include "reports/compare/comparison.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "reports/format/format.h"

/* What a table is filled with, a row of a run's summary at a time. */
struct row_figures {
    const char *name, *pattern /* NULL = the name without its numbers */, *path, *group;
    const char *family, *family_path; /* NULL, "" = none */
    double ps, count, bytes /* NaN = none */;
    double mean_ps, stddev_ps; /* of single executions; NaN = not known */
};

static char *copy_text(struct tm_compare_blocks *room, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = tm_room_take(room, bytes, 1);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

const char *tm_name_pattern(struct tm_compare_blocks *room, const char *name)
{
    char *pattern = copy_text(room, name);
    size_t n = 0;

    if (!pattern)
        return NULL;
    for (const char *at = name; *at;) {
        if (isdigit((unsigned char)*at)) {
            pattern[n++] = '#';
            while (isdigit((unsigned char)*at))
                at++;
        } else {
            pattern[n++] = *at++;
        }
    }
    pattern[n] = '\0';
    while (n > 1 && pattern[n - 1] == '#') {
        size_t end = n - 1;

        while (end > 0 && strchr("._-", pattern[end - 1]))
            end--;
        if (end == 0 || end == n - 1) /* only numbers, or a number that is part of a word */
            break;
        pattern[n = end] = '\0';
    }
    return pattern;
}

static bool ends_row(const void *slot, const void *wanted)
{
    const struct tm_row *const row = *(struct tm_row *const *)slot;
    const struct row_figures *const f = wanted;

    return !row || (strcmp(row->name, f->name) == 0 && strcmp(row->path, f->path ? f->path : "") == 0);
}

static struct tm_row **find_slot(struct tm_row_table *table, const struct row_figures *f)
{
    const uint64_t seed = (uint64_t)(uintptr_t)table;
    const char *const path = f->path ? f->path : "";
    const uint64_t hash =
        tm_hash_pair(tm_hash_text(f->name, strlen(f->name), seed), tm_hash_text(path, strlen(path), seed), seed);

    return tm_probe(table->slot, table->slots, sizeof(*table->slot), hash >> 20, f, ends_row);
}

static char *copy_if_any(struct tm_compare_blocks *room, const char *text)
{
    return copy_text(room, text ? text : "");
}

static struct tm_row *new_row(struct comparison *c, const struct row_figures *f)
{
    struct tm_row *row = tm_room_take(&c->room, 1, sizeof(*row));

    if (!row)
        return NULL;
    row->name = copy_text(&c->room, f->name);
    row->path = copy_if_any(&c->room, f->path);
    row->group = copy_if_any(&c->room, f->group);
    row->family = copy_if_any(&c->room, f->family);
    row->family_path = copy_if_any(&c->room, f->family_path);
    if (f->pattern)
        row->pattern = copy_text(&c->room, f->pattern);
    else
        row->pattern = tm_name_pattern(&c->room, f->family && *f->family ? f->family : f->name);
    row->cell = tm_room_take(&c->room, c->sides, sizeof(*row->cell));
    row->change = tm_room_take(&c->room, c->sides, sizeof(*row->change));
    if (!row->name || !row->path || !row->group || !row->family || !row->family_path || !row->pattern || !row->cell ||
        !row->change)
        return NULL;
    for (size_t i = 0; i < c->sides; i++) {
        row->cell[i].ps_of_run = tm_room_take(&c->room, c->side[i].runs, sizeof(double));
        if (!row->cell[i].ps_of_run)
            return NULL;
    }
    return row;
}

static void add_moments(struct row_cell *cell, const struct row_figures *f)
{
    const double before = cell->executions, all = before + f->count, distance = f->mean_ps - cell->mean_ps;

    if (f->count < 1)
        return;
    cell->has_moments = cell->has_moments && isfinite(f->stddev_ps) && isfinite(f->mean_ps);
    if (!cell->has_moments)
        return;
    cell->squares += f->stddev_ps * f->stddev_ps * (f->count - 1) + distance * distance * before * f->count / all;
    cell->mean_ps += distance * f->count / all;
    cell->executions = all;
}

static bool is_whole_number(double value)
{
    return fabs(value - round(value)) < 1e-9 * (1 + fabs(value));
}

static void row_table_add(struct comparison *c, struct tm_row_table *table, size_t side, size_t run,
                          const struct row_figures *f)
{
    struct tm_row **slot = find_slot(table, f);
    const struct tm_comparison_side *of = &c->side[side];
    const double units = table->is_of_session ? 1 : tm_device_steps(of->run[run].summary);
    const double runs = (double)of->runs;
    struct row_cell *cell;

    if (!*slot) {
        *slot = new_row(c, f);
        if (!*slot)
            return;
        table->row[table->rows++] = *slot;
    }
    cell = &(*slot)->cell[side];
    if (!cell->is_known)
        *cell = (struct row_cell){
            .is_known = true, .ps_of_run = cell->ps_of_run, .has_moments = runs == 1, .is_counted_exactly = true
        };
    cell->members = 1;
    cell->ps += f->ps / units / runs;
    cell->count += f->count / units / runs;
    cell->ps_of_run[run] += f->ps / units;
    cell->is_counted_exactly = cell->is_counted_exactly && is_whole_number(f->count / units);
    if (isfinite(f->bytes)) {
        cell->has_bytes = true;
        cell->bytes += f->bytes / units / runs;
    }
    if (runs == 1)
        add_moments(cell, f);
}

/* Matches the rows of the sides.  First by name (with the framework path if both have one: compilers number their ops,
 * and one additional op renumbers all later ones).  Rows missing on some side are then matched by their families
 * (METRICS 9; for ops), and rows without a family, or with one that is not listed, by their names without numbers,
 * first within one path; a match then represents several rows.  On different hardware, where names have nothing in
 * common, they are matched by category. */

enum level { BY_FAMILY, BY_PATTERN_IN_PATH, BY_PATTERN, BY_CATEGORY, LEVELS };

static const enum row_match match_of[LEVELS] = { MATCH_FAMILY, MATCH_PATTERN, MATCH_PATTERN, MATCH_CATEGORY };

struct candidate {
    struct tm_row *row;
    const char *first, *second; /* what has to be equal */
};

static int by_key(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = strcmp(x->first, y->first);

    if (!order)
        order = strcmp(x->second, y->second);
    if (!order)
        order = strcmp(x->row->name, y->row->name);
    return order ? order : strcmp(x->row->path, y->row->path);
}

static size_t sides_of(const struct comparison *c, const struct tm_row *row, uint32_t *mask)
{
    size_t known = 0;

    *mask = 0;
    for (size_t i = 0; i < c->sides; i++) {
        if (row->cell[i].is_known) {
            *mask |= UINT32_C(1) << i;
            known++;
        }
    }
    return known;
}

static void join_cells(struct row_cell *to, const struct row_cell *from, size_t runs)
{
    double *const ps_of_run = to->ps_of_run;

    if (!from->is_known)
        return;
    for (size_t i = 0; i < runs; i++)
        ps_of_run[i] += from->ps_of_run[i];
    if (!to->is_known) {
        *to = *from;
        to->ps_of_run = ps_of_run;
        return;
    }
    to->members += from->members;
    to->ps += from->ps;
    to->count += from->count;
    to->bytes += from->bytes;
    to->has_bytes = to->has_bytes && from->has_bytes;
    to->is_counted_exactly = to->is_counted_exactly && from->is_counted_exactly;
    to->has_moments = to->has_moments && from->has_moments;
    if (to->has_moments && to->executions + from->executions > 0) {
        const double all = to->executions + from->executions, distance = from->mean_ps - to->mean_ps;

        to->squares += from->squares + distance * distance * to->executions * from->executions / all;
        to->mean_ps += distance * from->executions / all;
        to->executions = all;
    }
}

/* One row for all of a group, if some side gains by it. */
static void join_group(const struct comparison *c, const struct candidate *group, size_t count, enum row_match match)
{
    struct tm_row *into = group[0].row;
    uint32_t all = 0;
    size_t most = 0, together = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t mask;
        const size_t known = sides_of(c, group[i].row, &mask);

        all |= mask;
        most = known > most ? known : most;
    }
    for (; all; all &= all - 1)
        together++;
    if (together <= most)
        return;
    for (size_t i = 1; i < count; i++) {
        for (size_t side = 0; side < c->sides; side++)
            join_cells(&into->cell[side], &group[i].row->cell[side], c->side[side].runs);
        if (strcmp(into->group, group[i].row->group) != 0)
            into->group = "";
        if (strcmp(into->path, group[i].row->path) != 0)
            into->path = "";
        group[i].row->name = NULL; /* merged into another one */
    }
    if (match == MATCH_CATEGORY)
        into->pattern = group[0].first;
    into->name = match == MATCH_FAMILY ? into->family : into->pattern;
    if (match == MATCH_FAMILY)
        into->path = into->family_path;
    into->match = match;
}

/* The row does not take part at a level whose key it lacks. */
static bool has_key(const struct tm_row *row, enum level level)
{
    const char *const key[LEVELS] = { [BY_FAMILY] = row->family,
                                      [BY_PATTERN_IN_PATH] = row->path,
                                      [BY_PATTERN] = row->pattern,
                                      [BY_CATEGORY] = row->group };

    return level == BY_PATTERN || *key[level];
}

static void set_keys(struct comparison *c, struct candidate *to, struct tm_row *row, enum level level)
{
    const char *const first[LEVELS] = { [BY_FAMILY] = row->family,
                                        [BY_PATTERN_IN_PATH] = row->pattern,
                                        [BY_PATTERN] = row->pattern,
                                        [BY_CATEGORY] = row->group };

    to->row = row;
    to->first = first[level];
    to->second = level == BY_FAMILY            ? row->family_path
                 : level == BY_PATTERN_IN_PATH ? tm_name_pattern(&c->room, row->path)
                                               : "";
}

static void match_level(struct comparison *c, struct tm_row_table *table, struct candidate *list, enum level level)
{
    size_t count = 0;

    for (size_t i = 0; i < table->rows; i++) {
        struct tm_row *row = table->row[i];
        uint32_t mask;

        if (sides_of(c, row, &mask) == c->sides || !has_key(row, level))
            continue;
        set_keys(c, &list[count++], row, level);
    }
    if (count == 0 || tm_failed(c->run))
        return;
    qsort(list, count, sizeof(*list), by_key);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(list[begin].first, list[end].first) == 0 &&
                              strcmp(list[begin].second, list[end].second) == 0;
             end++)
            ;
        if (end - begin > 1)
            join_group(c, &list[begin], end - begin, match_of[level]);
    }
    count = 0;
    for (size_t i = 0; i < table->rows; i++) {
        if (table->row[i]->name)
            table->row[count++] = table->row[i];
    }
    table->rows = count;
}

static bool is_other_hardware(const struct comparison *c)
{
    for (size_t i = 1; i < c->sides; i++) {
        const struct tm_value *a = c->side[0].run[0].summary, *b = c->side[i].run[0].summary;
        const char *const paths[] = { "environment.platform", "environment.devices[0].vendor",
                                      "environment.devices[0].model" };

        for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
            if (strcmp(tm_text(tm_path(a, paths[p])), tm_text(tm_path(b, paths[p]))) != 0)
                return true;
        }
    }
    return false;
}

/* Rows that not all sides have are matched by their families, then by their names without numbers, then (other
 * hardware) by category. */
static void row_table_match(struct comparison *c, struct tm_row_table *table)
{
    const enum level last = table->is_by_category && is_other_hardware(c) ? BY_CATEGORY : BY_PATTERN;
    struct candidate *list = tm_room_take(&c->room, table->rows, sizeof(*list));

    if (!list)
        return;
    for (enum level level = BY_FAMILY; level <= last; level++)
        match_level(c, table, list, level);
    for (size_t i = 0; i < table->rows; i++) {
        uint32_t mask;
        struct tm_row *row = table->row[i];

        if (row->match == MATCH_NAME && sides_of(c, row, &mask) < 2)
            row->match = MATCH_NONE;
    }
}

/* Determines what changed in a row, and whether it is significant.  For single runs, the durations of its executions
 * are tested (Welch, from count, mean, and deviation) and their number; for groups, the runs.  Executions of one run
 * share the state of the machine, so a test of them alone would find every two runs different: a change must also
 * exceed the variation of the steps, and be a relevant part of the step. */

double tm_row_noise_pct(const struct comparison *c, size_t side)
{
    const struct tm_sample a = c->facts[0].part_of_step[TM_PART_COMPUTE];
    const struct tm_sample b = c->facts[side].part_of_step[TM_PART_COMPUTE];
    const double x = tm_sample_moments(a).cv_pct, y = tm_sample_moments(b).cv_pct;
    const struct step_test *test = &c->step_test[side];
    const double worth = test->basis == TEST_STEPS ? test->effective_base / (double)c->facts[0].steps.count : 1;
    const double error = 3 * sqrt((x * x / (double)a.count + y * y / (double)b.count) / worth);

    return error > ROW_LEAST_PCT ? error : ROW_LEAST_PCT; /* also for a NaN */
}

/* The false discovery rate among rows: strict if the whole has not changed. */
static double row_rate(const struct comparison *c, size_t side)
{
    bool has_changed = c->step_test[side].is_changed;

    for (int i = 0; i < TM_PARTS; i++)
        has_changed = has_changed || c->waterfall[side].test[i].is_significant;
    return has_changed ? ROW_RATE : ROW_RATE_ALONE;
}

static struct tm_summed lengths_of(const struct row_cell *cell)
{
    return (struct tm_summed){ cell->mean_ps, sqrt(cell->squares / (cell->executions - 1)), cell->executions };
}

/* Lengths of executions on two sides.  NaN if there is no test. */
static double length_p(const struct row_cell *base, const struct row_cell *other)
{
    if (!base->has_moments || !other->has_moments || base->executions < 2 || other->executions < 2)
        return NAN;
    return tm_welch_test(lengths_of(base), lengths_of(other));
}

/* Executions that occur equally often in every step are not random; others are treated as
 * independent. */
static double count_p(const struct comparison *c, size_t side, const struct row_cell *base,
                      const struct row_cell *other)
{
    const double a = tm_device_steps(c->side[0].run[0].summary), b = tm_device_steps(c->side[side].run[0].summary);
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

static double part_p(const struct comparison *c, size_t side, const char *prefix, const struct tm_row *row, bool *holds)
{
    for (int i = 0; i < TM_PARTS; i++) {
        const char *id = tm_part_kind[i].id;

        if (strncmp(id, prefix, strlen(prefix)) == 0 && strcmp(id + strlen(prefix), row->name) == 0) {
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
    change->pct = tm_change_pct(value_of(row, 0), value_of(row, side));
    change->from_count_ps = change->change_ps;
    if (base->is_known && other->is_known && base->count > 0 && other->count > 0) {
        change->from_length_ps = (other->ps / other->count - base->ps / base->count) * (base->count + other->count) / 2;
        change->from_count_ps = change->change_ps - change->from_length_ps;
    }
}

static void judge(const struct comparison *c, const struct tm_row_table *table, const struct tm_row *row, size_t side)
{
    struct row_change *change = &row->change[side];
    const bool is_in_base = row->cell[0].is_known, is_in_other = row->cell[side].is_known;

    if (!change->is_known)
        return;
    if (is_in_base != is_in_other && !table->is_whole)
        change->status = is_in_other ? ROW_ADDED : ROW_REMOVED;
    else if (change->is_tested)
        change->status = !change->is_significant ? ROW_SAME : change->change_ps > 0 ? ROW_SLOWER : ROW_FASTER;
    else if (fabs(change->change_ps) * 100 < ROW_STEP_LEAST_PCT * tm_base_step_ps(c) ||
             fabs(change->pct) < STEP_LEAST_PCT)
        change->status = ROW_SAME;
}

static bool is_worth_it(const struct comparison *c, const struct row_change *change, double noise_pct)
{
    return change->is_known && fabs(change->change_ps) * 100 >= ROW_STEP_LEAST_PCT * tm_base_step_ps(c) &&
           (!isfinite(change->pct) || fabs(change->pct) >= noise_pct);
}

static void test_side(const struct comparison *c, struct tm_row_table *table, size_t side, double *p, bool *holds,
                      double *scratch)
{
    const enum test_basis basis = tm_basis_of(c, side);
    const double noise_pct = tm_row_noise_pct(c, side);

    for (size_t i = 0; i < table->rows; i++) {
        struct tm_row *row = table->row[i];
        struct row_change *change = &row->change[side];

        find_change(row, side);
        if (!change->is_known || basis == TEST_NONE || (table->is_of_session && basis == TEST_STEPS))
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

/* A row missing from a side whose list was cut: it may have as much time as the smallest listed row.
 */
static void hide_cut(const struct comparison *c, struct tm_row_table *table)
{
    for (size_t i = 0; i < table->rows; i++) {
        double most = 0;

        for (size_t side = 0; side < c->sides; side++)
            most = fmax(most, value_of(table->row[i], side));
        for (size_t side = 0; side < c->sides; side++) {
            struct row_cell *cell = &table->row[i]->cell[side];

            cell->is_hidden = !cell->is_known && table->floor_ps[side] > 0 && most < 4 * table->floor_ps[side];
        }
    }
}

/* Changes, tests, status. */
static void row_table_test(struct comparison *c, struct tm_row_table *table)
{
    double *p = tm_room_take(&c->room, 2 * table->rows, sizeof(*p));
    bool *holds = tm_room_take(&c->room, table->rows, sizeof(*holds));

    if (tm_failed(c->run))
        return;
    hide_cut(c, table);
    for (size_t side = 1; side < c->sides; side++)
        test_side(c, table, side, p, holds, p + table->rows);
}

/* The tables of a comparison, filled from the sections of the summaries. */

/* Where a section has its rows, and which members are the figures. */
struct section {
    const char *key, *by;
    const char *list; /* an array of rows, or an object of them by name; NULL = the section itself */
    const char *name, *group, *path, *ps, *stddev /* of ps of one execution */, *count, *bytes; /* NULL = none */
    const char *rest; /* what was not listed */
    const char *test_part;
    bool is_by_category, is_of_session, is_whole, has_path /* of the framework, and no other one */;
};

static const struct section sections[ROW_KINDS] = {
    [ROWS_KERNELS] = { .key = "kernels",
                       .by = "kernel",
                       .list = "by_name",
                       .name = "name",
                       .group = "category",
                       .ps = "total_ps",
                       .stddev = "stddev_ps",
                       .count = "count",
                       .rest = "by_name_rest",
                       .is_by_category = true },
    [ROWS_OPS] = { .key = "ops",
                   .by = "operation",
                   .list = "rows",
                   .name = "name",
                   .group = "category",
                   .path = "op",
                   .ps = "self_ps",
                   .stddev = "self_stddev_ps",
                   .count = "count",
                   .rest = "rest",
                   .is_by_category = true,
                   .has_path = true },
    [ROWS_SCOPES] = { .key = "scopes",
                      .by = "scope",
                      .list = "rows",
                      .name = "path",
                      .group = "pass",
                      .path = "pass",
                      .ps = "self_ps",
                      .count = "count",
                      .rest = "rest" },
    [ROWS_COLLECTIVES] = { .key = "collectives",
                           .by = "kind and message size",
                           .list = "rows",
                           .name = "kind",
                           .ps = "total_ps",
                           .count = "count",
                           .bytes = "bytes",
                           .rest = "rest" },
    [ROWS_TRANSFERS] = { .key = "transfers",
                         .by = "direction",
                         .list = "by_direction",
                         .name = "direction",
                         .ps = "total_ps",
                         .count = "count",
                         .bytes = "bytes" },
    [ROWS_GAPS] = { .key = "gaps",
                    .by = "cause",
                    .list = "by_cause",
                    .ps = "total_ps",
                    .count = "count",
                    .test_part = "idle_",
                    .is_whole = true },
    [ROWS_COMPILE] = { .key = "compile",
                       .by = "program",
                       .list = "events",
                       .name = "module",
                       .ps = "dur_ps",
                       .is_of_session = true },
};

static double number(const struct tm_value *row, const char *key)
{
    const struct tm_value *value = key ? tm_get(row, key) : NULL;

    return tm_has(value) ? tm_double(value) : NAN;
}

/* The row of the section's list of families that it belongs to; NULL = not listed, or it has none. */
static const struct tm_value *family_of(const struct tm_value *section, const struct tm_value *row)
{
    const struct tm_value *place = tm_get(row, "family");

    return tm_type_of(place) == TM_INT && tm_int(place) >= 0 ? tm_at(tm_get(section, "families"), (size_t)tm_int(place))
                                                             : NULL;
}

static void load_row(struct comparison *c, struct tm_row_table *table, const struct section *s, size_t side, size_t run,
                     const struct tm_value *row, const char *key)
{
    const struct tm_value *family = family_of(tm_get(c->side[side].run[run].summary, s->key), row);
    char name[128], size[TM_FORMAT_BYTES];
    struct row_figures f = {
        .name = s->name ? tm_text(tm_get(row, s->name)) : key,
        .path = s->path ? tm_text(tm_get(row, s->path)) : "",
        .group = s->group ? tm_text(tm_get(row, s->group)) : "",
        .family = tm_text(tm_get(family, "family")),
        .family_path = tm_text(tm_get(family, "op")),
        .ps = number(row, s->ps),
        .count = s->count ? number(row, s->count) : 1,
        .bytes = number(row, s->bytes),
        .stddev_ps = number(row, s->stddev),
    };

    if (!isfinite(f.ps) || !isfinite(f.count) || (strcmp(s->key, "transfers") == 0 && f.count == 0))
        return;
    if (!*f.name)
        f.name = "(unknown)";
    if (strcmp(s->key, "collectives") == 0) {
        f.pattern = f.name;
        f.group = f.name;
        if (tm_has(tm_get(row, "message_bytes"))) {
            (void)snprintf(name, sizeof(name), "%.60s, %s", f.name,
                           tm_format_bytes(size, tm_double(tm_get(row, "message_bytes"))));
            f.name = name;
        }
    }
    f.mean_ps = f.count > 0 ? f.ps / f.count : NAN;
    if (s->stddev && f.count == 1) /* a row does not differ from itself */
        f.stddev_ps = 0;
    return row_table_add(c, table, side, run, &f);
}

static void load_run(struct comparison *c, struct tm_row_table *table, const struct section *s, size_t side, size_t run)
{
    const struct tm_value *summary = c->side[side].run[run].summary;
    const struct tm_value *section = tm_get(summary, s->key), *list = tm_get(section, s->list);
    const struct tm_value *rest = s->rest ? tm_get(section, s->rest) : NULL;
    const bool is_object = tm_type_of(list) == TM_OBJECT;
    const double units = s->is_of_session ? 1 : tm_device_steps(summary);
    double least = INFINITY;

    if (!list) /* not recorded: its content is unknown */
        table->floor_ps[side] = INFINITY;
    for (size_t i = 0; i < tm_length(list) && !tm_failed(c->run); i++) {
        const struct tm_value *row = is_object ? tm_value_at(list, i) : tm_at(list, i);

        load_row(c, table, s, side, run, row, is_object ? tm_key_at(list, i) : "");
        least = fmin(least, number(row, s->ps) / units);
    }
    if (tm_int(tm_get(rest, "rows")) > 0) {
        table->rest_ps[side] += number(rest, s->ps) / units / (double)c->side[side].runs;
        table->rest_rows = table->rest_rows > (size_t)tm_int(tm_get(rest, "rows"))
                               ? table->rest_rows
                               : (size_t)tm_int(tm_get(rest, "rows"));
        if (isfinite(least) && least > table->floor_ps[side])
            table->floor_ps[side] = least;
    }
}

static size_t rows_at_most(const struct comparison *c, const struct section *s)
{
    size_t rows = 0;

    for (size_t side = 0; side < c->sides; side++) {
        for (size_t run = 0; run < c->side[side].runs; run++)
            rows += tm_length(tm_get(tm_get(c->side[side].run[run].summary, s->key), s->list));
    }
    return rows;
}

static bool make_room(struct comparison *c, struct tm_row_table *table, size_t rows)
{
    for (table->slots = 16; table->slots < 2 * rows; table->slots *= 2)
        ;
    table->slot = tm_room_take(&c->room, table->slots, sizeof(struct tm_row *));
    table->row = tm_room_take(&c->room, rows, sizeof(struct tm_row *));
    table->rest_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    table->floor_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    return !tm_failed(c->run);
}

static const char *reason(const struct comparison *c, const struct section *s)
{
    for (size_t side = 0; side < c->sides; side++) {
        const struct tm_value *section = tm_get(c->side[side].run[0].summary, s->key);

        if (section && *tm_why(section))
            return tm_why(section);
    }
    return "no side has any";
}

struct tm_row_table *tm_row_table_load(struct comparison *c, enum row_kind kind)
{
    const struct section *s = &sections[kind];
    struct tm_row_table *table = tm_room_take(&c->room, 1, sizeof(*table));

    if (!table)
        return NULL;
    *table = (struct tm_row_table){ .key = s->key,
                                    .by = s->by,
                                    .is_of_session = s->is_of_session,
                                    .is_by_category = s->is_by_category,
                                    .has_path = s->has_path,
                                    .is_whole = s->is_whole,
                                    .test_part = s->test_part };
    if (!make_room(c, table, rows_at_most(c, s)))
        return NULL;
    for (size_t side = 0; side < c->sides; side++) {
        for (size_t run = 0; run < c->side[side].runs; run++)
            load_run(c, table, s, side, run);
    }
    if (!tm_failed(c->run))
        row_table_match(c, table);
    if (!tm_failed(c->run))
        row_table_test(c, table);
    table->why = table->rows ? NULL : reason(c, s);
    return tm_failed(c->run) ? NULL : table;
}
