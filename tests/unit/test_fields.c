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
    uint64_t count, most, devices, direction;
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
    TM_FIELD_BELOW(struct sample, direction, COUNT, KEEP, 4),
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
    .direction = 3,
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

/* A partial of one section, which is written and then read. */
struct file {
    struct tm_run *run;
    struct tm_names *names;
    tm_strid name; /* one of them */
    struct tm_partial_writer *w;
    struct tm_partial_reader *r;
    char path[32];
};

static struct tm_partial_writer *begin_saving(struct file *file, struct tm_run *run)
{
    *file =
        (struct file){ .run = run, .names = tm_names_new(run, 1 << 20, NULL), .path = "/var/tmp/test-fields-XXXXXX" };
    assert_non_null(file->names);
    file->name = tm_names_put(file->names, "gemm", 4);
    file->w = tm_partial_writer_new(run, file->names, host_name, NULL);
    assert_non_null(file->w);
    tm_partial_begin(file->w, "samples");
    return file->w;
}

/* Behind one host and three devices that were there before. */
static struct tm_partial_reader *begin_loading(struct file *file)
{
    FILE *const to = fdopen(mkstemp(file->path), "wb");

    assert_non_null(to);
    assert_int_equal(tm_partial_end(file->w), TM_OK);
    assert_int_equal(tm_partial_write(file->w, to), TM_OK);
    assert_int_equal(fclose(to), 0);
    tm_partial_writer_free(file->w);
    file->r = tm_partial_open(file->run, file->path);
    assert_non_null(file->r);
    tm_partial_bind(file->r, file->names, host_name, NULL, 1, 2);
    tm_partial_enter(file->r, "samples");
    tm_partial_bind_devices(file->r, 3, 2);
    return file->r;
}

static tm_status end_loading(struct file *file)
{
    const tm_status st = tm_partial_status(file->r);

    if (st == TM_OK) {
        tm_partial_leave(file->r);
        assert_int_equal(tm_partial_status(file->r), TM_OK);
    }
    tm_partial_close(file->r);
    tm_names_free(file->names);
    assert_int_equal(unlink(file->path), 0);
    return st;
}

/* Save a row, and load it. */
static tm_status pass_through(struct tm_run *run, const struct sample *from, unsigned class, struct sample *to,
                              bool adds)
{
    const struct tm_row_field *const fields = adds ? sum_fields : sample_fields;
    struct sample row = *from;
    struct file file;

    (void)begin_saving(&file, run);
    row.name = file.name;
    row.class = (uint8_t) class;
    tm_fields_save(file.w, fields, &row);
    (adds ? tm_fields_load_more : tm_fields_load)(begin_loading(&file), fields, to);
    return end_loading(&file);
}

