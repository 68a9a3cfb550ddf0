/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sample_summary.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

/* A summary, the run it belongs to, and its report in a file of its own. */
struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
    char path[64];
    char *bytes;
    size_t length;
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    test_run_init(&f->run);
    tm_budget_init(&f->run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
}

static void write_on(struct fixture *f, enum tm_paper paper)
{
    FILE *to = open_memstream(&f->bytes, &f->length), *file;
    int fd;

    assert_non_null(to);
    assert_int_equal(tm_pdf_write(&f->run, f->doc, paper, to), TM_OK);
    (void)fclose(to);
    (void)snprintf(f->path, sizeof(f->path), "/var/tmp/tracemill-test-XXXXXX");
    fd = mkstemp(f->path);
    assert_true(fd >= 0);
    file = fdopen(fd, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(f->bytes, 1, f->length, file), f->length);
    assert_int_equal(fclose(file), 0);
}

static void write_report(struct fixture *f)
{
    write_on(f, TM_PAPER_A4);
}

static void open_sample(struct fixture *f, enum tm_sample_profile which)
{
    start(f);
    f->doc = tm_sample_summary(&f->run, which);
    assert_non_null(f->doc);
    write_report(f);
}

static void open_json(struct fixture *f, const char *json)
{
    start(f);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    test_summary_load(tm_doc_root(f->doc), json);
    write_report(f);
}

static void finish(struct fixture *f)
{
    (void)unlink(f->path);
    tm_doc_free(f->doc);
    free(f->bytes);
    assert_ledger_is_even(&f->run);
}

/* Run a tool on the report.  out: text  what it printed, cut to the room; result  its exit status.
 * Skips the running test where the tool is not installed. */
static int ask(const struct fixture *f, const char *tool, const char *options, char *text, size_t room)
{
    char command[256];
    FILE *pipe;
    size_t n;
    int status;

    (void)snprintf(command, sizeof(command), "command -v %s >/dev/null", tool);
    if (system(command) != 0) {
        (void)unlink(f->path);
        print_message("%s is not installed\n", tool);
        skip();
    }
    (void)snprintf(command, sizeof(command), "%s %s %s %s 2>&1", tool, options, f->path,
                   strcmp(tool, "pdftotext") == 0 ? "-" : "");
    pipe = popen(command, "r");
    assert_non_null(pipe);
    n = fread(text, 1, room - 1, pipe);
    text[n] = 0;
    while (getc(pipe) != EOF)
        ;
    status = pclose(pipe);
    return status;
}

static int pages_of(const struct fixture *f)
{
    char text[256];

    assert_int_equal(ask(f, "qpdf", "--show-npages", text, sizeof(text)), 0);
    return atoi(text);
}

static void assert_shows(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("no page shows '%s'", what);
}

/* The same for what may be wrapped or cut: its first characters. */
static void assert_shows_begin(const char *text, const char *what)
{
    char begin[20];

    assert_true(strlen(what) >= sizeof(begin));
    memcpy(begin, what, sizeof(begin) - 1);
    begin[sizeof(begin) - 1] = 0;
    assert_shows(text, begin);
}

static bool holds(const struct fixture *f, const char *what)
{
    return memmem(f->bytes, f->length, what, strlen(what)) != NULL;
}

static void every_sample_is_a_pdf(void **state)
{
    (void)state;
    for (int i = 0; i < TM_SAMPLES; i++) {
        struct fixture f;

        open_sample(&f, i);
        assert_memory_equal(f.bytes, "%PDF-1.", 7);
        assert_true(f.length > 100);
        assert_non_null(memmem(f.bytes + f.length - 16, 16, "%%EOF", 5));
        finish(&f);
    }
}

static void an_independent_reader_finds_no_fault(void **state)
{
    (void)state;
    for (int i = 0; i < TM_SAMPLES; i++) {
        struct fixture f;
        char text[1024];

        open_sample(&f, i);
        if (ask(&f, "qpdf", "--check", text, sizeof(text)) != 0)
            fail_msg("%s: %s", tm_sample_name[i], text);
        finish(&f);
    }
}

static void the_pages_show_names_figures_and_their_number(void **state)
{
    static char text[1 << 18];
    char numbers[32];
    struct fixture f;
    int pages;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    pages = pages_of(&f);
    assert_true(pages >= 5 && pages <= 20);
    assert_int_equal(ask(&f, "pdftotext", "-layout", text, sizeof(text)), 0);
    for (int i = 1; i <= pages; i++) {
        (void)snprintf(numbers, sizeof(numbers), "page %d of %d", i, pages);
        assert_shows(text, numbers);
    }
    assert_shows_begin(text, tm_text(tm_path(tm_doc_root(f.doc), "verdict.text")));
    assert_shows_begin(text, tm_text(tm_path(tm_doc_root(f.doc), "kernels.rows[0].name")));
    assert_shows(text, tm_text(tm_path(tm_doc_root(f.doc), "findings[0].title")));
    assert_shows(text, "remaining rows");
    assert_null(strstr(text, "PARTIAL"));
    finish(&f);
}

