/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_PAGE_H
#define TM_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"

/* Writes HTML and inline SVG.  All strings except the program's own element, attribute, and class names enter through
 * tm_htmlw_text or tm_htmlw_attr, and are escaped only there, for their context: control, bidi, and zero-width
 * characters become visible escapes (format.h), then the special characters of HTML become entities.  A URL from a
 * trace cannot be inserted: no attribute that takes a URL or a script ever receives trace text.  The stream records
 * write errors: check ferror once, at the end. */
enum { TM_HTMLW_DEPTH = 32 };

struct tm_htmlw {
    FILE *to;
    int depth;
    bool in_tag; /* "<name" is written, attributes may follow */
    const char *open[TM_HTMLW_DEPTH];
};

/* Elements.  name: a literal.  Every open has its close; the writer knows the name, and writes no end tag where HTML
 * needs none: of rows and cells of tables, which must be followed by another one or by the end of what contains them.
 * Nor has an attribute of a cell quotes if it is a number or a word. */
void tm_htmlw_open(struct tm_htmlw *w, const char *name);
void tm_htmlw_class(struct tm_htmlw *w, const char *name, const char *class_name); /* open with a class */
/* The same with attributes: pairs of a name and a text, as in tm_htmlw_attr, then NULL. */
void tm_htmlw_open_with(struct tm_htmlw *w, const char *name, ...) __attribute__((sentinel));
void tm_htmlw_close(struct tm_htmlw *w);
void tm_htmlw_close_line(struct tm_htmlw *w); /* and ends the line */

void tm_htmlw_leaf(struct tm_htmlw *w); /* closes an empty element: "/>" (SVG, void elements) */

/* Attributes, right after open.  value: any bytes */
void tm_htmlw_attr(struct tm_htmlw *w, const char *name, const char *value);
void tm_htmlw_attr_int(struct tm_htmlw *w, const char *name, int64_t value);
void tm_htmlw_attr_number(struct tm_htmlw *w, const char *name, double value); /* to 1/100 */

/* Text, any bytes. */
void tm_htmlw_text(struct tm_htmlw *w, const char *text);
void tm_htmlw_prose(struct tm_htmlw *w, const char *text); /* without line breaks between a number and its unit */
void tm_htmlw_printf(struct tm_htmlw *w, const char *format, ...) TM_PRINTF(2, 3); /* cut at 4 KiB */
/* An element with text only; class_name may be NULL. */
void tm_htmlw_element(struct tm_htmlw *w, const char *name, const char *class_name, const char *text);

/* Parts of the program itself (style sheet, script, doctype), written verbatim. */
void tm_htmlw_verbatim(struct tm_htmlw *w, const char *bytes, size_t length);

/* A list of coordinates to 1/10, "x,y x,y", inside an attribute: start, points, end. */
void tm_htmlw_begin_points(struct tm_htmlw *w, const char *name);
void tm_htmlw_point(struct tm_htmlw *w, double x, double y);
void tm_htmlw_end_points(struct tm_htmlw *w);

/* The page while it is written, and how it renders what the sections contain (struct tm_medium): the functions
 * that take `to` are its members, `to` being the page. */
struct tm_page {
    struct tm_htmlw w;
    const struct tm_value *summary;
    const struct tm_document *document; /* what it is */
    struct tm_chart chart;              /* room for the one being drawn */
    const struct tm_section *section;   /* being written: its terms are linked; NULL = none */
    size_t full_bytes_left;             /* of names shown in full beside their cut form: hostile names must not fill
                                          the page */
    bool is_drawn[TM_CHART_KINDS];      /* the charts of that kind are on the page */
    bool has_curve_end;                 /* the dot at the end of the curves in tables is on the page */
    bool in_fold;                       /* findings without potential savings are put into a fold */
};

enum { TM_HTML_ROWS_MOST = 500 };

/* --- html_table.c --- */

