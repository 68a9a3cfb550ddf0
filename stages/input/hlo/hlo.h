/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_H
#define TM_HLO_H

#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"

/* The compiled programs (xla.HloProto) in a profile, and the properties of its ops: rows of tm_trace.hlo_ops and
 * hlo_modules.  A program is parsed from the wire format, one instruction at a time; properties that others need (the
 * shapes of operands, the sums of called computations) are in tables that spill.
 * source: xla/service/hlo.proto, xla/xla_data.proto; formulas of costs: docs/input.md */
struct tm_hlo;

/* Where a program is in the input. */
struct tm_hlo_program {
    uint64_t begin, end; /* of its HloProto */
    int64_t id;          /* where has_id */
    tm_strid name;       /* where the program itself has none */
    bool has_id;
};

/* in:     trace, input  must outlive it; the input is held
 * errors: NULL, with the error in run->error */
struct tm_hlo *tm_hlo_new(struct tm_trace *trace, const struct tm_input *input) TM_MUST_USE;
void tm_hlo_free(struct tm_hlo *hlo); /* tolerates NULL */

/* What fails here and below is remembered in run->error.
 * Note a program, to be read later. */
void tm_hlo_add(struct tm_hlo *hlo, const struct tm_hlo_program *program);

/* Read all of them: completes trace->hlo_ops and hlo_modules, so configs can be joined.  Damage is not an error: the
 * module's `why` reports it. */
void tm_hlo_read(struct tm_hlo *hlo);

/* Find the HLO properties of a config's op: by its program and the last part of hlo_op ("fusion.1::dot.3"), for a TPU
 * op by the name in its HLO text.  Without a program, only if exactly one program has an op of this name.
 * out:    config->hlo, and config->source if that was not set; unchanged if nothing is found */
void tm_hlo_join(struct tm_hlo *hlo, struct tm_config *config);

/* Join the configs that were made before the programs were read. */
void tm_hlo_join_all(struct tm_hlo *hlo);

/* --- for people (hlo_view.c): the programs with their buffer assignment, and one instruction with its operands, users
 * and body.  A program is walked on the wire a few times, an instruction at a time; the tables have a fixed size. --- */

struct tm_value;

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
