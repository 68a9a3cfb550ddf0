/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of a batch, and the lock of its folder. */
#include "pipeline/nightly/out_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/nightly/run_keys.h"

#define SHARE_BEGIN ".share-"
#define SHARE_ENDING ".lock"

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...) TM_PRINTF(3, 4);

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(path, TM_OUT_PATH_BYTES, format, args);
    va_end(args);
    if (n >= 0 && n < TM_OUT_PATH_BYTES)
        return TM_OK;
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use a path that is too long: '%s...'", path);
}

tm_status tm_out_item_folder(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, char path[TM_OUT_PATH_BYTES])
{
    if (!file)
        return print_path(run, path, "%s/runs/%s", out, batch_run->id);
    return print_path(run, path, "%s/runs/%s/hosts/%s", out, batch_run->id, file->id);
}

tm_status tm_out_path(struct tm_run *run, const char *out, const char *name, char path[TM_OUT_PATH_BYTES])
{
    return print_path(run, path, "%s/%s", out, name);
}

tm_status tm_input_path(struct tm_run *run, const struct tm_batch_run *batch_run, const struct tm_batch_file *file,
                        char path[TM_OUT_PATH_BYTES])
{
    const size_t length = strlen(batch_run->root);
    const char *slash = !file->path[0] || (length && batch_run->root[length - 1] == '/') ? "" : "/";

    return print_path(run, path, "%s%s%s", batch_run->root, slash, file->path);
}

/* --- the lock --- */

/* Of a share whose process was killed. */
static void remove_share_locks(DIR *dir)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        const struct tm_path_part name = { entry->d_name, strlen(entry->d_name) };
        int fd;

        if (strncmp(entry->d_name, SHARE_BEGIN, strlen(SHARE_BEGIN)) != 0 || !tm_part_has_ending(name, SHARE_ENDING))
            continue;
        fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        (void)close(fd);
    }
}

static void clean(const char *out)
{
    DIR *dir = opendir(out);

    if (!dir)
        return;
    tm_left_behind_remove(dir, true);
    rewinddir(dir);
    remove_share_locks(dir);
    (void)closedir(dir);
}

tm_status tm_out_lock(struct tm_run *run, const char *out, bool is_share, int *fd)
{
    *fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot open '%s'", out);
    if (flock(*fd, (is_share ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) {
        if (!is_share)
            clean(out);
        return TM_OK;
    }
    const int problem = errno;

    (void)close(*fd);
    *fd = -1;
    if (problem != EWOULDBLOCK)
        return TM_OK; /* folders of some network file systems cannot be locked */
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot work in '%s': another batch is at work there", out);
    tm_hint(&run->error, "wait until it ends; shares of one manifest, '--shard I/N', can be worked at the same time");
    return TM_ERR_OUTPUT;
}

/* out: whether it is the file of that name; one that its owner removed at its end is not */
static bool is_at(int fd, const char *path)
{
    struct stat held, named;

    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* Wait for who has it.  out: false: it cannot be locked */
static bool wait_for(const struct tm_run *run, int fd, struct tm_shard shard)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK)
        return false;
    if (!run->quiet)
        (void)fprintf(stderr,
                      "tracemill: share %" PRIu32 "/%" PRIu32 " is at work in another process: waiting for its end\n",
                      shard.index, shard.count);
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

tm_status tm_out_lock_share(struct tm_run *run, const char *out, struct tm_shard shard, struct tm_share_lock *lock)
{
    tm_status st = print_path(run, lock->path, "%s/" SHARE_BEGIN "%" PRIu32 "-%" PRIu32 SHARE_ENDING, out, shard.index,
                              shard.count);

    lock->fd = -1;
    while (st == TM_OK) {
        const int fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);

        if (fd < 0)
            return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot lock '%s': %s", lock->path, strerror(errno));
        if (!wait_for(run, fd, shard)) {
            (void)close(fd);
            return TM_OK;
        }
        if (is_at(fd, lock->path)) {
            lock->fd = fd;
            return TM_OK;
        }
        (void)close(fd);
    }
    return st;
}

void tm_out_unlock_share(struct tm_share_lock *lock)
{
    if (lock->fd < 0)
        return;
    (void)unlink(lock->path);
    (void)close(lock->fd);
    lock->fd = -1;
}
