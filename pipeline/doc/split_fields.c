/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the parts of a trace: index.json of `tracemill split`.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

/* What a part holds, and all of them together. */
#define SIZES                                                                                                          \
    { "bytes", TM_DOC_COUNT, .help = "On disk." },                                                                     \
    { "raw_bytes", TM_DOC_COUNT, .help = "Before compression." },                                                      \
    { "slices", TM_DOC_COUNT, .help = "Slices, parts of slices, and instants." },                                        \
    { "pieces", TM_DOC_COUNT, .help = "Of these, slices that started in the previous part." },                            \
    { "launches", TM_DOC_COUNT, .help = "Of these, calls that launched the work of the part's device; they are in the " \
      "part of the host too." },                                                                                         \
    { "counters", TM_DOC_COUNT, .help = "Counter values." },                                                       \
    { "arrows", TM_DOC_COUNT, .help = "Arrows between two events of the part." },                                      \
    { "arguments", TM_DOC_COUNT, .help = "Of the slices." }

static const struct tm_doc_field total[] = {
    { "parts", TM_DOC_COUNT, .title = "Parts" },
    SIZES,
    { .key = NULL },
};

static const struct tm_doc_field steps[] = {
    { "first", TM_DOC_COUNT, .title = "First" },
    { "count", TM_DOC_COUNT, .title = "Count", .least = 1 },
    { .key = NULL },
};

static const struct tm_doc_field part[] = {
    { "file", TM_DOC_WORD, .help = "In the folder of the list.", .pattern = "^part-[A-Za-z0-9._-]+$" },
    SIZES,
    { "rows", TM_DOC_COUNT, .help = "Processes, threads, lanes, counters." },
    { "begin_ns", TM_DOC_NS, .help = "Its first event, relative to time 0." },
    { "end_ns", TM_DOC_NS, .help = "The end of its last event, likewise." },
    { "steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Steps that are at least partly in this part, by ordinal per "
      "host; a step ends where the next one starts.", .fields = steps },
    { "host", TM_DOC_HOST | TM_DOC_OR_NULL, .title = "Host" },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL, .help = "If parts are split by device: gpu:0; host is everything "
      "that belongs to no device." },
    { "viewer_bytes_estimate", TM_DOC_COUNT, .help = "Approximate memory that a viewer needs for it: docs/convert.md." },
    { .key = NULL },
};

static const struct tm_doc_field overview[] = {
    { "file", TM_DOC_WORD, .help = "In the folder of the list.", .words = "overview.pftrace" },
    { "bytes", TM_DOC_COUNT, .help = "On disk." },
    { "raw_bytes", TM_DOC_COUNT, .help = "Before compression." },
    { "slices", TM_DOC_COUNT, .help = "Slices, also those that were merged from several, and counter values." },
    { .key = NULL },
};

static const struct tm_doc_field split_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.split" },
    { "schema_version", TM_DOC_COUNT, .title = "Schema version", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "The program that wrote it.", .fields = tm_doc_tool },
    { "run", TM_DOC_NAME, .title = "Run" },
    { "hosts", TM_DOC_HOST | TM_DOC_LIST | TM_DOC_FILLED, .title = "Hosts", .least = 1 },
    { "format", TM_DOC_WORD, .title = "Format", .words = "pftrace|json" },
    { "by", TM_DOC_WORD, .help = "What starts a new part.", .words = "limits|step|device|time|name" },
    { "max_events", TM_DOC_COUNT, .help = "Per part.", .least = 1 },
    { "max_bytes", TM_DOC_COUNT, .help = "Per part.", .least = 65536 },
    { "epoch_ns", TM_DOC_NS, .help = "Reading of the parts' clock at time 0." },
    { "partial", TM_DOC_BOOL, .help = "An input was truncated or damaged." },
    { "overview", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The file that shows the whole run; each of its steps names "
      "the part that has it.", .fields = overview },
    { "total", TM_DOC_OBJECT, .help = "Over all parts.", .fields = total },
    { "parts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Sorted by name.", .fields = part },
    { .key = NULL },
};

const struct tm_doc_schema tm_split_schema = {
    .name = "split",
    .title = "tracemill split",
    .page_path = "schemas/SPLIT.md",
    .definitions = "docs/convert.md",
    .page =
        "# index.json of a split trace, field by field\n"
        "\n"
        "The list of parts that `tracemill split` writes. `split.schema.json` is the formal description;\n"
        "docs/convert.md, \"Parts\", describes how a trace is split.\n"
        "\n"
        "This page and the schema are generated from the tables in `pipeline/doc/split_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = split_fields,
};

/* clang-format on */
