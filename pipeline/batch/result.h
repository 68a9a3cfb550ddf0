/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_RESULT_H
#define TM_BATCH_RESULT_H

#include "pipeline/batch/manifest.h"
#include "pipeline/doc.h"

/* result.json of an item: the record that its work is done, and what the history takes from it (schemas/BATCH.md).
 * Nothing in it depends on when, where or how often it was worked. */
enum tm_result_status {
    TM_RESULT_DONE,
    TM_RESULT_PARTIAL, /* done, of an input that is damaged or cut short */
    TM_RESULT_REFUSED, /* the input cannot be read: the same the next time */
    TM_RESULT_FAILED,  /* killed, out of time or memory, vanished, changed, not written: another time it may go well */
    TM_RESULT_MISSING, /* never written: there is no such file */
};
extern const char *const tm_result_status_words[]; /* "done" ... */

enum { TM_RESULT_MESSAGE_BYTES = 1024, TM_RESULT_FILES_MOST = 64 };

/* Whether an item is done: its result stands whole, was made by this version with these options of these inputs, ended
 * other than TM_RESULT_FAILED (and with --retry other than TM_RESULT_REFUSED), and its files are there with the sizes that
 * it tells; those of a pruned one need not be.
 * in:     folder       of the item
 *         fingerprint  of the inputs; options  of the options */
bool tm_result_stands(struct tm_run *run, const char *folder, const char *fingerprint, const char *options, bool retry);

/* Read one.  out: to  gets its members; an absent or damaged one: false, without an error */
bool tm_result_read(struct tm_doc *doc, struct tm_value *to, const char *folder);

/* What a result says of an item that has no report. */
struct tm_result_failure {
    enum tm_result_status status;
    int exit_status; /* of the worker; 128 + n for a signal */
    char message[TM_RESULT_MESSAGE_BYTES], hint[TM_RESULT_MESSAGE_BYTES];
};

/* Write one, atomically, as the last file of its folder.
 * in:     doc   "figures", "facts" and "verdict" as reports/history/figures.h fills them; NULL = a failure
 *         made  names of the files beside it, which get their size and hash into it
 * errors: TM_ERR_OUTPUT */
tm_status tm_result_write(struct tm_run *run, const char *folder, const struct tm_batch_run *batch_run,
                          const struct tm_batch_file *file, const char *fingerprint, const char *options,
                          const struct tm_doc *doc, const char *const *made, size_t made_count,
                          const struct tm_result_failure *failure) TM_MUST_USE;
/* Its file is no longer the record of what stands beside it: before work begins.  Temporary files that a killed worker
 * left go away too. */
tm_status tm_result_remove(struct tm_run *run, const char *folder) TM_MUST_USE;

#endif
