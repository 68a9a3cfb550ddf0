/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/export/exporter.h"

#include "tests/support/export_rig.h"

enum { MEMORY = 1 << 20 };

/* Two devices, of which the second one stands first in the file; a host; something else. */
static void make_xspace(struct export_rig *rig)
{
    const uint32_t first = export_rig_device(rig, TM_DEVICE_GPU, 0), second = export_rig_device(rig, TM_DEVICE_GPU, 1);

    rig->trace.origin = TM_ORIGIN_XSPACE;
    rig->trace.main_track = 0;
    (void)export_rig_track(
        rig, &(struct tm_track){ .process = 0, .process_order = 0, .id = 7, .side = TM_SIDE_HOST, .device = TM_NONE },
        "/host:CPU", "main");
    (void)export_rig_track(
        rig, &(struct tm_track){ .process = 1, .process_order = 1, .side = TM_SIDE_OTHER, .device = TM_NONE, .id = 1 },
        "Task Environment", "task");
    (void)export_rig_track(
        rig, &(struct tm_track){ .process = 2, .process_order = 2, .id = 15, .side = TM_SIDE_DEVICE, .device = second },
        "/device:GPU:1", "stream 15");
    (void)export_rig_track(
        rig,
        &(struct tm_track){
            .process = 2, .process_order = 2, .id = 14, .order = 1, .side = TM_SIDE_DEVICE, .device = second },
        "/device:GPU:1", "stream 14");
    (void)export_rig_track(
        rig, &(struct tm_track){ .process = 3, .process_order = 3, .id = 14, .side = TM_SIDE_DEVICE, .device = first },
        "/device:GPU:0", "stream 14");
}

static void use(struct export_rig *rig, struct tm_out_rows *rows, uint64_t number, uint32_t lane)
{
    uint64_t written = 0;

    (void)tm_out_rows_use(rows, &rig->recorder.writer, number, lane, &written);
}

static struct tm_out_rows *open_rows(struct export_rig *rig, bool names_hosts)
{
    struct tm_out_rows *const rows = tm_out_rows_new(rig->run, rig->names, names_hosts, MEMORY);

    rig->recorder.tells_rows = true;
    assert_non_null(rows);
    tm_out_rows_begin_host(rows, &rig->trace, true);
    return rows;
}

