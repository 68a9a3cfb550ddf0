/* SPDX-License-Identifier: Apache-2.0 */
/* Who works on what of a batch.  Leases: files that O_EXCL creates, with a line of text: the owner, and a number that
 * grows with each renewal.  Locks: of the folder, and of a file for each share. */
#include "pipeline/nightly/leases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "pipeline/atomic_file.h"
#include "pipeline/clock.h"
#include "pipeline/files.h"
#include "pipeline/nightly/result.h"

enum { TAKES = 5, LOCK_PAUSE_NS = 20000000, ASIDE_BYTES = 4096 + 32 };

#define LEASES "leases"
#define SHARE_BEGIN ".share-"
#define SHARE_ENDING ".lock"

static uint64_t random_number(void)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = tm_clock_ns() ^ (uint64_t)getpid() << 32;
    return number;
}

static tm_status find_path(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                           const struct tm_batch_file *part, char path[TM_OUT_PATH_BYTES])
{
    char name[2 * TM_RUN_ID_BYTES + 16];

    (void)snprintf(name, sizeof(name), LEASES "/%s%s%s", batch_run->id, part ? "@" : "", part ? part->id : "");
    return tm_out_path(run, out, name, path);
}

/* out: false: there is none */
static bool read_lease(const char *path, char text[TM_LEASE_BYTES])
{
    const int fd = tm_open_to_read(path, O_NOFOLLOW);
    size_t length = 0;

    if (fd < 0)
        return false;
    if (tm_read_on(fd, text, TM_LEASE_BYTES - 1, &length) != 0)
        length = 0;
    text[length] = '\0';
    (void)close(fd);
    return true;
}

/* A lease that cannot be written is one that expires. */
static void write_lease(int fd, struct tm_lease *lease)
{
    char text[TM_LEASE_BYTES + 32];
    const int length = snprintf(text, sizeof(text), "%s %020" PRIu64 "\n", lease->owner, ++lease->count);

    if (pwrite(fd, text, (size_t)length, 0) == length)
        lease->renewed_ns = tm_clock_ns();
}

static bool is_held(const struct tm_lease *lease)
{
    char text[TM_LEASE_BYTES];

    return lease->owner[0] && read_lease(lease->path, text) && strncmp(text, lease->owner, strlen(lease->owner)) == 0;
}

tm_status tm_lease_take(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                        const struct tm_batch_file *part, struct tm_lease *lease, bool *is_taken)
{
    char folder[TM_OUT_PATH_BYTES], host[64] = "";
    int fd = -1;

    *lease = (struct tm_lease){ .owner = "" };
    *is_taken = false;
    if (find_path(run, out, batch_run, part, lease->path) || tm_out_path(run, out, LEASES, folder))
        return run->error.status;
    /* The process that removes the last lease also removes the folder. */
    for (int i = 0; i < TAKES && fd < 0; i++) {
        fd = open(lease->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno == EEXIST)
            return TM_OK;
        if (fd < 0 && (errno != ENOENT || tm_make_folder(run, folder)))
            break;
    }
    if (fd < 0)
        return tm_failed(run)
                   ? run->error.status
                   : tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot create '%s'", lease->path);
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(lease->owner, sizeof(lease->owner), "%s %ld %016" PRIx64, host, (long)getpid(), random_number());
    write_lease(fd, lease);
    (void)close(fd);
    *is_taken = true;
    return TM_OK;
}

