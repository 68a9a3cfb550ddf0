/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/chrome/chrome_reader.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/chrome_reading.h"
#include "tests/support/memory_file.h"

/* --- reading a text --- */

enum { MOST_TEXT = 1 << 20 };

static void open_text(struct reading *r, const char *text)
{
    open_reading(r, text, strlen(text), NULL);
}

static const struct tm_chrome_event *next(struct reading *r)
{
    const struct tm_chrome_event *event;

    assert_int_equal(tm_chrome_next(r->reader, &event), TM_OK);
    return event;
}

static const struct tm_chrome_event *only_event(struct reading *r, const char *text)
{
    const struct tm_chrome_event *event;

    open_text(r, text);
    event = next(r);
    assert_non_null(event);
    return event;
}

/* Reads what is left.  out: how many events */
static int read_rest(struct reading *r)
{
    int count = 0;

    while (next(r))
        count++;
    return count;
}

static uint64_t tally(const struct reading *r, enum tm_tally which)
{
    return r->run.tallies.count[which];
}

static void assert_no_problem(const struct reading *r)
{
    uint64_t at;
    const char *const problem = tm_chrome_problem(r->reader, &at);

    if (problem)
        fail_msg("%s (byte %llu)", problem, (unsigned long long)at);
}

static void assert_problem(const struct reading *r, const char *wanted, uint64_t wanted_at)
{
    uint64_t at;
    const char *const problem = tm_chrome_problem(r->reader, &at);

    assert_non_null(problem);
    assert_string_equal(problem, wanted);
    assert_int_equal(at, wanted_at);
}

static void assert_text(struct tm_json_slice text, const char *wanted)
{
    assert_int_equal(text.length, strlen(wanted));
    if (text.length > 0)
        assert_memory_equal(text.at, wanted, text.length);
}

/* --- members --- */

static void the_members_of_an_event_are_read(void **state)
{
    struct reading r;
    const struct tm_chrome_event *const e = only_event(
        &r,
        " [{\"cat\":\"kernel\",\"name\":\"gemm\",\"ph\":\"X\",\"pid\":3,\"tid\":\"stream 7\",\"ts\":12.5,\"dur\":-2,"
        "\"id\":18446744073709551615,\"bp\":\"e\",\"s\":\"t\",\"tts\":[{}],\"args\":{\"correlation\":9,\"grid\":[1,2,3]"
        ","
        "\"device\":\"0\",\"stream\":7}}]");

    (void)state;
    assert_int_equal(e->offset, 2);
    assert_int_equal(e->has, TM_CHROME_TS | TM_CHROME_DUR | TM_CHROME_NAME | TM_CHROME_CAT | TM_CHROME_ARGS |
                                 TM_CHROME_SCOPE | TM_CHROME_BIND_ENCLOSING | TM_CHROME_OTHERS);
    assert_int_equal(e->phase, 'X');
    assert_int_equal(e->scope, 't');
    assert_int_equal(e->ts.us, 12);
    assert_int_equal(e->ts.ps, 500000);
    assert_int_equal(e->dur.us, -2);
    assert_int_equal(e->pid.kind, TM_JSON_NUMBER);
    assert_int_equal(e->pid.number, 3);
    assert_int_equal(e->tid.kind, TM_JSON_TEXT);
    assert_text(e->tid.text, "stream 7");
    assert_true(e->id.is_unsigned);
    assert_int_equal((uint64_t)e->id.number, UINT64_MAX);
    assert_text(e->name, "gemm");
    assert_text(e->cat, "kernel");
    assert_text(e->args, "{\"correlation\":9,\"grid\":[1,2,3],\"device\":\"0\",\"stream\":7}");
    assert_int_equal(e->facts.ints[TM_STAT_CORRELATION_ID], 9);
    assert_int_equal(e->facts.ints[TM_STAT_DEVICE], 0);
    assert_int_equal(e->facts.texts[TM_STAT_DEVICE].length, 1);
    assert_memory_equal(e->facts.texts[TM_STAT_GRID].bytes, "[1,2,3]", 7);
    assert_null(next(&r));
    assert_no_problem(&r);
    assert_false(tally(&r, TM_TALLY_NESTED_ARGUMENT));
    close_reading(&r);
}

static void what_a_member_cannot_be_is_missing(void **state)
{
    struct reading r;
    const struct tm_chrome_event *const e = only_event(&r, "[{\"name\":[1],\"cat\":null,\"ph\":7,\"pid\":true,\"tid\":{"
                                                           "},\"ts\":true,\"dur\":\"x\",\"s\":\"q\",\"args\":[1],"
                                                           "\"id\":NaN,\"bp\":\"x\"}]");

    (void)state;
    assert_int_equal(e->has, TM_CHROME_OTHERS);
    assert_int_equal(e->phase, 0);
    assert_int_equal(e->scope, 0);
    assert_int_equal(e->pid.kind, TM_JSON_NO_ID);
    assert_int_equal(e->tid.kind, TM_JSON_NO_ID);
    assert_int_equal(e->id.kind, TM_JSON_NO_ID);
    assert_int_equal(tally(&r, TM_TALLY_BAD_NUMBER), 2);
    assert_int_equal(tally(&r, TM_TALLY_NAN_NUMBER), 1);
    assert_int_equal(e->facts.has, 0);
    close_reading(&r);
}

static void a_longer_phase_is_unknown(void **state)
{
    static const char *const phases[] = { "XY", "", "\\u0000", "\\u00e9" };
    char text[64];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{\"ph\":\"%s\"}]", phases[i]);
        assert_int_equal(only_event(&r, text)->phase, '?');
        close_reading(&r);
    }
}

static void the_id_is_the_first_of_four(void **state)
{
    static const struct {
        const char *members;
        int64_t id;
    } cases[] = {
        { "\"bind_id\":4", 4 },
        { "\"bind_id\":4,\"id2\":{\"global\":3}", 3 },
        { "\"id2\":{\"global\":3,\"x\":{},\"local\":2},\"bind_id\":4", 2 },
        { "\"id2\":{\"local\":2},\"id\":1,\"bind_id\":4", 1 },
        { "\"id2\":{\"local\":2},\"id2\":{\"global\":3}", 3 },
        { "\"id2\":{\"local\":2},\"id2\":7,\"bind_id\":4", 4 },
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{%s}]", cases[i].members);
        assert_int_equal(only_event(&r, text)->id.number, cases[i].id);
        close_reading(&r);
    }
}

static void ids_are_numbers_where_they_can_be(void **state)
{
    static const struct {
        const char *written;
        const char *text; /* NULL = the number */
        int64_t number;
    } cases[] = {
        { "0", NULL, 0 },
        { "\"0\"", NULL, 0 },
        { "-7", NULL, -7 },
        { "\"-7\"", NULL, -7 },
        { "12.0", NULL, 12 },
        { "1e2", NULL, 100 },
        { "\"012\"", "012", 0 },
        { "\"1e2\"", "1e2", 0 },
        { "\"-0\"", "-0", 0 },
        { "1.5", "1.5", 0 },
        { "\"\"", "", 0 },
        { "18446744073709551616", "18446744073709551616", 0 },
        { "-9223372036854775808", NULL, INT64_MIN },
        { "-9223372036854775809", "-9223372036854775809", 0 },
        { "\"0x1f\"", "0x1f", 0 },
        { "9223372036854775807", NULL, INT64_MAX },
        { "\"\\u0037\"", NULL, 7 },
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;
        const struct tm_chrome_event *e;

        (void)snprintf(text, sizeof(text), "[{\"tid\":%s}]", cases[i].written);
        e = only_event(&r, text);
        assert_int_equal(e->tid.kind, cases[i].text ? TM_JSON_TEXT : TM_JSON_NUMBER);
        if (cases[i].text)
            assert_text(e->tid.text, cases[i].text);
        else
            assert_int_equal(e->tid.number, cases[i].number);
        close_reading(&r);
    }
}

