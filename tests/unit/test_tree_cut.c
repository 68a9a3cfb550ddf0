/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/tree_cut.h"

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static const char *const tree = "{'rows': [{'n': 'a', 't': 10}, {'n': 'ab', 't': 7}, {'n': 'ac', 't': 3}, "
                                "{'n': 'acd', 't': 3}, {'n': 'e', 't': 5}, {'n': 'ef', 't': 3}]}";

static void assert_shown(size_t most, const char *names)
{
    struct tm_run run;
    struct tm_doc *doc;
    const struct tm_value *rows;
    struct tm_tree_cut cut;
    char shown[64] = "";

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), tree);
    rows = tm_get(tm_doc_root(doc), "rows");
    tm_tree_cut_find(&cut, rows, "t", most);
    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_tree_cut_shows(&cut, tm_at(rows, i))) {
            strcat(shown, tm_text(tm_get(tm_at(rows, i), "n")));
            strcat(shown, " ");
        }
    assert_string_equal(shown, names);
    tm_doc_free(doc);
}

static void rows_with_most_are_shown_and_parents_with_them(void **state)
{
    (void)state;
    assert_shown(1, "a ");
    assert_shown(3, "a ab e ");
    assert_shown(4, "a ab ac e ");
    assert_shown(5, "a ab ac acd e ");
    assert_shown(6, "a ab ac acd e ef ");
    assert_shown(1000, "a ab ac acd e ef ");
}

static void no_rows_are_no_harm(void **state)
{
    struct tm_tree_cut cut;

    (void)state;
    tm_tree_cut_find(&cut, NULL, "t", 30);
    assert_int_equal(cut.equal, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_most_are_shown_and_parents_with_them),
        cmocka_unit_test(no_rows_are_no_harm),
    };

    return cmocka_run_group_tests_name("tree_cut", tests, NULL, NULL);
}
