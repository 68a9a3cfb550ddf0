/* SPDX-License-Identifier: Apache-2.0 */
/* Filters as people type them, and the patterns in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/options.h"
#include "pipeline/record.h"
#include "pipeline/strings.h"

static const int64_t second = INT64_C(1000000000000);

static tm_status read_one(struct tm_filter *filter, const char *text, struct tm_error *error)
{
    *filter = (struct tm_filter){ .count = 0 };
    *error = (struct tm_error){ .status = TM_OK };
    return tm_filter_read(filter, text, "--filter", error);
}

static void terms_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        enum tm_filter_kind kind;
        int64_t begin, end;
        const char *value; /* NULL = none is kept */
    } cases[] = {
        { "time=1.5s:2s", TM_FILTER_TIME, 1500000000000, 2000000000000, NULL },
        { "time=:7ps", TM_FILTER_TIME, 0, 7, NULL },
        { "time=1ms:", TM_FILTER_TIME, 1000000000, INT64_MAX, NULL },
        { "time=0:1ns", TM_FILTER_TIME, 0, 1000, NULL },
        { "step=3:7", TM_FILTER_STEP, 3, 7, NULL },
        { "step=3", TM_FILTER_STEP, 3, 4, NULL },
        { "step=3:", TM_FILTER_STEP, 3, INT64_MAX, NULL },
        { "step=:3", TM_FILTER_STEP, 0, 3, NULL },
        { "step=9223372036854775806", TM_FILTER_STEP, INT64_MAX - 1, INT64_MAX, NULL },
        { "min=10us", TM_FILTER_MIN, 10000000, 0, NULL },
        { "device=gpu", TM_FILTER_DEVICE, 0, 0, "gpu" },
        { "device=tpu:12", TM_FILTER_DEVICE, 0, 0, "tpu:12" },
        { "device=host", TM_FILTER_DEVICE, 0, 0, "host" },
        { "device=a/b/cpu:0", TM_FILTER_DEVICE, 0, 0, "a/b/cpu:0" },
        { "name=fusion*", TM_FILTER_NAME, 0, 0, "fusion*" },
        { "name==x", TM_FILTER_NAME, 0, 0, "=x" },
        { "name!=*a", TM_FILTER_NOT_NAME, 0, 0, "*a" },
        { "track=Stream #[0-9]", TM_FILTER_TRACK, 0, 0, "Stream #[0-9]" },
        { "class=kernel", TM_FILTER_CLASS, TM_CLASS_KERNEL, 0, "kernel" },
        { "class=tpu_op", TM_FILTER_CLASS, TM_CLASS_TPU_OP, 0, "tpu_op" },
        { "class!=python", TM_FILTER_NOT_CLASS, TM_CLASS_PYTHON, 0, "python" },
        { "min.python=100us", TM_FILTER_MIN_CLASS, 100000000, TM_CLASS_PYTHON, NULL },
        { "within=train*", TM_FILTER_AROUND, 0, 0, "train*" },
        { "around=save", TM_FILTER_AROUND, 1000000000, 0, "save" },
        { "around=5us:save", TM_FILTER_AROUND, 5000000, 0, "save" },
        { "around=std::save", TM_FILTER_AROUND, 1000000000, 0, "std::save" },
    };
    struct tm_filter filter;
    struct tm_error error;

    (void)state;
    assert_true(cases[0].end == 2 * second);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_filter_term *const term = &filter.terms[0];

        assert_int_equal(read_one(&filter, cases[i].text, &error), TM_OK);
        assert_int_equal(filter.count, 1);
        assert_int_equal(term->kind, cases[i].kind);
        assert_int_equal(term->begin, cases[i].begin);
        assert_int_equal(term->end, cases[i].end);
        assert_true((term->text == NULL) == (cases[i].value == NULL));
        if (cases[i].value)
            assert_string_equal(term->text, cases[i].value);
    }
}