/* --- times --- */

static void times_are_exact(void **state)
{
    static const struct {
        const char *written;
        int64_t us;
        int32_t ps;
    } cases[] = {
        { "0", 0, 0 },
        { "-0", 0, 0 },
        { "123456789012345678", 123456789012345678, 0 },
        { "1234567890123456789", 1234567890123456789, 0 },
        { "9223372036854775807", INT64_MAX, 0 },
        { "9223372036854775807.999999", INT64_MAX, 999999 },
        { "1.5", 1, 500000 },
        { "7771111.8779999996", 7771111, 878000 },
        { "962334.41700000002", 962334, 417000 },
        { "0.0000005", 0, 1 },
        { "0.00000049999999999999999999", 0, 0 },
        { "0.9999995", 1, 0 },
        { "99.9999994", 99, 999999 },
        { "-0.25", -1, 750000 },
        { "-0.0000005", -1, 999999 },
        { "-5.25", -6, 750000 },
        { "-3", -3, 0 },
        { "9.9999999999999995e-07", 0, 1 },
        { "1e-06", 0, 1 },
        { "2.5E+1", 25, 0 },
        { "17672256000000005E-1", 1767225600000000, 500000 },
        { "1e18", 1000000000000000000, 0 },
        { "0e99999999999999999999", 0, 0 },
        { "1e-99999999999999999999", 0, 0 },
        { "1.000000000000000000000000000000000000000000000000000001", 1, 0 },
        { "\"123.5\"", 123, 500000 },
        { "\"1e3\"", 1000, 0 },
        { "1666382280874284.123456", 1666382280874284, 123456 },
        { "12345678.1234567", 12345678, 123457 },
        { "12345678.12345678", 12345678, 123457 },
        { "12345678.123456", 12345678, 123456 },
    };
    char text[160];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;
        const struct tm_chrome_event *e;

        (void)snprintf(text, sizeof(text), "[{\"dur\":%s,\"ts\" : %s }]", cases[i].written, cases[i].written);
        e = only_event(&r, text);
        assert_int_equal(e->has, TM_CHROME_TS | TM_CHROME_DUR);
        assert_int_equal(e->ts.us, cases[i].us);
        assert_int_equal(e->ts.ps, cases[i].ps);
        assert_int_equal(e->dur.us, cases[i].us);
        assert_int_equal(e->dur.ps, cases[i].ps);
        assert_int_equal(tally(&r, TM_TALLY_STRING_NUMBER), cases[i].written[0] == '"');
        assert_int_equal(tally(&r, TM_TALLY_EXPONENT_NUMBER), strpbrk(cases[i].written, "eE") != NULL);
        close_reading(&r);
    }
}

static void what_is_no_time_is_told(void **state)
{
    static const char *const written[] = { "NaN",    "Infinity", "-Infinity", "null",    "\"\"",   "\"1 \"", "\"0x10\"",
                                           "\"01\"", "[1]",      "{}",        "\"nan\"", "\"1.\"", "false" };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{\"dur\":%s}]", written[i]);
        assert_int_equal(only_event(&r, text)->has, 0);
        assert_int_equal(tally(&r, TM_TALLY_BAD_NUMBER), 1);
        assert_int_equal(tally(&r, TM_TALLY_NAN_NUMBER), 0);
        close_reading(&r);
    }
}

static void a_time_beyond_64_bits_is_told(void **state)
{
    static const char *const large[] = { "9223372036854775808", "1e19", "1e400", "9223372036854775807.9999996" };
    char text[160];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct reading r;
        const struct tm_chrome_event *e;

        (void)snprintf(text, sizeof(text), "[{\"dur\":%s,\"ts\":%s},{\"dur\":-%s}]", large[i], large[i], large[i]);
        e = only_event(&r, text);
        assert_int_equal(e->has, TM_CHROME_DUR | TM_CHROME_LONG_DUR);
        assert_int_equal(e->dur.us, INT64_MAX);
        assert_int_equal(tally(&r, TM_TALLY_BAD_NUMBER), 1);
        assert_int_equal(next(&r)->dur.us, INT64_MIN);
        close_reading(&r);
    }
}

static void the_last_of_repeated_keys_counts(void **state)
{
    struct reading r;
    const struct tm_chrome_event *e = only_event(
        &r,
        "[{\"name\":\"a\",\"n\\u0061me\":\"b\",\"ts\":1,\"ts\":null,\"args\":{\"device\":1,\"device\":null,\"bytes\":1,"
        "\"bytes\":2}},{\"args\":{\"device\":1},\"args\":{\"bytes\":2}},{\"args\":{\"device\":1},\"args\":1},"
        "{\"other\":1,\"other\":2},{\"args\":{\"zz\":1,\"zz\":2}},{\"args\":{\"zz\":1},\"zz\":2},"
        "{\"id2\":{\"q\":1,\"q\":1}}]");

    (void)state;
    assert_text(e->name, "b");
    assert_int_equal(e->has, TM_CHROME_NAME | TM_CHROME_ARGS);
    assert_false(tm_facts_have(&e->facts, TM_STAT_DEVICE));
    assert_int_equal(e->facts.ints[TM_STAT_BYTES], 2);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 1);
    e = next(&r);
    assert_int_equal(e->facts.has, TM_FACT_BIT(TM_STAT_BYTES));
    assert_text(e->args, "{\"bytes\":2}");
    e = next(&r);
    assert_int_equal(e->facts.has, 0);
    assert_int_equal(e->has, TM_CHROME_OTHERS);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 3);
    assert_int_equal(read_rest(&r), 4);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 6);
    close_reading(&r);
}

static void repeated_keys_are_noticed_among_many(void **state)
{
    char *const text = malloc(MOST_TEXT);
    struct reading r;
    int at = 1;

    (void)state;
    text[0] = '[';
    for (int event = 0; event < 500; event++) { /* keys enough to fill the table many times */
        at += snprintf(text + at, 32, "%s{\"args\":{", event ? "," : "");
        for (int key = 0; key < 40; key++)
            at += snprintf(text + at, 64, "%s\"%.*s%d\":0", key ? "," : "", key,
                           "a long key that goes on and on, and on, and on.", event % 10 ? event * 50 + key : 0);
        at += snprintf(text + at, 16, "}}");
    }
    (void)snprintf(text + at, 2, "]");
    open_text(&r, text);
    assert_int_equal(read_rest(&r), 500);
    assert_no_problem(&r);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 0);
    close_reading(&r);
    free(text);
}

/* --- facts --- */

