/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_H
#define TM_PDF_H

#include <stdio.h>

#include "pipeline/doc.h"
#include "pipeline/options.h"

/* More pages are not made: libharu holds the document in memory.  The last page says so. */
enum { TM_PDF_PAGES = 60 };

/* Write report.pdf: a first page that stands alone, the contents, the sections of reports/content.  The same summary
 * gives the same bytes; SOURCE_DATE_EPOCH, where it is set, is the date of the document, which has none otherwise.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   a PDF file with its fonts; characters that they lack are written as escapes (\u4e2d)
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, enum tm_paper paper, FILE *to) TM_MUST_USE;

#endif
