/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"
#include "tests/support/written_report.h"

static void open_sample(struct written_report *r, enum tm_sample_profile which)
{
    test_write_sample(r, tm_text_write, which);
}

static void open_json(struct written_report *r, const char *json)
{
    test_write_json(r, tm_text_write, json);
}

/* Characters that a terminal would act on, or that hide or turn the text around them. */
static bool is_harmful(uint32_t c)
{
    return (c < ' ' && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static void assert_lines_are_clean(const struct written_report *f, const char *name)
{
    int columns = 0, line = 1;

    for (size_t i = 0; i < f->length;) {
        uint32_t c;
        const size_t n = tm_utf8_next(f->text + i, f->length - i, &c);

        if (n == 0 || is_harmful(c))
            fail_msg("%s: line %d holds a character that it must not", name, line);
        if (c == '\n' && i > 0 && f->text[i - 1] == ' ')
            fail_msg("%s: line %d ends in a space", name, line);
        columns = c == '\n' ? 0 : columns + (c >= 0x2e80 ? 2 : 1);
        line += c == '\n';
        if (columns > TM_TEXT_COLUMNS)
            fail_msg("%s: line %d is too wide", name, line);
        i += n;
    }
}

static void every_line_of_every_sample_is_clean_and_fits(void **state)
{
    (void)state;
    for (int i = 0; i < TM_SAMPLES; i++) {
        struct written_report f;

        open_sample(&f, i);
        assert_lines_are_clean(&f, tm_sample_name[i]);
        test_written_report_free(&f);
    }
}

static void a_gpu_run_has_all_sections(void **state)
{
    static const char *const titles[] = {
        "Verdict",   "Key figures", "Top findings", "Findings",    "Steps",        "Devices",
        "Idle gaps", "Kernels",     "Fusion",       "Occupancy",   "Transfers",    "Collectives",
        "Host",      "Compilation", "Memory",       "Environment", "Data quality", "Definitions",
    };
    struct written_report f;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        char heading[64];

        (void)snprintf(heading, sizeof(heading), "\n%s\n%.*s\n", titles[i], (int)strlen(titles[i]), "--------------");
        assert_says(&f, heading);
    }
    assert_says(&f, "\nUnder 100 \xc2\xb5s ");
    test_written_report_free(&f);
}

static void figures_stand_with_their_units_and_bands(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, test_healthy_summary);
    assert_says(&f, "\nSteps    ");
    assert_is_silent_on(&f, "PARTIAL");
    test_written_report_free(&f);
    open_json(&f, "{'kpis': [{'id': 'a', 'title': 'High', 'value': 75, 'unit': '%', 'band': 'warning',"
                  " 'good': 80, 'bad': 50, 'definition': 'part of the whole'},"
                  " {'id': 'b', 'title': 'Low', 'value': null, 'unit': 's', 'band': 'unknown', 'good': "
                  "2,"
                  " 'bad': 10, 'why': 'nobody looked'},"
                  " {'id': 'c', 'title': 'None', 'value': 3, 'unit': 'count', 'band': 'bad', 'good': 0,"
                  " 'bad': 0}]}");
    assert_says(&f, "High           75.0%  warning   > 80%     < 50%\n");
    assert_says(&f, "Low     not recorded            < 2 s    > 10 s  nobody looked\n");
    assert_says(&f, "None               3  critical      0       > 0\n");
    test_written_report_free(&f);
}

