/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_PAGE_H
#define TM_PDF_PAGE_H

#include <hpdf.h>
#include <stdbool.h>

#include "pipeline/run.h"
#include "reports/content/sheet.h"
#include "reports/chart/palette.h"

enum tm_pdf_face { TM_PDF_REGULAR, TM_PDF_BOLD, TM_PDF_FACES };

enum {
    TM_PDF_CHARACTERS = 256,
    TM_PDF_VISIBLE_BYTES =
        12288, /* a paragraph, made visible; of longer ones head and tail are kept */
    TM_PDF_TEXT_BYTES =
        3 * TM_PDF_VISIBLE_BYTES, /* the same in the font's encoding, escapes written out */
    TM_PDF_CELL_BYTES = 2048,
    TM_PDF_TITLE_BYTES = 1024,
};

/* A4 in points, and the part of it that is written on; y counts downwards from the top of the page.
 */
extern const double tm_pdf_page_height;
extern const double tm_pdf_left, tm_pdf_right, tm_pdf_top, tm_pdf_bottom;

/* One document while it is made.  The pen is at tm_pdf_left, y.  After a failure, and on pages past
 * the last one, drawing does nothing: whoever made the document looks at `status` once. */
struct tm_pdf {
    struct tm_run *run;
    HPDF_Doc doc;
    HPDF_Page page;
    HPDF_Font font[TM_PDF_FACES];
    float advance[TM_PDF_FACES][TM_PDF_CHARACTERS]; /* width of a character of 1 point */
    double y;
    int pages;
    bool is_full;    /* TM_PDF_PAGES was reached: what follows is left out */
    bool is_partial; /* every page says so */
    tm_status status;
    const char *version;            /* of the program that made the summary */
    char title[TM_PDF_TITLE_BYTES]; /* in the font's encoding; stands at the top of each page */
    struct tm_sheet sheet;
    char visible[TM_PDF_VISIBLE_BYTES];
    char text[TM_PDF_TEXT_BYTES];
    char cell[TM_SHEET_COLUMNS][TM_PDF_CELL_BYTES];
};

/* Start and end the document: fonts and their widths; headers and page numbers, when the pages are
 * counted. */
void tm_pdf_begin(struct tm_pdf *pdf);
void tm_pdf_number_pages(struct tm_pdf *pdf);
void tm_pdf_end(struct tm_pdf *pdf);

/* Is there something to draw on? */
bool tm_pdf_is_drawing(const struct tm_pdf *pdf);

void tm_pdf_new_page(struct tm_pdf *pdf);
double tm_pdf_left_on_page(const struct tm_pdf *pdf);
/* Go to the next page unless `height` points are left on this one. */
void tm_pdf_reserve(struct tm_pdf *pdf, double height);

/* Texts from here on are in the font's encoding, one byte per character: first make them so.
 * in:  text  UTF-8, any bytes
 * out: out   never holds control characters; cut where the room ends */
void tm_pdf_encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);

double tm_pdf_width(const struct tm_pdf *pdf, enum tm_pdf_face face, double size, const char *text,
                    size_t bytes);
/* Bytes of the next line of a text that is to be wrapped: at a space where there is one, at
 * least 1. */
size_t tm_pdf_line_bytes(const struct tm_pdf *pdf, enum tm_pdf_face face, double size,
                         const char *text, double width);
/* Cut a text in the middle, in place, so that it is at most `width` points wide. */
void tm_pdf_cut_middle(const struct tm_pdf *pdf, enum tm_pdf_face face, double size, char *text,
                       double width);

/* Drawing on the page; x and y in points from its top left corner, y of a text is its baseline. */
void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role);
void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness);
void tm_pdf_text_at(struct tm_pdf *pdf, enum tm_pdf_face face, double size, enum tm_role role,
                    double x, double y, const char *text, size_t bytes);
void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, double x, double y, double width,
                 double height);
void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right);

/* A wrapped text at the pen, which moves below it; goes over to new pages line by line. */
void tm_pdf_wrapped(struct tm_pdf *pdf, enum tm_pdf_face face, double size, enum tm_role role,
                    double indent, const char *text);

#endif
