/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPILE_SHAPES_H
#define TM_COMPILE_SHAPES_H

#include "pipeline/doc.h"

/* What changed between the compiles of one module, told from the shapes of its arguments: " f32[8,128] -> f32[9,128]"
 * for the first argument that changed and how many more did, or that none did.
 * in:     events  compile.events of the summary, in the order of time
 * out:    to      the clause; "" where the shapes are not known */
void tm_compile_shapes(const struct tm_value *events, const char *module, char *to, size_t to_bytes);

#endif
