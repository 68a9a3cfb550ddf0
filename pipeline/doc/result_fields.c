/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run of a batch, or of one host of it: result.json.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

#define HASH "^[0-9a-f]{16}$"

static const struct tm_doc_field files[] = {
    { "name", TM_DOC_PATH, .title = "Name" },
    { "bytes", TM_DOC_COUNT, .title = "Bytes" },
    { "xxh3", TM_DOC_WORD, .help = "XXH3-64 of its content.", .pattern = HASH },
    { .key = NULL },
};

static const struct tm_doc_field facts[] = {
    { "run", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Run" },
    { "hosts", TM_DOC_COUNT, .title = "Hosts" },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "platform", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Platform", .words = "gpu|tpu|cpu|none" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Device", .help = "If all devices are of one model." },
    { "partial", TM_DOC_BOOL, .help = "The input is damaged or truncated." },
    { "host", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .help = "Name of its host, or of the first of several." },
    { "driver", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .help = "This and the next: versions, of several hosts "
      "each one once." },
    { "framework", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Framework" },
    { "jax", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "JAX" },
    { "jaxlib", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "jaxlib" },
    { "cuda", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "CUDA" },
    { "rocm", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "ROCm" },
    { "libtpu", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "libtpu" },
    { .key = NULL },
};

static const struct tm_doc_field verdict[] = {
    { "text", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Verdict" },
    { "severity", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Severity", .words = "info|warning|critical" },
    { "finding", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "First finding" },
    { .key = NULL },
};

static const struct tm_doc_field op[] = {
    { "name", TM_DOC_NAME, .help = "Of the operation; path of the scope.", .least = 1, .most = 255 },
    { "time_ps", TM_DOC_TIME | TM_DOC_FRACTION, .help = "Per step and device." },
    { .key = NULL },
};

static const struct tm_doc_field result_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.result" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "The program that wrote the file.", .fields = tm_doc_tool },
    { "definitions", TM_DOC_COUNT | TM_DOC_OPTIONAL, .help = "Version of the definitions of the figures: "
      "schema_version of the summary. Missing: 1.", .least = 1 },
    { "id", TM_DOC_NAME, .help = "Key of the run.", .pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$" },
    { "host", TM_DOC_NAME | TM_DOC_OR_NULL, .help = "Id of the file of one host; null: the whole run." },
    { "status", TM_DOC_WORD, .title = "Status", .words = "done|partial|refused|failed" },
    { "exit_status", TM_DOC_COUNT, .help = "Of the worker; 128 + n: terminated by signal n." },
    { "message", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Why" },
    { "hint", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Recommendations" },
    { "fingerprint", TM_DOC_WORD, .help = "Of the inputs.", .pattern = HASH },
    { "options", TM_DOC_WORD, .help = "Hash of the options that affect the output.", .pattern = HASH },
    { "pruned", TM_DOC_BOOL, .help = "Its files were removed, except for a summary that gates compare with." },
    { "files", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The files beside it, in the order of their creation.",
      .fields = files },
    { "figures", TM_DOC_NUMBER | TM_DOC_MAP | TM_DOC_OR_NULL | TM_DOC_OF_NULLS, .help = "By the columns of the "
      "history: HISTORY.md. Null, like those after it, after a failure and for one host of several.",
      .pattern = "^[a-z0-9_]+$" },
    { "facts", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Hardware and software of the run.", .fields = facts },
    { "verdict", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The headline of its report.", .fields = verdict },
    { "ops", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .help = "Its longest operations, by self "
      "time; those of the same name add up. Like the next one, empty if no steps are marked, and null after pruning.",
      .fields = op, .most = 50 },
    { "scopes", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .help = "Its longest scopes, by the time "
      "of all operations in them, in all passes.", .fields = op, .most = 50 },
    { .key = NULL },
};

const struct tm_doc_schema tm_result_schema = {
    .name = "result",
    .title = "tracemill result",
    .page_path = "schemas/RESULT.md",
    .definitions = "docs/metrics.md",
    .page =
        "# result.json, field by field\n"
        "\n"
        "`tracemill batch run` writes it last, beside the report of a run or the partial of one of\n"
        "its hosts. `result.schema.json` is the formal description; BATCH.md describes the other files of a batch, and when\n"
        "a result is valid.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/result_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = result_fields,
};

/* clang-format on */
