/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on what ran and what it moved: kernels, transfers, compilation, memory. */
#include <stdio.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum {
    CATEGORY_ROWS = 16,
    PAIR_ROWS = 16,
    REPEATED_ROWS = 8,
    COMPILE_ROWS = 15,
    SHAPE_ROWS = 6,
    RECOMPILED_ROWS = 10
};
enum { ALLOCATOR_ROWS = 24, HOLDER_ALLOCATORS = 4, HOLDER_ROWS = 8, PROFILES_SHOWN = 4, SITE_ROWS = 12 };

static void add_kernel(struct tm_body *body, const struct tm_value *kernel)
{
    tm_cell_text(body, tm_get(kernel, "name"));
    tm_cell_text(body, tm_get(kernel, "class"));
    tm_cell_count(body, tm_get(kernel, "count"));
    tm_cell_time(body, tm_get(kernel, "total_ps"));
    tm_cell_pct(body, tm_get(kernel, "share_pct"));
    tm_cell_time(body, tm_get(kernel, "mean_ps"));
    tm_cell_time(body, tm_get(kernel, "min_ps"));
    tm_cell_time(body, tm_get(kernel, "max_ps"));
}

/* Sums of a whole summary fit; those of a damaged one stay at the limit. */
static void add_up(int64_t *sum, int64_t part)
{
    if (__builtin_add_overflow(*sum, part, sum))
        *sum = part < 0 ? INT64_MIN : INT64_MAX;
}

/* What the table does not list: rows of the summary below the cut and the summary's own rest. */
static void say_other_kernels(struct tm_body *body, size_t listed)
{
    const struct tm_value *rows = tm_old_of(body, "kernels.rows");
    const struct tm_value *rest = tm_old_of(body, "kernels.rest");
    char rows_text[TM_FORMAT_BYTES];
    int64_t other = (int64_t)(tm_length(rows) - listed);
    int64_t count = tm_int(tm_get(rest, "count")), total = tm_int(tm_get(rest, "total_ps"));

    add_up(&other, tm_int(tm_get(rest, "rows")));
    if (other == 0 || !tm_sheet_row(body->sheet))
        return;
    for (size_t i = listed; i < tm_length(rows); i++) {
        add_up(&count, tm_int(tm_get(tm_at(rows, i), "count")));
        add_up(&total, tm_int(tm_get(tm_at(rows, i), "total_ps")));
    }
    (void)snprintf(tm_sheet_room(body->sheet), TM_SHEET_CELL_BYTES, "%.32s further rows", tm_format_count(rows_text, other));
    tm_sheet_text(body->sheet, "");
    tm_format_count(tm_sheet_room(body->sheet), count);
    tm_format_time(tm_sheet_room(body->sheet), total);
}

static void say_kernel_table(struct tm_body *body)
{
    static const char *const titles[] = { "Count", "Total", "Share", "Mean", "Min", "Max" };
    const struct tm_value *rows = tm_old_of(body, "kernels.rows");
    size_t listed = 0;

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Kernel", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Class", TM_COLUMN_WORD);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    while (listed < tm_length(rows) && listed < (size_t)body->kernel_rows &&
           tm_sheet_row(body->sheet))
        add_kernel(body, tm_at(rows, listed++));
    say_other_kernels(body, listed);
    if (tm_sheet_row(body->sheet)) {
        body->sheet->summed[body->sheet->rows - 1] = true;
        tm_sheet_text(body->sheet, "all kernels");
        tm_sheet_text(body->sheet, "");
        tm_cell_count(body, tm_old_of(body, "kernels.count"));
        tm_cell_time(body, tm_old_of(body, "kernels.total_ps"));
    }
    tm_body_end_table(body);
}

