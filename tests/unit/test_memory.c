/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/memory.h"

#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/stage_driver.h"

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
static const int64_t ms = 1000000000;

enum { CAPACITY = 1000000 };

/* What an allocator of CAPACITY bytes says when `in_use` of them are. */
static struct tm_allocation state_of(tm_strid allocator, int64_t in_use)
{
    return (struct tm_allocation){
        .allocator = allocator,
        .has = TM_HAS_RESERVED | TM_HAS_ALLOCATED | TM_HAS_AVAILABLE | TM_HAS_PEAK,
        .bytes_allocated = in_use,
        .bytes_available = CAPACITY - in_use,
        .peak_bytes_in_use = in_use,
    };
}

static struct tm_allocation buffer_of(tm_strid allocator, int64_t in_use, uint64_t address, int64_t bytes)
{
    struct tm_allocation a = state_of(allocator, in_use);

    a.has |= TM_HAS_ADDRESS | TM_HAS_ALLOCATION;
    a.address = address;
    a.allocation_bytes = bytes;
    return a;
}

static tm_status give(struct bench *b, bool is_allocation, int64_t at_ps, const struct tm_allocation *a)
{
    struct tm_event event = bench_event(0, is_allocation ? TM_CLASS_ALLOC : TM_CLASS_FREE, &no_config, at_ps, 0);

    event.level = TM_LEVEL_NONE;
    event.args = a;
    event.record.args_length = sizeof(*a);
    return bench_take(b, &event);
}

struct fixture {
    struct tm_run run;
    struct bench b;
    tm_strid bfc;
};

static void begin(struct fixture *f)
{
    test_run_init(&f->run);
    assert_int_equal(bench_open(&f->b, &f->run, &tm_memory_stage), TM_OK);
    (void)snprintf(f->b.trace.host_name, sizeof(f->b.trace.host_name), "h0");
    f->bfc = bench_name(&f->b, "GPU_0_bfc");
    assert_int_equal(bench_begin(&f->b), TM_OK);
}

static void end(struct fixture *f)
{
    assert_int_equal(bench_end(&f->b), TM_OK);
    assert_int_equal(bench_report(&f->b), TM_OK);
}

static void finish(struct fixture *f)
{
    bench_close(&f->b);
    assert_ledger_is_even(&f->run);
}

static void take(struct fixture *f, bool is_allocation, int64_t at_ps, struct tm_allocation a)
{
    assert_int_equal(give(&f->b, is_allocation, at_ps, &a), TM_OK);
}

static const struct tm_value *get(const struct fixture *f, const char *member)
{
    char path[96];

    (void)snprintf(path, sizeof(path), "memory.allocators[0].%s", member);
    return bench_get(&f->b, path);
}

static void assert_figure(const struct fixture *f, const char *member, int64_t want)
{
    if (!tm_has(get(f, member)) || tm_int(get(f, member)) != want)
        fail_msg("%s is %lld, not %lld", member, (long long)tm_int(get(f, member)), (long long)want);
}

static void peak_capacity_and_counts_are_those_of_the_events(void **state)
{
    struct fixture f;
    struct tm_allocation a;

    (void)state;
    begin(&f);
    take(&f, true, 10, buffer_of(f.bfc, 100000, 1, 100000));
    a = buffer_of(f.bfc, 600000, 2, 500000);
    a.has |= TM_HAS_FRAGMENTATION;
    a.fragmentation = 0.25;
    take(&f, true, 20, a);
    take(&f, false, 30, buffer_of(f.bfc, 500000, 1, 100000));
    a.bytes_reserved = 100000; /* reserved and allocated are both in use; the last of equal peaks counts */
    a.bytes_allocated = 500000;
    a.peak_bytes_in_use = 700000;
    a.address = 3;
    a.allocation_bytes = TM_SMALL_ALLOCATION_BYTES - 1;
    take(&f, true, 40, a);
    take(&f, false, 50, state_of(f.bfc, 400000));
    end(&f);
    assert_string_equal(tm_text(get(&f, "name")), "GPU_0_bfc");
    assert_string_equal(tm_text(get(&f, "host")), "h0");
    assert_figure(&f, "peak_bytes", 600000);
    assert_figure(&f, "peak_at_ps", 40);
    assert_figure(&f, "capacity_bytes", CAPACITY);
    assert_figure(&f, "lifetime_peak_bytes", 700000);
    assert_figure(&f, "allocations", 3);
    assert_figure(&f, "deallocations", 2);
    assert_figure(&f, "allocated_bytes", 600000 + TM_SMALL_ALLOCATION_BYTES - 1);
    assert_figure(&f, "small_allocations", 1);
    assert_figure(&f, "kept.count", 2); /* buffers 2 and 3 are never given back */
    assert_figure(&f, "kept.quarters_bytes[0]", 500000);
    assert_figure(&f, "kept.quarters_bytes[1]", 0);
    assert_figure(&f, "kept.quarters_bytes[2]", TM_SMALL_ALLOCATION_BYTES - 1);
    assert_figure(&f, "kept.quarters_bytes[3]", 0);
    assert_figure(&f, "kept.largest_bytes", 500000);
    assert_true(tm_double(get(&f, "fragmentation_pct")) == 25);
    assert_true(tm_double(get(&f, "peak_pct")) == 60);
    assert_true(tm_double(get(&f, "allocations_per_s")) == 3 * 1e12 / 40); /* from 10 to 50 ps */
    assert_true(tm_double(get(&f, "allocated_bytes_per_s")) == (600000 + TM_SMALL_ALLOCATION_BYTES - 1) * 1e12 / 40);
    assert_int_equal(tm_length(get(&f, "timeline")), 5);
    assert_int_equal(tm_int(bench_get(&f.b, "memory.small_below_bytes")), TM_SMALL_ALLOCATION_BYTES);
    finish(&f);
}

