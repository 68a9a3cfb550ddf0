/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "pipeline/strings.h"
#include "tests/support/writer_rig.h"

static struct writer_rig rig;
static struct tm_run run;
static struct tm_out_row process, thread, other;

static const struct tm_writer_options plain = { .args = TM_ARGS_ALL };

static void make_rows(void)
{
    /* clang-format off */
    process = (struct tm_out_row){ .uuid = 1, .sort = TM_OUT_PROCESS, .pid = 7, .name = rig_name(&rig, "P"),
                                   .order = 2 };
    /* clang-format on */
    thread = (struct tm_out_row){ .uuid = 2,
                                  .parent = 1,
                                  .sort = TM_OUT_THREAD,
                                  .pid = 7,
                                  .tid = 9,
                                  .name = rig_name(&rig, "T"),
                                  .order = INT64_MAX };
    other = (struct tm_out_row){ .uuid = 3,
                                 .parent = 1,
                                 .sort = TM_OUT_LANE,
                                 .pid = 7,
                                 .tid = 10,
                                 .name = rig_name(&rig, "T"),
                                 .order = INT64_MIN };
    rig.writer->type->row(rig.writer, &process);
    rig.writer->type->row(rig.writer, &thread);
    rig.writer->type->row(rig.writer, &other);
}

static void open_with(const struct tm_writer_options *options)
{
    test_run_init(&run);
    assert_int_equal(rig_open(&rig, &run, &tm_chrome_json_writer, options), TM_OK);
    make_rows();
}

static void close_rig(void)
{
    rig_close(&rig);
    assert_ledger_is_even(&run);
}

static struct tm_out_event span(const struct tm_out_row *row, int64_t start_ps, int64_t end_ps, const char *name)
{
    return (struct tm_out_event){ .row = row,
                                  .start_ps = start_ps,
                                  .end_ps = end_ps,
                                  .whole_begin_ps = start_ps,
                                  .whole_end_ps = end_ps,
                                  .name = rig_name(&rig, name) };
}

static void put_end(const struct tm_out_event *event)
{
    rig.writer->type->end(rig.writer, event);
}

/* The file up to its end, and whether the line is in it. */
static void finish(void)
{
    assert_int_equal(rig_finish(&rig), TM_OK);
    assert_int_equal(rig.raw_bytes, rig.length);
    assert_true(tm_utf8_is_valid(rig.text, rig.length));
    assert_memory_equal(rig.text + rig.length - 4, "\n]}\n", 4);
}

static void assert_has(const char *text)
{
    if (!strstr(rig.text, text))
        fail_msg("not there: %s\n in: %s", text, rig.text);
}

static void an_empty_trace_is_a_document(void **state)
{
    const struct tm_out_fact facts[] = { { "host", "a\"b" }, { "origin_us", "twice" }, { "host", "twice" } };
    const struct tm_writer_options options = { .epoch_ns = 1666382280874284123, .facts = facts, .fact_count = 3 };

    (void)state;
    test_run_init(&run);
    assert_int_equal(rig_open(&rig, &run, &tm_chrome_json_writer, &options), TM_OK);
    finish();
    assert_string_equal(rig.text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"origin_us\":1666382280874284.123,"
                                  "\"host\":\"a\\\"b\"},\"traceEvents\":[\n]}\n");
    close_rig();
}

static void rows_are_named_and_ordered(void **state)
{
    (void)state;
    open_with(&plain);
    finish();
    assert_has("[\n{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"P\"}},\n"
               "{\"ph\":\"M\",\"pid\":7,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":2}},\n"
               "{\"ph\":\"M\",\"pid\":7,\"tid\":9,\"name\":\"thread_name\",\"args\":{\"name\":\"T\"}},\n"
               "{\"ph\":\"M\",\"pid\":7,\"tid\":9,\"name\":\"thread_sort_index\",\"args\":"
               "{\"sort_index\":2147483647}},\n");
    assert_has("\"tid\":10,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":-2147483648}}\n]}");
    close_rig();
}

