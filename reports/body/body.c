/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of a printed report: facts of the run, verdict, KPI table, findings in one line
 * each; and the table of the sections that follow.  Nothing is computed here: every figure is a
 * member of the summary (schemas/SUMMARY.md). */
#include "reports/body/body.h"

#include <stdio.h>
#include <string.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/mark_signs.h"
#include "reports/format/platforms.h"
#include "reports/format/shown_names.h"

enum { LISTED_HOSTS = 4, LIST_BYTES = 512 };

const char tm_body_partial_text[] =
    "PARTIAL: the input is damaged or cut short; the figures cover what could be read";

const struct tm_section tm_old_sections[] = {
    { "Findings", "findings", tm_section_findings },
    { "Steps", "steps", tm_section_steps },
    { "Devices", "devices", tm_section_devices },
    { "Idle time", "gaps", tm_section_gaps },
    { "Operations", "ops", tm_section_ops },
    { "Scopes", "scopes", tm_section_scopes },
    { "Kernels", "kernels", tm_section_kernels },
    { "Fusion", "fusion", tm_section_fusion },
    { "Programs", "programs", tm_section_programs },
    { "Occupancy", "occupancy", tm_section_occupancy },
    { "Roofline", "roofline", tm_section_roofline },
    { "Transfers", "transfers", tm_section_transfers },
    { "Collectives", "collectives", tm_section_collectives },
    { "Balance", "balance", tm_section_balance },
    { "Host", "host", tm_section_host },
    { "CPU fallback", "fallback", tm_section_fallback },
    { "Compilation", "compile", tm_section_compile },
    { "Memory", "memory", tm_section_memory },
    { "Environment", "environment", tm_section_environment },
    { "Data quality", "coverage", tm_section_quality },
};
const size_t tm_old_section_count = sizeof(tm_old_sections) / sizeof(tm_old_sections[0]);

void tm_body_title(char *out, const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const size_t host_count = tm_length(hosts),
                 device_count = tm_length(tm_path(summary, "devices"));
    const char *run = tm_text(tm_path(summary, "input.run"));
    char host[TM_BODY_TITLE_BYTES / 2] = "";

    if (host_count != 1)
        (void)snprintf(host, sizeof(host), "%zu hosts", host_count);
    else if (!tm_is_named_as_run(summary))
        tm_sheet_visible(host, sizeof(host), tm_text(tm_at(hosts, 0)));
    (void)snprintf(out, TM_BODY_TITLE_BYTES, "%.80s: %.64s%s%zu %s", *run ? run : "profile", host, *host ? ", " : "",
                   device_count, device_count == 1 ? "device" : "devices");
}

static void say_mark(struct tm_body *body, const struct tm_value *mark, size_t at)
{
    tm_old_say(body, TM_TONE_QUIET, "[%c] %s", tm_mark_letter(at), tm_text(tm_get(mark, "text")));
}

