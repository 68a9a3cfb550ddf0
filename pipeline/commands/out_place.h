/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_PLACE_H
#define TM_OUT_PLACE_H

#include "pipeline/options.h"
#include "pipeline/run.h"

/* What the verbs that write files share. */

enum { TM_PLACE_BYTES = 4096 };

/* See early that a folder can be written, before the work is done that would be lost.  Nothing is
 * made yet: the nearest part of the path that exists is looked at. errors: TM_ERR_OUTPUT */
tm_status tm_check_folder(struct tm_run *run, const char *path) TM_MUST_USE;

/* A file to write: its folder and its name. */
struct tm_file_place {
    char folder[TM_PLACE_BYTES]; /* "." where the path has none */
    const char *name;            /* a view into the path */
    bool has_folder;             /* the path has one */
};

/* Split the path of a file that is to be written, and see early that it can be.
 * errors: TM_ERR_OUTPUT  too long, a folder, a device, a pipe, or as of tm_check_folder */
tm_status tm_find_place(struct tm_run *run, const char *path,
                        struct tm_file_place *place) TM_MUST_USE;

/* The length of a name without the endings of traces, archives and reports. */
size_t tm_plain_name_length(const char *name, size_t length);

/* A name of `length` bytes and an ending as one plain part of a path: what no part may have becomes
 * '_'. */
void tm_place_name(char out[TM_PLACE_BYTES], const char *name, size_t length, const char *ending);

/* NAME and an ending, one plain part of a path: NAME is that of the file, if there is one only,
 * else of the run; with
 * --redact its pseudonym, whose key has to be there.
 * in:     run_name  as it is to be shown
 *         is_trace  endings of JSON go away too */
tm_status tm_default_name(char out[TM_PLACE_BYTES], struct tm_run *run,
                          const struct tm_options *options, const char *run_name,
                          const char *ending, bool is_trace) TM_MUST_USE;

/* --strict: an input of which anything is missing gives no output.
 * in:     act  "report"
 * errors: TM_ERR_INPUT */
tm_status tm_check_strict(struct tm_run *run, bool is_partial, const char *act) TM_MUST_USE;

#endif
