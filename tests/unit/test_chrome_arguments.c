/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/chrome/chrome_maker.h"

#include <stdio.h>

#include "stages/input/chrome/chrome_reader.h"
#include "tests/support/argument_text.h"
#include "tests/support/test_run.h"

struct encoder {
    struct tm_run run;
    struct tm_names *names;
    struct tm_chrome_arguments *arguments;
    struct tm_chrome_event event;
    struct tm_chrome_words words;
    struct tm_arguments list;
};

static void begin_test(struct encoder *e)
{
    *e = (struct encoder){ .names = NULL };
    test_run_init(&e->run);
    e->names = tm_names_new(&e->run, 1 << 20, NULL);
    assert_non_null(e->names);
    e->arguments = tm_chrome_arguments_new(&e->run, e->names);
    assert_non_null(e->arguments);
}

static void end_test(struct encoder *e)
{
    tm_chrome_arguments_free(e->arguments);
    tm_names_free(e->names);
    assert_ledger_is_even(&e->run);
}

/* args as the reader gives them: padded. */
static void take(struct encoder *e, const char *args)
{
    const size_t length = strlen(args), bytes = length + TM_JSON_PADDING;
    char *const padded = tm_take(&e->run.budget, TM_ACCOUNT_MODEL, bytes, &e->run.error);

    assert_non_null(padded);
    memcpy(padded, args, length);
    e->event.args = (struct tm_json_slice){ padded, (uint32_t)length };
    e->list = tm_chrome_arguments_take(e->arguments, &e->event, &e->words);
    tm_give(&e->run.budget, TM_ACCOUNT_MODEL, padded, bytes);
}

static void assert_list(struct encoder *e, const char *args, const char *expected)
{
    char text[2048];

    take(e, args);
    arguments_as_text(text, sizeof(text), e->names, e->list);
    if (strcmp(text, expected))
        fail_msg("%s\nbecame %s\nnot    %s", args, text, expected);
}

