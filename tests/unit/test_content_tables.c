/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: which rows and columns are shown on a screen and on paper, what is folded into notes, what sums up; and what
 * sections say with. */
#include "reports/content/emit.h"

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static struct tm_run run;
static struct tm_doc *doc;

static const struct tm_room screen = { .rows = 500 }, paper = { .is_paper = true, .rows = 500 };

static const struct tm_column columns[] = {
    { "Name", "name", TM_DOC_NAME },
    { "Host", "host", TM_DOC_HOST },
    { "Device", "device", TM_DOC_DEVICE },
    { "Count", "count", TM_DOC_COUNT | TM_SUMS },
    { "Time", "inner.time_ps", TM_DOC_TIME | TM_SUMS },
    { "Rate", "rate", TM_DOC_RATE | TM_WIDE },
    { "Never", "never", TM_DOC_COUNT },
    { "Why", "reason", TM_DOC_PROSE },
    { "Limit", "limit", TM_DOC_TERM },
};
enum { NAME, HOST, DEVICE, COUNT, TIME, RATE, NEVER, WHY, LIMIT, COLUMNS };

static const char summary[] =
    "{'input':{'hosts':['vm']},'rows':["
    "{'name':'a','depth':0,'host':'vm','device':'vm/gpu:0','count':5,'inner':{'time_ps':50},'rate':1,'limit':'grid',"
    "'reason':'same','never':null,'why':{'never':'it was not asked for'}},"
    "{'name':'b','depth':1,'host':'vm','device':'vm/gpu:0','count':4,'inner':{'time_ps':40},'rate':null,'limit':'grid',"
    "'reason':'same','why':{'rate':'no bytes'}},"
    "{'name':'c','depth':2,'host':'vm','device':'vm/gpu:0','count':3,'inner':{'time_ps':30},'rate':3,'limit':'grid',"
    "'reason':'same'},"
    "{'name':'d','depth':99,'host':'vm','device':'vm/gpu:0','count':2,'inner':{'time_ps':20},'limit':'grid',"
    "'reason':'same'},"
    "{'name':'e','depth':-1,'host':'vm','device':'vm/gpu:0','count':1,'inner':{'time_ps':10},'limit':'grid',"
    "'reason':'same'}],"
    "'rest':{'rows':1200,'count':7000,'inner':{'time_ps':900}},'rest_without_time':{'rows':3,'count':7},"
    "'total':{'name':'never shown','count':7015,'inner':{'time_ps':150}},"
    "'members':{'first':{'count':1,'share':10},'second':{'count':2,'share':20},'third':{'count':3,'share':30}}}";

static int set_up(void **state)
{
    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), summary);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    return 0;
}

static const struct tm_value *of(const char *path)
{
    return tm_path(tm_doc_root(doc), path);
}

static struct tm_table table_of_rows(void)
{
    return (struct tm_table){ .id = "t", .caption = "Rows", TM_COLUMNS(columns), .rows = of("rows") };
}

static void lay_out(struct tm_layout *layout, const struct tm_table *table, const struct tm_room *room)
{
    tm_table_lay_out(layout, table, tm_doc_root(doc), room);
}

static void assert_columns(const struct tm_layout *layout, const size_t *wanted, size_t count)
{
    assert_int_equal(layout->columns, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(layout->column[i], wanted[i]);
}
#define ASSERT_COLUMNS(layout, ...)                                                                                    \
    assert_columns((layout), (const size_t[]){ __VA_ARGS__ }, sizeof((size_t[]){ __VA_ARGS__ }) / sizeof(size_t))

static void assert_note(const struct tm_layout *layout, const char *title, const char *text, bool is_same,
                        bool is_shown)
{
    for (size_t i = 0; i < layout->notes; i++)
        if (strcmp(layout->note[i].title, title) == 0 && strcmp(layout->note[i].text, text) == 0 &&
            layout->note[i].is_same == is_same && layout->note[i].is_shown == is_shown)
            return;
    fail_msg("no note '%s: %s'", title, text);
}

static void assert_cell(struct tm_cell cell, const char *shown)
{
    char out[TM_FORMAT_BYTES];

    assert_string_equal(tm_cell_shown(&cell, tm_doc_root(doc), out), shown);
}

/* --- columns --- */

static void columns_that_tell_nothing_are_left_out(void **state)
{
    const struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, NAME, COUNT, TIME, RATE);
    assert_int_equal(layout.notes, 5);
    assert_note(&layout, "Device", "gpu:0", true, false);
    assert_note(&layout, "Why", "same", true, false);
    assert_note(&layout, "Limit", "grid size", true, false);
    assert_note(&layout, "Never", "it was not asked for", false, false);
    assert_note(&layout, "Rate", "no bytes", false, true);
}

