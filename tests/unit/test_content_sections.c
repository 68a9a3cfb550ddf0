/* SPDX-License-Identifier: Apache-2.0 */
/* All sections of a report, said to a medium that keeps book: over summaries made by hand, over one that has all that
 * the schema knows, over such in which everything from some depth on is null, over an empty one. */
#include "reports/content/content.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/content/emit.h"
#include "tests/support/sample_summary.h"
#include "tests/support/schema_sample.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

enum { IDS_MOST = 256, ID_BYTES = 64 };

struct book {
    const struct tm_value *summary;
    struct tm_room room;
    bool is_whole; /* the summary has every member: what a table shows has to be there */
    char id[IDS_MOST][ID_BYTES];
    size_t ids, sections, open, paragraphs, tables, facts, findings;
    char section[ID_BYTES];
    bool is_drawn[TM_CHART_KINDS];
};

static void keep_id(struct book *book, const char *id)
{
    assert_true(*id && strlen(id) < ID_BYTES);
    for (const char *c = id; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-')
            fail_msg("the id '%s' has other characters than a-z, 0-9 and -", id);
    for (size_t i = 0; i < book->ids; i++)
        if (strcmp(book->id[i], id) == 0)
            fail_msg("two tables have the id '%s'", id);
    assert_true(book->ids < IDS_MOST);
    strcpy(book->id[book->ids++], id);
}

static void take_section(void *to, const struct tm_section *section)
{
    struct book *book = to;

    assert_int_equal(book->open, 0);
    assert_true(strlen(section->id) < ID_BYTES && *section->title);
    strcpy(book->section, section->id);
    book->open++;
    book->sections++;
}

static void take_end(void *to, const struct tm_section *section)
{
    struct book *book = to;

    assert_string_equal(book->section, section->id);
    assert_int_equal(book->open, 1);
    book->open--;
}

static void take_subheading(void *to, const char *text)
{
    assert_int_equal(((struct book *)to)->open, 1);
    assert_true(*text);
}

static void take_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct book *book = to;

    assert_int_equal(book->open, 1);
    assert_true(*text && tone <= TM_TONE_QUIET);
    assert_null(strstr(text, "(null)"));
    book->paragraphs++;
}

static void check_columns(const struct tm_table *table)
{
    assert_true(table->columns > 0 && table->columns <= TM_TABLE_COLUMNS_MOST);
    for (size_t c = 0; c < table->columns; c++) {
        if (!*table->column[c].title)
            fail_msg("table %s: column %zu has no title", table->id, c);
        for (size_t d = 0; d < c; d++)
            if (strcmp(table->column[c].title, table->column[d].title) == 0)
                fail_msg("table %s: two columns are called %s", table->id, table->column[c].title);
    }
}

static bool is_anywhere(const struct tm_table *table, size_t column)
{
    for (size_t r = 0; r < tm_table_rows(table); r++) {
        const struct tm_cell cell = tm_table_cell(table, r, column);

        if (cell.from != TM_FROM_VALUE || cell.value)
            return true;
    }
    return false;
}

/* Of a summary that has all members. */
static void check_keys(const struct tm_table *table)
{
    bool is_in_total = !table->total;

    for (size_t c = 0; c < table->columns; c++) {
        const struct tm_column *column = &table->column[c];

        if (!table->depths && !is_anywhere(table, c)) /* a name and its variants have some columns each */
            fail_msg("table %s: no row has '%s'", table->id, column->key);
        if ((column->shape & TM_SUMS) && table->rest && !tm_path(table->rest, column->key))
            fail_msg("table %s: the rest has no '%s'", table->id, column->key);
        is_in_total |= *column->key && tm_path(table->total, column->key);
    }
    if (!is_in_total)
        fail_msg("table %s: its total has none of its columns", table->id);
}

static void read_cell(const struct tm_cell *cell, const struct tm_value *summary)
{
    char out[TM_FORMAT_BYTES];

    assert_non_null(tm_cell_shown(cell, summary, out));
    assert_non_null(tm_cell_exact(cell, out));
}

