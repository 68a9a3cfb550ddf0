/* SPDX-License-Identifier: Apache-2.0 */
/* A night: what a batch has found of the runs of a night.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

#define NIGHT "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define PATH_BELOW "^(?!/)(?!(.*/)?\\.\\.(/|$))[A-Za-z0-9._/-]+$" /* the folder of the document */
#define STATUSES "done|partial|refused|failed|missing"

static const struct tm_doc_field settings[] = {
    { "rows", TM_DOC_COUNT, .help = "Maximum for each list. Jobs and runs: 2,000, unless this is less than 500." },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "partial", TM_DOC_BOOL, .title = "Partial" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .help = "The night." },
    { .key = NULL },
};

static const struct tm_doc_field figures[] = {
    { "id", TM_DOC_WORD, .title = "Id", .pattern = "^[a-z0-9_]+$" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "unit", TM_DOC_WORD, .help = "Empty: a count.", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "better", TM_DOC_WORD, .title = "Better", .words = "lower|higher" },
    { "least_change", TM_DOC_NUMBER | TM_DOC_NOT_NEGATIVE, .help = "In percent; for a share, in points." },
    { .key = NULL },
};

static const struct tm_doc_field findings_link[] = {
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "href", TM_DOC_PATH, .help = "A path relative to the folder of the document.", .pattern = PATH_BELOW },
    { .key = NULL },
};

static const struct tm_doc_field finding[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "night_failed|night_gates|night_worse|night_absent|night_ahead|night_machine" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "warning|critical" },
    { "title", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "limit", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Limit" },
    { "evidence", TM_DOC_PROSE | TM_DOC_LIST, .title = "Evidence", .most = 16 },
    { "at_stake_ps", TM_DOC_TIME, .help = "Per step." },
    { "stake_of", TM_DOC_WORD, .title = "Savings of", .words = "a step" },
    { "share_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Share" },
    { "cause", TM_DOC_PROSE, .title = "Cause" },
    { "fix", TM_DOC_PROSE | TM_DOC_LIST, .title = "Recommendations" },
    { "where", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Where", .fields = tm_doc_where },
    { "link", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Link to the report.", .fields = findings_link },
    { .key = NULL },
};

static const struct tm_doc_field changed[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "id", TM_DOC_NAME, .help = "Of its run." },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .help = "A path relative to the folder of the "
      "document.",
      .pattern = PATH_BELOW },
    { "figure", TM_DOC_WORD, .help = "Id of the figure.", .pattern = "^[a-z0-9_]+$" },
    { "title", TM_DOC_WORD, .title = "Figure" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "value", TM_DOC_NUMBER, .title = "Value", .help = "The figure of the newest run of the night." },
    { "before", TM_DOC_NUMBER, .help = "Level of the baseline: of the job's runs that belong to no regression." },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "In percent; for a share, in points." },
    { "band", TM_DOC_NUMBER | TM_DOC_NOT_NEGATIVE, .help = "A single run that differs by less is within the usual "
      "variation: the minimum of the figure, or what chance allows." },
    { "runs", TM_DOC_COUNT, .title = "Baseline runs", .help = "Values of the baseline, of which the last 80 count; the "
      "runs of one night are one value.", .least = 3, .most = 80 },
    { "value_text", TM_DOC_WORD, .title = "Now" },
    { "before_text", TM_DOC_WORD, .title = "Before" },
    { "change_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Change" },
    { "band_text", TM_DOC_WORD, .title = "Usual" },
    { .key = NULL },
};

