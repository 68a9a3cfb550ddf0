/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUBMISSION_H
#define TM_SUBMISSION_H

#include "pipeline/batch/out_folder.h"
#include "pipeline/options.h"

/* A batch on its way to Slurm.  All of it lies in a folder of its own, so that tasks of an earlier one that still wait, or
 * are begun again, find theirs as it was:
 *     OUT/slurm/0001/todo.jsonl   a manifest of the runs of which something is missing: shares are shares of it
 *     OUT/slurm/0001/run.sh       a task of the array job
 *     OUT/slurm/0001/merge.sh     the job after it
 *     OUT/slurm/0001/submit.sh    gives both to sbatch, and keeps their numbers
 *     OUT/slurm/0001/jobs         the numbers: lines "array 17", "merge 18"
 *     OUT/slurm/0001/run-0.log, ..., merge.log    what they print
 * The last thirty are kept.
 */
#define TM_TODO_FILE "todo.jsonl"
#define TM_SUBMIT_SCRIPT "submit.sh"
enum { TM_JOB_BYTES = 24 };

/* Numbers of jobs, as Slurm gives them; "" = there is none. */
struct tm_slurm_jobs {
    char array[TM_JOB_BYTES], merge[TM_JOB_BYTES];
};

struct tm_submission {
    const struct tm_options *options;
    char here[TM_OUT_PATH_BYTES];    /* the working folder, with a slash at its end: what relative paths are relative to */
    char program[TM_OUT_PATH_BYTES]; /* this one: an absolute path, as are the next two */
    char out[TM_OUT_PATH_BYTES];
    char folder[TM_OUT_PATH_BYTES];  /* OUT/slurm/0001 */
    uint64_t items, runs, bytes;     /* that have to be worked */
    uint64_t tasks;                  /* of the array job; 0 = there is nothing to do but to merge */
    uint64_t jobs;                   /* processes in a task */
    uint64_t memory_mib;             /* of a task, and of the merge */
    struct tm_slurm_jobs after;      /* of an earlier submission into this OUT, which may still run */
};

/* Make a folder for it in OUT, which is there, remove the one that is now too old, and find what was submitted last.
 * in:     out, options
 * out:    folder, after
 * errors: TM_ERR_OUTPUT */
tm_status tm_submission_place(struct tm_run *run, struct tm_submission *submission) TM_MUST_USE;

/* Write the three scripts.  They hold all that is set, as options: neither the environment nor the configuration file nor
 * the working folder of the one who submits is needed later.
 * errors: TM_ERR_OUTPUT */
tm_status tm_submission_write(struct tm_run *run, const struct tm_submission *submission) TM_MUST_USE;

/* Run submit.sh.
 * out:    jobs    what was submitted, also after a failure
 * errors: TM_ERR_OUTPUT  with what sbatch says; with --sbatch=--wait the status that the merge ended with */
tm_status tm_submission_send(struct tm_run *run, const struct tm_submission *submission,
                             struct tm_slurm_jobs *jobs) TM_MUST_USE;

/* Read lines "array 17" and "merge 18"; other lines, and what is no number, are passed over. */
void tm_slurm_jobs_read(struct tm_slurm_jobs *jobs, const char *text);

#endif