static void paper_has_no_wide_columns(void **state)
{
    const struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    lay_out(&layout, &table, &paper);
    ASSERT_COLUMNS(&layout, NAME, COUNT, TIME);
    assert_int_equal(layout.notes, 4); /* and no reason for what it does not show */
}

static void hosts_are_shown_where_there_are_several(void **state)
{
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    tm_add_string(tm_member(tm_member(tm_doc_root(doc), "input"), "hosts"), NULL, "other");
    table.columns = 3;
    lay_out(&layout, &table, &paper);
    ASSERT_COLUMNS(&layout, NAME, HOST);
    assert_note(&layout, "Device", "vm/gpu:0", true, false);
}

static void one_row_keeps_what_it_has(void **state)
{
    static const size_t pick[] = { 2 };
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    table.pick = pick;
    table.picks = 1;
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, NAME, DEVICE, COUNT, TIME, RATE, WHY, LIMIT);
}

static void a_column_without_values_tells_the_commonest_reason(void **state)
{
    static const struct tm_column two[] = { { "Name", "n", TM_DOC_NAME }, { "Rate", "r", TM_DOC_RATE } };
    struct tm_value *rows = tm_add_array(tm_doc_root(doc), "why_rows");
    static const char *const reasons[] = { "no time", "", "no bytes", "no bytes", "a third" };
    struct tm_table table = { .id = "t", .caption = "C", TM_COLUMNS(two) };
    struct tm_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "n", "x");
        tm_add_null(row, "r", *reasons[i] ? reasons[i] : NULL);
    }
    table.rows = rows;
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, 0);
    assert_int_equal(layout.notes, 1);
    assert_note(&layout, "Rate", "no bytes", false, false);
}

static void columns_of_what_a_run_does_not_have_are_left_out(void **state)
{
    static const struct tm_column five[] = {
        { "Name", "n", TM_DOC_NAME },
        { "Zero", "zero", TM_DOC_COUNT | TM_RARE },
        { "Some", "some", TM_DOC_COUNT | TM_RARE },
        { "Shown", "zero", TM_DOC_COUNT },
        { "No", "no", TM_DOC_WORD | TM_RARE },
    };
    struct tm_value *rows = tm_add_array(tm_doc_root(doc), "rare_rows");
    struct tm_table table = { .id = "t", .caption = "C", TM_COLUMNS(five), .rows = rows };
    struct tm_layout layout;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "n", "x");
        tm_add_int(row, "zero", 0);
        tm_add_int(row, "some", i);
        tm_add_bool(row, "no", false);
    }
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, 0, 2, 3);
    assert_int_equal(layout.notes, 0);
}

static void rows_without_values_keep_one_column(void **state)
{
    static const struct tm_column none[] = { { "A", "x", TM_DOC_WORD }, { "B", "y", TM_DOC_COUNT } };
    static const struct tm_column second[] = { { "A", "x", TM_DOC_WORD }, { "Count", "count", TM_DOC_COUNT } };
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    table.column = none;
    table.columns = 2;
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, 0);
    table.column = second;
    lay_out(&layout, &table, &screen);
    ASSERT_COLUMNS(&layout, 1);
}

/* --- rows --- */

