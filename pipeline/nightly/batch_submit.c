/* SPDX-License-Identifier: Apache-2.0 */
/* Submits a batch to Slurm or Kubernetes: an array job that processes what is missing, and a dependent job that merges.
 * The scheduler isolates and restarts tasks; the next submission does the rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/batch_submit.h"
#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "pipeline/platform.h"
#include "pipeline/process.h"
#include "pipeline/strings.h"
#include "reports/format/format.h"

/* The folder of a submission, the previous submission, and the removal of old ones.  Numbers increase: mkdir() reserves
 * one, also on NFS. */

/* KEPT: a month of nights; jobs of an older one are hardly waiting still. */
enum { NUMBERS_MOST = 1000000, JOBS_TEXT_BYTES = 4096, KEPT = 30 };

static void take_number(char to[TM_JOB_BYTES], const char *line, const char *word)
{
    const size_t length = strlen(word);
    const size_t digits = strncmp(line, word, length) == 0 ? strspn(line + length, "0123456789") : 0;

    if (digits == 0 || digits >= TM_JOB_BYTES)
        return;
    memcpy(to, line + length, digits);
    to[digits] = '\0';
}

/* Read lines "array 17" and "merge 18"; other lines, and what is not a number, are skipped. */
static void slurm_jobs_read(struct tm_slurm_jobs *jobs, const char *text)
{
    while (*text) {
        take_number(jobs->array, text, "array ");
        take_number(jobs->merge, text, "merge ");
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* The path of what belongs to the submission of that number.  out: false: it is too long */
static bool path_of(char to[TM_OUT_PATH_BYTES], const struct tm_submission *submission, unsigned number,
                    const char *name)
{
    const int length = snprintf(to, TM_OUT_PATH_BYTES, "%s/%s/%04u%s", submission->out, submission->kind, number, name);

    return length >= 0 && length < TM_OUT_PATH_BYTES;
}

/* The last submission before that number that was given to Slurm. */
static void find_before(struct tm_submission *submission, unsigned number)
{
    char path[TM_OUT_PATH_BYTES], text[JOBS_TEXT_BYTES];

    while (--number > 0 && !submission->after.merge[0] && !submission->after.array[0]) {
        const int fd = path_of(path, submission, number, "/jobs") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        size_t length = 0;

        if (fd >= 0) {
            (void)tm_read_on(fd, text, sizeof(text) - 1, &length);
            (void)close(fd);
        }
        text[length] = '\0';
        slurm_jobs_read(&submission->after, text);
    }
}

/* Files that a submission has. */
static bool is_ours(const char *name)
{
    static const char *const names[] = { TM_TODO_FILE, TM_SUBMIT_SCRIPT, "run.sh",    "merge.sh",
                                         "jobs",       "merge.log",      TM_JOBS_FILE };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "run-", 4) == 0 && strcmp(name + 4 + strspn(name + 4, "0123456789"), ".log") == 0;
}

/* out: whether there was one.  A folder in which somebody keeps something else stays, with that. */
static bool remove_one(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *const open_folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (!open_folder) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    while ((entry = readdir(open_folder)))
        if (is_ours(entry->d_name))
            (void)unlinkat(dirfd(open_folder), entry->d_name, 0);
    (void)closedir(open_folder);
    return rmdir(folder) == 0;
}

/* Remove those that are too old.  Best effort: the rest is harmless. */
static void remove_old(const struct tm_submission *submission, unsigned number)
{
    char path[TM_OUT_PATH_BYTES];

    while (number > KEPT && path_of(path, submission, number - KEPT, "") && remove_one(path))
        number--;
}

/* The highest number that a folder in OUT/slurm has; 0 = there is none. */
static unsigned last_number(const char *folder)
{
    DIR *const open_folder = opendir(folder);
    const struct dirent *entry;
    unsigned last = 0;

    while (open_folder && (entry = readdir(open_folder))) {
        const size_t digits = strspn(entry->d_name, "0123456789");
        unsigned number = 0;

        if (digits < 4 || digits > 7 || entry->d_name[digits])
            continue;
        for (size_t i = 0; i < digits; i++)
            number = number * 10 + (unsigned)(entry->d_name[i] - '0');
        last = number > last ? number : last;
    }
    if (open_folder)
        (void)closedir(open_folder);
    return last;
}

/* Make a folder for it in OUT, which is there, remove the one that is now too old, and find what was submitted last.
 * in:     out, options
 * out:    folder, after
 * errors: TM_ERR_OUTPUT */
static tm_status submission_place(struct tm_run *run, struct tm_submission *submission)
{
    char *const folder = submission->folder;
    unsigned number = 0;
    int problem = ENAMETOOLONG;

    if (path_of(folder, submission, 1, "")) {
        *strrchr(folder, '/') = '\0';
        const tm_status st = tm_make_folder(run, folder);

        if (st)
            return st;
        number = last_number(folder);
    }
    do {
        problem = !path_of(folder, submission, ++number, "") ? ENAMETOOLONG : mkdir(folder, 0777) != 0 ? errno : 0;
    } while (problem == EEXIST && number < NUMBERS_MOST);
    if (problem)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot create the folder '%s'", folder);
    find_before(submission, number);
    remove_old(submission, number);
    submission->number = number;
    return TM_OK;
}

/* Runs submit.sh, and keeps what it prints: numbers of jobs on one pipe, messages of sbatch on another. */

extern char **environ;

enum { SAID_BYTES = 4096, NOT_THERE = 127 };

/* The start of the data from a pipe; the rest is read and discarded. */
struct said {
    int fd;
    size_t length;
    char text[SAID_BYTES]; /* terminated */
};

static void take(struct said *said)
{
    char rest[512];
    const size_t room = sizeof(said->text) - 1 - said->length;
    const ssize_t length = room ? read(said->fd, said->text + said->length, room) : read(said->fd, rest, sizeof(rest));

    if (length < 0 && errno == EINTR)
        return;
    if (length <= 0) {
        (void)close(said->fd);
        said->fd = -1;
    } else if (room) {
        said->length += (size_t)length;
        said->text[said->length] = '\0';
    }
}

static void take_all(struct said *out, struct said *error)
{
    while (out->fd >= 0 || error->fd >= 0) {
        struct pollfd fds[] = { { .fd = out->fd, .events = POLLIN }, { .fd = error->fd, .events = POLLIN } };

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        if (fds[0].revents)
            take(out);
        if (fds[1].revents)
            take(error);
    }
}

/* Run it in its own group, which a signal ends as a whole.  out: number of the error, 0 = it runs */
static int spawn(const char *script, const posix_spawn_file_actions_t *actions, pid_t *pid)
{
    char *const argv[] = { (char[]){ "sh" }, (char *)(uintptr_t)script, NULL };
    posix_spawnattr_t how;
    sigset_t before;
    int problem = posix_spawnattr_init(&how);

    if (problem)
        return problem;
    tm_signals_hold(&before);
    problem = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    if (!problem)
        problem = posix_spawnattr_setsigmask(&how, &before);
    if (!problem)
        problem = posix_spawn(pid, "/bin/sh", actions, &how, argv, environ);
    if (!problem)
        tm_signals_guard_group(*pid);
    tm_signals_let(&before);
    (void)posix_spawnattr_destroy(&how);
    return problem;
}

/* out: number of the error, 0 = it runs */
static int start(const char *script, struct said *out, struct said *error, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
    int problem = posix_spawn_file_actions_init(&actions);

    if (problem)
        return problem;
    if (pipe2(pipes[0], O_CLOEXEC) != 0 || pipe2(pipes[1], O_CLOEXEC) != 0)
        problem = errno;
    if (!problem)
        problem = posix_spawn_file_actions_adddup2(&actions, pipes[0][1], STDOUT_FILENO);
    if (!problem)
        problem = posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDERR_FILENO);
    if (!problem)
        problem = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!problem)
        problem = spawn(script, &actions, pid);
    (void)posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < 2; i++) {
        if (pipes[i][1] >= 0)
            (void)close(pipes[i][1]);
        if (problem && pipes[i][0] >= 0)
            (void)close(pipes[i][0]);
    }
    out->fd = pipes[0][0];
    error->fd = pipes[1][0];
    return problem;
}

