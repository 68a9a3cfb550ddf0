/* SPDX-License-Identifier: Apache-2.0 */
/* The sides of a comparison: their runs, their step times, and what the tests need of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/comparison.h"
#include "reports/format/format.h"

enum { SAMPLES_WRITTEN_MOST = 4096 };

const char *side_id(const struct comparison *c, size_t side, char out[SIDE_ID_BYTES])
{
    if (side == 0)
        (void)snprintf(out, SIDE_ID_BYTES, "base");
    else if (c->sides == 2)
        (void)snprintf(out, SIDE_ID_BYTES, "new");
    else
        (void)snprintf(out, SIDE_ID_BYTES, "new_%zu", side);
    return out;
}

double base_step_ps(const struct comparison *c)
{
    return c->facts[0].has_parts ? c->facts[0].total_ps : c->facts[0].mean_ps;
}

double change_pct(double base, double value)
{
    return base != 0 ? 100 * (value / base - 1) : NAN;
}

double mean_over_runs(const struct tm_comparison_side *side,
                      double (*figure)(const struct tm_value *summary, const void *what),
                      const void *what)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < side->runs; i++) {
        const double value = figure(side->run[i].summary, what);

        if (isfinite(value)) {
            sum += value;
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

bool are_measured_alike(const struct comparison *c, size_t side)
{
    const struct tm_comparison_side *base = &c->side[0], *other = &c->side[side];

    for (size_t i = 0; i < base->runs; i++)
        for (size_t k = 0; k < other->runs; k++)
            if (!tm_are_steps_alike(base->run[i].summary, other->run[k].summary))
                return false;
    return true;
}

enum test_basis basis_of(const struct comparison *c, size_t side)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];

    if (!are_measured_alike(c, side))
        return TEST_NONE;
    if (base->run_medians.count >= RUNS_FOR_TEST && other->run_medians.count >= RUNS_FOR_TEST)
        return TEST_RUNS;
    if (base->runs == 1 && other->runs == 1 &&
        tm_is_enough((double)base->steps.count, (double)other->steps.count, STEP_LEVEL))
        return TEST_STEPS;
    return TEST_NONE;
}

const char *no_test_reason(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];
    const struct step_test *test = &c->step_test[side];
    const size_t steps =
        base->steps.count < other->steps.count ? base->steps.count : other->steps.count;
    char worth[TM_FORMAT_BYTES], lag1[TM_FORMAT_BYTES];

    if (!are_measured_alike(c, side))
        (void)snprintf(out, out_bytes, NO_SIGNIFICANCE TM_STEPS_NOT_ALIKE);
    else if (base->runs > 1 || other->runs > 1)
        (void)snprintf(
            out, out_bytes,
            NO_SIGNIFICANCE "one side has a single run with steps, two are needed on both");
    else if (basis_of(c, side) == TEST_STEPS && fmin(test->effective_base, test->effective_new) < (double)steps)
        (void)snprintf(out, out_bytes,
                       NO_SIGNIFICANCE "consecutive steps resemble each other (lag-1 autocorrelation %s), so that %zu steps "
                       "are worth %s independent ones; 6 are needed on both sides",
                       tm_format_number(lag1, test->lag1), steps,
                       tm_format_number(worth, fmin(test->effective_base, test->effective_new)));
    else
        (void)snprintf(out, out_bytes, NO_SIGNIFICANCE "%zu step%s, 6 are needed on both sides", steps,
                       tm_format_plural(steps));
    return out;
}

/* --- samples --- */

static tm_status take_sample(struct comparison *c, struct tm_sample *sample, double **value,
                             size_t most)
{
    *value = tm_room_take(&c->room, most, sizeof(**value));
    *sample = (struct tm_sample){ *value, 0 };
    return *value ? TM_OK : c->run->error.status;
}

static void append(struct tm_sample *to, double *value, struct tm_sample from)
{
    for (size_t i = 0; i < from.count; i++)
        value[to->count++] = from.value[i];
}

/* Of a summary of an older version the samples of all hosts: then its median is not that of the steps. */
static double median_of(const struct tm_value *steps, struct tm_sample sample, double *sorted)
{
    if (sample.count == 0 || sample.count == tm_length(tm_get(steps, "samples_ps")))
        return tm_double(tm_get(steps, "median_ps"));
    for (size_t i = 0; i < sample.count; i++)
        sorted[i] = sample.value[i];
    return tm_sample_select_median(sorted, sample.count);
}

