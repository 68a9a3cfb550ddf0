/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, the reading of values, and the suggestions for mistyped words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/options.h"
#include "pipeline/store/budget.h"
#include "pipeline/strings.h"

static const char origin[] = "--it";

static void every_row_obeys_the_naming_rule(void **state)
{
    char name[TM_OPTION_NAME_BYTES];

    (void)state;
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];

        assert_non_null(row->name);
        if (row->of_verbs) /* stands before the row for other verbs */
            assert_string_equal(row[1].name, row->name);
        for (size_t k = i + (row->of_verbs ? 2 : 1); k < TM_OPTION_COUNT; k++)
            assert_string_not_equal(tm_option_table[k].name, row->name);
        assert_true(strlen("TRACEMILL_") + strlen(row->name) < TM_OPTION_NAME_BYTES);
        assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(row->name));
        assert_true(row->offset + sizeof(bool) <= sizeof(struct tm_options));
        assert_true(row->verbs != 0 && (row->verbs & ~TM_FOR_ALL) == 0);
        assert_true(row->help[0] && row->help[strlen(row->help) - 1] != '.');
        assert_true((row->kind == TM_KIND_FLAG) == (row->argument == NULL));
        assert_true((row->kind == TM_KIND_OWN) == (row->read != NULL));
        assert_true((row->kind == TM_KIND_NUMBER) == (row->most != 0));
        assert_true(row->words || (row->kind != TM_KIND_WORD && row->kind != TM_KIND_WORDS));
        if (tm_option_key(row, name)) {
            assert_ptr_equal(tm_option_by_key(name), row);
            assert_non_null(tm_option_environment(row, name));
        }
        for (size_t j = 0; j < i; j++)
            assert_true(!row->letter || row->letter != tm_option_table[j].letter);
    }
}

static void names_elsewhere_are_those_of_the_option(void **state)
{
    char name[TM_OPTION_NAME_BYTES];

    (void)state;
    assert_string_equal(tm_option_key(&tm_option_table[TM_OPTION_SKIP_STEPS], name), "skip_steps");
    assert_string_equal(tm_option_environment(&tm_option_table[TM_OPTION_SKIP_STEPS], name), "TRACEMILL_SKIP_STEPS");
    assert_null(tm_option_key(&tm_option_table[TM_OPTION_CONFIG], name));
    assert_string_equal(tm_option_environment(&tm_option_table[TM_OPTION_CONFIG], name), "TRACEMILL_CONFIG");
    assert_null(tm_option_key(&tm_option_table[TM_OPTION_FORCE], name));
    assert_null(tm_option_environment(&tm_option_table[TM_OPTION_FORCE], name));
}

static void every_default_can_be_read(void **state)
{
    struct tm_options options = { .inputs = NULL };
    struct tm_error error = { .status = TM_OK };

    (void)state;
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];

        if (row->fallback)
            assert_int_equal(tm_option_read(row, row->fallback, origin, &options, &error), TM_OK);
    }
    assert_int_equal(options.memory_bytes, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    assert_int_equal(options.formats, TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT);
    assert_int_equal(options.gap_min_ps, 10000000);
    assert_int_equal(options.rows, 500);
    assert_int_equal(options.skip_steps, -1);
    assert_int_equal(options.steps, TM_CHOOSE_AUTO);
    assert_int_equal(options.window, TM_WINDOW_STEPS);
    assert_int_equal(options.color, TM_COLOR_AUTO);
    assert_int_equal(options.args, TM_ARGS_ALL);
    assert_int_equal(options.part_events, 1000000);
    assert_true(options.part_bytes > 95000000 && options.part_bytes <= 100000000);
    assert_int_equal(options.by, TM_BY_LIMITS);
    assert_int_equal(options.filter.count, 0);
    assert_false(options.plain || options.strict || options.json || options.quiet || options.stats || options.latest);
}

