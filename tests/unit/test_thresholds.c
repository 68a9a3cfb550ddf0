/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/thresholds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct tm_thresholds defaults(void)
{
    struct tm_thresholds t;
    struct tm_error error = { 0 };

    assert_int_equal(tm_thresholds_init(&t, &error), TM_OK);
    return t;
}

/* Apply JSON in which ' stands for ". */
static tm_status apply(struct tm_thresholds *t, const char *json, struct tm_error *error)
{
    char text[2048];
    const size_t length = strlen(json);

    assert_true(length < sizeof(text));
    for (size_t i = 0; i <= length; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    memset(error, 0, sizeof(*error));
    return tm_thresholds_apply(t, "my.json", text, length, error);
}

static void the_default_table_is_complete_and_in_order(void **state)
{
    const struct tm_thresholds t = defaults();

    (void)state;
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *k = &t.kpi[i];

        assert_true(k->title[0] && k->unit[0] && k->definition[0]);
        assert_int_equal(k->has_bands, i != TM_KPI_STEP_TIME && i != TM_KPI_MODEL_FLOP_UTILIZATION);
        assert_true(k->higher_is_better ? k->good >= k->bad : k->good <= k->bad);
    }
    for (int i = 0; i < TM_LIMIT_COUNT; i++)
        assert_true(t.limit[i].title[0] && t.limit[i].unit[0] && t.limit[i].definition[0]);
}

static void the_default_values_are_those_of_the_definition(void **state)
{
    static const struct {
        enum tm_kpi kpi;
        bool higher;
        double good, bad;
    } rows[] = {
        { TM_KPI_DEVICE_UTILIZATION, true, 80, 50 },  { TM_KPI_KERNEL_DURATION, true, 1, 0.1 },
        { TM_KPI_SMALL_KERNEL_SHARE, false, 25, 60 }, { TM_KPI_HOST_OVERHEAD, false, 10, 20 },
        { TM_KPI_MEMORY_BANDWIDTH, true, 60, 40 },    { TM_KPI_COMPILE_TIME, false, 2, 10 },
        { TM_KPI_UNEXPECTED_COMPILES, false, 0, 0 },  { TM_KPI_PEAK_MEMORY, false, 80, 90 },
        { TM_KPI_OCCUPANCY, true, 50, 25 },           { TM_KPI_TRANSFER_SHARE, false, 2, 10 },
        { TM_KPI_TOP_OP_SHARE, false, 30, 50 },       { TM_KPI_EXPOSED_COLLECTIVE, false, 5, 20 },
        { TM_KPI_IMBALANCE, false, 5, 15 },
    };
    const struct tm_thresholds t = defaults();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_threshold *k = &t.kpi[rows[i].kpi];

        assert_int_equal(k->higher_is_better, rows[i].higher);
        assert_true(k->good == rows[i].good && k->bad == rows[i].bad);
    }
    assert_true(t.limit[TM_LIMIT_CRITICAL_SHARE].value == 10);
    assert_true(t.limit[TM_LIMIT_WARNING_SHARE].value == 3);
}

static void an_old_name_of_a_limit_is_read(void **state)
{
    struct tm_thresholds t = defaults();
    struct tm_error error;

    (void)state;
    assert_int_equal(apply(&t, "{'limits': [{'id': 'bad_share', 'value': 20}]}", &error), TM_OK);
    assert_true(t.limit[TM_LIMIT_CRITICAL_SHARE].value == 20);
    assert_int_equal(
        apply(&t, "{'limits': [{'id': 'bad_share', 'value': 20}, {'id': 'critical_share', 'value': 30}]}", &error),
        TM_ERR_USAGE);
}

static void a_file_replaces_only_what_it_names(void **state)
{
    struct tm_thresholds t = defaults();
    const struct tm_thresholds before = t;
    struct tm_error error;

    (void)state;
    assert_int_equal(apply(&t,
                           "{'kpis': [{'id': 'step_time', 'good': 12.5, 'bad': 15}, {'id': "
                           "'compile_time', 'bad': 30}], 'limits': [{'id': 'critical_share', 'value': "
                           "20}]}",
                           &error),
                     TM_OK);
    assert_true(t.kpi[TM_KPI_STEP_TIME].has_bands);
    assert_true(t.kpi[TM_KPI_STEP_TIME].good == 12.5 && t.kpi[TM_KPI_STEP_TIME].bad == 15);
    assert_true(t.kpi[TM_KPI_COMPILE_TIME].good == 2 && t.kpi[TM_KPI_COMPILE_TIME].bad == 30);
    assert_true(t.limit[TM_LIMIT_CRITICAL_SHARE].value == 20);
    assert_true(t.limit[TM_LIMIT_WARNING_SHARE].value == before.limit[TM_LIMIT_WARNING_SHARE].value);
    assert_memory_equal(&t.kpi[TM_KPI_OCCUPANCY], &before.kpi[TM_KPI_OCCUPANCY], sizeof(t.kpi[0]));
}

