/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/doc/doc.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/numbers.h"
#include "tests/support/test_run.h"

/* A document with the run that it belongs to. */
struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *root;
};

static void open_doc(struct fixture *f)
{
    test_run_init(&f->run);
    tm_budget_init(&f->run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    f->root = tm_doc_root(f->doc);
}

static void close_doc(struct fixture *f)
{
    tm_doc_free(f->doc);
    assert_ledger_is_even(&f->run);
}

/* The document as text; the caller frees it. */
static char *printed(struct fixture *f)
{
    FILE *file = tmpfile();
    char *text;

    assert_non_null(file);
    assert_int_equal(tm_doc_print(f->doc, &f->run, fileno(file)), TM_OK);
    const off_t length = lseek(fileno(file), 0, SEEK_END);

    assert_true(length > 0);
    text = calloc(1, (size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, (size_t)length, 0), length);
    (void)fclose(file);
    return text;
}

static void assert_prints(struct fixture *f, const char *expected)
{
    char *text = printed(f);

    assert_string_equal(text, expected);
    free(text);
}

static void a_value_is_one_line_for_json_lines(void **state)
{
    struct fixture f;
    FILE *file = tmpfile();
    char text[256] = "";

    (void)state;
    assert_non_null(file);
    open_doc(&f);
    tm_add_string(f.root, "text", "two\nlines\xe2\x80\xa8");
    tm_add_null(f.root, "none", "nobody knows");
    struct tm_value *list = tm_add_array(f.root, "list");

    tm_add_int(list, NULL, 1);
    tm_add_double(tm_add_object(list, NULL), "x", 0.5);
    (void)tm_add_array(list, NULL);
    tm_value_print_line(f.root, file);
    tm_value_print_line(list, file);
    rewind(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    assert_string_equal(text, "{\"text\": \"two\\nlines\\u2028\", \"none\": null, \"list\": [1, {\"x\": 0.5}, []],"
                              " \"why\": {\"none\": \"nobody knows\"}}\n[1, {\"x\": 0.5}, []]\n");
    (void)fclose(file);
    close_doc(&f);
}

static void members_are_printed_in_the_order_they_were_put_in(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    assert_prints(&f, "{}\n");
    tm_add_int(f.root, "z", -5);
    tm_add_bool(f.root, "a", true);
    struct tm_value *list = tm_add_array(f.root, "list");

    tm_add_string(list, NULL, "x");
    (void)tm_add_object(list, NULL);
    (void)tm_add_array(list, NULL);
    tm_add_double(list, NULL, 0.5);
    assert_prints(&f, "{\n  \"z\": -5,\n  \"a\": true,\n  \"list\": [\n    \"x\",\n    {},\n    [],\n    0.5\n"
                      "  ]\n}\n");
    assert_int_equal(tm_doc_status(f.doc), TM_OK);
    close_doc(&f);
}

static void a_member_is_replaced_in_its_place(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_int(f.root, "a", 1);
    tm_add_int(f.root, "b", 2);
    tm_add_string(f.root, "a", "new");
    assert_int_equal(tm_length(f.root), 2);
    assert_prints(&f, "{\n  \"a\": \"new\",\n  \"b\": 2\n}\n");
    close_doc(&f);
}

static void reasons_of_nulls_come_at_the_end_of_their_object(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_null(f.root, "fusion", "no \"HLO\" in the trace");
    tm_add_int(f.root, "b", 2);
    tm_add_null(f.root, "plain", NULL);
    tm_add_null(f.root, "c", "because");
    assert_prints(&f, "{\n  \"fusion\": null,\n  \"b\": 2,\n  \"plain\": null,\n  \"c\": null,\n  \"why\": {\n"
                      "    \"fusion\": \"no \\\"HLO\\\" in the trace\",\n    \"c\": \"because\"\n  }\n}\n");
    assert_string_equal(tm_why(tm_get(f.root, "c")), "because");
    assert_string_equal(tm_why(tm_get(f.root, "plain")), "");
    assert_string_equal(tm_why(tm_get(f.root, "b")), "");
    tm_add_string(f.root, "why", "its own"); /* no second member of that name */
    char *text = printed(&f);

    assert_null(strstr(text, "because"));
    free(text);
    close_doc(&f);
}

static void a_text_that_is_not_known_is_null(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_known(f.root, "there", "a \xff", "why");
    tm_add_known(f.root, "empty", "", "it has none");
    tm_add_known(f.root, "absent", NULL, NULL);
    assert_string_equal(tm_text(tm_get(f.root, "there")), "a \xef\xbf\xbd");
    assert_false(tm_has(tm_get(f.root, "empty")));
    assert_false(tm_has(tm_get(f.root, "absent")));
    assert_string_equal(tm_why(tm_get(f.root, "empty")), "it has none");
    close_doc(&f);
}

static void doubles_read_back_the_same_with_the_fewest_digits(void **state)
{
    /* clang-format off */
    static const struct { double value; const char *text; } table[] = {
        { 0.1, "0.1" }, { 1.0 / 3, "0.3333333333333333" }, { 100, "100" }, { -0.0, "-0" },
        { 1e22, "1e+22" }, { 5e-324, "4.94065645841247e-324" }, { 0.1 + 0.2, "0.30000000000000004" },
        { DBL_MAX, "1.7976931348623157e+308" }, { 12345678.9, "12345678.9" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct fixture f;
        char expected[64];

        open_doc(&f);
        tm_add_double(f.root, "x", table[i].value);
        (void)snprintf(expected, sizeof(expected), "{\n  \"x\": %s\n}\n", table[i].text);
        assert_prints(&f, expected);
        close_doc(&f);
    }
}

/* What the C library makes of a number with 15, 16 or 17 digits: the first that reads back the same. */
static void assert_has_fewest_digits(double value)
{
    char text[TM_DOUBLE_TEXT + 1], expected[TM_DOUBLE_TEXT + 1];
    int digits = 14;

    do
        (void)snprintf(expected, sizeof(expected), "%.*g", ++digits, value);
    while (digits < 17 && strtod(expected, NULL) != value);
    text[tm_double_text(text, value)] = '\0';
    assert_string_equal(text, expected);
}

static void assert_neighbors_have_fewest_digits(double value)
{
    assert_has_fewest_digits(value);
    assert_has_fewest_digits(-value);
    assert_has_fewest_digits(nextafter(value, 0));
    assert_has_fewest_digits(nextafter(value, INFINITY));
}

static void all_doubles_have_the_digits_of_the_c_library(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = -20; i <= 20; i++)
        assert_neighbors_have_fewest_digits(pow(10, i));
    for (int i = -70; i <= 70; i++)
        assert_neighbors_have_fewest_digits(ldexp(1, i));
    for (int i = 0; i < 100000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t number = random >> 11;

        assert_has_fewest_digits(ldexp((double)number, (int)(random >> 3 & 63) - 70)); /* any bits */
        assert_has_fewest_digits((double)(number >> 33) / 1000);                       /* few digits */
        assert_has_fewest_digits((double)(number >> 20) / (double)((random & 0xffff) + 1));
        assert_has_fewest_digits((double)(number >> 10) / 128); /* halfway between decimal numbers */
    }
}

static void integers_have_all_their_digits(void **state)
{
    static const int64_t numbers[] = { 0, 1, -1, 9, 10, -10, 1234567890123, INT64_MAX, INT64_MIN };
    char text[TM_INT_TEXT + 1], expected[TM_INT_TEXT + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)snprintf(expected, sizeof(expected), "%lld", (long long)numbers[i]);
        text[tm_int_text(text, numbers[i])] = '\0';
        assert_string_equal(text, expected);
    }
}

static void a_locale_does_not_change_the_decimal_point(void **state)
{
    struct fixture f;

    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    open_doc(&f);
    tm_add_double(f.root, "x", 0.5);
    assert_prints(&f, "{\n  \"x\": 0.5\n}\n");
    close_doc(&f);
    (void)setlocale(LC_NUMERIC, "C");
}

static void what_is_not_finite_is_null(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_double(f.root, "a", (double)NAN);
    tm_add_double(f.root, "b", (double)INFINITY);
    assert_prints(&f, "{\n  \"a\": null,\n  \"b\": null\n}\n");
    close_doc(&f);
}

static void integers_keep_all_their_digits(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_int(f.root, "least", INT64_MIN);
    tm_add_uint(f.root, "most", INT64_MAX);
    tm_add_uint(f.root, "past", UINT64_MAX);
    tm_add_int(f.root, "odd", (INT64_C(1) << 53) + 1);
    assert_prints(&f, "{\n  \"least\": -9223372036854775808,\n  \"most\": 9223372036854775807,\n"
                      "  \"past\": 1.8446744073709552e+19,\n  \"odd\": 9007199254740993\n}\n");
    close_doc(&f);
}

static void texts_are_escaped_and_made_valid(void **state)
{
    /* clang-format off */
    static const struct { const char *in; size_t length; const char *out; } table[] = {
        { "a\"b\\c/", 6, "a\\\"b\\\\c/" },
        { "\b\f\n\r\t\x01\x1f\x7f", 8, "\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f" },
        { "\xe2\x80\xa8|\xe2\x80\xa9|\xe2\x80\xaa", 11, "\\u2028|\\u2029|\\u202a" },
        { "\xc2\x9b" "31m\xc2\xa0\xe2\x80\x8b", 10, "\\u009b31m\xc2\xa0\\u200b" }, /* what a terminal obeys, what is not seen */
        { "\xf3\xa0\x81\x81", 4, "\\udb40\\udc41" },
        { "a\0b", 3, "a\xef\xbf\xbd" "b" },
        { "\xff\xc3\xa9\xc3", 4, "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd" },
        { "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf0\x9f\x98\x80</script>", 13, "\xf0\x9f\x98\x80</script>" },
        { "", 0, "" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct fixture f;
        char expected[128];

        open_doc(&f);
        tm_add_text(tm_add_array(f.root, "t"), NULL, table[i].in, table[i].length);
        (void)snprintf(expected, sizeof(expected), "{\n  \"t\": [\n    \"%s\"\n  ]\n}\n", table[i].out);
        assert_prints(&f, expected);
        close_doc(&f);
    }
}

static void keys_are_escaped_and_made_valid(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_int(f.root, "a\nb\xff", 1);
    tm_add_int(f.root, "a\nb\xff", 2);
    assert_prints(&f, "{\n  \"a\\nb\xef\xbf\xbd\": 2\n}\n");
    close_doc(&f);
}

static void large_objects_and_arrays_are_quick_to_build_and_to_read(void **state)
{
    enum { MANY = 20000 };
    struct fixture f;
    char key[32];

    (void)state;
    open_doc(&f);
    struct tm_value *object = tm_add_object(f.root, "object");
    struct tm_value *array = tm_add_array(f.root, "array");

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(key, sizeof(key), "key%d", i);
            tm_add_int(object, key, i + round);
            if (round == 0)
                tm_add_int(array, NULL, i);
        }
    }
    assert_int_equal(tm_doc_status(f.doc), TM_OK);
    assert_int_equal(tm_length(object), MANY);
    assert_int_equal(tm_length(array), MANY);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(key, sizeof(key), "key%d", i);
        assert_int_equal(tm_int(tm_get(object, key)), i + 1);
        assert_string_equal(tm_key_at(object, (size_t)i), key);
        assert_int_equal(tm_int(tm_value_at(object, (size_t)i)), i + 1);
        assert_int_equal(tm_int(tm_at(array, (size_t)i)), i);
    }
    assert_null(tm_get(object, "key-1"));
    assert_null(tm_at(array, MANY));
    close_doc(&f);
}

