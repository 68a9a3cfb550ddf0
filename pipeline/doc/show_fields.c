/* SPDX-License-Identifier: Apache-2.0 */
/* What `show --json` prints (reports/show), and the rows that it makes itself. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

const struct tm_doc_field tm_doc_figure_row[] = {
    { "path", TM_DOC_WORD, .title = "Figure", .help = "Its path in the document: `show RUN PATH` prints only this "
      "part." },
    { "value", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Unit", .help = "ps, ns, us, bytes, bytes/s, FLOP/s, %, or the "
      "unit of a key figure; null: none." },
    { "title", TM_DOC_PROSE, .title = "What" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_content_row[] = {
    { "name", TM_DOC_WORD, .title = "Name", .help = "Name to pass to `show RUN NAME`." },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "table|figures|figure" },
    { "rows", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rows", .help = "Rows listed in the document; for figures, "
      "their number." },
    { "not_listed", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Not listed", .help = "Remaining rows, for which the "
      "document has only the sum." },
    { "value", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Value", .help = "For a single figure." },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Units", .help = "Of the figure, or of the fields of a table." },
    { "title", TM_DOC_PROSE, .title = "What", .help = "Why the figure is not recorded." },
    { .key = NULL },
};

static const struct tm_doc_field field[] = {
    { "title", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Title" },
    { "kind", TM_DOC_WORD, .title = "Kind", .help = "duration, time, date, count, bytes, share, name ..." },
    { "unit", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Unit", .help = "ps, ns, us, bytes, bytes/s, FLOP/s or %; null: "
      "none, or given in the row." },
    { "list", TM_DOC_BOOL, .help = "A row has a list of such values." },
    { "help", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Help" },
    { .key = NULL },
};

static const struct tm_doc_field measures[] = {
    { "time", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `time_ps` sums up." },
    { "count", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `count` sums up." },
    { "bytes", TM_DOC_WORD | TM_DOC_OPTIONAL, .help = "Field that `bytes` sums up." },
    { .key = NULL },
};

#define SUMS                                                                                                            \
    { "rows", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Rows" },                                                         \
    { "time_ps", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .help = "Time of these rows in picoseconds; like "  \
      "the next ones, only if the table has such a field: `measures`." },                                               \
    { "count", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .title = "Count" },                                   \
    { "bytes", TM_DOC_INTEGER | TM_DOC_OPTIONAL | TM_DOC_OR_NULL, .title = "Bytes" }

static const struct tm_doc_field sums[] = {
    SUMS,
    { .key = NULL },
};

static const struct tm_doc_field left_out[] = {
    SUMS,
    { "by_where", TM_DOC_OBJECT, .help = "Rows excluded by --where.", .fields = sums },
    { "by_top", TM_DOC_OBJECT, .help = "Rows beyond --top.", .fields = sums },
    { "not_listed", TM_DOC_OBJECT, .help = "Rows that the document does not list, so neither option applied to them: "
      "its rows are limited by --rows of the analysis, or by its kind.", .fields = sums },
    { .key = NULL },
};

static const struct tm_doc_field query[] = {
    { "what", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "What" },
    { "where", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Condition" },
    { "sort", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Order" },
    { "top", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Row limit" },
    { "fields", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Fields" },
    { .key = NULL },
};

static const struct tm_doc_field show_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.show" },
    { "schema_version", TM_DOC_COUNT, .help = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "The program that wrote it.", .fields = tm_doc_tool },
    { "of", TM_DOC_WORD, .help = "Schema of the source document: \"tracemill.summary\"." },
    { "partial", TM_DOC_BOOL, .help = "An input is damaged or missing." },
    { "redacted", TM_DOC_BOOL, .help = "Names are replaced by pseudonyms." },
    { "marks", TM_DOC_PROSE | TM_DOC_LIST, .help = "Losses in the input that affect the table." },
    { "query", TM_DOC_OBJECT, .help = "As given on the command line.", .fields = query },
    { "table", TM_DOC_NAME, .help = "Path of the table: \"kernels.rows\"; \"contents\" for the list of tables; "
      "\"figures\", \"steps.figures\" ... for figures." },
    { "title", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Title" },
    { "help", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Help" },
    { "not_recorded", TM_DOC_PROSE | TM_DOC_OR_NULL, .help = "Why the document has no such table." },
    { "fields", TM_DOC_OBJECT | TM_DOC_MAP, .help = "The members of a row, by their paths in it: \"idle_ps.host\".",
      .fields = field },
    { "rows", TM_DOC_ROW | TM_DOC_LIST, .help = "As in the document; with --fields only these members, by their "
      "paths." },
    { "rows_returned", TM_DOC_COUNT, .help = "Number of rows." },
    { "rows_total", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "Rows of the table in total, listed in the document or "
      "not." },
    { "measures", TM_DOC_OBJECT, .help = "What can be summed over rows.", .fields = measures },
    { "returned", TM_DOC_OBJECT, .help = "Sums over the rows above.", .fields = sums },
    { "left_out", TM_DOC_OBJECT, .help = "Sums over all other rows.", .fields = left_out },
    { "total", TM_DOC_OBJECT, .help = "Both.", .fields = sums },
    { .key = NULL },
};

const struct tm_doc_schema tm_show_schema = {
    .name = "show",
    .title = "tracemill show",
    .page_path = "schemas/SHOW.md",
    .definitions = "docs/metrics.md",
    .page =
        "# Output of show, field by field\n"
        "\n"
        "This is what `tracemill show RUN WHAT --json` prints, one row per line. `show.schema.json` is the formal description; this\n"
        "page is for people. Both are generated from the tables in `pipeline/doc/show_fields.c` (`make schemas`): edit those.\n"
        "Conventions as in SUMMARY.md: an unknown figure is `null`, and `why` beside it has the reason under the\n"
        "same key. [docs/show.md](../docs/show.md) describes the options.\n",
    .fields = show_fields,
};

/* --- what `show RUN hlo` and `show RUN programs` print: a document that exists in memory only
 * (stages/input/hlo/hlo.h) --- */

