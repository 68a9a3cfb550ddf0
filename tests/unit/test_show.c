/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on rows: what they mean, what is refused and where, and that any text is one or the other.  Tables by their
 * names, and what is left out of them. */
#include "reports/show/show.h"

#include "tests/support/schema_sample.h"
#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tm_doc_field inner[] = {
    { "h2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "To" },
    { "name", TM_DOC_NAME, .title = "Name" },
    { .key = NULL },
};

static const struct tm_doc_field fields[] = {
    { "name", TM_DOC_NAME, .title = "Name" },
    { "self_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Self" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes" },
    { "rate", TM_DOC_RATE, .title = "Rate" },
    { "count", TM_DOC_COUNT, .title = "Count" },
    { "is_main", TM_DOC_BOOL, .title = "Main" },
    { "bound", TM_DOC_TERM, .title = "Bound", .words = "compute|memory|none" },
    { "value", TM_DOC_VALUE | TM_DOC_OR_NULL, .title = "Value" },
    { "unit", TM_DOC_WORD, .title = "Unit" },
    { "places", TM_DOC_NAME | TM_DOC_LIST, .title = "Places" },
    { "idle_ps", TM_DOC_TIME | TM_DOC_MAP, .title = "Idle", .words = "host|sync" },
    { "first", TM_DOC_OBJECT, .title = "First", .fields = inner },
    { .key = NULL },
};

static void fill_row(struct tm_value *row)
{
    struct tm_value *part;

    tm_add_string(row, "name", "it's a \"Copy\"");
    tm_add_int(row, "self_ps", 5000000);
    tm_add_double(row, "share_pct", 12.5);
    tm_add_null(row, "bytes", "not recorded");
    tm_add_double(row, "rate", 2e9);
    tm_add_int(row, "count", 7);
    tm_add_bool(row, "is_main", true);
    tm_add_string(row, "bound", "memory");
    tm_add_double(row, "value", 1.5);
    tm_add_string(row, "unit", "ms");
    part = tm_add_array(row, "places");
    tm_add_string(part, NULL, "a.py:1");
    tm_add_string(part, NULL, "b.py:2");
    part = tm_add_object(row, "idle_ps");
    tm_add_int(part, "host", 3);
    part = tm_add_object(row, "first");
    tm_add_int(part, "h2d", 9);
    tm_add_string(part, "name", "inner");
}

/* Of the elements of a list, how many the condition leaves. */
static size_t rows_left(struct tm_run *run, const struct tm_value *list, const char *where)
{
    const struct tm_show_table table = { .fields = fields, .rows = list };
    struct tm_show_rows rows;
    size_t count;

    tm_show_rows_choose(&rows, run, &table, &(struct tm_show_query){ .where = where });
    count = rows.count;
    tm_show_rows_free(&rows);
    return count;
}

static void conditions_mean_what_they_say(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        { "self_ps > 4us", true },
        { "self_ps>5us", false },
        { "self_ps >= 5 us", true },
        { "self_ps = 0.005ms", true },
        { "self_ps = 5000000", true },
        { "4us < self_ps", true },
        { "self_ps != 5us", false },
        { "self_ps <> 5us or count = 7", true },
        { "share_pct >= 12.5%", true },
        { "share_pct < 12.6", true },
        { "rate > 1GB/s and rate <= 2 GB/s", true },
        { "count == 7", true },
        { "count > -1", true },
        { "count >= 7.5e0", false },
        { "name ~ copy", true },
        { "name ~ 'COPY'", true },
        { "name !~ copy", false },
        { "name = 'it''s a \"Copy\"'", true },
        { "name = \"it's a \"\"Copy\"\"\"", true },
        { "bound = memory", true },
        { "bound = 'compute'", false },
        { "memory = bound", true },
        { "is_main", true },
        { "not is_main", false },
        { "is_main = true AND NOT is_main = false", true },
        { "!is_main || is_main", true },
        { "not not is_main && ! ! is_main", true },
        { "bytes is null", true },
        { "bytes is not null", false },
        { "bytes = null", true },
        { "bytes != null", false },
        { "bytes > 1GiB", false },
        { "bytes < 1GiB", false },
        { "not bytes < 1GiB", true },
        { "count is null", false },
        { "places ~ 'b.py'", true },
        { "places = 'a.py'", false },
        { "first.h2d = 9 and first.name = inner", true },
        { "first is null", false },
        { "idle_ps.host = 3ps and idle_ps.sync is null", true },
        { "value > 1ms", true },
        { "value > 1s", false },
        { "value > 1GiB", false }, /* of another unit: nothing to compare with */
        { "value = 1.5", true },
        { "first.h2d < self_ps", true },
        { "first.h2d > self_ps", false },
        { "count = 7 or count = 8 and count = 9", true },
        { "(count = 7 or count = 8) and count = 9", false },
        { "((((is_main))))", true },
        { "\tself_ps\n>\r4us ", true },
    };
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *list;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    list = tm_add_array(tm_doc_root(doc), "rows");
    fill_row(tm_add_object(list, NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t left = rows_left(&run, list, cases[i].text);

        if (tm_failed(&run))
            tm_error_print(&run.error, stderr);
        assert_false(tm_failed(&run));
        if (left != cases[i].holds)
            print_error("%s\n", cases[i].text);
        assert_int_equal(left, cases[i].holds);
    }
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void what_is_wrong_is_shown_at_its_place(void **state)
{
    static const struct {
        const char *text, *says, *hint;
    } cases[] = {
        { "", "'^' for --where: it ends too early", "" },
        { "self_ps >", "'self_ps >^'", "" },
        { "self_ps > > 5", "'self_ps > ^> 5'", "" },
        { "slf_ps > 5", "'^slf_ps > 5' for --where: there is no field 'slf_ps' (character 1)", "self_ps" },
        { "count = 1 and slf_ps > 5", "(character 15)", "self_ps" },
        { "self_ps", "a comparison is missing", "" },
        { "self_ps 5", "a comparison is missing", "" },
        { "self_ps > 5GiB", "time", "150ms" },
        { "self_ps > 5parsec", "unit", "ps, ns" },
        { "count > 5ms", "without a unit", "number only" },
        { "count > 'x'", "'count' is a number", "" },
        { "count > ocunt", "no field 'ocunt'", "count" },
        { "count ~ 5", "not a text", "" },
        { "name = true", "neither true nor false", "" },
        { "is_main = 5", "true or false", "" },
        { "bound = memry", "never 'memry'", "memory" },
        { "bound = 'x'", "never 'x'", "compute|memory|none" },
        { "first = 5", "has members", "" },
        { "idle_ps > 5us", "has members", "" },
        { "name = 'x", "closing quote", "" },
        { "(count = 1", "')' is missing", "" },
        { "count = 1)", "no bracket is open", "" },
        { "count = 1 count = 2", "'and' or 'or'", "" },
        { "count is", "'null'", "" },
        { "count is nothing", "'null'", "" },
        { "count > null", "null cannot be ordered", "" },
        { "5 = 5", "no field", "" },
        { "not", "too early", "" },
        { "count = 1 and", "too early", "" },
        { "\xc3\xa4 = 1", "(character 1)", "" },
        { "name = '\xc3\xa4' and x = 1", "(character 16)", "" },
    };
    struct tm_run run;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_run_init(&run);
        print_message("%s\n", cases[i].text);
        assert_int_equal(rows_left(&run, NULL, cases[i].text), 0);
        assert_int_equal(run.error.status, TM_ERR_USAGE);
        if (!strstr(run.error.what, cases[i].says) || !strstr(run.error.hint, cases[i].hint))
            print_error("%s\n-> %s\n-> %s\n", cases[i].text, run.error.what, run.error.hint);
        assert_non_null(strstr(run.error.what, cases[i].says));
        assert_non_null(strstr(run.error.hint, cases[i].hint));
        assert_ledger_is_even(&run);
    }
}

/* in: before  so many times, then the text, then `after` as often */
static tm_status read_repeated(const char *before, const char *text, const char *after, size_t times)
{
    struct tm_run run;
    const size_t bytes = (strlen(before) + strlen(after)) * times + strlen(text) + 1;
    char *const whole = calloc(1, bytes);
    struct tm_doc *doc;
    struct tm_value *list;

    assert_non_null(whole);
    for (size_t i = 0; i < times; i++)
        memcpy(whole + i * strlen(before), before, strlen(before));
    memcpy(whole + times * strlen(before), text, strlen(text));
    for (size_t i = 0; i < times; i++)
        memcpy(whole + times * strlen(before) + strlen(text) + i * strlen(after), after, strlen(after));
    test_run_init(&run);
    doc = tm_doc_new(&run);
    list = tm_add_array(tm_doc_root(doc), "rows");
    (void)tm_add_object(list, NULL);
    (void)rows_left(&run, list, whole);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    free(whole);
    return run.error.status;
}

static void size_and_depth_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(read_repeated("(", "is_main", ")", TM_WHERE_DEPTH), TM_OK);
    assert_int_equal(read_repeated("(", "is_main", ")", TM_WHERE_DEPTH + 1), TM_ERR_USAGE);
    assert_int_equal(read_repeated("(", "is_main", ")", 1000000), TM_ERR_USAGE);
    assert_int_equal(read_repeated("not ", "is_main", "", 1000), TM_OK);
    assert_int_equal(read_repeated("not(", "is_main", ")", 100), TM_ERR_USAGE);
    assert_int_equal(read_repeated("", "is_main", " or is_main", TM_WHERE_TERMS / 2 - 1), TM_OK);
    assert_int_equal(read_repeated("", "is_main", " or is_main", TM_WHERE_TERMS / 2), TM_ERR_USAGE);
    assert_int_equal(read_repeated("name = 'x", "", "x", 3000), TM_ERR_USAGE);
    assert_int_equal(read_repeated("", "name ~ '", "x", 4000), TM_ERR_USAGE);
    assert_int_equal(read_repeated("a", " = 1", "", 4000), TM_ERR_USAGE);
    assert_int_equal(read_repeated("count = 1", "", "1", 2000), TM_ERR_USAGE);
    assert_int_equal(read_repeated("[", "", "]", 2000), TM_ERR_USAGE);
}

