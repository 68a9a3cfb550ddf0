/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/scopes.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { ROWS_MOST = 5000 };

struct row {
    struct tm_tree_node node;
    uint64_t number;
};

static bool is_root(const void *row)
{
    return ((const struct row *)row)->node.outer.low == 0;
}

/* A row of key `key` inside `outer`; 0 = a root. */
static struct row row_of(uint64_t key, uint64_t outer)
{
    return (struct row){ .node = { { key % 3, key }, { outer % 3, outer } }, .number = key };
}

static void assert_order(const struct row *rows, uint32_t count, const uint64_t *keys, uint32_t key_count)
{
    struct tm_run run;
    uint32_t order[16], listed;

    test_run_init(&run);
    assert_int_equal(tm_tree_order(&run, TM_ACCOUNT_TABLES, rows, count, sizeof(*rows), is_root, order, &listed),
                     TM_OK);
    assert_int_equal(listed, key_count);
    for (uint32_t i = 0; i < listed; i++)
        assert_int_equal(rows[order[i]].number, keys[i]);
    assert_ledger_is_even(&run);
}

static void nodes_stand_before_what_is_in_them(void **state)
{
    const struct row rows[] = { row_of(1, 0),  row_of(12, 1), row_of(2, 0),   row_of(121, 12),
                                row_of(11, 1), row_of(21, 2), row_of(122, 12) };

    (void)state;
    assert_order(rows, 7, (const uint64_t[]){ 1, 12, 121, 122, 11, 2, 21 }, 7);
    assert_order(rows, 0, NULL, 0);
}

static void what_hangs_on_nothing_is_left_out(void **state)
{
    const struct row rows[] = { row_of(5, 6), row_of(6, 5), row_of(7, 7), row_of(1, 0), row_of(9, 8), row_of(91, 9) };

    (void)state;
    assert_order(rows, 6, (const uint64_t[]){ 1 }, 1); /* two around each other, one in itself, one without parent */
}

static void a_deep_tree_ends(void **state)
{
    struct row *rows = calloc(ROWS_MOST, sizeof(*rows));
    uint32_t *order = calloc(ROWS_MOST, sizeof(*order)), listed;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (uint64_t i = 0; i < ROWS_MOST; i++)
        rows[i] = row_of(i + 1, i);
    assert_int_equal(tm_tree_order(&run, TM_ACCOUNT_TABLES, rows, ROWS_MOST, sizeof(*rows), is_root, order, &listed),
                     TM_OK);
    assert_int_equal(listed, ROWS_MOST);
    for (uint32_t i = 0; i < listed; i++)
        assert_int_equal(order[i], i);
    free(rows);
    free(order);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_stand_before_what_is_in_them),
        cmocka_unit_test(what_hangs_on_nothing_is_left_out),
        cmocka_unit_test(a_deep_tree_ends),
    };

    return cmocka_run_group_tests_name("tree_order", tests, NULL, NULL);
}
