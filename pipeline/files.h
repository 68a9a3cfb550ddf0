/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILES_H
#define TM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pipeline/run.h"

/* No output of a job replaces its input or another output.  Code that finds an input notes it, by device and inode;
 * code that will write notes the path without links.  The second of two conflicting notes is refused, before any work
 * is lost. tm_atomic_open checks again, for names that were not known before.  The guard is inactive in a run that did
 * not start it. */
tm_status tm_guard_begin(struct tm_run *run);
void tm_guard_end(struct tm_run *run);

/* An input.  A missing file, or one that is not a regular file, is ignored.
 * in:     info  from stat(); NULL = call it
 * errors: TM_ERR_USAGE  something will be written there */
tm_status tm_guard_input(struct tm_run *run, const char *path, const struct stat *info);
/* Whether a file of N bytes may be one that will be written: if not, it need not be examined. */
bool tm_guard_may_meet(const struct tm_run *run, uint64_t bytes);

/* A file that will be written; it may be noted repeatedly.
 * in:     what  "the file of --junit", "the history of the batch": another one may not be written there; borrowed
 * errors: TM_ERR_USAGE; TM_ERR_OUTPUT if the path is too long */
tm_status tm_guard_output(struct tm_run *run, const char *path, const char *what);
/* A folder that is written into: no other file may be in it.  in: what  "among the runs of the batch" */
tm_status tm_guard_tree(struct tm_run *run, const char *path, const char *what);

/* At the last moment: is it an input? */
tm_status tm_guard_check(struct tm_run *run, const char *path);

/* Files and folders by device and inode: which ones were seen before, by any path. Account `model`. */
struct tm_file_id {
    dev_t device;
    ino_t inode; /* 0 = free place of the table: no file has that number */
};

struct tm_file_ids {
    struct tm_file_id *at; /* open addressing, a power of two */
    size_t count, capacity;
};

/* out:    *is_new  NULL allowed
 * errors: TM_ERR_LIMIT */
tm_status tm_file_ids_add(struct tm_run *run, struct tm_file_ids *ids, const struct stat *info, bool *is_new);
void tm_file_ids_free(struct tm_run *run, struct tm_file_ids *ids); /* tolerates a zeroed one */

/* Open for reading, as open() with these flags plus O_RDONLY and O_CLOEXEC, except that a pipe without a writer is at
 * its end, and is not waited for.
 * out:    the descriptor; -1 with errno */
int tm_open_to_read(const char *path, int flags);

/* A call of read() may return fewer bytes than available, on network file systems and after a signal.  These functions
 * continue until all bytes are read or the file ends.
 *
 * out:    *got  number of bytes, fewer than `bytes` at the end of the file or after an error
 * errors: the errno; 0 = none */
int tm_read_at(int fd, void *to, size_t bytes, uint64_t at, size_t *got);

/* The same from the position of the descriptor. */
int tm_read_on(int fd, void *to, size_t bytes, size_t *got);

/* A file as it was when it was opened.  What reads it twice, or for long, checks at the end that it is still the same:
 * else the figures may be those of two files.  Zeroed = not a file, which does not change. */
struct tm_unchanged {
    uint64_t bytes;
    int64_t modified_ns;
};

struct tm_unchanged tm_unchanged_since(const struct stat *info);

/* in:     name      for the message, in quotes
 *         may_grow  if the file is longer now, assume that its original content is unchanged
 * errors: TM_ERR_INPUT  it was written while it was read */
tm_status tm_unchanged_check(struct tm_unchanged before, int fd, bool may_grow, struct tm_run *run, const char *name);

/* The error of a file that ends at a place inside its first size. */
tm_status tm_unchanged_refuse_short(struct tm_run *run, const char *name, uint64_t bytes, uint64_t at);

/* A time of a file in nanoseconds since 1970.  Some file systems store years that do not fit in 64 bits: such times
 * become the first or the last nanosecond that does. */
static inline int64_t tm_time_ns(struct timespec time)
{
    int64_t ns;

    if (__builtin_mul_overflow((int64_t)time.tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

/* When its content was changed. */
static inline int64_t tm_file_time_ns(const struct stat *info)
{
    return tm_time_ns(info->st_mtim);
}

#endif
