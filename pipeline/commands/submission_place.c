/* SPDX-License-Identifier: Apache-2.0 */
/* Where a submission lies, and what was submitted before it.  Numbers go up: mkdir() tells who has one, also on NFS. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/submission.h"

enum { NUMBERS_MOST = 1000000, JOBS_TEXT_BYTES = 4096 };

static void take_number(char to[TM_JOB_BYTES], const char *line, const char *word)
{
    const size_t length = strlen(word);
    const size_t digits = strncmp(line, word, length) == 0 ? strspn(line + length, "0123456789") : 0;

    if (digits == 0 || digits >= TM_JOB_BYTES)
        return;
    memcpy(to, line + length, digits);
    to[digits] = '\0';
}

void tm_slurm_jobs_read(struct tm_slurm_jobs *jobs, const char *text)
{
    while (*text) {
        take_number(jobs->array, text, "array ");
        take_number(jobs->merge, text, "merge ");
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* The path of what belongs to the submission of that number.  out: false: it is too long */
static bool path_of(char to[TM_OUT_PATH_BYTES], const char *out, unsigned number, const char *name)
{
    const int length = snprintf(to, TM_OUT_PATH_BYTES, "%s/slurm/%04u%s", out, number, name);

    return length >= 0 && length < TM_OUT_PATH_BYTES;
}

/* Of the submissions before that number the last one that was given to Slurm. */
static void find_before(struct tm_submission *submission, unsigned number)
{
    char path[TM_OUT_PATH_BYTES], text[JOBS_TEXT_BYTES];

    while (--number > 0 && !submission->after.merge[0] && !submission->after.array[0]) {
        const int fd = path_of(path, submission->out, number, "/jobs") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        const ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

        if (fd >= 0)
            (void)close(fd);
        text[length > 0 ? length : 0] = '\0';
        tm_slurm_jobs_read(&submission->after, text);
    }
}

tm_status tm_submission_place(struct tm_run *run, struct tm_submission *submission)
{
    char *const folder = submission->folder;
    unsigned number = 0;
    int problem = ENAMETOOLONG;
    tm_status st;

    if (path_of(folder, submission->out, 1, "")) {
        *strrchr(folder, '/') = '\0';
        st = tm_make_folder(run, folder);
        if (st)
            return st;
    }
    do {
        problem = !path_of(folder, submission->out, ++number, "") ? ENAMETOOLONG : mkdir(folder, 0777) != 0 ? errno : 0;
    } while (problem == EEXIST && number < NUMBERS_MOST);
    if (problem)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot make the folder '%s': %s", folder, strerror(problem));
    find_before(submission, number);
    return TM_OK;
}