/* What a reader of the first page alone gets. */
static void the_first_page_stands_alone(void **state)
{
    static char text[1 << 16];
    struct fixture f;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    assert_int_equal(ask(&f, "pdftotext", "-layout -f 1 -l 1", text, sizeof(text)), 0);
    assert_shows(text, tm_text(tm_path(tm_doc_root(f.doc), "input.run")));
    assert_shows_begin(text, tm_text(tm_path(tm_doc_root(f.doc), "verdict.text")));
    assert_shows(text, "Key figures");
    assert_shows(text, tm_text(tm_path(tm_doc_root(f.doc), "kpis[0].title")));
    assert_shows(text, "not recorded");
    assert_shows(text, "Top findings");
    assert_shows(text, tm_text(tm_path(tm_doc_root(f.doc), "findings[0].title")));
    finish(&f);
}

static void titles_of_a_table_stand_on_each_of_its_pages(void **state)
{
    static char text[1 << 18];
    struct fixture f;
    int titles = 0;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    assert_int_equal(ask(&f, "pdftotext", "-layout", text, sizeof(text)), 0);
    for (const char *at = text; (at = strstr(at, "Kernel  ")) != NULL; at++)
        titles++;
    assert_true(titles >= 2);
    finish(&f);
}

static void a_partial_input_is_marked_on_every_page(void **state)
{
    static char text[1 << 18];
    struct fixture f;
    int marks = 0;

    (void)state;
    open_sample(&f, TM_SAMPLE_HOSTILE);
    assert_int_equal(ask(&f, "pdftotext", "", text, sizeof(text)), 0);
    assert_shows(text, "The input is damaged or truncated.");
    for (const char *at = text; (at = strstr(at, "PARTIAL INPUT")) != NULL; at++)
        marks++;
    assert_int_equal(marks, pages_of(&f));
    finish(&f);
}

static void characters_that_the_fonts_lack_are_escaped(void **state)
{
    static char text[1 << 16];
    struct fixture f;

    (void)state;
    open_json(&f, "{'input': {'run': 'run-\\u00e9\\u0436\\u03c9\\u2192\\u4e2d\\ud83d\\ude00\\u05d0\\u202e\\u0007'},"
                  " 'verdict': {'text': 'a (b) \\\\ %% end', 'severity': 'critical'}}");
    assert_int_equal(ask(&f, "pdftotext", "", text, sizeof(text)), 0);
    assert_shows(text, "run-\xc3\xa9\xd0\xb6\xcf\x89\xe2\x86\x92\\u4e2d\\u{1f600}\\u05d0\\u202e\\u0007");
    assert_shows(text, "a (b) \\ %% end");
    finish(&f);
}

/* Each of them would stand above the one before it. */
static void heaped_marks_are_escaped(void **state)
{
    static char text[1 << 16];
    struct fixture f;

    (void)state;
    open_json(&f, "{'input': {'run': 'z\\u0301\\u0301\\u0301o'}}");
    assert_int_equal(ask(&f, "pdftotext", "", text, sizeof(text)), 0);
    assert_shows(text, "z\\u0301\\u0301\\u0301o");
    finish(&f);
}

static void words_of_code_lose_their_quotes(void **state)
{
    static char text[1 << 16];
    struct fixture f;

    (void)state;
    open_json(&f, "{'verdict': {'text': 'Call `jax.jit(f)` once, and ` stays.', 'severity': 'critical'}}");
    assert_int_equal(ask(&f, "pdftotext", "", text, sizeof(text)), 0);
    assert_shows(text, "Call jax.jit(f) once, and ` stays.");
    finish(&f);
}

static void the_fonts_are_in_the_document(void **state)
{
    static char text[4096];
    struct fixture f;
    int fonts = 0;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    assert_int_equal(ask(&f, "pdffonts", "", text, sizeof(text)), 0);
    for (const char *at = text; (at = strstr(at, "yes yes yes")) != NULL; at++) /* embedded, subset, with Unicode */
        fonts++;
    assert_int_equal(fonts, 3);
    assert_shows(text, "DejaVuSansMono");
    assert_true(f.length < 600000); /* only the glyphs that are used */
    finish(&f);
}

static void the_paper_is_the_one_that_is_wanted(void **state)
{
    static const struct {
        enum tm_paper paper;
        const char *size;
    } papers[] = { { TM_PAPER_A4, "(A4)" }, { TM_PAPER_LETTER, "(letter)" } };

    (void)state;
    for (size_t i = 0; i < sizeof(papers) / sizeof(papers[0]); i++) {
        static char text[4096];
        struct fixture f;

        start(&f);
        f.doc = tm_sample_summary(&f.run, TM_SAMPLE_GPU);
        write_on(&f, papers[i].paper);
        assert_int_equal(ask(&f, "pdfinfo", "", text, sizeof(text)), 0);
        assert_shows(text, papers[i].size);
        assert_shows(text, "tracemill 0.");
        finish(&f);
    }
}