void tm_say_categories(struct tm_body *body)
{
    static const struct tm_body_column columns[] = {
        { "Category", "category", TM_COLUMN_WORD, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Total", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
    };
    const struct tm_value *categories = tm_old_of(body, "kernels.by_category");
    const size_t n = tm_length(categories);

    if (n == 0)
        return;
    body->form->subheading(body->to, "By category");
    tm_body_rows(body, TM_COLUMNS(columns), categories, CATEGORY_ROWS);
}

void tm_section_kernels(struct tm_body *body)
{
    const struct tm_value *kernels = tm_old_of(body, "kernels");

    if (tm_old_say_missing(body, kernels, "Kernels"))
        return;
    tm_facts(body);
    tm_fact_count(body, "Distinct kernels", tm_get(kernels, "distinct"));
    tm_fact_time(body, "Mean length, weighted by time", tm_get(kernels, "weighted_mean_ps"));
    tm_fact_time(body, "Mean length", tm_get(kernels, "mean_ps"));
    tm_body_end_table(body);
    if (tm_length(tm_get(kernels, "rows")) > 0)
        say_kernel_table(body);
    tm_say_categories(body);
}

static void say_directions(struct tm_body *body, const struct tm_value *rows)
{
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Direction", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bytes", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Time", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Exposed", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Mean rate", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Best rate", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Unknown size", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(rows) && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_cell_text(body, tm_get(row, "direction"));
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_bytes(body, tm_get(row, "bytes"));
        tm_cell_time(body, tm_get(row, "total_ps"));
        tm_cell_time(body, tm_get(row, "exposed_ps"));
        tm_cell_rate(body, tm_get(row, "mean_bandwidth"));
        tm_cell_rate(body, tm_get(row, "max_bandwidth"));
        tm_cell_count(body, tm_get(row, "unknown_bytes_count"));
    }
    tm_body_end_table(body);
}

static void say_pairs(struct tm_body *body, const struct tm_value *pairs)
{
    const size_t n = tm_length(pairs);

    if (n == 0)
        return;
    body->form->subheading(body->to, "Between devices");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "From", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "To", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bytes", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Time", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < PAIR_ROWS && tm_sheet_row(body->sheet); i++) {
        tm_cell_device(body, tm_get(tm_at(pairs, i), "from"));
        tm_cell_device(body, tm_get(tm_at(pairs, i), "to"));
        tm_cell_count(body, tm_get(tm_at(pairs, i), "count"));
        tm_cell_bytes(body, tm_get(tm_at(pairs, i), "bytes"));
        tm_cell_time(body, tm_get(tm_at(pairs, i), "total_ps"));
    }
    tm_body_end_table(body);
    if (n > PAIR_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more pairs in summary.json.", n - PAIR_ROWS);
}

/* TPU runs: transfers that the host recorded, without device time. */
static void say_tpu_transfers(struct tm_body *body, const struct tm_value *rows)
{
    if (tm_length(rows) == 0)
        return;
    body->form->subheading(body->to, "Recorded by the host, without device time");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Direction", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bytes", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(rows) && tm_sheet_row(body->sheet); i++) {
        tm_cell_text(body, tm_get(tm_at(rows, i), "direction"));
        tm_cell_count(body, tm_get(tm_at(rows, i), "count"));
        tm_cell_bytes(body, tm_get(tm_at(rows, i), "bytes"));
    }
    tm_body_end_table(body);
}

static void say_pageable(struct tm_body *body, const struct tm_value *pageable)
{
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES];

    if (tm_int(tm_get(pageable, "count")) > 0)
        tm_old_say(body, TM_TONE_PLAIN,
               "From or to pageable host memory: %s copies, %s, %s of copy time.",
               tm_format_count(count, tm_int(tm_get(pageable, "count"))),
               tm_format_time(time, tm_int(tm_get(pageable, "total_ps"))),
               tm_format_pct(share, tm_double(tm_get(pageable, "share_pct"))));
}

static void say_repeated(struct tm_body *body, const struct tm_value *repeated)
{
    for (size_t i = 0; i < tm_length(repeated) && i < REPEATED_ROWS; i++) {
        const struct tm_value *row = tm_at(repeated, i);
        char bytes[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];

        tm_say_item(body, "repeated", "%s of %s, %.3g per step, %s in all",
                    tm_text(tm_get(row, "direction")),
                    tm_format_bytes(bytes, tm_double(tm_get(row, "bytes"))),
                    tm_double(tm_get(row, "per_step")),
                    tm_format_time(time, tm_int(tm_get(row, "total_ps"))));
    }
}

