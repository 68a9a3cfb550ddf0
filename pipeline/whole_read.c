/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/whole_read.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