static void read_cells(const struct book *book, const struct tm_table *table)
{
    struct tm_layout layout;
    struct tm_cell cell;

    tm_table_lay_out(&layout, table, book->summary, &book->room);
    assert_true(layout.columns > 0 && layout.rows <= book->room.rows && layout.rows_left_out >= 0);
    for (size_t i = 0; i < layout.columns; i++) {
        for (size_t r = 0; r < layout.rows; r++) {
            cell = tm_table_cell(table, r, layout.column[i]);
            read_cell(&cell, book->summary);
            assert_true(tm_table_depth(table, r) >= 0);
        }
        if (i > 0) {
            cell = tm_layout_rest(&layout, layout.column[i]);
            read_cell(&cell, book->summary);
            cell = tm_layout_total(&layout, layout.column[i]);
            read_cell(&cell, book->summary);
        }
    }
}

static void take_table(void *to, const struct tm_table *table)
{
    struct book *book = to;

    assert_int_equal(book->open, 1);
    keep_id(book, table->id);
    assert_true(tm_table_rows(table) > 0);
    assert_non_null(table->caption);
    assert_true(*table->caption && (!book->is_whole || strlen(table->caption) <= 80)); /* a short name of the rows */
    assert_true(!table->total || *table->total_title);
    check_columns(table);
    if (book->is_whole)
        check_keys(table);
    read_cells(book, table);
    book->tables++;
}

static void take_facts(void *to, const struct tm_table *facts)
{
    struct book *book = to;

    assert_int_equal(book->open, 1);
    keep_id(book, facts->id);
    assert_int_equal(tm_table_rows(facts), 1);
    check_columns(facts);
    read_cells(book, facts);
    book->facts++;
}

static void take_charts(void *to, enum tm_chart_kind kind)
{
    struct book *book = to;

    assert_int_equal(book->open, 1);
    assert_true(kind < TM_CHART_KINDS);
    if (book->is_drawn[kind])
        fail_msg("section %s: the charts of kind %d are drawn twice", book->section, (int)kind);
    book->is_drawn[kind] = true;
}

static void take_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct book *book = to;

    assert_true(tm_has(finding));
    assert_int_equal(number, ++book->findings);
}

static const struct tm_medium medium = {
    .section = take_section,
    .end_section = take_end,
    .subheading = take_subheading,
    .paragraph = take_paragraph,
    .facts = take_facts,
    .table = take_table,
    .charts = take_charts,
    .finding = take_finding,
};

/* Say it to a screen, to paper, and to what draws no charts.  out: of the last one */
static void say(struct book *book, const struct tm_value *summary, bool is_whole)
{
    static const struct {
        struct tm_room room;
        bool has_charts;
    } media[] = { { { .rows = 500 }, true },
                  { { .is_paper = true, .rows = 500 }, true },
                  { { .is_data = true, .rows = SIZE_MAX }, false } };

    for (size_t i = 0; i < sizeof(media) / sizeof(media[0]); i++) {
        struct tm_medium to = medium;
        struct tm_run run;

        test_run_init(&run);
        to.room = media[i].room;
        to.has_charts = media[i].has_charts;
        *book = (struct book){ .summary = summary, .room = to.room, .is_whole = is_whole };
        tm_content_say(&(struct tm_content){ .summary = summary, .medium = &to, .to = book, .run = &run });
        assert_int_equal(book->open, 0);
        assert_ledger_is_even(&run);
    }
}

static void ids_are_unique_in_all_sections(void **state)
{
    (void)state;
    for (size_t i = 0; i < tm_report_document.section_count; i++) {
        assert_true(*tm_report_document.sections[i]->id && *tm_report_document.sections[i]->title);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(tm_report_document.sections[i]->id, tm_report_document.sections[k]->id);
    }
}