void tm_section_transfers(struct tm_body *body)
{
    const struct tm_value *transfers = tm_old_of(body, "transfers");
    const struct tm_value *directions = tm_get(transfers, "by_direction");

    if (tm_old_say_missing(body, transfers, "Transfers"))
        return;
    if (tm_length(directions) > 0)
        say_directions(body, directions);
    else if (!tm_old_say_missing(body, directions, "Transfers by direction"))
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No transfers on the devices.");
    say_pageable(body, tm_get(transfers, "pageable"));
    say_repeated(body, tm_get(transfers, "repeated"));
    say_pairs(body, tm_get(transfers, "by_pair"));
    say_tpu_transfers(body, tm_get(transfers, "tpu_host"));
}

/* What the first compiles that tell it were made for. */
static void say_shapes(struct tm_body *body, const struct tm_value *events)
{
    char begin[TM_FORMAT_BYTES];
    int said = 0;

    for (size_t i = 0; i < tm_length(events) && i < COMPILE_ROWS && said < SHAPE_ROWS; i++) {
        const struct tm_value *event = tm_at(events, i);
        const char *shapes = tm_text(tm_get(event, "shapes"));

        if (*shapes && said++ >= 0)
            tm_say_item(body, "shapes", "%s at %s: %s", tm_text(tm_get(event, "module")),
                        tm_format_moment(begin, tm_int(tm_get(event, "begin_ps"))), shapes);
    }
}

/* The first compiles in the order of time; the summary holds the longest ones. */
static void say_compile_events(struct tm_body *body, const struct tm_value *events)
{
    const size_t n = tm_length(events);
    const bool has_hosts = tm_body_has_hosts(body);

    if (n == 0)
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Module", TM_COLUMN_NAME);
    if (has_hosts)
        tm_sheet_column(body->sheet, "Host", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Begins at", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Length", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Step", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < COMPILE_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *event = tm_at(events, i);
        const struct tm_value *step = tm_get(event, "step");

        tm_cell_text(body, tm_get(event, "module"));
        if (has_hosts)
            tm_cell_host(body, tm_get(event, "host"));
        tm_cell_moment(body, tm_get(event, "begin_ps"));
        tm_cell_time(body, tm_get(event, "dur_ps"));
        if (tm_has(step))
            tm_cell_text(body, step);
    }
    tm_body_end_table(body);
    if (n > COMPILE_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "The first %d in the order of time; %zu more in summary.json.",
               COMPILE_ROWS, n - COMPILE_ROWS);
    say_shapes(body, events);
}

void tm_section_compile(struct tm_body *body)
{
    const struct tm_value *compile = tm_old_of(body, "compile");
    const struct tm_value *again = tm_get(compile, "recompiled");

    if (tm_old_say_missing(body, compile, "Compilation"))
        return;
    tm_facts(body);
    tm_fact_count(body, "Compiles", tm_get(compile, "count"));
    tm_fact_time(body, "Time", tm_get(compile, "total_ps"));
    tm_fact_time(body, "Longest", tm_get(compile, "longest_ps"));
    tm_fact_count(body, "Inside chosen steps", tm_path(compile, "inside_steps.count"));
    tm_fact_time(body, "Inside chosen steps, time", tm_path(compile, "inside_steps.total_ps"));
    tm_fact_text(body, "Counted by", tm_get(compile, "source"));
    tm_body_end_table(body);
    for (size_t i = 0; i < tm_length(again) && i < RECOMPILED_ROWS; i++)
        tm_say_item(body, "again", "%s was compiled %lld times",
                    tm_text(tm_get(tm_at(again, i), "module")),
                    (long long)tm_int(tm_get(tm_at(again, i), "count")));
    say_compile_events(body, tm_get(compile, "events"));
}

