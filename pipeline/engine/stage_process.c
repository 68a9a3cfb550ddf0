/* SPDX-License-Identifier: Apache-2.0 */
/* Stages in a process of their own (analysis.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "pipeline/engine/analysis.h"
#include "pipeline/partial.h"
#include "pipeline/ring.h"
#include "pipeline/run.h"
#include "pipeline/store/rows.h"
#include "pipeline/threads.h"
#include "pipeline/workers.h"
#include "stages/figures/device_time.h"
#include "stages/figures/feed.h"
#include "stages/figures/figure_stages.h"
#include "stages/figures/fusion.h"
#include "stages/figures/scopes.h"

/* OWN_BYTES: of pages that a process changes without a request to the ledger, such as those of libraries. */
enum { OWN_BYTES = 4 << 20, POOL_LEAST = 16 << 20 };

/* Half of the work after the survey: device time with gaps and the critical path, which has a replay at the end, and what
 * makes up for the merge.  None of them keeps something of each event, such as lengths, or continues an execution. */
static const struct tm_stage_type *const beside[] = {
    &tm_device_time_stage, &tm_fusion_stage,    &tm_scopes_stage,    &tm_programs_stage,
    &tm_balance_stage,     &tm_profiling_stage, &tm_transfers_stage,
};

/* What the other process says, in memory that both share. */
struct stage_ending {
    bool has_ended;
    struct tm_error error;
    struct tm_tallies tallies;
    size_t spilled_bytes;
};

struct tm_stage_process {
    struct tm_stage_work work;
    struct tm_ring *ring;
    struct stage_ending *ending;
    struct tm_work_pool *pool;
    struct tm_spill partial;
    uint32_t stages;   /* their bits */
    size_t lent_bytes; /* of the pool */
    size_t own_bytes;  /* of it, the other process has this much */
};

static bool is_beside(const struct tm_stage_process *p, size_t stage)
{
    return p->stages >> stage & 1;
}

/* --- in the new process --- */

