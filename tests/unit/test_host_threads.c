/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/host_threads.h"

#include <stdlib.h>

#include "stages/resolve/classes.h"
#include "tests/support/test_run.h"

/* Against the plainest calculation: for every picosecond the events that are open, from the innermost one out. */
enum { LENGTH = 600, EVENTS = 120, THREADS = 3 };

/* An event, and one that the stage does not want, which must change nothing. */
static tm_status take(struct tm_host_threads *threads, const struct tm_event *event)
{
    struct tm_event events[] = { *event, *event };

    events[0].wanted = 5;
    events[0].record.name = 9999;
    events[1].wanted = 6;
    return tm_host_threads_take(threads, events, 2, 2);
}

struct plain_event {
    int64_t start_ps, end_ps;
    uint32_t thread;
    enum tm_class class;
    uint32_t traits;
    tm_strid name;
};

struct moment {
    enum tm_cause cause;
    tm_strid name;
};

struct plain {
    struct plain_event events[EVENTS];
    size_t count;
};

static int in_stream_order(const void *a, const void *b)
{
    const struct plain_event *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps > y->end_ps ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* METRICS section 4: the innermost event that has a cause; an input event around a launch or a sync call wins, unless
 * something else with a cause lies between; then the innermost blocked wait; then the innermost event. */
static struct moment moment_of(const struct plain *plain, uint32_t thread, int64_t at_ps)
{
    struct moment caused = { TM_CAUSE_UNRECORDED, 0 }, blocked = caused, other = caused;

    for (size_t i = plain->count; i-- > 0;) { /* the innermost one began last */
        const struct plain_event *const e = &plain->events[i];
        const enum tm_cause cause = tm_cause_of_class(e->class);
        const bool may_yield = cause == TM_CAUSE_LAUNCH || cause == TM_CAUSE_SYNC;

        if (e->thread != thread || e->start_ps > at_ps || e->end_ps <= at_ps)
            continue;
        if (cause != TM_CAUSE_HOST && (caused.cause == TM_CAUSE_UNRECORDED || cause == TM_CAUSE_INPUT))
            caused = (struct moment){ cause, e->name };
        if (cause != TM_CAUSE_HOST && !may_yield)
            return caused;
        if (cause == TM_CAUSE_HOST && e->traits & TM_TRAIT_WAIT && blocked.cause == TM_CAUSE_UNRECORDED)
            blocked = (struct moment){ TM_CAUSE_SYNC, e->name };
        if (other.cause == TM_CAUSE_UNRECORDED)
            other = (struct moment){ TM_CAUSE_HOST, e->name };
    }
    return caused.cause != TM_CAUSE_UNRECORDED ? caused : blocked.cause != TM_CAUSE_UNRECORDED ? blocked : other;
}

static void ask_plainly(const struct plain *plain, uint32_t thread, int64_t start_ps, int64_t end_ps,
                        int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT])
{
    int64_t longest_ps[TM_CAUSE_COUNT] = { 0 };

    for (int64_t at = start_ps; at < end_ps;) {
        const struct moment moment = moment_of(plain, thread, at);
        int64_t until = at + 1;

        while (until < end_ps) {
            const struct moment next = moment_of(plain, thread, until);

            if (next.cause != moment.cause || next.name != moment.name)
                break;
            until++;
        }
        parts[moment.cause] += until - at;
        if (until - at > longest_ps[moment.cause]) {
            longest_ps[moment.cause] = until - at;
            names[moment.cause] = moment.name;
        }
        at = until;
    }
}

