/* SPDX-License-Identifier: Apache-2.0 */
/* The page of the parts of a trace, from lists made by hand. */
#include "reports/media.h"

#include <stdlib.h>

#include "pipeline/strings.h"
#include "tests/support/test_run.h"

static struct tm_value *add_part(struct tm_value *parts, const char *file, int64_t begin_ns, int64_t end_ns)
{
    struct tm_value *part = tm_add_object(parts, NULL);

    tm_add_string(part, "file", file);
    tm_add_int(part, "begin_ns", begin_ns);
    tm_add_int(part, "end_ns", end_ns);
    tm_add_int(part, "slices", 1234567);
    return part;
}

/* in: file  of the second part.  out: the page, for the caller to free */
static char *page_of(struct tm_run *run, const char *name, const char *file, tm_status want)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct tm_value *root = tm_doc_root(doc), *parts, *steps;
    char *page = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&page, &bytes);

    assert_non_null(to);
    tm_add_string(root, "run", name);
    tm_add_string(root, "format", "pftrace");
    parts = tm_add_array(root, "parts");
    steps = tm_add_object(add_part(parts, "part-0001.pftrace", 1000, 5000), "steps");
    tm_add_int(steps, "first", 3);
    tm_add_int(steps, "count", 4);
    (void)add_part(parts, file, 5000, 9000);
    assert_int_equal(tm_doc_status(doc), TM_OK);
    assert_int_equal(tm_html_parts_write(run, doc, to), want);
    assert_int_equal(fclose(to), 0);
    tm_doc_free(doc);
    return page;
}

static void parts_are_rows_with_links_and_bars(void **state)
{
    struct tm_run run;
    char *page;

    (void)state;
    test_run_init(&run);
    page = page_of(&run, "run", "part-0002.pftrace", TM_OK);
    assert_non_null(strstr(page, "href=\"part-0001.pftrace\""));
    assert_non_null(strstr(page, "href=\"part-0002.pftrace\""));
    assert_non_null(strstr(page, "1,234,567"));
    assert_non_null(strstr(page, "3 to 6"));
    assert_non_null(strstr(page, "<rect x=\"100\" y=\"0\" width=\"100\"")); /* the second half */
    assert_non_null(strstr(page, "cat part-*.pftrace"));
    free(page);
    assert_ledger_is_even(&run);
}

/* A list that somebody else made: no name of it becomes an address or an element. */
static void other_names_are_no_links(void **state)
{
    static const char *const names[] = {
        "javascript:alert(1)",         "../part-0001.pftrace", "part-0001/../x", "part-\"onclick=\"x", "part-<b>",
        "http://example.org/part-0001"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tm_run run;
        char *page, *link, *script;

        test_run_init(&run);
        page = page_of(&run, "</title><script>\xff\n", names[i], TM_OK);
        assert_true(tm_utf8_is_valid(page, strlen(page)));
        link = strstr(page, "href=");
        assert_non_null(link);
        assert_null(strstr(link + 1, "href="));
        script = strstr(page, "<script");
        assert_non_null(script);
        assert_memory_equal(script, "<script>(() => {\n'use strict';", sizeof("<script>(() => {\n'use strict';") - 1);
        assert_null(strstr(script + 1, "<script")); /* its own alone */
        assert_null(strstr(page, "<b>"));
        free(page);
    }
}

static void an_empty_list_is_a_page(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;
    char *page = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&page, &bytes);

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_int_equal(tm_html_parts_write(&run, doc, to), TM_OK);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(page, "</html>"));
    free(page);
    tm_doc_free(doc);
}

static void a_full_disk_is_told(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(full);
    assert_int_equal(tm_html_parts_write(&run, doc, full), TM_ERR_OUTPUT);
    assert_int_equal(run.error.status, TM_ERR_OUTPUT);
    (void)fclose(full);
    tm_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_rows_with_links_and_bars),
        cmocka_unit_test(other_names_are_no_links),
        cmocka_unit_test(an_empty_list_is_a_page),
        cmocka_unit_test(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