static void add_allocator(struct tm_body *body, const struct tm_value *allocator)
{
    tm_cell_text(body, tm_get(allocator, "name"));
    if (tm_body_has_hosts(body))
        tm_cell_host(body, tm_get(allocator, "host"));
    tm_cell_bytes(body, tm_get(allocator, "capacity_bytes"));
    tm_cell_bytes(body, tm_get(allocator, "peak_bytes"));
    tm_cell_pct(body, tm_get(allocator, "peak_pct"));
    tm_cell_moment(body, tm_get(allocator, "peak_at_ps"));
    tm_cell_bytes(body, tm_get(allocator, "lifetime_peak_bytes"));
    tm_cell_pct(body, tm_get(allocator, "fragmentation_pct"));
    tm_cell_count(body, tm_get(allocator, "allocations"));
    tm_cell_rate(body, tm_get(allocator, "allocated_bytes_per_s"));
}

static void say_holders(struct tm_body *body, const struct tm_value *allocator)
{
    const struct tm_value *holders = tm_get(allocator, "holders");
    const bool has_hosts = tm_body_has_hosts(body);
    char title[256];

    if (tm_length(holders) == 0)
        return;
    (void)snprintf(title, sizeof(title), "Largest live buffers at the peak of %.80s%s%.60s",
                   tm_text(tm_get(allocator, "name")), has_hosts ? " on " : "",
                   has_hosts ? tm_shown_host(body->summary, tm_text(tm_get(allocator, "host"))) : "");
    body->form->subheading(body->to, title);
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Bytes", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Op", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Shape", TM_COLUMN_NAME);
    for (size_t i = 0; i < tm_length(holders) && i < HOLDER_ROWS && tm_sheet_row(body->sheet);
         i++) {
        tm_cell_bytes(body, tm_get(tm_at(holders, i), "bytes"));
        tm_cell_text(body, tm_get(tm_at(holders, i), "op"));
        tm_cell_text(body, tm_get(tm_at(holders, i), "shape"));
    }
    tm_body_end_table(body);
}

