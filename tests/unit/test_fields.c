/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their table of fields: what was saved is loaded again, with hosts and devices renumbered, and merges by the
 * rule of each field. */
#include "stages/figures/fields.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stages/figures/figure_rows.h"
#include "tests/support/test_run.h"

struct part {
    uint64_t count;
    int64_t dur_ps;
};

struct sample {
    struct tm_key key;
    uint64_t count, most, devices;
    int64_t dur_ps, shortest_ps, first_ps, order;
    struct tm_wide squares;
    double rate;
    uint32_t registers[3], host, device, id_host;
    tm_strid name, reason;
    uint8_t class;
    bool is_hlo;
    char model[16], id[64];
    struct part parts[2];
};

static const struct tm_row_field part_fields[] = {
    TM_FIELD(struct part, count, COUNT, SUM),
    TM_FIELD(struct part, dur_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field sample_fields[] = {
    TM_FIELD(struct sample, key, WORD, KEEP),
    TM_FIELD(struct sample, count, COUNT, SUM),
    TM_FIELD(struct sample, most, COUNT, MAX),
    TM_FIELD(struct sample, devices, DEVICES, ANY),
    TM_FIELD(struct sample, dur_ps, TIME, SUM),
    TM_FIELD(struct sample, shortest_ps, TIME, MIN),
    TM_FIELD(struct sample, first_ps, INSTANT, FIRST),
    TM_FIELD_LOCAL(struct sample, order, INSTANT, FIRST),
    TM_FIELD(struct sample, squares, WIDE, SUM),
    TM_FIELD(struct sample, rate, DOUBLE, MAX),
    TM_FIELD(struct sample, registers, U32, KEEP),
    TM_FIELD(struct sample, host, HOST, FIRST),
    TM_FIELD(struct sample, device, DEVICE, FIRST),
    TM_FIELD(struct sample, name, NAME, KEEP),
    TM_FIELD(struct sample, reason, NAME, ANY),
    TM_FIELD_BELOW(struct sample, class, U8, FIRST, 5),
    TM_FIELD(struct sample, is_hlo, BOOL, ANY),
    TM_FIELD(struct sample, model, TEXT, KEEP),
    TM_FIELD_DEVICE_ID(struct sample, id, id_host),
    TM_FIELD_STRUCTS(struct sample, parts, struct part, part_fields),
    TM_FIELDS_END,
};

/* Of a stage: no rows, but what they add up to. */
static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct sample, count, COUNT, SUM),
    TM_FIELD(struct sample, most, COUNT, MAX),
    TM_FIELD(struct sample, dur_ps, TIME, SUM),
    TM_FIELD(struct sample, shortest_ps, TIME, MIN),
    TM_FIELD(struct sample, squares, WIDE, SUM),
    TM_FIELD(struct sample, is_hlo, BOOL, ANY),
    TM_FIELD_STRUCTS(struct sample, parts, struct part, part_fields),
    TM_FIELDS_END,
};

static const char *host_name(const void *of, uint32_t host)
{
    (void)of;
    return host == 0 ? "alpha" : host == 1 ? "beta" : "gamma";
}

static const struct sample one = {
    .key = { 1, 2 },
    .count = 3,
    .most = 4,
    .devices = 1,
    .dur_ps = 500,
    .shortest_ps = 60,
    .first_ps = -7,
    .order = 8,
    .squares = { 0, UINT64_MAX },
    .rate = 0.5,
    .registers = { 10, 11, 12 },
    .host = 1,
    .device = 1,
    .id_host = 1,
    .class = 4,
    .is_hlo = true,
    .model = "H200",
    .id = "beta/gpu:1",
    .parts = { { 1, 20 }, { 2, 30 } },
};

