/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling studies, by figures worked out by hand. */
#include "reports/scaling/speedup.h"

#include <math.h>

#include "tests/support/made_scaling.h"
#include "tests/support/test_run.h"

/* The same work on more devices; a step of 800, 420, 230 and 140 us. */
static const struct made_point strong[] = {
    { MADE(1, 720, 0, 40, 40) },
    { MADE(2, 360, 20, 20, 20) },
    { MADE(4, 180, 25, 10, 15) },
    { MADE(8, 90, 30, 5, 15) },
    { 0 },
};
/* As much work on each; 100, 110 and 125 us. */
static const struct made_point weak[] = {
    { MADE(1, 90, 0, 0, 10) }, { MADE(2, 90, 10, 0, 10) }, { MADE(4, 92, 23, 0, 10) }, { 0 }
};

static void assert_near(const struct tm_value *from, const char *path, double want)
{
    const struct tm_value *value = tm_path(from, path);

    if (!tm_has(value))
        fail_msg("there is no %s", path);
    if (fabs(tm_double(value) - want) > 1e-4 * fmax(1, fabs(want)))
        fail_msg("%s is %.9g, not %.9g", path, tm_double(value), want);
}

static void assert_null_because(const struct tm_value *from, const char *path, const char *why)
{
    const struct tm_value *value = tm_path(from, path);

    assert_non_null(value);
    assert_false(tm_has(value));
    if (!strstr(tm_why(value), why))
        fail_msg("%s is null because '%s'", path, tm_why(value));
}

static const struct tm_value *found(const struct tm_value *root, const char *list, const char *id)
{
    const struct tm_value *items = tm_get(root, list);

    for (size_t i = 0; i < tm_length(items); i++)
        if (strcmp(tm_text(tm_get(tm_at(items, i), "id")), id) == 0)
            return tm_at(items, i);
    return NULL;
}

static const char *verdict_of(const struct tm_value *root)
{
    return tm_text(tm_path(root, "verdict.text"));
}

/* --- figures --- */

static void strong_scaling_is_told_by_its_speedup(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    assert_int_equal(tm_scaling_check(&study.run, study.point, study.points), TM_OK);
    root = made_study_fill(&study);
    assert_string_equal(tm_text(tm_get(root, "mode")), "strong");
    assert_near(root, "work.total_change_pct", 0);
    assert_near(root, "work.device_change_pct", -87.5);
    assert_near(root, "points[0].speedup", 1);
    assert_null_because(root, "points[0].speedup_low", "compared with this point");
    assert_near(root, "points[1].speedup", 800.0 / 420);
    assert_near(root, "points[3].step_ps", 140e6);
    assert_near(root, "points[3].speedup", 800.0 / 140);
    assert_near(root, "points[3].speedup_low", 800.0 / 140); /* all steps are alike */
    assert_near(root, "points[3].speedup_high", 800.0 / 140);
    assert_near(root, "points[3].ideal_speedup", 8);
    assert_near(root, "points[3].efficiency_pct", 100 * 800.0 / 140 / 8);
    assert_near(root, "points[3].work_ps", 720e6);
    assert_near(root, "points[3].collective_ps", 60e6);
    assert_near(root, "points[3].collective_bytes", 30000);
    assert_near(root, "points[3].overlap_pct", 50);
    assert_near(root, "points[3].imbalance_pct", 1);
    assert_near(root, "points[3].spread_pct", 2);
    assert_null_because(root, "points[0].imbalance_pct", "one device");
    assert_null_because(root, "points[3].measured_speedup", "no benchmark");
    assert_string_equal(tm_text(tm_path(root, "input.run")), "1 to 8 devices");
    assert_non_null(strstr(verdict_of(root), "Strong scaling from 1 to 8 devices: 5.71 times as fast"));
    assert_non_null(
        strstr(verdict_of(root), "efficiency 71.4%. The largest loss is due to exposed collectives: 21.4%."));
    assert_string_equal(tm_text(tm_path(root, "verdict.severity")), "warning");
    made_study_end(&study);
}

