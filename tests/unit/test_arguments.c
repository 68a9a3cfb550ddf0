/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/arguments.h"

#include <math.h>

#include "tests/support/argument_text.h"
#include "tests/support/test_run.h"

static uint8_t buffer[TM_ARGUMENTS_MOST];
static char longer[] = "a text that is longer than what stays in place";

static struct tm_names *begin_test(struct tm_run *run, struct tm_arguments_builder *b, size_t room)
{
    struct tm_names *names;

    test_run_init(run);
    names = tm_names_new(run, 1 << 20, NULL);
    assert_non_null(names);
    tm_arguments_begin(b, names, buffer, room);
    return names;
}

static void end_test(struct tm_run *run, struct tm_names *names)
{
    tm_names_free(names);
    assert_ledger_is_even(run);
}

static tm_strid key(struct tm_names *names, const char *text)
{
    return tm_names_put_string(names, text);
}

/* One of each type. */
static struct tm_arguments put_everything(struct tm_arguments_builder *b, struct tm_names *names)
{
    tm_put_event_text(b, TM_ARGUMENT_CATEGORY, "kernel", 6);
    tm_put_event_text(b, TM_ARGUMENT_ID, "0x7", 3);
    tm_put_place(b, 70000);
    tm_put_enclosed(b);
    tm_put_null(b, key(names, "a"));
    tm_put_bool(b, key(names, "b"), false);
    tm_put_bool(b, key(names, "c"), true);
    tm_put_int(b, key(names, "d"), INT64_MIN);
    tm_put_int(b, key(names, "d"), INT64_MAX);
    tm_put_uint(b, key(names, "e"), UINT64_MAX);
    tm_put_double(b, key(names, "f"), -0.5);
    tm_put_number(b, key(names, "g"), "1.50", 4);
    tm_put_text(b, key(names, "h"), "x", 1);
    tm_put_text(b, key(names, "i"), longer, strlen(longer));
    tm_put_object(b, key(names, "j"));
    tm_put_int(b, key(names, "k"), 1);
    tm_put_array(b, 0);
    tm_put_int(b, 0, -2);
    tm_put_object(b, 0);
    tm_put_close(b);
    tm_put_text(b, 0, "", 0);
    tm_put_close(b);
    tm_put_close(b);
    tm_put_null(b, 0);
    return tm_arguments_end(b);
}

static const char *const everything =
    "cat='kernel' id='0x7' place=70000 enclosed a:null b:false c:true d:-9223372036854775808 d:9223372036854775807 "
    "e:18446744073709551615u f:~-0.5 g:#1.50 h:'x' i:@a text that is longer than what stays in place "
    "j:{k:1 :[-2 {} '']} :null";

static void every_type_comes_back(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    char text[1024];

    (void)state;
    arguments_as_text(text, sizeof(text), names, put_everything(&b, names));
    assert_string_equal(text, everything);
    assert_false(b.is_cut);
    assert_int_equal(b.status, TM_OK);
    end_test(&run, names);
}

static void what_is_no_number_stays_one(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    struct tm_arguments list;
    struct tm_argument argument;

    (void)state;
    tm_put_double(&b, 0, NAN);
    list = tm_arguments_end(&b);
    assert_true(tm_arguments_next(&list, true, &argument));
    assert_true(isnan(argument.real));
    end_test(&run, names);
}

static void what_belongs_to_the_event_is_found(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    const struct tm_arguments list = put_everything(&b, names);
    struct tm_argument argument;

    (void)state;
    assert_true(tm_arguments_find(list, TM_ARGUMENT_PLACE, &argument));
    assert_int_equal(argument.value, 70000);
    tm_arguments_move_place(buffer, list.length, UINT32_MAX - 1);
    assert_true(tm_arguments_find(list, TM_ARGUMENT_PLACE, &argument));
    assert_int_equal(argument.value, UINT32_MAX - 1);
    assert_true(tm_arguments_find(list, TM_ARGUMENT_ENCLOSED, &argument)); /* the rest stands where it stood */
    tm_arguments_begin(&b, names, buffer, sizeof(buffer));
    tm_put_null(&b, 0);
    assert_false(tm_arguments_find(tm_arguments_end(&b), TM_ARGUMENT_PLACE, &argument));
    tm_arguments_move_place(buffer, b.used, 1);
    assert_int_equal(buffer[1], TM_ARGUMENT_NULL);
    end_test(&run, names);
}