/* "sbatch: error: invalid partition specified: night\n..." as one line. */
static void one_line(char *text)
{
    size_t length = strlen(text);

    while (length && strchr(" \n", text[length - 1]))
        text[--length] = '\0';
    for (; *text; text++)
        if (*text == '\n')
            *text = ' ';
}

static tm_status refuse(struct tm_run *run, const struct tm_submission *submission, const struct tm_slurm_jobs *jobs,
                        int code, char *said)
{
    one_line(said);
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot submit '%s': %s", submission->folder,
                  said[0] ? said : "sbatch printed no job id");
    if (jobs->array[0])
        tm_hint(&run->error, "the array job %s is submitted: cancel it with 'scancel %s'", jobs->array, jobs->array);
    else if (code == NOT_THERE)
        tm_hint(&run->error,
                "run 'sh %s/" TM_SUBMIT_SCRIPT "' on a machine with Slurm; --dry-run only writes the "
                "scripts",
                submission->folder);
    return TM_ERR_OUTPUT;
}

/* Run submit.sh.
 * out:    jobs    what was submitted, also after a failure
 * errors: TM_ERR_OUTPUT  with what sbatch says; with --sbatch=--wait the status that the merge ended with */
static tm_status submission_send(struct tm_run *run, const struct tm_submission *submission, struct tm_slurm_jobs *jobs)
{
    struct said out = { .fd = -1 }, error = { .fd = -1 };
    char script[TM_OUT_PATH_BYTES];
    pid_t pid;
    int ended = 0;
    tm_status st = tm_out_path(run, submission->folder, TM_SUBMIT_SCRIPT, script);

    if (st)
        return st;
    const int problem = start(script, &out, &error, &pid);

    if (problem)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot run '%s'", script);
    take_all(&out, &error);
    tm_signals_guard_group(0); /* before its number may be that of another */
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    const int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;

    *jobs = (struct tm_slurm_jobs){ .array = "" };
    slurm_jobs_read(jobs, out.text);
    if (!jobs->merge[0])
        return refuse(run, submission, jobs, code, error.text);
    if (error.text[0] && !run->quiet)
        (void)fprintf(stderr, "%s", error.text);
    switch (code) {
    case TM_OK:
        return TM_OK;
    case TM_GATE:
    case TM_PARTIAL:
        return (tm_status)code;
    default:
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "the merge, job %s, exited with status %d: see '%s/merge.log'",
                       jobs->merge, code, submission->folder);
    }
}