/* Events that nest as calls do, or lie over each other in any way. */
static void make_events(struct plain *plain, uint64_t *seed, bool nested)
{
    static const enum tm_class classes[] = { TM_CLASS_PYTHON,     TM_CLASS_PYTHON,     TM_CLASS_RUNTIME,
                                             TM_CLASS_ANNOTATION, TM_CLASS_LAUNCH,     TM_CLASS_COMPILE,
                                             TM_CLASS_SYNC,       TM_CLASS_INPUT,      TM_CLASS_GC,
                                             TM_CLASS_PROFILER,   TM_CLASS_STEP_MARKER };
    const size_t count = 1 + next_number(seed) % EVENTS;

    for (plain->count = 0; plain->count < count; plain->count++) {
        struct plain_event *const e = &plain->events[plain->count];

        e->thread = (uint32_t)(next_number(seed) % THREADS);
        e->class = classes[next_number(seed) % (sizeof(classes) / sizeof(classes[0]))];
        e->name = (tm_strid)plain->count + 1;
        e->traits = next_number(seed) % 4 ? 0 : TM_TRAIT_WAIT;
        if (nested) { /* halves of halves */
            const int64_t size = LENGTH >> next_number(seed) % 7;

            e->start_ps = (int64_t)(next_number(seed) % (uint64_t)(LENGTH / size)) * size;
            e->end_ps = e->start_ps + size;
        } else {
            e->start_ps = (int64_t)(next_number(seed) % LENGTH);
            e->end_ps = e->start_ps + (int64_t)(next_number(seed) % 90);
        }
    }
    qsort(plain->events, plain->count, sizeof(*plain->events), in_stream_order);
}

static struct tm_event event_of(const struct plain_event *e)
{
    return (struct tm_event){ .record = { .start_ps = e->start_ps,
                                          .dur_ps = e->end_ps - e->start_ps,
                                          .name = e->name,
                                          .class = (uint8_t)e->class },
                              .traits = e->traits,
                              .thread = e->thread };
}

static void compare(struct tm_host_threads *threads, const struct plain *plain, uint32_t thread, int64_t start_ps,
                    int64_t end_ps)
{
    int64_t parts[TM_CAUSE_COUNT] = { 0 }, expected[TM_CAUSE_COUNT] = { 0 };
    tm_strid names[TM_CAUSE_COUNT] = { 0 }, expected_names[TM_CAUSE_COUNT] = { 0 };

    ask_plainly(plain, thread, start_ps, end_ps, expected, expected_names);
    assert_int_equal(tm_host_threads_ask(threads, thread, start_ps, end_ps, parts, names), TM_OK);
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        if (parts[i] != expected[i] || names[i] != expected_names[i])
            fail_msg("thread %u [%lld, %lld): %s is %lld of event %u instead of %lld of event %u", thread,
                     (long long)start_ps, (long long)end_ps, tm_cause_name[i], (long long)parts[i], names[i],
                     (long long)expected[i], expected_names[i]);
}

/* The main thread, and in its waits what another one recorded. */
static void compare_main(struct tm_host_threads *threads, const struct plain *plain, uint32_t main_thread,
                         uint32_t other, int64_t start_ps, int64_t end_ps)
{
    int64_t parts[TM_CAUSE_COUNT] = { 0 }, main_ps[TM_CAUSE_COUNT] = { 0 };
    int64_t expected[TM_CAUSE_COUNT] = { 0 }, expected_main[TM_CAUSE_COUNT] = { 0 };
    tm_strid names[TM_CAUSE_COUNT] = { 0 };
    bool by_main[TM_CAUSE_COUNT] = { false };

    for (int64_t at = start_ps; at < end_ps; at++) {
        enum tm_cause cause = moment_of(plain, main_thread, at).cause;
        const enum tm_cause of_other = moment_of(plain, other, at).cause;
        const bool is_other = cause == TM_CAUSE_SYNC && main_thread != other && of_other != TM_CAUSE_UNRECORDED;

        cause = is_other ? of_other : cause;
        expected[cause]++;
        expected_main[cause] += !is_other && cause != TM_CAUSE_UNRECORDED;
    }
    assert_int_equal(
        tm_host_threads_ask_main(threads, main_thread, other, start_ps, end_ps, parts, main_ps, names, by_main), TM_OK);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        if (parts[i] != expected[i] || main_ps[i] != expected_main[i])
            fail_msg("threads %u and %u [%lld, %lld): %s is %lld, %lld of main's, instead of %lld, %lld", main_thread,
                     other, (long long)start_ps, (long long)end_ps, tm_cause_name[i], (long long)parts[i],
                     (long long)main_ps[i], (long long)expected[i], (long long)expected_main[i]);
        for (size_t k = 0; k < plain->count && names[i]; k++) /* a name is of the thread that it is said to be of */
            if (plain->events[k].name == names[i])
                assert_int_equal(plain->events[k].thread, by_main[i] ? main_thread : other);
    }
}

