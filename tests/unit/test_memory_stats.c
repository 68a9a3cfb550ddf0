/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/test_run.h"

static void the_peak_follows_what_is_used(void **state)
{
    struct tm_memory_stats before, after;
    struct tm_run run;
    const size_t bytes = (size_t)64 << 20;
    const size_t small_bytes = 1 << 20; /* larger ones do not come from the allocator */

    (void)state;
    test_run_init(&run);
    tm_memory_stats(&before);
    assert_true(before.peak_resident_bytes > 0);
    char *block = tm_take(&run.budget, TM_ACCOUNT_SORT, bytes, &run.error);

    char *small = tm_take(&run.budget, TM_ACCOUNT_SORT, small_bytes, &run.error);

    assert_non_null(block);
    assert_non_null(small);
    memset(block, 1, bytes);
    tm_memory_stats(&after);
    assert_true(after.peak_resident_bytes >= before.peak_resident_bytes + bytes / 2);
#ifdef TM_HAVE_JEMALLOC
    assert_true(after.allocated_bytes >= before.allocated_bytes + small_bytes);
    assert_true(after.resident_bytes >= after.active_bytes);
#endif
    tm_give(&run.budget, TM_ACCOUNT_SORT, small, small_bytes);
    tm_give(&run.budget, TM_ACCOUNT_SORT, block, bytes);
}

static void the_figures_are_printed_by_account(void **state)
{
    struct tm_run run;
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);

    (void)state;
    assert_non_null(to);
    test_run_init(&run);
    run.events_read = 3000;
    run.bytes_read = 12345;
    run.budget.spilled_bytes = 5 << 20;
    run.budget.peak_bytes[TM_ACCOUNT_STEPS] = 3 << 19;
    tm_stats_print(&run, 1.5, to);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(text, "3000\n"));
    assert_non_null(strstr(text, "2000 (of CPU time)\n"));
    assert_non_null(strstr(text, "12345\n"));
    assert_non_null(strstr(text, "5.0 MiB\n"));
    const char *steps = strstr(text, "  steps");

    assert_non_null(steps);
    assert_true(strstr(steps, "1.50") < strchr(steps, '\n'));
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        assert_non_null(strstr(text, tm_account_name[i]));
    free(text);
}

static void no_time_gives_no_rate(void **state)
{
    struct tm_run run;
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);

    (void)state;
    assert_non_null(to);
    test_run_init(&run);
    tm_stats_print(&run, 0, to);
    assert_int_equal(fclose(to), 0);
    assert_null(strstr(text, "per second"));
    free(text);
}

#ifdef TM_HAVE_JEMALLOC
/* The heap is advised to have huge pages if a large input follows: the flag "hg" of the mapping. */
static bool has_huge_pages(const void *block)
{
    FILE *const maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool is_there = false, has = false;

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        uintptr_t from, to;

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            is_there = (uintptr_t)block >= from && (uintptr_t)block < to;
        else if (is_there && !strncmp(line, "VmFlags:", 8))
            has = strstr(line, " hg");
    }
    (void)fclose(maps);
    return has;
}

enum { HEAP_BLOCKS = 32, HEAP_BLOCK_BYTES = 1 << 20 };

static bool grows_by_huge_pages(void *blocks[HEAP_BLOCKS])
{
    bool does = false;

    for (int i = 0; i < HEAP_BLOCKS; i++) {
        blocks[i] = malloc(HEAP_BLOCK_BYTES);
        assert_non_null(blocks[i]);
        does |= has_huge_pages(blocks[i]);
    }
    return does;
}

static void a_large_input_gets_huge_pages(void **state)
{
    void *before[HEAP_BLOCKS], *after[HEAP_BLOCKS];

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        skip();
    tm_memory_expect_input((1 << 20) - 1);
    assert_false(grows_by_huge_pages(before));
    tm_memory_expect_input(1 << 20);
    tm_memory_expect_input(1 << 20);
    assert_true(grows_by_huge_pages(after));
    for (int i = 0; i < HEAP_BLOCKS; i++) {
        free(before[i]);
        free(after[i]);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_follows_what_is_used),
        cmocka_unit_test(the_figures_are_printed_by_account),
        cmocka_unit_test(no_time_gives_no_rate),
#ifdef TM_HAVE_JEMALLOC
        cmocka_unit_test(a_large_input_gets_huge_pages),
#endif
    };

    return cmocka_run_group_tests_name("memory_stats", tests, NULL, NULL);
}