/* A task is about five minutes of work, at 100 MB of plain XSpace per second and process, including reading from a file
 * server (docs/performance.md): long compared with the time in which Slurm starts one, short compared with the cost of
 * a lost one. */
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

    if (told && told[0] == '/' && strlen(told) < TM_OUT_PATH_BYTES - 1 && stat(told, &says) == 0 &&
        stat(".", &is) == 0 && says.st_dev == is.st_dev && says.st_ino == is.st_ino)
        memcpy(here, told, strlen(told) + 1);
    else if (!getcwd(here, TM_OUT_PATH_BYTES - 1))
        return false;
    length = strlen(here);
    if (here[length - 1] != '/')
        memcpy(here + length, "/", 2);
    return true;
}

TM_NOT_INLINE tm_status find_paths(struct tm_run *run, struct tm_submission *submission)
{
    const char *const out = submission->options->output;
    const ssize_t length = tm_own_path(submission->program, sizeof(submission->program));

    if (length < 0 || (size_t)length >= sizeof(submission->program))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot find the path of this program: %s",
                       length < 0 ? strerror(errno) : "its path is too long");
    submission->program[length] = '\0';
    if (!find_here(submission->here))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot find the working folder");
    const int needed =
        snprintf(submission->out, sizeof(submission->out), "%s%s", out[0] == '/' ? "" : submission->here, out);

    if (needed < 0 || (size_t)needed >= sizeof(submission->out))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use '%s': the path is too long", out);
    for (size_t end = strlen(submission->out); end > 1 && submission->out[end - 1] == '/'; end--)
        submission->out[end - 1] = '\0';
    return TM_OK;
}

/* --- what is missing --- */

struct missing {
    struct tm_batch_pool pool;
    tm_status st; /* of the first item that cannot be examined */
};

/* tm_want_item: an item without a valid result. */
static bool is_missing(void *of, const struct tm_batch_item *item)
{
    struct missing *const missing = of;
    const struct tm_batch_task task = tm_batch_task_of(item);
    enum tm_result_status status = TM_RESULT_DONE;

    if (!missing->st)
        missing->st = tm_batch_task_look(&missing->pool, &task, &status);
    return !tm_result_stands(status, missing->pool.options->retry);
}

/* The incomplete runs, with all their hosts: a multi-host run is kept complete even if some hosts are done.  The tasks
 * skip valid results after the shares are made, so the shares are the same for a restarted task.
 * owns:   todo->runs, todo->count of them, is the caller's */
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
    submission->memory_mib =
        submission->jobs * ((options->memory_bytes >> 20) + TM_PROCESS_MIB) + DRIVER_MIB + (manifest_bytes >> 20);
}

/* --- files --- */

