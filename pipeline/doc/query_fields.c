/* SPDX-License-Identifier: Apache-2.0 */
/* What `query --json` prints (reports/query). */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

static const struct tm_doc_field query_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.query" },
    { "schema_version", TM_DOC_COUNT, .help = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "What wrote it.", .fields = tm_doc_tool },
    { "partial", TM_DOC_BOOL, .help = "An input is damaged or missing: the tables hold only what could be read." },
    { "sql", TM_DOC_PROSE, .help = "The query as it was typed." },
    { "columns", TM_DOC_NAME | TM_DOC_LIST, .help = "Names of the columns, in their order. Of two columns of one name the second "
      "is called \"name:2\"." },
    { "rows", TM_DOC_ROW | TM_DOC_LIST, .help = "An object for each row, with a member for each column: an integer, a number, "
      "a text or null." },
    { "rows_returned", TM_DOC_COUNT, .help = "Rows above; --top limits them." },
    { "rows_total", TM_DOC_COUNT, .help = "Rows of the answer in all." },
    { .key = NULL },
};

const struct tm_doc_schema tm_query_schema = {
    .name = "query",
    .title = "tracemill query",
    .page_path = "schemas/QUERY.md",
    .definitions = "docs/metrics.md",
    .page =
        "# What query prints, field by field\n"
        "\n"
        "What `tracemill query RUN SQL --json` prints, a row on each line. `query.schema.json` is the formal description; this\n"
        "page is for people. Both are made from `pipeline/doc/query_fields.c` (`make schemas`): edit that.\n"
        "[docs/query.md](../docs/query.md) describes the tables.\n",
    .fields = query_fields,
};

/* clang-format on */
