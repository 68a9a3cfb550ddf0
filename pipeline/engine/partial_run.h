/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PARTIAL_RUN_H
#define TM_PARTIAL_RUN_H

#include "pipeline/doc/doc.h"
#include "pipeline/engine/file_facts.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"

/* What a partial holds of its run beside the stages: how it was made, its files, what was read. */

enum { TM_WARNINGS_MOST = 100, TM_WARNING_BYTES = 512 };

/* What the profilers said of their own work; the first ones of the run. */
struct tm_warnings {
    char text[TM_WARNINGS_MOST][TM_WARNING_BYTES];
    uint32_t count;
};

/* Section "settings": the version, the choices that change what is counted, the name of the run.
 * in:     path  for messages
 * errors: TM_ERR_USAGE where other choices were made, with the first one that differs; TM_ERR_INPUT */
tm_status tm_partial_save_settings(struct tm_partial_writer *w, const struct tm_options *options,
                                   const char *run_name) TM_MUST_USE;
tm_status tm_partial_load_settings(struct tm_partial_reader *r, struct tm_run *run, const char *path,
                                   const struct tm_options *options, char *run_name, size_t run_name_bytes) TM_MUST_USE;

/* Section "files".  in: files as the summary has them; hosts: names of those that are of a host, in their order
 * out: of loading  tm_partial_load_file has to be called *count times, then tm_partial_leave */
tm_status tm_partial_save_files(struct tm_partial_writer *w, const struct tm_value *files,
                                char *const *hosts) TM_MUST_USE;
tm_status tm_partial_load_file_count(struct tm_partial_reader *r, uint32_t *count) TM_MUST_USE;
tm_status tm_partial_load_file(struct tm_partial_reader *r, struct tm_file_facts *file) TM_MUST_USE;

/* Section "coverage": events, tallies, warnings; added to what the run has. */
tm_status tm_partial_save_coverage(struct tm_partial_writer *w, const struct tm_run *run,
                                   const struct tm_warnings *warnings) TM_MUST_USE;
tm_status tm_partial_load_coverage(struct tm_partial_reader *r, struct tm_run *run,
                                   struct tm_warnings *warnings) TM_MUST_USE;

#endif
