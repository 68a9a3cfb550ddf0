/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on what could be fused, and on how full the kernels keep the device. */
#include <stdio.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"

enum { RUN_ROWS = 5, OP_ROWS = 8, LOW_ROWS = 10, TAIL_ROWS = 5, PAUSE_ROWS = 5 };

/* "count, total, share" of a sum as one fact. */
static void fact_sum(struct tm_body *body, const char *label, const struct tm_value *sum)
{
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    if (!tm_fact_has(body, label, sum))
        return;
    tm_fact_begin(body, label);
    if (tm_has(tm_get(sum, "count")) && tm_int(tm_get(sum, "count")) == 0)
        tm_sheet_text(body->sheet, "none");
    else if (tm_has(tm_get(sum, "share_pct")))
        tm_sheet_prose(body->sheet, "%s, %s, %s of kernel time", tm_format_count(count, tm_int(tm_get(sum, "count"))),
                       tm_format_time(time, tm_int(tm_get(sum, "total_ps"))),
                       tm_format_pct(pct, tm_double(tm_get(sum, "share_pct"))));
    else
        tm_sheet_prose(body->sheet, "%s, %s", tm_format_count(count, tm_int(tm_get(sum, "count"))),
                       tm_format_time(time, tm_int(tm_get(sum, "total_ps"))));
}

static void fact_number(struct tm_body *body, const char *label, const struct tm_value *number)
{
    if (!tm_fact_has(body, label, number))
        return;
    tm_fact_begin(body, label);
    tm_format_number(tm_sheet_room(body->sheet), tm_double(number));
}

