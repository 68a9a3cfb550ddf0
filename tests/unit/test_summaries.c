/* SPDX-License-Identifier: Apache-2.0 */
/* Operands to summaries: profiles, summaries, results of a benchmark. */
#include "pipeline/engine/outputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "pipeline/engine/analysis.h"
#include "pipeline/options.h"
#include "tests/support/test_folder.h"

#define PROFILE "tests/data/tiny"

static struct tm_setting_set settings;

static struct tm_options defaults(void)
{
    struct tm_options options = { .inputs = NULL };
    struct tm_error error = { .status = TM_OK };

    tm_settings_init(&settings);
    assert_int_equal(tm_settings_apply(&settings, &options, &error), TM_OK);
    return options;
}

/* A file in the folder: its path, which stays good until the next but three. */
static const char *put_file(const char *name, const char *content)
{
    static char paths[4][300];
    static unsigned turn;
    char *const path = paths[turn++ % 4];
    FILE *file;

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static char *printed(struct tm_run *run, const struct tm_doc *doc)
{
    FILE *file = tmpfile();
    char *text;

    assert_non_null(file);
    assert_int_equal(tm_doc_print(doc, run, fileno(file)), TM_OK);
    const off_t length = lseek(fileno(file), 0, SEEK_END);

    text = calloc(1, (size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, (size_t)length, 0), length);
    (void)fclose(file);
    return text;
}

static tm_status load(struct tm_run *run, struct tm_summaries *summaries, const char *const *words, size_t count)
{
    const struct tm_options options = defaults();
    struct tm_run_operand operand[8];

    for (size_t i = 0; i < count; i++)
        tm_run_operand_read(&operand[i], words[i]);
    return tm_summaries_load(summaries, run, &options, operand, count, "compare");
}

/* What the verb `report` would give. */
static char *analyzed(struct tm_run *run)
{
    static char input[] = PROFILE;
    char *const inputs[] = { input };
    struct tm_options options = defaults();
    struct tm_doc *doc = tm_doc_new(run);
    char *text;

    options.inputs = inputs;
    options.input_count = 1;
    assert_non_null(doc);
    assert_int_equal(tm_analyze(run, &options, doc, NULL, NULL), TM_OK);
    text = printed(run, doc);
    tm_doc_free(doc);
    return text;
}

static void a_profile_and_its_summary_are_one_tree(void **state)
{
    struct tm_run run;
    struct tm_summaries s;
    char *expected, *text, words_path[300];

    (void)state;
    test_run_init(&run);
    expected = analyzed(&run);
    (void)snprintf(words_path, sizeof(words_path), "old=%s", put_file("summary.json", expected));
    {
        const char *const words[] = { PROFILE, words_path, folder, PROFILE };

        assert_int_equal(load(&run, &s, words, 4), TM_OK);
    }
    for (size_t i = 0; i < 4; i++) {
        text = printed(&run, s.run[i].doc);
        assert_string_equal(text, expected);
        free(text);
        assert_int_equal(s.run[i].is_summary, i == 1 || i == 2);
    }
    assert_string_equal(s.run[0].label, "tiny");
    assert_string_equal(s.run[1].label, "old");
    assert_true(s.run[1].is_labelled);
    assert_string_equal(s.run[3].label, "tiny #2");
    tm_summaries_free(&s);
    assert_ledger_is_even(&run);
    free(expected);
}

static void tallies_are_of_each_run_and_summed_up(void **state)
{
    static const char *const words[] = { PROFILE, PROFILE };
    struct tm_tallies once;
    struct tm_run run;
    struct tm_summaries s;

    (void)state;
    test_run_init(&run);
    assert_int_equal(load(&run, &s, words, 1), TM_OK);
    once = run.tallies;
    tm_summaries_free(&s);
    assert_int_equal(load(&run, &s, words, 2), TM_OK);
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        assert_int_equal(run.tallies.count[i], 2 * once.count[i]);
    tm_summaries_free(&s);
}

static void assert_refused(const char *content, tm_status status, const char *what)
{
    const char *const words[] = { put_file("x.json", content) };
    struct tm_summaries s;
    struct tm_run run;

    test_run_init(&run);
    assert_int_equal(load(&run, &s, words, 1), status);
    if (!strstr(run.error.what, what))
        fail_msg("'%s' does not say '%s'", run.error.what, what);
    tm_summaries_free(&s);
    assert_ledger_is_even(&run);
}

static void what_is_no_summary_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"schema\":\"tracemill.comparison\",\"schema_version\":1}", TM_ERR_INPUT, "not a summary");
    assert_refused(" {\n\"schema\" : \"tracemill.summary\",\"schema_version\":3}", TM_ERR_INPUT, "version is 3");
    assert_refused("{\"schema\":\"tracemill.summary\",\"schema_version\":1}", TM_ERR_INPUT,
                   "it is a summary of version 1, whose figures are defined differently; this program reads version 2");
    assert_refused("{\"schema\":\"tracemill.summary\"}", TM_ERR_INPUT, "version is 0");
    assert_refused("{\"schema\":\"tracemill.summary\",\"schema_version\":2", TM_ERR_INPUT, "truncated");
    assert_refused("{\"schema\":\"tracemill.summary\",\"schema_version\":2}{", TM_ERR_INPUT, "something follows");
    assert_refused("{\"schema\":\"other\"}", TM_ERR_INPUT, "x.json"); /* for an analysis to refuse */
}