static tm_status load_steps(struct comparison *c, const struct tm_comparison_side *side,
                            struct side_facts *facts)
{
    double *step, *median, *mean, *sorted;
    size_t most = 0;
    tm_status st;

    for (size_t r = 0; r < side->runs; r++)
        most += tm_step_samples_most(side->run[r].summary);
    st = take_sample(c, &facts->steps, &step, most);
    if (st == TM_OK)
        st = take_sample(c, &facts->run_medians, &median, side->runs);
    if (st == TM_OK)
        st = take_sample(c, &facts->run_means, &mean, side->runs);
    sorted = st == TM_OK ? tm_room_take(&c->room, most + 1, sizeof(*sorted)) : NULL;
    if (!sorted)
        return c->run->error.status;
    for (size_t r = 0; r < side->runs && st == TM_OK; r++) {
        const struct tm_value *steps = tm_get(side->run[r].summary, "steps");
        struct tm_compare_blocks scratch = { .run = c->run };
        struct tm_sample sample;
        struct tm_compiling_steps compiling;

        st = tm_step_samples(&scratch, side->run[r].summary, &sample);
        if (st == TM_OK)
            st = tm_count_compiling_steps(&scratch, side->run[r].summary, &compiling);
        if (st == TM_OK) {
            append(&facts->steps, step, sample);
            if (tm_has(tm_get(steps, "median_ps")))
                median[facts->run_medians.count++] = median_of(steps, sample, sorted);
        }
        tm_room_free(&scratch);
        if (st != TM_OK || !tm_has(tm_get(steps, "median_ps")))
            continue;
        mean[facts->run_means.count++] = tm_double(tm_get(steps, "mean_ps"));
        facts->compiling.steps += compiling.steps;
        facts->compiling.compiling += compiling.compiling;
        facts->compiling.excess_ps += compiling.excess_ps;
    }
    if (st == TM_OK)
        st = tm_quiet_samples(&c->room, side->run[0].summary, &facts->quiet_steps);
    facts->median_ps = tm_sample_moments(facts->run_medians).mean;
    facts->mean_ps = tm_sample_moments(facts->run_means).mean;
    facts->compiling.mean_ps = facts->mean_ps;
    if (facts->run_means.count)
        facts->compiling.excess_ps /= (double)facts->run_means.count;
    return st;
}

/* The values of one part in the listed steps that were chosen. */
static tm_status load_listed(struct comparison *c, const struct tm_comparison_side *side, const char *path,
                             struct tm_sample *sample,
                             double *value)
{
    tm_status st = TM_OK;

    for (size_t r = 0; r < side->runs && st == TM_OK; r++) {
        struct tm_compare_blocks scratch = { .run = c->run };
        struct tm_sample of_run;

        st = tm_listed_samples(&scratch, side->run[r].summary, path, &of_run);
        if (st == TM_OK)
            append(sample, value, of_run);
        tm_room_free(&scratch);
    }
    return st;
}

static tm_status load_parts(struct comparison *c, const struct tm_comparison_side *side,
                            struct side_facts *facts)
{
    double *of_run[TM_PARTS], *of_step;
    size_t listed = 0, known = 0;
    tm_status st = TM_OK;

    for (size_t r = 0; r < side->runs; r++)
        listed += tm_length(tm_path(side->run[r].summary, "steps.list"));
    for (int p = 0; p < TM_PARTS && st == TM_OK; p++) {
        st = take_sample(c, &facts->part_of_step[p], &of_step, listed);
        if (st == TM_OK) {
            st = load_listed(c, side, tm_part_kind[p].path, &facts->part_of_step[p], of_step);
            if (st == TM_OK)
                st = take_sample(c, &facts->part_of_run[p], &of_run[p], side->runs);
        }
    }
    if (st == TM_OK)
        st = take_sample(c, &facts->period_of_step, &of_step, listed);
    if (st == TM_OK)
        st = load_listed(c, side, "period_ps", &facts->period_of_step, of_step);
    if (st != TM_OK)
        return st;
    for (size_t r = 0; r < side->runs; r++) {
        double part[TM_PARTS], total;

        if (!tm_step_parts(side->run[r].summary, part, &total))
            continue;
        known++;
        facts->total_ps += total;
        for (int p = 0; p < TM_PARTS; p++) {
            facts->part_ps[p] += part[p];
            of_run[p][facts->part_of_run[p].count++] = part[p];
        }
    }
    facts->has_parts = known > 0;
    for (int p = 0; p < TM_PARTS && known; p++)
        facts->part_ps[p] /= (double)known;
    facts->total_ps = known ? facts->total_ps / (double)known : NAN;
    return TM_OK;
}

