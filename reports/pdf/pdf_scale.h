/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_SCALE_H
#define TM_PDF_SCALE_H

#include "reports/content/kpi.h"
#include "reports/pdf/pdf_page.h"

extern const double tm_pdf_kpi_height;

/* A key figure in a row at the pen, which moves below it: title, value, a scale of three parts with the place of the
 * value, the judgement in words with its limits.  Where there is no judgement it says why. */
void tm_pdf_kpi(struct tm_pdf *pdf, const struct tm_key_figure *kpi);

#endif
