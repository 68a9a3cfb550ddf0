/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a check. */
#include <stdio.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"

/* The gates of a check: those that failed first, then those that could not be judged, then the
 * rest. */

enum { GATES_MOST = 4096 };

static void emit_counts(const struct tm_content *content)
{
    static const struct tm_column counts[] = {
        { "Failed", "failed", TM_CELL_COUNT },
        { "Not known", "unknown", TM_CELL_COUNT },
        { "Skipped", "skipped", TM_CELL_COUNT },
        { "Passed", "passed", TM_CELL_COUNT },
    };

    tm_emit_facts(content, "gate-counts", TM_FACTS(counts), tm_of(content, "counts"));
}

static void emit_of_status(const struct tm_content *content, const char *status, const char *id, const char *caption)
{
    static const struct tm_column columns[] = {
        { "Figure", "title", TM_CELL_WORD },
        { "Path in the summary", "figure", TM_CELL_NAME },
        { "Found at", "place", TM_CELL_NAME | TM_WIDE },
        { "Value", "value_text", TM_CELL_WORD },
        { "Rule", "rule", TM_CELL_TERM },
        { "Limit", "limit_text", TM_CELL_WORD },
        { "Baseline", "baseline_text", TM_CELL_WORD },
        { "Change", "change_pct", TM_CELL_PCT | TM_CHANGE },
        { "Noise", "noise_pct", TM_CELL_PCT | TM_WIDE },
        { "p", "p", TM_CELL_NUMBER | TM_WIDE },
        { "Why", "why", TM_CELL_PROSE },
        { "Note", "note", TM_CELL_PROSE },
    };
    const struct tm_value *gates = tm_of(content, "gates");
    static size_t pick[GATES_MOST]; /* too much for a small stack */
    size_t picks = 0;

    for (size_t i = 0; i < tm_length(gates) && picks < GATES_MOST; i++)
        if (strcmp(tm_text(tm_get(tm_at(gates, i), "status")), status) == 0)
            pick[picks++] = i;
    if (picks > 0)
        tm_emit_table(content, &(struct tm_table){ .id = id,
                                                   .caption = caption,
                                                   TM_COLUMNS(columns),
                                                   .rows = gates,
                                                   .pick = pick,
                                                   .picks = picks,
                                                   .is_only_picked = true,
                                                   .paper_rows = 100 });
}

static void emit_gates(const struct tm_content *content)
{
    const struct tm_value *notes = tm_of(content, "notes");

    emit_counts(content);
    for (size_t i = 0; i < tm_length(notes); i++)
        tm_emit(content, TM_TONE_PLAIN, "%s", tm_text(tm_at(notes, i)));
    emit_of_status(content, "failed", "gates-failed", "Failed");
    emit_of_status(content, "unknown", "gates-unknown", "Not known");
    emit_of_status(content, "skipped", "gates-skipped", "Skipped");
    emit_of_status(content, "passed", "gates-passed", "Passed");
}

static const char *no_gates(const struct tm_value *check)
{
    return tm_if_none(check, "gates", "the gate file has no gates");
}

const struct tm_section tm_gates_section = { "gates", "Gates", "gates", emit_gates, no_gates };

static const struct tm_section *const sections[] = {
    &tm_gates_section,
    &tm_missing_checked_section,
    &tm_definitions_section,
};

static void add_baseline(struct tm_front_page *front, const struct tm_value *baseline)
{
    const size_t runs = tm_length(tm_get(baseline, "runs"));
    const char *label = tm_text(tm_get(baseline, "label"));

    if (tm_has(baseline))
        tm_front_say_fact(front, "Baseline", "%.300s, %zu run%s", *label ? label : "given", runs,
                          tm_format_plural(runs));
}

static void make_front(struct tm_front_page *front, const struct tm_value *check)
{
    const struct tm_value *input = tm_get(check, "input"), *counts = tm_get(check, "counts"),
                          *file = tm_get(check, "gate_file");
    const char *run = tm_text(tm_get(input, "run"));
    char title[TM_FRONT_TITLE_BYTES];

    (void)snprintf(title, sizeof(title), "Check of %.200s", *run ? run : "a run");
    tm_front_begin(front, check, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%zu gate%s", tm_length(tm_get(check, "gates")),
                   tm_format_plural(tm_length(tm_get(check, "gates"))));
    tm_front_say_fact(front, "Result", "%lld failed, %lld not known, %lld skipped, %lld passed",
                      (long long)tm_int(tm_get(counts, "failed")), (long long)tm_int(tm_get(counts, "unknown")),
                      (long long)tm_int(tm_get(counts, "skipped")), (long long)tm_int(tm_get(counts, "passed")));
    add_baseline(front, tm_get(check, "baseline"));
    if (tm_has(file))
        tm_front_say_fact(front, "Gate file", "%.400s", tm_text(file));
    if (tm_has(tm_get(input, "path")))
        tm_front_say_fact(front, "Input", "%.400s", tm_text(tm_get(input, "path")));
}

const struct tm_document tm_check_document = {
    .schema = "tracemill.check",
    .what = "check",
    .kicker = "RESULT OF A CHECK",
    .made_by = "tracemill check",
    .file = "check",
    .findings_title = "Findings",
    .stake_of = "device time",
    .data = "check.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
};
