/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on operations: what the program spends its time in, and how near it comes to what its devices can do. */
#include <stdio.h>
#include <string.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/platforms.h"

enum { OP_ROWS = 12, ORIGIN_ROWS = 8, FAR_ROWS = 8, DEVICE_ROWS = 16, PRECISION_ROWS = 12 };

/* --- operations --- */

static void add_op(struct tm_body *body, const struct tm_value *op)
{
    tm_cell_text(body, tm_get(op, "name"));
    tm_cell_text(body, tm_get(op, "category"));
    tm_cell_count(body, tm_get(op, "executions"));
    tm_cell_time(body, tm_get(op, "self_ps"));
    tm_cell_pct(body, tm_get(op, "self_share_pct"));
    tm_cell_pct(body, tm_get(op, "cumulative_pct"));
    tm_cell_text(body, tm_get(op, "bound"));
    tm_cell_pct(body, tm_get(op, "roof_pct"));
}

static void say_op_table(struct tm_body *body, const struct tm_value *rows)
{
    static const char *const titles[] = { "Runs", "Self time", "Share", "Sum" };

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Operation", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Category", TM_COLUMN_WORD);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bound", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Of roof", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(rows) && i < OP_ROWS && tm_sheet_row(body->sheet); i++)
        add_op(body, tm_at(rows, i));
    tm_body_end_table(body);
}

static bool has_origin(const struct tm_value *op)
{
    return tm_has(tm_get(op, "op")) || tm_has(tm_get(op, "source"));
}

static void say_origins(struct tm_body *body, const struct tm_value *rows)
{
    bool any = false;

    for (size_t i = 0; i < tm_length(rows) && i < ORIGIN_ROWS; i++)
        any |= has_origin(tm_at(rows, i));
    if (!any)
        return;
    body->form->subheading(body->to, "Where they come from");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Operation", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Framework path", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Source", TM_COLUMN_NAME);
    for (size_t i = 0; i < tm_length(rows) && i < ORIGIN_ROWS; i++) {
        const struct tm_value *op = tm_at(rows, i);

        if (!has_origin(op) || !tm_sheet_row(body->sheet))
            continue;
        tm_cell_text(body, tm_get(op, "name"));
        tm_cell_text(body, tm_get(op, "op"));
        tm_cell_text(body, tm_get(op, "source"));
    }
    tm_body_end_table(body);
}

void tm_section_ops(struct tm_body *body)
{
    const struct tm_value *ops = tm_old_of(body, "ops"), *rows = tm_get(ops, "rows");
    char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_old_say_missing(body, ops, "Operations"))
        return;
    if (tm_length(rows) == 0) {
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No operations in the chosen steps.");
        return;
    }
    tm_old_say(body, TM_TONE_PLAIN, "%s %s take %s; %lld of them make up 80 %%.",
           tm_format_count(count, tm_int(tm_get(ops, "distinct"))),
           strcmp(tm_text(tm_get(ops, "basis")), "kernel") == 0
               ? "kernels (the profile does not tell which operations they are of)"
               : "operations",
           tm_format_time(time, tm_int(tm_get(ops, "self_ps"))), (long long)tm_int(tm_get(ops, "rows_for_80_pct")));
    say_op_table(body, rows);
    say_origins(body, rows);
    if (!tm_is_for("gpu", body->summary)) /* else it stands with the kernels */
        tm_say_categories(body);
}

/* --- roofline --- */

static void say_rates(struct tm_body *body, const struct tm_value *roofline)
{
    tm_facts(body);
    tm_fact_pct(body, "Memory, of the peak", tm_get(roofline, "memory_pct"));
    tm_fact_pct(body, "Computing, of the peak", tm_get(roofline, "flops_pct"));
    tm_fact_pct(body, "Model FLOP utilization", tm_get(roofline, "mfu_pct"));
    tm_fact_pct(body, "Bytes known of computing time", tm_get(roofline, "known_pct"));
    tm_fact_pct(body, "FLOPs known of computing time", tm_get(roofline, "flops_known_pct"));
    tm_fact_time(body, "Bound by computing", tm_path(roofline, "bound_ps.compute"));
    tm_fact_time(body, "Bound by memory", tm_path(roofline, "bound_ps.memory"));
    tm_body_end_table(body);
}