/* Read a text as one option does.  out: the status; *error holds the reason */
static tm_status read_as(enum tm_option_index index, const char *text, struct tm_options *options,
                         struct tm_error *error)
{
    memset(options, 0, sizeof(*options));
    memset(error, 0, sizeof(*error));
    return tm_option_read(&tm_option_table[index], text, origin, options, error);
}

static void sizes_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0 = refused */
    } cases[] = {
        { "32M", 32ull << 20 },
        { "32MiB", 32ull << 20 },
        { "32m", 32ull << 20 },
        { "33554432", 33554432 },
        { "32768K", 32ull << 20 },
        { "32768KiB", 32ull << 20 },
        { "2G", 2ull << 30 },
        { "3GiB", 3ull << 30 },
        { "33554431", 0 },
        { "31M", 0 },
        { "0", 0 },
        { "", 0 },
        { "M", 0 },
        { "-1G", 0 },
        { "1.5G", 0 },
        { "64MB", 0 },
        { "64 M", 0 },
        { " 64M", 0 },
        { "64T", 0 },
        { "0x4000000", 0 },
        { "99999999999999999999", 0 },
        { "18446744073709551615G", 0 },
        { "8589934592G", 0 },
        { "17179869184G", 0 },
        { "9223372036854775807", 9223372036854775807ull },
        { "9223372036854775808", 0 },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tm_status st = read_as(TM_OPTION_MEMORY, cases[i].text, &options, &error);

        assert_int_equal(st, cases[i].bytes ? TM_OK : TM_ERR_USAGE);
        assert_int_equal(options.memory_bytes, cases[i].bytes);
        assert_int_equal(error.status, st);
    }
}

static void times_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t ps; /* -1 = refused */
    } cases[] = {
        { "0", 0 },
        { "10us", 10000000 },
        { "10\xc2\xb5s", 10000000 },
        { "1ns", 1000 },
        { "7ps", 7 },
        { "2ms", 2000000000 },
        { "1s", 1000000000000 },
        { "1.5us", 1500000 },
        { "0.001ns", 1 },
        { "0.0010ns", 1 },
        { "1.us", 1000000 },
        { "9223372s", 9223372000000000000 },
        { "0.123456789012s", 123456789012 },
        { "9223372036854775807ps", INT64_MAX },
        { "0.0001ns", -1 },
        { "9223373s", -1 },
        { "9223372.1s", -1 },
        { "9223372036854775808ps", -1 },
        { "10", -1 },
        { "10 us", -1 },
        { "us", -1 },
        { "-1us", -1 },
        { "1min", -1 },
        { "1e3us", -1 },
        { "0.", -1 },
        { ".5us", -1 },
        { "", -1 },
        { "1.2.3us", -1 },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tm_status st = read_as(TM_OPTION_GAP_MIN, cases[i].text, &options, &error);

        assert_int_equal(st, cases[i].ps < 0 ? TM_ERR_USAGE : TM_OK);
        assert_int_equal(options.gap_min_ps, cases[i].ps < 0 ? 0 : cases[i].ps);
    }
}

static void steps_are_a_word_or_a_range(void **state)
{
    static const struct {
        const char *text;
        enum tm_step_choice choice;
        uint64_t begin, end;
    } good[] = {
        { "auto", TM_CHOOSE_AUTO, 0, UINT64_MAX }, { "all", TM_CHOOSE_ALL, 0, UINT64_MAX },
        { "3:7", TM_CHOOSE_RANGE, 3, 7 },          { "0:1", TM_CHOOSE_RANGE, 0, 1 },
        { "4:", TM_CHOOSE_RANGE, 4, UINT64_MAX },  { ":4", TM_CHOOSE_RANGE, 0, 4 },
    };
    static const char *const bad[] = { "",
                                       ":",
                                       "3",
                                       "a:b",
                                       "7:3",
                                       "5:5",
                                       ":0",
                                       "1:2:3",
                                       "1 :2",
                                       " 1:2",
                                       "+1:2",
                                       "1:x",
                                       "99999999999999999999:",
                                       "18446744073709551615:",
                                       "All",
                                       "-1:2",
                                       "1:-2" };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(read_as(TM_OPTION_STEPS, good[i].text, &options, &error), TM_OK);
        assert_int_equal(options.steps, good[i].choice);
        assert_true(options.steps_begin == good[i].begin && options.steps_end == good[i].end);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(read_as(TM_OPTION_STEPS, bad[i], &options, &error), TM_ERR_USAGE);
}

