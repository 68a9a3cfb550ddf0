/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/stage_driver.h"

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

/* A bench with `count` lines "line N" of two events each; every third one is empty, and only the events of the first
 * that is not have a place in time: one from -5, one up to 120. */
static tm_status open_bench(struct bench *b, struct tm_run *run, uint32_t count)
{
    if (bench_open(b, run, &tm_contents_stage) != TM_OK)
        return run->error.status;
    (void)snprintf(b->trace.host_name, sizeof(b->trace.host_name), "h0");
    b->trace.tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
    if (!b->trace.tracks)
        return run->error.status;
    for (uint32_t i = 0; i < count; i++) {
        struct tm_track track = { .side = TM_SIDE_HOST,
                                  .id = i,
                                  .events = i % 3 ? 2 : 0,
                                  .records = i == 1 ? 2 : 0,
                                  .first_ps = -5,
                                  .last_ps = 120 };
        char name[32];

        (void)snprintf(name, sizeof(name), "line %u", i);
        track.name = bench_name(b, name);
        track.plane_name = bench_name(b, "/host:CPU");
        tm_rows_append(b->trace.tracks, &track);
    }
    return tm_failed(run) ? run->error.status : bench_begin(b);
}

static tm_status give(struct bench *b, uint32_t track, const char *name, enum tm_class class, int64_t start_ps,
                      int64_t dur_ps)
{
    struct tm_event event = bench_event(bench_name(b, name), class, &no_config, start_ps, dur_ps);

    event.record.track = track;
    return bench_take(b, &event);
}

static void close_bench(struct bench *b)
{
    tm_rows_free(b->trace.tracks);
    bench_close(b);
}

static void lines_have_their_events_and_their_stretch_of_time(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    assert_int_equal(open_bench(&b, &run, 4), TM_OK);
    assert_int_equal(bench_end(&b), TM_OK);
    assert_int_equal(bench_report(&b), TM_OK);
    assert_int_equal(tm_length(bench_get(&b, "contents[0].lines")), 2);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].empty_lines")), 2);
    assert_string_equal(tm_text(bench_get(&b, "contents[0].lines[0].line")), "line 1");
    assert_string_equal(tm_text(bench_get(&b, "contents[0].lines[0].kind")), "host thread");
    assert_int_equal(tm_int(bench_get(&b, "contents[0].lines[0].first_ps")), -5);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].lines[0].last_ps")), 120);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].lines[1].events")), 2);
    assert_false(tm_has(bench_get(&b, "contents[0].lines[1].first_ps"))); /* none has a place in time */
    close_bench(&b);
    assert_ledger_is_even(&run);
}

static void names_are_counted_by_class_the_most_frequent_first(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    assert_int_equal(open_bench(&b, &run, 2), TM_OK);
    for (int i = 0; i < 100; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "n%d", i);
        for (int k = 0; k <= i; k++)
            assert_int_equal(give(&b, 1, name, TM_CLASS_RUNTIME, i, 3), TM_OK);
    }
    assert_int_equal(give(&b, 1, "n99", TM_CLASS_PYTHON, 1000, 3), TM_OK); /* another class */
    assert_int_equal(bench_end(&b), TM_OK);
    assert_int_equal(bench_report(&b), TM_OK);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].name_count")), 101);
    assert_int_equal(tm_length(bench_get(&b, "contents[0].names")), 20);
    assert_string_equal(tm_text(bench_get(&b, "contents[0].names[0].name")), "n99");
    assert_int_equal(tm_int(bench_get(&b, "contents[0].names[0].count")), 100);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].names[0].total_ps")), 300);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].names[19].count")), 81);
    close_bench(&b);
    assert_ledger_is_even(&run);
}

static void of_many_lines_the_rest_is_summed_up(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    assert_int_equal(open_bench(&b, &run, 900), TM_OK);
    assert_int_equal(bench_end(&b), TM_OK);
    assert_int_equal(bench_report(&b), TM_OK);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].line_count")), 600);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].empty_lines")), 300);
    assert_int_equal(tm_length(bench_get(&b, "contents[0].lines")), 200);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].more_lines.count")), 400);
    assert_int_equal(tm_int(bench_get(&b, "contents[0].more_lines.events")), 800);
    close_bench(&b);
    assert_ledger_is_even(&run);
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    tm_status st = open_bench(&b, run, 6);

    for (int i = 0; i < 30 && st == TM_OK; i++)
        st = give(&b, (uint32_t)i % 6, i % 2 ? "x" : "y", TM_CLASS_RUNTIME, i, 1);
    if (st == TM_OK)
        st = bench_end(&b);
    if (st == TM_OK)
        st = bench_report(&b);
    close_bench(&b);
    return st ? st : run->error.status;
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_their_events_and_their_stretch_of_time),
        cmocka_unit_test(names_are_counted_by_class_the_most_frequent_first),
        cmocka_unit_test(of_many_lines_the_rest_is_summed_up),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
