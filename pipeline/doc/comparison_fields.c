/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison: what compare finds.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"
#include "pipeline/doc/run_figures.h"

/* clang-format off */

static const struct tm_doc_field settings[] = {
    { "rows", TM_DOC_COUNT, .help = "Maximum for each table." },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "partial", TM_DOC_BOOL, .help = "Set if any run is redacted." },
    { "run", TM_DOC_PATH, .help = "\"B, C against A\"." },
    { .key = NULL },
};

static const struct tm_doc_field compared_versions[] = {
    { "jax", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "JAX" },
    { "jaxlib", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "jaxlib" },
    { "cuda", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "CUDA" },
    { "cuda_runtime", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "CUDA runtime" },
    { "driver", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Driver" },
    { "rocm", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "ROCm" },
    { "libtpu", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "libtpu" },
    { .key = NULL },
};

static const struct tm_doc_field compared_steps[] = {
    { "source", TM_DOC_WORD, .title = "Source", .words = "host|group|tpu|module|session" },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "period|host_span" },
    { "chosen", TM_DOC_COUNT, .title = "Steps" },
    { "samples", TM_DOC_COUNT, .title = "Samples" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median step", .help = "Median of the analyzed steps." },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Stddev" },
    { "cv_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Variation", .help = "Standard deviation as a share of the "
      "mean." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_compared_run[] = {
    { "path", TM_DOC_PATH, .title = "Path" },
    { "kind", TM_DOC_WORD, .title = "Read from", .help = "A profile, or a summary.json created from it.",
      .words = "profile|summary" },
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Run" },
    { "fingerprint", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Fingerprint", .help = "Fingerprint of the contents of "
      "all files: runs with the same fingerprint are identical.", .pattern = "^[0-9a-f]{16}$" },
    { "partial", TM_DOC_BOOL, .title = "Damaged", .help = "The input is truncated or damaged; figures are based on "
      "what could be read." },
    { "platform", TM_DOC_WORD, .title = "Platform", .words = "gpu|tpu|cpu|none" },
    { "device_model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device" },
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "hosts", TM_DOC_COUNT, .title = "Hosts" },
    { "framework", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Framework" },
    { "versions", TM_DOC_OBJECT, .help = "From the first host.", .fields = compared_versions },
    { "measured_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Measured", .help = "Time that the benchmark (--results) "
      "reports for the run." },
    { "steps", TM_DOC_OBJECT, .help = "As in its summary.", .fields = compared_steps },
    { .key = NULL },
};

static const struct tm_doc_field sides[] = {
    { "id", TM_DOC_WORD, .help = "base, then new or new_1, new_2 and so on.", .pattern = "^(base|new|"
      "new_[1-9][0-9]?)$" },
    { "label", TM_DOC_NAME | TM_DOC_FILLED, .title = "Side" },
    { "runs", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Runs", .fields = tm_doc_compared_run, .least = 1 },
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "Null if the runs differ." },
    { "device_model", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "Null if the runs differ." },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "Null if the runs differ." },
    { "measured_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Measured by the benchmark",
      .help = "Time that the benchmark (--results) reports for the run." },
    { "samples", TM_DOC_COUNT, .title = "Samples", .help = "Steps with a duration, over all runs of the side." },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean", .help = "Over the step times of the analyzed steps; "
      "with several runs, the mean of their values." },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Min" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Max" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Standard deviation", .help = "Over all steps of the side." },
    { "cv_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Variation", .help = "As a share of the mean." },
    { "between_runs_cv_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Between runs", .help = "Spread between the "
      "medians of the runs, as a share of their mean." },
    { "samples_ps", TM_DOC_TIME | TM_DOC_LIST, .help = "In order, run after run.", .most = 4096 },
    { .key = NULL },
};

static const struct tm_doc_field answer[] = {
    { "same", TM_DOC_WORD, .title = "Same", .words = "yes|no|not_recorded" },
    { "values", TM_DOC_VALUE | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "One per side.", .least = 2 },
    { .key = NULL },
};