static void formats_are_bits_in_the_order_of_the_words(void **state)
{
    static const struct {
        const char *text;
        uint32_t formats; /* 0 = refused */
    } cases[] = {
        { "html", TM_FORMAT_HTML },
        { "pdf", TM_FORMAT_PDF },
        { "json", TM_FORMAT_JSON },
        { "text", TM_FORMAT_TEXT },
        { "text,html", TM_FORMAT_TEXT | TM_FORMAT_HTML },
        { "pdf,pdf", TM_FORMAT_PDF },
        { "", 0 },
        { ",", 0 },
        { "html,", 0 },
        { ",html", 0 },
        { "html pdf", 0 },
        { "HTML", 0 },
        { "ht", 0 },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "a",
          0 },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tm_status st = read_as(TM_OPTION_FORMAT, cases[i].text, &options, &error);

        assert_int_equal(st, cases[i].formats ? TM_OK : TM_ERR_USAGE);
        assert_int_equal(options.formats, cases[i].formats);
    }
    assert_int_equal(read_as(TM_OPTION_FORMAT, "pfd", &options, &error), TM_ERR_USAGE);
    assert_string_equal(error.hint, "did you mean 'pdf'?");
}

static void parts_end_where_they_are_told_to(void **state)
{
    static const struct {
        const char *text;
        tm_status status;
        enum tm_split_by by;
        uint64_t steps;
        int64_t time_ps;
    } cases[] = {
        { "step", TM_OK, TM_BY_STEP, 1, 0 },
        { "step=10", TM_OK, TM_BY_STEP, 10, 0 },
        { "name=epoch*", TM_OK, TM_BY_NAME, 1, 0 },
        { "name=[a", TM_ERR_USAGE, 0, 0, 0 },
        { "name=", TM_ERR_USAGE, 0, 0, 0 },
        { "device", TM_OK, TM_BY_DEVICE, 1, 0 },
        { "time=1.5s", TM_OK, TM_BY_TIME, 1, 1500000000000 },
        { "", TM_ERR_USAGE, 0, 0, 0 },
        { "s", TM_ERR_USAGE, 0, 0, 0 },
        { "steps", TM_ERR_USAGE, 0, 0, 0 },
        { "step=", TM_ERR_USAGE, 0, 0, 0 },
        { "step=0", TM_ERR_USAGE, 0, 0, 0 },
        { "step=2x", TM_ERR_USAGE, 0, 0, 0 },
        { "device=gpu", TM_ERR_USAGE, 0, 0, 0 },
        { "time=", TM_ERR_USAGE, 0, 0, 0 },
        { "time=0", TM_ERR_USAGE, 0, 0, 0 },
        { "time=5", TM_ERR_USAGE, 0, 0, 0 },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_as(TM_OPTION_BY, cases[i].text, &options, &error), cases[i].status);
        if (cases[i].status != TM_OK)
            continue;
        assert_int_equal(options.by, cases[i].by);
        assert_int_equal(options.by_steps, cases[i].steps);
        assert_int_equal(options.by_time_ps, cases[i].time_ps);
    }
    assert_int_equal(read_as(TM_OPTION_MAX_SIZE, "64K", &options, &error), TM_OK);
    assert_int_equal(options.part_bytes, 64 << 10);
    assert_int_equal(read_as(TM_OPTION_MAX_SIZE, "63K", &options, &error), TM_ERR_USAGE);
    assert_int_equal(read_as(TM_OPTION_MAX_SIZE, "1x", &options, &error), TM_ERR_USAGE);
    assert_int_equal(read_as(TM_OPTION_MAX_EVENTS, "1", &options, &error), TM_OK);
    assert_int_equal(options.part_events, 1);
    assert_int_equal(read_as(TM_OPTION_MAX_EVENTS, "0", &options, &error), TM_ERR_USAGE);
    assert_int_equal(read_as(TM_OPTION_MAX_EVENTS, "1e6", &options, &error), TM_ERR_USAGE);
    assert_int_equal(read_as(TM_OPTION_ARGS, "essential", &options, &error), TM_OK);
    assert_int_equal(options.args, TM_ARGS_ESSENTIAL);
}

