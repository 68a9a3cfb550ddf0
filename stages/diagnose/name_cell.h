/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NAME_CELL_H
#define TM_NAME_CELL_H

#include "pipeline/doc.h"
#include "pipeline/names.h"

enum { TM_NAME_CELL_BYTES = 256 }; /* a longer name is cut there, and "..." put behind it */

/* Add a name of the trace to an object of the summary. */
tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id) TM_MUST_USE;
/* The same where 0 means that there is none: null, with the reason. */
tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id,
                            const char *why) TM_MUST_USE;

#endif
