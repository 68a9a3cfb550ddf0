/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a batch: each item in one of them, of about the same weight, the same in all processes; and which one a
 * process works. */
#include <stdlib.h>

#include "pipeline/nightly/manifest.h"
#include "tests/support/test_run.h"

enum { RUNS = 1000, SHARDS = 7 };

/* Runs of one or three files, of sizes that differ by a factor of a million. */
static void make_manifest(struct tm_manifest *m, struct tm_run *run)
{
    uint64_t random = 5;

    tm_manifest_begin(m, run);
    for (size_t i = 0; i < RUNS; i++) {
        struct tm_batch_run to = { .root = "/d", .path = "", .name = "", .files = i % 10 == 0 ? 3 : 1 };
        char text[64];

        (void)snprintf(text, sizeof(text), "run-%zu", i);
        to.id = tm_manifest_copy(m, text, strlen(text));
        to.file = tm_manifest_take(m, to.files * sizeof(*to.file));
        assert_non_null(to.id);
        assert_non_null(to.file);
        for (size_t k = 0; k < to.files; k++) {
            (void)snprintf(text, sizeof(text), "host-%zu", k);
            to.file[k].id = tm_manifest_copy(m, text, strlen(text));
            to.file[k].path = i % 3 ? "x.xplane.pb" : "x.trace.json.gz";
            to.file[k].bytes = (uint64_t)1 << next_number(&random) % 27;
            assert_non_null(to.file[k].id);
        }
        assert_int_equal(tm_manifest_add(m, &to), TM_OK);
    }
}

static uint64_t weight_of(const struct tm_batch_item *items, size_t count)
{
    uint64_t weight = 0;

    for (size_t i = 0; i < count; i++)
        weight += items[i].weight;
    return weight;
}

static void each_item_is_in_one_share_and_shares_weigh_the_same(void **state)
{
    static uint8_t seen[RUNS][3];
    uint64_t weights[SHARDS], least = UINT64_MAX, most = 0;
    struct tm_manifest m;
    struct tm_run run;
    size_t total = 0;

    (void)state;
    test_run_init(&run);
    make_manifest(&m, &run);
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct tm_batch_item *items, *again;
        size_t count, again_count;

        assert_int_equal(tm_batch_items(&m, i, SHARDS, NULL, NULL, &items, &count), TM_OK);
        assert_int_equal(tm_batch_items(&m, i, SHARDS, NULL, NULL, &again, &again_count), TM_OK);
        assert_int_equal(count, again_count);
        assert_memory_equal(items, again, count * sizeof(*items));
        for (size_t k = 0; k < count; k++) {
            seen[items[k].run - m.runs][items[k].file - items[k].run->file]++;
            assert_true(k == 0 || items[k].weight <= items[k - 1].weight);
        }
        weights[i] = weight_of(items, count);
        total += count;
        tm_batch_items_free(&run, items, count);
        tm_batch_items_free(&run, again, again_count);
    }
    assert_int_equal(total, m.files);
    for (size_t i = 0; i < RUNS; i++) {
        for (size_t k = 0; k < m.runs[i].files; k++)
            assert_int_equal(seen[i][k], 1);
    }
    for (size_t i = 0; i < SHARDS; i++) {
        least = weights[i] < least ? weights[i] : least;
        most = weights[i] > most ? weights[i] : most;
    }
    assert_true(most - least < most / 100);
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
}