static void a_group_is_a_process(void **state)
{
    struct tm_out_row group;

    (void)state;
    open_with(&plain);
    group = (struct tm_out_row){ .uuid = 4, .sort = TM_OUT_GROUP, .pid = 8, .name = rig_name(&rig, "G") };
    rig.writer->type->row(rig.writer, &group);
    finish();
    assert_has("{\"ph\":\"M\",\"pid\":8,\"name\":\"process_name\",\"args\":{\"name\":\"G\"}},\n");
    close_rig();
}

static void begin_and_end_are_rounded_and_the_length_is_their_difference(void **state)
{
    static const struct {
        int64_t start_ps, end_ps;
        const char *text;
    } table[] = {
        { 0, 0, "\"ts\":0,\"dur\":0," },
        { 499, 500, "\"ts\":0,\"dur\":0.001," },
        { 1000500, 2001000, "\"ts\":1.001,\"dur\":1," },
        { 1500000, 3020000, "\"ts\":1.5,\"dur\":1.52," },
        { 7999600, 8000000, "\"ts\":8,\"dur\":0," },
        { INT64_MAX - 1, INT64_MAX, "\"ts\":9223372036854.776,\"dur\":0," },
        { 4503599627370497000, 4503599627370498000, "\"ts\":4503599627370.497,\"dur\":0.001," },
    };

    (void)state;
    open_with(&plain);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct tm_out_event event = span(&thread, table[i].start_ps, table[i].end_ps, "e");

        put_end(&event);
    }
    finish();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_has(table[i].text);
    assert_has("{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":0,\"dur\":0,\"name\":\"e\"}");
    close_rig();
}

static void put_some_arguments(struct tm_arguments_builder *b)
{
    tm_put_event_text(b, TM_ARGUMENT_CATEGORY, "no argument", 11);
    tm_put_null(b, rig_name(&rig, "null"));
    tm_put_bool(b, rig_name(&rig, "yes"), true);
    tm_put_bool(b, rig_name(&rig, "no"), false);
    tm_put_int(b, rig_name(&rig, "least"), INT64_MIN);
    tm_put_uint(b, rig_name(&rig, "most"), INT64_MAX);
    tm_put_uint(b, rig_name(&rig, "past"), UINT64_MAX);
    tm_put_double(b, rig_name(&rig, "nan"), NAN);
    tm_put_double(b, rig_name(&rig, "inf"), -INFINITY);
    tm_put_double(b, rig_name(&rig, "third"), 1.0 / 3);
    tm_put_double(b, rig_name(&rig, "two"), 2);
    tm_put_double(b, rig_name(&rig, "huge"), 1e300);
    tm_put_text(b, rig_name(&rig, "short"), "\"\\\n\x01/", 5);
    tm_put_text(b, rig_name(&rig, "long"), "a text that is too long to stay in the list", 43);
    tm_put_text(b, 0, "", 0);
}

static void arguments_keep_their_kind(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_out_event event = span(&thread, 0, 1000, "e");
    struct tm_arguments_builder *const b = rig_arguments(&rig);

    put_some_arguments(b);
    event.own = tm_arguments_end(b);
    event.category = rig_name(&rig, "c");
    put_end(&event);
    finish();
    assert_has(",\"name\":\"e\",\"cat\":\"c\",\"args\":{\"null\":null,\"yes\":true,\"no\":false,"
               "\"least\":-9223372036854775808,\"most\":9223372036854775807,\"past\":\"18446744073709551615\","
               "\"nan\":\"NaN\",\"inf\":\"-Infinity\","
               "\"third\":0.333333333333333"); /* and its last digits */
    assert_has(",\"two\":2.0,\"huge\":1e+300,\"short\":\"\\\"\\\\\\n\\u0001/\","
               "\"long\":\"a text that is too long to stay in the list\",\"\":\"\"}}");
    close_rig();
}

