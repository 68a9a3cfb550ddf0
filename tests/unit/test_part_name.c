/* SPDX-License-Identifier: Apache-2.0 */
/* Names of parts: what they are made of, and what may pass for one. */
#include <string.h>

#include "pipeline/atomic_file.h"
#include "tests/support/test_run.h"

static void hosts_and_devices_become_plain_parts_of_a_path(void **state)
{
    const struct {
        unsigned number;
        const char *text, *name;
    } cases[] = {
        { 1, "node7", "part-0001-node7" },       { 12, "gpu:0", "part-0012-gpu0" },
        { 9999, "../a b", "part-9999-.._a_b" },  { 3, "a-b", "part-0003-a_b" },
        { 4, "caf\xc3\xa9", "part-0004-caf__" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[TM_PART_NAME_BYTES];

        tm_part_name_begin(name, sizeof(name), cases[i].number);
        tm_part_name_add(name, sizeof(name), cases[i].text);
        assert_string_equal(name, cases[i].name);
        assert_true(tm_is_part_name(name));
    }
}

static void long_names_stay_inside_their_room(void **state)
{
    char text[4096], name[TM_PART_NAME_BYTES] = "";

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    tm_part_name_begin(name, sizeof(name), 1);
    for (int i = 0; i < 8; i++)
        tm_part_name_add(name, sizeof(name), text);
    assert_int_equal(strlen(name), sizeof(name) - 1);
    assert_true(tm_is_part_name(name));
}

static void nothing_else_passes_for_a_part(void **state)
{
    static const char *const others[] = { "",         "part",        "PART-0001",  "part-0001/../x",
                                          "part-a b", "./part-0001", "part-\"x\"", "index.html" };
    char too_long[TM_PART_NAME_BYTES + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(tm_is_part_name(others[i]));
    memset(too_long, 'a', sizeof(too_long) - 1);
    memcpy(too_long, "part-", 5);
    too_long[sizeof(too_long) - 1] = '\0';
    assert_false(tm_is_part_name(too_long));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_devices_become_plain_parts_of_a_path),
        cmocka_unit_test(long_names_stay_inside_their_room),
        cmocka_unit_test(nothing_else_passes_for_a_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