/* What the letters in the heading of a section mean, at its end. */
static void say_section_marks(struct tm_body *body, const char *key)
{
    const struct tm_value *marks = tm_old_of(body, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        if (tm_mark_is_of_section(tm_at(marks, i), key))
            say_mark(body, tm_at(marks, i), i);
}

/* Is it a section of this platform, with figures or without? */
static bool is_due(const struct tm_body *body, const struct tm_section *section, bool has_figures)
{
    return tm_section_is_for_run(section->key, body->summary) &&
           tm_has(tm_get(body->summary, section->key)) == has_figures;
}

static void put_section(struct tm_body *body, const struct tm_section *section)
{
    char title[2 * TM_SHEET_CELL_BYTES], sign[TM_SIGN_BYTES];

    (void)snprintf(title, sizeof(title), "%s%s", section->title,
                   tm_sign_of_section(sign, body->summary, section->key));
    body->form->heading(body->to, title);
    section->write(body);
    say_section_marks(body, section->key);
}

void tm_body_sections(struct tm_body *body)
{
    bool any = false;

    for (size_t i = 0; i < tm_old_section_count; i++)
        if (is_due(body, &tm_old_sections[i], true))
            put_section(body, &tm_old_sections[i]);
    for (size_t i = 0; i < tm_old_section_count; i++) {
        if (!is_due(body, &tm_old_sections[i], false))
            continue;
        if (!any)
            body->form->heading(body->to, "Not recorded");
        any = true;
        tm_old_sections[i].write(body);
    }
}

bool tm_body_is_partial(const struct tm_body *body)
{
    return tm_is(tm_old_of(body, "input.partial"));
}

/* Append one word to a list in words: "a, b, c". */
static void append_word(char *list, const char *word)
{
    const size_t used = strlen(list);

    (void)snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", word);
}

static void add_hosts(struct tm_body *body)
{
    const struct tm_value *hosts = tm_old_of(body, "input.hosts");
    const size_t n = tm_length(hosts);
    char list[LIST_BYTES] = "";
    char more[48];

    if (tm_is_named_as_run(body->summary))
        return;
    if (!tm_fact_has(body, "Hosts", hosts))
        return;
    for (size_t i = 0; i < n && i < LISTED_HOSTS; i++)
        append_word(list, tm_text(tm_at(hosts, i)));
    if (n > LISTED_HOSTS) {
        (void)snprintf(more, sizeof(more), "and %zu more", n - LISTED_HOSTS);
        append_word(list, more);
    }
    tm_fact_begin(body, "Hosts");
    if (n == 0)
        tm_sheet_text(body->sheet, "none");
    else
        tm_sheet_prose(body->sheet, "%zu (%s)", n, list);
}

/* "4 x NVIDIA H200, 1 x cpu". */
static void add_devices(struct tm_body *body)
{
    const struct tm_value *models = tm_old_of(body, "environment.devices");
    const size_t used = tm_length(tm_old_of(body, "devices"));
    char list[LIST_BYTES] = "", one[160];

    for (size_t i = 0; i < tm_length(models) && i < LISTED_HOSTS; i++) {
        const struct tm_value *model = tm_at(models, i);
        const char *name = tm_text(tm_get(model, "model"));

        (void)snprintf(one, sizeof(one), "%lld x %s", (long long)tm_int(tm_get(model, "count")),
                       *name ? name : tm_text(tm_get(model, "kind")));
        append_word(list, one);
    }
    tm_fact_begin(body, "Devices");
    if (used == 0)
        tm_sheet_prose(body->sheet, "none with activity%s%s", *list ? " of " : "", list);
    else
        tm_sheet_prose(body->sheet, "%zu with activity%s%s", used, *list ? ": " : "", list);
}

static void add_files(struct tm_body *body)
{
    const struct tm_value *files = tm_old_of(body, "input.files");
    const size_t n = tm_length(files);

    if (!tm_fact_has(body, "Files", files))
        return;
    tm_fact_begin(body, "Files");
    if (n == 0)
        tm_sheet_text(body->sheet, "none");
    else if (n == 1)
        tm_sheet_text(body->sheet, tm_text(tm_get(tm_at(files, 0), "path")));
    else
        tm_sheet_prose(body->sheet, "%zu (listed under data quality)", n);
}

static void add_window(struct tm_body *body)
{
    const struct tm_value *total = tm_old_of(body, "window.total_ps");
    char time[TM_FORMAT_BYTES];

    if (!tm_fact_has(body, "Window", total))
        return;
    tm_format_time(time, tm_int(total));
    tm_fact_begin(body, "Window");
    tm_sheet_prose(body->sheet, "%s, summed over devices (mode: %s)", time,
                   tm_text(tm_old_of(body, "window.mode")));
}

static void add_steps(struct tm_body *body)
{
    const struct tm_value *median = tm_old_of(body, "steps.median_ps");
    char time[TM_FORMAT_BYTES];

    if (!tm_fact_has(body, "Steps", tm_old_of(body, "steps.count")))
        return;
    tm_format_time(time, tm_int(median));
    tm_fact_begin(body, "Steps");
    tm_sheet_prose(body->sheet, "%lld chosen of %lld%s%s",
                   (long long)tm_int(tm_old_of(body, "steps.chosen")),
                   (long long)tm_int(tm_old_of(body, "steps.count")), tm_has(median) ? ", median " : "",
                   tm_has(median) ? time : "");
}

void tm_body_facts(struct tm_body *body)
{
    tm_facts(body);
    tm_fact_text(body, "Run", tm_old_of(body, "input.run"));
    add_hosts(body);
    add_devices(body);
    add_files(body);
    add_window(body);
    add_steps(body);
    tm_body_end_table(body);
}

void tm_body_verdict(struct tm_body *body)
{
    const struct tm_value *verdict = tm_old_of(body, "verdict");
    const char *text = tm_text(tm_get(verdict, "text"));

    if (*text)
        body->form->paragraph(body->to, tm_tone_of(tm_text(tm_get(verdict, "severity"))), text);
    else
        (void)tm_old_say_missing(body, NULL, "Verdict");
}

/* A threshold of the KPI table: a text such as "> 80", or a number in the unit of the figure. */
static void add_limit(struct tm_body *body, const struct tm_value *limit, const char *comparison, const char *unit)
{
    char text[TM_FORMAT_BYTES];

    if (tm_type_of(limit) == TM_STRING) {
        tm_sheet_text(body->sheet, tm_text(limit));
    } else if (tm_has(limit)) {
        (void)snprintf(tm_sheet_room(body->sheet), TM_SHEET_CELL_BYTES, "%s%s", comparison,
                       tm_format_limit(text, tm_double(limit), unit));
    } else {
        tm_sheet_text(body->sheet, "");
    }
}

/* A value with the letters of its marks. */
static void add_marked(struct tm_body *body, const struct tm_value *value, const struct tm_value *kpi)
{
    char text[TM_FORMAT_BYTES], sign[TM_SIGN_BYTES];

    tm_format_unit(text, tm_double(value), tm_text(tm_get(kpi, "unit")));
    (void)snprintf(tm_sheet_room(body->sheet), TM_SHEET_CELL_BYTES, "%.28s%s", text,
                   tm_sign_of_kpi(sign, body->summary, kpi));
}

/* What the letters in the KPI table mean. */
static void say_kpi_marks(struct tm_body *body, const struct tm_value *kpis)
{
    const struct tm_value *marks = tm_old_of(body, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        bool is_shown = false;

        for (size_t k = 0; k < tm_length(kpis); k++)
            is_shown |= tm_mark_is_of_kpi(tm_at(marks, i), tm_at(kpis, k));
        if (is_shown)
            say_mark(body, tm_at(marks, i), i);
    }
}

static void add_kpi(struct tm_body *body, const struct tm_value *kpi)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad");
    const bool high_is_good = tm_double(good) > tm_double(bad);
    const struct tm_value *value = tm_get(kpi, "value");
    const char *band = tm_text(tm_get(kpi, "band"));
    const char *why = tm_text(tm_get(kpi, "why")), *unit = tm_text(tm_get(kpi, "unit"));

    if (!tm_sheet_row(body->sheet))
        return;
    tm_cell_text(body, tm_get(kpi, "title"));
    if (tm_has(value))
        add_marked(body, value, kpi);
    else
        tm_sheet_text(body->sheet, "not recorded");
    tm_sheet_text(body->sheet, band);
    tm_sheet_tone(body->sheet, tm_tone_of(band));
    add_limit(body, good, tm_double(good) == tm_double(bad) ? "" : high_is_good ? "> " : "< ", unit);
    add_limit(body, bad, high_is_good ? "< " : "> ", unit);
    if (!*why)
        why = tm_why(value);
    tm_sheet_text(body->sheet, !*why && tm_has(value) ? tm_text(tm_get(kpi, "definition")) : why);
    tm_sheet_tone(body->sheet, TM_TONE_QUIET);
}

