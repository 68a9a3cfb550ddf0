/* SPDX-License-Identifier: Apache-2.0 */
/* The identities that the figures of every run satisfy, checked for this one: parts add up to their whole, and steps
 * fill the window.  A broken one is a defect of the program or of the profile.  To add one: 1. write a function that
 * compares, 2. add its row to the table, 3. add its row to docs/metrics.md, "Checks".
 * source: docs/metrics.md, "Checks" */
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"
#include "reports/findings/findings.h"

enum { WHERE_BYTES = 192 };

struct check {
    bool is_known, is_broken;
    int64_t expected, found; /* of all rows together; if one row is inconsistent, of the first such row */
    char where[WHERE_BYTES]; /* that row */
    const char *why;         /* why there is nothing to compare, if is_known is false */
};

/* What is checked: a summary with its findings, or what `inspect` found. */
struct subject {
    const struct tm_value *root;
    const struct tm_findings *findings; /* NULL: none */
};

struct identity {
    const char *id, *title, *unit;
    void (*check)(const struct subject *of, struct check *c);                             /* of the whole, */
    void (*check_device)(const struct tm_value *device, const char *id, struct check *c); /* or of each device */
};

/* --- comparing --- */

/* A sum that overflows 64 bits is clamped to the largest number and cannot be checked. */
static bool is_number(int64_t value)
{
    return value != INT64_MAX;
}

/* where: names the row; printed only for the first row that breaks the identity */
static void record(struct check *c, int64_t expected, int64_t found, bool holds, const char *where)
{
    if (!is_number(expected) || !is_number(found) || c->is_broken)
        return;
    c->is_known = true;
    if (!holds) {
        c->is_broken = true;
        c->expected = expected;
        c->found = found;
        (void)snprintf(c->where, sizeof(c->where), "%s", where);
        return;
    }
    c->expected = tm_sum_times(c->expected, expected);
    c->found = tm_sum_times(c->found, found);
}

static void compare(struct check *c, int64_t expected, int64_t found, const char *where)
{
    record(c, expected, found, expected == found, where);
}

static void compare_most(struct check *c, int64_t most, int64_t found, const char *where)
{
    record(c, most, found, found <= most, where);
}

/* The sum of the elements of an array or the members of an object, or of the member `key` of each of them. */
static int64_t sum_of(const struct tm_value *container, const char *key)
{
    const bool is_object = tm_type_of(container) == TM_OBJECT;
    int64_t sum = 0;

    for (size_t i = 0; i < tm_length(container); i++) {
        const struct tm_value *part = is_object ? tm_value_at(container, i) : tm_at(container, i);

        sum = tm_sum_times(sum, tm_int(key ? tm_get(part, key) : part));
    }
    return sum;
}

static int64_t ps_of(const struct tm_value *row, const char *key)
{
    return tm_int(tm_get(row, key));
}

/* --- the identities --- */

static void check_steps_fill_window(const struct subject *of, struct check *c)
{
    const struct tm_value *windows = tm_path(of->root, "window.hosts"), *job = tm_path(of->root, "window.job");

    c->why = "the window is not defined by the analyzed steps";
    if (strcmp(tm_text(tm_path(of->root, "window.mode")), "steps") != 0)
        return;
    for (size_t i = 0; i < tm_length(windows); i++) {
        const struct tm_value *row = tm_at(windows, i);

        if (tm_has(tm_get(row, "span_ps")))
            compare(c, ps_of(row, "span_ps"), ps_of(row, "steps_ps"), tm_text(tm_get(row, "host")));
    }
    if (tm_has(job))
        compare(c, ps_of(job, "span_ps"), ps_of(job, "steps_ps"), "all hosts");
}

static void check_busy_and_idle(const struct tm_value *device, const char *id, struct check *c)
{
    compare(c, ps_of(device, "span_ps"), tm_sum_times(ps_of(device, "busy_ps"), ps_of(device, "idle_ps")), id);
}

static void check_busy_within_window(const struct tm_value *device, const char *id, struct check *c)
{
    compare_most(c, ps_of(device, "span_ps"), ps_of(device, "busy_ps"), id);
}

static void check_step_parts(const struct subject *of, struct check *c)
{
    const struct tm_value *list = tm_path(of->root, "steps.list");

    c->why = "no step has device activity";
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *row = tm_at(list, i);
        char where[WHERE_BYTES];
        int64_t parts_ps;

        if (!tm_has(tm_get(row, "period_ps")))
            continue;
        parts_ps = tm_sum_times(ps_of(row, "compute_ps"), ps_of(row, "exposed_collective_ps"));
        parts_ps = tm_sum_times(parts_ps, sum_of(tm_get(row, "exposed_copy_ps"), NULL));
        parts_ps = tm_sum_times(parts_ps, sum_of(tm_get(row, "idle_ps"), NULL));
        (void)snprintf(where, sizeof(where), "step %lld on %.120s", (long long)ps_of(row, "number"),
                       tm_text(tm_get(row, "device")));
        compare(c, ps_of(row, "period_ps"), parts_ps, where);
    }
}

