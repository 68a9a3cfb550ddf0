/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_VIEW_H
#define TM_HLO_VIEW_H

#include "pipeline/doc/doc.h"
#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"

/* The HLO in a profile, for people: its programs with their buffer assignment, and one instruction with its
 * operands, users and body.  A program is walked on the wire a few times, an instruction at a time; the tables have a
 * fixed size.
 * source: xla/service/hlo.proto, xla/xla_data.proto */

/* Lists of the document of programs. */
struct tm_hlo_lists {
    struct tm_value *programs;
    struct tm_value *buffers; /* the largest allocations of each */
    struct tm_value *peak;    /* the largest buffers alive when most memory is in use */
};

/* Add a row for each program, and for its buffers.
 * in:     trace  scanned; input  of it, held */
void tm_hlo_list_programs(struct tm_trace *trace, const struct tm_input *input, const struct tm_hlo_lists *lists);

enum { TM_HLO_PLACES = 8192, TM_HLO_NAME = 512 };

/* The search for an instruction in the programs of a run. */
struct tm_hlo_search {
    const char *name;           /* as typed: "fusion.3", "%fusion.3", "jit_step/fusion.3", "jit_step(8)/fusion.3" */
    uint64_t matches;           /* programs with such an instruction */
    uint32_t host, module;      /* the first of them */
    char others[TM_HLO_PLACES]; /* what to type for each */
    char nearest[TM_HLO_NAME];  /* a similar name, where nothing matches */
    uint64_t programs;          /* looked at */
    /* private */
    size_t distance;
    char nearest_room[TM_HLO_NAME];
};

/* Search the programs of a host.  A program that several hosts have counts once.
 * in: search  of the first host zeroed but for the name */
void tm_hlo_search(struct tm_hlo_search *search, struct tm_trace *trace, const struct tm_input *input);

/* Add the instruction that was found and those around it (tm_doc_hlo_instruction), and how many were left out. */
void tm_hlo_list_instructions(const struct tm_hlo_search *search, struct tm_trace *trace, const struct tm_input *input,
                              struct tm_value *root);

#endif
