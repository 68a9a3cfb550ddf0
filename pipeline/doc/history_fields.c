/* SPDX-License-Identifier: Apache-2.0 */
/* A run in the history of a batch: a row of history.db, and a line of `tracemill batch export`.  Members are in the
 * order of the columns (reports/history/history.c); after them are the figures that the history keeps
 * (run_figures.h). */
#include <string.h>

#include "pipeline/doc/run_figures.h"

/* clang-format off */

#define NIGHT "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
#define HASH "^[0-9a-f]{16}$"
#define TEXT_MOST 4096
#define KEY_MOST 255

static const struct tm_doc_field columns[] = {
    { "id", TM_DOC_NAME, .help = "Its folder in runs.", .pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$" },
    { "name", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Run", .least = 1, .most = TEXT_MOST },
    { "path", TM_DOC_PATH | TM_DOC_OPTIONAL, .title = "Path", .help = "Relative to its root, as in the manifest.",
      .least = 1, .most = TEXT_MOST },
    { "job", TM_DOC_NAME, .title = "Job", .help = "Night to step, from the path of the run: these keys select the "
      "runs to compare.", .least = 1, .most = KEY_MOST },
    { "night", TM_DOC_WORD, .title = "Night", .pattern = NIGHT },
    { "when_ns", TM_DOC_DATE, .title = "When" },
    { "revision", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Revision", .least = 1, .most = KEY_MOST },
    { "label", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Label", .least = 1, .most = KEY_MOST },
    { "training", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Training run", .least = 1, .most = KEY_MOST },
    { "step", TM_DOC_COUNT | TM_DOC_OPTIONAL, .title = "Training step" },
    { "status", TM_DOC_WORD, .help = "done; partial: the input is damaged; refused: it cannot be read; failed; "
      "missing: not processed, or its input has changed since.", .words = "done|partial|refused|failed|missing" },
    { "message", TM_DOC_PROSE | TM_DOC_OPTIONAL, .title = "Why it is not done", .least = 1, .most = TEXT_MOST },
    { "report", TM_DOC_PATH | TM_DOC_OPTIONAL, .title = "Report folder", .help = "Missing after pruning.",
      .pattern = "^runs/([0-9a-f]{2}/)?[A-Za-z0-9._-]+$" },
    { "summary", TM_DOC_PATH | TM_DOC_OPTIONAL, .title = "Its summary", .help = "Kept for gates after the report was "
      "pruned.", .pattern = "^runs/([0-9a-f]{2}/)?[A-Za-z0-9._-]+/summary\\.json$" },
    { "platform", TM_DOC_WORD | TM_DOC_OPTIONAL, .title = "Platform", .words = "gpu|tpu|cpu|none" },
    { "model", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Device", .help = "If all devices are of one model.",
      .least = 1,
      .most = TEXT_MOST },
    { "hosts", TM_DOC_COUNT | TM_DOC_OPTIONAL, .title = "Hosts" },
    { "devices", TM_DOC_COUNT | TM_DOC_OPTIONAL, .title = "Devices" },
    { "verdict", TM_DOC_PROSE | TM_DOC_OPTIONAL, .title = "Verdict", .least = 1, .most = TEXT_MOST },
    { "severity", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Of the verdict.", .words = "info|warning|critical" },
    { "finding", TM_DOC_PROSE | TM_DOC_OPTIONAL, .title = "First finding", .least = 1, .most = TEXT_MOST },
    { "gates", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "This text stays until the run or its options change.",
      .words = "passed|failed|unknown" },
    { "gates_text", TM_DOC_PROSE | TM_DOC_OPTIONAL, .title = "First failed gate", .least = 1, .most = TEXT_MOST },
    { "fingerprint", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Of the input.", .pattern = HASH },
    { "options", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Hash of the options that affect the output.",
      .pattern = HASH },
    { "version", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Version of tracemill.", .least = 1, .most = TEXT_MOST },
    { "definitions", TM_DOC_COUNT | TM_DOC_OPTIONAL, .help = "Version of the definitions of the figures "
      "(schema_version of the summary). Figures of different versions cannot be compared.", .least = 1 },
    { "page", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "The night whose page shows and assesses the run: the last one "
      "when it was added or changed. Missing: its date is in the future, so it is on no page yet.", .pattern = NIGHT },
    { "host", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Host", .help = "The first one of several.", .least = 1, .most = TEXT_MOST },
    { "driver", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Driver", .least = 1, .most = TEXT_MOST },
    { "framework", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "Framework", .least = 1, .most = TEXT_MOST },
    { "jax", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "JAX", .least = 1, .most = TEXT_MOST },
    { "jaxlib", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "jaxlib", .least = 1, .most = TEXT_MOST },
    { "cuda", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "CUDA", .least = 1, .most = TEXT_MOST },
    { "rocm", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "ROCm", .least = 1, .most = TEXT_MOST },
    { "libtpu", TM_DOC_NAME | TM_DOC_OPTIONAL, .title = "libtpu", .least = 1, .most = TEXT_MOST },
    { "labels", TM_DOC_NAME | TM_DOC_OPTIONAL, .help = "Other keys that --label set, as a JSON object.", .least = 1,
      .most = KEY_MOST },
};

/* clang-format on */
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const struct tm_doc_field op[] = {
    { "name", TM_DOC_NAME, .help = "Of the operation; path of the scope.", .least = 1, .most = 255 },
    { "time_ps", TM_DOC_TIME, .help = "Per step and device, in whole nanoseconds." },
    { .key = NULL },
};

/* In tables of their own: op_times and op_names. */
static const struct tm_doc_field lists[] = {
    { "ops", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OPTIONAL,
      .help = "The longest operations of one of the last 400 runs "
              "of a job, in the order of their names; like the next one, a member of the line, not a column.",
      .fields = op, .most = 50 },
    { "scopes", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OPTIONAL, .title = "Longest scopes", .fields = op, .most = 50 },
};

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

static struct tm_doc_field fields[COLUMNS + TM_FIGURES_MOST + LISTS + 1];

static struct tm_doc_schema schema = {
    .name = "history",
    .title = "tracemill history",
    .page_path = "schemas/HISTORY.md",
    .definitions = "docs/metrics.md",
    .page =
        "# history.db, column by column\n"
        "\n"
        "One row per run that a batch has processed, in the table `runs`, and one line of `tracemill batch export`. "
        "Unknown\n"
        "values are null in the table and missing in the line. `history.schema.json` is the formal description of a\n"
        "line; docs/history.md has example queries. Dates are nanoseconds since 1970, times picoseconds.\n"
        "\n"
        "Figures per step are missing if no steps are marked. Parts of a step are those of one step on one device.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/history_fields.c` and "
        "`run_figures.c`\n"
        "(`make schemas`): edit those.\n",
    .fields = fields,
};

const struct tm_doc_schema *tm_history_schema(void)
{
    static char title[TM_FIGURES_MOST][TM_FIGURE_TITLE_BYTES];

    memcpy(fields, columns, sizeof(columns));
    for (size_t i = 0; i < tm_figure_count; i++)
        fields[COLUMNS + i] =
            (struct tm_doc_field){ .key = tm_figure_table[i].id,
                                   .shape = tm_figure_table[i].kind | TM_DOC_OPTIONAL | TM_DOC_FRACTION,
                                   .title = tm_figure_headline(title[i], &tm_figure_table[i]) };
    memcpy(fields + COLUMNS + tm_figure_count, lists, sizeof(lists));
    return &schema;
}
