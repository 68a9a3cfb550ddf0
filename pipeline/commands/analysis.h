/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANALYSIS_H
#define TM_ANALYSIS_H

#include "pipeline/commands/host_run.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/doc.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/stage.h"

/* Looks on while files are read; of hosts that come as partials it sees nothing. */
struct tm_observer {
    const struct tm_observer_type *type;
    void *to;
    struct tm_names *names; /* of the run, made by the caller, so that texts outlive the analysis */
    struct tm_inputs *inputs; /* found by the caller; NULL = find them */
    /* Where the only host stays open after it was read, with its arguments where keeps_arguments: the caller closes it.
     * NULL = every host is closed */
    struct tm_host_run *kept;
    bool keeps_arguments;
};

/* Read the inputs once and fill the whole summary, key figures, verdict and findings included.
 *
 * in:     options  inputs, input_count; what is chosen of them: run_name, latest, steps, skip_steps,
 *                  window; gap_min_ps, rows, thresholds
 *         observer  NULL = nobody
 * out:    summary  as schemas/SUMMARY.md says; input.partial tells whether an input was cut short or
 *                  damaged, and then the result is still TM_OK
 *         partial  NULL = not wanted; else what goes into the partial of the run, complete: for tm_partial_write
 * owns:   the caller owns *partial, which tm_partial_writer_free releases; NULL after a failure
 * errors: TM_ERR_INPUT where nothing could be read, TM_ERR_USAGE for thresholds, TM_ERR_OUTPUT for
 *         spill files, TM_ERR_LIMIT */
tm_status tm_analyze(struct tm_run *run, const struct tm_options *options,
                     struct tm_doc *summary, struct tm_partial_writer **partial,
                     const struct tm_observer *observer) TM_MUST_USE;

#endif