static const struct {
    const char *args, *expected;
} tables[] = {
    { "{}", "" },
    { "{ }", "" },
    { "{\"a\":1}", "a:1" },
    { "{ \"a\" : 1 , \"b\" :\t-2\r\n}", "a:1 b:-2" },
    { "{\"a\":true,\"b\":false,\"c\":null}", "a:true b:false c:null" },
    /* numbers */
    { "{\"a\":0,\"a\":-0,\"a\":-0.0}", "a:0 a:#-0 a:#-0.0" },
    { "{\"a\":9223372036854775807,\"a\":9223372036854775808,\"a\":18446744073709551615,\"a\":18446744073709551616}",
      "a:9223372036854775807 a:9223372036854775808u a:18446744073709551615u a:#18446744073709551616" },
    { "{\"a\":-9223372036854775808,\"a\":-9223372036854775809}", "a:-9223372036854775808 a:#-9223372036854775809" },
    { "{\"a\":1.0,\"a\":12.50,\"a\":1e3,\"a\":1E+3,\"a\":1e-300}", "a:#1.0 a:#12.50 a:#1e3 a:#1E+3 a:#1e-300" },
    { "{\"a\":123456789012345678,\"a\":1234567890123456789}", "a:123456789012345678 a:1234567890123456789" },
    { "{\"a\":12\t,\"a\":12\r,\"a\":[12]}", "a:12 a:12 a:[12]" },
    { "{\"a\":NaN,\"a\":Infinity,\"a\":-Infinity}", "a:'NaN' a:'Infinity' a:'-Infinity'" },
    /* texts */
    { "{\"a\":\"\",\"a\":\"x\"}", "a:'' a:'x'" },
    { "{\"a\":\"123456789012345678901234\"}", "a:'123456789012345678901234'" },
    { "{\"a\":\"1234567890123456789012345\"}", "a:@1234567890123456789012345" },
    { "{\"a\":\"\\\"\\\\\\/\\u00e4\\ud83d\\ude00\"}", "a:'\"\\/\xc3\xa4\xf0\x9f\x98\x80'" },
    { "{\"a\":\"x\\\\\",\"b\":\"\\\\\\\"\"}", "a:'x\\' b:'\\\"'" },
    { "{\"a\":\"\x01\t\"}", "a:'\x01\t'" },
    { "{\"a\":\"{},:[]\"}", "a:'{},:[]'" },
    { "{\"a\":\"\xff\"}", "a:'\xff'" },
    /* keys */
    { "{\"\":1,\"a b\":2,\"a\\u0062\":3,\"\\\"\":4}", ":1 a b:2 ab:3 \":4" },
    { "{\"a\":1,\"a\":2,\"a\":{\"a\":3,\"a\":4}}", "a:1 a:2 a:{a:3 a:4}" },
    { "{\"a key of more than thirty-two letters A\":1,\"a key of more than thirty-two letters B\":2}",
      "a key of more than thirty-two letters A:1 a key of more than thirty-two letters B:2" },
    { "{\"ab\":1,\"a\":2,\"abcdefgh\":3,\"abcdefghi\":4}", "ab:1 a:2 abcdefgh:3 abcdefghi:4" },
    /* inside */
    { "{\"a\":{}}", "a:{}" },
    { "{\"a\":[]}", "a:[]" },
    { "{\"a\":[[1, 2], [], {\"b\":[\"x\", \"y\"]}, \"z\"],\"c\":3}", "a:[[1 2] [] {b:['x' 'y']} 'z'] c:3" },
    { "{\"a\":{\"b\":{\"c\":null}},\"d\":[true,false]}", "a:{b:{c:null}} d:[true false]" },
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static void arguments_become_nodes(void **state)
{
    struct encoder e;

    (void)state;
    begin_test(&e);
    for (int turn = 0; turn < 2; turn++) /* the second time with the keys known */
        for (size_t i = 0; i < TABLES; i++)
            assert_list(&e, tables[i].args, tables[i].expected);
    assert_int_equal(e.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 0);
    end_test(&e);
}

/* Nothing is read beyond what is there, and no node is made of a half one. */
static void every_truncation_of_a_list_ends(void **state)
{
    struct encoder e;

    (void)state;
    begin_test(&e);
    for (size_t i = 0; i < TABLES; i++) {
        take(&e, tables[i].args);
        for (size_t length = 0; length <= e.list.length; length++) {
            struct tm_arguments list = { e.list.bytes, length };
            struct tm_argument argument;

            while (tm_arguments_next(&list, true, &argument))
                assert_true(list.bytes <= e.list.bytes + length);
            assert_int_equal(list.length, 0);
        }
    }
    end_test(&e);
}

static void an_event_without_arguments_has_an_empty_list(void **state)
{
    struct encoder e;

    (void)state;
    begin_test(&e);
    e.list = tm_chrome_arguments_take(e.arguments, &e.event, &e.words);
    assert_int_equal(e.list.length, 0);
    end_test(&e);
}

static void what_belongs_to_the_event_comes_first(void **state)
{
    static const struct {
        struct tm_json_id id;
        const char *expected;
    } rows[] = {
        { { .kind = TM_JSON_NO_ID }, "cat='kernel' place=7 enclosed a:1" },
        { { .kind = TM_JSON_NUMBER, .number = -12 }, "cat='kernel' id='-12' place=7 enclosed a:1" },
        { { .kind = TM_JSON_NUMBER, .number = -1, .is_unsigned = true },
          "cat='kernel' id='18446744073709551615' place=7 enclosed a:1" },
        { { .kind = TM_JSON_TEXT, .text = { "0xab", 4 } }, "cat='kernel' id='0xab' place=7 enclosed a:1" },
    };
    struct encoder e;

    (void)state;
    begin_test(&e);
    e.event.cat = (struct tm_json_slice){ "kernel", 6 };
    e.words = (struct tm_chrome_words){
        .has_category = true, .has_id = true, .has_place = true, .is_enclosed = true, .place = 7
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        e.event.id = rows[i].id;
        assert_list(&e, "{\"a\":1}", rows[i].expected);
    }
    end_test(&e);
}

static void many_keys_share_the_table(void **state)
{
    static char json[64 << 10], expected[64 << 10], text[64 << 10];
    size_t used = 0, expected_used = 0;
    struct encoder e;

    (void)state;
    begin_test(&e);
    for (int i = 0; i < 2000; i++) {
        used += (size_t)snprintf(json + used, sizeof(json) - used, "%s\"key %d\":%d", i ? "," : "{", i % 700, i);
        expected_used += (size_t)snprintf(expected + expected_used, sizeof(expected) - expected_used, "%skey %d:%d",
                                          i ? " " : "", i % 700, i);
    }
    json[used++] = '}';
    take(&e, json);
    arguments_as_text(text, sizeof(text), e.names, e.list);
    assert_string_equal(text, expected);
    assert_int_equal(tm_names_count(e.names), 701);
    end_test(&e);
}

/* Arguments as they may come again: the same, others, fewer, one that begins like another one, with white space. */
static void make_args(uint64_t *seed, char *args, size_t room)
{
    static const char *const parts[][4] = {
        { "\"id\":\"12\"", "\"id\":\"123\"", "\"id\":12", "\"id\":123" },
        { "\"module\":\"jit_train_step_of_a_model\"", "\"module\":\"jit_train_step_of_a_modem\"", "",
          "\"module\": true" },
        { "\"list\":[1,{\"a\":2},3]", "\"list\":[1,{\"a\":2}]", "\"list\":{\"b\":{}}", "\"list\":[]" },
        { "\"text\":\"a,\\\"b\\\",}\"", "\"text\":\"a\"", "\"text\":\"a,\\\"b\\\"\"", " \"text\" : null " },
        { "\"last\":1", "\"last\":12", "\"last\":1.5", "\"last\":-1" },
    };
    size_t used = (size_t)snprintf(args, room, "{");
    bool is_first = true;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const uint64_t drawn = next_number(seed) % 12;
        const char *const part = parts[i][drawn < 4 ? drawn : 0];

        if (drawn == 4 || !*part)
            continue;
        used += (size_t)snprintf(args + used, room - used, "%s%s", is_first ? "" : ",", part);
        is_first = false;
    }
    (void)snprintf(args + used, room - used, "}");
}

