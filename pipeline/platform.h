/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PLATFORM_H
#define TM_PLATFORM_H

/* What Linux has and other systems do not.  The code is written for Linux; on another system this header comes first in
 * every file (see the Makefile), and implements the same names with what POSIX has.  What POSIX cannot do
 * fails with ENOSYS or does nothing; every caller handles that, because some file systems lack it as well.
 * `make PORTABLE=1` builds that way on Linux. */
#if defined(__linux__) && !defined(TM_PORTABLE)

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <linux/magic.h>

#define TM_OWN_PROGRAM "/proc/self/exe"

/* Where the file of the program is.  out: the length, as of readlink */
static inline ssize_t tm_own_path(char *path, size_t bytes)
{
    return readlink(TM_OWN_PROGRAM, path, bytes);
}

static inline bool tm_folder_is_in_memory(const char *folder)
{
    struct statfs info;

    return statfs(folder, &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

/* Sleep while a word that processes share has this value, until another one wakes it, or for so long. */
static inline void tm_word_wait(const void *word, uint32_t value, const struct timespec *most)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, most, NULL, 0);
}

static inline void tm_word_wake(const void *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#else

#ifdef __APPLE__
#define _REENTRANT /* math.h declares lgamma_r then */
#endif

/* The headers that declare the names replaced below: they must come before the macros. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <endian.h>
#include <sys/prctl.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are kept as they are in memory");
#ifndef __linux__
#define htole64(x) (x)
#define le64toh(x) (x)
#endif

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

/* Blocks of megabytes come from the heap, because nothing else can grow them in place. */
#ifndef TM_HEAP_BLOCKS
#define TM_HEAP_BLOCKS
#endif
#undef mremap
#define mremap(block, old_bytes, bytes, flags, to) ((void)(block), (void)(to), errno = ENOSYS, MAP_FAILED)
#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE MADV_NORMAL
#endif

/* Files without a name have one for a moment. */
#undef O_TMPFILE
#define O_TMPFILE O_DIRECTORY
#undef fallocate
#undef FALLOC_FL_PUNCH_HOLE
#undef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_PUNCH_HOLE 0
#define FALLOC_FL_KEEP_SIZE 0
#define fallocate(fd, mode, at, bytes) ((void)(fd), (void)(at), (void)(bytes), errno = ENOSYS, -1)
#ifndef POSIX_FADV_SEQUENTIAL
#define POSIX_FADV_SEQUENTIAL 0
#define posix_fadvise(fd, at, bytes, advice) ((void)(fd), 0)
#endif
#undef RENAME_EXCHANGE
#define RENAME_EXCHANGE 0
#define renameat2(from_folder, from, to_folder, to, flags) ((void)(from), (void)(to), errno = ENOSYS, -1)
#undef MFD_CLOEXEC
#define MFD_CLOEXEC 0
#define memfd_create(name, flags) tm_file_in_memory()
int tm_file_in_memory(void);

/* Whether a folder is in memory is not known. */
static inline bool tm_folder_is_in_memory(const char *folder)
{
    (void)folder;
    return false;
}

/* Processes.  A word is examined again after a moment. */
static inline void tm_word_wait(const void *word, uint32_t value, const struct timespec *most)
{
    const struct timespec moment = { .tv_nsec = most->tv_nsec / 100 };

    if (__atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST) == value)
        (void)nanosleep(&moment, NULL);
}

static inline void tm_word_wake(const void *word)
{
    (void)word;
}

#define TM_OWN_PROGRAM tm_own_program()
const char *tm_own_program(void);
ssize_t tm_own_path(char *path, size_t bytes);
#undef PR_SET_PDEATHSIG
#define PR_SET_PDEATHSIG 0
#define prctl(option, signal) ((void)(signal), -1)
#define close_range(first, last, flags) ((void)(first), errno = ENOSYS, -1)
#define pipe2 tm_pipe2
int tm_pipe2(int ends[2], int flags);
#define ppoll tm_ppoll
int tm_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
#ifndef CPU_COUNT
typedef int cpu_set_t;
#endif
#undef CPU_ZERO
#undef CPU_COUNT
#define CPU_ZERO(set) ((void)(set))
#define CPU_COUNT(set) ((int)sysconf(_SC_NPROCESSORS_ONLN))
#define sched_getaffinity(pid, bytes, set) ((void)(set), 0)

/* Sockets. */
#ifndef SOCK_CLOEXEC
#define SOCK_NONBLOCK 0x10000
#define SOCK_CLOEXEC 0x20000
#endif
#define socket tm_socket
#define accept4 tm_accept4
int tm_socket(int domain, int type, int protocol);
int tm_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
#define getrandom(bytes, count, flags) (getentropy(bytes, count) == 0 ? (ssize_t)(count) : -1)

/* Functions of the GNU library. */
#define memrchr tm_memrchr
#define mempcpy tm_mempcpy
#define qsort_r tm_qsort_r
typedef int tm_order_of_two(const void *a, const void *b, void *of);
void tm_qsort_r(void *rows, size_t count, size_t row_bytes, tm_order_of_two *order, void *of);

static inline void *tm_memrchr(const void *bytes, int wanted, size_t count)
{
    const unsigned char *const from = bytes;

    while (count > 0)
        if (from[--count] == (unsigned char)wanted)
            return (void *)(uintptr_t)(from + count);
    return NULL;
}

static inline void *tm_mempcpy(void *to, const void *from, size_t count)
{
    memcpy(to, from, count);
    return (char *)to + count;
}

#endif

#endif
