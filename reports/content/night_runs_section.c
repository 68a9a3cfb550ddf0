/* SPDX-License-Identifier: Apache-2.0 */
/* All runs that are judged, and those that are dated ahead. */
#include "reports/content/say.h"

static void say_ahead(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Run", "run", TM_CELL_NAME },
        { "Report", "report", TM_CELL_LINK },
        { "Job", "job", TM_CELL_NAME },
        { "Night", "night", TM_CELL_WORD },
        { "Status", "status", TM_CELL_WORD },
        { "Identifier", "id", TM_CELL_NAME | TM_WIDE },
    };
    const long long ahead = (long long)tm_int(tm_path(content->summary, "counts.dated_ahead"));

    if (ahead == 0)
        return;
    tm_say(content, TM_TONE_PLAIN,
           "%lld run%s dated more than a day ahead of the clock %s not judged, and %s in no trend and no baseline.", ahead,
           tm_format_plural(ahead), ahead == 1 ? "is" : "are", ahead == 1 ? "is" : "are");
    tm_say_table(content, &(struct tm_table){ .id = "dated-ahead",
                                              .caption = "Runs that are dated ahead",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "dated_ahead"),
                                              .paper_rows = 20 });
}

static void say_runs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Run", "run", TM_CELL_NAME },
        { "Report", "report", TM_CELL_LINK },
        { "Job", "job", TM_CELL_NAME },
        { "Night", "night", TM_CELL_WORD },
        { "When", "when_ns", TM_CELL_DATE },
        { "Status", "status", TM_CELL_WORD },
        { "Step time", "step_time_ps", TM_CELL_TIME },
        { "Training run", "training", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Training step", "step", TM_CELL_COUNT | TM_GIVEN },
        { "Devices", "devices", TM_CELL_COUNT },
        { "Hosts", "hosts", TM_CELL_COUNT | TM_WIDE },
        { "Device", "model", TM_CELL_NAME | TM_WIDE },
        { "Platform", "platform", TM_CELL_WORD | TM_WIDE },
        { "Revision", "revision", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Label", "label", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Gates", "gates", TM_CELL_WORD | TM_GIVEN },
        { "Verdict", "verdict", TM_CELL_PROSE | TM_WIDE },
    };
    const long long left_out = (long long)tm_int(tm_path(content->summary, "left_out.runs"));

    if (tm_int(tm_path(content->summary, "counts.other_nights")) > 0)
        tm_say(content, TM_TONE_QUIET, "Runs of other nights that were added or changed since are judged with those of the last one.");
    tm_say_table(content, &(struct tm_table){ .id = "runs",
                                              .caption = "Runs of the night",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "runs"),
                                              .paper_rows = 40 });
    if (left_out > 0)
        tm_say(content, TM_TONE_QUIET, "%lld more run%s %s not listed.", left_out, tm_format_plural(left_out),
               left_out == 1 ? "is" : "are");
    say_ahead(content);
}

static const char *nothing(const struct tm_value *night)
{
    if (tm_int(tm_path(night, "counts.dated_ahead")) > 0)
        return "";
    return tm_if_none(night, "runs", "the history is empty");
}

const struct tm_section tm_night_runs_section = { "runs", "Runs of the night", "runs", say_runs, nothing };
