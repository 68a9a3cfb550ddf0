/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_HEAD_H
#define TM_HTML_HEAD_H

#include "reports/html/htmlw.h"

/* From the doctype to </head>: a page that loads nothing, and whose policy allows its own style, and its own script
 * where it has one, by hash.
 * in: title  any bytes, shown before the name of the program's page */
void tm_html_head(struct tm_htmlw *w, const char *title, const char *page, bool has_script);

#endif
