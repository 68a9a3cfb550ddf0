/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MARKDOWN_H
#define TM_MARKDOWN_H

#include <stdio.h>

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
 * in:     gates  as tm_night_gates fills it
 *         title  NULL = none
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT */
tm_status tm_night_markdown_write(struct tm_run *run, const struct tm_value *gates, const char *title,
                                  FILE *to) TM_MUST_USE;

#endif