static void facts_are_integers_where_they_can_be(void **state)
{
    struct reading r;
    const struct tm_chrome_event *e =
        only_event(&r, "[{\"args\":{\"bytes\":12.0,\"device\":-3,\"flops\":1e15,\"est. achieved occupancy %\":62.5,"
                       "\"Total Reserved\":12345678901234567890,\"addr\":NaN,\"Device Id\":1e999,\"size\":1e3}}]");

    (void)state;
    assert_int_equal(e->facts.ints[TM_STAT_BYTES], 12);
    assert_int_equal(e->facts.ints[TM_STAT_DEVICE], -3);
    assert_int_equal(e->facts.ints[TM_STAT_SIZE], 1000);
    assert_true(e->facts.doubles[TM_STAT_OCCUPANCY] == 62.5);
    assert_true(e->facts.doubles[TM_STAT_TOTAL_RESERVED] == 12345678901234567890.0);
    assert_false(tm_facts_have(&e->facts, TM_STAT_ADDRESS));
    assert_false(tm_facts_have(&e->facts, TM_STAT_DEVICE_ID));
    assert_int_equal(tally(&r, TM_TALLY_NAN_NUMBER), 2);
    close_reading(&r);
}

static void doubles_are_those_of_strtod(void **state)
{
    static const char *const written[] = { "0.1",
                                           "1.7976931348623157e308",
                                           "4.9e-324",
                                           "2.4703282292062327e-324",
                                           "9007199254740993.00000000000000000000000001",
                                           "123456.789e-3",
                                           "0.500000000000000166533453693773481063544750213623046875",
                                           "-1.00000000000000011102230246251565404236316680908203125" };
    char text[1400];

    (void)state;
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{\"args\":{\"fragmentation\":%s}}]", written[i]);
        assert_true(only_event(&r, text)->facts.doubles[TM_STAT_FRAGMENTATION] == strtod(written[i], NULL));
        close_reading(&r);
    }
}

static void nested_arguments_are_told_once_for_an_event(void **state)
{
    static const struct {
        const char *args;
        uint64_t count;
    } cases[] = {
        { "{\"a\":{}}", 1 },
        { "{\"a\":[]}", 0 },
        { "{\"a\":[1,\"[\"]}", 0 },
        { "{\"a\":[[]],\"b\":{}}", 1 },
        { "{\"grid\":[[1]]}", 1 },
        { "{\"a\":[{\"b\":1}]}", 1 },
        { "{\"grid\":{\"a\":1}}", 1 },
        { "[{}]", 0 },
        { "{}", 0 },
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{\"args\":%s}]", cases[i].args);
        (void)only_event(&r, text);
        assert_int_equal(tally(&r, TM_TALLY_NESTED_ARGUMENT), cases[i].count);
        assert_null(next(&r));
        assert_no_problem(&r);
        close_reading(&r);
    }
}

/* --- texts --- */

static void escapes_become_what_they_stand_for(void **state)
{
    struct reading r;
    const struct tm_chrome_event *const e = only_event(
        &r, "[{\"name\":\"\\\"\\\\\\/"
            "\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\",\"cat\":\"a\\ud83db\\ude00\\ud83d\\ud83d\\ude00\","
            "\"args\":{\"hlo_op\":\"\\u0031\",\"tf_op\":\"plain\"}}]");

    (void)state;
    assert_text(e->name, "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_text(e->cat, "a\xed\xa0\xbd"
                        "b\xed\xb8\x80\xed\xa0\xbd\xf0\x9f\x98\x80");
    assert_text(e->args, "{\"hlo_op\":\"\\u0031\",\"tf_op\":\"plain\"}");
    assert_int_equal(e->facts.ints[TM_STAT_HLO_OP], 1);
    assert_int_equal(e->facts.texts[TM_STAT_TF_OP].length, 5);
    assert_int_equal(tally(&r, TM_TALLY_UNICODE_NAME), 1);
    assert_int_equal(tally(&r, TM_TALLY_CONTROL_CHARACTER), 1);
    assert_int_equal(tally(&r, TM_TALLY_LONE_SURROGATE), 0);
    close_reading(&r);
}

static void odd_names_are_told(void **state)
{
    static const struct {
        const char *name;
        uint64_t unicode, control, surrogate;
    } cases[] = {
        { "plain", 0, 0, 0 },
        { "caf\xc3\xa9", 1, 0, 0 },
        { "caf\\u00e9", 1, 0, 0 },
        { "\xff", 1, 0, 0 },
        { "tab\t", 0, 1, 0 },
        { "tab\\t", 0, 1, 0 },
        { "a del at the end \x7f", 0, 1, 0 },
        { "\\u007f", 0, 1, 0 },
        { "\\u0001", 0, 1, 0 },
        { "\\ud800", 0, 0, 1 },
        { "\\udc00\\ud800x", 0, 0, 1 },
        { "\\ud83d\\ude00", 1, 0, 0 },
        { "\\\"\\\\\\/", 0, 0, 0 },
        { "~~~~~~~~~", 0, 0, 0 },
        { "", 0, 0, 0 },
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;

        (void)snprintf(text, sizeof(text), "[{\"name\":\"%s\",\"cat\":\"\\u0001\xff\"}]", cases[i].name);
        (void)only_event(&r, text);
        assert_int_equal(tally(&r, TM_TALLY_UNICODE_NAME), cases[i].unicode);
        assert_int_equal(tally(&r, TM_TALLY_CONTROL_CHARACTER), cases[i].control);
        assert_int_equal(tally(&r, TM_TALLY_LONE_SURROGATE), cases[i].surrogate);
        close_reading(&r);
    }
}

/* --- the document --- */

static void what_stands_among_the_events_is_counted(void **state)
{
    struct reading r;

    (void)state;
    open_text(&r, "{\"traceEvents\":[{},null,{ },{\"ph\":\"X\"},7,\"text\",[{\"ph\":1}],-Infinity,{}\n]}");
    assert_int_equal(read_rest(&r), 1);
    assert_no_problem(&r);
    assert_int_equal(tally(&r, TM_TALLY_EMPTY_OBJECT), 2);
    assert_int_equal(tally(&r, TM_TALLY_CLOSING_OBJECT), 1);
    assert_int_equal(tally(&r, TM_TALLY_NOT_AN_OBJECT), 5);
    assert_int_equal(tally(&r, TM_TALLY_NAN_NUMBER), 1);
    close_reading(&r);
}

static void documents_may_have_these_forms(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        int events;
        bool is_list, is_open, has_zeros, has_mark;
    } cases[] = {
#define TEXT(text) text, sizeof(text) - 1
        { TEXT("[]"), 0, true, false, false, false },
        { TEXT("["), 0, true, true, false, false },
        { TEXT("{}"), 0, false, false, false, false },
        { TEXT(" \r\n\t{ } \n"), 0, false, false, false, false },
        { TEXT("{\"traceEvents\":[]}"), 0, false, false, false, false },
        { TEXT("[{\"a\":1}]\n"), 1, true, false, false, false },
        { TEXT("[{\"a\":1}"), 1, true, true, false, false },
        { TEXT("[{\"a\":1},"), 1, true, true, false, false },
        { TEXT("[{\"a\":1} , \n"), 1, true, true, false, false },
        { TEXT("[{\"a\":1}\0\0"), 1, true, true, true, false },
        { TEXT("[{\"a\":1}]\0\n\0"), 1, true, false, true, false },
        { TEXT("\xef\xbb\xbf[{\"a\":1}]"), 1, true, false, false, true },
        { TEXT("{\"a\":[[],{}],\"traceEvents\":[{\"a\":1}],\"b\":{\"traceEvents\":[{\"a\":1}]}}"), 1, false, false,
          false, false },
        { TEXT("{\"traceEvents\":[],\"b\":1}"), 0, false, false, false, false },
        { TEXT("{\"tr\\u0061ceEvents\":[{\"a\":1}]}"), 1, false, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;

        open_reading(&r, cases[i].text, cases[i].length, NULL);
        assert_int_equal(read_rest(&r), cases[i].events);
        assert_no_problem(&r);
        assert_int_equal(tm_chrome_header(r.reader)->is_list, cases[i].is_list);
        assert_int_equal(tally(&r, TM_TALLY_OPEN_ARRAY), cases[i].is_open);
        assert_int_equal(tally(&r, TM_TALLY_ZERO_PADDING), cases[i].has_zeros);
        assert_int_equal(tally(&r, TM_TALLY_BYTE_ORDER_MARK), cases[i].has_mark);
        assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 0);
        close_reading(&r);
    }
}

