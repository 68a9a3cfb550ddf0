/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of figures and columns: each is of a label that its section has, and no label has two. */
#include "reports/content/content.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/schema_sample.h"
#include "tests/support/test_run.h"

enum { USED_MOST = 4096, TEXT_BYTES = 80, LABELS_MOST = 4096 };

struct label {
    char section[TEXT_BYTES];
    char text[TEXT_BYTES];
};

/* What the sections call their figures. */
struct book {
    const char *section;
    struct label used[USED_MOST];
    size_t count;
};

static void keep(struct book *book, const char *text)
{
    struct label *label = &book->used[book->count];

    if (!*text || strlen(text) >= TEXT_BYTES)
        return;
    assert_true(book->count < USED_MOST);
    strcpy(label->section, book->section);
    strcpy(label->text, text);
    book->count++;
}

static void take_section(void *to, const struct tm_section *section)
{
    ((struct book *)to)->section = section->id;
}

/* Titles, and what rows are called where the program names them. */
static void take_table(void *to, const struct tm_table *table)
{
    for (size_t c = 0; c < table->columns; c++)
        keep(to, table->column[c].title);
    for (size_t r = 0; table->cells && r < table->cell_rows; r++)
        if (table->cells[r * table->columns].from == TM_FROM_TEXT)
            keep(to, table->cells[r * table->columns].text);
}

static struct book *walk(void)
{
    static const char *const documents[][2] = {
        /* schema, platform */
        { "summary", "gpu" }, { "summary", "tpu" }, { "summary", "cpu" }, { "comparison", "gpu" },
        { "scaling", "gpu" }, { "check", "gpu" },   { "night", "gpu" },
    };
    static const struct tm_medium medium = {
        .room = { .rows = SIZE_MAX }, .section = take_section, .table = take_table, .facts = take_table
    };
    struct book *book = test_calloc(1, sizeof(*book));

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct tm_run run;
        struct tm_doc *doc;

        test_run_init(&run);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_schema_sample_of(tm_doc_root(doc), documents[i][0], documents[i][1], TEST_NOTHING_IS_NULL);
        tm_content_say(&(struct tm_content){ .summary = tm_doc_root(doc), .medium = &medium, .to = book, .run = &run });
        tm_doc_free(doc);
    }
    return book;
}

/* The next of "a|b".  out: false = there is none left */
static bool take_one(const char **at, char out[TEXT_BYTES])
{
    const size_t length = strcspn(*at, "|");

    if (!**at)
        return false;
    assert_true(length > 0 && length < TEXT_BYTES);
    memcpy(out, *at, length);
    out[length] = 0;
    *at += length + ((*at)[length] == '|');
    return true;
}

/* The labels of all terms, one by one, in each of their sections. */
static size_t split(struct label *out)
{
    char section[TEXT_BYTES], text[TEXT_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < tm_term_count; i++)
        for (const char *sections = tm_terms[i].section; take_one(&sections, section);)
            for (const char *labels = tm_terms[i].labels; take_one(&labels, text);) {
                assert_true(n < LABELS_MOST);
                strcpy(out[n].section, section);
                strcpy(out[n++].text, text);
            }
    return n;
}

/* "run 7, how often" with "How often" */
static bool ends_with(const char *text, const char *label)
{
    const char *rest = strstr(text, ", ");

    return rest && strcasecmp(rest + 2, label) == 0;
}

static bool is_used(const struct book *book, const struct label *label)
{
    for (size_t i = 0; i < book->count; i++) {
        const int used = tm_term_find(book->used[i].section, book->used[i].text);

        if (strcmp(book->used[i].section, label->section) != 0)
            continue;
        if (strcmp(book->used[i].text, label->text) == 0 ||
            (used >= 0 && used == tm_term_find(label->section, label->text) &&
             ends_with(book->used[i].text, label->text)))
            return true;
    }
    return false;
}

static void each_term_is_of_a_label_that_its_section_has(void **state)
{
    struct book *book = walk();
    struct label *labels = test_calloc(LABELS_MOST, sizeof(*labels));
    const size_t n = split(labels);
    size_t wrong = 0;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (is_used(book, &labels[i]))
            continue;
        print_error("section %s has no '%s'\n", labels[i].section, labels[i].text);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    test_free(labels);
    test_free(book);
}

static void no_label_is_defined_twice(void **state)
{
    struct label *labels = test_calloc(LABELS_MOST, sizeof(*labels));
    const size_t n = split(labels);

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(labels[i].section, labels[k].section) == 0 && strcmp(labels[i].text, labels[k].text) == 0)
                fail_msg("'%s' of %s has two definitions", labels[i].text, labels[i].section);
    test_free(labels);
}

/* Links to a term do not depend on the others. */
static void each_term_has_an_id_of_its_own(void **state)
{
    char id[TM_TERM_ID_BYTES], other[TM_TERM_ID_BYTES];

    (void)state;
    for (size_t i = 0; i < tm_term_count; i++) {
        const size_t length = strlen(tm_term_id((int)i, id));

        assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-"), length);
        assert_true(id[length - 1] != '-');
        for (size_t k = 0; k < i; k++)
            if (strcmp(id, tm_term_id((int)k, other)) == 0)
                fail_msg("two terms are '%s'", id);
    }
    assert_string_equal(tm_term_id(tm_term_find("steps", "Excluded as incomplete"), id), "steps-excluded-as-warm-up");
}

static void a_label_leads_to_its_term(void **state)
{
    struct label *labels = test_calloc(LABELS_MOST, sizeof(*labels));
    const size_t n = split(labels);

    (void)state;
    assert_true(n > tm_term_count);
    for (size_t i = 0; i < n; i++) {
        const int at = tm_term_find(labels[i].section, labels[i].text);

        assert_true(at >= 0 && (size_t)at < tm_term_count);
        assert_true(tm_term_is_of(&tm_terms[at], labels[i].section));
        assert_non_null(strstr(tm_terms[at].labels, labels[i].text));
    }
    assert_int_equal(tm_term_find("steps", "Step"), -1);
    assert_int_equal(tm_term_find("steps", "Steps are|"), -1);
    assert_int_equal(tm_term_find("steps", ""), -1);
    assert_int_equal(tm_term_find("nothing", "Step source"), -1);
    assert_int_equal(tm_term_find("ops", "run 7, b, how often"), tm_term_find("ops", "How often"));
    assert_true(tm_term_find("kernels", "Change") >= 0);
    assert_int_equal(tm_term_find("kernels", "Change, "), -1);
    test_free(labels);
}

static void definitions_are_sentences(void **state)
{
    (void)state;
    for (size_t i = 0; i < tm_term_count; i++) {
        char out[TM_TERM_BYTES];
        const char *text = tm_term_text((int)i, out);
        const size_t length = strlen(text);

        if (length <= 10 || length >= 400)
            fail_msg("%s: %zu bytes", tm_terms[i].labels, length);
        if (text[length - 1] != '.')
            fail_msg("'%s' of %s: no full stop", tm_terms[i].labels, tm_terms[i].section);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_term_is_of_a_label_that_its_section_has),
        cmocka_unit_test(no_label_is_defined_twice),
        cmocka_unit_test(each_term_has_an_id_of_its_own),
        cmocka_unit_test(a_label_leads_to_its_term),
        cmocka_unit_test(definitions_are_sentences),
    };

    return cmocka_run_group_tests_name("terms", tests, NULL, NULL);
}
