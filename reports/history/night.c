/* SPDX-License-Identifier: Apache-2.0 */
/* A document "tracemill.night" (schemas/NIGHT.md) of a history. */
#include "reports/history/night.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/compare.h"
#include "reports/compare/run_facts.h"

enum { FIRST_ROOM = 64, NUMBERS = 4 * NIGHT_POINTS + 1 };

/* --- one pass over all runs --- */

static tm_status more_room(struct night *night)
{
    const size_t room = night->room ? 2 * night->room : FIRST_ROOM;
    struct night_job *job;

    if (night->jobs < night->room)
        return TM_OK;
    job = tm_retake(&night->run->budget, TM_ACCOUNT_MODEL, night->job, night->room * sizeof(*job), room * sizeof(*job),
                    &night->run->error);
    if (!job)
        return night->run->error.status;
    night->job = job;
    night->room = room;
    return TM_OK;
}

static tm_status end_job(struct night *night)
{
    struct night_judgement judged;
    struct night_job *job;

    if (night->history->count == 0)
        return TM_OK;
    if (more_room(night))
        return night->run->error.status;
    night_judge(&judged, night->history);
    job = &night->job[night->jobs++];
    memcpy(job->job, night->history->job, sizeof(job->job));
    memcpy(job->nights, night->history->nights, sizeof(job->nights));
    job->state = judged.state;
    night->jobs_that_ran += judged.state != NIGHT_GONE;
    job->weight = judged.weight;
    job->step_change_pct = judged.newest ? judged.figure[0].change : NAN;
    job->is_step_worse = judged.newest && judged.figure[0].state == NIGHT_WORSE;
    for (size_t i = 0; i < NIGHT_NIGHTS; i++)
        night_keep_night(night->usual, job->nights[i]);
    return TM_OK;
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct night *night = to;

    night->runs++;
    night->older += !tm_history_is_current(row);
    night->ahead += tm_history_is_ahead(night->judged, row);
    if (tm_history_is_ahead(night->judged, row))
        return TM_OK;
    if (night->history->count == 0 || strcmp(night->history->job, row->keys.job) != 0) {
        if (end_job(night))
            return night->run->error.status;
        night_history_begin(night->history, row->keys.job, night->judged);
    }
    night_history_add(night->history, row);
    return TM_OK;
}

static bool ran_on(const struct night_job *job, const char *night)
{
    for (size_t i = 0; i < NIGHT_NIGHTS && *night; i++)
        if (strcmp(night, job->nights[i]) == 0)
            return true;
    return false;
}

/* A job is missed that ran on NIGHT_USUAL of the usual nights before the last one, and has now paused for longer than it
 * did between two of them: one that runs every other night is not missed on the nights between. */
static bool is_missed(const struct night *night, const struct night_job *job)
{
    size_t count = 0, last = 0, before = 0, longest = 0; /* places in `usual`; 0 = none yet, since it did not run there */

    for (size_t i = 1; i < NIGHT_NIGHTS; i++) {
        if (!ran_on(job, night->usual[i]))
            continue;
        count++;
        last = last ? last : i;
        longest = before && i - before > longest ? i - before : longest;
        before = i;
    }
    return count >= NIGHT_USUAL && last + 1 > longest;
}

static int by_importance(const void *a, const void *b)
{
    const struct night_job *x = a, *y = b;

    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->job, y->job);
}

static tm_status look_at_jobs(struct night *night)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };
    tm_status st;

    night_history_begin(night->history, "", night->judged);
    st = tm_history_visit(night->source, &all, take_run, night);
    if (!st)
        st = end_job(night);
    if (st)
        return st;
    for (size_t i = 0; i < night->jobs; i++) {
        /* A run of an older night that came late does not hide that none came of this one. */
        if (night->job[i].state > NIGHT_ABSENT && !ran_on(&night->job[i], night->date) && is_missed(night, &night->job[i]))
            night->job[i].state = NIGHT_ABSENT;
        night->of_state[night->job[i].state]++;
    }
    if (night->jobs > 1)
        qsort(night->job, night->jobs, sizeof(*night->job), by_importance);
    return TM_OK;
}

/* --- the jobs that matter most --- */

static tm_status take_run_of_job(void *to, const struct tm_history_run *row)
{
    night_history_add(to, row);
    return TM_OK;
}

tm_status night_read_job(struct night *night, const char *job)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .job = job, .until = night->judged->until };

    night_history_begin(night->history, job, night->judged);
    return tm_history_visit(night->source, &query, take_run_of_job, night->history);
}

static tm_status tell_jobs(struct night *night)
{
    const size_t told = night->jobs - night->of_state[NIGHT_GONE];

    for (size_t i = 0; i < told && i < night->options->rows; i++) {
        struct night_judgement judged;

        if (night_read_job(night, night->job[i].job))
            return night->run->error.status;
        night_judge(&judged, night->history);
        judged.state = night->job[i].state;
        night_add_job(night, &judged);
        night_add_changes(night, &judged);
        night_add_worse_finding(night, &judged);
        night_add_trends(night, &judged, i < NIGHT_TREND_JOBS);
    }
    return tm_doc_status(night->doc);
}

/* The lists, in the order of the document; they are filled job by job. */
static void begin_lists(struct night *night)
{
    static const char *const lists[] = { "findings", "worse", "better", "jobs", "trends", "change_points" };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        (void)tm_add_array(night->root, lists[i]);
}

static tm_status fill(struct night *night)
{
    const struct tm_compare_options head = { .title = night->options->title,
                                             .note = night->options->note,
                                             .rows = night->options->rows };
    tm_status st;

    tm_add_study_head(night->root, "tracemill.night", &head, false);
    if (look_at_jobs(night))
        return night->run->error.status;
    night_add_place(night);
    begin_lists(night);
    st = night_add_runs(night);
    if (st)
        return st;
    night_add_head(night);
    night_add_failed_finding(night);
    night_add_gates_finding(night);
    st = tell_jobs(night);
    if (st)
        return st;
    night_add_absent_finding(night);
    night_add_ahead_finding(night);
    night_add_gates(night);
    night_add_left_out(night);
    night_add_verdict(night);
    return tm_doc_status(night->doc);
}

tm_status tm_night_fill(struct tm_run *run, struct tm_doc *out, struct tm_history *history,
                        const struct tm_night_options *options)
{
    const size_t bytes = sizeof(struct night_history) + NUMBERS * sizeof(double);
    struct night night = {
        .run = run, .doc = out, .root = tm_doc_root(out), .source = history, .options = options,
        .judged = options->judged, .date = options->judged->last
    };
    tm_status st;

    night.history = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!night.history)
        return run->error.status;
    night.series = (double *)(void *)(night.history + 1);
    night.scratch = night.series + NIGHT_POINTS;
    st = fill(&night);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, night.job, night.room * sizeof(*night.job));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, night.history, bytes);
    return st;
}
