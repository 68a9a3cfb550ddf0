/* SPDX-License-Identifier: Apache-2.0 */
/* Hands a batch to Slurm: an array job that works what is missing, and a job after it that merges.  Slurm schedules,
 * isolates, and begins tasks again whose node died; what it does not begin again, the next submit does. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/workers.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/commands/closing.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/submission.h"
#include "reports/format/format.h"

/* A task is about five minutes of work, at 100 MB of plain XSpace a second and process with the reading from a file server
 * in it (docs/performance.md): long beside what Slurm takes to begin one, short beside what a lost one costs. */
static const uint64_t task_bytes = UINT64_C(300) * 100 * 1000 * 1000;
enum { TASKS_MOST = 256, DRIVER_MIB = 64 };

/* --- paths --- */

/* The working folder as its user calls it: behind an automounter the name that the kernel has may not be that of the
 * nodes. */
static bool find_here(char here[TM_OUT_PATH_BYTES])
{
    const char *const told = getenv("PWD");
    struct stat is, says;
    size_t length;

    if (told && told[0] == '/' && strlen(told) < TM_OUT_PATH_BYTES - 1 && stat(told, &says) == 0 && stat(".", &is) == 0 &&
        says.st_dev == is.st_dev && says.st_ino == is.st_ino)
        memcpy(here, told, strlen(told) + 1);
    else if (!getcwd(here, TM_OUT_PATH_BYTES - 1))
        return false;
    length = strlen(here);
    if (here[length - 1] != '/')
        memcpy(here + length, "/", 2);
    return true;
}

static tm_status find_paths(struct tm_run *run, struct tm_submission *submission)
{
    const char *const out = submission->options->output;
    const ssize_t length = readlink("/proc/self/exe", submission->program, sizeof(submission->program));

    if (length < 0 || (size_t)length >= sizeof(submission->program))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot tell where this program lies: %s",
                       length < 0 ? strerror(errno) : "its path is too long");
    submission->program[length] = '\0';
    if (!find_here(submission->here))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot tell the working folder");
    const int needed = snprintf(submission->out, sizeof(submission->out), "%s%s", out[0] == '/' ? "" : submission->here, out);

    if (needed < 0 || (size_t)needed >= sizeof(submission->out))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use '%s': the path is too long", out);
    for (size_t end = strlen(submission->out); end > 1 && submission->out[end - 1] == '/'; end--)
        submission->out[end - 1] = '\0';
    return TM_OK;
}

/* --- what is missing --- */

struct missing {
    struct tm_batch_pool pool;
    tm_status st; /* of the first item that cannot be looked at */
};

/* tm_want_item: an item whose result does not stand. */
static bool is_missing(void *of, const struct tm_batch_item *item)
{
    struct missing *const missing = of;
    const struct tm_batch_task task = tm_batch_task_of(item);
    enum tm_result_status status = TM_RESULT_DONE;

    if (!missing->st)
        missing->st = tm_batch_task_look(&missing->pool, &task, &status);
    return !tm_result_stands(status, missing->pool.options->retry);
}

/* The runs of which something is missing, whole: a run of several hosts stays one when some of them are done.  What stands
 * is left out again by the tasks, after the shares are made: those are the same for a task that is begun again.
 * owns: todo->runs, todo->count of them, is the caller's */
static tm_status choose_runs(struct tm_run *run, const struct tm_manifest *all, const struct tm_batch_item *items,
                             size_t count, struct tm_manifest *todo, struct tm_submission *submission)
{
    const size_t bytes = all->count * sizeof(*todo->runs);
    uint8_t *const is_wanted = tm_take(&run->budget, TM_ACCOUNT_MODEL, all->count, &run->error);

    if (!is_wanted)
        return TM_ERR_LIMIT;
    *todo = *all;
    todo->count = todo->files = todo->bytes = 0;
    todo->runs = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    for (size_t i = 0; i < count; i++) {
        is_wanted[items[i].run - all->runs] = 1;
        submission->bytes += items[i].file->bytes;
    }
    for (size_t i = 0; todo->runs && i < all->count; i++) {
        if (!is_wanted[i])
            continue;
        todo->runs[todo->count++] = all->runs[i];
        todo->files += all->runs[i].files;
        todo->bytes += all->runs[i].bytes;
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, is_wanted, all->count);
    submission->items = count;
    submission->runs = todo->count;
    return todo->runs ? TM_OK : TM_ERR_LIMIT;
}

static void choose_size(struct tm_submission *submission, const struct tm_batch_item *items, size_t count,
                        uint64_t manifest_bytes)
{
    const struct tm_options *const options = submission->options;
    uint64_t weight = 0;

    for (size_t i = 0; i < count; i++)
        weight += items[i].weight;
    submission->jobs = options->jobs ? options->jobs : 1;
    submission->tasks = options->tasks;
    if (!submission->tasks) {
        submission->tasks = weight / (task_bytes * submission->jobs) + 1;
        submission->tasks = submission->tasks < TASKS_MOST ? submission->tasks : TASKS_MOST;
    }
    if (submission->tasks > count)
        submission->tasks = count;
    submission->memory_mib = submission->jobs * ((options->memory_bytes >> 20) + TM_PROCESS_MIB) + DRIVER_MIB +
                             (manifest_bytes >> 20);
}

/* --- files --- */

