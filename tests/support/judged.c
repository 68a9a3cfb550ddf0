/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "reports/findings/findings.h"
#include "tests/support/summary_json.h"

static void change_thresholds(struct judged *j, const char *json)
{
    char text[1024];
    const size_t length = strlen(json);

    assert_true(length < sizeof(text));
    for (size_t i = 0; i <= length; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    if (tm_thresholds_apply(&j->thresholds, "test", text, length, &j->run.error) != TM_OK)
        fail_msg("%s", j->run.error.what);
}

void test_judge(struct judged *j, const char *patch, const char *thresholds)
{
    struct tm_value *summary;

    memset(j, 0, sizeof(*j));
    tm_budget_init(&j->run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    assert_int_equal(tm_thresholds_init(&j->thresholds, &j->run.error), TM_OK);
    if (thresholds)
        change_thresholds(j, thresholds);
    j->doc = tm_doc_new(&j->run);
    assert_non_null(j->doc);
    summary = tm_doc_root(j->doc);
    test_summary_load_changed(summary, test_healthy_summary, patch);
    assert_int_equal(tm_findings_add(&j->run, summary, &j->thresholds), TM_OK);
    assert_int_equal(tm_kpis_add(&j->run, summary, &j->thresholds), TM_OK);
    assert_int_equal(tm_verdict_add(&j->run, summary, &j->thresholds), TM_OK);
    tm_thresholds_add(&j->thresholds, summary);
    assert_int_equal(tm_doc_status(j->doc), TM_OK);
    j->summary = summary;
}

void test_judged_free(struct judged *j)
{
    tm_doc_free(j->doc);
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        assert_int_equal(j->run.budget.used_bytes[i], 0);
}

const struct tm_value *test_finding(const struct judged *j, const char *id)
{
    const struct tm_value *findings = tm_get(j->summary, "findings");

    for (size_t i = 0; i < tm_length(findings); i++) {
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), id) == 0)
            return tm_at(findings, i);
    }
    return NULL;
}
