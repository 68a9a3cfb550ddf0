/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_FINGERPRINT_H
#define TM_BATCH_FINGERPRINT_H

#include "pipeline/nightly/manifest.h"

/* Is a file still the one that a result was made of?  A hash (XXH3, 16 hex digits) of its size, its time of change and its
 * first and last 64 KiB: reading all of a terabyte to see that nothing is to be done would cost as much as doing it. */

/* errors: TM_ERR_INPUT  it is not there, or cannot be read */
tm_status tm_file_fingerprint(struct tm_run *run, const char *path, uint64_t *bytes, int64_t *mtime_ns,
                              char fingerprint[TM_FINGERPRINT_BYTES]) TM_MUST_USE;
/* Of a run: of its files' fingerprints, in their order. */
void tm_run_fingerprint(const struct tm_batch_run *batch_run, char fingerprint[TM_FINGERPRINT_BYTES]);
/* Of the options that change what a report holds or which files it has; a thresholds file counts by its content.
 * errors: TM_ERR_USAGE  it cannot be read */
tm_status tm_options_fingerprint(struct tm_run *run, const struct tm_options *options,
                                 char fingerprint[TM_FINGERPRINT_BYTES]) TM_MUST_USE;

#endif
