/* SPDX-License-Identifier: Apache-2.0 */
/* Every chart, on paper of any width, on the samples and on what a damaged or huge summary may hold: all marks are
 * inside of the drawing, and no text covers another one. */
#include <math.h>

#include "reports/chart/chart.h"
#include "tests/support/made_scaling.h"
#include "tests/support/sample_summary.h"
#include "tests/support/schema_sample.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

/* --- the checker --- */

struct box {
    double left, right, top, bottom;
};

/* Of a text as a page sets it; the widths of the model have a fifth more. */
static struct box box_of(const struct tm_chart *chart, const struct tm_mark *mark)
{
    const double size = tm_text_points[mark->size];
    const double width = tm_chart_text_width(tm_chart_text(chart, mark->text), (enum tm_text_size)mark->size) / 1.2;
    const double shift = mark->anchor == TM_ANCHOR_START ? 0 : mark->anchor == TM_ANCHOR_END ? width : width / 2;

    return (struct box){ mark->x - shift, mark->x - shift + width, mark->y - 0.72 * size, mark->y + 0.2 * size };
}

static bool touches(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_inside(const struct tm_chart *chart, const struct box *box)
{
    const double slack = 0.5;

    return box->left >= -slack && box->right <= chart->width + slack && box->top >= -slack &&
           box->bottom <= chart->height + slack;
}

static void check_text(const struct tm_chart *chart, size_t at, const char *what)
{
    const struct box box = box_of(chart, &chart->mark[at]);
    const char *text = tm_chart_text(chart, chart->mark[at].text);

    if (!is_inside(chart, &box))
        fail_msg("%s, %s, %.0f wide: '%s' leaves the drawing: %.1f to %.1f, %.1f to %.1f of %.1f", what, chart->title,
                 chart->width, text, box.left, box.right, box.top, box.bottom, chart->height);
    for (size_t i = 0; i < at; i++) {
        const struct tm_mark *other = &chart->mark[i];
        struct box its;

        if (other->kind != TM_MARK_TEXT)
            continue;
        its = box_of(chart, other);
        if (touches(&box, &its))
            fail_msg("%s, %s, %.0f wide: '%s' covers '%s'", what, chart->title, chart->width, text,
                     tm_chart_text(chart, other->text));
    }
}

static void check_shape(const struct tm_chart *chart, const struct tm_mark *mark, const char *what)
{
    struct box box = { mark->x, mark->x + mark->width, mark->y, mark->y + mark->height };

    if (mark->kind == TM_MARK_DOT)
        box = (struct box){ mark->x, mark->x, mark->y, mark->y };
    if (!isfinite(mark->x) || !isfinite(mark->y) || !isfinite(mark->width) || !isfinite(mark->height))
        fail_msg("%s, %s: a mark without a place", what, chart->title);
    if (mark->kind == TM_MARK_RECT && (mark->width < 0 || mark->height < 0))
        fail_msg("%s, %s: a box of %.2f x %.2f", what, chart->title, mark->width, mark->height);
    if (!is_inside(chart, &box))
        fail_msg("%s, %s, %.0f wide: a mark of kind %d leaves the drawing: %.1f to %.1f, %.1f to %.1f of %.1f", what,
                 chart->title, chart->width, mark->kind, box.left, box.right, box.top, box.bottom, chart->height);
}

static void check_chart(const struct tm_chart *chart, const char *what)
{
    enum { POINTS_OUT = 5 /* a stroke across a bar at the border */ };

    assert_true(chart->title[0] && chart->caption[0] && strlen(chart->caption) + 1 < sizeof(chart->caption));
    if (!(chart->marks > 0 && chart->height > 0 && tm_chart_rows(chart) > 0))
        fail_msg("%s, %s: empty", what, chart->title);
    for (size_t i = 0; i < chart->marks; i++) {
        if (chart->mark[i].kind == TM_MARK_TEXT)
            check_text(chart, i, what);
        else if (chart->mark[i].kind <= TM_MARK_DOT)
            check_shape(chart, &chart->mark[i], what);
    }
    for (size_t i = 0; i < chart->points; i++) {
        const struct tm_point *p = &chart->point[i];

        if (!(p->x >= -POINTS_OUT && p->x <= chart->width + POINTS_OUT && p->y >= -POINTS_OUT &&
              p->y <= chart->height + POINTS_OUT))
            fail_msg("%s, %s: a point leaves the drawing: %.1f, %.1f", what, chart->title, p->x, p->y);
    }
}

/* Every part of a bar that is seen has a swatch. */
static void check_legend(const struct tm_chart *chart, const char *what)
{
    static const double swatch = 8, seen = 1.5;

    for (size_t i = 0; i < chart->marks; i++) {
        const struct tm_mark *part = &chart->mark[i];
        bool has_swatch = part->kind != TM_MARK_RECT || part->width < seen || part->height < seen;

        for (size_t k = 0; k < chart->marks && !has_swatch; k++) {
            const struct tm_mark *mark = &chart->mark[k];

            has_swatch = mark->kind == TM_MARK_RECT && mark->role == part->role && mark->width == swatch &&
                         mark->height == swatch;
        }
        if (!has_swatch)
            fail_msg("%s, %s, %.0f wide: no swatch of the role %d", what, chart->title, chart->width, part->role);
    }
}

/* Steps below columns: as many between any two labels. */
static void check_step_labels(const struct tm_chart *chart, const char *what)
{
    double last = -1, distance = -1;

    for (size_t i = 0; i < chart->marks && chart->columns > 0; i++) {
        const struct tm_mark *mark = &chart->mark[i];

        if (mark->kind != TM_MARK_TEXT || mark->anchor != TM_ANCHOR_MIDDLE || mark->y < chart->height - 10)
            continue;
        if (last > chart->columns_left + 20) { /* the outer ones may be moved inwards */
            if (distance > 0 && mark->x < chart->width - 20 && fabs(mark->x - last - distance) > 0.5)
                fail_msg("%s, %s, %.0f wide: labels are %.1f and %.1f apart", what, chart->title, chart->width,
                         distance, mark->x - last);
            distance = mark->x - last;
        }
        last = mark->x;
    }
}

static void check_all(struct tm_run *run, const struct tm_value *summary, const char *what)
{
    static const double widths[] = { 300, 480, 523, 760 };

    for (size_t w = 0; w < 2 * sizeof(widths) / sizeof(widths[0]); w++) {
        struct tm_chart chart;

        tm_chart_init(&chart, run, widths[w / 2]);
        chart.is_short = w % 2;
        for (int kind = 0; kind < TM_CHART_KINDS; kind++)
            for (size_t i = 0; i < tm_charts_count((enum tm_chart_kind)kind, summary); i++) {
                tm_charts_draw(&chart, (enum tm_chart_kind)kind, i, summary);
                assert_false(chart.failed);
                check_chart(&chart, what);
                if (kind == TM_CHART_STEPS || kind == TM_CHART_DEVICES)
                    check_legend(&chart, what);
                if (kind == TM_CHART_STEPS)
                    check_step_labels(&chart, what);
            }
        tm_chart_free(&chart);
    }
}

/* Operations under a roof: the samples have none. */
static const char operations[] =
    "{'roofline':{'devices':[{'device':'a/gpu:0','peak_flops':989400000000000,'peak_bandwidth':3350000000000,"
    "'peak_precision':'f32, without matrix units'}]},'ops':{'rows':["
    "{'name':'dot_general.1','intensity':410.5,'flop_rate':6.1e14,'self_ps':90000000000,'self_share_pct':40.1,"
    "'roof_pct':61.2},{'name':'dot_general.2','intensity':400.5,'flop_rate':6.0e14,'self_ps':50000000000,"
    "'self_share_pct':22.0,'roof_pct':60.1},{'name':'fusion.77','intensity':0.12,'flop_rate':2.1e11,'self_ps':"
    "30000000000,'self_share_pct':13.5,'roof_pct':55.0},{'name':'reduce.3','intensity':0.5,'flop_rate':9e11,"
    "'self_ps':20000000000,'self_share_pct':9.0,'roof_pct':51.0},{'name':'loop_add_fusion','intensity':1.1,"
    "'flop_rate':3e9,'self_ps':1000000000,'self_share_pct':0.4,'roof_pct':0.1}]}}";

/* --- summaries that are worse than the samples --- */

struct twist {
    const char *what;
    const char *name; /* stands in the place of names; "" = as they are */
    size_t rows;      /* rows of what charts are drawn from are repeated until there are so many */
    int64_t number;   /* stands in the place of numbers, below 0: as they are */
    double real;
    uint64_t seed; /* else numbers of any size */
};

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; key && i < count; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool is_name(const char *key)
{
    static const char *const keys[] = { "name", "path", "id", "device", "host", "model", "op", "direction", "kind" };

    return is_one_of(key, keys, sizeof(keys) / sizeof(keys[0]));
}

/* What charts are drawn from. */
static bool is_drawn_from(const char *key)
{
    static const char *const keys[] = { "devices", "list", "rows", "members", "busy", "by_direction", "histogram" };

    return is_one_of(key, keys, sizeof(keys) / sizeof(keys[0]));
}

static int64_t any_number(struct twist *t, int64_t number)
{
    if (t->seed)
        return (int64_t)(next_number(&t->seed) >> (1 + next_number(&t->seed) % 62));
    return t->number < 0 ? number : t->number;
}

static void copy_twisted(struct tm_value *to, const char *key, const struct tm_value *from, struct twist *t);

static void copy_members(struct tm_value *to, const char *key, const struct tm_value *from, struct twist *t)
{
    const bool is_array = tm_type_of(from) == TM_ARRAY;
    const size_t length = tm_length(from);
    const bool is_table = is_array && length > 1 && is_drawn_from(key);
    const size_t rows = t->rows, count = is_table && length < rows ? rows : length;

    if (is_table)
        t->rows = 0; /* not those inside of its rows */
    for (size_t i = 0; i < count; i++)
        copy_twisted(to, is_array ? NULL : tm_key_at(from, i),
                     is_array ? tm_at(from, i % length) : tm_value_at(from, i), t);
    t->rows = rows;
}

static void copy_twisted(struct tm_value *to, const char *key, const struct tm_value *from, struct twist *t)
{
    switch (tm_type_of(from)) {
    case TM_OBJECT:
        copy_members(tm_add_object(to, key), key, from, t);
        break;
    case TM_ARRAY:
        copy_members(tm_add_array(to, key), key, from, t);
        break;
    case TM_STRING:
        tm_add_string(to, key, t->name[0] && is_name(key) ? t->name : tm_text(from));
        break;
    case TM_INT:
        tm_add_int(to, key, any_number(t, tm_int(from)));
        break;
    case TM_DOUBLE:
        tm_add_double(to, key, t->number >= 0 || t->seed ? t->real : tm_double(from));
        break;
    case TM_BOOL:
        tm_add_bool(to, key, tm_is(from));
        break;
    case TM_NULL:
        tm_add_null(to, key, tm_why(from));
        break;
    }
}

static void check_twisted(enum tm_sample_profile which, struct twist twist)
{
    struct tm_run run;
    struct tm_doc *sample, *doc;

    test_run_init(&run);
    tm_budget_init(&run.budget, (size_t)256 * TM_MIB);
    sample = tm_sample_summary(&run, which);
    doc = tm_doc_new(&run);
    assert_true(sample && doc);
    test_summary_load(tm_doc_root(sample), operations);
    copy_members(tm_doc_root(doc), NULL, tm_doc_root(sample), &twist);
    assert_int_equal(tm_doc_status(doc), TM_OK);
    check_all(&run, tm_doc_root(doc), twist.what);
    tm_doc_free(doc);
    tm_doc_free(sample);
    assert_ledger_is_even(&run);
}

/* A scaling study: made by hand, and the sample of its schema with devices that grow. */
static void check_twisted_study(struct twist twist, size_t points)
{
    static const struct made_point made[] = {
        { MADE(1, 720, 0, 40, 40) },
        { MADE(2, 360, 20, 20, 20) },
        { MADE(4, 180, 25, 10, 15) },
        { MADE(8, 90, 30, 5, 15) },
        { 0 },
    };
    struct made_study study;
    struct tm_value *list;
    struct tm_doc *doc;

    made_study_begin(&study, made);
    doc = tm_doc_new(&study.run);
    assert_non_null(doc);
    copy_members(tm_doc_root(doc), NULL, made_study_fill(&study), &twist);
    list = tm_member(tm_doc_root(doc), "points");
    for (size_t i = 0; i < points; i++) { /* as they have to be */
        if (i >= study.points)
            copy_twisted(list, NULL, tm_at(tm_path(tm_doc_root(study.doc), "points"), i % study.points), &twist);
        tm_add_int(tm_element(list, i), "devices", (int64_t)(i + 1) * (int64_t)(i + 1));
    }
    check_all(&study.run, tm_doc_root(doc), twist.what);
    tm_doc_free(doc);
    made_study_end(&study);
}

static void scaling_studies_have_room(void **state)
{
    static const int64_t numbers[] = { 0, 1, INT64_MAX };
    static const double reals[] = { 0, 1, -5, 1e-300, 1e308, -1e308 };

    (void)state;
    check_twisted_study((struct twist){ .what = "a study", .name = "", .number = -1 }, 4);
    check_twisted_study((struct twist){ .what = "two points", .name = "", .number = -1 }, 2);
    check_twisted_study((struct twist){ .what = "16 points", .name = "", .number = -1 }, 16);
    check_twisted_study((struct twist){ .what = "64 points", .name = "", .number = -1 }, 64);
    for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
        for (size_t r = 0; r < sizeof(reals) / sizeof(reals[0]); r++)
            check_twisted_study(
                (struct twist){ .what = "equal numbers", .name = "", .number = numbers[n], .real = reals[r] }, 8);
    for (uint64_t seed = 1; seed <= 20; seed++)
        check_twisted_study((struct twist){ .what = "any numbers", .name = "", .number = -1, .real = 50, .seed = seed },
                            6);
}

/* A night: the sample of its schema, with points that grow, and a job with a step time. */
static void check_twisted_night(struct twist twist, size_t points)
{
    struct tm_run run;
    struct tm_doc *sample, *doc;
    struct tm_value *list;

    test_run_init(&run);
    sample = tm_doc_new(&run);
    doc = tm_doc_new(&run);
    assert_true(sample && doc);
    test_schema_sample_of(tm_doc_root(sample), "night", "gpu", TEST_NOTHING_IS_NULL);
    copy_members(tm_doc_root(doc), NULL, tm_doc_root(sample), &twist);
    list = tm_member(tm_element(tm_member(tm_doc_root(doc), "trends"), 0), "points");
    for (size_t i = 0; i < points; i++) {
        struct tm_value *point = i < tm_length(list) ? tm_element(list, i) : tm_add_object(list, NULL);

        tm_add_int(point, "at", (int64_t)i * 86400000000000 + 1700000000000000000);
        if (i % 7)
            tm_add_double(point, "value", twist.number >= 0 ? twist.real : (double)(i * 17 % 11));
        else
            tm_add_null(point, "value", "it failed");
        tm_add_string(point, "status", i % 7 ? "done" : "failed");
    }
    check_all(&run, tm_doc_root(doc), twist.what);
    tm_doc_free(doc);
    tm_doc_free(sample);
    assert_ledger_is_even(&run);
}

static void nights_have_room(void **state)
{
    static const double reals[] = { 0, 1, -5, 1e-300, 1e308, -1e308 };
    char wide[1025];

    (void)state;
    memset(wide, 'W', sizeof(wide) - 1);
    wide[sizeof(wide) - 1] = 0;
    check_twisted_night((struct twist){ .what = "a night", .name = "", .number = -1 }, 2);
    check_twisted_night((struct twist){ .what = "60 nights", .name = "", .number = -1 }, 60);
    check_twisted_night((struct twist){ .what = "400 nights", .name = "", .number = -1 }, 400);
    check_twisted_night((struct twist){ .what = "1 KiB of W", .name = wide, .number = -1 }, 30);
    check_twisted_night((struct twist){ .what = "1,000 jobs", .name = "", .rows = 1000, .number = -1 }, 30);
    for (size_t r = 0; r < sizeof(reals) / sizeof(reals[0]); r++)
        check_twisted_night((struct twist){ .what = "equal numbers", .name = "", .number = 1, .real = reals[r] }, 30);
    for (uint64_t seed = 1; seed <= 20; seed++)
        check_twisted_night((struct twist){ .what = "any numbers", .name = "", .number = -1, .real = 50, .seed = seed },
                            30);
}

static void texts_have_room_on_the_samples(void **state)
{
    (void)state;
    for (int which = 0; which < TM_SAMPLES; which++)
        check_twisted((enum tm_sample_profile)which,
                      (struct twist){ .what = tm_sample_name[which], .name = "", .number = -1 });
}

static void long_names_are_cut_to_their_room(void **state)
{
    char wide[1025], thin[1025];

    (void)state;
    memset(wide, 'W', sizeof(wide) - 1);
    memset(thin, 'i', sizeof(thin) - 1);
    wide[sizeof(wide) - 1] = thin[sizeof(thin) - 1] = 0;
    for (int which = 0; which < TM_SAMPLES; which++) {
        check_twisted((enum tm_sample_profile)which,
                      (struct twist){ .what = "1 KiB of W", .name = wide, .number = -1 });
        check_twisted((enum tm_sample_profile)which,
                      (struct twist){ .what = "1 KiB of i", .name = thin, .number = -1 });
    }
}

static void many_rows_are_capped(void **state)
{
    (void)state;
    check_twisted(TM_SAMPLE_GPU, (struct twist){ .what = "1,000 rows", .name = "", .rows = 1000, .number = -1 });
    check_twisted(TM_SAMPLE_GPU, (struct twist){ .what = "15 rows", .name = "", .rows = 15, .number = -1 });
}

static void any_number_is_borne(void **state)
{
    static const int64_t numbers[] = { 0, 1, 999, INT64_MAX };
    static const double reals[] = { 0, 1, 1e308, -1e308 };

    (void)state;
    for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
        for (size_t r = 0; r < sizeof(reals) / sizeof(reals[0]); r++)
            check_twisted(
                TM_SAMPLE_GPU,
                (struct twist){ .what = "equal numbers", .name = "", .number = numbers[n], .real = reals[r] });
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_twisted(TM_SAMPLE_GPU,
                      (struct twist){ .what = "any numbers", .name = "", .number = -1, .real = 50, .seed = seed });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_room_on_the_samples), cmocka_unit_test(long_names_are_cut_to_their_room),
        cmocka_unit_test(many_rows_are_capped),           cmocka_unit_test(any_number_is_borne),
        cmocka_unit_test(scaling_studies_have_room),      cmocka_unit_test(nights_have_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