static void parts_of_the_steps_stand_with_their_sum(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'steps': {'parts': {'compute_ps': 600000000, 'exposed_collective_ps': 0,"
                  " 'exposed_copy_ps': {'h2d': 100000000, 'd2h': 0}, 'idle_ps': {'input': "
                  "300000000, 'gc': 0},"
                  " 'total_ps': 1000000000}}}");
    assert_says(&f, "compute                           600 \xc2\xb5s  60.0%\n");
    assert_says(&f, "exposed host-to-device copy       100 \xc2\xb5s  10.0%\n");
    assert_says(&f, "idle: input pipeline              300 \xc2\xb5s  30.0%\n");
    assert_says(&f, "---\nall analyzed steps, all devices  1.00 ms\n");
    assert_is_silent_on(&f, "exposed collectives");
    test_written_report_free(&f);
}

static void the_slowest_steps_stand_first(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'steps': {'basis': 'period', 'list': ["
                  "{'number': 1, 'period_ps': 3000, 'idle_ps': {'gc': 5000, 'input': 7000}, "
                  "'chosen': true},"
                  "{'number': 2, 'period_ps': 9000, 'idle_ps': null, 'chosen': true},"
                  "{'number': 3, 'period_ps': 99000, 'idle_ps': {'gc': 1000}, 'chosen': false},"
                  "{'number': 4, 'period_ps': 4000, 'idle_ps': {'gc': 1000}, 'chosen': true}]}}");
    assert_says(&f, "\n2       9.00 ns\n4       4.00 ns\n1       3.00 ns\n");
    test_written_report_free(&f);
}

static void the_top_stands_in_few_lines(void **state)
{
    struct written_report f;

    (void)state;
    open_json(
        &f, "{'report': {'title': 'Night run', 'note': 'With the new loader.'}, 'input': {'run': 'vm', 'hosts': "
            "['vm']}, 'verdict': {'text': 'It waits.', 'severity': 'critical'}, 'findings': [{'severity': 'critical', "
            "'title': 'The device waits', 'at_stake_ps': 2000000000000, 'share_pct': 20, 'cause': 'Why.', 'fix': "
            "['Do.'], 'evidence': ['Seen.'], 'where': [{'begin_ps': 0, 'end_ps': 1000000, 'device': 'vm/gpu:0'}]}]}");
    assert_says(&f, "Night run\n=========\nvm: 1 host, no device activity\n\nWith the new loader.\n");
    assert_says(&f, "Verdict\n-------\nIt waits.\n");
    assert_says(&f, "1  critical  The device waits  2.00 s, 20.0%\n");
    assert_says(&f, "\n\n1. [critical] The device waits\n"
                    "  impact         potential savings 2.00 s of device time, 20.0% of the window\n"
                    "  cause          Why.\n"
                    "  recommendation Do.\n"
                    "  evidence       Seen.\n"
                    "  where to look  at 0.000000000 s, for 1.00 \xc2\xb5s, gpu:0\n");
    test_written_report_free(&f);
}

static void what_is_null_says_why(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'gaps': null, 'steps': {'median_ps': null, 'count': 3, 'why': {'median_ps': "
                  "'too few'}},"
                  " 'why': {'gaps': 'no device activity'}, 'kernels': {'count': 1, 'rows':"
                  " [{'name': 'k', 'count': 1, 'total_ps': null, 'why': {'total_ps': 'no clock'}},"
                  " {'name': 'l', 'count': 1, 'total_ps': 5}]}}");
    assert_says(&f, "Not recorded: Median (too few).\n");
    assert_says(&f, "Total, if empty: not recorded (no clock).\n");
    assert_says(&f, "\nChecked, nothing found\n----------------------\n");
    assert_says(&f, "  no device activity\n");
    assert_says(&f, "  not recorded in this profile\n");
    test_written_report_free(&f);
}

static void scopes_are_indented_below_what_is_around_them(void **state)
{
    struct written_report f;

    (void)state;
    open_sample(&f, TM_SAMPLE_GPU);
    assert_says(&f, "\nstep ");
    assert_says(&f, "\n  layer_0 ");
    assert_says(&f, "\nstep/layer_1 ");
    assert_says(&f, "\ndata_loading ");
    assert_says(&f, "\n  decode ");
    assert_says(&f, "Recomputed");
    test_written_report_free(&f);
}

static void an_empty_summary_gives_a_report(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{}");
    assert_says(&f, "profile\n=======\n");
    assert_says(&f, "  not recorded in this profile\n");
    assert_lines_are_clean(&f, "an empty summary");
    test_written_report_free(&f);
}

static void kernels_past_the_table_are_counted(void **state)
{
    struct written_report f;
    struct tm_value *kernels, *rows, *rest;

    (void)state;
    test_report_begin(&f);
    kernels = tm_add_object(tm_doc_root(f.doc), "kernels");
    tm_add_int(kernels, "count", 30 * 2 + 7);
    tm_add_int(kernels, "total_ps", 30 * 1000000 + 5000000);
    rows = tm_add_array(kernels, "rows");
    for (int i = 0; i < 30; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "name", "kernel");
        tm_add_int(row, "count", 2);
        tm_add_int(row, "total_ps", 1000000);
    }
    rest = tm_add_object(kernels, "rest");
    tm_add_int(rest, "rows", 4);
    tm_add_int(rest, "count", 7);
    tm_add_int(rest, "total_ps", 5000000);
    test_report_write(&f, tm_text_write);
    assert_says(&f, "14 remaining rows  15.0 \xc2\xb5s     27\n");
    assert_says(&f, "all kernels        35.0 \xc2\xb5s     67\n");
    test_written_report_free(&f);
}

static void long_names_keep_both_ends(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'kernels': {'rows': [{'name': 'begin_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_end', 'class':"
                  " 'kernel', 'count': 1}]}}");
    assert_says(&f, "\nbegin_xx");
    assert_says(&f, "x\xe2\x80\xa6x");
    assert_says(&f, "xx_end      1\n");
    assert_lines_are_clean(&f, "a long name");
    test_written_report_free(&f);
}

static void tables_give_way_to_their_names(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'gaps': {'count': 1, 'longest': [{'device': 'host/gpu:0', 'begin_ps': 1, 'dur_ps': 1000, 'step': 1,"
                  " 'cause': 'host', 'host_event': 'a_function_of_the_host_that_runs_for_long', 'before':"
                  " 'a_kernel_with_a_long_name_before_it', 'after': 'a_kernel_with_a_long_name_after_it'}]}}");
    assert_says(&f, "a_function_of_the_host_that_runs_for_long\n");
    assert_says(&f, "\nOmitted for width: After\n");
    test_written_report_free(&f);
}

static void names_that_attack_a_terminal_are_escaped(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'input': {'run': 'a\\u001b[31mb\\u202ec\\n', 'hosts': ['\\u0007'], 'partial': true},"
                  " 'findings': [{'severity': 'critical', 'title': '\\u009b2J', 'fix': ['\\u2066']}]}");
    assert_says(&f, "a\\u001b[31mb\\u202ec\\n");
    assert_says(&f, "1. [critical] \\u009b2J\n");
    assert_says(&f, "\n*** PARTIAL ***\n");
    assert_lines_are_clean(&f, "names with controls");
    test_written_report_free(&f);
}

static void the_same_summary_gives_the_same_bytes(void **state)
{
    (void)state;
    assert_writes_the_same_again(tm_text_write);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    assert_full_disk_is_an_error(tm_text_write, "cannot write the text report");
}

static tm_status job(struct tm_run *run)
{
    return test_write_empty(run, tm_text_write);
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(job);
}

/* Widths for 100 units with gaps of 2: fixed columns keep theirs, elastic ones share what is left.
 */
static void columns_share_the_width(void **state)
{
    static const struct {
        enum tm_column_kind kind[3];
        double natural[3], actual[3];
    } cases[] = {
        { { TM_COLUMN_NAME, TM_COLUMN_WORD, TM_COLUMN_NUMBER }, { 10, 10, 10 }, { 10, 10, 10 } },
        { { TM_COLUMN_NAME, TM_COLUMN_WORD, TM_COLUMN_NUMBER }, { 500, 10, 6 }, { 80, 10, 6 } },
        { { TM_COLUMN_NAME, TM_COLUMN_PROSE, TM_COLUMN_NUMBER }, { 500, 500, 6 }, { 45, 45, 6 } },
        { { TM_COLUMN_NAME, TM_COLUMN_PROSE, TM_COLUMN_NUMBER }, { 500, 20, 6 }, { 70, 20, 6 } },
        { { TM_COLUMN_WORD, TM_COLUMN_WORD, TM_COLUMN_NUMBER }, { 500, 20, 6 }, { 70, 20, 6 } },
        { { TM_COLUMN_WORD, TM_COLUMN_NAME, TM_COLUMN_NUMBER }, { 500, 3, 6 }, { 87, 3, 6 } },
    };
    static struct tm_sheet sheet;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double actual[TM_SHEET_COLUMNS];

        tm_sheet_start(&sheet, true);
        for (int c = 0; c < 3; c++)
            tm_sheet_column(&sheet, "", cases[i].kind[c]);
        tm_sheet_widths(&sheet, cases[i].natural, 100, 2, actual);
        for (int c = 0; c < 3; c++)
            if (actual[c] < cases[i].actual[c] - 0.01 || actual[c] > cases[i].actual[c] + 0.01)
                fail_msg("case %zu, column %d: %g", i, c, actual[c]);
    }
}

static void allocators_that_kept_nothing_are_not_counted_as_left_out(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'memory': {'allocators': [{'name': 'one', 'kept': {'count': 2, 'largest_bytes': 8}}, "
                  "{'name': 'two', 'kept': {'count': 0}}]}}");
    assert_says(&f, "Buffers allocated but not freed:");
    assert_is_silent_on(&f, "remaining row");
    test_written_report_free(&f);
}

static void names_and_sections_are_as_short_as_they_can_be(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f,
              "{'input': {'run': 'vm', 'hosts': ['vm']}, 'devices': [{'id': 'vm/gpu:0'}], 'fallback': {'callbacks': "
              "{'count': 0}, 'cpu_ops': {'count': 0}, 'host_ops': {'count': 0}, 'round_trips': {'count': 0}}, "
              "'programs': {'count': 9, 'per_step': 1, 'operations': 30, 'pauses': {'count': 1, 'total_ps': 1000000, "
              "'longest': [{'device': 'vm/gpu:0', 'begin_ps': 0, 'dur_ps': 1000000, 'step': 5, 'before': 'jit_f', "
              "'after': 'jit_g'}]}}, 'compile': {'count': 1, 'events': [{'module': 'train', 'host': 'vm', 'begin_ps': "
              "1000000000000, 'dur_ps': 2000000, 'shapes': 'f32[8], s32[2]'}]}}");
    assert_says(&f, "vm\n==\n1 host, 1 device\n");
    assert_is_silent_on(&f, "\nHost          vm\n");
    assert_is_silent_on(&f, "vm/gpu:0");
    assert_says(&f, "  nothing ran on the host");
    assert_says(&f, "\nPrograms\n--------\nPrograms per step and device  1\n");
    assert_says(&f, "0.000000000 s   1.00 \xc2\xb5s  gpu:0   5     jit_f   jit_g\n");
    assert_says(&f, "train   1.000000000 s   2.00 \xc2\xb5s  f32[8], s32[2]\n");
    test_written_report_free(&f);
}

static void what_findings_rest_on_stands_in_the_sections(void **state)
{
    struct written_report f;

    (void)state;
    open_json(&f, "{'gaps': {'count': 3, 'by_cause': {}, 'pauses': {'below_ps': 10000000, 'count': 2, 'total_ps': "
                  "5000000}}, 'fusion': {'eager_chains': {'count': 3, 'kernels': 9, 'total_ps': 60000000, 'saved_ps': "
                  "40000000, 'share_pct': 12}}, 'memory': {'allocators': [{'name': 'bfc', 'kept': {'count': 3, "
                  "'quarters_bytes': [1024, 0, 2048, 512], 'largest_bytes': 2048, 'op': 'fusion.7'}}, {'name': 'host', "
                  "'kept': {'count': 0}}, {'name': 'rest', 'kept': null}]}}");
    assert_says(&f, "Time in pauses                5.00 \xc2\xb5s\n");
    assert_says(&f, "Chains of pointwise kernels      3                9  60.0 \xc2\xb5s            40.0 \xc2\xb5s\n");
    assert_says(&f, "1.00 KiB          0 B     2.00 KiB        512 B  2.00 KiB  fusion.7\n");
    test_written_report_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_every_sample_is_clean_and_fits),
        cmocka_unit_test(a_gpu_run_has_all_sections),
        cmocka_unit_test(allocators_that_kept_nothing_are_not_counted_as_left_out),
        cmocka_unit_test(names_and_sections_are_as_short_as_they_can_be),
        cmocka_unit_test(what_findings_rest_on_stands_in_the_sections),
        cmocka_unit_test(figures_stand_with_their_units_and_bands),
        cmocka_unit_test(parts_of_the_steps_stand_with_their_sum),
        cmocka_unit_test(the_slowest_steps_stand_first),
        cmocka_unit_test(the_top_stands_in_few_lines),
        cmocka_unit_test(what_is_null_says_why),
        cmocka_unit_test(scopes_are_indented_below_what_is_around_them),
        cmocka_unit_test(an_empty_summary_gives_a_report),
        cmocka_unit_test(kernels_past_the_table_are_counted),
        cmocka_unit_test(long_names_keep_both_ends),
        cmocka_unit_test(tables_give_way_to_their_names),
        cmocka_unit_test(names_that_attack_a_terminal_are_escaped),
        cmocka_unit_test(the_same_summary_gives_the_same_bytes),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(columns_share_the_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
