/* SPDX-License-Identifier: Apache-2.0 */
/* The brief of a run, a comparison or a night (reports/brief). */
#include "pipeline/doc/doc_fields.h"
#include "pipeline/doc/run_figures.h"

/* clang-format off */

static const struct tm_doc_field tool[] = {
    { "name", TM_DOC_WORD, .title = "Name", .words = "tracemill" },
    { "version", TM_DOC_WORD | TM_DOC_OWN, .title = "Version" },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "verdict", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Set for a comparison.",
      .words = "regression|improvement|no_change|inconclusive" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { "text", TM_DOC_PROSE, .title = "Text" },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "hosts", TM_DOC_COUNT, .title = "Hosts" },
    { "devices", TM_DOC_COUNT, .title = "Devices", .help = "Devices with activity." },
    { "platform", TM_DOC_WORD, .title = "Platform", .words = "gpu|tpu|cpu|none" },
    { "device_model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device model" },
    { "versions", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Versions" },
    { "files", TM_DOC_COUNT, .title = "Files" },
    { "damaged_files", TM_DOC_COUNT, .title = "Damaged files", .help = "Damaged, truncated or missing." },
    { "bytes", TM_DOC_BYTES, .title = "Size" },
    { "events_read", TM_DOC_COUNT, .title = "Events read" },
    { "events_used", TM_DOC_COUNT, .title = "Events used in figures" },
    { .key = NULL },
};

static const struct tm_doc_field missing[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .help = "file, profiler (a warning from it), a mark of the summary's "
      "coverage, or the name of a loss." },
    { "text", TM_DOC_PROSE, .title = "Text" },
    { .key = NULL },
};

static const struct tm_doc_field parts[] = {
    { "id", TM_DOC_WORD, .help = "compute, collectives, copy\\_DIRECTION, idle\\_CAUSE." },
    { "title", TM_DOC_WORD, .title = "Part" },
    { "time_ps", TM_DOC_TIME, .title = "Time", .help = "Over all devices." },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field steps[] = {
    { "source", TM_DOC_WORD, .title = "Step source", .help = "What defines the boundaries of the steps; session: no "
      "steps are marked, and the session counts as one.", .words = "host|group|tpu|module|session" },
    { "count", TM_DOC_COUNT, .title = "Steps" },
    { "analyzed", TM_DOC_COUNT, .title = "Analyzed" },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Min" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Max" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Total", .help = "All analyzed steps on all devices." },
    { "parts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The largest part first.", .fields = parts },
    { .key = NULL },
};

static const struct tm_doc_field critical_path[] = {
    { "id", TM_DOC_WORD, .help = "compute, collective, copy, or a cause of idle time." },
    { "title", TM_DOC_WORD, .title = "Kind" },
    { "time_ps", TM_DOC_TIME, .title = "Time", .help = "On the critical paths of all analyzed steps." },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "saved_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Saved", .help = "Of the length of all analyzed steps, if they "
      "are replayed without this kind of work." },
    { .key = NULL },
};

static const struct tm_doc_field key_figures[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_WORD, .title = "Title" },
    { "value", TM_DOC_NUMBER, .title = "Value", .help = "In its unit; times are integer picoseconds." },
    { "unit", TM_DOC_WORD, .title = "Unit", .help = "ps, bytes, %, count ..." },
    { "band", TM_DOC_WORD, .title = "Band", .words = "good|warning|bad|unknown" },
    { "good", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Good" },
    { "bad", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Bad" },
    { .key = NULL },
};

static const struct tm_doc_field not_recorded[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_WORD, .title = "Title" },
    { "reason", TM_DOC_PROSE, .title = "Reason" },
    { .key = NULL },
};

static const struct tm_doc_field findings[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .title = "Id" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "at_stake_ps", TM_DOC_TIME | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "Potential savings." },
    { "share_pct", TM_DOC_CHANGE_PCT | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "As a share of the window." },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "For a cause in a comparison: the "
      "change of the mean step." },
    { "explains_pct", TM_DOC_CHANGE_PCT | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "As a share of the change." },
    { "stake", TM_DOC_PROSE, .help = "The change in words." },
    { "evidence", TM_DOC_PROSE, .title = "Evidence" },
    { "advice", TM_DOC_PROSE, .title = "Advice" },
    { .key = NULL },
};

