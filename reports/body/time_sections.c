/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on time: steps with their parts, devices, idle time, host.  The parts of a step are
 * printed with their sum, which is the summary's own total and not computed here: if they did not
 * add up, it shows. */
#include <stdio.h>
#include <string.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/chart/palette.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum { SLOWEST_STEPS = 10, LONGEST_GAPS = 12, LISTED_DEVICES = 40, LISTED_UNUSED = 8 };

static const struct {
    const char *key, *title;
} directions[] = {
    { "h2d", "exposed copy, host to device" },   { "d2h", "exposed copy, device to host" },
    { "p2p", "exposed copy, device to device" }, { "d2d", "exposed copy, inside a device" },
    { "other", "exposed copy, other" },
};

static void add_part(struct tm_body *body, const char *title, const struct tm_value *part,
                     const struct tm_value *total)
{
    if (!tm_has(part) || tm_int(part) == 0 || !tm_sheet_row(body->sheet))
        return;
    tm_sheet_text(body->sheet, title);
    tm_cell_time(body, part);
    tm_cell_share(body, part, total);
}

static void add_idle_parts(struct tm_body *body, const struct tm_value *idle,
                           const struct tm_value *total)
{
    for (size_t i = 0; i < tm_length(idle); i++) {
        const struct tm_value *part = tm_value_at(idle, i);

        if (tm_int(part) == 0 || !tm_sheet_row(body->sheet))
            continue;
        tm_sheet_prose(body->sheet, "idle: %s", tm_cause_title(tm_key_at(idle, i)));
        tm_cell_time(body, part);
        tm_cell_share(body, part, total);
    }
}

static void say_parts(struct tm_body *body)
{
    const struct tm_value *parts = tm_old_of(body, "steps.parts");
    const struct tm_value *total = tm_get(parts, "total_ps");
    const struct tm_value *copies = tm_get(parts, "exposed_copy_ps");

    if (tm_old_say_missing(body, parts, "Parts of the steps"))
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "What the steps are made of", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Time", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Share", TM_COLUMN_NUMBER);
    add_part(body, "compute", tm_get(parts, "compute_ps"), total);
    add_part(body, "exposed collectives", tm_get(parts, "exposed_collective_ps"), total);
    for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
        add_part(body, directions[i].title, tm_get(copies, directions[i].key), total);
    add_idle_parts(body, tm_get(parts, "idle_ps"), total);
    if (tm_sheet_row(body->sheet)) {
        body->sheet->summed[body->sheet->rows - 1] = true;
        tm_sheet_text(body->sheet, "all chosen steps, all devices");
        tm_cell_time(body, total);
        tm_cell_share(body, total, total);
    }
    tm_body_end_table(body);
}

/* Keep the rows of the slowest chosen steps, slowest first: insertion into a short list. */
static int pick_slowest(const struct tm_value *list, const char *basis,
                        const struct tm_value **picked)
{
    int n = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);
        const int64_t period = tm_int(tm_get(step, basis));
        int at = n;

        if (!tm_is(tm_get(step, "chosen")))
            continue;
        while (at > 0 && tm_int(tm_get(picked[at - 1], basis)) < period)
            at--;
        if (at == SLOWEST_STEPS)
            continue;
        n = n < SLOWEST_STEPS ? n + 1 : n;
        memmove(picked + at + 1, picked + at, (size_t)(n - at - 1) * sizeof(picked[0]));
        picked[at] = step;
    }
    return n;
}

static void say_slowest(struct tm_body *body)
{
    static const char *const keys[] = { "period_ps",       "busy_ps",
                                        "compute_ps",      "exposed_collective_ps",
                                        "exposed_copy_ps", "idle_ps",
                                        "host_span_ps" };
    static const char *const titles[] = { "Period",    "Busy", "Compute",  "Exp. coll.",
                                          "Exp. copy", "Idle", "Host span" };
    const struct tm_value *picked[SLOWEST_STEPS];
    const bool by_host = strcmp(tm_text(tm_old_of(body, "steps.basis")), "host_span") == 0;
    const bool has_hosts = tm_body_has_hosts(body);
    const int n =
        pick_slowest(tm_old_of(body, "steps.list"), by_host ? "host_span_ps" : "period_ps", picked);

    if (n < 2)
        return;
    body->form->subheading(body->to, "Slowest chosen steps");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Step", TM_COLUMN_NUMBER);
    if (has_hosts)
        tm_sheet_column(body->sheet, "Host", TM_COLUMN_NAME);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Compiles", TM_COLUMN_WORD);
    for (int row = 0; row < n && tm_sheet_row(body->sheet); row++) {
        tm_cell_text(body, tm_get(picked[row], "number"));
        if (has_hosts)
            tm_cell_host(body, tm_get(picked[row], "host"));
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_cell_time_sum(body, tm_get(picked[row], keys[i]));
        tm_sheet_text(body->sheet, tm_is(tm_get(picked[row], "compile")) ? "yes" : "");
    }
    tm_body_end_table(body);
}