static void numbers_stand_as_they_are_if_every_reader_takes_them(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
    } table[] = {
        { "0", true },
        { "-0", true },
        { "-0.0", true },
        { "1.50", true },
        { "1e5", true },
        { "1E+05", true },
        { "123456789012345678.25", true },
        { "1e-999", true },
        { "1e307", true },
        { "0.1e-7", true },
        { "", false },
        { "-", false },
        { "01", false },
        { "+1", false },
        { ".5", false },
        { "1.", false },
        { "1e", false },
        { "1e+", false },
        { "1e999", false },
        { "1e99999999999999999999", false },
        { "NaN", false },
        { "0x10", false },
        { "1234567890123456789", false },
        { "1 ", false },
        { "1,2", false },
        { "1e5x", false },
        { "-Infinity", false },
    };
    char want[100];

    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "e");

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        tm_put_number(b, rig_name(&rig, "k"), table[i].text, strlen(table[i].text));
    event.own = tm_arguments_end(b);
    put_end(&event);
    finish();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *const quote = table[i].is_good ? "" : "\"";

        (void)snprintf(want, sizeof(want), ",\"k (%zu)\":%s%s%s", i + 1, quote, table[i].text, quote);
        if (i)
            assert_has(want);
    }
    assert_has("\"args\":{\"k\":0,");
    close_rig();
}

static void long_fractions_are_written_with_an_exponent(void **state)
{
    static const struct {
        const char *text, *want;
    } table[] = {
        { "0.000434027777777777", "0.000434027777777777" },
        { "0.00043402777777777775", "4.3402777777777775e-4" },
        { "-0.00043402777777777775e2", "-4.3402777777777775e-2" },
        { "0.00000000000000000001", "1e-20" },
        { "-0.000000000000000000000", "0.0" },
        { "0.1234567890123456789", "1.234567890123456789e-1" },
        { "0.12345678901234567890123", "1.234567890123456789e-1" },
        { "12.1234567890123456789e-3", "12.123456789012345678e-3" },
        { "0.0000000000000000000000000000e5", "0.0" },
    };
    char want[100];

    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "e");

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        tm_put_number(b, rig_name(&rig, "k"), table[i].text, strlen(table[i].text));
    tm_put_double(b, rig_name(&rig, "double"), 0.00043402777777777775);
    event.own = tm_arguments_end(b);
    put_end(&event);
    finish();
    for (size_t i = 1; i < sizeof(table) / sizeof(table[0]); i++) {
        (void)snprintf(want, sizeof(want), ",\"k (%zu)\":%s,\"", i + 1, table[i].want);
        assert_has(want);
    }
    assert_has("\"double\":4.3402777777777775e-4");
    close_rig();
}

static void a_text_never_ends_with_a_backslash(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "C:\\tmp\\");

    tm_put_text(b, rig_name(&rig, "\\"), "\\\\", 2);
    event.own = tm_arguments_end(b);
    put_end(&event);
    finish();
    assert_has("\"name\":\"C:\\\\tmp\\u005c\"");
    assert_has("{\"\\u005c\":\"\\\\\\u005c\"}");
    close_rig();
}

static void no_key_comes_twice(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "e");
    static const char *const keys[] = { "a", "a (2)", "a", "a", "\xff", "\xef\xbf\xbd", "tracemill_unfinished" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        tm_put_int(b, rig_name(&rig, keys[i]), (int64_t)i);
    tm_put_object(b, rig_name(&rig, "o"));
    tm_put_int(b, rig_name(&rig, "a"), 1);
    tm_put_int(b, rig_name(&rig, "a"), 2);
    tm_put_close(b);
    event.own = event.common = tm_arguments_end(b);
    event.marks = TM_OUT_UNFINISHED;
    put_end(&event);
    finish();
    assert_has("{\"tracemill_unfinished\":true,\"a\":0,\"a (2)\":1,\"a (3)\":2,\"a (4)\":3,\"\xef\xbf\xbd\":4,"
               "\"\xef\xbf\xbd (2)\":5,\"tracemill_unfinished (2)\":6,\"o\":{\"a\":1,\"a (2)\":2},\"a (5)\":0,"
               "\"a (2) (2)\":1,\"a (6)\":2,");
    close_rig();
}

