/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPLIT_H
#define TM_SPLIT_H

#include "pipeline/options.h"
#include "pipeline/run.h"
#include "stages/output/export/exporter.h"

/* Where a part ends: before it would pass its limits, and at the borders that --by tells.  docs/convert.md, "Parts" */
struct tm_split_borders {
    struct tm_run *run;
    const struct tm_options *options;
    bool writes_ends; /* of the writer: else what is open has not been written */
    /* the host */
    const struct tm_steps *steps;
    int64_t offset_ps; /* of its clock */
    int64_t first_ps;  /* its first event, on the output's clock */
    uint64_t begun;    /* steps that begin before or at the present part's begin */
    int64_t border_ps; /* the next one; INT64_MAX = none */
    /* the part */
    bool is_fresh;            /* nothing was asked of it */
    uint64_t counters_before; /* that stand at its begin */
    tm_status status;         /* the first failure: wants_cut cannot tell */
};

void tm_split_borders_init(struct tm_split_borders *b, struct tm_run *run, const struct tm_options *options,
                           const struct tm_trace_writer_type *type);
/* A host is to be written.  in: trace  surveyed; must outlive the parts of the host */
tm_status tm_split_borders_begin_host(struct tm_split_borders *b, const struct tm_trace *trace,
                                      int64_t offset_ps) TM_MUST_USE;

/* As tm_wants_cut. */
bool tm_split_borders_want(struct tm_split_borders *b, const struct tm_export_counts *counts, uint64_t raw_bytes,
                           size_t open_spans, int64_t time_ps);

/* The part that was written ends there, on the output's clock; INT64_MAX: it is the host's last one.
 * out:    *first, *count  the steps that it has a part of: a step ends where the next one begins */
tm_status tm_split_borders_end_part(struct tm_split_borders *b, int64_t time_ps, uint64_t *first,
                                    uint64_t *count) TM_MUST_USE;

/* The folder that parts go to. */

/* See that it can be written, and holds nothing but an older split.
 * in:     force  whatever it holds
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_check(struct tm_run *run, const char *folder, bool force) TM_MUST_USE;

/* Remove an older split, if there is one: its index first, then the parts that the index lists, nothing else.
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_clear(struct tm_run *run, const char *folder) TM_MUST_USE;

#endif
