/* SPDX-License-Identifier: Apache-2.0 */
/* Each request for memory refused while a document is written, format by format: no output gets its name, and what was
 * begun is gone. */
#include "pipeline/engine/outputs.h"

#include <stdio.h>
#include <sys/stat.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_folder.h"

/* A summary with little in every section: each request is refused once, and each turn is a report. */
static const char summary[] =
    "{'input': {'run': 'run', 'hosts': ['vm'], 'files': [{'path': 'run/vm.pb', 'kind': 'xspace', 'host': 'vm'}]},"
    " 'steps': {'list': [{'number': 1, 'period_ps': 5, 'chosen': true},"
    "  {'number': 2, 'period_ps': 7, 'chosen': true}]},"
    " 'kernels': {'total_ps': 5, 'rows': [{'name': 'okapi_fusion', 'class': 'kernel', 'total_ps': 5}]},"
    " 'scopes': {'self_ps': 5, 'rows': [{'path': 'okapi/mlp', 'name': 'mlp', 'depth': 0, 'self_ps': 5}]},"
    " 'verdict': {'text': 'okapi', 'severity': 'good'}}";

static const struct {
    enum tm_format format;
    const char *name;
    bool is_redacted;
} cases[] = {
    { TM_FORMAT_JSON, "summary.json", true },   { TM_FORMAT_TEXT, "report.txt", false },
    { TM_FORMAT_HTML, "report.html", false },   { TM_FORMAT_PDF, "report.pdf", false },
    { TM_FORMAT_MARKDOWN, "report.md", false }, { TM_FORMAT_COLLAPSED, "scopes.collapsed", true },
};

static char names[96]; /* the map, beside the folder */
static size_t now;

static bool is_there(const char *name)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static tm_status load(struct tm_run *run, struct tm_doc *doc)
{
    tm_status st;

    test_summary_load(tm_doc_root(doc), summary);
    st = tm_doc_status(doc);
    if (st == TM_OK && run->redactor)
        st = tm_redact_summary(run->redactor, doc);
    return st;
}

/* All or nothing, of the report and of the map of its names. */
static void assert_all_or_nothing(tm_status st)
{
    struct stat info;

    if (st != TM_OK) {
        assert_int_equal(count_entries(false), 0);
    } else {
        assert_true(is_there(cases[now].name));
        assert_int_equal(count_entries(true), 1);
    }
    if (stat(names, &info) == 0) {
        assert_int_equal(info.st_mode & 07777, S_IRUSR | S_IWUSR);
        assert_true(info.st_size > 0);
        assert_int_equal(unlink(names), 0);
    } else {
        assert_true(st != TM_OK || !cases[now].is_redacted);
    }
}

static tm_status job(struct tm_run *run)
{
    struct tm_options options = { .formats = (uint32_t)cases[now].format, .redact = cases[now].is_redacted };
    struct tm_document_result result = { .paper = TM_PAPER_A4 };
    tm_status st = tm_redaction_begin(run, &options);

    if (run->redactor) /* with a key of its own: to make one takes long on purpose */
        tm_redactor_set_key(run->redactor, (struct tm_secret_key){ 1, 2 });
    result.doc = st ? NULL : tm_doc_new(run);
    if (!st)
        st = result.doc ? load(run, result.doc) : run->error.status;
    if (!st)
        st = tm_document_write(run, &result, folder, &options);
    tm_doc_free(result.doc);
    tm_redaction_end(run);
    assert_all_or_nothing(st);
    return st;
}

static void refused_memory_leaves_no_output(void **state)
{
    (void)state;
    (void)snprintf(names, sizeof(names), "%s.names", folder);
    for (now = 0; now < sizeof(cases) / sizeof(cases[0]); now++)
        refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refused_memory_leaves_no_output, make_folder, remove_folder),
    };

    return cmocka_run_group_tests_name("document files", tests, NULL, NULL);
}