/* Every text is a condition or refused with a place and a reason: all short ones of some signs. */
static void any_text_is_read_or_refused(void **state)
{
    static const char *const words[] = { "count", "name", "bound", "5", "5us", "'x'",  "=",    "<", "~", "!", "and",
                                         "or",    "not",  "(",     ")", "is",  "null", "true", ".", "[", "-", "" };
    enum { WORDS = sizeof(words) / sizeof(words[0]) };
    char text[64];
    struct tm_run run;
    size_t read = 0;

    (void)state;
    for (size_t i = 0; i < (size_t)WORDS * WORDS * WORDS * WORDS; i++) {
        (void)snprintf(text, sizeof(text), "%s %s %s %s", words[i % WORDS], words[i / WORDS % WORDS],
                       words[i / WORDS / WORDS % WORDS], words[i / WORDS / WORDS / WORDS]);
        test_run_init(&run);
        (void)rows_left(&run, NULL, text);
        assert_true(!tm_failed(&run) || (strchr(run.error.what, '^') && strstr(run.error.what, "(character ")));
        read += !tm_failed(&run);
        assert_ledger_is_even(&run);
    }
    assert_true(read > 100);
}

/* --- tables --- */

static void check_name(const struct tm_value *root, const char *what, const char *path, size_t rows)
{
    struct tm_show_table table = { .path = "" };
    struct tm_run run;

    test_run_init(&run);
    if (tm_show_find(&run, &table, root, what))
        tm_error_print(&run.error, stderr);
    assert_int_equal(run.error.status, TM_OK);
    assert_string_equal(table.path, path);
    if (rows)
        assert_int_equal(tm_length(table.rows), rows);
    assert_non_null(table.fields);
    tm_show_close(&table);
    assert_ledger_is_even(&run);
}

