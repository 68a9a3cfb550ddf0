/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PDF_PAGE_H
#define TM_PDF_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpdf.h>

#include "pipeline/options.h"
#include "pipeline/run.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"

/* The faces: DejaVu Sans, its bold, and DejaVu Sans Mono for text to be copied. */
enum tm_pdf_face { TM_PDF_REGULAR, TM_PDF_BOLD, TM_PDF_MONO, TM_PDF_FACES };

extern const char tm_pdf_face_key[TM_PDF_FACES][3]; /* their names on pages */

/* Their files, converted to C by embed_fonts.py, without the tables that no PDF needs. */
struct tm_pdf_asset {
    const char *bytes;
    size_t length;
};

extern const struct tm_pdf_asset tm_pdf_assets[TM_PDF_FACES];

enum { TM_PDF_ASCII = 128 };

/* The data needed from a font file: its characters and their widths. */
struct tm_pdf_font {
    const struct tm_pdf_asset *file;
    size_t map, segments;       /* offset and length of the map of characters */
    size_t widths, width_count; /* offset and length of the table of widths */
    size_t head, hhea;          /* offsets of tables */
    size_t outlines, offsets;   /* tables of outlines and of where they start */
    size_t glyphs;
    int offset_bytes;             /* 2 or 4; those of 2 count in words */
    double units;                 /* per font size */
    float ascii[TM_PDF_ASCII];    /* widths of most characters, for a size of 1 */
    bool has_ascii[TM_PDF_ASCII]; /* which of them are there */
};

/* out: false = not a font file of the expected kind */
bool tm_pdf_font_open(struct tm_pdf_font *font, const struct tm_pdf_asset *file);
bool tm_pdf_font_has(const struct tm_pdf_font *font, uint32_t code);
/* Width of a character at a size of 1, as in the file. */
double tm_pdf_font_measure(const struct tm_pdf_font *font, uint32_t code);

static inline double tm_pdf_font_advance(const struct tm_pdf_font *font, uint32_t code)
{
    return code < TM_PDF_ASCII ? (double)font->ascii[code] : tm_pdf_font_measure(font, code);
}

enum { TM_PDF_CODES = 1 << 16, TM_PDF_CHARACTERS = 1 << 13 };

/* The characters drawn with a font, in order of first use. Texts on pages consist of their numbers. */
struct tm_pdf_subset {
    uint16_t characters;
    uint16_t character[TM_PDF_CHARACTERS]; /* by number, from 1 */
    uint16_t number[TM_PDF_CODES];         /* by character; 0 = none */
};

/* The number of a character that is drawn.  out: 0 = no room for more, or more than 16 bits */
uint16_t tm_pdf_subset_number(struct tm_pdf_subset *subset, uint32_t code);

/* A font subset with the glyphs of these characters.  Number 0 is the glyph for missing characters.
 * out:    bytes  of it
 * owns:   the caller returns it to TM_ACCOUNT_MODEL; NULL = the run has failed */
uint8_t *tm_pdf_subset_make(struct tm_run *run, const struct tm_pdf_font *font, const struct tm_pdf_subset *subset,
                            size_t *bytes) TM_MUST_USE;

enum {
    TM_PDF_VISIBLE_BYTES = 12288,                 /* a paragraph, made visible; longer ones keep head and tail */
    TM_PDF_TEXT_BYTES = 3 * TM_PDF_VISIBLE_BYTES, /* the same with escapes for characters that the fonts lack */
    TM_PDF_CELL_BYTES = 12288,
    TM_PDF_PLACE_BYTES = 160,
    TM_PDF_PLACES_MOST = 256,
    TM_PDF_LINKS_MOST = 256,
};

/* The target of bookmarks and links: a section by its id, a finding by its number, otherwise NULL
 * and 0. */
struct tm_pdf_place {
    const char *section;
    size_t finding; /* from 1 */
    int level;      /* of the bookmark: 0 a section, 1 an entry of a section */
    int page;       /* from 0 */
    double y;
    char title[TM_PDF_PLACE_BYTES];
};

struct tm_pdf_box {
    double x, y, width, height; /* y downwards from the top of the page */
};

