/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_SUMMARY_JSON_H
#define TM_TEST_SUMMARY_JSON_H

#include "pipeline/doc/doc.h"

/* Summaries for tests, written as JSON in C strings: ' stands for ", so that nothing needs escapes.
 * Whole numbers become integers.  A null takes its reason from the member "why" of its object, as
 * in a summary.json. Fails the running test where the text is no JSON. */

/* Put the members of a JSON object into `to`. */
void test_summary_load(struct tm_value *to, const char *json);

/* The same with changes: `patch` is a JSON merge patch (RFC 7396), except that null stays null. */
void test_summary_load_changed(struct tm_value *to, const char *json, const char *patch);

/* A run of 10 steps on 2 GPUs in which nothing is wrong: 95% busy, every section of this version
 * there. */
extern const char test_healthy_summary[];

#endif