static void check_idle_by_cause(const struct tm_value *device, const char *id, struct check *c)
{
    compare(c, ps_of(device, "idle_ps"), sum_of(tm_path(device, "gaps.by_cause"), "total_ps"), id);
}

static void check_gaps_are_idle(const struct tm_value *device, const char *id, struct check *c)
{
    compare(c, ps_of(device, "idle_ps"), tm_int(tm_path(device, "gaps.total_ps")), id);
}

static void check_idle_savings(const struct subject *of, struct check *c)
{
    if (tm_has(tm_path(of->root, "gaps.total_ps")))
        compare_most(c, sum_of(tm_path(of->root, "gaps.by_cause"), "total_ps"), tm_findings_idle_ps(of->findings),
                     "findings");
}

static void check_exposed_rows(const struct tm_value *rows, const char *exposed, const char *total, const char *name,
                               struct check *c)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (tm_has(tm_get(row, exposed)) && tm_has(tm_get(row, total)))
            compare_most(c, ps_of(row, total), ps_of(row, exposed), tm_text(tm_get(row, name)));
    }
}

static void check_exposed(const struct subject *of, struct check *c)
{
    const struct tm_value *devices = tm_get(of->root, "devices");

    check_exposed_rows(devices, "exposed_collective_ps", "collective_ps", "id", c);
    check_exposed_rows(devices, "exposed_copy_ps", "copy_ps", "id", c);
    check_exposed_rows(tm_path(of->root, "transfers.by_direction"), "exposed_ps", "total_ps", "direction", c);
    check_exposed_rows(tm_path(of->root, "collectives.rows"), "exposed_ps", "total_ps", "kind", c);
}

/* The mean is rounded to a picosecond. */
static void check_mean(const struct subject *of, struct check *c)
{
    const struct tm_value *steps = tm_get(of->root, "steps"), *samples = tm_get(steps, "samples_ps");
    const int64_t count = ps_of(steps, "samples"), mean_ps = ps_of(steps, "mean_ps");
    int64_t elapsed_ps = 0, found_ps, apart_ps;

    c->why = "not all analyzed steps are listed";
    if (!count || (uint64_t)count != tm_length(samples))
        return;
    for (size_t i = 0; i < tm_length(samples); i++)
        elapsed_ps = tm_sum_times(elapsed_ps, tm_int(tm_at(samples, i)));
    if (__builtin_mul_overflow(count, mean_ps, &found_ps) || __builtin_sub_overflow(found_ps, elapsed_ps, &apart_ps))
        return;
    record(c, elapsed_ps, found_ps, apart_ps <= count && apart_ps >= -count, "steps");
}

static void check_rows_and_rest(const struct subject *of, struct check *c)
{
    static const struct {
        const char *rows, *rest, *total, *figure;
    } tables[] = {
        { "kernels.rows", "kernels.rest", "kernels.total_ps", "total_ps" },
        { "ops.rows", "ops.rest", "ops.self_ps", "self_ps" },
    };

    c->why = "no kernel or operation was recorded";
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct tm_value *total = tm_path(of->root, tables[i].total);

        if (tm_has(total))
            compare(c, tm_int(total),
                    tm_sum_times(sum_of(tm_path(of->root, tables[i].rows), tables[i].figure),
                                 ps_of(tm_path(of->root, tables[i].rest), tables[i].figure)),
                    tables[i].rows);
    }
}

/* Work launched in a step cannot finish before the step starts, unless host and device use different clocks. */
static void check_one_clock(const struct subject *of, struct check *c)
{
    const struct tm_value *list = tm_path(of->root, "steps.list");

    c->why = "no step is marked on the host";
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *row = tm_at(list, i);
        char where[WHERE_BYTES];

        if (!tm_has(tm_get(row, "host_span_ps")) || !tm_has(tm_get(row, "end_ps")))
            continue;
        (void)snprintf(where, sizeof(where), "step %lld on %.120s", (long long)ps_of(row, "number"),
                       tm_text(tm_get(row, "device")));
        record(c, 0, ps_of(row, "end_ps") < ps_of(row, "begin_ps"), ps_of(row, "end_ps") >= ps_of(row, "begin_ps"),
               where);
    }
}

/* A pair of start and end events counts as one event of a class. */
static void check_classes(const struct subject *of, struct check *c)
{
    const struct tm_value *coverage = tm_get(of->root, "coverage");

    compare_most(c, ps_of(coverage, "events_read"), sum_of(tm_get(coverage, "classes"), NULL), "coverage.classes");
}

static void check_files(const struct subject *of, struct check *c)
{
    c->why = "not all files are listed";
    if (tm_length(tm_get(of->root, "files")) == (uint64_t)ps_of(of->root, "file_count"))
        compare(c, tm_int(tm_path(of->root, "coverage.events_read")), sum_of(tm_get(of->root, "files"), "events"),
                "files");
}

