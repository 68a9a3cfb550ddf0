/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a run, read by processes: each reads adjacent hosts and writes their partial to its stdout, a file
 * without a name that this process has made.  Many partials are joined in the same way, as a tree of two levels.
 * Partials of hosts merge to exactly what one process gives, so the summary does not depend on the number of processes.
 * Memory: the processes share what --memory allows. */
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
    CODE_BYTES = 16 << 20,   /* that a process takes in addition: --memory is for all together */
    SHARES_MOST = 128,       /* whose partials are open at a time */
    MANY_HOSTS = 8, /* a process: where it has more, there are several shares for each, since some take longer */
    SHARES_EACH = 4,
    PARTIALS_LEAST = 32, /* fewer are joined by this process alone */
    SAID_BYTES = 4096
};

/* The run of a process, in memory that all of them share. */
struct share_run {
    bool has_ended;
    struct tm_run run;
};

/* Files of the run that one process reads. */
struct share {
    size_t file, count; /* the first one, and how many */
    struct tm_spill partial;
    char said[SAID_BYTES];
};

struct tm_host_processes {
    struct tm_run *run;
    const struct tm_options *options;
    const struct tm_inputs *inputs;
    bool takes_partials;
    tm_host_partial_write *write;
    struct share *shares;
    size_t count, room;
    struct share_run *runs; /* of each share */
    struct tm_work_pool *pool;
    size_t memory_bytes; /* of a process */
    size_t limit_bytes;  /* --memory, while this process takes part with less; 0 = it takes no part */
    uint64_t shown;      /* bytes that the progress has */
};

/* --- in the new process --- */

static int read_share(void *of, size_t index)
{
    struct tm_host_processes *const p = of;
    const struct share *const share = &p->shares[index];
    struct tm_run *const run = &p->runs[index].run;

    *run = (struct tm_run){ .spill_dir = p->run->spill_dir,
                            .limit_times = p->run->limit_times,
                            .tally_use = p->run->tally_use,
                            .quiet = p->run->quiet,
                            .follow_links = p->run->follow_links,
                            .helpers = p->run->helpers,
                            .links_root = p->run->links_root,
                            .progress = { .phase = "" } };
    tm_budget_init(&run->budget, p->memory_bytes);
    p->write(run, p->options, p->inputs, share->file, share->count, stdout);
    if (fflush(stdout) != 0 && !tm_failed(run))
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the partial of a host");
    p->runs[index].has_ended = true;
    return (int)run->error.status;
}

/* --- in this one --- */

static int partial_of(void *of, size_t index)
{
    const struct tm_host_processes *const p = of;

    return p->shares[index].partial.fd;
}

static void show_progress(void *of)
{
    struct tm_host_processes *const p = of;
    uint64_t bytes = 0;

    for (size_t i = 0; i < p->count; i++)
        bytes += *(volatile uint64_t *)&p->runs[i].run.bytes_read;
    tm_progress_add(&p->run->progress, bytes - p->shown);
    p->shown = bytes;
}

static tm_status share_ended(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct tm_host_processes *const p = of;
    struct share *const share = &p->shares[index];
    struct tm_error *const error = &p->runs[index].run.error;
    char name[TM_FOUND_NAME_BYTES];

    (void)snprintf(share->said, sizeof(share->said), "%s", outcome->said);
    show_progress(p);
    if (p->runs[index].has_ended)
        return TM_OK;
    *error = (struct tm_error){ .status = TM_OK };
    (void)tm_fail(error, TM_ERR_LIMIT, -1, "the process that read %zu file%s from '%s' on %s %d", share->count,
                  share->count == 1 ? "" : "s", tm_found_name(p->inputs->files[share->file], name),
                  tm_outcome_words(outcome), outcome->number);
    tm_hint(error, "the system may have run out of memory: --jobs 1 reads one host at a time");
    return TM_OK;
}

