/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KERNEL_CATEGORY_H
#define TM_KERNEL_CATEGORY_H

#include "pipeline/record.h"

/* What kind of work a kernel or an op does, in which precision, and whether on Tensor Cores or the MXU, derived
 * from names. */
enum tm_kernel_category {
    TM_CATEGORY_GEMM,
    TM_CATEGORY_CONVOLUTION,
    TM_CATEGORY_ATTENTION,
    TM_CATEGORY_NORMALIZATION,
    TM_CATEGORY_SOFTMAX,
    TM_CATEGORY_REDUCTION,
    TM_CATEGORY_ELEMENTWISE,       /* more than one op, fused */
    TM_CATEGORY_ELEMENTWISE_ALONE, /* one op */
    TM_CATEGORY_GATHER,            /* embedding, gather, scatter, index */
    TM_CATEGORY_SORT,
    TM_CATEGORY_RANDOM,
    TM_CATEGORY_QUANTIZATION,
    TM_CATEGORY_OPTIMIZER,
    TM_CATEGORY_ROUTING, /* of a mixture of experts */
    TM_CATEGORY_COPY,    /* and layout */
    TM_CATEGORY_MEMSET,
    TM_CATEGORY_COLLECTIVE,
    TM_CATEGORY_CUSTOM, /* not of a known library, or opaque */
    TM_CATEGORY_OTHER,
    TM_CATEGORY_COUNT,
    TM_CATEGORY_SILENT = TM_CATEGORY_COUNT /* not shown by the text */
};
extern const char *const tm_category_name[TM_CATEGORY_COUNT]; /* as in summary.json: "gemm/dot" */

/* The input: class and level of the event, and its known strings; 0 = none. */
struct tm_category_question {
    tm_strid name, hlo_op, op, category; /* category: hlo_category of a TPU op */
    uint8_t class;                       /* enum tm_class */
    uint8_t level;                       /* enum tm_level */
    uint8_t has_matrix;                  /* the HLO shows that its op contains a matmul */
    uint8_t is_op;                       /* it is about an op, not about one of the kernels that it runs as */
};

/* Decide by the class, then by the first string that determines it: hlo_category (of the compiler, so it is first), the
 * name, the HLO op, the last part of the framework path.  An op with a matmul is one, whatever its name; of the kernels
 * that such an op runs, those with unspecific names are.  A kernel without any specific string is custom, unless it
 * belongs to a known library. */
enum tm_kernel_category tm_kernel_category_of(struct tm_names *names, const struct tm_category_question *question);

/* The category from one string: a kernel's name, an HLO op or opcode, a category of the TPU compiler. */
enum tm_kernel_category tm_category_in(const char *text, size_t length);

/* The same for a string of the names, which is parsed once for all callers. */
enum tm_kernel_category tm_category_of_text(struct tm_names *names, tm_strid text);

/* The precision in a kernel's name: "bf16", "f16", "f32", "f64", "tf32", "fp8", "s8"; NULL
 * = it does not. */
const char *tm_precision_in(const char *name, size_t length);

/* The type of an op's result in its HLO line ("%name = bf16[8,128]{...} ..."), in the same words;
 * NULL = none of them. */
const char *tm_precision_of_hlo(const char *text, size_t length);

/* Whether a kernel works on Tensor Cores or the MXU: 1 yes, 0 no, -1 not shown by the name. */
int tm_tensor_core_in(const char *name, size_t length);

#endif
