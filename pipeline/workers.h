/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WORKERS_H
#define TM_WORKERS_H

#include "pipeline/run.h"

/* A pool of forked processes, one per piece of work: whatever happens in one of them, including a crash, is only a
 * result.  They end when the driver ends for any reason. */

enum tm_outcome_kind { TM_OUTCOME_EXIT, TM_OUTCOME_SIGNAL, TM_OUTCOME_TIME };

struct tm_outcome {
    enum tm_outcome_kind kind;
    int number;       /* exit status, or signal */
    const char *said; /* the start of its stderr, terminated; any bytes */
};

/* Before the number, in a message on a process that has not done its work. */
static inline const char *tm_outcome_words(const struct tm_outcome *outcome)
{
    return outcome->kind == TM_OUTCOME_SIGNAL ? "was terminated by signal" : "exited with status";
}

struct tm_work {
    void *of;            /* given to all calls */
    size_t count;        /* pieces, started in order */
    unsigned jobs;       /* at once */
    size_t memory_bytes; /* --memory of each: its data may grow to a bound well above it, set by the kernel */
    int64_t time_ps;     /* clock time of each, then SIGTERM, then SIGKILL; 0 = no limit */
    bool (*wants)(void *of, size_t index); /* in the driver, before it starts: false = skip it; NULL = all are worked */
    /* In the new process: its stdin is /dev/null, its stdout too or `output`, the driver keeps its stderr, and no other
     * file that the driver had open is open in it.  returned: its exit status */
    int (*work)(void *of, size_t index);
    int (*output)(void *of, size_t index); /* in the driver: the file that is the stdout; NULL = none */
    /* In the driver, as pieces end, in any order.  errors: stop, and end the others */
    tm_status (*ended)(void *of, size_t index, const struct tm_outcome *outcome);
    void (*tick)(void *of); /* in the driver, about once a second; NULL = none */
};

/* SIGINT, SIGTERM and SIGHUP end the processes, and then the driver itself, as they would without it.
 * errors: those of ended; TM_ERR_LIMIT if no process can be made at all */
tm_status tm_work_all(struct tm_run *run, const struct tm_work *work);

/* The same in two calls, between which the driver does work of its own: it hears of nothing meanwhile, and a signal ends
 * it, and the processes with it.
 * owns:   tm_work_end releases it; what `of` refers to is the caller's
 * errors: NULL */
struct tm_work_pool *tm_work_begin(struct tm_run *run, const struct tm_work *work);
/* Wait for all of them, or end them if the run has failed.  errors: as tm_work_all */
tm_status tm_work_end(struct tm_work_pool *pool);

/* Whether all that were started have ended: for a driver that waits for something else from them. */
bool tm_work_is_over(const struct tm_work_pool *pool);

/* How many bytes of data a process of the pool may have on top of those that it starts with. */
uint64_t tm_work_data_bytes(size_t memory_bytes);

enum { TM_PROCESS_MIB = 48 }; /* of a process in addition to --memory */

/* Number of concurrent processes: the requested number, or as many as fit the cores (affinity, SLURM_CPUS_PER_TASK,
 * cgroup) and the memory (available, cgroup, SLURM_MEM_PER_NODE, SLURM_MEM_PER_CPU), each taking --memory plus 48 MiB;
 * at least 1.
 * in:     wanted  0 = auto; is_forced  accept even if memory is too small
 * errors: TM_ERR_USAGE  more than fits in memory: says how many fit */
tm_status tm_jobs_choose(struct tm_run *run, uint64_t wanted, size_t memory_bytes, bool is_forced, unsigned *jobs);

/* What this process may use of the machine: the minimum of what the kernel, the control groups above it and Slurm
 * allow. */
struct tm_machine {
    unsigned cores;        /* at least 1 */
    uint64_t memory_bytes; /* that is not in use; UINT64_MAX = not known */
};

/* in: root  "" for the machine; a folder with "proc" and "sys" in it for tests */
struct tm_machine tm_machine_look(const char *root);

#endif
