/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MDW_H
#define TM_MDW_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/attributes.h"

/* Markdown as GitHub renders it, into a buffer of fixed size.  Texts of a trace enter here only.  What Markdown or its
 * reader would act on stands in inline code: nothing opens HTML, a link, an image, a formula, mentions a person
 * (@name), refers to an issue (#12), a commit or a pull request, or breaks a table.  Characters that are not seen are
 * made visible.
 * source: GitHub Flavored Markdown 0.29, and what GitHub and GitLab link in comments */
struct tm_mdw {
    char *at;
    size_t bytes, used; /* used < bytes; terminated */
    bool is_full;       /* something did not fit; nothing is added any more */
};

/* Names are cut in the middle, sentences after their begin. */
enum { TM_MD_NAME_MOST = 64, TM_MD_PROSE_BYTES = 16384 };

/* owns: room is the caller's */
void tm_mdw_init(struct tm_mdw *w, char *room, size_t bytes);

/* Markdown of the program itself. */
void tm_mdw_raw(struct tm_mdw *w, const char *markdown);
void tm_mdw_rawf(struct tm_mdw *w, const char *format, ...) TM_PRINTF(2, 3); /* at most 255 bytes */

/* Sentences of any bytes, as one line: words that mean something to Markdown become inline code.
 * in:     in_table  as the text of a cell */
void tm_mdw_prose(struct tm_mdw *w, const char *text, bool in_table);

/* A name of any bytes as inline code; nothing where it is "". */
void tm_mdw_name(struct tm_mdw *w, const char *name, bool in_table);

/* Behind "[" and the text of a link: where it leads.  in: path  tm_link_is_safe */
void tm_mdw_link_end(struct tm_mdw *w, const char *path);

/* Text between the tags of the program itself. */
void tm_mdw_html(struct tm_mdw *w, const char *text);

#endif