static void pointers_to_values_stay_good_while_others_are_added(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    struct tm_value *list = tm_add_array(f.root, "list");
    struct tm_value *first = tm_add_object(list, NULL);

    for (int i = 0; i < 5000; i++)
        tm_add_int(tm_add_object(list, NULL), "n", i);
    tm_add_int(first, "late", 7);
    assert_int_equal(tm_int(tm_path(f.root, "list[0].late")), 7);
    close_doc(&f);
}

static void reading_tolerates_what_is_not_there_or_of_another_type(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_string(f.root, "text", "t");
    tm_add_double(f.root, "half", 2.5);
    tm_add_double(f.root, "huge", 1e300);
    tm_add_double(f.root, "tiny", -1e300);
    tm_add_int(f.root, "three", 3);
    tm_add_null(f.root, "null", "why");
    (void)tm_add_array(f.root, "array");
    const struct tm_value *text = tm_get(f.root, "text");

    assert_null(tm_get(NULL, "a"));
    assert_null(tm_get(text, "a"));
    assert_null(tm_get(f.root, NULL));
    assert_null(tm_at(f.root, 0));
    assert_null(tm_at(text, 0));
    assert_null(tm_value_at(NULL, 0));
    assert_string_equal(tm_key_at(f.root, 99), "");
    assert_string_equal(tm_key_at(tm_get(f.root, "array"), 0), "");
    assert_int_equal(tm_length(text), 0);
    assert_int_equal(tm_length(NULL), 0);
    assert_int_equal(tm_int(text), 0);
    assert_int_equal(tm_int(NULL), 0);
    assert_int_equal(tm_int(tm_get(f.root, "half")), 3);
    assert_true(tm_int(tm_get(f.root, "huge")) == INT64_MAX);
    assert_true(tm_int(tm_get(f.root, "tiny")) == INT64_MIN);
    assert_true(tm_double(tm_get(f.root, "three")) == 3.0);
    assert_true(tm_double(text) == 0.0);
    assert_string_equal(tm_text(f.root), "");
    assert_string_equal(tm_text(NULL), "");
    assert_false(tm_is(text));
    assert_false(tm_has(NULL));
    assert_false(tm_has(tm_get(f.root, "null")));
    assert_true(tm_has(text));
    assert_int_equal(tm_type_of(NULL), TM_NULL);
    assert_int_equal(tm_type_of(text), TM_STRING);
    close_doc(&f);
}

