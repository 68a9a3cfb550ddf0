/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SIDE_FILES_H
#define TM_SIDE_FILES_H

#include "pipeline/run.h"

/* Files that options name, each in a place of its own: a gate file, JUnit, Markdown, metrics. */
typedef tm_status tm_write_side_file(const void *of, FILE *to);
struct tm_side_file {
    const char *path; /* NULL = nobody asked for it */
    const char *what; /* "the file of --junit": for the guard */
    tm_write_side_file *write;
};
enum { TM_SIDE_FILES_MOST = 4 };

/* See before any work that they can be written, and take the place of nothing.  errors: as of tm_find_place and
 * tm_guard_output */
tm_status tm_side_files_check(struct tm_run *run, const struct tm_side_file *files, size_t count) TM_MUST_USE;

/* Write them: all are written before the first gets its name.
 * in:     of  given to each `write`
 * errors: those of `write`; TM_ERR_OUTPUT */
tm_status tm_side_files_write(struct tm_run *run, const struct tm_side_file *files, size_t count,
                              const void *of) TM_MUST_USE;

#endif
