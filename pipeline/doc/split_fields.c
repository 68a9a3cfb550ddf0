/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the parts of a trace: index.json of `tracemill split`.  Members are in the order of the document. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

/* What a part holds, and all of them together. */
#define SIZES                                                                                                          \
    { "bytes", TM_DOC_COUNT, .help = "On disk." },                                                                     \
    { "raw_bytes", TM_DOC_COUNT, .help = "Before compression." },                                                      \
    { "slices", TM_DOC_COUNT, .help = "Spans, pieces of them, and instants." },                                        \
    { "pieces", TM_DOC_COUNT, .help = "Slices among them that began in the part before." },                            \
    { "counters", TM_DOC_COUNT, .help = "Values of counters." },                                                       \
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
    { "begin_ns", TM_DOC_NS, .help = "Its first event, after time 0." },
    { "end_ns", TM_DOC_NS, .help = "The end of its last event, likewise." },
    { "steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Of its host, by their ordinals: those that it has a part of; a "
      "step ends where the next one begins.", .fields = steps },
    { "host", TM_DOC_HOST | TM_DOC_OR_NULL, .title = "Host" },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL, .help = "Where parts are by device: gpu:0; host is what "
      "lies on none." },
    { "viewer_bytes_estimate", TM_DOC_COUNT, .help = "Memory that a viewer needs for it, about: docs/convert.md." },
    { .key = NULL },
};

static const struct tm_doc_field split_fields[] = {
    { "schema", TM_DOC_WORD, .title = "Schema", .words = "tracemill.split" },
    { "schema_version", TM_DOC_COUNT, .title = "Version of the schema", .least = 1, .most = 1 },
    { "tool", TM_DOC_OBJECT, .help = "What wrote it.", .fields = tm_doc_tool },
    { "run", TM_DOC_NAME, .title = "Run" },
    { "hosts", TM_DOC_HOST | TM_DOC_LIST | TM_DOC_FILLED, .title = "Hosts", .least = 1 },
    { "format", TM_DOC_WORD, .title = "Format", .words = "pftrace|json" },
    { "by", TM_DOC_WORD, .help = "What a new part begins with.", .words = "limits|step|device|time" },
    { "max_events", TM_DOC_COUNT, .help = "Of a part.", .least = 1 },
    { "max_bytes", TM_DOC_COUNT, .help = "Of a part.", .least = 65536 },
    { "epoch_ns", TM_DOC_NS, .help = "What the clock of the parts reads at time 0." },
    { "partial", TM_DOC_BOOL, .help = "An input was cut short or damaged." },
    { "total", TM_DOC_OBJECT, .help = "Of all parts.", .fields = total },
    { "parts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "In the order of their names.", .fields = part },
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
        "What `tracemill split` lists of the parts that it wrote. `split.schema.json` is the formal description;\n"
        "docs/convert.md, \"Parts\", tells how a trace is split.\n"
        "\n"
        "This page and the schema are made from the tables in `pipeline/doc/split_fields.c` (`make schemas`):\n"
        "edit those.\n",
    .fields = split_fields,
};

/* clang-format on */