static void save_sections(struct tm_stage_process *p)
{
    const struct tm_stage_work *const w = &p->work;
    struct tm_partial_writer *const to = tm_partial_writer_new(w->run, w->names, w->host_name, w->of);

    for (size_t i = 0; to && i < w->stage_count && !tm_failed(w->run); i++) {
        if (!is_beside(p, i))
            continue;
        tm_partial_begin(to, w->stages[i].type->name);
        (void)w->stages[i].type->save(&w->stages[i], to);
        tm_partial_end(to);
    }
    if (!tm_failed(w->run))
        tm_partial_write(to, stdout);
    if (!tm_failed(w->run) && fflush(stdout) != 0)
        (void)tm_fail_system(&w->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the figures of some stages");
    tm_partial_writer_free(to);
}

/* The files that are open in the other process are not open in this one, which does not need them. */
static int run_stages(void *of, size_t index)
{
    struct tm_stage_process *const p = of;
    struct tm_run *const run = p->work.run;
    const size_t spilled_before = run->budget.spilled_bytes;
    const struct tm_tallies before = run->tallies;
    void *block;

    (void)index;
    run->jobs = 0;
    run->progress = (struct tm_progress){ .phase = "" };
    tm_host_free_records(p->work.host_run);
    run->budget.pool_bytes = p->own_bytes;
    p->work.feed->beside.stages = p->stages;
    while ((block = tm_ring_next(p->ring)) != NULL) {
        if (!tm_failed(run))
            tm_feed_take_block(p->work.feed, block);
        tm_ring_free_block(p->ring, block);
    }
    tm_feed_end_blocks(p->work.feed);
    save_sections(p);
    p->ending->error = run->error;
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        p->ending->tallies.count[i] = run->tallies.count[i] - before.count[i];
    p->ending->spilled_bytes = run->budget.spilled_bytes - spilled_before;
    p->ending->has_ended = true;
    return (int)run->error.status;
}

/* --- in this one --- */

static int partial_of(void *of, size_t index)
{
    (void)index;
    return ((const struct tm_stage_process *)of)->partial.fd;
}

static tm_status process_ended(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct tm_stage_process *const p = of;

    (void)index;
    (void)fputs(outcome->said, stderr);
    if (p->ending->has_ended)
        return TM_OK;
    (void)tm_fail(&p->ending->error, TM_ERR_LIMIT, -1, "the process that computed some figures %s %d",
                  tm_outcome_words(outcome), outcome->number);
    tm_hint(&p->ending->error, "the system may have run out of memory: --jobs 1 starts no other process");
    return TM_OK;
}

static bool is_over(void *of)
{
    return tm_work_is_over(((const struct tm_stage_process *)of)->pool);
}

/* It has no files, so it can read only what is in memory. */
static bool is_in_memory(const struct tm_stage_work *w)
{
    const struct tm_trace *const trace = &w->host_run->trace;

    return tm_names_are_in_memory(w->names) && tm_rows_are_in_memory(trace->tracks) &&
           tm_rows_are_in_memory(trace->configs) && tm_rows_are_in_memory(trace->messages) &&
           tm_rows_are_in_memory(trace->hlo_ops) && tm_rows_are_in_memory(trace->hlo_modules) &&
           tm_rows_are_in_memory(trace->steps.marks) && tm_rows_are_in_memory(trace->steps.rows);
}

/* Take its part of the pool.  Names count twice, since both processes keep notes of them; tables of the trace do not
 * change any more.  Lengths need most of the pool, and stay here.
 * out: false: there is too little */
static bool lend_memory(struct tm_stage_process *p)
{
    struct tm_budget *const budget = &p->work.run->budget;
    const size_t twice = tm_ring_bytes(tm_feed_block_bytes()) + OWN_BYTES + budget->used_bytes[TM_ACCOUNT_NAMES];

    if (budget->pool_bytes < twice || budget->pool_bytes - twice < POOL_LEAST)
        return false;
    p->own_bytes = (budget->pool_bytes - twice) / 8;
    p->lent_bytes = twice + p->own_bytes;
    budget->pool_bytes -= p->lent_bytes;
    return true;
}

static void release(struct tm_stage_process *p)
{
    struct tm_budget *const budget = &p->work.run->budget;

    tm_ring_free(p->ring);
    if (p->ending)
        (void)munmap(p->ending, sizeof(*p->ending));
    tm_spill_close(&p->partial);
    tm_budget_put_back(budget, p->lent_bytes);
    tm_give(budget, TM_ACCOUNT_MODEL, p, sizeof(*p));
}

static void choose_stages(struct tm_stage_process *p)
{
    for (size_t i = 0; i < p->work.stage_count; i++)
        for (size_t k = 0; k < sizeof(beside) / sizeof(beside[0]); k++)
            p->stages |= p->work.stages[i].type == beside[k] ? p->work.stages[i].bit : 0;
}

/* out: false: something is missing, or the run has failed */
static bool start(struct tm_stage_process *p)
{
    struct tm_run *const run = p->work.run;
    const struct tm_work work = { .of = p,
                                  .count = 1,
                                  .jobs = 1,
                                  .memory_bytes = run->budget.limit_bytes,
                                  .work = run_stages,
                                  .output = partial_of,
                                  .ended = process_ended };

    choose_stages(p);
    if (!lend_memory(p))
        return false;
    p->ring = tm_ring_new(tm_feed_block_bytes());
    p->ending = mmap(NULL, sizeof(*p->ending), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->ending == MAP_FAILED)
        p->ending = NULL;
    if (!p->ring || !p->ending || tm_spill_open(&p->partial, run) != TM_OK)
        return false;
    p->pool = tm_work_begin(run, &work);
    if (!p->pool && run->error.status == TM_ERR_LIMIT) /* the system starts no process */
        run->error = (struct tm_error){ .status = TM_OK };
    return p->pool != NULL;
}

struct tm_stage_process *tm_stage_process_start(const struct tm_stage_work *work)
{
    struct tm_run *const run = work->run;
    struct tm_stage_process *p;

    if (tm_cores(run) < 2 || !is_in_memory(work))
        return NULL;
    p = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*p), &run->error);
    if (!p)
        return NULL;
    *p = (struct tm_stage_process){ .work = *work, .partial = { .fd = -1 } };
    if (!start(p)) {
        release(p);
        return NULL;
    }
    tm_feed_begin_beside(work->feed,
                         &(struct tm_feed_beside){ .stages = p->stages, .ring = p->ring, .is_over = is_over, .of = p });
    return p;
}

/* A stage whose events went to the other process, as if it had seen no host. */
static void open_again(const struct tm_stage_process *p, struct tm_stage *stage)
{
    stage->type->close(stage);
    memset(stage->state, 0, stage->type->state_bytes);
    if (!tm_failed(p->work.run))
        (void)stage->type->open(stage);
}

static void load_sections(struct tm_stage_process *p)
{
    const struct tm_stage_work *const w = &p->work;
    static const char name[] = "the figures of some stages";
    struct tm_partial_reader *const r = tm_partial_open_file(w->run, p->partial.fd, name);

    if (r)
        tm_partial_bind(r, w->names, w->host_name, w->of, w->host, 1);
    for (size_t i = 0; r && i < w->stage_count && !tm_failed(w->run); i++) {
        if (!is_beside(p, i))
            continue;
        open_again(p, &w->stages[i]);
        tm_partial_enter(r, w->stages[i].type->name);
        (void)w->stages[i].type->load(&w->stages[i], r);
        tm_partial_leave(r);
    }
    if (r)
        tm_partial_finish(r);
    (void)tm_while(&w->run->error, "reading '%s'", name);
    tm_partial_close(r);
}

void tm_stage_process_end(struct tm_stage_process *p)
{
    struct tm_run *const run = p->work.run;

    (void)tm_work_end(p->pool);
    if (!tm_failed(run))
        run->error = p->ending->error;
    run->budget.spilled_bytes += p->ending->spilled_bytes;
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        tm_tally_add(&run->tallies, (enum tm_tally)i, p->ending->tallies.count[i]);
    if (!tm_failed(run))
        load_sections(p);
    release(p);
}
