/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/strings.h"
#include "tests/support/test_run.h"
#include "tests/support/written_report.h"

static void open_sample(struct written_report *r, enum tm_sample_profile which)
{
    test_write_sample(r, tm_markdown_write, which);
}

static void open_json(struct written_report *r, const char *json)
{
    test_write_json(r, tm_markdown_write, json);
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static void every_sample_is_short_valid_and_closed(void **state)
{
    (void)state;
    for (int i = 0; i < TM_SAMPLES; i++) {
        struct written_report f;

        open_sample(&f, i);
        assert_true(f.length < TM_MARKDOWN_BYTES_MOST);
        assert_true(tm_utf8_is_valid(f.text, f.length));
        assert_int_equal(count_of(f.text, "\n<details>\n<summary>"), count_of(f.text, "\n</details>\n"));
        assert_int_equal(f.text[f.length - 1], '\n');
        test_written_report_free(&f);
    }
}

static void the_top_is_open_and_sections_are_folded(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'report': {'title': 'Night run', 'note': 'With the new loader.'}, 'input': {'run': 'vm'},"
                  " 'verdict': {'text': 'It waits.', 'severity': 'critical'},"
                  " 'kpis': [{'id': 'a', 'title': 'High', 'value': 75, 'unit': '%', 'band': 'warning', 'good': 80,"
                  " 'bad': 50}, {'id': 'b', 'title': 'Low', 'value': null, 'unit': 's', 'band': 'unknown', 'why': "
                  "'nobody looked'}],"
                  " 'findings': [{'severity': 'critical', 'title': 'The device waits', 'at_stake_ps': 2000000000000,"
                  " 'share_pct': 20, 'cause': 'Why.', 'fix': ['Do `f(x, y)`.'], 'evidence': ['Seen in a_b.']}],"
                  " 'kernels': {'count': 3, 'total_ps': 5000, 'rows': [{'name': 'k|1', 'count': 1, 'total_ps': 2000}],"
                  " 'rest': {'rows': 2, 'count': 2, 'total_ps': 3000}}}");
    assert_says(&f, "# Night run\n\nvm\n\n> With the new loader.\n\n**critical**: It waits.\n");
    assert_says(&f, "| High | 75.0% | **warning** | \\> 80% |  |\n| Low | not recorded |  |  | nobody looked |\n");
    assert_says(&f, "## Findings\n");
    assert_says(&f, "### 1. The device waits\n\n**critical**: potential savings 2.00 s of device time, 20.0% of the "
                    "window\n\nWhy.\n\nRecommendations:\n\n"
                    "- Do `f(x, y)`.\n\nEvidence:\n\n- Seen in `a_b`.\n");
    assert_says(&f, "<details>\n<summary>Kernels</summary>\n\n");
    assert_says(&f, "| Kernel | Total | Count |\n| --- | ---: | ---: |\n| `k\\|1` | 2.00 ns | 1 |\n"
                    "| 2 remaining rows | 3.00 ns | 2 |\n| **all kernels** | **5.00 ns** | **3** |\n");
    test_written_report_free(&f);
}

static void add_findings(struct tm_value *summary, int count, size_t words)
{
    static char cause[2000];
    struct tm_value *findings = tm_add_array(summary, "findings");

    memset(cause, 'x', sizeof(cause) - 1);
    cause[words] = 0;
    for (int i = 0; i < count; i++) {
        struct tm_value *finding = tm_add_object(findings, NULL);

        tm_add_string(finding, "severity", "info");
        tm_add_string(finding, "title", "Something");
        tm_add_string(finding, "cause", cause);
    }
}

static void later_findings_are_folded_and_have_an_end(void **state)
{
    struct written_report f;

    (void)state;
    test_report_begin(&f);
    add_findings(tm_doc_root(f.doc), 40, 1500);
    test_report_write(&f, tm_markdown_write);
    assert_says(&f, "### 5. Something");
    assert_says(&f, "<summary>More findings</summary>\n\n### 6. Something");
    assert_says(&f, "more findings are in the other files of the report.\n");
    assert_null(strstr(f.text, "### 30. "));
    assert_int_equal(count_of(f.text, "<details>"), count_of(f.text, "</details>"));
    assert_true(f.length < TM_MARKDOWN_BYTES_MOST);
    test_written_report_free(&f);
}

static void add_rows(struct tm_value *of, const char *name)
{
    struct tm_value *rows = tm_add_array(of, "rows");

    for (int i = 0; i < 20; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "name", name);
        tm_add_string(row, "module", name + i);
        tm_add_string(row, "op", name);
        tm_add_string(row, "source", name);
        tm_add_string(row, "category", name);
        tm_add_string(row, "class", name);
        tm_add_int(row, "self_ps", 5);
    }
}

static void sections_that_do_not_fit_are_named(void **state)
{
    static const char *const keys[] = { "ops", "kernels", "scopes", "devices" };
    static char name[1200];
    struct written_report f;

    (void)state;
    test_report_begin(&f);
    memset(name, '|', sizeof(name) - 1);
    add_findings(tm_doc_root(f.doc), 20, 1900);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        add_rows(tm_add_object(tm_doc_root(f.doc), keys[i]), name);
    test_report_write(&f, tm_markdown_write);
    assert_true(f.length < TM_MARKDOWN_BYTES_MOST);
    assert_says(&f, "\nOmitted here, but in the other files of the report: ");
    assert_int_equal(count_of(f.text, "<details>"), count_of(f.text, "</details>"));
    test_written_report_free(&f);
}

static void names_that_attack_stay_code(void **state)
{
    static const char *const forbidden[] = { "\x1b", "\xe2\x80\xae", " @" };
    struct written_report f;

    (void)state;
    open_json(&f,
              "{'report': {'title': '<script>@all', 'note': '</details>\\n# x'}, 'input': {'run': '[a](b)', 'hosts': "
              "['@you']}, 'findings': [{'severity': 'critical', 'title': '#1 \\u202e\\u001b[2J', 'fix': ['<img>']}],"
              " 'kernels': {'rows': [{'name': '</summary>|`', 'count': 1}]}}");
    assert_says(&f, "# `<script>@all`\n");
    assert_says(&f, "> `</details>\\n#` x\n");
    assert_says(&f, "`[a](b)`: 1 host");
    assert_says(&f, "- Host: `@you`\n");
    assert_says(&f, "### 1. `#1` `\\u202e\\u001b[2J`\n");
    assert_says(&f, "| `` </summary>\\|` `` | 1 |\n");
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        assert_null(strstr(f.text, forbidden[i]));
    test_written_report_free(&f);
}

static void the_same_summary_gives_the_same_bytes(void **state)
{
    (void)state;
    assert_writes_the_same_again(tm_markdown_write);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    assert_full_disk_is_an_error(tm_markdown_write, "cannot write the Markdown report");
}

static tm_status job(struct tm_run *run)
{
    return test_write_empty(run, tm_markdown_write);
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_short_valid_and_closed),
        cmocka_unit_test(the_top_is_open_and_sections_are_folded),
        cmocka_unit_test(later_findings_are_folded_and_have_an_end),
        cmocka_unit_test(sections_that_do_not_fit_are_named),
        cmocka_unit_test(names_that_attack_stay_code),
        cmocka_unit_test(the_same_summary_gives_the_same_bytes),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
