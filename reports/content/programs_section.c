/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: how many run in a step, and the pauses between two of them. */
#include "reports/content/say.h"

enum { PAUSES_ON_PAPER = 5 };

static void say_pauses(const struct tm_content *content, const struct tm_value *pauses)
{
    static const struct tm_column columns[] = {
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
        { "Device", "device", TM_CELL_DEVICE },
        { "Step", "step", TM_CELL_WORD },
        { "Before", "before", TM_CELL_NAME },
        { "After", "after", TM_CELL_NAME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "program-pauses",
                                              .caption = "Longest pauses between two programs",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(pauses, "longest"),
                                              .paper_rows = PAUSES_ON_PAPER });
}

static void say_programs(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { "Programs per step and device", "per_step", TM_CELL_NUMBER },
        { "Executions", "count", TM_CELL_COUNT },
        { "Operations", "operations", TM_CELL_COUNT },
        { "Time of operations", "operation_ps", TM_CELL_TIME },
        { "Pauses between programs", "pauses.count", TM_CELL_COUNT },
        { "Their time", "pauses.total_ps", TM_CELL_TIME | TM_RARE },
    };
    const struct tm_value *programs = tm_of(content, "programs");

    tm_say_facts(content, "program-facts", TM_FACTS(facts), programs);
    say_pauses(content, tm_get(programs, "pauses"));
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "programs.count", "no compiled program ran in the analyzed steps");
}

const struct tm_section tm_programs_section = { "programs", "Programs", "programs", say_programs, nothing };
