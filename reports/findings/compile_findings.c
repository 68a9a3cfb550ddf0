/* SPDX-License-Identifier: Apache-2.0 */
/* Compilation (summary.compile): inside the analyzed steps, the same module again, and long compiles.  What changed
 * between two compiles of a module is derived from the shapes of its arguments, "f32[8,128], (s32[], bf16[4])",
 * compared one by one. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"

/* --- shapes --- */

enum { SHAPES_NAMED = 4, SHAPE_BYTES = 64 };

/* One argument of a list; borrowed. */
struct shape {
    const char *at;
    size_t length;
};

/* Step to the next argument; false at the end. */
static bool next_shape(const char **list, struct shape *shape)
{
    int depth = 0;
    size_t n = 0;
    const char *at = *list;

    if (!*at)
        return false;
    for (; at[n] && (depth > 0 || at[n] != ','); n++) {
        if (at[n] == '(' || at[n] == '[')
            depth++;
        if (at[n] == ')' || at[n] == ']')
            depth--;
    }
    *shape = (struct shape){ at, n };
    *list = at + n;
    while (**list == ',' || **list == ' ')
        ++*list;
    return true;
}

static bool same(struct shape a, struct shape b)
{
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

/* How two lists differ. */
struct change {
    size_t first, count; /* arguments that differ: the first one, from 0, and how many */
    bool lengths_differ;
};

static struct change compare(const char *a, const char *b)
{
    struct change change = { .first = 0 };
    struct shape x, y;

    for (size_t i = 0;; i++) {
        const bool has_x = next_shape(&a, &x), has_y = next_shape(&b, &y);

        if (!has_x || !has_y) {
            change.lengths_differ = has_x != has_y;
            return change;
        }
        if (same(x, y))
            continue;
        if (!change.count++)
            change.first = i;
    }
}

static struct shape shape_at(const char *list, size_t index)
{
    struct shape shape = { "", 0 };

    for (size_t i = 0; i <= index; i++)
        if (!next_shape(&list, &shape))
            return (struct shape){ "?", 1 };
    if (shape.length > SHAPE_BYTES)
        shape.length = SHAPE_BYTES;
    return shape;
}

/* The compiles of a module with known shapes, on the host of the first one. */
struct series {
    const struct tm_value *events;
    const char *module, *host;
    size_t next;
};

static const char *next_shapes(struct series *series)
{
    while (series->next < tm_length(series->events)) {
        const struct tm_value *event = tm_at(series->events, series->next++);

        if (strcmp(tm_text(tm_get(event, "module")), series->module) != 0 || !tm_has(tm_get(event, "shapes")) ||
            (series->host && strcmp(tm_text(tm_get(event, "host")), series->host) != 0))
            continue;
        series->host = tm_text(tm_get(event, "host"));
        return tm_text(tm_get(event, "shapes"));
    }
    return NULL;
}

static void put(char *to, size_t to_bytes, size_t *length, const char *before, struct shape shape)
{
    const int n = snprintf(to + *length, to_bytes - *length, "%s%.*s", before, (int)shape.length, shape.at);

    if (n > 0 && (size_t)n < to_bytes - *length)
        *length += (size_t)n;
    else
        to[*length] = '\0';
}

/* The first argument that changed, from compile to compile. */
static void describe_change(struct series series, struct change change, char *to, size_t to_bytes)
{
    size_t length = 0, named = 0;
    const char *shapes, *first = NULL;
    char more[64];

    while ((shapes = next_shapes(&series))) {
        first = first ? first : shapes;
        if (named == SHAPES_NAMED) {
            put(to, to_bytes, &length, " -> ", (struct shape){ "...", 3 });
            break;
        }
        put(to, to_bytes, &length, named++ ? " -> " : " ", shape_at(shapes, change.first));
    }
    if (change.count > 1) {
        (void)snprintf(more, sizeof(more), " (and %zu more argument%s)", change.count - 1, change.count > 2 ? "s" : "");
        put(to, to_bytes, &length, more, (struct shape){ "", 0 });
    }
}

/* What changed between the compiles of one module: " f32[8,128] -> f32[9,128]" for the first argument that changed and
 * how many more did, or that none did.
 * in:     events  compile.events of the summary, in time order
 * out:    to      the clause; "" if the shapes are not known */
static void describe_shapes(const struct tm_value *events, const char *module, char *to, size_t to_bytes)
{
    const struct series begin = { .events = events, .module = module };
    struct series series = begin;
    const char *first = next_shapes(&series), *shapes = NULL;
    size_t known = first != NULL;

    *to = '\0';
    while (first && (shapes = next_shapes(&series))) {
        const struct change change = compare(first, shapes);

        known++;
        if (change.lengths_differ) {
            (void)snprintf(to, to_bytes, " with a different number of arguments");
            return;
        }
        if (change.count) {
            describe_change(begin, change, to, to_bytes);
            return;
        }
    }
    if (known > 1 && !strstr(first, "...")) /* the omitted part of a long list may have changed */
        (void)snprintf(
            to, to_bytes,
            " always for the same shapes and types, so the function object was new or a static argument changed");
}

/* --- the findings --- */

enum { EVENTS_SAID = 4, SHAPES_BYTES = 512 };
#define PS_PER_S 1e12

int64_t tm_compiles_inside_steps(const struct tm_findings *all)
{
    const struct tm_value *count = tm_path(all->summary, "compile.inside_steps.count");

    return tm_has(count) && !tm_query_is_session(all->summary) ? tm_int(count) : 0;
}

static void emit_recompiled(struct tm_findings *all, struct tm_finding *f, int64_t least)
{
    const struct tm_value *rows = tm_path(all->summary, "compile.recompiled");
    char shapes[SHAPES_BYTES];
    int said = 0;

    for (size_t i = 0; i < tm_length(rows) && said < 3; i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (tm_int(tm_get(row, "count")) < least)
            continue;
        describe_shapes(tm_path(all->summary, "compile.events"), tm_text(tm_get(row, "module")), shapes,
                        sizeof(shapes));
        tm_finding_emit_with(f, "recompiled", row, tm_given_text("change", shapes));
        said++;
    }
}

static void emit_event(struct tm_finding *f, const struct tm_value *event)
{
    tm_finding_emit(f, "compile", event);
    tm_finding_where(f, tm_int(tm_get(event, "begin_ps")), tm_int(tm_get(event, "dur_ps")),
                     tm_text(tm_get(event, "host")));
}

/* Does `a` precede `b`, longest first, then in list order? */
static bool is_longer(const struct tm_value *events, size_t a, size_t b)
{
    const int64_t a_ps = tm_int(tm_get(tm_at(events, a), "dur_ps"));
    const int64_t b_ps = tm_int(tm_get(tm_at(events, b), "dur_ps"));

    return a_ps != b_ps ? a_ps > b_ps : a < b;
}

/* Name the longest compiles; in_steps: only those inside a step. */
static void emit_events(struct tm_findings *all, struct tm_finding *f, bool in_steps)
{
    const struct tm_value *events = tm_path(all->summary, "compile.events");
    const size_t none = tm_length(events);
    size_t said = none;

    for (int n = 0; n < EVENTS_SAID; n++) {
        size_t next = none;

        for (size_t i = 0; i < none; i++) {
            if ((!in_steps || tm_has(tm_get(tm_at(events, i), "step"))) &&
                (said == none || is_longer(events, said, i)) && (next == none || is_longer(events, i, next)))
                next = i;
        }
        if (next == none)
            return;
        emit_event(f, tm_at(events, next));
        said = next;
    }
}

static bool is_of_compile(const struct tm_value *gap)
{
    return strcmp(tm_text(tm_get(gap, "cause")), "compile") == 0;
}

/* A compile after the warm-up is never intended: at least a warning, regardless of its cost. */
static void find_inside_steps(struct tm_findings *all)
{
    const int64_t count = tm_compiles_inside_steps(all);
    static const enum tm_wait wait = TM_WAIT_COMPILE, host = TM_WAIT_HOST;
    struct tm_claim claim = { .ps = { 0 } };
    int64_t idle_ps, traced_ps;
    struct tm_finding *f;

    if (count <= 0)
        return;
    idle_ps = tm_wait_explain(all, &wait, 1, all->window_ps, &claim);
    /* the host's part of the gaps around compiles: tracing and lowering */
    traced_ps = tm_wait_explain(
        all, &host, 1, tm_sum_rows(tm_path(all->summary, "gaps.longest"), "parts.host", is_of_compile), &claim);
    f = tm_is_worth_mention_on(all, tm_sum_times(idle_ps, traced_ps), "gaps.by_cause.compile.total_ps")
            ? tm_finding_of_idle(all, "compile_in_steps", tm_sum_times(idle_ps, traced_ps),
                                 tm_sum_times(idle_ps, traced_ps), "gaps.by_cause.compile.total_ps")
            : tm_finding_of_fact(all, "compile_in_steps");
    tm_finding_claim(f, &claim);
    if (count == 1)
        tm_finding_case(f, "one");
    tm_finding_value(f, (double)count, "count");
    tm_finding_limit(f, all->thresholds->kpi[TM_KPI_UNEXPECTED_COMPILES].good);
    tm_finding_emit_with(f, "count", NULL, tm_given_int("count", count),
                         tm_given_text("one", count == 1 ? "yes" : "no"));
    if (idle_ps > 0)
        tm_finding_emit_with(f, "idle", NULL, tm_given_int("idle_ps", idle_ps),
                             tm_given_double("share_pct", tm_share_pct(idle_ps, all->window_ps)),
                             tm_given_int(traced_ps ? "traced_ps" : NULL, traced_ps));
    emit_recompiled(all, f, 2);
    emit_events(all, f, true);
}

/* Time of the repeated compiles of modules that were compiled at least `least` times.  Estimated from the mean
 * duration, as the summary lists only the longest compiles. */
static int64_t again_ps(struct tm_findings *all, int64_t least, int64_t *modules, int64_t *again)
{
    const struct tm_value *rows = tm_path(all->summary, "compile.recompiled");
    const int64_t count = tm_int(tm_path(all->summary, "compile.count"));
    const double mean_ps = count > 0 ? tm_double(tm_path(all->summary, "compile.total_ps")) / (double)count : 0;

    *modules = *again = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const int64_t n = tm_int(tm_get(tm_at(rows, i), "count"));

        if (n >= least && n > 1) {
            ++*modules;
            *again += n - 1;
        }
    }
    return tm_whole(mean_ps * (double)*again);
}

