/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_FACTS_H
#define TM_PDF_FACTS_H

#include "reports/pdf/pdf_page.h"

/* Facts, "title  value", in two columns where the values are short, else in one. */
struct tm_pdf_facts {
    const struct tm_sheet *sheet; /* two columns */
    int columns, rows;            /* of the facts */
    double width, label;          /* of a column; of its titles */
};

void tm_pdf_facts_make(struct tm_pdf *pdf, struct tm_pdf_facts *facts, const struct tm_sheet *sheet);
double tm_pdf_facts_least(const struct tm_pdf_facts *facts); /* points that have to be free */
/* Draw them at the pen, which moves below. */
void tm_pdf_facts_draw(struct tm_pdf *pdf, const struct tm_pdf_facts *facts);

#endif
