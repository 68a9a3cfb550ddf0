/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of the sides beside each other, by their places: ids have names of hosts in them,
 * which differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/comparison.h"
#include "reports/format/shown_names.h"

static const struct tm_value *device_of(const struct tm_compared_run *run, size_t device)
{
    return tm_at(tm_get(run->summary, "devices"), device);
}

static bool are_as_many(const struct comparison *c, size_t *count)
{
    *count = tm_length(tm_get(c->side[0].run[0].summary, "devices"));
    for (size_t side = 0; side < c->sides; side++) {
        for (size_t r = 0; r < c->side[side].runs; r++) {
            if (tm_length(tm_get(c->side[side].run[r].summary, "devices")) != *count)
                return false;
        }
    }
    return *count > 0;
}

static double steps_of_device(const struct tm_compared_run *run, size_t devices)
{
    return tm_device_steps(run->summary) / (double)devices;
}

/* Busy time of each step of a run, or of each run of a group. */
static tm_status busy_sample(struct comparison *c, size_t side, size_t device,
                             enum test_basis basis, struct tm_sample *sample)
{
    const struct tm_comparison_side *of = &c->side[side];
    const struct tm_value *steps = tm_path(device_of(&of->run[0], device), "steps.busy_ps");
    const size_t most = basis == TEST_RUNS ? of->runs : tm_length(steps);
    double *value = tm_room_take(&c->room, most, sizeof(*value));

    *sample = (struct tm_sample){ value, 0 };
    if (!value)
        return c->run->error.status;
    for (size_t i = 0; i < most; i++) {
        if (basis == TEST_RUNS)
            value[sample->count++] = tm_double(tm_get(device_of(&of->run[i], device), "busy_ps")) /
                                     steps_of_device(&of->run[i], c->device_count);
        else if (tm_has(tm_at(steps, i)))
            value[sample->count++] = tm_double(tm_at(steps, i));
    }
    return TM_OK;
}

static tm_status test_device(struct comparison *c, size_t side, size_t device, double *p)
{
    const enum test_basis basis = basis_of(c, side);
    struct tm_sample a, b;
    tm_status st = busy_sample(c, 0, device, basis, &a);

    *p = NAN;
    if (st == TM_OK)
        st = busy_sample(c, side, device, basis, &b);
    if (st != TM_OK || basis == TEST_NONE)
        return st;
    *p = basis == TEST_STEPS ? tm_series_rank_test(a, b) : tm_welch_sample_test(a, b);
    return TM_OK;
}

static tm_status load_device(struct comparison *c, size_t number)
{
    struct compared_device *device = &c->devices[number];
    const struct tm_value *summary = c->side[0].run[0].summary;

    device->name =
        tm_shown_device(summary, tm_text(tm_get(device_of(&c->side[0].run[0], number), "id")));
    device->busy_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    device->compute_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    device->p = tm_room_take(&c->room, c->sides, sizeof(double));
    device->is_significant = tm_room_take(&c->room, c->sides, sizeof(bool));
    if (!device->busy_ps || !device->compute_ps || !device->p || !device->is_significant)
        return c->run->error.status;
    for (size_t side = 0; side < c->sides; side++) {
        const struct tm_comparison_side *of = &c->side[side];
        tm_status st = TM_OK;

        for (size_t r = 0; r < of->runs; r++) {
            const double units = steps_of_device(&of->run[r], c->device_count) * (double)of->runs;

            device->busy_ps[side] +=
                tm_double(tm_get(device_of(&of->run[r], number), "busy_ps")) / units;
            device->compute_ps[side] +=
                tm_double(tm_get(device_of(&of->run[r], number), "compute_ps")) / units;
        }
        if (side)
            st = test_device(c, side, number, &device->p[side]);
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static tm_status decide(struct comparison *c, size_t side)
{
    double *p = tm_room_take(&c->room, 2 * c->device_count, sizeof(*p));
    bool *holds = tm_room_take(&c->room, c->device_count, sizeof(*holds));

    if (!p || !holds)
        return c->run->error.status;
    for (size_t i = 0; i < c->device_count; i++)
        p[i] = c->devices[i].p[side];
    tm_family_tests(p, c->device_count, PART_LEVEL, holds, p + c->device_count);
    for (size_t i = 0; i < c->device_count; i++) {
        struct compared_device *device = &c->devices[i];

        device->is_significant[side] =
            holds[i] && fabs(device->busy_ps[side] - device->busy_ps[0]) * 100 >=
                            PART_LEAST_PCT * base_step_ps(c);
    }
    return TM_OK;
}

static void add_device(const struct comparison *c, struct tm_value *rows,
                       const struct compared_device *device)
{
    struct tm_value *to = tm_add_object(rows, NULL), *values, *compute, *changes;

    tm_add_string(to, "name", device->name);
    values = tm_add_array(to, "values");
    compute = tm_add_array(to, "compute");
    changes = tm_add_array(to, "changes");
    for (size_t side = 0; side < c->sides; side++) {
        struct tm_value *change;
        char why[STEP_WHY_BYTES];

        tm_add_ps(values, NULL, device->busy_ps[side], NULL);
        tm_add_ps(compute, NULL, device->compute_ps[side], NULL);
        if (side == 0)
            continue;
        change = tm_add_object(changes, NULL);
        (void)snprintf(why, sizeof(why), "too few independent steps");
        if (basis_of(c, side) == TEST_NONE)
            (void)no_test_reason(c, side, why, sizeof(why));
        tm_add_ps(change, "change_ps", round(device->busy_ps[side]) - round(device->busy_ps[0]),
                  NULL);
        tm_add_figure(change, "pct", change_pct(device->busy_ps[0], device->busy_ps[side]),
                      "the base has none");
        tm_add_figure(change, "p", device->p[side], why);
        if (isfinite(device->p[side]))
            tm_add_bool(change, "significant", device->is_significant[side]);
        else
            tm_add_null(change, "significant", why);
    }
}

static void add_imbalance(const struct comparison *c, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "imbalance_pct");

    for (size_t side = 0; side < c->sides; side++) {
        double sum = 0, most = 0;

        for (size_t i = 0; i < c->device_count; i++) {
            sum += c->devices[i].compute_ps[side];
            most = fmax(most, c->devices[i].compute_ps[side]);
        }
        tm_add_figure(list, NULL, sum > 0 ? 100 * (most * (double)c->device_count / sum - 1) : NAN,
                      NULL);
    }
}

tm_status add_compared_devices(struct comparison *c)
{
    struct tm_value *to, *rows;
    size_t count;
    tm_status st = TM_OK;

    if (!are_as_many(c, &count)) {
        tm_add_null(c->root, "devices", "the runs have no devices, or different numbers of them");
        return TM_OK;
    }
    c->devices = tm_room_take(&c->room, count, sizeof(*c->devices));
    if (!c->devices)
        return c->run->error.status;
    c->device_count = count;
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = load_device(c, i);
    for (size_t side = 1; side < c->sides && st == TM_OK; side++)
        st = decide(c, side);
    if (st != TM_OK)
        return st;
    to = tm_add_object(c->root, "devices");
    rows = tm_add_array(to, "rows");
    for (size_t i = 0; i < count; i++)
        add_device(c, rows, &c->devices[i]);
    add_imbalance(c, to);
    return TM_OK;
}
