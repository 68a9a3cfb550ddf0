/* SPDX-License-Identifier: Apache-2.0 */
/* What sections say with: facts, tables beside charts, what is missing. */
#include "reports/content/emit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

/* A medium that writes down what it is told. */
struct notes {
    char text[4096];
    size_t used;
};

static void TM_PRINTF(2, 3) note(struct notes *notes, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    notes->used += (size_t)vsnprintf(notes->text + notes->used, sizeof(notes->text) - notes->used, format, list);
    va_end(list);
    assert_true(notes->used < sizeof(notes->text));
}

static void take_paragraph(void *to, enum tm_tone tone, const char *text)
{
    note(to, "%s%s\n", tone == TM_TONE_QUIET ? "quiet: " : "", text);
}

static void take_table(void *to, const struct tm_table *table)
{
    note(to, "table %s: %zu rows\n", table->id, tm_table_rows(table));
}

static void take_facts(void *to, const struct tm_table *facts)
{
    note(to, "facts %s:", facts->id);
    for (size_t i = 0; i < facts->columns; i++) {
        const struct tm_cell cell = tm_table_cell(facts, 0, i);
        char text[TM_FORMAT_BYTES];

        note(to, " %s=%s;", facts->column[i].title,
             tm_cell_is_empty(&cell) ? tm_why(cell.value) : tm_cell_shown(&cell, NULL, text));
    }
    note(to, "\n");
}

struct bench {
    struct tm_run run;
    struct tm_doc *doc;
    struct notes notes;
    struct tm_medium medium;
    struct tm_content content;
};

static void begin(struct bench *b, const char *json)
{
    *b = (struct bench){
        .medium = { .room = { .rows = 500 }, .paragraph = take_paragraph, .table = take_table, .facts = take_facts }
    };
    test_run_init(&b->run);
    b->doc = tm_doc_new(&b->run);
    assert_non_null(b->doc);
    test_summary_load(tm_doc_root(b->doc), json);
    b->content =
        (struct tm_content){ .summary = tm_doc_root(b->doc), .medium = &b->medium, .to = &b->notes, .run = &b->run };
}

static void end(struct bench *b, const char *expected)
{
    assert_string_equal(b->notes.text, expected);
    tm_doc_free(b->doc);
    assert_ledger_is_even(&b->run);
}

static void nulls_of_one_reason_are_one_sentence(void **state)
{
    static const char *const parts[][2] = { { "a", "A" }, { "b", "B" }, { "c", "C" }, { "d", "D" }, { "e", "E" } };
    struct bench b;

    (void)state;
    begin(&b, "{'a':null,'b':null,'c':{'x':1},'d':null,'why':{'a':'no device','b':'no device','d':'no host'}}");
    tm_emit_nulls(&b.content, b.content.summary, parts, 5);
    end(&b, "quiet: Not recorded: A, B (no device).\nquiet: Not recorded: D (no host).\n");
}

static void what_nobody_gave_a_reason_for_is_not_said(void **state)
{
    static const char *const parts[][2] = { { "a", "A" }, { "b", "B" } };
    struct bench b;

    (void)state;
    begin(&b, "{'a':null}");
    tm_emit_nulls(&b.content, b.content.summary, parts, 2);
    tm_emit_nulls(&b.content, NULL, parts, 2);
    end(&b, "");
}

static void a_missing_value_is_said_with_its_reason(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, "{'a':null,'b':null,'c':0,'why':{'a':'no device'}}");
    assert_true(tm_emit_missing(&b.content, tm_of(&b.content, "a"), "A"));
    assert_true(tm_emit_missing(&b.content, tm_of(&b.content, "b"), "B"));
    assert_true(tm_emit_missing(&b.content, tm_of(&b.content, "not there"), "N"));
    assert_false(tm_emit_missing(&b.content, tm_of(&b.content, "c"), "C"));
    end(&b, "A: not recorded (no device).\nB: not recorded.\nN: not recorded.\n");
}

static void facts_are_what_is_there(void **state)
{
    static const char columns[] = "x.count count = Count, x.count count wide = Wide, x.none time = Null, "
                                  "x.absent time = Absent, y.z time = Below null";
    struct bench b;

    (void)state;
    begin(&b, "{'x':{'count':12345,'none':null,'why':{'none':'no clock'}},'y':null}");
    tm_emit_facts(&b.content, "f", "", columns);
    b.medium.room.is_paper = true;
    tm_emit_facts(&b.content, "g", "", columns);
    tm_emit_facts(&b.content, "h", "nothing", columns);
    end(&b, "facts f: Count=12,345; Wide=12,345;\nquiet: Not recorded: Null (no clock).\n"
            "facts g: Count=12,345;\nquiet: Not recorded: Null (no clock).\n");
}