static void samples_are_said_in_all_media(void **state)
{
    (void)state;
    for (size_t i = 0; i < TM_SAMPLES; i++) {
        struct book book;
        struct tm_run run;
        struct tm_doc *doc;

        test_run_init(&run);
        doc = tm_sample_summary(&run, i);
        assert_non_null(doc);
        say(&book, tm_doc_root(doc), false);
        assert_true(i == TM_SAMPLE_EMPTY || book.tables > 0);
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

static void walk_schema(const char *platform, int null_depth, struct book *book)
{
    struct tm_run run;
    struct tm_doc *doc;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_schema_sample(tm_doc_root(doc), platform, null_depth);
    assert_int_equal(tm_doc_status(doc), TM_OK);
    say(book, tm_doc_root(doc), null_depth == TEST_NOTHING_IS_NULL);
    tm_doc_free(doc);
}

static void columns_are_members_of_a_summary(void **state)
{
    static const char *const platforms[] = { "gpu", "tpu", "cpu", "none" };

    (void)state;
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
        struct book book;

        walk_schema(platforms[i], TEST_NOTHING_IS_NULL, &book);
        assert_true(book.tables > 10);
    }
}

static void nulls_at_any_depth_are_no_harm(void **state)
{
    (void)state;
    for (int depth = 1; depth < 9; depth++) {
        struct book book;

        walk_schema("gpu", depth, &book);
        walk_schema("tpu", depth, &book);
    }
}

/* Documents other than reports. */
static const struct {
    const struct tm_document *document;
    const char *schema;
    size_t tables; /* at least */
} others[] = {
    { &tm_comparison_document, "comparison", 12 },
    { &tm_scaling_document, "scaling", 8 },
    { &tm_check_document, "check", 1 },
    { &tm_nightly_document, "night", 7 },
};

static void emit_other(const char *schema, int null_depth, struct book *book)
{
    struct tm_run run;
    struct tm_doc *doc;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_schema_sample_of(tm_doc_root(doc), schema, "gpu", null_depth);
    assert_int_equal(tm_doc_status(doc), TM_OK);
    say(book, tm_doc_root(doc), null_depth == TEST_NOTHING_IS_NULL);
    tm_doc_free(doc);
}

static void columns_are_members_of_other_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct book book;

        emit_other(others[i].schema, TEST_NOTHING_IS_NULL, &book);
        if (book.tables < others[i].tables)
            fail_msg("%s: %zu tables", others[i].schema, book.tables);
        for (int depth = 1; depth < 9; depth++)
            emit_other(others[i].schema, depth, &book);
    }
}

static void ids_are_unique_in_other_documents(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof(others) / sizeof(others[0]); d++) {
        const struct tm_document *document = others[d].document;

        assert_string_equal(document->schema + strlen("tracemill."), others[d].schema);
        for (size_t i = 0; i < document->section_count; i++)
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(document->sections[i]->id, document->sections[k]->id);
    }
}

static const struct tm_section *section_of(const char *id)
{
    for (size_t i = 0; i < tm_report_document.section_count; i++)
        if (strcmp(tm_report_document.sections[i]->id, id) == 0)
            return tm_report_document.sections[i];
    fail_msg("no section '%s'", id);
    return NULL;
}

