/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/survey/survey.h"

#include <stdlib.h>

#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

/* What the census counts has to be what counting the ordered events gives, whatever the profile holds. */

enum { SORTS_MOST = 256 };

/* Events of one name on one track, of one class. */
struct sort {
    uint64_t track;
    tm_strid name;
    uint32_t thread, device, traits;
    uint8_t class;
    bool is_activity, has_length;
    uint8_t unused[5]; /* rows are compared as bytes */
    uint64_t count;
    int64_t total_ps;
};

struct sorts {
    struct sort at[SORTS_MOST];
    size_t count;
};

static void add(void *to, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct sorts *const sorts = to;
    const struct sort sort = { .track = event->record.track,
                               .name = event->record.name,
                               .thread = event->thread,
                               .device = event->device,
                               .traits = event->traits,
                               .class = event->record.class,
                               .is_activity = event->level != TM_LEVEL_NONE,
                               .has_length = sums->total_ps > 0 };
    size_t i = 0;

    assert_non_null(event->config);
    for (; i < sorts->count; i++) {
        const struct sort *const other = &sorts->at[i];

        if (other->track == sort.track && other->name == sort.name && other->thread == sort.thread &&
            other->device == sort.device && other->traits == sort.traits && other->class == sort.class &&
            other->is_activity == sort.is_activity && other->has_length == sort.has_length)
            break;
    }
    assert_true(i < SORTS_MOST);
    if (i == sorts->count)
        sorts->at[sorts->count++] = sort;
    sorts->at[i].count += sums->count;
    sorts->at[i].total_ps += sums->total_ps;
}

static tm_status add_one(void *to, const struct tm_event *event)
{
    add(to, event, &(struct tm_site_sums){ .count = 1, .total_ps = event->record.dur_ps });
    return TM_OK;
}

static int in_order(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct sort, count));
}

/* Survey a space, and count it both ways. */
static void count_both(const struct xb_space *space, struct sorts *counted, struct sorts *expected)
{
    struct xspace_run x;

    memset(counted, 0, sizeof(*counted));
    memset(expected, 0, sizeof(*expected));
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    x.host.census = tm_survey_stats_new(&x.host.trace);
    assert_non_null(x.host.census);
    assert_int_equal(xspace_survey(&x, NULL), TM_OK);
    assert_int_equal(tm_host_counts(&x.host, add, counted), TM_OK);
    assert_int_equal(tm_host_events(&x.host, add_one, expected), TM_OK);
    xspace_close(&x);
    qsort(counted->at, counted->count, sizeof(counted->at[0]), in_order);
    qsort(expected->at, expected->count, sizeof(expected->at[0]), in_order);
}

static void check(const struct xb_space *space)
{
    struct sorts *const counted = malloc(sizeof(*counted)), *const expected = malloc(sizeof(*expected));

    assert_true(counted && expected);
    count_both(space, counted, expected);
    assert_int_equal(counted->count, expected->count);
    for (size_t i = 0; i < counted->count; i++)
        assert_memory_equal(&counted->at[i], &expected->at[i], sizeof(counted->at[i]));
    free(counted);
    free(expected);
}

static void put_host_event(struct xb_line *line, unsigned kind, int64_t at_ps, int64_t id)
{
    static const struct {
        const char *name;
        int64_t dur_ps;
        bool has_id;
    } kinds[] = {
        { "GpuExecutable::ExecuteThunks", 400, false },
        { "own", 20, false },
        { "own", 0, false },
        { "$main.py:1 f", 30, false },
        { "cuLaunchKernel", 5, true },
        { "cuEventRecord", 5, true },
        { "cuMemcpyPeer", 5, true },
        { "backend_compile", 300, false },
    };
    const size_t i = kind % (sizeof(kinds) / sizeof(kinds[0]));

    xb_event(line, kinds[i].name, at_ps, kinds[i].dur_ps);
    if (kinds[i].has_id)
        xb_int(line, "correlation_id", id);
}

static void put_device_event(struct xb_line *stream, unsigned kind, int64_t at_ps, int64_t id)
{
    switch (kind % 4) {
    case 0:
        xb_event(stream, "kernel", at_ps, 50);
        xb_ref(stream, "kernel_details", "grid:1,1,1 block:32,1,1");
        break;
    case 1:
        xb_event(stream, "kernel of a graph", at_ps, 50);
        xb_ref(stream, "kernel_details", "grid:1,1,1 block:32,1,1");
        xb_int(stream, "cuda_graph_node_id", 1);
        break;
    case 2:
        xb_event(stream, "CudaGraphExec", at_ps, 60);
        xb_int(stream, "cuda_graph_exec_id", 3);
        break;
    default:
        xb_event(stream, "MemcpyD2H", at_ps, 10);
        xb_ref(stream, "memcpy_details", "kind_src:device kind_dst:pinned size:4 dest:0 async:1");
    }
    xb_int(stream, "correlation_id", id);
}

/* Two threads and two streams of random events.  in: disorder  how far they may lie before the one before */
static struct xb_space *random_space(unsigned seed, int64_t disorder)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU"), *const device = xb_plane(space, "/device:GPU:0");
    struct xb_line *const threads[] = { xb_line(host, 1, "python", 0), xb_line(host, 2, "worker", 0) };
    struct xb_line *const streams[] = { xb_line(device, 7, "Stream #7", 0), xb_line(device, 8, "Stream #8", 0) };

    srand(seed);
    for (int64_t i = 0; i < 300; i++) {
        const int64_t back_ps = disorder ? rand() % disorder : 0;

        put_host_event(threads[rand() % 2], (unsigned)rand(), 1000 + 100 * i - back_ps, rand() % 300 + 1);
        put_device_event(streams[rand() % 2], (unsigned)rand(), 1000 + 100 * i - back_ps, rand() % 300 + 1);
    }
    return space;
}

static void counts_are_those_of_the_ordered_events(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct xb_space *const space = random_space(seed, 0);

        check(space);
        xb_space_free(space);
    }
}

static void lines_that_are_not_in_order_are_counted_in_order(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct xb_space *const space = random_space(seed, 2000);

        check(space);
        xb_space_free(space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_ordered_events),
        cmocka_unit_test(lines_that_are_not_in_order_are_counted_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
