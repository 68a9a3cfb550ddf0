/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/export/exporter.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { TRACKS = 7, SPANS = 3000, MEMORY = 2 << 20 };

static struct tm_lanes *make_lanes(struct tm_run *run, size_t memory_bytes, bool holds, bool outer_first)
{
    return tm_lanes_new(run, &(struct tm_lanes_options){ TM_ACCOUNT_THREADS, memory_bytes, holds, outer_first });
}

static struct tm_lane_span span_of(uint64_t track, int64_t start_ps, int64_t end_ps)
{
    return (struct tm_lane_span){ .track = track, .event = { .start_ps = start_ps, .end_ps = end_ps } };
}

/* --- the same by looking at everything --- */

struct slow_span {
    uint64_t track, key;
    int64_t begin, end;
    uint32_t lane;
    bool is_open;
};

struct slow {
    struct slow_span spans[SPANS];
    size_t count;
};

/* The innermost one of a lane is the one that was opened last. */
static const struct slow_span *slow_top(const struct slow *s, uint64_t track, uint32_t lane, uint32_t *depth)
{
    const struct slow_span *top = NULL;

    *depth = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->spans[i].is_open && s->spans[i].track == track && s->spans[i].lane == lane) {
            top = &s->spans[i];
            ++*depth;
        }
    return top;
}

static uint32_t slow_lane(const struct slow *s, const struct slow_span *span)
{
    for (uint32_t lane = 0;; lane++) {
        uint32_t depth;
        const struct slow_span *const top = slow_top(s, span->track, lane, &depth);

        if (!top || (depth < TM_LANE_DEPTH && top->key == span->key && top->end >= span->end))
            return lane;
    }
}

static struct slow_span *slow_end(struct slow *s, int64_t until, bool outer_first)
{
    struct slow_span *best = NULL;

    for (size_t i = 0; i < s->count; i++) {
        struct slow_span *const at = &s->spans[i];

        if (!at->is_open || at->end > until)
            continue;
        if (!best || at->end < best->end || (at->end == best->end && (!outer_first || at->begin > best->begin)))
            best = at;
    }
    return best;
}

static void end_both(struct tm_lanes *lanes, struct slow *slow, int64_t until, bool outer_first)
{
    for (;;) {
        const struct tm_lane_span *const ended = tm_lanes_next_end(lanes, until);
        struct slow_span *const expected = slow_end(slow, until, outer_first);

        assert_int_equal(ended != NULL, expected != NULL);
        if (!ended)
            return;
        assert_int_equal(ended->track, expected->track);
        assert_int_equal(ended->lane, expected->lane);
        assert_int_equal(ended->event.start_ps, expected->begin);
        assert_int_equal(ended->event.end_ps, expected->end);
        assert_int_equal(ended->event.flow, (size_t)(expected - slow->spans));
        expected->is_open = false;
    }
}

/* What has no length ends when something else begins on its track. */
static void end_empty_in_both(struct tm_lanes *lanes, struct slow *slow, uint64_t track)
{
    const struct tm_lane_span *const ended = tm_lanes_end_empty(lanes, track);
    struct slow_span *expected = NULL;

    for (size_t i = 0; i < slow->count; i++)
        if (slow->spans[i].is_open && slow->spans[i].track == track && slow->spans[i].begin == slow->spans[i].end)
            expected = &slow->spans[i];
    assert_int_equal(ended != NULL, expected != NULL);
    if (!ended)
        return;
    assert_int_equal(ended->lane, expected->lane);
    assert_int_equal(ended->event.flow, (size_t)(expected - slow->spans));
    expected->is_open = false;
}

