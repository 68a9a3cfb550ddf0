/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_EXTRAS_H
#define TM_PDF_EXTRAS_H

#include <hpdf.h>

/* What libharu has no function for: entries of its objects, set by hand. */

/* Tell readers which characters the codes of a font of the encoding UTF-8 are: they are UTF-16.  libharu writes a map
 * there that is none of that kind. */
void tm_pdf_map_characters(HPDF_Font font);

/* A destination that keeps the reader's zoom.  in: y  upwards from the bottom of the page */
void tm_pdf_aim(HPDF_Destination place, double y);

/* The language of the document, and the title of its window. */
void tm_pdf_set_language(HPDF_Doc doc);

#endif
