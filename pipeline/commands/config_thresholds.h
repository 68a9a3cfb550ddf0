/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONFIG_THRESHOLDS_H
#define TM_CONFIG_THRESHOLDS_H

#include "pipeline/doc.h"
#include "reports/findings/thresholds.h"

/* The thresholds that hold, for `config show`: the built-in table and what a file changes of it. */
struct tm_effective_thresholds {
    struct tm_thresholds built_in, now;
    const char *file; /* NULL = none was named */
};

/* errors: as of tm_thresholds_read */
tm_status tm_effective_thresholds_read(struct tm_effective_thresholds *t, const char *file,
                                       struct tm_error *error) TM_MUST_USE;

/* As a table for people on stdout, and as the member "threshold_table": of each row its values, and where it is from:
 * "default" or the file. */
void tm_effective_thresholds_print(const struct tm_effective_thresholds *t);
void tm_effective_thresholds_add(const struct tm_effective_thresholds *t, struct tm_value *to);

#endif
