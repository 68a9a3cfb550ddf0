/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_FONT_H
#define TM_PDF_FONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The faces: DejaVu Sans, its bold, and DejaVu Sans Mono for what is copied. */
enum tm_pdf_face { TM_PDF_REGULAR, TM_PDF_BOLD, TM_PDF_MONO, TM_PDF_FACES };

/* Their files, made into C by embed_fonts.sh. */
struct tm_pdf_asset {
    const char *bytes;
    size_t length;
};

extern const struct tm_pdf_asset tm_pdf_assets[TM_PDF_FACES];

enum { TM_PDF_ASCII = 128 };

/* What is asked of a font file: which characters it has, and how wide they are. */
struct tm_pdf_font {
    const struct tm_pdf_asset *file;
    size_t map, segments;         /* offset and length of the map of characters */
    size_t widths, width_count;   /* offset and length of the table of widths */
    size_t outlines, offsets;     /* tables of outlines and of where they begin */
    int offset_bytes;             /* 2 or 4; those of 2 count in words */
    double units;                 /* per font size */
    float ascii[TM_PDF_ASCII];    /* widths of most characters, for a size of 1 */
    bool has_ascii[TM_PDF_ASCII]; /* which of them are there */
};

/* out: false = it is no font file of the kind that is expected */
bool tm_pdf_font_open(struct tm_pdf_font *font, const struct tm_pdf_asset *file);
bool tm_pdf_font_has(const struct tm_pdf_font *font, uint32_t code);
/* Width of a character at a size of 1. */
double tm_pdf_font_advance(const struct tm_pdf_font *font, uint32_t code);

/* Mark the glyphs that other glyphs are made of.
 * in:     used  one byte for each glyph of the font; not 0 = it is used */
void tm_pdf_font_add_components(const struct tm_pdf_font *font, uint8_t *used, size_t glyphs);

#endif