static void what_cannot_be_added_is_swallowed(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_int(NULL, "a", 1);
    tm_add_string(NULL, "a", NULL);
    assert_null(tm_add_object(NULL, "a"));
    tm_add_string(f.root, "empty", NULL);
    assert_prints(&f, "{\n  \"empty\": \"\"\n}\n");
    close_doc(&f);
}

static void paths_find_values(void **state)
{
    /* clang-format off */
    static const struct { const char *path; int64_t found; } table[] = {
        { "steps.median_ps", 1 },
        { "devices[0].busy_ps", 10 },
        { "devices[1].busy_ps", 11 },
        { "devices[vm/gpu:1].busy_ps", 11 },
        { "kpis[device_utilization].value", 20 },
        { "by[with.dots].n", 30 },
        { "steps.nothing", 0 },
        { "steps..median_ps", 0 },
        { "devices[2].busy_ps", 0 },
        { "devices[99999999999999999999999].busy_ps", 0 },
        { "devices[vm/gpu:9].busy_ps", 0 },
        { "devices[0", 0 },
        { "devices[].busy_ps", 0 },
        { "nothing.at.all", 0 },
        { ".", 0 },
        { "steps[median_ps]", 1 },
        { "step", 0 },
    };
    /* clang-format on */
    struct fixture f;

    (void)state;
    open_doc(&f);
    tm_add_int(tm_add_object(f.root, "steps"), "median_ps", 1);
    struct tm_value *devices = tm_add_array(f.root, "devices");

    for (int i = 0; i < 2; i++) {
        struct tm_value *device = tm_add_object(devices, NULL);

        tm_add_string(device, "id", i == 0 ? "vm/gpu:0" : "vm/gpu:1");
        tm_add_int(device, "busy_ps", 10 + i);
    }
    struct tm_value *kpi = tm_add_object(tm_add_array(f.root, "kpis"), NULL);

    tm_add_string(kpi, "name", "device_utilization");
    tm_add_int(kpi, "value", 20);
    tm_add_int(tm_add_object(tm_add_object(f.root, "by"), "with.dots"), "n", 30);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct tm_value *v = tm_path(f.root, table[i].path);

        assert_int_equal(tm_int(v), table[i].found);
        assert_int_equal(v != NULL, table[i].found != 0);
    }
    assert_ptr_equal(tm_path(f.root, ""), f.root);
    assert_null(tm_path(NULL, "a"));
    close_doc(&f);
}

