/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATES_H
#define TM_GATES_H

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"
#include "reports/compare/compare.h"

/* Limits for figures of a summary, or of any document, by their path: docs/gates.md,
 * schemas/gates.schema.json. */
struct tm_gates;

/* From a gate file; from expressions ("steps.median_ps>+5%", "kpis[device_utilization].value<80%")
 * of --fail-on.
 * owns:   the caller; tm_gates_free
 * errors: TM_ERR_USAGE with file, gate and reason; wrong members suggest the nearest */
tm_status tm_gates_read(struct tm_run *run, struct tm_gates **gates, const char *path);
tm_status tm_gates_parse(struct tm_run *run, struct tm_gates **gates, const char *const *expression, size_t count);
void tm_gates_free(struct tm_gates *gates); /* tolerates NULL */
bool tm_gates_want_baseline(const struct tm_gates *gates);
/* Does any of them use that member of the summary's root, directly or for its unit? Unused members can be
 * omitted from a baseline. */
bool tm_gates_need(const struct tm_gates *gates, const char *section);
/* The first gate after that number whose "job" matches no job; 0 = there is none. */
typedef bool tm_has_job(void *of, const char *pattern);
size_t tm_gates_idle(const struct tm_gates *gates, size_t after, tm_has_job *has, void *of);

/* Check a run against them and fill a document (schemas/CHECK.md) with the result of each.
 * in:     baseline  runs that relative gates compare with; NULL = none
 * out:    failed    gates that failed
 * errors: TM_ERR_USAGE: a figure that does not exist in the summary (the message suggests the
 * nearest names) */
tm_status tm_gates_judge(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                         const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                         size_t *failed);

/* The same where a comparison has assessed these runs: gates do not contradict it. */
struct tm_gate_comparison {
    const struct tm_value
        *test; /* tests[] of COMPARISON.md, for the side of the input: gates on the step time follow it,
                                       unless it is inconclusive */
    const struct tm_spread
        *spread; /* what runs of the same program differ by: a change has to exceed it; 0 = not known */
    size_t spreads;
    const char *spread_from;
};
tm_status tm_gates_judge_compared(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                                  const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                                  const struct tm_gate_comparison *comparison, size_t *failed);

/* The same for one run of many, each of some job: gates of other jobs are skipped, the last of several gates of one
 * figure and rule that matches the job counts, and a row that this run's list does not have makes the gate unknown.
 * Without it (tm_gates_judge) gates that name jobs are skipped. */
struct tm_judged_job {
    const char *job;
    const char *no_baseline; /* the reason, if there is none */
    bool is_new;             /* no baseline can exist yet: gates that need one are skipped, required or not */
};
tm_status tm_gates_judge_job(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                             const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                             const struct tm_judged_job *job, size_t *failed);
/* Do both have files, and the same ones?  Such a run is not a baseline: tm_gates_judge refuses it. */
bool tm_are_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b);

/* A gate file from a run: its main figures with some margin. */
tm_status tm_gates_init(struct tm_run *run, const struct tm_value *summary, FILE *to);

/* The limit of a gate's result as it follows "the limit is": "at most " for the rule "max".  Its text follows. */
const char *tm_gate_rule_words(const struct tm_value *result);

/* JUnit XML of a result. */
tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to);

/* Limits as users write them: a number followed by its unit. */
enum tm_limit_unit {
    TM_IN_NUMBER, /* a JSON number: in the unit of the figure, whatever that is */
    TM_IN_BARE,   /* a text without a unit */
    TM_IN_TIME,   /* ps */
    TM_IN_BYTES,
    TM_IN_PERCENT,
    TM_IN_BYTE_RATE, /* bytes/s */
    TM_IN_FLOP_RATE, /* FLOP/s */
    TM_IN_FACTOR,    /* "1.5x": of the baseline */
};

struct tm_gate_limit {
    double number;
    enum tm_limit_unit kind;
};

