/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a report written by processes, side by side.  The summary is complete by then and does not change, so a
 * fork has all that a writer needs: the pages are shared until one is written to.  The page takes half of the time of all
 * outputs, and these are a fifth of a report from 40 MB of XSpace. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "pipeline/engine/outputs.h"
#include "pipeline/run.h"
#include "pipeline/threads.h"
#include "pipeline/workers.h"

enum {
    WRITER_BYTES = 32 << 20, /* of memory that a writer may need beside what it shares */
    FILES_MOST = 16
};

/* How a file ended, in memory that all processes share. */
struct file_ending {
    bool is_there;
    struct tm_error error;
};

struct output_processes {
    struct tm_run *run;
    const struct tm_output_files *files;
    void *of;
    size_t order[FILES_MOST]; /* files in the order of the processes: those that take long first */
    unsigned jobs;
    struct file_ending *endings;
};

/* --- in the new process --- */

static int write_output(void *of, size_t index)
{
    const struct output_processes *const p = of;
    struct file_ending *const ending = &p->endings[p->order[index]];

    p->run->budget.pool_bytes /= p->jobs;
    p->files->write(p->of, p->run, p->order[index], stdout);
    ending->error = p->run->error;
    ending->is_there = true;
    return (int)p->run->error.status;
}

/* --- in this one --- */

static int file_of(void *of, size_t index)
{
    const struct output_processes *const p = of;

    return p->files->descriptor(p->of, p->order[index]);
}

static tm_status output_ended(void *of, size_t index, const struct tm_outcome *outcome)
{
    const struct output_processes *const p = of;
    struct file_ending *const ending = &p->endings[p->order[index]];

    (void)fputs(outcome->said, stderr);
    if (ending->is_there)
        return TM_OK;
    ending->is_there = true;
    (void)tm_fail(&ending->error, TM_ERR_LIMIT, -1, "the process that wrote an output %s %d", tm_outcome_words(outcome),
                  outcome->number);
    tm_hint(&ending->error, "the system may have run out of memory: --jobs 1 writes one output at a time");
    return TM_OK;
}

static unsigned choose_jobs(struct tm_run *run, size_t count)
{
    size_t used = 0, fit, jobs;

    if (count < 2 || tm_cores(run) < 2)
        return 1;
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        used += run->budget.used_bytes[i];
    fit = used < run->budget.limit_bytes ? (run->budget.limit_bytes - used) / WRITER_BYTES : 0;
    jobs = tm_cores(run) < count ? tm_cores(run) : count;
    jobs = jobs < fit ? jobs : fit;
    return jobs > 1 ? (unsigned)jobs : 1;
}

static void write_by_processes(struct output_processes *p, size_t count)
{
    const struct tm_work work = { .of = p,
                                  .count = count,
                                  .jobs = p->jobs,
                                  .memory_bytes = p->run->budget.limit_bytes,
                                  .work = write_output,
                                  .output = file_of,
                                  .ended = output_ended };

    /* Where the system makes no process, the caller writes what is missing. */
    if (tm_work_all(p->run, &work) != TM_OK)
        p->run->error = (struct tm_error){ .status = TM_OK };
}

static void put_in_order(struct output_processes *p, size_t count)
{
    size_t at = 0;

    for (int is_long = 1; is_long >= 0; is_long--)
        for (size_t i = 0; i < count; i++)
            if (p->files->takes_long(p->of, i) == (bool)is_long)
                p->order[at++] = i;
}

void tm_outputs_side_by_side(struct tm_run *run, const struct tm_output_files *files, void *of, size_t count)
{
    const size_t bytes = FILES_MOST * sizeof(struct file_ending);
    struct output_processes p = { .run = run, .files = files, .of = of };
    void *shared = MAP_FAILED;

    if (tm_failed(run))
        return;
    p.jobs = count <= FILES_MOST ? choose_jobs(run, count) : 1;
    if (p.jobs > 1)
        shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    p.endings = shared;
    put_in_order(&p, count);
    write_by_processes(&p, count);
    for (size_t i = 0; i < count && !tm_failed(run); i++) {
        if (!p.endings[i].is_there)
            continue;
        files->has_written(of, i);
        run->error = p.endings[i].error;
    }
    (void)munmap(shared, bytes);
}
