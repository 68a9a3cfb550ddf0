/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/made_scaling.h"

#include <stdio.h>

#include "tests/support/test_run.h"

static const int64_t us = 1000000; /* ps */

static void add_files(struct tm_value *to, size_t point, size_t run)
{
    struct tm_value *input = tm_add_object(to, "input"), *file;
    char text[32];

    (void)snprintf(text, sizeof(text), "run-%zu-%zu", point, run);
    tm_add_string(input, "run", text);
    tm_add_string(tm_add_array(input, "hosts"), NULL, "vm");
    tm_add_bool(input, "partial", false);
    file = tm_add_object(tm_add_array(input, "files"), NULL);
    (void)snprintf(text, sizeof(text), "%016zx", 16 * point + run + 1);
    tm_add_string(file, "xxh3", text);
}

static void add_environment(struct tm_value *to)
{
    struct tm_value *environment = tm_add_object(to, "environment"), *host, *device;

    tm_add_string(environment, "platform", "gpu");
    host = tm_add_object(tm_add_array(environment, "hosts"), NULL);
    tm_add_string(host, "host", "vm");
    tm_add_string(host, "framework", "jax");
    tm_add_string(host, "jax", "0.8.1");
    device = tm_add_object(tm_add_array(environment, "devices"), NULL);
    tm_add_string(device, "model", "H100");
}

static void add_steps(struct tm_value *to, const struct made_point *point, int64_t step_ps)
{
    struct tm_value *steps = tm_add_object(to, "steps"), *samples, *parts, *list;
    const int64_t all = (int64_t)MADE_STEPS * point->devices * us;

    tm_add_string(steps, "source", "host");
    tm_add_string(steps, "basis", "period");
    tm_add_int(steps, "chosen", MADE_STEPS);
    tm_add_int(steps, "samples", MADE_STEPS);
    tm_add_int(steps, "mean_ps", step_ps);
    tm_add_int(steps, "median_ps", step_ps);
    tm_add_int(steps, "p95_ps", step_ps);
    tm_add_int(steps, "stddev_ps", 0);
    samples = tm_add_array(steps, "samples_ps");
    for (int i = 0; i < MADE_STEPS; i++)
        tm_add_int(samples, NULL, step_ps);
    parts = tm_add_object(steps, "parts");
    tm_add_int(parts, "compute_ps", point->compute_us * all);
    tm_add_int(parts, "exposed_collective_ps", point->collective_us * all);
    list = tm_add_object(parts, "exposed_copy_ps");
    tm_add_int(list, "h2d", point->copy_us * all);
    list = tm_add_object(parts, "idle_ps");
    tm_add_int(list, "launch", point->idle_us * all);
    tm_add_int(parts, "total_ps", (point->compute_us + point->collective_us + point->copy_us + point->idle_us) * all);
}

static void add_devices(struct tm_value *to, const struct made_point *point)
{
    const int64_t all = (int64_t)MADE_STEPS * point->devices * us;
    struct tm_value *devices = tm_add_array(to, "devices"), *list, *row;

    for (int i = 0; i < point->devices; i++)
        tm_add_int(tm_add_object(devices, NULL), "compute_ps", point->compute_us * MADE_STEPS * us);
    list = tm_add_object(to, "total");
    tm_add_int(list, "collective_ps", 2 * point->collective_us * all);
    list = tm_add_object(to, "collectives");
    row = tm_add_object(list, "total");
    tm_add_int(row, "bytes", point->collective_us * 1000 * MADE_STEPS * point->devices);
    if (point->collective_us > 0)
        tm_add_double(row, "overlap_pct", 50);
    row = tm_add_object(tm_add_array(list, "rows"), NULL);
    tm_add_string(row, "kind", "all-reduce");
    tm_add_int(row, "exposed_ps", point->collective_us * all);
    list = tm_add_object(to, "ops");
    row = tm_add_object(tm_add_array(list, "rows"), NULL);
    tm_add_string(row, "name", "fusion.1");
    tm_add_int(row, "self_ps", point->compute_us * all);
    list = tm_add_object(to, "balance");
    if (point->devices > 1) {
        tm_add_double(list, "imbalance_pct", 1);
        tm_add_double(tm_add_object(list, "steps"), "spread_median_pct", 2);
    } else {
        tm_add_null(list, "imbalance_pct", "one device");
        tm_add_null(list, "steps", "one device");
    }
}

static void make_run(struct made_study *study, const struct made_point *point, size_t at, size_t run, int64_t step_ps)
{
    struct tm_doc *doc = study->summary[at][run] = tm_doc_new(&study->run);

    assert_non_null(doc);
    add_files(tm_doc_root(doc), at, run);
    add_environment(tm_doc_root(doc));
    add_steps(tm_doc_root(doc), point, step_ps);
    add_devices(tm_doc_root(doc), point);
    (void)snprintf(study->path[at][run], sizeof(study->path[at][run]), "path/%zu/%zu", at, run);
    study->runs[at][run] = (struct tm_compared_run){
        .summary = tm_doc_root(doc), .path = study->path[at][run], .is_summary = true, .measured_ps = -1
    };
}

void made_study_begin(struct made_study *study, const struct made_point *point)
{
    memset(study, 0, sizeof(*study));
    test_run_init(&study->run);
    tm_budget_init(&study->run.budget, (size_t)256 * TM_MIB);
    for (; point->devices > 0; point++) {
        const size_t at = study->points++, runs = point->runs ? (size_t)point->runs : 1;
        const int64_t step_us = point->compute_us + point->collective_us + point->copy_us + point->idle_us;

        assert_true(at < MADE_POINTS && runs <= MADE_RUNS);
        for (size_t r = 0; r < runs; r++)
            make_run(study, point, at, r,
                     step_us * us / 200 * (200 + (2 * (int64_t)r - (int64_t)runs + 1) * point->percent_apart));
        (void)snprintf(study->label[at], sizeof(study->label[at]), "%d device%s", point->devices,
                       point->devices == 1 ? "" : "s");
        study->point[at] =
            (struct tm_scaling_point){ { study->label[at], study->runs[at], runs },
                                       (uint32_t)(point->said_devices ? point->said_devices : point->devices) };
    }
}

struct tm_value *made_summary(struct made_study *study, size_t point, size_t run)
{
    return tm_doc_root(study->summary[point][run]);
}

const struct tm_value *made_study_fill(struct made_study *study)
{
    const struct tm_compare_options options = { .rows = 500 };

    study->doc = tm_doc_new(&study->run);
    assert_non_null(study->doc);
    assert_int_equal(tm_scaling(&study->run, study->doc, study->point, study->points, &options), TM_OK);
    return tm_doc_root(study->doc);
}

void made_study_end(struct made_study *study)
{
    for (size_t i = 0; i < MADE_POINTS; i++)
        for (size_t r = 0; r < MADE_RUNS; r++)
            tm_doc_free(study->summary[i][r]);
    tm_doc_free(study->doc);
    assert_ledger_is_even(&study->run);
}