static void what_is_lost_and_the_efficiency_add_up(void **state)
{
    static const char *const parts[] = { "compute_ps", "exposed_collective_ps", "exposed_copy_ps", "idle_ps" };
    static const char *const lost[] = { "communication_pct", "idle_pct", "compute_pct", "copies_pct" };
    static const char *const shares[] = { "compute_pct", "exposed_collective_pct", "exposed_copy_pct", "idle_pct" };
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    root = made_study_fill(&study);
    for (size_t i = 0; i < study.points; i++) {
        const struct tm_value *point = tm_at(tm_get(root, "points"), i);
        double sum = tm_double(tm_get(point, "efficiency_pct")), growth = 0;
        int64_t ps = 0;

        for (size_t k = 0; k < 4; k++) {
            ps += tm_int(tm_get(tm_get(point, "parts"), parts[k]));
            sum += tm_double(tm_get(tm_get(point, "lost"), lost[k]));
            growth += tm_double(tm_get(tm_get(point, "growth"), shares[k]));
        }
        assert_int_equal(ps, tm_int(tm_path(point, "parts.total_ps")));
        assert_true(fabs(sum - 100) < 1e-9 && fabs(growth) < 1e-9);
    }
    assert_near(root, "points[3].lost.communication_pct", 100 * 30.0 / 140);
    assert_near(root, "points[3].lost.idle_pct", 100 * (15.0 - 5) / 140); /* 40 us by 8 would be its part */
    assert_near(root, "points[3].lost.compute_pct", 0);
    assert_near(root, "points[3].lost.copies_pct", 0);
    assert_near(root, "points[3].growth.exposed_collective_pct", 100 * 30.0 / 140);
    assert_near(root, "points[3].growth.compute_pct", 100 * 90.0 / 140 - 90);
    assert_near(root, "points[3].details.exposed_copy_ps.h2d", 5e6);
    assert_near(root, "points[3].details.idle_ps.launch", 15e6);
    made_study_end(&study);
}

static void weak_scaling_counts_the_work(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, weak);
    root = made_study_fill(&study);
    assert_string_equal(tm_text(tm_get(root, "mode")), "weak");
    assert_near(root, "points[2].speedup", 4 * 100.0 / 125);
    assert_near(root, "points[2].efficiency_pct", 80);
    assert_near(root, "points[2].lost.communication_pct", 100 * 23.0 / 125);
    assert_near(root, "points[2].lost.compute_pct", 100 * (92.0 - 90) / 125);
    assert_null_because(root, "fit", "four points");
    assert_non_null(strstr(verdict_of(root), "Weak scaling from 1 to 4 devices: 3.20 times the throughput"));
    assert_string_equal(tm_text(tm_path(root, "verdict.severity")), "good");
    assert_non_null(found(root, "findings", "scaling_work_grows"));
    made_study_end(&study);
}

static void work_that_changes_in_neither_way_is_told(void **state)
{
    static const struct made_point points[] = { { MADE(1, 90, 0, 0, 10) }, { MADE(4, 45, 20, 0, 10) }, { 0 } };
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    assert_string_equal(tm_text(tm_get(root, "mode")), "unclear");
    assert_near(root, "work.total_change_pct", 100);
    assert_near(root, "work.device_change_pct", -50);
    assert_near(root, "points[1].efficiency_pct", 100 * 100.0 / 75 / 4);
    assert_near(root, "points[1].weak_efficiency_pct", 100 * 100.0 / 75);
    assert_non_null(strstr(verdict_of(root), "neither strong nor weak scaling. The efficiency is 33.3% if the work is "
                                             "constant, 133.3% if it grows"));
    assert_string_equal(tm_text(tm_path(root, "verdict.severity")), "info");
    assert_string_equal(tm_text(tm_path(root, "findings[0].id")), "scaling_computing"); /* repeated work */
    assert_non_null(found(root, "findings", "scaling_work_unclear"));
    made_study_end(&study);
}