/* Of a summary with all members, two elements in each list. */
static void names_lead_to_tables(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    test_schema_sample(tm_doc_root(doc), "gpu", TEST_NOTHING_IS_NULL);
    const struct tm_value *const root = tm_doc_root(doc);

    check_name(root, "kernels", "kernels.rows", 2);
    check_name(root, "kernels.rows", "kernels.rows", 2);
    check_name(root, "by_name", "kernels.by_name", 2);
    check_name(root, "steps", "steps.list", 2);
    check_name(root, "gaps.rows", "gaps.longest", 2);
    check_name(root, "gaps.by_cause", "gaps.by_cause", 9);
    check_name(root, "gaps.by_cause.host", "gaps.by_cause.host.figures", 0);
    check_name(root, "devices[0].gaps", "devices[0].gaps.longest", 2);
    check_name(root, "devices[0]", "devices[0].figures", 0);
    check_name(root, "devices[1].busy_ps", "devices[1].busy_ps", 1);
    check_name(root, "steps.samples_ps", "steps.samples_ps", 2);
    check_name(root, "memory.allocators[0].timeline", "memory.allocators[0].timeline", 2);
    check_name(root, "step_time", "steps.median_ps", 1);
    check_name(root, "kpis[0].value", "kpis[0].value", 1);
    check_name(root, "occupancy", "occupancy.low", 2); /* a section before the key figure of that name */
    check_name(root, "steps.figures", "steps.figures", 0);
    check_name(root, "figures", "figures", 0);
    check_name(root, NULL, "contents", 0);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_mean_what_they_say), cmocka_unit_test(what_is_wrong_is_shown_at_its_place),
        cmocka_unit_test(size_and_depth_are_bounded),    cmocka_unit_test(any_text_is_read_or_refused),
        cmocka_unit_test(names_lead_to_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