static void check_random(uint64_t seed, bool nested)
{
    const struct tm_trace trace = { .thread_count = THREADS };
    struct plain plain;
    struct tm_run run;
    struct tm_host_threads *threads;
    int64_t horizon_ps = 0;

    test_run_init(&run);
    make_events(&plain, &seed, nested);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    for (size_t i = 0; i < plain.count; i++) {
        const int64_t now_ps = plain.events[i].start_ps;
        const struct tm_event event = event_of(&plain.events[i]);

        /* Before an event at this time is taken, up to it everything is known. */
        if (now_ps > horizon_ps && next_number(&seed) % 3 == 0) {
            const int64_t start_ps = horizon_ps + (int64_t)(next_number(&seed) % (uint64_t)(now_ps - horizon_ps));
            const int64_t end_ps = start_ps + (int64_t)(next_number(&seed) % (uint64_t)(now_ps - start_ps + 1));

            compare(threads, &plain, (uint32_t)(next_number(&seed) % THREADS), start_ps, end_ps);
            compare_main(threads, &plain, (uint32_t)(next_number(&seed) % THREADS),
                         (uint32_t)(next_number(&seed) % THREADS), start_ps, end_ps);
            if (next_number(&seed) % 4 == 0)
                tm_host_threads_forget(threads, horizon_ps = start_ps);
        }
        assert_int_equal(take(threads, &event), TM_OK);
    }
    for (uint32_t thread = 0; thread < THREADS; thread++)
        compare(threads, &plain, thread, horizon_ps, LENGTH + 200);
    tm_host_threads_free(threads);
    assert_ledger_is_even(&run);
}

static void nested_events_give_the_cause_of_every_moment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++)
        check_random(seed, true);
}

static void overlapping_events_give_the_cause_of_every_moment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++)
        check_random(seed, false);
}

/* --- long logs --- */

enum { MANY = 60000 };

/* Two threads that call, sync and wait for ever; names tell the event.  Returns the stream's end. */
static int64_t put_calls(struct tm_host_threads *threads)
{
    for (int i = 0; i < MANY; i++) {
        struct tm_event event = { .record = { .start_ps = 10 * i,
                                              .dur_ps = 1 + i % 7,
                                              .name = (tm_strid)i + 1,
                                              .class = i % 3 ? TM_CLASS_PYTHON : TM_CLASS_SYNC },
                                  .thread = (uint32_t)(i & 1) };

        assert_int_equal(take(threads, &event), TM_OK);
    }
    return 10 * MANY;
}

static void check_calls(struct tm_host_threads *threads, uint32_t thread, int first, int last)
{
    int64_t parts[TM_CAUSE_COUNT] = { 0 }, host_ps = 0, sync_ps = 0, longest_ps = 0;
    tm_strid names[TM_CAUSE_COUNT] = { 0 }, name = 0;

    for (int i = first; i < last; i++) {
        if ((i & 1) != (int)thread)
            continue;
        *(i % 3 ? &host_ps : &sync_ps) += 1 + i % 7;
        if (i % 3 && 1 + i % 7 > longest_ps) {
            longest_ps = 1 + i % 7;
            name = (tm_strid)i + 1;
        }
    }
    assert_int_equal(tm_host_threads_ask(threads, thread, 10 * first, 10 * last, parts, names), TM_OK);
    assert_int_equal(parts[TM_CAUSE_HOST], host_ps);
    assert_int_equal(parts[TM_CAUSE_SYNC], sync_ps);
    assert_int_equal(parts[TM_CAUSE_UNRECORDED], 10 * (last - first) - host_ps - sync_ps);
    assert_int_equal(names[TM_CAUSE_HOST], name);
}

/* Both threads' logs are spilled: while one waits, the other one is asked. */
static void check_both(struct tm_host_threads *threads, int first, int last)
{
    int64_t parts[TM_CAUSE_COUNT] = { 0 }, main_ps[TM_CAUSE_COUNT] = { 0 }, sum_ps = 0, alone[TM_CAUSE_COUNT] = { 0 };
    tm_strid names[TM_CAUSE_COUNT];
    bool by_main[TM_CAUSE_COUNT];

    assert_int_equal(tm_host_threads_ask(threads, 0, 10 * first, 10 * last, alone, NULL), TM_OK);
    assert_int_equal(tm_host_threads_ask_main(threads, 0, 1, 10 * first, 10 * last, parts, main_ps, names, by_main),
                     TM_OK);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) /* calls of the two never overlap */
        assert_int_equal(parts[i], alone[i]);
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        sum_ps += main_ps[i];
    assert_int_equal(sum_ps + parts[TM_CAUSE_UNRECORDED], 10 * (last - first));
}

