/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_CHART_H
#define TM_PDF_CHART_H

#include "reports/chart/chart.h"
#include "reports/pdf/pdf_page.h"

/* Draw a chart at the pen, as vectors, with its title above and its caption below; the pen moves
 * below it.  A chart that is taller than a page is made smaller. */
void tm_pdf_chart(struct tm_pdf *pdf, const struct tm_chart *chart);

/* Points that it takes, title and caption included. */
double tm_pdf_chart_height(struct tm_pdf *pdf, const struct tm_chart *chart);

#endif
