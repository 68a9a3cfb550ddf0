/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_SUBMIT_H
#define TM_BATCH_SUBMIT_H

#include <stdint.h>

#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "pipeline/run.h"

/* A submission to Slurm, or to Kubernetes.  All its files are in one folder, so pending or restarted tasks of an earlier submission find
 * theirs unchanged:
 *     OUT/slurm/0001/todo.jsonl   a manifest of the incomplete runs: shares are shares of it
 *     OUT/slurm/0001/run.sh       a task of the array job
 *     OUT/slurm/0001/merge.sh     the dependent job
 *     OUT/slurm/0001/submit.sh    submits both to sbatch, and records their ids
 *     OUT/slurm/0001/jobs         the ids: lines "array 17", "merge 18"
 *     OUT/slurm/0001/run-0.log, ..., merge.log    their output
 *     OUT/kubernetes/0001/todo.jsonl, jobs.yaml   likewise, what is printed for kubectl
 * The last thirty are kept. */
#define TM_TODO_FILE "todo.jsonl"
#define TM_SUBMIT_SCRIPT "submit.sh"
#define TM_JOBS_FILE "jobs.yaml"

enum { TM_JOB_BYTES = 24 };

/* Numbers of jobs, as Slurm gives them; "" = there is none. */
struct tm_slurm_jobs {
    char array[TM_JOB_BYTES], merge[TM_JOB_BYTES];
};

struct tm_submission {
    const struct tm_options *options;
    const char *kind;             /* "slurm", "kubernetes" */
    char here[TM_OUT_PATH_BYTES]; /* the working folder, with a slash at its end: what relative paths are relative to */
    char program[TM_OUT_PATH_BYTES]; /* this one: an absolute path, as are the next two */
    char out[TM_OUT_PATH_BYTES];
    char folder[TM_OUT_PATH_BYTES]; /* OUT/slurm/0001 */
    uint64_t items, runs, bytes;    /* that have to be worked */
    uint64_t tasks;                 /* of the array job; 0 = there is nothing to do but to merge */
    uint64_t jobs;                  /* processes in a task */
    uint64_t memory_mib;            /* of a task, and of the merge */
    unsigned number;                /* of the folder */
    struct tm_slurm_jobs after;     /* of an earlier submission into this OUT, which may still run */
};

/* Write the scripts into the folder of the submission, or jobs.yaml, which is printed, too.  They hold all that is set,
 * as options: neither the environment nor the configuration file nor the working folder of the one who submits is
 * needed later.
 * errors: TM_ERR_OUTPUT */
tm_status tm_submission_write(struct tm_run *run, const struct tm_submission *submission);

/* --mount CLAIM:PATH[:ro], checked before any work: valid, and each path of the batch is in one of them.
 * errors: TM_ERR_USAGE */
tm_status tm_submission_check_mounts(struct tm_run *run, const struct tm_submission *submission, const char *path);

#endif
