/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMMANDS_H
#define TM_COMMANDS_H

#include "pipeline/options.h"
#include "pipeline/run.h"

/* To add a verb: 1. a file of its name beside this one, with a tm_command, 2. a row in commands.c, 3. its bit in
 * pipeline/options.h, which the options that it takes have in their rows of pipeline/options.c. */

/* What a verb does: called once, with the run ready (ledger, spill folder, progress) and the options
 * read.
 * errors: the status is the exit status; what failed stands in run->error, main prints it */
typedef tm_status tm_command(struct tm_run *run, const struct tm_options *options);

enum tm_verb_flag {
    TM_VERB_HIDDEN = 1,   /* in no list: for packagers */
    TM_VERB_SPILLS = 2,   /* needs a folder for spill files */
    TM_VERB_PRINTS = 4,   /* writes to stdout only: a reader that went away is no failure */
    TM_VERB_TRACES = 16,  /* writes traces, not figures: for messages */
    TM_VERB_GROUPS = 32,  /* "--" stands between groups of operands */
    TM_VERB_NO_CONFIG = 8 /* works whatever the environment and the configuration file say */
};

/* One row per verb: dispatch, help, manual page and completions are made from it. */
struct tm_verb {
    const char *name;        /* a word, or two with a blank between them */
    const char *summary;     /* one clause, no full stop */
    const char *usage;       /* after "tracemill NAME " */
    const char *description; /* a paragraph or two, for `help VERB` and the manual page */
    const char *examples;    /* lines: command, two blanks or more, what it does; "" = none */
    const char *words;       /* what the operands may be, by blanks; NULL = files */
    enum tm_verb_bit bit;
    uint32_t flags;     /* enum tm_verb_flag */
    size_t least, most; /* operands */
    tm_command *run;
};

extern const struct tm_verb tm_verb_table[];
extern const size_t tm_verb_count;

const struct tm_verb *tm_verb_by_name(const char *name); /* NULL if there is none */
/* The verb that words begin with: the longest, of one word or two.
 * out: used  how many of the words are its name */
const struct tm_verb *tm_verb_by_words(char *const *words, size_t count, size_t *used);

/* Verbs of two words, of which this one is the first: "batch scan" is an action of "batch". */
bool tm_verb_is_action_of(const struct tm_verb *action, const struct tm_verb *verb);
const char *tm_verb_second_word(const struct tm_verb *action);
bool tm_verb_has_actions(const struct tm_verb *verb);
/* The action that a mistyped second word was meant to be; NULL = none is near. */
const struct tm_verb *tm_verb_nearest_action(const struct tm_verb *verb, const char *typed);

tm_command tm_command_report;       /* report.c */
tm_command tm_command_inspect;      /* inspect.c */
tm_command tm_command_convert;      /* convert.c */
tm_command tm_command_split;        /* split.c */
tm_command tm_command_compare;      /* compare.c */
tm_command tm_command_scaling;      /* scaling.c */
tm_command tm_command_check;        /* check.c */
tm_command tm_command_batch;        /* batch.c */
tm_command tm_command_batch_scan;   /* batch_scan.c */
tm_command tm_command_batch_run;    /* batch_run.c */
tm_command tm_command_batch_merge;  /* batch_merge.c */
tm_command tm_command_batch_submit; /* batch_submit.c */
tm_command tm_command_batch_prune;  /* batch_prune.c */
tm_command tm_command_batch_export; /* batch_merge.c */
tm_command tm_command_list;         /* list.c */
tm_command tm_command_extract;      /* extract.c */
tm_command tm_command_config;       /* config.c */
tm_command tm_command_help;         /* help.c */
tm_command tm_command_man;          /* help.c */
tm_command tm_command_completions;  /* help.c */
tm_command tm_command_version;      /* help.c */

#endif