/* One argument per letter: a number, or a text where it is a capital. */
static void put_letters(const char *letters, int64_t first)
{
    struct tm_out_event event = span(&thread, 1000, 2000, "alike");
    struct tm_arguments_builder *const b = rig_arguments(&rig);

    for (int64_t i = 0; letters[i]; i++) {
        const char key[] = { letters[i], '\0' };

        if (*key >= 'a')
            tm_put_int(b, rig_name(&rig, key), first + i);
        else
            tm_put_text(b, rig_name(&rig, key), first % 2 ? "odd" : "even", first % 2 ? 3 : 4);
    }
    event.own = tm_arguments_end(b);
    put_end(&event);
}

/* Arguments are compared with those of the event before of that name: with fewer keys, more, and others. */
static void events_of_a_name_may_differ(void **state)
{
    (void)state;
    open_with(&plain);
    put_letters("abC", 1);
    put_letters("abC", 1000000);
    put_letters("ab", -7);
    put_letters("abCd", 2);
    put_letters("abd", 3);  /* others from the third one on */
    put_letters("abab", 4); /* those that were alike are known when they come again */
    put_letters("ba", 5);
    put_letters("", 6);
    put_letters("ba", 7);
    finish();
    assert_has("\"args\":{\"a\":1,\"b\":2,\"C\":\"odd\"}");
    assert_has("\"args\":{\"a\":1000000,\"b\":1000001,\"C\":\"even\"}");
    assert_has("\"args\":{\"a\":-7,\"b\":-6}");
    assert_has("\"args\":{\"a\":2,\"b\":3,\"C\":\"even\",\"d\":5}");
    assert_has("\"args\":{\"a\":3,\"b\":4,\"d\":5}");
    assert_has("\"args\":{\"a\":4,\"b\":5,\"a (2)\":6,\"b (2)\":7}");
    assert_has("\"args\":{\"b\":5,\"a\":6}");
    assert_has("\"args\":{\"b\":7,\"a\":8}");
    close_rig();
}

/* More keys than are known at once. */
static void many_keys_stay_different(void **state)
{
    enum { KEYS = 8000 };
    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "e");
    char key[32];
    size_t colons = 0;

    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(key, sizeof(key), "%s (%d)", i % 2 ? "b" : "a", i / 2);
        tm_put_null(b, rig_name(&rig, i % 3 ? "same" : key));
    }
    event.own = tm_arguments_end(b);
    put_end(&event);
    finish();
    const char *at = strstr(rig.text, "\"args\":{\"a (0)\"");

    assert_non_null(at);
    char **const seen = calloc(KEYS, sizeof(*seen));

    for (char *c = strtok(rig.text + (at - rig.text) + 8, ","); c && colons < KEYS; c = strtok(NULL, ","))
        seen[colons++] = c;
    assert_int_equal(colons, KEYS);
    for (size_t i = 0; i < KEYS; i += 97)
        for (size_t j = 0; j < KEYS; j++)
            assert_true(i == j || strcmp(seen[i], seen[j]) != 0);
    free(seen);
    close_rig();
}

static void the_deepest_nesting_is_closed(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = span(&thread, 0, 1000, "e");
    char want[300] = "\"args\":{\"k\":";

    for (int i = 0; i < TM_ARGUMENTS_DEEPEST; i++) {
        tm_put_array(b, rig_name(&rig, "k"));
        strcat(want, "[");
    }
    strcat(want, "1,\"x\"");
    for (int i = 0; i < TM_ARGUMENTS_DEEPEST; i++)
        strcat(want, "]");
    tm_put_int(b, 0, 1);
    tm_put_text(b, 0, "x", 1);
    event.own = tm_arguments_end(b);
    put_end(&event);
    finish();
    strcat(want, "}}");
    assert_has(want);
    close_rig();
}

/* A list by another hand. */
static void a_damaged_list_does_no_harm(void **state)
{
    uint64_t seed = 11;

    (void)state;
    open_with(&plain);
    struct tm_out_event event = span(&thread, 0, 1000, "e");

    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[200];
        const size_t length = (size_t)(next_number(&seed) % sizeof(bytes));

        for (size_t i = 0; i < length; i++) /* keys that are known, and lists inside of lists */
            bytes[i] = (uint8_t)(i % 6 < 2 ? next_number(&seed) % 16 % 11 : next_number(&seed) % 7 == 0);
        event.own = (struct tm_arguments){ bytes, length };
        rig.writer->type->end(rig.writer, &event);
    }
    finish();
    close_rig();
}

