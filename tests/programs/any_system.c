/* SPDX-License-Identifier: Apache-2.0 */
/* The whole program on a system that gives what it may give: random numbers that are chosen, reads and writes that move
 * fewer bytes than were asked for or are interrupted, no huge pages.
 *
 *   ANY_SYSTEM=NUMBER any_system ARGUMENTS     another number, another system; arguments as of tracemill */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pipeline/main.c" /* NOLINT(bugprone-suspicious-include): the program, with its main() */
#include "pipeline/store/hash.h"

/* Numbers of one kind do not depend on how many there were of another. */
struct numbers {
    uint64_t kind, count;
};

static uint64_t next_number(struct numbers *numbers)
{
    const char *const system = getenv("ANY_SYSTEM");

    return tm_hash_mix(++numbers->count, tm_hash_mix(numbers->kind, system ? strtoull(system, NULL, 10) : 0));
}

int getentropy(void *to, size_t bytes)
{
    static struct numbers seeds = { .kind = 1 };

    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)to)[i] = (uint8_t)next_number(&seeds);
    return 0;
}

int madvise(void *at, size_t bytes, int advice)
{
    (void)at;
    (void)bytes;
    (void)advice;
    errno = EINVAL;
    return -1;
}

/* How many bytes a call moves: some of them, or all.  out: false: it is interrupted */
static bool may_move(size_t *bytes)
{
    static struct numbers calls = { .kind = 2 };
    const uint64_t number = next_number(&calls);
    const size_t most = number % 8 < 6 && *bytes > 16 ? 16 : *bytes;

    if (number % 8 == 0) {
        errno = EINTR;
        return false;
    }
    if (number % 8 >= 4 && *bytes > 1)
        *bytes = 1 + (size_t)(number >> 8) % most;
    return true;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    return may_move(&bytes) ? syscall(SYS_read, fd, to, bytes) : -1;
}

ssize_t pread64(int fd, void *to, size_t bytes, off64_t at)
{
    return may_move(&bytes) ? syscall(SYS_pread64, fd, to, bytes, at) : -1;
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at)
{
    return may_move(&bytes) ? syscall(SYS_pwrite64, fd, from, bytes, at) : -1;
}
