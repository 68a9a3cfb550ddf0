/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROWS_H
#define TM_ROWS_H

#include "pipeline/run.h"

/* A temporary file without a name: O_TMPFILE if the file system supports it, else created 0600 and
 * unlinked at once.  Nothing of the input is in its path.  Writing counts in budget.spilled_bytes. */
struct tm_spill {
    struct tm_run *run;
    int fd;         /* -1 = not open */
    uint64_t bytes; /* length */
};

/* Choose the folder for spill files: `wanted` (--tmp), else $TMPDIR, else /var/tmp, else `output_dir`.
 * A tmpfs is used only if it was requested (--tmp, or an output folder where nothing else can be written),
 * and then with a warning on stderr.
 * owns:   run->spill_dir points to the chosen argument, which has to outlive the run
 * errors: TM_ERR_OUTPUT if none can be written */
tm_status tm_spill_choose_dir(struct tm_run *run, const char *wanted, const char *output_dir);

tm_status tm_spill_open(struct tm_spill *spill, struct tm_run *run);

/* It will be accessed in small pieces at random positions.  Without this hint the system reads ahead up to 2 MiB, and
 * some file systems (ext4 since Linux 6.16) then visit all blocks of that range at each small write. */
void tm_spill_expect_random(const struct tm_spill *spill);
/* Append; *at = where it starts (may be NULL).  After a failure of the run nothing is written.
 * errors: TM_ERR_OUTPUT, with the free space in the text. */
tm_status tm_spill_append(struct tm_spill *spill, const void *data, size_t bytes, uint64_t *at);
/* Overwrite in place, inside the current length.  Likewise. */
tm_status tm_spill_write(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at);
/* Read exactly `bytes`. */
tm_status tm_spill_read(const struct tm_spill *spill, void *data, size_t bytes, uint64_t at) TM_MUST_USE;
/* Cut or lengthen; new bytes are zero and take no space until they are written. */
tm_status tm_spill_resize(struct tm_spill *spill, uint64_t bytes) TM_MUST_USE;
/* The bytes are no longer needed: free their space if the file system can do that. */
void tm_spill_forget(const struct tm_spill *spill, uint64_t at, uint64_t bytes);
void tm_spill_close(struct tm_spill *spill); /* tolerates a zeroed or closed one */

/* An array of fixed-size rows that grows without bound in bounded memory: pages of rows, the most
 * recently used ones in memory, the others in a spill file made when the share is used up.  Rows can be
 * changed in place.  While everything fits, access is an index calculation. */
struct tm_rows;

/* in:     row_bytes     size of a row, at most TM_ROW_BYTES_MOST
 *         memory_bytes  total memory limit; at least 2 pages of 64 KiB are kept
 * owns:   the caller owns the result, tm_rows_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error */
struct tm_rows *tm_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes,
                            size_t memory_bytes) TM_MUST_USE;
/* The same with pages of about page_bytes instead of 64 KiB: small ones where access is at random. */
struct tm_rows *tm_rows_new_paged(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                  size_t page_bytes) TM_MUST_USE;
void tm_rows_free(struct tm_rows *rows);

uint64_t tm_rows_count(const struct tm_rows *rows);     /* 0 for NULL */
bool tm_rows_are_in_memory(const struct tm_rows *rows); /* all of them, so none moves while none is added */
size_t tm_rows_row_bytes(const struct tm_rows *rows);
tm_status tm_rows_status(const struct tm_rows *rows); /* of the run: why a row is NULL */
/* Failures are remembered in run->error, and what follows one does nothing: check tm_failed once, at the end. */
void tm_rows_append(struct tm_rows *rows, const void *row);
void tm_rows_append_many(struct tm_rows *rows, const void *first, uint64_t count);
/* Make the array `count` rows long; new rows are zero. */
void tm_rows_resize(struct tm_rows *rows, uint64_t count);

/* The row for reading, or for reading and writing.  The pointer is valid until the next call on the same
 * array.  After a failure, a row that is not available reads as zeros, and what is written to it is lost.  Before one,
 * an index past the end is a programmer's mistake. */
const void *tm_rows_at(struct tm_rows *rows, uint64_t index) TM_MUST_USE;
void *tm_rows_change(struct tm_rows *rows, uint64_t index) TM_MUST_USE;
/* Rows that are changed near each other, in any order: rows of the page that was requested last take a few instructions
 * instead of a call.  Zeroed = none was.  Valid until another call on the same array. */
struct tm_row_page {
    void *rows;
    uint64_t first, count;
};
/* The page of a row.  After a failure, a page of a single row: see tm_rows_change. */
void tm_rows_change_page(struct tm_rows *rows, uint64_t index, struct tm_row_page *page);

/* in:     row_bytes  of the rows: sizeof, so that the compiler knows it
 * out:    as of tm_rows_change */
static inline void *tm_rows_change_near(struct tm_rows *rows, size_t row_bytes, uint64_t index,
                                        struct tm_row_page *page)
{
    if (index - page->first >= page->count)
        tm_rows_change_page(rows, index, page);
    return (uint8_t *)page->rows + (index - page->first) * row_bytes;
}

/* Rows of the page that was requested last are not needed any more; their contents are undefined from now on.  Once all
 * rows of a page are forgotten, its memory is used for the next one, and it is not written to the spill file. */
void tm_rows_forget(struct tm_rows *rows, uint64_t first, uint64_t count);

/* As tm_rows_at; *count = number of consecutive rows from there, at least one (to the end of the page). */
const void *tm_rows_span(struct tm_rows *rows, uint64_t index, uint64_t *count) TM_MUST_USE;
/* Copy `count` rows from there on. */
void tm_rows_copy(struct tm_rows *rows, uint64_t index, void *to, uint64_t count);
/* It may use more memory (or less, from now on: pages in memory stay). */
void tm_rows_allow(struct tm_rows *rows, size_t memory_bytes);

#endif
