/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_EXTRAS_H
#define TM_PDF_EXTRAS_H

#include <hpdf.h>
#include <stddef.h>
#include <stdint.h>

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

/* The language of the document, and the title of its window. */
void tm_pdf_set_language(HPDF_Doc doc);

#endif
