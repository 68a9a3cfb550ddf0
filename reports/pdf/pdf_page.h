/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_PAGE_H
#define TM_PDF_PAGE_H

#include <stdbool.h>

#include <hpdf.h>

#include "pipeline/options.h"
#include "pipeline/run.h"
#include "reports/chart/palette.h"
#include "reports/content/content.h"
#include "reports/content/front_page.h"
#include "reports/content/sheet.h"
#include "reports/pdf/pdf_font.h"

enum {
    TM_PDF_VISIBLE_BYTES = 12288,                 /* a paragraph, made visible; of longer ones head and tail are kept */
    TM_PDF_TEXT_BYTES = 3 * TM_PDF_VISIBLE_BYTES, /* the same with escapes for what the fonts lack */
    TM_PDF_CELL_BYTES = 12288,
    TM_PDF_PLACE_BYTES = 160,
    TM_PDF_PLACES_MOST = 256,
    TM_PDF_LINKS_MOST = 256,
};

/* Where something begins that bookmarks and links lead to: a section by its id, a finding by its number, else NULL
 * and 0. */
struct tm_pdf_place {
    const char *section;
    size_t finding; /* from 1 */
    int level;      /* of the bookmark: 0 a section, 1 what is below it */
    int page;       /* from 0 */
    double y;
    char title[TM_PDF_PLACE_BYTES];
};

struct tm_pdf_box {
    double x, y, width, height; /* y downwards from the top of the page */
};

/* A link to a place that may not be there yet. */
struct tm_pdf_link {
    const char *section;
    size_t finding;
    const char *path; /* of another file: in place of both */
    int page;
    struct tm_pdf_box box;
};

/* One document while it is made.  The pen is at left, y; lengths are points, y counts downwards from the top of the
 * page.  After a failure, and on pages past the last one, drawing does nothing: whoever made the document looks at
 * `status` once. */
struct tm_pdf {
    struct tm_run *run;
    HPDF_Doc doc;
    HPDF_Page page;
    HPDF_Encoder encoder; /* of bookmarks */
    HPDF_Font face[TM_PDF_FACES];
    struct tm_pdf_font font[TM_PDF_FACES];
    double page_width, page_height;
    double left, right, top, bottom; /* what is written on */
    double y;
    int pages, page_at;
    bool is_full;  /* TM_PDF_PAGES was reached: what follows is left out */
    bool has_edge; /* a card is being drawn: its coloured edge begins at edge_y */
    enum tm_role edge;
    double edge_y;
    tm_status status;

    const struct tm_value *summary;
    const struct tm_document *document; /* what it is */
    struct tm_front_page front;
    struct tm_pdf_place place[TM_PDF_PLACES_MOST];
    size_t places;
    struct tm_pdf_link link[TM_PDF_LINKS_MOST];
    size_t links;
    /* Headings that wait for what follows them, so that they never stand alone. */
    const struct tm_section *section;
    char subheading[TM_PDF_PLACE_BYTES];

    struct tm_sheet sheet;
    char visible[TM_PDF_VISIBLE_BYTES];
    char text[TM_PDF_TEXT_BYTES];
    char cell[TM_SHEET_COLUMNS][TM_PDF_CELL_BYTES];
};

/* Start and end the document: fonts, the size of its pages. */
void tm_pdf_begin(struct tm_pdf *pdf, enum tm_paper paper);
/* To be called when everything is drawn, before the document is saved. */
void tm_pdf_complete(struct tm_pdf *pdf);
void tm_pdf_end(struct tm_pdf *pdf);

/* A call of libharu, none after one that failed: where there was no memory for a buffer, what is written next goes
 * nowhere and ends the process (libharu 2.3.0, HPDF_MemStream_InWrite).  The handler of errors has set the status. */
#define TM_PDF_CALL(pdf, call) ((void)((pdf)->status == TM_OK && (call) == HPDF_OK))

/* Is there something to draw on? */
bool tm_pdf_is_drawing(const struct tm_pdf *pdf);

void tm_pdf_new_page(struct tm_pdf *pdf);
/* Draw on a page that was made before; the pen is where it is. */
void tm_pdf_turn_to(struct tm_pdf *pdf, int page);
double tm_pdf_left_on_page(const struct tm_pdf *pdf);
double tm_pdf_column(const struct tm_pdf *pdf); /* width of what is written on */
/* Go to the next page unless `height` points are left on this one. */
void tm_pdf_reserve(struct tm_pdf *pdf, double height);

/* A card: from begin to end a coloured edge stands at the left of what is drawn, on each page. */
void tm_pdf_begin_card(struct tm_pdf *pdf, enum tm_role role);
void tm_pdf_end_card(struct tm_pdf *pdf);

/* The colour of a tone. */
enum tm_role tm_pdf_role_of_tone(enum tm_tone tone);

/* Drawing on the page; y of a text is its baseline. */
void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role);
void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness);
void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, const struct tm_pdf_box *box);
void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box);
void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right);

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

extern const double tm_pdf_kpi_height;

/* A key figure in a row at the pen, which moves below it: title, value, a scale of three parts with the place of the
 * value, the judgement in words with its limits.  Where there is no judgement it says why. */
void tm_pdf_kpi(struct tm_pdf *pdf, const struct tm_key_figure *kpi);

#endif