static const struct tm_doc_field comparability[] = {
    { "program", TM_DOC_OBJECT, .help = "The module with the most device time.", .fields = answer },
    { "device_model", TM_DOC_OBJECT, .help = "For other vendors or platforms, or if no model is recorded.",
      .fields = answer },
    { "device_count", TM_DOC_OBJECT, .title = "Device count", .fields = answer },
    { "steps", TM_DOC_OBJECT, .help = "Analyzed.", .fields = answer },
    { "versions", TM_DOC_OBJECT, .title = "Versions", .fields = answer },
    { .key = NULL },
};

static const struct tm_doc_field middle_test[] = {
    { "method", TM_DOC_WORD, .title = "Method", .words = "permutation|mann_whitney|welch_effective|rank_effective|"
      "welch|none" },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change" },
    { "low_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "95% interval." },
    { "high_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "95% interval." },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .help = "Adjusted for both tests." },
    { "changed", TM_DOC_BOOL | TM_DOC_OR_NULL, .help = "Null if it is not tested." },
    { "run_spread_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Run-to-run variation of the same program; null "
      "if unknown." },
    { .key = NULL },
};

static const struct tm_doc_field tests[] = {
    { "side", TM_DOC_WORD, .title = "Side", .pattern = "^(base|new|new_[1-9][0-9]?)$" },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "steps|runs|none" },
    { "verdict", TM_DOC_WORD, .title = "Verdict", .words = "regression|improvement|no_change|inconclusive" },
    { "reason", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why the result is inconclusive." },
    { "changed", TM_DOC_BOOL | TM_DOC_OR_NULL, .help = "Null if the result is inconclusive." },
    { "direction", TM_DOC_WORD, .help = "If not tested: by 1% or more.", .words = "slower|faster|same" },
    { "moved", TM_DOC_WORD, .help = "The figure that shows the change.", .words = "mean|median|both|none" },
    { "method", TM_DOC_WORD, .help = "The figure that decides: the mean, unless only the median changed. Change, "
      "interval and p refer to it.", .words = "permutation|mann_whitney|welch_effective|rank_effective|"
      "welch|none" },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change" },
    { "low_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "From" },
    { "high_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "To" },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p" },
    { "mean", TM_DOC_OBJECT, .title = "Mean", .fields = middle_test },
    { "median", TM_DOC_OBJECT, .title = "Median", .fields = middle_test },
    { "lag1", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "Autocorrelation of the steps of both sides, 0 to 0.99." },
    { "effective_samples", TM_DOC_COUNT | TM_DOC_LIST | TM_DOC_OF_NULLS | TM_DOC_FRACTION,
      .help = "Of the base and the new side.", .least = 2, .most = 2 },
    { "compiling_steps", TM_DOC_COUNT | TM_DOC_LIST | TM_DOC_OF_NULLS | TM_DOC_FRACTION,
      .help = "Of the base and the new side.", .least = 2, .most = 2 },
    { "recorded", TM_DOC_BOOL, .help = "Compiles during steps account for the change of the mean." },
    { "run_spread_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Of that figure." },
    { "within_run_spread", TM_DOC_BOOL, .help = "The change would be significant otherwise." },
    { .key = NULL },
};

static const struct tm_doc_field notes[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "platform|model|basis|source|window|gap_min|framework|devices|partial|"
      "session|redacted|rows|no_test|spread|run_to_run" },
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { .key = NULL },
};

static const struct tm_doc_field waterfalls_parts[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "compute|collectives|copy_h2d|copy_d2h|copy_p2p|copy_d2d|copy_other|"
      "idle_device_wait|idle_launch|idle_compile|idle_input|idle_sync|idle_gc|idle_profiler|idle_host|idle_unrecorded" },
    { "title", TM_DOC_WORD, .title = "Part" },
    { "base_ps", TM_DOC_CHANGE, .title = "Before", .help = "Mean time of that part per step and device." },
    { "new_ps", TM_DOC_CHANGE, .title = "After" },
    { "change_ps", TM_DOC_CHANGE, .title = "Change" },
    { "share_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share of step",
      .help = "The change as a share of the "
      "base's whole step." },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p" },
    { "significant", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Significant", .help = "Whether the change is larger "
      "than noise; empty: not tested." },
    { .key = NULL },
};

static const struct tm_doc_field waterfalls[] = {
    { "side", TM_DOC_WORD, .title = "Side", .pattern = "^(base|new|new_[1-9][0-9]?)$" },
    { "base_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Mean time per step and device: steps.parts.total_ps / steps "
      "/ devices; null without device activity." },
    { "new_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "New" },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "parts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "All 16 parts, in this order; each column adds up to the step "
      "time, to the picosecond.", .fields = waterfalls_parts },
    { .key = NULL },
};

static const struct tm_doc_field timeline_steps[] = {
    { "base_step", TM_DOC_INTEGER, .title = "Step" },
    { "new_step", TM_DOC_INTEGER, .title = "New step", .help = "Differs from base_step only if the runs have no step "
      "number in common." },
    { "base_ps", TM_DOC_TIME, .title = "Before", .help = "Step time; of several hosts the longest." },
    { "new_ps", TM_DOC_TIME, .title = "After" },
    { "change_ps", TM_DOC_CHANGE, .title = "Change" },
    { "pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change %", .help = "Null if the base is 0." },
    { "trace_ps", TM_DOC_MOMENT, .title = "Start", .help = "Where the step starts in the trace, in both runs." },
    { "span_ps", TM_DOC_TIME, .title = "Duration", .help = "Its length there: that of the longer run." },
    { .key = NULL },
};

static const struct tm_doc_field timeline[] = {
    { "file", TM_DOC_WORD, .title = "File" },
    { "steps", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .help = "In time order. The trace has fewer of them if "
      "--max-events ends it.", .fields = timeline_steps, .least = 1 },
    { .key = NULL },
};

static const struct tm_doc_field figures_changes[] = {
    { "change", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Change" },
    { "pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Null if the base is 0." },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p" },
    { "significant", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Significant" },
    { "judgement", TM_DOC_WORD, .help = "Direction of the change; same: within noise; unclear: changed, but with "
      "only one value per run; other: changed, neither better nor worse.",
      .words = "better|worse|same|unclear|other" },
    { .key = NULL },
};

static const struct tm_doc_field figures[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .help = "Path in the summary." },
    { "title", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Title" },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = TM_FIGURE_UNITS },
    { "better", TM_DOC_WORD, .title = "Better", .words = "less|more|neither" },
    { "per_step", TM_DOC_BOOL, .help = "Divided by steps and devices." },
    { "values", TM_DOC_NUMBER | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "One per side.", .least = 2 },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = figures_changes, .least = 1 },
    { .key = NULL },
};

static const struct tm_doc_field geomean[] = {
    { "figures", TM_DOC_WORD | TM_DOC_LIST, .help = "Ids of the times that count: step, compute, exposed "
      "collectives, exposed copies, idle, if they take at least 1% of the base's step on all sides.", .least = 1 },
    { "ratios", TM_DOC_NUMBER | TM_DOC_LIST | TM_DOC_NOT_NEGATIVE, .help = "One per side, 1 for the base.",
      .least = 2 },
    { .key = NULL },
};

static const struct tm_doc_field sum_changes[] = {
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change %" },
    { .key = NULL },
};

static const struct tm_doc_field sums[] = {
    { "values", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Values" },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = sum_changes },
    { .key = NULL },
};

static const struct tm_doc_field row_changes[] = {
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Change" },
    { "pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change %" },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p" },
    { "significant", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Significant" },
    { "status", TM_DOC_TERM, .title = "Became", .help = "New and gone rows exist on one side only; slower and faster "
      "rows changed by more than noise, if the noise is known; unchanged ones are within it.",
      .words = "added|removed|slower|faster|same|unclear" },
    { "from_count_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Due to count", .help = "Effect of more or fewer "
      "executions at the same duration." },
    { "from_length_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Due to duration", .help = "Effect of longer or "
      "shorter executions; the two add up to the change." },
    { .key = NULL },
};

static const struct tm_doc_field table_rows[] = {
    { "name", TM_DOC_NAME, .title = "Name" },
    { "group", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Group", .help = "Category, pass, kind and similar." },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Framework path",
      .help = "Framework path of an operation, or of an op family with * for layer numbers; null if it is not "
        "recorded or there are several." },
    { "match", TM_DOC_WORD, .help = "family: op families, ops.families of the summaries; pattern: by name without "
      "numbers; category: different hardware. The row then combines several names.",
      .words = "name|family|pattern|category|none" },
    { "members", TM_DOC_COUNT, .help = "Largest number of names on a side." },
    { "values", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "Per step and device; null on a side without it." },
    { "counts", TM_DOC_COUNT | TM_DOC_LIST | TM_DOC_OF_NULLS | TM_DOC_FRACTION, .help = "Per step and device." },
    { "bytes", TM_DOC_BYTES | TM_DOC_LIST | TM_DOC_OF_NULLS | TM_DOC_OPTIONAL, .help = "Per step and device." },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = row_changes },
    { .key = NULL },
};

static const struct tm_doc_field table_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "values", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Values" },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = sum_changes },
    { .key = NULL },
};

static const struct tm_doc_field table[] = {
    { "by", TM_DOC_WORD, .help = "Type of the names." },
    { "per", TM_DOC_WORD, .help = "session: for compiles.", .words = "step|session" },
    { "total", TM_DOC_OBJECT, .title = "Total", .fields = sums },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Rows", .fields = table_rows },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = table_rest },
    { .key = NULL },
};

static const struct tm_doc_field devices_rows_changes[] = {
    { "change_ps", TM_DOC_CHANGE, .title = "Change" },
    { "pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change %" },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p" },
    { "significant", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Significant" },
    { .key = NULL },
};

static const struct tm_doc_field devices_rows[] = {
    { "name", TM_DOC_NAME, .title = "Device", .help = "Without the host, if there is only one." },
    { "values", TM_DOC_TIME | TM_DOC_LIST, .help = "Busy time per step." },
    { "compute", TM_DOC_TIME | TM_DOC_LIST, .help = "Time of a step in which the device computes." },
    { "changes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Changes", .fields = devices_rows_changes },
    { .key = NULL },
};

static const struct tm_doc_field devices[] = {
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Rows", .fields = devices_rows },
    { "imbalance_pct", TM_DOC_PERCENT | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "Of compute: max / mean - 1." },
    { .key = NULL },
};

static const struct tm_doc_field findings[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .title = "Id" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { "title", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "limit", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Limit" },
    { "evidence", TM_DOC_PROSE | TM_DOC_LIST | TM_DOC_FILLED, .title = "Evidence" },
    { "at_stake_ps", TM_DOC_TIME, .title = "Potential savings" },
    { "share_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share" },
    { "cause", TM_DOC_PROSE, .title = "Cause" },
    { "fix", TM_DOC_PROSE | TM_DOC_LIST | TM_DOC_FILLED, .title = "Recommendations" },
    { "where", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Where", .fields = tm_doc_where },
    { "side", TM_DOC_WORD, .title = "Side", .pattern = "^(base|new|new_[1-9][0-9]?)$" },
    { "change_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .help = "Of the mean step." },
    { "tested", TM_DOC_BOOL, .title = "Tested" },
    { "explains_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "As a share of that change; null if the step "
      "hardly changed." },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { "verdict", TM_DOC_WORD, .help = "With several sides, the worst in this order.",
      .words = "regression|improvement|no_change|inconclusive" },
    { .key = NULL },
};

static const struct tm_doc_field comparison_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.comparison" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .title = "Tool", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .title = "Report", .fields = tm_doc_report },
    { "settings", TM_DOC_OBJECT, .title = "Settings", .fields = settings },
    { "input", TM_DOC_OBJECT, .title = "Input", .fields = input },
    { "unit", TM_DOC_WORD, .help = "session: a run has no steps.", .words = "step|session" },
    { "sides", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The base, and the sides compared with it.", .fields = sides,
      .least = 2, .most = 16 },
    { "comparability", TM_DOC_OBJECT, .help = "What the sides have in common.", .fields = comparability },
    { "tests", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Whether the step time has changed.",
      .fields = tests, .least = 1 },
    { "notes", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Remarks on the comparison.", .fields = notes },
    { "waterfalls", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Which parts of the step changed.",
      .fields = waterfalls, .least = 1 },
    { "figures", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Figures of the summaries side by side.", .fields = figures },
    { "geomean", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Geometric mean of the ratios of the times that count.",
      .fields = geomean },
    { "kernels", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Total time; sorted by the largest change.",
      .fields = table },
    { "ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Self time; as scopes.", .fields = table },
    { "scopes", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Scopes", .fields = table },
    { "collectives", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Collectives", .fields = table },
    { "transfers", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Transfers", .fields = table },
    { "gaps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Gaps", .fields = table },
    { "compile", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Per session.", .fields = table },
    { "devices", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "By location; null with why if the numbers differ.",
      .fields = devices },
    { "timeline", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .help = "The steps of compare.pftrace, if it was written.",
      .fields = timeline },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Causes for each side in turn: the largest first, then the "
      "unexplained part, then facts, whose change is null.", .fields = findings },
    { "verdict", TM_DOC_OBJECT, .title = "Verdict", .fields = verdict },
    { .key = NULL },
};

const struct tm_doc_schema tm_comparison_schema = {
    .name = "comparison",
    .title = "tracemill comparison",
    .page_path = "schemas/COMPARISON.md",
    .definitions = "docs/compare.md",
    .page =
        "# comparison.json, field by field\n"
        "\n"
        "The result of `tracemill compare`; its page, PDF, text and Markdown are created from it.\n"
        "`comparison.schema.json` is the formal description, [docs/compare.md](../docs/compare.md) defines the\n"
        "figures and tests. Times are integer picoseconds (`_ps`), shares `_pct`. A figure that a side cannot\n"
        "support is `null`; `why` beside it has the reason under the same key (elements of lists have none). A\n"
        "*side* is one run or a group of runs; the first is the base. *Per step* means the sum over devices\n"
        "and analyzed steps, divided by both; a run without steps counts as one step. Figures of a group are\n"
        "means over its runs. Lists with one element per side are in the order of `sides`; lists named `changes`,\n"
        "`tests` and `waterfalls` have one element for each side but the first.\n"
        "\n"
        "Ids of findings: `op_slower`, `op_faster`, `op_more_often`, `op_less_often`, `ops_added`, `ops_removed`,\n"
        "`ops_replaced`, `fusion_broken`, `all_slower`, `all_faster`, `slow_device`, `slow_device_gone`,\n"
        "`recompiles`, `recompiles_gone`, `transfer_more`, `transfer_less`, `transfer_slower`, `transfer_faster`,\n"
        "`collective_more`, `collective_less`, `collective_slower`, `collective_faster`, `overlap_lost`,\n"
        "`overlap_gained`, `idle_CAUSE`; the unexplained rest of a part: the part's id; facts: `memory_more`,\n"
        "`memory_less`, `environment`.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/comparison_fields.c` (`make\n"
        "schemas`): edit those.\n",
    .fields = comparison_fields,
};

/* clang-format on */
