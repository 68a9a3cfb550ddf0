/* SPDX-License-Identifier: Apache-2.0 */
/* Causes among operations: those that take longer, come more often, replace others, or all change alike. */
#include "reports/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Operations that take longer or shorter, run more or less often, are new or gone; and all of them by the same share. 
 * Ops whose names are equal without their numbers are a family: one cause, unless one of them makes up most of it.  The
 * time of concurrent ops exceeds the compute time of the step, so it is reported in terms of the step time. */

enum { OPS_TOLD_MOST = 8 }; /* of a side; the rest is one line */

struct family {
    const char *name;
    const struct tm_row *largest; /* the row with most of the change by length */
    size_t rows;
    double base_ps, new_ps, base_count, new_count;
    double length_ps, count_ps; /* changes per step and device */
    double variance;            /* of length_ps; NaN = not known */
    double p_length, p_count;
    double *base_of_run, *new_of_run;
    bool is_counted_exactly;
};

static const char *const op_fixes[] = {
    "Compare it in both profiles: shapes, data type, selected kernel.",
    "If compiler or library versions differ, run the new code with the old versions.",
    "XLA selects kernels by timing them: compare the autotuning flags.",
    NULL,
};

static const char *const added_fixes[] = {
    "Compare the optimized HLO of both programs around these operations.",
    "Look for what prevents fusion: a side effect, a changed data type, or a reshape between operations.",
    NULL,
};

static const char *const uniform_fixes[] = {
    "Compare clocks, power limit and temperature of both machines: `nvidia-smi -q -d CLOCK,PERFORMANCE`.",
    "Check for other programs on the devices.",
    "Check that both runs have the same batch size and data types.",
    NULL,
};

static int by_pattern(const void *a, const void *b)
{
    const struct tm_row *const *x = a, *const *y = b;
    const int order = strcmp((*x)->pattern, (*y)->pattern);

    return order ? order : strcmp((*x)->name, (*y)->name);
}

