/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_H
#define TM_PDF_H

#include <stdio.h>

#include "pipeline/doc.h"

/* More pages are not made: libharu holds the document in memory.  The last page says so. */
enum { TM_PDF_PAGES = 60 };

/* Write report.pdf: A4, first page a summary that stands alone, then charts, then the sections of
 * reports/body.  The same summary gives the same bytes; SOURCE_DATE_EPOCH, where it is set, is the
 * date of the document, which has none otherwise.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   a PDF 1.3 file; characters that Windows-1252 lacks are written as escapes (\u4e2d)
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

#endif
