/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPILL_H
#define TM_SPILL_H

#include "pipeline/run.h"

/* A temporary file without a name: O_TMPFILE where the file system has it, else created 0600 and
 * unlinked at once.  Nothing of the input is in its path.  Writing counts in budget.spilled_bytes. */
struct tm_spill {
    struct tm_run *run;
    int fd;         /* -1 = not open */
    uint64_t bytes; /* length */
};

/* Choose the folder for spill files: `wanted` (--tmp), else $TMPDIR, else /var/tmp, else `output_dir`.
 * A tmpfs is used only if it was asked for (--tmp, or an output folder where nothing else can be written),
 * and then with a warning on stderr.
 * owns:   run->spill_dir points to the chosen argument, which has to outlive the run
 * errors: TM_ERR_OUTPUT where none can be written */
tm_status tm_spill_choose_dir(struct tm_run *run, const char *wanted, const char *output_dir) TM_MUST_USE;

tm_status tm_spill_open(struct tm_spill *spill, struct tm_run *run) TM_MUST_USE;
/* It will be read and written in small pieces here and there.  Without that word the system reads ahead in pieces of up to
 * 2 MiB, and some file systems (ext4 since Linux 6.16) then go through all blocks of such a piece at each small write. */
void tm_spill_expect_random(const struct tm_spill *spill);
/* Append; *at = where it begins (may be NULL).  errors: TM_ERR_OUTPUT, with the free space in the text. */
tm_status tm_spill_append(struct tm_spill *spill, const void *data, size_t bytes, uint64_t *at) TM_MUST_USE;
/* Overwrite in place, inside the present length. */
tm_status tm_spill_write(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at) TM_MUST_USE;
/* Read exactly `bytes`. */
tm_status tm_spill_read(const struct tm_spill *spill, void *data, size_t bytes, uint64_t at) TM_MUST_USE;
/* Cut or lengthen; new bytes are zero and take no space until they are written. */
tm_status tm_spill_resize(struct tm_spill *spill, uint64_t bytes) TM_MUST_USE;
/* The bytes are not needed any more: their space goes back where the file system can do that. */
void tm_spill_forget(const struct tm_spill *spill, uint64_t at, uint64_t bytes);
void tm_spill_close(struct tm_spill *spill); /* tolerates a zeroed or closed one */

#endif
