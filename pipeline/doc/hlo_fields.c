/* SPDX-License-Identifier: Apache-2.0 */
/* What `show RUN hlo` and `show RUN programs` print: a document that exists in memory only (stages/input/hlo/hlo_view.h). */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

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