static void a_log_that_is_spilled_answers_alike(void **state)
{
    static const size_t limits_mib[] = { 1, 32, 256 };
    const struct tm_trace trace = { .thread_count = 2 };

    (void)state;
    for (size_t i = 0; i < sizeof(limits_mib) / sizeof(limits_mib[0]); i++) {
        struct tm_run run;
        struct tm_host_threads *threads;

        test_run_init(&run);
        tm_budget_init(&run.budget, limits_mib[i] * TM_MIB);
        threads = tm_host_threads_new(&run, &trace);
        assert_non_null(threads);
        (void)put_calls(threads);
        assert_true(limits_mib[i] == 256 || run.budget.spilled_bytes > 0);
        for (int first = 0; first < MANY - 100; first += 5003) {
            check_calls(threads, 0, first, first + 60);
            check_calls(threads, 1, first, first + 1);
        }
        check_calls(threads, 1, 0, MANY);
        check_both(threads, 0, MANY);
        check_calls(threads, 0, MANY - 5, MANY);
        tm_host_threads_free(threads);
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_THREADS] <=
                    tm_budget_share(&run.budget, TM_ACCOUNT_THREADS) + (256 << 10));
        assert_ledger_is_even(&run);
    }
}

static void what_was_forgotten_takes_no_memory(void **state)
{
    const struct tm_trace trace = { .thread_count = 2 };
    struct tm_run run;
    struct tm_host_threads *threads;

    (void)state;
    test_run_init(&run);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    for (int i = 0; i < MANY; i++) {
        const struct tm_event event = {
            .record = { .start_ps = 10 * i, .dur_ps = 5, .name = (tm_strid)i + 1, .class = TM_CLASS_PYTHON },
            .thread = (uint32_t)(i & 1)
        };

        if (i >= 100 && i % 7 == 0) { /* from the horizon on everything is known */
            int64_t parts[TM_CAUSE_COUNT] = { 0 };
            tm_strid names[TM_CAUSE_COUNT] = { 0 };

            assert_int_equal(tm_host_threads_ask(threads, 1, 10 * (i - 100), 10 * i, parts, names), TM_OK);
            assert_int_equal(parts[TM_CAUSE_HOST], 250);
            assert_int_equal(names[TM_CAUSE_HOST], ((i - 100) | 1) + 1);
        }
        tm_host_threads_forget(threads, 10 * (i - 100));
        assert_int_equal(take(threads, &event), TM_OK);
    }
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_THREADS] < 64 << 10);
    assert_int_equal(run.budget.spilled_bytes, 0);
    tm_host_threads_free(threads);
    assert_ledger_is_even(&run);
}

/* As many threads as there may be, each doing a little in turn: the memory stays in its share. */
static void many_threads_keep_to_the_share(void **state)
{
    const struct tm_trace trace = { .thread_count = TM_THREADS_MOST };
    struct tm_run run;
    struct tm_host_threads *threads;
    int64_t parts[TM_CAUSE_COUNT] = { 0 };
    int64_t at_ps = 0;

    (void)state;
    test_run_init(&run);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    for (int turn = 0; turn < 6; turn++)
        for (uint32_t i = 0; i < TM_THREADS_MOST; i++, at_ps += 2) {
            const struct tm_event event = {
                .record = { .start_ps = at_ps, .dur_ps = 1 + turn, .name = i + 1, .class = TM_CLASS_PYTHON },
                .thread = i
            };

            assert_int_equal(take(threads, &event), TM_OK);
        }
    assert_int_equal(tm_host_threads_ask(threads, 77, 0, at_ps, parts, NULL), TM_OK);
    assert_int_equal(parts[TM_CAUSE_HOST], 1 + 2 + 3 + 4 + 5 + 6);
    tm_host_threads_free(threads);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_THREADS] <= tm_budget_share(&run.budget, TM_ACCOUNT_THREADS));
    assert_int_equal(run.tallies.count[TM_TALLY_DEEP_NESTING], 0);
    assert_ledger_is_even(&run);
}

/* --- deep stacks --- */