static void only_what_is_asked_for_is_written(void **state)
{
    static const char *const want[] = {
        [TM_ARGS_ALL] = "\"args\":{\"hlo_op\":{\"x\":1},\"x\":2}}",
        [TM_ARGS_ESSENTIAL] = "\"args\":{\"hlo_op\":{\"x\":1}}}",
        [TM_ARGS_NONE] = "\"name\":\"e\"}",
    };

    (void)state;
    for (int level = TM_ARGS_ALL; level <= TM_ARGS_NONE; level++) {
        const struct tm_writer_options options = { .args = (enum tm_args_level)level };

        open_with(&options);
        struct tm_arguments_builder *const b = rig_arguments(&rig);
        struct tm_out_event event = span(&thread, 0, 1000, "e");

        tm_put_object(b, rig_name(&rig, "hlo_op"));
        tm_put_int(b, rig_name(&rig, "x"), 1);
        tm_put_close(b);
        tm_put_int(b, rig_name(&rig, "x"), 2);
        event.own = tm_arguments_end(b);
        put_end(&event);
        event.marks = TM_OUT_DERIVED;
        event.name = rig_name(&rig, "derived");
        put_end(&event);
        finish();
        assert_has(want[level]);
        assert_has("\"name\":\"derived\",\"args\":{\"hlo_op\":{\"x\":1},\"x\":2}}");
        close_rig();
    }
}

static void cuts_are_marked(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_out_event event = span(&thread, 2000, 5000, "e");

    event.whole_begin_ps = 500;
    event.whole_end_ps = 9499;
    event.marks = TM_OUT_CUT_BEGIN;
    put_end(&event);
    event.marks = TM_OUT_CUT_END;
    event.name = rig_name(&rig, "e2");
    put_end(&event);
    event.marks = TM_OUT_CUTS | TM_OUT_UNFINISHED;
    put_end(&event);
    finish();
    assert_has(
        "\"name\":\"e\",\"args\":{\"tracemill_cut\":\"begin\",\"tracemill_begin_ns\":1,\"tracemill_dur_ns\":8}}");
    assert_has("\"name\":\"e2\",\"args\":{\"tracemill_cut\":\"end\",");
    assert_has("{\"tracemill_cut\":\"both\",\"tracemill_begin_ns\":1,"
               "\"tracemill_dur_ns\":8,\"tracemill_unfinished\":true}");
    close_rig();
}

static void an_outer_span_stands_before_an_equal_inner_one(void **state)
{
    (void)state;
    open_with(&plain);
    const struct tm_out_event inner = span(&thread, 10200, 20100, "inner"), far = span(&other, 10000, 20200, "far"),
                              outer = span(&thread, 10000, 20300, "outer"),
                              around = span(&thread, 9900, 20400, "around"),
                              longer = span(&thread, 9000, 20400, "longer"), last = span(&thread, 30000, 40000, "last");

    put_end(&inner);
    put_end(&far);
    put_end(&outer);
    put_end(&around);
    put_end(&longer);
    put_end(&last);
    finish();
    assert_has("\"name\":\"around\"},\n"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":0.01,\"dur\":0.01,\"name\":\"outer\"},\n"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":0.01,\"dur\":0.01,\"name\":\"inner\"},\n"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":10,\"ts\":0.01,\"dur\":0.01,\"name\":\"far\"},\n"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":0.009,\"dur\":0.011,\"name\":\"longer\"},\n");
    close_rig();
}

static void of_spans_that_begin_together_the_longer_one_stands_first(void **state)
{
    (void)state;
    open_with(&plain);
    const struct tm_out_event inner = span(&thread, 10000, 20100, "inner"),
                              outer = span(&thread, 10000, 20200, "outer");

    put_end(&inner);
    put_end(&outer);
    finish();
    assert_has("\"name\":\"outer\"},\n"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":0.01,\"dur\":0.01,\"name\":\"inner\"}");
    close_rig();
}

