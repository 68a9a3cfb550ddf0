/* SPDX-License-Identifier: Apache-2.0 */
/* Where settings come from: command lines, the environment, configuration files, and who overrides
 * whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/options.h"

enum { WORDS_MOST = 16 };

static struct tm_setting_set set;
static struct tm_error error;
static char line_text[512];
static char *words[WORDS_MOST + 1];
static size_t operand_count;

static int start_afresh(void **state)
{
    (void)state;
    tm_settings_init(&set);
    memset(&error, 0, sizeof(error));
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        char name[TM_OPTION_NAME_BYTES];

        if (tm_option_environment(&tm_option_table[i], name))
            (void)unsetenv(name);
    }
    return 0;
}

static bool has_groups(const char *verb)
{
    return strcmp(verb, "compare") == 0;
}

/* Take a command line, written with single blanks between its words. */
static tm_status take_line(const char *line)
{
    int count = 0;

    (void)snprintf(line_text, sizeof(line_text), "tracemill %s", line);
    for (char *at = line_text; at; count++) {
        char *const blank = strchr(at, ' ');

        assert_true(count < WORDS_MOST);
        words[count] = at;
        at = blank ? blank + 1 : NULL;
        if (blank)
            *blank = '\0';
    }
    words[count] = NULL;
    return tm_settings_take_flags(&set, count, words, has_groups, &operand_count, &error);
}

static tm_status take_config(const char *text)
{
    return tm_settings_take_config(&set, "a.json", text, strlen(text), &error);
}

static void options_and_operands_may_be_mixed(void **state)
{
    (void)state;
    assert_int_equal(take_line("-q report --memory 64M a --rows=5 b -ox - -- --c d"), TM_OK);
    assert_int_equal(operand_count, 6);
    assert_string_equal(words[1], "report");
    assert_string_equal(words[2], "a");
    assert_string_equal(words[3], "b");
    assert_string_equal(words[4], "-");
    assert_string_equal(words[5], "--c");
    assert_string_equal(words[6], "d");
    assert_string_equal(set.of[TM_OPTION_MEMORY].text, "64M");
    assert_string_equal(set.of[TM_OPTION_ROWS].text, "5");
    assert_string_equal(set.of[TM_OPTION_OUTPUT].text, "x");
    assert_string_equal(set.of[TM_OPTION_QUIET].text, "yes");
    assert_int_equal(set.of[TM_OPTION_QUIET].origin, TM_ORIGIN_FLAG);
    assert_int_equal(set.of[TM_OPTION_STRICT].origin, TM_ORIGIN_DEFAULT);
}

static void assert_operands(const char *line, const char *expected)
{
    char joined[256] = "";

    (void)start_afresh(NULL);
    assert_int_equal(take_line(line), TM_OK);
    for (size_t i = 1; i <= operand_count; i++) {
        (void)strcat(joined, i > 1 ? " " : "");
        (void)strcat(joined, words[i]);
    }
    assert_string_equal(joined, expected);
}

static void two_dashes_stand_between_groups(void **state)
{
    (void)state;
    assert_operands("compare a b c -- d e f", "compare a b c -- d e f");
    assert_operands("-q compare a --rows 1 -- b -o x -- c --stats", "compare a -- b -- c");
    assert_string_equal(set.of[TM_OPTION_OUTPUT].text, "x");
    assert_string_equal(set.of[TM_OPTION_STATS].text, "yes");
    assert_operands("compare a -- b --", "compare a -- b --");
    assert_operands("compare a -- -- b", "compare a -- -- b");
    assert_operands("compare a -o -- b", "compare a b"); /* the argument of an option */
    assert_string_equal(set.of[TM_OPTION_OUTPUT].text, "--");
    assert_operands("compare a -o --", "compare a");
    assert_operands("compare -- a -- -o", "compare a -- -o"); /* before the first: as everywhere */
    assert_operands("-- compare a -- b", "compare a -- b");
    assert_operands("report a -- b -- -o", "report a b -- -o");
    (void)start_afresh(state);
    assert_int_equal(take_line("compare a -- b --no-such"), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "'--no-such'"));
}

static void the_last_of_two_flags_holds(void **state)
{
    (void)state;
    assert_int_equal(take_line("--rows 1 --rows 2 --strict --strict=no"), TM_OK);
    assert_int_equal(operand_count, 0);
    assert_string_equal(set.of[TM_OPTION_ROWS].text, "2");
    assert_string_equal(set.of[TM_OPTION_STRICT].text, "no");
}