static void an_empty_summary_gives_a_report(void **state)
{
    static char text[1 << 16];
    struct fixture f;

    (void)state;
    open_json(&f, "{}");
    assert_int_equal(ask(&f, "pdftotext", "", text, sizeof(text)), 0);
    assert_shows(text, "No verdict: the profile does not contain enough data.");
    assert_shows(text, "Checked, nothing found");
    finish(&f);
}

static void the_same_summary_gives_the_same_bytes(void **state)
{
    struct fixture f, g;

    (void)state;
    open_sample(&f, TM_SAMPLE_HOSTILE);
    (void)sleep(1); /* a clock that slips in would tick */
    open_sample(&g, TM_SAMPLE_HOSTILE);
    assert_int_equal(f.length, g.length);
    assert_memory_equal(f.bytes, g.bytes, f.length);
    finish(&f);
    finish(&g);
}

static void the_date_is_only_the_one_that_was_given(void **state)
{
    static const struct {
        const char *epoch, *expected;
    } cases[] = {
        { "1700000000", "/CreationDate (D:20231114221320Z" },
        { "", NULL },
        { "soon", NULL },
        { "-5", NULL },
        { "99999999999999999999", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;

        assert_int_equal(setenv("SOURCE_DATE_EPOCH", cases[i].epoch, 1), 0);
        open_sample(&f, TM_SAMPLE_EMPTY);
        assert_int_equal(unsetenv("SOURCE_DATE_EPOCH"), 0);
        if (cases[i].expected)
            assert_true(holds(&f, cases[i].expected));
        else
            assert_false(holds(&f, "Date"));
        finish(&f);
    }
}

/* Evidence enough for some 200 pages. */
static void pages_have_an_end_and_the_last_one_says_so(void **state)
{
    static char text[1 << 18], long_text[2000];
    struct tm_value *findings;
    struct fixture f;

    (void)state;
    start(&f);
    f.doc = tm_doc_new(&f.run);
    assert_non_null(f.doc);
    memset(long_text, 'x', sizeof(long_text) - 1);
    findings = tm_add_array(tm_doc_root(f.doc), "findings");
    for (int i = 0; i < 30; i++) {
        struct tm_value *finding = tm_add_object(findings, NULL), *evidence, *fix;

        tm_add_string(finding, "title", "finding");
        evidence = tm_add_array(finding, "evidence");
        fix = tm_add_array(finding, "fix");
        for (int k = 0; k < 12; k++) {
            tm_add_string(evidence, NULL, long_text);
            tm_add_string(fix, NULL, long_text);
        }
    }
    write_report(&f);
    assert_int_equal(pages_of(&f), TM_PDF_PAGES);
    assert_int_equal(ask(&f, "pdftotext", "-f 60 -l 60", text, sizeof(text)), 0);
    assert_shows(text, "The PDF ends here");
    finish(&f);
}

static void a_full_disk_is_an_error(void **state)
{
    struct fixture f;
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (!full)
        skip();
    open_sample(&f, TM_SAMPLE_CPU);
    assert_int_equal(tm_pdf_write(&f.run, f.doc, TM_PAPER_A4, full), TM_ERR_OUTPUT);
    assert_non_null(strstr(f.run.error.what, "cannot write the PDF report"));
    (void)fclose(full);
    finish(&f);
}

static tm_status job(struct tm_run *run)
{
    struct tm_doc *doc = tm_doc_new(run);
    FILE *to = fopen("/dev/null", "w");
    tm_status st = TM_ERR_LIMIT;

    assert_non_null(to);
    if (doc) {
        test_summary_load(tm_doc_root(doc), "{'steps': {'list': [{'number': 1, 'period_ps': 5, 'chosen': true},"
                                            " {'number': 2, 'period_ps': 7, 'chosen': true}]}}");
        st = tm_doc_status(doc);
    }
    if (st == TM_OK)
        st = tm_pdf_write(run, doc, TM_PAPER_LETTER, to);
    (void)fclose(to);
    tm_doc_free(doc);
    return st;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_a_pdf),
        cmocka_unit_test(an_independent_reader_finds_no_fault),
        cmocka_unit_test(the_pages_show_names_figures_and_their_number),
        cmocka_unit_test(the_first_page_stands_alone),
        cmocka_unit_test(titles_of_a_table_stand_on_each_of_its_pages),
        cmocka_unit_test(a_partial_input_is_marked_on_every_page),
        cmocka_unit_test(characters_that_the_fonts_lack_are_escaped),
        cmocka_unit_test(heaped_marks_are_escaped),
        cmocka_unit_test(words_of_code_lose_their_quotes),
        cmocka_unit_test(the_fonts_are_in_the_document),
        cmocka_unit_test(the_paper_is_the_one_that_is_wanted),
        cmocka_unit_test(an_empty_summary_gives_a_report),
        cmocka_unit_test(the_same_summary_gives_the_same_bytes),
        cmocka_unit_test(the_date_is_only_the_one_that_was_given),
        cmocka_unit_test(pages_have_an_end_and_the_last_one_says_so),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    (void)unsetenv("SOURCE_DATE_EPOCH");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
