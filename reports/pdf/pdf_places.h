/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_PLACES_H
#define TM_PDF_PLACES_H

#include "reports/pdf/pdf_page.h"

/* Places of the document that its bookmarks, its contents and its links lead to. */

/* Remember where the pen is.  in: level  0 a section, 1 what is below it; section, finding: NULL and 0 = nothing
 * links to it.  More than TM_PDF_PLACES_MOST are not remembered. */
void tm_pdf_add_place(struct tm_pdf *pdf, int level, const char *section, size_t finding, const char *title);

/* A link from a box on this page to a section, or to a finding where that is not 0. */
void tm_pdf_add_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *section, size_t finding);

/* A link from a box on this page to a file below the document's folder.  in: path  lives as long as the document */
void tm_pdf_add_file_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *path);

/* The next page is for the contents: it is written when all places are known. */
void tm_pdf_keep_contents_page(struct tm_pdf *pdf);

/* When everything is drawn: the contents, the bookmarks, the links. */
void tm_pdf_finish_places(struct tm_pdf *pdf);

#endif