/* Random spans in the order of the stream, some equal, some of length 0, against the slow model. */
static void compare_with_slow(uint64_t seed, bool outer_first)
{
    static struct slow slow;
    struct tm_run run;
    struct tm_lanes *lanes;
    int64_t now = 0, before = 0, length = 100;

    test_run_init(&run);
    memset(&slow, 0, sizeof(slow));
    lanes = make_lanes(&run, MEMORY, true, outer_first);
    assert_non_null(lanes);
    for (; slow.count < SPANS; slow.count++) {
        struct slow_span *const to = &slow.spans[slow.count];
        struct tm_lane_span span;

        if (next_number(&seed) % 3) {
            now += (int64_t)(next_number(&seed) % 4);
            length = 1 + (int64_t)(next_number(&seed) % 200);
        }
        length = length ? (int64_t)(next_number(&seed) % (uint64_t)(length + 1)) : 0; /* longer first */
        *to = (struct slow_span){ next_number(&seed) % TRACKS, 0, now, now + length, 0, false };
        to->key = to->track == 0 ? next_number(&seed) % 3 : 0;
        if (now > before)
            end_both(lanes, &slow, now, outer_first);
        else
            end_empty_in_both(lanes, &slow, to->track);
        before = now;
        span = span_of(to->track, to->begin, to->end);
        span.key = to->key;
        span.event.flow = slow.count;
        assert_true(tm_lanes_choose(lanes, &span));
        to->lane = slow_lane(&slow, to);
        assert_int_equal(span.lane, to->lane);
        tm_lanes_open(lanes, &span);
        to->is_open = true;
        assert_int_equal(tm_lanes_innermost(lanes, to->track), to->lane);
    }
    end_both(lanes, &slow, INT64_MAX, outer_first);
    assert_int_equal(tm_lanes_count(lanes), 0);
    tm_lanes_free(lanes);
    assert_ledger_is_even(&run);
}

static void test_slow_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        compare_with_slow(seed, false);
        compare_with_slow(seed, true);
    }
}

/* What is held of a span is there when it ends, and in between. */
static void test_arguments(void **state)
{
    uint8_t own[] = { 1, 2, 3 }, common[] = { 4, 5 };
    struct tm_run run;

    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        struct tm_lane_span span = span_of(3, 10, 20);
        const struct tm_lane_span *ended;
        struct tm_lanes *lanes;

        test_run_init(&run);
        lanes = make_lanes(&run, MEMORY, holds, false);
        span.event.own = (struct tm_arguments){ own, sizeof(own) };
        span.event.common = (struct tm_arguments){ common, sizeof(common) };
        assert_true(tm_lanes_choose(lanes, &span));
        tm_lanes_open(lanes, &span);
        span.event.own.bytes = NULL;
        assert_null(tm_lanes_next_end(lanes, 19));
        ended = tm_lanes_next_end(lanes, 20);
        assert_non_null(ended);
        assert_int_equal(ended->event.own.length, holds ? 3 : 0);
        assert_int_equal(ended->event.common.length, holds ? 2 : 0);
        if (holds) {
            assert_memory_equal(ended->event.own.bytes, own, sizeof(own));
            assert_memory_equal(ended->event.common.bytes, common, sizeof(common));
        }
        tm_lanes_free(lanes);
        assert_ledger_is_even(&run);
    }
}

/* 512 deep on a lane, then the next lane; 4096 lanes, then none. */
static void test_limits(void **state)
{
    struct tm_run run;
    struct tm_lanes *lanes;

    (void)state;
    test_run_init(&run);
    lanes = make_lanes(&run, MEMORY, false, false);
    for (int64_t i = 0; i < TM_LANE_DEPTH + 1; i++) {
        struct tm_lane_span span = span_of(1, i, 2000 - i);

        assert_true(tm_lanes_choose(lanes, &span));
        assert_int_equal(span.lane, i / TM_LANE_DEPTH);
        tm_lanes_open(lanes, &span);
    }
    for (int64_t i = 0; i <= TM_LANES_MOST; i++) {
        struct tm_lane_span span = span_of(2, 2000, 3000 + i);
        const bool fits = tm_lanes_choose(lanes, &span);

        assert_int_equal(fits, i < TM_LANES_MOST);
        if (fits) {
            assert_int_equal(span.lane, i);
            tm_lanes_open(lanes, &span);
        }
    }
    assert_int_equal(tm_lanes_innermost(lanes, 2), TM_LANES_MOST - 1);
    assert_int_equal(tm_lanes_innermost(lanes, 99), UINT32_MAX);
    tm_lanes_free(lanes);
    assert_ledger_is_even(&run);
}

