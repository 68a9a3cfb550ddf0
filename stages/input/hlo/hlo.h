/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_H
#define TM_HLO_H

#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"

/* The compiled programs (xla.HloProto) that are in a profile, and what they say of its ops: rows of tm_trace.hlo_ops
 * and hlo_modules.  A program is walked on the wire, an instruction at a time; what has to be known of others (the
 * shapes of operands, the sums of called computations) is kept in tables that spill.
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

/* Read all of them: trace->hlo_ops and hlo_modules are complete then, and configs can be joined.  Damage is not an
 * error: the module's `why` tells it. */
void tm_hlo_read(struct tm_hlo *hlo);

/* Find what the HLO says of a config's op: by its program and the last part of hlo_op ("fusion.1::dot.3"), of a TPU
 * op the name in its HLO text.  Without a program only where one program alone has an op of this name.
 * out:    config->hlo, and config->source where that was not told; unchanged where nothing is found */
void tm_hlo_join(struct tm_hlo *hlo, struct tm_config *config);

/* Join the configs that were made before the programs were read. */
void tm_hlo_join_all(struct tm_hlo *hlo);

#endif
