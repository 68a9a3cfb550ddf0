/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <string.h>

#include "pipeline/strings.h"
#include "tests/support/sample_summary.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_folder.h"

/* --- cells --- */

struct text {
    char at[256];
    size_t used;
};

static void put(void *to, const char *bytes, size_t length)
{
    struct text *text = to;

    assert_true(length < sizeof(text->at) - text->used);
    memcpy(text->at + text->used, bytes, length);
    text->used += length;
    text->at[text->used] = 0;
}

static void texts_are_quoted_and_no_formulas(void **state)
{
    static const struct {
        const char *text, *cell, *raw; /* raw: NULL = the same */
        bool is_plain;
    } cases[] = {
        { "fusion.3", "\"fusion.3\"", NULL, true },
        { "a,b", "\"a,b\"", NULL, false },
        { "say \"x\"", "\"say \"\"x\"\"\"", NULL, false },
        { "=cmd()", "\"'=cmd()\"", NULL, false },
        { "@x", "\"'@x\"", NULL, false },
        { "-1", "\"'-1\"", NULL, false },
        { "+1", "\"'+1\"", NULL, false },
        { "\tx", "\"'\\tx\"", "\"'\tx\"", false },
        { "\rx", "\"'\\rx\"", "\"'\rx\"", false },
        { "a\nb", "\"a\\nb\"", "\"a\nb\"", false },
        { "\xc2\xb5s", "\"\xc2\xb5s\"", NULL, false },
        { "a\xff"
          "b",
          "\"a\xef\xbf\xbd"
          "b\"",
          NULL, false },
        /* ESC, C1, DEL, an override of direction, a tag */
        { "a\033[31m", "\"a\\u001b[31m\"", "\"a\033[31m\"", false },
        { "\xc2\x9b"
          "31m,",
          "\"\\u009b31m,\"",
          "\"\xc2\x9b"
          "31m,\"",
          false },
        { "\177", "\"\\u007f\"", "\"\177\"", false },
        { "a\xe2\x80\xae"
          "b",
          "\"a\\u202eb\"",
          "\"a\xe2\x80\xae"
          "b\"",
          false },
        { "\xf3\xa0\x80\x81", "\"\\u{e0001}\"", "\"\xf3\xa0\x80\x81\"", false },
        { "", "\"\"", NULL, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text = { .used = 0 }, raw = { .used = 0 };

        tm_csv_quote(put, &text, cases[i].text, strlen(cases[i].text), false);
        assert_string_equal(text.at, cases[i].cell);
        tm_csv_quote(put, &raw, cases[i].text, strlen(cases[i].text), true);
        assert_string_equal(raw.at, cases[i].raw ? cases[i].raw : cases[i].cell);
        assert_int_equal(tm_csv_is_plain(cases[i].text, strlen(cases[i].text)), cases[i].is_plain);
    }
}

/* --- files --- */

static void read_table(const char *name, char *text, size_t room)
{
    char path[300];
    FILE *in;

    (void)snprintf(path, sizeof(path), "%s/" TM_CSV_FOLDER "/%s", folder, name);
    in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, room - 1, in)] = 0;
    (void)fclose(in);
}

static void remove_tables(void)
{
    char path[300], line[2048], name[400];
    FILE *index;

    (void)snprintf(path, sizeof(path), "%s/" TM_CSV_FOLDER "/" TM_CSV_INDEX, folder);
    index = fopen(path, "r");
    assert_non_null(index);
    while (fgets(line, sizeof(line), index)) {
        line[strcspn(line, ",\n")] = 0;
        (void)snprintf(name, sizeof(name), "%s/" TM_CSV_FOLDER "/%.60s", folder, line);
        (void)unlink(name);
    }
    (void)fclose(index);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/" TM_CSV_FOLDER, folder);
    assert_int_equal(rmdir(path), 0);
}

static tm_status write_tables(struct tm_run *run, const struct tm_doc *doc)
{
    struct tm_atomic_folder *to = tm_atomic_folder_open(run, folder, TM_CSV_FOLDER, TM_CSV_INDEX, TM_CSV_INDEX_HEADER);
    tm_status st = to ? tm_csv_write(run, doc, to) : run->error.status;

    if (st == TM_OK)
        st = tm_atomic_folder_commit(to);
    tm_atomic_folder_free(to);
    return st;
}

static void tables_have_exact_numbers_and_whole_names(void **state)
{
    static char text[4096];
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(
        tm_doc_root(doc),
        "{'steps': {'count': 2, 'median_ps': 1234567890123, 'module': null},"
        " 'gaps': {'count': 3, 'longest': [{'device': 'host/gpu:0', 'cause': 'device_wait', 'dur_ps': 7}]},"
        " 'findings': [{'id': 'idle_input', 'severity': 'critical', 'title': '=x', 'fix': ['one', '@two \\\"q\\\"']}],"
        " 'kpis': [{'id': 'a', 'title': 'High', 'value': 0.1, 'unit': '%', 'band': 'bad'}]}");
    assert_int_equal(write_tables(&run, doc), TM_OK);
    read_table("gaps-longest.csv", text, sizeof(text));
    assert_non_null(strstr(text, "begin_ps,dur_ps,device,"));
    assert_non_null(strstr(text, "\n,7,host/gpu:0,"));
    assert_non_null(strstr(text, "device_wait"));
    read_table("step-facts.csv", text, sizeof(text));
    assert_string_equal(text, "count,module,median_ps\n2,,1234567890123\n");
    read_table("findings.csv", text, sizeof(text));
    assert_non_null(strstr(text, "\n1,idle_input,critical,\"'=x\",,,,,,,,,gaps,,\"one\n'@two \"\"q\"\"\"\n"));
    read_table("kpis.csv", text, sizeof(text));
    assert_non_null(strstr(text, "\na,High,0.1,%,bad,,,,,\n"));
    read_table("index.csv", text, sizeof(text));
    assert_non_null(strstr(text, "\nstep-facts.csv,steps,Steps: single figures,1,0\n"));
    remove_tables();
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void every_sample_has_tables(void **state)
{
    (void)state;
    for (int i = 0; i < TM_SAMPLES; i++) {
        struct tm_run run;
        struct tm_doc *doc;

        test_run_init(&run);
        tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
        doc = tm_sample_summary(&run, i);
        assert_non_null(doc);
        assert_int_equal(write_tables(&run, doc), TM_OK);
        remove_tables();
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

static tm_status job(struct tm_run *run)
{
    struct tm_doc *doc = tm_doc_new(run);
    const tm_status st = doc ? write_tables(run, doc) : TM_ERR_LIMIT;

    if (st == TM_OK)
        remove_tables();
    tm_doc_free(doc);
    return st;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_quoted_and_no_formulas),
        cmocka_unit_test_setup_teardown(tables_have_exact_numbers_and_whole_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(every_sample_has_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(refused_memory_is_an_error, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