/* Equal spans whose lines are too long to wait for each other, and more of them than are remembered. */
static void what_cannot_wait_is_written_all_the_same(void **state)
{
    static char name[100000];
    size_t found = 0;

    (void)state;
    open_with(&plain);
    memset(name, 'n', sizeof(name) - 1);
    for (int i = 0; i < 12; i++) {
        const struct tm_out_event event = span(&thread, 10300 - i, 20000 + i, i % 2 ? name : "short");

        put_end(&event);
    }
    for (int i = 0; i < 3000; i++) {
        const struct tm_out_event event = span(&thread, 30300 - i / 10, 40000 + i / 10, "many");

        put_end(&event);
    }
    finish();
    for (const char *at = rig.text; (at = strstr(at, "{\"ph\":\"X\"")); at++)
        found++;
    assert_int_equal(found, 3012);
    close_rig();
}

static void arrows_come_out_of_the_first_span(void **state)
{
    (void)state;
    open_with(&plain);
    struct tm_out_event launch = span(&thread, 0, 100000, "launch"), work = span(&other, 20000, 30000, "work"),
                        alone = span(&thread, 50000, 60000, "alone");

    launch.flow = work.flow = 1;
    launch.begins_flow = true;
    put_end(&work);
    put_end(&alone);
    put_end(&launch);
    finish();
    assert_has("\"name\":\"work\",\"bind_id\":\"0x1\",\"flow_in\":true,\"flow_out\":true}");
    assert_has("\"name\":\"launch\",\"bind_id\":\"0x1\",\"flow_out\":true}");
    assert_has("\"name\":\"alone\"}");
    close_rig();
}

static void ends_of_arrows_of_the_file_are_written(void **state)
{
    (void)state;
    open_with(&plain);
    const struct tm_out_flow flow = { .row = &thread,
                                      .time_ps = 5000,
                                      .id = UINT64_MAX,
                                      .name = rig_name(&rig, "n"),
                                      .category = rig_name(&rig, "c"),
                                      .kind = TM_FLOW_BEGIN };
    struct tm_out_flow end = flow;

    rig.writer->type->flow(rig.writer, &flow);
    end.kind = TM_FLOW_END;
    end.is_enclosed = true;
    end.category = 0;
    rig.writer->type->flow(rig.writer, &end);
    end.kind = TM_FLOW_STEP;
    rig.writer->type->flow(rig.writer, &end);
    finish();
    assert_has("{\"ph\":\"s\",\"pid\":7,\"tid\":9,\"ts\":0.005,\"id\":\"0xffffffffffffffff\","
               "\"name\":\"n\",\"cat\":\"c\"}");
    assert_has("{\"ph\":\"f\",\"pid\":7,\"tid\":9,\"ts\":0.005,\"id\":\"0xffffffffffffffff\","
               "\"name\":\"n\",\"bp\":\"e\"}");
    assert_has("{\"ph\":\"t\",");
    close_rig();
}

static void counters_and_instants_are_written(void **state)
{
    static const struct {
        const char *name, *text;
    } table[] = {
        { "GPU 0 bytes", "\"name\":\"GPU 0\",\"args\":{\"bytes\":5}}" },
        { "x", "\"name\":\"x\",\"args\":{\"value\":5}}" },
        { " x", "\"name\":\" x\",\"args\":{\"value\":5}}" },
        { "x ", "\"name\":\"x\",\"args\":{\"value\":5}}" },
        { "", "\"name\":\"\",\"args\":{\"value\":5}}" },
    };

    (void)state;
    open_with(&plain);
    struct tm_out_row row = { .uuid = 5, .parent = 1, .sort = TM_OUT_COUNTER, .pid = 7 };
    struct tm_out_counter counter = { .row = &row, .time_ps = 1000, .value = 5, .whole = 5, .is_whole = true };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        row.name = rig_name(&rig, table[i].name);
        rig.writer->type->row(rig.writer, &row);
        rig.writer->type->counter(rig.writer, &counter);
    }
    counter.is_whole = false;
    counter.value = 1.8446744073709552e19;
    rig.writer->type->counter(rig.writer, &counter);
    struct tm_out_event instant = span(&thread, 3000, 3000, "now");

    instant.is_instant = true;
    rig.writer->type->instant(rig.writer, &instant);
    finish();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_has(table[i].text);
    assert_has("{\"ph\":\"C\",\"pid\":7,\"ts\":0.001,\"name\":\"\",\"args\":{\"value\":1.8446744073709552e+19}}");
    assert_has("{\"ph\":\"i\",\"pid\":7,\"tid\":9,\"ts\":0.003,\"name\":\"now\",\"s\":\"t\"}");
    close_rig();
}