static void say_sites(struct tm_body *body, const struct tm_value *profile)
{
    static const struct tm_body_column columns[] = {
        { "Held by", "function", TM_COLUMN_NAME, tm_cell_text },
        { "Source", "source", TM_COLUMN_NAME, tm_cell_text },
        { "Kind", "kind", TM_COLUMN_WORD, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Bytes", "bytes", TM_COLUMN_NUMBER, tm_cell_bytes },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
    };
    const struct tm_value *sites = tm_get(profile, "sites");
    const size_t n = tm_length(sites), more = (size_t)tm_int(tm_path(profile, "rest.sites.rows"));

    tm_body_rows(body, TM_COLUMNS(columns), sites, SITE_ROWS);
    if (n + more > SITE_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more places in summary.json.", n + more - SITE_ROWS);
}

/* "buffer: 4 of 31.3 KiB; executable: ..." */
static void say_kinds(struct tm_body *body, const struct tm_value *profile)
{
    const struct tm_value *kinds = tm_get(profile, "kinds");

    for (size_t i = 0; i < tm_length(kinds) && i < HOLDER_ROWS; i++) {
        const struct tm_value *kind = tm_at(kinds, i);
        char count[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES];

        tm_say_item(body, tm_has(tm_get(kind, "kind")) ? tm_text(tm_get(kind, "kind")) : "no label", "%s, %s",
                    tm_format_count(count, tm_int(tm_get(kind, "count"))),
                    tm_format_bytes(bytes, tm_double(tm_get(kind, "bytes"))));
    }
}

static void say_device_profiles(struct tm_body *body)
{
    const struct tm_value *profiles = tm_old_of(body, "memory.device_profiles");
    const size_t n = tm_length(profiles);
    char bytes[TM_FORMAT_BYTES];

    for (size_t i = 0; i < n && i < PROFILES_SHOWN; i++) {
        const struct tm_value *profile = tm_at(profiles, i);

        tm_old_say(body, TM_TONE_PLAIN, "Device memory profile %s: %s", tm_text(tm_get(profile, "file")),
               tm_format_bytes(bytes, tm_double(tm_get(profile, "total_bytes"))));
        say_kinds(body, profile);
        if (tm_length(tm_get(profile, "sites")) > 0)
            say_sites(body, profile);
    }
    if (n > PROFILES_SHOWN)
        tm_old_say(body, TM_TONE_QUIET, "%zu more device memory profiles in summary.json.", n - PROFILES_SHOWN);
}

/* Has any of them buffers that were taken in the profile and not given back in it? */
static bool is_any_kept(const struct tm_value *allocators)
{
    for (size_t i = 0; i < tm_length(allocators) && i < ALLOCATOR_ROWS; i++)
        if (tm_int(tm_path(tm_at(allocators, i), "kept.count")) > 0)
            return true;
    return false;
}

/* By the quarter of the profile in which they were taken: bytes in each of them are a sign of growth. */
static void say_kept(struct tm_body *body, const struct tm_value *allocators)
{
    static const char *const quarters[] = { "1st quarter", "2nd", "3rd", "4th" };

    if (!is_any_kept(allocators))
        return;
    body->form->subheading(body->to, "Taken in the profile and not given back in it");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Allocator", TM_COLUMN_NAME);
    if (tm_body_has_hosts(body))
        tm_sheet_column(body->sheet, "Host", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Buffers", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < sizeof(quarters) / sizeof(quarters[0]); i++)
        tm_sheet_column(body->sheet, quarters[i], TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Largest", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Its op", TM_COLUMN_NAME);
    for (size_t i = 0; i < tm_length(allocators) && i < ALLOCATOR_ROWS; i++) {
        const struct tm_value *kept = tm_get(tm_at(allocators, i), "kept");

        if (tm_int(tm_get(kept, "count")) == 0 || !tm_sheet_row(body->sheet))
            continue;
        tm_cell_text(body, tm_get(tm_at(allocators, i), "name"));
        if (tm_body_has_hosts(body))
            tm_cell_host(body, tm_get(tm_at(allocators, i), "host"));
        tm_cell_count(body, tm_get(kept, "count"));
        for (size_t k = 0; k < sizeof(quarters) / sizeof(quarters[0]); k++)
            tm_cell_bytes(body, tm_at(tm_get(kept, "quarters_bytes"), k));
        tm_cell_bytes(body, tm_get(kept, "largest_bytes"));
        tm_cell_text(body, tm_get(kept, "op"));
    }
    tm_body_end_table(body);
}

static void say_allocators(struct tm_body *body)
{
    static const char *const titles[] = { "Capacity",      "Peak",   "Of it", "Peak at",
                                          "Lifetime peak", "Fragm.", "Allocs", "Rate" };
    const struct tm_value *allocators = tm_old_of(body, "memory.allocators");
    const size_t n = tm_length(allocators);

    if (tm_old_say_missing(body, allocators, "Allocators"))
        return;
    if (n == 0) {
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No allocator recorded anything.");
        return;
    }
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Allocator", TM_COLUMN_NAME);
    if (tm_body_has_hosts(body))
        tm_sheet_column(body->sheet, "Host", TM_COLUMN_NAME);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        tm_sheet_column(body->sheet, titles[i], TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < ALLOCATOR_ROWS && tm_sheet_row(body->sheet); i++)
        add_allocator(body, tm_at(allocators, i));
    tm_body_end_table(body);
    if (n > ALLOCATOR_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more allocators in summary.json.", n - ALLOCATOR_ROWS);
    say_kept(body, allocators);
    for (size_t i = 0; i < n && i < HOLDER_ALLOCATORS; i++)
        say_holders(body, tm_at(allocators, i));
}

void tm_section_memory(struct tm_body *body)
{
    if (tm_old_say_missing(body, tm_old_of(body, "memory"), "Memory"))
        return;
    say_allocators(body);
    say_device_profiles(body);
}
