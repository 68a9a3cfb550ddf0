/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that are judged, those of them that failed, and those that are dated ahead. */
#include <math.h>
#include <string.h>

#include "reports/history/night.h"

struct lists {
    struct night *night;
    struct tm_value *runs, *failures, *ahead;
};

/* What both lists tell of a run. */
static struct tm_value *add_run(struct tm_value *list, const struct night *night, const struct tm_history_run *row)
{
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_text(to, "job", row->keys.job, strlen(row->keys.job));
    tm_add_known(to, "run", row->name, "it has no name");
    tm_add_string(to, "id", row->id);
    tm_add_string(to, "night", row->keys.night);
    tm_add_int(to, "when_ns", row->keys.when_ns);
    tm_add_string(to, "status", row->status);
    night_add_link(to, "report", night, row->report);
    tm_add_known(to, "message", row->message, "it did not fail");
    return to;
}

static void add_details(struct tm_value *to, const struct tm_history_run *row)
{
    tm_add_known(to, "revision", row->keys.revision, "it is not known");
    tm_add_known(to, "label", row->keys.label, "none was given");
    tm_add_known(to, "training", row->keys.training, "it is not of a training run");
    if (row->keys.step >= 0)
        tm_add_int(to, "step", row->keys.step);
    else
        tm_add_null(to, "step", "it is not of a training run");
    tm_add_known(to, "platform", row->platform, "it is not known");
    tm_add_known(to, "model", row->model, "it is not known");
    night_add_number(to, "hosts", row->hosts >= 0 ? (double)row->hosts : NAN, "it is not known");
    night_add_number(to, "devices", row->devices >= 0 ? (double)row->devices : NAN, "it is not known");
    if (tm_history_is_current(row))
        night_add_number(to, "step_time_ps", row->figure[0], "it has none");
    else
        tm_add_null(to, "step_time_ps", "an older tracemill defined it differently");
    tm_add_known(to, "severity", row->severity, "it has no verdict");
    tm_add_known(to, "verdict", row->verdict, "it has no verdict");
    tm_add_known(to, "gates", row->gates, "it was not judged");
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct lists *lists = to;
    struct night *night = lists->night;
    const enum tm_result_status status = tm_result_status_of(row->status);

    if (!tm_history_is_judged(night->judged, row))
        return TM_OK;
    night->of_night++;
    night->of_others += strcmp(row->keys.night, night->date) != 0;
    night->status[status]++;
    if (tm_length(lists->runs) < night->options->rows)
        add_details(add_run(lists->runs, night, row), row);
    if (status != TM_RESULT_DONE && tm_length(lists->failures) < night->options->rows)
        (void)add_run(lists->failures, night, row);
    return tm_doc_status(night->doc);
}

static tm_status take_ahead(void *to, const struct tm_history_run *row)
{
    struct lists *lists = to;

    if (tm_length(lists->ahead) < lists->night->options->rows)
        (void)add_run(lists->ahead, lists->night, row);
    return tm_doc_status(lists->night->doc);
}

tm_status night_add_runs(struct night *night)
{
    struct lists lists = { .night = night };
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .judged = night->judged },
                                  ahead = { .order = TM_HISTORY_BY_JOB, .after = night->judged->until };
    tm_status st = TM_OK;

    lists.failures = tm_add_array(night->root, "failures");
    lists.runs = tm_add_array(night->root, "runs");
    lists.ahead = tm_add_array(night->root, "dated_ahead");
    if (*night->date)
        st = tm_history_visit(night->source, &query, take_run, &lists);
    return st == TM_OK ? tm_history_visit(night->source, &ahead, take_ahead, &lists) : st;
}
