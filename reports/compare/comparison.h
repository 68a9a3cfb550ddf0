/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPARISON_H
#define TM_COMPARISON_H

#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/statistics/statistics.h"

/* What the parts of a comparison share.  Made by tm_compare, filled from left to right: sides, step
 * tests, waterfalls, tables, devices, causes, verdict.  Sides are counted from 0, the base. */

enum {
    STEPS_FOR_TEST = 6, /* on both sides: with fewer, no order has a p below the level */
    RUNS_FOR_TEST = 2,  /* runs on both sides: then runs are the unit of the tests */
};

/* Levels of the tests.  Together they keep false positives between runs of the same
 * program under 2% of the pairs: 1% for step times, the rest for all else (docs/compare.md). */
#define STEP_LEVEL 0.01
#define PART_LEVEL 0.005     /* all parts and shares of one side together (Holm); compiling alone */
#define ROW_RATE 0.05        /* false discoveries among the rows of a table, of a side whose steps have changed */
#define ROW_RATE_ALONE 0.005 /* of a side whose steps have not: all of its discoveries may be false */
#define FIGURE_RATE 0.005
/* The smallest change that is reported. */
#define STEP_LEAST_PCT 1.0
#define PART_LEAST_PCT 1.0     /* of the base's step */
#define ROW_LEAST_PCT 3.0      /* of the row itself: any two runs differ by less */
#define ROW_STEP_LEAST_PCT 0.1 /* of the base's step */

enum test_basis { TEST_NONE, TEST_STEPS, TEST_RUNS };

enum { STEP_WHY_BYTES = 256 };

struct side_facts {
    size_t runs;
    struct tm_sample steps;                  /* of all runs, run after run: one for each step number */
    struct tm_sample quiet_steps;            /* of the first run: those without a compilation */
    struct tm_sample run_medians, run_means; /* of the runs with steps */
    struct tm_compiling_steps compiling;     /* of all runs; excess_ps: the mean over them */
    double median_ps, mean_ps;               /* of a step; means over the runs; NaN without steps */
    bool has_parts;
    double part_ps[TM_PARTS], total_ps;      /* per step and device, means over the runs */
    struct tm_sample part_of_run[TM_PARTS];  /* run by run */
    struct tm_sample part_of_step[TM_PARTS]; /* analyzed steps of all runs: of the slowest device */
    struct tm_sample period_of_step;         /* of the same steps */
};

/* The mean (elapsed / steps) or the median of a side against the base's. */
struct middle_test {
    double base_ps, new_ps, change_ps, change_pct, low_pct, high_pct;
    double p;          /* adjusted for both; NaN = not tested */
    double spread_pct; /* what runs of the same program differ by in it; NaN = not known */
    bool is_changed;
};

enum step_verdict { STEP_INCONCLUSIVE, STEP_NO_CHANGE, STEP_IMPROVEMENT, STEP_REGRESSION };

/* One side against the base. */
struct step_test {
    enum test_basis basis;
    struct middle_test mean, median;
    const struct middle_test *lead;             /* the one that the change is identified by */
    double lag1, effective_base, effective_new; /* NaN = not of steps */
    double level;                               /* of both tests */
    bool is_enough;                             /* this many values can show a change at all */
    bool is_recorded;             /* the mean has changed due to compilations in steps, which are not noise */
    bool is_within_spread;        /* the lead would be a change, but runs differ by as much */
    double change_ps, change_pct; /* of the lead */
    bool is_changed;              /* significantly */
    enum step_verdict verdict;
    char why[STEP_WHY_BYTES]; /* of an inconclusive one */
};

struct part_test {
    double p; /* NaN = not tested */
    bool is_tested, is_significant;
};

struct waterfall {
    bool is_known;
    int64_t base_ps, new_ps;
    int64_t base_part_ps[TM_PARTS], new_part_ps[TM_PARTS];
    struct part_test test[TM_PARTS];
};

/* One device of all sides, by its place among the devices of its run. */
struct compared_device {
    const char *name;
    double *busy_ps, *compute_ps; /* per step, one per side */
    double *p;                    /* of the busy time against the base's; NaN = no test */
    bool *is_significant;
};

struct tm_row_table;

