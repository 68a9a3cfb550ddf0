/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WHOLE_READ_H
#define TM_WHOLE_READ_H

#include <stddef.h>
#include <stdint.h>

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

#endif
