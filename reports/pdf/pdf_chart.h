/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_CHART_H
#define TM_PDF_CHART_H

#include "reports/chart/chart.h"
#include "reports/pdf/pdf_page.h"

/* Points that a chart takes, title and caption included.  One that is wider than the column or taller than
 * a page is made smaller. */
double tm_pdf_chart_height(struct tm_pdf *pdf, const struct tm_chart *chart);

/* Draw it at the pen, as vectors, with its title above and its caption below; the pen moves below it.  Whoever calls
 * made room for it. */
void tm_pdf_chart(struct tm_pdf *pdf, const struct tm_chart *chart);

#endif
