/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_JUDGED_H
#define TM_TEST_JUDGED_H

#include "reports/findings/thresholds.h"

/* A summary with its judgement: what the tests of KPIs and findings look at. */
struct judged {
    struct tm_run run;
    struct tm_thresholds thresholds;
    struct tm_doc *doc;
    const struct tm_value *summary;
};

/* The healthy summary of summary_json.h, changed by `patch`, judged with the default table and what
 * `thresholds` (NULL = nothing) changes in it; ' stands for " in both. */
void test_judge(struct judged *j, const char *patch, const char *thresholds);
void test_judged_free(struct judged *j);

/* The finding of that id; NULL = there is none. */
const struct tm_value *test_finding(const struct judged *j, const char *id);

#endif
