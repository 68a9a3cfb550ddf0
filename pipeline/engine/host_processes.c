/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a run, read by processes: each reads one host and writes its partial to its stdout, a file without a
 * name that this process has made.  Partials of hosts merge to exactly what one process gives, so the
 * summary does not depend on the number of processes.  Memory: the processes share what --memory allows. */
#include "pipeline/engine/analysis.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/discover.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/run.h"
#include "pipeline/store/rows.h"
#include "pipeline/workers.h"

enum {
    LEAST_MEMORY = 32 << 20, /* of a process */
    CODE_BYTES = 16 << 20,   /* that a process takes beside it: --memory is for all together */
    HOSTS_MOST = 128,        /* whose partials are open at a time */
    SAID_BYTES = 4096
};

/* How a process ended, in memory that all of them share. */
struct ending {
    bool is_there;
    struct tm_error error;
    uint64_t bytes_read;
};

struct host {
    size_t file; /* its number among the files of the run */
    struct tm_spill partial;
    char said[SAID_BYTES];
};

struct host_processes {
    struct tm_run *run;
    const struct tm_options *options;
    const struct tm_inputs *inputs;
    tm_host_partial_write *write;
    struct host *hosts;
    struct ending *endings; /* of each host */
    size_t count;
    size_t memory_bytes; /* of a process */
};

/* --- in the new process --- */

static int read_host(void *of, size_t index)
{
    static struct tm_run run;
    struct host_processes *const p = of;
    const struct host *const host = &p->hosts[index];

    run = (struct tm_run){ .spill_dir = p->run->spill_dir,
                           .limit_times = p->run->limit_times,
                           .tally_use = p->run->tally_use,
                           .quiet = p->run->quiet,
                           .follow_links = p->run->follow_links,
                           .links_root = p->run->links_root,
                           .progress = { .phase = "" } };
    tm_budget_init(&run.budget, p->memory_bytes);
    p->write(&run, p->options, p->inputs, host->file, stdout);
    if (fflush(stdout) != 0 && !tm_failed(&run))
        (void)tm_fail_system(&run.error, TM_ERR_OUTPUT, -1, errno, "cannot write the partial of a host");
    p->endings[index] = (struct ending){ .is_there = true, .error = run.error, .bytes_read = run.bytes_read };
    return (int)run.error.status;
}

/* --- in this one --- */

static int partial_of(void *of, size_t index)
{
    const struct host_processes *const p = of;

    return p->hosts[index].partial.fd;
}

static tm_status host_ended(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct host_processes *const p = of;
    struct host *const host = &p->hosts[index];
    struct tm_error *const error = &p->endings[index].error;
    char name[TM_FOUND_NAME_BYTES];

    (void)snprintf(host->said, sizeof(host->said), "%s", outcome->said);
    tm_progress_add(&p->run->progress, p->inputs->files[host->file]->bytes);
    if (p->endings[index].is_there)
        return TM_OK;
    (void)tm_fail(
        error, TM_ERR_LIMIT, -1, "the process that read '%s' %s %d", tm_found_name(p->inputs->files[host->file], name),
        outcome->kind == TM_OUTCOME_SIGNAL ? "was terminated by signal" : "exited with status", outcome->number);
    tm_hint(error, "the system may have run out of memory: --jobs 1 reads one host at a time");
    return TM_OK;
}

/* Warnings come in the order of the hosts, and the failure is that of the first one. */
static void take_endings(struct host_processes *p)
{
    for (size_t i = 0; i < p->count && !tm_failed(p->run); i++) {
        const struct ending *const ending = &p->endings[i];

        (void)fputs(p->hosts[i].said, stderr);
        p->run->bytes_read += ending->bytes_read;
        if (ending->error.status != TM_OK)
            p->run->error = ending->error;
    }
}