static const struct tm_doc_field failed_checks[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "where", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Where" },
    { .key = NULL },
};

static const struct tm_doc_field checks[] = {
    { "passed", TM_DOC_COUNT, .title = "Passed" },
    { "failed", TM_DOC_COUNT, .title = "Failed" },
    { "not_applicable", TM_DOC_COUNT, .title = "Not applicable" },
    { "failed_checks", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Gates that failed.", .fields = failed_checks },
    { .key = NULL },
};

static const struct tm_doc_field test[] = {
    { "verdict", TM_DOC_WORD, .title = "Verdict", .words = "regression|improvement|no_change|inconclusive" },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "steps|runs|none" },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change, percent" },
    { "low_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Lower end of the 95% interval." },
    { "high_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Upper end." },
    { "p", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "p" },
    { "reason", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why the result is inconclusive." },
    { .key = NULL },
};

static const struct tm_doc_field sides[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .help = "base, new; with several sides new_1, new_2." },
    { "label", TM_DOC_NAME, .title = "Label" },
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "samples", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Steps" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "test", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Of the step time relative to the base.", .fields = test },
    { .key = NULL },
};

static const struct tm_doc_field comparability[] = {
    { "id", TM_DOC_WORD, .title = "What", .words = "program|device_model|device_count|steps|versions" },
    { "same", TM_DOC_WORD, .title = "Same", .words = "yes|no|not_recorded" },
    { "values", TM_DOC_NAME | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "One text per side." },
    { .key = NULL },
};

static const struct tm_doc_field changes[] = {
    { "side", TM_DOC_WORD, .title = "Side" },
    { "id", TM_DOC_WORD, .help = "Like the parts of a step." },
    { "title", TM_DOC_WORD, .title = "Part" },
    { "base_ps", TM_DOC_TIME, .title = "Base", .help = "Per step and device." },
    { "new_ps", TM_DOC_TIME, .title = "New" },
    { "change_ps", TM_DOC_CHANGE, .title = "Change" },
    { "significant", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Significant" },
    { .key = NULL },
};

static const struct tm_doc_field figures[] = {
    { "side", TM_DOC_WORD, .title = "Side" },
    { "id", TM_DOC_WORD, .help = "Its path in the summary." },
    { "title", TM_DOC_WORD, .title = "Title" },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = TM_FIGURE_UNITS, .help = "Times are in "
      "picoseconds." },
    { "base", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Base" },
    { "new", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "New" },
    { "change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change" },
    { "judgement", TM_DOC_WORD, .title = "Assessment", .words = "better|worse" },
    { .key = NULL },
};

static const struct tm_doc_field notes[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "text", TM_DOC_PROSE, .title = "Text" },
    { .key = NULL },
};

static const struct tm_doc_field counts[] = {
    { "runs", TM_DOC_COUNT, .title = "Runs" },
    { "done", TM_DOC_COUNT, .title = "Done" },
    { "partial", TM_DOC_COUNT, .title = "Partial" },
    { "refused", TM_DOC_COUNT, .title = "Refused" },
    { "failed", TM_DOC_COUNT, .title = "Failed" },
    { "missing", TM_DOC_COUNT, .title = "Missing" },
    { "jobs", TM_DOC_COUNT, .title = "Jobs" },
    { "worse", TM_DOC_COUNT, .title = "Worse" },
    { "better", TM_DOC_COUNT, .title = "Better" },
    { "same", TM_DOC_COUNT, .title = "Same" },
    { "new", TM_DOC_COUNT, .title = "New" },
    { "not_judged", TM_DOC_COUNT, .title = "Not assessed" },
    { "absent", TM_DOC_COUNT, .title = "Absent" },
    { .key = NULL },
};

static const struct tm_doc_field worse[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_NAME, .help = "The first run of the regression." },
    { "figure", TM_DOC_WORD, .title = "Figure" },
    { "title", TM_DOC_WORD, .title = "Title" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "before", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "Level of the baseline." },
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "In percent; for a share, in points." },
    { "before_text", TM_DOC_PROSE, .help = "The change in words; so are the next members." },
    { "value_text", TM_DOC_PROSE, .title = "Value" },
    { "change_text", TM_DOC_PROSE, .title = "Change" },
    { "since", TM_DOC_WORD, .help = "Night of its first run." },
    { "regression", TM_DOC_WORD, .help = "Id of the regression." },
    { .key = NULL },
};

