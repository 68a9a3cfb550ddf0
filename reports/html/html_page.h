/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_PAGE_H
#define TM_HTML_PAGE_H

#include "pipeline/doc/doc.h"
#include "reports/content/content.h"
#include "reports/html/htmlw.h"

/* The page while it is written, and the forms that it gives to what the sections say (struct tm_medium): the functions
 * that take `to` are its members, `to` being the page. */
struct tm_page {
    struct tm_htmlw w;
    const struct tm_value *summary;
    const struct tm_document *document; /* what it is */
    struct tm_chart chart;              /* room for the one that is drawn */
    const struct tm_section *section;   /* that is being written: its terms are linked; NULL = none */
    size_t full_bytes_left;             /* of names shown in full beside their cut form: hostile names must not fill
                                          the page */
    bool is_drawn[TM_CHART_KINDS];      /* the charts of that kind stand on the page */
    bool in_fold;                       /* findings without time at stake are put into a fold */
};

enum { TM_HTML_ROWS_MOST = 500 };

/* --- html.c, html.c: the first screen --- */

/* --- html_parts.c --- */

/* The three that come first, a line each. */
void tm_page_first_findings(struct tm_page *page);
void tm_page_finding(void *to, const struct tm_value *finding, size_t number);
void tm_page_end_findings(struct tm_page *page);

/* --- html_table.c, html.c, html_table.c --- */

void tm_page_table(void *to, const struct tm_table *table);
/* All charts of a kind, each with its caption and the table of its figures; where they stand already, a link there. */
void tm_page_charts(void *to, enum tm_chart_kind kind);

#endif
