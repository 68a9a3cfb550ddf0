/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/whole_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/file_time.h"
#include "pipeline/run.h"

int tm_open_to_read(const char *path, int flags)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);

    if (fd < 0)
        return fd;
    flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK); /* reading waits for who writes */
    return fd;
}

/* in:     at  NULL = from where the file stands */
static int read_all(int fd, void *to, size_t bytes, const uint64_t *at, size_t *got)
{
    *got = 0;
    while (*got < bytes) {
        uint8_t *const rest = (uint8_t *)to + *got;
        const ssize_t n = at ? pread(fd, rest, bytes - *got, (off_t)(*at + *got)) : read(fd, rest, bytes - *got);

        if (n == 0)
            break;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int tm_read_at(int fd, void *to, size_t bytes, uint64_t at, size_t *got)
{
    return read_all(fd, to, bytes, &at, got);
}

int tm_read_on(int fd, void *to, size_t bytes, size_t *got)
{
    return read_all(fd, to, bytes, NULL, got);
}

#define HINT "wait until the profiler has finished writing, or copy the file first"

struct tm_unchanged tm_unchanged_since(const struct stat *info)
{
    return (struct tm_unchanged){ (uint64_t)info->st_size, tm_file_time_ns(info) };
}

tm_status tm_unchanged_refuse_short(struct tm_run *run, const char *name, uint64_t bytes, uint64_t at)
{
    (void)tm_fail(&run->error, TM_ERR_INPUT, (int64_t)at, "%s became shorter while it was read (it had %llu bytes)",
                  name, (unsigned long long)bytes);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}

tm_status tm_unchanged_check(struct tm_unchanged before, int fd, bool may_grow, struct tm_run *run, const char *name)
{
    struct tm_unchanged now;
    struct stat info;

    if (before.bytes == 0 || fstat(fd, &info) != 0)
        return TM_OK;
    now = tm_unchanged_since(&info);
    if (now.bytes < before.bytes)
        return tm_unchanged_refuse_short(run, name, before.bytes, now.bytes);
    if ((now.bytes > before.bytes && may_grow) || (now.bytes == before.bytes && now.modified_ns == before.modified_ns))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "%s was written while it was read", name);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}