static void events_nested_too_deeply_count_as_their_parents(void **state)
{
    enum { DEEP = 5000, LIMIT = 4096 };
    const struct tm_trace trace = { .thread_count = 1 };
    struct tm_run run;
    struct tm_host_threads *threads;
    int64_t parts[TM_CAUSE_COUNT] = { 0 };
    tm_strid names[TM_CAUSE_COUNT] = { 0 };

    (void)state;
    test_run_init(&run);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    for (int i = 0; i < DEEP; i++) {
        const struct tm_event event = { .record = { .start_ps = i,
                                                    .dur_ps = 100000 - 2 * i,
                                                    .name = (tm_strid)i + 1,
                                                    .class = i == DEEP - 1 ? TM_CLASS_SYNC : TM_CLASS_PYTHON } };

        assert_int_equal(take(threads, &event), TM_OK);
    }
    assert_int_equal(run.tallies.count[TM_TALLY_DEEP_NESTING], DEEP - LIMIT);
    assert_int_equal(tm_host_threads_ask(threads, 0, DEEP, DEEP + 10, parts, names), TM_OK);
    assert_int_equal(parts[TM_CAUSE_HOST], 10);
    assert_int_equal(names[TM_CAUSE_HOST], LIMIT);
    tm_host_threads_free(threads);
    assert_ledger_is_even(&run);
}

/* Many threads with deep stacks: what all of them may hold is bounded, too. */
static void all_stacks_together_are_bounded(void **state)
{
    enum { STACKS = 400, DEEP = 300 };
    const struct tm_trace trace = { .thread_count = STACKS };
    struct tm_run run;
    struct tm_host_threads *threads;

    (void)state;
    test_run_init(&run);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    for (int i = 0; i < DEEP; i++)
        for (uint32_t thread = 0; thread < STACKS; thread++) {
            const struct tm_event event = {
                .record = { .start_ps = i, .dur_ps = 100000, .name = 1, .class = TM_CLASS_PYTHON }, .thread = thread
            };

            assert_int_equal(take(threads, &event), TM_OK);
        }
    assert_true(run.tallies.count[TM_TALLY_DEEP_NESTING] > 0);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_THREADS] <= tm_budget_share(&run.budget, TM_ACCOUNT_THREADS));
    tm_host_threads_free(threads);
    assert_ledger_is_even(&run);
}

/* --- what is not there --- */

static void what_nobody_recorded_is_unrecorded(void **state)
{
    const struct tm_trace trace = { .thread_count = 2 };
    const struct tm_event instant = { .record = { .start_ps = 5, .class = TM_CLASS_SYNC, .name = 1 } };
    const struct tm_event elsewhere = { .record = { .start_ps = 6, .dur_ps = 100, .class = TM_CLASS_SYNC, .name = 2 },
                                        .thread = TM_NONE };
    static const uint32_t numbers[] = { 0, 1, 2, TM_NONE };
    struct tm_run run;
    struct tm_host_threads *threads;

    (void)state;
    test_run_init(&run);
    threads = tm_host_threads_new(&run, &trace);
    assert_non_null(threads);
    assert_int_equal(take(threads, &instant), TM_OK);
    assert_int_equal(take(threads, &elsewhere), TM_OK);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int64_t parts[TM_CAUSE_COUNT] = { 0 };
        tm_strid names[TM_CAUSE_COUNT] = { 0 };

        assert_int_equal(tm_host_threads_ask(threads, numbers[i], -50, 50, parts, names), TM_OK);
        assert_int_equal(parts[TM_CAUSE_UNRECORDED], 100);
        assert_int_equal(names[TM_CAUSE_UNRECORDED], 0);
    }
    tm_host_threads_free(threads);
    tm_host_threads_free(NULL);
    assert_ledger_is_even(&run);
}

/* --- what the causes rest on --- */

