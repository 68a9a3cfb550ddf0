/* SPDX-License-Identifier: Apache-2.0 */
/* Computing by operation, collectives by kind; idle time by cause and copies by direction, as the
 * steps have them. */
#include "reports/scaling/grown_rows.h"

#include <string.h>

#include "reports/compare/run_facts.h"

static const double least_of_step = 0.01;

static const struct tm_value *first_summary(const struct scaling_study *s)
{
    return s->point[0].side.run[0].summary;
}

static const struct tm_value *last_summary(const struct scaling_study *s)
{
    return s->point[s->points - 1].side.run[0].summary;
}

static double beyond(const struct grown_row *row)
{
    return row->last_ps - row->ideal_ps;
}

/* Keep the list in order; what is small, or does not fit, is not kept. */
static size_t keep(const struct scaling_study *s, struct grown_row *list, size_t count,
                   struct grown_row row)
{
    size_t at = count;

    row.ideal_ps = s->mode == SCALING_WEAK ? row.first_ps : row.first_ps / last_point(s)->ideal;
    if (!(beyond(&row) >= least_of_step * last_point(s)->total_ps))
        return count;
    while (at > 0 && beyond(&list[at - 1]) < beyond(&row))
        at--;
    if (at == GROWN_ROWS_MOST)
        return count;
    count += count < GROWN_ROWS_MOST;
    memmove(&list[at + 1], &list[at], (count - at - 1) * sizeof(*list));
    list[at] = row;
    return count;
}

/* --- tables --- */

struct table {
    const char *rows, *name, *ps; /* path of the rows; members of a row */
};

/* All rows of that name.  out: false = there is none */
static bool sum_of(const struct tm_value *summary, const struct table *table, const char *name,
                   double *ps)
{
    const struct tm_value *rows = tm_path(summary, table->rows);
    bool is_there = false;

    *ps = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(row, table->name)), name) != 0)
            continue;
        is_there = true;
        *ps += tm_double(tm_get(row, table->ps));
    }
    *ps /= tm_device_steps(summary);
    return is_there;
}

static bool is_first_of_its_name(const struct tm_value *rows, size_t at, const char *key)
{
    const char *name = tm_text(tm_get(tm_at(rows, at), key));

    for (size_t i = 0; i < at; i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), key)), name) == 0)
            return false;
    return true;
}

static size_t find_in_table(const struct scaling_study *s, const struct table *table,
                            struct grown_row *list)
{
    const struct tm_value *rows = tm_path(last_summary(s), table->rows);
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        struct grown_row row = { .name = tm_text(tm_get(tm_at(rows, i), table->name)) };

        if (*row.name && is_first_of_its_name(rows, i, table->name) &&
            sum_of(last_summary(s), table, row.name, &row.last_ps) &&
            sum_of(first_summary(s), table, row.name, &row.first_ps))
            count = keep(s, list, count, row);
    }
    return count;
}

/* --- parts of the steps --- */

static size_t find_in_parts(const struct scaling_study *s, enum tm_part from, enum tm_part end,
                            struct grown_row *list)
{
    double first[TM_PARTS], last[TM_PARTS], total;
    size_t count = 0;

    if (!tm_step_parts(first_summary(s), first, &total) ||
        !tm_step_parts(last_summary(s), last, &total))
        return 0;
    for (int p = (int)from; p < (int)end; p++)
        count =
            keep(s, list, count, (struct grown_row){ tm_part_kind[p].title, first[p], last[p], 0 });
    return count;
}

size_t find_grown_rows(const struct scaling_study *s, enum scaling_part part,
                       struct grown_row row[GROWN_ROWS_MOST])
{
    static const struct table ops = { "ops.rows", "name", "self_ps" },
                              collectives = { "collectives.rows", "kind", "exposed_ps" };

    switch (part) {
    case SCALING_COMPUTE:
        return find_in_table(s, &ops, row);
    case SCALING_COMMUNICATION:
        return find_in_table(s, &collectives, row);
    case SCALING_COPIES:
        return find_in_parts(s, TM_PART_COPY_H2D, TM_PART_IDLE_DEVICE_WAIT, row);
    default:
        return find_in_parts(s, TM_PART_IDLE_DEVICE_WAIT, TM_PARTS, row);
    }
}