static void test_planes(void **state)
{
    struct export_rig rig;
    struct tm_out_rows *rows;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    export_rig_init(&rig, &run, &recorder_with_ends);
    make_xspace(&rig);
    rows = open_rows(&rig, false);
    for (uint64_t i = 0; i < 5; i++)
        use(&rig, rows, i, 0);
    assert_string_equal(export_rig_lines(&rig), "process 1003 /host:CPU @3\n"
                                                "thread 1003/7 main @512\n"
                                                "process 1004 Task Environment @4\n"
                                                "thread 1004/1 task @512\n"
                                                "process 1002 /device:GPU:1 @2\n"
                                                "thread 1002/15 stream 15 @576\n"
                                                "thread 1002/14 stream 14 @512\n"
                                                "process 1001 /device:GPU:0 @1\n"
                                                "thread 1001/14 stream 14 @512\n");
    use(&rig, rows, 0, 0);
    assert_string_equal(export_rig_lines(&rig), "");
    tm_out_rows_begin_file(rows);
    use(&rig, rows, 0, 0);
    use(&rig, rows, 0, 2);
    use(&rig, rows, 0, 1);
    use(&rig, rows, 0, 2);
    use(&rig, rows, 0, 100);
    assert_string_equal(export_rig_lines(&rig), "process 1003 /host:CPU @3\n"
                                                "thread 1003/7 main @512\n"
                                                "lane 1003/1000001 main+2 @514\n"
                                                "lane 1003/1000002 main+1 @513\n"
                                                "lane 1003/1000003 main+100 @575\n");
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_STEP, TM_NONE), 0);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_STEP, 1), 0);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_GAP, 0), 0);
    use(&rig, rows, tm_out_rows_finding(rows, TM_DERIVED_INFO), 0);
    use(&rig, rows, tm_out_rows_finding(rows, TM_DERIVED_CRITICAL), 0);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_FACTS, TM_NONE), 0);
    assert_string_equal(export_rig_lines(&rig), "group 1000001 Analysis \u00b7 tracemill @0\n"
                                                "row 1000001/1000005 host steps \u00b7 tracemill @1088\n"
                                                "row 1000001/1000003 gpu:1 steps \u00b7 tracemill @1216\n"
                                                "row 1000001/1000002 gpu:0 idle gaps \u00b7 tracemill @1280\n"
                                                "row 1000001/1000008 info findings \u00b7 tracemill @192\n"
                                                "row 1000001/1000006 critical findings \u00b7 tracemill @64\n"
                                                "row 1000001/1000009 verdict \u00b7 tracemill @0\n");
    for (uint32_t i = 0; i < 2; i++)
        tm_out_rows_add_work(
            rows, &(struct tm_derived_work_row){ .device = 1 - i,
                                                 .work = i ? TM_WORK_MODULES : TM_WORK_COLLECTIVES,
                                                 .name = tm_names_put_string(rig.names, i ? "modules" : "all") });
    use(&rig, rows, tm_out_rows_launches(rows, 0), 0);
    use(&rig, rows, tm_out_rows_work(rows, 1), 0);
    use(&rig, rows, tm_out_rows_work(rows, 0), 0);
    assert_string_equal(export_rig_lines(&rig), "process 1001 /device:GPU:0 @1\n"
                                                "row 1001/1000001 launches \u00b7 tracemill @0\n"
                                                "row 1001/1000002 modules \u00b7 tracemill @64\n"
                                                "process 1002 /device:GPU:1 @2\n"
                                                "row 1002/1000002 all \u00b7 tracemill @320\n");
    tm_out_rows_free(rows);
    export_rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* What was worked out of devices that have no process of their own: their ids tell it apart, and each has its place. */
static void test_devices_without_a_process(void **state)
{
    struct export_rig rig;
    struct tm_out_rows *rows;
    struct tm_run run;
    struct tm_out_row row, group;
    uint64_t written = 0;

    (void)state;
    test_run_init(&run);
    export_rig_init(&rig, &run, &recorder_with_ends);
    (void)export_rig_track(&rig, &(struct tm_track){ .id = 7, .side = TM_SIDE_HOST, .device = TM_NONE }, "/host:CPU",
                           "main");
    for (int64_t i = 0; i < 2; i++)
        (void)snprintf(rig.trace.devices[export_rig_device(&rig, TM_DEVICE_CPU, i)].id, sizeof(rig.trace.devices[0].id),
                       "h0/cpu:%d", (int)i);
    rows = open_rows(&rig, true);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_STEP, 1), 0);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_GAP, 0), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct tm_counter_row counter = { .hash = i + 1,
                                          .name = 1,
                                          .process = tm_out_rows_device_process(rows, i),
                                          .device = i,
                                          .order = TM_COUNTER_BUSY };

        row = *tm_out_rows_use_counter(rows, &rig.recorder.writer, &counter, &written);
        assert_int_equal(row.order, (18 + 2 * 2 + i) * 64); /* steps and gaps of both come first */
        group.uuid = row.parent;
    }
    assert_non_null(strstr(export_rig_lines(&rig),
                           "group 1000001 Analysis \u00b7 tracemill \u00b7 h0 @0\n"
                           "row 1000001/1000003 cpu:1 steps \u00b7 tracemill \u00b7 h0 @1216\n"
                           "row 1000001/1000002 cpu:0 idle gaps \u00b7 tracemill \u00b7 h0 @1280\n"));
    row =
        *tm_out_rows_use(rows, &rig.recorder.writer, tm_out_rows_derived(rows, TM_DERIVED_FACTS, TM_NONE), 0, &written);
    assert_int_equal(row.uuid, group.uuid);
    assert_int_equal(row.parent, group.uuid);
    row = *tm_out_rows_use(rows, &rig.recorder.writer, tm_out_rows_finding(rows, TM_DERIVED_CRITICAL), 1, &written);
    assert_int_equal(row.parent, group.uuid);        /* beside the first lane, not folded into it */
    tm_out_rows_begin_host(rows, &rig.trace, false); /* as another host, without the verdict */
    tm_out_rows_begin_file(rows);
    use(&rig, rows, tm_out_rows_derived(rows, TM_DERIVED_FACTS, TM_NONE), 0);
    assert_non_null(strstr(export_rig_lines(&rig), "Host analysis \u00b7 tracemill \u00b7 h0 @"));
    tm_out_rows_free(rows);
    export_rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Numbers of a Chrome trace: kept where they fit and are free. */
