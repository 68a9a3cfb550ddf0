/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with most of a figure, of lists and of trees. */
#include "reports/format/format.h"

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
};

static const struct tm_value *load(struct fixture *f, const char *json)
{
    test_run_init(&f->run);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    test_summary_load(tm_doc_root(f->doc), json);
    return tm_get(tm_doc_root(f->doc), "rows");
}

static void the_rows_with_most_come_first(void **state)
{
    struct fixture f;
    const struct tm_value *rows = load(&f, "{'rows':[{'n':3,'ok':true},{'n':9,'ok':false},{'n':5,'ok':true},"
                                           "{'n':5,'ok':true},{'n':1,'ok':true}]}");
    size_t pick[4];

    (void)state;
    assert_int_equal(tm_pick_largest(rows, "n", NULL, 4, pick), 4);
    assert_true(pick[0] == 1 && pick[1] == 2 && pick[2] == 3 && pick[3] == 0);
    assert_int_equal(tm_pick_largest(rows, "n", "ok", 2, pick), 2);
    assert_true(pick[0] == 2 && pick[1] == 3);
    assert_int_equal(tm_pick_largest(rows, "n", "nothing", 4, pick), 0);
    assert_int_equal(tm_pick_largest(rows, "n", NULL, 0, pick), 0);
    assert_int_equal(tm_pick_largest(NULL, "n", NULL, 4, pick), 0);
    tm_doc_free(f.doc);
}

static void no_more_are_picked_than_there_is_room_for(void **state)
{
    struct fixture f;
    struct tm_value *rows;
    size_t pick[TM_PICK_MOST];

    (void)state;
    (void)load(&f, "{}");
    rows = tm_add_array(tm_doc_root(f.doc), "many");
    for (int i = 0; i < 2 * TM_PICK_MOST; i++)
        tm_add_int(tm_add_object(rows, NULL), "n", i);
    assert_int_equal(tm_pick_largest(rows, "n", NULL, SIZE_MAX, pick), TM_PICK_MOST);
    assert_int_equal(pick[0], 2 * TM_PICK_MOST - 1);
    assert_int_equal(pick[TM_PICK_MOST - 1], TM_PICK_MOST);
    tm_doc_free(f.doc);
}

static const char *const tree = "{'rows': [{'n': 'a', 't': 10}, {'n': 'ab', 't': 7}, {'n': 'ac', 't': 3}, "
                                "{'n': 'acd', 't': 3}, {'n': 'e', 't': 5}, {'n': 'ef', 't': 3}]}";

static void assert_picked(size_t most, const char *names)
{
    struct fixture f;
    const struct tm_value *rows = load(&f, tree);
    size_t pick[TM_PICK_MOST];
    const size_t n = tm_pick_largest(rows, "t", NULL, most, pick);
    char shown[64] = "";

    tm_pick_in_order(pick, n);
    for (size_t i = 0; i < n; i++) {
        strcat(shown, tm_text(tm_get(tm_at(rows, pick[i]), "n")));
        strcat(shown, " ");
    }
    assert_string_equal(shown, names);
    tm_doc_free(f.doc);
}

static void rows_of_a_tree_have_their_parents_with_them(void **state)
{
    (void)state;
    assert_picked(1, "a ");
    assert_picked(3, "a ab e ");
    assert_picked(4, "a ab ac e ");
    assert_picked(5, "a ab ac acd e ");
    assert_picked(6, "a ab ac acd e ef ");
    assert_picked(1000, "a ab ac acd e ef ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_with_most_come_first),
        cmocka_unit_test(no_more_are_picked_than_there_is_room_for),
        cmocka_unit_test(rows_of_a_tree_have_their_parents_with_them),
    };

    return cmocka_run_group_tests_name("pick", tests, NULL, NULL);
}