static void null_takes_the_bands_away(void **state)
{
    struct tm_thresholds t = defaults();
    struct tm_error error;

    (void)state;
    assert_int_equal(apply(&t, "{'kpis': [{'id': 'imbalance', 'good': null, 'bad': null}]}", &error), TM_OK);
    assert_false(t.kpi[TM_KPI_IMBALANCE].has_bands);
}

static void the_default_file_may_be_applied_to_itself(void **state)
{
    struct tm_thresholds t = defaults();
    const struct tm_thresholds before = t;
    struct tm_error error = { 0 };

    (void)state;
    assert_int_equal(tm_thresholds_apply(&t, "copy", tm_thresholds_json, strlen(tm_thresholds_json), &error), TM_OK);
    assert_memory_equal(&t, &before, sizeof(t));
}

static void wrong_files_are_refused_and_change_nothing(void **state)
{
    static const struct {
        const char *json, *says, *hint;
    } rows[] = {
        { "", "is not JSON", "" },
        { "{", "is not JSON", "" },
        { "{} x", "is not JSON", "" },
        { "[]", "not a JSON object", "" },
        { "7", "not a JSON object", "" },
        { "{'kpi': []}", "unknown key 'kpi'", "kpis" },
        { "{'kpis': [], 'kpis': []}", "kpis occurs twice", "" },
        { "{'kpis': {}}", "kpis is not an array", "" },
        { "{'kpis': [7]}", "without an 'id'", "" },
        { "{'kpis': [{'good': 1}]}", "without an 'id'", "" },
        { "{'kpis': [{'id': 'devise_utilization'}]}", "unknown kpi 'devise_utilization'", "device_utilization" },
        { "{'kpis': [{'id': 'qqq'}]}", "unknown kpi 'qqq'", "" },
        { "{'kpis': [{'id': 'imbalance'}, {'id': 'imbalance'}]}", "imbalance occurs twice", "" },
        { "{'kpis': [{'id': 'imbalance', 'godo': 1}]}", "unknown key 'godo'", "good" },
        { "{'kpis': [{'id': 'imbalance', 'good': 1, 'good': 2}]}", "good occurs twice", "" },
        { "{'kpis': [{'id': 'imbalance', 'good': '5'}]}", "'good' of 'imbalance' is not a number", "" },
        { "{'kpis': [{'id': 'imbalance', 'good': null}]}", "'good' of 'imbalance' is not a number", "" },
        { "{'kpis': [{'id': 'imbalance', 'good': -1}]}", "outside 0", "" },
        { "{'kpis': [{'id': 'imbalance', 'bad': 1e999}]}", "outside 0", "" },
        { "{'kpis': [{'id': 'peak_memory', 'bad': 900}]}", "outside 0 to 100", "" },
        { "{'kpis': [{'id': 'peak_memory', 'good': 95}]}", "must not be above", "" },
        { "{'kpis': [{'id': 'occupancy', 'good': 10}]}", "must not be below", "" },
        { "{'kpis': [{'id': 'step_time', 'good': 10}]}", "needs both", "" },
        { "{'kpis': [{'id': 'step_time', 'unit': 's'}]}", "the unit is 'ms', not 's'", "" },
        { "{'kpis': [{'id': 'step_time', 'direction': 'higher'}]}", "direction cannot be changed", "" },
        { "{'kpis': [{'id': 'step_time', 'direction': 'lowerr'}]}", "unknown direction", "lower" },
        { "{'kpis': [{'id': 'step_time', 'title': ''}]}", "title is empty", "" },
        { "{'kpis': [{'id': 'step_time', 'title': 'a\\u0007b'}]}", "control character", "" },
        { "{'kpis': [{'id': 'step_time', 'title': 7}]}", "title is not a string", "" },
        { "{'limits': [{'id': 'critical_shares', 'value': 7}]}", "unknown limit 'critical_shares'", "critical_share" },
        { "{'limits': [{'id': 'critical_share', 'good': 7}]}", "unknown key 'good'", "" },
        { "{'limits': [{'id': 'critical_share', 'value': 2}]}", "must rise", "" },
        { "{'limits': [{'id': 'critical_share', 'value': 101}]}", "outside 0 to 100", "" },
        { "{'schema': 'tracemill.summary'}", "'schema' is not", "" },
        { "{'schema_version': 2}", "'schema_version' is not 1", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_thresholds t = defaults();
        const struct tm_thresholds before = t;
        struct tm_error error;

        assert_int_equal(apply(&t, rows[i].json, &error), TM_ERR_USAGE);
        if (!strstr(error.what, rows[i].says) || !strstr(error.what, "'my.json'"))
            fail_msg("'%s' says '%s' without '%s'", rows[i].json, error.what, rows[i].says);
        if (rows[i].hint[0] ? !strstr(error.hint, rows[i].hint) : error.hint[0] != '\0')
            fail_msg("'%s' hints '%s', not '%s'", rows[i].json, error.hint, rows[i].hint);
        assert_memory_equal(&t, &before, sizeof(t));
    }
}

/* Every prefix of a good file is refused: nothing is taken from half a file. */
static void a_file_cut_at_any_byte_is_refused(void **state)
{
    const size_t length = strlen(tm_thresholds_json);
    struct tm_thresholds t = defaults();

    (void)state;
    for (size_t cut = 0; cut + 2 < length; cut += 7) {
        struct tm_error error = { 0 };

        assert_int_equal(tm_thresholds_apply(&t, "cut", tm_thresholds_json, cut, &error), TM_ERR_USAGE);
    }
}

static void files_are_read_and_their_size_is_bounded(void **state)
{
    char path[] = "/tmp/tracemill-thresholds-XXXXXX";
    struct tm_thresholds t = defaults();
    struct tm_error error = { 0 };
    const int fd = mkstemp(path);
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    assert_true(fputs("{\"kpis\": [{\"id\": \"occupancy\", \"good\": 70}]}\n", file) >= 0);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(tm_thresholds_read(&t, path, &error), TM_OK);
    assert_true(t.kpi[TM_KPI_OCCUPANCY].good == 70);

    for (int i = 0; i < TM_THRESHOLDS_FILE_MOST; i++)
        assert_true(fputc(' ', file) != EOF);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tm_thresholds_read(&t, path, &error), TM_ERR_USAGE);
    assert_non_null(strstr(error.what, "larger than 64 KiB"));
    assert_int_equal(unlink(path), 0);
}

