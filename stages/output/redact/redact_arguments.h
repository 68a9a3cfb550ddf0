/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REDACT_ARGUMENTS_H
#define TM_REDACT_ARGUMENTS_H

#include "pipeline/arguments.h"
#include "pipeline/redact.h"

/* Handles of pseudonyms, by the handle of what they stand for: those that were asked for last.  Zeroed, but for names
 * and redactor, nothing is known. */
enum { TM_REDACTED_NAMES = 1 << 12 };

struct tm_redacted_names {
    struct tm_names *names;
    struct tm_redactor *redactor;
    struct {
        tm_strid name, redacted; /* name 0 = free */
    } known[TM_REDACTED_NAMES];
};

/* in: name  may be 0, which is nothing's */
tm_status tm_redacted_name(struct tm_redacted_names *names, tm_strid name, tm_strid *redacted) TM_MUST_USE;

/* Room for one list. */
struct tm_redacted_arguments {
    struct tm_arguments_builder list;
    uint8_t bytes[TM_ARGUMENTS_MOST];
};

/* The same list with pseudonyms for keys and texts; numbers stay.  A list that becomes too long is cut after a whole
 * node, and room->list.is_cut says so.
 * out: *out  in `room`, until it is used again */
tm_status tm_redact_arguments(struct tm_redacted_arguments *room, struct tm_redacted_names *names,
                              struct tm_arguments list, struct tm_arguments *out) TM_MUST_USE;

#endif
