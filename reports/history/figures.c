/* SPDX-License-Identifier: Apache-2.0 */
/* How the figures of a run (pipeline/doc/run_figures.c) are found in its summary.  A figure that the summary does not have
 * is null, never 0. */
#include "reports/history/history.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"

static double number(const struct tm_value *v)
{
    return tm_type_of(v) == TM_INT || tm_type_of(v) == TM_DOUBLE ? tm_double(v) : NAN;
}

/* The figure at a path with at most one "[*]". */
static double at_path(const struct tm_value *summary, const char *path)
{
    const char *const each = strstr(path, "[*]");
    char head[128];
    double most = NAN;

    if (!each)
        return number(tm_path(summary, path));
    assert((size_t)(each - path) < sizeof(head));
    (void)snprintf(head, sizeof(head), "%.*s", (int)(each - path), path);

    const struct tm_value *const list = tm_path(summary, head);

    for (size_t i = 0; i < tm_length(list); i++) {
        const double value = number(tm_path(tm_at(list, i), each + 3));

        if (isnan(most) || value > most)
            most = value;
    }
    return most;
}

static double value_of(const struct tm_value *summary, const struct tm_run_figure *figure)
{
    double part[TM_PARTS], total, sum = 0;

    if (figure->is_of_steps && !tm_has_steps(summary))
        return NAN;
    if (!tm_figure_is_of_parts(figure)) {
        const double value = at_path(summary, figure->path) * (figure->scale > 0 ? figure->scale : 1);

        return figure->kind == TM_DOC_TIME ? round(value) : value;
    }
    if (!tm_step_parts(summary, part, &total))
        return NAN;
    for (int i = 0; i < TM_PARTS; i++)
        sum += figure->parts >> i & 1 ? part[i] : 0;
    return round(sum);
}

static void add_count(struct tm_value *to, const char *key, const struct tm_value *count)
{
    if (tm_has(count))
        tm_add_int(to, key, tm_int(count));
    else
        tm_add_null(to, key, NULL);
}

void tm_history_facts(struct tm_value *to, const struct tm_value *summary)
{
    const struct tm_value *const hosts = tm_path(summary, "input.hosts");
    struct tm_value *part = tm_add_object(to, "figures");

    for (size_t i = 0; i < tm_figure_count; i++)
        tm_add_double(part, tm_figure_table[i].id, value_of(summary, &tm_figure_table[i]));
    part = tm_add_object(to, "facts");
    tm_add_known(part, "run", tm_text(tm_path(summary, "input.run")), NULL);
    tm_add_uint(part, "hosts", tm_length(hosts));
    add_count(part, "devices", tm_path(summary, "total.devices"));
    tm_add_known(part, "platform", tm_text(tm_path(summary, "environment.platform")), NULL);
    tm_add_known(part, "model", tm_device_model(summary), NULL);
    tm_add_bool(part, "partial", tm_is(tm_path(summary, "input.partial")));
    part = tm_add_object(to, "verdict");
    tm_add_known(part, "text", tm_text(tm_path(summary, "verdict.text")), NULL);
    tm_add_known(part, "severity", tm_text(tm_path(summary, "verdict.severity")), NULL);
    tm_add_known(part, "finding", tm_text(tm_path(summary, "findings[0].title")), NULL);
}
