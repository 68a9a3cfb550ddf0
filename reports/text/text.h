/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEXT_H
#define TM_TEXT_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* No line of report.txt is wider, counted in columns of a terminal. */
enum { TM_TEXT_COLUMNS = 100 };

/* Write report.txt: the summary as plain text for terminals and mails.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   UTF-8 without control characters, lines of at most TM_TEXT_COLUMNS columns
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT `to` takes no more */
tm_status tm_text_write(struct tm_run *run, const struct tm_doc *doc, FILE *to) TM_MUST_USE;

#endif
