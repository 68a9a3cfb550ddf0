/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NIGHT_MARKDOWN_H
#define TM_NIGHT_MARKDOWN_H

#include <stdio.h>

#include "pipeline/doc.h"

/* A night in short, for a pull request or a chat: what failed first, then what cannot be judged or has no report; what
 * passed is folded.  At most TM_MARKDOWN_BYTES_MOST bytes: what there is no room for is counted.
 * in:     gates  as tm_night_gates fills it
 *         title  NULL = none
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT */
tm_status tm_night_markdown_write(struct tm_run *run, const struct tm_value *gates, const char *title,
                                  FILE *to) TM_MUST_USE;

#endif
