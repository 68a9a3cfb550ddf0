/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/written_report.h"

#include <stdlib.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static void start(struct written_report *report)
{
    memset(report, 0, sizeof(*report));
    test_run_init(&report->run);
    tm_budget_init(&report->run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
}

void test_report_write(struct written_report *report, test_report_writer *write)
{
    FILE *to = open_memstream(&report->text, &report->length);

    assert_non_null(to);
    assert_int_equal(write(&report->run, report->doc, to), TM_OK);
    (void)fclose(to);
}

void test_write_sample(struct written_report *report, test_report_writer *write, enum tm_sample_profile which)
{
    start(report);
    report->doc = tm_sample_summary(&report->run, which);
    assert_non_null(report->doc);
    test_report_write(report, write);
}

void test_report_begin(struct written_report *report)
{
    start(report);
    report->doc = tm_doc_new(&report->run);
    assert_non_null(report->doc);
}

void test_write_json(struct written_report *report, test_report_writer *write, const char *json)
{
    test_report_begin(report);
    test_summary_load(tm_doc_root(report->doc), json);
    test_report_write(report, write);
}

void test_written_report_free(struct written_report *report)
{
    tm_doc_free(report->doc);
    free(report->text);
    assert_ledger_is_even(&report->run);
}

void assert_says(const struct written_report *report, const char *what)
{
    if (!strstr(report->text, what))
        fail_msg("the report does not say '%s'", what);
}

void assert_is_silent_on(const struct written_report *report, const char *what)
{
    if (strstr(report->text, what))
        fail_msg("the report says '%s'", what);
}

void assert_writes_the_same_again(test_report_writer *write)
{
    struct written_report one, other;

    test_write_sample(&one, write, TM_SAMPLE_HOSTILE);
    test_write_sample(&other, write, TM_SAMPLE_HOSTILE);
    assert_string_equal(one.text, other.text);
    test_written_report_free(&one);
    test_written_report_free(&other);
}

void assert_full_disk_is_an_error(test_report_writer *write, const char *message)
{
    struct written_report report;
    FILE *full = fopen("/dev/full", "w");

    if (!full)
        skip();
    test_write_sample(&report, write, TM_SAMPLE_GPU);
    assert_int_equal(write(&report.run, report.doc, full), TM_ERR_OUTPUT);
    assert_non_null(strstr(report.run.error.what, message));
    (void)fclose(full);
    test_written_report_free(&report);
}

tm_status test_write_empty(struct tm_run *run, test_report_writer *write)
{
    struct tm_doc *doc = tm_doc_new(run);
    FILE *to = fopen("/dev/null", "w");
    tm_status st = TM_ERR_LIMIT;

    assert_non_null(to);
    if (doc)
        st = write(run, doc, to);
    (void)fclose(to);
    tm_doc_free(doc);
    return st;
}