static void say_left_out(struct tm_body *body)
{
    const long long warmup = tm_int(tm_old_of(body, "steps.warmup"));
    const long long incomplete = tm_int(tm_old_of(body, "steps.incomplete"));

    if (warmup || incomplete)
        tm_old_say(body, TM_TONE_QUIET, "Left out of the figures: %lld warm-up, %lld incomplete.",
               warmup, incomplete);
}

void tm_section_steps(struct tm_body *body)
{
    const struct tm_value *steps = tm_old_of(body, "steps");

    if (tm_old_say_missing(body, steps, "Steps"))
        return;
    tm_facts(body);
    tm_fact_text(body, "Marked by", tm_get(steps, "source"));
    if (tm_has(tm_get(steps, "module")))
        tm_fact_text(body, "Module", tm_get(steps, "module"));
    tm_fact_count(body, "Steps found", tm_get(steps, "count"));
    tm_fact_count(body, "Steps chosen", tm_get(steps, "chosen"));
    tm_fact_text(body, "Figures are of", tm_get(steps, "basis"));
    tm_fact_time(body, "Median", tm_get(steps, "median_ps"));
    tm_fact_time(body, "Mean", tm_get(steps, "mean_ps"));
    tm_fact_time(body, "90th percentile", tm_get(steps, "p90_ps"));
    tm_fact_time(body, "95th percentile", tm_get(steps, "p95_ps"));
    tm_fact_time(body, "Standard deviation", tm_get(steps, "stddev_ps"));
    tm_fact_time(body, "Shortest", tm_get(steps, "min_ps"));
    tm_fact_time(body, "Longest", tm_get(steps, "max_ps"));
    tm_body_end_table(body);
    say_left_out(body);
    say_parts(body);
    say_slowest(body);
}

static void add_device(struct tm_body *body, const struct tm_value *device)
{
    static const char *const keys[] = { "busy_ps", "idle_ps", "compute_ps", "exposed_collective_ps",
                                        "exposed_copy_ps" };
    /* graphs that hide their kernels hide their pauses too */
    const bool is_unreliable = strcmp(tm_text(tm_get(device, "reliability")), "graph") == 0;

    tm_cell_device(body, tm_get(device, "id"));
    tm_cell_pct(body, tm_get(device, "utilization_pct"));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (is_unreliable && strcmp(keys[i], "idle_ps") == 0)
            tm_sheet_text(body->sheet, "unreliable");
        else
            tm_cell_time(body, tm_get(device, keys[i]));
    }
    tm_cell_count(body, tm_get(device, "activities"));
    tm_cell_count(body, tm_path(device, "gaps.count_min"));
}

static void say_device_table(struct tm_body *body, const struct tm_value *devices)
{
    static const char *const titles[] = { "Busy",      "Idle",       "Compute",  "Exp. coll.",
                                          "Exp. copy", "Activities", "Long gaps" };
    const size_t n = tm_length(devices);

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Utilization", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < LISTED_DEVICES && tm_sheet_row(body->sheet); i++)
        add_device(body, tm_at(devices, i));
    tm_body_end_table(body);
    if (n > LISTED_DEVICES)
        tm_old_say(body, TM_TONE_QUIET, "%zu more devices in summary.json.", n - LISTED_DEVICES);
}

/* TPUs record what they waited for and what was in flight; other devices do not. */
static void say_waits(struct tm_body *body, const struct tm_value *devices)
{
    static const char *const keys[] = { "wait_ps",      "wait_copy_ps", "wait_collective_ps",
                                        "wait_host_ps", "in_flight_ps", "hidden_ps" };
    static const char *const titles[] = { "Waits",        "for copies", "for coll.",
                                          "for the host", "In flight",  "Hidden" };
    const size_t n = tm_length(devices);
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any = any || tm_has(tm_get(tm_at(devices, i), "wait_ps"));
    if (!any)
        return;
    body->form->subheading(body->to, "Waits inside the busy time");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NAME);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < LISTED_DEVICES && tm_sheet_row(body->sheet); i++) {
        tm_cell_device(body, tm_get(tm_at(devices, i), "id"));
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            tm_cell_time(body, tm_get(tm_at(devices, i), keys[k]));
    }
    tm_body_end_table(body);
}

