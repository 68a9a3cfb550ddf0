/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of several hosts on one: which begins it, who is placed where, what cannot be. */
#include "pipeline/engine/analysis.h"
#include "tests/support/test_run.h"

enum { HOSTS = 3 };
static const int64_t s_ns = 1000000000, day_ns = INT64_C(86400) * 1000000000,
                     epoch_ns = INT64_C(1700000000) * 1000000000;

static void the_earliest_host_begins_the_clock_of_the_output(void **state)
{
    const struct {
        const char *label;
        int64_t base_ns[HOSTS], first_ps[HOSTS], epoch_ns, offset_ps[HOSTS];
    } cases[] = {
        { "the second is the earliest",
          { epoch_ns + s_ns, epoch_ns, epoch_ns + 2 * s_ns },
          { 5, 5, 5 },
          epoch_ns,
          { s_ns * 1000, 0, 2 * s_ns * 1000 } },
        { "one does not tell", { epoch_ns + s_ns, 0, epoch_ns }, { 0 }, epoch_ns, { s_ns * 1000, 0, 0 } },
        { "one tells a time that cannot be",
          { epoch_ns, epoch_ns + 3 * day_ns, epoch_ns + day_ns },
          { 0 },
          epoch_ns,
          { 0, 0, day_ns * 1000 } },
        { "nobody tells", { 0 }, { 7, 8, 9 }, 0, { 0 } },
        { "an event before time 0",
          { epoch_ns, epoch_ns, epoch_ns },
          { 0, -1, -1001 },
          epoch_ns - 2,
          { 2000, 2000, 2000 } },
        { "the same on a clock that reads 0", { 0 }, { 0, -1, 0 }, 0, { 1000, 1000, 1000 } },
        { "further back than picoseconds count", { 0 }, { 0, INT64_MIN, 0 }, 0, { INT64_MAX, INT64_MAX, INT64_MAX } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_host_clock clocks[HOSTS];

        for (size_t k = 0; k < HOSTS; k++)
            clocks[k] = (struct tm_host_clock){ .base_ns = cases[i].base_ns[k], .first_ps = cases[i].first_ps[k] };
        print_message("%s\n", cases[i].label);
        assert_int_equal(tm_host_clocks_place(clocks, HOSTS, NULL), cases[i].epoch_ns);
        for (size_t k = 0; k < HOSTS; k++)
            assert_int_equal(clocks[k].to_output.offset_ps, cases[i].offset_ps[k]);
    }
}

/* The second host's profile started 1 s later by its clock, which is 3 us behind and gains 10 us in a second. */
static void collectives_place_hosts_where_they_show_their_clocks(void **state)
{
    static const char json[] = "{\"collectives\":{\"skew\":{\"clock\":{\"list\":["
                               "{\"host\":\"a\",\"offset_ps\":0,\"drift_ppm\":0},"
                               "{\"host\":\"b\",\"offset_ps\":-3000500,\"drift_ppm\":10},"
                               "{\"host\":\"c\",\"offset_ps\":7,\"drift_ppm\":1e9}]}}}}";
    struct tm_host_clock clocks[HOSTS] = { { .base_ns = epoch_ns }, { .base_ns = epoch_ns + s_ns }, { .base_ns = 0 } };
    struct tm_run run;
    struct tm_doc *doc;
    int64_t at_ps;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    assert_int_equal(tm_doc_read(doc, tm_doc_root(doc), json, sizeof(json) - 1, "a test"), TM_OK);
    assert_int_equal(tm_host_clocks_place(clocks, HOSTS, tm_doc_root(doc)), epoch_ns - 3001);
    assert_int_equal(clocks[0].to_output.offset_ps, 3001000);
    assert_int_equal(clocks[1].to_output.offset_ps, 500);
    assert_true(tm_clock_at(&clocks[1].to_output, s_ns * 1000, &at_ps));
    assert_in_range(at_ps, s_ns * 1000 + 10000500 - 2, s_ns * 1000 + 10000500 + 2);
    assert_int_equal(clocks[2].to_output.drift_q40, 0); /* no clock is so wrong */
    /* a host without one: all are placed by what they record */
    assert_int_equal(tm_host_clocks_place(clocks, HOSTS - 1, NULL), epoch_ns);
    assert_int_equal(clocks[1].to_output.offset_ps, s_ns * 1000);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

/* The first host recorded its start 5 s too early: what is before the first event would be empty. */
static void aligned_hosts_start_with_their_first_event(void **state)
{
    static const char json[] = "{\"collectives\":{\"skew\":{\"clock\":{\"list\":["
                               "{\"host\":\"a\",\"offset_ps\":0,\"drift_ppm\":0},"
                               "{\"host\":\"b\",\"offset_ps\":5000000000000,\"drift_ppm\":0}]}}}}";
    struct tm_host_clock clocks[] = { { .base_ns = epoch_ns, .first_ps = 5500000000000 },
                                      { .base_ns = epoch_ns, .first_ps = 400000000000 } };
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    assert_int_equal(tm_doc_read(doc, tm_doc_root(doc), json, sizeof(json) - 1, "a test"), TM_OK);
    assert_int_equal(tm_host_clocks_place(clocks, 2, tm_doc_root(doc)), epoch_ns + 5400000000);
    assert_int_equal(clocks[0].to_output.offset_ps, -5400000000000);
    assert_int_equal(clocks[1].to_output.offset_ps, -400000000000);
    assert_int_equal(tm_host_clocks_first(clocks, 2), 0);
    clocks[0].first_ps = 900000000000; /* what is shorter than a second stays */
    assert_int_equal(tm_host_clocks_place(clocks, 2, tm_doc_root(doc)), epoch_ns);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void a_host_tells_what_its_clock_read(void **state)
{
    const struct {
        uint8_t origin;
        int64_t clock_ns, origin_us, base_ns;
    } cases[] = {
        { TM_ORIGIN_XSPACE, epoch_ns, 17, epoch_ns },
        { TM_ORIGIN_XSPACE, INT64_MAX, 17, 0 },
        { TM_ORIGIN_PYTORCH, 5, epoch_ns / 1000, epoch_ns },
        { TM_ORIGIN_PYTORCH, 5, INT64_MAX, 0 },
        { TM_ORIGIN_PYTORCH, 5, -1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_trace trace = {
            .origin = cases[i].origin, .origin_us = cases[i].origin_us, .first_ps = 42, .clock_ns = cases[i].clock_ns
        };
        struct tm_host_clock clock;

        tm_host_clock_note(&clock, &trace);
        assert_int_equal(clock.base_ns, cases[i].base_ns);
        assert_int_equal(clock.first_ps, 42);
        assert_true(clock.is_noted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_host_begins_the_clock_of_the_output),
        cmocka_unit_test(collectives_place_hosts_where_they_show_their_clocks),
        cmocka_unit_test(aligned_hosts_start_with_their_first_event),
        cmocka_unit_test(a_host_tells_what_its_clock_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