/* A link to a place that may not exist yet. */
struct tm_pdf_link {
    const char *section;
    size_t finding;
    const char *path; /* of another file: replaces both */
    int page;
    struct tm_pdf_box box;
};

/* The role of a part of a page, for screen readers. */
enum tm_pdf_tag { TM_PDF_TAG_TITLE, TM_PDF_TAG_SECTION, TM_PDF_TAG_HEADING, TM_PDF_TAG_TEXT, TM_PDF_TAG_FIGURE };

/* The structure of the document while it is made (pdf_page.c). */
struct tm_pdf_tags {
    HPDF_Dict root, document;
    HPDF_Array parts, pages, of_page; /* elements of the document; of each page; of this one */
    int count;                        /* of marked contents on this page */
    bool is_open, is_artifact;
    enum tm_pdf_tag tag; /* of the open elements */
};

enum { TM_PDF_CONTENT_BYTES = 4096 };

/* Content of the page that is not yet in its stream, and the current graphics state, to avoid setting it again. */
struct tm_pdf_content {
    char bytes[TM_PDF_CONTENT_BYTES];
    size_t used;
    bool has_fill, has_stroke, has_font;
    enum tm_role fill, stroke;
    double fill_share, thickness;
    enum tm_pdf_face face;
    double size;
};

/* One document under construction.  The pen is at left, y; lengths are points, and y counts downwards from the top of
 * the page.  After a failure, and on pages beyond the last one, drawing does nothing: the creator of the document
 * checks `status` once. */
struct tm_pdf {
    struct tm_run *run;
    HPDF_Doc doc;
    HPDF_Page page;
    HPDF_Dict fonts; /* of all pages, by tm_pdf_face_key */
    struct tm_pdf_font font[TM_PDF_FACES];
    struct tm_pdf_subset subset[TM_PDF_FACES];
    struct tm_pdf_content content;
    struct tm_pdf_tags tags;
    double page_width, page_height;
    double left, right, top, bottom; /* what is written on */
    double y;
    int pages, page_at;
    bool is_full;  /* TM_PDF_PAGES was reached: what follows is left out */
    bool has_edge; /* a card is being drawn: its colored edge starts at edge_y */
    enum tm_role edge;
    double edge_y;

    const struct tm_value *summary;
    const struct tm_document *document; /* what it is */
    struct tm_front_page front;
    struct tm_pdf_place place[TM_PDF_PLACES_MOST];
    size_t places;
    struct tm_pdf_link link[TM_PDF_LINKS_MOST];
    size_t links;
    /* Headings that are kept until their content is drawn, so that none is alone at the end of a page. */
    const struct tm_section *section;
    double front_end;              /* where the first page ends */
    bool is_drawn[TM_CHART_KINDS]; /* on the first page: no chart is drawn twice */
    char subheading[TM_PDF_PLACE_BYTES];

    struct tm_sheet sheet;
    char visible[TM_PDF_VISIBLE_BYTES];
    char text[TM_PDF_TEXT_BYTES];
    char cell[TM_SHEET_COLUMNS][TM_PDF_CELL_BYTES];
};

/* The style of a text.  Between the marks that tm_pdf_encode_prose sets, words of code are in the face for code. */
struct tm_pdf_style {
    enum tm_pdf_face face;
    double size;
    enum tm_role role;
    bool in_code; /* it starts between such marks */
};

extern const struct tm_pdf_style tm_pdf_body, tm_pdf_strong, tm_pdf_quiet, tm_pdf_label;

/* Line spacing of a font size; small print is set tighter. */
static inline double tm_pdf_leading(const struct tm_pdf_style *style)
{
    return style->size * (style->size < 6.5 ? 1.25 : 1.34);
}

/* Strings are made safe first: invisible characters become escapes, and so do characters that the fonts lack and
 * right-to-left text, which our pages would show in the wrong order.
 * in:     text  any bytes
 * out:    out   UTF-8; cut at its capacity */
void tm_pdf_encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);
/* The same for sentences with `code`, whose quotes become marks of zero width. */
void tm_pdf_encode_prose(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);
/* The same for bookmarks and document information, which readers show in their own fonts. */
void tm_pdf_encode_outside(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text);

