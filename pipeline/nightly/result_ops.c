/* SPDX-License-Identifier: Apache-2.0 */
/* The longest operations and scopes of a run, for its result: what the history keeps, so that the time of one of them
 * can be followed over nights. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"

struct timed {
    const char *name; /* in the summary */
    double ps;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct timed *)a)->name, ((const struct timed *)b)->name);
}

static int by_time(const void *a, const void *b)
{
    const struct timed *const x = a, *const y = b;

    return x->ps != y->ps ? (x->ps > y->ps ? -1 : 1) : strcmp(x->name, y->name);
}

/* Rows of the same name become one: an operation of several programs, a scope in several passes. */
static size_t join(struct timed *row, size_t count)
{
    size_t joined = 0;

    if (count > 1)
        qsort(row, count, sizeof(*row), by_name);
    for (size_t i = 0; i < count; i++) {
        if (joined > 0 && strcmp(row[joined - 1].name, row[i].name) == 0)
            row[joined - 1].ps += row[i].ps;
        else
            row[joined++] = row[i];
    }
    if (joined > 1)
        qsort(row, joined, sizeof(*row), by_time);
    return joined;
}

static void add_longest(struct tm_value *to, const struct timed *row, size_t count, double device_steps)
{
    for (size_t i = 0; i < count && i < TM_RESULT_OPS_MOST; i++) {
        const double ps = round(row[i].ps / device_steps);
        char name[TM_RESULT_OP_BYTES];
        struct tm_value *one;

        if (ps < 1)
            break;
        tm_clean_text(name, sizeof(name), row[i].name, strlen(row[i].name));
        if (!*name)
            continue;
        one = tm_add_object(to, NULL);
        tm_add_string(one, "name", name);
        tm_add_double(one, "time_ps", ps);
    }
}

/* in: list  path of the rows in the summary;  name, time  of a row */
static void add_list(struct tm_run *run, struct tm_value *to, const struct tm_value *rows, const char *name,
                     const char *time, double device_steps)
{
    const size_t bytes = (tm_length(rows) + 1) * sizeof(struct timed);
    struct timed *const row = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    size_t count = 0;

    if (!row)
        return;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct timed one = { tm_text(tm_get(tm_at(rows, i), name)), tm_double(tm_get(tm_at(rows, i), time)) };

        if (*one.name && one.ps > 0)
            row[count++] = one;
    }
    add_longest(to, row, join(row, count), device_steps);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, row, bytes);
}

void tm_result_ops(struct tm_run *run, struct tm_value *to, const struct tm_value *summary)
{
    const double device_steps = tm_has_steps(summary) ? tm_device_steps(summary) : 0;
    struct tm_value *const ops = tm_add_array(to, "ops"), *const scopes = tm_add_array(to, "scopes");

    if (!(device_steps > 0))
        return;
    add_list(run, ops, tm_path(summary, "ops.rows"), "name", "self_ps", device_steps);
    add_list(run, scopes, tm_path(summary, "scopes.rows"), "path", "total_ps", device_steps);
}