/* Warnings come in the order of the hosts, and the failure is that of the first one. */
static void take_endings(struct tm_host_processes *p)
{
    for (size_t i = 0; i < p->count && !tm_failed(p->run); i++) {
        (void)fputs(p->shares[i].said, stderr);
        p->run->bytes_read += p->runs[i].run.bytes_read;
        if (p->runs[i].run.error.status != TM_OK)
            p->run->error = p->runs[i].run.error;
    }
}

static void start_processes(struct tm_host_processes *p, unsigned jobs)
{
    const struct tm_work work = { .of = p,
                                  .count = p->count,
                                  .jobs = jobs,
                                  .memory_bytes = p->memory_bytes,
                                  .work = read_share,
                                  .output = partial_of,
                                  .ended = share_ended,
                                  .tick = show_progress };

    p->runs = mmap(NULL, p->room * sizeof(*p->runs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->runs == MAP_FAILED) {
        p->runs = NULL;
        (void)tm_fail_system(&p->run->error, TM_ERR_LIMIT, -1, errno, "cannot share memory with processes");
        return;
    }
    for (size_t i = 0; i < p->count; i++)
        tm_spill_open(&p->shares[i].partial, p->run);
    if (!tm_failed(p->run))
        p->pool = tm_work_begin(p->run, &work);
}

static void wait_for_processes(struct tm_host_processes *p)
{
    uint64_t total = 0;

    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->shares[i].count; k++)
            total += p->inputs->files[p->shares[i].file + k]->bytes;
    tm_progress_file(&p->run->progress, total);
    tm_progress_span(&p->run->progress, 0, 1);
    p->run->progress.file = 0;
    tm_progress_phase(&p->run->progress, "reading", total);
    show_progress(p);
    if (tm_work_end(p->pool) == TM_OK)
        take_endings(p);
    p->pool = NULL;
}

/* Which files are read by processes: traces that can be opened again without a search in an archive, and partials if
 * there are many. */
static bool is_wanted(const struct tm_host_processes *p, size_t file)
{
    const struct tm_found_file *const found = p->inputs->files[file];
    const enum tm_input_part_kind kind = p->inputs->parts[file].kind;

    return (kind == TM_PART_TRACE || (kind == TM_PART_PARTIAL && p->takes_partials)) && !found->member &&
           !found->opened;
}