/* The following functions require safe texts. */
double tm_pdf_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, size_t bytes);
/* Lines that a text takes. */
int tm_pdf_lines(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, double width);
/* Cut a text in its middle, in place, so that it takes at most this many lines. */
void tm_pdf_fit(const struct tm_pdf *pdf, const struct tm_pdf_style *style, char *text, double width, int lines);

/* One line; y is its baseline. */
void tm_pdf_text_at(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text);
void tm_pdf_text_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, double right, double y, const char *text);

/* A wrapped text in a box, from its top, as far down as needed; never continues on a new page.
 * out:    its height */
double tm_pdf_text_in(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                      const char *text);
/* The same, right-aligned. */
double tm_pdf_text_in_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                            const char *text);
/* A wrapped text at the pen, which moves below it; continues on new pages line by line. */
void tm_pdf_wrapped(struct tm_pdf *pdf, const struct tm_pdf_style *style, double indent, const char *text);

/* Has nothing failed so far, in the run or in libharu?  Some of its functions do not call the error handler. */
bool tm_pdf_is_sound(const struct tm_pdf *pdf);

/* A call of libharu, none after a failed one: if there was no memory for a buffer, the next write would access invalid
 * memory and crash the process (libharu 2.3.0, HPDF_MemStream_InWrite). */
#define TM_PDF_CALL(pdf, call) ((void)(tm_pdf_is_sound(pdf) && (call) == HPDF_OK))

/* The structure: started with the document, notified of each page, finished when everything is drawn. */
void tm_pdf_tags_begin(struct tm_pdf *pdf);
void tm_pdf_tags_new_page(struct tm_pdf *pdf);
void tm_pdf_tags_finish(struct tm_pdf *pdf);
/* The content drawn from here on is such a part, up to its end or the next one; it continues on the next page. in:
 * instead  the alternative text of a figure, encoded by tm_pdf_encode_outside; NULL = its own text suffices */
void tm_pdf_begin_tag(struct tm_pdf *pdf, enum tm_pdf_tag tag, const char *instead);
void tm_pdf_end_tag(struct tm_pdf *pdf);
/* Likewise for content that is not part of the document: lines at the edges of a page. */
void tm_pdf_begin_artifact(struct tm_pdf *pdf);
void tm_pdf_end_artifact(struct tm_pdf *pdf);

/* Is there something to draw on? */
bool tm_pdf_is_drawing(const struct tm_pdf *pdf);

void tm_pdf_new_page(struct tm_pdf *pdf);
/* Draw on an earlier page; the pen does not move. */
void tm_pdf_turn_to(struct tm_pdf *pdf, int page);
/* Nothing is drawn from here on. */
void tm_pdf_finish_pages(struct tm_pdf *pdf);
double tm_pdf_left_on_page(const struct tm_pdf *pdf);
double tm_pdf_column(const struct tm_pdf *pdf); /* width of the writing area */
/* Go to the next page unless `height` points are left on this one. */
void tm_pdf_reserve(struct tm_pdf *pdf, double height);

/* A card: from start to end a colored edge is at the left of what is drawn, on each page. */
void tm_pdf_begin_card(struct tm_pdf *pdf, enum tm_role role);
void tm_pdf_end_card(struct tm_pdf *pdf);

/* The color of a tone. */
enum tm_role tm_pdf_role_of_tone(enum tm_tone tone);

/* Drawing on the page.  Boxes, rules, and strings check themselves whether there is a page to draw on; for the others,
 * the caller checks. */
void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, const struct tm_pdf_box *box);
void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box);
void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right);
void tm_pdf_disc(struct tm_pdf *pdf, enum tm_role role, double x, double y, double radius);

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role);
void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness);
void tm_pdf_dash(struct tm_pdf *pdf, const char *pattern); /* of what is stroked: "[3 2]", "[]" = none */
void tm_pdf_move_to(struct tm_pdf *pdf, double x, double y);
void tm_pdf_line_to(struct tm_pdf *pdf, double x, double y);
void tm_pdf_end_path(struct tm_pdf *pdf, bool is_filled); /* otherwise it is stroked */

/* Bytes written to the page verbatim.  in: length  at most TM_PDF_CONTENT_BYTES */
void tm_pdf_put(struct tm_pdf *pdf, const char *bytes, size_t length);

