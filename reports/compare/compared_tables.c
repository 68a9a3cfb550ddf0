/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a comparison as they are written: by the largest change, what passes the number of
 * rows summed up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/row_table.h"

static const char *const match_name[] = { "name", "family", "pattern", "category", "none" };
static const char *const status_name[] = {
    "added", "removed", "slower", "faster", "same", "unclear"
};

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

static void add_change(const struct comparison *c, struct tm_value *changes,
                       const struct row_change *change, size_t side, bool is_by_execution)
{
    static const char hidden[] = "the table of a side is cut, and it may be in the rest";
    struct tm_value *to = tm_add_object(changes, NULL);
    char reason[STEP_WHY_BYTES];
    const char *why = no_test_reason(c, side, reason, sizeof(reason));

    if (basis_of(c, side) != TEST_NONE)
        why = is_by_execution ? "the summaries do not record how much its executions vary"
                              : "of a single run there is one value";
    tm_add_ps(to, "change_ps", change->is_known ? change->change_ps : NAN, hidden);
    tm_add_figure(to, "pct", change->is_known ? change->pct : NAN,
                  change->is_known ? "the base has none" : hidden);
    tm_add_figure(to, "p", change->p, change->is_known ? why : hidden);
    if (change->is_tested)
        tm_add_bool(to, "significant", change->is_significant);
    else
        tm_add_null(to, "significant", change->is_known ? why : hidden);
    tm_add_string(to, "status", status_name[change->status]);
    tm_add_ps(to, "from_count_ps",
              change->is_known ? round(change->change_ps) - round(change->from_length_ps) : NAN,
              hidden);
    tm_add_ps(to, "from_length_ps", change->is_known ? change->from_length_ps : NAN, hidden);
}

static double cell_ps(const struct tm_row_table *table, const struct row_cell *cell)
{
    return cell->is_known ? cell->ps : table->is_whole && !cell->is_hidden ? 0 : NAN;
}

static void add_values(const struct comparison *c, struct tm_value *to,
                       const struct tm_row_table *table, const struct tm_row *row)
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
        tm_add_figure(list, NULL,
                      row->cell[i].is_known && row->cell[i].has_bytes ? row->cell[i].bytes : NAN,
                      NULL);
}

static void add_row(const struct comparison *c, struct tm_value *rows,
                    const struct tm_row_table *table, const struct tm_row *row)
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
        tm_add_figure(change, "pct", change_pct(ps[0], ps[i]),
                      isfinite(change_ps) ? "the base has none" : why);
    }
}

static tm_status add_table(struct comparison *c, const struct tm_row_table *table)
{
    struct placed *placed = tm_room_take(&c->room, table->rows, sizeof(*placed));
    double *whole = tm_room_take(&c->room, c->sides, sizeof(*whole));
    double *rest = tm_room_take(&c->room, c->sides, sizeof(*rest));
    struct tm_value *to, *list;
    size_t listed =
        c->options->rows && c->options->rows < table->rows ? c->options->rows : table->rows;

    if (!placed || !whole || !rest)
        return c->run->error.status;
    if (table->why) {
        tm_add_null(c->root, table->key, table->why);
        return TM_OK;
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
    return TM_OK;
}

tm_status add_tables(struct comparison *c)
{
    struct tm_row_table *table[ROW_KINDS];

    for (int i = 0; i < ROW_KINDS; i++) {
        tm_status st;

        table[i] = row_table_load(c, i);
        st = table[i] ? add_table(c, table[i]) : c->run->error.status;
        if (st != TM_OK)
            return st;
    }
    c->kernels = table[ROWS_KERNELS];
    c->ops = table[ROWS_OPS];
    c->collectives = table[ROWS_COLLECTIVES];
    c->transfers = table[ROWS_TRANSFERS];
    return TM_OK;
}