static void a_screen_has_all_rows_and_paper_some(void **state)
{
    struct tm_table table = table_of_rows();
    struct tm_layout layout;
    char out[TM_FORMAT_BYTES];

    (void)state;
    table.paper_rows = 2;
    lay_out(&layout, &table, &screen);
    assert_int_equal(layout.rows, 5);
    assert_int_equal(layout.rows_left_out, 0);
    assert_false(tm_layout_has_sums(&layout));
    lay_out(&layout, &table, &paper);
    assert_int_equal(layout.rows, 2);
    assert_int_equal(layout.rows_left_out, 3);
    assert_string_equal(tm_layout_rest_title(&layout, out), "3 remaining rows");
    lay_out(&layout, &table, &(struct tm_room){ .rows = 4 });
    assert_string_equal(tm_layout_rest_title(&layout, out), "1 remaining row");
    lay_out(&layout, &table, &(struct tm_room){ .is_paper = true, .rows = 1 });
    assert_int_equal(layout.rows, 1);
    table.paper_rows = 0;
    lay_out(&layout, &table, &paper);
    assert_int_equal(layout.rows, 5);
    table.screen_rows = 3;
    lay_out(&layout, &table, &screen);
    assert_int_equal(layout.rows, 3);
    lay_out(&layout, &table, &(struct tm_room){ .is_data = true, .rows = 100 }); /* CSV has all of them */
    assert_int_equal(layout.rows, 5);
    table.obeys_rows = true;
    lay_out(&layout, &table, &(struct tm_room){ .is_data = true, .rows = 100 });
    assert_int_equal(layout.rows, 3);
}

static void a_row_sums_up_what_is_not_listed(void **state)
{
    struct tm_table table = table_of_rows();
    struct tm_layout layout;
    char out[TM_FORMAT_BYTES];

    (void)state;
    table.rest = of("rest");
    table.paper_rows = 3;
    lay_out(&layout, &table, &paper);
    assert_int_equal(layout.rows_left_out, 1202);
    assert_string_equal(tm_layout_rest_title(&layout, out), "1,202 remaining rows");
    assert_true(tm_layout_has_sums(&layout));
    assert_cell(tm_layout_rest(&layout, COUNT), "7,003");
    assert_cell(tm_layout_rest(&layout, TIME), "930 ps");
    assert_cell(tm_layout_rest(&layout, NAME), "");
    assert_cell(tm_layout_rest(&layout, RATE), "");
    table.rest = of("rest_without_time");
    assert_cell(tm_layout_rest(&layout, COUNT), "10");
    assert_cell(tm_layout_rest(&layout, TIME), "");
}

static void a_total_has_the_numbers_that_there_are(void **state)
{
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    table.total = of("total");
    lay_out(&layout, &table, &screen);
    assert_cell(tm_layout_total(&layout, COUNT), "7,015");
    assert_cell(tm_layout_total(&layout, TIME), "150 ps");
    assert_cell(tm_layout_total(&layout, RATE), "");
    assert_cell(tm_layout_total(&layout, NAME), "");
}

static void picked_rows_stand_in_their_order(void **state)
{
    static const size_t pick[] = { 4, 1, 0 };
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    table.pick = pick;
    table.picks = 3;
    table.rest = of("rest");
    lay_out(&layout, &table, &(struct tm_room){ .rows = 2 });
    assert_int_equal(tm_table_rows(&table), 3);
    assert_int_equal(layout.rows, 2);
    assert_cell(tm_table_cell(&table, 0, NAME), "e");
    assert_cell(tm_table_cell(&table, 1, NAME), "b");
    assert_int_equal(layout.rows_left_out, 1203);
    assert_int_equal(tm_table_left_out(&table, 3), 1202);
    assert_cell(tm_layout_rest(&layout, COUNT), "7,010");
    table.is_only_picked = true;
    table.rest = NULL;
    assert_int_equal(tm_table_left_out(&table, 3), 0);
    lay_out(&layout, &table, &(struct tm_room){ .rows = 2 });
    assert_int_equal(layout.rows_left_out, 1);
    assert_cell(tm_layout_rest(&layout, COUNT), "5");
    lay_out(&layout, &table, &screen);
    assert_int_equal(layout.rows_left_out, 0);
}

