/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

static const struct tm_doc_field settings[] = {
    { "rows", TM_DOC_COUNT, .help = "Maximum for each table." },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "partial", TM_DOC_BOOL, .help = "Set if any run is redacted." },
    { "run", TM_DOC_PATH, .help = "\"1 to 8 devices\"." },
    { .key = NULL },
};

static const struct tm_doc_field work[] = {
    { "total_change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Total compute time of all devices, the "
      "largest change from the first point." },
    { "device_change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Compute time per device, the largest change "
      "from the first point." },
    { "same_within_pct", TM_DOC_PERCENT, .title = "Equal within" },
    { .key = NULL },
};

static const struct tm_doc_field limits[] = {
    { "good_pct", TM_DOC_PERCENT, .title = "Good" },
    { "bad_pct", TM_DOC_PERCENT, .title = "Bad" },
    { .key = NULL },
};

static const struct tm_doc_field points_parts[] = {
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Compute" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed collectives" },
    { "exposed_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed copies" },
    { "idle_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field points_shares[] = {
    { "compute_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Compute" },
    { "exposed_collective_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Communication",
      .help = "Share of a step in which a collective runs and nothing computes." },
    { "exposed_copy_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Exposed copies" },
    { "idle_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Idle", .help = "Share of a step in which nothing runs." },
    { .key = NULL },
};

static const struct tm_doc_field points_growth[] = {
    { "compute_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Compute share growth" },
    { "exposed_collective_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Collective share growth" },
    { "exposed_copy_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Copy share growth" },
    { "idle_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Idle share growth" },
    { .key = NULL },
};

static const struct tm_doc_field points_lost[] = {
    { "compute_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Lost to compute" },
    { "communication_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Lost to collectives" },
    { "copies_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Lost to copies" },
    { "idle_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Lost to idle time" },
    { .key = NULL },
};