/* Which buffers are live at a time, by looking at all of them. */
struct buffer {
    int64_t begin, end, bytes;
    uint64_t address;
};

static int largest_first(const void *a, const void *b)
{
    const struct buffer *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static void holders_are_what_was_live_at_the_peak(void **state)
{
    enum { EVENTS = 4000, ADDRESSES = 300 };
    static struct buffer live[ADDRESSES], at_peak[ADDRESSES];
    size_t peak_count = 0;
    int64_t in_use = 0, peak = -1;
    uint64_t dice = 7;
    struct fixture f;

    (void)state;
    begin(&f);
    memset(live, 0, sizeof(live));
    for (int i = 0; i < EVENTS; i++) {
        struct buffer *buffer = &live[next_number(&dice) % ADDRESSES];
        const bool is_allocation = !buffer->bytes;

        buffer->address = (uint64_t)(buffer - live) + 1;
        if (is_allocation)
            buffer->bytes = 1 + (int64_t)(next_number(&dice) % 5000);
        in_use += is_allocation ? buffer->bytes : -buffer->bytes;
        take(&f, is_allocation, i, buffer_of(f.bfc, in_use, buffer->address, buffer->bytes));
        if (!is_allocation)
            buffer->bytes = 0;
        if (in_use < peak)
            continue;
        peak = in_use;
        peak_count = 0;
        for (size_t k = 0; k < ADDRESSES; k++)
            if (live[k].bytes)
                at_peak[peak_count++] = live[k];
    }
    end(&f);
    qsort(at_peak, peak_count, sizeof(*at_peak), largest_first);
    assert_figure(&f, "peak_bytes", peak);
    assert_int_equal(tm_length(get(&f, "holders")), 20);
    for (size_t i = 0; i < 20; i++) {
        const struct tm_value *holder = tm_at(get(&f, "holders"), i);
        char address[24];

        (void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)at_peak[i].address);
        assert_int_equal(tm_int(tm_get(holder, "bytes")), at_peak[i].bytes);
        assert_string_equal(tm_text(tm_get(holder, "address")), address);
    }
    finish(&f);
}

static void a_missing_deallocation_ends_with_the_next_allocation(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    take(&f, true, 1, buffer_of(f.bfc, 100, 1, 100));
    take(&f, true, 2, buffer_of(f.bfc, 50, 1, 50));   /* the same address again */
    take(&f, true, 3, buffer_of(f.bfc, 500, 2, 450)); /* the peak */
    take(&f, false, 4, buffer_of(f.bfc, 450, 1, 50));
    end(&f);
    assert_int_equal(tm_length(get(&f, "holders")), 2);
    assert_figure(&f, "holders[0].bytes", 450);
    assert_figure(&f, "holders[1].bytes", 50);
    finish(&f);
}

