/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WHOLE_READ_H
#define TM_WHOLE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pipeline/run.h"

/* Open to read, as open() with these flags beside O_RDONLY and O_CLOEXEC; but a pipe to which nobody writes is at its end,
 * and is not waited for.
 * out: the descriptor; -1 with errno */
int tm_open_to_read(const char *path, int flags);

/* One call of read() may give fewer bytes than there are, on network file systems and where a signal comes: these go on
 * until all are there or the file ends.
 *
 * out:    *got  how many there are, fewer than `bytes` at the end of the file or where an error came
 * errors: the errno; 0 = there was none */
int tm_read_at(int fd, void *to, size_t bytes, uint64_t at, size_t *got);

/* The same from where the descriptor stands. */
int tm_read_on(int fd, void *to, size_t bytes, size_t *got);

/* A file as it was when it was opened.  What reads it twice, or for long, looks at its end whether it still is that: else
 * the figures may be those of two files.  Zeroed = not a file, which does not change. */
struct tm_unchanged {
    uint64_t bytes;
    int64_t modified_ns;
};

struct tm_unchanged tm_unchanged_since(const struct stat *info);

/* in:     name      for the message, in quotes
 *         may_grow  where it is longer now, what was there at first is taken to be as it was
 * errors: TM_ERR_INPUT  it was written while it was read */
tm_status tm_unchanged_check(struct tm_unchanged before, int fd, bool may_grow, struct tm_run *run,
                             const char *name) TM_MUST_USE;

/* The error of a file that ends at a place inside its first size. */
tm_status tm_unchanged_refuse_short(struct tm_run *run, const char *name, uint64_t bytes, uint64_t at);

#endif
