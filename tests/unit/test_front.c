/* SPDX-License-Identifier: Apache-2.0 */
/* The top of a report: titles, facts, the word on damaged input, the key figures with their limits and places. */
#include "reports/content/content.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sample_summary.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

struct summary {
    struct tm_run run;
    struct tm_doc *doc;
    const struct tm_value *root;
};

static void load(struct summary *s, const char *json)
{
    test_run_init(&s->run);
    s->doc = tm_doc_new(&s->run);
    assert_non_null(s->doc);
    test_summary_load(tm_doc_root(s->doc), json);
    s->root = tm_doc_root(s->doc);
}

static void end(struct summary *s)
{
    tm_doc_free(s->doc);
    assert_ledger_is_even(&s->run);
}

static const char *fact_of(const struct tm_front_page *front, const char *title)
{
    for (size_t i = 0; i < front->facts; i++)
        if (strcmp(front->fact[i].title, title) == 0)
            return front->fact[i].text;
    return "";
}

/* --- titles and facts --- */

static void the_title_is_the_run_or_what_the_user_gave(void **state)
{
    static const struct {
        const char *json, *title, *subtitle, *note;
    } rows[] = {
        { "{'input':{'run':'r1','hosts':['vm']},'devices':[{}]}", "r1", "1 host, 1 device", "" },
        { "{'input':{'run':'r1','hosts':['a','b']},'devices':[{},{},{}]}", "r1", "2 hosts, 3 devices", "" },
        { "{'input':{'run':'r1','hosts':['vm']},'devices':[{},{}],'report':{'title':'Before','note':'try 2'}}",
          "Before", "r1: 1 host, 2 devices", "try 2" },
        { "{'input':{'run':'r1','hosts':[]},'devices':[],'report':{'title':null,'note':null}}", "r1", "", "" },
        { "{'input':{'run':'r1','hosts':['vm']},'devices':[]}", "r1", "1 host, no device activity", "" },
        { "{}", "profile", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct summary s;
        struct tm_front_page front;

        load(&s, rows[i].json);
        tm_front_make(&front, s.root);
        assert_string_equal(front.title, rows[i].title);
        assert_string_equal(front.subtitle, rows[i].subtitle);
        assert_string_equal(front.note, rows[i].note);
        end(&s);
    }
}

static void a_run_of_one_host_is_told_in_facts(void **state)
{
    struct tm_front_page front;
    struct summary s;

    (void)state;
    test_run_init(&s.run);
    s.doc = tm_sample_summary(&s.run, TM_SAMPLE_GPU);
    assert_non_null(s.doc);
    tm_front_make(&front, tm_doc_root(s.doc));
    assert_string_equal(fact_of(&front, "Host"), "trainer-7");
    assert_string_equal(fact_of(&front, "Devices used"), "2 \xc3\x97 NVIDIA H100 80GB HBM3");
    assert_string_equal(fact_of(&front, "Versions"),
                        "JAX 0.8.1, jaxlib 0.8.1, CUDA 12.8, driver 570.86.10, CUDA runtime 12080");
    assert_string_equal(fact_of(&front, "Window"), "440 ms, analyzed steps, starting at 120 ms");
    assert_string_equal(fact_of(&front, "Steps"), "30 analyzed of 31, median 14.3 ms");
    assert_non_null(strstr(fact_of(&front, "File"), "trainer-7.xplane.pb"));
    assert_string_equal(fact_of(&front, "Profiled"), "2026-11-20 20:37:30 UTC");
    assert_int_equal(front.tone, TM_TONE_WARNING);
    assert_false(front.is_partial);
    end(&s);
}

static void many_hosts_are_counted_and_some_named(void **state)
{
    static const char json[] =
        "{'input':{'run':'r','hosts':['n0','n1','n2','n3','n4','n5'],'files':[{},{},{}]},'environment':{'devices':["
        "{'model':'H100','used':8,'count':8},{'model':null,'kind':'gpu','used':2,'count':4}],'hosts':[{'framework':"
        "'pytorch'}]},'window':{'mode':'session','hosts':[{'begin_ps':0,'span_ps':1000000000},{'begin_ps':0,'span_ps':"
        "9}]},'steps':null}";
    struct tm_front_page front;
    struct summary s;

    (void)state;
    load(&s, json);
    tm_front_make(&front, s.root);
    assert_string_equal(fact_of(&front, "Hosts"), "6: n0, n1, n2, n3 and 2 more");
    assert_string_equal(fact_of(&front, "Devices used"), "8 \xc3\x97 H100, 2 \xc3\x97 GPU (of 4)");
    assert_string_equal(fact_of(&front, "Versions"), "PyTorch (version not recorded)");
    assert_string_equal(fact_of(&front, "Window"), "1.00 ms, session, starting at 0 s (first of 2 windows)");
    assert_string_equal(fact_of(&front, "Steps"), "not recorded");
    assert_string_equal(fact_of(&front, "Files"), "3 (listed under data quality)");
    end(&s);
}

static void devices_that_did_nothing_are_counted_apart(void **state)
{
    struct tm_front_page front;
    struct summary s;

    (void)state;
    load(&s, "{'input':{'run':'r','hosts':['n0']},'environment':{'devices':[{'vendor':'AMD','kind':'gpu','model':null,"
             "'used':1,'count':1},{'vendor':'AMD','kind':'gpu','model':null,'used':0,'count':7}]},'steps':{'count':1,"
             "'chosen':1,'source':'session','median_ps':5}}");
    tm_front_make(&front, s.root);
    assert_string_equal(fact_of(&front, "Devices used"), "1 \xc3\x97 AMD GPU; 7 unused");
    assert_string_equal(fact_of(&front, "Steps"), "none marked");
    end(&s);
}

static void what_has_time_at_stake_is_done_first(void **state)
{
    static const struct {
        const char *json;
        size_t most, count, first, last;
    } rows[] = {
        { "{'findings':[{'at_stake_ps':9},{'at_stake_ps':null},{'at_stake_ps':0},{'at_stake_ps':3}]}", 3, 2, 0, 3 },
        { "{'findings':[{'at_stake_ps':9},{'at_stake_ps':8},{'at_stake_ps':7}]}", 2, 2, 0, 1 },
        { "{'findings':[{'at_stake_ps':null},{},{'at_stake_ps':0}]}", 2, 2, 0, 1 }, /* facts alone */
        { "{'findings':[]}", 3, 0, 0, 0 },
        { "{}", 3, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t pick[3] = { 0 };
        struct summary s;

        load(&s, rows[i].json);
        assert_int_equal(tm_front_findings(s.root, rows[i].most, pick), rows[i].count);
        if (rows[i].count > 0) {
            assert_int_equal(pick[0], rows[i].first);
            assert_int_equal(pick[rows[i].count - 1], rows[i].last);
        }
        end(&s);
    }
}

static void what_was_not_recorded_is_said_so(void **state)
{
    struct tm_front_page front;
    struct summary s;

    (void)state;
    test_run_init(&s.run);
    s.doc = tm_sample_summary(&s.run, TM_SAMPLE_EMPTY);
    assert_non_null(s.doc);
    tm_front_make(&front, tm_doc_root(s.doc));
    assert_int_equal(front.facts, 1); /* a run without hosts has nothing but its files */
    assert_string_equal(fact_of(&front, "Files"), "0 (listed under data quality)");
    assert_int_equal(front.tone, TM_TONE_CRITICAL);
    end(&s);
}

static void damaged_input_is_said_at_the_top(void **state)
{
    struct tm_front_page front;
    struct summary s;

    (void)state;
    load(&s, "{'input':{'partial':true,'files':[{'partial':true},{'partial':false},{'partial':true}]}}");
    tm_front_make(&front, s.root);
    assert_true(front.is_partial);
    assert_string_equal(front.partial,
                        "The input is damaged or truncated. The figures cover what could be read; partial "
                        "files: 2 of 3.");
    end(&s);
}

static void names_of_any_length_and_bytes_fit(void **state)
{
    struct tm_front_page front;
    struct summary s;

    (void)state;
    test_run_init(&s.run);
    s.doc = tm_sample_summary(&s.run, TM_SAMPLE_HOSTILE);
    assert_non_null(s.doc);
    tm_front_make(&front, tm_doc_root(s.doc));
    assert_true(front.is_partial);
    assert_true(strlen(front.title) < TM_FRONT_TITLE_BYTES);
    for (size_t i = 0; i < front.facts; i++)
        assert_true(strlen(front.fact[i].text) < TM_FRONT_BYTES);
    end(&s);
}

/* --- key figures --- */

#define KPI(members) "{'kpis':[{'id':'x','title':'X'," members "}]}"

static void figures_lie_on_a_scale_of_three_parts(void **state)
{
    static const struct {
        const char *json;
        double place;
    } rows[] = {
        /* more is better: bad under 40, good over 80 */
        { KPI("'value':40,'unit':'%','good':80,'bad':40"), 1.0 / 3 },
        { KPI("'value':60,'unit':'%','good':80,'bad':40"), 1.0 / 2 },
        { KPI("'value':80,'unit':'%','good':80,'bad':40"), 2.0 / 3 },
        { KPI("'value':100,'unit':'%','good':80,'bad':40"), 2.0 / 3 + 1.0 / 6 },
        { KPI("'value':120,'unit':'%','good':80,'bad':40"), 1 },
        { KPI("'value':1e300,'unit':'%','good':80,'bad':40"), 1 },
        { KPI("'value':0,'unit':'%','good':80,'bad':40"), 0 },
        { KPI("'value':-1e300,'unit':'%','good':80,'bad':40"), 0 },
        /* less is better: good under 10, bad over 20 */
        { KPI("'value':10,'unit':'%','good':10,'bad':20"), 2.0 / 3 },
        { KPI("'value':15,'unit':'%','good':10,'bad':20"), 1.0 / 2 },
        { KPI("'value':20,'unit':'%','good':10,'bad':20"), 1.0 / 3 },
        { KPI("'value':25,'unit':'%','good':10,'bad':20"), 1.0 / 6 },
        { KPI("'value':99,'unit':'%','good':10,'bad':20"), 0 },
        { KPI("'value':0,'unit':'%','good':10,'bad':20"), 1 },
        /* no scale */
        { KPI("'value':1,'unit':'count','good':0,'bad':0"), -1 },
        { KPI("'value':1,'unit':'ms','good':null,'bad':null"), -1 },
        { KPI("'value':null,'unit':'%','good':80,'bad':40"), -1 },
        { KPI("'unit':'%'"), -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_key_figure kpi;
        struct summary s;

        load(&s, rows[i].json);
        assert_int_equal(tm_kpi_count(s.root), tm_has(tm_path(s.root, "kpis[0].value"))); /* none has a value: none */
        tm_kpi_at(&kpi, s.root, 0);
        if (kpi.place < rows[i].place - 1e-9 || kpi.place > rows[i].place + 1e-9)
            fail_msg("%s: place %f, not %f", rows[i].json, kpi.place, rows[i].place);
        end(&s);
    }
}

static void limits_say_on_which_side_they_are(void **state)
{
    static const struct {
        const char *json, *value, *good, *bad;
    } rows[] = {
        { KPI("'value':75,'unit':'%','good':80,'bad':50"), "75.0%", "> 80%", "< 50%" },
        { KPI("'value':0.4,'unit':'ms','good':1,'bad':0.1"), "400 \xc2\xb5s", "> 1 ms", "< 0.1 ms" },
        { KPI("'value':18,'unit':'%','good':10,'bad':20"), "18.0%", "< 10%", "> 20%" },
        { KPI("'value':1,'unit':'count','good':0,'bad':0"), "1", "0", "> 0" },
        { KPI("'value':14,'unit':'ms','good':null,'bad':null"), "14.0 ms", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_key_figure kpi;
        struct summary s;

        load(&s, rows[i].json);
        tm_kpi_at(&kpi, s.root, 0);
        assert_string_equal(kpi.title, "X");
        assert_true(kpi.has_value);
        assert_string_equal(kpi.value, rows[i].value);
        assert_string_equal(kpi.good, rows[i].good);
        assert_string_equal(kpi.bad, rows[i].bad);
        end(&s);
    }
}

/* Outside its band with its savings elsewhere it names the finding; where it costs nothing it has no band to color. */
static void a_figure_that_costs_nothing_is_neutral(void **state)
{
    static const char *const order[] = { "model_flop_utilization", "step_time", "a", "b", "c" };
    struct tm_key_figure kpi;
    struct summary s;

    (void)state;
    load(&s,
         "{'findings':[{'id':'idle_input'},{'id':'op_short'}],'kpis':[{'id':'a','value':5,'unit':'%','good':9,'bad':7,"
         "'band':'bad','finding':'op_short','why':null},{'id':'b','value':5,'unit':'%','good':9,'bad':7,'band':'bad',"
         "'finding':null,'why':'compute-bound'},{'id':'step_time','value':1,'unit':'ms','band':'unknown'},{'id':'c',"
         "'value':8,'unit':'%','good':9,'bad':7,'band':'good','finding':null,'why':null},{'id':"
         "'model_flop_utilization','value':40,'unit':'%','band':'unknown'}]}");
    assert_int_equal(tm_kpi_count(s.root), 5);
    for (size_t i = 0; i < 5; i++) {
        tm_kpi_at(&kpi, s.root, i);
        assert_string_equal(kpi.id, order[i]);
    }
    tm_kpi_at(&kpi, s.root, 2);
    assert_int_equal(kpi.finding, 2);
    assert_string_equal(kpi.band, "critical");
    tm_kpi_at(&kpi, s.root, 3);
    assert_int_equal(kpi.finding, 0);
    assert_string_equal(kpi.band, "");
    assert_string_equal(kpi.why, "compute-bound");
    tm_kpi_at(&kpi, s.root, 4);
    assert_string_equal(kpi.band, "good");
    end(&s);
}

static void a_figure_without_a_value_says_why(void **state)
{
    struct tm_key_figure kpi;
    struct summary s;

    (void)state;
    load(&s, "{'kpis':[{'id':'a','value':null,'why':'no bytes'},{'id':'b','title':'B','value':3,'unit':'count','why':"
             "'no judgement'},{'id':'c','applies':false,'value':1},{'id':'d','applies':true,'value':null}]}");
    assert_int_equal(tm_kpi_count(s.root), 3);
    tm_kpi_at(&kpi, s.root, 0);
    assert_string_equal(kpi.title, "a"); /* for want of a title */
    assert_false(kpi.has_value);
    assert_string_equal(kpi.value, "");
    assert_string_equal(kpi.why, "no bytes");
    tm_kpi_at(&kpi, s.root, 1);
    assert_true(kpi.has_value);
    assert_string_equal(kpi.why, "no judgement");
    tm_kpi_at(&kpi, s.root, 2);
    assert_string_equal(kpi.id, "d"); /* the one between them has no meaning on this platform */
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_title_is_the_run_or_what_the_user_gave),
        cmocka_unit_test(a_run_of_one_host_is_told_in_facts),
        cmocka_unit_test(many_hosts_are_counted_and_some_named),
        cmocka_unit_test(devices_that_did_nothing_are_counted_apart),
        cmocka_unit_test(what_has_time_at_stake_is_done_first),
        cmocka_unit_test(what_was_not_recorded_is_said_so),
        cmocka_unit_test(damaged_input_is_said_at_the_top),
        cmocka_unit_test(names_of_any_length_and_bytes_fit),
        cmocka_unit_test(figures_lie_on_a_scale_of_three_parts),
        cmocka_unit_test(limits_say_on_which_side_they_are),
        cmocka_unit_test(a_figure_that_costs_nothing_is_neutral),
        cmocka_unit_test(a_figure_without_a_value_says_why),
    };

    return cmocka_run_group_tests_name("front", tests, NULL, NULL);
}
