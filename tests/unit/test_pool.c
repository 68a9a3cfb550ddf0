/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that spill draw from the pool of the ledger first, keep to what it gave, and give it back. */
#include "pipeline/store/groups.h"
#include "pipeline/store/lengths.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "stages/resolve/resolver.h"
#include "tests/support/test_run.h"

enum { SURE_BYTES = 256 << 10, LIMIT_MIB = 64 };

struct row {
    struct tm_key key;
    uint64_t fill[6];
};

static void keep(void *into, const void *from)
{
    (void)into;
    (void)from;
}

static int by_key(const void *a, const void *b)
{
    return tm_key_order(((const struct row *)a)->key, ((const struct row *)b)->key);
}

/* Keys in no order. */
static struct row row_of(uint64_t i)
{
    return (struct row){ .key = { i * UINT64_C(0x9e3779b97f4a7c15), i } };
}

static void *fill_groups(struct tm_run *run, uint64_t count)
{
    struct tm_groups *groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), SURE_BYTES, keep);

    for (uint64_t i = 0; i < count; i++) {
        const struct row row = row_of(i);

        tm_groups_add(groups, &row);
    }
    tm_groups_finish(groups);
    return groups;
}

static void *fill_sorter(struct tm_run *run, uint64_t count)
{
    struct tm_sorter *sorter = tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), SURE_BYTES, by_key);

    for (uint64_t i = 0; i < count; i++) {
        const struct row row = row_of(i);

        tm_sorter_push(sorter, &row);
    }
    tm_sorter_finish(sorter);
    return sorter;
}

static void *fill_index(struct tm_run *run, uint64_t count)
{
    struct tm_index *index = tm_index_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), SURE_BYTES, TM_INDEX_FIRST, NULL);

    for (uint64_t i = 0; i < count; i++) {
        const struct row row = row_of(i);

        tm_index_put(index, &row);
    }
    tm_index_finish(index);
    return index;
}

static void *fill_rows(struct tm_run *run, uint64_t count)
{
    struct tm_rows *rows = tm_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct row), SURE_BYTES);

    for (uint64_t i = 0; i < count; i++) {
        const struct row row = row_of(i);

        tm_rows_append(rows, &row);
    }
    return rows;
}

static void *fill_spans(struct tm_run *run, uint64_t count)
{
    struct tm_spans *spans = tm_spans_new(run, TM_ACCOUNT_TABLES, SURE_BYTES);

    for (uint64_t i = 0; i < count; i++) {
        const struct tm_span span = { .lane = i % 3, .start_ps = (int64_t)i, .end_ps = (int64_t)i };

        tm_spans_add(spans, &span);
    }
    tm_spans_finish(spans);
    return spans;
}

static void *fill_lengths(struct tm_run *run, uint64_t count)
{
    struct tm_lengths *lengths = tm_lengths_new(run, TM_ACCOUNT_TABLES, SURE_BYTES);

    for (uint64_t i = 0; i < count; i++)
        tm_lengths_add(lengths, i % 5, i * UINT64_C(0x9e3779b97f4a7c15), 1);
    tm_lengths_finish(lengths);
    return lengths;
}

static void free_groups(void *structure)
{
    tm_groups_free(structure);
}

static void free_sorter(void *structure)
{
    tm_sorter_free(structure);
}

static void free_index(void *structure)
{
    tm_index_free(structure);
}

static void free_rows(void *structure)
{
    tm_rows_free(structure);
}

static void free_spans(void *structure)
{
    tm_spans_free(structure);
}

static void free_lengths(void *structure)
{
    tm_lengths_free(structure);
}

static const struct kind {
    void *(*fill)(struct tm_run *run, uint64_t count);
    void (*free)(void *structure);
} kinds[] = {
    { fill_groups, free_groups }, { fill_sorter, free_sorter }, { fill_index, free_index },
    { fill_rows, free_rows },     { fill_spans, free_spans },   { fill_lengths, free_lengths },
};

static void open_run(struct tm_run *run)
{
    test_run_init(run);
    tm_budget_init(&run->budget, (size_t)LIMIT_MIB * TM_MIB);
}

static void nothing_is_spilled_while_the_pool_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct tm_run run;

        open_run(&run);
        void *structure = kinds[i].fill(&run, 20000); /* 1.3 MB of rows */

        assert_int_equal(run.budget.spilled_bytes, 0);
        assert_true(run.budget.used_bytes[TM_ACCOUNT_TABLES] > SURE_BYTES);
        kinds[i].free(structure);
        assert_ledger_is_even(&run);
    }
}

/* What is held is never more than what the structure was sure of and what the pool gave.  A block that moves is held
 * twice for a moment. */
static void what_the_pool_gave_is_kept_to(void **state)
{
    (void)state;
#ifdef TM_HEAP_BLOCKS
    skip(); /* blocks of the heap are held twice when they grow */
#endif
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct tm_run run;

        open_run(&run);
        const size_t pool = run.budget.pool_bytes;
        void *structure = kinds[i].fill(&run, 600000); /* 38 MB of rows, except lengths and spans */

        assert_true(run.budget.spilled_bytes > 0);
        assert_true(run.budget.pool_bytes > pool / 8);
        assert_true(run.budget.used_bytes[TM_ACCOUNT_TABLES] <= SURE_BYTES + pool - run.budget.pool_bytes);
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= SURE_BYTES + pool);
        kinds[i].free(structure);
        assert_ledger_is_even(&run);
    }
}

/* One after the other finds less, and all of them together leave something. */
static void many_structures_share_the_pool(void **state)
{
    void *structures[12];
    struct tm_run run;

    (void)state;
    open_run(&run);
    const size_t pool = run.budget.pool_bytes;

    for (size_t i = 0; i < 12; i++) {
        structures[i] = kinds[i % 6].fill(&run, 200000);
        assert_true(run.budget.used_bytes[TM_ACCOUNT_TABLES] <= (i + 1) * SURE_BYTES + pool - run.budget.pool_bytes);
    }
    assert_true(run.budget.pool_bytes > 0);
    for (size_t i = 0; i < 12; i++)
        kinds[i % 6].free(structures[i]);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_spilled_while_the_pool_gives),
        cmocka_unit_test(what_the_pool_gave_is_kept_to),
        cmocka_unit_test(many_structures_share_the_pool),
    };

    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
