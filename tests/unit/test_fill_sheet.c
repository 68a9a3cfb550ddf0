/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/content.h"

#include <string.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static const struct tm_column columns[] = {
    { "Scope", "name", TM_DOC_NAME },
    { "Time", "total_ps", TM_DOC_TIME | TM_SUMS },
    { "Device", "device", TM_DOC_PROSE },
    { "Occupancy", "occupancy_pct", TM_DOC_PERCENT },
    { "Registers", "registers", TM_DOC_COUNT | TM_WIDE },
};

static const char rows[] =
    "{'rows': [{'name': 'a', 'depth': 0, 'total_ps': 5000, 'device': 'd', 'registers': 1, 'occupancy_pct': 50.0},"
    " {'name': 'b', 'depth': 1, 'total_ps': 3000, 'device': 'd', 'occupancy_pct': null},"
    " {'name': 'c', 'depth': 1, 'total_ps': 2000, 'device': 'd'}], 'total_ps': 10000}";

static void open_rows(struct tm_run *run, struct tm_doc **doc)
{
    test_run_init(run);
    *doc = tm_doc_new(run);
    assert_non_null(*doc);
    test_summary_load(tm_doc_root(*doc), rows);
}

static struct tm_sheet sheet;

static void a_tree_is_indented_and_summed_up(void **state)
{
    const struct tm_room room = { .is_paper = true, .rows = 2 };
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_layout layout;
    char note[TM_NOTE_BYTES];

    (void)state;
    open_rows(&run, &doc);
    const struct tm_value *summary = tm_doc_root(doc);
    const struct tm_table table = { .id = "t",
                                    TM_COLUMNS(columns),
                                    .rows = tm_get(summary, "rows"),
                                    .depth = "depth",
                                    .total = summary,
                                    .total_title = "all" };

    tm_sheet_fill(&sheet, &layout, &table, summary, &room);
    assert_int_equal(sheet.columns, 3); /* the wide one is not there, the same one is a note */
    assert_int_equal(sheet.rows, 4);
    assert_int_equal(sheet.indent[0], 0);
    assert_int_equal(sheet.indent[1], 1);
    assert_int_equal(sheet.kind[1], TM_COLUMN_NUMBER);
    assert_string_equal(sheet.text[1][1], "3.00 ns");
    assert_string_equal(sheet.text[2][0], "1 remaining row");
    assert_string_equal(sheet.text[2][1], "2.00 ns");
    assert_string_equal(sheet.text[3][0], "all");
    assert_string_equal(sheet.text[3][1], "10.0 ns");
    assert_true(sheet.summed[3] && !sheet.summed[2]);
    assert_true(tm_layout_note(&layout, 0, note));
    assert_string_equal(note, "Device, the same in all rows: d");
    assert_false(tm_layout_note(&layout, layout.notes, note));
    tm_doc_free(doc);
}

static void what_has_no_sums_is_counted_in_a_note(void **state)
{
    const struct tm_room room = { .is_paper = true, .rows = 1 };
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_layout layout;
    char note[TM_NOTE_BYTES];

    (void)state;
    open_rows(&run, &doc);
    const struct tm_table table = {
        .id = "t", .column = columns, .columns = 1, .rows = tm_get(tm_doc_root(doc), "rows")
    };

    tm_sheet_fill(&sheet, &layout, &table, tm_doc_root(doc), &room);
    assert_int_equal(sheet.rows, 1);
    assert_true(tm_layout_note(&layout, 0, note));
    assert_string_equal(note, "2 remaining rows not listed here.");
    assert_false(tm_layout_note(&layout, 1, note));
    tm_doc_free(doc);
}

static void facts_tell_why_they_are_missing(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), "{'n': 1234}");
    tm_add_null(tm_doc_root(doc), "m", "no counters");

    const struct tm_cell cells[] = { tm_cell_of_value(TM_DOC_COUNT, tm_get(tm_doc_root(doc), "n")),
                                     tm_cell_of_value(TM_DOC_COUNT, tm_get(tm_doc_root(doc), "m")) };
    const struct tm_table facts = { .id = "f", .column = columns, .columns = 2, .cells = cells, .cell_rows = 1 };

    tm_sheet_fill_facts(&sheet, &facts, tm_doc_root(doc));
    assert_int_equal(sheet.rows, 2);
    assert_string_equal(sheet.text[0][0], "Scope");
    assert_string_equal(sheet.text[0][1], "1,234");
    assert_string_equal(sheet.text[1][1], "not recorded (no counters)");
    tm_doc_free(doc);
}

static void columns_with_the_same_to_say_share_a_sentence(void **state)
{
    static const struct tm_column few[] = {
        { "Name", "name", TM_DOC_NAME }, { "Rate", "rate", TM_DOC_RATE }, { "Size", "size", TM_DOC_BYTES },
        { "Time", "time", TM_DOC_TIME }, { "Best", "best", TM_DOC_RATE }, { "Mean", "mean", TM_DOC_TIME },
    };
    const struct tm_room room = { .is_paper = true, .rows = 9 };
    struct tm_layout layout;
    struct tm_run run;
    struct tm_doc *doc;
    char note[TM_NOTE_BYTES];

    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc),
                      "{'rows':[{'name':'a','rate':null,'size':null,'time':null,'best':null,'mean':1,'why':{'rate':'no "
                      "bytes','size':'no bytes','time':'no bytes','best':'other'}},{'name':'b','time':2,'mean':null,"
                      "'why':{'mean':'no bytes'}}]}");
    const struct tm_table table = { .id = "t", TM_COLUMNS(few), .rows = tm_get(tm_doc_root(doc), "rows") };

    tm_sheet_fill(&sheet, &layout, &table, tm_doc_root(doc), &room);
    assert_true(tm_layout_note(&layout, 0, note));
    assert_string_equal(note, "Rate, Size: not recorded (no bytes).");
    assert_true(tm_layout_note(&layout, 1, note));
    assert_string_equal(note, "Time, Mean, if empty: not recorded (no bytes).");
    assert_true(tm_layout_note(&layout, 2, note));
    assert_string_equal(note, "Best: not recorded (other).");
    assert_false(tm_layout_note(&layout, 3, note));
    tm_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_indented_and_summed_up),
        cmocka_unit_test(what_has_no_sums_is_counted_in_a_note),
        cmocka_unit_test(facts_tell_why_they_are_missing),
        cmocka_unit_test(columns_with_the_same_to_say_share_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
