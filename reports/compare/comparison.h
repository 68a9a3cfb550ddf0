/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPARISON_H
#define TM_COMPARISON_H

#include "reports/compare/compare.h"
#include "reports/compare/room.h"
#include "reports/compare/sides.h"
#include "reports/compare/step_samples.h"
#include "reports/statistics/tests.h"

/* What the parts of a comparison share.  Made by tm_compare, filled from left to right: sides, step
 * tests, waterfalls, tables, devices, causes, verdict.  Sides are counted from 0, the base. */

enum {
    STEPS_FOR_TEST = 6, /* on both sides: of fewer no order has a p below the level */
    RUNS_FOR_TEST = 2,  /* runs on both sides: then they are the unit */
};

/* Levels of the tests.  Together they keep what is called significant between runs of the same
 * thing under 2 % of the pairs: step times 1 %, all else the rest (docs/compare.md). */
#define STEP_LEVEL 0.01
#define PART_LEVEL 0.005 /* all parts and shares of one side together (Holm); compiling alone */
#define ROW_RATE 0.05    /* false discoveries among the rows of a table, of a side whose steps have changed */
#define ROW_RATE_ALONE                                                                                                 \
    0.005 /* of one whose steps have not: all that is found there may be false  \
                              */
#define FIGURE_RATE 0.005
/* What is told as a change at least. */
#define STEP_LEAST_PCT 1.0
#define PART_LEAST_PCT 1.0     /* of the base's step */
#define ROW_LEAST_PCT 3.0      /* of the row itself: less is between any two runs */
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
    struct tm_sample part_of_step[TM_PARTS]; /* chosen steps of all runs: of the slowest device */
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
    const struct middle_test *lead;             /* the one that the change is told by */
    double lag1, effective_base, effective_new; /* NaN = not of steps */
    double level;                               /* of both tests */
    bool is_enough;                             /* so many values can show a change at all */
    bool is_recorded;                           /* the mean has changed by compilations in steps, which are no chance */
    bool is_within_spread;                      /* the lead would be a change, but runs differ by as much */
    double change_ps, change_pct;               /* of the lead */
    bool is_changed;                            /* significantly */
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
/* Else nothing of the steps can be tested. */
bool tm_are_measured_alike(const struct comparison *c, size_t side);
/* What a new side and the base can be tested by. */
enum test_basis tm_basis_of(const struct comparison *c, size_t side);

/* It begins with this. */
#define NO_SIGNIFICANCE "no significance: "

const char *tm_no_test_reason(const struct comparison *c, size_t side, char *out, size_t out_bytes);
/* The step of the base that shares are of. */
double tm_base_step_ps(const struct comparison *c);

/* A mean over the runs of a side of a figure of their summaries; runs without it are left out; NaN
 * = none has it. */
double tm_mean_over_runs(const struct tm_comparison_side *side,
                         double (*figure)(const struct tm_value *summary, const void *what), const void *what);
/* 100 * (value / base - 1); NaN of a base of 0 */
double tm_change_pct(double base, double value);

/* The steps of a comparison's making, in this order. */
tm_status tm_add_sides(struct comparison *c) TM_MUST_USE;
tm_status tm_add_step_tests(struct comparison *c) TM_MUST_USE;
tm_status tm_add_waterfalls(struct comparison *c) TM_MUST_USE;
tm_status tm_add_figures(struct comparison *c) TM_MUST_USE;
void tm_add_geomean(struct comparison *c);
tm_status tm_add_tables(struct comparison *c) TM_MUST_USE;
tm_status tm_add_compared_devices(struct comparison *c) TM_MUST_USE;
tm_status tm_add_causes(struct comparison *c) TM_MUST_USE;

#endif
