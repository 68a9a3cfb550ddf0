/* SPDX-License-Identifier: Apache-2.0 */
/* Runs submit.sh, and keeps what it prints: numbers of jobs on one pipe, what sbatch has to say on another. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/commands/submission.h"
#include "pipeline/signals.h"

extern char **environ;

enum { SAID_BYTES = 4096, NOT_THERE = 127 };

/* The begin of what came out of a pipe; what follows is read and left out. */
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

/* Run it in a group of its own, which a signal ends as a whole.  out: number of the error, 0 = it runs */
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
                  said[0] ? said : "sbatch gave no number of a job");
    if (jobs->array[0])
        tm_hint(&run->error, "the array job %s is submitted: withdraw it with 'scancel %s'", jobs->array, jobs->array);
    else if (code == NOT_THERE)
        tm_hint(&run->error, "run 'sh %s/" TM_SUBMIT_SCRIPT "' where Slurm is; --dry-run only writes the scripts",
                submission->folder);
    return TM_ERR_OUTPUT;
}

tm_status tm_submission_send(struct tm_run *run, const struct tm_submission *submission, struct tm_slurm_jobs *jobs)
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
    tm_slurm_jobs_read(jobs, out.text);
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
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "the merge, job %s, ended with status %d: see '%s/merge.log'",
                       jobs->merge, code, submission->folder);
    }
}
