/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REDACTING_WRITER_H
#define TM_REDACTING_WRITER_H

#include "pipeline/redact.h"
#include "stages/output/trace_writer.h"

/* A trace writer that gives all it gets to another one, with pseudonyms for the names: of rows, events, categories,
 * arrows, hosts and devices, and for keys and texts of arguments, however deep.  Everything that is written passes
 * here, so no format can forget a name.  Numbers stay.  What was worked out of a redacted summary (TM_OUT_PUBLIC)
 * passes as it is.  Memory: about 350 KiB, and a copy of the devices of one trace, in the account `tables`; the
 * pseudonyms of names are names too. */

/* in:     inner     has its options, whose facts have to be redacted already
 * owns:   takes inner, also where it fails: free of the result frees both
 * errors: NULL, with the error in run->error */
struct tm_trace_writer *tm_redacting_writer_new(struct tm_run *run, struct tm_names *names,
                                                struct tm_redactor *redactor,
                                                struct tm_trace_writer *inner) TM_MUST_USE;

#endif