static void events_of_two_lists_are_given_out(void **state)
{
    struct reading r;

    (void)state;
    open_text(&r, "{\"traceEvents\":[{\"a\":1},{}],\"x\":1,\"traceEvents\":[{\"a\":1},{}]}");
    assert_int_equal(read_rest(&r), 2);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 1);
    assert_int_equal(tally(&r, TM_TALLY_CLOSING_OBJECT), 2);
    assert_no_problem(&r);
    close_reading(&r);
}

static void damage_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text, *problem;
        uint64_t at;
        int events;
    } cases[] = {
        { "x", "it does not start like JSON with trace events", 0, 0 },
        { "12", "it does not start like JSON with trace events", 0, 0 },
        { "\xef\xbb[]", "it does not start like JSON", 2, 0 },
        { "[{\"a\":1}] x", "there is data after the end of the JSON", 10, 1 },
        { "[][]", "there is data after the end of the JSON", 2, 0 },
        { "{}{}", "there is data after the end of the JSON", 2, 0 },
        { "[{\"a\":1}{\"a\":1}]", "a comma is missing", 8, 1 },
        { "[{\"a\":1},]", "a value is missing", 9, 1 },
        { "[,{\"a\":1}]", "a value is missing", 1, 0 },
        { "[{\"a\":1,}]", "a key is missing", 8, 0 },
        { "[{,\"a\":1}]", "a key is missing", 2, 0 },
        { "[{\"a\" 1}]", "a colon is missing", 6, 0 },
        { "[{\"a\":}]", "a value is missing", 6, 0 },
        { "[{\"a\":1]]", "a comma is missing", 7, 0 },
        { "[{\"a\":[1}]", "a comma is missing", 8, 0 },
        { "[{\"a\":[1,]}]", "a value is missing", 9, 0 },
        { "[{\"a\":{\"b\":}}]", "a value is missing", 11, 0 },
        { "[{\"a\":{\"b\"}}]", "a colon is missing", 10, 0 },
        { "[{\"a\":{b:1}}]", "a key is missing", 7, 0 },
        { "[{\"a\":nul}]", "invalid JSON literal", 9, 0 },
        { "[{\"a\":True}]", "a value is missing", 6, 0 },
        { "[{\"a\":01}]", "invalid JSON number", 7, 0 },
        { "[{\"a\":-}]", "invalid JSON number", 7, 0 },
        { "[{\"a\":1.}]", "invalid JSON number", 8, 0 },
        { "[{\"a\":1e}]", "invalid JSON number", 8, 0 },
        { "[{\"ts\":.5}]", "a value is missing", 7, 0 },
        { "[{\"ts\":1.e5}]", "invalid JSON number", 9, 0 },
        { "[{\"ts\":+1}]", "a value is missing", 7, 0 },
        { "[{\"ts\":00}]", "invalid JSON number", 8, 0 },
        { "[{\"pid\":1x}]", "a comma is missing", 9, 0 },
        { "[{\"a\":\"\\x\"}]", "a string has an invalid escape", 8, 0 },
        { "[{\"a\":\"\\u12g4\"}]", "a string has an invalid escape", 11, 0 },
        { "{\"traceEvents\":7}", "traceEvents is not a list", 15, 0 },
        { "{\"traceEvents\":{}}", "traceEvents is not a list", 15, 0 },
        { "{\"a\":1,}", "a key is missing", 7, 0 },
        { "{\"traceEvents\":[{\"a\":1}],}", "a key is missing", 25, 1 },
        { "{\"traceEvents\":[{\"a\":1}]]", "a comma is missing", 24, 1 },
        { "{'a':1}", "a key is missing", 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;

        open_text(&r, cases[i].text);
        assert_int_equal(read_rest(&r), cases[i].events);
        assert_problem(&r, cases[i].problem, cases[i].at);
        assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 0);
        assert_null(next(&r));
        close_reading(&r);
    }
}

/* --- behind damage --- */

#define NAMED(name) "{\"ph\":\"X\",\"name\":\"" name "\"}"

/* The names of all events, one after the other. */
static void read_names(struct reading *r, char *names)
{
    const struct tm_chrome_event *e;

    while ((e = next(r))) {
        memcpy(names, e->name.at, e->name.length);
        names += e->name.length;
    }
    *names = '\0';
}

static void reading_goes_on_behind_damage(void **state)
{
    static const struct {
        const char *text, *names;
        struct tm_chrome_damage damage;
    } cases[] = {
        { "[" NAMED("a") NAMED("b") "]", "ab", { "a comma is missing", 22, 22, 22, 1, 0, false } },
        { "[{\"ph\":\"X\" \"name\":\"a\"}," NAMED("b") "]", "b", { "a comma is missing", 11, 1, 23, 1, 22, false } },
        /* a lost quote, in a value and in a key */
        { "[{\"ph\":\"X,\"name\":\"a\"}," NAMED("b") "]", "b", { "a comma is missing", 11, 1, 22, 1, 21, false } },
        { "[{\"ph:\"X\",\"name\":\"a\"}," NAMED("b") "]", "b", { "a colon is missing", 7, 1, 22, 1, 21, false } },
        /* a lost brace, colon, and what is no value */
        { "[{\"ph\":\"X\",\"args\":{\"a\":1," NAMED("b") "]", "b", { "a key is missing", 25, 1, 25, 1, 24, false } },
        { "[{\"ph\":\"X\",\"args\" {\"name\":\"x\"}}," NAMED("b") "]",
          "b",
          { "a colon is missing", 18, 1, 32, 1, 31, false } },
        { "[{\"ph\":\"X\",\"ts\":1.x,\"args\":{\"ph\":\"x\"}}," NAMED("b") "]",
          "b",
          { "invalid JSON number", 18, 1, 39, 1, 38, false } },
        { "[" NAMED("a") ",x," NAMED("b") "]", "ab", { "a value is missing", 23, 23, 25, 1, 2, false } },
        /* objects of arguments that stand in lists say no phase */
        { "[{\"ph\":\"X\",\"args\":{\"l\":[x,{\"name\":\"y\"},{\"name\":\"z\",\"name\":\"z\"}]}}," NAMED("b") "]",
          "b",
          { "a value is missing", 24, 1, 66, 1, 65, false } },
        /* two places, in both forms; and the document goes on to its end */
        { "{\"traceEvents\":[{\"ph\":1x}," NAMED("a") ",{\"ph\" 1}," NAMED("b") "],\"traceName\":\"t\"}",
          "ab",
          { "a comma is missing", 23, 16, 26, 2, 19, false } },
        /* in the header, and behind the list */
        { "{\"metadata\":{]},\"traceEvents\":[" NAMED("a") "]}",
          "a",
          { "a key is missing", 13, 13, 31, 1, 18, false } },
        { "{\"traceEvents\":[" NAMED("a") "],\"a\":x,\"b\":[{\"c\":1}]}",
          "a",
          { "a value is missing", 43, 43, 59, 1, 16, false } },
        /* a bracket for the comma; what follows a whole document is no part of it */
        { "[" NAMED("a") "]" NAMED("b") "]",
          "ab",
          { "there is data after the end of the JSON", 23, 23, 23, 1, 0, false } },
        { "{\"traceEvents\":[" NAMED("a") "]}," NAMED("b") "]}",
          "a",
          { "there is data after the end of the JSON", 39, 39, 39, 1, 0, true } },
        /* the second of them is cut */
        { "[{\"ph\":},{\"ph\":\"X", "", { "a value is missing", 7, 1, 17, 1, 16, false } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_chrome_damage *const wanted = &cases[i].damage, *got;
        struct reading r;
        char names[64];

        open_text(&r, cases[i].text);
        read_names(&r, names);
        got = tm_chrome_damage(r.reader);
        if (strcmp(names, cases[i].names) != 0 || !got->problem || strcmp(got->problem, wanted->problem) != 0 ||
            got->at != wanted->at || got->from != wanted->from || got->to != wanted->to ||
            got->places != wanted->places || got->bytes != wanted->bytes || got->is_left != wanted->is_left)
            fail_msg("%s: '%s', %s at %d, %d to %d, %d places, %d bytes", cases[i].text, names, got->problem,
                     (int)got->at, (int)got->from, (int)got->to, (int)got->places, (int)got->bytes);
        assert_int_equal(tally(&r, TM_TALLY_DAMAGED_TEXT), wanted->places);
        assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 0);
        close_reading(&r);
    }
}