static void weights_are_bytes_of_plain_profiles(void **state)
{
    static const struct {
        const char *path, *member;
        uint64_t bytes, weight;
    } cases[] = {
        { "a.xplane.pb", NULL, 1000, (12 << 20) + 1000 },
        { "a.trace.json.gz", NULL, 1000, (12 << 20) + 4000 },
        { "a.xplane.pb.zst", NULL, 1000, (12 << 20) + 4000 },
        { "a.trace.json", NULL, 1000, (12 << 20) + 250 },
        { "a.tar.gz", "a.xplane.pb", 1000, (12 << 20) + 1000 }, /* its size is told unpacked */
        { "a.xplane.pb", NULL, 0, 12 << 20 },
        { "a.trace.json.gz", NULL, INT64_MAX, UINT64_MAX >> 24 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_batch_file file = {
            .path = cases[i].path, .member = cases[i].member, .bytes = cases[i].bytes, .id = "x"
        };
        struct tm_batch_run one = { .id = "r", .file = &file, .files = 1 };
        struct tm_run run;
        const struct tm_manifest m = { .run = &run, .runs = &one, .count = 1, .files = 1 };
        struct tm_batch_item *items;
        size_t count;

        test_run_init(&run);
        assert_int_equal(tm_batch_items(&m, 0, 1, NULL, NULL, &items, &count), TM_OK);
        assert_int_equal(count, 1);
        assert_int_equal(items[0].weight, cases[i].weight);
        tm_batch_items_free(&run, items, count);
    }
}

static bool is_third(void *of, const struct tm_batch_item *item)
{
    return (size_t)(item->run - ((const struct tm_manifest *)of)->runs) % 3 == 0;
}

static void some_can_be_left_out_before(void **state)
{
    struct tm_manifest m;
    struct tm_run run;
    struct tm_batch_item *items;
    size_t count;

    (void)state;
    test_run_init(&run);
    make_manifest(&m, &run);
    assert_int_equal(tm_batch_items(&m, 0, 1, is_third, &m, &items, &count), TM_OK);
    assert_true(count >= RUNS / 3 && count < RUNS);
    for (size_t i = 0; i < count; i++)
        assert_true(is_third(&m, &items[i]));
    tm_batch_items_free(&run, items, count);
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
}

static void there_may_be_more_shares_than_items(void **state)
{
    struct tm_manifest m;
    struct tm_run run;
    size_t total = 0;

    (void)state;
    test_run_init(&run);
    make_manifest(&m, &run);
    for (uint32_t i = 0; i < 2000; i++) {
        struct tm_batch_item *items;
        size_t count;

        assert_int_equal(tm_batch_items(&m, i, 2000, NULL, NULL, &items, &count), TM_OK);
        assert_true(count <= 1);
        total += count;
        tm_batch_items_free(&run, items, count);
    }
    assert_int_equal(total, m.files);
    tm_manifest_free(&m);
    assert_ledger_is_even(&run);
}

static tm_status share_out(struct tm_run *run)
{
    static struct tm_batch_file file = { .path = "x", .id = "x", .bytes = 1 };
    struct tm_batch_run one = { .id = "r", .file = &file, .files = 1 };
    struct tm_manifest m = { .run = run, .runs = &one, .count = 1, .files = 1 };
    struct tm_batch_item *items;
    size_t count;
    const tm_status st = tm_batch_items(&m, 0, 2, NULL, NULL, &items, &count);

    tm_batch_items_free(run, items, count);
    return st;
}

static void refused_memory_is_an_error_and_no_more(void **state)
{
    (void)state;
    refuse_each_request(share_out);
}

/* --- which share --- */

static const char *const variables[] = { "SLURM_ARRAY_TASK_ID",    "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
                                         "SLURM_ARRAY_TASK_COUNT", "JOB_COMPLETION_INDEX", "PARALLEL_SEQ" };
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

static void the_share_is_what_is_told_or_what_a_scheduler_says(void **state)
{
    static const struct {
        struct tm_shard told;
        const char *values[VARIABLES];
        uint32_t index, count; /* count 0 = refused */
        const char *hint;
    } cases[] = {
        { { 0, 0, false }, { NULL }, 0, 1, "" },
        { { 0, 1, false }, { NULL }, 0, 1, "" },
        { { 2, 5, true }, { "7", "0", "9", "10", "3", "4" }, 2, 5, "" },
        { { 0, 4, false }, { NULL }, 0, 0, "'--shard 0/4'" },
        /* Slurm */
        { { 0, 0, false }, { "7", "0", "9", "10" }, 7, 10, "" },
        { { 0, 0, false }, { "7", "1", "10", "10" }, 6, 10, "" },
        { { 0, 0, false }, { "7", "1", "10", "5" }, 0, 0, "'--shard auto/16'" },
        { { 0, 0, false }, { "0", "1", "10", "10" }, 0, 0, "" },
        { { 0, 0, false }, { "11", "1", "10", "10" }, 0, 0, "" },
        { { 0, 0, false }, { "7" }, 0, 0, "'--shard auto/16'" },
        { { 0, 12, false }, { "7", "7", "7", "1" }, 7, 12, "" },
        { { 0, 12, false }, { "12", "7", "12", "2" }, 0, 0, "'--shard auto/13'" },
        { { 0, 0, false }, { "x", "0", "9", "10" }, 0, 0, "" },
        { { 0, 0, false }, { "4294967296", "0", "9", "10" }, 0, 0, "" },
        { { 0, 0, false }, { "5", "0", "999999999", "1000000000" }, 0, 0, "'--shard auto/16'" },
        /* Kubernetes */
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, "3" }, 3, 4, "" },
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, "4" }, 0, 0, "'--shard auto/5'" },
        { { 0, 0, false }, { NULL, NULL, NULL, NULL, "3" }, 0, 0, "'--shard auto/16'" },
        { { 0, 1, true }, { NULL, NULL, NULL, NULL, "3" }, 0, 1, "" },
        { { 0, 0, false }, { NULL, NULL, NULL, NULL, "" }, 0, 1, "" },
        /* GNU parallel: its own number is set whatever it runs */
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, NULL, "1" }, 0, 4, "" },
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, NULL, "4" }, 3, 4, "" },
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, NULL, "5" }, 0, 0, "" },
        { { 0, 4, false }, { NULL, NULL, NULL, NULL, NULL, "0" }, 0, 0, "" },
        { { 0, 0, false }, { NULL, NULL, NULL, NULL, NULL, "3" }, 0, 1, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_shard shard;
        struct tm_run run;
        tm_status st;

        test_run_init(&run);
        for (size_t k = 0; k < VARIABLES; k++) {
            if (cases[i].values[k])
                assert_int_equal(setenv(variables[k], cases[i].values[k], 1), 0);
            else
                assert_int_equal(unsetenv(variables[k]), 0);
        }
        st = tm_shard_choose(&run, cases[i].told, &shard);
        print_message("case %zu: %s\n", i, run.error.what);
        assert_int_equal(st, cases[i].count ? TM_OK : TM_ERR_USAGE);
        if (st == TM_OK) {
            assert_int_equal(shard.index, cases[i].index);
            assert_int_equal(shard.count, cases[i].count);
        } else {
            assert_non_null(strstr(run.error.hint, cases[i].hint));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_in_one_share_and_shares_weigh_the_same),
        cmocka_unit_test(weights_are_bytes_of_plain_profiles),
        cmocka_unit_test(some_can_be_left_out_before),
        cmocka_unit_test(there_may_be_more_shares_than_items),
        cmocka_unit_test(refused_memory_is_an_error_and_no_more),
        cmocka_unit_test(the_share_is_what_is_told_or_what_a_scheduler_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
