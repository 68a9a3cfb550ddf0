/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUMMARIES_H
#define TM_SUMMARIES_H

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"

/* Summaries of runs: each operand that is a summary.json, or the folder of a report with one in it,
 * is read; any other is analyzed like an INPUT of `report`, one after the other, with tallies of
 * its own.  While one is analyzed, those before it wait in a spill file; then all are read into
 * memory, where they may take most of what --memory gives. */

enum { TM_LABEL_BYTES = 256 };

/* A run as the user names it. */
struct tm_run_operand {
    const char *path;
    const char *label;   /* label_length bytes, whatever they are */
    size_t label_length; /* 0 = none was given */
};

/* "LABEL=PATH", or a path: where a file has that whole name, or '/' stands before the '='.
 * owns: *operand refers to the text */
void tm_run_operand_read(struct tm_run_operand *operand, const char *text);

struct tm_loaded_run {
    struct tm_doc *doc;         /* its summary */
    const char *path;           /* as given, without the label */
    char label[TM_LABEL_BYTES]; /* valid UTF-8 without control characters, not empty; distinct among
                                   the runs of one call: as the user says, else the shortest end of
                                   the path, or the name of the run, that is different from the
                                   others */
    bool is_labelled;           /* by the user */
    bool is_summary;            /* read, not analyzed */
    bool is_partial;
};

struct tm_summaries {
    struct tm_loaded_run *run; /* in the order of the operands */
    size_t count;
    struct tm_run *of; /* private */
};

enum { TM_RUNS_MOST = 4096 };

/* See before any work that every operand is there, and that stdin is named once.  Nothing is
 * analyzed. errors: TM_ERR_INPUT, TM_ERR_USAGE; TM_ERR_LIMIT past TM_RUNS_MOST */
tm_status tm_run_operands_check(struct tm_run *run, const struct tm_run_operand *operand, size_t count) TM_MUST_USE;

/* in:     act  what they are for, for messages: "compare"
 * out:    run->tallies  the sum over all that were analyzed
 * owns:   the caller; tm_summaries_free, also after a failure
 * errors: as of tm_analyze and tm_doc_read_file; a summary of another schema version: TM_ERR_INPUT;
 * with --strict: any loss; TM_ERR_LIMIT where they do not fit into memory together */
tm_status tm_summaries_load(struct tm_summaries *summaries, struct tm_run *run, const struct tm_options *options,
                            const struct tm_run_operand *operand, size_t count, const char *act) TM_MUST_USE;
void tm_summaries_free(struct tm_summaries *summaries); /* tolerates a zeroed one */

/* Read one summary.json, and nothing else.
 * out:    doc  was empty; holds as much of it as its maker lets it (tm_doc_set_most)
 * errors: TM_ERR_INPUT  it cannot be read, is another document, or has another schema version; TM_ERR_LIMIT */
tm_status tm_summary_read(struct tm_run *run, struct tm_doc *doc, const char *file) TM_MUST_USE;

/* What pseudonyms would have to stand in: verbs that read several runs do not make them.
 * errors: TM_ERR_USAGE where the settings ask for --redact */
tm_status tm_refuse_redaction(struct tm_run *run, const struct tm_options *options, const char *act) TM_MUST_USE;

#endif