/* Save `one`, and load it behind one host and three devices that were there before. */
static tm_status pass_through(struct tm_run *run, const struct sample *from, unsigned class, struct sample *to,
                              bool adds)
{
    char path[] = "/var/tmp/test-fields-XXXXXX";
    struct tm_names *const names = tm_names_new(run, 1 << 20, NULL);
    struct tm_partial_writer *w;
    struct sample row = *from;
    struct tm_partial_reader *r = NULL;
    const int fd = mkstemp(path);
    FILE *const file = fdopen(fd, "wb");
    tm_status st;

    assert_true(fd >= 0 && file && names);
    assert_int_equal(tm_names_put(names, "gemm", 4, &row.name), TM_OK);
    row.class = (uint8_t) class;
    w = tm_partial_writer_new(run, names, host_name, NULL);
    assert_non_null(w);
    tm_partial_begin(w, "samples");
    tm_fields_save(w, adds ? sum_fields : sample_fields, &row);
    assert_int_equal(tm_partial_end(w), TM_OK);
    assert_int_equal(tm_partial_write(w, file), TM_OK);
    assert_int_equal(fclose(file), 0);
    tm_partial_writer_free(w);
    assert_int_equal(tm_partial_open(&r, run, path), TM_OK);
    tm_partial_bind(r, names, host_name, NULL, 1, 2);
    assert_int_equal(tm_partial_enter(r, "samples"), TM_OK);
    tm_partial_bind_devices(r, 3, 2);
    if (adds)
        tm_fields_load_more(r, sum_fields, to);
    else
        tm_fields_load(r, sample_fields, to);
    st = tm_partial_status(r);
    if (st == TM_OK)
        assert_int_equal(tm_partial_leave(r), TM_OK);
    tm_partial_close(r);
    tm_names_free(names);
    assert_int_equal(unlink(path), 0);
    return st;
}

static void what_was_saved_is_loaded(void **state)
{
    struct sample row = { .count = 0 };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &one, 4, &row, false), TM_OK);
    assert_true(row.key.high == 1 && row.key.low == 2 && row.count == 3 && row.most == 4);
    assert_true(row.dur_ps == 500 && row.shortest_ps == 60 && row.first_ps == -7 && row.order == 0);
    assert_true(row.squares.high == 0 && row.squares.low == UINT64_MAX && row.rate > 0.49 && row.rate < 0.51);
    assert_memory_equal(row.registers, one.registers, sizeof(one.registers));
    assert_true(row.class == 4 && row.is_hlo && row.name != 0 && row.reason == 0);
    assert_string_equal(row.model, "H200");
    assert_memory_equal(row.parts, one.parts, sizeof(one.parts));
    assert_ledger_is_even(&run);
}

static void hosts_and_devices_are_renumbered(void **state)
{
    struct sample row = { .count = 0 };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &one, 4, &row, false), TM_OK);
    assert_int_equal(row.host, 2);
    assert_int_equal(row.device, 4);
    assert_int_equal(row.devices, 1 << 3);
    assert_int_equal(row.id_host, 2);
    assert_string_equal(row.id, "gamma/gpu:1"); /* the host has another name here */
}

static void what_is_out_of_range_is_damage(void **state)
{
    struct sample row = { .count = 0 }, wrong = one;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &one, 5, &row, false), TM_ERR_INPUT);
    wrong.device = 2; /* there are two */
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &wrong, 4, &row, false), TM_ERR_INPUT);
    wrong = one;
    wrong.dur_ps = -1;
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &wrong, 4, &row, false), TM_ERR_INPUT);
}

static void rows_merge_by_their_rules(void **state)
{
    struct sample a = one, b = one;

    (void)state;
    b.count = UINT64_MAX;
    b.most = 9;
    b.devices = 4;
    b.shortest_ps = 59;
    b.squares = (struct tm_wide){ 0, 1 };
    b.rate = 0.25;
    b.reason = 5;
    b.first_ps = 100;
    b.order = 101;
    b.parts[1].dur_ps = 70;
    tm_fields_merge(sample_fields, &a, &b);
    assert_true(a.count == UINT64_MAX && a.most == 9 && a.devices == 5 && a.dur_ps == 1000 && a.shortest_ps == 59);
    assert_true(a.squares.high == 1 && a.squares.low == 0 && a.rate > 0.49);
    assert_true(a.reason == 5 && a.first_ps == -7 && a.order == 8 && a.parts[0].count == 2 && a.parts[1].dur_ps == 100);
    tm_fields_take_first(sample_fields, &a, &b);
    assert_true(a.first_ps == 100 && a.order == 101 && a.count == UINT64_MAX);
}

static void sums_grow_by_what_is_loaded(void **state)
{
    struct sample row = one;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    row.shortest_ps = 10;
    row.most = 2;
    assert_int_equal(pass_through(&run, &one, 4, &row, true), TM_OK);
    assert_true(row.count == 6 && row.most == 4 && row.dur_ps == 1000 && row.shortest_ps == 10);
    assert_true(row.squares.high == 1 && row.parts[0].count == 2 && row.parts[1].dur_ps == 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_is_loaded),       cmocka_unit_test(hosts_and_devices_are_renumbered),
        cmocka_unit_test(what_is_out_of_range_is_damage), cmocka_unit_test(rows_merge_by_their_rules),
        cmocka_unit_test(sums_grow_by_what_is_loaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