static const struct tm_doc_field points_details_exposed_copy_ps[] = {
    { "h2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Host to device" },
    { "d2h", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to host" },
    { "p2p", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to device" },
    { "d2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Within a device" },
    { "other", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Other" },
    { .key = NULL },
};

static const struct tm_doc_field points_details[] = {
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Compute" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed collectives" },
    { "exposed_copy_ps", TM_DOC_OBJECT, .title = "Exposed copies", .fields = points_details_exposed_copy_ps },
    { "idle_ps", TM_DOC_TIME | TM_DOC_MAP | TM_DOC_OF_NULLS, .title = "Idle", .words = TM_DOC_CAUSES },
    { .key = NULL },
};

static const struct tm_doc_field points[] = {
    { "label", TM_DOC_NAME | TM_DOC_FILLED, .title = "Label" },
    { "runs", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Runs", .fields = tm_doc_compared_run, .least = 1 },
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "hosts", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Hosts" },
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "Null if the runs differ." },
    { "device_model", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "Null if the runs differ." },
    { "measured_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Measured", .help = "Time that the benchmark reports." },
    { "samples", TM_DOC_COUNT, .title = "Steps", .help = "Steps with a duration." },
    { "step_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median step", .help = "Median of the analyzed steps; with several "
      "runs, the mean of their medians." },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Standard deviation", .help = "Over the steps of a point "
      "with one run; with several runs, over their medians." },
    { "cv_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Variation" },
    { "low_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Median from" },
    { "high_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median to" },
    { "speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Speedup",
      .help = "Median step time of the first point divided by that of this point; for weak scaling, multiplied by the "
        "factor in devices, because each step does that much more work." },
    { "speedup_low", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "From",
      .help = "95% interval: by resampling the steps for points with one run, from the spread between runs for "
        "points with several." },
    { "speedup_high", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "To" },
    { "measured_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Measured speedup",
      .help = "Speedup according to the benchmark." },
    { "ideal_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Ideal speedup" },
    { "efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency", .help = "Speedup as a share of the "
      "ideal speedup, which is the factor in devices." },
    { "efficiency_low_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency low" },
    { "efficiency_high_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency high" },
    { "weak_efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .help = "Median step time of the first point divided by this "
      "one: the efficiency if the work grows with the number of devices." },
    { "fitted_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "According to the fitted law." },
    { "fitted_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Fitted speedup" },
    { "fitted_efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Fitted efficiency" },
    { "parts", TM_DOC_OBJECT, .help = "Mean of a step on one device: each moment belongs to exactly one part, so the "
      "parts add up.", .fields = points_parts },
    { "shares", TM_DOC_OBJECT, .help = "As a share of the step.", .fields = points_shares },
    { "growth", TM_DOC_OBJECT, .help = "Shares of the step minus those at the first point.", .fields = points_growth },
    { "lost", TM_DOC_OBJECT, .help = "Time of each part beyond its share at the first point, scaled to the ideal "
      "step: the values add up to the lost efficiency; below 0: a gain.", .fields = points_lost },
    { "details", TM_DOC_OBJECT, .help = "The parts as in summary.json.", .fields = points_details },
    { "collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Collectives", .help = "Time in a step of one device "
      "in which a collective runs; exposed: in which nothing computes." },
    { "overlap_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Overlap", .help = "Share of the collective time that "
      "is overlapped with compute." },
    { "collective_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes", .help = "Data that a device's collectives "
      "move in a step." },
    { "imbalance_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Imbalance", .help = "Compute time of the busiest "
      "device relative to the mean, minus 1." },
    { "spread_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Step spread", .help = "Difference between the "
      "devices' longest and shortest compute time, in the median step." },
    { "work_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Total compute time", .help = "Sum over the devices. It is "
      "constant if the same work is divided, and grows with the devices if the work does or if they repeat it." },
    { .key = NULL },
};

static const struct tm_doc_field fit_next[] = {
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "step_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median step" },
    { "speedup", TM_DOC_NUMBER | TM_DOC_NOT_NEGATIVE, .title = "Speedup" },
    { "efficiency_pct", TM_DOC_PERCENT, .title = "Efficiency" },
    { .key = NULL },
};

static const struct tm_doc_field law[] = {
    { "model", TM_DOC_WORD, .title = "Model", .words = "amdahl|gustafson" },
    { "serial_pct", TM_DOC_SHARE, .title = "Serial fraction",
      .help = "Share of a single-device step that more devices "
      "do not shorten, by least squares." },
    { "low_pct", TM_DOC_SHARE, .title = "From", .help = "95% interval of the serial fraction, from the residuals of "
      "the fit." },
    { "high_pct", TM_DOC_SHARE, .title = "To" },
    { "residual_pct", TM_DOC_PERCENT, .title = "Fit error", .help = "Root mean square of the relative "
      "difference between fitted and measured steps." },
    { "speedup_limit", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Maximum speedup",
      .help = "Relative to the first point, with any number of devices." },
    { "next", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Two and four times the largest.", .fields = fit_next, .most = 2 },
    { .key = NULL },
};

static const struct tm_doc_field notes[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "first_point|platform|model|framework|versions|basis|source|window|"
      "partial|no_steps|few_steps|devices|groups" },
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { .key = NULL },
};

static const struct tm_doc_field findings[] = {
    { "id", TM_DOC_WORD, .title = "Id", .pattern = "^scaling_[a-z_]+$" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "info|warning|critical" },
    { "title", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "For scaling_communication, scaling_idle, scaling_computing "
      "and scaling_copies, the lost efficiency in points." },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "limit", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Limit" },
    { "evidence", TM_DOC_PROSE | TM_DOC_LIST, .title = "Evidence" },
    { "at_stake_ps", TM_DOC_TIME, .title = "Potential savings", .most = 0 },
    { "share_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Share" },
    { "cause", TM_DOC_PROSE, .title = "Cause" },
    { "fix", TM_DOC_PROSE | TM_DOC_LIST, .title = "Recommendations" },
    { "where", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Where", .fields = tm_doc_where, .most = 0 },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "good|info|warning|critical" },
    { .key = NULL },
};

static const struct tm_doc_field scaling_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.scaling" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .title = "Tool", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .title = "Report", .fields = tm_doc_report },
    { "settings", TM_DOC_OBJECT, .title = "Settings", .fields = settings },
    { "input", TM_DOC_OBJECT, .title = "Input", .fields = input },
    { "mode", TM_DOC_WORD, .help = "Strong: total compute time is constant; weak: compute time per device is "
      "constant; unclear: neither.", .words = "strong|weak|unclear" },
    { "work", TM_DOC_OBJECT, .help = "What the mode is based on.", .fields = work },
    { "limits", TM_DOC_OBJECT, .help = "Unit of the efficiency.", .fields = limits },
    { "points", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Sorted by number of devices.",
      .fields = points, .least = 1, .most = 64 },
    { "fit", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Null with why: fewer than 4 points, or the mode is unclear.",
      .fields = law },
    { "notes", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Remarks on the study.", .fields = notes },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Causes of lost efficiency, the largest first; then facts.",
      .fields = findings },
    { "verdict", TM_DOC_OBJECT, .title = "Verdict", .fields = verdict },
    { .key = NULL },
};

const struct tm_doc_schema tm_scaling_schema = {
    .name = "scaling",
    .title = "tracemill scaling",
    .page_path = "schemas/SCALING.md",
    .definitions = "docs/scaling.md",
    .page =
        "# scaling.json, field by field\n"
        "\n"
        "The result of `tracemill scaling`; its page, PDF, text, Markdown and tables are created from it.\n"
        "`scaling.schema.json` is the formal description; docs/scaling.md defines the figures.\n"
        "Conventions as in COMPARISON.md: a figure that a point cannot support is `null`, and\n"
        "`why` beside it has the reason under the same key.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/scaling_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = scaling_fields,
};

/* clang-format on */
