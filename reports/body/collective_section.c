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
        tm_old_say(body, TM_TONE_QUIET, "%zu more rows in summary.json.", rows - shown);
}

/* --- collectives --- */

static void say_rows(struct tm_body *body, const struct tm_value *rows)
{
    static const struct tm_body_column columns[] = {
        { "Kind", "kind", TM_COLUMN_WORD, tm_cell_text },
        { "Message", "message_bytes", TM_COLUMN_NUMBER, tm_cell_bytes },
        { "Type", "data_type", TM_COLUMN_WORD, tm_cell_text },
        { "Devices", "group_size", TM_COLUMN_NUMBER, tm_cell_count },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Time", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Mean", "mean_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Exposed", "exposed_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Overlap", "overlap_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Bus", "bus_bandwidth", TM_COLUMN_NUMBER, tm_cell_rate },
    };
    const size_t n = tm_length(rows);

    tm_body_rows(body, TM_COLUMNS(columns), rows, COLLECTIVE_ROWS);
    say_more(body, n, COLLECTIVE_ROWS);
}

static void say_clock(struct tm_body *body, const struct tm_value *clock)
{
    char pct[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(tm_get(clock, "aligned")))
        tm_old_say(body, TM_TONE_QUIET, "The clocks of the hosts are not compared: %s. Only devices of one host are.",
               tm_why(tm_get(clock, "aligned")));
    else
        tm_old_say(body, tm_is(tm_get(clock, "aligned")) ? TM_TONE_QUIET : TM_TONE_WARNING,
               "Of %s collectives of several hosts that have to overlap %s do: the clocks %s.",
               tm_format_count(count, tm_int(tm_get(clock, "checked"))),
               tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
               tm_is(tm_get(clock, "aligned")) ? "agree" : "do not agree, and only devices of one host are compared");
}

static void say_members(struct tm_body *body, const struct tm_value *members)
{
    static const struct tm_body_column columns[] = {
        { "Device", "device", TM_COLUMN_NAME, tm_cell_device },
        { "Matched", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Last", "last_count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Late", "late_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "at most", "late_max_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Waits", "wait_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Others wait", "caused_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "In collectives", "collective_ps", TM_COLUMN_NUMBER, tm_cell_time },
    };
    const size_t n = tm_length(members);

    tm_body_rows(body, TM_COLUMNS(columns), members, MEMBER_ROWS);
    say_more(body, n, MEMBER_ROWS);
}

static void say_worst(struct tm_body *body, const struct tm_value *worst)
{
    static const struct tm_body_column columns[] = {
        { "Latest arrivals", "name", TM_COLUMN_NAME, tm_cell_text },
        { "Step", "step", TM_COLUMN_NUMBER, tm_cell_text },
        { "Number", "ordinal", TM_COLUMN_NUMBER, tm_cell_count },
        { "Late by", "skew_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Last", "last", TM_COLUMN_NAME, tm_cell_device },
        { "at", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
        { "First", "first", TM_COLUMN_NAME, tm_cell_device },
        { "at", "first_begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
    };

    if (tm_length(worst) == 0)
        return;
    tm_body_rows(body, TM_COLUMNS(columns), worst, LATEST_ROWS);
}

static void say_skew(struct tm_body *body, const struct tm_value *skew)
{
    char matched[TM_FORMAT_BYTES], unmatched[TM_FORMAT_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    body->form->subheading(body->to, "Late arrivals");
    if (tm_old_say_missing(body, skew, "Late arrivals"))
        return;
    if (tm_old_say_missing(body, tm_get(skew, "late_ps"), "Late arrivals")) {
        say_clock(body, tm_get(skew, "clock"));
        return;
    }
    tm_old_say(body, TM_TONE_PLAIN,
           "%s collectives of several devices were put together; %s of one device have no counterpart. "
           "The last device comes %s after the first one (median), at most %s.",
           tm_format_count(matched, tm_int(tm_get(skew, "matched"))),
           tm_format_count(unmatched, tm_int(tm_get(skew, "unmatched"))),
           tm_format_time(a, tm_int(tm_get(skew, "p50_ps"))), tm_format_time(b, tm_int(tm_get(skew, "max_ps"))));
    if (tm_has(tm_get(skew, "straggler")))
        tm_old_say(body, TM_TONE_WARNING, "The others wait for %s.",
               tm_shown_device(body->summary, tm_text(tm_get(skew, "straggler"))));
    say_clock(body, tm_get(skew, "clock"));
    say_members(body, tm_get(skew, "members"));
    say_worst(body, tm_get(skew, "worst"));
}

void tm_section_collectives(struct tm_body *body)
{
    const struct tm_value *collectives = tm_old_of(body, "collectives"), *rows = tm_get(collectives, "rows");

    if (tm_old_say_missing(body, collectives, "Collectives"))
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
    static const struct tm_body_column columns[] = {
        { "Op", "name", TM_COLUMN_NAME, tm_cell_text },
        { "Run by", "kind", TM_COLUMN_WORD, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Least", "min_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Mean", "mean_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Most", "max_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Spread", "spread_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Slowest", "slowest", TM_COLUMN_NAME, tm_cell_device },
    };

    if (tm_length(ops) == 0)
        return;
    body->form->subheading(body->to, "Ops that differ most between devices");
    tm_body_rows(body, TM_COLUMNS(columns), ops, OP_ROWS);
    tm_old_say(body, TM_TONE_QUIET,
           "Run by: all devices equally often (all), by all but not equally often (uneven), by several (some).");
}

void tm_section_balance(struct tm_body *body)
{
    const struct tm_value *balance = tm_old_of(body, "balance"), *steps = tm_get(balance, "steps");
    char pct[TM_FORMAT_BYTES], most[TM_FORMAT_BYTES];

    if (tm_old_say_missing(body, balance, "Balance") ||
        tm_old_say_missing(body, tm_get(balance, "imbalance_pct"), "Balance"))
        return;
    tm_old_say(body, TM_TONE_PLAIN, "Imbalance over %lld devices: %s, slowest %s.",
           (long long)tm_int(tm_get(balance, "devices")),
           tm_format_pct(pct, tm_double(tm_get(balance, "imbalance_pct"))),
           tm_shown_device(body->summary, tm_text(tm_get(balance, "slowest"))));
    if (tm_has(steps))
        tm_old_say(body, TM_TONE_PLAIN, "By step: %s (median), at most %s in step %lld.",
               tm_format_pct(pct, tm_double(tm_get(steps, "spread_median_pct"))),
               tm_format_pct(most, tm_double(tm_get(steps, "spread_max_pct"))),
               (long long)tm_int(tm_get(steps, "worst_step")));
    say_busy(body, tm_get(balance, "busy"), tm_path(balance, "same_work.devices"));
    say_shared_ops(body, tm_get(balance, "ops"));
}