static void members_of_an_object_are_rows(void **state)
{
    static const struct tm_column of_members[] = {
        { "Member", "", TM_DOC_WORD },
        { "Count", "count", TM_DOC_COUNT | TM_SUMS },
        { "Share", "share", TM_DOC_PERCENT },
    };
    static const size_t pick[] = { 2, 0 };
    struct tm_table table = { .id = "t", .caption = "Members", TM_COLUMNS(of_members), .rows = of("members") };
    struct tm_layout layout;

    (void)state;
    lay_out(&layout, &table, &(struct tm_room){ .rows = 1 });
    assert_int_equal(tm_table_rows(&table), 3);
    assert_cell(tm_table_cell(&table, 1, 0), "second");
    assert_cell(tm_table_cell(&table, 1, 2), "20.0%");
    assert_cell(tm_layout_rest(&layout, 1), "5");
    assert_cell(tm_layout_total(&layout, 0), "");
    table.pick = pick;
    table.picks = 2;
    assert_cell(tm_table_cell(&table, 0, 0), "third");
    assert_cell(tm_table_cell(&table, 1, 1), "1");
}

static void rows_of_a_tree_are_indented(void **state)
{
    static const size_t pick[] = { 1, 2 };
    struct tm_table table = table_of_rows();

    (void)state;
    assert_int_equal(tm_table_depth(&table, 2), 0);
    table.depth = "depth";
    assert_int_equal(tm_table_depth(&table, 0), 0);
    assert_int_equal(tm_table_depth(&table, 2), 2);
    assert_int_equal(tm_table_depth(&table, 3), 12); /* no further, however deep */
    assert_int_equal(tm_table_depth(&table, 4), 0);
    table.pick = pick;
    table.picks = 2;
    assert_int_equal(tm_table_depth(&table, 0), 1);
    assert_int_equal(tm_table_depth(&table, 1), 2);
}

static void sums_stay_at_the_limit(void **state)
{
    struct tm_value *rows = tm_add_array(tm_doc_root(doc), "huge"), *rest = tm_add_object(tm_doc_root(doc), "more");
    struct tm_table table = table_of_rows();
    struct tm_layout layout;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_int(row, "count", INT64_MAX);
        tm_add_int(tm_add_object(row, "inner"), "time_ps", INT64_MIN);
    }
    tm_add_int(rest, "rows", INT64_MAX);
    tm_add_int(rest, "count", INT64_MAX);
    tm_add_int(tm_add_object(rest, "inner"), "time_ps", INT64_MIN);
    table.rows = rows;
    table.rest = rest;
    lay_out(&layout, &table, &(struct tm_room){ .rows = 1 });
    assert_true(layout.rows_left_out == INT64_MAX);
    assert_true(tm_layout_rest(&layout, COUNT).whole == INT64_MAX);
    assert_true(tm_layout_rest(&layout, TIME).whole == INT64_MIN);
}

static void cells_need_no_summary(void **state)
{
    static const struct tm_column two[] = { { "What", "w", TM_DOC_WORD }, { "Count", "c", TM_DOC_COUNT | TM_SUMS } };
    const struct tm_cell cells[] = {
        tm_cell_of_text(TM_DOC_WORD, "x"), tm_cell_of_int(TM_DOC_COUNT, 1),   tm_cell_of_text(TM_DOC_WORD, "y"),
        tm_cell_of_int(TM_DOC_COUNT, 2),   tm_cell_of_text(TM_DOC_WORD, "z"), tm_cell_of_int(TM_DOC_COUNT, 3),
    };
    const struct tm_table table = { .id = "t", .caption = "C", TM_COLUMNS(two), .cells = cells, .cell_rows = 3 };
    struct tm_layout layout;

    (void)state;
    lay_out(&layout, &table, &(struct tm_room){ .rows = 2 });
    assert_int_equal(tm_table_rows(&table), 3);
    assert_int_equal(layout.rows_left_out, 1);
    assert_cell(tm_table_cell(&table, 2, 0), "z");
    assert_cell(tm_table_cell(&table, 2, 1), "3");
    assert_cell(tm_layout_rest(&layout, 1), "");
}

/* --- what sections say with --- */

struct heard {
    size_t tables, facts, columns, paragraphs;
    enum tm_tone tone;
    char text[4096];
};

static void hear_table(void *to, const struct tm_table *table)
{
    (void)table;
    ((struct heard *)to)->tables++;
}