static const struct tm_doc_field regressions[] = {
    { "regression", TM_DOC_NAME, .title = "Id", .help = "Stays the same as long as it is in the ledger.",
      .pattern = "^r-[0-9a-f]{10}$" },
    { "job", TM_DOC_NAME, .title = "Job" },
    { "figure", TM_DOC_WORD, .help = "Id of the figure.", .pattern = "^[a-z0-9_]+$" },
    { "title", TM_DOC_WORD, .title = "Figure" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "state", TM_DOC_TERM, .title = "State", .help = "Opened by a run of this page, or open since an earlier one; "
      "unconfirmed: shown by too few runs for an alarm; acknowledged: known, no alarm; recovered: the figure is back; "
      "fixed: since another revision; accepted: the new level is the baseline; dismissed: it usually varies by as much; "
      "withdrawn: no longer shown; ended: no run in 30 nights.",
      .words = "opened|open|unconfirmed|acknowledged|recovered|fixed|accepted|dismissed|withdrawn|ended" },
    { "kind", TM_DOC_TERM, .title = "Kind", .help = "A step from one run to the next, or a drift over many.",
      .words = "step|drift" },
    { "before", TM_DOC_NUMBER, .help = "Level of the job's runs that belong to no regression." },
    { "after", TM_DOC_NUMBER, .help = "Median of the last three runs." },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "In percent; for a share, in points." },
    { "score", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "How clear the change was when it was found: 1 is the limit." },
    { "since", TM_DOC_WORD, .title = "Since", .help = "Night of its first run.", .pattern = "^" NIGHT "$" },
    { "opened", TM_DOC_WORD, .title = "Detected", .help = "Night of the run that showed it.", .pattern = "^" NIGHT "$" },
    { "closed", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Closed", .help = "Night of the run that closed it; of one "
      "that was withdrawn or ended, the night of that page.",
      .pattern = "^" NIGHT "$" },
    { "runs", TM_DOC_COUNT, .title = "Runs", .help = "Good runs since then.", .least = 1 },
    { "id", TM_DOC_NAME, .title = "First run" },
    { "good_id", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Last good run", .help = "Compare the first run with it." },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .help = "Of its first run.", .pattern = PATH_BELOW },
    { "good_report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Last good report", .pattern = PATH_BELOW },
    { "revision", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Revision", .help = "Of the source, in its first run." },
    { "revision_before", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Previous revision", .help = "In the last good run." },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device" },
    { "cause", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Cause", .help = "What a comparison of its first run with the "
      "last good one found first." },
    { "reason", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Reason", .help = "Of the decision about it, or why it was "
      "withdrawn or ended." },
    { "decided", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Decided", .help = "Day of the decision.",
      .pattern = "^" NIGHT "$" },
    { "before_text", TM_DOC_WORD, .title = "Before" },
    { "after_text", TM_DOC_WORD, .title = "Now" },
    { "change_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Change" },
    { .key = NULL },
};

static const struct tm_doc_field revisions[] = {
    { "revision_before", TM_DOC_NAME, .title = "Last good revision" },
    { "revision", TM_DOC_NAME, .title = "First slow revision" },
    { "jobs", TM_DOC_COUNT, .title = "Jobs", .least = 2 },
    { "regressions", TM_DOC_COUNT, .title = "Regressions", .least = 2 },
    { "names", TM_DOC_PROSE, .title = "Which", .help = "The first ones." },
    { .key = NULL },
};

static const struct tm_doc_field unstable[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "spread_pct", TM_DOC_PERCENT, .title = "Spread of its median step time", .help = "1.4826 times the median distance of its "
      "last runs from their median, relative to it." },
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "remedy", TM_DOC_PROSE, .title = "What would make it stable" },
    { .key = NULL },
};

static const struct tm_doc_field machines[] = {
    { "host", TM_DOC_NAME, .title = "Host" },
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "jobs", TM_DOC_COUNT, .title = "Jobs" },
    { "slower_pct", TM_DOC_PERCENT, .title = "Slower by", .help = "Than runs on other hosts before and after; the median, "
      "of several jobs the largest." },
    { "night", TM_DOC_WORD, .title = "Last run", .pattern = "^" NIGHT "$" },
    { .key = NULL },
};

static const struct tm_doc_field judged_figure[] = {
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "before", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Before", .help = "Level of the baseline." },
    { "band", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Usual" },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Change", .help = "Change from it." },
    { "state", TM_DOC_WORD, .title = "State", .words = "worse|better|same|not_judged" },
    { .key = NULL },
};

