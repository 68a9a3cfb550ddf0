/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SCHEMA_SAMPLE_H
#define TM_SCHEMA_SAMPLE_H

#include "pipeline/doc/doc.h"

/* Summaries made from schemas/summary.schema.json: all members that a summary can have, each with a value that the
 * schema allows, two elements in each list.  The working directory is the root of the project, as it is for all
 * tests. */
enum { TEST_NOTHING_IS_NULL = 1000 };

/* in:     platform    of the run: "gpu", "tpu", "cpu", "none"
 *         null_depth  what may be null is so from this depth on: 1 = the sections, 2 = their members ... */
void test_schema_sample(struct tm_value *to, const char *platform, int null_depth);

/* The same of another document: "comparison" of schemas/comparison.schema.json.  in: platform  of its runs */
void test_schema_sample_of(struct tm_value *to, const char *schema, const char *platform, int null_depth);

#endif
