/* SPDX-License-Identifier: Apache-2.0 */
/* Spill files: nameless, private, gone when the process is, however it ends. */
#include "pipeline/store/spill.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pipeline/signals.h"
#include "pipeline/whole_read.h"

/* One system call moves at most this much, so that a signal is noticed in time. */
enum { CALL_BYTES = 1 << 26 };

/* Returns a descriptor, or -1 with errno. */
static int open_nameless(const char *folder)
{
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    /* The file system has no nameless files (NFS, overlay of old kernels): named for a moment. */
    char path[4096];
    const int n = snprintf(path, sizeof(path), "%s/.tracemill-XXXXXX", folder);

    if (n < 0 || (size_t)n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigset_t before;
    int named, problem;

    tm_signals_hold(&before); /* none comes while it has a name */
    named = mkostemp(path, O_CLOEXEC);
    problem = errno;
    if (named >= 0)
        (void)unlink(path);
    tm_signals_let(&before);
    errno = problem;
    return named;
}

static bool is_in_memory(const char *folder)
{
    struct statfs info;

    return statfs(folder, &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

/* Returns 0, or the errno of the attempt. */
static int try_folder(const char *folder)
{
    const int fd = open_nameless(folder);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return 0;
}

static void warn_of_tmpfs(const struct tm_run *run)
{
    char folder[256];

    if (run->quiet)
        return;
    tm_clean_text(folder, sizeof(folder), run->spill_dir, strlen(run->spill_dir));
    fprintf(stderr, "tracemill: warning: spill files in '%s' lie in memory (tmpfs), on top of --memory\n", folder);
}

tm_status tm_spill_choose_dir(struct tm_run *run, const char *wanted, const char *output_dir)
{
    if (wanted) {
        const int problem = try_folder(wanted);

        if (problem != 0) {
            (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot write spill files in '%s'", wanted);
            tm_hint(&run->error, "name a folder on a disk with --tmp");
            return run->error.status;
        }
        run->spill_dir = wanted;
        if (is_in_memory(wanted))
            warn_of_tmpfs(run);
        return TM_OK;
    }
    const char *const folders[] = { getenv("TMPDIR"), "/var/tmp", output_dir };

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (folders[i] && folders[i][0] != '\0' && !is_in_memory(folders[i]) && try_folder(folders[i]) == 0) {
            run->spill_dir = folders[i];
            return TM_OK;
        }
    }
    if (output_dir && try_folder(output_dir) == 0) {
        /* In memory, but the user chose it, and there is nothing else. */
        run->spill_dir = output_dir;
        warn_of_tmpfs(run);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1,
                  "cannot write spill files in $TMPDIR, '/var/tmp' or '%s' (folders in memory "
                  "are left out)",
                  output_dir ? output_dir : "the output folder");
    tm_hint(&run->error, "name a folder with --tmp");
    return TM_ERR_OUTPUT;
}

tm_status tm_spill_open(struct tm_spill *spill, struct tm_run *run)
{
    *spill = (struct tm_spill){ .run = run, .fd = -1 };
    const char *folder = run->spill_dir ? run->spill_dir : "/var/tmp";

    spill->fd = open_nameless(folder);
    if (spill->fd >= 0)
        return TM_OK;
    (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot make a spill file in '%s'", folder);
    tm_hint(&run->error, "name another folder with --tmp");
    return run->error.status;
}

void tm_spill_expect_random(const struct tm_spill *spill)
{
    (void)posix_fadvise(spill->fd, 0, 0, POSIX_FADV_RANDOM); /* only advice */
}

static tm_status fail_write(const struct tm_spill *spill, size_t bytes, int problem)
{
    struct tm_error *error = &spill->run->error;
    const char *folder = spill->run->spill_dir ? spill->run->spill_dir : "/var/tmp";
    struct statvfs info;

    if ((problem == ENOSPC || problem == EDQUOT) && fstatvfs(spill->fd, &info) == 0) {
        const unsigned long long left = (unsigned long long)info.f_bavail * info.f_frsize;

        (void)tm_fail(error, TM_ERR_OUTPUT, -1,
                      "cannot write %zu bytes to the spill file in '%s': %s, %llu bytes are free", bytes, folder,
                      strerror(problem), left);
        tm_hint(error, "name a folder with more room with --tmp");
    } else {
        (void)tm_fail_system(error, TM_ERR_OUTPUT, -1, problem, "cannot write %zu bytes to the spill file in '%s'",
                             bytes, folder);
        tm_hint(error, "name another folder with --tmp");
    }
    return error->status;
}

static tm_status write_at(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    size_t left = bytes;

    while (left > 0) {
        const ssize_t n = pwrite(spill->fd, from, left < CALL_BYTES ? left : CALL_BYTES, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_write(spill, bytes, n < 0 ? errno : EIO);
        from += n;
        at += (uint64_t)n;
        left -= (size_t)n;
    }
    spill->run->budget.spilled_bytes += bytes;
    return TM_OK;
}

tm_status tm_spill_append(struct tm_spill *spill, const void *data, size_t bytes, uint64_t *at)
{
    if (at)
        *at = spill->bytes;
    if (bytes > INT64_MAX - spill->bytes)
        return fail_write(spill, bytes, EFBIG);
    const tm_status status = write_at(spill, data, bytes, spill->bytes);

    if (status == TM_OK)
        spill->bytes += bytes;
    return status;
}

tm_status tm_spill_write(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at)
{
    assert(at <= spill->bytes && bytes <= spill->bytes - at);
    return write_at(spill, data, bytes, at);
}

tm_status tm_spill_read(const struct tm_spill *spill, void *data, size_t bytes, uint64_t at)
{
    size_t got;

    assert(at <= spill->bytes && bytes <= spill->bytes - at);
    const int problem = tm_read_at(spill->fd, data, bytes, at, &got);

    if (problem || got < bytes)
        return tm_fail(&spill->run->error, TM_ERR_OUTPUT, -1, "cannot read %zu bytes back from a spill file: %s", bytes,
                       problem ? strerror(problem) : "it is shorter than what was written");
    return TM_OK;
}

tm_status tm_spill_resize(struct tm_spill *spill, uint64_t bytes)
{
    if (bytes > INT64_MAX)
        return fail_write(spill, 0, EFBIG);
    while (ftruncate(spill->fd, (off_t)bytes) != 0) {
        if (errno != EINTR)
            return fail_write(spill, 0, errno);
    }
    spill->bytes = bytes;
    return TM_OK;
}

void tm_spill_forget(const struct tm_spill *spill, uint64_t at, uint64_t bytes)
{
    (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}

void tm_spill_close(struct tm_spill *spill)
{
    if (spill->run && spill->fd >= 0)
        (void)close(spill->fd);
    *spill = (struct tm_spill){ .fd = -1 };
}