static void words_numbers_and_flags_have_bounds(void **state)
{
    static const struct {
        enum tm_option_index index;
        const char *text;
        bool is_good;
    } cases[] = {
        { TM_OPTION_ROWS, "1", true },
        { TM_OPTION_ROWS, "10000", true },
        { TM_OPTION_ROWS, "0", false },
        { TM_OPTION_ROWS, "10001", false },
        { TM_OPTION_ROWS, "1x", false },
        { TM_OPTION_ROWS, "-1", false },
        { TM_OPTION_SKIP_STEPS, "0", true },
        { TM_OPTION_SKIP_STEPS, "x", false },
        { TM_OPTION_SKIP_STEPS, "9223372036854775808", false },
        { TM_OPTION_WINDOW, "session", true },
        { TM_OPTION_WINDOW, "sessions", false },
        { TM_OPTION_COLOR, "never", true },
        { TM_OPTION_COLOR, "", false },
        { TM_OPTION_STRICT, "yes", true },
        { TM_OPTION_STRICT, "TRUE", true },
        { TM_OPTION_STRICT, "2", false },
        { TM_OPTION_STRICT, "", false },
        { TM_OPTION_TMP, "x", true },
        { TM_OPTION_TMP, "", false },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(read_as(cases[i].index, cases[i].text, &options, &error),
                         cases[i].is_good ? TM_OK : TM_ERR_USAGE);
    assert_int_equal(read_as(TM_OPTION_WINDOW, "session", &options, &error), TM_OK);
    assert_int_equal(options.window, TM_WINDOW_SESSION);
    assert_int_equal(read_as(TM_OPTION_COLOR, "never", &options, &error), TM_OK);
    assert_int_equal(options.color, TM_COLOR_NEVER);
    assert_int_equal(read_as(TM_OPTION_SKIP_STEPS, "3", &options, &error), TM_OK);
    assert_int_equal(options.skip_steps, 3);
    options.strict = true;
    assert_int_equal(tm_option_read(&tm_option_table[TM_OPTION_STRICT], "off", origin, &options, &error), TM_OK);
    assert_false(options.strict);
}

static void messages_name_the_value_and_the_place(void **state)
{
    struct tm_options options;
    struct tm_error error;

    (void)state;
    assert_int_equal(read_as(TM_OPTION_MEMORY, "10M", &options, &error), TM_ERR_USAGE);
    assert_string_equal(error.what, "cannot use '10M' for --it: it is less than 32M");
    assert_int_equal(read_as(TM_OPTION_MEMORY, "256", &options, &error), TM_ERR_USAGE);
    assert_string_equal(error.hint, "a number without a unit is bytes; write 256M");
    assert_int_equal(read_as(TM_OPTION_GAP_MIN, "1\x1b[31m", &options, &error), TM_ERR_USAGE);
    assert_null(strchr(error.what, '\x1b'));
}

static void near_words_are_suggested(void **state)
{
    static const struct {
        const char *typed, *known;
        bool is_near;
    } cases[] = {
        { "reprot", "report", true }, { "repor", "report", true }, { "rep", "report", true },
        { "Report", "report", true }, { "lits", "list", true },    { "xyz", "list", false },
        { "", "list", false },        { "l", "list", false },      { "inspects", "inspect", true },
        { "report", "run", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_nearest nearest = { 0 };

        tm_nearest_offer(&nearest, cases[i].typed, cases[i].known);
        assert_ptr_equal(nearest.word, cases[i].is_near ? cases[i].known : NULL);
    }
    assert_int_equal(tm_word_distance("kitten", "sitting"), 3);
    assert_int_equal(tm_word_distance("ab", "ba"), 1);
    assert_int_equal(tm_word_distance("", "abc"), 3);
}

static void the_nearest_of_several_words_wins(void **state)
{
    struct tm_nearest nearest = { 0 };

    (void)state;
    tm_nearest_offer(&nearest, "stat", "strict");
    tm_nearest_offer(&nearest, "stat", "stats");
    tm_nearest_offer(&nearest, "stat", "steps");
    assert_string_equal(nearest.word, "stats");
}

static void numbers_of_workers_are_auto_or_from_one_on(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        uint64_t number;
    } cases[] = {
        { "auto", true, 0 }, { "1", true, 1 },   { "100000", true, 100000 }, { "0", false, 0 },    { "", false, 0 },
        { "-1", false, 0 },  { "2x", false, 0 }, { "100001", false, 0 },     { "Auto", false, 0 },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_as(TM_OPTION_JOBS, cases[i].text, &options, &error),
                         cases[i].is_good ? TM_OK : TM_ERR_USAGE);
        if (cases[i].is_good)
            assert_int_equal(options.jobs, cases[i].number);
    }
}