static void hear_facts(void *to, const struct tm_table *facts)
{
    ((struct heard *)to)->facts++;
    ((struct heard *)to)->columns = facts->columns;
}

static void hear_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct heard *heard = to;

    heard->paragraphs++;
    heard->tone = tone;
    assert_true(strlen(text) < sizeof(heard->text));
    strcpy(heard->text, text);
}

static void a_table_is_said_once(void **state)
{
    struct tm_medium medium = { .room = screen, .has_charts = true, .table = hear_table };
    struct heard heard = { 0 };
    const struct tm_content content = { .summary = tm_doc_root(doc), .medium = &medium, .to = &heard, .run = &run };
    struct tm_table table = table_of_rows();

    (void)state;
    tm_emit_table(&content, &table);
    assert_int_equal(heard.tables, 1);
    table.repeats_chart = true;
    tm_emit_table(&content, &table);
    assert_int_equal(heard.tables, 1);
    medium.has_charts = false;
    tm_emit_table(&content, &table);
    assert_int_equal(heard.tables, 2);
    table.rows = of("never");
    tm_emit_table(&content, &table);
    assert_int_equal(heard.tables, 2);
}

static void facts_are_what_there_is(void **state)
{
    struct tm_medium medium = { .room = screen, .facts = hear_facts };
    struct heard heard = { 0 };
    const struct tm_content content = { .summary = tm_doc_root(doc), .medium = &medium, .to = &heard, .run = &run };

    (void)state;
    tm_emit_columns(&content, "f", columns, COLUMNS, "rows[1]");
    assert_int_equal(heard.columns, 7); /* nulls are told apart */
    medium.room = paper;
    tm_emit_columns(&content, "f", columns, COLUMNS, "rows[1]");
    assert_int_equal(heard.columns, 7);
    tm_emit_columns(&content, "f", columns, COLUMNS, "nothing");
    assert_int_equal(heard.facts, 2);
}

static void what_is_missing_is_said_with_its_reason(void **state)
{
    const struct tm_medium medium = { .room = screen, .paragraph = hear_paragraph };
    struct heard heard = { 0 };
    const struct tm_content content = { .summary = tm_doc_root(doc), .medium = &medium, .to = &heard, .run = &run };

    (void)state;
    assert_false(tm_emit_missing(&content, of("rows"), "Rows"));
    assert_int_equal(heard.paragraphs, 0);
    assert_true(tm_emit_missing(&content, of("rows[1].rate"), "Rate"));
    assert_string_equal(heard.text, "Rate: not recorded (no bytes).");
    assert_true(tm_emit_missing(&content, NULL, "It"));
    assert_string_equal(heard.text, "It: not recorded.");
}

static void a_long_paragraph_is_cut(void **state)
{
    const struct tm_medium medium = { .room = screen, .paragraph = hear_paragraph }, deaf = { .room = screen };
    struct heard heard = { 0 };
    const struct tm_content content = { .summary = tm_doc_root(doc), .medium = &medium, .to = &heard, .run = &run };
    const struct tm_content to_deaf = { .summary = tm_doc_root(doc), .medium = &deaf, .to = NULL, .run = &run };

    (void)state;
    tm_emit(&content, TM_TONE_QUIET, "%5000s", "x");
    assert_int_equal(strlen(heard.text), 2047);
    assert_int_equal(heard.tone, TM_TONE_QUIET);
    tm_emit(&to_deaf, TM_TONE_QUIET, "nobody hears it");
    tm_emit_subheading(&to_deaf, "nobody hears it");
    tm_emit_charts(&to_deaf, TM_CHART_STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_that_tell_nothing_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paper_has_no_wide_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hosts_are_shown_where_there_are_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_row_keeps_what_it_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_column_without_values_tells_the_commonest_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_of_what_a_run_does_not_have_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_without_values_keep_one_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_screen_has_all_rows_and_paper_some, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_row_sums_up_what_is_not_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_total_has_the_numbers_that_there_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(picked_rows_stand_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_of_an_object_are_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_a_tree_are_indented, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sums_stay_at_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cells_need_no_summary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_is_said_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facts_are_what_there_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_missing_is_said_with_its_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_paragraph_is_cut, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("content_tables", tests, NULL, NULL);
}