static void what_is_no_filter_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        { "", "not a filter" },
        { "time", "not a filter" },
        { "Name=x", "not a filter" },
        { "color=red", "not a filter" },
        { "time=", "not a time range" },
        { "time=:", "not a time range" },
        { "time=5s", "not a time range" },
        { "time=2s:1s", "the range is empty" },
        { "time=1s:1s", "the range is empty" },
        { "time=1:2", "no unit" },
        { "time=1s:2s:3s", "unit" },
        { "time=-1s:2s", "not a time" },
        { "time=1s:99999999999s", "106 days" },
        { "step=", "neither a step" },
        { "step=:", "neither a step" },
        { "step=x", "neither a step" },
        { "step=7:3", "the range is empty" },
        { "step=99999999999999999999", "neither a step" },
        { "step=18446744073709551615", "the range is empty" },
        { "min=", "not a time" },
        { "min=10", "no unit" },
        { "device=", "not a device" },
        { "device=gpu:", "not a device" },
        { "device=gpu:x", "not a device" },
        { "device=host:0", "not a device" },
        { "device=/gpu:0", "not a device" },
        { "device=gpux", "not a device" },
        { "name=", "empty" },
        { "name=[a", "not closed" },
        { "track=a\\", "follows" },
        { "class=kernels", "no such class" },
        { "class=unresolved", "no such class" },
        { "class=", "no such class" },
        { "min.=1us", "no such class" },
        { "min.python", "no class and time" },
        { "min.pythons=1us", "no such class" },
        { "min.python=1", "no unit" },
        { "within=", "no name" },
        { "around=", "no name" },
        { "around=5us:", "no name" },
        { "within=[a", "not closed" },
    };
    struct tm_filter filter;
    struct tm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_one(&filter, cases[i].text, &error), TM_ERR_USAGE);
        assert_int_equal(filter.count, 0);
        if (!strstr(error.what, cases[i].reason))
            fail_msg("'%s': %s", cases[i].text, error.what);
    }
    assert_int_equal(read_one(&filter, "class=kernell", &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.hint, "class=kernel"));
}

static void there_are_at_most_so_many(void **state)
{
    struct tm_filter filter = { .count = 0 };
    struct tm_error error = { .status = TM_OK };

    (void)state;
    for (int i = 0; i < TM_FILTER_TERMS; i++)
        assert_int_equal(tm_filter_read(&filter, "name=x", "--filter", &error), TM_OK);
    assert_int_equal(tm_filter_read(&filter, "name=x", "--filter", &error), TM_ERR_USAGE);
    assert_int_equal(filter.count, TM_FILTER_TERMS);
}

static void patterns_fit_whole_texts(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        { "a", "a", true },
        { "a", "ab", false },
        { "a", "", false },
        { "*", "", true },
        { "**", "anything", true },
        { "fusion*", "fusion.12", true },
        { "fusion*", "a fusion", false },
        { "*fusion", "loop_fusion", true },
        { "*a*b*c", "xxaxxbxxbxxc", true },
        { "*a*b*c", "xxaxxcxxb", false },
        { "?", "a", true },
        { "?", "\xc2\xb5", true },
        { "?", "\xff", true },
        { "??", "\xc2\xb5", false },
        { "[a-c]x", "bx", true },
        { "[a-c]x", "dx", false },
        { "[!a-c]x", "dx", true },
        { "[!a-c]x", "ax", false },
        { "[]]", "]", true },
        { "[]-a]", "_", true },
        { "[a-]", "-", true },
        { "\\*", "*", true },
        { "\\*", "a", false },
        { "\\[a]", "[a]", true },
        { "a\\\\[b]", "a\\b", true },
        { "*[0-9]", "Stream #7", true },
        { "/dev*", "/device:GPU:0", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_null(tm_glob_wrong(cases[i].pattern));
        if (tm_glob_fits(cases[i].pattern, cases[i].text, strlen(cases[i].text)) != cases[i].fits)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
    }
    assert_true(tm_glob_fits("a*c", "a\0c", 3));
    assert_non_null(tm_glob_wrong(""));
    assert_non_null(tm_glob_wrong("["));
    assert_non_null(tm_glob_wrong("[]"));
    assert_non_null(tm_glob_wrong("[!]"));
    assert_non_null(tm_glob_wrong("\\\\\\"));
    assert_null(tm_glob_wrong("\\["));
}

/* A pattern that would take for ever where every star is tried. */
static void many_stars_end_soon(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_false(tm_glob_fits("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, sizeof(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_read_exactly),    cmocka_unit_test(what_is_no_filter_is_refused_with_its_reason),
        cmocka_unit_test(there_are_at_most_so_many), cmocka_unit_test(patterns_fit_whole_texts),
        cmocka_unit_test(many_stars_end_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