/* [+-]NUMBER[UNIT], as "150ms", "90%", "1.5GiB", "900 GB/s", "-0.5", "1.5x".
 * out: false, *wrong */
bool tm_gate_limit_read(const char *text, struct tm_gate_limit *limit, struct tm_wrong *wrong);

/* The limit in the unit of a figure, as the summary gives it beside the figure: "ps", "ms", "%",
 * "bytes", "count" ... out: false, *wrong if they do not match */
bool tm_gate_limit_in_unit(struct tm_gate_limit limit, const char *unit, double *number, struct tm_wrong *wrong);

/* The internal form of gates: a row for each rule of each gate.  Texts are in the document of the gates.
 */
enum tm_rule {
    TM_RULE_MAX,
    TM_RULE_MIN,
    TM_RULE_EQUALS,
    TM_RULE_MAX_INCREASE,
    TM_RULE_MAX_DECREASE,
    TM_RULE_MAX_INCREASE_PCT,
    TM_RULE_MAX_DECREASE_PCT,
    TM_RULES
};

extern const char *const tm_rule_name[TM_RULES];

enum { TM_GATES_MOST = 4096, TM_FIGURE_BYTES = 512 };

struct tm_gate {
    size_t number;            /* in the file or on the command line, from 1 */
    const char *figure;       /* path, less than TM_FIGURE_BYTES */
    const char *title, *note; /* NULL = none */
    const char *job;          /* pattern of the jobs it applies to; NULL = every run */
    const char *limit_text;   /* as the user wrote it */
    struct tm_gate_limit limit;
    double min_effect_pct; /* negative = not given */
    enum tm_rule rule;
    bool fails_at_limit; /* ">=" and "<=" of expressions */
    bool required, allow_partial;
};

struct tm_gates {
    struct tm_budget *budget;
    struct tm_doc *doc;
    const char *path; /* of the file, in the document; NULL = expressions */
    size_t count, room;
    struct tm_gate gate[];
};

bool tm_rule_is_relative(enum tm_rule rule);

bool tm_gate_fits_job(const struct tm_gate *gate, const char *job);

/* An invalid gate: its position is put before the reason.
 * out:    TM_ERR_USAGE */
tm_status tm_gate_refuse(struct tm_run *run, const struct tm_gates *gates, const struct tm_gate *gate,
                         const char *format, ...) TM_PRINTF(4, 5);

/* A figure of a document by its path, in the syntax of tm_path.  "[*]" represents each element of a list
 * or member of an object: of many figures, the one for which a rule is strictest is used.  The id
 * of a key figure, "device_utilization", and "utilization" are short names. */
enum { TM_FIGURE_PATH = 512, TM_FIGURE_UNIT = 24, TM_FIGURE_DEPTH = 24 };

enum tm_figure_state {
    TM_FIGURE_KNOWN,
    TM_FIGURE_NULL,       /* or below something that is null, or no element for "[*]" */
    TM_FIGURE_NO_ELEMENT, /* the list has no element of that name */
    TM_FIGURE_WRONG,      /* there is no such path */
    TM_FIGURE_OTHER,      /* it is a text, a list or an object */
};

struct tm_figure {
    enum tm_figure_state state;
    double value;
    char unit[TM_FIGURE_UNIT];  /* "ps", "ms", "%", "bytes", "bytes/s", "FLOP/s", "count" or "" */
    char place[TM_FIGURE_PATH]; /* the path with the elements that were taken */
    const char *why;            /* of a null; "" if none was given */
    enum tm_type type;          /* of what was found */
};

enum tm_figure_pick { TM_FIGURE_MOST, TM_FIGURE_LEAST };

/* The path that a short name represents, else the name.  out: of static storage, or `to` */
const char *tm_figure_path(const struct tm_value *from, const char *name, char to[TM_FIGURE_PATH]);
/* in: path  less than TM_FIGURE_PATH bytes */
void tm_figure_find(struct tm_figure *figure, const struct tm_value *from, const char *path, enum tm_figure_pick pick);
/* Its readable name; NULL = only its path. */
const char *tm_figure_title(const struct tm_value *from, const char *path, char to[TM_FIGURE_TITLE_BYTES]);

