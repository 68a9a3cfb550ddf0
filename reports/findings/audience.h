/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_AUDIENCE_H
#define TM_AUDIENCE_H

#include "pipeline/doc.h"

/* Whom a text is for.  Texts of causes and of things to do may begin with the runs that they are
 * fit for: "gpu|...", "jax|...", "gpu,torch|...", "train,torch,other|...".  Of the platforms named
 * one has to be the run's, of the frameworks named one, and of the purposes; a text without such a
 * begin is for all. */
enum tm_audience {
    TM_FOR_GPU = 1,
    TM_FOR_TPU = 2,
    TM_FOR_JAX = 4,
    TM_FOR_TORCH = 8,
    TM_FOR_OTHER = 16, /* the framework is not known, or there are several */
    TM_FOR_TRAIN = 32, /* a backward pass is in the profile, or nothing tells that there is none */
    TM_FOR_INFER = 64,
};

/* The platform, the framework and the purpose of a run, decided once: a set of enum tm_audience.
 * in:     summary  or what `inspect` found */
unsigned tm_audience_of(const struct tm_value *summary);

/* The text without its begin; NULL where it is for other runs. */
const char *tm_text_for(unsigned audience, const char *text);

#endif