static void test_each(void **state)
{
    struct tm_run run;
    struct tm_lanes *lanes;
    struct tm_lane_span *last = NULL;

    (void)state;
    test_run_init(&run);
    lanes = make_lanes(&run, MEMORY, true, true);
    for (int64_t i = 0; i < 5; i++) {
        const struct tm_lane_span span = span_of((uint64_t)i, i, i == 2 ? 50 : 100);

        tm_lanes_open(lanes, &span);
    }
    assert_int_equal(tm_lanes_next_end(lanes, 60)->track, 2);
    assert_null(tm_lanes_next_end(lanes, 60));
    for (const uint64_t *expected = (const uint64_t[]){ 0, 1, 3, 4, 9 }; *expected < 9; expected++) {
        last = tm_lanes_each(lanes, last);
        assert_non_null(last);
        assert_int_equal(last->track, *expected);
        last->event.start_ps = 60; /* as a cut does */
    }
    assert_null(tm_lanes_each(lanes, last));
    tm_lanes_changed(lanes);
    last = NULL;
    for (const uint64_t *expected = (const uint64_t[]){ 4, 3, 1, 0, 9 }; *expected < 9; expected++)
        assert_int_equal((last = tm_lanes_each_back(lanes, last))->track, *expected);
    assert_null(tm_lanes_each_back(lanes, last));
    for (const uint64_t *expected = (const uint64_t[]){ 0, 1, 3, 4, 9 }; *expected < 9; expected++)
        assert_int_equal(tm_lanes_next_end(lanes, 100)->track, *expected); /* all of the same length now */
    tm_lanes_free(lanes);
    assert_ledger_is_even(&run);
}

/* Tracks that have ended take no room. */
static void test_many_tracks(void **state)
{
    struct tm_run run;
    struct tm_lanes *lanes;

    (void)state;
    test_run_init(&run);
    lanes = make_lanes(&run, 256 << 10, false, false);
    for (int64_t i = 0; i < 1000000; i++) {
        struct tm_lane_span span = span_of((uint64_t)i * 3, i, i + 20);

        while (tm_lanes_next_end(lanes, i))
            ;
        assert_true(tm_lanes_choose(lanes, &span));
        tm_lanes_open(lanes, &span);
    }
    assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_THREADS], 1, 256 << 10);
    tm_lanes_free(lanes);
    assert_ledger_is_even(&run);
}

/* More is open than there is memory for: an end with words, inside of what was given. */
static void test_too_many(void **state)
{
    static const uint8_t own[300];
    struct tm_run run;

    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        struct tm_lanes *lanes;

        test_run_init(&run);
        lanes = make_lanes(&run, MEMORY, turn == 2, false);
        for (int64_t i = 0; i < 300000 && !tm_failed(&run); i++) {
            struct tm_lane_span span = span_of(turn == 1 ? (uint64_t)i / TM_LANES_MOST : (uint64_t)i, i, 1000000 + i);

            span.event.own = (struct tm_arguments){ own, sizeof(own) };
            if (tm_lanes_choose(lanes, &span))
                tm_lanes_open(lanes, &span);
        }
        assert_int_equal(run.error.status, TM_ERR_LIMIT);
        assert_non_null(strstr(run.error.what, "open at the same time"));
        assert_non_null(strstr(run.error.hint, "--memory 64M"));
        assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_THREADS], MEMORY / 4, MEMORY);
        tm_lanes_free(lanes);
        assert_ledger_is_even(&run);
    }
}

static tm_status open_some(struct tm_run *run)
{
    static const uint8_t own[10];
    struct tm_lanes *const lanes = make_lanes(run, MEMORY, true, false);

    for (int64_t i = 0; lanes && i < 400; i++) {
        struct tm_lane_span span = span_of((uint64_t)i % 50, i, 1000 + i);

        span.event.own = (struct tm_arguments){ own, i % 40 ? 0 : sizeof(own) };
        assert_true(tm_lanes_choose(lanes, &span));
        tm_lanes_open(lanes, &span);
    }
    tm_lanes_free(lanes);
    return run->error.status;
}

static void test_refusals(void **state)
{
    (void)state;
    refuse_each_request(open_some);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_model), cmocka_unit_test(test_arguments),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_each),       cmocka_unit_test(test_many_tracks), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
