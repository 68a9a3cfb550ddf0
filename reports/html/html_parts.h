/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_PARTS_H
#define TM_HTML_PARTS_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* Write index.html: the parts of a trace, where each lies in time, and how to open them.  It needs nothing else, no
 * network and no script; its links lead to the parts beside it.
 * in:     doc  a list of parts (schemas/split.schema.json)
 * out:    to   UTF-8; the same bytes for the same list
 * errors: TM_ERR_OUTPUT `to` takes no more */
tm_status tm_html_parts_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

#endif
