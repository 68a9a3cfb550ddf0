/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CATEGORIES_H
#define TM_CATEGORIES_H

#include "pipeline/trace.h"

/* What the category of an event in PyTorch's profiles says: there it decides, not the name. */
struct tm_category {
    enum tm_class class;             /* goes into the record: see tm_class_question.given */
    enum tm_side side;               /* where such events are, whatever their process is called */
    enum tm_accelerator accelerator; /* whose events nobody here can tell apart; NONE of others */
};

/* in:     cat  of the event, as the file has it
 * out:    *out  changed only where true is returned; false: no category of PyTorch's that says anything (flows
 *               among them) */
bool tm_category_of(const char *cat, size_t length, struct tm_category *out);

#endif