static void a_hole_of_zeros_is_skipped(void **state)
{
    static const char before[] = "[" NAMED("a") ",{\"ph\":", behind[] = ",\"x\":1}," NAMED("b") "]";
    static char text[600000];
    struct reading r;
    char names[64];

    (void)state;
    memcpy(text, before, strlen(before));
    memcpy(text + sizeof(text) - strlen(behind), behind, strlen(behind));
    open_reading(&r, text, sizeof(text), NULL);
    read_names(&r, names);
    assert_string_equal(names, "ab");
    assert_int_equal(tm_chrome_damage(r.reader)->at, strlen(before));
    assert_int_equal(tm_chrome_damage(r.reader)->from, strlen("[" NAMED("a") ","));
    assert_int_equal(tm_chrome_damage(r.reader)->to, sizeof(text) - strlen(NAMED("b") "]"));
    close_reading(&r);
}

struct looked {
    char names[64];
    size_t used;
};

static void look_at(void *to, const struct tm_chrome_event *event)
{
    struct looked *const looked = to;

    if (event->name.length && looked->used + event->name.length < sizeof(looked->names)) {
        memcpy(looked->names + looked->used, event->name.at, event->name.length);
        looked->used += event->name.length;
    }
}

/* Whatever the reads are, the same is looked at, through damage too, and nothing of it is taken. */
static void looking_ahead_takes_nothing(void **state)
{
    static const char text[] = "{\"traceEvents\":[" NAMED("a\\u0041") "," NAMED("b") ",{}," NAMED("c") " " NAMED(
        "d") "," NAMED("e") "],\"host_name\":\"h\"}";

    (void)state;
    for (size_t read = 1; read < sizeof(text); read++) {
        const struct tm_chrome_options options = { .read_bytes = read };
        struct looked looked = { .used = 0 };
        struct reading r;
        char names[64];

        open_reading(&r, text, sizeof(text) - 1, &options);
        assert_text(next(&r)->name, "aA");
        assert_text(next(&r)->name, "b");
        assert_int_equal(tm_chrome_look_ahead(r.reader, 3, look_at, &looked), TM_OK);
        assert_string_equal(looked.names, "bcd");
        assert_int_equal(tm_chrome_look_ahead(r.reader, 30, look_at, &looked), TM_OK);
        assert_string_equal(looked.names, "bcdbcde");
        assert_null(tm_chrome_damage(r.reader)->problem);
        assert_int_equal(tally(&r, TM_TALLY_EMPTY_OBJECT), 0);
        assert_string_equal(tm_chrome_header(r.reader)->host, "");
        read_names(&r, names);
        assert_string_equal(names, "cde");
        assert_int_equal(tally(&r, TM_TALLY_EMPTY_OBJECT), 1);
        assert_int_equal(tm_chrome_damage(r.reader)->places, 1);
        assert_string_equal(tm_chrome_header(r.reader)->host, "h");
        close_reading(&r);
    }
}

static void looking_ahead_ends_with_the_window(void **state)
{
    struct looked looked = { .used = 0 };
    const struct tm_chrome_options options = { .window_bytes = 256, .read_bytes = 7 };
    struct reading r;
    char text[600];

    (void)state;
    (void)snprintf(text, sizeof(text), "[%s,%s,%s%*s]", NAMED("a"), NAMED("b"), NAMED("c"), 400, "," NAMED("d"));
    open_reading(&r, text, strlen(text), &options);
    assert_text(next(&r)->name, "a");
    assert_int_equal(tm_chrome_look_ahead(r.reader, 9, look_at, &looked), TM_OK);
    assert_string_equal(looked.names, "abc");
    assert_int_equal(read_rest(&r), 3);
    assert_no_problem(&r);
    close_reading(&r);
}

static void damage_in_an_event_leaves_no_tally_of_it(void **state)
{
    struct reading r;

    (void)state;
    open_text(&r, "[{\"name\":\"\\u00e9\",\"name\":1,\"args\":{\"a\":NaN}");
    assert_int_equal(read_rest(&r), 0);
    assert_problem(&r, "the JSON ends inside an event", 43);
    assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 1);
    assert_int_equal(tally(&r, TM_TALLY_UNICODE_NAME), 0);
    assert_int_equal(tally(&r, TM_TALLY_REPEATED_KEY), 0);
    close_reading(&r);
}