static void wrong_options_are_refused_with_a_suggestion(void **state)
{
    static const struct {
        const char *line, *what, *hint;
    } cases[] = {
        { "report --memroy 1G x", "unknown option '--memroy'", "did you mean '--memory'?" },
        { "report --mem 1G x", "unknown option '--mem'", "did you mean '--memory'?" },
        { "report --stat x", "unknown option '--stat'", "did you mean '--stats'?" },
        { "report --mem=1G x", "unknown option '--mem'", "did you mean '--memory'?" },
        { "report --s", "unknown option '--s'", "'tracemill help'" },
        { "report --zzzzzzzz=3", "unknown option '--zzzzzzzz'", "'tracemill help'" },
        { "report -z", "unknown option '-z'", "'tracemill help'" },
        { "report -qz", "unknown option '-z'", "'tracemill help'" },
        { "report --memory", "'--memory' needs a value: SIZE", "write '--memory 256M'" },
        { "report -o", "'--output' needs a value: DIR|FILE", "write '--output DIR|FILE'" },
        { "report -W x", "unknown option '-W'", "'tracemill help'" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)start_afresh(state);
        assert_int_equal(take_line(cases[i].line), TM_ERR_USAGE);
        assert_non_null(strstr(error.what, cases[i].what));
        assert_ptr_equal(strstr(error.hint, cases[i].hint), error.hint);
    }
}

