/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_MADE_NIGHTS_H
#define TM_TEST_MADE_NIGHTS_H

#include "pipeline/options.h"
#include "reports/history/history.h"

/* The folder of a batch with a history made by hand, and the summaries of its runs. */
enum { MADE_NIGHT_PATH = 160 };

struct made_nights {
    struct tm_run run;
    char out[64], gate[MADE_NIGHT_PATH]; /* the folder; a gate file in it */
    struct tm_options options;
    struct tm_history *history; /* renewed, until the end */
    struct tm_judged_night judged;
    uint64_t random;
    struct tm_doc *doc; /* result of the last judgement */
    tm_status verdict;
    uint64_t refuse_in; /* of a judgement: its request for memory of that number is refused; 0 = none */
};

/* One run.  What is 0 or NULL is as in a good run. */
struct made_night_run {
    const char *job; /* "train" */
    int night;       /* 1 to 28, of November 2026 */
    const char *status, *gates, *label, *model, *message;
    double step_ms, step_noise;           /* 100; each of the 20 steps by up to so much of it, either way */
    int devices;                          /* 8 */
    int hour;                             /* of several in a night */
    bool is_partial;                      /* its summary says so */
    bool is_pruned, has_no_file, is_copy; /* a copy has the same files in every night */
    const char *patch;                    /* of the summary: tests/support/summary_json.h */
};

void made_nights_begin(struct made_nights *m);
void made_nights_end(struct made_nights *m); /* nothing is left of it */
/* Put it into the history, and its summary into the folder.  out: its id */
void made_nights_add(struct made_nights *m, const struct made_night_run *of, char id[TM_KEY_BYTES]);
/* A random number of mean 0 and deviation 1, roughly normal. */
double made_nights_normal(struct made_nights *m);

/* Which night is the last one: m->judged.  Judging does that too. */
tm_status made_nights_last(struct made_nights *m);
/* Hold the last night to gates.  in: gates  JSON of a gate file, ' for "; NULL = none
 *                                   baseline  of --baseline; NULL = none */
tm_status made_nights_judge(struct made_nights *m, const char *gates, const char *baseline);
const struct tm_value *made_nights_at(const struct made_nights *m, const char *path_of_result);

#endif
