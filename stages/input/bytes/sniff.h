/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SNIFF_H
#define TM_SNIFF_H

#include "pipeline/discover.h"

/* Whether a file that nobody named is a trace, by its first bytes: at most 256 KiB of it are read, and 64 KiB of what
 * is unwrapped.  Memory, of the account `input`: 0.6 MiB and the decoder. */

/* The next bytes.  out: got  fewer than asked for only at the end */
typedef tm_status tm_read_some(void *from, uint8_t *to, size_t bytes, size_t *got);

/* errors: of `read`; TM_ERR_INPUT  a zstd whose window the memory does not allow; TM_ERR_LIMIT of memory */
tm_status tm_sniff(struct tm_run *run, tm_read_some *read, void *from, enum tm_sniffed *sniffed) TM_MUST_USE;

/* The same of a file: a tm_sniff_path for tm_discover_with.  errors: TM_ERR_INPUT  it cannot be read */
tm_status tm_sniff_file(struct tm_run *run, const char *path, enum tm_sniffed *sniffed) TM_MUST_USE;

#endif
