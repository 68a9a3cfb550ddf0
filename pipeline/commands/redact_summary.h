/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REDACT_SUMMARY_H
#define TM_REDACT_SUMMARY_H

#include "pipeline/doc.h"
#include "pipeline/redact.h"

/* Put pseudonyms for the names of a summary that holds what was recorded and nothing that was concluded from it: key
 * figures, findings and the verdict come after this, and speak of pseudonyms by themselves.  Fingerprints of files go
 * away: they are what the key is made of.  The key is made here where there is none. */
tm_status tm_redact_summary(struct tm_redactor *redactor, struct tm_doc *summary) TM_MUST_USE;

/* Whether texts under this key are the program's own words in every summary, and stay. */
bool tm_is_own_text(const char *key);

#endif
