/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REDACTION_H
#define TM_REDACTION_H

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/redact.h"

/* --redact of a verb: pseudonyms in all that it writes, and the map that tells what they stand for.
 * The map is a text: "tracemill names 1", "key " and 32 hexadecimal digits, then a line for each word, in the order of
 * the pseudonyms: the pseudonym, a tab, the word. */

/* Begin: run->redactor is there from now on, where --redact was chosen.  A map that is there already gives its key,
 * and its words stay in it.
 * errors: TM_ERR_USAGE  a file that is no map; --redact-map alone */
tm_status tm_redaction_begin(struct tm_run *run, const struct tm_options *options) TM_MUST_USE;
void tm_redaction_end(struct tm_run *run);

/* What names of a run may hold beside the redactor, if there is one. */
size_t tm_redaction_names_bytes(const struct tm_run *run);

/* Write the map, before what it is of gets its name: --redact-map, else OUTPUT.names; nothing without a redactor.
 * in:     output  the file or the folder that is written; a folder exists
 * errors: TM_ERR_USAGE  it would lie in the output, which is for sharing; TM_ERR_OUTPUT */
tm_status tm_redaction_save(struct tm_run *run, const struct tm_options *options, const char *output) TM_MUST_USE;

/* Put pseudonyms for the names of a summary that holds what was recorded and nothing that was concluded from it: key
 * figures, findings and the verdict come after this, and speak of pseudonyms by themselves.  Fingerprints of files go
 * away: they are what the key is made of.  The key is made here where there is none. */
tm_status tm_redact_summary(struct tm_redactor *redactor, struct tm_doc *summary) TM_MUST_USE;

#endif