static const struct tm_doc_field job[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "state", TM_DOC_TERM, .title = "State", .help = "The newest run of the night compared with the previous runs; "
      "worse: a figure regressed and is not back; missing: the job ran on at least four of the previous seven nights, but not in this one.",
      .words = "failed|worse|absent|partial|better|new|not_judged|same" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .help = "Name of the run." },
    { "id", TM_DOC_NAME, .title = "Id" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^(" NIGHT ")?$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "status", TM_DOC_WORD, .title = "Status", .words = STATUSES },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .pattern = PATH_BELOW },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Message" },
    { "revision", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Revision" },
    { "label", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Label" },
    { "labels", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Labels", .help = "Of --label KEY=VALUE: owner=alice pool=a. "
      "A value with a space, a quotation mark, a backslash or \"=\" is a JSON string: pool=\"a b\"." },
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Platform" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device" },
    { "hosts", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Hosts" },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "severity", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Verdict" },
    { "verdict", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Verdict" },
    { "finding", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "First finding", .help = "The first finding." },
    { "gates", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Gates" },
    { "runs", TM_DOC_COUNT, .title = "Runs", .help = "In the history." },
    { "recent", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Last runs", .help = "Median step "
      "times of its last good runs on the hardware of the newest one, oldest first.", .least = 2, .most = 30 },
    { "figures", TM_DOC_OBJECT | TM_DOC_MAP, .help = "Figures that are assessed, by their ids in figures of the "
      "document.",
      .fields = judged_figure, .pattern = "^[a-z0-9_]+$" },
    { .key = NULL },
};

static const struct tm_doc_field trends_points[] = {
    { "at", TM_DOC_INTEGER, .help = "Time in nanoseconds, or the step." },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "status", TM_DOC_WORD, .title = "Status", .words = STATUSES },
    { .key = NULL },
};

static const struct tm_doc_field trends_changes[] = {
    { "at", TM_DOC_COUNT, .help = "Index among the points: the first of the new level." },
    { "state", TM_DOC_WORD, .title = "State", .words = "worse|better|other" },
    { "before", TM_DOC_NUMBER, .title = "Before" },
    { "after", TM_DOC_NUMBER, .title = "After" },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Change" },
    { "p", TM_DOC_P, .title = "p" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^(" NIGHT ")?$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "id", TM_DOC_NAME, .title = "Id" },
    { "revision", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Revision" },
    { "revision_before", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Previous revision" },
    { .key = NULL },
};

static const struct tm_doc_field trend[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "figure", TM_DOC_WORD, .help = "Id of the figure.", .pattern = "^[a-z0-9_]+$" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "axis", TM_DOC_WORD, .title = "Axis", .words = "time|step" },
    { "training", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "The run that the steps belong to." },
    { "state", TM_DOC_WORD, .help = "For the newest run, by time, as before, band and runs.",
      .words = "worse|better|same|not_judged" },
    { "before", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Before" },
    { "band", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Band" },
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "points", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The last ones.", .fields = trends_points, .most = 400 },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = trends_changes, .most = 32 },
    { "left_out", TM_DOC_COUNT, .help = "Older runs." },
    { .key = NULL },
};

static const struct tm_doc_field change_points[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "figure", TM_DOC_WORD, .title = "Figure", .pattern = "^[a-z0-9_]+$" },
    { "title", TM_DOC_WORD, .title = "Figure" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "axis", TM_DOC_TERM, .title = "Over", .words = "time|step" },
    { "training", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Training" },
    { "state", TM_DOC_TERM, .title = "Direction", .help = "Whether the new level is worse or better.",
      .words = "worse|better|other" },
    { "before", TM_DOC_NUMBER, .help = "Median of the runs before the change, back to the previous change." },
    { "after", TM_DOC_NUMBER, .help = "Median of the runs after it, up to the next change." },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Change" },
    { "p", TM_DOC_P, .title = "p" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^(" NIGHT ")?$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Training step" },
    { "id", TM_DOC_NAME, .title = "First run", .help = "Of the first run at the new level." },
    { "revision", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Revision", .help = "Of the source, in the first run at the "
      "new level." },
    { "revision_before", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Previous revision", .help = "In the last run at the "
      "old level." },
    { "before_text", TM_DOC_WORD, .title = "Level before" },
    { "after_text", TM_DOC_WORD, .title = "Level after" },
    { "change_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Change" },
    { .key = NULL },
};

static const struct tm_doc_field failures[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Run" },
    { "id", TM_DOC_NAME, .title = "Id" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^" NIGHT "$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "status", TM_DOC_WORD, .title = "Status", .words = STATUSES },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .pattern = PATH_BELOW },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Why" },
    { .key = NULL },
};

static const struct tm_doc_field runs[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Run" },
    { "id", TM_DOC_NAME, .title = "Id" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^" NIGHT "$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "status", TM_DOC_WORD, .title = "Status", .words = STATUSES },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .pattern = PATH_BELOW },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Message" },
    { "revision", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Revision" },
    { "label", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Label" },
    { "training", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Training run" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Training step" },
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Platform" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device" },
    { "hosts", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Hosts" },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "step_time_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Median step time" },
    { "severity", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Severity" },
    { "verdict", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Verdict" },
    { "gates", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Gates" },
    { .key = NULL },
};

static const struct tm_doc_field dated_ahead[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Run" },
    { "id", TM_DOC_NAME, .title = "Identifier" },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = "^" NIGHT "$" },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "status", TM_DOC_WORD, .title = "Status", .words = STATUSES },
    { "report", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Report", .pattern = PATH_BELOW },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Message" },
    { .key = NULL },
};

static const struct tm_doc_field counts[] = {
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "done", TM_DOC_COUNT, .title = "Done" },
    { "partial", TM_DOC_COUNT, .title = "Partial" },
    { "refused", TM_DOC_COUNT, .title = "Refused" },
    { "failed", TM_DOC_COUNT, .title = "Failed" },
    { "missing", TM_DOC_COUNT, .help = "The six counts add up to runs." },
    { "other_nights", TM_DOC_COUNT, .help = "Of these runs, those from other nights." },
    { "dated_ahead", TM_DOC_COUNT, .title = "Future dates" },
    { "jobs", TM_DOC_COUNT, .help = "Jobs that ran." },
    { "worse", TM_DOC_COUNT, .help = "With an open regression that is not acknowledged." },
    { "better", TM_DOC_COUNT, .title = "Better" },
    { "same", TM_DOC_COUNT, .title = "Same" },
    { "new", TM_DOC_COUNT, .title = "New" },
    { "not_judged", TM_DOC_COUNT, .help = "Failed, partial, or too few previous runs." },
    { "absent", TM_DOC_COUNT, .title = "Absent" },
    { "regressions_open", TM_DOC_COUNT, .title = "Open regressions" },
    { "regressions_opened", TM_DOC_COUNT, .help = "Of these, opened by a run of this page." },
    { "regressions_unconfirmed", TM_DOC_COUNT, .help = "Shown by too few runs yet: not among them." },
    { "regressions_acknowledged", TM_DOC_COUNT, .help = "Open, but known: not among them." },
    { "regressions_closed", TM_DOC_COUNT, .help = "Recovered, fixed or accepted with a run of this page; "
      "dismissed with one, withdrawn, or ended, after an earlier page had it as open." },
    { "history_runs", TM_DOC_COUNT, .title = "History runs" },
    { "history_jobs", TM_DOC_COUNT, .title = "History jobs" },
    { "history_older_runs", TM_DOC_COUNT, .help = "From version 1: their figures are defined differently and are not "
      "compared." },
    { .key = NULL },
};

static const struct tm_doc_field kpis[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "runs|failed|worse|better|step_change|absent|new" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|bytes|%|FLOP/s|bytes/s|count|" },
    { "band", TM_DOC_WORD, .title = "Band", .words = "good|warning|bad|info|unknown" },
    { "finding", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "For a figure outside its band, id of the finding that explains "
      "it.", .words = "night_failed|night_worse|night_absent" },
    { "good", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Good" },
    { "bad", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Bad" },
    { "definition", TM_DOC_PROSE, .title = "Definition" },
    { .key = NULL },
};

static const struct tm_doc_field gate[] = {
    { "job", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Job" },
    { "id", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Id" },
    { "status", TM_DOC_WORD, .title = "Result", .words = "failed|unknown" },
    { "figure", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Path in the summary" },
    { "title", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Figure" },
    { "value_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Value" },
    { "limit_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Limit" },
    { "baseline_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Baseline" },
    { "reason", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Why" },
    { .key = NULL },
};

static const struct tm_doc_field gates[] = {
    { "gate_file", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Gate file" },
    { "baseline", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Baseline" },
    { "counts", TM_DOC_COUNT | TM_DOC_MAP, .help = "Runs, by result." },
    { "list", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Runs that did not pass.", .fields = gate },
    { .key = NULL },
};

static const struct tm_doc_field left_out[] = {
    { "jobs", TM_DOC_COUNT, .title = "Jobs" },
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "dated_ahead", TM_DOC_COUNT, .title = "Future dates" },
    { "regressions", TM_DOC_COUNT, .title = "Regressions" },
    { "better", TM_DOC_COUNT, .title = "Better" },
    { "change_points", TM_DOC_COUNT, .title = "Change points" },
    { "jobs_without_trend", TM_DOC_COUNT, .title = "Jobs without trend" },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { .key = NULL },
};

static const struct tm_doc_field night_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.night" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .title = "Tool", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .title = "Report", .fields = tm_doc_report },
    { "settings", TM_DOC_OBJECT, .title = "Settings", .fields = settings },
    { "input", TM_DOC_OBJECT, .title = "Input", .fields = input },
    { "night", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "\"2026-11-21\"; null if the history is empty, or all dates are "
      "in the future.", .pattern = "^" NIGHT "$" },
    { "first_run", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "Id of the oldest run in the history, by which feed.atom tells "
      "batches apart." },
    { "figures", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Figures by which jobs are assessed.", .fields = figures },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Failures, jobs that regressed (the largest change first, "
      "median step times before other figures), missing jobs.", .fields = finding, .most = 50 },
    { "regressions", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Regressions that are open, whatever night opened them; "
      "those that a run of this page opened first.", .fields = regressions },
    { "revisions", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Of these, regressions of several jobs that started between the "
      "same two revisions.", .fields = revisions },
    { "unconfirmed", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Regressions that fewer runs show than --confirm asks for: "
      "no alarm yet.", .fields = regressions },
    { "acknowledged", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Regressions that are open and acknowledged.",
      .fields = regressions },
    { "closed", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Regressions that a run of this page closed, and those that "
      "were withdrawn or ended.",
      .fields = regressions },
    { "better", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Figures that improved this night.",
      .fields = changed },
    { "jobs", TM_DOC_OBJECT | TM_DOC_LIST, .help = "For its newest run; in the order of the states.", .fields = job },
    { "trends", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Of 24 jobs.", .fields = trend, .most = 48 },
    { "change_points", TM_DOC_OBJECT | TM_DOC_LIST, .help = "By job; the newest first.", .fields = change_points },
    { "failures", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Runs that are not done, including those with damaged input.",
      .fields = failures },
    { "runs", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Runs that are assessed.", .fields = runs },
    { "dated_ahead", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Runs in the history dated more than a day ahead of the "
      "clock: not compared with any other.", .fields = dated_ahead },
    { "counts", TM_DOC_OBJECT, .title = "Counts", .fields = counts },
    { "kpis", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Key figures", .fields = kpis },
    { "unstable", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Jobs whose median step time varies too much to assess it closely.",
      .fields = unstable },
    { "machines", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Hosts on which jobs are slow each time.", .fields = machines },
    { "gates", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Null: there are no gates.", .fields = gates },
    { "left_out", TM_DOC_OBJECT, .help = "Rows beyond \"rows\".", .fields = left_out },
    { "verdict", TM_DOC_OBJECT, .title = "Verdict", .fields = verdict },
    { .key = NULL },
};

const struct tm_doc_schema tm_night_schema = {
    .name = "night",
    .title = "tracemill night",
    .page_path = "schemas/NIGHT.md",
    .definitions = "docs/night.md",
    .page =
        "# index.json of a batch, field by field\n"
        "\n"
        "The result of `tracemill batch merge` for the last night and for runs of other nights that were merged with it\n"
        "(docs/night.md, \"Runs on the page\"); `index.html` and the other files are created from it.\n"
        "`night.schema.json` is the formal description; docs/night.md defines a regression and a change of level.\n"
        "Conventions as in SUMMARY.md: an unknown value is `null`, and `why` beside it has the reason under the\n"
        "same key. Times are picoseconds if the unit is \"ps\", dates nanoseconds since 1970.\n"
        "\n"
        "`report` and `href` are paths relative to the folder of the document, with the characters `A-Za-z0-9._/-` only.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/night_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = night_fields,
};

/* clang-format on */
