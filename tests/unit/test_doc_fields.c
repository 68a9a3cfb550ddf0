/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of fields are whole, and fields are found by the paths by which values are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/doc/doc_fields.h"
#include "pipeline/doc/run_figures.h"
#include "reports/findings/thresholds.h"

static void fields_are_found_by_path(void **state)
{
    static const struct {
        const char *path;
        enum tm_doc_kind kind;
    } cases[] = {
        { "steps.median_ps", TM_DOC_TIME },
        { "steps.samples_ps", TM_DOC_TIME },
        { "steps.samples_ps[3]", TM_DOC_TIME },
        { "devices[0].busy_ps", TM_DOC_TIME },
        { "devices[vm/gpu:0].gaps.longest[*].begin_ps", TM_DOC_MOMENT },
        { "gaps.by_cause", TM_DOC_OBJECT },
        { "gaps.by_cause.host", TM_DOC_OBJECT },
        { "gaps.by_cause.host.share_pct", TM_DOC_SHARE },
        { "gaps.longest[0].parts.gc", TM_DOC_TIME },
        { "coverage.tallies.negative-duration.help", TM_DOC_PROSE },
        { "coverage.classes.kernel", TM_DOC_COUNT },
        { "memory.allocators[0].timeline[5][1]", TM_DOC_POINT },
        { "kpis[device_utilization].value", TM_DOC_NUMBER },
    };
    static const char *const wrong[] = {
        "",  "nothing",        "steps.median", "steps.median_ps.more",   "devices[0", "gaps.by_cause.host.nothing",
        "[", "steps.median_p", "[0]",          "coverage.classes.a.b.c",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_doc_field *field = tm_doc_field_at(tm_summary_schema.fields, cases[i].path);

        assert_non_null(field);
        assert_int_equal(tm_doc_kind_of(field), cases[i].kind);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(tm_doc_field_at(tm_summary_schema.fields, wrong[i]));
    assert_null(tm_doc_field_by_key(NULL, "steps", 5));
}

static void units_follow_from_kinds(void **state)
{
    (void)state;
    assert_string_equal(tm_doc_unit(TM_DOC_TIME), "ps");
    assert_string_equal(tm_doc_unit(TM_DOC_SHARE), "%");
    assert_string_equal(tm_doc_unit(TM_DOC_COUNT), "");
    assert_string_equal(tm_doc_unit(TM_DOC_NAME), "");
    for (int kind = TM_DOC_WORD; kind <= TM_DOC_VALUE; kind++)
        assert_true(tm_doc_is_text((enum tm_doc_kind)kind) && !*tm_doc_unit((enum tm_doc_kind)kind));
    assert_false(tm_doc_is_text(TM_DOC_BOOL) || tm_doc_is_text(TM_DOC_TIME));
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), of_end = strlen(end);

    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Keys tell units, as all names of this project do. */
static void check_unit(const struct tm_doc_field *field)
{
    static const char *const ends[][2] = { { "_ps", "ps" }, { "_ns", "ns" }, { "_us", "us" }, { "_pct", "%" } };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ends_with(field->key, ends[i][0]) && !field->fields && strcmp(field->key, "rows_for_80_pct") != 0)
            assert_string_equal(tm_doc_unit(tm_doc_kind_of(field)), ends[i][1]);
    }
}

static void check_fields(const struct tm_doc_field *fields)
{
    for (const struct tm_doc_field *field = fields; field->key; field++) {
        const enum tm_doc_kind kind = tm_doc_kind_of(field);

        assert_ptr_equal(tm_doc_field_by_key(fields, field->key, strlen(field->key)), field); /* no key twice */
        assert_true(field->title || field->help);
        assert_true(!field->help || field->help[strlen(field->help) - 1] == '.');
        assert_true(kind > TM_DOC_NONE && kind < TM_DOC_KIND_COUNT);
        assert_true((kind == TM_DOC_OBJECT) == (field->fields != NULL));
        assert_false((field->shape & TM_DOC_LIST) && (field->shape & TM_DOC_MAP));
        assert_true((field->shape & (TM_DOC_LIST | TM_DOC_MAP)) || !(field->shape & TM_DOC_OF_NULLS));
        assert_true(!(field->shape & TM_DOC_OWN) || tm_doc_is_text(kind));
        check_unit(field);
        if (field->fields)
            check_fields(field->fields);
    }
}

static void tables_are_whole(void **state)
{
    const struct tm_doc_schema *const schemas[] = { &tm_summary_schema,  &tm_comparison_schema, &tm_scaling_schema,
                                                    &tm_check_schema,    &tm_night_schema,      &tm_brief_schema,
                                                    tm_history_schema(), &tm_split_schema,      &tm_result_schema };

    (void)state;
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
        check_fields(schemas[i]->fields);
}

/* Figures of a run are in its summary, in the same unit, and those that are divided by steps are sums over them. */
static void figures_of_a_run_are_fields(void **state)
{
    const struct tm_run_figure *figure;

    (void)state;
    for (size_t i = 0; (figure = tm_run_figure(i)); i++) {
        const struct tm_doc_field *field = tm_doc_field_at(tm_summary_schema.fields, figure->path);

        if (!field)
            fail_msg("%s is no field", figure->path);
        if (strncmp(figure->path, "kpis[", 5) != 0)
            assert_string_equal(tm_doc_unit(tm_doc_kind_of(field)), tm_doc_unit(figure->kind));
        assert_true(!figure->is_per_step || tm_doc_is_sum(tm_summary_schema.fields, figure->path));
    }
}

/* Each key figure is one of them, and both know which way is better. */
static void key_figures_are_figures_of_a_run(void **state)
{
    static struct tm_thresholds thresholds;
    struct tm_error error = { .status = TM_OK };

    (void)state;
    assert_int_equal(tm_thresholds_init(&thresholds, &error), TM_OK);
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_run_figure *figure = tm_run_figure_of_kpi(tm_kpi_id[i]);

        assert_non_null(figure);
        assert_int_equal(figure->better == TM_BETTER_HIGHER, thresholds.kpi[i].higher_is_better);
        assert_int_equal(figure->kind == TM_DOC_PERCENT, strcmp(thresholds.kpi[i].unit, "%") == 0);
    }
}

/* A comparison shows figures in the order of different numbers. */
static void places_differ(void **state)
{
    const struct tm_run_figure *figure, *other;

    (void)state;
    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        for (size_t k = 0; k < i && (other = tm_run_figure(k)); k++) {
            assert_string_not_equal(figure->path, other->path);
            if (figure->place)
                assert_int_not_equal(figure->place, other->place);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_found_by_path),
        cmocka_unit_test(units_follow_from_kinds),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(figures_of_a_run_are_fields),
        cmocka_unit_test(key_figures_are_figures_of_a_run),
        cmocka_unit_test(places_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