static void strictness_looks_at_summaries_too(void **state)
{
    const char *const words[] = { put_file("x.json", "{\"schema\":\"tracemill.summary\",\"schema_version\":2,"
                                                     "\"input\":{\"partial\":true,\"run\":\"r\"}}") };
    struct tm_summaries s;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(load(&run, &s, words, 1), TM_OK);
    assert_true(s.run[0].is_partial);
    tm_summaries_free(&s);
    run.strict = true;
    assert_int_equal(load(&run, &s, words, 1), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "cannot compare under --strict"));
    tm_summaries_free(&s);
    assert_ledger_is_even(&run);
}

static void one_loss_is_no_plural(void **state)
{
    static const char *const said[] = { "1 loss in the input", "2 losses in the input" };

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        struct tm_run run;

        test_run_init(&run);
        run.strict = true;
        tm_tally_add(&run.tallies, TM_TALLY_CUT_SHORT, i + 1);
        assert_int_equal(tm_check_strict(&run, false, "report"), TM_ERR_INPUT);
        assert_non_null(strstr(run.error.what, said[i]));
    }
}

/* At the least memory: large summaries, as long as they fit together. */
static void summaries_share_what_the_limit_gives(void **state)
{
    enum { ROWS = 300000 };
    const char *path = put_file("x.json", ""), *words[8];
    FILE *file = fopen(path, "we");
    struct tm_summaries s;
    struct tm_run run;

    (void)state;
    assert_non_null(file);
    (void)fputs("{\"schema\":\"tracemill.summary\",\"schema_version\":2,\"rows\":[0", file);
    for (int i = 1; i < ROWS; i++)
        (void)fputs(",1", file);
    (void)fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < 8; i++)
        words[i] = path;
    test_run_init(&run);
    assert_int_equal(load(&run, &s, words, 2), TM_OK);
    assert_int_equal(tm_length(tm_get(tm_doc_root(s.run[1].doc), "rows")), ROWS);
    tm_summaries_free(&s);
    assert_ledger_is_even(&run);
    assert_int_equal(load(&run, &s, words, 8), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.hint, "--memory"));
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] <= run.budget.limit_bytes / 10 * 7);
    tm_summaries_free(&s);
    assert_ledger_is_even(&run);
}

