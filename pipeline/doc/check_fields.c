/* SPDX-License-Identifier: Apache-2.0 */
/* A check: the gates and what they found.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

/* A gate that was assessed has a figure; of the others it is known why they were not. */
static const char gate_rule[] =
    "\"allOf\": [{\"if\": {\"properties\": {\"status\": {\"enum\": [\"passed\", \"failed\"]}}}, "
    "\"then\": {\"properties\": {\"value\": {\"type\": \"number\"}, \"value_text\": {\"type\": \"string\"}}}, "
    "\"else\": {\"properties\": {\"why\": {\"type\": \"string\"}}}}]";

static const struct tm_doc_field check_run[] = {
    { "run", TM_DOC_PATH, .title = "Run" },
    { "path", TM_DOC_PATH, .title = "Path" },
    { "fingerprint", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "16 hexadecimal digits, derived from those of its files.",
      .pattern = "^[0-9a-f]{16}$" },
    { "partial", TM_DOC_BOOL, .title = "Partial" },
    { .key = NULL },
};

static const struct tm_doc_field baseline[] = {
    { "label", TM_DOC_NAME, .title = "Label" },
    { "runs", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Runs", .fields = check_run, .least = 1 },
    { .key = NULL },
};

static const struct tm_doc_field gates[] = {
    { "figure", TM_DOC_NAME, .title = "Path in the summary", .help = "Path in the summary." },
    { "place", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Found at", .help = "The element that was selected if the path "
      "matches several." },
    { "title", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Figure" },
    { "unit", TM_DOC_WORD, .help = "ps, ns, us, ms, s, %, bytes, bytes/s, FLOP/s, count, or empty." },
    { "rule", TM_DOC_TERM, .title = "Rule", .help = "What the gate file requires.",
      .words = "max|min|equals|max_increase|max_decrease|max_increase_pct|" "max_decrease_pct" },
    { "limit", TM_DOC_NUMBER,
      .help = "In the figure's unit (%, for _pct); a max of \"1.2x\" is a max_increase_pct of 20." },
    { "limit_text", TM_DOC_WORD, .title = "Limit", .help = "The limit as written in the gate file." },
    { "fails_at_limit", TM_DOC_BOOL, .help = "\">=\" and \"<=\"." },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "value_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Value" },
    { "baseline", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "The same figure of the baseline run; with several runs, "
      "their median." },
    { "baseline_text", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Baseline" },
    { "per_step", TM_DOC_BOOL,
      .help = "The figure is a sum over the window, so value and baseline are per analyzed step." },
    { "change_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Change", .help = "Null without a baseline, or if "
      "it is 0." },
    { "p", TM_DOC_P | TM_DOC_OR_NULL, .title = "p", .help = "For relative rules, two-sided; null: not tested." },
    { "noise_pct", TM_DOC_CHANGE_PCT | TM_DOC_OR_NULL, .title = "Noise", .help = "A smaller change is within noise." },
    { "required", TM_DOC_BOOL, .title = "Required" },
    { "status", TM_DOC_WORD, .title = "Status", .words = "passed|failed|unknown|skipped" },
    { "why", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Why", .help = "Always set for unknown and skipped." },
    { "note", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Note", .help = "From the gate file." },
    { .key = NULL },
};

static const struct tm_doc_field counts[] = {
    { "passed", TM_DOC_COUNT, .title = "Passed" },
    { "failed", TM_DOC_COUNT, .title = "Failed" },
    { "unknown", TM_DOC_COUNT, .title = "Unknown", .help = "Gates whose figure is missing in the run, or that need "
      "a baseline with more steps." },
    { "skipped", TM_DOC_COUNT, .title = "Skipped", .help = "Gates that do not apply." },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE, .title = "Text" },
    { "severity", TM_DOC_WORD, .help = "critical: a gate failed; warning: the result of a gate is unknown.",
      .words = "info|warning|critical" },
    { .key = NULL },
};

static const struct tm_doc_field check_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.check" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .title = "Tool", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .title = "Report", .fields = tm_doc_report },
    { "input", TM_DOC_OBJECT, .title = "Input", .fields = check_run },
    { "gate_file", TM_DOC_PATH | TM_DOC_OR_NULL, .help = "Null for expressions." },
    { "baseline", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Baseline", .fields = baseline },
    { "notes", TM_DOC_PROSE | TM_DOC_LIST, .help = "What makes the comparison unreliable: a different device." },
    { "gates", TM_DOC_OBJECT | TM_DOC_LIST, .help = "In the order of the file, one row per rule.", .fields = gates,
      .rule = gate_rule },
    { "counts", TM_DOC_OBJECT, .title = "Counts", .fields = counts },
    { "verdict", TM_DOC_OBJECT, .title = "Verdict", .fields = verdict },
    { .key = NULL },
};

const struct tm_doc_schema tm_check_schema = {
    .name = "check",
    .title = "tracemill check",
    .page_path = "schemas/CHECK.md",
    .definitions = "docs/gates.md",
    .page =
        "# check.json, field by field\n"
        "\n"
        "The result of `tracemill check`. `check.schema.json` is the formal description; docs/gates.md describes how to\n"
        "write gates and how they are evaluated.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/check_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = check_fields,
};

/* clang-format on */
