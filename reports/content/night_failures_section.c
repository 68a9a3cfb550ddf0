/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the night without a whole report, and why. */
#include "reports/content/say.h"

static void say_failures(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Job", "job", TM_CELL_NAME },         { "Report", "report", TM_CELL_LINK },
        { "Run", "run", TM_CELL_NAME },         { "Status", "status", TM_CELL_WORD },
        { "Night", "night", TM_CELL_WORD | TM_WIDE },  { "When", "when_ns", TM_CELL_DATE | TM_WIDE },
        { "Why", "message", TM_CELL_PROSE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "failures",
                                              .caption = "Runs that failed, or are of damaged input",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "failures"),
                                              .paper_rows = 100 });
}

static const char *nothing(const struct tm_value *night)
{
    return tm_if_none(night, "failures", "all runs are done");
}

const struct tm_section tm_night_failures_section = { "failures", "Failures", "failures", say_failures, nothing };