void tm_lease_renew(struct tm_lease *lease, int64_t time_ps)
{
    if (!lease->owner[0] || (int64_t)((tm_clock_ns() - lease->renewed_ns) * 1000) < time_ps / 3)
        return;

    const int fd = is_held(lease) ? open(lease->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

    if (fd < 0) {
        lease->owner[0] = '\0';
        return;
    }
    write_lease(fd, lease);
    (void)close(fd); /* after this, other machines see it */
}

void tm_lease_give(struct tm_lease *lease)
{
    if (is_held(lease))
        (void)unlink(lease->path);
    lease->owner[0] = '\0';
}

static uint64_t mark_of(const char *path)
{
    char text[TM_LEASE_BYTES];

    return read_lease(path, text) ? XXH3_64bits(text, strlen(text)) | 1 : 0;
}

uint64_t tm_lease_mark(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                       const struct tm_batch_file *part)
{
    char path[TM_OUT_PATH_BYTES];

    return find_path(run, out, batch_run, part, path) ? 0 : mark_of(path);
}

/* Of several that find it expired, rename lets one have it.  A slow one may get the lease that another has just
 * created: it is put back. */
void tm_lease_break(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                    const struct tm_batch_file *part, uint64_t mark)
{
    char path[TM_OUT_PATH_BYTES], folder[TM_OUT_PATH_BYTES], aside[ASIDE_BYTES + 64];

    if (find_path(run, out, batch_run, part, path) || tm_out_path(run, out, LEASES, folder) || mark_of(path) != mark)
        return;
    (void)snprintf(aside, sizeof(aside), "%s/.%016" PRIx64, folder, random_number());
    if (rename(path, aside) != 0)
        return;
    if (mark_of(aside) != mark)
        (void)!link(aside, path);
    (void)unlink(aside);
}

/* out: false: its path is too long, so there is none */
static bool find_folder(const char *out, char folder[ASIDE_BYTES])
{
    const int length = snprintf(folder, ASIDE_BYTES, "%s/" LEASES, out);

    return length > 0 && length < ASIDE_BYTES;
}

static void remove_leases(const char *out)
{
    char folder[ASIDE_BYTES];
    DIR *const dir = find_folder(out, folder) ? opendir(folder) : NULL;
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
    (void)rmdir(folder);
}

void tm_lease_drop(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                   const struct tm_batch_file *part)
{
    char path[TM_OUT_PATH_BYTES];

    if (find_path(run, out, batch_run, part, path) == TM_OK)
        (void)unlink(path);
}

bool tm_leases_end(const char *out)
{
    char folder[ASIDE_BYTES];

    return !find_folder(out, folder) || rmdir(folder) == 0 || errno == ENOENT;
}

/* --- locks --- */

/* For a share whose process was killed. */
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
    remove_leases(out);
}

/* out: 0, or errno: EWOULDBLOCK after that time */
static int lock_within(int fd, int operation, int64_t wait_ms)
{
    const uint64_t start_ns = tm_clock_ns();

    while (flock(fd, operation | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || (int64_t)(tm_clock_ns() - start_ns) / 1000000 >= wait_ms))
            return errno;
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
    }
    return 0;
}

tm_status tm_out_lock(struct tm_run *run, const char *out, enum tm_lock_kind kind, int *fd)
{
    const bool is_share = kind == TM_LOCK_SHARE;
    int problem;

    *fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) {
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot open '%s'", out);
        tm_hint(&run->error, "give the output folder of 'tracemill batch'");
        return run->error.status;
    }
    problem = lock_within(*fd, is_share ? LOCK_SH : LOCK_EX, kind == TM_LOCK_AFTER_OTHERS ? TM_LOCK_WAIT_MS : 0);
    if (!problem) {
        if (!is_share)
            clean(out);
        return TM_OK;
    }

    (void)close(*fd);
    *fd = -1;
    if (problem != EWOULDBLOCK)
        return TM_OK; /* folders of some network file systems cannot be locked */
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use '%s': another batch is running there", out);
    tm_hint(&run->error, "wait until it ends; shares of one manifest ('--shard I/N'), and workers with --lease, can "
                         "run at the same time");
    return TM_ERR_OUTPUT;
}

/* out: whether it is the file of that name; one that its owner removed at its end is not */
static bool is_at(int fd, const char *path)
{
    struct stat held, named;

    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* Wait for the process that holds it. out: false: it cannot be locked */
static bool wait_for(const struct tm_run *run, int fd, struct tm_shard shard)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK)
        return false;
    if (!run->quiet)
        (void)fprintf(stderr,
                      "tracemill: share %" PRIu32 "/%" PRIu32 " is running in another process: waiting for it to "
                      "finish\n",
                      shard.index, shard.count);
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

tm_status tm_out_lock_share(struct tm_run *run, const char *out, struct tm_shard shard, struct tm_share_lock *lock)
{
    char name[64];

    lock->fd = -1;
    (void)snprintf(name, sizeof(name), SHARE_BEGIN "%" PRIu32 "-%" PRIu32 SHARE_ENDING, shard.index, shard.count);
    if (tm_out_path(run, out, name, lock->path))
        return run->error.status;
    for (;;) {
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
}

void tm_out_unlock_share(struct tm_share_lock *lock)
{
    if (lock->fd < 0)
        return;
    (void)unlink(lock->path);
    (void)close(lock->fd);
    lock->fd = -1;
}