static void shares_are_told_or_left_to_a_scheduler(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        struct tm_shard shard;
    } cases[] = {
        { "auto", true, { 0, 0, false } },
        { "auto/16", true, { 0, 16, false } },
        { "0/1", true, { 0, 1, true } },
        { "15/16", true, { 15, 16, true } },
        { "99999/100000", true, { 99999, 100000, true } },
        { "16/16", false, { 0, 0, false } },
        { "0/0", false, { 0, 0, false } },
        { "auto/0", false, { 0, 0, false } },
        { "0/100001", false, { 0, 0, false } },
        { "", false, { 0, 0, false } },
        { "1", false, { 0, 0, false } },
        { "/2", false, { 0, 0, false } },
        { "1/", false, { 0, 0, false } },
        { "1/2x", false, { 0, 0, false } },
        { "auto2", false, { 0, 0, false } },
        { "-1/2", false, { 0, 0, false } },
        { "1/2/3", false, { 0, 0, false } },
    };
    struct tm_options options;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tm_status st = read_as(TM_OPTION_SHARD, cases[i].text, &options, &error);

        assert_int_equal(st, cases[i].is_good ? TM_OK : TM_ERR_USAGE);
        if (st != TM_OK) {
            assert_true(cases[i].text[0] == '\0' || error.hint[0] != '\0');
            continue;
        }
        assert_int_equal(options.shard.index, cases[i].shard.index);
        assert_int_equal(options.shard.count, cases[i].shard.count);
        assert_int_equal(options.shard.is_index_told, cases[i].shard.is_index_told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_obeys_the_naming_rule),
        cmocka_unit_test(names_elsewhere_are_those_of_the_option),
        cmocka_unit_test(every_default_can_be_read),
        cmocka_unit_test(numbers_of_workers_are_auto_or_from_one_on),
        cmocka_unit_test(shares_are_told_or_left_to_a_scheduler),
        cmocka_unit_test(sizes_are_read_exactly),
        cmocka_unit_test(times_are_read_exactly),
        cmocka_unit_test(steps_are_a_word_or_a_range),
        cmocka_unit_test(formats_are_bits_in_the_order_of_the_words),
        cmocka_unit_test(parts_end_where_they_are_told_to),
        cmocka_unit_test(words_numbers_and_flags_have_bounds),
        cmocka_unit_test(messages_name_the_value_and_the_place),
        cmocka_unit_test(near_words_are_suggested),
        cmocka_unit_test(the_nearest_of_several_words_wins),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