static bool has_many_partials(const struct tm_inputs *inputs)
{
    size_t count = 0;

    for (size_t i = 0; i < inputs->file_count; i++)
        count += inputs->parts[i].kind == TM_PART_PARTIAL;
    return count >= PARTIALS_LEAST;
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

/* Split the files into shares of about the same size: a share starts where the middle of a file is past the end that
 * the ones before it should have.
 * in:     bytes, wanted  of all files that processes read
 * out:    the file behind the last share */
static size_t split(struct tm_host_processes *p, size_t first, size_t end, double bytes, unsigned wanted)
{
    double before = 0;
    size_t file = first;

    for (; file < end; file++) {
        const double own = (double)p->inputs->files[file]->bytes;
        const struct share *const last = p->count ? &p->shares[p->count - 1] : NULL;
        const bool is_next = last && last->file + last->count == file;

        if (!is_wanted(p, file))
            continue;
        if (is_next && before + own / 2 <= bytes / wanted * (double)p->count) {
            p->shares[p->count - 1].count++;
        } else {
            if (p->count == SHARES_MOST)
                break;
            p->shares[p->count++] = (struct share){ .file = file, .count = 1, .partial = { .fd = -1 } };
        }
        before += own;
    }
    return file;
}

/* The first share is for this process: the others use a part of its memory meanwhile.  Otherwise it would only wait, and
 * one more partial would be written and read. */
static void take_part(struct tm_host_processes *p)
{
    const size_t lent = (p->memory_bytes + CODE_BYTES) * (p->count - 1);
    const size_t whole = p->run->budget.limit_bytes;

    if (!tm_budget_set_limit(&p->run->budget, whole - lent))
        return;
    p->limit_bytes = whole;
    p->count--;
    memmove(p->shares, p->shares + 1, p->count * sizeof(*p->shares));
}

/* in: first  0 = the stages are not open */
static void start_side_by_side(struct tm_host_partials *partials, struct tm_host_processes *p, size_t first)
{
    size_t hosts = 0;
    double bytes = 0;
    unsigned jobs, shares;

    for (size_t i = first; i < partials->count; i++) {
        hosts += is_wanted(p, i);
        bytes += is_wanted(p, i) ? (double)p->inputs->files[i]->bytes : 0;
    }
    jobs = choose_jobs(p->run, p->options, hosts);
    if (jobs < 2)
        return;
    shares = hosts > (size_t)jobs * MANY_HOSTS ? jobs * SHARES_EACH : jobs;
    partials->until = split(p, first, partials->count, bytes, shares);
    jobs = jobs < p->count ? jobs : (unsigned)p->count;
    p->memory_bytes = (free_bytes(p->run) + CODE_BYTES) / jobs - CODE_BYTES;
    if (first == 0 && jobs > 1 && p->count == jobs)
        take_part(p);
    start_processes(p, jobs);
    for (size_t i = 0; i < p->count; i++)
        partials->files[p->shares[i].file] =
            (struct tm_host_partial){ .partial = p->shares[i].partial, .files = p->shares[i].count };
}

/* Wait for what is at work, if anything is. */
static void end_work(struct tm_host_partials *partials)
{
    struct tm_host_processes *const p = partials->at_work;
    struct tm_budget *const budget = &partials->run->budget;

    if (!p)
        return;
    partials->at_work = NULL;
    if (p->pool)
        wait_for_processes(p);
    if (p->limit_bytes)
        (void)tm_budget_set_limit(budget, p->limit_bytes);
    if (p->runs)
        (void)munmap(p->runs, p->room * sizeof(*p->runs));
    tm_give(budget, TM_ACCOUNT_MODEL, p->shares, p->shares ? p->room * sizeof(*p->shares) : 0);
    tm_give(budget, TM_ACCOUNT_MODEL, p, sizeof(*p));
}

static void start_work(struct tm_host_partials *partials, size_t first)
{
    struct tm_run *const run = partials->run;
    const size_t left = partials->count - first, room = left < SHARES_MOST ? left : SHARES_MOST;
    struct tm_host_processes *const p = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*p), &run->error);

    partials->until = partials->count;
    if (!p)
        return;
    *p = (struct tm_host_processes){ .run = run,
                                     .options = partials->options,
                                     .inputs = partials->inputs,
                                     .takes_partials = has_many_partials(partials->inputs),
                                     .write = partials->write,
                                     .room = room,
                                     .shares = tm_take(&run->budget, TM_ACCOUNT_MODEL, room * sizeof(struct share),
                                                       &run->error) };
    partials->at_work = p;
    if (p->shares)
        start_side_by_side(partials, p, first);
    if (!p->limit_bytes)
        end_work(partials);
}

struct tm_host_partial *tm_host_partials_at(struct tm_host_partials *partials, size_t file)
{
    if (file == partials->until)
        start_work(partials, file);
    if (partials->files[file].files)
        end_work(partials);
    return partials->files[file].files && !tm_failed(partials->run) ? &partials->files[file] : NULL;
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
        partials->files[i].partial.fd = -1;
    start_work(partials, 0);
}

void tm_host_partials_free(struct tm_host_partials *partials)
{
    const size_t count = partials->inputs && partials->inputs->file_count ? partials->inputs->file_count : 1;

    if (partials->run)
        end_work(partials);
    for (size_t i = 0; i < partials->count; i++)
        tm_spill_close(&partials->files[i].partial);
    if (partials->files)
        tm_give(&partials->run->budget, TM_ACCOUNT_MODEL, partials->files, count * sizeof(*partials->files));
    *partials = (struct tm_host_partials){ .run = NULL };
}