static void waits_and_input_are_told_from_work(void **state)
{
    static const char hold[] = "Wait for usage holds", lock[] = "$<unknown> acquire", get[] = "$queue.py:154 get",
                      next[] = "$dataloader.py:629 __next__", load[] = "next_batch", run[] = "$train.py:7 run",
                      sync[] = "cudaStreamSynchronize", copy[] = "cudaMemcpyAsync", compile[] = "backend_compile";
    static const struct {
        const char *stack[4]; /* from the outermost one in */
        enum tm_cause cause;
        int of; /* of the stack */
    } rows[] = {
        { { run }, TM_CAUSE_HOST, 0 },
        { { hold }, TM_CAUSE_SYNC, 0 },
        { { run, hold }, TM_CAUSE_SYNC, 1 },
        { { run, get, lock }, TM_CAUSE_SYNC, 2 },
        { { run, get, run }, TM_CAUSE_SYNC, 1 },
        { { run, next, get, lock }, TM_CAUSE_INPUT, 1 },
        { { load, sync }, TM_CAUSE_INPUT, 0 },
        { { load, run, copy }, TM_CAUSE_INPUT, 0 },
        { { run, load, run }, TM_CAUSE_INPUT, 1 },
        { { run, sync, hold }, TM_CAUSE_SYNC, 1 },
        { { compile, hold }, TM_CAUSE_COMPILE, 0 },
        { { load, compile }, TM_CAUSE_COMPILE, 1 },
        { { load, compile, sync }, TM_CAUSE_SYNC, 2 },
        { { hold, compile }, TM_CAUSE_COMPILE, 1 },
    };
    const struct tm_trace trace = { .thread_count = 1 };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t parts[TM_CAUSE_COUNT] = { 0 };
        tm_strid names[TM_CAUSE_COUNT] = { 0 };
        struct tm_host_threads *threads;
        struct tm_run run_of;

        test_run_init(&run_of);
        threads = tm_host_threads_new(&run_of, &trace);
        assert_non_null(threads);
        for (int k = 0; k < 4 && rows[i].stack[k]; k++) {
            const char *const name = rows[i].stack[k];
            const uint32_t traits = tm_traits_of(name, strlen(name));
            const struct tm_class_question question = {
                .traits = traits, .side = TM_SIDE_HOST, .line = TM_LINE_HOST, .line_is_user = true
            };
            const struct tm_event event = { .record = { .start_ps = k,
                                                        .dur_ps = 100 - 2 * k,
                                                        .name = (tm_strid)k + 1,
                                                        .class = (uint8_t)tm_classify(&question) },
                                            .traits = traits };

            assert_int_equal(take(threads, &event), TM_OK);
        }
        assert_int_equal(tm_host_threads_ask(threads, 0, 10, 20, parts, names), TM_OK);
        if (parts[rows[i].cause] != 10 || names[rows[i].cause] != (tm_strid)rows[i].of + 1)
            fail_msg("stack %zu: %s is %lld of event %u", i, tm_cause_name[rows[i].cause],
                     (long long)parts[rows[i].cause], names[rows[i].cause]);
        tm_host_threads_free(threads);
        assert_ledger_is_even(&run_of);
    }
}

static tm_status job(struct tm_run *run)
{
    const struct tm_trace trace = { .thread_count = 2 };
    struct tm_host_threads *threads;
    int64_t parts[TM_CAUSE_COUNT] = { 0 };
    tm_status st;

    run->budget.limit_bytes = TM_MIB;
    threads = tm_host_threads_new(run, &trace);
    st = threads ? TM_OK : run->error.status;
    for (int i = 0; i < 5000 && st == TM_OK; i++) {
        const struct tm_event event = { .record = { .start_ps = 10 * i,
                                                    .dur_ps = 50 - i % 40,
                                                    .name = (tm_strid)i + 1,
                                                    .class = i % 3 ? TM_CLASS_PYTHON : TM_CLASS_SYNC },
                                        .thread = (uint32_t)(i & 1) };

        st = take(threads, &event);
    }
    if (st == TM_OK)
        st = tm_host_threads_ask(threads, 1, 0, 40000, parts, NULL);
    tm_host_threads_free(threads);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_events_give_the_cause_of_every_moment),
        cmocka_unit_test(overlapping_events_give_the_cause_of_every_moment),
        cmocka_unit_test(a_log_that_is_spilled_answers_alike),
        cmocka_unit_test(what_was_forgotten_takes_no_memory),
        cmocka_unit_test(many_threads_keep_to_the_share),
        cmocka_unit_test(events_nested_too_deeply_count_as_their_parents),
        cmocka_unit_test(all_stacks_together_are_bounded),
        cmocka_unit_test(what_nobody_recorded_is_unrecorded),
        cmocka_unit_test(waits_and_input_are_told_from_work),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("host threads", tests, NULL, NULL);
}
