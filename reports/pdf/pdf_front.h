/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_FRONT_H
#define TM_PDF_FRONT_H

#include "reports/pdf/pdf_page.h"

/* The page that stands alone: what was run, the verdict, the key figures, as many findings as fit, and where the
 * devices' time goes if there is room. */
void tm_pdf_front(struct tm_pdf *pdf);

#endif
