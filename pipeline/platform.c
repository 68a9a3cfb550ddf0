/* SPDX-License-Identifier: Apache-2.0 */
/* What other systems than Linux have no function for; see platform.h. */
#include "pipeline/platform.h"

#if !defined(__linux__) || defined(TM_PORTABLE)

#include <sys/select.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

/* --- files --- */

int tm_file_in_memory(void)
{
    char path[] = "/tmp/.tracemill-XXXXXX";
    const int fd = mkstemp(path);

    if (fd >= 0) {
        (void)unlink(path);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

/* --- processes --- */

const char *tm_own_program(void)
{
#ifdef __APPLE__
    static char path[4096];
    uint32_t size = sizeof(path);

    return _NSGetExecutablePath(path, &size) == 0 ? path : "tracemill";
#else
    return "/proc/self/exe";
#endif
}

ssize_t tm_own_path(char *path, size_t bytes)
{
    char whole[PATH_MAX];
    size_t length;

    if (!realpath(tm_own_program(), whole))
        return -1;
    length = strlen(whole) < bytes ? strlen(whole) : bytes;
    memcpy(path, whole, length);
    return (ssize_t)length;
}

static int close_on_exec(int fd, bool wanted)
{
    return wanted ? fcntl(fd, F_SETFD, FD_CLOEXEC) : 0;
}

static int do_not_wait(int fd, bool wanted)
{
    return wanted ? fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) : 0;
}

int tm_pipe2(int ends[2], int flags)
{
    if (pipe(ends) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (close_on_exec(ends[i], flags & O_CLOEXEC) == 0 && do_not_wait(ends[i], flags & O_NONBLOCK) == 0)
            continue;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    return 0;
}

/* pselect, which takes the mask and waits in one step. */
int tm_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    fd_set reading, writing;
    int most = -1, ready;

    FD_ZERO(&reading);
    FD_ZERO(&writing);
    for (nfds_t i = 0; i < count; i++) {
        if (polled[i].fd >= FD_SETSIZE) {
            errno = EINVAL;
            return -1;
        }
        if (polled[i].events & POLLIN)
            FD_SET(polled[i].fd, &reading);
        if (polled[i].events & POLLOUT)
            FD_SET(polled[i].fd, &writing);
        most = polled[i].fd > most ? polled[i].fd : most;
        polled[i].revents = 0;
    }
    ready = pselect(most + 1, &reading, &writing, NULL, timeout, mask);
    for (nfds_t i = 0; i < count && ready > 0; i++) {
        polled[i].revents =
            (short)((FD_ISSET(polled[i].fd, &reading) ? POLLIN : 0) | (FD_ISSET(polled[i].fd, &writing) ? POLLOUT : 0));
    }
    return ready;
}

/* --- sockets --- */

static int settle(int fd, int flags)
{
    if (fd >= 0 && (close_on_exec(fd, flags & SOCK_CLOEXEC) != 0 || do_not_wait(fd, flags & SOCK_NONBLOCK) != 0)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

#undef socket
int tm_socket(int domain, int type, int protocol)
{
    return settle(socket(domain, type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), protocol), type);
}

int tm_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    return settle(accept(listener, address, length), flags);
}

/* --- sorting --- */

static void swap_rows(unsigned char *a, unsigned char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char kept = a[i];

        a[i] = b[i];
        b[i] = kept;
    }
}

/* A heap: in place, and never slow. */
static void sink(unsigned char *rows, size_t at, size_t count, size_t bytes, tm_order_of_two *order, void *of)
{
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && order(rows + child * bytes, rows + (child + 1) * bytes, of) < 0)
            child++;
        if (order(rows + at * bytes, rows + child * bytes, of) >= 0)
            return;
        swap_rows(rows + at * bytes, rows + child * bytes, bytes);
    }
}

void tm_qsort_r(void *rows, size_t count, size_t row_bytes, tm_order_of_two *order, void *of)
{
    for (size_t i = count / 2; i > 0; i--)
        sink(rows, i - 1, count, row_bytes, order, of);
    for (size_t i = count; i > 1; i--) {
        swap_rows(rows, (unsigned char *)rows + (i - 1) * row_bytes, row_bytes);
        sink(rows, 0, i - 1, row_bytes, order, of);
    }
}

#endif