static void the_header_is_read_in_any_order(void **state)
{
    struct reading r;
    const struct tm_chrome_header *header;

    (void)state;
    open_text(
        &r,
        "{\"deviceProperties\":[{\"id\":0,\"name\":\"A100\",\"totalGlobalMem\":85174583296,\"numSms\":108,"
        "\"computeMajor\":8,\"computeMinor\":6,\"x\":[{}]}, 7 ,{\"id\":\"5\"}],\"traceEvents\":[{\"a\":1}],"
        "\"metadata\":{\"x\":[1],\"highres-ticks\":true},\"schemaVersion\":1,\"baseTimeNanoseconds\":"
        "1775078550000000000,"
        "\"distributedInfo\":{\"backend\":\"nccl\",\"pg_config\":[{\"ranks\":[0,1]}],\"rank\":3,\"world_size\":\"16\"},"
        "\"host_name\":\"h\\u00f6st\",\"traceName\":\"/tmp/a.json\",\"cuda_driver_version\":12090,"
        "\"cuda_runtime_version\":12040,\"hip_driver_version\":6,\"hip_runtime_version\":7,\"stackFrames\":{\"1\":{}}"
        "}");
    assert_int_equal(read_rest(&r), 1);
    assert_no_problem(&r);
    header = tm_chrome_header(r.reader);
    assert_true(header->has_highres_ticks && header->has_schema_version && !header->is_list);
    assert_int_equal(header->base_time_ns, 1775078550000000000);
    assert_int_equal(header->rank, 3);
    assert_int_equal(header->world_size, 16);
    assert_string_equal(header->backend, "nccl");
    assert_string_equal(header->host, "h\xc3\xb6st");
    assert_string_equal(header->trace_name, "/tmp/a.json");
    assert_int_equal(header->cuda_driver, 12090);
    assert_int_equal(header->cuda_runtime, 12040);
    assert_int_equal(header->hip_driver, 6);
    assert_int_equal(header->hip_runtime, 7);
    assert_int_equal(header->device_count, 2);
    assert_string_equal(header->devices[0].name, "A100");
    assert_int_equal(header->devices[0].memory_bytes, 85174583296);
    assert_int_equal(header->devices[0].core_count, 108);
    assert_int_equal(header->devices[0].capability_major, 8);
    assert_int_equal(header->devices[0].capability_minor, 6);
    assert_int_equal(header->devices[1].id, 5);
    close_reading(&r);
}

static void a_header_without_members_has_its_defaults(void **state)
{
    struct reading r;
    const struct tm_chrome_header *header;

    (void)state;
    open_text(&r,
              "{\"metadata\":{\"highres-ticks\":false},\"distributedInfo\":7,\"deviceProperties\":{},\"host_name\":7,"
              "\"baseTimeNanoseconds\":1e30}");
    assert_int_equal(read_rest(&r), 0);
    assert_no_problem(&r);
    header = tm_chrome_header(r.reader);
    assert_false(header->has_highres_ticks || header->has_schema_version);
    assert_int_equal(header->rank, -1);
    assert_int_equal(header->world_size, -1);
    assert_int_equal(header->base_time_ns, 0);
    assert_int_equal(header->device_count, 0);
    assert_string_equal(header->host, "");
    close_reading(&r);
}

static void many_devices_and_long_names_are_bounded(void **state)
{
    char *const text = malloc(MOST_TEXT);
    struct reading r;
    int at;

    (void)state;
    at = snprintf(text, MOST_TEXT,
                  "{\"traceName\":\"%300s\",\"host_name\":\"%0126d\xe2\x82\xac\",\"deviceProperties\":[", "x", 0);
    for (int i = 0; i < 1100; i++)
        at += snprintf(text + at, 64, "%s{\"name\":\"gpu %d\"}", i ? "," : "", i);
    (void)snprintf(text + at, 8, "]}");
    open_text(&r, text);
    assert_int_equal(read_rest(&r), 0);
    assert_no_problem(&r);
    assert_int_equal(tm_chrome_header(r.reader)->device_count, TM_DEVICES_MOST);
    assert_string_equal(tm_chrome_header(r.reader)->devices[1000].name, "gpu 1000");
    assert_int_equal(strlen(tm_chrome_header(r.reader)->trace_name), 255);
    assert_int_equal(strlen(tm_chrome_header(r.reader)->host), 126); /* not in the middle of a character */
    close_reading(&r);
    free(text);
}

/* --- the window --- */

/* A document whose one event is larger than the window of 256 bytes. */
static void an_event_may_outgrow_the_window(void **state)
{
    const struct tm_chrome_options options = { .window_bytes = 256 };
    char text[4096];
    struct reading r;
    const struct tm_chrome_event *e;
    int at;

    (void)state;
    at = snprintf(text, sizeof(text),
                  "[{\"name\":\"a \\u0041 name\",\"cat\":\"kernel\",\"tid\":\"stream\",\"args\":{\"grid\":[1,2,3],"
                  "\"hlo_op\":\"op\",\"stack\":[");
    for (int i = 0; i < 100; i++)
        at += snprintf(text + at, 32, "%s{\"f\\u0041\":%d.5}", i ? "," : "", i);
    (void)snprintf(text + at, sizeof(text) - (size_t)at,
                   "],\"hlo_module\":\"module\",\"block\":[4, 5],\"tf_op\":\"\\ttab\"},\"ts\":1.5,\"id\":\"late "
                   "id\"},{\"name\":\"next\"}]");
    open_reading(&r, text, strlen(text), &options);
    e = next(&r);
    assert_text(e->name, "a A name");
    assert_text(e->cat, "kernel");
    assert_text(e->tid.text, "stream");
    assert_text(e->id.text, "late id");
    assert_int_equal(e->args.length, 0);
    assert_true(e->has & TM_CHROME_ARGS);
    assert_int_equal(e->ts.us, 1);
    assert_memory_equal(e->facts.texts[TM_STAT_GRID].bytes, "[1,2,3]", 7);
    assert_memory_equal(e->facts.texts[TM_STAT_BLOCK].bytes, "[4, 5]", 6);
    assert_memory_equal(e->facts.texts[TM_STAT_HLO_OP].bytes, "op", 2);
    assert_memory_equal(e->facts.texts[TM_STAT_HLO_MODULE].bytes, "module", 6);
    assert_memory_equal(e->facts.texts[TM_STAT_TF_OP].bytes, "\ttab", 4);
    assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), 1);
    e = next(&r);
    assert_text(e->name, "next");
    assert_int_equal(e->offset, strlen(text) - strlen("{\"name\":\"next\"}]"));
    assert_null(next(&r));
    assert_no_problem(&r);
    assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), 1);
    close_reading(&r);
}

/* Arguments that fit are lost, too, where a member before them has filled the window: that is told as well. */
static void arguments_behind_a_long_member_are_lost_with_a_word(void **state)
{
    const struct tm_chrome_options options = { .window_bytes = 256 };

    (void)state;
    for (int length = 0; length < 600; length++) {
        struct reading r;
        const struct tm_chrome_event *e;
        char text[1024];

        (void)snprintf(text, sizeof(text), "[{\"long\":\"%0*d\",\"ts\":1,\"args\":{\"hlo_op\":\"op\"},\"tid\":\"b\"}]",
                       length, 0);
        open_reading(&r, text, strlen(text), &options);
        e = next(&r);
        assert_true(e->has & TM_CHROME_ARGS);
        assert_text(e->tid.text, "b");
        assert_memory_equal(e->facts.texts[TM_STAT_HLO_OP].bytes, "op", 2);
        assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), e->args.length == 0);
        assert_null(next(&r));
        assert_no_problem(&r);
        close_reading(&r);
    }
}

/* Letters and whole numbers that come again and again take none of the room that is left for texts, wherever reads end. */
static void members_that_repeat_behind_a_long_one_leave_room(void **state)
{
    enum { TIMES = 900 };
    struct tm_chrome_options options = { .window_bytes = 256 };
    static char text[32 * TIMES];
    int at = snprintf(text, sizeof(text), "[{\"long\":\"%0*d\"", 300, 0);

    (void)state;
    for (int i = 0; i < TIMES; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, i % 2 ? ",\"s\":\"g\"" : ",\"pid\":%d", 1000 + i);
    (void)snprintf(text + at, sizeof(text) - (size_t)at, ",\"name\":\"the last\"}]");
    for (size_t read = 1; read <= 256; read++) {
        const struct tm_chrome_event *e;
        struct reading r;

        options.read_bytes = read;
        open_reading(&r, text, strlen(text), &options);
        e = next(&r);
        assert_int_equal(e->scope, 'g');
        assert_int_equal(e->pid.number, 1000 + TIMES - 2);
        assert_text(e->name, "the last");
        assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), 0);
        close_reading(&r);
    }
}

