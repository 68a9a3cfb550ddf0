/* SPDX-License-Identifier: Apache-2.0 */
/* Gates that the night's runs did not pass. */
#include "reports/content/say.h"

static void say_gates(const struct tm_content *content)
{
    static const struct tm_column counts[] = {
        { "Runs that failed", "failed", TM_CELL_COUNT },
        { "Not known", "unknown", TM_CELL_COUNT },
        { "Passed", "passed", TM_CELL_COUNT },
        { "Not judged", "not_judged", TM_CELL_COUNT | TM_RARE },
        { "Without a report", "no_report", TM_CELL_COUNT | TM_RARE },
    };
    static const struct tm_column columns[] = {
        { "Job", "job", TM_CELL_NAME },           { "Result", "status", TM_CELL_WORD },
        { "Figure", "title", TM_CELL_WORD },      { "Path in the summary", "figure", TM_CELL_NAME | TM_WIDE },
        { "Value", "value_text", TM_CELL_WORD },  { "Limit", "limit_text", TM_CELL_WORD },
        { "Baseline", "baseline_text", TM_CELL_WORD }, { "Why", "reason", TM_CELL_PROSE | TM_GIVEN },
    };
    const struct tm_value *gates = tm_of(content, "gates");

    tm_say_facts(content, "gate-counts", TM_FACTS(counts), tm_get(gates, "counts"));
    tm_say_table(content, &(struct tm_table){ .id = "gates",
                                              .caption = "Gates that did not pass",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(gates, "list"),
                                              .paper_rows = 100 });
}

const struct tm_section tm_night_gates_section = { "gates", "Gates", "gates", say_gates, NULL };