/* The manifest of OUT, the folder of the submission, and what of the manifest is to be done in it. */
static tm_status prepare(struct tm_run *run, struct tm_submission *submission, const struct tm_manifest *all)
{
    struct missing missing = { .pool = { .run = run, .options = submission->options, .out = submission->out } };
    struct tm_batch_item *items = NULL;
    struct tm_manifest todo = { .runs = NULL };
    size_t count = 0;
    uint64_t bytes = 0;
    tm_status st = tm_batch_pool_options(&missing.pool);

    if (!st)
        st = tm_manifest_save(all, submission->out, TM_MANIFEST_FILE, &bytes);
    if (!st)
        st = tm_batch_items(all, 0, 1, is_missing, &missing, &items, &count);
    if (!st)
        st = missing.st;
    if (!st)
        st = choose_runs(run, all, items, count, &todo, submission);
    if (!st)
        st = tm_submission_place(run, submission);
    if (!st && count)
        st = tm_manifest_save(&todo, submission->folder, TM_TODO_FILE, &bytes);
    if (!st) {
        choose_size(submission, items, count, bytes);
        st = tm_submission_write(run, submission);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, todo.runs, all->count * sizeof(*todo.runs));
    tm_batch_items_free(run, items, count);
    return st;
}

/* --- the verb --- */

static tm_status check(struct tm_run *run, const struct tm_options *options)
{
    if (!options->slurm) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: it is not said to what");
        tm_hint(&run->error, "write --slurm; docs/cluster.md has other ways");
    } else if ((options->input_count > 0) == (options->manifest != NULL)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: %s",
                      options->manifest ? "a ROOT and a manifest are given" : "neither a ROOT nor a manifest is given");
        tm_hint(&run->error, "write 'tracemill batch submit --slurm ROOT -o OUT', or --manifest FILE in place of ROOT");
    } else if (!options->output) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: its folder is missing");
        tm_hint(&run->error, "add '-o OUT', a folder that all nodes see");
    } else if (strchr(options->output, '\\')) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit '%s': Slurm writes no logs below a path with a backslash",
                      options->output);
    }
    return run->error.status;
}

static tm_status print_json(struct tm_run *run, const struct tm_submission *submission, const struct tm_slurm_jobs *jobs)
{
    struct tm_doc *const doc = tm_doc_new(run);
    tm_status st;

    if (!doc)
        return run->error.status;
    struct tm_value *const to = tm_doc_root(doc);

    tm_add_string(to, "schema", "tracemill.submit");
    tm_add_int(to, "schema_version", 1);
    tm_add_text(to, "folder", submission->folder, strlen(submission->folder));
    tm_add_uint(to, "runs", submission->runs);
    tm_add_uint(to, "items", submission->items);
    tm_add_uint(to, "bytes", submission->bytes);
    tm_add_uint(to, "tasks", submission->tasks);
    if (jobs->array[0])
        tm_add_string(to, "array_job", jobs->array);
    else
        tm_add_null(to, "array_job", submission->tasks ? "not submitted" : "nothing is missing");
    if (jobs->merge[0])
        tm_add_string(to, "merge_job", jobs->merge);
    else
        tm_add_null(to, "merge_job", "not submitted");
    st = tm_doc_status(doc);
    if (!st)
        st = tm_print_document(run, doc);
    tm_doc_free(doc);
    return st;
}

static void print_words(const struct tm_submission *submission, const struct tm_slurm_jobs *jobs)
{
    (void)printf("%" PRIu64 " trace%s of %" PRIu64 " run%s to work, %" PRIu64 " task%s\n", submission->items,
                 tm_format_plural(submission->items), submission->runs, tm_format_plural(submission->runs), submission->tasks,
                 tm_format_plural(submission->tasks));
    if (jobs->array[0])
        (void)printf("array job %s\n", jobs->array);
    if (jobs->merge[0])
        (void)printf("merge job %s\n", jobs->merge);
    (void)fputs("scripts and logs: ", stdout);
    tm_print_clean(stdout, submission->folder);
    (void)fputc('\n', stdout);
}

static tm_status submit(struct tm_run *run, struct tm_submission *submission, const struct tm_manifest *all)
{
    struct tm_slurm_jobs jobs = { .array = "" };
    tm_status st = prepare(run, submission, all), printed = TM_OK;

    if (st)
        return st;
    if (!submission->options->dry_run)
        st = tm_submission_send(run, submission, &jobs);
    if (st && !jobs.merge[0])
        return st;
    if (submission->options->json)
        printed = print_json(run, submission, &jobs);
    else if (!run->quiet)
        print_words(submission, &jobs);
    return printed ? printed : st;
}

tm_status tm_command_batch_submit(struct tm_run *run, const struct tm_options *options)
{
    struct tm_submission submission = { .options = options };
    struct tm_manifest all = { .run = NULL };
    tm_status st = check(run, options);

    if (!st)
        st = find_paths(run, &submission);
    if (!st)
        st = tm_batch_check(run, options, submission.out);
    if (!st)
        st = tm_batch_merge_check(run, options, submission.out);
    if (!st)
        st = tm_run_keys_check(run, options);
    if (!st)
        st = options->manifest ? tm_manifest_read(&all, run, options->manifest) : tm_batch_find(run, options, &all);
    if (!st)
        st = tm_make_folder(run, submission.out);
    if (!st)
        st = submit(run, &submission, &all);
    tm_manifest_free(&all);
    return st;
}
