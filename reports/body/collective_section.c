/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on several devices: collectives with who comes late to them, and balance. */
#include <string.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum { COLLECTIVE_ROWS = 16, MEMBER_ROWS = 32, LATEST_ROWS = 8, OP_ROWS = 12 };

static void say_more(struct tm_body *body, size_t rows, size_t shown)
{
    if (rows > shown)
        tm_say(body, TM_TONE_QUIET, "%zu more rows in summary.json.", rows - shown);
}

/* --- collectives --- */

static void say_rows(struct tm_body *body, const struct tm_value *rows)
{
    const size_t n = tm_length(rows);

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Kind", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Message", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Type", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Devices", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Time", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Mean", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Exposed", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Overlap", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bus", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < COLLECTIVE_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_cell_text(body, tm_get(row, "kind"));
        tm_cell_bytes(body, tm_get(row, "message_bytes"));
        tm_cell_text(body, tm_get(row, "data_type"));
        tm_cell_count(body, tm_get(row, "group_size"));
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_time(body, tm_get(row, "total_ps"));
        tm_cell_time(body, tm_get(row, "mean_ps"));
        tm_cell_time(body, tm_get(row, "exposed_ps"));
        tm_cell_pct(body, tm_get(row, "overlap_pct"));
        tm_cell_rate(body, tm_get(row, "bus_bandwidth"));
    }
    tm_body_end_table(body);
    say_more(body, n, COLLECTIVE_ROWS);
}

static void say_clock(struct tm_body *body, const struct tm_value *clock)
{
    char pct[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(tm_get(clock, "aligned")))
        tm_say(body, TM_TONE_QUIET, "The clocks of the hosts are not compared: %s. Only devices of one host are.",
               tm_why(tm_get(clock, "aligned")));
    else
        tm_say(body, tm_is(tm_get(clock, "aligned")) ? TM_TONE_QUIET : TM_TONE_WARNING,
               "Of %s collectives of several hosts that have to overlap %s do: the clocks %s.",
               tm_format_count(count, tm_int(tm_get(clock, "checked"))),
               tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
               tm_is(tm_get(clock, "aligned")) ? "agree" : "do not agree, and only devices of one host are compared");
}

static void say_members(struct tm_body *body, const struct tm_value *members)
{
    const size_t n = tm_length(members);

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Matched", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Last", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Late", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "at most", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Waits", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Others wait", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "In collectives", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < MEMBER_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *member = tm_at(members, i);

        tm_cell_device(body, tm_get(member, "device"));
        tm_cell_count(body, tm_get(member, "count"));
        tm_cell_count(body, tm_get(member, "last_count"));
        tm_cell_time(body, tm_get(member, "late_ps"));
        tm_cell_time(body, tm_get(member, "late_max_ps"));
        tm_cell_time(body, tm_get(member, "wait_ps"));
        tm_cell_time(body, tm_get(member, "caused_ps"));
        tm_cell_time(body, tm_get(member, "collective_ps"));
    }
    tm_body_end_table(body);
    say_more(body, n, MEMBER_ROWS);
}

static void say_worst(struct tm_body *body, const struct tm_value *worst)
{
    if (tm_length(worst) == 0)
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Latest arrivals", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Step", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Number", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Late by", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Last", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "at", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "First", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "at", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(worst) && i < LATEST_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(worst, i);

        tm_cell_text(body, tm_get(row, "name"));
        tm_cell_text(body, tm_get(row, "step"));
        tm_cell_count(body, tm_get(row, "ordinal"));
        tm_cell_time(body, tm_get(row, "skew_ps"));
        tm_cell_device(body, tm_get(row, "last"));
        tm_cell_moment(body, tm_get(row, "begin_ps"));
        tm_cell_device(body, tm_get(row, "first"));
        tm_cell_moment(body, tm_get(row, "first_begin_ps"));
    }
    tm_body_end_table(body);
}