/* --- the document --- */

static const char *same_text(const struct tm_value *runs, const char *key)
{
    const char *text = tm_text(tm_get(tm_at(runs, 0), key));

    for (size_t i = 1; i < tm_length(runs); i++) {
        if (strcmp(text, tm_text(tm_get(tm_at(runs, i), key))) != 0)
            return "";
    }
    return text;
}

static void add_same(struct tm_value *to, const struct tm_value *runs, const char *key)
{
    const char *text = same_text(runs, key);

    if (*text)
        tm_add_string(to, key, text);
    else
        tm_add_null(to, key, "not recorded, or not the same in all runs");
}

static double measured_of(const struct tm_comparison_side *side)
{
    double sum = 0;
    size_t known = 0;

    for (size_t r = 0; r < side->runs; r++) {
        if (side->run[r].measured_ps >= 0) {
            sum += (double)side->run[r].measured_ps;
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

static double figure_at(const struct tm_value *summary, const void *path)
{
    const struct tm_value *value = tm_path(summary, path);

    return tm_has(value) ? tm_double(value) : NAN;
}

static void add_step_statistics(struct tm_value *to, const struct tm_comparison_side *side,
                                const struct side_facts *facts)
{
    static const char none[] = "no step has a length", few[] = "too few steps have a length";
    static const struct {
        const char *key, *path;
    } means[] = {
        { "mean_ps", "steps.mean_ps" }, { "median_ps", "steps.median_ps" },
        { "p95_ps", "steps.p95_ps" },   { "min_ps", "steps.min_ps" },
        { "max_ps", "steps.max_ps" },
    };
    const struct tm_moments all = tm_sample_moments(facts->steps),
                            between = tm_sample_moments(facts->run_medians);
    struct tm_value *samples;

    tm_add_uint(to, "samples", facts->steps.count);
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
        tm_add_ps(to, means[i].key,
                  i == 1 ? facts->median_ps : mean_over_runs(side, figure_at, means[i].path), none);
    tm_add_ps(to, "stddev_ps", all.stddev, few);
    tm_add_figure(to, "cv_pct", all.cv_pct, few);
    tm_add_figure(to, "between_runs_cv_pct", facts->run_medians.count > 1 ? between.cv_pct : NAN,
                  "one run");
    samples = tm_add_array(to, "samples_ps");
    for (size_t i = 0; i < facts->steps.count && i < SAMPLES_WRITTEN_MOST; i++)
        tm_add_ps(samples, NULL, facts->steps.value[i], NULL);
}

static void add_side(const struct comparison *c, struct tm_value *sides, size_t number)
{
    const struct tm_comparison_side *side = &c->side[number];
    struct tm_value *to = tm_add_object(sides, NULL), *runs;
    char id[SIDE_ID_BYTES];
    bool is_same = true;

    tm_add_string(to, "id", side_id(c, number, id));
    tm_add_text(to, "label", side->label, strlen(side->label));
    runs = tm_add_array(to, "runs");
    for (size_t r = 0; r < side->runs; r++)
        tm_add_compared_run(runs, &side->run[r]);
    add_same(to, runs, "platform");
    add_same(to, runs, "device_model");
    for (size_t r = 1; r < side->runs; r++)
        is_same = is_same && tm_int(tm_get(tm_at(runs, r), "devices")) ==
                                 tm_int(tm_get(tm_at(runs, 0), "devices"));
    if (is_same)
        tm_add_int(to, "devices", tm_int(tm_get(tm_at(runs, 0), "devices")));
    else
        tm_add_null(to, "devices", "the runs have different numbers of devices");
    tm_add_ps(to, "measured_ps", measured_of(side), "no benchmark result was given");
    add_step_statistics(to, side, &c->facts[number]);
}

tm_status add_sides(struct comparison *c)
{
    struct tm_value *sides = tm_add_array(c->root, "sides");

    for (size_t i = 0; i < c->sides; i++) {
        tm_status st;

        c->facts[i].runs = c->side[i].runs;
        st = load_steps(c, &c->side[i], &c->facts[i]);
        if (st == TM_OK)
            st = load_parts(c, &c->side[i], &c->facts[i]);
        if (st != TM_OK)
            return st;
        add_side(c, sides, i);
    }
    return TM_OK;
}