static void run_processes(struct host_processes *p, unsigned jobs)
{
    const struct tm_work work = { .of = p,
                                  .count = p->count,
                                  .jobs = jobs,
                                  .memory_bytes = p->memory_bytes,
                                  .work = read_host,
                                  .output = partial_of,
                                  .ended = host_ended };
    const size_t bytes = p->count * sizeof(*p->endings);
    uint64_t total = 0;

    p->endings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->endings == MAP_FAILED) {
        (void)tm_fail_system(&p->run->error, TM_ERR_LIMIT, -1, errno, "cannot share memory with processes");
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        tm_spill_open(&p->hosts[i].partial, p->run);
        total += p->inputs->files[p->hosts[i].file]->bytes;
    }
    tm_progress_file(&p->run->progress, total);
    tm_progress_span(&p->run->progress, 0, 1);
    p->run->progress.file = 0;
    tm_progress_phase(&p->run->progress, "reading", total);
    if (!tm_failed(p->run) && tm_work_all(p->run, &work) == TM_OK)
        take_endings(p);
    (void)munmap(p->endings, bytes);
}

/* Which files are read by processes: traces that can be opened again without a search in an archive. */
static bool is_wanted(const struct tm_inputs *inputs, size_t file)
{
    return inputs->parts[file].kind == TM_PART_TRACE && !inputs->files[file]->member && !inputs->files[file]->opened;
}

/* What this process does not use of --memory now, the others may. */
static size_t free_bytes(const struct tm_run *run)
{
    size_t used = 0;

    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        used += run->budget.used_bytes[i];
    return used < run->budget.limit_bytes ? run->budget.limit_bytes - used : 0;
}

static unsigned choose_jobs(const struct tm_run *run, const struct tm_options *options, size_t hosts)
{
    const uint64_t fit = (free_bytes(run) + CODE_BYTES) / (LEAST_MEMORY + CODE_BYTES);
    uint64_t jobs = options->jobs ? options->jobs : tm_machine_look("").cores;

    jobs = jobs < hosts ? jobs : hosts;
    return (unsigned)(jobs < fit ? jobs : fit);
}

void tm_host_partials_make(struct tm_host_partials *partials, size_t first)
{
    struct tm_run *const run = partials->run;
    const size_t end = partials->count - first < HOSTS_MOST ? partials->count : first + HOSTS_MOST;
    const size_t bytes = (end - first) * sizeof(struct host);
    struct host_processes p = {
        .run = run, .options = partials->options, .inputs = partials->inputs, .write = partials->write
    };
    unsigned jobs;

    partials->until = end;
    p.hosts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!p.hosts)
        return;
    for (size_t i = first; i < end; i++)
        if (is_wanted(p.inputs, i))
            p.hosts[p.count++] = (struct host){ .file = i, .partial = { .fd = -1 } };
    jobs = choose_jobs(run, p.options, p.count);
    if (jobs > 1) {
        p.memory_bytes = (free_bytes(run) + CODE_BYTES) / jobs - CODE_BYTES;
        run_processes(&p, jobs);
        for (size_t i = 0; i < p.count; i++)
            partials->files[p.hosts[i].file] = p.hosts[i].partial;
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, p.hosts, bytes);
}

void tm_host_partials_init(struct tm_host_partials *partials, struct tm_run *run, const struct tm_options *options,
                           const struct tm_inputs *inputs, tm_host_partial_write *write)
{
    const size_t count = inputs->file_count ? inputs->file_count : 1;

    *partials = (struct tm_host_partials){ .run = run, .options = options, .inputs = inputs, .write = write };
    partials->files = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*partials->files), &run->error);
    if (!partials->files)
        return;
    partials->count = inputs->file_count;
    for (size_t i = 0; i < count; i++)
        partials->files[i].fd = -1;
}

void tm_host_partials_free(struct tm_host_partials *partials)
{
    const size_t count = partials->inputs && partials->inputs->file_count ? partials->inputs->file_count : 1;

    for (size_t i = 0; i < partials->count; i++)
        tm_spill_close(&partials->files[i]);
    if (partials->files)
        tm_give(&partials->run->budget, TM_ACCOUNT_MODEL, partials->files, count * sizeof(*partials->files));
    *partials = (struct tm_host_partials){ .run = NULL };
}