static void say_skew(struct tm_body *body, const struct tm_value *skew)
{
    char matched[TM_FORMAT_BYTES], unmatched[TM_FORMAT_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    body->form->subheading(body->to, "Late arrivals");
    if (tm_say_missing(body, skew, "Late arrivals"))
        return;
    if (tm_say_missing(body, tm_get(skew, "late_ps"), "Late arrivals")) {
        say_clock(body, tm_get(skew, "clock"));
        return;
    }
    tm_say(body, TM_TONE_PLAIN,
           "%s collectives of several devices were put together; %s of one device have no counterpart. "
           "The last device comes %s after the first one (median), at most %s.",
           tm_format_count(matched, tm_int(tm_get(skew, "matched"))),
           tm_format_count(unmatched, tm_int(tm_get(skew, "unmatched"))),
           tm_format_time(a, tm_int(tm_get(skew, "p50_ps"))), tm_format_time(b, tm_int(tm_get(skew, "max_ps"))));
    if (tm_has(tm_get(skew, "straggler")))
        tm_say(body, TM_TONE_WARNING, "The others wait for %s.",
               tm_shown_device(body->summary, tm_text(tm_get(skew, "straggler"))));
    say_clock(body, tm_get(skew, "clock"));
    say_members(body, tm_get(skew, "members"));
    say_worst(body, tm_get(skew, "worst"));
}

void tm_section_collectives(struct tm_body *body)
{
    const struct tm_value *collectives = tm_of(body, "collectives"), *rows = tm_get(collectives, "rows");

    if (tm_say_missing(body, collectives, "Collectives"))
        return;
    if (tm_length(rows) == 0) {
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No collectives in the chosen steps.");
        return;
    }
    say_rows(body, rows);
    say_skew(body, tm_get(collectives, "skew"));
}

/* --- balance --- */

/* The row of a device; NULL = it has none. */
static const struct tm_value *row_of(const struct tm_value *rows, const struct tm_value *device)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "device")), tm_text(device)) == 0)
            return tm_at(rows, i);
    }
    return NULL;
}

static void say_busy(struct tm_body *body, const struct tm_value *busy, const struct tm_value *same)
{
    const size_t n = tm_length(busy);

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Busy", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Compute", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Exp. coll.", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Kernels", TM_COLUMN_NUMBER);
    if (tm_length(same) > 0)
        tm_sheet_column(body->sheet, "Same work", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < MEMBER_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(busy, i);

        tm_cell_device(body, tm_get(row, "device"));
        tm_cell_time(body, tm_get(row, "busy_ps"));
        tm_cell_time(body, tm_get(row, "compute_ps"));
        tm_cell_time(body, tm_get(row, "exposed_collective_ps"));
        tm_cell_count(body, tm_get(row, "kernels"));
        if (tm_length(same) > 0)
            tm_cell_time(body, tm_get(row_of(same, tm_get(row, "device")), "total_ps"));
    }
    tm_body_end_table(body);
    say_more(body, n, MEMBER_ROWS);
}

static void say_shared_ops(struct tm_body *body, const struct tm_value *ops)
{
    if (tm_length(ops) == 0)
        return;
    body->form->subheading(body->to, "Ops that differ most between devices");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Op", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Run by", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Least", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Mean", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Most", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Spread", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Slowest", TM_COLUMN_NAME);
    for (size_t i = 0; i < tm_length(ops) && i < OP_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *op = tm_at(ops, i);

        tm_cell_text(body, tm_get(op, "name"));
        tm_cell_text(body, tm_get(op, "kind"));
        tm_cell_count(body, tm_get(op, "count"));
        tm_cell_time(body, tm_get(op, "min_ps"));
        tm_cell_time(body, tm_get(op, "mean_ps"));
        tm_cell_time(body, tm_get(op, "max_ps"));
        tm_cell_pct(body, tm_get(op, "spread_pct"));
        tm_cell_device(body, tm_get(op, "slowest"));
    }
    tm_body_end_table(body);
    tm_say(body, TM_TONE_QUIET,
           "Run by: all devices equally often (all), by all but not equally often (uneven), by several (some).");
}

void tm_section_balance(struct tm_body *body)
{
    const struct tm_value *balance = tm_of(body, "balance"), *steps = tm_get(balance, "steps");
    char pct[TM_FORMAT_BYTES], most[TM_FORMAT_BYTES];

    if (tm_say_missing(body, balance, "Balance") ||
        tm_say_missing(body, tm_get(balance, "imbalance_pct"), "Balance"))
        return;
    tm_say(body, TM_TONE_PLAIN, "Imbalance over %lld devices: %s, slowest %s.",
           (long long)tm_int(tm_get(balance, "devices")),
           tm_format_pct(pct, tm_double(tm_get(balance, "imbalance_pct"))),
           tm_shown_device(body->summary, tm_text(tm_get(balance, "slowest"))));
    if (tm_has(steps))
        tm_say(body, TM_TONE_PLAIN, "By step: %s (median), at most %s in step %lld.",
               tm_format_pct(pct, tm_double(tm_get(steps, "spread_median_pct"))),
               tm_format_pct(most, tm_double(tm_get(steps, "spread_max_pct"))),
               (long long)tm_int(tm_get(steps, "worst_step")));
    say_busy(body, tm_get(balance, "busy"), tm_path(balance, "same_work.devices"));
    say_shared_ops(body, tm_get(balance, "ops"));
}
