/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on the profile itself: where it was made, and how far its figures can be trusted. */
#include <stdio.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"

enum { HOST_ROWS = 16, FILE_ROWS = 32, PROBLEM_ROWS = 12, WARNING_ROWS = 20 };

/* Versions that were recorded; the ones that were not are no news. */
static void add_host(struct tm_body *body, const struct tm_value *host)
{
    static const struct {
        const char *key, *label;
    } facts[] = {
        { "framework", "framework" },
        { "rank", "rank" },
        { "world_size", "ranks" },
        { "jax", "jax" },
        { "jaxlib", "jaxlib" },
        { "platform_version", "platform" },
        { "cuda", "CUDA" },
        { "cuda_runtime", "CUDA runtime" },
        { "driver", "driver" },
        { "rocm", "ROCm" },
        { "libtpu", "libtpu" },
        { "process_id", "process" },
    };
    char date[TM_FORMAT_BYTES];

    tm_fact_text(body, "Host", tm_get(host, "host"));
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (tm_has(tm_get(host, facts[i].key)))
            tm_fact_text(body, facts[i].label, tm_get(host, facts[i].key));
    if (tm_has(tm_get(host, "begin_ns")) &&
        *tm_format_date(date, tm_int(tm_get(host, "begin_ns")))) {
        tm_fact_begin(body, "profile began");
        tm_sheet_prose(body->sheet, "%s", date);
    }
    if (tm_type_of(tm_get(host, "profile_options")) == TM_STRING)
        tm_fact_text(body, "profile options", tm_get(host, "profile_options"));
}

static void say_models(struct tm_body *body, const struct tm_value *models)
{
    static const struct tm_body_column columns[] = {
        { "Device model", "model", TM_COLUMN_NAME, tm_cell_text },
        { "Vendor", "vendor", TM_COLUMN_WORD, tm_cell_text },
        { "Kind", "kind", TM_COLUMN_WORD, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Used", "used", TM_COLUMN_NUMBER, tm_cell_count },
        { "Cores", "core_count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Memory", "memory_bytes", TM_COLUMN_NUMBER, tm_cell_bytes },
        { "Bandwidth", "memory_bandwidth_bytes", TM_COLUMN_NUMBER, tm_cell_rate },
    };

    if (tm_length(models) == 0)
        return;
    tm_body_rows(body, TM_COLUMNS(columns), models, HOST_ROWS);
}

void tm_section_environment(struct tm_body *body)
{
    const struct tm_value *environment = tm_old_of(body, "environment");
    const struct tm_value *hosts = tm_get(environment, "hosts");

    if (tm_old_say_missing(body, environment, "Environment"))
        return;
    tm_facts(body);
    tm_fact_text(body, "Platform", tm_get(environment, "platform"));
    for (size_t i = 0; i < tm_length(hosts) && i < HOST_ROWS; i++)
        add_host(body, tm_at(hosts, i));
    tm_body_end_table(body);
    if (tm_length(hosts) > HOST_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more hosts in summary.json.",
               tm_length(hosts) - HOST_ROWS);
    say_models(body, tm_get(environment, "devices"));
}

static void say_tallies(struct tm_body *body)
{
    const struct tm_value *tallies = tm_old_of(body, "coverage.tallies");

    if (tm_length(tallies) == 0) {
        body->form->paragraph(body->to, TM_TONE_PLAIN,
                              "Nothing was left out and nothing was repaired.");
        return;
    }
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Tally", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Level", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Meaning", TM_COLUMN_PROSE);
    for (size_t i = 0; i < tm_length(tallies) && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        tm_sheet_text(body->sheet, tm_key_at(tallies, i));
        tm_cell_text(body, tm_get(tally, "level"));
        tm_sheet_tone(body->sheet, tm_tone_of(tm_text(tm_get(tally, "level"))));
        tm_cell_count(body, tm_get(tally, "count"));
        tm_cell_text(body, tm_get(tally, "help"));
    }
    tm_body_end_table(body);
}

static void say_classes(struct tm_body *body)
{
    const struct tm_value *classes = tm_old_of(body, "coverage.classes");
    bool any = false;

    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Class of events", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < tm_length(classes); i++) {
        if (tm_int(tm_value_at(classes, i)) == 0 || !tm_sheet_row(body->sheet))
            continue;
        tm_sheet_text(body->sheet, tm_key_at(classes, i));
        tm_cell_count(body, tm_value_at(classes, i));
        any = true;
    }
    if (any)
        tm_body_end_table(body);
}

static void say_files(struct tm_body *body)
{
    const struct tm_value *files = tm_old_of(body, "input.files");
    const size_t n = tm_length(files);

    if (n == 0)
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "File", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Kind", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Bytes", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Events", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "XXH3", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "State", TM_COLUMN_WORD);
    for (size_t i = 0; i < n && i < FILE_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *file = tm_at(files, i);
        const bool partial = tm_is(tm_get(file, "partial"));

        tm_cell_text(body, tm_get(file, "path"));
        tm_cell_text(body, tm_get(file, "kind"));
        tm_cell_count(body, tm_get(file, "bytes"));
        tm_cell_count(body, tm_get(file, "events"));
        tm_cell_text(body, tm_get(file, "xxh3"));
        tm_sheet_text(body->sheet, partial ? "partial" : "whole");
        tm_sheet_tone(body->sheet, partial ? TM_TONE_WARNING : TM_TONE_PLAIN);
    }
    tm_body_end_table(body);
    if (n > FILE_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more files in summary.json.", n - FILE_ROWS);
}

/* The texts that files have under a key. */
static void say_of_files(struct tm_body *body, const char *key, const char *label)
{
    const struct tm_value *files = tm_old_of(body, "input.files");
    size_t said = 0, left_out = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *texts = tm_get(tm_at(files, i), key);

        for (size_t k = 0; k < tm_length(texts); k++) {
            if (said++ < PROBLEM_ROWS)
                body->form->item(body->to, label, tm_text(tm_at(texts, k)));
            else
                left_out++;
        }
    }
    if (left_out > 0)
        tm_say_item(body, label, "and %zu more in summary.json", left_out);
}

static void say_warnings(struct tm_body *body)
{
    const struct tm_value *warnings = tm_old_of(body, "coverage.warnings");
    const size_t n = tm_length(warnings);

    for (size_t i = 0; i < n && i < WARNING_ROWS; i++)
        body->form->item(body->to, "warning", tm_text(tm_at(warnings, i)));
    if (n > WARNING_ROWS)
        tm_say_item(body, "warning", "and %zu more in summary.json", n - WARNING_ROWS);
}

void tm_section_quality(struct tm_body *body)
{
    if (tm_body_is_partial(body))
        body->form->paragraph(
            body->to, TM_TONE_WARNING,
            "The input is damaged or cut short: a figure may be smaller than the truth.");
    if (!tm_old_say_missing(body, tm_old_of(body, "coverage"), "Coverage")) {
        tm_facts(body);
        tm_fact_count(body, "Events read", tm_old_of(body, "coverage.events_read"));
        tm_fact_count(body, "Events in the figures", tm_old_of(body, "coverage.events_used"));
        tm_body_end_table(body);
        say_tallies(body);
        say_classes(body);
    }
    say_warnings(body);
    say_files(body);
    say_of_files(body, "problems", "problem");
    say_of_files(body, "notes", "note");
}