/* What a text of so many letters becomes in a window of 256 bytes. */
static void long_texts_are_cut(void **state)
{
    static const int lengths[] = { 1, 127, 128, 129, 130, 200, 255, 256, 257, 300, 1000, 5000 };
    const struct tm_chrome_options options = { .window_bytes = 256 };
    char text[8192];

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const int length = lengths[i];
        struct reading r;
        const struct tm_chrome_event *e;

        (void)snprintf(text, sizeof(text), "[{\"ph\":\"X\",\"name\":\"%0*d\",\"pid\":7},{\"tid\":\"b\"}]", length, 5);
        open_reading(&r, text, strlen(text), &options);
        e = next(&r);
        assert_int_equal(e->phase, 'X');
        assert_int_equal(e->pid.number, 7);
        assert_int_equal(e->name.length, length < 128 ? length : 128);
        for (uint32_t k = 0; k + 1 < e->name.length; k++)
            assert_int_equal(e->name.at[k], '0');
        assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), length > 128);
        e = next(&r);
        assert_text(e->tid.text, "b");
        assert_int_equal(e->offset, strlen(text) - strlen("{\"tid\":\"b\"}]"));
        assert_null(next(&r));
        assert_no_problem(&r);
        close_reading(&r);
    }
}

/* An event may have it twice, which nobody sees then. */
static void a_key_that_is_cut_is_told(void **state)
{
    const struct tm_chrome_options options = { .window_bytes = 256 };
    static const char *const places[] = { "", "\"args\":{", "\"id2\":{" };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (int length = 100; length < 160; length++) {
            struct reading r;

            (void)snprintf(text, sizeof(text), "[{\"ph\":\"X\",%s\"%0*d\":1%s}]", places[i], length, 0,
                           places[i][0] ? "}" : "");
            open_reading(&r, text, strlen(text), &options);
            assert_int_equal(next(&r)->phase, 'X');
            assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), length > 128);
            assert_null(next(&r));
            close_reading(&r);
        }
    }
}

static void a_cut_text_ends_with_a_whole_character(void **state)
{
    const struct tm_chrome_options options = { .window_bytes = 256 };
    char text[1024];

    (void)state;
    for (int before = 100; before < 128; before++) {
        struct reading r;
        const struct tm_chrome_event *e;

        (void)snprintf(
            text, sizeof(text),
            "[{\"name\":\"%0*d\\u20ac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\\ud83d\\ude00%050d\"}]", before,
            0, 0);
        open_reading(&r, text, strlen(text), &options);
        e = next(&r);
        assert_int_equal((e->name.length - (uint32_t)before) % 3,
                         before < 104 ? (e->name.length - (uint32_t)before) % 3 : 0);
        assert_true(e->name.length >= (uint32_t)before && e->name.length <= 128);
        assert_int_equal(tally(&r, TM_TALLY_LONG_VALUE), 1);
        close_reading(&r);
    }
}

static void what_is_skipped_may_have_any_size(void **state)
{
    const struct tm_chrome_options options = { .window_bytes = 256 };
    enum { LENGTH = 900000 };
    char *const text = malloc(MOST_TEXT);
    struct reading r;
    int at;

    (void)state;
    at = snprintf(text, MOST_TEXT, "{\"stackFrames\":[\"");
    memset(text + at, 'x', LENGTH);
    at += LENGTH;
    (void)snprintf(
        text + at, MOST_TEXT - (size_t)at,
        "\",{\"%0500d\":%0400d1.5}],\"traceEvents\":[{\"%0700d\":1,\"tts\":1%0900d,\"dur\":2%0300d.%0600d1e-300}]}", 1,
        0, 2, 0, 0, 0);
    open_reading(&r, text, strlen(text), &options);
    assert_int_equal(read_rest(&r), 0);
    assert_problem(&r, "invalid JSON number", strlen(text) - strlen(strchr(strstr(text, "\":0"), ':')) + 2);
    close_reading(&r);
    memcpy(strstr(text, "\":00"), "\":10", 4);
    open_reading(&r, text, strlen(text), &options);
    assert_int_equal(next(&r)->dur.us, 2);
    assert_null(next(&r));
    assert_no_problem(&r);
    close_reading(&r);
    free(text);
}

static void nesting_has_a_limit(void **state)
{
    char *const text = malloc(MOST_TEXT);

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        const int depth = 4096 + extra;
        struct reading r;
        int at = snprintf(text, 16, "[{\"a\":");

        for (int i = 0; i < depth; i++)
            at += snprintf(text + at, 16, i % 3 ? "[" : "{\"k\":");
        text[at++] = '1';
        for (int i = depth - 1; i >= 0; i--)
            text[at++] = i % 3 ? ']' : '}';
        (void)snprintf(text + at, 8, "}]");
        open_text(&r, text);
        assert_int_equal(read_rest(&r), !extra);
        if (extra)
            assert_string_equal(tm_chrome_problem(r.reader, &(uint64_t){ 0 }), "it is nested too deeply");
        else
            assert_no_problem(&r);
        close_reading(&r);
    }
    free(text);
}

/* --- every way of reading gives the same --- */

static const char sample[] =
    "\xef\xbb\xbf {\n \"displayTimeUnit\" : \"ns\", "
    "\"metadata\":{\"highres-ticks\":true},\"deviceProperties\":[{\"id\":0,"
    "\"name\":\"A100\",\"numSms\":108}],\"traceEvents\":[{},\n{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\","
    "\"args\":{\"name\":"
    "\"/"
    "device:GPU:0\"}},{\"ph\":\"X\",\"pid\":1,\"tid\":13,\"ts\":962334.41700000002,\"dur\":48.579000000000001,\"name\":"
    "\"gemm_fusion\\u0041_\\ud83d\\ude00\",\"args\":{\"context_id\":\"$$1\",\"correlation_id\":\"100\",\"kernel_"
    "details\":"
    "\"regs:128 grid:265,1,1\",\"occupancy\":[1, "
    "2,3],\"deep\":{\"a\":[true,false,null,NaN]}}},{\"ph\":\"B\",\"ts\":\"17.25e0\","
    "\"tid\":\"a\\tb\",\"pid\":-7,\"cat\":\"c\",\"id2\":{\"local\":\"0x7\"},\"s\":\"g\",\"ts\":1e-3}\n,null,{}],"
    "\"traceName\":\"t\"}\n";

