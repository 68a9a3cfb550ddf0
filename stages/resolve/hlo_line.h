/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_LINE_H
#define TM_HLO_LINE_H

#include "stages/resolve/name_text.h"

/* An instruction as XLA prints it, which is the name of an op on a TPU:
 *     %name = SHAPE opcode(operands), attribute=value, ...
 * SHAPE is one word (f32[8,128]{1,0:T(8,128)S(5)}) or a tuple of shapes in parentheses, both with brackets of all
 * sorts inside.  source: the HLO text syntax of XLA */
struct tm_hlo_line {
    struct tm_text name;     /* without '%' */
    struct tm_text shape;    /* of the result */
    struct tm_text opcode;   /* empty = not found */
    struct tm_text operands; /* from its parenthesis to the end of the line */
};

static inline bool tm_is_opcode_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The length of what stands before the first blank outside of brackets: a shape, or one of a tuple's. */
size_t tm_shape_length(struct tm_text text);

/* Take a line apart, which may be cut short anywhere.  The parts are views of it. */
struct tm_hlo_line tm_hlo_line_read(struct tm_text text);

/* The ranks of each group in `replica_groups={{0,1},{2,3}}` or `[2,4]<=[8]` (two groups of four); 0 = not told. */
uint32_t tm_hlo_line_group_size(const struct tm_hlo_line *line);

/* What a rank sends or receives at most in the collective of a line: the sizes of the arrays in its result, of which a
 * reduce-scatter is given `group_size` times as much.  A -start has its operands in the result too: there the largest
 * array counts.
 * out:    bytes; 0 = the line does not tell it, or it is past 2^63 */
uint64_t tm_hlo_line_message_bytes(const struct tm_hlo_line *line, uint32_t group_size);

#endif
