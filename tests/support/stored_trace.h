/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STORED_TRACE_H
#define TM_STORED_TRACE_H

/* For the unit tests of what lies between a reader of mixed tracks and the survey: a trace with a record store, and
 * lines of short notation put into it. */
#include "stages/input/records/record_store.h"
#include "tests/support/test_run.h"

struct stored_trace {
    struct tm_run *run;
    struct tm_trace trace;
    struct tm_record_store *store;
};

/* Refusals of memory are off meanwhile, but for the store's own. */
void stored_trace_init(struct stored_trace *stored, struct tm_run *run, uint64_t tracks);
void stored_trace_free(struct stored_trace *stored);

/* The handle of a name; "" = 0. */
tm_strid stored_name(struct stored_trace *stored, const char *name);

/* Add records: "KIND START[+DUR] [NAME] [#KEY] [=WORD ...];..." where KIND is X, B, E, i, C, s, t or f; words are its
 * own arguments: texts with the key 0. */
void stored_add(struct stored_trace *stored, uint32_t track, const char *lines);

/* What the track holds in the same notation; what has TM_FLAG_OPEN has a ! behind its time. */
void assert_stored(struct stored_trace *stored, uint32_t track, const char *expected);

#endif