/* Everything that was read, as one number. */
static uint64_t read_sample(const char *text, size_t length, const struct tm_chrome_options *options, int *events)
{
    struct reading r;
    const struct tm_chrome_event *e;
    uint64_t hash = 0, at;
    const char *problem;

    open_reading(&r, text, length, options);
    *events = 0;
    while ((e = next(&r))) {
        hash = tm_fact_mix(hash, XXH3_64bits(e->name.at, e->name.length) ^ e->offset ^ e->has);
        hash = tm_fact_mix(hash, XXH3_64bits(e->args.at, e->args.length) ^ (uint64_t)e->phase);
        hash = tm_fact_mix(hash, (uint64_t)(e->ts.us ^ e->ts.ps ^ e->dur.us ^ e->dur.ps));
        hash = tm_fact_mix(hash,
                           (uint64_t)(e->pid.number ^ e->tid.number) ^ XXH3_64bits(e->tid.text.at, e->tid.text.length));
        hash = tm_fact_mix(hash, XXH3_64bits(e->id.text.at, e->id.text.length) ^ e->facts.has ^ e->facts.config_hash);
        ++*events;
    }
    problem = tm_chrome_problem(r.reader, &at);
    hash = tm_fact_mix(hash, tm_chrome_damage(r.reader)->bytes ^ tm_chrome_damage(r.reader)->to << 32);
    hash = tm_fact_mix(hash, XXH3_64bits(&r.run.tallies, sizeof(r.run.tallies)));
    hash = tm_fact_mix(hash, problem ? XXH3_64bits(problem, strlen(problem)) ^ at : 0);
    hash = tm_fact_mix(hash, XXH3_64bits(tm_chrome_header(r.reader)->trace_name, 2));
    close_reading(&r);
    return hash;
}

static const char damaged_sample[] =
    "{\"metadata\":{\"highres-ticks\" true},\"traceEvents\":[{},{\"ph\":\"M\",\"name\":\"a\"}\0\0\0 "
    "{\"ph\":\"X\",\"ts\":1.,\"args\":"
    "{\"ph\":\"\\u0041\",\"l\":[{\"ts\":1e},{\"name\":\"\xff\"}]}},\n{\"ph\":\"X\",\"name\":\"b,\"args\":{}},{\"name\":"
    "\"\xc3\xa9\",\"ph\":\"X\"},"
    "{\"ph\":\"\\x\"},{\"ph\":\"i\",\"ts\":NaN,\"args\":{\"a\":[Infinity]}},nul,{\"ph\":\"X\",\"dur\":1}]}";

static void try_every_way(const char *text, size_t length, int wanted_count)
{
    struct tm_chrome_options options = { .window_bytes = 0 };
    int events, wanted_events;
    const uint64_t wanted = read_sample(text, length, NULL, &wanted_events);

    assert_int_equal(wanted_events, wanted_count);
    for (int engine = TM_JSON_BEST; engine < TM_JSON_ENGINES; engine++) {
        if (!tm_json_engine_works((enum tm_json_engine)engine))
            continue;
        options.engine = (enum tm_json_engine)engine;
        for (size_t read = 1; read <= length; read++) {
            options.read_bytes = read;
            options.window_bytes = 0;
            assert_true(read_sample(text, length, &options, &events) == wanted);
            options.window_bytes = 400 + read % 200;
            assert_true(read_sample(text, length, &options, &events) == wanted);
        }
    }
}

static void engines_reads_and_windows_change_nothing(void **state)
{
    (void)state;
    try_every_way(sample, sizeof(sample) - 1, 3);
    try_every_way(damaged_sample, sizeof(damaged_sample) - 1, 4);
}

static void a_document_cut_anywhere_gives_what_came_before(void **state)
{
    const struct tm_chrome_options plain = { .engine = TM_JSON_PLAIN };
    int before = 0, events, again;

    (void)state;
    for (size_t length = 4; length < sizeof(sample) - 2; length++) { /* without the line's end it is whole */
        const uint64_t hash = read_sample(sample, length, NULL, &events);
        struct reading r;
        uint64_t at;

        assert_true(read_sample(sample, length, &plain, &again) == hash);
        assert_true(events == before || events == before + 1);
        before = events;
        open_reading(&r, sample, length, NULL);
        (void)read_rest(&r);
        assert_non_null(tm_chrome_problem(r.reader, &at));
        assert_int_equal(at, length);
        assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 1);
        close_reading(&r);
    }
    assert_int_equal(before, 3);
}

static void zeros_behind_a_cut_are_no_damage_of_their_own(void **state)
{
    struct reading r;

    (void)state;
    open_reading(&r, "{\"traceEvents\":[{\"a\":1},{\"b\"\0\0\0\0", 32, NULL);
    assert_int_equal(read_rest(&r), 1);
    assert_problem(&r, "the JSON ends inside an event", 28);
    assert_int_equal(tally(&r, TM_TALLY_CUT_SHORT), 1);
    close_reading(&r);
}

static tm_status read_it(struct tm_run *run)
{
    char path[MEMORY_FILE_PATH];
    const int fd = memory_file(sample, sizeof(sample) - 1, path);
    struct tm_input input = { .fd = -1 };
    struct tm_chrome_reader *reader = NULL;
    const struct tm_chrome_event *event = NULL;
    tm_status st = tm_input_open(&input, run, path);

    if (st == TM_OK) {
        reader = tm_chrome_reader_new(run, &input, NULL);
        st = reader ? TM_OK : run->error.status;
    }
    while (st == TM_OK) {
        st = tm_chrome_next(reader, &event);
        if (st == TM_OK && !event)
            break;
    }
    tm_chrome_reader_free(reader);
    tm_input_close(&input);
    (void)close(fd);
    return st;
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    refuse_each_request(read_it);
    tm_chrome_reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_members_of_an_event_are_read),
        cmocka_unit_test(what_a_member_cannot_be_is_missing),
        cmocka_unit_test(a_longer_phase_is_unknown),
        cmocka_unit_test(the_id_is_the_first_of_four),
        cmocka_unit_test(ids_are_numbers_where_they_can_be),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(what_is_no_time_is_told),
        cmocka_unit_test(a_time_beyond_64_bits_is_told),
        cmocka_unit_test(the_last_of_repeated_keys_counts),
        cmocka_unit_test(repeated_keys_are_noticed_among_many),
        cmocka_unit_test(facts_are_integers_where_they_can_be),
        cmocka_unit_test(doubles_are_those_of_strtod),
        cmocka_unit_test(nested_arguments_are_told_once_for_an_event),
        cmocka_unit_test(escapes_become_what_they_stand_for),
        cmocka_unit_test(odd_names_are_told),
        cmocka_unit_test(what_stands_among_the_events_is_counted),
        cmocka_unit_test(documents_may_have_these_forms),
        cmocka_unit_test(events_of_two_lists_are_given_out),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(reading_goes_on_behind_damage),
        cmocka_unit_test(a_hole_of_zeros_is_skipped),
        cmocka_unit_test(looking_ahead_takes_nothing),
        cmocka_unit_test(looking_ahead_ends_with_the_window),
        cmocka_unit_test(damage_in_an_event_leaves_no_tally_of_it),
        cmocka_unit_test(the_header_is_read_in_any_order),
        cmocka_unit_test(a_header_without_members_has_its_defaults),
        cmocka_unit_test(many_devices_and_long_names_are_bounded),
        cmocka_unit_test(an_event_may_outgrow_the_window),
        cmocka_unit_test(arguments_behind_a_long_member_are_lost_with_a_word),
        cmocka_unit_test(members_that_repeat_behind_a_long_one_leave_room),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(a_key_that_is_cut_is_told),
        cmocka_unit_test(a_cut_text_ends_with_a_whole_character),
        cmocka_unit_test(what_is_skipped_may_have_any_size),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(engines_reads_and_windows_change_nothing),
        cmocka_unit_test(a_document_cut_anywhere_gives_what_came_before),
        cmocka_unit_test(zeros_behind_a_cut_are_no_damage_of_their_own),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
