/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_TABLE_H
#define TM_PDF_TABLE_H

#include "reports/chart/chart.h"
#include "reports/pdf/pdf_page.h"

/* A sheet that is ready to be drawn. */
struct tm_pdf_grid {
    const struct tm_sheet *sheet;
    const char *caption; /* "" = none; any bytes */
    double widths[TM_SHEET_COLUMNS];
    double heights[TM_SHEET_ROWS + 1]; /* of the titles, then of the rows */
    double total;                      /* with the caption */
};

/* Measure a sheet for the column of the page. */
void tm_pdf_grid_make(struct tm_pdf *pdf, struct tm_pdf_grid *grid, const struct tm_sheet *sheet, const char *caption);

/* Points that have to be free for it to begin: all of a short one, the caption and some rows of a long one. */
double tm_pdf_grid_least(const struct tm_pdf *pdf, const struct tm_pdf_grid *grid);

/* Draw it at the pen, which moves below it.  Rows stay whole; on a new page the titles stand again. */
void tm_pdf_grid_draw(struct tm_pdf *pdf, const struct tm_pdf_grid *grid);

/* Points that a chart takes, title and caption included.  One that is wider than the column or taller than
 * a page is made smaller. */
double tm_pdf_chart_height(struct tm_pdf *pdf, const struct tm_chart *chart);

/* Draw it at the pen, as vectors, with its title above and its caption below; the pen moves below it.  Whoever calls
 * made room for it. */
void tm_pdf_chart(struct tm_pdf *pdf, const struct tm_chart *chart);

#endif