enum { TM_PDF_OPERANDS = 6 };

/* An operator with numbers before it, at most TM_PDF_OPERANDS of them. */
void tm_pdf_operate(struct tm_pdf *pdf, const char *name, const double *operands, size_t count);
#define TM_PDF_PUT(pdf, name, ...)                                                                                     \
    tm_pdf_operate(pdf, name, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

/* Deflate the streams of the document, once it has all of them. */
void tm_pdf_pack_streams(struct tm_pdf *pdf);

/* Embed the used subset of a face, once everything is drawn. */
void tm_pdf_embed(struct tm_pdf *pdf, enum tm_pdf_face face);

/* Targets of the bookmarks, the contents and the links of the document. */

/* Remember where the pen is.  in: level  0 a section, 1 an entry of it; section, finding: NULL and 0 = nothing
 * links to it.  More than TM_PDF_PLACES_MOST are not remembered. */
void tm_pdf_add_place(struct tm_pdf *pdf, int level, const char *section, size_t finding, const char *title);

/* A link from a box on this page to a section, or to a finding if that is not 0. */
void tm_pdf_add_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *section, size_t finding);

/* A link from a box on this page to a file below the document's folder.  in: path  lives as long as the document */
void tm_pdf_add_file_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *path);

/* Points that the contents take, which are at the end of the first page if there is room for them. */
double tm_pdf_contents_height(const struct tm_pdf *pdf);

/* A text that readers show outside of the pages, in UTF-16: libharu's UTF-8 encoder has tables of all characters,
 * which cost more than the encoded text.
 * in:     text  of at most TM_PDF_CELL_BYTES, without characters of more than 16 bits */
void tm_pdf_set_text(struct tm_pdf *pdf, HPDF_Dict in, const char *key, const char *text);

/* Writes the contents, the bookmarks and the links, once everything is drawn. */
void tm_pdf_finish_places(struct tm_pdf *pdf);

/* The self-contained first page: the run, the verdict, the key figures, as many findings as fit, and the breakdown of
 * device time if there is room. */
void tm_pdf_front(struct tm_pdf *pdf);

/* Points that must be free for a finding to start: its title and the potential savings are not separated from the
 * rest. */
double tm_pdf_finding_least(const struct tm_pdf *pdf);

/* A complete finding at the pen, as a card with a colored edge: potential savings, evidence, cause, actions,
 * places. */
void tm_pdf_finding(struct tm_pdf *pdf, const struct tm_value *finding, size_t number);

/* Terms with definitions, in two columns of small print at the pen. */
void tm_pdf_glossary(struct tm_pdf *pdf, const struct tm_table *table);

/* A sheet that is ready to be drawn. */
struct tm_pdf_grid {
    const struct tm_sheet *sheet;
    const char *caption; /* "" = none; any bytes */
    double widths[TM_SHEET_COLUMNS];
    double heights[TM_SHEET_ROWS + 1]; /* of the titles, then of the rows */
    double total;                      /* with the caption */
    bool is_halved;                    /* narrow: the second half of its rows is beside the first one */
};

/* Measure a sheet for the column of the page. */
void tm_pdf_grid_make(struct tm_pdf *pdf, struct tm_pdf_grid *grid, const struct tm_sheet *sheet, const char *caption);

/* Points that must be free for it to start: all of a short one, the caption and some rows of a long one. */
double tm_pdf_grid_least(const struct tm_pdf *pdf, const struct tm_pdf_grid *grid);

/* Draw it at the pen, which moves below it.  Rows are not split; the titles are repeated on a new page. */
void tm_pdf_grid_draw(struct tm_pdf *pdf, const struct tm_pdf_grid *grid);

/* Points that a chart takes, title and caption included.  One that is wider than the column or taller than
 * a page is scaled down. */
double tm_pdf_chart_height(struct tm_pdf *pdf, const struct tm_chart *chart);

/* Draw it at the pen, as vectors, with its title above and its caption below; the pen moves below it.  The caller must
 * have made room for it. */
void tm_pdf_chart(struct tm_pdf *pdf, const struct tm_chart *chart);

#endif
