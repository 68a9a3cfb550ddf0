/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/compare/step_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/sides.h"

struct listed_step {
    int64_t number;
    size_t row;
    double value; /* after merging the mean of the hosts */
    bool is_compiling;
};

struct listed {
    struct listed_step *step;
    size_t rows, steps; /* before and after merging */
};

static int by_number(const void *a, const void *b)
{
    const struct listed_step *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void merge_hosts(struct listed *listed)
{
    size_t first = 0;

    qsort(listed->step, listed->rows, sizeof(*listed->step), by_number);
    while (first < listed->rows) {
        struct listed_step *to = &listed->step[listed->steps++];
        const int64_t number = listed->step[first].number;
        double sum = 0, count = 0;
        bool is_compiling = false;

        for (; first < listed->rows && listed->step[first].number == number; first++) {
            sum += listed->step[first].value;
            is_compiling = is_compiling || listed->step[first].is_compiling;
            count++;
        }
        *to = (struct listed_step){ number, 0, sum / count, is_compiling };
    }
}

/* in: length  only steps that have it */
static tm_status list_steps(struct tm_compare_blocks *room, const struct tm_value *summary, const char *length,
                            const char *path, struct listed *listed)
{
    const struct tm_value *list = tm_path(summary, "steps.list");

    *listed = (struct listed){ tm_room_take(room, tm_length(list) + 1, sizeof(*listed->step)), 0, 0 };
    if (!listed->step)
        return room->run->error.status;
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);

        if (!tm_is(tm_get(step, "chosen")) || !tm_has(tm_get(step, length)))
            continue;
        listed->step[listed->rows] =
            (struct listed_step){ tm_int(tm_get(step, "number")), listed->rows, tm_double(tm_path(step, path)),
                                  tm_is(tm_get(step, "compile")) };
        listed->rows++;
    }
    merge_hosts(listed);
    return TM_OK;
}

static tm_status sample_of(struct tm_compare_blocks *room, const struct listed *listed, struct tm_sample *sample)
{
    double *value = tm_room_take(room, listed->steps + 1, sizeof(*value));

    if (!value)
        return room->run->error.status;
    for (size_t i = 0; i < listed->steps; i++)
        value[i] = listed->step[i].value;
    *sample = (struct tm_sample){ value, listed->steps };
    return TM_OK;
}

tm_status tm_listed_samples(struct tm_compare_blocks *room, const struct tm_value *summary, const char *path,
                            struct tm_sample *sample)
{
    struct listed listed;
    const tm_status st = list_steps(room, summary, "period_ps", path, &listed);

    return st == TM_OK ? sample_of(room, &listed, sample) : st;
}

static const char *length_of_step(const struct tm_value *summary)
{
    return tm_text(tm_path(summary, "steps.basis"))[0] == 'h' ? "host_span_ps" : "period_ps";
}

tm_status tm_step_samples(struct tm_compare_blocks *room, const struct tm_value *summary, struct tm_sample *sample)
{
    const struct tm_value *samples = tm_path(summary, "steps.samples_ps");
    double *value = tm_room_take(room, tm_length(samples) + 1, sizeof(*value));
    if (!value)
        return room->run->error.status;
    for (size_t i = 0; i < tm_length(samples); i++)
        value[i] = tm_double(tm_at(samples, i));
    *sample = (struct tm_sample){ value, tm_length(samples) };
    return TM_OK;
}

size_t tm_step_samples_most(const struct tm_value *summary)
{
    const size_t samples = tm_length(tm_path(summary, "steps.samples_ps"));
    const size_t listed = tm_length(tm_path(summary, "steps.list"));

    return samples > listed ? samples : listed;
}

tm_status tm_quiet_samples(struct tm_compare_blocks *room, const struct tm_value *summary, struct tm_sample *sample)
{
    struct listed listed;
    tm_status st = list_steps(room, summary, length_of_step(summary), length_of_step(summary), &listed);
    size_t quiet = 0;

    for (size_t i = 0; i < listed.steps && st == TM_OK; i++)
        if (!listed.step[i].is_compiling)
            listed.step[quiet++] = listed.step[i];
    if (st != TM_OK || quiet == listed.steps)
        return st == TM_OK ? tm_step_samples(room, summary, sample) : st;
    listed.steps = quiet;
    return sample_of(room, &listed, sample);
}

bool tm_are_steps_alike(const struct tm_value *a, const struct tm_value *b)
{
    const char *x = tm_text(tm_path(a, "steps.basis")), *y = tm_text(tm_path(b, "steps.basis"));

    return !*x || !*y || strcmp(x, y) == 0;
}

double tm_analyzed_steps(const struct tm_value *summary)
{
    return tm_has_steps(summary) ? tm_double(tm_path(summary, "steps.chosen")) : 1;
}

tm_status tm_count_compiling_steps(struct tm_compare_blocks *room, const struct tm_value *summary,
                                   struct tm_compiling_steps *of)
{
    const struct tm_value *mean = tm_path(summary, "steps.mean_ps");
    double sum = 0, rest;
    struct listed listed;
    const tm_status st = list_steps(room, summary, length_of_step(summary), length_of_step(summary), &listed);

    *of = (struct tm_compiling_steps){ 0, 0, NAN, 0 };
    if (st != TM_OK || !tm_has(mean) || !tm_has_steps(summary))
        return st;
    of->steps = fmax(tm_analyzed_steps(summary), (double)listed.steps);
    of->mean_ps = tm_double(mean);
    for (size_t i = 0; i < listed.steps; i++) {
        of->compiling += listed.step[i].is_compiling;
        sum += listed.step[i].is_compiling ? listed.step[i].value : 0;
    }
    rest = of->steps - of->compiling;
    if (of->compiling > 0 && rest > 0)
        of->excess_ps = of->mean_ps - (of->mean_ps * of->steps - sum) / rest;
    return TM_OK;
}

bool tm_have_compiling_changed(const struct tm_compiling_steps *base, const struct tm_compiling_steps *other,
                               double least_pct)
{
    return base->compiling * other->steps != other->compiling * base->steps &&
           fabs(other->excess_ps - base->excess_ps) * 100 >= least_pct * base->mean_ps;
}
