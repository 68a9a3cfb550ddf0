/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_H
#define TM_PDF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hpdf.h>

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"

/* More pages are not made: libharu holds the document in memory.  The last page says so. */
enum { TM_PDF_PAGES = 60 };

/* Write report.pdf: a first page that stands alone, the contents, the sections of reports/content.  The same summary
 * gives the same bytes; SOURCE_DATE_EPOCH, where it is set, is the date of the document, which has none otherwise.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   a PDF file with its fonts; characters that they lack are written as escapes (\u4e2d)
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, enum tm_paper paper, FILE *to) TM_MUST_USE;

/* What libharu has no function for: entries of its objects, set by hand. */

/* Tell readers which characters the codes of a font of the encoding UTF-8 are: they are UTF-16.  libharu writes a map
 * there that is none of that kind. */
void tm_pdf_map_characters(HPDF_Font font);

/* UTF-16 of what is drawn in UTF-8.  libharu's own function takes memory for it without a look whether there is some; where
 * there is none, this one leaves HPDF_FAILD_TO_ALLOC_MEM as the error of the document, and nothing is drawn. */
void tm_pdf_set_encoding(HPDF_Encoder encoder);

/* Put the map of a font's characters into a form that libharu finds glyphs in at once; it says the same.  Where that
 * cannot be done the map stays.
 * in: name  as of HPDF_LoadTTFontFromFile */
void tm_pdf_spread_map(HPDF_Doc doc, const char *name);

/* Which glyphs of a font will be embedded, a byte for each.  libharu leaves out glyphs that are components of
 * components.
 * out:    glyphs  how many the font has; NULL = it is no such font */
uint8_t *tm_pdf_used_glyphs(HPDF_Font font, size_t *glyphs);

/* A destination that keeps the reader's zoom.  in: y  upwards from the bottom of the page */
void tm_pdf_aim(HPDF_Destination place, double y);

#endif
