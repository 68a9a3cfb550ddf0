/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of the sides are the same thing.  Names first (with the framework path, where both
 * tell one: compilers number their ops, and one more op gives all behind it other numbers).  Rows
 * that some side lacks then meet by their families (METRICS 9; of ops), and what has none, or one that
 * is not listed, by their names without numbers, first within one path; they stand for several then.
 * Of other hardware, whose names have nothing in common, they meet by category. */
#include <stdlib.h>
#include <string.h>

#include "reports/compare/row_table.h"

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
        const double all = to->executions + from->executions,
                     distance = from->mean_ps - to->mean_ps;

        to->squares +=
            from->squares + distance * distance * to->executions * from->executions / all;
        to->mean_ps += distance * from->executions / all;
        to->executions = all;
    }
}

/* One row for all of a group, if some side gains by it. */
static void join_group(const struct comparison *c, const struct candidate *group, size_t count,
                       enum row_match match)
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
        group[i].row->name = NULL; /* it is part of another one now */
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
    const char *const key[LEVELS] = { [BY_FAMILY] = row->family, [BY_PATTERN_IN_PATH] = row->path,
                                      [BY_PATTERN] = row->pattern, [BY_CATEGORY] = row->group };

    return level == BY_PATTERN || *key[level];
}

static tm_status set_keys(struct comparison *c, struct candidate *to, struct tm_row *row, enum level level)
{
    const char *const first[LEVELS] = { [BY_FAMILY] = row->family, [BY_PATTERN_IN_PATH] = row->pattern,
                                        [BY_PATTERN] = row->pattern, [BY_CATEGORY] = row->group };

    to->row = row;
    to->first = first[level];
    to->second = level == BY_FAMILY ? row->family_path
                 : level == BY_PATTERN_IN_PATH ? name_pattern(&c->room, row->path) : "";
    return to->second ? TM_OK : c->run->error.status;
}

static tm_status match_level(struct comparison *c, struct tm_row_table *table,
                             struct candidate *list, enum level level)
{
    size_t count = 0;

    for (size_t i = 0; i < table->rows; i++) {
        struct tm_row *row = table->row[i];
        uint32_t mask;
        tm_status st;

        if (sides_of(c, row, &mask) == c->sides || !has_key(row, level))
            continue;
        st = set_keys(c, &list[count++], row, level);
        if (st != TM_OK)
            return st;
    }
    if (count == 0)
        return TM_OK;
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
    return TM_OK;
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

tm_status row_table_match(struct comparison *c, struct tm_row_table *table)
{
    const enum level last = table->is_by_category && is_other_hardware(c) ? BY_CATEGORY : BY_PATTERN;
    struct candidate *list = tm_room_take(&c->room, table->rows, sizeof(*list));

    if (!list)
        return c->run->error.status;
    for (enum level level = BY_FAMILY; level <= last; level++) {
        const tm_status st = match_level(c, table, list, level);

        if (st != TM_OK)
            return st;
    }
    for (size_t i = 0; i < table->rows; i++) {
        uint32_t mask;
        struct tm_row *row = table->row[i];

        if (row->match == MATCH_NAME && sides_of(c, row, &mask) < 2)
            row->match = MATCH_NONE;
    }
    return TM_OK;
}
