/* SPDX-License-Identifier: Apache-2.0 */
/* What `show --json` prints (reports/show), and the rows that it makes itself. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

const struct tm_doc_field tm_doc_figure_row[] = {
    { "path", TM_DOC_WORD, .title = "Figure", .help = "Its path in the document: `show RUN PATH` prints it alone." },
    { "value", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Unit", .help = "ps, ns, us, bytes, bytes/s, FLOP/s, %, or that of a key "
      "figure; null: none." },
    { "title", TM_DOC_PROSE, .title = "What" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_content_row[] = {
    { "name", TM_DOC_WORD, .title = "Name", .help = "What `show RUN NAME` takes." },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "table|figures|figure" },
    { "rows", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rows", .help = "Listed in the document; of figures their number." },
    { "not_listed", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Not listed", .help = "Further rows, of which the document has the "
      "sum only." },
    { "value", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Value", .help = "Of a single figure." },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Units", .help = "Of a figure, or those of the fields of a table." },
    { "title", TM_DOC_PROSE, .title = "What", .help = "Of what is not recorded, why." },
    { .key = NULL },
};

static const struct tm_doc_field field[] = {
    { "title", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Title" },
    { "kind", TM_DOC_WORD, .title = "Kind", .help = "duration, time, date, count, bytes, share, name ..." },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Unit", .help = "ps, ns, us, bytes, bytes/s, FLOP/s or %; null: none, or it "
      "stands in the row." },
    { "list", TM_DOC_BOOL, .help = "A row has a list of such values." },
    { "help", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Help" },
    { .key = NULL },
};

static const struct tm_doc_field measures[] = {
    { "time", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `time_ps` adds up." },
    { "count", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `count` adds up." },
    { "bytes", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `bytes` adds up." },
    { .key = NULL },
};

#define SUMS                                                                                                            \
    { "rows", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rows" },                                                         \
    { "time_ps", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "Their time in picoseconds, as the next ones " \
      "where the table has such a field: `measures`." },                                                                \
    { "count", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .title = "Count" },                                   \
    { "bytes", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .title = "Bytes" }

static const struct tm_doc_field sums[] = {
    SUMS,
    { .key = NULL },
};

static const struct tm_doc_field left_out[] = {
    SUMS,
    { "by_where", TM_DOC_OBJECT, .help = "Of these, what --where left out.", .fields = sums },
    { "by_top", TM_DOC_OBJECT, .help = "What --top left out.", .fields = sums },
    { "not_listed", TM_DOC_OBJECT, .help = "What the document does not list, so that neither was asked of it: its rows are "
      "capped by --rows of the analysis, or by its kind.", .fields = sums },
    { .key = NULL },
};

static const struct tm_doc_field query[] = {
    { "what", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "What" },
    { "where", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Condition" },
    { "sort", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Order" },
    { "top", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rows at most" },
    { "fields", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Fields" },
    { .key = NULL },
};

static const struct tm_doc_field show_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.show" },
    { "schema_version", TM_DOC_COUNT, .help = "Version of the schema", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "What wrote it.", .fields = tm_doc_tool },
    { "of", TM_DOC_WORD, .help = "Schema of the document that it was taken from: \"tracemill.summary\"." },
    { "partial", TM_DOC_BOOL, .help = "An input is damaged or missing." },
    { "redacted", TM_DOC_BOOL, .help = "Names are pseudonyms." },
    { "marks", TM_DOC_PROSE | TM_DOC_LIST, .help = "Losses of the input that touch the table." },
    { "query", TM_DOC_OBJECT, .help = "As it was typed.", .fields = query },
    { "table", TM_DOC_NAME, .help = "Path of the table: \"kernels.rows\"; \"contents\" of the list of what there is; of "
      "figures \"figures\", \"steps.figures\" ..." },
    { "title", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Title" },
    { "help", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Help" },
    { "not_recorded", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why the document has no such table." },
    { "fields", TM_DOC_OBJECT | TM_DOC_MAP, .help = "What the members of a row are, by their paths in it: \"idle_ps.host\".",
      .fields = field },
    { "rows", TM_DOC_ROW | TM_DOC_LIST, .help = "As the document has them; with --fields of these members alone, by their paths." },
    { "rows_returned", TM_DOC_COUNT, .help = "How many there are." },
    { "rows_total", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "Rows of the table in all, listed in the document or not." },
    { "measures", TM_DOC_OBJECT, .help = "What adds up over rows.", .fields = measures },
    { "returned", TM_DOC_OBJECT, .help = "What the rows above add up to.", .fields = sums },
    { "left_out", TM_DOC_OBJECT, .help = "What the others do.", .fields = left_out },
    { "total", TM_DOC_OBJECT, .help = "Both.", .fields = sums },
    { .key = NULL },
};

const struct tm_doc_schema tm_show_schema = {
    .name = "show",
    .title = "tracemill show",
    .page_path = "schemas/SHOW.md",
    .definitions = "docs/metrics.md",
    .page =
        "# What show prints, field by field\n"
        "\n"
        "What `tracemill show RUN WHAT --json` prints, a row on each line. `show.schema.json` is the formal description; this\n"
        "page is for people. Both are made from the tables in `pipeline/doc/show_fields.c` (`make schemas`): edit those.\n"
        "Conventions as in SUMMARY.md: a figure that is not known is `null`, and `why` beside it has the reason under the\n"
        "same key. [docs/show.md](../docs/show.md) describes the options.\n",
    .fields = show_fields,
};

/* clang-format on */