static const struct tm_doc_field programs[] = {
    { "name", TM_DOC_NAME, .title = "Program", .help = "Its name and number: jit_train_step(8)." },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "instructions", TM_DOC_COUNT, .title = "Instructions", .help = "Those inside fusions included." },
    { "hlo_bytes", TM_DOC_BYTES, .title = "HLO", .help = "Size of its HLO in the profile." },
    { "peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Peak memory", .help = "Device memory that the compiler "
      "assigned to one execution: arguments, constants, outputs and temporary buffers." },
    { "argument_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Arguments" },
    { "constant_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Constants" },
    { "output_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Outputs", .help = "Those that share the memory of an "
      "argument (donated buffers) count as arguments." },
    { "temporary_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Temporary" },
    { "heap_peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "In use at the peak", .help = "Most bytes of temporary "
      "values that are alive together, by the compiler's simulation of its heap. The rest of the heap is fragmentation." },
    { "peak_at", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Peak at", .help = "The instruction at that moment." },
    { "parameters", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Parameters", .help = "Shapes of the parameters." },
    { "problem", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Problem", .help = "Why not all of it could be read." },
    { .key = NULL },
};

static const struct tm_doc_field buffers[] = {
    { "program", TM_DOC_NAME, .title = "Program" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "allocation", TM_DOC_COUNT, .title = "Allocation", .help = "Its number in the buffer assignment." },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "argument|constant|output|temporary" },
    { "bytes", TM_DOC_BYTES, .title = "Size" },
    { "values", TM_DOC_COUNT, .title = "Values", .help = "Values of the program that share it." },
    { .key = NULL },
};

static const struct tm_doc_field peak[] = {
    { "program", TM_DOC_NAME, .title = "Program" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Instruction", .help = "That makes it; of an allocation that values "
      "share, of the largest value." },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "argument|constant|output|temporary" },
    { "bytes", TM_DOC_BYTES | TM_DOC_ADDS, .title = "Size" },
    { "shape", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shape", .help = "Of the instruction." },
    { "opcode", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Opcode" },
    { "path", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Framework path" },
    { "source", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Source" },
    { "allocation", TM_DOC_COUNT, .title = "Allocation", .help = "Its number in the buffer assignment." },
    { .key = NULL },
};

static const struct tm_doc_field instructions[] = {
    { "relation", TM_DOC_WORD, .title = "Relation", .words = "op|caller|operand|user|body", .help = "To the instruction "
      "that was requested: itself, what calls its computation, what it reads, what reads it, or what it calls." },
    { "level", TM_DOC_COUNT, .title = "Level", .help = "Steps from it." },
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Instruction" },
    { "opcode", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Opcode" },
    { "shape", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shape", .help = "Of the result, with its layout: dimensions from "
      "minor to major, tiles (T), memory space (S)." },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Size", .help = "Of the result." },
    { "operands", TM_DOC_NAME | TM_DOC_LIST, .title = "Operands", .help = "The first 64." },
    { "operand_count", TM_DOC_COUNT, .title = "Number of operands" },
    { "fusion_kind", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Fusion kind" },
    { "target", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Target", .help = "Of a custom call." },
    { "path", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Framework path", .help = "op_name in the HLO." },
    { "source", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Source", .help = "File and line." },
    { "sharding", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Sharding" },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL, .title = "FLOP", .help = "Of one execution." },
    { "bytes_accessed", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Memory traffic", .help = "Bytes read and written by one "
      "execution." },
    { "replica_groups", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Replica groups", .help = "Of a collective; of a permute the "
      "pairs of source and target." },
    { "computation", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Computation" },
    { "program", TM_DOC_NAME, .title = "Program" },
    { .key = NULL },
};

static const struct tm_doc_field rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { .key = NULL },
};

static const struct tm_doc_field input[] = {
    { "partial", TM_DOC_BOOL, .title = "Damaged" },
    { .key = NULL },
};

static const struct tm_doc_field hlo_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.hlo" },
    { "input", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .title = "Input", .fields = input },
    { "programs", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Compiled programs in the profile", .fields = programs },
    { "buffers", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Largest buffers of each program", .fields = buffers, .most = 0,
      .help = "Buffers that the compiler assigned, the 20 largest of each program." },
    { "peak", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Buffers at the peak of each program", .fields = peak, .help = "The 20 "
      "largest buffers of each program at the moment when most memory is in use." },
    { "instructions", TM_DOC_OBJECT | TM_DOC_LIST, .title = "HLO around an instruction", .fields = instructions },
    { "instructions_rest", TM_DOC_OBJECT | TM_DOC_OPTIONAL, .title = "Instructions that are not listed", .fields = rest },
    { .key = NULL },
};

const struct tm_doc_schema tm_hlo_schema = {
    .name = "hlo",
    .title = "tracemill show RUN hlo",
    .page = "",
    .page_path = "schemas/SHOW.md",
    .definitions = "docs/show.md",
    .fields = hlo_fields,
};

/* clang-format on */
