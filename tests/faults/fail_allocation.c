/* SPDX-License-Identifier: Apache-2.0 */
/* A library to be preloaded: from the first sigaction() on, which is how the program begins, it counts what asks for
 * memory, and lets the call of one number fail.
 *     FAIL_AT=K       the K-th fails, counted from 1; 0 = none
 *     FAIL_COUNT=FILE  as a line, when the process ends: how many there were, how many blocks were never given back,
 *                      how many descriptors are open beside the standard ones
 * Processes of it count for themselves; those of other programs are left alone. */
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
static long held; /* blocks */
static int has_begun;

static int fails(void)
{
    return has_begun && ++count == fail_at;
}

/* Notes a block that was had. */
static void *hold(void *block)
{
    held += has_begun && block;
    return block;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

/* The next definition of a function; memory cannot be had by what looks it up. */
#define NEXT(name)                                                                                                     \
    static __typeof__(name) *next;                                                                                     \
    if (!next)                                                                                                         \
    next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int sigaction(int number, const struct sigaction *restrict now, struct sigaction *restrict before)
{
    NEXT(sigaction);
    if (!has_begun && strcmp(program_invocation_short_name, "tracemill") == 0) {
        const char *const at = getenv("FAIL_AT");

        fail_at = at ? strtoul(at, NULL, 10) : 0;
        has_begun = 1;
    }
    return next(number, now, before);
}

void *malloc(size_t bytes)
{
    NEXT(malloc);
    return fails() ? refuse() : hold(next(bytes));
}

void *calloc(size_t count_of, size_t bytes)
{
    NEXT(calloc);
    return fails() ? refuse() : hold(next(count_of, bytes));
}

void *realloc(void *at, size_t bytes)
{
    NEXT(realloc);
    if (fails())
        return refuse();
    return at ? next(at, bytes) : hold(next(at, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    NEXT(aligned_alloc);
    return fails() ? refuse() : hold(next(alignment, bytes));
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    NEXT(posix_memalign);
    if (fails())
        return ENOMEM;
    const int problem = next(to, alignment, bytes);

    held += has_begun && problem == 0;
    return problem;
}

void free(void *block)
{
    NEXT(free);
    held -= has_begun && block;
    next(block);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    if (!fails())
        return next(at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* What is written needs to be safe from nobody here, and the disk is slow. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    const char *const path = getenv("FAIL_COUNT");
    enum { MOST_DESCRIPTORS = 64 };
    char line[96];
    int descriptors = 0;

    for (int number = STDERR_FILENO + 1; number < MOST_DESCRIPTORS; number++)
        descriptors += fcntl(number, F_GETFD) >= 0;
    const int length = snprintf(line, sizeof(line), "%lu %ld %d\n", count, held, descriptors);
    const int fd = path && has_begun ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) != length)
        abort();
    (void)close(fd);
}
