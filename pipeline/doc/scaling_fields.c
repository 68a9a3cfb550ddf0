/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

static const struct tm_doc_field settings[] = {
    { "rows", TM_DOC_COUNT, .help = "At most, of each table." },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "partial", TM_DOC_BOOL, .help = "Of any run." },
    { "run", TM_DOC_PATH, .help = "\"1 to 8 devices\"." },
    { .key = NULL },
};

static const struct tm_doc_field work[] = {
    { "total_change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Of the computing of all devices, the largest "
      "change against the first point." },
    { "device_change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .help = "Of the computing of a device, the largest "
      "change against the first point." },
    { "same_within_pct", TM_DOC_PERCENT, .title = "Same within" },
    { .key = NULL },
};

static const struct tm_doc_field limits[] = {
    { "good_pct", TM_DOC_PERCENT, .title = "Good" },
    { "bad_pct", TM_DOC_PERCENT, .title = "Bad" },
    { .key = NULL },
};

static const struct tm_doc_field points_parts[] = {
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Computing" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed collectives" },
    { "exposed_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed copies" },
    { "idle_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "All of it" },
    { .key = NULL },
};

static const struct tm_doc_field points_shares[] = {
    { "compute_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Compute" },
    { "exposed_collective_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Communication",
      .help = "Share of a step in which a collective runs and nothing computes." },
    { "exposed_copy_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Exposed copy" },
    { "idle_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Idle", .help = "Share in which nothing runs." },
    { .key = NULL },
};

static const struct tm_doc_field points_growth[] = {
    { "compute_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share of compute grew" },
    { "exposed_collective_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share of collectives grew" },
    { "exposed_copy_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share of copies grew" },
    { "idle_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Share of idle time grew" },
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
    { "d2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Inside a device" },
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
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "Null where the runs differ." },
    { "device_model", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "Null where the runs differ." },
    { "measured_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Measured", .help = "The time that a result of the "
      "benchmark has." },
    { "samples", TM_DOC_COUNT, .title = "Steps", .help = "Steps with a length." },
    { "step_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Step", .help = "The median of the analyzed steps; of several "
      "runs the mean of their medians." },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Standard deviation", .help = "Of the steps of a point with "
      "one run; of several runs between their medians." },
    { "cv_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Variation" },
    { "low_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Step from" },
    { "high_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Step to" },
    { "speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Speed-up",
      .help = "The step of the first point over that of this one; of weak scaling times the multiple of the devices, "
      "since each step does so many times the work." },
    { "speedup_low", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "From",
      .help = "95 % interval: of points with one run by resampling their steps, of points with several by the spread "
      "between these." },
    { "speedup_high", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "To" },
    { "measured_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Speed-up measured",
      .help = "The speed-up by it." },
    { "ideal_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Ideal speedup" },
    { "efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency", .help = "The speed-up as a share of "
      "the ideal one, which is the multiple of the devices." },
    { "efficiency_low_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency low" },
    { "efficiency_high_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Efficiency high" },
    { "weak_efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .help = "The step of the first point over this one: the "
      "efficiency if the work grows with the devices." },
    { "fitted_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "By the law that is fitted." },
    { "fitted_speedup", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Fitted speedup" },
    { "fitted_efficiency_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Fitted efficiency" },
    { "parts", TM_DOC_OBJECT, .help = "Mean of a step of one device: every moment of it is of one part, so the parts "
      "add up.", .fields = points_parts },
    { "shares", TM_DOC_OBJECT, .help = "Of the step.", .fields = points_shares },
    { "growth", TM_DOC_OBJECT, .help = "Shares of the step minus those at the first point.", .fields = points_growth },
    { "lost", TM_DOC_OBJECT, .help = "What each part takes of the step beyond its share at the first point, made as "
      "short as the step ideally is: adds up to the efficiency that is lost; below 0: a gain.", .fields = points_lost },
    { "details", TM_DOC_OBJECT, .help = "The parts as summary.json has them.", .fields = points_details },
    { "collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Collectives", .help = "Time of a step of one device in "
      "which a collective runs; exposed: in which nothing computes beside it." },
    { "overlap_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Overlap", .help = "Share of the collectives' time that "
      "has computing beside it." },
    { "collective_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes", .help = "What a device's collectives of a "
      "step move." },
    { "imbalance_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Imbalance", .help = "How much longer than the mean "
      "the device computes that computes longest." },
    { "spread_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Spread of a step", .help = "Between the longest and the "
      "shortest step of the devices, in the median step." },
    { "work_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Total compute time", .help = "The sum over the devices. It "
      "stays where the same work is shared; it grows with the devices where the work does, or where they repeat it." },
    { .key = NULL },
};

static const struct tm_doc_field fit_next[] = {
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "step_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Step" },
    { "speedup", TM_DOC_NUMBER | TM_DOC_NOT_NEGATIVE, .title = "Speed-up" },
    { "efficiency_pct", TM_DOC_PERCENT, .title = "Efficiency" },
    { .key = NULL },
};