static void make_chrome(struct export_rig *rig)
{
    const struct tm_track tracks[] = {
        { .process = 0, .process_id = 40, .id = 40 },
        { .process = 0, .process_id = 40, .id = 40 },
        { .process = 0, .process_id = 40, .id = 0 },
        { .process = 0, .process_id = 40, .id = 1000001 },
        { .process = 0, .process_id = 40, .sort = TM_TRACK_ASYNC },
        { .process = 1, .process_id = 40, .id = 40 },
        { .process = 2, .process_id = 0, .id = INT64_MAX },
        { .process = 3, .process_id = -5, .id = 2147483647 },
        { .process = 4, .process_id = 1000001, .id = 1 },
    };

    for (size_t i = 0; i < sizeof(tracks) / sizeof(tracks[0]); i++) {
        struct tm_track track = tracks[i];
        char process[8], name[8];

        track.device = TM_NONE;
        track.side = TM_SIDE_HOST;
        (void)snprintf(process, sizeof(process), "p%u", track.process);
        (void)snprintf(name, sizeof(name), "t%zu", i);
        (void)export_rig_track(rig, &track, process, name);
    }
}

static void test_numbers(void **state)
{
    struct export_rig rig;
    struct tm_out_rows *rows;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    export_rig_init(&rig, &run, &recorder_with_ends);
    make_chrome(&rig);
    rows = open_rows(&rig, false);
    for (uint64_t i = 0; i < 9; i++)
        use(&rig, rows, i, 0);
    assert_string_equal(export_rig_lines(&rig), "process 40 p0 @1\n"
                                                "thread 40/40 t0 @512\n"
                                                "thread 40/1000002 t1 @576\n"
                                                "thread 40/1000003 t2 @640\n"
                                                "thread 40/1000001 t3 @704\n"
                                                "row 40/1000004 t4 @768\n"
                                                "process 1000003 p1 @2\n"
                                                "thread 1000003/40 t5 @512\n"
                                                "process 1000004 p2 @3\n"
                                                "thread 1000004/1000001 t6 @512\n"
                                                "process 1000005 p3 @4\n"
                                                "thread 1000005/2147483647 t7 @512\n"
                                                "process 1000001 p4 @5\n"
                                                "thread 1000001/1 t8 @512\n");
    /* Another host has the same numbers. */
    rig.trace.host = 1;
    (void)snprintf(rig.trace.host_name, sizeof(rig.trace.host_name), "h1");
    tm_out_rows_begin_host(rows, &rig.trace, true);
    use(&rig, rows, 0, 0);
    use(&rig, rows, 8, 0);
    assert_string_equal(export_rig_lines(&rig), "process 1000007 p0 @7\n"
                                                "thread 1000007/40 t0 @512\n"
                                                "process 1000011 p4 @11\n"
                                                "thread 1000011/1 t8 @512\n");
    tm_out_rows_free(rows);
    export_rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* Ids of rows are never the same, of several hosts neither, and always the same for one row. */
static void test_ids(void **state)
{
    struct export_rig rig;
    struct tm_run run;
    struct tm_out_row row[2][12];
    uint64_t written = 0;

    (void)state;
    test_run_init(&run);
    export_rig_init(&rig, &run, &recorder_with_ends);
    make_chrome(&rig);
    for (int turn = 0; turn < 2; turn++) {
        struct tm_out_rows *const rows = open_rows(&rig, true);
        struct tm_trace_writer *const w = &rig.recorder.writer;
        struct tm_counter_row counter = { .hash = 99, .name = 1, .process = 2, .order = TM_COUNTER_RECORDED };

        for (uint32_t k = 0; k < 10; k++) {
            if (k == 5) {
                rig.trace.host = 1;
                tm_out_rows_begin_host(rows, &rig.trace, true);
            }
            row[turn][k] = *tm_out_rows_use(rows, w, k % 5 / 2, k % 2, &written);
        }
        row[turn][10] = *tm_out_rows_use_counter(rows, w, &counter, &written);
        counter.process = 3;
        counter.file = 0;
        row[turn][11] = *tm_out_rows_use_counter(rows, w, &counter, &written);
        tm_out_rows_free(rows);
        rig.trace.host = 0;
    }
    for (int i = 0; i < 12; i++) {
        assert_int_equal(row[0][i].uuid, row[1][i].uuid);
        assert_int_equal(row[0][i].parent, row[1][i].parent);
        for (int k = 0; k < 12; k++)
            assert_true(i % 5 == 4 || k % 5 == 4 || i == k || row[0][i].uuid != row[0][k].uuid);
        assert_int_not_equal(row[0][i].uuid, row[0][i].parent);
    }
    assert_int_equal(row[0][1].parent, row[0][0].uuid);
    assert_non_null(strstr(export_rig_lines(&rig), "process 40 p0 \u00b7 h0 @1\n"));
    export_rig_free(&rig);
    assert_ledger_is_even(&run);
}

/* A million threads, a hundred thousand of them with a number that is taken, in the least memory. */
static void test_million(void **state)
{
    struct export_rig rig;
    struct tm_out_rows *rows;
    struct tm_run run;
    struct tm_out_row row;
    uint64_t written = 0, seed = 1;
    size_t share;

    (void)state;
    test_run_init(&run);
    share = tm_budget_share(&run.budget, TM_ACCOUNT_MODEL) / 4;
    export_rig_init(&rig, &run, &recorder_with_ends);
    (void)fclose(rig.recorder.to);
    rig.recorder.to = NULL;
    for (int64_t i = 0; i < 1000000; i++) {
        const struct tm_track track = { .process = (uint32_t)(i / 1000),
                                        .process_id = i / 1000 % 900 + 1,
                                        .id = i % 10 ? i % 1000 : 5,
                                        .device = TM_NONE };

        tm_rows_append(rig.trace.tracks, &track);
    }
    rows = tm_out_rows_new(&run, rig.names, false, share);
    assert_non_null(rows);
    tm_out_rows_begin_host(rows, &rig.trace, true);
    for (int turn = 0; turn < 20000; turn++)
        (void)tm_out_rows_use(rows, &rig.recorder.writer, next_number(&seed) % 1000000,
                              (uint32_t)(next_number(&seed) % 4), &written);
    assert_int_equal(run.error.status, TM_OK);
    row = *tm_out_rows_use(rows, &rig.recorder.writer, 999999, 0, &written);
    assert_int_equal(row.tid, 999);
    assert_int_equal(row.pid, 1000101);
    assert_in_range(run.budget.peak_bytes[TM_ACCOUNT_MODEL], 1, share);
    tm_out_rows_free(rows);
    export_rig_free(&rig);
    assert_ledger_is_even(&run);
}

static tm_status number_rows(struct tm_run *run)
{
    struct export_rig rig;
    struct tm_out_rows *rows;
    uint64_t written = 0;

    export_rig_init(&rig, run, &recorder_with_ends);
    make_chrome(&rig);
    rows = tm_out_rows_new(run, rig.names, true, MEMORY);
    if (rows)
        tm_out_rows_begin_host(rows, &rig.trace, true);
    for (uint64_t i = 0; i < 9 && !tm_failed(run); i++)
        (void)tm_out_rows_use(rows, &rig.recorder.writer, i, (uint32_t)i % 3, &written);
    tm_out_rows_free(rows);
    export_rig_free(&rig);
    return run->error.status;
}

static void test_refusals(void **state)
{
    (void)state;
    refuse_each_request(number_rows);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes),  cmocka_unit_test(test_devices_without_a_process),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_ids),
        cmocka_unit_test(test_million), cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