static void a_summary_past_its_share_is_a_limit_and_stays_readable(void **state)
{
    struct fixture f;
    char text[1000];

    (void)state;
    open_doc(&f);
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    tm_add_int(f.root, "first", 1);
    struct tm_value *list = tm_add_array(f.root, "list");

    for (int i = 0; i < 100000; i++)
        tm_add_string(tm_add_object(list, NULL), "text", text);
    assert_int_equal(tm_doc_status(f.doc), TM_ERR_LIMIT);
    assert_int_equal(f.run.error.status, TM_ERR_LIMIT);
    assert_true(f.run.budget.peak_bytes[TM_ACCOUNT_MODEL] <= tm_budget_share(&f.run.budget, TM_ACCOUNT_MODEL));
    assert_int_equal(tm_int(tm_get(f.root, "first")), 1);
    close_doc(&f);
}

static void the_share_grows_when_the_hosts_are_read(void **state)
{
    struct fixture f;
    size_t filled;

    (void)state;
    open_doc(&f);
    const struct tm_budget *budget = &f.run.budget;
    struct tm_value *list = tm_add_array(f.root, "list");

    tm_doc_end_reading(f.doc);
    while (tm_doc_status(f.doc) == TM_OK)
        tm_add_string(list, NULL, "a text of some length, which is not an empty one");
    filled = budget->peak_bytes[TM_ACCOUNT_MODEL];
    assert_true(filled > tm_budget_share(budget, TM_ACCOUNT_MODEL));
    assert_true(filled <= tm_budget_share(budget, TM_ACCOUNT_MODEL) + tm_budget_share(budget, TM_ACCOUNT_LAUNCHES) +
                              tm_budget_share(budget, TM_ACCOUNT_THREADS));
    close_doc(&f);
}