static void a_section_with_nothing_to_tell_is_named_with_its_reason(void **state)
{
    static const struct {
        const char *json, *id;
        const char *why; /* a part; "" = it is due */
    } rows[] = {
        { "{'collectives':{'rows':[]}}", "collectives", "no collective ran" },
        { "{'collectives':{'rows':[{'kind':'all-reduce'}]}}", "collectives", "" },
        { "{'collectives':null,'why':{'collectives':'no trace'}}", "collectives", "no trace" },
        { "{'compile':{'count':0}}", "compile", "nothing was compiled" },
        { "{'compile':{'count':2}}", "compile", "" },
        { "{'balance':{'imbalance_pct':null,'why':{'imbalance_pct':'one device'}}}", "balance", "one device" },
        { "{'balance':{'imbalance_pct':0}}", "balance", "" },
        { "{'fallback':{'callbacks':{'count':0},'cpu_ops':null}}", "fallback", "nothing was found in this profile" },
        { "{'fallback':{'callbacks':{'count':1},'cpu_ops':null}}", "fallback", "" },
        { "{'transfers':{'by_direction':[]}}", "transfers", "no device copies" },
        { "{'transfers':{'by_direction':[],'tpu_host':[{'count':1}]}}", "transfers", "" },
        { "{'gaps':{'count':0}}", "gaps", "no gap" },
        { "{'devices':[]}", "devices", "no device activity" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_section *section = section_of(rows[i].id);
        struct tm_run run;
        struct tm_doc *doc;

        test_run_init(&run);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_summary_load(tm_doc_root(doc), rows[i].json);
        assert_int_equal(tm_section_is_due(section, tm_doc_root(doc)), !*rows[i].why);
        if (!strstr(tm_section_why_not(section, tm_doc_root(doc)), rows[i].why) ||
            (!*rows[i].why && *tm_section_why_not(section, tm_doc_root(doc))))
            fail_msg("%s: '%s'", rows[i].json, tm_section_why_not(section, tm_doc_root(doc)));
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

/* Whether a sentence names the option. */
static void find_limit(void *to, enum tm_tone tone, const char *text)
{
    (void)tone;
    *(bool *)to |= strstr(text, "All gaps are under 10.0 µs") && strstr(text, "--gap-min");
}

static void ignore_table(void *to, const struct tm_table *table)
{
    (void)to;
    (void)table;
}

static void ignore_charts(void *to, enum tm_chart_kind kind)
{
    (void)to;
    (void)kind;
}

static void gaps_that_are_too_short_to_be_listed_name_the_limit(void **state)
{
    const struct tm_medium to = {
        .paragraph = find_limit, .facts = ignore_table, .table = ignore_table, .charts = ignore_charts
    };
    static const struct {
        const char *json;
        bool is_told;
    } rows[] = { { "{'gaps':{'count':3,'count_min':0,'gap_min_ps':10000000,'longest':[]}}", true },
                 { "{'gaps':{'count':3,'count_min':1,'gap_min_ps':10000000,'longest':[]}}", false } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_run run;
        struct tm_doc *doc;
        bool is_told = false;

        test_run_init(&run);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_summary_load(tm_doc_root(doc), rows[i].json);
        section_of("gaps")->say(
            &(struct tm_content){ .summary = tm_doc_root(doc), .medium = &to, .to = &is_told, .run = &run });
        assert_int_equal(is_told, rows[i].is_told);
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

static void an_empty_summary_is_no_harm(void **state)
{
    struct book book;
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    say(&book, tm_doc_root(doc), false);
    tm_doc_free(doc);
    say(&book, NULL, false);
}

/* --- trees --- */

enum { TREE_ROWS = 600 };

struct tree {
    struct tm_room room;
    size_t rows;
    int64_t left_out, least; /* least time of a row that is shown */
    const struct tm_value *summary;
};

static void take_tree(void *to, const struct tm_table *table)
{
    struct tree *tree = to;
    struct tm_layout layout;

    if (strcmp(table->id, "scopes") != 0)
        return;
    tm_table_lay_out(&layout, table, tree->summary, &tree->room);
    tree->rows = layout.rows;
    tree->left_out = layout.rows_left_out;
    tree->least = INT64_MAX;
    for (size_t r = 0; r < layout.rows; r++) {
        const int64_t total = tm_int(tm_table_cell(table, r, 2).value);

        assert_int_equal(tm_table_depth(table, r), total % 2 ? 1 : 0);
        tree->least = total < tree->least ? total : tree->least;
    }
}

static void assert_tree(const struct tm_value *summary, struct tm_room room, size_t rows, int64_t least)
{
    const struct tm_medium to = { .room = room, .table = take_tree };
    struct tree tree = { .room = room, .summary = summary };
    struct tm_run run;

    test_run_init(&run);
    tm_scopes_section.say(&(struct tm_content){ .summary = summary, .medium = &to, .to = &tree, .run = &run });
    assert_ledger_is_even(&run);
    assert_int_equal(tree.rows, rows);
    assert_int_equal(tree.left_out, TREE_ROWS - rows);
    assert_int_equal(tree.least, least);
}

/* Times 1 to 600 in a mixed order: those with most are shown. */
static void of_a_tree_the_rows_with_most_are_shown(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *rows;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    rows = tm_add_array(tm_add_object(tm_doc_root(doc), "scopes"), "rows");
    for (int i = 0; i < TREE_ROWS; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);
        const int total = 1 + i * 7 % TREE_ROWS;

        tm_add_string(row, "name", "scope");
        tm_add_int(row, "depth", total % 2);
        tm_add_int(row, "total_ps", total);
    }
    assert_tree(tm_doc_root(doc), (struct tm_room){ .is_paper = true, .rows = 500 }, 20, 581);
    assert_tree(tm_doc_root(doc), (struct tm_room){ .rows = 500 }, 500, 101);
    assert_tree(tm_doc_root(doc), (struct tm_room){ .rows = SIZE_MAX }, 600, 1);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_unique_in_all_sections),
        cmocka_unit_test(samples_are_said_in_all_media),
        cmocka_unit_test(columns_are_members_of_a_summary),
        cmocka_unit_test(nulls_at_any_depth_are_no_harm),
        cmocka_unit_test(columns_are_members_of_other_documents),
        cmocka_unit_test(ids_are_unique_in_other_documents),
        cmocka_unit_test(a_section_with_nothing_to_tell_is_named_with_its_reason),
        cmocka_unit_test(gaps_that_are_too_short_to_be_listed_name_the_limit),
        cmocka_unit_test(an_empty_summary_is_no_harm),
        cmocka_unit_test(of_a_tree_the_rows_with_most_are_shown),
    };

    return cmocka_run_group_tests_name("content_sections", tests, NULL, NULL);
}
