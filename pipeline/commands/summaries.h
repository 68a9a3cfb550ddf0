/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUMMARIES_H
#define TM_SUMMARIES_H

#include "pipeline/doc.h"
#include "pipeline/options.h"

/* Summaries of runs: each operand that is a summary.json, or the folder of a report with one in it, is read; any other is
 * analyzed like an INPUT of `report`, one after the other, with tallies of its own.  "LABEL=PATH" gives a label where no
 * file has that whole name; without one the label is the shortest end of the path (or name of the run) that is different
 * from the others. */
struct tm_loaded_run {
    struct tm_doc *doc; /* its summary */
    const char *path;   /* as given, without the label */
    char label[256];    /* valid UTF-8, not empty; distinct among the runs of one call */
    bool is_labelled;   /* by the user */
    bool is_summary;    /* read, not analyzed */
    bool is_partial;
};

struct tm_summaries {
    struct tm_loaded_run *run;
    size_t count;
};

/* owns:   the caller; tm_summaries_free, also after a failure
 * errors: as of tm_analyze and tm_doc_read_file; a summary of another schema version: TM_ERR_INPUT */
tm_status tm_summaries_load(struct tm_summaries *summaries, struct tm_run *run, const struct tm_options *options,
                            char *const *operand, size_t count) TM_MUST_USE;
void tm_summaries_free(struct tm_summaries *summaries); /* tolerates a zeroed one */

#endif