static void the_curve_keeps_its_highest_points(void **state)
{
    enum { EVENTS = 50000 };
    struct fixture f;
    uint64_t dice = 3;
    int64_t peak = 0, peak_at = 0, before = -1, at = 0;
    bool has_peak = false;

    (void)state;
    begin(&f);
    for (int i = 0; i < EVENTS; i++) {
        const int64_t in_use = (int64_t)(next_number(&dice) % CAPACITY);

        at += 1 + (int64_t)(next_number(&dice) % (i < EVENTS / 2 ? 1000 : 1000000000));
        take(&f, true, at, state_of(f.bfc, in_use));
        if (in_use >= peak) {
            peak = in_use;
            peak_at = at;
        }
    }
    end(&f);
    assert_true(tm_length(get(&f, "timeline")) <= 1000);
    assert_true(tm_length(get(&f, "timeline")) > 400);
    for (size_t i = 0; i < tm_length(get(&f, "timeline")); i++) {
        const struct tm_value *point = tm_at(get(&f, "timeline"), i);

        assert_true(tm_int(tm_at(point, 0)) > before);
        before = tm_int(tm_at(point, 0));
        assert_int_equal(tm_int(tm_at(point, 1)) + tm_int(tm_at(point, 2)), CAPACITY);
        has_peak |= before == peak_at && tm_int(tm_at(point, 1)) == peak;
    }
    assert_true(has_peak);
    assert_true(before > at - at / 400); /* up to the end */
    finish(&f);
}

static void a_fast_rise_is_a_spike(void **state)
{
    static const struct {
        int64_t at_us, in_use;
    } rows[] = {
        { 0, 0 },          { 500, 90000 },    { 5000, 100000 },  /* no more than a tenth, or too slow */
        { 10000, 100000 }, { 10400, 250000 }, { 10900, 310000 }, /* one of 210,000 from the latest low on */
        { 12000, 100000 }, { 13500, 300000 },                    /* slower than a millisecond */
        { 20000, 50000 },  { 20001, 150001 }, { 20002, 50000 },  { 20003, 150001 }, /* the same millisecond: one */
    };
    struct fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        take(&f, true, rows[i].at_us * ms / 1000, state_of(f.bfc, rows[i].in_use));
    end(&f);
    assert_int_equal(tm_length(get(&f, "spikes")), 2);
    assert_figure(&f, "spike_count", 2);
    assert_figure(&f, "spikes[0].begin_ps", 10 * ms);
    assert_figure(&f, "spikes[0].rise_bytes", 210000);
    assert_figure(&f, "spikes[1].begin_ps", 20 * ms);
    assert_figure(&f, "spikes[1].rise_bytes", 100001);
    finish(&f);
}

static void of_many_spikes_the_largest_are_listed(void **state)
{
    struct fixture f;
    int64_t before = -1;

    (void)state;
    begin(&f);
    for (int i = 0; i < 100; i++) {
        take(&f, true, i * 10 * ms, state_of(f.bfc, 0));
        take(&f, true, i * 10 * ms + 1, state_of(f.bfc, 200000 + (i * 37) % 100 * 1000));
    }
    end(&f);
    assert_figure(&f, "spike_count", 100);
    assert_int_equal(tm_length(get(&f, "spikes")), 20);
    for (size_t i = 0; i < 20; i++) {
        const struct tm_value *spike = tm_at(get(&f, "spikes"), i);

        assert_true(tm_int(tm_get(spike, "rise_bytes")) >= 280000);
        assert_true(tm_int(tm_get(spike, "begin_ps")) > before);
        before = tm_int(tm_get(spike, "begin_ps"));
    }
    finish(&f);
}

static void allocators_are_told_apart_by_name_number_and_host(void **state)
{
    struct fixture f;
    struct tm_allocation tpu = state_of(0, 10), unnamed = state_of(0, 20);

    (void)state;
    begin(&f);
    tpu.has |= TM_HAS_INDEX_ON_HOST;
    tpu.index_on_host = 3;
    take(&f, true, 1, state_of(f.bfc, 1));
    take(&f, true, 2, tpu);
    take(&f, true, 3, unnamed);
    tpu.index_on_host = 1;
    take(&f, true, 4, tpu);
    take(&f, true, 5, state_of(f.bfc, 2));
    assert_int_equal(bench_end(&f.b), TM_OK);
    (void)snprintf(f.b.trace.host_name, sizeof(f.b.trace.host_name), "h1");
    assert_int_equal(bench_begin(&f.b), TM_OK);
    take(&f, true, 1, state_of(f.bfc, 3));
    end(&f);
    assert_int_equal(tm_length(bench_get(&f.b, "memory.allocators")), 5);
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[0].name")), "GPU_0_bfc");
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[1].name")), "3");
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[2].name")), "unnamed");
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[3].name")), "1");
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[4].host")), "h1");
    assert_int_equal(tm_int(bench_get(&f.b, "memory.allocators[0].allocations")), 2);
    finish(&f);
}

