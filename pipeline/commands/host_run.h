/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_RUN_H
#define TM_HOST_RUN_H

#include "pipeline/discover.h"
#include "pipeline/options.h"
#include "stages/input/bytes/input_file.h"
#include "stages/survey/survey.h"

/* One host's file on its way from bytes to ordered events: opened, scanned, surveyed. */
struct tm_host_run {
    struct tm_run *run;
    struct tm_input *input; /* `own`, or one that was opened before */
    struct tm_input own;
    struct tm_trace trace;
    struct tm_source *source;
    struct tm_census *census; /* NULL = nobody counts */
    struct tm_resolver resolver;
    uint64_t events; /* read from this file */
};

/* Takes what the profiler said of its own work. */
typedef void tm_take_warning(void *to, const char *text, size_t length);

struct tm_host_options {
    struct tm_chosen_steps steps;
    bool keeps_arguments;    /* records come with what they say of themselves */
    bool keeps_records;      /* its events will be asked for: that they are read again is to be cheap */
    bool counts;             /* for tm_host_counts */
    tm_take_warning *warn;
    void *to;                /* of warn */
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

#endif