static void nesting_has_a_bound(void **state)
{
    struct fixture f;

    (void)state;
    open_doc(&f);
    struct tm_value *v = f.root;

    for (int i = 0; i < 1000; i++)
        v = tm_add_object(v, "deeper");
    assert_null(v);
    assert_int_equal(tm_doc_status(f.doc), TM_ERR_LIMIT);
    close_doc(&f);
}

static tm_status use_doc(struct tm_run *run)
{
    struct tm_doc *doc = tm_doc_new(run);
    tm_status status = doc ? TM_OK : run->error.status;
    char key[32];

    for (int i = 0; doc && i < 3000; i++) {
        (void)snprintf(key, sizeof(key), "key%d", i);
        struct tm_value *v = tm_add_object(tm_doc_root(doc), key);

        tm_add_string(v, "text", key);
        tm_add_null(v, "nothing", "a reason");
        tm_add_int(tm_add_array(v, "list"), NULL, i);
    }
    if (doc)
        status = tm_doc_status(doc);
    tm_doc_free(doc);
    return status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_doc);
}

static void a_full_disk_is_told(void **state)
{
    struct fixture f;
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (!full)
        skip();
    open_doc(&f);
    assert_int_equal(tm_doc_print(f.doc, &f.run, fileno(full)), TM_ERR_OUTPUT);
    assert_non_null(strstr(f.run.error.what, "cannot write the summary"));
    (void)fclose(full);
    close_doc(&f);
}

