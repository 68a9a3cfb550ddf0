/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_COMPARED_H
#define TM_TEST_COMPARED_H

#include "reports/compare/compare.h"

/* Runs for tests of comparisons: the healthy summary of summary_json.h (two devices), changed by a
 * patch, with steps of a given make. */
struct test_steps {
    int count;
    int64_t compute_ps, collective_ps, h2d_ps, wait_ps, compile_ps, host_ps; /* of each step and device */
    int compiling;     /* compile_ps comes in the first so many steps; 0 = in all */
    int64_t jitter_ps; /* step i computes longer by this times (0, 7, 3, -1, -5, 2 ...), which is 0
                          on average of 11 */
};

enum { TEST_RUNS_MOST = 8 };

struct test_compared {
    struct tm_run run;
    struct tm_doc *input[TEST_RUNS_MOST];
    struct tm_compared_run runs[TEST_RUNS_MOST];
    struct tm_comparison_side side[TEST_RUNS_MOST];
    size_t count, sides;
    double run_spread_pct;  /* 0 = not known */
    double mean_spread_pct; /* of the mean alone; 0 = the same */
    struct tm_doc *doc;
    const struct tm_value *root; /* the comparison */
};

void test_compared_init(struct test_compared *t);
void test_compared_free(struct test_compared *t);
/* Another run; `label` begins a side, NULL = it belongs to the one before.  patch: as in
 * test_summary_load_changed */
struct tm_value *test_add_run(struct test_compared *t, const char *label, const struct test_steps *steps,
                              const char *patch);
/* Put what a run of such steps has into a summary: steps, total, devices' times. */
void test_put_steps(struct tm_value *summary, const struct test_steps *steps);
tm_status test_compare(struct test_compared *t);

/* A value of the comparison, by path. */
const struct tm_value *test_at(const struct test_compared *t, const char *path);
/* The row of that name in a table; NULL = there is none. */
const struct tm_value *test_row(const struct test_compared *t, const char *table, const char *name);
/* A finding by its id. */
const struct tm_value *test_cause(const struct test_compared *t, const char *id);

#endif