void tm_page_table(void *to, const struct tm_table *table);
/* All charts of a kind, each with its caption and the table of its data; a link if they are already on the page. */
void tm_page_charts(void *to, enum tm_chart_kind kind);

/* Names, sentences, labels, and assessments: elements used in all parts of the page. */

/* A name of the trace, cut in the middle to this number of characters; it expands to the full text while the page has
 * room. */
enum { TM_NAME_CHARS = 48, TM_NAME_NARROW = 32, TM_NAME_WIDE = 80, TM_NAME_FACT = 200 };

void tm_page_name(struct tm_page *page, const char *name, size_t chars);

/* The same inside an element just opened, such as a link: the full text becomes its title. */
void tm_page_cut_name(struct tm_page *page, const char *name, size_t chars);

/* A sentence that may contain names of the trace, cut after 2 KiB. */
void tm_page_text(struct tm_page *page, const char *text);
/* Advice of the program: text between backticks is code. */
void tm_page_prose(struct tm_page *page, const char *text);

/* The title of a figure or a column, linked to its definition if it has one (content.h), which it also shows. */
void tm_page_label(struct tm_page *page, const char *label);

/* An assessment: the word with its own sign shape, in its color. */
void tm_page_band(struct tm_page *page, enum tm_tone tone);
/* "good", "warning", "bad", "critical", "info", "unknown": the class of a tone, and "" of one that is not an
 * assessment. */
const char *tm_tone_class(enum tm_tone tone);

/* Letters of the marks of a section or of a key figure: each links to where it is reported and has its text as
 * title. Nothing if there are none. */
void tm_page_section_marks(struct tm_page *page, const char *section);
void tm_page_kpi_marks(struct tm_page *page, const struct tm_value *kpi);

/* A link inside the page: <a href="#word-number">, or "#word" for a number below 0; left open. */
void tm_page_open_link(struct tm_page *page, const char *word, int number);
/* An id: "word-number", or "word-name". */
void tm_page_id(struct tm_page *page, const char *word, int number);
void tm_page_id_of(struct tm_page *page, const char *word, const char *name);

/* What has no value or no assessment, collected to be reported in one line: "Not recorded: FLOPs, Bytes (the HLO is not
 * in the file)."  Those with the same reason are together. */
enum { TM_MISSING_MOST = TM_TABLE_COLUMNS_MOST * TM_REASONS_MOST };

struct tm_missing {
    const char *title[TM_MISSING_MOST], *why[TM_MISSING_MOST];
    size_t count;
};

void tm_missing_add(struct tm_missing *missing, const char *title, const char *why);
/* in: what  the line starts with: "Not recorded" */
void tm_page_missing(struct tm_page *page, const char *what, const struct tm_missing *missing);

/* Write a drawing as an inline <svg>.  Colors and fonts are classes of the page's style sheet
 * (chart.h), so the drawing follows light, dark and print; groups become <title> tooltips.  The
 * title is the accessible name. */
void tm_svg_write(struct tm_htmlw *w, const struct tm_chart *chart, const char *class_name);

/* Style sheet and script of the page, made of style.css, script.js and the palette by embed.sh.
 * Each has the hash that the page's content security policy names: "sha256-" and base64 of the
 * bytes between the tags. */
struct tm_asset {
    const char *bytes;
    size_t length;
    const char *hash;
};

extern const struct tm_asset tm_asset_style, tm_asset_script;
extern const struct tm_asset tm_asset_parts_script; /* of the list of parts */

/* From the doctype to </head>: a page that loads nothing, and whose policy allows only its own style, and its own
 * script, by hash.
 * in:     title  any bytes, shown before the name of the program's page */
void tm_html_head(struct tm_htmlw *w, const char *title, const char *page, const struct tm_asset *script);
/* The script, at the end of the page. */
void tm_html_script(struct tm_htmlw *w, const struct tm_asset *script);

#endif
