/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_prints(const struct tm_error *error, const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);

    assert_non_null(to);
    tm_error_print(error, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void the_first_failure_wins(void **state)
{
    struct tm_error error = { 0 };

    (void)state;
    assert_int_equal(tm_fail(&error, TM_ERR_INPUT, 12, "'%s' is empty (%d bytes)", "x", 0), TM_ERR_INPUT);
    assert_int_equal(tm_fail(&error, TM_ERR_LIMIT, -1, "something later"), TM_ERR_LIMIT);
    assert_int_equal(error.status, TM_ERR_INPUT);
    assert_string_equal(error.what, "'x' is empty (0 bytes)");
    assert_int_equal(error.at, 12);
}

static void a_hint_of_a_later_failure_is_left_out(void **state)
{
    struct tm_error error = { 0 };

    (void)state;
    (void)tm_fail(&error, TM_ERR_LIMIT, -1, "out of memory");
    (void)tm_fail(&error, TM_ERR_INPUT, -1, "it is empty");
    tm_hint(&error, "copy the file again");
    assert_string_equal(error.hint, "");
}

static void an_error_is_printed_with_place_causes_and_hint(void **state)
{
    struct tm_error error = { 0 };

    (void)state;
    assert_prints(&error, "");
    (void)tm_fail(&error, TM_ERR_INPUT, 99, "the data ends inside a message");
    assert_prints(&error, "tracemill: the data ends inside a message (byte 99)\n");
    assert_int_equal(tm_while(&error, "reading '%s'", "a.pb"), TM_ERR_INPUT);
    (void)tm_while(&error, "running report");
    tm_hint(&error, "copy the file again");
    assert_prints(&error, "tracemill: the data ends inside a message (byte 99)\n"
                          "  while reading 'a.pb'\n  while running report\nhint: copy the file again\n");
}

static void causes_past_the_last_place_are_left_out(void **state)
{
    struct tm_error error = { 0 };

    (void)state;
    assert_int_equal(tm_while(&error, "doing nothing wrong"), TM_OK);
    assert_int_equal(error.causes, 0);
    (void)tm_fail(&error, TM_ERR_LIMIT, -1, "full");
    for (int i = 0; i < 2 * TM_ERROR_CAUSES; i++)
        assert_int_equal(tm_while(&error, "layer %d", i), TM_ERR_LIMIT);
    assert_int_equal(error.causes, TM_ERROR_CAUSES);
    assert_string_equal(error.while_doing[TM_ERROR_CAUSES - 1], "layer 5");
}

static void texts_are_cleaned_for_a_terminal(void **state)
{
    /* clang-format off */
    static const struct { const char *in, *out; } table[] = {
        { "plain", "plain" },
        { "a\x1b[31mred\n\t\x7f", "a?[31mred???" },
        { "\xc2\x9b" "31m", "?31m" },      /* C1 in UTF-8 */
        { "\xc2\xa0 \xc3\xa9", "\xc2\xa0 \xc3\xa9" },
        { "\xff\xc3", "??" },
        { "\xe2\x80\xae" "gnp.\xe2\x81\xa6\xe2\x80\xa8", "?gnp.??" }, /* direction, a separator of lines */
        { "a\xe2\x80\x8b" "b\xf3\xa0\x81\x81", "a?b?" },             /* of no width */
        { "\xe2\x82", "??" },
        { "", "" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char out[64];

        tm_clean_text(out, sizeof(out), table[i].in, strlen(table[i].in));
        assert_string_equal(out, table[i].out);
    }
}

static void texts_are_cut_to_every_size(void **state)
{
    static const char text[] = "abc\xc3\xa9"
                               "defgh\xf0\x9f\x98\x80";

    (void)state;
    for (size_t room = 1; room <= sizeof(text) + 2; room++) {
        char out[32];

        memset(out, 'X', sizeof(out));
        tm_clean_text(out, room, text, sizeof(text) - 1);
        assert_true(strlen(out) < room);
        assert_int_equal(out[room], 'X');
        if (room < sizeof(text) && room > 4)
            assert_string_equal(out + strlen(out) - 3, "...");
        if (room >= sizeof(text))
            assert_string_equal(out, text);
    }
}

static void a_long_message_is_cut_with_dots(void **state)
{
    struct tm_error error = { 0 };
    char name[3000];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    (void)tm_fail(&error, TM_ERR_INPUT, -1, "cannot read '%s'", name);
    assert_int_equal(strlen(error.what), TM_ERROR_TEXT - 1);
    assert_string_equal(error.what + TM_ERROR_TEXT - 4, "...");
}

static void limits_of_the_process_have_one_status_and_a_hint(void **state)
{
    static const struct {
        int problem;
        tm_status status;
        const char *hint;
    } rows[] = {
        { EMFILE, TM_ERR_LIMIT, "allow the process more open files: 'ulimit -n 256'" },
        { EFBIG, TM_ERR_OUTPUT, "allow the process larger files: 'ulimit -f unlimited'" },
        { ENOMEM, TM_ERR_LIMIT, "" },
        { EACCES, TM_ERR_USAGE, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_error error = { 0 };

        assert_int_equal(tm_fail_system(&error, TM_ERR_USAGE, -1, rows[i].problem, "cannot open 'x'"), rows[i].status);
        assert_int_equal(error.status, rows[i].status);
        assert_string_equal(error.hint, rows[i].hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(a_hint_of_a_later_failure_is_left_out),
        cmocka_unit_test(an_error_is_printed_with_place_causes_and_hint),
        cmocka_unit_test(causes_past_the_last_place_are_left_out),
        cmocka_unit_test(texts_are_cleaned_for_a_terminal),
        cmocka_unit_test(texts_are_cut_to_every_size),
        cmocka_unit_test(a_long_message_is_cut_with_dots),
        cmocka_unit_test(limits_of_the_process_have_one_status_and_a_hint),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
