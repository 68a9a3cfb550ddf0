/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CLOSING_H
#define TM_CLOSING_H

#include "pipeline/engine/outputs.h"

/* How the verbs that write a document end. */

/* Write it into the folder, then say what is in it: with --json the document on stdout; on a
 * terminal the verdict, the first findings and the names of the files. */
tm_status tm_document_deliver(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                              const struct tm_options *options) TM_MUST_USE;

/* A document on stdout as JSON.  A reader that went away is no failure. */
tm_status tm_print_document(struct tm_run *run, const struct tm_doc *doc) TM_MUST_USE;

/* The end of what was printed: what waits in a buffer goes out.  A reader that went away is no failure.
 * in:     st  how printing it went
 * errors: that; TM_ERR_OUTPUT */
tm_status tm_finish_stdout(struct tm_run *run, tm_status st) TM_MUST_USE;

/* A text of an input as words for a terminal, cut where it is long. */
void tm_print_clean(FILE *to, const char *text);

/* A line on stderr for a gate that failed or could not be judged (a row of "gates", schemas/CHECK.md); others: nothing.
 * in: label  of the run */
void tm_print_gate(const struct tm_value *gate, const char *label);
bool tm_gate_is_noteworthy(const struct tm_value *gate); /* it failed, or could not be judged */

/* One line on stderr: which files of a summary are damaged, and how far the figures reach.
 * in: what  rests on the summary, with its verb: "report is" */
void tm_print_partial(const struct tm_value *summary, const char *what);

/* One warning for each failed check of a summary or an inspection, on stderr. */
void tm_print_failed_checks(const struct tm_value *root);

#endif
