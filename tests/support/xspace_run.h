/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_RUN_H
#define TM_XSPACE_RUN_H

#include <stdio.h>

#include "pipeline/engine/analysis.h"
#include "tests/support/xspace_builder.h"

/* XSpace bytes on their way to records and events, as a verb takes them, but step by step. */
struct xspace_run {
    struct tm_run run;
    struct tm_names *names;
    struct tm_host_run host;
    char warnings[1024]; /* what the profiler said, each with a newline */
};

/* Open the bytes and scan them.  Whatever it returns, xspace_close has to follow. */
tm_status xspace_scan(struct xspace_run *x, const struct xb_bytes *bytes, size_t memory_mib);
/* The same in the least memory, with the refuse_in-th request for memory refused. */
tm_status xspace_scan_refusing(struct xspace_run *x, const struct xb_bytes *bytes, uint64_t refuse_in);
/* The same, as the options say. */
struct xspace_options {
    size_t memory_mib;  /* 0 = the least */
    uint64_t refuse_in; /* 0 = nothing is refused */
    bool keeps_arguments;
};
tm_status xspace_scan_with(struct xspace_run *x, const struct xb_bytes *bytes, const struct xspace_options *options);
/* The same of a space in a style; NULL = as writers do. */
tm_status xspace_scan_space(struct xspace_run *x, const struct xb_space *space, const struct xb_style *style);
tm_status xspace_survey(struct xspace_run *x, const struct tm_chosen_steps *choice);
/* Gives everything back, and asserts that nothing is left in the ledger. */
void xspace_close(struct xspace_run *x);

/* The own arguments of a record as a list; valid until the next call. */
struct tm_arguments xspace_own(const struct xspace_run *x, struct tm_arguments own, const struct tm_record *record);
/* The text of a name, its first 4096 bytes; valid until the next call. */
const char *xspace_text(struct xspace_run *x, tm_strid id);
/* The number of the line of a name; fails the test where there is none. */
uint64_t xspace_line(struct xspace_run *x, const char *name);

/* Everything that was read, as text: devices, environment, lines, and every record with its name, arguments and
 * launch facts.  In the order of the names of lines, because that of the file is free. */
void xspace_print(struct xspace_run *x, size_t buffer_bytes, FILE *to);

#endif