static void check_lines(const struct subject *of, struct check *c)
{
    const struct tm_value *hosts = tm_get(of->root, "contents");
    int64_t events = 0;

    for (size_t i = 0; i < tm_length(hosts); i++) {
        events = tm_sum_times(events, sum_of(tm_get(tm_at(hosts, i), "lines"), "events"));
        events = tm_sum_times(events, tm_int(tm_path(tm_at(hosts, i), "more_lines.events")));
    }
    compare(c, events, sum_of(tm_path(of->root, "coverage.classes"), NULL), "lines");
}

/* clang-format off */
static const struct identity of_summary[] = {
    { "steps_fill_window", "Step times add up to the window", "ps", check_steps_fill_window, NULL },
    { "busy_and_idle", "Busy and idle time of each device add up to its window", "ps", NULL, check_busy_and_idle },
    { "busy_within_window", "Busy time of each device is at most its window", "ps", NULL, check_busy_within_window },
    { "step_parts", "The parts of each step add up to the step time", "ps", check_step_parts, NULL },
    { "idle_by_cause", "Idle time by cause adds up to the idle time", "ps", NULL, check_idle_by_cause },
    { "gaps_are_idle", "Idle gaps add up to the idle time", "ps", NULL, check_gaps_are_idle },
    { "idle_savings", "Savings in idle time are at most the idle time", "ps", check_idle_savings, NULL },
    { "exposed_within_total", "Exposed time is at most the total, in each row", "ps", check_exposed, NULL },
    { "mean_of_samples", "Number of steps times the mean equals the elapsed time", "ps", check_mean, NULL },
    { "rows_and_rest", "Rows of kernels and operations, including the remaining rows, add up to their totals",
      "ps", check_rows_and_rest,
      NULL },
    { "one_clock", "No step ends on the device before it starts on the host", "count", check_one_clock, NULL },
    { "events_in_classes", "Events of all classes are at most the events read", "count", check_classes, NULL },
};
static const struct identity of_inspection[] = {
    { "files_and_events", "Events of the files add up to the events read", "count", check_files, NULL },
    { "lines_and_classes", "Events by line and events by class are equal", "count", check_lines, NULL },
    { "events_in_classes", "Events of all classes are at most the events read", "count", check_classes, NULL },
};
/* clang-format on */
enum {
    SUMMARY_CHECKS = sizeof(of_summary) / sizeof(of_summary[0]),
    INSPECTION_CHECKS = sizeof(of_inspection) / sizeof(of_inspection[0])
};

static struct check run_check(const struct identity *identity, const struct subject *of)
{
    const struct tm_value *devices = tm_get(of->root, "devices");
    struct check result = { .is_known = false };

    if (identity->check)
        identity->check(of, &result);
    for (size_t i = 0; identity->check_device && i < tm_length(devices); i++)
        identity->check_device(tm_at(devices, i), tm_text(tm_get(tm_at(devices, i), "id")), &result);
    return result;
}

static void write_check(struct tm_value *list, const struct identity *identity, const struct check *c)
{
    struct tm_value *row = tm_add_object(list, NULL);
    const char *why = c->why ? c->why : "no device activity was recorded";

    tm_add_string(row, "id", identity->id);
    tm_add_string(row, "title", identity->title);
    tm_add_string(row, "unit", identity->unit);
    if (!c->is_known) {
        tm_add_null(row, "holds", why);
        tm_add_null(row, "expected", why);
        tm_add_null(row, "found", why);
        tm_add_null(row, "where", why);
        return;
    }
    tm_add_bool(row, "holds", !c->is_broken);
    tm_add_int(row, "expected", c->expected);
    tm_add_int(row, "found", c->found);
    if (c->is_broken)
        tm_add_string(row, "where", c->where);
    else
        tm_add_null(row, "where", "it holds everywhere");
}

static void add_broken(struct tm_findings *all, const struct identity *identity, const struct check *c)
{
    struct tm_finding *f = tm_finding_of_fact(all, "check_failed");

    tm_finding_argument(f, "check", "%s", identity->title);
    tm_finding_emit_with(f, "found", NULL, tm_given_int("expected", c->expected), tm_given_text("unit", identity->unit),
                         tm_given_int("found", c->found), tm_given_text("where", c->where));
}

void tm_find_broken_checks(struct tm_findings *all)
{
    const struct subject of = { all->summary, all };
    struct check results[SUMMARY_CHECKS];
    bool is_told = false;

    for (size_t i = 0; i < SUMMARY_CHECKS; i++) {
        results[i] = run_check(&of_summary[i], &of);
        if (results[i].is_broken && !is_told)
            add_broken(all, &of_summary[i], &results[i]);
        is_told |= results[i].is_broken;
    }
    for (size_t i = 0; i < SUMMARY_CHECKS; i++)
        write_check(all->checks, &of_summary[i], &results[i]);
}

void tm_check_inspection(struct tm_value *root)
{
    const struct subject of = { root, NULL };
    struct tm_value *list = tm_add_array(root, "checks");

    for (size_t i = 0; i < INSPECTION_CHECKS; i++) {
        const struct check result = run_check(&of_inspection[i], &of);

        write_check(list, &of_inspection[i], &result);
    }
}
