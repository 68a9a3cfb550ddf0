/* SPDX-License-Identifier: Apache-2.0 */
/* The summary: its sections, the properties of the run, and the conclusions.  Members are in the order of
 * summary.json. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

/* A figure without a value is not assessed, and says why. */
static const char kpi_rule[] =
    "\"allOf\": [{\"if\": {\"properties\": {\"value\": {\"type\": \"null\"}}}, "
    "\"then\": {\"properties\": {\"band\": {\"const\": \"unknown\"}, "
    "\"why\": {\"type\": \"string\", \"minLength\": 1}}}}]";

const struct tm_doc_field tm_doc_tool[] = {
    { "name", TM_DOC_WORD, .title = "Name", .words = "tracemill" },
    { "version", TM_DOC_WORD | TM_DOC_OWN, .title = "Version" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_report[] = {
    { "title", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "--title." },
    { "note", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "--note." },
    { "redacted", TM_DOC_BOOL, .help = "Names are replaced by pseudonyms: docs/sharing.md." },
    { .key = NULL },
};

static const struct tm_doc_field settings[] = {
    { "steps", TM_DOC_WORD | TM_DOC_FILLED, .help = "\"auto\", or the selected steps." },
    { "skip_steps", TM_DOC_WORD | TM_DOC_FILLED, .help = "\"auto\", or a number." },
    { "window", TM_DOC_WORD, .title = "Window", .words = "steps|session" },
    { "gap_min", TM_DOC_WORD | TM_DOC_FILLED, .help = "\"10us\"." },
    { "rows", TM_DOC_WORD | TM_DOC_FILLED, .help = "\"500\"; \"4000\" with --format csv." },
    { .key = NULL },
};

static const struct tm_doc_field input_files[] = {
    { "path", TM_DOC_PATH, .title = "File" },
    { "kind", TM_DOC_WORD | TM_DOC_FILLED, .title = "Kind", .help = "xspace, chrome_json, perfetto, pprof; missing: in a "
      "batch, a file of the run that could not be read." },
    { "bytes", TM_DOC_BYTES, .title = "Size" },
    { "xxh3", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "XXH3", .help = "Fingerprint of the file's bytes: files with "
      "the same fingerprint are identical. XXH3-64 of the file; above 16 MiB, of the XXH3-64 (8 bytes, big-endian) of "
      "each 16 MiB piece.", .pattern = "^[0-9a-f]{16}$" },
    { "host", TM_DOC_HOST | TM_DOC_OR_NULL, .title = "Host", .help = "Null for device memory profiles and missing "
      "files." },
    { "events", TM_DOC_COUNT, .title = "Events" },
    { "origin_us", TM_DOC_US, .title = "Origin" },
    { "clock_ns", TM_DOC_DATE, .help = "Reading of the host's clock at time 0; 0 = not recorded." },
    { "first_ps", TM_DOC_MOMENT, .help = "Its first event." },
    { "archived", TM_DOC_BOOL, .help = "The file is a member of an archive." },
    { "partial", TM_DOC_BOOL, .title = "Damaged", .help = "The file is damaged." },
    { "problems", TM_DOC_PROSE | TM_DOC_LIST, .title = "Problems" },
    { "notes", TM_DOC_PROSE | TM_DOC_LIST, .title = "Notes" },
    { "trace_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .help = "Position of time 0 in the trace that `convert` writes "
      "from all files; null without events." },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "run", TM_DOC_PATH | TM_DOC_OR_NULL, .help = "Name of the run: \"2026_11_20_20_37_30\"." },
    { "hosts", TM_DOC_HOST | TM_DOC_LIST, .title = "Hosts" },
    { "files", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Files", .fields = input_files },
    { "partial", TM_DOC_BOOL, .help = "A file is damaged or missing." },
    { .key = NULL },
};

static const struct tm_doc_field tpu_clock[] = {
    { "devices", TM_DOC_COUNT, .help = "Active TPUs." },
    { "own", TM_DOC_COUNT, .help = "Of these, TPUs with times from their own clock." },
    { "jumps", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "In the recorded times of these TPUs: over 1 ms between one op "
      "and the next." },
    { "largest_jump_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Largest jump" },
    { .key = NULL },
};

static const struct tm_doc_field environment_hosts[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "framework", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Framework", .help = "jax, pytorch or tensorflow." },
    { "backward", TM_DOC_BOOL | TM_DOC_OR_NULL, .help = "The run computes gradients." },
    { "rank", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rank", .help = "Number of this process in the job." },
    { "world_size", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Ranks in the job", .help = "Number of processes." },
    { "jax", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "JAX" },
    { "jaxlib", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "jaxlib" },
    { "platform_version", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Platform version" },
    { "cuda", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "CUDA" },
    { "cuda_runtime", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "CUDA runtime" },
    { "driver", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Driver" },
    { "rocm", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "ROCm" },
    { "libtpu", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "libtpu" },
    { "process_id", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Process" },
    { "begin_ns", TM_DOC_DATE | TM_DOC_OR_NULL | TM_DOC_FRACTION, .help = "Start of the profile." },
    { "end_ns", TM_DOC_DATE | TM_DOC_OR_NULL | TM_DOC_FRACTION, .help = "End of the profile." },
    { "profile_options", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Profile options" },
    { "device_events", TM_DOC_COUNT, .help = "Events on device lines, which profilers limit." },
    { "tpu_clock", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Whether the devices' own clocks are used (docs/input.md).",
      .fields = tpu_clock },
    { .key = NULL },
};

static const struct tm_doc_field environment_devices[] = {
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Model" },
    { "vendor", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Vendor" },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "gpu|tpu|cpu" },
    { "count", TM_DOC_COUNT, .title = "Number", .help = "Devices of this model." },
    { "used", TM_DOC_COUNT, .title = "Used", .help = "Devices with activity." },
    { "core_count", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Cores" },
    { "memory_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Memory" },
    { "memory_bandwidth_bytes", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Memory bandwidth" },
    { "peak_tflops", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Peak TFLOP/s", .help = "As the profile records it for "
      "the device." },
    { .key = NULL },
};

static const struct tm_doc_field environment[] = {
    { "platform", TM_DOC_WORD, .title = "Platform", .words = "gpu|tpu|cpu|none" },
    { "hosts", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Hosts", .fields = environment_hosts },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = environment_devices },
    { .key = NULL },
};

static const struct tm_doc_field coverage_unknown_devices[] = {
    { "name", TM_DOC_NAME, .title = "Name" },
    { "events", TM_DOC_COUNT, .title = "Events" },
    { .key = NULL },
};

static const struct tm_doc_field tallies[] = {
    { "count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Count" },
    { "level", TM_DOC_WORD, .title = "Level", .help = "A loss can make figures too small; a note cannot.",
      .words = "note|loss" },
    { "help", TM_DOC_PROSE | TM_DOC_OWN, .title = "Description" },
    { .key = NULL },
};

static const struct tm_doc_field coverage_marks[] = {
    { "id", TM_DOC_WORD | TM_DOC_FILLED, .help = "damaged, event_cap, device_event_cap, events_dropped, "
      "profiler_warning, graphs_collapsed, events_lost, lossy_copy, deep_nesting." },
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { "sections", TM_DOC_WORD | TM_DOC_LIST | TM_DOC_UNIQUE, .help = "Names of the affected sections.",
      .least = 1 },
    { "kpis", TM_DOC_WORD | TM_DOC_LIST | TM_DOC_UNIQUE, .help = "Ids of the affected key figures." },
    { .key = NULL },
};

static const struct tm_doc_field coverage[] = {
    { "events_read", TM_DOC_COUNT, .title = "Events read" },
    { "events_used", TM_DOC_COUNT, .title = "Events used in figures",
      .help = "Figures do not use the other events, or "
      "they were skipped: see the table of losses." },
    { "classes", TM_DOC_COUNT | TM_DOC_MAP, .help = "Events of each class in docs/classes.md.",
      .words = "unresolved|kernel|collective|copy|memset|graph|tpu_op|tpu_async|cpu_op|derived|device_other|"
      "step_marker|alloc|free|sync|launch|compile|input|gc|profiler|python|runtime|annotation|framework_op|module|"
      "counter|instant|flow|async|other" },
    { "kernel_launches", TM_DOC_COUNT, .help = "Host calls that launch kernels or graphs." },
    { "unknown_devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices of other types",
      .fields = coverage_unknown_devices },
    { "tallies", TM_DOC_OBJECT | TM_DOC_MAP, .help = "What was skipped or repaired while reading, by name: "
      "\"negative-duration\".", .fields = tallies, .pattern = "^[a-z0-9]+(-[a-z0-9]+)*$" },
    { "warnings", TM_DOC_PROSE | TM_DOC_LIST, .help = "From the profilers." },
    { "marks", TM_DOC_OBJECT | TM_DOC_LIST, .help = "What the losses affect.", .fields = coverage_marks },
    { .key = NULL },
};

static const struct tm_doc_field kpis[] = {
    { "id", TM_DOC_WORD, .title = "Id", .words = "device_utilization|kernel_duration|small_kernel_share|host_overhead|"
      "memory_bandwidth|compile_time|unexpected_compiles|peak_memory|occupancy|transfer_share|top_op_share|"
      "exposed_collective|imbalance|step_time|model_flop_utilization" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "band", TM_DOC_WORD, .title = "Band", .words = "good|warning|bad|unknown" },
    { "why", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why there is no value or no band, or why a figure outside its "
      "band costs nothing here." },
    { "note", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Additional information shown with the value." },
    { "good", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Good" },
    { "bad", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Bad" },
    { "marks", TM_DOC_WORD | TM_DOC_LIST | TM_DOC_UNIQUE, .help = "Ids in coverage.marks." },
    { "definition", TM_DOC_PROSE, .title = "Definition" },
    { "applies", TM_DOC_BOOL, .help = "The figure applies to the platform and to this run." },
    { "finding", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "For a figure outside its band, id of the finding with its "
      "savings; if null, `why` explains why it costs nothing." },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Text" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "info|warning|critical" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_where[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { "device", TM_DOC_DEVICE, .help = "Id of the device or, if it is not about one device, name of the host; empty "
      "if neither is known." },
    { .key = NULL },
};

static const struct tm_doc_field findings_replay[] = {
    { "without", TM_DOC_WORD | TM_DOC_LIST | TM_DOC_OWN, .help = "What is left out of the steps.", .words = TM_DOC_REPLAYS },
    { "measured_ps", TM_DOC_TIME, .help = "The potential savings as measured." },
    { "saved_ps", TM_DOC_TIME, .help = "The same according to the replay." },
    { "saved_pct", TM_DOC_SHARE, .title = "Shorter by", .help = "The steps, without it." },
    { "difference", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why they differ, if they do so by more than a tenth. The "
      "smaller one is at_stake_ps." },
    { .key = NULL },
};

static const struct tm_doc_field findings[] = {
    { "id", TM_DOC_WORD, .title = "Id", .pattern = "^[a-z][a-z0-9_]*$" },
    { "severity", TM_DOC_WORD, .title = "Severity", .words = "info|warning|critical" },
    { "level", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "\"defect\": a check failed, so figures contradict each other.",
      .words = "defect" },
    { "title", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Title" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "limit", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Limit" },
    { "evidence", TM_DOC_PROSE | TM_DOC_LIST | TM_DOC_FILLED, .title = "Evidence", .least = 1, .most = 8 },
    { "at_stake_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Potential savings", .help = "As measured, or as a replay of the "
      "steps gives them, if that is more than a tenth less." },
    { "idle_ps", TM_DOC_TIME | TM_DOC_SUM,
      .help = "The part of it that is idle time. No idle time is in two findings: their sum is at most total.idle_ps." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .help = "As a share of window_ps." },
    { "window_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "The windows of the devices that the finding is about." },
    { "devices", TM_DOC_COUNT | TM_DOC_OPTIONAL, .help = "The number of these devices, unless it is all of them.",
      .least = 1 },
    { "replay", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Its potential savings, checked by replaying the steps without "
      "what it is about.", .fields = findings_replay },
    { "cause", TM_DOC_PROSE | TM_DOC_FILLED, .title = "Cause" },
    { "fix", TM_DOC_PROSE | TM_DOC_LIST | TM_DOC_FILLED, .title = "Recommendations", .least = 1, .most = 6 },
    { "where", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Time ranges to inspect in a trace viewer.",
      .fields = tm_doc_where, .most = 5 },
    { .key = NULL },
};

static const struct tm_doc_field checks[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "unit", TM_DOC_WORD, .title = "Unit", .words = "ps|count" },
    { "holds", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Holds" },
    { "expected", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Expected" },
    { "found", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Found" },
    { "where", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "The first row that fails." },
    { .key = NULL },
};

static const struct tm_doc_field thresholds_kpis[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "direction", TM_DOC_WORD, .title = "Better", .words = "higher|lower" },
    { "good", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Good" },
    { "bad", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Bad" },
    { "definition", TM_DOC_PROSE, .title = "Definition" },
    { .key = NULL },
};

static const struct tm_doc_field thresholds_limits[] = {
    { "id", TM_DOC_WORD, .title = "Id" },
    { "title", TM_DOC_PROSE, .title = "Title" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "value", TM_DOC_NUMBER, .title = "Value" },
    { "definition", TM_DOC_PROSE, .title = "Definition" },
    { .key = NULL },
};

static const struct tm_doc_field thresholds[] = {
    { "schema", TM_DOC_WORD | TM_DOC_OWN, .title = "Schema", .words = "tracemill.thresholds" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "kpis", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Key figures", .fields = thresholds_kpis },
    { "limits", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Limits", .fields = thresholds_limits },
    { .key = NULL },
};

static const struct tm_doc_field summary_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.summary" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 2, .most = 2 },
    { "tool", TM_DOC_OBJECT, .help = "The program that wrote the file.", .fields = tm_doc_tool },
    { "report", TM_DOC_OBJECT, .help = "Title and note from the user.", .fields = tm_doc_report },
    { "settings", TM_DOC_OBJECT, .help = "The options that figures and tables depend on, as given, or their defaults.",
      .fields = settings },
    { "input", TM_DOC_OBJECT, .help = "The input files of the run.", .fields = input },
    { "environment", TM_DOC_OBJECT, .help = "Hosts, frameworks, devices and versions.", .fields = environment },
    { "coverage", TM_DOC_OBJECT, .help = "What was read, and which part of it is used in figures.",
      .fields = coverage },
    { "window", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The time range that the figures cover.",
      .fields = tm_doc_window },
    { "steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The steps and their step times.", .fields = tm_doc_steps },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "One row per device with activity.",
      .fields = tm_doc_devices },
    { "unused", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Devices without activity.", .fields = tm_doc_unused },
    { "total", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Sums over the devices.", .fields = tm_doc_total },
    { "gaps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Idle time of the devices.", .fields = tm_doc_gaps },
    { "critical_path", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "What determines the length of each analyzed step; or "
      "null with why.", .fields = tm_doc_critical_path },
    { "kernels", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Kernels by name and launch configuration, and by name.",
      .fields = tm_doc_kernels },
    { "fusion", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Fusion opportunities; null with why on TPU and CPU.",
      .fields = tm_doc_fusion },
    { "occupancy", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "SM occupancy of the kernels (class kernel only); or null "
      "with why.", .fields = tm_doc_occupancy },
    { "programs", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Executions of compiled programs; or null with why.",
      .fields = tm_doc_programs },
    { "transfers", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Copies.", .fields = tm_doc_transfers },
    { "ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of the compiled programs.", .fields = tm_doc_ops },
    { "scopes", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Device time by framework scope.", .fields = tm_doc_scopes },
    { "collectives", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Communication between devices.",
      .fields = tm_doc_collectives },
    { "host", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Host activity, and the part of it that leaves devices idle.",
      .fields = tm_doc_host },
    { "compile", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Compilations, over the whole session.",
      .fields = tm_doc_compile },
    { "memory", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Allocators and device memory profiles; or null with why.",
      .fields = tm_doc_memory },
    { "roofline", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The cost of the work relative to the peaks of the "
      "devices; or null with why.", .fields = tm_doc_roofline },
    { "balance", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Load balance between devices; null for one device.",
      .fields = tm_doc_balance },
    { "sharding", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "What programs on several devices repeat on each, and what "
      "they move between shardings; or null with why.", .fields = tm_doc_sharding },
    { "fallback", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Work that runs on the host instead of the device; or null "
      "with why.",
      .fields = tm_doc_fallback },
    { "kpis", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The key figures.", .fields = kpis, .rule = kpi_rule },
    { "verdict", TM_DOC_OBJECT, .help = "The run in one sentence.", .fields = verdict },
    { "findings", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Recommendations, sorted by potential savings.",
      .fields = findings,
      .most = 64 },
    { "checks", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Consistency checks: docs/metrics.md, \"Checks\".",
      .fields = checks },
    { "thresholds", TM_DOC_OBJECT, .help = "The effective thresholds: schemas/thresholds.json.",
      .fields = thresholds },
    { .key = NULL },
};

const struct tm_doc_schema tm_summary_schema = {
    .name = "summary",
    .title = "tracemill summary",
    .page_path = "schemas/SUMMARY.md",
    .definitions = "docs/metrics.md",
    .page =
        "# summary.json, field by field\n"
          "\n"
          "The document that every report, comparison and gate reads. `summary.schema.json` is the formal description;\n"
          "this page is for people. Both are generated from the tables in `pipeline/doc/summary_*fields.c` (`make schemas`):\n"
          "edit those. Definitions of the figures: docs/metrics.md. A figure that the input cannot support is `null`, and\n"
          "the `why` object beside it holds the reason under the same key: any object with a nullable member can\n"
          "have a `why` as its last member. The complete data behind it can be saved as a partial: PARTIAL.md.\n"
          "A device memory profile alone leaves the sections of a trace null (\"no trace was given\").\n"
          "The members of an object are in the order below. Causes are in this order: device_wait, launch, compile,\n"
          "input, sync, gc, profiler, host, unrecorded. A figure marked *summed* is a sum over the analyzed steps: gates divide it\n"
          "by the number of steps before they compare runs.\n",
    .fields = summary_fields,
};

/* clang-format on */