static void what_cannot_be_read_is_an_error(void **state)
{
    static const char *const paths[] = { "/nonexistent/thresholds.json", "/tmp" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tm_thresholds t = defaults();
        struct tm_error error = { 0 };

        assert_int_equal(tm_thresholds_read(&t, paths[i], &error), TM_ERR_USAGE);
        assert_non_null(strstr(error.what, "cannot read thresholds"));
    }
}

static void the_effective_table_goes_into_the_summary(void **state)
{
    struct tm_run run = { .quiet = true };
    struct tm_thresholds t = defaults();
    struct tm_error error;
    struct tm_doc *doc;
    const struct tm_value *row;

    (void)state;
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    assert_int_equal(apply(&t, "{'kpis': [{'id': 'occupancy', 'good': 70.5}]}", &error), TM_OK);
    tm_thresholds_add(&t, tm_doc_root(doc));
    assert_int_equal(tm_doc_status(doc), TM_OK);
    assert_int_equal(tm_length(tm_path(tm_doc_root(doc), "thresholds.kpis")), TM_KPI_COUNT);
    assert_int_equal(tm_length(tm_path(tm_doc_root(doc), "thresholds.limits")), TM_LIMIT_COUNT);
    row = tm_path(tm_doc_root(doc), "thresholds.kpis[occupancy]");
    assert_true(tm_double(tm_get(row, "good")) == 70.5);
    assert_string_equal(tm_text(tm_get(row, "direction")), "higher");
    assert_false(tm_has(tm_path(tm_doc_root(doc), "thresholds.kpis[step_time].good")));
    tm_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_table_is_complete_and_in_order),
        cmocka_unit_test(the_default_values_are_those_of_the_definition),
        cmocka_unit_test(a_file_replaces_only_what_it_names),
        cmocka_unit_test(an_old_name_of_a_limit_is_read),
        cmocka_unit_test(null_takes_the_bands_away),
        cmocka_unit_test(the_default_file_may_be_applied_to_itself),
        cmocka_unit_test(wrong_files_are_refused_and_change_nothing),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(files_are_read_and_their_size_is_bounded),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(the_effective_table_goes_into_the_summary),
    };

    return cmocka_run_group_tests_name("thresholds", tests, NULL, NULL);
}