static void runs_of_a_point_are_the_unit(void **state)
{
    /* 98, 100, 102 us and 49, 50, 51 us: both spread by 2 %; t of 4 degrees of freedom is 2.776445
     */
    static const struct made_point points[] = { { MADE(1, 90, 0, 0, 10), .runs = 3, .percent_apart = 2 },
                                                { MADE(2, 45, 0, 0, 5), .runs = 3, .percent_apart = 2 },
                                                { 0 } };
    const double half = 2.776445 * sqrt(2 * 4e-4 / 3);
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    assert_near(root, "points[0].step_ps", 100e6);
    assert_near(root, "points[0].stddev_ps", 2e6);
    assert_near(root, "points[0].cv_pct", 2);
    assert_near(root, "points[0].low_ps", 100e6 - 4.302653 * 2e6 / sqrt(3));
    assert_near(root, "points[1].speedup", 2);
    assert_near(root, "points[1].speedup_low", 2 * exp(-half));
    assert_near(root, "points[1].speedup_high", 2 * exp(half));
    assert_near(root, "points[1].efficiency_low_pct", 100 * exp(-half));
    assert_int_equal(tm_length(tm_path(root, "points[1].runs")), 3);
    assert_null(found(root, "notes", "groups"));
    made_study_end(&study);
}

static void one_run_beside_several_has_no_interval(void **state)
{
    static const struct made_point points[] = { { MADE(1, 90, 0, 0, 10) },
                                                { MADE(2, 45, 0, 0, 5), .runs = 2, .percent_apart = 2 },
                                                { 0 } };
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    assert_near(root, "points[1].speedup", 2);
    assert_null_because(root, "points[1].speedup_low", "several runs");
    assert_non_null(found(root, "notes", "groups"));
    made_study_end(&study);
}

static void the_serial_share_is_that_of_the_law(void **state)
{
    /* 1000 (0.1 + 0.9 / n) us */
    static const struct made_point points[] = {
        { MADE(1, 900, 0, 0, 100) },
        { MADE(2, 450, 0, 0, 100) },
        { MADE(4, 225, 0, 0, 100) },
        { MADE(9, 100, 0, 0, 100) },
        { 0 },
    };
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    assert_string_equal(tm_text(tm_path(root, "fit.model")), "amdahl");
    assert_near(root, "fit.serial_pct", 10);
    assert_near(root, "fit.residual_pct", 0);
    assert_near(root, "fit.speedup_limit", 10);
    assert_near(root, "fit.next[0].devices", 18);
    assert_near(root, "fit.next[0].step_ps", 150e6);
    assert_near(root, "fit.next[0].speedup", 1000.0 / 150);
    assert_near(root, "fit.next[1].devices", 36);
    assert_near(root, "fit.next[1].efficiency_pct", 100 * 1000.0 / 125 / 36);
    assert_near(root, "points[3].fitted_ps", 200e6);
    assert_near(root, "points[3].fitted_speedup", 5);
    made_study_end(&study);
}

static void the_law_of_weak_scaling_has_no_limit(void **state)
{
    /* 100 (0.9 + 0.1 n) us */
    static const struct made_point points[] = {
        { MADE(2, 90, 20, 0, 0) },
        { MADE(4, 90, 40, 0, 0) },
        { MADE(6, 90, 60, 0, 0) },
        { MADE(8, 90, 80, 0, 0) },
        { 0 },
    };
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    assert_string_equal(tm_text(tm_path(root, "fit.model")), "gustafson");
    assert_near(root, "fit.serial_pct", 10);
    assert_null_because(root, "fit.speedup_limit", "grows with the devices");
    assert_near(root, "fit.next[0].step_ps", 250e6);
    assert_near(root, "fit.next[0].speedup", 8 * 110.0 / 250); /* 16 devices are 8 times the first two */
    assert_non_null(found(root, "notes", "first_point"));
    made_study_end(&study);
}

static void times_of_a_benchmark_stand_beside(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    study.runs[0][0].measured_ps = 900;
    study.runs[2][0].measured_ps = 300;
    root = made_study_fill(&study);
    assert_near(root, "points[2].measured_ps", 300);
    assert_near(root, "points[2].measured_speedup", 3);
    assert_null_because(root, "points[1].measured_speedup", "no benchmark result");
    made_study_end(&study);
}

/* --- findings --- */