static void facts_of_what_a_run_does_not_have_are_left_out(void **state)
{
    static const char columns[] = "count count rare = Count, zero time rare = Zero, zero time = Shown, "
                                  "no word rare = No, none time = Null, none word known = Known";
    struct bench b;

    (void)state;
    begin(&b, "{'count':3,'zero':0,'no':false,'none':null,'why':{'none':'no clock'}}");
    tm_emit_facts(&b.content, "f", "", columns);
    b.medium.room.is_data = true;
    tm_emit_facts(&b.content, "g", "", columns);
    end(&b, "facts f: Count=3; Shown=0 s;\nquiet: Not recorded: Null (no clock).\n"
            "facts g: Count=3; Zero=0 s; Shown=0 s; No=no; Null=no clock;\n");
}

/* The first row of a table. */
static void take_row(void *to, const struct tm_table *table)
{
    note(to, "table %s:", table->id);
    for (size_t i = 0; i < table->columns; i++) {
        const struct tm_cell cell = tm_table_cell(table, 0, i);
        char text[TM_FORMAT_BYTES];

        note(to, " %s=%s;", table->column[i].title, tm_cell_shown(&cell, NULL, text));
    }
    note(to, "\n");
}

static void titles_and_kinds_are_those_of_the_fields(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, "{'gaps':{'count':12,'count_min':3,'total_ps':5000,'pauses':{'total_ps':0},"
              " 'by_cause':{'gc':{'total_ps':4000,'share_pct':80}},"
              " 'longest':[{'device':'vm/gpu:0','launch':{'dur_ps':7000}}]}}");
    b.medium.table = take_row;
    tm_emit_facts(&b.content, "f", "gaps",
                  "total_ps, count = Number, count_min number = As a number, pauses.total_ps rare");
    tm_emit_table(
        &b.content,
        &(struct tm_table){ .id = "t", .shows = "@ cause = Cause, total_ps, share_pct", .list = "gaps.by_cause" });
    tm_emit_table(&b.content,
                  &(struct tm_table){ .id = "l", .shows = "device, launch.dur_ps = Call", .list = "gaps.longest" });
    end(&b, "facts f: Idle time in gaps=5.00 ns; Number=12; As a number=3;\n"
            "table t: Cause=garbage collection; Time=4.00 ns; Share=80.0%;\n"
            "table l: Device=vm/gpu:0; Call=7.00 ns;\n");
}

static void tables_without_rows_and_those_of_a_chart_are_left_out(void **state)
{
    struct tm_table table = { .id = "t", .caption = "T", .shows = "n count = N" };
    struct bench b;

    (void)state;
    begin(&b, "{'none':[],'two':[{'n':1},{'n':2}]}");
    table.rows = tm_of(&b.content, "none");
    tm_emit_table(&b.content, &table);
    table.rows = tm_of(&b.content, "two");
    tm_emit_table(&b.content, &table);
    table.id = "twin";
    table.repeats_chart = true;
    tm_emit_table(&b.content, &table);
    b.medium.has_charts = true;
    tm_emit_table(&b.content, &table);
    end(&b, "table t: 2 rows\ntable twin: 2 rows\n");
}

static void the_rows_of_a_table_are_those_it_wants(void **state)
{
    const struct tm_table table = { .id = "t", .shows = "n count = N, a word known = A", .list = "rows" };
    struct tm_table where = table, by = table;
    struct bench b;

    (void)state;
    begin(&b, "{'rows':[{'n':1,'m':0},{'n':2,'m':0},{'n':0,'m':3},{'n':0,'m':0}],'total':{'n':9},'rest':{'rows':0}}");
    where.where = "n|m";
    where.note = "Some.";
    by.by = "n";
    tm_emit_table(&b.content, &where);
    b.medium.table = take_row;
    tm_emit_table(&b.content, &by);
    end(&b, "table t: 3 rows\nquiet: Some.\ntable t: N=2;\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nulls_of_one_reason_are_one_sentence),
        cmocka_unit_test(what_nobody_gave_a_reason_for_is_not_said),
        cmocka_unit_test(a_missing_value_is_said_with_its_reason),
        cmocka_unit_test(facts_are_what_is_there),
        cmocka_unit_test(facts_of_what_a_run_does_not_have_are_left_out),
        cmocka_unit_test(titles_and_kinds_are_those_of_the_fields),
        cmocka_unit_test(the_rows_of_a_table_are_those_it_wants),
        cmocka_unit_test(tables_without_rows_and_those_of_a_chart_are_left_out),
    };

    return cmocka_run_group_tests_name("say", tests, NULL, NULL);
}
