/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANALYSIS_H
#define TM_ANALYSIS_H

#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/file_facts.h"
#include "pipeline/engine/inputs.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/stage.h"
#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"
#include "stages/survey/survey.h"

/* One host's file on its way from bytes to ordered events: opened, scanned, surveyed. */
struct tm_host_run {
    struct tm_run *run;
    struct tm_input *input; /* `own`, or one that was opened before */
    struct tm_input own;
    struct tm_trace trace;
    struct tm_source *source;
    struct tm_survey_stats *census; /* NULL = nobody counts */
    struct tm_resolver resolver;
    uint64_t events; /* read from this file */
};

/* Takes what the profiler said of its own work. */
typedef void tm_take_warning(void *to, const char *text, size_t length);

struct tm_host_options {
    struct tm_chosen_steps steps;
    bool keeps_arguments; /* records come with what they say of themselves */
    bool keeps_records;   /* its events will be asked for: that they are read again is to be cheap */
    bool counts;          /* for tm_host_counts */
    tm_take_warning *warn;
    void *to; /* of warn */
};

/* The steps that the options choose. */
struct tm_chosen_steps tm_host_steps(const struct tm_options *options);

/* Open, scan and survey a file, or a member of an archive.
 * in:     names   of the whole run: texts outlive the host
 * owns:   the caller; tm_host_close releases it, also after a failure
 * errors: of the input: unreadable, of a kind that this version does not read; limits; spill files */
tm_status tm_host_open(struct tm_host_run *host, struct tm_run *run, struct tm_names *names,
                       const struct tm_found_file *found, uint32_t number,
                       const struct tm_host_options *options) TM_MUST_USE;
void tm_host_close(struct tm_host_run *host);

/* Give all its events, in order and resolved, to `take`; as often as wanted. */
typedef tm_status tm_take_event(void *to, const struct tm_event *event);

tm_status tm_host_events(struct tm_host_run *host, tm_take_event *take, void *to) TM_MUST_USE;
/* The same without what they say of themselves, even where that is kept: for figures. */
tm_status tm_host_bare_events(struct tm_host_run *host, tm_take_event *take, void *to) TM_MUST_USE;
/* Give how many events there are of each sort, once; where options.counts said so. */
tm_status tm_host_counts(struct tm_host_run *host, tm_take_alike *take, void *to) TM_MUST_USE;

/* Looks on while files are read; of hosts that come as partials it sees nothing. */
struct tm_observer {
    const struct tm_observer_type *type;
    void *to;
    struct tm_names *names;   /* of the run, made by the caller, so that texts outlive the analysis */
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
tm_status tm_analyze(struct tm_run *run, const struct tm_options *options, struct tm_doc *summary,
                     struct tm_partial_writer **partial, const struct tm_observer *observer) TM_MUST_USE;

/* The stages at the end of the pipeline, in the order in which they take events and report.  A new diagnostic is a
 * file in stages/figures/ and a row here. */
extern const struct tm_stage_type *const tm_registry[];
extern const size_t tm_registry_count;

#endif