static void say_peaks(struct tm_body *body, const struct tm_value *devices)
{
    static const struct tm_body_column columns[] = {
        { "Device", "device", TM_COLUMN_NAME, tm_cell_device },
        { "Computing", "flop_rate", TM_COLUMN_NUMBER, tm_cell_flop_rate },
        { "Peak", "peak_flops", TM_COLUMN_NUMBER, tm_cell_flop_rate },
        { "Type", "peak_precision", TM_COLUMN_WORD, tm_cell_text },
        { "Of it", "flops_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Memory", "bandwidth", TM_COLUMN_NUMBER, tm_cell_rate },
        { "Peak of memory", "peak_bandwidth", TM_COLUMN_NUMBER, tm_cell_rate },
        { "Share", "memory_pct", TM_COLUMN_NUMBER, tm_cell_pct },
    };
    const size_t n = tm_length(devices);
    const struct tm_value *first = tm_at(devices, 0);

    body->form->subheading(body->to, "Devices against their peaks");
    tm_body_rows(body, TM_COLUMNS(columns), devices, DEVICE_ROWS);
    if (tm_has(tm_get(first, "peak_source")))
        tm_old_say(body, TM_TONE_QUIET, "Peak of computing: %s.", tm_text(tm_get(first, "peak_source")));
    if (tm_has(tm_get(first, "bandwidth_source")))
        tm_old_say(body, TM_TONE_QUIET, "Peak of memory: %s.", tm_text(tm_get(first, "bandwidth_source")));
    if (n > DEVICE_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more devices in summary.json.", n - DEVICE_ROWS);
}

static void say_precisions(struct tm_body *body, const struct tm_value *rows)
{
    static const struct tm_body_column columns[] = {
        { "Type", "precision", TM_COLUMN_WORD, tm_cell_text },
        { "Time", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Matrix products", "matrix_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "On matrix units", "tensor_core_ps", TM_COLUMN_NUMBER, tm_cell_time },
    };

    if (tm_length(rows) == 0)
        return;
    body->form->subheading(body->to, "Time by type");
    tm_body_rows(body, TM_COLUMNS(columns), rows, PRECISION_ROWS);
}

static void say_far(struct tm_body *body, const struct tm_value *rows)
{
    if (tm_length(rows) == 0)
        return;
    body->form->subheading(body->to, "Under half of their roof");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Operation", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Self time", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Lost", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bound", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Of roof", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "FLOP/byte", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Computing", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Memory", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(rows) && i < FAR_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *op = tm_at(rows, i);

        tm_cell_text(body, tm_get(op, "name"));
        tm_cell_time(body, tm_get(op, "self_ps"));
        tm_cell_time(body, tm_get(op, "lost_ps"));
        tm_cell_text(body, tm_get(op, "bound"));
        tm_cell_pct(body, tm_get(op, "roof_pct"));
        tm_cell_figure(body, tm_get(op, "intensity"), "");
        tm_cell_flop_rate(body, tm_get(op, "flop_rate"));
        tm_cell_rate(body, tm_get(op, "bandwidth"));
    }
    tm_body_end_table(body);
}

/* Shares past what can be: said where they are shown. */
static void say_impossible(struct tm_body *body)
{
    const struct tm_value *rows = tm_old_of(body, "ops.rows");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += tm_double(tm_get(tm_at(rows, i), "roof_pct")) > 100;
    if (count)
        tm_old_say(body, TM_TONE_WARNING,
               "%zu operations pass 100 %% of their roof, which cannot be: caches serve part of their bytes, or their "
               "cost is counted too high.",
               count);
}

void tm_section_roofline(struct tm_body *body)
{
    const struct tm_value *roofline = tm_old_of(body, "roofline"), *source = tm_get(roofline, "source");

    if (tm_old_say_missing(body, roofline, "Roofline"))
        return;
    if (tm_has(source)) {
        say_rates(body, roofline);
        say_peaks(body, tm_get(roofline, "devices"));
        say_impossible(body);
        say_far(body, tm_get(roofline, "far"));
    } else {
        tm_old_say(body, TM_TONE_QUIET, "What operations cost: not recorded (%s).", tm_why(source));
    }
    say_precisions(body, tm_get(roofline, "precisions"));
}