static void findings_are_ordered_by_what_they_cost(void **state)
{
    struct made_study study;
    const struct tm_value *root, *first;

    (void)state;
    made_study_begin(&study, strong);
    root = made_study_fill(&study);
    first = tm_path(root, "findings[0]");
    assert_string_equal(tm_text(tm_get(first, "id")), "scaling_communication");
    assert_string_equal(tm_text(tm_get(first, "severity")), "critical");
    assert_near(first, "value", 100 * 30.0 / 140);
    assert_non_null(strstr(tm_text(tm_path(first, "evidence[1]")), "1: 0.0%, 2: 4.8%, 4: 10.9%, 8: 21.4%"));
    assert_non_null(
        strstr(tm_text(tm_path(first, "evidence[3]")), "all-reduce: 30.0 µs of a step, 0 s with ideal scaling"));
    assert_string_equal(tm_text(tm_path(root, "findings[1].id")), "scaling_idle");
    assert_non_null(found(root, "findings", "scaling_efficiency"));
    assert_string_equal(tm_text(tm_get(found(root, "findings", "scaling_best"), "title")),
                        "4 devices are the most that work at 80% efficiency or more");
    assert_null(found(root, "findings", "scaling_imbalance"));
    assert_null(found(root, "findings", "scaling_slower"));
    made_study_end(&study);
}

static void work_that_is_repeated_is_named(void **state)
{
    /* Half of the computing is the same on each device, little enough for strong scaling to be
     * told. */
    static const struct made_point points[] = { { MADE(1, 100, 0, 0, 0) }, { MADE(2, 58, 0, 0, 0) }, { 0 } };
    struct made_study study;
    const struct tm_value *root, *first;

    (void)state;
    made_study_begin(&study, points);
    root = made_study_fill(&study);
    first = tm_path(root, "findings[0]");
    assert_string_equal(tm_text(tm_get(root, "mode")), "strong");
    assert_string_equal(tm_text(tm_get(first, "id")), "scaling_computing");
    assert_near(first, "value", 100 * 8.0 / 58);
    assert_string_equal(tm_text(tm_path(first, "evidence[2]")),
                        "fusion.1: 58.0 µs of a step, 50.0 µs with ideal scaling");
    made_study_end(&study);
}

static void a_slow_device_and_more_devices_that_are_slower_are_told(void **state)
{
    static const struct made_point points[] = {
        { MADE(1, 100, 0, 0, 0) }, { MADE(2, 50, 10, 0, 0) }, { MADE(4, 25, 50, 0, 0) }, { 0 }
    };
    struct made_study study;
    const struct tm_value *root, *finding;

    (void)state;
    made_study_begin(&study, points);
    tm_add_double(tm_member(made_summary(&study, 1, 0), "balance"), "imbalance_pct", 20);
    tm_add_null(tm_member(made_summary(&study, 2, 0), "balance"), "imbalance_pct", "not known");
    root = made_study_fill(&study);
    finding = found(root, "findings", "scaling_imbalance");
    assert_near(finding, "value", 20);
    assert_string_equal(tm_text(tm_get(finding, "severity")), "critical");
    assert_non_null(strstr(tm_text(tm_get(finding, "title")), "Among 2 devices, the slowest computes 20.0% longer"));
    finding = found(root, "findings", "scaling_slower");
    assert_string_equal(tm_text(tm_get(finding, "title")), "4 devices have less throughput than 2 devices");
    made_study_end(&study);
}

/* --- notes --- */

static void differences_of_the_runs_are_noted(void **state)
{
    struct made_study study;
    const struct tm_value *root;
    struct tm_value *summary;

    (void)state;
    made_study_begin(&study, strong);
    summary = made_summary(&study, 1, 0);
    tm_add_string(tm_element(tm_member(tm_member(summary, "environment"), "devices"), 0), "model", "A100");
    tm_add_string(tm_element(tm_member(tm_member(summary, "environment"), "hosts"), 0), "jax", "0.9.0");
    tm_add_bool(tm_member(summary, "input"), "partial", true);
    study.point[3].devices = 16;
    root = made_study_fill(&study);
    assert_non_null(found(root, "notes", "model"));
    assert_non_null(found(root, "notes", "versions"));
    assert_non_null(
        strstr(tm_text(tm_get(found(root, "notes", "partial"), "text")), "2 devices: the input is damaged"));
    assert_non_null(strstr(tm_text(tm_get(found(root, "notes", "devices"), "text")), "contains 8 of 16 devices"));
    assert_true(tm_is(tm_path(root, "input.partial")));
    made_study_end(&study);
}

static void ranks_that_were_not_given_are_noted(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    tm_add_int(tm_element(tm_member(tm_member(made_summary(&study, 0, 0), "environment"), "hosts"), 0), "world_size",
               4);
    root = made_study_fill(&study);
    assert_non_null(strstr(tm_text(tm_get(found(root, "notes", "devices"), "text")), "1 device of a job with 4 ranks"));
    made_study_end(&study);
}

