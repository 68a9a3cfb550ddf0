/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_TEXT_H
#define TM_PDF_TEXT_H

#include "reports/pdf/pdf_page.h"

/* How a text looks.  Between the marks that tm_pdf_encode_prose sets, words of code are in the face for code. */
struct tm_pdf_style {
    enum tm_pdf_face face;
    double size;
    enum tm_role role;
    bool in_code; /* it begins between such marks */
};

extern const struct tm_pdf_style tm_pdf_body, tm_pdf_strong, tm_pdf_quiet, tm_pdf_label, tm_pdf_code;

/* Distance of two lines of a size. */
static inline double tm_pdf_leading(const struct tm_pdf_style *style)
{
    return style->size * 1.42;
}

/* Texts are made safe first: what cannot be seen becomes an escape, and so does what the fonts lack or what is written
 * from right to left, which pages of ours would show in the wrong order.
 * in:     text  any bytes
 * out:    out   UTF-8; cut where the room ends */
void tm_pdf_encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);
/* The same of sentences with `code`, whose quotes become marks of no width. */
void tm_pdf_encode_prose(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);
/* The same for bookmarks and document information, which readers show in fonts of their own. */
void tm_pdf_encode_outside(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);

/* What follows wants texts that are safe. */
double tm_pdf_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, size_t bytes);
/* Width of the longest word. */
double tm_pdf_word_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text);
/* Lines that a text takes. */
int tm_pdf_lines(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, double width);
/* Cut a text in its middle, in place, so that it takes at most that many lines. */
void tm_pdf_fit(const struct tm_pdf *pdf, const struct tm_pdf_style *style, char *text, double width, int lines);

/* One line; y is its baseline. */
void tm_pdf_text_at(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text);
void tm_pdf_text_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, double right, double y, const char *text);
/* A wrapped text in a box, from its top, as far down as it takes; never goes over to a new page.
 * out:    its height */
double tm_pdf_text_in(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                      const char *text);
/* The same with its lines to the right. */
double tm_pdf_text_in_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                            const char *text);
/* A wrapped text at the pen, which moves below it; goes over to new pages line by line. */
void tm_pdf_wrapped(struct tm_pdf *pdf, const struct tm_pdf_style *style, double indent, const char *text);

#endif
