/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_INFO_H
#define TM_PDF_INFO_H

#include "reports/pdf/pdf_page.h"

/* The facts that a reader's dialog shows: title, subject, keywords, the program; the date only where SOURCE_DATE_EPOCH
 * gives it. */
void tm_pdf_set_info(struct tm_pdf *pdf);

/* The lines at the top and the bottom of every page, when all pages are there: title and date of the profile, program,
 * number of the page. */
void tm_pdf_head_pages(struct tm_pdf *pdf);

#endif