static int by_size(const void *a, const void *b)
{
    const struct family *x = a, *y = b;
    const double dx = fabs(x->length_ps) + fabs(x->count_ps), dy = fabs(y->length_ps) + fabs(y->count_ps);

    if (dx != dy)
        return dx > dy ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_row(const struct causes *k, struct family *f, const struct tm_row *row)
{
    const struct row_cell *base = &row->cell[0], *other = &row->cell[k->side];
    const struct row_change *change = &row->change[k->side];

    f->rows++;
    f->base_ps += base->ps;
    f->new_ps += other->ps;
    f->base_count += base->count;
    f->new_count += other->count;
    f->is_counted_exactly = f->is_counted_exactly && (!base->is_known || base->is_counted_exactly) &&
                            (!other->is_known || other->is_counted_exactly);
    for (size_t r = 0; r < k->c->side[0].runs; r++)
        f->base_of_run[r] += base->ps_of_run[r];
    for (size_t r = 0; r < k->c->side[k->side].runs; r++)
        f->new_of_run[r] += other->ps_of_run[r];
    if (!change->is_known)
        return;
    f->length_ps += change->from_length_ps;
    f->count_ps += change->from_count_ps;
    if (!f->largest || fabs(change->from_length_ps) > fabs(f->largest->change[k->side].from_length_ps))
        f->largest = row;
    if (base->is_known && other->is_known) {
        const double weight = (base->count + other->count) / 2;

        if (base->has_moments && other->has_moments && base->executions >= 2 && other->executions >= 2)
            f->variance += weight * weight *
                           (base->squares / (base->executions - 1) / base->executions +
                            other->squares / (other->executions - 1) / other->executions);
        else if (fabs(change->from_length_ps) > 0)
            f->variance = NAN;
    }
}

static void test_family(const struct causes *k, struct family *f)
{
    const double a = tm_device_steps(k->c->side[0].run[0].summary);
    const double b = tm_device_steps(k->c->side[k->side].run[0].summary);
    const double more = fabs(f->new_count - f->base_count);

    f->p_length = f->p_count = NAN;
    if (tm_basis_of(k->c, k->side) == TEST_RUNS) {
        const struct tm_sample x = { f->base_of_run, k->c->side[0].runs };
        const struct tm_sample y = { f->new_of_run, k->c->side[k->side].runs };

        f->p_length = f->p_count = tm_welch_sample_test(x, y);
    } else if (k->is_tested) {
        if (f->variance > 0)
            f->p_length = 2 * tm_normal_upper(fabs(f->length_ps) / sqrt(f->variance));
        if (more < 1e-9)
            f->p_count = 1;
        else
            f->p_count =
                f->is_counted_exactly ? 0 : 2 * tm_normal_upper(more / sqrt(f->base_count / a + f->new_count / b));
    }
}

static bool begin_family(const struct causes *k, struct family *f, const char *name)
{
    *f = (struct family){ .name = name, .is_counted_exactly = true };
    f->base_of_run = tm_room_take(&k->c->room, k->c->side[0].runs, sizeof(double));
    f->new_of_run = tm_room_take(&k->c->room, k->c->side[k->side].runs, sizeof(double));
    return f->base_of_run && f->new_of_run;
}

static bool is_compute(const struct tm_row *row)
{
    return strcmp(row->group, "collective") != 0;
}

static struct family *find_families(const struct causes *k, const struct tm_row_table *table, size_t *count)
{
    struct tm_compare_blocks *room = &k->c->room;
    const struct tm_row **row = tm_room_take(room, table->rows, sizeof(struct tm_row *));
    struct family *list = tm_room_take(room, table->rows, sizeof(*list));
    size_t rows = 0;

    *count = 0;
    if (!row || !list)
        return NULL;
    for (size_t i = 0; i < table->rows; i++) {
        if (is_compute(table->row[i]))
            row[rows++] = table->row[i];
    }
    qsort(row, rows, sizeof(struct tm_row *), by_pattern);
    for (size_t i = 0; i < rows; i++) {
        struct family *f = *count ? &list[*count - 1] : NULL;

        if (!f || strcmp(f->name, row[i]->pattern) != 0) {
            f = &list[(*count)++];
            if (!begin_family(k, f, row[i]->pattern)) {
                *count = 0;
                return NULL;
            }
        }
        add_row(k, f, row[i]);
    }
    for (size_t i = 0; i < *count; i++)
        test_family(k, &list[i]);
    qsort(list, *count, sizeof(*list), by_size);
    return list;
}

/* The part of the step's compute time that a picosecond of operations represents. */
static double scale_of(const struct causes *k, const struct family *list, size_t count)
{
    double base_ps = 0, new_ps = 0;

    for (size_t i = 0; i < count; i++) {
        base_ps += list[i].base_ps;
        new_ps += list[i].new_ps;
    }
    const double sum_ps = base_ps + new_ps;
    const double part_ps = (double)(k->w->base_part_ps[TM_PART_COMPUTE] + k->w->new_part_ps[TM_PART_COMPUTE]);

    return sum_ps > part_ps && sum_ps > 0 ? part_ps / sum_ps : 1;
}

/* By its own test if there is one, else with the compute of the step. */
static bool is_real(const struct causes *k, double p, size_t tests, double change_ps, double base_ps)
{
    const double compute_ps = (double)(k->w->new_part_ps[TM_PART_COMPUTE] - k->w->base_part_ps[TM_PART_COMPUTE]);

    if (base_ps > 0 && fabs(change_ps) * 100 < tm_row_noise_pct(k->c, k->side) * base_ps)
        return false;
    if (isfinite(p))
        return p * (double)tests <= ROW_RATE_ALONE;
    return !k->is_tested || (tm_part_has_changed(k, TM_PART_COMPUTE) && compute_ps * change_ps > 0);
}

static const char *shown(const struct family *f, size_t side, char out[TM_SHORT_NAME_BYTES], bool *is_one)
{
    const struct tm_row *row = f->largest;

    *is_one = f->rows == 1 || (row && fabs(row->change[side].from_length_ps) >= 0.75 * fabs(f->length_ps));
    return tm_short_name(out, *is_one && row ? row->name : f->name);
}

static void emit_p(struct cause *cause, double p)
{
    if (p < 0.0001)
        tm_cause_say(cause, "By chance in under 1 of 10,000 cases (p < 0.0001).");
    else if (isfinite(p))
        tm_cause_say(cause, "By chance in %.4f of all cases (p).", p);
}

static void tell_length(struct causes *k, const struct family *f, double change_ps)
{
    struct cause *cause = tm_cause_begin(k, change_ps > 0 ? "op_slower" : "op_faster", change_ps);
    char name[TM_SHORT_NAME_BYTES], longer[SIGNED_TIME_BYTES], time[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES],
        b[TM_FORMAT_BYTES];
    bool is_one;
    const char *what = shown(f, k->side, name, &is_one);
    const struct row_cell *base = is_one ? &f->largest->cell[0] : NULL,
                          *other = is_one ? &f->largest->cell[k->side] : NULL;
    const double before = is_one ? base->ps / base->count : f->base_ps / f->base_count;
    const double after = is_one ? other->ps / other->count : before * (1 + f->length_ps / f->base_ps);

    tm_cause_set_title(cause, "%s%s takes %s: %s per step", f->largest->match == MATCH_CATEGORY ? "The category " : "",
                       what, tm_longer_by(longer, before, after), tm_signed_time(time, change_ps));
    cause->value = tm_change_pct(before, after);
    cause->unit = "%";
    if (!is_one)
        tm_cause_say(cause, "%zu operations have this name with different numbers.", f->rows);
    tm_cause_say(cause, "Per step and device: %s, was %s.", tm_format_time(b, tm_whole(is_one ? other->ps : f->new_ps)),
                 tm_format_time(a, tm_whole(is_one ? base->ps : f->base_ps)));
    tm_cause_say(cause, "Executions per step: %s, was %s.", tm_format_number(b, is_one ? other->count : f->new_count),
                 tm_format_number(a, is_one ? base->count : f->base_count));
    if (!is_one || f->rows == 1)
        emit_p(cause, f->p_length);
    cause->why = change_ps > 0 ? "The same operation takes longer each time it runs."
                               : "The same operation takes less time each time it runs.";
    cause->fixes = op_fixes;
}

static void tell_count(struct causes *k, const struct family *f, double change_ps)
{
    struct cause *cause = tm_cause_begin(k, change_ps > 0 ? "op_more_often" : "op_less_often", change_ps);
    char name[TM_SHORT_NAME_BYTES], time[SIGNED_TIME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    tm_cause_set_title(cause, "%s has %s executions per step, was %s: %s per step", tm_short_name(name, f->name),
                       tm_format_number(b, f->new_count), tm_format_number(a, f->base_count),
                       tm_signed_time(time, change_ps));
    cause->value = tm_change_pct(f->base_count, f->new_count);
    cause->unit = "%";
    tm_cause_say(cause, "Per step and device: %s, was %s.", tm_format_time(b, tm_whole(f->new_ps)),
                 tm_format_time(a, tm_whole(f->base_ps)));
    cause->why = "The program executes it more or less often.";
    cause->fixes = added_fixes;
}

/* --- new and gone --- */

struct exchange {
    double added_ps, removed_ps, added_count, removed_count;
    size_t added, removed;
    const struct family *top_added, *top_removed;
};

static bool is_exchanged(const struct causes *k, const struct family *f, size_t tests)
{
    return (f->base_count > 0) != (f->new_count > 0) && is_real(k, f->p_count, tests, f->count_ps, 0) &&
           fabs(f->count_ps) > 0;
}

static void tell_exchange(struct causes *k, const struct exchange *x, double change_ps)
{
    const bool is_more = x->added_count > x->removed_count && x->removed > 0 && change_ps > 0;
    const char *id = is_more           ? "fusion_broken"
                     : x->added == 0   ? "ops_removed"
                     : x->removed == 0 ? "ops_added"
                                       : "ops_replaced";
    struct cause *cause = tm_cause_begin(k, id, change_ps);
    char added[TM_SHORT_NAME_BYTES] = "", removed[TM_SHORT_NAME_BYTES] = "", time[SIGNED_TIME_BYTES];
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    if (x->top_added)
        (void)tm_short_name(added, x->top_added->name);
    if (x->top_removed)
        (void)tm_short_name(removed, x->top_removed->name);
    (void)tm_signed_time(time, change_ps);
    (void)tm_format_number(a, x->added_count);
    (void)tm_format_number(b, x->removed_count);
    if (x->added && x->removed)
        tm_cause_set_title(cause, "%s executions of new operations per step (%s%s) replace %s (%s%s): %s per step", a,
                           added, x->added > 1 ? " ..." : "", b, removed, x->removed > 1 ? " ..." : "", time);
    else
        tm_cause_set_title(cause, "%zu %s operation%s, mostly %s: %s per step", x->added ? x->added : x->removed,
                           x->added ? "new" : "removed", tm_format_plural(x->added + x->removed),
                           x->added ? added : removed, time);
    tm_cause_say(cause, "New: %s per step and device in %zu operations, %s executions.",
                 tm_format_time(b, tm_whole(x->added_ps)), x->added, a);
    (void)tm_format_number(a, x->removed_count);
    tm_cause_say(cause, "Gone: %s per step and device in %zu operations, %s executions.",
                 tm_format_time(b, tm_whole(x->removed_ps)), x->removed, a);
    cause->why = is_more ? "One operation was split into several, each of which reads and writes memory."
                         : "The two programs do not run the same operations.";
    cause->fixes = added_fixes;
}

static void find_exchange(struct causes *k, const struct family *list, size_t count, double scale)
{
    struct exchange x = { .added = 0 };

    for (size_t i = 0; i < count; i++) {
        const struct family *f = &list[i];

        if (!is_exchanged(k, f, count))
            continue;
        if (f->new_count > 0) {
            x.added_ps += f->new_ps;
            x.added_count += f->new_count;
            x.added += f->rows;
            x.top_added = x.top_added ? x.top_added : f;
        } else {
            x.removed_ps += f->base_ps;
            x.removed_count += f->base_count;
            x.removed += f->rows;
            x.top_removed = x.top_removed ? x.top_removed : f;
        }
    }
    const double change_ps = (x.added_ps - x.removed_ps) * scale;

    if (!tm_is_worth_a_cause(k, change_ps))
        return;
    k->left_ps[TM_PART_COMPUTE] -= change_ps;
    tell_exchange(k, &x, change_ps);
}

static const struct tm_row_table *compute_rows(const struct causes *k)
{
    return k->c->ops->rows ? k->c->ops : k->c->kernels;
}

/* A slower operation can be hidden by the variation of the others of its family; it must then be
 * significant among all rows. */
static void tell_one_of(struct causes *k, const struct family *f, size_t tests, double scale)
{
    struct family one;

    if (f->rows < 2 || !f->largest || !f->largest->change[k->side].is_significant ||
        !begin_family(k, &one, f->largest->name))
        return;
    add_row(k, &one, f->largest);
    test_family(k, &one);
    const double change_ps = one.length_ps * scale;

    if (!isfinite(one.p_length) || !tm_is_worth_a_cause(k, change_ps) ||
        !is_real(k, one.p_length, tests, one.length_ps, one.base_ps))
        return;
    k->left_ps[TM_PART_COMPUTE] -= change_ps;
    tell_length(k, &one, change_ps);
}

void tm_find_op_changes(struct causes *k)
{
    const struct tm_row_table *table = compute_rows(k);
    const struct family *list;
    size_t count;
    double scale;

    if (k->is_compute_told)
        return;
    list = find_families(k, table, &count);
    scale = scale_of(k, list, count);
    find_exchange(k, list, count, scale);
    const int before = k->count;

    for (size_t i = 0; i < count && k->count - before < OPS_TOLD_MOST; i++) {
        const struct family *f = &list[i];
        const double length_ps = f->length_ps * scale, count_ps = f->count_ps * scale;

        if (!(f->base_count > 0) || !(f->new_count > 0))
            continue;
        if (tm_is_worth_a_cause(k, length_ps) && is_real(k, f->p_length, count, f->length_ps, f->base_ps)) {
            k->left_ps[TM_PART_COMPUTE] -= length_ps;
            tell_length(k, f, length_ps);
        } else {
            tell_one_of(k, f, table->rows, scale);
        }
        if (tm_is_worth_a_cause(k, count_ps) && is_real(k, f->p_count, count, f->count_ps, f->base_ps)) {
            k->left_ps[TM_PART_COMPUTE] -= count_ps;
            tell_count(k, f, count_ps);
        }
    }
}

/* --- everything by the same share --- */

enum { FAMILIES_FOR_ALL = 3 };

static const double uniform_least_pct = 2, uniform_most_away = 0.25, uniform_most_away_pct = 2, uniform_share = 0.85,
                    uniform_weight_least = 0.02;

static double ratio_of(const struct family *f)
{
    return 1 + f->length_ps / (f->base_ps > 0 ? (f->base_ps + f->new_ps - f->length_ps) / 2 : 1);
}

/* The ratio that most of the time changed by; false: there is none. */
static bool common_ratio(const struct family *list, size_t count, double *ratio, double *share, size_t *families)
{
    double base_ps = 0, change_ps = 0, near_ps = 0;

    for (size_t i = 0; i < count; i++) {
        base_ps += fmax(list[i].base_ps, list[i].new_ps);
        if (list[i].base_count > 0 && list[i].new_count > 0)
            change_ps += list[i].length_ps;
    }
    if (!(base_ps > 0))
        return false;
    *ratio = 1 + change_ps / (base_ps - fmax(change_ps, 0));
    *families = 0;
    for (size_t i = 0; i < count; i++) {
        const double away = fmax(uniform_most_away * fabs(*ratio - 1), uniform_most_away_pct / 100);

        if (!(list[i].base_count > 0) || !(list[i].new_count > 0) || fabs(ratio_of(&list[i]) - *ratio) > away)
            continue;
        near_ps += fmax(list[i].base_ps, list[i].new_ps);
        *families += list[i].base_ps >= uniform_weight_least * base_ps;
    }
    *share = near_ps / base_ps;
    return fabs(*ratio - 1) * 100 >= uniform_least_pct && *share >= uniform_share && *families >= FAMILIES_FOR_ALL;
}

void tm_find_uniform_change(struct causes *k)
{
    struct cause *cause;
    const struct family *list;
    size_t count, families;
    double ratio, share, change_ps;
    char longer[SIGNED_TIME_BYTES], time[SIGNED_TIME_BYTES], pct[TM_FORMAT_BYTES];

    if (k->is_compute_told || !tm_part_has_changed(k, TM_PART_COMPUTE) ||
        !tm_is_worth_a_cause(k, k->left_ps[TM_PART_COMPUTE]))
        return;
    list = find_families(k, compute_rows(k), &count);
    if (!common_ratio(list, count, &ratio, &share, &families))
        return;
    change_ps = tm_take_from_part(k, TM_PART_COMPUTE, (ratio - 1) * (double)k->w->base_part_ps[TM_PART_COMPUTE] * 1.1);
    if (!tm_is_worth_a_cause(k, change_ps))
        return;
    k->is_compute_told = true;
    cause = tm_cause_begin(k, ratio > 1 ? "all_slower" : "all_faster", change_ps);
    tm_cause_set_title(cause, "All operations take %s: %s per step", tm_longer_by(longer, 1, ratio),
                       tm_signed_time(time, change_ps));
    cause->value = 100 * (ratio - 1);
    cause->unit = "%";
    tm_cause_say(cause, "%s of the operation time changed by about the same factor.", tm_format_pct(pct, 100 * share));
    tm_cause_say(cause, "Among them are %zu kinds of operations with 2%% of the time or more each.", families);
    cause->why =
        "All operations changed by the same factor, so the cause is outside the operations: the device clock "
        "(temperature, power), different hardware, another program on the device, or a different amount of data per "
        "operation.";
    cause->fixes = uniform_fixes;
}
