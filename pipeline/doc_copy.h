/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOC_COPY_H
#define TM_DOC_COPY_H

#include "pipeline/doc.h"

/* Add a copy of a value and of all below it as a member (key) or an element (key NULL); nulls keep their reasons.
 * in:     to    not below `from`; of the same document or another; what there is no room for: see tm_doc_status of its own
 *         from  NULL = a null without a reason */
void tm_add_copy(struct tm_value *to, const char *key, const struct tm_value *from);

#endif
