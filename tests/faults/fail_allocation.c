/* SPDX-License-Identifier: Apache-2.0 */
/* A library to be preloaded: from the first sigaction() on, which is how the program begins, it counts what asks for
 * memory, and lets the call of one number fail.
 *     FAIL_AT=K       the K-th fails, counted from 1; 0 = none
 *     FAIL_COUNT=FILE  how many there were, as a line, when the process ends
 * Children count on for themselves. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long count, fail_at;
static int has_begun;

static int fails(void)
{
    return has_begun && ++count == fail_at;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

/* The next definition of a function; memory cannot be had by what looks it up. */
#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int sigaction(int number, const struct sigaction *restrict now, struct sigaction *restrict before)
{
    NEXT(sigaction);
    if (!has_begun) {
        const char *const at = getenv("FAIL_AT");

        fail_at = at ? strtoul(at, NULL, 10) : 0;
        has_begun = 1;
    }
    return next(number, now, before);
}

void *malloc(size_t bytes)
{
    NEXT(malloc);
    return fails() ? refuse() : next(bytes);
}

void *calloc(size_t count_of, size_t bytes)
{
    NEXT(calloc);
    return fails() ? refuse() : next(count_of, bytes);
}

void *realloc(void *at, size_t bytes)
{
    NEXT(realloc);
    return fails() ? refuse() : next(at, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    NEXT(aligned_alloc);
    return fails() ? refuse() : next(alignment, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    NEXT(posix_memalign);
    return fails() ? ENOMEM : next(to, alignment, bytes);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    if (!fails())
        return next(at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

__attribute__((destructor)) static void tell(void)
{
    const char *const path = getenv("FAIL_COUNT");
    char line[32];
    const int length = snprintf(line, sizeof(line), "%lu\n", count);
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) != length)
        abort();
    (void)close(fd);
}
