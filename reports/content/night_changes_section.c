/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of jobs that got worse, and that got better. */
#include "reports/content/say.h"

static const struct tm_column columns[] = {
    { "Job", "job", TM_CELL_NAME },          { "Report", "report", TM_CELL_LINK },
    { "Figure", "title", TM_CELL_WORD },     { "Before", "before_text", TM_CELL_WORD },
    { "Now", "value_text", TM_CELL_WORD },   { "Change", "change_text", TM_CELL_WORD },
    { "Usual", "band_text", TM_CELL_WORD },  { "Runs before", "runs", TM_CELL_COUNT | TM_WIDE },
};

static void say_changed(const struct tm_content *content, const char *key, const char *caption)
{
    const struct tm_value *rows = tm_of(content, key);
    const long long left_out = (long long)tm_int(tm_get(tm_of(content, "left_out"), key));

    tm_say_table(content, &(struct tm_table){ .id = key, .caption = caption, TM_COLUMNS(columns), .rows = rows, .paper_rows = 40 });
    if (left_out > 0)
        tm_say(content, TM_TONE_QUIET, "%lld more are not listed.", left_out);
}

static void say_changes(const struct tm_content *content)
{
    tm_say(content, TM_TONE_QUIET,
           "The newest run of each job against the median of its seven good runs before. What differs by less than is usual "
           "is not listed.");
    say_changed(content, "worse", "Got worse");
    say_changed(content, "better", "Got better");
}

static const char *nothing(const struct tm_value *night)
{
    return tm_length(tm_get(night, "worse")) + tm_length(tm_get(night, "better")) == 0
               ? "no job changed by more than runs differ otherwise"
               : "";
}

const struct tm_section tm_night_changes_section = { "changes", "What changed", "worse", say_changes, nothing };