struct comparison {
    struct tm_run *run;
    const struct tm_comparison_side *side;
    size_t sides;
    const struct tm_compare_options *options;
    struct tm_compare_blocks room;
    struct tm_value *root;
    struct side_facts *facts;        /* one per side */
    struct step_test *step_test;     /* one per side; that of the base is unused */
    struct waterfall *waterfall;     /* likewise */
    struct compared_device *devices; /* NULL = their numbers differ */
    size_t device_count;
    struct tm_row_table *ops, *kernels, *collectives, *transfers; /* for the causes; NULL = none */
};

/* "base", "new", or "new_1", "new_2" ... */
enum { SIDE_ID_BYTES = 32 };

const char *tm_side_id(const struct comparison *c, size_t side, char out[SIDE_ID_BYTES]);
/* Otherwise the steps cannot be tested. */
bool tm_are_measured_alike(const struct comparison *c, size_t side);
/* What a new side and the base can be tested by. */
enum test_basis tm_basis_of(const struct comparison *c, size_t side);

/* It starts with this. */
#define NO_SIGNIFICANCE "significance not tested: "

const char *tm_no_test_reason(const struct comparison *c, size_t side, char *out, size_t out_bytes);
/* The step time of the base that shares refer to. */
double tm_base_step_ps(const struct comparison *c);

/* A mean over the runs of a side of a figure of their summaries; runs without it are excluded; NaN =
 * no run has it. */
double tm_mean_over_runs(const struct tm_comparison_side *side,
                         double (*figure)(const struct tm_value *summary, const void *what), const void *what);
/* 100 * (value / base - 1); NaN of a base of 0 */
double tm_change_pct(double base, double value);

/* The steps of a comparison's making, in this order. */
void tm_add_sides(struct comparison *c);
void tm_add_step_tests(struct comparison *c);
void tm_add_waterfalls(struct comparison *c);
void tm_add_figures(struct comparison *c);
void tm_add_geomean(struct comparison *c);
void tm_add_tables(struct comparison *c);
void tm_add_compared_devices(struct comparison *c);
void tm_add_causes(struct comparison *c);

/* The reason why a step of one side takes longer or shorter than one of the base.  Rules examine the comparison,
 * specific ones first; each subtracts what it explains from the changes of the parts, so nothing is reported twice.
 * The rest is attributed to the part itself. */
enum {
    CAUSES_MOST = 48, /* of one side; more are left to their parts */
    CAUSE_TITLE_BYTES = 240,
    CAUSE_EVIDENCE_MOST = 6,
    CAUSE_EVIDENCE_BYTES = 360,
    CAUSE_FIXES_MOST = 4,
};

struct cause {
    const char *id;
    char title[CAUSE_TITLE_BYTES];
    char evidence[CAUSE_EVIDENCE_MOST][CAUSE_EVIDENCE_BYTES];
    int evidence_count;
    const char *why;          /* what it means, a sentence; NULL = nothing */
    const char *const *fixes; /* ends with NULL; for what became slower */
    double value;             /* in `unit`; NaN = none */
    const char *unit;
    double change_ps;         /* of the step; 0 of a fact */
    bool is_fact, is_warning; /* of a fact */
    bool is_rest;             /* changes without a cause: reported after those */
    int number;               /* in the order in which they were found */
};

struct causes {
    struct comparison *c;
    size_t side;
    const struct waterfall *w;
    bool is_tested;
    double step_ps; /* of the base */
    double left_ps[TM_PARTS];
    bool is_compute_told; /* by something that is not a single operation */
    struct cause *list;   /* CAUSES_MOST, plus one for causes that do not fit */
    int count;
};

typedef void cause_rule(struct causes *k);

/* op_causes.c: of single operations, and of all of them alike. */
extern cause_rule tm_find_op_changes;
extern cause_rule tm_find_uniform_change;

/* What the titles of a side's causes start with: "" with two sides, else "LABEL: ".  out: returned */
const char *tm_cause_side(const struct comparison *c, size_t side, char out[TM_FORMAT_BYTES]);

/* Start a cause.  out: never NULL */
struct cause *tm_cause_begin(struct causes *k, const char *id, double change_ps);
void tm_cause_set_title(struct cause *cause, const char *format, ...) TM_PRINTF(2, 3);
void tm_cause_say(struct cause *cause, const char *format, ...) TM_PRINTF(2, 3);

