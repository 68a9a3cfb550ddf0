/* SPDX-License-Identifier: Apache-2.0 */
/* All jobs with their newest run. */
#include "reports/content/say.h"

static void say_jobs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Job", "job", TM_CELL_NAME },
        { "Report", "report", TM_CELL_LINK },
        { "State", "state", TM_CELL_TERM },
        { "Step time", "figures.step_time_ps.value", TM_CELL_TIME },
        { "Change", "figures.step_time_ps.change", TM_CELL_PCT | TM_CHANGE },
        { "Step time before", "figures.step_time_ps.before", TM_CELL_TIME | TM_WIDE },
        { "Usual", "figures.step_time_ps.band", TM_CELL_TIME | TM_WIDE },
        { "Utilization", "figures.device_utilization_pct.value", TM_CELL_PCT },
        { "MFU", "figures.mfu_pct.value", TM_CELL_PCT | TM_WIDE },
        { "Peak memory", "figures.peak_memory_bytes.value", TM_CELL_BYTES },
        { "Verdict", "severity", TM_CELL_WORD },
        { "First finding", "finding", TM_CELL_PROSE | TM_WIDE },
        { "Exposed collectives", "figures.exposed_collective_ps.value", TM_CELL_TIME | TM_WIDE },
        { "Idle", "figures.idle_ps.value", TM_CELL_TIME | TM_WIDE },
        { "Compile time", "figures.compile_time_ps.value", TM_CELL_TIME | TM_WIDE },
        { "Gates", "gates", TM_CELL_WORD | TM_GIVEN },
        { "Devices", "devices", TM_CELL_COUNT },
        { "Hosts", "hosts", TM_CELL_COUNT | TM_WIDE },
        { "Device", "model", TM_CELL_NAME | TM_WIDE },
        { "Night", "night", TM_CELL_WORD },
        { "Revision", "revision", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Label", "label", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Runs", "runs", TM_CELL_COUNT },
    };
    const long long left_out = (long long)tm_int(tm_path(content->summary, "left_out.jobs"));

    tm_say_table(content, &(struct tm_table){ .id = "jobs",
                                              .caption = "Jobs, with the newest run of each",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "jobs"),
                                              .paper_rows = 60 });
    if (left_out > 0)
        tm_say(content, TM_TONE_QUIET, "%lld more job%s %s not listed.", left_out, tm_format_plural(left_out),
               left_out == 1 ? "is" : "are");
}

static const char *nothing(const struct tm_value *night)
{
    return tm_if_none(night, "jobs", "the history is empty");
}

const struct tm_section tm_night_jobs_section = { "jobs", "Jobs", "jobs", say_jobs, nothing };
