/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MARKDOWN_H
#define TM_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pipeline/attributes.h"
#include "pipeline/doc/doc.h"

/* A comment on GitHub has 65,536 characters at most; some room is left for words around the report. */
enum { TM_MARKDOWN_BYTES_MOST = 60000 };

/* Write report.md, for pull requests, issues and chats: verdict, key figures and findings open, the tables of the
 * sections folded.  Sections that would make it longer than TM_MARKDOWN_BYTES_MOST are left out, and named.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   GitHub Flavored Markdown, UTF-8; no HTML but details and summary
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_markdown_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

/* A night in short, for a pull request or a chat: what failed first, then what cannot be judged or has no report; what
 * passed is folded.  At most TM_MARKDOWN_BYTES_MOST bytes: what there is no room for is counted.
 * in:     gates  as tm_nightly_gates fills it
 *         title  NULL = none
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT */
tm_status tm_nightly_markdown_write(struct tm_run *run, const struct tm_value *gates, const char *title,
                                    FILE *to) TM_MUST_USE;

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

/* Sentences of any bytes, as one line: words that mean something to Markdown become inline code.
 * in:     in_table  as the text of a cell */
void tm_mdw_prose(struct tm_mdw *w, const char *text, bool in_table);

/* A name of any bytes as inline code; nothing where it is "". */
void tm_mdw_name(struct tm_mdw *w, const char *name, bool in_table);

/* Text between the tags of the program itself. */
void tm_mdw_html(struct tm_mdw *w, const char *text);

#endif
