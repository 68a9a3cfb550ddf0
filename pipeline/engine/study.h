/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STUDY_H
#define TM_STUDY_H

#include "pipeline/engine/outputs.h"
#include "reports/compare/compare.h"
#include "reports/history/history.h"

struct tm_document;

/* What `compare` and `scaling` share: one document about several runs. */
struct tm_study {
    struct tm_run *run;
    const struct tm_options *options;
    const char *act;                /* "compare" */
    struct tm_run_operand *operand; /* room of them, `count` in use */
    struct tm_compared_run *runs;   /* likewise; measured_ps may be set before they are loaded */
    size_t count, room;
    struct tm_summaries summaries;
};

/* Check the options, and make room for this many runs.
 * owns:   the caller; tm_study_close, also after a failure
 * errors: TM_ERR_USAGE  a format that is of reports only, --redact; TM_ERR_OUTPUT  the folder
 * cannot be written; TM_ERR_LIMIT */
tm_status tm_study_open(struct tm_study *study, struct tm_run *run, const struct tm_options *options, const char *act,
                        const struct tm_document *document, size_t room);
void tm_study_add(struct tm_study *study, const struct tm_run_operand *operand, int64_t measured_ps);
/* Before any work: check that every run exists, and that no run is given twice unless --force. */
tm_status tm_study_check(struct tm_study *study);
tm_status tm_study_load(struct tm_study *study);
/* The summaries are no longer needed: free their memory for writing. */
void tm_study_forget(struct tm_study *study);
void tm_study_close(struct tm_study *study); /* tolerates a zeroed one */

struct tm_compare_options tm_study_options(const struct tm_options *options);

/* Where the document is written: --output, or a name made from the runs. */
void tm_study_folder(const struct tm_study *study, const struct tm_doc *doc, const char *ending,
                     char folder[TM_PLACE_BYTES]);

/* Write the document and report it.
 * in:     ending  of the folder if none was given: ".compare"
 * errors: TM_PARTIAL, with a warning, if a run is partial */
tm_status tm_study_deliver(const struct tm_study *study, struct tm_doc *doc, const char *ending);

/* The name of a group of runs: the first label that the user gave, else the common prefix of their
 * labels, else the first label. */
void tm_group_label(char label[TM_LABEL_BYTES], const struct tm_loaded_run *run, size_t runs);

/* How much two runs of one program differ: for the step time --run-spread, or from the history of a batch (--history),
 * for each figure that it keeps. */
struct tm_run_spread {
    struct tm_spread figure[TM_FIGURES_MOST];
    size_t count;                    /* 0 = nothing is known */
    char from[TM_LABEL_BYTES + 128]; /* where it was taken from, for people */
};

/* in:     base, other  runs of the comparison, loaded: which job of the history they belong to
 * errors: TM_ERR_USAGE  not a percentage, or the history has several jobs and none is named; TM_ERR_INPUT  it cannot be
 * read */
tm_status tm_run_spread_find(struct tm_run_spread *spread, struct tm_run *run, const struct tm_options *options,
                             const struct tm_loaded_run *loaded, size_t count);

#endif
