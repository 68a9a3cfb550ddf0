/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a table: rows by name, cells by side.  A row of a summary goes to the row of its name and
 * framework path. */
#include "reports/compare/row_table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "pipeline/hash.h"

static char *copy_text(struct tm_compare_blocks *room, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = tm_room_take(room, bytes, 1);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

const char *name_pattern(struct tm_compare_blocks *room, const char *name)
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
        if (end == 0 || end == n - 1) /* nothing but numbers, or a number that is part of a word */
            break;
        pattern[n = end] = '\0';
    }
    return pattern;
}

static struct tm_row **find_slot(struct tm_row_table *table, const char *name, const char *path)
{
    const uint64_t seed = (uint64_t)(uintptr_t)table;
    uint64_t at = tm_hash_pair(tm_hash_text(name, strlen(name), seed),
                               tm_hash_text(path, strlen(path), seed), seed);

    for (at >>= 20;; at++) {
        struct tm_row **slot = &table->slot[at & (table->slots - 1)];

        if (!*slot || (strcmp((*slot)->name, name) == 0 && strcmp((*slot)->path, path) == 0))
            return slot;
    }
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
        row->pattern = name_pattern(&c->room, f->family && *f->family ? f->family : f->name);
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
    const double before = cell->executions, all = before + f->count,
                 distance = f->mean_ps - cell->mean_ps;

    if (f->count < 1)
        return;
    cell->has_moments = cell->has_moments && isfinite(f->stddev_ps) && isfinite(f->mean_ps);
    if (!cell->has_moments)
        return;
    cell->squares += f->stddev_ps * f->stddev_ps * (f->count - 1) +
                     distance * distance * before * f->count / all;
    cell->mean_ps += distance * f->count / all;
    cell->executions = all;
}

static bool is_whole_number(double value)
{
    return fabs(value - round(value)) < 1e-9 * (1 + fabs(value));
}

tm_status row_table_add(struct comparison *c, struct tm_row_table *table, size_t side, size_t run,
                        const struct row_figures *f)
{
    struct tm_row **slot = find_slot(table, f->name, f->path ? f->path : "");
    const struct tm_comparison_side *of = &c->side[side];
    const double units = table->is_of_session ? 1 : tm_device_steps(of->run[run].summary);
    const double runs = (double)of->runs;
    struct row_cell *cell;

    if (!*slot) {
        *slot = new_row(c, f);
        if (!*slot)
            return c->run->error.status;
        table->row[table->rows++] = *slot;
    }
    cell = &(*slot)->cell[side];
    if (!cell->is_known)
        *cell = (struct row_cell){ .is_known = true,
                                   .ps_of_run = cell->ps_of_run,
                                   .has_moments = runs == 1,
                                   .is_counted_exactly = true };
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
    return TM_OK;
}