static const struct tm_doc_field failures[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_NAME, .title = "Run" },
    { "status", TM_DOC_WORD, .title = "Status" },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Message" },
    { .key = NULL },
};

static const struct tm_doc_field jobs[] = {
    { "job", TM_DOC_NAME, .title = "Job" },
    { "run", TM_DOC_NAME, .title = "Run", .help = "The newest run: the name of its folder, runs/*/RUN." },
    { "state", TM_DOC_WORD, .title = "State" },
    { "verdict", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Verdict" },
    { .key = NULL },
};

static const struct tm_doc_field commands[] = {
    { "command", TM_DOC_PROSE, .title = "Command" },
    { "purpose", TM_DOC_PROSE, .title = "Purpose" },
    { .key = NULL },
};


#define LIST (TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OPTIONAL)

static const struct tm_doc_field brief_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.brief" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "The program that wrote the brief.", .fields = tool },
    { "kind", TM_DOC_WORD, .help = "The document that the brief summarizes.", .words = "run|comparison|batch" },
    { "run", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Run" },
    { "verdict", TM_DOC_OBJECT, .help = "The verdict in one sentence.", .fields = verdict },
    { "partial", TM_DOC_BOOL, .help = "An input is damaged or missing." },
    { "redacted", TM_DOC_BOOL, .help = "Names are replaced by pseudonyms." },
    { "input", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .help = "For a run, like the next members: what was read.",
      .fields = input },
    { "missing", LIST, .help = "What was not read, or not completely.", .fields = missing },
    { "steps", TM_DOC_OBJECT | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "The step time and its parts.",
      .fields = steps },
    { "critical_path", LIST, .help = "The three kinds of work with the most time on the critical path.",
      .fields = critical_path },
    { "key_figures", LIST, .help = "Key figures with a value.", .fields = key_figures },
    { "not_recorded", LIST, .help = "Key figures without a value.", .fields = not_recorded },
    { "sides", LIST, .help = "For a comparison, like the next members: the base, then the new sides.",
      .fields = sides },
    { "comparability", LIST, .help = "What the runs have in common.", .fields = comparability },
    { "changes", LIST, .help = "Parts of a step that changed, the largest change first.", .fields = changes },
    { "figures", LIST, .help = "Figures that improved or regressed.", .fields = figures },
    { "night", TM_DOC_WORD | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "For a batch, like the next members: its last "
      "night." },
    { "counts", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .help = "Runs and jobs by state.", .fields = counts },
    { "gates", TM_DOC_COUNT | TM_DOC_MAP | TM_DOC_OPTIONAL, .pattern = "^[a-z_]+$",
      .help = "Runs by gate result; missing without gates." },
    { "worse", LIST, .help = "Open regressions, those of the last night first.", .fields = worse },
    { "failures", LIST, .help = "Runs that are not done.", .fields = failures },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The largest first.", .fields = findings, .most = 5 },
    { "jobs", LIST, .help = "The worst first.", .fields = jobs },
    { "checks", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .help = "For a run: whether its figures are consistent.",
      .fields = checks },
    { "notes", LIST, .help = "For a comparison: what limits it.", .fields = notes },
    { "commands", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Commands that show more.", .fields = commands },
    { "left_out", TM_DOC_COUNT | TM_DOC_MAP, .pattern = "^[a-z_]+$", .help = "Number of rows that did not fit, per "
      "list; no member means none." },
    { .key = NULL },
};

const struct tm_doc_schema tm_brief_schema = {
    .name = "brief",
    .title = "tracemill brief",
    .page_path = "schemas/BRIEF.md",
    .page =
        "# The brief, field by field\n"
        "\n"
        "Output of `tracemill brief --json`: one line of at most 8,192 bytes. `brief.schema.json` is the formal description; this\n"
        "page is for people. Both are generated from the tables in `pipeline/doc/brief_fields.c` (`make schemas`): edit those.\n"
        "Conventions as in SUMMARY.md: an unknown figure is `null`, and `why` beside it has the reason under the same\n"
        "key. Texts from the input are cut after at most 280 bytes. Lists that are too long end early; `left_out` has the number of missing rows.\n",
    .fields = brief_fields,
};

/* clang-format on */