/* Whatever is left of a list is read without a step beyond it. */
static void a_cut_list_ends(void **state)
{
    static uint8_t copy[1024];
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    const struct tm_arguments whole = put_everything(&b, names);
    size_t most = 0;

    (void)state;
    assert_true(whole.length < sizeof(copy));
    for (size_t length = 0; length < whole.length; length++) {
        uint8_t *const at = copy + sizeof(copy) - length; /* what lies behind it is seen by the sanitizers */
        struct tm_arguments list = { at, length };
        struct tm_argument argument;
        size_t nodes = 0;

        memcpy(at, whole.bytes, length);
        while (tm_arguments_next(&list, true, &argument)) {
            if (argument.type == TM_ARGUMENT_OBJECT || argument.type == TM_ARGUMENT_ARRAY)
                assert_true(argument.inside.length <= length);
            nodes++;
        }
        assert_int_equal(list.length, 0);
        assert_true(nodes >= most && nodes <= most + 1);
        most = nodes;
        assert_true(tm_arguments_fitting((struct tm_arguments){ at, length }, SIZE_MAX) <= length);
    }
    end_test(&run, names);
}

static void bytes_that_are_no_list_end(void **state)
{
    static const struct {
        uint8_t bytes[12];
        size_t length;
    } rows[] = {
        { { 0, TM_ARGUMENT_TYPES }, 2 },
        { { 0, 255 }, 2 },
        { { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 }, 12 }, /* a key of 11 groups */
        { { 0, TM_ARGUMENT_TEXT, 9, 'x' }, 4 },
        { { 0, TM_ARGUMENT_TEXT, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 12 },
        { { 0, TM_ARGUMENT_OBJECT, 0xff, 0xff, 0xff, 0xff, 0 }, 7 },
        { { 0, TM_ARGUMENT_DOUBLE, 1, 2, 3 }, 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_arguments list = { rows[i].bytes, rows[i].length };
        struct tm_argument argument;

        assert_false(tm_arguments_next(&list, true, &argument));
        assert_int_equal(list.length, 0);
    }
}

/* Nodes that were made before come out the same, with the same room taken, or not at all. */
static void nodes_are_put_in_again(void **state)
{
    uint8_t node[32] = { 0 };
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, 200);
    const tm_strid key = tm_names_put_string(names, "key");

    (void)state;
    tm_put_int(&b, key, 300);
    const size_t length = b.used, spared = b.spared;

    memcpy(node, b.bytes, length);
    for (size_t i = 1; tm_arguments_put_nodes(&b, node, length, spared); i++) {
        assert_int_equal(b.used, (i + 1) * length);
        assert_int_equal(b.spared, (i + 1) * spared);
        assert_memory_equal(b.bytes + i * length, node, length);
    }
    assert_in_range(b.used + b.spared, 200 - 64 - 2 * (length + spared), 200 - (length + spared));
    assert_false(b.is_cut);
    tm_put_array(&b, key);
    assert_false(tm_arguments_put_nodes(&b, node, length, spared));
    end_test(&run, names);
}

static void what_is_too_deep_is_left_out(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    char text[256];

    (void)state;
    for (int depth = 0; depth < TM_ARGUMENTS_DEEPEST; depth++)
        tm_put_array(&b, 0);
    assert_false(b.is_cut);
    for (int depth = 0; depth < 1000; depth++) {
        tm_put_object(&b, 0);
        tm_put_int(&b, 0, 1);
    }
    assert_true(b.is_cut);
    for (int depth = 0; depth < 1000; depth++)
        tm_put_close(&b);
    tm_put_int(&b, 0, 5);
    for (int depth = 0; depth < TM_ARGUMENTS_DEEPEST; depth++)
        tm_put_close(&b);
    tm_put_int(&b, key(names, "k"), 7);
    tm_put_close(&b); /* nothing is open: nothing happens */
    arguments_as_text(text, sizeof(text), names, tm_arguments_end(&b));
    assert_string_equal(text, ":[[[[[[[[[[[[[[[[[[[[[[[[5]]]]]]]]]]]]]]]]]]]]]]]] k:7");
    end_test(&run, names);
}

static void whole_nodes_are_left_out_where_room_ends(void **state)
{
    (void)state;
    for (size_t room = 0; room < 200; room++) {
        struct tm_run run;
        struct tm_arguments_builder b;
        struct tm_names *const names = begin_test(&run, &b, room);
        char text[1024];

        arguments_as_text(text, sizeof(text), names, put_everything(&b, names));
        assert_true(b.used <= room);
        assert_int_equal(b.status, TM_OK);
        assert_int_equal(b.is_cut, strcmp(text, everything) != 0);
        end_test(&run, names);
    }
}

/* How many texts fit where their names are the first of a run, or the last. */
static size_t texts_that_fit(uint32_t names_before)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, 500);
    size_t count = 0;

    for (uint32_t i = 0; i < names_before; i++) {
        char text[16];

        (void)snprintf(text, sizeof(text), "%u", i);
        (void)key(names, text);
    }
    while (!b.is_cut) {
        tm_put_text(&b, key(names, "k"), longer, strlen(longer));
        count += !b.is_cut;
    }
    end_test(&run, names);
    return count;
}

