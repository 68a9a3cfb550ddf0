/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NAME_CELL_H
#define TM_NAME_CELL_H

#include "pipeline/doc.h"
#include "pipeline/names.h"

/* Add a name of the trace to an object of the summary; a long one is cut as row_text.h has it. */
tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id) TM_MUST_USE;
/* The same where 0 means that there is none: null, with the reason. */
tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id,
                            const char *why) TM_MUST_USE;
/* The same, its first `most` bytes; 0 = all of them. */
tm_status tm_add_name_cut(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, size_t most,
                          const char *why) TM_MUST_USE;

#endif
