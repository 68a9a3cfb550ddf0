/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_KEYS_H
#define TM_RUN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/options.h"
#include "pipeline/run.h"

/* What a run of a batch belongs to: by these the history finds what is comparable.  All texts are
 * valid UTF-8 without control characters; "" = not known. */
enum { TM_KEY_BYTES = 256, TM_RUN_ID_BYTES = 128 };

struct tm_run_keys {
    char job[TM_KEY_BYTES];      /* runs of one job are a trend; never "" */
    char night[11];              /* "2026-11-21": the day of the run */
    int64_t when_ns;             /* since 1970: orders the runs of a job */
    char revision[TM_KEY_BYTES]; /* of the source: a part of 7 to 40 hex digits */
    char label[TM_KEY_BYTES];
    char training[TM_KEY_BYTES]; /* the training run that periodic profiles were taken of: the path before the step;
                                    "" = the run is none of these */
    int64_t step;                /* of the training run; -1 = not known */
};

/* Read the keys of a run from its path, the template and the labels (docs/batch.md, "Keys").
 * in:     root     absolute: what the job is called where the path below it says nothing
 *         path     of the run's folder below ROOT, with the name of the run as its last part; any bytes
 *         when_ns  as discovery tells it (pipeline/discover.h)
 *         options  keys, labels
 * out:    false where there is a template and the path does not fit: it was read by its look
 * errors: TM_ERR_USAGE  a template or label that cannot be used: said once, before any work, by tm_run_keys_check */
bool tm_run_keys_read(struct tm_run_keys *keys, const char *root, const char *path, int64_t when_ns,
                      const struct tm_options *options);
tm_status tm_run_keys_check(struct tm_run *run, const struct tm_options *options) TM_MUST_USE;

/* A day as the key `night` has it: "2026-11-21". */
bool tm_is_night(const char *text);

/* What may be the name of a run's folder in OUT, or of an item's in it: [A-Za-z0-9._-], not hidden, shorter than
 * TM_RUN_ID_BYTES. */
bool tm_is_run_id(const char *text);

/* What a part of a path looks like: a date, a training step, a revision. */

struct tm_path_part {
    const char *text;
    size_t length;
};

/* It ends so, and there is something before it. */
bool tm_part_has_ending(struct tm_path_part part, const char *ending);

#endif
