/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of a check: those that failed first, then those that could not be judged, then the
 * rest. */
#include <stdio.h>
#include <string.h>

#include "reports/content/say.h"

enum { GATES_MOST = 4096 };

static void say_counts(const struct tm_content *content)
{
    static const struct tm_column counts[] = {
        { "Failed", "failed", TM_CELL_COUNT },
        { "Not known", "unknown", TM_CELL_COUNT },
        { "Skipped", "skipped", TM_CELL_COUNT },
        { "Passed", "passed", TM_CELL_COUNT },
    };

    tm_say_facts(content, "gate-counts", TM_FACTS(counts), tm_of(content, "counts"));
}

static void say_of_status(const struct tm_content *content, const char *status, const char *id,
                          const char *caption)
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
        tm_say_table(content, &(struct tm_table){ .id = id,
                                                  .caption = caption,
                                                  TM_COLUMNS(columns),
                                                  .rows = gates,
                                                  .pick = pick,
                                                  .picks = picks,
                                                  .is_only_picked = true,
                                                  .paper_rows = 100 });
}

static void say_gates(const struct tm_content *content)
{
    const struct tm_value *notes = tm_of(content, "notes");

    say_counts(content);
    for (size_t i = 0; i < tm_length(notes); i++)
        tm_say(content, TM_TONE_PLAIN, "%s", tm_text(tm_at(notes, i)));
    say_of_status(content, "failed", "gates-failed", "Failed");
    say_of_status(content, "unknown", "gates-unknown", "Not known");
    say_of_status(content, "skipped", "gates-skipped", "Skipped");
    say_of_status(content, "passed", "gates-passed", "Passed");
}

static const char *nothing(const struct tm_value *check)
{
    return tm_if_none(check, "gates", "the gate file has no gates");
}

const struct tm_section tm_gates_section = { "gates", "Gates", "gates", say_gates, nothing };