/* Names of any bytes, short and long, as names and as texts. */
static void hostile_names_become_strict_text(void **state)
{
    static char name[20000];
    uint64_t seed = 5;

    (void)state;
    open_with(&plain);
    for (int round = 0; round < 400; round++) {
        const size_t length = (size_t)(next_number(&seed) % (round % 50 ? 120 : sizeof(name)));

        for (size_t i = 0; i < length; i++)
            name[i] = (char)(next_number(&seed) >> (round % 2 ? 56 : 57));
        struct tm_arguments_builder *const b = rig_arguments(&rig);
        struct tm_out_event event = span(&thread, round * 1000, round * 1000 + 1000, "e");

        event.name = rig_text(&rig, name, length);
        tm_put_text(b, event.name, name, length);
        event.own = tm_arguments_end(b);
        event.common = event.own;
        put_end(&event);
    }
    finish();
    for (size_t i = 0; i < rig.length; i++)
        assert_true((unsigned char)rig.text[i] >= ' ' || rig.text[i] == '\n');
    close_rig();
}

static tm_status write_a_little(struct tm_run *of)
{
    tm_status status = rig_open(&rig, of, &tm_chrome_json_writer, &plain);

    if (status == TM_OK) {
        struct tm_out_row row = { .uuid = 1, .sort = TM_OUT_PROCESS, .pid = 1 };

        rig.writer->type->row(rig.writer, &row);
        status = rig_finish(&rig);
    }
    rig_close(&rig);
    return status;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(write_a_little);
}

static void a_full_disk_is_an_error(void **state)
{
    struct rlimit old, tiny;

    (void)state;
    open_with(&plain);
    const struct tm_out_event event = span(&thread, 0, 1000, "e");

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = (struct rlimit){ .rlim_cur = 100000, .rlim_max = old.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    for (int i = 0; i < 100000 && !tm_failed(&run); i++)
        rig.writer->type->end(rig.writer, &event);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(run.error.status, TM_ERR_OUTPUT);
    close_rig();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_trace_is_a_document),
        cmocka_unit_test(rows_are_named_and_ordered),
        cmocka_unit_test(a_group_is_a_process),
        cmocka_unit_test(begin_and_end_are_rounded_and_the_length_is_their_difference),
        cmocka_unit_test(arguments_keep_their_kind),
        cmocka_unit_test(numbers_stand_as_they_are_if_every_reader_takes_them),
        cmocka_unit_test(long_fractions_are_written_with_an_exponent),
        cmocka_unit_test(a_text_never_ends_with_a_backslash),
        cmocka_unit_test(no_key_comes_twice),
        cmocka_unit_test(events_of_a_name_may_differ),
        cmocka_unit_test(many_keys_stay_different),
        cmocka_unit_test(the_deepest_nesting_is_closed),
        cmocka_unit_test(a_damaged_list_does_no_harm),
        cmocka_unit_test(only_what_is_asked_for_is_written),
        cmocka_unit_test(cuts_are_marked),
        cmocka_unit_test(an_outer_span_stands_before_an_equal_inner_one),
        cmocka_unit_test(of_spans_that_begin_together_the_longer_one_stands_first),
        cmocka_unit_test(what_cannot_wait_is_written_all_the_same),
        cmocka_unit_test(arrows_come_out_of_the_first_span),
        cmocka_unit_test(ends_of_arrows_of_the_file_are_written),
        cmocka_unit_test(counters_and_instants_are_written),
        cmocka_unit_test(hostile_names_become_strict_text),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests_name("chrome_json_writer", tests, NULL, NULL);
}