/* Outside the steps, where it costs start-up time. */
static void find_again(struct tm_findings *all)
{
    const int64_t least = tm_whole(tm_limit_of(all, TM_LIMIT_RECOMPILED));
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_COMPILE_TIME];
    int64_t modules, again, about_ps;
    struct tm_finding *f;

    about_ps = again_ps(all, least, &modules, &again);
    if (modules == 0 || tm_compiles_inside_steps(all) > 0)
        return;
    f = tm_finding_of_fact(all, "compile_again");
    if (kpi->has_bands && (double)about_ps > kpi->good * PS_PER_S)
        tm_finding_case(f, "long");
    if (modules == 1)
        tm_finding_case(f, "one");
    tm_finding_value(f, (double)again, "count");
    tm_finding_emit_with(f, "all", NULL, tm_given_int("again", again), tm_given_int("about_ps", about_ps));
    emit_recompiled(all, f, least);
    emit_events(all, f, false);
}

static void find_long(struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_COMPILE_TIME];
    const int64_t total_ps = tm_int(tm_path(all->summary, "compile.total_ps"));
    char a[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!kpi->has_bands || (double)total_ps / PS_PER_S <= kpi->bad)
        return;
    f = tm_finding_of_fact(all, "compile_long");
    tm_finding_argument(f, "time", "%s", tm_format_time(a, total_ps));
    tm_finding_value(f, (double)total_ps / PS_PER_S, "s");
    tm_finding_limit(f, kpi->bad);
    tm_finding_emit(f, "all", NULL);
    emit_events(all, f, false);
}

void tm_find_compiles(struct tm_findings *all)
{
    find_inside_steps(all);
    find_again(all);
    find_long(all);
}