/* "NAME, NAME or NAME": up to three figures close to a wrong path; "" if none is
 * close. */
void tm_figure_suggest(const struct tm_value *from, const char *wrong_path, char *to, size_t to_bytes);

/* Bytes of the first piece of a path: "steps", ".median_ps", "[0]", "[*]"; 0 = it is not a path. */
size_t tm_figure_piece(const char *path);

struct tm_noise {
    double p;         /* the larger one of both tests; NaN = none was made */
    double noise_pct; /* a smaller change is within noise; NaN = not known */
};

/* The steps of the input and of all baselines, tested once for all gates: the median and the mean, as in comparisons
 * (statistics/tests.c).  One value for each step number, not for each host.
 * in:     input, baseline  summaries
 * out:    steps, base_steps  their numbers; effective  the number of independent ones in the smaller sample
 * errors: TM_ERR_LIMIT if memory runs out */
struct tm_step_test {
    struct tm_noise median, mean;
    size_t steps, base_steps;
    double effective;
    const char *refused; /* why they cannot be compared; NULL = they can */
};

/* A check in progress: the result of judge.c for each gate, and the input of check_document.c. */
enum { TM_WHY_BYTES = 400 };

enum tm_gate_status { TM_GATE_PASSED, TM_GATE_FAILED, TM_GATE_UNKNOWN, TM_GATE_SKIPPED, TM_GATE_STATUSES };

struct tm_judging {
    struct tm_run *run;
    const struct tm_gates *gates;
    const struct tm_compared_run *input;
    const struct tm_comparison_side *baseline;   /* NULL = none */
    const struct tm_judged_job *job;             /* NULL = a run by itself */
    const struct tm_gate_comparison *comparison; /* NULL = none was made */
    struct tm_step_test steps;
    bool steps_are_tested;
    size_t count[TM_GATE_STATUSES];
    double base[TM_SIDE_RUNS_MOST];
};

struct tm_gate_result {
    const struct tm_gate *gate;
    const char *path;
    struct tm_figure figure;
    double limit;      /* in the figure's unit, or in percent */
    double baseline;   /* NaN = none */
    double change_pct; /* NaN = none, or the baseline is 0 */
    struct tm_noise noise;
    double spread_pct;             /* what runs of the same program differ by in it; NaN = not known */
    bool is_compared, has_changed; /* decided by a comparison */
    size_t base_count;
    double steps;               /* the figure is a sum over this many steps and is compared per step; 0 = it is compared
                       * unscaled */
    bool is_untested;           /* the steps are too few independent ones for a test */
    char bare[TM_FIGURE_BYTES]; /* the path without ".total" */
    bool is_total;              /* ".total" follows it: compared as it is */
    enum tm_gate_status status;
    char why[TM_WHY_BYTES]; /* "" = no note */
};

/* Is it a sum over the analyzed steps, to be compared per step?  in: path  in a summary */
bool tm_figure_is_sum(const char *path);

/* What was checked: all that is before the gates.  in: root  of an empty document */
void tm_check_begin(struct tm_value *root, const struct tm_judging *j);
void tm_check_add(struct tm_value *rows, const struct tm_judging *j, const struct tm_gate_result *r);
/* The counts and the verdict. */
void tm_check_end(struct tm_value *root, const struct tm_judging *j);

/* JUnit XML of a night: a suite for each run, named by its job (a second one of the night is "JOB #2"), whose cases are
 * its report and its gates.  A run without a report is an error.
 * in:     gates  as tm_nightly_gates fills it
 * errors: TM_ERR_OUTPUT */
tm_status tm_nightly_junit_write(struct tm_run *run, const struct tm_value *gates, const struct tm_value *night,
                                 FILE *to) TM_MUST_USE;

#endif