/* Of another length, and bytes that are no UTF-8. */
static void a_text_is_put_in_place_of_another_one(void **state)
{
    static const char *const texts[] = { "short", "", "a text that is longer than the one before", "\xff", "x" };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_doc *doc = tm_doc_new(&run);

    assert_non_null(doc);
    struct tm_value *list = tm_add_array(tm_doc_root(doc), "list");

    tm_add_string(list, NULL, "first");
    tm_add_string(list, NULL, "neighbour");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        tm_set_text(doc, tm_element(list, 0), texts[i], strlen(texts[i]));
        assert_string_equal(tm_text(tm_at(list, 0)), texts[i][0] == '\xff' ? "\xef\xbf\xbd" : texts[i]);
        assert_string_equal(tm_text(tm_path(tm_doc_root(doc), "list[1]")), "neighbour");
    }
    assert_ptr_equal(tm_element(tm_doc_root(doc), 0), list);
    assert_null(tm_element(list, 2));
    assert_null(tm_element(tm_element(list, 0), 0));
    assert_int_equal(tm_doc_status(doc), TM_OK);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void a_copy_prints_the_same(void **state)
{
    struct fixture from, to;

    (void)state;
    open_doc(&from);
    open_doc(&to);
    struct tm_value *const inner = tm_add_object(from.root, "a"), *const list = tm_add_array(inner, "list");

    tm_add_int(list, NULL, INT64_MAX);
    tm_add_double(list, NULL, 0.1);
    tm_add_string(list, NULL, "text");
    tm_add_bool(tm_add_object(list, NULL), "yes", true);
    tm_add_null(inner, "known", "nobody measured it");
    tm_add_null(inner, "none", NULL);
    for (size_t i = 0; i < tm_length(from.root); i++)
        tm_add_copy(to.root, tm_key_at(from.root, i), tm_value_at(from.root, i));
    tm_add_null(from.root, "nothing", NULL);
    tm_add_copy(to.root, "nothing", NULL);
    char *const one = printed(&from), *const other = printed(&to);

    assert_string_equal(one, other);
    free(one);
    free(other);
    close_doc(&from);
    close_doc(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_printed_in_the_order_they_were_put_in),
        cmocka_unit_test(a_value_is_one_line_for_json_lines),
        cmocka_unit_test(a_member_is_replaced_in_its_place),
        cmocka_unit_test(reasons_of_nulls_come_at_the_end_of_their_object),
        cmocka_unit_test(a_text_that_is_not_known_is_null),
        cmocka_unit_test(doubles_read_back_the_same_with_the_fewest_digits),
        cmocka_unit_test(all_doubles_have_the_digits_of_the_c_library),
        cmocka_unit_test(integers_have_all_their_digits),
        cmocka_unit_test(a_locale_does_not_change_the_decimal_point),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(integers_keep_all_their_digits),
        cmocka_unit_test(texts_are_escaped_and_made_valid),
        cmocka_unit_test(keys_are_escaped_and_made_valid),
        cmocka_unit_test(large_objects_and_arrays_are_quick_to_build_and_to_read),
        cmocka_unit_test(pointers_to_values_stay_good_while_others_are_added),
        cmocka_unit_test(reading_tolerates_what_is_not_there_or_of_another_type),
        cmocka_unit_test(what_cannot_be_added_is_swallowed),
        cmocka_unit_test(paths_find_values),
        cmocka_unit_test(a_summary_past_its_share_is_a_limit_and_stays_readable),
        cmocka_unit_test(the_share_grows_when_the_hosts_are_read),
        cmocka_unit_test(a_text_is_put_in_place_of_another_one),
        cmocka_unit_test(nesting_has_a_bound),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_copy_prints_the_same),
    };

    return cmocka_run_group_tests_name("doc", tests, NULL, NULL);
}