/* Has the part changed: significantly, or, where nothing can be tested, by enough? */
bool tm_part_has_changed(const struct causes *k, enum tm_part part);
/* A change of the step that is large enough to report. */
bool tm_is_worth_a_cause(const struct causes *k, double change_ps);

/* Subtract up to this amount (with its sign) from the rest of a part's change. out: the amount subtracted */
double tm_take_from_part(struct causes *k, enum tm_part part, double change_ps);

/* "+1.23 ms", "-4.50 µs" */
enum { SIGNED_TIME_BYTES = 64 };

char *tm_signed_time(char out[SIGNED_TIME_BYTES], double ps);
/* "12.3% longer", "4.0% less", "3.1 times as long" */
char *tm_longer_by(char out[SIGNED_TIME_BYTES], double base, double value);

/* Rows by name of several sides side by side: kernels, ops, collectives ... */

enum row_match { MATCH_NAME, MATCH_FAMILY, MATCH_PATTERN, MATCH_CATEGORY, MATCH_NONE };

enum row_status { ROW_ADDED, ROW_REMOVED, ROW_SLOWER, ROW_FASTER, ROW_SAME, ROW_UNCLEAR };

/* What one side has of a row; means over its runs, per step and device. */
struct row_cell {
    bool is_known;
    bool is_hidden; /* not listed, but the list was cut: it may be there */
    bool has_bytes;
    size_t members; /* number of names that it represents */
    double ps, count, bytes;
    double *ps_of_run; /* of each run */
    /* executions: their number, mean length and sum of squared differences from it; of single runs
     */
    bool has_moments;
    double executions, mean_ps, squares;
    bool is_counted_exactly; /* equally often in each step and on each device */
};

struct row_change {
    bool is_known, is_tested, is_significant;
    double change_ps, pct, p;
    double from_count_ps, from_length_ps; /* add up to the change */
    enum row_status status;
};

struct tm_row {
    const char *name;                 /* of a merged one: its family, its pattern, or its category */
    const char *pattern;              /* the name without its numbers; of a member of a family that of the family */
    const char *family, *family_path; /* "" = none is known */
    const char *path;                 /* of the framework: separates ops of one name; "" = unknown, or several */
    const char *group;                /* category, pass ...; "" = none */
    enum row_match match;
    struct row_cell *cell;     /* one per side */
    struct row_change *change; /* one per side; that of the base is unused */
};

struct tm_row_table {
    const char *key;       /* in the document, and in the summary */
    const char *by;        /* what a name is */
    bool is_of_session;    /* sums of the whole session, not of a step */
    bool is_by_category;   /* with different hardware, rows may match by category */
    bool has_path;         /* of the framework */
    bool is_whole;         /* a missing row has no time: it does not count as added */
    const char *test_part; /* rows are parts of a step: the part's id is "idle_" plus the name; NULL = no */
    const char *why;       /* no side has it: the reason */
    struct tm_row **row;
    size_t rows;
    double *rest_ps;      /* of the unlisted rows, one per side */
    size_t rest_rows;     /* at most on a side */
    double *floor_ps;     /* no unlisted row has more; one per side; 0 = all are listed */
    struct tm_row **slot; /* by name, while it is filled */
    size_t slots;
};

/* A table of the comparison, in its own memory, filled from the sides' summaries.  out: NULL: error
 * in run->error */
enum row_kind {
    ROWS_KERNELS,
    ROWS_OPS,
    ROWS_SCOPES,
    ROWS_COLLECTIVES,
    ROWS_TRANSFERS,
    ROWS_GAPS,
    ROWS_COMPILE,
    ROW_KINDS
};

struct tm_row_table *tm_row_table_load(struct comparison *c, enum row_kind kind) TM_MUST_USE;

/* A name without its numbers: each becomes #, and trailing ones are removed.  owns: the room */
const char *tm_name_pattern(struct tm_compare_blocks *room, const char *name) TM_MUST_USE;

/* The smallest relative change of a row that exceeds the step variation of these sides, in percent. */
double tm_row_noise_pct(const struct comparison *c, size_t side);

#endif