/* --- refusals, and what comes where they are overruled --- */

static void assert_refused(struct made_study *study, tm_status status, const char *what)
{
    assert_int_equal(tm_scaling_check(&study->run, study->point, study->points), status);
    if (!strstr(study->run.error.what, what))
        fail_msg("refused with '%s'", study->run.error.what);
    assert_true(*study->run.error.hint);
    memset(&study->run.error, 0, sizeof(study->run.error));
}

static void what_cannot_scale_is_refused(void **state)
{
    struct made_study study;

    (void)state;
    made_study_begin(&study, strong);
    study.points = 1;
    assert_refused(&study, TM_ERR_USAGE, "all runs have 1 device");
    study.points = 4;
    study.runs[2][0].summary = study.runs[1][0].summary;
    assert_refused(&study, TM_ERR_USAGE, "'path/1/0' and 'path/2/0': they are the same run");
    tm_add_null(tm_member(made_summary(&study, 0, 0), "steps"), "median_ps", "none");
    assert_refused(&study, TM_ERR_INPUT, "none of its steps has a duration");
    (void)tm_add_array(made_summary(&study, 0, 0), "devices");
    assert_refused(&study, TM_ERR_INPUT, "no device computes in it");
    made_study_end(&study);
}

/* Without marked steps the session stands for one step, as in comparisons. */
static void runs_without_marked_steps_scale(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    study.points = 4;
    for (size_t i = 0; i < 4; i++) {
        if (i > 0)
            assert_refused(&study, TM_ERR_USAGE, "only one of them has steps");
        tm_add_string(tm_member(made_summary(&study, i, 0), "steps"), "source", "session");
    }
    assert_int_equal(tm_scaling_check(&study.run, study.point, study.points), TM_OK);
    root = made_study_fill(&study);
    assert_non_null(found(root, "notes", "no_steps"));
    assert_true(tm_has(tm_path(root, "points[3].speedup")));
    made_study_end(&study);
}

static void devices_that_compute_are_counted(void **state)
{
    struct made_study study;
    struct tm_value *devices;

    (void)state;
    made_study_begin(&study, strong);
    assert_int_equal(tm_scaling_devices(made_summary(&study, 2, 0)), 4);
    devices = tm_member(made_summary(&study, 2, 0), "devices");
    tm_add_int(tm_element(devices, 1), "compute_ps", 0); /* copies only */
    assert_int_equal(tm_scaling_devices(made_summary(&study, 2, 0)), 3);
    assert_int_equal(tm_scaling_devices(NULL), 0);
    made_study_end(&study);
}

static void what_is_not_known_is_null_with_a_reason(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, strong);
    tm_add_null(made_summary(&study, 3, 0), "steps", "no trace was given");
    study.points = 4;
    root = made_study_fill(&study);
    assert_null_because(root, "points[3].step_ps", "no step has a duration");
    assert_null_because(root, "points[3].efficiency_pct", "no step has a duration");
    assert_null_because(root, "points[3].parts.total_ps", "parts");
    assert_null_because(root, "points[3].lost.idle_pct", "parts");
    assert_null_because(root, "work.total_change_pct", "unknown");
    assert_string_equal(tm_text(tm_get(root, "mode")), "unclear");
    assert_non_null(found(root, "notes", "no_steps"));
    assert_non_null(strstr(verdict_of(root), "cannot be compared"));
    made_study_end(&study);
}

static void empty_summaries_and_one_point_do_no_harm(void **state)
{
    struct made_study study;
    const struct tm_value *root;

    (void)state;
    for (size_t points = 1; points <= 2; points++) {
        made_study_begin(&study, strong);
        study.points = points;
        for (size_t i = 0; i < points; i++) {
            tm_doc_free(study.summary[i][0]);
            study.summary[i][0] = tm_doc_new(&study.run);
            study.runs[i][0].summary = tm_doc_root(study.summary[i][0]);
            study.point[i].devices = 0;
        }
        root = made_study_fill(&study);
        assert_int_equal(tm_length(tm_get(root, "points")), points);
        assert_true(*verdict_of(root));
        made_study_end(&study);
    }
}

