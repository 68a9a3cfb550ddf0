/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_TEXT_H
#define TM_OUT_TEXT_H

#include "pipeline/utf8.h"

/* A text of an output: valid UTF-8 without NUL, whatever the input has.
 * in:     to  TM_UTF8_REPLACEMENT_BYTES * length bytes at least
 * out:    bytes written */
size_t tm_out_utf8(char *to, const char *text, size_t length);

/* What a number that is not finite is called, since no format has it. */
const char *tm_out_not_finite(double value);

#endif