static void more_allocators_than_fit_share_a_row(void **state)
{
    struct fixture f;
    int64_t sum = 0;
    size_t rows;

    (void)state;
    begin(&f);
    f.b.settings.table_rows = 10;
    for (int i = 0; i < 200; i++) {
        struct tm_allocation a = state_of(0, i);

        a.has |= TM_HAS_INDEX_ON_HOST;
        a.index_on_host = i;
        take(&f, i % 2, i, a);
    }
    end(&f);
    rows = tm_length(bench_get(&f.b, "memory.allocators"));
    assert_int_equal(rows, 11);
    for (size_t i = 0; i < rows; i++) {
        const struct tm_value *row = tm_at(bench_get(&f.b, "memory.allocators"), i);

        sum += tm_int(tm_get(row, "allocations")) + tm_int(tm_get(row, "deallocations"));
        assert_int_equal(tm_has(tm_get(row, "peak_bytes")), i < 10);
    }
    assert_int_equal(sum, 200);
    assert_string_equal(tm_text(bench_get(&f.b, "memory.allocators[10].name")), "(others)");
    /* the fullest of those that were kept apart */
    assert_int_equal(tm_int(bench_get(&f.b, "memory.allocators[9].peak_bytes")), 63);
    finish(&f);
}

static void values_that_cannot_be_are_not_recorded(void **state)
{
    struct fixture f;
    struct tm_allocation a = state_of(0, INT64_MAX);

    (void)state;
    begin(&f);
    a.allocator = f.bfc;
    a.bytes_reserved = INT64_MAX;
    take(&f, true, 1, a);
    a = state_of(f.bfc, -5);
    a.peak_bytes_in_use = -1;
    take(&f, true, 2, a);
    a = (struct tm_allocation){ .allocator = f.bfc, .has = TM_HAS_ALLOCATION | TM_HAS_ADDRESS, .allocation_bytes = -7 };
    take(&f, true, 3, a);
    a.allocation_bytes = INT64_MAX;
    take(&f, true, 4, a);
    take(&f, true, 5, a);
    take(&f, true, 6, a);
    end(&f);
    assert_figure(&f, "allocations", 6);
    assert_false(tm_has(get(&f, "peak_bytes")));
    assert_false(tm_has(get(&f, "peak_at_ps")));
    assert_false(tm_has(get(&f, "peak_pct")));
    assert_false(tm_has(get(&f, "capacity_bytes")));
    assert_figure(&f, "lifetime_peak_bytes", INT64_MAX);
    assert_int_equal(tm_length(get(&f, "timeline")), 0);
    assert_int_equal(tm_length(get(&f, "holders")), 0);
    finish(&f);
}