static void points_with_few_steps_have_no_interval(void **state)
{
    static const struct made_point points[] = { { MADE(1, 90, 0, 0, 10) }, { MADE(2, 45, 0, 0, 5) }, { 0 } };
    struct made_study study;
    struct tm_value *samples;
    const struct tm_value *root;

    (void)state;
    made_study_begin(&study, points);
    samples = tm_add_array(tm_member(made_summary(&study, 1, 0), "steps"), "samples_ps");
    for (int i = 0; i < 5; i++)
        tm_add_int(samples, NULL, 50000000);
    root = made_study_fill(&study);
    assert_null_because(root, "points[1].low_ps", "6 steps");
    assert_null_because(root, "points[1].speedup_low", "6 steps");
    assert_non_null(found(root, "notes", "few_steps"));
    made_study_end(&study);
}

static void the_interval_of_a_speedup_holds_the_truth(void **state)
{
    static const struct made_point points[] = { { MADE(1, 90, 0, 0, 10) }, { MADE(2, 45, 0, 0, 5) }, { 0 } };
    struct made_study study;
    const struct tm_value *root;
    uint64_t seed = 3;
    double low, high;

    (void)state;
    made_study_begin(&study, points);
    for (size_t p = 0; p < 2; p++) {
        struct tm_value *samples = tm_add_array(tm_member(made_summary(&study, p, 0), "steps"), "samples_ps");

        for (int i = 0; i < 40; i++) /* spread evenly over 10 % */
            tm_add_int(samples, NULL,
                       (int64_t)((p ? 50e6 : 100e6) * (0.95 + 0.1 * (double)(next_number(&seed) % 1000) / 1000)));
    }
    root = made_study_fill(&study);
    low = tm_double(tm_path(root, "points[1].speedup_low"));
    high = tm_double(tm_path(root, "points[1].speedup_high"));
    assert_true(low < 2 && high > 2 && high - low > 0.01 && high - low < 0.2);
    low = tm_double(tm_path(root, "points[0].low_ps"));
    high = tm_double(tm_path(root, "points[0].high_ps"));
    assert_true(low < 100e6 && high > 100e6 && high - low < 10e6);
    made_study_end(&study);
}

/* --- memory --- */

static tm_status make_without_memory(struct tm_run *run)
{
    const struct tm_compare_options options = { .rows = 500 };
    const struct tm_scaling_point *point = NULL;
    struct made_study study;
    struct tm_doc *doc;
    tm_status st;

    made_study_begin(&study, strong);
    point = study.point;
    doc = tm_doc_new(run);
    st = doc ? tm_scaling(run, doc, point, study.points, &options) : run->error.status;
    tm_doc_free(doc);
    made_study_end(&study);
    return st;
}

static void the_end_of_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(make_without_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strong_scaling_is_told_by_its_speedup),
        cmocka_unit_test(what_is_lost_and_the_efficiency_add_up),
        cmocka_unit_test(weak_scaling_counts_the_work),
        cmocka_unit_test(work_that_changes_in_neither_way_is_told),
        cmocka_unit_test(runs_of_a_point_are_the_unit),
        cmocka_unit_test(one_run_beside_several_has_no_interval),
        cmocka_unit_test(the_serial_share_is_that_of_the_law),
        cmocka_unit_test(the_law_of_weak_scaling_has_no_limit),
        cmocka_unit_test(times_of_a_benchmark_stand_beside),
        cmocka_unit_test(findings_are_ordered_by_what_they_cost),
        cmocka_unit_test(work_that_is_repeated_is_named),
        cmocka_unit_test(a_slow_device_and_more_devices_that_are_slower_are_told),
        cmocka_unit_test(differences_of_the_runs_are_noted),
        cmocka_unit_test(ranks_that_were_not_given_are_noted),
        cmocka_unit_test(what_cannot_scale_is_refused),
        cmocka_unit_test(runs_without_marked_steps_scale),
        cmocka_unit_test(devices_that_compute_are_counted),
        cmocka_unit_test(what_is_not_known_is_null_with_a_reason),
        cmocka_unit_test(empty_summaries_and_one_point_do_no_harm),
        cmocka_unit_test(points_with_few_steps_have_no_interval),
        cmocka_unit_test(the_interval_of_a_speedup_holds_the_truth),
        cmocka_unit_test(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("scaling", tests, NULL, NULL);
}