/* The manifest of OUT, the folder of the submission, and what of the manifest is to be done in it. */
TM_NOT_INLINE tm_status prepare(struct tm_run *run, struct tm_submission *submission, const struct tm_manifest *all)
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
        st = submission_place(run, submission);
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
    if (options->slurm == options->kubernetes) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: %s",
                      options->slurm ? "both --slurm and --kubernetes are given" : "no scheduler is given");
        tm_hint(&run->error, "add --slurm or --kubernetes; docs/cluster.md describes other schedulers");
    } else if (options->kubernetes && !options->image) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: no image is given");
        tm_hint(&run->error, "add '--image registry.example/tracemill:latest'");
    } else if ((options->input_count > 0) == (options->manifest != NULL)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: %s",
                      options->manifest ? "both a ROOT and a manifest are given"
                                        : "neither a ROOT nor a manifest is given");
        tm_hint(&run->error, "use 'tracemill batch submit --slurm ROOT -o OUT', or --manifest FILE instead of ROOT");
    } else if (!options->output) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: no output folder is given");
        tm_hint(&run->error, "add '-o OUT', a folder that is visible on all nodes");
    } else if (options->slurm && strchr(options->output, '\\')) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot submit '%s': Slurm cannot write logs to a path with a backslash", options->output);
    }
    return run->error.status;
}

static tm_status print_json(struct tm_run *run, const struct tm_submission *submission,
                            const struct tm_slurm_jobs *jobs)
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

static void print_words(FILE *to, const struct tm_submission *submission, const struct tm_slurm_jobs *jobs)
{
    (void)fprintf(to, "%" PRIu64 " trace%s of %" PRIu64 " run%s to process, %" PRIu64 " task%s\n", submission->items,
                  tm_format_plural(submission->items), submission->runs, tm_format_plural(submission->runs),
                  submission->tasks, tm_format_plural(submission->tasks));
    if (jobs->array[0])
        (void)fprintf(to, "array job %s\n", jobs->array);
    if (jobs->merge[0])
        (void)fprintf(to, "merge job %s\n", jobs->merge);
    (void)fputs(submission->options->slurm ? "scripts and logs: " : "in ", to);
    tm_print_clean(to, submission->folder);
    (void)fputc('\n', to);
}

TM_NOT_INLINE tm_status submit(struct tm_run *run, struct tm_submission *submission, const struct tm_manifest *all)
{
    struct tm_slurm_jobs jobs = { .array = "" };
    tm_status st = prepare(run, submission, all), printed = TM_OK;

    if (st)
        return st;
    if (submission->options->slurm && !submission->options->dry_run)
        st = submission_send(run, submission, &jobs);
    if (st && !jobs.merge[0])
        return st;
    if (submission->options->json)
        printed = print_json(run, submission, &jobs);
    else if (!run->quiet)
        print_words(submission->options->slurm ? stdout : stderr, submission, &jobs);
    return printed ? printed : st;
}

static tm_status check_mounts(struct tm_run *run, const struct tm_submission *submission, const struct tm_manifest *all)
{
    tm_status st = tm_submission_check_mounts(run, submission, submission->out);

    for (size_t i = 0; i < all->root_count && !st; i++)
        st = tm_submission_check_mounts(run, submission, all->roots[i]);
    return st;
}

static tm_status run_batch_submit(struct tm_run *run, const struct tm_options *options)
{
    struct tm_submission submission = { .options = options, .kind = options->kubernetes ? "kubernetes" : "slurm" };
    struct tm_manifest all = { .run = NULL };
    char known[TM_OUT_PATH_BYTES];
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
        st = tm_out_path(run, submission.out, TM_MANIFEST_FILE, known);
    if (!st)
        st = options->manifest ? tm_manifest_read(&all, run, options->manifest)
                               : tm_batch_find(run, options, known, &all);
    if (!st && options->kubernetes)
        st = check_mounts(run, &submission, &all);
    if (!st)
        st = tm_make_folder(run, submission.out);
    if (!st)
        st = submit(run, &submission, &all);
    tm_manifest_free(&all);
    return st;
}

/* clang-format off */
const struct tm_verb tm_batch_submit_verb = {
    .name = "batch submit",
    .summary = "submit a batch to a cluster: an array job and a merge job",
    .usage = "--slurm|--kubernetes (ROOT... | --manifest FILE) -o OUT [OPTION...]",
    .description =
        "Writes the scripts of an array job that processes what is missing in OUT and of a dependent job that "
        "merges, and submits both with sbatch, or prints an Indexed Job and a merge Job for kubectl. Submitting again "
        "processes what the first attempt did not finish. OUT must be visible on all nodes.",
    .examples =
        "tracemill batch submit --slurm /data/profiles -o /data/perf --tasks 32    32 tasks\n"
        "tracemill batch submit --slurm logs -o perf --sbatch=--partition=night --dry-run    only the scripts\n"
        "tracemill batch submit --kubernetes /data/profiles -o /data/perf --image registry.example/tracemill:latest --mount profiles:/data/profiles:ro --mount perf:/data/perf | kubectl apply -f -    on Kubernetes\n",
    .bit = TM_FOR_BATCH_SUBMIT,
    .flags = TM_VERB_SPILLS,
    .most = SIZE_MAX,
    .run = run_batch_submit,
};
/* clang-format on */