static void operands_are_looked_at_before_any_work(void **state)
{
    static const struct {
        const char *words[2];
        tm_status status;
        const char *what;
    } rows[] = {
        { { PROFILE, "nowhere" }, TM_ERR_INPUT, "'nowhere'" },
        { { PROFILE, "a=nowhere" }, TM_ERR_INPUT, "'nowhere'" },
        { { "-", "b=-" }, TM_ERR_USAGE, "stdin twice" },
        { { "-", PROFILE }, TM_OK, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_run_operand operand[2];
        struct tm_run run;

        test_run_init(&run);
        for (size_t k = 0; k < 2; k++)
            tm_run_operand_read(&operand[k], rows[i].words[k]);
        assert_int_equal(tm_run_operands_check(&run, operand, 2), rows[i].status);
        assert_non_null(strstr(run.error.what, rows[i].what));
    }
}

/* --- results of a benchmark --- */

static tm_status read_results(struct tm_results *results, struct tm_run *run, const char *content)
{
    test_run_init(run);
    return tm_results_read(results, run, put_file("results.json", content));
}

static void results_name_runs_and_their_times(void **state)
{
    struct tm_results results;
    struct tm_run run;
    char expected[300];

    (void)state;
    (void)put_file("here", "x");
    (void)put_file("-", "x");
    assert_int_equal(read_results(&results, &run,
                                  "{\"vjp\": {\"execution_time\": 1.5, \"tensorboard_trace\": \"here\"},"
                                  " \"auto=diff\": {\"execution_time\": {\"mean\": 2.5e-6, \"std\": 1},"
                                  "   \"tensorboard_trace\": \"" PROFILE "\"},"
                                  " \"\": {\"tensorboard_trace\": \"-\", \"execution_time\": \"soon\"},"
                                  " \"negative\": {\"tensorboard_trace\": \"/var/tmp\", \"execution_time\": -1},"
                                  " \"endless\": {\"tensorboard_trace\": \"/var/tmp\", \"execution_time\": 1e300},"
                                  " \"no trace\": {\"execution_time\": 1}, \"empty\": {\"tensorboard_trace\": \"\"},"
                                  " \"list\": [1], \"text\": \"x\", \"number\": 5, \"nothing\": null}"),
                     TM_OK);
    assert_int_equal(results.count, 5);
    (void)snprintf(expected, sizeof(expected), "%s/here", folder);
    assert_string_equal(results.result[0].operand.path, expected);
    assert_string_equal(results.result[0].operand.label, "vjp");
    assert_int_equal(tm_result_ps(&results.result[0], TM_UNIT_S), 1500000000000);
    assert_string_equal(results.result[1].operand.path, PROFILE);
    assert_int_equal(results.result[1].operand.label_length, strlen("auto=diff"));
    assert_int_equal(tm_result_ps(&results.result[1], TM_UNIT_S), 2500000);
    (void)snprintf(expected, sizeof(expected), "%s/-", folder);
    assert_string_equal(results.result[2].operand.path, expected); /* a file, and not stdin */
    assert_int_equal(tm_result_ps(&results.result[2], TM_UNIT_S), -1);
    assert_int_equal(tm_result_ps(&results.result[3], TM_UNIT_S), -1);
    assert_int_equal(tm_result_ps(&results.result[4], TM_UNIT_S), -1);
    tm_results_free(&results);
    assert_ledger_is_even(&run);
}

static void results_without_their_traces_are_refused(void **state)
{
    static const struct {
        const char *content;
        tm_status status;
        const char *what;
    } rows[] = {
        { "{}", TM_ERR_INPUT, "contains no trace path" },
        { "{\"a\": {\"execution_time\": 1}}", TM_ERR_INPUT, "contains no trace path" },
        { "[]", TM_ERR_INPUT, "not a JSON object" },
        { "{\"a\": {\"tensorboard_trace\": \"here\"}", TM_ERR_INPUT, "truncated" },
        { "{\"a\": {\"tensorboard_trace\": \"nowhere\"}}", TM_ERR_USAGE, "cannot find the trace 'nowhere' of 'a'" },
        { "{\"a\": {\"tensorboard_trace\": \"\\u001b[31m\\n\"}}", TM_ERR_USAGE, "'?[31m?'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_results results;
        struct tm_run run;

        assert_int_equal(read_results(&results, &run, rows[i].content), rows[i].status);
        if (!strstr(run.error.what, rows[i].what))
            fail_msg("'%s' does not say '%s'", run.error.what, rows[i].what);
        tm_results_free(&results);
        assert_ledger_is_even(&run);
    }
}

/* --- memory --- */

static tm_status load_all(struct tm_run *run)
{
    static const char summary[] = "{\"schema\":\"tracemill.summary\",\"schema_version\":2,\"n\":[1,{\"a\":null}]}";
    const char *const words[] = { put_file("x.json", summary), put_file("y.json", summary) };
    struct tm_summaries s;
    const tm_status st = load(run, &s, words, 2);

    tm_summaries_free(&s);
    return st;
}

static tm_status read_all_results(struct tm_run *run)
{
    const char *path = put_file("results.json", "{\"a\": {\"tensorboard_trace\": \"results.json\"}}");
    struct tm_results results;
    const tm_status st = tm_results_read(&results, run, path);

    tm_results_free(&results);
    return st;
}

static tm_status analyze_one(struct tm_run *run)
{
    static const char *const words[] = { PROFILE };
    struct tm_summaries s;
    const tm_status st = load(run, &s, words, 1);

    tm_summaries_free(&s);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(load_all);
    refuse_each_request(read_all_results);
    refuse_each_request(analyze_one);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_profile_and_its_summary_are_one_tree),
        TEST(tallies_are_of_each_run_and_summed_up),
        TEST(what_is_no_summary_is_refused),
        TEST(one_loss_is_no_plural),
        TEST(strictness_looks_at_summaries_too),
        TEST(summaries_share_what_the_limit_gives),
        TEST(operands_are_looked_at_before_any_work),
        TEST(results_name_runs_and_their_times),
        TEST(results_without_their_traces_are_refused),
        TEST(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("summaries", tests, NULL, NULL);
}
