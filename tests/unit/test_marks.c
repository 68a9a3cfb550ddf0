/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/findings.h"

#include "tests/support/test_run.h"

#include <stdio.h>

#include "reports/format/format.h"
#include "tests/support/summary_json.h"

struct marked {
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_value *root;
};

static void mark(struct marked *m, const char *patch)
{
    struct tm_thresholds t;

    test_run_init(&m->run);
    m->doc = tm_doc_new(&m->run);
    assert_non_null(m->doc);
    m->root = tm_doc_root(m->doc);
    test_summary_load_changed(m->root, test_healthy_summary, patch);
    assert_int_equal(tm_thresholds_init(&t, &m->run.error), TM_OK);
    assert_int_equal(tm_marks_add(&m->run, m->root), TM_OK);
    assert_int_equal(tm_kpis_add(&m->run, m->root, &t), TM_OK);
}

static void finish(struct marked *m)
{
    tm_doc_free(m->doc);
    assert_ledger_is_even(&m->run);
}

static bool holds(const struct tm_value *list, const char *text)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_at(list, i)), text) == 0)
            return true;
    return false;
}

#define LOSS(name, level) "{'coverage':{'tallies':{'" name "':{'count':7,'level':'" level "','help':'x'}}}}"

static void each_loss_marks_what_it_touches(void **state)
{
    static const struct {
        const char *patch, *id;            /* NULL: no mark at all */
        const char *text;                  /* a part of it */
        const char *section, *kpi;         /* touched */
        const char *not_section, *not_kpi; /* not touched; NULL = everything is */
    } rows[] = {
        { "{}", NULL, NULL, NULL, NULL, NULL, NULL },
        { LOSS("derived", "note"), NULL, NULL, NULL, NULL, NULL, NULL },
        { "{'input':{'partial':true,'files':[{'path':'a','partial':true,'problems':['cut']}]}}", "damaged", "damaged",
          "compile", "compile_time", NULL, NULL },
        { LOSS("event-cap", "loss"), "event_cap", "exactly", "steps", "step_time", NULL, NULL },
        { "{'environment':{'hosts':[{'host':'vm','framework':'jax','device_events':2097152}]}}", "device_event_cap",
          "vm has exactly 2,097,152", "gaps", "device_utilization", "compile", "compile_time" },
        { "{'coverage':{'warnings':['x','12 GPU events dropped','y']}}", "events_dropped", "'12 GPU events dropped'",
          "kernels", "small_kernel_share", "memory", "peak_memory" },
        { "{'coverage':{'warnings':['clock drift','and more']}}", "profiler_warning", "'clock drift' (and 1 more)",
          "host", "host_overhead", "compile", "peak_memory" },
        { "{'devices':[{'id':'a','reliability':'graph'},{'id':'b','reliability':'full'}]}", "graphs_collapsed",
          "on 1 device ", "gaps", "device_utilization", "host", "step_time" },
        { LOSS("negative-duration", "loss"), "events_lost", "7 (negative-duration)", "kernels", "kernel_duration", NULL,
          NULL },
        { "{'input':{'files':[{'path':'a','kind':'chrome_json','notes':['lacks']}]}}", "lossy_copy", "JSON",
          "occupancy", "occupancy", "gaps", "device_utilization" },
        { LOSS("deep-nesting", "note"), "deep_nesting", "7 events", "gaps", "host_overhead", "kernels", "occupancy" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_value *found;
        struct marked m;

        mark(&m, rows[i].patch);
        found = NULL;
        for (size_t k = 0; k < tm_length(tm_path(m.root, "coverage.marks")); k++) {
            const struct tm_value *one = tm_at(tm_path(m.root, "coverage.marks"), k);

            if (rows[i].id && !strcmp(tm_text(tm_get(one, "id")), rows[i].id))
                found = one;
            else if (!rows[i].id)
                fail_msg("%s is marked", rows[i].patch);
        }
        if (rows[i].id && (!found || !strstr(tm_text(tm_get(found, "text")), rows[i].text)))
            fail_msg("%s: '%s' is '%s'", rows[i].patch, rows[i].id, tm_text(tm_get(found, "text")));
        if (found && (!holds(tm_get(found, "sections"), rows[i].section) || !holds(tm_get(found, "kpis"), rows[i].kpi)))
            fail_msg("%s: does not touch %s, %s", rows[i].id, rows[i].section, rows[i].kpi);
        if (rows[i].not_kpi &&
            (holds(tm_get(found, "sections"), rows[i].not_section) || holds(tm_get(found, "kpis"), rows[i].not_kpi)))
            fail_msg("%s: touches %s, %s", rows[i].id, rows[i].not_section, rows[i].not_kpi);
        finish(&m);
    }
}

/* A file that its writer's cap ended is no damaged one; one with more problems is. */
static void a_cap_alone_is_no_damage(void **state)
{
    static const char *const problems[] = { "'exactly'", "'exactly','byte 17'" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char patch[512];
        struct marked m;

        (void)snprintf(patch, sizeof(patch),
                       "{'input':{'partial':true,'files':[{'path':'a','partial':true,'problems':[%s]}]},"
                       "'coverage':{'tallies':{'event-cap':{'count':1,'level':'loss','help':'x'}}}}",
                       problems[i]);
        mark(&m, patch);
        assert_int_equal(tm_length(tm_path(m.root, "coverage.marks")), i + 1);
        finish(&m);
    }
}

static void figures_and_sections_get_letters(void **state)
{
    char sign[TM_SIGN_BYTES];
    struct marked m;

    (void)state;
    mark(&m, "{'coverage':{'warnings':['clock drift'],'tallies':{'bad-field':{'count':7,'level':'loss','help':'x'}}}}");
    assert_string_equal(tm_sign_of_section(sign, m.root, "gaps"), " [ab]");
    assert_string_equal(tm_sign_of_section(sign, m.root, "compile"), " [b]");
    assert_string_equal(tm_sign_of_section(sign, m.root, "findings"), "");
    assert_string_equal(tm_sign_of_kpi(sign, m.root, tm_path(m.root, "kpis[device_utilization]")), " [ab]");
    assert_string_equal(tm_sign_of_kpi(sign, m.root, tm_path(m.root, "kpis[peak_memory]")), " [b]");
    for (size_t i = 0; i < tm_length(tm_get(m.root, "kpis")); i++) {
        const struct tm_value *kpi = tm_at(tm_get(m.root, "kpis"), i);

        if (!tm_has(tm_get(kpi, "value"))) /* nothing is marked where nothing is shown */
            assert_int_equal(tm_length(tm_get(kpi, "marks")), 0);
    }
    finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_loss_marks_what_it_touches),
        cmocka_unit_test(a_cap_alone_is_no_damage),
        cmocka_unit_test(figures_and_sections_get_letters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
