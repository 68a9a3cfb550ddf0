/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_TABLE_H
#define TM_PDF_TABLE_H

#include "reports/pdf/pdf_page.h"

/* Draw a table at the pen, which moves below it.  Rows stay whole; on a new page the titles stand
 * again. */
void tm_pdf_table(struct tm_pdf *pdf, const struct tm_sheet *sheet);

/* The colour of a tone. */
enum tm_role tm_pdf_role_of_tone(enum tm_tone tone);

#endif