static void say_runs(struct tm_body *body, const struct tm_value *runs)
{
    static const struct tm_body_column columns[] = {
        { "Device", "device", TM_COLUMN_NAME, tm_cell_device },
        { "Begin", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
        { "Length", "dur_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Kernels", "kernels", TM_COLUMN_NUMBER, tm_cell_count },
        { "Pauses", "gap_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "At stake", "at_stake_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Step", "step", TM_COLUMN_NUMBER, tm_cell_text },
        { "First kernel", "names[0]", TM_COLUMN_NAME, tm_cell_text },
    };
    const struct tm_value *longest = tm_get(runs, "longest");

    if (tm_length(longest) == 0)
        return;
    body->form->subheading(body->to, "The longest runs of small kernels");
    tm_body_rows(body, TM_COLUMNS(columns), longest, RUN_ROWS);
}

/* A table of ops, by what `key` tells, else by their names; more: one figure more of them, or NULL. */
static void say_ops(struct tm_body *body, const char *title, const struct tm_value *rows, const char *key,
                    const char *more)
{
    if (tm_length(rows) == 0)
        return;
    body->form->subheading(body->to, title);
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Kernel or op", TM_COLUMN_NAME);
    if (more)
        tm_sheet_column(body->sheet, "Per step", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Total", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(rows) && i < OP_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_cell_text(body, tm_get(row, tm_has(tm_get(row, key)) ? key : "name"));
        if (more)
            tm_cell_figure(body, tm_get(row, more), "count");
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_time(body, tm_get(row, "total_ps"));
    }
    tm_body_end_table(body);
}

static void say_kernels(struct tm_body *body, const struct tm_value *fusion)
{
    const struct tm_value *runs = tm_get(fusion, "runs");

    tm_facts(body);
    fact_number(body, "Kernels per step", tm_get(fusion, "per_step"));
    fact_sum(body, "Under 100 \xc2\xb5s", tm_get(fusion, "small"));
    fact_sum(body, "Under 10 \xc2\xb5s", tm_get(fusion, "tiny"));
    tm_fact_count(body, "Runs of small kernels", tm_get(runs, "count"));
    if (tm_int(tm_get(runs, "count")) > 0) {
        tm_fact_time(body, "Pauses in them", tm_get(runs, "gap_ps"));
        tm_fact_time(body, "At stake in them", tm_get(runs, "at_stake_ps"));
    }
    fact_sum(body, "Repeated over 10 times a step", tm_get(fusion, "repeated_total"));
    fact_sum(body, "Chains of pointwise kernels", tm_get(fusion, "eager_chains"));
    if (tm_int(tm_path(fusion, "eager_chains.count")) > 0)
        tm_fact_time(body, "Saved if each chain were one kernel", tm_path(fusion, "eager_chains.saved_ps"));
    fact_sum(body, "Attention in pieces", tm_get(fusion, "attention_unfused"));
    fact_sum(body, "Layout copies", tm_get(fusion, "layout_copies"));
    fact_sum(body, "Products on such devices as have matrix units", tm_get(fusion, "matrix"));
    if (tm_int(tm_path(fusion, "matrix.count")) > 0)
        fact_sum(body, "Of them 32-bit, beside the units", tm_path(fusion, "matrix.f32"));
    tm_body_end_table(body);
    say_runs(body, runs);
    say_ops(body, "Small ops that come back in a step", tm_get(fusion, "repeated"), "op", "per_step");
    say_ops(body, "Attention in pieces", tm_path(fusion, "attention_unfused.rows"), "op", NULL);
    say_ops(body, "Layout copies", tm_path(fusion, "layout_copies.rows"), "name", NULL);
    say_ops(body, "32-bit products", tm_path(fusion, "matrix.f32.rows"), "op", NULL);
}

void tm_section_fusion(struct tm_body *body)
{
    const struct tm_value *fusion = tm_old_of(body, "fusion");

    if (!tm_old_say_missing(body, fusion, "Fusion of kernels"))
        say_kernels(body, fusion);
}

/* --- programs --- */

static void say_pauses(struct tm_body *body, const struct tm_value *longest)
{
    static const struct tm_body_column columns[] = {
        { "Device", "device", TM_COLUMN_NAME, tm_cell_device },
        { "Begin", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
        { "Length", "dur_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Step", "step", TM_COLUMN_NUMBER, tm_cell_text },
        { "Before", "before", TM_COLUMN_NAME, tm_cell_text },
        { "After", "after", TM_COLUMN_NAME, tm_cell_text },
    };

    if (tm_length(longest) == 0)
        return;
    body->form->subheading(body->to, "The longest pauses between two programs");
    tm_body_rows(body, TM_COLUMNS(columns), longest, PAUSE_ROWS);
}

void tm_section_programs(struct tm_body *body)
{
    const struct tm_value *programs = tm_old_of(body, "programs");

    if (tm_old_say_missing(body, programs, "Programs"))
        return;
    tm_facts(body);
    fact_number(body, "Programs per step and device", tm_get(programs, "per_step"));
    tm_fact_count(body, "Executions", tm_get(programs, "count"));
    tm_fact_count(body, "Operations", tm_get(programs, "operations"));
    fact_sum(body, "Pauses between programs", tm_get(programs, "pauses"));
    tm_body_end_table(body);
    say_pauses(body, tm_path(programs, "pauses.longest"));
}

/* --- occupancy --- */

static void cell_waves(struct tm_body *body, const struct tm_value *waves)
{
    tm_cell_figure(body, waves, "count");
}

static void say_occupancy_rows(struct tm_body *body, const char *title, const struct tm_value *rows, size_t most)
{
    static const struct tm_body_column columns[] = {
        { "Kernel", "name", TM_COLUMN_NAME, tm_cell_text },
        { "Total", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Occupancy", "occupancy_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Waves", "waves", TM_COLUMN_NUMBER, cell_waves },
        { "Lost", "tail_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Limited by", "limiter", TM_COLUMN_WORD, tm_cell_text },
        { "Grid", "grid", TM_COLUMN_WORD, tm_cell_text },
        { "Block", "block", TM_COLUMN_WORD, tm_cell_text },
    };

    if (tm_length(rows) == 0)
        return;
    body->form->subheading(body->to, title);
    tm_body_rows(body, TM_COLUMNS(columns), rows, most);
}

void tm_section_occupancy(struct tm_body *body)
{
    static const struct {
        const char *key, *label;
    } limits[] = { { "registers", "Limited by registers" }, { "shared_memory", "Limited by shared memory" },
                   { "block_size", "Limited by the size of blocks" }, { "grid", "Limited by a small grid" },
                   { "none", "Limited by nothing" }, { "unknown", "Not known by what" } };
    const struct tm_value *occupancy = tm_old_of(body, "occupancy"), *tail = tm_get(occupancy, "tail");
    const struct tm_value *limiters = tm_get(occupancy, "limiters");

    if (tm_old_say_missing(body, occupancy, "Occupancy"))
        return;
    tm_facts(body);
    tm_fact_pct(body, "Mean, weighted by time", tm_get(occupancy, "mean_pct"));
    tm_fact_time(body, "Kernel time it is known of", tm_get(occupancy, "known_ps"));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (tm_int(tm_get(limiters, limits[i].key)) > 0)
            tm_fact_time(body, limits[i].label, tm_get(limiters, limits[i].key));
    tm_fact_time(body, "Lost to last waves of blocks", tm_get(tail, "lost_ps"));
    tm_fact_time(body, "Multiprocessors without a block", tm_get(tail, "idle_multiprocessors_ps"));
    tm_body_end_table(body);
    say_occupancy_rows(body, "Kernels under 50 % that take 1 % of the time or more", tm_get(occupancy, "low"),
                       LOW_ROWS);
    say_occupancy_rows(body, "Last waves that lose most", tm_get(tail, "rows"), TAIL_ROWS);
}