static void say_unused(struct tm_body *body)
{
    const struct tm_value *unused = tm_old_of(body, "unused");
    const size_t n = tm_length(unused);

    for (size_t i = 0; i < n && i < LISTED_UNUSED; i++)
        tm_say_item(body, "unused", "%s%s%s: no activity", tm_text(tm_get(tm_at(unused, i), "name")),
                    tm_body_has_hosts(body) ? " on " : "",
                    tm_body_has_hosts(body)
                        ? tm_shown_host(body->summary, tm_text(tm_get(tm_at(unused, i), "host")))
                        : "");
    if (n > LISTED_UNUSED)
        tm_say_item(body, "unused", "and %zu more", n - LISTED_UNUSED);
}

void tm_section_devices(struct tm_body *body)
{
    const struct tm_value *devices = tm_old_of(body, "devices");

    if (tm_old_say_missing(body, devices, "Devices"))
        return;
    if (tm_length(devices) == 0)
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No device has activity in this profile.");
    else
        say_device_table(body, devices);
    say_waits(body, devices);
    say_unused(body);
}

/* Nothing is laid to it. */
static bool is_no_cause(const struct tm_value *cause)
{
    const struct tm_value *count = tm_get(cause, "count"), *total = tm_get(cause, "total_ps");

    return tm_has(count) && tm_has(total) && tm_int(count) == 0 && tm_int(total) == 0;
}

static void say_causes(struct tm_body *body, const struct tm_value *causes)
{
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Cause", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Gaps", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Time", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Share", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *cause = tm_value_at(causes, i);

        if (is_no_cause(cause) || !tm_sheet_row(body->sheet))
            continue;
        tm_sheet_text(body->sheet, tm_cause_title(tm_key_at(causes, i)));
        tm_cell_count(body, tm_get(cause, "count"));
        tm_cell_time(body, tm_get(cause, "total_ps"));
        tm_cell_pct(body, tm_get(cause, "share_pct"));
    }
    if (tm_sheet_row(body->sheet)) {
        body->sheet->summed[body->sheet->rows - 1] = true;
        tm_sheet_text(body->sheet, "all idle time");
        tm_cell_count(body, tm_old_of(body, "gaps.count"));
        tm_cell_time(body, tm_old_of(body, "gaps.total_ps"));
    }
    tm_body_end_table(body);
}

static void say_longest_gaps(struct tm_body *body, const struct tm_value *longest)
{
    if (tm_length(longest) == 0)
        return;
    body->form->subheading(body->to, "Longest gaps");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Begins at", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Length", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Step", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Cause", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Before", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "After", TM_COLUMN_NAME);
    for (size_t i = 0; i < tm_length(longest) && i < LONGEST_GAPS && tm_sheet_row(body->sheet);
         i++) {
        const struct tm_value *gap = tm_at(longest, i);

        tm_cell_device(body, tm_get(gap, "device"));
        tm_cell_moment(body, tm_get(gap, "begin_ps"));
        tm_cell_time(body, tm_get(gap, "dur_ps"));
        tm_cell_text(body, tm_get(gap, "step"));
        tm_sheet_text(body->sheet, tm_cause_title(tm_text(tm_get(gap, "cause"))));
        tm_cell_text(body, tm_get(gap, "before"));
        tm_cell_text(body, tm_get(gap, "after"));
    }
    tm_body_end_table(body);
}

/* What is no wait: the short pauses of device_wait. */
static void say_pauses(struct tm_body *body, const struct tm_value *pauses)
{
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], below[TM_FORMAT_BYTES];

    if (!tm_has(tm_get(pauses, "count")) || tm_int(tm_get(pauses, "count")) == 0)
        return;
    tm_old_say(body, TM_TONE_QUIET, "Pauses under %s between pieces of work that had been launched: %s, %s in all.",
           tm_format_time(below, tm_int(tm_get(pauses, "below_ps"))),
           tm_format_count(count, tm_int(tm_get(pauses, "count"))),
           tm_format_time(time, tm_int(tm_get(pauses, "total_ps"))));
}

void tm_section_gaps(struct tm_body *body)
{
    const struct tm_value *gaps = tm_old_of(body, "gaps");
    char count[TM_FORMAT_BYTES], least[TM_FORMAT_BYTES];

    if (tm_old_say_missing(body, gaps, "Idle time"))
        return;
    say_causes(body, tm_get(gaps, "by_cause"));
    if (tm_has(tm_get(gaps, "gap_min_ps")) && tm_has(tm_get(gaps, "count_min")))
        tm_old_say(body, TM_TONE_QUIET, "%s gaps are %s or longer.",
               tm_format_count(count, tm_int(tm_get(gaps, "count_min"))),
               tm_format_time(least, tm_int(tm_get(gaps, "gap_min_ps"))));
    say_pauses(body, tm_get(gaps, "pauses"));
    say_longest_gaps(body, tm_get(gaps, "longest"));
}
