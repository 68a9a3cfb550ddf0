/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_FRONT_H
#define TM_PDF_FRONT_H

#include "reports/pdf/pdf_page.h"

/* The page that stands alone: what was run, the verdict, the key figures, as many findings as fit, and where the
 * devices' time goes if there is room. */
void tm_pdf_front(struct tm_pdf *pdf);

/* Points that have to be free for a finding to begin: its title and what is at stake are not torn from the rest. */
double tm_pdf_finding_least(const struct tm_pdf *pdf);

/* A finding in full at the pen, as a card with a coloured edge: what is at stake, what it rests on, the cause, what to
 * do, where to look. */
void tm_pdf_finding(struct tm_pdf *pdf, const struct tm_value *finding, size_t number);

#endif
