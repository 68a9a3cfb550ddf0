/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPLIT_PARTS_H
#define TM_SPLIT_PARTS_H

#include "pipeline/commands/split_borders.h"
#include "pipeline/commands/trace_output.h"

/* A run in parts: one file after the other, each whole when it gets its name. */

enum { TM_PARTS_MOST = 9999 };

struct tm_split_parts {
    struct tm_conversion *c;
    const struct tm_trace_format *format;
    const char *folder;
    struct tm_rows *written;         /* struct tm_written, in the order of their numbers */
    /* what is being written */
    struct tm_split_borders borders;
    struct tm_trace_output out;
    struct tm_out_file *file;        /* NULL = none */
    struct tm_written part;
};

/* Write all parts into a folder that is there.
 * in:     c      prepared
 * owns:   the caller; tm_split_parts_free releases it, also after a failure
 * errors: of the input, of the output; TM_ERR_LIMIT past TM_PARTS_MOST parts */
tm_status tm_split_parts_write(struct tm_split_parts *p, struct tm_conversion *c, const struct tm_trace_format *format,
                               const char *folder) TM_MUST_USE;
void tm_split_parts_free(struct tm_split_parts *p);

/* Remove what was written. */
void tm_split_parts_remove(struct tm_split_parts *p);

/* The list of the parts, as schemas/split.schema.json has it, and as lines. */
tm_status tm_split_parts_add(const struct tm_split_parts *p, struct tm_value *root) TM_MUST_USE;
tm_status tm_split_parts_print(const struct tm_split_parts *p, FILE *to) TM_MUST_USE;

#endif