void tm_body_kpis(struct tm_body *body)
{
    const struct tm_value *kpis = tm_old_of(body, "kpis");

    if (tm_old_say_missing(body, kpis, "KPI table"))
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Figure", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Value", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Band", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Good", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Bad", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "What it is", TM_COLUMN_PROSE);
    for (size_t i = 0; i < tm_length(kpis); i++)
        if (tm_kpi_is_for_run(tm_at(kpis, i)))
            add_kpi(body, tm_at(kpis, i));
    tm_body_end_table(body);
    say_kpi_marks(body, kpis);
}

void tm_body_top_findings(struct tm_body *body, int count)
{
    const struct tm_value *findings = tm_old_of(body, "findings");
    const size_t n = tm_length(findings);

    if (tm_old_say_missing(body, findings, "Findings"))
        return;
    if (n == 0) {
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No findings.");
        return;
    }
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Severity", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "At stake", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Share", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Finding", TM_COLUMN_PROSE);
    for (size_t i = 0; i < n && i < (size_t)count && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *finding = tm_at(findings, i);
        const char *severity = tm_text(tm_get(finding, "severity"));

        tm_sheet_text(body->sheet, severity);
        tm_sheet_tone(body->sheet, tm_tone_of(severity));
        tm_cell_time_or_blank(body, tm_get(finding, "at_stake_ps"));
        tm_cell_pct_or_blank(body, tm_get(finding, "share_pct"));
        tm_cell_text(body, tm_get(finding, "title"));
    }
    tm_body_end_table(body);
    if (n > (size_t)count)
        tm_old_say(body, TM_TONE_QUIET, "%zu more under findings.", n - (size_t)count);
}
