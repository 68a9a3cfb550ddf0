/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTMLW_H
#define TM_HTMLW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/attributes.h"

/* Writes HTML and inline SVG.  Whatever is not a name of an element, attribute or class chosen by
 * the program enters through tm_htmlw_text or tm_htmlw_attr and is escaped there, for its place,
 * and nowhere else: control, bidi and zero-width characters become visible escapes (format.h), then
 * the characters of HTML become entities.  There is no way to put in an address from a trace: no
 * attribute that takes a URL or a script is ever given a text of a trace.  Write errors are
 * remembered by the stream: check ferror once, at the end. */
enum { TM_HTMLW_DEPTH = 32 };

struct tm_htmlw {
    FILE *to;
    int depth;
    bool in_tag; /* "<name" is written, attributes may follow */
    const char *open[TM_HTMLW_DEPTH];
};

/* Elements.  name: a literal.  Every open has its close; the writer knows the name. */
void tm_htmlw_open(struct tm_htmlw *w, const char *name);
void tm_htmlw_class(struct tm_htmlw *w, const char *name, const char *class_name); /* open with a class */
void tm_htmlw_close(struct tm_htmlw *w);
void tm_htmlw_close_line(struct tm_htmlw *w); /* and end the line */
void tm_htmlw_leaf(struct tm_htmlw *w);       /* close an element that holds nothing: "/>" (SVG, void elements) */

/* Attributes, right after open.  value: any bytes */
void tm_htmlw_attr(struct tm_htmlw *w, const char *name, const char *value);
void tm_htmlw_attr_int(struct tm_htmlw *w, const char *name, int64_t value);
void tm_htmlw_attr_number(struct tm_htmlw *w, const char *name, double value); /* to 1/100 */

/* Text, any bytes. */
void tm_htmlw_text(struct tm_htmlw *w, const char *text);
void tm_htmlw_printf(struct tm_htmlw *w, const char *format, ...) TM_PRINTF(2, 3); /* cut at 4 KiB */
/* An element that holds a text alone; class_name may be NULL. */
void tm_htmlw_element(struct tm_htmlw *w, const char *name, const char *class_name, const char *text);

/* Parts of the program itself (style sheet, script, doctype), written as they are. */
void tm_htmlw_verbatim(struct tm_htmlw *w, const char *bytes, size_t length);

/* A list of coordinates, "x,y x,y", inside an attribute: begin, points, end. */
void tm_htmlw_begin_points(struct tm_htmlw *w, const char *name);
void tm_htmlw_point(struct tm_htmlw *w, double x, double y);
void tm_htmlw_end_points(struct tm_htmlw *w);

#endif
