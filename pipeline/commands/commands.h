/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMMANDS_H
#define TM_COMMANDS_H

#include <stdio.h>

#include "pipeline/clock.h"
#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/run.h"
#include "stages/output/export/exporter.h"

/* To add a verb: 1. a file of its name beside this one, with its code and its struct tm_verb; 2. its name in the list
 * of commands.c; 3. its bit in pipeline/options.h, which goes into the rows of its options in pipeline/options.c. */

/* What a verb does: called once, with the run ready (ledger, spill folder, progress) and the options
 * read.
 * errors: the status is the exit status; what failed is in run->error, main prints it */
typedef tm_status tm_command(struct tm_run *run, const struct tm_options *options);

enum tm_verb_flag {
    TM_VERB_HIDDEN = 1,   /* in no list: for packagers */
    TM_VERB_SPILLS = 2,   /* needs a folder for spill files */
    TM_VERB_PRINTS = 4,   /* writes to stdout only: a closed pipe is not a failure */
    TM_VERB_TRACES = 16,  /* writes traces, not figures: for messages */
    TM_VERB_GROUPS = 32,  /* "--" is between groups of operands */
    TM_VERB_NO_CONFIG = 8 /* works whatever the environment and the configuration file say */
};

/* A verb: dispatch, help, manual page and completions are made from it. */
struct tm_verb {
    const char *name;        /* a word, or two with a blank between them */
    const char *summary;     /* one clause, no full stop */
    const char *usage;       /* after "tracemill NAME " */
    const char *description; /* a paragraph or two, for `help VERB` and the manual page */
    const char *examples;    /* lines: command, two blanks or more, what it does; "" = none */
    const char *words;       /* what the operands may be, by blanks; NULL = files */
    tm_verb_bits bit;
    uint32_t flags;     /* enum tm_verb_flag */
    size_t least, most; /* operands */
    tm_command *run;
};

extern const struct tm_verb *const tm_verbs[];
extern const size_t tm_verb_count;

const struct tm_verb *tm_verb_by_name(const char *name); /* NULL if there is none */

/* The verb that words start with: the longest, of one word or two.
 * out: used  how many of the words are its name */
const struct tm_verb *tm_verb_by_words(char *const *words, size_t count, size_t *used);

/* For a verb with actions ("VERB ACTION"): the action closest to a mistyped second word; NULL = none is
 * close. */
const struct tm_verb *tm_verb_nearest_action(const struct tm_verb *verb, const char *typed);

/* Strings made from the tables of verbs and options.  Write errors stay in the stream. */
void tm_help_overview(FILE *to); /* the verbs, exit statuses */

/* What `inspect` has found, as a tree of values: schema "tracemill.inspect", run, files, environment, coverage, unused,
 * contents (stages/figures/contents.c), checks, advice. */

/* Say how to improve the profiling: adds an array `advice` of {"id", "what", "fix"}, the most important first; empty if
 * the trace has everything that the figures need. */
void tm_inspect_advise(struct tm_value *found);

/* Print it for people. */
void tm_inspect_print(const struct tm_value *found, FILE *to);

/* Takes the summary once all files of the report have their names. */
struct tm_report_taker {
    tm_status (*take)(void *to, const struct tm_value *summary);
    void *to;
};

/* Analyze the inputs and write the report into a folder, for `report` and for a worker of a batch.
 * in:     options  output  the folder; NULL = NAME.report in the working folder
 *         taker    may be NULL
 * errors: TM_PARTIAL  written, from damaged or truncated input; as in tm_analyze; TM_ERR_OUTPUT; of the taker */
tm_status tm_report_make(struct tm_run *run, const struct tm_options *options, const struct tm_report_taker *taker);

/* Where a part ends: before it would exceed its limits, and at the boundaries of --by. docs/convert.md, "Parts" */
struct tm_split_borders {
    struct tm_run *run;
    const struct tm_options *options;
    bool writes_ends;  /* of the writer: else what is open has not been written */
    bool follows_work; /* the caller ends parts where all work of their steps is written: only limits are tested */
    /* the host */
    const struct tm_trace *trace;
    const struct tm_steps *steps;
    struct tm_clock clock;
    int64_t first_ps;     /* its first event, on the output's clock */
    uint64_t begun;       /* steps that start before or at the current part's start */
    int64_t border_ps;    /* the next one; INT64_MAX = none */
    uint64_t border_step; /* by step: which starts there; UINT64_MAX = none */
    int64_t zero_ps;      /* of all hosts: borders by time count from here */
    /* the part */
    bool is_fresh;            /* it was not requested */
    uint64_t counters_before; /* that are at its start */
};

void tm_split_borders_init(struct tm_split_borders *b, struct tm_run *run, const struct tm_options *options,
                           const struct tm_trace_writer_type *type);
/* A host is to be written.
 * in:     trace    surveyed; must outlive the parts of the host
 *         clock    of the host
 *         zero_ps  the first event of all hosts, on the output's clock */
tm_status tm_split_borders_begin_host(struct tm_split_borders *b, const struct tm_trace *trace,
                                      const struct tm_clock *clock, int64_t zero_ps);

/* By step: whether an event belongs to a later part: as in struct tm_events_in_parts. */
bool tm_split_borders_is_later(struct tm_split_borders *b, const struct tm_track *track, int64_t start_ps,
                               uint32_t step);

/* As tm_wants_cut. */
bool tm_split_borders_want(struct tm_split_borders *b, const struct tm_export_counts *counts, uint64_t raw_bytes,
                           size_t open_spans, int64_t time_ps);

/* The end of the part that was written, on the output's clock; INT64_MAX: it is the host's last one.
 * out:    *first, *count  the steps that overlap the part: a step ends where the next one starts */
tm_status tm_split_borders_end_part(struct tm_split_borders *b, int64_t time_ps, uint64_t *first, uint64_t *count);

/* The folder that parts go to. */

/* Check that the folder can be written and contains nothing but an older split.
 * in:     force  accept any content
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_check(struct tm_run *run, const char *folder, bool force);
/* The names of the parts that the list of a folder has, in its order, at most TM_SPLIT_PARTS_MOST; names that a part cannot
 * have are left out.
 * in:  take  NULL = nothing is read
 * out: false: it has no such list */
enum { TM_SPLIT_PARTS_MOST = 9999 };
bool tm_split_folder_list(const char *folder, void (*take)(void *to, const char *name), void *to);

/* Remove an older split, if there is one: its index first, then only the parts that the index lists.
 * errors: TM_ERR_OUTPUT */
tm_status tm_split_folder_clear(struct tm_run *run, const char *folder);

#endif