static void what_was_saved_is_loaded(void **state)
{
    struct sample row = { .count = 0 };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(pass_through(&run, &one, 4, &row, false), TM_OK);
    assert_true(row.key.high == 1 && row.key.low == 2 && row.count == 3 && row.most == 4 && row.direction == 3);
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
    wrong.direction = 4;
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

static void lengths_are_saved_and_loaded(void **state)
{
    const struct tm_length *length = NULL;
    struct tm_lengths *saved, *loaded;
    struct file file;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    saved = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    loaded = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    assert_true(saved && loaded);
    tm_lengths_add(saved, 0, 70, 2);
    tm_lengths_add(saved, 0, INT64_MAX, 1);
    assert_int_equal(tm_fields_save_lengths(begin_saving(&file, &run), saved), TM_OK);
    assert_int_equal(tm_fields_load_lengths(begin_loading(&file), loaded), TM_OK);
    assert_int_equal(end_loading(&file), TM_OK);
    tm_lengths_finish(loaded);
    length = tm_lengths_next(loaded);
    assert_true(length && length->group == 0 && length->value == 70 && length->count == 2);
    length = tm_lengths_next(loaded);
    assert_true(length && length->value == INT64_MAX && length->count == 1);
    length = tm_lengths_next(loaded);
    assert_null(length);
    tm_lengths_free(saved);
    tm_lengths_free(loaded);
    assert_ledger_is_even(&run);
}

/* More than a row of a partial has, in several groups, some of them more than once. */
static void many_lengths_are_saved_and_loaded(void **state)
{
    enum { GROUPS = 3, LENGTHS = 2500 };
    struct tm_lengths *saved, *loaded;
    struct file file;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    saved = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    loaded = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    assert_true(saved && loaded);
    for (uint64_t i = 0; i < (uint64_t)GROUPS * LENGTHS; i++)
        tm_lengths_add(saved, i % GROUPS * 1000, i * i, 1 + (i % 7 == 0) * (i << 40));
    assert_int_equal(tm_fields_save_lengths(begin_saving(&file, &run), saved), TM_OK);
    assert_int_equal(tm_fields_load_lengths(begin_loading(&file), loaded), TM_OK);
    assert_int_equal(end_loading(&file), TM_OK);
    tm_lengths_finish(loaded);
    for (uint64_t group = 0; group < GROUPS; group++) {
        for (uint64_t i = group; i < (uint64_t)GROUPS * LENGTHS; i += GROUPS) {
            const struct tm_length *const length = tm_lengths_next(loaded);

            assert_true(length && length->group == group * 1000 && length->value == i * i);
            assert_true(length->count == 1 + (i % 7 == 0) * (i << 40));
        }
    }
    assert_null(tm_lengths_next(loaded));
    tm_lengths_free(saved);
    tm_lengths_free(loaded);
    assert_ledger_is_even(&run);
}

static void a_length_that_is_negative_is_damage(void **state)
{
    struct tm_lengths *lengths;
    struct file file;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    assert_non_null(lengths);
    tm_lengths_add(lengths, 0, UINT64_MAX, 1);
    assert_int_equal(tm_fields_save_lengths(begin_saving(&file, &run), lengths), TM_OK);
    tm_lengths_free(lengths);
    lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);
    assert_non_null(lengths);
    assert_int_equal(tm_fields_load_lengths(begin_loading(&file), lengths), TM_ERR_INPUT);
    assert_int_equal(end_loading(&file), TM_ERR_INPUT);
    tm_lengths_free(lengths);
}

/* A table in which one field is another one. */
static void change_field(struct tm_row_field *fields, size_t field, int how)
{
    static const struct tm_row_field changed_part[] = { TM_FIELD(struct part, count, COUNT, SUM), TM_FIELDS_END };

    if (how == 0)
        fields[field].name = "renamed";
    else if (how == 1)
        fields[field].kind = TM_FIELD_INSTANT;
    else if (how == 2)
        fields[field].merge = TM_MERGE_MAX;
    else if (how == 3)
        fields[field].below = 7;
    else if (how == 4)
        fields[field].kind = TM_FIELD_NONE; /* it and all after it are gone */
    else
        fields[sizeof(sum_fields) / sizeof(sum_fields[0]) - 2].fields = changed_part;
}

static void rows_of_another_table_are_refused(void **state)
{
    enum { CHANGES = 6 };
    struct tm_row_field fields[sizeof(sum_fields) / sizeof(sum_fields[0])];

    (void)state;
    for (int how = -1; how < CHANGES; how++) {
        struct sample row = { .count = 0 };
        struct file file;
        struct tm_run run;

        memcpy(fields, sum_fields, sizeof(fields));
        if (how >= 0)
            change_field(fields, 2, how);
        test_run_init(&run);
        (void)begin_saving(&file, &run);
        tm_fields_save(file.w, sum_fields, &one);
        tm_fields_save(file.w, sum_fields, &one); /* the layout is written once */
        tm_fields_load(begin_loading(&file), fields, &row);
        tm_fields_load(file.r, fields, &row);
        assert_int_equal(end_loading(&file), how < 0 ? TM_OK : TM_ERR_INPUT);
        if (how >= 0)
            assert_non_null(strstr(run.error.what, "whose tables have other fields"));
        else
            assert_ledger_is_even(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_is_loaded),          cmocka_unit_test(hosts_and_devices_are_renumbered),
        cmocka_unit_test(what_is_out_of_range_is_damage),    cmocka_unit_test(rows_merge_by_their_rules),
        cmocka_unit_test(sums_grow_by_what_is_loaded),       cmocka_unit_test(lengths_are_saved_and_loaded),
        cmocka_unit_test(many_lengths_are_saved_and_loaded), cmocka_unit_test(a_length_that_is_negative_is_damage),
        cmocka_unit_test(rows_of_another_table_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
