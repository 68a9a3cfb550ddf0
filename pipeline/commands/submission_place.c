/* SPDX-License-Identifier: Apache-2.0 */
/* Where a submission lies, what was submitted before it, and that old ones go.  Numbers go up: mkdir() tells who has one,
 * also on NFS. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/submission.h"
#include "pipeline/whole_read.h"

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
        size_t length = 0;

        if (fd >= 0) {
            (void)tm_read_on(fd, text, sizeof(text) - 1, &length);
            (void)close(fd);
        }
        text[length] = '\0';
        tm_slurm_jobs_read(&submission->after, text);
    }
}

/* Files that a submission has. */
static bool is_ours(const char *name)
{
    static const char *const names[] = { TM_TODO_FILE, TM_SUBMIT_SCRIPT, "run.sh", "merge.sh", "jobs", "merge.log" };

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

/* Those that are too old.  Best effort: what cannot be removed is in nobody's way. */
static void remove_old(const char *out, unsigned number)
{
    char path[TM_OUT_PATH_BYTES];

    while (number > KEPT && path_of(path, out, number - KEPT, "") && remove_one(path))
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

tm_status tm_submission_place(struct tm_run *run, struct tm_submission *submission)
{
    char *const folder = submission->folder;
    unsigned number = 0;
    int problem = ENAMETOOLONG;

    if (path_of(folder, submission->out, 1, "")) {
        *strrchr(folder, '/') = '\0';
        const tm_status st = tm_make_folder(run, folder);

        if (st)
            return st;
        number = last_number(folder);
    }
    do {
        problem = !path_of(folder, submission->out, ++number, "") ? ENAMETOOLONG : mkdir(folder, 0777) != 0 ? errno : 0;
    } while (problem == EEXIST && number < NUMBERS_MOST);
    if (problem)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot make the folder '%s'", folder);
    find_before(submission, number);
    remove_old(submission->out, number);
    return TM_OK;
}
