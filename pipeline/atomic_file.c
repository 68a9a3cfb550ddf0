/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear whole.  The temporary name is hidden, in the folder of the final one (a rename
 * works within a file system only), and made with O_EXCL, so a link that somebody laid there is not
 * followed. */
#include "pipeline/atomic_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/guard.h"
#include "pipeline/left_behind.h"
#include "pipeline/signals.h"

enum { ATTEMPTS = 100 };

static tm_status fail_path(struct tm_run *run, const char *act, const char *path, int problem)
{
    if (problem == ENOENT || problem == ENOTDIR)
        tm_hint(&run->error, "make the folder first, or name another one");
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot %s '%s'", act, path);
}

/* Join folder and name; false where the result is too long. */
static bool join(char *to, size_t to_bytes, const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    const char *slash = n == 0 || folder[n - 1] == '/' ? "" : "/";
    const int length = snprintf(to, to_bytes, "%s%s%s", folder, slash, name);

    return length >= 0 && (size_t)length < to_bytes;
}

/* Create the temporary file.  Returns a descriptor, or -1 with errno. */
static int create_unguarded(struct tm_atomic_file *file, const char *folder, const char *name)
{
    char part[512];

    for (unsigned i = 0; i < ATTEMPTS; i++) {
        const int n = snprintf(part, sizeof(part), ".%s.%ld-%u.part", name, (long)getpid(), i);

        if (n < 0 || (size_t)n >= sizeof(part) ||
            !join(file->part, sizeof(file->part), folder, part)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && tm_left_behind_lock(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* The same, so that no signal leaves it behind. */
static int create_part(struct tm_atomic_file *file, const char *folder, const char *name)
{
    sigset_t before;
    int fd, problem;

    tm_signals_hold(&before);
    fd = create_unguarded(file, folder, name);
    problem = errno;
    if (fd >= 0)
        tm_signals_guard(file->part);
    tm_signals_let(&before);
    errno = problem;
    return fd;
}

tm_status tm_atomic_open(struct tm_atomic_file *file, struct tm_run *run, const char *folder,
                         const char *name)
{
    assert(strchr(name, '/') == NULL);
    memset(file, 0, sizeof(*file));
    file->run = run;
    if (!join(file->path, sizeof(file->path), folder, name))
        return fail_path(run, "write", name, ENAMETOOLONG);
    const tm_status st = tm_guard_check(run, file->path);

    if (st != TM_OK)
        return st;
    tm_left_behind_sweep(run, folder);
    const int fd = create_part(file, folder, name);

    if (fd < 0)
        return fail_path(run, "write", file->path, errno);
    file->stream = fdopen(fd, "w");
    if (file->stream)
        return TM_OK;
    const int problem = errno;

    (void)close(fd);
    (void)unlink(file->part);
    tm_signals_release(file->part);
    return fail_path(run, "write", file->path, problem);
}

void tm_sync_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";

    if (slash) {
        const size_t n = slash == path ? 1 : (size_t)(slash - path);

        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    tm_sync_folder(folder);
}

tm_status tm_atomic_give_name(struct tm_atomic_file *file)
{
    FILE *stream = file->stream;
    int problem = 0;

    assert(stream);
    const int lock = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0); /* is kept until it has its name */

    file->stream = NULL;
    errno = 0;
    /* EINVAL: a file system that cannot sync. */
    if (fflush(stream) != 0 || ferror(stream) || (fsync(fileno(stream)) != 0 && errno != EINVAL))
        problem = errno != 0 ? errno : EIO;
    if (fclose(stream) != 0 && problem == 0)
        problem = errno;
    if (problem == 0 && rename(file->part, file->path) != 0)
        problem = errno;
    if (problem != 0)
        (void)unlink(file->part);
    if (lock >= 0)
        (void)close(lock);
    tm_signals_release(file->part);
    return problem != 0 ? fail_path(file->run, "write", file->path, problem) : TM_OK;
}

tm_status tm_atomic_commit(struct tm_atomic_file *file)
{
    const tm_status st = tm_atomic_give_name(file);

    if (st == TM_OK)
        sync_folder_of(file->path);
    return st;
}

void tm_atomic_abort(struct tm_atomic_file *file)
{
    if (!file->stream)
        return;
    (void)fclose(file->stream);
    (void)unlink(file->part);
    tm_signals_release(file->part);
    file->stream = NULL;
}

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Make one folder; one that is there already is fine. */
static int make_one(const char *path)
{
    if (mkdir(path, 0777) == 0 || is_folder(path))
        return 0;
    return errno == EEXIST ? ENOTDIR : errno;
}

tm_status tm_make_folder(struct tm_run *run, const char *path)
{
    char part[4096];
    const size_t length = strlen(path);
    int problem = 0;

    if (length == 0 || length >= sizeof(part)) {
        problem = length == 0 ? ENOENT : ENAMETOOLONG;
    } else if (!is_folder(path)) {
        memcpy(part, path, length + 1);
        for (size_t i = 1; problem == 0 && i < length; i++) {
            if (part[i] != '/')
                continue;
            part[i] = '\0';
            problem = make_one(part);
            part[i] = '/';
        }
        if (problem == 0)
            problem = make_one(part);
    }
    if (problem == 0)
        return TM_OK;
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot make the folder '%s'", path);
}
