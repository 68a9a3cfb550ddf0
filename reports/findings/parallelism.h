/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PARALLELISM_H
#define TM_PARALLELISM_H

#include "pipeline/doc.h"

/* What collectives are for, as far as the names in the profile tell: advice that fits one way of
 * splitting a model is wrong for another. */
enum tm_parallelism {
    TM_DATA_PARALLEL = 1, /* each device has the whole model: all-reduces of gradients */
    TM_SHARDED_PARALLEL =
        2, /* FSDP, ZeRO: all-gathers of parameters, reduce-scatters of gradients */
    TM_TENSOR_PARALLEL = 4, /* layers are split: all-reduces, or all-gathers and reduce-scatters,
                               inside each layer */
    TM_EXPERT_PARALLEL = 8, /* experts are split: all-to-alls of tokens */
    TM_EMBEDDING_PARALLEL =
        16, /* embedding tables are split: all-to-alls of lookups and their gradients */
    TM_PIPELINE_PARALLEL =
        32, /* layers are on different devices: sends and receives of activations */
};

/* Kinds of collectives, as bits. */
enum tm_collective_bit {
    TM_BIT_ALL_REDUCE = 1,
    TM_BIT_ALL_GATHER = 2,
    TM_BIT_REDUCE_SCATTER = 4,
    TM_BIT_ALL_TO_ALL = 8, /* with sends and receives: NCCL runs all-to-alls as these */
    TM_BIT_OTHER = 16,
};

/* The kinds that have so many percent of the exposed time in which data move, or that have no
 * counterpart. */
unsigned tm_exposed_kinds(const struct tm_value *summary, double least_pct);

/* out:    a set of enum tm_parallelism; 0 = nothing in the profile tells */
unsigned tm_parallelism_of(const struct tm_value *summary);

/* "data parallelism and tensor parallelism"; out has TM_PARALLELISM_BYTES */
enum { TM_PARALLELISM_BYTES = 200 };
char *tm_parallelism_names(char *out, unsigned set);

#endif