static void what_was_met_before_is_the_same_again(void **state)
{
    enum { TURNS = 3000, ARGS = 400 };
    uint64_t seed = 11;
    struct encoder e;

    (void)state;
    begin_test(&e);
    for (int i = 0; i < TURNS; i++) {
        char args[ARGS], text[ARGS], expected[ARGS];
        struct encoder fresh;

        make_args(&seed, args, sizeof(args));
        begin_test(&fresh);
        fresh.words.has_texts_only = e.words.has_texts_only = i % 5 == 0;
        e.words.name = (tm_strid)(i % 3);
        take(&fresh, args);
        arguments_as_text(expected, sizeof(expected), fresh.names, fresh.list);
        take(&e, args);
        arguments_as_text(text, sizeof(text), e.names, e.list);
        if (strcmp(text, expected))
            fail_msg("%s\nbecame %s\nnot    %s", args, text, expected);
        end_test(&fresh);
    }
    end_test(&e);
}

/* Depth of the text is not bounded by that of a list. */
static void what_is_too_deep_or_too_long_is_tallied_once(void **state)
{
    enum { DEEP = 4000, LONG = TM_ARGUMENTS_MOST + 1000 };
    static char json[2 * LONG];
    struct encoder e;
    size_t used;

    (void)state;
    begin_test(&e);
    used = (size_t)snprintf(json, sizeof(json), "{\"a\":");
    memset(json + used, '[', DEEP);
    memset(json + used + DEEP, ']', DEEP);
    memcpy(json + used + (size_t)2 * DEEP, ",\"b\":1}", 8);
    assert_list(&e, json, "a:[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]] b:1");
    assert_int_equal(e.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);

    /* A text without escapes is as long as it likes: it becomes a name. */
    used = (size_t)snprintf(json, sizeof(json), "{\"a\":\"");
    memset(json + used, 'x', LONG);
    memcpy(json + used + LONG, "\",\"b\":1}", 9);
    take(&e, json);
    assert_int_equal(e.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    memcpy(json + used, "\\n", 2);
    assert_list(&e, json, "b:1");
    assert_int_equal(e.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 2);

    /* Many nodes: the first ones stay. */
    used = (size_t)snprintf(json, sizeof(json), "{\"a\":[");
    for (size_t i = 0; i < LONG; i += 2)
        memcpy(json + used + i, "1,", 2);
    memcpy(json + used + LONG, "1]}", 4);
    take(&e, json);
    assert_true(e.list.length > TM_ARGUMENTS_MOST / 2 && e.list.length <= TM_ARGUMENTS_MOST);
    end_test(&e);
}

static tm_status job(struct tm_run *run)
{
    static const char args[] = "{\"some key\":\"a text that is longer than what stays in place\"}";
    struct tm_chrome_event event = { .args = { args, sizeof(args) - 1 } };
    const struct tm_chrome_words words = { .has_id = true };
    struct tm_names *names;
    struct tm_chrome_arguments *arguments;
    char padded[sizeof(args) + TM_JSON_PADDING] = "";

    memcpy(padded, args, sizeof(args));
    event.args.at = padded;
    names = tm_names_new(run, 1 << 20, NULL);
    if (!names)
        return run->error.status;
    arguments = tm_chrome_arguments_new(run, names);
    if (arguments)
        (void)tm_chrome_arguments_take(arguments, &event, &words);
    tm_chrome_arguments_free(arguments);
    tm_names_free(names);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
    tm_chrome_arguments_free(NULL);
}

static void where_all_are_texts_whole_numbers_are_numbers_again(void **state)
{
    static const char args[] =
        "{\"a\":\"0\",\"a\":\"-7\",\"a\":\"123456789012345678\",\"a\":\"-123456789012345678\","
        "\"b\":\"1234567890123456789\",\"b\":\"-0\",\"b\":\"00\",\"b\":\"07\",\"b\":\"\",\"b\":\"-\","
        "\"b\":\"+1\",\"b\":\"1.5\",\"b\":\"1e3\",\"b\":\" 1\",\"b\":\"12x\",\"c\":5}";
    struct encoder e;

    (void)state;
    begin_test(&e);
    e.words.has_texts_only = true;
    assert_list(&e, args,
                "a:0 a:-7 a:123456789012345678 a:-123456789012345678 "
                "b:'1234567890123456789' b:'-0' b:'00' b:'07' b:'' b:'-' b:'+1' b:'1.5' b:'1e3' b:' 1' b:'12x' c:5");
    e.words.has_texts_only = false;
    assert_list(&e, "{\"a\":\"7\"}", "a:'7'");
    end_test(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_become_nodes),
        cmocka_unit_test(every_truncation_of_a_list_ends),
        cmocka_unit_test(an_event_without_arguments_has_an_empty_list),
        cmocka_unit_test(what_belongs_to_the_event_comes_first),
        cmocka_unit_test(many_keys_share_the_table),
        cmocka_unit_test(what_was_met_before_is_the_same_again),
        cmocka_unit_test(what_is_too_deep_or_too_long_is_tallied_once),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(where_all_are_texts_whole_numbers_are_numbers_again),
    };

    return cmocka_run_group_tests_name("chrome_arguments", tests, NULL, NULL);
}
