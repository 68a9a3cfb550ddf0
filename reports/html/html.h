/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_H
#define TM_HTML_H

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "reports/html/htmlw.h"

/* Write report.html: one page that needs nothing else, no network and no script.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   UTF-8; the same bytes for the same summary
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_html_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

/* From the doctype to </head>: a page that loads nothing, and whose policy allows its own style, and its own script
 * where it has one, by hash.
 * in: title  any bytes, shown before the name of the program's page */
void tm_html_head(struct tm_htmlw *w, const char *title, const char *page, bool has_script);

#endif
