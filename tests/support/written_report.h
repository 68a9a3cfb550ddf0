/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_WRITTEN_REPORT_H
#define TM_TEST_WRITTEN_REPORT_H

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "tests/support/sample_summary.h"

/* A summary, the run it belongs to, and what a writer of reports made of it. */
struct written_report {
    struct tm_run run;
    struct tm_doc *doc;
    char *text; /* terminated */
    size_t length;
};

typedef tm_status test_report_writer(struct tm_run *run, const struct tm_doc *doc, FILE *to);

void test_write_sample(struct written_report *report, test_report_writer *write, enum tm_sample_profile which);
void test_write_json(struct written_report *report, test_report_writer *write, const char *json); /* ' stands for " */
/* By hand: an empty summary to be filled, then its report. */
void test_report_begin(struct written_report *report);
void test_report_write(struct written_report *report, test_report_writer *write);
void test_written_report_free(struct written_report *report); /* nothing is left of the memory of the run */

void assert_says(const struct written_report *report, const char *what);
void assert_is_silent_on(const struct written_report *report, const char *what);

/* The same summary, the same bytes. */
void assert_writes_the_same_again(test_report_writer *write);

/* On a disk that is full it fails as an output does, and says so; skipped where there is no /dev/full. */
void assert_full_disk_is_an_error(test_report_writer *write, const char *message);

/* The job for refuse_each_request: the report of an empty summary. */
tm_status test_write_empty(struct tm_run *run, test_report_writer *write);

#endif
