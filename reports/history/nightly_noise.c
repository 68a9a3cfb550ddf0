/* SPDX-License-Identifier: Apache-2.0 */
/* The noise of figures, from a sample of the jobs of a history: jobs whose runs share machines have similar noise, and a
 * job alone has too few runs to show it.  The sample consists of the jobs whose names have the smallest hashes, so it
 * hardly changes from night to night. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/groups.h"
#include "reports/history/history.h"

enum { SAMPLED = 96 /* jobs */, SAMPLED_NIGHTS = 60 };

struct sampled_job {
    uint64_t hash;
    char job[TM_KEY_BYTES];
};

struct sampled_series {
    char model[NIGHT_MODEL];
    struct tm_series_noise of[TM_FIGURES_MOST]; /* count 0 = not known */
};

struct night_noise {
    struct sampled_job job[SAMPLED]; /* by hash */
    size_t jobs;
    struct sampled_series series[SAMPLED];
    size_t count;
};

static tm_status sample(void *to, const char *job)
{
    struct night_noise *const noise = to;
    const uint64_t hash = tm_hash_texts(&job, 1).high;
    size_t at = noise->jobs < SAMPLED ? noise->jobs : SAMPLED - 1;

    if (noise->jobs == SAMPLED && hash >= noise->job[at].hash)
        return TM_OK;
    for (; at > 0 && noise->job[at - 1].hash > hash; at--)
        noise->job[at] = noise->job[at - 1];
    noise->job[at].hash = hash;
    (void)snprintf(noise->job[at].job, sizeof(noise->job[at].job), "%s", job);
    noise->jobs += noise->jobs < SAMPLED;
    return TM_OK;
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    tm_nightly_history_add(to, row);
    return TM_OK;
}

/* The series of a job that ran last. */
static void learn_job(struct night_noise *noise, struct night_history *job, struct night_series *series)
{
    struct night_machine machines[NIGHT_MACHINES];
    struct sampled_series *const to = &noise->series[noise->count];
    uint64_t key;

    (void)tm_nightly_mark_machines(job, machines);
    if (tm_nightly_series(job, &key, 1) == 0)
        return;
    tm_nightly_choose_series(series, job, key);
    if (series->count == 0)
        return;
    memcpy(to->model, tm_nightly_point_at(job, series->last[series->count - 1])->model, sizeof(to->model));
    for (size_t i = 0; i < tm_figure_count; i++) {
        to->of[i].count = 0;
        if (!tm_nightly_counts(&tm_figure_table[i]))
            continue;
        tm_nightly_find_values(series, job, i);
        if (!tm_series_noise_of((struct tm_sample){ series->value, series->values },
                                tm_nightly_least_of(series, job, i), &to->of[i]))
            to->of[i].count = 0;
    }
    noise->count++;
}

tm_status tm_nightly_learn_noise(struct night_noise **to, struct tm_run *run, struct tm_history *history,
                                 const struct tm_judged_night *judged, struct night_history *room,
                                 struct night_series *series)
{
    struct night_noise *const noise = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*noise), &run->error);
    struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .until = judged->until };
    char after[11] = "";

    *to = noise;
    if (!noise || tm_history_oldest_of(history, judged->until, SAMPLED_NIGHTS, after) ||
        tm_history_visit_jobs(history, sample, noise))
        return run->error.status;
    query.after = *after ? after : NULL;
    for (size_t i = 0; i < noise->jobs && !tm_failed(run); i++) {
        query.job = noise->job[i].job;
        tm_nightly_history_begin(room, query.job, judged);
        if (!tm_history_visit(history, &query, take_run, room))
            learn_job(noise, room, series);
    }
    return run->error.status;
}

void tm_nightly_free_noise(struct night_noise *noise, struct tm_run *run)
{
    if (noise)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, noise, sizeof(*noise));
}

/* in:     model  NULL = any
 * out:    the number found */
static size_t choose(const struct night_noise *noise, size_t figure, const char *model,
                     struct tm_series_noise of[SAMPLED])
{
    size_t count = 0;

    for (size_t i = 0; i < noise->count; i++)
        if (noise->series[i].of[figure].count > 0 && (!model || strcmp(noise->series[i].model, model) == 0))
            of[count++] = noise->series[i].of[figure];
    return count;
}

struct tm_shared_noise tm_nightly_noise_of(const struct night_noise *noise, size_t figure, const char *model)
{
    struct tm_series_noise of[SAMPLED];
    double scratch[SAMPLED];
    size_t count = choose(noise, figure, model, of);

    if (count < TM_NOISE_SERIES)
        count = choose(noise, figure, NULL, of);
    return tm_shared_noise_of(of, count, scratch);
}