static const struct tm_doc_field law[] = {
    { "model", TM_DOC_WORD, .title = "Model", .words = "amdahl|gustafson" },
    { "serial_pct", TM_DOC_SHARE, .title = "Serial share", .help = "The share of a step on one device that more "
      "devices do not make shorter, by least squares." },
    { "low_pct", TM_DOC_SHARE, .title = "From", .help = "95 % interval of the serial share, by what the law leaves "
      "unexplained." },
    { "high_pct", TM_DOC_SHARE, .title = "To" },
    { "residual_pct", TM_DOC_PERCENT, .title = "Off the measured steps", .help = "How far the fitted steps are off, as "
      "a root mean square of shares." },
    { "speedup_limit", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Speed-up at most",
      .help = "Against the first point, with any number of devices." },
    { "next", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Twice and four times the largest.", .fields = fit_next, .most = 2 },
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
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "Of scaling_communication, scaling_idle, scaling_computing and "
      "scaling_copies the efficiency that they cost, in points." },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "limit", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Limit" },
    { "evidence", TM_DOC_PROSE | TM_DOC_LIST, .title = "Evidence" },
    { "at_stake_ps", TM_DOC_TIME, .title = "Potential savings", .most = 0 },
    { "share_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Share" },
    { "cause", TM_DOC_PROSE, .title = "Cause" },
    { "fix", TM_DOC_PROSE | TM_DOC_LIST, .title = "What to do" },
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
    { "schema_version", TM_DOC_COUNT, .title = "Version of the schema", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .title = "Tool", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .title = "Report", .fields = tm_doc_report },
    { "settings", TM_DOC_OBJECT, .title = "Settings", .fields = settings },
    { "input", TM_DOC_OBJECT, .title = "Input", .fields = input },
    { "mode", TM_DOC_WORD, .help = "The computing of all devices together stays, that of each device stays, or "
      "neither.", .words = "strong|weak|unclear" },
    { "work", TM_DOC_OBJECT, .help = "What the mode follows from.", .fields = work },
    { "limits", TM_DOC_OBJECT, .help = "Of the efficiency.", .fields = limits },
    { "points", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Ordered by devices.", .fields = points, .least = 1, .most = 64 },
    { "fit", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Null with why: fewer than 4 points, or unclear.", .fields = law },
    { "notes", TM_DOC_OBJECT | TM_DOC_LIST, .help = "What to know of the study.", .fields = notes },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Those of what the efficiency is lost to first, the largest "
      "first; then facts.", .fields = findings },
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
        "What `tracemill scaling` finds, and what its page, PDF, text, Markdown and tables are drawn from.\n"
        "`scaling.schema.json` is the formal description; what the figures mean and how they are made:\n"
        "docs/scaling.md. Conventions as in COMPARISON.md: a figure that a point cannot support is `null`, and\n"
        "`why` beside it has the reason under the same key.\n"
        "\n"
        "This page and the schema are made from the tables in `pipeline/doc/scaling_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = scaling_fields,
};

/* clang-format on */