/* Its events tell what is reserved; only the device tells how much there is. */
static void an_allocator_of_pytorch_may_hand_out_its_device(void **state)
{
    static const struct {
        const char *allocator;
        uint64_t device_bytes;
        int64_t capacity; /* 0 = not known */
    } rows[] = {
        { "gpu:0", 8 * CAPACITY, 8 * CAPACITY },
        { "gpu:0", 0, 0 },
        { "gpu:1", 8 * CAPACITY, 0 },
        { "cpu", 8 * CAPACITY, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        test_run_init(&f.run);
        assert_int_equal(bench_open(&f.b, &f.run, &tm_memory_stage), TM_OK);
        f.b.trace.origin = TM_ORIGIN_PYTORCH;
        bench_devices(&f.b, 1, TM_DEVICE_GPU, 0, 1);
        f.b.devices[0].memory_bytes = rows[i].device_bytes;
        assert_int_equal(bench_begin(&f.b), TM_OK);
        take(&f, true, 10, buffer_of(bench_name(&f.b, rows[i].allocator), 600000, 1, 600000));
        end(&f);
        assert_figure(&f, "peak_bytes", 600000);
        if (rows[i].capacity)
            assert_figure(&f, "capacity_bytes", rows[i].capacity);
        assert_int_equal(tm_has(get(&f, "capacity_bytes")), rows[i].capacity != 0);
        assert_int_equal(tm_has(get(&f, "peak_pct")), rows[i].capacity != 0);
        finish(&f);
    }
}

static void nothing_recorded_is_null_with_a_reason(void **state)
{
    static const struct {
        uint32_t main_track;
        enum tm_device_kind kind;
        enum tm_origin origin;
        const char *why;
    } rows[] = {
        { TM_NONE, TM_DEVICE_GPU, TM_ORIGIN_XSPACE, "no host events" },
        { 0, TM_DEVICE_CPU, TM_ORIGIN_XSPACE, "CPU memory" },
        { 0, TM_DEVICE_GPU, TM_ORIGIN_XSPACE, "host tracer level was too low" },
        { 0, TM_DEVICE_GPU, TM_ORIGIN_JSON_COPY, ".xplane.pb" },
        { 0, TM_DEVICE_CPU, TM_ORIGIN_JSON_COPY, "CPU memory" },
        { 0, TM_DEVICE_GPU, TM_ORIGIN_PYTORCH, "profile_memory=True" },
        { 0, TM_DEVICE_GPU, TM_ORIGIN_OTHER, "no known allocator events" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        test_run_init(&f.run);
        assert_int_equal(bench_open(&f.b, &f.run, &tm_memory_stage), TM_OK);
        f.b.trace.main_track = rows[i].main_track;
        f.b.trace.origin = rows[i].origin;
        bench_devices(&f.b, 1, rows[i].kind, 0, 1);
        assert_int_equal(bench_begin(&f.b), TM_OK);
        end(&f);
        assert_false(tm_has(bench_get(&f.b, "memory")));
        assert_non_null(strstr(tm_why(bench_get(&f.b, "memory")), rows[i].why));
        finish(&f);
    }
}

static tm_status fill(struct bench *b, int events)
{
    const tm_strid name = bench_name(b, "GPU_0_bfc");
    tm_status st = name ? bench_begin(b) : TM_ERR_LIMIT;

    for (int i = 0; i < events && st == TM_OK; i++) {
        struct tm_allocation a = buffer_of(i % 3 ? name : 0, i % 100 * 5000, (uint64_t)i % 50, 10 + i);

        a.has |= TM_HAS_INDEX_ON_HOST;
        a.index_on_host = i % 7;
        st = give(b, i % 2, i * ms / 10, &a);
    }
    return st == TM_OK ? bench_end(b) : st;
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    tm_status st = bench_open(&b, run, &tm_memory_stage);

    if (st == TM_OK)
        st = fill(&b, 3000);
    if (st == TM_OK)
        st = bench_report(&b);
    bench_close(&b);
    return st ? st : run->error.status;
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

static void the_result_does_not_depend_on_the_memory(void **state)
{
    char *texts[2] = { NULL, NULL };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture f;

        test_run_init(&f.run);
        tm_budget_init(&f.run.budget, (size_t)(i ? 1024 : TM_MEMORY_LEAST_MIB) * TM_MIB);
        assert_int_equal(bench_open(&f.b, &f.run, &tm_memory_stage), TM_OK);
        for (int host = 0; host < 3; host++)
            assert_int_equal(fill(&f.b, 40000), TM_OK);
        assert_int_equal(bench_report(&f.b), TM_OK);
        assert_int_equal(f.run.budget.spilled_bytes > 0, !i);
        for (int k = 0; k < TM_ACCOUNT_COUNT; k++)
            assert_true(f.run.budget.peak_bytes[k] <= tm_budget_share(&f.run.budget, (enum tm_account)k));
        texts[i] = bench_print(&f.b);
        assert_non_null(texts[i]);
        finish(&f);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_capacity_and_counts_are_those_of_the_events),
        cmocka_unit_test(holders_are_what_was_live_at_the_peak),
        cmocka_unit_test(a_missing_deallocation_ends_with_the_next_allocation),
        cmocka_unit_test(the_curve_keeps_its_highest_points),
        cmocka_unit_test(a_fast_rise_is_a_spike),
        cmocka_unit_test(of_many_spikes_the_largest_are_listed),
        cmocka_unit_test(allocators_are_told_apart_by_name_number_and_host),
        cmocka_unit_test(more_allocators_than_fit_share_a_row),
        cmocka_unit_test(values_that_cannot_be_are_not_recorded),
        cmocka_unit_test(an_allocator_of_pytorch_may_hand_out_its_device),
        cmocka_unit_test(nothing_recorded_is_null_with_a_reason),
        cmocka_unit_test(refused_memory_ends_cleanly),
        cmocka_unit_test(the_result_does_not_depend_on_the_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