static void a_verb_refuses_flags_of_others_but_not_their_settings(void **state)
{
    (void)state;
    (void)setenv("TRACEMILL_FORMAT", "pdf", 1);
    assert_int_equal(take_line("inspect --stats x"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(tm_settings_check_verb(&set, "inspect", TM_FOR_INSPECT, &error), TM_OK);
    assert_int_equal(take_line("inspect --format pdf x"), TM_OK);
    assert_int_equal(tm_settings_check_verb(&set, "inspect", TM_FOR_INSPECT, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "'inspect' does not support '--format'"));
}

static void tables_as_data_are_whole_unless_told(void **state)
{
    static const struct {
        const char *line;
        uint64_t rows;
    } cases[] = {
        { "report x", 500 },
        { "report --format html,csv x", 2000 },
        { "report --format csv --rows 7 x", 7 },
        { "report --format csv --rows 500 x", 500 },
        { "report --format markdown x", 500 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_options options = { .inputs = NULL };

        assert_int_equal(take_line(cases[i].line), TM_OK);
        assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
        assert_int_equal(options.rows, cases[i].rows);
    }
}

static void flags_override_environment_overrides_file_overrides_default(void **state)
{
    struct tm_options options = { .inputs = NULL };
    char place[64];

    (void)state;
    (void)setenv("TRACEMILL_MEMORY", "64M", 1);
    (void)setenv("TRACEMILL_ROWS", "20", 1);
    (void)setenv("TRACEMILL_TMP", "", 1); /* empty = not set */
    assert_int_equal(take_line("report --memory 128M x"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(take_config("{\"memory\": \"32M\", \"rows\": 30, \"gap_min\": \"1ms\", \"tmp\": \"t\","
                                 " \"jobs\": 3}"),
                     TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.memory_bytes, 128 << 20);
    assert_int_equal(options.rows, 20);
    assert_int_equal(options.gap_min_ps, 1000000000);
    assert_int_equal(options.jobs, 3);
    assert_string_equal(options.tmp, "t");
    assert_int_equal(options.window, TM_WINDOW_STEPS);
    assert_string_equal(tm_settings_place(&set, TM_OPTION_MEMORY, place, sizeof(place)), "--memory");
    assert_string_equal(tm_settings_place(&set, TM_OPTION_ROWS, place, sizeof(place)), "TRACEMILL_ROWS");
    assert_string_equal(tm_settings_place(&set, TM_OPTION_GAP_MIN, place, sizeof(place)), "a.json");
    assert_string_equal(tm_settings_place(&set, TM_OPTION_WINDOW, place, sizeof(place)), "default");
    assert_ptr_equal(options.settings, &set);
}

static void config_values_have_their_json_types(void **state)
{
    struct tm_options options = { .inputs = NULL };

    (void)state;
    assert_int_equal(take_config(" {\"format\": [\"pdf\", \"json\"], \"strict\": true, \"quiet\": false,\n"
                                 "\"memory\": 67108864, \"skip_steps\": 2, \"steps\": \"all\",\n"
                                 "\"output\": \"\\u00e9 a\\\"b\"}\n"),
                     TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.formats, TM_FORMAT_PDF | TM_FORMAT_JSON);
    assert_true(options.strict && !options.quiet);
    assert_int_equal(options.memory_bytes, 64 << 20);
    assert_int_equal(options.skip_steps, 2);
    assert_int_equal(options.steps, TM_CHOOSE_ALL);
    assert_string_equal(options.output, "\xc3\xa9 a\"b");
}

static void filters_of_one_place_are_added_up(void **state)
{
    struct tm_options options = { .inputs = NULL };
    char text[64];

    (void)state;
    assert_int_equal(take_config("{\"filter\": [\"name=a\", \"min=1us\"], \"args\": \"none\"}"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.filter.count, 2);
    assert_int_equal(options.filter.terms[1].kind, TM_FILTER_MIN);
    assert_int_equal(options.args, TM_ARGS_NONE);
    assert_string_equal(tm_settings_text(&set, TM_OPTION_FILTER, text, sizeof(text)), "name=a min=1us");
    assert_string_equal(tm_settings_text(&set, TM_OPTION_ARGS, text, sizeof(text)), "none");

    /* those of the command line in place of those of the file, and of the environment */
    start_afresh(NULL);
    (void)setenv("TRACEMILL_FILTER", "class=copy", 1);
    memset(&options, 0, sizeof(options));
    assert_int_equal(take_line("convert --filter step=2 --filter device=gpu --filter track=S* x"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(take_config("{\"filter\": \"name=a\"}"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.filter.count, 3);
    assert_int_equal(options.filter.terms[0].begin, 2);
    assert_string_equal(options.filter.terms[2].text, "S*");

    start_afresh(NULL);
    assert_int_equal(take_config("{\"filter\": [\"name=a\", 3]}"), TM_ERR_USAGE);
    start_afresh(NULL);
    for (int i = 0; i < TM_FILTER_TERMS; i++)
        assert_int_equal(take_line("convert --filter name=a"), TM_OK);
    assert_int_equal(take_line("convert --filter name=a"), TM_ERR_USAGE);
}

static void texts_of_one_place_are_added_up(void **state)
{
    struct tm_options options = { .inputs = NULL };
    char text[64];

    (void)state;
    assert_int_equal(take_config("{\"fail_on\": [\"a>1\", \"b<2\"], \"baseline\": \"x.json\"}"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.fail_on.count, 2);
    assert_string_equal(options.fail_on.text[1], "b<2");
    assert_int_equal(options.baseline.count, 1);
    assert_string_equal(tm_settings_text(&set, TM_OPTION_FAIL_ON, text, sizeof(text)), "a>1 b<2");

    start_afresh(NULL);
    memset(&options, 0, sizeof(options));
    assert_int_equal(take_line("compare --fail-on=c>3 a b"), TM_OK);
    assert_int_equal(take_config("{\"fail_on\": [\"a>1\", \"b<2\"]}"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.fail_on.count, 1);
    assert_string_equal(options.fail_on.text[0], "c>3");

    start_afresh(NULL);
    assert_int_equal(take_line("compare --fail-on= a b"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_ERR_USAGE);
}

static void wrong_configuration_is_refused(void **state)
{
    static const struct {
        const char *text, *what, *hint;
    } cases[] = {
        { "", "line 1 is not JSON", "a configuration file" },
        { "{\n\"rows\": 5,\n}", "line 3 is not JSON", "a configuration file" },
        { "{\"rows\": 5} x", "line 1 is not JSON", "a configuration file" },
        { "{\"rows\": 5", "is not JSON", "a configuration file" },
        { "[1]", "is not a JSON object", "" },
        { "7", "is not a JSON object", "" },
        { "{\"row\": 5}", "'row' in 'a.json': there is no such setting", "did you mean 'rows'?" },
        { "{\"gap-min\": \"1us\"}", "'gap-min' in 'a.json': there is no such setting", "did you mean 'gap_min'?" },
        { "{\"config\": \"b.json\"}", "there is no such setting", "" },
        { "{\"help\": true}", "there is no such setting", "" },
        { "{\"rows\": 5, \"rows\": 6}", "it is given twice", "" },
        { "{\"rows\": 5.5}", "neither a string nor an integer", "" },
        { "{\"rows\": -5}", "neither a string nor an integer", "" },
        { "{\"rows\": 1e300}", "neither a string nor an integer", "" },
        { "{\"rows\": null}", "neither a string nor an integer", "" },
        { "{\"strict\": \"yes\"}", "it is not true or false", "" },
        { "{\"strict\": 1}", "it is not true or false", "" },
        { "{\"format\": [1]}", "it is not a list of strings", "" },
        { "{\"tmp\": 3}", "it is not a string", "" },
        { "{\"gap_min\": 10}", "it is not a string", "" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)start_afresh(state);
        assert_int_equal(take_config(cases[i].text), TM_ERR_USAGE);
        assert_non_null(strstr(error.what, cases[i].what));
        assert_non_null(strstr(error.hint, cases[i].hint));
    }
}

static void wrong_values_are_told_with_their_place(void **state)
{
    struct tm_options options = { .inputs = NULL };

    assert_int_equal(take_config("{\"memory\": \"1M\"}"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "'1M' for 'memory' in 'a.json'"));
    (void)start_afresh(state);
    (void)setenv("TRACEMILL_GAP_MIN", "soon", 1);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "'soon' for TRACEMILL_GAP_MIN"));
}

static void a_missing_or_endless_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(take_line("report --config /nonexistent/x.json a"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "'/nonexistent/x.json'"));
    (void)start_afresh(state);
    (void)setenv("TRACEMILL_CONFIG", "/dev/zero", 1);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "longer than 64 KiB"));
}

static void two_choices_of_steps_contradict_each_other(void **state)
{
    struct tm_options options = { .inputs = NULL };

    assert_int_equal(take_line("report --steps 1:5 --skip-steps 2 x"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_ERR_USAGE);
    (void)start_afresh(state);
    (void)setenv("TRACEMILL_SKIP_STEPS", "2", 1);
    assert_int_equal(take_line("report --steps 1:5 x"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(options.steps, TM_CHOOSE_RANGE);
}

static void a_map_of_names_needs_names_to_replace(void **state)
{
    struct tm_options options = { .inputs = NULL };

    assert_int_equal(take_line("report --redact-map names x"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_ERR_USAGE);
    assert_string_equal(error.hint, "add --redact");
    (void)start_afresh(state);
    assert_int_equal(take_line("report --redact-map names --redact x"), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    (void)start_afresh(state);
    (void)setenv("TRACEMILL_REDACT_MAP", "names", 1);
    assert_int_equal(take_line("report x"), TM_OK);
    assert_int_equal(tm_settings_take_environment(&set, &error), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
}

static void a_file_of_the_greatest_size_is_taken_whole(void **state)
{
    static char text[TM_CONFIG_MOST_BYTES + 2];
    struct tm_options options = { .inputs = NULL };

    (void)state;
    memset(text, 'x', TM_CONFIG_MOST_BYTES);
    memcpy(text, "{\"tmp\": \"", 9);
    memcpy(text + TM_CONFIG_MOST_BYTES - 2, "\"}", 3);
    assert_int_equal(take_config(text), TM_OK);
    assert_int_equal(tm_settings_apply(&set, &options, &error), TM_OK);
    assert_int_equal(strlen(options.tmp), TM_CONFIG_MOST_BYTES - 11);
    memcpy(text + TM_CONFIG_MOST_BYTES - 2, "\"} ", 4);
    assert_int_equal(take_config(text), TM_ERR_USAGE);
}

int main(void)
{
#define SETTINGS_TEST(f) cmocka_unit_test_setup(f, start_afresh)
    const struct CMUnitTest tests[] = {
        SETTINGS_TEST(options_and_operands_may_be_mixed),
        SETTINGS_TEST(the_last_of_two_flags_holds),
        SETTINGS_TEST(wrong_options_are_refused_with_a_suggestion),
        SETTINGS_TEST(a_verb_refuses_flags_of_others_but_not_their_settings),
        SETTINGS_TEST(tables_as_data_are_whole_unless_told),
        SETTINGS_TEST(flags_override_environment_overrides_file_overrides_default),
        SETTINGS_TEST(config_values_have_their_json_types),
        SETTINGS_TEST(filters_of_one_place_are_added_up),
        SETTINGS_TEST(texts_of_one_place_are_added_up),
        SETTINGS_TEST(two_dashes_stand_between_groups),
        SETTINGS_TEST(wrong_configuration_is_refused),
        SETTINGS_TEST(wrong_values_are_told_with_their_place),
        SETTINGS_TEST(a_missing_or_endless_file_is_refused),
        SETTINGS_TEST(two_choices_of_steps_contradict_each_other),
        SETTINGS_TEST(a_map_of_names_needs_names_to_replace),
        SETTINGS_TEST(a_file_of_the_greatest_size_is_taken_whole),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