static void what_fits_does_not_depend_on_handles(void **state)
{
    (void)state;
    assert_int_equal(texts_that_fit(0), texts_that_fit(20000));
}

static void what_is_open_is_closed_at_the_end(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    char text[64];

    (void)state;
    tm_put_object(&b, key(names, "a"));
    tm_put_array(&b, key(names, "b"));
    tm_put_bool(&b, 0, true);
    arguments_as_text(text, sizeof(text), names, tm_arguments_end(&b));
    assert_string_equal(text, "a:{b:[true]}");
    end_test(&run, names);
}

static void the_front_that_fits_is_whole_nodes(void **state)
{
    struct tm_run run;
    struct tm_arguments_builder b;
    struct tm_names *const names = begin_test(&run, &b, sizeof(buffer));
    struct tm_arguments list;

    (void)state;
    tm_put_text(&b, 0, "abc", 3); /* 6 bytes */
    tm_put_null(&b, 0);           /* 2 bytes */
    list = tm_arguments_end(&b);
    assert_int_equal(list.length, 8);
    assert_int_equal(tm_arguments_fitting(list, 5), 0);
    assert_int_equal(tm_arguments_fitting(list, 6), 6);
    assert_int_equal(tm_arguments_fitting(list, 7), 6);
    assert_int_equal(tm_arguments_fitting(list, 8), 8);
    assert_int_equal(tm_arguments_fitting(list, 100), 8);
    end_test(&run, names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(what_is_no_number_stays_one),
        cmocka_unit_test(what_belongs_to_the_event_is_found),
        cmocka_unit_test(a_cut_list_ends),
        cmocka_unit_test(bytes_that_are_no_list_end),
        cmocka_unit_test(nodes_are_put_in_again),
        cmocka_unit_test(what_is_too_deep_is_left_out),
        cmocka_unit_test(whole_nodes_are_left_out_where_room_ends),
        cmocka_unit_test(what_fits_does_not_depend_on_handles),
        cmocka_unit_test(what_is_open_is_closed_at_the_end),
        cmocka_unit_test(the_front_that_fits_is_whole_nodes),
    };

    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
